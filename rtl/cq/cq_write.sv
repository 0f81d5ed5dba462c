// cq_write: the CQ table: writes completion entries, takes consumer indices, arms.
//
//   pick: command; due event; due fault; doorbell and completion alternate
//           --> read the table --> compute, write, emit
//
// Invariants:
//  1. A word is written before the next one is read, so there is no hazard.
//  2. An operation that emits is picked only when the output has room (RoomForEntry_A).
//  3. A doorbell never emits, so it never waits for DMA. An event that arming causes at once
//     becomes due; CQs with a due event are in a list, each at most once (RoomForDue_A).
//  4. Entry n of a ring has phase 1 on the first pass.
//
// Overrun: the completion that overruns a CQ sets fault_due in the CQ's word and appends the CQ to
// the list of due faults. The list has room for every CQ, each at most once (fault_listed). So
// completions of other CQs never wait for qp. The list's head goes to cq_fault when qp has taken
// the previous fault. destroy_cq clears fault_due: a CQ without QPs has no QP to report to, and the
// fault must not reach the QPs of the next CQ of that number.
//
// Arming: the doorbell's consumer index is compared with the producer index, or for "solicited
// only" with the index after the last completion that counted (a solicited one or an error).
// sol_seen marks that this index is ahead of the consumer. It is cleared when a consumer index
// reaches it, so 16-bit indices never wrap onto it.
//
// Order:
//  - A completion is written after the doorbells that host_if accepted before it arrived (cq counts
//    them). So a CQ entry that a driver frees before it posts a WQE is free for the WQE's CQE. This
//    matters for a QP in state error, which completes a WQE within a few cycles.
//  - A command is executed after the completions that qp made before the command arrived, wherever
//    they are now: given_q counts them where qp makes them, taken_q where they are picked.
//  - A command is answered when it leaves the output queue, after entries and events. cq_event
//    receives create, modify and destroy there. So a response of admin that follows a query to cq
//    is sent after those completions (host_if_wr).
//
// Throughput: one operation every 2 cycles.
// Back-pressure: completions and commands wait for room in the output; doorbells do not.
// Sibling: cq_event (event queues). Bench: tb/cq/cq_test.cpp, on the unit: every stream of this
// leaf but out is a port of cq, and out ends in one FIFO (u_out) that is full whenever cq_wr or the
// event queues stall.
`include "rnic_assert.svh"

module cq_write (
  input  logic clk_i,
  input  logic rst_ni,
  output logic ready_o,
  output logic bad_doorbell_o,
  // completions, from qp
  input  logic given_i,             // qp has made one; it follows
  input  logic req_valid_i,
  output logic req_ready_o,
  input  logic req_may_i,           // the doorbells that came before it have been taken
  input  iwarp_pkg::cqe_req_t req_i,
  // doorbells, from host_if
  input  logic db_valid_i,
  output logic db_ready_o,
  input  iwarp_pkg::cq_doorbell_t db_i,
  // commands, from and to admin
  input  logic cmd_valid_i,
  output logic cmd_ready_o,
  input  iwarp_pkg::cq_cmd_t cmd_i,
  output logic rsp_valid_o,
  input  logic rsp_ready_i,
  output iwarp_pkg::cq_cmd_rsp_t rsp_o,
  // entries, and the events after them for cq_event: {op, cqn, eqn}; op 0 completion, 1 overrun,
  // 2 report to eqn, 3 forget; a mark is a command that cq_event does not need
  output logic out_valid_o,
  input  logic out_ready_i,
  output logic has_entry_o,
  output logic has_event_o,
  output logic has_mark_o,
  output logic [23:0] event_o,
  output iwarp_pkg::cq_wr_t entry_o,
  input  logic applied_i,           // cq_event accepts an op 2 or 3, or a mark is popped
  // overruns, to qp
  output logic fault_valid_o,
  input  logic fault_ready_i,
  output logic [15:0] fault_o
);
  localparam int unsigned AddrW  = $clog2(rnic_pkg::NumCqs);
  localparam int unsigned EntryW = 9 + 64 + 4 + 16 + 3 * 16;   // of `word`, below

  typedef enum logic [2:0] {OpDoorbell, OpCmd, OpCqe, OpDue, OpFault} op_e;

  // A table word. armed: the next completion causes an event; with sol_only the next one that
  // counts. last_sol: index after the last one that counted. The entries' ring has 2^log_size
  // entries at base; page: the doorbell page that may ring the CQ.
  logic        valid, overrun, armed, sol_only, sol_seen;
  logic        due, listed;       // an event is due; the CQ is in the list of due events
  logic        fault_due, fault_listed;   // the same for cq_fault, whose list is u_lost
  logic [63:0] base;
  logic [3:0]  log_size;
  logic [15:0] page, producer, consumer, last_sol;
  logic        valid_d, overrun_d, armed_d, sol_only_d, sol_seen_d, due_d, listed_d,
               fault_due_d, fault_listed_d;
  logic [63:0] base_d;
  logic [3:0]  log_size_d;
  logic [15:0] page_d, producer_d, consumer_d, last_sol_d;

  // --- pick
  logic exec_q, prefer_cqe_q, pick, pick_cmd, pick_due, pick_fault, pick_cqe, pick_db;
  logic clear_busy, rsp_busy;
  logic [AddrW-1:0] clear_addr;
  op_e  op_d, op_q;
  logic [15:0] pick_cqn, cqn_q;
  logic range_ok;

  logic             due_put, due_ready, due_valid;
  logic [AddrW-1:0] due_cqn;
  stream_fifo #(.Width(AddrW), .Depth(rnic_pkg::NumCqs), .Reserved(1'b1)) u_due (
    .clk_i, .rst_ni, .valid_i(due_put), .ready_o(due_ready), .data_i(cqn_q[AddrW-1:0]),
    .valid_o(due_valid), .ready_i(pick && pick_due), .data_o(due_cqn), .count_o()
  );

  logic             lost_put, lost_ready, lost_valid;   // CQs whose fault is due
  logic [AddrW-1:0] lost_cqn;
  stream_fifo #(.Width(AddrW), .Depth(rnic_pkg::NumCqs), .Reserved(1'b1)) u_lost (
    .clk_i, .rst_ni, .valid_i(lost_put), .ready_o(lost_ready), .data_i(cqn_q[AddrW-1:0]),
    .valid_o(lost_valid), .ready_i(pick && pick_fault), .data_o(lost_cqn), .count_o()
  );

  // A command waits until the completions counted when it arrived (before_q) are taken. The sign of
  // the difference of the 16-bit counts decides (cqe_missing).
  // arrived_q: a command waits, and before_q is its count. passed_q: all of these are taken.
  logic        arrived_q, passed_q, cqe_missing;
  logic [15:0] given_q, taken_q, before_q;
  logic [14:0] unused_missing;
  assign {cqe_missing, unused_missing} = taken_q - before_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      given_q   <= '0;
      taken_q   <= '0;
      arrived_q <= 1'b0;
      passed_q  <= 1'b0;
    end else begin
      given_q   <= given_q + 16'(given_i);
      taken_q   <= taken_q + 16'(req_valid_i && req_ready_o);
      arrived_q <= cmd_valid_i && !cmd_ready_o;
      passed_q  <= arrived_q && !cmd_ready_o && (passed_q || !cqe_missing);
    end
  end
  always_ff @(posedge clk_i) begin
    if (!arrived_q) before_q <= given_q;
  end

  assign pick_cmd = cmd_valid_i && passed_q && !rsp_busy && out_ready_i;
  assign pick_due = due_valid && out_ready_i && !pick_cmd;
  assign pick_fault = lost_valid && fault_ready_i && !pick_cmd && !pick_due;
  assign pick_cqe = req_valid_i && req_may_i && out_ready_i && (prefer_cqe_q || !db_valid_i) &&
                    !pick_cmd && !pick_due && !pick_fault;
  assign pick_db  = db_valid_i && !pick_cmd && !pick_due && !pick_fault && !pick_cqe;
  assign pick     = !exec_q && !clear_busy &&
                    (pick_cmd || pick_due || pick_fault || pick_cqe || pick_db);

  assign req_ready_o = pick && pick_cqe;
  assign db_ready_o  = pick && pick_db;
  assign cmd_ready_o = pick && pick_cmd;

  always_comb begin
    op_d     = OpCqe;
    pick_cqn = req_i.cqn;
    if (pick_db) begin
      op_d     = OpDoorbell;
      pick_cqn = db_i.cqn;
    end else if (pick_cmd) begin
      op_d     = OpCmd;
      pick_cqn = cmd_i.object[15:0];
    end else if (pick_due) begin
      op_d     = OpDue;
      pick_cqn = 16'(due_cqn);
    end else if (pick_fault) begin
      op_d     = OpFault;
      pick_cqn = 16'(lost_cqn);
    end
  end
  assign range_ok = 32'(cqn_q) < rnic_pkg::NumCqs;

  iwarp_pkg::cqe_t         cqe_q, cqe_out;
  iwarp_pkg::cq_doorbell_t db_q;
  iwarp_pkg::cq_cmd_t      cmd_q;
  iwarp_pkg::admin_ring_args_t ring_args;
  iwarp_pkg::admin_cq_result_t query;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      exec_q       <= 1'b0;
      prefer_cqe_q <= 1'b0;
    end else begin
      exec_q <= pick;
      if (pick && (pick_db || pick_cqe)) prefer_cqe_q <= pick_db;
    end
  end
  always_ff @(posedge clk_i) begin
    if (pick) begin
      op_q  <= op_d;
      cqn_q <= pick_cqn;
      cqe_q <= req_i.entry;
      db_q  <= db_i;
      cmd_q <= cmd_i;
    end
  end
  assign ring_args = cmd_q.args;

  // --- table
  logic [EntryW-1:0] word, word_d;
  logic              we;
  assign {valid, overrun, armed, sol_only, sol_seen, due, listed, fault_due, fault_listed,
          base, log_size, page, producer, consumer, last_sol} = word;
  assign word_d = {valid_d, overrun_d, armed_d, sol_only_d, sol_seen_d, due_d, listed_d,
                   fault_due_d, fault_listed_d,
                   base_d, log_size_d, page_d, producer_d, consumer_d, last_sol_d};
  ram_clear #(.Depth(rnic_pkg::NumCqs)) u_clear (
    .clk_i, .rst_ni, .busy_o(clear_busy), .addr_o(clear_addr)
  );
  ram_1r1w #(.Width(EntryW), .Depth(rnic_pkg::NumCqs)) u_table (
    .clk_i, .rst_ni,
    .we_i(clear_busy || we), .waddr_i(clear_busy ? clear_addr : cqn_q[AddrW-1:0]),
    .wdata_i(clear_busy ? '0 : word_d),
    .re_i(pick), .raddr_i(pick_cqn[AddrW-1:0]), .rdata_o(word)
  );
  assign ready_o = !clear_busy;

  // --- compute
  logic [15:0] size, used, ahead, sol_ahead, slot;
  logic        is_full, db_ok, counts, fire;
  // Events for cq_event: fire (completion), overran, tell (create_cq and modify_cq: the EQ of the
  // CQ; destroy_cq).
  logic        tell, overran, sol_left, arms_sol;
  logic [47:0] time_q;
  logic        is_error;

  assign size      = 16'h1 << log_size;
  assign used      = producer - consumer;
  assign is_full   = used == size;
  assign ahead     = producer - db_q.index;      // entries after the new consumer index
  assign sol_ahead = last_sol - db_q.index;
  assign db_ok     = valid && range_ok && page == db_q.page && ahead <= used;
  assign is_error  = cqe_q.status != iwarp_pkg::WcSuccess;
  assign counts    = cqe_q.solicited || is_error;
  assign slot      = producer & (size - 16'h1);
  // arms_sol: the doorbell arms for solicited completions only. An arming for any one stays
  assign arms_sol  = db_q.solicited_only && !(armed && !sol_only);
  // sol_left: the last completion that counted is not consumed yet
  assign sol_left  = sol_seen && sol_ahead != 16'h0 && sol_ahead <= ahead;

  always_comb begin
    {valid_d, overrun_d, armed_d, sol_only_d, sol_seen_d} =
        {valid, overrun, armed, sol_only, sol_seen};
    {due_d, listed_d, fault_due_d, fault_listed_d} = {due, listed, fault_due, fault_listed};
    base_d     = base;
    log_size_d = log_size;
    page_d     = page;
    producer_d = producer;
    consumer_d = consumer;
    last_sol_d = last_sol;
    we             = 1'b0;
    fire           = 1'b0;
    tell           = 1'b0;
    due_put        = 1'b0;
    lost_put       = 1'b0;
    overran        = 1'b0;
    has_entry_o    = 1'b0;
    fault_valid_o  = 1'b0;
    bad_doorbell_o = 1'b0;
    if (exec_q) begin
      case (op_q)
        OpDoorbell: begin
          bad_doorbell_o = !db_ok;
          we             = db_ok;
          consumer_d     = db_q.index;
          sol_seen_d     = sol_left;
          if (db_q.arm) begin
            sol_only_d = arms_sol;
            armed_d    = 1'b1;
            if (arms_sol ? sol_left : ahead != 16'h0) begin
              armed_d  = 1'b0;
              due_d    = 1'b1;
              listed_d = 1'b1;
              due_put  = db_ok && !listed;
            end
          end
        end
        OpDue: begin
          we       = 1'b1;
          fire     = valid && due;
          due_d    = 1'b0;
          listed_d = 1'b0;
        end
        OpFault: begin
          we             = 1'b1;
          fault_valid_o  = fault_due;
          fault_due_d    = 1'b0;
          fault_listed_d = 1'b0;
        end
        OpCmd: begin
          case (cmd_q.opcode)
            iwarp_pkg::CmdCreateCq: begin
              we         = 1'b1;
              tell       = 1'b1;
              {valid_d, overrun_d, armed_d, sol_only_d, sol_seen_d, due_d, fault_due_d} =
                  7'b1000000;
              base_d     = ring_args.base;
              log_size_d = ring_args.log_size[3:0];
              page_d     = ring_args.page;
              producer_d = '0;
              consumer_d = '0;
              last_sol_d = '0;
            end
            iwarp_pkg::CmdModifyCq: tell = valid;
            iwarp_pkg::CmdDestroyCq: begin
              we          = 1'b1;
              tell        = valid;
              valid_d     = 1'b0;
              due_d       = 1'b0;
              fault_due_d = 1'b0;
            end
            default: ;   // query
          endcase
        end
        OpCqe: begin
          if (valid && range_ok && !overrun) begin
            we = 1'b1;
            if (is_full) begin
              overran        = 1'b1;
              overrun_d      = 1'b1;
              fault_due_d    = 1'b1;
              fault_listed_d = 1'b1;
              lost_put       = !fault_listed;
            end else begin
              has_entry_o = 1'b1;
              producer_d = producer + 16'h1;
              if (counts) begin
                last_sol_d = producer + 16'h1;
                sol_seen_d = 1'b1;
              end
              fire    = armed && (!sol_only || counts);
              armed_d = armed && !fire;
            end
          end
        end
        default: ;
      endcase
    end
  end

  assign has_event_o   = fire || overran || tell;
  assign has_mark_o    = exec_q && op_q == OpCmd && !tell;
  assign out_valid_o   = has_entry_o || has_event_o || has_mark_o;
  assign event_o       = {tell, tell ? cmd_q.opcode == iwarp_pkg::CmdDestroyCq : overran,
                          cqn_q, ring_args.eqn[5:0]};
  assign fault_o       = cqn_q;

  always_comb begin
    cqe_out           = cqe_q;
    cqe_out.phase     = !(|(producer & size));
    cqe_out.timestamp = time_q;
    entry_o           = '0;
    entry_o.address      = base + {43'h0, slot, 5'h0};
    entry_o.length       = 7'd32;
    entry_o.data         = cqe_out;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) time_q <= '0;
    else         time_q <= time_q + 1'b1;
  end

  // --- response
  logic                   rsp_valid_q, rsp_wait_q;   // rsp_wait_q: executed, not popped from u_out
  iwarp_pkg::cq_cmd_rsp_t rsp_q;
  assign rsp_valid_o = rsp_valid_q;
  assign rsp_busy    = rsp_valid_q || rsp_wait_q;
  assign rsp_o       = rsp_q;
  always_comb begin
    query          = '0;
    query.producer = producer;
    query.consumer = consumer;
    query.overrun  = overrun;
    query.armed    = armed;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      rsp_valid_q <= 1'b0;
      rsp_wait_q  <= 1'b0;
    end else begin
      if (applied_i)        rsp_valid_q <= 1'b1;
      else if (rsp_ready_i) rsp_valid_q <= 1'b0;
      rsp_wait_q <= (exec_q && op_q == OpCmd) || (rsp_wait_q && !applied_i);
    end
  end
  always_ff @(posedge clk_i) begin
    if (exec_q && op_q == OpCmd) begin
      rsp_q.status <= (cmd_q.opcode == iwarp_pkg::CmdCreateCq || valid) ? iwarp_pkg::AdmOk
                                                                        : iwarp_pkg::AdmNotFound;
      rsp_q.result <= cmd_q.opcode == iwarp_pkg::CmdQueryCq ? query : '0;
    end
  end

  logic unused_args;
  assign unused_args = ^{ring_args.reserved0, ring_args.reserved1, ring_args.reserved2,
                         ring_args.vector, ring_args.log_size[7:4], ring_args.eqn[7:6],
                         cmd_q.object[31:16], cqe_q.phase, cqe_q.timestamp, db_q.cqn};

  // Simulation only: commit trace (architecture 10)
  iwarp_pkg::cq_op_commit_t tap_cq_op /*verilator public_flat_rd*/;
  assign tap_cq_op = {exec_q && op_q != OpFault, op_q[1:0], cqn_q,
                      op_q == OpCqe ? cqe_q.qpn[15:0] : 16'h0};

  // A completion that is taken was counted before: a qp that omits its pulse fails here.
  logic        cqe_unknown;
  logic [14:0] unused_outside;
  assign {cqe_unknown, unused_outside} = given_q - taken_q;
  `RNIC_ASSERT(CqeGivenFirst_A, !cqe_unknown)
  `RNIC_ASSERT(RoomForEntry_A, !out_valid_o || out_ready_i)
  `RNIC_ASSERT(RoomForFault_A, !fault_valid_o || fault_ready_i)
  `RNIC_ASSERT(RoomForDue_A, !due_put || due_ready)
  `RNIC_ASSERT(RoomForLost_A, !lost_put || lost_ready)
  `RNIC_ASSERT(OneAnswer_A, !applied_i || rsp_wait_q)
  `RNIC_ASSERT(NeverAhead_A, !exec_q || !valid || used <= size)
endmodule

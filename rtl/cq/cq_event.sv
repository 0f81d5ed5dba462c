// cq_event: event queues: keeps pending events and writes each as an EQE with an MSI-X message.
//
//   cq_write, qp, conn --> [ arbiter ] --> bits of the resource --> pending := 1;
//                                                                   not listed: append
//   list head --> bits, EQ of the CQ --> not pending any more: remove from the list
//                                        its EQ exists and has room: remove from the list,
//                                          write the EQE, then the MSI-X message
//                                        else: move to the tail
//
// Invariants:
//  1. No event is lost: each resource has a pending bit, and is in the list at most once.
//  2. The list has room for every resource at once, so appending never waits (ListNeverFull_A).
//  3. Each pending bit has a "listed" bit. So a destroyed CQ's pending bits are cleared at once,
//     and its list entry is removed when it reaches the head.
//  4. The EQ of a completion is looked up when its event is written. So modify_cq moves pending
//     events to the new EQ.
//  5. EQ 0 takes the events of QPs, connections and overrun CQs.
// Throughput: at most one event every 6 cycles. Commands have priority; sources and list alternate.
// Back-pressure: waits for cq_wr.
// Sibling: cq_write. Bench: tb/cq/cq_event_test.cpp, on the unit: qp, conn, db, cmd and rsp are
// ports of cq; cq_i comes from one of its FIFOs; only an arbiter is between wr and the port cq_wr.
`include "rnic_assert.svh"

module cq_event (
  input  logic clk_i,
  input  logic rst_ni,
  output logic ready_o,
  // from cq_write, in the order of the CQEs: {op 2, cqn 16, eqn 6}; op 0 completion, 1 overrun,
  // 2 report to EQ eqn from now on (create, modify), 3 forget the CQ's events (destroy)
  input  logic cq_valid_i,
  output logic cq_ready_o,
  input  logic [23:0] cq_i,
  // from qp
  input  logic qp_valid_i,
  output logic qp_ready_o,
  input  logic [15:0] qp_i,
  // from llp_if
  input  logic conn_valid_i,
  output logic conn_ready_o,
  input  logic [15:0] conn_i,
  // from host_if
  input  logic db_valid_i,
  output logic db_ready_o,
  input  iwarp_pkg::eq_doorbell_t db_i,
  // from and to admin
  input  logic cmd_valid_i,
  output logic cmd_ready_o,
  input  iwarp_pkg::cq_cmd_t cmd_i,
  output logic rsp_valid_o,
  input  logic rsp_ready_i,
  output iwarp_pkg::cq_cmd_rsp_t rsp_o,
  // EQEs and MSI-X messages
  output logic wr_valid_o,
  input  logic wr_ready_i,
  output iwarp_pkg::cq_wr_t wr_o
);
  // Bits: completions, errors, QPs, connections, one range after the other.
  localparam int unsigned ErrorAt  = rnic_pkg::NumCqs;
  localparam int unsigned QpAt     = 2 * rnic_pkg::NumCqs;
  localparam int unsigned ConnAt   = QpAt + rnic_pkg::NumQps;
  localparam int unsigned NumBits  = ConnAt + rnic_pkg::NumConns;
  localparam int unsigned AddrW    = $clog2(NumBits);
  localparam int unsigned CqW      = $clog2(rnic_pkg::NumCqs);
  localparam int unsigned EqW      = rnic_pkg::NumEqs > 1 ? $clog2(rnic_pkg::NumEqs) : 1;
  // Kinds of sources; 000 completion, 001 overrun. The list holds only events. It stores their
  // kinds without the middle bit: 00 completion, 01 overrun, 10 QP, 11 connection.
  localparam logic [2:0] KindReport = 3'b010, KindForget = 3'b011, KindQp = 3'b100,
                         KindConn = 3'b101;

  typedef enum logic [3:0] {
    StIdle,     // chooses
    StSet,      // bits of a source have been read
    StForget,   // completion bits of a destroyed CQ have been read
    StForget2,  // then its error bits
    StHead,     // bits and EQ of the list's head have been read
    StEq,       // the state of the head's EQ is read
    StTry,      // checks that the EQ has room
    StEntry,    // writes the EQE
    StMessage   // writes its MSI-X message
  } state_e;
  state_e state_d, state_q;

  // --- sources: {kind 3, object 16, eqn 6}, so src[24:22] is the kind and src[21:6] the object
  logic        src_valid, take_src;
  logic [24:0] src, src_q;
  stream_arb #(.Width(25), .N(3)) u_src (
    .clk_i, .rst_ni,
    .valid_i({conn_valid_i, qp_valid_i, cq_valid_i}),
    .ready_o({conn_ready_o, qp_ready_o, cq_ready_o}),
    .data_i({{KindConn, conn_i, 6'h0}, {KindQp, qp_i, 6'h0}, {1'b0, cq_i}}),
    .valid_o(src_valid), .ready_i(take_src), .data_o(src), .index_o()
  );

  // --- list of pending events: {kind 2, object 16}. Room for every bit at once, and for a head
  // that goes to the tail in the cycle in which it is popped
  logic        list_in_valid, list_in_ready, list_valid, list_pop;
  logic [17:0] list_in, list;
  stream_fifo #(.Width(18), .Depth(NumBits + 2), .Reserved(1'b1)) u_list (
    .clk_i, .rst_ni, .valid_i(list_in_valid), .ready_o(list_in_ready), .data_i(list_in),
    .valid_o(list_valid), .ready_i(list_pop), .data_o(list), .count_o()
  );

  function automatic logic [AddrW-1:0] bit_of(input logic [1:0] kind, input logic [15:0] object);
    case (kind)
      2'd0:    bit_of = AddrW'(object);
      2'd1:    bit_of = AddrW'(ErrorAt + 32'(object));
      2'd2:    bit_of = AddrW'(QpAt + 32'(object));
      default: bit_of = AddrW'(ConnAt + 32'(object));
    endcase
  endfunction

  // --- order: a command first, then sources and list alternate. turn_q: a source goes before the
  // list.
  logic turn_q, idle, cmd_now, take_list, clear_busy;
  assign idle      = state_q == StIdle && !clear_busy && !cmd_now;
  assign take_src  = idle && src_valid && (turn_q || !list_valid);
  assign take_list = idle && list_valid && !take_src;

  // --- bits: {listed, pending}
  logic             listed, pending, we;
  logic [1:0]       wbits;
  logic [AddrW-1:0] clear_addr, raddr, src_addr, error_addr, list_addr, waddr;
  ram_clear #(.Depth(NumBits)) u_clear (.clk_i, .rst_ni, .busy_o(clear_busy), .addr_o(clear_addr));
  ram_1r1w #(.Width(2), .Depth(NumBits)) u_bits (
    .clk_i, .rst_ni,
    .we_i(clear_busy || we), .waddr_i(clear_busy ? clear_addr : waddr),
    .wdata_i(clear_busy ? 2'b00 : wbits),
    .re_i(take_src || take_list || state_q == StForget), .raddr_i(raddr),
    .rdata_o({listed, pending})
  );
  assign ready_o    = !clear_busy;
  assign src_addr   = bit_of({src_q[24], src_q[22]}, src_q[21:6]);
  assign error_addr = bit_of(2'd1, src_q[21:6]);
  assign list_addr  = bit_of(list[17:16], list[15:0]);
  // A forget reads the completion bits of its CQ first, then the error bits.
  always_comb begin
    raddr = list_addr;
    if (state_q == StForget)
      raddr = error_addr;
    else if (take_src)
      raddr = bit_of({src[24], src[22] && src[24:22] != KindForget}, src[21:6]);
  end

  // --- the EQ that a CQ reports to
  logic [5:0] cq_eqn;
  ram_1r1w #(.Width(6), .Depth(rnic_pkg::NumCqs)) u_eqn (
    .clk_i, .rst_ni,
    .we_i(take_src && src[24:22] == KindReport), .waddr_i(src[6 +: CqW]), .wdata_i(src[5:0]),
    .re_i(take_list && list[17:16] == 2'd0), .raddr_i(list[CqW-1:0]), .rdata_o(cq_eqn)
  );

  // --- event queues: few, so in flip-flops
  logic [rnic_pkg::NumEqs-1:0] eq_valid_q;
  logic [63:0] eq_base_q     [rnic_pkg::NumEqs];
  logic [3:0]  eq_log_q      [rnic_pkg::NumEqs];
  logic [7:0]  eq_vector_q   [rnic_pkg::NumEqs];
  logic [15:0] eq_producer_q [rnic_pkg::NumEqs];
  logic [15:0] eq_consumer_q [rnic_pkg::NumEqs];

  // --- the head's EQ; its consumer index may be older than the table's, which only reduces the
  // room
  logic [EqW-1:0] head_q;
  logic           h_valid_q, h_room;
  logic [63:0]    h_base_q;
  logic [3:0]     h_log_q;
  logic [7:0]     h_vector_q;
  logic [15:0]    h_producer_q, h_consumer_q, h_size, h_used;
  always_ff @(posedge clk_i) begin
    if (state_q == StHead) head_q <= list[17:16] == 2'd0 ? EqW'(cq_eqn) : '0;
    if (state_q == StEq) begin
      h_valid_q    <= eq_valid_q[head_q];
      h_base_q     <= eq_base_q[head_q];
      h_log_q      <= eq_log_q[head_q];
      h_vector_q   <= eq_vector_q[head_q];
      h_producer_q <= eq_producer_q[head_q];
      h_consumer_q <= eq_consumer_q[head_q];
    end
  end
  assign h_size = 16'h1 << h_log_q;
  assign h_used = h_producer_q - h_consumer_q;
  assign h_room = h_valid_q && h_used < h_size;

  // --- control. emit: the head's EQE is written; rotate: its EQ has no room, so it goes to the
  // tail
  logic emit, rotate;
  assign emit   = state_q == StTry && h_room;
  assign rotate = state_q == StTry && !h_room;

  always_comb begin
    state_d = state_q;
    case (state_q)
      StIdle: begin
        if (take_src) begin
          case (src[24:22])
            KindReport: state_d = StIdle;
            KindForget: state_d = StForget;
            default:    state_d = StSet;
          endcase
        end else if (take_list) begin
          state_d = StHead;
        end
      end
      StSet:     state_d = StIdle;
      StForget:  state_d = StForget2;
      StForget2: state_d = StIdle;
      StHead:    state_d = pending ? StEq : StIdle;
      StEq:      state_d = StTry;
      StTry:     state_d = h_room ? StEntry : StIdle;
      StEntry:   if (wr_ready_i) state_d = StMessage;
      StMessage: if (wr_ready_i) state_d = StIdle;
      default:   state_d = StIdle;
    endcase
  end

  always_comb begin
    we    = 1'b0;
    waddr = list_addr;
    wbits = 2'b00;          // StHead, StTry: the head leaves the list and is not pending
    case (state_q)
      StSet: begin
        we    = 1'b1;
        waddr = src_addr;
        wbits = 2'b11;
      end
      StForget: begin
        we    = 1'b1;
        waddr = bit_of(2'd0, src_q[21:6]);
        wbits = {listed, 1'b0};
      end
      StForget2: begin
        we    = 1'b1;
        waddr = error_addr;
        wbits = {listed, 1'b0};
      end
      StHead:  we = !pending;
      StTry:   we = h_room;
      default: ;
    endcase
  end
  assign list_pop      = (state_q == StHead && !pending) || state_q == StTry;
  assign list_in_valid = (state_q == StSet && !listed) || rotate;
  assign list_in       = rotate ? list : {src_q[24], src_q[22], src_q[21:6]};

  iwarp_pkg::cq_wr_t entry_d, entry_q, message_d, message_q;
  iwarp_pkg::eqe_t   eqe;
  logic [15:0]       h_place;
  assign h_place = h_producer_q & (h_size - 16'h1);
  always_comb begin
    eqe        = '0;
    eqe.object = {16'h0, list[15:0]};
    eqe.phase  = !(|(h_producer_q & h_size));   // 1 on the first pass over the ring
    case (list[17:16])
      2'd0:    eqe.kind = iwarp_pkg::EqCompletion;
      2'd1:    eqe.kind = iwarp_pkg::EqCqError;
      2'd2:    eqe.kind = iwarp_pkg::EqQp;
      default: eqe.kind = iwarp_pkg::EqConnection;
    endcase
    entry_d           = '0;
    entry_d.address   = h_base_q + {44'h0, h_place, 4'h0};
    entry_d.length    = 7'd16;
    entry_d.data      = {128'h0, eqe};
    message_d         = '0;
    message_d.is_msix = 1'b1;
    message_d.vector  = h_vector_q;
  end

  assign wr_valid_o = state_q == StEntry || state_q == StMessage;
  assign wr_o       = state_q == StMessage ? message_q : entry_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      turn_q  <= 1'b0;
    end else begin
      state_q <= state_d;
      if (take_src)       turn_q <= 1'b0;
      else if (take_list) turn_q <= 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (take_src) src_q <= src;
    if (emit) begin
      entry_q   <= entry_d;
      message_q <= message_d;
    end
  end

  // --- commands and consumer indices. A doorbell's index is accepted (db_fits) only if it lies
  // between the consumer and the producer index.
  iwarp_pkg::admin_ring_args_t ring_args;
  logic [EqW-1:0]              cmd_eq, db_eq;
  logic                        rsp_valid_q, db_fits;
  logic [15:0]                 db_ahead, db_used;
  assign ring_args   = cmd_i.args;
  assign cmd_eq      = EqW'(cmd_i.object);
  assign db_eq       = EqW'(db_i.eqn);
  assign db_ahead    = eq_producer_q[db_eq] - db_i.index;
  assign db_used     = eq_producer_q[db_eq] - eq_consumer_q[db_eq];
  assign db_fits     = 32'(db_i.eqn) < rnic_pkg::NumEqs && db_ahead <= db_used;
  assign cmd_ready_o = !rsp_valid_q && state_q == StIdle && !clear_busy;
  assign cmd_now     = cmd_valid_i && cmd_ready_o;
  assign db_ready_o  = !cmd_now;   // a command writes eq_consumer_q, too
  assign rsp_valid_o = rsp_valid_q;
  always_comb begin
    rsp_o        = '0;
    rsp_o.status = iwarp_pkg::AdmOk;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      rsp_valid_q <= 1'b0;
      eq_valid_q  <= '0;
    end else begin
      if (cmd_now)          rsp_valid_q <= 1'b1;
      else if (rsp_ready_i) rsp_valid_q <= 1'b0;
      if (cmd_now) eq_valid_q[cmd_eq] <= cmd_i.opcode == iwarp_pkg::CmdCreateEq;
    end
  end
  always_ff @(posedge clk_i) begin
    if (cmd_now) begin
      eq_base_q[cmd_eq]     <= ring_args.base;
      eq_log_q[cmd_eq]      <= ring_args.log_size[3:0];
      eq_vector_q[cmd_eq]   <= ring_args.vector;
      eq_producer_q[cmd_eq] <= '0;
      eq_consumer_q[cmd_eq] <= '0;
    end else begin
      if (db_valid_i && db_fits) eq_consumer_q[db_eq] <= db_i.index;
      if (emit) eq_producer_q[head_q] <= h_producer_q + 16'h1;
    end
  end

  logic unused_args;
  assign unused_args = ^{ring_args.reserved0, ring_args.reserved1, ring_args.reserved2,
                         ring_args.page, ring_args.eqn, ring_args.log_size[7:4],
                         cmd_i.object[31:EqW], db_i.eqn, src_q[23], src_q[5:0], cq_eqn};

  // Simulation only: commit trace (architecture 10)
  iwarp_pkg::cq_event_commit_t tap_cq_event /*verilator public_flat_rd*/;
  assign tap_cq_event = {emit, eqe.kind, list[15:0]};

  `RNIC_STREAM_STABLE(WrStable_A, wr_valid_o, wr_ready_i, wr_o)
  `RNIC_ASSERT(ListNeverFull_A, !list_in_valid || list_in_ready)
endmodule

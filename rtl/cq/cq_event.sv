// cq_event: event queues. Loses nothing: each resource has a pending bit, and stands in the pending list at most once.
//
//   cq, qp, conn --> [ arbiter ] --> pending bit clear? --> set it, append to the list
//   list head --> its EQ exists and has room? yes: clear the bit, write the EQE, then the MSI-X message
//                                             no: back to the tail, and pause
//
// The list holds every bit at once, so appending never waits. One event every 4 cycles. EQ 0 takes the events of QPs, connections and
// overrun CQs; a completion goes to its CQ's EQ.
// Siblings: cq_write. Bench: tb/cq/cq_test.cpp
`include "rnic_assert.svh"

module cq_event (
  input  logic clk_i,
  input  logic rst_ni,
  output logic ready_o,
  // from cq_write: {kind 2 (0 completion, 1 error), cqn 16, eqn 6}
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
  // Pending bits: completions, errors, QPs, connections, one after the other.
  localparam int unsigned ErrorAt  = rnic_pkg::NumCqs;
  localparam int unsigned QpAt     = 2 * rnic_pkg::NumCqs;
  localparam int unsigned ConnAt   = QpAt + rnic_pkg::NumQps;
  localparam int unsigned NumBits  = ConnAt + rnic_pkg::NumConns;
  localparam int unsigned AddrW    = $clog2(NumBits);
  localparam int unsigned EqW      = rnic_pkg::NumEqs > 1 ? $clog2(rnic_pkg::NumEqs) : 1;
  localparam int unsigned Pause    = 15;

  typedef enum logic [2:0] {
    StIdle,     // nothing under way
    StSet,      // the pending bit has been read
    StEntry,    // the EQE is offered
    StMessage   // its MSI-X message is offered
  } state_e;
  state_e state_d, state_q;

  // --- sources: {kind, object, eqn}; kind 0 completion, 1 CQ error, 2 QP, 3 connection
  logic        src_valid, src_ready;
  logic [23:0] src, set_q;
  stream_arb #(.Width(24), .N(3)) u_src (
    .clk_i, .rst_ni, .valid_i({conn_valid_i, qp_valid_i, cq_valid_i}), .ready_o({conn_ready_o, qp_ready_o, cq_ready_o}),
    .data_i({{2'd3, conn_i, 6'h0}, {2'd2, qp_i, 6'h0}, cq_i}),
    .valid_o(src_valid), .ready_i(src_ready), .data_o(src), .index_o()
  );

  // --- list of what is pending
  logic        list_in_valid, list_in_ready, list_valid, list_ready;
  logic [23:0] list_in, list;
  stream_fifo #(.Width(24), .Depth(NumBits + 2)) u_list (
    .clk_i, .rst_ni, .valid_i(list_in_valid), .ready_o(list_in_ready), .data_i(list_in),
    .valid_o(list_valid), .ready_i(list_ready), .data_o(list), .count_o()
  );

  function automatic logic [AddrW-1:0] bit_of(input logic [1:0] kind, input logic [15:0] object);
    case (kind)
      2'd0:    bit_of = AddrW'(object);
      2'd1:    bit_of = AddrW'(ErrorAt + 32'(object));
      2'd2:    bit_of = AddrW'(QpAt + 32'(object));
      default: bit_of = AddrW'(ConnAt + 32'(object));
    endcase
  endfunction

  // --- pending bits
  logic             clear_busy, pending, re, we, wbit;
  logic [AddrW-1:0] clear_addr, raddr, waddr;
  ram_clear #(.Depth(NumBits)) u_clear (.clk_i, .rst_ni, .busy_o(clear_busy), .addr_o(clear_addr));
  ram_1r1w #(.Width(1), .Depth(NumBits)) u_pending (
    .clk_i, .rst_ni, .we_i(clear_busy || we), .waddr_i(clear_busy ? clear_addr : waddr), .wdata_i(!clear_busy && wbit),
    .re_i(re), .raddr_i(raddr), .rdata_o(pending)
  );
  assign ready_o = !clear_busy;

  // --- event queues: few, so in flip-flops
  logic [rnic_pkg::NumEqs-1:0] eq_valid_q;
  logic [63:0] eq_base_q     [rnic_pkg::NumEqs];
  logic [3:0]  eq_log_q      [rnic_pkg::NumEqs];
  logic [7:0]  eq_vector_q   [rnic_pkg::NumEqs];
  logic [15:0] eq_producer_q [rnic_pkg::NumEqs];
  logic [15:0] eq_consumer_q [rnic_pkg::NumEqs];

  logic [EqW-1:0] head_eq;
  logic [15:0]    eq_size, eq_used, eq_slot, head_producer;
  logic           eq_room;
  assign head_eq       = EqW'(list[5:0]);
  assign head_producer = eq_producer_q[head_eq];
  assign eq_size       = 16'h1 << eq_log_q[head_eq];
  assign eq_used       = head_producer - eq_consumer_q[head_eq];
  assign eq_room       = eq_valid_q[head_eq] && eq_used < eq_size && 32'(list[5:0]) < rnic_pkg::NumEqs;
  assign eq_slot       = head_producer & (eq_size - 16'h1);

  // --- control
  logic [3:0] pause_q;
  logic       turn_q;         // sources and list take turns
  logic       take_src, take_list, take_list_wanted, give_back;
  iwarp_pkg::cq_wr_t entry_d, entry_q, message_d, message_q;
  iwarp_pkg::eqe_t   eqe;

  assign take_src  = state_q == StIdle && !clear_busy && src_valid && (turn_q || !take_list_wanted);
  assign take_list_wanted = list_valid && pause_q == 4'h0;
  assign take_list = state_q == StIdle && !clear_busy && take_list_wanted && !take_src;
  assign give_back = take_list && !eq_room;
  assign src_ready  = take_src;
  assign list_ready = take_list;

  assign re    = take_src;
  assign raddr = bit_of(src[23:22], src[21:6]);
  assign we    = (state_q == StSet && !pending) || (take_list && eq_room);
  assign wbit  = state_q == StSet;
  assign waddr = wbit ? bit_of(set_q[23:22], set_q[21:6]) : bit_of(list[23:22], list[21:6]);

  assign list_in_valid = (state_q == StSet && !pending) || give_back;
  assign list_in       = give_back ? list : set_q;

  always_comb begin
    state_d = state_q;
    case (state_q)
      StIdle: begin
        if (take_src)                  state_d = StSet;
        else if (take_list && eq_room) state_d = StEntry;
      end
      StSet:     state_d = StIdle;
      StEntry:   if (wr_ready_i) state_d = StMessage;
      StMessage: if (wr_ready_i) state_d = StIdle;
      default:   state_d = StIdle;
    endcase
  end

  always_comb begin
    eqe        = '0;
    eqe.object = {16'h0, list[21:6]};
    eqe.phase  = !(|(head_producer & eq_size));
    case (list[23:22])
      2'd0:    eqe.kind = iwarp_pkg::EqCompletion;
      2'd1:    eqe.kind = iwarp_pkg::EqCqError;
      2'd2:    eqe.kind = iwarp_pkg::EqQp;
      default: eqe.kind = iwarp_pkg::EqConnection;
    endcase
    entry_d           = '0;
    entry_d.address   = eq_base_q[head_eq] + {44'h0, eq_slot, 4'h0};
    entry_d.length    = 7'd16;
    entry_d.data      = {128'h0, eqe};
    message_d         = '0;
    message_d.is_msix = 1'b1;
    message_d.vector  = eq_vector_q[head_eq];
  end

  assign wr_valid_o = state_q == StEntry || state_q == StMessage;
  assign wr_o       = state_q == StMessage ? message_q : entry_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      pause_q <= '0;
      turn_q  <= 1'b0;
    end else begin
      state_q <= state_d;
      if (give_back)            pause_q <= 4'(Pause);
      else if (pause_q != 4'h0) pause_q <= pause_q - 4'h1;
      if (take_src)       turn_q <= 1'b0;
      else if (take_list) turn_q <= 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (take_src) set_q <= src;
    if (take_list) begin
      entry_q   <= entry_d;
      message_q <= message_d;
    end
  end

  // --- commands and consumer indices
  iwarp_pkg::admin_ring_args_t ring_args;
  logic [EqW-1:0]              cmd_eq, db_eq;
  logic                        cmd_now, rsp_valid_q, db_fits;
  logic [15:0]                 db_ahead;
  assign ring_args   = cmd_i.args;
  assign cmd_eq      = EqW'(cmd_i.object);
  assign db_eq       = EqW'(db_i.eqn);
  assign db_ahead    = eq_producer_q[db_eq] - db_i.index;
  assign db_fits     = 32'(db_i.eqn) < rnic_pkg::NumEqs && db_ahead <= eq_producer_q[db_eq] - eq_consumer_q[db_eq];
  assign cmd_now     = cmd_valid_i && cmd_ready_o;
  assign cmd_ready_o = !rsp_valid_q && state_q == StIdle && !take_list && !clear_busy;
  assign db_ready_o  = !cmd_now;
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
      if (state_q == StIdle && take_list && eq_room) eq_producer_q[head_eq] <= head_producer + 16'h1;
    end
  end

  logic unused_args;
  assign unused_args = ^{ring_args.reserved0, ring_args.reserved1, ring_args.reserved2, ring_args.page, ring_args.eqn,
                         ring_args.log_size[7:4], cmd_i.object[31:EqW], db_i.eqn};

  `RNIC_STREAM_STABLE(WrStable_A, wr_valid_o, wr_ready_i, wr_o)
  `RNIC_ASSERT(ListNeverFull_A, !list_in_valid || list_in_ready)
endmodule

// qp_event: collects events of QPs until qp_state takes them: bits per QP, and a list of the QPs
// with any bit set.
//
//   qp_error, llp_event, empty (qp_pick), cq_fault (qp_cq_walk) --> [ arb ] --> [ read bits ]
//                                                                                   v
//                                                         [ list ] <-- [ or, write ]
//   event_o {qpn, bits, error} <-- [ read and clear bits ] <--+
//
// bits: 0 error, 1 peer_closed, 2 closed, 3 lost, 4 term_done, 5 empty, 6 cq_fault
//   error: a qp_error of rdmap. 1 to 4: llp_event (the peer's FIN; both FINs; the connection is
//   lost; our Terminate has left). empty: a closing QP has retired all its WQEs. cq_fault: a CQ of
//   the QP has overrun. qp_state takes all bits of a QP at once.
//
// The list has an entry for every QP (ListHasRoom_A), so no event is blocked. rdmap, llp_if and cq
// are served within a few cycles, whatever qp_state waits for.
// Throughput: 1 operation per cycle.
// Siblings: qp_state, qp_cq_walk.
// Bench: tb/qp/qp_test.cpp
`include "rnic_assert.svh"

module qp_event #(
  localparam int unsigned QpnW = $clog2(rnic_pkg::NumQps)
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  // from the clearing walker
  input  logic            clear_busy_i,
  input  logic [QpnW-1:0] clear_addr_i,
  // from rdmap, llp_if, qp_pick, qp_cq_walk
  input  logic            qp_error_valid_i,
  output logic            qp_error_ready_o,
  input  iwarp_pkg::qp_error_t qp_error_i,
  input  logic            llp_event_valid_i,
  output logic            llp_event_ready_o,
  input  iwarp_pkg::llp_event_t llp_event_i,
  input  logic            empty_valid_i,
  output logic            empty_ready_o,
  input  logic [QpnW-1:0] empty_qpn_i,
  input  logic            walk_valid_i,
  output logic            walk_ready_o,
  input  logic [QpnW-1:0] walk_qpn_i,
  // to qp_state
  output logic            event_valid_o,
  input  logic            event_ready_i,
  output logic [QpnW-1:0] event_qpn_o,
  output logic [6:0]      event_bits_o,
  output iwarp_pkg::qp_error_t event_error_o,
  output logic            idle_o          // qp_state has taken everything collected
);
  localparam int unsigned OpW = QpnW + 7;   // {QPN, bits to set}

  logic [6:0]      llp_bits, bits_ram, bits, bits_d, last_bits_q, s_set_q;
  logic            arb_valid, arb_ready, s_valid_q, s_clear_q, hit_q, clear_op,
                   list_push, list_ready;
  logic            op_valid, list_valid, out_q, unused_qpn;
  logic [OpW-1:0]  arb_op;
  logic [1:0]      unused_index;
  logic [QpnW-1:0] op_qpn, s_qpn_q, list_qpn, out_qpn_q;
  logic [6:0]      out_bits_q;

  always_comb begin
    llp_bits = 7'b0000010;
    unique case (llp_event_i.kind)
      iwarp_pkg::LqeClosed:   llp_bits = 7'b0000100;
      iwarp_pkg::LqeLost:     llp_bits = 7'b0001000;
      iwarp_pkg::LqeTermDone: llp_bits = 7'b0010000;
      default:                llp_bits = 7'b0000010;
    endcase
  end
  assign unused_qpn = ^{qp_error_i.qpn, llp_event_i.qpn};

  logic [3:0] in_ready;
  stream_arb #(.Width(OpW), .N(4)) u_arb (
    .clk_i, .rst_ni,
    .valid_i({walk_valid_i, empty_valid_i, llp_event_valid_i, qp_error_valid_i} &
             {4{!clear_busy_i}}),
    .ready_o(in_ready),
    .data_i({walk_qpn_i, 7'b1000000, empty_qpn_i, 7'b0100000, llp_event_i.qpn[QpnW-1:0], llp_bits,
             qp_error_i.qpn[QpnW-1:0], 7'b0000001}),
    .valid_o(arb_valid), .ready_i(arb_ready), .data_o(arb_op), .index_o(unused_index)
  );
  assign {walk_ready_o, empty_ready_o, llp_event_ready_o, qp_error_ready_o}
         = in_ready & {4{!clear_busy_i}};

  // qp_state's read and clear (clear_op) goes first; it comes once per event. clearing_q: the bits
  // read by it arrive. out_q: they are offered to qp_state, with the error at u_error's output.
  logic clearing_q;
  assign clear_op  = list_valid && !out_q && !clearing_q;
  assign arb_ready = !clear_op;
  assign op_valid  = clear_op || arb_valid;
  assign op_qpn    = clear_op ? list_qpn : arb_op[OpW-1:7];

  ram_1r1w #(.Width(7), .Depth(rnic_pkg::NumQps)) u_bits (
    .clk_i, .rst_ni, .we_i(clear_busy_i || s_valid_q),
    .waddr_i(clear_busy_i ? clear_addr_i : s_qpn_q),
    .wdata_i(clear_busy_i ? '0 : bits_d), .re_i(op_valid), .raddr_i(op_qpn), .rdata_o(bits_ram)
  );
  ram_1r1w #(.Width(iwarp_pkg::QpErrorWidth), .Depth(rnic_pkg::NumQps)) u_error (
    .clk_i, .rst_ni,
    .we_i(qp_error_valid_i && qp_error_ready_o), .waddr_i(qp_error_i.qpn[QpnW-1:0]),
    .wdata_i(qp_error_i), .re_i(clear_op), .raddr_i(list_qpn), .rdata_o(event_error_o)
  );
  // hit_q: the operation just before was of the same QP, so the RAM was read too early.
  assign bits      = hit_q ? last_bits_q : bits_ram;
  assign bits_d    = s_clear_q ? 7'd0 : bits | s_set_q;
  assign list_push = s_valid_q && !s_clear_q && bits == '0;

  localparam int unsigned CountW = $clog2(rnic_pkg::NumQps + 1);
  logic [CountW-1:0] listed;
  stream_fifo #(.Width(QpnW), .Depth(rnic_pkg::NumQps), .Reserved(1'b1)) u_list (
    .clk_i, .rst_ni, .valid_i(list_push), .ready_o(list_ready), .data_i(s_qpn_q),
    .valid_o(list_valid), .ready_i(clear_op), .data_o(list_qpn), .count_o(listed)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      s_valid_q  <= 1'b0;
      clearing_q <= 1'b0;
      out_q      <= 1'b0;
    end else begin
      s_valid_q  <= op_valid;
      clearing_q <= clear_op;
      if (clearing_q)         out_q <= 1'b1;
      else if (event_ready_i) out_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    s_qpn_q     <= op_qpn;
    s_set_q     <= arb_op[6:0];
    s_clear_q   <= clear_op;
    hit_q       <= s_valid_q && s_qpn_q == op_qpn;
    last_bits_q <= bits_d;
    if (clearing_q) begin
      out_qpn_q  <= s_qpn_q;
      out_bits_q <= bits;
    end
  end
  assign event_valid_o = out_q;
  assign event_qpn_o   = out_qpn_q;
  assign event_bits_o  = out_bits_q;
  assign idle_o        = listed == '0 && !s_valid_q && !clearing_q && !out_q;

  `RNIC_ASSERT(ListHasRoom_A, !list_push || list_ready)
  `RNIC_ASSERT(ListedHasBits_A, !clearing_q || bits != '0)
  `RNIC_STREAM_STABLE(EventStable_A, event_valid_o, event_ready_i, {event_qpn_o, event_bits_o})
endmodule

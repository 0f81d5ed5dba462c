// rdmap_ack: acknowledges start, stop and half_close, one at a time.
//
//   ctl --> rdmap_core --done--> half_close: at once
//                          \---> start, stop: when the WQEs that had come in by then are through, and nothing of this QP is in the
//                                responder, in rdmap_term or on its way out in rdmap_tx
//
// WQEs keep their order, so it is enough to count them: what had come and has not left is counted down. What other QPs do meanwhile,
// and how much of it, does not matter. Latency 1 cycle. Waits for rdmap_tx, so for ddp, which always takes a message, and for qp.
// Siblings: rdmap_core, rdmap_tx, rdmap_resp, rdmap_term. Bench: tb/rdmap/rdmap_test.cpp
`include "rnic_assert.svh"

module rdmap_ack (
  input  logic clk_i,
  input  logic rst_ni,
  // from the port, to rdmap_core: an order is taken when none is under way
  output logic free_o,
  input  logic taken_i,
  // from rdmap_core: it is done
  input  logic done_i,
  input  logic drains_i,                 // a start or stop
  input  logic [15:0] qpn_i,
  // WQEs: a header has come in at the port; a body is through
  input  logic wqe_in_i,
  input  logic wqe_out_i,
  // who is where
  input  logic resp_busy_i,
  input  logic [15:0] resp_qpn_i,
  input  logic term_busy_i,
  input  logic [15:0] term_qpn_i,
  input  logic tx_busy_i,
  input  logic [15:0] tx_qpn_i,
  // to qp
  output logic ack_valid_o,
  input  logic ack_ready_i,
  output iwarp_pkg::qp_ack_rdmap_t ack_o
);
  typedef enum logic [1:0] {
    StFree,     // no order
    StOrder,    // rdmap_core has it
    StDrain,    // waits for what was inside
    StAck       // answers
  } state_e;
  state_e state_d, state_q;

  logic [7:0]  inside_q, left_q;         // WQEs inside; of those, which an order waits for
  logic [15:0] qpn_q;
  logic        through;
  assign through = left_q == '0 && !(resp_busy_i && resp_qpn_i == qpn_q) && !(term_busy_i && term_qpn_i == qpn_q) &&
                   !(tx_busy_i && tx_qpn_i == qpn_q);

  always_comb begin
    state_d = state_q;
    case (state_q)
      StFree:  if (taken_i) state_d = StOrder;
      StOrder: if (done_i) state_d = drains_i ? StDrain : StAck;
      StDrain: if (through) state_d = StAck;
      StAck:   if (ack_ready_i) state_d = StFree;
      default: state_d = StFree;
    endcase
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q  <= StFree;
      inside_q <= '0;
      left_q   <= '0;
    end else begin
      state_q  <= state_d;
      inside_q <= inside_q + 8'(wqe_in_i) - 8'(wqe_out_i);
      if (state_q != StDrain) left_q <= inside_q - 8'(wqe_out_i);
      else                    left_q <= left_q - 8'(wqe_out_i && left_q != '0);
    end
  end
  always_ff @(posedge clk_i) begin
    if (state_q == StOrder) qpn_q <= qpn_i;
  end

  assign free_o      = state_q == StFree;
  assign ack_valid_o = state_q == StAck;
  assign ack_o       = qpn_q;

  `RNIC_ASSERT(Counts_A, !wqe_out_i || inside_q != '0)
  `RNIC_ASSERT(InTurn_A, !done_i || state_q == StOrder)
  `RNIC_STREAM_STABLE(AckStable_A, ack_valid_o, ack_ready_i, ack_o)
endmodule

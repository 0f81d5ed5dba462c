// rdmap_inv: executes local invalidations of the send queue: hands them to tpt, and reports each to
// qp when tpt is done.
//
//   rdmap_tx --> sq_invalidate --> tpt
//   qp (res_done) <-- sq_invalidated <-- tpt
//
// Latency: 1 cycle each way.
// Throughput: 1 per cycle; tpt takes one every 9.
// Waits for tpt and for qp.
// Siblings: rdmap_tx, rdmap_ack (counts what is inside).
// Bench: tb/rdmap/rdmap_test.cpp
`include "rnic_assert.svh"

module rdmap_inv (
  input  logic clk_i,
  input  logic rst_ni,
  // from rdmap_tx
  input  logic inv_valid_i,
  output logic inv_ready_o,
  input  iwarp_pkg::sq_invalidate_t inv_i,
  // to and from tpt
  output logic sq_invalidate_valid_o,
  input  logic sq_invalidate_ready_i,
  output iwarp_pkg::sq_invalidate_t sq_invalidate_o,
  input  logic sq_invalidated_valid_i,
  output logic sq_invalidated_ready_o,
  input  iwarp_pkg::sq_invalidated_t sq_invalidated_i,
  // to qp
  output logic done_valid_o,
  input  logic done_ready_i,
  output iwarp_pkg::res_done_t done_o
);
  stream_reg #(.Width(iwarp_pkg::SqInvalidateWidth)) u_out (
    .clk_i, .rst_ni, .valid_i(inv_valid_i), .ready_o(inv_ready_o), .data_i(inv_i),
    .valid_o(sq_invalidate_valid_o), .ready_i(sq_invalidate_ready_i), .data_o(sq_invalidate_o)
  );
  stream_reg #(.Width(iwarp_pkg::ResDoneWidth)) u_back (
    .clk_i, .rst_ni, .valid_i(sq_invalidated_valid_i), .ready_o(sq_invalidated_ready_o),
    .data_i({sq_invalidated_i.qpn, sq_invalidated_i.slot}),
    .valid_o(done_valid_o), .ready_i(done_ready_i), .data_o(done_o)
  );
  `RNIC_STREAM_STABLE(InvalidateStable_A, sq_invalidate_valid_o, sq_invalidate_ready_i, sq_invalidate_o)
endmodule

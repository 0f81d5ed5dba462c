// rdmap_local: executes local invalidations of the send queue: hands them to tpt, and reports each to
// qp when tpt is done.
//
//   rdmap_tx --> sq_local --> tpt
//   qp (res_done) <-- sq_local_done <-- tpt
//
// Latency: 1 cycle each way.
// Throughput: 1 per cycle; tpt takes one every 9.
// Waits for tpt and for qp.
// Siblings: rdmap_tx, rdmap_ack (counts what is inside).
// Bench: tb/rdmap/rdmap_test.cpp
`include "rnic_assert.svh"

module rdmap_local (
  input  logic clk_i,
  input  logic rst_ni,
  // from rdmap_tx
  input  logic inv_valid_i,
  output logic inv_ready_o,
  input  iwarp_pkg::sq_local_t inv_i,
  // to and from tpt
  output logic sq_local_valid_o,
  input  logic sq_local_ready_i,
  output iwarp_pkg::sq_local_t sq_local_o,
  input  logic sq_local_done_valid_i,
  output logic sq_local_done_ready_o,
  input  iwarp_pkg::sq_local_done_t sq_local_done_i,
  // to qp
  output logic done_valid_o,
  input  logic done_ready_i,
  output iwarp_pkg::res_done_t done_o
);
  stream_reg #(.Width(iwarp_pkg::SqLocalWidth)) u_out (
    .clk_i, .rst_ni, .valid_i(inv_valid_i), .ready_o(inv_ready_o), .data_i(inv_i),
    .valid_o(sq_local_valid_o), .ready_i(sq_local_ready_i), .data_o(sq_local_o)
  );
  stream_reg #(.Width(iwarp_pkg::ResDoneWidth)) u_back (
    .clk_i, .rst_ni, .valid_i(sq_local_done_valid_i), .ready_o(sq_local_done_ready_o),
    .data_i({sq_local_done_i.qpn, sq_local_done_i.slot}),
    .valid_o(done_valid_o), .ready_i(done_ready_i), .data_o(done_o)
  );
  `RNIC_STREAM_STABLE(InvalidateStable_A, sq_local_valid_o, sq_local_ready_i, sq_local_o)
endmodule

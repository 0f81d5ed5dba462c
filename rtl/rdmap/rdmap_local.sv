// rdmap_local: executes the requests of the send queue to our own table: hands local invalidations,
// fast registrations and binds to tpt, and reports each to qp when tpt is done. One that
// failed goes to rdmap_core instead: its QP fails.
//
//   rdmap_tx --> sq_local --> tpt
//   qp (res_done)          <--+-- sq_local_done <-- tpt
//   rdmap_core (resp_fail) <--+
//
// Latency: 2 cycles to tpt, 1 back.
// Throughput: 1 per cycle; tpt takes an invalidation every 11.
// Waits for tpt, for qp and for rdmap_core.
// Siblings: rdmap_tx, rdmap_ack (counts what is inside).
// Bench: tb/rdmap/rdmap_test.cpp
`include "rnic_assert.svh"

module rdmap_local (
  input  logic clk_i,
  input  logic rst_ni,
  // from rdmap_tx
  input  logic local_valid_i,
  output logic local_ready_o,
  input  iwarp_pkg::sq_local_t local_i,
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
  output iwarp_pkg::res_done_t done_o,
  // to rdmap_core
  output logic fail_valid_o,
  input  logic fail_ready_i,
  output iwarp_pkg::tx_fault_t fail_o
);
  logic back_valid, back_ready, fails;
  iwarp_pkg::sq_local_done_t back;
  // A QP has at most one registration or bind outstanding, so these do not fill the queue.
  // Invalidations queued after one may; then rdmap_tx stalls for all QPs.
  stream_fifo #(.Width(iwarp_pkg::SqLocalWidth), .Depth(rnic_pkg::NumQps)) u_out (
    .clk_i, .rst_ni, .valid_i(local_valid_i), .ready_o(local_ready_o), .data_i(local_i),
    .valid_o(sq_local_valid_o), .ready_i(sq_local_ready_i), .data_o(sq_local_o), .count_o()
  );
  stream_reg #(.Width(iwarp_pkg::SqLocalDoneWidth)) u_back (
    .clk_i, .rst_ni, .valid_i(sq_local_done_valid_i), .ready_o(sq_local_done_ready_o),
    .data_i(sq_local_done_i),
    .valid_o(back_valid), .ready_i(back_ready), .data_o(back)
  );
  assign fails        = back.result != iwarp_pkg::TptOk || back.status != iwarp_pkg::RdOk;
  assign back_ready   = fails ? fail_ready_i : done_ready_i;
  assign done_valid_o = back_valid && !fails;
  assign done_o       = {back.qpn, back.slot};
  assign fail_valid_o = back_valid && fails;
  always_comb begin
    fail_o        = '0;
    fail_o.qpn    = back.qpn;
    fail_o.source = iwarp_pkg::TxSq;
    fail_o.slot   = back.slot;
    fail_o.status = back.status;
    fail_o.result = back.result;
  end
  `RNIC_STREAM_STABLE(LocalStable_A, sq_local_valid_o, sq_local_ready_i, sq_local_o)
endmodule

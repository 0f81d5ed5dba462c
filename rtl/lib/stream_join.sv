// stream_join: N streams into one, which moves when all of them have a word.
//
// Handshake only: the payloads go to the consumer by wire, side by side. Combinational (latency 0): every valid_i
// reaches valid_o and every ready_o, ready_i reaches every ready_o. Throughput 1 word a cycle.
//
// Proof rtl/formal/stream_join_fv.sv, bench tb/lib/stream_join_test.cpp
`include "rnic_assert.svh"

module stream_join #(
  parameter int unsigned N = 2
) (
  input  logic         clk_i,    // for the assertions alone
  input  logic         rst_ni,
  // from the N producers
  input  logic [N-1:0] valid_i,
  output logic [N-1:0] ready_o,
  // to the consumer
  output logic         valid_o,
  input  logic         ready_i
);
  if (N == 0) $fatal(1, "stream_join %m: N must be at least 1");

  assign valid_o = &valid_i;
  assign ready_o = {N{valid_o && ready_i}};

  `RNIC_ASSERT_NEXT(OutStable_A, valid_o && !ready_i, valid_o)
endmodule

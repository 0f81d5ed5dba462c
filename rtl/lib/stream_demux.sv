// stream_demux: one stream to the one of N consumers that select_i names.
//
// Handshake only: the payload goes to all consumers by wire. Combinational (latency 0): valid_i and select_i reach
// valid_o, ready_i and select_i reach ready_o. Throughput 1 word a cycle. select_i belongs to the word: it must stay
// while the word is offered and not taken.
//
// Proof rtl/formal/stream_demux_fv.sv, bench tb/lib/stream_demux_test.cpp
`include "rnic_assert.svh"

module stream_demux #(
  parameter int unsigned N = 2,
  localparam int unsigned IndexW = N > 1 ? $clog2(N) : 1
) (
  input  logic              clk_i,    // for the assertions alone
  input  logic              rst_ni,
  // from the producer
  input  logic              valid_i,
  output logic              ready_o,
  input  logic [IndexW-1:0] select_i,
  // to the N consumers
  output logic [N-1:0]      valid_o,
  input  logic [N-1:0]      ready_i
);
  if (N == 0) $fatal(1, "stream_demux %m: N must be at least 1");

  logic [N-1:0] chosen;

  always_comb begin
    for (int unsigned i = 0; i < N; i++) chosen[i] = select_i == IndexW'(i);
  end

  assign valid_o = chosen & {N{valid_i}};
  assign ready_o = |(chosen & ready_i);

  `RNIC_ASSERT(SelectInRange_A, !valid_i || 32'(select_i) < N)
  `RNIC_ASSERT_NEXT(OutStable_A, valid_i && !ready_o, valid_i && $stable(select_i))
endmodule

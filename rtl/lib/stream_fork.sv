// stream_fork: passes one stream to N consumers; each accepts every word once, at its own pace.
//
//   valid_i --+--> & !done_q[0] --> valid_o[0]
//             +--> & !done_q[1] --> valid_o[1]        ready_o = each has accepted or accepts now
//
// Handshake only: wires carry the payload from the producer to all consumers.
// Latency: 0 (combinational: valid_i reaches valid_o, ready_i reaches ready_o). Throughput: 1 word
// per cycle.
// Back-pressure: the producer waits for the slowest consumer. done_q marks the consumers that have
// accepted the word (DoneOnlyInside_A).
// Proof rtl/formal/stream_fork_fv.sv, bench tb/lib/stream_fork_test.cpp
`include "rnic_assert.svh"

module stream_fork #(
  parameter int unsigned N = 2
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  // from the producer
  input  logic         valid_i,
  output logic         ready_o,
  // to the N consumers
  output logic [N-1:0] valid_o,
  input  logic [N-1:0] ready_i
);
  if (N == 0) $fatal(1, "stream_fork %m: N must be at least 1");

  logic [N-1:0] done_q;

  assign valid_o = {N{valid_i}} & ~done_q;
  assign ready_o = &(done_q | ready_i);

  always_ff @(posedge clk_i) begin
    if (!rst_ni || ready_o) done_q <= '0;
    else                    done_q <= done_q | (valid_o & ready_i);
  end

  `RNIC_ASSERT(DoneOnlyInside_A, valid_i || done_q == '0)
  `RNIC_ASSERT(SomebodyLeft_A, !(&done_q))
  `RNIC_ASSERT_NEXT(OfferKept_A, |(valid_o & ~ready_i),
                    ($past(valid_o & ~ready_i) & ~valid_o) == '0)
endmodule

// host_if_done: counts the items sent on dma_wr and reports each one (place_done, word_done).
//
//   left --> [ total ] --> total != reported? --> [ valid ] --> stream {reported + 1}
//
// Invariants:
//  1. A pulse is always accepted, so dma_wr never waits for the consumer.
//  2. Reports carry 1, 2, 3, ... modulo 2^16. Each pulse gets one report, in order.
//  3. At most 2^16 - 1 reports may be outstanding (NoOverflow_A).
// Latency: 1 cycle. Throughput: 1 report per cycle.
// Siblings host_if_wr (its user), host_if_retire (by epoch). Bench tb/host_if/host_if_test.cpp
`include "rnic_assert.svh"

module host_if_done #(
  parameter int unsigned Width = 16   // of the total, at least 16
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             left_i,
  output logic [Width-1:0] total_o,   // since reset
  // to the client
  output logic             valid_o,
  input  logic             ready_i,
  output logic [15:0]      count_o
);
  logic [Width-1:0] total_q;
  logic [15:0]      reported_q, next;
  logic             report_q, taken;

  assign taken   = report_q && ready_i;
  assign next    = reported_q + 16'd1;
  assign valid_o = report_q;
  assign count_o = next;
  assign total_o = total_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      total_q    <= '0;
      reported_q <= '0;
      report_q   <= 1'b0;
    end else begin
      total_q    <= total_q + Width'(left_i);
      reported_q <= reported_q + 16'(taken);
      report_q   <= total_q[15:0] != (taken ? next : reported_q) || left_i;
    end
  end

  `RNIC_ASSERT(NoOverflow_A, total_q[15:0] != reported_q - 16'd1 || !left_i)
  `RNIC_STREAM_STABLE(OutStable_A, valid_o, ready_i, count_o)
endmodule

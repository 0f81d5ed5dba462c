// stream_mux: one of N streams, chosen by select_i, to one consumer. The others wait.
//
// Combinational (latency 0): valid_i, data_i and select_i reach valid_o and data_o, ready_i and select_i reach ready_o.
// Throughput 1 word a cycle. select_i must stay while the chosen stream's word is offered and not taken. For a choice
// by arrival see stream_arb.
//
// Source i is in data_i[i*Width +: Width]. Proof rtl/formal/stream_mux_fv.sv, bench tb/lib/stream_mux_test.cpp
`include "rnic_assert.svh"

module stream_mux #(
  parameter int unsigned Width = 8,
  parameter int unsigned N     = 2,
  localparam int unsigned IndexW = N > 1 ? $clog2(N) : 1
) (
  input  logic               clk_i,    // for the assertions alone
  input  logic               rst_ni,
  // from whoever chooses
  input  logic [IndexW-1:0]  select_i,
  // from the N producers
  input  logic [N-1:0]       valid_i,
  output logic [N-1:0]       ready_o,
  input  logic [N*Width-1:0] data_i,
  // to the consumer
  output logic               valid_o,
  input  logic               ready_i,
  output logic [Width-1:0]   data_o
);
  if (Width == 0) $fatal(1, "stream_mux %m: Width must be at least 1");
  if (N == 0)     $fatal(1, "stream_mux %m: N must be at least 1");

  logic [N-1:0] chosen;

  always_comb begin
    data_o = '0;
    for (int unsigned i = 0; i < N; i++) begin
      chosen[i] = select_i == IndexW'(i);
      data_o    = data_o | ({Width{chosen[i]}} & data_i[i*Width +: Width]);
    end
  end

  assign valid_o = |(valid_i & chosen);
  assign ready_o = chosen & {N{ready_i}};

  `RNIC_ASSERT(SelectInRange_A, !(|valid_i) || 32'(select_i) < N)
  `RNIC_STREAM_STABLE(OutStable_A, valid_o, ready_i, {select_i, data_o})
endmodule

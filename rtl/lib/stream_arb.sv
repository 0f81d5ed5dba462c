// stream_arb: merges N streams into one by fair round robin, word by word.
//
//   valid_i[N], data_i --> [ round_robin ] --> valid_o, data_o, index_o
//                                ^-- next_q <---- taken: index+1
//                                                 waiting: index
//
// next_q: index at which the next search starts; while a source waits, the index of that source.
// data_i[i*Width +: Width] is the word of source i.
// Invariants:
//  1. A grant is kept while it is valid and not ready (OutStable_A).
//  2. A waiting source is served after at most N-1 words of others (Fair_A).
// Latency: 0 (combinational). Throughput: 1 word per cycle.
// Back-pressure: valid_i and data_i reach valid_o and data_o; ready_i reaches ready_o. Put a
// stream_reg after it to cut.
// Proof rtl/formal/stream_arb_fv.sv, bench tb/lib/stream_arb_test.cpp
`include "rnic_assert.svh"
`include "rnic_stall.svh"

module stream_arb #(
  parameter int unsigned Width = 8,
  parameter int unsigned N     = 2,
  localparam int unsigned IndexW = N > 1 ? $clog2(N) : 1
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  // from the N producers
  input  logic [N-1:0]       valid_i,
  output logic [N-1:0]       ready_o,
  input  logic [N*Width-1:0] data_i,
  // to the consumer
  output logic               valid_o,
  input  logic               ready_i,
  output logic [Width-1:0]   data_o,
  output logic [IndexW-1:0]  index_o
);
  if (Width == 0) $fatal(1, "stream_arb %m: Width must be at least 1");
  if (N == 0)     $fatal(1, "stream_arb %m: N must be at least 1");

  logic [N-1:0]      grant;
  logic [IndexW-1:0] next_d, next_q;
  logic              out_valid, out_ready;

  `RNIC_STALL_OUT(out_valid, out_ready, valid_o, ready_i)

  round_robin #(.N(N)) u_pick (
    .request_i(valid_i), .start_i(next_q), .any_o(out_valid), .onehot_o(grant), .index_o(index_o)
  );

  assign ready_o = grant & {N{out_ready}};

  always_comb begin
    data_o = '0;
    for (int unsigned i = 0; i < N; i++)
      data_o = data_o | ({Width{grant[i]}} & data_i[i*Width +: Width]);
  end

  always_comb begin
    next_d = next_q;
    if (out_valid) begin
      next_d = index_o;
      if (out_ready) next_d = index_o == IndexW'(N - 1) ? '0 : index_o + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) next_q <= '0;
    else         next_q <= next_d;
  end

  `RNIC_ASSERT(NextInRange_A, 32'(next_q) < N)
  `RNIC_ASSERT(OneGrant_A, (grant & (grant - 1'b1)) == '0 && (|grant) == out_valid)
  `RNIC_ASSERT(GrantAsked_A, (grant & ~valid_i) == '0)
  `RNIC_STREAM_STABLE(OutStable_A, valid_o, ready_i, {index_o, data_o})

`ifdef FORMAL
  // Fairness: any one source, and the number of other sources' words that passed while it waited.
  (* anyconst *) logic [IndexW-1:0] f_source;
  logic [IndexW:0] f_passed_q;
  logic [IndexW:0] f_distance;   // sources that the search checks before f_source

  assign f_distance = f_source >= next_q ? {1'b0, f_source} - {1'b0, next_q}
                                         : {1'b0, f_source} + (IndexW + 1)'(N) - {1'b0, next_q};

  always_ff @(posedge clk_i) begin
    if (!rst_ni || !valid_i[f_source] || ready_o[f_source]) f_passed_q <= '0;
    else if (valid_o && ready_i)                            f_passed_q <= f_passed_q + 1'b1;
  end

  always_comb assume (32'(f_source) < N);
  `RNIC_ASSERT(FairDistance_A, f_passed_q == '0 || 32'(f_passed_q) + 32'(f_distance) <= N - 1)
  `RNIC_ASSERT(Fair_A, 32'(f_passed_q) <= N - 1)
`endif
endmodule

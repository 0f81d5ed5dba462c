// packet_arb: merges N packet streams into one by fair round robin, packet by packet.
//
//   valid_i[N], last_i[N], data_i --> [ round_robin ] --> valid_o, last_o, data_o, index_o
//                                         ^-- next_q; locked_q: inside a packet of source next_q
//
// data_i[i*Width +: Width] is the rest of the beat, {error, keep, data}, which packet_arb does not
// read.
// Invariants:
//  1. A source keeps the output from its first beat until its last beat is accepted, also while it
//     pauses.
//  2. A packet of a waiting source passes after at most N-1 packets of others (Fair_A proves N).
// Latency: 0 (combinational). Throughput: 1 beat per cycle, no gap between packets.
// Back-pressure: valid_i and data_i reach valid_o and data_o; ready_i reaches ready_o. Put a
// stream_reg after it to cut.
// Proof rtl/formal/packet_arb_fv.sv, bench tb/lib/packet_arb_test.cpp
`include "rnic_assert.svh"
`include "rnic_stall.svh"

module packet_arb #(
  parameter int unsigned Width = 520,
  parameter int unsigned N     = 2,
  localparam int unsigned IndexW = N > 1 ? $clog2(N) : 1
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  // from the N producers
  input  logic [N-1:0]       valid_i,
  output logic [N-1:0]       ready_o,
  input  logic [N-1:0]       last_i,
  input  logic [N*Width-1:0] data_i,
  // to the consumer
  output logic               valid_o,
  input  logic               ready_i,
  output logic               last_o,
  output logic [Width-1:0]   data_o,
  output logic [IndexW-1:0]  index_o
);
  if (Width == 0) $fatal(1, "packet_arb %m: Width must be at least 1");
  if (N == 0)     $fatal(1, "packet_arb %m: N must be at least 1");

  logic [N-1:0]      request, grant;
  logic [IndexW-1:0] next_d, next_q;
  logic              out_valid, out_ready;

  `RNIC_STALL_OUT(out_valid, out_ready, valid_o, ready_i)
  logic              locked_d, locked_q;

  // Within a packet only the source of the packet may request.
  always_comb begin
    for (int unsigned i = 0; i < N; i++)
      request[i] = valid_i[i] && (!locked_q || next_q == IndexW'(i));
  end

  round_robin #(.N(N)) u_pick (
    .request_i(request), .start_i(next_q), .any_o(out_valid), .onehot_o(grant), .index_o(index_o)
  );

  assign ready_o = grant & {N{out_ready}};
  assign last_o  = |(grant & last_i);

  always_comb begin
    data_o = '0;
    for (int unsigned i = 0; i < N; i++)
      data_o = data_o | ({Width{grant[i]}} & data_i[i*Width +: Width]);
  end

  always_comb begin
    next_d   = next_q;
    locked_d = locked_q;
    if (out_valid) begin
      next_d = index_o;
      if (out_ready) begin
        locked_d = !last_o;
        if (last_o) next_d = index_o == IndexW'(N - 1) ? '0 : index_o + 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      next_q   <= '0;
      locked_q <= 1'b0;
    end else begin
      next_q   <= next_d;
      locked_q <= locked_d;
    end
  end

  `RNIC_ASSERT(NextInRange_A, 32'(next_q) < N)
  `RNIC_ASSERT(OneGrant_A, (grant & (grant - 1'b1)) == '0 && (|grant) == out_valid)
  `RNIC_ASSERT(GrantAsked_A, (grant & ~valid_i) == '0)
  `RNIC_ASSERT(SourceKept_A, !locked_q || !valid_o || index_o == next_q)
  `RNIC_STREAM_STABLE(OutStable_A, valid_o, ready_i, {index_o, last_o, data_o})

`ifdef FORMAL
  // The open packet as the consumer sees it: it equals the lock, and no other source interleaves.
  logic              f_open_q;
  logic [IndexW-1:0] f_index_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni)                 f_open_q <= 1'b0;
    else if (valid_o && ready_i) f_open_q <= !last_o;
    if (valid_o && ready_i)      f_index_q <= index_o;
  end

  `RNIC_ASSERT(LockIsOpenPacket_A, locked_q == f_open_q && (!f_open_q || next_q == f_index_q))
  `RNIC_ASSERT(NotMixed_A, !f_open_q || !valid_o || index_o == f_index_q)
  `RNIC_ASSERT(SourceServed_A, !f_open_q || valid_o == valid_i[f_index_q])

  // Fairness: any one source, and the number of other sources' packets that ended while it waited.
  (* anyconst *) logic [IndexW-1:0] f_source;
  logic [IndexW:0] f_passed_q;
  logic [IndexW:0] f_distance;   // sources that the search checks before f_source

  assign f_distance = f_source >= next_q ? {1'b0, f_source} - {1'b0, next_q}
                                         : {1'b0, f_source} + (IndexW + 1)'(N) - {1'b0, next_q};

  always_ff @(posedge clk_i) begin
    if (!rst_ni || !valid_i[f_source] || ready_o[f_source]) f_passed_q <= '0;
    else if (valid_o && ready_i && last_o)                  f_passed_q <= f_passed_q + 1'b1;
  end

  always_comb assume (32'(f_source) < N);
  `RNIC_ASSERT(FairDistance_A, f_passed_q == '0 || 32'(f_passed_q) + 32'(f_distance) <= N)
  `RNIC_ASSERT(Fair_A, 32'(f_passed_q) <= N)
`endif
endmodule

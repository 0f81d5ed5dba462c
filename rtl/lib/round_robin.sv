// round_robin: picks the first request at or after a starting index, wrapping around.
//
//   request_i --+--> & (i >= start) --> [ first_one ] --any?--> index_o, onehot_o
//               +---------------------> [ first_one ] --------^
//
// Combinational, logarithmic depth. The user (stream_arb, packet_arb) holds the pointer. It sets
// the pointer past a source that was served, and to a source that waits, so that a grant stays
// until it is used.
// Proof rtl/formal/round_robin_fv.sv, bench tb/lib/round_robin_test.cpp
module round_robin #(
  parameter int unsigned N = 4,
  localparam int unsigned IndexW = N > 1 ? $clog2(N) : 1
) (
  input  logic [N-1:0]      request_i,
  input  logic [IndexW-1:0] start_i,
  output logic              any_o,
  output logic [N-1:0]      onehot_o,
  output logic [IndexW-1:0] index_o
);
  if (N == 0) $fatal(1, "round_robin %m: N must be at least 1");

  logic [N-1:0]      late, late_onehot, all_onehot;
  logic              late_any;
  logic [IndexW-1:0] late_index, all_index;

  always_comb begin
    for (int unsigned i = 0; i < N; i++) late[i] = request_i[i] && IndexW'(i) >= start_i;
  end

  first_one #(.N(N)) u_late (
    .request_i(late), .any_o(late_any), .onehot_o(late_onehot), .index_o(late_index)
  );
  first_one #(.N(N)) u_all (
    .request_i(request_i), .any_o(any_o), .onehot_o(all_onehot), .index_o(all_index)
  );

  assign onehot_o = late_any ? late_onehot : all_onehot;
  assign index_o  = late_any ? late_index  : all_index;
endmodule

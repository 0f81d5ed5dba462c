// first_one: finds the lowest set bit of a vector, as a one-hot vector, an index and an any flag.
//
//   request_i   0 1 1 0 1 0 0     (bit 0 right)
//   onehot_o    0 0 0 0 1 0 0
//   index_o     2,  any_o 1       index_o is 0 when no bit is set
//
// Combinational, depth logarithmic in N: a doubling prefix OR finds the bit, an OR tree computes
// each bit of the index.
//
// Proof rtl/formal/first_one_fv.sv, bench tb/lib/first_one_test.cpp
module first_one #(
  parameter int unsigned N = 8,
  localparam int unsigned IndexW = N > 1 ? $clog2(N) : 1
) (
  input  logic [N-1:0]      request_i,
  output logic              any_o,
  output logic [N-1:0]      onehot_o,
  output logic [IndexW-1:0] index_o
);
  if (N == 0) $fatal(1, "first_one %m: N must be at least 1");

  logic [N-1:0] at_or_above;   // bit i: a request at i or below

  always_comb begin
    at_or_above = request_i;
    for (int unsigned s = 1; s < N; s = s * 2) at_or_above = at_or_above | (at_or_above << s);
  end

  assign any_o    = |request_i;
  assign onehot_o = request_i & ~(at_or_above << 1);

  always_comb begin
    index_o = '0;
    for (int unsigned i = 0; i < N; i++) index_o = index_o | ({IndexW{onehot_o[i]}} & IndexW'(i));
  end
endmodule

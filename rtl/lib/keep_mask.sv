// keep_mask: turns a count of valid bytes into one bit per lane: lane i is valid when i < keep_i.
//
// Combinational. Proof rtl/formal/keep_mask_fv.sv, bench tb/lib/keep_mask_test.cpp
module keep_mask #(
  parameter int unsigned Bytes = 64,
  localparam int unsigned KeepW = $clog2(Bytes + 1)
) (
  input  logic [KeepW-1:0] keep_i,
  output logic [Bytes-1:0] mask_o
);
  if (Bytes == 0) $fatal(1, "keep_mask %m: Bytes must be at least 1");

  always_comb begin
    for (int unsigned i = 0; i < Bytes; i++) mask_o[i] = KeepW'(i) < keep_i;
  end
endmodule

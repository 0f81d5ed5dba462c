// keep_mask_fv: proof of keep_mask with 64 and 5 bytes: any one lane is valid when its number is
// below the count.
//
// proof: assertions=2 bounded=4 induction=2 cover=4
`include "rnic_assert.svh"
`include "rnic_formal.svh"

module keep_mask_fv (
  input logic       clk_i,
  input logic [6:0] keep_64,
  input logic [2:0] keep_5
);
  `RNIC_FORMAL_RESET
  logic [63:0] mask_64;
  logic [4:0]  mask_5;

  keep_mask #(.Bytes(64)) dut_64 (.keep_i(keep_64), .mask_o(mask_64));
  keep_mask #(.Bytes(5))  dut_5  (.keep_i(keep_5),  .mask_o(mask_5));

  (* anyconst *) logic [5:0] lane;

  `RNIC_ASSERT(Lane64_A, mask_64[lane] == ({1'b0, lane} < keep_64))
  `RNIC_ASSERT(Lane5_A,  lane >= 6'd5 || mask_5[lane[2:0]] == (lane < 6'(keep_5)))

  `RNIC_COVER(Full_C, &mask_64 && &mask_5 && keep_64 == 7'd64)
  `RNIC_COVER(Empty_C, mask_64 == 64'd0 && mask_5 == 5'd0)
  `RNIC_COVER(Some_C, mask_64 == 64'h1FFFF && mask_5 == 5'd3)
endmodule

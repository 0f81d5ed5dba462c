// watermark_reached_fv: proof of watermark_reached. Any watermark, any count: missing up to 2^16 - 1 packets it is not reached, then it is,
// until 2^32 - 2^16 more have been placed.
//
// proof: assertions=2 bounded=4 induction=2 cover=4
`include "rnic_assert.svh"
`include "rnic_formal.svh"

module watermark_reached_fv (
  input logic        clk_i,
  input logic [31:0] watermark, missing, more
);
  `RNIC_FORMAL_RESET
  logic before, after;

  watermark_reached dut_before (.watermark_i(watermark), .placed_i(watermark - missing), .reached_o(before));
  watermark_reached dut_after  (.watermark_i(watermark), .placed_i(watermark + more),    .reached_o(after));

  `RNIC_ASSERT(Waits_A, missing == 32'd0 || missing > 32'hffff || !before)
  `RNIC_ASSERT(Stays_A, more > 32'hffff0000 || after)

  `RNIC_COVER(Last_C, missing == 32'd1 && watermark == 32'd0)
  `RNIC_COVER(Wrapped_C, more == 32'hffff0000 && watermark == 32'hffffffff)
endmodule

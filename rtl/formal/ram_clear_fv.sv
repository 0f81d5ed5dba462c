// ram_clear_fv: proof of ram_clear with 1, 5 and 8 words: busy for as many cycles, each address
// once, in order.
//
// proof: assertions=9 bounded=14 induction=2 cover=12
`include "rnic_assert.svh"
`include "rnic_formal.svh"

module ram_clear_fv (
  input logic clk_i
);
  `RNIC_FORMAL_RESET
  logic       busy_1, busy_5, busy_8, addr_1;
  logic [2:0] addr_5, addr_8;
  logic [3:0] cycle_q;   // since reset, up to 15

  ram_clear #(.Depth(1)) dut_1 (.clk_i, .rst_ni, .busy_o(busy_1), .addr_o(addr_1));
  ram_clear #(.Depth(5)) dut_5 (.clk_i, .rst_ni, .busy_o(busy_5), .addr_o(addr_5));
  ram_clear #(.Depth(8)) dut_8 (.clk_i, .rst_ni, .busy_o(busy_8), .addr_o(addr_8));

  always_ff @(posedge clk_i) begin
    if (!rst_ni)             cycle_q <= 4'd0;
    else if (cycle_q != 4'd15) cycle_q <= cycle_q + 4'd1;
  end

  `RNIC_ASSERT(Walk1_A, busy_1 == (cycle_q < 4'd1) && (!busy_1 || addr_1 == 1'b0))
  `RNIC_ASSERT(Walk5_A, busy_5 == (cycle_q < 4'd5) && (!busy_5 || {1'b0, addr_5} == cycle_q))
  `RNIC_ASSERT(Walk8_A, busy_8 == (cycle_q < 4'd8) && (!busy_8 || {1'b0, addr_8} == cycle_q))

  `RNIC_COVER(Last_C, busy_8 && addr_8 == 3'd7 && !busy_5)
  `RNIC_COVER(Done_C, !busy_1 && !busy_5 && !busy_8)
endmodule

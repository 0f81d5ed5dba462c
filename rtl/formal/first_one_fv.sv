// first_one_fv: proof of first_one with 1, 5 and 37 requests. The output bit is a request, and no
// request lies below it.
//
// proof: assertions=9 bounded=4 induction=2 cover=4
`include "rnic_assert.svh"
`include "rnic_formal.svh"

module first_one_fv (
  input logic        clk_i,
  input logic        request_1,
  input logic [4:0]  request_5,
  input logic [36:0] request_37
);
  `RNIC_FORMAL_RESET
  logic        any_1, any_5, any_37, onehot_1, index_1;
  logic [4:0]  onehot_5;
  logic [2:0]  index_5;
  logic [36:0] onehot_37;
  logic [5:0]  index_37;

  first_one #(.N(1)) dut_1 (
    .request_i(request_1), .any_o(any_1), .onehot_o(onehot_1), .index_o(index_1)
  );
  first_one #(.N(5)) dut_5 (
    .request_i(request_5), .any_o(any_5), .onehot_o(onehot_5), .index_o(index_5)
  );
  first_one #(.N(37)) dut_37 (
    .request_i(request_37), .any_o(any_37), .onehot_o(onehot_37), .index_o(index_37)
  );

  `RNIC_ASSERT(Any1_A,     any_1 == request_1)
  `RNIC_ASSERT(Bit1_A,     onehot_1 == request_1)
  `RNIC_ASSERT(Index1_A,   index_1 == 1'b0)
  `RNIC_ASSERT(Any5_A,     any_5 == (request_5 != 5'd0))
  `RNIC_ASSERT(Lowest5_A,  (onehot_5 & request_5) == onehot_5 &&
                           (!any_5 || (request_5 & (onehot_5 - 5'd1)) == 5'd0))
  `RNIC_ASSERT(Index5_A,   any_5 ? onehot_5 == 5'd1 << index_5
                                 : onehot_5 == 5'd0 && index_5 == 3'd0)
  `RNIC_ASSERT(Any37_A,    any_37 == (request_37 != 37'd0))
  `RNIC_ASSERT(Lowest37_A, (onehot_37 & request_37) == onehot_37 &&
                           (!any_37 || (request_37 & (onehot_37 - 37'd1)) == 37'd0))
  `RNIC_ASSERT(Index37_A,  any_37 ? onehot_37 == 37'd1 << index_37
                                  : onehot_37 == 37'd0 && index_37 == 6'd0)

  `RNIC_COVER(Last_C, index_5 == 3'd4 && index_37 == 6'd36 && any_1)
  `RNIC_COVER(OthersAbove_C, request_37 == 37'h1500000000 && index_37 == 6'd32)
endmodule

// round_robin_fv: proof of round_robin with 1, 5 and 8 requests. The picked index has a request,
// and no other request is nearer to the start, counted upwards and around.
//
// proof: assertions=8 bounded=4 induction=2 cover=4
`include "rnic_assert.svh"
`include "rnic_formal.svh"

module round_robin_fv (
  input logic       clk_i,
  input logic       request_1,
  input logic [4:0] request_5,
  input logic [7:0] request_8,
  input logic [2:0] start_5, start_8
);
  `RNIC_FORMAL_RESET
  logic       any_1, any_5, any_8, onehot_1, index_1;
  logic [4:0] onehot_5;
  logic [7:0] onehot_8;
  logic [2:0] index_5, index_8;

  round_robin #(.N(1)) dut_1 (
    .request_i(request_1), .start_i(1'b0), .any_o(any_1), .onehot_o(onehot_1), .index_o(index_1)
  );
  round_robin #(.N(5)) dut_5 (
    .request_i(request_5), .start_i(start_5), .any_o(any_5), .onehot_o(onehot_5), .index_o(index_5)
  );
  round_robin #(.N(8)) dut_8 (
    .request_i(request_8), .start_i(start_8), .any_o(any_8), .onehot_o(onehot_8), .index_o(index_8)
  );

  `RNIC_ASSUME(start_5 < 3'd5)

  (* anyconst *) logic [2:0] other;   // any index, compared with the picked one
  logic [3:0] to_index_5, to_other_5;
  logic [2:0] to_index_8, to_other_8;

  assign to_index_5 = index_5 >= start_5 ? 4'(index_5) - 4'(start_5)
                                         : 4'(index_5) + 4'd5 - 4'(start_5);
  assign to_other_5 = other >= start_5 ? 4'(other) - 4'(start_5)
                                       : 4'(other) + 4'd5 - 4'(start_5);
  assign to_index_8 = index_8 - start_8;
  assign to_other_8 = other - start_8;

  `RNIC_ASSERT(One_A,      any_1 == request_1 && onehot_1 == request_1 && index_1 == 1'b0)
  `RNIC_ASSERT(Any5_A,     any_5 == (request_5 != 5'd0))
  `RNIC_ASSERT(Asks5_A,    !any_5 || (onehot_5 == 5'd1 << index_5 &&
                                      (onehot_5 & request_5) != 5'd0))
  `RNIC_ASSERT(Nearest5_A, other >= 3'd5 || !request_5[other] || to_index_5 <= to_other_5)
  `RNIC_ASSERT(Any8_A,     any_8 == (request_8 != 8'd0))
  `RNIC_ASSERT(Asks8_A,    !any_8 || (onehot_8 == 8'd1 << index_8 &&
                                      (onehot_8 & request_8) != 8'd0))
  `RNIC_ASSERT(Nearest8_A, !request_8[other] || to_index_8 <= to_other_8)
  `RNIC_ASSERT(Nobody_A,   (any_5 || onehot_5 == 5'd0) && (any_8 || onehot_8 == 8'd0))

  `RNIC_COVER(Around_C, start_5 == 3'd3 && index_5 == 3'd1 && request_5 == 5'b00110)
  `RNIC_COVER(AtStart_C, start_8 == 3'd6 && index_8 == 3'd6 && request_8 == 8'hFF)
endmodule

// stream_join_fv: proof of stream_join with 3 producers. All words are taken together or none.
//
// proof: assertions=2 bounded=12 induction=4 cover=8
`include "rnic_assert.svh"
`include "rnic_formal.svh"

module stream_join_fv (
  input logic       clk_i,
  input logic [2:0] valid_i,
  input logic       ready_i
);
  `RNIC_FORMAL_RESET
  logic [2:0] ready_o;
  logic       valid_o;

  stream_join #(.N(3)) dut (.clk_i, .rst_ni, .valid_i, .ready_o, .valid_o, .ready_i);

  `RNIC_ASSUME_STREAM(valid_i[0], ready_o[0], 1'b0)
  `RNIC_ASSUME_STREAM(valid_i[1], ready_o[1], 1'b0)
  `RNIC_ASSUME_STREAM(valid_i[2], ready_o[2], 1'b0)

  `RNIC_ASSERT(Together_A, (valid_i & ready_o) == {3{valid_o && ready_i}} && valid_o == (valid_i == 3'd7))

  `RNIC_COVER(Moves_C, valid_o && ready_i && $past(valid_i) == 3'd5)
endmodule

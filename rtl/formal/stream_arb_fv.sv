// stream_arb_fv: proof of stream_arb with 3 sources. One grant, to a source that is valid, with its
// word; the grant is kept until accepted; fair.
//
// Fairness (at most N-1 words of others pass a waiting source) is checked in the cell, under
// FORMAL.
// proof: assertions=8 bounded=16 induction=4 cover=12
`include "rnic_assert.svh"
`include "rnic_formal.svh"

module stream_arb_fv (
  input logic       clk_i,
  input logic [2:0] valid_i,
  input logic [8:0] data_i,
  input logic       ready_i
);
  `RNIC_FORMAL_RESET
  logic [2:0] ready_o, data_o, chosen;
  logic [1:0] index_o;
  logic       valid_o;

  stream_arb #(.Width(3), .N(3)) dut (
    .clk_i, .rst_ni, .valid_i, .ready_o, .data_i, .valid_o, .ready_i, .data_o, .index_o
  );

  `RNIC_ASSUME_STREAM(valid_i[0], ready_o[0], data_i[2:0])
  `RNIC_ASSUME_STREAM(valid_i[1], ready_o[1], data_i[5:3])
  `RNIC_ASSUME_STREAM(valid_i[2], ready_o[2], data_i[8:6])

  assign chosen = index_o == 2'd0 ? data_i[2:0] : index_o == 2'd1 ? data_i[5:3] : data_i[8:6];

  `RNIC_ASSERT(SomebodyServed_A, valid_o == (valid_i != 3'd0))
  `RNIC_ASSERT(WordOfIndex_A, !valid_o || (valid_i[index_o] && data_o == chosen &&
                                           ready_o == (3'd1 << index_o & {3{ready_i}})))

  `RNIC_COVER(Round_C, index_o == 2'd0 && $past(index_o) == 2'd2 &&
                       valid_i == 3'd7 && $past(valid_i) == 3'd7 && ready_i)
  `RNIC_COVER(Waits_C, valid_o && !ready_i && index_o == 2'd1 && valid_i == 3'd7)
endmodule

// packet_arb_fv: proof of packet_arb with 3 sources. One grant, to a source that is valid, with its
// beat; the grant is kept until accepted; fair; packets are never mixed.
//
// Fairness (a waiting source is passed by the open packet and at most N-1 more packets of others)
// and the open packet are checked in the cell, under FORMAL.
// proof: assertions=11 bounded=16 induction=4 cover=12
`include "rnic_assert.svh"
`include "rnic_formal.svh"

module packet_arb_fv (
  input logic       clk_i,
  input logic [2:0] valid_i, last_i,
  input logic [5:0] data_i,
  input logic       ready_i
);
  `RNIC_FORMAL_RESET
  logic [2:0] ready_o;
  logic [1:0] index_o, data_o, chosen;
  logic       valid_o, last_o;

  packet_arb #(.Width(2), .N(3)) dut (
    .clk_i, .rst_ni, .valid_i, .ready_o, .last_i, .data_i,
    .valid_o, .ready_i, .last_o, .data_o, .index_o
  );

  `RNIC_ASSUME_STREAM(valid_i[0], ready_o[0], {last_i[0], data_i[1:0]})
  `RNIC_ASSUME_STREAM(valid_i[1], ready_o[1], {last_i[1], data_i[3:2]})
  `RNIC_ASSUME_STREAM(valid_i[2], ready_o[2], {last_i[2], data_i[5:4]})

  assign chosen = index_o == 2'd0 ? data_i[1:0] : index_o == 2'd1 ? data_i[3:2] : data_i[5:4];

  `RNIC_ASSERT(WordOfIndex_A, !valid_o || (valid_i[index_o] && data_o == chosen &&
                                           last_o == last_i[index_o] &&
                                           ready_o == (3'd1 << index_o & {3{ready_i}})))

  `RNIC_COVER(Pause_C, !valid_o && valid_i != 3'd0)
  `RNIC_COVER(NextPacket_C, valid_o && ready_i && index_o == 2'd0 &&
                            $past(valid_o && ready_i && last_o) && $past(index_o) == 2'd2)
endmodule

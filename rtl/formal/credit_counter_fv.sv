// credit_counter_fv: proof of credit_counter. Credit is neither made nor lost, never below zero, never above Max.
//
// The environment gives back only what was taken: lent_q is in its hands.
// proof: assertions=4 bounded=16 induction=4 cover=12
`include "rnic_assert.svh"
`include "rnic_formal.svh"

module credit_counter_fv (
  input logic       clk_i,
  input logic       give_valid_i, take_valid_i,
  input logic [2:0] give_amount_i, take_amount_i
);
  `RNIC_FORMAL_RESET
  logic       take_ready_o;
  logic [2:0] count_o, lent_q;

  credit_counter #(.Max(6), .Initial(6)) dut (
    .clk_i, .rst_ni, .give_valid_i, .give_amount_i, .take_valid_i, .take_ready_o, .take_amount_i, .count_o
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) lent_q <= 3'd0;
    else lent_q <= lent_q + (take_valid_i && take_ready_o ? take_amount_i : 3'd0) - (give_valid_i ? give_amount_i : 3'd0);
  end

  `RNIC_ASSUME(!give_valid_i || give_amount_i <= lent_q)

  `RNIC_ASSERT(Conserved_A, 4'(count_o) + 4'(lent_q) == 4'd6)
  `RNIC_ASSERT(TakenIsCovered_A, take_ready_o == (take_amount_i <= count_o))

  `RNIC_COVER(Empty_C, count_o == 3'd0)
  `RNIC_COVER(BackToFull_C, count_o == 3'd6 && $past(count_o) == 3'd1)
  `RNIC_COVER(Refused_C, take_valid_i && !take_ready_o && count_o == 3'd3)
endmodule

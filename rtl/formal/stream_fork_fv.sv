// stream_fork_fv: proof of stream_fork with 3 consumers. Each accepts each word exactly once.
//
// ahead_q models, from the ports, which consumers have accepted the word that is still offered.
// proof: assertions=6 bounded=16 induction=4 cover=12
`include "rnic_assert.svh"
`include "rnic_formal.svh"

module stream_fork_fv (
  input logic       clk_i,
  input logic       valid_i,
  input logic [2:0] ready_i
);
  `RNIC_FORMAL_RESET
  logic       ready_o;
  logic [2:0] valid_o;
  logic [2:0] ahead_q;   // consumer i has accepted the word that the producer still offers
  logic       twice_q;   // a consumer has accepted a word for the second time

  stream_fork #(.N(3)) dut (.clk_i, .rst_ni, .valid_i, .ready_o, .valid_o, .ready_i);

  `RNIC_ASSUME_STREAM(valid_i, ready_o, 1'b0)

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      ahead_q <= 3'd0;
      twice_q <= 1'b0;
    end else begin
      ahead_q <= valid_i && ready_o ? 3'd0 : ahead_q | (valid_o & ready_i);
      if ((ahead_q & valid_o & ready_i) != 3'd0) twice_q <= 1'b1;
    end
  end

  `RNIC_ASSERT(NobodyAhead_A, valid_i || ahead_q == 3'd0)
  `RNIC_ASSERT(OfferedToTheRest_A, valid_o == ({3{valid_i}} & ~ahead_q) && !twice_q)
  `RNIC_ASSERT(ReleasedWhenAllTook_A, !valid_i ||
                                      ready_o == ((ahead_q | (valid_o & ready_i)) == 3'd7))

  `RNIC_COVER(OneAfterAnother_C, valid_i && ready_o && ahead_q == 3'd5)
  `RNIC_COVER(AllAtOnce_C, valid_i && ready_o && ahead_q == 3'd0)
endmodule

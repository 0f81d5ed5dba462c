// stream_fifo_fv: proof of stream_fifo in flip-flops, at depths 1, 2 and 5. No word is lost,
// changed or reordered.
//
// The cell follows one word, under FORMAL: 10 assertions per instance.
// proof: assertions=30 bounded=16 induction=4 cover=16
`include "rnic_assert.svh"
`include "rnic_formal.svh"

module stream_fifo_fv (
  input logic       clk_i,
  input logic       valid_i, ready_i,
  input logic [2:0] data_i
);
  `RNIC_FORMAL_RESET
  logic       ready_1, ready_2, ready_5, valid_1, valid_2, valid_5, count_1;
  logic [1:0] count_2;
  logic [2:0] count_5, data_1, data_2, data_5;

  stream_fifo #(.Width(3), .Depth(1)) dut_1 (
    .clk_i, .rst_ni, .valid_i, .ready_o(ready_1), .data_i,
    .valid_o(valid_1), .ready_i, .data_o(data_1), .count_o(count_1)
  );
  stream_fifo #(.Width(3), .Depth(2)) dut_2 (
    .clk_i, .rst_ni, .valid_i, .ready_o(ready_2), .data_i,
    .valid_o(valid_2), .ready_i, .data_o(data_2), .count_o(count_2)
  );
  stream_fifo #(.Width(3), .Depth(5)) dut_5 (
    .clk_i, .rst_ni, .valid_i, .ready_o(ready_5), .data_i,
    .valid_o(valid_5), .ready_i, .data_o(data_5), .count_o(count_5)
  );

  `RNIC_COVER(Full_C, count_1 == 1'd1 && count_2 == 2'd2 && count_5 == 3'd5)
  `RNIC_COVER(FullAndEmptied_C, count_5 == 3'd1 && !valid_1 && !valid_2 && data_5 == 3'd6 &&
                                valid_5 && $past(count_5) == 3'd2)
  `RNIC_COVER(Wrapped_C, count_5 == 3'd4 && $past(count_5) == 3'd5 && data_5 == 3'd1)
endmodule

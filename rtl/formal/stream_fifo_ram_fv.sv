// stream_fifo_ram_fv: proof of stream_fifo_ram, at depths 3 and 4. No word is lost, changed or
// reordered.
//
// Under FORMAL, stream_fifo_ram follows any one word from its push to its pop, and counts the words
// ahead of it: those stored at its push, less one at each pop. The word must be at the place that
// the count gives, and leave when the count is 0. So every word leaves after exactly the words that
// were pushed before it. 12 assertions per instance: 10 in stream_fifo_ram, 2 in its ram_1r1w.
// The next line (prove.sh): the number of assertions, and how many cycles deep each proof goes.
// proof: assertions=24 bounded=16 induction=4 cover=16
`include "rnic_assert.svh"
`include "rnic_formal.svh"

module stream_fifo_ram_fv (
  input logic       clk_i,
  input logic       valid_i, ready_i,
  input logic [2:0] data_i
);
  `RNIC_FORMAL_RESET
  logic       ready_3, ready_4, valid_3, valid_4;
  logic [1:0] count_3;
  logic [2:0] count_4, data_3, data_4;

  stream_fifo_ram #(.Width(3), .Depth(3)) dut_3 (
    .clk_i, .rst_ni, .valid_i, .ready_o(ready_3), .data_i,
    .valid_o(valid_3), .ready_i, .data_o(data_3), .count_o(count_3)
  );
  stream_fifo_ram #(.Width(3), .Depth(4)) dut_4 (
    .clk_i, .rst_ni, .valid_i, .ready_o(ready_4), .data_i,
    .valid_o(valid_4), .ready_i, .data_o(data_4), .count_o(count_4)
  );

  `RNIC_COVER(Full_C, count_3 == 2'd3 && count_4 == 3'd4)
  `RNIC_COVER(Emptied_C, !valid_3 && !valid_4 &&
                         $past(valid_3 && valid_4 && data_3 == 3'd5 && data_4 == 3'd5))
endmodule

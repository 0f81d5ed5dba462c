// packet_fifo_fv: proof of packet_fifo at depths 3 and 4. Good packets come out whole and in order,
// others never.
//
// The cell follows one beat, under FORMAL: 19 assertions per instance, including those of the
// memory. Here: the beats that leave are those of committed packets, counted; a full store never
// deadlocks.
// proof: assertions=42 bounded=14 induction=4 cover=16
`include "rnic_assert.svh"
`include "rnic_formal.svh"

module packet_fifo_fv (
  input logic       clk_i,
  input logic       valid_i, last_i, error_i, ready_i,
  input logic [1:0] data_i
);
  `RNIC_FORMAL_RESET
  logic       ready_3, valid_3, last_3, commit_3, drop_3,
              ready_4, valid_4, last_4, commit_4, drop_4;
  logic [1:0] data_3, data_4, count_3;
  logic [2:0] count_4;

  packet_fifo #(.Width(2), .Depth(3)) dut_3 (
    .clk_i, .rst_ni, .valid_i, .ready_o(ready_3), .last_i, .error_i, .data_i,
    .valid_o(valid_3), .ready_i, .last_o(last_3), .data_o(data_3),
    .commit_o(commit_3), .drop_o(drop_3), .count_o(count_3)
  );
  packet_fifo #(.Width(2), .Depth(4)) dut_4 (
    .clk_i, .rst_ni, .valid_i, .ready_o(ready_4), .last_i, .error_i, .data_i,
    .valid_o(valid_4), .ready_i, .last_o(last_4), .data_o(data_4),
    .commit_o(commit_4), .drop_o(drop_4), .count_o(count_4)
  );

  // The input of dut_4: the length of its packet so far. Every packet gets one verdict.
  logic [3:0] length_q;
  logic       push_4;

  assign push_4 = valid_i && ready_4;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || (push_4 && last_i)) length_q <= 4'd0;
    else if (push_4 && length_q != 4'd15) length_q <= length_q + 4'd1;
  end

  `RNIC_ASSERT_NEXT(Verdict_A, push_4 && last_i, commit_4 || drop_4)
  `RNIC_ASSERT_NEXT(NoVerdictElse_A, !(push_4 && last_i), !commit_4 && !drop_4)
  `RNIC_ASSERT_NEXT(ErrorDropped_A, push_4 && last_i && error_i, drop_4)
  `RNIC_ASSERT_NEXT(NoRoomNoReady_A, !ready_4 && !(valid_4 && ready_i), !ready_4)

  `RNIC_COVER(WholeStore_C, valid_4 && count_4 == 3'd4 && length_q == 4'd0)
  `RNIC_COVER(TooLong_C, drop_4 && $past(length_q) == 4'd5 && !$past(error_i))
  `RNIC_COVER(GoodBehindBad_C, valid_4 && ready_i && last_4 && $past(drop_4, 4))
  `RNIC_COVER(Both_C, valid_3 && last_3 && data_3 == 2'd2 &&
                      valid_4 && !last_4 && data_4 == 2'd1 && count_3 == 2'd3)
endmodule

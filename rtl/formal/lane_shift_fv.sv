// lane_shift_fv: proof of lane_shift with words of 8 lanes: each word leaves once, in order, its
// lanes moved up and around by its shift, with its side word.
//
// Under FORMAL, the cell keeps a copy of each stage's input word, with its sequence number.
// proof: assertions=8 bounded=4 induction=2 cover=8
`include "rnic_assert.svh"
`include "rnic_formal.svh"

module lane_shift_fv (
  input logic        clk_i,
  input logic        valid_i, ready_i,
  input logic [63:0] data_i,
  input logic [2:0]  shift_i,
  input logic [1:0]  side_i
);
  `RNIC_FORMAL_RESET
  logic        ready_o, valid_o;
  logic [63:0] data_o;
  logic [1:0]  side_o;

  lane_shift #(.Bytes(8), .SideW(2)) dut (
    .clk_i, .rst_ni, .valid_i, .ready_o, .data_i, .shift_i, .side_i,
    .valid_o, .ready_i, .data_o, .side_o
  );

  `RNIC_COVER(Rotated_C, valid_o && data_o == 64'h0302010807060504 &&
                         $past(data_i == 64'h0807060504030201, 2) && side_o == 2'd3)
  `RNIC_COVER(Full_C, valid_o && !ready_i && !ready_o && valid_i)
  `RNIC_COVER(Streams_C, valid_o && ready_o && valid_i && data_o[7:0] == 8'd9 &&
                         $past(valid_o && ready_o && data_o[7:0] == 8'd7))
endmodule

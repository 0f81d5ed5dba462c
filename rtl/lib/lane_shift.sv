// lane_shift: rotates the byte lanes of a word up by 0 .. Bytes-1, in two register stages.
//
//   data_i --> rotate by low bits --> [ 1 ] --> rotate by high bits --> [ 2 ] --> data_o
//
// Lane i goes to lane (i + shift_i) mod Bytes. The user masks lanes to make it a shift, and passes
// Bytes - n to rotate down. The side word goes with the data.
// Latency: 2 cycles. Throughput: 1 word per cycle.
// Back-pressure: ready_i reaches ready_o combinationally. Data, side and valid are cut.
// Proof rtl/formal/lane_shift_fv.sv, bench tb/lib/lane_shift_test.cpp
`include "rnic_assert.svh"

module lane_shift #(
  parameter int unsigned Bytes = 64,
  parameter int unsigned SideW = 1,
  localparam int unsigned ShiftW = $clog2(Bytes)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  // from the producer
  input  logic               valid_i,
  output logic               ready_o,
  input  logic [8*Bytes-1:0] data_i,
  input  logic [ShiftW-1:0]  shift_i,
  input  logic [SideW-1:0]   side_i,
  // to the consumer
  output logic               valid_o,
  input  logic               ready_i,
  output logic [8*Bytes-1:0] data_o,
  output logic [SideW-1:0]   side_o
);
  if (Bytes < 4 || (Bytes & (Bytes - 1)) != 0)
    $fatal(1, "lane_shift %m: Bytes must be a power of two from 4");
  if (SideW == 0)
    $fatal(1, "lane_shift %m: SideW must be at least 1");

  localparam int unsigned Bits = 8 * Bytes;
  localparam int unsigned LowW = ShiftW / 2;

  logic                 one_valid_q, two_valid_q, one_move, two_move;
  logic [Bits-1:0]      one_d, one_q, two_d, two_q;
  logic [ShiftW-1:LowW] high_q;
  logic [SideW-1:0]     one_side_q, two_side_q;

  assign two_move = !two_valid_q || ready_i;
  assign one_move = !one_valid_q || two_move;
  assign ready_o  = one_move;
  assign valid_o  = two_valid_q;
  assign data_o   = two_q;
  assign side_o   = two_side_q;

  always_comb begin
    one_d = data_i;
    for (int unsigned b = 0; b < LowW; b++) begin
      if (shift_i[b]) one_d = (one_d << (8 << b)) | (one_d >> (Bits - (8 << b)));
    end
  end

  always_comb begin
    two_d = one_q;
    for (int unsigned b = LowW; b < ShiftW; b++) begin
      if (high_q[b]) two_d = (two_d << (8 << b)) | (two_d >> (Bits - (8 << b)));
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      one_valid_q <= 1'b0;
      two_valid_q <= 1'b0;
    end else begin
      if (one_move) one_valid_q <= valid_i;
      if (two_move) two_valid_q <= one_valid_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (one_move) begin
      one_q      <= one_d;
      high_q     <= shift_i[ShiftW-1:LowW];
      one_side_q <= side_i;
    end
    if (two_move) begin
      two_q      <= two_d;
      two_side_q <= one_side_q;
    end
  end

  `RNIC_STREAM_STABLE(OutStable_A, valid_o, ready_i, {side_o, data_o})

`ifdef FORMAL
  // A copy of each stage's input word, with its sequence number.
  logic [Bits-1:0]   f_one_q, f_two_q;
  logic [ShiftW-1:0] f_one_shift_q, f_two_shift_q;
  logic [SideW-1:0]  f_one_side_q, f_two_side_q;
  logic [2:0]        f_in_q, f_out_q, f_one_number_q, f_two_number_q;
  logic [2*Bits-1:0] f_one_low, f_two_all;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      f_in_q  <= 3'd0;
      f_out_q <= 3'd0;
    end else begin
      if (valid_i && ready_o) f_in_q  <= f_in_q + 3'd1;
      if (valid_o && ready_i) f_out_q <= f_out_q + 3'd1;
    end
    if (one_move)
      {f_one_q, f_one_shift_q, f_one_side_q, f_one_number_q} <=
          {data_i, shift_i, side_i, f_in_q};
    if (two_move)
      {f_two_q, f_two_shift_q, f_two_side_q, f_two_number_q} <=
          {f_one_q, f_one_shift_q, f_one_side_q, f_one_number_q};
  end

  // The word twice, concatenated and shifted up: the upper half is the rotation.
  assign f_one_low = {2{f_one_q}} << (32'd8 * 32'(f_one_shift_q[LowW-1:0]));
  assign f_two_all = {2{f_two_q}} << (32'd8 * 32'(f_two_shift_q));

  `RNIC_ASSERT(NothingLost_A, f_in_q - f_out_q == 3'(one_valid_q) + 3'(two_valid_q))
  `RNIC_ASSERT(InOrder_A, (!two_valid_q || f_two_number_q == f_out_q) &&
                          (!one_valid_q || f_one_number_q == f_out_q + 3'(two_valid_q)))
  `RNIC_ASSERT(OneLow_A, !one_valid_q || one_q == f_one_low[Bits +: Bits])
  `RNIC_ASSERT(OneRest_A, !one_valid_q || (high_q == f_one_shift_q[ShiftW-1:LowW] &&
                                           one_side_q == f_one_side_q))
  `RNIC_ASSERT(Rotated_A, !two_valid_q || two_q == f_two_all[Bits +: Bits])
  `RNIC_ASSERT(SideOfWord_A, !two_valid_q || two_side_q == f_two_side_q)
  `RNIC_ASSERT(Latency_A, ready_o || (one_valid_q && two_valid_q && !ready_i))
`endif
endmodule

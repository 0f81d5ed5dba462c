// lane_shift: rotates the byte lanes of a word up by 0 .. Bytes-1, in two register stages.
//
// Lane i goes to lane (i + shift_i) mod Bytes; for a shift the user masks, for a rotation down it passes Bytes - n. The
// side word travels along. Latency 2 cycles, throughput 1 word a cycle. ready_i reaches ready_o combinationally; data,
// side and valid are cut.
//
//   data_i --> rotate by low bits --> [ 1 ] --> rotate by high bits --> [ 2 ] --> data_o
//
// Bench tb/lib/lane_shift_test.cpp
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
  if (Bytes < 4 || (Bytes & (Bytes - 1)) != 0) $fatal(1, "lane_shift %m: Bytes must be a power of two from 4");
  if (SideW == 0) $fatal(1, "lane_shift %m: SideW must be at least 1");

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
endmodule

// crc32c: computes the CRC32C (Castagnoli) over the bytes of each packet of a beat stream.
//
// In: beats of up to 64 bytes. Out: one 32-bit word per packet.
// A CRC is linear, so the state after a beat is the old state advanced by the beat's length
// (adv<n>: by n bytes of zeros) XOR the CRC part of its bytes alone (data64).
//
//   data_i --> zero above keep --> [ lane_shift, 2 ] --> data64 --> [ 1 ] --+
//              (last: bytes to the top lanes)                               |
//                         +-------------------------------------------------+
//                         v
//                      [ state ] = adv64(state) ^ word
//                         |
//                         +--last--> [ adv 1, 2 ] --> [ adv 4, 8 ] --> [ adv 16, 32, 64, ^ word ]
//                                                                                |
//   crc_o <-- invert <-----------------------------------------------------------+
//
// Invariants:
//  1. The bytes of a last beat of n bytes are rotated up to the top lanes, with zeros below.
//     Leading zeros do not change a zero state, so data64 returns the CRC part of the n bytes. The
//     state before the last beat is advanced by n bytes only.
//  2. crc_o is the usual CRC32C value ("123456789" gives E3069283). MPA sends its low byte first
//     (RFC 5044 section 4, as RFC 3720 12.1).
//
// Latency: 7 cycles from a packet's last beat to its crc. Throughput: 1 beat of 64 bytes per cycle.
// Back-pressure: the pipeline stalls while the crc is valid and not ready. crc_ready_i reaches
// ready_o combinationally.
// Matrices: crc32c_pkg, printed by specgen. Bench tb/lib/crc32c_test.cpp
`include "rnic_assert.svh"

module crc32c (
  input  logic         clk_i,
  input  logic         rst_ni,
  // from the producer of the packet
  input  logic         valid_i,
  output logic         ready_o,
  input  logic         last_i,
  input  logic [6:0]   keep_i,
  input  logic [511:0] data_i,
  // to the user: one word per packet
  output logic         crc_valid_o,
  input  logic         crc_ready_i,
  output logic [31:0]  crc_o
);
  // The state before the first byte; crc_o is inverted after the last.
  localparam logic [31:0] Ones = 32'hFFFF_FFFF;

  logic move;   // the stages after lane_shift move together

  // Stages 1, 2: rotate the bytes of a partial beat to the top lanes.
  logic [63:0]  keep_mask;
  logic [511:0] clean, aligned;
  logic         aligned_valid, aligned_last;
  logic [6:0]   aligned_keep;

  keep_mask #(.Bytes(64)) u_mask (.keep_i, .mask_o(keep_mask));

  always_comb begin
    for (int unsigned i = 0; i < 64; i++) clean[8*i +: 8] = data_i[8*i +: 8] & {8{keep_mask[i]}};
  end

  lane_shift #(.Bytes(64), .SideW(8)) u_shift (
    .clk_i, .rst_ni,
    .valid_i, .ready_o, .data_i(clean), .shift_i(-keep_i[5:0]), .side_i({last_i, keep_i}),
    .valid_o(aligned_valid), .ready_i(move), .data_o(aligned), .side_o({aligned_last, aligned_keep})
  );

  // Stage 3: the CRC part of this beat.
  logic        word_valid_q, word_last_q;
  logic [6:0]  word_keep_q;
  logic [31:0] word_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni)   word_valid_q <= 1'b0;
    else if (move) word_valid_q <= aligned_valid;
  end

  always_ff @(posedge clk_i) begin
    if (move) begin
      word_last_q <= aligned_last;
      word_keep_q <= aligned_keep;
      word_q      <= crc32c_pkg::data64(aligned);
    end
  end

  // Stage 4: the state over full beats. A last beat passes the state to stage 5 and restarts it.
  logic [31:0] state_q;
  logic        a_valid_q, b_valid_q, c_valid_q, d_valid_q;
  logic [6:0]  a_keep_q;
  logic [31:0] a_state_q, a_word_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni)
      state_q <= Ones;
    else if (move && word_valid_q)
      state_q <= word_last_q ? Ones : crc32c_pkg::adv64(state_q) ^ word_q;
  end

  // Stages 4 to 7: advance the state by the keep of the last beat, bit by bit of keep.
  logic [6:2]  b_keep_q;
  logic [6:4]  c_keep_q;
  logic [31:0] b_state_q, b_word_q, c_state_q, c_word_q, d_crc_q;
  logic [31:0] by_1, by_2, by_4, by_8, by_16, by_32, by_64;

  assign by_1  = a_keep_q[0] ? crc32c_pkg::adv1(a_state_q)  : a_state_q;
  assign by_2  = a_keep_q[1] ? crc32c_pkg::adv2(by_1)       : by_1;
  assign by_4  = b_keep_q[2] ? crc32c_pkg::adv4(b_state_q)  : b_state_q;
  assign by_8  = b_keep_q[3] ? crc32c_pkg::adv8(by_4)       : by_4;
  assign by_16 = c_keep_q[4] ? crc32c_pkg::adv16(c_state_q) : c_state_q;
  assign by_32 = c_keep_q[5] ? crc32c_pkg::adv32(by_16)     : by_16;
  assign by_64 = c_keep_q[6] ? crc32c_pkg::adv64(c_state_q) : by_32;   // 64 has no lower bits

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      a_valid_q <= 1'b0;
      b_valid_q <= 1'b0;
      c_valid_q <= 1'b0;
      d_valid_q <= 1'b0;
    end else if (move) begin
      a_valid_q <= word_valid_q && word_last_q;
      b_valid_q <= a_valid_q;
      c_valid_q <= b_valid_q;
      d_valid_q <= c_valid_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (move) begin
      a_keep_q  <= word_keep_q;
      a_state_q <= state_q;
      a_word_q  <= word_q;
      b_keep_q  <= a_keep_q[6:2];
      b_state_q <= by_2;
      b_word_q  <= a_word_q;
      c_keep_q  <= b_keep_q[6:4];
      c_state_q <= by_8;
      c_word_q  <= b_word_q;
      d_crc_q   <= ~(by_64 ^ c_word_q);
    end
  end

  assign move        = !d_valid_q || crc_ready_i;
  assign crc_valid_o = d_valid_q;
  assign crc_o       = d_crc_q;

  `RNIC_ASSERT(InDense_A, !valid_i || (last_i ? keep_i <= 7'd64 : keep_i == 7'd64))
  `RNIC_STREAM_STABLE(OutStable_A, crc_valid_o, crc_ready_i, crc_o)
endmodule

// mpa_tx_crc: writes the CRC into the last four bytes of each FPDU, or zero if the connection uses
// no CRC.
//
//   beats --+--> [ FIFO: 16 beats, the last one waits for its CRC ] --> CRC into the last word
//           +--> without the last four bytes --> [ crc32c ] --------------^      +--> tx_fpdu
//   tx_fpdu_hdr (taken by llp_if) --> [ use CRC? ] -----------------------^
//
// Invariant: the header is sent first. A packet's beats are valid only after llp_if has accepted
// its header.
// Latency: 9 cycles. Throughput: 1 beat per cycle. Back-pressure: waits only for llp_if.
// Siblings: mpa_tx_marker, mpa_tx_frame, crc32c. Bench: tb/mpa/mpa_test.cpp
`include "rnic_assert.svh"

module mpa_tx_crc (
  input  logic             clk_i,
  input  logic             rst_ni,
  // from mpa_tx_marker
  input  logic             valid_i,
  output logic             ready_o,
  input  iwarp_pkg::beat_t beat_i,
  // from the header's handshake: once per packet
  input  logic             use_valid_i,
  output logic             use_ready_o,
  input  logic             use_crc_i,
  // to llp_if
  output logic             fpdu_valid_o,
  input  logic             fpdu_ready_i,
  output iwarp_pkg::beat_t fpdu_o
);
  logic             store_ready, sum_in_ready, sum_valid, word_valid, word_ready,
                    use_valid, use_crc, beat_valid, beat_ready;
  logic [31:0]      sum, word;
  iwarp_pkg::beat_t beat;
  logic [6:0]       keep;
  logic [4:0]       unused_beats, unused_uses;
  logic [2:0]       unused_words;
  logic             sum_ready;

  // The FIFO and crc32c take a beat in the same cycle. keep: the bytes that the CRC covers; a last
  // beat of 4 bytes has none, and the CRC is that of the beats before it.
  assign ready_o = store_ready && sum_in_ready;
  assign keep    = beat_i.last ? beat_i.keep - 7'd4 : beat_i.keep;

  stream_fifo #(.Width(iwarp_pkg::BeatWidth), .Depth(16)) u_beats (
    .clk_i, .rst_ni,
    .valid_i(valid_i && sum_in_ready), .ready_o(store_ready), .data_i(beat_i),
    .valid_o(beat_valid), .ready_i(beat_ready), .data_o(beat),
    .count_o(unused_beats)
  );

  crc32c u_crc (
    .clk_i, .rst_ni,
    .valid_i(valid_i && store_ready), .ready_o(sum_in_ready),
    .last_i(beat_i.last), .keep_i(keep), .data_i(beat_i.data),
    .crc_valid_o(sum_valid), .crc_ready_i(sum_ready), .crc_o(sum)
  );

  stream_fifo #(.Width(32), .Depth(4)) u_words (
    .clk_i, .rst_ni,
    .valid_i(sum_valid), .ready_o(sum_ready), .data_i(sum),
    .valid_o(word_valid), .ready_i(word_ready), .data_o(word),
    .count_o(unused_words)
  );

  stream_fifo #(.Width(1), .Depth(16)) u_uses (
    .clk_i, .rst_ni,
    .valid_i(use_valid_i), .ready_o(use_ready_o), .data_i(use_crc_i),
    .valid_o(use_valid), .ready_i(word_ready), .data_o(use_crc),
    .count_o(unused_uses)
  );

  assign fpdu_valid_o = beat_valid && use_valid && (!beat.last || word_valid);
  assign beat_ready   = fpdu_ready_i && use_valid && (!beat.last || word_valid);
  assign word_ready   = fpdu_valid_o && fpdu_ready_i && beat.last;

  assign fpdu_o.last  = beat.last;
  assign fpdu_o.error = 1'b0;
  assign fpdu_o.keep  = beat.keep;

  always_comb begin
    for (int unsigned i = 0; i < 16; i++) begin
      fpdu_o.data[32*i +: 32] = beat.last && beat.keep[6:2] == 5'(i + 1)
                              ? word & {32{use_crc}}
                              : beat.data[32*i +: 32];
    end
  end

  logic unused_error;
  assign unused_error = beat_i.error || beat.error;

  `RNIC_ASSERT(RoomForCrc_A, !(valid_i && beat_i.last) || beat_i.keep >= 7'd4)
  `RNIC_STREAM_STABLE(OutStable_A, fpdu_valid_o, fpdu_ready_i, fpdu_o)
endmodule

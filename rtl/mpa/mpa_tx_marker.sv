// mpa_tx_marker: inserts a marker wherever the position in the stream is a multiple of 512 bytes.
// RFC 5044 section 4.3
//
//   frame --> rotate up by the held words --> { held, frame } --> marker into its word
//                                                ^   +--> [ stream_reg ] --> out
//                                                |
//                                                +---- held: the words that did not fit; each
//                                                      marker adds one
//
// Invariants:
//  1. Markers are 8 beats apart, so all markers of a packet are in the same word of a beat.
//  2. A marker is inserted only if words of the FPDU follow it.
//  3. With 16 words held (every 16th marker) a beat is sent without accepting an input beat.
// Latency: 1 cycle. Throughput: 1 beat per cycle. Back-pressure: waits only for its consumer.
// Siblings: mpa_tx_frame, mpa_tx_crc. Bench: tb/mpa/mpa_test.cpp
`include "rnic_assert.svh"

module mpa_tx_marker (
  input  logic             clk_i,
  input  logic             rst_ni,
  // from mpa_tx_frame
  input  logic             info_valid_i,
  output logic             info_ready_o,
  input  logic             info_markers_i,   // the packet gets markers,
  input  logic [6:0]       info_first_i,     // the first one after so many words
  input  logic             valid_i,
  output logic             ready_o,
  input  iwarp_pkg::beat_t beat_i,
  // to mpa_tx_crc
  output logic             valid_o,
  input  logic             ready_i,
  output iwarp_pkg::beat_t beat_o
);
  logic [4:0]       count_d, count_q;   // words held, 0 to 16
  logic             ending_q;           // the held words are the packet's end
  logic [511:0]     held_d, held_q, turned, joined, marked;
  logic [9:0]       index_q;            // beats sent of this packet, modulo 1024
  logic             begun_q;            // at least one beat of this packet was sent
  // words: of the input beat. have: words held and of the input. total: with the marker. at: this
  // output beat gets a marker, as word `word`. done: this output beat is the packet's last one.
  logic [4:0]       words;
  logic [5:0]       have, total;
  logic [3:0]       word;
  logic             only_held, at, ends, out_valid, out_ready, done;
  logic [15:0]      ptr;
  logic [31:0]      marker;
  iwarp_pkg::beat_t out;

  assign only_held = ending_q || count_q == 5'd16;
  assign words     = only_held ? 5'd0 : beat_i.keep[6:2];
  assign have      = {1'b0, count_q} + {1'b0, words};
  assign word      = info_first_i[3:0];
  assign at        = info_markers_i && index_q[2:0] == info_first_i[6:4] && {2'b0, word} < have;
  assign total     = have + 6'(at);
  assign ends      = ending_q || (!only_held && beat_i.last);
  assign done      = ends && total <= 6'd16;
  assign out_valid = info_valid_i && (only_held || valid_i);
  assign ready_o   = info_valid_i && !only_held && out_ready;

  // ptr: bytes from the length field, which follows a marker at the packet's start (its ptr is 0).
  assign ptr    = {index_q, word, 2'b0} - (info_first_i == '0 && begun_q ? 16'd4 : 16'd0);
  assign marker = {ptr[7:0], ptr[15:8], 16'd0};

  always_comb begin
    turned = beat_i.data;
    for (int unsigned b = 0; b < 4; b++) begin
      if (count_q[b]) turned = (turned << (32 << b)) | (turned >> (512 - (32 << b)));
    end
    for (int unsigned i = 0; i < 16; i++) begin
      joined[32*i +: 32] = only_held || 5'(i) < count_q ? held_q[32*i +: 32] : turned[32*i +: 32];
    end
    for (int unsigned i = 0; i < 16; i++) begin
      marked[32*i +: 32] = !at || 4'(i) < word ? joined[32*i +: 32]
                         : 4'(i) == word       ? marker
                         : i == 0              ? 32'd0
                                               : joined[32*((i + 15) % 16) +: 32];
    end
  end

  // The words to hold: the beat's last words, after the word that the marker pushed out.
  assign held_d  = at ? {turned[479:0], joined[511:480]} : turned;
  assign count_d = done ? 5'd0 : 5'(total - 6'd16);

  assign out.last  = done;
  assign out.error = 1'b0;
  assign out.keep  = done ? {total[4:0], 2'b00} : 7'd64;
  assign out.data  = marked;

  assign info_ready_o = out_valid && out_ready && done;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q  <= '0;
      ending_q <= 1'b0;
      index_q  <= '0;
      begun_q  <= 1'b0;
    end else if (out_valid && out_ready) begin
      count_q  <= count_d;
      ending_q <= ends && !done;
      index_q  <= done ? '0 : index_q + 1'b1;
      begun_q  <= !done;
    end
  end

  always_ff @(posedge clk_i) begin
    if (out_valid && out_ready) held_q <= held_d;
  end

  stream_reg #(.Width(iwarp_pkg::BeatWidth)) u_out (
    .clk_i, .rst_ni,
    .valid_i(out_valid), .ready_o(out_ready), .data_i(out),
    .valid_o, .ready_i, .data_o(beat_o)
  );

  logic unused_error;
  assign unused_error = beat_i.error;

  `RNIC_ASSERT(WholeWords_A, !valid_i || beat_i.keep[1:0] == '0)
  `RNIC_STREAM_STABLE(OutStable_A, valid_o, ready_i, beat_o)
endmodule

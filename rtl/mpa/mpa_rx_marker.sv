// mpa_rx_marker: checks the markers of an FPDU, removes them and closes the gaps. RFC 5044 section
// 4.3
//
//   beat --> check, remove the word --> [ stream_reg ] --> rotate --> [ held ] --> merge --+
//                                                          out <-- [ stream_reg ] <--------+
//
// At most one word is removed from a beat (markers are 8 beats apart). So after k markers k words
// (modulo 16) are missing, and each marker reduces the held words by one. bad_o (with last): a
// marker did not point to the FPDU's start.
// Latency: 2 cycles. Throughput: 1 beat per cycle; an FPDU whose rest does not fit its last beat
// takes one cycle more.
// Back-pressure: waits only for its consumer.
// Siblings: mpa_rx_entry, mpa_rx_length. Bench: tb/mpa/mpa_test.cpp
`include "rnic_assert.svh"

module mpa_rx_marker (
  input  logic             clk_i,
  input  logic             rst_ni,
  // from mpa_rx_entry
  input  logic             valid_i,
  output logic             ready_o,
  input  iwarp_pkg::beat_t beat_i,
  input  logic             at_i,     // the beat has a marker,
  input  logic [3:0]       word_i,   // in this word,
  input  logic [15:0]      ptr_i,    // which must point so many bytes back, to the length field
  // to mpa_rx_length: dense; keep may be 0 with last
  output logic             valid_o,
  input  logic             ready_i,
  output iwarp_pkg::beat_t beat_o,
  output logic             bad_o
);
  // Remove one word from the beat.
  logic [31:0]      marker;
  logic [511:0]     shorter;
  logic             wrong;
  logic [6:0]       short_keep;

  always_comb begin
    marker  = '0;
    shorter = beat_i.data;
    for (int unsigned i = 0; i < 16; i++) begin
      if (word_i == 4'(i)) marker = marker | beat_i.data[32*i +: 32];
      if (at_i && 4'(i) >= word_i)
        shorter[32*i +: 32] = i == 15 ? 32'd0 : beat_i.data[32*((i + 1) % 16) +: 32];
    end
  end
  // A marker: 16 reserved bits, then the pointer, its high byte first.
  assign wrong      = at_i && {marker[23:16], marker[31:24]} != ptr_i;
  assign short_keep = at_i ? beat_i.keep - 7'd4 : beat_i.keep;

  // one_less: the beat had a marker, so it has a word less.
  logic         one_valid, one_ready, one_last, one_error, one_wrong, one_less;
  logic [6:0]   one_keep;
  logic [511:0] one_data;

  // {last, error, wrong, less, keep 7, data 512}
  stream_reg #(.Width(523)) u_one (
    .clk_i, .rst_ni,
    .valid_i, .ready_o, .data_i({beat_i.last, beat_i.error, wrong, at_i, short_keep, shorter}),
    .valid_o(one_valid), .ready_i(one_ready),
    .data_o({one_last, one_error, one_wrong, one_less, one_keep, one_data})
  );

  // Held words fill the lanes below the words of the next beat. flush_q: the last input beat did
  // not fit; the words that are left are sent as a beat of their own.
  logic [3:0]       count_d, count_q;      // words held
  logic             flush_q, flush_error_q, bad_q, bad_all;
  logic [6:0]       flush_keep_q;
  logic [511:0]     held_q, turned, merged;
  logic [7:0]       total;                 // bytes, with a last beat
  logic             fits, none, take, out_valid, out_ready;
  iwarp_pkg::beat_t out;

  always_comb begin
    turned = one_data;
    for (int unsigned b = 0; b < 4; b++) begin
      if (count_q[b]) turned = (turned << (32 << b)) | (turned >> (512 - (32 << b)));
    end
    for (int unsigned i = 0; i < 16; i++) begin
      merged[32*i +: 32] = flush_q || 4'(i) < count_q ? held_q[32*i +: 32] : turned[32*i +: 32];
    end
  end

  assign total     = {2'b0, count_q, 2'b0} + {1'b0, one_keep};
  assign fits      = total <= 8'd64;
  // none: this beat has 15 words and no word is held, so there is no output beat yet
  assign none      = !one_last && one_less && count_q == '0;
  assign one_ready = !flush_q && (out_ready || none);
  assign take      = one_valid && one_ready;
  assign out_valid = flush_q || (one_valid && !none);
  assign bad_all   = bad_q || (one_wrong && !flush_q);

  assign out.last  = flush_q || (one_last && fits);
  assign out.error = flush_q ? flush_error_q : one_error && one_last && fits;
  assign out.keep  = flush_q ? flush_keep_q : one_last && fits ? total[6:0] : 7'd64;
  assign out.data  = merged;

  always_comb begin
    count_d = count_q;
    if (one_last)      count_d = '0;
    else if (one_less) count_d = count_q - 1'b1;   // 0 becomes 15: the beat's 15 words are held
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q <= '0;
      flush_q <= 1'b0;
      bad_q   <= 1'b0;
    end else begin
      if (take) count_q <= count_d;
      if (take) flush_q <= one_last && !fits;
      else if (out_ready) flush_q <= 1'b0;
      if (out_valid && out_ready && out.last) bad_q <= 1'b0;
      else if (take)                          bad_q <= bad_all;
    end
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      held_q        <= turned;
      flush_keep_q  <= 7'(total - 8'd64);
      flush_error_q <= one_error;
    end
  end

  stream_reg #(.Width(1 + iwarp_pkg::BeatWidth)) u_out (
    .clk_i, .rst_ni,
    .valid_i(out_valid), .ready_o(out_ready), .data_i({bad_all, out}),
    .valid_o, .ready_i, .data_o({bad_o, beat_o})
  );

  `RNIC_STREAM_STABLE(OutStable_A, valid_o, ready_i, {bad_o, beat_o})
endmodule

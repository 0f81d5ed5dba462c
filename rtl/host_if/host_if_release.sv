// host_if_release: reads the whole packets of one read client out of the buffer: header, then dense
// beats.
//
//   whole --+--> [ headers ] --> header
//           +--> words to read --> read port of the buffer --(next cycle)--> [ 4 beats ] --> beats
//
// Invariants:
//  1. A packet that failed gives its header and one empty beat, and its words are freed at once.
//  2. A word is requested only when the beat FIFO has room for it, so the buffer never waits
//     (RoomKept_A). credit_q: of its 4 entries, those that are free and not promised to a
//     requested word.
// Latency: whole to header 1 cycle, to the first beat 3 (busy_q, buffer, FIFO). Throughput: 1 beat
// per cycle, a packet of one beat every 2 cycles.
// Back-pressure: waits only for its own consumer, and for the buffer's read port.
// Bench tb/host_if/host_if_test.cpp
`include "rnic_assert.svh"

module host_if_release #(
  parameter int unsigned Words    = 64,
  parameter int unsigned WordBase = 0,
  parameter int unsigned WordW    = 12
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  // from host_if_gather
  input  logic                    whole_valid_i,
  output logic                    whole_ready_o,
  input  iwarp_pkg::payload_hdr_t whole_i,
  output logic                    freed_o,
  output logic [$clog2(Words):0]   freed_words_o,
  // read port of the buffer; the beat comes in the cycle after
  output logic                    read_valid_o,
  input  logic                    read_ready_i,
  output logic [WordW-1:0]        read_word_o,
  output logic [6:0]              read_keep_o,
  output logic                    read_last_o,
  input  logic                    beat_valid_i,
  input  iwarp_pkg::beat_t        beat_i,
  // to the client
  output logic                    hdr_valid_o,
  input  logic                    hdr_ready_i,
  output iwarp_pkg::payload_hdr_t hdr_o,
  output logic                    valid_o,
  input  logic                    ready_i,
  output iwarp_pkg::beat_t        beat_o
);
  localparam int unsigned RingW = $clog2(Words);

  // busy_q: a packet is read; skip_q: it has failed, and all its words are freed in one step.
  // left_q: words left; tail_q: bytes of the last word, 0: 64.
  logic             busy_q, skip_q, take, hdr_ready, last, read, bad, beat_ready;
  logic [RingW-1:0] rd_q;
  logic [RingW:0]   left_q, words;
  logic [5:0]       tail_q;
  logic [18:0]      up;
  logic [2:0]       credit_q;
  logic [1:0]       unused_hdrs;
  logic [2:0]       unused_beats;
  logic             unused_up;

  assign up    = {2'b00, whole_i.length} + 19'd63;
  assign words = up[RingW+6:6];
  assign unused_up = ^up;
  assign bad   = whole_i.status != iwarp_pkg::RdOk || whole_i.result != iwarp_pkg::TptOk;

  assign whole_ready_o = !busy_q && hdr_ready;
  assign take          = whole_valid_i && whole_ready_o;
  assign last          = skip_q || left_q == (RingW + 1)'(1);
  assign read          = read_valid_o && read_ready_i;

  assign read_valid_o  = busy_q && credit_q != '0;
  assign read_word_o   = WordW'(WordBase) | WordW'(rd_q);
  assign read_last_o   = last;
  assign read_keep_o   = skip_q ? 7'd0 : last && tail_q != '0 ? {1'b0, tail_q} : 7'd64;
  assign freed_o       = read;
  assign freed_words_o = skip_q ? left_q : (RingW + 1)'(1);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q   <= 1'b0;
      rd_q     <= '0;
      credit_q <= 3'd4;
    end else begin
      busy_q   <= take || (busy_q && !(read && last));
      if (read) rd_q <= rd_q + (skip_q ? left_q[RingW-1:0] : RingW'(1));
      credit_q <= credit_q - 3'(read) + 3'(valid_o && ready_i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      skip_q <= bad;
      left_q <= words;
      tail_q <= whole_i.length[5:0];
    end else if (read) begin
      left_q <= left_q - 1'b1;
    end
  end

  stream_fifo #(.Width(iwarp_pkg::PayloadHdrWidth), .Depth(2)) u_hdrs (
    .clk_i, .rst_ni,
    .valid_i(whole_valid_i && !busy_q), .ready_o(hdr_ready), .data_i(whole_i),
    .valid_o(hdr_valid_o), .ready_i(hdr_ready_i), .data_o(hdr_o), .count_o(unused_hdrs)
  );
  stream_fifo #(.Width(iwarp_pkg::BeatWidth), .Depth(4), .Reserved(1'b1)) u_beats (
    .clk_i, .rst_ni,
    .valid_i(beat_valid_i), .ready_o(beat_ready), .data_i(beat_i),
    .valid_o(valid_o), .ready_i(ready_i), .data_o(beat_o), .count_o(unused_beats)
  );

  `RNIC_ASSERT(RoomKept_A, !beat_valid_i || beat_ready)
  `RNIC_ASSERT(CreditInRange_A, credit_q <= 3'd4)
  `RNIC_STREAM_STABLE(ReadStable_A, read_valid_o, read_ready_i,
                      {read_word_o, read_keep_o, read_last_o})
endmodule

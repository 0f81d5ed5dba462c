// mpa_rx_store: stores a ULPDU until its whole FPDU is checked, then passes it to ddp. For a bad
// FPDU it passes only the cause.
//
//   beats --> [ FIFO: the last beat waits for the CRC ] --> [ packet_fifo, RxStore ] --+
//   crc, info ------------------> judge --> [ headers ] --> rx_ulpdu_hdr --> [ order ] --> rx_ulpdu
//
// Invariants:
//  1. The checks run in this order: the record's error flag or its CRC (mpa_crc), then length and
//     markers (mpa_marker).
//  2. The header is sent first: a packet's beats are valid only after ddp has accepted its header.
//  3. A record of any length is accepted. A record too long for the store cannot be a good FPDU, so
//     its beats are discarded.
// Latency: 5 cycles after crc. Throughput: 1 beat per cycle. Back-pressure: waits only for ddp.
// Siblings: mpa_rx_entry, mpa_rx_length, crc32c. Bench: tb/mpa/mpa_test.cpp
`include "rnic_assert.svh"

module mpa_rx_store (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  // from mpa_rx_entry
  input  logic                     info_valid_i,
  output logic                     info_ready_o,
  input  logic [15:0]              info_qpn_i,
  input  logic                     info_crc_i,     // the connection uses the CRC
  input  logic                     info_short_i,   // the record has no room for a CRC
  // from crc32c
  input  logic                     crc_valid_i,
  output logic                     crc_ready_o,
  input  logic [31:0]              crc_i,
  // from mpa_rx_length
  input  logic                     valid_i,
  output logic                     ready_o,
  input  iwarp_pkg::beat_t         beat_i,
  input  logic                     bad_i,
  input  logic [15:0]              length_i,
  // to ddp
  output logic                     hdr_valid_o,
  input  logic                     hdr_ready_i,
  output iwarp_pkg::rx_ulpdu_hdr_t hdr_o,
  output logic                     ulpdu_valid_o,
  input  logic                     ulpdu_ready_i,
  output iwarp_pkg::beat_t         ulpdu_o
);
  localparam logic [31:0] Residue = 32'h4867_4BC7;   // CRC32C of any bytes followed by their CRC
  localparam int unsigned Headers = 16 * rnic_pkg::FifoDepth;   // packets that may wait for ddp

  // Items that wait for their CRC. The FIFOs hold more beats (16) than the latency of crc32c (7
  // cycles), and an info for each packet in them, since a packet has at least one beat. Widths:
  // {bad, length 16, beat}; {QPN 16, CRC used, too short}.
  logic             beat_valid, beat_ready, bad, sum_valid, sum_ready, sum,
                    info_valid, use_crc, too_short;
  logic [15:0]      length, qpn;
  iwarp_pkg::beat_t beat;
  logic [4:0]       unused_beats, unused_infos;
  logic [2:0]       unused_sums;

  stream_fifo #(.Width(17 + iwarp_pkg::BeatWidth), .Depth(16)) u_beats (
    .clk_i, .rst_ni,
    .valid_i, .ready_o, .data_i({bad_i, length_i, beat_i}),
    .valid_o(beat_valid), .ready_i(beat_ready), .data_o({bad, length, beat}),
    .count_o(unused_beats)
  );

  stream_fifo #(.Width(1), .Depth(4)) u_sums (
    .clk_i, .rst_ni,
    .valid_i(crc_valid_i), .ready_o(crc_ready_o), .data_i(crc_i == Residue),
    .valid_o(sum_valid), .ready_i(sum_ready), .data_o(sum),
    .count_o(unused_sums)
  );

  stream_fifo #(.Width(18), .Depth(16)) u_infos (
    .clk_i, .rst_ni,
    .valid_i(info_valid_i), .ready_o(info_ready_o), .data_i({info_qpn_i, info_crc_i, info_short_i}),
    .valid_o(info_valid), .ready_i(sum_ready), .data_o({qpn, use_crc, too_short}),
    .count_o(unused_infos)
  );

  // Judge.
  logic                     judged, store_valid, store_ready, header_ready, bad_crc, bad_any;
  iwarp_pkg::rx_ulpdu_hdr_t header;

  assign bad_crc      = beat.error || (use_crc && (too_short || !sum));
  assign bad_any      = bad_crc || bad;
  assign judged       = !beat.last || (sum_valid && info_valid && header_ready);
  assign store_valid  = beat_valid && judged;
  assign beat_ready   = judged && store_ready;
  assign sum_ready    = beat_valid && beat.last && beat_ready;
  assign header.qpn   = qpn;
  assign header.length = bad_any ? 16'd0 : length;
  assign header.cause = bad_crc ? iwarp_pkg::CauseMpaCrc
                      : bad     ? iwarp_pkg::CauseMpaMarker : iwarp_pkg::CauseNone;

  // Store: {keep 7, data 512} of each beat.
  logic         out_valid, out_ready, out_last, front_valid, order_ready;
  logic [6:0]   out_keep;
  logic [511:0] out_data;
  logic [1:0]   unused_pulses;
  logic [$clog2(rnic_pkg::RxStore+1)-1:0] unused_store;
  logic [$clog2(Headers+1)-1:0]           unused_headers;

  packet_fifo #(.Width(519), .Depth(rnic_pkg::RxStore)) u_store (
    .clk_i, .rst_ni,
    .valid_i(store_valid), .ready_o(store_ready), .last_i(beat.last), .error_i(bad_any),
    .data_i({beat.keep, beat.data}),
    .valid_o(out_valid), .ready_i(out_ready), .last_o(out_last), .data_o({out_keep, out_data}),
    .commit_o(unused_pulses[0]), .drop_o(unused_pulses[1]), .count_o(unused_store)
  );

  stream_fifo #(.Width(iwarp_pkg::RxUlpduHdrWidth), .Depth(Headers)) u_headers (
    .clk_i, .rst_ni,
    .valid_i(sum_ready), .ready_o(header_ready), .data_i(header),
    .valid_o(front_valid), .ready_i(hdr_ready_i && order_ready), .data_o(hdr_o),
    .count_o(unused_headers)
  );

  // The header first, then its beats. The empty beat of a bad FPDU is generated here.
  logic       order_valid, order_empty, order_done;
  logic [2:0] unused_order;

  assign hdr_valid_o = front_valid && order_ready;

  stream_fifo #(.Width(1), .Depth(4)) u_order (
    .clk_i, .rst_ni,
    .valid_i(hdr_valid_o && hdr_ready_i), .ready_o(order_ready),
    .data_i(hdr_o.cause != iwarp_pkg::CauseNone),
    .valid_o(order_valid), .ready_i(order_done), .data_o(order_empty),
    .count_o(unused_order)
  );

  assign ulpdu_valid_o = order_valid && (order_empty || out_valid);
  assign order_done    = ulpdu_valid_o && ulpdu_ready_i && ulpdu_o.last;
  assign out_ready     = order_valid && !order_empty && ulpdu_ready_i;
  assign ulpdu_o.last  = order_empty || out_last;
  assign ulpdu_o.error = 1'b0;
  assign ulpdu_o.keep  = order_empty ? 7'd0 : out_keep;
  // an empty beat stays stable when a packet arrives after it
  assign ulpdu_o.data  = out_data & {512{!order_empty}};

  `RNIC_STREAM_STABLE(HdrStable_A, hdr_valid_o, hdr_ready_i, hdr_o)
  `RNIC_STREAM_STABLE(UlpduStable_A, ulpdu_valid_o, ulpdu_ready_i, ulpdu_o)
endmodule

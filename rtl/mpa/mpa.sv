// mpa: framing: receive checks a whole FPDU and extracts the ULPDU; transmit makes an FPDU of a
// ULPDU. RFC 5044 section 4
//
//   rx_fpdu --> [ rx_entry ] --> [ rx_marker ] --> [ rx_length ] --> [ rx_store ] --> rx_ulpdu
//                    | +-----------> [ crc32c ] ---------------------^
//               [ position ] <-- [ qp ] --> [ position ]
//                                                |
//   tx_ulpdu ---------------------------> [ tx_frame ] --> [ tx_marker ] --> [ tx_crc ] --> tx_fpdu
//
// Invariant: the length in the FPDU's header (rx_fpdu_hdr, tx_fpdu_hdr) advances the stream
// position. Everything else follows from the FPDU's bytes.
// Latency of receive: 14 cycles from the last beat of an FPDU to that of its ULPDU, 7 of them the
// CRC (13 where the header FIFO is not a memory: the minimum build). Latency of transmit: 16
// cycles; transmit stores no packet.
// Throughput: 1 beat per cycle in each direction, an FPDU every 2 cycles.
// Back-pressure: receive waits for ddp, transmit for llp_if, a stop or sync for both. The two
// directions never wait for each other.
// Model: model/mpa/mpa.hpp. Bench: tb/mpa/mpa_test.cpp. Contract: docs/theory-of-operation.md
`include "rnic_assert.svh"

module mpa (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  output logic                     ready_o,
  output iwarp_pkg::unit_count_t   count_o,
  // from and to qp
  input  logic                     qp_ctl_mpa_valid_i,
  output logic                     qp_ctl_mpa_ready_o,
  input  iwarp_pkg::qp_ctl_mpa_t   qp_ctl_mpa_i,
  output logic                     qp_ack_mpa_valid_o,
  input  logic                     qp_ack_mpa_ready_i,
  output iwarp_pkg::qp_ack_mpa_t   qp_ack_mpa_o,
  // from ddp
  input  logic                     tx_ulpdu_hdr_valid_i,
  output logic                     tx_ulpdu_hdr_ready_o,
  input  iwarp_pkg::tx_ulpdu_hdr_t tx_ulpdu_hdr_i,
  input  logic                     tx_ulpdu_valid_i,
  output logic                     tx_ulpdu_ready_o,
  input  iwarp_pkg::beat_t         tx_ulpdu_i,
  // to llp_if
  output logic                     tx_fpdu_hdr_valid_o,
  input  logic                     tx_fpdu_hdr_ready_i,
  output iwarp_pkg::tx_fpdu_hdr_t  tx_fpdu_hdr_o,
  output logic                     tx_fpdu_valid_o,
  input  logic                     tx_fpdu_ready_i,
  output iwarp_pkg::beat_t         tx_fpdu_o,
  // from llp_if
  input  logic                     rx_fpdu_hdr_valid_i,
  output logic                     rx_fpdu_hdr_ready_o,
  input  iwarp_pkg::rx_fpdu_hdr_t  rx_fpdu_hdr_i,
  input  logic                     rx_fpdu_valid_i,
  output logic                     rx_fpdu_ready_o,
  input  iwarp_pkg::beat_t         rx_fpdu_i,
  // to ddp
  output logic                     rx_ulpdu_hdr_valid_o,
  input  logic                     rx_ulpdu_hdr_ready_i,
  output iwarp_pkg::rx_ulpdu_hdr_t rx_ulpdu_hdr_o,
  output logic                     rx_ulpdu_valid_o,
  input  logic                     rx_ulpdu_ready_i,
  output iwarp_pkg::beat_t         rx_ulpdu_o
);
  localparam int unsigned QpW = $clog2(rnic_pkg::NumQps);

  logic rx_table_ready, tx_table_ready, rx_hdr_ready, rx_beat_ready, tx_hdr_ready, tx_beat_ready,
        ctl_ready;

  assign ready_o              = rx_table_ready && tx_table_ready;
  assign rx_fpdu_hdr_ready_o  = ready_o && rx_hdr_ready;
  assign rx_fpdu_ready_o      = ready_o && rx_beat_ready;
  assign tx_ulpdu_hdr_ready_o = ready_o && tx_hdr_ready;
  assign tx_ulpdu_ready_o     = ready_o && tx_beat_ready;
  assign qp_ctl_mpa_ready_o   = ready_o && ctl_ready;

  // Start and stop.
  logic           set_rx_valid, set_rx_ready, set_tx_valid, set_tx_ready,
                  set_crc, set_rx_markers, set_tx_markers;
  logic           rx_done, tx_done;
  logic [QpW-1:0] set_qpn;

  assign rx_done = rx_ulpdu_valid_o && rx_ulpdu_ready_i && rx_ulpdu_o.last;
  assign tx_done = tx_fpdu_valid_o && tx_fpdu_ready_i && tx_fpdu_o.last;

  mpa_qp u_qp (
    .clk_i, .rst_ni,
    .ctl_valid_i(qp_ctl_mpa_valid_i && ready_o), .ctl_ready_o(ctl_ready), .ctl_i(qp_ctl_mpa_i),
    .ack_valid_o(qp_ack_mpa_valid_o), .ack_ready_i(qp_ack_mpa_ready_i), .ack_o(qp_ack_mpa_o),
    .set_rx_valid_o(set_rx_valid), .set_rx_ready_i(set_rx_ready),
    .set_tx_valid_o(set_tx_valid), .set_tx_ready_i(set_tx_ready),
    .set_qpn_o(set_qpn), .set_crc_o(set_crc),
    .set_rx_markers_o(set_rx_markers), .set_tx_markers_o(set_tx_markers),
    .rx_in_i(rx_fpdu_hdr_valid_i && rx_fpdu_hdr_ready_o), .rx_out_i(rx_done),
    .tx_in_i(tx_ulpdu_hdr_valid_i && tx_ulpdu_hdr_ready_o), .tx_out_i(tx_done)
  );

  // Receive. raw: an FPDU's beats for the CRC, sum: its CRC. entry: the same beats with their
  // markers (at, at_word, at_ptr); plain: without markers; cut: without length field, pad and CRC.
  // info: the packet's QP, whether it uses the CRC, whether it is too short for one.
  logic             rx_req_valid, rx_rsp_valid, rx_rsp_ready, rx_crc, rx_markers;
  logic [QpW-1:0]   rx_req_qpn;
  logic [6:0]       rx_to_marker, rx_advance;
  logic             raw_valid, raw_ready, entry_valid, entry_ready, at,
                    info_valid, info_ready, info_crc, info_short;
  logic             sum_valid, sum_ready, plain_valid, plain_ready, plain_bad,
                    cut_valid, cut_ready, cut_bad;
  logic [3:0]       at_word;
  logic [15:0]      at_ptr, info_qpn, cut_length;
  logic [31:0]      sum;
  logic             raw_last;
  logic [6:0]       raw_keep;
  logic [511:0]     raw_data;
  iwarp_pkg::beat_t entry, plain, cut;

  mpa_position u_rx_position (
    .clk_i, .rst_ni, .ready_o(rx_table_ready),
    .set_valid_i(set_rx_valid), .set_ready_o(set_rx_ready),
    .set_qpn_i(set_qpn), .set_crc_i(set_crc), .set_markers_i(set_rx_markers),
    .req_valid_i(rx_req_valid), .req_qpn_i(rx_req_qpn),
    .rsp_valid_o(rx_rsp_valid), .rsp_ready_i(rx_rsp_ready), .crc_o(rx_crc), .markers_o(rx_markers),
    .to_marker_o(rx_to_marker), .advance_i(rx_advance)
  );

  mpa_rx_entry u_rx_entry (
    .clk_i, .rst_ni,
    .hdr_valid_i(rx_fpdu_hdr_valid_i && ready_o), .hdr_ready_o(rx_hdr_ready), .hdr_i(rx_fpdu_hdr_i),
    .fpdu_valid_i(rx_fpdu_valid_i && ready_o), .fpdu_ready_o(rx_beat_ready), .fpdu_i(rx_fpdu_i),
    .req_valid_o(rx_req_valid), .req_qpn_o(rx_req_qpn),
    .rsp_valid_i(rx_rsp_valid), .rsp_ready_o(rx_rsp_ready), .crc_i(rx_crc), .markers_i(rx_markers),
    .to_marker_i(rx_to_marker), .advance_o(rx_advance),
    .raw_valid_o(raw_valid), .raw_ready_i(raw_ready), .raw_last_o(raw_last),
    .raw_keep_o(raw_keep), .raw_data_o(raw_data),
    .beat_valid_o(entry_valid), .beat_ready_i(entry_ready), .beat_o(entry),
    .at_o(at), .word_o(at_word), .ptr_o(at_ptr),
    .info_valid_o(info_valid), .info_ready_i(info_ready),
    .info_qpn_o(info_qpn), .info_crc_o(info_crc), .info_short_o(info_short)
  );

  crc32c u_rx_crc (
    .clk_i, .rst_ni,
    .valid_i(raw_valid), .ready_o(raw_ready),
    .last_i(raw_last), .keep_i(raw_keep), .data_i(raw_data),
    .crc_valid_o(sum_valid), .crc_ready_i(sum_ready), .crc_o(sum)
  );

  mpa_rx_marker u_rx_marker (
    .clk_i, .rst_ni,
    .valid_i(entry_valid), .ready_o(entry_ready), .beat_i(entry),
    .at_i(at), .word_i(at_word), .ptr_i(at_ptr),
    .valid_o(plain_valid), .ready_i(plain_ready), .beat_o(plain), .bad_o(plain_bad)
  );

  mpa_rx_length u_rx_length (
    .clk_i, .rst_ni,
    .valid_i(plain_valid), .ready_o(plain_ready), .beat_i(plain), .bad_i(plain_bad),
    .valid_o(cut_valid), .ready_i(cut_ready), .beat_o(cut), .bad_o(cut_bad), .length_o(cut_length)
  );

  mpa_rx_store u_rx_store (
    .clk_i, .rst_ni,
    .info_valid_i(info_valid), .info_ready_o(info_ready),
    .info_qpn_i(info_qpn), .info_crc_i(info_crc), .info_short_i(info_short),
    .crc_valid_i(sum_valid), .crc_ready_o(sum_ready), .crc_i(sum),
    .valid_i(cut_valid), .ready_o(cut_ready), .beat_i(cut), .bad_i(cut_bad), .length_i(cut_length),
    .hdr_valid_o(rx_ulpdu_hdr_valid_o), .hdr_ready_i(rx_ulpdu_hdr_ready_i), .hdr_o(rx_ulpdu_hdr_o),
    .ulpdu_valid_o(rx_ulpdu_valid_o), .ulpdu_ready_i(rx_ulpdu_ready_i), .ulpdu_o(rx_ulpdu_o)
  );

  // Transmit. frame: an FPDU's beats without markers, with zeros in place of the CRC; marked: with
  // markers. mark: whether the packet gets markers, and the words before the first one. use_crc: it
  // gets a CRC.
  logic             tx_req_valid, tx_rsp_valid, tx_rsp_ready, tx_crc, tx_markers;
  logic [QpW-1:0]   tx_req_qpn;
  logic [6:0]       tx_to_marker, tx_advance, mark_first;
  logic             head_valid, use_crc, use_ready, mark_valid, mark_ready, mark_on;
  logic             frame_valid, frame_ready, marked_valid, marked_ready;
  iwarp_pkg::beat_t frame, marked;

  mpa_position u_tx_position (
    .clk_i, .rst_ni, .ready_o(tx_table_ready),
    .set_valid_i(set_tx_valid), .set_ready_o(set_tx_ready),
    .set_qpn_i(set_qpn), .set_crc_i(set_crc), .set_markers_i(set_tx_markers),
    .req_valid_i(tx_req_valid), .req_qpn_i(tx_req_qpn),
    .rsp_valid_o(tx_rsp_valid), .rsp_ready_i(tx_rsp_ready), .crc_o(tx_crc), .markers_o(tx_markers),
    .to_marker_o(tx_to_marker), .advance_i(tx_advance)
  );

  mpa_tx_frame u_tx_frame (
    .clk_i, .rst_ni,
    .hdr_valid_i(tx_ulpdu_hdr_valid_i && ready_o), .hdr_ready_o(tx_hdr_ready),
    .hdr_i(tx_ulpdu_hdr_i),
    .ulpdu_valid_i(tx_ulpdu_valid_i && ready_o), .ulpdu_ready_o(tx_beat_ready),
    .ulpdu_i(tx_ulpdu_i),
    .req_valid_o(tx_req_valid), .req_qpn_o(tx_req_qpn),
    .rsp_valid_i(tx_rsp_valid), .rsp_ready_o(tx_rsp_ready), .crc_i(tx_crc), .markers_i(tx_markers),
    .to_marker_i(tx_to_marker), .advance_o(tx_advance),
    .fpdu_hdr_valid_o(head_valid), .fpdu_hdr_ready_i(tx_fpdu_hdr_ready_i && use_ready),
    .fpdu_hdr_o(tx_fpdu_hdr_o), .fpdu_crc_o(use_crc),
    .info_valid_o(mark_valid), .info_ready_i(mark_ready),
    .info_markers_o(mark_on), .info_first_o(mark_first),
    .beat_valid_o(frame_valid), .beat_ready_i(frame_ready), .beat_o(frame)
  );

  // The header leaves only when mpa_tx_crc has room for the packet's CRC flag.
  assign tx_fpdu_hdr_valid_o = head_valid && use_ready;

  mpa_tx_marker u_tx_marker (
    .clk_i, .rst_ni,
    .info_valid_i(mark_valid), .info_ready_o(mark_ready),
    .info_markers_i(mark_on), .info_first_i(mark_first),
    .valid_i(frame_valid), .ready_o(frame_ready), .beat_i(frame),
    .valid_o(marked_valid), .ready_i(marked_ready), .beat_o(marked)
  );

  mpa_tx_crc u_tx_crc (
    .clk_i, .rst_ni,
    .valid_i(marked_valid), .ready_o(marked_ready), .beat_i(marked),
    .use_valid_i(tx_fpdu_hdr_valid_o && tx_fpdu_hdr_ready_i), .use_ready_o(use_ready),
    .use_crc_i(use_crc),
    .fpdu_valid_o(tx_fpdu_valid_o), .fpdu_ready_i(tx_fpdu_ready_i), .fpdu_o(tx_fpdu_o)
  );

  // Counters.
  unit_counter #(.ItemsW(2)) u_count (
    .clk_i, .rst_ni, .items_i(2'(rx_done) + 2'(tx_done)),
    .busy_i((rx_ulpdu_valid_o && rx_ulpdu_ready_i) || (tx_fpdu_valid_o && tx_fpdu_ready_i)),
    .stalled_i(|({qp_ack_mpa_valid_o, tx_fpdu_hdr_valid_o, tx_fpdu_valid_o,
                  rx_ulpdu_hdr_valid_o, rx_ulpdu_valid_o} &
                 ~{qp_ack_mpa_ready_i, tx_fpdu_hdr_ready_i, tx_fpdu_ready_i,
                   rx_ulpdu_hdr_ready_i, rx_ulpdu_ready_i})),
    .count_o
  );

  `RNIC_STREAM_STABLE(TxHdrStable_A, tx_fpdu_hdr_valid_o, tx_fpdu_hdr_ready_i, tx_fpdu_hdr_o)
endmodule

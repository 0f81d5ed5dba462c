// mpa_rx_entry: looks up the QP of each FPDU, and marks for each beat where it has a marker.
//
//   rx_fpdu_hdr --> [ FIFO ] --> mpa_position --> [ packets ] --+--> info (QPN, CRC), per packet
//   rx_fpdu ------> [ FIFO ] ---------------------------------- + --> raw (for the CRC)
//                                                               +--> [ stream_reg ] --> beat
//
// Markers are 512 bytes (8 beats) apart, so within one FPDU all are in the same word of a beat.
// at_o: this beat has a marker, in word word_o. ptr_o: the required value of the marker (RFC 5044
// section 4.3), in bytes from the length field.
// Latency: 4 cycles from header to first beat. Throughput: 1 beat per cycle, an FPDU every 2
// cycles.
// Back-pressure: waits only for its consumers.
// Siblings: mpa_position, mpa_rx_marker, mpa_rx_store. Bench: tb/mpa/mpa_test.cpp
`include "rnic_assert.svh"

module mpa_rx_entry #(
  localparam int unsigned QpW = $clog2(rnic_pkg::NumQps)
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  // from llp_if
  input  logic                    hdr_valid_i,
  output logic                    hdr_ready_o,
  input  iwarp_pkg::rx_fpdu_hdr_t hdr_i,
  input  logic                    fpdu_valid_i,
  output logic                    fpdu_ready_o,
  input  iwarp_pkg::beat_t        fpdu_i,
  // to and from mpa_position: the QP's flags and words to the next marker; words of this FPDU
  output logic                    req_valid_o,
  output logic [QpW-1:0]          req_qpn_o,
  input  logic                    rsp_valid_i,
  output logic                    rsp_ready_o,
  input  logic                    crc_i,
  input  logic                    markers_i,
  input  logic [6:0]              to_marker_i,
  output logic [6:0]              advance_o,
  // to crc32c
  output logic                    raw_valid_o,
  input  logic                    raw_ready_i,
  output logic                    raw_last_o,
  output logic [6:0]              raw_keep_o,
  output logic [511:0]            raw_data_o,
  // to mpa_rx_marker
  output logic                    beat_valid_o,
  input  logic                    beat_ready_i,
  output iwarp_pkg::beat_t        beat_o,
  output logic                    at_o,
  output logic [3:0]              word_o,
  output logic [15:0]             ptr_o,
  // to mpa_rx_store: with each packet
  output logic                    info_valid_o,
  input  logic                    info_ready_i,
  output logic [15:0]             info_qpn_o,
  output logic                    info_crc_o,
  output logic                    info_short_o   // the record has no room for a CRC
);
  // Headers and lookups run ahead of the beats, by up to the 4 packets that u_packets holds.
  logic                    front_valid;
  iwarp_pkg::rx_fpdu_hdr_t front;
  logic [$clog2(rnic_pkg::FifoDepth+1)-1:0] unused_headers;
  logic                    packet_valid, packet_ready, packet_crc, packet_markers;
  logic [15:0]             packet_qpn;
  logic [6:0]              packet_first;   // words to its first marker
  logic [2:0]              unused_packets;

  stream_fifo #(.Width(iwarp_pkg::RxFpduHdrWidth), .Depth(rnic_pkg::FifoDepth)) u_headers (
    .clk_i, .rst_ni,
    .valid_i(hdr_valid_i), .ready_o(hdr_ready_o), .data_i(hdr_i),
    .valid_o(front_valid), .ready_i(rsp_valid_i && rsp_ready_o), .data_o(front),
    .count_o(unused_headers)
  );

  assign req_valid_o = front_valid;
  assign req_qpn_o   = front.qpn[QpW-1:0];
  assign advance_o   = front.length[8:2];

  // {QPN 16, CRC used, markers used, words to the first marker 7}
  stream_fifo #(.Width(25), .Depth(4)) u_packets (
    .clk_i, .rst_ni,
    .valid_i(rsp_valid_i), .ready_o(rsp_ready_o),
    .data_i({front.qpn, crc_i, markers_i, to_marker_i}),
    .valid_o(packet_valid), .ready_i(packet_ready),
    .data_o({packet_qpn, packet_crc, packet_markers, packet_first}),
    .count_o(unused_packets)
  );

  // index_q: the beat's number in its packet. Beats: the three consumers accept a beat in the same
  // cycle, so none is ahead by more than its own registers.
  logic             in_valid, all_ready, reg_ready, first_q, move, at;
  iwarp_pkg::beat_t in;
  logic [9:0]       index_q;
  logic [15:0]      ptr;
  logic [$clog2(rnic_pkg::BeatDepth+1)-1:0] unused_beats;

  stream_fifo #(.Width(iwarp_pkg::BeatWidth), .Depth(rnic_pkg::BeatDepth)) u_beats (
    .clk_i, .rst_ni,
    .valid_i(fpdu_valid_i), .ready_o(fpdu_ready_o), .data_i(fpdu_i),
    .valid_o(in_valid), .ready_i(packet_valid && all_ready), .data_o(in),
    .count_o(unused_beats)
  );

  assign all_ready    = raw_ready_i && reg_ready && (!first_q || info_ready_i);
  assign move         = in_valid && packet_valid && all_ready;
  assign packet_ready = in_valid && in.last && all_ready;
  assign raw_valid_o  = move;
  assign raw_last_o   = in.last;
  assign raw_keep_o   = in.keep;
  assign raw_data_o   = in.data;
  assign info_valid_o = move && first_q;
  assign info_qpn_o   = packet_qpn;
  assign info_crc_o   = packet_crc;
  assign info_short_o = in.last && in.keep < 7'd4;
  // The marker's word must be in this beat with all its 4 bytes.
  assign at           = packet_markers && index_q[2:0] == packet_first[6:4] &&
                        in.keep >= {1'b0, packet_first[3:0], 2'b0} + 7'd4;
  // Position of the word in the packet. If the packet begins with a marker, the length field comes
  // 4 bytes after the start. The value of that first marker is 0 (u_out).
  assign ptr          = {index_q, packet_first[3:0], 2'b0} - (packet_first == '0 ? 16'd4 : 16'd0);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_q <= 1'b1;
      index_q <= '0;
    end else if (move) begin
      first_q <= in.last;
      index_q <= in.last ? '0 : index_q + 1'b1;
    end
  end

  // {at, word 4, pointer 16, beat}
  stream_reg #(.Width(21 + iwarp_pkg::BeatWidth)) u_out (
    .clk_i, .rst_ni,
    .valid_i(move), .ready_o(reg_ready),
    .data_i({at, packet_first[3:0], packet_first == '0 && first_q ? 16'd0 : ptr, in}),
    .valid_o(beat_valid_o), .ready_i(beat_ready_i), .data_o({at_o, word_o, ptr_o, beat_o})
  );

  `RNIC_ASSERT(QpnInRange_A, !hdr_valid_i || 32'(hdr_i.qpn) < rnic_pkg::NumQps)
  `RNIC_STREAM_STABLE(OutStable_A, beat_valid_o, beat_ready_i, {at_o, word_o, ptr_o, beat_o})
endmodule

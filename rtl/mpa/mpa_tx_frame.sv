// mpa_tx_frame: makes the plain FPDU of a ULPDU: length, ULPDU, zeros to a multiple of 4, and four
// zero bytes in place of the CRC. RFC 5044 section 4
//
//   tx_ulpdu_hdr --> [ FIFO ] --> mpa_position --+--> [ FIFO ] --> tx_fpdu_hdr (length with
//                                                |                 markers) and info
//                                                +--> put, pad
//   tx_ulpdu ------> [ FIFO ] --> header_put: 2 bytes --> zeros --> [ stream_reg ] --> frame
//
// Invariants:
//  1. An FPDU of P words with d words of room before the next marker position carries
//     ceil((P - d) / 127) markers if P > d. A marker that falls after the CRC belongs to the next
//     FPDU.
//  2. ULPDUs have no error (NoError_A): ddp sends only good ones.
// Latency: 6 cycles. Throughput: 1 beat per cycle, an FPDU every 2 cycles; one cycle more if the
// end of the FPDU needs a further beat.
// Back-pressure: waits only for its consumers.
// Siblings: mpa_position, mpa_tx_marker, mpa_tx_crc. Bench: tb/mpa/mpa_test.cpp
`include "rnic_assert.svh"

module mpa_tx_frame #(
  localparam int unsigned QpW = $clog2(rnic_pkg::NumQps)
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  // from ddp
  input  logic                     hdr_valid_i,
  output logic                     hdr_ready_o,
  input  iwarp_pkg::tx_ulpdu_hdr_t hdr_i,
  input  logic                     ulpdu_valid_i,
  output logic                     ulpdu_ready_o,
  input  iwarp_pkg::beat_t         ulpdu_i,
  // to and from mpa_position
  output logic                     req_valid_o,
  output logic [QpW-1:0]           req_qpn_o,
  input  logic                     rsp_valid_i,
  output logic                     rsp_ready_o,
  input  logic                     crc_i,
  input  logic                     markers_i,
  input  logic [6:0]               to_marker_i,
  output logic [6:0]               advance_o,
  // to llp_if, and its CRC flag for mpa_tx_crc
  output logic                     fpdu_hdr_valid_o,
  input  logic                     fpdu_hdr_ready_i,
  output iwarp_pkg::tx_fpdu_hdr_t  fpdu_hdr_o,
  output logic                     fpdu_crc_o,
  // to mpa_tx_marker: once per packet
  output logic                     info_valid_o,
  input  logic                     info_ready_i,
  output logic                     info_markers_o,
  output logic [6:0]               info_first_o,   // words to the first marker position
  // to mpa_tx_marker
  output logic                     beat_valid_o,
  input  logic                     beat_ready_i,
  output iwarp_pkg::beat_t         beat_o
);
  // Lookup.
  logic                     front_valid, take;
  iwarp_pkg::tx_ulpdu_hdr_t front;
  logic [$clog2(rnic_pkg::FifoDepth+1)-1:0] unused_headers, unused_outs;
  logic [2:0]               unused_infos;

  stream_fifo #(.Width(iwarp_pkg::TxUlpduHdrWidth), .Depth(rnic_pkg::FifoDepth)) u_headers (
    .clk_i, .rst_ni,
    .valid_i(hdr_valid_i), .ready_o(hdr_ready_o), .data_i(hdr_i),
    .valid_o(front_valid), .ready_i(take), .data_o(front),
    .count_o(unused_headers)
  );

  assign req_valid_o = front_valid;
  assign req_qpn_o   = front.qpn[QpW-1:0];

  // Sizes in words. words (P): length field (2 bytes) and ULPDU rounded up (+ 3 bytes, then / 4),
  // and the CRC (+ 1). to_marker_i: d. markers: of invariant 1, ceil(behind / 127) = floor(x / 127)
  // with x = behind + 126. With x = 128 a + b = 127 a + (a + b) that is a, plus 0, 1 or 2 for
  // a + b.
  logic [14:0] words, behind, rounded;
  logic [7:0]  quotient, rest;
  logic [8:0]  both;
  logic [7:0]  markers;
  logic [14:0] total;

  assign words    = 15'(({2'b0, front.length} + 18'd5) >> 2) + 15'd1;
  assign behind   = words - {8'd0, to_marker_i};             // P - d
  assign rounded  = behind + 15'd126;
  assign quotient = rounded[14:7];                           // a
  assign rest     = {1'b0, rounded[6:0]};                    // b
  assign both     = {1'b0, quotient} + {1'b0, rest};
  assign markers  = !markers_i || words <= {8'd0, to_marker_i} ? 8'd0
                  : quotient + (both >= 9'd254 ? 8'd2 : both >= 9'd127 ? 8'd1 : 8'd0);
  assign total     = words + {7'd0, markers};
  assign advance_o = total[6:0];

  logic out_ready, info_ready, put_ready;
  iwarp_pkg::tx_fpdu_hdr_t out;

  assign rsp_ready_o = out_ready && info_ready && put_ready;
  assign take        = rsp_valid_i && rsp_ready_o;
  assign out.qpn     = front.qpn;
  assign out.length  = {total, 2'b00};
  assign out.done    = front.done;
  assign out.slot    = front.slot;
  assign out.is_term = front.is_term;

  stream_fifo #(.Width(1 + iwarp_pkg::TxFpduHdrWidth), .Depth(rnic_pkg::FifoDepth)) u_outs (
    .clk_i, .rst_ni,
    .valid_i(take), .ready_o(out_ready), .data_i({crc_i, out}),
    .valid_o(fpdu_hdr_valid_o), .ready_i(fpdu_hdr_ready_i), .data_o({fpdu_crc_o, fpdu_hdr_o}),
    .count_o(unused_outs)
  );

  stream_fifo #(.Width(8), .Depth(4)) u_infos (
    .clk_i, .rst_ni,
    .valid_i(take), .ready_o(info_ready), .data_i({markers_i, to_marker_i}),
    .valid_o(info_valid_o), .ready_i(info_ready_i), .data_o({info_markers_o, info_first_o}),
    .count_o(unused_infos)
  );

  // Insert the length in front.
  logic             in_valid, in_ready, put_valid, put_error, move, frame_last;
  iwarp_pkg::beat_t in;
  logic [6:0]       frame_keep;
  logic [511:0]     frame_data;
  logic [$clog2(rnic_pkg::BeatDepth+1)-1:0] unused_beats;

  stream_fifo #(.Width(iwarp_pkg::BeatWidth), .Depth(rnic_pkg::BeatDepth)) u_beats (
    .clk_i, .rst_ni,
    .valid_i(ulpdu_valid_i), .ready_o(ulpdu_ready_o), .data_i(ulpdu_i),
    .valid_o(in_valid), .ready_i(in_ready), .data_o(in),
    .count_o(unused_beats)
  );

  header_put u_put (
    .clk_i, .rst_ni,
    .put_valid_i(take), .put_ready_o(put_ready), .put_bytes_i(7'd2),
    .put_data_i({496'd0, front.length[7:0], front.length[15:8]}),
    .valid_i(in_valid), .ready_o(in_ready),
    .last_i(in.last), .error_i(in.error), .keep_i(in.keep), .data_i(in.data),
    .valid_o(put_valid), .ready_i(move),
    .last_o(frame_last), .error_o(put_error), .keep_o(frame_keep), .data_o(frame_data)
  );

  // Append zeros up to a multiple of 4, and a word for the CRC. After a full beat that word is sent
  // as a separate beat.
  logic             tail_q, reg_ready, full;
  logic [6:0]       padded;
  logic [63:0]      mask;
  iwarp_pkg::beat_t beat;

  keep_mask #(.Bytes(64)) u_mask (.keep_i(frame_keep), .mask_o(mask));

  assign padded     = {frame_keep[6:2] + 5'(|frame_keep[1:0]), 2'b00};
  assign full       = padded == 7'd64;
  assign move       = reg_ready && !(put_valid && frame_last && full && !tail_q);
  assign beat.last  = frame_last && (!full || tail_q);
  assign beat.error = 1'b0;
  assign beat.keep  = !frame_last ? 7'd64 : tail_q ? 7'd4 : full ? 7'd64 : padded + 7'd4;

  always_comb begin
    for (int unsigned i = 0; i < 64; i++)
      beat.data[8*i +: 8] = frame_data[8*i +: 8] & {8{mask[i] && !tail_q}};
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni)                       tail_q <= 1'b0;
    else if (put_valid && reg_ready)   tail_q <= frame_last && full && !tail_q;
  end

  stream_reg #(.Width(iwarp_pkg::BeatWidth)) u_out (
    .clk_i, .rst_ni,
    .valid_i(put_valid), .ready_o(reg_ready), .data_i(beat),
    .valid_o(beat_valid_o), .ready_i(beat_ready_i), .data_o(beat_o)
  );

  logic unused_error;
  assign unused_error = put_error;

  `RNIC_ASSERT(QpnInRange_A, !hdr_valid_i || 32'(hdr_i.qpn) < rnic_pkg::NumQps)
  `RNIC_ASSERT(NoError_A, !(ulpdu_valid_i && ulpdu_i.last && ulpdu_i.error))
  `RNIC_STREAM_STABLE(HdrStable_A, fpdu_hdr_valid_o, fpdu_hdr_ready_i, fpdu_hdr_o)
  `RNIC_STREAM_STABLE(OutStable_A, beat_valid_o, beat_ready_i, beat_o)
endmodule

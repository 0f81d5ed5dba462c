// rdmap_rx: reads a received segment and says what it is. RFC 5040 sections 4, 5, 7.2;
// requirements.md sections 3, 4, 7.
//
// Combinational. Checks in order: what ddp found, version, opcode with T and QN, fixed length and
// what a Flush may ask for; the state of the QP (Flush enabled, IRD, ORD) is judged in rdmap_row and
// rdmap_judge. Opcodes take four bits: both
// reserved bits are ignored on receive (ambiguities.md A-02). Siblings: rdmap_core (registers
// segment_o), rdmap_row. Bench: tb/rdmap/rdmap_test.cpp
`include "rnic_words.svh"

module rdmap_rx #(
  localparam int unsigned SegmentW = `RNIC_RDMAP_SEGMENT_W
) (
  input  iwarp_pkg::rx_segment_t segment_i,    // head: first 64 bytes as they came, byte 0 in [7:0]
  output logic [SegmentW-1:0]    segment_o,    // RNIC_RDMAP_SEGMENT_T
  output iwarp_pkg::cause_e      cause_o       // the first failed check
);
  typedef `RNIC_RDMAP_SEGMENT_T segment_t;

  // Byte 0 in the top bits. A Terminate: control word, ULPDU length, DDP header, Read Request
  // header, behind its own DDP header.
  logic [511:0] net;
  iwarp_pkg::ddp_tagged_t     tagged_hdr;
  iwarp_pkg::ddp_untagged_t   untagged;
  iwarp_pkg::terminate_ctrl_t ctrl;
  iwarp_pkg::ddp_untagged_t   shown;           // the DDP header that a Terminate shows
  logic [31:0] shown_stag;
  logic [63:0] shown_to;
  logic [15:0] unused_length;
  always_comb begin
    for (int i = 0; i < 64; i++) net[511 - 8 * i -: 8] = segment_i.head[8 * i +: 8];
  end
  localparam int unsigned CtrlAt  = 18 * 8;
  localparam int unsigned ShownAt = CtrlAt + iwarp_pkg::TerminateCtrlWidth;
  localparam int unsigned SinkAt  = ShownAt + 16 + iwarp_pkg::DdpUntaggedWidth;
  assign tagged_hdr             = net[511 -: iwarp_pkg::DdpTaggedWidth];
  assign untagged               = net[511 -: iwarp_pkg::DdpUntaggedWidth];
  assign ctrl                   = net[511 - CtrlAt -: iwarp_pkg::TerminateCtrlWidth];
  assign {unused_length, shown} = net[511 - ShownAt -: 16 + iwarp_pkg::DdpUntaggedWidth];
  assign {shown_stag, shown_to} = net[511 - SinkAt -: 96];

  // RFC 5040 section 4.3: which opcode stands on which kind of segment.
  logic is_tagged, is_write, is_response, is_send, is_request, is_terminate;
  logic is_flush, is_flushed, is_ext, flush_bad;
  iwarp_pkg::flush_request_t flush;
  logic [3:0] op;
  assign is_tagged    = tagged_hdr.is_tagged;
  assign op           = tagged_hdr.opcode[3:0];
  assign is_write     = is_tagged && op == 4'h0;
  assign is_response  = (is_tagged && op == 4'h2) || is_flushed;
  assign is_send      = !is_tagged && (op == 4'h3 || op == 4'h5) && untagged.qn == rnic_pkg::QnSend;
  assign is_request   = (!is_tagged && op == 4'h1 && untagged.qn == rnic_pkg::QnRequest) || is_flush;
  assign is_terminate = !is_tagged && op == 4'h7 && untagged.qn == rnic_pkg::QnTerminate;
  // draft-talpey-rdma-commit-01 section 3.1.1: Flush Request and Flush Response.
  assign is_flush     = !is_tagged && op == 4'hc && untagged.qn == rnic_pkg::QnRequest;
  assign is_flushed   = !is_tagged && op == 4'hd && untagged.qn == rnic_pkg::QnResponse;
  assign is_ext       = segment_i.cause == iwarp_pkg::CauseNone &&
                        tagged_hdr.rv == rnic_pkg::RvIetf && (is_flush || is_flushed);
  // No flag, a flag that does not exist (A-06), or an STag to be invalidated (A-05).
  assign flush        = net[511 - CtrlAt -: iwarp_pkg::FlushRequestWidth];
  assign flush_bad    = flush.flags == '0 || untagged.invalidate_stag != '0 ||
                        (flush.flags & ~(rnic_pkg::FlushPersistent | rnic_pkg::FlushVisible)) != '0;

  always_comb begin
    cause_o = iwarp_pkg::CauseNone;
    if (segment_i.cause != iwarp_pkg::CauseNone) begin
      cause_o = segment_i.cause;
    end else if (tagged_hdr.rv != rnic_pkg::RvIetf) begin
      cause_o = iwarp_pkg::CauseRdmapVersion;
    end else if (!(is_write || is_response || is_send || is_request || is_terminate)) begin
      cause_o = iwarp_pkg::CauseRdmapOpcode;
    end else if ((is_request && !is_flush && segment_i.ulpdu_length != 16'd46) ||
                 (is_flush && (segment_i.ulpdu_length != 16'd38 || flush_bad)) ||
                 (is_flushed && segment_i.ulpdu_length != 16'd18) ||
                 ((is_request || is_flushed) && !tagged_hdr.is_last)) begin
      cause_o = iwarp_pkg::CauseRdmapLength;
    end
  end

  segment_t s;
  assign segment_o = s;
  always_comb begin
    s.bad          = cause_o != iwarp_pkg::CauseNone;
    s.is_last      = tagged_hdr.is_last;
    s.is_response  = is_response;
    s.is_send      = is_send;
    s.is_solicited = op == 4'h5;
    s.is_request   = is_request;
    s.is_terminate = is_terminate;
    s.ulpdu_length = segment_i.ulpdu_length;
    s.payload      = segment_i.ulpdu_length - (is_tagged ? 16'd14 : 16'd18);
    s.head_fits    = segment_i.ulpdu_length >= (is_tagged ? 16'd14 : 16'd18);
    s.has_read     = segment_i.ulpdu_length >= 16'd70 && ctrl.has_length &&
                     ctrl.has_ddp_header && ctrl.has_rdma_header && !shown.is_tagged;
    s.has_msn      = segment_i.ulpdu_length >= 16'd42 && ctrl.has_length && ctrl.has_ddp_header &&
                     !ctrl.has_rdma_header && !shown.is_tagged && shown.qn == rnic_pkg::QnRequest;
    s.is_ext       = is_ext;
    s.is_flush     = is_flush || is_flushed;
    s.code         = segment_i.ulpdu_length >= 16'd20 ? {ctrl.layer, ctrl.etype, ctrl.code} : 16'h0;
    s.stag         = is_tagged ? tagged_hdr.stag : s.has_msn ? shown.msn : shown_stag;
    s.to           = is_tagged ? tagged_hdr.tagged_offset : shown_to;
    s.net          = net[511 -: 46 * 8];
  end

  logic unused_bits;
  assign unused_bits = ^{segment_i.qpn, untagged, flush, tagged_hdr, ctrl, shown, unused_length, net};

  if ($bits(s) != SegmentW) $fatal(1, "rdmap_rx %m: RNIC_RDMAP_SEGMENT_W");
endmodule

// rdmap_rx: decodes a received segment and checks it. RFC 5040 sections 4, 5, 7.2; requirements.md
// sections 3, 4, 7.
//
// 1. Checks, in this order: the error that ddp found, version, opcode with T and QN, fixed length,
//    the fields of the extensions. rdmap_row and rdmap_judge check the state of the QP (IRD, ORD).
// 2. Opcodes have 5 bits where the extensions are enabled (persist). Elsewhere they have 4: 0xA to
//    0xF are unknown, and reserved bits are ignored, so 0x10 is read as 0x0 (ambiguities.md A-02).
//
// Combinational.
// Siblings: rdmap_core (registers segment_o), rdmap_row.
// Bench: tb/rdmap/rdmap_test.cpp
`include "rnic_words.svh"

module rdmap_rx #(
  localparam int unsigned SegmentW = `RNIC_RDMAP_SEGMENT_W
) (
  // segment_i.head: the first 70 bytes as received, byte 0 in [7:0]
  input  iwarp_pkg::rx_segment_t segment_i,
  output logic [SegmentW-1:0]    segment_o,    // RNIC_RDMAP_SEGMENT_T
  output iwarp_pkg::cause_e      cause_o       // the first failed check
);
  typedef `RNIC_RDMAP_SEGMENT_T segment_t;

  // net: byte 0 in the top bits. A Terminate holds, after its own DDP header: control word, ULPDU
  // length, DDP header, Read Request header.
  logic [559:0] net;
  iwarp_pkg::ddp_tagged_t     tagged_hdr;
  iwarp_pkg::ddp_untagged_t   untagged;
  iwarp_pkg::terminate_ctrl_t ctrl;
  iwarp_pkg::ddp_untagged_t   shown;           // the DDP header that a Terminate shows
  logic [31:0] shown_stag;
  logic [63:0] shown_to;
  logic [15:0] unused_length;
  always_comb begin
    for (int i = 0; i < 70; i++) net[559 - 8 * i -: 8] = segment_i.head[8 * i +: 8];
  end
  localparam int unsigned CtrlAt  = 18 * 8;
  localparam int unsigned ShownAt = CtrlAt + iwarp_pkg::TerminateCtrlWidth;
  localparam int unsigned SinkAt  = ShownAt + 16 + iwarp_pkg::DdpUntaggedWidth;
  assign tagged_hdr             = net[559 -: iwarp_pkg::DdpTaggedWidth];
  assign untagged               = net[559 -: iwarp_pkg::DdpUntaggedWidth];
  assign ctrl                   = net[559 - CtrlAt -: iwarp_pkg::TerminateCtrlWidth];
  assign {unused_length, shown} = net[559 - ShownAt -: 16 + iwarp_pkg::DdpUntaggedWidth];
  assign {shown_stag, shown_to} = net[559 - SinkAt -: 96];

  // RFC 5040 section 4.3: which opcode is allowed on which kind of segment.
  logic is_tagged, is_write, is_response, is_send, is_inv, is_immediate, is_request, is_terminate;
  logic is_read, is_flush, is_atomic, is_atomic_write, is_flushed, is_atomic_done, is_written;
  logic on_request, on_response, flush_bad, write_bad, aop_bad, length_bad, is_read_done;
  iwarp_pkg::flush_request_t        flush;
  iwarp_pkg::atomic_request_t       atomic;
  iwarp_pkg::atomic_write_request_t write;
  logic [4:0] op;
  assign is_tagged    = tagged_hdr.is_tagged;
  assign op           = {segment_i.persist && tagged_hdr.opcode[4], tagged_hdr.opcode[3:0]};
  assign on_request   = !is_tagged && untagged.qn == rnic_pkg::QnRequest;
  assign on_response  = !is_tagged && untagged.qn == rnic_pkg::QnResponse && segment_i.persist;
  assign is_write     = is_tagged && op == iwarp_pkg::OpRdmaWrite;
  assign is_read_done = is_tagged && op == iwarp_pkg::OpReadResponse;
  assign is_inv       = op == iwarp_pkg::OpSendInv || op == iwarp_pkg::OpSendSeInv;
  assign is_send      = !is_tagged &&
                        (op == iwarp_pkg::OpSend || op == iwarp_pkg::OpSendSe || is_inv) &&
                        untagged.qn == rnic_pkg::QnSend;
  assign is_immediate = !is_tagged &&
                        (op == iwarp_pkg::OpImmediate || op == iwarp_pkg::OpImmediateSe) &&
                        untagged.qn == rnic_pkg::QnSend;
  assign is_terminate = !is_tagged && op == iwarp_pkg::OpTerminate &&
                        untagged.qn == rnic_pkg::QnTerminate;
  assign is_read      = on_request && op == iwarp_pkg::OpReadRequest;
  // RFC 7306 section 5; draft-talpey-rdma-commit-01 sections 3.1.1, 3.1.3.
  assign is_flush        = on_request && segment_i.persist && op == iwarp_pkg::OpFlushRequest;
  assign is_atomic       = on_request && segment_i.persist && op == iwarp_pkg::OpAtomicRequest;
  assign is_atomic_write = on_request && op == iwarp_pkg::OpAtomicWriteRequest;
  assign is_flushed      = on_response && op == iwarp_pkg::OpFlushResponse;
  assign is_atomic_done  = on_response && op == iwarp_pkg::OpAtomicResponse;
  assign is_written      = on_response && op == iwarp_pkg::OpAtomicWriteResponse;
  assign is_request      = is_read || is_flush || is_atomic || is_atomic_write;
  assign is_response     = is_read_done || is_flushed || is_atomic_done || is_written;
  // A Flush Request is bad with no flag, an undefined flag (A-06), or an Invalidate STag (A-05).
  assign flush           = net[559 - CtrlAt -: iwarp_pkg::FlushRequestWidth];
  assign flush_bad       = flush.flags == '0 || untagged.invalidate_stag != '0 ||
                           (flush.flags & ~(rnic_pkg::FlushPersistent |
                                            rnic_pkg::FlushVisible)) != '0;
  assign write           = net[559 - CtrlAt -: iwarp_pkg::AtomicWriteRequestWidth];
  assign write_bad       = write.length != 32'd8 || untagged.invalidate_stag != '0;
  assign atomic          = net[559 - CtrlAt -: iwarp_pkg::AtomicRequestWidth];
  assign aop_bad         = is_atomic && atomic.aopcode != rnic_pkg::AtomicFetchAdd &&
                           atomic.aopcode != rnic_pkg::AtomicCmpSwap;
  // The 18 bytes of the DDP header, and 28 of a Read Request, 20 of a Flush Request, 52 of an
  // Atomic Request, 24 of an Atomic Write Request, 12 of an Atomic Response, 8 of Immediate Data,
  // or none.
  assign length_bad      = (is_read && segment_i.ulpdu_length != 16'd46) ||
                           (is_flush && (segment_i.ulpdu_length != 16'd38 || flush_bad)) ||
                           (is_atomic && segment_i.ulpdu_length != 16'd70) ||
                           (is_atomic_write && (segment_i.ulpdu_length != 16'd42 || write_bad)) ||
                           (is_atomic_done && segment_i.ulpdu_length != 16'd30) ||
                           (is_immediate && (segment_i.ulpdu_length != 16'd26 ||
                                             !tagged_hdr.is_last || untagged.mo != '0)) ||
                           ((is_flushed || is_written) && segment_i.ulpdu_length != 16'd18) ||
                           ((is_request || (is_response && !is_read_done)) && !tagged_hdr.is_last);

  always_comb begin
    cause_o = iwarp_pkg::CauseNone;
    if (segment_i.cause != iwarp_pkg::CauseNone) begin
      cause_o = segment_i.cause;
    end else if (tagged_hdr.rv != rnic_pkg::RvIetf) begin
      cause_o = iwarp_pkg::CauseRdmapVersion;
    end else if (!(is_write || is_response || is_send || is_immediate || is_request ||
                   is_terminate)) begin
      cause_o = iwarp_pkg::CauseRdmapOpcode;
    end else if (length_bad) begin
      cause_o = iwarp_pkg::CauseRdmapLength;
    end else if (aop_bad) begin
      cause_o = iwarp_pkg::CauseRdmapOpcode;   // A-08
    end
  end

  segment_t s;
  assign segment_o = s;
  always_comb begin
    s.bad          = cause_o != iwarp_pkg::CauseNone;
    s.is_last      = tagged_hdr.is_last;
    s.is_response  = is_response;
    s.is_send      = is_send;
    s.is_immediate = is_immediate;
    s.is_inv       = is_inv;
    s.is_solicited = op == iwarp_pkg::OpSendSe || op == iwarp_pkg::OpSendSeInv ||
                     op == iwarp_pkg::OpImmediateSe;
    s.is_request   = is_request;
    s.is_terminate = is_terminate;
    s.ulpdu_length = segment_i.ulpdu_length;
    s.payload      = segment_i.ulpdu_length - (is_tagged ? 16'd14 : 16'd18);
    s.head_fits    = segment_i.ulpdu_length >= (is_tagged ? 16'd14 : 16'd18);
    // Of a Terminate, bytes up to the end of each part: DDP header 18, control word 20 (its first
    // two bytes) or 22, ULPDU length 24, DDP header shown 42, Read Request header shown 70.
    s.has_read     = segment_i.ulpdu_length >= 16'd70 && ctrl.has_length &&
                     ctrl.has_ddp_header && ctrl.has_rdma_header && !shown.is_tagged;
    s.has_msn      = segment_i.ulpdu_length >= 16'd42 && ctrl.has_length && ctrl.has_ddp_header &&
                     !ctrl.has_rdma_header && !shown.is_tagged && shown.qn == rnic_pkg::QnRequest;
    s.kind         = is_atomic_write || is_written     ? rnic_pkg::KindAtomicWrite
                   : is_atomic       || is_atomic_done ? rnic_pkg::KindAtomic
                   : is_flush        || is_flushed     ? rnic_pkg::KindFlush : rnic_pkg::KindRead;
    s.code         = segment_i.ulpdu_length >= 16'd20 ? {ctrl.layer, ctrl.etype, ctrl.code} : 16'h0;
    s.stag         = is_tagged ? tagged_hdr.stag : s.has_msn ? shown.msn : shown_stag;
    s.to           = is_tagged ? tagged_hdr.tagged_offset : shown_to;
    s.net          = net[559 -: 46 * 8];
    s.more         = net[191:0];
  end

  logic unused_bits;
  assign unused_bits = ^{segment_i.qpn, untagged, flush, atomic, write, tagged_hdr, ctrl, shown,
                         unused_length, net};

  if ($bits(s) != SegmentW) $fatal(1, "rdmap_rx %m: RNIC_RDMAP_SEGMENT_W");
endmodule

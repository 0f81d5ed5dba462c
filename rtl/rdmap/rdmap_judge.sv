// rdmap_judge: decides an operation with its ORD or IRD entry: verdict, error, head for the
// responder. The first error of a QP wins.
//
// A deed is an operation whose row rdmap_row has updated (RNIC_RDMAP_DEED_T in rnic_words.svh
// explains every field). Those that matter most here:
//   fits     a response of the peer, to be compared with the oldest ORD entry. The local signal
//            `fits` is the result: it compares well. `refused` is deed.fits && !fits
//   names    a Terminate of the peer that shows a request, to be compared with the ORD entries
//   fails    the QP fails without a comparison, for deed.error
//   closed   half_close was given, and all responses are sent; closes: this operation makes it so
//   held     hold_tx: the QP must not transmit yet
//
//   deed, ORD or IRD entry, err --+--> verdict (segment)
//                                 +--> job: qp_error and what a Terminate shows
//                                 +--> head for the responder, order done, err of the QP
//
// 1. A Read Response fits if the oldest request is a Read and the segment holds its next bytes.
// 2. Any other response fits if the oldest request is of its kind (A-19). An Atomic Response must
//    also show the request's MSN, which is our Request Identifier.
// 3. A peer's Terminate names a Read of ours if it shows the Read's sink. For the oldest Read, the
//    sink moved on by the bytes received matches as well (requirements.md section 6). It names any
//    other request if it shows that request's MSN.
// 4. A Terminate is compared with one entry per cycle and decided with the last one.
//
// Combinational, except for the entry that a Terminate names.
// Siblings: rdmap_core, rdmap_row (the deed), rdmap_term.
// Bench: tb/rdmap/rdmap_test.cpp
`include "rnic_words.svh"

module rdmap_judge #(
  localparam int unsigned DeedW = `RNIC_RDMAP_DEED_W,
  localparam int unsigned JobW  = `RNIC_RDMAP_JOB_W,
  localparam int unsigned HeadW = `RNIC_RDMAP_HEAD_W
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             valid_i,
  input  logic [DeedW-1:0] deed_i,
  // deed.to minus the bytes received of the oldest Read: the sink of that Read (ord_to_i), if
  // deed.to is the next byte that it waits for
  input  logic [63:0]      start_i,
  input  logic             err_i,          // the QP has failed before
  output logic             err_o,          // the QP has failed after this operation
  // entries
  input  logic [31:0]      ord_stag_i,
  input  logic [63:0]      ord_to_i,
  input  logic [31:0]      ord_length_i,
  input  logic [7:0]       ord_slot_i,
  input  logic [1:0]       ord_kind_i,
  input  logic [31:0]      ord_msn_i,
  input  logic [63:0]      ird_watermark_i,
  // The request: DDP header 18 bytes and 28 bytes; the last 24 bytes of an Atomic Request
  input  logic [367:0]     ird_net_i,
  input  logic [191:0]     ird_more_i,
  // outputs of the decision
  output logic             done_o,         // the operation is decided
  output logic             alive_o,        // the QP is started and had not failed before
  output logic             verdict_valid_o,
  output iwarp_pkg::rx_verdict_t verdict_o,
  output logic             accepts_request_o,   // a request gets an IRD entry: its watermark is due
  output logic             result_valid_o, // an Atomic Response fits: its value
  output logic [63:0]      result_o,
  output logic             term_valid_o,   // a job for rdmap_term
  output logic [JobW-1:0]  term_o,
  // head_valid_o: of operation `head`; head_ok_o: the QP has a request to serve
  output logic             head_valid_o,
  output logic             head_ok_o,
  output logic [HeadW-1:0] head_o
);
  typedef `RNIC_RDMAP_OP_E    op_e;
  typedef `RNIC_RDMAP_DEED_T  deed_t;
  typedef `RNIC_RDMAP_JOB_T   job_t;
  typedef `RNIC_RDMAP_HEAD_T  head_t;

  deed_t deed;
  job_t  job;
  head_t head;
  iwarp_pkg::qp_error_t error;
  assign deed   = deed_i;
  assign term_o = job;
  assign head_o = head;

  logic alive, starts, fits, refused, fail, accept;
  logic [1:0]  ird_kind;
  iwarp_pkg::atomic_response_t response;   // after the DDP header
  assign alive   = deed.running && !err_i;
  // starts: the deed's TO is the next byte that the oldest Read waits for
  assign starts  = start_i == ord_to_i;
  assign response = deed.net[367 - iwarp_pkg::DdpUntaggedWidth -: iwarp_pkg::AtomicResponseWidth];
  always_comb begin
    case (deed.kind)
      rnic_pkg::KindRead:   fits = deed.stag == ord_stag_i && starts && deed.sum <= ord_length_i &&
                                   deed.is_last == (deed.sum == ord_length_i);
      rnic_pkg::KindAtomic: fits = response.request_id == ord_msn_i;
      default:              fits = 1'b1;
    endcase
    if (deed.kind != ord_kind_i) fits = 1'b0;
    case (ird_net_i[355:352])              // the opcode of the request, without its fifth bit
      // c Flush Request, a Atomic Request, 0 Atomic Write Request (0x10)
      4'hc:    ird_kind = rnic_pkg::KindFlush;
      4'ha:    ird_kind = rnic_pkg::KindAtomic;
      4'h0:    ird_kind = rnic_pkg::KindAtomicWrite;
      default: ird_kind = rnic_pkg::KindRead;
    endcase
  end
  assign refused = deed.fits && !fits;
  assign fail    = valid_i && alive && deed.last && (deed.fails || refused);
  assign err_o   = !deed.stops && (err_i || fail);
  assign done_o  = valid_i && deed.last;
  assign alive_o = alive;

  // The first entry that a Terminate names.
  logic       named, found_q;
  logic [7:0] found_slot_q;
  assign named = deed.names && deed.by_msn == (ord_kind_i != rnic_pkg::KindRead) &&
                 (deed.by_msn ? deed.stag == ord_msn_i     // stag holds the MSN
                              : deed.stag == ord_stag_i &&
                                (deed.to == ord_to_i || (deed.first && starts)));
  always_ff @(posedge clk_i) begin
    if (!rst_ni)      found_q <= 1'b0;
    else if (valid_i) found_q <= !deed.last && (found_q || named);
  end
  always_ff @(posedge clk_i) begin
    if (valid_i && !found_q) found_slot_q <= ord_slot_i;
  end

  assign accept            = alive && !deed.fails && !refused;
  assign verdict_valid_o   = valid_i && deed.last && deed.op == OpSeg;
  assign accepts_request_o = verdict_valid_o && alive && deed.is_request;
  assign result_valid_o    = verdict_valid_o && accept && deed.fits &&
                             deed.kind == rnic_pkg::KindAtomic;
  assign result_o          = response.value;
  always_comb begin
    verdict_o = '0;
    if (accept) begin
      verdict_o        = deed.verdict;
      verdict_o.accept = 1'b1;
      verdict_o.slot   = ord_slot_i;
      if (verdict_o.deliver == iwarp_pkg::DelImmediate)   // the 8 octets after the DDP header
        verdict_o.immediate = deed.net[367 - iwarp_pkg::DdpUntaggedWidth -: 64];
      if (verdict_o.deliver == iwarp_pkg::DelInvalidate)
        verdict_o.immediate = {32'h0, deed.net[367 - 16 -: 32]};   // octets 2 to 5 of the header
    end
  end

  assign term_valid_o = fail || (valid_i && alive && deed.closes);
  always_comb begin
    error     = deed.error;
    error.qpn = deed.qpn;
    // An Atomic Response of the right kind with a wrong identifier (requirements.md section 7).
    if (refused && deed.kind == rnic_pkg::KindAtomic && ord_kind_i == rnic_pkg::KindAtomic)
      error.cause = iwarp_pkg::CauseRdmapLength;
    // Our service of a request failed (of_request). CauseRdmapLength of a Flush Request: its
    // read-back failed (A-11). Other requests keep that cause: the source of a Read or the word of
    // an atomic could not be read, or the target is not aligned.
    if (deed.of_request && ird_kind == rnic_pkg::KindFlush &&
        error.cause == iwarp_pkg::CauseRdmapLength)
      error.cause = iwarp_pkg::CauseFlushFailed;
    if (deed.names) begin
      error.has_wr = found_q || named;
      error.slot   = found_q ? found_slot_q : ord_slot_i;
    end
    // No Terminate: the LLP is lost, the peer has sent one, the QP must not transmit yet (hold_tx),
    // or nothing may follow our FIN (closed, closes).
    error.sends_term = error.cause != iwarp_pkg::CauseLlpLost &&
                       error.cause != iwarp_pkg::CausePeerTerminate &&
                       !deed.held && !deed.closed && !deed.closes;
    job.error        = error;
    job.has_head     = deed.has_head;
    job.of_request   = deed.of_request && ird_kind == rnic_pkg::KindRead;
    job.ulpdu_length = deed.ulpdu_length;
    if (deed.of_request) begin           // DDP header of 18 bytes and 20, 52, 24, 28
      case (ird_kind)
        rnic_pkg::KindFlush:       job.ulpdu_length = 16'd38;
        rnic_pkg::KindAtomic:      job.ulpdu_length = 16'd70;
        rnic_pkg::KindAtomicWrite: job.ulpdu_length = 16'd42;
        default:                   job.ulpdu_length = 16'd46;
      endcase
    end
    job.offset       = deed.offset;
    job.net          = deed.of_request ? ird_net_i : deed.net;
  end

  assign head_valid_o = valid_i && deed.op == OpHead;
  assign head_ok_o    = deed.head && alive;
  always_comb begin
    head.qpn       = deed.qpn;
    head.pd        = deed.pd;
    head.slot      = error.slot;
    head.watermark = ird_watermark_i;
    head.kind      = ird_kind;
    // The 28 bytes after the request's DDP header of 18 bytes.
    head.request   = ird_net_i[iwarp_pkg::ReadRequestWidth-1:0];
    head.more      = ird_more_i;
  end

  logic unused_bits;
  assign unused_bits = ^{deed.work};

  if ($bits(deed) != DeedW || $bits(job) != JobW || $bits(head) != HeadW)
    $fatal(1, "rdmap_judge %m: widths of rnic_words.svh");
endmodule

// rnic_words: types of the words that leaves of one unit exchange, one definition for both sides.
//
//   typedef `RNIC_RDMAP_OP_E op_e;                          an enum by its names; ports carry it as
//                                                           plain bits
//   localparam int unsigned ItemW = `RNIC_QP_ITEM_W;        the width of a flat word, whose fields
//                                                           its producer names
//
// Units exchange structs, printed into iwarp_pkg. Those have the same width in every build; the
// words here need not. A struct of a macro holds only plain vectors: Yosys finds no package type in
// a struct that a module declares.
`ifndef RNIC_WORDS_SVH
`define RNIC_WORDS_SVH

// rdmap_pick to rdmap_core: the operation. docs/spec/commits.yaml (rdmap_op) has the same numbers
`define RNIC_RDMAP_OP_E \
  enum logic [2:0] {OpCtl, OpQpFault, OpTxFault, OpRespFail, OpSeg, OpHead, OpFree, OpWqe}

// rdmap_row and rdmap_core: a QP's row of the table. running: the QP is started. closing:
// half_close was given. held: hold_tx is set and no segment has arrived. listed: the QP is in the
// work list of the responder. serving: requests, from the oldest on, that the responder or ddp
// holds. ird, ord: sizes of the QP's rings of IRD and ORD entries; *_count: entries in use. The
// indices are slots in the pools: a ring extends from *_base to *_last; *_tail: the slot of its
// next entry; ird_next: the first request that is not served; ord_head: the oldest ORD entry.
// received: bytes of the oldest Read. msn: MSN of the next request that this device sends.
//
// RNIC_RDMAP_ROW_W, and each other RNIC_*_W after a struct, is the width of that struct: the sum of
// its fields' widths, as a number for ports and memories.
`define RNIC_RDMAP_ROW_T \
  struct packed { \
    logic        running; \
    logic        closing; \
    logic        held; \
    logic        listed; \
    logic [2:0]  serving; \
    logic [15:0] pd; \
    logic [5:0]  ird; \
    logic [5:0]  ird_count; \
    logic [5:0]  ord; \
    logic [5:0]  ord_count; \
    logic [$clog2(rnic_pkg::IrdSlots)-1:0] ird_base; \
    logic [$clog2(rnic_pkg::IrdSlots)-1:0] ird_last; \
    logic [$clog2(rnic_pkg::IrdSlots)-1:0] ird_next; \
    logic [$clog2(rnic_pkg::IrdSlots)-1:0] ird_tail; \
    logic [$clog2(rnic_pkg::OrdSlots)-1:0] ord_base; \
    logic [$clog2(rnic_pkg::OrdSlots)-1:0] ord_last; \
    logic [$clog2(rnic_pkg::OrdSlots)-1:0] ord_head; \
    logic [$clog2(rnic_pkg::OrdSlots)-1:0] ord_tail; \
    logic [31:0] received; \
    logic [31:0] msn; \
  }
`define RNIC_RDMAP_ROW_W (47 + 4 * $clog2(rnic_pkg::IrdSlots) + 4 * $clog2(rnic_pkg::OrdSlots) + 64)

// rdmap_rx to rdmap_row: a received segment. bad: a check failed. is_inv: of a Send, with
// Invalidate. kind: of a request or response (rnic_pkg Kind*: Read, Flush, atomic, Atomic Write).
// head_fits: the segment has a whole DDP header. code: layer, type and code of a Terminate.
// payload: bytes after the DDP header. stag, to: where a tagged segment goes, or the sink of the
// Read that a Terminate names (has_read). stag: the MSN of the request that a Terminate names
// (has_msn). net: the segment's first 46 bytes, the first one in the top bits; more: the 24 bytes
// after them.
`define RNIC_RDMAP_SEGMENT_T \
  struct packed { \
    logic         bad; \
    logic         is_last; \
    logic         is_response; \
    logic         is_send; \
    logic         is_inv; \
    logic         is_immediate; \
    logic         is_solicited; \
    logic         is_request; \
    logic         is_terminate; \
    logic         has_read; \
    logic         has_msn; \
    logic [1:0]   kind; \
    logic         head_fits; \
    logic [15:0]  code; \
    logic [15:0]  ulpdu_length; \
    logic [15:0]  payload; \
    logic [31:0]  stag; \
    logic [63:0]  to; \
    logic [367:0] net; \
    logic [191:0] more; \
  }
`define RNIC_RDMAP_SEGMENT_W (14 + 48 + 96 + 368 + 192)

// rdmap_row to rdmap_judge: an operation whose row is updated. first, last: of the ORD entries that
// a Terminate is compared with. work: the QP enters the work list. fails: the QP fails without
// reading an entry, for error (qp_error_t). verdict (rx_verdict_t): if the segment is accepted.
// fits: a response, to be compared with the ORD entry. names: a Terminate, likewise. by_msn: the
// Terminate names a request other than a Read by its MSN (stag). kind, net: as in
// RNIC_RDMAP_SEGMENT_T. running: the QP is started. held: it must not transmit yet (hold_tx).
// closed: half_close was given and all responses are sent. closes: this operation makes it so.
// stops: a start or a stop. head: a request waits to be served. has_head, of_request, offset: for
// the Terminate, as in RNIC_RDMAP_JOB_T. stag, to, ulpdu_length: of the segment. sum: bytes
// received of the oldest Read, with this segment.
`define RNIC_RDMAP_DEED_T \
  struct packed { \
    logic [2:0]  op; \
    logic [15:0] qpn; \
    logic        first; \
    logic        last; \
    logic        running; \
    logic        held; \
    logic        closed; \
    logic        closes; \
    logic        stops; \
    logic        work; \
    logic        head; \
    logic        fails; \
    logic        fits; \
    logic        names; \
    logic        by_msn; \
    logic [1:0]  kind; \
    logic        is_request; \
    logic        is_last; \
    logic [iwarp_pkg::RxVerdictWidth-1:0] verdict; \
    logic        has_head; \
    logic        of_request; \
    logic [iwarp_pkg::QpErrorWidth-1:0] error; \
    logic [15:0] pd; \
    logic [15:0] ulpdu_length; \
    logic [31:0] offset; \
    logic [31:0] stag; \
    logic [63:0] to; \
    logic [31:0] sum; \
    logic [367:0] net; \
  }
`define RNIC_RDMAP_DEED_W \
  (3 + 16 + 19 + iwarp_pkg::RxVerdictWidth + iwarp_pkg::QpErrorWidth + 32 + 32 + 32 + 64 + 32 + 368)

// rdmap_judge to rdmap_term: a QP has failed, or its responder is idle after half_close. has_head:
// net and ulpdu_length are of the offending segment. of_request: that segment is a Read Request, of
// which offset bytes have been returned.
`define RNIC_RDMAP_JOB_T \
  struct packed { \
    logic [iwarp_pkg::QpErrorWidth-1:0] error; \
    logic         has_head; \
    logic         of_request; \
    logic [15:0]  ulpdu_length; \
    logic [31:0]  offset; \
    logic [367:0] net; \
  }
`define RNIC_RDMAP_JOB_W (iwarp_pkg::QpErrorWidth + 2 + 16 + 32 + 368)

// rdmap_core to rdmap_resp: the oldest request of a QP that is not served. slot: its slot in the
// QP's ring; tx_fault and atomic_rsp return it. request: the 28 bytes after the DDP header; if the
// request is shorter, the remaining bytes are undefined. more: an atomic's 24 bytes after them.
`define RNIC_RDMAP_HEAD_T \
  struct packed { \
    logic [15:0] qpn; \
    logic [15:0] pd; \
    logic [7:0]  slot; \
    logic [63:0] watermark; \
    logic [1:0]  kind; \
    logic [iwarp_pkg::ReadRequestWidth-1:0] request; \
    logic [191:0] more; \
  }
`define RNIC_RDMAP_HEAD_W (16 + 16 + 8 + 64 + 2 + iwarp_pkg::ReadRequestWidth + 192)

// rdmap_wqe to rdmap_core: the fields of a request's WQE outside its header. stag, to: the sink of
// a Read or an atomic. data: operand of each; mask, compare, compare_mask: operands of an atomic.
`define RNIC_RDMAP_OWN_T \
  struct packed { \
    logic [31:0] stag; \
    logic [63:0] to; \
    logic [63:0] data; \
    logic [63:0] mask; \
    logic [63:0] compare; \
    logic [63:0] compare_mask; \
  }
`define RNIC_RDMAP_OWN_W (32 + 64 + 4 * 64)

// rdmap_core to rdmap_atomic: the old value that an Atomic Response returned, and its destination.
`define RNIC_RDMAP_RESULT_T \
  struct packed { \
    logic [15:0] qpn; \
    logic [15:0] pd; \
    logic [7:0]  slot; \
    logic [31:0] stag; \
    logic [63:0] to; \
    logic [63:0] value; \
  }
`define RNIC_RDMAP_RESULT_W (16 + 16 + 8 + 32 + 64 + 64)

// llp_if_ctl to llp_if_rule: the item's source. docs/spec/commits.yaml (llp_rule) has the same
// numbers
`define RNIC_LLP_IF_SOURCE_E \
  enum logic [2:0] { \
    SrcTermLeft, SrcTermLate, SrcEvent, SrcRawCheck, SrcRawAbort, SrcOrder, SrcCommand \
  }

// tpt: index of a byte, counted from its region's first page-list entry: entries, and 21 bits of
// the largest page
`define RNIC_TPT_FROM_W ($clog2(rnic_pkg::NumPbl) + 21)

// tpt_update to tpt_entry and back: an entry {valid, bound, QPN, STag, PD, rights, base TO, end,
// length, log page, origin, fast, window, room, first page-list entry}. bound: only this QP may use
// it. fast: kept for fast registrations, of up to 2^room pages. window: a memory window; room is
// its type. The entry holds the low half of the end with its carry, and the high half of the
// length, so that a lookup adds only high halves.
`define RNIC_TPT_ENTRY_W \
  (2 + $clog2(rnic_pkg::NumQps) + 32 + 16 + 16 + 64 + 33 + 17 + 5 + `RNIC_TPT_FROM_W + 7 + \
   $clog2(rnic_pkg::NumPbl))

// tpt_register to tpt_update: a fast registration, or a bind. wqe: window slot of its WQE. slot,
// old_stag, room, pbl: of the claimed entry; of a bind, old_stag is the STag of its region.
`define RNIC_TPT_JOB_T \
  struct packed { \
    logic [15:0] qpn; \
    logic [7:0]  wqe; \
    logic [31:0] stag; \
    logic [15:0] pd; \
    logic [15:0] rights; \
    logic [63:0] base; \
    logic [47:0] length; \
    logic [20:0] first_offset; \
    logic [4:0]  log_page; \
    logic [$clog2(rnic_pkg::NumPbl):0] pages; \
    logic [$clog2(rnic_pkg::NumStags)-1:0] slot; \
    logic [31:0] old_stag; \
    logic [4:0]  room; \
    logic [$clog2(rnic_pkg::NumPbl)-1:0] pbl; \
  }
`define RNIC_TPT_JOB_W (264 + 2 * $clog2(rnic_pkg::NumPbl) + $clog2(rnic_pkg::NumStags))

// qp_parse to qp_emit: a WQE {barrier, last, none, asks, body, more, status, QPN, head, units,
// tail, issued, reads, header}. barrier: a barrier in place of a WQE. last: the visit's last item.
// none: no WQE, since it must wait or its units are missing. asks: tpt will respond about its keys.
// body: beats follow. more: units behind it are announced. status: a failed check. head, tail,
// issued, reads: the QP's send state before this WQE: index of its first unit, window tail,
// messages and requests issued. The first 6 bits are the flags, then 8 of status.
`define RNIC_QP_ITEM_W \
  (6 + 8 + $clog2(rnic_pkg::NumQps) + 16 + 3 + $clog2(rnic_pkg::SqWindow) + 1 + 5 + 7 + \
   iwarp_pkg::SqWqeWidth)

// qp_state and qp_decide: a QP's row. st: its state. cause: why it failed; peer_term: code of the
// peer's Terminate. asked, half: rdmap, and then the LLP, has half_close. fin: the peer's FIN has
// arrived. term_wait: the Terminate is not sent yet; term_seen: it was sent before rdmap reported
// the error. lost: the QP ends with an abort. params: qp_params_t, also in the row of an SRQ.
`define RNIC_QP_STATE_T \
  struct packed { \
    logic        exists; \
    logic [2:0]  st; \
    logic [7:0]  cause; \
    logic        has_peer_term; \
    logic [15:0] peer_term; \
    logic        asked; \
    logic        half; \
    logic        fin; \
    logic        term_wait; \
    logic        term_seen; \
    logic        lost; \
    logic [iwarp_pkg::QpParamsWidth-1:0] params; \
  }
`define RNIC_QP_STATE_W (35 + iwarp_pkg::QpParamsWidth)

// qp_retire and qp_retire_step: a QP's row. sq, rq: indices after the last WQE that has retired.
// head: the oldest entry of the SQ window. reads: requests that have completed, modulo 128. own: a
// WQE has failed at issue (own_slot, own_status); err: rdmap has named a failed one. done: entries
// of the window that have completed.
`define RNIC_QP_RETIRED_T \
  struct packed { \
    logic [15:0] sq; \
    logic [15:0] rq; \
    logic [$clog2(rnic_pkg::SqWindow):0]   head; \
    logic [6:0]  reads; \
    logic        own; \
    logic [$clog2(rnic_pkg::SqWindow)-1:0] own_slot; \
    logic [7:0]  own_status; \
    logic        err; \
    logic [$clog2(rnic_pkg::SqWindow)-1:0] err_slot; \
    logic [7:0]  err_status; \
    logic [rnic_pkg::SqWindow-1:0]         done; \
  }
`define RNIC_QP_RETIRED_W (58 + 3 * $clog2(rnic_pkg::SqWindow) + rnic_pkg::SqWindow)

// ddp_tx_slot to ddp_tx_segment: a message's header, as its slot holds it
`define RNIC_DDP_SLOT_T \
  struct packed { \
    logic        is_tagged; \
    logic [4:0]  opcode; \
    logic [1:0]  qn; \
    logic [31:0] stag; \
    logic [63:0] to; \
    logic        is_inline; \
    logic [3:0]  num_sge; \
    logic        done; \
    logic [7:0]  slot; \
    logic        has_watermark; \
    logic [63:0] watermark; \
  }
`define RNIC_DDP_SLOT_W (1 + 5 + 2 + 32 + 64 + 1 + 4 + 1 + 8 + 1 + 64)

// ddp_tx_segment to ddp_tx_header: a segment {QPN, source, kind, tagged, length, header, done,
// slot, offset, fetches, waits, watermark}. done: wr_done is due for its message. fetches: the last
// segment with payload of a Read Response. waits: it has no payload and waits for its watermark.
`define RNIC_DDP_ORDER_W (16 + 2 + 3 + 1 + 16 + 144 + 1 + 8 + 32 + 1 + 1 + 64)

`endif

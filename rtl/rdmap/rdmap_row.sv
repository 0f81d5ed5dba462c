// rdmap_row: computes the next state of an operation's QP, and every decision that needs no ORD or
// IRD entry. RFC 5040 sections 5, 7.2.
//
//   row, operation --+--> next row             counts, rings, listed, received
//                    +--> deed                 what rdmap_judge still has to decide and to emit
//                    +--> entries to be read or written
//
// 1. The next row assumes that the QP has not failed, and that a Read Response fits the oldest
//    Read. If the assumption is wrong, rdmap_judge sets the QP's `err`. From then on only `listed`
//    is meaningful in the row, until start. So rows are forwarded one stage before entries are
//    read.
// 2. A QP is in the work list (`listed`) while its next request waits and ddp has a response slot
//    left for it.
// 3. stay_o: a Terminate is compared with entry scan_i in this cycle and with the next entry in the
//    next cycle.
//
// Combinational.
// Siblings: rdmap_core (holds the rows), rdmap_rx, rdmap_judge.
// Bench: tb/rdmap/rdmap_test.cpp
`include "rnic_assert.svh"
`include "rnic_words.svh"

module rdmap_row #(
  localparam int unsigned SegmentW = `RNIC_RDMAP_SEGMENT_W,
  localparam int unsigned RowW     = `RNIC_RDMAP_ROW_W,
  localparam int unsigned DeedW    = `RNIC_RDMAP_DEED_W,
  localparam int unsigned IrdW     = $clog2(rnic_pkg::IrdSlots),
  localparam int unsigned OrdW     = $clog2(rnic_pkg::OrdSlots)
) (
  input  logic                     clk_i,        // clk_i, rst_ni, valid_i: for the assertions only
  input  logic                     rst_ni,
  input  logic                     valid_i,
  // the operation, from rdmap_core
  input  logic [2:0]               op_i,
  input  logic [15:0]              qpn_i,
  input  iwarp_pkg::qp_ctl_rdmap_t ctl_i,
  input  iwarp_pkg::qp_error_t     fault_i,      // cause, has_wr, slot, status
  input  logic                     of_request_i, // the fault shows the request in fault_i.slot
  input  logic [31:0]              offset_i,     // of a tx_fault: bytes of its message sent before
  input  logic [SegmentW-1:0]      segment_i,
  input  iwarp_pkg::cause_e        cause_i,      // the segment's first failed check
  input  logic                     is_request_i, // the WQE is a Read, Flush, atomic or Atomic Write
  input  logic [5:0]               scan_i,       // entries already compared with a Terminate
  input  logic [OrdW-1:0]          scan_at_i,    // the next entry to compare
  // the row
  input  logic [RowW-1:0]          row_i,
  output logic [RowW-1:0]          row_o,
  // entries
  output logic                     ord_we_o,
  output logic [OrdW-1:0]          ord_waddr_o,
  output logic [31:0]              ord_msn_o,    // the request's MSN
  output logic [OrdW-1:0]          ord_raddr_o,
  output logic [OrdW-1:0]          scan_next_o,
  output logic                     ird_we_o,
  output logic [IrdW-1:0]          ird_raddr_o,
  output logic [IrdW-1:0]          ird_waddr_o,
  // decisions left to rdmap_judge
  output logic [31:0]              received_o,
  output logic                     stay_o,
  output logic [DeedW-1:0]         deed_o
);
  typedef `RNIC_RDMAP_OP_E        op_e;
  typedef `RNIC_RDMAP_ROW_T       row_t;
  typedef `RNIC_RDMAP_SEGMENT_T   segment_t;
  typedef `RNIC_RDMAP_DEED_T      deed_t;
  localparam int unsigned RespSlots = 1;         // responses of a QP that ddp holds

  // A row. running: started. closing: half_close was given. held: hold_tx, until the first received
  // segment. listed: in the work list. serving: requests that the responder or ddp holds. ird, ord:
  // sizes of the QP's rings of IRD and ORD entries; *_count: entries in use; *_base, *_last: the
  // ring's first and last slot in the pool; ird_next: the oldest request that is not served yet;
  // ord_head: our oldest outstanding request; *_tail: the slot of the next one. received: bytes of
  // our oldest Read. msn: of our next request.
  row_t     row, next;
  segment_t seg;
  deed_t    deed;
  iwarp_pkg::qp_error_t   error;
  iwarp_pkg::rx_verdict_t verdict;
  assign row    = row_i;
  assign row_o  = next;
  assign seg    = segment_i;
  assign deed_o = deed;

  // --- entries. The index after *_last is *_base. head_slot: ird_next counted from ird_base, as
  // tx_fault and atomic_rsp return it.
  logic [IrdW-1:0] ird_tail_next, ird_next_next, head_slot;
  logic [OrdW-1:0] ord_tail_next, ord_head_next;
  assign ird_tail_next = row.ird_tail == row.ird_last ? row.ird_base : row.ird_tail + 1'b1;
  assign ird_next_next = row.ird_next == row.ird_last ? row.ird_base : row.ird_next + 1'b1;
  assign head_slot     = row.ird_next - row.ird_base;
  assign ord_tail_next = row.ord_tail == row.ord_last ? row.ord_base : row.ord_tail + 1'b1;
  assign ord_head_next = row.ord_head == row.ord_last ? row.ord_base : row.ord_head + 1'b1;
  assign ord_we_o      = op_i == OpWqe && is_request_i && row.running;
  assign ord_msn_o     = row.msn;
  assign ord_waddr_o   = row.ord_tail;
  assign ord_raddr_o   = scan_i == '0 ? row.ord_head : scan_at_i;
  assign scan_next_o   = ord_raddr_o == row.ord_last ? row.ord_base : ord_raddr_o + 1'b1;
  assign received_o    = row.received;
  assign ird_we_o      = op_i == OpSeg && accepts && row.running;
  assign ird_waddr_o   = row.ird_tail;
  assign ird_raddr_o   = op_i == OpHead ? row.ird_next : row.ird_base + IrdW'(fault_i.slot);

  // --- the segment. fits: a response, and a request of ours is outstanding; rdmap_judge compares
  // them. names: a Terminate that shows a request. accepts: a request that gets an IRD entry.
  logic good, fits, names, accepts, closed;
  logic [31:0] sum;
  assign closed  = row.closing && row.ird_count == '0;    // we have sent all our responses
  assign good    = !seg.bad;
  assign fits    = good && seg.is_response && row.ord_count != '0;
  assign names   = good && seg.is_terminate && (seg.has_read || seg.has_msn) && row.ord_count != '0;
  assign accepts = good && seg.is_request && !closed && row.ird_count < row.ird;
  assign sum     = row.received + {16'h0, seg.payload};
  assign stay_o  = op_i == OpSeg && names && scan_i + 6'd1 != row.ord_count;

  // --- the responder
  logic waits, waits_after;                // an unserved request exists; another one after it
  logic frees;
  assign waits       = {3'b000, row.serving} != row.ird_count;
  assign waits_after = {3'b000, row.serving} + 6'd1 != row.ird_count;
  assign frees       = row.running && row.serving != '0;

  always_comb begin
    next            = row;
    deed            = '0;
    verdict         = '0;
    deed.op         = op_i;
    deed.qpn        = qpn_i;
    deed.first      = scan_i == '0;
    deed.last       = !stay_o;
    deed.running    = row.running;
    deed.closed     = closed;
    deed.pd         = row.pd;
    error           = fault_i;
    deed.of_request = of_request_i;
    deed.offset     = offset_i;
    deed.has_head   = of_request_i;
    deed.ulpdu_length = seg.ulpdu_length;
    deed.stag       = seg.stag;
    deed.to         = seg.to;
    deed.sum        = sum;
    deed.net        = seg.net;
    deed.is_last    = seg.is_last;
    case (op_i)
      OpCtl: begin
        if (ctl_i.op == iwarp_pkg::QpoHalfClose) begin
          next.closing = 1'b1;
          deed.closes  = !row.closing && row.ird_count == '0;
        end else begin
          deed.stops     = 1'b1;
          next           = '0;
          next.listed    = row.listed;   // the work list keeps its entry
          next.running   = ctl_i.op == iwarp_pkg::QpoStart;
          next.held      = ctl_i.params.hold_tx;
          next.msn       = 32'd1;
          next.pd        = ctl_i.params.pd;
          next.ird       = ctl_i.params.ird;
          next.ord       = ctl_i.params.ord;
          next.ird_base  = IrdW'(ctl_i.params.ird_base);
          next.ird_next  = IrdW'(ctl_i.params.ird_base);
          next.ird_tail  = IrdW'(ctl_i.params.ird_base);
          next.ird_last  = IrdW'(ctl_i.params.ird_base) + IrdW'(ctl_i.params.ird) - 1'b1;
          next.ord_base  = OrdW'(ctl_i.params.ord_base);
          next.ord_head  = OrdW'(ctl_i.params.ord_base);
          next.ord_tail  = OrdW'(ctl_i.params.ord_base);
          next.ord_last  = OrdW'(ctl_i.params.ord_base) + OrdW'(ctl_i.params.ord) - 1'b1;
        end
      end
      OpQpFault, OpTxFault, OpRespFail: deed.fails = 1'b1;
      OpSeg: begin
        next.held       = 1'b0;
        deed.has_head   = seg.head_fits;
        deed.of_request = 1'b0;
        deed.fits       = fits;
        deed.names      = names;
        deed.by_msn     = seg.has_msn;
        deed.kind       = seg.kind;
        deed.is_request = accepts;
        verdict.place     = seg.payload != '0 && !seg.is_request && !seg.is_immediate &&
                            seg.kind == rnic_pkg::KindRead;
        verdict.solicited = (seg.is_send || seg.is_immediate) && seg.is_solicited && seg.is_last;
        if (seg.is_send && seg.is_last)
          verdict.deliver = seg.is_inv ? iwarp_pkg::DelInvalidate : iwarp_pkg::DelRecv;
        else if (seg.is_immediate)               verdict.deliver = iwarp_pkg::DelImmediate;
        // The value of an Atomic Response goes through rdmap_atomic.
        else if (seg.is_response && seg.is_last && seg.kind != rnic_pkg::KindAtomic)
                                                 verdict.deliver = iwarp_pkg::DelRead;
        // Failures that need no entry. A Terminate that names no request reports status WcSuccess.
        error = '0;
        if (seg.bad)                       error.cause = cause_i;
        else if (seg.is_terminate)         error.cause = iwarp_pkg::CausePeerTerminate;
        else if (seg.is_request && closed) error.cause = iwarp_pkg::CauseLlpLost;
        else if (seg.is_request)           error.cause = iwarp_pkg::CauseDdpUntaggedNoBuffer;
        else                               error.cause = iwarp_pkg::CauseRdmapOpcode;
        deed.fails = !good || seg.is_terminate ||
                     (seg.is_request && !accepts) || (seg.is_response && !fits);
        if (good && seg.is_terminate) begin
          error.has_peer_term = 1'b1;
          error.peer_term     = seg.code;
          // {layer, type, code}: 0/1 RDMAP protection errors; 0/2/05 version, 0/2/06 opcode
          // (errors.yaml)
          if (!names)                       error.status = iwarp_pkg::WcSuccess;
          else if (seg.code[15:8] == 8'h01) error.status = iwarp_pkg::WcRemAccessErr;
          else if (seg.code == 16'h0205 || seg.code == 16'h0206)
                                            error.status = iwarp_pkg::WcRemInvReqErr;
          else                              error.status = iwarp_pkg::WcRemOpErr;
        end
        if (row.running && accepts) begin
          next.ird_count = row.ird_count + 6'd1;
          next.ird_tail  = ird_tail_next;
          next.listed    = row.listed || 32'(row.serving) < RespSlots;
          deed.work      = next.listed && !row.listed;
        end
        if (row.running && fits) begin
          next.received = seg.is_last ? '0 : sum;
          if (seg.is_last) begin
            next.ord_head  = ord_head_next;
            next.ord_count = row.ord_count - 6'd1;
          end
        end
      end
      OpHead: begin
        deed.head       = row.running && waits;
        error.slot = 8'(head_slot);
        next.listed = 1'b0;
        if (deed.head) begin
          next.serving  = row.serving + 3'd1;
          next.ird_next = ird_next_next;
          next.listed   = waits_after && 32'(row.serving) + 1 < RespSlots;
          deed.work     = next.listed;
        end
      end
      OpFree: begin
        if (frees) begin
          next.serving   = row.serving - 3'd1;
          next.ird_count = row.ird_count - 6'd1;
          next.listed    = row.listed || waits;
          deed.work      = waits && !row.listed;
          deed.closes    = row.closing && row.ird_count == 6'd1;
        end
      end
      default: begin    // OpWqe
        if (ord_we_o) begin
          next.ord_count = row.ord_count + 6'd1;
          next.ord_tail  = ord_tail_next;
          next.msn       = row.msn + 32'd1;
        end
      end
    endcase
    deed.held    = next.held;
    deed.error   = error;
    deed.verdict = verdict;
  end

  logic unused_bits;
  assign unused_bits = ^{ctl_i.qpn, ctl_i.params, head_slot, seg.more};

  `RNIC_COVER(RequestWhileServing_C, valid_i && op_i == OpSeg && accepts && row.serving != '0)
  `RNIC_COVER(LastSlotOfIrd_C, valid_i && op_i == OpSeg && accepts &&
                               row.ird_count + 6'd1 == row.ird)
  `RNIC_ASSERT(OrdRoom_A, !(valid_i && ord_we_o) || row.ord_count < row.ord)
  `RNIC_ASSERT(SlotIsServed_A, !(valid_i && op_i == OpFree && row.running) || frees)
  `RNIC_ASSERT(IrdNotEmpty_A, !(valid_i && op_i == OpFree && frees) || row.ird_count != '0)

  if ($bits(row) != RowW || $bits(seg) != SegmentW || $bits(deed) != DeedW)
    $fatal(1, "rdmap_row %m: widths of rnic_words.svh");
endmodule

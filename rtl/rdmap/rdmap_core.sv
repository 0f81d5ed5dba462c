// rdmap_core: decides every RDMAP operation. It holds the table of QPs, the outstanding requests
// (ORD) and the inbound requests (IRD).
//
//   pick --> read --> row --------> entry --> decide --> verdict, message, head, job
//              |       |  \--> ORD, IRD --------^ |
//              |       +--> row of the QP         +--> err of the QP, IRD
//              +<--forward--+                     (forwarded to the stage before)
//
// Prefixes of signals: r_ read, a_ row, l_ entry, d_ decide; w_, e_ one cycle after row or decide.
//
// 1. No stage stalls, except for invariant 4. rdmap_pick starts an operation only when everything
//    the operation may emit has room. rdmap_room counts the operations in the pipeline.
// 2. A QP's operations take effect in the order in which rdmap_pick starts them. The QP's row is
//    forwarded from stage `row` to stage `read`; its `err` is forwarded from `decide` to `entry`.
//    rdmap_row assumes success. After a failure only `err` is meaningful until start (see
//    rdmap_row).
// 3. An operation reads what the operation before it wrote: entries are written in the stage that
//    reads them. The exception is a request's watermark: `decide` writes it, and it is forwarded
//    from `decide` to `entry`.
// 4. A peer's Terminate stays in `row` for one cycle per outstanding request. No operation is
//    picked until the Terminate leaves `row` (AloneInRow_A).
//
// Latency: 4 cycles from pick to decide (table read, row, ORD and IRD read, their output register).
// Throughput: 1 operation per cycle.
// Waits for room for verdicts, for results of our atomics (rdmap_atomic), for jobs of rdmap_term
// and for messages of rdmap_tx. None of these waits for receive.
// Leaves inside: rdmap_pick, rdmap_rx, rdmap_row, rdmap_judge, rdmap_message, rdmap_room.
// Siblings: rdmap_resp, rdmap_term, rdmap_tx.
// Bench: tb/rdmap/rdmap_test.cpp
`include "rnic_assert.svh"
`include "rnic_words.svh"

module rdmap_core #(
  parameter int unsigned QueueDepth = 2,   // words of each output queue: verdicts, messages, jobs
  localparam int unsigned JobW    = `RNIC_RDMAP_JOB_W,
  localparam int unsigned HeadW   = `RNIC_RDMAP_HEAD_W,
  localparam int unsigned ResultW = `RNIC_RDMAP_RESULT_W,
  localparam int unsigned OwnW    = `RNIC_RDMAP_OWN_W
) (
  input  logic clk_i,
  input  logic rst_ni,
  output logic ready_o,                  // the tables are cleared
  // start, stop, half_close
  input  logic ctl_valid_i,
  output logic ctl_ready_o,
  input  iwarp_pkg::qp_ctl_rdmap_t ctl_i,
  output logic ctl_done_o,               // an order of qpn_o is decided
  output logic stopped_o,                // the order was a start or a stop
  // dead_o: a start, a stop or the first error of qpn_o: earlier responses are not sent any more
  output logic dead_o,
  output logic [15:0] qpn_o,
  // faults: of qp; of ddp's transmit; resp_fail: of the responder, of a result of our own atomic,
  // or of a request to our own table
  input  logic qp_fault_valid_i,
  output logic qp_fault_ready_o,
  input  iwarp_pkg::qp_fault_t qp_fault_i,
  input  logic tx_fault_valid_i,
  output logic tx_fault_ready_o,
  input  iwarp_pkg::tx_fault_t tx_fault_i,
  input  logic resp_fail_valid_i,
  output logic resp_fail_ready_o,
  input  iwarp_pkg::tx_fault_t resp_fail_i,
  output logic resp_fail_done_o,         // the resp_fail is decided
  // receive
  input  logic seg_valid_i,
  output logic seg_ready_o,
  input  iwarp_pkg::rx_segment_t seg_i,
  output logic verdict_valid_o,
  output iwarp_pkg::rx_verdict_t verdict_o,
  input  logic verdict_left_i,           // a verdict has been popped from its queue
  output logic result_valid_o,           // the old value that our atomic returned
  output logic [ResultW-1:0] result_o,
  input  logic result_left_i,            // a result is finished
  // responder
  output logic work_valid_o,             // enqueue qpn_o in the work list
  input  logic head_req_valid_i,
  output logic head_req_ready_o,
  input  logic [15:0] head_req_qpn_i,
  output logic head_valid_o,
  output logic head_ok_o,                // the QP has a request to serve
  output logic [HeadW-1:0] head_o,
  input  logic free_valid_i,             // ddp has released the QP's response slot
  output logic free_ready_o,
  input  logic [15:0] free_qpn_i,
  // free_waits_i: a slot release is queued, visible at the output or not: a start or stop waits
  input  logic free_waits_i,
  // send queue
  input  logic wqe_valid_i,
  output logic wqe_ready_o,
  input  iwarp_pkg::wqe_hdr_t wqe_i,
  input  logic sge_valid_i,              // of a request: its sink and operands
  output logic sge_ready_o,
  input  logic [OwnW-1:0] sge_i,         // RNIC_RDMAP_OWN_T
  output logic sq_valid_o,
  output logic sq_drop_o,                // the QP has failed or stopped
  output logic sq_own_o,                 // the body is sq_data_o, not the WQE's
  output logic sq_local_o,               // a request to our own table (tpt): no message
  output iwarp_pkg::tx_message_hdr_t sq_o,
  output logic [415:0] sq_data_o,        // 52 bytes: an Atomic Request is the longest
  input  logic sq_left_i,                // a message has been popped from its queue
  // errors, to rdmap_term
  output logic term_valid_o,
  output logic [JobW-1:0] term_o,
  input  logic term_left_i               // a job has been popped from its queue
);
  localparam int unsigned QpW       = $clog2(rnic_pkg::NumQps);
  localparam int unsigned IrdW      = $clog2(rnic_pkg::IrdSlots);
  localparam int unsigned OrdW      = $clog2(rnic_pkg::OrdSlots);
  localparam int unsigned RowW      = `RNIC_RDMAP_ROW_W;
  localparam int unsigned SegmentW  = `RNIC_RDMAP_SEGMENT_W;

  typedef `RNIC_RDMAP_OP_E   op_e;
  typedef `RNIC_RDMAP_DEED_T deed_t;
  typedef `RNIC_RDMAP_OWN_T    own_t;
  typedef `RNIC_RDMAP_RESULT_T result_t;
  typedef `RNIC_RDMAP_SEGMENT_T segment_t;
  // An ORD entry. Reads and atomics have a sink. A Terminate names a Read by sink, others by MSN.
  typedef struct packed {
    logic [1:0]  kind;
    logic [31:0] msn;
    logic [31:0] stag;
    logic [63:0] to;
    logic [31:0] length;
    logic [7:0]  slot;
  } ord_t;

  // --- pick. Each *_room: the queue of these words has room. stay: a Terminate stays in `row`.
  // term_back: the operation has made no job of rdmap_term, so its room is returned.
  logic clear_busy, pick, hold_q, stay, term_back, verdict_room, term_room, sq_room, result_room,
        may_fail;
  logic [QpW-1:0] clear_addr;
  logic [2:0]  op_d, r_op_q, a_op_q;     // op_e
  logic [15:0] qpn_d, r_qpn_q, a_qpn_q;
  logic r_valid_q, a_valid_q;
  rdmap_pick u_pick (
    .clk_i, .rst_ni, .free_i(!clear_busy && !hold_q), .pick_o(pick), .op_o(op_d), .qpn_o(qpn_d),
    .verdict_room_i(verdict_room && result_room), .term_room_i(term_room), .sq_room_i(sq_room),
    .ctl_valid_i, .ctl_ready_o, .ctl_op_i(ctl_i.op), .ctl_qpn_i(ctl_i.qpn),
    .qp_fault_valid_i, .qp_fault_ready_o, .qp_fault_qpn_i(qp_fault_i.qpn),
    .tx_fault_valid_i, .tx_fault_ready_o, .tx_fault_qpn_i(tx_fault_i.qpn),
    .resp_fail_valid_i, .resp_fail_ready_o, .resp_fail_qpn_i(resp_fail_i.qpn),
    .seg_valid_i, .seg_ready_o, .seg_qpn_i(seg_i.qpn),
    .head_valid_i(head_req_valid_i), .head_ready_o(head_req_ready_o), .head_qpn_i(head_req_qpn_i),
    .slot_valid_i(free_valid_i), .slot_ready_o(free_ready_o), .slot_qpn_i(free_qpn_i),
    .slot_waits_i(free_waits_i),
    .wqe_valid_i, .wqe_ready_o, .wqe_qpn_i(wqe_i.qpn),
    .wqe_is_request_i(wqe_is_request), .sge_valid_i
  );
  // The WQE becomes a request on QN 1 or to our own table; rdmap_wqe gives its body as sge_i.
  logic wqe_is_request;
  assign wqe_is_request = wqe_i.opcode == iwarp_pkg::WrRdmaRead ||
                          wqe_i.opcode == iwarp_pkg::WrLocalInv ||
                          wqe_i.opcode == iwarp_pkg::WrRegMr ||
                          wqe_i.opcode == iwarp_pkg::WrBindMw ||
                          wqe_i.opcode == iwarp_pkg::WrFlush ||
                          wqe_i.opcode == iwarp_pkg::WrAtomicWrite ||
                          wqe_i.opcode == iwarp_pkg::WrAtomicCmpAndSwp ||
                          wqe_i.opcode == iwarp_pkg::WrAtomicFetchAndAdd;
  assign sge_ready_o = wqe_ready_o && wqe_is_request;
  // The picked operation may make a job of rdmap_term: an error, or "responder idle".
  assign may_fail    = op_d != OpHead && op_d != OpWqe &&
                       (op_d != OpCtl || ctl_i.op == iwarp_pkg::QpoHalfClose);
  rdmap_room #(.Depth(QueueDepth)) u_verdict_room (
    .clk_i, .rst_ni, .take_i(seg_ready_o), .back_i(1'b0), .left_i(verdict_left_i),
    .room_o(verdict_room)
  );
  rdmap_room #(.Depth(QueueDepth)) u_result_room (   // any segment may bring a result
    .clk_i, .rst_ni, .take_i(seg_ready_o), .back_i(verdict_valid_o && !result_valid_o),
    .left_i(result_left_i), .room_o(result_room)
  );
  rdmap_room #(.Depth(QueueDepth)) u_term_room (
    .clk_i, .rst_ni, .take_i(pick && may_fail), .back_i(term_back), .left_i(term_left_i),
    .room_o(term_room)
  );
  rdmap_room #(.Depth(QueueDepth)) u_sq_room (
    .clk_i, .rst_ni, .take_i(wqe_ready_o), .back_i(1'b0), .left_i(sq_left_i), .room_o(sq_room)
  );
  // A segment that may be a Terminate (untagged, opcode 7): no other operation is picked until it
  // leaves stage `row`.
  logic pick_term, r_alone_q, a_alone_q;
  assign pick_term = seg_ready_o && !seg_i.head[7] && seg_i.head[11:8] == 4'h7;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) hold_q <= 1'b0;
    else         hold_q <= pick_term || (hold_q && !(a_valid_q && a_alone_q && !stay));
  end

  // --- read: the QP's row arrives from the table; the segment or fault is decoded
  iwarp_pkg::qp_ctl_rdmap_t r_ctl_q, a_ctl_q;
  iwarp_pkg::rx_segment_t   r_seg_q;
  iwarp_pkg::tx_fault_t     r_fault_q;
  iwarp_pkg::cause_e        r_cause_q;
  iwarp_pkg::wqe_hdr_t      r_wqe_q, a_wqe_q, l_wqe_q, d_wqe_q;
  own_t                     r_sge_q, a_sge_q, l_sge_q, d_sge_q;   // of a request
  always_ff @(posedge clk_i) begin
    if (!rst_ni) r_valid_q <= 1'b0;
    else         r_valid_q <= pick;
  end
  always_ff @(posedge clk_i) begin
    if (pick) begin
      r_alone_q <= pick_term;
      r_op_q    <= op_d;
      r_qpn_q   <= qpn_d;
      r_ctl_q   <= ctl_i;
      r_cause_q <= qp_fault_i.cause;
      r_fault_q <= tx_fault_ready_o ? tx_fault_i : resp_fail_i;
      r_seg_q   <= seg_i;
      r_wqe_q   <= wqe_i;
      r_sge_q   <= sge_i;
    end
  end
  logic [SegmentW-1:0] r_segment, a_segment_q;
  iwarp_pkg::cause_e r_seg_cause, a_seg_cause_q;
  rdmap_rx u_rx (.segment_i(r_seg_q), .segment_o(r_segment), .cause_o(r_seg_cause));

  // A fault: the qp_error it becomes, and whether the Terminate shows a request.
  iwarp_pkg::cause_e    tpt_cause;
  iwarp_pkg::qp_error_t r_fault, a_fault_q;
  logic                 r_of_request, a_of_request_q;
  logic [31:0]          a_offset_q;
  always_comb begin
    case (r_fault_q.result)
      iwarp_pkg::TptAssoc:  tpt_cause = iwarp_pkg::CauseRdmapAssoc;
      iwarp_pkg::TptRights: tpt_cause = iwarp_pkg::CauseRdmapRights;
      iwarp_pkg::TptWrap:   tpt_cause = iwarp_pkg::CauseRdmapWrap;
      iwarp_pkg::TptBounds: tpt_cause = iwarp_pkg::CauseRdmapBounds;
      iwarp_pkg::TptAlign:  tpt_cause = iwarp_pkg::CauseRdmapLength;
      default:              tpt_cause = iwarp_pkg::CauseRdmapStag;
    endcase
  end
  // OpRespFail with source TxSq: a result of our own atomic or a request to our own table failed.
  assign r_of_request = (r_op_q == OpRespFail || r_op_q == OpTxFault) &&
                        r_fault_q.source == iwarp_pkg::TxResp;
  always_comb begin
    r_fault = '0;
    if (r_of_request) begin              // TptOk: a read of host memory failed
      r_fault.cause = r_fault_q.result != iwarp_pkg::TptOk ? tpt_cause
                                                           : iwarp_pkg::CauseRdmapLength;
      r_fault.slot  = r_fault_q.slot;
    end else if (r_op_q == OpTxFault || r_op_q == OpRespFail) begin
      r_fault.cause  = iwarp_pkg::CauseLocalCatastrophic;
      r_fault.has_wr = 1'b1;
      r_fault.slot   = r_fault_q.slot;
      r_fault.status = r_fault_q.result == iwarp_pkg::TptBind ? iwarp_pkg::WcMwBindErr
                     : r_fault_q.result != iwarp_pkg::TptOk   ? iwarp_pkg::WcLocProtErr
                                                              : iwarp_pkg::WcFatalErr;
    end else if (r_op_q == OpQpFault) begin
      r_fault.cause = r_cause_q;
    end
  end

  // The row comes from the table, or from the operation one or two cycles earlier.
  logic [RowW-1:0] row_read, row, row_d, row_q, w_row_q;
  logic [15:0]     w_qpn_q;
  logic            w_valid_q;
  ram_clear #(.Depth(rnic_pkg::NumQps)) u_clear (
    .clk_i, .rst_ni, .busy_o(clear_busy), .addr_o(clear_addr)
  );
  ram_1r1w #(.Width(RowW), .Depth(rnic_pkg::NumQps)) u_rows (
    .clk_i, .rst_ni, .we_i(clear_busy || a_valid_q),
    .waddr_i(clear_busy ? clear_addr : a_qpn_q[QpW-1:0]),
    .wdata_i(clear_busy ? '0 : row_d), .re_i(pick), .raddr_i(qpn_d[QpW-1:0]), .rdata_o(row_read)
  );
  assign ready_o = !clear_busy;
  always_comb begin
    row = row_read;
    if (w_valid_q && w_qpn_q == r_qpn_q) row = w_row_q;
    if (a_valid_q && a_qpn_q == r_qpn_q) row = row_d;
  end

  // --- row
  logic [5:0] scan_q;                      // ORD entries already compared with a Terminate
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      a_valid_q <= 1'b0;
      w_valid_q <= 1'b0;
      scan_q    <= '0;
    end else begin
      a_valid_q <= r_valid_q || (a_valid_q && stay);
      w_valid_q <= a_valid_q;
      scan_q    <= a_valid_q && stay ? scan_q + 6'd1 : '0;
    end
  end
  always_ff @(posedge clk_i) begin
    w_qpn_q <= a_qpn_q;
    w_row_q <= row_d;
    if (r_valid_q) begin
      a_alone_q      <= r_alone_q;
      a_op_q         <= r_op_q;
      a_qpn_q        <= r_qpn_q;
      a_ctl_q        <= r_ctl_q;
      a_fault_q      <= r_fault;
      a_of_request_q <= r_of_request;
      a_offset_q     <= r_op_q == OpTxFault ? r_fault_q.offset : '0;
      a_segment_q    <= r_segment;
      a_seg_cause_q  <= r_seg_cause;
      a_wqe_q        <= r_wqe_q;
      a_sge_q        <= r_sge_q;
      row_q          <= row;
    end
  end

  logic ord_we, a_is_request;
  logic [1:0]  a_kind;
  logic [31:0] ord_msn, l_msn_q, d_msn_q;
  always_comb begin
    a_is_request = 1'b1;
    a_kind       = rnic_pkg::KindRead;
    case (a_wqe_q.opcode)
      iwarp_pkg::WrRdmaRead: ;
      iwarp_pkg::WrFlush:             a_kind = rnic_pkg::KindFlush;
      iwarp_pkg::WrAtomicWrite:       a_kind = rnic_pkg::KindAtomicWrite;
      iwarp_pkg::WrAtomicCmpAndSwp,
      iwarp_pkg::WrAtomicFetchAndAdd: a_kind = rnic_pkg::KindAtomic;
      default:                        a_is_request = 1'b0;
    endcase
  end
  logic [OrdW-1:0]  ord_waddr, ord_raddr, scan_at_q, scan_next;
  logic [IrdW-1:0]  ird_raddr, ird_waddr, l_ird_waddr_q, d_ird_waddr_q;
  deed_t            deed;                // what rdmap_row leaves to rdmap_judge
  logic [31:0]      received;            // bytes of the oldest Read
  rdmap_row u_row (
    .clk_i, .rst_ni, .valid_i(a_valid_q),
    .op_i(a_op_q), .qpn_i(a_qpn_q), .ctl_i(a_ctl_q), .fault_i(a_fault_q),
    .of_request_i(a_of_request_q), .offset_i(a_offset_q),
    .segment_i(a_segment_q), .cause_i(a_seg_cause_q),
    .is_request_i(a_is_request), .scan_i(scan_q), .scan_at_i(scan_at_q),
    .row_i(row_q), .row_o(row_d),
    .ord_we_o(ord_we), .ord_waddr_o(ord_waddr), .ord_msn_o(ord_msn), .ord_raddr_o(ord_raddr),
    .scan_next_o(scan_next),
    .ird_we_o(ird_we), .ird_raddr_o(ird_raddr), .ird_waddr_o(ird_waddr), .received_o(received),
    .stay_o(stay), .deed_o(deed)
  );
  always_ff @(posedge clk_i) scan_at_q <= scan_next;

  // --- entry: the data of ORD and IRD, which stage `row` addresses; the QP's err
  ord_t ord_wdata, ord_read, ord_q;
  // a request: DDP header 18 bytes, then 28, then the last 24 bytes of an Atomic Request
  logic [559:0] ird_read, ird_q;
  segment_t     a_segment;
  result_t      result;
  logic [63:0]  mark_read, mark, mark_q, w_mark_q;   // the watermark of that request
  logic         w_mark_we_q;
  logic [IrdW-1:0] l_ird_raddr_q, w_ird_waddr_q;
  // Place packets that rdmap has accepted since reset: the watermark of the next request. host_if
  // counts them in turn when they are written (its `placed`).
  logic [63:0]  placed_q;
  logic         ird_we, mark_we;
  assign ord_wdata = {a_kind, ord_msn, a_sge_q.stag, a_sge_q.to, a_wqe_q.length, a_wqe_q.slot};
  ram_1r1w #(.Width($bits(ord_read)), .Depth(rnic_pkg::OrdSlots)) u_ord (
    .clk_i, .rst_ni, .we_i(a_valid_q && ord_we), .waddr_i(ord_waddr), .wdata_i(ord_wdata),
    .re_i(a_valid_q), .raddr_i(ord_raddr), .rdata_o(ord_read)
  );
  ram_1r1w #(.Width($bits(ird_read)), .Depth(rnic_pkg::IrdSlots)) u_ird (
    .clk_i, .rst_ni,
    .we_i(a_valid_q && ird_we), .waddr_i(ird_waddr), .wdata_i({deed.net, a_segment.more}),
    .re_i(a_valid_q), .raddr_i(ird_raddr), .rdata_o(ird_read)
  );
  ram_1r1w #(.Width(64), .Depth(rnic_pkg::IrdSlots)) u_marks (
    .clk_i, .rst_ni, .we_i(mark_we), .waddr_i(d_ird_waddr_q), .wdata_i(placed_q),
    .re_i(a_valid_q), .raddr_i(ird_raddr), .rdata_o(mark_read)
  );
  // A head may follow its request immediately if the QP was still in the work list from before its
  // last start.
  always_comb begin
    mark = mark_read;
    if (w_mark_we_q && w_ird_waddr_q == l_ird_raddr_q) mark = w_mark_q;
    if (mark_we && d_ird_waddr_q == l_ird_raddr_q)     mark = placed_q;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) w_mark_we_q <= 1'b0;
    else         w_mark_we_q <= mark_we;
  end

  deed_t l_deed_q, d_deed_q;
  logic  l_valid_q, d_valid_q, err_read, err, err_q, err_d, e_valid_q, e_err_q;
  logic [15:0] e_qpn_q;
  logic [32:0] l_low_q;
  logic [31:0] l_high_q;
  logic [63:0] d_start_q;
  ram_1r1w #(.Width(1), .Depth(rnic_pkg::NumQps)) u_err (
    .clk_i, .rst_ni, .we_i(clear_busy || d_valid_q),
    .waddr_i(clear_busy ? clear_addr : d_deed_q.qpn[QpW-1:0]),
    .wdata_i(!clear_busy && err_d), .re_i(a_valid_q), .raddr_i(a_qpn_q[QpW-1:0]), .rdata_o(err_read)
  );
  always_comb begin
    err = err_read;
    if (e_valid_q && e_qpn_q == l_deed_q.qpn)    err = e_err_q;
    if (d_valid_q && d_deed_q.qpn == l_deed_q.qpn) err = err_d;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      l_valid_q <= 1'b0;
      d_valid_q <= 1'b0;
      e_valid_q <= 1'b0;
    end else begin
      l_valid_q <= a_valid_q;
      d_valid_q <= l_valid_q;
      e_valid_q <= d_valid_q;
    end
  end
  always_ff @(posedge clk_i) begin
    // TO minus the bytes received: its high half with and without the borrow.
    l_low_q       <= {1'b0, deed.to[31:0]} - {1'b0, received};
    l_high_q      <= deed.to[63:32] - 32'd1;
    l_deed_q      <= deed;
    l_wqe_q       <= a_wqe_q;
    l_sge_q       <= a_sge_q;
    l_msn_q       <= ord_msn;
    d_msn_q       <= l_msn_q;
    l_ird_raddr_q <= ird_raddr;
    l_ird_waddr_q <= ird_waddr;
    d_start_q     <= {l_low_q[32] ? l_high_q : l_deed_q.to[63:32], l_low_q[31:0]};
    d_deed_q      <= l_deed_q;
    d_wqe_q       <= l_wqe_q;
    d_sge_q       <= l_sge_q;
    d_ird_waddr_q <= l_ird_waddr_q;
    ord_q         <= ord_read;
    ird_q         <= ird_read;
    mark_q        <= mark;
    w_ird_waddr_q <= d_ird_waddr_q;
    w_mark_q      <= placed_q;
    err_q         <= err;
    e_qpn_q       <= d_deed_q.qpn;
    e_err_q       <= err_d;
  end

  // --- decide
  logic done, alive;
  rdmap_judge u_judge (
    .clk_i, .rst_ni, .valid_i(d_valid_q), .deed_i(d_deed_q), .start_i(d_start_q), .err_i(err_q),
    .err_o(err_d),
    .ord_stag_i(ord_q.stag), .ord_to_i(ord_q.to), .ord_length_i(ord_q.length),
    .ord_slot_i(ord_q.slot), .ord_kind_i(ord_q.kind), .ord_msn_i(ord_q.msn),
    .ird_watermark_i(mark_q), .ird_net_i(ird_q[559:192]), .ird_more_i(ird_q[191:0]),
    .done_o(done), .alive_o(alive), .verdict_valid_o, .verdict_o, .accepts_request_o(mark_we),
    .result_valid_o, .result_o(result.value),
    .term_valid_o, .term_o, .head_valid_o, .head_ok_o, .head_o
  );
  assign a_segment = a_segment_q;
  assign {result.qpn, result.pd, result.slot, result.stag, result.to} =
      {d_deed_q.qpn, d_deed_q.pd, ord_q.slot, ord_q.stag, ord_q.to};
  assign result_o  = result;
  assign term_back        = done && d_deed_q.op != OpHead && d_deed_q.op != OpWqe &&
                            !d_deed_q.stops && !term_valid_o;
  assign ctl_done_o       = done && d_deed_q.op == OpCtl;
  assign stopped_o        = ctl_done_o && d_deed_q.stops;
  assign dead_o           = stopped_o || (done && alive && err_d);
  assign resp_fail_done_o = done && d_deed_q.op == OpRespFail;
  assign work_valid_o     = done && d_deed_q.work;
  assign qpn_o            = d_deed_q.qpn;

  always_ff @(posedge clk_i) begin
    if (!rst_ni)                                          placed_q <= '0;
    else if (verdict_valid_o && verdict_o.place)          placed_q <= placed_q + 64'h1;
  end

  // --- the send queue's message
  assign sq_valid_o = done && d_deed_q.op == OpWqe;
  assign sq_drop_o  = !alive;
  rdmap_message u_message (
    .wqe_i(d_wqe_q), .own_i(d_sge_q), .msn_i(d_msn_q), .qpn_i(d_deed_q.qpn), .pd_i(d_deed_q.pd),
    .local_o(sq_local_o), .own_o(sq_own_o), .hdr_o(sq_o), .data_o(sq_data_o)
  );

  logic unused_bits;
  assign unused_bits = ^{qpn_d, ctl_i.qpn, qp_fault_i.qpn, tx_fault_i.qpn, r_fault_q.qpn,
                         r_fault_q.status, a_qpn_q, a_segment};

  `RNIC_ASSERT(AloneInRow_A, !(a_valid_q && stay) || !r_valid_q)

  // Simulation only: commit trace (architecture 10)
  iwarp_pkg::rdmap_op_commit_t tap_rdmap_op /*verilator public_flat_rd*/;
  assign tap_rdmap_op = {done && d_deed_q.op != OpHead, d_deed_q.op, d_deed_q.qpn};
endmodule

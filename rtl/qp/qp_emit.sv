// qp_emit: the last step of issue: waits for tpt's response about the keys, then hands the WQE to
// rdmap or fails the QP.
//
//   item, body (qp_parse) ----+--> good:    window entry, send state, finish --> wqe_hdr --> wqe
//   wqe_check_rsp (tpt) ------+--> bad:     window entry, send state (failed), finish, fail
//                             |             (qp_retire), qp_fault; body dropped
//                             +--> lost:    (wr_flush_err: a request after the peer's FIN) not
//                             |             issued, send state (failed), qp_fault llp_lost
//                             +--> dropped: follows a bad or lost one in its visit; not written
//
// 1. Items of a visit (qp_parse) are contiguous; the item with `last` finishes the QP
//    (VisitTogether_A).
// 2. In a visit each item starts at the index where the item before it ended (InTurn_A). So the
//    WQEs of a QP are issued in ring order.
// 3. This leaf owns the send state of a QP: next unit, window tail, messages and requests issued,
//    failed. The last issued WQE of a failed QP is the failed one (unless it is lost).
// 4. Responses of tpt come in the order of the items.
// 5. The barrier waits until qp_retire has taken `fail`.
//
// Throughput: 3 cycles per WQE of one body beat.
// Waits for tpt's response, for rdmap, and for qp_retire's and qp_sched's arbiters.
// Siblings: qp_parse, qp_retire, qp_pick.
// Bench: tb/qp/qp_test.cpp
`include "rnic_assert.svh"
`include "rnic_words.svh"

module qp_emit #(
  localparam int unsigned QpnW  = $clog2(rnic_pkg::NumQps),
  localparam int unsigned WinW  = $clog2(rnic_pkg::SqWindow) + 1,
  localparam int unsigned SlotW = $clog2(rnic_pkg::SqWindow),
  localparam int unsigned ItemW = `RNIC_QP_ITEM_W
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  // from qp_parse
  input  logic             item_valid_i,
  output logic             item_ready_o,
  input  logic [ItemW-1:0] item_i,
  input  logic             body_valid_i,
  output logic             body_ready_o,
  input  iwarp_pkg::beat_t body_i,
  // from tpt
  input  logic             wqe_check_rsp_valid_i,
  output logic             wqe_check_rsp_ready_o,
  input  iwarp_pkg::wqe_check_rsp_t wqe_check_rsp_i,
  // to qp_state: the barrier has passed; from qp_state: a QP is created
  output logic             barrier_done_o,
  input  logic             init_valid_i,
  output logic             init_ready_o,
  input  logic [QpnW-1:0]  init_qpn_i,
  // to all copies of the send state. Counts run free. At most SqSlots (up to 8) messages are with
  // ddp, and at most SqWindow (up to 64) requests are outstanding: differences of 5 and 7 bits hold
  // these numbers
  output logic             head_we_o,
  output logic [QpnW-1:0]  head_qpn_o,
  output logic [15:0]      head_index_o,    // ring index of the next unit to be issued
  output logic [WinW-1:0]  head_tail_o,     // tail of the window, one bit more than a slot
  output logic [4:0]       head_issued_o,   // messages handed to ddp
  output logic [6:0]       head_reads_o,    // requests issued, those to our own table too
  output logic             head_failed_o,   // a WQE has failed: no further one is issued
  output logic             head_after_key_o, // the last WQE was a registration or a bind
  // to qp_retire: window entry, failed WQE
  output logic             win_we_o,
  output logic [QpnW-1:0]  win_qpn_o,
  output logic [SlotW-1:0] win_slot_o,
  output logic [15:0]      win_after_o,     // ring index after the WQE
  // win_opcode_o: 0 Send, 1 Write, 2 Read, 3 Flush, 4 FetchAdd, 5 CmpSwap, 6 Atomic Write, 7 local
  // invalidation, 8 registration, 9 bind
  output logic [3:0]       win_opcode_o,
  output logic             win_signaled_o,
  output logic [31:0]      win_length_o,
  output logic             fail_valid_o,
  input  logic             fail_ready_i,
  output logic [QpnW-1:0]  fail_qpn_o,
  output logic [SlotW-1:0] fail_slot_o,
  output logic [7:0]       fail_status_o,
  // to qp_sched: the visit has ended; requeue: the QP may have more work
  output logic             finish_valid_o,
  input  logic             finish_ready_i,
  output logic             finish_requeue_o,
  output logic [QpnW-1:0]  finish_qpn_o,
  // to rdmap
  output logic             qp_fault_valid_o,
  input  logic             qp_fault_ready_i,
  output iwarp_pkg::qp_fault_t qp_fault_o,
  output logic             wqe_hdr_valid_o,
  input  logic             wqe_hdr_ready_i,
  output iwarp_pkg::wqe_hdr_t wqe_hdr_o,
  output logic             wqe_valid_o,
  input  logic             wqe_ready_i,
  output iwarp_pkg::beat_t wqe_o
);
  typedef enum logic [1:0] {
    StIdle,    // waits for an item and its response
    StHdr,     // wqe_hdr is offered
    StBody,    // offers its beats
    StDrop     // discards the beats of a WQE that failed
  } state_e;

  state_e      state_d, state_q;
  logic        barrier, last, none, asks, body, more;
  logic        drop, drop_q, writes, fire, good, lost,
               out_ready, fail_ready, fault_ready, finish_ready;
  iwarp_pkg::sq_wqe_t hdr;
  logic [QpnW-1:0] qpn;
  logic [15:0] head;
  logic [2:0]  units;
  logic [WinW-1:0] tail;
  logic [4:0]  issued;
  logic [6:0]  reads;
  logic [7:0]  status_bits;
  logic [7:0]  fail_status;
  // Fails that qp_retire has not taken. They are counted, since in the stall build fail_valid_o may
  // be low while u_fail holds one.
  logic [1:0]  fails;
  logic        is_read, is_flush, is_add, is_swap, is_store, is_linv, opens_key, is_bind,
               is_inline, is_solicited, answered, init;
  logic        unused_hdr;

  // The item. last: ends its visit; none: has no WQE; asks: a response of tpt comes; body: beats
  // follow; more: units behind this WQE are announced. status: WcSuccess, or why the WQE fails.
  // units: its length. head, tail, issued, reads: the send state before this WQE.
  assign {barrier, last, none, asks, body, more, status_bits, qpn, head, units, tail, issued, reads,
          hdr} = item_i;
  assign unused_hdr  = ^{hdr.ring, hdr.reserved2, hdr.disposition, hdr.reserved0, hdr.units};
  assign is_read     = hdr.opcode == iwarp_pkg::WrRdmaRead;
  assign is_flush    = hdr.opcode == iwarp_pkg::WrFlush;
  assign is_add      = hdr.opcode == iwarp_pkg::WrAtomicFetchAndAdd;
  assign is_swap     = hdr.opcode == iwarp_pkg::WrAtomicCmpAndSwp;
  assign is_store    = hdr.opcode == iwarp_pkg::WrAtomicWrite;
  assign is_linv     = hdr.opcode == iwarp_pkg::WrLocalInv;
  assign is_bind     = hdr.opcode == iwarp_pkg::WrBindMw;
  assign opens_key   = hdr.opcode == iwarp_pkg::WrRegMr || is_bind;
  assign is_inline    = (hdr.flags & iwarp_pkg::SqFlagInlineData) != '0;
  assign is_solicited = (hdr.flags & iwarp_pkg::SqFlagSolicited) != '0;
  // drop_q: a WQE before this one in its visit was not good.
  assign answered    = !asks || wqe_check_rsp_valid_i;
  assign drop        = drop_q || none;
  assign good        = !drop && status_bits == iwarp_pkg::WcSuccess &&
                       (!asks || wqe_check_rsp_i.result == iwarp_pkg::TptOk);
  assign lost        = !drop && status_bits == iwarp_pkg::WcWrFlushErr;
  assign fail_status = status_bits == iwarp_pkg::WcSuccess ? iwarp_pkg::WcLocProtErr : status_bits;
  assign out_ready   = finish_ready && (good || drop || (fail_ready && fault_ready));
  assign fire        = state_q == StIdle && item_valid_i && !barrier && answered && out_ready;
  assign item_ready_o          = fire || barrier_done_o;
  assign wqe_check_rsp_ready_o = fire && asks;
  assign barrier_done_o        = state_q == StIdle && item_valid_i && barrier && fails == '0;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StIdle: if (fire) state_d = good ? StHdr : body ? StDrop : StIdle;
      StHdr:  if (wqe_hdr_ready_i) state_d = StBody;
      StBody: if (body_valid_i && wqe_ready_i && body_i.last) state_d = StIdle;
      StDrop: if (body_valid_i && body_i.last) state_d = StIdle;
      default: state_d = StIdle;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      drop_q  <= 1'b0;
    end else begin
      state_q <= state_d;
      if (fire) drop_q <= !last && !good;
    end
  end

  iwarp_pkg::wqe_hdr_t wqe_hdr_q;
  always_ff @(posedge clk_i) begin
    if (fire) wqe_hdr_q <= {16'(qpn), 8'(tail[SlotW-1:0]), hdr.opcode, is_solicited, is_inline,
                            is_inline ? 4'd0 : hdr.num_sge, hdr.length, hdr.remote_address,
                            hdr.rkey, is_flush ? hdr.disposition[1:0] : 2'd0};
  end
  assign wqe_hdr_valid_o = state_q == StHdr;
  assign wqe_hdr_o       = wqe_hdr_q;
  assign wqe_valid_o     = state_q == StBody && body_valid_i;
  assign wqe_o           = body_i;
  assign body_ready_o    = state_q == StDrop || (state_q == StBody && wqe_ready_i);

  // Send state after this WQE, or of a new QP. A lost WQE does not advance it.
  assign writes        = fire && !drop;
  assign init_ready_o  = !fire;
  assign init          = init_valid_i && init_ready_o;
  assign head_we_o     = writes || init;
  assign head_qpn_o    = fire ? qpn : init_qpn_i;
  assign head_index_o  = fire ? head + (lost ? 16'd0 : 16'(units)) : '0;
  assign head_tail_o   = fire ? tail + WinW'(!lost) : '0;
  assign head_issued_o = fire ? issued + 5'(good && !is_linv && !opens_key) : '0;
  assign head_reads_o  = fire ? reads + 7'(good && (is_read || is_flush || is_add || is_swap ||
                                                    is_store || is_linv || opens_key))
                              : '0;
  assign head_failed_o = fire && !good;
  assign head_after_key_o = fire && good && opens_key;

  assign win_we_o       = writes && !lost;
  assign win_qpn_o      = qpn;
  assign win_slot_o     = tail[SlotW-1:0];
  assign win_after_o    = head + 16'(units);
  assign win_signaled_o = (hdr.flags & iwarp_pkg::SqFlagSignaled) != '0;
  assign win_length_o   = is_add || is_swap ? 32'd8 : hdr.length;
  always_comb begin
    win_opcode_o = 4'd0;
    if (hdr.opcode == iwarp_pkg::WrRdmaWrite ||
        hdr.opcode == iwarp_pkg::WrRdmaWriteWithImm)
                                              win_opcode_o = 4'd1;
    if (is_read)                              win_opcode_o = 4'd2;
    if (is_flush)                             win_opcode_o = 4'd3;
    if (is_add)                               win_opcode_o = 4'd4;
    if (is_swap)                              win_opcode_o = 4'd5;
    if (is_store)                             win_opcode_o = 4'd6;
    if (is_linv)                              win_opcode_o = 4'd7;
    if (opens_key)                            win_opcode_o = is_bind ? 4'd9 : 4'd8;
  end

  stream_reg #(.Width(QpnW + 1)) u_finish (
    .clk_i, .rst_ni, .valid_i(fire && last), .ready_o(finish_ready),
    .data_i({(good || (none && !drop_q)) && more, qpn}),
    .valid_o(finish_valid_o), .ready_i(finish_ready_i), .data_o({finish_requeue_o, finish_qpn_o})
  );

  stream_fifo #(.Width(QpnW + SlotW + 8), .Depth(2)) u_fail (
    .clk_i, .rst_ni, .valid_i(writes && !good && !lost), .ready_o(fail_ready),
    .data_i({qpn, tail[SlotW-1:0], fail_status}),
    .valid_o(fail_valid_o), .ready_i(fail_ready_i),
    .data_o({fail_qpn_o, fail_slot_o, fail_status_o}),
    .count_o(fails)
  );

  iwarp_pkg::qp_fault_t fault_in;
  assign fault_in = {16'(qpn), lost ? iwarp_pkg::CauseLlpLost : iwarp_pkg::CauseLocalCatastrophic};
  stream_reg #(.Width(iwarp_pkg::QpFaultWidth)) u_fault (
    .clk_i, .rst_ni, .valid_i(writes && !good), .ready_o(fault_ready), .data_i(fault_in),
    .valid_o(qp_fault_valid_o), .ready_i(qp_fault_ready_i), .data_o(qp_fault_o)
  );

  // For the assertions: the current visit, and the index and tail of its next WQE.
  logic             visit_q;
  logic [QpnW-1:0]  visit_qpn_q;
  logic [15:0]      visit_head_q;
  logic [WinW-1:0]  visit_tail_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni)   visit_q <= 1'b0;
    else if (fire) visit_q <= !last;
    if (fire) {visit_qpn_q, visit_head_q, visit_tail_q} <= {qpn, head + 16'(units), tail + 1'b1};
  end
  `RNIC_COVER(RestOfVisitDropped_C, fire && drop_q)
  `RNIC_ASSERT(VisitTogether_A, !(item_valid_i && visit_q) || (!barrier && qpn == visit_qpn_q))
  `RNIC_ASSERT(InTurn_A, !(item_valid_i && visit_q) ||
                         (head == visit_head_q && tail == visit_tail_q))
  `RNIC_STREAM_STABLE(HdrStable_A, wqe_hdr_valid_o, wqe_hdr_ready_i, wqe_hdr_o)
  `RNIC_STREAM_STABLE(WqeStable_A, wqe_valid_o, wqe_ready_i, wqe_o)

  // Simulation only: commit trace (architecture 10)
  iwarp_pkg::qp_issue_commit_t tap_qp_issue /*verilator public_flat_rd*/;
  assign tap_qp_issue = {fire && (!drop || asks), 16'(qpn), drop};
endmodule

// qp_retire: the window of issued WQEs: retires them in order, writes completions, flushes.
//
//   wr_done, rx_done, res_done, fail, flush, req --> [ arb ] --> [ ops ] --> pass
//
//   pass  0 address     1 tables         2 step             3 result
//         context  ---> forward the ---> qp_retire_step ---> context, ret_*, rsp
//         CQs, window   pass before          |   |           qp_retire_kick ---> kick
//           ^                                |   +---------> qp_retire_cqe ----> cqe_req
//           +-------------- next pass -------+
//
// An operation is one pass, plus one for each further WQE that it retires or flushes.
// The window of a QP is a ring of SqWindow entries, one for each issued WQE that has not retired; a
// slot is an index into it. qp_emit writes an entry and advances the tail; this leaf advances the
// head. A pass reads the tables of its QP and one entry. It has at most one CQE and one kick.
//
// 1. Operations take effect one after the other: the next pass of an operation goes before the next
//    operation.
// 2. A pass starts at most every other cycle. Its context is forwarded from the pass before, in
//    stage 3 (s1_hit_q), or read from the table, which stage 3 has written by then. So passes on
//    one QP follow each other as fast as passes on many.
// 3. A pass starts only with room for its CQE and its kick, counting the passes in flight. So no
//    stage stalls (CqeHasRoom_A, KickHasRoom_A).
// 4. A request of qp_state (`look`, `mark`, `flush`) takes effect after everything that this leaf
//    has taken before it. A unit acknowledges a stop or sync, and llp_if sends an event, only after
//    this leaf has taken the unit's wr_done, rx_done and res_done. qp_emit and qp_pick hold a
//    barrier until their own operation is taken (fail, flush). So correctness depends on the depth
//    of no queue.
// 5. rsp comes after the last CQE before it has entered cq. A command that cq gets later therefore
//    follows all of them.
//
// Latency: wr_done or rx_done to cqe_req 4 cycles (ops; stages 1, 2; FIFO of qp_retire_cqe), to
// ret_* 4, to kick 6.
// Throughput: 2 cycles per operation, 2 more for each further WQE that a done retires. A flush
// takes at most 8 passes (qp_retire_step) of 3 cycles each.
// Waits for cq (cqe_req) and qp_sched (kick). llp_if, ddp, rdmap, qp_emit, qp_pick and qp_state
// wait for this leaf.
// Leaves: qp_retire_step, qp_retire_cqe, qp_retire_kick.
// Bench: tb/qp/qp_retire_test.cpp
`include "rnic_assert.svh"
`include "rnic_words.svh"

module qp_retire #(
  localparam int unsigned QpnW  = $clog2(rnic_pkg::NumQps),
  localparam int unsigned WinW  = $clog2(rnic_pkg::SqWindow) + 1,
  localparam int unsigned SlotW = $clog2(rnic_pkg::SqWindow)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  // from llp_if and ddp
  input  logic             wr_done_valid_i,
  output logic             wr_done_ready_o,
  input  iwarp_pkg::wr_done_t wr_done_i,
  input  logic             rx_done_valid_i,
  output logic             rx_done_ready_o,
  input  iwarp_pkg::rx_done_t rx_done_i,
  // from rdmap
  input  logic             res_done_valid_i,
  output logic             res_done_ready_o,
  input  iwarp_pkg::res_done_t res_done_i,
  // from qp_emit: a WQE that failed by itself; a window entry (win_*); the send state (head_*)
  input  logic             fail_valid_i,
  output logic             fail_ready_o,
  input  logic [QpnW-1:0]  fail_qpn_i,
  input  logic [SlotW-1:0] fail_slot_i,
  input  logic [7:0]       fail_status_i,
  input  logic             win_we_i,
  input  logic [QpnW-1:0]  win_qpn_i,
  input  logic [SlotW-1:0] win_slot_i,
  input  logic [15:0]      win_after_i,    // ring index after the WQE
  input  logic [3:0]       win_opcode_i,   // numbers of qp_emit, which qp_retire_cqe translates
  input  logic             win_signaled_i,
  input  logic [31:0]      win_length_i,
  input  logic             head_we_i,
  input  logic [QpnW-1:0]  head_qpn_i,
  input  logic [WinW-1:0]  head_tail_i,
  input  logic [6:0]       head_reads_i,   // requests issued, modulo 128
  // from qp_pick: flush the posted WQEs
  input  logic             flush_valid_i,
  output logic             flush_ready_o,
  input  logic [QpnW-1:0]  flush_qpn_i,
  // from and to qp_state: 0 look, 1 mark (the request in slot has failed with status), 2 flush;
  // each gets a response
  input  logic             req_valid_i,
  output logic             req_ready_o,
  input  logic [1:0]       req_op_i,
  input  logic [QpnW-1:0]  req_qpn_i,
  input  logic [SlotW-1:0] req_slot_i,
  input  logic [7:0]       req_status_i,
  output logic             rsp_valid_o,
  output logic [15:0]      rsp_sq_o,       // ring index after the last WQE retired
  output logic [15:0]      rsp_rq_o,       // ring index after the last receive WQE retired
  output logic             rsp_empty_o,    // all posted send WQEs are retired
  // rsp_reads_o: requests are outstanding: Read, Flush, atomic, Atomic Write, local invalidation,
  // registration or bind
  output logic             rsp_reads_o,
  // from qp_state: a QP is created
  input  logic             init_valid_i,
  output logic             init_ready_o,
  input  logic [QpnW-1:0]  init_qpn_i,
  input  logic [15:0]      init_send_cq_i,
  input  logic [15:0]      init_recv_cq_i,
  input  logic             init_has_srq_i,
  // from qp_doorbell
  input  logic             prod_sq_we_i,
  input  logic             prod_rq_we_i,
  input  logic [QpnW-1:0]  prod_qpn_i,
  input  logic [15:0]      prod_index_i,
  // from qp_state: the QP is closing
  input  logic             st_we_i,
  input  logic [QpnW-1:0]  st_qpn_i,
  input  logic             st_watch_i,
  // to qp_pick and qp_doorbell
  output logic             ret_we_o,
  output logic [QpnW-1:0]  ret_qpn_o,
  output logic [15:0]      ret_sq_o,
  output logic [15:0]      ret_rq_o,
  output logic [WinW-1:0]  ret_head_o,
  output logic [6:0]       ret_reads_o,
  // to qp_sched
  output logic             kick_valid_o,
  input  logic             kick_ready_i,
  output logic [QpnW-1:0]  kick_qpn_o,
  // to cq
  output logic             cqe_req_valid_o,
  input  logic             cqe_req_ready_i,
  output iwarp_pkg::cqe_req_t cqe_req_o,
  output logic             cqe_given_o
);
  // --- the queue of operations
  // An operation: {kind 3, qpn, slot, status 8, index 16, byte_len 32, solicited 1; 66 of has_inv,
  // has_imm and imm}. Only an rx_done uses the last 67 bits.
  localparam int unsigned OpW  = 3 + QpnW + SlotW + 8 + 16 + 32 + 1 + 66;
  localparam int unsigned CtxW = `RNIC_QP_RETIRED_W;
  localparam int unsigned WinEntryW = 16 + 4 + 1 + 32;   // win_after_i to win_length_i
  // OpDone: wr_done. OpRead: rx_done of a Read, or res_done. OpRecv: rx_done of a receive. OpOwn:
  // fail. OpLook, OpMark, OpFlushRsp: req, which gets a response. OpFlush: flush.
  localparam logic [2:0] OpDone = 3'd0, OpRead = 3'd1, OpRecv = 3'd2, OpOwn = 3'd3, OpLook = 3'd4,
                         OpMark = 3'd5, OpFlushRsp = 3'd6, OpFlush = 3'd7;
  localparam logic [2:0] First = 3'd0, Next = 3'd1;   // passes; qp_retire_step has the others

  logic [OpW-1:0] op_wr, op_rx, op_res, op_fail, op_flush, op_req, op_arb, op;
  logic           arb_valid, arb_ready, op_valid, op_take, unused_rx;
  logic [2:0]     unused_index, req_kind;
  logic [$clog2(rnic_pkg::FifoDepth + 1)-1:0] unused_ops;

  always_comb begin
    req_kind = OpLook;
    if (req_op_i == 2'd1) req_kind = OpMark;
    if (req_op_i == 2'd2) req_kind = OpFlushRsp;
  end
  assign op_wr    = {OpDone, wr_done_i.qpn[QpnW-1:0], wr_done_i.slot[SlotW-1:0], 8'd0, 16'd0, 32'd0,
                     67'd0};
  assign op_rx    = {rx_done_i.kind == iwarp_pkg::DelRead ? OpRead : OpRecv,
                     rx_done_i.qpn[QpnW-1:0], rx_done_i.slot[SlotW-1:0], rx_done_i.status,
                     rx_done_i.index, rx_done_i.byte_len, rx_done_i.solicited,
                     rx_done_i.kind == iwarp_pkg::DelInvalidate,
                     rx_done_i.kind == iwarp_pkg::DelImmediate, rx_done_i.immediate};
  assign op_res   = {OpRead, res_done_i.qpn[QpnW-1:0], res_done_i.slot[SlotW-1:0],
                     iwarp_pkg::WcSuccess, 16'd0, 32'd0, 67'd0};
  assign op_fail  = {OpOwn, fail_qpn_i, fail_slot_i, fail_status_i, 16'd0, 32'd0, 67'd0};
  assign op_flush = {OpFlush, flush_qpn_i, {SlotW{1'b0}}, 8'd0, 16'd0, 32'd0, 67'd0};
  assign op_req   = {req_kind, req_qpn_i, req_slot_i, req_status_i, 16'd0, 32'd0, 67'd0};
  assign unused_rx = ^{wr_done_i.slot, wr_done_i.qpn, rx_done_i.qpn, rx_done_i.slot, res_done_i};

  stream_arb #(.Width(OpW), .N(6)) u_arb (
    .clk_i, .rst_ni,
    .valid_i({req_valid_i, flush_valid_i, fail_valid_i,
              res_done_valid_i, rx_done_valid_i, wr_done_valid_i}),
    .ready_o({req_ready_o, flush_ready_o, fail_ready_o,
              res_done_ready_o, rx_done_ready_o, wr_done_ready_o}),
    .data_i({op_req, op_flush, op_fail, op_res, op_rx, op_wr}),
    .valid_o(arb_valid), .ready_i(arb_ready), .data_o(op_arb), .index_o(unused_index)
  );
  stream_fifo #(.Width(OpW), .Depth(rnic_pkg::FifoDepth)) u_ops (
    .clk_i, .rst_ni, .valid_i(arb_valid), .ready_o(arb_ready), .data_i(op_arb),
    .valid_o(op_valid), .ready_i(op_take), .data_o(op), .count_o(unused_ops)
  );

  // --- 0: choose the pass, address the tables. s1_, s2_, s3_: a pass in that stage.
  logic             s1_valid_q, s2_valid_q, s3_valid_q;
  logic             may, next, more, again, again_q, start, start_again, init;
  logic [OpW-1:0]   start_op, s1_op_q, s2_op_q;
  logic [2:0]       start_pass, s1_pass_q, s2_pass_q, more_pass, again_pass_q;
  logic [SlotW-1:0] start_slot, s1_slot_q, s2_slot_q, s2_next_q, more_slot, again_slot_q;
  logic [QpnW-1:0]  start_qpn, s2_qpn, s3_qpn_q;
  logic             s1_hit_q;
  logic [2:0]       cqe_count, kick_count;

  // Room (invariant 3): either FIFO has 4 entries. CQEs that are not counted yet: that of this
  // pass, and of one in stage 2. So 2 may be counted. Kicks: that of this pass, and of two passes
  // in stages 2, 3 and qp_retire_kick. So 1 may be counted.
  // again: the pass in stage 2 has a further pass, of a done (next) or of a flush (more). again_q:
  // that pass has not started yet.
  assign may         = !s1_valid_q && cqe_count <= 3'd2 && kick_count <= 3'd1;
  assign again       = s2_valid_q && (next || more);
  assign start_again = may && (again_q || (s2_valid_q && next));
  assign op_take     = may && op_valid && !again && !again_q && !init_valid_i;
  assign start       = start_again || op_take;
  assign start_op    = op_take ? op : s2_op_q;
  assign start_qpn   = start_op[OpW-4 -: QpnW];
  assign start_pass  = op_take ? First : again_q ? again_pass_q : Next;
  assign start_slot  = op_take ? op[OpW-4-QpnW -: SlotW] : again_q ? again_slot_q : s2_next_q;

  // A new QP's tables are written while no pass is in flight.
  assign init_ready_o = !s1_valid_q && !s2_valid_q && !s3_valid_q && !again_q;
  assign init         = init_valid_i && init_ready_o;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      s1_valid_q <= 1'b0;
      s2_valid_q <= 1'b0;
      s3_valid_q <= 1'b0;
      again_q    <= 1'b0;
    end else begin
      s1_valid_q <= start;
      s2_valid_q <= s1_valid_q;
      s3_valid_q <= s2_valid_q;
      again_q    <= (again_q || again) && !start_again;
    end
  end
  always_ff @(posedge clk_i) begin
    if (again) {again_pass_q, again_slot_q} <= more ? {more_pass, more_slot} : {Next, s2_next_q};
    if (start) begin
      s1_op_q   <= start_op;
      s1_pass_q <= start_pass;
      s1_slot_q <= start_slot;
      s1_hit_q  <= (s2_valid_q && start_qpn == s2_qpn) || (s3_valid_q && start_qpn == s3_qpn_q);
    end
  end

  // --- tables
  typedef `RNIC_QP_RETIRED_T row_t;
  logic [CtxW-1:0]      ctx_ram, s2_ctx_q, s3_ctx_q, ctx_new;
  row_t                 s2_row, s3_row;
  assign s2_row = s2_ctx_q;
  assign s3_row = s3_ctx_q;
  if ($bits(s2_row) != CtxW) $fatal(1, "qp_retire %m: widths of rnic_words.svh");
  logic [WinEntryW-1:0] win_ram, s2_win_q;
  logic [31:0]          s2_cq_q;
  logic [32:0]          cq_ram;      // {has an SRQ, send CQ, receive CQ}
  logic                 s2_has_srq_q;
  logic [15:0]          prod_sq_ram, prod_rq_ram, s2_prod_sq_q, s2_prod_rq_q;
  logic [WinW+6:0]      tail_ram, s2_tail_q;

  ram_1r1w #(.Width(CtxW), .Depth(rnic_pkg::NumQps)) u_ctx (
    .clk_i, .rst_ni, .we_i(init || s3_valid_q), .waddr_i(init ? init_qpn_i : s3_qpn_q),
    .wdata_i(init ? '0 : s3_ctx_q),
    .re_i(start), .raddr_i(start_qpn), .rdata_o(ctx_ram)
  );
  ram_1r1w #(.Width(33), .Depth(rnic_pkg::NumQps)) u_cqs (
    .clk_i, .rst_ni, .we_i(init), .waddr_i(init_qpn_i),
    .wdata_i({init_has_srq_i, init_send_cq_i, init_recv_cq_i}),
    .re_i(start), .raddr_i(start_qpn), .rdata_o(cq_ram)
  );
  // Above 1024 words a read takes 2 cycles: the RAM's output and s2_win_q.
  ram_1r1w #(.Width(WinEntryW), .Depth(rnic_pkg::NumQps * rnic_pkg::SqWindow)) u_window (
    .clk_i, .rst_ni, .we_i(win_we_i), .waddr_i({win_qpn_i, win_slot_i}),
    .wdata_i({win_after_i, win_opcode_i, win_signaled_i, win_length_i}),
    .re_i(start), .raddr_i({start_qpn, start_slot}), .rdata_o(win_ram)
  );
  ram_1r1w #(.Width(16), .Depth(rnic_pkg::NumQps)) u_prod_sq (
    .clk_i, .rst_ni, .we_i(prod_sq_we_i), .waddr_i(prod_qpn_i), .wdata_i(prod_index_i),
    .re_i(start), .raddr_i(start_qpn), .rdata_o(prod_sq_ram)
  );
  ram_1r1w #(.Width(16), .Depth(rnic_pkg::NumQps)) u_prod_rq (
    .clk_i, .rst_ni, .we_i(prod_rq_we_i), .waddr_i(prod_qpn_i), .wdata_i(prod_index_i),
    .re_i(start), .raddr_i(start_qpn), .rdata_o(prod_rq_ram)
  );
  ram_1r1w #(.Width(WinW + 7), .Depth(rnic_pkg::NumQps)) u_tail (
    .clk_i, .rst_ni, .we_i(head_we_i), .waddr_i(head_qpn_i), .wdata_i({head_tail_i, head_reads_i}),
    .re_i(start), .raddr_i(start_qpn), .rdata_o(tail_ram)
  );
  // --- 1: the tables' words arrive
  always_ff @(posedge clk_i) begin
    if (s1_valid_q) begin
      s2_op_q   <= s1_op_q;
      s2_pass_q <= s1_pass_q;
      s2_slot_q <= s1_slot_q;
      s2_next_q <= s1_slot_q + 1'b1;
      s2_ctx_q  <= s1_hit_q ? s3_ctx_q : ctx_ram;
      s2_win_q  <= win_ram;
      {s2_has_srq_q, s2_cq_q} <= cq_ram;
      s2_tail_q <= tail_ram;
      s2_prod_sq_q <= prod_sq_ram;
      s2_prod_rq_q <= prod_rq_ram;
    end
  end

  // --- 2: the step
  logic [2:0]       kind;
  logic [SlotW-1:0] unused_slot;
  logic [7:0]       status, put_status;
  logic [15:0]      index, put_index, win_after;
  logic [31:0]      byte_len, win_length;
  logic [3:0]       win_opcode;
  logic             solicited, has_inv, has_imm, win_signaled, ended;
  logic [63:0]      imm;
  logic             put_own, put_flush_sq, put_recv, put_flush_rq;

  assign {kind, s2_qpn, unused_slot, status, index, byte_len, solicited,
          has_inv, has_imm, imm} = s2_op_q;
  assign {win_after, win_opcode, win_signaled, win_length} = s2_win_q;

  qp_retire_step u_step (
    .kind_i(kind), .pass_i(s2_pass_q), .slot_i(s2_slot_q), .next_slot_i(s2_next_q),
    .status_i(status), .index_i(index), .ctx_i(s2_ctx_q), .win_after_i(win_after),
    .win_signaled_i(win_signaled), .tail_i(s2_tail_q[WinW+6:7]),
    .prod_sq_i(s2_prod_sq_q), .prod_rq_i(s2_prod_rq_q),
    .has_srq_i(s2_has_srq_q), .ctx_o(ctx_new), .ended_o(ended),
    .put_own_o(put_own), .put_flush_sq_o(put_flush_sq), .put_recv_o(put_recv),
    .put_flush_rq_o(put_flush_rq), .put_index_o(put_index), .put_status_o(put_status),
    .next_o(next), .more_o(more), .more_pass_o(more_pass), .more_slot_o(more_slot)
  );

  qp_retire_cqe u_cqe (
    .clk_i, .rst_ni, .put_own_i(s2_valid_q && put_own), .put_flush_sq_i(s2_valid_q && put_flush_sq),
    .put_recv_i(s2_valid_q && put_recv), .put_flush_rq_i(s2_valid_q && put_flush_rq),
    .qpn_i(s2_qpn), .send_cq_i(s2_cq_q[31:16]), .recv_cq_i(s2_cq_q[15:0]), .index_i(put_index),
    .status_i(put_status), .win_opcode_i(win_opcode), .win_length_i(win_length),
    .byte_len_i(byte_len), .solicited_i(solicited), .has_inv_i(has_inv), .has_imm_i(has_imm),
    .imm_i(imm), .count_o(cqe_count),
    .cqe_req_valid_o, .cqe_req_ready_i, .cqe_req_o, .cqe_given_o
  );

  // --- 3: the result is written and broadcast
  logic            s3_ended_q, s3_read_q, s3_asked_q;
  logic [15:0]     s3_prod_sq_q;
  logic [WinW-1:0] s3_old_head_q;
  logic [6:0]      s3_issued_q;
  logic            unused_ctx;

  always_ff @(posedge clk_i) begin
    if (s2_valid_q) begin
      s3_qpn_q      <= s2_qpn;
      s3_ctx_q      <= ctx_new;
      s3_ended_q    <= ended;
      s3_read_q     <= kind == OpRead;
      s3_asked_q    <= kind == OpLook || kind == OpMark || (kind == OpFlushRsp && !more);
      s3_old_head_q <= s2_row.head;
      s3_prod_sq_q  <= s2_prod_sq_q;
      s3_issued_q   <= s2_tail_q[6:0];
    end
  end
  assign unused_ctx = ^{s2_row, s3_row};

  assign ret_we_o    = init || s3_valid_q;
  assign ret_qpn_o   = init ? init_qpn_i : s3_qpn_q;
  assign {ret_sq_o, ret_rq_o, ret_head_o, ret_reads_o} =
    init ? '0 : {s3_row.sq, s3_row.rq, s3_row.head, s3_row.reads};

  // The response to qp_state waits for the CQEs that were put before it (invariant 5).
  logic        rsp_q, cqe_taken, asked;
  logic [2:0]  rsp_behind_q;   // CQEs in front of the response
  logic [33:0] rsp_data_q;
  assign asked       = s3_valid_q && s3_asked_q;
  assign cqe_taken   = cqe_req_valid_o && cqe_req_ready_i;
  assign rsp_valid_o = rsp_q && rsp_behind_q == '0;
  assign {rsp_sq_o, rsp_rq_o, rsp_empty_o, rsp_reads_o} = rsp_data_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) rsp_q <= 1'b0;
    else         rsp_q <= asked || (rsp_q && !rsp_valid_o);
  end
  always_ff @(posedge clk_i) begin
    rsp_behind_q <= (asked ? cqe_count : rsp_behind_q) -
                    3'(cqe_taken && (asked || rsp_behind_q != '0));
    if (asked)
      rsp_data_q <= {s3_row.sq, s3_row.rq, s3_row.sq == s3_prod_sq_q, s3_row.reads != s3_issued_q};
  end

  qp_retire_kick u_kick (
    .clk_i, .rst_ni, .ended_i(s3_valid_q && s3_ended_q), .qpn_i(s3_qpn_q), .is_read_i(s3_read_q),
    .old_head_i(s3_old_head_q), .sq_i(s3_row.sq), .count_o(kick_count),
    .head_we_i, .head_qpn_i, .head_tail_i,
    .prod_we_i(prod_sq_we_i), .prod_qpn_i, .prod_index_i,
    .st_we_i, .st_qpn_i, .st_watch_i,
    .kick_valid_o, .kick_ready_i, .kick_qpn_o
  );

  `RNIC_ASSERT(KindKnown_A, !(rx_done_valid_i && rx_done_ready_o) ||
                            rx_done_i.kind == iwarp_pkg::DelRead ||
                            rx_done_i.kind == iwarp_pkg::DelRecv ||
                            rx_done_i.kind == iwarp_pkg::DelImmediate ||
                            rx_done_i.kind == iwarp_pkg::DelInvalidate)
  // ddp reports receives in the order in which it took them, and reports none after its first
  // error. Those of an SRQ have tags.
  `RNIC_ASSERT(RecvInOrder_A, !(s2_valid_q && kind == OpRecv) || s2_has_srq_q || index == s2_row.rq)
  logic s1_new_q, s2_new_q;   // an operation begins
  always_ff @(posedge clk_i) {s2_new_q, s1_new_q} <= {s1_new_q, op_take};
  `RNIC_ASSERT(HeadNotDone_A, !(s2_valid_q && s2_new_q) ||
                              s2_row.head == s2_tail_q[WinW+6:7] ||
                              !s2_row.done[s2_row.head[SlotW-1:0]])
  `RNIC_ASSERT(OneAsked_A, !(asked && rsp_q))

  // Simulation only: commit trace (architecture 10)
  iwarp_pkg::qp_retire_commit_t tap_qp_retire /*verilator public_flat_rd*/;
  assign tap_qp_retire = {op_take, op[OpW-1 -: 3], 16'(start_qpn), 8'(start_slot)};
endmodule

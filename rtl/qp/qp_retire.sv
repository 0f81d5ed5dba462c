// qp_retire: the window of issued WQEs, in-order retirement, completions, flush.
//
// Everything that ends something comes through one queue, so that what qp_state asks (look, mark, flush) stands behind all that
// was reported before it. It also goes behind what still stands at the other doors when it comes (4 in llp_if, 2 in ddp,
// qp_emit, qp_pick): each of them has been empty once since, or 8 have come in through it.
//
//   wr_done, rx_done, fail (qp_emit), flush (qp_pick) --+------------------> [ arb ] --> [ ops ] --> state machine
//   qp_state ------------------------> [ behind the doors ] -----------------^
//   window entries (qp_emit) --> [ window ] --------------------------------------------------------^  |
//   cqe_req <-- [ fifo ] <-- ret_* (copies), kick (qp_sched), rsp (qp_state) <-----------------------------+
//
// A done WQE at the head of the window retires, with a CQE if signalled, and so do done ones behind it. Flush: done WQEs
// retire up to the first that is not; from there a WQE with an error of its own gets its own entry, the others are covered
// by wr_flush_err entries in front of it and up to the producer index; then the receive queue. The same operation, with an
// empty window, serves doorbells in state error: it writes an entry for what is new.
//
// 4 cycles a done in order, 2 more for each further WQE it lets retire. An operation goes on only while its CQE has a
// place: waits for cq (cqe_req) and for qp_sched. Who waits for this one: llp_if, ddp, qp_emit, qp_pick, qp_state.
`include "rnic_assert.svh"

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
  // from qp_emit
  input  logic             fail_valid_i,
  output logic             fail_ready_o,
  input  logic [QpnW-1:0]  fail_qpn_i,
  input  logic [SlotW-1:0] fail_slot_i,
  input  logic [7:0]       fail_status_i,
  input  logic             win_we_i,
  input  logic [QpnW-1:0]  win_qpn_i,
  input  logic [SlotW-1:0] win_slot_i,
  input  logic [15:0]      win_after_i,
  input  logic [1:0]       win_opcode_i,
  input  logic             win_signaled_i,
  input  logic [31:0]      win_length_i,
  input  logic             head_we_i,
  input  logic [QpnW-1:0]  head_qpn_i,
  input  logic [WinW-1:0]  head_tail_i,
  input  logic [6:0]       head_reads_i,
  // from qp_pick: flush what is posted
  input  logic             flush_valid_i,
  output logic             flush_ready_o,
  input  logic [QpnW-1:0]  flush_qpn_i,
  // from and to qp_state: 0 look, 1 the request in slot has failed with status, 2 flush; each is answered
  input  logic             req_valid_i,
  output logic             req_ready_o,
  input  logic [1:0]       req_op_i,
  input  logic [QpnW-1:0]  req_qpn_i,
  input  logic [SlotW-1:0] req_slot_i,
  input  logic [7:0]       req_status_i,
  output logic             rsp_valid_o,
  output logic [15:0]      rsp_sq_o,
  output logic [15:0]      rsp_rq_o,
  output logic             rsp_empty_o,    // all posted send WQEs are retired
  output logic             rsp_reads_o,    // Reads are outstanding
  // from qp_state: a QP is created
  input  logic             init_valid_i,
  output logic             init_ready_o,
  input  logic [QpnW-1:0]  init_qpn_i,
  input  logic [15:0]      init_send_cq_i,
  input  logic [15:0]      init_recv_cq_i,
  // from qp_doorbell
  input  logic             prod_sq_we_i,
  input  logic             prod_rq_we_i,
  input  logic [QpnW-1:0]  prod_qpn_i,
  input  logic [15:0]      prod_index_i,
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
  output iwarp_pkg::cqe_req_t cqe_req_o
);
  // --- the queue of operations
  localparam int unsigned OpW  = 3 + QpnW + SlotW + 8 + 16 + 32 + 1;
  localparam int unsigned CtxW = 16 + 16 + WinW + 7 + 1 + SlotW + 8 + 1 + SlotW + 8 + rnic_pkg::SqWindow;
  localparam logic [2:0] OpDone = 3'd0, OpRead = 3'd1, OpRecv = 3'd2, OpOwn = 3'd3, OpLook = 3'd4, OpMark = 3'd5,
                         OpFlushRsp = 3'd6, OpFlush = 3'd7;

  logic [OpW-1:0]  op_wr, op_rx, op_fail, op_flush, op_req, op_arb, op;
  logic            arb_valid, arb_ready, op_valid, op_take;
  logic [2:0]      unused_index, req_kind, kind;
  logic [QpnW-1:0] qpn;
  logic [SlotW-1:0] slot;
  logic [7:0]      status;
  logic [15:0]     index;
  logic [31:0]     byte_len;
  logic            solicited, unused_rx;
  localparam int unsigned CountW = $clog2(rnic_pkg::FifoDepth + 1);
  logic [CountW-1:0] unused_ops;

  always_comb begin
    req_kind = OpLook;
    if (req_op_i == 2'd1) req_kind = OpMark;
    if (req_op_i == 2'd2) req_kind = OpFlushRsp;
  end
  assign op_wr    = {OpDone, wr_done_i.qpn[QpnW-1:0], wr_done_i.slot[SlotW-1:0], 8'd0, 16'd0, 32'd0, 1'b0};
  assign op_rx    = {rx_done_i.kind == iwarp_pkg::DelRead ? OpRead : OpRecv, rx_done_i.qpn[QpnW-1:0],
                     rx_done_i.slot[SlotW-1:0], rx_done_i.status, rx_done_i.index, rx_done_i.byte_len,
                     rx_done_i.solicited};
  assign op_fail  = {OpOwn, fail_qpn_i, fail_slot_i, fail_status_i, 16'd0, 32'd0, 1'b0};
  assign op_flush = {OpFlush, flush_qpn_i, {SlotW{1'b0}}, 8'd0, 16'd0, 32'd0, 1'b0};
  assign op_req   = {req_kind, req_qpn_i, req_slot_i, req_status_i, 16'd0, 32'd0, 1'b0};
  assign unused_rx = ^{wr_done_i.slot, wr_done_i.qpn, rx_done_i.qpn, rx_done_i.slot};

  logic [3:0]  door_valid, door_taken, passed_q;
  logic [15:0] passes_q;
  logic        req_go;
  assign door_valid = {flush_valid_i, fail_valid_i, rx_done_valid_i, wr_done_valid_i};
  assign door_taken = door_valid & {flush_ready_o, fail_ready_o, rx_done_ready_o, wr_done_ready_o};
  assign req_go     = req_valid_i && passed_q == '1;
  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < 4; i++) begin
      passed_q[i]        <= req_valid_i && !req_ready_o && (passed_q[i] || !door_valid[i] || passes_q[4*i+3]);
      passes_q[4*i +: 4] <= req_valid_i ? passes_q[4*i +: 4] + 4'(door_taken[i] && !passes_q[4*i+3]) : 4'd0;
    end
  end

  stream_arb #(.Width(OpW), .N(5)) u_arb (
    .clk_i, .rst_ni,
    .valid_i({req_go, flush_valid_i, fail_valid_i, rx_done_valid_i, wr_done_valid_i}),
    .ready_o({req_ready_o, flush_ready_o, fail_ready_o, rx_done_ready_o, wr_done_ready_o}),
    .data_i({op_req, op_flush, op_fail, op_rx, op_wr}),
    .valid_o(arb_valid), .ready_i(arb_ready), .data_o(op_arb), .index_o(unused_index)
  );
  stream_fifo #(.Width(OpW), .Depth(rnic_pkg::FifoDepth)) u_ops (
    .clk_i, .rst_ni, .valid_i(arb_valid), .ready_o(arb_ready), .data_i(op_arb),
    .valid_o(op_valid), .ready_i(op_take), .data_o(op), .count_o(unused_ops)
  );
  assign {kind, qpn, slot, status, index, byte_len, solicited} = op;

  // --- tables
  typedef enum logic [2:0] {
    StIdle,    // reads the tables for the next operation; a new QP is written
    StLoad,    // they are there: into registers, with the operation's own change
    StRecv,    // a receive's completion
    StHead,    // reads the window entry at the head
    StRetire,  // it is there: retires, or is flushed, or ends the walk
    StSqEnd,   // flush: the rest of the send queue
    StRqEnd,   // flush: the rest of the receive queue
    StSave     // writes back, answers, kicks
  } state_e;

  state_e           state_d, state_q;
  logic             init, table_re, win_re, ctx_we, cqe_room;
  logic [CtxW-1:0]  ctx_ram, ctx_wdata;
  logic [50:0]      win_ram;
  logic [31:0]      cq_ram;
  logic [15:0]      prod_sq_ram, prod_rq_ram;
  logic [WinW+6:0]  tail_ram;

  assign table_re = state_q == StIdle && op_valid && !init_valid_i;
  assign init     = state_q == StIdle && init_valid_i;
  assign init_ready_o = state_q == StIdle;

  ram_1r1w #(.Width(CtxW), .Depth(rnic_pkg::NumQps)) u_ctx (
    .clk_i, .rst_ni, .we_i(ctx_we), .waddr_i(init ? init_qpn_i : qpn), .wdata_i(ctx_wdata),
    .re_i(table_re), .raddr_i(qpn), .rdata_o(ctx_ram)
  );
  ram_1r1w #(.Width(32), .Depth(rnic_pkg::NumQps)) u_cqs (
    .clk_i, .rst_ni, .we_i(init), .waddr_i(init_qpn_i), .wdata_i({init_send_cq_i, init_recv_cq_i}),
    .re_i(table_re), .raddr_i(qpn), .rdata_o(cq_ram)
  );
  ram_1r1w #(.Width(16), .Depth(rnic_pkg::NumQps)) u_prod_sq (
    .clk_i, .rst_ni, .we_i(prod_sq_we_i), .waddr_i(prod_qpn_i), .wdata_i(prod_index_i),
    .re_i(table_re), .raddr_i(qpn), .rdata_o(prod_sq_ram)
  );
  ram_1r1w #(.Width(16), .Depth(rnic_pkg::NumQps)) u_prod_rq (
    .clk_i, .rst_ni, .we_i(prod_rq_we_i), .waddr_i(prod_qpn_i), .wdata_i(prod_index_i),
    .re_i(table_re), .raddr_i(qpn), .rdata_o(prod_rq_ram)
  );
  ram_1r1w #(.Width(WinW + 7), .Depth(rnic_pkg::NumQps)) u_tail (
    .clk_i, .rst_ni, .we_i(head_we_i), .waddr_i(head_qpn_i), .wdata_i({head_tail_i, head_reads_i}),
    .re_i(table_re), .raddr_i(qpn), .rdata_o(tail_ram)
  );
  ram_1r1w #(.Width(51), .Depth(rnic_pkg::NumQps * rnic_pkg::SqWindow)) u_window (
    .clk_i, .rst_ni, .we_i(win_we_i), .waddr_i({win_qpn_i, win_slot_i}),
    .wdata_i({win_after_i, win_opcode_i, win_signaled_i, win_length_i}),
    .re_i(win_re || table_re), .raddr_i({qpn, table_re ? slot : head_q[SlotW-1:0]}), .rdata_o(win_ram)
  );

  // --- the QP in hand
  logic [15:0]      sq_d, sq_q, rq_d, rq_q, idx_q, idx_d, covered_d, covered_q;
  logic [WinW-1:0]  head_d, head_q, tail;
  logic [6:0]       reads_d, reads_q, reads_issued;
  logic             own_d, own_q, err_d, err_q, run_d, run_q, worked_d, worked_q, kick_d, kick_q, kick_now;
  logic [SlotW-1:0] own_slot_d, own_slot_q, err_slot_d, err_slot_q;
  logic [7:0]       own_status_d, own_status_q, err_status_d, err_status_q;
  logic [rnic_pkg::SqWindow-1:0] done_d, done_q, head_bit, slot_bit;
  logic             is_flush, head_done, next_done, is_own, is_err, at_tail;
  logic [SlotW-1:0] ctx_head;
  logic             unused_ctx_head;
  logic [6:0]       ctx_reads;
  logic [15:0]      win_after;
  logic [1:0]       win_opcode;
  logic             win_signaled;
  logic [31:0]      win_length;

  assign {tail, reads_issued} = tail_ram;
  assign {win_after, win_opcode, win_signaled, win_length} = win_ram;
  assign is_flush = kind == OpFlush || kind == OpFlushRsp;
  assign head_bit = rnic_pkg::SqWindow'(1) << head_q[SlotW-1:0];
  assign slot_bit = rnic_pkg::SqWindow'(1) << slot;
  assign at_tail  = head_q == tail;
  assign is_own   = own_q && own_slot_q == head_q[SlotW-1:0];
  assign is_err   = err_q && err_slot_q == head_q[SlotW-1:0];
  assign head_done = (done_q & head_bit) != '0;
  assign next_done = (done_q & {head_bit[rnic_pkg::SqWindow-2:0], head_bit[rnic_pkg::SqWindow-1]}) != '0;
  assign {unused_ctx_head, ctx_head, ctx_reads} = ctx_ram[CtxW-33 -: WinW + 7];

  // --- completions: one a cycle at most, only with room
  logic        put_own, put_flush_sq, put_recv, put_flush_rq;
  logic [15:0] put_index;
  logic [7:0]  put_status;
  qp_retire_cqe u_cqe (
    .clk_i, .rst_ni, .put_own_i(put_own), .put_flush_sq_i(put_flush_sq), .put_recv_i(put_recv), .put_flush_rq_i(put_flush_rq),
    .qpn_i(qpn), .send_cq_i(cq_ram[31:16]), .recv_cq_i(cq_ram[15:0]), .index_i(put_index), .status_i(put_status),
    .win_opcode_i(win_opcode), .win_length_i(win_length), .byte_len_i(byte_len), .solicited_i(solicited),
    .room_o(cqe_room), .cqe_req_valid_o, .cqe_req_ready_i, .cqe_req_o
  );

  // --- the walk
  assign kick_now = !kick_q || kick_ready_i;
  always_comb begin
    state_d = state_q;
    {sq_d, rq_d, idx_d, covered_d, head_d, reads_d} = {sq_q, rq_q, idx_q, covered_q, head_q, reads_q};
    {own_d, own_slot_d, own_status_d}   = {own_q, own_slot_q, own_status_q};
    {err_d, err_slot_d, err_status_d}   = {err_q, err_slot_q, err_status_q};
    {done_d, run_d, worked_d, kick_d}   = {done_q, run_q, worked_q, kick_q};
    {put_own, put_flush_sq, put_recv, put_flush_rq} = 4'b0000;
    put_index  = idx_q;
    put_status = iwarp_pkg::WcSuccess;
    win_re     = 1'b0;
    op_take    = 1'b0;
    ctx_we     = init;

    unique case (state_q)
      StIdle: if (table_re) state_d = StLoad;

      StLoad: begin
        {sq_d, rq_d, head_d, reads_d, own_d, own_slot_d, own_status_d, err_d, err_slot_d, err_status_d, done_d} = ctx_ram;
        idx_d     = ctx_ram[CtxW-1 -: 16];
        covered_d = ctx_ram[CtxW-1 -: 16];
        run_d     = 1'b1;
        worked_d  = 1'b0;
        state_d   = StSave;
        unique case (kind)
          OpDone, OpRead: begin   // the window was read at slot: if that is the head, its entry is there
            done_d   = ctx_ram[rnic_pkg::SqWindow-1:0] | slot_bit;
            worked_d = kind == OpRead;
            if (kind == OpRead)                  reads_d = ctx_reads + 7'd1;
            if (slot == ctx_head) state_d = StRetire;
          end
          OpRecv:  state_d = StRecv;
          OpOwn:   {own_d, own_slot_d, own_status_d} = {1'b1, slot, status};
          OpMark:  {err_d, err_slot_d, err_status_d} = {1'b1, slot, status};
          OpLook:  state_d = StSave;
          default: state_d = StHead;
        endcase
      end

      StRecv: begin
        put_index  = index;
        put_status = status;
        rq_d       = index + 16'd1;
        if (cqe_room) begin
          put_recv = 1'b1;
          state_d  = StSave;
        end
      end

      StHead: begin
        win_re  = 1'b1;
        state_d = is_flush && at_tail ? StSqEnd : StRetire;
      end

      StRetire: begin
        put_index = idx_q;
        if (cqe_room) begin
          state_d = StHead;
          if (run_q && head_done) begin
            put_own = win_signaled;
          end else begin
            run_d = 1'b0;
            if (is_own || is_err) begin
              if (idx_q != covered_q) begin   // first one entry for those in front of it
                put_flush_sq = 1'b1;
                put_status   = iwarp_pkg::WcWrFlushErr;
                covered_d    = idx_q;
                state_d      = StRetire;
              end else begin
                put_own    = 1'b1;
                put_status = is_err ? err_status_q : own_status_q;
              end
            end
          end
          if (state_d == StHead) begin
            if (!is_flush && !next_done) state_d = StSave;
            if ((run_q && head_done) || is_own || is_err) covered_d = win_after;
            idx_d    = win_after;
            sq_d     = win_after;
            head_d   = head_q + 1'b1;
            done_d   = done_q & ~head_bit;
            worked_d = 1'b1;
          end
        end
      end

      StSqEnd: begin
        put_index  = prod_sq_ram;
        put_status = iwarp_pkg::WcWrFlushErr;
        if (cqe_room) begin
          put_flush_sq = prod_sq_ram != covered_q;
          sq_d         = prod_sq_ram;
          idx_d        = prod_sq_ram;
          covered_d    = prod_sq_ram;
          own_d        = 1'b0;
          err_d        = 1'b0;
          state_d      = StRqEnd;
        end
      end

      StRqEnd: begin
        put_index  = prod_rq_ram;
        put_status = iwarp_pkg::WcWrFlushErr;
        if (cqe_room) begin
          put_flush_rq = prod_rq_ram != rq_q;
          rq_d         = prod_rq_ram;
          state_d      = StSave;
        end
      end

      StSave: begin
        if (kick_now) begin
          ctx_we  = 1'b1;
          op_take = 1'b1;
          state_d = StIdle;
        end
      end
      default: state_d = StIdle;
    endcase

    // A kick when the QP may have waited for this: a Read's end, room in the window, or an empty queue.
    if (kick_ready_i) kick_d = 1'b0;
    if (state_q == StSave && kick_now) kick_d = worked_q && !is_flush;
  end

  assign ctx_wdata = init ? '0 : {sq_q, rq_q, head_q, reads_q, own_q, own_slot_q, own_status_q, err_q, err_slot_q,
                                  err_status_q, done_q};
  // The copies change with each completion, not only at the end: whoever sees it may post again at once.
  assign ret_we_o    = init || (state_q != StIdle && state_q != StLoad);
  assign ret_qpn_o   = init ? init_qpn_i : qpn;
  assign {ret_sq_o, ret_rq_o, ret_head_o, ret_reads_o} = init ? '0 : {sq_d, rq_d, head_d, reads_d};
  assign rsp_valid_o = op_take && (kind == OpLook || kind == OpMark || kind == OpFlushRsp);
  assign rsp_sq_o    = sq_q;
  assign rsp_rq_o    = rq_q;
  assign rsp_empty_o = sq_q == prod_sq_ram;
  assign rsp_reads_o = reads_q != reads_issued;

  logic [QpnW-1:0] kick_qpn_q;
  assign kick_valid_o = kick_q;
  assign kick_qpn_o   = kick_qpn_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      kick_q  <= 1'b0;
    end else begin
      state_q <= state_d;
      kick_q  <= kick_d;
    end
  end

  always_ff @(posedge clk_i) begin
    {sq_q, rq_q, idx_q, covered_q, head_q, reads_q} <= {sq_d, rq_d, idx_d, covered_d, head_d, reads_d};
    {own_q, own_slot_q, own_status_q} <= {own_d, own_slot_d, own_status_d};
    {err_q, err_slot_q, err_status_q} <= {err_d, err_slot_d, err_status_d};
    {done_q, run_q, worked_q}         <= {done_d, run_d, worked_d};
    if (op_take) kick_qpn_q <= qpn;
  end

  `RNIC_ASSERT(KindKnown_A, !(rx_done_valid_i && rx_done_ready_o) || rx_done_i.kind == iwarp_pkg::DelRead ||
                            rx_done_i.kind == iwarp_pkg::DelRecv)
  // ddp reports receives in the order in which it took them, and nothing behind its first error: what is left is flushed.
  `RNIC_ASSERT(RecvInOrder_A, !(state_q == StLoad && kind == OpRecv) || index == rq_d)
  `RNIC_STREAM_STABLE(KickStable_A, kick_valid_o, kick_ready_i, kick_qpn_o)

  // Simulation alone: commit trace (architecture 10)
  iwarp_pkg::qp_retire_commit_t tap_qp_retire /*verilator public_flat_rd*/;
  assign tap_qp_retire = {table_re, kind, 16'(qpn), 8'(slot)};
endmodule

// rdmap_atomic: serves inbound atomics and Atomic Writes, and stores the results of our own
// atomics. It sends a request to unit atomic when the request's turn has come, and turns the
// response into a message, a fault, or the completion of our own request. RFC 7306 sections 5, 7.
//
//   head --> [ in ] --enter--+--> turn has come: [ out ] ---------------------------> atomic_req
//                            +--> not yet: [ ring, an entry per QP ] --check--+--> turn: [ out ]
//                                            ^                                +--> QP dead: dropped
//                                            +------------ not yet -----------+
//   begin, fetched, dead, ask --> [ table: unfetched, dead, busy ]
//   result, from rdmap_core ----------------------------> [ results ] ---------------> atomic_req
//   atomic_rsp --> [ FIFO ] --+--> done: [ messages ] --> rdmap_tx     +--> result: res_done
//                             +--> refused, unread: a fault, to rdmap_core (also of a result)
//
// 1. A request's turn comes when its QP has no unfetched Read Response (ambiguities.md 2.2) and
//    `placed` has reached the request's watermark (A-30). The turn is checked when the request
//    enters. Until its turn, the request circulates in the ring, so it blocks no other request.
// 2. A QP has at most one request here and in unit atomic (OnePerQp_A). So the ring is never full
//    (RingRoom_A), and requests of one QP cannot overtake each other.
// 3. The table executes 1 operation per cycle, of any QPs.
// 4. A dead QP has no unfetched responses: rdmap_read begins none, and responses that ddp still
//    fetches for it are not counted.
// 5. `dead` follows its QP's request to unit atomic through the same queue, so it never arrives
//    first.
// 6. `busy` is set from enter until the request is dropped, is answered, or has its fault decided.
//    rdmap_ack reads it through the port `ask`.
//
// Latency: 3 cycles from head to atomic_req (6 through the ring), 3 from atomic_rsp to the message.
// Throughput: a request takes 2 table operations, and 1 more per pass through the ring; a Read
// Response takes 2.
// Waits for unit atomic (which has room), for rdmap_tx, for rdmap_core to take faults, and for qp.
// Siblings: rdmap_resp, rdmap_read, rdmap_core, rdmap_ack.
// Bench: tb/rdmap/rdmap_test.cpp
`include "rnic_assert.svh"
`include "rnic_words.svh"

module rdmap_atomic #(
  parameter int unsigned Depth       = 2,    // of the queue of heads; rdmap_resp counts its room
  parameter int unsigned ResultDepth = 2,    // of the queue of results; rdmap_core counts its room
  localparam int unsigned HeadW   = `RNIC_RDMAP_HEAD_W,
  localparam int unsigned ResultW = `RNIC_RDMAP_RESULT_W
) (
  input  logic clk_i,
  input  logic rst_ni,
  output logic ready_o,
  input  logic [63:0] placed_i,   // packets placed since reset, from host_if
  // from rdmap_resp, which has reserved room
  input  logic head_valid_i,
  input  logic [HeadW-1:0] head_i,
  output logic left_o,                       // a request has been popped from `in`
  // from rdmap_read: a Read Response with payload begins
  input  logic begin_valid_i,
  input  logic [15:0] begin_qpn_i,
  // from ddp: the last payload of a Read Response has been fetched
  input  logic fetched_valid_i,
  output logic fetched_ready_o,
  input  logic [15:0] fetched_qpn_i,
  // from rdmap_core: this QP has stopped or failed
  input  logic dead_i,
  input  logic [15:0] dead_qpn_i,
  // from and to rdmap_ack: does this QP have a request here or in unit atomic?
  input  logic ask_i,
  input  logic [15:0] ask_qpn_i,
  output logic idle_o,                       // one cycle after OpAsk is picked: the QP has none
  output logic push_o,                       // a response message is enqueued
  output logic result_left_o,                // a result is finished
  // from rdmap_core: the old value that our atomic returned; rdmap_core has reserved room
  input  logic result_valid_i,
  input  logic [ResultW-1:0] result_i,
  // from and to atomic
  output logic req_valid_o,
  input  logic req_ready_i,
  output iwarp_pkg::atomic_req_t req_o,
  output logic dead_valid_o,
  input  logic dead_ready_i,
  output iwarp_pkg::atomic_dead_t dead_o,
  input  logic rsp_valid_i,
  output logic rsp_ready_o,
  input  iwarp_pkg::atomic_rsp_t rsp_i,
  // a failed check, read or result, to rdmap_core
  output logic fail_valid_o,
  input  logic fail_ready_i,
  output iwarp_pkg::tx_fault_t fail_o,
  input  logic fail_done_i,                  // rdmap_core has decided the fault
  // to rdmap_tx
  output logic msg_valid_o,
  input  logic msg_ready_i,
  output iwarp_pkg::tx_message_hdr_t msg_o,
  output logic [127:0] msg_data_o,
  // to qp
  output logic res_done_valid_o,
  input  logic res_done_ready_i,
  output iwarp_pkg::res_done_t res_done_o
);
  typedef `RNIC_RDMAP_HEAD_T   head_t;
  typedef `RNIC_RDMAP_RESULT_T result_t;
  localparam int unsigned QpW    = $clog2(rnic_pkg::NumQps);
  localparam int unsigned MostInside  = 64;  // limit of requests in unit atomic
  localparam int unsigned MostResults = 8;   // limit of results in unit atomic

  typedef enum logic [3:0] {   // OpLook: the oldest request of the ring is checked for its turn
    OpNone, OpBegin, OpFetched, OpDead, OpRsp, OpEnter, OpLeave, OpAsk, OpLook   // OpLeave: leave_q
  } op_e;
  typedef struct packed {
    logic [8:0] unfetched;   // Read Responses with payload that ddp has not fetched
    logic       dead;        // the QP has stopped or failed since its request entered
    logic       busy;        // invariant 6
  } state_t;

  // --- input queues
  logic       in_valid, in_pop, unused_in, ring_valid, ring_pop, ring_push, unused_ring,
              dead_valid, dead_pop, unused_dead;
  logic [$clog2(2 * rnic_pkg::NumQps + 1)-1:0] deads;
  logic [$clog2(Depth + 1)-1:0]               ins;
  logic [$clog2(rnic_pkg::FifoDepth + 1)-1:0] fetcheds;   // queued, visible at the output or not
  logic [HeadW-1:0] in, front, pushed;
  logic [15:0]      dead_qpn;
  head_t            in_head, front_head;
  stream_fifo #(.Width(HeadW), .Depth(Depth), .Reserved(1'b1)) u_in (
    .clk_i, .rst_ni, .valid_i(head_valid_i), .ready_o(unused_in), .data_i(head_i),
    .valid_o(in_valid), .ready_i(in_pop), .data_o(in), .count_o(ins)
  );
  stream_fifo #(.Width(HeadW), .Depth(rnic_pkg::NumQps + 2), .Reserved(1'b1)) u_ring (
    .clk_i, .rst_ni, .valid_i(ring_push), .ready_o(unused_ring), .data_i(pushed),
    .valid_o(ring_valid), .ready_i(ring_pop), .data_o(front), .count_o()
  );
  // Room for 2 entries per QP: its first error, and one start or stop. The next order of the QP
  // comes only after that one is acknowledged, thus after this queue has passed it on (rdmap_ack).
  stream_fifo #(.Width(16), .Depth(2 * rnic_pkg::NumQps), .Reserved(1'b1)) u_dead (
    .clk_i, .rst_ni, .valid_i(dead_i), .ready_o(unused_dead), .data_i(dead_qpn_i),
    .valid_o(dead_valid), .ready_i(dead_pop), .data_o(dead_qpn), .count_o(deads)
  );
  assign in_head    = in;
  assign front_head = front;
  assign left_o     = in_pop;

  logic fetched_valid, fetched_pop;
  logic [15:0] fetched_qpn;
  stream_fifo #(.Width(16), .Depth(rnic_pkg::FifoDepth)) u_fetched (
    .clk_i, .rst_ni, .valid_i(fetched_valid_i), .ready_o(fetched_ready_o), .data_i(fetched_qpn_i),
    .valid_o(fetched_valid), .ready_i(fetched_pop), .data_o(fetched_qpn), .count_o(fetcheds)
  );

  logic rsp_valid, rsp_pop, is_result;
  iwarp_pkg::atomic_rsp_t rsp;
  stream_fifo #(.Width(iwarp_pkg::AtomicRspWidth), .Depth(rnic_pkg::FifoDepth)) u_rsp (
    .clk_i, .rst_ni, .valid_i(rsp_valid_i), .ready_o(rsp_ready_o), .data_i(rsp_i),
    .valid_o(rsp_valid), .ready_i(rsp_pop), .data_o(rsp), .count_o()
  );
  assign is_result = rsp.op == iwarp_pkg::AtResult;

  // --- pick: 1 operation per cycle
  op_e         op_d, op_q;
  logic [15:0] qpn_d, qpn_q;
  logic        clear_busy, out_room, msg_room, credit, tries_d, failing_q, leave_q, lost_result_q;
  logic [15:0] failed_qpn_q;
  logic [QpW-1:0] clear_addr;
  always_comb begin
    op_d  = OpNone;
    qpn_d = begin_qpn_i;
    if (begin_valid_i) begin
      op_d  = OpBegin;
    end else if (fetched_valid) begin
      op_d  = OpFetched;
      qpn_d = fetched_qpn;
    end else if (in_valid) begin   // before OpDead: rdmap_core gave the head while its QP was alive
      op_d  = OpEnter;
      qpn_d = in_head.qpn;
    end else if (dead_valid && out_room && ins == '0) begin
      op_d  = OpDead;
      qpn_d = dead_qpn;
    end else if (leave_q) begin
      op_d  = OpLeave;
      qpn_d = failed_qpn_q;
    // The previous response may fail, so two never follow directly.
    end else if (rsp_valid && !is_result && msg_room && !failing_q && op_q != OpRsp) begin
      op_d  = OpRsp;
      qpn_d = rsp.qpn;
    // Two polls of rdmap_ack never follow directly, so that a check of the ring fits between them.
    end else if (ask_i && deads == '0 && ins == '0 && fetcheds == '0 && op_q != OpAsk) begin
      op_d  = OpAsk;
      qpn_d = ask_qpn_i;
    end else if (ring_valid && out_room && credit) begin
      op_d  = OpLook;
      qpn_d = front_head.qpn;
    end
    if (clear_busy) op_d = OpNone;
  end
  assign fetched_pop = op_d == OpFetched;
  assign dead_pop    = op_d == OpDead;
  assign in_pop      = op_d == OpEnter;
  assign ring_pop    = op_d == OpLook;
  // tries_d: the request may go to unit atomic if its turn has come
  assign tries_d     = ring_pop || (in_pop && out_room && credit);

  // --- the table: read, then decide and write. The next operation on the same QP gets the written
  // state by forwarding.
  logic [HeadW-1:0]       item_q;
  iwarp_pkg::atomic_rsp_t rsp_q;
  logic                   tries_q, in_reached_q, front_reached_q, again_q;
  state_t                 state, state_d, state_read, written_q;
  head_t                  item;
  logic                   we;
  assign we = op_q != OpNone;
  ram_clear #(.Depth(rnic_pkg::NumQps)) u_clear (
    .clk_i, .rst_ni, .busy_o(clear_busy), .addr_o(clear_addr)
  );
  ram_1r1w #(.Width($bits(state)), .Depth(rnic_pkg::NumQps)) u_table (
    .clk_i, .rst_ni,
    .we_i(clear_busy || we), .waddr_i(clear_busy ? clear_addr : qpn_q[QpW-1:0]),
    .wdata_i(clear_busy ? '0 : state_d),
    .re_i(op_d != OpNone), .raddr_i(qpn_d[QpW-1:0]), .rdata_o(state_read)
`ifdef FORMAL
    ,
    .f_addr_i(f_qpn), .f_word_o(f_word)
`endif
  );
  assign ready_o = !clear_busy;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      op_q    <= OpNone;
      tries_q <= 1'b0;
    end else begin
      op_q    <= op_d;
      tries_q <= tries_d;
    end
  end
  always_ff @(posedge clk_i) begin
    qpn_q     <= qpn_d;
    item_q    <= op_d == OpEnter ? in : front;
    rsp_q     <= rsp;
    again_q   <= we && qpn_q == qpn_d;
    written_q <= state_d;
    in_reached_q    <= placed_i >= in_head.watermark;
    front_reached_q <= placed_i >= front_head.watermark;
  end
  assign item  = item_q;
  assign state = again_q ? written_q : state_read;

  logic goes, drops, answers, fails, bad_result;
  // When a request enters, `dead` still describes the previous request of its QP, so it is ignored.
  assign goes    = tries_q && state.unfetched == '0 &&
                   (op_q == OpEnter ? in_reached_q : front_reached_q && !state.dead);
  assign drops   = op_q == OpLook && state.dead;
  assign answers = op_q == OpRsp && !state.dead && rsp_q.ending == iwarp_pkg::AtEndDone;
  assign fails   = op_q == OpRsp && !state.dead &&
                   (rsp_q.ending == iwarp_pkg::AtEndRefused ||
                    rsp_q.ending == iwarp_pkg::AtEndUnread);
  always_comb begin
    state_d = state;
    case (op_q)
      OpBegin:   state_d.unfetched = state.unfetched + 9'd1;
      OpFetched: if (state.unfetched != '0) state_d.unfetched = state.unfetched - 9'd1;
      OpDead: begin
        state_d.unfetched = '0;
        state_d.dead      = state.busy;
      end
      OpEnter: begin
        state_d.busy = 1'b1;
        state_d.dead = 1'b0;
      end
      OpRsp:   if (!fails) state_d.busy = 1'b0;
      OpLeave: state_d.busy = 1'b0;
      OpLook:  if (drops) state_d.busy = 1'b0;
      default: ;
    endcase
  end
  assign ring_push = (op_q == OpEnter || op_q == OpLook) && !goes && !drops;
  assign pushed    = item_q;
  assign idle_o    = op_q == OpAsk && !state.busy;

  // --- to unit atomic: requests and reports of dead QPs share one queue. Room: the entries inside,
  // and 2 that the pipeline may still add.
  logic       out_valid, out_pop, unused_out, out_dead;
  logic [2:0] outs;
  logic [HeadW-1:0] out;
  stream_fifo #(.Width(1 + HeadW), .Depth(4), .Reserved(1'b1)) u_out (
    .clk_i, .rst_ni, .valid_i(goes || op_q == OpDead), .ready_o(unused_out),
    .data_i({op_q == OpDead, goes ? item_q : HeadW'(qpn_q)}),
    .valid_o(out_valid), .ready_i(out_pop), .data_o({out_dead, out}), .count_o(outs)
  );
  assign out_room = outs <= 3'd2;

  head_t out_head;
  iwarp_pkg::atomic_req_t request;
  assign out_head = out;
  always_comb begin
    request       = '0;
    request.qpn   = out_head.qpn;
    request.pd    = out_head.pd;
    request.slot  = out_head.slot;
    // After the DDP header of 18 bytes (requirements.md 5.4, 5.8). Bit 193: AOpCode 2, CmpSwap.
    if (out_head.kind == rnic_pkg::KindAtomic) begin
      request.op            = out_head.request[193] ? iwarp_pkg::AtCmpSwap : iwarp_pkg::AtFetchAdd;
      request.stag          = out_head.request[159:128];
      request.tagged_offset = out_head.request[127:64];
      request.data          = out_head.request[63:0];
      request.right         = rnic_pkg::AccessRemoteAtomic;
      {request.mask, request.compare, request.compare_mask} = out_head.more;
    end else begin
      request.op            = iwarp_pkg::AtWrite;
      request.stag          = out_head.request[223:192];
      request.tagged_offset = out_head.request[159:96];
      request.data          = out_head.request[95:32];
      request.right         = rnic_pkg::AccessRemoteWrite;
    end
  end

  // Results wait only for unit atomic.
  logic       result_valid, result_pop, unused_result, result_credit;
  logic [ResultW-1:0] result;
  result_t    res;
  iwarp_pkg::atomic_req_t result_req;
  stream_fifo #(.Width(ResultW), .Depth(ResultDepth), .Reserved(1'b1)) u_results (
    .clk_i, .rst_ni, .valid_i(result_valid_i), .ready_o(unused_result), .data_i(result_i),
    .valid_o(result_valid), .ready_i(result_pop), .data_o(result), .count_o()
  );
  assign res = result;
  always_comb begin
    result_req               = '0;
    result_req.op            = iwarp_pkg::AtResult;
    result_req.qpn           = res.qpn;
    result_req.pd            = res.pd;
    result_req.slot          = res.slot;
    result_req.stag          = res.stag;
    result_req.tagged_offset = res.to;
    result_req.right         = rnic_pkg::AccessLocalWrite;
    result_req.data          = res.value;
  end

  logic [1:0] req_valids, req_readys;
  logic       unused_index;
  assign req_valids = {result_valid && result_credit, out_valid && !out_dead};
  stream_arb #(.Width(iwarp_pkg::AtomicReqWidth), .N(2)) u_req_arb (
    .clk_i, .rst_ni, .valid_i(req_valids), .ready_o(req_readys), .data_i({result_req, request}),
    .valid_o(req_valid_o), .ready_i(req_ready_i), .data_o(req_o), .index_o(unused_index)
  );
  assign dead_valid_o = out_valid && out_dead;
  assign dead_o.qpn   = out[15:0];
  assign out_pop      = out_dead ? dead_ready_i : req_valids[0] && req_readys[0];
  assign result_pop   = req_valids[1] && req_readys[1];

  // Credit. A request takes one when its turn is checked and returns it if the turn has not come. A
  // result takes one when it is sent. Both return it when the response of unit atomic is consumed.
  logic [6:0] inside_q;
  logic [3:0] results_q;
  logic       looked, result_end;   // looked: the turn was checked and has not come
  assign looked        = tries_q && !goes;
  assign credit        = inside_q < 7'(MostInside);
  assign result_credit = results_q < 4'(MostResults);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      inside_q  <= '0;
      results_q <= '0;
    end else begin
      inside_q  <= inside_q + 7'(tries_d) - 7'(looked) - 7'(op_d == OpRsp);
      results_q <= results_q + 4'(result_pop) - 4'(result_end);
    end
  end

  // --- the response to a request becomes a message
  logic       unused_msg;
  logic [2:0] msgs;
  logic [31:0] id_read;
  iwarp_pkg::tx_message_hdr_t message;
  iwarp_pkg::atomic_response_t response;
  localparam int unsigned MsgW = 16 + 8 + 1 + 32 + 64;   // {m_qpn, m_slot, m_write, response}
  logic [MsgW-1:0] msg;
  logic        m_write;
  logic [15:0] m_qpn;
  logic [7:0]  m_slot;
  ram_1r1w #(.Width(32), .Depth(rnic_pkg::NumQps)) u_ids (   // Request Identifiers
    .clk_i, .rst_ni,
    .we_i(op_q == OpEnter), .waddr_i(qpn_q[QpW-1:0]), .wdata_i(item.request[191:160]),
    .re_i(op_d == OpRsp), .raddr_i(qpn_d[QpW-1:0]), .rdata_o(id_read)
  );
  stream_fifo #(.Width(MsgW), .Depth(4), .Reserved(1'b1)) u_messages (
    .clk_i, .rst_ni, .valid_i(answers), .ready_o(unused_msg),
    .data_i({qpn_q, rsp_q.slot, rsp_q.op == iwarp_pkg::AtWrite, id_read, rsp_q.value}),
    .valid_o(msg_valid_o), .ready_i(msg_ready_i), .data_o(msg), .count_o(msgs)
  );
  assign msg_room = msgs <= 3'd2;
  assign push_o   = answers;
  assign {m_qpn, m_slot, m_write, response} = msg;
  always_comb begin
    message           = '0;
    message.qpn       = m_qpn;
    message.source    = iwarp_pkg::TxResp;
    message.opcode    = m_write ? iwarp_pkg::OpAtomicWriteResponse : iwarp_pkg::OpAtomicResponse;
    message.qn        = 2'd3;
    message.length    = m_write ? 32'd0 : 32'd12;   // Request Identifier 4, old value 8
    message.is_inline = !m_write;
    message.slot      = m_slot;
    msg_data_o        = '0;
    for (int i = 0; i < 12; i++) msg_data_o[8 * i +: 8] = response[95 - 8 * i -: 8];
  end
  assign msg_o = message;

  // --- a fault: until rdmap_core has decided it, no other response to a request is processed
  logic told_q;   // rdmap_core has taken it. lost_result_q: of a result; leave_q: then OpLeave
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      failing_q <= 1'b0;
      told_q    <= 1'b0;
      leave_q   <= 1'b0;
    end else begin
      if (fails || bad_result) failing_q <= 1'b1;
      else if (fail_done_i) failing_q <= 1'b0;
      told_q  <= (told_q || (fail_valid_o && fail_ready_i)) && !fail_done_i;
      leave_q <= (fail_done_i && !lost_result_q) || (leave_q && op_d != OpLeave);
    end
  end
  always_ff @(posedge clk_i) begin
    if (fails) failed_qpn_q <= qpn_q;
    if (fails || bad_result) begin
      lost_result_q <= bad_result;
      fail_o.qpn    <= bad_result ? rsp.qpn : qpn_q;
      fail_o.source <= bad_result ? iwarp_pkg::TxSq : iwarp_pkg::TxResp;
      fail_o.slot   <= bad_result ? rsp.slot : rsp_q.slot;
      fail_o.offset <= '0;
      fail_o.status <= bad_result ? rsp.status : rsp_q.status;
      fail_o.result <= bad_result ? rsp.result : rsp_q.result;
    end
  end
  assign fail_valid_o = failing_q && !told_q;

  // --- the response to a result
  logic is_stored;
  assign is_stored        = rsp.ending == iwarp_pkg::AtEndDone;
  // In order: a result after a refused one waits until the fault is decided.
  assign res_done_valid_o = rsp_valid && is_result && is_stored && !(failing_q && lost_result_q);
  assign res_done_o.qpn   = rsp.qpn;
  assign res_done_o.slot  = rsp.slot;
  assign bad_result       = rsp_valid && is_result && !is_stored && !failing_q && !fails;
  assign result_end       = (res_done_valid_o && res_done_ready_i) || bad_result;
  assign result_left_o    = (res_done_valid_o && res_done_ready_i) ||
                            (fail_done_i && lost_result_q);
  assign rsp_pop          = is_result ? result_end : op_d == OpRsp;

  logic unused_bits;
  assign unused_bits = ^{unused_in, unused_ring, unused_dead, unused_out, unused_msg,
                         unused_result, unused_index, in_head, front_head, item, out_head,
                         clear_addr, rsp_q};

  `RNIC_ASSERT(RingRoom_A, !ring_push || unused_ring)
  `RNIC_ASSERT(DeadRoom_A, !dead_i || unused_dead)
  `RNIC_ASSERT(InRoom_A, !head_valid_i || unused_in)
  `RNIC_ASSERT(ResultRoom_A, !result_valid_i || unused_result)
  `RNIC_ASSERT(OnePerQp_A, !(op_q == OpEnter) || !state.busy)
  `RNIC_ASSERT(BusyAnswered_A, !(op_q == OpRsp || drops) || state.busy)
  `RNIC_COVER(Waits_C, op_q == OpLook && !goes && !drops)
  `RNIC_COVER(Enters_C, op_q == OpEnter && goes)
  `RNIC_COVER(EntersRing_C, op_q == OpEnter && tries_q && !goes)
  `RNIC_STREAM_STABLE(MsgStable_A, msg_valid_o, msg_ready_i, msg_o)
  `RNIC_STREAM_STABLE(FailStable_A, fail_valid_o, fail_ready_i, fail_o)

`ifdef FORMAL
  // Proof rtl/formal/rdmap_atomic_fv.sv, for any QP f_qpn. f_unfetched_q, f_dead_q and f_busy_q
  // count the operations independently; the table, and the state read from it, agree with them.
  (* anyconst *) logic [QpW-1:0] f_qpn;
  logic [$bits(state)-1:0] f_word;
  logic [8:0]  f_unfetched_q;
  logic        f_dead_q, f_busy_q, f_cleared_q, f_here, f_begun_q;
  logic [63:0] f_placed_q;
  always_comb assume (qpn_d < 16'(rnic_pkg::NumQps));
  assign f_here = op_q != OpNone && qpn_q[QpW-1:0] == f_qpn;
  always_ff @(posedge clk_i) begin
    f_placed_q <= placed_i;
    f_begun_q  <= rst_ni && begin_valid_i && begin_qpn_i[QpW-1:0] == f_qpn;
    if (!rst_ni) begin
      {f_unfetched_q, f_dead_q, f_busy_q, f_cleared_q} <= '0;
    end else begin
      f_cleared_q <= f_cleared_q || (clear_busy && clear_addr == f_qpn);
      if (f_begun_q) f_unfetched_q <= f_unfetched_q + 9'd1;
      if (f_here && op_q == OpFetched && f_unfetched_q != '0) f_unfetched_q <= f_unfetched_q - 9'd1;
      if (f_here && op_q == OpDead) begin
        f_unfetched_q <= '0;
        f_dead_q      <= f_busy_q;
      end
      if (f_here && op_q == OpEnter) {f_busy_q, f_dead_q} <= 2'b10;
      if (f_here && (op_q == OpLeave || drops || (op_q == OpRsp && !fails))) f_busy_q <= 1'b0;
    end
  end
  `RNIC_ASSERT(Begun_A, f_begun_q == (f_here && op_q == OpBegin))
  `RNIC_ASSERT(Cleared_A, f_cleared_q ? !clear_busy || clear_addr > f_qpn
                                    : clear_busy && clear_addr <= f_qpn)
  `RNIC_ASSERT(Clearing_A, !clear_busy || op_q == OpNone)
  `RNIC_ASSERT(Table_A, (f_cleared_q ? f_word : '0) == {f_unfetched_q, f_dead_q, f_busy_q})
  `RNIC_ASSERT(State_A, !f_here || state == {f_unfetched_q, f_dead_q, f_busy_q})
  // A request enters u_out only when its QP has no unfetched Read Response, the placements before
  // it are done, and the QP is not dead.
  `RNIC_ASSERT(Turn_A, !(goes && f_here) || f_unfetched_q == '0)
  `RNIC_ASSERT(Watermark_A, !goes || f_placed_q >= item.watermark)
  `RNIC_ASSERT(NotDead_A, !(goes && f_here && op_q == OpLook) || !f_dead_q)
`endif

  // Simulation only: commit trace (architecture 10)
  iwarp_pkg::rdmap_atomic_commit_t tap_rdmap_atomic /*verilator public_flat_rd*/;
  assign tap_rdmap_atomic = {op_q == OpRsp || drops, qpn_q, answers, fails};
endmodule

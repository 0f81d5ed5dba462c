// qp_parse: reads a WQE from the prefetch buffer, validates it, sends its keys to tpt and aligns
// its body.
//
//   go --> [ unit 0 ] --> [ judge ] --+--> item  (qp_emit): issue, or ends here with a status
//            ^  ^                     +--> body beats: the 32 bytes after the header move to lane 0
//            |  +-- units 1 to 3 <----+--> wqe_check: 1 SGE per cycle, skipping those of length 0
//            +----- next WQE <--------+--> finish, fetch: it must wait (fence, ord), or lacks units
//
// A visit is one go: the QP's next WQE and the following WQEs that are in the buffer, as many as
// the window and ddp have room for (go_wqes).
// 1. The QP's next visit begins only after qp_emit has finished the item with `last` (qp_sched). So
//    all WQEs of a QP in qp belong to one visit, and the item queue keeps their order.
// 2. The send state (head, tail, issued, reads) advances here as if every WQE were good. After a
//    WQE that failed, qp_emit drops the later WQEs of the visit.
// 3. A WQE after the first that must wait, or lacks units, ends the visit with an item without a
//    WQE (none): qp_pick evaluates the QP again when its send state is written. Only the first WQE
//    of a visit rests (StWait), so a kick never meets a state that runs ahead of the tables.
//
// A WQE is malformed (loc_qp_op_err) when:
//   any           opcode unknown; a reserved flag or field set; a disposition, if it is no Flush;
//                 units do not hold it or are not all announced; over 14 SGEs; length over 2^31;
//                 the SGEs' total is not length
//   inline        over 224 bytes
//   Immediate     not inline; an SGE; length not 8 (also Write with Immediate)
//   Read, Flush   inline; ord 0; more than 1 SGE (Read), any SGE (Flush, whose length is the peer's
//                 range)
//   Flush         not enabled on the stream; disposition not 1 to 3
//   atomic        not enabled; ord 0; not inline; an SGE; length not 48; its sink not of 8 bytes
//   Atomic Write  not enabled; ord 0; not inline; an SGE; length not 8
//   local inv.    inline; an SGE; a length
//   registration  the QP not privileged; not inline; an SGE; length not 32
//   bind          not inline; an SGE; length not 32
//
// Requests to our own table (local invalidation, registration, bind) send the peer nothing and take
// no slot of ddp, but count as requests: a fence waits for them. The WQE after a registration or
// bind waits as with a fence, because it may use the key that is registered or bound.
// After the peer's FIN the peer answers no request. A WQE with one is then not issued, and the QP
// fails as lost (wr_flush_err, for qp_emit). A key may go to tpt before the SGEs' total turns out
// wrong. The item then reports (asks) that a response of tpt comes.
// Throughput: 4 cycles per WQE of one unit and one SGE, of one QP or of many; 1 more for each
// further unit or SGE.
// Waits for qp_emit and tpt.
// Siblings: qp_pick, qp_emit, qp_sq_fetch.
// Bench: tb/qp/qp_test.cpp
`include "rnic_assert.svh"
`include "rnic_words.svh"

module qp_parse #(
  localparam int unsigned QpnW  = $clog2(rnic_pkg::NumQps),
  localparam int unsigned PreW  = $clog2(rnic_pkg::SqPrefetch),
  localparam int unsigned WinW  = $clog2(rnic_pkg::SqWindow) + 1,
  localparam int unsigned ItemW = `RNIC_QP_ITEM_W
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  // from qp_pick: a visit, or a barrier of qp_state, which is passed on as an item
  input  logic            go_valid_i,
  output logic            go_ready_o,
  input  logic            go_barrier_i,
  input  logic [QpnW-1:0] go_qpn_i,
  input  logic [15:0]     go_head_i,       // ring index of the next unit to be issued
  input  logic [6:0]      go_have_i,       // units from there on: in the buffer
  input  logic [6:0]      go_avail_i,      //   announced (127: 127 or more)
  input  logic [3:0]      go_wqes_i,       // WQEs that may be issued
  input  logic            go_fail_i,       // the read of the missing units has failed
  input  logic [WinW-1:0] go_tail_i,       // of the window
  input  logic [4:0]      go_issued_i,     // messages handed to ddp, modulo 32
  input  logic [6:0]      go_reads_i,      // requests issued, modulo 128
  input  logic [6:0]      go_pending_i,    // requests outstanding
  input  logic            go_fin_i,        // the peer's FIN has been received
  input  logic [5:0]      go_ord_i,
  input  logic            go_persist_i,    // Flush, atomics and Atomic Write are enabled
  input  logic            go_privileged_i, // the QP may register memory
  input  logic            go_after_key_i,  // the WQE before is a registration or a bind
  input  logic [15:0]     go_pd_i,
  // to and from qp_sq_fetch: a unit of the buffer, one cycle later; a request for missing units
  output logic            unit_re_o,
  output logic [QpnW-1:0] unit_qpn_o,
  output logic [PreW-1:0] unit_index_o,
  input  logic [511:0]    unit_i,
  output logic            fetch_valid_o,
  input  logic            fetch_ready_i,
  output logic [QpnW-1:0] fetch_qpn_o,
  // to qp_sched
  output logic            finish_valid_o,
  input  logic            finish_ready_i,
  output logic [QpnW-1:0] finish_qpn_o,
  // to tpt
  output logic            wqe_check_valid_o,
  input  logic            wqe_check_ready_i,
  output iwarp_pkg::wqe_check_t wqe_check_o,
  // to qp_emit
  output logic             item_valid_o,
  input  logic             item_ready_i,
  // item_o: {barrier, last, none, asks, body, more, status, qpn, head, units, tail, issued, reads,
  // header}
  output logic [ItemW-1:0] item_o,
  output logic             body_valid_o,
  input  logic             body_ready_i,
  output iwarp_pkg::beat_t body_o
);
  typedef enum logic [2:0] {
    StIdle,    // waits for a QP; reads unit 0
    StFirst,   // unit 0 arrives
    StJudge,   // decides: issue, wait or end
    StWait,    // finishes at qp_sched, and requests missing units from qp_sq_fetch
    StMore,    // the next unit arrives: its lower half completes the beat
    StScan,    // 1 SGE per cycle; the beat is pushed with its last SGE
    StEnd      // the total is known: last key, item
  } state_e;

  state_e      state_d, state_q;
  logic        take;
  logic [QpnW-1:0] qpn_q;
  logic [15:0] head_q, pd_q;
  logic [6:0]  have_q, avail_q;
  logic [3:0]  wqes_q;
  // first_q: the WQE is the first of its visit; none_q: it must wait or lacks units (item none)
  logic        barrier_q, fetch_failed_q, fin_q, persist_q, privileged_q, after_key_q,
               first_q, none_q;
  logic [WinW-1:0] tail_q;
  logic [4:0]  issued_q;
  logic [6:0]  reads_q, pending_q;
  logic [5:0]  ord_q;

  iwarp_pkg::sq_wqe_t hdr_q;
  // The body: an SGE has 16 bytes, so a beat holds 4. A WQE of 4 units has a body of 224 bytes.
  logic [511:0] beat_q;       // bytes to be scanned, from bit 0 on
  logic [255:0] high_q;       // upper half of the previous unit
  logic [2:0]   unit_q;       // next unit to be read
  logic [3:0]   sge_q;        // SGEs seen
  logic [8:0]   left_q;       // body bytes left
  logic [34:0]  total_q;      // bytes of the SGEs seen: at most 14 of up to 2^32 - 1
  // key_q holds the newest SGE with data until the next one or StEnd is reached, because the last
  // key of a WQE goes to tpt marked as last. asked_q: an earlier key has gone to tpt. body_q: body
  // beats are pushed.
  logic         key_held_q, asked_q, body_q;
  iwarp_pkg::wqe_sge_t key_q, sge;

  // --- judge
  logic is_write, is_send, is_imm, is_read, is_flush, is_atomic, is_store, is_linv, is_reg, is_bind,
        opens_key, asks_peer, is_inline, is_fence, malformed, missing, must_wait;
  logic [8:0] sge_bytes, room;
  iwarp_pkg::wc_status_e status_d, status_q;
  logic ends_d, ends_q, fetch_left_q, finish_left_q;

  assign is_write  = hdr_q.opcode == iwarp_pkg::WrRdmaWrite;
  assign is_send   = hdr_q.opcode == iwarp_pkg::WrSend || hdr_q.opcode == iwarp_pkg::WrSendWithInv;
  assign is_imm    = hdr_q.opcode == iwarp_pkg::WrRdmaWriteWithImm ||
                     hdr_q.opcode == iwarp_pkg::WrImmediate;
  assign is_read   = hdr_q.opcode == iwarp_pkg::WrRdmaRead;
  assign is_flush  = hdr_q.opcode == iwarp_pkg::WrFlush;
  assign is_atomic = hdr_q.opcode == iwarp_pkg::WrAtomicCmpAndSwp ||
                     hdr_q.opcode == iwarp_pkg::WrAtomicFetchAndAdd;
  assign is_store  = hdr_q.opcode == iwarp_pkg::WrAtomicWrite;
  assign is_linv   = hdr_q.opcode == iwarp_pkg::WrLocalInv;
  assign is_reg    = hdr_q.opcode == iwarp_pkg::WrRegMr;
  assign is_bind   = hdr_q.opcode == iwarp_pkg::WrBindMw;
  assign opens_key = is_reg || is_bind;   // the next WQE waits for it
  assign asks_peer = is_read || is_flush || is_atomic || is_store;   // takes an ORD slot
  assign is_fence  = (hdr_q.flags & iwarp_pkg::SqFlagFence) != '0;
  assign is_inline = (hdr_q.flags & iwarp_pkg::SqFlagInlineData) != '0;
  // bytes of the SGEs; bytes that the WQE's units have after its header of 32
  assign sge_bytes = {1'b0, hdr_q.num_sge, 4'd0};
  assign room      = {hdr_q.units, 6'd0} - 9'd32;

  always_comb begin
    // flags[7:4] are reserved
    malformed = !(is_write || is_send || is_imm || is_linv || opens_key || asks_peer) ||
                hdr_q.flags[7:4] != '0 ||
                {hdr_q.reserved0, hdr_q.reserved2} != '0 ||
                (is_flush ? hdr_q.disposition == '0 || hdr_q.disposition > 8'd3
                          : hdr_q.disposition != '0) ||
                hdr_q.units == '0 || hdr_q.units > 3'd4 || 7'(hdr_q.units) > avail_q ||
                hdr_q.num_sge > rnic_pkg::MaxSge || hdr_q.length > rnic_pkg::MaxMessage;
    if (asks_peer)
      malformed = malformed || hdr_q.num_sge > 4'(is_read) ||
                  is_inline != (is_atomic || is_store) ||
                  ord_q == '0 || (!is_read && !persist_q) ||
                  (is_atomic && (hdr_q.length != 32'(iwarp_pkg::AtomicOperandsWidth / 8) ||
                                 sge.length != 32'd8)) ||
                  (is_store && hdr_q.length != 32'd8);
    if (is_linv)
      malformed = malformed || is_inline || hdr_q.num_sge != '0 || hdr_q.length != '0;
    if (opens_key)    // the operands of either have 32 bytes
      malformed = malformed || (is_reg && !privileged_q) || !is_inline || hdr_q.num_sge != '0 ||
                  hdr_q.length != 32'(iwarp_pkg::RegOperandsWidth / 8);
    if (is_imm)
      malformed = malformed || !is_inline || hdr_q.num_sge != '0 || hdr_q.length != 32'd8;
    if (is_inline)
      malformed = malformed || hdr_q.length > 32'(rnic_pkg::MaxInline) || hdr_q.length > 32'(room);
    else
      malformed = malformed || sge_bytes > room;
    missing   = 7'(hdr_q.units) > have_q;
    must_wait = ((is_fence || after_key_q) && pending_q != '0) ||
                (asks_peer && pending_q >= 7'(ord_q));

    ends_d   = 1'b0;
    status_d = iwarp_pkg::WcSuccess;
    if (have_q == '0) begin   // the fetch of its first unit has failed
      ends_d   = 1'b1;
      status_d = iwarp_pkg::WcFatalErr;
    end else if (malformed) begin
      ends_d   = 1'b1;
      status_d = iwarp_pkg::WcLocQpOpErr;
    end else if (asks_peer && fin_q) begin
      ends_d   = 1'b1;
      status_d = iwarp_pkg::WcWrFlushErr;
    end else if (missing && fetch_failed_q) begin
      ends_d   = 1'b1;
      status_d = iwarp_pkg::WcFatalErr;
    end
  end

  // --- scan: one SGE a cycle. beat_done: the SGE is the last of its beat; keep: bytes of the beat;
  // scan_last: the beat is the body's last. key_next: the SGE has data. ask: the key held goes to
  // tpt.
  logic scan_go, scan_last, beat_done, sge_last, ask, ask_ready, key_next, body_ready, item_ready;
  logic [6:0] keep;
  assign sge       = beat_q[127:0];
  assign sge_last  = sge_q + 4'd1 >= hdr_q.num_sge;
  assign keep      = left_q > 9'd64 ? 7'd64 : left_q[6:0];
  assign beat_done = is_inline || sge_last || sge_q[1:0] == 2'd3;
  assign scan_last = left_q <= 9'd64;
  assign key_next  = !is_inline && hdr_q.num_sge != '0 && sge.length != '0;
  assign ask       = (state_q == StScan && key_next && key_held_q && body_ready) ||
                     (state_q == StEnd && key_held_q && item_ready);
  assign scan_go   = state_q == StScan && (!(key_next && key_held_q) || ask_ready) && body_ready;

  logic [511:0] body_data_q;  // the beat to be pushed
  logic [3:0]   unused_body;
  iwarp_pkg::beat_t body_in;
  assign body_in.last  = scan_last;
  assign body_in.error = 1'b0;
  assign body_in.keep  = keep;
  assign body_in.data  = body_data_q;
  stream_fifo #(.Width(iwarp_pkg::BeatWidth), .Depth(8)) u_body (
    .clk_i, .rst_ni, .valid_i(scan_go && beat_done), .ready_o(body_ready), .data_i(body_in),
    .valid_o(body_valid_o), .ready_i(body_ready_i), .data_o(body_o), .count_o(unused_body)
  );

  iwarp_pkg::wqe_check_t check_in;
  assign check_in.stag          = key_q.lkey;
  assign check_in.tagged_offset = key_q.address;
  assign check_in.length        = key_q.length;
  assign check_in.pd            = pd_q;
  assign check_in.qpn           = 16'(qpn_q);
  assign check_in.invalidate    = is_linv;
  assign check_in.rights        = is_read ? rnic_pkg::AccessLocalWrite : 16'd0;
  assign check_in.last          = state_q == StEnd;
  stream_reg #(.Width(iwarp_pkg::WqeCheckWidth)) u_check (
    .clk_i, .rst_ni, .valid_i(ask), .ready_o(ask_ready), .data_i(check_in),
    .valid_o(wqe_check_valid_o), .ready_i(wqe_check_ready_i), .data_o(wqe_check_o)
  );

  // --- the item
  logic [ItemW-1:0] item_in;
  logic             item_put, total_bad, next;
  logic [2:0]       advance;
  iwarp_pkg::wc_status_e item_status;
  assign total_bad = !is_inline && !is_flush && total_q != {3'd0, hdr_q.length};
  always_comb begin
    item_status = status_q;
    if (!ends_q && total_bad) item_status = iwarp_pkg::WcLocQpOpErr;
  end
  assign item_put = state_q == StEnd && (!key_held_q || ask_ready);
  assign item_in  = {barrier_q, !next, none_q, asked_q || key_held_q, body_q,
                    avail_q > 7'(advance) || none_q, item_status, qpn_q, head_q, advance,
                    tail_q, issued_q, reads_q, hdr_q};
  // advance: the WQE's units. A WQE whose unit count is invalid ends here and counts as 1 unit.
  assign advance = hdr_q.units == '0 || hdr_q.units > 3'd4 || 7'(hdr_q.units) > avail_q
                 ? 3'd1 : hdr_q.units;
  // next: the visit continues: this WQE is good so far; the next one's first unit is in the buffer.
  assign next = !barrier_q && !ends_q && !total_bad && !opens_key &&
                wqes_q > 4'd1 && have_q > 7'(hdr_q.units);
  logic [2:0] unused_items;
  stream_fifo #(.Width(ItemW), .Depth(4)) u_items (
    .clk_i, .rst_ni, .valid_i(item_put), .ready_o(item_ready), .data_i(item_in),
    .valid_o(item_valid_o), .ready_i(item_ready_i), .data_o(item_o), .count_o(unused_items)
  );

  // --- control
  logic end_done, go_on;
  assign end_done      = item_put && item_ready;
  assign go_on         = end_done && next;
  assign go_ready_o    = state_q == StIdle || (end_done && !next);
  assign take          = go_valid_i && go_ready_o;
  assign fetch_valid_o = state_q == StWait && fetch_left_q;
  assign fetch_qpn_o   = qpn_q;
  // Fetch and finish are independent: the kick of a completed fetch finds the QP finished or not
  // yet finished, and either way qp_sched enqueues it again.
  assign finish_valid_o = state_q == StWait && finish_left_q;
  assign finish_qpn_o   = qpn_q;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StIdle: if (take) state_d = go_barrier_i ? StEnd : StFirst;
      StFirst: state_d = StJudge;
      StJudge: begin
        if (ends_d)                                 state_d = StEnd;
        else if (missing || must_wait)              state_d = first_q ? StWait : StEnd;
        else if (hdr_q.units > 3'd1)                state_d = StMore;
        else                                        state_d = StScan;
      end
      StWait: if ((!fetch_left_q || fetch_ready_i) && (!finish_left_q || finish_ready_i))
                state_d = StIdle;
      StMore: state_d = StScan;
      StScan: if (scan_go && beat_done)
                state_d = scan_last ? StEnd : unit_q < hdr_q.units ? StMore : StScan;
      StEnd: begin
        if (go_on)         state_d = StFirst;
        else if (end_done) state_d = take ? (go_barrier_i ? StEnd : StFirst) : StIdle;
      end
      default: state_d = StIdle;
    endcase
  end

  // The unit for StMore, requested one cycle before.
  logic more_read;
  assign more_read    = (state_q == StJudge && state_d == StMore) ||
                        (state_q == StScan && state_d == StMore);
  logic [15:0] head_next;
  assign head_next    = head_q + 16'(hdr_q.units);
  assign unit_re_o    = take || go_on || more_read;
  assign unit_qpn_o   = take ? go_qpn_i : qpn_q;
  assign unit_index_o = take  ? go_head_i[PreW-1:0]
                      : go_on ? head_next[PreW-1:0] : head_q[PreW-1:0] + PreW'(unit_q);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q       <= StIdle;
      fetch_left_q  <= 1'b0;
      finish_left_q <= 1'b0;
    end else begin
      state_q <= state_d;
      if (state_q == StJudge) begin
        fetch_left_q  <= missing;
        finish_left_q <= 1'b1;
      end else begin
        if (fetch_valid_o && fetch_ready_i)   fetch_left_q  <= 1'b0;
        if (finish_valid_o && finish_ready_i) finish_left_q <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      {barrier_q, qpn_q, head_q, have_q, avail_q}
                        <= {go_barrier_i, go_qpn_i, go_head_i, go_have_i, go_avail_i};
      {fetch_failed_q, tail_q, issued_q}
                        <= {go_fail_i, go_tail_i, go_issued_i};
      {reads_q, pending_q, fin_q, ord_q, pd_q}
                        <= {go_reads_i, go_pending_i, go_fin_i, go_ord_i, go_pd_i};
      persist_q         <= go_persist_i;
      privileged_q      <= go_privileged_i;
      after_key_q       <= go_after_key_i;
      {wqes_q, first_q} <= {go_wqes_i, 1'b1};
    end
    if (go_on) begin
      head_q   <= head_next;
      have_q   <= have_q - 7'(hdr_q.units);
      avail_q  <= avail_q - 7'(hdr_q.units);
      wqes_q   <= wqes_q - 4'd1;
      tail_q   <= tail_q + 1'b1;
      issued_q <= issued_q + 5'(!is_linv);
      if (asks_peer || is_linv) {reads_q, pending_q} <= {reads_q + 7'd1, pending_q + 7'd1};
      first_q  <= 1'b0;
      after_key_q <= 1'b0;
    end
    if (take || go_on) begin
      none_q     <= 1'b0;
      key_held_q <= 1'b0;
      asked_q    <= 1'b0;
      body_q     <= 1'b0;
      ends_q     <= 1'b1;
      sge_q      <= '0;
      total_q    <= '0;
      unit_q     <= 3'd1;
      status_q   <= iwarp_pkg::WcSuccess;
    end
    if (state_q == StFirst) begin
      hdr_q       <= unit_i[255:0];
      beat_q      <= {256'd0, unit_i[511:256]};
      body_data_q <= {256'd0, unit_i[511:256]};
    end
    if (state_q == StJudge) begin
      status_q <= status_d;
      none_q   <= !ends_d && (missing || must_wait);
      ends_q   <= ends_d || missing || must_wait;
      body_q   <= !ends_d && !missing && !must_wait;
      if (have_q == '0) hdr_q <= '0;
      left_q   <= is_inline ? hdr_q.length[8:0] : sge_bytes;
    end
    if (state_q == StMore) begin
      beat_q[511:256]      <= unit_i[255:0];
      body_data_q[511:256] <= unit_i[255:0];
      high_q               <= unit_i[511:256];
    end
    if (more_read) unit_q <= unit_q + 3'd1;
    if (scan_go) begin
      beat_q <= {128'd0, beat_q[511:128]};
      sge_q  <= sge_q + 4'd1;
      if (!is_inline && hdr_q.num_sge != '0) total_q <= total_q + {3'd0, sge.length};
      if (key_next) begin
        key_q      <= sge;
        key_held_q <= 1'b1;
        asked_q    <= asked_q || key_held_q;
      end
      if (is_linv) begin   // its key is the STag alone: address and length are 0
        key_q      <= {hdr_q.rkey, 96'd0};
        key_held_q <= 1'b1;
      end
      if (beat_done) begin
        left_q      <= left_q - 9'(keep);
        beat_q      <= {256'd0, high_q};
        body_data_q <= {256'd0, high_q};
      end
    end
  end

  `RNIC_COVER(NextOfVisit_C, go_on)
  `RNIC_COVER(VisitEndsShort_C, end_done && none_q && !first_q)
  `RNIC_ASSERT(WorkIsThere_A, !(take && !go_barrier_i) || go_have_i != '0 || go_fail_i)
  `RNIC_STREAM_STABLE(CheckStable_A, wqe_check_valid_o, wqe_check_ready_i, wqe_check_o)
  `RNIC_STREAM_STABLE(FinishStable_A, finish_valid_o, finish_ready_i, finish_qpn_o)
  `RNIC_STREAM_STABLE(FetchStable_A, fetch_valid_o, fetch_ready_i, fetch_qpn_o)
endmodule

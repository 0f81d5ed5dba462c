// qp: the QP engine: contexts and states, doorbells, SQ and RQ fetch, issue, retirement, flush.
//
//   qp_doorbell --> doorbell --kick--> sched --> pick --> parse --> emit --> wqe_hdr, wqe   (rdmap)
//                      |                 ^        |        | ^        |
//                      +--push--> sq_fetch <------+--------+-+        +--> fail, window
//   sq_rd  <--------------------->   |   buffer ------------->               v
//   wr_done, rx_done, res_done, sq_slot_free --------------------> retire, slot --> cqe_req    (cq)
//   rq_take_req/rsp <--> rq_fetch <--> rq_rd
//   qp_error, llp_event, cq_fault --> event, cq_walk --> state (decide, ctl) <--> qp_cmd, qp_ctl_*,
//                                                                                 qp_ack_*
//
// 1. Each table has one owner, which broadcasts its writes. A leaf that reads the table keeps a
//    copy. So every leaf reads in its own cycle, and no read port is shared.
// 2. A QP is at most once on the send list or in pick, parse and emit (its visit). So no two of
//    these stages work on the same QP.
// 3. A visit issues as many WQEs as window, ddp's slots and the prefetch buffer allow, in ring
//    order.
//
//   owner      table                                       copies
//   doorbell   producer indices                            pick, sq_fetch, rq_fetch, retire
//   emit       next unit, window tail, issued, requests    pick, sq_fetch, retire, slot
//   sq_fetch   arrived, asked, full, fail                  pick
//   emit       window entries (win_*)                      retire
//   retire     window head, done, retired, requests done   pick, doorbell
//   slot       messages ddp is done with                   pick
//   state      state, parameters                           pick, retire (closing)
//   rq_fetch   index of a receive queue's next take        doorbell (of an SRQ)
//
// Requests here are WQEs that take an ORD slot (Read, Flush, atomic, Atomic Write), and requests to
// our own table: local invalidation, registration, bind.
// Throughput: a WQE of one unit and one SGE every 4 cycles, over all QPs and inside a visit, also
// with one doorbell and one read of the ring per WQE. A push of one unit every 6 cycles. A done
// every 2 cycles.
// Latency: doorbell to wqe_hdr 16 cycles plus the latencies of sq_rd (none for a push) and tpt.
// About 12 cycles plus tpt's latency from a visit's last WQE to the next visit of the QP.
// Waits: qp_doorbell, qp_error, llp_event and cq_fault wait for nothing outside the unit (cq_fault
// for a walk over the QPs). sq_rd and rq_rd wait for nothing; wr_done and rx_done for cqe_req;
// issue for tpt and rdmap; rq_take_req for its own read.
// Bench: tb/qp/qp_test.cpp, qp_rate_test.cpp
`include "rnic_words.svh"

module qp (
  input  logic clk_i,
  input  logic rst_ni,
  output logic ready_o,
  output logic bad_doorbell_o,
  output iwarp_pkg::unit_count_t count_o,
  // host_if
  input  logic qp_doorbell_valid_i,
  output logic qp_doorbell_ready_o,
  input  iwarp_pkg::qp_doorbell_t qp_doorbell_i,
  output logic sq_rd_req_valid_o,
  input  logic sq_rd_req_ready_i,
  output iwarp_pkg::sq_rd_req_t sq_rd_req_o,
  input  logic sq_rd_hdr_valid_i,
  output logic sq_rd_hdr_ready_o,
  input  iwarp_pkg::sq_rd_hdr_t sq_rd_hdr_i,
  input  logic sq_rd_valid_i,
  output logic sq_rd_ready_o,
  input  iwarp_pkg::beat_t sq_rd_i,
  output logic rq_rd_req_valid_o,
  input  logic rq_rd_req_ready_i,
  output iwarp_pkg::rq_rd_req_t rq_rd_req_o,
  input  logic rq_rd_hdr_valid_i,
  output logic rq_rd_hdr_ready_o,
  input  iwarp_pkg::rq_rd_hdr_t rq_rd_hdr_i,
  input  logic rq_rd_valid_i,
  output logic rq_rd_ready_o,
  input  iwarp_pkg::beat_t rq_rd_i,
  output logic qp_purge_valid_o,
  input  logic qp_purge_ready_i,
  output iwarp_pkg::qp_purge_t qp_purge_o,
  // admin
  input  logic qp_cmd_valid_i,
  output logic qp_cmd_ready_o,
  input  iwarp_pkg::qp_cmd_t qp_cmd_i,
  output logic qp_cmd_rsp_valid_o,
  input  logic qp_cmd_rsp_ready_i,
  output iwarp_pkg::qp_cmd_rsp_t qp_cmd_rsp_o,
  // tpt
  output logic wqe_check_valid_o,
  input  logic wqe_check_ready_i,
  output iwarp_pkg::wqe_check_t wqe_check_o,
  input  logic wqe_check_rsp_valid_i,
  output logic wqe_check_rsp_ready_o,
  input  iwarp_pkg::wqe_check_rsp_t wqe_check_rsp_i,
  // rdmap
  output logic wqe_hdr_valid_o,
  input  logic wqe_hdr_ready_i,
  output iwarp_pkg::wqe_hdr_t wqe_hdr_o,
  output logic wqe_valid_o,
  input  logic wqe_ready_i,
  output iwarp_pkg::beat_t wqe_o,
  output logic qp_fault_valid_o,
  input  logic qp_fault_ready_i,
  output iwarp_pkg::qp_fault_t qp_fault_o,
  input  logic qp_error_valid_i,
  output logic qp_error_ready_o,
  input  iwarp_pkg::qp_error_t qp_error_i,
  // ddp
  input  logic sq_slot_free_valid_i,
  output logic sq_slot_free_ready_o,
  input  iwarp_pkg::sq_slot_free_t sq_slot_free_i,
  input  logic rq_take_req_valid_i,
  output logic rq_take_req_ready_o,
  input  iwarp_pkg::rq_take_req_t rq_take_req_i,
  output logic rq_take_rsp_valid_o,
  input  logic rq_take_rsp_ready_i,
  output iwarp_pkg::rq_take_rsp_t rq_take_rsp_o,
  input  logic rx_done_valid_i,
  output logic rx_done_ready_o,
  input  iwarp_pkg::rx_done_t rx_done_i,
  // rdmap
  input  logic res_done_valid_i,
  output logic res_done_ready_o,
  input  iwarp_pkg::res_done_t res_done_i,
  // llp_if
  input  logic wr_done_valid_i,
  output logic wr_done_ready_o,
  input  iwarp_pkg::wr_done_t wr_done_i,
  input  logic llp_event_valid_i,
  output logic llp_event_ready_o,
  input  iwarp_pkg::llp_event_t llp_event_i,
  // cq
  output logic cqe_req_valid_o,
  input  logic cqe_req_ready_i,
  output iwarp_pkg::cqe_req_t cqe_req_o,
  output logic cqe_given_o,     // a completion was made; it follows on cqe_req
  output logic qp_async_valid_o,
  input  logic qp_async_ready_i,
  output iwarp_pkg::qp_async_t qp_async_o,
  input  logic cq_fault_valid_i,
  output logic cq_fault_ready_o,
  input  iwarp_pkg::cq_fault_t cq_fault_i,
  // start and stop: llp_if, mpa, ddp, rdmap
  output logic qp_ctl_llp_valid_o,
  input  logic qp_ctl_llp_ready_i,
  output iwarp_pkg::qp_ctl_llp_t qp_ctl_llp_o,
  output logic qp_ctl_mpa_valid_o,
  input  logic qp_ctl_mpa_ready_i,
  output iwarp_pkg::qp_ctl_mpa_t qp_ctl_mpa_o,
  output logic qp_ctl_ddp_valid_o,
  input  logic qp_ctl_ddp_ready_i,
  output iwarp_pkg::qp_ctl_ddp_t qp_ctl_ddp_o,
  output logic qp_ctl_rdmap_valid_o,
  input  logic qp_ctl_rdmap_ready_i,
  output iwarp_pkg::qp_ctl_rdmap_t qp_ctl_rdmap_o,
  input  logic qp_ack_llp_valid_i,
  output logic qp_ack_llp_ready_o,
  input  iwarp_pkg::qp_ack_llp_t qp_ack_llp_i,
  input  logic qp_ack_mpa_valid_i,
  output logic qp_ack_mpa_ready_o,
  input  iwarp_pkg::qp_ack_mpa_t qp_ack_mpa_i,
  input  logic qp_ack_ddp_valid_i,
  output logic qp_ack_ddp_ready_o,
  input  iwarp_pkg::qp_ack_ddp_t qp_ack_ddp_i,
  input  logic qp_ack_rdmap_valid_i,
  output logic qp_ack_rdmap_ready_o,
  input  iwarp_pkg::qp_ack_rdmap_t qp_ack_rdmap_i
);
  localparam int unsigned QpnW  = $clog2(rnic_pkg::NumQps);
  localparam int unsigned PreW  = $clog2(rnic_pkg::SqPrefetch);
  localparam int unsigned WinW  = $clog2(rnic_pkg::SqWindow) + 1;
  localparam int unsigned SlotW = $clog2(rnic_pkg::SqWindow);
  localparam int unsigned ItemW = `RNIC_QP_ITEM_W;

  logic            clear_busy;
  logic [QpnW-1:0] clear_addr;
  ram_clear #(.Depth(rnic_pkg::NumQps)) u_clear (
    .clk_i, .rst_ni, .busy_o(clear_busy), .addr_o(clear_addr)
  );
  assign ready_o = !clear_busy;

  // Broadcasts of the table owners; *_we: the row of *_qpn is written. Indices are ring indices.
  //   prod   qp_doorbell: index, the producer index of the SQ or of the RQ
  //   head   qp_emit, the send state: index of the next unit to be issued; tail of the window;
  //          issued messages (modulo 32) and requests (reads, modulo 128); failed; after_key: the
  //          last WQE was a registration or a bind
  //   win    qp_emit, a window entry: index after the WQE, opcode, signaled, length
  //   arr    qp_sq_fetch: index after the last unit in the buffer; asked: after the last unit
  //          requested; full: as many reads as allowed are outstanding; fail: a read came back bad
  //   ret    qp_retire: sq, rq: index after the last retired WQE; head of the window; reads:
  //          requests that have completed (modulo 128)
  //   freed  qp_slot: messages that ddp is done with (modulo 32)
  //   st     qp_state: run: WQEs may be issued; flush: in state error; watch: closing, and rdmap
  //          has no half_close yet; fin: the peer's FIN has arrived; ord, persist, privileged, pd
  //   set    qp_state: the QP is created or destroyed
  logic            prod_sq_we, prod_rq_we, head_we, head_failed,
                   arr_we, arr_full, arr_fail, ret_we, freed_we;
  logic            st_we, st_run, st_flush, st_watch, st_fin,
                   set_valid, set_exists, win_we, win_signaled;
  logic [QpnW-1:0] prod_qpn, head_qpn, arr_qpn, ret_qpn, freed_qpn, st_qpn, win_qpn;
  logic [15:0]     prod_index, head_index, arr_index, arr_asked, ret_sq, ret_rq, st_pd, win_after;
  logic [WinW-1:0] head_tail, ret_head;
  logic [4:0]      head_issued, freed;
  logic [6:0]      head_reads, ret_reads;
  logic [5:0]      st_ord;
  logic            st_persist, st_privileged, head_after_key;
  logic [SlotW-1:0] win_slot;
  logic [3:0]      win_opcode;
  logic [31:0]     win_length;

  // initialisation of a QP, a bit per leaf from bit 0 on: doorbell, slot, fetch, emit, retire,
  // rq_fetch. st_cur: the QP that qp_state works on
  logic [5:0]      init_valid, init_ready;
  logic            init_exists, init_is_srq, unused_init;
  iwarp_pkg::admin_qp_args_t init_args;
  logic [QpnW-1:0] st_cur;
  assign unused_init = ^{init_args.reserved2, init_args.srq, init_args.reserved1,
                         init_args.reserved0, init_args.privileged,
                         init_args.log_rq, init_args.log_sq, init_args.pd};

  // kicks and finishes, from bit 0 on: doorbell, fetch, slot, retire, state, pick, parse, emit
  logic [7:0]        op_valid, op_ready;
  logic [8*QpnW-1:0] op_qpn;
  logic              emit_requeue;
  logic              qpn_valid, qpn_ready;
  logic [QpnW-1:0]   qpn;
  qp_sched #(.Sources(8)) u_sched (
    .clk_i, .rst_ni, .clear_busy_i(clear_busy), .clear_addr_i(clear_addr),
    .op_valid_i(op_valid), .op_ready_o(op_ready),
    // pick (5), parse (6) and emit (7) own the QP in turn: each may finish it
    .op_finish_i(8'b11100000), .op_requeue_i({emit_requeue, 7'd0}),
    .op_qpn_i(op_qpn), .qpn_valid_o(qpn_valid), .qpn_ready_i(qpn_ready), .qpn_o(qpn)
  );
  assign op_qpn[4*QpnW +: QpnW] = st_cur;

  // doorbells. taken: index of a receive queue's next take
  logic            taken_we;
  logic [QpnW-1:0] taken_row;
  logic [15:0]     taken_index;
  logic            kick_rq_valid, kick_rq_ready, push_valid, push_ready, push_two;
  logic [QpnW-1:0] kick_db_qpn, push_qpn;
  logic [15:0]     push_first;
  logic [1023:0]   push_data;
  qp_doorbell u_doorbell (
    .clk_i, .rst_ni, .clear_busy_i(clear_busy), .clear_addr_i(clear_addr),
    .qp_doorbell_valid_i, .qp_doorbell_ready_o, .qp_doorbell_i, .bad_doorbell_o,
    .init_valid_i(init_valid[0]), .init_ready_o(init_ready[0]),
    .init_qpn_i(st_cur), .init_exists_i(init_exists), .init_page_i(init_args.page),
    .init_log_sq_i(init_args.log_sq[3:0]), .init_log_rq_i(init_args.log_rq[3:0]),
    .init_is_srq_i(init_is_srq), .init_has_srq_i(init_args.has_srq),
    .taken_we_i(taken_we), .taken_row_i(taken_row), .taken_index_i(taken_index),
    .ret_we_i(ret_we), .ret_qpn_i(ret_qpn), .ret_sq_i(ret_sq), .ret_rq_i(ret_rq),
    .prod_sq_we_o(prod_sq_we), .prod_rq_we_o(prod_rq_we),
    .prod_qpn_o(prod_qpn), .prod_index_o(prod_index),
    .kick_valid_o(op_valid[0]), .kick_ready_i(op_ready[0]), .kick_rq_valid_o(kick_rq_valid),
    .kick_rq_ready_i(kick_rq_ready), .kick_qpn_o(kick_db_qpn),
    .push_valid_o(push_valid), .push_ready_i(push_ready), .push_qpn_o(push_qpn),
    .push_first_o(push_first), .push_two_o(push_two), .push_data_o(push_data)
  );
  assign op_qpn[0 +: QpnW] = kick_db_qpn;

  // send: slots, fetch, issue
  qp_slot u_slot (
    .clk_i, .rst_ni, .sq_slot_free_valid_i, .sq_slot_free_ready_o, .sq_slot_free_i,
    .init_valid_i(init_valid[1]), .init_ready_o(init_ready[1]), .init_qpn_i(st_cur),
    .head_we_i(head_we), .head_qpn_i(head_qpn), .head_issued_i(head_issued),
    .freed_we_o(freed_we), .freed_qpn_o(freed_qpn), .freed_o(freed),
    .kick_valid_o(op_valid[2]), .kick_ready_i(op_ready[2]), .kick_qpn_o(op_qpn[2*QpnW +: QpnW])
  );

  // Requests to qp_sq_fetch for units, and barriers. qp_state sends a QP's barriers in this order:
  // barrier[0] through issue (qp_pick, qp_parse, qp_emit), then barrier[1] through qp_sq_fetch and
  // barrier[2] through qp_rq_fetch. When barrier[0] has come out, qp_pick and qp_parse have made
  // their last request for the QP, so barrier[1] follows all of them. barrier[1] goes before
  // requests of other QPs, because those may never stop.
  logic [2:0]        barrier_valid, barrier_ready, barrier_done;
  logic              fetch_pick_valid, fetch_pick_ready, fetch_parse_valid, fetch_parse_ready,
                     req_valid, req_ready;
  logic [QpnW-1:0]   fetch_pick_qpn, fetch_parse_qpn;
  logic [QpnW:0]     req;
  assign req_valid = fetch_pick_valid || fetch_parse_valid || barrier_valid[1];
  assign req       = barrier_valid[1] ? {1'b1, st_cur}
                   : {1'b0, fetch_parse_valid ? fetch_parse_qpn : fetch_pick_qpn};
  assign fetch_parse_ready = req_ready && !barrier_valid[1];
  assign fetch_pick_ready  = req_ready && !barrier_valid[1] && !fetch_parse_valid;
  assign barrier_ready[1]  = req_ready;

  logic            unit_re;
  logic [QpnW-1:0] unit_qpn;
  logic [PreW-1:0] unit_index;
  logic [511:0]    unit_data;
  qp_sq_fetch u_sq_fetch (
    .clk_i, .rst_ni,
    .req_valid_i(req_valid), .req_ready_o(req_ready),
    .req_barrier_i(req[QpnW]), .req_qpn_i(req[QpnW-1:0]),
    .barrier_done_o(barrier_done[1]),
    .push_valid_i(push_valid), .push_ready_o(push_ready), .push_qpn_i(push_qpn),
    .push_first_i(push_first), .push_two_i(push_two), .push_data_i(push_data),
    .init_valid_i(init_valid[2]), .init_ready_o(init_ready[2]), .init_qpn_i(st_cur),
    .init_base_i(init_args.sq_base), .init_log_i(init_args.log_sq[3:0]),
    .prod_we_i(prod_sq_we), .prod_qpn_i(prod_qpn), .prod_index_i(prod_index),
    .head_we_i(head_we), .head_qpn_i(head_qpn), .head_index_i(head_index),
    .arr_we_o(arr_we), .arr_qpn_o(arr_qpn), .arr_index_o(arr_index), .arr_asked_o(arr_asked),
    .arr_full_o(arr_full), .arr_fail_o(arr_fail),
    .kick_valid_o(op_valid[1]), .kick_ready_i(op_ready[1]), .kick_qpn_o(op_qpn[QpnW +: QpnW]),
    .unit_re_i(unit_re), .unit_qpn_i(unit_qpn), .unit_index_i(unit_index), .unit_o(unit_data),
    .sq_rd_req_valid_o, .sq_rd_req_ready_i, .sq_rd_req_o,
    .sq_rd_hdr_valid_i, .sq_rd_hdr_ready_o, .sq_rd_hdr_i,
    .sq_rd_valid_i, .sq_rd_ready_o, .sq_rd_i
  );

  // go: a visit, with what qp_pick has read of the QP. empty: a closing QP has retired all its
  // WQEs. flush: a QP in state error may have posted WQEs.
  logic            go_valid, go_ready, go_barrier, go_fail, go_fin,
                   empty_valid, empty_ready, flush_valid, flush_ready;
  logic [QpnW-1:0] go_qpn, empty_qpn, flush_qpn;
  logic [15:0]     go_head, go_pd;
  logic [6:0]      go_have, go_avail;
  logic [3:0]      go_wqes;
  logic [WinW-1:0] go_tail;
  logic [4:0]      go_issued;
  logic [6:0]      go_reads, go_pending;
  logic [5:0]      go_ord;
  logic            go_persist, go_privileged, go_after_key;
  qp_pick u_pick (
    .clk_i, .rst_ni, .clear_busy_i(clear_busy), .clear_addr_i(clear_addr),
    .qpn_valid_i(qpn_valid), .qpn_ready_o(qpn_ready), .qpn_i(qpn),
    .barrier_valid_i(barrier_valid[0]), .barrier_ready_o(barrier_ready[0]),
    .st_we_i(st_we), .st_qpn_i(st_qpn), .st_run_i(st_run), .st_flush_i(st_flush),
    .st_watch_i(st_watch), .st_fin_i(st_fin), .st_ord_i(st_ord),
    .st_persist_i(st_persist), .st_privileged_i(st_privileged), .st_pd_i(st_pd),
    .head_we_i(head_we), .head_qpn_i(head_qpn), .head_index_i(head_index), .head_tail_i(head_tail),
    .head_issued_i(head_issued), .head_reads_i(head_reads),
    .head_failed_i(head_failed), .head_after_key_i(head_after_key),
    .prod_we_i(prod_sq_we), .prod_qpn_i(prod_qpn), .prod_index_i(prod_index),
    .arr_we_i(arr_we), .arr_qpn_i(arr_qpn), .arr_index_i(arr_index), .arr_asked_i(arr_asked),
    .arr_full_i(arr_full), .arr_fail_i(arr_fail),
    .ret_we_i(ret_we), .ret_qpn_i(ret_qpn), .ret_sq_i(ret_sq),
    .ret_head_i(ret_head), .ret_reads_i(ret_reads),
    .freed_we_i(freed_we), .freed_qpn_i(freed_qpn), .freed_i(freed),
    .go_valid_o(go_valid), .go_ready_i(go_ready), .go_barrier_o(go_barrier),
    .go_qpn_o(go_qpn), .go_head_o(go_head), .go_have_o(go_have), .go_avail_o(go_avail),
    .go_wqes_o(go_wqes), .go_fail_o(go_fail), .go_tail_o(go_tail), .go_issued_o(go_issued),
    .go_reads_o(go_reads), .go_pending_o(go_pending), .go_fin_o(go_fin), .go_ord_o(go_ord),
    .go_persist_o(go_persist), .go_privileged_o(go_privileged),
    .go_after_key_o(go_after_key), .go_pd_o(go_pd),
    .fetch_valid_o(fetch_pick_valid), .fetch_ready_i(fetch_pick_ready),
    .fetch_qpn_o(fetch_pick_qpn),
    .empty_valid_o(empty_valid), .empty_ready_i(empty_ready), .empty_qpn_o(empty_qpn),
    .flush_valid_o(flush_valid), .flush_ready_i(flush_ready), .flush_qpn_o(flush_qpn),
    .finish_valid_o(op_valid[5]), .finish_ready_i(op_ready[5]),
    .finish_qpn_o(op_qpn[5*QpnW +: QpnW])
  );

  // item: a judged WQE; body: its beats. fail: a WQE failed before it was issued.
  logic             item_valid, item_ready, body_valid, body_ready;
  logic [ItemW-1:0] item;
  iwarp_pkg::beat_t body;
  qp_parse u_parse (
    .clk_i, .rst_ni,
    .go_valid_i(go_valid), .go_ready_o(go_ready), .go_barrier_i(go_barrier), .go_qpn_i(go_qpn),
    .go_head_i(go_head), .go_have_i(go_have), .go_avail_i(go_avail), .go_wqes_i(go_wqes),
    .go_fail_i(go_fail), .go_tail_i(go_tail), .go_issued_i(go_issued), .go_reads_i(go_reads),
    .go_pending_i(go_pending), .go_fin_i(go_fin), .go_ord_i(go_ord), .go_persist_i(go_persist),
    .go_privileged_i(go_privileged), .go_after_key_i(go_after_key), .go_pd_i(go_pd),
    .unit_re_o(unit_re), .unit_qpn_o(unit_qpn), .unit_index_o(unit_index), .unit_i(unit_data),
    .fetch_valid_o(fetch_parse_valid), .fetch_ready_i(fetch_parse_ready),
    .fetch_qpn_o(fetch_parse_qpn),
    .finish_valid_o(op_valid[6]), .finish_ready_i(op_ready[6]),
    .finish_qpn_o(op_qpn[6*QpnW +: QpnW]),
    .wqe_check_valid_o, .wqe_check_ready_i, .wqe_check_o,
    .item_valid_o(item_valid), .item_ready_i(item_ready), .item_o(item),
    .body_valid_o(body_valid), .body_ready_i(body_ready), .body_o(body)
  );

  logic             fail_valid, fail_ready, emit_fault_valid, emit_fault_ready;
  logic [QpnW-1:0]  fail_qpn;
  logic [SlotW-1:0] fail_slot;
  logic [7:0]       fail_status;
  iwarp_pkg::qp_fault_t emit_fault;
  qp_emit u_emit (
    .clk_i, .rst_ni, .item_valid_i(item_valid), .item_ready_o(item_ready), .item_i(item),
    .body_valid_i(body_valid), .body_ready_o(body_ready), .body_i(body),
    .wqe_check_rsp_valid_i, .wqe_check_rsp_ready_o, .wqe_check_rsp_i,
    .barrier_done_o(barrier_done[0]),
    .init_valid_i(init_valid[3]), .init_ready_o(init_ready[3]), .init_qpn_i(st_cur),
    .head_we_o(head_we), .head_qpn_o(head_qpn), .head_index_o(head_index), .head_tail_o(head_tail),
    .head_issued_o(head_issued), .head_reads_o(head_reads),
    .head_failed_o(head_failed), .head_after_key_o(head_after_key),
    .win_we_o(win_we), .win_qpn_o(win_qpn), .win_slot_o(win_slot),
    .win_after_o(win_after), .win_opcode_o(win_opcode),
    .win_signaled_o(win_signaled), .win_length_o(win_length),
    .fail_valid_o(fail_valid), .fail_ready_i(fail_ready),
    .fail_qpn_o(fail_qpn), .fail_slot_o(fail_slot), .fail_status_o(fail_status),
    .finish_valid_o(op_valid[7]), .finish_ready_i(op_ready[7]), .finish_requeue_o(emit_requeue),
    .finish_qpn_o(op_qpn[7*QpnW +: QpnW]),
    .qp_fault_valid_o(emit_fault_valid), .qp_fault_ready_i(emit_fault_ready),
    .qp_fault_o(emit_fault),
    .wqe_hdr_valid_o, .wqe_hdr_ready_i, .wqe_hdr_o, .wqe_valid_o, .wqe_ready_i, .wqe_o
  );

  // retirement. ret_req: look, mark or flush for qp_state; ret_rsp answers it
  logic             ret_req_valid, ret_req_ready, ret_rsp_valid, ret_rsp_empty, ret_rsp_reads;
  logic [1:0]       ret_req_op;
  logic [SlotW-1:0] ret_req_slot;
  logic [7:0]       ret_req_status;
  logic [15:0]      ret_rsp_sq, ret_rsp_rq;
  qp_retire u_retire (
    .clk_i, .rst_ni,
    .wr_done_valid_i, .wr_done_ready_o, .wr_done_i,
    .rx_done_valid_i, .rx_done_ready_o, .rx_done_i,
    .res_done_valid_i, .res_done_ready_o, .res_done_i,
    .fail_valid_i(fail_valid), .fail_ready_o(fail_ready),
    .fail_qpn_i(fail_qpn), .fail_slot_i(fail_slot), .fail_status_i(fail_status),
    .win_we_i(win_we), .win_qpn_i(win_qpn), .win_slot_i(win_slot),
    .win_after_i(win_after), .win_opcode_i(win_opcode),
    .win_signaled_i(win_signaled), .win_length_i(win_length),
    .head_we_i(head_we), .head_qpn_i(head_qpn), .head_tail_i(head_tail), .head_reads_i(head_reads),
    .flush_valid_i(flush_valid), .flush_ready_o(flush_ready), .flush_qpn_i(flush_qpn),
    .req_valid_i(ret_req_valid), .req_ready_o(ret_req_ready), .req_op_i(ret_req_op),
    .req_qpn_i(st_cur), .req_slot_i(ret_req_slot), .req_status_i(ret_req_status),
    .rsp_valid_o(ret_rsp_valid), .rsp_sq_o(ret_rsp_sq),
    .rsp_rq_o(ret_rsp_rq), .rsp_empty_o(ret_rsp_empty), .rsp_reads_o(ret_rsp_reads),
    .init_valid_i(init_valid[4]), .init_ready_o(init_ready[4]), .init_qpn_i(st_cur),
    .init_send_cq_i(init_args.send_cq), .init_recv_cq_i(init_args.recv_cq),
    .init_has_srq_i(init_args.has_srq),
    .prod_sq_we_i(prod_sq_we), .prod_rq_we_i(prod_rq_we),
    .prod_qpn_i(prod_qpn), .prod_index_i(prod_index),
    .st_we_i(st_we), .st_qpn_i(st_qpn), .st_watch_i(st_watch),
    .ret_we_o(ret_we), .ret_qpn_o(ret_qpn), .ret_sq_o(ret_sq),
    .ret_rq_o(ret_rq), .ret_head_o(ret_head), .ret_reads_o(ret_reads),
    .kick_valid_o(op_valid[3]), .kick_ready_i(op_ready[3]), .kick_qpn_o(op_qpn[3*QpnW +: QpnW]),
    .cqe_req_valid_o, .cqe_req_ready_i, .cqe_req_o, .cqe_given_o
  );

  // receive. limit_set: modify_srq sets the limit of an SRQ; limit: it was reached
  logic            limit_valid, limit_ready, limit_set_valid, limit_set_ready;
  logic [QpnW-1:0] limit_row;
  logic [15:0]     limit_set;
  qp_rq_fetch u_rq_fetch (
    .clk_i, .rst_ni, .clear_busy_i(clear_busy), .clear_addr_i(clear_addr),
    .rq_take_req_valid_i, .rq_take_req_ready_o, .rq_take_req_i,
    .rq_take_rsp_valid_o, .rq_take_rsp_ready_i, .rq_take_rsp_o,
    .kick_valid_i(kick_rq_valid), .kick_ready_o(kick_rq_ready), .kick_qpn_i(kick_db_qpn),
    .prod_we_i(prod_rq_we), .prod_qpn_i(prod_qpn), .prod_index_i(prod_index),
    .init_valid_i(init_valid[5]), .init_ready_o(init_ready[5]), .init_qpn_i(st_cur),
    .init_base_i(init_args.rq_base), .init_log_i(init_args.log_rq[3:0]),
    .init_has_srq_i(init_args.has_srq), .init_srq_i(init_args.srq[QpnW-1:0]),
    .set_valid_i(limit_set_valid), .set_ready_o(limit_set_ready),
    .set_row_i(st_cur), .set_limit_i(limit_set),
    .limit_valid_o(limit_valid), .limit_ready_i(limit_ready), .limit_row_o(limit_row),
    .taken_we_o(taken_we), .taken_row_o(taken_row), .taken_index_o(taken_index),
    .bar_valid_i(qp_error_valid_i && qp_error_ready_o &&
                 qp_error_i.cause != iwarp_pkg::CauseNone),
    .bar_qpn_i(qp_error_i.qpn[QpnW-1:0]),
    .stop_valid_i(barrier_valid[2]), .stop_ready_o(barrier_ready[2]),
    .stop_qpn_i(st_cur), .stop_done_o(barrier_done[2]),
    .rq_rd_req_valid_o, .rq_rd_req_ready_i, .rq_rd_req_o,
    .rq_rd_hdr_valid_i, .rq_rd_hdr_ready_o, .rq_rd_hdr_i,
    .rq_rd_valid_i, .rq_rd_ready_o, .rq_rd_i
  );

  // states. walk: a QP of an overrun CQ; event: pending events of a QP; ctl: an order to the other
  // units; *_async: an event entry for cq
  logic                  state_async_valid, state_async_ready;
  iwarp_pkg::qp_async_t  state_async;
  logic            walk_valid, walk_ready, event_valid, event_ready,
                   state_fault_valid, state_fault_ready;
  logic            ctl_valid, ctl_done, ctl_graceful, walk_idle, event_idle;
  logic [QpnW-1:0] walk_qpn, event_qpn;
  logic [6:0]      event_bits;
  logic [2:0]      ctl_op;
  iwarp_pkg::qp_error_t  event_error;
  iwarp_pkg::qp_fault_t  state_fault;
  iwarp_pkg::qp_params_t ctl_params;
  qp_cq_walk u_cq_walk (
    .clk_i, .rst_ni, .clear_busy_i(clear_busy), .clear_addr_i(clear_addr),
    .cq_fault_valid_i, .cq_fault_ready_o, .cq_fault_i,
    .set_valid_i(set_valid), .set_qpn_i(st_cur), .set_exists_i(set_exists),
    .set_send_cq_i(init_args.send_cq), .set_recv_cq_i(init_args.recv_cq),
    .walk_valid_o(walk_valid), .walk_ready_i(walk_ready), .walk_qpn_o(walk_qpn),
    .idle_o(walk_idle)
  );
  qp_event u_event (
    .clk_i, .rst_ni, .clear_busy_i(clear_busy), .clear_addr_i(clear_addr),
    .qp_error_valid_i, .qp_error_ready_o, .qp_error_i,
    .llp_event_valid_i, .llp_event_ready_o, .llp_event_i,
    .empty_valid_i(empty_valid), .empty_ready_o(empty_ready), .empty_qpn_i(empty_qpn),
    .walk_valid_i(walk_valid), .walk_ready_o(walk_ready), .walk_qpn_i(walk_qpn),
    .event_valid_o(event_valid), .event_ready_i(event_ready),
    .event_qpn_o(event_qpn), .event_bits_o(event_bits),
    .event_error_o(event_error), .idle_o(event_idle)
  );
  qp_state u_state (
    .clk_i, .rst_ni, .clear_busy_i(clear_busy), .clear_addr_i(clear_addr),
    .qp_cmd_valid_i, .qp_cmd_ready_o, .qp_cmd_i,
    .qp_cmd_rsp_valid_o, .qp_cmd_rsp_ready_i, .qp_cmd_rsp_o,
    .event_valid_i(event_valid), .event_ready_o(event_ready),
    .event_qpn_i(event_qpn), .event_bits_i(event_bits),
    .event_error_i(event_error), .news_idle_i(walk_idle && event_idle),
    .st_we_o(st_we), .st_qpn_o(st_qpn), .st_run_o(st_run), .st_flush_o(st_flush),
    .st_watch_o(st_watch), .st_fin_o(st_fin), .st_ord_o(st_ord),
    .st_persist_o(st_persist), .st_privileged_o(st_privileged), .st_pd_o(st_pd),
    .set_valid_o(set_valid), .set_exists_o(set_exists),
    .init_valid_o(init_valid), .init_ready_i(init_ready),
    .init_exists_o(init_exists), .init_is_srq_o(init_is_srq), .init_args_o(init_args),
    .limit_valid_o(limit_set_valid), .limit_ready_i(limit_set_ready), .limit_o(limit_set),
    .barrier_valid_o(barrier_valid), .barrier_ready_i(barrier_ready), .barrier_done_i(barrier_done),
    .ret_req_valid_o(ret_req_valid), .ret_req_ready_i(ret_req_ready), .ret_req_op_o(ret_req_op),
    .ret_req_slot_o(ret_req_slot), .ret_req_status_o(ret_req_status),
    .ret_rsp_valid_i(ret_rsp_valid), .ret_rsp_sq_i(ret_rsp_sq), .ret_rsp_rq_i(ret_rsp_rq),
    .ret_rsp_empty_i(ret_rsp_empty), .ret_rsp_reads_i(ret_rsp_reads),
    .ctl_valid_o(ctl_valid), .ctl_op_o(ctl_op), .ctl_graceful_o(ctl_graceful),
    .ctl_params_o(ctl_params), .ctl_done_i(ctl_done),
    .kick_valid_o(op_valid[4]), .kick_ready_i(op_ready[4]), .qpn_o(st_cur),
    .qp_fault_valid_o(state_fault_valid), .qp_fault_ready_i(state_fault_ready),
    .qp_fault_o(state_fault),
    .qp_async_valid_o(state_async_valid), .qp_async_ready_i(state_async_ready),
    .qp_async_o(state_async),
    .qp_purge_valid_o, .qp_purge_ready_i, .qp_purge_o
  );
  qp_ctl u_ctl (
    .clk_i, .rst_ni, .req_valid_i(ctl_valid), .req_op_i(ctl_op), .req_graceful_i(ctl_graceful),
    .req_qpn_i(16'(st_cur)), .req_params_i(ctl_params),
    .done_o(ctl_done),
    .qp_ctl_llp_valid_o, .qp_ctl_llp_ready_i, .qp_ctl_llp_o,
    .qp_ctl_mpa_valid_o, .qp_ctl_mpa_ready_i, .qp_ctl_mpa_o,
    .qp_ctl_ddp_valid_o, .qp_ctl_ddp_ready_i, .qp_ctl_ddp_o,
    .qp_ctl_rdmap_valid_o, .qp_ctl_rdmap_ready_i, .qp_ctl_rdmap_o,
    .qp_ack_llp_valid_i, .qp_ack_llp_ready_o, .qp_ack_llp_i,
    .qp_ack_mpa_valid_i, .qp_ack_mpa_ready_o, .qp_ack_mpa_i,
    .qp_ack_ddp_valid_i, .qp_ack_ddp_ready_o, .qp_ack_ddp_i,
    .qp_ack_rdmap_valid_i, .qp_ack_rdmap_ready_o, .qp_ack_rdmap_i
  );

  logic unused_fault;
  stream_arb #(.Width(iwarp_pkg::QpFaultWidth), .N(2)) u_fault (
    .clk_i, .rst_ni,
    .valid_i({state_fault_valid, emit_fault_valid}),
    .ready_o({state_fault_ready, emit_fault_ready}), .data_i({state_fault, emit_fault}),
    .valid_o(qp_fault_valid_o), .ready_i(qp_fault_ready_i), .data_o(qp_fault_o),
    .index_o(unused_fault)
  );

  logic unused_async;
  stream_arb #(.Width(iwarp_pkg::QpAsyncWidth), .N(2)) u_async (
    .clk_i, .rst_ni,
    .valid_i({limit_valid, state_async_valid}), .ready_o({limit_ready, state_async_ready}),
    .data_i({16'(limit_row), state_async}),
    .valid_o(qp_async_valid_o), .ready_i(qp_async_ready_i), .data_o(qp_async_o),
    .index_o(unused_async)
  );

  logic moved;
  assign moved = (wqe_hdr_valid_o && wqe_hdr_ready_i) || (wqe_valid_o && wqe_ready_i) ||
                 (cqe_req_valid_o && cqe_req_ready_i) ||
                 (rq_take_rsp_valid_o && rq_take_rsp_ready_i) || (sq_rd_valid_i && sq_rd_ready_o) ||
                 (rq_rd_valid_i && rq_rd_ready_o) || (qp_doorbell_valid_i && qp_doorbell_ready_o);
  unit_counter u_count (
    .clk_i, .rst_ni, .items_i(wqe_hdr_valid_o && wqe_hdr_ready_i),
    .busy_i(moved),
    .stalled_i(|({sq_rd_req_valid_o, rq_rd_req_valid_o, qp_cmd_rsp_valid_o,
                  qp_ctl_llp_valid_o, qp_ctl_mpa_valid_o, qp_ctl_ddp_valid_o, qp_ctl_rdmap_valid_o,
                  wqe_check_valid_o, wqe_hdr_valid_o, wqe_valid_o,
                  rq_take_rsp_valid_o, cqe_req_valid_o,
                  qp_async_valid_o, qp_fault_valid_o, qp_purge_valid_o} &
                 ~{sq_rd_req_ready_i, rq_rd_req_ready_i, qp_cmd_rsp_ready_i,
                   qp_ctl_llp_ready_i, qp_ctl_mpa_ready_i, qp_ctl_ddp_ready_i, qp_ctl_rdmap_ready_i,
                   wqe_check_ready_i, wqe_hdr_ready_i, wqe_ready_i,
                   rq_take_rsp_ready_i, cqe_req_ready_i,
                   qp_async_ready_i, qp_fault_ready_i, qp_purge_ready_i})),
    .count_o
  );

  // Simulation only: commit trace (architecture 10)
  iwarp_pkg::sq_fetch_commit_t tap_sq_fetch /*verilator public_flat_rd*/;
  iwarp_pkg::rq_fetch_commit_t tap_rq_fetch /*verilator public_flat_rd*/;
  assign tap_sq_fetch = {sq_rd_req_valid_o && sq_rd_req_ready_i, sq_rd_req_o};
  assign tap_rq_fetch = {rq_rd_req_valid_o && rq_rd_req_ready_i, rq_rd_req_o};
endmodule

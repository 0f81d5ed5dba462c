// rdmap: the message layer. RFC 5040. This module wires the leaves, and counts.
//
//   wqe_hdr, wqe --> [ rdmap_wqe ] --+--------------bodies---------------+
//   rx_segment ------------------+   v                                   v
//                                +> [ rdmap_core ] ---SQ messages--> [ rdmap_tx ] --> tx_message
//   qp_fault, tx_fault ----------+   |   |  ^  \--> rx_verdict          ^   ^
//   resp_slot_free --------------+   |   v  |                           |   |
//   qp_ctl --> [ rdmap_ack ] ----+   | [ rdmap_resp ] <--> tpt, atomic ---+   |
//                                    +--> [ rdmap_term ] --> qp_error, Term. +
//
// Throughput: 1 operation per cycle in total. An operation is a WQE, a received segment, a request
// handed to the responder, a released response slot, a start, a stop or a fault. A Read takes 2
// operations at its requester and 3 at its responder. rdmap_tx sends a message of one beat every 2
// cycles.
// Latency: 6 cycles from segment to verdict, 7 from WQE to message, 14 plus tpt's check from Read
// Request to its response (model/rdmap/rdmap_timing.hpp).
// Waits: rdmap_core starts an operation only when every queue that it may fill has room: verdicts,
// results, messages, errors. Receive waits for transmit only while errors are queued for ddp, and
// ddp always takes a Terminate.
// Leaves: rdmap_core (tables, decisions; in it rdmap_pick, rdmap_rx, rdmap_row, rdmap_judge,
// rdmap_message), rdmap_wqe, rdmap_tx, rdmap_local, rdmap_resp (in it rdmap_read, rdmap_atomic),
// rdmap_term, rdmap_ack, rdmap_room.
// Decision: docs/decisions/0009-rdmap-pipeline.md. Model: model/rdmap/rdmap.hpp.
// Bench: tb/rdmap/rdmap_test.cpp. Contract: docs/theory-of-operation.md
`include "rnic_assert.svh"
`include "rnic_words.svh"

module rdmap (
  input  logic clk_i,
  input  logic rst_ni,
  output logic ready_o,
  output iwarp_pkg::unit_count_t count_o,
  // from and to qp
  input  logic qp_ctl_rdmap_valid_i,
  output logic qp_ctl_rdmap_ready_o,
  input  iwarp_pkg::qp_ctl_rdmap_t qp_ctl_rdmap_i,
  output logic qp_ack_rdmap_valid_o,
  input  logic qp_ack_rdmap_ready_i,
  output iwarp_pkg::qp_ack_rdmap_t qp_ack_rdmap_o,
  input  logic wqe_hdr_valid_i,
  output logic wqe_hdr_ready_o,
  input  iwarp_pkg::wqe_hdr_t wqe_hdr_i,
  input  logic wqe_valid_i,
  output logic wqe_ready_o,
  input  iwarp_pkg::beat_t wqe_i,
  input  logic qp_fault_valid_i,
  output logic qp_fault_ready_o,
  input  iwarp_pkg::qp_fault_t qp_fault_i,
  output logic qp_error_valid_o,
  input  logic qp_error_ready_i,
  output iwarp_pkg::qp_error_t qp_error_o,
  output logic res_done_valid_o,
  input  logic res_done_ready_i,
  output iwarp_pkg::res_done_t res_done_o,
  // from host_if
  input  logic [63:0] placed_i,
  // from and to atomic
  output logic atomic_req_valid_o,
  input  logic atomic_req_ready_i,
  output iwarp_pkg::atomic_req_t atomic_req_o,
  output logic atomic_dead_valid_o,
  input  logic atomic_dead_ready_i,
  output iwarp_pkg::atomic_dead_t atomic_dead_o,
  input  logic atomic_rsp_valid_i,
  output logic atomic_rsp_ready_o,
  input  iwarp_pkg::atomic_rsp_t atomic_rsp_i,
  // from and to tpt
  output logic sq_local_valid_o,
  input  logic sq_local_ready_i,
  output iwarp_pkg::sq_local_t sq_local_o,
  input  logic sq_local_done_valid_i,
  output logic sq_local_done_ready_o,
  input  iwarp_pkg::sq_local_done_t sq_local_done_i,
  output logic resp_check_valid_o,
  input  logic resp_check_ready_i,
  output iwarp_pkg::resp_check_t resp_check_o,
  input  logic resp_check_rsp_valid_i,
  output logic resp_check_rsp_ready_o,
  input  iwarp_pkg::resp_check_rsp_t resp_check_rsp_i,
  // from and to ddp
  output logic tx_message_hdr_valid_o,
  input  logic tx_message_hdr_ready_i,
  output iwarp_pkg::tx_message_hdr_t tx_message_hdr_o,
  output logic tx_message_valid_o,
  input  logic tx_message_ready_i,
  output iwarp_pkg::beat_t tx_message_o,
  input  logic resp_slot_free_valid_i,
  output logic resp_slot_free_ready_o,
  input  iwarp_pkg::resp_slot_free_t resp_slot_free_i,
  input  logic resp_fetched_valid_i,
  output logic resp_fetched_ready_o,
  input  iwarp_pkg::resp_fetched_t resp_fetched_i,
  input  logic tx_fault_valid_i,
  output logic tx_fault_ready_o,
  input  iwarp_pkg::tx_fault_t tx_fault_i,
  input  logic rx_segment_valid_i,
  output logic rx_segment_ready_o,
  input  iwarp_pkg::rx_segment_t rx_segment_i,
  output logic rx_verdict_valid_o,
  input  logic rx_verdict_ready_i,
  output iwarp_pkg::rx_verdict_t rx_verdict_o
);
  localparam int unsigned JobW    = `RNIC_RDMAP_JOB_W;
  localparam int unsigned HeadW   = `RNIC_RDMAP_HEAD_W;
  localparam int unsigned ResultW = `RNIC_RDMAP_RESULT_W;
  localparam int unsigned OwnW    = `RNIC_RDMAP_OWN_W;
  // Queues at the outputs of rdmap_core: 4 operations are in flight from pick to decide.
  localparam int unsigned QueueDepth = rnic_pkg::FifoDepth + 4;

  // --- inputs
  logic wh_valid, wh_ready, sge_valid, sge_ready, body_valid, body_ready;
  logic seg_valid, seg_ready, free_valid, free_ready;
  iwarp_pkg::wqe_hdr_t        wh;
  logic [OwnW-1:0]            sge;
  iwarp_pkg::beat_t           body;
  iwarp_pkg::rx_segment_t     seg;
  iwarp_pkg::resp_slot_free_t freed;
  logic [$clog2(rnic_pkg::FifoDepth + 1)-1:0] frees;
  rdmap_wqe u_wqe (
    .clk_i, .rst_ni, .hdr_valid_i(wqe_hdr_valid_i), .hdr_ready_o(wqe_hdr_ready_o),
    .hdr_i(wqe_hdr_i),
    .beat_valid_i(wqe_valid_i), .beat_ready_o(wqe_ready_o), .beat_i(wqe_i),
    .hdr_valid_o(wh_valid), .hdr_ready_i(wh_ready), .hdr_o(wh), .sge_valid_o(sge_valid),
    .sge_ready_i(sge_ready), .sge_o(sge),
    .body_valid_o(body_valid), .body_ready_i(body_ready), .body_o(body)
  );
  stream_fifo #(.Width(iwarp_pkg::RxSegmentWidth), .Depth(rnic_pkg::FifoDepth)) u_seg (
    .clk_i, .rst_ni, .valid_i(rx_segment_valid_i), .ready_o(rx_segment_ready_o),
    .data_i(rx_segment_i),
    .valid_o(seg_valid), .ready_i(seg_ready), .data_o(seg), .count_o()
  );
  stream_fifo #(.Width(iwarp_pkg::RespSlotFreeWidth), .Depth(rnic_pkg::FifoDepth)) u_free (
    .clk_i, .rst_ni, .valid_i(resp_slot_free_valid_i), .ready_o(resp_slot_free_ready_o),
    .data_i(resp_slot_free_i),
    .valid_o(free_valid), .ready_i(free_ready), .data_o(freed), .count_o(frees)
  );

  // A sync goes to rdmap_ack alone; rdmap_core takes every other order (core_takes).
  logic is_sync, core_takes;
  assign is_sync              = qp_ctl_rdmap_i.op == iwarp_pkg::QpoSync;
  assign qp_ctl_rdmap_ready_o = is_sync ? ctl_free && ready_o : core_takes;

  // --- core. sq_drop: the WQE's QP has failed or stopped. sq_own: the body is sq_data, made from
  // the WQE. sq_own_table: a request to our own table, that is to tpt (local invalidation, fast
  // registration, bind): no message. q_*: the same signals after the queue u_sq.
  logic ctl_free, ctl_done, stopped, dead, verdict_valid, work_valid, head_req, head_req_ready;
  logic head_valid, head_ok, fail, fail_ready, fail_done, job_valid, job_q_valid, job_q_ready;
  logic sq_valid, sq_drop, sq_own, sq_own_table, sq_q_valid, sq_q_ready, q_drop, q_own, q_own_table;
  logic core_fails, core_fail_ready, core_fail_done;
  logic [15:0]  qpn, head_qpn;
  logic [HeadW-1:0] head;
  logic [JobW-1:0]  job, job_q;
  logic [415:0]     sq_data, q_data;   // 52 bytes: an Atomic Request is the longest own body
  logic             result_valid, result_out, core_ready, resp_ready_now, ask, idle;
  logic [ResultW-1:0] result;
  logic [15:0]      ask_qpn;
  iwarp_pkg::tx_fault_t       failed, core_failed;
  iwarp_pkg::rx_verdict_t     verdict;
  iwarp_pkg::tx_message_hdr_t sq, q_sq;

  rdmap_core #(.QueueDepth(QueueDepth)) u_core (
    .clk_i, .rst_ni, .ready_o(core_ready),
    .ctl_valid_i(qp_ctl_rdmap_valid_i && ctl_free && !is_sync), .ctl_ready_o(core_takes),
    .ctl_i(qp_ctl_rdmap_i),
    .ctl_done_o(ctl_done), .stopped_o(stopped), .dead_o(dead), .qpn_o(qpn),
    .qp_fault_valid_i, .qp_fault_ready_o, .qp_fault_i, .tx_fault_valid_i, .tx_fault_ready_o,
    .tx_fault_i,
    .resp_fail_valid_i(core_fails), .resp_fail_ready_o(core_fail_ready), .resp_fail_i(core_failed),
    .resp_fail_done_o(core_fail_done),
    .seg_valid_i(seg_valid), .seg_ready_o(seg_ready), .seg_i(seg),
    .verdict_valid_o(verdict_valid), .verdict_o(verdict),
    .verdict_left_i(rx_verdict_valid_o && rx_verdict_ready_i),
    .result_valid_o(result_valid), .result_o(result), .result_left_i(result_out),
    .work_valid_o(work_valid), .head_req_valid_i(head_req), .head_req_ready_o(head_req_ready),
    .head_req_qpn_i(head_qpn),
    .head_valid_o(head_valid), .head_ok_o(head_ok), .head_o(head),
    .free_valid_i(free_valid), .free_ready_o(free_ready), .free_qpn_i(freed.qpn),
    .free_waits_i(frees != '0),
    .wqe_valid_i(wh_valid), .wqe_ready_o(wh_ready), .wqe_i(wh), .sge_valid_i(sge_valid),
    .sge_ready_o(sge_ready), .sge_i(sge),
    .sq_valid_o(sq_valid), .sq_drop_o(sq_drop), .sq_own_o(sq_own), .sq_local_o(sq_own_table),
    .sq_o(sq), .sq_data_o(sq_data),
    .sq_left_i(sq_q_valid && sq_q_ready),
    .term_valid_o(job_valid), .term_o(job), .term_left_i(job_q_valid && job_q_ready)
  );

  // Each queue has room: rdmap_core counts (Room_A).
  logic verdict_room, sq_room, job_room;
  stream_fifo #(.Width(iwarp_pkg::RxVerdictWidth), .Depth(QueueDepth), .Reserved(1'b1)) u_verdict (
    .clk_i, .rst_ni, .valid_i(verdict_valid), .ready_o(verdict_room), .data_i(verdict),
    .valid_o(rx_verdict_valid_o), .ready_i(rx_verdict_ready_i), .data_o(rx_verdict_o), .count_o()
  );
  stream_fifo #(
    .Width(iwarp_pkg::TxMessageHdrWidth + 416 + 3), .Depth(QueueDepth), .Reserved(1'b1)
  ) u_sq (
    .clk_i, .rst_ni,
    .valid_i(sq_valid), .ready_o(sq_room),
    .data_i({sq_drop, sq_own, sq_own_table, sq, sq_data}),
    .valid_o(sq_q_valid), .ready_i(sq_q_ready),
    .data_o({q_drop, q_own, q_own_table, q_sq, q_data}), .count_o()
  );
  stream_fifo #(.Width(JobW), .Depth(QueueDepth), .Reserved(1'b1)) u_jobs (
    .clk_i, .rst_ni, .valid_i(job_valid), .ready_o(job_room), .data_i(job),
    .valid_o(job_q_valid), .ready_i(job_q_ready), .data_o(job_q), .count_o()
  );

  // --- responder
  logic resp_valid, resp_ready, request_in, request_out, stored_valid, stored_ready;
  iwarp_pkg::res_done_t stored;
  logic [1:0] response_in, response_passed;
  iwarp_pkg::tx_message_hdr_t resp_msg;
  logic [127:0] resp_data;   // one SGE, or the 12 bytes of an Atomic Response
  rdmap_resp #(.ResultDepth(QueueDepth)) u_resp (
    .clk_i, .rst_ni, .ready_o(resp_ready_now), .placed_i,
    .result_valid_i(result_valid), .result_i(result), .result_left_o(result_out),
    .fetched_valid_i(resp_fetched_valid_i), .fetched_ready_o(resp_fetched_ready_o),
    .fetched_i(resp_fetched_i),
    .atomic_req_valid_o, .atomic_req_ready_i, .atomic_req_o,
    .atomic_dead_valid_o, .atomic_dead_ready_i, .atomic_dead_o,
    .atomic_rsp_valid_i, .atomic_rsp_ready_o, .atomic_rsp_i,
    .res_done_valid_o(stored_valid), .res_done_ready_i(stored_ready), .res_done_o(stored),
    .ask_i(ask), .ask_qpn_i(ask_qpn), .idle_o(idle),
    .work_valid_i(work_valid), .work_qpn_i(qpn),
    .head_req_valid_o(head_req), .head_req_ready_i(head_req_ready), .head_req_qpn_o(head_qpn),
    .head_valid_i(head_valid), .head_ok_i(head_ok), .head_i(head), .dead_i(dead), .dead_qpn_i(qpn),
    .fail_valid_o(fail), .fail_ready_i(fail_ready), .fail_o(failed), .fail_done_i(fail_done),
    .check_valid_o(resp_check_valid_o), .check_ready_i(resp_check_ready_i), .check_o(resp_check_o),
    .check_rsp_valid_i(resp_check_rsp_valid_i), .check_rsp_ready_o(resp_check_rsp_ready_o),
    .check_rsp_i(resp_check_rsp_i),
    .msg_valid_o(resp_valid), .msg_ready_i(resp_ready), .msg_o(resp_msg), .msg_data_o(resp_data),
    .in_o(request_in), .left_o(request_out), .begin_o(response_in), .passed_o(response_passed)
  );

  // --- errors
  logic job_out, term_valid, term_ready;
  iwarp_pkg::tx_message_hdr_t term_msg;
  logic [511:0] term_data;
  rdmap_term u_term (
    .clk_i, .rst_ni, .job_valid_i(job_q_valid), .job_ready_o(job_q_ready), .job_i(job_q),
    .left_o(job_out),
    .qp_error_valid_o, .qp_error_ready_i, .qp_error_o,
    .msg_valid_o(term_valid), .msg_ready_i(term_ready), .msg_o(term_msg), .msg_data_o(term_data)
  );

  // --- transmit
  logic local_valid, local_ready, local_done_valid, local_done_ready, local_fail,
        local_fail_ready, unused_index;
  iwarp_pkg::sq_local_t local_item;
  iwarp_pkg::res_done_t local_done;
  iwarp_pkg::tx_fault_t local_failed;
  logic wqe_out, response_out, term_out;
  rdmap_tx u_tx (
    .clk_i, .rst_ni,
    .sq_valid_i(sq_q_valid), .sq_ready_o(sq_q_ready), .sq_drop_i(q_drop), .sq_own_i(q_own),
    .sq_local_i(q_own_table), .sq_i(q_sq), .sq_data_i(q_data),
    .body_valid_i(body_valid), .body_ready_o(body_ready), .body_i(body),
    .resp_valid_i(resp_valid), .resp_ready_o(resp_ready), .resp_i(resp_msg),
    .resp_data_i(resp_data),
    .term_valid_i(term_valid), .term_ready_o(term_ready), .term_i(term_msg),
    .term_data_i(term_data),
    .hdr_valid_o(tx_message_hdr_valid_o), .hdr_ready_i(tx_message_hdr_ready_i),
    .hdr_o(tx_message_hdr_o),
    .beat_valid_o(tx_message_valid_o), .beat_ready_i(tx_message_ready_i), .beat_o(tx_message_o),
    .local_valid_o(local_valid), .local_ready_i(local_ready), .local_o(local_item),
    .sq_done_o(wqe_out), .resp_done_o(response_out), .term_done_o(term_out)
  );

  logic local_clear_done, ask_local, idle_local;
  rdmap_local u_local (
    .clk_i, .rst_ni, .ready_o(local_clear_done),
    .local_valid_i(local_valid), .local_ready_o(local_ready), .local_i(local_item),
    .sq_local_valid_o, .sq_local_ready_i, .sq_local_o,
    .sq_local_done_valid_i, .sq_local_done_ready_o, .sq_local_done_i,
    .done_valid_o(local_done_valid), .done_ready_i(local_done_ready), .done_o(local_done),
    .fail_valid_o(local_fail), .fail_ready_i(local_fail_ready), .fail_o(local_failed),
    .ask_i(ask_local), .ask_qpn_i(ask_qpn), .idle_o(idle_local)
  );
  // Failures of rdmap_resp and of rdmap_local reach rdmap_core one at a time. inside_q: rdmap_core
  // has taken a failure and not decided it; inside_local_q: that failure is of rdmap_local.
  logic inside_q, inside_local_q;
  assign core_fails       = !inside_q && (fail || local_fail);
  assign core_failed      = local_fail ? local_failed : failed;
  assign local_fail_ready = core_fail_ready && local_fail;
  assign fail_ready       = core_fail_ready && !local_fail;
  assign fail_done        = core_fail_done && !inside_local_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) inside_q <= 1'b0;
    else         inside_q <= core_fail_ready || (inside_q && !core_fail_done);
  end
  always_ff @(posedge clk_i) if (core_fail_ready) inside_local_q <= local_fail;
  stream_arb #(.Width(iwarp_pkg::ResDoneWidth), .N(2)) u_done (
    .clk_i, .rst_ni,
    .valid_i({local_done_valid, stored_valid}), .ready_o({local_done_ready, stored_ready}),
    .data_i({local_done, stored}),
    .valid_o(res_done_valid_o), .ready_i(res_done_ready_i), .data_o(res_done_o),
    .index_o(unused_index)
  );

  // --- acknowledge orders. Bits of in_i and out_i: rdmap_ack names them; bit 0 is the last here.
  rdmap_ack u_ack (
    .clk_i, .rst_ni, .free_o(ctl_free), .taken_i(qp_ctl_rdmap_valid_i && qp_ctl_rdmap_ready_o),
    .sync_i(is_sync), .sync_qpn_i(qp_ctl_rdmap_i.qpn),
    .done_i(ctl_done), .drains_i(stopped), .qpn_i(qpn),
    .in_i({local_valid, resp_valid && resp_ready, response_in[1], result_valid,
           term_valid && term_ready, job_valid, response_in[0], request_in,
           wqe_hdr_valid_i && wqe_hdr_ready_o}),
    .out_i({(local_done_valid && local_done_ready) || local_fail_ready, response_out,
            response_passed[1], result_out, term_out, job_out, response_passed[0], request_out,
            wqe_out}),
    .ask_o(ask), .ask_qpn_o(ask_qpn), .idle_i(idle),
    .ask_local_o(ask_local), .idle_local_i(idle_local),
    .ack_valid_o(qp_ack_rdmap_valid_o), .ack_ready_i(qp_ack_rdmap_ready_i), .ack_o(qp_ack_rdmap_o)
  );

  assign ready_o = core_ready && resp_ready_now && local_clear_done;

  // --- counters
  unit_counter u_count (
    .clk_i, .rst_ni, .items_i(verdict_valid || sq_valid),
    .busy_i(verdict_valid || sq_valid || (tx_message_valid_o && tx_message_ready_i)),
    .stalled_i(|({qp_ack_rdmap_valid_o, qp_error_valid_o, tx_message_hdr_valid_o,
                  tx_message_valid_o, rx_verdict_valid_o, resp_check_valid_o,
                  atomic_req_valid_o, atomic_dead_valid_o, res_done_valid_o,
                  sq_local_valid_o} &
                 ~{qp_ack_rdmap_ready_i, qp_error_ready_i, tx_message_hdr_ready_i,
                   tx_message_ready_i, rx_verdict_ready_i, resp_check_ready_i,
                   atomic_req_ready_i, atomic_dead_ready_i, res_done_ready_i,
                   sq_local_ready_i})),
    .count_o
  );

  `RNIC_ASSERT(Room_A,
               (!verdict_valid || verdict_room) && (!sq_valid || sq_room) &&
               (!job_valid || job_room))
  `RNIC_STREAM_STABLE(VerdictStable_A, rx_verdict_valid_o, rx_verdict_ready_i, rx_verdict_o)
endmodule

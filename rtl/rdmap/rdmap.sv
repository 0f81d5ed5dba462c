// rdmap: message layer. RFC 5040.
//
//   wqe_hdr, wqe --> [ rdmap_core ] --> [ rdmap_tx ] --> tx_message            rx_segment --> [ rdmap_core ] --> rx_verdict
//                      |     ^  \                ^  ^                                             |
//                      |     |   +-> [ rdmap_term ]-+--> qp_error            faults --------------+
//                      v     |                   |
//                    [ rdmap_resp ] <--> tpt     |
//                            +-------------------+
//
// Latency: segment to verdict 3 cycles (4 for a Read Response); WQE to message 4; request to response message 11, tpt answering at once.
// Throughput: a segment, or a message of the send queue, every 2 cycles (a Read Response every 3); together they share those cycles. Waits: see
// rdmap_core. Receive waits for transmit only while a Terminate is on its way to ddp, which always takes it.
// Leaves: rdmap_core (tables, decisions; in it rdmap_pick, rdmap_segment with rdmap_rx, rdmap_message), rdmap_tx,
// rdmap_resp, rdmap_term, rdmap_ack.
// Model: model/rdmap/rdmap.hpp. Bench: tb/rdmap/rdmap_test.cpp. Contract: docs/theory-of-operation.md
`include "rnic_assert.svh"

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
  // from and to tpt
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
  // --- inputs
  logic wh_valid, wh_ready, wb_valid, wb_ready, seg_valid, seg_ready, free_valid, free_ready;
  iwarp_pkg::wqe_hdr_t        wh;
  iwarp_pkg::beat_t           wb;
  iwarp_pkg::rx_segment_t     seg;
  iwarp_pkg::resp_slot_free_t freed;
  stream_fifo #(.Width(iwarp_pkg::WqeHdrWidth), .Depth(rnic_pkg::FifoDepth)) u_wh (
    .clk_i, .rst_ni, .valid_i(wqe_hdr_valid_i), .ready_o(wqe_hdr_ready_o), .data_i(wqe_hdr_i),
    .valid_o(wh_valid), .ready_i(wh_ready), .data_o(wh), .count_o()
  );
  stream_fifo #(.Width(iwarp_pkg::BeatWidth), .Depth(rnic_pkg::BeatDepth)) u_wb (
    .clk_i, .rst_ni, .valid_i(wqe_valid_i), .ready_o(wqe_ready_o), .data_i(wqe_i),
    .valid_o(wb_valid), .ready_i(wb_ready), .data_o(wb), .count_o()
  );
  stream_fifo #(.Width(iwarp_pkg::RxSegmentWidth), .Depth(rnic_pkg::FifoDepth)) u_seg (
    .clk_i, .rst_ni, .valid_i(rx_segment_valid_i), .ready_o(rx_segment_ready_o), .data_i(rx_segment_i),
    .valid_o(seg_valid), .ready_i(seg_ready), .data_o(seg), .count_o()
  );
  stream_fifo #(.Width(iwarp_pkg::RespSlotFreeWidth), .Depth(rnic_pkg::FifoDepth)) u_free (
    .clk_i, .rst_ni, .valid_i(resp_slot_free_valid_i), .ready_o(resp_slot_free_ready_o), .data_i(resp_slot_free_i),
    .valid_o(free_valid), .ready_i(free_ready), .data_o(freed), .count_o()
  );

  // --- core
  logic ctl_done, stopped, verdict_valid, verdict_ready, work_valid, head_req, head_req_ready, head_valid, head_ok, fail, fail_ready;
  logic [15:0]  ctl_qpn, work, resp_qpn, head_pd, tx_qpn;
  logic [399:0] head;
  logic [7:0]   head_slot;
  iwarp_pkg::tpt_result_e fail_result;
  iwarp_pkg::rx_verdict_t verdict;
  logic sq_valid, sq_ready, sq_drop, sq_own, sq_q_valid, sq_q_ready, q_drop, q_own, tx_idle;
  iwarp_pkg::tx_message_hdr_t sq, q_sq;
  logic [511:0] sq_data, q_data;
  logic term_job, term_ready, term_has_head, term_is_read;
  iwarp_pkg::qp_error_t term_error;
  logic [15:0]  term_length;
  logic [511:0] term_net;
  logic [31:0]  term_offset;
  logic         ctl_free, wqe_out;
  iwarp_pkg::wqe_sge_t first_sge;
  assign first_sge = wb.data[127:0];

  rdmap_core u_core (
    .clk_i, .rst_ni, .ready_o,
    .ctl_valid_i(qp_ctl_rdmap_valid_i && ctl_free), .ctl_ready_o(qp_ctl_rdmap_ready_o), .ctl_i(qp_ctl_rdmap_i),
    .ctl_done_o(ctl_done), .stopped_o(stopped), .ctl_qpn_o(ctl_qpn),
    .qp_fault_valid_i, .qp_fault_ready_o, .qp_fault_i, .tx_fault_valid_i, .tx_fault_ready_o, .tx_fault_i,
    .resp_fail_valid_i(fail), .resp_fail_ready_o(fail_ready), .resp_qpn_i(resp_qpn), .resp_result_i(fail_result),
    .seg_valid_i(seg_valid), .seg_ready_o(seg_ready), .seg_i(seg),
    .verdict_valid_o(verdict_valid), .verdict_ready_i(verdict_ready), .verdict_o(verdict),
    .work_valid_o(work_valid), .work_o(work),
    .head_valid_i(head_req), .head_ready_o(head_req_ready), .head_valid_o(head_valid), .head_ok_o(head_ok), .head_pd_o(head_pd),
    .head_o(head), .head_slot_o(head_slot),
    .free_valid_i(free_valid), .free_ready_o(free_ready), .free_qpn_i(freed.qpn),
    .wqe_valid_i(wh_valid), .wqe_ready_o(wh_ready), .wqe_i(wh), .sge_valid_i(wb_valid), .sge_i(first_sge),
    .sq_valid_o(sq_valid), .sq_ready_i(sq_ready), .sq_idle_i(!sq_q_valid && tx_idle), .sq_drop_o(sq_drop), .sq_own_o(sq_own),
    .sq_o(sq), .sq_data_o(sq_data),
    .term_ready_i(term_ready), .term_valid_o(term_job), .term_o(term_error), .term_has_head_o(term_has_head),
    .term_is_read_o(term_is_read), .term_length_o(term_length), .term_net_o(term_net), .term_offset_o(term_offset)
  );

  stream_fifo #(.Width(iwarp_pkg::RxVerdictWidth), .Depth(rnic_pkg::FifoDepth)) u_verdict (
    .clk_i, .rst_ni, .valid_i(verdict_valid), .ready_o(verdict_ready), .data_i(verdict),
    .valid_o(rx_verdict_valid_o), .ready_i(rx_verdict_ready_i), .data_o(rx_verdict_o), .count_o()
  );
  stream_fifo #(.Width(iwarp_pkg::TxMessageHdrWidth + 512 + 2), .Depth(2)) u_sq (
    .clk_i, .rst_ni, .valid_i(sq_valid), .ready_o(sq_ready), .data_i({sq_drop, sq_own, sq, sq_data}),
    .valid_o(sq_q_valid), .ready_i(sq_q_ready), .data_o({q_drop, q_own, q_sq, q_data}), .count_o()
  );

  // --- responder: the work list holds each QP at most once
  logic list_valid, list_ready, list_room, resp_busy;
  logic [15:0] list_qpn;
  stream_fifo #(.Width(16), .Depth(rnic_pkg::NumQps + 2)) u_list (
    .clk_i, .rst_ni, .valid_i(work_valid), .ready_o(list_room), .data_i(work),
    .valid_o(list_valid), .ready_i(list_ready), .data_o(list_qpn), .count_o()
  );
  logic resp_valid, resp_ready, term_valid, term_msg_ready;
  iwarp_pkg::tx_message_hdr_t resp_msg, term_msg;
  logic [511:0] resp_data, term_data;
  rdmap_resp u_resp (
    .clk_i, .rst_ni, .work_valid_i(list_valid), .work_ready_o(list_ready), .work_qpn_i(list_qpn),
    .cancel_i((stopped && ctl_qpn == resp_qpn) || (term_job && term_error.qpn == resp_qpn)),
    .head_req_valid_o(head_req), .head_req_ready_i(head_req_ready), .qpn_o(resp_qpn),
    .head_valid_i(head_valid), .head_ok_i(head_ok), .head_pd_i(head_pd), .head_i(head), .head_slot_i(head_slot),
    .fail_valid_o(fail), .fail_ready_i(fail_ready), .fail_result_o(fail_result),
    .check_valid_o(resp_check_valid_o), .check_ready_i(resp_check_ready_i), .check_o(resp_check_o),
    .check_rsp_valid_i(resp_check_rsp_valid_i), .check_rsp_ready_o(resp_check_rsp_ready_o), .check_rsp_i(resp_check_rsp_i),
    .msg_valid_o(resp_valid), .msg_ready_i(resp_ready), .msg_o(resp_msg), .msg_data_o(resp_data), .busy_o(resp_busy)
  );

  // --- errors
  rdmap_term u_term (
    .clk_i, .rst_ni, .job_valid_i(term_job), .ready_o(term_ready), .job_i(term_error), .has_head_i(term_has_head),
    .is_read_i(term_is_read), .ulpdu_length_i(term_length), .net_i(term_net), .offset_i(term_offset),
    .qp_error_valid_o, .qp_error_ready_i, .qp_error_o,
    .msg_valid_o(term_valid), .msg_ready_i(term_msg_ready), .msg_o(term_msg), .msg_data_o(term_data)
  );

  // --- out
  rdmap_tx u_tx (
    .clk_i, .rst_ni,
    .sq_valid_i(sq_q_valid), .sq_ready_o(sq_q_ready), .sq_drop_i(q_drop), .sq_own_i(q_own), .sq_i(q_sq), .sq_data_i(q_data),
    .wqe_valid_i(wb_valid), .wqe_ready_o(wb_ready), .wqe_i(wb),
    .resp_valid_i(resp_valid), .resp_ready_o(resp_ready), .resp_i(resp_msg), .resp_data_i(resp_data),
    .term_valid_i(term_valid), .term_ready_o(term_msg_ready), .term_i(term_msg), .term_data_i(term_data),
    .hdr_valid_o(tx_message_hdr_valid_o), .hdr_ready_i(tx_message_hdr_ready_i), .hdr_o(tx_message_hdr_o),
    .beat_valid_o(tx_message_valid_o), .beat_ready_i(tx_message_ready_i), .beat_o(tx_message_o),
    .idle_o(tx_idle), .qpn_o(tx_qpn), .wqe_out_o(wqe_out)
  );

  // --- orders are acknowledged
  rdmap_ack u_ack (
    .clk_i, .rst_ni, .free_o(ctl_free), .taken_i(qp_ctl_rdmap_valid_i && qp_ctl_rdmap_ready_o),
    .done_i(ctl_done), .drains_i(stopped), .qpn_i(ctl_qpn),
    .wqe_in_i(wqe_hdr_valid_i && wqe_hdr_ready_o), .wqe_out_i(wqe_out),
    .resp_busy_i(resp_busy), .resp_qpn_i(resp_qpn), .term_busy_i(!term_ready), .term_qpn_i(qp_error_o.qpn),
    .tx_busy_i(!tx_idle), .tx_qpn_i(tx_qpn),
    .ack_valid_o(qp_ack_rdmap_valid_o), .ack_ready_i(qp_ack_rdmap_ready_i), .ack_o(qp_ack_rdmap_o)
  );

  // --- counters
  unit_counter u_count (
    .clk_i, .rst_ni, .items_i(verdict_valid || sq_valid),
    .busy_i(verdict_valid || sq_valid || (tx_message_valid_o && tx_message_ready_i)),
    .stalled_i(|({qp_ack_rdmap_valid_o, qp_error_valid_o, tx_message_hdr_valid_o, tx_message_valid_o,
                  rx_verdict_valid_o, resp_check_valid_o} &
                 ~{qp_ack_rdmap_ready_i, qp_error_ready_i, tx_message_hdr_ready_i, tx_message_ready_i,
                   rx_verdict_ready_i, resp_check_ready_i})),
    .count_o
  );

  `RNIC_ASSERT(ListRoom_A, !work_valid || list_room)
  `RNIC_STREAM_STABLE(VerdictStable_A, rx_verdict_valid_o, rx_verdict_ready_i, rx_verdict_o)
endmodule

// ddp: placement and segmentation (RFC 5041). This module wires ddp_rx, ddp_tx and ddp_qp, and
// counts.
//
//   receive   rx_ulpdu, rq_take_rsp, rx_xlate_rsp, rx_extent, rx_verdict, place_done
//               --> ddp_rx --> rq_take_req, rx_xlate, rx_segment, place, rx_dropped, rx_done
//   transmit  tx_message, tx_grant, payload; pulse `placed`, for responses that wait for placement
//               --> ddp_tx --> tx_want, payload_req, tx_xlate, *_slot_free, tx_ulpdu, tx_fault
//   both      qp_ctl --> [ queue ] --> ddp_qp --> tables of both;  qp_ack when both have drained
//
// The tables are cleared once after reset, 1 QP per cycle. Until then ready_o is low and the inputs
// accept nothing.
// Latency and throughput: see ddp_rx.sv and ddp_tx.sv.
// Waits: receive waits for tpt, for a receive WQE (at most one host read), for rdmap's verdict and
// for host_if's writes, never for transmit. Transmit waits for tpt, host_if's reads and mpa; a
// segment is scheduled only with a grant.
// Leaves: ddp_rx, ddp_tx, ddp_qp, ddp_queue.
// Bench: tb/ddp/ddp_rx_test.cpp, ddp_tx_test.cpp, ddp_flush_test.cpp, ddp_stop_test.cpp,
// ddp_srq_test.cpp
module ddp (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  output logic                          ready_o,
  output iwarp_pkg::unit_count_t        count_o,
  // from and to qp
  input  logic                          qp_ctl_ddp_valid_i,
  output logic                          qp_ctl_ddp_ready_o,
  input  iwarp_pkg::qp_ctl_ddp_t         qp_ctl_ddp_i,
  output logic                          qp_ack_ddp_valid_o,
  input  logic                          qp_ack_ddp_ready_i,
  output iwarp_pkg::qp_ack_ddp_t         qp_ack_ddp_o,
  output logic                          rq_take_req_valid_o,
  input  logic                          rq_take_req_ready_i,
  output iwarp_pkg::rq_take_req_t        rq_take_req_o,
  input  logic                          rq_take_rsp_valid_i,
  output logic                          rq_take_rsp_ready_o,
  input  iwarp_pkg::rq_take_rsp_t        rq_take_rsp_i,
  output logic                          rx_done_valid_o,
  input  logic                          rx_done_ready_i,
  output iwarp_pkg::rx_done_t            rx_done_o,
  output logic                          sq_slot_free_valid_o,
  input  logic                          sq_slot_free_ready_i,
  output iwarp_pkg::sq_slot_free_t       sq_slot_free_o,
  // from mpa
  input  logic                          rx_ulpdu_hdr_valid_i,
  output logic                          rx_ulpdu_hdr_ready_o,
  input  iwarp_pkg::rx_ulpdu_hdr_t       rx_ulpdu_hdr_i,
  input  logic                          rx_ulpdu_valid_i,
  output logic                          rx_ulpdu_ready_o,
  input  iwarp_pkg::rx_ulpdu_t           rx_ulpdu_i,
  // to and from tpt
  output logic                          rx_xlate_valid_o,
  input  logic                          rx_xlate_ready_i,
  output iwarp_pkg::rx_xlate_t           rx_xlate_o,
  input  logic                          rx_xlate_rsp_valid_i,
  output logic                          rx_xlate_rsp_ready_o,
  input  iwarp_pkg::rx_xlate_rsp_t       rx_xlate_rsp_i,
  input  logic                          rx_extent_valid_i,
  output logic                          rx_extent_ready_o,
  input  iwarp_pkg::rx_extent_t          rx_extent_i,
  output logic                          rx_dropped_valid_o,
  input  logic                          rx_dropped_ready_i,
  output iwarp_pkg::rx_dropped_t         rx_dropped_o,
  output logic                          invalidate_valid_o,
  input  logic                          invalidate_ready_i,
  output iwarp_pkg::invalidate_t         invalidate_o,
  input  logic                          invalidated_valid_i,
  output logic                          invalidated_ready_o,
  input  iwarp_pkg::invalidated_t        invalidated_i,
  output logic                          tx_xlate_valid_o,
  input  logic                          tx_xlate_ready_i,
  output iwarp_pkg::tx_xlate_t           tx_xlate_o,
  // to and from rdmap
  output logic                          rx_segment_valid_o,
  input  logic                          rx_segment_ready_i,
  output iwarp_pkg::rx_segment_t         rx_segment_o,
  input  logic                          rx_verdict_valid_i,
  output logic                          rx_verdict_ready_o,
  input  iwarp_pkg::rx_verdict_t         rx_verdict_i,
  input  logic                          tx_message_hdr_valid_i,
  output logic                          tx_message_hdr_ready_o,
  input  iwarp_pkg::tx_message_hdr_t     tx_message_hdr_i,
  input  logic                          tx_message_valid_i,
  output logic                          tx_message_ready_o,
  input  iwarp_pkg::tx_message_t         tx_message_i,
  output logic                          resp_slot_free_valid_o,
  input  logic                          resp_slot_free_ready_i,
  output iwarp_pkg::resp_slot_free_t     resp_slot_free_o,
  output logic                          resp_fetched_valid_o,
  input  logic                          resp_fetched_ready_i,
  output iwarp_pkg::resp_fetched_t       resp_fetched_o,
  output logic                          tx_fault_valid_o,
  input  logic                          tx_fault_ready_i,
  output iwarp_pkg::tx_fault_t           tx_fault_o,
  // to and from host_if
  output logic                          place_hdr_valid_o,
  input  logic                          place_hdr_ready_i,
  output iwarp_pkg::place_hdr_t          place_hdr_o,
  output logic                          place_extent_valid_o,
  input  logic                          place_extent_ready_i,
  output iwarp_pkg::place_extent_t       place_extent_o,
  output logic                          place_valid_o,
  input  logic                          place_ready_i,
  output iwarp_pkg::place_t              place_o,
  input  logic                          place_done_valid_i,
  output logic                          place_done_ready_o,
  input  iwarp_pkg::place_done_t         place_done_i,
  output logic                          payload_req_valid_o,
  input  logic                          payload_req_ready_i,
  output iwarp_pkg::payload_req_t        payload_req_o,
  input  logic                          payload_hdr_valid_i,
  output logic                          payload_hdr_ready_o,
  input  iwarp_pkg::payload_hdr_t        payload_hdr_i,
  input  logic                          payload_valid_i,
  output logic                          payload_ready_o,
  input  iwarp_pkg::payload_t            payload_i,
  // to and from llp_if
  output logic                          tx_want_valid_o,
  input  logic                          tx_want_ready_i,
  output iwarp_pkg::tx_want_t            tx_want_o,
  input  logic                          tx_grant_valid_i,
  output logic                          tx_grant_ready_o,
  input  iwarp_pkg::tx_grant_t           tx_grant_i,
  // to mpa
  output logic                          tx_ulpdu_hdr_valid_o,
  input  logic                          tx_ulpdu_hdr_ready_i,
  output iwarp_pkg::tx_ulpdu_hdr_t       tx_ulpdu_hdr_o,
  output logic                          tx_ulpdu_valid_o,
  input  logic                          tx_ulpdu_ready_i,
  output iwarp_pkg::tx_ulpdu_t           tx_ulpdu_o
);
  localparam int unsigned FifoDepth = rnic_pkg::FifoDepth;

  // The tables are cleared once after reset.
  logic                                clear;
  logic [$clog2(rnic_pkg::NumQps)-1:0] clear_short;
  logic [15:0]                         clear_addr;

  ram_clear #(.Depth(rnic_pkg::NumQps)) u_clear (
    .clk_i, .rst_ni, .busy_o(clear), .addr_o(clear_short)
  );

  assign clear_addr = 16'(clear_short);
  assign ready_o    = !clear && rst_ni;

  // Start, stop and sync. Bits of ctl_valid and ctl_ready, one for each leaf with a table: receive
  // 0 ddp_rx_header, 1 ddp_rx_deliver; transmit 2 ddp_tx_slot, 3 ddp_tx_header, 4 ddp_tx_sched.
  logic qp_ctl_ddp_valid, qp_ctl_ddp_ready;
  iwarp_pkg::qp_ctl_ddp_t qp_ctl_ddp;
  ddp_queue #(.Width($bits(qp_ctl_ddp)), .Depth(FifoDepth)) u_qp_ctl_ddp (
    .clk_i, .rst_ni, .open_i(ready_o),
    .valid_i(qp_ctl_ddp_valid_i), .ready_o(qp_ctl_ddp_ready_o), .data_i(qp_ctl_ddp_i),
    .valid_o(qp_ctl_ddp_valid), .ready_i(qp_ctl_ddp_ready), .data_o(qp_ctl_ddp)
  );

  // Pulses for ddp_qp, whose ports explain them: *_in: an item has entered a path; *_out: one has
  // left it.
  logic [4:0]  ctl_valid, ctl_ready;
  logic        ctl_start, ctl_done, rx_in, rx_out, ask_in, ask_out, grant_in, grant_out,
               seg_in, seg_out, sent_in, sent_out;
  logic [4:0]  told_in, told_out;
  logic        rx_held_in, rx_held_out, rx_report;
  logic [15:0] ctl_qpn, ctl_pd;
  logic        ctl_persist;

  ddp_qp u_qp (
    .clk_i, .rst_ni,
    .qp_ctl_ddp_valid_i(qp_ctl_ddp_valid), .qp_ctl_ddp_ready_o(qp_ctl_ddp_ready),
    .qp_ctl_ddp_i(qp_ctl_ddp),
    .qp_ack_ddp_valid_o, .qp_ack_ddp_ready_i, .qp_ack_ddp_o,
    .ctl_valid_o(ctl_valid), .ctl_ready_i(ctl_ready), .ctl_start_o(ctl_start), .ctl_qpn_o(ctl_qpn),
    .ctl_pd_o(ctl_pd), .ctl_persist_o(ctl_persist), .ctl_done_i(ctl_done),
    .rx_in_i(rx_in), .rx_out_i(rx_out), .held_in_i(rx_held_in), .held_out_i(rx_held_out),
    .report_in_i(rx_report),
    .report_out_i(rx_done_valid_o && rx_done_ready_i), .ask_in_i(ask_in), .ask_out_i(ask_out),
    .grant_in_i(grant_in), .grant_out_i(grant_out), .seg_in_i(seg_in), .seg_out_i(seg_out),
    .sent_in_i(sent_in), .sent_out_i(sent_out), .told_in_i(told_in), .told_out_i(told_out)
  );

  ddp_rx u_rx (
    .clk_i, .rst_ni, .clear_i(clear), .clear_addr_i(clear_addr),
    .ctl_valid_i(ctl_valid[1:0]), .ctl_ready_o(ctl_ready[1:0]),
    .ctl_start_i(ctl_start), .ctl_qpn_i(ctl_qpn), .ctl_pd_i(ctl_pd), .ctl_persist_i(ctl_persist),
    .rx_in_o(rx_in), .rx_out_o(rx_out), .rx_held_in_o(rx_held_in), .rx_held_out_o(rx_held_out),
    .rx_report_o(rx_report),
    .rx_ulpdu_hdr_valid_i, .rx_ulpdu_hdr_ready_o, .rx_ulpdu_hdr_i,
    .rx_ulpdu_valid_i, .rx_ulpdu_ready_o, .rx_ulpdu_i,
    .rq_take_req_valid_o, .rq_take_req_ready_i, .rq_take_req_o,
    .rq_take_rsp_valid_i, .rq_take_rsp_ready_o, .rq_take_rsp_i,
    .rx_done_valid_o, .rx_done_ready_i, .rx_done_o,
    .rx_xlate_valid_o, .rx_xlate_ready_i, .rx_xlate_o,
    .rx_xlate_rsp_valid_i, .rx_xlate_rsp_ready_o, .rx_xlate_rsp_i,
    .rx_extent_valid_i, .rx_extent_ready_o, .rx_extent_i,
    .rx_dropped_valid_o, .rx_dropped_ready_i, .rx_dropped_o,
    .invalidate_valid_o, .invalidate_ready_i, .invalidate_o,
    .invalidated_valid_i, .invalidated_ready_o, .invalidated_i,
    .rx_segment_valid_o, .rx_segment_ready_i, .rx_segment_o,
    .rx_verdict_valid_i, .rx_verdict_ready_o, .rx_verdict_i,
    .place_hdr_valid_o, .place_hdr_ready_i, .place_hdr_o,
    .place_extent_valid_o, .place_extent_ready_i, .place_extent_o,
    .place_valid_o, .place_ready_i, .place_o,
    .place_done_valid_i, .place_done_ready_o, .place_done_i
  );

  ddp_tx u_tx (
    .clk_i, .rst_ni, .clear_i(clear), .clear_addr_i(clear_addr),
    .ctl_valid_i(ctl_valid[4:2]), .ctl_ready_o(ctl_ready[4:2]),
    .ctl_start_i(ctl_start), .ctl_qpn_i(ctl_qpn), .ctl_pd_i(ctl_pd), .ctl_done_o(ctl_done),
    .ask_in_o(ask_in), .ask_out_o(ask_out), .grant_in_o(grant_in), .grant_out_o(grant_out),
    .seg_in_o(seg_in), .seg_out_o(seg_out), .sent_in_o(sent_in), .sent_out_o(sent_out),
    .told_in_o(told_in), .told_out_o(told_out),
    .placed_i(place_done_valid_i && place_done_ready_o),
    .tx_message_hdr_valid_i, .tx_message_hdr_ready_o, .tx_message_hdr_i,
    .tx_message_valid_i, .tx_message_ready_o, .tx_message_i,
    .resp_slot_free_valid_o, .resp_slot_free_ready_i, .resp_slot_free_o,
    .resp_fetched_valid_o, .resp_fetched_ready_i, .resp_fetched_o,
    .tx_fault_valid_o, .tx_fault_ready_i, .tx_fault_o,
    .sq_slot_free_valid_o, .sq_slot_free_ready_i, .sq_slot_free_o,
    .tx_want_valid_o, .tx_want_ready_i, .tx_want_o,
    .tx_grant_valid_i, .tx_grant_ready_o, .tx_grant_i,
    .payload_req_valid_o, .payload_req_ready_i, .payload_req_o,
    .payload_hdr_valid_i, .payload_hdr_ready_o, .payload_hdr_i,
    .payload_valid_i, .payload_ready_o, .payload_i,
    .tx_xlate_valid_o, .tx_xlate_ready_i, .tx_xlate_o,
    .tx_ulpdu_hdr_valid_o, .tx_ulpdu_hdr_ready_i, .tx_ulpdu_hdr_o,
    .tx_ulpdu_valid_o, .tx_ulpdu_ready_i, .tx_ulpdu_o
  );

  // Counters. items: segments, received and sent. busy: cycles in which an rx_segment, or a beat of
  // place or tx_ulpdu, leaves. stalled: cycles in which any output stalls.
  unit_counter #(.ItemsW(2)) u_count (
    .clk_i, .rst_ni,
    .items_i(2'(rx_segment_valid_o && rx_segment_ready_i) +
             2'(tx_ulpdu_hdr_valid_o && tx_ulpdu_hdr_ready_i)),
    .busy_i((rx_segment_valid_o && rx_segment_ready_i) || (place_valid_o && place_ready_i) ||
            (tx_ulpdu_valid_o && tx_ulpdu_ready_i)),
    .stalled_i(|({payload_req_valid_o, place_hdr_valid_o, place_extent_valid_o, place_valid_o,
                  qp_ack_ddp_valid_o, rq_take_req_valid_o, sq_slot_free_valid_o,
                  resp_slot_free_valid_o, tx_want_valid_o, tx_xlate_valid_o, tx_fault_valid_o,
                  tx_ulpdu_hdr_valid_o, tx_ulpdu_valid_o, rx_xlate_valid_o, rx_dropped_valid_o,
                  rx_segment_valid_o, rx_done_valid_o, resp_fetched_valid_o,
                  invalidate_valid_o} &
                 ~{payload_req_ready_i, place_hdr_ready_i, place_extent_ready_i, place_ready_i,
                   qp_ack_ddp_ready_i, rq_take_req_ready_i, sq_slot_free_ready_i,
                   resp_slot_free_ready_i, tx_want_ready_i, tx_xlate_ready_i, tx_fault_ready_i,
                   tx_ulpdu_hdr_ready_i, tx_ulpdu_ready_i, rx_xlate_ready_i, rx_dropped_ready_i,
                   rx_segment_ready_i, rx_done_ready_i, resp_fetched_ready_i,
                   invalidate_ready_i})),
    .count_o
  );

  // Simulation only: commit trace (architecture 10)
  iwarp_pkg::ddp_ulpdu_commit_t tap_ddp_ulpdu /*verilator public_flat_rd*/;
  assign tap_ddp_ulpdu = {tx_ulpdu_hdr_valid_o && tx_ulpdu_hdr_ready_i, tx_ulpdu_hdr_o.qpn};
endmodule

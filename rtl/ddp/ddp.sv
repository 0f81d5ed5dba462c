// ddp: placement and segmentation (RFC 5041). This module only wires its leaves; a queue stands at each input.
//
//   receive   rx_ulpdu_hdr, rx_ulpdu --> header_take --head--> rx_header --> rx_pieces --> rx_check --> rx_segment
//                                            |                  rq_take       rx_xlate      rx_xlate_rsp
//                                            +--> payload --> rx_place <-- rx_verdict
//                                                               +--> place, rx_dropped; rx_deliver --> rx_done
//   transmit  tx_message --> tx_slot --> tx_sched <--> tx_want, tx_grant
//                                            +--> tx_segment --> payload_req, tx_xlate, *_slot_free
//                                                     +--> tx_header <-- payload;  --> tx_ulpdu, tx_fault
//   both      qp_ctl --> ddp_qp --> tables of the leaves;  qp_ack when all that was inside has left
//
// Throughput: receive a segment every 2 cycles (first of a Send 3, later ones of it 4) and 64 bytes a cycle; transmit a
// segment every 3 cycles (4 for a later one of its message) and 64 bytes a cycle. Latency, from the cycle that takes
// the input to the one that gives the output: rx_ulpdu to rx_xlate 4, rx_xlate_rsp to rx_segment 2, rx_verdict to
// place_hdr 2, place_done to rx_done 2; tx_message to tx_want 5, tx_grant to next tx_want 4, tx_grant to payload_req 7,
// payload to tx_ulpdu 5, tx_grant to tx_ulpdu with inline bytes 14 (tb/ddp checks them; with SegDepth up to 64, 6 and 12).
//
// Receive waits for tpt, for a receive WQE (one host read at most), for rdmap's verdict and host_if's writes, never for
// transmit. Transmit waits for tpt, host_if's reads and mpa; a segment is scheduled only with a grant.
`include "rnic_assert.svh"
`include "rnic_words.svh"

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
  localparam int unsigned FifoDepth    = rnic_pkg::FifoDepth;
  localparam int unsigned BeatDepth    = rnic_pkg::BeatDepth;
  localparam int unsigned PayloadDepth = 4 * rnic_pkg::BeatDepth;   // beats between their header's checks and the verdict
  localparam int unsigned SlotW        = $clog2(rnic_pkg::NumQps * (rnic_pkg::SqSlots + 2));
  localparam int unsigned BodyW        = $clog2(rnic_pkg::NumQps * (4 * rnic_pkg::SqSlots + 2));
  localparam int unsigned SlotHdrW     = 151;
  localparam int unsigned OrderW       = `RNIC_DDP_ORDER_W;

  // The tables are cleared once.
  logic                                clear;
  logic [$clog2(rnic_pkg::NumQps)-1:0] clear_short;
  logic [15:0]                         clear_addr;

  ram_clear #(.Depth(rnic_pkg::NumQps)) u_clear (.clk_i, .rst_ni, .busy_o(clear), .addr_o(clear_short));

  assign clear_addr = 16'(clear_short);
  assign ready_o    = !clear && rst_ni;

  // Queues at the inputs.
  logic                      qp_ctl_ddp_valid, qp_ctl_ddp_ready, qp_ctl_ddp_room;
  iwarp_pkg::qp_ctl_ddp_t qp_ctl_ddp;
  logic [$clog2(FifoDepth+1)-1:0] unused_qp_ctl_ddp;

  assign qp_ctl_ddp_ready_o = qp_ctl_ddp_room && ready_o;
  stream_fifo #(.Width($bits(qp_ctl_ddp)), .Depth(FifoDepth)) u_qp_ctl_ddp (
    .clk_i, .rst_ni,
    .valid_i(qp_ctl_ddp_valid_i && ready_o), .ready_o(qp_ctl_ddp_room), .data_i(qp_ctl_ddp_i),
    .valid_o(qp_ctl_ddp_valid), .ready_i(qp_ctl_ddp_ready), .data_o(qp_ctl_ddp), .count_o(unused_qp_ctl_ddp)
  );

  logic                      rq_take_rsp_valid, rq_take_rsp_ready, rq_take_rsp_room;
  iwarp_pkg::rq_take_rsp_t rq_take_rsp;
  logic [$clog2(FifoDepth+1)-1:0] unused_rq_take_rsp;

  assign rq_take_rsp_ready_o = rq_take_rsp_room && ready_o;
  stream_fifo #(.Width($bits(rq_take_rsp)), .Depth(FifoDepth)) u_rq_take_rsp (
    .clk_i, .rst_ni,
    .valid_i(rq_take_rsp_valid_i && ready_o), .ready_o(rq_take_rsp_room), .data_i(rq_take_rsp_i),
    .valid_o(rq_take_rsp_valid), .ready_i(rq_take_rsp_ready), .data_o(rq_take_rsp), .count_o(unused_rq_take_rsp)
  );

  logic                      rx_ulpdu_hdr_valid, rx_ulpdu_hdr_ready, rx_ulpdu_hdr_room;
  iwarp_pkg::rx_ulpdu_hdr_t rx_ulpdu_hdr;
  logic [$clog2(FifoDepth+1)-1:0] unused_rx_ulpdu_hdr;

  assign rx_ulpdu_hdr_ready_o = rx_ulpdu_hdr_room && ready_o;
  stream_fifo #(.Width($bits(rx_ulpdu_hdr)), .Depth(FifoDepth)) u_rx_ulpdu_hdr (
    .clk_i, .rst_ni,
    .valid_i(rx_ulpdu_hdr_valid_i && ready_o), .ready_o(rx_ulpdu_hdr_room), .data_i(rx_ulpdu_hdr_i),
    .valid_o(rx_ulpdu_hdr_valid), .ready_i(rx_ulpdu_hdr_ready), .data_o(rx_ulpdu_hdr), .count_o(unused_rx_ulpdu_hdr)
  );

  logic                      rx_xlate_rsp_valid, rx_xlate_rsp_ready, rx_xlate_rsp_room;
  iwarp_pkg::rx_xlate_rsp_t rx_xlate_rsp;
  logic [$clog2(FifoDepth+1)-1:0] unused_rx_xlate_rsp;

  assign rx_xlate_rsp_ready_o = rx_xlate_rsp_room && ready_o;
  stream_fifo #(.Width($bits(rx_xlate_rsp)), .Depth(FifoDepth)) u_rx_xlate_rsp (
    .clk_i, .rst_ni,
    .valid_i(rx_xlate_rsp_valid_i && ready_o), .ready_o(rx_xlate_rsp_room), .data_i(rx_xlate_rsp_i),
    .valid_o(rx_xlate_rsp_valid), .ready_i(rx_xlate_rsp_ready), .data_o(rx_xlate_rsp), .count_o(unused_rx_xlate_rsp)
  );

  logic                      rx_extent_valid, rx_extent_ready, rx_extent_room;
  iwarp_pkg::rx_extent_t rx_extent;
  logic [$clog2(FifoDepth+1)-1:0] unused_rx_extent;

  assign rx_extent_ready_o = rx_extent_room && ready_o;
  stream_fifo #(.Width($bits(rx_extent)), .Depth(FifoDepth)) u_rx_extent (
    .clk_i, .rst_ni,
    .valid_i(rx_extent_valid_i && ready_o), .ready_o(rx_extent_room), .data_i(rx_extent_i),
    .valid_o(rx_extent_valid), .ready_i(rx_extent_ready), .data_o(rx_extent), .count_o(unused_rx_extent)
  );

  logic                      rx_verdict_valid, rx_verdict_ready, rx_verdict_room;
  iwarp_pkg::rx_verdict_t rx_verdict;
  logic [$clog2(FifoDepth+1)-1:0] unused_rx_verdict;

  assign rx_verdict_ready_o = rx_verdict_room && ready_o;
  stream_fifo #(.Width($bits(rx_verdict)), .Depth(FifoDepth)) u_rx_verdict (
    .clk_i, .rst_ni,
    .valid_i(rx_verdict_valid_i && ready_o), .ready_o(rx_verdict_room), .data_i(rx_verdict_i),
    .valid_o(rx_verdict_valid), .ready_i(rx_verdict_ready), .data_o(rx_verdict), .count_o(unused_rx_verdict)
  );

  logic                      tx_message_hdr_valid, tx_message_hdr_ready, tx_message_hdr_room;
  iwarp_pkg::tx_message_hdr_t tx_message_hdr;
  logic [$clog2(FifoDepth+1)-1:0] unused_tx_message_hdr;

  assign tx_message_hdr_ready_o = tx_message_hdr_room && ready_o;
  stream_fifo #(.Width($bits(tx_message_hdr)), .Depth(FifoDepth)) u_tx_message_hdr (
    .clk_i, .rst_ni,
    .valid_i(tx_message_hdr_valid_i && ready_o), .ready_o(tx_message_hdr_room), .data_i(tx_message_hdr_i),
    .valid_o(tx_message_hdr_valid), .ready_i(tx_message_hdr_ready), .data_o(tx_message_hdr), .count_o(unused_tx_message_hdr)
  );

  logic                      tx_grant_valid, tx_grant_ready, tx_grant_room;
  iwarp_pkg::tx_grant_t tx_grant;
  logic [$clog2(FifoDepth+1)-1:0] unused_tx_grant;

  assign tx_grant_ready_o = tx_grant_room && ready_o;
  stream_fifo #(.Width($bits(tx_grant)), .Depth(FifoDepth)) u_tx_grant (
    .clk_i, .rst_ni,
    .valid_i(tx_grant_valid_i && ready_o), .ready_o(tx_grant_room), .data_i(tx_grant_i),
    .valid_o(tx_grant_valid), .ready_i(tx_grant_ready), .data_o(tx_grant), .count_o(unused_tx_grant)
  );

  logic                      payload_hdr_valid, payload_hdr_ready, payload_hdr_room;
  iwarp_pkg::payload_hdr_t payload_hdr;
  logic [$clog2(FifoDepth+1)-1:0] unused_payload_hdr;

  assign payload_hdr_ready_o = payload_hdr_room && ready_o;
  stream_fifo #(.Width($bits(payload_hdr)), .Depth(FifoDepth)) u_payload_hdr (
    .clk_i, .rst_ni,
    .valid_i(payload_hdr_valid_i && ready_o), .ready_o(payload_hdr_room), .data_i(payload_hdr_i),
    .valid_o(payload_hdr_valid), .ready_i(payload_hdr_ready), .data_o(payload_hdr), .count_o(unused_payload_hdr)
  );

  logic                      rx_ulpdu_valid, rx_ulpdu_ready, rx_ulpdu_room;
  iwarp_pkg::rx_ulpdu_t rx_ulpdu;
  logic [$clog2(BeatDepth+1)-1:0] unused_rx_ulpdu;

  assign rx_ulpdu_ready_o = rx_ulpdu_room && ready_o;
  stream_fifo #(.Width($bits(rx_ulpdu)), .Depth(BeatDepth)) u_rx_ulpdu (
    .clk_i, .rst_ni,
    .valid_i(rx_ulpdu_valid_i && ready_o), .ready_o(rx_ulpdu_room), .data_i(rx_ulpdu_i),
    .valid_o(rx_ulpdu_valid), .ready_i(rx_ulpdu_ready), .data_o(rx_ulpdu), .count_o(unused_rx_ulpdu)
  );

  logic                      tx_message_valid, tx_message_ready, tx_message_room;
  iwarp_pkg::tx_message_t tx_message;
  logic [$clog2(BeatDepth+1)-1:0] unused_tx_message;

  assign tx_message_ready_o = tx_message_room && ready_o;
  stream_fifo #(.Width($bits(tx_message)), .Depth(BeatDepth)) u_tx_message (
    .clk_i, .rst_ni,
    .valid_i(tx_message_valid_i && ready_o), .ready_o(tx_message_room), .data_i(tx_message_i),
    .valid_o(tx_message_valid), .ready_i(tx_message_ready), .data_o(tx_message), .count_o(unused_tx_message)
  );

  logic                      payload_valid, payload_ready, payload_room;
  iwarp_pkg::payload_t payload;
  logic [$clog2(BeatDepth+1)-1:0] unused_payload;

  assign payload_ready_o = payload_room && ready_o;
  stream_fifo #(.Width($bits(payload)), .Depth(BeatDepth)) u_payload (
    .clk_i, .rst_ni,
    .valid_i(payload_valid_i && ready_o), .ready_o(payload_room), .data_i(payload_i),
    .valid_o(payload_valid), .ready_i(payload_ready), .data_o(payload), .count_o(unused_payload)
  );

  // Start and stop.
  logic [4:0]  ctl_valid, ctl_ready;
  logic        ctl_start, ctl_done, rx_out, seg_valid, gone, sent, left, arrive_valid, arrive_ready;
  logic [15:0] ctl_qpn, ctl_pd;

  ddp_qp u_qp (
    .clk_i, .rst_ni,
    .qp_ctl_ddp_valid_i(qp_ctl_ddp_valid), .qp_ctl_ddp_ready_o(qp_ctl_ddp_ready), .qp_ctl_ddp_i(qp_ctl_ddp),
    .qp_ack_ddp_valid_o, .qp_ack_ddp_ready_i, .qp_ack_ddp_o,
    .ctl_valid_o(ctl_valid), .ctl_ready_i(ctl_ready), .ctl_start_o(ctl_start), .ctl_qpn_o(ctl_qpn),
    .ctl_pd_o(ctl_pd), .ctl_done_i(ctl_done),
    .rx_in_i(rx_ulpdu_hdr_valid_i && rx_ulpdu_hdr_ready_o), .rx_out_i(rx_out),
    .ask_in_i(tx_message_hdr_valid_i && tx_message_hdr_ready_o), .ask_out_i(arrive_valid && arrive_ready),
    .grant_in_i(tx_grant_valid_i && tx_grant_ready_o), .grant_out_i(tx_grant_valid && tx_grant_ready),
    .seg_in_i(seg_valid), .seg_out_i(gone), .sent_in_i(sent), .sent_out_i(left)
  );

  // Receive: header off, payload dense and stored until the verdict.
  logic             head_valid, head_ready, unused_head_last, cut_valid, cut_ready;
  logic [6:0]       unused_head_keep;
  logic [511:0]     head_data;
  logic [5:0]       cut_bytes;
  logic             rest_valid, rest_ready, body_valid, body_ready;
  iwarp_pkg::beat_t rest, body;
  logic [$clog2(PayloadDepth+1)-1:0] unused_body;

  header_take #(.Depth(4)) u_take (
    .clk_i, .rst_ni,
    .valid_i(rx_ulpdu_valid), .ready_o(rx_ulpdu_ready), .last_i(rx_ulpdu.last), .error_i(1'b0),
    .keep_i(rx_ulpdu.keep), .data_i(rx_ulpdu.data),
    .head_valid_o(head_valid), .head_ready_i(head_ready), .head_last_o(unused_head_last),
    .head_keep_o(unused_head_keep), .head_data_o(head_data),
    .cut_valid_i(cut_valid), .cut_ready_o(cut_ready), .cut_bytes_i(cut_bytes),
    .valid_o(rest_valid), .ready_i(rest_ready), .last_o(rest.last), .error_o(rest.error), .keep_o(rest.keep),
    .data_o(rest.data)
  );

  stream_fifo #(.Width($bits(rest)), .Depth(PayloadDepth)) u_body (
    .clk_i, .rst_ni,
    .valid_i(rest_valid), .ready_o(rest_ready), .data_i(rest),
    .valid_o(body_valid), .ready_i(body_ready), .data_o(body), .count_o(unused_body)
  );

  logic         first_valid, first_ready, item_valid, item_ready, item_tagged, item_recv, item_take, item_last, item_over;
  logic [543:0] first;
  logic [15:0]  item_qpn, item_length, item_rights, item_pd;
  logic [7:0]   item_cause;
  logic [31:0]  item_total, item_stag;
  logic [63:0]  item_to;
  logic         take_valid, take_ready;
  iwarp_pkg::rq_take_req_t take;

  ddp_rx_header u_rx_header (
    .clk_i, .rst_ni, .clear_i(clear), .clear_addr_i(clear_addr),
    .ctl_valid_i(ctl_valid[0]), .ctl_ready_o(ctl_ready[0]), .ctl_start_i(ctl_start), .ctl_qpn_i(ctl_qpn),
    .ctl_pd_i(ctl_pd),
    .rx_ulpdu_hdr_valid_i(rx_ulpdu_hdr_valid), .rx_ulpdu_hdr_ready_o(rx_ulpdu_hdr_ready), .rx_ulpdu_hdr_i(rx_ulpdu_hdr),
    .head_valid_i(head_valid), .head_ready_o(head_ready), .head_data_i(head_data),
    .cut_valid_o(cut_valid), .cut_ready_i(cut_ready), .cut_bytes_o(cut_bytes),
    .first_valid_o(first_valid), .first_ready_i(first_ready), .first_o(first),
    .rq_take_req_valid_o(take_valid), .rq_take_req_ready_i(take_ready), .rq_take_req_o(take),
    .item_valid_o(item_valid), .item_ready_i(item_ready), .item_qpn_o(item_qpn), .item_cause_o(item_cause),
    .item_tagged_o(item_tagged), .item_recv_o(item_recv), .item_take_o(item_take), .item_last_o(item_last),
    .item_length_o(item_length), .item_total_o(item_total), .item_over_o(item_over), .item_stag_o(item_stag), .item_to_o(item_to),
    .item_rights_o(item_rights), .item_pd_o(item_pd)
  );

  stream_reg #(.Width(iwarp_pkg::RqTakeReqWidth)) u_take_req (
    .clk_i, .rst_ni, .valid_i(take_valid), .ready_o(take_ready), .data_i(take),
    .valid_o(rq_take_req_valid_o), .ready_i(rq_take_req_ready_i), .data_o(rq_take_req_o)
  );

  logic        entry_valid, entry_ready, entry_asked, entry_recv, entry_too_long;
  logic [7:0]  entry_cause;
  logic [15:0] entry_length, entry_index;
  logic [31:0] entry_total;

  ddp_rx_pieces u_rx_pieces (
    .clk_i, .rst_ni,
    .item_valid_i(item_valid), .item_ready_o(item_ready), .item_qpn_i(item_qpn), .item_cause_i(item_cause),
    .item_tagged_i(item_tagged), .item_recv_i(item_recv), .item_take_i(item_take), .item_last_i(item_last),
    .item_length_i(item_length), .item_total_i(item_total), .item_over_i(item_over), .item_stag_i(item_stag), .item_to_i(item_to),
    .item_rights_i(item_rights), .item_pd_i(item_pd),
    .rq_take_rsp_valid_i(rq_take_rsp_valid), .rq_take_rsp_ready_o(rq_take_rsp_ready), .rq_take_rsp_i(rq_take_rsp),
    .rx_xlate_valid_o, .rx_xlate_ready_i, .rx_xlate_o,
    .entry_valid_o(entry_valid), .entry_ready_i(entry_ready), .entry_cause_o(entry_cause),
    .entry_asked_o(entry_asked), .entry_recv_o(entry_recv), .entry_too_long_o(entry_too_long),
    .entry_length_o(entry_length), .entry_index_o(entry_index), .entry_total_o(entry_total)
  );

  logic        pend_valid, pend_ready, pend_extents, pend_failed, pend_report;
  logic [15:0] pend_qpn, pend_length, pend_index;
  logic [7:0]  pend_status;
  logic [31:0] pend_total;

  ddp_rx_check u_rx_check (
    .clk_i, .rst_ni,
    .first_valid_i(first_valid), .first_ready_o(first_ready), .first_i(first),
    .entry_valid_i(entry_valid), .entry_ready_o(entry_ready), .entry_cause_i(entry_cause),
    .entry_asked_i(entry_asked), .entry_recv_i(entry_recv), .entry_too_long_i(entry_too_long),
    .entry_length_i(entry_length), .entry_index_i(entry_index), .entry_total_i(entry_total),
    .rx_xlate_rsp_valid_i(rx_xlate_rsp_valid), .rx_xlate_rsp_ready_o(rx_xlate_rsp_ready), .rx_xlate_rsp_i(rx_xlate_rsp),
    .rx_segment_valid_o, .rx_segment_ready_i, .rx_segment_o,
    .pend_valid_o(pend_valid), .pend_ready_i(pend_ready), .pend_qpn_o(pend_qpn), .pend_extents_o(pend_extents),
    .pend_failed_o(pend_failed), .pend_report_o(pend_report), .pend_status_o(pend_status),
    .pend_length_o(pend_length), .pend_index_o(pend_index), .pend_total_o(pend_total)
  );

  logic        deliver_valid, deliver_ready, deliver_placed, deliver_failed, deliver_report, deliver_solicited;
  logic [15:0] deliver_qpn, deliver_index;
  logic [7:0]  deliver_status, deliver_slot;
  logic [1:0]  deliver_kind;
  logic [31:0] deliver_total;

  ddp_rx_place u_rx_place (
    .clk_i, .rst_ni,
    .pend_valid_i(pend_valid), .pend_ready_o(pend_ready), .pend_qpn_i(pend_qpn), .pend_extents_i(pend_extents),
    .pend_failed_i(pend_failed), .pend_report_i(pend_report), .pend_status_i(pend_status),
    .pend_length_i(pend_length), .pend_index_i(pend_index), .pend_total_i(pend_total),
    .rx_verdict_valid_i(rx_verdict_valid), .rx_verdict_ready_o(rx_verdict_ready), .rx_verdict_i(rx_verdict),
    .payload_valid_i(body_valid), .payload_ready_o(body_ready), .payload_i(body),
    .rx_extent_valid_i(rx_extent_valid), .rx_extent_ready_o(rx_extent_ready), .rx_extent_i(rx_extent),
    .rx_dropped_valid_o, .rx_dropped_ready_i, .rx_dropped_o,
    .place_hdr_valid_o, .place_hdr_ready_i, .place_hdr_o,
    .place_extent_valid_o, .place_extent_ready_i, .place_extent_o,
    .place_valid_o, .place_ready_i, .place_o,
    .deliver_valid_o(deliver_valid), .deliver_ready_i(deliver_ready), .deliver_qpn_o(deliver_qpn),
    .deliver_placed_o(deliver_placed), .deliver_failed_o(deliver_failed), .deliver_report_o(deliver_report),
    .deliver_status_o(deliver_status), .deliver_kind_o(deliver_kind), .deliver_slot_o(deliver_slot),
    .deliver_solicited_o(deliver_solicited), .deliver_index_o(deliver_index), .deliver_total_o(deliver_total)
  );

  ddp_rx_deliver u_rx_deliver (
    .clk_i, .rst_ni, .clear_i(clear), .clear_addr_i(clear_addr),
    .ctl_valid_i(ctl_valid[1]), .ctl_ready_o(ctl_ready[1]), .ctl_qpn_i(ctl_qpn),
    .deliver_valid_i(deliver_valid), .deliver_ready_o(deliver_ready), .deliver_qpn_i(deliver_qpn),
    .deliver_placed_i(deliver_placed), .deliver_failed_i(deliver_failed), .deliver_report_i(deliver_report),
    .deliver_status_i(deliver_status), .deliver_kind_i(deliver_kind), .deliver_slot_i(deliver_slot),
    .deliver_solicited_i(deliver_solicited), .deliver_index_i(deliver_index), .deliver_total_i(deliver_total),
    .place_done_valid_i, .place_done_ready_o, .place_done_i,
    .rx_done_valid_o, .rx_done_ready_i, .rx_done_o,
    .out_o(rx_out)
  );

  // Transmit.
  logic                arrive_tagged, hdr_re, body_re;
  logic [15:0]         arrive_qpn;
  logic [1:0]          arrive_source, arrive_qn;
  logic [31:0]         arrive_length;
  logic [SlotW-1:0]    hdr_addr;
  logic [SlotHdrW-1:0] hdr;
  logic [BodyW-1:0]    body_addr;
  logic [511:0]        slot_body;

  ddp_tx_slot u_tx_slot (
    .clk_i, .rst_ni, .clear_i(clear), .clear_addr_i(clear_addr),
    .ctl_valid_i(ctl_valid[2]), .ctl_ready_o(ctl_ready[2]), .ctl_qpn_i(ctl_qpn),
    .tx_message_hdr_valid_i(tx_message_hdr_valid), .tx_message_hdr_ready_o(tx_message_hdr_ready),
    .tx_message_hdr_i(tx_message_hdr),
    .tx_message_valid_i(tx_message_valid), .tx_message_ready_o(tx_message_ready), .tx_message_i(tx_message),
    .arrive_valid_o(arrive_valid), .arrive_ready_i(arrive_ready), .arrive_qpn_o(arrive_qpn),
    .arrive_source_o(arrive_source), .arrive_tagged_o(arrive_tagged), .arrive_qn_o(arrive_qn),
    .arrive_length_o(arrive_length),
    .hdr_re_i(hdr_re), .hdr_addr_i(hdr_addr), .hdr_o(hdr),
    .body_re_i(body_re), .body_addr_i(body_addr), .body_o(slot_body)
  );

  logic        fault_valid, fault_ready, seg_first, seg_last;
  logic [15:0] fault_qpn, seg_qpn, seg_length, seg_pd;
  logic [1:0]  seg_source;
  logic [2:0]  seg_index;
  logic [31:0] seg_offset, seg_msn;

  ddp_tx_sched u_tx_sched (
    .clk_i, .rst_ni, .clear_i(clear), .clear_addr_i(clear_addr),
    .ctl_valid_i(ctl_valid[4]), .ctl_ready_o(ctl_ready[4]), .ctl_start_i(ctl_start), .ctl_qpn_i(ctl_qpn),
    .ctl_pd_i(ctl_pd), .ctl_done_o(ctl_done),
    .arrive_valid_i(arrive_valid), .arrive_ready_o(arrive_ready), .arrive_qpn_i(arrive_qpn),
    .arrive_source_i(arrive_source), .arrive_tagged_i(arrive_tagged), .arrive_qn_i(arrive_qn),
    .arrive_length_i(arrive_length),
    .tx_grant_valid_i(tx_grant_valid), .tx_grant_ready_o(tx_grant_ready), .tx_grant_i(tx_grant),
    .tx_want_valid_o, .tx_want_ready_i, .tx_want_o,
    .fault_valid_i(fault_valid), .fault_ready_o(fault_ready), .fault_qpn_i(fault_qpn),
    .seg_valid_o(seg_valid), .seg_qpn_o(seg_qpn), .seg_source_o(seg_source), .seg_index_o(seg_index),
    .seg_first_o(seg_first), .seg_last_o(seg_last), .seg_length_o(seg_length), .seg_offset_o(seg_offset),
    .seg_msn_o(seg_msn), .seg_pd_o(seg_pd),
    .gone_i(gone)
  );

  logic              order_valid, inline_valid, inline_ready, inline_shifted, inline_first;
  logic [OrderW-1:0] order;
  logic [5:0]        inline_cut;
  iwarp_pkg::beat_t  inline_beat;

  ddp_tx_segment u_tx_segment (
    .clk_i, .rst_ni,
    .seg_valid_i(seg_valid), .seg_qpn_i(seg_qpn), .seg_source_i(seg_source), .seg_index_i(seg_index),
    .seg_first_i(seg_first), .seg_last_i(seg_last), .seg_length_i(seg_length), .seg_offset_i(seg_offset),
    .seg_msn_i(seg_msn), .seg_pd_i(seg_pd),
    .hdr_re_o(hdr_re), .hdr_addr_o(hdr_addr), .hdr_i(hdr),
    .body_re_o(body_re), .body_addr_o(body_addr), .body_i(slot_body),
    .payload_req_valid_o, .payload_req_ready_i, .payload_req_o,
    .tx_xlate_valid_o, .tx_xlate_ready_i, .tx_xlate_o,
    .sq_slot_free_valid_o, .sq_slot_free_ready_i, .sq_slot_free_o,
    .resp_slot_free_valid_o, .resp_slot_free_ready_i, .resp_slot_free_o,
    .order_valid_o(order_valid), .order_o(order),
    .inline_valid_o(inline_valid), .inline_ready_i(inline_ready), .inline_shifted_o(inline_shifted),
    .inline_first_o(inline_first), .inline_cut_o(inline_cut), .inline_o(inline_beat)
  );

  ddp_tx_header u_tx_header (
    .clk_i, .rst_ni, .clear_i(clear), .clear_addr_i(clear_addr),
    .ctl_valid_i(ctl_valid[3]), .ctl_ready_o(ctl_ready[3]), .ctl_qpn_i(ctl_qpn),
    .order_valid_i(order_valid), .order_i(order),
    .inline_valid_i(inline_valid), .inline_ready_o(inline_ready), .inline_shifted_i(inline_shifted),
    .inline_first_i(inline_first), .inline_cut_i(inline_cut), .inline_i(inline_beat),
    .payload_hdr_valid_i(payload_hdr_valid), .payload_hdr_ready_o(payload_hdr_ready), .payload_hdr_i(payload_hdr),
    .payload_valid_i(payload_valid), .payload_ready_o(payload_ready), .payload_i(payload),
    .placed_i(place_done_valid_i && place_done_ready_o),
    .tx_ulpdu_hdr_valid_o, .tx_ulpdu_hdr_ready_i, .tx_ulpdu_hdr_o,
    .tx_ulpdu_valid_o, .tx_ulpdu_ready_i, .tx_ulpdu_o,
    .tx_fault_valid_o, .tx_fault_ready_i, .tx_fault_o,
    .fault_valid_o(fault_valid), .fault_ready_i(fault_ready), .fault_qpn_o(fault_qpn),
    .gone_o(gone), .sent_o(sent), .left_o(left)
  );

  // Counters: segments, cycles with a beat or header on its way out, cycles in which one of them was not taken.
  iwarp_pkg::unit_count_t count_q;
  logic [1:0]             items_q;
  logic                   busy_q, stalled_q;

  always_ff @(posedge clk_i) begin
    items_q   <= 2'(rx_segment_valid_o && rx_segment_ready_i) + 2'(tx_ulpdu_hdr_valid_o && tx_ulpdu_hdr_ready_i);
    busy_q    <= (rx_segment_valid_o && rx_segment_ready_i) || (place_valid_o && place_ready_i) ||
                 (tx_ulpdu_valid_o && tx_ulpdu_ready_i);
    stalled_q <= (rx_segment_valid_o && !rx_segment_ready_i) || (place_valid_o && !place_ready_i) ||
                 (tx_ulpdu_valid_o && !tx_ulpdu_ready_i);
    if (!rst_ni) begin
      items_q   <= '0;
      busy_q    <= 1'b0;
      stalled_q <= 1'b0;
      count_q   <= '0;
    end else begin
      count_q.items   <= count_q.items + 48'(items_q);
      count_q.busy    <= count_q.busy + 48'(busy_q);
      count_q.stalled <= count_q.stalled + 48'(stalled_q);
    end
  end

  assign count_o = count_q;

  logic unused_bits;
  assign unused_bits = ^{rx_ulpdu.error};

  // Simulation alone: commit trace (architecture 10)
  iwarp_pkg::ddp_ulpdu_commit_t tap_ddp_ulpdu /*verilator public_flat_rd*/;
  assign tap_ddp_ulpdu = {tx_ulpdu_hdr_valid_o && tx_ulpdu_hdr_ready_i, tx_ulpdu_hdr_o.qpn};
endmodule

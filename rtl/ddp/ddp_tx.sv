// ddp_tx: segmentation, the transmitting half of ddp. This module wires its leaves. Every stream
// input has a queue.
//
//   tx_message --> slot --arrive--> sched <-- tx_grant
//                   |               ^ | +--> tx_want
//                   |         fault | +--seg--> segment --> payload_req, tx_xlate, *_slot_free
//                   +---------------|-- hdr, body --^ |
//                                   |                 +--order, inline--> header <- payload, placed
//                                   +---------------------------------------+ |
//                      tx_ulpdu, tx_fault, resp_slot_free, resp_fetched <-----+
//
// Latency, from the cycle that accepts the input to the cycle that offers the output (tb/ddp checks
// them): tx_message to tx_want 5, tx_grant to the next tx_want 4, tx_grant to payload_req 7,
// payload to tx_ulpdu 5, tx_grant to tx_ulpdu with inline bytes 14. With SegDepth up to 64, each
// of the two queues of SegDepth entries is one cycle faster (stream_fifo): tx_grant to payload_req
// is 6 and to tx_ulpdu 12.
// Throughput: a segment every 3 cycles (4 for a later segment of its message), and 64 bytes per
// cycle.
// Waits for tpt, host_if's reads and mpa. It waits for placement only with a response without
// payload. A segment is scheduled only with a grant.
// Sibling: ddp_rx.
// Bench: tb/ddp/ddp_tx_test.cpp
`include "rnic_words.svh"

module ddp_tx (
  input  logic                         clk_i,
  input  logic                         rst_ni,
  // from ddp: the tables are being cleared
  input  logic                         clear_i,
  input  logic [15:0]                  clear_addr_i,
  // from and to ddp_qp: an order for a leaf's table (bit 0 ddp_tx_slot, 1 ddp_tx_header, 2
  // ddp_tx_sched). ask: a message enters, then is in the table. grant: enters, is taken. seg: is
  // scheduled, then moved or dropped. sent: is moved, then taken by mpa
  input  logic [2:0]                   ctl_valid_i,
  output logic [2:0]                   ctl_ready_o,
  input  logic                         ctl_start_i,
  input  logic [15:0]                  ctl_qpn_i,
  input  logic [15:0]                  ctl_pd_i,
  output logic                         ctl_done_o,
  output logic                         ask_in_o,
  output logic                         ask_out_o,
  output logic                         grant_in_o,
  output logic                         grant_out_o,
  output logic                         seg_in_o,
  output logic                         seg_out_o,
  output logic                         sent_in_o,
  output logic                         sent_out_o,
  // A bit each for sq_slot_free, resp_slot_free, tx_fault, resp_slot_free of a Flush, resp_fetched.
  // told_in_o: one is enqueued; told_out_o: qp or rdmap has taken it
  output logic [4:0]                   told_in_o,
  output logic [4:0]                   told_out_o,
  // from ddp_rx: a packet has been placed
  input  logic                         placed_i,
  // from and to rdmap
  input  logic                         tx_message_hdr_valid_i,
  output logic                         tx_message_hdr_ready_o,
  input  iwarp_pkg::tx_message_hdr_t   tx_message_hdr_i,
  input  logic                         tx_message_valid_i,
  output logic                         tx_message_ready_o,
  input  iwarp_pkg::tx_message_t       tx_message_i,
  output logic                         resp_slot_free_valid_o,
  input  logic                         resp_slot_free_ready_i,
  output iwarp_pkg::resp_slot_free_t   resp_slot_free_o,
  output logic                         resp_fetched_valid_o,
  input  logic                         resp_fetched_ready_i,
  output iwarp_pkg::resp_fetched_t     resp_fetched_o,
  output logic                         tx_fault_valid_o,
  input  logic                         tx_fault_ready_i,
  output iwarp_pkg::tx_fault_t         tx_fault_o,
  // to qp
  output logic                         sq_slot_free_valid_o,
  input  logic                         sq_slot_free_ready_i,
  output iwarp_pkg::sq_slot_free_t     sq_slot_free_o,
  // to and from llp_if
  output logic                         tx_want_valid_o,
  input  logic                         tx_want_ready_i,
  output iwarp_pkg::tx_want_t          tx_want_o,
  input  logic                         tx_grant_valid_i,
  output logic                         tx_grant_ready_o,
  input  iwarp_pkg::tx_grant_t         tx_grant_i,
  // to and from host_if
  output logic                         payload_req_valid_o,
  input  logic                         payload_req_ready_i,
  output iwarp_pkg::payload_req_t      payload_req_o,
  input  logic                         payload_hdr_valid_i,
  output logic                         payload_hdr_ready_o,
  input  iwarp_pkg::payload_hdr_t      payload_hdr_i,
  input  logic                         payload_valid_i,
  output logic                         payload_ready_o,
  input  iwarp_pkg::payload_t          payload_i,
  // to tpt
  output logic                         tx_xlate_valid_o,
  input  logic                         tx_xlate_ready_i,
  output iwarp_pkg::tx_xlate_t         tx_xlate_o,
  // to mpa
  output logic                         tx_ulpdu_hdr_valid_o,
  input  logic                         tx_ulpdu_hdr_ready_i,
  output iwarp_pkg::tx_ulpdu_hdr_t     tx_ulpdu_hdr_o,
  output logic                         tx_ulpdu_valid_o,
  input  logic                         tx_ulpdu_ready_i,
  output iwarp_pkg::tx_ulpdu_t         tx_ulpdu_o
);
  localparam int unsigned FifoDepth = rnic_pkg::FifoDepth;
  localparam int unsigned BeatDepth = rnic_pkg::BeatDepth;
  // Slots of a QP: SqSlots of the send queue (4 beats of body each), one response and one
  // Terminate.
  localparam int unsigned SlotW     = $clog2(rnic_pkg::NumQps * (rnic_pkg::SqSlots + 2));
  localparam int unsigned BodyW     = $clog2(rnic_pkg::NumQps * (4 * rnic_pkg::SqSlots + 2));
  localparam int unsigned SlotHdrW  = `RNIC_DDP_SLOT_W;
  localparam int unsigned OrderW    = `RNIC_DDP_ORDER_W;

  // Queues at the inputs, closed while the tables are cleared.
  logic running;
  assign running = !clear_i && rst_ni;

  logic tx_message_hdr_valid, tx_message_hdr_ready;
  iwarp_pkg::tx_message_hdr_t tx_message_hdr;
  ddp_queue #(.Width($bits(tx_message_hdr)), .Depth(FifoDepth)) u_tx_message_hdr (
    .clk_i, .rst_ni, .open_i(running),
    .valid_i(tx_message_hdr_valid_i), .ready_o(tx_message_hdr_ready_o), .data_i(tx_message_hdr_i),
    .valid_o(tx_message_hdr_valid), .ready_i(tx_message_hdr_ready), .data_o(tx_message_hdr)
  );

  logic tx_message_valid, tx_message_ready;
  iwarp_pkg::tx_message_t tx_message;
  ddp_queue #(.Width($bits(tx_message)), .Depth(BeatDepth)) u_tx_message (
    .clk_i, .rst_ni, .open_i(running),
    .valid_i(tx_message_valid_i), .ready_o(tx_message_ready_o), .data_i(tx_message_i),
    .valid_o(tx_message_valid), .ready_i(tx_message_ready), .data_o(tx_message)
  );

  logic tx_grant_valid, tx_grant_ready;
  iwarp_pkg::tx_grant_t tx_grant;
  ddp_queue #(.Width($bits(tx_grant)), .Depth(FifoDepth)) u_tx_grant (
    .clk_i, .rst_ni, .open_i(running),
    .valid_i(tx_grant_valid_i), .ready_o(tx_grant_ready_o), .data_i(tx_grant_i),
    .valid_o(tx_grant_valid), .ready_i(tx_grant_ready), .data_o(tx_grant)
  );

  logic payload_hdr_valid, payload_hdr_ready;
  iwarp_pkg::payload_hdr_t payload_hdr;
  ddp_queue #(.Width($bits(payload_hdr)), .Depth(FifoDepth)) u_payload_hdr (
    .clk_i, .rst_ni, .open_i(running),
    .valid_i(payload_hdr_valid_i), .ready_o(payload_hdr_ready_o), .data_i(payload_hdr_i),
    .valid_o(payload_hdr_valid), .ready_i(payload_hdr_ready), .data_o(payload_hdr)
  );

  logic payload_valid, payload_ready;
  iwarp_pkg::payload_t payload;
  ddp_queue #(.Width($bits(payload)), .Depth(BeatDepth)) u_payload (
    .clk_i, .rst_ni, .open_i(running),
    .valid_i(payload_valid_i), .ready_o(payload_ready_o), .data_i(payload_i),
    .valid_o(payload_valid), .ready_i(payload_ready), .data_o(payload)
  );

  // Items that entered and left, for ddp_qp. gone: ddp_tx_header has moved or dropped a segment.
  // The others: a report is enqueued (a free slot of the send queue, of a response, of a Flush
  // Response; a fault; a Read Response is fetched).
  logic arrive_valid, arrive_ready, seg_valid, gone, sq_freed, resp_freed, faulted, flush_freed,
        fetched;
  logic [1:0] free_valid, free_ready;   // resp_slot_free of a Read, of a Flush

  assign ask_in_o    = tx_message_hdr_valid_i && tx_message_hdr_ready_o;
  assign ask_out_o   = arrive_valid && arrive_ready;
  assign grant_in_o  = tx_grant_valid_i && tx_grant_ready_o;
  assign grant_out_o = tx_grant_valid && tx_grant_ready;
  assign seg_in_o    = seg_valid;
  assign seg_out_o   = gone;
  assign told_in_o   = {fetched, flush_freed, faulted, resp_freed, sq_freed};
  assign told_out_o  = {resp_fetched_valid_o && resp_fetched_ready_i,
                        free_valid[1] && free_ready[1],
                        tx_fault_valid_o && tx_fault_ready_i,
                        free_valid[0] && free_ready[0],
                        sq_slot_free_valid_o && sq_slot_free_ready_i};

  logic                arrive_tagged, hdr_re, body_re;
  logic [15:0]         arrive_qpn;
  logic [1:0]          arrive_source, arrive_qn;
  logic [31:0]         arrive_length;
  logic [SlotW-1:0]    hdr_addr;
  logic [SlotHdrW-1:0] hdr;
  logic [BodyW-1:0]    body_addr;
  logic [511:0]        slot_body;

  ddp_tx_slot u_slot (
    .clk_i, .rst_ni, .clear_i, .clear_addr_i,
    .ctl_valid_i(ctl_valid_i[0]), .ctl_ready_o(ctl_ready_o[0]), .ctl_qpn_i,
    .tx_message_hdr_valid_i(tx_message_hdr_valid), .tx_message_hdr_ready_o(tx_message_hdr_ready),
    .tx_message_hdr_i(tx_message_hdr),
    .tx_message_valid_i(tx_message_valid), .tx_message_ready_o(tx_message_ready),
    .tx_message_i(tx_message),
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

  ddp_tx_sched u_sched (
    .clk_i, .rst_ni, .clear_i, .clear_addr_i,
    .ctl_valid_i(ctl_valid_i[2]), .ctl_ready_o(ctl_ready_o[2]),
    .ctl_start_i, .ctl_qpn_i, .ctl_pd_i, .ctl_done_o,
    .arrive_valid_i(arrive_valid), .arrive_ready_o(arrive_ready), .arrive_qpn_i(arrive_qpn),
    .arrive_source_i(arrive_source), .arrive_tagged_i(arrive_tagged), .arrive_qn_i(arrive_qn),
    .arrive_length_i(arrive_length),
    .tx_grant_valid_i(tx_grant_valid), .tx_grant_ready_o(tx_grant_ready), .tx_grant_i(tx_grant),
    .tx_want_valid_o, .tx_want_ready_i, .tx_want_o,
    .fault_valid_i(fault_valid), .fault_ready_o(fault_ready), .fault_qpn_i(fault_qpn),
    .seg_valid_o(seg_valid), .seg_qpn_o(seg_qpn), .seg_source_o(seg_source),
    .seg_index_o(seg_index), .seg_first_o(seg_first), .seg_last_o(seg_last),
    .seg_length_o(seg_length), .seg_offset_o(seg_offset), .seg_msn_o(seg_msn), .seg_pd_o(seg_pd),
    .gone_i(gone)
  );

  // The slot of a Read is released when its last segment has been read; that of a Flush when its
  // response is sent.
  iwarp_pkg::resp_slot_free_t free_read, free_flush;
  logic                       unused_index;
  stream_arb #(.Width(iwarp_pkg::RespSlotFreeWidth), .N(2)) u_free (
    .clk_i, .rst_ni, .valid_i(free_valid), .ready_o(free_ready), .data_i({free_flush, free_read}),
    .valid_o(resp_slot_free_valid_o), .ready_i(resp_slot_free_ready_i), .data_o(resp_slot_free_o),
    .index_o(unused_index)
  );

  logic              order_valid, inline_valid, inline_ready, inline_shifted, inline_first;
  logic [OrderW-1:0] order;
  logic [5:0]        inline_cut;
  iwarp_pkg::beat_t  inline_beat;

  ddp_tx_segment u_segment (
    .clk_i, .rst_ni,
    .seg_valid_i(seg_valid), .seg_qpn_i(seg_qpn), .seg_source_i(seg_source),
    .seg_index_i(seg_index), .seg_first_i(seg_first), .seg_last_i(seg_last),
    .seg_length_i(seg_length), .seg_offset_i(seg_offset), .seg_msn_i(seg_msn), .seg_pd_i(seg_pd),
    .hdr_re_o(hdr_re), .hdr_addr_o(hdr_addr), .hdr_i(hdr),
    .body_re_o(body_re), .body_addr_o(body_addr), .body_i(slot_body),
    .payload_req_valid_o, .payload_req_ready_i, .payload_req_o,
    .tx_xlate_valid_o, .tx_xlate_ready_i, .tx_xlate_o,
    .sq_slot_free_valid_o, .sq_slot_free_ready_i, .sq_slot_free_o,
    .resp_slot_free_valid_o(free_valid[0]), .resp_slot_free_ready_i(free_ready[0]),
    .resp_slot_free_o(free_read),
    .sq_freed_o(sq_freed), .resp_freed_o(resp_freed),
    .order_valid_o(order_valid), .order_o(order),
    .inline_valid_o(inline_valid), .inline_ready_i(inline_ready), .inline_shifted_o(inline_shifted),
    .inline_first_o(inline_first), .inline_cut_o(inline_cut), .inline_o(inline_beat)
  );

  ddp_tx_header u_header (
    .clk_i, .rst_ni, .clear_i, .clear_addr_i,
    .ctl_valid_i(ctl_valid_i[1]), .ctl_ready_o(ctl_ready_o[1]), .ctl_qpn_i,
    .order_valid_i(order_valid), .order_i(order),
    .inline_valid_i(inline_valid), .inline_ready_o(inline_ready), .inline_shifted_i(inline_shifted),
    .inline_first_i(inline_first), .inline_cut_i(inline_cut), .inline_i(inline_beat),
    .payload_hdr_valid_i(payload_hdr_valid), .payload_hdr_ready_o(payload_hdr_ready),
    .payload_hdr_i(payload_hdr),
    .payload_valid_i(payload_valid), .payload_ready_o(payload_ready), .payload_i(payload),
    .placed_i,
    .tx_ulpdu_hdr_valid_o, .tx_ulpdu_hdr_ready_i, .tx_ulpdu_hdr_o,
    .tx_ulpdu_valid_o, .tx_ulpdu_ready_i, .tx_ulpdu_o,
    .tx_fault_valid_o, .tx_fault_ready_i, .tx_fault_o,
    .fault_valid_o(fault_valid), .fault_ready_i(fault_ready), .fault_qpn_o(fault_qpn),
    .resp_free_valid_o(free_valid[1]), .resp_free_ready_i(free_ready[1]), .resp_free_o(free_flush),
    .resp_fetched_valid_o, .resp_fetched_ready_i, .resp_fetched_o, .resp_fetch_o(fetched),
    .resp_freed_o(flush_freed), .gone_o(gone), .fault_o(faulted),
    .sent_o(sent_in_o), .left_o(sent_out_o)
  );
endmodule

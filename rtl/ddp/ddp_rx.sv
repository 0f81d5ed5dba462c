// ddp_rx: placement, the receiving half of ddp. This module wires its leaves. Every input except
// place_done has a queue.
//
//   rx_ulpdu_hdr ------------------+      rq_take_rsp, rx_xlate   rx_xlate_rsp
//                                  |  rq_take_req  |      ^         |
//                                  v      ^        v      |         v
//   rx_ulpdu --> header_take --> header --+-----> pieces -+-----> check --> rx_segment
//                  |     |                                          ^ |
//                  |     +-- tail ----------------------------------+ | pend
//                  |                                                  v
//                  +--> [ body ] ---------------------------------> place <-- rx_verdict, rx_extent
//                                                                     | +--> place, rx_dropped
//                                                                     v
//                                                   place_done --> deliver --> rx_done
//
// A segment's payload waits, densely packed, in `body` until the verdict.
// Latency, from the cycle that accepts the input to the cycle that offers the output (tb/ddp checks
// them): rx_ulpdu to rx_xlate 4, rx_xlate_rsp to rx_segment 2, rx_verdict to place_hdr 2,
// place_done to rx_done 2.
// Throughput: a segment every 2 cycles (3 for the first of a Send, 4 for its later ones), and 64
// bytes per cycle.
// Waits for tpt, for a receive WQE (at most one host read), for rdmap's verdict and for host_if's
// writes, never for ddp_tx.
// No deadlock of invalidations: ddp_rx_pieces requests a lookup only when ddp_rx_deliver and its
// ddp_rx_hold have room for the segment. So every extent that tpt has issued for it retires. tpt
// finishes an invalidation when the extents of the STag have retired. Without this rule, tpt could
// wait for a segment that waits behind the report which this invalidation holds in ddp_rx_hold.
// Bench: tb/ddp/ddp_rx_test.cpp
module ddp_rx (
  input  logic                         clk_i,
  input  logic                         rst_ni,
  // from ddp: the tables are being cleared
  input  logic                         clear_i,
  input  logic [15:0]                  clear_addr_i,
  // from and to ddp_qp: an order for a leaf's table (bit 0 ddp_rx_header, 1 ddp_rx_deliver)
  input  logic [1:0]                   ctl_valid_i,
  output logic [1:0]                   ctl_ready_o,
  input  logic                         ctl_start_i,
  input  logic [15:0]                  ctl_qpn_i,
  input  logic [15:0]                  ctl_pd_i,
  input  logic                         ctl_persist_i,
  // to ddp_qp: a segment has entered, and is finished; a report enters and leaves ddp_rx_hold; a
  // report is enqueued for qp
  output logic                         rx_in_o,
  output logic                         rx_out_o,
  output logic                         rx_held_in_o,
  output logic                         rx_held_out_o,
  output logic                         rx_report_o,
  // from mpa
  input  logic                         rx_ulpdu_hdr_valid_i,
  output logic                         rx_ulpdu_hdr_ready_o,
  input  iwarp_pkg::rx_ulpdu_hdr_t     rx_ulpdu_hdr_i,
  input  logic                         rx_ulpdu_valid_i,
  output logic                         rx_ulpdu_ready_o,
  input  iwarp_pkg::rx_ulpdu_t         rx_ulpdu_i,
  // to and from qp
  output logic                         rq_take_req_valid_o,
  input  logic                         rq_take_req_ready_i,
  output iwarp_pkg::rq_take_req_t      rq_take_req_o,
  input  logic                         rq_take_rsp_valid_i,
  output logic                         rq_take_rsp_ready_o,
  input  iwarp_pkg::rq_take_rsp_t      rq_take_rsp_i,
  output logic                         rx_done_valid_o,
  input  logic                         rx_done_ready_i,
  output iwarp_pkg::rx_done_t          rx_done_o,
  // to and from tpt
  output logic                         rx_xlate_valid_o,
  input  logic                         rx_xlate_ready_i,
  output iwarp_pkg::rx_xlate_t         rx_xlate_o,
  input  logic                         rx_xlate_rsp_valid_i,
  output logic                         rx_xlate_rsp_ready_o,
  input  iwarp_pkg::rx_xlate_rsp_t     rx_xlate_rsp_i,
  input  logic                         rx_extent_valid_i,
  output logic                         rx_extent_ready_o,
  input  iwarp_pkg::rx_extent_t        rx_extent_i,
  output logic                         rx_dropped_valid_o,
  input  logic                         rx_dropped_ready_i,
  output iwarp_pkg::rx_dropped_t       rx_dropped_o,
  output logic                         invalidate_valid_o,
  input  logic                         invalidate_ready_i,
  output iwarp_pkg::invalidate_t       invalidate_o,
  input  logic                         invalidated_valid_i,
  output logic                         invalidated_ready_o,
  input  iwarp_pkg::invalidated_t      invalidated_i,
  // to and from rdmap
  output logic                         rx_segment_valid_o,
  input  logic                         rx_segment_ready_i,
  output iwarp_pkg::rx_segment_t       rx_segment_o,
  input  logic                         rx_verdict_valid_i,
  output logic                         rx_verdict_ready_o,
  input  iwarp_pkg::rx_verdict_t       rx_verdict_i,
  // to and from host_if
  output logic                         place_hdr_valid_o,
  input  logic                         place_hdr_ready_i,
  output iwarp_pkg::place_hdr_t        place_hdr_o,
  output logic                         place_extent_valid_o,
  input  logic                         place_extent_ready_i,
  output iwarp_pkg::place_extent_t     place_extent_o,
  output logic                         place_valid_o,
  input  logic                         place_ready_i,
  output iwarp_pkg::place_t            place_o,
  input  logic                         place_done_valid_i,
  output logic                         place_done_ready_o,
  input  iwarp_pkg::place_done_t       place_done_i
);
  localparam int unsigned FifoDepth    = rnic_pkg::FifoDepth;
  localparam int unsigned BeatDepth    = rnic_pkg::BeatDepth;
  // PayloadDepth: beats that wait for the verdict of their segment. No depth can deadlock: a
  // verdict needs only the segment's first two beats, which reach it without passing this queue.
  localparam int unsigned PayloadDepth = 4 * rnic_pkg::BeatDepth;

  // Queues at the inputs, closed while the tables are cleared.
  logic running;
  assign running = !clear_i && rst_ni;

  logic rx_ulpdu_hdr_valid, rx_ulpdu_hdr_ready;
  iwarp_pkg::rx_ulpdu_hdr_t rx_ulpdu_hdr;
  ddp_queue #(.Width($bits(rx_ulpdu_hdr)), .Depth(FifoDepth)) u_rx_ulpdu_hdr (
    .clk_i, .rst_ni, .open_i(running),
    .valid_i(rx_ulpdu_hdr_valid_i), .ready_o(rx_ulpdu_hdr_ready_o), .data_i(rx_ulpdu_hdr_i),
    .valid_o(rx_ulpdu_hdr_valid), .ready_i(rx_ulpdu_hdr_ready), .data_o(rx_ulpdu_hdr)
  );

  logic rx_ulpdu_valid, rx_ulpdu_ready;
  iwarp_pkg::rx_ulpdu_t rx_ulpdu;
  ddp_queue #(.Width($bits(rx_ulpdu)), .Depth(BeatDepth)) u_rx_ulpdu (
    .clk_i, .rst_ni, .open_i(running),
    .valid_i(rx_ulpdu_valid_i), .ready_o(rx_ulpdu_ready_o), .data_i(rx_ulpdu_i),
    .valid_o(rx_ulpdu_valid), .ready_i(rx_ulpdu_ready), .data_o(rx_ulpdu)
  );

  logic rq_take_rsp_valid, rq_take_rsp_ready;
  iwarp_pkg::rq_take_rsp_t rq_take_rsp;
  ddp_queue #(.Width($bits(rq_take_rsp)), .Depth(FifoDepth)) u_rq_take_rsp (
    .clk_i, .rst_ni, .open_i(running),
    .valid_i(rq_take_rsp_valid_i), .ready_o(rq_take_rsp_ready_o), .data_i(rq_take_rsp_i),
    .valid_o(rq_take_rsp_valid), .ready_i(rq_take_rsp_ready), .data_o(rq_take_rsp)
  );

  logic rx_xlate_rsp_valid, rx_xlate_rsp_ready;
  iwarp_pkg::rx_xlate_rsp_t rx_xlate_rsp;
  ddp_queue #(.Width($bits(rx_xlate_rsp)), .Depth(FifoDepth)) u_rx_xlate_rsp (
    .clk_i, .rst_ni, .open_i(running),
    .valid_i(rx_xlate_rsp_valid_i), .ready_o(rx_xlate_rsp_ready_o), .data_i(rx_xlate_rsp_i),
    .valid_o(rx_xlate_rsp_valid), .ready_i(rx_xlate_rsp_ready), .data_o(rx_xlate_rsp)
  );

  logic rx_extent_valid, rx_extent_ready;
  iwarp_pkg::rx_extent_t rx_extent;
  ddp_queue #(.Width($bits(rx_extent)), .Depth(FifoDepth)) u_rx_extent (
    .clk_i, .rst_ni, .open_i(running),
    .valid_i(rx_extent_valid_i), .ready_o(rx_extent_ready_o), .data_i(rx_extent_i),
    .valid_o(rx_extent_valid), .ready_i(rx_extent_ready), .data_o(rx_extent)
  );

  logic rx_verdict_valid, rx_verdict_ready;
  iwarp_pkg::rx_verdict_t rx_verdict;
  ddp_queue #(.Width($bits(rx_verdict)), .Depth(FifoDepth)) u_rx_verdict (
    .clk_i, .rst_ni, .open_i(running),
    .valid_i(rx_verdict_valid_i), .ready_o(rx_verdict_ready_o), .data_i(rx_verdict_i),
    .valid_o(rx_verdict_valid), .ready_i(rx_verdict_ready), .data_o(rx_verdict)
  );

  assign rx_in_o = rx_ulpdu_hdr_valid_i && rx_ulpdu_hdr_ready_o;

  // Remove the header; store the payload densely until the verdict.
  logic             head_valid, head_ready, unused_head_last, cut_valid, cut_ready;
  logic [6:0]       unused_head_keep;
  logic [511:0]     head_data;
  logic [5:0]       cut_bytes;
  logic             rest_valid, rest_ready, body_valid, body_ready;
  iwarp_pkg::beat_t rest, body;
  logic [$clog2(PayloadDepth+1)-1:0] unused_body;

  // An Atomic Request has 70 bytes (18 + 52), so it reaches 6 bytes into the second beat. Each
  // segment has one tail entry, pushed with its second beat, or with its only one.
  logic beat_ready, tail_ready, tail_push, first_beat_q, second_q;
  assign rx_ulpdu_ready = beat_ready && tail_ready;
  assign tail_push      = rx_ulpdu_valid && rx_ulpdu_ready &&
                          (second_q || (first_beat_q && rx_ulpdu.last));
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_beat_q <= 1'b1;
      second_q     <= 1'b0;
    end else if (rx_ulpdu_valid && rx_ulpdu_ready) begin
      first_beat_q <= rx_ulpdu.last;
      second_q     <= first_beat_q && !rx_ulpdu.last;
    end
  end

  header_take #(.Depth(4)) u_take (
    .clk_i, .rst_ni,
    .valid_i(rx_ulpdu_valid && tail_ready), .ready_o(beat_ready),
    .last_i(rx_ulpdu.last), .error_i(1'b0), .keep_i(rx_ulpdu.keep), .data_i(rx_ulpdu.data),
    .head_valid_o(head_valid), .head_ready_i(head_ready), .head_last_o(unused_head_last),
    .head_keep_o(unused_head_keep), .head_data_o(head_data),
    .cut_valid_i(cut_valid), .cut_ready_o(cut_ready), .cut_bytes_i(cut_bytes),
    .valid_o(rest_valid), .ready_i(rest_ready),
    .last_o(rest.last), .error_o(rest.error), .keep_o(rest.keep), .data_o(rest.data)
  );

  stream_fifo #(.Width($bits(rest)), .Depth(PayloadDepth)) u_body (
    .clk_i, .rst_ni,
    .valid_i(rest_valid), .ready_o(rest_ready), .data_i(rest),
    .valid_o(body_valid), .ready_i(body_ready), .data_o(body), .count_o(unused_body)
  );

  // The record of a segment changes its name on the way: item (its header is checked), entry (its
  // lookups are requested), pend (it waits for its verdict), deliver (it waits for its place_done).
  // The leaf that produces a record explains its fields. first: {qpn, ulpdu_length, the segment's
  // first beat}, 16 + 16 + 512 bits.
  logic         first_valid, first_ready, item_valid, item_ready, item_tagged, item_recv, item_take,
                item_last, item_inval, item_over;
  logic [543:0] first;
  logic         item_persist, entry_persist;
  logic [15:0]  item_qpn, item_length, item_rights, item_pd;
  logic [7:0]   item_cause;
  logic [31:0]  item_total, item_stag;
  logic [63:0]  item_to;
  logic         take_valid, take_ready;
  iwarp_pkg::rq_take_req_t take;

  ddp_rx_header u_header (
    .clk_i, .rst_ni, .clear_i, .clear_addr_i,
    .ctl_valid_i(ctl_valid_i[0]), .ctl_ready_o(ctl_ready_o[0]),
    .ctl_start_i, .ctl_qpn_i, .ctl_pd_i, .ctl_persist_i,
    .rx_ulpdu_hdr_valid_i(rx_ulpdu_hdr_valid), .rx_ulpdu_hdr_ready_o(rx_ulpdu_hdr_ready),
    .rx_ulpdu_hdr_i(rx_ulpdu_hdr),
    .head_valid_i(head_valid), .head_ready_o(head_ready), .head_data_i(head_data),
    .cut_valid_o(cut_valid), .cut_ready_i(cut_ready), .cut_bytes_o(cut_bytes),
    .first_valid_o(first_valid), .first_ready_i(first_ready), .first_o(first),
    .rq_take_req_valid_o(take_valid), .rq_take_req_ready_i(take_ready), .rq_take_req_o(take),
    .item_valid_o(item_valid), .item_ready_i(item_ready),
    .item_qpn_o(item_qpn), .item_cause_o(item_cause), .item_tagged_o(item_tagged),
    .item_recv_o(item_recv), .item_take_o(item_take), .item_last_o(item_last),
    .item_inval_o(item_inval), .item_length_o(item_length), .item_total_o(item_total),
    .item_over_o(item_over), .item_stag_o(item_stag), .item_to_o(item_to),
    .item_rights_o(item_rights), .item_pd_o(item_pd), .item_persist_o(item_persist)
  );

  stream_reg #(.Width(iwarp_pkg::RqTakeReqWidth)) u_take_req (
    .clk_i, .rst_ni, .valid_i(take_valid), .ready_o(take_ready), .data_i(take),
    .valid_o(rq_take_req_valid_o), .ready_i(rq_take_req_ready_i), .data_o(rq_take_req_o)
  );

  // inside_q: segments between ddp_rx_pieces and their report, including held ones. MaxInside: the
  // room of ddp_rx_deliver (4 * FifoDepth) and of ddp_rx_hold (2 * FifoDepth), less one entry for
  // the report of a stop. Stops come one at a time.
  localparam int unsigned MaxInside = (4 + 2) * rnic_pkg::FifoDepth - 1;
  logic [15:0] inside_q;
  logic        begun;
  // A report that is held leaves ddp_rx_deliver and enters the hold in one cycle, so the count
  // stays. A stop's report enters the hold without a segment that leaves.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) inside_q <= '0;
    else         inside_q <= inside_q + 16'(begun) +
                             16'(rx_held_in_o && !rx_out_o) - 16'(rx_out_o && !rx_held_in_o) -
                             16'(rx_held_out_o);
  end

  logic        entry_valid, entry_ready, entry_asked, entry_recv, entry_owes;
  logic [7:0]  entry_cause, entry_status;
  logic [15:0] entry_length, entry_index;
  logic [31:0] entry_total;

  ddp_rx_pieces u_pieces (
    .clk_i, .rst_ni,
    .item_valid_i(item_valid), .item_ready_o(item_ready),
    .room_i(inside_q < 16'(MaxInside)), .begun_o(begun),
    .item_qpn_i(item_qpn), .item_cause_i(item_cause), .item_tagged_i(item_tagged),
    .item_recv_i(item_recv), .item_take_i(item_take), .item_last_i(item_last),
    .item_inval_i(item_inval), .item_length_i(item_length), .item_total_i(item_total),
    .item_over_i(item_over), .item_stag_i(item_stag), .item_to_i(item_to),
    .item_rights_i(item_rights), .item_pd_i(item_pd), .item_persist_i(item_persist),
    .rq_take_rsp_valid_i(rq_take_rsp_valid), .rq_take_rsp_ready_o(rq_take_rsp_ready),
    .rq_take_rsp_i(rq_take_rsp),
    .rx_xlate_valid_o, .rx_xlate_ready_i, .rx_xlate_o,
    .entry_valid_o(entry_valid), .entry_ready_i(entry_ready), .entry_cause_o(entry_cause),
    .entry_asked_o(entry_asked), .entry_recv_o(entry_recv), .entry_status_o(entry_status),
    .entry_length_o(entry_length), .entry_index_o(entry_index), .entry_total_o(entry_total),
    .entry_persist_o(entry_persist), .entry_owes_o(entry_owes)
  );

  logic        pend_valid, pend_ready, pend_extents, pend_failed, pend_report, pend_owes;
  logic [15:0] pend_qpn, pend_length, pend_index;
  logic [7:0]  pend_status;
  logic [31:0] pend_total;

  ddp_rx_check u_check (
    .clk_i, .rst_ni,
    .first_valid_i(first_valid), .first_ready_o(first_ready), .first_i(first),
    .tail_valid_i(tail_push), .tail_ready_o(tail_ready), .tail_i(rx_ulpdu.data[47:0]),
    .entry_valid_i(entry_valid), .entry_ready_o(entry_ready), .entry_cause_i(entry_cause),
    .entry_asked_i(entry_asked), .entry_recv_i(entry_recv), .entry_status_i(entry_status),
    .entry_length_i(entry_length), .entry_index_i(entry_index), .entry_total_i(entry_total),
    .entry_persist_i(entry_persist), .entry_owes_i(entry_owes),
    .rx_xlate_rsp_valid_i(rx_xlate_rsp_valid), .rx_xlate_rsp_ready_o(rx_xlate_rsp_ready),
    .rx_xlate_rsp_i(rx_xlate_rsp),
    .rx_segment_valid_o, .rx_segment_ready_i, .rx_segment_o,
    .pend_valid_o(pend_valid), .pend_ready_i(pend_ready),
    .pend_qpn_o(pend_qpn), .pend_extents_o(pend_extents), .pend_failed_o(pend_failed),
    .pend_report_o(pend_report), .pend_status_o(pend_status), .pend_length_o(pend_length),
    .pend_index_o(pend_index), .pend_total_o(pend_total), .pend_owes_o(pend_owes)
  );

  logic        deliver_owes;
  logic        deliver_valid, deliver_ready, deliver_placed, deliver_failed, deliver_report,
               deliver_solicited;
  logic [15:0] deliver_qpn, deliver_index;
  logic [7:0]  deliver_status, deliver_slot;
  logic [2:0]  deliver_kind;
  logic [31:0] deliver_total;
  logic [63:0] deliver_immediate;

  ddp_rx_place u_place (
    .clk_i, .rst_ni,
    .pend_valid_i(pend_valid), .pend_ready_o(pend_ready),
    .pend_qpn_i(pend_qpn), .pend_extents_i(pend_extents), .pend_failed_i(pend_failed),
    .pend_report_i(pend_report), .pend_status_i(pend_status), .pend_length_i(pend_length),
    .pend_index_i(pend_index), .pend_total_i(pend_total), .pend_owes_i(pend_owes),
    .rx_verdict_valid_i(rx_verdict_valid), .rx_verdict_ready_o(rx_verdict_ready),
    .rx_verdict_i(rx_verdict),
    .payload_valid_i(body_valid), .payload_ready_o(body_ready), .payload_i(body),
    .rx_extent_valid_i(rx_extent_valid), .rx_extent_ready_o(rx_extent_ready),
    .rx_extent_i(rx_extent),
    .rx_dropped_valid_o, .rx_dropped_ready_i, .rx_dropped_o,
    .place_hdr_valid_o, .place_hdr_ready_i, .place_hdr_o,
    .place_extent_valid_o, .place_extent_ready_i, .place_extent_o,
    .place_valid_o, .place_ready_i, .place_o,
    .deliver_valid_o(deliver_valid), .deliver_ready_i(deliver_ready),
    .deliver_qpn_o(deliver_qpn), .deliver_placed_o(deliver_placed),
    .deliver_failed_o(deliver_failed), .deliver_report_o(deliver_report),
    .deliver_status_o(deliver_status), .deliver_kind_o(deliver_kind),
    .deliver_slot_o(deliver_slot), .deliver_solicited_o(deliver_solicited),
    .deliver_index_o(deliver_index), .deliver_total_o(deliver_total),
    .deliver_immediate_o(deliver_immediate), .deliver_owes_o(deliver_owes)
  );

  ddp_rx_deliver u_deliver (
    .clk_i, .rst_ni, .clear_i, .clear_addr_i,
    .ctl_valid_i(ctl_valid_i[1]), .ctl_ready_o(ctl_ready_o[1]), .ctl_start_i, .ctl_qpn_i,
    .deliver_valid_i(deliver_valid), .deliver_ready_o(deliver_ready),
    .deliver_qpn_i(deliver_qpn), .deliver_placed_i(deliver_placed),
    .deliver_failed_i(deliver_failed), .deliver_report_i(deliver_report),
    .deliver_status_i(deliver_status), .deliver_kind_i(deliver_kind),
    .deliver_slot_i(deliver_slot), .deliver_solicited_i(deliver_solicited),
    .deliver_index_i(deliver_index), .deliver_total_i(deliver_total),
    .deliver_immediate_i(deliver_immediate), .deliver_owes_i(deliver_owes),
    .place_done_valid_i, .place_done_ready_o, .place_done_i,
    .rx_done_valid_o, .rx_done_ready_i, .rx_done_o,
    .invalidate_valid_o, .invalidate_ready_i, .invalidate_o,
    .invalidated_valid_i, .invalidated_ready_o, .invalidated_i,
    .out_o(rx_out_o), .held_in_o(rx_held_in_o), .held_out_o(rx_held_out_o), .report_o(rx_report_o)
  );

  logic unused_bits;
  assign unused_bits = rx_ulpdu.error;

  // Simulation only: commit trace (architecture 10)
  iwarp_pkg::ddp_rx_commit_t tap_ddp_rx /*verilator public_flat_rd*/;
  assign tap_ddp_rx = {rx_in_o, rx_ulpdu_hdr_i.qpn};
endmodule

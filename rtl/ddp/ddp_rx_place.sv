// ddp_rx_place: joins each segment with its verdict. The payload and the extents of an accepted
// segment go to host_if; those of a refused one are dropped.
//
//   pending --> [ queue ] --+--> place_hdr
//   rx_verdict -------------+--> beat orders   --> payload (dense) --> place        or dropped
//                           +--> extent orders --> rx_extent       --> place_extent or rx_dropped
//                           +--> deliver, to ddp_rx_deliver
//
// 1. Beats and extents follow their orders independently, so the next verdict is taken while
//    payload still streams.
// 2. Every packet has at least one beat of payload (keep 0 if empty). Extents come only for
//    segments that tpt accepted.
//
// Latency: 1 cycle from verdict to place_hdr, place and place_extent.
// Throughput: 1 verdict, 1 beat and 1 extent per cycle.
// Waits for rdmap's verdict and for host_if to take what is placed.
// Siblings: ddp_rx_check, ddp_rx_deliver.
// Bench: tb/ddp/ddp_rx_test.cpp
`include "rnic_assert.svh"

module ddp_rx_place (
  input  logic         clk_i,
  input  logic         rst_ni,
  // from ddp_rx_check: a segment that waits for its verdict. extents: tpt sends extents for it.
  // failed: it has a cause. report: its receive ends with error status. owes: it has taken a WQE of
  // an SRQ. length: of its payload. index: of the receive WQE. total: bytes of the message
  input  logic         pend_valid_i,
  output logic         pend_ready_o,
  input  logic [15:0]  pend_qpn_i,
  input  logic         pend_extents_i,
  input  logic         pend_failed_i,
  input  logic         pend_report_i,
  input  logic [7:0]   pend_status_i,
  input  logic         pend_owes_i,
  input  logic [15:0]  pend_length_i,
  input  logic [15:0]  pend_index_i,
  input  logic [31:0]  pend_total_i,
  // from rdmap
  input  logic                     rx_verdict_valid_i,
  output logic                     rx_verdict_ready_o,
  input  iwarp_pkg::rx_verdict_t   rx_verdict_i,
  // from ddp_rx's body queue
  input  logic                     payload_valid_i,
  output logic                     payload_ready_o,
  input  iwarp_pkg::beat_t         payload_i,
  // from tpt
  input  logic                     rx_extent_valid_i,
  output logic                     rx_extent_ready_o,
  input  iwarp_pkg::rx_extent_t    rx_extent_i,
  // to tpt
  output logic                     rx_dropped_valid_o,
  input  logic                     rx_dropped_ready_i,
  output iwarp_pkg::rx_dropped_t   rx_dropped_o,
  // to host_if
  output logic                     place_hdr_valid_o,
  input  logic                     place_hdr_ready_i,
  output iwarp_pkg::place_hdr_t    place_hdr_o,
  output logic                     place_extent_valid_o,
  input  logic                     place_extent_ready_i,
  output iwarp_pkg::place_extent_t place_extent_o,
  output logic                     place_valid_o,
  input  logic                     place_ready_i,
  output iwarp_pkg::place_t        place_o,
  // to ddp_rx_deliver
  output logic         deliver_valid_o,
  input  logic         deliver_ready_i,
  output logic [15:0]  deliver_qpn_o,
  output logic         deliver_placed_o,   // place_done will follow for it
  output logic         deliver_failed_o,   // the QP has an error from this segment on
  output logic         deliver_report_o,   // its receive ends with error deliver_status_o
  output logic [7:0]   deliver_status_o,
  output logic         deliver_owes_o,     // it has taken a WQE of an SRQ
  output logic [2:0]   deliver_kind_o,     // deliver_kind_e: what to report
  output logic [7:0]   deliver_slot_o,     // of the Read, Flush or Atomic Write that completes
  output logic         deliver_solicited_o,
  output logic [15:0]  deliver_index_o,    // of the receive WQE
  output logic [31:0]  deliver_total_o,    // bytes of the message
  output logic [63:0]  deliver_immediate_o
);
  localparam int unsigned PendDepth  = 2 * rnic_pkg::FifoDepth;
  // {qpn; extents, failed, report; status; owes; length; index; total}
  localparam int unsigned PendW      = 16 + 3 + 8 + 1 + 16 + 16 + 32;
  localparam int unsigned OrderDepth = rnic_pkg::FifoDepth;
  localparam int unsigned OrderCntW  = $clog2(OrderDepth + 1);

  // A segment that waits for its verdict.
  logic        pend_valid, has_extents, failed, report, owes, fire, forward;
  logic [15:0] qpn, length, index;
  logic [7:0]  status;
  logic [31:0] total;
  logic [$clog2(PendDepth+1)-1:0] unused_pend;

  stream_fifo #(.Width(PendW), .Depth(PendDepth)) u_pend (
    .clk_i, .rst_ni,
    .valid_i(pend_valid_i), .ready_o(pend_ready_o),
    .data_i({pend_qpn_i, pend_extents_i, pend_failed_i, pend_report_i, pend_status_i, pend_owes_i,
             pend_length_i, pend_index_i, pend_total_i}),
    .valid_o(pend_valid), .ready_i(fire),
    .data_o({qpn, has_extents, failed, report, status, owes, length, index, total}),
    .count_o(unused_pend)
  );

  // Orders, pushed when every queue has room. An order has one bit, forward: to host_if; if 0:
  // dropped.
  logic hdr_ready, beat_ready, extent_ready;
  logic beat_order_valid, beat_forward, beat_done, extent_order_valid, extent_forward, extent_done;
  logic [OrderCntW-1:0] unused_hdrs, unused_beats, unused_extents;

  assign forward = rx_verdict_i.accept && rx_verdict_i.place && has_extents;
  assign fire    = pend_valid && rx_verdict_valid_i && hdr_ready && beat_ready && extent_ready &&
                   deliver_ready_i;

  assign rx_verdict_ready_o = fire;

  stream_fifo #(.Width(iwarp_pkg::PlaceHdrWidth), .Depth(OrderDepth)) u_hdrs (
    .clk_i, .rst_ni,
    .valid_i(fire && forward), .ready_o(hdr_ready), .data_i({1'b0, length}),
    .valid_o(place_hdr_valid_o), .ready_i(place_hdr_ready_i), .data_o(place_hdr_o),
    .count_o(unused_hdrs)
  );

  stream_fifo #(.Width(1), .Depth(OrderDepth)) u_beats (
    .clk_i, .rst_ni,
    .valid_i(fire), .ready_o(beat_ready), .data_i(forward),
    .valid_o(beat_order_valid), .ready_i(beat_done), .data_o(beat_forward), .count_o(unused_beats)
  );

  stream_fifo #(.Width(1), .Depth(OrderDepth)) u_extents (
    .clk_i, .rst_ni,
    .valid_i(fire && has_extents), .ready_o(extent_ready), .data_i(forward),
    .valid_o(extent_order_valid), .ready_i(extent_done), .data_o(extent_forward),
    .count_o(unused_extents)
  );

  assign deliver_valid_o     = fire;
  assign deliver_qpn_o       = qpn;
  assign deliver_placed_o    = forward;
  assign deliver_failed_o    = failed || !rx_verdict_i.accept;
  assign deliver_report_o    = report;
  assign deliver_status_o    = report ? status : iwarp_pkg::WcSuccess;
  assign deliver_owes_o      = owes;
  assign deliver_kind_o      = rx_verdict_i.accept ? rx_verdict_i.deliver : iwarp_pkg::DelNothing;
  assign deliver_slot_o      = rx_verdict_i.slot;
  assign deliver_solicited_o = rx_verdict_i.solicited;
  assign deliver_index_o     = index;
  assign deliver_total_o     = total;
  assign deliver_immediate_o = rx_verdict_i.immediate;

  // Beats.
  logic beat_go;

  assign beat_go         = beat_order_valid && (!beat_forward || place_ready_i);
  assign payload_ready_o = beat_go;
  assign beat_done       = payload_valid_i && payload_i.last && (!beat_forward || place_ready_i);
  assign place_valid_o   = beat_order_valid && beat_forward && payload_valid_i;
  assign place_o         = {payload_i.last, 1'b0, payload_i.keep, payload_i.data};

  // Extents.
  assign rx_extent_ready_o    = extent_order_valid &&
                                (extent_forward ? place_extent_ready_i : rx_dropped_ready_i);
  assign extent_done          = rx_extent_valid_i && rx_extent_i.last &&
                                (extent_forward ? place_extent_ready_i : rx_dropped_ready_i);
  assign place_extent_valid_o = extent_order_valid && extent_forward && rx_extent_valid_i;
  assign place_extent_o       = rx_extent_i;
  assign rx_dropped_valid_o   = extent_order_valid && !extent_forward && rx_extent_valid_i;
  assign rx_dropped_o         = rx_extent_i.epoch;

  logic unused_error;
  assign unused_error = payload_i.error;

  `RNIC_ASSERT(PlaceHasExtents_A, !fire || !(rx_verdict_i.accept && rx_verdict_i.place) ||
                                  has_extents)
  `RNIC_ASSERT(FailedNotAccepted_A, !fire || !(failed && rx_verdict_i.accept))
  `RNIC_STREAM_STABLE(PlaceHdrStable_A, place_hdr_valid_o, place_hdr_ready_i, place_hdr_o)
  `RNIC_STREAM_STABLE(PlaceExtentStable_A, place_extent_valid_o, place_extent_ready_i,
                      place_extent_o)
  `RNIC_STREAM_STABLE(PlaceStable_A, place_valid_o, place_ready_i, place_o)
  `RNIC_STREAM_STABLE(DroppedStable_A, rx_dropped_valid_o, rx_dropped_ready_i, rx_dropped_o)
endmodule

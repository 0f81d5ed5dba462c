// ddp_tx_header: sends segments in scheduling order, each with its DDP header before its payload or
// inline bytes.
//
//   order --> [ queue, SegDepth ] --> [ bad, per QP ] --> send or drop --+--> tx_ulpdu_hdr
//   payload_hdr ---------------------------------------------^           +--> tx_fault, fault
//                                                                        +--> header --+
//   mover: payload                    --+                                              v
//          inline, unshifted          --+---------------------------------------> header_put
//          inline, cut (header_take)  --+                                              |
//          none: one empty beat       --+                              tx_ulpdu <------+
//
// 1. A segment whose payload comes back bad is not sent. tx_fault is reported once, and every later
//    segment of that QP is dropped until start. A Terminate is never dropped.
// 2. A response without payload has no payload_req that could wait in host_if. It waits here until
//    all placements that its watermark counts are done (RFC 5040 section 5.5, rule 12).
// 3. The byte that a Flush Response waits for (KindProbe) is discarded.
// 4. resp_free reports a sent Flush Response. A dropped one does not free its slot: its QP has
//    failed.
// 5. resp_fetched reports that the last payload of a Read Response has arrived and is good. Then
//    operations that modify memory after that Read may begin.
// 6. Pulses: gone_o when the mover has finished a segment; sent_o with it, unless the segment is
//    dropped; left_o when mpa has taken the header and the last beat of a segment; fault_o,
//    resp_freed_o and resp_fetch_o when a tx_fault, a resp_free or a resp_fetched enters its queue.
//
// Latency: 4 cycles from payload_hdr to tx_ulpdu.
// Throughput: a segment every 2 cycles, 1 beat per cycle (one beat more when the header makes the
// segment longer).
// Waits for host_if to bring the payload or to place, and for mpa.
// Siblings: ddp_tx_segment, ddp_tx_sched.
// Bench: tb/ddp/ddp_tx_test.cpp. Proof: rtl/formal/ddp_tx_header_fv.sv
`include "rnic_assert.svh"
`include "rnic_words.svh"

module ddp_tx_header #(
  localparam int unsigned OrderW = `RNIC_DDP_ORDER_W
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  // from ddp: the table is being cleared
  input  logic         clear_i,
  input  logic [15:0]  clear_addr_i,
  // from ddp_qp: start
  input  logic         ctl_valid_i,
  output logic         ctl_ready_o,
  input  logic [15:0]  ctl_qpn_i,
  // from ddp_tx_segment: a segment (fields: u_orders); inline bytes. shifted: cut off inline_cut_i
  input  logic               order_valid_i,
  input  logic [OrderW-1:0]  order_i,
  input  logic               inline_valid_i,
  output logic               inline_ready_o,
  input  logic               inline_shifted_i,
  input  logic               inline_first_i,
  input  logic [5:0]         inline_cut_i,
  input  iwarp_pkg::beat_t   inline_i,
  // from host_if
  input  logic                     payload_hdr_valid_i,
  output logic                     payload_hdr_ready_o,
  input  iwarp_pkg::payload_hdr_t  payload_hdr_i,
  input  logic                     payload_valid_i,
  output logic                     payload_ready_o,
  input  iwarp_pkg::payload_t      payload_i,
  input  logic                     placed_i,     // a packet has been placed
  // to mpa
  output logic                     tx_ulpdu_hdr_valid_o,
  input  logic                     tx_ulpdu_hdr_ready_i,
  output iwarp_pkg::tx_ulpdu_hdr_t tx_ulpdu_hdr_o,
  output logic                     tx_ulpdu_valid_o,
  input  logic                     tx_ulpdu_ready_i,
  output iwarp_pkg::tx_ulpdu_t     tx_ulpdu_o,
  // to rdmap
  output logic                     tx_fault_valid_o,
  input  logic                     tx_fault_ready_i,
  output iwarp_pkg::tx_fault_t     tx_fault_o,
  // to ddp_tx_sched: the fault of this QP
  output logic         fault_valid_o,
  input  logic         fault_ready_i,
  output logic [15:0]  fault_qpn_o,
  // to rdmap: the slot of a Flush Response is free
  output logic                          resp_free_valid_o,
  input  logic                          resp_free_ready_i,
  output iwarp_pkg::resp_slot_free_t    resp_free_o,
  // to rdmap: a Read Response has been fetched
  output logic                          resp_fetched_valid_o,
  input  logic                          resp_fetched_ready_i,
  output iwarp_pkg::resp_fetched_t      resp_fetched_o,
  // to ddp_qp, ddp_tx_sched: pulses (invariant 6)
  output logic         gone_o,
  output logic         fault_o,
  output logic         resp_freed_o,
  output logic         resp_fetch_o,
  output logic         sent_o,
  output logic         left_o
);
  localparam int unsigned QpW = $clog2(rnic_pkg::NumQps);
  localparam logic [2:0] KindNone = 3'd0, KindPayload = 3'd1, KindInline = 3'd2,
                         KindShifted = 3'd3, KindProbe = 3'd4;

  // Wire order to lanes: the top byte becomes lane 0.
  function automatic logic [143:0] to_lanes(input logic [143:0] network);
    for (int unsigned i = 0; i < 18; i++) to_lanes[8*i +: 8] = network[8*(17-i) +: 8];
  endfunction

  // The queue. fetches: last payload of a Read Response; waits: for placement, without payload.
  logic         order_valid, is_tagged, done, fetches, waits, judge, unused_ready;
  logic [15:0]  qpn, length;
  logic [1:0]   source;
  logic [2:0]   kind;
  logic [143:0] header;
  logic [7:0]   slot;
  logic [31:0]  offset;
  logic [63:0]  watermark;
  logic [$clog2(rnic_pkg::SegDepth+1)-1:0] unused_orders;

  stream_fifo #(.Width(OrderW), .Depth(rnic_pkg::SegDepth), .Reserved(1'b1)) u_orders (
    .clk_i, .rst_ni,
    .valid_i(order_valid_i), .ready_o(unused_ready), .data_i(order_i),
    .valid_o(order_valid), .ready_i(judge),
    .data_o({qpn, source, kind, is_tagged, length, header, done, slot, offset, fetches, waits,
             watermark}),
    .count_o(unused_orders)
  );

  // Registered: has the count of placements reached the watermark? Both have 64 bits, so neither
  // wraps.
  logic [63:0] placed_q;
  logic        reached_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) placed_q <= '0;
    else         placed_q <= placed_q + 64'(placed_i);
    reached_q <= !waits || placed_q >= watermark;
  end

  // First cycle: read the QP's bad flag. Second cycle: decide, when the payload's header is valid.
  logic       look, looked_q, was_bad, is_bad, faulty, send, drop, is_term, ctl_fire, fetched;
  logic       ulpdu_ready, put_ready, move_ready, report_ready, fault_ready, free_ready,
              fetch_ready, all_ready;
  logic [4:0] header_bytes;

  assign ctl_ready_o  = !clear_i;
  assign ctl_fire     = ctl_valid_i && ctl_ready_o;
  assign look         = order_valid && !looked_q;
  assign is_term      = source == iwarp_pkg::TxTerm;
  assign is_bad       = payload_hdr_i.status != iwarp_pkg::RdOk ||
                        payload_hdr_i.result != iwarp_pkg::TptOk;
  assign all_ready    = ulpdu_ready && put_ready && move_ready && report_ready && fault_ready &&
                        free_ready && fetch_ready;
  assign fetched      = kind == KindPayload || kind == KindProbe;
  assign judge        = looked_q && reached_q && all_ready && (!fetched || payload_hdr_valid_i) &&
                        !ctl_valid_i;
  assign faulty       = judge && fetched && is_bad && !was_bad;
  assign drop         = !is_term && (was_bad || (fetched && is_bad));
  assign send         = judge && !drop;
  assign fault_o      = faulty;
  // Only a sent Flush Response frees its slot here. The QP of a dropped one has failed, and rdmap
  // must take its tx_fault before any other report about the QP.
  assign resp_freed_o = send && source == iwarp_pkg::TxResp && !is_tagged &&
                        (kind == KindProbe || waits);
  assign header_bytes = is_tagged ? 5'(rnic_pkg::TaggedHeaderBytes)
                                  : 5'(rnic_pkg::UntaggedHeaderBytes);

  assign payload_hdr_ready_o = judge && fetched;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) looked_q <= 1'b0;
    else         looked_q <= look || (looked_q && !judge);
  end

  ram_1r1w #(.Width(1), .Depth(rnic_pkg::NumQps)) u_bad (
    .clk_i, .rst_ni,
    .we_i(clear_i || ctl_fire || faulty),
    .waddr_i(clear_i ? clear_addr_i[QpW-1:0] : ctl_fire ? ctl_qpn_i[QpW-1:0] : qpn[QpW-1:0]),
    .wdata_i(!clear_i && !ctl_fire),
    .re_i(look), .raddr_i(qpn[QpW-1:0]), .rdata_o(was_bad)
  );

  // Reports.
  logic [1:0] unused_reports, unused_faults, unused_ulpdus, unused_moves;

  stream_fifo #(.Width(iwarp_pkg::TxFaultWidth), .Depth(2)) u_reports (
    .clk_i, .rst_ni,
    .valid_i(faulty), .ready_o(report_ready),
    .data_i({qpn, source, slot, offset, payload_hdr_i.status, payload_hdr_i.result}),
    .valid_o(tx_fault_valid_o), .ready_i(tx_fault_ready_i), .data_o(tx_fault_o),
    .count_o(unused_reports)
  );

  stream_fifo #(.Width(16), .Depth(2)) u_faults (
    .clk_i, .rst_ni,
    .valid_i(faulty), .ready_o(fault_ready), .data_i(qpn),
    .valid_o(fault_valid_o), .ready_i(fault_ready_i), .data_o(fault_qpn_o), .count_o(unused_faults)
  );

  stream_fifo #(.Width(iwarp_pkg::TxUlpduHdrWidth), .Depth(2)) u_ulpdus (
    .clk_i, .rst_ni,
    .valid_i(send), .ready_o(ulpdu_ready),
    .data_i({qpn, length + 16'(header_bytes), done, slot, is_term}),
    .valid_o(tx_ulpdu_hdr_valid_o), .ready_i(tx_ulpdu_hdr_ready_i), .data_o(tx_ulpdu_hdr_o),
    .count_o(unused_ulpdus)
  );

  logic [1:0] unused_frees;
  stream_fifo #(.Width(16), .Depth(2)) u_frees (
    .clk_i, .rst_ni,
    .valid_i(resp_freed_o), .ready_o(free_ready), .data_i(qpn),
    .valid_o(resp_free_valid_o), .ready_i(resp_free_ready_i), .data_o(resp_free_o),
    .count_o(unused_frees)
  );

  logic [1:0] unused_fetches;
  assign resp_fetch_o = send && fetches;
  stream_fifo #(.Width(16), .Depth(2)) u_fetches (
    .clk_i, .rst_ni,
    .valid_i(resp_fetch_o), .ready_o(fetch_ready), .data_i(qpn),
    .valid_o(resp_fetched_valid_o), .ready_i(resp_fetched_ready_i), .data_o(resp_fetched_o),
    .count_o(unused_fetches)
  );

  // The mover's orders.
  logic       move_valid, moved, move_drop;
  logic [2:0] move_kind;

  stream_fifo #(.Width(4), .Depth(2)) u_moves (
    .clk_i, .rst_ni,
    .valid_i(judge), .ready_o(move_ready), .data_i({drop, kind}),
    .valid_o(move_valid), .ready_i(moved), .data_o({move_drop, move_kind}), .count_o(unused_moves)
  );

  // Inline bytes: unshifted, or with the first ones cut off. They wait here for the payload of all
  // earlier segments, which is a PCIe round trip, so the queue has as many beats as there may be
  // segments. A segment of 224 bytes (max_inline) has 4 beats, so SegDepth / 4 of these fill the
  // queue. While it is full, ddp_tx_segment and all its later payload requests wait until the first
  // of these segments is sent. For cut segments, u_cut holds 4 beats.
  localparam int unsigned InlineDepth = rnic_pkg::SegDepth > 4 ? rnic_pkg::SegDepth : 4;
  localparam int unsigned BeatW = $bits(inline_i);
  logic             as_is_ready, as_is_valid, as_is_pop,
                    cut_in_ready, cut_ready, cut_valid, cut_pop;
  logic             cut_last, cut_error;
  logic [6:0]       cut_keep;
  logic [511:0]     cut_data;
  iwarp_pkg::beat_t as_is;
  logic [BeatW-1:0] as_is_bits;
  logic [$clog2(InlineDepth+1)-1:0] unused_as_is;

  assign inline_ready_o = inline_shifted_i ? cut_in_ready && (cut_ready || !inline_first_i)
                                           : as_is_ready;

  stream_fifo #(.Width(BeatW), .Depth(InlineDepth)) u_as_is (
    .clk_i, .rst_ni,
    .valid_i(inline_valid_i && !inline_shifted_i), .ready_o(as_is_ready), .data_i(inline_i),
    .valid_o(as_is_valid), .ready_i(as_is_pop), .data_o(as_is_bits), .count_o(unused_as_is)
  );
  assign as_is = as_is_bits;

  logic         unused_head_valid, unused_head_last;
  logic [6:0]   unused_head_keep;
  logic [511:0] unused_head_data;

  header_take #(.Depth(4)) u_cut (
    .clk_i, .rst_ni,
    .valid_i(inline_valid_i && inline_shifted_i && (cut_ready || !inline_first_i)),
    .ready_o(cut_in_ready),
    .last_i(inline_i.last), .error_i(1'b0), .keep_i(inline_i.keep), .data_i(inline_i.data),
    .head_valid_o(unused_head_valid), .head_ready_i(1'b1), .head_last_o(unused_head_last),
    .head_keep_o(unused_head_keep), .head_data_o(unused_head_data),
    .cut_valid_i(inline_valid_i && inline_shifted_i && inline_first_i && cut_in_ready),
    .cut_ready_o(cut_ready), .cut_bytes_i(inline_cut_i),
    .valid_o(cut_valid), .ready_i(cut_pop),
    .last_o(cut_last), .error_o(cut_error), .keep_o(cut_keep), .data_o(cut_data)
  );

  // The mover.
  logic         in_valid, in_last, put_in_ready, in_go;
  logic [6:0]   in_keep;
  logic [511:0] in_data;

  always_comb begin
    case (move_kind)
      KindPayload: {in_valid, in_last, in_keep, in_data} = {payload_valid_i, payload_i.last,
                                                            payload_i.keep, payload_i.data};
      KindProbe:   {in_valid, in_last, in_keep, in_data} = {payload_valid_i, payload_i.last,
                                                            7'd0, payload_i.data};
      KindInline:  {in_valid, in_last, in_keep, in_data} = {as_is_valid, as_is.last,
                                                            as_is.keep, as_is.data};
      KindShifted: {in_valid, in_last, in_keep, in_data} = {cut_valid, cut_last,
                                                            cut_keep, cut_data};
      default:     {in_valid, in_last, in_keep, in_data} = {1'b1, 1'b1, 7'd0, as_is.data};
    endcase
  end

  assign in_go           = move_valid && (move_drop || put_in_ready);
  assign payload_ready_o = in_go && (move_kind == KindPayload || move_kind == KindProbe);
  assign as_is_pop       = in_go && move_kind == KindInline;
  assign cut_pop         = in_go && move_kind == KindShifted;
  assign moved           = in_go && in_valid && in_last;
  assign gone_o          = moved && move_valid;
  assign sent_o          = gone_o && !move_drop;

  iwarp_pkg::tx_ulpdu_t out;

  header_put u_put (
    .clk_i, .rst_ni,
    .put_valid_i(send), .put_ready_o(put_ready),
    .put_bytes_i(7'(header_bytes)), .put_data_i({368'd0, to_lanes(header)}),
    .valid_i(move_valid && !move_drop && in_valid), .ready_o(put_in_ready),
    .last_i(in_last), .error_i(1'b0), .keep_i(in_keep), .data_i(in_data),
    .valid_o(tx_ulpdu_valid_o), .ready_i(tx_ulpdu_ready_i),
    .last_o(out.last), .error_o(out.error), .keep_o(out.keep), .data_o(out.data)
  );

  assign tx_ulpdu_o = out;

  // A segment is sent when mpa has taken both its header and its last beat. Either may wait long
  // after the other is taken. ahead_q: headers taken minus last beats taken.
  logic              hdr_out, last_out;
  logic signed [4:0] ahead_q;

  assign hdr_out  = tx_ulpdu_hdr_valid_o && tx_ulpdu_hdr_ready_i;
  assign last_out = tx_ulpdu_valid_o && tx_ulpdu_ready_i && out.last;
  assign left_o   = (hdr_out && last_out) || (hdr_out && ahead_q < 5'sd0) ||
                    (last_out && ahead_q > 5'sd0);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) ahead_q <= '0;
    else         ahead_q <= ahead_q + 5'(hdr_out) - 5'(last_out);
  end

  logic unused_bits;
  assign unused_bits = ^{clear_addr_i, ctl_qpn_i, payload_hdr_i.length, payload_i.error,
                         as_is.error, inline_i.error, cut_error, KindNone};

  `RNIC_ASSERT(OrderRoom_A, !order_valid_i || unused_ready)
  `RNIC_ASSERT(PayloadLength_A, !send || kind != KindPayload || payload_hdr_i.length == 17'(length))
  `RNIC_ASSERT(ProbeLength_A, !send || kind != KindProbe || payload_hdr_i.length == 17'd1)
  `RNIC_STREAM_STABLE(FetchedStable_A, resp_fetched_valid_o, resp_fetched_ready_i, resp_fetched_o)
  `RNIC_STREAM_STABLE(FreeStable_A, resp_free_valid_o, resp_free_ready_i, resp_free_o)
  `RNIC_ASSERT(AheadInRange_A, !(hdr_out && ahead_q == 5'sd15) && !(last_out && ahead_q == -5'sd16))
  `RNIC_STREAM_STABLE(UlpduHdrStable_A, tx_ulpdu_hdr_valid_o, tx_ulpdu_hdr_ready_i, tx_ulpdu_hdr_o)
  `RNIC_STREAM_STABLE(UlpduStable_A, tx_ulpdu_valid_o, tx_ulpdu_ready_i, tx_ulpdu_o)
  `RNIC_STREAM_STABLE(FaultStable_A, tx_fault_valid_o, tx_fault_ready_i, tx_fault_o)
`ifdef FORMAL
  // Proof: rtl/formal/ddp_tx_header_fv.sv. A Flush Response is sent, and its slot freed, only when
  // its read-back has returned good. Its beat is the read-back's beat. A response without payload
  // waits until its watermark is reached.
  `RNIC_ASSERT(ProbeReturned_A, !(send && kind == KindProbe && !is_term) ||
                                (payload_hdr_valid_i && payload_hdr_ready_o && !is_bad))
  `RNIC_ASSERT(FreedWhenFinal_A, !(resp_freed_o && kind == KindProbe) ||
                                 (payload_hdr_valid_i && !is_bad))
  `RNIC_ASSERT(ProbeBeat_A, !(moved && move_kind == KindProbe) ||
                            (payload_valid_i && payload_ready_o && payload_i.last))
  `RNIC_ASSERT_NEXT(WaitsForPlacement_A, 1'b1, !(judge && waits) || $past(placed_q) >= watermark)
  // Segments inside: ddp_tx_sched admits at most SegDepth, and counts gone_o (its InsideInRange_A).
  logic [31:0] f_inside_q;
  always_ff @(posedge clk_i)
    f_inside_q <= rst_ni ? f_inside_q + 32'(order_valid_i) - 32'(gone_o) : 32'd0;
  always_comb if (rst_ni) assume (!order_valid_i || f_inside_q < rnic_pkg::SegDepth);
  `RNIC_ASSERT(LookedIsThere_A, !looked_q || order_valid)
  `RNIC_ASSERT(InsideIsQueued_A, f_inside_q == 32'(unused_orders) + 32'(unused_moves))
`endif
endmodule

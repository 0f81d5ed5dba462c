// ddp_tx_header_ports_fv: bounded proof of ddp_tx_header at its ports, minimum build. No Flush
// Response is sent early.
//
// The proof follows any one Flush Response (KindProbe), among any orders, good and bad payloads,
// and starts of QPs. When its segment is finished (gone_o), its own payload header and its own
// packet were accepted, counted over all segments ahead of it that fetch. It is sent (sent_o) only
// if that header was good. Bounded only: an induction would need the kinds that wait in the leaf's
// queues. By induction, for the order at their head: ddp_tx_header_fv.
// proof: assertions=3 bounded=12 induction=0 cover=12
// files: ../gen/rnic_pkg.sv ../ddp/ddp_tx_header.sv
// proved by themselves: header_put header_take lane_shift stream_reg stream_fifo ram_1r1w
// proved by themselves: ddp_tx_header/
// refuted by ../ddp/ddp_tx_header.sv HeaderHasCome_A: s/fetched      = kind == KindPayload || kind == KindProbe/fetched = kind == KindPayload/
// refuted by ../ddp/ddp_tx_header.sv SentOnlyIfGood_A: s/(was_bad || (fetched \&\& is_bad))/(was_bad || (kind == KindPayload \&\& is_bad))/
`include "rnic_assert.svh"
`include "rnic_formal.svh"
`include "rnic_words.svh"

module ddp_tx_header_ports_fv (
  input logic        clk_i,
  input logic        pick_i,                       // this order is the one that is followed
  input logic        ctl_valid_i,
  input logic [2:0]  ctl_qpn_i,
  input logic        order_valid_i, order_tagged_i, order_waits_i,
  input logic [2:0]  order_qpn_i, order_kind_i,
  input logic [1:0]  order_source_i,
  input logic [63:0] order_watermark_i,
  input logic        hdr_valid_i,
  input logic [1:0]  hdr_status_i,
  input logic [2:0]  hdr_result_i,
  input logic        beat_valid_i, beat_last_i, placed_i,
  input logic        ulpdu_hdr_ready_i, ulpdu_ready_i, report_ready_i, fault_ready_i, free_ready_i,
                     fetch_ready_i, order_fetches_i
);
  `RNIC_FORMAL_RESET
  localparam logic [2:0] KindNone = 3'd0, KindPayload = 3'd1, KindProbe = 3'd4;
  localparam int unsigned OrderW = `RNIC_DDP_ORDER_W;

  logic                    hdr_ready, beat_ready, gone, sent, freed;
  logic [OrderW-1:0]       order;
  iwarp_pkg::payload_hdr_t hdr;
  iwarp_pkg::payload_t     beat;

  assign order = {13'd0, order_qpn_i, order_source_i, order_kind_i, order_tagged_i, 16'd1,
                  144'd0, 1'b0, 8'd0, 32'd0, order_fetches_i, order_waits_i, order_watermark_i};
  assign hdr  = {17'd1, hdr_status_i, hdr_result_i};
  assign beat = {beat_last_i, 1'b0, 7'd1, 512'd0};

  ddp_tx_header dut (
    .clk_i, .rst_ni, .clear_i(1'b0), .clear_addr_i(16'd0),
    .ctl_valid_i, .ctl_ready_o(), .ctl_qpn_i({13'd0, ctl_qpn_i}),
    .order_valid_i, .order_i(order),
    .inline_valid_i(1'b0), .inline_ready_o(), .inline_shifted_i(1'b0), .inline_first_i(1'b0),
    .inline_cut_i(6'd0), .inline_i('0),
    .payload_hdr_valid_i(hdr_valid_i), .payload_hdr_ready_o(hdr_ready), .payload_hdr_i(hdr),
    .payload_valid_i(beat_valid_i), .payload_ready_o(beat_ready), .payload_i(beat), .placed_i,
    .tx_ulpdu_hdr_valid_o(), .tx_ulpdu_hdr_ready_i(ulpdu_hdr_ready_i), .tx_ulpdu_hdr_o(),
    .tx_ulpdu_valid_o(), .tx_ulpdu_ready_i(ulpdu_ready_i), .tx_ulpdu_o(),
    .tx_fault_valid_o(), .tx_fault_ready_i(report_ready_i), .tx_fault_o(),
    .fault_valid_o(), .fault_ready_i, .fault_qpn_o(),
    .resp_free_valid_o(), .resp_free_ready_i(free_ready_i), .resp_free_o(),
    .resp_fetched_valid_o(), .resp_fetched_ready_i(fetch_ready_i), .resp_fetched_o(),
    .resp_fetch_o(),
    .gone_o(gone), .fault_o(), .resp_freed_o(freed), .sent_o(sent), .left_o()
  );

  logic [3:0] inside_q;   // number of segments in the leaf
  always_ff @(posedge clk_i) inside_q <= rst_ni ? inside_q + 4'(order_valid_i) - 4'(gone) : '0;
  `RNIC_ASSUME(order_kind_i == KindNone || order_kind_i == KindPayload || order_kind_i == KindProbe)
  `RNIC_ASSUME(order_kind_i != KindProbe ||
               (order_source_i == iwarp_pkg::TxResp && !order_tagged_i))
  `RNIC_ASSUME_STREAM(hdr_valid_i, hdr_ready, hdr)
  `RNIC_ASSUME_STREAM(beat_valid_i, beat_ready, beat)

  // ahead_q: segments in front of the followed one. hdrs_q, packets_q: headers and packets that the
  // segments in the leaf still wait for; hdr_ahead_q, packet_ahead_q: those of segments in front of
  // the followed one.
  logic       fetches, follow, followed_q, is_hdr, is_packet,
              hdr_taken_q, hdr_good_q, packet_taken_q;
  logic [3:0] ahead_q, hdrs_q, packets_q, hdr_ahead_q, packet_ahead_q;
  assign fetches   = order_valid_i && order_kind_i != KindNone;
  assign follow    = order_valid_i && pick_i && !followed_q && order_kind_i == KindProbe;
  assign is_hdr    = hdr_valid_i && hdr_ready;
  assign is_packet = beat_valid_i && beat_ready && beat_last_i;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {followed_q, hdr_taken_q, hdr_good_q, packet_taken_q} <= '0;
      {ahead_q, hdrs_q, packets_q, hdr_ahead_q, packet_ahead_q} <= '0;
    end else begin
      hdrs_q    <= hdrs_q + 4'(fetches) - 4'(is_hdr);
      packets_q <= packets_q + 4'(fetches) - 4'(is_packet);
      if (follow) begin
        followed_q     <= 1'b1;
        ahead_q        <= inside_q - 4'(gone);
        hdr_ahead_q    <= hdrs_q - 4'(is_hdr);
        packet_ahead_q <= packets_q - 4'(is_packet);
      end else if (followed_q) begin
        if (gone && ahead_q != '0)             ahead_q <= ahead_q - 4'd1;
        if (is_hdr && hdr_ahead_q != '0)       hdr_ahead_q <= hdr_ahead_q - 4'd1;
        if (is_packet && packet_ahead_q != '0) packet_ahead_q <= packet_ahead_q - 4'd1;
        if (is_hdr && hdr_ahead_q == '0 && !hdr_taken_q) begin
          hdr_taken_q <= 1'b1;
          hdr_good_q  <= hdr_status_i == iwarp_pkg::RdOk && hdr_result_i == iwarp_pkg::TptOk;
        end
        if (is_packet && packet_ahead_q == '0) packet_taken_q <= 1'b1;
        if (gone && ahead_q == '0)
          {followed_q, hdr_taken_q, hdr_good_q, packet_taken_q} <= '0;
      end
    end
  end

  logic ends;
  assign ends = followed_q && gone && ahead_q == '0;
  `RNIC_ASSERT(HeaderHasCome_A, !ends || hdr_taken_q)
  `RNIC_ASSERT(PacketHasCome_A, !ends || packet_taken_q || (is_packet && packet_ahead_q == '0))
  `RNIC_ASSERT(SentOnlyIfGood_A, !(ends && sent) || hdr_good_q)

  `RNIC_COVER(Sent_C, ends && sent)
  `RNIC_COVER(Dropped_C, ends && !sent && hdr_taken_q && !hdr_good_q)
  `RNIC_COVER(BehindARead_C, ends && sent && $past(gone, 2))
  logic unused_freed;
  assign unused_freed = freed;
endmodule

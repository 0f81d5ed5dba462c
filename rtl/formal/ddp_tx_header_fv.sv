// ddp_tx_header_fv: proof of ddp_tx_header, minimum build. No Flush Response is sent before its
// read-back has returned.
//
// In the leaf, under FORMAL, by induction, for the order at the head of its queue:
// - A Flush Response (KindProbe) is sent, and its slot freed, only with the good payload header of
//   its read-back.
// - Its one beat needs the beat that was read back.
// - A response without payload (KindNone) is judged only when its watermark is reached.
// The proofs of stream_fifo and header_put show that orders, moves and beats keep their order. At
// the ports: ddp_tx_header_ports_fv. The environment sends no inline bytes and only lengths of 1,
// because no length decides when a segment is sent.
// proof: assertions=135 bounded=8 induction=3 cover=10
// files: ../gen/rnic_pkg.sv ../ddp/ddp_tx_header.sv
// proved by themselves: header_put header_take lane_shift stream_reg
// proved by themselves: ddp_tx_header/AheadInRange_A ddp_tx_header/PayloadLength_A
// refuted by ../ddp/ddp_tx_header.sv ProbeReturned_A: s/fetched      = kind == KindPayload || kind == KindProbe/fetched = kind == KindPayload/
// refuted by ../ddp/ddp_tx_header.sv ProbeBeat_A: s/KindProbe:   {in_valid, in_last, in_keep, in_data} = {payload_valid_i,/KindProbe: {in_valid, in_last, in_keep, in_data} = {1'b1,/
// refuted by ../ddp/ddp_tx_header.sv WaitsForPlacement_A: s/placed_q >= watermark;/placed_q + 64'd1 >= watermark;/
`include "rnic_assert.svh"
`include "rnic_formal.svh"
`include "rnic_words.svh"

module ddp_tx_header_fv (
  input logic        clk_i,
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

  `RNIC_ASSUME(order_kind_i == KindNone || order_kind_i == KindPayload || order_kind_i == KindProbe)
  `RNIC_ASSUME(order_kind_i != KindProbe ||
               (order_source_i == iwarp_pkg::TxResp && !order_tagged_i))
  `RNIC_ASSUME_STREAM(hdr_valid_i, hdr_ready, hdr)
  `RNIC_ASSUME_STREAM(beat_valid_i, beat_ready, beat)

  `RNIC_COVER(Freed_C, freed)
  `RNIC_COVER(SentBehindADrop_C, sent && $past(gone && !sent, 2))
endmodule

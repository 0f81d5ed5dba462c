// rdmap_segment: what a received segment means for its QP. RFC 5040 sections 4, 5, 7.2; requirements.md sections 3, 4, 6, 7.
//
//   segment --> [ rdmap_rx ] --+--> bad (by DDP, by its header): its cause
//                              +--> Read Request: into the IRD, which has room, unless our side has no more to say
//                              +--> Read Response: the next bytes of the oldest outstanding Read, or an error
//                              +--> Terminate: the QP has failed; with the WQE of the Read that it names, if it does
//                              +--> Write, Send: placed, delivered
//
// asks_o: this one is judged with an ORD entry, the oldest first; more_o: that was not the one, the next may be. What is formed of segment
// and word alone is registered while the entry is read; the rest is combinational.
// Siblings: rdmap_core (holds segment and word, reads the entries, carries it out), rdmap_rx. Bench: tb/rdmap/rdmap_test.cpp
module rdmap_segment (
  input  logic clk_i,
  input  iwarp_pkg::rx_segment_t seg_i,
  // of the QP's word
  input  logic closed_i,                 // our side has no more to say
  input  logic [5:0]  ird_i,
  input  logic [5:0]  ird_count_i,
  input  logic [5:0]  ord_count_i,
  input  logic [31:0] received_i,        // bytes of the oldest Read that have come
  // an ORD entry
  input  logic [5:0]  scan_i,            // how many stand before it
  input  logic [31:0] stag_i,
  input  logic [63:0] to_i,
  input  logic [31:0] length_i,
  input  logic [7:0]  slot_i,
  output logic asks_o,
  output logic more_o,
  // what becomes of it
  output iwarp_pkg::rx_verdict_t verdict_o,
  output logic is_request_o,             // a Read Request that is accepted
  output logic read_done_o,              // the oldest Read ends here
  output logic [31:0] received_o,
  output logic fail_o,
  output iwarp_pkg::qp_error_t error_o,  // without QPN and sends_term
  output logic head_fits_o,              // it has a whole DDP header
  output logic [511:0] net_o             // its first bytes, byte 0 in the top bits
);
  logic is_tagged, is_last, is_write, is_response, is_send, is_solicited, is_request, is_term, good;
  logic [15:0] payload;
  iwarp_pkg::cause_e      cause;
  iwarp_pkg::ddp_tagged_t ddp_hdr;
  rdmap_rx u_rx (
    .head_i(seg_i.head), .ulpdu_length_i(seg_i.ulpdu_length), .is_tagged_o(is_tagged), .is_last_o(is_last), .payload_o(payload),
    .is_write_o(is_write), .is_read_response_o(is_response), .is_send_o(is_send), .is_solicited_o(is_solicited),
    .is_read_request_o(is_request), .is_terminate_o(is_term), .cause_o(cause), .ddp_o(ddp_hdr), .net_o
  );
  assign good        = seg_i.cause == iwarp_pkg::CauseNone && cause == iwarp_pkg::CauseNone;
  assign head_fits_o = seg_i.ulpdu_length >= (is_tagged ? 16'd14 : 16'd18);

  // Sums are formed while the entry is read, so that what is left is to compare: TO less what has come (its high half with and without
  // the borrow) with the sink's TO. TO is the segment's, or that of the Read which a Terminate names.
  logic [63:0] at_to;
  logic [32:0] start_low_q;
  logic [31:0] start_high_q, sum_q;
  logic        starts_at, fits;
  assign at_to     = is_tagged ? ddp_hdr.tagged_offset : net_o[511 - 46 * 8 -: 64];
  assign starts_at = to_i == {start_low_q[32] ? start_high_q : at_to[63:32], start_low_q[31:0]};
  always_ff @(posedge clk_i) begin
    start_low_q  <= {1'b0, at_to[31:0]} - {1'b0, received_i};
    start_high_q <= at_to[63:32] - 32'd1;
    sum_q        <= received_i + {16'h0, payload};
  end
  assign fits = ord_count_i != 6'd0 && ddp_hdr.stag == stag_i && starts_at && sum_q <= length_i && is_last == (sum_q == length_i);

  // A peer's Terminate: does it name a Read of ours? It does if it carries length, DDP header and Read Request header, and that
  // one's sink is the entry's, or (requirements.md section 6) the oldest entry's moved on by what has come.
  logic [15:0] t_code;
  logic        t_has_read, t_scan, t_named;
  assign t_code     = seg_i.ulpdu_length >= 16'd20 ? net_o[511 - 144 -: 16] : 16'h0;
  assign t_has_read = seg_i.ulpdu_length >= 16'd70 && net_o[511 - 144 - 16 -: 3] == 3'b111 && !net_o[511 - 24 * 8];
  assign t_scan     = is_term && t_has_read && ord_count_i != 6'd0;
  assign t_named    = t_scan && net_o[511 - 42 * 8 -: 32] == stag_i && (at_to == to_i || (scan_i == 6'd0 && starts_at));

  assign asks_o = good && (is_response || t_scan);
  assign more_o = good && t_scan && !t_named && scan_i + 6'd1 != ord_count_i;

  always_comb begin
    verdict_o    = '0;
    is_request_o = 1'b0;
    read_done_o  = 1'b0;
    received_o   = received_i;
    fail_o       = 1'b0;
    error_o      = '0;
    if (!good) begin
      fail_o        = 1'b1;
      error_o.cause = seg_i.cause != iwarp_pkg::CauseNone ? seg_i.cause : cause;
    end else if (is_term) begin
      fail_o                = 1'b1;
      error_o.cause         = iwarp_pkg::CausePeerTerminate;
      error_o.has_peer_term = 1'b1;
      error_o.peer_term     = t_code;
      error_o.has_wr        = t_named;
      if (t_named) begin
        error_o.slot = slot_i;
        if (t_code[15:8] == 8'h01)                         error_o.status = iwarp_pkg::WcRemAccessErr;
        else if (t_code == 16'h0205 || t_code == 16'h0206) error_o.status = iwarp_pkg::WcRemInvReqErr;
        else                                               error_o.status = iwarp_pkg::WcRemOpErr;
      end
    end else if (is_request) begin
      if (closed_i) begin
        fail_o        = 1'b1;
        error_o.cause = iwarp_pkg::CauseLlpLost;
      end else if (ird_count_i >= ird_i) begin
        fail_o        = 1'b1;
        error_o.cause = iwarp_pkg::CauseDdpUntaggedNoBuffer;
      end else begin
        verdict_o.accept = 1'b1;
        is_request_o     = 1'b1;
      end
    end else if (is_response) begin
      if (!fits) begin
        fail_o        = 1'b1;
        error_o.cause = iwarp_pkg::CauseRdmapOpcode;
      end else begin
        verdict_o.accept = 1'b1;
        verdict_o.place  = payload != 16'h0;
        verdict_o.slot   = slot_i;
        received_o       = is_last ? 32'h0 : sum_q;
        read_done_o      = is_last;
        if (is_last) verdict_o.deliver = iwarp_pkg::DelRead;
      end
    end else begin
      verdict_o.accept    = 1'b1;
      verdict_o.place     = payload != 16'h0;
      verdict_o.solicited = is_send && is_solicited && is_last;
      if (is_send && is_last) verdict_o.deliver = iwarp_pkg::DelRecv;
    end
  end

  logic unused_bits;
  assign unused_bits = ^{seg_i.qpn, is_write, ddp_hdr};
endmodule

// ddp_tx_segment: prepares one scheduled segment after the other. It requests the payload piece by
// piece from the message's SGEs, or reads its inline bytes, and builds the DDP header.
//
//   segment --> [ queue, SegDepth ] --> Read --> (Pos) --> Load --> Cut --> tx_xlate (1 per piece)
//     slot's header, first beat of body --^        ^        | |
//     [ position in the SGEs, per QP ] ------------+        | +--> payload_req
//                                                           +--> Inl --> inline --> ddp_tx_header
//   end of Cut or Inl --> order (header, kind, length) --> ddp_tx_header
//                     --> sq_slot_free, resp_slot_free
//
// 1. Pos: the walk over the SGEs begins where the message's previous segment ended.
// 2. Inline bytes from an offset that is no multiple of 64 keep their first bytes; header_take in
//    ddp_tx_header cuts them off.
// 3. A slot is released when its last segment has been read from it. Exception: ddp_tx_header
//    releases the slot of a Flush Response when it sends the response, so rdmap begins the next
//    request of QN 1 strictly after it.
// 4. A Flush Response has no payload. KindProbe requests one byte of its range, with the watermark,
//    and ddp_tx_header discards the byte.
// 5. The last SGE takes the rest of the segment, so the walk ends whatever the lengths say.
//
// Throughput: 3 cycles for a segment of one SGE or 64 inline bytes, 4 for a later segment of its
// message, and 2 more for each further SGE or beat.
// Waits for tpt and host_if to take pieces and requests, for slot_free to be taken, and for inline
// bytes to leave after earlier segments.
// Siblings: ddp_tx_sched, ddp_tx_slot, ddp_tx_header.
// Bench: tb/ddp/ddp_tx_test.cpp
`include "rnic_assert.svh"
`include "rnic_words.svh"

module ddp_tx_segment #(
  localparam int unsigned SlotW  = $clog2(rnic_pkg::NumQps * (rnic_pkg::SqSlots + 2)),
  localparam int unsigned BodyW  = $clog2(rnic_pkg::NumQps * (4 * rnic_pkg::SqSlots + 2)),
  localparam int unsigned HdrW   = `RNIC_DDP_SLOT_W,
  localparam int unsigned OrderW = `RNIC_DDP_ORDER_W
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  // from ddp_tx_sched: a segment. source: tx_source_e. index: the QP's SQ slot. offset: bytes of
  // the message in earlier segments
  input  logic         seg_valid_i,
  input  logic [15:0]  seg_qpn_i,
  input  logic [1:0]   seg_source_i,
  input  logic [2:0]   seg_index_i,
  input  logic         seg_first_i,
  input  logic         seg_last_i,
  input  logic [15:0]  seg_length_i,
  input  logic [31:0]  seg_offset_i,
  input  logic [31:0]  seg_msn_i,
  input  logic [15:0]  seg_pd_i,
  // from and to ddp_tx_slot
  output logic              hdr_re_o,
  output logic [SlotW-1:0]  hdr_addr_o,
  input  logic [HdrW-1:0]   hdr_i,
  output logic              body_re_o,
  output logic [BodyW-1:0]  body_addr_o,
  input  logic [511:0]      body_i,
  // to host_if
  output logic                      payload_req_valid_o,
  input  logic                      payload_req_ready_i,
  output iwarp_pkg::payload_req_t   payload_req_o,
  // to tpt
  output logic                      tx_xlate_valid_o,
  input  logic                      tx_xlate_ready_i,
  output iwarp_pkg::tx_xlate_t      tx_xlate_o,
  // to qp, rdmap
  output logic                          sq_slot_free_valid_o,
  input  logic                          sq_slot_free_ready_i,
  output iwarp_pkg::sq_slot_free_t      sq_slot_free_o,
  output logic                          resp_slot_free_valid_o,
  input  logic                          resp_slot_free_ready_i,
  output iwarp_pkg::resp_slot_free_t    resp_slot_free_o,
  // to ddp_qp
  output logic                          sq_freed_o,
  output logic                          resp_freed_o,
  // to ddp_tx_header, in scheduling order; it has room for SegDepth of them
  output logic               order_valid_o,
  // order_o: {qpn, source, kind, is_tagged, length, header, done, slot, offset, fetches, waits,
  // watermark}
  output logic [OrderW-1:0]  order_o,
  // to ddp_tx_header: inline bytes; when shifted, the first inline_cut_o bytes are to be cut off
  output logic               inline_valid_o,
  input  logic               inline_ready_i,
  output logic               inline_shifted_o,
  output logic               inline_first_o,
  output logic [5:0]         inline_cut_o,
  output iwarp_pkg::beat_t   inline_o
);
  localparam int unsigned QpW   = $clog2(rnic_pkg::NumQps);
  localparam int unsigned SqAll = rnic_pkg::NumQps * rnic_pkg::SqSlots;
  // {qpn; source; index; first, last; length; offset; msn; pd}, and {SGE, its bytes already sent}
  localparam int unsigned SegW  = 16 + 2 + 3 + 2 + 16 + 32 + 32 + 16;
  localparam int unsigned PosW  = 4 + 32;

  // Where a segment's bytes come from: none, host memory, the inline bytes, inline bytes of which
  // the first ones must be cut off (invariant 2), or a byte that is discarded (invariant 4).
  localparam logic [2:0] KindNone = 3'd0, KindPayload = 3'd1, KindInline = 3'd2,
                         KindShifted = 3'd3, KindProbe = 3'd4;

  // The queue.
  logic        seg_valid, first, last, finish;
  logic [15:0] qpn, length, pd;
  logic [1:0]  source;
  logic [2:0]  index;
  logic [31:0] offset, msn;
  logic        unused_ready;
  logic [$clog2(rnic_pkg::SegDepth+1)-1:0] unused_segs;

  stream_fifo #(.Width(SegW), .Depth(rnic_pkg::SegDepth), .Reserved(1'b1)) u_segs (
    .clk_i, .rst_ni,
    .valid_i(seg_valid_i), .ready_o(unused_ready),
    .data_i({seg_qpn_i, seg_source_i, seg_index_i, seg_first_i, seg_last_i, seg_length_i,
             seg_offset_i, seg_msn_i, seg_pd_i}),
    .valid_o(seg_valid), .ready_i(finish),
    .data_o({qpn, source, index, first, last, length, offset, msn, pd}),
    .count_o(unused_segs)
  );

  // The slot's header.
  typedef `RNIC_DDP_SLOT_T header_t;
  header_t hdr;
  assign hdr = hdr_i;
  if ($bits(hdr) != HdrW) $fatal(1, "ddp_tx_segment %m: widths of rnic_words.svh");

  typedef enum logic [2:0] {
    StRead,   // read the slot's header, the body's first beat, the position in the SGEs
    StPos,    // a later segment: read the body at its position
    StLoad,   // load the SGE; request the payload
    StCut,    // cut a piece of the SGE
    StInl,    // send a beat of inline bytes
    StNext    // the next beat arrives
  } st_e;

  // preq_push, xlate_push: a payload_req, a tx_xlate is enqueued. asked_q: the payload_req of this
  // segment is enqueued. sge_q, done_q: the SGE in turn, and its bytes already cut. avail_q: the
  // SGE's bytes that are not cut. rest_q: bytes of the segment that are not cut. to_q, sge_to_q: TO
  // at the peer, TO of the piece.
  st_e              st_d, st_q;
  logic             is_sq, free_ready, preq_ready, preq_push, xlate_ready, xlate_push, asked_q,
                    ends;
  logic [QpW-1:0]   qp;
  logic [SlotW-1:0] slot_addr;
  logic [BodyW-1:0] body_base;
  logic [1:0]       beat, beat_q;
  logic [3:0]       sge_d, sge_q, pos_sge;
  logic [31:0]      done_q, pos_done;
  logic [PosW-1:0]  pos;
  logic [15:0]      rest_q, piece;
  logic [8:0]       inline_q;   // bytes from lane 0 of this beat to the segment's end: up to 287
  iwarp_pkg::wqe_sge_t sge, sge_now_q;
  logic [31:0]      avail_q;
  logic [63:0]      to_q, sge_to_q;
  logic             first_beat_q, payload, probe, flush;
  logic [15:0]      rights;

  assign qp        = qpn[QpW-1:0];
  assign is_sq     = source == iwarp_pkg::TxSq;
  // Addresses in ddp_tx_slot: the SQ slots of all QPs, 4 beats of body each; then response and
  // Terminate of each QP, one beat each.
  assign slot_addr = is_sq ? SlotW'(qp) * SlotW'(rnic_pkg::SqSlots) + SlotW'(index)
                           : SlotW'(SqAll) + SlotW'({qp, source == iwarp_pkg::TxTerm});
  assign body_base = is_sq ? BodyW'({slot_addr, 2'b00}) : BodyW'(slot_addr) + BodyW'(3 * SqAll);
  // Reading local memory for a Send or Write needs no right. A Read Response checks its right in
  // each segment. rdmap_read has checked the rights of a Flush; reading its range needs none.
  // flush: a Flush Response. probe: one that reads back a byte; a Flush of length 0 reads none and
  // only waits for its watermark. No other untagged response has a watermark or an SGE.
  assign probe     = source == iwarp_pkg::TxResp && !hdr.is_tagged && hdr.num_sge != '0;
  assign flush     = !hdr.is_tagged && (probe || hdr.has_watermark);
  assign rights    = source == iwarp_pkg::TxResp && !probe ? rnic_pkg::AccessRemoteRead : 16'd0;
  assign payload   = (!hdr.is_inline && length != '0) || probe;

  assign {pos_sge, pos_done} = pos;

  always_comb begin
    case (sge_q[1:0])
      2'd0:    sge = body_i[127:0];
      2'd1:    sge = body_i[255:128];
      2'd2:    sge = body_i[383:256];
      default: sge = body_i[511:384];
    endcase
  end

  // A piece: the rest of the SGE, but the last SGE takes the rest of the segment.
  logic last_sge, take_all;
  assign last_sge = sge_q + 4'd1 >= hdr.num_sge;
  assign take_all = last_sge || 32'(rest_q) <= avail_q;
  assign piece    = take_all ? rest_q : avail_q[15:0];
  assign sge_d    = sge_q + 4'd1;
  // ends: the release of the slot, if any, has room
  assign ends     = source == iwarp_pkg::TxTerm || !last || free_ready;

  always_comb begin
    st_d       = st_q;
    hdr_re_o   = 1'b0;
    body_re_o  = 1'b0;
    beat       = 2'd0;
    preq_push  = 1'b0;
    xlate_push = 1'b0;
    finish     = 1'b0;
    case (st_q)
      StRead: begin
        hdr_re_o  = seg_valid;
        body_re_o = seg_valid;
        if (seg_valid) st_d = first ? StLoad : StPos;
      end
      StPos: begin
        body_re_o = 1'b1;
        beat      = hdr.is_inline ? offset[7:6] : pos_sge[3:2];
        st_d      = StLoad;
      end
      StLoad: begin
        preq_push = payload && !asked_q && preq_ready;
        if (length != '0 && hdr.is_inline)              st_d = StInl;
        else if (!payload || asked_q || preq_ready)     st_d = StCut;
      end
      StCut: begin
        if (take_all) begin
          finish     = ends && (!payload || xlate_ready);
          xlate_push = finish && payload;
          if (finish) st_d = StRead;
        end else if (piece == '0 || xlate_ready) begin
          xlate_push = piece != '0;
          body_re_o  = sge_q[1:0] == 2'd3;
          beat       = sge_d[3:2];
          st_d       = StLoad;
        end
      end
      StInl: begin
        if (inline_q <= 9'd64) begin
          finish = ends && inline_ready_i;
          if (finish) st_d = StRead;
        end else if (inline_ready_i) begin
          body_re_o = 1'b1;
          beat      = beat_q + 2'd1;
          st_d      = StNext;
        end
      end
      default: st_d = StInl;
    endcase
  end

  assign hdr_addr_o  = slot_addr;
  assign body_addr_o = is_sq ? {body_base[BodyW-1:2], beat} : body_base;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) st_q <= StRead;
    else         st_q <= st_d;
  end

  always_ff @(posedge clk_i) begin
    case (st_q)
      StRead: begin
        sge_q        <= '0;
        done_q       <= '0;
        beat_q       <= '0;
        asked_q      <= 1'b0;
        first_beat_q <= 1'b1;
        rest_q       <= length;
      end
      StPos: begin
        sge_q  <= pos_sge;
        done_q <= pos_done;
        beat_q <= offset[7:6];
      end
      StLoad: begin
        asked_q   <= asked_q || preq_push;
        to_q      <= hdr.to + 64'(offset);
        sge_now_q <= sge;
        if (probe) rest_q <= 16'd1;
        avail_q   <= sge.length - done_q;
        sge_to_q  <= sge.address + 64'(done_q);
        inline_q  <= 9'(offset[5:0]) + length[8:0];
      end
      StCut: begin
        if (st_d == StLoad) begin
          sge_q  <= sge_d;
          done_q <= '0;
          rest_q <= rest_q - piece;
        end
      end
      StInl: begin
        if (inline_valid_o && inline_ready_i) begin
          beat_q       <= beat_q + 2'd1;
          inline_q     <= inline_q - 9'd64;
          first_beat_q <= 1'b0;
        end
      end
      default: ;
    endcase
  end

  // The position in the SGEs for the message's next segment.
  ram_1r1w #(.Width(PosW), .Depth(rnic_pkg::NumQps)) u_pos (
    .clk_i, .rst_ni,
    .we_i(finish && st_q == StCut), .waddr_i(qp), .wdata_i({sge_q, done_q + 32'(piece)}),
    .re_i(hdr_re_o), .raddr_i(qp), .rdata_o(pos)
  );

  // Requests, through short queues. Only a message's first payload_req carries the watermark:
  // host_if reads in the order of payload_req, so the later ones wait with it.
  logic [1:0] unused_preqs, unused_xlates;

  stream_fifo #(.Width(iwarp_pkg::PayloadReqWidth), .Depth(2)) u_preqs (
    .clk_i, .rst_ni,
    .valid_i(preq_push), .ready_o(preq_ready),
    .data_i({1'b0, probe ? 16'd1 : length, hdr.has_watermark && first, hdr.watermark}),
    .valid_o(payload_req_valid_o), .ready_i(payload_req_ready_i), .data_o(payload_req_o),
    .count_o(unused_preqs)
  );

  stream_fifo #(.Width(iwarp_pkg::TxXlateWidth), .Depth(2)) u_xlates (
    .clk_i, .rst_ni,
    .valid_i(xlate_push), .ready_o(xlate_ready),
    .data_i({sge_now_q.lkey, sge_to_q, 32'(piece), pd, qpn, rights, 1'b0, take_all}),
    .valid_o(tx_xlate_valid_o), .ready_i(tx_xlate_ready_i), .data_o(tx_xlate_o),
    .count_o(unused_xlates)
  );

  // Released slots.
  logic sq_free_ready, resp_free_ready;
  logic [1:0] unused_sq_frees, unused_resp_frees;

  assign free_ready   = is_sq ? sq_free_ready : resp_free_ready;
  assign sq_freed_o   = finish && last && is_sq;
  // A Flush Response frees its slot when it is sent (ddp_tx_header): its request ends there.
  assign resp_freed_o = finish && last && source == iwarp_pkg::TxResp && !flush;

  stream_fifo #(.Width(16), .Depth(2)) u_sq_frees (
    .clk_i, .rst_ni,
    .valid_i(sq_freed_o), .ready_o(sq_free_ready), .data_i(qpn),
    .valid_o(sq_slot_free_valid_o), .ready_i(sq_slot_free_ready_i), .data_o(sq_slot_free_o),
    .count_o(unused_sq_frees)
  );

  stream_fifo #(.Width(16), .Depth(2)) u_resp_frees (
    .clk_i, .rst_ni,
    .valid_i(resp_freed_o), .ready_o(resp_free_ready), .data_i(qpn),
    .valid_o(resp_slot_free_valid_o), .ready_i(resp_slot_free_ready_i), .data_o(resp_slot_free_o),
    .count_o(unused_resp_frees)
  );

  // Inline bytes.
  assign inline_valid_o   = st_q == StInl && (inline_q > 9'd64 || ends);
  assign inline_shifted_o = offset[5:0] != '0;
  assign inline_first_o   = first_beat_q;
  assign inline_cut_o     = offset[5:0];
  assign inline_o         = {inline_q <= 9'd64, 1'b0, inline_q <= 9'd64 ? inline_q[6:0] : 7'd64,
                             body_i};

  // The header, first byte on top; 14 bytes when tagged. An untagged message has the STag that it
  // invalidates, or 0.
  iwarp_pkg::ddp_tagged_t   tagged_hdr;
  iwarp_pkg::ddp_untagged_t untagged;
  logic [2:0]               order_kind;

  assign tagged_hdr = {1'b1, last, 4'd0, rnic_pkg::DvIetf, rnic_pkg::RvIetf, 1'b0, hdr.opcode,
                       hdr.stag, to_q};
  assign untagged   = {1'b0, last, 4'd0, rnic_pkg::DvIetf, rnic_pkg::RvIetf, 1'b0, hdr.opcode,
                       hdr.stag, 30'd0, hdr.qn, msn, offset};

  assign order_kind    = probe            ? KindProbe
                       : length == '0     ? KindNone
                       : !hdr.is_inline   ? KindPayload
                       : inline_shifted_o ? KindShifted : KindInline;
  // done: of the whole message, for its last segment. The two bits before watermark: fetches, the
  // last payload of a Read Response; waits, for its watermark without a payload_req.
  assign order_valid_o = finish;
  assign order_o       = {qpn, source, order_kind, hdr.is_tagged, length,
                          hdr.is_tagged ? {tagged_hdr, 32'd0} : untagged,
                          last && hdr.done, hdr.slot, offset,
                          last && source == iwarp_pkg::TxResp && order_kind == KindPayload,
                          order_kind == KindNone && hdr.has_watermark, hdr.watermark};

  logic unused_bits;
  assign unused_bits = ^{sge_now_q.length, sge_now_q.address, qpn, body_base};

  `RNIC_ASSERT(SegRoom_A, !seg_valid_i || unused_ready)
  `RNIC_ASSERT(SgesSuffice_A, !(xlate_push && last_sge) || 32'(rest_q) <= avail_q)
  `RNIC_STREAM_STABLE(PayloadReqStable_A, payload_req_valid_o, payload_req_ready_i, payload_req_o)
  `RNIC_STREAM_STABLE(XlateStable_A, tx_xlate_valid_o, tx_xlate_ready_i, tx_xlate_o)
  `RNIC_STREAM_STABLE(SqFreeStable_A, sq_slot_free_valid_o, sq_slot_free_ready_i, sq_slot_free_o)
  `RNIC_STREAM_STABLE(RespFreeStable_A, resp_slot_free_valid_o, resp_slot_free_ready_i,
                      resp_slot_free_o)
endmodule

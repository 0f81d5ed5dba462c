// host_if_rd: DMA reads of six clients: 0 sq_rd, 1 rq_rd, 2 admin_rd, 3 payload, 4 qn1_rd,
// 5 reg_rd.
//
//   sq, rq, admin, qn1, reg requests -> FIFO -> fork -> [ gather ] --+
//   payload_req --> FIFO --> watermark ---------------> [ gather ] --+--> round robin -> dma_rd_req
//   tx_extent ----> FIFO ----------------------------->     ^
//                                                           | ends
//   dma_rd_rsp --> [ reorder: one buffer, read port round robin by word ]
//                        +--> [ release ] --> hdr, beats
//
// Invariants:
//  1. Tags and buffer space are partitioned, so no client uses those of another.
//  2. qn1 has a tag and a word for each of the at most 64 requests that atomic holds; in a build of
//     less than 128 tags it has one tag.
//  3. No completion is trusted: host_if_tags in [ reorder ] checks tag, length and time. A read
//     that fails these checks ends like one that PCIe refuses.
//  4. A packet with a watermark waits until the placed count has reached it; once reached, it stays
//     reached.
// Latency: request to dma_rd_req 4 cycles (FIFO, gather 2, stream_reg). Last beat of dma_rd_rsp to
// the header 7 (reorder 3, gather 3, header FIFO), to the first beat 9 (reorder 3, gather 3,
// release 3). Throughput: a read per cycle, 64 bytes per cycle in and out, a payload packet every 2
// cycles.
// Back-pressure: waits for the client's own consumer, for returning reads, and for placements
// (watermark). No cycle of waits exists: writes and dma_rd_rsp do not wait for this leaf.
// Bench tb/host_if/host_if_test.cpp
`include "rnic_assert.svh"

module host_if_rd (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      dma_on_i,
  input  logic [2:0]                mrrs_i,
  input  logic [31:0]               cpl_timeout_i, // cycles
  input  logic [63:0]               placed_i,      // from host_if_wr: packets placed since reset
  // from qp
  input  logic                      sq_rd_req_valid_i,
  output logic                      sq_rd_req_ready_o,
  input  iwarp_pkg::sq_rd_req_t     sq_rd_req_i,
  input  logic                      rq_rd_req_valid_i,
  output logic                      rq_rd_req_ready_o,
  input  iwarp_pkg::rq_rd_req_t     rq_rd_req_i,
  // from admin
  input  logic                      admin_rd_req_valid_i,
  output logic                      admin_rd_req_ready_o,
  input  iwarp_pkg::admin_rd_req_t  admin_rd_req_i,
  // from atomic
  input  logic                      qn1_rd_req_valid_i,
  output logic                      qn1_rd_req_ready_o,
  input  iwarp_pkg::qn1_rd_req_t    qn1_rd_req_i,
  // from tpt
  input  logic                      reg_rd_req_valid_i,
  output logic                      reg_rd_req_ready_o,
  input  iwarp_pkg::reg_rd_req_t    reg_rd_req_i,
  // from ddp and tpt
  input  logic                      payload_req_valid_i,
  output logic                      payload_req_ready_o,
  input  iwarp_pkg::payload_req_t   payload_req_i,
  input  logic                      tx_extent_valid_i,
  output logic                      tx_extent_ready_o,
  input  iwarp_pkg::extent_t        tx_extent_i,
  // to the clients, in their order above
  output logic [5:0]                hdr_valid_o,
  input  logic [5:0]                hdr_ready_i,
  output logic [6*iwarp_pkg::PayloadHdrWidth-1:0] hdr_o,
  output logic [5:0]                beat_valid_o,
  input  logic [5:0]                beat_ready_i,
  output logic [6*iwarp_pkg::BeatWidth-1:0] beat_o,
  // to tpt
  output logic                      rd_retired_valid_o,
  input  logic                      rd_retired_ready_i,
  output iwarp_pkg::rd_retired_t    rd_retired_o,
  // to and from PCIe
  output logic                      dma_rd_req_valid_o,
  input  logic                      dma_rd_req_ready_i,
  output iwarp_pkg::dma_rd_req_t    dma_rd_req_o,
  output logic [2:0]                dma_rd_client_o,   // of the request on dma_rd_req, for the tap
  input  logic                      dma_rd_rsp_valid_i,
  input  iwarp_pkg::dma_rd_rsp_t    dma_rd_rsp_i,
  output logic                      dma_error_o,
  output logic [2:0]                cpl_bad_o   // to the counters: timed out, malformed, unexpected
);
  // Tags: 64 for qn1. Of the others (OtherTags) sq has a quarter, rq an eighth, admin 2, reg 8 and
  // payload the rest. A build with few tags gives one to each client but payload.
  localparam int unsigned N            = 6;
  localparam int unsigned Qn1Tags      = rnic_pkg::RdTags >= 128 ? 64 : 1;
  localparam int unsigned OtherTags    = rnic_pkg::RdTags - Qn1Tags;
  localparam bit          Many         = OtherTags >= 64;
  localparam int unsigned SqTags       = Many ? OtherTags / 4 : 1;
  localparam int unsigned RqTags       = Many ? OtherTags / 8 : 1;
  localparam int unsigned AdminTags    = Many ? 2 : 1;
  localparam int unsigned RegTags      = Many ? 8 : 1;
  localparam int unsigned PayloadTags  = OtherTags - SqTags - RqTags - AdminTags - RegTags;
  if (PayloadTags == 0) $fatal(1, "host_if_rd %m: RdTags must be at least 6");
  // A payload packet of 65,535 bytes is released whole, so it needs at least 1024 words.
  localparam int unsigned PayloadWords =
    rnic_pkg::RdBuffer > 1024 ? 1 << $clog2(rnic_pkg::RdBuffer) : 1024;
  localparam int unsigned SmallWords   = Many ? 128 : 64;   // 64: one read of 4 KiB
  localparam int unsigned WordW        = $clog2(PayloadWords) + 1;
  localparam int unsigned PosW         = WordW + 6;
  localparam int unsigned ExtW         = iwarp_pkg::ExtentWidth;
  localparam int unsigned HdrW         = iwarp_pkg::PayloadHdrWidth;
  localparam int unsigned FifoW        = $clog2(rnic_pkg::FifoDepth + 1);

  logic [N-1:0]        pkt_valid, pkt_ready, ext_valid, ext_ready;
  logic [N*17-1:0]     pkt_length;
  logic [N*ExtW-1:0]   exts;

  // Small clients: a request is a packet of one extent.
  localparam int unsigned Small = N - 1;
  logic [Small-1:0]                       small_valid, small_ready, one_valid, one_ready;
  logic [Small*iwarp_pkg::RdReqWidth-1:0] small_in, one;
  logic [Small*FifoW-1:0]                 unused_small;

  assign small_valid = {reg_rd_req_valid_i, qn1_rd_req_valid_i, admin_rd_req_valid_i,
                        rq_rd_req_valid_i, sq_rd_req_valid_i};
  assign {reg_rd_req_ready_o, qn1_rd_req_ready_o, admin_rd_req_ready_o, rq_rd_req_ready_o,
          sq_rd_req_ready_o} = small_ready;
  assign small_in    = {reg_rd_req_i, qn1_rd_req_i, admin_rd_req_i, rq_rd_req_i, sq_rd_req_i};

  for (genvar c = 0; c < Small; c++) begin : gen_small
    localparam int unsigned At = c < 3 ? c : c + 1;   // client: payload, 3, is not small
    stream_fifo #(.Width(iwarp_pkg::RdReqWidth), .Depth(rnic_pkg::FifoDepth)) u_reqs (
      .clk_i, .rst_ni,
      .valid_i(small_valid[c]), .ready_o(small_ready[c]),
      .data_i(small_in[c*iwarp_pkg::RdReqWidth +: iwarp_pkg::RdReqWidth]),
      .valid_o(one_valid[c]), .ready_i(one_ready[c]),
      .data_o(one[c*iwarp_pkg::RdReqWidth +: iwarp_pkg::RdReqWidth]),
      .count_o(unused_small[c*FifoW +: FifoW])
    );
    stream_fork #(.N(2)) u_fork (
      .clk_i, .rst_ni, .valid_i(one_valid[c]), .ready_o(one_ready[c]),
      .valid_o({ext_valid[At], pkt_valid[At]}), .ready_i({ext_ready[At], pkt_ready[At]})
    );
    // extent: address, length, result ok, epoch 0, last
    assign pkt_length[At*17 +: 17] = {4'd0, one[c*iwarp_pkg::RdReqWidth +: 13]};
    assign exts[At*ExtW +: ExtW] = {one[c*iwarp_pkg::RdReqWidth + 13 +: 64],
                                    pkt_length[At*17 +: 17], 3'd0, 1'b0, 1'b1};
  end

  // Payload: the watermark delays a packet.
  logic                    head_valid, reached, reached_q;
  iwarp_pkg::payload_req_t head;
  logic [2*FifoW-1:0]      unused_payload;

  stream_fifo #(.Width(iwarp_pkg::PayloadReqWidth), .Depth(rnic_pkg::FifoDepth)) u_payload_reqs (
    .clk_i, .rst_ni,
    .valid_i(payload_req_valid_i), .ready_o(payload_req_ready_o), .data_i(payload_req_i),
    .valid_o(head_valid), .ready_i(pkt_valid[3] && pkt_ready[3]), .data_o(head),
    .count_o(unused_payload[0 +: FifoW])
  );
  stream_fifo #(.Width(ExtW), .Depth(rnic_pkg::FifoDepth)) u_extents (
    .clk_i, .rst_ni,
    .valid_i(tx_extent_valid_i), .ready_o(tx_extent_ready_o), .data_i(tx_extent_i),
    .valid_o(ext_valid[3]), .ready_i(ext_ready[3]), .data_o(exts[3*ExtW +: ExtW]),
    .count_o(unused_payload[FifoW +: FifoW])
  );

  // A packet with a watermark passes one cycle after the placed count has reached it. Watermark and
  // count have 64 bits, so neither wraps.
  assign reached      = reached_q || !head.has_watermark;
  assign pkt_valid[3] = head_valid && reached;
  assign pkt_length[3*17 +: 17] = head.length;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) reached_q <= 1'b0;
    else         reached_q <= head_valid && placed_i >= head.watermark &&
                              !(pkt_valid[3] && pkt_ready[3]);
  end

  // The six clients. A read of the buffer (ReadW): {word, bytes 7, last beat of its packet}. First:
  // a client's first tag; Base: its first word in the buffer. Tags are in the order of the clients;
  // in the buffer payload is first. reqs: dma_rd_req (relaxed and no_alloc are 0) and the position
  // of its bytes in the buffer.
  localparam int unsigned ReqW  = iwarp_pkg::DmaRdReqWidth + PosW;
  localparam int unsigned ReadW = WordW + 7 + 1;
  logic [N-1:0]       req_valid, req_ready, read_valid, read_ready,
                      retired, retired_epoch, beat_push;
  logic [N*ReqW-1:0]  reqs;
  logic [N*ReadW-1:0] reads;
  logic               end_valid;
  logic [7:0]         end_tag;
  logic [1:0]         end_status;
  iwarp_pkg::beat_t   beat;
  logic [rnic_pkg::RdTags-1:0] held;

  for (genvar c = 0; c < N; c++) begin : gen_client
    localparam int unsigned Tags  = c == 0 ? SqTags : c == 1 ? RqTags : c == 2 ? AdminTags :
                                    c == 3 ? PayloadTags : c == 4 ? Qn1Tags : RegTags;
    localparam int unsigned First = c == 0 ? 0 : c == 1 ? SqTags : c == 2 ? SqTags + RqTags :
                                    c == 3 ? SqTags + RqTags + AdminTags :
                                    c == 4 ? OtherTags - RegTags : rnic_pkg::RdTags - RegTags;
    localparam int unsigned Words = c == 3 ? PayloadWords : SmallWords;
    localparam int unsigned Base  = c == 3 ? 0 : PayloadWords + (c < 3 ? c : c - 1) * SmallWords;
    logic                    whole_valid, whole_ready, freed;
    logic [$clog2(Words):0]   freed_words;
    iwarp_pkg::payload_hdr_t whole, hdr;
    iwarp_pkg::beat_t        out;
    iwarp_pkg::extent_t      ext;
    logic [7:0]              tag;
    logic [63:0]             address;
    logic [12:0]             length;
    logic [PosW-1:0]         pos;

    assign ext = exts[c*ExtW +: ExtW];
    assign reqs[c*ReqW +: ReqW] = {tag, address, length, 1'b0, 1'b0, pos};
    assign hdr_o[c*HdrW +: HdrW] = hdr;
    assign beat_o[c*iwarp_pkg::BeatWidth +: iwarp_pkg::BeatWidth] = out;

    host_if_gather #(
      .Tags(Tags), .TagBase(First), .Words(Words), .WordBase(Base), .WordW(WordW)
    ) u_gather (
      .clk_i, .rst_ni, .dma_on_i, .mrrs_i,
      .pkt_valid_i(pkt_valid[c]), .pkt_ready_o(pkt_ready[c]), .pkt_length_i(pkt_length[c*17 +: 17]),
      .ext_valid_i(ext_valid[c]), .ext_ready_o(ext_ready[c]), .ext_i(ext),
      .req_valid_o(req_valid[c]), .req_ready_i(req_ready[c]),
      .req_tag_o(tag), .req_address_o(address), .req_length_o(length), .req_pos_o(pos),
      .end_valid_i(end_valid), .end_tag_i(end_tag), .end_status_i(end_status),
      .held_i(held[First +: Tags]),
      .retired_o(retired[c]), .retired_epoch_o(retired_epoch[c]),
      .whole_valid_o(whole_valid), .whole_ready_i(whole_ready), .whole_o(whole),
      .freed_i(freed), .freed_words_i(freed_words)
    );
    host_if_release #(.Words(Words), .WordBase(Base), .WordW(WordW)) u_release (
      .clk_i, .rst_ni,
      .whole_valid_i(whole_valid), .whole_ready_o(whole_ready), .whole_i(whole),
      .freed_o(freed), .freed_words_o(freed_words),
      .read_valid_o(read_valid[c]), .read_ready_i(read_ready[c]),
      .read_word_o(reads[c*ReadW + 8 +: WordW]), .read_keep_o(reads[c*ReadW + 1 +: 7]),
      .read_last_o(reads[c*ReadW]),
      .beat_valid_i(beat_push[c]), .beat_i(beat),
      .hdr_valid_o(hdr_valid_o[c]), .hdr_ready_i(hdr_ready_i[c]), .hdr_o(hdr),
      .valid_o(beat_valid_o[c]), .ready_i(beat_ready_i[c]), .beat_o(out)
    );
  end

  // Read requests to PCIe.
  logic            any_valid, any_ready;
  logic [ReqW-1:0] any;
  logic [2:0]      any_client;
  iwarp_pkg::dma_rd_req_t any_req;
  logic [PosW-1:0] any_pos;

  stream_arb #(.Width(ReqW), .N(N)) u_req_arb (
    .clk_i, .rst_ni, .valid_i(req_valid), .ready_o(req_ready), .data_i(reqs),
    .valid_o(any_valid), .ready_i(any_ready), .data_o(any), .index_o(any_client)
  );
  assign {any_req, any_pos} = any;
  stream_reg #(.Width(iwarp_pkg::DmaRdReqWidth + 3)) u_req_reg (
    .clk_i, .rst_ni, .valid_i(any_valid), .ready_o(any_ready), .data_i({any_req, any_client}),
    .valid_o(dma_rd_req_valid_o), .ready_i(dma_rd_req_ready_i),
    .data_o({dma_rd_req_o, dma_rd_client_o})
  );

  // The buffer and its read port. push_*: the read of the last cycle, whose word is in read_data.
  logic             read_any, push_valid_q, push_last_q;
  logic [ReadW-1:0] read;
  logic [2:0]       read_client, push_client_q;
  logic [6:0]       push_keep_q;
  logic [511:0]     read_data;

  stream_arb #(.Width(ReadW), .N(N)) u_read_arb (
    .clk_i, .rst_ni, .valid_i(read_valid), .ready_o(read_ready), .data_i(reads),
    .valid_o(read_any), .ready_i(1'b1), .data_o(read), .index_o(read_client)
  );

  host_if_reorder #(
    .Tags(rnic_pkg::RdTags), .PayloadWords(PayloadWords), .SmallWords(SmallWords), .WordW(WordW)
  ) u_reorder (
    .clk_i, .rst_ni, .timeout_i(cpl_timeout_i),
    .begin_valid_i(any_valid && any_ready), .begin_tag_i(any_req.tag), .begin_pos_i(any_pos),
    .begin_length_i(any_req.length),
    .sent_valid_i(dma_rd_req_valid_o && dma_rd_req_ready_i), .sent_tag_i(dma_rd_req_o.tag),
    .rsp_valid_i(dma_rd_rsp_valid_i), .rsp_i(dma_rd_rsp_i),
    .end_valid_o(end_valid), .end_tag_o(end_tag), .end_status_o(end_status), .held_o(held),
    .unexpected_o(cpl_bad_o[0]), .malformed_o(cpl_bad_o[1]), .timed_out_o(cpl_bad_o[2]),
    .read_i(read_any), .read_word_i(read[8 +: WordW]), .read_data_o(read_data)
  );
  assign dma_error_o = end_valid && end_status != iwarp_pkg::RdOk;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) push_valid_q <= 1'b0;
    else         push_valid_q <= read_any;
    {push_keep_q, push_last_q} <= read[7:0];
    push_client_q <= read_client;
  end

  assign beat = {push_last_q, 1'b0, push_keep_q, read_data};
  always_comb begin
    for (int unsigned c = 0; c < N; c++) beat_push[c] = push_valid_q && push_client_q == 3'(c);
  end

  logic unused_retired;
  assign unused_retired = ^{retired[5:4], retired[2:0], retired_epoch[5:4], retired_epoch[2:0]};
  host_if_retire u_retire (
    .clk_i, .rst_ni, .pulse_i(retired[3]), .epoch_i(retired_epoch[3]),
    .valid_o(rd_retired_valid_o), .ready_i(rd_retired_ready_i), .epoch_o(rd_retired_o.epoch)
  );

  `RNIC_STREAM_STABLE(ReqStable_A, dma_rd_req_valid_o, dma_rd_req_ready_i, dma_rd_req_o)
endmodule

// host_if_wr: the only posted queue: writes of place, cq (with MSI-X), admin and word (unit
// atomic).
//
//   place_hdr, place_extent --> FIFOs --+
//   small (cq, MSI-X) ----------> fork -+--> [ packet_arb ] --> [ host_if_cut: 4 KiB, MPS ] --+
//   admin_wr -----------> FIFO -> fork -+                                                     |
//   address of word_wr -> FIFO ---------+                                                     v
//   place, data of the other three ----------------------> [ host_if_realign ] <-------- [ chunks ]
//                                                                  |
//       dma_wr <-- [ stream_reg ] <-- row of an MSI-X message, or drop (masked; bus master off)
//
// Invariants:
//  1. Round robin, packet by packet: packets do not interleave.
//  2. A write of admin waits until the cq writes accepted before it are sent. So the response to a
//     command that queries cq last is written after the completions that the command caused.
//  3. A dropped write passes through the pipeline and counts as done.
//  4. An MSI-X message is only a vector until it is the next item on dma_wr. Then host_if_msix
//     returns its address and data, or reports that it is masked. So only PCIe delays the message
//     after its row is read.
//  5. An accepted beat of dma_wr causes a report: the last of an extent wr_retired, the last of a
//     place packet place_done, a word word_done. All three are counters, so dma_wr waits only for
//     PCIe, never for ddp, tpt or atomic.
//  6. A word is one TLP: 8 bytes at an address aligned to 8 (WordAligned_A). host_if reports no
//     retired extent for it: atomic retires its own extents.
// Latency to dma_wr: 6 cycles from the extent (FIFO, cut, FIFO of chunks, realign 2, stream_reg), 4
// from the beat, 5 from small. Throughput: 64 bytes per cycle; a word (8 bytes, word_wr) per cycle;
// a packet of cq every 3 cycles, of admin every 4.
// Back-pressure: waits for PCIe, and for the beats of a place packet whose extents have come.
// Bench tb/host_if/host_if_test.cpp
`include "rnic_assert.svh"

module host_if_wr (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       dma_on_i,
  input  logic [2:0]                 mps_i,
  // from ddp
  input  logic                       place_hdr_valid_i,
  output logic                       place_hdr_ready_o,
  input  iwarp_pkg::place_hdr_t      place_hdr_i,
  input  logic                       place_extent_valid_i,
  output logic                       place_extent_ready_o,
  input  iwarp_pkg::extent_t         place_extent_i,
  input  logic                       place_valid_i,
  output logic                       place_ready_o,
  input  iwarp_pkg::beat_t           place_i,
  output logic                       place_done_valid_o,
  input  logic                       place_done_ready_i,
  output iwarp_pkg::place_done_t     place_done_o,
  // from host_if_msix. counts: the write is a cq_wr item
  input  logic                       small_valid_i,
  output logic                       small_ready_o,
  input  iwarp_pkg::cq_wr_t          small_i,
  input  logic                       small_counts_i,
  // to and from host_if_msix: the message that is the next to be sent
  output logic [7:0]                 msix_vector_o,
  input  logic [63:0]                msix_address_i,
  input  logic [31:0]                msix_data_i,
  input  logic                       msix_drop_i,
  output logic                       msix_left_o,
  output logic                       msix_own_o,
  // from admin
  input  logic                       admin_wr_valid_i,
  output logic                       admin_wr_ready_o,
  input  iwarp_pkg::admin_wr_t       admin_wr_i,
  input  logic                       cq_wr_taken_i,    // by host_if_msix, in this cycle
  // from and to atomic
  input  logic                       word_wr_valid_i,
  output logic                       word_wr_ready_o,
  input  iwarp_pkg::word_wr_t        word_wr_i,
  output logic                       word_done_valid_o,
  input  logic                       word_done_ready_i,
  output iwarp_pkg::word_done_t      word_done_o,
  // to tpt
  output logic                       wr_retired_valid_o,
  input  logic                       wr_retired_ready_i,
  output iwarp_pkg::wr_retired_t     wr_retired_o,
  // to PCIe
  output logic                       dma_wr_valid_o,
  input  logic                       dma_wr_ready_i,
  output iwarp_pkg::dma_wr_t         dma_wr_o,
  output logic [2:0]                 dma_wr_client_o,  // of the valid beat, for the tap
  // to host_if_rd, rdmap: packets placed
  output logic [63:0]                placed_o,
  // to host_if_order: writes of {word, admin, cq, place} sent in this cycle
  output logic [3:0]                 left_o
);
  localparam int unsigned ExtW   = iwarp_pkg::ExtentWidth;
  localparam int unsigned FifoW  = $clog2(rnic_pkg::FifoDepth + 1);
  localparam int unsigned BeatDW = $clog2(rnic_pkg::BeatDepth + 1);

  // Inputs.
  logic                 hdr_valid, ext_valid, ext_ready,
                        admin_valid, admin_ready, admin_go_q, admin_fork_ready;
  logic [15:0]          cq_taken_q, cq_left_q, admin_behind, cq_ahead;
  iwarp_pkg::extent_t   ext;
  iwarp_pkg::admin_wr_t admin_item;
  iwarp_pkg::beat_t     place_beat;
  logic [3:0]           word_valid, word_ready;
  logic [16:0]          hdr_length;
  logic [5*FifoW+BeatDW-1:0] unused_counts;
  logic                 unused_beat;
  // store: a word of atomic (word_wr)
  logic [1:0]           store_room;
  logic [63:0]          store_address, store_word;
  logic [3:0]           pkt_valid, pkt_ready;

  stream_fifo #(.Width(17), .Depth(rnic_pkg::FifoDepth)) u_hdrs (
    .clk_i, .rst_ni,
    .valid_i(place_hdr_valid_i), .ready_o(place_hdr_ready_o), .data_i(place_hdr_i.length),
    .valid_o(hdr_valid), .ready_i(pkt_valid[0] && pkt_ready[0] && ext.last), .data_o(hdr_length),
    .count_o(unused_counts[0 +: FifoW])
  );
  stream_fifo #(.Width(ExtW), .Depth(rnic_pkg::FifoDepth)) u_extents (
    .clk_i, .rst_ni,
    .valid_i(place_extent_valid_i), .ready_o(place_extent_ready_o), .data_i(place_extent_i),
    .valid_o(ext_valid), .ready_i(ext_ready), .data_o(ext), .count_o(unused_counts[FifoW +: FifoW])
  );
  stream_fifo #(.Width(iwarp_pkg::BeatWidth), .Depth(rnic_pkg::BeatDepth)) u_beats (
    .clk_i, .rst_ni, .valid_i(place_valid_i), .ready_o(place_ready_o), .data_i(place_i),
    .valid_o(word_valid[0]), .ready_i(word_ready[0]), .data_o(place_beat),
    .count_o(unused_counts[5*FifoW +: BeatDW])
  );
  stream_fifo #(.Width(16 + iwarp_pkg::AdminWrWidth), .Depth(rnic_pkg::FifoDepth)) u_admin (
    .clk_i, .rst_ni,
    .valid_i(admin_wr_valid_i), .ready_o(admin_wr_ready_o), .data_i({cq_taken_q, admin_wr_i}),
    .valid_o(admin_valid), .ready_i(admin_ready), .data_o({admin_behind, admin_item}),
    .count_o(unused_counts[2*FifoW +: FifoW])
  );
  // Address and data of a word have a FIFO each: the data is needed 3 cycles after the address, and
  // a word passes per cycle.
  assign word_wr_ready_o = &store_room;
  stream_fifo #(.Width(64), .Depth(rnic_pkg::FifoDepth)) u_store_addresses (
    .clk_i, .rst_ni,
    .valid_i(word_wr_valid_i && store_room[1]), .ready_o(store_room[0]), .data_i(word_wr_i.address),
    .valid_o(pkt_valid[3]), .ready_i(pkt_ready[3]), .data_o(store_address),
    .count_o(unused_counts[3*FifoW +: FifoW])
  );
  stream_fifo #(.Width(64), .Depth(rnic_pkg::FifoDepth)) u_store_words (
    .clk_i, .rst_ni,
    .valid_i(word_wr_valid_i && store_room[0]), .ready_o(store_room[1]), .data_i(word_wr_i.data),
    .valid_o(word_valid[3]), .ready_i(word_ready[3]), .data_o(store_word),
    .count_o(unused_counts[4*FifoW +: FifoW])
  );
  stream_fork #(.N(2)) u_small_fork (
    .clk_i, .rst_ni, .valid_i(small_valid_i), .ready_o(small_ready_o),
    .valid_o({word_valid[1], pkt_valid[1]}), .ready_i({word_ready[1], pkt_ready[1]})
  );
  stream_fork #(.N(2)) u_admin_fork (
    .clk_i, .rst_ni, .valid_i(admin_go_q), .ready_o(admin_fork_ready),
    .valid_o({word_valid[2], pkt_valid[2]}), .ready_i({word_ready[2], pkt_ready[2]})
  );
  // cq_taken_q, cq_left_q: writes of cq accepted and sent. admin_behind: of the oldest admin write,
  // those accepted before it. It passes when all of them are sent: cq_ahead, the writes of cq that
  // are still to be sent, is then 0 or negative.
  assign admin_ready = admin_go_q && admin_fork_ready;
  assign cq_ahead    = admin_behind - cq_left_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      cq_taken_q <= '0;
      cq_left_q  <= '0;
      admin_go_q <= 1'b0;
    end else begin
      cq_taken_q <= cq_taken_q + 16'(cq_wr_taken_i);
      cq_left_q  <= cq_left_q + 16'(left_o[1]);
      admin_go_q <= admin_valid && !admin_ready && (cq_ahead == '0 || cq_ahead[15]);
    end
  end
  assign pkt_valid[0] = ext_valid && hdr_valid;
  assign ext_ready    = pkt_ready[0] && hdr_valid;
  assign unused_beat  = ^{place_beat.last, place_beat.error, place_beat.keep,
                          ext.result, hdr_length};

  // Pick the next packet; cut its extents.
  //   side: last of the packet, epoch, client of the tap (3 word, 4 place, 5 cq, 6 MSI-X, 7 admin),
  //         counts in left_o of its client, vector of an MSI-X message: 1 + 1 + 3 + 1 + 8 bits
  // pick: {address 64, length 17, side}; chunk: {address, length 13, last of its extent, side,
  // client}
  localparam int unsigned TagW   = 14;
  localparam int unsigned PickW  = 64 + 17 + TagW;
  localparam int unsigned ChunkW = 64 + 13 + 1 + TagW + 2;
  logic             pick_valid, pick_ready, pick_last,
                    cut_valid, cut_ready, cut_last, unused_cut_first;
  logic [PickW-1:0] pick;
  logic [1:0]       pick_index, cut_client;
  logic [63:0]      cut_address;
  logic [12:0]      cut_length;
  logic [TagW-1:0]  cut_tag;
  logic [2:0]       small_code;

  assign small_code = small_i.is_msix ? 3'd6 : 3'd5;

  packet_arb #(.Width(PickW), .N(4)) u_arb (
    .clk_i, .rst_ni,
    .valid_i(pkt_valid), .ready_o(pkt_ready), .last_i({1'b1, 1'b1, 1'b1, ext.last}),
    .data_i({store_address, 17'd8, 1'b1, 1'b0, 3'd3, 1'b1, 8'd0,
             admin_item.address, 10'd0, admin_item.length, 1'b1, 1'b0, 3'd7, 1'b1, 8'd0,
             small_i.address, 10'd0, small_i.length, 1'b1, 1'b0,
             small_code, small_counts_i, small_i.vector,
             ext.address, ext.length, ext.last, ext.epoch, 3'd4, 1'b1, 8'd0}),
    .valid_o(pick_valid), .ready_i(pick_ready), .last_o(pick_last),
    .data_o(pick), .index_o(pick_index)
  );

  host_if_cut #(.SideW(TagW + 2)) u_cut (
    .clk_i, .rst_ni, .limit_i(mps_i),
    .valid_i(pick_valid), .ready_o(pick_ready),
    .address_i(pick[TagW + 17 +: 64]), .length_i(pick[TagW +: 17]),
    .side_i({pick[TagW-1:0], pick_index}),
    .valid_o(cut_valid), .ready_i(cut_ready), .address_o(cut_address), .length_o(cut_length),
    .first_o(unused_cut_first), .last_o(cut_last), .side_o({cut_tag, cut_client})
  );

  logic             chunk_valid, chunk_ready, chunk_last;
  logic [63:0]      chunk_address;
  logic [12:0]      chunk_length;
  logic [TagW-1:0]  chunk_tag;
  logic [1:0]       chunk_client;
  logic [1:0]       unused_chunks;
  stream_fifo #(.Width(ChunkW), .Depth(2)) u_chunks (
    .clk_i, .rst_ni,
    .valid_i(cut_valid), .ready_o(cut_ready),
    .data_i({cut_address, cut_length, cut_last, cut_tag, cut_client}),
    .valid_o(chunk_valid), .ready_i(chunk_ready),
    .data_o({chunk_address, chunk_length, chunk_last, chunk_tag, chunk_client}),
    .count_o(unused_chunks)
  );

  // Beats of TLPs.
  localparam int unsigned SideW = 64 + 13 + 1 + TagW + 2;
  logic             tlp_valid, tlp_ready, tlp_first, tlp_last,
                    off, off_q, is_message, go, tlp_ext, tlp_counts;
  logic [6:0]       tlp_keep;
  logic [511:0]     tlp_data;
  logic [SideW-1:0] tlp_side;

  host_if_realign #(.SideW(SideW)) u_realign (
    .clk_i, .rst_ni,
    .chunk_valid_i(chunk_valid), .chunk_ready_o(chunk_ready), .chunk_length_i(chunk_length),
    .chunk_client_i(chunk_client), .chunk_end_i(chunk_last && chunk_tag[TagW-1]),
    .chunk_side_i({chunk_address, chunk_length, chunk_last, chunk_tag, chunk_client}),
    .word_valid_i(word_valid), .word_ready_o(word_ready),
    .place_word_i(place_beat.data), .cq_word_i(small_i.data), .admin_word_i(admin_item.data),
    .small_word_i(store_word),
    .valid_o(tlp_valid), .ready_i(tlp_ready && go),
    .first_o(tlp_first), .last_o(tlp_last), .keep_o(tlp_keep), .data_o(tlp_data), .side_o(tlp_side)
  );

  // A message reads its row when it will be valid on dma_wr in the next cycle (go: no other TLP is
  // in u_out). off: the TLP is not sent: DMA is disabled, or the message is masked. A TLP that has
  // begun is sent whole, so only its first beat decides.
  logic [63:0] tlp_address;
  logic [12:0] tlp_length;
  logic        tlp_pkt, tlp_epoch, out_valid;
  logic [2:0]  tlp_code;
  logic [1:0]  tlp_client;

  assign {tlp_address, tlp_length, tlp_ext, tlp_pkt, tlp_epoch, tlp_code, tlp_counts,
          msix_vector_o, tlp_client} = tlp_side;
  assign is_message  = tlp_code == 3'd6;
  assign go          = !is_message || !out_valid;
  assign off         = tlp_first ? !dma_on_i || (is_message && msix_drop_i) : off_q;
  assign msix_left_o = tlp_valid && tlp_ready && go && is_message;
  assign msix_own_o  = !tlp_counts;
  always_ff @(posedge clk_i) begin
    if (tlp_valid && tlp_ready && go) off_q <= off;
  end

  // {address, length, side without vector 7, client 2, off, keep, last, data}
  localparam int unsigned OutW = 64 + 13 + 7 + 2 + 1 + 7 + 1 + 512;
  logic            out_ready, out_off, out_last, out_ext, out_pkt, out_epoch, out_counts, sent;
  logic [6:0]      out_keep;
  logic [511:0]    out_data;
  logic [63:0]     out_address;
  logic [12:0]     out_length;
  logic [1:0]      out_client;
  stream_reg #(.Width(OutW)) u_out (
    .clk_i, .rst_ni,
    .valid_i(tlp_valid && go), .ready_o(tlp_ready),
    .data_i({is_message ? msix_address_i : tlp_address, tlp_length,
             tlp_ext, tlp_pkt, tlp_epoch, tlp_code, tlp_counts, tlp_client,
             off, tlp_keep, tlp_last, tlp_data[511:32], is_message ? msix_data_i : tlp_data[31:0]}),
    .valid_o(out_valid), .ready_i(out_ready),
    .data_o({out_address, out_length,
             out_ext, out_pkt, out_epoch, dma_wr_client_o, out_counts, out_client,
             out_off, out_keep, out_last, out_data})
  );

  // A write that is off passes here without PCIe. relaxed and no_alloc are 0.
  assign dma_wr_valid_o = out_valid && !out_off;
  assign out_ready      = dma_wr_ready_i || out_off;
  assign dma_wr_o       = {out_address, out_length, 1'b0, 1'b0, out_last, out_keep, out_data};

  // Last beats, sent or dropped. ext_left: of an extent of place; pkt_left: of a counted packet.
  logic        ext_left, pkt_left;
  logic [15:0] unused_stored;

  assign sent     = out_valid && out_ready && out_last;
  assign ext_left = sent && out_ext && out_client == 2'd0;
  assign pkt_left = sent && out_ext && out_pkt && out_counts;
  assign left_o   = {4{pkt_left}} & (4'd1 << out_client);

  host_if_retire u_retire (
    .clk_i, .rst_ni, .pulse_i(ext_left), .epoch_i(out_epoch),
    .valid_o(wr_retired_valid_o), .ready_i(wr_retired_ready_i), .epoch_o(wr_retired_o.epoch)
  );

  host_if_done #(.Width(64)) u_placed (
    .clk_i, .rst_ni, .left_i(left_o[0]), .total_o(placed_o),
    .valid_o(place_done_valid_o), .ready_i(place_done_ready_i), .count_o(place_done_o.count)
  );
  host_if_done u_stored (
    .clk_i, .rst_ni, .left_i(left_o[3]), .total_o(unused_stored),
    .valid_o(word_done_valid_o), .ready_i(word_done_ready_i), .count_o(word_done_o.count)
  );

  `RNIC_ASSERT(MessageIsOneBeat_A, !msix_left_o || (tlp_first && tlp_last))
  `RNIC_ASSERT(LastAgrees_A, !(pick_valid && pick_index != 2'd0) || pick_last)
  `RNIC_STREAM_STABLE(WrStable_A, dma_wr_valid_o, dma_wr_ready_i, dma_wr_o)
  `RNIC_ASSERT(WordAligned_A, !word_wr_valid_i || word_wr_i.address[2:0] == '0)
endmodule

// host_if_gather: turns the packets of one read client into tagged reads, and reports when a packet
// is whole.
//
// A packet is a length and a group of bus extents. A request of sq, rq, admin, qn1 or reg is a
// packet of one extent.
//
//   packets --> open: space in the ring --+           end of read (tag, status)
//   extents ------------------------------+                  +--> [ done bits ][ statuses ]
//                                         v                                  |
//            reads <-- tag, byte position <-- [ host_if_cut ]                |
//                                         +--> [ info per tag ] --> walk the tags in order
//                                                                          +--> retired, per extent
//   lengths of open packets -------------------------------> whole: length, first failure
//
// Invariants:
//  1. When a packet is opened, its bytes get contiguous space in the client's ring of the buffer.
//     So the byte position of each chunk is known, and host_if_reorder gathers by writing.
//  2. Tags are a ring, too: allocated in the order of issue, freed in that order.
//  3. A chunk that needs no read (a failed check, or DMA off when its extent was taken) takes a tag
//     that is done at once.
//  4. While a chunk waits, a tag that host_if_tags holds is skipped: the tag passes through the
//     ring without a chunk.
// Latency: packet to read 2 cycles (open, cut), end of the last read to whole 3 (done bit, walk,
// FIFO of verdicts). Throughput: a read per cycle, a packet every 2 cycles.
// Back-pressure: waits for space in its own ring (freed by its own output), for its own tags (freed
// by reads that return), and for the extents of an open packet.
// Benches tb/host_if/host_if_gather_test.cpp, tb/host_if/host_if_test.cpp
`include "rnic_assert.svh"

module host_if_gather #(
  parameter int unsigned Tags    = 8,    // tags TagBase .. TagBase + Tags - 1 are this client's
  parameter int unsigned TagBase = 0,
  parameter int unsigned Words   = 64,   // 64-byte words, a power of two, hold the longest packet
  parameter int unsigned WordBase = 0,   // its first word in the buffer
  parameter int unsigned WordW   = 12,   // address of a word in the buffer
  localparam int unsigned PosW   = WordW + 6
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  dma_on_i,
  input  logic [2:0]            mrrs_i,
  // packets
  input  logic                  pkt_valid_i,
  output logic                  pkt_ready_o,
  input  logic [16:0]           pkt_length_i,
  // their extents
  input  logic                  ext_valid_i,
  output logic                  ext_ready_o,
  input  iwarp_pkg::extent_t    ext_i,
  // reads, to the arbiter
  output logic                  req_valid_o,
  input  logic                  req_ready_i,
  output logic [7:0]            req_tag_o,
  output logic [63:0]           req_address_o,
  output logic [12:0]           req_length_o,
  output logic [PosW-1:0]       req_pos_o,
  // from host_if_reorder: the read of this tag, of any client, has ended
  input  logic                  end_valid_i,
  input  logic [7:0]            end_tag_i,
  input  logic [1:0]            end_status_i,
  input  logic [Tags-1:0]       held_i,          // this client's tags that must not be used
  // an extent is complete
  output logic                  retired_o,
  output logic                  retired_epoch_o,
  // to host_if_release: whole packets in order
  output logic                  whole_valid_o,
  input  logic                  whole_ready_i,
  output iwarp_pkg::payload_hdr_t whole_o,
  // from host_if_release: words that were read
  input  logic                  freed_i,
  input  logic [$clog2(Words):0] freed_words_i
);
  // A slot is a tag minus TagBase.
  localparam int unsigned SlotW  = Tags > 1 ? $clog2(Tags) : 1;
  localparam int unsigned CountW = $clog2(Tags + 1);
  localparam int unsigned RingW  = $clog2(Words);
  localparam int unsigned LenW   = $clog2(Tags + 2);

  // Open: allocate the packet's words. open_q: a packet takes its extents. alloc_q: the next free
  // word of the ring; used_q: words in use.
  logic             open_q, first_q, open, ext_take, ext_end, length_ready, fits;
  logic [RingW-1:0] alloc_q, base_q;
  logic [RingW:0]   used_q;
  logic [18:0]      up;
  logic [RingW:0]   words;
  logic             unused_up;

  assign up    = {2'b00, pkt_length_i} + 19'd63;
  assign words = up[RingW+6:6];
  assign unused_up = ^up;
  assign fits  = {1'b0, used_q} + {1'b0, words} <= (RingW + 2)'(Words);
  assign open  = pkt_valid_i && !open_q && fits && length_ready;
  assign pkt_ready_o = !open_q && fits && length_ready;

  assign ext_end  = ext_i.last || ext_i.result != iwarp_pkg::TptOk;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      open_q  <= 1'b0;
      alloc_q <= '0;
      used_q  <= '0;
    end else begin
      open_q <= open || (open_q && !(ext_take && ext_end));
      if (open) alloc_q <= alloc_q + words[RingW-1:0];
      used_q <= used_q + (open ? words : '0) - (freed_i ? freed_words_i : '0);
    end
  end

  always_ff @(posedge clk_i) begin
    if (open) base_q <= alloc_q;
    if (open)          first_q <= 1'b1;
    else if (ext_take) first_q <= 1'b0;
  end

  // Cut, and give each chunk a tag and a position. count_q tags are in use, from tail_q on; head_q
  // is the next one to be given. real: PCIe must read the chunk (invariant 3).
  // skip: the tag at head_q is held, and passes without a chunk (invariant 4).
  // The side word of a chunk: {last extent of its packet, epoch, real, result 3, first extent of
  // its packet, first word of the packet}.
  localparam int unsigned SideW = 6 + 1 + RingW;
  logic              cut_ready, chunk_valid, chunk_ready, chunk_first, chunk_last, real_in;
  logic [12:0]       chunk_length;
  logic [SideW-1:0]  side;
  logic              side_end, side_epoch, side_real, side_first;
  logic [2:0]        side_result;
  logic [RingW-1:0]  side_base;
  logic [RingW+5:0]  pos, pos_q;
  logic [SlotW-1:0]  head_q, tail_q;
  logic [CountW-1:0] count_q;
  logic [SlotW-1:0]  head_next;
  logic              room, fire, skip, put, walk, head_held_q;

  assign ext_ready_o = open_q && cut_ready;
  assign ext_take    = ext_valid_i && ext_ready_o;
  assign real_in     = dma_on_i && ext_i.result == iwarp_pkg::TptOk && ext_i.length != '0;

  host_if_cut #(.SideW(SideW)) u_cut (
    .clk_i, .rst_ni, .limit_i(mrrs_i),
    .valid_i(ext_valid_i && open_q), .ready_o(cut_ready), .address_i(ext_i.address),
    .length_i(ext_i.result == iwarp_pkg::TptOk ? ext_i.length : 17'd0),
    .side_i({ext_end, ext_i.epoch, real_in, ext_i.result, first_q, base_q}),
    .valid_o(chunk_valid), .ready_i(chunk_ready),
    .address_o(req_address_o), .length_o(chunk_length),
    .first_o(chunk_first), .last_o(chunk_last), .side_o(side)
  );

  assign {side_end, side_epoch, side_real, side_result, side_first, side_base} = side;
  assign pos          = side_first && chunk_first ? {side_base, 6'd0} : pos_q;
  assign room         = count_q != CountW'(Tags);
  assign req_valid_o  = chunk_valid && side_real && room && !head_held_q;
  assign req_tag_o    = 8'(TagBase) + 8'(head_q);
  assign req_length_o = chunk_length;
  assign req_pos_o    = PosW'({WordW'(WordBase), 6'd0}) | PosW'(pos);
  assign chunk_ready  = room && !head_held_q && (req_ready_i || !side_real);
  assign fire         = chunk_valid && chunk_ready;
  assign skip         = chunk_valid && room && head_held_q;
  assign put          = fire || skip;
  assign head_next    = !put ? head_q : head_q == SlotW'(Tags - 1) ? '0 : head_q + 1'b1;

  always_ff @(posedge clk_i) begin
    if (fire) pos_q <= pos + (RingW + 6)'(chunk_length);
    if (!rst_ni) begin
      head_q      <= '0;
      tail_q      <= '0;
      count_q     <= '0;
      head_held_q <= 1'b0;
    end else begin
      head_q <= head_next;
      if (walk) tail_q <= tail_q == SlotW'(Tags - 1) ? '0 : tail_q + 1'b1;
      count_q     <= count_q + CountW'(put) - CountW'(walk);
      head_held_q <= 1'(held_i >> head_next);
    end
  end

  // Done tags, walked in order. info of a tag: {it was skipped, a read was sent, it is the last of
  // its packet, it is the last of its extent, epoch and result of its extent}.
  logic [8:0]      end_slot;
  logic            end_mine;
  logic [Tags-1:0] done_q, set, clear;
  logic            tail_done, walk_valid_q, walk_move;
  logic [7:0]      info;
  logic [1:0]      status_mem;
  logic            info_skip, info_real, info_pkt, info_ext, info_epoch;
  logic [2:0]      info_result;
  logic [1:0]      status, sum_status, sum_status_q;
  logic [2:0]      sum_result, sum_result_q;

  assign end_slot = {1'b0, end_tag_i} - 9'(TagBase);
  assign end_mine = end_valid_i && 32'(end_slot) < Tags;

  // Shifts replace a loop over the tags, which a simulator would evaluate bit by bit in each cycle.
  assign set       = (end_mine ? Tags'(1) << end_slot[SlotW-1:0] : '0) |
                     ((fire && !side_real) || skip ? Tags'(1) << head_q : '0);
  assign clear     = walk ? Tags'(1) << tail_q : '0;
  assign tail_done = 1'(done_q >> tail_q);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) done_q <= '0;
    else         done_q <= (done_q | set) & ~clear;
  end

  ram_1r1w #(.Width(8), .Depth(Tags)) u_info (
    .clk_i, .rst_ni,
    .we_i(put), .waddr_i(head_q),
    .wdata_i(skip ? 8'h80
                  : {1'b0, side_real, side_end && chunk_last, chunk_last, side_epoch, side_result}),
    .re_i(walk), .raddr_i(tail_q), .rdata_o(info)
  );
  ram_1r1w #(.Width(2), .Depth(Tags)) u_status (
    .clk_i, .rst_ni,
    .we_i(end_mine), .waddr_i(end_slot[SlotW-1:0]), .wdata_i(end_status_i),
    .re_i(walk), .raddr_i(tail_q), .rdata_o(status_mem)
  );

  assign walk = tail_done && (!walk_valid_q || walk_move);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) walk_valid_q <= 1'b0;
    else         walk_valid_q <= walk || (walk_valid_q && !walk_move);
  end

  // The first failure of the packet, in the order of its bytes: the status of a read, `unsupported`
  // (DMA was off), or the result of tpt. sum_*_q: the first failure of the chunks walked so far.
  logic verdict_ready, verdict_valid, bad_so_far, length_valid;
  logic [16:0] length;
  logic [1:0]  unused_verdicts;
  logic [LenW-1:0] unused_lengths;

  assign {info_skip, info_real, info_pkt, info_ext, info_epoch, info_result} = info;
  assign status     = info_real ? status_mem :
                      info_result == iwarp_pkg::TptOk ? iwarp_pkg::RdUnsupported : iwarp_pkg::RdOk;
  assign bad_so_far = sum_status_q != iwarp_pkg::RdOk || sum_result_q != iwarp_pkg::TptOk;
  assign sum_status = bad_so_far ? sum_status_q : status;
  assign sum_result = bad_so_far ? sum_result_q : info_result;

  assign walk_move       = walk_valid_q && (!info_pkt || verdict_ready);
  assign retired_o       = walk_move && info_ext;
  assign retired_epoch_o = info_epoch;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || (walk_move && info_pkt)) begin
      sum_status_q <= '0;
      sum_result_q <= '0;
    end else if (walk_move && !info_skip) begin
      sum_status_q <= sum_status;
      sum_result_q <= sum_result;
    end
  end

  stream_fifo #(.Width(5), .Depth(2)) u_verdicts (
    .clk_i, .rst_ni,
    .valid_i(walk_valid_q && info_pkt), .ready_o(verdict_ready), .data_i({sum_status, sum_result}),
    .valid_o(verdict_valid), .ready_i(whole_valid_o && whole_ready_i),
    .data_o({whole_o.status, whole_o.result}), .count_o(unused_verdicts)
  );
  stream_fifo #(.Width(17), .Depth(Tags + 1)) u_lengths (
    .clk_i, .rst_ni,
    .valid_i(open), .ready_o(length_ready), .data_i(pkt_length_i),
    .valid_o(length_valid), .ready_i(whole_valid_o && whole_ready_i), .data_o(length),
    .count_o(unused_lengths)
  );
  assign whole_o.length = length;
  assign whole_valid_o  = verdict_valid && length_valid;

  `RNIC_ASSERT(Fits_A, !(pkt_valid_i && !open_q) ||
                       (pkt_length_i != '0 && 32'(pkt_length_i) <= 64 * Words))
  `RNIC_ASSERT(UsedInRange_A, 32'(used_q) <= Words)
  `RNIC_ASSERT(EndsOutstanding_A, !end_mine || count_q != '0)
  `RNIC_STREAM_STABLE(ReqStable_A, req_valid_o, req_ready_i,
                      {req_tag_o, req_address_o, req_length_o, req_pos_o})
  `RNIC_STREAM_STABLE(WholeStable_A, whole_valid_o, whole_ready_i, whole_o)
endmodule

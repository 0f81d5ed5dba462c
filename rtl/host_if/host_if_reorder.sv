// host_if_reorder: the buffer of all reads. It writes each piece straight to the bytes that its
// tag's packet has reserved for it.
//
//   dma_rd_rsp --> [ in ] --> position = begin[tag] + come
//             |                  +--> [ lane_shift by position mod 64 ] --> 64 lanes x Depth
//             +--> [ tags ] --> come, keep, ends, status --^    +--> end: tag, status
//                        +--> late: a read has timed out ------------^
//   read port: word --> [ all lanes ] --> 64 bytes in the next cycle
//
// The buffer is PayloadWords (payload's ring, from word 0), then 5 rings of SmallWords.
// Invariants:
//  1. Pieces may be cut anywhere, and come in any order between tags. Pieces of one tag come in
//     order.
//  2. This leaf stores for each tag the byte at which its read begins, when the read is issued.
//     host_if_tags stores the number of bytes received, and decides which beats are written.
//  3. The buffer has 64 byte lanes with an address each. A beat at any alignment is one write, so
//     gathering costs no cycle.
//  4. No beat of a read is written after its end: a late end follows the last beat that
//     host_if_tags passed.
// Latency: 3 cycles from a beat to end_* (in, rotate 2), 4 to its bytes in the buffer. Throughput:
// a beat written and a word read per cycle.
// Back-pressure: none; dma_rd_rsp is always accepted.
// Benches tb/host_if/host_if_reorder_test.cpp, tb/host_if/host_if_test.cpp
`include "rnic_assert.svh"

module host_if_reorder #(
  parameter int unsigned Tags         = 8,
  parameter int unsigned PayloadWords = 1024,
  parameter int unsigned SmallWords   = 64,
  parameter int unsigned WordW        = 11,
  localparam int unsigned PosW        = WordW + 6
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic [31:0]             timeout_i,      // cycles
  // a read is issued
  input  logic                    begin_valid_i,
  input  logic [7:0]              begin_tag_i,
  input  logic [PosW-1:0]         begin_pos_i,
  input  logic [12:0]             begin_length_i,
  // the read was sent
  input  logic                    sent_valid_i,
  input  logic [7:0]              sent_tag_i,
  // from PCIe
  input  logic                    rsp_valid_i,
  input  iwarp_pkg::dma_rd_rsp_t  rsp_i,
  // a read has ended
  output logic                    end_valid_o,
  output logic [7:0]              end_tag_o,
  output logic [1:0]              end_status_o,
  output logic [Tags-1:0]         held_o,         // tags that must not be used
  output logic                    unexpected_o,   // to the counters; see host_if_tags
  output logic                    malformed_o,
  output logic                    timed_out_o,
  // read port
  input  logic                    read_i,
  input  logic [WordW-1:0]        read_word_i,
  output logic [511:0]            read_data_o
);
  localparam int unsigned Depth  = PayloadWords + 5 * SmallWords;
  localparam int unsigned DepthW = $clog2(Depth);
  localparam int unsigned SlotW  = $clog2(Tags);
  localparam int unsigned BigW   = $clog2(PayloadWords);
  localparam int unsigned LowW   = $clog2(SmallWords);
  if (DepthW != WordW)
    $fatal(1, "host_if_reorder %m: WordW must be the address width of the buffer");
  if (BigW + 1 != WordW)
    $fatal(1, "host_if_reorder %m: the small rings must be shorter than payload's");

  // In: look up the tag.
  logic                   known, take, ends, late_valid, unused_begin;
  logic [SlotW-1:0]       rsp_slot;
  iwarp_pkg::dma_rd_rsp_t in_q;
  logic [PosW-1:0]        start;
  logic [12:0]            come;
  logic [6:0]             keep;
  logic [1:0]             status;
  logic [7:0]             late_tag;
  logic                   put_end;

  assign known    = rsp_valid_i && 32'(rsp_i.tag) < Tags;
  assign rsp_slot = rsp_i.tag[SlotW-1:0];
  assign unused_begin = ^{begin_tag_i, in_q};

  always_ff @(posedge clk_i) in_q <= rsp_i;

  ram_1r1w #(.Width(PosW), .Depth(Tags)) u_begin (
    .clk_i, .rst_ni,
    .we_i(begin_valid_i), .waddr_i(begin_tag_i[SlotW-1:0]), .wdata_i(begin_pos_i),
    .re_i(known), .raddr_i(rsp_slot), .rdata_o(start)
  );

  host_if_tags #(.Tags(Tags)) u_tags (
    .clk_i, .rst_ni, .timeout_i,
    .begin_valid_i, .begin_tag_i, .begin_length_i, .sent_valid_i, .sent_tag_i,
    .rsp_valid_i, .rsp_i,
    .valid_o(take), .come_o(come), .keep_o(keep), .ends_o(ends), .status_o(status),
    .late_valid_o(late_valid), .late_ready_i(!put_end), .late_tag_o(late_tag),
    .held_o, .unexpected_o, .malformed_o, .timed_out_o
  );

  // Position: the byte at which this beat begins.
  logic [PosW-1:0]  sum;
  logic [WordW-1:0] word, word_up, next;
  assign sum     = start + PosW'(come);
  assign next    = sum[PosW-1:6] + WordW'(1);

  // Rings wrap: the bits that name the ring are kept (top bit 0: payload's ring; 1: a small ring).
  always_comb begin
    word    = sum[PosW-1:6];
    word_up = next;
    if (start[PosW-1]) begin
      word[WordW-1:LowW]    = start[PosW-1:6+LowW];
      word_up[WordW-1:LowW] = start[PosW-1:6+LowW];
    end else begin
      word[WordW-1]    = 1'b0;
      word_up[WordW-1] = 1'b0;
    end
  end

  // Rotate, then write: lane l holds byte l - position of the beat.
  localparam int unsigned SideW = 2 * WordW + 6 + 7 + 1 + 8 + 2;
  logic             put_valid, unused_shift, put_ends;
  logic [511:0]     put_data;
  logic [WordW-1:0] put_word, put_up;
  logic [5:0]       put_shift;
  logic [6:0]       put_keep;
  logic [7:0]       put_tag;
  logic [1:0]       put_status;

  lane_shift #(.Bytes(64), .SideW(SideW)) u_shift (
    .clk_i, .rst_ni,
    .valid_i(take), .ready_o(unused_shift), .data_i(in_q.data), .shift_i(sum[5:0]),
    .side_i({word, word_up, sum[5:0], keep, ends, in_q.tag, status}),
    .valid_o(put_valid), .ready_i(1'b1), .data_o(put_data),
    .side_o({put_word, put_up, put_shift, put_keep, put_ends, put_tag, put_status})
  );

  assign put_end      = put_valid && put_ends;
  assign end_valid_o  = put_end || late_valid;
  assign end_tag_o    = put_end ? put_tag : late_tag;
  assign end_status_o = put_end ? put_status : iwarp_pkg::RdAborted;

  logic [63:0] late;   // lanes of the next word
  assign late = ~(~64'd0 << put_shift);

  for (genvar l = 0; l < 64; l++) begin : gen_lane
    logic       we;
    logic [5:0] from;
    assign from = 6'(l) - put_shift;
    assign we   = put_valid && {1'b0, from} < put_keep;
    ram_1r1w #(.Width(8), .Depth(Depth)) u_ram (
      .clk_i, .rst_ni,
      .we_i(we), .waddr_i(late[l] ? put_up : put_word), .wdata_i(put_data[8*l +: 8]),
      .re_i(read_i), .raddr_i(read_word_i), .rdata_o(read_data_o[8*l +: 8])
    );
  end
endmodule

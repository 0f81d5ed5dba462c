// ddp_tx_slot: stores the headers and bodies of messages to be sent. rdmap writes them,
// ddp_tx_segment reads them. A QP has SqSlots slots for its send queue, one for a response and one
// for a Terminate.
//
//   tx_message_hdr --> slot address (SQ ring: [ next ] of a QP) --> [ headers ] --> ddp_tx_segment
//   tx_message ----------------------------------------------------> [ bodies ]  --> ddp_tx_segment
//                                                 all written --> arrive --> ddp_tx_sched
//
// Slot numbers: the SQ slots of all QPs first, then response and Terminate of each QP. A body of an
// SQ slot has 4 beats: 14 SGEs of 16 bytes, or 224 inline bytes. A response has one SGE or up to 12
// bytes, a Terminate up to 52 bytes, so 1 beat each. rdmap sends a message only when its slot is
// free.
// Latency: arrive comes with the last beat.
// Throughput: 2 cycles per message of one beat, 1 more per further beat.
// Waits only for the message's own beats and for room in ddp_tx_sched.
// Siblings: ddp_tx_sched, ddp_tx_segment.
// Bench: tb/ddp/ddp_tx_test.cpp
`include "rnic_assert.svh"
`include "rnic_words.svh"

module ddp_tx_slot #(
  localparam int unsigned Slots  = rnic_pkg::NumQps * (rnic_pkg::SqSlots + 2),
  localparam int unsigned SlotW  = $clog2(Slots),
  localparam int unsigned Bodies = rnic_pkg::NumQps * (4 * rnic_pkg::SqSlots + 2),
  localparam int unsigned BodyW  = $clog2(Bodies),
  localparam int unsigned HdrW   = `RNIC_DDP_SLOT_W
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
  // from rdmap
  input  logic                        tx_message_hdr_valid_i,
  output logic                        tx_message_hdr_ready_o,
  input  iwarp_pkg::tx_message_hdr_t  tx_message_hdr_i,
  input  logic                        tx_message_valid_i,
  output logic                        tx_message_ready_o,
  input  iwarp_pkg::tx_message_t      tx_message_i,
  // to ddp_tx_sched: a message is stored
  output logic         arrive_valid_o,
  input  logic         arrive_ready_i,
  output logic [15:0]  arrive_qpn_o,
  output logic [1:0]   arrive_source_o,
  output logic         arrive_tagged_o,
  output logic [1:0]   arrive_qn_o,
  output logic [31:0]  arrive_length_o,
  // from and to ddp_tx_segment
  input  logic              hdr_re_i,
  input  logic [SlotW-1:0]  hdr_addr_i,
  // hdr_o: RNIC_DDP_SLOT_T
  output logic [HdrW-1:0]   hdr_o,
  input  logic              body_re_i,
  input  logic [BodyW-1:0]  body_addr_i,
  output logic [511:0]      body_o
);
  localparam int unsigned QpW   = $clog2(rnic_pkg::NumQps);
  localparam int unsigned SqAll = rnic_pkg::NumQps * rnic_pkg::SqSlots;

  logic [QpW-1:0]   qpn;
  logic             is_sq, begin_msg, busy_q, beat, finish, ctl_fire;
  logic [2:0]       next, next_d;
  logic [1:0]       beat_q;
  logic [SlotW-1:0] slot;
  logic [BodyW-1:0] body;

  assign qpn         = tx_message_hdr_i.qpn[QpW-1:0];
  assign is_sq       = tx_message_hdr_i.source == iwarp_pkg::TxSq;
  assign ctl_ready_o = !busy_q && !clear_i;
  assign ctl_fire    = ctl_valid_i && ctl_ready_o;
  assign begin_msg   = tx_message_hdr_valid_i && !busy_q && !ctl_valid_i && !clear_i;

  // slot is valid from the message's second cycle on, when u_next has returned `next`.
  assign slot = is_sq ? SlotW'(qpn) * SlotW'(rnic_pkg::SqSlots) + SlotW'(next)
                      : SlotW'(SqAll) + SlotW'({qpn, tx_message_hdr_i.source == iwarp_pkg::TxTerm});
  // Each SQ slot has 4 beats, a slot after them has 1. So the latter's beat is its slot number plus
  // 3 * SqAll.
  assign body = is_sq ? BodyW'({slot, beat_q}) : BodyW'(slot) + BodyW'(3 * SqAll);
  assign beat = busy_q && tx_message_valid_i && (!tx_message_i.last || arrive_ready_i);
  assign finish = beat && tx_message_i.last;
  assign next_d = next == 3'(rnic_pkg::SqSlots - 1) ? '0 : next + 3'd1;

  assign tx_message_hdr_ready_o = finish;
  assign tx_message_ready_o     = busy_q && (!tx_message_i.last || arrive_ready_i);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) busy_q <= 1'b0;
    else         busy_q <= begin_msg || (busy_q && !finish);
  end

  always_ff @(posedge clk_i) begin
    if (begin_msg) beat_q <= '0;
    else if (beat) beat_q <= beat_q + 2'd1;
  end

  assign arrive_valid_o  = busy_q && tx_message_valid_i && tx_message_i.last;
  assign arrive_qpn_o    = tx_message_hdr_i.qpn;
  assign arrive_source_o = tx_message_hdr_i.source;
  assign arrive_tagged_o = tx_message_hdr_i.is_tagged;
  assign arrive_qn_o     = tx_message_hdr_i.qn;
  assign arrive_length_o = tx_message_hdr_i.length;

  ram_1r1w #(.Width(3), .Depth(rnic_pkg::NumQps)) u_next (
    .clk_i, .rst_ni,
    .we_i(clear_i || ctl_fire || (finish && is_sq)),
    .waddr_i(clear_i ? clear_addr_i[QpW-1:0] : ctl_fire ? ctl_qpn_i[QpW-1:0] : qpn),
    .wdata_i(clear_i || ctl_fire ? '0 : next_d),
    .re_i(begin_msg), .raddr_i(qpn), .rdata_o(next)
  );

  typedef `RNIC_DDP_SLOT_T header_t;
  header_t header;
  always_comb begin
    header.is_tagged     = tx_message_hdr_i.is_tagged;
    header.opcode        = tx_message_hdr_i.opcode;
    header.qn            = tx_message_hdr_i.qn;
    header.stag          = tx_message_hdr_i.stag;
    header.to            = tx_message_hdr_i.tagged_offset;
    header.is_inline     = tx_message_hdr_i.is_inline;
    header.num_sge       = tx_message_hdr_i.num_sge;
    header.done          = tx_message_hdr_i.done;
    header.slot          = tx_message_hdr_i.slot;
    header.has_watermark = tx_message_hdr_i.has_watermark;
    header.watermark     = tx_message_hdr_i.watermark;
  end
  ram_1r1w #(.Width(HdrW), .Depth(Slots)) u_headers (
    .clk_i, .rst_ni,
    .we_i(finish), .waddr_i(slot),
    .wdata_i(header),
    .re_i(hdr_re_i), .raddr_i(hdr_addr_i), .rdata_o(hdr_o)
  );

  ram_1r1w #(.Width(512), .Depth(Bodies)) u_bodies (
    .clk_i, .rst_ni,
    .we_i(beat), .waddr_i(body), .wdata_i(tx_message_i.data),
    .re_i(body_re_i), .raddr_i(body_addr_i), .rdata_o(body_o)
  );

  logic unused_bits;
  assign unused_bits = ^{tx_message_i.error, tx_message_i.keep, clear_addr_i, ctl_qpn_i};

  `RNIC_ASSERT(BodyFits_A, !beat ||
                           (is_sq ? beat_q != 2'd3 || tx_message_i.last : tx_message_i.last))
  `RNIC_ASSERT(QpnInRange_A, !begin_msg || 32'(tx_message_hdr_i.qpn) < rnic_pkg::NumQps)
endmodule

// rdmap_read: serves Read and Flush Requests in a pipeline. Several range checks are outstanding at
// once, and responses leave in order.
//
//   head --> [ ring, Depth ]  --check--> resp_check --> tpt
//              |   | done? <-- resp_check_rsp
//              |   +--> bad: to rdmap_core as a fault; the ring waits until it is decided
//              +------> good, or Read of size 0: [ 2 ] --> Read or Flush Response message
//
// 1. Requests are checked and answered in arrival order, so those of a QP keep their order.
// 2. The STag is checked over the whole source. A Read of size 0 is not checked (RFC 5040 5.2.1); a
//    Flush of length 0 is checked (A-22). A Flush needs the right of each state that it requests,
//    and no other right (A-06, A-25).
// 3. A request whose QP stops or fails is dead: its response from tpt is awaited and dropped.
// 4. After a failed check, no further response begins until rdmap_core has decided the fault. So
//    responses of tpt are consumed in the order of the commit trace.
//
// Latency: 1 cycle from head to resp_check, 1 from resp_check_rsp to the message.
// Throughput: 1 request per cycle.
// Waits for tpt and rdmap_tx. rdmap_resp gives a head only when the ring has room (RingRoom_A).
// Siblings: rdmap_resp, rdmap_core.
// Bench: tb/rdmap/rdmap_test.cpp
`include "rnic_assert.svh"
`include "rnic_words.svh"

module rdmap_read #(
  parameter int unsigned Depth = 2,
  localparam int unsigned HeadW = `RNIC_RDMAP_HEAD_W
) (
  input  logic clk_i,
  input  logic rst_ni,
  // from rdmap_resp, which has reserved room
  input  logic head_valid_i,
  input  logic [HeadW-1:0] head_i,
  output logic left_o,                     // a request leaves the ring
  // from rdmap_core: this QP has stopped or failed
  input  logic dead_i,
  input  logic [15:0] dead_qpn_i,
  // a failed check, to rdmap_core
  output logic fail_valid_o,
  input  logic fail_ready_i,
  output iwarp_pkg::tx_fault_t fail_o,
  input  logic fail_done_i,                // rdmap_core has decided the fault
  // from and to tpt
  output logic check_valid_o,
  input  logic check_ready_i,
  output iwarp_pkg::resp_check_t check_o,
  input  logic check_rsp_valid_i,
  output logic check_rsp_ready_o,
  input  iwarp_pkg::resp_check_rsp_t check_rsp_i,
  // to rdmap_tx
  output logic msg_valid_o,
  input  logic msg_ready_i,
  output iwarp_pkg::tx_message_hdr_t msg_o,
  output logic [127:0] msg_data_o,         // the message's SGE: the bytes that ddp reads
  // a response begins
  output logic begin_o,
  output logic [15:0] begin_qpn_o,
  output logic begin_fetches_o             // it is a Read Response with payload
);
  typedef `RNIC_RDMAP_HEAD_T head_t;
  localparam int unsigned PtrW   = Depth > 1 ? $clog2(Depth) : 1;
  localparam int unsigned CountW = $clog2(Depth + 1);

  // --- the ring: [rd, chk) holds requests whose check is sent; [chk, wr) those to be checked
  logic [HeadW-1:0] mem [Depth];
  logic [15:0]      qpn_q [Depth];
  logic [Depth-1:0] dead_q, empty_q;       // empty: a Read of size 0
  logic [PtrW-1:0]  wr_q, chk_q, rd_q;
  logic [CountW-1:0] unchecked_q, checked_q;
  logic             pass, leave;           // a request passes its check stage; one leaves the ring
  head_t            head, to_check, oldest;
  iwarp_pkg::read_request_t  request, request_to_check;
  iwarp_pkg::flush_request_t flush_to_check;
  assign head     = head_i;
  assign to_check = mem[chk_q];
  assign oldest   = mem[rd_q];
  assign request          = head.request;
  assign request_to_check = to_check.request;
  assign flush_to_check   =
      to_check.request[iwarp_pkg::ReadRequestWidth-1 -: iwarp_pkg::FlushRequestWidth];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wr_q        <= '0;
      chk_q       <= '0;
      rd_q        <= '0;
      unchecked_q <= '0;
      checked_q   <= '0;
    end else begin
      if (head_valid_i) wr_q <= wr_q == PtrW'(Depth - 1) ? '0 : wr_q + 1'b1;
      if (pass)         chk_q <= chk_q == PtrW'(Depth - 1) ? '0 : chk_q + 1'b1;
      if (leave)        rd_q <= rd_q == PtrW'(Depth - 1) ? '0 : rd_q + 1'b1;
      unchecked_q <= unchecked_q + CountW'(head_valid_i) - CountW'(pass);
      checked_q   <= checked_q + CountW'(pass) - CountW'(leave);
    end
  end
  always_ff @(posedge clk_i) begin
    if (head_valid_i) begin
      mem[wr_q]     <= head_i;
      qpn_q[wr_q]   <= head.qpn;
      empty_q[wr_q] <= head.kind == rnic_pkg::KindRead && request.read_size == '0;
    end
    for (int unsigned i = 0; i < Depth; i++) begin
      if (head_valid_i && wr_q == PtrW'(i))         dead_q[i] <= 1'b0;
      else if (dead_i && qpn_q[i] == dead_qpn_i)    dead_q[i] <= 1'b1;
    end
  end

  // --- the check
  assign check_valid_o = unchecked_q != '0 && !empty_q[chk_q];
  assign pass          = unchecked_q != '0 && (empty_q[chk_q] || check_ready_i);
  always_comb begin
    check_o               = '0;
    check_o.stag          = request_to_check.source_stag;
    check_o.tagged_offset = request_to_check.source_to;
    check_o.length        = request_to_check.read_size;
    check_o.pd            = to_check.pd;
    check_o.qpn           = to_check.qpn;
    check_o.rights        = rnic_pkg::AccessRemoteRead;
    check_o.last          = 1'b1;
    if (to_check.kind == rnic_pkg::KindFlush) begin
      check_o.stag          = flush_to_check.sink_stag;
      check_o.tagged_offset = flush_to_check.sink_to;
      check_o.length        = flush_to_check.length;
      check_o.rights        =
          ((flush_to_check.flags & rnic_pkg::FlushPersistent) != '0
           ? rnic_pkg::AccessFlushPersistent : '0) |
          ((flush_to_check.flags & rnic_pkg::FlushVisible) != '0
           ? rnic_pkg::AccessFlushGlobal : '0);
    end
  end

  // --- the check's response. judged: the oldest request is checked, or needs no check. room: in
  // u_responses. dropped: the request leaves without a response: it is dead, or its fault decided.
  logic judged, good, room, dropped, failing_q;     // failing: rdmap_core has the fault
  assign judged       = checked_q != '0 && (empty_q[rd_q] || check_rsp_valid_i);
  assign good         = empty_q[rd_q] || check_rsp_i.result == iwarp_pkg::TptOk;
  assign begin_o      = judged && good && !dead_q[rd_q] && room;
  assign begin_qpn_o  = qpn_q[rd_q];
  assign begin_fetches_o = oldest.kind == rnic_pkg::KindRead && !empty_q[rd_q];
  assign fail_valid_o = judged && !good && !dead_q[rd_q] && !failing_q;
  assign dropped    = judged && (failing_q ? fail_done_i : dead_q[rd_q]);
  assign leave        = begin_o || dropped;
  assign left_o       = leave;
  assign check_rsp_ready_o = leave && !empty_q[rd_q];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) failing_q <= 1'b0;
    else         failing_q <= (fail_valid_o && fail_ready_i) || (failing_q && !fail_done_i);
  end
  always_comb begin
    fail_o        = '0;
    fail_o.qpn    = oldest.qpn;
    fail_o.source = iwarp_pkg::TxResp;
    fail_o.slot   = oldest.slot;
    fail_o.result = check_rsp_i.result;
  end

  // --- the response
  head_t answered;
  iwarp_pkg::read_request_t  answers;
  iwarp_pkg::flush_request_t flushes;
  iwarp_pkg::wqe_sge_t source;
  stream_fifo #(.Width(HeadW), .Depth(2)) u_responses (
    .clk_i, .rst_ni, .valid_i(begin_o), .ready_o(room), .data_i(oldest),
    .valid_o(msg_valid_o), .ready_i(msg_ready_i), .data_o(answered), .count_o()
  );
  assign answers = answered.request;
  assign flushes = answered.request[iwarp_pkg::ReadRequestWidth-1 -: iwarp_pkg::FlushRequestWidth];
  always_comb begin
    source.address      = answers.source_to;
    source.length       = answers.read_size;
    source.lkey         = answers.source_stag;
    msg_o               = '0;
    msg_o.qpn           = answered.qpn;
    msg_o.source        = iwarp_pkg::TxResp;
    msg_o.is_tagged     = 1'b1;
    msg_o.opcode        = iwarp_pkg::OpReadResponse;
    msg_o.stag          = answers.sink_stag;
    msg_o.tagged_offset = answers.sink_to;
    msg_o.length        = answers.read_size;
    msg_o.num_sge       = 4'd1;
    msg_o.slot          = answered.slot;
    msg_o.has_watermark = 1'b1;
    msg_o.watermark     = answered.watermark;
    // One byte of the range is read back after the placements that the watermark counts: PCIe reads
    // push earlier writes.
    if (answered.kind == rnic_pkg::KindFlush) begin
      source.address      = flushes.sink_to;
      source.length       = 32'd1;
      source.lkey         = flushes.sink_stag;
      msg_o.is_tagged     = 1'b0;
      msg_o.opcode        = iwarp_pkg::OpFlushResponse;
      msg_o.qn            = 2'd3;
      msg_o.stag          = '0;
      msg_o.tagged_offset = '0;
      msg_o.length        = '0;
      msg_o.num_sge       = flushes.length != '0 ? 4'd1 : 4'd0;
    end
    msg_data_o          = source;
  end

  logic unused_bits;
  assign unused_bits = ^{head, request, to_check, request_to_check, flush_to_check, flushes,
                         answered};

  `RNIC_ASSERT(RingRoom_A, !head_valid_i || 32'(unchecked_q) + 32'(checked_q) < Depth)
  `RNIC_ASSERT(AnswerIsAsked_A, !check_rsp_valid_i || checked_q != '0)
  `RNIC_STREAM_STABLE(CheckStable_A, check_valid_o, check_ready_i, check_o)
  `RNIC_STREAM_STABLE(MsgStable_A, msg_valid_o, msg_ready_i, msg_o)
endmodule

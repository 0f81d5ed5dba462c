// rdmap_resp: the responder's service of QN 1 requests, one QP's head after the other. RFC 5040 section 5.2.
//
//   work list (QPNs, each at most once) --> head of its inbound queue (rdmap_core) --> resp_check --> Read Response message
//                                                                               \--> failed: back to rdmap_core as an error
//
// In order per QP: a QP is in the list while its head waits for service, and again when its response's slot in ddp is free. The STag is
// checked now, over the whole source; not for size 0 (RFC 5040 5.2.1). Here atomic and persist will join: by the opcode of the head.
// Waits for tpt and for rdmap_tx. Siblings: rdmap_core. Bench: tb/rdmap/rdmap_test.cpp
`include "rnic_assert.svh"

module rdmap_resp (
  input  logic clk_i,
  input  logic rst_ni,
  // work, from rdmap_core
  input  logic work_valid_i,
  output logic work_ready_o,
  input  logic [15:0] work_qpn_i,
  input  logic cancel_i,                   // the QP under way has stopped, or failed: no message any more
  // the head of a QP's queue: asked of rdmap_core, answered later
  output logic head_req_valid_o,
  input  logic head_req_ready_i,
  output logic [15:0] qpn_o,
  input  logic head_valid_i,
  input  logic head_ok_i,                  // the QP is running
  input  logic [15:0] head_pd_i,
  input  logic [399:0] head_i,             // {watermark, 46 bytes}
  input  logic [7:0] head_slot_i,
  // a failed check, to rdmap_core
  output logic fail_valid_o,
  input  logic fail_ready_i,
  output iwarp_pkg::tpt_result_e fail_result_o,
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
  output logic [511:0] msg_data_o,
  // for the drain of a QP
  output logic busy_o
);
  typedef enum logic [2:0] {
    StIdle,
    StAsk,      // the head is asked for
    StHead,     // it is awaited
    StCheck,    // its source is to be checked
    StAnswer,   // the check's answer is awaited
    StFail,     // it failed
    StSend      // the response message is offered
  } state_e;
  state_e state_d, state_q;

  logic                     cancel_q, cancelled;
  assign cancelled = cancel_q || cancel_i;
  logic [15:0]              qpn_q, pd_q;
  logic [31:0]              watermark_q;
  logic [7:0]               slot_q;
  iwarp_pkg::read_request_t request_q, head_request;
  iwarp_pkg::tpt_result_e   result_q;
  assign head_request = head_i[28 * 8 - 1:0];

  always_comb begin
    state_d = state_q;
    case (state_q)
      StIdle:   if (work_valid_i) state_d = StAsk;
      StAsk:    if (head_req_ready_i) state_d = StHead;
      StHead:   if (head_valid_i) state_d = !head_ok_i ? StIdle : head_request.read_size == 32'h0 ? StSend : StCheck;
      StCheck:  if (check_ready_i) state_d = StAnswer;
      StAnswer: begin
        if (check_rsp_valid_i) state_d = cancelled ? StIdle : check_rsp_i.result == iwarp_pkg::TptOk ? StSend : StFail;
      end
      StFail:   if (fail_ready_i) state_d = StIdle;
      StSend:   if (msg_ready_i) state_d = StIdle;
      default:  state_d = StIdle;
    endcase
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= StIdle;
    else         state_q <= state_d;
  end
  always_ff @(posedge clk_i) begin
    if (state_q == StIdle) qpn_q <= work_qpn_i;
    cancel_q <= (state_q == StCheck || state_q == StAnswer) && cancelled;
    if (state_q == StHead && head_valid_i) begin
      pd_q        <= head_pd_i;
      slot_q      <= head_slot_i;
      watermark_q <= head_i[399:368];
      request_q   <= head_request;
    end
    if (state_q == StAnswer) result_q <= check_rsp_i.result;
  end

  assign work_ready_o      = state_q == StIdle;
  assign head_req_valid_o  = state_q == StAsk;
  assign qpn_o             = qpn_q;
  assign check_valid_o     = state_q == StCheck;
  assign check_rsp_ready_o = state_q == StAnswer;
  assign fail_valid_o      = state_q == StFail;
  assign fail_result_o     = result_q;
  assign msg_valid_o       = state_q == StSend;
  assign busy_o            = state_q != StIdle;

  always_comb begin
    check_o               = '0;
    check_o.stag          = request_q.source_stag;
    check_o.tagged_offset = request_q.source_to;
    check_o.length        = request_q.read_size;
    check_o.pd            = pd_q;
    check_o.rights        = rnic_pkg::AccessRemoteRead;
    check_o.last          = 1'b1;
  end
  iwarp_pkg::wqe_sge_t source;
  always_comb begin
    source.address      = request_q.source_to;
    source.length       = request_q.read_size;
    source.lkey         = request_q.source_stag;
    msg_o               = '0;
    msg_o.qpn           = qpn_q;
    msg_o.source        = iwarp_pkg::TxResp;
    msg_o.is_tagged     = 1'b1;
    msg_o.opcode        = iwarp_pkg::OpReadResponse;
    msg_o.stag          = request_q.sink_stag;
    msg_o.tagged_offset = request_q.sink_to;
    msg_o.length        = request_q.read_size;
    msg_o.num_sge       = 4'd1;
    msg_o.slot          = slot_q;
    msg_o.has_watermark = 1'b1;
    msg_o.watermark     = watermark_q;
    msg_data_o          = {384'h0, source};
  end

  logic unused_head;
  assign unused_head = ^head_i[367:224];

  `RNIC_STREAM_STABLE(CheckStable_A, check_valid_o, check_ready_i, check_o)
  `RNIC_STREAM_STABLE(MsgStable_A, msg_valid_o, msg_ready_i, msg_o)

  // Simulation alone: commit trace (architecture 10)
  iwarp_pkg::rdmap_response_commit_t tap_rdmap_response /*verilator public_flat_rd*/;
  assign tap_rdmap_response = {state_q != StSend && state_d == StSend, qpn_q};
endmodule

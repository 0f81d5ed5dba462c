// rdmap_term: reports to qp a QP's first error, or that its responder is idle after half_close, and
// builds the Terminate of an error. RFC 5040 sections 4.8, 7.1; requirements.md 5.2, 6.
//
//   job --> [ kept ] --> qp_error
//                   \--> [ sums ] --> Terminate (tx_message, source term):
//       control word | ULPDU length | DDP header | Read Request header
//
// 1. The cause (errors.yaml) and the bytes available of the offending segment decide which parts
//    the Terminate includes. The control word lists them.
// 2. One job at a time: first qp_error, then the message.
//
// Latency: 1 cycle to qp_error, 2 to the message.
// Throughput: a job every 2 cycles, every 3 with a message.
// Waits for qp_error, and for ddp's Terminate slot, which is free: a QP fails once.
// Siblings: rdmap_core (in it rdmap_judge decides; its jobs queue in rdmap), rdmap_tx.
// Bench: tb/rdmap/rdmap_test.cpp
`include "rnic_assert.svh"
`include "rnic_words.svh"

module rdmap_term #(
  localparam int unsigned JobW = `RNIC_RDMAP_JOB_W
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic job_valid_i,
  output logic job_ready_o,
  // job_i (RNIC_RDMAP_JOB_T). has_head: the offending segment is known; net holds its first bytes
  // (byte 0 in the top bits), and ulpdu_length its length. of_request: it is a Read Request of the
  // peer, whose response has failed after offset bytes.
  input  logic [JobW-1:0] job_i,
  output logic left_o,                   // a job is finished; rdmap_tx has its message
  // to qp
  output logic qp_error_valid_o,
  input  logic qp_error_ready_i,
  output iwarp_pkg::qp_error_t qp_error_o,
  // to rdmap_tx
  output logic msg_valid_o,
  input  logic msg_ready_i,
  output iwarp_pkg::tx_message_hdr_t msg_o,
  output logic [511:0] msg_data_o        // byte 0 in [7:0]
);
  typedef `RNIC_RDMAP_JOB_T job_t;
  logic error_q, msg_q, taken;
  job_t job_q;
  iwarp_pkg::qp_error_t error;

  assign job_ready_o = !error_q && !msg_q;
  assign taken       = job_valid_i && job_ready_o;
  assign left_o      = error.sends_term ? msg_q && msg_ready_i : error_q && qp_error_ready_i;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      error_q <= 1'b0;
      msg_q   <= 1'b0;
    end else begin
      if (taken)                 error_q <= 1'b1;
      else if (qp_error_ready_i) error_q <= 1'b0;
      if (error_q && qp_error_ready_i && error.sends_term) msg_q <= 1'b1;
      else if (msg_ready_i)                                      msg_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (taken) job_q <= job_i;
  end
  assign qp_error_valid_o = error_q;
  assign qp_error_o       = error;
  assign error            = job_q.error;

  // --- the message, byte 0 in the top bits
  logic [17:0] code;
  logic        with_ddp, with_read;
  iwarp_pkg::terminate_ctrl_t ctrl;
  iwarp_pkg::ddp_untagged_t   untagged;
  iwarp_pkg::ddp_tagged_t     tagged_hdr;
  iwarp_pkg::read_request_t   request, moved;
  logic [415:0] text;
  logic [31:0]  length;
  // {layer 4, type 4, code 8, with the DDP header 1, with the Read Request header 1}
  assign code                = iwarp_pkg::cause_terminate(error.cause);
  assign {untagged, request} =
      job_q.net[367 -: iwarp_pkg::DdpUntaggedWidth + iwarp_pkg::ReadRequestWidth];
  assign tagged_hdr          = job_q.net[367 -: iwarp_pkg::DdpTaggedWidth];
  assign with_ddp            = code[1] && job_q.has_head;
  assign with_read           = code[0] && with_ddp && job_q.of_request;

  // The Read Request header advances by the bytes already sent. The low halves are added while
  // qp_error is offered, the carries while the message is offered.
  logic [32:0] sink_low_q, source_low_q;
  logic [31:0] size_q;
  always_ff @(posedge clk_i) begin
    sink_low_q   <= {1'b0, request.sink_to[31:0]} + {1'b0, job_q.offset};
    source_low_q <= {1'b0, request.source_to[31:0]} + {1'b0, job_q.offset};
    size_q       <= request.read_size - job_q.offset;
  end
  always_comb begin
    moved           = request;
    moved.sink_to   = {request.sink_to[63:32] + {31'h0, sink_low_q[32]}, sink_low_q[31:0]};
    moved.read_size = size_q;
    moved.source_to = {request.source_to[63:32] + {31'h0, source_low_q[32]}, source_low_q[31:0]};
  end
  always_comb begin
    ctrl                 = '0;
    ctrl.layer           = code[17:14];
    ctrl.etype           = code[13:10];
    ctrl.code            = code[9:2];
    ctrl.has_length      = with_ddp;
    ctrl.has_ddp_header  = with_ddp;
    ctrl.has_rdma_header = with_read;
  end
  // Bytes: control word 4; with ULPDU length (2) and DDP header (14 or 18) 20 or 24; with the Read
  // Request header (28) 52.
  always_comb begin
    text   = {ctrl, 384'h0};
    length = 32'd4;
    if (with_ddp && tagged_hdr.is_tagged) begin
      text   = {ctrl, job_q.ulpdu_length, tagged_hdr, 256'h0};
      length = 32'd20;
    end else if (with_ddp && !with_read) begin
      text   = {ctrl, job_q.ulpdu_length, untagged, 224'h0};
      length = 32'd24;
    end else if (with_ddp) begin
      text   = {ctrl, job_q.ulpdu_length, untagged, moved};
      length = 32'd52;
    end
  end

  assign msg_valid_o = msg_q;
  always_comb begin
    msg_o           = '0;
    msg_o.qpn       = error.qpn;
    msg_o.source    = iwarp_pkg::TxTerm;
    msg_o.opcode    = iwarp_pkg::OpTerminate;
    msg_o.qn        = 2'd2;
    msg_o.length    = length;
    msg_o.is_inline = 1'b1;
    msg_data_o      = '0;
    for (int i = 0; i < 52; i++) msg_data_o[8 * i +: 8] = text[415 - 8 * i -: 8];
  end

  `RNIC_STREAM_STABLE(ErrorStable_A, qp_error_valid_o, qp_error_ready_i, qp_error_o)
  `RNIC_STREAM_STABLE(MsgStable_A, msg_valid_o, msg_ready_i, msg_o)
endmodule

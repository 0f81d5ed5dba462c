// rdmap_term: tells qp of a QP's first error, and writes its Terminate. RFC 5040 sections 4.8, 7.1; requirements.md 5.2, 6.
//
//   job --> [ kept ] --> qp_error
//                   \--> [ sums ] --> Terminate: control word | ULPDU length | DDP header | Read Request header --> tx_message (source term)
//
// Which parts are included follows the cause (errors.yaml) and what there is of the offending segment; the control word says so. One job
// at a time; ready_o is high when none is kept. Latency: qp_error 1 cycle, the message 2. Waits for qp_error and for ddp's term slot, which is
// free: a QP fails once.
// Siblings: rdmap_core (decides), rdmap_tx. Bench: tb/rdmap/rdmap_test.cpp
`include "rnic_assert.svh"

module rdmap_term (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic job_valid_i,
  output logic ready_o,
  input  iwarp_pkg::qp_error_t job_i,
  input  logic has_head_i,               // head_i, ulpdu_length_i are of the offending segment
  input  logic is_read_i,                // it is a Read Request, and its header is to be shown
  input  logic [15:0] ulpdu_length_i,
  input  logic [511:0] net_i,            // its bytes, first one in the top bits
  input  logic [31:0] offset_i,          // bytes of the Read that have been sent
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
  logic                     error_q, sum_q, msg_q, has_head_q, is_read_q;
  iwarp_pkg::qp_error_t     job_q;
  logic [15:0]              length_q;
  logic [46*8-1:0]          net_q;
  logic [31:0]              offset_q;

  assign ready_o = !error_q && !sum_q && !msg_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      error_q <= 1'b0;
      sum_q   <= 1'b0;
      msg_q   <= 1'b0;
    end else begin
      sum_q <= job_valid_i && job_i.sends_term;
      if (job_valid_i) begin
        error_q <= 1'b1;
      end else if (qp_error_ready_i) begin
        error_q <= 1'b0;
      end
      if (sum_q)            msg_q <= 1'b1;
      else if (msg_ready_i) msg_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (job_valid_i) begin
      job_q      <= job_i;
      has_head_q <= has_head_i;
      is_read_q  <= is_read_i;
      length_q   <= ulpdu_length_i;
      net_q      <= net_i[511 -: 46 * 8];
      offset_q   <= offset_i;
    end
  end
  assign qp_error_valid_o = error_q;
  assign qp_error_o       = job_q;

  // --- the message, byte 0 in the top bits
  logic [17:0] code;
  logic        with_ddp, with_read, is_tagged;
  iwarp_pkg::terminate_ctrl_t ctrl;
  iwarp_pkg::read_request_t   request, moved;
  logic [415:0] text;
  logic [31:0]  length;
  assign code      = iwarp_pkg::cause_terminate(job_q.cause);
  assign is_tagged = net_q[46 * 8 - 1];
  assign with_ddp  = code[1] && has_head_q;
  assign with_read = code[0] && with_ddp && is_read_q;
  assign request   = net_q[46 * 8 - 1 - 18 * 8 -: 28 * 8];

  // The header moves on by what has left: low halves while sum_q, the carries when the message is offered.
  logic [32:0] sink_low_q, source_low_q;
  logic [31:0] size_q;
  always_ff @(posedge clk_i) begin
    sink_low_q   <= {1'b0, request.sink_to[31:0]} + {1'b0, offset_q};
    source_low_q <= {1'b0, request.source_to[31:0]} + {1'b0, offset_q};
    size_q       <= request.read_size - offset_q;
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
  always_comb begin
    text   = {ctrl, 384'h0};
    length = 32'd4;
    if (with_ddp) begin
      text[383 -: 16] = length_q;
      if (is_tagged) begin
        text[367 -: 112] = net_q[46 * 8 - 1 -: 112];
        length           = 32'd20;
      end else begin
        text[367 -: 144] = net_q[46 * 8 - 1 -: 144];
        length           = 32'd24;
        if (with_read) begin
          text[223 -: 224] = moved;
          length           = 32'd52;
        end
      end
    end
  end

  assign msg_valid_o = msg_q;
  always_comb begin
    msg_o           = '0;
    msg_o.qpn       = job_q.qpn;
    msg_o.source    = iwarp_pkg::TxTerm;
    msg_o.opcode    = iwarp_pkg::OpTerminate;
    msg_o.qn        = 2'd2;
    msg_o.length    = length;
    msg_o.is_inline = 1'b1;
    msg_data_o      = '0;
    for (int i = 0; i < 52; i++) msg_data_o[8 * i +: 8] = text[415 - 8 * i -: 8];
  end

  logic unused_net;
  assign unused_net = ^net_i[143:0];

  `RNIC_ASSERT(OneAtATime_A, !job_valid_i || ready_o)
  `RNIC_STREAM_STABLE(ErrorStable_A, qp_error_valid_o, qp_error_ready_i, qp_error_o)
  `RNIC_STREAM_STABLE(MsgStable_A, msg_valid_o, msg_ready_i, msg_o)
endmodule

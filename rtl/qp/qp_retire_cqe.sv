// qp_retire_cqe: builds a completion and offers it to cq.
//
//   put_* (one of four kinds), window entry, part of rx_done --> [ entry ] --> [ FIFO ] --> cqe_req
//
// qp_retire puts a completion only if count_o had room for it when its pass began (CqeHasRoom_A).
// cq fills in phase and timestamp.
// Latency: 1 cycle.
// Throughput: 1 completion per cycle.
// Part of qp_retire.
// Bench: tb/qp/qp_retire_test.cpp
`include "rnic_assert.svh"

module qp_retire_cqe #(
  localparam int unsigned QpnW = $clog2(rnic_pkg::NumQps)
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  // from qp_retire: kind, at most one
  input  logic            put_own_i,        // of a send WQE: opcode and length come from the window
  input  logic            put_flush_sq_i,   // of all send WQEs up to index_i, with wr_flush_err
  input  logic            put_recv_i,       // of a receive: byte_len, solicited, immediate
  input  logic            put_flush_rq_i,   // of all receives up to index_i
  input  logic [QpnW-1:0] qpn_i,
  input  logic [15:0]     send_cq_i,
  input  logic [15:0]     recv_cq_i,
  input  logic [15:0]     index_i,
  input  logic [7:0]      status_i,
  input  logic [3:0]      win_opcode_i,     // numbers of qp_emit; the case below translates them
  input  logic [31:0]     win_length_i,
  input  logic [31:0]     byte_len_i,
  input  logic            solicited_i,
  input  logic            has_inv_i,        // its Send invalidated the STag in imm
  input  logic            has_imm_i,        // the receive took Immediate Data: imm
  input  logic [63:0]     imm_i,
  output logic [2:0]      count_o,          // completions in the FIFO
  // to cq
  output logic            cqe_req_valid_o,
  input  logic            cqe_req_ready_i,
  output iwarp_pkg::cqe_req_t cqe_req_o,
  output logic            cqe_given_o       // a completion was put; it follows on cqe_req
);
  logic                put, is_recv, unused_bits;
  iwarp_pkg::cqe_req_t cqe_in;
  iwarp_pkg::cqe_t     entry;
  iwarp_pkg::rx_done_t bits;   // turns plain bits into the enum `status`, a member of this struct

  // In rx_done_t the 8 bits of status lie above the 64 bits of immediate: 72.
  assign bits        = {{(iwarp_pkg::RxDoneWidth - 72){1'b0}}, status_i, 64'd0};
  assign unused_bits = ^{bits.qpn, bits.kind, bits.slot, bits.index, bits.byte_len,
                         bits.solicited, bits.immediate};
  assign is_recv     = put_recv_i || put_flush_rq_i;
  assign put         = put_own_i || put_flush_sq_i || is_recv;

  always_comb begin
    entry           = '0;
    entry.qpn       = 24'(qpn_i);
    entry.status    = bits.status;
    entry.index     = index_i;
    entry.is_recv   = is_recv;
    entry.solicited = put_recv_i && solicited_i;
    entry.opcode    = iwarp_pkg::WcoSend;
    if (is_recv) begin
      entry.opcode = put_recv_i && has_imm_i ? iwarp_pkg::WcoRecvRdmaWithImm : iwarp_pkg::WcoRecv;
    end else if (put_own_i) begin
      case (win_opcode_i)
        4'd1:    entry.opcode = iwarp_pkg::WcoRdmaWrite;
        4'd2:    entry.opcode = iwarp_pkg::WcoRdmaRead;
        4'd3:    entry.opcode = iwarp_pkg::WcoFlush;
        4'd4:    entry.opcode = iwarp_pkg::WcoFetchAdd;
        4'd5:    entry.opcode = iwarp_pkg::WcoCompSwap;
        4'd6:    entry.opcode = iwarp_pkg::WcoAtomicWrite;
        4'd7:    entry.opcode = iwarp_pkg::WcoLocalInv;
        4'd8:    entry.opcode = iwarp_pkg::WcoRegMr;
        4'd9:    entry.opcode = iwarp_pkg::WcoBindMw;
        default: entry.opcode = iwarp_pkg::WcoSend;
      endcase
    end
    entry.with_inv = put_recv_i && has_inv_i;
    if (put_recv_i && (has_imm_i || has_inv_i)) entry.immediate = imm_i;
    if (put_recv_i)     entry.byte_len = byte_len_i;
    else if (put_own_i) entry.byte_len = win_length_i;
  end
  assign cqe_in.cqn   = is_recv ? recv_cq_i : send_cq_i;
  assign cqe_in.entry = entry;

  logic room;
  stream_fifo #(.Width(iwarp_pkg::CqeReqWidth), .Depth(4), .Reserved(1'b1)) u_cqe (
    .clk_i, .rst_ni, .valid_i(put), .ready_o(room), .data_i(cqe_in),
    .valid_o(cqe_req_valid_o), .ready_i(cqe_req_ready_i), .data_o(cqe_req_o), .count_o
  );

  // Registered like qp_state's response to a command, which follows the last completion of that
  // command.
  logic given_q;
  assign cqe_given_o = given_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) given_q <= 1'b0;
    else         given_q <= put;
  end

  `RNIC_ASSERT(CqeHasRoom_A, !put || room)
  `RNIC_STREAM_STABLE(CqeStable_A, cqe_req_valid_o, cqe_req_ready_i, cqe_req_o)
endmodule

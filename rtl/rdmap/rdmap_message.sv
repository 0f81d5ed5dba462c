// rdmap_message: turns a send WQE into a message. RFC 5040 section 5.
//
//   Write                 tagged, to the peer's STag and TO; payload as the WQE says
//   Send                  QN 0, with or without Solicited Event; payload as the WQE says; with the
//                         STag of the peer to be invalidated, or 0
//   Read Request          QN 1, own 28 bytes: sink (the WQE's SGE), size, the peer's source
//   Flush Request         QN 1, own 20 bytes: the peer's STag, length, TO, flags
//   Atomic Request        QN 1, own 52 bytes: the Request Identifier is the message's MSN
//                         (RFC 7306 5.2)
//   Atomic Write Request  QN 1, own 24 bytes: the peer's STag, length 8, TO, the value
//   Immediate Data        QN 0, with or without Solicited Event; 8 inline bytes of the WQE
//   no message            local_o: a local invalidation, registration or bind. Its STag is in the
//                         header; data_o has {is_reg, is_bind, PD, base, operands} or zeros
//
// "own": this leaf makes the body, in data_o. The lengths 28, 20, 52, 24 are those of the headers
// in iwarp.yaml (read_request, flush_request, atomic_request, atomic_write_request).
//
// Combinational.
// Siblings: rdmap_core (holds the WQE), rdmap_tx (sends the message).
// Bench: tb/rdmap/rdmap_test.cpp
`include "rnic_words.svh"

module rdmap_message #(
  localparam int unsigned OwnW = `RNIC_RDMAP_OWN_W
) (
  input  iwarp_pkg::wqe_hdr_t wqe_i,
  input  logic [OwnW-1:0] own_i,         // of a request: RNIC_RDMAP_OWN_T
  input  logic [31:0] msn_i,             // of a request
  input  logic [15:0] qpn_i,
  input  logic [15:0] pd_i,
  output logic local_o,                  // no message: a request to our own table, of hdr_o.stag
  output logic own_o,                    // the body is data_o, not the WQE's body
  output iwarp_pkg::tx_message_hdr_t hdr_o,
  output logic [415:0] data_o            // byte 0 in [7:0]
);
  typedef `RNIC_RDMAP_OWN_T own_t;
  own_t         own;
  logic [415:0] request;
  logic [31:0]  bytes;
  logic         is_add, is_reg, is_bind, opens_key;
  iwarp_pkg::rdmap_opcode_e opcode;
  logic [31:0]  flags;   // the wire's bits are the verbs' bits in reverse order (A-06)
  assign own      = own_i;
  assign is_reg    = wqe_i.opcode == iwarp_pkg::WrRegMr;
  assign is_bind   = wqe_i.opcode == iwarp_pkg::WrBindMw;
  assign opens_key = is_reg || is_bind;
  assign is_add   = wqe_i.opcode == iwarp_pkg::WrAtomicFetchAndAdd;
  assign flags    = (wqe_i.disposition[0] ? rnic_pkg::FlushVisible : '0) |
                    (wqe_i.disposition[1] ? rnic_pkg::FlushPersistent : '0);
  always_comb begin
    own_o   = 1'b1;
    opcode  = iwarp_pkg::OpReadRequest;
    bytes   = 32'd28;
    request = {own.stag, own.to, wqe_i.length, wqe_i.remote_stag, wqe_i.remote_to, 192'h0};
    case (wqe_i.opcode)
      iwarp_pkg::WrRdmaRead, iwarp_pkg::WrLocalInv, iwarp_pkg::WrRegMr, iwarp_pkg::WrBindMw: ;
      iwarp_pkg::WrFlush: begin
        opcode  = iwarp_pkg::OpFlushRequest;
        bytes   = 32'd20;
        request = {wqe_i.remote_stag, wqe_i.length, wqe_i.remote_to, flags, 256'h0};
      end
      iwarp_pkg::WrAtomicWrite: begin
        opcode  = iwarp_pkg::OpAtomicWriteRequest;
        bytes   = 32'd24;
        request = {wqe_i.remote_stag, 32'd8, wqe_i.remote_to, own.data, 224'h0};
      end
      iwarp_pkg::WrAtomicFetchAndAdd, iwarp_pkg::WrAtomicCmpAndSwp: begin
        opcode  = iwarp_pkg::OpAtomicRequest;
        bytes   = 32'd52;
        request = {28'h0, is_add ? rnic_pkg::AtomicFetchAdd : rnic_pkg::AtomicCmpSwap, msn_i,
                   wqe_i.remote_stag, wqe_i.remote_to, own.data, own.mask,
                   is_add ? 64'h0 : own.compare, is_add ? '1 : own.compare_mask};
      end
      default: own_o = 1'b0;
    endcase
  end

  assign local_o = wqe_i.opcode == iwarp_pkg::WrLocalInv || opens_key;
  always_comb begin
    hdr_o           = '0;
    hdr_o.qpn       = qpn_i;
    hdr_o.source    = iwarp_pkg::TxSq;
    hdr_o.slot      = wqe_i.slot;
    hdr_o.done      = 1'b1;
    hdr_o.length    = wqe_i.length;
    hdr_o.is_inline = wqe_i.is_inline;
    hdr_o.num_sge   = wqe_i.num_sge;
    case (wqe_i.opcode)
      iwarp_pkg::WrRdmaRead, iwarp_pkg::WrFlush, iwarp_pkg::WrAtomicWrite,
      iwarp_pkg::WrAtomicFetchAndAdd, iwarp_pkg::WrAtomicCmpAndSwp: begin
        hdr_o.opcode    = opcode;
        hdr_o.qn        = 2'd1;
        hdr_o.length    = bytes;
        hdr_o.is_inline = 1'b1;
        hdr_o.num_sge   = 4'd0;
        hdr_o.done      = 1'b0;
      end
      iwarp_pkg::WrSend:
        hdr_o.opcode = wqe_i.is_solicited ? iwarp_pkg::OpSendSe : iwarp_pkg::OpSend;
      iwarp_pkg::WrLocalInv, iwarp_pkg::WrRegMr, iwarp_pkg::WrBindMw:
        hdr_o.stag = wqe_i.remote_stag;
      iwarp_pkg::WrSendWithInv: begin
        hdr_o.opcode = wqe_i.is_solicited ? iwarp_pkg::OpSendSeInv : iwarp_pkg::OpSendInv;
        hdr_o.stag   = wqe_i.remote_stag;
      end
      iwarp_pkg::WrRdmaWriteWithImm, iwarp_pkg::WrImmediate:
        hdr_o.opcode = wqe_i.is_solicited ? iwarp_pkg::OpImmediateSe : iwarp_pkg::OpImmediate;
      default: begin
        hdr_o.opcode        = iwarp_pkg::OpRdmaWrite;
        hdr_o.is_tagged     = 1'b1;
        hdr_o.stag          = wqe_i.remote_stag;
        hdr_o.tagged_offset = wqe_i.remote_to;
      end
    endcase
    for (int i = 0; i < 52; i++) data_o[8 * i +: 8] = request[415 - 8 * i -: 8];
    // 416 bits: 78 unused, 2 flags, PD 16, base 64, operands 256
    if (local_o)
      data_o = {78'h0, is_reg, is_bind,
                opens_key ? {pd_i, wqe_i.remote_to, own.compare_mask, own.compare, own.mask,
                             own.data}
                          : 336'h0};
  end

  logic unused_bits;
  assign unused_bits = ^{wqe_i.qpn};
endmodule

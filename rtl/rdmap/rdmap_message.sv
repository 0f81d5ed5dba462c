// rdmap_message: the message that a send WQE becomes. RFC 5040 section 5.
//
//   Write         tagged, to the peer's STag and TO; payload as the WQE says
//   Send          QN 0, with or without Solicited Event; likewise
//   Read Request  QN 1, 28 bytes of our own: sink (the WQE's SGE), size, the peer's source
//   Flush Request QN 1, 20 bytes of our own: the peer's STag, length, TO, flags
//
// Combinational. Siblings: rdmap_core (holds the WQE), rdmap_tx (sends the message). Bench:
// tb/rdmap/rdmap_test.cpp
module rdmap_message (
  input  iwarp_pkg::wqe_hdr_t wqe_i,
  input  logic [95:0] sge_i,             // of a Read: {STag, TO} of its first one
  input  logic [15:0] qpn_i,
  output logic own_o,                    // the body is data_o, not the WQE's
  output iwarp_pkg::tx_message_hdr_t hdr_o,
  output logic [223:0] data_o            // byte 0 in [7:0]
);
  logic [223:0] request;
  logic         is_flush;
  logic [31:0]  flags;                   // the wire's bits are not verbs': the other way round (A-06)
  assign is_flush = wqe_i.opcode == iwarp_pkg::WrFlush;
  assign flags    = (wqe_i.disposition[0] ? rnic_pkg::FlushVisible : '0) |
                    (wqe_i.disposition[1] ? rnic_pkg::FlushPersistent : '0);
  assign request  = is_flush ? {wqe_i.remote_stag, wqe_i.length, wqe_i.remote_to, flags, 64'h0}
                             : {sge_i, wqe_i.length, wqe_i.remote_stag, wqe_i.remote_to};
  assign own_o    = wqe_i.opcode == iwarp_pkg::WrRdmaRead || is_flush;

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
      iwarp_pkg::WrRdmaRead, iwarp_pkg::WrFlush: begin
        hdr_o.opcode    = is_flush ? iwarp_pkg::OpFlushRequest : iwarp_pkg::OpReadRequest;
        hdr_o.qn        = 2'd1;
        hdr_o.length    = is_flush ? 32'd20 : 32'd28;
        hdr_o.is_inline = 1'b1;
        hdr_o.num_sge   = 4'd0;
        hdr_o.done      = 1'b0;
      end
      iwarp_pkg::WrSend:
        hdr_o.opcode = wqe_i.is_solicited ? iwarp_pkg::OpSendSe : iwarp_pkg::OpSend;
      default: begin
        hdr_o.opcode        = iwarp_pkg::OpRdmaWrite;
        hdr_o.is_tagged     = 1'b1;
        hdr_o.stag          = wqe_i.remote_stag;
        hdr_o.tagged_offset = wqe_i.remote_to;
      end
    endcase
    for (int i = 0; i < 28; i++) data_o[8 * i +: 8] = request[223 - 8 * i -: 8];
  end

  logic unused_bits;
  assign unused_bits = ^{wqe_i.qpn};
endmodule

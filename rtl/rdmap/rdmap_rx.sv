// rdmap_rx: reads a received segment and says what it is. RFC 5040 sections 4, 5, 7.2; requirements.md sections 3, 4, 7.
//
// Combinational. Checks in order: version, opcode with T and QN, fixed length; the state of the QP (IRD, ORD) is judged in
// rdmap_segment. Opcodes take four bits: both reserved bits are ignored on receive (ambiguities.md A-02).
// Siblings: rdmap_segment. Bench: tb/rdmap/rdmap_test.cpp
module rdmap_rx (
  input  logic [511:0] head_i,          // first 64 bytes as they came, byte 0 in [7:0]
  input  logic [15:0]  ulpdu_length_i,
  output logic         is_tagged_o,
  output logic         is_last_o,
  output logic [15:0]  payload_o,       // bytes behind the DDP header
  output logic         is_write_o,
  output logic         is_read_response_o,
  output logic         is_send_o,
  output logic         is_solicited_o,
  output logic         is_read_request_o,
  output logic         is_terminate_o,
  output iwarp_pkg::cause_e cause_o,    // CauseNone, or the first check that failed
  output iwarp_pkg::ddp_tagged_t ddp_o,
  output logic [511:0] net_o            // head with byte 0 in the top bits
);
  iwarp_pkg::ddp_untagged_t untagged;

  always_comb begin
    for (int i = 0; i < 64; i++) net_o[511 - 8 * i -: 8] = head_i[8 * i +: 8];
  end
  assign ddp_o    = net_o[511 -: iwarp_pkg::DdpTaggedWidth];
  assign untagged    = net_o[511 -: iwarp_pkg::DdpUntaggedWidth];
  assign is_tagged_o = ddp_o.is_tagged;
  assign is_last_o   = ddp_o.is_last;
  assign payload_o   = ulpdu_length_i - (is_tagged_o ? 16'd14 : 16'd18);

  logic [3:0] op;
  logic       known;
  assign op                 = net_o[511 - 12 -: 4];
  assign is_write_o         = is_tagged_o && op == 4'h0;
  assign is_read_response_o = is_tagged_o && op == 4'h2;
  assign is_send_o          = !is_tagged_o && (op == 4'h3 || op == 4'h5) && untagged.qn == rnic_pkg::QnSend;
  assign is_solicited_o     = op == 4'h5;
  assign is_read_request_o  = !is_tagged_o && op == 4'h1 && untagged.qn == rnic_pkg::QnRequest;
  assign is_terminate_o     = !is_tagged_o && op == 4'h7 && untagged.qn == rnic_pkg::QnTerminate;
  assign known              = is_write_o || is_read_response_o || is_send_o || is_read_request_o || is_terminate_o;

  always_comb begin
    cause_o = iwarp_pkg::CauseNone;
    if (ddp_o.rv != rnic_pkg::RvIetf)                              cause_o = iwarp_pkg::CauseRdmapVersion;
    else if (!known)                                                  cause_o = iwarp_pkg::CauseRdmapOpcode;
    else if (is_read_request_o && (payload_o != 16'd28 || !is_last_o)) cause_o = iwarp_pkg::CauseRdmapLength;
  end

  logic unused_bits;
  assign unused_bits = ^{untagged, ddp_o};
endmodule

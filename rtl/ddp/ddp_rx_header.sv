// ddp_rx_header: checks the DDP header of each received segment (version, QN, MSN, MO) and decides
// what the segment needs next: a receive WQE, a translation, or nothing.
//
//   rx_ulpdu_hdr --+
//   head ----------+--> [ decoded ] --> [ sequence table ] --> cause, kind --> item: ddp_rx_pieces
//     |            +--> cut (14 or 18): header_take           +--> rq_take_req: qp (a Send begins)
//     +--> first_o, as received: ddp_rx_check
//
// 1. Errors (RFC 5041 sections 4.2, 4.3, 5.2, 7.1): a short header, another version, a QN above 2
//    (QN 3 is valid where the extensions are enabled: it carries their responses), an MSN that is
//    not the next, an MO that is not the next byte.
// 2. A Send that reaches 2^32 bytes, more than an MO can count, fails as too long (item_over).
// 3. The table holds for each QP: running, an error was found here, the next MSN of QN 0 to 3,
//    whether QN 0 has an open message and its MO, the PD, whether the extensions are enabled, and
//    the bytes of the last Write and whether it has ended.
// 4. Immediate Data (opcodes 8 and 9 on QN 0) takes a receive WQE and places nothing: its payload
//    length is 0 from here on. Its total is the length of the QP's last Write since its last
//    message on QN 0, which the table counts.
// 5. The last segment of a Send with Invalidate (opcodes 4 and 6) has its STag checked
//    (item_inval_o), unless rdmap will refuse its version or opcode.
// 6. After a QP's first error that was found here, and while a QP is not running, segments request
//    nothing. They carry the cause local_catastrophic, and rdmap drops them. After an error found
//    elsewhere they still make requests: rdmap refuses them, and qp gives them no receive of an SRQ
//    (qp_rq_fetch).
//
// Latency: 1 cycle.
// Throughput: a segment every 2 cycles (read; then compute and write, so there is no hazard).
// Waits only for room in the queues that follow. It cuts every combinational path except those into
// header_take.
// Siblings: ddp_rx_pieces, ddp_rx_check.
// Bench: tb/ddp/ddp_rx_test.cpp
`include "rnic_assert.svh"

module ddp_rx_header (
  input  logic         clk_i,
  input  logic         rst_ni,
  // from ddp: the table is being cleared
  input  logic         clear_i,
  input  logic [15:0]  clear_addr_i,
  // from ddp_qp: start or stop
  input  logic         ctl_valid_i,
  output logic         ctl_ready_o,
  input  logic         ctl_start_i,
  input  logic [15:0]  ctl_qpn_i,
  input  logic [15:0]  ctl_pd_i,
  input  logic         ctl_persist_i,
  // from mpa
  input  logic                        rx_ulpdu_hdr_valid_i,
  output logic                        rx_ulpdu_hdr_ready_o,
  input  iwarp_pkg::rx_ulpdu_hdr_t    rx_ulpdu_hdr_i,
  // from header_take: the first beat
  input  logic         head_valid_i,
  output logic         head_ready_o,
  input  logic [511:0] head_data_i,
  // to header_take: length of the DDP header, which it removes
  output logic         cut_valid_o,
  input  logic         cut_ready_i,
  output logic [5:0]   cut_bytes_o,
  // to ddp_rx_check: the first beat as received
  output logic         first_valid_o,
  input  logic         first_ready_i,
  output logic [543:0] first_o,          // {qpn, ulpdu_length, head}
  // to qp
  output logic                        rq_take_req_valid_o,
  input  logic                        rq_take_req_ready_i,
  output iwarp_pkg::rq_take_req_t     rq_take_req_o,
  // to ddp_rx_pieces
  output logic         item_valid_o,
  input  logic         item_ready_i,
  output logic [15:0]  item_qpn_o,
  output logic [7:0]   item_cause_o,
  output logic         item_tagged_o,    // a tagged segment with payload
  output logic         item_recv_o,      // a segment of a Send
  output logic         item_take_o,      // first segment of a Send: its WQE comes on rq_take_rsp
  output logic         item_last_o,      // the last segment of its message
  output logic [15:0]  item_length_o,    // of the payload
  output logic [31:0]  item_total_o,     // bytes of the message up to the end of this segment; of
                                         // Immediate Data, bytes of the last Write
  output logic         item_inval_o,     // of a Send: item_stag_o is to be invalidated
  output logic         item_over_o,      // of a Send: the total does not fit in 32 bits
  output logic [31:0]  item_stag_o,      // destination if tagged; of a Send, to be invalidated
  output logic [63:0]  item_to_o,
  output logic [15:0]  item_rights_o,    // that a tagged segment needs
  output logic [15:0]  item_pd_o,
  output logic         item_persist_o    // the extensions are enabled
);
  localparam int unsigned QpW = $clog2(rnic_pkg::NumQps);

  // Bytes of the header: the first byte on the wire becomes the top byte.
  function automatic logic [143:0] to_network(input logic [143:0] lanes);
    for (int unsigned i = 0; i < 18; i++) to_network[8*(17-i) +: 8] = lanes[8*i +: 8];
  endfunction

  // Fields of the first 14 or 18 bytes.
  logic [143:0]             raw;
  iwarp_pkg::ddp_tagged_t   tagged_hdr;
  iwarp_pkg::ddp_untagged_t untagged;
  logic                     is_tagged, is_short;
  logic [15:0]              header_bytes;

  assign raw          = to_network(head_data_i[143:0]);
  assign tagged_hdr       = raw[143:32];
  assign untagged     = raw;
  // The bytes of an empty ULPDU are undefined: it counts as untagged, and as short.
  assign is_tagged    = tagged_hdr.is_tagged && rx_ulpdu_hdr_i.length != '0;
  assign header_bytes = is_tagged ? 16'(rnic_pkg::TaggedHeaderBytes)
                                  : 16'(rnic_pkg::UntaggedHeaderBytes);
  assign is_short     = rx_ulpdu_hdr_i.length < header_bytes;

  // First cycle: accept, and read the table.
  typedef struct packed {
    logic        running;
    logic        failed;
    logic        open;
    logic [31:0] mo;
    logic [31:0] msn0;
    logic [31:0] msn1;
    logic [31:0] msn2;
    logic [31:0] msn3;
    logic [15:0] pd;
    logic        persist;
    logic        written;    // the last Write has ended
    logic [31:0] write_len;  // its bytes
  } state_t;

  state_t      state, state_d;
  logic        busy_q, take_in, finish, ctl_fire;
  logic [15:0] qpn_q, length_q;
  logic [7:0]  mpa_cause_q;
  logic        tagged_q, short_q, version_q, rdmap_version_q, last_q;
  logic [3:0]  opcode_q;    // the reserved bits beside it are ignored (RFC 5040 section 4.1)
  logic        opcode4_q;   // the fifth bit, where the extensions are enabled
  logic [31:0] stag_q, qn_q, msn_q, mo_q;
  logic [63:0] to_q;

  assign ctl_ready_o = !busy_q && !clear_i;
  assign ctl_fire    = ctl_valid_i && ctl_ready_o;
  assign take_in     = rx_ulpdu_hdr_valid_i && head_valid_i && cut_ready_i && first_ready_i &&
                       !busy_q && !ctl_valid_i && !clear_i;

  assign rx_ulpdu_hdr_ready_o = take_in;
  assign head_ready_o         = take_in;
  assign cut_valid_o          = take_in;
  assign cut_bytes_o          = header_bytes[5:0];
  assign first_valid_o        = take_in;
  assign first_o              = {rx_ulpdu_hdr_i.qpn, rx_ulpdu_hdr_i.length, head_data_i};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) busy_q <= 1'b0;
    else         busy_q <= take_in || (busy_q && !finish);
  end

  always_ff @(posedge clk_i) begin
    if (take_in) begin
      qpn_q       <= rx_ulpdu_hdr_i.qpn;
      mpa_cause_q <= rx_ulpdu_hdr_i.cause;
      length_q    <= is_short ? '0 : rx_ulpdu_hdr_i.length - header_bytes;
      tagged_q    <= is_tagged;
      short_q     <= is_short;
      version_q   <= tagged_hdr.dv == rnic_pkg::DvIetf;
      rdmap_version_q <= tagged_hdr.rv == rnic_pkg::RvIetf;
      last_q      <= tagged_hdr.is_last;
      {opcode4_q, opcode_q} <= tagged_hdr.opcode;
      stag_q      <= tagged_hdr.stag;
      to_q        <= tagged_hdr.tagged_offset;
      qn_q        <= untagged.qn;
      msn_q       <= untagged.msn;
      mo_q        <= untagged.mo;
    end
  end

  // Second cycle: check, and write the table.
  logic [7:0]  cause;
  logic [31:0] msn_next, mo_next;
  logic [32:0] total;
  logic        send, is_immediate, is_inv;

  always_comb begin
    case (qn_q[1:0])
      2'd0:    msn_next = state.msn0;
      2'd1:    msn_next = state.msn1;
      2'd2:    msn_next = state.msn2;
      default: msn_next = state.msn3;
    endcase
  end

  // Only a Send may have later segments. A message of another QN is one segment, so its MO is 0.
  assign mo_next = qn_q == rnic_pkg::QnSend && state.open ? state.mo : '0;
  assign total   = {1'b0, mo_q} + 33'(length_q);

  always_comb begin
    cause = iwarp_pkg::CauseNone;
    if (!state.running || state.failed)              cause = iwarp_pkg::CauseLocalCatastrophic;
    else if (mpa_cause_q != iwarp_pkg::CauseNone)    cause = mpa_cause_q;
    else if (tagged_q) begin
      if (short_q || !version_q)                     cause = iwarp_pkg::CauseDdpTaggedVersion;
    end else if (short_q || !version_q)              cause = iwarp_pkg::CauseDdpUntaggedVersion;
    else if (qn_q > rnic_pkg::QnResponse || (qn_q == rnic_pkg::QnResponse && !state.persist))
                                                     cause = iwarp_pkg::CauseDdpUntaggedQn;
    else if (msn_q != msn_next)                      cause = iwarp_pkg::CauseDdpUntaggedMsn;
    else if (mo_q != mo_next)                        cause = iwarp_pkg::CauseDdpUntaggedMo;
  end

  assign send         = cause == iwarp_pkg::CauseNone && !tagged_q && qn_q == rnic_pkg::QnSend;
  assign is_immediate = {1'b0, opcode_q} == iwarp_pkg::OpImmediate ||
                        {1'b0, opcode_q} == iwarp_pkg::OpImmediateSe;
  assign is_inv       = ({1'b0, opcode_q} == iwarp_pkg::OpSendInv ||
                         {1'b0, opcode_q} == iwarp_pkg::OpSendSeInv) &&
                        !(opcode4_q && state.persist) && rdmap_version_q;

  always_comb begin
    state_d = state;
    if (cause != iwarp_pkg::CauseNone) begin
      state_d.failed = 1'b1;
    end else if (!tagged_q) begin
      if (send) begin
        state_d.open      = !last_q;
        state_d.mo        = total[31:0];
        state_d.written   = 1'b1;
        state_d.write_len = '0;
        if (total[32]) state_d.failed = 1'b1;
      end
      case (qn_q[1:0])
        2'd0:    state_d.msn0 = state.msn0 + 32'(last_q);
        2'd1:    state_d.msn1 = state.msn1 + 32'(last_q);
        2'd2:    state_d.msn2 = state.msn2 + 32'(last_q);
        default: state_d.msn3 = state.msn3 + 32'(last_q);
      endcase
    end else if ({1'b0, opcode_q} == iwarp_pkg::OpRdmaWrite) begin
      state_d.written   = last_q;
      state_d.write_len = (state.written ? '0 : state.write_len) + 32'(length_q);
    end
  end

  assign item_take_o = send && !state.open;
  assign finish      = busy_q && item_ready_i && (!item_take_o || rq_take_req_ready_i);

  assign rq_take_req_valid_o = busy_q && item_take_o && item_ready_i;
  assign rq_take_req_o       = qpn_q;

  assign item_valid_o  = busy_q && (!item_take_o || rq_take_req_ready_i);
  assign item_qpn_o    = qpn_q;
  assign item_cause_o  = cause;
  assign item_tagged_o = cause == iwarp_pkg::CauseNone && tagged_q && length_q != '0;
  assign item_recv_o   = send;
  assign item_last_o   = last_q;
  assign item_length_o = send && is_immediate ? '0 : length_q;
  assign item_total_o  = send && is_immediate ? state.write_len : total[31:0];
  assign item_inval_o  = send && last_q && is_inv;
  assign item_over_o   = send && total[32];
  assign item_stag_o   = stag_q;
  assign item_to_o     = to_q;
  assign item_rights_o = {1'b0, opcode_q} == iwarp_pkg::OpReadResponse ? rnic_pkg::AccessLocalWrite
                                                               : rnic_pkg::AccessRemoteWrite;
  assign item_pd_o     = state.pd;
  assign item_persist_o = state.persist;

  // The table.
  state_t           ctl_state, wdata;
  logic             we;
  logic [QpW-1:0]   waddr;
  logic [$bits(state)-1:0] rdata;

  // A start: running, no error, no open message, MO 0, the next MSN of each QN is 1, and the last
  // Write has ended with 0 bytes.
  assign ctl_state = {ctl_start_i, 1'b0, 1'b0, 32'd0, 32'd1, 32'd1, 32'd1, 32'd1,
                      ctl_pd_i, ctl_persist_i, 1'b1, 32'd0};
  assign we        = clear_i || ctl_fire || finish;
  assign waddr     = clear_i  ? clear_addr_i[QpW-1:0]
                   : ctl_fire ? ctl_qpn_i[QpW-1:0] : qpn_q[QpW-1:0];

  always_comb begin
    wdata = state_d;
    if (ctl_fire) wdata = ctl_state;
    if (clear_i)  wdata = '0;
  end

  ram_1r1w #(.Width($bits(state)), .Depth(rnic_pkg::NumQps)) u_table (
    .clk_i, .rst_ni,
    .we_i(we), .waddr_i(waddr), .wdata_i(wdata),
    .re_i(take_in), .raddr_i(rx_ulpdu_hdr_i.qpn[QpW-1:0]), .rdata_o(rdata)
  );

  assign state = rdata;

  logic unused_bits;
  assign unused_bits = ^{tagged_hdr.reserved0, tagged_hdr.reserved1,
                         untagged.is_tagged, untagged.is_last, untagged.reserved0,
                         untagged.dv, untagged.rv, untagged.reserved1, untagged.opcode,
                         untagged.invalidate_stag, header_bytes[15:6], clear_addr_i, ctl_qpn_i};

  `RNIC_ASSERT(QpnInRange_A, !take_in || 32'(rx_ulpdu_hdr_i.qpn) < rnic_pkg::NumQps)
  `RNIC_ASSERT(OneKind_A, !(item_valid_o && item_tagged_o && item_recv_o))
endmodule

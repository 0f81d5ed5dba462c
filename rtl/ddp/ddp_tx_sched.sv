// ddp_tx_sched: chooses which message of a QP sends its next segment, and the segment's length. One
// table, one event at a time.
//
//   fault  (ddp_tx_header) --+
//   ctl    (ddp_qp) ---------+--> E0 read --> E1 pick source --> E2 cut, write --+--> segment
//   arrive (ddp_tx_slot) ----+                                                   +--> tx_want
//   grant  (llp_if) ---------+                            segment: ddp_tx_segment; tx_want: llp_if
//
// 1. Order: a Terminate first; inside a message its next segment; else send queue and responder
//    alternate if both have a message.
// 2. Segment length = min(rest, mulpdu - header). A message keeps the mulpdu of its first segment.
// 3. RFC 5041 section 5.2: the MSN counts the messages of a QN from 1; the MO is the offset.
// 4. After a Terminate message or a fault, the QP drops every other message until start.
// 5. A QP with a message to send and no outstanding want sends tx_want. A Terminate message sends
//    its own want.
// 6. The table has no hazard: an event waits while an earlier event of its QP is inside (3 cycles).
//
// Latency: 3 cycles from grant to the next want.
// Throughput: 1 event per cycle over different QPs.
// Waits: grants wait while SegDepth segments are between here and tx_ulpdu. Every event waits for
// room for its want, so llp_if must take wants whatever it does with grants.
// Siblings: ddp_tx_slot, ddp_tx_segment.
// Bench: tb/ddp/ddp_tx_test.cpp
`include "rnic_assert.svh"

module ddp_tx_sched (
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
  output logic         ctl_done_o,       // E2 writes the order to the table
  // from ddp_tx_slot: a message is stored. qn: of an untagged one. length: of all its bytes
  input  logic         arrive_valid_i,
  output logic         arrive_ready_o,
  input  logic [15:0]  arrive_qpn_i,
  input  logic [1:0]   arrive_source_i,
  input  logic         arrive_tagged_i,
  input  logic [1:0]   arrive_qn_i,
  input  logic [31:0]  arrive_length_i,
  // from llp_if
  input  logic                    tx_grant_valid_i,
  output logic                    tx_grant_ready_o,
  input  iwarp_pkg::tx_grant_t    tx_grant_i,
  // to llp_if
  output logic                    tx_want_valid_o,
  input  logic                    tx_want_ready_i,
  output iwarp_pkg::tx_want_t     tx_want_o,
  // from ddp_tx_header: payload of this QP came back bad
  input  logic         fault_valid_i,
  output logic         fault_ready_o,
  input  logic [15:0]  fault_qpn_i,
  // to ddp_tx_segment, which always has room
  output logic         seg_valid_o,
  output logic [15:0]  seg_qpn_o,
  output logic [1:0]   seg_source_o,
  output logic [2:0]   seg_index_o,      // the QP's SQ slot, 0 to SqSlots-1
  output logic         seg_first_o,
  output logic         seg_last_o,
  output logic [15:0]  seg_length_o,
  output logic [31:0]  seg_offset_o,     // bytes of the message in earlier segments
  output logic [31:0]  seg_msn_o,
  output logic [15:0]  seg_pd_o,
  // from ddp_tx_header: the mover has finished a segment
  input  logic         gone_i
);
  localparam int unsigned QpW       = $clog2(rnic_pkg::NumQps);
  localparam int unsigned InfoW     = 35;   // of a waiting SQ message: {tagged 1, qn 2, length 32}
  localparam int unsigned WantDepth = 8;
  localparam int unsigned InsideW   = $clog2(rnic_pkg::SegDepth + 1);
  localparam int unsigned SqSlots   = rnic_pkg::SqSlots;

  localparam logic [1:0] EvGrant = 2'd0, EvArrive = 2'd1, EvFault = 2'd2, EvCtl = 2'd3;

  typedef struct packed {
    logic        running;
    logic        dropping;     // only a Terminate message is sent
    logic        wanted;       // a want is outstanding
    logic        in_msg;       // a message is begun and not finished
    logic        last_resp;    // the source of the current or the last message is the responder
    logic [3:0]  sq_count;     // SQ messages that wait, the current one included
    logic [2:0]  sq_head;      // slot of the oldest SQ message
    logic        resp;         // a response waits or is being sent
    logic        term;         // a Terminate message waits
    logic [31:0] rest;         // bytes of the current message that are not scheduled yet
    logic [31:0] offset;       // bytes of the current message in earlier segments
    logic [15:0] mulpdu;
    logic [31:0] msn0;
    logic [31:0] msn1;
    logic [31:0] msn3;
    logic [15:0] pd;
    logic        resp_tagged;  // a Read Response; else a response on QN 3
    logic [31:0] resp_length;
    logic [6:0]  term_length;
    logic [SqSlots*InfoW-1:0] sq_info;
  } state_t;

  // E0: choose an event whose QP is not inside, and read the table.
  logic        one_valid_q, two_valid_q, room, can_fault, can_ctl, can_arrive, can_grant, turn_q,
               go;
  logic [1:0]  kind, one_kind_q, two_kind_q;
  logic [15:0] qpn, one_qpn_q, two_qpn_q;
  logic [InsideW-1:0] inside_q;   // grants taken whose segment the mover has not finished (gone_i)
  logic [$clog2(WantDepth+1)-1:0] wants;   // wants in u_wants

  // busy_*: an earlier event of its QP is in E1 or E2.
  logic busy_fault, busy_ctl, busy_arrive, busy_grant;
  assign busy_fault  = (one_valid_q && one_qpn_q == fault_qpn_i) ||
                       (two_valid_q && two_qpn_q == fault_qpn_i);
  assign busy_ctl    = (one_valid_q && one_qpn_q == ctl_qpn_i) ||
                       (two_valid_q && two_qpn_q == ctl_qpn_i);
  assign busy_arrive = (one_valid_q && one_qpn_q == arrive_qpn_i) ||
                       (two_valid_q && two_qpn_q == arrive_qpn_i);
  assign busy_grant  = (one_valid_q && one_qpn_q == tx_grant_i.qpn) ||
                       (two_valid_q && two_qpn_q == tx_grant_i.qpn);

  // room: for the wants of this event and of those in E1 and E2; one entry is spare.
  assign room       = 32'(wants) <= WantDepth - 4 && !clear_i;
  assign can_fault  = fault_valid_i && !busy_fault && room;
  assign can_ctl    = ctl_valid_i && !busy_ctl && room && !can_fault;
  assign can_grant  = tx_grant_valid_i && !busy_grant && room && !can_fault && !can_ctl &&
                      32'(inside_q) < rnic_pkg::SegDepth;
  assign can_arrive = arrive_valid_i && !busy_arrive && room && !can_fault && !can_ctl;

  // A grant and an arrival alternate (turn_q: a grant came last).
  logic take_grant, take_arrive;
  assign take_grant  = can_grant && (!can_arrive || !turn_q);
  assign take_arrive = can_arrive && !take_grant;
  assign go          = can_fault || can_ctl || take_grant || take_arrive;

  assign fault_ready_o    = can_fault;
  assign ctl_ready_o      = can_ctl;
  assign tx_grant_ready_o = take_grant;
  assign arrive_ready_o   = take_arrive;

  always_comb begin
    kind = EvArrive;
    qpn  = arrive_qpn_i;
    if (take_grant) begin
      kind = EvGrant;
      qpn  = tx_grant_i.qpn;
    end
    if (can_ctl) begin
      kind = EvCtl;
      qpn  = ctl_qpn_i;
    end
    if (can_fault) begin
      kind = EvFault;
      qpn  = fault_qpn_i;
    end
  end

  // E1: the event's arguments, and the table's word.
  logic        one_term_q, one_start_q, one_tagged_q;
  logic [15:0] one_mulpdu_q;   // of a grant; of an order of ddp_qp, the PD
  logic [1:0]  one_source_q, one_qn_q;
  logic [31:0] one_length_q;
  state_t      one;
  logic [$bits(one)-1:0] rdata;
  assign one = rdata;

  always_ff @(posedge clk_i) begin
    if (go) begin
      one_kind_q   <= kind;
      one_qpn_q    <= qpn;
      one_term_q   <= tx_grant_i.is_term;
      one_mulpdu_q <= can_ctl ? ctl_pd_i : tx_grant_i.mulpdu;
      one_start_q  <= ctl_start_i;
      one_tagged_q <= arrive_tagged_i;
      one_source_q <= arrive_source_i;
      one_qn_q     <= arrive_qn_i;
      one_length_q <= arrive_length_i;
    end
  end

  // pick_*: the message of which a grant sends a segment (invariant 1). can_send: a message that is
  // no Terminate exists. pick_resp: it is the responder's.
  logic             pick_resp, can_send;
  logic [InfoW-1:0] pick_info;
  logic             pick_tagged;
  logic [1:0]       pick_qn;
  logic [31:0]      pick_length;
  logic [15:0]      pick_mulpdu;

  assign can_send    = one.running && !one.dropping &&
                       (one.in_msg || one.sq_count != '0 || one.resp);
  assign pick_resp   = one.in_msg ? one.last_resp
                                  : one.resp && (one.sq_count == '0 || !one.last_resp);
  assign pick_mulpdu = one.in_msg ? one.mulpdu : one_mulpdu_q;

  always_comb begin
    pick_info = '0;
    for (int unsigned i = 0; i < SqSlots; i++) begin
      if (one.sq_head == 3'(i)) pick_info = one.sq_info[i*InfoW +: InfoW];
    end
    {pick_tagged, pick_qn, pick_length} = pick_info;
    if (pick_resp)
      {pick_tagged, pick_qn, pick_length} = {one.resp_tagged, 2'(rnic_pkg::QnResponse),
                                             one.resp_length};
    if (one.in_msg)
      pick_length = one.rest;
    if (one.term)
      {pick_tagged, pick_qn, pick_length} = {1'b0, 2'(rnic_pkg::QnTerminate),
                                             32'(one.term_length)};
  end

  // E2: registers. two_cap_q: the most payload that a segment of this message has.
  state_t      two_q, two_d;
  logic        two_term_q, two_start_q, two_tagged_q, two_resp_q, two_send_q;
  logic [15:0] two_mulpdu_q, two_cap_q;
  logic [1:0]  two_source_q, two_qn_q;
  logic [31:0] two_length_q;

  always_ff @(posedge clk_i) begin
    two_q        <= one;
    two_kind_q   <= one_kind_q;
    two_qpn_q    <= one_qpn_q;
    two_term_q   <= one_term_q;
    two_start_q  <= one_start_q;
    two_source_q <= one_source_q;
    two_send_q   <= one_kind_q == EvGrant && (one.term || can_send);
    two_resp_q   <= pick_resp;
    two_cap_q    <= pick_mulpdu - (pick_tagged ? 16'(rnic_pkg::TaggedHeaderBytes)
                                               : 16'(rnic_pkg::UntaggedHeaderBytes));
    if (one_kind_q == EvGrant) begin
      two_mulpdu_q <= pick_mulpdu;
      two_tagged_q <= pick_tagged;
      two_qn_q     <= pick_qn;
      two_length_q <= pick_length;
    end else begin
      two_mulpdu_q <= one_mulpdu_q;
      two_tagged_q <= one_tagged_q;
      two_qn_q     <= one_qn_q;
      two_length_q <= one_length_q;
    end
  end

  // E2: the cut and the next state.
  logic        last, want, want_term;
  logic [31:0] offset;
  logic [3:0]  tail;
  logic [2:0]  sq_next;

  assign last    = two_q.term || two_length_q <= 32'(two_cap_q);
  assign offset  = two_q.in_msg && !two_q.term ? two_q.offset : '0;
  assign tail    = 4'(two_q.sq_head) + two_q.sq_count;
  assign sq_next = two_q.sq_head == 3'(SqSlots - 1) ? '0 : two_q.sq_head + 3'd1;

  always_comb begin
    two_d = two_q;
    case (two_kind_q)
      EvGrant: begin
        if (!two_term_q) two_d.wanted = 1'b0;
        if (two_send_q && two_q.term) begin
          two_d.term = 1'b0;
        end else if (two_send_q) begin
          two_d.in_msg    = !last;
          two_d.last_resp = two_resp_q;
          two_d.rest      = two_length_q - 32'(two_cap_q);
          two_d.offset    = offset + 32'(two_cap_q);
          two_d.mulpdu    = two_mulpdu_q;
          if (last && two_resp_q) two_d.resp = 1'b0;
          if (last && !two_resp_q) begin
            two_d.sq_count = two_q.sq_count - 4'd1;
            two_d.sq_head  = sq_next;
          end
          if (last && !two_tagged_q && two_qn_q == 2'd0) two_d.msn0 = two_q.msn0 + 32'd1;
          if (last && !two_tagged_q && two_qn_q == 2'd1) two_d.msn1 = two_q.msn1 + 32'd1;
          if (last && !two_tagged_q && two_qn_q == 2'd3) two_d.msn3 = two_q.msn3 + 32'd1;
        end
      end
      EvArrive: begin
        if (two_q.running && two_source_q == iwarp_pkg::TxTerm) begin
          two_d.term        = 1'b1;
          two_d.term_length = two_length_q[6:0];
          two_d.dropping    = 1'b1;
          two_d.in_msg      = 1'b0;
          two_d.sq_count    = '0;
          two_d.resp        = 1'b0;
        end else if (two_q.running && !two_q.dropping && two_source_q == iwarp_pkg::TxResp) begin
          two_d.resp        = 1'b1;
          two_d.resp_tagged = two_tagged_q;
          two_d.resp_length = two_length_q;
        end else if (two_q.running && !two_q.dropping) begin
          two_d.sq_count = two_q.sq_count + 4'd1;
          // the entry at tail, modulo SqSlots
          for (int unsigned i = 0; i < SqSlots; i++) begin
            if (tail == 4'(i) || tail == 4'(i + SqSlots)) begin
              two_d.sq_info[i*InfoW +: InfoW] = {two_tagged_q, two_qn_q, two_length_q};
            end
          end
        end
      end
      EvFault: begin
        two_d.dropping = 1'b1;
        two_d.in_msg   = 1'b0;
        two_d.sq_count = '0;
        two_d.resp     = 1'b0;
      end
      default: begin
        two_d         = '0;
        two_d.running = two_start_q;
        two_d.msn0    = 32'd1;
        two_d.msn1    = 32'd1;
        two_d.msn3    = 32'd1;
        two_d.pd      = two_mulpdu_q;
      end
    endcase
    want = two_d.running && !two_d.dropping && !two_d.wanted &&
           (two_d.in_msg || two_d.sq_count != '0 || two_d.resp);
    if (want) two_d.wanted = 1'b1;
  end

  assign want_term  = two_kind_q == EvArrive && two_q.running && two_source_q == iwarp_pkg::TxTerm;
  assign ctl_done_o = two_valid_q && two_kind_q == EvCtl;

  assign seg_valid_o  = two_valid_q && two_send_q;
  assign seg_qpn_o    = two_qpn_q;
  assign seg_source_o = two_q.term ? iwarp_pkg::TxTerm
                      : two_resp_q ? iwarp_pkg::TxResp : iwarp_pkg::TxSq;
  assign seg_index_o  = two_q.sq_head;
  assign seg_first_o  = !two_q.in_msg || two_q.term;
  assign seg_last_o   = last;
  assign seg_length_o = last ? two_length_q[15:0] : two_cap_q;
  assign seg_offset_o = offset;
  // QN 2: the Terminate is the only message, so its MSN is 1.
  assign seg_msn_o    = two_qn_q == 2'd0 ? two_q.msn0 : two_qn_q == 2'd1 ? two_q.msn1 :
                        two_qn_q == 2'd3 ? two_q.msn3 : 32'd1;
  assign seg_pd_o     = two_q.pd;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      one_valid_q <= 1'b0;
      two_valid_q <= 1'b0;
      turn_q      <= 1'b0;
      inside_q    <= '0;
    end else begin
      one_valid_q <= go;
      two_valid_q <= one_valid_q;
      if (take_grant || take_arrive) turn_q <= take_grant;
      inside_q <= inside_q + InsideW'(take_grant) - InsideW'(gone_i) -
                  InsideW'(two_valid_q && two_kind_q == EvGrant && !two_send_q);
    end
  end

  ram_1r1w #(.Width($bits(one)), .Depth(rnic_pkg::NumQps)) u_table (
    .clk_i, .rst_ni,
    .we_i(clear_i || two_valid_q), .waddr_i(clear_i ? clear_addr_i[QpW-1:0] : two_qpn_q[QpW-1:0]),
    .wdata_i(clear_i ? '0 : two_d),
    .re_i(go), .raddr_i(qpn[QpW-1:0]), .rdata_o(rdata)
  );

  logic unused_ready;
  stream_fifo #(.Width(iwarp_pkg::TxWantWidth), .Depth(WantDepth), .Reserved(1'b1)) u_wants (
    .clk_i, .rst_ni,
    .valid_i(two_valid_q && (want || want_term)), .ready_o(unused_ready),
    .data_i({two_qpn_q, want_term}),
    .valid_o(tx_want_valid_o), .ready_i(tx_want_ready_i), .data_o(tx_want_o), .count_o(wants)
  );

  logic unused_bits;
  assign unused_bits = ^{clear_addr_i, qpn};

  logic takes;   // a message of the send queue or a response arrives
  assign takes = two_valid_q && two_kind_q == EvArrive && two_q.running && !two_q.dropping;
  `RNIC_COVER(SeveralMessages_C, takes && two_source_q == iwarp_pkg::TxSq && two_q.sq_count != '0)
  `RNIC_COVER(ResponseBesideMessage_C, takes && two_source_q == iwarp_pkg::TxResp &&
                                       two_q.sq_count != '0)
  `RNIC_COVER(MessageBesideResponse_C, takes && two_source_q == iwarp_pkg::TxSq && two_q.resp)
  `RNIC_COVER(SeveralDropped_C, two_valid_q && two_kind_q == EvFault && two_q.sq_count > 4'd1)
  `RNIC_ASSERT(InsideInRange_A, 32'(inside_q) <= rnic_pkg::SegDepth)
  `RNIC_ASSERT(SlotFree_A, !(two_valid_q && two_kind_q == EvArrive && two_q.running &&
                             !two_q.dropping) ||
                           (two_source_q == iwarp_pkg::TxSq ? 32'(two_q.sq_count) < SqSlots :
                            two_source_q != iwarp_pkg::TxResp || !two_q.resp))
  `RNIC_ASSERT(WantHasRoom_A, !(two_valid_q && (want || want_term)) || unused_ready)
  `RNIC_STREAM_STABLE(WantStable_A, tx_want_valid_o, tx_want_ready_i, tx_want_o)

  // Simulation only: commit trace (architecture 10)
  iwarp_pkg::ddp_segment_commit_t tap_ddp_segment /*verilator public_flat_rd*/;
  assign tap_ddp_segment = {two_valid_q && two_kind_q == EvGrant, two_qpn_q, seg_source_o,
                            !two_send_q};
  iwarp_pkg::ddp_drop_commit_t tap_ddp_drop /*verilator public_flat_rd*/;
  assign tap_ddp_drop = {two_valid_q && (two_kind_q == EvFault || want_term), two_qpn_q,
                         two_kind_q != EvFault};
endmodule

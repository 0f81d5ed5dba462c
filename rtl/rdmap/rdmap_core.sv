// rdmap_core: the table of QPs, the outstanding requests (ORD) and the inbound requests (IRD), and every decision about them.
//
//   pick an operation -> read the QP's word -> decide, write -> (with an ORD or IRD entry: one cycle more)
//
// One operation at a time: 2 cycles, 3 with an entry, and 1 more for each outstanding Read that a peer's Terminate is compared with. So no
// hazard exists between send queue, receive, responder and errors. rdmap_pick chooses it, when all that it may emit has room.
// First error wins: `err` of the word is set once; from then on segments are refused and faults ignored.
// Waits for: verdict FIFO, rdmap_term, rdmap_tx; none of them waits for receive. Inside: rdmap_pick, rdmap_segment,
// rdmap_message. Siblings: rdmap_resp, rdmap_term, rdmap_tx.
`include "rnic_assert.svh"
`include "rnic_words.svh"

module rdmap_core (
  input  logic clk_i,
  input  logic rst_ni,
  output logic ready_o,
  // start, stop
  input  logic ctl_valid_i,
  output logic ctl_ready_o,
  input  iwarp_pkg::qp_ctl_rdmap_t ctl_i,
  output logic ctl_done_o,               // the operation was an order of ctl_qpn_o
  output logic stopped_o,                // and that a start or stop
  output logic [15:0] ctl_qpn_o,
  // faults
  input  logic qp_fault_valid_i,
  output logic qp_fault_ready_o,
  input  iwarp_pkg::qp_fault_t qp_fault_i,
  input  logic tx_fault_valid_i,
  output logic tx_fault_ready_o,
  input  iwarp_pkg::tx_fault_t tx_fault_i,
  input  logic resp_fail_valid_i,
  output logic resp_fail_ready_o,
  input  logic [15:0] resp_qpn_i,
  input  iwarp_pkg::tpt_result_e resp_result_i,
  // receive
  input  logic seg_valid_i,
  output logic seg_ready_o,
  input  iwarp_pkg::rx_segment_t seg_i,
  output logic verdict_valid_o,
  input  logic verdict_ready_i,
  output iwarp_pkg::rx_verdict_t verdict_o,
  // responder
  output logic work_valid_o,
  output logic [15:0] work_o,
  input  logic head_valid_i,
  output logic head_ready_o,
  output logic head_valid_o,
  output logic head_ok_o,
  output logic [15:0] head_pd_o,
  output logic [399:0] head_o,
  output logic [7:0] head_slot_o,        // its place in the QP's ring; comes back in tx_fault
  input  logic free_valid_i,
  output logic free_ready_o,
  input  logic [15:0] free_qpn_i,
  // send queue
  input  logic wqe_valid_i,
  output logic wqe_ready_o,
  input  iwarp_pkg::wqe_hdr_t wqe_i,
  input  logic sge_valid_i,              // first beat of its body, seen and not taken
  input  iwarp_pkg::wqe_sge_t sge_i,
  output logic sq_valid_o,
  input  logic sq_ready_i,
  input  logic sq_idle_i,                // rdmap_tx is not at an earlier body
  output logic sq_drop_o,
  output logic sq_own_o,
  output iwarp_pkg::tx_message_hdr_t sq_o,
  output logic [511:0] sq_data_o,
  // errors, to rdmap_term
  input  logic term_ready_i,
  output logic term_valid_o,
  output iwarp_pkg::qp_error_t term_o,
  output logic term_has_head_o,
  output logic term_is_read_o,
  output logic [15:0]  term_length_o,
  output logic [511:0] term_net_o,
  output logic [31:0]  term_offset_o
);
  localparam int unsigned QpW  = $clog2(rnic_pkg::NumQps);
  localparam int unsigned IrdW = $clog2(rnic_pkg::IrdSlots);
  localparam int unsigned OrdW = $clog2(rnic_pkg::OrdSlots);
  localparam int unsigned WordW = 6 + 16 + 2 * 6 + 2 * 16 + 4 * 6 + 32;
  localparam int unsigned OrdEntryW = 32 + 64 + 32 + 8;

  typedef `RNIC_RDMAP_OP_E op_e;
  typedef enum logic [1:0] {StPick, StExec, StEntry} state_e;
  state_e state_d, state_q;

  // --- pick
  logic clear_busy, pick;
  logic [QpW-1:0] clear_addr;
  logic [2:0]  op_d, op_q;               // op_e
  logic [15:0] qpn_d, qpn_q;
  rdmap_pick u_pick (
    .clk_i, .rst_ni, .free_i(state_q == StPick && !clear_busy), .pick_o(pick), .op_o(op_d), .qpn_o(qpn_d),
    .verdict_ready_i, .term_ready_i, .sq_ready_i, .sq_idle_i,
    .ctl_valid_i, .ctl_ready_o, .ctl_op_i(ctl_i.op), .ctl_qpn_i(ctl_i.qpn),
    .qp_fault_valid_i, .qp_fault_ready_o, .qp_fault_qpn_i(qp_fault_i.qpn),
    .tx_fault_valid_i, .tx_fault_ready_o, .tx_fault_qpn_i(tx_fault_i.qpn), .resp_fail_valid_i, .resp_fail_ready_o,
    .seg_valid_i, .seg_ready_o, .seg_qpn_i(seg_i.qpn), .head_valid_i, .head_ready_o, .resp_qpn_i,
    .slot_valid_i(free_valid_i), .slot_ready_o(free_ready_o), .slot_qpn_i(free_qpn_i),
    .wqe_valid_i, .wqe_ready_o, .wqe_qpn_i(wqe_i.qpn), .wqe_is_read_i(wqe_i.opcode == iwarp_pkg::WrRdmaRead), .sge_valid_i
  );

  iwarp_pkg::qp_ctl_rdmap_t ctl_q;
  iwarp_pkg::qp_fault_t     qp_fault_q;
  iwarp_pkg::tx_fault_t     tx_fault_q;
  iwarp_pkg::rx_segment_t   seg_q;
  iwarp_pkg::wqe_hdr_t      wqe_q;
  iwarp_pkg::wqe_sge_t      sge_q;
  iwarp_pkg::tpt_result_e   fail_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= StPick;
      scan_q  <= '0;
    end else begin
      state_q <= state_d;
      scan_q  <= state_q == StEntry ? scan_q + 6'd1 : 6'd0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (pick) begin
      op_q       <= op_d;
      qpn_q      <= qpn_d;
      ctl_q      <= ctl_i;
      qp_fault_q <= qp_fault_i;
      tx_fault_q <= tx_fault_i;
      seg_q      <= seg_i;
      wqe_q      <= wqe_i;
      sge_q      <= sge_i;
      fail_q     <= resp_result_i;
    end
  end

  // --- the QP's word
  logic        running, err, closing, held, listed, in_slot, running_d, err_d, closing_d, held_d, listed_d, in_slot_d;
  logic [15:0] pd, ird_base, ord_base, pd_d, ird_base_d, ord_base_d;
  logic [5:0]  ird, ord, ird_head, ird_count, ord_head, ord_count;
  logic [5:0]  ird_d, ord_d, ird_head_d, ird_count_d, ord_head_d, ord_count_d;
  logic [31:0] received, received_d;
  logic        we;
  ram_clear #(.Depth(rnic_pkg::NumQps)) u_clear (.clk_i, .rst_ni, .busy_o(clear_busy), .addr_o(clear_addr));
  ram_1r1w #(.Width(WordW), .Depth(rnic_pkg::NumQps)) u_table (
    .clk_i, .rst_ni, .we_i(clear_busy || we), .waddr_i(clear_busy ? clear_addr : qpn_q[QpW-1:0]),
    .wdata_i(clear_busy ? '0 : {running_d, err_d, closing_d, held_d, listed_d, in_slot_d, pd_d, ird_base_d, ord_base_d, ird_d, ord_d,
                                ird_head_d, ird_count_d, ord_head_d, ord_count_d, received_d}),
    .re_i(pick), .raddr_i(qpn_d[QpW-1:0]),
    .rdata_o({running, err, closing, held, listed, in_slot, pd, ird_base, ord_base, ird, ord, ird_head, ird_count, ord_head, ord_count, received})
  );
  assign ready_o = !clear_busy;

  function automatic logic [5:0] wrap(input logic [5:0] at, input logic [5:0] by, input logic [5:0] size);
    logic [6:0] sum;
    sum  = {1'b0, at} + {1'b0, by};
    wrap = sum >= {1'b0, size} ? 6'(sum - {1'b0, size}) : sum[5:0];
  endfunction

  // --- entries
  logic ord_we, ord_re, ird_we, ird_re;
  logic [OrdW-1:0] ord_waddr, ord_raddr;
  logic [IrdW-1:0] ird_waddr, ird_raddr;
  logic [31:0] o_stag, o_length;
  logic [63:0] o_to;
  logic [7:0]  o_slot;
  logic [95:0] sink;
  logic [399:0] ird_wdata, ird_entry;
  assign ord_waddr = OrdW'(ord_base) + OrdW'(wrap(ord_head, ord_count, ord));
  // The oldest request; a peer's Terminate is compared with all of them, one after the other.
  logic [5:0] scan_q, scan_at;
  assign scan_at   = state_q == StEntry ? scan_q + 6'd1 : 6'd0;
  assign ord_raddr = OrdW'(ord_base) + OrdW'(wrap(ord_head, scan_at, ord));
  assign ird_waddr = IrdW'(ird_base) + IrdW'(wrap(ird_head, ird_count, ird));
  // The slot of a response is free once its last segment is scheduled; a payload that fails later says which it was.
  assign ird_raddr = IrdW'(ird_base) + (op_q == OpTxFault ? IrdW'(tx_fault_q.slot) : IrdW'(ird_head));
  ram_1r1w #(.Width(OrdEntryW), .Depth(rnic_pkg::OrdSlots)) u_ord (
    .clk_i, .rst_ni, .we_i(ord_we), .waddr_i(ord_waddr), .wdata_i({sink, wqe_q.length, wqe_q.slot}),
    .re_i(ord_re), .raddr_i(ord_raddr), .rdata_o({o_stag, o_to, o_length, o_slot})
  );
  ram_1r1w #(.Width(400), .Depth(rnic_pkg::IrdSlots)) u_ird (
    .clk_i, .rst_ni, .we_i(ird_we), .waddr_i(ird_waddr), .wdata_i(ird_wdata), .re_i(ird_re), .raddr_i(ird_raddr), .rdata_o(ird_entry)
  );

  // --- the segment
  logic alive, closed;                   // closed: our side has no more to say
  assign alive  = running && !err;
  assign closed = closing && ird_count == 6'd0;
  logic seg_asks, seg_more, seg_is_request, seg_read_done, seg_fail, head_fits;
  logic [31:0]  seg_received;
  logic [511:0] net;
  iwarp_pkg::rx_verdict_t seg_verdict;
  iwarp_pkg::qp_error_t   seg_error;
  rdmap_segment u_segment (
    .clk_i, .seg_i(seg_q), .closed_i(closed), .ird_i(ird), .ird_count_i(ird_count), .ord_count_i(ord_count), .received_i(received),
    .scan_i(scan_q), .stag_i(o_stag), .to_i(o_to), .length_i(o_length), .slot_i(o_slot), .asks_o(seg_asks), .more_o(seg_more),
    .verdict_o(seg_verdict), .is_request_o(seg_is_request), .read_done_o(seg_read_done), .received_o(seg_received),
    .fail_o(seg_fail), .error_o(seg_error), .head_fits_o(head_fits), .net_o(net)
  );
  logic [31:0] placed_q;                 // place packets allowed since reset: the watermark
  assign ird_wdata = {placed_q, net[511 -: 368]};

  // --- decide
  logic done, fail, closes;              // closes: our side has no more to say, from now on
  iwarp_pkg::cause_e tpt_cause;
  iwarp_pkg::tpt_result_e tpt_result;
  assign tpt_result = op_q == OpRespFail ? fail_q : tx_fault_q.result;
  always_comb begin
    case (tpt_result)
      iwarp_pkg::TptAssoc:  tpt_cause = iwarp_pkg::CauseRdmapAssoc;
      iwarp_pkg::TptRights: tpt_cause = iwarp_pkg::CauseRdmapRights;
      iwarp_pkg::TptWrap:   tpt_cause = iwarp_pkg::CauseRdmapWrap;
      iwarp_pkg::TptBounds: tpt_cause = iwarp_pkg::CauseRdmapBounds;
      default:              tpt_cause = iwarp_pkg::CauseRdmapStag;
    endcase
  end

  always_comb begin
    {running_d, err_d, closing_d, held_d, listed_d, in_slot_d} = {running, err, closing, held, listed, in_slot};
    {pd_d, ird_base_d, ord_base_d, ird_d, ord_d}    = {pd, ird_base, ord_base, ird, ord};
    {ird_head_d, ird_count_d, ord_head_d, ord_count_d, received_d} = {ird_head, ird_count, ord_head, ord_count, received};
    state_d   = state_q;
    done      = 1'b0;
    fail      = 1'b0;
    closes    = 1'b0;
    we        = 1'b0;
    ord_we    = 1'b0;
    ord_re    = 1'b0;
    ird_we    = 1'b0;
    ird_re    = 1'b0;
    verdict_valid_o = 1'b0;
    verdict_o       = '0;
    work_valid_o    = 1'b0;
    head_valid_o    = 1'b0;
    head_ok_o       = 1'b0;
    ctl_done_o      = 1'b0;
    stopped_o       = 1'b0;
    sq_valid_o      = 1'b0;
    sq_drop_o       = 1'b0;
    term_o          = '0;
    term_o.qpn      = qpn_q;
    term_has_head_o = 1'b0;
    term_is_read_o  = 1'b0;
    term_length_o   = seg_q.ulpdu_length;
    term_net_o      = net;
    term_offset_o   = '0;
    if (state_q == StPick && pick) state_d = StExec;
    if (state_q == StExec || state_q == StEntry) begin
      done = 1'b1;
      case (op_q)
        OpCtl: begin
          ctl_done_o = 1'b1;
          if (ctl_q.op == iwarp_pkg::QpoHalfClose) begin
            we        = alive;
            closing_d = 1'b1;
            closes    = alive && !closing && ird_count == 6'd0;
          end else begin
            we         = 1'b1;
            stopped_o  = 1'b1;
            running_d  = ctl_q.op == iwarp_pkg::QpoStart;
            err_d      = 1'b0;
            closing_d  = 1'b0;
            held_d     = ctl_q.params.hold_tx;
            in_slot_d  = 1'b0;
            pd_d       = ctl_q.params.pd;
            ird_d      = ctl_q.params.ird;
            ord_d      = ctl_q.params.ord;
            ird_base_d = ctl_q.params.ird_base;
            ord_base_d = ctl_q.params.ord_base;
            {ird_head_d, ird_count_d, ord_head_d, ord_count_d, received_d} = '0;
          end
        end
        OpQpFault: begin
          fail         = alive;
          term_o.cause = qp_fault_q.cause;
        end
        OpTxFault: begin
          if (tx_fault_q.source == iwarp_pkg::TxResp && state_q == StExec) begin
            ird_re = 1'b1;
            done   = 1'b0;
          end else begin
            fail = alive;
            if (tx_fault_q.source == iwarp_pkg::TxResp) begin
              term_o.cause    = tx_fault_q.result != iwarp_pkg::TptOk ? tpt_cause : iwarp_pkg::CauseRdmapLength;
              term_has_head_o = 1'b1;
              term_is_read_o  = 1'b1;
              term_length_o   = 16'd46;
              term_net_o      = {ird_entry[367:0], 144'h0};
              term_offset_o   = tx_fault_q.offset;
            end else begin
              term_o.cause  = iwarp_pkg::CauseLocalCatastrophic;
              term_o.has_wr = 1'b1;
              term_o.slot   = tx_fault_q.slot;
              term_o.status = tx_fault_q.result != iwarp_pkg::TptOk ? iwarp_pkg::WcLocProtErr : iwarp_pkg::WcFatalErr;
            end
          end
        end
        OpRespFail: begin
          if (state_q == StExec) begin
            ird_re = 1'b1;
            done   = 1'b0;
          end else begin
            fail            = alive;
            term_o.cause    = tpt_cause;
            term_has_head_o = 1'b1;
            term_is_read_o  = 1'b1;
            term_length_o   = 16'd46;
            term_net_o      = {ird_entry[367:0], 144'h0};
          end
        end
        OpSeg: begin
          if (alive && ((seg_asks && state_q == StExec) || (seg_more && state_q == StEntry))) begin
            ord_re = 1'b1;
            done   = 1'b0;
          end else begin
            verdict_valid_o = 1'b1;
            term_has_head_o = head_fits;
            if (alive) begin
              we         = 1'b1;
              held_d     = 1'b0;
              fail       = seg_fail;
              term_o     = seg_error;
              term_o.qpn = qpn_q;
              verdict_o  = seg_verdict;
              received_d = seg_received;
              if (seg_is_request) begin
                ird_we       = 1'b1;
                ird_count_d  = ird_count + 6'd1;
                work_valid_o = !listed && !in_slot;
                listed_d     = listed || !in_slot;
              end
              if (seg_read_done) begin
                ord_head_d  = wrap(ord_head, 6'd1, ord);
                ord_count_d = ord_count - 6'd1;
              end
            end
          end
        end
        OpHead: begin
          if (state_q == StExec) begin
            ird_re = 1'b1;
            done   = 1'b0;
          end else begin
            we           = 1'b1;
            head_valid_o = 1'b1;
            head_ok_o    = alive && ird_count != 6'd0;
            listed_d     = 1'b0;
            in_slot_d    = head_ok_o || in_slot;
          end
        end
        OpFree: begin
          if (in_slot && running) begin
            we           = 1'b1;
            ird_head_d   = wrap(ird_head, 6'd1, ird);
            ird_count_d  = ird_count - 6'd1;
            closes       = alive && closing && ird_count == 6'd1;
            in_slot_d    = 1'b0;
            listed_d     = listed || ird_count != 6'd1;
            work_valid_o = !listed && ird_count != 6'd1;
          end
        end
        OpWqe: begin
          sq_valid_o = 1'b1;
          sq_drop_o  = !alive;
          if (alive && wqe_q.opcode == iwarp_pkg::WrRdmaRead) begin
            we          = 1'b1;
            ord_we      = 1'b1;
            ord_count_d = ord_count + 6'd1;
          end
        end
        default: ;
      endcase
      if (fail) begin
        we    = 1'b1;
        err_d = 1'b1;
      end
      term_o.sends_term = term_o.cause != iwarp_pkg::CauseLlpLost && term_o.cause != iwarp_pkg::CausePeerTerminate && !held_d &&
                          !closed && !closes;
      state_d = done ? StPick : StEntry;
    end
  end
  assign term_valid_o  = fail || closes;
  assign work_o        = qpn_q;
  assign head_pd_o     = pd;
  assign head_o        = ird_entry;
  assign head_slot_o   = {2'b00, ird_head};
  assign ctl_qpn_o     = qpn_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni)                                          placed_q <= '0;
    else if (verdict_valid_o && verdict_o.place)          placed_q <= placed_q + 32'h1;
  end

  // --- the send queue's message
  rdmap_message u_message (
    .wqe_i(wqe_q), .sge_i(sge_q), .qpn_i(qpn_q), .sink_o(sink), .own_o(sq_own_o), .hdr_o(sq_o), .data_o(sq_data_o)
  );

  logic unused_bits;
  assign unused_bits = ^{qpn_q[15:QpW], ctl_q.qpn, ctl_q.params, qp_fault_q.qpn, tx_fault_q, seg_error.qpn, seg_error.sends_term};

  `RNIC_ASSERT(VerdictRoom_A, !verdict_valid_o || verdict_ready_i)
  `RNIC_ASSERT(TermRoom_A, !term_valid_o || term_ready_i)
  `RNIC_ASSERT(OrdRoom_A, !ord_we || ord_count < ord)
  `RNIC_ASSERT(IrdNotEmpty_A, !(op_q == OpFree && state_q == StExec && in_slot && running) || ird_count != 6'd0)

  // Simulation alone: commit trace (architecture 10)
  iwarp_pkg::rdmap_op_commit_t tap_rdmap_op /*verilator public_flat_rd*/;
  assign tap_rdmap_op = {done && op_q != OpHead, op_q, qpn_q};
endmodule

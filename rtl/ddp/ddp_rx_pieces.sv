// ddp_rx_pieces: translates a received segment's destination into pieces {STag, TO, length} for
// tpt. A tagged segment has one piece. A segment of a Send has up to three, cut from the receive
// WQE at the message's current position.
//
//   item --> [ queue ] --> tagged ------------------------------------> [ pieces ] --> rx_xlate
//                          recv, first: rq_take_rsp --> [ wqe ] --> cut ----^  |
//                          recv, next:  [ WQE table ] -----^         |         +--> ddp_rx_check
//                                             ^------- remainder ----+              (entry)
//
// 1. The WQE is stored as its remainder: of each SGE the STag and the next TO, and the bytes left
//    in the first SGE, the first two, and all three. So the cut is three comparisons in parallel.
// 2. RFC 5041 section 7.1: a message longer than its buffer fails with too_long; without a receive
//    WQE it fails with no_buffer. A receive WQE that qp could not read, or that is malformed, fails
//    with local_catastrophic. After a failure the remainder is empty, and later segments request
//    nothing.
// 3. A receive that ends here has its own status: loc_len_err, fatal_err, loc_qp_op_err. A WQE of
//    an SRQ that could not be read stays in the SRQ: no receive ends.
// 4. A piece of length 0 is not sent to tpt.
//
// Throughput: 1 cycle per segment without pieces, 2 if tagged, 3 for the first segment of a Send (4
// for a later one), and 1 more for each piece after the first.
// Waits for a receive WQE (rq_take_rsp: at most one host read) and for tpt to take rx_xlate.
// Siblings: ddp_rx_header, ddp_rx_check.
// Bench: tb/ddp/ddp_rx_test.cpp
`include "rnic_assert.svh"

module ddp_rx_pieces (
  input  logic         clk_i,
  input  logic         rst_ni,
  // from ddp_rx_header: a segment whose header is checked. cause: its first error. tagged: tagged
  // with payload. recv: of a Send. take: its first segment, whose WQE comes on rq_take_rsp. last:
  // its last. length: of the payload. total: bytes of the message up to its end. over: these exceed
  // 32 bits. rights: that a tagged segment needs. persist: the extensions are enabled
  input  logic         item_valid_i,
  output logic         item_ready_o,
  input  logic         room_i,           // deliver has room for one more segment
  output logic         begun_o,          // a segment enters the queues up to deliver
  input  logic [15:0]  item_qpn_i,
  input  logic [7:0]   item_cause_i,
  input  logic         item_tagged_i,
  input  logic         item_recv_i,
  input  logic         item_take_i,
  input  logic         item_last_i,
  input  logic         item_inval_i,     // of a Send: item_stag_i is to be invalidated
  input  logic [15:0]  item_length_i,
  input  logic [31:0]  item_total_i,
  input  logic         item_over_i,
  input  logic [31:0]  item_stag_i,
  input  logic [63:0]  item_to_i,
  input  logic [15:0]  item_rights_i,
  input  logic [15:0]  item_pd_i,
  input  logic         item_persist_i,
  // from qp
  input  logic                     rq_take_rsp_valid_i,
  output logic                     rq_take_rsp_ready_o,
  input  iwarp_pkg::rq_take_rsp_t  rq_take_rsp_i,
  // to tpt
  output logic                     rx_xlate_valid_o,
  input  logic                     rx_xlate_ready_i,
  output iwarp_pkg::rx_xlate_t     rx_xlate_o,
  // to ddp_rx_check
  output logic         entry_valid_o,
  input  logic         entry_ready_i,
  output logic [7:0]   entry_cause_o,
  output logic         entry_asked_o,    // tpt responds on rx_xlate_rsp
  output logic         entry_recv_o,     // of a Send: a refusal is a local error
  output logic [7:0]   entry_status_o,   // other than success: its receive ends with it
  output logic [15:0]  entry_length_o,
  output logic         entry_owes_o,     // it has taken a WQE of an SRQ, which is to be reported
  output logic [15:0]  entry_index_o,    // of the receive WQE
  output logic [31:0]  entry_total_o,
  output logic         entry_persist_o
);
  localparam int unsigned QpW   = $clog2(rnic_pkg::NumQps);
  // {qpn; cause; tagged, recv, take, last, inval, over; length; total; stag; to; rights; pd;
  // persist}
  localparam int unsigned ItemW = 16 + 8 + 6 + 16 + 32 + 32 + 64 + 16 + 16 + 1;

  // The queue of items.
  logic        item_valid, item_pop, is_tagged, is_recv, is_take, is_last, is_inval, is_over,
               persist;
  logic [15:0] qpn, length, rights, pd;
  logic [7:0]  cause;
  logic [31:0] total, stag;
  logic [63:0] to;
  logic [$clog2(2*rnic_pkg::FifoDepth+1)-1:0] unused_items;

  stream_fifo #(.Width(ItemW), .Depth(2 * rnic_pkg::FifoDepth)) u_items (
    .clk_i, .rst_ni,
    .valid_i(item_valid_i), .ready_o(item_ready_o),
    .data_i({item_qpn_i, item_cause_i, item_tagged_i, item_recv_i, item_take_i, item_last_i,
             item_inval_i, item_over_i, item_length_i, item_total_i, item_stag_i, item_to_i,
             item_rights_i, item_pd_i, item_persist_i}),
    .valid_o(item_valid), .ready_i(item_pop),
    .data_o({qpn, cause, is_tagged, is_recv, is_take, is_last, is_inval, is_over,
             length, total, stag, to, rights, pd, persist}),
    .count_o(unused_items)
  );

  // A receive WQE, stored as its remainder.
  typedef struct packed {
    logic [15:0] index;
    logic [31:0] left0;     // in the first SGE
    logic [32:0] left01;    // in the first two
    logic [33:0] left012;   // in all
    logic [63:0] to0;
    logic [63:0] to1;
    logic [63:0] to2;
    logic [31:0] stag0;
    logic [31:0] stag1;
    logic [31:0] stag2;
  } left_t;

  typedef enum logic [1:0] {
    StIdle,   // decode the item
    StLoad,   // the table's word arrives
    StCut,    // cut the WQE
    StEmit    // pieces to tpt, entry to ddp_rx_check
  } st_e;

  st_e         st_d, st_q;
  left_t       fresh, stored, wqe_q, rest;
  logic [31:0] taken0, taken1, taken2;
  logic [$bits(wqe_q)-1:0] rdata;

  // From qp: SGEs beyond num_sge count as empty.
  always_comb begin
    taken0 = rq_take_rsp_i.wqe.num_sge > 2'd0 ? rq_take_rsp_i.wqe.sge0.length : '0;
    taken1 = rq_take_rsp_i.wqe.num_sge > 2'd1 ? rq_take_rsp_i.wqe.sge1.length : '0;
    taken2 = rq_take_rsp_i.wqe.num_sge > 2'd2 ? rq_take_rsp_i.wqe.sge2.length : '0;
    fresh.index   = rq_take_rsp_i.wqe.index;
    fresh.left0   = taken0;
    fresh.left01  = 33'(taken0) + 33'(taken1);
    fresh.left012 = 34'(taken0) + 34'(taken1) + 34'(taken2);
    fresh.to0     = rq_take_rsp_i.wqe.sge0.tagged_offset;
    fresh.to1     = rq_take_rsp_i.wqe.sge1.tagged_offset;
    fresh.to2     = rq_take_rsp_i.wqe.sge2.tagged_offset;
    fresh.stag0   = rq_take_rsp_i.wqe.sge0.stag;
    fresh.stag1   = rq_take_rsp_i.wqe.sge1.stag;
    fresh.stag2   = rq_take_rsp_i.wqe.sge2.stag;
  end

  // The cut. first1, first2: bytes of this segment in the first SGE, in the first two. piece1,
  // piece2: bytes in the second SGE, in the third.
  logic        over0, over01, over012;   // the segment reaches beyond them
  logic        too_long, no_room;        // too_long: beyond all SGEs; no_room: or there is no WQE
  logic [15:0] first1, first2, piece1, piece2;

  assign over0    = 32'(length) > wqe_q.left0;
  assign over01   = 33'(length) > wqe_q.left01;
  assign over012  = 34'(length) > wqe_q.left012;
  assign too_long = over012 || is_over;
  assign no_room  = too_long || cause_q != iwarp_pkg::CauseNone;
  assign first1   = over0  ? wqe_q.left0[15:0]  : length;
  assign first2   = over01 ? wqe_q.left01[15:0] : length;
  assign piece1   = first2 - first1;
  assign piece2   = length - first2;

  // Lookups in progress: the STag to be invalidated first, so that its failure is the one reported;
  // then the pieces, of which piece 0 also serves a tagged segment. Bits of mask, which are the
  // lookups not yet sent: 0 the STag to be invalidated, 1 to 3 the pieces 0 to 2.
  logic [3:0]  mask_d, mask_q;
  logic        inval;
  logic [15:0] len0_q, len1_q, len2_q;
  logic [31:0] stag0_q, left0_q;
  logic [32:0] left01_q;
  logic [33:0] left012_q;
  logic [63:0] to0_q;
  logic [7:0]  cause_d, cause_q;
  iwarp_pkg::wc_status_e status_d, status_q;
  logic        asked_d, asked_q, write_d, write_q, owes_d, owes_q;
  logic        start_tagged, start_take, start_next, cut_now, fire_piece, one_left, done;

  // mask_q & (mask_q - 1): without its lowest bit, which is the lookup that is sent now.
  assign inval    = mask_q[0];
  assign one_left = (mask_q & (mask_q - 4'd1)) == '0;

  always_comb begin
    st_d         = st_q;
    start_tagged = 1'b0;
    start_take   = 1'b0;
    start_next   = 1'b0;
    cut_now      = 1'b0;
    done         = 1'b0;
    case (st_q)
      StIdle: begin
        if (!room_i) begin
          st_d = StIdle;
        end else if (item_valid && is_tagged) begin
          start_tagged = 1'b1;
          st_d         = StEmit;
        end else if (item_valid && is_recv && is_take) begin
          start_take = rq_take_rsp_valid_i;
          if (rq_take_rsp_valid_i) st_d = StCut;
        end else if (item_valid && is_recv) begin
          start_next = 1'b1;
          st_d       = StLoad;
        end else begin
          done = item_valid && entry_ready_i;
        end
      end
      StLoad: st_d = StCut;
      StCut: begin
        cut_now = 1'b1;
        st_d    = StEmit;
      end
      default: begin
        done = entry_ready_i && (mask_q == '0 || (one_left && rx_xlate_ready_i));
        if (done) st_d = StIdle;
      end
    endcase
  end

  assign rq_take_rsp_ready_o = start_take;
  assign item_pop            = done;
  assign begun_o             = done;
  assign entry_persist_o     = persist;

  // The result of the take is stored as a cause and a status for the cut.
  always_comb begin
    cause_d  = cause_q;
    status_d = status_q;
    asked_d  = asked_q;
    owes_d   = owes_q;
    mask_d   = mask_q;
    write_d  = 1'b0;
    if (st_q == StIdle) begin
      cause_d  = cause;
      status_d = iwarp_pkg::WcSuccess;
      owes_d   = start_take && rq_take_rsp_i.shared &&
                 (rq_take_rsp_i.result == iwarp_pkg::RqtOk ||
                  rq_take_rsp_i.result == iwarp_pkg::RqtMalformed);
      if (start_take) begin
        case (rq_take_rsp_i.result)
          iwarp_pkg::RqtEmpty: cause_d = iwarp_pkg::CauseDdpUntaggedNoBuffer;
          iwarp_pkg::RqtFailed: begin
            cause_d  = iwarp_pkg::CauseLocalCatastrophic;
            if (!rq_take_rsp_i.shared) status_d = iwarp_pkg::WcFatalErr;
          end
          iwarp_pkg::RqtMalformed: begin
            cause_d  = iwarp_pkg::CauseLocalCatastrophic;
            status_d = iwarp_pkg::WcLocQpOpErr;
          end
          default: cause_d = cause;
        endcase
      end
      asked_d  = start_tagged;
      mask_d   = {2'b00, start_tagged, 1'b0};
    end else if (cut_now) begin
      write_d = !is_last;
      if (cause_q != iwarp_pkg::CauseNone) begin
        mask_d = '0;
      end else if (too_long) begin
        cause_d  = iwarp_pkg::CauseDdpUntaggedTooLong;
        status_d = iwarp_pkg::WcLocLenErr;
      end else begin
        mask_d  = {piece2 != '0, piece1 != '0, first1 != '0, is_inval};
        asked_d = length != '0 || is_inval;
      end
    end else if (fire_piece) begin
      mask_d = mask_q & (mask_q - 4'd1);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      st_q    <= StIdle;
      mask_q  <= '0;
      write_q <= 1'b0;
    end else begin
      st_q    <= st_d;
      mask_q  <= mask_d;
      write_q <= write_d;
    end
  end

  always_ff @(posedge clk_i) begin
    cause_q  <= cause_d;
    status_q <= status_d;
    asked_q  <= asked_d;
    owes_q   <= owes_d;
    if (start_take)           wqe_q <= fresh;
    else if (st_q == StLoad)  wqe_q <= stored;
    if (start_tagged) begin
      stag0_q <= stag;
      to0_q   <= to;
      len0_q  <= length;
    end else if (cut_now) begin
      stag0_q   <= wqe_q.stag0;
      to0_q     <= wqe_q.to0;
      len0_q    <= first1;
      len1_q    <= piece1;
      len2_q    <= piece2;
      left0_q   <= over0 || no_room ? '0 : wqe_q.left0 - 32'(length);
      left01_q  <= over01 || no_room ? '0 : wqe_q.left01 - 33'(length);
      left012_q <= no_room ? '0 : wqe_q.left012 - 34'(length);
    end
  end

  // Pieces to tpt.
  logic [31:0] out_stag;
  logic [63:0] out_to;
  logic [15:0] out_length, out_rights;

  always_comb begin
    if (inval)          {out_stag, out_to, out_length} = {stag, 64'h0, 16'h0};
    else if (mask_q[1]) {out_stag, out_to, out_length} = {stag0_q, to0_q, len0_q};
    else if (mask_q[2]) {out_stag, out_to, out_length} = {wqe_q.stag1, wqe_q.to1, len1_q};
    else                {out_stag, out_to, out_length} = {wqe_q.stag2, wqe_q.to2, len2_q};
  end

  assign out_rights       = inval   ? rnic_pkg::AccessRemoteInvalidate
                          : is_recv ? rnic_pkg::AccessLocalWrite : rights;
  assign rx_xlate_valid_o = st_q == StEmit && mask_q != '0 && entry_ready_i;
  assign rx_xlate_o       = {out_stag, out_to, 32'(out_length), pd, qpn, out_rights, inval,
                             one_left};
  assign fire_piece       = rx_xlate_valid_o && rx_xlate_ready_i;

  // Entry to ddp_rx_check, with the last piece.
  assign entry_valid_o    = done;
  assign entry_cause_o    = st_q == StIdle ? cause : cause_q;
  assign entry_asked_o    = st_q == StEmit && asked_q;
  assign entry_recv_o     = is_recv;
  assign entry_status_o   = st_q == StEmit ? status_q : iwarp_pkg::WcSuccess;
  assign entry_owes_o     = st_q == StEmit && owes_q;
  assign entry_length_o   = length;
  assign entry_index_o    = wqe_q.index;
  assign entry_total_o    = total;

  // The remainder is written in the cycle after the cut, if the message has more segments.
  always_comb begin
    rest         = wqe_q;
    rest.left0   = left0_q;
    rest.left01  = left01_q;
    rest.left012 = left012_q;
    rest.to0     = wqe_q.to0 + 64'(len0_q);
    rest.to1     = wqe_q.to1 + 64'(len1_q);
    rest.to2     = wqe_q.to2 + 64'(len2_q);
  end

  ram_1r1w #(.Width($bits(wqe_q)), .Depth(rnic_pkg::NumQps)) u_wqes (
    .clk_i, .rst_ni,
    .we_i(write_q), .waddr_i(qpn[QpW-1:0]), .wdata_i(rest),
    .re_i(start_next), .raddr_i(qpn[QpW-1:0]), .rdata_o(rdata)
  );

  assign stored = rdata;

  `RNIC_ASSERT(WriteInEmit_A, !write_q || st_q == StEmit)
  `RNIC_ASSERT(AskedHasPieces_A, !(cut_now && !no_room) || asked_d == (mask_d != '0))
  `RNIC_STREAM_STABLE(XlateStable_A, rx_xlate_valid_o, rx_xlate_ready_i, rx_xlate_o)
endmodule

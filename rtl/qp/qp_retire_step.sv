// qp_retire_step: executes one pass of an operation on the context of its QP.
//
// A pass writes at most one CQE. A pass of a done retires at most one WQE.
//
//   operation     pass   action                                                   next pass
//   wr_done,      First  retires the WQE if it is the head of the window,         Next, if the next
//   rx_done Read,        else marks it as done                                    WQE is done
//   res_done      Next   retires the head, which is done
//   rx_done Recv  First  writes the CQE of the receive
//   own, mark     First  stores a failed WQE (own: by issue, mark: by rdmap)
//   look          First  does nothing
//   flush         First  no failed WQE in the window: a CQE up to the producer    Rq
//                        index; else finds the first failed WQE                   Gap, or Own
//                 Gap    writes a CQE up to the failed WQE                        Own
//                 Own    writes the CQE of the failed WQE, which is the head      First
//                 Rq     writes a CQE for the receive queue, up to its producer
//                        index
//
// 1. A flush takes at most 8 passes: First, Gap and Own for each of two failed WQEs, then First and
//    Rq. Done WQEs at the head have retired before (HeadNotDone_A), and the CQE of a gap covers all
//    WQEs in front of a failed one. At most two WQEs have failed, one by issue and one by rdmap.
// 2. A done of a WQE that is not in the window is dropped: its QP has been flushed, so the WQE has
//    been reported already.
//
// Combinational, between registers of qp_retire.
// Bench: tb/qp/qp_retire_test.cpp
`include "rnic_words.svh"

module qp_retire_step #(
  localparam int unsigned WinW  = $clog2(rnic_pkg::SqWindow) + 1,
  localparam int unsigned SlotW = $clog2(rnic_pkg::SqWindow),
  localparam int unsigned CtxW  = `RNIC_QP_RETIRED_W
) (
  // the operation, from qp_retire
  input  logic [2:0]       kind_i,
  input  logic [2:0]       pass_i,
  input  logic [SlotW-1:0] slot_i,
  input  logic [SlotW-1:0] next_slot_i,   // slot + 1
  input  logic [7:0]       status_i,
  input  logic [15:0]      index_i,
  // tables: context, the window's entry at slot, window tail, producer indices
  input  logic [CtxW-1:0]  ctx_i,
  input  logic [15:0]      win_after_i,   // ring index after the WQE
  input  logic             win_signaled_i,
  input  logic [WinW-1:0]  tail_i,
  input  logic [15:0]      prod_sq_i,
  input  logic [15:0]      prod_rq_i,
  input  logic             has_srq_i,     // the QP takes from an SRQ: index_i is a tag, no index
  // to qp_retire: the context after the pass, whether a WQE or a request has ended
  output logic [CtxW-1:0]  ctx_o,
  output logic             ended_o,
  // at most one CQE
  output logic             put_own_o,
  output logic             put_flush_sq_o,
  output logic             put_recv_o,
  output logic             put_flush_rq_o,
  output logic [15:0]      put_index_o,
  output logic [7:0]       put_status_o,
  // the next pass: next_o of a done, at next_slot; more_o of a flush
  output logic             next_o,
  output logic             more_o,
  output logic [2:0]       more_pass_o,
  output logic [SlotW-1:0] more_slot_o
);
  localparam logic [2:0] OpDone = 3'd0, OpRead = 3'd1, OpRecv = 3'd2, OpOwn = 3'd3, OpMark = 3'd5,
                         OpFlushRsp = 3'd6, OpFlush = 3'd7;
  // A flush goes from one failed WQE to the next, the oldest first.
  localparam logic [2:0] First = 3'd0, Gap = 3'd2, Own = 3'd3, Rq = 3'd4;   // 1: Next

  typedef `RNIC_QP_RETIRED_T row_t;
  row_t             row, after;   // before and after the pass
  logic [SlotW-1:0] offset, own_at, err_at, failed_slot;
  logic [rnic_pkg::SqWindow-1:0] slot_bit;
  logic [WinW-1:0]  used;
  logic             is_done, is_flush, at_head, empty, in_window, retire, own_in, err_in, own_first;

  // used: WQEs in the window; offset, own_at, err_at: distance of slot, of the WQE that failed by
  // issue, by rdmap, from the head. A distance of used or more is outside the window.
  assign row       = ctx_i;
  assign is_done   = kind_i == OpDone || kind_i == OpRead;
  assign is_flush  = kind_i == OpFlush || kind_i == OpFlushRsp;
  assign slot_bit  = rnic_pkg::SqWindow'(1) << slot_i;
  assign at_head   = row.head[SlotW-1:0] == slot_i;
  assign empty     = row.head == tail_i;
  assign offset    = slot_i - row.head[SlotW-1:0];
  assign used      = tail_i - row.head;
  assign in_window = {1'b0, offset} < used;
  assign retire    = is_done && (pass_i == First ? at_head && !empty : 1'b1);
  assign next_o    = retire && row.done[next_slot_i];

  always_comb begin
    after       = row;
    own_at      = after.own_slot - after.head[SlotW-1:0];
    err_at      = after.err_slot - after.head[SlotW-1:0];
    own_in      = after.own && {1'b0, own_at} < used;
    err_in      = after.err && {1'b0, err_at} < used;
    own_first   = own_in && !(err_in && err_at < own_at);
    failed_slot = own_first ? after.own_slot : after.err_slot;
    {put_own_o, put_flush_sq_o, put_recv_o, put_flush_rq_o} = 4'b0000;
    put_index_o  = after.sq;
    put_status_o = iwarp_pkg::WcSuccess;
    ended_o      = 1'b0;
    more_o       = 1'b0;
    more_pass_o  = First;
    more_slot_o  = next_slot_i;

    if (is_done) begin
      if (retire) begin
        put_own_o = win_signaled_i;
        after.sq = win_after_i;
        after.head = after.head + 1'b1;
        after.done = after.done & ~slot_bit;
      end else if (in_window) begin
        after.done = after.done | slot_bit;
      end
      if (kind_i == OpRead && pass_i == First && in_window) after.reads = after.reads + 7'd1;
      ended_o = retire || kind_i == OpRead;
    end

    unique case (kind_i)
      OpRecv: begin
        put_recv_o   = 1'b1;
        put_index_o  = index_i;
        put_status_o = status_i;
        if (!has_srq_i) after.rq = index_i + 16'd1;
      end
      OpOwn:   {after.own, after.own_slot, after.own_status} = {1'b1, slot_i, status_i};
      OpMark:  {after.err, after.err_slot, after.err_status} = {1'b1, slot_i, status_i};
      default: ;
    endcase

    if (is_flush) begin
      more_o       = pass_i != Rq;
      put_status_o = iwarp_pkg::WcWrFlushErr;
      case (pass_i)
        First: begin
          // Gap reads the window entry before the failed WQE, for the index of its CQE.
          more_pass_o = failed_slot == after.head[SlotW-1:0] ? Own : Gap;
          more_slot_o = failed_slot == after.head[SlotW-1:0] ? failed_slot : failed_slot - 1'b1;
          if (!own_in && !err_in) begin
            put_flush_sq_o = prod_sq_i != after.sq;
            put_index_o    = prod_sq_i;
            after.sq = prod_sq_i;
            after.head = tail_i;
            after.done = '0;
            after.own = 1'b0;
            after.err = 1'b0;
            more_pass_o    = Rq;
          end
        end
        Gap: begin
          put_flush_sq_o = 1'b1;
          put_index_o    = win_after_i;
          after.sq = win_after_i;
          after.head = after.head + {1'b0, offset} + 1'b1;
          more_pass_o    = Own;
        end
        Own: begin
          put_own_o    = 1'b1;
          put_status_o = after.err && after.err_slot == slot_i ? after.err_status
                                                               : after.own_status;
          after.own = after.own && after.own_slot != slot_i;
          after.err = after.err && after.err_slot != slot_i;
          after.sq = win_after_i;
          after.head = after.head + 1'b1;
        end
        default: begin   // Rq
          put_flush_rq_o = prod_rq_i != after.rq;
          put_index_o    = prod_rq_i;
          after.rq = prod_rq_i;
        end
      endcase
    end

    ctx_o = after;
  end
endmodule

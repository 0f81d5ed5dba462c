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
// 1. A flush takes at most 7 passes. Done WQEs at the head have retired before (HeadNotDone_A), the
//    CQE of a gap covers all others, and at most two WQEs have failed.
// 2. A done of a WQE that is not in the window is dropped: its QP has been flushed, so the WQE has
//    been reported already.
//
// Combinational, between registers of qp_retire.
// Bench: tb/qp/qp_retire_test.cpp
module qp_retire_step #(
  localparam int unsigned WinW  = $clog2(rnic_pkg::SqWindow) + 1,
  localparam int unsigned SlotW = $clog2(rnic_pkg::SqWindow),
  localparam int unsigned CtxW  = 16 + 16 + WinW + 7 + 2 * (1 + SlotW + 8) + rnic_pkg::SqWindow
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
  input  logic [15:0]      win_after_i,
  input  logic             win_signaled_i,
  input  logic [WinW-1:0]  tail_i,
  input  logic [15:0]      prod_sq_i,
  input  logic [15:0]      prod_rq_i,
  input  logic             has_srq_i,     // ddp reports each of its receives
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
  localparam logic [2:0] First = 3'd0, Gap = 3'd2, Own = 3'd3, Rq = 3'd4;   // 1: Next

  logic [15:0]      sq, rq;
  logic [WinW-1:0]  head;
  logic [6:0]       reads;
  logic             own, err;
  logic [SlotW-1:0] own_slot, err_slot, offset, own_at, err_at, failed_slot;
  logic [7:0]       own_status, err_status;
  logic [rnic_pkg::SqWindow-1:0] done, done_in, slot_bit;
  logic [WinW-1:0]  used;
  logic             is_done, is_flush, at_head, empty, in_window, retire, own_in, err_in, own_first;

  assign is_done   = kind_i == OpDone || kind_i == OpRead;
  assign is_flush  = kind_i == OpFlush || kind_i == OpFlushRsp;
  assign slot_bit  = rnic_pkg::SqWindow'(1) << slot_i;
  assign at_head   = ctx_i[CtxW-34 -: SlotW] == slot_i;
  assign empty     = ctx_i[CtxW-33 -: WinW] == tail_i;
  assign offset    = slot_i - ctx_i[CtxW-34 -: SlotW];
  assign used      = tail_i - ctx_i[CtxW-33 -: WinW];
  assign in_window = {1'b0, offset} < used;
  assign done_in   = ctx_i[rnic_pkg::SqWindow-1:0];
  assign retire    = is_done && (pass_i == First ? at_head && !empty : 1'b1);
  assign next_o    = retire && done_in[next_slot_i];

  always_comb begin
    {sq, rq, head, reads, own, own_slot, own_status, err, err_slot, err_status, done} = ctx_i;
    own_at      = own_slot - head[SlotW-1:0];
    err_at      = err_slot - head[SlotW-1:0];
    own_in      = own && {1'b0, own_at} < used;
    err_in      = err && {1'b0, err_at} < used;
    own_first   = own_in && !(err_in && err_at < own_at);
    failed_slot = own_first ? own_slot : err_slot;
    {put_own_o, put_flush_sq_o, put_recv_o, put_flush_rq_o} = 4'b0000;
    put_index_o  = sq;
    put_status_o = iwarp_pkg::WcSuccess;
    ended_o      = 1'b0;
    more_o       = 1'b0;
    more_pass_o  = First;
    more_slot_o  = next_slot_i;

    if (is_done) begin
      if (retire) begin
        put_own_o = win_signaled_i;
        sq        = win_after_i;
        head      = head + 1'b1;
        done      = done & ~slot_bit;
      end else if (in_window) begin
        done      = done | slot_bit;
      end
      if (kind_i == OpRead && pass_i == First && in_window) reads = reads + 7'd1;
      ended_o = retire || kind_i == OpRead;
    end

    unique case (kind_i)
      OpRecv: begin
        put_recv_o   = 1'b1;
        put_index_o  = index_i;
        put_status_o = status_i;
        if (!has_srq_i) rq = index_i + 16'd1;
      end
      OpOwn:   {own, own_slot, own_status} = {1'b1, slot_i, status_i};
      OpMark:  {err, err_slot, err_status} = {1'b1, slot_i, status_i};
      default: ;
    endcase

    if (is_flush) begin
      more_o       = pass_i != Rq;
      put_status_o = iwarp_pkg::WcWrFlushErr;
      case (pass_i)
        First: begin
          more_pass_o = failed_slot == head[SlotW-1:0] ? Own : Gap;
          more_slot_o = failed_slot == head[SlotW-1:0] ? failed_slot : failed_slot - 1'b1;
          if (!own_in && !err_in) begin
            put_flush_sq_o = prod_sq_i != sq;
            put_index_o    = prod_sq_i;
            sq             = prod_sq_i;
            head           = tail_i;
            done           = '0;
            own            = 1'b0;
            err            = 1'b0;
            more_pass_o    = Rq;
          end
        end
        Gap: begin
          put_flush_sq_o = 1'b1;
          put_index_o    = win_after_i;
          sq             = win_after_i;
          head           = head + {1'b0, offset} + 1'b1;
          more_pass_o    = Own;
        end
        Own: begin
          put_own_o    = 1'b1;
          put_status_o = err && err_slot == slot_i ? err_status : own_status;
          own          = own && own_slot != slot_i;
          err          = err && err_slot != slot_i;
          sq           = win_after_i;
          head         = head + 1'b1;
        end
        default: begin   // Rq
          put_flush_rq_o = prod_rq_i != rq;
          put_index_o    = prod_rq_i;
          rq             = prod_rq_i;
        end
      endcase
    end

    ctx_o = {sq, rq, head, reads, own, own_slot, own_status, err, err_slot, err_status, done};
  end
endmodule

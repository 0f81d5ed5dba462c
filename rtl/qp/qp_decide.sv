// qp_decide: the state machine of a QP: computes the new context and the set of steps from a
// command or events and the context.
//
//   idle --rts--> rts --closing--> closing --(all retired: half_close to rdmap)--> asked
//                  |  peer_closed, nothing outstanding: half_close to rdmap ---------^
//   asked --(responder idle: FIN)--> half --closed--> error
//   rts, closing, asked --qp_error--> terminate --(term_done, if a Terminate leaves)--> error
//   any --error--> error
//
// Flags of the context (row):
//   asked      in state closing: rdmap has half_close
//   half       in state closing: the LLP has half_close, too
//   fin        the peer's FIN has arrived: a request to the peer would get no response
//   lost       the connection is unusable, the peer's FIN came too early, or the error sends no
//              Terminate: the QP ends with an abort
//   term_wait  in state terminate: the Terminate is not sent yet
//   term_seen  a Terminate was sent before rdmap reported the error
//
// qp_state gives this leaf the row of a QP with a command or with its pending events, stores the
// new row and executes the steps. Whether a half_close is due takes two decisions: the first orders
// the step `look` (again_o), the second (again_i) uses the response of qp_retire to it.
//
// 1. An event does one thing. Priority, highest first: qp_error, loss, end of the closing, CQ
//    fault, end of a Terminate, responder idle, the peer's close or all WQEs retired.
// 2. The events peer_closed, closed and lost of a live QP take effect only after a sync of mpa and
//    ddp (first step), except for a loss that comes with a qp_error.
// 3. Nothing follows our FIN (RFC 5040 section 6.1, RFC 5044 section 5). So rdmap gets half_close
//    first, and reports when no Read Request of the peer is left (a qp_error of cause none). From
//    then on it refuses Read Requests and sends no Terminate. The report may take long; qp_state
//    does not wait for it.
//
// Combinational, between registers of qp_state. The steps' bits are those of qp_state.
// Sibling: qp_state.
// Bench: tb/qp/qp_test.cpp
`include "rnic_words.svh"

module qp_decide #(
  localparam int unsigned CtxW  = `RNIC_QP_STATE_W,
  localparam int unsigned Steps = 18
) (
  // from qp_state
  input  logic             is_cmd_i,
  input  logic             again_i,      // second decision for the same event, after `look`
  input  iwarp_pkg::qp_cmd_t cmd_i,
  input  logic             in_range_i,   // the command's number exists in this build
  input  logic [6:0]       bits_i,       // pending events; bit 0 is error_i
  input  iwarp_pkg::qp_error_t error_i,
  input  logic [CtxW-1:0]  ctx_i,
  // Result of `look`: all posted send WQEs are retired (empty); requests are outstanding (reads):
  // Read, Flush, atomic, Atomic Write, local invalidation, registration or bind
  input  logic             empty_i,
  input  logic             reads_i,
  // to qp_state
  output logic [CtxW-1:0]  ctx_o,
  output logic [Steps-1:0] steps_o,
  output logic             again_o,
  output logic [2:0]       ctl_op_o,
  // graceful_o: a stop from llp_if inwards, after both FINs; a half_close that reaches the LLP
  output logic             graceful_o,
  output logic [7:0]       cause_o,
  output logic [7:0]       status_o
);
  // The steps, executed in the order of bits:
  //   DoorOff   qp_doorbell refuses the QP's doorbells  Flush   CQEs for all posted WQEs
  //   Sync      qp_ctl syncs mpa and ddp (and rdmap)    Init    write the tables of a new QP
  //   Off       no new WQE is issued                    Purge   host_if drops halves of pushes
  //   Barrier   wait until issue has drained            Save    write the row, and its copies
  //   Mark      qp_retire notes the failed request      Kick    qp_pick evaluates the QP
  //   Look      qp_retire reports what is retired       Async   an event entry (cq)
  //   Fault     qp_fault to rdmap                       Limit   set the limit of an SRQ
  //   Ctl       an order to the other units (qp_ctl)    Answer  the response to the command
  //   BarFetch, BarRq   wait until no read of the SQ, of the RQ is outstanding
  localparam logic [Steps-1:0] One = 1;
  localparam logic [Steps-1:0]
    DoorOff = One << 0, Sync = One << 1, Off = One << 2, Barrier = One << 3, Mark = One << 4,
    Look = One << 5, Fault = One << 6, Ctl = One << 7, BarFetch = One << 8, BarRq = One << 9,
    Flush = One << 10, Init = One << 11, Purge = One << 12, Save = One << 13, Kick = One << 14,
    Async = One << 15, Limit = One << 16, Answer = One << 17;
  localparam logic [Steps-1:0] Quiet = Off | Barrier;   // no new WQE is issued
  // Drain: the WQEs still posted are flushed.
  localparam logic [Steps-1:0] Drain = BarFetch | BarRq | Flush | Save | Kick;

  typedef `RNIC_QP_STATE_T row_t;
  row_t        row;   // becomes the row after the operation
  iwarp_pkg::qp_params_t params;
  // live: in state rts or closing. ev_error and ev_idle are both a qp_error: that of ev_idle has no
  // cause and reports that the responder is idle. ev_empty: a closing QP has retired all WQEs.
  // ended: the Terminate has left, or the connection is lost or closed. So no Terminate is awaited.
  logic        live, ev_error, ev_idle, ev_peer, ev_closed, ev_lost, ev_term, ev_empty, ev_cq,
               ended;
  iwarp_pkg::admin_qp_args_t    qp_args;
  iwarp_pkg::admin_modify_args_t mod_args;
  logic        unused_args;

  assign qp_args  = cmd_i.args;
  assign mod_args = cmd_i.args;
  assign unused_args = ^{qp_args.has_srq, qp_args.srq, qp_args.reserved2, qp_args.reserved1,
                         qp_args.reserved0, qp_args.log_rq, qp_args.log_sq, qp_args.rq_base,
                         qp_args.sq_base, qp_args.recv_cq, qp_args.send_cq, qp_args.page,
                         mod_args.reserved3, mod_args.stream_address, mod_args.reserved2,
                         mod_args.stream_length, mod_args.reserved1, mod_args.ord, mod_args.ird,
                         mod_args.reserved0, cmd_i.object,
                         error_i.qpn, error_i.slot, error_i.status};
  assign {ev_cq, ev_empty, ev_term, ev_lost, ev_closed, ev_peer} = bits_i[6:1];
  assign ev_error = bits_i[0] && error_i.cause != iwarp_pkg::CauseNone;
  assign ev_idle  = bits_i[0] && error_i.cause == iwarp_pkg::CauseNone;

  always_comb begin
    row      = ctx_i;
    params   = row.params;
    live     = row.exists && (row.st == iwarp_pkg::QpsRts || row.st == iwarp_pkg::QpsClosing);
    ended    = ev_term || ev_lost || ev_closed;
    steps_o   = '0;
    again_o  = 1'b0;
    graceful_o = 1'b0;
    ctl_op_o = iwarp_pkg::QpoStop;
    cause_o  = iwarp_pkg::CauseLlpLost;
    status_o = iwarp_pkg::AdmOk;

    if (is_cmd_i) begin
      steps_o = Answer;
      if (!in_range_i) status_o = iwarp_pkg::AdmBadObject;
      else if (cmd_i.opcode == iwarp_pkg::CmdCreateQp ||
               cmd_i.opcode == iwarp_pkg::CmdCreateSrq) begin
        if (row.exists) status_o = iwarp_pkg::AdmExists;
        else begin
          row        = '0;
          row.exists = 1'b1;
          params     = '0;
          params.pd = qp_args.pd;
          params.privileged = qp_args.privileged;
          steps_o    = Init | Save | Answer;
        end
      end else if (!row.exists) status_o = iwarp_pkg::AdmNotFound;
      else if (cmd_i.opcode == iwarp_pkg::CmdQueryQp) steps_o = Look | Answer;
      else if (cmd_i.opcode == iwarp_pkg::CmdModifySrq) steps_o = Limit | Answer;
      else if (cmd_i.opcode == iwarp_pkg::CmdDestroyQp ||
               cmd_i.opcode == iwarp_pkg::CmdDestroySrq) begin
        if (row.st != iwarp_pkg::QpsIdle && row.st != iwarp_pkg::QpsError)
          status_o = iwarp_pkg::AdmInUse;
        else begin
          row.exists = 1'b0;
          steps_o = DoorOff | Quiet | Look | BarFetch | BarRq | Purge | Save | Answer;
        end
      end else if (cmd_i.opcode != iwarp_pkg::CmdModifyQp) status_o = iwarp_pkg::AdmBadOpcode;
      else if (mod_args.to_state == 8'(iwarp_pkg::QpsRts)) begin
        if (row.st != iwarp_pkg::QpsIdle) status_o = iwarp_pkg::AdmBadState;
        else begin
          row.st = iwarp_pkg::QpsRts;
          params.connection = mod_args.connection;
          params.use_crc    = mod_args.use_crc;
          params.rx_markers = mod_args.rx_markers;
          params.tx_markers = mod_args.tx_markers;
          params.hold_tx    = mod_args.hold_tx;
          params.persist    = mod_args.persist;
          params.ird        = mod_args.ird[5:0];
          params.ord        = mod_args.ord[5:0];
          params.ird_base   = mod_args.ird_base;
          params.ord_base   = mod_args.ord_base;
          ctl_op_o = iwarp_pkg::QpoStart;
          steps_o   = Ctl | Save | Kick | Answer;
        end
      end else if (mod_args.to_state == 8'(iwarp_pkg::QpsClosing)) begin
        if (row.st != iwarp_pkg::QpsRts) status_o = iwarp_pkg::AdmBadState;
        else begin
          row.st = iwarp_pkg::QpsClosing;
          steps_o = Save | Kick | Answer;
        end
      end else if (mod_args.to_state == 8'(iwarp_pkg::QpsError)) begin
        if (row.st != iwarp_pkg::QpsError) begin
          steps_o = Quiet | Drain | Answer;
          if (row.st != iwarp_pkg::QpsIdle) steps_o = Quiet | Ctl | Drain | Answer;
          row.st = iwarp_pkg::QpsError;
          row.term_wait = 1'b0;
          ctl_op_o  = iwarp_pkg::QpoAbort;
        end
      end else status_o = iwarp_pkg::AdmBadArgument;

    end else if (again_i) begin
      if (empty_i) begin
        row.st = iwarp_pkg::QpsClosing;
        row.asked = 1'b1;
        ctl_op_o = iwarp_pkg::QpoHalfClose;
        steps_o   = Ctl | Save;
      // After its FIN the peer answers nothing. In rts any WQE left, in closing any request fails.
      end else if (row.fin && (row.st == iwarp_pkg::QpsRts || reads_i)) begin
        row.lost = 1'b1;
        steps_o = Fault | Save;
      end else steps_o = Save | Kick;

    end else if (live && ev_error) begin
      row.cause = error_i.cause;
      row.has_peer_term = error_i.has_peer_term;
      row.peer_term = error_i.peer_term;
      row.st = iwarp_pkg::QpsTerminate;
      row.lost = row.lost || ev_lost || !error_i.sends_term;
      row.term_wait = error_i.sends_term && !row.lost && !ended && !row.term_seen;
      steps_o        = Quiet | Save;
      if (!row.term_wait) begin
        row.st = iwarp_pkg::QpsError;
        ctl_op_o = row.lost ? iwarp_pkg::QpoAbort : iwarp_pkg::QpoStop;
        steps_o   = Quiet | Ctl | Drain | Async;
      end
      if (error_i.has_wr) steps_o = steps_o | Mark;
    end else if (live && (ev_lost || (ev_closed && !row.half))) begin
      row.lost = 1'b1;
      steps_o = Sync | Fault | Save;
    end else if (live && ev_closed) begin
      row.st = iwarp_pkg::QpsError;
      graceful_o = 1'b1;
      steps_o     = Sync | Quiet | Ctl | Drain | Async;
    end else if (live && ev_cq) begin
      cause_o   = iwarp_pkg::CauseLocalCatastrophic;
      row.term_seen = row.term_seen || ev_term;
      steps_o    = Fault | Save;
    end else if (live && ev_term) begin
      row.term_seen = 1'b1;
      steps_o    = Save;
    end else if (live && row.asked && !row.half && !row.lost && ev_idle) begin
      row.half = 1'b1;
      graceful_o = 1'b1;
      ctl_op_o   = iwarp_pkg::QpoHalfClose;
      steps_o    = Ctl | Save;
    end else if (live && !row.asked && !row.lost &&
                 (ev_peer || (ev_empty && row.st == iwarp_pkg::QpsClosing))) begin
      row.fin = row.fin || ev_peer;
      again_o = 1'b1;
      steps_o  = ev_peer ? Sync | Quiet | Look : Quiet | Look;
    end else if (row.exists && row.st == iwarp_pkg::QpsIdle && ev_cq) begin
      row.st = iwarp_pkg::QpsError;
      row.cause = iwarp_pkg::CauseLocalCatastrophic;
      steps_o = Quiet | Drain | Async;
    end else if (row.exists && row.st == iwarp_pkg::QpsTerminate && row.term_wait && ended) begin
      row.st = iwarp_pkg::QpsError;
      row.term_wait = 1'b0;
      ctl_op_o  = ev_term || ev_closed ? iwarp_pkg::QpoStop : iwarp_pkg::QpoAbort;
      steps_o    = Ctl | Drain | Async;
    end
    row.params = params;
    ctx_o      = row;
  end
endmodule

// qp_state: executes commands of admin and events of QPs, one at a time: states, start and stop,
// drain.
//
//   event (qp_event) --+--> [ read context ] --> [ qp_decide ] --> steps: executed in bit order
//   qp_cmd ------------+                              ^
//                                                     +-- look: qp_retire's response (closing,
//                                                         peer_closed)
//
// Steps, in order: close the doorbell; sync mpa and ddp; issue off; barrier through issue; mark the
// failed request; look; qp_fault; start or stop the other units (qp_ctl); barriers through both
// fetches; flush; initialise the tables; purge halves of pushes (host_if, only for destroy_qp);
// save (context, copy for qp_pick); kick; qp_async; limit of an SRQ; answer.
// 1. Waiting for a Terminate to be sent, or for the responder to be idle, is not a step. The QP
//    rests in state terminate or closing; term_done, or rdmap's qp_error of cause none, starts the
//    remaining steps.
// 2. A create_qp or create_srq waits until qp_cq_walk and qp_event are empty (news_idle_i): a
//    pending event may be of an earlier life of the QP's number, or of its CQs' numbers.
// 3. qp_state never waits for anything that a peer can delay.
// 4. A command blocks admin, and with it other users, for at most CommandPatience cycles (decision
//    6): then the answer is in_progress if the command has not begun, or if it is a modify_qp to
//    error that waits. The end of the QP goes on without its command. A destroy_qp that has begun
//    waits for the reads of all QPs issued before it; other commands take a bounded number of
//    cycles. A modify_qp to rts is never answered with in_progress, because admin has already sent
//    its streaming bytes. The query_qp that admin sends before them may be.
//
// Waits for the units that it stops, for cq and place_done, for which those units wait, and for
// host_if to purge. qp_event collects events meanwhile.
// Siblings: qp_decide (chooses the steps), qp_ctl (sends the orders to the units).
// Bench: tb/qp/qp_test.cpp
`include "rnic_assert.svh"
`include "rnic_words.svh"

module qp_state #(
  localparam int unsigned QpnW  = $clog2(rnic_pkg::NumQps),
  localparam int unsigned SlotW = $clog2(rnic_pkg::SqWindow)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  // from the clearing walker
  input  logic             clear_busy_i,
  input  logic [QpnW-1:0]  clear_addr_i,
  // from and to admin
  input  logic             qp_cmd_valid_i,
  output logic             qp_cmd_ready_o,
  input  iwarp_pkg::qp_cmd_t qp_cmd_i,
  output logic             qp_cmd_rsp_valid_o,
  input  logic             qp_cmd_rsp_ready_i,
  output iwarp_pkg::qp_cmd_rsp_t qp_cmd_rsp_o,
  // from qp_event
  input  logic             event_valid_i,
  output logic             event_ready_o,
  input  logic [QpnW-1:0]  event_qpn_i,
  input  logic [6:0]       event_bits_i,
  input  iwarp_pkg::qp_error_t event_error_i,
  input  logic             news_idle_i,    // no event and no CQ overrun is pending from before
  // to qp_pick and qp_cq_walk: the state. run: WQEs may be issued; flush: in state error; watch:
  // closing, and rdmap has no half_close yet; fin: the peer's FIN has arrived
  output logic             st_we_o,
  output logic [QpnW-1:0]  st_qpn_o,
  output logic             st_run_o,
  output logic             st_flush_o,
  output logic             st_watch_o,
  output logic             st_fin_o,
  output logic [5:0]       st_ord_o,
  output logic             st_persist_o,
  output logic             st_privileged_o,
  output logic [15:0]      st_pd_o,
  // set: to qp_cq_walk: a QP is created (exists 1) or destroyed
  output logic             set_valid_o,
  output logic             set_exists_o,
  // to the owners of tables: a QP is created
  output logic [5:0]       init_valid_o,   // doorbell, slot, fetch, emit, retire, rq_fetch
  input  logic [5:0]       init_ready_i,
  output logic             init_exists_o,
  output logic             init_is_srq_o,
  output iwarp_pkg::admin_qp_args_t init_args_o,
  // to qp_rq_fetch: modify_srq sets the limit of an SRQ
  output logic             limit_valid_o,
  input  logic             limit_ready_i,
  output logic [15:0]      limit_o,
  // barriers, from bit 0 on: issue (qp_pick to qp_emit), SQ fetch, RQ fetch. done: barrier came out
  output logic [2:0]       barrier_valid_o,
  input  logic [2:0]       barrier_ready_i,
  input  logic [2:0]       barrier_done_i,
  // to and from qp_retire
  output logic             ret_req_valid_o,
  input  logic             ret_req_ready_i,
  output logic [1:0]       ret_req_op_o,      // 0 look, 1 mark, 2 flush
  output logic [SlotW-1:0] ret_req_slot_o,
  output logic [7:0]       ret_req_status_o,
  input  logic             ret_rsp_valid_i,
  input  logic [15:0]      ret_rsp_sq_i,      // ring index after the last WQE retired
  input  logic [15:0]      ret_rsp_rq_i,      // ring index after the last receive WQE retired
  input  logic             ret_rsp_empty_i,   // all posted send WQEs are retired
  input  logic             ret_rsp_reads_i,   // requests are outstanding
  // to and from qp_ctl
  output logic             ctl_valid_o,
  output logic [2:0]       ctl_op_o,
  output logic             ctl_graceful_o,
  output iwarp_pkg::qp_params_t ctl_params_o,
  input  logic             ctl_done_i,
  // to qp_sched
  output logic             kick_valid_o,
  input  logic             kick_ready_i,
  // the current QP, for all of the above
  output logic [QpnW-1:0]  qpn_o,
  // to rdmap and cq
  output logic             qp_fault_valid_o,
  input  logic             qp_fault_ready_i,
  output iwarp_pkg::qp_fault_t qp_fault_o,
  output logic             qp_async_valid_o,
  input  logic             qp_async_ready_i,
  output iwarp_pkg::qp_async_t qp_async_o,
  // to host_if
  output logic             qp_purge_valid_o,
  input  logic             qp_purge_ready_i,
  output iwarp_pkg::qp_purge_t qp_purge_o
);
  localparam int unsigned CtxW = `RNIC_QP_STATE_W;
  localparam int unsigned Steps = 18;
  // In the order of execution; qp_decide names the same bits.
  localparam int unsigned
    DoorOff = 0, Sync = 1, Off = 2, Barrier = 3, Mark = 4, Look = 5, Fault = 6, Ctl = 7,
    BarFetch = 8, BarRq = 9, Flush = 10, Init = 11, Purge = 12, Save = 13, Kick = 14, Async = 15,
    Limit = 16, Answer = 17;

  typedef enum logic [2:0] {
    StIdle,     // takes an event, else a command; reads the context
    StLoad,     // the context arrives
    StDecide,   // qp_decide's output: steps, new context
    StStep,     // chooses the next step
    StDo,       // executes it
    StWait,     // waits for the response to the step
    StLooked    // qp_retire has responded: decide again
  } state_e;

  state_e           state_d, state_q;
  logic             is_cmd_q, take_event, take_cmd, in_range, cmd_valid;
  iwarp_pkg::qp_cmd_t cmd;
  logic [QpnW-1:0]  qpn_q;
  logic [6:0]       bits_q;
  logic [CtxW-1:0]  ctx_ram, ctx_q, ctx_new;
  logic [Steps-1:0] steps_q, steps_new, step_q, next_step;
  logic             any_step, again_q, again_new, empty_q, reads_q;
  logic [4:0]       unused_step;
  logic [2:0]       ctl_op_q, ctl_op_new;
  logic             graceful_q, graceful_new;
  logic [7:0]       status_q, status_new, cause_q, cause_new;
  logic [15:0]      sq_q, rq_q;
  logic             step_done, begun, waits;
  logic             mine, ends, cmd_done, give_up_q;
  logic [9:0]       waited_q, worked_q;
  logic [SlotW-1:0] slot_q;
  logic [7:0]       wr_status_q;

  stream_reg #(.Width(iwarp_pkg::QpCmdWidth)) u_cmd (
    .clk_i, .rst_ni, .valid_i(qp_cmd_valid_i), .ready_o(qp_cmd_ready_o), .data_i(qp_cmd_i),
    .valid_o(cmd_valid), .ready_i(cmd_done), .data_o(cmd)
  );
  assign cmd_done = qp_cmd_rsp_valid_o && qp_cmd_rsp_ready_i;

  assign in_range   = cmd.object < 32'(rnic_pkg::NumQps);
  assign take_event = state_q == StIdle && !clear_busy_i && event_valid_i;
  assign take_cmd   = state_q == StIdle && !clear_busy_i && !event_valid_i &&
                      cmd_valid && !give_up_q &&
                      ((cmd.opcode != iwarp_pkg::CmdCreateQp &&
                        cmd.opcode != iwarp_pkg::CmdCreateSrq) || news_idle_i);
  assign event_ready_o = state_q == StDecide && !is_cmd_q;

  ram_1r1w #(.Width(CtxW), .Depth(rnic_pkg::NumQps)) u_ctx (
    .clk_i, .rst_ni, .we_i(clear_busy_i || (state_q == StDo && step_q[Save])),
    .waddr_i(clear_busy_i ? clear_addr_i : qpn_q), .wdata_i(clear_busy_i ? '0 : ctx_q),
    .re_i(take_event || take_cmd),
    .raddr_i(take_event ? event_qpn_i : in_range ? cmd.object[QpnW-1:0] : '0),
    .rdata_o(ctx_ram)
  );

  qp_decide u_decide (
    .is_cmd_i(is_cmd_q), .again_i(state_q == StLooked),
    .cmd_i(cmd), .in_range_i(in_range), .bits_i(bits_q),
    .error_i(event_error_i), .ctx_i(ctx_q), .empty_i(empty_q), .reads_i(reads_q),
    .ctx_o(ctx_new), .steps_o(steps_new), .again_o(again_new),
    .ctl_op_o(ctl_op_new), .graceful_o(graceful_new), .cause_o(cause_new),
    .status_o(status_new)
  );

  first_one #(.N(Steps)) u_next (
    .request_i(steps_q), .any_o(any_step), .onehot_o(next_step), .index_o(unused_step)
  );

  // waits: the step waits for a response (answered). begun: the step's request is taken; a step
  // without a response is then done.
  logic fork_ready;
  logic [5:0] init_fork;
  assign waits = step_q[Barrier] || step_q[Mark] || step_q[Look] || step_q[Ctl] || step_q[Sync] ||
                 step_q[BarFetch] || step_q[BarRq] || step_q[Flush];
  always_comb begin
    begun = 1'b1;   // Off, Save
    if (step_q[DoorOff])  begun = init_ready_i[0];
    if (step_q[Init])     begun = fork_ready;
    if (step_q[Barrier])  begun = barrier_ready_i[0];
    if (step_q[BarFetch]) begun = barrier_ready_i[1];
    if (step_q[BarRq])    begun = barrier_ready_i[2];
    if (step_q[Mark] || step_q[Look] || step_q[Flush]) begun = ret_req_ready_i;
    if (step_q[Fault])    begun = qp_fault_ready_i;
    if (step_q[Purge])    begun = qp_purge_ready_i;
    if (step_q[Kick])     begun = kick_ready_i;
    if (step_q[Async])    begun = qp_async_ready_i;
    if (step_q[Limit])    begun = limit_ready_i;
    if (step_q[Answer])   begun = qp_cmd_rsp_ready_i;
  end
  logic answered;
  assign answered = (step_q[Barrier] && barrier_done_i[0]) ||
                    (step_q[BarFetch] && barrier_done_i[1]) ||
                    (step_q[BarRq] && barrier_done_i[2]) ||
                    ((step_q[Ctl] || step_q[Sync]) && ctl_done_i) ||
                    ((step_q[Mark] || step_q[Look] || step_q[Flush]) && ret_rsp_valid_i);
  assign step_done = (state_q == StDo && begun && !waits) || (state_q == StWait && answered);

  // --- patience: the answer in_progress
  // mine: the command is in execution. give_up: it gets in_progress, and its steps lose Answer.
  // late: the command has waited CommandPatience cycles. slow: the execution in progress has taken
  // as many.
  // starts, ends: the command is a modify_qp to rts, to error.
  // A command that arrives while the execution in progress is slow is answered at once, so that the
  // driver may repeat the command often.
  logic late, slow, give_up, end_waits, starts;
  iwarp_pkg::admin_modify_args_t modify_args;
  assign modify_args = cmd.args;
  assign mine      = is_cmd_q && state_q != StIdle;
  assign late      = waited_q == rnic_pkg::CommandPatience;
  assign slow      = worked_q == rnic_pkg::CommandPatience && state_q != StIdle;
  // In StDo too: a step cannot begin while the queues of reads are full.
  assign end_waits = mine && ends && ((state_q == StWait && !answered) ||
                                      (state_q == StDo && !step_q[Answer]));
  assign give_up   = cmd_valid && !give_up_q &&
                     ((!mine && !take_cmd && !starts && (late || slow)) || (end_waits && late));
  assign starts    = cmd.opcode == iwarp_pkg::CmdModifyQp &&
                     modify_args.to_state == 8'(iwarp_pkg::QpsRts);
  assign ends      = cmd.opcode == iwarp_pkg::CmdModifyQp &&
                     modify_args.to_state == 8'(iwarp_pkg::QpsError);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      give_up_q <= 1'b0;
      waited_q  <= '0;
      worked_q  <= '0;
    end else begin
      give_up_q <= give_up || (give_up_q && !cmd_done);
      if (!cmd_valid || cmd_done) waited_q <= '0;
      else if (!late)             waited_q <= waited_q + 10'd1;
      if (state_q == StIdle)                               worked_q <= '0;
      else if (worked_q != rnic_pkg::CommandPatience) worked_q <= worked_q + 10'd1;
    end
  end

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StIdle:   if (take_event || take_cmd) state_d = StLoad;
      StLoad:   state_d = StDecide;
      StDecide: state_d = StStep;
      StStep:   state_d = any_step ? StDo : StIdle;
      StDo:     if (begun) state_d = waits ? StWait : StStep;
      StWait:   if (answered) state_d = step_q[Look] && again_q ? StLooked : StStep;
      StLooked: state_d = StStep;
      default:  state_d = StIdle;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= StIdle;
    else         state_q <= state_d;
  end

  always_ff @(posedge clk_i) begin
    if (take_event || take_cmd) begin
      is_cmd_q <= take_cmd;
      bits_q   <= event_bits_i;
      qpn_q    <= take_event ? event_qpn_i : cmd.object[QpnW-1:0];
    end
    if (state_q == StLoad) ctx_q <= ctx_ram;
    if (state_q == StDecide || state_q == StLooked) begin
      ctx_q    <= ctx_new;
      steps_q   <= steps_new;
      again_q  <= again_new;
      ctl_op_q <= ctl_op_new;
      graceful_q <= graceful_new;
      cause_q  <= cause_new;
      status_q <= status_new;
    end else if (step_done) begin
      steps_q <= steps_q & ~step_q;
    end
    if (give_up && mine) begin
      is_cmd_q        <= 1'b0;
      steps_q[Answer] <= 1'b0;
    end
    if (state_q == StStep) step_q <= next_step;
    if (state_q == StWait && ret_rsp_valid_i) begin
      {sq_q, rq_q, empty_q, reads_q}
            <= {ret_rsp_sq_i, ret_rsp_rq_i, ret_rsp_empty_i, ret_rsp_reads_i};
    end
    // The fields that `mark` needs must outlive the event.
    if (state_q == StDecide)
      {slot_q, wr_status_q} <= {event_error_i.slot[SlotW-1:0], event_error_i.status};
  end

  // --- the context's fields
  // live: WQEs may be issued. drained: a bit of the answer to query_qp.
  typedef `RNIC_QP_STATE_T row_t;
  row_t        row;
  logic        live, drained, unused_ctx, unused_err;
  iwarp_pkg::qp_params_t params;
  assign row        = ctx_q;
  if ($bits(row) != CtxW) $fatal(1, "qp_state %m: widths of rnic_words.svh");
  assign params     = row.params;
  assign live       = row.exists && !row.asked && !row.lost &&
                      (row.st == iwarp_pkg::QpsRts || row.st == iwarp_pkg::QpsClosing);
  assign drained    = row.st == iwarp_pkg::QpsIdle || row.st == iwarp_pkg::QpsError;
  assign unused_ctx = ^{row.half, row.term_wait, row.term_seen};
  assign unused_err = ^event_error_i.slot;

  // --- outputs
  logic doing;
  assign doing = state_q == StDo;
  assign qpn_o = qpn_q;

  assign st_we_o    = doing && (step_q[Off] || step_q[Save]);
  assign st_qpn_o   = qpn_q;
  assign st_run_o   = step_q[Save] && live;
  assign st_flush_o = step_q[Save] && row.exists && row.st == iwarp_pkg::QpsError;
  assign st_watch_o = step_q[Save] && live && row.st == iwarp_pkg::QpsClosing;
  assign st_fin_o   = row.fin;
  assign st_ord_o   = params.ord;
  assign st_persist_o = params.persist;
  assign st_privileged_o = params.privileged;
  assign st_pd_o    = params.pd;

  assign set_valid_o  = doing && step_q[Save] && is_cmd_q &&
                        (cmd.opcode == iwarp_pkg::CmdCreateQp ||
                         cmd.opcode == iwarp_pkg::CmdDestroyQp);
  assign set_exists_o = row.exists;

  stream_fork #(.N(6)) u_init (
    .clk_i, .rst_ni, .valid_i(doing && step_q[Init]),
    .ready_o(fork_ready), .valid_o(init_fork), .ready_i(init_ready_i)
  );
  assign init_valid_o    = {init_fork[5:1], init_fork[0] || (doing && step_q[DoorOff])};
  assign init_exists_o   = step_q[Init];
  assign init_is_srq_o   = cmd.opcode == iwarp_pkg::CmdCreateSrq;
  assign init_args_o     = cmd.args;
  iwarp_pkg::admin_limit_args_t limit_args;
  logic unused_limit;
  assign limit_args      = cmd.args;
  assign limit_valid_o   = doing && step_q[Limit];
  assign limit_o         = limit_args.limit;
  assign unused_limit    = ^{limit_args.reserved0, limit_args.reserved1, limit_args.reserved2,
                             modify_args};
  assign barrier_valid_o = doing ? {step_q[BarRq], step_q[BarFetch], step_q[Barrier]} : 3'b000;

  assign ret_req_valid_o  = doing && (step_q[Mark] || step_q[Look] || step_q[Flush]);
  assign ret_req_op_o     = step_q[Mark] ? 2'd1 : step_q[Flush] ? 2'd2 : 2'd0;
  assign ret_req_slot_o   = slot_q;
  assign ret_req_status_o = wr_status_q;

  assign ctl_valid_o  = (doing || state_q == StWait) && (step_q[Ctl] || step_q[Sync]);
  assign ctl_op_o     = step_q[Sync] ? iwarp_pkg::QpoSync : ctl_op_q;
  assign ctl_graceful_o = graceful_q;
  assign ctl_params_o = params;
  assign kick_valid_o = doing && step_q[Kick];

  assign qp_fault_valid_o = doing && step_q[Fault];
  assign qp_fault_o       = {16'(qpn_q), cause_q};
  assign qp_async_valid_o = doing && step_q[Async];
  assign qp_async_o       = 16'(qpn_q);
  assign qp_purge_valid_o = doing && step_q[Purge];
  assign qp_purge_o       = 16'(qpn_q);

  logic [127:0] result;
  // admin_qp_result_t
  assign result = {64'd0, rq_q, sq_q, row.peer_term, row.cause, 3'd0, drained, row.has_peer_term,
                   row.st};
  assign qp_cmd_rsp_valid_o = (doing && step_q[Answer]) || give_up_q;
  assign qp_cmd_rsp_o       = give_up_q ? {iwarp_pkg::AdmInProgress, 128'd0}
                            : {status_q,
                               cmd.opcode == iwarp_pkg::CmdQueryQp && status_q == iwarp_pkg::AdmOk
                               ? result : 128'd0};

  `RNIC_ASSERT(OneAnswer_A, !(give_up_q && doing && step_q[Answer]))
  `RNIC_COVER(EndWaits_C, end_waits && give_up)
  `RNIC_COVER(CommandWaits_C, !mine && give_up)
  `RNIC_STREAM_STABLE(RspStable_A, qp_cmd_rsp_valid_o, qp_cmd_rsp_ready_i, qp_cmd_rsp_o)
  `RNIC_STREAM_STABLE(FaultStable_A, qp_fault_valid_o, qp_fault_ready_i, qp_fault_o)
  `RNIC_STREAM_STABLE(AsyncStable_A, qp_async_valid_o, qp_async_ready_i, qp_async_o)
  `RNIC_STREAM_STABLE(PurgeStable_A, qp_purge_valid_o, qp_purge_ready_i, qp_purge_o)

  // Simulation only: commit trace (architecture 10)
  iwarp_pkg::qp_state_commit_t tap_qp_state /*verilator public_flat_rd*/;
  assign tap_qp_state = {state_q == StDecide || state_q == StLooked, is_cmd_q, state_q == StLooked,
                         is_cmd_q ? cmd.object[15:0] : 16'(qpn_q), is_cmd_q ? 7'd0 : bits_q,
                         !is_cmd_q && bits_q[0] && event_error_i.cause == iwarp_pkg::CauseNone};
  iwarp_pkg::qp_answer_commit_t tap_qp_answer /*verilator public_flat_rd*/;
  assign tap_qp_answer = {cmd_done, cmd.object[15:0], give_up_q};
endmodule

// admin_exec: executes one command at a time: checks it, looks up the objects that it names, passes
// it to its unit, records the change.
//
//   command -> [ admin_judge ] -> read tables -> read the receive CQ, SRQ -> exists? in use?
//     -> slot free? ranges free? page list (create_mr) / QP idle? ranges free? connection and bytes
//        (modify_qp to rts, conn_send)
//     -> unit's command -> its response
//     -> create_qp: if one of its CQs has overrun, destroy the QP again
//     -> destroy_qp, modify_qp to error: query cq; its response proves that the QP's completions
//        are written
//     -> up to 5 changes of the tables, each a read and a write -> bytes in (conn_give) -> response
//
// Invariants:
//  1. No state changes before all possible checks have passed. If the unit refuses the command, the
//     tables stay unchanged.
//  2. A unit whose command would have to wait for traffic responds in_progress. admin_exec returns
//     that status like a refusal (decision 6). A long page list likewise (admin_pages).
//  3. An object has its ranges (admin_ranges) from the check of a create_mr or modify_qp to rts
//     until that command fails, or until destroy_mr or destroy_qp is answered ok. While admin_pages
//     keeps a page list, the list's STag slot has its ranges. A create_mr for that slot or those
//     ranges releases them first. So does one with another long list, if the kept one is old.
// Latency: about 10 cycles plus the unit's time. One command at a time.
// Back-pressure: waits for the unit, for admin_pages and admin_bytes, and for admin_ring.
// Siblings: admin_tables, admin_ranges, admin_pages, admin_bytes, admin_ring.
// Bench: tb/admin/admin_test.cpp, on the unit: commands to units and their responses are ports of
// admin, and one command at a time passes between admin_ring and this leaf.
`include "rnic_assert.svh"

module admin_exec (
  input  logic clk_i,
  input  logic rst_ni,
  output logic ready_o,
  input  logic cmd_valid_i,
  output logic cmd_ready_o,
  input  iwarp_pkg::admin_cmd_t cmd_i,
  output logic rsp_valid_o,
  input  logic rsp_ready_i,
  output iwarp_pkg::cmd_rsp_t rsp_o,
  // commands to units: one stream. unit_o: 0 qp, 1 cq, 2 tpt, 3 llp_if
  output logic unit_valid_o,
  input  logic unit_ready_i,
  output logic [1:0] unit_o,
  output iwarp_pkg::cmd_t unit_cmd_o,
  input  logic unit_rsp_valid_i,
  output logic unit_rsp_ready_o,
  input  iwarp_pkg::cmd_rsp_t unit_rsp_i,
  // page list, to and from admin_pages
  output logic pages_start_o,
  output logic pages_continue_o,             // with start: from the kept position
  input  logic pages_done_i,
  input  iwarp_pkg::admin_status_e pages_status_i,
  // the page list that admin_pages keeps until its next create_mr
  output logic kept_turned_away_o,           // another long list is answered in_progress
  output logic kept_forget_o,
  input  logic kept_i,                       // a list is kept
  input  logic kept_same_i,                  // the kept list is that of the command
  input  logic kept_old_i,                   // its owner has not continued it; it may be forgotten
  input  logic [15:0] kept_slot_i,           // its STag slot
  output iwarp_pkg::admin_cmd_t cmd_o,       // the current command, for admin_pages and admin_bytes
  // streaming bytes, orders to admin_bytes: read them from memory; send them; discard them; write
  // those that arrive to memory
  output logic load_o,
  output logic send_o,
  output logic drop_o,
  output logic store_o,
  input  logic bytes_done_i,
  input  logic bytes_failed_i,
  input  logic [15:0] stored_i
);
  // Uses of an object. A PD: up to 65536 regions and 8192 QPs and SRQs. A CQ: 2 of each QP.
  localparam int unsigned UseW = 20;
  localparam logic [1:0] UnitQp = 2'd0, UnitCq = 2'd1, UnitTpt = 2'd2, UnitLlp = 2'd3;

  typedef enum logic [4:0] {
    StIdle, StJudge,
    StRead1, StGot1, StRead2, StGot2,      // tables
    StIsFree, StIsFreeRsp,                 // create_mr: checks that its slot is free
    StPlan,                                // create_mr: begin, continue, or wait for another's list
    StClaim, StRelease,                    // ranges of page-list entries, IRD and ORD slots
    StPages,                               // page list
    StIsIdle, StIsIdleRsp,                 // modify to rts: the QP's state
    StConn, StConnRsp,                     // modify to rts, conn_send: llp_if: connection, credit
    StLoad, StSend, StDrop,                // bytes out
    StUnit, StUnitRsp,                     // the command itself
    // create_qp: query its CQs; if one has overrun, destroy the QP again. qp knows the QP by then,
    // so a later overrun fails it
    StCq, StCqRsp, StUndo, StUndoRsp,
    // destroy_qp, modify to error: query cq after the QP's completions
    StBehind, StBehindRsp,
    StChange, StChangeGot, StChangeWrite,  // tables
    StStore,                               // bytes in
    StAnswer
  } state_e;
  state_e state_d, state_q;

  iwarp_pkg::admin_cmd_t     cmd_q;
  iwarp_pkg::admin_status_e  judged, status_d, status_q;
  logic [127:0]              result_q;
  logic                      second_q;   // the second of the QP's CQs
  iwarp_pkg::admin_ring_args_t   ring;
  iwarp_pkg::admin_qp_args_t     qp;
  iwarp_pkg::admin_modify_args_t mod;
  iwarp_pkg::admin_mr_args_t     mr;
  iwarp_pkg::admin_qp_result_t   qp_result;
  iwarp_pkg::admin_cq_result_t   cq_result;
  iwarp_pkg::admin_destroy_mr_result_t destroyed;
  assign ring      = cmd_q.args;
  assign qp        = cmd_q.args;
  assign mod       = cmd_q.args;
  assign mr        = cmd_q.args;
  assign qp_result = unit_rsp_i.result;
  assign cq_result = unit_rsp_i.result;
  assign destroyed = result_q;
  assign cmd_o     = cmd_q;

  logic refs_ok, args_ok;
  admin_judge u_judge (.cmd_i(cmd_q), .status_o(judged), .refs_ok_o(refs_ok), .args_ok_o(args_ok));

  // --- what kind of command: opcodes of one kind of object share their upper bits
  logic is_pd, is_eq, is_cq, is_qp, is_srq, is_mr, is_conn,
        is_create, is_destroy, to_rts, ends_qp, has_stream, has_unit;
  logic [7:0] op;
  assign op         = cmd_q.opcode;
  assign is_pd      = op[7:3] == 5'h00 && op != iwarp_pkg::CmdNop;
  assign is_eq      = op[7:3] == 5'h01;
  assign is_cq      = op[7:3] == 5'h02;
  assign is_qp      = op[7:3] == 5'h03;                 // and SRQs
  assign is_srq     = op[7:2] == 6'h07;
  assign is_mr      = op[7:3] == 5'h04;
  assign is_conn    = op[7:4] == 4'h3;
  assign is_create  = op == iwarp_pkg::CmdCreatePd || op == iwarp_pkg::CmdCreateEq ||
                      op == iwarp_pkg::CmdCreateCq || op == iwarp_pkg::CmdCreateQp ||
                      op == iwarp_pkg::CmdCreateSrq;
  assign is_destroy = op == iwarp_pkg::CmdDestroyPd || op == iwarp_pkg::CmdDestroyEq ||
                      op == iwarp_pkg::CmdDestroyCq || op == iwarp_pkg::CmdDestroyQp ||
                      op == iwarp_pkg::CmdDestroySrq;
  assign to_rts     = op == iwarp_pkg::CmdModifyQp && mod.to_state == 8'(iwarp_pkg::QpsRts);
  assign ends_qp    = op == iwarp_pkg::CmdDestroyQp ||
                      (op == iwarp_pkg::CmdModifyQp && mod.to_state == 8'(iwarp_pkg::QpsError));
  assign has_stream = (to_rts && mod.stream_length != '0) || op == iwarp_pkg::CmdConnSend;
  assign has_unit   = is_eq || is_cq || is_qp || is_mr || is_conn;

  // --- tables
  logic tables_busy, re, pd_we, eq_we, cq_we, qp_we, exists_w;
  logic [15:0] pd_at, eq_at, cq_at, qp_at;
  logic pd_exists, eq_exists, cq_exists, qp_exists;
  logic [UseW-1:0] pd_uses, eq_uses, cq_uses, uses_w;
  logic [5:0]  cq_eq, cq_eq_w;
  typedef struct packed {
    logic        is_srq;
    logic        has_srq;
    logic [15:0] srq;
    logic [15:0] pd;
    logic [15:0] send_cq;   // of an SRQ {send_cq, recv_cq} are its uses
    logic [15:0] recv_cq;
  } refs_t;
  refs_t qp_refs, qp_refs_w;
  admin_tables u_tables (
    .clk_i, .rst_ni, .busy_o(tables_busy), .re_i(re),
    .pd_i(pd_at), .eq_i(eq_at), .cq_i(cq_at), .qp_i(qp_at),
    .pd_exists_o(pd_exists), .pd_uses_o(pd_uses), .eq_exists_o(eq_exists), .eq_uses_o(eq_uses),
    .cq_exists_o(cq_exists),
    .cq_eq_o(cq_eq), .cq_uses_o(cq_uses), .qp_exists_o(qp_exists), .qp_refs_o(qp_refs),
    .pd_we_i(pd_we), .eq_we_i(eq_we), .cq_we_i(cq_we), .qp_we_i(qp_we),
    .exists_i(exists_w), .uses_i(uses_w), .cq_eq_i(cq_eq_w),
    .qp_refs_i(qp_refs_w)
  );
  assign ready_o = !tables_busy && !ranges_busy;

  // --- ranges. claimed_q: the ranges of this command's object are claimed. old_q: those to be
  // released are the kept list's. is_long: the list has more than one chunk of admin_pages.
  logic ranges_busy, ranges_start, ranges_done, ranges_refused, ranging,
        started_q, claimed_q, old_q, has_list, is_long, is_kept_slot;
  logic gives_back, claims_again;
  assign has_list     = !mr.fast && mr.window == '0;
  assign is_long      = mr.pages > 32'd64;
  assign is_kept_slot = kept_i && kept_slot_i == cmd_q.object[15:0];
  assign ranging      = state_q == StClaim || state_q == StRelease;
  assign ranges_start = ranging && !started_q;
  admin_ranges u_ranges (
    .clk_i, .rst_ni, .busy_o(ranges_busy), .start_i(ranges_start),
    .release_i(state_q == StRelease), .is_qp_i(is_qp),
    .object_i(old_q                         ? kept_slot_i
            : op == iwarp_pkg::CmdDestroyMr ? destroyed.slot : cmd_q.object[15:0]),
    .first_base_i(is_qp ? 32'(mod.ird_base) : mr.pbl_base),
    .first_count_i(is_qp ? 32'(mod.ird) : mr.pages),
    .second_base_i(mod.ord_base), .second_count_i(is_qp ? 16'(mod.ord) : 16'd0),
    .done_o(ranges_done), .refused_o(ranges_refused)
  );
  // StPlan, of a create_mr when a list is kept: continues that list; or releases its ranges and
  // forgets it; or answers in_progress, because that list is not finished
  logic plan_continue, plan_release, plan_wait;
  assign plan_continue = has_list && kept_same_i;
  assign plan_release  = !plan_continue &&
                         (is_kept_slot || (kept_i && is_long && has_list && kept_old_i));
  assign plan_wait     = !plan_continue && !plan_release && kept_i && is_long && has_list;
  // claims_again: entries of a create_mr are in use, perhaps by the kept list. So that list is
  // released and forgotten: its owner may never continue it, and it loses only its progress.
  assign claims_again = state_q == StClaim && ranges_done && ranges_refused && !is_qp && kept_i;
  // gives_back: the command failed after its claim. A kept list keeps its ranges: claimed_q is 0.
  assign gives_back = claimed_q && status_q != iwarp_pkg::AdmOk;

  // First read: the object, and the objects that the arguments name. Second: the receive CQ, the
  // SRQ.
  logic first_pd_q, first_eq_q, first_cq_q, first_qp_q, first_used_q;
  logic [5:0]  old_eq_q;
  refs_t       refs_q;
  logic        first_uses, has_srq, srq_there, srq_fits;
  assign first_uses = is_pd ? pd_uses != '0 : is_eq ? eq_uses != '0 : is_cq ? cq_uses != '0
                    : is_srq && {qp_refs.send_cq, qp_refs.recv_cq} != '0;
  assign has_srq   = op == iwarp_pkg::CmdCreateQp && qp.has_srq;
  assign srq_there = qp_exists && qp_refs.is_srq;
  assign srq_fits  = !has_srq || qp_refs.pd == qp.pd;   // the SRQ is of the QP's PD

  // --- changes: a list for each command, from first to last. Each is on one entry (change_at) of
  // one table (on_*): the object begins or ceases to exist, or its uses grow or shrink by one.
  logic [2:0] change_q;
  logic       change_last, add, sub, set_exists, set_gone;
  logic       on_pd, on_eq, on_cq, on_qp;
  logic [15:0] change_at;
  always_comb begin
    {on_pd, on_eq, on_cq, on_qp, add, sub, set_exists, set_gone} = '0;
    change_at   = cmd_q.object[15:0];
    change_last = change_q == 3'd0;
    case (op)
      iwarp_pkg::CmdCreatePd, iwarp_pkg::CmdDestroyPd: begin
        on_pd      = 1'b1;
        set_exists = is_create;
        set_gone   = is_destroy;
      end
      iwarp_pkg::CmdCreateEq, iwarp_pkg::CmdDestroyEq: begin
        on_eq      = 1'b1;
        set_exists = is_create;
        set_gone   = is_destroy;
      end
      iwarp_pkg::CmdCreateCq, iwarp_pkg::CmdDestroyCq: begin
        change_last = change_q == 3'd1;
        if (change_q == 3'd0) begin
          on_cq      = 1'b1;
          set_exists = is_create;
          set_gone   = is_destroy;
        end else begin
          on_eq     = 1'b1;
          add       = is_create;
          sub       = is_destroy;
          change_at = is_create ? {8'h0, ring.eqn} : {10'h0, old_eq_q};
        end
      end
      iwarp_pkg::CmdModifyCq: begin
        change_last = change_q == 3'd2;
        on_cq       = change_q == 3'd0;       // changes only its EQ
        on_eq       = change_q != 3'd0;
        sub         = change_q == 3'd1;
        add         = change_q == 3'd2;
        if (change_q == 3'd1) change_at = {10'h0, old_eq_q};
        if (change_q == 3'd2) change_at = {8'h0, ring.eqn};
      end
      iwarp_pkg::CmdCreateQp, iwarp_pkg::CmdDestroyQp: begin
        change_last = change_q == ((is_create ? qp.has_srq : refs_q.has_srq) ? 3'd4 : 3'd3);
        add         = is_create && change_q != 3'd0;
        sub         = is_destroy && change_q != 3'd0;
        case (change_q)
          3'd0: begin
            on_qp      = 1'b1;
            set_exists = is_create;
            set_gone   = is_destroy;
          end
          3'd1: begin
            on_pd     = 1'b1;
            change_at = is_create ? qp.pd : refs_q.pd;
          end
          3'd2: begin
            on_cq     = 1'b1;
            change_at = is_create ? qp.send_cq : refs_q.send_cq;
          end
          3'd3: begin
            on_cq     = 1'b1;
            change_at = is_create ? qp.recv_cq : refs_q.recv_cq;
          end
          default: begin
            on_qp     = 1'b1;
            change_at = is_create ? qp.srq : refs_q.srq;
          end
        endcase
      end
      iwarp_pkg::CmdCreateSrq, iwarp_pkg::CmdDestroySrq: begin
        change_last = change_q == 3'd1;
        on_qp       = change_q == 3'd0;
        on_pd       = change_q != 3'd0;
        set_exists  = is_create && on_qp;
        set_gone    = is_destroy && on_qp;
        add         = is_create && on_pd;
        sub         = is_destroy && on_pd;
        if (on_pd) change_at = is_create ? qp.pd : refs_q.pd;
      end
      iwarp_pkg::CmdCreateMr: begin
        on_pd     = 1'b1;
        add       = 1'b1;
        change_at = mr.pd;
      end
      iwarp_pkg::CmdDestroyMr: begin
        on_pd     = 1'b1;
        sub       = 1'b1;
        change_at = destroyed.pd;
      end
      default: ;
    endcase
  end
  logic [UseW-1:0] uses_now;
  logic            exists_now;
  assign uses_now   = on_pd ? pd_uses
                    : on_eq ? eq_uses
                    : on_qp ? {qp_refs.send_cq[3:0], qp_refs.recv_cq} : cq_uses;
  assign exists_now = on_pd ? pd_exists : on_eq ? eq_exists : on_qp ? qp_exists : cq_exists;
  assign exists_w   = set_exists || (exists_now && !set_gone);
  // A new QP or SRQ, or the uses of an SRQ.
  always_comb begin
    qp_refs_w = {is_srq, has_srq, qp.srq, qp.pd, qp.send_cq, qp.recv_cq};
    if (add || sub) begin
      qp_refs_w = qp_refs;
      {qp_refs_w.send_cq, qp_refs_w.recv_cq} = 32'(uses_w);
    end
  end
  assign uses_w     = (set_exists || set_gone) ? '0 : uses_now + UseW'(add) - UseW'(sub);
  assign cq_eq_w    = (op == iwarp_pkg::CmdCreateCq || op == iwarp_pkg::CmdModifyCq)
                    ? ring.eqn[5:0] : cq_eq;
  assign {pd_we, eq_we, cq_we, qp_we}
         = {on_pd, on_eq, on_cq, on_qp} & {4{state_q == StChangeWrite}};

  assign re    = state_q == StRead1 || state_q == StRead2 || state_q == StChange;
  always_comb begin
    pd_at = is_pd ? cmd_q.object[15:0] : is_mr ? mr.pd : qp.pd;
    eq_at = is_eq ? cmd_q.object[15:0] : {8'h0, ring.eqn};
    cq_at = is_cq ? cmd_q.object[15:0] : qp.send_cq;
    qp_at = cmd_q.object[15:0];
    if (state_q == StRead2) begin
      cq_at = qp.recv_cq;
      qp_at = qp.srq;
    end
    if (state_q == StChange) begin
      pd_at = change_at;
      eq_at = change_at;
      cq_at = change_at;
      qp_at = change_at;
    end
  end

  // --- control
  iwarp_pkg::admin_status_e found;     // verdict on the contents of the tables
  always_comb begin
    found = iwarp_pkg::AdmOk;
    if (is_create) begin
      if ((is_pd && first_pd_q) || (is_eq && first_eq_q) || (is_cq && first_cq_q) ||
          (is_qp && first_qp_q))
        found = iwarp_pkg::AdmExists;
      else if (is_cq && !first_eq_q)
        found = iwarp_pkg::AdmNotFound;
      else if (is_srq && !first_pd_q)
        found = iwarp_pkg::AdmNotFound;
      else if (is_qp && !is_srq &&
               !(first_pd_q && first_cq_q && cq_exists && (srq_there || !has_srq)))
        found = iwarp_pkg::AdmNotFound;
    end else begin
      if ((is_pd && !first_pd_q) || (is_eq && !first_eq_q) || (is_cq && !first_cq_q) ||
          (is_qp && !(first_qp_q && refs_q.is_srq == is_srq)))
        found = iwarp_pkg::AdmNotFound;
      else if (op == iwarp_pkg::CmdModifyCq && !first_eq_q)
        found = iwarp_pkg::AdmNotFound;
      else if (op == iwarp_pkg::CmdCreateMr && !first_pd_q)
        found = iwarp_pkg::AdmNotFound;
      else if (is_destroy && first_used_q)
        found = iwarp_pkg::AdmInUse;
    end
    if (found == iwarp_pkg::AdmOk && !refs_ok)      found = iwarp_pkg::AdmNotFound;
    else if (found == iwarp_pkg::AdmOk && !(args_ok && srq_fits)) found = iwarp_pkg::AdmBadArgument;
  end

  logic refused;                       // the unit's response is not ok
  assign refused = unit_rsp_i.status != iwarp_pkg::AdmOk;

  always_comb begin
    state_d  = state_q;
    status_d = status_q;
    case (state_q)
      StIdle: begin
        status_d = iwarp_pkg::AdmOk;
        if (cmd_ready_o && cmd_valid_i) state_d = StJudge;
      end
      StJudge: begin
        status_d = judged;
        state_d  = judged != iwarp_pkg::AdmOk ? StAnswer : StRead1;
      end
      StRead1: state_d = StGot1;
      StGot1:  state_d = StRead2;
      StRead2: state_d = StGot2;
      StGot2: begin
        status_d = found;
        if (found != iwarp_pkg::AdmOk || op == iwarp_pkg::CmdNop) state_d = StAnswer;
        else if (op == iwarp_pkg::CmdCreateMr)   state_d = StIsFree;
        else if (to_rts)                         state_d = StIsIdle;
        else if (op == iwarp_pkg::CmdConnSend)   state_d = StConn;
        else                                     state_d = has_unit ? StUnit : StChange;
      end
      StIsFree: if (unit_ready_i) state_d = StIsFreeRsp;
      StIsFreeRsp: begin
        if (unit_rsp_valid_i) begin
          state_d = StPlan;
          if (unit_rsp_i.status != iwarp_pkg::AdmNotFound) begin
            status_d = refused ? unit_rsp_i.status : iwarp_pkg::AdmExists;
            state_d  = StAnswer;
          end
        end
      end
      StPlan: begin
        state_d = plan_continue ? StPages
                : plan_release  ? StRelease
                : plan_wait     ? StAnswer : StClaim;
        if (plan_wait) status_d = iwarp_pkg::AdmInProgress;
      end
      StClaim: begin
        if (ranges_done) begin
          state_d = is_qp ? StConn : has_list ? StPages : StUnit;
          if (claims_again) state_d = StRelease;
          else if (ranges_refused) begin
            status_d = iwarp_pkg::AdmInUse;
            state_d  = StAnswer;
          end
        end
      end
      StRelease: if (ranges_done) state_d = old_q ? StClaim : gives_back ? StAnswer : StChange;
      StPages: begin
        if (pages_done_i) begin
          status_d = pages_status_i;
          state_d  = pages_status_i == iwarp_pkg::AdmOk ? StUnit : StAnswer;
        end
      end
      StIsIdle: if (unit_ready_i) state_d = StIsIdleRsp;
      StIsIdleRsp: begin
        if (unit_rsp_valid_i) begin
          state_d = StClaim;
          if (refused || qp_result.state != iwarp_pkg::QpsIdle) begin
            status_d = refused ? unit_rsp_i.status : iwarp_pkg::AdmBadState;
            state_d  = StAnswer;
          end
        end
      end
      StConn: if (unit_ready_i) state_d = StConnRsp;
      StConnRsp: begin
        if (unit_rsp_valid_i) begin
          status_d = unit_rsp_i.status;
          state_d  = refused ? StAnswer : has_stream ? StLoad : StUnit;
        end
      end
      StLoad: begin
        if (bytes_done_i) begin
          state_d = bytes_failed_i ? StDrop : StSend;
          if (bytes_failed_i) status_d = iwarp_pkg::AdmDmaError;
        end
      end
      StSend: if (bytes_done_i) state_d = to_rts ? StUnit : StAnswer;
      StDrop: if (bytes_done_i) state_d = StAnswer;
      StUnit: if (unit_ready_i) state_d = StUnitRsp;
      StUnitRsp: begin
        if (unit_rsp_valid_i) begin
          status_d = unit_rsp_i.status;
          if (refused)                                 state_d = StAnswer;
          else if (op == iwarp_pkg::CmdConnGive)       state_d = StStore;
          else if (op == iwarp_pkg::CmdCreateQp)       state_d = StCq;
          else if (ends_qp)                            state_d = StBehind;
          else if (op == iwarp_pkg::CmdDestroyMr)      state_d = StRelease;
          else if (is_create || is_destroy || op == iwarp_pkg::CmdModifyCq ||
                   op == iwarp_pkg::CmdCreateMr)       state_d = StChange;
          else                                         state_d = StAnswer;
        end
      end
      StCq: if (unit_ready_i) state_d = StCqRsp;
      StCqRsp: begin
        if (unit_rsp_valid_i) begin
          state_d = second_q ? StChange : StCq;
          if (refused || cq_result.overrun) begin
            status_d = iwarp_pkg::AdmBadState;
            state_d  = StUndo;
          end
        end
      end
      StUndo:    if (unit_ready_i) state_d = StUndoRsp;   // repeated while qp answers in_progress
      StUndoRsp: if (unit_rsp_valid_i)
                   state_d = unit_rsp_i.status == iwarp_pkg::AdmInProgress ? StUndo : StAnswer;
      StBehind:    if (unit_ready_i) state_d = StBehindRsp;
      StBehindRsp: if (unit_rsp_valid_i) state_d = is_destroy ? StRelease : StAnswer;
      StChange:      state_d = StChangeGot;
      StChangeGot:   state_d = StChangeWrite;
      StChangeWrite: state_d = change_last ? StAnswer : StChange;
      StStore: begin
        if (bytes_done_i) begin
          state_d = StAnswer;
          // the connection has ended since
          if (bytes_failed_i) status_d = iwarp_pkg::AdmBadState;
        end
      end
      StAnswer: begin
        if (gives_back)       state_d = StRelease;
        else if (rsp_ready_i) state_d = StIdle;
      end
      default:       state_d = StIdle;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= StIdle;
    else         state_q <= state_d;
  end
  always_ff @(posedge clk_i) begin
    status_q <= status_d;
    if (state_q == StIdle) begin
      cmd_q    <= cmd_i;
      result_q <= '0;
      change_q <= '0;
      second_q <= 1'b0;
      old_q    <= 1'b0;
    end
    started_q <= ranging && !ranges_done;
    if (state_q == StIdle)                                 claimed_q <= 1'b0;
    else if (state_q == StClaim && ranges_done)            claimed_q <= !ranges_refused;
    else if (state_q == StPlan && plan_continue)           claimed_q <= 1'b1;
    else if (state_q == StRelease && ranges_done)          claimed_q <= 1'b0;
    else if (state_q == StPages && pages_done_i && pages_status_i == iwarp_pkg::AdmInProgress)
                                                           claimed_q <= 1'b0;
    if (state_q == StPlan)                                 old_q <= plan_release;
    else if (claims_again)                                 old_q <= 1'b1;
    else if (state_q == StRelease && ranges_done)          old_q <= 1'b0;
    if (state_q == StGot1) begin
      {first_pd_q, first_eq_q, first_cq_q, first_qp_q}
                   <= {pd_exists, eq_exists, cq_exists, qp_exists};
      first_used_q <= first_uses;
      old_eq_q     <= cq_eq;
      refs_q       <= qp_refs;
    end
    if (state_q == StUnitRsp && unit_rsp_valid_i && !refused)      result_q <= unit_rsp_i.result;
    // admin_give_result
    else if (state_q == StStore && bytes_done_i)                   result_q <= {112'h0, stored_i};
    else if (state_q == StUndo)                                    result_q <= '0;
    if (state_q == StChangeWrite) change_q <= change_q + 3'd1;
    if (state_q == StCqRsp && unit_rsp_valid_i) second_q <= 1'b1;
  end

  assign cmd_ready_o      = state_q == StIdle && ready_o;
  assign rsp_valid_o      = state_q == StAnswer && !gives_back;
  assign rsp_o            = {status_q, result_q};
  assign unit_valid_o     = state_q == StUnit || state_q == StIsFree || state_q == StIsIdle ||
                            state_q == StConn || state_q == StCq || state_q == StUndo ||
                            state_q == StBehind;
  assign unit_rsp_ready_o = state_q == StUnitRsp || state_q == StIsFreeRsp ||
                            state_q == StIsIdleRsp || state_q == StConnRsp ||
                            state_q == StCqRsp || state_q == StUndoRsp || state_q == StBehindRsp;
  always_comb begin
    unit_cmd_o        = '0;
    unit_cmd_o        = {cmd_q.opcode, cmd_q.object, cmd_q.args};
    unit_o            = (is_cq || is_eq) ? UnitCq : is_mr ? UnitTpt : is_conn ? UnitLlp : UnitQp;
    if (state_q == StIsIdle || state_q == StIsIdleRsp) begin
      unit_cmd_o.opcode = iwarp_pkg::CmdQueryQp;
      unit_cmd_o.args   = '0;
    end
    // query_mr with arguments queries a slot
    if (state_q == StIsFree || state_q == StIsFreeRsp) unit_cmd_o.opcode = iwarp_pkg::CmdQueryMr;
    if (state_q == StCq || state_q == StCqRsp) begin
      unit_o     = UnitCq;
      unit_cmd_o = {iwarp_pkg::CmdQueryCq, 16'h0, second_q ? qp.recv_cq : qp.send_cq, 448'h0};
    end
    if (state_q == StBehind || state_q == StBehindRsp) begin
      unit_o     = UnitCq;
      // admin needs only its position in the order of cq's commands, not its result
      unit_cmd_o = {iwarp_pkg::CmdQueryCq, 32'h0, 448'h0};
    end
    if (state_q == StUndo || state_q == StUndoRsp) begin
      unit_cmd_o.opcode = iwarp_pkg::CmdDestroyQp;
      unit_cmd_o.args   = '0;
    end
    if (state_q == StConn || state_q == StConnRsp) begin
      unit_o = UnitLlp;
      if (to_rts) unit_cmd_o.object = {16'h0, mod.connection};
    end
  end
  assign pages_continue_o   = state_q == StPlan;
  assign pages_start_o      = (state_q == StPlan && plan_continue) ||
                              (state_q == StClaim && ranges_done && !ranges_refused &&
                               !is_qp && has_list);
  assign kept_turned_away_o = state_q == StPlan && plan_wait;
  assign kept_forget_o      = state_q == StRelease && old_q && ranges_done;
  assign load_o        = state_q == StConnRsp && state_d == StLoad;
  assign send_o        = state_q == StSend;
  assign drop_o        = state_q == StDrop;
  assign store_o       = state_q == StStore;

  logic unused_bits;
  assign unused_bits = ^{ring, qp, mr, mod, qp_result, cq_result, destroyed};

  `RNIC_STREAM_STABLE(UnitStable_A, unit_valid_o, unit_ready_i, unit_cmd_o)
  `RNIC_ASSERT(UsesNotBelowZero_A, state_q != StChangeWrite || !sub || uses_now != '0)
endmodule

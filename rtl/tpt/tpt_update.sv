// tpt_update: creates, queries, destroys and invalidates entries. A closed entry is freed when no
// access that saw it open is in flight (tpt_flight).
//
// Operations, one at a time. A lookup reads the entry of an STag through tpt_entry.
//
//   create:  read {valid, generation} of the slot -> [ key, 2 cycles ] -> write entry
//              -> respond with the STag
//   query:   lookup -> respond
//              with pages or window in its arguments, it is a query that admin makes for itself, of
//              a slot in place of an STag: respond whether the slot is in use
//   destroy: lookup -> nothing in flight: free the slot, next generation, respond ok
//                      else: close the entry, note the epoch in it, respond in_progress
//   again (the destroy is repeated):
//            lookup -> closed, and its epoch has drained: free the slot, respond ok
//                      else respond in_progress
//
//   invalidate:  lookup -> close the entry, note the epoch in tpt_flight's queue. When that epoch
//                has drained, report the invalidation as done. An entry that is not open is left as
//                it is; its report waits in the same queue. destroy frees the slot.
//
//   claim, open, give up: the begin of a fast registration, and its two ends. tpt_register requests
//            them. It writes the page list of a claimed entry before it requests open.
//   claim:   lookup -> closed, kept for fast registrations, and drained: claimed
//                      closed and not drained: again; else refused
//   open:    [ origin, end: 3 cycles ] -> write the entry of a claimed slot: it is open
//   give up: write it as it was before the claim: closed and free
//
//   bind:    lookup of the region -> lookup of the window -> refused
//                open (type 1): close it, note the epoch; again
//                closed and not drained: again
//                else write the window's entry, with the region's pages; count it
//
// A region to which windows are bound is held: it cannot be closed (tpt_windows). A window that is
// closed no longer holds it, drained or not: a region that is closed later drains later.
//
// An entry that is kept for fast registrations (create with `fast`) begins closed, and keeps its
// part of the page list while it is closed. The low 8 bits of its STag are those of its last
// registration; destroy does not check them.
//
// No command waits for traffic, and any number of regions may be closing at once. An entry holds
// the epoch in which it was closed. That epoch has drained when it is neither the current one, nor
// the last one with work in flight (tpt_flight).
// Epochs are counted modulo 2^16. An entry that stays closed for 2^16 turns meets its own number
// again. Then it waits for one more turn, which its repeated destroy requests; it is never freed
// early. (Modulo 4, four destroys that repeat in turn waited for each other forever: each turned
// the epoch to the number of the next.)
// Latency of a destroy: its lookup (8 cycles with the arbitration of find) plus 2.
// Throughput of invalidations: 1 per 9 cycles, of a window 1 per 11; of their ends 1 per 2.
// Back-pressure: waits only for its lookup to be picked; an invalidation of our own also until
// fewer than FifoDepth of them wait for their epoch. Commands, invalidations and registrations take
// turns.
// Siblings: tpt_register, tpt_flight, tpt_windows, tpt_entry (owns the table).
// Benches: tb/tpt/tpt_update_test.cpp, tb/tpt/tpt_test.cpp
`include "rnic_assert.svh"
`include "rnic_words.svh"

module tpt_update #(
  localparam int unsigned SlotW  = $clog2(rnic_pkg::NumStags),
  localparam int unsigned PblW   = $clog2(rnic_pkg::NumPbl),
  localparam int unsigned QpW    = $clog2(rnic_pkg::NumQps),
  localparam int unsigned FromW  = `RNIC_TPT_FROM_W,
  localparam int unsigned JobW   = `RNIC_TPT_JOB_W,
  localparam int unsigned EntryW = `RNIC_TPT_ENTRY_W
) (
  input  logic clk_i,
  input  logic rst_ni,
  output logic ready_o,
  input  logic [63:0] key_i,
  // from and to admin
  input  logic cmd_valid_i,
  output logic cmd_ready_o,
  input  iwarp_pkg::tpt_cmd_t cmd_i,
  output logic rsp_valid_o,
  input  logic rsp_ready_i,
  output iwarp_pkg::tpt_cmd_rsp_t rsp_o,
  // from and to ddp
  input  logic inv_valid_i,
  output logic inv_ready_o,
  input  iwarp_pkg::invalidate_t inv_i,
  output logic inv_done_valid_o,
  input  logic inv_done_ready_i,
  output iwarp_pkg::invalidated_t inv_done_o,
  // from and to tpt_register: invalidations of the send queue; registrations
  input  logic sq_valid_i,
  output logic sq_ready_o,
  input  iwarp_pkg::sq_local_t sq_i,
  output logic sq_done_valid_o,
  input  logic sq_done_ready_i,
  output iwarp_pkg::sq_local_done_t sq_done_o,
  input  logic reg_valid_i,
  output logic reg_ready_o,
  input  logic [1:0] reg_op_i,             // 0 bind, 1 claim, 2 open, 3 give up
  input  logic reg_good_i,                 // bind, claim: the operands are good; else refuse it
  input  logic [63:0] reg_address_i,       // bind: TO in the region
  input  logic [JobW-1:0] reg_i,           // RNIC_TPT_JOB_T
  output logic reg_rsp_valid_o,
  output logic [1:0] reg_rsp_o,            // 0 done, 1 refused, 2 again
  output logic [SlotW-1:0] reg_slot_o,     // of a claim: the entry's slot
  output logic [31:0] reg_stag_o,          // its STag before the claim
  output logic [4:0] reg_room_o,           // log2 of the pages that it may have
  output logic [PblW-1:0] reg_pbl_o,       // index of its first page-list entry
  // own lookup through tpt_entry
  output logic find_valid_o,
  input  logic find_ready_i,
  output iwarp_pkg::wqe_check_t find_o,
  input  logic found_valid_i,
  input  iwarp_pkg::tpt_result_e found_result_i,
  input  logic [PblW-1:0]   found_page_i,    // page-list entry, and offset in its page, of the TO
  input  logic [20:0]       found_offset_i,
  input  logic [4:0]        found_log_i,     // log2 of the page size
  input  logic [SlotW-1:0]  found_slot_i,
  input  logic [EntryW-1:0] found_entry_i,   // RNIC_TPT_ENTRY_W: the word that was read
  // to the table
  output logic we_o,
  output logic [SlotW-1:0]  waddr_o,
  output logic [EntryW-1:0] wdata_o,
  output logic epoch_o,
  // what enters and leaves flight, for tpt_flight: bit i with its epoch
  input  logic       reading_i,        // a lookup that has extents reads its entry
  input  logic       look_i,           // a lookup read its entry in the last cycle; any result
  input  logic       look_epoch_i,
  input  logic [5:0] ended_i,          // lookups walked, dropped (tpt_walk): of rx, tx, qn1
  input  logic [5:0] ended_epoch_i,
  input  logic       issued_i,         // an extent is issued
  input  logic       issued_epoch_i,
  input  logic [3:0] retired_i,        // extents: read, written, dropped by ddp, of qn1
  input  logic [3:0] retired_epoch_i
);
  localparam int unsigned GenW = 24 - SlotW;   // {generation, slot}: the 24 bits that are permuted
  localparam int unsigned OriginPartW = 14;    // of the origin's low part, and of its middle part
  localparam int unsigned EpochW = 16;

  localparam logic [1:0] RegBind = 2'd0, RegClaim = 2'd1, RegOpen = 2'd2, RegGiveUp = 2'd3;

  typedef enum logic [3:0] {
    StIdle,
    StSlot,      // {valid, generation} is read
    StKey1,      // the new STag is in the permutation
    StKey2,
    StWrite,     // the entry is written, unless the STag is 0
    StFind,      // requests the lookup
    StFound,     // waits for its result
    StClose,     // the entry is closed, or freed
    StClaim,     // of a registration: the entry is claimed, refused, or given up; of a bind: the
                 // window is bound, refused, or closed
    StCount,     // a window is bound or closed: tpt_windows counts
    StAnswer     // offers the response to admin
  } state_e;
  state_e state_d, state_q;

  iwarp_pkg::tpt_cmd_t       cmd_q;
  logic                      inv_q, take_cmd, take_inv;   // inv_q: cmd_q is an invalidation
  logic                      take_sq, sq_q;               // sq_q: of the send queue, that of name_q
  logic                      take_reg, reg_q;             // reg_q: a registration, that of name_q
  logic [23:0]               name_q;                      // {QPN, slot} of its WQE
  logic [1:0]                reg_op_q;
  // is_kept: a create of an entry that begins closed (fast, or a window). writes: StWrite writes
  // the entry. claim_ok_q: the lookup of a claim or bind has found an entry that fits. claims,
  // waits: of StClaim, explained below.
  logic                      reg_good_q, is_kept, writes, claims, waits, claim_ok_q;
  logic [PblW:0]             reg_pages_q;
  logic [31:0]               reg_old_q;   // give up: STag before the claim; bind: of the region
  // of a bind. of_region_q: its region is looked up; region_ok_q: with TptOk; address_q: TO in it
  logic                      is_bind, binds, of_region_q, region_ok_q;
  logic [63:0]               address_q;
  typedef `RNIC_TPT_JOB_T job_t;
  job_t                      job;
  assign job = reg_i;
  iwarp_pkg::admin_mr_args_t args;
  logic [SlotW-1:0]          slot_q;
  // Precomputed so that a lookup adds once, and only high halves. The origin is the offset of the
  // first byte in its page, minus the base TO: a lookup adds its TO and has the distance from the
  // first page's start. It is computed in three parts, each a cycle after the one below it.
  logic [OriginPartW:0]           origin_low_q, origin_mid_q;   // with their borrows
  logic [FromW-2*OriginPartW-1:0] origin_high_q;
  logic [32:0]                 end_low_q;   // likewise in two, each a cycle after the one below it
  logic                        end_carry_q;
  assign args = cmd_q.args;

  // By slot: create_mr, and a query_mr with arguments, which admin refuses from the driver.
  iwarp_pkg::admin_mr_args_t new_args;
  logic                      by_slot, is_query_q;
  assign new_args = cmd_i.args;
  assign by_slot  = cmd_i.opcode == iwarp_pkg::CmdCreateMr ||
                    (cmd_i.opcode == iwarp_pkg::CmdQueryMr &&
                     (new_args.pages != '0 || new_args.window != '0));

  // --- slots: {valid, generation}
  logic             clear_busy, slot_we, slot_valid, slot_valid_d;
  logic [SlotW-1:0] clear_addr;
  logic [GenW-1:0]  slot_gen, gen_q;
  ram_clear #(.Depth(rnic_pkg::NumStags)) u_clear (
    .clk_i, .rst_ni, .busy_o(clear_busy), .addr_o(clear_addr)
  );
  ram_1r1w #(.Width(1 + GenW), .Depth(rnic_pkg::NumStags)) u_slots (
    .clk_i, .rst_ni, .we_i(clear_busy || slot_we), .waddr_i(clear_busy ? clear_addr : slot_q),
    .wdata_i(clear_busy ? '0 : {slot_valid_d, slot_valid_d ? gen_q : slot_gen + GenW'(1)}),
    .re_i(take_cmd || found_valid_i),
    .raddr_i(found_valid_i ? found_slot_i : cmd_i.object[SlotW-1:0]),
    .rdata_o({slot_valid, slot_gen})
  );
  assign ready_o = !clear_busy;

  // --- STag
  logic [23:0] stag_high;
  logic [31:0] stag;
  tpt_key #(.Inverse(1'b0)) u_key (
    .clk_i, .en_i(1'b1), .key_i, .value_i({gen_q, slot_q}), .value_o(stag_high)
  );
  assign stag    = reg_q ? cmd_q.object : {stag_high, args.key};
  assign is_kept = !reg_q && (args.fast || args.window != '0);

  // --- closing entries. room_q: of an entry for fast registrations, log2 of the pages that it may
  // have; of a window, its type (1 or 2: room[1] is type 2). pbl_q: its first page-list entry.
  logic       claimed_q, fast_q, window_q, held, unbinds;
  logic [4:0] room_q;
  logic [PblW-1:0] pbl_q;
  logic       all_empty, closing_q, drained, frees, closes, found, not_open;
  logic [EpochW-1:0] epoch, e_note;   // e_note: in a closed entry, the epoch of its close
  logic       closed_now;      // the entry was closed in the current epoch
  // frees: the slot of a destroyed entry becomes free at once; closes: the entry is closed, or
  // stays closed, and its accesses may be in flight
  // held: a region that has windows; unbinds: an open window is closed
  // not_open: an invalidation that finds nothing to close
  logic has_windows, counted;
  tpt_windows u_windows (
    .clk_i, .rst_ni, .clear_busy_i(clear_busy), .clear_addr_i(clear_addr),
    .found_valid_i, .found_region_i(of_region_q), .found_slot_i, .has_windows_o(has_windows),
    .create_i(writes && !reg_q), .bind_i(binds),
    .unbind_i(unbinds), .slot_i(slot_q), .done_o(counted)
  );
  assign held     = state_q == StClose && !closing_q && !window_q && has_windows;
  assign unbinds  = !closing_q && window_q && (state_q == StClose || (state_q == StClaim && waits));
  assign closes   = state_q == StClose && !frees && !held;
  assign not_open = inv_q && state_q == StFound && found_valid_i && !found;
  assign frees    = !inv_q && !held && (closing_q ? drained && !claimed_q : all_empty);

  // Both kinds of invalidation wait in one queue, in the order of their closes; each is reported at
  // its own output.
  // A note: {of the send queue, refused because of windows, {QPN, slot} of its WQE, STag}.
  localparam int unsigned NoteW = 2 + 24 + iwarp_pkg::InvalidatedWidth;
  logic [23:0] done_name;
  // due: the epoch must turn, so that an entry closed in the current epoch can drain
  logic        due, done_valid, done_sq, done_held;
  assign due = (closes && (!closing_q || closed_now)) || (held && inv_q) || not_open ||
               (unbinds && state_q == StClaim) || (waits && closed_now);
  tpt_flight #(.NoteW(NoteW), .EpochW(EpochW)) u_flight (
    .clk_i, .rst_ni, .reading_i, .look_i, .look_epoch_i, .ended_i, .ended_epoch_i,
    .issued_i, .issued_epoch_i, .retired_i, .retired_epoch_i,
    .due_i(due), .hold_i(state_q == StClose || state_q == StClaim),
    .epoch_o(epoch), .all_empty_o(all_empty),
    .judge_i(found_valid_i && !of_region_q), .closed_i(e_note),
    .current_o(closed_now), .drained_o(drained),
    .note_valid_i(inv_q && (closes || held || not_open)),
    .note_i({sq_q, held, name_q, cmd_q.object}),
    .done_valid_o(done_valid), .done_ready_i(done_sq ? sq_done_ready_i : inv_done_ready_i),
    .done_o({done_sq, done_held, done_name, inv_done_o})
  );
  assign sq_done_o        = {done_name, done_held ? iwarp_pkg::TptBind : iwarp_pkg::TptOk,
                             iwarp_pkg::RdOk};
  assign inv_done_valid_o = done_valid && !done_sq;
  assign sq_done_valid_o  = done_valid && done_sq;
  assign epoch_o          = epoch[0];

  // --- control
  iwarp_pkg::admin_status_e   status_d, status_q;
  iwarp_pkg::admin_mr_result_t result_d, result_q, found_result;
  logic        e_valid, unused_bound;
  logic [QpW-1:0] unused_qpn;
  logic [31:0] e_stag;
  logic [15:0] e_pd, e_rights;
  logic [63:0] e_base;
  logic [32:0] e_end_low;
  logic [16:0] e_length_high;
  // e_closing: in an entry that is not valid, the log page field holds {closing, claimed}, and the
  // origin the epoch of the close
  logic        e_closing, e_claimed, e_fast, e_window, same;
  logic [1:0]  unused_log;
  logic [4:0]  e_room;
  logic [PblW-1:0] e_pbl;
  logic [FromW-EpochW:0] unused_entry;
  assign {e_valid, unused_bound, unused_qpn, e_stag, e_pd, e_rights, e_base, e_end_low,
          e_length_high, e_closing, unused_log, e_claimed, unused_entry, e_note, e_fast, e_window,
          e_room, e_pbl} = found_entry_i;
  // same: the entry is that of the STag. The key (low 8 bits) must agree, too, except in a destroy
  // of a window or of an entry for fast registrations.
  assign same  = e_stag[31:8] == cmd_q.object[31:8] &&
                 (e_stag[7:0] == cmd_q.object[7:0] ||
                  ((e_fast || e_window) && !inv_q && cmd_q.opcode == iwarp_pkg::CmdDestroyMr));
  assign found = found_valid_i && same && !reg_q &&
                 (e_valid || (e_closing && !inv_q && cmd_q.opcode == iwarp_pkg::CmdDestroyMr));

  always_comb begin
    found_result        = '0;
    found_result.stag   = e_stag;
    found_result.pd     = e_pd;
    found_result.rights = e_rights;
    found_result.length = {15'h0, e_length_high, e_end_low[31:0] - e_base[31:0]};
  end

  always_comb begin
    state_d  = state_q;
    status_d = status_q;
    result_d = result_q;
    case (state_q)
      StIdle: begin
        result_d = '0;
        status_d = iwarp_pkg::AdmOk;
        if (take_cmd)      state_d = by_slot ? StSlot : StFind;
        else if (take_inv) state_d = StFind;
        else if (take_reg)
          state_d = reg_op_i == RegOpen ? StSlot : reg_op_i == RegGiveUp ? StClaim : StFind;
      end
      StSlot: begin
        state_d = StKey1;
        if (reg_q) ;   // open: passes StKey1, StKey2 too, while the origin is computed
        else if (is_query_q) begin
          state_d = StAnswer;
          if (!slot_valid) status_d = iwarp_pkg::AdmNotFound;
        end else if (slot_valid) begin
          state_d  = StAnswer;
          status_d = iwarp_pkg::AdmExists;
        end
      end
      StKey1: state_d = StKey2;
      StKey2: state_d = StWrite;
      StWrite: begin
        result_d.stag   = stag;
        result_d.pd     = args.pd;
        result_d.rights = args.rights;
        result_d.length = args.length;
        if (is_kept) {result_d.rights, result_d.length} = '0;
        // STag 0 does not exist: the next generation
        state_d         = reg_q ? StIdle : stag_high == '0 ? StKey1 : StAnswer;
      end
      StFind: if (find_ready_i) state_d = StFound;
      StFound: begin
        if (found_valid_i) begin
          if (found) result_d = found_result;
          status_d = found ? iwarp_pkg::AdmOk : iwarp_pkg::AdmNotFound;
          state_d  = found && cmd_q.opcode == iwarp_pkg::CmdDestroyMr ? StClose : StAnswer;
          if (not_open) state_d = StIdle;
          if (reg_q) begin
            state_d  = of_region_q ? StFind : StClaim;
            result_d = found_result;
          end
        end
      end
      StClose: begin
        state_d = StAnswer;
        if (!frees) begin
          status_d = iwarp_pkg::AdmInProgress;
          result_d = '0;
        end
        if (held)  status_d = iwarp_pkg::AdmInUse;
        if (inv_q) state_d = StIdle;
        if (unbinds) state_d = StCount;
      end
      StClaim:  state_d = unbinds || binds ? StCount : StIdle;
      StCount:  if (counted) state_d = inv_q || reg_q ? StIdle : StAnswer;
      StAnswer: if (rsp_ready_i) state_d = StIdle;
      default:  state_d = StIdle;
    endcase
  end

  // Commands, invalidations and registrations take turns: after a command an invalidation is first,
  // then a registration, then a command. inv_q, reg_q: the kind of the last operation.
  // Among invalidations, the peer's and our own take turns as well: sq_q.
  // own_q: of our own, those that have not been reported. The peer's are limited by ddp_rx_hold.
  localparam int unsigned MostOwn = rnic_pkg::FifoDepth;
  localparam int unsigned OwnW    = $clog2(MostOwn + 1);
  logic [OwnW-1:0] own_q;
  logic own_room_q;   // a cycle late: after one is taken, StIdle comes much later
  logic idle, own_asks, inv_asks, may_inv;
  assign idle         = state_q == StIdle && !clear_busy;
  assign own_asks     = sq_valid_i && own_room_q;
  assign inv_asks     = inv_valid_i || own_asks;
  assign may_inv      = idle &&
                        !(inv_q && (reg_valid_i || cmd_valid_i)) && !(reg_q && cmd_valid_i);
  assign inv_ready_o  = may_inv && !(own_asks && !sq_q);
  assign sq_ready_o   = may_inv && own_room_q && !(inv_valid_i && sq_q);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) own_q <= '0;
    else         own_q <= own_q + OwnW'(take_sq) - OwnW'(sq_done_valid_o && sq_done_ready_i);
  end
  always_ff @(posedge clk_i) own_room_q <= rst_ni && own_q != OwnW'(MostOwn);
  `RNIC_ASSERT(OwnLimited_A, !take_sq || own_q != OwnW'(MostOwn))
  assign reg_ready_o  = idle && (inv_q || !inv_asks) && !(reg_q && cmd_valid_i);
  assign cmd_ready_o  = idle && (reg_q || (!reg_valid_i && (inv_q || !inv_asks)));
  assign take_sq      = sq_valid_i && sq_ready_o;
  assign take_inv     = (inv_valid_i && inv_ready_o) || take_sq;
  assign take_reg     = reg_valid_i && reg_ready_o;
  assign take_cmd     = cmd_valid_i && cmd_ready_o;
  `RNIC_ASSERT(OneTaken_A, 2'(take_cmd) + 2'(take_inv) + 2'(take_reg) <= 2'd1)
  assign find_valid_o = state_q == StFind;
  // The lookup of an operation's entry. That of a bind's region checks what the window will grant:
  // mw_bind, the bytes, the PD, local_write if the peer may write, and the window's Flush rights.
  always_comb begin
    find_o      = '0;
    find_o.stag = cmd_q.object;
    find_o.last = 1'b1;
    if (of_region_q) begin
      find_o.stag          = reg_old_q;
      find_o.tagged_offset = address_q;
      find_o.length        = args.length[31:0];
      find_o.pd            = args.pd;
      find_o.qpn           = args.qpn;
      find_o.rights        = rnic_pkg::AccessMwBind |
                             (args.rights &
                              (rnic_pkg::AccessFlushGlobal | rnic_pkg::AccessFlushPersistent));
      if ((args.rights & (rnic_pkg::AccessRemoteWrite | rnic_pkg::AccessRemoteAtomic)) != '0)
        find_o.rights = find_o.rights | rnic_pkg::AccessLocalWrite;
    end
  end
  iwarp_pkg::admin_destroy_mr_result_t destroyed;
  always_comb begin
    destroyed      = '0;
    destroyed.stag = result_q.stag;
    destroyed.pd   = result_q.pd;
    if (status_q == iwarp_pkg::AdmOk) destroyed.slot = 16'(slot_q);
  end
  assign rsp_valid_o  = state_q == StAnswer;
  always_comb begin
    rsp_o        = '0;
    rsp_o.status = status_q;
    rsp_o.result = result_q;
    if (cmd_q.opcode == iwarp_pkg::CmdDestroyMr) rsp_o.result = destroyed;
  end

  // A word of the table has three forms: opened (valid), closed (its accesses may be in flight) and
  // kept (closed and drained, or claimed). In the last two, 5 bits hold {closing, 2'b00, claimed,
  // 1'b0} in place of the log page: 5'h10 is closing.
  // The table is cleared with the slots. An entry is valid only between its create and its destroy.
  // A closing entry keeps the fields that the response to its last destroy returns, with a base of
  // 0, and those that the next registration needs.
  logic [EntryW-1:0] opened, closed, kept;
  assign writes  = state_q == StWrite && (reg_q || stag_high != '0);
  assign opened  = {1'b1, args.bound, args.qpn[QpW-1:0], stag, args.pd, args.rights, args.base_to,
                    end_low_q, args.length[48:32], args.log_page[4:0],
                    origin_high_q, origin_mid_q[OriginPartW-1:0], origin_low_q[OriginPartW-1:0],
                    reg_q && !is_bind, is_bind, reg_q ? room_q : 5'd0,
                    args.pbl_base[PblW-1:0]};
  assign closed  = {{(2 + QpW){1'b0}}, result_q.stag, result_q.pd, result_q.rights, 64'h0,
                    {1'b0, result_q.length[31:0]}, result_q.length[48:32],
                    5'h10, FromW'(epoch), fast_q, window_q, room_q, pbl_q};
  // Kept: closed and free, or claimed, with an epoch that has drained, as every epoch has that is
  // older than the one before the current.
  logic [EpochW-1:0] drained_epoch;
  assign drained_epoch = epoch - EpochW'(2);
  assign kept    = {{(2 + QpW){1'b0}},
                   !reg_q                ? stag
                 : is_bind               ? cmd_q.object
                 : reg_op_q == RegGiveUp ? reg_old_q : result_q.stag,
                   args.pd, 16'h0, 64'h0, 33'h0, 17'h0,
                    3'b100, reg_q && reg_op_q == RegClaim, 1'b0, FromW'(drained_epoch),
                    reg_q ? !is_bind : args.fast, reg_q ? is_bind : args.window != '0,
                    reg_q ? room_q : args.window != '0 ? {3'b000, args.window} : args.log_page[4:0],
                    reg_q ? pbl_q : args.pbl_base[PblW-1:0]};
  // In StClaim: claims: the request is executed (claimed, given up, bound, unbound); waits: it is
  // answered `again`; else it is refused. binds: a window is bound, not only unbound.
  assign claims          = state_q == StClaim &&
                           (reg_op_q == RegGiveUp || (claim_ok_q && drained && closing_q));
  assign is_bind         = reg_q && reg_op_q == RegBind;
  assign binds           = claims && is_bind && args.length != '0;
  assign waits           = state_q == StClaim && !claims && claim_ok_q;
  assign reg_rsp_valid_o = state_q == StClaim || (state_q == StWrite && reg_q);
  assign reg_rsp_o       = state_q == StWrite || claims ? 2'd0 : claim_ok_q ? 2'd2 : 2'd1;
  assign reg_slot_o      = slot_q;
  assign reg_stag_o      = result_q.stag;
  assign reg_room_o      = room_q;
  assign reg_pbl_o       = pbl_q;
  assign we_o    = clear_busy || writes || claims || (unbinds && state_q == StClaim) ||
                   (state_q == StClose && (frees || (!closing_q && !held)));
  assign waddr_o = clear_busy ? clear_addr : slot_q;
  always_comb begin
    wdata_o = is_kept || (state_q == StClaim && !binds) ? kept : opened;
    if (state_q == StClose || (state_q == StClaim && unbinds)) wdata_o = closed;
    if (clear_busy || (state_q == StClose && frees)) wdata_o = '0;
  end
  assign slot_we      = (writes && !reg_q) || (state_q == StClose && frees);
  assign slot_valid_d = state_q == StWrite;

  // A registration as the arguments of a create_mr, so that StWrite serves both. It is bound to its
  // QP if the peer may invalidate it.
  iwarp_pkg::admin_mr_args_t reg_args;
  always_comb begin
    reg_args              = '0;
    reg_args.pd           = job.pd;
    reg_args.log_page     = {3'h0, job.log_page};
    reg_args.rights       = job.rights;
    reg_args.qpn          = job.qpn;
    reg_args.base_to      = job.base;
    reg_args.length       = {16'h0, job.length};
    reg_args.first_offset = {11'h0, job.first_offset};
    reg_args.pbl_base     = 32'(job.pbl);
    reg_args.bound        = (job.rights & rnic_pkg::AccessRemoteInvalidate) != '0;
  end

  // What a bind takes from its region, and from the window's type. e_room[1]: a window of type 2.
  // It is bound to its QP, and the peer may invalidate it.
  iwarp_pkg::admin_mr_args_t region_args, window_args;
  always_comb begin
    region_args              = args;
    region_args.log_page     = {3'h0, found_log_i};
    region_args.first_offset = {11'h0, found_offset_i};
    region_args.pbl_base     = 32'(found_page_i);
    window_args              = args;
    window_args.bound        = e_room[1];
    if (e_room[1]) window_args.rights = args.rights | rnic_pkg::AccessRemoteInvalidate;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q     <= StIdle;
      inv_q       <= 1'b0;
      reg_q       <= 1'b0;
      sq_q        <= 1'b0;
    end else begin
      state_q     <= state_d;
      if (take_cmd || take_inv || take_reg) begin
        inv_q <= take_inv;
        reg_q <= take_reg;
      end
      if (take_inv) sq_q <= take_sq;
    end
  end
  always_ff @(posedge clk_i) begin
    status_q <= status_d;
    result_q <= result_d;
    if (state_q == StIdle) begin
      cmd_q <= cmd_i;
      if (take_inv) begin
        cmd_q.opcode <= iwarp_pkg::CmdDestroyMr;
        cmd_q.object <= take_sq ? sq_i.stag : inv_i.stag;
        name_q       <= {sq_i.qpn, sq_i.slot};
      end
      if (take_reg) begin
        cmd_q.opcode <= iwarp_pkg::CmdCreateMr;
        cmd_q.object <= job.stag;
        cmd_q.args   <= reg_args;
        name_q       <= {job.qpn, job.wqe};
        reg_old_q    <= job.old_stag;
        address_q    <= reg_address_i;
        region_ok_q  <= job.length == '0;
        reg_op_q     <= reg_op_i;
        reg_good_q   <= reg_good_i;
        reg_pages_q  <= job.pages;
        room_q       <= job.room;
        pbl_q        <= job.pbl;
      end
    end
    // StWrite comes four cycles after the command; 39 bits at once were the longest path of the
    // chip.
    origin_low_q  <= {1'b0, args.first_offset[OriginPartW-1:0]} -
                     {1'b0, args.base_to[OriginPartW-1:0]};
    origin_mid_q  <= (OriginPartW + 1)'(args.first_offset[20:OriginPartW]) -
                     {1'b0, args.base_to[OriginPartW+:OriginPartW]} -
                     (OriginPartW + 1)'(origin_low_q[OriginPartW]);
    origin_high_q <= -args.base_to[FromW-1:2*OriginPartW] -
                     (FromW - 2 * OriginPartW)'(origin_mid_q[OriginPartW]);
    {end_carry_q, end_low_q[15:0]} <= {1'b0, args.base_to[15:0]} + {1'b0, args.length[15:0]};
    end_low_q[32:16] <= {1'b0, args.base_to[31:16]} + {1'b0, args.length[31:16]} + 17'(end_carry_q);
    if (state_q == StIdle) is_query_q <= cmd_i.opcode == iwarp_pkg::CmdQueryMr;
    if (state_q == StIdle)  slot_q <= take_reg ? job.slot : cmd_i.object[SlotW-1:0];
    else if (found_valid_i) slot_q <= found_slot_i;
    if (state_q == StSlot) gen_q <= slot_gen;
    else if (state_q == StWrite && stag_high == '0) gen_q <= gen_q + GenW'(1);
    if (state_q == StIdle)  of_region_q <= take_reg && reg_op_i == RegBind && job.length != '0;
    else if (found_valid_i) of_region_q <= 1'b0;
    if (found_valid_i && of_region_q) begin
      region_ok_q <= found_result_i == iwarp_pkg::TptOk;
      cmd_q.args  <= region_args;
    end
    if (found_valid_i && !of_region_q) begin
      closing_q  <= !e_valid;
      claimed_q  <= !e_valid && e_claimed;
      fast_q     <= e_fast;
      window_q   <= e_window;
      room_q     <= e_room;
      pbl_q      <= e_pbl;
      claim_ok_q <= reg_good_q && e_stag[31:8] == cmd_q.object[31:8] && e_pd == args.pd &&
                    (is_bind ? e_window && region_ok_q && (e_valid || e_closing) &&
                               (!e_room[1] || (!e_valid && args.length != '0))
                             : e_fast && !e_valid && e_closing && !e_claimed &&
                               reg_pages_q <= (PblW + 1)'(1) << e_room);
      if (is_bind) cmd_q.args <= window_args;
    end
  end

  logic unused_args;
  assign unused_args = ^{sq_i.is_reg, sq_i.is_bind, sq_i.pd, sq_i.base, sq_i.operands,
                         unused_bound, unused_qpn, new_args,
                         args.qpn[15:QpW], args.reserved1, args.reserved2, args.page_list,
                         args.pages, args.length[63:49], args.log_page[7:5],
                         args.first_offset[31:21], args.pbl_base[31:PblW],
                         unused_entry, e_base[63:32], e_end_low[32]};

  // Simulation only: commit trace (architecture 10)
  iwarp_pkg::tpt_change_commit_t tap_tpt_change /*verilator public_flat_rd*/;
  logic                          tap_judged;    // a command is answered without a change
  // of_reg in docs/spec/commits.yaml: 0 none, 1 claimed, 2 registration or invalidation refused,
  // 3 open, 4 given up, 5 bound or unbound, 6 bind refused, 7 an open window is closed
  logic [2:0]                    tap_reg;
  assign tap_reg        = state_q == StWrite && reg_q ? 3'd3
                        : held && inv_q               ? 3'd2
                        : state_q != StClaim          ? 3'd0
                        : unbinds                     ? 3'd7
                        : waits                       ? 3'd0
                        : reg_op_q == RegGiveUp       ? 3'd4
                        : is_bind                     ? (claims ? 3'd5 : 3'd6)
                        : claims                      ? 3'd1 : 3'd2;
  assign tap_judged     = ((state_q == StSlot || state_q == StFound) && state_d == StAnswer) ||
                          not_open;
  assign tap_tpt_change = {tap_judged || writes || state_q == StClose || tap_reg != '0,
                           state_q == StFound ? 16'(found_slot_i) : 16'(slot_q), closes || not_open,
                           inv_q && !sq_q, inv_q && sq_q, name_q, tap_reg};
endmodule

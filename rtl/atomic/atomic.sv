// atomic: FetchAdd, CmpSwap and Atomic Write at the responder, results of atomics at the requester.
// RFC 7306 section 5.
//
//   atomic_req --> [ atomic_entry ] gives the item an entry
//       v
//   [ atomic_xlate ] <--> qn1_xlate, qn1_extent
//       |  |  +--refused, dropped---------------------------------------------------------+
//       |  +--request--> [ atomic_lock ] --> [ atomic_fetch ] --dropped-------------------+
//       |                     ^                |  ^      |                                |
//       +--result-------------|----------------|->|      +--> qn1_rd_req, qn1_rd          |
//                             |                v                                          |
//                             |        [ atomic_compute ] --> [ atomic_store ] --> word_wr |
//                             |                                   v                       v
//                             +--release-------------------- [ atomic_end ] <-------------+
//                                                                 +--> atomic_rsp, qn1_retired
//
// 1. An item occupies one entry from its atomic_req to its atomic_rsp. There are 64 entries for
//    requests, and entries 64 to 71 for results: bit 6 marks a result. Every queue inside has room
//    for every entry. So a stream waits only for streams outside the unit, and for an arbiter
//    during at most 3 other words.
// 2. A request that waits for the lock is a link of a list in atomic_lock, not an entry of a queue.
//    So no other item waits for it. A result passes neither lock nor reads.
// 3. From grant to release at most one request of a bus address is between its read and the
//    acceptance of its store. Stores and decisions to store nothing have one order: that of the
//    head of atomic_store, which tap_atomic_word reports.
// 4. A request begins when it leaves the queue of grants. Until then atomic_dead drops it.
//
// Throughput: 1 item per cycle. With mixed kinds 9 items per 10 cycles or more, because the kinds
// meet at arbiters (Atomic Write and read in atomic_fetch, store and no store in atomic_end). Of
// requests to one address: one per round of read and store.
// Latency of an item that finds the unit empty, with T for tpt (qn1_xlate to qn1_extent), R for a
// read (qn1_rd_req to qn1_rd, header in the same cycle), D for a store (word_wr to word_done):
//
//   item                 to word_wr        to atomic_rsp      stages
//   Atomic Write         T + 11 cycles     T + D + 16         xlate 2, lock 2, grants 1, begin 1,
//   FetchAdd, CmpSwap    T + R + 12        T + R + D + 17     header 1, atomic_compute 3,
//   result               T + 8             T + D + 13         results 1 (no lock, grants, begin),
//                                                             atomic_store 2 and 1, atomic_end 4
//
// Waits for host_if (a read, a store), for tpt, and for rdmap to take atomic_rsp; a waiting
// response holds only its entry. tpt, host_if and rdmap never wait for a response of this unit.
// Leaves: atomic_entry, atomic_xlate, atomic_lock, atomic_fetch, atomic_compute (in it atomic_alu),
// atomic_store, atomic_end.
// Decision: docs/decisions/0012-atomic-unit.md.
// Bench: tb/atomic/atomic_test.cpp
`include "rnic_assert.svh"

module atomic (
  input  logic clk_i,
  input  logic rst_ni,
  output logic ready_o,
  output iwarp_pkg::unit_count_t count_o,
  // from and to rdmap
  input  logic atomic_req_valid_i,
  output logic atomic_req_ready_o,
  input  iwarp_pkg::atomic_req_t atomic_req_i,
  input  logic atomic_dead_valid_i,
  output logic atomic_dead_ready_o,
  input  iwarp_pkg::atomic_dead_t atomic_dead_i,
  output logic atomic_rsp_valid_o,
  input  logic atomic_rsp_ready_i,
  output iwarp_pkg::atomic_rsp_t atomic_rsp_o,
  // to and from tpt
  output logic qn1_xlate_valid_o,
  input  logic qn1_xlate_ready_i,
  output iwarp_pkg::qn1_xlate_t qn1_xlate_o,
  input  logic qn1_extent_valid_i,
  output logic qn1_extent_ready_o,
  input  iwarp_pkg::qn1_extent_t qn1_extent_i,
  output logic qn1_retired_valid_o,
  input  logic qn1_retired_ready_i,
  output iwarp_pkg::qn1_retired_t qn1_retired_o,
  // to and from host_if
  output logic qn1_rd_req_valid_o,
  input  logic qn1_rd_req_ready_i,
  output iwarp_pkg::qn1_rd_req_t qn1_rd_req_o,
  input  logic qn1_rd_hdr_valid_i,
  output logic qn1_rd_hdr_ready_o,
  input  iwarp_pkg::qn1_rd_hdr_t qn1_rd_hdr_i,
  input  logic qn1_rd_valid_i,
  output logic qn1_rd_ready_o,
  input  iwarp_pkg::qn1_rd_t qn1_rd_i,
  output logic word_wr_valid_o,
  input  logic word_wr_ready_i,
  output iwarp_pkg::word_wr_t word_wr_o,
  input  logic word_done_valid_i,
  output logic word_done_ready_o,
  input  iwarp_pkg::word_done_t word_done_i
);
  // --- accept
  logic        is_result, room, xlate_ready, accept, free_valid;
  logic [6:0]  entry, free_entry;
  logic [63:0] dead;
  assign is_result          = atomic_req_i.op == iwarp_pkg::AtResult;
  assign atomic_req_ready_o = room && xlate_ready;
  assign accept             = atomic_req_valid_i && atomic_req_ready_o;
  atomic_entry u_entry (
    .clk_i, .rst_ni, .ready_o, .is_result_i(is_result), .room_o(room), .accept_i(accept),
    .qpn_i(atomic_req_i.qpn), .entry_o(entry),
    .dead_valid_i(atomic_dead_valid_i), .dead_qpn_i(atomic_dead_i.qpn), .dead_o(dead),
    .free_valid_i(free_valid), .free_entry_i(free_entry)
  );
  assign atomic_dead_ready_o = 1'b1;

  // --- check, translate. answer: tpt's response for an entry. at_entry, at_address: of the item
  // that leaves atomic_xlate: acquire to the lock, result to atomic_fetch, xlate_end to atomic_end.
  logic        answer, answer_epoch, acquire, result, result_refused;
  logic        xlate_end, xlate_end_ready;
  logic [1:0]  xlate_ending;
  logic [2:0]  answer_result;
  logic [6:0]  answer_entry, at_entry;
  logic [63:3] at_address;
  atomic_xlate u_xlate (
    .clk_i, .rst_ni, .valid_i(atomic_req_valid_i && room), .ready_o(xlate_ready), .entry_i(entry),
    .stag_i(atomic_req_i.stag), .tagged_offset_i(atomic_req_i.tagged_offset),
    .pd_i(atomic_req_i.pd), .qpn_i(atomic_req_i.qpn), .right_i(atomic_req_i.right), .dead_i(dead),
    .qn1_xlate_valid_o, .qn1_xlate_ready_i, .qn1_xlate_o,
    .qn1_extent_valid_i, .qn1_extent_ready_o, .qn1_extent_i,
    .answer_valid_o(answer), .answer_entry_o(answer_entry), .answer_result_o(answer_result),
    .answer_epoch_o(answer_epoch), .acquire_o(acquire), .result_o(result),
    .result_refused_o(result_refused), .entry_o(at_entry), .address_o(at_address),
    .end_valid_o(xlate_end), .end_ready_i(xlate_end_ready), .end_ending_o(xlate_ending)
  );

  // --- lock. rsp: the request has the lock or queues for it; wake: a queued one gets the lock.
  logic       rsp_valid, rsp_granted, wake, lock_release;
  logic [5:0] rsp_entry, wake_entry, release_entry;
  atomic_lock #(.Entries(64), .Buckets(256)) u_lock (
    .clk_i, .rst_ni, .acquire_valid_i(acquire), .acquire_entry_i(at_entry[5:0]),
    .acquire_address_i(at_address),
    .rsp_valid_o(rsp_valid), .rsp_entry_o(rsp_entry), .rsp_granted_o(rsp_granted),
    .release_valid_i(lock_release), .release_entry_i(release_entry),
    .wake_valid_o(wake), .wake_entry_o(wake_entry)
`ifdef FORMAL
    , .f_out_o(), .f_held_o()
`endif
  );

  // --- begin, read
  logic        operand, operand_is_read, operand_refused, fetch_end, fetch_end_ready;
  logic [6:0]  operand_entry;
  logic [63:3] operand_address;
  logic [1:0]  operand_status;
  logic [63:0] operand_old;
  logic [5:0]  fetch_end_entry;
  atomic_fetch u_fetch (
    .clk_i, .rst_ni, .accept_i(accept && !is_result), .accept_entry_i(entry[5:0]),
    .accept_is_write_i(atomic_req_i.op == iwarp_pkg::AtWrite), .dead_i(dead),
    .acquire_i(acquire), .result_i(result), .result_refused_i(result_refused),
    .entry_i(at_entry[5:0]), .address_i(at_address),
    .grant_valid_i(rsp_valid && rsp_granted), .grant_entry_i(rsp_entry),
    .wake_valid_i(wake), .wake_entry_i(wake_entry),
    .qn1_rd_req_valid_o, .qn1_rd_req_ready_i, .qn1_rd_req_o,
    .qn1_rd_hdr_valid_i, .qn1_rd_hdr_ready_o, .qn1_rd_hdr_i,
    .qn1_rd_valid_i, .qn1_rd_ready_o, .qn1_rd_i,
    .operand_valid_o(operand), .operand_entry_o(operand_entry),
    .operand_address_o(operand_address), .operand_is_read_o(operand_is_read),
    .operand_refused_o(operand_refused), .operand_status_o(operand_status),
    .operand_old_o(operand_old),
    .end_valid_o(fetch_end), .end_ready_i(fetch_end_ready), .end_entry_o(fetch_end_entry)
  );

  // --- compute, store
  logic        item, item_store;
  logic [6:0]  item_entry;
  logic [1:0]  item_ending;
  logic [63:3] item_address;
  logic [63:0] item_word;
  atomic_compute u_compute (
    .clk_i, .rst_ni, .accept_i(accept), .accept_entry_i(entry),
    .accept_is_cmp_swap_i(atomic_req_i.op == iwarp_pkg::AtCmpSwap),
    .accept_operands_i({atomic_req_i.data, atomic_req_i.mask, atomic_req_i.compare,
                        atomic_req_i.compare_mask}),
    .valid_i(operand), .entry_i(operand_entry), .address_i(operand_address),
    .is_read_i(operand_is_read), .refused_i(operand_refused), .status_i(operand_status),
    .old_i(operand_old),
    .valid_o(item), .entry_o(item_entry), .store_o(item_store), .ending_o(item_ending),
    .address_o(item_address), .word_o(item_word)
  );

  logic       none, none_ready, sent, sent_ready, decided, decided_store;
  logic [5:0] none_entry;
  logic [6:0] sent_entry, decided_entry;
  logic [1:0] none_ending, sent_ending;
  atomic_store u_store (
    .clk_i, .rst_ni, .valid_i(item), .entry_i(item_entry), .store_i(item_store),
    .ending_i(item_ending), .address_i(item_address), .word_i(item_word),
    .word_wr_valid_o, .word_wr_ready_i, .word_wr_o, .word_done_valid_i, .word_done_ready_o,
    .none_valid_o(none), .none_ready_i(none_ready), .none_entry_o(none_entry),
    .none_ending_o(none_ending), .sent_valid_o(sent), .sent_ready_i(sent_ready),
    .sent_entry_o(sent_entry), .sent_ending_o(sent_ending),
    .decided_o(decided), .decided_store_o(decided_store), .decided_entry_o(decided_entry)
  );

  // --- end
  atomic_end u_end (
    .clk_i, .rst_ni, .accept_i(accept), .accept_entry_i(entry),
    .accept_name_i({atomic_req_i.op, atomic_req_i.qpn, atomic_req_i.slot}),
    .answer_valid_i(answer), .answer_entry_i(answer_entry), .answer_result_i(answer_result),
    .answer_epoch_i(answer_epoch),
    .old_valid_i(operand && operand_is_read), .old_entry_i(operand_entry),
    .old_status_i(operand_status), .old_value_i(operand_old),
    .xlate_valid_i(xlate_end), .xlate_ready_o(xlate_end_ready), .xlate_entry_i(at_entry),
    .xlate_ending_i(xlate_ending),
    .fetch_valid_i(fetch_end), .fetch_ready_o(fetch_end_ready), .fetch_entry_i(fetch_end_entry),
    .none_valid_i(none), .none_ready_o(none_ready), .none_entry_i(none_entry),
    .none_ending_i(none_ending),
    .sent_valid_i(sent), .sent_ready_o(sent_ready), .sent_entry_i(sent_entry),
    .sent_ending_i(sent_ending),
    .release_valid_o(lock_release), .release_entry_o(release_entry),
    .qn1_retired_valid_o, .qn1_retired_ready_i, .qn1_retired_o,
    .atomic_rsp_valid_o, .atomic_rsp_ready_i, .atomic_rsp_o,
    .free_valid_o(free_valid), .free_entry_o(free_entry)
  );

  // --- counters
  unit_counter u_count (
    .clk_i, .rst_ni, .items_i(free_valid),
    .busy_i(accept || free_valid || (qn1_xlate_valid_o && qn1_xlate_ready_i) ||
            (qn1_rd_req_valid_o && qn1_rd_req_ready_i) || (qn1_rd_valid_i && qn1_rd_ready_o) ||
            (word_wr_valid_o && word_wr_ready_i)),
    .stalled_i(|({atomic_rsp_valid_o, qn1_xlate_valid_o, qn1_rd_req_valid_o, word_wr_valid_o,
                  qn1_retired_valid_o} &
                 ~{atomic_rsp_ready_i, qn1_xlate_ready_i, qn1_rd_req_ready_i, word_wr_ready_i,
                   qn1_retired_ready_i})),
    .count_o
  );

  logic unused_bits;
  assign unused_bits = ^word_done_i;

  // Simulation only: commit trace (architecture 10)
  logic [17:0] tap_mem [72];   // op and QPN of an entry
  always_ff @(posedge clk_i) begin
    if (accept) tap_mem[entry] <= {atomic_req_i.op, atomic_req_i.qpn};
  end
  iwarp_pkg::atomic_word_commit_t tap_atomic_word /*verilator public_flat_rd*/;
  assign tap_atomic_word = {decided, tap_mem[decided_entry], decided_store};
endmodule

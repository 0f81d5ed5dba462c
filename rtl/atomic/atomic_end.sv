// atomic_end: ends an item: releases its lock, retires its extent, and keeps its response until
// rdmap takes it.
//
// An item is a request (FetchAdd, CmpSwap or Atomic Write of the peer; entries 0 to 63) or a result
// (the old value that came back to this requester's own atomic, stored at its sink; entries 64 to
// 71, no lock). answer_result_i is tpt's verdict, for both kinds.
//
//   xlate, fetch, none, sent --> [ arb ] --> [ ended ] --+--> release, to atomic_lock
//                                                        +--> qn1_retired
//          +---------------------------------------------+
//          +--> [ queue of 72 ] --> [ read ] --> atomic_rsp, free
//   names, tpt's verdict, old value:  ^
//   RAMs of 72, by entry -------------+
//
// 1. Each item ends once. `queue` has an entry for each item inside (QueueRoom_A) and qn1_retired
//    is always taken (RetiredTaken_A), so an end never waits for a stream: locks are released
//    however long atomic_rsp waits.
// 2. The entry, with its words in the RAMs, is free again when its response is taken.
// 3. Results end in order. `sent` is in order, and it is the only source of results: atomic_xlate,
//    `fetch` and `none` end only requests.
// 4. A request that acquired a lock releases it. These are the requests of all sources except
//    xlate.
//
// Latency: 1 cycle from an end to release and qn1_retired, 4 to atomic_rsp (ended 1, queue 2, read
// 1).
// Throughput: 1 item per cycle.
// Siblings: see atomic.sv.
// Bench: tb/atomic/atomic_test.cpp
`include "rnic_assert.svh"

module atomic_end (
  input  logic        clk_i,
  input  logic        rst_ni,
  // from rdmap: an item is accepted. name: {op 2, QPN 16, slot 8}
  input  logic        accept_i,
  input  logic [6:0]  accept_entry_i,
  input  logic [25:0] accept_name_i,
  // from atomic_xlate: tpt's response for an entry; result: the verdict (tpt_result_e)
  input  logic        answer_valid_i,
  input  logic [6:0]  answer_entry_i,
  input  logic [2:0]  answer_result_i,
  input  logic        answer_epoch_i,
  // from atomic_fetch: a read has returned
  input  logic        old_valid_i,
  input  logic [6:0]  old_entry_i,
  input  logic [1:0]  old_status_i,
  input  logic [63:0] old_value_i,
  // items that end, with their ending (atomic_end_e):
  // xlate: from atomic_xlate, a request that is refused or dropped
  // fetch: from atomic_fetch, a request that is dropped
  // none:  from atomic_store, a request that stores nothing
  // sent:  from atomic_store, a request whose word is stored, or any result
  input  logic        xlate_valid_i,
  output logic        xlate_ready_o,
  input  logic [6:0]  xlate_entry_i,
  input  logic [1:0]  xlate_ending_i,
  input  logic        fetch_valid_i,
  output logic        fetch_ready_o,
  input  logic [5:0]  fetch_entry_i,
  input  logic        none_valid_i,
  output logic        none_ready_o,
  input  logic [5:0]  none_entry_i,
  input  logic [1:0]  none_ending_i,
  input  logic        sent_valid_i,
  output logic        sent_ready_o,
  input  logic [6:0]  sent_entry_i,
  input  logic [1:0]  sent_ending_i,
  // to atomic_lock
  output logic        release_valid_o,
  output logic [5:0]  release_entry_o,
  // to tpt
  output logic        qn1_retired_valid_o,
  input  logic        qn1_retired_ready_i,
  output iwarp_pkg::qn1_retired_t qn1_retired_o,
  // to rdmap
  output logic        atomic_rsp_valid_o,
  input  logic        atomic_rsp_ready_i,
  output iwarp_pkg::atomic_rsp_t atomic_rsp_o,
  // to atomic_entry
  output logic        free_valid_o,
  output logic [6:0]  free_entry_o
);
  localparam int unsigned Items = 72;   // entries: requests 0 to 63, results 64 to 71

  // --- one of the ends: {entry 7, ending 2}
  // ended_locked_q: the item holds a lock: a request (entry[6] is 0) from any source but xlate (3)
  logic       ended, ended_q, ended_locked_q;
  logic [1:0] source, ending, ending_q;
  logic [6:0] entry, entry_q;
  stream_arb #(.Width(9), .N(4)) u_ends (
    .clk_i, .rst_ni,
    .valid_i({xlate_valid_i, fetch_valid_i, none_valid_i, sent_valid_i}),
    .ready_o({xlate_ready_o, fetch_ready_o, none_ready_o, sent_ready_o}),
    .data_i({xlate_entry_i, xlate_ending_i, 1'b0, fetch_entry_i, iwarp_pkg::AtEndDropped,
             1'b0, none_entry_i, none_ending_i, sent_entry_i, sent_ending_i}),
    .valid_o(ended), .ready_i(1'b1), .data_o({entry, ending}), .index_o(source)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) ended_q <= 1'b0;
    else         ended_q <= ended;
  end
  always_ff @(posedge clk_i) begin
    entry_q        <= entry;
    ending_q       <= ending;
    ended_locked_q <= source != 2'd3 && !entry[6];
  end

  // --- lock and extent
  logic [Items-1:0] epoch_q;
  always_ff @(posedge clk_i) begin
    if (answer_valid_i) epoch_q[answer_entry_i] <= answer_epoch_i;
  end
  assign release_valid_o     = ended_q && ended_locked_q;
  assign release_entry_o     = entry_q[5:0];
  assign qn1_retired_valid_o = ended_q;
  assign qn1_retired_o       = epoch_q[entry_q];

  // --- response
  logic       next_valid, next_ready, next_take, queue_room, rsp_valid_q;
  logic [6:0] next_entry, rsp_entry_q;
  logic [1:0] next_ending, rsp_ending_q;
  stream_fifo #(.Width(9), .Depth(Items), .Reserved(1'b1)) u_queue (
    .clk_i, .rst_ni, .valid_i(ended_q), .ready_o(queue_room), .data_i({entry_q, ending_q}),
    .valid_o(next_valid), .ready_i(next_ready), .data_o({next_entry, next_ending}), .count_o()
  );
  assign next_ready = !rsp_valid_q || atomic_rsp_ready_i;
  assign next_take  = next_valid && next_ready;
  always_ff @(posedge clk_i) begin
    if (!rst_ni)         rsp_valid_q <= 1'b0;
    else if (next_ready) rsp_valid_q <= next_valid;
  end
  always_ff @(posedge clk_i) begin
    if (next_take) begin
      rsp_entry_q  <= next_entry;
      rsp_ending_q <= next_ending;
    end
  end

  logic [25:0] name;
  logic [2:0]  result;
  logic [1:0]  status;
  logic [63:0] value;
  ram_1r1w #(.Width(26), .Depth(Items)) u_name (
    .clk_i, .rst_ni, .we_i(accept_i), .waddr_i(accept_entry_i), .wdata_i(accept_name_i),
    .re_i(next_take), .raddr_i(next_entry), .rdata_o(name)
`ifdef FORMAL
    , .f_addr_i('0), .f_word_o()
`endif
  );
  ram_1r1w #(.Width(3), .Depth(Items)) u_result (
    .clk_i, .rst_ni, .we_i(answer_valid_i), .waddr_i(answer_entry_i), .wdata_i(answer_result_i),
    .re_i(next_take), .raddr_i(next_entry), .rdata_o(result)
`ifdef FORMAL
    , .f_addr_i('0), .f_word_o()
`endif
  );
  ram_1r1w #(.Width(66), .Depth(Items)) u_old (   // {status 2, value 64}
    .clk_i, .rst_ni, .we_i(old_valid_i), .waddr_i(old_entry_i),
    .wdata_i({old_status_i, old_value_i}),
    .re_i(next_take), .raddr_i(next_entry), .rdata_o({status, value})
`ifdef FORMAL
    , .f_addr_i('0), .f_word_o()
`endif
  );

  logic [1:0] op;
  logic       is_read, has_value, has_result, has_status;
  assign op         = name[25:24];
  assign is_read    = op == iwarp_pkg::AtFetchAdd || op == iwarp_pkg::AtCmpSwap;
  assign has_value  = rsp_ending_q == iwarp_pkg::AtEndDone && is_read;
  assign has_result = rsp_ending_q == iwarp_pkg::AtEndRefused;
  assign has_status = rsp_ending_q == iwarp_pkg::AtEndUnread;

  assign atomic_rsp_valid_o = rsp_valid_q;
  assign atomic_rsp_o       = {name, rsp_ending_q, result & {3{has_result}},
                               status & {2{has_status}}, value & {64{has_value}}};
  assign free_valid_o       = rsp_valid_q && atomic_rsp_ready_i;
  assign free_entry_o       = rsp_entry_q;

  `RNIC_ASSERT(QueueRoom_A,    !ended_q || queue_room)
  `RNIC_ASSERT(RetiredTaken_A, !qn1_retired_valid_o || qn1_retired_ready_i)
  `RNIC_STREAM_STABLE(RspStable_A, atomic_rsp_valid_o, atomic_rsp_ready_i, atomic_rsp_o)
  `RNIC_COVER(FourEnd_C, xlate_valid_i && fetch_valid_i && none_valid_i && sent_valid_i)
  `RNIC_COVER(RspWaits_C, atomic_rsp_valid_o && !atomic_rsp_ready_i && next_valid)
endmodule

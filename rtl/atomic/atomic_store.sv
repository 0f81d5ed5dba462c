// atomic_store: sends the words to host_if in order. It ends each item when its word is accepted on
// dma_wr, or when nothing is stored.
//
//   item --> [ queue of 72 ] --+--> word_wr                +-- word_done --> [ count ]
//                              +--> [ sent: FIFO of 72 ] --+----------------------> end: stored
//                              +--------------------------------> end: nothing stored
//
// 1. All items pass the head of `queue` one by one, and are decided there: the word is accepted on
//    word_wr, or nothing is stored. So decisions have one order, which is that of word_wr.
// 2. word_done comes in the order of word_wr, so it belongs to the oldest word in `sent`. `count`
//    holds the word_done whose end has not been taken yet, so word_done is always taken.
// 3. A request that stores nothing ends from the head. A result that stores nothing passes through
//    `sent`, where it needs no word_done: results end in order.
// 4. Both FIFOs have an entry for each item inside the unit (Room_A), so no earlier stage waits for
//    them. The head waits only for host_if.
//
// Latency: 2 cycles from an item to word_wr, 1 from word_done to its end.
// Throughput: 1 item per cycle.
// Siblings: see atomic.sv.
// Bench: tb/atomic/atomic_test.cpp
`include "rnic_assert.svh"

module atomic_store (
  input  logic        clk_i,
  input  logic        rst_ni,
  // from atomic_compute: an item. store: its word is stored. ending: how the item ends
  input  logic        valid_i,
  input  logic [6:0]  entry_i,
  input  logic        store_i,
  input  logic [1:0]  ending_i,
  input  logic [63:3] address_i,
  input  logic [63:0] word_i,
  // to and from host_if
  output logic        word_wr_valid_o,
  input  logic        word_wr_ready_i,
  output iwarp_pkg::word_wr_t word_wr_o,
  input  logic        word_done_valid_i,
  output logic        word_done_ready_o,
  // to atomic_end: a request that stores nothing; an item whose word is accepted, in order
  output logic        none_valid_o,
  input  logic        none_ready_i,
  output logic [5:0]  none_entry_o,
  output logic [1:0]  none_ending_o,
  output logic        sent_valid_o,
  input  logic        sent_ready_i,
  output logic [6:0]  sent_entry_o,
  output logic [1:0]  sent_ending_o,
  // to the commit trace: an item with ending done is decided. store 0: a CmpSwap without a match
  output logic        decided_o,
  output logic        decided_store_o,
  output logic [6:0]  decided_entry_o
);
  // entries: requests 0 to 63, results 64 to 71; so bit 6 of an entry marks a result
  localparam int unsigned Items = 72;

  // --- decide. passes: the head goes on to `sent`, which takes all words and all results.
  logic        head_valid, head_pop, head_store, queue_room, passes;
  logic [6:0]  head_entry;
  logic [1:0]  head_ending;
  logic [63:3] head_address;
  logic [63:0] head_word;
  stream_fifo #(.Width(7 + 1 + 2 + 61 + 64), .Depth(Items), .Reserved(1'b1)) u_queue (
    .clk_i, .rst_ni, .valid_i, .ready_o(queue_room),
    .data_i({entry_i, store_i, ending_i, address_i, word_i}),
    .valid_o(head_valid), .ready_i(head_pop),
    .data_o({head_entry, head_store, head_ending, head_address, head_word}), .count_o()
  );
  assign word_wr_valid_o = head_valid && head_store;
  assign word_wr_o       = {head_address, 3'd0, head_word};
  assign none_valid_o    = head_valid && !head_store && !head_entry[6];
  assign none_entry_o    = head_entry[5:0];
  assign none_ending_o   = head_ending;
  assign head_pop        = head_store ? word_wr_ready_i : head_entry[6] || none_ready_i;
  assign passes          = head_valid && (head_store ? word_wr_ready_i : head_entry[6]);

  assign decided_o       = head_valid && head_pop && head_ending == iwarp_pkg::AtEndDone;
  assign decided_store_o = head_store;
  assign decided_entry_o = head_entry;

  // --- accepted
  logic       first_valid, first_store, first_pop, sent_room;
  logic [6:0] done_q;   // word_done that have not ended their item yet
  stream_fifo #(.Width(7 + 1 + 2), .Depth(Items), .Reserved(1'b1)) u_sent (
    .clk_i, .rst_ni, .valid_i(passes), .ready_o(sent_room),
    .data_i({head_entry, head_store, head_ending}),
    .valid_o(first_valid), .ready_i(first_pop),
    .data_o({sent_entry_o, first_store, sent_ending_o}), .count_o()
  );
  assign sent_valid_o      = first_valid && (!first_store || done_q != '0);
  assign first_pop         = sent_valid_o && sent_ready_i;
  assign word_done_ready_o = 1'b1;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) done_q <= '0;
    else         done_q <= done_q + 7'(word_done_valid_i) - 7'(first_pop && first_store);
  end

  `RNIC_ASSERT(Room_A, (!valid_i || queue_room) && (!passes || sent_room))
  `RNIC_ASSERT(DonesFit_A, 32'(done_q) <= Items)
  `RNIC_STREAM_STABLE(WordStable_A, word_wr_valid_o, word_wr_ready_i, word_wr_o)
  `RNIC_COVER(RefusedInTurn_C, sent_valid_o && !first_store && done_q != '0)
  `RNIC_COVER(WordWaits_C,     word_wr_valid_o && !word_wr_ready_i)
endmodule

// tpt_windows: holds for each memory window the region that it is bound to, and for each region the
// number of its windows: a word for each slot of the STag table.
//
// The word of a window is the slot of its region. The word of a region is a count, which fits: a
// region has at most NumStags - 1 windows, since each has a slot. For a bind, tpt_update looks up
// the region first, then the window. Any other operation looks up at most one entry.
//
//   found (a region of a bind) --> count +--> bound:   window's word = region, region's word + 1
//   found (another entry)      --> word -+--> unbound: region's word - 1
//                                        +--> has_windows
//
// 1. Only tpt_update changes the table, one operation at a time (OneAtATime_A). So no word is read
//    while it is changed. An operation that binds or unbinds ends with done_o.
// 2. A window's word is that of its last bind. tpt_update unbinds only a window that is open.
// 3. An entry that is created has no windows: its word is cleared.
// Latency: has_windows_o 1 cycle after found. done_o 1 cycle after bind_i, 2 after unbind_i.
// Siblings: tpt_update. Bench: tb/tpt/tpt_window_test.cpp
`include "rnic_assert.svh"

module tpt_windows #(
  localparam int unsigned SlotW = $clog2(rnic_pkg::NumStags)
) (
  input  logic clk_i,
  input  logic rst_ni,
  // from the clearing walker
  input  logic clear_busy_i,
  input  logic [SlotW-1:0] clear_addr_i,
  // a lookup of tpt_update has found an entry: its word is read
  input  logic found_valid_i,
  input  logic found_region_i,             // it is the region of a bind
  input  logic [SlotW-1:0] found_slot_i,
  output logic has_windows_o,              // of the entry found last, if it is a region
  // what tpt_update does
  input  logic create_i,                   // slot_i
  input  logic bind_i,                     // window slot_i, to the region found last
  input  logic unbind_i,                   // the window found last
  input  logic [SlotW-1:0] slot_i,
  output logic done_o                      // the region's count is written
);
  // A bind writes the window's word at once, and the region's in the next cycle (counts_q). An
  // unbind takes the region (region_q) from the window's word, reads the region's word in the next
  // cycle (uncounts_q), and writes it in the one after (uncounted_q). of_region_q: the word of a
  // bind's region is at the RAM's output; count_q keeps it while the window is looked up.
  logic [SlotW-1:0] region_q, count_q, word;
  logic of_region_q, counts_q, uncounts_q, uncounted_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni)
      {of_region_q, counts_q, uncounts_q, uncounted_q} <= '0;
    else
      {of_region_q, counts_q, uncounts_q, uncounted_q}
                   <= {found_valid_i && found_region_i, bind_i, unbind_i, uncounts_q};
  end
  always_ff @(posedge clk_i) begin
    if (of_region_q)                          count_q  <= word;
    if (found_valid_i && found_region_i)      region_q <= found_slot_i;
    else if (unbind_i)                        region_q <= word;
  end

  logic we;
  logic [SlotW-1:0] at, word_d;   // write address and data
  assign we = clear_busy_i || create_i || bind_i || done_o;
  assign at = clear_busy_i ? clear_addr_i : done_o ? region_q : slot_i;
  always_comb begin
    word_d = '0;
    if (bind_i)      word_d = region_q;
    if (counts_q)    word_d = count_q + SlotW'(1);
    if (uncounted_q) word_d = word - SlotW'(1);
  end
  ram_1r1w #(.Width(SlotW), .Depth(rnic_pkg::NumStags)) u_words (
    .clk_i, .rst_ni, .we_i(we), .waddr_i(at), .wdata_i(word_d),
    .re_i(found_valid_i || uncounts_q),
    .raddr_i(found_valid_i ? found_slot_i : region_q), .rdata_o(word)
  );
  assign has_windows_o = word != '0;
  assign done_o        = counts_q || uncounted_q;

  `RNIC_ASSERT(OneAtATime_A, 2'(create_i) + 2'(bind_i) + 2'(unbind_i) + 2'(done_o) <= 2'd1)
  `RNIC_ASSERT(CountNotBelowZero_A, !uncounted_q || word != '0)
endmodule

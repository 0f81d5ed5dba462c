// tpt_entry_fv: proof of tpt_entry, minimum build. For any slot, whose entry may be written in any
// cycle, and any sequence of lookups:
//
//   Closed_A    a lookup that reads the entry while it is not valid is granted nothing: TptStag,
//   Result_A    the result is that of requirements.md section 7, here in 66-bit arithmetic,
//   Read_A      the entry that a lookup reads is the one last written before the cycle of the read,
//   Epoch_A     a lookup carries the epoch of the cycle in which it reads its entry,
//   Reading_A   a lookup that may get extents is reported in that cycle and in the next.
//
// So with tpt_flight's proof an invalidation is reported only when no access that saw the entry
// open is in flight, and a later access sees it closed. The entry is read as it was before a write
// in the same cycle (ram_1r1w: read first).
//
// The proof includes the table and its ports. In reset the table holds any contents, then the words
// written (Table_A). Result_A computes from the entry that was read, which Read_A ties to the one
// written: z3 does not prove both at once in 300 s.
//
// Assumed of an entry: its end_low is the sum of two 32-bit numbers, one of them the low half of
// its base, as tpt_update computes it.
//
// proof: assertions=6 bounded=8 induction=7 cover=10
// files: ../gen/rnic_pkg.sv ../tpt/tpt_key.sv ../tpt/tpt_entry.sv
// proved by themselves: ram_1r1w
// refuted by ../tpt/tpt_entry.sv Closed_A: s/!e_valid || e_stag/e_stag/
// refuted by ../tpt/tpt_entry.sv Result_A: s/e_stag != stag/e_stag[31:8] != stag[31:8]/
// refuted by ../tpt/tpt_entry.sv Result_A: s/e_pd != pd || //
// refuted by ../tpt/tpt_entry.sv Result_A: s/e_qpn != qpn/e_qpn < qpn/
// refuted by ../tpt/tpt_entry.sv Result_A: s/|(rights \& ~e_rights)/!(|(rights \& e_rights))/
// refuted by ../tpt/tpt_entry.sv Result_A: s/client == 3'd2 \&\& !invalidate/client == 3'd2/
// refuted by ../tpt/tpt_entry.sv Result_A: s/ = below_q || / = /
// refuted by ../tpt/tpt_entry.sv Result_A: s/end_q > limit_q/end_q[63:0] > limit_q[63:0]/
// refuted by ../tpt/tpt_entry.sv Result_A: s/end_q\[64\] \&\& |end_q\[63:0\]/end_q[64]/
// refuted by ../tpt/tpt_entry.sv Result_A: s/ + {32'h0, e_end_low\[32\]}//
// refuted by ../tpt/tpt_entry.sv Read_A: s/re_i(valid_q\[1\])/re_i(valid_q[0])/
// refuted by ../tpt/tpt_entry.sv Read_A: s/raddr_i(place\[SlotW-1:0\])/raddr_i(place[SlotW:1])/
// refuted by ../tpt/tpt_entry.sv Table_A: s/rst_ni, .we_i, /rst_ni, .we_i(we_i \&\& !valid_q[1]), /
// refuted by ../tpt/tpt_entry.sv Epoch_A: s/s4_epoch_q   <= epoch_q/s4_epoch_q   <= epoch_i/
// refuted by ../tpt/tpt_entry.sv Reading_A: s/(item2_q.*3'd5)/(item2_q[ItemW-1-:2] == '0)/
`include "rnic_assert.svh"
`include "rnic_formal.svh"
`include "rnic_words.svh"

module tpt_entry_fv #(
  localparam int unsigned SlotW  = $clog2(rnic_pkg::NumStags),
  localparam int unsigned PblW   = $clog2(rnic_pkg::NumPbl),
  localparam int unsigned QpW    = $clog2(rnic_pkg::NumQps),
  localparam int unsigned FromW  = `RNIC_TPT_FROM_W,
  localparam int unsigned EntryW = `RNIC_TPT_ENTRY_W,
  localparam int unsigned ItemW  = 3 + 32 + 64 + 32 + 16 + 16 + 16 + 1
) (
  input logic              clk_i,
  input logic [63:0]       key_i,
  input logic              epoch_i,
  input logic              valid_i,
  input logic [ItemW-1:0]  item_i,
  input logic              we_i,
  input logic [SlotW-1:0]  waddr_i,
  input logic [EntryW-1:0] wdata_i
);
  `RNIC_FORMAL_RESET
  (* anyconst *) logic [SlotW-1:0] which;   // the slot that is followed
  logic             reading, look, look_epoch, valid, epoch;
  logic [SlotW-1:0] slot;
  logic [EntryW-1:0] entry, word;   // the entry that was read; the followed slot in the table
  iwarp_pkg::tpt_result_e result;

  logic [2:0]  client_in;
  logic [31:0] stag_in, length_in;
  logic [63:0] to_in;
  logic [15:0] pd_in, qpn_in, rights_in;
  logic        invalidate_in;
  assign {client_in, stag_in, to_in, length_in, pd_in, qpn_in, rights_in, invalidate_in} = item_i;

  tpt_entry dut (
    .clk_i, .rst_ni, .key_i, .epoch_i,
    .reading_o(reading), .look_o(look), .look_epoch_o(look_epoch),
    .valid_i, .client_i(client_in), .stag_i(stag_in), .tagged_offset_i(to_in), .length_i(length_in),
    .pd_i(pd_in), .qpn_i(qpn_in), .rights_i(rights_in), .invalidate_i(invalidate_in), .last_i(1'b1),
    .valid_o(valid), .client_o(), .result_o(result), .last_o(), .invalidate_o(), .epoch_o(epoch),
    .length_o(), .page_o(), .page_offset_o(), .log_page_o(), .slot_o(), .entry_o(),
    .we_i, .waddr_i, .wdata_i, .f_slot_o(slot), .f_entry_o(entry),
    .f_which_i(which), .f_word_o(word)
  );

  // --- lookups, by their age in cycles: 2 reads the entry, 3 has it, 5 has its result
  logic [5:1]       valid_q;
  logic [ItemW-1:0] item1_q, item2_q, item3_q, item4_q, item5_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= '0;
    else         valid_q <= {valid_q[4:1], valid_i};
    {item5_q, item4_q, item3_q, item2_q, item1_q} <= {item4_q, item3_q, item2_q, item1_q, item_i};
  end

  // --- the followed slot as last written, and the entry that was read, by the age of the lookup
  logic [EntryW-1:0] now_q, word3_q, word4_q, word5_q, entry4_q, entry5_q;
  logic [5:3]        ours_q, epoch_q, reading_q;
  logic [5:4]        look_q, look_epoch_q;
  always_ff @(posedge clk_i) begin
    if (we_i && waddr_i == which) now_q <= wdata_i;
    else if (!rst_ni)             now_q <= word;   // any contents
    {word5_q, word4_q, word3_q} <= {word4_q, word3_q, now_q};
    {entry5_q, entry4_q} <= {entry4_q, entry};
    epoch_q      <= {epoch_q[4:3], epoch_i};
    reading_q    <= {reading_q[4:3], reading};
    look_q       <= {look_q[4], look};
    look_epoch_q <= {look_epoch_q[4], look_epoch};
    if (!rst_ni) ours_q <= '0;
    else         ours_q <= {ours_q[4:3], valid_q[2] && slot == which};
  end

  // --- the result, from requirements.md section 7
  logic             e_valid, e_bound, e_window, unused_fast;
  logic [QpW-1:0]   e_qpn;
  logic [31:0]      e_stag, stag, length;
  logic [15:0]      e_pd, e_rights, pd, qpn, rights;
  logic [63:0]      e_base, to;
  logic [32:0]      e_end_low, e_length_low;
  logic [16:0]      e_length_high;
  logic [4:0]       unused_log, unused_room;
  logic [FromW-1:0] unused_origin;
  logic [PblW-1:0]  unused_pbl;
  logic [2:0]       client;
  logic             invalidate;
  logic [65:0]      ends, region_ends;
  iwarp_pkg::tpt_result_e expected;
  assign {e_valid, e_bound, e_qpn, e_stag, e_pd, e_rights, e_base, e_end_low, e_length_high,
          unused_log, unused_origin, unused_fast, e_window, unused_room, unused_pbl} = entry5_q;
  assign {client, stag, to, length, pd, qpn, rights, invalidate} = item5_q;
  assign e_length_low = e_end_low - {1'b0, e_base[31:0]};
  assign ends         = 66'(to) + 66'(length);
  assign region_ends  = 66'(e_base) + 66'({e_length_high, e_length_low[31:0]});
  `RNIC_ASSUME(!ours_q[5] || !e_length_low[32])
  always_comb begin
    if (!e_valid || stag != e_stag)                              expected = iwarp_pkg::TptStag;
    else if (invalidate && !e_bound && (rights & rnic_pkg::AccessRemoteInvalidate) != '0)
                                                                 expected = iwarp_pkg::TptStag;
    else if (pd != e_pd || (e_bound && qpn[QpW-1:0] != e_qpn))   expected = iwarp_pkg::TptAssoc;
    else if ((rights & e_rights) != rights)                      expected = iwarp_pkg::TptRights;
    else if (e_window && client == 3'd2 && !invalidate)          expected = iwarp_pkg::TptRights;
    else if (invalidate)                                         expected = iwarp_pkg::TptOk;
    else if (ends > 66'h1_0000_0000_0000_0000)                   expected = iwarp_pkg::TptWrap;
    else if (to < e_base || ends > region_ends)                  expected = iwarp_pkg::TptBounds;
    else                                                         expected = iwarp_pkg::TptOk;
  end

  // --- the assertions
  logic has_extents;
  assign has_extents = client == 3'd0 || client == 3'd1 || client == 3'd5;
  `RNIC_ASSERT(Table_A, word == now_q)
  `RNIC_ASSERT(Read_A, !ours_q[3] || entry == word3_q)
  `RNIC_ASSERT(Closed_A, !ours_q[5] || word5_q[EntryW-1] || (valid && result == iwarp_pkg::TptStag))
  `RNIC_ASSERT(Result_A, valid == valid_q[5] && (!ours_q[5] || result == expected))
  `RNIC_ASSERT(Epoch_A, !valid_q[5] || epoch == epoch_q[5])
  `RNIC_ASSERT(Reading_A, !valid_q[5] || !has_extents ||
                          (reading_q[5] && look_q[5] && look_epoch_q[5] == epoch))

  `RNIC_COVER(Ok_C, ours_q[5] && result == iwarp_pkg::TptOk && length != '0)
  `RNIC_COVER(Invalidates_C, ours_q[5] && result == iwarp_pkg::TptOk && invalidate && e_bound)
  `RNIC_COVER(Closed_C, ours_q[5] && !e_valid && stag == e_stag)
  `RNIC_COVER(Stag_C, ours_q[5] && e_valid && result == iwarp_pkg::TptStag)
  `RNIC_COVER(Assoc_C, ours_q[5] && result == iwarp_pkg::TptAssoc)
  `RNIC_COVER(Rights_C, ours_q[5] && result == iwarp_pkg::TptRights)
  `RNIC_COVER(Wrap_C, ours_q[5] && result == iwarp_pkg::TptWrap)
  `RNIC_COVER(Bounds_C, ours_q[5] && result == iwarp_pkg::TptBounds)
endmodule

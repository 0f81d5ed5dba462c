// tpt_entry: holds the STag table and looks up: finds the entry, checks it, computes where the
// bytes are.
//
//   item -> [ inverse key, 2 ] -> [ read entry ] -> [ STag, PD, rights; TO+length, TO-base, end ]
//                1, 2                  3                             4
//                                         result <- [ wrap, bounds; page ] <-+
//                                                             5
//
// Invariants:
//  1. The checks run in the order of requirements.md section 7 (STag, association, rights, wrap,
//     bounds), in 65-bit arithmetic. An invalidation is not checked against wrap and bounds. One by
//     the peer (rights_i has remote_invalidate) needs a bound STag. A window is refused as a local
//     key (client 2), but its own QP may invalidate it.
//  2. The epoch is sampled in the cycle in which the entry is read. A lookup that saw an entry open
//     carries the epoch in which the entry was closed, or an earlier one.
//  3. reading_o and look_o report a lookup that has extents to tpt_update, in the cycle of the read
//     and in the next. So no lookup is uncounted in any cycle.
// Latency: 5 cycles. Throughput: one lookup per cycle.
// Back-pressure: never stalled: the requester has reserved room for the response.
// Siblings: tpt_key, tpt_update (writes the table), tpt_walk (uses the result).
// Bench: tb/tpt/tpt_test.cpp. Proof: rtl/formal/tpt_entry_fv.sv.
`include "rnic_words.svh"

module tpt_entry #(
  localparam int unsigned SlotW  = $clog2(rnic_pkg::NumStags),
  localparam int unsigned PblW   = $clog2(rnic_pkg::NumPbl),
  localparam int unsigned QpW    = $clog2(rnic_pkg::NumQps),
  localparam int unsigned FromW  = `RNIC_TPT_FROM_W,
  localparam int unsigned EntryW = `RNIC_TPT_ENTRY_W
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [63:0] key_i,
  input  logic        epoch_i,
  // to tpt_update: a lookup that has extents reads its entry now (reading_o), or has read it in the
  // last cycle, in look_epoch_o (look_o)
  output logic        reading_o,
  output logic        look_o,
  output logic        look_epoch_o,
  // a lookup
  input  logic        valid_i,
  input  logic [2:0]  client_i,       // 0 rx, 1 tx, 2 wqe, 3 resp, 4 tpt_update, 5 qn1
  input  logic [31:0] stag_i,
  input  logic [63:0] tagged_offset_i,
  input  logic [31:0] length_i,
  input  logic [15:0] pd_i,
  input  logic [15:0] qpn_i,
  input  logic [15:0] rights_i,       // that the access needs
  input  logic        invalidate_i,   // may the STag be invalidated?
  input  logic        last_i,         // of its group; passed on
  // its result, 5 cycles later
  output logic        valid_o,
  output logic [2:0]  client_o,
  output iwarp_pkg::tpt_result_e result_o,
  output logic        last_o,
  output logic        invalidate_o,
  output logic        epoch_o,            // in which the lookup read its entry
  output logic [31:0] length_o,
  output logic [PblW-1:0] page_o,         // index of the page-list entry
  output logic [20:0] page_offset_o,      // in a page of at most 2^21 bytes
  output logic [4:0]  log_page_o,         // log2 of the page size
  output logic [SlotW-1:0] slot_o,        // of the entry that was read
  output logic [EntryW-1:0] entry_o,      // for tpt_update's own lookups
  // from tpt_update
  input  logic        we_i,
  input  logic [SlotW-1:0]  waddr_i,
  input  logic [EntryW-1:0] wdata_i
`ifdef FORMAL
  ,
  // for the proof: the slot that is read, the entry that was read; the word of any slot
  output logic [SlotW-1:0]  f_slot_o,
  output logic [EntryW-1:0] f_entry_o,
  input  logic [SlotW-1:0]  f_which_i,
  output logic [EntryW-1:0] f_word_o
`endif
);
  // --- 1, 2: STag to its slot
  logic [2:0]  valid_q;   // a lookup in item1_q, item2_q, item3_q
  localparam int unsigned ItemW = 3 + 32 + 64 + 32 + 16 + 16 + 16 + 1 + 1;   // client_i to last_i
  localparam int unsigned LengthAt = 50, ToAt = LengthAt + 32;   // 50: pd_i to last_i
  logic [ItemW-1:0] item1_q, item2_q, item3_q;
  // end_low_q: low half of item3's end, with its carry: added a stage early, for timing
  logic [32:0] end_low_q;
  logic [2:0]  client;
  logic [31:0] stag, length;
  logic [63:0] to;
  logic [15:0] pd, qpn, rights;
  logic        invalidate, last;
  logic [23:0] place;   // {generation, slot}; comparing the whole STag checks the generation
  tpt_key #(.Inverse(1'b1)) u_key (
    .clk_i, .en_i(1'b1), .key_i, .value_i(stag_i[31:8]), .value_o(place)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= '0;
    else         valid_q <= {valid_q[1:0], valid_i};
  end
  always_ff @(posedge clk_i) begin
    item1_q <= {client_i, stag_i, tagged_offset_i, length_i, pd_i, qpn_i, rights_i,
                invalidate_i, last_i};
    item2_q <= item1_q;
    item3_q <= item2_q;
    end_low_q <= {1'b0, item2_q[ToAt+:32]} + {1'b0, item2_q[LengthAt+:32]};
  end
  assign {client, stag, to, length, pd, qpn, rights, invalidate, last} = item3_q;

  // --- 3: read the entry
  logic [EntryW-1:0] entry;
  logic              epoch_q;
  logic [SlotW-1:0]  slot_q;
  ram_1r1w #(.Width(EntryW), .Depth(rnic_pkg::NumStags)) u_table (
    .clk_i, .rst_ni, .we_i, .waddr_i, .wdata_i,
    .re_i(valid_q[1]), .raddr_i(place[SlotW-1:0]), .rdata_o(entry)
`ifdef FORMAL
    ,
    .f_addr_i(f_which_i), .f_word_o
`endif
  );
`ifdef FORMAL
  assign f_slot_o  = place[SlotW-1:0];
  assign f_entry_o = entry;
`endif
  always_ff @(posedge clk_i) begin
    epoch_q <= epoch_i;
    slot_q  <= place[SlotW-1:0];
  end

  // Clients 0, 1 and 5 (receive, transmit, qn1) have extents, the others only checks.
  assign reading_o    = valid_q[1] && (item2_q[ItemW-1-:2] == '0 || item2_q[ItemW-1-:3] == 3'd5);
  assign look_o       = valid_q[2] && (item3_q[ItemW-1-:2] == '0 || item3_q[ItemW-1-:3] == 3'd5);
  assign look_epoch_o = epoch_q;

  // --- 4: compare, add
  logic        e_valid, e_bound;
  logic [QpW-1:0] e_qpn;
  logic [31:0] e_stag;
  logic [15:0] e_pd, e_rights;
  logic [63:0] e_base;
  logic [32:0] e_end_low;        // where the region ends: base plus length, low halves
  logic [16:0] e_length_high;
  logic [4:0]  e_log_page;
  logic [FromW-1:0] e_origin;   // offset in the first page minus the base; a TO is added to it
  logic [PblW-1:0] e_pbl;
  logic             unused_fast, e_window;
  logic [4:0]       unused_room;
  assign {e_valid, e_bound, e_qpn, e_stag, e_pd, e_rights, e_base, e_end_low, e_length_high,
          e_log_page, e_origin, unused_fast, e_window, unused_room, e_pbl} = entry;

  logic        s4_valid_q, s4_last_q, s4_invalidate_q, s4_epoch_q,
               bad_stag_q, bad_pd_q, bad_rights_q, below_q;
  logic [2:0]  s4_client_q;
  logic [64:0] end_q, limit_q, from_base;   // where the item ends, where the region ends
  // from_page_q: bytes from the first page's start, up to the page list's reach
  logic [FromW-1:0] from_page_q;
  logic [31:0] s4_length_q;
  logic [4:0]  log_page_q;
  logic [PblW-1:0]   pbl_q;
  logic [SlotW-1:0]  s4_slot_q;
  logic [EntryW-1:0] s4_entry_q;
  assign from_base = {1'b0, to} - {1'b0, e_base};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) s4_valid_q <= 1'b0;
    else         s4_valid_q <= valid_q[2];
  end
  always_ff @(posedge clk_i) begin
    s4_client_q  <= client;
    s4_last_q    <= last;
    s4_invalidate_q <= invalidate;
    s4_epoch_q   <= epoch_q;
    s4_length_q  <= length;
    s4_slot_q    <= slot_q;
    s4_entry_q   <= entry;
    bad_stag_q   <= !e_valid || e_stag != stag ||
                    (invalidate && !e_bound && (rights & rnic_pkg::AccessRemoteInvalidate) != '0);
    bad_pd_q     <= e_pd != pd || (e_bound && e_qpn != qpn[QpW-1:0]);
    bad_rights_q <= |(rights & ~e_rights) || (e_window && client == 3'd2 && !invalidate);
    end_q        <= {{1'b0, to[63:32]} + {32'h0, end_low_q[32]}, end_low_q[31:0]};
    below_q      <= from_base[64];
    from_page_q  <= to[FromW-1:0] + e_origin;
    limit_q      <= {{1'b0, e_base[63:32]} + {16'h0, e_length_high} + {32'h0, e_end_low[32]},
                     e_end_low[31:0]};
    log_page_q   <= e_log_page;
    pbl_q        <= e_pbl;
  end

  // --- 5: result; bytes from the first page's start give the page and the offset in it
  logic [FromW-13:0] page_no;   // pages of 4 KiB
  logic        wraps, outside;
  assign wraps      = end_q[64] && |end_q[63:0];   // to end at 2^64 itself is no wrap
  assign outside    = below_q || end_q > limit_q;
  assign page_no    = from_page_q[FromW-1:12] >> (log_page_q - 5'd12);

  logic        s5_valid_q, s5_last_q, s5_invalidate_q, s5_epoch_q;
  logic [2:0]  s5_client_q;
  iwarp_pkg::tpt_result_e result_d, result_q;
  logic [31:0] s5_length_q;
  logic [PblW-1:0]   page_no_q, s5_pbl_q;
  logic [20:0]       page_offset_q, mask;
  logic [4:0]        s5_log_page_q;
  logic [SlotW-1:0]  s5_slot_q;
  logic [EntryW-1:0] s5_entry_q;

  always_comb begin
    result_d = iwarp_pkg::TptOk;
    if (bad_stag_q)        result_d = iwarp_pkg::TptStag;
    else if (bad_pd_q)     result_d = iwarp_pkg::TptAssoc;
    else if (bad_rights_q) result_d = iwarp_pkg::TptRights;
    else if (s4_invalidate_q) result_d = iwarp_pkg::TptOk;
    else if (wraps)        result_d = iwarp_pkg::TptWrap;
    else if (outside)      result_d = iwarp_pkg::TptBounds;
  end
  assign mask = ~(21'h1fffff << log_page_q);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) s5_valid_q <= 1'b0;
    else         s5_valid_q <= s4_valid_q;
  end
  always_ff @(posedge clk_i) begin
    s5_client_q   <= s4_client_q;
    s5_last_q     <= s4_last_q;
    s5_invalidate_q <= s4_invalidate_q;
    s5_epoch_q    <= s4_epoch_q;
    s5_length_q   <= s4_length_q;
    s5_log_page_q <= log_page_q;
    s5_slot_q     <= s4_slot_q;
    s5_entry_q    <= s4_entry_q;
    result_q      <= result_d;
    page_no_q     <= page_no[PblW-1:0];
    s5_pbl_q      <= pbl_q;
    page_offset_q <= from_page_q[20:0] & mask;
  end

  assign valid_o       = s5_valid_q;
  assign client_o      = s5_client_q;
  assign result_o      = result_q;
  assign last_o        = s5_last_q;
  assign invalidate_o  = s5_invalidate_q;
  assign epoch_o       = s5_epoch_q;
  assign length_o      = s5_length_q;
  assign page_o        = s5_pbl_q + page_no_q;
  assign page_offset_o = page_offset_q;
  assign log_page_o    = s5_log_page_q;
  assign slot_o        = s5_slot_q;
  assign entry_o       = s5_entry_q;

  logic unused_high;
  assign unused_high = ^{qpn[15:QpW], place[23:SlotW], page_no[FromW-13:PblW], from_base[63:0]};

  // Simulation only: commit trace (architecture 10)
  iwarp_pkg::tpt_check_commit_t tap_tpt_check /*verilator public_flat_rd*/;
  logic                         tap_asked;     // by a client other than tpt_update
  assign tap_asked     = valid_q[1] && item2_q[ItemW-1-:3] != 3'd4;
  assign tap_tpt_check = {tap_asked, item2_q};
endmodule

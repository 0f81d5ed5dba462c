// atomic_compute: computes an item's word: the ALU's result for a FetchAdd or CmpSwap, else the
// data that came with the item.
//
//   accept: operands --> [ RAM of 72 ] --+--> [ atomic_alu, 2 cycles ] --> to atomic_store
//   operand: entry ----------^           +--> data ------- beside it ---------^
//            old value --> [ 1 cycle ] --^
//
// An entry is a request's (0 to 63) or a result's (64 to 71), 72 in all.
// 1. Items of all kinds pass in one order, in a pipeline of 3 stages. No item waits here:
//    atomic_store has room for every item inside the unit.
// 2. store_o 0: nothing is stored. ending_o gives the reason: done (a CmpSwap without a match),
//    unread, or refused (a result).
//
// Latency: 3 cycles (RAM 1, atomic_alu 2).
// Throughput: 1 item per cycle.
// Siblings: see atomic.sv.
// Bench: tb/atomic/atomic_test.cpp
`include "rnic_assert.svh"

module atomic_compute (
  input  logic         clk_i,
  input  logic         rst_ni,
  // from rdmap: an item is accepted. operands: {data, mask, compare, compare_mask}, 64 bits each
  input  logic         accept_i,
  input  logic [6:0]   accept_entry_i,
  input  logic         accept_is_cmp_swap_i,
  input  logic [255:0] accept_operands_i,
  // from atomic_fetch. is_read: old is the word that was read, status that of the read. refused: a
  // result whose sink tpt refuses.
  input  logic         valid_i,
  input  logic [6:0]   entry_i,
  input  logic [63:3]  address_i,
  input  logic         is_read_i,
  input  logic         refused_i,
  input  logic [1:0]   status_i,
  input  logic [63:0]  old_i,
  // to atomic_store
  output logic         valid_o,
  output logic [6:0]   entry_o,
  output logic         store_o,
  output logic [1:0]   ending_o,
  output logic [63:3]  address_o,
  output logic [63:0]  word_o
);
  // --- stage 1: the operands are read, with the bit is_cmp_swap: 1 + 4 * 64 bits
  logic         is_cmp_swap;
  logic [255:0] operands;
  ram_1r1w #(.Width(257), .Depth(72)) u_operands (
    .clk_i, .rst_ni, .we_i(accept_i), .waddr_i(accept_entry_i),
    .wdata_i({accept_is_cmp_swap_i, accept_operands_i}),
    .re_i(valid_i), .raddr_i(entry_i), .rdata_o({is_cmp_swap, operands})
`ifdef FORMAL
    , .f_addr_i('0), .f_word_o()
`endif
  );

  // --- beside the ALU: stages 1 to 3. unread: the read has failed; bad: refused or unread
  logic [2:0]  valid_q;
  logic [6:0]  s1_entry_q, s2_entry_q, s3_entry_q;
  logic [63:3] s1_address_q, s2_address_q, s3_address_q;
  logic        s1_read_q, s2_read_q, s3_read_q;
  logic        s1_refused_q, s1_unread_q, s2_bad_q, s3_bad_q;
  logic [1:0]  s2_ending_q, s3_ending_q;
  logic [63:0] s1_old_q, s2_data_q, s3_data_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= '0;
    else         valid_q <= {valid_q[1:0], valid_i};
  end
  always_ff @(posedge clk_i) begin
    s1_entry_q   <= entry_i;
    s1_address_q <= address_i;
    s1_read_q    <= is_read_i;
    s1_refused_q <= refused_i;
    s1_unread_q  <= is_read_i && status_i != iwarp_pkg::RdOk;
    s1_old_q     <= old_i;

    s2_entry_q   <= s1_entry_q;
    s2_address_q <= s1_address_q;
    s2_read_q    <= s1_read_q;
    s2_bad_q     <= s1_refused_q || s1_unread_q;
    s2_ending_q  <= s1_refused_q ? iwarp_pkg::AtEndRefused
                    : s1_unread_q ? iwarp_pkg::AtEndUnread : iwarp_pkg::AtEndDone;
    s2_data_q    <= operands[255:192];

    s3_entry_q   <= s2_entry_q;
    s3_address_q <= s2_address_q;
    s3_read_q    <= s2_read_q;
    s3_bad_q     <= s2_bad_q;
    s3_ending_q  <= s2_ending_q;
    s3_data_q    <= s2_data_q;
  end

  logic        alu_valid, alu_write;
  logic [63:0] alu_new;
  atomic_alu u_alu (
    .clk_i, .rst_ni, .valid_i(valid_q[0]), .is_cmp_swap_i(is_cmp_swap), .orig_i(s1_old_q),
    .value_i(operands[255:192]), .mask_i(operands[191:128]), .compare_i(operands[127:64]),
    .compare_mask_i(operands[63:0]),
    .valid_o(alu_valid), .write_o(alu_write), .new_o(alu_new)
  );

  assign valid_o   = valid_q[2];
  assign entry_o   = s3_entry_q;
  assign store_o   = !s3_bad_q && (!s3_read_q || alu_write);
  assign ending_o  = s3_ending_q;
  assign address_o = s3_address_q;
  assign word_o    = s3_read_q ? alu_new : s3_data_q;

  `RNIC_ASSERT(InStep_A, alu_valid == valid_o)
  `RNIC_COVER(NoMatch_C, valid_o && s3_read_q && !s3_bad_q && !alu_write)
endmodule

// ram_1r1w: a memory with one write port and one synchronous read port.
//
//   we, waddr, wdata --> [ mem ] --> [ rdata ] --> rdata_o
//   re, raddr ------------^            ^
//
// Invariants:
//  1. rdata_o is mem[raddr_i] in the cycle after re_i, and keeps that word until the next re_i.
//  2. A read of the address that is written in the same cycle returns the old word (read first).
//  3. Contents and rdata_o have no reset. ram_clear clears a table that must start empty.
// Latency: 1 cycle. Throughput: one read and one write per cycle.
// Cuts every path: all inputs end in flip-flops or the array. One block memory, or LUT memory when
// small.
// Proof rtl/formal/ram_1r1w_fv.sv, bench tb/lib/ram_1r1w_test.cpp
`include "rnic_assert.svh"

module ram_1r1w #(
  parameter int unsigned Width = 8,
  parameter int unsigned Depth = 16,
  localparam int unsigned AddrW = Depth > 1 ? $clog2(Depth) : 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,   // for the assertions only
  // from the writer
  input  logic             we_i,
  input  logic [AddrW-1:0] waddr_i,
  input  logic [Width-1:0] wdata_i,
  // from and to the reader
  input  logic             re_i,
  input  logic [AddrW-1:0] raddr_i,
  output logic [Width-1:0] rdata_o
`ifdef FORMAL
  ,
  // for the users' proofs: the word at any address
  input  logic [AddrW-1:0] f_addr_i,
  output logic [Width-1:0] f_word_o
`endif
);
  if (Width == 0) $fatal(1, "ram_1r1w %m: Width must be at least 1");
  if (Depth == 0) $fatal(1, "ram_1r1w %m: Depth must be at least 1");

  logic [Width-1:0] mem [Depth];
  logic [Width-1:0] rdata_q;

  always_ff @(posedge clk_i) begin
    if (we_i) mem[waddr_i] <= wdata_i;
    if (re_i) rdata_q <= mem[raddr_i];
  end

  assign rdata_o = rdata_q;
`ifdef FORMAL
  assign f_word_o = mem[f_addr_i];
`endif

  `RNIC_ASSERT(WriteInRange_A, !we_i || 32'(waddr_i) < Depth)
  `RNIC_ASSERT(ReadInRange_A,  !re_i || 32'(raddr_i) < Depth)
endmodule

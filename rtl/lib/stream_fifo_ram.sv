// stream_fifo_ram: the form of stream_fifo that keeps its words in a block memory. Use stream_fifo,
// which chooses.
//
//   data_i --> [ ram_1r1w ] --> [ rdata ] --> data_o      reads ahead when rdata is empty or taken
//
// Holds Depth words. Latency: 2 cycles. Throughput: 1 word per cycle.
// Back-pressure: ready_o comes from a flip-flop; data_o is the memory's output register. The only
// combinational path is ready_i to the memory's read enable.
// Proof rtl/formal/stream_fifo_ram_fv.sv, bench tb/lib/stream_fifo_test.cpp
`include "rnic_assert.svh"
`include "rnic_stall.svh"

module stream_fifo_ram #(
  parameter int unsigned Width = 8,
  parameter int unsigned Depth = 128,
  parameter bit Reserved = 1'b0,   // as in stream_fifo
  localparam int unsigned CountW = $clog2(Depth + 1)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  // from the producer
  input  logic              valid_i,
  output logic              ready_o,
  input  logic [Width-1:0]  data_i,
  // to the consumer
  output logic              valid_o,
  input  logic              ready_i,
  output logic [Width-1:0]  data_o,
  // to any observer
  output logic [CountW-1:0] count_o
);
  if (Width == 0) $fatal(1, "stream_fifo_ram %m: Width must be at least 1");
  if (Depth < 2)  $fatal(1, "stream_fifo_ram %m: Depth must be at least 2");

  localparam int unsigned PtrW = $clog2(Depth);

  logic [CountW-1:0] count_d, count_q;   // all stored words
  logic [CountW-1:0] level_q;            // words not yet read from the memory
  logic              ready_q, valid_q;
  logic [PtrW-1:0]   wr_q, rd_q;
  logic              push, pop, fetch, in_valid, out_ready;

  `RNIC_STALL_IN(Reserved, valid_i, ready_o, in_valid, ready_q)
  `RNIC_STALL_OUT(valid_q, out_ready, valid_o, ready_i)
  assign count_o = count_q;

  assign push    = in_valid && ready_q;
  assign pop     = valid_q && out_ready;
  assign fetch   = level_q != '0 && (!valid_q || out_ready);
  assign count_d = count_q + CountW'(push) - CountW'(pop);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q <= '0;
      level_q <= '0;
      ready_q <= 1'b1;
      valid_q <= 1'b0;
      wr_q    <= '0;
      rd_q    <= '0;
    end else begin
      count_q <= count_d;
      level_q <= level_q + CountW'(push) - CountW'(fetch);
      ready_q <= count_d != CountW'(Depth);
      valid_q <= fetch || (valid_q && !out_ready);
      if (push)  wr_q <= wr_q == PtrW'(Depth - 1) ? '0 : wr_q + 1'b1;
      if (fetch) rd_q <= rd_q == PtrW'(Depth - 1) ? '0 : rd_q + 1'b1;
    end
  end

`ifdef FORMAL
  logic [31:0]      f_at;
  logic [PtrW-1:0]  f_addr;
  logic [Width-1:0] f_stored;
`endif

  ram_1r1w #(.Width(Width), .Depth(Depth)) u_ram (
    .clk_i, .rst_ni,
    .we_i(push),  .waddr_i(wr_q), .wdata_i(data_i),
    .re_i(fetch), .raddr_i(rd_q), .rdata_o(data_o)
`ifdef FORMAL
    , .f_addr_i(f_addr), .f_word_o(f_stored)
`endif
  );

  `RNIC_ASSERT(ReservedHasRoom_A, !Reserved || !valid_i || ready_o)
  `RNIC_ASSERT(CountInRange_A, 32'(count_q) <= Depth)
  `RNIC_ASSERT(CountIsSum_A, 32'(count_q) == 32'(level_q) + 32'(valid_q))
  `RNIC_ASSERT(ReadyIsRoom_A, ready_q == (count_q != CountW'(Depth)))
  `RNIC_STREAM_STABLE(OutStable_A, valid_o, ready_i, data_o)

`ifdef FORMAL
  // Integrity: any one word, from its push to its pop, with a count of the words ahead of it.
  (* anyconst *) logic [Width-1:0] f_word;
  (* anyseq *)   logic             f_pick;
  logic              f_watch_q;
  logic [CountW-1:0] f_ahead_q;
  logic [31:0]       f_wr;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) f_watch_q <= 1'b0;
    else if (!f_watch_q) f_watch_q <= f_pick && push && data_i == f_word;
    else f_watch_q <= !(pop && f_ahead_q == '0);
    f_ahead_q <= (f_watch_q ? f_ahead_q : count_q) - CountW'(pop);
  end

  assign f_wr   = 32'(rd_q) + 32'(level_q);
  assign f_at   = 32'(rd_q) + 32'(f_ahead_q) - 32'(valid_q);
  assign f_addr = PtrW'(f_at >= Depth ? f_at - Depth : f_at);

  `RNIC_ASSERT(PointersInRange_A, 32'(rd_q) < Depth && 32'(wr_q) < Depth)
  `RNIC_ASSERT(PointersAgree_A, 32'(wr_q) == (f_wr >= Depth ? f_wr - Depth : f_wr))
  `RNIC_ASSERT(WatchedInside_A, !f_watch_q || f_ahead_q < count_q)
  `RNIC_ASSERT(WatchedFirst_A, !(f_watch_q && valid_q && f_ahead_q == '0) || data_o == f_word)
  `RNIC_ASSERT(WatchedStored_A, !f_watch_q || (valid_q && f_ahead_q == '0) || f_stored == f_word)
`endif
endmodule

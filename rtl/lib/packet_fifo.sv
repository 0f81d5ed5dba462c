// packet_fifo: stores whole packets and outputs a packet only after its last beat arrived without
// error.
//
//   data_i --> [ ram_1r1w ] --> [ rdata ] --> data_o      rd ... start: committed beats
//                                                         start ... wr: open beats, of the packet
//                                                                       that is arriving
//   last, no error: start = wr    last, error: wr = start, drop_o
//
// data_i is the rest of a beat, {keep, data}. No output beat has an error.
// Invariants:
//  1. Committed and open beats together are at most Depth (CountInRange_A).
//  2. A packet longer than Depth cannot be stored. Its beats are accepted and discarded up to its
//     last, and it is dropped like an errored one. So no input waits for it (FullWaitsForGood_A).
//  3. drop_o or commit_o pulses in the cycle after the last beat (OneVerdict_A). The unit that
//     holds the packet's header uses the pulse.
// Latency: 2 cycles from the last beat. Throughput: 1 beat per cycle at each side.
// Back-pressure: ready_o comes from a flip-flop. data_o is the memory's output register; ready_i
// reaches only its read enable.
// Proof rtl/formal/packet_fifo_fv.sv, bench tb/lib/packet_fifo_test.cpp
`include "rnic_assert.svh"
`include "rnic_stall.svh"

module packet_fifo #(
  parameter int unsigned Width = 519,
  parameter int unsigned Depth = 128,
  localparam int unsigned CountW = $clog2(Depth + 1)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  // from the producer
  input  logic              valid_i,
  output logic              ready_o,
  input  logic              last_i,
  input  logic              error_i,   // with last: drop the packet
  input  logic [Width-1:0]  data_i,
  // to the consumer
  output logic              valid_o,
  input  logic              ready_i,
  output logic              last_o,
  output logic [Width-1:0]  data_o,
  // to the unit that keeps the header of the packet
  output logic              commit_o,
  output logic              drop_o,
  // to any observer: beats stored, those of the open packet included
  output logic [CountW-1:0] count_o
);
  if (Width == 0) $fatal(1, "packet_fifo %m: Width must be at least 1");
  if (Depth < 2)  $fatal(1, "packet_fifo %m: Depth must be at least 2");

  localparam int unsigned PtrW = $clog2(Depth);

  logic [CountW-1:0] good_d, good_q;     // committed beats, the one in rdata included
  logic [CountW-1:0] open_d, open_q;     // beats of the open packet
  logic [CountW-1:0] level_d, level_q;   // committed beats not yet read from the memory
  logic              discard_d, discard_q;   // inside a packet that is too long
  logic [PtrW-1:0]   wr_d, wr_q, start_d, start_q, rd_d, rd_q;
  logic              ready_q, valid_q, commit_q, drop_q;
  logic              push, pop, fetch, write, commit, drop, give_up, in_valid, out_ready;
  logic [PtrW-1:0]   wr_next;

  `RNIC_STALL_IN(0, valid_i, ready_o, in_valid, ready_q)
  `RNIC_STALL_OUT(valid_q, out_ready, valid_o, ready_i)
  assign push  = in_valid && ready_q;
  assign pop   = valid_q && out_ready;
  assign fetch = level_q != '0 && (!valid_q || out_ready);
  assign write = push && !discard_q;

  assign commit  = write && last_i && !error_i;
  assign drop    = push && last_i && (error_i || discard_q);
  assign give_up = write && !last_i && open_q == CountW'(Depth - 1);
  assign wr_next = wr_q == PtrW'(Depth - 1) ? '0 : wr_q + 1'b1;

  always_comb begin
    good_d    = good_q - CountW'(pop);
    level_d   = level_q - CountW'(fetch);
    open_d    = open_q;
    wr_d      = wr_q;
    start_d   = start_q;
    discard_d = discard_q;
    rd_d      = rd_q;
    if (fetch) rd_d = rd_q == PtrW'(Depth - 1) ? '0 : rd_q + 1'b1;
    if (write) begin
      wr_d   = wr_next;
      open_d = open_q + 1'b1;
    end
    if (commit) begin
      start_d = wr_next;
      open_d  = '0;
      good_d  = good_q - CountW'(pop) + open_q + 1'b1;
      level_d = level_q - CountW'(fetch) + open_q + 1'b1;
    end
    if (drop || give_up) begin
      wr_d      = start_q;
      open_d    = '0;
      discard_d = give_up;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      good_q    <= '0;
      level_q   <= '0;
      open_q    <= '0;
      discard_q <= 1'b0;
      wr_q      <= '0;
      start_q   <= '0;
      rd_q      <= '0;
      ready_q   <= 1'b1;
      valid_q   <= 1'b0;
      commit_q  <= 1'b0;
      drop_q    <= 1'b0;
    end else begin
      good_q    <= good_d;
      level_q   <= level_d;
      open_q    <= open_d;
      discard_q <= discard_d;
      wr_q      <= wr_d;
      start_q   <= start_d;
      rd_q      <= rd_d;
      ready_q   <= discard_d || good_d + open_d != CountW'(Depth);
      valid_q   <= fetch || (valid_q && !out_ready);
      commit_q  <= commit;
      drop_q    <= drop;
    end
  end

`ifdef FORMAL
  logic [31:0]      f_at;
  logic [PtrW-1:0]  f_addr;
  logic [Width:0]   f_stored;
`endif

  ram_1r1w #(.Width(Width + 1), .Depth(Depth)) u_ram (
    .clk_i, .rst_ni,
    .we_i(write), .waddr_i(wr_q), .wdata_i({last_i, data_i}),
    .re_i(fetch), .raddr_i(rd_q), .rdata_o({last_o, data_o})
`ifdef FORMAL
    , .f_addr_i(f_addr), .f_word_o(f_stored)
`endif
  );

  assign commit_o = commit_q;
  assign drop_o   = drop_q;
  assign count_o  = good_q + open_q;

  `RNIC_ASSERT(CountInRange_A, 32'(good_q) + 32'(open_q) <= Depth)
  `RNIC_ASSERT(GoodIsSum_A, 32'(good_q) == 32'(level_q) + 32'(valid_q))
  `RNIC_ASSERT(FullWaitsForGood_A, ready_q || good_q != '0)
  `RNIC_ASSERT(DiscardEmpty_A, !discard_q || open_q == '0)
  `RNIC_ASSERT(OneVerdict_A, !(commit_q && drop_q))
  `RNIC_STREAM_STABLE(OutStable_A, valid_o, ready_i, {last_o, data_o})

`ifdef FORMAL
  // Integrity: any one beat, from its push to its pop or to the drop of its packet, with a count of
  // the beats ahead of it.
  (* anyconst *) logic [Width:0] f_word;
  (* anyseq *)   logic           f_pick;
  logic              f_watch_q;   // a beat is watched
  logic              f_open_q;    // the packet of the watched beat is still open
  logic [CountW-1:0] f_ahead_q;
  logic [31:0]       f_start, f_wr;
  logic              f_begin;

  assign f_begin = !f_watch_q && f_pick && write && {last_i, data_i} == f_word &&
                   !(drop || give_up);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) f_watch_q <= 1'b0;
    else if (!f_watch_q) f_watch_q <= f_begin;
    else f_watch_q <= !(pop && f_ahead_q == '0 && !f_open_q) && !(f_open_q && (drop || give_up));
    f_open_q  <= (f_watch_q ? f_open_q : f_begin) && !commit;
    f_ahead_q <= (f_watch_q ? f_ahead_q : good_q + open_q) - CountW'(pop);
  end

  assign f_start = 32'(rd_q) + 32'(level_q);
  assign f_wr    = 32'(rd_q) + 32'(level_q) + 32'(open_q);
  assign f_at    = 32'(rd_q) + 32'(f_ahead_q) - 32'(valid_q);
  assign f_addr  = PtrW'(f_at >= Depth ? f_at - Depth : f_at);

  `RNIC_ASSERT(PointersInRange_A, 32'(rd_q) < Depth && 32'(wr_q) < Depth && 32'(start_q) < Depth)
  `RNIC_ASSERT(StartAgrees_A, 32'(start_q) == (f_start >= Depth ? f_start - Depth : f_start))
  `RNIC_ASSERT(WriteAgrees_A, 32'(wr_q) == (f_wr >= Depth ? f_wr - Depth : f_wr))
  `RNIC_ASSERT(ReadyIsRoom_A, ready_q == (discard_q || good_q + open_q != CountW'(Depth)))
  `RNIC_ASSERT(OpenFits_A, 32'(open_q) < Depth)
  `RNIC_ASSERT(WatchedOpen_A, !(f_watch_q && f_open_q) ||
                              (f_ahead_q >= good_q && f_ahead_q < good_q + open_q))
  `RNIC_ASSERT(WatchedGood_A, !(f_watch_q && !f_open_q) || f_ahead_q < good_q)
  `RNIC_ASSERT(WatchedFirst_A, !(f_watch_q && valid_q && f_ahead_q == '0) ||
                               {last_o, data_o} == f_word)
  `RNIC_ASSERT(WatchedStored_A, !f_watch_q || (valid_q && f_ahead_q == '0) || f_stored == f_word)

  // The beats of the open packet, counted up to Depth: those that fit are stored, others discarded.
  logic [31:0] f_length_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || (push && last_i))           f_length_q <= 32'd0;
    else if (push && f_length_q != 32'(Depth)) f_length_q <= f_length_q + 32'd1;
  end

  `RNIC_ASSERT(TooLongDiscarded_A, discard_q == (f_length_q == 32'(Depth)))
  `RNIC_ASSERT(OpenIsLength_A, discard_q || 32'(open_q) == f_length_q)
`endif
endmodule

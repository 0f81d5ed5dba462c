// stream_fifo: a queue for a valid/ready stream, of any depth from 1.
//
//   Depth <= 64   words in flip-flops or LUT memory, latency 1 cycle; an empty queue fills its
//                 output directly
//                   data_i --+--> [ mem, Depth-1 ] --+--> [ out ] --> data_o
//                            +-----------------------^
//   Depth >  64   block memory (stream_fifo_ram), latency 2 cycles
//
// Holds Depth words. count_o is the number of stored words, including the output register.
// Throughput: 1 word per cycle (with a Depth of 1: one every 2 cycles, since ready_o is
// registered).
// Back-pressure: cuts every combinational path: ready_o and data_o come from flip-flops. (Above a
// Depth of 64, ready_i reaches the memory's read enable: stream_fifo_ram.)
// Proof rtl/formal/stream_fifo_fv.sv, bench tb/lib/stream_fifo_test.cpp
`include "rnic_assert.svh"
`include "rnic_stall.svh"

module stream_fifo #(
  parameter int unsigned Width = 8,
  parameter int unsigned Depth = 2,
  parameter bit Reserved = 1'b0,   // the producer has reserved room and does not read ready_o
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
  if (Width == 0) $fatal(1, "stream_fifo %m: Width must be at least 1");
  if (Depth == 0) $fatal(1, "stream_fifo %m: Depth must be at least 1");

  if (Depth > 64) begin : gen_ram
    stream_fifo_ram #(.Width(Width), .Depth(Depth), .Reserved(Reserved)) u_ram (
      .clk_i, .rst_ni, .valid_i, .ready_o, .data_i, .valid_o, .ready_i, .data_o, .count_o
    );
  end else begin : gen_flop
    localparam int unsigned Words = Depth > 1 ? Depth - 1 : 1;   // after the output register
    localparam int unsigned PtrW  = Words > 1 ? $clog2(Words) : 1;

    logic [CountW-1:0] count_d, count_q;
    logic              ready_q, valid_q;
    logic [Width-1:0]  out_q;
    logic [Width-1:0]  mem [Words];
    logic [PtrW-1:0]   wr_q, rd_q;
    logic              push, pop, load, waiting, from_mem, to_mem, in_valid, out_ready;

    `RNIC_STALL_IN(Reserved, valid_i, ready_o, in_valid, ready_q)
    `RNIC_STALL_OUT(valid_q, out_ready, valid_o, ready_i)
    assign data_o  = out_q;
    assign count_o = count_q;

    assign push     = in_valid && ready_q;
    assign pop      = valid_q && out_ready;
    assign load     = pop || !valid_q;
    assign waiting  = (count_q >> 1) != '0;   // more than one word: some are in mem
    assign from_mem = load && waiting;
    assign to_mem   = push && (!load || waiting);
    assign count_d  = count_q + CountW'(push) - CountW'(pop);

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        count_q <= '0;
        ready_q <= 1'b1;
        valid_q <= 1'b0;
        wr_q    <= '0;
        rd_q    <= '0;
      end else begin
        count_q <= count_d;
        ready_q <= count_d != CountW'(Depth);
        valid_q <= count_d != '0;
        if (to_mem)   wr_q <= wr_q == PtrW'(Words - 1) ? '0 : wr_q + 1'b1;
        if (from_mem) rd_q <= rd_q == PtrW'(Words - 1) ? '0 : rd_q + 1'b1;
      end
    end

    always_ff @(posedge clk_i) begin
      if (to_mem) mem[wr_q] <= data_i;
      if (load)   out_q <= from_mem ? mem[rd_q] : data_i;
    end

    `RNIC_ASSERT(ReservedHasRoom_A, !Reserved || !valid_i || ready_o)
    `RNIC_ASSERT(CountInRange_A, 32'(count_q) <= Depth)
    `RNIC_ASSERT(ReadyIsRoom_A, ready_q == (count_q != CountW'(Depth)))
    `RNIC_ASSERT(ValidIsSome_A, valid_q == (count_q != '0))
    `RNIC_STREAM_STABLE(OutStable_A, valid_o, ready_i, data_o)

`ifdef FORMAL
    // Integrity: any one word, from its push to its pop, with a count of the words ahead of it.
    (* anyconst *) logic [Width-1:0] f_word;
    (* anyseq *)   logic             f_pick;
    logic              f_watch_q;
    logic [CountW-1:0] f_ahead_q;
    logic [31:0]       f_at, f_held, f_wr;

    always_ff @(posedge clk_i) begin
      if (!rst_ni) f_watch_q <= 1'b0;
      else if (!f_watch_q) f_watch_q <= f_pick && push && data_i == f_word;
      else f_watch_q <= !(pop && f_ahead_q == '0);
      f_ahead_q <= (f_watch_q ? f_ahead_q : count_q) - CountW'(pop);
    end

    assign f_held = count_q == '0 ? 32'd0 : 32'(count_q) - 32'd1;   // words in mem
    assign f_wr   = 32'(rd_q) + f_held;
    assign f_at   = 32'(rd_q) + 32'(f_ahead_q) - 32'd1;

    `RNIC_ASSERT(PointersInRange_A, 32'(rd_q) < Words && 32'(wr_q) < Words)
    `RNIC_ASSERT(PointersAgree_A, 32'(wr_q) == (f_wr >= Words ? f_wr - Words : f_wr))
    `RNIC_ASSERT(WatchedInside_A, !f_watch_q || f_ahead_q < count_q)
    `RNIC_ASSERT(WatchedFirst_A, !(f_watch_q && f_ahead_q == '0) || out_q == f_word)
    `RNIC_ASSERT(WatchedStored_A, !(f_watch_q && f_ahead_q != '0) ||
                                  mem[PtrW'(f_at >= Words ? f_at - Words : f_at)] == f_word)
`endif
  end
endmodule

// stream_reg: a register stage for a valid/ready stream.
//
//   data_i --+-------------> [ a ] --> data_o     b fills only while a is full and stalled,
//            +--> [ b ] --------^                 so ready_o = "b is empty" comes from a flip-flop.
//
// Latency: 1 cycle. Throughput: 1 word per cycle. Cuts every combinational path between its sides.
// Proof rtl/formal/stream_reg_fv.sv, bench tb/lib/stream_reg_test.cpp
`include "rnic_assert.svh"
`include "rnic_stall.svh"

module stream_reg #(
  parameter int unsigned Width = 8
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  // from the producer
  input  logic             valid_i,
  output logic             ready_o,
  input  logic [Width-1:0] data_i,
  // to the consumer
  output logic             valid_o,
  input  logic             ready_i,
  output logic [Width-1:0] data_o
);
  if (Width == 0) $fatal(1, "stream_reg %m: Width must be at least 1");

  logic             a_full_d, a_full_q, b_full_d, b_full_q;
  logic [Width-1:0] a_q, b_q;
  logic             push, pop, load_a, in_valid, in_ready, out_valid, out_ready;

  `RNIC_STALL_IN(0, valid_i, ready_o, in_valid, in_ready)
  `RNIC_STALL_OUT(out_valid, out_ready, valid_o, ready_i)
  assign in_ready  = !b_full_q;
  assign out_valid = a_full_q;
  assign data_o  = a_q;

  assign push   = in_valid && in_ready;
  assign pop    = out_valid && out_ready;
  assign load_a = pop || !a_full_q;

  always_comb begin
    a_full_d = a_full_q;
    b_full_d = b_full_q;
    if (load_a) begin
      a_full_d = b_full_q || push;
      b_full_d = 1'b0;
    end else if (push) begin
      b_full_d = 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      a_full_q <= 1'b0;
      b_full_q <= 1'b0;
    end else begin
      a_full_q <= a_full_d;
      b_full_q <= b_full_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (load_a)          a_q <= b_full_q ? b_q : data_i;
    if (push && !load_a) b_q <= data_i;
  end

  `RNIC_ASSERT(BOnlyBehindA_A, a_full_q || !b_full_q)
  `RNIC_STREAM_STABLE(OutStable_A, valid_o, ready_i, data_o)

`ifdef FORMAL
  // Integrity: any one word, from its push to its pop. f_behind_q: the word is in b, and an older
  // word is in a.
  (* anyconst *) logic [Width-1:0] f_word;
  (* anyseq *)   logic             f_pick;
  logic f_watch_q, f_behind_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni)         f_watch_q <= 1'b0;
    else if (!f_watch_q) f_watch_q <= f_pick && push && data_i == f_word;
    else                 f_watch_q <= !(pop && !f_behind_q);
    f_behind_q <= (f_watch_q ? f_behind_q : a_full_q) && !pop;
  end

  `RNIC_ASSERT(WatchedInA_A, !(f_watch_q && !f_behind_q) || (a_full_q && a_q == f_word))
  `RNIC_ASSERT(WatchedInB_A, !(f_watch_q && f_behind_q) || (b_full_q && b_q == f_word))
`endif
endmodule

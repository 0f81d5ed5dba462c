// id_pool: hands out ids 0 .. N-1 and takes them back; all are free after reset.
//
// alloc: one id a cycle from a register (latency: an id that comes back is offered 2 cycles later at the earliest).
// free: always accepted, one a cycle. The lowest free id goes first. Cuts every path but alloc_ready_i to the bitmap.
//
//   free_id_i --> set --> [ free_q, N bits ] --> [ first_one ] --> [ id_q ] --> alloc_id_o
//                              ^-- clear ------------+
//
// Up to 1024 ids. Proof rtl/formal/id_pool_fv.sv, bench tb/lib/id_pool_test.cpp
`include "rnic_assert.svh"

module id_pool #(
  parameter int unsigned N = 16,
  localparam int unsigned IdW    = N > 1 ? $clog2(N) : 1,
  localparam int unsigned CountW = $clog2(N + 1)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  // to the user: an id that is now the user's
  output logic              alloc_valid_o,
  input  logic              alloc_ready_i,
  output logic [IdW-1:0]    alloc_id_o,
  // from the user: an id that comes back
  input  logic              free_valid_i,
  output logic              free_ready_o,
  input  logic [IdW-1:0]    free_id_i,
  // to whom it may concern: ids in the hands of the user
  output logic [CountW-1:0] used_o
`ifdef FORMAL
  , output logic [N-1:0] f_held_o   // a window for the proof: which ids the user holds
`endif
);
  if (N == 0)   $fatal(1, "id_pool %m: N must be at least 1");
  if (N > 1024) $fatal(1, "id_pool %m: N must be at most 1024, the bitmap is searched in one cycle");

  logic [N-1:0]      free_q, pick, back;
  logic              some, load, valid_q;
  logic [IdW-1:0]    index, id_q;
  logic [CountW-1:0] used_q;

  first_one #(.N(N)) u_first (.request_i(free_q), .any_o(some), .onehot_o(pick), .index_o(index));

  assign load          = !valid_q || alloc_ready_i;
  assign alloc_valid_o = valid_q;
  assign alloc_id_o    = id_q;
  assign free_ready_o  = 1'b1;
  assign used_o        = used_q;

  always_comb begin
    for (int unsigned i = 0; i < N; i++) back[i] = free_valid_i && free_id_i == IdW'(i);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      free_q  <= '1;
      valid_q <= 1'b0;
      used_q  <= '0;
    end else begin
      free_q  <= (free_q & ~(pick & {N{load}})) | back;
      valid_q <= !load || some;
      used_q  <= used_q + CountW'(valid_q && alloc_ready_i) - CountW'(free_valid_i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (load) id_q <= index;
  end

  // Which ids the user holds, only for the assertions: synthesis removes it.
  logic [N-1:0] held_q, taken;

  always_comb begin
    for (int unsigned i = 0; i < N; i++) taken[i] = valid_q && alloc_ready_i && id_q == IdW'(i);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) held_q <= '0;
    else         held_q <= (held_q | taken) & ~back;
  end

  `RNIC_ASSERT(FreeOfHeld_A, (back & ~held_q) == '0)
  `RNIC_ASSERT(FreeInRange_A, !free_valid_i || 32'(free_id_i) < N)
  `RNIC_ASSERT(AllocOfUnused_A, (taken & held_q) == '0)
  `RNIC_ASSERT(NeverBoth_A, (free_q & held_q) == '0)
  `RNIC_STREAM_STABLE(AllocStable_A, alloc_valid_o, alloc_ready_i, alloc_id_o)

`ifdef FORMAL
  assign f_held_o = held_q;

  // Every id is in exactly one place: in the bitmap, on offer, or with the user.
  logic [N-1:0] f_offered;

  always_comb begin
    for (int unsigned i = 0; i < N; i++) f_offered[i] = valid_q && id_q == IdW'(i);
  end

  `RNIC_ASSERT(IdInRange_A, !valid_q || 32'(id_q) < N)
  `RNIC_ASSERT(OnePlace_A, (free_q ^ f_offered ^ held_q) == '1 && (free_q & f_offered) == '0 &&
                           (f_offered & held_q) == '0 && (free_q & held_q) == '0)
  `RNIC_ASSERT(NoneLost_A, valid_q || free_q != '0 || held_q != '0)
`endif
endmodule

// id_pool_fv: proof of id_pool with 3 ids (not a power of two). No id is handed out twice, none is lost.
//
// The environment frees only what it holds. Where each id is, is in the cell, under FORMAL.
// proof: assertions=11 bounded=16 induction=4 cover=12
`include "rnic_assert.svh"
`include "rnic_formal.svh"

module id_pool_fv (
  input logic       clk_i,
  input logic       alloc_ready_i, free_valid_i,
  input logic [1:0] free_id_i
);
  `RNIC_FORMAL_RESET
  logic       alloc_valid_o, free_ready_o;
  logic [1:0] alloc_id_o, used_o;
  logic [3:0] mine_q;   // in the hands of the environment
  logic [2:0] held;     // what the pool thinks of it
  logic       taken;

  id_pool #(.N(3)) dut (
    .clk_i, .rst_ni, .alloc_valid_o, .alloc_ready_i, .alloc_id_o, .free_valid_i, .free_ready_o, .free_id_i, .used_o,
    .f_held_o(held)
  );

  assign taken = alloc_valid_o && alloc_ready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) mine_q <= 4'd0;
    else mine_q <= (mine_q | (taken ? 4'd1 << alloc_id_o : 4'd0)) & ~(free_valid_i ? 4'd1 << free_id_i : 4'd0);
  end

  `RNIC_ASSUME(!free_valid_i || mine_q[free_id_i])

  `RNIC_ASSERT(SameHeld_A, mine_q == {1'b0, held})
  `RNIC_ASSERT(NotTwice_A, !taken || (!mine_q[alloc_id_o] && alloc_id_o != 2'd3))
  `RNIC_ASSERT(UsedIsCount_A, free_ready_o && used_o == 2'(mine_q[0]) + 2'(mine_q[1]) + 2'(mine_q[2]))

  `RNIC_COVER(AllOut_C, mine_q == 4'd7 && !alloc_valid_o)
  `RNIC_COVER(AgainAfterAll_C, taken && alloc_id_o == 2'd1 && used_o == 2'd2 && $past(mine_q, 3) == 4'd7)
endmodule

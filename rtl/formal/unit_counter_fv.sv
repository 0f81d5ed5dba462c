// unit_counter_fv: proof of unit_counter: 0 after reset, and each cycle's items, busy and stalled
// are added once, two cycles later.
//
// proof: assertions=2 bounded=12 induction=4 cover=12
`include "rnic_assert.svh"
`include "rnic_formal.svh"

module unit_counter_fv (
  input logic       clk_i,
  input logic [1:0] items_i,
  input logic       busy_i, stalled_i
);
  `RNIC_FORMAL_RESET
  iwarp_pkg::unit_count_t count, count_q;
  logic [1:0]             items_1q, items_2q;
  logic                   busy_1q, busy_2q, stalled_1q, stalled_2q, ran_q;

  unit_counter #(.ItemsW(2)) dut (.clk_i, .rst_ni, .items_i, .busy_i, .stalled_i, .count_o(count));

  // What went in one and two cycles ago, and what was counted one cycle ago; nothing under reset.
  initial ran_q = 1'b0;
  always_ff @(posedge clk_i) begin
    ran_q   <= rst_ni;
    count_q <= count;
    if (!rst_ni) {items_1q, busy_1q, stalled_1q, items_2q, busy_2q, stalled_2q} <= '0;
    else         {items_1q, busy_1q, stalled_1q, items_2q, busy_2q, stalled_2q} <=
                   {items_i, busy_i, stalled_i, items_1q, busy_1q, stalled_1q};
  end

  `RNIC_ASSERT(Clear_A, ran_q || count == '0)
  `RNIC_ASSERT(Count_A, !ran_q || count == {count_q.items + 48'(items_2q),
                                            count_q.busy + 48'(busy_2q),
                                            count_q.stalled + 48'(stalled_2q)})

  `RNIC_COVER(Differ_C, count == {48'd7, 48'd2, 48'd3})
endmodule

// unit_counter_fv: proof of unit_counter, with and without its stage: 0 after reset, and each cycle's items, busy and
// stalled are added once, two cycles or one cycle later.
//
// proof: assertions=4 bounded=12 induction=4 cover=12
`include "rnic_assert.svh"
`include "rnic_formal.svh"

module unit_counter_fv (
  input logic       clk_i,
  input logic [1:0] items_i,
  input logic       busy_i, stalled_i
);
  `RNIC_FORMAL_RESET
  iwarp_pkg::unit_count_t stage, direct, stage_q, direct_q;
  logic [1:0]             items_1q, items_2q;
  logic                   busy_1q, busy_2q, stalled_1q, stalled_2q, ran_q;

  unit_counter #(.ItemsW(2))               dut_stage  (.clk_i, .rst_ni, .items_i, .busy_i, .stalled_i, .count_o(stage));
  unit_counter #(.ItemsW(2), .Stage(1'b0)) dut_direct (.clk_i, .rst_ni, .items_i, .busy_i, .stalled_i, .count_o(direct));

  // What went in one and two cycles ago, and what was counted one cycle ago; nothing under reset.
  initial ran_q = 1'b0;
  always_ff @(posedge clk_i) begin
    ran_q    <= rst_ni;
    stage_q  <= stage;
    direct_q <= direct;
    if (!rst_ni) {items_1q, busy_1q, stalled_1q, items_2q, busy_2q, stalled_2q} <= '0;
    else         {items_1q, busy_1q, stalled_1q, items_2q, busy_2q, stalled_2q} <=
                   {items_i, busy_i, stalled_i, items_1q, busy_1q, stalled_1q};
  end

  `RNIC_ASSERT(StageClear_A, ran_q || stage == '0)
  `RNIC_ASSERT(DirectClear_A, ran_q || direct == '0)
  `RNIC_ASSERT(Stage_A, !ran_q || stage == {stage_q.items + 48'(items_2q), stage_q.busy + 48'(busy_2q),
                                            stage_q.stalled + 48'(stalled_2q)})
  `RNIC_ASSERT(Direct_A, !ran_q || direct == {direct_q.items + 48'(items_1q), direct_q.busy + 48'(busy_1q),
                                              direct_q.stalled + 48'(stalled_1q)})

  `RNIC_COVER(Differ_C, stage == {48'd7, 48'd2, 48'd3} && direct == {48'd10, 48'd2, 48'd4})
endmodule

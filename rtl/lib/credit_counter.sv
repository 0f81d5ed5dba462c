// credit_counter: counts credit that one side gives and the other takes.
//
// take: taken when the amount is covered by what is there now; ready_o follows take_amount_i combinationally. give: an
// amount added in the same cycle counts from the next one; it is always accepted. Both in every cycle.
//
//   give_amount_i --> + --> [ count_q ] --> >= take_amount_i --> take_ready_o
//                     ^--------- - <------------- taken
//
// The sum never exceeds Max: who gives more than was taken, or more than once, is caught by an assertion.
// Proof rtl/formal/credit_counter_fv.sv, bench tb/lib/credit_counter_test.cpp
`include "rnic_assert.svh"

module credit_counter #(
  parameter int unsigned Max     = 16,
  parameter int unsigned Initial = Max,   // credit after reset
  localparam int unsigned CountW = $clog2(Max + 1)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  // from the side that gives
  input  logic              give_valid_i,
  input  logic [CountW-1:0] give_amount_i,
  // from the side that takes
  input  logic              take_valid_i,
  output logic              take_ready_o,
  input  logic [CountW-1:0] take_amount_i,
  // to whom it may concern
  output logic [CountW-1:0] count_o
);
  if (Max == 0)      $fatal(1, "credit_counter %m: Max must be at least 1");
  if (Initial > Max) $fatal(1, "credit_counter %m: Initial must not exceed Max");

  logic [CountW-1:0] count_q, given, taken;

  assign take_ready_o = count_q >= take_amount_i;
  assign given        = give_valid_i ? give_amount_i : '0;
  assign taken        = take_valid_i && take_ready_o ? take_amount_i : '0;
  assign count_o      = count_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) count_q <= CountW'(Initial);
    else         count_q <= count_q - taken + given;
  end

  `RNIC_ASSERT(NotTooMuch_A, 33'(count_q) - 33'(taken) + 33'(given) <= 33'(Max))
  `RNIC_ASSERT(InRange_A, 32'(count_q) <= Max)
endmodule

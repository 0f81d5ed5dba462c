// rnic_assert: the assertion macros of the project, clocked immediate ones that Verilator and Yosys both read.
//
// They use the clk_i and rst_ni of the module that they stand in, and hold outside reset only.
//
//   RNIC_ASSERT(name, cond)                          cond in every cycle
//   RNIC_ASSERT_NEXT(name, before, now)              before in one cycle means now in the next
//   RNIC_STREAM_STABLE(name, valid, ready, payload)  an offer that was not taken stays as it is
//
// $past(rst_ni) keeps the last two from looking back into reset.
`ifndef RNIC_ASSERT_SVH
`define RNIC_ASSERT_SVH

`define RNIC_ASSERT(name, cond) \
  always_ff @(posedge clk_i) if (rst_ni) begin name: assert (cond); end

`define RNIC_ASSERT_NEXT(name, before, now) \
  always_ff @(posedge clk_i) if (rst_ni && $past(rst_ni)) begin name: assert (!$past(before) || (now)); end

`define RNIC_STREAM_STABLE(name, valid, ready, payload) \
  `RNIC_ASSERT_NEXT(name, (valid) && !(ready), (valid) && $stable(payload))

`endif

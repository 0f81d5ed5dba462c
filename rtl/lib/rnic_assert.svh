// rnic_assert: the assertion macros of the project, clocked immediate ones that Verilator and Yosys both read.
//
// They use the clk_i and rst_ni of the module that they stand in, and hold outside reset only.
//
//   RNIC_ASSERT(name, cond)                          cond in every cycle
//   RNIC_ASSERT_NEXT(name, before, now)              before in one cycle means now in the next
//   RNIC_STREAM_STABLE(name, valid, ready, payload)  an offer that was not taken stays as it is
//   RNIC_COVER(name, cond)                           cond happens in the random programs on the build `stall`,
//                                                    which counts it: tb/system/cover_test.cpp
//
// With RNIC_LEAN the last does not look at the payload: on a whole device that is a third of a simulation's time. The
// default device is built so; the minimum device and every bench check the payload, too.
//
// $past(rst_ni) keeps the last two from looking back into reset.
`ifndef RNIC_ASSERT_SVH
`define RNIC_ASSERT_SVH

`define RNIC_ASSERT(name, cond) \
  always_ff @(posedge clk_i) if (rst_ni) begin name: assert (cond); end

`define RNIC_COVER(name, cond) \
  always_ff @(posedge clk_i) if (rst_ni) begin name: cover (cond); end

`define RNIC_ASSERT_NEXT(name, before, now) \
  always_ff @(posedge clk_i) if (rst_ni && $past(rst_ni)) begin name: assert (!$past(before) || (now)); end

`ifdef RNIC_LEAN
`define RNIC_STREAM_STABLE(name, valid, ready, payload) \
  `RNIC_ASSERT_NEXT(name, (valid) && !(ready), (valid))
`else
`define RNIC_STREAM_STABLE(name, valid, ready, payload) \
  `RNIC_ASSERT_NEXT(name, (valid) && !(ready), (valid) && $stable(payload))
`endif

`endif

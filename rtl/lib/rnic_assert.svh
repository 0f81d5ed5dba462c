// rnic_assert: the project's assertion macros: clocked immediate ones, which Verilator and Yosys
// both read.
//
// They use clk_i and rst_ni of the module that contains them, and are disabled during reset.
//
//   RNIC_ASSERT(name, cond)                          cond in every cycle
//   RNIC_ASSERT_NEXT(name, before, now)              before in one cycle implies now in the next
//   RNIC_STREAM_STABLE(name, valid, ready, payload)  valid and payload are stable until ready
//   RNIC_COVER(name, cond)                           cond happens in the random programs on the
//                                                    build `stall`, which counts it:
//                                                    tb/system/cover_test.cpp
//
// With RNIC_LEAN, RNIC_STREAM_STABLE does not check the payload: on a whole device that check takes
// a third of a simulation's time. The default device is built with RNIC_LEAN; the minimum device
// and every bench check the payload, too.
//
// $past(rst_ni) keeps RNIC_ASSERT_NEXT and RNIC_STREAM_STABLE from comparing with a cycle in reset.
`ifndef RNIC_ASSERT_SVH
`define RNIC_ASSERT_SVH

`define RNIC_ASSERT(name, cond) \
  always_ff @(posedge clk_i) if (rst_ni) begin name: assert (cond); end

`define RNIC_COVER(name, cond) \
  always_ff @(posedge clk_i) if (rst_ni) begin name: cover (cond); end

`define RNIC_ASSERT_NEXT(name, before, now) \
  always_ff @(posedge clk_i) \
    if (rst_ni && $past(rst_ni)) begin name: assert (!$past(before) || (now)); end

`ifdef RNIC_LEAN
`define RNIC_STREAM_STABLE(name, valid, ready, payload) \
  `RNIC_ASSERT_NEXT(name, (valid) && !(ready), (valid))
`else
`define RNIC_STREAM_STABLE(name, valid, ready, payload) \
  `RNIC_ASSERT_NEXT(name, (valid) && !(ready), (valid) && $stable(payload))
`endif

`endif

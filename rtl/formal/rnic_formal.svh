// rnic_formal: macros for the environment of a proof, in addition to rnic_assert.svh of rtl/lib.
//
//   RNIC_FORMAL_RESET                           declares rst_ni: low in the first cycle, then high
//   RNIC_ASSUME(cond)                           cond holds outside reset
//   RNIC_ASSUME_STREAM(valid, ready, payload)   valid and payload are stable until ready
//   RNIC_COVER(name, cond)                      some run reaches cond (in rnic_assert.svh)
//
// (* anyconst *) before a declaration: the solver chooses one value for the whole run. (* anyseq
// *): a new value in each cycle. A proof that follows "any one" word, slot or packet chooses it in
// this way, so it holds for all of them. A module's input is free in the same sense as anyseq.
`ifndef RNIC_FORMAL_SVH
`define RNIC_FORMAL_SVH

`define RNIC_FORMAL_RESET \
  logic rst_ni; \
  initial rst_ni = 1'b0; \
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

`define RNIC_ASSUME(cond) \
  always_comb if (rst_ni) assume (cond);

`define RNIC_ASSUME_STREAM(valid, ready, payload) \
  always_ff @(posedge clk_i) if (rst_ni && $past(rst_ni)) \
    assume (!$past((valid) && !(ready)) || ((valid) && $stable(payload)));

`endif

// rnic_words: what leaves of one unit hand to each other in bits of their own, typed once for both sides.
//
//   typedef `RNIC_RDMAP_OP_E op_e;        an enum by its names; ports carry it as plain bits
//
// What units hand to each other are structs, printed into iwarp_pkg.
`ifndef RNIC_WORDS_SVH
`define RNIC_WORDS_SVH

// rdmap_pick to rdmap_core: the operation. docs/spec/commits.yaml (rdmap_op) has the same numbers
`define RNIC_RDMAP_OP_E enum logic [2:0] {OpCtl, OpQpFault, OpTxFault, OpRespFail, OpSeg, OpHead, OpFree, OpWqe}

`endif

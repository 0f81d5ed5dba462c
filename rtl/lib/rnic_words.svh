// rnic_words: what leaves of one unit hand to each other in bits of their own, typed once for both sides.
//
//   typedef `RNIC_RDMAP_OP_E op_e;                          an enum by its names; ports carry it as plain bits
//   localparam int unsigned ItemW = `RNIC_QP_ITEM_W;        the width of a flat word, whose fields its producer names
//
// What units hand to each other are structs, printed into iwarp_pkg. They are as wide in every build; these words need not be.
`ifndef RNIC_WORDS_SVH
`define RNIC_WORDS_SVH

// rdmap_pick to rdmap_core: the operation. docs/spec/commits.yaml (rdmap_op) has the same numbers
`define RNIC_RDMAP_OP_E enum logic [2:0] {OpCtl, OpQpFault, OpTxFault, OpRespFail, OpSeg, OpHead, OpFree, OpWqe}

// llp_if_ctl to llp_if_rule: whose item it is. docs/spec/commits.yaml (llp_rule) has the same numbers
`define RNIC_LLP_IF_SOURCE_E \
  enum logic [2:0] {SrcTermLeft, SrcTermLate, SrcEvent, SrcRawCheck, SrcRawAbort, SrcOrder, SrcCommand}

// tpt: place of a byte, counted from its region's first page-list entry: entries, and 21 bits of the largest page
`define RNIC_TPT_FROM_W ($clog2(rnic_pkg::NumPbl) + 21)

// tpt_update to tpt_entry and back: an entry {valid, STag, PD, rights, base TO, end, length, log page, origin, first page-list entry}: of the
// end the low half and its carry, of the length the high half, so that a look-up adds high halves alone
`define RNIC_TPT_ENTRY_W (1 + 32 + 16 + 16 + 64 + 33 + 17 + 5 + `RNIC_TPT_FROM_W + $clog2(rnic_pkg::NumPbl))

// qp_parse to qp_emit: a WQE {barrier, asks, body, more, status, QPN, head, units, tail, issued, reads, header}
`define RNIC_QP_ITEM_W \
  (4 + 8 + $clog2(rnic_pkg::NumQps) + 16 + 3 + $clog2(rnic_pkg::SqWindow) + 1 + 5 + 7 + iwarp_pkg::SqWqeWidth)

// ddp_tx_segment to ddp_tx_header: a segment {QPN, source, kind, tagged, length, header, done, slot, offset, waits, watermark}
`define RNIC_DDP_ORDER_W (16 + 2 + 2 + 1 + 16 + 144 + 1 + 8 + 32 + 1 + 32)

`endif

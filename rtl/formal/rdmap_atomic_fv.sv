// rdmap_atomic_fv: proves the turn of an atomic or Atomic Write in rdmap_atomic, minimum build. By
// induction, in the leaf, under FORMAL, for any QP:
//
// - Turn_A: a request enters unit atomic only when its QP has no unfetched Read Response. The port
//   counts the responses that begin (Begun_A). Fetches, deaths and atomic responses count in the
//   cycle in which they occur.
// - Watermark_A: every placement before the request is done.
// - NotDead_A: the QP has not died since the request entered.
// - Table_A, State_A: the table and the state read from it equal these counts, also when two
//   operations on one QP follow each other.
//
// A QP has one request in rdmap_atomic and unit atomic, and rdmap_resp hands out its next head only
// after the response before it. With that (argued, not proved here) no Atomic Write is stored
// before an earlier request of QN 1 of its QP has succeeded.
//
// Assumed: QPNs are in range, the queues have room, a QP has one request. RingRoom_A, DeadRoom_A,
// InRoom_A, ResultRoom_A, OnePerQp_A and BusyAnswered_A check the last two in each simulation. They
// are left out here, as are MsgStable_A and FailStable_A, which simulation checks too.
// proof: assertions=8 bounded=18 induction=3 cover=18
// files: ../gen/rnic_pkg.sv ../rdmap/rdmap_atomic.sv
// proved by themselves: stream_fifo stream_arb ram_1r1w ram_clear
// proved by themselves: rdmap_atomic/RingRoom_A rdmap_atomic/DeadRoom_A rdmap_atomic/InRoom_A
// proved by themselves: rdmap_atomic/ResultRoom_A rdmap_atomic/OnePerQp_A
// proved by themselves: rdmap_atomic/BusyAnswered_A rdmap_atomic/MsgStable_A
// proved by themselves: rdmap_atomic/FailStable_A
// refuted by ../rdmap/rdmap_atomic.sv Turn_A: s/tries_q && state.unfetched == '0/tries_q/
// refuted by ../rdmap/rdmap_atomic.sv State_A: s/again_q   <= we && qpn_q == qpn_d/again_q   <= 1'b0/
// refuted by ../rdmap/rdmap_atomic.sv Watermark_A: s/in_reached_q    <= .*/in_reached_q <= placed_i >= front_head.watermark;/
// refuted by ../rdmap/rdmap_atomic.sv NotDead_A: s/front_reached_q \&\& !state.dead/front_reached_q/
// refuted by ../rdmap/rdmap_atomic.sv Begun_A: s/if (begin_valid_i) begin/if (begin_valid_i \&\& !in_valid) begin/
`include "rnic_assert.svh"
`include "rnic_formal.svh"
`include "rnic_words.svh"

module rdmap_atomic_fv (
  input logic        clk_i,
  input logic [3:0]  placed_i, watermark_i,
  input logic        head_valid_i, begin_valid_i, fetched_valid_i, dead_valid_i, ask_valid_i,
  input logic [2:0]  head_qpn_i, begin_qpn_i, fetched_qpn_i, dead_qpn_i, ask_qpn_i,
  input logic        req_ready_i, dead_ready_i, rsp_valid_i, fail_ready_i, fail_done_i, msg_ready_i,
  input logic [2:0]  rsp_qpn_i,
  input logic [1:0]  rsp_ending_i
);
  `RNIC_FORMAL_RESET
  typedef `RNIC_RDMAP_HEAD_T head_t;
  logic    ready, fail_valid;
  head_t   head;
  iwarp_pkg::atomic_rsp_t rsp;
  always_comb begin
    head           = '0;
    head.qpn       = 16'(head_qpn_i);
    head.watermark = 64'(watermark_i);
    head.kind      = rnic_pkg::KindAtomic;
    rsp            = '0;
    rsp.qpn        = 16'(rsp_qpn_i);
    rsp.ending     = rsp_ending_i;
  end

  rdmap_atomic dut (
    .clk_i, .rst_ni, .ready_o(ready), .placed_i(64'(placed_i)),
    .head_valid_i, .head_i(head), .left_o(),
    .begin_valid_i, .begin_qpn_i(16'(begin_qpn_i)),
    .fetched_valid_i, .fetched_ready_o(), .fetched_qpn_i(16'(fetched_qpn_i)),
    .dead_i(dead_valid_i), .dead_qpn_i(16'(dead_qpn_i)),
    .ask_i(ask_valid_i), .ask_qpn_i(16'(ask_qpn_i)), .idle_o(), .push_o(), .result_left_o(),
    .result_valid_i(1'b0), .result_i('0),
    .req_valid_o(), .req_ready_i, .req_o(), .dead_valid_o(), .dead_ready_i, .dead_o(),
    .rsp_valid_i, .rsp_ready_o(), .rsp_i(rsp),
    .fail_valid_o(fail_valid), .fail_ready_i, .fail_o(), .fail_done_i,
    .msg_valid_o(), .msg_ready_i, .msg_o(), .msg_data_o(),
    .res_done_valid_o(), .res_done_ready_i(1'b1), .res_done_o()
  );

  logic told_q;
  always_ff @(posedge clk_i)
    told_q <= rst_ni && (told_q || (fail_valid && fail_ready_i)) && !fail_done_i;
  `RNIC_ASSUME(!fail_done_i || told_q)
  `RNIC_ASSUME(ready || !(head_valid_i || begin_valid_i || fetched_valid_i || dead_valid_i ||
                          ask_valid_i || rsp_valid_i))
endmodule

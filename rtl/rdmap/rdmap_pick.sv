// rdmap_pick: chooses the next operation of rdmap_core. Priority, highest first:
//
//   1  start, stop, half_close; each waits for response slot releases that are already queued: they
//      are of responses before the order
//   2  a fault: of qp, of ddp's transmit, of rdmap_resp or rdmap_local (resp_fail)
//   3  a released response slot: the peer may already use it, so its next request must find it
//      free. One comes per request, so it starves no other operation
//   4  a received segment, alternating with 5
//   5  a WQE and a responder's head, alternating
//
// An operation is picked only when everything it may emit has room. So no operation stops half way,
// and none blocks another.
// Combinational from the requests to their ready, op_o and qpn_o; the room inputs come from
// flip-flops.
// Sibling: rdmap_core (holds the request and executes it).
// Bench: tb/rdmap/rdmap_test.cpp
`include "rnic_words.svh"

module rdmap_pick (
  input  logic clk_i,
  input  logic rst_ni,
  // from and to rdmap_core
  // free_i: an operation may be picked: the tables are cleared, and no Terminate is compared
  input  logic free_i,
  output logic pick_o,
  output logic [2:0] op_o,
  output logic [15:0] qpn_o,
  // room for what the operation may emit
  input  logic verdict_room_i,           // for a verdict and a result
  input  logic term_room_i,
  input  logic sq_room_i,
  // start, stop, half_close
  input  logic ctl_valid_i,
  output logic ctl_ready_o,
  input  iwarp_pkg::qp_op_e ctl_op_i,
  input  logic [15:0] ctl_qpn_i,
  // faults
  input  logic qp_fault_valid_i,
  output logic qp_fault_ready_o,
  input  logic [15:0] qp_fault_qpn_i,
  input  logic tx_fault_valid_i,
  output logic tx_fault_ready_o,
  input  logic [15:0] tx_fault_qpn_i,
  input  logic resp_fail_valid_i,
  output logic resp_fail_ready_o,
  input  logic [15:0] resp_fail_qpn_i,
  // receive
  input  logic seg_valid_i,
  output logic seg_ready_o,
  input  logic [15:0] seg_qpn_i,
  // responder
  input  logic head_valid_i,             // rdmap_resp has room for the head
  output logic head_ready_o,
  input  logic [15:0] head_qpn_i,
  input  logic slot_valid_i,
  output logic slot_ready_o,
  input  logic [15:0] slot_qpn_i,
  input  logic slot_waits_i,             // a release is queued, visible at the output or not
  // send queue
  input  logic wqe_valid_i,
  output logic wqe_ready_o,
  input  logic [15:0] wqe_qpn_i,
  input  logic wqe_is_request_i,         // a request on QN 1 or to our own table: it has a body
  input  logic sge_valid_i               // and its body is valid
);
  typedef `RNIC_RDMAP_OP_E op_e;
  op_e op;

  logic       pick, seg_turn_q, wqe_turn_q, can_seg, can_head, can_slot, can_wqe;

  assign can_seg  = seg_valid_i && verdict_room_i && term_room_i;
  assign can_head = head_valid_i;
  assign can_slot = slot_valid_i && term_room_i;
  assign can_wqe  = wqe_valid_i && sq_room_i && (!wqe_is_request_i || sge_valid_i);

  always_comb begin
    pick  = 1'b1;
    op    = OpSeg;
    qpn_o = seg_qpn_i;
    if (ctl_valid_i && !slot_waits_i && (term_room_i || ctl_op_i != iwarp_pkg::QpoHalfClose)) begin
      op    = OpCtl;
      qpn_o = ctl_qpn_i;
    end else if (qp_fault_valid_i && term_room_i) begin
      op    = OpQpFault;
      qpn_o = qp_fault_qpn_i;
    end else if (tx_fault_valid_i && term_room_i) begin
      op    = OpTxFault;
      qpn_o = tx_fault_qpn_i;
    end else if (resp_fail_valid_i && term_room_i) begin
      op    = OpRespFail;
      qpn_o = resp_fail_qpn_i;
    end else if (can_slot) begin
      op    = OpFree;
      qpn_o = slot_qpn_i;
    end else if (can_seg && (seg_turn_q || !(can_head || can_wqe))) begin
      op = OpSeg;
    end else if (can_wqe && (wqe_turn_q || !can_head)) begin
      op    = OpWqe;
      qpn_o = wqe_qpn_i;
    end else if (can_head) begin
      op    = OpHead;
      qpn_o = head_qpn_i;
    end else begin
      pick = 1'b0;
    end
    if (!free_i) pick = 1'b0;
  end
  assign pick_o            = pick;
  assign op_o              = op;
  assign ctl_ready_o       = pick && op == OpCtl;
  assign qp_fault_ready_o  = pick && op == OpQpFault;
  assign tx_fault_ready_o  = pick && op == OpTxFault;
  assign resp_fail_ready_o = pick && op == OpRespFail;
  assign seg_ready_o       = pick && op == OpSeg;
  assign wqe_ready_o       = pick && op == OpWqe;
  assign slot_ready_o      = pick && op == OpFree;
  assign head_ready_o      = pick && op == OpHead;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      seg_turn_q  <= 1'b0;
      wqe_turn_q  <= 1'b0;
    end else begin
      if (pick && op != OpFree) seg_turn_q <= op != OpSeg;
      if (pick && (op == OpWqe || op == OpHead)) wqe_turn_q <= op == OpHead;
    end
  end
endmodule

// rdmap_resp: the responder: which QP's request is served next, and by which service. RFC 5040
// section 5.2.
//
//   work --> [ work list ] --room?--> head asked of rdmap_core --> its opcode --> rdmap_read
//            each QPN at most once                                              (atomic, persist)
//
// Order: a QP's requests are handed out oldest first; the list is served in turn. A head is asked
// for when the service has room, so rdmap_core never waits for a head to be taken, and receive
// never for the responder. A further kind of request (atomic, persist) is a service beside
// rdmap_read with a ring of its own: rdmap_core's head names the opcode, room is reserved in each
// service, and messages merge in front of rdmap_tx; a slow request then holds its own ring alone.
// Waits for the services. Siblings: rdmap_core, rdmap_read. Bench: tb/rdmap/rdmap_test.cpp
`include "rnic_assert.svh"
`include "rnic_words.svh"

module rdmap_resp #(
  localparam int unsigned HeadW = `RNIC_RDMAP_HEAD_W
) (
  input  logic clk_i,
  input  logic rst_ni,
  // work, from rdmap_core: the list has room for every QP
  input  logic work_valid_i,
  input  logic [15:0] work_qpn_i,
  // the head of a QP's queue: asked of rdmap_core, answered later
  output logic head_req_valid_o,
  input  logic head_req_ready_i,
  output logic [15:0] head_req_qpn_o,
  input  logic head_valid_i,
  input  logic head_ok_i,                  // there is one
  input  logic [HeadW-1:0] head_i,
  // this QP has stopped or failed: no message any more
  input  logic dead_i,
  input  logic [15:0] dead_qpn_i,
  // a failed check, to rdmap_core
  output logic fail_valid_o,
  input  logic fail_ready_i,
  output iwarp_pkg::tx_fault_t fail_o,
  input  logic fail_done_i,
  // from and to tpt
  output logic check_valid_o,
  input  logic check_ready_i,
  output iwarp_pkg::resp_check_t check_o,
  input  logic check_rsp_valid_i,
  output logic check_rsp_ready_o,
  input  iwarp_pkg::resp_check_rsp_t check_rsp_i,
  // to rdmap_tx
  output logic msg_valid_o,
  input  logic msg_ready_i,
  output iwarp_pkg::tx_message_hdr_t msg_o,
  output logic [127:0] msg_data_o,
  // for the drain of a QP
  output logic in_o,                       // a request is being served
  output logic left_o,                     // one has left the service
  output logic begin_o                     // with a response
);
  localparam int unsigned Depth = rnic_pkg::FifoDepth;

  logic list_valid, list_room, room;
  stream_fifo #(.Width(16), .Depth(rnic_pkg::NumQps + 2), .Reserved(1'b1)) u_list (
    .clk_i, .rst_ni, .valid_i(work_valid_i), .ready_o(list_room), .data_i(work_qpn_i),
    .valid_o(list_valid), .ready_i(head_req_ready_i), .data_o(head_req_qpn_o), .count_o()
  );
  rdmap_room #(.Depth(Depth)) u_room (
    .clk_i, .rst_ni, .take_i(head_req_ready_i), .back_i(head_valid_i && !head_ok_i),
    .left_i(left_o), .room_o(room)
  );
  assign head_req_valid_o = list_valid && room;
  assign in_o             = head_valid_i && head_ok_i;

  logic [15:0] begin_qpn;
  rdmap_read #(.Depth(Depth)) u_read (
    .clk_i, .rst_ni, .head_valid_i(in_o), .head_i, .left_o, .dead_i, .dead_qpn_i,
    .fail_valid_o, .fail_ready_i, .fail_o, .fail_done_i,
    .check_valid_o, .check_ready_i, .check_o, .check_rsp_valid_i, .check_rsp_ready_o, .check_rsp_i,
    .msg_valid_o, .msg_ready_i, .msg_o, .msg_data_o, .begin_o, .begin_qpn_o(begin_qpn)
  );

  `RNIC_ASSERT(ListRoom_A, !work_valid_i || list_room)

  // Simulation alone: commit trace (architecture 10)
  iwarp_pkg::rdmap_response_commit_t tap_rdmap_response /*verilator public_flat_rd*/;
  assign tap_rdmap_response = {begin_o, begin_qpn};
endmodule

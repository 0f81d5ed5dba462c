// rdmap_resp: the responder: chooses which QP's request is served next, and by which service. RFC
// 5040 section 5.2.
//
//   work --> [ work list ] --room?--> request a head from rdmap_core --kind--+--> rdmap_read
//            each QPN at most once                                           |    (Read, Flush)
//                                                                            +--> rdmap_atomic
//   rdmap_read, rdmap_atomic --> messages, faults
//
// 1. A QP's requests are handed out oldest first. The work list is served in FIFO order.
// 2. A head is requested only when both services have room: its kind is not known yet. So
//    rdmap_core never waits for a head to be taken, and receive never waits for the responder.
// 3. A request that waits for its turn in rdmap_atomic occupies no room that other requests need.
// 4. At most one fault is in rdmap_core at a time.
//
// Latency: 1 cycle from work to the request of a head. Throughput: that of the services.
// Waits for the two services.
// Siblings: rdmap_core, rdmap_read, rdmap_atomic.
// Bench: tb/rdmap/rdmap_test.cpp
`include "rnic_assert.svh"
`include "rnic_words.svh"

module rdmap_resp #(
  parameter int unsigned ResultDepth = 2,  // old values that may wait for rdmap_atomic
  localparam int unsigned HeadW   = `RNIC_RDMAP_HEAD_W,
  localparam int unsigned ResultW = `RNIC_RDMAP_RESULT_W
) (
  input  logic clk_i,
  input  logic rst_ni,
  output logic ready_o,                    // rdmap_atomic has cleared its tables
  input  logic [63:0] placed_i,
  // work, from rdmap_core: the list has room for every QP
  input  logic work_valid_i,
  input  logic [15:0] work_qpn_i,
  // the head of a QP's request queue: requested (rdmap_core's ready needs valid), returned later
  output logic head_req_valid_o,
  input  logic head_req_ready_i,
  output logic [15:0] head_req_qpn_o,
  input  logic head_valid_i,
  input  logic head_ok_i,                  // the QP has a request to serve
  input  logic [HeadW-1:0] head_i,
  // this QP has stopped or failed: it gets no more messages
  input  logic dead_i,
  input  logic [15:0] dead_qpn_i,
  // a failed check, read or result, to rdmap_core
  output logic fail_valid_o,
  input  logic fail_ready_i,
  output iwarp_pkg::tx_fault_t fail_o,
  input  logic fail_done_i,                // rdmap_core has decided the fault
  // from rdmap_core: the old value that our atomic returned
  input  logic result_valid_i,
  input  logic [ResultW-1:0] result_i,
  output logic result_left_o,              // a result is finished
  // from ddp: a Read Response has been fetched
  input  logic fetched_valid_i,
  output logic fetched_ready_o,
  input  iwarp_pkg::resp_fetched_t fetched_i,
  // from and to atomic
  output logic atomic_req_valid_o,
  input  logic atomic_req_ready_i,
  output iwarp_pkg::atomic_req_t atomic_req_o,
  output logic atomic_dead_valid_o,
  input  logic atomic_dead_ready_i,
  output iwarp_pkg::atomic_dead_t atomic_dead_o,
  input  logic atomic_rsp_valid_i,
  output logic atomic_rsp_ready_o,
  input  iwarp_pkg::atomic_rsp_t atomic_rsp_i,
  // to qp
  output logic res_done_valid_o,
  input  logic res_done_ready_i,
  output iwarp_pkg::res_done_t res_done_o,
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
  output logic in_o,                       // a Read or Flush enters its service
  output logic left_o,                     // a Read or Flush leaves its service
  output logic [1:0] begin_o,   // a response begins: bit 0 of rdmap_read, bit 1 of rdmap_atomic
  output logic [1:0] passed_o,   // a response leaves its service for rdmap_tx; bits as in begin_o
  input  logic ask_i,                      // does this QP have an atomic in service?
  input  logic [15:0] ask_qpn_i,
  output logic idle_o                      // the QP has none
);
  localparam int unsigned Depth = rnic_pkg::FifoDepth;
  typedef `RNIC_RDMAP_HEAD_T head_t;

  logic list_valid, list_room, head_taken, is_atomic, atomic_left;
  logic [1:0] room;
  head_t head;
  stream_fifo #(.Width(16), .Depth(rnic_pkg::NumQps + 2), .Reserved(1'b1)) u_list (
    .clk_i, .rst_ni, .valid_i(work_valid_i), .ready_o(list_room), .data_i(work_qpn_i),
    .valid_o(list_valid), .ready_i(head_req_ready_i), .data_o(head_req_qpn_o), .count_o()
  );
  // A head's kind is unknown when it is requested: reserve room in both services, then return what
  // is not used.
  rdmap_room #(.Depth(Depth)) u_room (
    .clk_i, .rst_ni, .take_i(head_req_ready_i), .back_i(head_valid_i && !in_o),
    .left_i(left_o), .room_o(room[0])
  );
  rdmap_room #(.Depth(Depth)) u_atomic_room (
    .clk_i, .rst_ni, .take_i(head_req_ready_i), .back_i(head_valid_i && !(head_taken && is_atomic)),
    .left_i(atomic_left), .room_o(room[1])
  );
  assign head             = head_i;
  assign is_atomic        = head.kind[1];   // KindAtomic or KindAtomicWrite
  assign head_req_valid_o = list_valid && room == '1;
  assign head_taken       = head_valid_i && head_ok_i;
  assign in_o             = head_taken && !is_atomic;

  logic [15:0] begin_qpn;
  logic        begin_fetches, unused_index;
  logic [1:0]  fails, fail_readys, fail_dones, msgs, msg_readys;
  iwarp_pkg::tx_fault_t       read_fail, atomic_fail;
  iwarp_pkg::tx_message_hdr_t read_msg, atomic_msg;
  logic [127:0]               read_data, atomic_data;
  rdmap_read #(.Depth(Depth)) u_read (
    .clk_i, .rst_ni, .head_valid_i(in_o), .head_i, .left_o, .dead_i, .dead_qpn_i,
    .fail_valid_o(fails[0]), .fail_ready_i(fail_readys[0]), .fail_o(read_fail),
    .fail_done_i(fail_dones[0]),
    .check_valid_o, .check_ready_i, .check_o, .check_rsp_valid_i, .check_rsp_ready_o, .check_rsp_i,
    .msg_valid_o(msgs[0]), .msg_ready_i(msg_readys[0]), .msg_o(read_msg), .msg_data_o(read_data),
    .begin_o(begin_o[0]), .begin_qpn_o(begin_qpn), .begin_fetches_o(begin_fetches)
  );
  rdmap_atomic #(.Depth(Depth), .ResultDepth(ResultDepth)) u_atomic (
    .clk_i, .rst_ni, .ready_o, .placed_i,
    .head_valid_i(head_taken && is_atomic), .head_i, .left_o(atomic_left),
    .begin_valid_i(begin_o[0] && begin_fetches), .begin_qpn_i(begin_qpn),
    .fetched_valid_i, .fetched_ready_o, .fetched_qpn_i(fetched_i.qpn), .dead_i, .dead_qpn_i,
    .ask_i, .ask_qpn_i, .idle_o, .push_o(begin_o[1]), .result_left_o, .result_valid_i, .result_i,
    .req_valid_o(atomic_req_valid_o), .req_ready_i(atomic_req_ready_i), .req_o(atomic_req_o),
    .dead_valid_o(atomic_dead_valid_o), .dead_ready_i(atomic_dead_ready_i), .dead_o(atomic_dead_o),
    .rsp_valid_i(atomic_rsp_valid_i), .rsp_ready_o(atomic_rsp_ready_o), .rsp_i(atomic_rsp_i),
    .fail_valid_o(fails[1]), .fail_ready_i(fail_readys[1]), .fail_o(atomic_fail),
    .fail_done_i(fail_dones[1]),
    .msg_valid_o(msgs[1]), .msg_ready_i(msg_readys[1]), .msg_o(atomic_msg),
    .msg_data_o(atomic_data),
    .res_done_valid_o, .res_done_ready_i, .res_done_o
  );

  stream_arb #(.Width(iwarp_pkg::TxMessageHdrWidth + 128), .N(2)) u_msg_arb (
    .clk_i, .rst_ni,
    .valid_i(msgs), .ready_o(msg_readys),
    .data_i({atomic_msg, atomic_data, read_msg, read_data}),
    .valid_o(msg_valid_o), .ready_i(msg_ready_i), .data_o({msg_o, msg_data_o}),
    .index_o(unused_index)
  );

  assign passed_o = msgs & msg_readys;

  // One fault at a time, from offered until rdmap_core has decided it. owner_q: the service whose
  // fault it is; told_q: rdmap_core has taken it.
  logic [1:0] owner_d, owner_q;
  logic       told_q;
  assign owner_d      = owner_q != '0 ? owner_q : fails[0] ? 2'b01 : fails[1] ? 2'b10 : 2'b00;
  assign fail_valid_o = (owner_q & fails) != '0 && !told_q;
  assign fail_o       = owner_q[1] ? atomic_fail : read_fail;
  assign fail_readys  = owner_q & {2{fail_ready_i}};
  assign fail_dones   = owner_q & {2{fail_done_i}};
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      owner_q <= '0;
      told_q  <= 1'b0;
    end else begin
      // rdmap_read withdraws its fault if the QP dies before rdmap_core has taken it.
      owner_q <= fail_done_i || (!told_q && owner_q != '0 && (owner_q & fails) == '0)
               ? '0 : owner_d;
      told_q  <= (told_q || (fail_valid_o && fail_ready_i)) && !fail_done_i;
    end
  end

  logic unused_bits;
  assign unused_bits = ^{head, fetched_i, unused_index};

  `RNIC_ASSERT(ListRoom_A, !work_valid_i || list_room)

  // Simulation only: commit trace (architecture 10)
  iwarp_pkg::rdmap_response_commit_t tap_rdmap_response /*verilator public_flat_rd*/;
  assign tap_rdmap_response = {begin_o[0], begin_qpn};
endmodule

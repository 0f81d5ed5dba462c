// tpt_rsp: merges the lookups of a group into one response: the first failure, or ok.
//
//   result, last --> [ first failure kept ] --last--> [ FIFO ] --> rsp
//
// A group is the lookups of one segment, WQE or request of the peer. last_i marks its last lookup.
// Invariant: the requester may have Depth lookups and responses outstanding; room_o is low when it
// has. So a result always finds room (Room_A), and the lookup pipeline never stalls.
// flag_o: the lookup of the first failure had flag_i. For rx, flag_i marks the check of an STag to
// be invalidated. It is 0 for the other clients.
// done_o, done_result_o: the response as it enters the FIFO. The walk of rx waits for it before it
// issues the group's extents.
// Latency: 1 cycle. Throughput: one result per cycle.
// Siblings: tpt_entry, tpt_walk. Bench: tb/tpt/tpt_test.cpp
`include "rnic_assert.svh"

module tpt_rsp #(
  parameter int unsigned Depth = 8
) (
  input  logic clk_i,
  input  logic rst_ni,
  // a lookup begins: it reserves an entry
  input  logic ask_i,
  output logic room_o,
  // a lookup ends, in the order in which they began
  input  logic valid_i,
  input  logic last_i,
  input  iwarp_pkg::tpt_result_e result_i,
  input  logic flag_i,
  output logic done_o,
  output iwarp_pkg::tpt_result_e done_result_o,
  // to the requester
  output logic rsp_valid_o,
  input  logic rsp_ready_i,
  output iwarp_pkg::tpt_result_e rsp_o,
  output logic flag_o
);
  localparam int unsigned CountW = $clog2(Depth + 1);
  logic [CountW-1:0]      used_d, used_q;   // entries reserved: lookups and responses
  iwarp_pkg::tpt_result_e first_q, answer;
  logic                   push_ready, pop, flag_q, flag;
  logic [3:0]             rsp_bits;         // {result, flag}

  // first_q, flag_q: of the group's lookups so far, the first failure
  assign answer        = first_q == iwarp_pkg::TptOk ? result_i : first_q;
  assign flag          = first_q == iwarp_pkg::TptOk ? flag_i : flag_q;
  assign done_o        = valid_i && last_i;
  assign done_result_o = answer;
  assign room_o        = used_q < CountW'(Depth);
  assign pop           = rsp_valid_o && rsp_ready_i;

  stream_fifo #(.Width(iwarp_pkg::RxXlateRspWidth), .Depth(Depth), .Reserved(1'b1)) u_fifo (
    .clk_i, .rst_ni, .valid_i(done_o), .ready_o(push_ready), .data_i({answer, flag}),
    .valid_o(rsp_valid_o), .ready_i(rsp_ready_i), .data_o(rsp_bits), .count_o()
  );
  iwarp_pkg::rx_xlate_rsp_t rsp;
  assign rsp   = rsp_bits;
  assign rsp_o = rsp.result;
  assign flag_o = rsp.invalidate;

  // A lookup that does not end its group frees its entry at once; the last one when the response is
  // taken.
  assign used_d = used_q + CountW'(ask_i) - CountW'(valid_i && !last_i) - CountW'(pop);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      used_q  <= '0;
      first_q <= iwarp_pkg::TptOk;
    end else begin
      used_q <= used_d;
      if (valid_i) first_q <= last_i ? iwarp_pkg::TptOk : answer;
    end
  end
  always_ff @(posedge clk_i) begin
    if (valid_i) flag_q <= flag;
  end

  `RNIC_ASSERT(Room_A, !done_o || push_ready)
  `RNIC_ASSERT(AskedWithRoom_A, !ask_i || room_o)
endmodule

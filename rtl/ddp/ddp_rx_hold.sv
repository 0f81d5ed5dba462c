// ddp_rx_hold: holds the report of a Send with Invalidate until its STag is invalidated. Reports of
// other QPs pass.
//
//   done --+--> [ held, in order ] --> head: wait for its invalidated --+--> rx_done --> qp
//          |      +--> invalidate --> tpt                               |
//          +--> QP has nothing held ------------------------------------+
//   invalidated --> [ ripe: a counter, always takes ] --> head
//
// 1. Of one QP, reports leave in the order in which they came: a report is held while an earlier
//    one of its QP is.
// 2. tpt invalidates in order, so the head of the queue is the first to be ripe.
// 3. A full queue stalls ddp_rx_deliver, but drains without waiting for it: tpt closes the STag to
//    new segments, and segments in flight through that STag already have room in ddp_rx_deliver.
//
// Latency: 1 cycle for a report that is not held.
// Throughput: 1 report per cycle.
// Waits for tpt to invalidate, and for qp.
// Part of ddp_rx_deliver. Bench: tb/ddp/ddp_rx_test.cpp
`include "rnic_assert.svh"

module ddp_rx_hold (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  // from ddp_rx_deliver
  input  logic                     done_valid_i,
  output logic                     done_ready_o,
  input  iwarp_pkg::rx_done_t      done_i,
  // to and from tpt
  output logic                     invalidate_valid_o,
  input  logic                     invalidate_ready_i,
  output iwarp_pkg::invalidate_t   invalidate_o,
  input  logic                     invalidated_valid_i,
  output logic                     invalidated_ready_o,
  input  iwarp_pkg::invalidated_t  invalidated_i,
  // to qp
  output logic                     rx_done_valid_o,
  input  logic                     rx_done_ready_i,
  output iwarp_pkg::rx_done_t      rx_done_o,
  // to ddp_qp
  output logic                     held_in_o,   // a report enters the queue of held ones
  output logic                     held_out_o,  // it leaves for qp
  output logic                     report_o     // enqueued for qp
);
  localparam int unsigned QpW    = $clog2(rnic_pkg::NumQps);
  localparam int unsigned Depth  = 2 * rnic_pkg::FifoDepth;
  localparam int unsigned PtrW   = $clog2(Depth);
  localparam int unsigned CountW = $clog2(Depth + 1);

  // QPNs of the held reports, as a ring from out_q to in_q. mine: the new report's QP has one held.
  logic [Depth*QpW-1:0] qpns_q;
  logic [Depth-1:0]     used_q;
  logic [PtrW-1:0]      in_q, out_q;
  logic                 mine;
  always_comb begin
    mine = 1'b0;
    for (int i = 0; i < 32'(Depth); i++)
      mine = mine || (used_q[i] && qpns_q[i*QpW +: QpW] == done_i.qpn[QpW-1:0]);
  end

  // to_hold: the new report must be held. head_go: the oldest held report may leave. A new report
  // that is not held passes when head_go is low.
  logic is_inv, to_hold, room, inv_ready, head_valid, head_inv, head_go, out_ready;
  iwarp_pkg::rx_done_t head;
  logic [CountW-1:0] ripe_q, unused_count;
  assign is_inv     = done_i.kind == iwarp_pkg::DelInvalidate;
  assign to_hold    = is_inv || mine;
  assign head_inv   = head.kind == iwarp_pkg::DelInvalidate;
  assign head_go    = head_valid && (!head_inv || ripe_q != '0);
  assign held_in_o  = done_valid_i && to_hold && done_ready_o;
  assign held_out_o = head_go && out_ready;
  assign report_o   = held_out_o || (done_valid_i && !to_hold && done_ready_o);
  assign done_ready_o = to_hold ? room && (!is_inv || inv_ready) : out_ready && !head_go;

  stream_fifo #(.Width(iwarp_pkg::RxDoneWidth), .Depth(Depth)) u_held (
    .clk_i, .rst_ni, .valid_i(held_in_o), .ready_o(room), .data_i(done_i),
    .valid_o(head_valid), .ready_i(held_out_o), .data_o(head), .count_o(unused_count)
  );
  stream_reg #(.Width(iwarp_pkg::InvalidateWidth)) u_invalidate (
    .clk_i, .rst_ni,
    .valid_i(held_in_o && is_inv), .ready_o(inv_ready), .data_i(done_i.immediate[31:0]),
    .valid_o(invalidate_valid_o), .ready_i(invalidate_ready_i), .data_o(invalidate_o)
  );
  stream_reg #(.Width(iwarp_pkg::RxDoneWidth)) u_out (
    .clk_i, .rst_ni, .valid_i(report_o), .ready_o(out_ready), .data_i(head_go ? head : done_i),
    .valid_o(rx_done_valid_o), .ready_i(rx_done_ready_i), .data_o(rx_done_o)
  );

  assign invalidated_ready_o = 1'b1;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      used_q <= '0;
      in_q   <= '0;
      out_q  <= '0;
      ripe_q <= '0;
    end else begin
      if (held_in_o) begin
        used_q[in_q] <= 1'b1;
        in_q         <= in_q == PtrW'(Depth - 1) ? '0 : in_q + 1'b1;
      end
      if (held_out_o) begin
        used_q[out_q] <= 1'b0;
        out_q         <= out_q == PtrW'(Depth - 1) ? '0 : out_q + 1'b1;
      end
      ripe_q <= ripe_q + CountW'(invalidated_valid_i) - CountW'(held_out_o && head_inv);
    end
  end
  always_ff @(posedge clk_i) begin
    if (held_in_o) qpns_q[32'(in_q)*QpW +: QpW] <= done_i.qpn[QpW-1:0];
  end

  logic unused_bits;
  assign unused_bits = ^invalidated_i;

  `RNIC_COVER(OthersPass_C, report_o && !held_out_o && head_valid)
  `RNIC_COVER(HeldBehind_C, held_in_o && !is_inv)
  `RNIC_ASSERT(RipeCounts_A, !(invalidated_valid_i && 32'(ripe_q) == Depth))
  `RNIC_STREAM_STABLE(InvalidateStable_A, invalidate_valid_o, invalidate_ready_i, invalidate_o)
endmodule

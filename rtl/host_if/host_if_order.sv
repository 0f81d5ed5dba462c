// host_if_order: delays a read response until the posted writes accepted before the read are sent.
//
//   response, accepted counts now --> [ 16 responses ] --> valid when left >= noted, for each of
//                                                          TLPs, word, admin, cq and place
//
// Invariants:
//  1. `accepted` counts writes at the unit's ports; `left` counts those sent on dma_wr. A place
//     packet is accepted with its last beat, but its first TLPs may be sent before that. So TLPs
//     are counted, too: from valid, not from the handshake.
//  2. A response stays valid once it is valid (free_q).
//  3. The counts are 32 bits and compared over half their range: while a response waits for PCIe,
//     fewer than 2^31 writes are sent.
// Latency: 2 cycles (FIFO, free_q). Throughput: a response every 2 cycles.
// Back-pressure: 16 responses may wait. After that mmio_req stalls until PCIe accepts writes again.
// Bench tb/host_if/host_if_test.cpp
`include "rnic_assert.svh"

module host_if_order (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // one bit each for TLPs, word, admin, cq, place
  input  logic [4:0]             accepted_i,
  input  logic [4:0]             left_i,
  // from host_if_bar
  input  logic                   valid_i,
  output logic                   ready_o,
  input  logic [63:0]            data_i,
  // to PCIe
  output logic                   mmio_rsp_valid_o,
  input  logic                   mmio_rsp_ready_i,
  output iwarp_pkg::mmio_rsp_t   mmio_rsp_o
);
  localparam int unsigned W = 32, N = 5;
  logic [N*W-1:0] accepted_q, left_q, noted, ahead;
  // W: width of a count; N: counts. Of the oldest response: noted: writes accepted before it;
  // ahead: sent minus noted, negative while one of them is not sent. free_q: none of them is
  // missing.
  logic           waits, free_q, valid, taken, unused_ahead;
  logic [63:0]    data;
  logic [4:0]     unused_count;

  assign taken = mmio_rsp_valid_o && mmio_rsp_ready_i;
  stream_fifo #(.Width(N * W + 64), .Depth(16)) u_answers (
    .clk_i, .rst_ni, .valid_i, .ready_o, .data_i({accepted_q, data_i}),
    .valid_o(valid), .ready_i(taken), .data_o({noted, data}), .count_o(unused_count)
  );

  always_comb begin
    waits = 1'b0;
    for (int unsigned c = 0; c < N; c++) begin
      ahead[c*W +: W] = left_q[c*W +: W] - noted[c*W +: W];
      waits = waits || ahead[c*W + W - 1];
    end
  end
  assign unused_ahead = ^ahead;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      accepted_q <= '0;
      left_q     <= '0;
      free_q     <= 1'b0;
    end else begin
      for (int unsigned c = 0; c < N; c++) begin
        accepted_q[c*W +: W] <= accepted_q[c*W +: W] + W'(accepted_i[c]);
        left_q[c*W +: W]     <= left_q[c*W +: W] + W'(left_i[c]);
      end
      free_q <= valid && !taken && (free_q || !waits);
    end
  end

  assign mmio_rsp_valid_o = valid && free_q;
  assign mmio_rsp_o.data  = data;

  `RNIC_STREAM_STABLE(RspStable_A, mmio_rsp_valid_o, mmio_rsp_ready_i, mmio_rsp_o)
endmodule

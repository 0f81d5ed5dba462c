// host_if_cut: cuts an extent of bus addresses into TLP-sized chunks: at each 4 KiB border and at a
// maximum size (MRRS, MPS).
//
//   extent --> [ address, rest, side ] --> chunk = min(rest, limit, to the 4 KiB border)
//                 ^--- address + chunk, rest - chunk ---+
//
// The side word goes with each chunk of its extent.
// Invariants:
//  1. No chunk crosses a 4 KiB border (NoCross_A).
//  2. An extent of length 0 gives one chunk of length 0.
//  3. limit_i (128 << n bytes, at most 4096) is sampled with the extent.
// Latency: 1 cycle. Throughput: 1 chunk per cycle, no gap between extents.
// Back-pressure: ready_i reaches ready_o. Waits only for the consumer.
// Users: host_if_gather (reads), host_if_wr (writes). Bench tb/host_if/host_if_test.cpp
`include "rnic_assert.svh"

module host_if_cut #(
  parameter int unsigned SideW = 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [2:0]       limit_i,
  // extents
  input  logic             valid_i,
  output logic             ready_o,
  input  logic [63:0]      address_i,
  input  logic [16:0]      length_i,
  input  logic [SideW-1:0] side_i,
  // chunks
  output logic             valid_o,
  input  logic             ready_i,
  output logic [63:0]      address_o,
  output logic [12:0]      length_o,
  output logic             first_o,    // of its extent
  output logic             last_o,     // of its extent
  output logic [SideW-1:0] side_o
);
  logic             full_q, first_q, load, take;
  logic [63:0]      address_q;
  logic [16:0]      rest_q;
  logic [12:0]      limit_q, limit, border, bound, low;
  logic [51:0]      page;
  logic [17:0]      reach;
  logic [SideW-1:0] side_q;

  assign limit   = 13'd128 << (limit_i > 3'd5 ? 3'd5 : limit_i);
  assign border  = 13'd4096 - {1'b0, address_q[11:0]};
  assign bound   = border < limit_q ? border : limit_q;
  assign reach   = {1'b0, rest_q} + {6'd0, address_q[11:0]};
  // border: bytes to the next 4 KiB border. bound: length of a chunk that is not the last. reach:
  // end of the rest, counted from the page's start. low, page: the address after this chunk. last_o
  // is computed in parallel with bound, to keep the path short.
  assign last_o  = reach <= 18'd4096 && rest_q <= {4'd0, limit_q};
  assign low     = {1'b0, address_q[11:0]} + bound;
  assign page    = address_q[63:12] + 52'd1;

  assign valid_o   = full_q;
  assign address_o = address_q;
  assign length_o  = last_o ? rest_q[12:0] : bound;
  assign first_o   = first_q;
  assign side_o    = side_q;

  assign take    = full_q && ready_i;
  assign ready_o = !full_q || (ready_i && last_o);
  assign load    = valid_i && ready_o;

  always_ff @(posedge clk_i) begin
    if (!rst_ni)                full_q <= 1'b0;
    else if (load)              full_q <= 1'b1;
    else if (take && last_o)    full_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (load) begin
      address_q <= address_i;
      rest_q    <= length_i;
      limit_q   <= limit;
      side_q    <= side_i;
      first_q   <= 1'b1;
    end else if (take) begin
      address_q <= {low[12] ? page : address_q[63:12], low[11:0]};
      rest_q    <= rest_q - {4'd0, bound};
      first_q   <= 1'b0;
    end
  end

  `RNIC_ASSERT(NoCross_A, !full_q || {2'b00, address_q[11:0]} + {1'b0, length_o} <= 14'd4096)
  `RNIC_STREAM_STABLE(OutStable_A, valid_o, ready_i, {address_o, length_o, first_o, last_o, side_o})
endmodule

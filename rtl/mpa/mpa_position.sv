// mpa_position: the table of QPs of one direction: CRC used, markers used, position in the stream.
//
//   req --> [ table, read ] --> rsp --(advance)--> [ table, write ]
//   set --------------------------------------------^                   set takes precedence
//
// A lookup returns the flags and the words (4 bytes) to the next marker position. The user returns
// in the same cycle by how many words the stream advances. set starts a QP at position 0.
// Invariants:
//  1. An item takes 2 cycles (read, write), so no item reads a row that another is about to write.
//  2. Positions are kept modulo 512 bytes (128 words), the distance of markers. That is enough to
//     find the next one.
// Latency: 1 cycle from req to rsp. Throughput: an item every 2 cycles.
// Back-pressure: waits only for rsp_ready_i.
// Siblings: mpa_qp, mpa_rx_entry, mpa_tx_frame. Bench: tb/mpa/mpa_test.cpp
`include "rnic_assert.svh"

module mpa_position #(
  localparam int unsigned QpW = $clog2(rnic_pkg::NumQps)
) (
  input  logic           clk_i,
  input  logic           rst_ni,
  output logic           ready_o,        // the table is cleared
  // from mpa_qp
  input  logic           set_valid_i,
  output logic           set_ready_o,
  input  logic [QpW-1:0] set_qpn_i,
  input  logic           set_crc_i,
  input  logic           set_markers_i,
  // from the user
  input  logic           req_valid_i,    // stable until the user accepts the response
  input  logic [QpW-1:0] req_qpn_i,
  // to the user
  output logic           rsp_valid_o,
  input  logic           rsp_ready_i,
  output logic           crc_o,
  output logic           markers_o,
  output logic [6:0]     to_marker_o,    // words to the next multiple of 512 bytes, 0 to 127
  input  logic [6:0]     advance_i       // words, modulo 128
);
  logic           busy_q, clear_busy, req_ready;
  logic [QpW-1:0] clear_addr, qpn_q;
  logic [8:0]     row;                   // {crc, markers, position in words}
  logic [6:0]     moved;
  logic           set, take;

  assign ready_o     = !clear_busy;
  assign set_ready_o = !busy_q && !clear_busy;
  assign req_ready = !busy_q && !clear_busy && !set_valid_i;
  assign rsp_valid_o = busy_q;
  assign set         = set_valid_i && set_ready_o;
  assign take        = busy_q && rsp_ready_i;
  assign crc_o       = row[8];
  assign markers_o   = row[7];
  assign to_marker_o = -row[6:0];
  assign moved       = row[6:0] + advance_i;

  ram_clear #(.Depth(rnic_pkg::NumQps)) u_clear (
    .clk_i, .rst_ni, .busy_o(clear_busy), .addr_o(clear_addr)
  );

  ram_1r1w #(.Width(9), .Depth(rnic_pkg::NumQps)) u_table (
    .clk_i, .rst_ni,
    .we_i(clear_busy || set || take),
    .waddr_i(clear_busy ? clear_addr : set ? set_qpn_i : qpn_q),
    .wdata_i(clear_busy ? 9'd0 : set ? {set_crc_i, set_markers_i, 7'd0} : {row[8:7], moved}),
    .re_i(req_valid_i && req_ready), .raddr_i(req_qpn_i), .rdata_o(row)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni)                          busy_q <= 1'b0;
    else if (req_valid_i && req_ready)  busy_q <= 1'b1;
    else if (take)                        busy_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (req_valid_i && req_ready) qpn_q <= req_qpn_i;
  end

  `RNIC_STREAM_STABLE(OutStable_A, rsp_valid_o, rsp_ready_i, {crc_o, markers_o, to_marker_o})
endmodule

// crc_bench: CRC32C of n bytes in one beat from the generated matrices. mpa's leaves use the same
// matrices, but over several cycles.
//
// A CRC is linear: the state after n bytes is state_i advanced by n zero bytes, XOR the state that
// the n bytes produce from 0. Zero bytes in front of them leave the state 0, so they may fill up
// the beat.
module crc_bench (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [31:0]  state_i,
  input  logic [6:0]   bytes_i,
  input  logic [511:0] data_i,   // byte 0 in [7:0]
  output logic [31:0]  state_o,  // after bytes_i more bytes
  output logic [31:0]  whole_o   // after 64 more bytes
);
  logic [31:0]  advanced;
  logic [511:0] aligned;
  logic         unused_clock;

  assign unused_clock = clk_i ^ rst_ni;
  assign aligned      = data_i << {7'd64 - bytes_i, 3'b000};
  assign state_o      = advanced ^ (bytes_i == 7'd0 ? 32'd0 : crc32c_pkg::data64(aligned));
  crc32c_advance u_advance (.crc_i(state_i), .bytes_i, .crc_o(advanced));
  crc32c_beat u_beat (.crc_i(state_i), .data_i, .crc_o(whole_o));
endmodule

// Printed by specgen from docs/spec; do not edit.
//
// crc32c_beat: the CRC32C state after 64 more bytes. Combinational, 4 LUT6 levels;
// RFC 5044 section 4.4
//
//   crc_i = 32'hffffffff at the start of a packet; ~crc_o at its end is the CRC
//
// A partial last beat: crc32c_advance.sv for the state, data_i with its bytes at the right end, and
// crc_o of this module with crc_i = 0, XORed. Matrices: crc32c_pkg.sv
module crc32c_beat (
  input  logic [31:0]  crc_i,
  input  logic [511:0] data_i,  // byte 0 in [7:0]
  output logic [31:0]  crc_o
);
  assign crc_o = crc32c_pkg::adv64(crc_i) ^ crc32c_pkg::data64(data_i);
endmodule

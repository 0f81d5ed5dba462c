// Printed by specgen from docs/spec; do not edit.
//
// crc32c_advance: the CRC32C state after 0 to 64 zero bytes, for a partial last beat.
// Combinational: a chain of seven conditional matrices, about 3 LUT6 levels each; register it where
// that is too deep. Matrices: crc32c_pkg.sv
module crc32c_advance (
  input  logic [31:0] crc_i,
  input  logic [6:0]  bytes_i,  // 0 to 64
  output logic [31:0] crc_o
);
  logic [31:0] s1, s2, s4, s8, s16, s32;

  assign s1 = bytes_i[0] ? crc32c_pkg::adv1(crc_i) : crc_i;
  assign s2 = bytes_i[1] ? crc32c_pkg::adv2(s1) : s1;
  assign s4 = bytes_i[2] ? crc32c_pkg::adv4(s2) : s2;
  assign s8 = bytes_i[3] ? crc32c_pkg::adv8(s4) : s4;
  assign s16 = bytes_i[4] ? crc32c_pkg::adv16(s8) : s8;
  assign s32 = bytes_i[5] ? crc32c_pkg::adv32(s16) : s16;
  assign crc_o = bytes_i[6] ? crc32c_pkg::adv64(s32) : s32;
endmodule

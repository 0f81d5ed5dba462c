// Prints the XOR matrices of CRC32C (RFC 5044 section 4.4; polynomial 1EDC6F41, reflected
// 82F63B78). A loop over 64 bytes is 103 LUT levels deep; one equation per output bit is 4.
//
// The state is the reflected one: it starts as all ones, byte 0 goes in first, and its complement
// is sent, low byte first. With s the state and d the data, 64 bytes give adv64(s) ^ data64(d).
// Zero bytes fed into a zero state leave it zero, so n bytes at the last byte positions of the beat
// give adv_n(s) ^ data64(d).
#include <array>

#include "text.hpp"

namespace specgen {
namespace {

constexpr uint32_t kPolynomial = 0x82F63B78;

uint32_t advance_byte(uint32_t state) {
  for (int i = 0; i < 8; i++) state = (state & 1) != 0 ? (state >> 1) ^ kPolynomial : state >> 1;
  return state;
}

uint32_t advance(uint32_t state, unsigned bytes) {
  for (unsigned i = 0; i < bytes; i++) state = advance_byte(state);
  return state;
}

/// Prints a function that is linear over bits. column(i): the state that input bit i alone gives.
/// Output bit k is the XOR of all input bits i whose column has bit k.
template <class Column>
std::string function(const std::string& name, unsigned inputs, Column column) {
  std::string out = fmt::format("  function automatic logic [31:0] {}(input logic [{}:0] x);\n",
                                name, inputs - 1);
  for (int bit = 31; bit >= 0; bit--) {
    // The mask of inputs of this output bit, in hex digits, most significant first.
    std::string digits;
    for (unsigned nibble = inputs / 4; nibble-- > 0;) {
      unsigned v = 0;
      for (unsigned k = 0; k < 4; k++) v |= ((column(4 * nibble + k) >> bit) & 1U) << k;
      digits += fmt::format("{:x}", v);
    }
    out += fmt::format("    {}[{}] = ^(x & {}'h{});\n", name, bit, inputs, digits);
  }
  return out + "  endfunction\n\n";
}

}  // namespace

std::string print_crc32c_pkg() {
  std::string out = kFirstLine;
  out +=
      "//\n"
      "// crc32c_pkg: CRC32C over 64 bytes as XOR matrices, one equation an output bit. RFC 5044 "
      "section 4.4\n"
      "//\n"
      "//   data64(d)     what 64 data bytes add to the state; byte 0 in d[7:0]\n"
      "//   advN(s)       the state N bytes later, N = 1, 2, 4, 8, 16, 32, 64\n"
      "//   whole beat    adv64(s) ^ data64(d)\n"
      "//   n < 64 bytes  put them at the right end, d = bytes << 8*(64-n); advance s by n: "
      "crc32c_advance.sv\n"
      "//\n"
      "// The state starts as 32'hffffffff; its complement is the CRC, sent low byte first.\n"
      "package crc32c_pkg;\n\n";
  out += function("data64", 512,
                  [](unsigned i) { return advance(uint32_t{1} << (i % 8), 64 - i / 8); });
  for (unsigned n : {1U, 2U, 4U, 8U, 16U, 32U, 64U})
    out += function(fmt::format("adv{}", n), 32,
                    [n](unsigned i) { return advance(uint32_t{1} << i, n); });
  out.pop_back();
  return out + "endpackage\n";
}

std::string print_crc32c_beat() {
  return kFirstLine + std::string(R"(//
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
)");
}

std::string print_crc32c_advance() {
  std::string out = kFirstLine + std::string(R"(//
// crc32c_advance: the CRC32C state after 0 to 64 zero bytes, for a partial last beat.
// Combinational: a chain of seven conditional matrices, about 3 LUT6 levels each; register it where
// that is too deep. Matrices: crc32c_pkg.sv
module crc32c_advance (
  input  logic [31:0] crc_i,
  input  logic [6:0]  bytes_i,  // 0 to 64
  output logic [31:0] crc_o
);
)");
  const std::array<unsigned, 7> steps = {1, 2, 4, 8, 16, 32, 64};
  out += "  logic [31:0] s1, s2, s4, s8, s16, s32;\n\n";
  std::string from = "crc_i";
  for (unsigned i = 0; i < steps.size(); i++) {
    const std::string to = steps[i] == 64 ? "crc_o" : fmt::format("s{}", steps[i]);
    out += fmt::format("  assign {} = bytes_i[{}] ? crc32c_pkg::adv{}({}) : {};\n", to, i, steps[i],
                       from, from);
    from = to;
  }
  return out + "endmodule\n";
}

}  // namespace specgen

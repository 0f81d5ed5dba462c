// Bytes on the wire, hand-written from the RFC figures and not by the code under test.
//
//   Bytes f = fpdu(hex("c1 40") + be(stag, 4) + be(to, 8) + payload);      length, pad and CRC32c
//   EXPECT_EQ(sent.back(), fpdu(terminate(1, 1, 0x00, 0xc000) + ...));
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace rnic::tb {

using Bytes = std::vector<uint8_t>;

inline Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Network order.
inline Bytes be(uint64_t value, unsigned bytes) {
  Bytes b;
  while (bytes-- != 0) b.push_back(static_cast<uint8_t>(value >> (8 * bytes)));
  return b;
}

/// Hexadecimal digits; spaces between them are ignored.
inline Bytes hex(std::string_view text) {
  Bytes b;
  bool high = true;
  for (const char c : text) {
    if (c == ' ') continue;
    const auto at = std::string_view("0123456789abcdef").find(c);
    if (at == std::string_view::npos) throw std::runtime_error("not hexadecimal");
    if (high) {
      b.push_back(static_cast<uint8_t>(at << 4));
    } else {
      b.back() = static_cast<uint8_t>(b.back() | at);
    }
    high = !high;
  }
  if (!high) throw std::runtime_error("an odd number of hexadecimal digits");
  return b;
}

/// Castagnoli, bit by bit (RFC 5044 section 4.4).
inline uint32_t crc32c(const Bytes& bytes) {
  uint32_t crc = ~0u;
  for (const uint8_t b : bytes) {
    crc ^= b;
    for (int i = 0; i < 8; ++i) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82f63b78u : 0u);
  }
  return ~crc;
}

/// Appends a correct CRC to an FPDU without its CRC.
inline Bytes with_crc(Bytes f) {
  const uint32_t crc = crc32c(f);
  for (unsigned i = 0; i < 4; ++i) f.push_back(static_cast<uint8_t>(crc >> (8 * i)));
  return f;
}

/// RFC 5044 section 4: length of the ULPDU, ULPDU, pad to four bytes, CRC32c.
inline Bytes fpdu(const Bytes& ulpdu) {
  Bytes f = be(ulpdu.size(), 2) + ulpdu;
  while (f.size() % 4 != 0) f.push_back(0);
  return with_crc(std::move(f));
}

/// RFC 5041 section 4.3: Last, DDP version 1; RDMAP version 1 and opcode; QN, MSN, MO 0.
inline Bytes untagged(uint8_t opcode, uint32_t qn, uint32_t msn) {
  return Bytes{0x41, static_cast<uint8_t>(0x40 | opcode)} + be(0, 4) + be(qn, 4) + be(msn, 4) +
         be(0, 4);
}

/// RFC 5041 section 4.2: Tagged, Last, DDP version 1; RDMAP version 1 and opcode; STag, TO.
inline Bytes tagged(uint8_t opcode, uint32_t stag, uint64_t to) {
  return Bytes{0xc1, static_cast<uint8_t>(0x40 | opcode)} + be(stag, 4) + be(to, 8);
}

/// RFC 5040 section 4.4: sink, size, source.
inline Bytes read_request(uint32_t sink_stag, uint64_t sink_to, uint32_t size, uint32_t source_stag,
                          uint64_t source_to) {
  return be(sink_stag, 4) + be(sink_to, 8) + be(size, 4) + be(source_stag, 4) + be(source_to, 8);
}

/// draft-talpey-rdma-commit-01 section 3.1.1.1: STag, length, TO, flags.
inline Bytes flush_request(uint32_t stag, uint32_t length, uint64_t to, uint32_t flags) {
  return be(stag, 4) + be(length, 4) + be(to, 8) + be(flags, 4);
}

/// RFC 7306 section 5.2.1: AOpCode, Request Identifier, target, operands.
struct AtomicOperands {
  uint64_t data = 0, mask = 0, compare = 0, compare_mask = ~uint64_t{0};
};
inline Bytes atomic_request(uint32_t aopcode, uint32_t id, uint32_t stag, uint64_t to,
                            const AtomicOperands& o) {
  return be(aopcode, 4) + be(id, 4) + be(stag, 4) + be(to, 8) + be(o.data, 8) + be(o.mask, 8) +
         be(o.compare, 8) + be(o.compare_mask, 8);
}

/// RFC 7306 section 5.2.2: the request's identifier, the old value.
inline Bytes atomic_response(uint32_t id, uint64_t old) { return be(id, 4) + be(old, 8); }

/// draft-talpey-rdma-commit-01 section 3.1.3.1: STag, length, TO, value.
inline Bytes atomic_write_request(uint32_t stag, uint64_t to, uint64_t value, uint32_t length = 8) {
  return be(stag, 4) + be(length, 4) + be(to, 8) + be(value, 8);
}

/// The opcode of an FPDU without markers. Tests write it as a number (rdmap_opcode in iwarp.yaml):
/// 0x0 Write; 0x1, 0x2 Read Request and Response; 0x3 Send; 0x7 Terminate; 0x8 Immediate Data;
/// 0xa, 0xb atomic; 0xc, 0xd Flush; 0x10, 0x11 Atomic Write.
inline uint8_t opcode_of(const Bytes& f) { return f.size() > 3 ? f[3] & 0x1f : 0xff; }

}  // namespace rnic::tb

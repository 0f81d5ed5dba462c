// Bytes on the wire as tests type them: headers of segments, FPDUs, the Terminate that answers one.
//
//   b.b.inject(p.conn_b, fpdu(untagged(0x41, 0x4a, 1, 1, 0) + be(0, 4) + ...));
#pragma once

#include <cstdint>

#include "bench.hpp"
#include "mpa/crc32c.hpp"

namespace rnic::tb {

/// A ULPDU as an FPDU without markers: with length, pad and CRC.
inline Bytes fpdu(const Bytes& ulpdu) {
  Bytes f{static_cast<uint8_t>(ulpdu.size() >> 8), static_cast<uint8_t>(ulpdu.size())};
  f.insert(f.end(), ulpdu.begin(), ulpdu.end());
  while (f.size() % 4 != 0) f.push_back(0);
  const uint32_t crc = model::crc32c(f);
  for (int i = 0; i < 4; ++i) f.push_back(static_cast<uint8_t>(crc >> (8 * i)));
  return f;
}
/// Concatenates.
inline Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
/// v in n bytes, big-endian.
inline Bytes be(uint64_t v, size_t n) {
  Bytes b;
  while (n-- != 0) b.push_back(static_cast<uint8_t>(v >> (8 * n)));
  return b;
}
// DDP headers. ctrl is 0x80 tagged, 0x40 last segment, 0x01 the DDP version: 0xc1 a tagged segment,
// 0x41 an untagged one, 0x01 an untagged one that is not the last. op is 0x40, the RDMAP version,
// and the opcode: 0x40 Write, 0x41 Read Request, 0x42 Read Response, 0x43 Send, 0x44 Send with
// Invalidate, 0x47 Terminate, 0x4a Atomic Request, 0x4b Atomic Response, 0x50 Atomic Write Request,
// 0x51 Atomic Write Response.
inline Bytes tagged(uint8_t ctrl, uint8_t op, uint32_t stag, uint64_t to) {
  return Bytes{ctrl, op} + be(stag, 4) + be(to, 8);
}
inline Bytes untagged(uint8_t ctrl, uint8_t op, uint32_t qn, uint32_t msn, uint32_t mo) {
  return Bytes{ctrl, op} + be(0, 4) + be(qn, 4) + be(msn, 4) + be(mo, 4);
}
/// The expected Terminate: layer and type (0x12: layer 1, type 2), code, then the headers of the
/// segment, if any, after their header control bits M, D, R (0xe0, without the RDMAP header 0xc0).
/// The codes: docs/gen/errors.md.
inline Bytes terminate(uint8_t layer_type, uint8_t code, const Bytes& header = {}, size_t ulpdu = 0,
                       bool rdma = false) {
  Bytes t = untagged(0x41, 0x47, 2, 1, 0) + Bytes{layer_type, code,
                                                  static_cast<uint8_t>(header.empty() ? 0
                                                                       : rdma         ? 0xe0
                                                                                      : 0xc0),
                                                  0};
  if (!header.empty()) t = t + be(ulpdu, 2) + header;
  return fpdu(t);
}

}  // namespace rnic::tb

// Bytes on the wire as tests type them: headers of segments, FPDUs, the Terminate that answers one.
//
//   b.b.inject(p.conn_b, fpdu(untagged(0x41, 0x4a, 1, 1, 0) + be(0, 4) + ...));
#pragma once

#include <cstdint>

#include "bench.hpp"
#include "mpa/crc32c.hpp"

namespace rnic::tb {

/// A ULPDU as an FPDU.
inline Bytes fpdu(const Bytes& ulpdu) {
  Bytes f{static_cast<uint8_t>(ulpdu.size() >> 8), static_cast<uint8_t>(ulpdu.size())};
  f.insert(f.end(), ulpdu.begin(), ulpdu.end());
  while (f.size() % 4 != 0) f.push_back(0);
  const uint32_t crc = model::crc32c(f);
  for (int i = 0; i < 4; ++i) f.push_back(static_cast<uint8_t>(crc >> (8 * i)));
  return f;
}
inline Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
inline Bytes be(uint64_t v, size_t n) {
  Bytes b;
  while (n-- != 0) b.push_back(static_cast<uint8_t>(v >> (8 * n)));
  return b;
}
inline Bytes tagged(uint8_t ctrl, uint8_t op, uint32_t stag, uint64_t to) {
  return Bytes{ctrl, op} + be(stag, 4) + be(to, 8);
}
inline Bytes untagged(uint8_t ctrl, uint8_t op, uint32_t qn, uint32_t msn, uint32_t mo) {
  return Bytes{ctrl, op} + be(0, 4) + be(qn, 4) + be(msn, 4) + be(mo, 4);
}
/// The expected Terminate: layer and type, code, then the headers of the segment, if any, after
/// their header control bits M, D, R (0xe0, without the RDMAP header 0xc0).
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

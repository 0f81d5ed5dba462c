// FPDUs for the benches of sim/llp, built here from RFC 5044, independent of the code under test.
//
//   auto f = fpdu(20, 0x11);                            ULPDU of 20 bytes; it, pad and CRC are 0x11
//   auto m = with_markers(f, position % 512);           its bytes at that place in a stream
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.hpp"
#include "link/wire_limit.hpp"

namespace rnic::sim {

inline std::vector<uint8_t> fpdu(uint16_t ulpdu, uint8_t fill) {
  std::vector<uint8_t> f(fpdu_bytes(ulpdu), fill);
  base::store_be<uint16_t>(f.data(), ulpdu);
  return f;
}

/// Inserts a marker wherever the stream's position is a multiple of 512. A marker has 4 bytes: two
/// zeros, then in 16 bits the number of bytes of the FPDU in front of the marker, without markers.
/// `position`: of the FPDU's first byte, modulo 512.
inline std::vector<uint8_t> with_markers(const std::vector<uint8_t>& f, uint32_t position) {
  std::vector<uint8_t> out;
  for (size_t i = 0; i < f.size();) {
    if ((position + out.size()) % 512 == 0) {
      out.insert(out.end(), {0, 0, static_cast<uint8_t>(i >> 8), static_cast<uint8_t>(i)});
    } else {
      out.push_back(f[i++]);
    }
  }
  return out;
}

}  // namespace rnic::sim

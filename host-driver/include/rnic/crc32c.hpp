// CRC32C of bytes in memory: log records, image headers. The device computes the CRC of FPDUs.
//
//   base::store_le(&record[12], crc32c(data));
//   uint32_t crc = crc32c(data, crc32c(head));          // of head followed by data
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "gen/iwarp.hpp"

namespace rnic {

namespace detail {
constexpr std::array<uint32_t, 256> crc32c_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t x = i;
    for (int bit = 0; bit < 8; bit++) x = (x & 1) != 0 ? x >> 1 ^ spec::kCrc32cPolynomial : x >> 1;
    table[i] = x;
  }
  return table;
}
inline constexpr std::array<uint32_t, 256> kCrc32cTable = crc32c_table();
}  // namespace detail

/// `before`: the CRC of the preceding bytes; 0 if there are none.
inline uint32_t crc32c(std::span<const uint8_t> bytes, uint32_t before = 0) {
  uint32_t state = ~before;
  for (const uint8_t b : bytes) state = state >> 8 ^ detail::kCrc32cTable[(state ^ b) & 0xff];
  return ~state;
}

}  // namespace rnic

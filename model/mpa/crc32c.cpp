// CRC32c in two ways: by tables, 8 bytes at a time, and by SSE4.2 in three streams of kBlock bytes.
#include "mpa/crc32c.hpp"

#include <array>

#include "base/bytes.hpp"
#include "gen/iwarp.hpp"

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace rnic::model {
namespace {

/// Table s holds, for each value of a byte, the register after that byte and s zero bytes. The CRC
/// is linear, so 8 bytes are the XOR of 8 table entries.
using Table = std::array<std::array<uint32_t, 256>, 8>;

constexpr Table make_table() {
  Table t{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int k = 0; k < 8; ++k) c = (c & 1) != 0 ? (c >> 1) ^ spec::kCrc32cPolynomial : c >> 1;
    t[0][i] = c;
  }
  for (uint32_t i = 0; i < 256; ++i) {
    for (size_t s = 1; s < 8; ++s) t[s][i] = (t[s - 1][i] >> 8) ^ t[0][t[s - 1][i] & 0xff];
  }
  return t;
}
constexpr Table kTable = make_table();

#if defined(__x86_64__)
/// kBlock: bytes that each of the three streams takes before the streams are joined. To join them,
/// kBlock zero bytes are appended to the earlier stream. That is a linear function of its register:
/// one table for each byte of the register.
constexpr size_t kBlock = 256;
using Shift = std::array<std::array<uint32_t, 256>, 4>;

constexpr uint32_t zeros_after(uint32_t c) {
  for (size_t i = 0; i < kBlock; ++i) c = (c >> 8) ^ kTable[0][c & 0xff];
  return c;
}
constexpr Shift make_shift() {
  std::array<uint32_t, 32> of_bit{};
  for (uint32_t b = 0; b < 32; ++b) of_bit[b] = zeros_after(uint32_t{1} << b);
  Shift s{};
  for (size_t k = 0; k < 4; ++k) {
    for (size_t v = 0; v < 256; ++v) {
      for (size_t b = 0; b < 8; ++b) {
        if ((v >> b & 1) != 0) s[k][v] ^= of_bit[8 * k + b];
      }
    }
  }
  return s;
}
constexpr Shift kShift = make_shift();

/// The register c after kBlock zero bytes.
uint32_t shifted(uint32_t c) {
  return kShift[0][c & 0xff] ^ kShift[1][c >> 8 & 0xff] ^ kShift[2][c >> 16 & 0xff] ^
         kShift[3][c >> 24];
}

__attribute__((target("sse4.2"))) uint32_t update_sse(uint32_t state, const uint8_t* p, size_t n) {
  while (n >= 3 * kBlock) {
    uint64_t a = state, b = 0, c = 0;
    for (size_t i = 0; i < kBlock; i += 8) {
      a = _mm_crc32_u64(a, base::load_le<uint64_t>(p + i));
      b = _mm_crc32_u64(b, base::load_le<uint64_t>(p + kBlock + i));
      c = _mm_crc32_u64(c, base::load_le<uint64_t>(p + 2 * kBlock + i));
    }
    state = shifted(shifted(static_cast<uint32_t>(a)) ^ static_cast<uint32_t>(b)) ^
            static_cast<uint32_t>(c);
    p += 3 * kBlock;
    n -= 3 * kBlock;
  }
  uint64_t s = state;
  for (; n >= 8; n -= 8, p += 8) s = _mm_crc32_u64(s, base::load_le<uint64_t>(p));
  uint32_t r = static_cast<uint32_t>(s);
  for (; n > 0; --n, ++p) r = _mm_crc32_u8(r, *p);
  return r;
}
const bool kHasSse42 = __builtin_cpu_supports("sse4.2") != 0;
#endif

}  // namespace

uint32_t crc32c_update_portable(uint32_t state, std::span<const uint8_t> bytes) {
  const uint8_t* p = bytes.data();
  size_t n = bytes.size();
  for (; n >= 8; n -= 8, p += 8) {
    const uint64_t x = base::load_le<uint64_t>(p) ^ state;
    uint32_t next = 0;
    for (size_t k = 0; k < 8; ++k) next ^= kTable[7 - k][x >> (8 * k) & 0xff];
    state = next;
  }
  for (; n > 0; --n, ++p) state = (state >> 8) ^ kTable[0][(state ^ *p) & 0xff];
  return state;
}

uint32_t crc32c_update(uint32_t state, std::span<const uint8_t> bytes) {
#if defined(__x86_64__)
  if (kHasSse42) return update_sse(state, bytes.data(), bytes.size());
#endif
  return crc32c_update_portable(state, bytes);
}

}  // namespace rnic::model

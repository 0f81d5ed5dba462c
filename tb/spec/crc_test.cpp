// The generated CRC32C matrices against the bitwise definition and the published check values.
#include <gtest/gtest.h>

#include "VCrcBench.h"
#include "base/bytes.hpp"
#include "support/rtl_dut.hpp"

namespace {

using namespace rnic;  // NOLINT: a test

/// The definition, bit by bit. 0x82F63B78: the polynomial 0x1EDC6F41, reflected.
uint32_t bitwise(uint32_t state, std::span<const uint8_t> bytes) {
  for (uint8_t b : bytes) {
    state ^= b;
    for (int i = 0; i < 8; i++) state = (state & 1) != 0 ? (state >> 1) ^ 0x82F63B78 : state >> 1;
  }
  return state;
}

struct CrcDut : tb::RtlDut<VCrcBench> {
  uint32_t state(uint32_t from, std::span<const uint8_t> bytes) {
    std::array<uint8_t, 64> data{};
    std::copy(bytes.begin(), bytes.end(), data.begin());
    std::memcpy(&top().data_i, data.data(), data.size());
    top().state_i = from;
    top().bytes_i = static_cast<uint8_t>(bytes.size());
    cycle();
    return top().state_o;
  }
};

/// The check value of CRC-32C, and RFC 3720 B.4: 32 bytes of zeros, 32 of ones.
TEST(CrcTest, PublishedValues) {
  CrcDut dut;
  const auto digits = base::as_bytes("123456789");
  EXPECT_EQ(~dut.state(~0U, digits), 0xE3069283U);
  EXPECT_EQ(~dut.state(~0U, std::vector<uint8_t>(32, 0)), 0x8A9136AAU);
  EXPECT_EQ(~dut.state(~0U, std::vector<uint8_t>(32, 0xff)), 0x62A8AB43U);
}

TEST(CrcTest, EveryLengthFromAnyState) {
  CrcDut dut;
  auto rng = tb::test_rng();
  for (size_t n = 0; n <= 64; n++) {
    for (int i = 0; i < 8; i++) {
      const auto from = static_cast<uint32_t>(rng.next());
      const auto bytes = rng.bytes(n);
      EXPECT_EQ(dut.state(from, bytes), bitwise(from, bytes)) << n;
      if (n < 64) continue;
      EXPECT_EQ(dut.top().whole_o, bitwise(from, bytes));
    }
  }
}

}  // namespace

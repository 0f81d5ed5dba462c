// ram_clear of 10: each address once, in order, then never again until reset.
#include "stream_dut.hpp"

namespace {

using namespace rnic;  // NOLINT: a test

TEST(RamClearTest, WalksOnceAfterEachReset) {
  tb::StreamDut dut;
  for (int round = 0; round < 2; round++) {
    dut.restart({});
    for (unsigned i = 0; i < 10; i++) {
      dut.top().eval();
      ASSERT_TRUE(dut.top().clear_busy_o) << i;
      EXPECT_EQ(dut.top().clear_addr_o, i);
      dut.cycle();
    }
    for (int i = 0; i < 40; i++) {
      ASSERT_FALSE(dut.top().clear_busy_o) << i;
      dut.cycle();
    }
  }
}

}  // namespace

// ram_1r1w of 10 words: read data one cycle later, the old word on a collision, the output kept
// between reads.
#include "stream_dut.hpp"

namespace {

using namespace rnic;  // NOLINT: a test

TEST(Ram1r1wTest, ReadsWhatWasWrittenBefore) {
  tb::StreamDut dut;
  auto rng = tb::test_rng("accesses");
  dut.restart({});
  std::array<int, 10> mem;
  mem.fill(-1);  // not written yet
  int expect = -1;
  unsigned collisions = 0;
  for (int i = 0; i < 3000; i++) {
    auto& top = dut.top();
    top.ram_we_i = rng.percent(50);
    top.ram_re_i = rng.percent(50);
    top.ram_waddr_i = static_cast<uint8_t>(rng.below(10));
    top.ram_raddr_i = static_cast<uint8_t>(rng.below(10));
    top.ram_wdata_i = static_cast<uint16_t>(rng.next());
    if (top.ram_re_i) expect = mem[top.ram_raddr_i];
    collisions += top.ram_we_i && top.ram_re_i && top.ram_waddr_i == top.ram_raddr_i;
    if (top.ram_we_i) mem[top.ram_waddr_i] = top.ram_wdata_i;
    dut.cycle();
    if (expect >= 0) {
      ASSERT_EQ(top.ram_rdata_o, expect) << i;
    }
  }
  EXPECT_GT(collisions, 20U);
}

TEST(Ram1r1wTest, AnAssertionCatchesAnAddressOutside) {
  tb::StreamDut dut;
  dut.restart({});
  dut.top().ram_we_i = 1;
  dut.top().ram_waddr_i = 10;
  dut.cycle();
  dut.top().ram_we_i = 0;
  EXPECT_TRUE(dut.take_error());
}

}  // namespace

// stream_fork: each of three consumers gets every word once, at its own pace.
#include "stream_dut.hpp"

namespace {

using namespace rnic;  // NOLINT: a test

TEST(StreamForkTest, EveryConsumerGetsEveryWordOnce) {
  tb::StreamDut dut;
  auto rng = tb::test_rng("data");
  tb::each_pace([&](tb::Pace pace) {
    dut.restart(pace);
    const auto words = tb::random_words(rng, 300);
    tb::put_all(dut.fork_in, words);
    EXPECT_EQ(dut.fork_a.take_all(), words);
    EXPECT_EQ(dut.fork_b.take_all(), words);
    EXPECT_EQ(dut.fork_c.take_all(), words);
  });
}

TEST(StreamForkTest, ASlowConsumerHoldsTheOthersByOneWord) {
  tb::StreamDut dut;
  auto rng = tb::test_rng("data");
  dut.restart({});
  const auto words = tb::random_words(rng, 20);
  tb::put_all(dut.fork_in, words);
  dut.fork_b.stall(100);
  dut.cycles(30);
  EXPECT_EQ(dut.fork_a.size(), 1U);
  EXPECT_EQ(dut.fork_b.size(), 0U);
  dut.fork_b.stall(0);
  dut.cycles(20);  // one word per cycle
  EXPECT_EQ(dut.fork_b.size(), 20U);
  EXPECT_EQ(dut.fork_a.size(), 20U);
}

}  // namespace

// stream_reg: every word once, in order, one per cycle.
#include "stream_dut.hpp"

namespace {

using namespace rnic;  // NOLINT: a test

TEST(StreamRegTest, PassesEveryWordInOrder) {
  tb::StreamDut dut;
  auto rng = tb::test_rng("data");
  tb::each_pace([&](tb::Pace pace) {
    dut.restart(pace);
    const auto words = tb::random_words(rng, 500);
    tb::put_all(dut.reg_in, words);
    EXPECT_EQ(dut.reg_out.take_all(), words);
  });
}

TEST(StreamRegTest, OneWordACycle) {
  tb::StreamDut dut;
  auto rng = tb::test_rng("data");
  dut.restart({});
  tb::put_all(dut.reg_in, tb::random_words(rng, 100));
  dut.cycles(101);  // latency 1
  EXPECT_EQ(dut.reg_out.size(), 100U);
}

}  // namespace

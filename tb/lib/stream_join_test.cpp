// stream_join: the k-th words of both producers leave together.
#include "stream_dut.hpp"

namespace {

using namespace rnic;  // NOLINT: a test

TEST(StreamJoinTest, PairsWords) {
  tb::StreamDut dut;
  auto rng = tb::test_rng("data");
  tb::each_pace([&](tb::Pace pace) {
    dut.restart(pace);
    const auto a = tb::random_words(rng, 300), b = tb::random_words(rng, 300);
    tb::put_all(dut.join_a, a);
    tb::put_all(dut.join_b, b);
    const auto out = dut.join_out.take_all();
    ASSERT_EQ(out.size(), 300U);
    for (size_t i = 0; i < out.size(); i++) EXPECT_EQ(out[i].value, b[i].value << 16 | a[i].value);
  });
}

TEST(StreamJoinTest, WaitsForBoth) {
  tb::StreamDut dut;
  dut.restart({});
  dut.join_a.put({1});
  dut.cycles(20);
  EXPECT_TRUE(dut.join_out.empty());
  EXPECT_EQ(dut.join_a.size(), 1U);
  dut.join_b.put({2});
  EXPECT_EQ(dut.join_out.take().value, 0x20001U);
}

}  // namespace

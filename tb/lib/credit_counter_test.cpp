// credit_counter of 20: takes are covered, credit is conserved.
#include "stream_dut.hpp"

namespace {

using namespace rnic;  // NOLINT: a test

TEST(CreditCounterTest, NeverGoesBelowZero) {
  tb::StreamDut dut;
  auto rng = tb::test_rng("amounts");
  tb::each_pace([&](tb::Pace pace) {
    dut.restart(pace);
    uint64_t count = 20, taken = 0;
    std::deque<uint64_t> takes, gives;
    for (int i = 0; i < 3000; i++) {
      if (dut.take.empty()) takes.push_back(rng.below(8)), dut.take.put({takes.back()});
      if (taken > 0 && dut.give.empty()) {
        gives.push_back(rng.between(1, taken));
        taken -= gives.back();
        dut.give.put({gives.back()});
      }
      dut.cycle();
      if (dut.take.taken()) {
        ASSERT_LE(takes.front(), count);
        count -= takes.front(), taken += takes.front();
        takes.pop_front();
      }
      if (dut.give.taken()) count += gives.front(), gives.pop_front();
      ASSERT_EQ(dut.top().credit_o, count);
    }
  });
}

TEST(CreditCounterTest, WaitsUntilCovered) {
  tb::StreamDut dut;
  dut.restart({});
  dut.take.put({18});
  dut.take.put({3});
  dut.cycles(10);
  EXPECT_EQ(dut.take.size(), 1U);
  EXPECT_EQ(dut.top().credit_o, 2U);
  dut.give.put({1});
  dut.cycles(3);
  EXPECT_TRUE(dut.take.empty());
  EXPECT_EQ(dut.top().credit_o, 0U);
}

TEST(CreditCounterTest, AnAssertionCatchesTooMuchCredit) {
  tb::StreamDut dut;
  dut.restart({});
  dut.give.put({1});
  dut.cycles(3);
  EXPECT_TRUE(dut.take_error());
}

}  // namespace

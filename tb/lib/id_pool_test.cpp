// id_pool of 37 ids: all free after reset, never one twice, none lost.
#include <set>

#include "stream_dut.hpp"

namespace {

using namespace rnic;  // NOLINT: a test

TEST(IdPoolTest, GivesAllIdsOnceAfterReset) {
  tb::StreamDut dut;
  tb::each_pace([&](tb::Pace pace) {
    dut.restart(pace);
    std::set<uint64_t> seen;
    for (const auto& id : dut.alloc.take_all())
      EXPECT_TRUE(seen.insert(id.value).second) << id.value;
    EXPECT_EQ(seen.size(), 37U);
    EXPECT_EQ(*seen.rbegin(), 36U);
    EXPECT_EQ(dut.top().pool_used_o, 37U);
  });
}

TEST(IdPoolTest, OneACycle) {
  tb::StreamDut dut;
  dut.restart({});
  dut.cycles(38);  // latency 1 out of reset
  EXPECT_EQ(dut.alloc.size(), 37U);
}

TEST(IdPoolTest, AnIdIsNeverHeldTwice) {
  tb::StreamDut dut;
  auto rng = tb::test_rng("frees");
  tb::each_pace([&](tb::Pace pace) {
    dut.restart(pace);
    std::vector<uint64_t> held;
    size_t handed = 0;
    for (int i = 0; i < 5000; i++) {
      dut.cycle();
      while (!dut.alloc.empty()) {
        const uint64_t id = dut.alloc.take().value;
        ASSERT_EQ(std::count(held.begin(), held.end(), id), 0) << id;
        held.push_back(id);
        handed++;
      }
      if (!held.empty() && rng.percent(30)) {
        const size_t k = rng.below(held.size());
        dut.free.put({held[k]});
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(k));
      }
    }
    EXPECT_GT(handed, 1000U);
  });
}

TEST(IdPoolTest, AnAssertionCatchesADoubleFree) {
  tb::StreamDut dut;
  dut.restart({});
  const auto ids = dut.alloc.take_all();
  dut.free.put(ids[5]);
  dut.alloc.stall(100);
  dut.cycles(5);
  EXPECT_FALSE(dut.take_error());
  dut.free.put(ids[5]);
  dut.cycles(5);
  EXPECT_TRUE(dut.take_error());
}

}  // namespace

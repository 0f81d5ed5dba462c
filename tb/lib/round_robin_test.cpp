// round_robin of 13 requests against a loop that starts at start_i and wraps.
#include "stream_dut.hpp"

namespace {

using namespace rnic;  // NOLINT: a test

constexpr unsigned kN = 13;

TEST(RoundRobinTest, PicksTheNextFromTheStart) {
  tb::StreamDut dut;
  auto rng = tb::test_rng("requests");
  dut.restart({});
  for (unsigned i = 0; i < 3000; i++) {
    uint64_t request = rng.below(1u << kN);
    // fewer bits, at random
    for (uint64_t thin = rng.below(4); thin > 0; thin--) request &= rng.next();
    if (i < kN) request = 1u << i;
    const auto start = static_cast<unsigned>(rng.below(kN));
    unsigned want = start;
    while (request != 0 && (request >> want & 1) == 0) want = (want + 1) % kN;
    dut.top().turn_i = static_cast<uint16_t>(request);
    dut.top().turn_start_i = static_cast<uint8_t>(start);
    dut.top().eval();
    EXPECT_EQ(dut.top().turn_any_o, request != 0);
    EXPECT_EQ(dut.top().turn_onehot_o, request == 0 ? 0 : 1u << want);
    if (request != 0) {
      EXPECT_EQ(dut.top().turn_index_o, want) << request << " from " << start;
    }
  }
}

}  // namespace

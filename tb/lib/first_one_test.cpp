// first_one of 37 bits against a loop.
#include <bit>

#include "stream_dut.hpp"

namespace {

using namespace rnic;  // NOLINT: a test

TEST(FirstOneTest, FindsTheLowestBit) {
  tb::StreamDut dut;
  auto rng = tb::test_rng("requests");
  dut.restart({});
  for (int i = 0; i < 2000; i++) {
    uint64_t request = rng.next() & ((uint64_t{1} << 37) - 1);
    // fewer bits, at random
    for (uint64_t thin = rng.below(6); thin > 0; thin--) request &= rng.next();
    if (i < 37) request = uint64_t{1} << i;
    dut.top().first_i = request;
    dut.top().eval();
    EXPECT_EQ(dut.top().first_any_o, request != 0);
    EXPECT_EQ(dut.top().first_onehot_o, request & (0 - request));
    EXPECT_EQ(dut.top().first_index_o, request == 0 ? 0 : std::countr_zero(request));
  }
}

}  // namespace

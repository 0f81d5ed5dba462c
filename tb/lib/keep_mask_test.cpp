// keep_mask of 64 lanes: every count.
#include "stream_dut.hpp"

namespace {

using namespace rnic;  // NOLINT: a test

TEST(KeepMaskTest, EveryCount) {
  tb::StreamDut dut;
  for (unsigned keep = 0; keep <= 64; keep++) {
    dut.top().keep_i = static_cast<uint8_t>(keep);
    dut.top().eval();
    EXPECT_EQ(dut.top().keep_mask_o, keep == 64 ? ~uint64_t{0} : (uint64_t{1} << keep) - 1);
  }
}

}  // namespace

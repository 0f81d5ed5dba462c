// stream_demux: each word to the consumer that its select names, and to no other.
#include "stream_dut.hpp"

namespace {

using namespace rnic;  // NOLINT: a test

TEST(StreamDemuxTest, GivesToTheChosenConsumer) {
  tb::StreamDut dut;
  auto rng = tb::test_rng("data");
  tb::each_pace([&](tb::Pace pace) {
    dut.restart(pace);
    std::array<std::vector<tb::Word16>, 3> want;
    for (int i = 0; i < 300; i++) {
      const uint64_t select = rng.below(3), word = rng.next() & 0xffff;
      dut.demux_in.put({select << 16 | word});
      want[select].push_back({word});
    }
    EXPECT_EQ(dut.demux_a.take_all(), want[0]);
    EXPECT_EQ(dut.demux_b.take_all(), want[1]);
    EXPECT_EQ(dut.demux_c.take_all(), want[2]);
  });
}

}  // namespace

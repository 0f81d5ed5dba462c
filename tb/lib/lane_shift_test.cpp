// lane_shift: every rotation; the side word stays with its data; one word per cycle.
#include "packet_dut.hpp"

namespace {

using namespace rnic;  // NOLINT: a test

TEST(LaneShiftTest, RotatesByEveryAmount) {
  tb::PacketDut dut;
  auto rng = tb::test_rng("words");
  tb::each_pace([&](tb::Pace pace) {
    dut.restart(pace);
    std::vector<spec::Beat> want;
    for (unsigned i = 0; i < 256; i++) {
      spec::Beat in;
      in.keep = static_cast<uint8_t>(i % 64);
      in.last = rng.percent(50);
      in.error = rng.percent(50);
      rng.fill(in.data);
      dut.shift_in.put(in);
      spec::Beat out = in;
      std::rotate_copy(in.data.begin(), in.data.end() - in.keep, in.data.end(), out.data.begin());
      want.push_back(out);
    }
    EXPECT_EQ(dut.shift_out.take_all(), want);
  });
}

TEST(LaneShiftTest, TwoCyclesThenOneACycle) {
  tb::PacketDut dut;
  dut.restart({});
  for (int i = 0; i < 50; i++) dut.shift_in.put({});
  dut.cycles(52);
  EXPECT_EQ(dut.shift_out.size(), 50U);
}

}  // namespace

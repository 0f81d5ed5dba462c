// stream_mux: the chosen source's next word, the others wait.
#include "stream_dut.hpp"

namespace {

using namespace rnic;  // NOLINT: a test

TEST(StreamMuxTest, TakesFromTheChosenSource) {
  tb::StreamDut dut;
  auto rng = tb::test_rng("data");
  tb::each_pace([&](tb::Pace pace) {
    dut.restart(pace);
    tb::StreamIn<tb::Word16>* in[] = {&dut.mux_a, &dut.mux_b, &dut.mux_c};
    std::vector<tb::Word16> want;
    for (int i = 0; i < 300; i++) {
      const uint64_t select = rng.below(3);
      const tb::Word16 word{rng.next() & 0xffff};
      dut.mux_s.put({select});
      in[select]->put(word);
      want.push_back(word);
    }
    EXPECT_EQ(dut.mux_out.take_all(), want);
  });
}

}  // namespace

// stream_arb: order within a source, no loss, fairness.
#include "stream_dut.hpp"

namespace {

using namespace rnic;  // NOLINT: a test

TEST(StreamArbTest, KeepsEachSourcesOrder) {
  tb::StreamDut dut;
  auto rng = tb::test_rng("data");
  tb::each_pace([&](tb::Pace pace) {
    dut.restart(pace);
    std::array<std::vector<tb::Word16>, 3> sent, got;
    tb::StreamIn<tb::Word16>* in[] = {&dut.arb_a, &dut.arb_b, &dut.arb_c};
    for (size_t s = 0; s < 3; s++) {
      sent[s] = tb::random_words(rng, 100 + 150 * s);
      tb::put_all(*in[s], sent[s]);
    }
    for (const auto& w : dut.arb_out.take_all()) {  // {index of the source, word of 16 bits}
      ASSERT_LT(w.value >> 16, 3U);
      got[w.value >> 16].push_back({w.value & 0xffff});
    }
    EXPECT_EQ(got, sent);
  });
}

TEST(StreamArbTest, ServesAllInTurn) {
  tb::StreamDut dut;
  auto rng = tb::test_rng("data");
  tb::each_pace([&](tb::Pace pace) {
    dut.restart({0, pace.stall});
    for (auto* in : {&dut.arb_a, &dut.arb_b, &dut.arb_c})
      tb::put_all(*in, tb::random_words(rng, 50));
    const auto out = dut.arb_out.take_all();
    ASSERT_EQ(out.size(), 150U);
    for (size_t i = 0; i < out.size(); i++) EXPECT_EQ(out[i].value >> 16, i % 3) << i;
  });
}

TEST(StreamArbTest, OneWordACycle) {
  tb::StreamDut dut;
  auto rng = tb::test_rng("data");
  dut.restart({});
  tb::put_all(dut.arb_b, tb::random_words(rng, 50));
  dut.cycles(50);
  EXPECT_EQ(dut.arb_out.size(), 50U);
}

}  // namespace

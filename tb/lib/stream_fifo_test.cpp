// stream_fifo at depths 1, 2, 5 (flip-flops) and 100 (block memory).
#include "stream_dut.hpp"

namespace {

using namespace rnic;  // NOLINT: a test

struct Fifo {
  size_t depth;
  tb::StreamIn<tb::Word16>& in;
  tb::StreamOut<tb::Word16>& out;
  uint64_t latency;
};

template <class F>
void each_fifo(tb::StreamDut& dut, F body) {
  for (const Fifo& fifo :
       {Fifo{1, dut.fifo1_in, dut.fifo1_out, 1}, Fifo{2, dut.fifo2_in, dut.fifo2_out, 1},
        Fifo{5, dut.fifo5_in, dut.fifo5_out, 1}, Fifo{100, dut.fifo100_in, dut.fifo100_out, 2}}) {
    SCOPED_TRACE("depth " + std::to_string(fifo.depth));
    body(fifo);
  }
}

TEST(StreamFifoTest, PassesEveryWordInOrder) {
  tb::StreamDut dut;
  auto rng = tb::test_rng("data");
  tb::each_pace([&](tb::Pace pace) {
    each_fifo(dut, [&](const Fifo& fifo) {
      dut.restart(pace);
      const auto words = tb::random_words(rng, 1000);
      tb::put_all(fifo.in, words);
      EXPECT_EQ(fifo.out.take_all(), words);
    });
  });
}

TEST(StreamFifoTest, HoldsDepthWordsAndNoMore) {
  tb::StreamDut dut;
  auto rng = tb::test_rng("data");
  each_fifo(dut, [&](const Fifo& fifo) {
    for (int round = 0; round < 3; round++) {  // drains at full rate, then twice with stalls
      dut.restart({});
      fifo.out.stall(100);
      const auto words = tb::random_words(rng, 150);
      tb::put_all(fifo.in, words);
      dut.cycles(200);
      EXPECT_EQ(fifo.in.size(), 150 - fifo.depth);
      fifo.out.stall(round == 0 ? 0 : 70);
      EXPECT_EQ(fifo.out.take_all(), words);
    }
  });
}

TEST(StreamFifoTest, CountsWhatIsInside) {
  tb::StreamDut dut;
  auto rng = tb::test_rng("data");
  dut.restart({30, 60});
  tb::put_all(dut.fifo5_in, tb::random_words(rng, 300));
  tb::put_all(dut.fifo100_in, tb::random_words(rng, 300));
  uint64_t in5 = 0, in100 = 0, out5 = 0, out100 = 0;
  const uint64_t in5_0 = dut.fifo5_in.moved(), in100_0 = dut.fifo100_in.moved();
  const uint64_t out5_0 = dut.fifo5_out.moved(), out100_0 = dut.fifo100_out.moved();
  for (int i = 0; i < 1500; i++) {
    dut.cycle();
    in5 = dut.fifo5_in.moved() - in5_0, out5 = dut.fifo5_out.moved() - out5_0;
    in100 = dut.fifo100_in.moved() - in100_0, out100 = dut.fifo100_out.moved() - out100_0;
    ASSERT_EQ(dut.top().fifo5_count_o, in5 - out5);
    ASSERT_EQ(dut.top().fifo100_count_o, in100 - out100);
  }
  EXPECT_EQ(out5, 300U);
  EXPECT_EQ(out100, 300U);
}

TEST(StreamFifoTest, OneWordACycleAfterTheLatency) {
  tb::StreamDut dut;
  auto rng = tb::test_rng("data");
  each_fifo(dut, [&](const Fifo& fifo) {
    dut.restart({});
    tb::put_all(fifo.in, tb::random_words(rng, 90));
    // A FIFO of one word takes a word every second cycle: its ready_o is registered.
    const uint64_t per_word = fifo.depth == 1 ? 2 : 1;
    dut.cycles(fifo.latency + 90 * per_word - (per_word - 1));
    EXPECT_EQ(fifo.out.size(), 90U);
  });
}

}  // namespace

// header_take at beats of 64 bytes: it removes the first bytes of each packet, and the other bytes
// come out as one dense packet, for all lengths and cuts.
//
// The device shows the first beat of each packet on take_head. The test plays the decoder: after
// `decode` cycles it returns on take_cut how many bytes to remove. The others come out on take_out.
#include "packet_dut.hpp"

namespace {

using namespace rnic;  // NOLINT: a test

struct HeaderTakeTest : testing::Test {
  tb::PacketDut dut;
  base::Rng rng = tb::test_rng("packets");
  std::deque<tb::Packet> sent;  // packets whose heads are not seen yet
  std::vector<tb::Packet> want;
  std::deque<size_t> cuts;         // bytes to remove from each packet, not returned yet
  std::deque<uint64_t> answer_at;  // cycle at which a cut is returned
  uint64_t decode = 0;             // latency of the decoder in cycles

  HeaderTakeTest() {
    dut.take_head.on_item([this](const spec::Beat& head) {
      ASSERT_FALSE(sent.empty());
      const auto& bytes = sent.front().bytes;
      const size_t n = std::min<size_t>(64, bytes.size());
      EXPECT_EQ(head.keep, n);
      EXPECT_EQ(head.last != 0, bytes.size() <= 64);
      EXPECT_TRUE(std::equal(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n),
                             head.data.begin()));
      sent.pop_front();
      answer_at.push_back(dut.now() + decode);
    });
  }
  void put(size_t length, size_t cut, bool error = false) {
    const tb::Packet p{rng.bytes(length), error};
    dut.take_in.put(p);
    sent.push_back(p);
    cuts.push_back(cut);
    const auto from = static_cast<std::ptrdiff_t>(std::min(cut, length));
    want.push_back({{p.bytes.begin() + from, p.bytes.end()}, error});
  }
  void restart(tb::Pace pace) {
    dut.restart(pace);
    sent.clear(), want.clear(), cuts.clear(), answer_at.clear();
  }
  void cycle() {
    dut.cycle();
    while (!answer_at.empty() && answer_at.front() <= dut.now()) {
      dut.take_cut.put({cuts.front()});
      cuts.pop_front(), answer_at.pop_front();
    }
  }
  void check() {
    for (uint64_t i = 0; i < 50000 && (!cuts.empty() || !dut.take_cut.empty()); i++) cycle();
    EXPECT_TRUE(cuts.empty()) << "heads are missing";
    EXPECT_EQ(dut.take_out.take_all(), want);
  }
};

TEST_F(HeaderTakeTest, EveryCutAroundEveryEdge) {
  restart({});
  for (size_t length : {0, 1, 2, 62, 63, 64, 65, 127, 128, 129, 192})
    for (size_t cut = 0; cut < 64; cut++) put(length, cut, (length + cut) % 5 == 0);
  check();
}

TEST_F(HeaderTakeTest, RandomPackets) {
  tb::each_pace([&](tb::Pace pace) {
    for (uint64_t cycles : {0, 3, 12}) {
      decode = cycles;
      restart(pace);
      for (int i = 0; i < 150; i++) put(tb::some_length(rng, 1500), rng.below(64), rng.percent(10));
      check();
    }
  });
}

TEST_F(HeaderTakeTest, OneBeatACycleAlsoOfSmallPackets) {
  decode = 4;  // below 16, the Depth of the bench: header_take stores the beats until the cut
  for (size_t length : {20, 64, 100, 128, 64 * 10}) {
    restart({});
    const size_t beats = std::max<size_t>(1, (length + 63) / 64);
    for (int i = 0; i < 60; i++) put(length, 18);
    // A beat per cycle, then the decoder's time and the latency of 5 cycles; 5 cycles of margin.
    for (size_t i = 0; i < 60 * beats + 5 + decode + 5; i++) cycle();
    EXPECT_EQ(dut.take_out.size(), 60U) << length << " bytes";
    check();
  }
}

TEST_F(HeaderTakeTest, FiveCyclesFromTheCut) {
  restart({});
  put(60, 18);
  while (dut.take_cut.empty()) cycle();
  for (int i = 0; i < 5; i++) cycle();
  EXPECT_EQ(dut.take_out.size(), 0U);
  cycle();
  EXPECT_EQ(dut.take_out.size(), 1U);
  check();
}

}  // namespace

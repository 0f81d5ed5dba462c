// packet_arb: packets of a source stay in order and are never interleaved with others.
#include "stream_dut.hpp"

namespace {

using namespace rnic;  // NOLINT: a test

// Bit 16 of a word is `last`. At the output, bits 18 to 17 are the index of the source.
constexpr uint64_t kLast = 0x10000;

/// Packets of one to six words, the last one marked.
std::vector<tb::Word<17>> packets(base::Rng& rng, size_t count) {
  std::vector<tb::Word<17>> out;
  for (size_t p = 0; p < count; p++)
    for (uint64_t left = rng.between(1, 6); left > 0; left--)
      out.push_back({(rng.next() & 0xffff) | (left == 1 ? kLast : 0)});
  return out;
}

TEST(PacketArbTest, NeverMixesPackets) {
  tb::StreamDut dut;
  auto rng = tb::test_rng("data");
  tb::each_pace([&](tb::Pace pace) {
    dut.restart(pace);
    std::array<std::vector<tb::Word<17>>, 3> sent, got;
    tb::StreamIn<tb::Word<17>>* in[] = {&dut.parb_a, &dut.parb_b, &dut.parb_c};
    for (size_t s = 0; s < 3; s++) {
      sent[s] = packets(rng, 100);
      tb::put_all(*in[s], sent[s]);
    }
    size_t open = 3;  // source of the packet in progress, 3: none
    for (const auto& w : dut.parb_out.take_all()) {
      const size_t source = w.value >> 17;
      ASSERT_LT(source, 3U);
      if (open != 3) {
        ASSERT_EQ(source, open);
      }
      open = (w.value & kLast) != 0 ? 3 : source;
      got[source].push_back({w.value & 0x1ffff});
    }
    EXPECT_EQ(open, 3U);
    EXPECT_EQ(got, sent);
  });
}

TEST(PacketArbTest, ServesAllInTurn) {
  tb::StreamDut dut;
  auto rng = tb::test_rng("data");
  dut.restart({});
  size_t words = 0;
  for (auto* in : {&dut.parb_a, &dut.parb_b, &dut.parb_c}) {
    const auto sent = packets(rng, 20);
    words += sent.size();
    tb::put_all(*in, sent);
  }
  dut.cycles(words);  // no gap between packets
  ASSERT_EQ(dut.parb_out.size(), words);
  size_t packet = 0;
  for (const auto& w : dut.parb_out.items()) {
    EXPECT_EQ(w.value >> 17, packet % 3);
    packet += (w.value & kLast) != 0;
  }
}

}  // namespace

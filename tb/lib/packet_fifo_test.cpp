// packet_fifo of 8 beats: good packets come out whole and in order, errored and oversize ones are
// dropped.
#include "packet_dut.hpp"

namespace {

using namespace rnic;  // NOLINT: a test

constexpr size_t kDepth = 8;
size_t beats_of(const tb::Packet& p) { return std::max<size_t>(1, (p.bytes.size() + 63) / 64); }

struct PacketFifoTest : testing::Test {
  tb::PacketDut dut;
  base::Rng rng = tb::test_rng("packets");
  unsigned commits = 0, drops = 0;

  tb::Packet packet(size_t bytes, bool error = false) { return {rng.bytes(bytes), error}; }
  void run(uint64_t cycles) {
    for (uint64_t i = 0; i < cycles; i++) {
      dut.cycle();
      commits += dut.top().fifo_commit_o;
      drops += dut.top().fifo_drop_o;
    }
  }
};

TEST_F(PacketFifoTest, DropsErroredAndOversize) {
  tb::each_pace([&](tb::Pace pace) {
    dut.restart(pace);
    commits = drops = 0;
    std::vector<tb::Packet> want;
    unsigned bad = 0;
    for (int i = 0; i < 300; i++) {
      const tb::Packet p = packet(tb::some_length(rng, 64 * (kDepth + 2)), rng.percent(25));
      dut.fifo_in.put(p);
      if (!p.error && beats_of(p) <= kDepth)
        want.push_back(p);
      else
        bad++;
    }
    while (!dut.fifo_in.empty()) run(1);
    run(200);
    EXPECT_EQ(dut.fifo_out.take_all(), want);
    EXPECT_EQ(commits, want.size());
    EXPECT_EQ(drops, bad);
  });
}

TEST_F(PacketFifoTest, NothingIsSeenBeforeTheLastBeat) {
  dut.restart({});
  const auto beats = tb::to_beats(rng.bytes(64 * 5));
  for (size_t i = 0; i < 4; i++) dut.fifo_in.beats().put(beats[i]);
  run(30);
  EXPECT_EQ(dut.top().fifo_valid_o, 0);
  EXPECT_EQ(dut.top().fifo_count_o, 4);
  dut.fifo_in.beats().put(beats[4]);
  EXPECT_EQ(dut.fifo_out.take_packet().bytes.size(), 64U * 5);
}

TEST_F(PacketFifoTest, HoldsDepthBeats) {
  dut.restart({});
  dut.fifo_out.stall(100);
  const auto big = packet(64 * kDepth), next = packet(1);
  dut.fifo_in.put(big);
  dut.fifo_in.put(next);
  run(40);
  EXPECT_EQ(dut.fifo_in.beats().size(), 1U);
  EXPECT_EQ(dut.top().fifo_count_o, kDepth);
  dut.fifo_out.stall(0);
  EXPECT_EQ(dut.fifo_out.take_all(), (std::vector<tb::Packet>{big, next}));
}

TEST_F(PacketFifoTest, OversizeBehindAStoredOneDoesNotStop) {
  dut.restart({});
  dut.fifo_out.stall(100);
  const auto first = packet(64 * 3), last = packet(10);
  dut.fifo_in.put(first);
  dut.fifo_in.put(packet(64 * 40));
  dut.fifo_in.put(last);
  run(60);  // the FIFO is full: the beats of the long packet wait until `first` leaves
  dut.fifo_out.stall(0);
  EXPECT_EQ(dut.fifo_out.take_all(), (std::vector<tb::Packet>{first, last}));
}

TEST_F(PacketFifoTest, OneBeatACycle) {
  dut.restart({});
  for (int i = 0; i < 50; i++) dut.fifo_in.put(packet(128));
  run(100 + 3);  // latency 2, and the first beat of the last packet waits for its second beat
  EXPECT_EQ(dut.fifo_out.size(), 50U);
}

}  // namespace

// header_put at beats of 64 bytes: header and packet come out as one dense packet, for all lengths.
// For each packet the test puts one header of 0 to 64 bytes on put_header; the header's bytes must
// precede the packet's.
#include "packet_dut.hpp"

namespace {

using namespace rnic;  // NOLINT: a test

struct HeaderPutTest : testing::Test {
  tb::PacketDut dut;
  base::Rng rng = tb::test_rng("packets");
  std::vector<tb::Packet> want;

  void put(size_t header_bytes, size_t length, bool error = false) {
    spec::Beat header;
    header.keep = static_cast<uint8_t>(header_bytes);
    rng.fill(header.data);  // header_put must ignore bytes from header_bytes on
    const auto bytes = rng.bytes(length);
    dut.put_header.put(header);
    dut.put_in.put_packet(bytes, error);
    tb::Packet p{
        {header.data.begin(), header.data.begin() + static_cast<std::ptrdiff_t>(header_bytes)},
        error};
    p.bytes.insert(p.bytes.end(), bytes.begin(), bytes.end());
    want.push_back(p);
  }
};

TEST_F(HeaderPutTest, EveryHeaderAroundEveryEdge) {
  dut.restart({});
  for (size_t length : {0, 1, 2, 62, 63, 64, 65, 127, 128, 129, 192})
    for (size_t n = 0; n <= 64; n++) put(n, length, (length + n) % 5 == 0);
  EXPECT_EQ(dut.put_out.take_all(), want);
}

TEST_F(HeaderPutTest, RandomPackets) {
  tb::each_pace([&](tb::Pace pace) {
    dut.restart(pace);
    want.clear();
    for (int i = 0; i < 300; i++) put(rng.below(65), tb::some_length(rng, 1500), rng.percent(10));
    EXPECT_EQ(dut.put_out.take_all(), want);
  });
}

TEST_F(HeaderPutTest, OneBeatACycle) {
  for (size_t length : {0, 20, 46, 64, 100, 640}) {
    dut.restart({});
    want.clear();
    size_t beats = 0;
    // 18: the bytes of an untagged DDP header. 5: the latency of 4 cycles, and a margin.
    for (int i = 0; i < 60; i++) put(18, length), beats += (18 + length + 63) / 64;
    dut.cycles(beats + 5);
    EXPECT_EQ(dut.put_out.size(), 60U) << length << " bytes";
    EXPECT_EQ(dut.put_out.take_all(), want);
  }
}

TEST_F(HeaderPutTest, FourCyclesFromTheHeader) {
  dut.restart({});
  put(18, 20);
  dut.cycles(4);
  EXPECT_EQ(dut.put_out.size(), 0U);
  dut.cycle();
  EXPECT_EQ(dut.put_out.size(), 1U);
}

}  // namespace

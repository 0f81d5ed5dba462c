// crc32c: published values, then Boost.CRC over every length around the beat.
#include <boost/crc.hpp>

#include "packet_dut.hpp"

namespace {

using namespace rnic;  // NOLINT: a test

/// CRC-32C: its polynomial, all ones at the start, reflected, inverted at the end.
uint32_t reference(std::span<const uint8_t> bytes) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return static_cast<uint32_t>(crc.checksum());
}

TEST(Crc32cTest, PublishedValues) {
  tb::PacketDut dut;
  dut.restart({});
  const std::string_view digits = "123456789";  // the usual check value of a CRC
  dut.crc_in.put_packet(std::vector<uint8_t>(digits.begin(), digits.end()));
  dut.crc_in.put_packet(std::vector<uint8_t>(32, 0x00));  // RFC 3720 B.4, as the next packet
  dut.crc_in.put_packet(std::vector<uint8_t>(32, 0xff));
  EXPECT_EQ(dut.crc_out.take().value, 0xE3069283U);
  EXPECT_EQ(dut.crc_out.take().value, 0x8A9136AAU);
  EXPECT_EQ(dut.crc_out.take().value, 0x62A8AB43U);
}

TEST(Crc32cTest, EveryLengthUpToThreeBeats) {
  tb::PacketDut dut;
  auto rng = tb::test_rng("packets");
  dut.restart({});
  std::vector<tb::Word<32>> want;
  for (size_t n = 0; n <= 192; n++) {
    const auto bytes = rng.bytes(n);
    dut.crc_in.put_packet(bytes);
    want.push_back({reference(bytes)});
  }
  EXPECT_EQ(dut.crc_out.take_all(), want);
}

TEST(Crc32cTest, RandomPackets) {
  tb::PacketDut dut;
  auto rng = tb::test_rng("packets");
  tb::each_pace([&](tb::Pace pace) {
    dut.restart(pace);
    std::vector<tb::Word<32>> want;
    for (int i = 0; i < 200; i++) {
      auto beats = tb::to_beats(rng.bytes(tb::some_length(rng, 2000)));
      std::vector<uint8_t> bytes;
      for (auto& beat : beats) {
        bytes.insert(bytes.end(), beat.data.begin(), beat.data.begin() + beat.keep);
        for (size_t k = beat.keep; k < 64; k++)
          beat.data[k] = static_cast<uint8_t>(rng.next());  // above keep: must be ignored
        dut.crc_in.beats().put(beat);
      }
      want.push_back({reference(bytes)});
    }
    EXPECT_EQ(dut.crc_out.take_all(), want);
  });
}

TEST(Crc32cTest, SevenCyclesThenOneBeatACycle) {
  tb::PacketDut dut;
  auto rng = tb::test_rng("packets");
  dut.restart({});
  for (int i = 0; i < 40; i++) dut.crc_in.put_packet(rng.bytes(128));  // two beats each
  dut.cycles(2 * 40 + 7);
  EXPECT_EQ(dut.crc_out.size(), 40U);
  dut.restart({});
  dut.crc_in.put_packet(rng.bytes(10));
  dut.cycles(7);
  EXPECT_EQ(dut.crc_out.size(), 0U);
  dut.cycle();
  EXPECT_EQ(dut.crc_out.size(), 1U);
}

}  // namespace

// sim/link/wire_limit against the figures of architecture section 16. Also the settings and presets
// of sim/platform/config.
#include "link/wire_limit.hpp"

#include <gtest/gtest.h>

#include <set>

#include "platform/config.hpp"

namespace rnic::sim {
namespace {

TEST(WireLimit, Bulk) {
  EXPECT_NEAR(wire_limit(WireOp::kWrite, 1 << 30, 1500, 100).payload_gbps, 93.6, 0.05);
  EXPECT_NEAR(wire_limit(WireOp::kWrite, 1 << 30, 9000, 100).payload_gbps, 98.9, 0.05);
}
TEST(WireLimit, Small) {
  EXPECT_NEAR(wire_limit(WireOp::kWrite, 64, 1500, 100).messages_per_s / 1e6, 77.2, 0.05);
  EXPECT_NEAR(wire_limit(WireOp::kSend, 64, 1500, 100).messages_per_s / 1e6, 75.3, 0.05);
  EXPECT_NEAR(wire_limit(WireOp::kWrite, 8, 1500, 100).messages_per_s / 1e6, 117.9, 0.05);
}
// A Write of 64 bytes takes 162 bytes of the wire. A Flush Request takes 78 (Ethernet, IP, TCP) + 2
// (length) + 38 (ULPDU) + 4 (CRC).
TEST(WireLimit, WriteAndFlush) {
  const WireLimit w = wire_limit(WireOp::kWriteFlush, 64, 1500, 100);
  EXPECT_NEAR(w.messages_per_s, 100e9 / 8 / (162 + 122), 1);
  EXPECT_NEAR(w.payload_gbps, w.messages_per_s * 64 * 8 / 1e9, 1e-9);
}
// An Atomic Request: 78 + 2 + 70 + 4.
TEST(WireLimit, Atomic) {
  const WireLimit w = wire_limit(WireOp::kAtomic, 8, 1500, 100);
  EXPECT_NEAR(w.messages_per_s, 100e9 / 8 / (78 + 76), 1);
  EXPECT_NEAR(w.payload_gbps, w.messages_per_s * 64 / 1e9, 1e-9);
}
// fpdu_bytes: length 2, ULPDU, pad to 4, CRC 4. mulpdu: 1460 - 6. frame_bytes: 78 of Ethernet, IP
// and TCP, and at least 84.
TEST(WireLimit, Pieces) {
  EXPECT_EQ(fpdu_bytes(14), 20u);
  EXPECT_EQ(fpdu_bytes(15), 24u);
  EXPECT_EQ(mulpdu(1460), 1454u);
  EXPECT_EQ(frame_bytes(0), 84u);
  EXPECT_EQ(frame_bytes(84), 162u);
  // One byte more than fits into a segment: a second frame, 78 bytes and an FPDU of 24 (length 2,
  // header 14, payload 1, pad 3, CRC 4).
  const double one = wire_limit(WireOp::kWrite, 1440, 1500, 100).messages_per_s;
  const double two = wire_limit(WireOp::kWrite, 1441, 1500, 100).messages_per_s;
  EXPECT_NEAR(1 / two - 1 / one, (78 + 24) * 8 / 100e9, 1e-14);
}

TEST(Settings, EveryRowSetsWhatItShows) {
  std::set<std::string_view> names;
  for (const auto& row : platform_settings()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.doc.empty());
    PlatformConfig c;
    EXPECT_TRUE(row.set(c, row.default_text())) << row.name << " " << row.default_text();
    EXPECT_EQ(row.text(c), row.default_text());
  }
}
TEST(Settings, BadValuesSayWhy) {
  PlatformConfig c;
  for (const auto& row : platform_settings()) {
    if (row.name == "pcie_mps") {
      EXPECT_EQ(row.set(c, "300").error().what, "pcie_mps: 300 is not a power of two");
      EXPECT_EQ(row.set(c, "8192").error().what, "pcie_mps: 8192 above 4096 bytes");
      EXPECT_EQ(row.set(c, "many").error().what, "pcie_mps: \"many\" is not a whole number");
      EXPECT_TRUE(row.set(c, "0x80"));
      EXPECT_EQ(c.pcie.pcie_mps, 128u);
    }
    if (row.name == "pcie_reorder") {
      EXPECT_TRUE(row.set(c, "0.25"));
      EXPECT_EQ(c.pcie.pcie_reorder, 0.25);
    }
  }
}
TEST(Settings, Presets) {
  EXPECT_EQ(preset("gen4x16")->pcie.pcie_latency_ns, 800u);
  EXPECT_NEAR(preset("gen4x16")->pcie.gbps(), 252.06, 0.01);
  EXPECT_NEAR(preset("gen3x16")->pcie.gbps(), 126.03, 0.01);
  EXPECT_NEAR(preset("gen5x16")->pcie.gbps(), 504.12, 0.01);
  EXPECT_FALSE(preset("gen9"));
}

}  // namespace
}  // namespace rnic::sim

// The model's host_if by itself: what the RTL's bench checks through streams is checked on the
// behaviour here.
#include <gtest/gtest.h>

#include <array>

#include "host_if/host_if.hpp"

namespace rnic::tb {
namespace {

using model::HostIf;
using model::Reader;
using model::Writer;

struct Others final : HostIf::Out {
  void qp_doorbell(const spec::QpDoorbell&) override {}
  void cq_doorbell(const spec::CqDoorbell&) override {}
  void eq_doorbell(const spec::EqDoorbell&) override {}
  void admin_doorbell(const spec::AdminDoorbell&) override {}
  void dev_cfg(const spec::DevCfg&) override {}
  void place_done(const spec::PlaceDone& done) override { placed = done.count; }
  void retired(const spec::Retired&) override {}
  void msix_unmasked() override {}
  uint64_t device_time() const override { return 0; }
  bool ready() const override { return true; }
  bool fatal() const override { return false; }
  spec::UnitCount unit_count(uint32_t) const override { return {}; }
  uint16_t placed = 0;
};

class HostIfModelTest : public testing::Test {
 protected:
  Others others;
  HostIf host{spec::Sizes{}, others};

  HostIfModelTest() {
    host.set_pcie({.bus_master = 1, .msix_enable = 1, .mps = 1, .mrrs = 2});
    host.bar.write({.is_write = true,
                    .bar = 0,
                    .bytes = 4,
                    .offset = spec::kDevCtrlOffset,
                    .value = 1,
                    .data = {}});
  }
  void place(uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
      model::Place p{.extents = {}, .data = Payload::make(64)};
      p.extents.add({.address = 0x1000, .length = 64, .last = 1});
      host.wr.put(std::move(p));
      ASSERT_TRUE(host.wr.next(Writer::kPlace));
      host.wr.accepted(Writer::kPlace);
    }
  }
  void ask(uint32_t watermark) {
    model::PayloadFetch f{.hdr = {.length = 64, .has_watermark = 1, .watermark = watermark},
                          .extents = {}};
    f.extents.add({.address = 0x2000, .length = 64, .last = 1});
    host.rd.ask(std::move(f));
  }
  bool leaves() {
    if (!host.rd.has_next(Reader::kPayload)) return false;
    const auto tlp = host.rd.next(Reader::kPayload);
    host.rd.piece({.tag = tlp.tag, .is_last = true, .data = Payload::make(64)});
    host.rd.take(Reader::kPayload);
    return true;
  }
};

// Watermark and placed count are compared over half of 2^32.
TEST_F(HostIfModelTest, WatermarkOfLongAgo) {
  constexpr uint32_t kMany = 40'000;  // beyond half of 2^16
  place(kMany);
  EXPECT_EQ(others.placed, kMany);
  for (const uint32_t past : {0U, 1U, kMany, 0x8000'0000U + kMany + 1}) {
    ask(past);
    EXPECT_TRUE(leaves()) << past;
  }
  ask(2 * kMany);
  place(kMany - 1);
  EXPECT_FALSE(leaves()) << "one packet is missing";
  place(1);
  EXPECT_TRUE(leaves());
  EXPECT_EQ(others.placed, static_cast<uint16_t>(2 * kMany));
}

// A message is what its row says when it leaves; a masked vector keeps its pending bit.
TEST_F(HostIfModelTest, AMessageFollowsItsRow) {
  const auto write = [&](uint32_t offset, uint64_t value, uint8_t bytes) {
    host.bar.write(
        {.is_write = true, .bar = 0, .bytes = bytes, .offset = offset, .value = value, .data = {}});
  };
  const auto pending = [&] { return host.bar.read(0, spec::kMsixPendingOffset, 8); };
  const auto leaves_for = [&](uint64_t address) {
    const auto tlp = host.wr.next(Writer::kCq);
    host.wr.accepted(Writer::kCq);
    return tlp && tlp->address == address && tlp->data.size() == 4;
  };
  const auto leaves_not = [&] {
    const bool none = !host.wr.next(Writer::kCq);
    host.wr.accepted(Writer::kCq);
    return none;
  };
  write(spec::kMsixAddressOffset, 0x1000, 8);
  write(spec::kMsixControlOffset, 0, 4);
  host.wr.put(spec::CqWr{.is_msix = 1, .data = {}});
  write(spec::kMsixAddressOffset, 0x2000, 8);
  EXPECT_TRUE(leaves_for(0x2000));
  host.wr.put(spec::CqWr{.is_msix = 1, .data = {}});
  write(spec::kMsixControlOffset, 1, 4);
  EXPECT_TRUE(leaves_not());
  EXPECT_EQ(pending(), 1U);
  write(spec::kMsixControlOffset, 0, 4);
  const auto again = host.wr.pending_interrupt();
  ASSERT_TRUE(again);
  EXPECT_EQ(pending(), 1U) << "it has not left";
  host.wr.put(*again);
  host.set_pcie({.bus_master = 1, .msix_enable = 1, .msix_mask = 1, .mps = 1, .mrrs = 2});
  EXPECT_TRUE(leaves_not());
  EXPECT_EQ(pending(), 1U);
  EXPECT_FALSE(host.wr.pending_interrupt());
  host.set_pcie({.bus_master = 1, .msix_enable = 1, .mps = 1, .mrrs = 2});
  host.wr.put(host.wr.pending_interrupt().value());
  EXPECT_TRUE(leaves_for(0x2000));
  EXPECT_EQ(pending(), 0U);
  EXPECT_FALSE(host.wr.pending_interrupt());
}

}  // namespace
}  // namespace rnic::tb

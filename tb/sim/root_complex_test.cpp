// sim/platform/root_complex with a scripted device: latency, order, cutting, reordering, errors,
// interrupts, back-pressure.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/bytes.hpp"
#include "fake_device.hpp"
#include "platform/simulation.hpp"
#include "support/seed.hpp"

namespace rnic::sim {
namespace {

class RootComplexTest : public testing::Test {
 protected:
  void build(const PcieConfig& pcie = {}) {
    SimulationConfig c;
    c.platform.pcie = pcie;
    c.platform.host.arena_mib = 16;
    c.seed = tb::test_seed();
    sim = std::make_unique<Simulation>(c);
    auto owned = std::make_unique<FakeDevice>();
    dev = owned.get();
    sim->add_host(std::move(owned));
    ConfigSpace& space = sim->root_complex(0).config_space();
    space.write(ConfigSpace::kCommand, ConfigSpace::kMemorySpace | ConfigSpace::kBusMaster);
    sim->root_complex(0).config_changed();
    buffer = sim->memory(0).alloc(16384, MemoryKind::kContiguous).value();
    for (size_t i = 0; i < buffer.size(); ++i)
      buffer.data()[i] = static_cast<uint8_t>(i * 7 + i / 256);
  }
  DmaRead read(uint8_t tag, uint64_t offset, uint32_t length) {
    return {tag, buffer.bus(offset), length, false, false, Client::kPayload};
  }
  static DmaWrite write(uint64_t bus, std::vector<uint8_t> bytes, bool relaxed = false) {
    DmaWrite w;
    w.address = bus;
    w.data = Payload::copy_of(bytes);
    w.relaxed = relaxed;
    return w;
  }
  void run_ns(uint64_t ns) { sim->settle(ns); }

  std::unique_ptr<Simulation> sim;
  FakeDevice* dev = nullptr;
  DmaBuffer buffer;
};

TEST_F(RootComplexTest, IdentityAndCapabilities) {
  build();
  const ConfigSpace& s = sim->root_complex(0).config_space();
  EXPECT_EQ(s.read(0), 0x00011d4eu);  // device 1 of vendor 0x1d4e
  EXPECT_EQ(s.read(ConfigSpace::kCapabilities), ConfigSpace::kPcieCap);
  EXPECT_EQ(s.read(ConfigSpace::kPcieCap) & 0xffff, 0x8010u);  // PCI Express; the next is at 0x80
  EXPECT_EQ(s.read(ConfigSpace::kMsixCap) & 0xff, 0x11u);      // MSI-X
  EXPECT_EQ(s.read(ConfigSpace::kMsixCap) >> 16 & 0x7ff, dev->size.num_vectors - 1);
  EXPECT_EQ(dev->pcie.mps, 1);   // 256
  EXPECT_EQ(dev->pcie.mrrs, 2);  // 512
  EXPECT_EQ(dev->pcie.rcb128, 0);
  EXPECT_EQ(dev->pcie.bus_master, 1);
}

TEST_F(RootComplexTest, BarSizesAsSoftwareProbesThem) {
  build();
  ConfigSpace& s = sim->root_complex(0).config_space();
  s.write(ConfigSpace::kBar0, ~0u);
  s.write(ConfigSpace::kBar2, ~0u);
  // Low bits 0x4: 64 bits wide; 0xc: also prefetchable. BAR 0 has 64 KiB, BAR 2 four pages.
  EXPECT_EQ(s.read(ConfigSpace::kBar0), 0xffff0004u);
  EXPECT_EQ(s.read(ConfigSpace::kBar2), ~(4 * 4096u - 1) | 0xc);
}

TEST_F(RootComplexTest, ReadRoundTrip) {
  build();
  run_ns(10);
  dev->env->dma_read(read(3, 0, 64));
  run_ns(2000);
  ASSERT_EQ(dev->pieces.size(), 1u);
  const auto& p = dev->pieces[0];
  EXPECT_EQ(p.item.tag, 3);
  EXPECT_TRUE(p.item.is_last);
  EXPECT_TRUE(std::equal(buffer.data(), buffer.data() + 64, p.item.data.bytes().begin()));
  // Sent at 10 ns; pcie_latency_ns is 800. Wire, in ps: 24 bytes of the request and 24 + 64 of the
  // completion at 252.06 Gb/s.
  const Time wire = 762 + 2793;
  EXPECT_NEAR(static_cast<double>(p.at), static_cast<double>(810'000 + wire), 5.0);
}

TEST_F(RootComplexTest, CutsAtTheCompletionBoundary) {
  build();
  dev->env->dma_read(read(0, 100, 512));
  run_ns(2000);
  ASSERT_EQ(dev->pieces.size(), 3u);
  EXPECT_EQ(dev->pieces[0].item.data.size(),
            320u - 100);  // up to the last 64-byte boundary within 256 bytes
  EXPECT_EQ(dev->pieces[1].item.data.size(), 256u);
  EXPECT_EQ(dev->pieces[2].item.data.size(), 512u - 256 - 220);
  EXPECT_TRUE(dev->pieces[2].item.is_last);
  EXPECT_LT(dev->pieces[0].at, dev->pieces[1].at);
}

TEST_F(RootComplexTest, CutsAt128IfSo) {
  PcieConfig c;
  c.pcie_rcb = 128;
  build(c);
  EXPECT_EQ(dev->pcie.rcb128, 1);
  dev->env->dma_read(read(0, 64, 512));
  run_ns(2000);
  ASSERT_EQ(dev->pieces.size(), 3u);
  EXPECT_EQ(dev->pieces[0].item.data.size(), 192u);  // 64 to 256: a boundary of 128 bytes
}

TEST_F(RootComplexTest, AReadNeverPassesAWrite) {
  build();
  dev->env->dma_write(write(buffer.bus(0), {0xaa, 0xbb}));
  dev->env->dma_read(read(0, 0, 8));
  dev->env->dma_write(write(buffer.bus(0), {0xcc, 0xdd}));
  run_ns(2000);
  ASSERT_EQ(dev->pieces.size(), 1u);
  const uint8_t first = dev->pieces[0].item.data.bytes()[0];
  EXPECT_TRUE(first == 0xaa || first == 0xcc);  // the later write may pass the read
  EXPECT_EQ(buffer.data()[0], 0xcc);
}

TEST_F(RootComplexTest, WritesTakeEffectInOrderAndTime) {
  build();
  dev->env->dma_write(write(buffer.bus(0), {1}));
  run_ns(250);
  EXPECT_EQ(buffer.data()[0], 0);  // 200 ns in flight, 100 into memory
  run_ns(55);
  EXPECT_EQ(buffer.data()[0], 1);
}

// Reads, register answers and interrupts wait for the held writes issued before them.
TEST_F(RootComplexTest, HeldWritesStayInOrderAndReadsWaitForThem) {
  constexpr uint64_t kHoldNs = 3000;
  PcieConfig c;
  c.pcie_posted_hold_ns = kHoldNs;
  build(c);
  struct Watch final : PcieObserver {
    void on_write(Time at, const DmaWrite& w, bool) override {
      at_.push_back(at);
      values_.push_back(w.data.bytes()[0]);
    }
    std::vector<Time> at_;
    std::vector<uint8_t> values_;
  } watch;
  sim->root_complex(0).observe(watch);
  constexpr uint8_t kWrites = 100;
  Time longest = 0;
  for (uint8_t i = 0; i < kWrites; i++) {
    const Time issued = sim->now();
    dev->env->dma_write(write(buffer.bus(0), {i}));
    dev->env->dma_read(read(0, 0, 8));
    run_ns(100 + kHoldNs + 1000);
    ASSERT_EQ(dev->pieces.size(), i + 1u);
    EXPECT_EQ(dev->pieces.back().item.data.bytes()[0], i);
    // 310: 200 on PCIe, 100 into memory, and room for the wire.
    EXPECT_LE(watch.at_.back(), issued + (310 + kHoldNs) * kNs);
    EXPECT_GE(dev->pieces.back().at, watch.at_.back());
    longest = std::max(longest, watch.at_.back() - issued);
  }
  EXPECT_GT(longest, kHoldNs / 2 * kNs);
  for (uint8_t i = 0; i < kWrites; i++) dev->env->dma_write(write(buffer.bus(0), {i}));
  run_ns(100 + kHoldNs + 1000);
  ASSERT_EQ(watch.values_.size(), 2u * kWrites);
  EXPECT_TRUE(std::ranges::is_sorted(watch.at_));
  EXPECT_TRUE(std::is_sorted(watch.values_.begin() + kWrites, watch.values_.end()));
}

TEST_F(RootComplexTest, WritesThatAreHeldBackAreLostWithThePower) {
  PcieConfig c;
  c.pcie_posted_hold_ns = 1'000'000;
  build(c);
  dev->env->dma_write(write(buffer.bus(0), {0xaa}));
  run_ns(310);
  sim->root_complex(0).lose_power();
  run_ns(2'000'000);
  EXPECT_EQ(buffer.data()[0], 0);
}

// Seeded reordering: tags come in another order than requested. The pieces of each tag are in
// order, with the right bytes, and cut at the boundary.
TEST_F(RootComplexTest, ReorderedCompletions) {
  PcieConfig c;
  c.pcie_reorder = 0.5;
  c.pcie_split = 0.5;
  build(c);
  base::Rng rng = tb::test_rng();
  std::map<int, DmaRead> asked;
  for (int tag = 0; tag < 64; ++tag) {
    const auto length = static_cast<uint32_t>(rng.between(1, 512));
    const uint64_t offset = rng.below(4) * 4096 + rng.below(4096 - length + 1);
    asked[tag] = read(static_cast<uint8_t>(tag), offset, length);
    dev->env->dma_read(asked[tag]);
  }
  run_ns(10'000);
  std::map<int, std::vector<uint8_t>> got;
  std::vector<int> finished;
  for (const auto& [at, p] : dev->pieces) {
    auto& bytes = got[p.tag];
    bytes.insert(bytes.end(), p.data.bytes().begin(), p.data.bytes().end());
    EXPECT_LE(p.data.size(), 256u);
    if (p.is_last) {
      finished.push_back(p.tag);
    } else {
      EXPECT_EQ((asked[p.tag].address + bytes.size()) % 64, 0u);
    }
  }
  EXPECT_EQ(finished.size(), 64u);
  EXPECT_FALSE(std::is_sorted(finished.begin(), finished.end()));
  for (auto& [tag, r] : asked) {
    const uint8_t* want = buffer.data() + (r.address - buffer.bus(0));
    ASSERT_EQ(got[tag].size(), r.length);
    EXPECT_TRUE(std::equal(got[tag].begin(), got[tag].end(), want)) << "tag " << tag;
  }
  EXPECT_EQ(sim->root_complex(0).failure(), "");
}

TEST_F(RootComplexTest, RelaxedWritesPassButAreNotPassed) {
  PcieConfig c;
  c.pcie_relaxed = 1;
  build(c);
  struct Order final : PcieObserver {
    void on_write(Time, const DmaWrite& w, bool) override { seen.push_back(w.data.bytes()[0]); }
    std::vector<int> seen;
  } order;
  sim->observe(0, order);
  dev->env->dma_write(write(buffer.bus(0), {1}));
  dev->env->dma_write(write(buffer.bus(64), {2}, true));
  dev->env->dma_write(write(buffer.bus(128), {3}));
  run_ns(1000);
  EXPECT_EQ(order.seen, (std::vector<int>{2, 1, 3}));
}

// Status 3 is poisoned; it hits the second read, of tag 1.
TEST_F(RootComplexTest, InjectedErrors) {
  PcieConfig c;
  c.pcie_error_status = 3;
  c.pcie_error_nth = 2;
  build(c);
  for (uint8_t tag = 0; tag < 3; ++tag) dev->env->dma_read(read(tag, 0, 64));
  run_ns(2000);
  ASSERT_EQ(dev->pieces.size(), 3u);
  for (const auto& [at, p] : dev->pieces) {
    EXPECT_EQ(p.status, p.tag == 1 ? spec::RdStatus::kPoisoned : spec::RdStatus::kOk);
    EXPECT_TRUE(p.is_last);
  }
}

TEST_F(RootComplexTest, ErrorsByRangeAndProbability) {
  build();
  ReadFault f;
  f.status = spec::RdStatus::kAborted;
  f.probability = 1;
  f.from = buffer.bus(4096);
  f.to = buffer.bus(8192);
  sim->root_complex(0).add_fault(f);
  dev->env->dma_read(read(0, 0, 512));
  dev->env->dma_read(read(1, 4096, 512));
  run_ns(2000);
  std::map<int, spec::RdStatus> last;
  for (const auto& [at, p] : dev->pieces) {
    if (p.is_last) last[p.tag] = p.status;
  }
  EXPECT_EQ(last[0], spec::RdStatus::kOk);
  EXPECT_EQ(last[1], spec::RdStatus::kAborted);
}

TEST_F(RootComplexTest, NobodysMemoryIsUnsupported) {
  build();
  dev->env->dma_read({0, 0x1234'5678'0000, 64, false, false, Client::kUnknown});
  dev->env->dma_write(write(0x1000, {1}));
  run_ns(2000);
  ASSERT_EQ(dev->pieces.size(), 1u);
  EXPECT_EQ(dev->pieces[0].item.status, spec::RdStatus::kUnsupported);
  EXPECT_EQ(sim->root_complex(0).counters().bad_reads, 1u);
  EXPECT_EQ(sim->root_complex(0).counters().bad_writes, 1u);
}

TEST_F(RootComplexTest, WithoutBusMasterNothingHappens) {
  build();
  sim->root_complex(0).config_space().write(ConfigSpace::kCommand, ConfigSpace::kMemorySpace);
  sim->root_complex(0).config_changed();
  dev->env->dma_read(read(0, 0, 8));
  dev->env->dma_write(write(buffer.bus(0), {0x99}));
  run_ns(2000);
  EXPECT_EQ(dev->pieces.at(0).item.status, spec::RdStatus::kUnsupported);
  EXPECT_EQ(buffer.data()[0], 0);
}

TEST_F(RootComplexTest, BreachesAreReported) {
  build();
  dev->env->dma_read(read(0, 4090, 64));
  EXPECT_NE(sim->root_complex(0).failure().find("read of 64 bytes"), std::string::npos);
}

// Credit for a write returns when memory has taken it, after 300 ns; a tag with the answer to its
// read, after 800 ns (pcie_latency_ns). wake() signals both to the device.
TEST_F(RootComplexTest, TagsAndCreditsHoldTheDevice) {
  PcieConfig c;
  c.pcie_tags = 4;
  c.pcie_posted_credits = 2;
  build(c);
  for (uint8_t tag = 0; tag < 4; ++tag) {
    ASSERT_TRUE(dev->env->can_dma_read());
    dev->env->dma_read(read(tag, 0, 8));
  }
  EXPECT_FALSE(dev->env->can_dma_read());
  dev->env->dma_write(write(buffer.bus(0), {1}));
  dev->env->dma_write(write(buffer.bus(1), {1}));
  EXPECT_FALSE(dev->env->can_dma_write());
  int woken_for_write = 0, woken_for_read = 0;
  dev->on_wake = [&] {
    woken_for_write += dev->env->can_dma_write() && woken_for_write == 0;
    woken_for_read += dev->env->can_dma_read() && woken_for_read == 0;
  };
  run_ns(400);
  EXPECT_EQ(woken_for_write, 1);
  EXPECT_EQ(woken_for_read, 0);
  run_ns(600);
  EXPECT_EQ(woken_for_read, 1);
}

TEST_F(RootComplexTest, TheWireHoldsTheDeviceAndRunsFull) {
  build();
  const std::vector<uint8_t> bytes(256, 5);
  uint64_t sent = 0;
  dev->on_wake = [&] {
    while (dev->env->can_dma_write()) {
      dev->env->dma_write(write(buffer.bus(0), bytes));
      sent += 256;
    }
  };
  dev->on_wake();
  run_ns(10'000);
  const double gbps = static_cast<double>(sent) * 8 / 10'000;
  EXPECT_NEAR(gbps, 252.06 * 256 / 280, 3.0);  // 24 bytes of header a TLP
}

// PCIe: a completion may not pass a posted write in front of it, here to BAR 2, which the device
// does not take at first.
TEST_F(RootComplexTest, CompletionsDoNotPassRegisterWrites) {
  build();
  dev->takes_mmio = false;
  dev->env->dma_read(read(0, 0, 8));
  sim->root_complex(0).mmio_write(0, {true, 2, 0, 8, 1, {}});
  run_ns(3000);
  EXPECT_TRUE(dev->pieces.empty());
  dev->takes_mmio = true;
  run_ns(10);
  EXPECT_EQ(dev->mmios.size(), 1u);
  EXPECT_EQ(dev->pieces.size(), 1u);
}

TEST_F(RootComplexTest, CompletionsPassRegisterReadsThatWait) {
  build();
  dev->takes_mmio = false;
  dev->env->dma_read(read(0, 0, 8));
  MmioAnswer answer;
  sim->root_complex(0).mmio_read(0, {false, 0, 8, 4, 0, {}}, answer);
  run_ns(3000);
  EXPECT_EQ(dev->pieces.size(), 1u);
  dev->takes_mmio = true;
  run_ns(3000);
  EXPECT_TRUE(answer.done);
  EXPECT_EQ(answer.value, 80u);  // the fake device answers offset * 10
}

TEST_F(RootComplexTest, RegisterAnswerComesAfterEarlierWrites) {
  build();
  dev->on_mmio = [&](const Mmio&) { dev->env->dma_write(write(buffer.bus(5), {0x42})); };
  bool was_there = false;
  sim->start(0, "p", [&](PciDevice& d) {
    d.read32(0, 16);
    was_there = buffer.data()[5] == 0x42;
  });
  EXPECT_TRUE(sim->run().ok());
  EXPECT_TRUE(was_there);
}

TEST_F(RootComplexTest, InterruptComesAfterItsData) {
  build();
  dev->on_mmio = [&](const Mmio& m) {
    if (!m.is_write) return;
    dev->env->dma_write(write(buffer.bus(0), {0x77}));
    dev->env->dma_write(write(RootComplex::kMsiBase + 16 * 3, {3, 0, 0, 0}));
  };
  sim->start(0, "p", [&](PciDevice& d) {
    EXPECT_EQ(d.wait(1 << 3, 500 * kNs), 0u);
    EXPECT_EQ(d.now(), 500 * kNs);
    d.write32(0, 0, 1);
    EXPECT_EQ(d.wait(1 << 3 | 1 << 5, kForever), 1u << 3);
    EXPECT_EQ(buffer.data()[0], 0x77);
    EXPECT_EQ(d.wait(1 << 3, d.now()), 0u);  // the interrupt was taken before
  });
  const RunResult r = sim->run();
  EXPECT_TRUE(r.ok()) << r.report;
}

TEST_F(RootComplexTest, ResetForgetsWhatIsUnderWay) {
  build();
  dev->env->dma_read(read(0, 0, 8));
  dev->env->dma_write(write(buffer.bus(0), {0x55}));
  sim->root_complex(0).reset();
  EXPECT_EQ(dev->resets, 1);
  EXPECT_EQ(dev->pcie.bus_master, 0);
  EXPECT_EQ(dev->pcie.mps, 1);
  run_ns(3000);
  EXPECT_TRUE(dev->pieces.empty());
  EXPECT_EQ(buffer.data()[0], 0x55);
}

TEST_F(RootComplexTest, TraceHasALineARequest) {
  build();
  char* text = nullptr;
  size_t size = 0;
  std::FILE* out = open_memstream(&text, &size);
  sim->write_tlp(out);
  dev->env->dma_read(read(7, 0, 64));
  run_ns(2000);
  std::fclose(out);
  const std::string got(text, size);
  std::free(text);
  EXPECT_NE(got.find("0.000 host0 up   read   0x100000000 64 tag=7 payload\n"), std::string::npos)
      << got;
  EXPECT_NE(got.find("down piece  64 tag=7 ok last\n"), std::string::npos) << got;
}

}  // namespace
}  // namespace rnic::sim

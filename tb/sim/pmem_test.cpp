// Persistent memory of a host: which bytes are durable, when, and what a power failure leaves.
// SystemC requires one process per test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/rng.hpp"
#include "fake_device.hpp"
#include "platform/simulation.hpp"
#include "support/folder.hpp"
#include "support/seed.hpp"

namespace rnic::sim {
namespace {

using testing::HasSubstr;

struct Bed {
  explicit Bed(const HostConfig& host) {
    SimulationConfig s;
    s.platform.host = host;
    s.platform.host.arena_mib = 16;
    sim = std::make_unique<Simulation>(s);
    auto owned = std::make_unique<FakeDevice>();
    dev = owned.get();
    sim->add_host(std::move(owned));
  }
  Pmem& pmem() { return sim->memory(0).pmem(); }
  void run(const Program& body) {
    sim->start(0, "p", body);
    const RunResult r = sim->run();
    EXPECT_TRUE(r.ok()) << r.report;
  }
  // The device writes these bytes.
  void write(uint64_t bus, std::vector<uint8_t> bytes) {
    dev->env->dma_write({.address = bus, .data = Payload::copy_of(bytes)});
  }
  // The durable value of byte `at` of the range "log".
  uint8_t durable(uint64_t at) { return pmem().image().find("log")[at]; }
  std::unique_ptr<Simulation> sim;
  FakeDevice* dev = nullptr;
};

HostConfig host(const char* domain, std::string image = "") {
  HostConfig c;
  c.domain = domain;
  c.pmem_image = std::move(image);
  c.pmem_bytes = 1 << 20;
  return c;
}

/// Lets the device access memory: bit 2 (bus master) of the command register, offset 4 of the
/// configuration space.
void bus_master(PciDevice& d) { d.config_write(4, d.config_read(4) | 4); }

TEST(Pmem, ARangeIsOneRunOnTheBusAndHasAName) {
  Bed bed(host("adr"));
  bed.run([&](PciDevice& d) {
    EXPECT_EQ(d.persistence_domain(), PersistenceDomain::kAdr);
    const DmaBuffer a = d.persistent("log", 10000).value(), b = d.persistent("other", 1).value();
    EXPECT_TRUE(a.is_persistent());
    EXPECT_FALSE(d.alloc(4096, MemoryKind::kContiguous).value().is_persistent());
    EXPECT_EQ(a.bus(9999), a.bus(0) + 9999);
    EXPECT_EQ(a.bus(0) % 4096, 0u);
    EXPECT_GE(b.bus(0), a.bus(0) + 12288);  // 10000 bytes in whole pages
    EXPECT_EQ(d.persistent("log", 10000).value().data(), a.data());
    EXPECT_THAT(d.persistent("log", 10001).error().what, HasSubstr("10000 bytes, not 10001"));
    EXPECT_THAT(d.persistent("", 1).error().what, HasSubstr("a name of 0 bytes"));
    EXPECT_EQ(d.persistent("big", 1 << 20).error().code, base::Errc::kNoMemory);
    const DmaBuffer part = d.map(a.bytes().subspan(100, 50), DmaAccess::kReadWrite).value();
    EXPECT_TRUE(part.is_persistent());
    EXPECT_EQ(part.bus(0), a.bus(100));
    EXPECT_TRUE(bed.sim->memory(0).owned(b.bus(0), 4096));
    EXPECT_FALSE(bed.sim->memory(0).owned(b.bus(0) + 4096, 1));
  });
}

TEST(Pmem, LargeRangesHaveLargePages) {
  HostConfig c = host("adr");
  c.pmem_bytes = 16 << 20;
  Bed bed(c);
  bed.run([&](PciDevice& d) {
    (void)d.persistent("small", 1).value();
    const DmaBuffer b = d.persistent("big", (2 << 20) + 5).value();
    EXPECT_EQ(b.page_size(), 2u << 20);
    EXPECT_EQ(b.pages().size(), 2u);
    EXPECT_EQ(b.bus((2 << 20) + 4), b.bus(0) + (2 << 20) + 4);
    std::ranges::fill(b.bytes(), uint8_t{1});
  });
}

TEST(Pmem, AdrKeepsWhatWasPersistedAndWhatTheDeviceWrote) {
  Bed bed(host("adr"));
  bed.run([&](PciDevice& d) {
    bus_master(d);
    const DmaBuffer log = d.persistent("log", 4096).value();
    log.data()[0] = 1;
    log.data()[1] = 2;
    const Time before = d.now();
    d.pmem_persist(log.bytes().first(1));
    EXPECT_EQ(d.now() - before, 200 * kNs);  // pmem_persist_ns
    EXPECT_EQ(bed.durable(0), 1);
    EXPECT_EQ(bed.durable(1), 0) << "a store that was not persisted";
    bed.write(log.bus(8), {7});
    EXPECT_EQ(bed.durable(8), 0);
    EXPECT_EQ(d.wait(0, d.now() + kUs), 0u);
    EXPECT_EQ(bed.durable(8), 7);
    EXPECT_EQ(bed.durable(1), 0) << "its line was written by a device";
  });
}

TEST(Pmem, EadrKeepsEachStore) {
  Bed bed(host("eadr"));
  bed.run([&](PciDevice& d) {
    const DmaBuffer log = d.persistent("log", 9000).value();
    log.data()[8999] = 3;
    EXPECT_EQ(bed.durable(8999), 0);
    d.before_shared();
    EXPECT_EQ(bed.durable(8999), 3);
  });
}

TEST(Pmem, NoneKeepsNothing) {
  Bed bed(host("none"));
  bed.run([&](PciDevice& d) {
    bus_master(d);
    EXPECT_EQ(d.persistence_domain(), PersistenceDomain::kNone);
    const DmaBuffer log = d.persistent("log", 4096).value();
    log.data()[0] = 1;
    d.pmem_persist(log.bytes());
    bed.write(log.bus(8), {7});
    EXPECT_EQ(d.wait(0, d.now() + kUs), 0u);
    EXPECT_EQ(log.data()[8], 7);
    EXPECT_EQ(bed.durable(0) + bed.durable(8), 0);
  });
}

/// Records what becomes durable, and when.
struct Journal final : PmemObserver {
  void on_durable(Time at, uint64_t offset, std::span<const uint8_t> bytes) override {
    ASSERT_TRUE(events.empty() || at >= events.back().at);
    events.push_back({at, offset, {bytes.begin(), bytes.end()}});
  }
  struct Event {
    Time at;
    uint64_t offset;
    std::vector<uint8_t> bytes;
  };
  std::vector<Event> events;
};

TEST(Pmem, TellsTheTimeAtWhichMemoryHasTakenAWrite) {
  Bed bed(host("adr"));
  Journal journal;
  bed.pmem().observe(journal);
  bed.run([&](PciDevice& d) {
    bus_master(d);
    const DmaBuffer log = d.persistent("log", 4096).value();
    d.before_shared();
    const Time issued = d.now();
    bed.write(log.bus(8), {7});
    EXPECT_EQ(d.wait(0, d.now() + kUs), 0u);
    ASSERT_EQ(journal.events.size(), 1u);
    const Time took = journal.events[0].at - issued;  // 3/8 of pcie_latency_ns (800), plus the wire
    EXPECT_GE(took, 300 * kNs);
    EXPECT_LT(took, 302 * kNs);
  });
}

TEST(PowerFailure, DropsWhatMemoryHasNotTaken) {
  Bed bed(host("adr"));
  Journal journal;
  bed.pmem().observe(journal);
  bool goes_on = false;
  bed.run([&](PciDevice& d) {
    bus_master(d);
    const DmaBuffer log = d.persistent("log", 4096).value();
    d.before_shared();
    for (int i = 0; i < 10; ++i) {
      bed.write(log.bus(static_cast<uint64_t>(i)), {1});
      (void)d.wait(0, d.now() + 100 * kNs);
    }
    log.data()[100] = 1;
    bed.sim->cut_power(0);
    (void)d.wait(0, d.now() + 1);
    goes_on = true;
  });
  EXPECT_FALSE(goes_on);
  ASSERT_TRUE(bed.sim->power_failed(0));
  const size_t n = journal.events.size();
  // A write is issued every 100 ns and takes 300 ns to memory: two or three are lost.
  EXPECT_TRUE(n == 7 || n == 8) << n;
  for (size_t i = 0; i < 10; ++i) EXPECT_EQ(bed.durable(i), i < n ? 1 : 0) << i;
  EXPECT_EQ(bed.durable(100), 0);
  bed.sim->settle(10000);
  EXPECT_EQ(journal.events.size(), n);
}

TEST(PowerFailure, ComesAtItsTime) {
  HostConfig c = host("adr");
  c.power_fail_ns = 5000;
  Bed bed(c);
  Time last = 0;
  bed.run([&](PciDevice& d) {
    for (;;) {
      last = d.now();
      d.relax();
    }
  });
  EXPECT_EQ(bed.sim->power_failed(0), 5000 * kNs);
  EXPECT_LE(last, 5000 * kNs);
  EXPECT_GE(last, 4960 * kNs);  // poll_ns 40 before
}

TEST(PowerFailure, DoesNotComeWhenProgramsHaveEnded) {
  HostConfig c = host("adr");
  c.power_fail_ns = 5000;
  Bed bed(c);
  bed.run([](PciDevice& d) { d.relax(); });
  bed.sim->settle(10000);
  EXPECT_FALSE(bed.sim->power_failed(0));
}

TEST(PmemImage, ARestartedHostFindsWhatWasDurable) {
  const tb::Folder folder;
  const std::string path = folder / "host.pmem";
  // SystemC elaborates once, so the test restarts only the memory.
  {
    const auto pmem = std::make_shared<Pmem>(host("adr", path), 0);
    const DmaBuffer log = pmem->range(0, "log", 5000).value();
    log.data()[0] = 1;
    log.data()[4999] = 2;
    pmem->persist(0, log.bytes().last(1));
    (void)pmem->range(0, "second", 3).value();
    ASSERT_TRUE(write_image(path, pmem->image()));
  }
  const auto pmem = std::make_shared<Pmem>(host("adr", path), 0);
  const DmaBuffer log = pmem->range(0, "log", 5000).value();
  EXPECT_EQ(log.data()[0], 0);
  EXPECT_EQ(log.data()[4999], 2);
  EXPECT_FALSE(pmem->range(0, "log", 5001));
  EXPECT_EQ(pmem->image().ranges.size(), 2u);
}

std::vector<uint8_t> file_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(PmemImage, WhatIsWrongWithAFileIsSaidAndTheFileStays) {
  const tb::Folder folder;
  const std::string path = folder / "host.pmem";
  PmemImage image{.pmem_bytes = 1 << 20, .ranges = {{"log", 0, 100}, {"b", 4096, 7}}, .bytes = {}};
  image.bytes = base::Rng(tb::test_seed()).bytes(107);
  const std::vector<uint8_t> good = pack_image(image);
  EXPECT_EQ(parse_image(good).value(), image);
  const auto wrong = [&](std::vector<uint8_t> bytes, const char* why) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    const auto r = read_image(path, 1 << 20);
    ASSERT_FALSE(r) << why;
    EXPECT_THAT(r.error().what, HasSubstr(why));
    EXPECT_THAT(r.error().what, HasSubstr(path));
    EXPECT_THROW(Pmem(host("adr", path), 0), std::runtime_error);
    EXPECT_EQ(file_of(path), bytes);
  };
  // Empty; within the header (24 bytes); within the two ranges' entries (64 each); the last byte.
  for (const size_t n : {size_t{0}, size_t{23}, size_t{100}, good.size() - 1})
    wrong({good.begin(), good.begin() + static_cast<ptrdiff_t>(n)}, "cut short");
  auto bytes = good;
  bytes.push_back(0);
  wrong(bytes, "too long");
  bytes = good;
  bytes[8] = 2;
  wrong(bytes, "version 2");
  for (size_t i = 0; i < good.size() - 107; ++i) {  // one bit anywhere before the ranges' bytes
    bytes = good;
    bytes[i] ^= 0x10;
    EXPECT_FALSE(parse_image(bytes)) << i;
  }
  image.pmem_bytes = 2 << 20;
  wrong(pack_image(image), "pmem_bytes=2097152, not 1048576");
  std::filesystem::remove(path);
  EXPECT_EQ(read_image(path, 1 << 20).error().code, base::Errc::kNotFound);
  HostConfig c = host("adr", path);
  EXPECT_NO_THROW(Pmem(c, 0));
  c.pmem_recover = 1;
  EXPECT_THROW(Pmem(c, 0), std::runtime_error);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(PmemImage, OfAFileThatCannotBeWrittenTheOldOneStays) {
  EXPECT_FALSE(write_image("/nowhere/at/all", {}));
}

}  // namespace
}  // namespace rnic::sim

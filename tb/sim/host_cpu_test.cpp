// Programs on simulated hosts: costs of calls, several threads and their shared memory, failures,
// removal, watchdog, and reproducible runs.
#include <gtest/gtest.h>
#include <unistd.h>

#include <stdexcept>

#include "fake_device.hpp"
#include "platform/simulation.hpp"
#include "rnic/lock.hpp"
#include "support/seed.hpp"

namespace rnic::sim {
namespace {

struct Bed {
  explicit Bed(PlatformConfig c = {}, uint64_t seed = 1) {
    c.host.arena_mib = 16;
    SimulationConfig s;
    s.platform = c;
    s.seed = seed;
    sim = std::make_unique<Simulation>(s);
    auto owned = std::make_unique<FakeDevice>();
    dev = owned.get();
    sim->add_host(std::move(owned));
  }
  std::unique_ptr<Simulation> sim;
  FakeDevice* dev = nullptr;
};

/// The defaults of sim/platform/config.hpp: a register write or read costs the CPU 20 ns
/// (mmio_write_ns, mmio_read_ns), a poll (relax, after_phase_bit) 40 ns (poll_ns), before_doorbell
/// 15 ns (post_ns).
TEST(HostCpu, CallsCostWhatTheConfigurationSays) {
  Bed bed;
  bed.sim->start(0, "p", [](PciDevice& d) {
    EXPECT_EQ(d.now(), 0u);
    d.write64(2, 0, 5);
    EXPECT_EQ(d.now(), 20 * kNs);
    d.relax();
    EXPECT_EQ(d.now(), 60 * kNs);
    d.before_doorbell();
    d.after_phase_bit();
    EXPECT_EQ(d.now(), 115 * kNs);
    // wait() takes a mask of vectors. Mask 0: only the deadline ends the wait.
    EXPECT_EQ(d.wait(0, 300 * kNs), 0u);
    EXPECT_EQ(d.now(), 300 * kNs);
    EXPECT_EQ(d.read32(0, 4), 40u);  // the fake device answers offset * 10
    // 300, mmio_read_ns 20, PCIe there and back 200 each (pcie_latency_ns / 4), 100 in the host
    // (pcie_latency_ns / 8).
    EXPECT_NEAR(static_cast<double>(d.now()), 820e3, 5e3);
  });
  const RunResult r = bed.sim->run();
  EXPECT_TRUE(r.ok()) << r.report;
  ASSERT_EQ(bed.dev->mmios.size(), 2u);
  // mmio_write_ns 20, 200 on PCIe, and 1.0 of the wire: 24 + 8 bytes at 252 Gb/s.
  EXPECT_NEAR(static_cast<double>(bed.dev->mmios[0].at), 221e3, 1e3);
}

TEST(HostCpu, RegisterWritesArriveInOrderAndWhole) {
  Bed bed;
  std::vector<uint8_t> line(64);
  for (size_t i = 0; i < 64; ++i) line[i] = static_cast<uint8_t>(i);
  bed.sim->start(0, "p", [&](PciDevice& d) {
    d.write32(0, 8, 1);
    d.write_combined(2, 64, line);
    d.write64(2, 128, 0x1234567890);
    d.read32(0, 0);
  });
  EXPECT_TRUE(bed.sim->run().ok());
  const auto& m = bed.dev->mmios;
  ASSERT_EQ(m.size(), 4u);
  EXPECT_EQ(m[0].item.bytes, 4);
  EXPECT_EQ(m[1].item.bytes, 64);
  EXPECT_EQ(m[1].item.data.bytes()[63], 63);
  EXPECT_EQ(m[2].item.value, 0x1234567890u);
  EXPECT_FALSE(m[3].item.is_write);
}

// BAR 0 has 64 KiB, BAR 2 four pages (sizes of FakeDevice), and there is no BAR 1.
TEST(HostCpu, OutsideTheBarsIsAllOnes) {
  Bed bed;
  bed.sim->start(0, "p", [](PciDevice& d) {
    EXPECT_EQ(d.read32(0, 65536), ~0u);
    EXPECT_EQ(d.read64(2, 4 * 4096), ~uint64_t{0});
    EXPECT_EQ(d.read32(1, 0), ~0u);
    d.write32(2, 4 * 4096, 1);
  });
  EXPECT_TRUE(bed.sim->run().ok());
  EXPECT_TRUE(bed.dev->mmios.empty());
}

TEST(HostCpu, ConfigurationSpaceReachesTheDevice) {
  Bed bed;
  bed.sim->start(0, "p", [&](PciDevice& d) {
    EXPECT_EQ(d.config_read(0) & 0xffff, ConfigSpace::kVendorId);
    d.config_write(ConfigSpace::kCommand,
                   d.config_read(ConfigSpace::kCommand) | ConfigSpace::kBusMaster);
    EXPECT_EQ(bed.dev->pcie.bus_master, 1);
    d.config_write(ConfigSpace::kMsixCap, ConfigSpace::kMsixEnable);
    EXPECT_EQ(bed.dev->pcie.msix_enable, 1);
    d.reset();
    EXPECT_EQ(bed.dev->pcie.bus_master, 0);
    EXPECT_EQ(bed.dev->resets, 1);
  });
  EXPECT_TRUE(bed.sim->run().ok());
}

TEST(HostCpu, ThreadsShareADeviceEachInItsOwnTime) {
  Bed bed;
  for (int t = 0; t < 4; ++t) {
    bed.sim->start(0, "t" + std::to_string(t), [t](PciDevice& d) {
      for (int i = 0; i < 50; ++i) {
        d.write32(2, static_cast<uint32_t>(t * 4096), static_cast<uint32_t>(i));
        if (i % 16 == t) d.relax();
      }
    });
  }
  EXPECT_TRUE(bed.sim->run().ok());
  bed.sim->settle(1000);
  ASSERT_EQ(bed.dev->mmios.size(), 200u);
  std::vector<uint64_t> next(4, 0);
  for (const auto& [at, m] : bed.dev->mmios) EXPECT_EQ(m.value, next[m.offset / 4096]++);
  for (size_t i = 1; i < 200; ++i) EXPECT_LT(bed.dev->mmios[i - 1].at, bed.dev->mmios[i].at);
}

TEST(HostCpu, AnExceptionIsAFailure) {
  Bed bed;
  bed.sim->start(0, "thrower", [](PciDevice& d) {
    d.relax();
    throw std::runtime_error("5 is not 6");
  });
  const RunResult r = bed.sim->run();
  EXPECT_EQ(r.status, RunStatus::kFailed);
  ASSERT_EQ(r.failures.size(), 1u);
  EXPECT_EQ(r.failures[0].program, "host0/thrower");
  EXPECT_EQ(r.failures[0].what, "5 is not 6");
}

TEST(HostCpu, ADeviceThatFailsFailsTheRun) {
  Bed bed;
  bed.sim->start(0, "p", [&](PciDevice&) { bed.dev->fault = "assertion X_A"; });
  const RunResult r = bed.sim->run();
  EXPECT_EQ(r.status, RunStatus::kFailed);
  EXPECT_EQ(r.report, "host0: assertion X_A\n");
}

// The default of watchdog_us is 1000: a run without progress ends after 1 ms.
TEST(HostCpu, WatchdogSaysWhoWaits) {
  Bed bed;
  bed.dev->waits = "qp 3 waits for credit";
  bed.sim->start(0, "waiter", [](PciDevice& d) { d.wait(1, kForever); });
  bed.sim->start(0, "poller", [](PciDevice& d) {
    for (;;) d.relax();
  });
  const RunResult r = bed.sim->run();
  EXPECT_EQ(r.status, RunStatus::kNoProgress);
  EXPECT_GE(r.end, 1 * kMs);
  EXPECT_LE(r.end, 2 * kMs);
  EXPECT_NE(r.report.find("host0/waiter: since 0 ns waits for interrupts 0x1"), std::string::npos)
      << r.report;
  EXPECT_NE(r.report.find("host0/poller: polls"), std::string::npos) << r.report;
  EXPECT_NE(r.report.find("qp 3 waits for credit"), std::string::npos) << r.report;
}

TEST(HostCpu, ALongSleepIsNoHang) {
  Bed bed;
  bed.sim->start(0, "sleeper", [](PciDevice& d) { d.wait(0, 20 * kMs); });
  const RunResult r = bed.sim->run();
  EXPECT_TRUE(r.ok()) << r.report;
  EXPECT_EQ(r.end, 20 * kMs);
}

TEST(HostCpu, WaitsWithShortDeadlinesForeverAreAHang) {
  Bed bed;
  bed.sim->start(0, "p", [](PciDevice& d) {
    for (;;) d.wait(1, d.now() + 10 * kUs);
  });
  EXPECT_EQ(bed.sim->run().status, RunStatus::kNoProgress);
}

TEST(HostCpu, TimeLimit) {
  PlatformConfig c;
  c.run.time_limit_us = 50;
  Bed bed(c);
  bed.sim->start(0, "p", [](PciDevice& d) {
    for (;;) d.read32(0, 0);
  });
  const RunResult r = bed.sim->run();
  EXPECT_EQ(r.status, RunStatus::kTimeLimit);
  EXPECT_EQ(r.end, 50 * kUs);
}

TEST(HostCpu, SurpriseRemovalReadsAllOnes) {
  Bed bed;
  bed.dev->answers_mmio = false;
  bed.sim->start(0, "p", [&](PciDevice& d) {
    EXPECT_EQ(d.read32(0, 8), ~0u);  // in flight when `thief` removes the device
    EXPECT_EQ(d.read64(0, 8), ~uint64_t{0});
    EXPECT_EQ(d.config_read(0), ~0u);
    d.write32(0, 8, 1);
  });
  bed.sim->start(0, "thief", [&](PciDevice& d) {
    d.wait(0, 500 * kNs);
    bed.sim->remove(0);
  });
  EXPECT_TRUE(bed.sim->run().ok());
  EXPECT_EQ(bed.dev->mmios.size(), 1u);
}

TEST(HostCpu, MoreProgramsAfterARun) {
  Bed bed;
  int ran = 0;
  bed.sim->start(0, "a", [&](PciDevice& d) {
    d.relax();
    ++ran;
  });
  EXPECT_TRUE(bed.sim->run().ok());
  bed.sim->start(0, "b", [&](PciDevice& d) {
    d.read32(0, 0);
    ++ran;
  });
  EXPECT_TRUE(bed.sim->run().ok());
  EXPECT_EQ(ran, 2);
}

// Threads with steps of different length, none longer than the quantum. Each thread sees the writes
// that come before it in simulated time, and none of the later ones.
TEST(HostCpu, SharedMemoryIsSeenInSimulatedOrder) {
  Bed bed;
  struct Visit {
    Time at;
    int thread;
  };
  std::vector<Visit> visits;
  for (int t = 0; t < 4; ++t) {
    bed.sim->start(0, "t" + std::to_string(t),
                   [&, t, mine = tb::test_rng(std::to_string(t))](PciDevice& d) mutable {
                     for (int i = 0; i < 300; ++i) {
                       for (uint64_t n = mine.below(6); n > 0; --n) {
                         if (mine.below(2) == 0) {
                           d.before_doorbell();
                         } else {
                           d.write32(2, 0, 1);
                         }
                       }
                       d.before_shared();
                       visits.push_back({d.now(), t});
                     }
                   });
  }
  EXPECT_TRUE(bed.sim->run().ok());
  ASSERT_EQ(visits.size(), 1200u);
  for (size_t i = 1; i < visits.size(); ++i) {
    ASSERT_LE(visits[i - 1].at, visits[i].at)
        << "visit " << i << ": thread " << visits[i].thread << " after " << visits[i - 1].thread;
  }
}

TEST(HostCpu, BeforeSharedCostsNothing) {
  Bed bed;
  bed.sim->start(0, "p", [](PciDevice& d) {
    d.before_doorbell();
    const Time now = d.now();
    d.before_shared();
    d.before_shared();
    EXPECT_EQ(d.now(), now);
    EXPECT_EQ(kernel_now(), now);
  });
  EXPECT_TRUE(bed.sim->run().ok());
}

// One thread at a time holds a lock, also during the calls of its holder.
TEST(HostCpu, ALockExcludesInSimulatedTime) {
  Bed bed;
  struct Hold {
    Time from, to;
  };
  std::vector<Hold> holds;
  Lock lock;
  for (int t = 0; t < 4; ++t) {
    bed.sim->start(0, "t" + std::to_string(t),
                   [&, mine = tb::test_rng(std::to_string(t))](PciDevice& d) mutable {
                     for (int i = 0; i < 100; ++i) {
                       for (uint64_t n = mine.below(6); n > 0; --n) d.before_doorbell();
                       const Locked held(lock, d);
                       const size_t at = holds.size();
                       holds.push_back({d.now(), 0});
                       for (uint64_t n = mine.below(4); n > 0; --n) d.write32(2, 0, 1);
                       holds[at].to = d.now();
                     }
                   });
  }
  EXPECT_TRUE(bed.sim->run().ok());
  ASSERT_EQ(holds.size(), 400u);
  for (size_t i = 1; i < holds.size(); ++i) ASSERT_LE(holds[i - 1].to, holds[i].from) << i;
  EXPECT_EQ(bed.dev->mmios.empty(), false);
}

// A thread may use a handle that another thread made; the time of a call is charged to the calling
// thread.
TEST(HostCpu, ACallIsChargedToTheThreadThatMakesIt) {
  Bed bed;
  PciDevice* shared = nullptr;
  bed.sim->start(0, "owner", [&](PciDevice& d) {
    shared = &d;
    d.wait(0, 5 * kUs);
    EXPECT_EQ(d.now(), 5 * kUs);
  });
  bed.sim->start(0, "other", [&](PciDevice& d) {
    d.relax();
    const Time before = d.now();
    shared->relax();
    EXPECT_EQ(d.now(), before + 40 * kNs);
    EXPECT_EQ(shared->read32(0, 4), 40u);
    EXPECT_GT(d.now(), before + 500 * kNs);
  });
  EXPECT_TRUE(bed.sim->run().ok());
}

// At random, completions are reordered and split, relaxed writes pass others, and alloc() draws its
// pages. The trace of a run depends only on its seed.
TEST(HostCpu, SameSeedSameRun) {
  auto trace = [](uint64_t seed) {
    PlatformConfig c;
    c.pcie.pcie_reorder = 0.3;
    c.pcie.pcie_split = 0.3;
    c.pcie.pcie_relaxed = 0.5;
    Bed bed(c, seed);
    // 6: memory space, bus master.
    bed.sim->root_complex(0).config_space().write(ConfigSpace::kCommand, 6);
    bed.sim->root_complex(0).config_changed();
    char* text = nullptr;
    size_t size = 0;
    std::FILE* out = open_memstream(&text, &size);
    bed.sim->write_tlp(out);
    const Time t0 = kernel_now();
    for (int t = 0; t < 3; ++t) {
      bed.sim->start(0, "p", [&, t](PciDevice& d) {
        const DmaBuffer b = d.alloc(65536, MemoryKind::kScattered).value();
        for (uint8_t i = 0; i < 40; ++i) {
          bed.dev->env->dma_read({static_cast<uint8_t>(t * 40 + i), b.bus(i * 1024), 500, false,
                                  false, Client::kPayload});
          if (i % 5 == 0) d.relax();
        }
        d.wait(0, t0 + 10 * kUs);
      });
    }
    EXPECT_TRUE(bed.sim->run().ok());
    std::fclose(out);
    std::string s(text, size);
    std::free(text);
    return s;
  };
  // One simulation per process: each seed runs in a child process.
  auto in_child = [&](uint64_t seed) {
    int fd[2];
    EXPECT_EQ(pipe(fd), 0);
    const pid_t pid = fork();
    if (pid == 0) {
      const std::string s = trace(seed);
      const bool all = write(fd[1], s.data(), s.size()) == static_cast<ssize_t>(s.size());
      _exit(all ? 0 : 1);
    }
    close(fd[1]);
    std::string s;
    char part[4096];
    for (ssize_t n = 0; (n = read(fd[0], part, sizeof part)) > 0;)
      s.append(part, static_cast<size_t>(n));
    close(fd[0]);
    return s;
  };
  const std::string a = in_child(1), b = in_child(1), other = in_child(2);
  EXPECT_GT(a.size(), 5000u);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, other);
}

}  // namespace
}  // namespace rnic::sim

// The driver's privileged part, called by several threads of a host that run ahead of each other in
// simulated time. The device must see the indices of the admin doorbell in order, and every
// command.
//
// A command: the driver writes it into the command ring and rings the admin doorbell with the
// producer index. The device reads the command and writes a response with its cookie into the
// response ring. The phase bit is 1 on the first pass over that ring, and flips with each pass.
#include <gtest/gtest.h>

#include <map>

#include "fake_device.hpp"
#include "gen/regs.hpp"
#include "platform/simulation.hpp"
#include "rnic/manager.hpp"
#include "rnic/verbs.hpp"
#include "support/seed.hpp"

namespace rnic::sim {
namespace {

using namespace verbs;

/// The admin queue of a device: executes and answers each command at once.
class AdminQueue {
 public:
  AdminQueue(FakeDevice& dev, Simulation& sim) : dev_(dev), sim_(sim) {
    const spec::Sizes s = spec::Sizes::minimum();
    // The registers that Manager::open reads; magic is "MNIC".
    regs_ = {{spec::kMagicOffset, 0x43494e4d},
             {spec::kVersionOffset, 0x00010000},
             {spec::kCapClockKhzOffset, 322266},
             {spec::kCapNumQpsOffset, s.num_qps},
             {spec::kCapNumCqsOffset, s.num_cqs},
             {spec::kCapNumEqsOffset, s.num_eqs},
             {spec::kCapNumPdsOffset, s.num_pds},
             {spec::kCapNumPagesOffset, s.num_pages},
             {spec::kCapNumStagsOffset, s.num_stags},
             {spec::kCapNumPblOffset, s.num_pbl},
             {spec::kCapNumConnsOffset, s.num_conns},
             {spec::kCapNumVectorsOffset, s.num_vectors},
             {spec::kCapIrdSlotsOffset, s.ird_slots},
             {spec::kCapOrdSlotsOffset, s.ord_slots},
             {spec::kCapMaxIrdOffset, s.max_ird},
             {spec::kCapMaxOrdOffset, s.max_ord},
             {spec::kCapSqWindowOffset, s.sq_window},
             {spec::kDevStatusOffset, spec::kDevStatusReadyMask}};
    dev.answers_mmio = false;
    dev.on_mmio = [this](const Mmio& m) {
      if (!m.is_write) return dev_.env->mmio_response(regs_[m.offset]);
      regs_[m.offset] = m.value;
      if (m.offset == spec::kAdminDoorbellOffset) ring(static_cast<uint16_t>(m.value));
    };
  }
  unsigned bells = 0, stale = 0;  // doorbells; those whose index is not newer than the last
  uint16_t done = 0;              // commands executed

 private:
  void ring(uint16_t producer) {
    ++bells;
    const auto ahead = static_cast<uint16_t>(producer - producer_);
    if (ahead == 0 || ahead >= 0x8000) {
      ++stale;
      return;
    }
    producer_ = producer;
    for (; done != producer_; ++done) answer();
  }
  void answer() {
    const uint64_t log = regs_[spec::kAdminLogSizeOffset], slot = done & ((1u << log) - 1);
    std::array<uint8_t, spec::AdminCmd::kBytes> bytes{};
    ASSERT_TRUE(sim_.memory(0).read(
        regs_[spec::kAdminCmdBaseOffset] + slot * spec::AdminCmd::kBytes, bytes));
    const auto cmd = spec::AdminCmd::unpack(bytes);
    spec::AdminRsp rsp;
    rsp.cookie = cmd.cookie;
    rsp.opcode = cmd.opcode;
    rsp.object = cmd.object;
    rsp.phase = (done >> log & 1) == 0;
    std::array<uint8_t, spec::AdminRsp::kBytes> out{};
    rsp.pack(out);
    dev_.env->dma_write({regs_[spec::kAdminRspBaseOffset] + slot * spec::AdminRsp::kBytes,
                         Payload::copy_of(out), false, false, Client::kAdminWrite});
  }

  FakeDevice& dev_;
  Simulation& sim_;
  std::map<uint32_t, uint64_t> regs_;
  uint16_t producer_ = 0;
};

TEST(Threads, TheAdminRingIsRungInOrder) {
  PlatformConfig c;
  c.host.arena_mib = 16;
  c.pcie.pcie_latency_ns = 200;
  Simulation sim({.platform = c, .side = {}, .seed = 1});
  auto owned = std::make_unique<FakeDevice>();
  FakeDevice& dev = *owned;
  sim.add_host(std::move(owned));
  AdminQueue queue(dev, sim);

  constexpr int kThreads = 4;
  constexpr uint32_t kEach = 200;
  std::unique_ptr<Manager> manager;
  int left = kThreads;
  for (int t = 0; t < kThreads; ++t) {
    sim.start(0, "t" + std::to_string(t),
              [&, t, mine = tb::test_rng(std::to_string(t))](PciDevice& d) mutable {
                if (t == 0) {
                  auto m = Manager::open(d, {.seed = 1});
                  ASSERT_TRUE(m) << m.error().what;
                  manager = std::move(*m);
                }
                while (manager == nullptr) d.relax();
                for (uint32_t i = 0; i < kEach; ++i) {
                  // the thread's own work
                  for (uint64_t n = mine.below(7); n > 0; --n) d.before_doorbell();
                  const auto r = manager->execute(d, spec::AdminOpcode::kNop, 1000 * t + i);
                  ASSERT_TRUE(r) << r.error().what;
                  EXPECT_EQ(r->object, 1000 * t + i);
                }
                d.before_shared();
                if (--left == 0) manager = nullptr;
              });
  }
  const RunResult r = sim.run();
  EXPECT_TRUE(r.ok()) << r.report;
  EXPECT_EQ(queue.stale, 0u) << "of " << queue.bells << " doorbells";
  EXPECT_GE(queue.done, kThreads * kEach);
}

}  // namespace
}  // namespace rnic::sim

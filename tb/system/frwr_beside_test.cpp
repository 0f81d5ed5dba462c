// Registrations and local invalidations of some QPs delay no other QP: Writes keep their rate
// beside 8 QPs that register 64 KiB in 16 pages and invalidate it, again and again. Decision 14.
#include <fmt/format.h>

#include "world.hpp"

namespace rnic::tb {
namespace {

using namespace verbs;

// kAhead: Writes of a QP in flight at most. kAtOnce: Writes per doorbell.
constexpr unsigned kWriters = 4, kAhead = 96, kAtOnce = 8;
constexpr unsigned kRegistrars = 8, kPages = 16, kPage = 4096;
constexpr uint64_t kTarget = 0x10000000;
constexpr QpCap kCap{.max_send_wr = 128, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1};

struct Case {
  Kinds kinds;
  uint32_t bytes;        // of a Write
  unsigned writes;       // of all QPs
  double registrations;  // M/s beside the Writes, measured on RTL; each kind must be within 15 %
};

/// Registers its memory and invalidates it, with one doorbell.
struct Registrar {
  Endpoint* endpoint;
  DmaBuffer buffer;
  Mr mr;
  unsigned cycles = 0;

  Registrar(Host& h, Endpoint& e)
      : endpoint(&e),
        buffer(must(h.dev.alloc(kPages * kPage, MemoryKind::kScattered), "memory")),
        mr(must(h.pd.alloc_mr(kPages), "alloc_mr")) {
    const SgRange all{.buffer = buffer, .addr = 0, .length = kPages * kPage};
    must(mr.map_mr_sg({&all, 1}, kPage, kTarget), "map_mr_sg");
  }
  void next() {
    if (endpoint->sends_outstanding() != 0) return;
    must(mr.update_fast_reg_key(static_cast<uint8_t>(++cycles)), "update_fast_reg_key");
    (void)endpoint->post({{.opcode = IBV_WR_REG_MR,
                           .mr = &mr,
                           .key = mr.rkey(),
                           .access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE},
                          {.opcode = IBV_WR_LOCAL_INV, .rkey = mr.rkey()}});
  }
};

class FrwrBeside : public testing::TestWithParam<Case> {};

TEST_P(FrwrBeside, RegistrationsDoNotSlowWrites) {
  in_child([] {
    const Case& c = GetParam();
    World w({.kind = c.kinds});
    uint32_t key = 0;
    bool served = false, done = false;
    Time alone = 0, beside = 0;
    unsigned cycles = 0;
    w.run(
        [&](Host& h) {
          h.open(1024);
          const Region data = h.region(uint64_t{c.bytes} * kAtOnce);
          std::vector<Endpoint*> writers;
          for (unsigned i = 0; i < kWriters; ++i) {
            writers.push_back(&h.endpoint(kCap));
            h.connect(*writers.back());
          }
          std::vector<Registrar> registrars;
          for (unsigned i = 0; i < kRegistrars; ++i) {
            Endpoint& e = h.endpoint(kCap, false, true);
            h.connect(e);
            registrars.emplace_back(h, e);
          }
          h.until("the server", [&] { return served; });
          const std::vector<Sge> sges = [&] {
            std::vector<Sge> all;
            for (unsigned i = 0; i < kAtOnce; ++i)
              all.push_back(data.sge(uint64_t{c.bytes} * i, c.bytes));
            return all;
          }();
          // Time from the completion of the first eighth of the Writes to that of the last.
          const auto measure = [&](bool registers) {
            std::vector<size_t> before;
            for (const Endpoint* e : writers) before.push_back(e->done.size());
            Time from = 0;
            unsigned posted = 0, complete = 0;
            while (complete < c.writes) {
              for (Endpoint* e : writers) {
                if (posted >= c.writes || e->sends_outstanding() > kAhead - kAtOnce) continue;
                std::vector<SendWr> wrs;
                for (const Sge& sge : sges)
                  wrs.push_back({.sg_list = {&sge, 1},
                                 .opcode = IBV_WR_RDMA_WRITE,
                                 .remote_addr = kTarget,
                                 .rkey = key});
                (void)e->post(std::move(wrs));
                posted += kAtOnce;
              }
              if (registers)
                for (Registrar& r : registrars) r.next();
              h.poll();
              complete = 0;
              for (unsigned i = 0; i < kWriters; ++i)
                complete += static_cast<unsigned>(writers[i]->done.size() - before[i]);
              if (from == 0 && complete >= c.writes / 8) from = h.dev.now();
            }
            return h.dev.now() - from;
          };
          alone = measure(false);
          const Time began = h.dev.now();
          beside = measure(true);
          for (const Registrar& r : registrars) cycles += r.cycles;
          const double million = static_cast<double>(cycles) * 1e6 /
                                 static_cast<double>((h.dev.now() - began) / kNs) / 1e3;
          for (Registrar& r : registrars) {
            h.until_complete(*r.endpoint, "registrations");
            for (const Wc& wc : r.endpoint->done) EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
            must(r.mr.dereg(), "dereg");
          }
          for (const Endpoint* e : writers)
            for (const Wc& wc : e->done) EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
          fmt::print("{:.2f} M/s registrations of {} pages, each invalidated\n", million, kPages);
          EXPECT_NEAR(million, c.registrations, 0.15 * c.registrations);
          done = true;
        },
        [&](Host& h) {
          h.open(1024);
          const Region data = h.region(8192, Host::kAll, kTarget);
          key = data.mr.rkey();
          for (unsigned i = 0; i < kWriters + kRegistrars; ++i) h.accept(h.endpoint(kCap));
          served = true;
          h.until(
              "the client", [&] { return done; }, 10 * kMs);
        });
    if (testing::Test::HasFailure()) return;
    EXPECT_GE(cycles, 2 * kRegistrars) << "too few registrations to be beside";
    const double share = static_cast<double>(alone) / static_cast<double>(beside);
    fmt::print("{} Writes of {} bytes alone {} ns, beside registrations {} ns: {:.1f} %\n",
               c.writes * 7 / 8, c.bytes, alone / kNs, beside / kNs, 100 * share);
    EXPECT_GE(share, 0.95);
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, FrwrBeside,
                         testing::Values(Case{kModel, 512, 1600, 0.72},
                                         Case{kModel, 4096, 400, 0.96}, Case{kRtl, 512, 1600, 0.72},
                                         Case{kRtl, 4096, 400, 0.96}),
                         [](const testing::TestParamInfo<Case>& info) {
                           return name_of(info.param.kinds) + "_" +
                                  std::to_string(info.param.bytes);
                         });

}  // namespace
}  // namespace rnic::tb

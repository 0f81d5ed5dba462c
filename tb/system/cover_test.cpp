// Cover points of the RTL (RNIC_COVER): programs on the build `stall` reach each of them. A build
// with one WQE per visit, one message of a QP in ddp, and one request or response in service never
// runs the code for several.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>

#include "regress/regress.hpp"
#include "support/folder.hpp"
#include "world.hpp"

namespace rnic::tb {
namespace {

using namespace verbs;  // NOLINT: a test

/// How often each cover point was reached, over all files that the devices wrote to the folder.
std::map<std::string, uint64_t> met(const std::filesystem::path& folder) {
  std::map<std::string, uint64_t> all;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(file.path());
    for (std::string line; std::getline(in, line);) {
      const size_t count = line.rfind('\'');
      if (!line.starts_with("C '") || count < 3) continue;
      // Verilator's line: C '\1KEY\2VALUE...' COUNT. Key h is the instance path, which ends with
      // the name of the point.
      const size_t at = line.find("\1h\2");
      if (at == std::string::npos) continue;
      const std::string path = line.substr(at + 3, line.find_first_of("\1'", at + 3) - at - 3);
      all[path] += std::stoull(line.substr(count + 1));
    }
  }
  return all;
}

/// Random programs from a seed: without errors, and with one error at a time.
void random_programs(uint64_t seed, uint32_t ops) {
  app::RegressRequest r;
  r.kind = {"rtl", "rtl"};
  r.ops = ops;
  r.seed = seed;
  r.quiet = true;
  r.jobs = std::max(1U, std::thread::hardware_concurrency());
  r.config.set("build=stall", "test");
  r.config.set("stall_percent=20", "test");
  EXPECT_EQ(app::run_regression(r), app::kGood);
}

/// Requests with one doorbell. The first one fails by its key, or by the PCIe completion of its
/// payload read.
void wrong_with_others_behind(bool key, uint64_t seed) {
  in_child([=] {
    World w({.kind = {"rtl_stall", "model"}, .settings = {"stall_percent=5"}, .seed = seed});
    uint32_t rkey = 0;
    uint64_t to = 0;
    bool ready = false, done = false;
    w.run(
        [&](Host& h) {
          h.open();
          Region data = h.region(8192);
          Endpoint& e = h.endpoint();
          h.connect(e);
          h.until("the server", [&] { return ready; });
          if (!key)
            w.simulation().root_complex(kClient).add_fault({.status = spec::RdStatus::kPoisoned,
                                                            .nth = 1,
                                                            .probability = 0,
                                                            .from = data.buffer.bus(0),
                                                            .to = data.buffer.bus(0) + 4096,
                                                            .seen = 0});
          Sge from = data.sge(0, 512);
          if (key) from.lkey ^= 0x100;
          const Sge good = data.sge(4096, 64);
          std::vector<SendWr> wrs(6, {.sg_list = {&good, 1},
                                      .opcode = IBV_WR_RDMA_WRITE,
                                      .remote_addr = to,
                                      .rkey = rkey});
          wrs[0].sg_list = {&from, 1};
          const auto ids = e.post(wrs);
          h.until_complete(e, "the requests");
          EXPECT_EQ(e.wc(ids[0]).status, key ? IBV_WC_LOC_PROT_ERR : IBV_WC_FATAL_ERR);
          for (size_t k = 1; k < ids.size(); ++k)
            EXPECT_EQ(e.wc(ids[k]).status, IBV_WC_WR_FLUSH_ERR) << k;
          done = true;
        },
        [&](Host& h) {
          h.open();
          Region data = h.region(8192);
          Endpoint& e = h.endpoint();
          h.accept(e);
          rkey = data.mr.rkey(), to = data.mr.addr();
          ready = true;
          h.until("the client", [&] { return done; });
        });
  });
}

/// A Send with Invalidate while payload reads are in flight, so that `ddp` must hold its report.
/// Sends of its QP and of another one follow.
void invalidation_with_others_behind(uint64_t seed) {
  in_child([=] {
    World w({.kind = {"rtl_stall", "model"}, .settings = {"stall_percent=5"}, .seed = seed});
    constexpr unsigned kSends = 6;
    uint32_t key = 0, sink = 0;
    uint64_t sink_at = 0;
    bool ready = false, done = false, served = false;
    w.run(
        [&](Host& h) {
          h.open();
          Region data = h.region(65536);
          std::array<Endpoint*, 3> all{};
          for (Endpoint*& e : all) {
            h.connect(*(e = &h.endpoint()));
            (void)e->send(std::span<const Sge>{});
            for (unsigned i = 0; i <= kSends; ++i) (void)e->receive(data.sge(0, 16));
          }
          const Mr lent = must(all[0]->qp.reg_mr(data.buffer, IBV_ACCESS_LOCAL_WRITE |
                                                                  RNIC_ACCESS_REMOTE_INVALIDATE),
                               "a bound region");
          h.until("the server", [&] { return sink != 0; });
          for (unsigned i = 0; i < 8; ++i) (void)all[2]->write(data.sge(0, 30000), sink, sink_at);
          key = lent.rkey();
          ready = true;
          h.until("every Send", [&] {
            return all[0]->receives_outstanding() == 0 && all[1]->receives_outstanding() == 1;
          });
          done = true;
          h.until("the server's end", [&] { return served; });
        },
        [&](Host& h) {
          h.open();
          Region data = h.region(65536);
          std::array<Endpoint*, 3> all{};
          for (Endpoint*& e : all) {
            e = &h.endpoint();
            (void)e->receive(std::span<const Sge>{});
            h.accept(*e);
            h.until_complete(*e, "the greeting");
          }
          sink_at = data.mr.addr();
          sink = data.mr.rkey();
          h.until("the client", [&] { return ready; });
          (void)all[0]->post({{.opcode = IBV_WR_SEND_WITH_INV, .rkey = key}});
          for (unsigned i = 0; i < kSends; ++i)
            for (unsigned k = 0; k < 2; ++k) (void)all[k]->send(data.sge(0, 8));
          h.until("the client's end", [&] { return done; });
          served = true;
        });
  });
}

/// Three QPs on one SRQ: a message that never ends, a Send with Invalidate of an STag that does not
/// exist, and Sends that take receives back to back.
void shared_receives(uint64_t seed) {
  in_child([=] {
    World w(
        {.kind = {"model", "rtl_stall"}, .settings = {"mtu=576", "stall_percent=5"}, .seed = seed});
    constexpr uint32_t kReceives = 64, kBytes = 2048;
    unsigned left = 1;  // records of the silent QP that pass
    uint16_t silent = 0xffff;
    bool ready = false, done = false, sent = false;
    w.tap(kClient).on_tx = [&](sim::Record& r) {
      if (r.is_stream || r.connection != silent) return true;
      return left != 0 && left-- != 0;
    };
    w.run(
        [&](Host& h) {
          h.open();
          const Region data = h.region(kBytes);
          std::array<Endpoint*, 3> all{};
          for (Endpoint*& e : all) h.connect(*(e = &h.endpoint()));
          h.until("the server", [&] { return ready; });
          silent = all[0]->number();
          (void)all[0]->send(data.sge(0, kBytes));
          for (unsigned i = 0; i < kReceives / 2; ++i) (void)all[1]->send(data.sge(0, 64));
          (void)all[2]->post({{.opcode = IBV_WR_SEND_WITH_INV, .rkey = 0xabcd00}});
          EXPECT_EQ(h.event().peer_term, 0x0209);  // requirements 7, A-14
          h.until_complete(*all[1], "the Sends");
          sent = left == 0;
          h.until("the server's end", [&] { return done; });
        },
        [&](Host& h) {
          h.open();
          const Region data = h.region(kBytes);
          SharedReceives& srq = h.shared_receives({.max_wr = kReceives, .max_sge = 1});
          for (unsigned i = 0; i < kReceives; ++i) (void)srq.receive(data.sge(0, kBytes));
          std::array<Endpoint*, 3> all{};
          for (Endpoint*& e : all) h.accept(*(e = &h.endpoint(srq)));
          ready = true;
          h.until("the client", [&] { return sent; });
          must(all[0]->qp.modify(IBV_QPS_ERR), "modify_qp");
          for (Endpoint* e : {all[0], all[2]}) {
            h.until("a flushed receive", [&] { return !e->done.empty(); });
            EXPECT_EQ(e->done[0].status, IBV_WC_WR_FLUSH_ERR);
          }
          EXPECT_EQ(all[1]->done.size(), kReceives / 2);
          done = true;
        });
  });
}

TEST(CoverTest, ProgramsOnStallMeetEveryPoint) {
  const Folder folder;
  setenv("RNIC_COVERAGE_TO", (folder / "rtl").c_str(), 1);
  random_programs(40000, 500);
  random_programs(40022, 250);  // atomics that wait for host_if to store
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    wrong_with_others_behind(true, seed);
    wrong_with_others_behind(false, seed);
    invalidation_with_others_behind(seed);
    shared_receives(seed);
  }
  unsetenv("RNIC_COVERAGE_TO");
  const auto points = met(folder.path());
  EXPECT_GE(points.size(), 10U);
  // Not required here: rare coincidences inside unit atomic, which its bench reaches (tb/atomic).
  // Nor Barred_C, a take of a failed QP from an SRQ, for which Sends must follow the error: the
  // bench of qp reaches it (QpSrqTest.AFailedQpTakesNothingMore).
  const auto is_drawn = [](const std::string& name) {
    if (name.ends_with(".u_qp.u_rq_fetch.Barred_C")) return false;
    return name.find(".rnic.u_atomic.") == std::string::npos ||
           std::ranges::none_of(
               std::array{"FourEnd_C", "RspWaits_C", "DeadAsAccepted_C", "DroppedLocked_C",
                          "GrantAndWake_C", "RefusedInTurn_C", "DroppedEarly_C"},
               [&](const char* rare) { return name.ends_with(rare); });
  };
  for (const auto& [name, times] : points) {
    EXPECT_TRUE(times > 0U || !is_drawn(name)) << name;
    std::printf("%10llu %s\n", static_cast<unsigned long long>(times), name.c_str());
  }
}

}  // namespace
}  // namespace rnic::tb

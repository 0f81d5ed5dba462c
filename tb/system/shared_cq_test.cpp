// A completion queue that several threads of a host poll while another posts: each completion goes
// to one of them, in order, and the poster can use the room that they free.
#include <algorithm>

#include "world.hpp"

namespace rnic::tb {
namespace {

using namespace verbs;

class SharedCq : public testing::TestWithParam<Kinds> {};

TEST_P(SharedCq, TwoThreadsPollWhileAThirdPosts) {
  // A short quantum switches threads inside a poll, a long one lets them run far apart.
  for (const std::string quantum : {"quantum_ns=10", "quantum_ns=1000"}) {
    in_child([&] {
      World w({.kind = GetParam(), .settings = {quantum}});
      constexpr uint64_t kWrites = 300;
      struct Taken {
        uint64_t id;
        Time at;
        int thread;
      };
      std::vector<Taken> taken;
      Cq* shared = nullptr;
      bool over = false, ready = false, client_done = false;
      int left = 0;
      uint32_t key = 0;
      uint64_t address = 0;
      for (int t = 0; t < 2; ++t) {
        w.simulation().start(kClient, "poller" + std::to_string(t), [&, t](PciDevice& dev) {
          while (shared == nullptr) dev.relax();
          std::array<Wc, 3> wcs;
          while (!over) {
            const size_t n = must(shared->poll_cq(wcs), "poll_cq");
            for (size_t i = 0; i < n; ++i) {
              EXPECT_EQ(wcs[i].status, IBV_WC_SUCCESS);
              taken.push_back({wcs[i].wr_id, dev.now(), t});
            }
            if (t == 0) dev.before_doorbell();  // keeps the two pollers out of step
          }
          dev.before_shared();
          ++left;
        });
      }
      w.run(
          [&](Host& h) {
            h.open();
            Region data = h.region(4096);
            Cq cq = must(h.context.create_cq(64, 0, 0), "shared completion queue");
            Endpoint& e = h.endpoint(cq);
            h.connect(e);
            h.until("the server", [&] { return ready; });
            shared = &cq;
            uint64_t posted = 0;
            const Sge sge = data.sge(0, 64);
            while (posted < kWrites) {
              const auto r = e.qp.post_send({.wr_id = posted,
                                             .sg_list = {&sge, 1},
                                             .opcode = IBV_WR_RDMA_WRITE,
                                             .send_flags = IBV_SEND_SIGNALED,
                                             .remote_addr = address,
                                             .rkey = key});
              if (r) {
                ++posted;
              } else {
                ASSERT_EQ(r.error->code, Errc::kQueueFull) << r.error->what;
                h.dev.relax();
              }
            }
            h.until("all completions", [&] { return taken.size() >= kWrites; });
            over = true;
            h.until("the pollers", [&] { return left == 2; });
            must(e.connection.disconnect(), "disconnect");
            must(e.qp.destroy(), "destroy");
            client_done = true;
          },
          [&](Host& h) {
            h.open();
            Region data = h.region(4096);
            key = data.mr.rkey();
            address = data.mr.addr();
            Endpoint& e = h.endpoint();
            h.accept(e);
            ready = true;
            h.until("the client", [&] { return client_done; });
            h.follow_disconnect(e);
          });
      ASSERT_EQ(taken.size(), kWrites);
      for (uint64_t i = 0; i < kWrites; ++i) {
        ASSERT_EQ(taken[i].id, i);
        if (i != 0) {
          ASSERT_LE(taken[i - 1].at, taken[i].at);
        }
      }
      const auto of_first = std::ranges::count(taken, 0, &Taken::thread);
      EXPECT_GT(of_first, 10);
      EXPECT_LT(of_first, 290);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Pairings, SharedCq, testing::Values(kModel, kTandem), name_of_kinds);

}  // namespace
}  // namespace rnic::tb

// A word that many QPs change delays no other QP: a QP that only Reads keeps its rate beside 63
// QPs whose FetchAdds all wait for one address. RFC 7306 5.1; decision 12. tb/atomic checks that
// requests for other words pass those that wait.
#include <fmt/format.h>

#include "base/bytes.hpp"
#include "world.hpp"

namespace rnic::tb {
namespace {

using namespace verbs;

constexpr uint64_t kTarget = 0x10000000, kReadFrom = 4096;
constexpr uint32_t kAccess = Host::kAll | IBV_ACCESS_REMOTE_ATOMIC;
constexpr unsigned kReads = 320;  // of the QP that only Reads

class AtomicHot : public testing::TestWithParam<Kinds> {};

TEST_P(AtomicHot, DoesNotSlowAQpThatOnlyReads) {
  constexpr unsigned others = 63, under_way = 16;  // under_way: Reads outstanding at most
  constexpr unsigned adds = 8;                     // FetchAdds of each: they outlast the Reads
  in_child([&] {
    World w({.kind = GetParam()});
    uint32_t key = 0;
    uint64_t sum = 0;
    bool served = false, done = false;
    Time alone = 0, beside = 0;
    const QpCap cap{.max_send_wr = 32, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1};
    const ConnParam param{
        .responder_resources = under_way, .initiator_depth = under_way, .flush = true};
    w.run(
        [&](Host& h) {
          h.open(1024);
          Region sinks = h.region(8 * uint64_t{adds} * others);
          Region data = h.region(64 * under_way);
          Endpoint& reader = h.endpoint(cap);
          h.connect(reader, param);
          std::vector<Endpoint*> adders;
          for (unsigned i = 0; i < others; ++i) {
            adders.push_back(&h.endpoint(cap));
            h.connect(*adders.back(), param);
          }
          h.until("the server", [&] { return served; });
          // Time from completion number `under_way` to the last one: excludes the start-up.
          const auto measure = [&] {
            Time from = 0;
            const size_t before = reader.done.size();
            for (unsigned posted = 0; reader.done.size() - before < kReads; h.poll()) {
              const size_t completed = reader.done.size() - before;
              if (from == 0 && completed >= under_way) from = h.dev.now();
              if (posted == kReads || posted - completed > under_way - 4) continue;
              std::vector<SendWr> wrs;
              std::vector<Sge> sges;
              sges.reserve(4);
              for (unsigned i = 0; i < 4; ++i, ++posted) {
                sges.push_back(data.sge(64 * (posted % under_way), 64));
                wrs.push_back({.sg_list = {&sges.back(), 1},
                               .opcode = IBV_WR_RDMA_READ,
                               .remote_addr = kTarget + kReadFrom,
                               .rkey = key});
              }
              (void)reader.post(std::move(wrs));
            }
            return h.dev.now() - from;
          };
          alone = measure();
          for (unsigned i = 0; i < adds; ++i)
            for (unsigned k = 0; k < others; ++k)
              (void)adders[k]->fetch_add(sinks.sge(8 * (uint64_t{i} * others + k), 8), key, kTarget,
                                         1);
          beside = measure();
          unsigned waiting = 0;
          for (const Endpoint* e : adders) waiting += e->sends_outstanding() != 0 ? 1u : 0u;
          EXPECT_GE(waiting, others / 2)
              << "fewer than half of the QPs still had FetchAdds outstanding";
          for (Endpoint* e : adders) {
            h.until_complete(*e, "FetchAdds");
            for (const Wc& wc : e->done) EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
          }
          for (const Wc& wc : reader.done) EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
          done = true;
        },
        [&](Host& h) {
          h.open(1024);
          Region data = h.region(8192, kAccess, kTarget);
          key = data.mr.rkey();
          base::store_le(data.at(0), uint64_t{0});
          for (unsigned i = 0; i <= others; ++i) h.accept(h.endpoint(cap), param);
          served = true;
          h.until(
              "the client", [&] { return done; }, 10 * kMs);
          sum = base::load_le<uint64_t>(data.at(0));
        });
    if (testing::Test::HasFailure()) return;
    EXPECT_EQ(sum, uint64_t{adds} * others);
    const double share = static_cast<double>(alone) / static_cast<double>(beside);
    fmt::print("{} Reads alone {} ns, beside {} QPs on one word {} ns: {:.1f} % of its rate\n",
               kReads - under_way, alone / kNs, others, beside / kNs, 100 * share);
    EXPECT_GE(share, 0.95);
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, AtomicHot, testing::Values(kModel, kRtl), name_of_kinds);

}  // namespace
}  // namespace rnic::tb

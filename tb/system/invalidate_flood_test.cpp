// Revocation under load: on many QPs a peer floods a region with Writes and Reads, and continues
// after the region's STag was invalidated. Four methods of invalidation: the peer's Send with
// Invalidate, with and without SE, a local invalidation, dereg_mr. The owner overwrites a region
// that was reported as invalid. From then on no byte may be placed in it and no byte read from it.
// RFC 5040 sections 5.3, 8.1.1; R5040-5.3-15
#include <algorithm>

#include "world.hpp"

namespace rnic::tb {
namespace {

using namespace verbs;

constexpr uint64_t kAt = 0x10000000, kStep = 0x100000;
constexpr uint32_t kHalf = 16384;  // of a region: read by the peer; written by the peer
constexpr uint64_t kSource = 5, kWritten = 1, kSecret = 9, kSink = 7;  // patterns
constexpr uint32_t kLend = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                           IBV_ACCESS_REMOTE_READ | RNIC_ACCESS_REMOTE_INVALIDATE;

enum class Way : uint8_t { kSendInvalidate, kSendSeInvalidate, kLocal, kDeregister };
constexpr unsigned kWays = 4;

class InvalidateFloodTest : public testing::TestWithParam<Kinds> {
 protected:
  /// What both sides know of a QP.
  struct Lane {
    uint32_t key = 0;
    uint64_t flooded = 0;      // requests of the peer that have completed
    bool invalidates = false;  // the peer may send its Send with Invalidate
    bool reported = false;     // the owner knows that the STag is invalid
    bool ended = false;        // the QP has failed, and all requests of the peer are complete
  };
  static uint64_t at(size_t lane) { return kAt + lane * kStep; }
  static Way way(size_t lane) { return static_cast<Way>(lane % kWays); }
  static bool is_by_peer(size_t lane) { return lane % kWays < 2; }
};

TEST_P(InvalidateFloodTest, NothingMovesAfterTheReport) {
  in_child([this] {
    const bool is_small = GetParam()[0].find('_') != std::string::npos;
    const unsigned qps = is_small ? 6 : 16;
    World w({.kind = GetParam(),
             .settings = {"pcie_posted_hold_ns=1000", "pcie_relaxed=0.3", "pcie_reorder=0.3"}});
    std::vector<Lane> lanes(qps);
    bool ready = false, over = false, server_over = false;
    unsigned local_successes = 0;
    w.run(
        [&](Host& h) {
          h.open(1024);
          std::vector<Endpoint*> e;
          std::vector<Region> lent;
          const Region data = h.region(4096);
          for (unsigned i = 0; i < qps; ++i) {
            h.connect(*e.emplace_back(&h.endpoint()));
            (void)e[i]->send(std::span<const Sge>{});
            h.until_complete(*e[i], "the greeting");
            Region& r = lent.emplace_back();
            r.buffer = must(h.dev.alloc(2 * kHalf, MemoryKind::kScattered), "memory");
            fill(r.buffer.bytes(), kSource);
            r.mr = must(e[i]->qp.reg_mr_iova(r.buffer, 0, 2 * kHalf, at(i), kLend), "a region");
            if (is_by_peer(i)) (void)e[i]->receive(data.sge(0, 64));
            lanes[i].key = r.mr.rkey();
          }
          ready = true;
          h.until("the flood", [&] {
            return std::ranges::all_of(lanes, [](const Lane& l) { return l.flooded >= 4; });
          });
          const auto report = [&](unsigned i) {
            // Its contents are the owner's secret from now on.
            fill(lent[i].buffer.bytes(), kSecret);
            lanes[i].reported = true;
          };
          for (unsigned i = 0; i < qps; ++i) {
            if (is_by_peer(i)) lanes[i].invalidates = true;
            if (way(i) == Way::kLocal)
              (void)e[i]->post({{.opcode = IBV_WR_LOCAL_INV, .rkey = lanes[i].key}});
          }
          // Polls, and reports each QP whose STag is now known to be invalid.
          const auto look = [&] {
            h.poll();
            for (unsigned i = 0; i < qps; ++i) {
              if (lanes[i].reported || way(i) == Way::kDeregister || e[i]->outstanding() != 0)
                continue;
              const Wc& wc = e[i]->done.back();
              if (is_by_peer(i)) {
                EXPECT_EQ(wc.status, IBV_WC_SUCCESS) << "QP " << i;
                EXPECT_EQ(wc.invalidated_rkey, lanes[i].key) << "QP " << i;
              } else if (wc.status == IBV_WC_SUCCESS) {
                ++local_successes;
              } else {  // a Write after the close has ended the QP first
                EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR) << "QP " << i;
              }
              report(i);
            }
          };
          for (unsigned i = 0; i < qps; ++i) {
            look();
            if (way(i) != Way::kDeregister) continue;
            must(lent[i].mr.dereg(), "dereg");
            report(i);
          }
          h.until("all reports", [&] {
            look();
            return std::ranges::all_of(lanes, &Lane::reported);
          });
          h.until(
              "the flood's end", [&] { return server_over; }, 10 * kMs);
          h.rest(3 * kUs);
          for (unsigned i = 0; i < qps; ++i)
            EXPECT_EQ(wrong(lent[i].buffer.bytes(), kSecret), 0u)
                << "QP " << i << ": bytes placed after the report";
          over = true;
        },
        [&](Host& h) {
          h.open(1024);
          std::vector<Endpoint*> e;
          const Region from = h.region(2 * kHalf);
          fill(from.buffer.bytes(), kWritten);
          std::vector<Region> sinks;
          std::vector<uint64_t> turn(qps);
          std::vector<bool> sent(qps);
          for (unsigned i = 0; i < qps; ++i) {
            Endpoint& each = *e.emplace_back(&h.endpoint());
            (void)each.receive(std::span<const Sge>{});
            h.accept(each);
            h.until_complete(each, "the greeting");
            each.done.clear();
            fill(sinks.emplace_back(h.region(kHalf)).buffer.bytes(), kSink);
          }
          h.until("the client", [&] { return ready; });
          const auto flood = [&](unsigned i) {
            Lane& l = lanes[i];
            l.flooded = e[i]->done.size();
            if (std::ranges::any_of(e[i]->done,
                                    [](const Wc& wc) { return wc.status != IBV_WC_SUCCESS; })) {
              l.ended = e[i]->sends_outstanding() == 0;
              return;
            }
            if (e[i]->sends_outstanding() >= 6) return;
            if (l.invalidates && !sent[i]) {
              sent[i] = true;
              (void)e[i]->post(
                  {{.opcode = IBV_WR_SEND_WITH_INV,
                    .send_flags =
                        way(i) == Way::kSendSeInvalidate ? uint32_t{IBV_SEND_SOLICITED} : 0u,
                    .rkey = l.key}});
              return;
            }
            const uint64_t n = turn[i]++;
            const auto length = static_cast<uint32_t>(64 + (n * 2377 + i * 131) % 6000);
            const auto where = static_cast<uint32_t>((n * 4099 + i * 577) % (kHalf - length));
            if (n % 2 == 0)
              (void)e[i]->read(sinks[i].sge(where, length), l.key, at(i) + where);
            else
              (void)e[i]->write(from.sge(where, length), l.key, at(i) + kHalf + where);
          };
          h.until(
              "the end of the streams",
              [&] {
                for (unsigned i = 0; i < qps; ++i) flood(i);
                return std::ranges::all_of(lanes, &Lane::ended);
              },
              10 * kMs);
          // A sink has its own bytes and those that were read before the report.
          for (unsigned i = 0; i < qps; ++i) {
            uint64_t secrets = 0;
            for (uint32_t k = 0; k < kHalf; ++k)
              secrets +=
                  *sinks[i].at(k) != pattern(kSource, k) && *sinks[i].at(k) != pattern(kSink, k);
            EXPECT_EQ(secrets, 0u) << "QP " << i << ": bytes read after the report";
            EXPECT_NE(wrong(sinks[i].buffer.bytes(), kSink), 0u) << "QP " << i << " has read";
          }
          server_over = true;
          h.until("the client's end", [&] { return over; });
        });
    if (!is_small) {
      EXPECT_GT(local_successes, 0u);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, InvalidateFloodTest,
                         testing::Values(kRtl, kModel, kTandem, kTandemMinimum, kTandemStall),
                         name_of_kinds);

}  // namespace
}  // namespace rnic::tb

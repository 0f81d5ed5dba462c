// A half of a push is discarded with its QP. It does not ring for the next QP of that number, and
// it does not pair with that QP's first push.
#include <cstring>

#include "base/bytes.hpp"
#include "base/clock.hpp"
#include "gen/regs.hpp"
#include "world.hpp"

namespace rnic::tb {
namespace {

using namespace verbs;

constexpr uint32_t kInline = 64;  // with the header two units, 32 bytes in the second
constexpr auto kShortest =
    static_cast<Time>(512 * base::kPsPerCycle);  // minimum time that host_if keeps a half

class PushLife : public testing::TestWithParam<Kinds> {
 protected:
  /// The client writes one half of a push, destroys the QP and creates it again within the lifetime
  /// of that half. The new QP's first Send, pushed at once, must arrive as posted.
  void run(bool leaves_second) {
    in_child([=] {
      // A short path to the device: two admin commands take less than the lifetime of a half.
      World w({.kind = GetParam(), .settings = {"pcie_latency_ns=8", "poll_ns=1"}});
      bool done = false, sent = false;
      w.run(
          [&](Host& h) {
            h.open();
            // One half of a WQE of two units, which ends before index 2 of the ring.
            Bytes stale(64, 0xee);
            Endpoint& old = h.endpoint(Host::kCap, true);
            const uint32_t qpn = old.qp.qp_num(), page = old.qp.core()->ctx.page;
            const auto bell = spec::Doorbell{.object = qpn, .index = 2};
            if (leaves_second) {
              bell.pack(std::span(stale).last(spec::Doorbell::kBytes));
            } else {
              spec::SqWqe wqe;
              wqe.opcode = static_cast<uint8_t>(spec::WrOpcode::kSend);
              wqe.units = 2;
              wqe.ring = bell;
              wqe.pack(stale);
            }
            const Time left = h.dev.now();
            h.dev.write_combined(2, page * 4096 + spec::kPushOffset + (leaves_second ? 64 : 0),
                                 stale);
            must(old.qp.destroy(), "destroy");
            Endpoint& e = h.endpoint(Host::kCap, true);
            if (GetParam() != kTandemStall) {
              EXPECT_LT(h.dev.now() - left, kShortest) << "the half is too old to show anything";
            }
            EXPECT_EQ(e.qp.qp_num(), qpn);
            Bytes bytes(kInline);
            fill(bytes, 1);
            std::optional<uint64_t> id;
            const auto post = [&] {
              id = e.send({.addr = base::address_of(bytes.data()), .length = kInline, .lkey = 0},
                          IBV_SEND_INLINE);
            };
            if (leaves_second) {
              // The driver posts from RTS on, but connecting takes longer than the lifetime of a
              // half.
              e.qp.core()->state = IBV_QPS_RTS;
              post();
              e.qp.core()->state = IBV_QPS_INIT;
            } else {
              h.rest(3 * kShortest);  // a first half over age would count as a doorbell
            }
            h.connect(e);
            if (!id) post();
            h.until_complete(e, "Send");
            EXPECT_EQ(e.wc(*id).status, IBV_WC_SUCCESS);
            sent = true;
            h.until("the server", [&] { return done; });
            must(e.connection.disconnect(), "disconnect");
            EXPECT_TRUE(h.quiet());
          },
          [&](Host& h) {
            h.open();
            Region data = h.region(4096);
            Endpoint& e = h.endpoint();
            const uint64_t id = e.receive(data.sge(0, kInline));
            h.accept(e);
            h.until_complete(e, "the Send");
            EXPECT_EQ(e.wc(id).byte_len, kInline);
            EXPECT_EQ(wrong(data.buffer.bytes().first(kInline), 1), 0u) << "bytes of another life";
            h.until("the client", [&] { return sent; });
            done = true;
            h.follow_disconnect(e);
          });
    });
  }
};

TEST_P(PushLife, ASecondHalfIsNotTheNextOwners) { run(true); }
TEST_P(PushLife, AFirstHalfDoesNotRingForTheNextOwner) { run(false); }

INSTANTIATE_TEST_SUITE_P(Kinds, PushLife,
                         testing::Values(kModel, kModelMinimum, kTandem, kTandemMinimum,
                                         kTandemStall),
                         name_of_kinds);

}  // namespace
}  // namespace rnic::tb

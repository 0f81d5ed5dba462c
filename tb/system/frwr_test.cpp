// Fast registration from end to end: memory that the send queue registers is written and read by
// the peer, invalidated, and registered again. Also: refused registrations, and the state after a
// refusal. Decision 14; architecture 6.
#include <algorithm>

#include "base/bytes.hpp"
#include "gen/queues.hpp"
#include "key_test.hpp"

namespace rnic::tb {
namespace {

using namespace verbs;
using spec::Cause;

constexpr uint64_t kAt = 0x10000000;  // of the registered memory
constexpr uint32_t kPages = 4, kPage = 4096, kFirst = 0x123, kBytes = 2 * kPage + 1000;
constexpr uint32_t kWrite = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;

/// The client registers; the server uses the key that the client's Send carries.
class FrwrTest : public KeyTest {
 protected:
  /// A region of alloc_mr with memory for it, not aligned to a page.
  struct Fast {
    DmaBuffer buffer;
    Mr mr;
    std::span<uint8_t> bytes() const { return buffer.bytes().subspan(kFirst, kBytes); }
    /// Names the bytes that the next registration covers.
    void map() {
      const SgRange all{.buffer = buffer, .addr = kFirst, .length = kBytes};
      must(mr.map_mr_sg({&all, 1}, kPage, kAt), "map_mr_sg");
    }
    /// The registration under the key with these low 8 bits.
    SendWr reg(uint8_t low, uint32_t access = kWrite | RNIC_ACCESS_REMOTE_INVALIDATE) {
      must(mr.update_fast_reg_key(low), "update_fast_reg_key");
      return {.opcode = IBV_WR_REG_MR, .mr = &mr, .key = mr.rkey(), .access = access};
    }
  };
  static Fast fast(Host& h, Pd& pd) {
    Fast f;
    f.buffer = must(h.dev.alloc(kPages * kPage, MemoryKind::kScattered), "memory");
    f.mr = must(pd.alloc_mr(kPages - 1), "alloc_mr");
    fill(f.buffer.bytes(), 3);
    f.map();
    return f;
  }
  static Fast fast(Host& h) { return fast(h, h.pd); }
  static Endpoint& privileged(Host& h) { return h.endpoint(Host::kCap, false, true); }
};

/// One post: the registration, and the Send that carries the key. The peer writes all bytes and
/// invalidates the key; no other byte changes.
TEST_P(FrwrTest, RegistersAndIsWritten) {
  in_child([this] {
    World w({.kind = GetParam()});
    w.run(
        [&](Host& h) {
          h.open();
          Endpoint& e = privileged(h);
          const Region data = h.region(4096);
          Fast f = fast(h);
          greet(h, e);
          (void)e.receive(data.sge(64, 64));
          Sge sge;
          const SendWr reg = f.reg(0x5a);
          (void)e.post({reg, tell(data, sge, f.mr.rkey())});
          h.until_complete(e, "the key's return");
          expect_success(e);
          EXPECT_EQ(e.done.size(), 3u);
          EXPECT_EQ(e.done[0].opcode, IBV_WC_REG_MR);
          EXPECT_EQ(e.done[0].byte_len, 32u);
          EXPECT_EQ(e.done.back().wc_flags, uint32_t{IBV_WC_WITH_INV});
          EXPECT_EQ(e.done.back().invalidated_rkey, f.mr.rkey());
          EXPECT_EQ(wrong(f.bytes(), 1), 0u);
          EXPECT_EQ(wrong(f.buffer.bytes().first(kFirst), 3), 0u);
          const uint64_t end = kFirst + kBytes;
          EXPECT_EQ(wrong(f.buffer.bytes().subspan(end), 3, end), 0u);
          must(f.mr.dereg(), "dereg of a closed region");
          end_client(h, e);
        },
        [&](Host& h) {
          h.open();
          Endpoint& e = h.endpoint();
          const Region data = h.region(16384);
          fill({data.at(4096), kBytes}, 1);
          be_greeted(h, e, {data.sge(0, 4)});
          const uint32_t key = told(h, e, data);
          (void)e.write(data.sge(4096, kBytes), key, kAt);
          (void)e.post({send_inv(key)});
          h.until_complete(e, "the answer");
          expect_success(e);
          end_server(h, e);
        });
  });
}

/// The region is read by the peer, and by the client's Send after the registration in the same
/// post: the Send's local key is checked only when the registration is complete. The region is open
/// at the end: dereg closes it.
TEST_P(FrwrTest, RegistersAndIsRead) {
  in_child([this] {
    World w({.kind = GetParam()});
    w.run(
        [&](Host& h) {
          h.open();
          Endpoint& e = privileged(h);
          const Region data = h.region(4096);
          Fast f = fast(h);
          fill(f.bytes(), 6);
          greet(h, e);
          (void)e.receive(data.sge(64, 64));
          Sge sge;
          const SendWr reg = f.reg(0, IBV_ACCESS_REMOTE_READ);
          const Sge own{kAt + 5, kBytes - 5, f.mr.lkey()};
          (void)e.post({reg, tell(data, sge, f.mr.rkey()), {.sg_list = {&own, 1}}});
          h.until_complete(e, "the answer");
          expect_success(e);
          must(f.mr.dereg(), "dereg of an open region");
          end_client(h, e);
        },
        [&](Host& h) {
          h.open();
          Endpoint& e = h.endpoint();
          const Region data = h.region(65536);
          be_greeted(h, e, {data.sge(0, 4), data.sge(4096, kBytes)});
          h.until_complete(e, "two messages");
          EXPECT_EQ(wrong({data.at(4096), kBytes - 5}, 6, 5), 0u);
          const auto key = base::load_be<uint32_t>(data.at(0));
          (void)e.read(data.sge(32768, kBytes), key, kAt);
          (void)e.send(std::span<const Sge>{}, IBV_SEND_FENCE);
          h.until_complete(e, "the Read");
          expect_success(e);
          EXPECT_EQ(wrong({data.at(32768), kBytes}, 6), 0u);
          end_server(h, e);
        });
  });
}

/// 50 registrations of one region, each with another key; the low 8 bits wrap several times.
TEST_P(FrwrTest, ManyKeysInTurn) {
  in_child([this] {
    constexpr unsigned kRounds = 50;
    World w({.kind = GetParam()});
    w.run(
        [&](Host& h) {
          h.open();
          Endpoint& e = privileged(h);
          const Region data = h.region(4096);
          Fast f = fast(h);
          greet(h, e);
          for (unsigned i = 0; i < kRounds; ++i) {
            fill(f.buffer.bytes(), 3);
            f.map();
            (void)e.receive(data.sge(64, 64));
            Sge sge;
            const SendWr reg = f.reg(static_cast<uint8_t>(37 * i));
            (void)e.post({reg, tell(data, sge, f.mr.rkey())});
            h.until_complete(e, "the key's return");
            expect_success(e);
            EXPECT_EQ(e.done.back().invalidated_rkey, f.mr.rkey());
            EXPECT_EQ(wrong(f.bytes(), 100 + i), 0u) << "round " << i;
            e.done.clear();
          }
          must(f.mr.dereg(), "dereg");
          end_client(h, e);
        },
        [&](Host& h) {
          h.open();
          Endpoint& e = h.endpoint();
          const Region data = h.region(16384);
          be_greeted(h, e, {data.sge(0, 4)});
          for (unsigned i = 0; i < kRounds; ++i) {
            const uint32_t key = told(h, e, data);
            if (i + 1 < kRounds) (void)e.receive(data.sge(0, 4));
            fill({data.at(4096), kBytes}, 100 + i);
            (void)e.write(data.sge(4096, kBytes), key, kAt);
            (void)e.post({send_inv(key)});
            h.until("the answer", [&] { return e.sends_outstanding() == 0; });
          }
          expect_success(e);
          end_server(h, e);
        });
  });
}

/// One post invalidates the old key, registers the next one and sends it to the peer, without a
/// wait of the client in between. The registration waits until the entry has drained.
TEST_P(FrwrTest, InvalidatesAndRegistersInOnePost) {
  in_child([this] {
    constexpr unsigned kRounds = 8;
    World w({.kind = GetParam()});
    w.run(
        [&](Host& h) {
          h.open();
          Endpoint& e = privileged(h);
          const Region data = h.region(4096);
          Fast f = fast(h);
          greet(h, e);
          for (unsigned i = 0; i < kRounds; ++i) {
            (void)e.receive(data.sge(64, 64));
            Sge sge;
            const uint32_t old = f.mr.rkey();
            const SendWr reg = f.reg(static_cast<uint8_t>(i), kWrite);
            std::vector<SendWr> wrs{reg, tell(data, sge, f.mr.rkey())};
            if (i != 0) wrs.insert(wrs.begin(), local_inv(old));
            (void)e.post(wrs);
            h.until_complete(e, "the answer");
            expect_success(e);
            EXPECT_EQ(wrong(f.bytes(), 100 + i), 0u) << "round " << i;
          }
          must(f.mr.dereg(), "dereg");
          end_client(h, e);
        },
        [&](Host& h) {
          h.open();
          Endpoint& e = h.endpoint();
          const Region data = h.region(16384);
          be_greeted(h, e, {data.sge(0, 4)});
          for (unsigned i = 0; i < kRounds; ++i) {
            const uint32_t key = told(h, e, data);
            if (i + 1 < kRounds) (void)e.receive(data.sge(0, 4));
            fill({data.at(4096), kBytes}, 100 + i);
            (void)e.write(data.sge(4096, kBytes), key, kAt);
            (void)e.send(std::span<const Sge>{});
            h.until("the answer", [&] { return e.sends_outstanding() == 0; });
          }
          expect_success(e);
          end_server(h, e);
        });
  });
}

/// The key of an earlier registration does not reach the next one: Terminate 1/1/00.
TEST_P(FrwrTest, AnOldKeyIsGone) {
  in_child([this] {
    World w({.kind = GetParam()});
    w.run(
        [&](Host& h) {
          h.open();
          Endpoint& e = privileged(h);
          const Region data = h.region(4096);
          Fast f = fast(h);
          greet(h, e);
          Sge sge;
          SendWr reg = f.reg(1, kWrite);
          const uint32_t old = f.mr.rkey();
          (void)e.post({reg});
          h.until_complete(e, "the first registration");
          reg = f.reg(2, kWrite);
          (void)e.post({local_inv(old), reg, tell(data, sge, old)});
          EXPECT_EQ(h.event().cause, static_cast<uint32_t>(Cause::kDdpTaggedStag));
          h.until_complete(e, "the end");
          expect_success(e);
          EXPECT_EQ(wrong(f.buffer.bytes(), 3), 0u);
          must(f.mr.dereg(), "dereg of an open region");
          client_done = true;
          h.until("the server's end", [&] { return server_done; });
        },
        [&](Host& h) {
          h.open();
          Endpoint& e = h.endpoint();
          const Region data = h.region(4096);
          be_greeted(h, e, {data.sge(0, 4)});
          const uint32_t key = told(h, e, data);
          (void)e.write(data.sge(64, 64), key, kAt);
          const AsyncEvent event = h.event();
          EXPECT_EQ(event.cause, static_cast<uint32_t>(Cause::kPeerTerminate));
          EXPECT_EQ(event.peer_term, 0x1100);  // 1/1/00: the STag is invalid
          h.until_complete(e, "the end");
          server_done = true;
          h.until("the client's end", [&] { return client_done; });
        });
  });
}

/// Each of these fails its request and its QP, and changes nothing: afterwards another QP registers
/// the same region. The WQE is changed in the ring, since the driver refuses to post it; the device
/// fetches it a PCIe round trip later.
TEST_P(FrwrTest, RefusedRegistrations) {
  using Edit = std::function<void(spec::SqWqe&, spec::RegOperands&)>;
  using Op = spec::RegOperands;
  struct Case {
    const char* name;
    Edit edit;
  };
  uint32_t ordinary = 0, foreign = 0, shut = 0;
  const auto operand = [](auto change) { return [change](spec::SqWqe&, Op& o) { change(o); }; };
  const std::vector<Case> cases{
      {"a slot without an entry, or another generation", [](auto& w, Op&) { w.rkey ^= 0x100; }},
      {"not for registrations", [&](auto& w, Op&) { w.rkey = ordinary; }},
      {"of another PD", [&](auto& w, Op&) { w.rkey = foreign; }},
      {"open", [&](auto& w, Op&) { w.rkey = shut; }},
      {"pages of 2 KiB", operand([](Op& o) { o.log_page = 11, o.length = 100; })},
      {"pages of 4 MiB", operand([](Op& o) { o.log_page = 22, o.length = 100; })},
      {"no page", operand([](Op& o) { o.pages = 0; })},
      {"more pages than room", operand([](Op& o) { o.pages = kPages + 1; })},
      {"no byte", operand([](Op& o) { o.length = 0; })},
      {"2^48 bytes", operand([](Op& o) { o.length |= uint64_t{1} << 48; })},
      {"begins after its first page",
       operand([](Op& o) { o.first_offset = kPage, o.length = 100; })},
      {"longer than its pages", operand([](Op& o) { o.length = 3 * kPage - kFirst + 1; })},
      {"an unknown right", operand([](Op& o) { o.rights |= 0x20; })},
      {"memory windows and remote invalidation", operand([](Op& o) { o.rights |= 0x10; })},
      {"remote write without local write", operand([](Op& o) { o.rights = 2; })},
      {"reserved bits", operand([](Op& o) { o.reserved0 = uint64_t{1} << 39; })},
      {"a page that is not aligned", {}}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    ready = server_done = client_done = false;
    in_child([&] {
      World w({.kind = GetParam()});
      w.run(
          [&](Host& h) {
            h.open();
            Endpoint& e = privileged(h);
            Endpoint& other = privileged(h);
            Pd apart = must(h.context.alloc_pd(), "a PD");
            const Region data = h.region(4096);
            Fast f = fast(h), theirs = fast(h, apart), second = fast(h);
            ordinary = data.mr.rkey();
            foreign = theirs.mr.rkey();
            greet(h, e);
            greet(h, other);
            (void)other.post({second.reg(9)});
            h.until_complete(other, "a registration");
            shut = second.mr.rkey() ^ 1;
            ready = true;
            const SendWr reg = f.reg(7);
            if (!c.edit) f.mr.core()->list.data()[8] |= 1;
            (void)e.post({reg, {.opcode = IBV_WR_SEND}});
            if (c.edit) {
              QpCore& q = *e.qp.core();
              const uint32_t at = (q.sq_head - 2u) & ((1u << q.log_sq) - 1);
              const auto wqe = q.sq.bytes().subspan(size_t{at} * kUnit, kUnit);
              auto head = spec::SqWqe::unpack(wqe);
              auto operands = Op::unpack(wqe.subspan(kSendHeader));
              c.edit(head, operands);
              operands.pack(wqe.subspan(kSendHeader));
              head.pack(wqe);
            }
            EXPECT_EQ(h.event().cause, static_cast<uint32_t>(Cause::kLocalCatastrophic));
            h.until_complete(e, "the end");
            ASSERT_EQ(e.done.size(), 2u);
            EXPECT_EQ(e.done[0].status, IBV_WC_MW_BIND_ERR);
            EXPECT_EQ(e.done[0].opcode, IBV_WC_REG_MR);
            EXPECT_EQ(e.done[1].status, IBV_WC_WR_FLUSH_ERR);
            EXPECT_EQ(must(e.qp.query(), "query_qp").state, IBV_QPS_ERR);
            other.done.clear();
            f.map();
            const SendWr again = f.reg(8);
            (void)other.post({again, local_inv(f.mr.rkey())});
            h.until_complete(other, "the same region on another QP");
            EXPECT_EQ(other.done.size(), 2u);
            expect_success(other);
            (void)other.post({local_inv(second.mr.rkey())});
            h.until_complete(other, "the region that was open");
            expect_success(other);
            must(other.connection.disconnect(), "disconnect");
            client_done = true;
            h.until("the server's end", [&] { return server_done; });
          },
          [&](Host& h) {
            h.open();
            Endpoint& e = h.endpoint();
            be_greeted(h, e);
            Endpoint& other = h.endpoint();
            be_greeted(h, other);
            h.until("the client", [&] { return ready; });
            const AsyncEvent event = h.event();
            EXPECT_EQ(event.cause, static_cast<uint32_t>(Cause::kPeerTerminate));
            EXPECT_EQ(event.peer_term, 0);
            h.follow_disconnect(other);
            server_done = true;
            h.until("the client's end", [&] { return client_done; });
          });
    });
  }
}

/// Two QPs register one region at once: the first succeeds, the other fails. The region then has
/// the key of the first.
TEST_P(FrwrTest, OneOfTwoAtOnce) {
  in_child([this] {
    World w({.kind = GetParam()});
    w.run(
        [&](Host& h) {
          h.open();
          Endpoint& a = privileged(h);
          Endpoint& b = privileged(h);
          Fast f = fast(h);
          greet(h, a);
          greet(h, b);
          ready = true;
          (void)a.post({f.reg(1, kWrite)});
          (void)b.post({f.reg(2, kWrite)});
          (void)h.event();
          h.until("both", [&] { return a.outstanding() + b.outstanding() == 0; });
          ASSERT_EQ(a.done.size() + b.done.size(), 2u);
          const bool first = a.done[0].status == IBV_WC_SUCCESS;
          Endpoint& winner = first ? a : b;
          Endpoint& loser = first ? b : a;
          EXPECT_EQ(winner.done[0].status, IBV_WC_SUCCESS);
          EXPECT_EQ(loser.done[0].status, IBV_WC_MW_BIND_ERR);
          const uint32_t key = (f.mr.rkey() & ~uint32_t{0xff}) | (first ? 1 : 2);
          (void)winner.post({local_inv(key)});
          h.until_complete(winner, "the invalidation");
          expect_success(winner);
          must(f.mr.dereg(), "dereg");
          client_done = true;
          h.until("the server's end", [&] { return server_done; });
        },
        [&](Host& h) {
          h.open();
          Endpoint& a = h.endpoint();
          be_greeted(h, a);
          Endpoint& b = h.endpoint();
          be_greeted(h, b);
          h.until("the client", [&] { return ready; });
          (void)h.event();
          server_done = true;
          h.until("the client's end", [&] { return client_done; });
        });
  });
}

/// A QP without the privilege: the driver refuses the request, and so does the device.
TEST_P(FrwrTest, AnUnprivilegedQpMayNot) {
  in_child([this] {
    World w({.kind = GetParam()});
    w.run(
        [&](Host& h) {
          h.open();
          Endpoint& e = h.endpoint();
          Fast f = fast(h);
          greet(h, e);
          const SendWr reg = f.reg(7, kWrite);
          const auto refused = e.qp.post_send(reg);
          ASSERT_TRUE(refused.error.has_value());
          EXPECT_EQ(refused.error->code, Errc::kInvalidArgument);
          e.qp.core()->privileged = true;  // in the driver's record only
          ready = true;
          (void)e.post({reg, {.opcode = IBV_WR_SEND}});
          EXPECT_EQ(h.event().cause, static_cast<uint32_t>(Cause::kLocalCatastrophic));
          h.until_complete(e, "the end");
          ASSERT_EQ(e.done.size(), 2u);
          EXPECT_EQ(e.done[0].status, IBV_WC_LOC_QP_OP_ERR);
          EXPECT_EQ(e.done[0].opcode, IBV_WC_REG_MR);
          EXPECT_EQ(e.done[1].status, IBV_WC_WR_FLUSH_ERR);
          must(f.mr.dereg(), "dereg");
          client_done = true;
          h.until("the server's end", [&] { return server_done; });
        },
        [&](Host& h) {
          h.open();
          Endpoint& e = h.endpoint();
          be_greeted(h, e);
          h.until("the client", [&] { return ready; });
          (void)h.event();
          server_done = true;
          h.until("the client's end", [&] { return client_done; });
        });
  });
}

const auto kPairings =
    testing::Values(kModel, kTandem, kModelMinimum, kTandemMinimum, kTandemStall);
INSTANTIATE_TEST_SUITE_P(Kinds, FrwrTest, kPairings, name_of_kinds);

}  // namespace
}  // namespace rnic::tb

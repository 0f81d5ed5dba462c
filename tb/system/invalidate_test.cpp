// Send with Invalidate and local invalidation from end to end: bytes, completions, uses of
// invalidated keys, and keys that may not be invalidated. RFC 5040 sections 4.1, 5.3, 7.2, 8.1.1;
// ambiguity A-14.
#include <algorithm>

#include "base/bytes.hpp"
#include "world.hpp"

namespace rnic::tb {
namespace {

using namespace verbs;
using spec::Cause;

constexpr uint64_t kAt = 0x10000000;  // of the region that the client lends
constexpr uint32_t kBytes = 8192;
constexpr uint32_t kLend =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | RNIC_ACCESS_REMOTE_INVALIDATE;

/// The client owns the regions; the server uses and invalidates them.
class InvalidateTest : public testing::TestWithParam<Kinds> {
 protected:
  using Body = std::function<void(Host&, Endpoint&)>;
  bool ready = false, server_done = false, client_done = false;

  /// A region that only this QP's peer may use.
  static Region lend(Host& h, Endpoint& e, uint32_t access = kLend, uint64_t at = kAt) {
    Region r;
    r.buffer = must(h.dev.alloc(kBytes, MemoryKind::kScattered), "memory");
    fill(r.buffer.bytes(), 3);
    r.mr = must(e.qp.reg_mr_iova(r.buffer, 0, kBytes, at, access), "a bound region");
    return r;
  }
  static SendWr send_inv(uint32_t key, std::span<const Sge> from = {}, uint32_t flags = 0) {
    return {.sg_list = from, .opcode = IBV_WR_SEND_WITH_INV, .send_flags = flags, .rkey = key};
  }
  /// The passive side sends nothing before the first FPDU of the active side (RFC 5044 7.1.2).
  static void greet(Host& h, Endpoint& e) {
    h.connect(e);
    (void)e.send(std::span<const Sge>{});
    h.until_complete(e, "the greeting");
    e.done.clear();
  }
  static void be_greeted(Host& h, Endpoint& e) {
    (void)e.receive(std::span<const Sge>{});
    h.accept(e);
    h.until_complete(e, "the greeting");
    e.done.clear();
  }
  void client(Host& h, const Body& body) {
    h.open();
    Endpoint& e = h.endpoint();
    body(h, e);
    client_done = true;
    h.until("the server's end", [&] { return server_done; });
  }
  void server(Host& h, const Body& body) {
    h.open();
    Endpoint& e = h.endpoint();
    be_greeted(h, e);
    h.until("the client", [&] { return ready; });
    body(h, e);
    server_done = true;
    h.until("the client's end", [&] { return client_done; });
  }
};

/// Octets 2 to 5 of the header name the STag, in every segment. The receive completes after the
/// earlier Writes are placed, and its completion names the key. From then on the key is invalid.
/// R5040-4.1-03, R5040-5.3-15
TEST_P(InvalidateTest, WritesThenTheKeyIsGone) {
  in_child([this] {
    World w({.kind = GetParam(), .settings = {"mtu=576"}});
    uint32_t key = 0;
    bool checked = false;
    w.run(
        [&](Host& h) {
          client(h, [&](Host&, Endpoint& e) {
            const Region data = h.region(8192);
            greet(h, e);
            Region lent = lend(h, e);
            key = lent.mr.rkey();
            for (unsigned i = 0; i < 3; ++i) (void)e.receive(data.sge(2048 * i, 2048));
            ready = true;
            h.until("the first two", [&] { return e.done.size() >= 2; });
            EXPECT_EQ(e.done[0].wc_flags, 0u) << "a Send names no key";
            EXPECT_EQ(e.done[1].status, IBV_WC_SUCCESS);
            EXPECT_EQ(e.done[1].opcode, IBV_WC_RECV);
            EXPECT_EQ(e.done[1].wc_flags, uint32_t{IBV_WC_WITH_INV});
            EXPECT_EQ(e.done[1].invalidated_rkey, key);
            EXPECT_EQ(e.done[1].byte_len, 1500u);
            EXPECT_EQ(wrong({lent.at(0), 5000}, 1), 0u);
            EXPECT_EQ(wrong({lent.at(5000), kBytes - 5000}, 3, 5000), 0u);
            EXPECT_EQ(wrong({data.at(2048), 1500}, 1, 100), 0u);
            checked = true;  // the server writes once more through the key
            EXPECT_EQ(h.event().cause, static_cast<uint32_t>(Cause::kDdpTaggedStag));
            h.until_complete(e, "the flush");
            EXPECT_EQ(wrong({lent.at(5000), kBytes - 5000}, 3, 5000), 0u);
            must(lent.mr.dereg(), "dereg of a region that the peer has invalidated");
          });
        },
        [&](Host& h) {
          server(h, [&](Host&, Endpoint& e) {
            const Region data = h.region(8192);
            fill(data.buffer.bytes(), 1);
            const Sge from = data.sge(100, 1500);
            (void)e.write(data.sge(0, 5000), key, kAt);
            (void)e.send(data.sge(0, 10));
            (void)e.post({send_inv(key, {&from, 1}, IBV_SEND_SOLICITED)});
            h.until("the check", [&] { return checked; });
            (void)e.write(data.sge(0, 8), key, kAt + 6000);
            (void)h.event();
            h.until_complete(e, "the end");
          });
        });
    if (HasFailure()) return;
    std::vector<Bytes> inv;
    for (const auto& s : w.tap(kClient).taken) {
      const auto b = s.record.data.bytes();
      if (!s.record.is_stream && (b[2] & 0x80) == 0 && (b[3] & 0xf) == 6)
        inv.emplace_back(b.begin(), b.end());
    }
    ASSERT_EQ(inv.size(), 3u) << "1500 bytes in segments of 576";
    for (const Bytes& f : inv) EXPECT_EQ(base::load_be<uint32_t>(&f[4]), key);
  });
}

/// Keys that the peer may not invalidate: the device sends a Terminate and flushes the receive, and
/// the regions can still be deregistered.
/// R5040-5.3-16, R5040-7.2-04, R5040-8.1.1-01, R5040-8.1.1-07
TEST_P(InvalidateTest, KeysThatThePeerMayNotInvalidate) {
  struct Case {
    const char* name;
    uint8_t type;
    Cause cause;
    size_t key;  // index in `keys`
  };
  const std::vector<Case> cases{{"unknown", 2, Cause::kRdmapInvStag, 0},
                                {"shared by streams", 2, Cause::kRdmapInvStag, 1},
                                {"invalidated before", 2, Cause::kRdmapInvStag, 2},
                                {"of another stream", 1, Cause::kRdmapInvProtected, 3},
                                {"without the right", 1, Cause::kRdmapInvProtected, 4},
                                {"of another PD", 1, Cause::kRdmapInvProtected, 5}};
  // Each case runs with and without payload; with plain RTL, which is slow, with one of the two.
  const bool both = name_of(GetParam()).find("rtl") == std::string::npos;
  for (const Case& c : cases) {
    for (const bool with_payload : {true, false}) {
      if (!both && with_payload != (c.key % 2 == 0)) continue;
      SCOPED_TRACE(c.name);
      ready = server_done = client_done = false;
      in_child([&] {
        World w({.kind = GetParam()});
        std::array<uint32_t, 6> keys{};
        uint16_t number = 0;
        w.run(
            [&](Host& h) {
              client(h, [&](Host&, Endpoint& e) {
                const Region data = h.region(8192);
                Endpoint& other = h.endpoint();
                Pd foreign = must(h.context.alloc_pd(), "a PD");
                greet(h, e);
                number = e.number();
                std::vector<Region> all;
                all.push_back(lend(h, e));
                all.push_back(lend(h, other));
                all.push_back(lend(h, e, kLend & ~uint32_t{RNIC_ACCESS_REMOTE_INVALIDATE}));
                Qp apart = must(foreign.create_qp({.send_cq = &h.cq, .recv_cq = &h.cq}), "a QP");
                Region theirs;
                theirs.buffer = must(h.dev.alloc(kBytes, MemoryKind::kScattered), "memory");
                theirs.mr = must(apart.reg_mr(theirs.buffer, kLend), "a region of another PD");
                keys = {all[0].mr.rkey() ^ 0x100, data.mr.rkey(),   all[0].mr.rkey(),
                        all[1].mr.rkey(),         all[2].mr.rkey(), theirs.mr.rkey()};
                for (unsigned i = 0; i < 2; ++i) (void)e.receive(data.sge(64 * i, 64));
                ready = true;
                EXPECT_EQ(h.event().cause, static_cast<uint32_t>(c.cause));
                h.until_complete(e, "the flush");
                EXPECT_EQ(e.done.back().status, IBV_WC_WR_FLUSH_ERR) << "it is not delivered";
                for (Region& r : all) must(r.mr.dereg(), "dereg");
              });
            },
            [&](Host& h) {
              server(h, [&](Host&, Endpoint& e) {
                const Region data = h.region(4096);
                const Sge from = data.sge(0, 40);
                const std::span<const Sge> payload(&from, with_payload ? 1 : 0);
                if (c.key == 2) {
                  (void)e.post({send_inv(keys[2])});
                  h.rest(30 * kUs);  // until it is closed
                }
                (void)e.post({send_inv(keys[c.key], payload)});
                (void)h.event();
                h.until_complete(e, "the end");
              });
            });
        if (HasFailure()) return;
        const uint16_t length = with_payload ? 58 : 18;
        const uint32_t msn = c.key == 2 ? 2 : 1;
        const Bytes header = hex("4144") + be(keys[c.key], 4) + be(0, 4) + be(msn, 4) + be(0, 4);
        EXPECT_EQ(
            w.tap(kClient).fpdus(number).back(),
            fpdu(untagged(0x7, 2, 1) + be(c.type, 1) + hex("09c000") + be(length, 2) + header));
      });
    }
  }
}

/// Other QPs keep the device busy with Reads and Writes. The client overwrites a region when its
/// key is reported as invalidated: no byte of the peer is placed after that.
TEST_P(InvalidateTest, NothingIsPlacedAfterTheReport) {
  in_child([this] {
    constexpr unsigned kRounds = 12, kLoads = 2;
    World w({.kind = GetParam(), .settings = {"pcie_posted_hold_ns=1000", "pcie_relaxed=0.3"}});
    std::array<uint32_t, kLoads> load_keys{};
    uint32_t key = 0, round = 0;
    bool over = false;
    const auto load = [&](Host& h, std::vector<Endpoint*>& loads, const Region& d, bool reads) {
      for (size_t i = 0; i < loads.size(); ++i) {
        if (loads[i]->outstanding() >= 6) continue;
        if (reads)
          (void)loads[i]->read(d.sge(16384, 9000), load_keys[i], kAt + 0x100000);
        else
          (void)loads[i]->write(d.sge(0, 9000), load_keys[i], kAt + 0x104000);
      }
      h.poll();
    };
    w.run(
        [&](Host& h) {
          client(h, [&](Host&, Endpoint& e) {
            const Region data = h.region(65536, Host::kAll, kAt + 0x100000);
            load_keys.fill(data.mr.rkey());
            greet(h, e);
            std::vector<Endpoint*> loads;
            for (unsigned i = 0; i < kLoads; ++i) greet(h, *loads.emplace_back(&h.endpoint()));
            for (unsigned i = 0; i < kRounds; ++i) {
              Region lent = lend(h, e);
              (void)e.receive(data.sge(60000, 16));
              key = lent.mr.rkey();
              round = i + 1;
              ready = true;
              h.until("a key back", [&] { return e.receives_outstanding() == 0; });
              EXPECT_EQ(e.done.back().invalidated_rkey, key);
              EXPECT_EQ(wrong(lent.buffer.bytes(), 1), 0u) << "all of it was written";
              fill(lent.buffer.bytes(), 9);
              h.rest(3 * kUs);
              EXPECT_EQ(wrong(lent.buffer.bytes(), 9), 0u) << "written after the report";
              must(lent.mr.dereg(), "dereg");
            }
            over = true;
            h.until("the loads' end", [&] { return server_done; });
          });
        },
        [&](Host& h) {
          h.open();
          Endpoint& e = h.endpoint();
          be_greeted(h, e);
          std::vector<Endpoint*> loads;
          for (unsigned i = 0; i < kLoads; ++i) be_greeted(h, *loads.emplace_back(&h.endpoint()));
          const Region data = h.region(65536);
          fill({data.at(0), 16384}, 1);
          h.until("the client", [&] { return ready; });
          unsigned served = 0;
          while (!over) {
            load(h, loads, data, served % 2 == 0);
            if (served == round) continue;
            ++served;
            (void)e.write(data.sge(0, kBytes), key, kAt);
            (void)e.post({send_inv(key)});
          }
          for (Endpoint* l : loads) h.until_complete(*l, "the loads");
          h.until_complete(e, "the last");
          server_done = true;
          h.until("the client's end", [&] { return client_done; });
        });
  });
}

/// A local invalidation completes, with a fence after an earlier Read. From then on the peer cannot
/// write through the key.
TEST_P(InvalidateTest, OfOurOwnKeys) {
  in_child([this] {
    World w({.kind = GetParam()});
    uint32_t key = 0, sink_key = 0;
    uint64_t sink = 0;
    bool gone = false;
    w.run(
        [&](Host& h) {
          client(h, [&](Host&, Endpoint& e) {
            greet(h, e);
            h.until("the server's memory", [&] { return sink_key != 0; });
            Region shared = h.region(8192, Host::kAll, kAt);
            Region lent = lend(h, e, kLend, kAt + 0x10000);
            fill(shared.buffer.bytes(), 5);
            // The fence: the Read into the region is placed before the key is closed.
            (void)e.read(shared.sge(0, 4000), sink_key, sink);
            (void)e.post({{.opcode = IBV_WR_LOCAL_INV,
                           .send_flags = IBV_SEND_FENCE,
                           .rkey = shared.mr.rkey()},
                          {.opcode = IBV_WR_LOCAL_INV, .rkey = lent.mr.rkey()}});
            h.until_complete(e, "three");
            ASSERT_EQ(e.done.size(), 3u);
            for (const Wc& wc : e.done) EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
            EXPECT_EQ(e.done[1].opcode, IBV_WC_LOCAL_INV);
            EXPECT_EQ(wrong({shared.at(0), 4000}, 8), 0u);
            fill(shared.buffer.bytes(), 5);
            key = shared.mr.rkey();
            ready = true;
            EXPECT_EQ(h.event().cause, static_cast<uint32_t>(Cause::kDdpTaggedStag));
            EXPECT_EQ(wrong(shared.buffer.bytes(), 5), 0u);
            must(shared.mr.dereg(), "dereg");
            must(lent.mr.dereg(), "dereg");
            gone = true;
          });
        },
        [&](Host& h) {
          h.open();
          Endpoint& e = h.endpoint();
          be_greeted(h, e);
          const Region data = h.region(8192);
          fill(data.buffer.bytes(), 8);
          sink = data.mr.addr();
          sink_key = data.mr.rkey();
          h.until("the client", [&] { return ready; });
          (void)e.write(data.sge(0, 64), key, kAt);
          (void)h.event();
          h.until_complete(e, "the end");
          server_done = true;
          h.until("the client's end", [&] { return client_done; });
        });
  });
}

/// A key that does not exist, is of another PD, is bound to another QP, or was invalidated before:
/// its request fails with a local protection error, which ends the QP. Another QP continues.
TEST_P(InvalidateTest, KeysThatWeMayNotInvalidate) {
  for (size_t which = 0; which < 4; ++which) {
    SCOPED_TRACE(which);
    ready = server_done = client_done = false;
    in_child([&] {
      World w({.kind = GetParam()});
      w.run(
          [&](Host& h) {
            client(h, [&](Host&, Endpoint& e) {
              greet(h, e);
              Endpoint& other = h.endpoint();
              greet(h, other);
              Pd foreign = must(h.context.alloc_pd(), "a PD");
              const Region theirs = h.region_of(foreign, 4096);
              Region bound = lend(h, other), own = lend(h, e, kLend, kAt + 0x10000);
              const std::array keys{own.mr.rkey() ^ 0x100, theirs.mr.rkey(), bound.mr.rkey(),
                                    own.mr.rkey()};
              ready = true;
              const auto inv = [](uint32_t k) {
                return SendWr{.opcode = IBV_WR_LOCAL_INV, .rkey = k};
              };
              if (which == 3) {
                (void)e.post({inv(keys[3])});
                h.until_complete(e, "the first");
                e.done.clear();
              }
              (void)e.post({inv(keys[which]), inv(own.mr.rkey())});
              h.until_complete(e, "the end");
              ASSERT_EQ(e.done.size(), 2u);
              EXPECT_EQ(e.done[0].status, IBV_WC_LOC_PROT_ERR);
              EXPECT_EQ(e.done[0].opcode, IBV_WC_LOCAL_INV);
              EXPECT_EQ(e.done[1].status, IBV_WC_WR_FLUSH_ERR);
              (void)h.event();
              (void)other.post({inv(bound.mr.rkey())});  // still open, and of this QP
              h.until_complete(other, "the other's");
              EXPECT_EQ(other.done.back().status, IBV_WC_SUCCESS);
              must(other.connection.disconnect(), "disconnect");
            });
          },
          [&](Host& h) {
            h.open();
            Endpoint& e = h.endpoint();
            be_greeted(h, e);
            Endpoint& other = h.endpoint();
            be_greeted(h, other);
            h.until("the client", [&] { return ready; });
            (void)h.event();
            h.follow_disconnect(other);
            server_done = true;
            h.until("the client's end", [&] { return client_done; });
          });
    });
  }
}

/// The driver refuses a region with remote invalidation that has no QP, or a destroyed one. A QP
/// that has a region can be destroyed.
TEST_P(InvalidateTest, RegionsOfAQp) {
  in_child([this] {
    World w({.kind = GetParam()});
    w.run(
        [&](Host& h) {
          h.open();
          Endpoint& e = h.endpoint();
          const Region r = lend(h, e);
          const auto refused = h.pd.reg_mr(r.buffer, kLend);
          ASSERT_FALSE(refused);
          EXPECT_EQ(refused.error().code, Errc::kInvalidArgument);
          must(e.qp.destroy(), "destroy");
          EXPECT_FALSE(e.qp.reg_mr(r.buffer, kLend)) << "of a destroyed QP";
        },
        [](Host&) {});
  });
}

const auto kPairings = testing::Values(kModel, kTandem, kModelMinimum, kTandemMinimum, kTandemStall,
                                       Kinds{"model", "rtl"}, Kinds{"rtl", "model"});
/// Many local invalidations while the peer invalidates as many keys as the device holds, and
/// writes: neither may keep the other, or received Writes, from ending.
TEST_P(InvalidateTest, OursAndThePeersAtOnce) {
  in_child([this] {
    World w({.kind = GetParam(), .settings = {"pcie_latency_ns=800"}});
    constexpr verbs::QpCap kMany{.max_send_wr = 64, .max_recv_wr = 64};
    enum { kOut, kInvalidated, kWritten, kOurs, kOurs2, kQps };
    std::vector<uint32_t> keys;
    uint32_t client_key = 0, server_key = 0;
    uint64_t client_at = 0, server_at = 0;
    const auto connected = [](Host& h, bool is_client) {
      std::vector<Endpoint*> q;
      for (unsigned i = 0; i < kQps; ++i) {
        q.push_back(&h.endpoint(kMany));
        is_client ? greet(h, *q.back()) : be_greeted(h, *q.back());
      }
      return q;
    };
    const auto expect_success = [](const std::vector<Endpoint*>& q) {
      for (const Endpoint* e : q)
        for (const Wc& wc : e->done) EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
    };
    w.run(
        [&](Host& h) {
          h.open(1024);
          const Region data = h.region(1 << 16), small = h.region(64);
          client_key = data.mr.rkey(), client_at = data.mr.addr();
          const auto q = connected(h, true);
          const uint32_t room = h.context.query_device().max_mr - 8;
          std::vector<Mr> lent, own;
          for (unsigned i = 0; i < std::min(24u, room / 4); ++i) {
            lent.push_back(
                must(q[kInvalidated]->qp.reg_mr(
                         small.buffer, IBV_ACCESS_LOCAL_WRITE | RNIC_ACCESS_REMOTE_INVALIDATE),
                     "a bound region"));
            keys.push_back(lent.back().rkey());
            (void)q[kInvalidated]->receive(std::span<const Sge>{});
          }
          std::array<std::vector<SendWr>, 2> wrs;
          for (unsigned i = 0; i < std::min(80u, room / 2); ++i) {
            own.push_back(must(h.pd.reg_mr(small.buffer, IBV_ACCESS_LOCAL_WRITE), "a region"));
            wrs[i % 2].push_back({.opcode = IBV_WR_LOCAL_INV, .rkey = own.back().rkey()});
          }
          h.until("the server", [&] { return server_key != 0; });
          ready = true;
          for (unsigned i = 0; i < 3; ++i)
            (void)q[kOut]->write(data.sge(0, 60000), server_key, server_at);
          (void)q[kOurs]->post(wrs[0]);
          (void)q[kOurs2]->post(wrs[1]);
          h.until("all", [&] {
            return std::ranges::all_of(q, [](const Endpoint* e) { return e->outstanding() == 0; });
          });
          expect_success(q);
          client_done = true;
          h.until("the server's end", [&] { return server_done; });
        },
        [&](Host& h) {
          h.open();
          const Region data = h.region(1 << 16);
          const auto q = connected(h, false);
          server_at = data.mr.addr(), server_key = data.mr.rkey();
          h.until("the client", [&] { return ready; });
          h.rest(2 * kUs);
          std::vector<SendWr> sends, writes;
          const Sge from = data.sge(0, 64);
          for (const uint32_t key : keys) sends.push_back(send_inv(key));
          for (unsigned i = 0; i < 60; ++i)
            writes.push_back({.sg_list = {&from, 1},
                              .opcode = IBV_WR_RDMA_WRITE,
                              .remote_addr = client_at,
                              .rkey = client_key});
          (void)q[kInvalidated]->post(sends);
          (void)q[kWritten]->post(writes);
          h.until("all", [&] {
            return std::ranges::all_of(q, [](const Endpoint* e) { return e->outstanding() == 0; });
          });
          expect_success(q);
          server_done = true;
          h.until("the client's end", [&] { return client_done; });
        });
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, InvalidateTest, kPairings, name_of_kinds);

}  // namespace
}  // namespace rnic::tb

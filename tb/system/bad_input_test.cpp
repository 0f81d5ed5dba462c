// Forbidden actions of a host, and memory that cannot be read: each has its defined outcome
// (theory-of-operation.md), and the device continues. R5040-7.1-01, 02, 8.1.1-01, 03.
#include "gen/regs.hpp"
#include "world.hpp"

namespace rnic::tb {
namespace {

using namespace verbs;
using spec::Cause;

constexpr uint64_t kTarget = 0x10000000;

struct Shared {
  uint32_t open = 0;
  bool ready = false, done = false;
};

/// The failure as one side observes it.
struct Seen {
  Cause cause{};
  uint16_t peer_term = 0;
  Bytes terminate;  // the last FPDU that this side sent
};

class BadInput : public testing::TestWithParam<Kinds> {
 protected:
  /// A connection with a good Send first. Then the client's steps leave requests outstanding. Both
  /// sides reach the error state, all requests complete, a second connection continues.
  using Step = std::function<void(Host&, Endpoint&, Region&)>;
  struct Plan {
    Step client, client_after;  // client posts its requests; client_after checks their statuses
    Step server = [](Host&, Endpoint&, Region&) {};
    Step server_after = [](Host&, Endpoint&, Region&) {};
    Step before_receives = [](Host&, Endpoint&, Region&) {};
  };
  void run(const Plan& plan) {
    World w({.kind = GetParam()});
    const auto end = [&](Host& h, Endpoint& e, Endpoint& other, Region& r, Side side) {
      const AsyncEvent event = h.event();
      EXPECT_EQ(event.object, e.qp.qp_num());
      seen[side].cause = static_cast<Cause>(event.cause);
      seen[side].peer_term = event.peer_term;
      h.until_complete(e, "completions");
      const auto fpdus = h.world.tap(side).fpdus(e.number());
      if (!fpdus.empty()) seen[side].terminate = fpdus.back();
      if (side == kClient) {
        const uint64_t id = other.send(r.sge(0, 40));
        h.until_complete(other, "the neighbour's Send");
        EXPECT_EQ(other.wc(id).status, IBV_WC_SUCCESS);
      } else {
        h.until_complete(other, "the neighbour's receive");
      }
    };
    w.run(
        [&](Host& h) {
          h.open();
          Region data = h.region(8192);
          fill(data.buffer.bytes(), 1);
          Endpoint& e = h.endpoint();
          Endpoint& other = h.endpoint();
          h.connect(e);
          h.connect(other);
          h.until("the server", [&] { return shared.ready; });
          const uint64_t greeting = e.send(data.sge(0, 16));
          h.until_complete(e, "the greeting");
          EXPECT_EQ(e.wc(greeting).status, IBV_WC_SUCCESS);
          plan.client(h, e, data);
          end(h, e, other, data, kClient);
          plan.client_after(h, e, data);
          shared.done = true;
        },
        [&](Host& h) {
          h.open();
          Region data = h.region(8192, Host::kAll, kTarget);
          shared.open = data.mr.rkey();
          Endpoint& e = h.endpoint();
          Endpoint& other = h.endpoint();
          const uint64_t greeting = e.receive(data.sge(4096, 64));
          (void)other.receive(data.sge(4160, 64));
          h.accept(e);
          h.accept(other);
          plan.before_receives(h, e, data);
          shared.ready = true;
          h.until("the greeting", [&] { return e.completed(greeting); });
          plan.server(h, e, data);
          end(h, e, other, data, kServer);
          plan.server_after(h, e, data);
          h.until("the client's end", [&] { return shared.done; });
        });
  }
  /// Terminate 0/0/00 has no headers.
  static Bytes catastrophic() { return fpdu(untagged(0x7, 2, 1) + hex("00000000")); }
  /// The next read of the first page of this memory fails with this status; always: each one does.
  static void spoil(Host& h, const DmaBuffer& b, spec::RdStatus status, bool always = false) {
    h.world.simulation().root_complex(h.side).add_fault(
        {.status = status,
         .nth = 1,
         .probability = always ? 1.0 : 0.0,
         .from = b.bus(0),
         .to = b.bus(0) + std::min<uint64_t>(b.size(), 4096),
         .seen = 0});
  }
  Shared shared;
  std::array<Seen, 2> seen;
  uint64_t bad = 0, behind = 0;
};

TEST_P(BadInput, KeyThatPointsNowhere) {
  in_child([this] {
    run({.client =
             [this](Host&, Endpoint& e, Region& r) {
               bad = e.write({r.mr.addr(), 64, r.mr.lkey() ^ 0x100}, shared.open, kTarget);
               behind = e.send(r.sge(0, 8));
             },
         .client_after =
             [this](Host&, Endpoint& e, Region&) {
               EXPECT_EQ(e.wc(bad).status, IBV_WC_LOC_PROT_ERR);
               EXPECT_EQ(e.wc(behind).status, IBV_WC_WR_FLUSH_ERR);
             }});
    EXPECT_EQ(seen[kClient].cause, Cause::kLocalCatastrophic);
    EXPECT_EQ(seen[kServer].cause, Cause::kPeerTerminate);
    EXPECT_EQ(seen[kServer].peer_term, 0x0000);
    EXPECT_EQ(seen[kClient].terminate, catastrophic());
  });
}

TEST_P(BadInput, KeyOfASmallerRegion) {
  in_child([this] {
    run({.client =
             [this](Host&, Endpoint& e, Region& r) {
               bad = e.send(Sge{r.mr.addr() + r.mr.length() - 8, 9, r.mr.lkey()});
               behind = e.read(r.sge(0, 8), shared.open, kTarget);
             },
         .client_after =
             [this](Host&, Endpoint& e, Region&) {
               EXPECT_EQ(e.wc(bad).status, IBV_WC_LOC_PROT_ERR);
               EXPECT_EQ(e.wc(behind).status, IBV_WC_WR_FLUSH_ERR);
             }});
    EXPECT_EQ(seen[kClient].terminate, catastrophic());
  });
}

TEST_P(BadInput, WqeOfRandomBytes) {
  in_child([this] {
    run({.client =
             [this](Host& h, Endpoint& e, Region& r) {
               // A WQE that no driver writes overwrites the next one between post and fetch.
               auto& q = *e.qp.core();
               const uint32_t unit = q.sq_head & ((1u << q.log_sq) - 1);
               base::Rng rng(h.world.seed());
               const auto keep = h.dev.now();
               bad = e.send(r.sge(0, 8));
               EXPECT_LT(h.dev.now() - keep, 200 * kNs);
               auto bytes = q.sq.bytes().subspan(size_t{unit} * 64, 64);
               rng.fill(bytes);
               bytes[2] = static_cast<uint8_t>(bytes[2] & 0xf0) | 9;  // one unit, a reserved bit
               behind = e.send(r.sge(0, 8));
             },
         .client_after =
             [this](Host&, Endpoint& e, Region&) {
               EXPECT_EQ(e.wc(bad).status, IBV_WC_LOC_QP_OP_ERR);
               EXPECT_EQ(e.wc(behind).status, IBV_WC_WR_FLUSH_ERR);
             }});
    EXPECT_EQ(seen[kClient].cause, Cause::kLocalCatastrophic);
    EXPECT_EQ(seen[kClient].terminate, catastrophic());
  });
}

/// Send-queue fetch: its first WQE completes with fatal_err.
TEST_P(BadInput, SqFetchPoisoned) {
  in_child([this] {
    run({.client =
             [this](Host& h, Endpoint& e, Region& r) {
               spoil(h, e.qp.core()->sq, spec::RdStatus::kPoisoned);
               bad = e.send(r.sge(0, 8));
               behind = e.send(r.sge(0, 8));
             },
         .client_after =
             [this](Host&, Endpoint& e, Region&) {
               EXPECT_EQ(e.wc(bad).status, IBV_WC_FATAL_ERR);
               EXPECT_EQ(e.wc(behind).status, IBV_WC_WR_FLUSH_ERR);
             }});
    EXPECT_EQ(seen[kClient].cause, Cause::kLocalCatastrophic);
    EXPECT_EQ(seen[kClient].terminate, catastrophic());
  });
}

/// Payload of a Write: fatal_err, and no byte of the bad segment is sent.
TEST_P(BadInput, PayloadOfWriteAborted) {
  in_child([this] {
    run({.client =
             [this](Host& h, Endpoint& e, Region& r) {
               spoil(h, r.buffer, spec::RdStatus::kAborted);
               bad = e.write(r.sge(0, 1000), shared.open, kTarget);
               behind = e.send(r.sge(4096, 8));
             },
         .client_after =
             [this](Host&, Endpoint& e, Region&) {
               EXPECT_EQ(e.wc(bad).status, IBV_WC_FATAL_ERR);
               EXPECT_EQ(e.wc(behind).status, IBV_WC_WR_FLUSH_ERR);
             },
         .server_after =
             [](Host&, Endpoint&, Region& r) {
               for (const uint8_t b : r.buffer.bytes().first(1000)) ASSERT_EQ(b, 0);
             }});
    EXPECT_EQ(seen[kClient].cause, Cause::kLocalCatastrophic);
    EXPECT_EQ(seen[kClient].terminate, catastrophic());
  });
}

/// Payload of a Read Response: Terminate 0/2/07 with the request's DDP header.
TEST_P(BadInput, PayloadOfReadResponsePoisoned) {
  in_child([this] {
    run({.client =
             [this](Host&, Endpoint& e, Region& r) {
               bad = e.read(r.sge(0, 500), shared.open, kTarget);
               behind = e.send(r.sge(4096, 8));
             },
         .client_after =
             [this](Host&, Endpoint& e, Region& r) {
               EXPECT_NE(e.wc(bad).status, IBV_WC_SUCCESS);
               EXPECT_EQ(e.wc(behind).status, IBV_WC_WR_FLUSH_ERR);
               EXPECT_EQ(wrong(r.buffer.bytes(), 1), 0u);
             },
         .before_receives =
             [](Host& h, Endpoint& e, Region& r) {
               spoil(h, r.buffer, spec::RdStatus::kPoisoned);
               (void)e.receive(r.sge(4224, 64));
             }});
    EXPECT_EQ(seen[kServer].cause, Cause::kRdmapLength);
    EXPECT_EQ(seen[kClient].cause, Cause::kPeerTerminate);
    EXPECT_EQ(seen[kClient].peer_term, 0x0207);
    EXPECT_EQ(seen[kServer].terminate,
              fpdu(untagged(0x7, 2, 1) + hex("0207c000 002e") + untagged(0x1, 1, 1)));
  });
}

/// A receive that cannot be fetched is a local error (0/0/00), and completes with fatal_err.
TEST_P(BadInput, RqFetchPoisoned) {
  in_child([this] {
    run({.client =
             [this](Host& h, Endpoint& e, Region& r) {
               h.rest(5 * kUs);
               bad = e.send(r.sge(0, 8));
               behind = e.read(r.sge(0, 8), shared.open, kTarget);
             },
         .client_after =
             [this](Host&, Endpoint& e, Region&) {
               EXPECT_EQ(e.wc(bad).status, IBV_WC_SUCCESS);
               EXPECT_EQ(e.wc(behind).status, IBV_WC_WR_FLUSH_ERR);
             },
         .server =
             [](Host& h, Endpoint& e, Region& r) {
               spoil(h, e.qp.core()->rq, spec::RdStatus::kPoisoned, true);
               (void)e.receive(r.sge(4224, 64));
             },
         .server_after = [](Host&, Endpoint& e,
                            Region&) { EXPECT_EQ(e.done.back().status, IBV_WC_FATAL_ERR); }});
    EXPECT_EQ(seen[kServer].cause, Cause::kLocalCatastrophic);
    EXPECT_EQ(seen[kClient].peer_term, 0x0000);
  });
}

/// The admin ring: the device reports fatal and accepts no further command.
TEST_P(BadInput, AdminRingPoisoned) {
  in_child([this] {
    World w({.kind = GetParam()});
    w.run(
        [&](Host& h) {
          ManagerSettings impatient;
          impatient.admin_timeout = 100 * kUs;
          auto first = must(Manager::open(h.dev, impatient), "manager");
          h.world.simulation().root_complex(h.side).add_fault({.status = spec::RdStatus::kPoisoned,
                                                               .nth = 1,
                                                               .probability = 0,
                                                               .from = 0,
                                                               .to = UINT64_MAX,
                                                               .seen = 0});
          const auto rsp = first->execute(h.dev, spec::AdminOpcode::kNop, 0);
          ASSERT_FALSE(rsp);
          EXPECT_NE(rsp.error().what.find("reports a fatal error"), std::string::npos)
              << rsp.error().what;
          EXPECT_TRUE((h.dev.read32(0, spec::kDevStatusOffset) & spec::kDevStatusFatalMask) != 0);
          EXPECT_EQ(h.dev.read64(0, spec::kDmaErrorsOffset), 1u);
          h.dev.reset();  // only a reset recovers
          ManagerSettings again;
          auto manager = must(Manager::open(h.dev, again), "after reset");
          EXPECT_TRUE(manager->execute(h.dev, spec::AdminOpcode::kNop, 0));
        },
        [](Host&) {});
  });
}

/// Doorbells of another page, of absent objects, with an index too far ahead, or at a reserved
/// offset: counted as dropped, without effect.
TEST_P(BadInput, DoorbellOfAnotherPage) {
  in_child([this] {
    World w({.kind = GetParam()});
    bool accepted = false, done = false;
    w.run(
        [&](Host& h) {
          h.open();
          Region data = h.region(4096);
          fill(data.buffer.bytes(), 1);
          Endpoint& e = h.endpoint();
          h.connect(e);
          h.until("the server", [&] { return accepted; });
          auto& q = *e.qp.core();
          auto stranger = must(Context::open(h.dev, *h.manager), "second context");
          const auto dropped = [&] { return h.dev.read64(0, spec::kDoorbellsDroppedOffset); };
          const uint64_t before = dropped();
          const uint32_t mine = q.ctx.page * kPageBytes;
          const uint32_t foreign = stranger.core()->page * kPageBytes;
          const auto index = static_cast<uint32_t>(q.sq_head + 1);
          const auto reads = [&] {
            uint64_t n = 0;
            for (const uint64_t r : w.simulation().root_complex(kClient).counters().reads) n += r;
            return n;
          };
          const uint64_t reads_before = reads();
          // Offsets in a doorbell page: 0x00 SQ, 0x08 RQ, 0x10 and 0x18 CQ.
          h.dev.write64(2, foreign + 0x00, doorbell_value(q.qpn, 0, index));
          h.dev.write64(2, foreign + 0x08, doorbell_value(q.qpn, 0, q.rq_head + 1u));
          h.dev.write64(2, foreign + 0x10, doorbell_value(h.cq.number(), 0, 1));
          h.dev.write64(2, foreign + 0x18, doorbell_value(h.cq.number(), 0, 1));
          h.dev.write64(2, mine + 0x00, doorbell_value(7, 0, 1));         // no such QP
          h.dev.write64(2, mine + 0x10, doorbell_value(7, 0, 1));         // no such CQ
          h.dev.write64(2, mine + 0x00, doorbell_value(0xffffff, 0, 1));  // also absent
          h.dev.write64(2, mine + 0x00, doorbell_value(q.qpn, 0, index + (1u << q.log_sq)));
          h.dev.write64(2, mine + 0x20, doorbell_value(q.qpn, 0, index));  // reserved offset
          EXPECT_EQ(dropped(), before + 9);
          EXPECT_EQ(reads(), reads_before);
          EXPECT_EQ(must(e.qp.query(), "query").state, IBV_QPS_RTS);
          const uint64_t id = e.send(data.sge(0, 32));
          h.until_complete(e, "Send");
          EXPECT_EQ(e.wc(id).status, IBV_WC_SUCCESS);
          done = true;
          must(e.connection.disconnect(), "disconnect");
        },
        [&](Host& h) {
          h.open();
          Region data = h.region(4096);
          Endpoint& e = h.endpoint();
          (void)e.receive(data.sge(0, 64));
          h.accept(e);
          accepted = true;
          h.until_complete(e, "receive");
          EXPECT_EQ(wrong(data.buffer.bytes().first(32), 1), 0u);
          h.until("the client", [&] { return done; });
          h.follow_disconnect(e);
        });
  });
}

/// Every opcode with random arguments: each gets a response, a refused command has changed nothing,
/// the connection continues.
TEST_P(BadInput, AdminCommandsOfRandomBytes) {
  in_child([this] {
    World w({.kind = GetParam(), .settings = {"pcie_latency_ns=200"}});
    bool accepted = false, done = false;
    w.run(
        [&](Host& h) {
          h.open();
          Region data = h.region(4096);
          fill(data.buffer.bytes(), 1);
          Endpoint& e = h.endpoint();
          h.connect(e);
          h.until("the server", [&] { return accepted; });
          // The state of all objects, as queries report it.
          const auto standing = [&] {
            std::string s;
            const auto ask = [&](spec::AdminOpcode op, uint32_t object) {
              const auto r = h.manager->execute(h.dev, op, object);
              if (r)
                s.append(r->result.begin(), r->result.end());
              else
                s += r.error().what;
            };
            for (uint32_t q = 0; q < 8; ++q) ask(spec::AdminOpcode::kQueryQp, q);
            for (uint32_t c = 0; c < 8; ++c) ask(spec::AdminOpcode::kQueryCq, c);
            for (uint32_t c = 0; c < 16; ++c) ask(spec::AdminOpcode::kConnQuery, c);
            ask(spec::AdminOpcode::kQueryMr, data.mr.lkey());
            return s;
          };
          const std::string before = standing();
          base::Rng rng(h.world.seed());
          unsigned refused = 0, taken = 0;
          for (unsigned op = 0; op < 256; op += op < 0x40 ? 1 : 0x17) {
            for (const bool near : {false, true}) {
              // Random objects do not exist; random arguments are not all zero.
              const auto object = near ? static_cast<uint32_t>(rng.below(8))
                                       : static_cast<uint32_t>(rng.next() | 0x100000);
              const auto args = rng.bytes(56);
              const auto r =
                  h.manager->execute(h.dev, static_cast<spec::AdminOpcode>(op), object, args);
              if (r) {
                ++taken;
                EXPECT_TRUE(op == 0x00) << op;  // a nop checks nothing
                continue;
              }
              EXPECT_NE(r.error().code, Errc::kTimedOut) << op << ": " << r.error().what;
              ++refused;
            }
          }
          EXPECT_GT(refused, 100u);
          EXPECT_LE(taken, 2u);
          EXPECT_EQ(standing(), before);
          const uint64_t id = e.send(data.sge(0, 32));
          h.until_complete(e, "Send");
          EXPECT_EQ(e.wc(id).status, IBV_WC_SUCCESS);
          done = true;
          must(e.connection.disconnect(), "disconnect");
        },
        [&](Host& h) {
          h.open();
          Region data = h.region(4096);
          Endpoint& e = h.endpoint();
          (void)e.receive(data.sge(0, 64));
          h.accept(e);
          accepted = true;
          h.until(
              "receive", [&] { return e.outstanding() == 0; }, 10 * kMs);
          EXPECT_EQ(wrong(data.buffer.bytes().first(32), 1), 0u);
          h.until("the client", [&] { return done; });
          h.follow_disconnect(e);
        });
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, BadInput,
                         testing::Values(kModel, kTandem, kModelMinimum, kTandemMinimum,
                                         kTandemStall),
                         name_of_kinds);

}  // namespace
}  // namespace rnic::tb

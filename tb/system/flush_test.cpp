// RDMA Flush from end to end: its bytes, what it waits for, what it shares with Reads, the effect
// of a failed read-back, and how the two sides negotiate. The errors of its range: terminate_test.
//
// draft-talpey-rdma-commit-01 sections 3.1.1, 5. Requirements: RPMEM-3.1.1.1-01 to 03,
// 3.1.1.2-01 to 04, 3.1.1.3-02, 06, 07, 09, 3.1.4-01, 02, 3.2.2-01, 5.1-03, 04, A.1-01, A.2-01.
// Ambiguities, part 2.
#include <algorithm>

#include "base/rng.hpp"
#include "gen/regs.hpp"
#include "world.hpp"

namespace rnic::tb {
namespace {

using namespace verbs;
using sim::Completions;
using spec::Cause;

constexpr uint64_t kTarget = 0x10000000;
constexpr uint32_t kAccess = Host::kAll | IBV_ACCESS_FLUSH_GLOBAL;

class FlushTest : public testing::TestWithParam<Kinds> {
 protected:
  uint32_t key = 0;
  bool ready = false, client_done = false, server_done = false;

  /// FPDUs that a side received in RDMA mode, in order.
  static std::vector<Bytes> came(const Tap& tap) {
    std::vector<Bytes> all;
    for (const auto& s : tap.taken) {
      const auto b = s.record.data.bytes();
      if (!s.record.is_stream) all.emplace_back(b.begin(), b.end());
    }
    return all;
  }
  static size_t count(const std::vector<Bytes>& fpdus, uint8_t opcode) {
    return static_cast<size_t>(
        std::ranges::count_if(fpdus, [&](const Bytes& f) { return opcode_of(f) == opcode; }));
  }
  /// The passive side: a region, a connection, then `body`.
  void serve(Host& h, const std::function<void(Host&, Endpoint&, Region&)>& body,
             ConnParam param = {.flush = true}) {
    h.open();
    Region data = h.region(3 * 4096, kAccess, kTarget);
    key = data.mr.rkey();
    Endpoint& e = h.endpoint();
    const uint64_t greeting = e.receive(data.sge(8192, 64));
    h.accept(e, param);
    ready = true;
    h.until("the greeting", [&] { return e.completed(greeting); });
    body(h, e, data);
    server_done = true;
    h.until("the client", [&] { return client_done; });
  }
  /// The client: greets the server, then `body`.
  void ask(Host& h, const std::function<void(Host&, Endpoint&, Region&)>& body,
           ConnParam param = {.flush = true}) {
    h.open();
    Region data = h.region(3 * 4096);
    fill(data.buffer.bytes(), 1);
    Endpoint& e = h.endpoint();
    h.connect(e, param);
    h.until("the server", [&] { return ready; });
    (void)e.send(data.sge(0, 16));
    h.until_complete(e, "the greeting");
    body(h, e, data);
    client_done = true;
    h.until("the server's end", [&] { return server_done; });
  }
};

/// Hand-written from the draft's figures: STag, length, TO, flags. On the wire P is 1 and G is 2,
/// the reverse of verbs. The response has no payload. MSN counts on QN 1 and on QN 3.
TEST_P(FlushTest, ItsBytesAreThoseOfTheDraft) {
  in_child([this] {
    World w({.kind = GetParam()});
    w.run(
        [&](Host& h) {
          ask(h, [&](Host&, Endpoint& e, Region& d) {
            (void)e.write(d.sge(0, 100), key, kTarget);
            const uint64_t first = e.flush(key, kTarget, 100);
            const uint64_t read = e.read(d.sge(4096, 8), key, kTarget);
            const uint64_t empty = e.flush(key, kTarget + 3 * 4096, 0);
            h.until_complete(e, "completions");
            for (const uint64_t id : {first, empty}) {
              EXPECT_EQ(e.wc(id).status, IBV_WC_SUCCESS);
              EXPECT_EQ(e.wc(id).opcode, IBV_WC_FLUSH);
            }
            EXPECT_EQ(e.wc(read).status, IBV_WC_SUCCESS);
            EXPECT_TRUE(e.connection.has_flush());
          });
        },
        [&](Host& h) {
          serve(h, [&](Host&, Endpoint& e, Region& d) {
            h.until("the client's end", [&] { return client_done; });
            EXPECT_EQ(wrong({d.at(0), 100}, 1), 0u);
            EXPECT_TRUE(e.connection.has_flush());
          });
        });
    if (HasFailure()) return;
    std::vector<Bytes> asked, answered;
    for (const Bytes& f : came(w.tap(kServer)))
      if (opcode_of(f) == 0xc) asked.push_back(f);
    for (const Bytes& f : came(w.tap(kClient)))
      if (opcode_of(f) == 0xd) answered.push_back(f);
    EXPECT_EQ(
        asked,
        (std::vector{fpdu(untagged(0xc, 1, 1) + flush_request(key, 100, kTarget, 2)),
                     fpdu(untagged(0xc, 1, 3) + flush_request(key, 0, kTarget + 3 * 4096, 2))}));
    EXPECT_EQ(answered, (std::vector{fpdu(untagged(0xd, 3, 1)), fpdu(untagged(0xd, 3, 2))}));
  });
}

/// The host accepts no posted write for 20 us: the Write or Send before the Flush is not placed, so
/// the device sends no response to the Flush, neither of a range nor of length 0.
TEST_P(FlushTest, IsNotAnsweredBeforeWhatCameBeforeItIsPlaced) {
  enum class First { kWrite, kSend };
  for (const First first : {First::kWrite, First::kSend}) {
    for (const uint32_t length : {64u, 0u}) {
      ready = client_done = server_done = false;
      in_child([&] {
        World w({.kind = GetParam()});
        bool held = false, posted = false;
        w.run(
            [&](Host& h) {
              ask(h, [&](Host&, Endpoint& e, Region& d) {
                h.until("the server's host", [&] { return held; });
                if (first == First::kWrite) {
                  (void)e.write(d.sge(0, 64), key, kTarget);
                } else {
                  (void)e.send(d.sge(0, 64));
                }
                const uint64_t id = e.flush(key, kTarget, length);
                posted = true;
                h.until_complete(e, "the Flush");
                EXPECT_EQ(e.wc(id).status, IBV_WC_SUCCESS);
              });
            },
            [&](Host& h) {
              serve(h, [&](Host&, Endpoint& e, Region& d) {
                const uint64_t receive = e.receive(d.sge(4096, 64));
                h.rest(5 * kUs);
                w.tap(kServer).takes_writes = false;
                held = true;
                h.until("the client's requests", [&] { return posted; });
                h.rest(20 * kUs);
                EXPECT_EQ(count(came(w.tap(kServer)), 0xc), 1u) << "the Flush is here";
                EXPECT_EQ(count(w.tap(kServer).fpdus(e.number()), 0xd), 0u);
                for (const uint8_t b : std::span(d.at(0), 64)) EXPECT_EQ(b, 0);
                w.tap(kServer).takes_writes = true;
                w.tap(kServer).wake();
                h.until("the client's end", [&] { return client_done; });
                EXPECT_EQ(wrong({d.at(first == First::kWrite ? 0 : 4096), 64}, 1), 0u);
                if (first == First::kSend) {
                  EXPECT_TRUE(e.completed(receive));
                }
              });
            });
      });
    }
  }
}

/// The device issues the read-back after the writes, and sends the response after the read-back:
/// while the host completes no read, no response is sent. A Flush of length 0 reads nothing.
TEST_P(FlushTest, IsNotAnsweredBeforeTheReadBackHasReturned) {
  in_child([this] {
    World w({.kind = GetParam()});
    bool held = false, posted = false;
    w.run(
        [&](Host& h) {
          ask(h, [&](Host&, Endpoint& e, Region& d) {
            h.until("the server's host", [&] { return held; });
            (void)e.write(d.sge(0, 64), key, kTarget);
            (void)e.flush(key, kTarget, 64);
            posted = true;
            h.until_complete(e, "the Flush");
          });
        },
        [&](Host& h) {
          serve(h, [&](Host&, Endpoint& e, Region& d) {
            h.rest(5 * kUs);
            w.tap(kServer).takes_reads = false;
            held = true;
            h.until("the client's requests", [&] { return posted; });
            h.rest(20 * kUs);
            EXPECT_EQ(wrong({d.at(0), 64}, 1), 0u) << "the Write is placed";
            EXPECT_EQ(count(w.tap(kServer).fpdus(e.number()), 0xd), 0u);
            w.tap(kServer).takes_reads = true;
            w.tap(kServer).wake();
            h.until("the client's end", [&] { return client_done; });
            EXPECT_EQ(count(w.tap(kServer).fpdus(e.number()), 0xd), 1u);
          });
        });
  });
}

/// One ORD for Reads and Flushes: with ORD 2 no third request is on the wire before the first is
/// answered. A fence waits for a Flush.
TEST_P(FlushTest, SharesOrdWithReadsAndHoldsAFence) {
  in_child([this] {
    World w({.kind = GetParam()});
    const ConnParam param{.responder_resources = 2, .initiator_depth = 2, .flush = true};
    w.run(
        [&](Host& h) {
          ask(
              h,
              [&](Host&, Endpoint& e, Region& d) {
                std::vector<uint64_t> ids;
                for (unsigned i = 0; i < 4; ++i) {
                  ids.push_back(e.flush(key, kTarget + 64 * i, 64));
                  ids.push_back(e.read(d.sge(4096 + 64 * i, 64), key, kTarget));
                }
                (void)e.flush(key, kTarget, 64);
                const uint64_t fenced = e.send(d.sge(0, 8), IBV_SEND_FENCE);
                h.until_complete(e, "completions");
                for (const uint64_t id : ids) EXPECT_EQ(e.wc(id).status, IBV_WC_SUCCESS);
                EXPECT_EQ(e.wc(fenced).status, IBV_WC_SUCCESS);
              },
              param);
        },
        [&](Host& h) {
          serve(
              h,
              [&](Host&, Endpoint& e, Region& d) {
                (void)e.receive(d.sge(4096, 64));
                h.until("the client's end", [&] { return client_done; });
              },
              param);
        });
    if (HasFailure()) return;
    // By time, both directions at the client: requests sent minus responses received.
    struct Event {
      Time at;
      bool answer;
      uint8_t opcode;
    };
    std::vector<Event> events;
    for (const auto& s : w.tap(kClient).sent) {
      const auto b = s.record.data.bytes();
      if (!s.record.is_stream) events.push_back({s.at, false, opcode_of({b.begin(), b.end()})});
    }
    for (const auto& s : w.tap(kClient).taken) {
      const auto b = s.record.data.bytes();
      if (!s.record.is_stream) events.push_back({s.at, true, opcode_of({b.begin(), b.end()})});
    }
    std::ranges::stable_sort(events, [](const Event& a, const Event& b) {
      return a.at != b.at ? a.at < b.at : a.answer > b.answer;
    });
    int outstanding = 0, most = 0;
    for (const Event& x : events) {
      if (!x.answer && (x.opcode == 0x1 || x.opcode == 0xc)) most = std::max(most, ++outstanding);
      if (x.answer && (x.opcode == 0x2 || x.opcode == 0xd)) --outstanding;
      if (!x.answer && x.opcode == 0x3 && most != 0) {  // not the greeting
        EXPECT_EQ(outstanding, 0) << "the fenced Send";
      }
    }
    EXPECT_EQ(most, 2);
  });
}

/// Ambiguities part 2, the pairs of Flush with other operations. While the host completes no read,
/// the Flush is not answered. A later Send and Write are placed, a later Read and Flush are not
/// answered, nor is a Flush after a Read. The Read's bytes are fetched after the Flush.
TEST_P(FlushTest, PairsWithWhatIsPostedAfterAndBefore) {
  in_child([this] {
    World w({.kind = GetParam()});
    int phase = 0;  // odd: the client has posted; even: the server has checked
    const auto step = [&](Host& h, int to) {
      phase = to;
      h.until("the other side", [&] { return phase > to; });
    };
    const auto answers = [&](Endpoint& e) {
      std::string s;
      for (const Bytes& f : w.tap(kServer).fpdus(e.number())) {
        if (opcode_of(f) == 0x2) s += 'R';
        if (opcode_of(f) == 0xd) s += 'F';
      }
      return s;
    };
    w.run(
        [&](Host& h) {
          ask(h, [&](Host&, Endpoint& e, Region& d) {
            h.until("the server's host", [&] { return phase == 1; });
            (void)e.flush(key, kTarget, 64);
            (void)e.send(d.sge(0, 64));
            (void)e.write(d.sge(0, 64), key, kTarget);
            const uint64_t read = e.read(d.sge(8192, 64), key, kTarget + 4096);
            (void)e.flush(key, kTarget, 64);
            step(h, 2);
            h.until_complete(e, "the operations after a Flush");
            EXPECT_EQ(e.wc(read).status, IBV_WC_SUCCESS);
            for (const uint8_t b : std::span(d.at(8192), 64)) EXPECT_EQ(b, 0x5a) << "fetched early";
            step(h, 4);
            (void)e.read(d.sge(8192, 64), key, kTarget + 4096);
            (void)e.flush(key, kTarget, 64);
            phase = 6;
            h.until_complete(e, "a Flush after a Read");
          });
        },
        [&](Host& h) {
          serve(h, [&](Host&, Endpoint& e, Region& d) {
            const auto hold = [&](bool held) {
              w.tap(kServer).takes_reads = !held;
              if (!held) w.tap(kServer).wake();
            };
            const uint64_t receive = e.receive(d.sge(8192, 64));
            h.rest(5 * kUs);
            hold(true);
            step(h, 1);
            h.until("the Send", [&] { return e.completed(receive); });
            h.rest(20 * kUs);
            EXPECT_EQ(wrong({d.at(0), 64}, 1), 0u) << "the Write passes the Flush";
            EXPECT_EQ(answers(e), "");
            std::ranges::fill(std::span(d.at(4096), 64), uint8_t{0x5a});
            hold(false);
            step(h, 3);
            EXPECT_EQ(answers(e), "FRF");
            hold(true);
            step(h, 5);
            h.rest(20 * kUs);
            EXPECT_EQ(answers(e), "FRF");
            hold(false);
            h.until("the client's end", [&] { return client_done; });
            EXPECT_EQ(answers(e), "FRFRF");
          });
        });
  });
}

/// A read-back that arrives poisoned, or never: Terminate 0/2/0A with only the DDP header, and no
/// response. Requests after the Flush have no effect. The neighbour continues.
TEST_P(FlushTest, AReadBackThatFailsIsATerminate) {
  constexpr uint32_t kTimeout = 5'000;  // register cpl_timeout, device cycles: 15.5 us
  for (const bool never : {false, true}) {
    ready = client_done = server_done = false;
    in_child([&] {
      World w({.kind = GetParam()});
      bool spoilt = false;
      w.run(
          [&](Host& h) {
            ask(h, [&](Host&, Endpoint& e, Region& d) {
              Endpoint& near = h.endpoint();
              h.connect(near, {.flush = true});
              h.until("the server's host", [&] { return spoilt; });
              const uint64_t write = e.write(d.sge(0, 64), key, kTarget);
              const uint64_t bad = e.flush(key, kTarget, 64);
              const uint64_t behind = e.flush(key, kTarget + 128, 64);
              const uint64_t read = e.read(d.sge(4096, 8), key, kTarget + 4096);
              const AsyncEvent event = h.event();
              EXPECT_EQ(event.peer_term, 0x020a);  // 0/2/0A: the read-back failed
              h.until_complete(e, "completions");
              EXPECT_EQ(e.wc(write).status, IBV_WC_SUCCESS);
              EXPECT_EQ(e.wc(bad).status, IBV_WC_REM_OP_ERR);
              EXPECT_EQ(e.wc(behind).status, IBV_WC_WR_FLUSH_ERR);
              EXPECT_EQ(e.wc(read).status, IBV_WC_WR_FLUSH_ERR);
              const uint64_t good = near.flush(key, kTarget + 4096, 64);
              h.until_complete(near, "the neighbour's Flush");
              EXPECT_EQ(near.wc(good).status, IBV_WC_SUCCESS);
            });
          },
          [&](Host& h) {
            serve(h, [&](Host&, Endpoint& e, Region& d) {
              h.dev.write32(0, spec::kCplTimeoutOffset, kTimeout);
              Endpoint& near = h.endpoint();
              h.accept(near, {.flush = true});
              h.world.simulation().root_complex(h.side).add_fault(
                  {.status = spec::RdStatus::kPoisoned,
                   .nth = 1,
                   .probability = 0,
                   .from = d.buffer.bus(0),
                   .to = d.buffer.bus(0) + 4096,
                   .seen = 0,
                   .completions = never ? Completions::kNever : Completions::kStatus,
                   .late = 0});
              spoilt = true;
              const AsyncEvent event = h.event();
              EXPECT_EQ(event.object, e.qp.qp_num());
              EXPECT_EQ(event.cause, static_cast<uint32_t>(Cause::kFlushFailed));
              h.until("the client's end", [&] { return client_done; });
              const auto out = w.tap(kServer).fpdus(e.number());
              EXPECT_EQ(count(out, 0xd), 0u);
              ASSERT_FALSE(out.empty());
              EXPECT_EQ(out.back(),
                        fpdu(untagged(0x7, 2, 1) + hex("020ac0000026") + untagged(0xc, 1, 1)));
            });
          });
    });
  }
}

/// Flush is enabled if both sides request it. If one does not, the post is refused with a reason.
/// The block of decision 10 is in the Request of a client that requests it, and in no Reply of a
/// server that does not.
TEST_P(FlushTest, IsOnIfBothSidesAsk) {
  for (const int who : {0, 1, 2}) {  // who requests it: neither side, the server, the client
    ready = client_done = server_done = false;
    in_child([&] {
      World w({.kind = GetParam()});
      w.run(
          [&](Host& h) {
            ask(h,
                [&](Host&, Endpoint& e, Region& d) {
                  EXPECT_FALSE(e.connection.has_flush());
                  const SendWr wr{.opcode = IBV_WR_FLUSH,
                                  .send_flags = IBV_SEND_SIGNALED,
                                  .remote_addr = kTarget,
                                  .rkey = key,
                                  .flush_length = 64,
                                  .flush_type = IBV_FLUSH_GLOBAL};
                  const auto r = e.qp.post_send(wr);
                  ASSERT_FALSE(r);
                  EXPECT_EQ(r.error->code, Errc::kNotSupported) << r.error->what;
                  (void)e.write(d.sge(0, 64), key, kTarget);
                  h.until_complete(e, "the Write");
                },
                {.flush = who == 2});
          },
          [&](Host& h) {
            serve(h,
                  [&](Host&, Endpoint& e, Region&) {
                    EXPECT_FALSE(e.connection.has_flush());
                    h.until("the client's end", [&] { return client_done; });
                  },
                  {.flush = who == 1});
          });
      std::vector<Bytes> blocks, fpdus;
      for (const Side side : {kClient, kServer}) {
        for (const auto& s : w.tap(side).sent) {
          const auto b = s.record.data.bytes();
          const Bytes f(b.begin(), b.end());
          if (!s.record.is_stream) {
            fpdus.push_back(f);
            continue;
          }
          // The block: "MNIC", version 1, flags (1: all extensions), two zeros (decision 10).
          const Bytes key = hex("4d4e494301");
          const auto at = std::search(f.begin(), f.end(), key.begin(), key.end());
          if (at != f.end()) blocks.emplace_back(at, at + 8);
        }
      }
      EXPECT_EQ(blocks,
                who == 2 ? std::vector<Bytes>{hex("4d4e494301010000")} : std::vector<Bytes>{});
      for (const Bytes& f : fpdus) EXPECT_TRUE(opcode_of(f) != 0xc && opcode_of(f) != 0xd);
    });
  }
}

/// Writes, Sends, Reads and Flushes of several QPs in both directions at once, with random lengths
/// and types: each completes, and each byte is at its address.
TEST_P(FlushTest, AmongOtherTraffic) {
  const uint64_t seed = 20261125;
  in_child([&] {
    World w({.kind = GetParam()});
    uint32_t keys[2] = {0, 0};
    int opened = 0, done = 0;
    const auto body = [&](Host& h) {
      h.open(1024);
      const unsigned me = h.side == kClient ? 0 : 1;
      base::Rng rng(seed + me);
      Region data = h.region(64 * 1024, kAccess, kTarget);
      Region sink = h.region(64 * 1024);
      fill(data.buffer.bytes(), 3);
      keys[me] = data.mr.rkey();
      std::vector<Endpoint*> es;
      for (unsigned i = 0; i < 3; ++i) es.push_back(&h.endpoint());
      for (Endpoint* e : es) {
        if (me == 0) {
          h.connect(*e, {.flush = true});
        } else {
          h.accept(*e, {.flush = true});
        }
      }
      ++opened;
      h.until("the other side", [&] { return opened == 2; });
      const uint32_t rkey = keys[1 - me];
      for (unsigned i = 0; i < 120; ++i) {
        Endpoint& e = *es[rng.below(es.size())];
        h.until("room", [&] { return e.sends_outstanding() < 16; });
        const auto length =
            static_cast<uint32_t>(rng.below(3) == 0 ? rng.below(5000) : rng.below(200));
        const uint64_t at = rng.below(32 * 1024);
        switch (rng.below(3)) {
          case 0:  // the bytes that are already there: a Read's result stays known
            (void)e.write(data.sge(at, length), rkey, kTarget + at);
            break;
          case 1:
            (void)e.read(sink.sge(at, length), rkey, kTarget + at);
            break;
          default:
            (void)e.flush(rkey, kTarget + at, length);
        }
      }
      for (Endpoint* e : es) h.until_complete(*e, "all");
      for (Endpoint* e : es)
        for (const Wc& wc : e->done) ASSERT_EQ(wc.status, IBV_WC_SUCCESS) << "seed " << seed;
      EXPECT_EQ(wrong(data.buffer.bytes(), 3), 0u) << "seed " << seed;
      ++done;
      h.until("the other side's end", [&] { return done == 2; });
    };
    w.run(body, body);
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, FlushTest,
                         testing::Values(kModel, kTandem, kModelMinimum, kTandemMinimum,
                                         kTandemStall, Kinds{"model", "rtl"},
                                         Kinds{"rtl", "model"}),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace
}  // namespace rnic::tb

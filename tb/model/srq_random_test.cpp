// Shared receive queues in random order: a device, then qp and ddp without other units, each
// against a reference.
#include <deque>
#include <map>
#include <optional>

#include "base/rng.hpp"
#include "srq.hpp"
#include "srq_ddp.hpp"
#include "srq_qp.hpp"

namespace rnic::tb {
namespace {

Options random_dma(uint64_t seed) {
  Options o;
  o.random_dma = true;
  o.seed = seed;
  return o;
}

struct SrqRandom : SrqTest {
  explicit SrqRandom(uint64_t seed) : SrqTest(random_dma(seed), 4, 4), rng(seed) {}
  void TestBody() override {}

  // The completed WQEs are exactly the oldest posted ones, however QPs end.
  void run() {
    b.a.fill(am.address - 0x10000000, 1 << 16, 7);
    std::vector<uint16_t> posted;  // by order; the tag is its number modulo 64
    std::vector<bool> done(4096);
    size_t completed = 0, ended = 0, flushed = 0, events_seen = 0;
    struct Sent {
      uint32_t at = 0, n = 0;
    };
    std::vector<std::deque<Sent>> sent(p.size());
    std::vector<bool> over(p.size());  // the QP has been sent to error
    std::map<uint16_t, size_t> open;   // tag -> order, posted and not completed
    const auto collect = [&] {
      for (size_t i = 0; i < p.size(); ++i) {
        while (const auto e = b.b.poll(p[i].b.cqn)) {
          if (e->is_recv == 0) continue;
          EXPECT_EQ(e->qpn, p[i].b.qpn);
          const auto found = open.find(e->index);
          ASSERT_NE(found, open.end()) << "tag " << e->index << " a second time";
          done[found->second] = true;
          open.erase(found);
          ++completed;
          if (e->status == WcStatus::kWrFlushErr) {
            ++flushed;
            EXPECT_TRUE(over[i]);
            continue;
          }
          ASSERT_EQ(e->status, WcStatus::kSuccess);
          ASSERT_FALSE(sent[i].empty());
          const Sent s = sent[i].front();
          sent[i].pop_front();
          EXPECT_EQ(e->byte_len, s.n);
          EXPECT_EQ(buffer(e->index, s.n), source(s.at, s.n));
        }
      }
      for (const uint32_t object : events()) events_seen += object == srq;
    };
    for (int step = 0; step < 400 && !HasFailure(); ++step) {
      const uint64_t what = rng.below(20);
      // At most 16 WQEs are outstanding: the ring has room for them even if none has been taken.
      const size_t waits = open.size();
      if (what < 8) {
        const auto tag = static_cast<uint16_t>(posted.size() % 64);
        if (waits >= 16 || open.contains(tag)) continue;
        open[tag] = posted.size();
        posted.push_back(tag);
        post(tag);
      } else if (what < 16) {
        size_t asked = 0;
        for (const auto& s : sent) asked += s.size();
        const size_t i = rng.below(p.size());
        if (asked >= waits || over[i]) continue;
        const Sent s{static_cast<uint32_t>(rng.below(60000)),
                     static_cast<uint32_t>(rng.below(rng.percent(30) ? 4097 : 100))};
        sent[i].push_back(s);
        send(p[i], s.at, s.n);
      } else if (what < 18) {
        b.clock.settle(rng.below(600));
      } else if (what == 18 && rng.percent(30)) {
        EXPECT_EQ(arm(static_cast<uint16_t>(rng.below(8))), AdminStatus::kOk);
      } else if (what == 19 && rng.percent(60)) {
        const size_t i = rng.below(p.size());
        over[i] = true;
        ++ended;
        EXPECT_EQ(to_error(p[i]), AdminStatus::kOk);
        collect();
        ASSERT_EQ(b.b.command(AdminOpcode::kDestroyQp, p[i].b.qpn).status, AdminStatus::kOk);
        p[i] = connect();
        sent[i].clear();
        over[i] = false;
      }
      collect();
    }
    b.clock.settle();
    collect();
    for (size_t i = 0; i < posted.size(); ++i) EXPECT_EQ(done[i], i < completed) << i;
    EXPECT_GT(completed, 50U);
    EXPECT_GT(ended, 2U);
    total_flushed += flushed;
    total_events += events_seen;
  }

  base::Rng rng;
  static inline size_t total_flushed = 0, total_events = 0;
};

TEST(Srq, RandomMix) {
  for (uint64_t seed = 1; seed <= 12 && !testing::Test::HasFailure(); ++seed) {
    SrqRandom t(seed);
    t.run();
    if (testing::Test::HasFailure()) ADD_FAILURE() << "seed " << seed;
  }
  EXPECT_GT(SrqRandom::total_flushed, 0U);
  EXPECT_GT(SrqRandom::total_events, 5U);
}

/// Two SRQs and a QP with its own queue, in random order, against queues of tags.
struct SrqMix : SrqQpTest {
  explicit SrqMix(const spec::Sizes& s) : SrqQpTest(s) {}
  void TestBody() override {}

  void run(uint64_t seed) {
    struct Reference {
      std::deque<uint16_t> tags;  // announced, not taken
      uint16_t limit = 0, own = 0;
    };
    base::Rng rng(seed);
    // QPs 1 and 3 take from kSrq, 2 and 4 from `other`, 5 from its own queue.
    const uint16_t other = 6, users[] = {1, 2, 3, 4, 5};
    EXPECT_EQ(create_srq(kSrq, 5), AdminStatus::kOk);
    EXPECT_EQ(create_srq(other, 2), AdminStatus::kOk);
    for (const uint16_t n : users)
      create_qp(n, n == 5 ? std::nullopt : std::optional{n % 2 == 0 ? other : kSrq});
    const auto row_of = [&](uint16_t n) { return n == 5 ? n : n % 2 == 0 ? other : kSrq; };
    std::map<uint16_t, Reference> refs;
    std::optional<uint16_t> taker;  // the QP whose take waits
    bool may_fail = false;
    uint32_t taken = 0, failed = 0, reached = 0;
    for (int step = 0; step < 6000; ++step) {
      const uint64_t what = rng.below(10);
      if (what < 3) {
        const uint16_t n = std::array{kSrq, other, uint16_t{5}}[rng.below(3)];
        Reference& ref = refs[n];
        const auto tag = static_cast<uint16_t>(rng.next());
        const bool fits = ref.tags.size() < 1U << rings[n].log;
        const uint16_t before = rings[n].producer;
        if (n == 5 && !fits) continue;
        if (!fits) {  // a doorbell must not overwrite the next entry to take
          EXPECT_FALSE(ring(DoorbellKind::kRq, n, static_cast<uint16_t>(before + 1)));
        } else if (post(n, tag)) {
          ref.tags.push_back(tag);
        } else {
          ADD_FAILURE() << "refused, with room";
        }
      } else if (what < 5) {
        request();
      } else if (what < 7) {
        if (reads.empty()) continue;
        const bool bad = rng.percent(10);
        may_fail = may_fail || bad;
        answer(bad ? spec::RdStatus::kAborted : spec::RdStatus::kOk);
      } else if (what == 7) {
        const uint16_t n = rng.percent(50) ? kSrq : other;
        const auto limit = static_cast<uint16_t>(rng.below(rng.percent(10) ? 65536 : 8));
        EXPECT_EQ(arm(limit, n), AdminStatus::kOk);
        refs[n].limit = limit;
      } else {
        if (!taker) taker = users[rng.below(5)];
        const uint16_t row = row_of(*taker);
        Reference& ref = refs[row];
        asyncs.clear();
        const auto rsp = qp.rq_take(*taker);
        if (!rsp) continue;
        EXPECT_EQ(rsp->shared, *taker != 5);
        taker.reset();
        if (rsp->result == RqTake::kFailed) {
          EXPECT_TRUE(std::exchange(may_fail, false));
          ++failed;
          if (row == 5) {
            EXPECT_EQ(rsp->wqe.index, ref.own++);
            ref.tags.pop_front();
            qp.rx_done({.qpn = 5, .kind = spec::DeliverKind::kRecv, .index = rsp->wqe.index});
          }
          EXPECT_TRUE(asyncs.empty());
          continue;
        }
        if (ref.tags.empty()) {
          EXPECT_EQ(rsp->result, RqTake::kEmpty);
          EXPECT_TRUE(asyncs.empty());
          continue;
        }
        ++taken;
        const uint16_t tag = ref.tags.front();
        ref.tags.pop_front();
        expect_ok(*rsp, row == 5 ? ref.own++ : tag, tag, row != 5);
        if (row == 5)
          qp.rx_done({.qpn = 5, .kind = spec::DeliverKind::kRecv, .index = rsp->wqe.index});
        const bool due = ref.limit != 0 && ref.tags.size() < ref.limit;
        EXPECT_EQ(asyncs, due ? std::vector{row} : std::vector<uint16_t>{});
        if (due) {
          ref.limit = 0;
          ++reached;
        }
      }
      if (HasFailure()) FAIL() << "seed " << seed << ", step " << step;
    }
    EXPECT_GT(taken, 300U);
    EXPECT_GT(failed, 2U);
    EXPECT_GT(reached, 50U);
  }
};

TEST(SrqQp, RandomMix) {
  for (uint64_t seed = 1; seed <= 10 && !testing::Test::HasFailure(); ++seed) {
    SrqMix{spec::Sizes{}}.run(seed);
    SrqMix{spec::Sizes::minimum()}.run(seed);
  }
}

// Each WQE is reported once, each QP's in the order in which it took them, and all before the
// acknowledgement of its stop.
TEST_F(SrqDdpTest, RandomMix) {
  instant = false;
  uint32_t flushed = 0, ended = 0, stops = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    base::Rng rng(seed);
    std::map<uint16_t, std::deque<uint16_t>> owed;  // by QP: tags that ddp has to report
    struct Peer {
      uint32_t mo = 0;  // where the next segment of its message begins
      bool stopping = false, stopped = false;
    };
    std::map<uint16_t, Peer> peers;
    uint16_t tag = static_cast<uint16_t>(rng.next());
    const auto check = [&] {
      for (const Item& i : said()) {
        auto& of = owed[i.qpn];
        if (i.is_ack) {
          EXPECT_TRUE(of.empty()) << "not reported before the acknowledgement";
          peers[i.qpn].stopped = true;
          continue;
        }
        ASSERT_FALSE(of.empty());
        EXPECT_EQ(i.index, of.front());
        of.pop_front();
        ++(i.status == WcStatus::kWrFlushErr ? flushed : ended);
      }
    };
    const auto drain = [&] {
      while (places + invalidations != 0) {
        place_all();
        for (; invalidations != 0; --invalidations) ddp.rx.invalidated();
      }
      check();
    };
    for (int step = 0; step < 500 && !HasFailure(); ++step) {
      const auto qpn = static_cast<uint16_t>(rng.between(1, 3));
      Peer& p = peers[qpn];
      const uint64_t what = rng.below(20);
      if (what < 10) {
        takes.clear();
        const bool fails = rng.percent(5);
        wqe(++tag, fails ? RqTake::kFailed : rng.percent(3) ? RqTake::kMalformed : RqTake::kOk);
        const bool last = rng.percent(60);
        const uint32_t n = rng.percent(3) ? 101 : static_cast<uint32_t>(rng.below(20));
        const bool inv = last && rng.percent(20);
        send(qpn, p.mo, n, last, rng.percent(4), inv ? 0x44 : 0x43);
        if (takes.empty() && !fails) owed[qpn].push_back(tag);
        p.mo = last ? 0 : p.mo + n;
      } else if (what < 12) {
        write(qpn, rng.percent(10) ? kBadStag : 9);
      } else if (what < 16) {
        if (places == 0) continue;
        place_one();
      } else if (what < 18) {
        if (invalidations == 0) continue;
        --invalidations;
        ddp.rx.invalidated();
      } else if (!p.stopping) {
        p.stopping = true;
        ++stops;
        stop(qpn);
      }
      check();
      for (const uint16_t n : kQps) {
        if (!peers[n].stopped) continue;
        drain();  // mpa stops last: no segment enters between stop and start
        start(n);
        peers[n] = {};
      }
    }
    for (const uint16_t qpn : kQps) {
      if (!peers[qpn].stopping) stop(qpn);
    }
    drain();
    for (const uint16_t qpn : kQps) {
      EXPECT_TRUE(peers[qpn].stopped);
      start(qpn);
    }
    for (const auto& [qpn, left] : owed) EXPECT_TRUE(left.empty()) << "QP " << qpn;
    if (HasFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(flushed, 200U);
  EXPECT_GT(ended, 500U);
  EXPECT_GT(stops, 100U);
}

}  // namespace
}  // namespace rnic::tb

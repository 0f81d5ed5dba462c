// Atomics of several QPs on the same words. Both hosts are requester and responder, and each word
// has two STags. Random histories of FetchAdd, CmpSwap and Atomic Write are linearizable, and 64
// QPs add exactly. RFC 7306 5.1, 5.4; ambiguities. The checker:
// support/linearizable.hpp. Single operations, and what each waits for: atomic_test.
#include <fmt/format.h>

#include <deque>
#include <map>

#include "base/bytes.hpp"
#include "support/linearizable.hpp"
#include "support/seed.hpp"
#include "world.hpp"

namespace rnic::tb {
namespace {

using namespace verbs;
using base::load_le;
using base::store_le;
using Kind = WordOp::Kind;

constexpr uint64_t kTarget = 0x10000000, kSecond = 4 * kTarget;  // addresses of the two STags
constexpr uint32_t kAccess = Host::kAll | IBV_ACCESS_REMOTE_ATOMIC;
constexpr uint64_t kOnes = ~uint64_t{0};
constexpr uint64_t kPoison = 0xdeadbeefdeadbeef;  // around the words, and in sinks
/// Offsets of the words: two in one cache line, two on either side of a page boundary.
constexpr std::array<uint64_t, 4> kWords{0x40, 0x48, 0xff8, 0x1000};
constexpr uint64_t kNoiseAt = 0x2000, kNoise = 0x1000;  // for Writes and Reads between the atomics
constexpr uint64_t kMemory = kNoiseAt + kNoise;

bool is_model(const Kinds& k) { return k[0].starts_with("model") && k[1].starts_with("model"); }

/// State shared by both hosts: words with two STags each, and barriers.
struct Shared {
  struct OfSide {
    std::array<uint32_t, 2> keys{};
    std::array<uint64_t, kWords.size()> starts{}, ends{};
  };
  std::array<OfSide, 2> sides;
  int opened = 0, ended = 0;
};

/// One host's part of a run: its words and its QPs, connected to those of the other host.
class Party {
 public:
  Party(Host& h, Shared& shared, unsigned qps, QpCap cap, base::Rng& rng)
      : host(h), me(h.side == kClient ? 0 : 1), shared_(shared) {
    h.open(1024);
    memory = h.region(kMemory, kAccess, kTarget);
    second_ = must(h.pd.reg_mr_iova(memory.buffer, 0, kMemory, kSecond, kAccess), "region");
    for (uint64_t at = 0; at < kNoiseAt; at += 8) store_le(memory.at(at), kPoison);
    for (size_t i = 0; i < kWords.size(); ++i) {
      own().starts[i] = rng.next();
      store_le(memory.at(kWords[i]), own().starts[i]);
    }
    own().keys = {memory.mr.rkey(), second_.rkey()};
    for (unsigned i = 0; i < qps; ++i) {
      Endpoint& e = h.endpoint(cap, rng.percent(25));
      if (me == 0) {
        h.connect(e, {.flush = true});
      } else {
        h.accept(e, {.flush = true});
      }
      qps_.push_back(&e);
    }
    ++shared_.opened;
    h.until("the other side", [&] { return shared_.opened == 2; });
  }

  Endpoint& qp(size_t number) { return *qps_[number]; }
  size_t count() const { return qps_.size(); }
  // Key and address by which this host reaches `offset` in the other host's memory; stag: 0 or 1,
  // which of its two STags.
  uint32_t far_key(unsigned stag) const { return shared_.sides[1 - me].keys[stag]; }
  static uint64_t far(unsigned stag, uint64_t offset) {
    return (stag == 0 ? kTarget : kSecond) + offset;
  }
  /// After the other side has ended too: records the words' final values, and checks that nothing
  /// else has changed.
  void finish() {
    ++shared_.ended;
    host.until("the other side's end", [&] { return shared_.ended == 2; });
    for (size_t i = 0; i < kWords.size(); ++i) {
      own().ends[i] = load_le<uint64_t>(memory.at(kWords[i]));
      store_le(memory.at(kWords[i]), kPoison);
    }
    for (uint64_t at = 0; at < kNoiseAt; at += 8)
      EXPECT_EQ(load_le<uint64_t>(memory.at(at)), kPoison) << "side " << me << " offset " << at;
  }

  Host& host;
  const unsigned me;
  Region memory;

 private:
  Shared::OfSide& own() { return shared_.sides[me]; }
  Shared& shared_;
  Mr second_;
  std::vector<Endpoint*> qps_;
};

/// A random request on a word. Operands conflict: a CmpSwap compares with a value that the side has
/// read recently, or with some of its bits.
WordOp random_op(base::Rng& rng, uint64_t seen) {
  WordOp op{.data = rng.percent(30) ? rng.below(4) : rng.next()};
  switch (rng.below(5)) {
    case 0:
      break;
    case 1: {
      const std::array<uint64_t, 4> masks{kOnes, 0x8000800080008000, 0x80000000, rng.next()};
      op.mask = rng.pick(std::span<const uint64_t>(masks));
      break;
    }
    case 2:
      op.kind = Kind::kCmpSwap;
      op.mask = op.compare_mask = kOnes;
      op.compare = rng.percent(70) ? seen : rng.next();
      break;
    case 3:
      op.kind = Kind::kCmpSwap;
      op.mask = rng.next();
      op.compare_mask = rng.percent(30) ? 0 : uint64_t{3} << rng.below(63);
      op.compare = rng.percent(70) ? seen : rng.next();
      break;
    default:
      op.kind = Kind::kAtomicWrite;
  }
  return op;
}

/// The operation as a work request. The list of an Atomic Write has one SGE, its inline value.
SendWr request_of(const WordOp& op, const Sge& sge, uint32_t key, uint64_t at, uint32_t flags) {
  SendWr wr{.sg_list = {&sge, 1}, .send_flags = flags, .remote_addr = at, .rkey = key};
  switch (op.kind) {
    case Kind::kFetchAdd:
      wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
      wr.compare_add = op.data;
      wr.add_mask = op.mask;
      break;
    case Kind::kCmpSwap:
      wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
      wr.compare_add = op.compare;
      wr.swap = op.data;
      wr.compare_mask = op.compare_mask;
      wr.swap_mask = op.mask;
      break;
    case Kind::kAtomicWrite:
      wr.opcode = IBV_WR_ATOMIC_WRITE;
      wr.send_flags |= IBV_SEND_INLINE;
  }
  return wr;
}

struct Traffic {
  unsigned qps = 4, each = 30, words = 2;  // QPs per side; operations per QP; words in use
};

/// One side of a random history: its QPs, and every operation that they have posted.
class Player {
 public:
  Player(Host& h, Shared& shared, const Traffic& t, base::Rng rng)
      : rng_(rng),
        traffic_(t),
        party_(h, shared, t.qps, Host::kCap, rng_),
        local_(h.region(2 * kNoise)),
        sinks_(h.region(8 * uint64_t{t.qps} * t.each)),
        lanes_(t.qps),
        seen_(shared.sides[1 - party_.me].starts) {
    for (Lane& lane : lanes_) lane.depth = 2 + static_cast<unsigned>(rng_.below(7));
  }

  std::vector<WordOp> play() {
    Host& h = party_.host;
    for (uint64_t left = uint64_t{traffic_.qps} * traffic_.each; left != 0;) {
      const auto k = static_cast<unsigned>(rng_.below(traffic_.qps));
      if (lanes_[k].posted == traffic_.each) continue;
      until("room", [&] { return outstanding(k) < lanes_[k].depth; });
      left -= post(k);
      if (!rng_.percent(10)) continue;
      const Time end = h.dev.now() + rng_.below(3 * kUs);
      until("a pause", [&] { return h.dev.now() >= end; });
    }
    until("completions", [&] {
      for (unsigned k = 0; k < traffic_.qps; ++k)
        if (outstanding(k) != 0) return false;
      return true;
    });
    party_.finish();
    return std::move(history_);
  }

 private:
  static constexpr size_t kNoOp = ~size_t{0};
  struct Lane {
    unsigned posted = 0, depth = 1;  // requests posted; most requests outstanding
    size_t taken = 0;                // completions that take() has handled
    std::vector<size_t> ops;         // indices of history_, by request; kNoOp: not an atomic
  };

  size_t outstanding(unsigned k) { return party_.qp(k).sends_outstanding(); }
  /// Records the time of each completion right after the poll that returned it.
  void until(const std::string& what, const std::function<bool()>& done) {
    party_.host.until(what, [&] {
      take();
      return done();
    });
  }
  /// Completes the operations of the history whose completions have been polled.
  void take() {
    for (unsigned k = 0; k < traffic_.qps; ++k) {
      Lane& lane = lanes_[k];
      const auto& done = party_.qp(k).done;
      for (; lane.taken < done.size(); ++lane.taken) {
        const Wc& wc = done[lane.taken];
        if (wc.status != IBV_WC_SUCCESS)
          throw std::runtime_error(fmt::format("QP {}: {}", k, to_string(wc.status)));
        const size_t index = lane.ops[lane.taken];
        if (index == kNoOp) continue;
        WordOp& op = history_[index];
        op.completed = party_.host.dev.now();
        if (op.kind == Kind::kAtomicWrite) continue;
        op.old = load_le<uint64_t>(sinks_.at(8 * index));
        seen_[op.word % kWords.size()] = *op.old;
      }
    }
  }

  /// Posts a few requests of a QP with one doorbell; returns their number.
  unsigned post(unsigned k) {
    Lane& lane = lanes_[k];
    const auto n = static_cast<unsigned>(std::min<uint64_t>(
        {1 + rng_.below(4), lane.depth - outstanding(k), traffic_.each - lane.posted}));
    std::vector<SendWr> wrs;
    std::deque<Sge> sges;
    std::deque<uint64_t> values;
    const Time now = party_.host.dev.now();
    for (unsigned i = 0; i < n; ++i) {
      const uint32_t flags = rng_.percent(10) ? uint32_t{IBV_SEND_FENCE} : 0u;
      const auto stag = static_cast<unsigned>(rng_.below(2));
      if (rng_.percent(15)) {
        const bool reads = rng_.percent(50);
        const auto bytes = static_cast<uint32_t>(rng_.between(1, kNoise));
        sges.push_back(local_.sge(reads ? kNoise : 0, bytes));
        wrs.push_back({.sg_list = {&sges.back(), 1},
                       .opcode = reads ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE,
                       .send_flags = flags,
                       .remote_addr = Party::far(stag, kNoiseAt),
                       .rkey = party_.far_key(stag)});
        lane.ops.push_back(kNoOp);
        continue;
      }
      const size_t word = rng_.percent(40) ? 0 : rng_.below(traffic_.words),
                   index = history_.size();
      WordOp op = random_op(rng_, seen_[word]);
      op.word = (1 - party_.me) * kWords.size() + word;
      op.client = 100 * party_.me + k;
      op.posted = now;
      if (op.kind == Kind::kAtomicWrite) {
        values.push_back(op.data);
        sges.push_back({base::address_of(&values.back()), 8, 0});
      } else {
        store_le(sinks_.at(8 * index), kPoison);
        sges.push_back(sinks_.sge(8 * index, 8));
      }
      wrs.push_back(
          request_of(op, sges.back(), party_.far_key(stag), Party::far(stag, kWords[word]), flags));
      history_.push_back(op);
      lane.ops.push_back(index);
    }
    lane.posted += n;
    (void)party_.qp(k).post(std::move(wrs));
    return n;
  }

  base::Rng rng_;
  const Traffic traffic_;
  Party party_;
  Region local_, sinks_;
  std::vector<Lane> lanes_;
  std::array<uint64_t, kWords.size()> seen_;  // remote words, by the old values returned
  std::vector<WordOp> history_;
};

/// Measures the concurrency of a history, so that a test that checks nothing is noticed.
struct Conflicts {
  size_t overlaps = 0;  // pairs of different QPs on one word, in flight at the same time
  size_t swapped = 0, not_swapped = 0;
};
Conflicts conflicts(const std::vector<WordOp>& history) {
  Conflicts c;
  for (size_t i = 0; i < history.size(); ++i) {
    const WordOp& a = history[i];
    if (a.kind == Kind::kCmpSwap)
      ++(((*a.old ^ a.compare) & a.compare_mask) == 0 ? c.swapped : c.not_swapped);
    for (size_t j = 0; j < i; ++j) {
      const WordOp& b = history[j];
      if (a.word == b.word && a.client != b.client && a.posted < b.completed &&
          b.posted < a.completed)
        ++c.overlaps;
    }
  }
  return c;
}

class AtomicHistory : public testing::TestWithParam<Kinds> {};

TEST_P(AtomicHistory, IsLinearizable) {
  const unsigned rounds = is_model(GetParam()) ? 25 : 1;
  for (unsigned round = 0; round < rounds; ++round) {
    in_child([&] {
      base::Rng rng = test_rng(fmt::format("round {}", round));
      const auto any = [&](std::initializer_list<const char*> from) {
        return std::string(from.begin()[rng.below(from.size())]);
      };
      const std::vector<std::string> settings{
          "link_delay_ns=" + any({"0", "100", "500"}),
          "link_gbps=" + any({"40", "100", "400"}),
          "mtu=" + any({"1500", "9000"}),
          "client.pcie_latency_ns=" + any({"100", "400"}),
          "server.pcie_latency_ns=" + any({"100", "400"}),
      };
      World w({.kind = GetParam(), .settings = settings, .seed = rng.next()});
      const bool is_slow = GetParam() == kTandemStall;
      const Traffic traffic{.qps = 3 + static_cast<unsigned>(rng.below(3)),
                            .each = is_slow ? 18u : 30u,
                            .words = 1 + static_cast<unsigned>(rng.below(kWords.size()))};
      Shared shared;
      std::array<std::vector<WordOp>, 2> histories;
      const auto body = [&](Host& h) {
        const unsigned me = h.side == kClient ? 0 : 1;
        histories[me] = Player(h, shared, traffic, rng.fork(me == 0 ? "client" : "server")).play();
      };
      w.run(body, body);
      if (HasFailure()) return;
      std::vector<WordOp> all = std::move(histories[0]);
      all.insert(all.end(), histories[1].begin(), histories[1].end());
      std::map<uint64_t, WordEnds> ends;
      for (unsigned side = 0; side < 2; ++side)
        for (size_t i = 0; i < kWords.size(); ++i)
          ends[side * kWords.size() + i] = {shared.sides[side].starts[i],
                                            shared.sides[side].ends[i]};
      const Verdict v = explain(all, ends);
      EXPECT_TRUE(v.ok) << "round " << round << ", " << v.report;
      const Conflicts c = conflicts(all);
      EXPECT_GT(c.overlaps, all.size() / 4) << "round " << round;
      EXPECT_GT(c.swapped, 0u) << "round " << round;
      EXPECT_GT(c.not_swapped, 0u) << "round " << round;
    });
    if (HasFailure()) return;
  }
}

/// 64 QPs (16 in tandem) of each host add concurrently to the words of the other, through two
/// STags. The old values of a word form one chain from its start to its end. Its end is its start
/// plus all additions.
class AtomicSum : public testing::TestWithParam<Kinds> {};

TEST_P(AtomicSum, OfManyQpsIsExact) {
  const bool is_tandem = GetParam()[0].starts_with("tandem");
  const unsigned qps = is_tandem ? 16 : 64, each = is_model(GetParam()) ? 32 : 4;
  struct Added {
    size_t word;
    uint64_t add, old;
  };
  in_child([&] {
    base::Rng seeds = test_rng();
    // The set-up of the connections dominates a run of RTL: short delays reduce it.
    World w({.kind = GetParam(),
             .settings = {"link_delay_ns=0", "pcie_latency_ns=100"},
             .seed = seeds.next()});
    Shared shared;
    std::array<std::vector<Added>, 2> added;
    const auto body = [&](Host& h) {
      const unsigned me = h.side == kClient ? 0 : 1;
      base::Rng rng = seeds.fork(me == 0 ? "client" : "server");
      Party party(h, shared, qps, {.max_send_wr = 8, .max_recv_wr = 2, .max_recv_sge = 1}, rng);
      Region sinks = h.region(8 * uint64_t{qps} * each);
      for (unsigned i = 0; i < qps * each; ++i) {
        Endpoint& e = party.qp(i % qps);
        h.until("room", [&] { return e.sends_outstanding() < 4; });
        const auto stag = static_cast<unsigned>(rng.below(2));
        const Added a{rng.percent(75) ? 0 : rng.below(kWords.size()), 1 + rng.below(1000), 0};
        store_le(sinks.at(8 * i), kPoison);
        (void)e.fetch_add(sinks.sge(8 * i, 8), party.far_key(stag),
                          Party::far(stag, kWords[a.word]), a.add);
        added[me].push_back(a);
      }
      for (unsigned k = 0; k < qps; ++k) {
        h.until_complete(party.qp(k), "all");
        for (const Wc& wc : party.qp(k).done)
          if (wc.status != IBV_WC_SUCCESS)
            throw std::runtime_error(std::string(to_string(wc.status)));
      }
      for (unsigned i = 0; i < qps * each; ++i)
        added[me][i].old = load_le<uint64_t>(sinks.at(8 * i));
      party.finish();
    };
    w.run(body, body);
    if (HasFailure()) return;
    for (unsigned me = 0; me < 2; ++me) {
      const Shared::OfSide& far = shared.sides[1 - me];
      for (size_t k = 0; k < kWords.size(); ++k) {
        std::map<uint64_t, uint64_t> next;
        uint64_t sum = 0;
        for (const Added& a : added[me]) {
          if (a.word != k) continue;
          sum += a.add;
          EXPECT_TRUE(next.emplace(a.old, a.old + a.add).second) << "two saw " << a.old;
        }
        EXPECT_EQ(far.starts[k] + sum, far.ends[k]) << "side " << me << " word " << k;
        uint64_t at = far.starts[k];
        for (size_t i = 0; i < next.size(); ++i) {
          ASSERT_TRUE(next.contains(at)) << "side " << me << " word " << k << ": none saw " << at;
          at = next[at];
        }
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, AtomicHistory,
                         testing::Values(kModel, kTandem, kModelMinimum, kTandemMinimum,
                                         kTandemStall, Kinds{"model", "rtl"},
                                         Kinds{"rtl", "model"}),
                         name_of_kinds);
INSTANTIATE_TEST_SUITE_P(Kinds, AtomicSum, testing::Values(kModel, kTandem, Kinds{"rtl", "model"}),
                         name_of_kinds);

}  // namespace
}  // namespace rnic::tb

// The test of the checker of histories. It accepts the results of a server that executes atomics
// one by one. It refuses histories that no order explains. It agrees with all permutations of small
// histories. The server computes with model/atomic, so the test compares two sources of the
// semantics.
#include "support/linearizable.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <numeric>

#include "atomic/atomic_alu.hpp"
#include "support/seed.hpp"

namespace rnic::tb {
namespace {

using Kind = WordOp::Kind;
using History = std::vector<WordOp>;
constexpr uint64_t kOnes = ~uint64_t{0};

// One operation each on word 0: a FetchAdd, a CmpSwap of all bits, an Atomic Write.
WordOp add(uint32_t client, uint64_t posted, uint64_t completed, uint64_t data, uint64_t old) {
  return {.client = client, .data = data, .old = old, .posted = posted, .completed = completed};
}
WordOp swap(uint32_t client, uint64_t posted, uint64_t completed, uint64_t compare, uint64_t data,
            uint64_t old) {
  return {.client = client,
          .kind = Kind::kCmpSwap,
          .data = data,
          .mask = kOnes,
          .compare = compare,
          .compare_mask = kOnes,
          .old = old,
          .posted = posted,
          .completed = completed};
}
WordOp write(uint32_t client, uint64_t posted, uint64_t completed, uint64_t data) {
  return {.client = client,
          .kind = Kind::kAtomicWrite,
          .data = data,
          .posted = posted,
          .completed = completed};
}
/// explain() for a history of word 0. The verdict's `prefix`: how many completions, in order of
/// time, are enough to show that no order explains them.
Verdict of(const History& h, uint64_t initial, std::optional<uint64_t> final = {}) {
  return explain(h, {{0, {initial, final}}});
}

/// Typed by hand from RFC 7306 5.1.1 and 5.1.2.
TEST(Linearizable, Semantics) {
  struct Row {
    Kind kind;
    uint64_t value, data, mask, compare, compare_mask, want;
  };
  constexpr Kind kAdd = Kind::kFetchAdd, kSwap = Kind::kCmpSwap, kWrite = Kind::kAtomicWrite;
  const Row rows[] = {
      {kAdd, 41, 1, 0, 0, 0, 42},
      {kAdd, kOnes, 1, 0, 0, 0, 0},
      {kAdd, 0xffffffff, 1, 0x80000000, 0, 0, 0},
      {kAdd, 0xffffffff, 1, 0x8000000000000000, 0, 0, 0x100000000},
      {kAdd, 0xffff0000ffff0001, 0x0001000100010001, 0x8000800080008000, 0, 0, 0x0000000100000002},
      {kAdd, 0xf0f0, 0x0ff0, kOnes, 0, 0, 0xff00},
      {kAdd, 0x1, 0x1, 0x1, 0, 0, 0},
      {kSwap, 7, 9, kOnes, 7, kOnes, 9},
      {kSwap, 7, 9, kOnes, 8, kOnes, 7},
      {kSwap, 0x1122334455667788, 0xaaaaaaaaaaaaaaaa, 0xff, 0x88, 0xff, 0x11223344556677aa},
      {kSwap, 0x1122334455667788, 0xaaaaaaaaaaaaaaaa, 0xff, 0x87, 0xff, 0x1122334455667788},
      {kSwap, 0x1122334455667788, 0xaaaaaaaaaaaaaaaa, 0xff00, 0x99, 0, 0x112233445566aa88},
      {kWrite, 5, 0xfedcba9876543210, 0, 0, 0, 0xfedcba9876543210},
  };
  for (const Row& r : rows) {
    const WordOp op{.kind = r.kind,
                    .data = r.data,
                    .mask = r.mask,
                    .compare = r.compare,
                    .compare_mask = r.compare_mask};
    EXPECT_EQ(after(op, r.value), r.want) << to_string(op) << " of " << r.value;
  }
}

// --- histories of a server

struct Shape {
  uint32_t clients = 4;
  uint32_t each = 60;  // operations per client
  uint32_t depth = 6;  // in flight per client
  uint32_t words = 2;
  bool adds_only = false;
};

uint64_t any_mask(base::Rng& rng) {
  switch (rng.below(4)) {
    case 0:
      return 0;
    case 1:
      return kOnes;
    case 2:
      return 0x8000800080008000;
    default:
      return rng.next();
  }
}

/// A history, and the values of its words before and after.
struct Served {
  History history;
  std::map<uint64_t, WordEnds> ends;
};
/// Simulates a server that executes the requests of each client in order, at random times.
Served serve(base::Rng& rng, const Shape& shape) {
  Served s;
  std::vector<uint64_t> value(shape.words);
  for (uint64_t w = 0; w < shape.words; ++w) s.ends[w].initial = value[w] = rng.next();
  struct Client {
    uint32_t posted = 0;
    std::deque<size_t> waits, served;  // operations in flight: not executed yet, and executed
  };
  std::vector<Client> clients(shape.clients);
  uint64_t left = uint64_t{shape.clients} * shape.each;
  for (uint64_t now = 1; left != 0; ++now) {
    const auto number = static_cast<uint32_t>(rng.below(shape.clients));
    Client& c = clients[number];
    switch (rng.below(3)) {
      case 0: {  // the client posts an operation
        if (c.posted == shape.each || c.waits.size() + c.served.size() == shape.depth) break;
        ++c.posted;
        const uint64_t w = rng.below(shape.words);
        WordOp op{.word = w, .client = number, .data = rng.next(), .posted = now};
        const uint64_t kind = shape.adds_only ? 0 : rng.below(4);
        if (!shape.adds_only) op.mask = any_mask(rng);
        if (kind == 1 || kind == 2) {
          op.kind = Kind::kCmpSwap;
          op.compare = rng.percent(50) ? value[w] : rng.next();
          op.compare_mask = rng.percent(50) ? kOnes : rng.next() & rng.next() & rng.next();
        } else if (kind == 3) {
          op.kind = Kind::kAtomicWrite;
        }
        c.waits.push_back(s.history.size());
        s.history.push_back(op);
        break;
      }
      case 1: {  // the server executes the client's oldest one
        if (c.waits.empty()) break;
        WordOp& op = s.history[c.waits.front()];
        uint64_t& v = value[op.word];
        const model::AtomicOperands o{op.data, op.mask, op.compare, op.compare_mask};
        if (op.kind != Kind::kAtomicWrite) op.old = v;
        v = op.kind == Kind::kAtomicWrite ? op.data
            : op.kind == Kind::kFetchAdd  ? model::fetch_add(v, o).value
                                          : model::cmp_swap(v, o).value;
        c.served.push_back(c.waits.front());
        c.waits.pop_front();
        break;
      }
      default: {  // it completes
        if (c.served.empty()) break;
        s.history[c.served.front()].completed = now;
        c.served.pop_front();
        --left;
      }
    }
  }
  for (uint64_t w = 0; w < shape.words; ++w) s.ends[w].final = value[w];
  return s;
}

TEST(Linearizable, AcceptsWhatAServerReturns) {
  base::Rng rng = test_rng();
  for (int round = 0; round < 60; ++round) {
    const Shape shape{.clients = 1 + static_cast<uint32_t>(rng.below(6)),
                      .each = 60,
                      .depth = 1 + static_cast<uint32_t>(rng.below(8)),
                      .words = 1 + static_cast<uint32_t>(rng.below(3)),
                      .adds_only = round % 6 == 0};
    const Served s = serve(rng, shape);
    const Verdict v = explain(s.history, s.ends);
    ASSERT_TRUE(v.ok) << "round " << round << ": " << v.report;
  }
}

/// Random damage to a server's results. Values have 64 random bits, so no other order can explain
/// them by chance.
TEST(Linearizable, RefusesDamage) {
  base::Rng rng = test_rng();
  int damaged = 0;
  for (int round = 0; round < 200; ++round) {
    const bool adds_only = round % 4 == 3;  // the old values of FetchAdds fix their order
    Served s = serve(rng, {.adds_only = adds_only});
    const auto with_old = [&] {  // a random operation that has an old value
      size_t i = rng.below(s.history.size());
      while (!s.history[i].old) i = rng.below(s.history.size());
      return i;
    };
    std::string what;
    switch (round % 4) {
      case 0: {
        const size_t i = with_old();
        *s.history[i].old ^= uint64_t{1} << rng.below(64);
        what = "one bit of an old value";
        break;
      }
      case 1: {
        *s.ends[rng.below(2)].final ^= uint64_t{1} << rng.below(64);
        what = "one bit of a final value";
        break;
      }
      case 2: {
        s.ends[rng.below(2)].initial ^= uint64_t{1} << rng.below(64);
        what = "one bit of an initial value";
        break;
      }
      default: {
        const size_t i = with_old();
        size_t j = with_old();
        while (i == j || s.history[i].word != s.history[j].word) j = with_old();
        std::swap(s.history[i].old, s.history[j].old);
        what = "two old values swapped";
      }
    }
    const Verdict v = explain(s.history, s.ends);
    // A CmpSwap or Atomic Write of all bits may hide an initial value that no operation has read.
    if (v.ok && round % 4 == 2) continue;
    ++damaged;
    EXPECT_FALSE(v.ok) << "round " << round << ": " << what;
    EXPECT_TRUE(v.decided) << v.report;
  }
  EXPECT_GT(damaged, 180);
}

// --- histories by hand: with and without the fault

TEST(Linearizable, OldValuesSwapped) {
  const auto h = [](uint64_t a, uint64_t b) {
    return History{add(0, 1, 2, 10, a), add(1, 3, 4, 20, b)};
  };
  EXPECT_TRUE(of(h(0, 10), 0, 30).ok);
  const Verdict v = of(h(20, 0), 0, 30);
  EXPECT_FALSE(v.ok);
  EXPECT_EQ(v.prefix, 1u);
}

/// Two operations in flight together, each with the old value of the first.
TEST(Linearizable, LostUpdate) {
  EXPECT_TRUE(of({add(0, 1, 9, 1, 0), add(1, 1, 9, 1, 1)}, 0, 2).ok);
  const Verdict v = of({add(0, 1, 9, 1, 0), add(1, 1, 9, 1, 0)}, 0, 1);
  EXPECT_FALSE(v.ok);
  EXPECT_EQ(v.prefix, 2u);
  EXPECT_FALSE(of({add(0, 1, 9, 1, 0), add(1, 1, 9, 1, 1)}, 0, 1).ok) << "only memory shows it";
}

TEST(Linearizable, StaleReadAfterACompletion) {
  EXPECT_TRUE(of({write(0, 1, 5, 7), add(1, 4, 9, 0, 0)}, 0, 7).ok) << "at once";
  EXPECT_TRUE(of({write(0, 1, 5, 7), add(1, 5, 9, 0, 0)}, 0, 7).ok) << "equal times order nothing";
  EXPECT_TRUE(of({write(0, 1, 5, 7), add(1, 6, 9, 0, 7)}, 0, 7).ok);
  const Verdict v = of({write(0, 1, 5, 7), add(1, 6, 9, 0, 0)}, 0, 7);
  EXPECT_FALSE(v.ok);
  EXPECT_EQ(v.prefix, 2u);
}

TEST(Linearizable, AtomicWriteTornOrLost) {
  constexpr uint64_t kOld = 0x1111111122222222, kNew = 0x3333333344444444;
  const auto seen = [&](uint64_t old) {
    return of({write(0, 1, 9, kNew), add(1, 2, 8, 0, old), add(1, 10, 11, 0, kNew)}, kOld, kNew).ok;
  };
  EXPECT_TRUE(seen(kOld));
  EXPECT_TRUE(seen(kNew));
  EXPECT_FALSE(seen(0x1111111144444444));
  EXPECT_FALSE(seen(0x3333333322222222));
  EXPECT_FALSE(of({write(0, 1, 9, kNew), add(1, 10, 11, 0, kOld)}, kOld, kOld).ok) << "lost";
  EXPECT_FALSE(of({write(0, 1, 9, kNew)}, kOld, kOld).ok) << "lost, without a read";
  EXPECT_FALSE(of({write(0, 1, 9, kNew), add(1, 2, 3, 0, kNew), add(1, 4, 5, 0, kOld)}, kOld).ok)
      << "and back";
}

/// Each old value has an order by itself; both together need an order that real time forbids.
TEST(Linearizable, OrderInRealTime) {
  const auto h = [](uint64_t second_posted) {
    return History{write(0, 1, 4, 1), write(1, second_posted, 8, 2), add(2, 9, 10, 0, 1)};
  };
  EXPECT_TRUE(of(h(3), 0, 1).ok) << "the Atomic Writes overlap";
  EXPECT_FALSE(of(h(5), 0, 1).ok) << "the second was posted when the first had completed";
}

/// Operations of one QP overlap in time, but must be in order.
TEST(Linearizable, OrderOfAClient) {
  EXPECT_TRUE(of({add(0, 1, 9, 1, 5), add(0, 2, 9, 1, 6)}, 5, 7).ok);
  EXPECT_FALSE(of({add(0, 1, 9, 1, 6), add(0, 2, 9, 1, 5)}, 5, 7).ok);
  EXPECT_TRUE(of({add(0, 1, 9, 1, 6), add(1, 2, 9, 1, 5)}, 5, 7).ok) << "of two clients";
}

TEST(Linearizable, ALockHeldTwice) {
  EXPECT_TRUE(of({swap(0, 1, 5, 0, 1, 0), swap(1, 2, 6, 0, 2, 1)}, 0, 1).ok);
  EXPECT_TRUE(of({swap(0, 1, 5, 0, 1, 2), swap(1, 2, 6, 0, 2, 0)}, 0, 2).ok);
  EXPECT_FALSE(of({swap(0, 1, 5, 0, 1, 0), swap(1, 2, 6, 0, 2, 0)}, 0, 1).ok);
  EXPECT_FALSE(of({swap(0, 1, 5, 0, 1, 0), swap(1, 2, 6, 0, 2, 0)}, 0, 2).ok);
}

TEST(Linearizable, FinalValueWrong) {
  const History h{add(0, 1, 2, 1, 0), add(1, 1, 3, 1, 1)};
  EXPECT_TRUE(of(h, 0, 2).ok);
  EXPECT_TRUE(of(h, 0).ok);
  const Verdict v = of(h, 0, 3);
  EXPECT_FALSE(v.ok);
  EXPECT_EQ(v.prefix, 3u) << "one more than its completions";
  EXPECT_TRUE(of({}, 4, 4).ok);
  EXPECT_FALSE(of({}, 4, 5).ok);
}

TEST(Linearizable, OneThatNeverCompletes) {
  WordOp lost = write(0, 3, WordOp::kNever, 7);
  EXPECT_TRUE(of({lost}, 0, 0).ok);
  EXPECT_TRUE(of({lost}, 0, 7).ok);
  EXPECT_FALSE(of({lost}, 0, 6).ok);
  EXPECT_TRUE(of({lost, add(1, 4, 5, 0, 7), add(1, 6, 7, 0, 7)}, 0, 7).ok);
  EXPECT_FALSE(of({lost, add(1, 4, 5, 0, 7), add(1, 6, 7, 0, 0)}, 0, 0).ok);
  EXPECT_FALSE(of({lost, add(1, 1, 2, 0, 7)}, 0, 7).ok) << "not yet posted";
}

TEST(Linearizable, MalformedHistories) {
  EXPECT_FALSE(of({add(0, 5, 4, 1, 0)}, 0).ok) << "completes before its post";
  EXPECT_FALSE(of({{.posted = 1, .completed = 2}}, 0).ok) << "a FetchAdd without an old value";
  EXPECT_FALSE(explain(History{{.word = 3, .old = 0, .completed = 1}}, {}).ok) << "no ends";
}

// --- all permutations

/// The most completions of a word that any permutation explains, plus one if it also explains the
/// final value.
size_t explained(const History& h, const WordEnds& ends) {
  std::vector<size_t> by_time(h.size()), p(h.size());
  std::iota(by_time.begin(), by_time.end(), size_t{0});
  std::ranges::stable_sort(by_time, {}, [&](size_t i) { return h[i].completed; });
  std::iota(p.begin(), p.end(), size_t{0});
  size_t best = 0;
  do {
    uint64_t value = ends.initial;
    std::vector<bool> done(h.size());
    for (size_t n = 0;; ++n) {
      size_t prefix = 0;
      while (prefix < h.size() && done[by_time[prefix]]) ++prefix;
      best = std::max(best, prefix + (prefix == h.size() && value == *ends.final ? 1u : 0u));
      if (n == h.size()) break;
      const WordOp& op = h[p[n]];
      bool may = !op.old || *op.old == value;
      for (size_t j = 0; j < h.size(); ++j) {
        if (done[j] || j == p[n]) continue;
        if (h[j].completed < op.posted || (h[j].client == op.client && j < p[n])) may = false;
      }
      if (!may) break;
      value = after(op, value);
      done[p[n]] = true;
    }
  } while (std::next_permutation(p.begin(), p.end()));
  return best;
}

TEST(Linearizable, AgreesWithAllPermutations) {
  base::Rng rng = test_rng();
  std::array<size_t, 7> seen{};  // by explained(): 0 to 5, or 6 with the final value
  for (int round = 0; round < 10'000; ++round) {
    constexpr size_t kOps = 5;
    History h;
    for (size_t i = 0; i < kOps; ++i) {
      WordOp op{.client = static_cast<uint32_t>(rng.below(3)),
                .kind = static_cast<Kind>(rng.below(3)),
                .data = rng.below(3),
                .mask = rng.percent(80) ? 0 : rng.below(4),
                .compare = rng.below(3),
                .compare_mask = kOnes};
      if (op.kind == Kind::kCmpSwap) op.mask = rng.percent(80) ? kOnes : rng.below(4);
      if (op.kind != Kind::kAtomicWrite) op.old = rng.below(4);
      op.posted = rng.below(12);
      op.completed = op.posted + rng.below(8);
      h.push_back(op);
    }
    const WordEnds ends{.initial = rng.below(2), .final = rng.below(4)};
    const size_t want = explained(h, ends);
    const Verdict v = explain(h, {{0, ends}});
    ++seen[want];
    if (want == kOps + 1) {
      ASSERT_TRUE(v.ok) << "round " << round << ": " << v.report;
    } else {
      ASSERT_FALSE(v.ok) << "round " << round;
      ASSERT_EQ(v.prefix, want + 1) << "round " << round << ": " << v.report;
    }
  }
  for (const size_t n : seen) EXPECT_GT(n, 100u) << "of a length of the prefix";
}

}  // namespace
}  // namespace rnic::tb

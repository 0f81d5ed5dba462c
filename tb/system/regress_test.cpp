// Random host programs on pairings of devices, and the regression itself: plans are a function of
// their seed, all classes are drawn, and a failing run reports and shrinks.
#include "regress/regress.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <thread>
#include <tuple>

#include "atomic/atomic_alu.hpp"
#include "base/bytes.hpp"
#include "regress/coverage.hpp"
#include "regress/run_plan.hpp"
#include "regress/shrink.hpp"
#include "run/child.hpp"
#include "run/devices.hpp"
#include "support/folder.hpp"

namespace rnic::app {
namespace {

using regress::Op;
using regress::Plan;

RegressRequest request(const char* client, const char* server, uint64_t ops,
                       std::vector<const char*> settings = {}) {
  RegressRequest r;
  r.kind = {client, server};
  r.ops = ops;
  r.quiet = true;
  r.jobs = std::max(1u, std::thread::hardware_concurrency());
  for (const char* s : settings) r.config.set(s, "test");
  return r;
}

struct Case {
  const char *client, *server;
  uint64_t ops, seed;
  std::vector<const char*> settings;
};
void PrintTo(const Case& c, std::ostream* to) {
  *to << c.client << "-" << c.server << ", " << c.ops << " operations, seed " << c.seed;
  for (const char* s : c.settings) *to << " " << s;
}
class RegressTest : public testing::TestWithParam<Case> {};

TEST_P(RegressTest, MemoryAndCompletionsAreAsPlanned) {
  RegressRequest r =
      request(GetParam().client, GetParam().server, GetParam().ops, GetParam().settings);
  r.seed = GetParam().seed;
  r.quiet = false;  // prints the table of the draws
  EXPECT_EQ(run_regression(r), kGood);
}

std::vector<Case> cases() {
  std::vector<Case> all = {{"rtl", "model", 500, 1, {"build=minimum"}},
                           {"model", "rtl", 500, 2000, {"build=minimum"}},
                           {"tandem", "tandem", 250, 5000, {"reset_seed=7"}},
                           {"model", "model", 3000, 6000, {}},
                           {"model", "model", 3000, 7000, {"build=minimum"}},
                           {"tandem", "model", 1000, 10000, {}},
                           {"model", "tandem", 750, 20000, {"build=minimum"}},
                           {"tandem", "tandem", 500, 30000, {"build=stall", "stall_percent=5"}},
                           {"tandem", "tandem", 500, 31000, {"build=stall", "stall_percent=20"}},
                           {"tandem", "tandem", 250, 32000, {"build=stall", "stall_percent=50"}},
                           // A region is destroyed while the follower still holds lookups of a
                           // refused segment.
                           {"rtl", "tandem", 250, 926639, {"build=stall", "stall_percent=65"}},
                           // An atomic is answered after its QP has failed: rdmap_atomic has not
                           // taken the report yet.
                           {"rtl", "tandem", 250, 9100253, {"build=stall", "stall_percent=35"}}};
  return all;
}

INSTANTIATE_TEST_SUITE_P(Pairings, RegressTest, testing::ValuesIn(cases()), [](const auto& info) {
  return fmt::format("{}_{}_seed{}", info.param.client, info.param.server, info.param.seed);
});

TEST(Plans, SameSeedGivesTheSamePlan) {
  EXPECT_EQ(regress::generate(5, 100, {}).describe(), regress::generate(5, 100, {}).describe());
  EXPECT_NE(regress::generate(5, 100, {}).describe(), regress::generate(6, 100, {}).describe());
}

TEST(Plans, TwoThousandOperationsDrawEveryClass) {
  for (const bool minimum : {false, true}) {
    for (const uint64_t first : {1u, 1000u, 70000u}) {
      regress::Coverage c({}, minimum);
      for (uint64_t k = 0; k < 8; ++k)
        c.count(regress::generate(first + k, 250, {.minimum = minimum}));
      EXPECT_TRUE(c.empty().empty()) << "first seed " << first << ": " << c.empty()[0];
    }
  }
}

TEST(Plans, TenThousandOperationsDrawEveryClassOfSettings) {
  for (const bool minimum : {false, true}) {
    for (const uint64_t first : {1u, 10'000u, 20'000u, 70'000u}) {
      regress::Coverage c({}, minimum);
      for (uint64_t k = 0; k < regress::Coverage::kPlansForSettings; ++k)
        c.count(regress::generate(first + k, 250, {.minimum = minimum}));
      EXPECT_TRUE(c.empty().empty()) << "first seed " << first << ": " << c.empty()[0];
    }
  }
}

TEST(Plans, SettingThatWasNeverDrawnIsAskedFor) {
  regress::Coverage all, given({"pcie_mps", "markers"});
  for (uint64_t k = 0; k < regress::Coverage::kPlansForSettings; ++k) {
    Plan p = regress::generate(1 + k, 250, {});
    p.markers = false;
    for (auto& [name, value] : p.settings)
      if (name.ends_with("pcie_mps")) value = "256";
    all.count(p);
    given.count(p);
  }
  EXPECT_EQ(all.empty(), (std::vector<std::string>{"settings: MPS 128", "settings: MPS 512",
                                                   "settings: markers on"}));
  EXPECT_TRUE(given.empty().empty()) << given.empty()[0];
}

TEST(Plans, NoTwoOperationsWriteTheSameByte) {
  for (uint64_t seed = 0; seed < 16; ++seed) {
    const Plan p = regress::generate(seed, 250, {.minimum = seed % 2 == 1});
    regress::Memory written = regress::initial(p);
    for (auto& side : written.landing) {
      for (auto& bytes : side) std::fill(bytes.begin(), bytes.end(), uint8_t{0});
    }
    for (const auto& o : p.ops) {
      if (o.op == Op::kAtomicWrite) continue;  // words may be rewritten
      const bool is_read = o.has_sink();
      auto& bytes = written.landing[is_read ? o.side : 1 - o.side][o.qp];
      for (const auto& piece : is_read              ? o.local
                               : o.op == Op::kWrite ? std::vector<regress::Piece>{o.remote}
                                                    : o.receive) {
        ASSERT_LE(piece.offset + piece.length, bytes.size()) << o.describe();
        for (uint32_t i = 0; i < piece.length; ++i)
          ASSERT_EQ(bytes[piece.offset + i]++, 0) << o.describe();
      }
    }
  }
}

/// Both sides of the stream request Flush; durability only for persistent memory.
TEST(Plans, FlushesAreOfRangesThatMayBeFlushed) {
  unsigned flushes = 0, durable = 0;
  for (uint64_t seed = 0; seed < 16; ++seed) {
    const bool has_persistence = seed % 4 != 3;
    const Plan p =
        regress::generate(seed, 250, {.has_persistence = {has_persistence, has_persistence}});
    for (const auto& o : p.ops) {
      if (o.op != Op::kFlush) continue;
      const unsigned peer = 1 - o.side;
      ++flushes;
      EXPECT_TRUE(p.life[o.qp].has_flush()) << o.describe();
      EXPECT_TRUE(o.remote_landing && o.local.empty() && o.receive.empty()) << o.describe();
      EXPECT_LE(o.remote.offset + o.length, p.landing_bytes[peer][o.qp]) << o.describe();
      EXPECT_TRUE(o.flush_type >= 1 && o.flush_type <= 3) << o.describe();
      if (!p.life[o.qp].persistent[peer]) {
        EXPECT_EQ(o.flush_type, regress::kVisible);
      }
      durable += o.flush_type != regress::kVisible;
    }
    for (uint32_t q = 0; q < p.qps; ++q) {
      const regress::Life& l = p.life[q];
      EXPECT_TRUE(has_persistence || !(l.persistent[0] || l.persistent[1])) << l.describe(q);
      if (l.end != regress::End::kFault) continue;
      EXPECT_TRUE(!regress::is_of_flush(l.fault) || l.has_flush()) << l.describe(q);
      EXPECT_TRUE(l.fault != regress::Fault::kFlushOff || !l.has_flush()) << l.describe(q);
    }
  }
  EXPECT_GT(flushes, 200u);
  EXPECT_GT(durable, 50u);
}

/// Words are aligned, belong to streams with the extensions, and no Write after their first
/// operation touches them; an old value has a separate aligned sink.
TEST(Plans, WordsAreOfOneQpAndAligned) {
  unsigned words = 0, again = 0, of_writes = 0;
  for (uint64_t seed = 0; seed < 16; ++seed) {
    const Plan p = regress::generate(seed, 250, {.minimum = seed % 2 == 1});
    std::map<std::tuple<unsigned, uint32_t, uint32_t>, unsigned>
        seen;  // memory of a side, QP, offset
    for (const auto& o : p.ops) {
      const unsigned peer = 1 - o.side;
      const auto writes = [&](uint32_t at, uint32_t bytes) {
        for (const auto& [word, n] : seen) {
          const auto [side, qp, offset] = word;
          if (side != peer || qp != o.qp) continue;
          EXPECT_TRUE(at + bytes <= offset || offset + regress::kWord <= at) << o.describe();
        }
      };
      if (o.op == Op::kWrite) writes(o.remote.offset, o.length);
      for (const auto& piece : o.receive) writes(piece.offset, piece.length);
      if (!o.is_word()) continue;
      EXPECT_TRUE(p.life[o.qp].has_flush()) << o.describe();
      EXPECT_TRUE(o.remote_landing && o.receive.empty() && !o.is_inline) << o.describe();
      EXPECT_EQ(o.length, regress::kWord);
      EXPECT_EQ(o.remote.offset % regress::kWord, 0u) << o.describe();
      EXPECT_LE(o.remote.offset + regress::kWord, p.landing_bytes[peer][o.qp]) << o.describe();
      EXPECT_EQ(o.local.size(), o.fetches() ? 1u : 0u) << o.describe();
      for (const auto& sink : o.local) EXPECT_EQ(sink.offset % regress::kWord, 0u) << o.describe();
      ++words;
      again += seen[{peer, o.qp, o.remote.offset}]++ != 0;
      of_writes += o.of_write;
    }
    for (uint32_t q = 0; q < p.qps; ++q) {
      const regress::Life& l = p.life[q];
      if (l.end != regress::End::kFault) continue;
      EXPECT_TRUE(!regress::is_of_atomic(l.fault) || l.has_flush()) << l.describe(q);
      EXPECT_TRUE(l.fault != regress::Fault::kAtomicOff || !l.has_flush()) << l.describe(q);
    }
  }
  EXPECT_GT(words, 500u);
  EXPECT_GT(again, 250u);
  EXPECT_GT(of_writes, 50u);
}

/// The final words, and the old values, equal those of a second walk through the operations.
TEST(Plans, ReferenceComputesTheWords) {
  unsigned compared = 0;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const Plan p = regress::generate(seed, 250, {});
    const regress::Memory m = regress::reference(p);
    std::map<std::tuple<unsigned, uint32_t, uint32_t>, uint64_t> now;
    for (const auto& o : p.ops) {
      if (!o.is_word()) continue;
      const unsigned peer = 1 - o.side;
      const auto& values = m.words[peer][o.qp].at(o.remote.offset);
      uint64_t& word = now.try_emplace({peer, o.qp, o.remote.offset}, values.front()).first->second;
      if (o.fetches()) {
        EXPECT_EQ(base::load_le<uint64_t>(&m.landing[o.side][o.qp][o.local[0].offset]), word)
            << o.describe();
        const model::AtomicOperands with{
            .data = o.data,
            .mask = o.mask,
            .compare = o.op == Op::kCmpSwap ? m.compare.at(o.number) : 0,
            .compare_mask = o.compare_mask};
        const auto r =
            o.op == Op::kFetchAdd ? model::fetch_add(word, with) : model::cmp_swap(word, with);
        if (o.op == Op::kCmpSwap && o.compare_mask != 0) {
          EXPECT_EQ(r.writes, o.matches) << o.describe();
        }
        word = r.value;
      } else {
        word = o.data;
      }
      EXPECT_EQ(values[m.step.at(o.number)], word) << o.describe();
      ++compared;
    }
    for (const auto& [where, value] : now) {
      const auto [side, qp, offset] = where;
      EXPECT_EQ(base::load_le<uint64_t>(&m.landing[side][qp][offset]), value) << seed;
    }
  }
  EXPECT_GT(compared, 250u);
}

/// Each use of a loan lies in the range of an open one, each end is of an open one, and each group
/// waits only for operations before its first one. Returns the uses and ends.
unsigned check_loans(const Plan& p) {
  struct State {
    const regress::Operation* opened = nullptr;
    bool is_returned = false;
  };
  std::map<std::tuple<unsigned, uint32_t, uint32_t>, State> loans;
  std::map<std::pair<unsigned, uint32_t>, uint32_t> group;
  std::map<uint32_t, uint32_t> spoke;  // the client's first message of a QP
  unsigned uses = 0;
  for (const auto& o : p.ops) {
    const unsigned owner = o.is_of_loan() ? o.side : 1 - o.side;
    uint32_t& first = group[{o.side, o.qp}];
    if (!o.joined) first = o.number;
    if (o.after != 0) {
      EXPECT_LT(o.after, first) << o.describe();
    }
    if (o.after != 0 && o.side == kClient) {
      EXPECT_TRUE(spoke.contains(o.qp) && spoke[o.qp] < first) << o.describe();
    }
    if (o.side == kClient && !o.is_of_loan()) spoke.try_emplace(o.qp, o.number);
    if (o.sink_loan != 0) {
      const State& s = loans[{o.side, o.qp, o.sink_loan}];
      EXPECT_TRUE(s.opened != nullptr && s.opened->is_own) << o.describe();
    }
    if (o.loan == 0) continue;
    State& s = loans[{owner, o.qp, o.loan}];
    const auto kind = p.loans[owner][o.qp].at(o.loan - 1);
    const bool is_window1 = kind == regress::Loan::kWindow1;
    if (o.opens()) {
      EXPECT_TRUE(s.opened == nullptr || (is_window1 && s.is_returned)) << o.describe();
      EXPECT_EQ(o.op == Op::kRegMr, kind == regress::Loan::kFast) << o.describe();
      EXPECT_LE(o.range.offset + o.range.length, p.landing_bytes[o.side][o.qp]) << o.describe();
      s = {&o, false};
      continue;
    }
    ++uses;
    EXPECT_NE(s.opened, nullptr) << o.describe();
    if (s.opened == nullptr) return uses;
    if (o.is_of_loan()) {
      EXPECT_TRUE(s.is_returned || s.opened->is_own) << o.describe();
      EXPECT_EQ(o.unbinds, is_window1) << o.describe();
      s = {};
      continue;
    }
    EXPECT_EQ(o.after, s.opened->number) << o.describe();
    EXPECT_FALSE(s.is_returned || s.opened->is_own) << o.describe();
    if (o.is_send()) {
      EXPECT_TRUE(o.fence && !(o.invalidates() && is_window1)) << o.describe();
      s = {o.returns ? s.opened : nullptr, o.returns};
      continue;
    }
    const auto& in = s.opened->range;
    EXPECT_TRUE(o.remote.offset >= in.offset && o.remote.offset + o.length <= in.offset + in.length)
        << o.describe();
  }
  return uses;
}

TEST(Plans, LoansAreOpenWhileTheyAreUsedAlsoAfterShrinking) {
  unsigned uses = 0, kept = 0;
  for (uint64_t seed = 0; seed < 32; ++seed) {
    Plan p = regress::generate(seed, 250, {.minimum = seed % 2 == 1});
    uses += check_loans(p);
    for (uint32_t part = 0; part < 3; ++part) {
      std::set<uint32_t> numbers = p.numbers();
      std::erase_if(numbers, [&](uint32_t n) { return (n * 7 + seed + part) % 4 == 0; });
      p.keep(numbers);
      kept += check_loans(p);
    }
    p.simplify("loans");
    EXPECT_EQ(check_loans(p), 0u);
  }
  EXPECT_GT(uses, 200u);
  EXPECT_GT(kept, 100u);
}

TEST(Plans, KeepLeavesTheChosenOnesAndClosesEachQp) {
  Plan p = regress::generate(9, 100, {});
  p.keep({3, 50});
  EXPECT_EQ(p.numbers(), (std::set<uint32_t>{3, 50}));
  // Each QP in use also has a closing operation of either side (Plan::close_qps).
  EXPECT_EQ(p.ops.size(), 2 + 2 * (p.ops[0].qp == p.ops[1].qp ? 1u : 2u));
}

TEST(Plans, KeepLeavesTheChosenEndAndMakesTheOthersPlain) {
  Plan p = regress::generate(9, 250, {});
  const uint32_t q = 2;  // ends with an error
  ASSERT_EQ(p.life[q].end, regress::End::kFault);
  p.keep({p.life[q].number});
  EXPECT_EQ(p.numbers(), (std::set<uint32_t>{p.life[q].number}));
  for (uint32_t other = 0; other < p.qps; ++other) EXPECT_EQ(p.uses(other), other == q) << other;
  p.keep({});
  EXPECT_TRUE(p.numbers().empty());
  EXPECT_TRUE(p.life[q].is_plain());
}

TEST(Plans, QpsAreMadeAnewInTheirSlots) {
  const Plan p = regress::generate(8, 250, {});  // one or two at a time
  EXPECT_LE(p.slots(), 2u);
  EXPECT_GT(p.qps, p.slots());
  for (uint32_t q = 0; q < p.qps; ++q) {
    const auto before = p.before(q);
    EXPECT_EQ(p.life[before.value_or(q)].slot, p.life[q].slot);
    for (const Side side : {kClient, kServer}) {
      EXPECT_LT(p.thread(side, q), p.host[side].threads);
      EXPECT_EQ(p.thread(side, q), p.thread(side, before.value_or(q)));
    }
  }
}

TEST(Plans, ReferenceMovesTheBytesOfAWrite) {
  Plan p = regress::generate(9, 250, {});
  std::set<uint32_t> one;
  for (const auto& o : p.ops) {
    if (o.op == Op::kWrite && o.length > 100 && o.local.size() == 1 && !o.local_landing &&
        one.empty())
      one = {o.number};
  }
  ASSERT_EQ(one.size(), 1u);
  p.keep(one);
  const auto& o = p.ops[0];
  const regress::Memory m = regress::reference(p);
  const auto from = m.source[o.side].begin() + o.local[0].offset;
  const auto to = m.landing[1 - o.side][o.qp].begin() + o.remote.offset;
  EXPECT_TRUE(std::equal(from, from + o.length, to));
}

struct Told {
  int status;
  std::string said, shown;  // standard error, standard output
};
Told told(const RegressRequest& r) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  const int status = run_regression(r);
  return {status, testing::internal::GetCapturedStderr(), testing::internal::GetCapturedStdout()};
}

/// The text between the last occurrence of `from` and the next `to`.
std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const size_t at = text.rfind(from);
  if (at == std::string::npos) return "";
  const size_t begin = at + from.size();
  return text.substr(begin, text.find(to, begin) - begin);
}

/// A deliberate fault, only in the test: a Read of more than 1000 bytes is not allowed.
std::string no_long_read(const regress::Operation& o) {
  return o.op == Op::kRead && o.length > 1000 ? "this one is not allowed" : "";
}

/// The first seed whose plan has an operation that completes, and fails.
uint64_t seed_that_fails(const RegressRequest& r, uint64_t from) {
  for (;; ++from) {
    const Plan p = regress::make_plan(r, from, static_cast<uint32_t>(r.ops));
    const auto fails = [&p](const regress::Operation& o) {
      return p.life[o.qp].closes() && !no_long_read(o).empty();
    };
    if (std::ranges::any_of(p.ops, fails)) return from;
  }
}

/// Files that a failure writes (plan, waveform) go to a folder of the test.
class Failure : public testing::Test {
 protected:
  Failure() : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(folder_.path());
  }
  ~Failure() override { std::filesystem::current_path(before_); }
  const tb::Folder folder_;
  const std::filesystem::path before_;
};

TEST_F(Failure, IsToldWithTheCommandAndShrunkToOneOperation) {
  RegressRequest r = request("model", "model", 60);
  r.seed = 8;
  r.also = no_long_read;
  const Told t = told(r);
  EXPECT_EQ(t.status, kMismatch);
  EXPECT_NE(t.said.find("seed 8: "), std::string::npos) << t.said;
  EXPECT_NE(t.said.find("this one is not allowed"), std::string::npos) << t.said;
  EXPECT_NE(t.said.find("reproduce: rnic-sim regress --client model --server model --seed 8 "
                        "--set ops=60\n"),
            std::string::npos)
      << t.said;
  EXPECT_NE(t.said.find("smallest plan that fails"), std::string::npos) << t.said;
  const std::string keep = between(t.said, "--set keep=", " ");
  EXPECT_EQ(keep.find(','), std::string::npos) << keep;

  // The last line's command fails in the same way, and only because of the remaining operation.
  r.keep = keep;
  r.simple = between(t.said, "--set simple=", "\n");
  r.shrink_s = 0;
  EXPECT_NE(told(r).said.find("this one is not allowed"), std::string::npos);
  const Plan smallest = regress::make_plan(r, r.seed, 60);
  ASSERT_EQ(smallest.numbers().size(), 1u);
  EXPECT_NE(no_long_read(smallest.ops[0]), "") << smallest.ops[0].describe();
  EXPECT_FALSE(smallest.ops[0].fence || smallest.ops[0].joined || smallest.ops[0].push);
}

TEST_F(Failure, OfADeviceIsToldAndShrunk) {
  RegressRequest r =
      request("model", "model", 60, {"client.pcie_error_status=3", "client.pcie_error_nth=100"});
  r.shrink_s = 20;
  const Told t = told(r);
  EXPECT_EQ(t.status, kMismatch);
  EXPECT_NE(t.said.find("--set client.pcie_error_status=3"), std::string::npos) << t.said;
  EXPECT_NE(t.said.find("smallest plan that fails"), std::string::npos) << t.said;
}

/// A check that fails at the 100th completion of a run: it depends on all earlier operations.
std::string the_hundredth(const regress::Operation&) {
  static unsigned completed = 0;  // of this process, which runs one plan
  return ++completed == 100 ? "the hundredth" : "";
}

TEST_F(Failure, ThatDependsOnTimeIsCutBehindItFirst) {
  RegressRequest r = request("model", "model", 250);
  r.seed = 8;
  r.also = the_hundredth;
  const Plan whole = regress::make_plan(r, r.seed, 250);
  const Outcome failed = in_child([&] { return regress::run_plan(r, whole); });
  ASSERT_NE(failed.status, kGood);
  const size_t begun = failed.json["begun"].size();
  EXPECT_LT(begun, whole.ops.size());

  r.shrink_s = 5;
  r.quiet = false;
  const Told t = told(r);
  EXPECT_EQ(t.status, kMismatch);
  EXPECT_LE(std::ranges::count(t.said + t.shown, '\n'), 40) << t.said << t.shown;
  const std::string keep = between(t.said, "--set keep=", "\n");
  r.keep = keep.substr(0, keep.find(' '));
  r.simple = between(t.said, "--set simple=", "\n");  // may remove loans, which are operations
  const Plan smallest = regress::make_plan(r, r.seed, 250);
  EXPECT_LE(smallest.numbers().size(), begun) << t.said;
  std::ifstream in(between(t.said, "\nplan: ", "\n"));
  const std::string plan{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  for (const uint32_t n : smallest.numbers())
    EXPECT_NE(plan.find(fmt::format("  #{} ", n)), std::string::npos) << n;

  // A run that ends before the failure has not failed.
  r.stop_us = failed.json["us"].get<uint64_t>() / 2;
  EXPECT_EQ(in_child([&] { return regress::run_plan(r, whole); }).status, kGood);
}

TEST_F(Failure, OfAnotherKindIsNotTheSame) {
  RegressRequest r = request("model", "model", 60);
  r.seed = 8;
  r.also = no_long_read;
  Outcome failed = in_child([&] { return regress::run_plan(r, regress::make_plan(r, 8, 60)); });
  EXPECT_EQ(failed.json["kind"], "host");
  failed.json["kind"] = "memory";
  r.shrink_s = 1;
  regress::Shrinker other(r, 8, 60, failed);
  EXPECT_EQ(other.run().numbers(), regress::make_plan(r, 8, 60).numbers());
  EXPECT_EQ(other.last().failure, "");
}

TEST_F(Failure, LeavesTheFileOfAnEarlierOne) {
  RegressRequest r = request("model", "model", 60);
  r.seed = 8;
  r.also = no_long_read;
  r.shrink_s = 0.01;
  EXPECT_EQ(between(told(r).said, "\nplan: ", "\n"), "regress-seed8.plan");
  EXPECT_EQ(between(told(r).said, "\nplan: ", "\n"), "regress-seed8-2.plan");
}

TEST(Plans, KeepTakesRanges) {
  RegressRequest r = request("model", "model", 60);
  r.keep = "3,7-9";
  EXPECT_EQ(regress::make_plan(r, 8, 60).numbers(), (std::set<uint32_t>{3, 7, 8, 9}));
  for (const char* wrong : {"9-7", "3-", "-3", "3-x"}) {
    r.keep = wrong;
    EXPECT_THROW((void)regress::make_plan(r, 8, 60), Usage) << wrong;
  }
}

TEST_F(Failure, OnRtlLeavesAWaveform) {
  RegressRequest r = request("model", "rtl", 12);
  r.seed = seed_that_fails(r, 8);
  const auto wave_of = [](uint64_t seed) { return fmt::format("regress-seed{}.server.fst", seed); };
  r.also = no_long_read;
  r.shrink_s = 20;
  const Told t = told(r);
  EXPECT_NE(t.said.find("waveform: " + wave_of(r.seed) + " from "), std::string::npos) << t.said;
  EXPECT_GT(std::filesystem::file_size(wave_of(r.seed)), 10'000u);
  EXPECT_FALSE(std::filesystem::exists(fmt::format("regress-seed{}.client.fst", r.seed)));
  r.ops = 4;  // a waveform of the device takes minutes per simulated millisecond
  r.seed = seed_that_fails(r, r.seed + 1);
  r.shrink_s = 1e-9;  // no smaller plan is found: waveform of the whole plan
  const Told whole = told(r);
  EXPECT_NE(whole.said.find("smaller plans did not fail"), std::string::npos) << whole.said;
  EXPECT_NE(whole.said.find("waveform: " + wave_of(r.seed) + " from "), std::string::npos)
      << whole.said;
}

// A capture that cannot be written is no failure of the plan, which would be shrunk.
TEST_F(Failure, CaptureThatCannotBeWrittenIsNone) {
  for (std::string RegressRequest::*file : {&RegressRequest::pcap, &RegressRequest::tlp}) {
    RegressRequest r = request("model", "model", 10);
    r.*file = "/nonexistent/x";
    const Plan plan = regress::make_plan(r, 1, 10);
    EXPECT_THROW((void)in_child([&] { return regress::run_plan(r, plan); }), Missing);
  }
}

TEST(Coverage, ClassThatWasNeverDrawnIsAFailure) {
  RegressRequest r = request("model", "model", 60);
  EXPECT_EQ(told(r).status, kGood);  // too few for the coverage check
  r.coverage_from = 60;
  const Told t = told(r);
  EXPECT_EQ(t.status, kMismatch);
  EXPECT_NE(t.said.find("never drawn: "), std::string::npos) << t.said;
}

TEST(Jobs, ChangeNothingButTheTime) {
  RegressRequest r = request("model", "model", 1500);
  r.quiet = false;
  r.also = no_long_read;
  r.shrink_s = 0;
  const auto without_time = [](const std::string& s) {
    return s.substr(0, s.rfind(" us simulated"));
  };
  r.jobs = 1;
  const Told one = told(r);
  r.jobs = 3;
  const Told three = told(r);
  EXPECT_EQ(one.said, three.said);
  EXPECT_EQ(without_time(one.shown), without_time(three.shown));
}

}  // namespace
}  // namespace rnic::app

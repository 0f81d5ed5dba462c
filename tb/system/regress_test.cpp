// Random host programs on pairings of devices, and the regression itself: plans follow from their seed, classes are all drawn, a run that
// fails says so and shrinks.
#include <gtest/gtest.h>

#include "regress.hpp"

namespace rnic::app {
namespace {

using regress::Op;
using regress::Plan;

RegressRequest request(const char* client, const char* server, uint64_t ops, std::vector<const char*> settings = {}) {
  RegressRequest r;
  r.kind = {client, server};
  r.ops = ops;
  r.quiet = true;
  r.shrink_s = 0;
  for (const char* s : settings) r.config.set(s, "test");
  return r;
}

struct Case {
  const char *client, *server;
  uint64_t ops, seed;
  std::vector<const char*> settings;
};
class RegressTest : public testing::TestWithParam<Case> {};

TEST_P(RegressTest, MemoryAndCompletionsAreAsPlanned) {
  RegressRequest r = request(GetParam().client, GetParam().server, GetParam().ops, GetParam().settings);
  r.seed = GetParam().seed;
  EXPECT_EQ(run_regression(r), kGood);
}
INSTANTIATE_TEST_SUITE_P(Pairings, RegressTest,
                         testing::Values(Case{"model", "model", 2000, 1, {}}, Case{"model", "model", 1000, 2, {"build=minimum"}}, Case{"rtl", "rtl", 250, 4, {}},
                                         Case{"rtl", "rtl", 60, 3, {}}, Case{"rtl", "rtl", 120, 5, {"build=minimum"}}, Case{"rtl", "model", 120, 6, {}},
                                         Case{"model", "rtl", 120, 7, {}}, Case{"rtl", "rtl", 120, 8, {"reset_seed=7"}}),
                         [](const auto& info) { return std::string(info.param.client) + "_" + info.param.server + "_seed" + std::to_string(info.param.seed); });

TEST(Plans, SameSeedGivesTheSamePlan) {
  EXPECT_EQ(regress::generate(5, 100, {}).describe(), regress::generate(5, 100, {}).describe());
  EXPECT_NE(regress::generate(5, 100, {}).describe(), regress::generate(6, 100, {}).describe());
}

TEST(Plans, TwoThousandOperationsDrawEveryClass) {
  for (const uint64_t first : {1u, 1000u, 70000u}) {
    regression::Coverage c;
    for (uint64_t k = 0; k < 8; ++k) c.count(regress::generate(first + k, 250, {}));
    EXPECT_TRUE(c.empty(true).empty()) << "first seed " << first << ": " << c.empty(true)[0];
  }
}

TEST(Plans, NoTwoOperationsWriteTheSameByte) {
  for (uint64_t seed = 0; seed < 16; ++seed) {
    const Plan p = regress::generate(seed, 250, {.minimum = seed % 2 == 1});
    regress::Memory written = regress::initial(p);
    for (auto& side : written.landing) {
      for (auto& bytes : side) std::fill(bytes.begin(), bytes.end(), uint8_t{0});
    }
    for (const auto& o : p.ops) {
      const bool is_read = o.op == Op::kRead;
      auto& bytes = written.landing[is_read ? o.side : 1 - o.side][o.qp];
      for (const auto& piece : is_read ? o.local : o.op == Op::kWrite ? std::vector<regress::Piece>{o.remote} : o.receive) {
        ASSERT_LE(piece.offset + piece.length, bytes.size()) << o.describe();
        for (uint32_t i = 0; i < piece.length; ++i) ASSERT_EQ(bytes[piece.offset + i]++, 0) << o.describe();
      }
    }
  }
}

TEST(Plans, KeepLeavesTheChosenOnesAndClosesEachQp) {
  Plan p = regress::generate(9, 100, {});
  p.keep({3, 50});
  EXPECT_EQ(p.numbers(), (std::set<uint32_t>{3, 50}));
  EXPECT_EQ(p.ops.size(), 2 + 2 * (p.ops[0].qp == p.ops[1].qp ? 1u : 2u));
}

TEST(Plans, ReferenceMovesTheBytesOfAWrite) {
  Plan p = regress::generate(9, 250, {});
  std::set<uint32_t> one;
  for (const auto& o : p.ops) {
    if (o.op == Op::kWrite && o.length > 100 && o.local.size() == 1 && !o.local_landing && one.empty()) one = {o.number};
  }
  ASSERT_EQ(one.size(), 1u);
  p.keep(one);
  const auto& o = p.ops[0];
  const regress::Memory m = regress::reference(p);
  const auto from = m.source[o.side].begin() + o.local[0].offset;
  const auto to = m.landing[1 - o.side][o.qp].begin() + o.remote.offset;
  EXPECT_TRUE(std::equal(from, from + o.length, to));
}

TEST(Failure, IsToldWithTheCommandAndShrunk) {
  RegressRequest r = request("model", "model", 60, {"client.pcie_error_status=3", "client.pcie_error_nth=150"});
  r.shrink_s = 20;
  testing::internal::CaptureStderr();
  EXPECT_NE(run_regression(r), kGood);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("reproduce: rnic-sim regress --client model --server model --seed 1 --set ops=60"), std::string::npos) << said;
  EXPECT_NE(said.find("smallest plan that fails"), std::string::npos) << said;
  EXPECT_NE(said.find("--set keep="), std::string::npos) << said;
}

}  // namespace
}  // namespace rnic::app

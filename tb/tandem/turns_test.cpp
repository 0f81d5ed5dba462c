// Turns reports a QP that starves, and accuses no other.
#include "tandem/turns.hpp"

#include <gtest/gtest.h>

#include "base/rng.hpp"

namespace rnic::sim {
namespace {

// Most tests give a turn every 40 cycles: kTurns (512) turns then take more than kCycles (20,000).
constexpr size_t kQps = 64;

TEST(Turns, WhoIsPassedByForLongHasStarved) {
  Turns t(kQps);
  std::optional<uint16_t> starved;
  uint64_t n = 0;
  for (; n < 10'000 && !starved; ++n)
    starved = t.given(static_cast<uint16_t>(n % 5), n * 40, [](uint16_t q) { return q < 6; });
  ASSERT_TRUE(starved);
  EXPECT_EQ(*starved, 5);
  EXPECT_LE(n, 2 * (Turns::kTurns + 4 * 6));  // two checks, with 6 QPs that wait
}

TEST(Turns, WhoIsServedNowAndThenHasNot) {
  Turns t(kQps);
  base::Rng rng(17);
  for (uint64_t n = 0; n < 200'000; ++n) {
    // QP 7 has a turn between any two checks, since 400 is less than kTurns.
    const uint16_t q = n % 400 == 0 ? 7 : static_cast<uint16_t>(rng.below(6));
    EXPECT_FALSE(t.given(q, n * 40, [](uint16_t q) { return q < 8 && q != 6; })) << n;
  }
}

TEST(Turns, AllMayHaveTheirTurnOnceAround) {
  Turns t(4096);
  for (uint64_t n = 0; n < 40'000; ++n)
    EXPECT_FALSE(t.given(static_cast<uint16_t>(n % 4096), n * 1000, [](uint16_t) { return true; }))
        << n;
}

TEST(Turns, ManyTurnsInAShortTimeAreNoStarving) {
  Turns t(kQps);
  for (uint64_t n = 0; n < Turns::kCycles; ++n)
    EXPECT_FALSE(t.given(0, n, [](uint16_t q) { return q < 2; })) << n;
}

TEST(Turns, WhoCouldNotHaveOneInBetweenIsNotAccused) {
  Turns t(kQps);
  bool able = true;  // given() asks for QP 0 once a check, so this changes at each check
  for (uint64_t n = 0; n < 100'000; ++n) {
    const auto starved = t.given(0, n * 40, [&](uint16_t q) {
      if (q == 0) able = !able;
      return q == 0 || (q == 1 && able);
    });
    EXPECT_FALSE(starved) << n;
  }
}

TEST(Turns, TheFirstTurnBehindALookCounts) {
  Turns t(kQps);
  bool looked = false;
  for (uint64_t n = 0; n < 10'000; ++n) {
    const uint16_t qpn = looked ? 1 : 0;
    looked = false;
    const auto starved = t.given(qpn, n * 40, [&](uint16_t q) {
      looked = true;
      return q < 2;
    });
    EXPECT_FALSE(starved) << n;
  }
}

TEST(Turns, ManyTurnsInAShortTimeBehindFewInALongOneAreNoStarving) {
  Turns t(kQps);
  uint64_t cycle = 0;
  for (int n = 0; n < 2000; ++n)
    EXPECT_FALSE(t.given(0, cycle += 1000, [](uint16_t q) { return q == 0; })) << n;
  for (uint64_t n = 0; n < Turns::kCycles; ++n)
    EXPECT_FALSE(t.given(0, ++cycle, [](uint16_t q) { return q < 2; })) << n;
}

}  // namespace
}  // namespace rnic::sim

// InFlight: whether an extent from before the closing of a region is still in flight.
#include "tandem/in_flight.hpp"

#include <gtest/gtest.h>

namespace rnic::sim {
namespace {

TEST(InFlight, KnowsWhatCameBeforeAClosing) {
  InFlight f;
  const uint8_t a = f.issue();
  const uint8_t first = f.close();
  const uint8_t b = f.issue();
  const uint8_t second = f.close();
  const uint8_t c = f.issue();
  EXPECT_FALSE(f.none_before(first));
  f.retire(a);
  EXPECT_TRUE(f.none_before(first));
  EXPECT_FALSE(f.none_before(second));
  f.retire(b);
  EXPECT_TRUE(f.none_before(second));
  EXPECT_FALSE(f.none());
  f.retire(c);
  EXPECT_TRUE(f.none());
}

/// The number of a closing has 8 bits. An extent that is still in flight keeps its number when they
/// wrap.
TEST(InFlight, AnOldExtentIsNeverForgotten) {
  InFlight f;
  const uint8_t old = f.issue();
  for (unsigned i = 0; i < 1000; ++i) {
    const uint8_t number = f.close();
    const uint8_t e = f.issue();
    EXPECT_FALSE(f.none_before(number)) << i;
    f.retire(e);
  }
  const uint8_t last = f.close();
  f.retire(old);
  EXPECT_TRUE(f.none_before(last));
}

}  // namespace
}  // namespace rnic::sim

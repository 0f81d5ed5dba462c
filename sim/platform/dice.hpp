// A draw with a real probability, the same on every machine. A probability of 0 draws no number.
// The draw uses 53 random bits, the precision of a double, so that it converts without rounding.
#pragma once

#include "base/rng.hpp"

namespace rnic::sim {

inline bool chance(base::Rng& rng, double probability) {
  if (probability <= 0) return false;
  return static_cast<double>(rng.next() >> 11) < probability * 9007199254740992.0;  // 2^53
}

}  // namespace rnic::sim

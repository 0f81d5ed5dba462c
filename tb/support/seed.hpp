// The seed of a test: the hash of its name, so that each run is the same. The environment variable
// RNIC_SEED replaces it.
//
//   base::Rng rng(tb::test_seed());      base::Rng other = tb::test_rng("backpressure");
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "base/rng.hpp"

namespace rnic::tb {

inline uint64_t seed_of(std::string_view test_name) {
  if (const char* text = std::getenv("RNIC_SEED"); text != nullptr)
    return std::strtoull(text, nullptr, 0);
  return base::Rng::hash(test_name);
}

inline uint64_t test_seed() {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  return seed_of(info == nullptr ? "no test"
                                 : std::string(info->test_suite_name()) + "." + info->name());
}

/// Generators with different `part` are independent of each other.
inline base::Rng test_rng(std::string_view part = "") { return base::Rng(test_seed()).fork(part); }

}  // namespace rnic::tb

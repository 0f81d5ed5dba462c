// Helpers for the benches of single leaves, in addition to streams: pins driven and sampled by
// functions, and a tally of the corner cases that a random test must reach.
//
//   tb::PinsPort pins{*this, [this] { drive(); }, [this] { sample(); }};
//   tb::Tally met{"ring wraps", "buffer full"};   met("ring wraps", at + n > size);
//   met.expect_all();                             fails for each case that never occurred
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.hpp"
#include "support/dut.hpp"

namespace rnic::tb {

/// Sets a pin of any width from a number.
template <class P>
void set(P& pin, uint64_t value) {
  pin = static_cast<P>(value);
}

/// Pins that do not form a stream.
class PinsPort final : public Port {
 public:
  PinsPort(
      Dut& dut, std::function<void()> drive, std::function<void()> sample,
      std::function<void()> clear = [] {})
      : drive_(std::move(drive)), sample_(std::move(sample)), clear_(std::move(clear)) {
    dut.attach(this);
  }
  void drive() override { drive_(); }
  void sample() override { sample_(); }
  void clear() override { clear_(); }

 private:
  std::function<void()> drive_, sample_, clear_;
};

/// Counts how often each named case occurred. The constructor lists all names.
class Tally {
 public:
  Tally(std::initializer_list<std::string> names) {
    for (const auto& name : names) met_[name] = 0;
  }
  /// Counts one occurrence of the case `name` if `met`.
  void operator()(std::string_view name, bool met = true) {
    const auto it = met_.find(name);
    RNIC_CHECK(it != met_.end(), "the tally has no class '{}'", name);
    it->second += met ? 1 : 0;
  }
  void expect_all() const {
    for (const auto& [name, count] : met_)
      EXPECT_GT(count, 0U) << "the test never met this border: " << name;
  }

 private:
  std::map<std::string, uint64_t, std::less<>> met_;
};

}  // namespace rnic::tb

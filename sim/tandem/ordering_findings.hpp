// Results of the ordering checker: the first violation, and how often each rule was judged.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace rnic::sim {

class Findings {
 public:
  void at(uint64_t cycle) { cycle_ = cycle; }
  uint64_t cycle() const { return cycle_; }

  /// Keeps the first violation, with its cycle.
  template <class... Args>
  void differ(fmt::format_string<Args...> text, Args&&... args) {
    if (failure_.empty())
      failure_ = fmt::format("device cycle {}: order: ", cycle_) +
                 fmt::format(text, std::forward<Args>(args)...);
  }
  /// A rule was checked n times; `what`: a literal that names what was checked, or "unsure".
  void judged(std::string_view what, uint64_t n = 1) { counts_[what] += n; }

  const std::string& failure() const { return failure_; }
  uint64_t count(std::string_view what) const {
    const auto it = counts_.find(what);
    return it == counts_.end() ? 0 : it->second;
  }
  const std::map<std::string_view, uint64_t>& counts() const { return counts_; }
  std::string describe() const {
    std::string s;
    for (const auto& [what, n] : counts_) s += fmt::format("order, {}: {}\n", what, n);
    return s;
  }

 private:
  uint64_t cycle_ = 0;
  std::string failure_;
  std::map<std::string_view, uint64_t> counts_;  // keys are literals
};

}  // namespace rnic::sim

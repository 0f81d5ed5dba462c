// Counts of compared outputs, by kind, and the first difference. A kind that occurred and was never
// compared is a failure (architecture 10). So each kind counts what the RTL put out and what was
// compared.
//
//   tally.made(Kind::kRecords);   tally.compared(Kind::kRecords);
//   tally.differ("QP 3: ...");    tally.failure();
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace rnic::sim {

enum class Kind : uint8_t {
  kRecords,
  kRecordBytes,
  kPlacedBytes,
  kWords,
  kCompletions,
  kEvents,
  kInterrupts,
  kAdminBytes,
  kRequests,
  kRegisters
};
inline constexpr std::array<std::string_view, 10> kKindNames{
    "records", "bytes of records", "placed bytes", "words of atomics", "completions",
    "events",  "interrupts",       "admin bytes",  "control requests", "register reads"};

class Tally {
 public:
  struct Count {
    uint64_t made = 0, compared = 0;
  };

  void at(uint64_t cycle) { cycle_ = cycle; }
  uint64_t cycle() const { return cycle_; }

  /// Keeps the first difference, with its cycle. The caller continues with anything harmless.
  template <class... Args>
  void differ(fmt::format_string<Args...> text, Args&&... args) {
    if (failure_.empty())
      failure_ =
          fmt::format("device cycle {}: ", cycle_) + fmt::format(text, std::forward<Args>(args)...);
  }
  bool ok() const { return failure_.empty(); }
  const std::string& failure() const { return failure_; }

  void made(Kind k, uint64_t n = 1) { counts_[static_cast<size_t>(k)].made += n; }
  void compared(Kind k, uint64_t n = 1) { counts_[static_cast<size_t>(k)].compared += n; }
  void commit(std::string_view name) { ++commits_[name]; }
  /// A choice of the RTL that was followed (docs/tandem-choices.md), or work dropped at a stop or
  /// an error.
  void followed(std::string_view what, uint64_t n = 1) { followed_[what] += n; }

  const Count& count(Kind k) const { return counts_[static_cast<size_t>(k)]; }
  const std::map<std::string_view, uint64_t>& commits() const { return commits_; }
  const std::map<std::string_view, uint64_t>& choices() const { return followed_; }

  /// Kinds that the RTL put out and that were never compared, one line each.
  std::string never_compared() const {
    std::string s;
    for (size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i].made != 0 && counts_[i].compared == 0)
        s += fmt::format("{} {} came out and none was compared\n", counts_[i].made, kKindNames[i]);
    }
    return s;
  }
  /// All counts, one line each.
  std::string describe() const {
    std::string s;
    for (size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i].made != 0)
        s += fmt::format("{}: {} compared of {}\n", kKindNames[i], counts_[i].compared,
                         counts_[i].made);
    }
    for (const auto& [name, n] : commits_) s += fmt::format("commit {}: {}\n", name, n);
    for (const auto& [what, n] : followed_) s += fmt::format("followed, {}: {}\n", what, n);
    return s;
  }

 private:
  uint64_t cycle_ = 0;
  std::string failure_;
  std::array<Count, kKindNames.size()> counts_{};
  std::map<std::string_view, uint64_t> commits_, followed_;
};

}  // namespace rnic::sim

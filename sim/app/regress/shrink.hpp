// Makes a failing plan of regress smaller, as long as it fails in the same way.
//
//   Shrinker s(request, seed, ops, outcome);   // outcome: of run_plan()
//   const regress::Plan least = s.run();       // s.keep(), s.simple(): the settings that draw it
//
// A candidate is the plan with fewer operations, or with one aspect made plain. It runs in a child
// process. A failure of another kind (Outcome's json "kind") does not count. A run ends when it
// fails, or some time after the time at which the last smaller plan failed. If the first failure
// was stuck, a run without progress ends after a quarter of watchdog_us. The smallest plan is then
// run with the whole watchdog_us; if it does not fail, the search is repeated with the whole
// watchdog_us.
//
// Order of the candidates:
//
//   1. the operations and lives that had begun when the plan failed: the run is the same up to the
//      failing cycle, so a failure that depends on timing remains
//   2. without the last half, the first half, each quarter; then without each QP in turn
//   3. all aspects plain; then without parts down to single operations; then one more aspect plain
//      at a time, and parts once more
#pragma once

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "regress/request.hpp"
#include "run/outcome.hpp"

namespace rnic::app::regress {

class Shrinker {
 public:
  Shrinker(const RegressRequest& request, uint64_t seed, uint32_t ops, const Outcome& failed);
  /// Returns the whole plan if nothing smaller fails.
  regress::Plan run();
  /// The outcome of the smallest plan that failed; its `failure` is empty if no candidate failed.
  const Outcome& last() const { return last_; }
  std::string keep() const;    // for --set keep
  std::string simple() const;  // for --set simple
  unsigned runs() const { return runs_; }
  /// Why the search ended before its last candidate; empty if it did not.
  std::string ended_early() const;

 private:
  using Numbers = std::set<uint32_t>;

  regress::Plan candidate(const Numbers& numbers, const std::vector<std::string>& simple) const;
  /// Tries all candidates, in the order above.
  void passes();
  /// Runs a candidate. If it fails alike, keeps it as the smallest plan and returns true.
  bool attempt(const Numbers& numbers, const std::vector<std::string>& simple);
  /// Runs the smallest plan with the whole watchdog_us; returns whether it fails alike.
  bool confirm();
  void begun();
  void parts(size_t coarsest, size_t finest);
  void without_qps();
  void plain();
  bool fails_alike(const Outcome& v) const;
  /// Sets how long (simulated) the next candidates may run, from the time of this failure.
  void bound(const Outcome& failed);
  double seconds_left() const;
  bool is_over() const { return !ended_early().empty(); }

  RegressRequest request_;
  uint64_t seed_;
  uint32_t ops_;
  std::string kind_;
  regress::Plan full_;
  Numbers kept_, begun_;
  std::vector<std::string> simple_;
  Outcome last_;
  unsigned runs_ = 0;
  bool is_interrupted_ = false;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace rnic::app::regress

// rnic-sim regress: random host programs (regress/plan.hpp) on a pairing of devices, in child processes of a few hundred operations
// each; what was drawn is counted, and a plan that fails is made smaller while it still fails.
//
//   RegressRequest r{.kind = {"rtl", "rtl"}, .ops = 2000, .seed = 7};
//   return run_regression(r);                                                     exit status
//
// Child k has the seed + k. A child alone, and with --set keep=3,17 --set simple=mtu,push a shrunk plan, is a command of its own.
#pragma once

#include <functional>

#include "commands.hpp"
#include "regress/plan.hpp"

namespace rnic::app {

struct RegressRequest {
  std::array<std::string, 2> kind{"model", "model"};
  Config config;
  uint64_t ops = 2000, seed = 1;
  std::string keep, simple;     // of a shrunk plan
  Files files{};                // of the other options
  std::string pcap, tlp, wave;  // of several children each has its own, with its seed in the name
  std::string json, junit;
  std::optional<Place> watch{};  // as in a RunRequest
  unsigned jobs = 1;             // children at a time
  std::function<std::string(const regress::Operation&)>
      also;  // asked of each completed operation; words: a failure
  bool progress = false, quiet = false, verbose = false;
  double shrink_s = 120;          // wall time that shrinking may take
  uint64_t stop_us = 0;           // simulated; a plan that has not failed by then is good; 0: none
  uint64_t watchdog_us = 0;       // simulated, in the place of the setting; 0: the setting
  uint64_t coverage_from = 2000;  // so many operations must have drawn every class
};

/// Throws Usage for what run_regression would refuse.
void check(const RegressRequest& request);
/// Throws Usage and Missing.
int run_regression(const RegressRequest& request);
int regress_command(Options& o);

namespace regression {

/// One plan, in this process. json: posted, completions, bytes, set_up_us, us (simulated). Of a
/// failure also
///   begun  numbers of operations and lives that were posted, or may be posted next
///   kind   stuck, host (a completion or an event is not as planned), memory, or a device's check
///   and what run/failure_wave.hpp says
Outcome run_plan(const RegressRequest& request, const regress::Plan& plan);
regress::Plan make_plan(const RegressRequest& request, uint64_t seed, uint32_t ops);

/// How often each class was drawn.
class Coverage {
 public:
  /// `given`: settings that the user has set, of which nothing is drawn.
  /// minimum: of plans for the minimum build on one side.
  explicit Coverage(std::set<std::string> given = {}, bool minimum = false)
      : given_(std::move(given)), minimum_(minimum) {}
  void count(const regress::Plan& plan);
  std::string table() const;
  nlohmann::ordered_json json() const;
  /// Cells that can be drawn and were not. Classes of settings, of ends and of their combinations are asked for from kPlansForSettings on.
  std::vector<std::string> empty() const;
  static constexpr uint64_t kPlansForSettings = 40;  // the rarest is in a fourth of them

 private:
  using Cells = std::map<std::string, uint64_t>;
  void count_settings(const regress::Plan& plan);
  void count_lives(const regress::Plan& plan);
  static bool is_beyond_minimum(const std::string& row, const std::string& column);
  std::set<std::string> given_;
  bool minimum_ = false;
  std::map<std::string, std::map<std::string, Cells>> cells_;  // group -> row -> column
  std::map<std::string, Cells> settings_;  // setting -> class -> plans, or their sides or QPs
  uint64_t plans_ = 0;
};

}  // namespace regression
}  // namespace rnic::app

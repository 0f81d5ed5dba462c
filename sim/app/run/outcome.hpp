// The result of a run, or of another task that a command runs in a child process.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace rnic::sim {
struct RunConfig;
struct RunResult;
}  // namespace rnic::sim

namespace rnic::app {

/// Exit statuses of rnic-sim (architecture section 12).
enum ExitStatus : int { kGood = 0, kMismatch = 1, kWrongUse = 2, kNoProgress = 3, kMissing = 4 };

struct Outcome {
  ExitStatus status = kGood;
  nlohmann::ordered_json json = nlohmann::ordered_json::object();  // the contents of --json
  std::string failure;           // empty, or the errors, one per line
  double wall_s = 0, cpu_s = 0;  // of the whole child process; 0: no child
  // Peak resident memory (VmHWM in /proc).
  uint64_t peak_kib = 0;
  bool timed_out = false;  // ChildLimits ended the child
};

/// For a stuck run, a line with the limits that have ended it; else empty.
std::string limits_of(const sim::RunResult& result, const sim::RunConfig& config);

}  // namespace rnic::app

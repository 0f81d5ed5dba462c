// What a run, or anything else that a command does in a child process, ends with.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace rnic::app {

/// Exit statuses of rnic-sim (architecture section 12).
enum ExitStatus : int { kGood = 0, kMismatch = 1, kWrongUse = 2, kNoProgress = 3, kMissing = 4 };

struct Outcome {
  ExitStatus status = kGood;
  nlohmann::ordered_json json = nlohmann::ordered_json::object();  // what --json holds
  std::string failure;           // empty, or what went wrong, in lines
  double wall_s = 0, cpu_s = 0;  // of the whole child process; 0: there was none
  uint64_t peak_kib = 0;         // memory that it had at most (what /proc calls VmHWM)
  bool timed_out = false;        // the child was ended by its ChildLimits
};

}  // namespace rnic::app

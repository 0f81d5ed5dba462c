// What a regression is asked for; of each child process, and of one plan, too.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>

#include "regress/plan.hpp"
#include "run/run.hpp"

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

}  // namespace rnic::app

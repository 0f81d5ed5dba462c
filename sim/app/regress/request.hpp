// The request for a regression, for each of its child processes, and for one plan.
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
  std::string keep, simple;     // of a shrunk plan: the settings of these names; empty: not reduced
  Files files{};                // of other options: see RunRequest::files
  std::string pcap, tlp, wave;  // with several children, each adds its seed to the file name
  std::string json, junit;
  std::optional<Place> watch{};  // see RunRequest::watch
  unsigned jobs = 1;             // simultaneous children
  // Called for each completed operation; a non-empty result is a failure.
  std::function<std::string(const regress::Operation&)> also;
  bool progress = false, quiet = false, verbose = false;
  double shrink_s = 120;          // wall time for shrinking; 0: no shrinking
  uint64_t stop_us = 0;           // simulated; a plan that has not failed by then passes; 0: none
  uint64_t watchdog_us = 0;       // simulated; overrides the setting; 0: the setting
  uint64_t coverage_from = 2000;  // a regression of this many operations must draw every class
};

}  // namespace rnic::app

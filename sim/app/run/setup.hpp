// A run that is set up: two hosts with their devices, the link, the observers, and the threads of
// the program, ready to be simulated. Holds everything that lives as long as the simulation.
//
//   check(request);   Setup setup(request);
//   Ending ending = simulate(setup, out.json);
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "platform/simulation.hpp"
#include "programs.hpp"
#include "run/captures.hpp"
#include "run/message_cost.hpp"
#include "run/progress.hpp"
#include "run/run_request.hpp"
#include "run/watches.hpp"

namespace rnic::app {

struct Setup {
  /// `r`: has passed check(), and must outlive this object. Throws Usage and Missing.
  explicit Setup(const RunRequest& r);
  Setup(const Setup&) = delete;
  Setup& operator=(const Setup&) = delete;

  const RunRequest& request;
  const programs::Program& program;
  const programs::Params params;
  const sim::SimulationConfig config;
  // Members are destroyed in reverse order. All below may refer to the simulation.
  sim::Simulation simulation;
  Watches watches;
  std::optional<Captures> captures;
  std::array<std::unique_ptr<programs::Session>, 2> sessions;
  std::array<std::vector<programs::Report>, 2> reports;  // of each side, one per thread
  std::optional<Progress> progress;
  MessageCost cost{reports};
};

/// How the simulation of a run ended.
struct Ending {
  sim::RunResult result;
  std::optional<Time> power_failed_at;  // of the host whose power failed first
  double wall_s = 0;
};

/// Simulates until all programs have returned. Then closes driver sessions and images of persistent
/// memory, and quiesces devices in tandem. Adds the time of each power failure ("power_failed_ns"),
/// or, if a planned one did not come, the time at which the run ended before it ("power_held_ns").
/// Throws Missing if an image cannot be written.
Ending simulate(Setup& setup, nlohmann::ordered_json& j);

}  // namespace rnic::app

// The figures of a run in its JSON: the program, its rates and its latency.
//
//   add_figures(setup, ending, verdict, out.json);   // after judge()
//   ... all else that the run does ...
//   add_cost(setup, ending, out.json);               // the last keys
//
// The order of the keys is part of the output. Each function that adds keys lists them in order.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "run/setup.hpp"
#include "run/verdict.hpp"

namespace rnic::app {

/// Adds, in this order: the request, the rates of the measured window, latency and checks, the
/// SHA-256 of a file, the figures of the observers (Watches), of the devices and of PCIe.
void add_figures(Setup& setup, const Ending& ending, const Verdict& verdict,
                 nlohmann::ordered_json& j);

/// Adds the time that the simulating machine took: "wall_s", "cpu_us_per_message" (unless the run
/// is too short), "kcycles_per_s".
void add_cost(const Setup& setup, const Ending& ending, nlohmann::ordered_json& j);

}  // namespace rnic::app

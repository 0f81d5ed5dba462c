// The limit of a run, from the figures of LimitWatch and the counters that software reads.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "run/setup.hpp"
#include "run/verdict.hpp"

namespace rnic::app {

/// Adds "limit" to the JSON of a good run, which has its "units" already. docs/simulator.md, Limits
void add_limit(const Setup& setup, const Verdict& verdict, nlohmann::ordered_json& j);

}  // namespace rnic::app

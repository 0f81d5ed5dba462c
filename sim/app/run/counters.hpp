// The counters in the JSON of a run: of each host's PCIe, as the platform counts, and of each unit
// of the devices, as software reads them.
//
//   j["pcie"]["client"] = pcie_json(simulation.root_complex(kClient).counters());
//   sim::RunResult r = read_units(simulation, j);   // adds "units"
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "platform/root_complex.hpp"
#include "platform/simulation.hpp"

namespace rnic::app {

/// Bytes and requests by their client (sq_fetch, payload, ...), which the device declares with each
/// request.
nlohmann::ordered_json pcie_json(const sim::PcieCounters& counters);

/// Adds "units": items, busy and stalled cycles of each unit of both devices. Reads them over PCIe,
/// which takes simulated time; returns the result of that simulation.
sim::RunResult read_units(sim::Simulation& simulation, nlohmann::ordered_json& j);

}  // namespace rnic::app

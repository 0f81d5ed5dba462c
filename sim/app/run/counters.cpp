// The counters of PCIe and of the units, as JSON. See counters.hpp.
#include "run/counters.hpp"

#include <nlohmann/json.hpp>

#include "gen/regs.hpp"
#include "run/devices.hpp"

namespace rnic::app {

nlohmann::ordered_json pcie_json(const sim::PcieCounters& c) {
  nlohmann::ordered_json j;
  for (size_t i = 0; i < sim::PcieCounters::kClients; ++i) {
    if (static_cast<sim::Client>(i) == sim::Client::kUnknown && c.reads[i] + c.writes[i] == 0)
      continue;
    j[sim::to_string(static_cast<sim::Client>(i))] = {{"reads", c.reads[i]},
                                                      {"read_bytes", c.read_bytes[i]},
                                                      {"writes", c.writes[i]},
                                                      {"write_bytes", c.write_bytes[i]}};
  }
  j["mmio"] = {{"reads", c.mmio_reads}, {"writes", c.mmio_writes}};
  j["interrupts"] = c.interrupts;
  return j;
}

sim::RunResult read_units(sim::Simulation& simulation, nlohmann::ordered_json& j) {
  for (const Side side : {kClient, kServer}) {
    simulation.start(side, "counters", [&j, side](PciDevice& dev) {
      for (uint32_t u = 0; u < kUnits.size(); ++u) {
        const uint32_t at = u * spec::kCountItemsStride;
        j["units"][kSideNames[side]][kUnits[u]] = {
            {"items", dev.read64(0, spec::kCountItemsOffset + at)},
            {"busy", dev.read64(0, spec::kCountBusyOffset + at)},
            {"stalled", dev.read64(0, spec::kCountStalledOffset + at)}};
      }
    });
  }
  return simulation.run();
}

}  // namespace rnic::app

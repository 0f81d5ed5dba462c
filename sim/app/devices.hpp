// The kinds of devices that --client and --server choose from, and what makes them.
//
//   check_kinds(request.kind, config);                                  throws Usage with the
//   nearest name simulation.add_host(make_device("rtl", kServer, config, ""));
#pragma once

#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "backend/device.hpp"
#include "config.hpp"
#include "platform/simulation.hpp"

namespace rnic::sim {
class Observer;  // tandem/observed.hpp
}

namespace rnic::app {

const std::vector<std::string>& device_kinds();
/// Cycles are stepped, and waveforms can be written.
bool has_rtl(const std::string& kind);
/// Throws Usage for a kind that does not exist, and for sizes that the RTL cannot follow.
void check_kinds(const std::array<std::string, 2>& kind, const Config& config);

/// `observer` is told what an RTL device does. `wave`: FILE[@FROM..TO] in ns, empty or "none" for none; the side's name goes into the file's. Throws
/// Usage.
std::unique_ptr<sim::Device> make_device(const std::string& kind, Side side, const Config& config,
                                         const std::string& wave, sim::Observer* observer = nullptr);

/// Of devices in tandem at the end of a run: they come to rest, and then nothing may be left over. What is wrong, in lines.
std::string rest_in_tandem(sim::Simulation& simulation, unsigned hosts = 2);
/// What they have followed and compared, {"client": {"commits": 7, "compared": {...}, ...}}; null if none is in tandem.
nlohmann::ordered_json tandem_json(sim::Simulation& simulation);

}  // namespace rnic::app

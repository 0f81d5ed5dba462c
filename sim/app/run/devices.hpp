// The kinds of devices that --client and --server choose from, and what makes them.
//
//   check_kinds(request.kind, config);                                  throws Usage with the nearest name
//   simulation.add_host(make_device("rtl", kServer, config, seed, ""));
#pragma once

#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "backend/device.hpp"
#include "backend/device_rtl.hpp"
#include "output/files.hpp"
#include "platform/simulation.hpp"
#include "settings/config.hpp"

namespace rnic::sim {
class Observer;  // backend/observer.hpp
}

namespace rnic::app {

/// In the order of their counters.
inline constexpr std::array kUnits = {"host_if", "admin", "qp", "tpt",    "rdmap",
                                      "ddp",     "mpa",   "cq", "llp_if", "atomic"};

const std::vector<std::string>& device_kinds();
/// Cycles are stepped, and waveforms can be written.
bool has_rtl(const std::string& kind);
/// Throws Usage for a kind that does not exist and for sizes that the RTL cannot follow; Missing for
/// a kind that this build does not hold (a build of the models alone has no RTL).
void check_kinds(const std::array<std::string, 2>& kind, const Config& config);

/// What --wave says: FILE[@FROM..TO][:UNIT], FROM and TO in ns of simulated time, UNIT one of the RTL's; empty or "none": no file.
/// Throws Usage.
sim::WaveWindow wave_window(const std::string& wave);
/// The file of one side: its name goes into the file's.
std::string wave_file(const std::string& wave, Side side);
/// Throws Usage for a --wave that cannot be, or that no device here would write.
void check_wave(const std::string& wave, const std::array<std::string, 2>& kind);
/// Throws Usage for such a --wave, and for a file of these that cannot be written or that is one of the others, or another of these.
void check_files(Files others, const std::string& pcap, const std::string& tlp,
                 const std::string& wave, const std::array<std::string, 2>& kind);
/// One path a run: "wire.pcap" of the pairing rtl-model is "wire.rtl-model.pcap"; of a --wave the file alone changes.
std::string path_of(const std::string& path, const std::string& which,
                    const std::string& extension);

/// `seed`: the run's. `observer` is told what an RTL device does. `wave`: see wave_window. Throws Usage.
std::unique_ptr<sim::Device> make_device(const std::string& kind, Side side, const Config& config,
                                         uint64_t seed, const std::string& wave,
                                         sim::Observer* observer = nullptr);

/// Of devices in tandem at the end of a run: they come to rest, and then nothing may be left over. What is wrong, in lines.
std::string rest_in_tandem(sim::Simulation& simulation, unsigned hosts = 2);
/// What they have followed and compared, {"client": {"commits": 7, "compared": {...}, ...}}; null if none is in tandem.
nlohmann::ordered_json tandem_json(sim::Simulation& simulation);

}  // namespace rnic::app

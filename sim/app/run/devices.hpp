// The kinds of devices that --client and --server select, and the factory that makes them.
//
//   check_kinds(request.kind, config);      // throws Usage with the nearest name
//   simulation.add_host(make_device("rtl", kServer, config, seed, ""));
#pragma once

#include <array>
#include <memory>
#include <nlohmann/json_fwd.hpp>
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

/// In the order of their counters in the register map.
inline constexpr std::array kUnits = {"host_if", "admin", "qp", "tpt",    "rdmap",
                                      "ddp",     "mpa",   "cq", "llp_if", "atomic"};

const std::vector<std::string>& device_kinds();
/// The kind runs RTL: it is stepped by cycles and can write waveforms.
bool has_rtl(const std::string& kind);
/// Throws Usage for a kind that does not exist, and for sizes that are fixed in the RTL. Throws
/// Missing for a kind that this build lacks (a build with only the models has no RTL).
void check_kinds(const std::array<std::string, 2>& kind, const Config& config);

/// A file and a window of simulated time: FILE, FILE@FROM..TO or FILE@FROM.., in ns.
struct FileWindow {
  std::string file, scope;  // scope: what follows a colon
  uint64_t from_ps = 0, to_ps = UINT64_MAX;
};
/// Parses the value of `option`. Throws Usage.
FileWindow file_window(const std::string& option, const std::string& text);
/// Parses --wave: FILE[@FROM..TO][:UNIT]. FROM and TO are ns of simulated time, UNIT is a unit of
/// the RTL. Empty or "none": no file. Throws Usage.
sim::WaveWindow wave_window(const std::string& wave);
/// The waveform file of one side; the side's name is part of the file name.
std::string wave_file(const std::string& wave, Side side);
/// Throws Usage if --wave is malformed, or if no device of this run is RTL.
void check_wave(const std::string& wave, const std::array<std::string, 2>& kind);
/// Throws Usage as check_wave() does. Also throws Usage if one of these files cannot be written, or
/// if its path is that of another file in use.
void check_files(Files others, const std::string& pcap, const std::string& tlp,
                 const std::string& wave, const std::array<std::string, 2>& kind);
/// The path for one of several runs, `which` names it: "wire.pcap" of the pairing rtl-model becomes
/// "wire.rtl-model.pcap". Of a --wave (extension .fst) only the file name changes.
std::string path_of(const std::string& path, const std::string& which,
                    const std::string& extension);

/// `seed`: the run's. `observer`: receives the events of an RTL device; of a model only stream().
/// `wave`: see wave_window(). Throws Usage.
std::unique_ptr<sim::Device> make_device(const std::string& kind, Side side, const Config& config,
                                         uint64_t seed, const std::string& wave,
                                         sim::Observer* observer = nullptr);

/// Quiesces devices in tandem at the end of a run and checks that nothing is left over. Returns the
/// errors, one per line. `hosts`: their number.
std::string rest_in_tandem(sim::Simulation& simulation, unsigned hosts = 2);
/// The counts of devices in tandem: {"client": {"commits": 7, "compared": {...}, ...}}. Null if no
/// device is in tandem.
nlohmann::ordered_json tandem_json(sim::Simulation& simulation);

}  // namespace rnic::app

// The request for one run, the checks before it starts, and the command that repeats it.
//
//   RunRequest r{.program = "write_lat", .kind = {"model", "rtl"}, .config = c, .seed = 7};
//   check(r);   reproduce(r);   // "rnic-sim run write_lat --client model --server rtl --seed 7"
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "output/files.hpp"
#include "run/power_failures.hpp"
#include "settings/config.hpp"

namespace rnic::app {

/// A byte of a host's memory, by its bus address.
struct Place {
  Side side = kClient;
  uint64_t bus = 0;
};

struct RunRequest {
  std::string program;
  std::array<std::string, 2> kind{"model", "model"};  // of client and server
  Config config;
  uint64_t seed = 1;
  std::vector<uint8_t> file;    // file_copy: the bytes to be copied,
  std::string file_name;        // and where they are from (--file)
  std::string pcap, tlp, wave;  // paths, empty: none; wave: see wave_window()
  // Files of other options, such as --json. check() adds pcap, tlp, wave and the like, and throws
  // Usage if two options write one file, or one writes what another reads.
  Files files{};
  bool progress = false;  // printed to stderr, after `title`
  std::string title;
  bool streams = false;  // json "streams", "stages": where RTL devices spend time
  bool stalls = false;   // json "units": for which peer each unit of RTL devices stalled
  bool wires = false;    // json "wires": utilisation of link and PCIe while measuring
  bool cdf = false;      // json "latency_ns": its distribution
  std::string timeline;  // FILE[@FROM..TO]; empty: none. See timeline_window()
  bool explain = false;  // json "explain": one message, unit by unit; only if is_latency()
  bool path = false;     // json "path": the critical path, for one message at a time
  std::optional<CrashPlan> crash{};  // json "crash"
  // json "written_at_ns": the last write of the device to this place before the failure
  std::optional<Place> watch{};
};

/// Throws Usage unless program and kinds exist, have all that they need, and the files can be
/// written.
void check(const RunRequest& request);
/// True for a program with one message at a time: it measures latency.
bool is_latency(const RunRequest& request);
/// The complete command that repeats a run.
std::string reproduce(const RunRequest& request);
/// The settings whose value is not the default, and all overrides for one side.
nlohmann::ordered_json settings_json(const Config& config);

}  // namespace rnic::app

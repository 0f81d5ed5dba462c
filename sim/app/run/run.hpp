// One run: one program on one pairing, in this process (SystemC elaborates once, so there is one run a process).
// In a child process: run_child.hpp.
//
//   Outcome o = run({.program = "write_lat", .kind = {"model", "rtl"}, .config = config, .seed = 7});
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "output/files.hpp"
#include "run/outcome.hpp"
#include "run/power_failures.hpp"
#include "settings/config.hpp"

namespace rnic::sim {
struct RunResult;
}

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
  std::vector<uint8_t> file;  // file_copy
  std::string file_name;
  std::string pcap, tlp, wave;  // paths, empty: none; wave: see wave_window
  Files files{};                // of the other options: those three may not be among them
  bool progress = false;        // shown on the error output, behind `title`
  std::string title;
  bool streams = false;  // json "streams", "stages": where the time of RTL devices goes
  bool stalls = false;   // json "units": for whom each unit of RTL devices stalled
  bool wires = false;    // json "wires": how full link and PCIe were while it was measured
  bool path = false;     // json "path": the critical path of one message at a time
  std::optional<CrashPlan> crash{};  // json "crash"
  std::optional<Place>
      watch{};  // json "written_at_ns": when the device last wrote there, before the failure
};

/// Throws Usage and Missing.
Outcome run(const RunRequest& request);
/// The complete command that repeats a run.
std::string reproduce(const RunRequest& request);
/// Throws Usage unless program and kinds exist and have what they need, and its files can be written.
void check(const RunRequest& request);
/// For a run that is stuck, the settings that have ended it, as a line; else nothing.
std::string limits_of(const sim::RunResult& result, const sim::RunConfig& config);
/// Those settings whose value is not the default.
nlohmann::ordered_json settings_json(const Config& config);

}  // namespace rnic::app

// The factory of devices. See devices.hpp.
#include "run/devices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "backend/device_model.hpp"
#include "backend/device_rtl.hpp"
#include "run/child.hpp"
#include "settings/words.hpp"
#include "tandem/device_tandem.hpp"

namespace rnic::app {
namespace {

sim::RtlOptions rtl_options(Side side, const Config& config, uint64_t seed, const std::string& wave,
                            sim::Observer* observer) {
  sim::RtlOptions o;
  o.observer = observer;
  o.build = config.build(side);
  o.stalls = {config.stall_percent(side), 2 * seed + side};  // a different seed for each side
  o.name = kSideNames[side];
  o.reset_seed = config.reset_seed(side);
  o.wave = wave_window(wave);
  if (o.wave.file.empty()) return o;
  o.wave.file = wave_file(wave, side);
  o.end_asked = take_time_to_end();  // a waveform that is not closed is unreadable
  return o;
}

constexpr const char* kFst = ".fst";

/// Splits --wave into FILE and the rest. A colon starts the scope only after the last '/'.
std::array<std::string, 2> split_wave(const std::string& wave) {
  const size_t name = wave.rfind('/') == std::string::npos ? 0 : wave.rfind('/') + 1;
  const size_t end = std::min(wave.find('@', name), wave.find(':', name));
  return {wave.substr(0, end), end == std::string::npos ? "" : wave.substr(end)};
}

std::string without(const std::string& file, const std::string& extension) {
  return file.ends_with(extension) ? file.substr(0, file.size() - extension.size()) : file;
}

}  // namespace

FileWindow file_window(const std::string& option, const std::string& text) {
  FileWindow w;
  const auto [file, rest] = split_wave(text);
  const auto wrong = [&](const std::string& what) {
    return Usage(fmt::format("{} {}: {}", option, text, what));
  };
  if (file.empty() || file.ends_with("/")) throw wrong("no file is named");
  w.file = file;
  const size_t colon = rest.find(':');
  if (colon != std::string::npos) w.scope = rest.substr(colon);
  const std::string range = rest.substr(0, colon);
  if (range.empty()) return w;
  const size_t dots = range.find("..");
  const auto ps = [&](const std::string& number) {
    uint64_t ns = 0;
    const auto r = std::from_chars(number.data(), number.data() + number.size(), ns);
    if (number.empty() || r.ec != std::errc() || r.ptr != number.data() + number.size() ||
        ns > UINT64_MAX / 1000)
      throw wrong("the window is FROM..TO, in ns");
    return ns * 1000;
  };
  if (dots == std::string::npos) throw wrong("the window is FROM..TO, in ns");
  w.from_ps = ps(range.substr(1, dots - 1));
  if (dots + 2 < range.size()) w.to_ps = ps(range.substr(dots + 2));
  if (w.to_ps <= w.from_ps) throw wrong("the window ends before it begins, or where it begins");
  return w;
}

sim::WaveWindow wave_window(const std::string& wave) {
  if (wave.empty() || wave == "none") return {};
  const auto wrong = [&](const std::string& what) {
    return Usage(fmt::format("--wave {}: {}", wave, what));
  };
  if (split_wave(wave)[0].ends_with(".vcd")) throw wrong("waveforms are FST, name the file .fst");
  const FileWindow f = file_window("--wave", wave);
  sim::WaveWindow w{.file = f.file, .from_ps = f.from_ps, .to_ps = f.to_ps, .unit = ""};
  if (f.scope.empty()) return w;
  w.unit = f.scope.substr(1);
  const std::vector<std::string> units(kUnits.begin(), kUnits.end());
  if (std::ranges::find(units, w.unit) == units.end())
    throw wrong(fmt::format("no unit \"{}\"{}; one of {}", w.unit, nearest(w.unit, units),
                            fmt::join(units, ", ")));
  return w;
}

std::string wave_file(const std::string& wave, Side side) {
  return fmt::format("{}.{}{}", without(split_wave(wave)[0], kFst), kSideNames[side], kFst);
}

void check_wave(const std::string& wave, const std::array<std::string, 2>& kind) {
  if (wave_window(wave).file.empty()) return;
  if (!has_rtl(kind[kClient]) && !has_rtl(kind[kServer]))
    throw Usage(fmt::format("--wave {}: no device here is RTL (--client rtl, --server rtl)", wave));
}

void check_files(Files others, const std::string& pcap, const std::string& tlp,
                 const std::string& wave, const std::array<std::string, 2>& kind) {
  check_wave(wave, kind);
  std::vector<Files::Named> own;
  if (!pcap.empty()) own.push_back({"--pcap", pcap});
  if (!tlp.empty()) own.push_back({"--tlp", tlp});
  for (const Side side : {kClient, kServer}) {
    if (has_rtl(kind[side]) && !wave_window(wave).file.empty())
      own.push_back({"--wave", wave_file(wave, side)});
  }
  others.written.insert(others.written.end(), own.begin(), own.end());
  others.check();
  for (const Files::Named& f : own) {
    check_writable(f.option, f.path);
    if (f.option == "--wave") check_room(f.option, f.path);
  }
}

std::string path_of(const std::string& path, const std::string& which,
                    const std::string& extension) {
  if (path.empty() || (extension == kFst && path == "none")) return path;
  const auto [file, rest] =
      extension == kFst ? split_wave(path) : std::array<std::string, 2>{path, ""};
  return fmt::format("{}.{}{}{}", without(file, extension), which, extension, rest);
}

const std::vector<std::string>& device_kinds() {
  static const std::vector<std::string> kinds = {"model", "rtl", "tandem"};
  return kinds;
}

bool has_rtl(const std::string& kind) { return kind != "model"; }

void check_kinds(const std::array<std::string, 2>& kind, const Config& config) {
  for (unsigned side = 0; side < 2; ++side) {
    if (std::ranges::find(device_kinds(), kind[side]) == device_kinds().end()) {
      throw Usage(fmt::format("--{}: no backend \"{}\"{}; one of {}", kSideNames[side], kind[side],
                              nearest(kind[side], device_kinds()),
                              fmt::join(device_kinds(), ", ")));
    }
  }
  for (unsigned side = 0; side < 2; ++side) {
    if (has_rtl(kind[side]) && !sim::is_rtl_built()) {
      throw Missing(
          fmt::format("--{} {}: this rnic-sim holds the models alone; sim/run.sh without --models "
                      "builds the RTL",
                      kSideNames[side], kind[side]));
    }
  }
  const auto changed = config.changed_of_model();
  if (!changed.empty() && (has_rtl(kind[kClient]) || has_rtl(kind[kServer]))) {
    throw Usage(
        fmt::format("{}: fixed when the RTL is built; choose a build (rnic-sim list builds), or "
                    "models on both sides",
                    changed[0]));
  }
}

std::unique_ptr<sim::Device> make_device(const std::string& kind, Side side, const Config& config,
                                         uint64_t seed, const std::string& wave,
                                         sim::Observer* observer) {
  if (kind == "rtl") return sim::make_rtl_device(rtl_options(side, config, seed, wave, observer));
  if (kind == "tandem")
    return sim::make_tandem_device(rtl_options(side, config, seed, wave, observer));
  return sim::make_model_device(config.sizes(side), kSideNames[side], config.timing(side),
                                observer);
}

std::string rest_in_tandem(sim::Simulation& simulation, unsigned hosts) {
  std::vector<sim::Device*> tandems;
  for (unsigned host = 0; host < hosts; ++host) {
    if (sim::tandem_report(simulation.device(host))) tandems.push_back(&simulation.device(host));
  }
  if (tandems.empty()) return {};
  simulation.settle(sim::kQuietNs);
  std::string wrong;
  for (const sim::Device* d : tandems) {
    if (const std::string f = d->failure(); !f.empty())
      wrong += f + (f.ends_with('\n') ? "" : "\n");
  }
  return wrong;
}

nlohmann::ordered_json tandem_json(sim::Simulation& simulation) {
  nlohmann::ordered_json j;
  for (const Side side : {kClient, kServer}) {
    const auto report = sim::tandem_report(simulation.device(side));
    if (!report) continue;
    auto& s = j[kSideNames[side]];
    uint64_t commits = 0;
    for (const auto& [name, n] : report->commits) commits += n;
    s["commits"] = commits;
    const auto put = [&](const char* what, const sim::TandemReport::Counts& counts) {
      s[what] = nlohmann::ordered_json::object();
      for (const auto& [name, n] : counts) s[what][name] = n;
    };
    put("compared", report->compared);
    put("judged", report->judged);
    put("followed", report->followed);
  }
  return j;
}

}  // namespace rnic::app

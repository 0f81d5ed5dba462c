// The factory of devices. See devices.hpp.
#include "devices.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "backend/device_model.hpp"
#include "backend/device_rtl.hpp"
#include "tandem/device_tandem.hpp"

namespace rnic::app {
namespace {

sim::WaveWindow wave_window(const std::string& text, const std::string& side) {
  sim::WaveWindow w;
  const size_t at = text.find('@');
  const std::string file = text.substr(0, at);
  const size_t dot = file.rfind(".fst");
  w.file = file.substr(0, dot) + "." + side + ".fst";
  if (at == std::string::npos) return w;
  const std::string range = text.substr(at + 1);
  const size_t dots = range.find("..");
  const auto wrong = Usage(fmt::format("--wave {}: the window is FROM..TO, in ns", text));
  if (dots == std::string::npos) throw wrong;
  try {
    w.from_ps = std::stoull(range.substr(0, dots)) * 1000;
    if (dots + 2 < range.size()) w.to_ps = std::stoull(range.substr(dots + 2)) * 1000;
  } catch (const std::exception&) {
    throw wrong;
  }
  return w;
}

sim::RtlOptions rtl_options(Side side, const Config& config, const std::string& wave, sim::Observer* observer) {
  sim::RtlOptions o;
  o.observer = observer;
  o.minimum = config.minimum(side);
  o.name = kSideNames[side];
  o.reset_seed = config.reset_seed(side);
  if (!wave.empty() && wave != "none") o.wave = wave_window(wave, kSideNames[side]);
  return o;
}

}  // namespace

const std::vector<std::string>& device_kinds() {
  static const std::vector<std::string> kinds = {"model", "rtl", "tandem"};
  return kinds;
}

bool has_rtl(const std::string& kind) { return kind != "model"; }

void check_kinds(const std::array<std::string, 2>& kind, const Config& config) {
  for (unsigned side = 0; side < 2; ++side) {
    if (std::ranges::find(device_kinds(), kind[side]) == device_kinds().end()) {
      throw Usage(fmt::format("--{}: no backend \"{}\"{}", kSideNames[side], kind[side],
                              nearest(kind[side], device_kinds())));
    }
  }
  const auto sizes = config.changed_sizes();
  if (!sizes.empty() && (has_rtl(kind[kClient]) || has_rtl(kind[kServer]))) {
    throw Usage(
        fmt::format("{}: sizes of the RTL are fixed when it is built; use build=default or "
                    "build=minimum, or models on both sides",
                    sizes[0]));
  }
}

std::unique_ptr<sim::Device> make_device(const std::string& kind, Side side, const Config& config,
                                         const std::string& wave, sim::Observer* observer) {
  if (kind == "rtl") return sim::make_rtl_device(rtl_options(side, config, wave, observer));
  if (kind == "tandem") return sim::make_tandem_device(rtl_options(side, config, wave, observer));
  return sim::make_model_device(config.sizes(side), kSideNames[side]);
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
    if (const std::string f = d->failure(); !f.empty()) wrong += f + (f.ends_with('\n') ? "" : "\n");
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

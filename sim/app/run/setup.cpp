// Builds the simulation of a run, and simulates it. See setup.hpp.
#include "run/setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "run/devices.hpp"

namespace rnic::app {
namespace {

programs::Params params_of(const RunRequest& r, const programs::Program& program) {
  programs::Params params = r.config.params(&program);
  params.file = r.file;
  return params;
}

sim::SimulationConfig config_of(const RunRequest& r) {
  return {.platform = r.config.platform(),
          .side = {r.config.platform(kClient), r.config.platform(kServer)},
          .seed = r.seed};
}

/// Starts the threads of both sides. Thread k of the client connects to thread k of the server.
void start_programs(Setup& s) {
  for (uint32_t k = 0; k < s.params.threads; ++k) {
    for (const Side side : {kServer, kClient}) {
      const auto entry = side == kClient ? s.program.client : s.program.server;
      s.simulation.start(side, fmt::format("{}{}", kSideNames[side], k),
                         [&s, side, k, entry](PciDevice& dev) {
                           entry({.dev = dev,
                                  .session = *s.sessions[side],
                                  .params = s.params,
                                  .thread = k,
                                  .report = s.reports[side][k]});
                         });
    }
  }
}

}  // namespace

Setup::Setup(const RunRequest& r)
    : request(r),
      program(*programs::find(r.program)),
      params(params_of(r, program)),
      config(config_of(r)),
      simulation(config),
      watches(request, config) {
  for (const Side side : {kClient, kServer})
    simulation.add_host(
        make_device(r.kind[side], side, r.config, r.seed, r.wave, watches.device(side)));
  watches.attach(simulation);
  captures.emplace(simulation, r.pcap, r.tlp);

  verbs::ManagerSettings manager;
  manager.seed = r.seed;
  for (auto& s : sessions) s = std::make_unique<programs::Session>(manager, params.threads);
  for (auto& v : reports) v.resize(params.threads);
  if (r.progress) {
    progress.emplace(r.title, reports[kClient], r.config.timing(kClient).clock);
    for (const Side side : {kClient, kServer}) simulation.observe(side, *progress);
  }
  for (const Side side : {kClient, kServer}) simulation.observe(side, cost);
  start_programs(*this);
}

Ending simulate(Setup& setup, nlohmann::ordered_json& j) {
  sim::Simulation& simulation = setup.simulation;
  Ending e;
  const auto began = std::chrono::steady_clock::now();
  e.result = simulation.run();
  e.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (setup.progress) setup.progress->end();
  // The driver of a program that did not end, or whose power failed, is not closed: that would take
  // simulated time. release() leaks it.
  for (const Side side : {kClient, kServer}) {
    const auto at = simulation.power_failed(side);
    if (!e.result.ok() || at) static_cast<void>(setup.sessions[side].release());
    if (at) j["power_failed_ns"][kSideNames[side]] = *at / kNs;
    if (!at && setup.config.side[side]->host.power_fail_ns != 0)
      j["power_held_ns"][kSideNames[side]] = e.result.end / kNs;
    if (at) e.power_failed_at = std::min(*at, e.power_failed_at.value_or(*at));
    if (const auto saved = simulation.save_pmem(side); !saved) throw Missing(saved.error().what);
  }
  if (e.result.ok()) (void)rest_in_tandem(simulation);  // failure() reports items left over
  return e;
}

}  // namespace rnic::app

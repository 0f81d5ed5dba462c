// One plan on two hosts. See regress.hpp.
#include <fmt/format.h>

#include <memory>

#include "captures.hpp"
#include "devices.hpp"
#include "failure_wave.hpp"
#include "platform/simulation.hpp"
#include "regress.hpp"
#include "regress_host.hpp"

namespace rnic::app::regression {
namespace {

/// The plan's settings under those the user has given.
Config settings_of(const RegressRequest& r, const regress::Plan& plan) {
  Config c = r.config;
  const auto overrides = r.config.overrides();
  for (const auto& [name, value] : plan.settings) {
    const size_t dot = name.find('.');
    const std::string bare = dot == std::string::npos ? name : name.substr(dot + 1);
    const bool given = r.config.find(bare).origin != Origin::kDefault ||
                       std::any_of(overrides.begin(), overrides.end(),
                                   [&, &n = name](const Setting& s) { return s.name == n; });
    if (!given) c.set(name, value, "plan");
  }
  return c;
}

}  // namespace

Outcome run_plan(const RegressRequest& r, const regress::Plan& plan) {
  const Config config = settings_of(r, plan);
  sim::SimulationConfig sc;
  sc.platform = config.platform();
  sc.side = {config.platform(kClient), config.platform(kServer)};
  sc.seed = plan.seed;
  sim::Simulation simulation(sc);
  for (const Side side : {kClient, kServer})
    simulation.add_host(make_device(r.kind[side], side, r.config, plan.seed, r.wave));
  Captures captures(simulation, r.pcap, r.tlp);
  std::optional<WriteWatch> watch;
  if (r.watch) simulation.observe(r.watch->side, watch.emplace(r.watch->bus));
  const regress::Memory want = regress::reference(plan);
  // Stays until this process ends: where a run fails, its queues may not be given back to a device that no longer answers.
  regress::Shared& shared = *new regress::Shared;
  shared.also = r.also;
  shared.start = regress::initial(plan);
  regress::start_hosts(simulation, plan, want, shared);
  uint64_t lives = 0;
  for (uint32_t q = 0; q < plan.qps; ++q) lives += plan.uses(q) ? 2 : 0;
  const sim::RunResult result = simulation.run();
  Outcome o;
  if (!shared.failure.empty()) o.failure = shared.failure + "\n";
  if (!result.ok()) {
    if (shared.failure.empty() && result.is_stuck()) {
      for (const auto& side : shared.side) {
        for (const regress::Host* host : side.hosts)
          o.failure += host == nullptr ? "" : host->standing();
      }
    }
    o.failure += result.report + "\n" + limits_of(result, sc.platform.run);
  } else {
    o.failure += rest_in_tandem(simulation);
  }
  if (o.failure.empty() && shared.lives != lives)
    o.failure = fmt::format("{} lives of QPs were over, the plan has {}\n", shared.lives, lives);
  captures.finish(o);
  if (!o.failure.empty()) o.status = result.is_stuck() ? kNoProgress : kMismatch;
  o.json = {{"posted", shared.posted},
            {"completions", shared.completions},
            {"bytes", shared.bytes_checked},
            {"events", shared.events},
            {"set_up_us", static_cast<double>(shared.connected) / kUs},
            {"us", static_cast<double>(result.end) / kUs}};
  uint64_t cycles = 0;
  for (const Side side : {kClient, kServer})
    cycles += has_rtl(r.kind[side]) ? simulation.device(side).cycles() : 0;
  o.json["rtl_cycles"] = cycles;
  if (auto tandem = tandem_json(simulation); !tandem.is_null())
    o.json["tandem"] = std::move(tandem);
  const Time failed_at = shared.failed_at != 0 ? shared.failed_at : result.end;
  if (o.failure.empty()) return o;
  o.json["failed_at_ns"] = failed_at / kNs;
  if (shared.wrong) o.json["wrong"] = {{"side", shared.wrong->side}, {"bus", shared.wrong->bus}};
  if (watch) o.json["written_at_ns"] = watch->last_before(failed_at) / kNs;
  return o;
}

}  // namespace rnic::app::regression

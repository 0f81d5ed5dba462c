// Draws one plan and runs it on two hosts. See regress/run_plan.hpp.
#include "regress/run_plan.hpp"

#include <fmt/format.h>

#include <memory>
#include <set>

#include "platform/simulation.hpp"
#include "regress/host.hpp"
#include "regress/keep.hpp"
#include "run/captures.hpp"
#include "run/devices.hpp"
#include "run/write_watch.hpp"
#include "settings/words.hpp"

namespace rnic::app::regress {
namespace {

/// The plan's settings, overridden by those of the user.
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

/// The operations and lives that had begun, and those that may come next on their lanes: the next
/// doorbell group, and the next operation that takes a receive. A run of only these is the same up
/// to the failure.
std::set<uint32_t> begun_of(const regress::Plan& plan, const std::set<uint32_t>& begun) {
  std::set<uint32_t> all = begun;
  struct Next {
    bool is_found = false, is_over = false, is_send_found = false;
  };
  std::array<std::array<Next, regress::kMaxQps>, 2> next{};
  for (const regress::Operation& o : plan.ops) {
    Next& n = next[o.side][o.qp];
    if (begun.contains(o.number) || !begun.contains(plan.life[o.qp].number)) continue;
    n.is_over = n.is_over || (n.is_found && !o.joined);  // a group is posted at once
    if (!n.is_over || (o.takes_receive() && !n.is_send_found)) all.insert(o.number);
    n.is_found = true;
    n.is_send_found = n.is_send_found || o.takes_receive();
  }
  return all;
}

/// The first line of a failed check of a device or of the tandem; empty if none has failed.
std::string fault_of(sim::Simulation& simulation) {
  for (const Side side : {kClient, kServer}) {
    const std::string fault = simulation.device(side).failure();
    if (!fault.empty()) return fault.substr(0, fault.find('\n'));
  }
  return "";
}

/// The words of a fault before the values that differ, without cycle and numbers, which change from
/// plan to plan. Of "server: device cycle 136621: CQ 0: completion: RTL at 0x100004500 ..." it
/// returns "CQ : completion: ".
std::string kind_of_fault(const std::string& fault) {
  constexpr std::string_view kCycle = "device cycle ";
  std::string kind = fault.substr(0, fault.find("RTL"));
  if (const size_t at = kind.find(kCycle); at != std::string::npos)
    kind.erase(0, at + kCycle.size());
  else
    kind.erase(0, kind.find(':') + 1);  // the side
  std::erase_if(kind, [](char c) { return c >= '0' && c <= '9'; });
  if (kind.starts_with(": ")) kind.erase(0, 2);
  return kind;
}

/// The key "kind" of the outcome: shrinking accepts only failures of the same kind.
std::string kind_of(const regress::Shared& shared, const sim::RunResult& result,
                    const std::string& fault) {
  if (result.is_stuck() || shared.is_stuck) return "stuck";
  if (!fault.empty()) return "device: " + kind_of_fault(fault);
  return shared.wrong ? "memory" : "host";
}

}  // namespace

regress::Plan make_plan(const RegressRequest& r, uint64_t seed, uint32_t ops) {
  regress::Limits limits{.minimum = r.config.is_small(kClient) || r.config.is_small(kServer)};
  if (const Setting& mtu = r.config.find("mtu"); mtu.origin != Origin::kDefault)
    limits.mtu = static_cast<uint32_t>(whole_number("mtu", mtu.value, 576, 65535));
  for (const Side side : {kClient, kServer})
    limits.has_persistence[side] = r.config.platform(side).host.domain != "none";
  regress::Plan p = regress::generate(seed, ops, limits);
  if (!r.keep.empty()) p.keep(numbers_of_keep(r.keep));
  const auto known = p.simplifications();
  for (const std::string& name : words_of(r.simple)) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw Usage(fmt::format("simple: no \"{}\"{}", name, nearest(name, known)));
    p.simplify(name);
  }
  return p;
}

Outcome run_plan(const RegressRequest& r, const regress::Plan& plan) {
  const Config config = settings_of(r, plan);
  sim::SimulationConfig sc;
  sc.platform = config.platform();
  sc.side = {config.platform(kClient), config.platform(kServer)};
  sc.seed = plan.seed;
  const bool is_bounded = r.stop_us != 0 && r.stop_us < sc.platform.run.time_limit_us;
  if (is_bounded) sc.platform.run.time_limit_us = r.stop_us;
  if (r.watchdog_us != 0) sc.platform.run.watchdog_us = r.watchdog_us;
  sim::Simulation simulation(sc);
  for (const Side side : {kClient, kServer})
    simulation.add_host(make_device(r.kind[side], side, r.config, plan.seed, r.wave));
  Captures captures(simulation, r.pcap, r.tlp);
  std::optional<WriteWatch> watch;
  if (r.watch) simulation.observe(r.watch->side, watch.emplace(r.watch->bus));
  const regress::Memory want = regress::reference(plan);
  // Leaked until this process ends: after a failure, its queues cannot be destroyed on a device
  // that no longer responds.
  regress::Shared& shared = *new regress::Shared;
  shared.also = r.also;
  shared.start = regress::initial(plan);
  regress::start_hosts(simulation, plan, want, shared);
  uint64_t lives = 0;  // as Shared::lives: each side counts a life
  for (uint32_t q = 0; q < plan.qps; ++q) lives += plan.uses(q) ? 2 : 0;
  const sim::RunResult result = simulation.run();
  Outcome o;
  const bool is_unfailed = is_bounded && result.status == sim::RunStatus::kTimeLimit;
  if (is_unfailed && shared.failure.empty()) return o;
  if (!shared.failure.empty()) o.failure = shared.failure + "\n";
  if (!result.ok()) {
    if (shared.failure.empty() && result.is_stuck()) {
      for (const auto& side : shared.side) {
        for (const regress::Host* host : side.hosts)
          o.failure += host == nullptr ? "" : host->standing();
      }
    }
    o.failure += result.report + "\n" + limits_of(result, sc.platform.run);
  }
  const std::string in_tandem = result.ok() ? rest_in_tandem(simulation) : "";
  o.failure += in_tandem;
  const std::string fault = fault_of(simulation);
  // result.report names the fault only at its end, so the failure begins with the fault.
  if (!result.ok() && shared.failure.empty() && !result.is_stuck() && !fault.empty())
    o.failure = fault + "\n" + o.failure;
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
  o.json["kind"] = kind_of(shared, result, fault);
  o.json["begun"] = begun_of(plan, shared.begun);
  if (shared.wrong) o.json["wrong"] = {{"side", shared.wrong->side}, {"bus", shared.wrong->bus}};
  if (watch) o.json["written_at_ns"] = watch->last_before(failed_at) / kNs;
  return o;
}

}  // namespace rnic::app::regress

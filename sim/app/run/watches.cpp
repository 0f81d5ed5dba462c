// Makes the observers that a run requests, and adds their results to its JSON. See watches.hpp.
#include "run/watches.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "durable_log.hpp"
#include "run/devices.hpp"

namespace rnic::app {
namespace {

nlohmann::ordered_json steps_json(const std::vector<StreamWatch::Step>& steps) {
  nlohmann::ordered_json j = nlohmann::ordered_json::array();
  for (const auto& s : steps)
    j.push_back({{"what", s.what},
                 {"cycles", s.cycles},
                 {"since_start", s.since_start},
                 {"messages", s.messages}});
  return j;
}

nlohmann::ordered_json streams_json(const std::vector<StreamWatch::Use>& streams) {
  nlohmann::ordered_json j = nlohmann::ordered_json::array();
  for (const auto& s : streams)
    j.push_back({{"name", s.name},
                 {"from", s.from},
                 {"to", s.to},
                 {"moved", s.moved},
                 {"waited", s.waited}});
  return j;
}

nlohmann::ordered_json path_json(const LatencyPath& path, const programs::Report& client,
                                 bool half_round_trip) {
  const unsigned divisor = half_round_trip ? 2 : 1;
  std::vector<LatencyPath::Sample> samples;
  for (size_t i = 0; i < client.began.size(); ++i)
    samples.push_back({client.began[i], client.began[i] + client.latency[i] * divisor});
  return path.json(samples, divisor);
}

/// Adds to each unit the peers that stalled its outputs: shares of the measured cycles, summed over
/// its streams.
void add_stalled_for(nlohmann::ordered_json& units, const std::vector<StreamWatch::Use>& streams) {
  for (auto& [name, unit] : units.items()) unit["stalled_for"] = nlohmann::ordered_json::object();
  for (const auto& s : streams) {
    if (s.waited == 0 || !units.contains(s.from)) continue;
    auto& share = units[s.from]["stalled_for"][s.to];
    share = (share.is_null() ? 0 : share.get<double>()) + s.waited;
  }
}

}  // namespace

MeasuredWindow measured_window(const programs::Report& client) {
  return {client.start, std::max(client.end, client.start)};
}

Watches::Watches(const RunRequest& request, const sim::SimulationConfig& config)
    : request_(request),
      config_(config),
      limit_({.pcie = {config.side[kClient]->pcie, config.side[kServer]->pcie},
              .link = config.platform.link,
              .sizes = {request.config.sizes(kClient), request.config.sizes(kServer)},
              .beat_bytes = {request.config.timing(kClient).path.bytes,
                             request.config.timing(kServer).path.bytes}}) {
  if (request.timeline.empty()) return;
  const TimelineWindow w = timeline_window(request.timeline);
  timeline_.emplace(
      Timeline::Config{
          .pcie = {config.side[kClient]->pcie, config.side[kServer]->pcie},
          .link = config.platform.link,
          .clock = {request.config.timing(kClient).clock, request.config.timing(kServer).clock}},
      w.from, w.to);
}

sim::Observer* Watches::device(Side side) {
  auto& all = devices_[side].all;
  if ((request_.streams || request_.stalls) && has_rtl(request_.kind[side]))
    all.push_back(&streams_[side]);
  if (request_.explain) all.push_back(&inside_[side].emplace(request_.config.timing(side).clock));
  if (timeline_) all.push_back(&timeline_->inside(side));
  return all.empty() ? nullptr : &devices_[side];
}

void Watches::attach(sim::Simulation& simulation) {
  const std::array pcie = {config_.side[kClient]->pcie, config_.side[kServer]->pcie};
  limit_.attach(simulation);
  if (timeline_) timeline_->attach(simulation);
  if (request_.wires) {
    wires_.emplace(pcie, config_.platform.link.link_gbps);
    simulation.link().tap(wires_->link());
    for (const Side side : {kClient, kServer}) simulation.observe(side, wires_->pcie(side));
  }
  if (request_.path || request_.explain) {
    path_.emplace(pcie, config_.platform.link);
    simulation.link().tap(path_->link());
    for (const Side side : {kClient, kServer}) simulation.observe(side, path_->pcie(side));
  }
  if (request_.crash) {
    journal_.emplace(simulation.memory(kServer).pmem());
    // A posted write is visible after 3/8 of the round trip of a read: a quarter and an eighth.
    responses_.emplace(simulation.link(), pcie[kClient].pcie_latency_ns * kNs * 3 / 8);
    simulation.link().tap(*responses_);
  }
  if (request_.watch) simulation.observe(request_.watch->side, write_.emplace(request_.watch->bus));
}

void Watches::add_figures(nlohmann::ordered_json& j, const programs::Report& client,
                          const programs::Program& program) {
  const auto [from, to] = measured_window(client);
  if (request_.path) j["path"] = path_json(*path_, client, program.half_round_trip);
  if (wires_) j["wires"] = wires_->share(from, to);
  if (request_.explain) {
    for (auto& s : inside_) s->finish();
    j["explain"] = explain_json(*path_, {&*inside_[kClient], &*inside_[kServer]}, client,
                                program.half_round_trip ? 2 : 1);
  }
  for (const Side side : {kClient, kServer}) {
    if (!request_.streams || !has_rtl(request_.kind[side])) continue;
    j["streams"][kSideNames[side]] = streams_json(streams_[side].use(from, to));
    auto& stages = j["stages"][kSideNames[side]];
    stages = {{"push_to_wire", steps_json(streams_[side].send_path(from, to))},
              {"wire_to_host", steps_json(streams_[side].receive_path(from, to))}};
    if (const auto atomic = streams_[side].atomic_path(from, to); atomic.size() > 1)
      stages["atomic"] = steps_json(atomic);
  }
}

void Watches::write_timeline(Outcome& out) {
  if (!timeline_) return;
  timeline_->finish();
  out.json["timeline"] = {{"events", timeline_->events()}};
  if (timeline_->lost_from() != UINT64_MAX)
    out.json["timeline"]["lost_from_ns"] = timeline_->lost_from() / kNs;
  out.failure += write_files(
      out.status, [&] { write_file(timeline_window(request_.timeline).file, timeline_->json()); });
}

void Watches::add_stalls(nlohmann::ordered_json& j, const MeasuredWindow& window) const {
  for (const Side side : {kClient, kServer}) {
    if ((request_.streams || request_.stalls) && has_rtl(request_.kind[side]))
      add_stalled_for(j["units"][kSideNames[side]], streams_[side].use(window.from, window.to));
  }
}

void Watches::add_last_write(nlohmann::ordered_json& j, Time failed_at) const {
  if (write_) j["written_at_ns"] = write_->last_before(failed_at) / kNs;
}

void Watches::add_crash(nlohmann::ordered_json& j, std::span<const programs::Ack> acks,
                        const std::string& method) const {
  if (!journal_) return;
  const bool waits =
      std::ranges::find(programs::log_methods(), method, &programs::LogMethodRow::name)->waits;
  j["crash"] =
      crash_json(*journal_, waits ? &*responses_ : nullptr, acks, *request_.crash, request_.seed);
}

}  // namespace rnic::app

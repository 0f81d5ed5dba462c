// How much of each resource a run used, and which resource limits it. See limit_watch.hpp.
#include "run/limit_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "ddp/ddp_timing.hpp"
#include "host_if/read_shares.hpp"
#include "platform/root_complex.hpp"
#include "platform/simulation.hpp"

namespace rnic::app {
namespace {

constexpr uint64_t kHead = sim::RootComplex::kTlpOverhead;  // bytes of a TLP besides its data
constexpr size_t kMostPoints = 2048;                        // of one Growth
constexpr uint32_t kBeat = 64, kWqeUnit = 64;  // bytes: of an rd_buffer entry, of a ring unit

/// The pool of read tags that this client uses; none for a client without a pool in the device.
std::optional<model::Reader> reader_of(sim::Client c) {
  switch (c) {
    case sim::Client::kSqFetch:
      return model::Reader::kSq;
    case sim::Client::kRqFetch:
      return model::Reader::kRq;
    case sim::Client::kPayload:
      return model::Reader::kPayload;
    case sim::Client::kQn1:
      return model::Reader::kQn1;
    case sim::Client::kReg:
      return model::Reader::kReg;
    default:
      return std::nullopt;
  }
}

double beats_of(size_t bytes, uint32_t beat) {
  return static_cast<double>((bytes + beat - 1) / beat);
}

double ratio(double a, double b) { return b > 0 ? a / b : 0; }

}  // namespace

void Growth::add(Time t, double amount) {
  now_.t = std::max(now_.t, t);
  now_.sum += amount;
  if (!points_.empty() && now_.t < points_.back().t + interval_) return;
  points_.push_back(now_);
  if (points_.size() < kMostPoints) return;
  // Full: keeps every second point, and takes half as many from now on.
  for (size_t i = 0; 2 * i + 1 < points_.size(); ++i) points_[i] = points_[2 * i + 1];
  points_.resize(points_.size() / 2);
  interval_ *= 2;
}

double Growth::at(Time t) const {
  if (points_.empty() || t >= now_.t) return now_.sum;
  const auto after = std::ranges::upper_bound(points_, t, {}, &Point::t);
  const Point a = after == points_.begin() ? Point{} : *(after - 1),
              b = after == points_.end() ? now_ : *after;
  return a.sum +
         (b.sum - a.sum) * ratio(static_cast<double>(t - a.t), static_cast<double>(b.t - a.t));
}

void Level::change(Time t, double by) {
  area_.add(t, level_ * static_cast<double>(t - std::min(t, last_)));
  last_ = std::max(last_, t);
  level_ += by;
}

double Level::mean(Time from, Time to) const {
  // late: the area after the last change, which area_ does not have.
  const double late = to > last_ ? level_ * static_cast<double>(to - std::max(from, last_)) : 0;
  return ratio(area_.between(from, to) + late, static_cast<double>(to - from));
}

LimitWatch::LimitWatch(const Config& config) : config_(config) {
  for (const Side side : {kClient, kServer}) hosts_[side].beat_bytes = config.beat_bytes[side];
  wire_.beat_bytes = config.beat_bytes;
}

void LimitWatch::attach(sim::Simulation& simulation) {
  for (const Side side : {kClient, kServer}) {
    hosts_[side].simulation = &simulation;
    hosts_[side].side = side;
    simulation.observe(side, hosts_[side]);
  }
  simulation.link().tap(wire_);
}

void LimitWatch::Wire::frame(Time at, const sim::Frame& f) {
  bytes[f.from].add(at, static_cast<double>(sim::frame_bytes(f.data.size())));
  if (f.kind != sim::FrameKind::kData) return;
  frames[f.from].add(at, 1);
  beats[f.from].add(at, beats_of(f.data.size(), beat_bytes[f.from]));
}

/// Samples the idle time of the host's threads, at every 8th event of its PCIe.
void LimitWatch::Host::look_at_host(Time t) {
  if (++events % 8 != 0) return;
  const auto now = static_cast<double>(simulation->host_idle(side));
  idle.add(t, now - idle_seen);
  idle_seen = now;
}
void LimitWatch::Host::on_write_issued(Time t, const sim::DmaWrite& w) {
  up.add(t, static_cast<double>(kHead + w.data.size()));
  write_beats.add(t, beats_of(w.data.size(), beat_bytes));
  writes.change(t, 1);
}
void LimitWatch::Host::on_write(Time t, const sim::DmaWrite&, bool) {
  writes.change(t, -1);
  look_at_host(t);
}
void LimitWatch::Host::on_read_issued(Time t, const sim::DmaRead& r) {
  up.add(t, kHead);
  open[r.tag] = r;
  reads.change(t, 1);
  if (const auto pool = reader_of(r.client)) tags[static_cast<size_t>(*pool)].change(t, 1);
  if (r.client == sim::Client::kPayload) payload_bytes.change(t, r.length);
  if (r.client == sim::Client::kSqFetch) sq_bytes.change(t, r.length);
}
void LimitWatch::Host::on_completion(Time t, const sim::DmaPiece& p) {
  down.add(t, static_cast<double>(kHead + p.data.size()));
  read_beats.add(t, beats_of(p.data.size(), beat_bytes));
  look_at_host(t);
  if (!p.is_last) return;
  const sim::DmaRead& r = open[p.tag];
  reads.change(t, -1);
  if (const auto pool = reader_of(r.client)) tags[static_cast<size_t>(*pool)].change(t, -1);
  const auto length = static_cast<double>(r.length);
  if (r.client == sim::Client::kPayload) payload_bytes.change(t, -length);
  if (r.client == sim::Client::kSqFetch) sq_bytes.change(t, -length);
}
void LimitWatch::Host::on_mmio(Time t, const sim::Mmio& m) {
  down.add(t, static_cast<double>(kHead + (m.is_write ? m.bytes : 0u)));
  look_at_host(t);
}
void LimitWatch::Host::on_mmio_response(Time t, uint64_t) { up.add(t, kHead + 8); }

nlohmann::ordered_json LimitWatch::json(const Measured& m) const {
  using Use = std::pair<std::string, double>;
  const double ps = static_cast<double>(m.to - m.from);
  const auto of_line = [&](const Growth& bytes, double gbps) {
    return ratio(bytes.between(m.from, m.to) * 8 * kNs, ps * gbps);
  };
  std::vector<Use> rates, windows;
  for (const Side side : {kClient, kServer}) {
    const Host& h = hosts_[side];
    const std::string of = std::string(kSideNames[side]) + " ";
    const sim::PcieConfig& pcie = config_.pcie[side];
    rates.emplace_back(of + "link", of_line(wire_.bytes[side], config_.link.link_gbps));
    rates.emplace_back(of + "pcie up", of_line(h.up, pcie.gbps()));
    rates.emplace_back(of + "pcie down", of_line(h.down, pcie.gbps()));
    const auto of_cycles = [&](const Growth& items, double per_item) {
      return ratio(items.between(m.from, m.to) * per_item * m.ps_per_cycle[side], ps);
    };
    const Side peer = side == kClient ? kServer : kClient;
    rates.emplace_back(of + "host_if read data", of_cycles(h.read_beats, 1));
    rates.emplace_back(of + "host_if write data", of_cycles(h.write_beats, 1));
    rates.emplace_back(of + "ddp tx", of_cycles(wire_.frames[side], model::DdpTiming{}.occupancy));
    rates.emplace_back(of + "mpa tx", of_cycles(wire_.beats[side], 1));
    rates.emplace_back(of + "mpa rx", of_cycles(wire_.beats[peer], 1));
    rates.emplace_back(of + "host threads",
                       1 - ratio(h.idle.between(m.from, m.to), ps * m.threads));
    const auto most = model::read_shares(config_.sizes[side].rd_tags);
    const auto tags = [&](model::Reader r) {
      const auto i = static_cast<size_t>(r);
      return ratio(h.tags[i].mean(m.from, m.to), most[i]);
    };
    windows.emplace_back(of + "payload read tags", tags(model::Reader::kPayload));
    windows.emplace_back(of + "SQ read tags", tags(model::Reader::kSq));
    windows.emplace_back(of + "RQ read tags", tags(model::Reader::kRq));
    windows.emplace_back(of + "QN 1 read tags", tags(model::Reader::kQn1));
    windows.emplace_back(of + "registration read tags", tags(model::Reader::kReg));
    windows.emplace_back(of + "payload read buffer", ratio(h.payload_bytes.mean(m.from, m.to),
                                                           config_.sizes[side].rd_buffer * kBeat));
    windows.emplace_back(of + "SQ prefetch",
                         ratio(h.sq_bytes.mean(m.from, m.to),
                               static_cast<double>(kWqeUnit * config_.sizes[side].sq_prefetch) *
                                   static_cast<double>(m.qps)));
    windows.emplace_back(of + "pcie tags",
                         ratio(h.reads.mean(m.from, m.to), static_cast<double>(pcie.pcie_tags)));
    windows.emplace_back(
        of + "posted credits",
        ratio(h.writes.mean(m.from, m.to), static_cast<double>(pcie.pcie_posted_credits)));
    // A QP has at most one atomic that reads its old value.
    windows.emplace_back(of + "atomics in order",
                         ratio(h.tags[static_cast<size_t>(model::Reader::kQn1)].mean(m.from, m.to),
                               static_cast<double>(m.qps)));
    // Bytes in flight on the wire, and bytes whose credit is in flight back.
    const double rate = ratio(wire_.bytes[side].between(m.from, m.to), ps);
    windows.emplace_back(of + "LLP window",
                         ratio(rate * 2 * static_cast<double>(config_.link.link_delay_ns * kNs),
                               static_cast<double>(config_.link.llp_window_bytes * m.qps)));
  }
  for (const auto& [unit, busy] : m.units) rates.emplace_back(unit, busy);
  const auto by_use = [](std::vector<Use>& all) {
    std::ranges::stable_sort(all, std::greater{}, &Use::second);
  };
  by_use(rates);
  by_use(windows);
  const auto is_full = [](const Use& u) {
    const bool is_of_reads =
        u.first.ends_with("atomics in order") || u.first.ends_with("SQ prefetch");
    return u.second >= (is_of_reads ? kFullOfReads : kFull);
  };
  // order[0] binds: full rates come before full windows, and these before the program's window.
  std::vector<Use> order;
  for (const auto* group : {&rates, &windows}) {
    for (const Use& u : *group) {
      if (is_full(u)) order.push_back(u);
    }
  }
  order.emplace_back(m.window.empty() ? "one message at a time" : m.window, 1);
  std::vector<Use> rest;
  for (const auto* group : {&rates, &windows}) {
    for (const Use& u : *group) {
      if (!is_full(u)) rest.push_back(u);
    }
  }
  by_use(rest);
  order.insert(order.end(), rest.begin(), rest.end());
  const auto rounded = [](double v) { return std::round(v * 1000) / 1000; };
  nlohmann::ordered_json j{{"by", order[0].first},
                           {"use", rounded(order[0].second)},
                           {"next", order[1].first},
                           {"next_use", rounded(order[1].second)}};
  for (const auto& [name, use] : order) {
    if (use >= 0.01) j["uses"][name] = rounded(use);
  }
  return j;
}

}  // namespace rnic::app

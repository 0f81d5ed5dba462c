// Turns what PCIe, threads and link report into slices of a timeline (`--timeline`).
// timeline_units.cpp adds the slices of the device's units.
#include "run/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "platform/root_complex.hpp"
#include "platform/simulation.hpp"
#include "run/devices.hpp"
#include "settings/errors.hpp"

namespace rnic::app {
namespace {

constexpr uint64_t kHead = sim::RootComplex::kTlpOverhead;  // bytes of a TLP besides its data

const char* name_of(sim::ThreadTime what) {
  switch (what) {
    case sim::ThreadTime::kWorks:
      return "works";
    case sim::ThreadTime::kPolls:
      return "polls";
    case sim::ThreadTime::kWaits:
      break;
  }
  return "waits";
}

}  // namespace

TimelineWindow timeline_window(const std::string& text) {
  if (text.empty()) return {};
  const FileWindow w = file_window("--timeline", text);
  if (!w.scope.empty())
    throw Usage(fmt::format("--timeline {}: the window is FROM..TO, in ns", text));
  return {w.file, w.from_ps, w.to_ps};
}

// A quarter of the events for the streams of each device, the rest for all else.
Timeline::Timeline(const Config& config, Time from, Time to, size_t most)
    : config_(config),
      from_(from),
      to_(to),
      trace_(from, to, most / 2),
      inside_{StreamRecord(config.clock[kClient], from, to, most / 4),
              StreamRecord(config.clock[kServer], from, to, most / 4)},
      wire_times_(config.link) {}

void Timeline::attach(sim::Simulation& simulation) {
  for (const Side side : {kClient, kServer}) {
    Host& h = hosts_[side];
    h.timeline = this;
    h.side = side;
    h.up_line.emplace(config_.pcie[side].gbps());
    h.down = trace_.track(side, TraceEvents::kPcie, "PCIe down (to the device)");
    h.up = trace_.track(side, TraceEvents::kPcie, "PCIe up (to the host)");
    h.out = trace_.track(side, TraceEvents::kLink, "link out");
    h.in = trace_.track(side, TraceEvents::kLink, "link in");
    requests_.attach(side, simulation.memory(side));
    simulation.observe(side, h);
    simulation.observe_threads(side, h);
  }
  simulation.link().tap(wire_);
}

void Timeline::finish() {
  for (Host& h : hosts_) {
    for (Pending& p : h.threads) h.flush(p, name_of(p.what));
  }
  requests_.finish();
  for (StreamRecord& s : inside_) {
    s.finish();
    trace_.cut(s.lost_from());  // drops all slices from the first lost stream event on
  }
  trace_.lift();  // removes the limit: the records of the streams have a limit of their own
  for (const Side side : {kClient, kServer}) add_units(side);
}

// Records the time of a transfer at the device's border, for add_units().
void Timeline::cross(Host& host, Border border, Time t) {
  if (t >= from_ && t < to_ && !trace_.is_full()) host.border[border].push_back(t);
}

// --- threads

TraceEvents::Slice Timeline::Host::flush(Pending& p, const char* name) {
  if (!p.track || p.to == p.from) return TraceEvents::kNone;
  const auto slice = timeline->trace_.slice(*p.track, name, p.from, p.to);
  p.from = p.to;
  return slice;
}

void Timeline::Host::ran(unsigned thread, const std::string& name, sim::ThreadTime what, Time from,
                         Time to) {
  if (thread >= threads.size()) threads.resize(thread + 1);
  Pending& p = threads[thread];
  if (!p.track) p.track = timeline->trace_.track(side, TraceEvents::kHost, "thread " + name);
  if (p.what != what || p.to != from) {
    flush(p, name_of(p.what));
    p.what = what;
    p.from = from;
  }
  p.to = to;
}

void Timeline::Host::wrote(unsigned thread, Time, const sim::Mmio& m) {
  const auto db = sq_doorbell(m);
  if (!db) return;
  const auto slice = flush(threads.at(thread), "post");  // the work that ends with the doorbell
  timeline->requests_.posted(side, *db, slice);
}

// --- PCIe

TraceEvents::Slice Timeline::Host::sent_up(Time t, const std::string& what, uint64_t bytes) {
  const Time end = up_line->send(t, kHead + bytes);
  return timeline->trace_.slice(up, what, end - up_line->duration(kHead + bytes), end, bytes);
}
TraceEvents::Slice Timeline::Host::came_down(Time t, const std::string& what, uint64_t bytes) {
  const Time takes = up_line->duration(kHead + bytes);  // both directions have one rate
  return timeline->trace_.slice(down, what, t - std::min(t, takes), t, bytes);
}

void Timeline::Host::on_write_issued(Time t, const sim::DmaWrite& w) {
  timeline->cross(*this, kWr, t);
  const auto slice = sent_up(t, fmt::format("{} write", sim::to_string(w.client)), w.data.size());
  if (w.client == sim::Client::kPlace) timeline->requests_.placed(side, w.data.size(), slice);
  if (w.client == sim::Client::kCq && w.data.size() == spec::Cqe::kBytes)
    timeline->requests_.completed(side, spec::Cqe::unpack(w.data.bytes()), t, slice);
}
void Timeline::Host::on_read_issued(Time t, const sim::DmaRead& r) {
  timeline->cross(*this, kRdReq, t);
  readers[r.tag] = r.client;
  sent_up(t, fmt::format("{} read", sim::to_string(r.client)), 0);
}
void Timeline::Host::on_read_sampled(Time, const sim::DmaRead& r, spec::RdStatus,
                                     std::span<const uint8_t> data) {
  if (r.client == sim::Client::kAdmin) timeline->requests_.command(side, data);
}
void Timeline::Host::on_completion(Time t, const sim::DmaPiece& p) {
  timeline->cross(*this, kRdRsp, t);
  came_down(t, fmt::format("{} completion", sim::to_string(readers[p.tag])), p.data.size());
}
void Timeline::Host::on_mmio(Time t, const sim::Mmio& m) {
  const auto db = sq_doorbell(m);
  const auto slice = came_down(t,
                               db           ? "doorbell"
                               : m.is_write ? "register write"
                                            : "register read",
                               m.is_write ? m.bytes : 0);
  if (!db) return;
  timeline->cross(*this, kMmio, t);
  timeline->requests_.rung(side, *db, t, slice);
}

// --- link

void Timeline::Wire::frame(Time at, const sim::Frame& f) {
  if (f.kind != sim::FrameKind::kData) return;
  const Time takes = timeline.wire_times_.duration(sim::frame_bytes(f.data.size()));
  const Time left = at - timeline.wire_times_.delay(), began = left - std::min(left, takes);
  const auto opcode = timeline.requests_.parse(f);
  const std::string name(opcode ? spec::to_string(*opcode) : "stream");
  Host &from = timeline.hosts_[f.from], &to = timeline.hosts_[f.to];
  const auto slice = timeline.trace_.slice(from.out, name, began, left, f.data.size());
  timeline.trace_.slice(to.in, name, at - std::min(at, takes), at, f.data.size());
  timeline.requests_.sent(slice);
  timeline.cross(from, kLlpTx, began);
  timeline.cross(to, kLlpRx, at);
}

}  // namespace rnic::app

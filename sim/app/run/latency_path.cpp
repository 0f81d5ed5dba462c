// The critical path of a message. See latency_path.hpp.
#include "run/latency_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "gen/queues.hpp"
#include "platform/root_complex.hpp"

namespace rnic::app {
namespace {

constexpr Time kRounding = 2;        // ps: rounding of a frame's first bit
constexpr size_t kMostSteps = 4096;  // a walk with more is given up: its path is unknown

double ns(Time t) { return static_cast<double>(t) / kNs; }

/// The last element whose time is below `end`.
template <typename T>
const T* last_before(const std::vector<T>& all, Time end, Time T::*time) {
  const auto after = std::ranges::lower_bound(all, end, {}, time);
  return after == all.begin() ? nullptr : &*(after - 1);
}

/// Reads whose completions are not causes: see latency_path.hpp, cause 3.
bool causes_nothing(sim::Client c) {
  return c == sim::Client::kRqFetch || c == sim::Client::kAdmin;
}

Side other(Side s) { return s == kClient ? kServer : kClient; }

}  // namespace

LatencyPath::LatencyPath(const std::array<sim::PcieConfig, 2>& pcie, const sim::LinkConfig& link)
    : wire_(link) {
  for (const Side s : {kClient, kServer}) {
    const sim::SerialLine down(pcie[s].gbps());
    doorbell_[s] =
        // 8 bytes of data. One way is a quarter of pcie_latency_ns (RootComplex::one_way_).
        down.duration(sim::RootComplex::kTlpOverhead + 8) + pcie[s].pcie_latency_ns * kNs / 4;
  }
}

void LatencyPath::Bus::on_write_issued(Time t, const sim::DmaWrite& w) {
  under_way.push_back({.issued = t, .client = w.client});
}
// Writes become visible in the order of their issue.
void LatencyPath::Bus::on_write(Time t, const sim::DmaWrite&, bool) {
  if (under_way.empty()) return;
  under_way.front().visible = t;
  writes.push_back(under_way.front());
  under_way.pop_front();
}
void LatencyPath::Bus::on_read_issued(Time t, const sim::DmaRead& r) {
  reads[r.tag] = {t, r.client};
}
void LatencyPath::Bus::on_completion(Time t, const sim::DmaPiece& p) {
  const Read& r = reads[p.tag];
  if (causes_nothing(r.client)) return;
  arrivals.push_back({Arrival::kCompletion, t, r.issued, r.client});
}
void LatencyPath::Bus::on_mmio(Time t, const sim::Mmio& m) {
  const uint32_t in_page = m.offset % 4096;
  // Only send queue doorbells (offset 0 of a page) and pushes.
  if (!m.is_write || m.bar == 0 || (in_page != 0 && in_page < spec::kPushOffset)) return;
  arrivals.push_back({.what = Arrival::kDoorbell, .at = t});
}

void LatencyPath::Wire::frame(Time at, const sim::Frame& f) {
  if (f.kind != sim::FrameKind::kData) return;
  const Time left = at - path.wire_.delay();
  const Time began = left - path.wire_.duration(sim::frame_bytes(f.data.size()));
  path.frames_[f.from].push_back({began, left, at});
  path.sides_[f.to].arrivals.push_back({.what = Arrival::kFrame, .at = at, .began = began});
}

std::vector<LatencyPath::Step> LatencyPath::steps(Time begin, Time end) const {
  std::vector<Step> back;  // from the end to the start
  const auto add = [&](Kind kind, Side side, std::string what, Time from, Time to) {
    back.push_back({kind, side, std::move(what), from, to});
  };
  Side side = kClient;
  Time t = end;
  std::string out;  // what the device issued at t
  bool is_at_host = true;
  while (back.size() < kMostSteps) {
    if (is_at_host) {  // the host has seen a write by t
      const Write* w = last_before(sides_[side].writes, t + 1, &Write::visible);
      if (w == nullptr || w->issued < begin) return {};
      out = fmt::format("{} write", sim::to_string(w->client));
      add(kHost, side, "sees the write", w->visible, t);
      add(kPcie, side, out, w->issued, w->visible);
      t = w->issued;
      is_at_host = false;
    }
    const Arrival* a = last_before(sides_[side].arrivals, t, &Arrival::at);
    if (a == nullptr || a->at < begin) return {};
    switch (a->what) {
      case Arrival::kCompletion: {
        const std::string read = fmt::format("{} read", sim::to_string(a->client));
        add(kDevice, side, fmt::format("{} completion to {}", sim::to_string(a->client), out),
            a->at, t);
        add(kPcie, side, read + ", there and back", a->began, a->at);
        out = read;
        t = a->began;
        break;
      }
      case Arrival::kFrame: {
        add(kDevice, side, "frame to " + out, a->at, t);
        side = other(side);
        Time first = a->began;
        for (;;) {  // frames without a gap between them
          const Frame* before = last_before(frames_[side], first, &Frame::began);
          if (before == nullptr || before->began < begin || before->ended + kRounding < first)
            break;
          first = before->began;
        }
        add(kLink, side, first == a->began ? "frame" : "frames, end to end", first, a->at);
        out = "frame";
        t = first;
        break;
      }
      case Arrival::kDoorbell: {
        add(kDevice, side, "doorbell to " + out, a->at, t);
        // The host rang the doorbell after the last write that it had seen. The client's first
        // doorbell follows its post at `begin`: there the walk ends.
        const Time posted = a->at - std::min(doorbell_[side], a->at);
        const Write* seen = last_before(sides_[side].writes, posted + 1, &Write::visible);
        const bool is_first = side == kClient && (seen == nullptr || seen->visible <= begin);
        const Time from = is_first ? begin : seen == nullptr ? 0 : seen->visible;
        const Time crosses = std::max(posted, from);
        if (from < begin) return {};
        add(kPcie, side, "doorbell", crosses, a->at);
        t = crosses;
        if (is_first) {
          add(kHost, side, "posts", begin, crosses);
          std::ranges::reverse(back);
          return back;
        }
        is_at_host = true;
        break;
      }
    }
  }
  return {};
}

nlohmann::ordered_json LatencyPath::json(const std::vector<Sample>& samples,
                                         unsigned divisor) const {
  std::map<std::string, std::vector<std::vector<Step>>> ways;
  std::array<double, kKindNames.size()> by_kind{};
  size_t walked = 0;
  for (const Sample& s : samples) {
    std::vector<Step> all = steps(s.begin, s.end);
    if (all.empty()) continue;
    ++walked;
    std::string way;
    for (const Step& step : all) {
      by_kind[step.kind] += ns(step.to - step.from);
      way += fmt::format("{}{}{};", static_cast<int>(step.kind), static_cast<int>(step.side),
                         step.what);
    }
    ways[way].push_back(std::move(all));
  }
  nlohmann::ordered_json j{{"samples", samples.size()}, {"walked", walked}};
  if (walked == 0) return j;
  for (size_t k = 0; k < by_kind.size(); ++k)
    j[fmt::format("{}_ns", kKindNames[k])] = by_kind[k] / static_cast<double>(walked) / divisor;
  const auto& most =
      std::ranges::max_element(ways, {}, [](const auto& w) { return w.second.size(); })->second;
  j["steps_of"] = most.size();
  if (most[0].size() > 64) return j;  // a long message has hundreds of steps: none is listed
  for (size_t i = 0; i < most[0].size(); ++i) {
    double sum = 0;
    for (const auto& all : most) sum += ns(all[i].to - all[i].from);
    j["steps"].push_back({{"side", kSideNames[most[0][i].side]},
                          {"kind", kKindNames[most[0][i].kind]},
                          {"what", most[0][i].what},
                          {"ns", sum / static_cast<double>(most.size())}});
  }
  return j;
}

}  // namespace rnic::app

// Writes slices and arrows in the Chrome trace format. See trace_events.hpp.
#include "run/trace_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace rnic::app {

TraceEvents::Track TraceEvents::track(Side side, Group group, std::string name) {
  tracks_.push_back({side, group, std::move(name)});
  return static_cast<Track>(tracks_.size() - 1);
}

TraceEvents::Slice TraceEvents::slice(Track track, std::string_view name, Time from, Time to,
                                      uint64_t bytes, uint64_t items) {
  TrackState& t = tracks_[track];
  from = std::max(from, t.end);
  to = std::max(from, to);
  t.end = to;
  if (to < from_ || from >= to_) return kNone;
  if (is_full()) {
    lost_from_ = std::min(lost_from_, from);
    return kNone;
  }
  auto at = name_numbers_.find(name);
  if (at == name_numbers_.end()) {
    at = name_numbers_.emplace(name, static_cast<uint32_t>(names_.size())).first;
    names_.emplace_back(name);
  }
  ++count_;
  slices_.push_back({from, to, bytes, static_cast<uint32_t>(items), track, at->second});
  return static_cast<Slice>(slices_.size() - 1);
}

void TraceEvents::flow(std::vector<Slice> slices) {
  std::erase(slices, kNone);
  if (slices.size() < 2 || is_full()) return;
  std::ranges::stable_sort(slices, {}, [&](Slice s) { return slices_[s].from; });
  count_ += slices.size();
  flows_.push_back(std::move(slices));
}

namespace {

/// Microseconds, exact to the picosecond.
std::string us(Time t) { return fmt::format("{}.{:06}", t / 1'000'000, t % 1'000'000); }

}  // namespace

// "ph" is the kind of an event: M metadata (names, order), X a slice, and of an arrow s its start,
// t a step between, f its end. A side is a process (pid), a track a thread (tid).
std::string TraceEvents::json() const {
  std::string out = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  auto to = std::back_inserter(out);
  for (const Side side : {kClient, kServer})
    fmt::format_to(to,
                   R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"{}"}}}},)"
                   "\n",
                   side + 1, kSideNames[side]);
  for (size_t i = 0; i < tracks_.size(); ++i) {
    const TrackState& t = tracks_[i];
    const size_t order = t.group * 1'000'000 + i;  // by group, then in the order of track()
    fmt::format_to(
        to,
        R"({{"ph":"M","name":"thread_name","pid":{0},"tid":{1},"args":{{"name":"{2}"}}}},)"
        "\n"
        R"({{"ph":"M","name":"thread_sort_index","pid":{0},"tid":{1},)"
        R"("args":{{"sort_index":{3}}}}},)"
        "\n",
        t.side + 1, i + 1, t.name, order);
  }
  for (const SliceState& s : slices_) {
    if (s.from >= lost_from_) continue;
    fmt::format_to(to, R"({{"ph":"X","name":"{}","pid":{},"tid":{},"ts":{},"dur":{})",
                   names_[s.name], tracks_[s.track].side + 1, s.track + 1, us(s.from),
                   us(s.to - s.from));
    if (s.bytes != 0) fmt::format_to(to, R"(,"args":{{"bytes":{}}})", s.bytes);
    if (s.items != 0) fmt::format_to(to, R"(,"args":{{"items":{}}})", s.items);
    out += "},\n";
  }
  for (size_t id = 0; id < flows_.size(); ++id) {
    const auto& flow = flows_[id];  // in order of time
    const auto kept = static_cast<size_t>(
        std::ranges::count_if(flow, [&](Slice s) { return slices_[s].from < lost_from_; }));
    for (size_t i = 0; kept >= 2 && i < kept; ++i) {
      const SliceState& s = slices_[flow[i]];
      const char* ph = i == 0 ? "s" : i + 1 == kept ? "f" : "t";
      fmt::format_to(to,
                     R"({{"ph":"{}","cat":"message","name":"message","id":{},"bp":"e",)"
                     R"("pid":{},"tid":{},"ts":{}}},)"
                     "\n",
                     ph, id + 1, tracks_[s.track].side + 1, s.track + 1, us(s.from));
    }
  }
  out.resize(out.size() - 2);  // the last comma
  return out + "\n]}\n";
}

}  // namespace rnic::app

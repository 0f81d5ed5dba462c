// Slices and flow arrows on tracks, written as Chrome trace events (ui.perfetto.dev,
// chrome://tracing). A process for each side, a thread for each track.
//
//   TraceEvents trace(from, to, most);
//   const auto down = trace.track(kClient, TraceEvents::kPcie, "PCIe down");
//   const auto s = trace.slice(down, "doorbell", begin, end, 8);
//   trace.flow({s, other});        // an arrow from the earlier slice to the later one
//   write_file("t.json", trace.json());
//
// Slices of one track never overlap: a slice begins where the one before it ends, at the earliest.
// Hence a track's slices must come in order of time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rnic/time.hpp"
#include "settings/side.hpp"

namespace rnic::app {

class TraceEvents {
 public:
  using Track = uint32_t;
  using Slice = uint32_t;
  static constexpr Slice kNone = UINT32_MAX;
  /// Groups of tracks, in the order of display.
  enum Group : uint8_t { kHost, kPcie, kQp, kUnit, kLink };

  /// Keeps slices that overlap [from, to), at most `most` slices and ends of arrows.
  TraceEvents(Time from, Time to, size_t most) : from_(from), to_(to), most_(most) {}

  Track track(Side side, Group group, std::string name);
  /// The end of the track's latest slice.
  Time end(Track track) const { return tracks_[track].end; }
  /// Returns kNone if the slice is not kept. `items`: shown as an argument unless 0.
  Slice slice(Track track, std::string_view name, Time from, Time to, uint64_t bytes = 0,
              uint64_t items = 0);
  /// Joins the slices, in order of time, by arrows. Ignores kNone; fewer than two have no arrow.
  void flow(std::vector<Slice> slices);

  bool is_full() const { return count_ >= most_; }
  /// From this time on events are missing; UINT64_MAX: none is.
  Time lost_from() const { return lost_from_; }
  /// Drops slices that begin at this time or later.
  void cut(Time lost_from) { lost_from_ = lost_from < lost_from_ ? lost_from : lost_from_; }
  /// Removes the limit: for slices that are derived from records with a separate limit.
  void lift() { most_ = SIZE_MAX; }
  size_t size() const { return count_; }
  std::string json() const;

 private:
  struct TrackState {
    Side side;
    Group group;
    std::string name;
    Time end = 0;
  };
  struct SliceState {
    Time from = 0, to = 0;
    uint64_t bytes = 0;
    uint32_t items = 0, track = 0, name = 0;
  };

  Time from_, to_;
  size_t most_, count_ = 0;
  Time lost_from_ = UINT64_MAX;
  std::vector<TrackState> tracks_;
  std::vector<SliceState> slices_;
  std::vector<std::vector<Slice>> flows_;
  std::vector<std::string> names_;
  std::map<std::string, uint32_t, std::less<>> name_numbers_;
};

}  // namespace rnic::app

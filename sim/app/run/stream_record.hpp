// Records when items cross the streams between the units of a device, on model and RTL alike: the
// RTL's wires show each transfer, the model reports them through its tap. Only the streams of
// model/sc/stream_tap.hpp, which both kinds have.
//
//   StreamRecord record(clock);
//   make_device("model", kClient, config, seed, "", &record);   ...run...
//   record.times("tx_fpdu_hdr");   // in order of time
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "backend/observer.hpp"
#include "base/clock.hpp"
#include "rnic/time.hpp"
#include "sc/stream_tap.hpp"

namespace rnic::app {

class StreamRecord final : public sim::Observer {
 public:
  static constexpr size_t kStreams = model::kTappedStreams.size();
  /// The index in kTappedStreams. Throws std::logic_error for a stream that it lacks.
  static size_t index_of(std::string_view stream);
  /// The unit that sends the items of a stream; the unit that receives them.
  static const char* from_unit(size_t index);
  static const char* to_unit(size_t index);

  /// `clock`: of the device. Records items in [from, to), at most `most` of them.
  explicit StreamRecord(const base::Clock& clock, Time from = 0, Time to = UINT64_MAX,
                        size_t most = SIZE_MAX);

  /// Sorts the recorded items. Call once, after the run.
  void finish();
  const std::vector<Time>& times(size_t index) const { return times_[index]; }
  const std::vector<Time>& times(std::string_view stream) const { return times_[index_of(stream)]; }
  /// From this time on, items are missing because `most` were recorded; UINT64_MAX: none is.
  Time lost_from() const { return lost_from_; }

  bool wants_streams() const override { return true; }
  void cycle(uint64_t n) override { now_ = n; }
  void streams(const sim::StreamStates& states) override;
  void stream(size_t number, uint64_t cycle) override;

 private:
  void add(size_t index, uint64_t cycle);

  base::Clock clock_;
  Time from_, to_;
  size_t most_, count_ = 0;
  Time lost_from_ = UINT64_MAX;
  uint64_t now_ = 0;
  std::array<std::vector<Time>, kStreams> times_;
};

}  // namespace rnic::app

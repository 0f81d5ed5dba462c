// Records the times at which items cross the streams between units. RTL calls streams() each cycle,
// a model stream() for each item. index: position in kTappedStreams, the streams that both have;
// number: position in kStreamNames, all streams.
#include "run/stream_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace rnic::app {
namespace {

constexpr uint8_t kNotTapped = UINT8_MAX;

/// The index in kTappedStreams of each stream of kStreamNames, and back.
struct Numbers {
  std::array<uint8_t, sim::kStreamNames.size()> index{};
  std::array<uint8_t, StreamRecord::kStreams> number{};
  constexpr Numbers() {
    index.fill(kNotTapped);
    for (size_t i = 0; i < sim::kStreamNames.size(); ++i) {
      for (size_t k = 0; k < number.size(); ++k) {
        if (std::string_view(sim::kStreamNames[i].name) != model::kTappedStreams[k]) continue;
        index[i] = static_cast<uint8_t>(k);
        number[k] = static_cast<uint8_t>(i);
      }
    }
  }
};
constexpr Numbers kNumbers;

}  // namespace

size_t StreamRecord::index_of(std::string_view stream) {
  const auto* const at = std::ranges::find(model::kTappedStreams, stream,
                                           [](const char* s) { return std::string_view(s); });
  if (at == model::kTappedStreams.end())
    throw std::logic_error(fmt::format("no tap at {}", stream));
  return static_cast<size_t>(at - model::kTappedStreams.begin());
}
const char* StreamRecord::from_unit(size_t index) {
  return sim::kStreamNames[kNumbers.number[index]].from;
}
const char* StreamRecord::to_unit(size_t index) {
  return sim::kStreamNames[kNumbers.number[index]].to;
}

StreamRecord::StreamRecord(const base::Clock& clock, Time from, Time to, size_t most)
    : clock_(clock), from_(from), to_(to), most_(most) {}

void StreamRecord::add(size_t index, uint64_t cycle) {
  const Time at = clock_.time_of_cycle(cycle);
  if (at < from_ || at >= to_) return;
  if (count_ >= most_) {
    lost_from_ = std::min(lost_from_, at);
    return;
  }
  ++count_;
  times_[index].push_back(at);
}

void StreamRecord::streams(const sim::StreamStates& states) {
  for (size_t k = 0; k < kStreams; ++k) {
    if (states[kNumbers.number[k]] == sim::kStreamFires) add(k, now_);
  }
}

void StreamRecord::stream(size_t number, uint64_t cycle) {
  if (kNumbers.index[number] != kNotTapped) add(kNumbers.index[number], cycle);
}

/// Sorts: a model reports an item with the cycle in which it crosses, which may be later than now.
void StreamRecord::finish() {
  for (auto& t : times_) std::ranges::sort(t);
}

}  // namespace rnic::app

// Faults of the trace: what the follower is told is not what the RTL did. The RTL itself is as it
// should be; an output that is changed reaches the world so too.
//
//   TraceSpoiler spoiler(trace_faults(seed, 5).at(k));
//   spoiler.edit(pins.commits, pins.out);           once a device cycle
#pragma once

#include <vector>

#include "backend/rtl_pins.hpp"
#include "mutants/faults.hpp"

namespace rnic::mutants {

/// kTracesByHand by hand, then drawn: any kind of commit with any action, or a bit of an output.
std::vector<TraceFault> trace_faults(uint64_t seed, uint32_t drawn);
inline constexpr uint32_t kTracesByHand = 7;

class TraceSpoiler {
 public:
  explicit TraceSpoiler(const TraceFault& fault) : fault_(fault) {}
  void edit(std::vector<spec::AnyCommit>& commits, sim::RtlPins::Out& out);

 private:
  template <class T>
  void edit(sim::PinOut<T>& pin);

  TraceFault fault_;
  uint32_t seen_ = 0;
  std::vector<spec::AnyCommit> held_;
};

}  // namespace rnic::mutants

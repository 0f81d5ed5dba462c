// Faults of the trace: the reports to the follower differ from the RTL's actions. The RTL itself is
// correct. A changed output also reaches the environment changed.
//
//   TraceSpoiler spoiler(trace_faults(seed, 5).at(k));
//   spoiler.edit(pins.commits, pins.out);           once per device cycle
#pragma once

#include <vector>

#include "backend/rtl_pins.hpp"
#include "mutants/faults.hpp"

namespace rnic::mutants {

/// kTracesByHand by hand, then drawn ones: any kind of commit with any action, or a bit of an
/// output.
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

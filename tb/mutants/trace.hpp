// Faults of the trace: commits or outputs differ from what the RTL did. The RTL itself is correct.
// A changed output also reaches the environment in its changed form.
//
// What they are for: the tandem checks commits and outputs. A fault here is one that the RTL could
// have (a commit lost, doubled, late or wrong; a wrong bit of an output), at any commit or output.
// The tandem must report it (mutants.cpp).
//
//   TraceSpoiler spoiler(trace_faults(seed, 5).at(k));
//   spoiler.edit(pins.commits, pins.out);           once per device cycle
#pragma once

#include <vector>

#include "backend/rtl_pins.hpp"
#include "mutants/faults.hpp"

namespace rnic::mutants {

/// kTracesByHand faults by hand, then drawn ones: any action on any kind of commit, or a changed
/// bit of an output.
std::vector<TraceFault> trace_faults(uint64_t seed, uint32_t drawn);
inline constexpr uint32_t kTracesByHand = 7;

class TraceSpoiler {
 public:
  explicit TraceSpoiler(const TraceFault& fault) : fault_(fault) {}
  /// Changes this cycle's commits or outputs if the fault acts now, and sets was_reached.
  void edit(std::vector<spec::AnyCommit>& commits, sim::RtlPins::Out& out);

 private:
  template <class T>
  void edit(sim::PinOut<T>& pin);

  TraceFault fault_;
  uint32_t seen_ = 0;                  // commits or beats of the fault's kind
  std::vector<spec::AnyCommit> held_;  // kLater: reported after the next one of its kind
};

}  // namespace rnic::mutants

// Finds starving QPs. The RTL chooses the order of turns, and the follower copies that order, so it
// would not notice starvation. This class bounds how long a QP that could have a turn is passed
// over.
//
//   Turns issues(qps);
//   const auto can = [&](uint16_t q) { return can_have_a_turn(q); };
//   if (auto starved = issues.given(qpn, cycle, can)) ...
//
// `given` checks all QPs from time to time. A QP has starved if it could have a turn at two
// successive checks and had none in between: only its own turns use up what makes it wait (credit,
// window, slots). Two checks are at least kCycles apart, so that a fetch from a slow host does not
// count. They are also at least kTurns turns apart, plus four for each QP that waited.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace rnic::sim {

class Turns {
 public:
  static constexpr uint64_t kTurns = 512, kCycles = 20'000;

  explicit Turns(size_t qps) : waited_(qps), served_(qps) {}

  /// Records a turn of a QP; returns a QP that has starved, if there is one.
  template <class Able>
  std::optional<uint16_t> given(uint16_t qpn, uint64_t cycle, Able able) {
    served_[qpn] = true;
    if (++turns_ < least_ || cycle < next_) return std::nullopt;
    std::optional<uint16_t> starved;
    uint64_t waiting = 0;
    for (uint16_t q = 0; q < waited_.size(); ++q) {
      const bool waits = able(q);
      if (waits && waited_[q] && !served_[q]) starved = q;
      waited_[q] = waits;
      waiting += waits;
    }
    served_.assign(served_.size(), false);
    turns_ = 0;
    least_ = kTurns + 4 * waiting;
    next_ = cycle + kCycles;
    return starved;
  }

 private:
  std::vector<bool> waited_, served_;  // waited at the last check; had a turn since that check
  // Turns since the last check; the next check needs `least_` turns, and cycle `next_`.
  uint64_t turns_ = 0, least_ = kTurns, next_ = 0;
};

}  // namespace rnic::sim

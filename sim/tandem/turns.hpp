// Turns that the RTL gives to QPs in an order of its own: a bound on how long one that could have a turn is passed by.
// The follower obeys the RTL's order, so it would not notice a QP that starves.
//
//   Turns issues("qp_issue", qps);
//   if (auto starved = issues.given(qpn, cycle, [&](uint16_t q) { return can_have_a_turn(q); })) ...
//
// Now and then all QPs are looked at. Who could have a turn at two looks in succession and had none between them has starved,
// since what makes a QP wait (credit, window, slots) is used up by its own turns alone. Between two looks lie at least kCycles, so
// that a fetch from a slow host does not count, and kTurns and four for each who waited.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace rnic::sim {

class Turns {
 public:
  static constexpr uint64_t kTurns = 512, kCycles = 20'000;

  explicit Turns(size_t qps) : waited_(qps), served_(qps) {}

  /// A turn of a QP; the one that has starved, if one has.
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
  std::vector<bool> waited_, served_;  // at the last look; since then
  uint64_t turns_ = 0, least_ = kTurns, next_ = 0;
};

}  // namespace rnic::sim

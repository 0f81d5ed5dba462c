// The device's clock, 322.265625 MHz: cycle n is at floor(n * 102400 / 33) ps, exact and without
// drift. Times are picoseconds.
//
//   time_of_cycle(33) == 102400;   cycle_at(102400) == 33;   kPsPerCycle * cycles
#pragma once

#include <cstdint>

namespace rnic::base {

inline constexpr uint64_t kCyclesOfPeriod = 33, kPsOfPeriod = 102400;  // 33 cycles are a whole number of ps
inline constexpr double kPsPerCycle = static_cast<double>(kPsOfPeriod) / kCyclesOfPeriod;

/// Does not overflow before the time itself does.
constexpr uint64_t time_of_cycle(uint64_t cycle) {
  return cycle / kCyclesOfPeriod * kPsOfPeriod + cycle % kCyclesOfPeriod * kPsOfPeriod / kCyclesOfPeriod;
}
/// The first cycle at or after a time.
constexpr uint64_t cycle_at(uint64_t ps) {
  uint64_t c = ps / kPsOfPeriod * kCyclesOfPeriod + ps % kPsOfPeriod * kCyclesOfPeriod / kPsOfPeriod;
  while (time_of_cycle(c) < ps) ++c;
  return c;
}

}  // namespace rnic::base

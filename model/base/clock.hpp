// The device's clock: cycle n is at floor(n / f), exact and without drift. Times are in
// picoseconds. The free functions use the RTL's clock of 322.265625 MHz, the model's default; there
// 33 cycles are 102400 ps.
//
//   time_of_cycle(33) == 102400;   cycle_at(102400) == 33;   kPsPerCycle * cycles
//   Clock c{250'000'000};   c.time_of_cycle(2) == 8000;
#pragma once

#include <cstdint>
#include <numeric>

namespace rnic::base {

inline constexpr uint64_t kPsPerSecond = 1'000'000'000'000;

class Clock {
 public:
  static constexpr uint64_t kNominalHz = 322'265'625;

  constexpr Clock() : Clock(kNominalHz) {}
  constexpr explicit Clock(uint64_t hz)
      : hz_(hz),
        cycles_(hz / std::gcd(hz, kPsPerSecond)),
        ps_(kPsPerSecond / std::gcd(hz, kPsPerSecond)) {}

  /// Whether the arithmetic below is exact; always true for a whole number of kHz up to 10 GHz.
  constexpr bool is_exact() const { return cycles_ <= UINT64_MAX / ps_; }
  constexpr uint64_t hz() const { return hz_; }
  // Rounded, for the device's register cap_clock_khz.
  constexpr uint32_t khz() const { return static_cast<uint32_t>((hz_ + 500) / 1000); }
  constexpr double ps_per_cycle() const {
    return static_cast<double>(ps_) / static_cast<double>(cycles_);
  }
  /// The time of a cycle in picoseconds, rounded down. Overflows only if the time itself overflows.
  constexpr uint64_t time_of_cycle(uint64_t cycle) const {
    return cycle / cycles_ * ps_ + cycle % cycles_ * ps_ / cycles_;
  }
  /// The first cycle at or after a time in picoseconds.
  constexpr uint64_t cycle_at(uint64_t ps) const {
    uint64_t c = ps / ps_ * cycles_ + ps % ps_ * cycles_ / ps_;
    while (time_of_cycle(c) < ps) ++c;
    return c;
  }
  friend bool operator==(const Clock&, const Clock&) = default;

 private:
  uint64_t hz_, cycles_, ps_;  // cycles_ cycles are ps_ picoseconds, the smallest whole numbers
};

inline constexpr Clock kNominalClock;
inline constexpr double kPsPerCycle = kNominalClock.ps_per_cycle();
constexpr uint64_t time_of_cycle(uint64_t cycle) { return kNominalClock.time_of_cycle(cycle); }
constexpr uint64_t cycle_at(uint64_t ps) { return kNominalClock.cycle_at(ps); }

}  // namespace rnic::base

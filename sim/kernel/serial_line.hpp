// One direction of a wire: sends bytes one after the other at a rate. Exact to 1/1024 ps per byte.
//
//   SerialLine wire(100.0);                     // Gb/s
//   Time last_bit = wire.send(now, 162);
//   wire.backlog(now);                          // picoseconds until the wire is free
#pragma once

#include <cmath>
#include <cstdint>

#include "rnic/time.hpp"

namespace rnic::sim {

class SerialLine {
 public:
  // A byte takes 8000 ps at 1 Gb/s.
  explicit SerialLine(double gbps)
      : per_byte_(static_cast<uint64_t>(std::llround(8000.0 / gbps * kUnit))) {}

  /// Sends after all earlier bytes. Returns the time of the last bit.
  Time send(Time now, uint64_t bytes) {
    const uint64_t start = now * kUnit > free_ ? now * kUnit : free_;
    free_ = start + bytes * per_byte_;
    return up(free_);
  }
  /// Time until the wire is free; 0: it is free now.
  Time backlog(Time now) const { return free_ > now * kUnit ? up(free_ - now * kUnit) : 0; }
  /// Time that these bytes take on a free wire.
  Time duration(uint64_t bytes) const { return up(bytes * per_byte_); }

 private:
  static constexpr uint64_t kUnit = 1024;  // units in a picosecond; times inside are in units
  static Time up(uint64_t units) { return (units + kUnit - 1) / kUnit; }
  uint64_t per_byte_;
  uint64_t free_ = 0;
};

}  // namespace rnic::sim

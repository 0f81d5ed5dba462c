// Simulated time, the unit of the driver and of the platform: picoseconds.
//
//   dev.wait(vectors, dev.now() + 20 * kUs);
#pragma once

#include <cstdint>

namespace rnic {

/// Simulated picoseconds since the simulation began.
using Time = uint64_t;
inline constexpr Time kForever = UINT64_MAX;
inline constexpr Time kNs = 1000, kUs = 1000 * kNs, kMs = 1000 * kUs;

}  // namespace rnic

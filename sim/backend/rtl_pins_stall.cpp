// RtlPins over the build `stall`: small sizes of its own, streams stall at random (rtl/stall).
#include "VRnicStall.h"
#include "VRnicStall___024root.h"
#include "VRnicStall_rnic_stall_pkg.h"
#include "backend/stall_pins.hpp"

namespace rnic::sim {

std::unique_ptr<RtlPins> make_rtl_pins_stall(uint64_t seed, const Stalls& stalls) {
  return std::make_unique<StallPins<VRnicStall>>(seed, stalls);
}

}  // namespace rnic::sim

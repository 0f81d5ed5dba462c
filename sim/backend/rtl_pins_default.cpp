// RtlPins over the default build of the RTL.
#include "VRnic.h"
#include "VRnic___024root.h"
#include "backend/verilated_rnic.hpp"

namespace rnic::sim {

std::unique_ptr<RtlPins> make_rtl_pins_default(uint64_t seed) {
  return std::make_unique<VerilatedRnic<VRnic>>(seed);
}

}  // namespace rnic::sim

// RtlPins over the minimum build of the RTL.
#include "VRnicMin.h"
#include "VRnicMin___024root.h"
#include "backend/verilated_rnic.hpp"

namespace rnic::sim {

std::unique_ptr<RtlPins> make_rtl_pins_minimum(uint64_t seed) {
  return std::make_unique<VerilatedRnic<VRnicMin>>(seed);
}

}  // namespace rnic::sim

// RtlPins over the minimum build of the RTL in which streams are held back at random (rtl/stall).
#include "VRnicStall.h"
#include "VRnicStall___024root.h"
#include "VRnicStall_rnic_stall_pkg.h"
#include "backend/verilated_rnic.hpp"
#include "base/rng.hpp"

namespace rnic::sim {
namespace {

constexpr uint64_t kMoodCycles = 512;

/// Writes what rtl/stall/rnic_stall_pkg.sv wants before each edge.
class StallPins final : public VerilatedRnic<VRnicStall> {
 public:
  StallPins(uint64_t seed, const Stalls& stalls) : VerilatedRnic(seed), rng_(stalls.seed) {
    top().__PVT__rnic_stall_pkg->rate = static_cast<uint8_t>(stalls.percent * 255 / 100);
  }
  void cycle() override {
    auto& stall = *top().__PVT__rnic_stall_pkg;
    stall.noise = static_cast<uint32_t>(rng_.next());
    if (cycles_++ % kMoodCycles == 0) stall.mood = static_cast<uint32_t>(rng_.next());
    VerilatedRnic::cycle();
  }

 private:
  base::Rng rng_;
  uint64_t cycles_ = 0;
};

}  // namespace

std::unique_ptr<RtlPins> make_rtl_pins_stall(uint64_t seed, const Stalls& stalls) {
  return std::make_unique<StallPins>(seed, stalls);
}

}  // namespace rnic::sim

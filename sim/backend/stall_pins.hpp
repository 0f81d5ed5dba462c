// RtlPins over a Verilated `rnic` in which streams stall at random (rtl/stall). Include the
// Verilated header and that of its rnic_stall_pkg first, then this; one .cpp per build.
#pragma once

#include "backend/verilated_rnic.hpp"
#include "base/rng.hpp"

namespace rnic::sim {

/// Writes the inputs of rtl/stall/rnic_stall_pkg.sv before each edge: `rate` (how often, of 256),
/// `noise` (random bits of this cycle), `mood` (which cells stall often, sometimes or never).
template <class V>
class StallPins final : public VerilatedRnic<V> {
 public:
  StallPins(uint64_t seed, const Stalls& stalls) : VerilatedRnic<V>(seed), rng_(stalls.seed) {
    this->top().__PVT__rnic_stall_pkg->rate = static_cast<uint8_t>(stalls.percent * 255 / 100);
  }
  void cycle() override {
    auto& stall = *this->top().__PVT__rnic_stall_pkg;
    stall.noise = static_cast<uint32_t>(rng_.next());
    if (cycles_++ % kMoodCycles == 0) stall.mood = static_cast<uint32_t>(rng_.next());
    VerilatedRnic<V>::cycle();
  }

 private:
  static constexpr uint64_t kMoodCycles = 512;
  base::Rng rng_;
  uint64_t cycles_ = 0;
};

}  // namespace rnic::sim

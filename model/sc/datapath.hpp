// Beats of a packet on the datapath, and the cycles for which the packet occupies a unit.
#pragma once

#include <algorithm>

#include "sc/dispatcher.hpp"

namespace rnic::model {

struct Datapath {
  uint32_t bytes = 64;
  Cycle beats(uint32_t size) const { return std::max<Cycle>(1, (size + bytes - 1) / bytes); }
  /// No packet passes a unit in less than 2 cycles (architecture 4, throughput contract).
  Cycle occupancy(uint32_t size) const { return std::max<Cycle>(2, beats(size)); }
};

}  // namespace rnic::model

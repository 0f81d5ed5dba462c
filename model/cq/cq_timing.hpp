// Cycles of cq.
#pragma once

#include "sc/dispatcher.hpp"

namespace rnic::model {

struct CqTiming {
  Cycle doorbell = 2;   // context read; compare and write
  Cycle write = 4;      // context read (2), entry, output register
  Cycle occupancy = 2;  // a look-up with change takes two cycles
  Cycle event = 4;      // pending bits, EQ context, entry
  Cycle control = 4;    // commands: context read, write
};

}  // namespace rnic::model

// Cycles of tpt. Its look-ups are calls; who calls charges them.
#pragma once

#include "sc/dispatcher.hpp"

namespace rnic::model {

struct TptTiming {
  Cycle check = 6;    // STag inverted (4 rounds a cycle), entry read (2), compare
  Cycle walk = 4;     // page number, page-list read (2), extent
  Cycle command = 4;  // entry read, change, write
};

}  // namespace rnic::model

// Cycles of rdmap.
#pragma once

#include "sc/dispatcher.hpp"

namespace rnic::model {

struct RdmapTiming {
  Cycle tx = 3;         // WQE FIFO, arbiter, header
  Cycle occupancy = 2;  // header and body
  Cycle respond = 4;    // IRD slot read (2), request to tpt, answer
  Cycle verdict = 4;    // context read, opcode table, ORD or IRD read, verdict
  Cycle control = 3;    // start, stop, faults: context read, decide, write
};

}  // namespace rnic::model

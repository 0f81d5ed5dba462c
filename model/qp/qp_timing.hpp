// Cycles of qp.
#pragma once

#include "sc/dispatcher.hpp"

namespace rnic::model {

struct QpTiming {
  Cycle doorbell = 2;    // context read; compare and write
  Cycle schedule = 2;    // ready bits, round robin
  Cycle issue = 6;       // context, prefetch buffer read (2), parse, window write, output register
  Cycle occupancy = 2;   // a look-up with change takes two cycles
  Cycle check = 1;       // each SGE beyond the first on wqe_check
  Cycle check_wait = 6;  // wqe_check to tpt and back
  Cycle fetched = 2;     // into the prefetch buffer
  Cycle rq_take = 4;     // context, prefetch buffer, output register
  Cycle done = 2;        // window: mark
  Cycle retire = 3;      // window head, CQE, output register
  Cycle control = 4;     // commands, acknowledgements, errors: context read, decide, write
};

}  // namespace rnic::model

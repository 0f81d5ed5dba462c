// Cycles of qp.
#pragma once

#include "sc/dispatcher.hpp"

namespace rnic::model {

struct QpTiming {
  Cycle doorbell = 3;     // qp_doorbell: tables read, judged, acted upon
  Cycle fetch = 3;        // qp_sq_fetch: state read, decided; request, or push into the buffer
  Cycle schedule = 6;     // qp_sched: arbiter, flags read, written, list; qp_pick: read, decided
  Cycle issue = 6;        // qp_parse: first, judge, scan, end; qp_emit: item FIFO, wqe_hdr
  Cycle parse = 4;        // qp_parse is busy so long with a WQE of one unit and one SGE
  Cycle more = 1;         // each unit and SGE beyond the first (qp_parse: more, scan)
  Cycle check_wait = 1;   // register of wqe_check; and tpt's look-up
  Cycle occupancy = 2;    // a look-up with change takes two cycles
  Cycle rq_schedule = 2;  // qp_rq_fetch: state read, decided
  Cycle fetched = 2;      // into the prefetch buffer
  Cycle rq_take = 4;      // context, prefetch buffer, output register
  Cycle done = 2;         // window: mark
  Cycle slot = 2;         // qp_slot: count read, written; kick
  Cycle head = 2;         // qp_retire: window read, its head is done
  Cycle retire = 3;       // CQE, FIFO, output register
  Cycle control = 4;      // commands, acknowledgements, errors: context read, decide, write
};

}  // namespace rnic::model

// Cycles of qp.
#pragma once

#include "sc/dispatcher.hpp"

namespace rnic::model {

struct QpTiming {
  Cycle doorbell = 3;     // qp_doorbell: tables read, judged, acted upon
  Cycle fetch = 3;        // qp_sq_fetch: look, decide, do; request, or push into the buffer
  Cycle fetch_start = 1;  // qp_sq_fetch: an operation starts every cycle
  Cycle fetch_next = 2;   // list of qp_rq_fetch: a QP leaves it, and its finish
  Cycle schedule = 6;     // qp_sched: arbiter, flags read, written, list; qp_pick: read, decided
  Cycle issue = 6;        // qp_parse: first, judge, scan, end; qp_emit: item FIFO, wqe_hdr
  Cycle parse = 4;        // qp_parse is busy so long with a WQE of one unit and one SGE
  Cycle more = 1;         // each unit and SGE beyond the first (qp_parse: more, scan)
  Cycle look = 3;         // qp_parse: first, judge, end, at a WQE that has to wait
  Cycle again =
      4;  // qp_parse: first, judge, wait, idle, for a kick whose Read the visit has counted
  Cycle check_wait = 1;   // register of wqe_check; and tpt's look-up
  Cycle occupancy = 2;    // a look-up with change takes two cycles
  Cycle rq_schedule = 3;  // list of qp_rq_fetch: flags, memory FIFO (2)
  Cycle rq_fetch = 4;     // qp_rq_fetch: S0 to S3
  Cycle fetched = 2;      // into the prefetch buffer
  Cycle rq_take = 5;      // read, look, give, b1, b2
  Cycle done = 2;         // wr_done to its pass: llp_if's queue (u_dones), operations (u_ops)
  Cycle received = 1;     // rx_done to its pass: operations (u_ops)
  Cycle slot = 2;         // qp_slot: count read, written; kick
  Cycle pass = 2;         // qp_retire: a pass begins every other cycle (s1_valid_q)
  Cycle retire = 3;       // a pass to its cqe_req: tables, qp_retire_step, queue of CQEs
  Cycle control = 4;      // commands, acknowledgements, errors: context read, decide, write
};

}  // namespace rnic::model

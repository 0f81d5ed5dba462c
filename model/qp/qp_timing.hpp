// Latencies of qp in cycles.
#pragma once

#include "sc/dispatcher.hpp"

namespace rnic::model {

struct QpTiming {
  Cycle doorbell = 3;     // qp_doorbell: tables read, judged, acted upon
  Cycle fetch = 4;        // qp_sq_fetch: read, decide, act; queue of requests, or of kicks
  Cycle fetch_start = 1;  // qp_sq_fetch: one operation per cycle
  Cycle fetch_next = 2;   // list of qp_rq_fetch: a QP leaves it and its fetch finishes
  Cycle schedule = 5;     // qp_sched: flags read, list (2); qp_pick: read, decided
  Cycle pick = 2;         // qp_pick's part of schedule: a later event counts for the next visit
  Cycle issue = 6;        // qp_parse: first, judge, scan, end; qp_emit: item FIFO, wqe_hdr
  Cycle parse = 4;        // qp_parse: occupancy by a WQE of one unit and one SGE
  Cycle more = 1;         // each unit and SGE beyond the first (qp_parse: more, scan)
  Cycle look = 3;         // qp_parse: first, judge, end, for a WQE that has to wait
  // qp_parse: first, judge, wait, idle, for a kick whose Read the visit has already counted
  Cycle again = 4;
  Cycle occupancy = 2;    // a lookup that changes its entry takes two cycles
  Cycle rq_schedule = 3;  // list of qp_rq_fetch: flags, memory FIFO (2)
  Cycle rq_fetch = 4;     // qp_rq_fetch: S0 to S3
  Cycle fetched = 5;      // last beat to the kick: qp_read; qp_sq_fetch: 3, queue of kicks
  Cycle rq_fetched = 5;   // last beat to the WQEs: qp_read; qp_rq_fetch: S0 to S3
  Cycle rq_map = 1;       // qp_rq_fetch: u_map in front of u_takes
  Cycle rq_take = 5;      // read, look, give, b1, b2; a take that waits has passed u_map
  Cycle rq_next = 3;      // from a take to the next
  Cycle rq_give = 3;      // the part of rq_take until its WQE leaves the buffer
  Cycle done = 2;         // wr_done to its pass: llp_if's queue (u_dones), operations (u_ops)
  Cycle received = 1;     // rx_done to its pass: operations (u_ops)
  Cycle slot = 2;         // qp_slot: count read, written; kick
  Cycle pass = 2;         // qp_retire: a pass starts every second cycle (s1_valid_q)
  Cycle retire = 3;       // a pass to its cqe_req: tables, qp_retire_step, queue of CQEs
  Cycle control = 4;      // commands, acknowledgements, errors: context read, decide, write
};

}  // namespace rnic::model

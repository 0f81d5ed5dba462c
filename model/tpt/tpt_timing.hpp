// Latencies of tpt in cycles. Lookups are calls; the caller charges them.
#pragma once

#include "sc/dispatcher.hpp"

namespace rnic::model {

struct TptTiming {
  // Request to response: picked (go_q), STag inverted (2), entry read, compared and added
  // (tpt_entry 4), verdict (tpt_entry 5), response register (tpt_rsp).
  Cycle check = 7;
  // Response to the first extent (tpt_walk): job FIFO, current job, page-list read, extent FIFO.
  Cycle walk = 4;
  // create_mr: slot read, STag (2), entry written, response state (tpt_update).
  Cycle command = 5;
  // invalidate to its entry closed (tpt_update): accepted, lookup requested, picked, STag inverted
  // (2), entry read, compared, verdict.
  Cycle invalidate = 8;
  // Until tpt_update takes the next one: closed.
  Cycle invalidations = 9;
  // Entry closed, with nothing in flight, to rx_done: turn of the epoch, ripe, invalidated,
  // counted and out (ddp_rx_hold). After a retired extent 1 more: it is summed and counted first.
  Cycle drained = 5;
};

}  // namespace rnic::model

// Latencies of tpt in cycles. Lookups are calls; the caller's wrapper adds their cycles.
#pragma once

#include "sc/dispatcher.hpp"

namespace rnic::model {

struct TptTiming {
  // Request to response: picked (go_q), STag inverted (2), entry read, compared and added (stage 4
  // of tpt_entry), verdict (stage 5 of tpt_entry), response register (tpt_rsp).
  Cycle check = 7;
  // Response to the first extent (tpt_walk): job FIFO, current job, page-list read, extent FIFO.
  Cycle walk = 4;
  // create_mr: slot read, STag (2), entry written, response state (tpt_update).
  Cycle command = 5;
  // invalidate to its entry closed (tpt_update): accepted, lookup requested, picked, STag inverted
  // (2), entry read, compared, verdict.
  Cycle invalidate = 8;
  // From one invalidation to the next in tpt_update: `invalidate` and 1 cycle to close the entry.
  Cycle invalidations = 9;
  // Entry closed, with nothing in flight, to rx_done: turn of the epoch, ripe, invalidated,
  // counted and out (ddp_rx_hold). After a retired extent 1 more: it is summed and counted first.
  Cycle drained = 5;

  // Fast registration (tpt_register, tpt_update).
  // sq_local to the claim: idle, sum, judge, claim.
  Cycle judge = 4;
  // Claim: accepted, lookup requested, picked, STag inverted (2), entry read, compared, verdict,
  // found, claimed, answer.
  Cycle claim = 11;
  Cycle header = 1;  // of a read of the page list (BackHeader)
  Cycle beat = 1;    // 8 entries of the page list (BackBeat)
  Cycle entry = 1;   // checked and written (BackWrite)
  // Open or give up: accepted, slot, key 1, key 2, entry written, answer.
  Cycle open = 6;
  // Open, given up, bound or refused, to rx_done: done, rdmap_local.
  Cycle registered = 2;

  // Bind (tpt_register, tpt_update), after `judge`: lookup of the region (9), of the window (9),
  // found, decided, entry and count written.
  Cycle bind = 21;
  // Added if a bind or an invalidation closes a window: its region's count is read and written.
  Cycle unbind = 2;
};

}  // namespace rnic::model

// Latencies of rdmap in cycles.
#pragma once

#include "sc/dispatcher.hpp"

namespace rnic::model {

struct RdmapTiming {
  // rdmap_core, from pick to decision: table read, row, entries read, register of the entries.
  Cycle core = 4;
  // wqe_hdr to tx_message_hdr: FIFO (rdmap_wqe), core, message queue, rdmap_tx.
  Cycle tx = 1 + core + 1 + 1;
  // Added for a Read or Flush, whose first SGE rdmap_wqe splits off: FIFO of beats, FIFO of SGEs.
  Cycle sge = 2;
  // rx_segment to rx_verdict: FIFO, core, verdict queue.
  Cycle verdict = 1 + core + 1;
  // A request's segment, or a freed response slot, until the request is the head: FIFO, core, work
  // list (2), core.
  Cycle head = 1 + core + 2 + core;
  // From the same start to the response, without tpt's check: `head`, ring (rdmap_read), response
  // queue, rdmap_tx.
  Cycle respond = head + 1 + 1 + 1;
  // Time that a request occupies the ring of rdmap_read, besides tpt's check: core, ring.
  Cycle serve = core + 1;
  // rdmap_tx: a message's header is sent before its beats.
  Cycle header = 1;
  // start, stop, faults: core, done, acknowledgement.
  Cycle control = core + 2;
  // Error to its Terminate: job queue, rdmap_term (error, message), rdmap_tx.
  Cycle term = 1 + 2 + 1;
};

}  // namespace rnic::model

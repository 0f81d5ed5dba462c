// Cycles of rdmap.
#pragma once

#include "sc/dispatcher.hpp"

namespace rnic::model {

struct RdmapTiming {
  // rdmap_core, from pick to decide: the table is read, row, entries are read, their register.
  Cycle core = 4;
  // wqe_hdr to tx_message_hdr: FIFO (rdmap_wqe), core, queue of messages, rdmap_tx.
  Cycle tx = 1 + core + 1 + 1;
  // More of a Read or Flush, whose first SGE rdmap_wqe splits off: FIFO of beats, of SGEs.
  Cycle sge = 2;
  // rx_segment to rx_verdict: FIFO, core, queue of verdicts.
  Cycle verdict = 1 + core + 1;
  // A request's segment, or a slot that is free, to its head: FIFO, core, work list (2), core.
  Cycle head = 1 + core + 2 + core;
  // And to the response but for tpt's answer: ring (rdmap_read), queue of responses, rdmap_tx.
  Cycle respond = head + 1 + 1 + 1;
  // A request has its place in the ring of rdmap_read so long, and while tpt checks: core, ring.
  Cycle serve = core + 1;
  // rdmap_tx: a message's header leaves before its beats.
  Cycle header = 1;
  // start, stop, faults: core, done, acknowledged.
  Cycle control = core + 2;
  // An error to its Terminate: queue of jobs, rdmap_term (error, message), rdmap_tx.
  Cycle term = 1 + 2 + 1;
};

}  // namespace rnic::model

// Latencies of atomic, and of rdmap_atomic in front of it, in cycles.
#pragma once

#include "sc/dispatcher.hpp"

namespace rnic::model {

struct AtomicTiming {
  // rdmap_atomic: from the head of a QP's IRD, if its turn has come, to atomic_req: FIFO, enter,
  // FIFO.
  Cycle turn = 2;
  // atomic_xlate: atomic_req to qn1_xlate.
  Cycle xlate = 2;
  // qn1_extent to the begin of the request, if its lock is free: atomic_xlate, atomic_lock 2, queue
  // of grants, begin.
  Cycle begin = 5;
  // End of a request to the begin of the next on its address: queue of sent words, release, wake,
  // queue of grants, begin.
  Cycle next = 5;
  // To word_wr, by atomic_store. store: from the begin of an Atomic Write. result: from the extent
  // of a result.
  Cycle store = 4;
  Cycle result = 6;
  // qn1_rd to word_wr: header, atomic_compute 3, atomic_store.
  Cycle compute = 5;
  // dma_wr to word_done (host_if_done).
  Cycle done = 1;
  // word_done, or an ending without a store, to atomic_rsp: atomic_end.
  Cycle end = 5;
  // message: atomic_rsp to its message: rdmap_atomic's FIFO, operation, queue, rdmap_tx. res_done:
  // atomic_rsp of a result to res_done: FIFO only.
  Cycle message = 4;
  Cycle res_done = 1;
};

}  // namespace rnic::model

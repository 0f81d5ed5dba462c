// Latencies of ddp in cycles.
#pragma once

#include "sc/dispatcher.hpp"

namespace rnic::model {

struct DdpTiming {
  Cycle want = 5;       // tx_message to tx_want: FIFO, slot written; sched: read, pick, write
  Cycle want_next = 4;  // tx_grant to the QP's next tx_want: FIFO, sched
  // tx_want to tx_grant: llp_if_grant's FIFO, table, account, decision, FIFO; 1 more if the want
  // meets the wrong phase.
  Cycle credit = 5;
  Cycle scheduled = 4;  // tx_grant to ddp_tx_segment: FIFO, sched 2, queue of segments; 1 more if
                        // that queue is block memory (SegDepth above 64)
  Cycle segment = 2;    // to payload_req, tx_xlate: read, cut
  Cycle slot_free = 3;  // to sq_slot_free: read, load; cut writes its FIFO
  Cycle inside = 3;     // ddp_tx_sched, E0 to E2: later events of the same QP wait meanwhile
  Cycle final = 2;      // payload to resp_slot_free of a Flush Response: FIFO of headers, FIFO
  Cycle occupancy = 3;  // ddp_tx_segment: read, load, cut
  Cycle walk = 1;       // find where a later segment begins in its message's SGEs
  Cycle assemble = 4;   // payload to tx_ulpdu, after its header: FIFO, header_put, register
  Cycle in_line = 4;    // to tx_ulpdu with inline bytes 8, less assemble; 1 more if the queue of
                        // headers (SegDepth) is block memory
  Cycle rx_header = 5;  // rx_ulpdu to rx_xlate: FIFO, header taken, decoded, table, pieces
  Cycle rx_check = 2;   // rx_xlate_rsp to rx_segment
  Cycle rx_place = 2;   // rx_verdict to place_hdr
  Cycle rx_take = 3;    // first segment of a Send: rq_take_req, rq_take_rsp's FIFO, cut from the
                        // WQE
  Cycle rx_send = 1;    // any segment of a Send: cut from its receive WQE
  Cycle rx_later = 1;   // a later segment of a Send: cut from the rest
  Cycle deliver = 2;    // place_done to rx_done
  Cycle control = 3;    // start, stop: context read, write
};

}  // namespace rnic::model

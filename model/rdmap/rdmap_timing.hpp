// Cycles of rdmap.
#pragma once

#include "sc/dispatcher.hpp"

namespace rnic::model {

struct RdmapTiming {
  Cycle tx = 4;         // wqe_hdr to tx_message_hdr: FIFO, table read, decided; rdmap_tx
  Cycle occupancy = 2;  // the table: read; decide and write
  Cycle respond = 11;   // request to its response but for tpt: slot written, work list, head asked for and read (5), check, message
  Cycle serve = 7;      // rdmap_resp: idle, asks, head (3), asks tpt, sends; busy so long and while tpt checks
  Cycle verdict = 3;    // rx_segment to rx_verdict: FIFO, table read, decided
  Cycle control = 3;    // start, stop, faults: context read, decide, write
};

}  // namespace rnic::model

// Cycles of ddp.
#pragma once

#include "sc/dispatcher.hpp"

namespace rnic::model {

struct DdpTiming {
  Cycle want = 3;       // slot written, want, llp_if's credit check
  Cycle grant = 3;      // grant FIFO, slot read
  Cycle segment = 3;    // length, header, tx_xlate request
  Cycle assemble = 3;   // header and payload joined, output register
  Cycle rx_header = 4;  // header taken, context read, checks
  Cycle rx_place = 2;   // verdict FIFO, output register
  Cycle deliver = 3;    // place_done, delivery FIFO, output register
  Cycle control = 3;    // start, stop: context read, write
};

}  // namespace rnic::model

// Cycles of host_if.
#pragma once

#include "sc/dispatcher.hpp"

namespace rnic::model {

struct HostTiming {
  Cycle mmio = 3;        // input register, BAR decode, doorbell or register stage
  Cycle mmio_read = 2;   // register mux, output register
  Cycle rd_request = 3;  // client FIFO, cut at 4 KiB and MRRS, tag
  Cycle rd_reorder =
      4;  // tag table, write into the reorder space, whole-packet check, read of its first beat
  Cycle rd_align = 2;  // realignment into dense beats, output register
  Cycle wr_cut = 4;    // client FIFO, arbiter, cut at extent, 4 KiB and MPS, realignment
};

}  // namespace rnic::model

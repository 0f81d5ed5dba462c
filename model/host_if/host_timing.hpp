// Cycles of host_if.
#pragma once

#include "sc/dispatcher.hpp"

namespace rnic::model {

struct HostTiming {
  Cycle mmio = 2;         // host_if_doorbell: held request, doorbell register
  Cycle push_tick = 512;  // host_if_doorbell: a half of a pushed WQE waits for 1 to 2 of them
  Cycle mmio_read = 4;    // host_if_bar: idle, mux, group and half; host_if_order: 2
  Cycle rd_request = 5;   // host_if_rd: client FIFO, gather: opened, cut, tag; arbiter's register
  Cycle rd_reorder = 4;   // host_if_reorder: in, place, shifted, written
  Cycle rd_release =
      6;  // gather: tags walked, whole (4 behind the end); release: header, word asked for, read, beat
  Cycle wr_small = 3;  // host_if_msix: FIFO, entry, round robin
  Cycle wr_cut = 7;    // host_if_wr: FIFO, packet_arb, cut, chunk; realign 2; stream_reg
};

}  // namespace rnic::model

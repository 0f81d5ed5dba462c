// Latencies of host_if in cycles.
#pragma once

#include "sc/dispatcher.hpp"

namespace rnic::model {

struct HostTiming {
  Cycle mmio = 2;         // host_if_doorbell: held request, doorbell register
  Cycle push_tick = 512;  // host_if_doorbell: a half of a pushed WQE waits at most 1 to 2 ticks
  // host_if_bar: mux, response; host_if_order: FIFO, free_q. A register read waits mmio and the
  // stages of qp_doorbell, too, because one queue keeps it after earlier writes: 9 cycles, RTL 5.
  Cycle mmio_read = 4;
  Cycle rd_request =
      4;  // sq, rq, admin to dma_rd_req: client FIFO; gather: open, cut; arbiter's register
  Cycle rd_extent = 3;   // tx_extent to dma_rd_req: FIFO, gather: cut; arbiter's register
  Cycle rd_reorder = 3;  // dma_rd_rsp to the end of a read: in, place, end (host_if_reorder)
  Cycle rd_release =
      6;  // end of a read to its first beat: tags walked, whole (4); word read, beat (2)
  Cycle wr_word = 6;  // word_wr to dma_wr: FIFO, cut, FIFO of chunks, realign 2, stream_reg
  Cycle wr_small =
      7;             // cq_wr to dma_wr: host_if_msix 2; cut, FIFO of chunks, realign 2, stream_reg
  Cycle wr_cut = 6;  // place_hdr to dma_wr: FIFO, cut, FIFO of chunks, realign 2, stream_reg
};

}  // namespace rnic::model

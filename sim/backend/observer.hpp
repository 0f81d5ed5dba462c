// What the RTL did, for whoever looks on: the follower, the ordering checker. RtlDevice calls, an
// Observer listens; nothing that is simulated may depend on it. Architecture 10.
//
//   class Counter final : public Observer { void commit(const spec::AnyCommit&) override { ++n; } ... };
//   auto dev = make_rtl_device({.name = "server", .observer = &counter});
//
// A device cycle is told whole, in this order: cycle; the commits, as docs/spec/commits.yaml lists
// them; what the device put out and the world accepted (dma_write, llp_tx, llp_ctl, mmio_response,
// dma_read); what reached the device (mmio, dma_piece, llp_rx, llp_event, llp_credit); dma_write_waits; cycle_done.
// A packet is told once: dma_write and llp_tx with their last beat, dma_piece with its last beat,
// llp_rx with its header (the bytes follow on the pins). pcie and reset come between two cycles;
// the cycles that the reset lasts are not told.
#pragma once

#include <cstdint>

#include "backend/device.hpp"
#include "backend/gen/stream_taps.hpp"
#include "gen/commits.hpp"
#include "gen/streams.hpp"

namespace rnic::sim {

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void cycle(uint64_t) {}  // what follows happened in this device cycle
  virtual void commit(const spec::AnyCommit&) {}
  /// Each stream's valid and ready at this edge, behind `cycle`; only for who wants it.
  virtual bool wants_streams() const { return false; }
  virtual void streams(const StreamStates&) {}
  // out of the device; client is said (never kUnknown)
  virtual void dma_write(const DmaWrite&) {}
  virtual void llp_tx(const Record&) {}
  virtual void llp_ctl(const spec::LlpCtlReq&) {}
  virtual void mmio_response(uint64_t) {}
  virtual void dma_read(const DmaRead&) {}
  // into the device
  virtual void mmio(const Mmio&) {}
  virtual void dma_piece(const DmaPiece&) {}
  virtual void llp_rx(const Record&) {}
  virtual void llp_event(const spec::LlpCtlEvt&) {}
  virtual void llp_credit(const spec::LlpCredit&) {}
  virtual void dma_write_waits() {
  }                             // a beat of dma_wr is on offer, and was not accepted in this cycle
  virtual void cycle_done() {}  // all of this cycle has been told
  // between cycles
  virtual void pcie(const spec::PcieCfg&) {}
  virtual void reset() {}
};

}  // namespace rnic::sim

// Receives the commits, items and cycles of a device: the follower and the ordering checker of
// tandem, and recorders of its streams. RtlDevice makes the calls; a model makes one of them,
// stream(). No simulated behaviour may depend on an Observer. Architecture 10.
//
//   class Counter final : public Observer {
//     void commit(const spec::AnyCommit&) override { ++n; }
//     ...
//   };
//   auto dev = make_rtl_device({.name = "server", .observer = &counter});
//
// The calls of a device cycle come in this order:
// 1. cycle, then streams if wanted;
// 2. the commits, in the order of docs/spec/commits.yaml;
// 3. device outputs that were accepted (dma_write, llp_tx, llp_ctl, mmio_response, dma_read);
// 4. device inputs (mmio, dma_piece, llp_rx, llp_event, llp_credit);
// 5. dma_write_waits;
// 6. cycle_done.
//
// A packet is reported once: dma_write, llp_tx and dma_piece with their last beat, llp_rx with its
// header (the bytes follow on the pins). pcie and reset come between two cycles. Cycles under reset
// are not reported.
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
  virtual void cycle(uint64_t) {}  // the calls that follow belong to this device cycle
  virtual void commit(const spec::AnyCommit&) {}
  /// Valid and ready of each stream at this edge, after `cycle`; only if wants_streams().
  virtual bool wants_streams() const { return false; }
  virtual void streams(const StreamStates&) {}
  /// The only call that a model makes: an item crosses stream `number` of kStreamNames in device
  /// cycle `cycle`, which may be later than now (model/sc/stream_tap.hpp).
  virtual void stream(size_t /*number*/, uint64_t /*cycle*/) {}
  // Out of the device; the client is known (never kUnknown).
  virtual void dma_write(const DmaWrite&) {}
  virtual void llp_tx(const Record&) {}
  virtual void llp_ctl(const spec::LlpCtlReq&) {}
  virtual void mmio_response(uint64_t) {}
  virtual void dma_read(const DmaRead&) {}
  // Into the device.
  virtual void mmio(const Mmio&) {}
  virtual void dma_piece(const DmaPiece&) {}
  virtual void llp_rx(const Record&) {}
  virtual void llp_event(const spec::LlpCtlEvt&) {}
  virtual void llp_credit(const spec::LlpCredit&) {}
  virtual void dma_write_waits() {
  }                             // a beat of dma_wr is offered, and was not accepted in this cycle
  virtual void cycle_done() {}  // all of this cycle was reported
  // Between cycles.
  virtual void pcie(const spec::PcieCfg&) {}
  virtual void reset() {}
};

}  // namespace rnic::sim

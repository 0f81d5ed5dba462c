// Looks on at a host's PCIe: checkers, the tandem's read log, traces, counters. Changes nothing.
// Each call carries the time at which the thing happened, which may be earlier than the kernel's
// present time but never runs backwards within one host.
//
//   struct Counter final : PcieObserver {
//     void on_write(Time, const DmaWrite& w, bool) override { bytes += w.data.size(); }
//   };
//   root_complex.observe(counter);
#pragma once

#include <span>

#include "backend/device.hpp"
#include "platform/pci.hpp"

namespace rnic::sim {

class PcieObserver {
 public:
  virtual ~PcieObserver() = default;
  /// The device gave a write to the posted queue / memory has taken it (ok: it was somebody's
  /// memory, or an interrupt).
  virtual void on_write_issued(Time, const DmaWrite&) {}
  virtual void on_write(Time, const DmaWrite&, bool /*ok*/) {}
  /// The device asked / memory was looked at (all bytes of a request at once; data is empty unless
  /// status is ok).
  virtual void on_read_issued(Time, const DmaRead&) {}
  virtual void on_read_sampled(Time, const DmaRead&, spec::RdStatus,
                               std::span<const uint8_t> /*data*/) {}
  /// The device got this piece.
  virtual void on_completion(Time, const DmaPiece&) {}
  /// The device got this register access / the host got the answer to a read.
  virtual void on_mmio(Time, const Mmio&) {}
  virtual void on_mmio_response(Time, uint64_t /*value*/) {}
  virtual void on_interrupt(Time, unsigned /*vector*/) {}
  /// Function-level reset or removal: what was under way is gone.
  virtual void on_reset(Time) {}
};

}  // namespace rnic::sim

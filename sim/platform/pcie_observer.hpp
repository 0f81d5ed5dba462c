// Observes the PCIe of a host: checkers, the tandem's read log, traces, counters. Observers do not
// change the simulation. Each call carries the time of its event. That time may be earlier than the
// kernel's present time, but it never runs backwards within one host.
//
//   struct Counter final : PcieObserver {
//     void on_write(Time, const DmaWrite& w, bool) override { bytes += w.data.size(); }
//   };
//   root_complex.observe(counter);
#pragma once

#include <span>

#include "backend/device.hpp"
#include "rnic/pci_device.hpp"

namespace rnic::sim {

class PcieObserver {
 public:
  virtual ~PcieObserver() = default;
  /// on_write_issued: the device put a write into the posted queue. on_write: memory has taken it;
  /// `ok`: a buffer owned the address, or the write was a valid interrupt.
  virtual void on_write_issued(Time, const DmaWrite&) {}
  virtual void on_write(Time, const DmaWrite&, bool /*ok*/) {}
  /// on_read_issued: the device sent a read request. on_read_sampled: all bytes of the request were
  /// read from memory at one time; data is empty unless status is ok.
  virtual void on_read_issued(Time, const DmaRead&) {}
  virtual void on_read_sampled(Time, const DmaRead&, spec::RdStatus,
                               std::span<const uint8_t> /*data*/) {}
  /// The device received this completion.
  virtual void on_completion(Time, const DmaPiece&) {}
  /// on_mmio: the device received this register access. on_mmio_response: the host received the
  /// value of a register read.
  virtual void on_mmio(Time, const Mmio&) {}
  virtual void on_mmio_response(Time, uint64_t /*value*/) {}
  virtual void on_interrupt(Time, unsigned /*vector*/) {}
  /// Function-level reset, removal or power failure: requests in flight are lost.
  virtual void on_reset(Time) {}
};

}  // namespace rnic::sim

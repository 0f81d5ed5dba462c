// Records when a device wrote a byte of its host's memory, for the waveform of a failure
// (failure_wave.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "platform/pcie_observer.hpp"

namespace rnic::app {

/// The write times of one byte, so that a failure finds the last write before its detection.
class WriteWatch final : public sim::PcieObserver {
 public:
  explicit WriteWatch(uint64_t bus) : bus_(bus) {}
  void on_write(Time t, const sim::DmaWrite& w, bool ok) override;
  Time last_before(Time t) const;  ///< the last write at t or before; 0: none

 private:
  uint64_t bus_;
  std::vector<Time> times_;
};

}  // namespace rnic::app

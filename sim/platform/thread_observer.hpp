// Observes the threads of a host's programs: the use of their time, and their register writes.
// Observers do not change the simulation. The times of one thread never run backwards.
//
//   struct Busy final : ThreadObserver {
//     void ran(unsigned, const std::string&, ThreadTime k, Time from, Time to) override { ... }
//   };
//   simulation.observe_threads(0, busy);
#pragma once

#include <cstdint>
#include <string>

#include "backend/device.hpp"
#include "rnic/pci_device.hpp"

namespace rnic::sim {

enum class ThreadTime : uint8_t {
  kWorks,  ///< posts, writes registers, reads a completion, takes an interrupt
  kPolls,  ///< rests after an empty poll
  kWaits,  ///< for an interrupt, or for the value of a register
};

class ThreadObserver {
 public:
  virtual ~ThreadObserver() = default;
  /// `thread`: its number on this host.
  virtual void ran(unsigned thread, const std::string& name, ThreadTime what, Time from,
                   Time to) = 0;
  /// The CPU sends the write at `at`, the end of the work for the write.
  virtual void wrote(unsigned /*thread*/, Time /*at*/, const Mmio&) {}
};

}  // namespace rnic::sim

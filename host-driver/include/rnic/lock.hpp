// Mutual exclusion between the threads of a host, in simulated time: whoever holds the lock has
// seen everything that earlier holders did, and nothing that a later one will do.
//
//   Lock lock;                                  // beside what it protects
//   {
//     const Locked held(lock, dev);             // spins with relax()
//     if (auto r = qp.post_send(wr); !r) ...    // a QP that two threads post to
//   }
//
// Decision: docs/decisions/0007-threads-and-time.md
#pragma once

#include "rnic/pci_device.hpp"

namespace rnic {

class Lock {
 public:
  void lock(PciDevice& dev) {
    dev.before_shared();
    while (held_) dev.relax();
    held_ = true;
  }
  void unlock(PciDevice& dev) {
    dev.before_shared();  // a later holder must not find it free before this thread's calls end
    held_ = false;
  }

 private:
  bool held_ = false;
};

/// Holds a lock until the end of its scope.
class [[nodiscard]] Locked {
 public:
  Locked(Lock& lock, PciDevice& dev) : lock_(lock), dev_(dev) { lock_.lock(dev_); }
  ~Locked() { lock_.unlock(dev_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  Lock& lock_;
  PciDevice& dev_;
};

}  // namespace rnic

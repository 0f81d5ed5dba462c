// Mutual exclusion between the threads of a host, in simulated time. The holder sees every store of
// earlier holders and none of later ones.
//
//   Lock lock;                                  // next to the data it protects
//   {
//     const Locked held(lock, dev);             // spins with relax()
//     if (auto r = qp.post_send(wr); !r) ...    // two threads post to this QP
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
    dev.before_shared();  // the next holder finds the lock free only after this thread's calls
    held_ = false;
  }

 private:
  bool held_ = false;
};

/// Holds a lock until the end of its scope (RAII).
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

// A host's CPU: programs as simulated threads, each with its own time. A thread runs ahead of the
// kernel by what its driver calls cost, at most by a quantum, and lets the others run when it
// waits, polls in vain or has used it up. Before it looks at memory that other threads see
// (PciDevice::before_shared) they come up to its time, so that such memory is seen in simulated
// order. Between driver calls a program costs nothing.
//
//   HostCpu cpu("host0", config, memory);
//   SimPciDevice device(cpu);
//   cpu.connect(root_complex, device);
//   cpu.start("server", [](PciDevice& dev) { ... });          before or during simulation
//   cpu.finished();  cpu.failures();
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "platform/root_complex.hpp"

namespace rnic::sim {

using Program = std::function<void(PciDevice&)>;

class HostCpu;

/// One thread of a host: what its PciDevice stands on.
class HostThread {
 public:
  HostThread(HostCpu& cpu, std::string name) : cpu_(cpu), name_(std::move(name)) {}

  Time now() const { return std::max(local_, kernel_now()); }
  /// Spend time.
  void charge(uint64_t ns);
  /// Let the rest of the simulation come up to this thread's time; afterwards it sees memory as of
  /// now.
  void sync();
  uint64_t wait(uint64_t vectors, Time deadline);
  uint64_t mmio_read(Mmio m);

  const std::string& name() const { return name_; }
  std::string doing() const;

 private:
  friend class HostCpu;
  template <class... Until>
  void suspend(const Until&... until);
  void stop_if_halted();

  static inline HostThread* running_ = nullptr;  // the one whose program is being executed
  HostCpu& cpu_;
  std::string name_;
  Time local_ = 0;
  bool finished_ = false, reading_ = false;
  uint64_t waits_for_ = 0;  // vectors
  Time waits_since_ = 0, waits_until_ = 0;
  sc_core::sc_event event_, never_;
  MmioAnswer answer_;
};

struct ProgramFailure {
  std::string program, what;
};

class HostCpu final : public InterruptSink {
 public:
  HostCpu(std::string name, const HostConfig& config, HostMemory& memory);
  ~HostCpu() override;

  /// `device` is what all programs are given.
  void connect(RootComplex& root_complex, PciDevice& device) {
    root_complex_ = &root_complex;
    device_ = &device;
  }
  /// `done` is called when the program has returned.
  void start(const std::string& program, Program body, std::function<void()> done);
  void interrupt(unsigned vector) override;

  /// The thread that is being executed; it must be of this host.
  HostThread& running() {
    HostThread* thread = HostThread::running_;
    RNIC_CHECK(thread != nullptr && &thread->cpu_ == this,
               "{}: its PciDevice is called by no thread of this host", name_);
    return *thread;
  }
  const HostConfig& config() const { return config_; }
  HostMemory& memory() { return memory_; }
  RootComplex& root_complex() { return *root_complex_; }
  /// The power has failed: no thread goes on, and none begins.
  void halt() { is_halted_ = true; }
  bool is_halted() const { return is_halted_; }
  /// Every thread has returned, or never will.
  bool finished() const;
  const std::vector<ProgramFailure>& failures() const { return failures_; }
  /// No thread has returned, been woken or been answered if this has not changed.
  uint64_t moved() const { return moved_; }
  /// A thread sleeps, and will wake by itself, after a sleep longer than `at_least`.
  bool sleeps_long(Time now, Time at_least) const;
  std::string waiting_for() const;

 private:
  friend class HostThread;
  void body(HostThread& thread, const Program& program);

  std::string name_;
  HostConfig config_;
  HostMemory& memory_;
  RootComplex* root_complex_ = nullptr;
  PciDevice* device_ = nullptr;
  std::deque<std::unique_ptr<HostThread>> threads_;
  uint64_t pending_ = 0;  // interrupts that nobody has taken
  std::vector<ProgramFailure> failures_;
  uint64_t moved_ = 0;
  bool is_halted_ = false;
};

}  // namespace rnic::sim

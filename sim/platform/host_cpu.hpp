// The CPU of a host: programs run as simulated threads, each with its own local time.
//
// A driver call advances the thread's local time by the cost of the call. The thread yields to the
// kernel when it waits, when an empty poll relaxes, or when its local time is more than a quantum
// ahead. Before a thread reads memory that it shares (PciDevice::before_shared), all others run up
// to its local time. So threads see shared memory in simulated order. Code between driver calls
// costs no time.
//
//   HostCpu cpu("host0", config, memory);
//   SimPciDevice device(cpu);
//   cpu.connect(root_complex, device);
//   cpu.start("server", [](PciDevice& dev) { ... }, [] {});   // before or during simulation
//   cpu.finished();  cpu.failures();
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "platform/root_complex.hpp"
#include "platform/thread_observer.hpp"

namespace rnic::sim {

using Program = std::function<void(PciDevice&)>;

class HostCpu;

/// One thread of a host: the state that its PciDevice calls use.
class HostThread {
 public:
  HostThread(HostCpu& cpu, std::string name, unsigned number)
      : cpu_(cpu), name_(std::move(name)), number_(number) {}

  Time now() const { return std::max(local_, kernel_now()); }
  /// Advances the local time by `ns`; yields if the thread is more than a quantum ahead.
  void charge(uint64_t ns, ThreadTime what = ThreadTime::kWorks);
  /// Runs the rest of the simulation up to this thread's local time. Afterwards memory is as of
  /// now().
  void sync();
  /// The pause after an empty poll: time in which the thread has no work.
  void relax(uint64_t ns);
  /// PciDevice::wait: until an interrupt of the bit mask `vectors` or the deadline. Returns the
  /// interrupts that fired, and 0 at the deadline.
  uint64_t wait(uint64_t vectors, Time deadline);
  /// Charges mmio_read_ns, then waits for the device's response and returns its value.
  uint64_t mmio_read(Mmio m);
  /// Sends a posted write at now(); does not wait and charges no time.
  void mmio_write(Mmio m);
  /// Time spent in relax() and in wait().
  Time idle() const { return idle_; }

  const std::string& name() const { return name_; }
  /// For the watchdog's report: what the thread waits for, one line. Empty if it has returned.
  std::string doing() const;

 private:
  friend class HostCpu;
  /// Yields to the kernel until `until`: a time, an event, or both.
  template <class... Until>
  void suspend(const Until&... until);
  void stop_if_halted();  // does not return if the host's power has failed
  /// Reports to the observers how the thread used this time.
  void ran(ThreadTime what, Time from, Time to) const;

  static inline HostThread* running_ = nullptr;  // the thread whose program is executing
  HostCpu& cpu_;
  std::string name_;
  unsigned number_;
  // local_: up to here the thread has run; it may be ahead of the kernel. reading_: in mmio_read().
  Time local_ = 0, idle_ = 0;
  bool finished_ = false, reading_ = false;
  uint64_t waits_for_ = 0;  // bit mask of interrupt vectors
  Time waits_since_ = 0, waits_until_ = 0;
  // event_: an interrupt for this thread. never_: is never notified; a halted thread waits for it.
  sc_core::sc_event event_, never_;
  MmioAnswer answer_;
};

/// An exception that ended a program: the thread's name ("host0/server"), and the exception's text.
struct ProgramFailure {
  std::string program, what;
};

class HostCpu final : public InterruptSink {
 public:
  HostCpu(std::string name, const HostConfig& config, HostMemory& memory);
  ~HostCpu() override;

  /// `device` is passed to all programs.
  void connect(RootComplex& root_complex, PciDevice& device) {
    root_complex_ = &root_complex;
    device_ = &device;
  }
  /// `done` is called after the program has returned.
  void start(const std::string& program, Program body, std::function<void()> done);
  /// Marks `vector` as pending and notifies the threads that wait for it.
  void interrupt(unsigned vector) override;
  void observe(ThreadObserver& observer) { observers_.push_back(&observer); }

  /// The thread that is executing; it must belong to this host.
  HostThread& running() {
    HostThread* thread = HostThread::running_;
    RNIC_CHECK(thread != nullptr && &thread->cpu_ == this,
               "{}: its PciDevice is called by no thread of this host", name_);
    return *thread;
  }
  const HostConfig& config() const { return config_; }
  HostMemory& memory() { return memory_; }
  RootComplex& root_complex() { return *root_complex_; }
  /// The power fails: threads stop where they are, and no thread starts.
  void halt() { is_halted_ = true; }
  bool is_halted() const { return is_halted_; }
  /// True if every thread has returned, or the power has failed.
  bool finished() const;
  const std::vector<ProgramFailure>& failures() const { return failures_; }
  /// Sum over all threads.
  Time idle() const;
  /// Progress counter: changes when a thread returns, takes an interrupt, or gets its register
  /// read's value.
  uint64_t moved() const { return moved_; }
  /// True if a thread is in a timed wait() that has not expired and is at least `at_least` long.
  bool sleeps_long(Time now, Time at_least) const;
  /// For the watchdog's report: HostThread::doing() of all threads.
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
  std::vector<ThreadObserver*> observers_;
  uint64_t pending_ = 0;  // fired interrupts that no thread has handled
  std::vector<ProgramFailure> failures_;
  uint64_t moved_ = 0;
  bool is_halted_ = false;
};

}  // namespace rnic::sim

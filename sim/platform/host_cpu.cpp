// Threads of a host, each with a local time: see host_cpu.hpp. settle() makes the device's writes
// up to now visible in memory; `moved_` counts progress, for the watchdog.
#include "platform/host_cpu.hpp"

#include <algorithm>
#include <exception>

namespace rnic::sim {

void HostThread::ran(ThreadTime what, Time from, Time to) const {
  for (auto* o : cpu_.observers_) o->ran(number_, name_, what, from, to);
}

void HostThread::charge(uint64_t ns, ThreadTime what) {
  const Time from = now();
  local_ = from + ns * kNs;
  ran(what, from, local_);
  if (local_ - kernel_now() > cpu_.config_.quantum_ns * kNs) sync();
}

/// A halted thread stays suspended and keeps its objects: unwinding would run their destructors.
void HostThread::stop_if_halted() {
  while (cpu_.is_halted_) sc_core::wait(never_);
}

/// Other threads run during the wait.
template <class... Until>
void HostThread::suspend(const Until&... until) {
  sc_core::wait(until...);
  stop_if_halted();
  running_ = this;
}

void HostThread::sync() {
  const Time kernel = kernel_now();
  if (local_ > kernel) suspend(sc_core::sc_time::from_value(local_ - kernel));
  cpu_.root_complex_->settle(kernel_now());
  cpu_.memory_.pmem().host_stored(kernel_now());
}

/// After an empty poll: others run up to the thread's time, so that the next poll can find more.
void HostThread::relax(uint64_t ns) {
  idle_ += ns * kNs;
  charge(ns, ThreadTime::kPolls);
  sync();
}

uint64_t HostThread::wait(uint64_t vectors, Time deadline) {
  sync();
  waits_for_ = vectors;
  waits_since_ = kernel_now();
  waits_until_ = deadline;
  uint64_t fired = 0;
  for (;;) {
    cpu_.root_complex_->settle(kernel_now());
    fired = cpu_.pending_ & vectors;
    const Time now = kernel_now();
    if (fired != 0 || now >= deadline) break;
    // An interrupt of `vectors` notifies event_.
    if (deadline == kForever) {
      suspend(event_);
    } else {
      suspend(sc_core::sc_time::from_value(deadline - now), event_);
    }
  }
  idle_ += kernel_now() - waits_since_;
  ran(ThreadTime::kWaits, waits_since_, kernel_now());
  cpu_.pending_ &= ~fired;
  waits_for_ = 0;
  waits_until_ = 0;
  if (fired != 0) ++cpu_.moved_;
  local_ = kernel_now();
  if (fired != 0) {
    charge(cpu_.config_.interrupt_ns);
    sync();
  }
  return fired;
}

uint64_t HostThread::mmio_read(Mmio m) {
  charge(cpu_.config_.mmio_read_ns);
  sync();
  answer_.done = false;
  reading_ = true;
  const Time from = kernel_now();
  cpu_.root_complex_->mmio_read(from, std::move(m), answer_);
  while (!answer_.done) suspend(answer_.event);
  reading_ = false;
  ran(ThreadTime::kWaits, from, kernel_now());
  ++cpu_.moved_;
  cpu_.root_complex_->settle(kernel_now());
  return answer_.value;
}

/// The caller (SimPciDevice) charges the time of the store. A posted write needs no sync.
void HostThread::mmio_write(Mmio m) {
  for (auto* o : cpu_.observers_) o->wrote(number_, now(), m);
  cpu_.root_complex_->mmio_write(now(), std::move(m));
}

std::string HostThread::doing() const {
  if (finished_) return "";
  if (cpu_.is_halted_) return fmt::format("{}: its power has failed\n", name_);
  if (reading_) return fmt::format("{}: waits for the answer to a register read\n", name_);
  if (waits_until_ != 0) {
    return fmt::format("{}: since {} ns waits for interrupts {:#x}\n", name_, waits_since_ / kNs,
                       waits_for_);
  }
  return fmt::format("{}: polls\n", name_);
}

HostCpu::HostCpu(std::string name, const HostConfig& config, HostMemory& memory)
    : name_(std::move(name)), config_(config), memory_(memory) {}

HostCpu::~HostCpu() {
  if (HostThread::running_ != nullptr && &HostThread::running_->cpu_ == this)
    HostThread::running_ = nullptr;
}

void HostCpu::start(const std::string& program, Program body, std::function<void()> done) {
  RNIC_CHECK(!is_halted_, "{}: its power has failed", name_);
  threads_.push_back(std::make_unique<HostThread>(*this, name_ + "/" + program,
                                                  static_cast<unsigned>(threads_.size())));
  HostThread* thread = threads_.back().get();
  sc_core::sc_spawn_options options;
  options.set_stack_size(1 << 20);
  sc_core::sc_spawn(
      [this, thread, body = std::move(body), done = std::move(done)] {
        this->body(*thread, body);
        done();
      },
      sc_core::sc_gen_unique_name((name_ + "_" + program).c_str()), &options);
}

void HostCpu::body(HostThread& thread, const Program& program) {
  try {
    thread.stop_if_halted();
    HostThread::running_ = &thread;
    program(*device_);
    thread.sync();
  } catch (const sc_core::sc_unwind_exception&) {
    throw;  // the kernel unwinds its threads
  } catch (const std::exception& e) {
    failures_.push_back({thread.name(), e.what()});
  } catch (...) {
    failures_.push_back({thread.name(), "an exception that is not a std::exception"});
  }
  thread.finished_ = true;
  ++moved_;
}

void HostCpu::interrupt(unsigned vector) {
  pending_ |= uint64_t{1} << vector;
  for (auto& t : threads_) {
    if ((t->waits_for_ >> vector & 1) != 0) t->event_.notify(sc_core::SC_ZERO_TIME);
  }
}

bool HostCpu::finished() const {
  return is_halted_ ||
         std::all_of(threads_.begin(), threads_.end(), [](const auto& t) { return t->finished_; });
}

Time HostCpu::idle() const {
  Time all = 0;
  for (const auto& t : threads_) all += t->idle();
  return all;
}

bool HostCpu::sleeps_long(Time now, Time at_least) const {
  return !is_halted_ && std::any_of(threads_.begin(), threads_.end(), [&](const auto& t) {
    return t->waits_until_ != kForever && t->waits_until_ > now &&
           t->waits_until_ - t->waits_since_ >= at_least;
  });
}

std::string HostCpu::waiting_for() const {
  std::string out;
  for (const auto& t : threads_) out += t->doing();
  return out;
}

}  // namespace rnic::sim

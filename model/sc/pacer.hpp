// Drives the dispatcher on the SystemC kernel: one SC_METHOD for all models of a simulation. The
// dispatcher runs ahead of the kernel's time, up to the kernel's next planned event. A cycle with
// an external stage, which calls the surroundings, runs only at its own time.
//
//   std::shared_ptr<Pacer> pacer = Pacer::shared();     // another clock: shared(Clock(hz)) for all
//   Rnic rnic(sizes, timing, pacer->dispatcher(), world);
//   pacer->arrive();   rnic.mmio(...);                  // always in this order
//
// A program that stops the kernel with sc_start(time) and then calls the model must plan an event
// after that time, because sc_start notifies no module: without that event the dispatcher may run
// further ahead. A SystemC process that calls the model needs no such event.
#pragma once

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <systemc>

#include "base/clock.hpp"
#include "sc/dispatcher.hpp"

namespace rnic::model {

class Pacer final : private WakeListener {
 public:
  /// The pacer of this simulation; it lives as long as it has an owner. Throws
  /// std::invalid_argument if it has another clock.
  static std::shared_ptr<Pacer> shared(const base::Clock& clock = base::kNominalClock) {
    static std::weak_ptr<Pacer> held;
    std::shared_ptr<Pacer> p = held.lock();
    if (p == nullptr) held = p = std::make_shared<Pacer>(clock);
    if (p->clock_ != clock)
      throw std::invalid_argument("all models of a simulation have one clock");
    return p;
  }
  explicit Pacer(const base::Clock& clock) : clock_(clock) {
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.dont_initialize();
    options.set_sensitivity(&event_);
    sc_core::sc_spawn(Run{this}, sc_core::sc_gen_unique_name("model_clock"), &options);
    dispatcher_.set_listener(this);
    arrive();
  }
  ~Pacer() override { dispatcher_.set_listener(nullptr); }
  Pacer(const Pacer&) = delete;
  Pacer& operator=(const Pacer&) = delete;

  Dispatcher& dispatcher() { return dispatcher_; }
  const base::Clock& clock() const { return clock_; }
  /// Sets the dispatcher's time to the kernel's, rounded up to a cycle.
  void arrive() { dispatcher_.set_now(clock_.cycle_at(now())); }

 private:
  static constexpr Cycle kFarthest = 1024;  // cycles ahead of the kernel, at most
  struct Run {
    Pacer* self;
    void operator()() const { self->run(); }
  };
  static uint64_t now() { return sc_core::sc_time_stamp().value(); }
  /// The time up to which the dispatcher may run ahead: the kernel has no event before.
  uint64_t horizon() const {
    const uint64_t far = clock_.time_of_cycle(clock_.cycle_at(now()) + kFarthest);
    if (!sc_core::sc_pending_activity()) return far;
    return std::min<uint64_t>(far, now() + sc_core::sc_time_to_pending_activity().value());
  }
  void plan(Cycle c) {  // run() is called at cycle c
    planned_ = c;
    const uint64_t at = clock_.time_of_cycle(c);
    if (at <= now()) {
      event_.notify(sc_core::SC_ZERO_TIME);
    } else {
      event_.notify(sc_core::sc_time::from_value(at - now()));  // replaces a later notification
    }
  }
  void woken(Cycle at) override {
    if (at < planned_) plan(at);
  }
  void run() {
    planned_ = kNever;
    uint64_t until = horizon();
    for (;;) {
      const Cycle next = dispatcher_.next();
      if (next == kNever) return;
      const uint64_t at = clock_.time_of_cycle(next);
      const bool external = dispatcher_.external_at(next);
      if (at > now() && (external || at >= until)) return plan(next);
      dispatcher_.step();
      if (external) until = horizon();
    }
  }

  base::Clock clock_;
  Dispatcher dispatcher_;
  sc_core::sc_event event_;
  Cycle planned_ = kNever;  // the cycle of event_'s notification
};

}  // namespace rnic::model

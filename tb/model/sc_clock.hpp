// The bench's clock on the SystemC kernel: the Pacer drives the devices, an SC_METHOD drives the
// world's events.
#pragma once

#include "base/clock.hpp"
#include "bench.hpp"
#include "sc/pacer.hpp"

namespace rnic::tb {

class ScClock final : public Clock {
 public:
  ScClock() : ScClock(model::Pacer::shared()) {}

  void at(Cycle when, std::function<void()> what) override {
    Clock::at(when, std::move(what));
    plan();
  }
  Cycle now() const override { return base::cycle_at(sc_core::sc_time_stamp().value()); }

 private:
  explicit ScClock(std::shared_ptr<model::Pacer> pacer)
      : Clock(pacer->dispatcher()), pacer_(std::move(pacer)) {
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.dont_initialize();
    options.set_sensitivity(&event_);
    sc_core::sc_spawn(Run{this}, sc_core::sc_gen_unique_name("world"), &options);
  }
  struct Run {
    ScClock* self;
    void operator()() const {
      self->pacer_->arrive();
      self->run_events(self->now());
      self->plan();
    }
  };
  /// Lets the kernel notify event_ at the time of the world's next event.
  void plan() {
    const Cycle next = next_event();
    if (next == model::kNever) return;
    const uint64_t at = base::time_of_cycle(next), time = sc_core::sc_time_stamp().value();
    event_.notify(at <= time ? sc_core::SC_ZERO_TIME : sc_core::sc_time::from_value(at - time));
  }
  /// Lets SystemC run up to its next activity, or to the end of cycle `end`.
  bool advance(Cycle end) override {
    // An event after `end` keeps Pacer from running past `end`: the test then calls the devices.
    if (end != end_) at((end_ = end) + 1, [] {});
    const uint64_t time = sc_core::sc_time_stamp().value(), last = base::time_of_cycle(end);
    const auto next = sc_core::sc_time_to_pending_activity();
    if (!sc_core::sc_pending_activity() || time + next.value() > last) {
      if (last > time) sc_core::sc_start(sc_core::sc_time::from_value(last - time));
      return false;
    }
    sc_core::sc_start(next);
    return true;
  }

  std::shared_ptr<model::Pacer> pacer_;
  sc_core::sc_event event_;
  Cycle end_ = 0;
};

}  // namespace rnic::tb

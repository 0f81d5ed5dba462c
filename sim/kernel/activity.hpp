// A part of the platform that runs at times that it requests: one SC_METHOD, run at the earliest
// requested time. wake_at() drops a request for a later time than the one that is pending. So
// run() handles all items that are due, and requests the time of its next item.
//
//   class Blinker final : Activity {
//     void run(Time now) override { blink(); wake_at(now + 10 * kNs); }
//   };
#pragma once

#include <string>
#include <systemc>

#include "base/clock.hpp"
#include "rnic/time.hpp"

namespace rnic::sim {

/// The kernel's present time in picoseconds.
inline Time kernel_now() { return sc_core::sc_time_stamp().value(); }

class Activity {
 public:
  explicit Activity(const std::string& name) {
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.dont_initialize();
    options.set_sensitivity(&event_);
    sc_core::sc_spawn(Step{this}, sc_core::sc_gen_unique_name(name.c_str()), &options);
  }
  virtual ~Activity() = default;
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

  /// Requests a run at `at`, or now if `at` is past.
  void wake_at(Time at) {
    if (at >= next_) return;
    next_ = at;
    const Time now = kernel_now();
    if (at <= now) {
      event_.notify(sc_core::SC_ZERO_TIME);
    } else {
      event_.notify(sc_core::sc_time::from_value(at - now));  // replaces a later request
    }
  }

 protected:
  virtual void run(Time now) = 0;

 private:
  struct Step {
    Activity* self;
    void operator()() const {
      self->next_ = kForever;
      self->run(kernel_now());
    }
  };
  sc_core::sc_event event_;
  Time next_ = kForever;
};

/// The first device cycle after `now`.
inline Time next_cycle_after(Time now) { return base::time_of_cycle(base::cycle_at(now + 1)); }

}  // namespace rnic::sim

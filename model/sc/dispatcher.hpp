// The model's clock: a wheel of cycle slots, each a mask of stage numbers. The dispatcher steps the
// stages of a cycle in ascending order. Numbers rise from downstream to upstream, so room that a
// stage frees in a queue is visible upstream in the same cycle, as with a combinational ready.
// Plain C++; the caller (pacer.hpp, a test) decides how far the dispatcher runs.
//
//   Dispatcher d;   uint32_t lane = d.add_lane();   MyStage s;   s.attach(d, lane, 3); s.wake(10);
//   while (d.next() <= limit) d.step();
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/check.hpp"

namespace rnic::model {

using Cycle = uint64_t;
inline constexpr Cycle kNever = ~Cycle{0};

class Dispatcher;

/// A unit of stepping: one path through a unit.
class Stage {
 public:
  Stage() = default;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  virtual ~Stage();

  /// `external`: step() calls the device's surroundings, so it runs only when the kernel's time has
  /// come.
  void attach(Dispatcher& d, uint32_t lane, uint32_t number, bool external = false);
  /// Does all work that is possible now. It may be called too early or without work, so it checks
  /// everything again.
  virtual void step() = 0;
  /// Plans a step in cycle `at`, at the earliest one that is still possible.
  inline void wake(Cycle at);
  inline Cycle now() const;
  uint32_t number() const { return number_; }
  uint32_t lane() const { return lane_; }
  Dispatcher& dispatcher() const { return *dispatcher_; }

 private:
  Dispatcher* dispatcher_ = nullptr;
  uint32_t lane_ = 0, number_ = 0;
};

/// The driver of the dispatcher (Pacer): gets a call for each wake() outside of step(), since work
/// may be due earlier than the driver has planned.
class WakeListener {
 public:
  virtual ~WakeListener() = default;
  virtual void woken(Cycle at) = 0;
};

class Dispatcher {
 public:
  static constexpr uint32_t kLanes = 4;    ///< devices that share the clock
  static constexpr uint32_t kStages = 64;  ///< stages per device
  static constexpr uint32_t kSlots =
      1024;  ///< cycles that the wheel spans; later wakes wait in a heap

  Dispatcher() : slots_(kSlots) {}

  uint32_t add_lane() {
    for (uint32_t i = 0; i < kLanes; ++i) {
      if (!lane_used_[i]) {
        lane_used_[i] = true;
        return i;
      }
    }
    RNIC_CHECK(false, "more than {} devices on one clock", kLanes);
    return 0;
  }
  /// Removes the lane's stages and all their wake-ups.
  void drop_lane(uint32_t lane) {
    for (Cycle c = 0; c < kSlots; ++c) {
      slots_[c].mask[lane] = 0;
      if (slots_[c].empty()) occupied_[c / 64] &= ~(uint64_t{1} << (c % 64));
    }
    std::erase_if(far_, [lane](const Far& f) { return f.lane == lane; });
    std::make_heap(far_.begin(), far_.end());
    stages_[lane] = {};
    external_[lane] = 0;
    lane_used_[lane] = false;
  }

  Cycle now() const { return now_; }
  /// Call it before every input from outside: the present time in cycles, rounded up.
  /// No effect during step(), or if `now` is earlier.
  void set_now(Cycle now) {
    if (now > now_ && !stepping_) now_ = now;
  }
  void set_listener(WakeListener* l) { listener_ = l; }

  /// The next cycle with work; kNever if none is planned.
  Cycle next() const {
    Cycle c = near();
    if (!far_.empty()) c = std::min(c, far_.front().at);
    return c;
  }
  /// Whether an external stage runs in cycle `c`, the next one.
  bool external_at(Cycle c) const {
    const Slot& s = slots_[c % kSlots];
    for (uint32_t l = 0; l < kLanes; ++l) {
      if ((s.mask[l] & external_[l]) != 0) return true;
    }
    return std::any_of(far_.begin(), far_.end(), [&](const Far& f) {
      return f.at == c && (external_[f.lane] >> f.number & 1) != 0;
    });
  }
  /// Runs the next cycle with work.
  void step() {
    const Cycle c = next();
    RNIC_CHECK(c != kNever && c >= base_, "nothing to step");
    base_ = c;
    now_ = c;
    while (!far_.empty() && far_.front().at < c + kSlots) take_far();  // the wheel reaches them now
    Slot& s = slots_[c % kSlots];
    stepping_ = true;
    for (uint32_t l = 0; l < kLanes; ++l) {
      lane_now_ = l;
      while (s.mask[l] != 0) {
        const uint32_t n = static_cast<uint32_t>(std::countr_zero(s.mask[l]));
        s.mask[l] &= s.mask[l] - 1;
        number_now_ = n;
        ++steps_;
        stages_[l][n]->step();
      }
    }
    stepping_ = false;
    occupied_[c % kSlots / 64] &= ~(uint64_t{1} << (c % 64));
    base_ = c + 1;
  }
  uint64_t steps() const { return steps_; }  // calls of Stage::step() so far

  /// Plans a step of a stage in cycle `at`. A cycle in which the stage cannot be stepped any more
  /// becomes the next one.
  void wake(uint32_t lane, uint32_t number, Cycle at) {
    if (at <= now_) {
      at = now_;
      // Only later stages of the lane that is stepped can still run in this cycle. A wake of
      // another lane counts for the next cycle.
      if (stepping_ ? lane != lane_now_ || number <= number_now_ : at < base_) at = now_ + 1;
    }
    if (at >= base_ + kSlots) {
      far_.push_back({at, lane, number});
      std::push_heap(far_.begin(), far_.end());
    } else {
      slots_[at % kSlots].mask[lane] |= uint64_t{1} << number;
      occupied_[at % kSlots / 64] |= uint64_t{1} << (at % 64);
    }
    if (!stepping_ && listener_ != nullptr) listener_->woken(at);
  }

 private:
  friend class Stage;
  struct Slot {
    std::array<uint64_t, kLanes> mask{};
    bool empty() const {
      return std::all_of(mask.begin(), mask.end(), [](uint64_t m) { return m == 0; });
    }
  };
  struct Far {
    Cycle at;
    uint32_t lane, number;
    bool operator<(const Far& o) const { return at > o.at; }  // the earliest is on top
  };

  // The next cycle with work on the wheel, without far_.
  Cycle near() const {
    const uint32_t from = static_cast<uint32_t>(base_ % kSlots);
    uint32_t w = from / 64;
    uint64_t m = occupied_[w] & (~uint64_t{0} << (from % 64));
    for (uint32_t i = 0; i <= kSlots / 64; ++i) {
      if (m != 0) {
        const uint32_t slot = w * 64 + static_cast<uint32_t>(std::countr_zero(m));
        return base_ + (slot + kSlots - from) % kSlots;
      }
      w = (w + 1) % (kSlots / 64);
      m = occupied_[w];
    }
    return kNever;
  }
  void take_far() {
    std::pop_heap(far_.begin(), far_.end());
    const Far f = far_.back();
    far_.pop_back();
    slots_[f.at % kSlots].mask[f.lane] |= uint64_t{1} << f.number;
    occupied_[f.at % kSlots / 64] |= uint64_t{1} << (f.at % 64);
  }

  std::vector<Slot> slots_;
  std::array<uint64_t, kSlots / 64> occupied_{};  // one bit per slot: it may have stages
  std::vector<Far> far_;                          // a heap of wakes beyond the wheel
  std::array<std::array<Stage*, kStages>, kLanes> stages_{};
  std::array<uint64_t, kLanes> external_{};  // masks of the external stages
  std::array<bool, kLanes> lane_used_{};
  WakeListener* listener_ = nullptr;
  Cycle now_ = 0;   // the running cycle, or outside of step() the present time
  Cycle base_ = 0;  // the first cycle that has not run
  bool stepping_ = false;
  uint32_t lane_now_ = 0, number_now_ = 0;  // the stage that is being stepped
  uint64_t steps_ = 0;
};

inline Stage::~Stage() = default;
inline void Stage::attach(Dispatcher& d, uint32_t lane, uint32_t number, bool external) {
  RNIC_CHECK(number < Dispatcher::kStages && d.stages_[lane][number] == nullptr,
             "stage number {} is taken", number);
  dispatcher_ = &d;
  lane_ = lane;
  number_ = number;
  d.stages_[lane][number] = this;
  if (external) d.external_[lane] |= uint64_t{1} << number;
}
inline void Stage::wake(Cycle at) { dispatcher_->wake(lane_, number_, at); }
inline Cycle Stage::now() const { return dispatcher_->now(); }

}  // namespace rnic::model

// Adds time to behaviour. Unit<B, T>: one path through a unit, from one queue to another; timing T
// gives each item's occupancy and latency. StageOf<U>: a stage that is a member function, for units
// with several inputs and outputs.
//
//   Unit<Mpa::Rx, MpaRxTiming> rx(behaviour, timing, in, out, meter);
//   class CqUnit { StageOf<CqUnit> write_{*this, &CqUnit::step_write}; };
#pragma once

#include <algorithm>
#include <concepts>
#include <utility>

#include "gen/streams.hpp"
#include "sc/dispatcher.hpp"
#include "sc/queue.hpp"

namespace rnic::model {

/// Plain C++ without time: take() accepts an item; next() returns one as long as pending().
template <class B>
concept Behaviour = requires(B b, typename B::In in) {
  b.take(std::move(in));
  { b.pending() } -> std::same_as<bool>;
  { b.next() } -> std::same_as<typename B::Out>;
};

/// Counts for the unit's counters (docs/theory-of-operation.md, Counters): items, cycles in which
/// data moved, cycles of back-pressure.
class Meter {
 public:
  void item(Cycle busy) {
    ++count_.items;
    count_.busy += busy;
  }
  /// Adds busy cycles without an item.
  void busy(Cycle cycles) { count_.busy += cycles; }
  // blocked(): back-pressure stops the stage; moved(): it goes on. Cycles in between are stalled.
  void blocked(Cycle now) {
    if (since_ == kNever) since_ = now;
  }
  void moved(Cycle now) {
    if (since_ != kNever) count_.stalled += now - since_;
    since_ = kNever;
  }
  const spec::UnitCount& count() const { return count_; }

 private:
  spec::UnitCount count_;
  Cycle since_ = kNever;  // cycle of the first blocked() since moved()
};

/// Sink: a queue, or any type with full(), wake_on_credit() and push().
template <Behaviour B, class T, class Sink = Queue<typename B::Out>>
class Unit final : public Stage {
 public:
  Unit(B& b, const T& t, Queue<typename B::In>& in, Sink& out, Meter& meter)
      : b_(b), t_(t), in_(in), out_(out), meter_(meter) {
    in_.feeds(*this);
  }
  void step() override {
    if (now() < free_at_) return wake(free_at_);
    if (!b_.pending() && !in_.ready()) return;
    if (out_.full()) {
      meter_.blocked(now());
      return out_.wake_on_credit(*this);
    }
    meter_.moved(now());
    if (!b_.pending()) b_.take(in_.pop());
    if (b_.pending()) {
      typename B::Out o = b_.next();
      const Cycle busy = t_.occupancy(o);
      meter_.item(t_.beats(o));
      free_at_ = now() + busy;
      out_.push(std::move(o), now() + t_.latency(o));
    }
    if (b_.pending()) {
      wake(free_at_);
    } else if (!in_.empty()) {
      wake(std::max(free_at_, in_.visible_at()));
    }
  }

 private:
  B& b_;
  T t_;
  Queue<typename B::In>& in_;
  Sink& out_;
  Meter& meter_;
  Cycle free_at_ = 0;
};

template <class U>
class StageOf final : public Stage {
 public:
  StageOf(U& unit, void (U::*fn)()) : unit_(unit), fn_(fn) {}
  void step() override { (unit_.*fn_)(); }

 private:
  U& unit_;
  void (U::*fn_)();
};

}  // namespace rnic::model

// A bounded queue between two stages. A push takes a slot at once; the item becomes visible later.
// So the capacity covers the FIFO and the pipeline registers in front of it, and the producer needs
// no second wake-up when the item arrives. A pop frees the slot after `credit_delay` cycles: 0 if
// the FIFO's ready is combinational, 1 if it is registered.
//
//   Queue<Fpdu> q("tx_fpdu", depth);   q.feeds(consumer);
//   if (q.full()) return q.wake_on_credit(*this);   q.push(item, now() + latency);
//   if (q.ready()) item = q.pop();
#pragma once

#include <algorithm>
#include <bit>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.hpp"
#include "sc/dispatcher.hpp"
#include "sc/ring.hpp"

namespace rnic::model {

template <class T>
class Queue {
 public:
  Queue(std::string_view name, uint32_t depth, Cycle credit_delay = 0)
      : name_(name), depth_(depth), credit_delay_(credit_delay), ring_(std::min(depth, 64U)) {}
  void feeds(Stage& consumer) { consumer_ = &consumer; }  // the stage that pops

  bool empty() const { return ring_.empty(); }
  uint32_t size() const { return ring_.size(); }
  bool full() const {
    uint32_t held = ring_.size();
    // With a delay, slots popped in this cycle are not free yet.
    if (credit_delay_ != 0 && popped_at_ == consumer_->now()) held += popped_;
    return held >= depth_;
  }
  /// Whether an item is visible now. If the oldest item is not visible yet, the consumer is woken
  /// when it is.
  bool ready() {
    if (ring_.empty()) return false;
    if (ring_.front().visible_at <= consumer_->now()) return true;
    consumer_->wake(ring_.front().visible_at);
    return false;
  }
  /// The cycle in which the oldest item becomes visible; kNever if the queue is empty.
  Cycle visible_at() const { return ring_.empty() ? kNever : ring_.front().visible_at; }
  T& front() { return ring_.front().item; }
  const T& front() const { return ring_.front().item; }
  void push(T item, Cycle visible_at) {
    RNIC_CHECK(ring_.size() < depth_, "{} overflows", name_);
    if (!ring_.empty()) visible_at = std::max(visible_at, ring_.back().visible_at);
    if (ring_.empty()) consumer_->wake(visible_at);
    ring_.push({std::move(item), visible_at});
  }
  T pop() {
    T out = std::move(ring_.pop().item);
    const Cycle now = consumer_->now();
    if (credit_delay_ != 0) {
      popped_ = popped_at_ == now ? popped_ + 1 : 1;
      popped_at_ = now;
    }
    for (; waiting_ != 0; waiting_ &= waiting_ - 1) {
      consumer_->dispatcher().wake(consumer_->lane(),
                                   static_cast<uint32_t>(std::countr_zero(waiting_)),
                                   now + credit_delay_);
    }
    return out;
  }
  /// The queue is full: steps `producer` when it has space again.
  void wake_on_credit(const Stage& producer) { waiting_ |= uint64_t{1} << producer.number(); }

  std::string_view name() const { return name_; }
  /// "tx_fpdu: 3 of 8 items wait" or nothing.
  std::string describe() const {
    if (empty()) return {};
    return std::string(name_) + ": " + std::to_string(size()) + " of " + std::to_string(depth_) +
           " items wait" + (waiting_ != 0 ? ", a producer waits for space\n" : "\n");
  }

 private:
  struct Slot {
    T item;
    Cycle visible_at = 0;
  };
  std::string_view name_;
  uint32_t depth_;
  Cycle credit_delay_;
  Ring<Slot> ring_;
  Stage* consumer_ = nullptr;
  uint64_t waiting_ = 0;      // stage numbers that wait for space
  Cycle popped_at_ = kNever;  // cycle of the last pop, and pops in it; only with a credit delay
  uint32_t popped_ = 0;
};

}  // namespace rnic::model

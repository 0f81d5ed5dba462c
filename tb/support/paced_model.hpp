// A behaviour class as a device under test that is stepped by cycles; its streams pause at random
// as RTL streams do. For benches whose environment has its own clock, or that stall a stream.
//
//   struct QpModelDut : tb::PacedDut {
//     tb::PacedIn<spec::WrDone> wr_done{*this, "wr_done"};
//     tb::PacedOut<spec::CqeReq> cqe_req{*this, "cqe_req"};
//     void step() override {                       one cycle
//       if (wr_done.offers() && cqe_req.ready()) qp.wr_done(wr_done.pop());
//     }
//     void reset() override { qp = {}; }
//   };
//
//   - offers(): pop() may take an item in this cycle, at most one per cycle.
//   - push() queues an item until the consumer takes it, one per cycle. ready(): that queue is
//     empty.
//   - takes(): the consumer accepts an item of give() in this cycle, immediately.
//   - answer(): the next item that the bench has put, in the same cycle. With give() and answer() a
//     stream replaces a neighbour that the behaviour calls: give() sends the request, answer()
//     returns the response.
//   - PacedFifo: a queue inside the device, with a random latency. reset() must clear() it.
#pragma once

#include <algorithm>
#include <concepts>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "support/dut.hpp"
#include "support/seed.hpp"

namespace rnic::tb {

class PacedDut : public Dut {
 public:
  virtual void step() = 0;
  virtual void reset() = 0;

  void cycle() {
    for (auto* port : ports_) port->drive();
    step();
    ++now_;
  }
  void cycles(uint64_t count) {
    for (uint64_t i = 0; i < count; i++) cycle();
  }
  [[nodiscard]] uint64_t now() const { return now_; }
  bool advance() override {
    cycle();
    return true;
  }
  void restart(Pace p) override {
    for (auto* port : ports_) port->clear();
    reset();
    pace(p);
  }

 private:
  uint64_t now_ = 0;
};

template <class T>
class PacedIn final : public Port {
 public:
  using Item = T;
  PacedIn(Dut& dut, std::string name) : name_(std::move(name)), rng_(test_rng("in " + name_)) {
    dut.attach(this);
  }
  void put(T item) { items_.push_back(std::move(item)); }
  void put_packet(std::span<const uint8_t> bytes,
                  bool error = false) requires std::same_as<T, Packet> {
    put(Packet{{bytes.begin(), bytes.end()}, error});
  }
  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] size_t size() const { return items_.size(); }
  void idle(unsigned percent) { idle_ = percent; }

  [[nodiscard]] bool offers() const { return offered_; }
  const T& front() const {
    RNIC_CHECK(offered_, "{}: front of a stream that offers nothing", name_);
    return items_.front();
  }
  T pop() {
    RNIC_CHECK(offered_, "{}: pop of a stream that offers nothing", name_);
    T item = std::move(items_.front());
    items_.pop_front();
    offered_ = false;
    moved_++;
    return item;
  }

  T answer() {
    RNIC_CHECK(!items_.empty(), "{}: a neighbour does not answer at once", name_);
    offered_ = true;
    return pop();
  }

  void pace(Pace p) override { idle_ = p.idle; }
  void drive() override {
    if (!offered_) offered_ = !items_.empty() && !rng_.percent(idle_);
  }
  void clear() override {
    items_.clear();
    offered_ = false;
  }
  [[nodiscard]] bool busy() const override { return !items_.empty(); }
  [[nodiscard]] uint64_t moved() const override { return moved_; }

 private:
  std::string name_;
  base::Rng rng_;
  std::deque<T> items_;
  unsigned idle_ = 0;
  bool offered_ = false;
  uint64_t moved_ = 0;
};

template <class T>
class PacedOut final : public Port, public OutQueue<T> {
 public:
  using Item = T;
  PacedOut(Dut& dut, std::string name)
      : OutQueue<T>(dut, std::move(name)), rng_(test_rng("out " + this->name_)) {
    dut.attach(this);
  }
  void stall(unsigned percent) { stall_ = percent; }
  [[nodiscard]] bool ready() const { return waiting_.empty(); }
  void push(T item) { waiting_.push_back(std::move(item)); }
  [[nodiscard]] bool takes() const { return takes_; }
  void give(T item) {
    RNIC_CHECK(takes_, "{}: nobody takes an item in this cycle", this->name_);
    accept(std::move(item));
  }
  /// Called with each item that the consumer takes, before it is queued.
  void on_item(std::function<void(const T&)> f) { on_item_ = std::move(f); }
  void on_packet(std::function<void(const T&)> f) requires std::same_as<T, Packet> {
    on_item(std::move(f));
  }
  Packet take_packet(uint64_t limit = Dut::kLimit) requires std::same_as<T, Packet> {
    return this->take(limit);
  }
  std::optional<Packet> try_take_packet(uint64_t limit = 1000) requires std::same_as<T, Packet> {
    return this->try_take(limit);
  }

  void pace(Pace p) override { stall_ = p.stall; }
  void drive() override {
    const bool taken = !rng_.percent(stall_);
    takes_ = taken && waiting_.empty();
    if (!taken || waiting_.empty()) return;
    T item = std::move(waiting_.front());
    waiting_.pop_front();
    accept(std::move(item));
  }
  void clear() override {
    this->items_.clear();
    waiting_.clear();
    takes_ = false;
  }
  [[nodiscard]] bool busy() const override { return !waiting_.empty() && stall_ < 100; }
  [[nodiscard]] uint64_t moved() const override { return moved_; }

 private:
  void accept(T item) {
    moved_++;
    if (on_item_) on_item_(item);
    this->items_.push_back(std::move(item));
  }

  base::Rng rng_;
  std::function<void(const T&)> on_item_;
  std::deque<T> waiting_;
  unsigned stall_ = 0;
  bool takes_ = false;
  uint64_t moved_ = 0;
};

/// A queue inside the device. clear() draws its depth (1 to `most`) and its latency at random. A
/// pushed item is visible after 0 to latency - 1 cycles, in order.
template <class T>
class PacedFifo {
 public:
  PacedFifo(const PacedDut& dut, std::string_view name, uint32_t most)
      : dut_(dut), rng_(test_rng(std::string("fifo ").append(name))), most_(most) {}
  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] size_t size() const { return items_.size(); }
  [[nodiscard]] bool full() const { return items_.size() >= depth_; }
  [[nodiscard]] bool ready() const { return !empty() && items_.front().seen <= dut_.now(); }
  T& front() { return items_.front().item; }
  void push(T item) {
    const uint64_t before = empty() ? 0 : items_.back().seen;
    items_.push_back({std::max(before, dut_.now() + rng_.below(latency_)), std::move(item)});
  }
  T pop() {
    T item = std::move(items_.front().item);
    items_.pop_front();
    return item;
  }
  void clear() {
    items_.clear();
    depth_ = static_cast<uint32_t>(rng_.between(1, most_));
    // At most 2 * depth_: depth_ items pass in that many cycles, so one every second cycle.
    latency_ = rng_.between(1, 2 * depth_);
  }

 private:
  struct Slot {
    uint64_t seen = 0;  // first cycle in which the item is visible
    T item;
  };
  const PacedDut& dut_;
  base::Rng rng_;
  std::deque<Slot> items_;
  uint32_t most_, depth_ = 1;
  uint64_t latency_ = 1;
};

/// Packet streams: an item is a complete packet.
using PacedPacketIn = PacedIn<Packet>;
using PacedPacketOut = PacedOut<Packet>;

inline Packet to_packet(std::span<const uint8_t> bytes) {
  return {{bytes.begin(), bytes.end()}, false};
}

}  // namespace rnic::tb

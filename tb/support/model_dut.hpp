// A behaviour class as a device under test; its ports have the interface of the RTL ports.
//
//   struct EchoModel : tb::ModelDut {
//     tb::ModelIn<spec::RxUlpduHdr> in{*this, "in"};
//     tb::ModelOut<spec::RxUlpduHdr> out{*this, "out"};
//     model::Echo echo;
//     bool step() override {                        one item; false: nothing to do
//       if (in.empty()) return false;
//       out.push(echo.next(in.pop()));
//       return true;
//     }
//     void reset() override { echo = {}; }
//   };
//
// step() decides when it takes an item, and each output accepts every item. So the streams never
// pause: the pace, idle() and stall() have no effect. They exist so that a test compiles for RTL
// and model.
#pragma once

#include <concepts>
#include <span>
#include <string>
#include <utility>

#include "support/dut.hpp"

namespace rnic::tb {

class ModelDut : public Dut {
 public:
  virtual bool step() = 0;
  virtual void reset() {}

  bool advance() override { return step(); }
  void restart(Pace p) override {
    for (auto* port : ports_) port->clear();
    reset();
    pace(p);
  }
};

template <class T>
class ModelIn final : public Port {
 public:
  using Item = T;
  ModelIn(Dut& dut, std::string name) : name_(std::move(name)) { dut.attach(this); }
  void put(T item) { items_.push_back(std::move(item)); }
  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] size_t size() const { return items_.size(); }
  const T& front() const {
    RNIC_CHECK(!items_.empty(), "{}: front of an empty stream", name_);
    return items_.front();
  }
  T pop() {
    RNIC_CHECK(!items_.empty(), "{}: pop of an empty stream", name_);
    T item = std::move(items_.front());
    items_.pop_front();
    moved_++;
    return item;
  }
  void put_packet(std::span<const uint8_t> bytes,
                  bool error = false) requires std::same_as<T, Packet> {
    put(Packet{{bytes.begin(), bytes.end()}, error});
  }
  void idle(unsigned) {}
  void clear() override { items_.clear(); }
  [[nodiscard]] bool busy() const override { return !items_.empty(); }
  [[nodiscard]] uint64_t moved() const override { return moved_; }

 private:
  std::string name_;
  std::deque<T> items_;
  uint64_t moved_ = 0;
};

template <class T>
class ModelOut final : public Port, public OutQueue<T> {
 public:
  using Item = T;
  ModelOut(Dut& dut, std::string name) : OutQueue<T>(dut, std::move(name)) { dut.attach(this); }
  void push(T item) {
    moved_++;
    this->items_.push_back(std::move(item));
  }
  Packet take_packet(uint64_t limit = Dut::kLimit) requires std::same_as<T, Packet> {
    return this->take(limit);
  }
  std::optional<Packet> try_take_packet(uint64_t limit = 1000) requires std::same_as<T, Packet> {
    return this->try_take(limit);
  }
  void stall(unsigned) {}
  void clear() override { this->items_.clear(); }
  [[nodiscard]] uint64_t moved() const override { return moved_; }

 private:
  uint64_t moved_ = 0;
};

/// Packet streams: an item is a complete packet.
using ModelPacketIn = ModelIn<Packet>;
using ModelPacketOut = ModelOut<Packet>;

}  // namespace rnic::tb

// The common interface of RTL and model for a bench: a device under test that can be advanced, with
// ports that hold items.
//
//   template <class Dut> class MpaTest : public testing::Test { protected: Dut dut; };
//   TYPED_TEST(MpaTest, Drops) {
//     each_pace([&](Pace p) {
//       this->dut.restart(p);
//       this->dut.rx_fpdu.put(...);
//       EXPECT_EQ(this->dut.rx_ulpdu.take(), ...);
//     });
//   }
//
// RtlDut (rtl_dut.hpp) advances by a clock cycle, ModelDut (model_dut.hpp) by a step of the
// behaviour. take() advances the device until an item is valid, or fails the test.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/rng.hpp"

namespace rnic::tb {

/// How often the two ends of every stream pause, in percent of cycles.
struct Pace {
  unsigned idle = 0;   // a producer delays an item that it has
  unsigned stall = 0;  // a consumer is not ready
  [[nodiscard]] std::string describe() const {
    return fmt::format("idle={}% stall={}%", idle, stall);
  }
};

inline constexpr std::array<Pace, 4> kPaces = {{{0, 0}, {40, 0}, {0, 40}, {40, 40}}};

/// Runs a body at the four combinations of idle and back-pressure; stops at the first fatal
/// failure.
template <class F>
void each_pace(F body) {
  for (const Pace& pace : kPaces) {
    SCOPED_TRACE(pace.describe());
    body(pace);
    if (testing::Test::HasFatalFailure()) return;
  }
}

/// One side of a bench: a stream, or pins. The device calls it in every cycle.
class Port {
 public:
  virtual ~Port() = default;
  Port() = default;
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;
  virtual void pace(Pace) {}
  virtual void drive() {}   // before a cycle: set the pins
  virtual void sample() {}  // the pins have settled: record the transfers of this edge
  virtual void clear() {}   // reset: discard all items
  [[nodiscard]] virtual bool busy() const { return false; }   // has items to send
  [[nodiscard]] virtual uint64_t moved() const { return 0; }  // items transferred
  [[nodiscard]] virtual bool waits() const { return false; }  // valid without ready
};

/// The device. It owns no port: each port attaches itself.
class Dut {
 public:
  virtual ~Dut() = default;
  Dut() = default;
  Dut(const Dut&) = delete;
  Dut& operator=(const Dut&) = delete;

  /// Advances by one cycle or step. False: the device is idle until new input arrives (a model can
  /// report this, RTL never does).
  virtual bool advance() = 0;
  /// Resets the device and sets this pace.
  virtual void restart(Pace pace) = 0;

  void attach(Port* port) { ports_.push_back(port); }
  /// Sets this pace on all ports, without a reset.
  void pace(Pace p) {
    for (auto* port : ports_) port->pace(p);
  }

  /// Advances until `until` holds, at most `limit` times; stops early if the device is idle.
  /// Returns whether `until` holds at the end.
  template <class Until>
  bool run_until(Until until, uint64_t limit = kLimit) {
    for (uint64_t i = 0; i < limit; i++) {
      if (until()) return true;
      if (!advance()) return until();
    }
    return until();
  }

  /// Advances until every input was sent and no item has moved for `quiet` cycles times patience(),
  /// or until advance() reports that the device is idle. Fails the test after `limit` cycles.
  void settle(uint64_t quiet = 300, uint64_t limit = kLimit) {
    uint64_t last = ~uint64_t{0};
    uint64_t calm = 0;
    for (uint64_t i = 0; i < limit; i++) {
      uint64_t moved = 0;
      bool busy = false;
      for (const auto* port : ports_) moved += port->moved(), busy |= port->busy();
      calm = moved == last && !busy ? calm + 1 : 0;
      last = moved;
      if (calm >= quiet * patience() || (!advance() && !busy)) return;
    }
    ADD_FAILURE() << "did not settle within " << limit << " cycles: an input is never taken";
  }

  /// Factor on the quiet cycles of settle(): how much longer the device may pause before its next
  /// item.
  [[nodiscard]] virtual unsigned patience() const { return 1; }

  static constexpr uint64_t kLimit = 100'000;  // cycles without a response that count as a hang

 protected:
  std::vector<Port*> ports_;
};

/// The items that the device has sent on one output, in order.
template <class T>
class OutQueue {
 public:
  OutQueue(Dut& dut, std::string name) : dut_(dut), name_(std::move(name)) {}

  /// The next item; advances the device until it arrives, or fails the test.
  T take(uint64_t limit = Dut::kLimit) {
    if (auto item = try_take(limit)) return std::move(*item);
    ADD_FAILURE() << name_ << ": nothing came";
    return T{};
  }
  /// The next item, or none within limit cycles.
  std::optional<T> try_take(uint64_t limit = 1000) {
    if (!dut_.run_until([&] { return !items_.empty(); }, limit)) return std::nullopt;
    T item = std::move(items_.front());
    items_.pop_front();
    return item;
  }
  /// All items, once the device has settled.
  std::vector<T> take_all() {
    dut_.settle();
    std::vector<T> out(std::make_move_iterator(items_.begin()),
                       std::make_move_iterator(items_.end()));
    items_.clear();
    return out;
  }
  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] size_t size() const { return items_.size(); }
  std::deque<T>& items() { return items_; }
  [[nodiscard]] const std::string& name() const { return name_; }

 protected:
  Dut& dut_;
  std::string name_;
  std::deque<T> items_;
};

/// The bytes of one packet, and the error flag of its last beat.
struct Packet {
  std::vector<uint8_t> bytes;
  bool error = false;
  friend bool operator==(const Packet&, const Packet&) = default;
};

inline void PrintTo(const Packet& p, std::ostream* out) {  // NOLINT: GoogleTest's name
  *out << p.bytes.size() << " bytes" << (p.error ? " with error" : "") << ":";
  for (uint8_t b : p.bytes) *out << fmt::format(" {:02x}", b);
}

}  // namespace rnic::tb

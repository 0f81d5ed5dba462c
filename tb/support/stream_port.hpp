// Message streams of a Verilated module: one struct per item, valid and ready.
//
//   tb::StreamIn<spec::RxUlpduHdr> in = RNIC_IN(*this, rx_ulpdu_hdr, spec::RxUlpduHdr);
//   in.put({.qpn = 5});                    ports rx_ulpdu_hdr_valid_i, _ready_o, rx_ulpdu_hdr_i
//   tb::StreamOut<spec::RxUlpduHdr> out = RNIC_OUT(*this, rx_ulpdu_hdr, spec::RxUlpduHdr);
//   EXPECT_EQ(out.take(), ...);            ports _valid_o, _ready_i, _o
//
// Both pause at random at the rates of pace(). An output that retracts valid, or changes its
// payload before the transfer, fails the test.
#pragma once

#include <array>
#include <cstring>
#include <deque>
#include <functional>
#include <string>
#include <utility>

#include "support/dut.hpp"
#include "support/seed.hpp"

namespace rnic::tb {

/// The three ports of a stream in C++. Verilator stores a port of up to 64 bits in the smallest
/// integer, a wider one in words. On a little-endian machine the bytes of all of them equal the
/// bytes of the words of to_words().
struct Pins {
  uint8_t* valid;
  uint8_t* ready;
  void* payload;
  size_t payload_bytes;
};

/// The Pins of the three ports. The macros below call it.
template <class P>
Pins pins(uint8_t& valid, uint8_t& ready, P& payload) {
  return {&valid, &ready, &payload, sizeof payload};
}

/// The size of the C++ port that Verilator makes for T::kBits bits.
template <class T>
constexpr size_t port_bytes() {
  return T::kBits <= 8    ? 1
         : T::kBits <= 16 ? 2
         : T::kBits <= 32 ? 4
         : T::kBits <= 64 ? 8
                          : 4 * ((T::kBits + 31) / 32);
}

template <class T>
class StreamIn final : public Port {
 public:
  using Item = T;

  StreamIn(Dut& dut, std::string name, Pins pins)
      : name_(std::move(name)), pins_(pins), rng_(test_rng("in " + name_)) {
    RNIC_CHECK(pins.payload_bytes == port_bytes<T>(), "{}: the port has {} bytes, {} has {} bits",
               name_, pins.payload_bytes, T::kName, T::kBits);
    clear();
    dut.attach(this);
  }

  void put(T item) { items_.push_back(std::move(item)); }
  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] size_t size() const { return items_.size(); }
  void idle(unsigned percent) { idle_ = percent; }
  [[nodiscard]] bool taken() const { return taken_; }  // was an item transferred in the last cycle?

  void pace(Pace p) override { idle_ = p.idle; }
  void drive() override {
    if (!offered_ && !items_.empty() && !rng_.percent(idle_)) {
      offered_ = true;
      const auto words = items_.front().to_words();
      std::memcpy(pins_.payload, words.data(), pins_.payload_bytes);
    }
    *pins_.valid = offered_;
    if (!offered_) {  // exposes a consumer that reads the payload without valid
      for (size_t i = 0; i < pins_.payload_bytes; i++)
        garbage_[i] = static_cast<uint8_t>(rng_.next());
      garbage_[pins_.payload_bytes - 1] &= kTopMask;
      std::memcpy(pins_.payload, garbage_.data(), pins_.payload_bytes);
      if constexpr (T::kBits % 32 != 0 && T::kBits > 32) mask_top();
    }
  }
  void sample() override {
    taken_ = *pins_.valid != 0 && *pins_.ready != 0;
    if (!taken_) return;
    items_.pop_front();
    offered_ = false;
    moved_++;
  }
  void clear() override {
    items_.clear();
    offered_ = taken_ = false;
    *pins_.valid = 0;
  }
  [[nodiscard]] bool busy() const override { return !items_.empty(); }
  [[nodiscard]] uint64_t moved() const override { return moved_; }

 private:
  // The bits of the port's last byte that belong to T.
  static constexpr uint8_t kTopMask = static_cast<uint8_t>(
      T::kBits >= 8 * port_bytes<T>()         ? 0xff
      : T::kBits <= 8 * (port_bytes<T>() - 1) ? 0
                                              : (1U << (T::kBits - 8 * (port_bytes<T>() - 1))) - 1);
  void mask_top() {  // bits above kBits stay 0, as Verilator expects
    auto* bytes = static_cast<uint8_t*>(pins_.payload);
    for (size_t b = T::kBits / 8; b < pins_.payload_bytes; b++)
      bytes[b] =
          static_cast<uint8_t>(b == T::kBits / 8 ? bytes[b] & ((1U << (T::kBits % 8)) - 1) : 0);
  }

  std::string name_;
  Pins pins_;
  base::Rng rng_;
  std::deque<T> items_;
  std::array<uint8_t, port_bytes<T>()> garbage_{};
  unsigned idle_ = 0;
  bool offered_ = false, taken_ = false;
  uint64_t moved_ = 0;
};

template <class T>
class StreamOut : public Port, public OutQueue<T> {
 public:
  using Item = T;
  using Words = std::array<uint32_t, port_bytes<T>() / 4 + 1>;

  StreamOut(Dut& dut, std::string name, Pins pins)
      : OutQueue<T>(dut, std::move(name)), pins_(pins), rng_(test_rng("out " + this->name_)) {
    RNIC_CHECK(pins.payload_bytes == port_bytes<T>(), "{}: the port has {} bytes, {} has {} bits",
               this->name_, pins.payload_bytes, T::kName, T::kBits);
    clear();
    dut.attach(this);
  }

  void stall(unsigned percent) { stall_ = percent; }
  /// Called with each item at the edge that transfers it, before it is queued; for responding
  /// models and monitors.
  void on_item(std::function<void(const T&)> f) { on_item_ = std::move(f); }

  void pace(Pace p) override { stall_ = p.stall; }
  void drive() override { *pins_.ready = !rng_.percent(stall_); }
  void sample() override {
    const bool valid = *pins_.valid != 0;
    Words words{};
    if (valid) std::memcpy(words.data(), pins_.payload, pins_.payload_bytes);
    if (waiting_ && !valid) ADD_FAILURE() << this->name_ << ": valid was taken back";
    if (waiting_ && valid && words != last_)
      ADD_FAILURE() << this->name_ << ": payload changed before it was taken:\n  "
                    << T::from_words(last_.data()).describe() << "\n  "
                    << T::from_words(words.data()).describe();
    waiting_ = valid && *pins_.ready == 0;
    last_ = words;
    taken_ = valid && *pins_.ready != 0;
    if (!taken_) return;
    moved_++;
    T item = T::from_words(words.data());
    if (on_item_) on_item_(item);
    accept(std::move(item));
  }
  void clear() override {
    this->items_.clear();
    waiting_ = taken_ = false;
    *pins_.ready = 0;
  }
  [[nodiscard]] uint64_t moved() const override { return moved_; }
  [[nodiscard]] bool waits() const override { return waiting_; }
  [[nodiscard]] bool taken() const { return taken_; }  // was an item transferred in the last cycle?

 protected:
  virtual void accept(T item) { this->items_.push_back(std::move(item)); }

 private:
  Pins pins_;
  base::Rng rng_;
  std::function<void(const T&)> on_item_;
  Words last_{};
  unsigned stall_ = 0;
  bool waiting_ = false, taken_ = false;
  uint64_t moved_ = 0;
};

}  // namespace rnic::tb

/// Binds by name: only these macros spell the port suffixes.
#define RNIC_PINS_IN(dut, name) \
  ::rnic::tb::pins((dut).top().name##_valid_i, (dut).top().name##_ready_o, (dut).top().name##_i)
#define RNIC_PINS_OUT(dut, name) \
  ::rnic::tb::pins((dut).top().name##_valid_o, (dut).top().name##_ready_i, (dut).top().name##_o)
#define RNIC_IN(dut, name, type) ::rnic::tb::StreamIn<type>((dut), #name, RNIC_PINS_IN(dut, name))
#define RNIC_OUT(dut, name, type) \
  ::rnic::tb::StreamOut<type>((dut), #name, RNIC_PINS_OUT(dut, name))

// A first-in first-out queue in one flat array that only grows, by doubling: no allocation in
// steady state.
//
//   Ring<int> r;   r.push(1);   r.front();   r.pop();   r[0];
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/check.hpp"

namespace rnic::model {

template <class T>
class Ring {
 public:
  explicit Ring(uint32_t expected = 8) {
    uint32_t n = 4;
    while (n < expected) n *= 2;
    slots_.resize(n);
  }
  bool empty() const { return count_ == 0; }
  uint32_t size() const { return count_; }
  T& front() { return slots_[head_]; }
  const T& front() const { return slots_[head_]; }
  T& back() { return (*this)[count_ - 1]; }
  T& operator[](uint32_t i) { return slots_[(head_ + i) & mask()]; }
  const T& operator[](uint32_t i) const { return slots_[(head_ + i) & mask()]; }
  void push(T item) {
    if (count_ == slots_.size()) grow();
    slots_[(head_ + count_) & mask()] = std::move(item);
    ++count_;
  }
  T pop() {
    RNIC_CHECK(count_ != 0, "pop of an empty ring");
    T out = std::move(slots_[head_]);
    head_ = (head_ + 1) & mask();
    --count_;
    return out;
  }
  void clear() {
    while (!empty()) pop();
  }

 private:
  uint32_t mask() const { return static_cast<uint32_t>(slots_.size()) - 1; }
  void grow() {
    std::vector<T> bigger(slots_.size() * 2);
    for (uint32_t i = 0; i < count_; ++i) bigger[i] = std::move((*this)[i]);
    slots_ = std::move(bigger);
    head_ = 0;
  }

  std::vector<T> slots_;
  uint32_t head_ = 0, count_ = 0;
};

}  // namespace rnic::model

// A queue whose storage grows and does not shrink, except by clear(). std::deque would allocate and
// free a block every few items.
//
//   Ring<Frame> line;
//   line.push_back(std::move(f));
//   take(std::move(line.front()));
//   line.pop_front();
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace rnic::sim {

template <class T>
class Ring {
 public:
  bool empty() const { return count_ == 0; }
  size_t size() const { return count_; }
  T& front() { return items_[first_]; }
  const T& front() const { return items_[first_]; }

  template <class... Args>
  void push_back(Args&&... args) {
    if (count_ == items_.size()) grow();
    items_[(first_ + count_++) & (items_.size() - 1)] = T{std::forward<Args>(args)...};
  }
  /// A popped item stays in its slot. Its resources are released when the next item overwrites it.
  void pop_front() {
    first_ = (first_ + 1) & (items_.size() - 1);
    --count_;
  }
  void clear() {
    items_.clear();
    first_ = count_ = 0;
  }

 private:
  void grow() {
    std::vector<T> larger(items_.empty() ? 16 : items_.size() * 2);
    for (size_t i = 0; i < count_; ++i)
      larger[i] = std::move(items_[(first_ + i) & (items_.size() - 1)]);
    items_ = std::move(larger);
    first_ = 0;
  }
  std::vector<T> items_;  // its size is a power of two, or 0
  size_t first_ = 0, count_ = 0;
};

}  // namespace rnic::sim

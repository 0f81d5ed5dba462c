// A set of small numbers (QPs, CQs, connections) from which an arbiter selects in round robin. The
// behaviour defines the members; the caller selects one.
//
//   ReadySet ready(1024);   ready.set(5);
//   uint32_t qpn = ready.next(last + 1);             // wraps around; size() if empty
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace rnic::model {

class ReadySet {
 public:
  explicit ReadySet(uint32_t size)
      : size_(size), words_((size + 63) / 64), summary_((words_.size() + 63) / 64) {}

  uint32_t size() const { return size_; }  // members are below size()
  bool empty() const { return count_ == 0; }
  bool test(uint32_t i) const { return (words_[i / 64] >> (i % 64) & 1) != 0; }
  void set(uint32_t i) {
    if (test(i)) return;
    words_[i / 64] |= uint64_t{1} << (i % 64);
    summary_[i / 4096] |= uint64_t{1} << (i / 64 % 64);
    ++count_;
  }
  void clear(uint32_t i) {
    if (!test(i)) return;
    words_[i / 64] &= ~(uint64_t{1} << (i % 64));
    if (words_[i / 64] == 0) summary_[i / 4096] &= ~(uint64_t{1} << (i / 64 % 64));
    --count_;
  }
  void put(uint32_t i, bool member) { member ? set(i) : clear(i); }

  /// The first member at or after `from`, else the first member; size() if the set is empty.
  uint32_t next(uint32_t from) const {
    if (count_ == 0) return size_;
    if (from >= size_) from = 0;
    const uint32_t found = at_or_after(from);
    return found != size_ ? found : at_or_after(0);
  }

 private:
  uint32_t at_or_after(uint32_t from) const {
    uint32_t w = from / 64;
    if (const uint64_t m = words_[w] & (~uint64_t{0} << (from % 64)); m != 0) return bit(w, m);
    ++w;
    for (uint32_t s = w / 64; s < summary_.size(); ++s) {
      uint64_t m = summary_[s];
      if (s == w / 64) m &= ~uint64_t{0} << (w % 64);
      if (m == 0) continue;
      const uint32_t word = s * 64 + static_cast<uint32_t>(std::countr_zero(m));
      return bit(word, words_[word]);
    }
    return size_;
  }
  static uint32_t bit(uint32_t word, uint64_t m) {
    return word * 64 + static_cast<uint32_t>(std::countr_zero(m));
  }

  uint32_t size_;
  uint32_t count_ = 0;
  std::vector<uint64_t> words_, summary_;  // a bit per number; a bit per word that is not 0
};

}  // namespace rnic::model

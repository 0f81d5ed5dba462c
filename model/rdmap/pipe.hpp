// A pipe that takes one operation per cycle. Callers request cycles ahead, in any order of time: an
// operation gets the first free cycle at or after the wanted one.
//
//   const Cycle waits = pipe.take(now, now + 3);        // wanted in 3 cycles; waits: cycles more
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "sc/dispatcher.hpp"

namespace rnic::model {

class Pipe {
 public:
  /// Takes a cycle and returns how long the operation waits after `wanted`. The window of known
  /// cycles ends 193 to 256 cycles after `now` (four words, the first one begun). Beyond it, the
  /// operation gets its cycle without waiting and without an entry.
  Cycle take(Cycle now, Cycle wanted) {
    forget(now);
    for (Cycle at = std::max(now, wanted); at < base_ + kCycles;) {
      uint64_t& word = words_[at / 64 % kWords];
      const uint64_t free = ~word >> (at % 64);
      if (free == 0) {
        at = (at / 64 + 1) * 64;
        continue;
      }
      at += static_cast<Cycle>(std::countr_zero(free));
      word |= uint64_t{1} << (at % 64);
      return at - wanted;
    }
    return 0;
  }

 private:
  static constexpr Cycle kWords = 4, kCycles = 64 * kWords;
  void forget(Cycle now) {  // frees the words that lie before `now`
    if (now >= base_ + kCycles) {
      words_ = {};
      base_ = now / 64 * 64;
    }
    for (; base_ + 64 <= now; base_ += 64) words_[base_ / 64 % kWords] = 0;
  }
  std::array<uint64_t, kWords> words_{};  // one bit per cycle
  Cycle base_ = 0;                        // first cycle of the oldest word
};

}  // namespace rnic::model

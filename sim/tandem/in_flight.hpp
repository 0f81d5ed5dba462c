// Extents in flight, numbered by the closings of regions before them. Reports exactly whether an
// extent from before a closing is still in flight; the RTL counts by epochs, which may end later.
//
//   e.epoch = in_flight.issue();
//   const uint8_t number = in_flight.close();   // a region is closed
//   in_flight.retire(e.epoch);
//   in_flight.none_before(number);              // the region may be destroyed
#pragma once

#include <array>
#include <cstdint>

#include "base/check.hpp"

namespace rnic::sim {

class InFlight {
 public:
  /// An extent is issued; returns its number.
  uint8_t issue() {
    ++total_;
    ++counts_[now_];
    return now_;
  }
  void retire(uint8_t number) {
    RNIC_CHECK(counts_[number] != 0, "an extent of closing {} is retired twice", number);
    --counts_[number];
    --total_;
  }
  /// A region is closed; returns the number of the extents issued before. If extents with the next
  /// of the 256 numbers are still in flight, this closing shares its number with the next closing.
  uint8_t close() {
    const uint8_t before = now_;
    const auto next = static_cast<uint8_t>(now_ + 1);
    if (counts_[next] == 0) now_ = next;
    return before;
  }
  bool none() const { return total_ == 0; }
  bool none_before(uint8_t number) const {
    // All numbers from `number` back to the one after now_ are older, modulo 256.
    for (uint8_t n = number; n != now_; --n) {
      if (counts_[n] != 0) return false;
    }
    return number != now_ || none();  // number == now_: the closing found no free number
  }

 private:
  std::array<uint64_t, 256> counts_{};
  uint64_t total_ = 0;
  uint8_t now_ = 0;
};

}  // namespace rnic::sim

// Which page-list entries, IRD slots and ORD slots are taken, and by which region or QP: no two
// share one. RTL: rtl/admin/admin_ranges.sv
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "gen/sizes.hpp"

namespace rnic::model {

class Ranges {
 public:
  struct Range {
    uint32_t base = 0, count = 0;
  };
  /// What an operation costs the RTL: it visits each word of 64 entries, once to inspect, once to
  /// write.
  struct Walk {
    bool ok = true;  ///< false: another object has a part of a range, and nothing has changed
    uint32_t turns = 0, ranges = 0, words = 0;  ///< as in admin_timing.hpp
  };
  explicit Ranges(const spec::Sizes& sizes);

  Walk claim_pages(uint32_t stag_slot, Range pages);
  Walk claim_slots(uint16_t qpn, Range ird, Range ord);
  Walk release_pages(uint32_t stag_slot);
  Walk release_slots(uint16_t qpn);

 private:
  using Taken = std::vector<bool>;
  struct Part {
    Taken* of;
    Range range;
  };
  static Walk claim(std::array<Part, 2> parts);
  static Walk release(std::array<Part, 2> parts);

  Taken pages_, ird_, ord_;
  std::vector<Range> of_stag_;
  std::vector<std::array<Range, 2>> of_qp_;  // IRD, ORD
};

}  // namespace rnic::model

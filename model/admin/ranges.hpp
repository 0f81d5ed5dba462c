// Records which page-list entries, IRD slots and ORD slots are taken, and by which region or QP. No
// two regions and no two QPs share one. RTL: rtl/admin/admin_ranges.sv
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
  /// The result of an operation, and its cost in the RTL. A claim visits each word of 64 entries
  /// twice, to inspect and to write it; a release once.
  struct Walk {
    bool ok = true;  ///< false: another object has a part of a range, and nothing has changed
    uint32_t turns = 0, ranges = 0, words = 0;  ///< as in admin_timing.hpp
  };
  explicit Ranges(const spec::Sizes& sizes);

  Walk claim_pages(uint32_t stag_slot, Range pages);     // page-list entries for a region
  Walk claim_slots(uint16_t qpn, Range ird, Range ord);  // IRD and ORD slots for a QP
  Walk release_pages(uint32_t stag_slot);                // all that this object has claimed
  Walk release_slots(uint16_t qpn);

 private:
  using Taken = std::vector<bool>;
  struct Part {
    Taken* of;  // the table of the range: pages_, ird_ or ord_
    Range range;
  };
  static Walk claim(std::array<Part, 2> parts);
  static Walk release(std::array<Part, 2> parts);

  Taken pages_, ird_, ord_;
  std::vector<Range> of_stag_;               // by STag slot: page-list entries
  std::vector<std::array<Range, 2>> of_qp_;  // by QP: IRD slots, ORD slots
};

}  // namespace rnic::model

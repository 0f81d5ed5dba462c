// Claims and releases ranges, and counts the steps of the RTL for that: see ranges.hpp.
#include "admin/ranges.hpp"

#include <algorithm>
#include <utility>

namespace rnic::model {

namespace {

constexpr uint32_t kWord = 64;  // entries

uint32_t words_of(const Ranges::Range& r) {
  return r.count == 0 ? 0 : (r.base + r.count - 1) / kWord - r.base / kWord + 1;
}

/// Counts one pass of the RTL over both ranges of an object: to inspect them, or to write them.
void add_pass(Ranges::Walk& walk, const Ranges::Range& first, const Ranges::Range& second) {
  walk.turns += 2;
  walk.ranges += (first.count != 0) + (second.count != 0);
  walk.words += words_of(first) + words_of(second);
}

}  // namespace

Ranges::Ranges(const spec::Sizes& sizes)
    : pages_(sizes.num_pbl),
      ird_(sizes.ird_slots),
      ord_(sizes.ord_slots),
      of_stag_(sizes.num_stags),
      of_qp_(sizes.num_qps) {}

// The RTL makes two passes for a claim, one for a release or a refused claim. An operation always
// has two parts; for page-list entries the second part is empty.
Ranges::Walk Ranges::claim(std::array<Part, 2> parts) {
  Walk walk;
  add_pass(walk, parts[0].range, parts[1].range);
  for (const auto& [of, range] : parts) {
    const auto first = of->begin() + range.base;
    if (std::find(first, first + range.count, true) != first + range.count) walk.ok = false;
  }
  if (!walk.ok) return walk;
  add_pass(walk, parts[0].range, parts[1].range);
  for (const auto& [of, range] : parts) std::fill_n(of->begin() + range.base, range.count, true);
  return walk;
}

Ranges::Walk Ranges::release(std::array<Part, 2> parts) {
  Walk walk;
  add_pass(walk, parts[0].range, parts[1].range);
  for (const auto& [of, range] : parts) std::fill_n(of->begin() + range.base, range.count, false);
  return walk;
}

Ranges::Walk Ranges::claim_pages(uint32_t stag_slot, Range pages) {
  const Walk walk = claim({{{&pages_, pages}, {&pages_, {}}}});
  if (walk.ok) of_stag_[stag_slot] = pages;
  return walk;
}

Ranges::Walk Ranges::claim_slots(uint16_t qpn, Range ird, Range ord) {
  const Walk walk = claim({{{&ird_, ird}, {&ord_, ord}}});
  if (walk.ok) of_qp_[qpn] = {ird, ord};
  return walk;
}

Ranges::Walk Ranges::release_pages(uint32_t stag_slot) {
  return release({{{&pages_, std::exchange(of_stag_[stag_slot], {})}, {&pages_, {}}}});
}

Ranges::Walk Ranges::release_slots(uint16_t qpn) {
  const auto [ird, ord] = std::exchange(of_qp_[qpn], {});
  return release({{{&ird_, ird}, {&ord_, ord}}});
}

}  // namespace rnic::model

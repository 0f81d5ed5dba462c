// Computes the new value of a FetchAdd or CmpSwap. RFC 7306 section 5.1, requirements.md 5.4. RTL:
// rtl/atomic/atomic_alu.sv
//
//   const AtomicResult r = fetch_add(orig, {.data = 1, .mask = 0});
//   const AtomicResult r = cmp_swap(orig, {.data = ..., .mask = ..., .compare = ..., ...});
//   if (r.writes) store(r.value);
//
// Values are integers in the byte order of the host (ambiguities.md A-28).
#pragma once

#include <cstdint>

namespace rnic::model {

/// Operands of a request. FetchAdd ignores compare and compare_mask.
struct AtomicOperands {
  uint64_t data = 0;  // add or swap data
  uint64_t mask = 0;  // add or swap mask
  uint64_t compare = 0;
  uint64_t compare_mask = ~uint64_t{0};
};

/// value: content of memory afterwards. writes: false for a CmpSwap whose comparison fails, which
/// leaves memory as it is.
struct AtomicResult {
  uint64_t value;
  bool writes;
};

/// RFC 7306 5.1.1. A mask bit marks the most significant bit of a field; the carry out of it is
/// dropped.
inline AtomicResult fetch_add(uint64_t orig, const AtomicOperands& add) {
  uint64_t value = 0, carry = 0;
  for (unsigned bit = 0; bit < 64; bit++) {
    const uint64_t sum = carry + (orig >> bit & 1) + (add.data >> bit & 1);
    value |= (sum & 1) << bit;
    carry = (sum >> 1) & ~(add.mask >> bit);
  }
  return {value, true};
}

/// RFC 7306 5.1.2. Compares the bits of compare_mask; replaces the bits of mask.
inline AtomicResult cmp_swap(uint64_t orig, const AtomicOperands& swap) {
  const bool matches = ((swap.compare ^ orig) & swap.compare_mask) == 0;
  if (!matches) return {orig, false};
  return {(orig & ~swap.mask) | (swap.data & swap.mask), true};
}

}  // namespace rnic::model

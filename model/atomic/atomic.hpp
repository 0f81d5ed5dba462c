// Effect of a FetchAdd, a CmpSwap, an Atomic Write or a result on its 8 bytes. A result is the old
// value that came back to our own FetchAdd or CmpSwap: it is stored at the request's sink. RFC 7306
// section 5.1, draft-talpey-rdma-commit-01 section 3.1.3. RTL: rtl/atomic/atomic.sv
//
//   const AtomicResult r = perform(request, old);     if (r.writes) store(r.value);
#pragma once

#include "atomic/atomic_alu.hpp"
#include "gen/streams.hpp"
#include "tpt/tpt.hpp"

namespace rnic::model {

/// Whether the operation needs the old value.
inline bool reads_old(const spec::AtomicReq& r) {
  return r.op == spec::AtomicOp::kFetchAdd || r.op == spec::AtomicOp::kCmpSwap;
}

/// The lookup of the target's 8 bytes.
inline spec::WqeCheck target_of(const spec::AtomicReq& r) {
  return {.stag = r.stag,
          .tagged_offset = r.tagged_offset,
          .length = sizeof(uint64_t),
          .pd = r.pd,
          .qpn = r.qpn,
          .rights = r.right,
          .last = 1};
}

/// Adds a check to the result of tpt's lookup: the bus address must be a multiple of 8.
inline spec::TptResult aligned(spec::TptResult result, const ExtentList& extents) {
  if (result != spec::TptResult::kOk) return result;
  return extents.all()[0].address % sizeof(uint64_t) == 0 ? result : spec::TptResult::kAlign;
}

/// The word to be stored. `old` is used only if reads_old(r).
inline AtomicResult perform(const spec::AtomicReq& r, uint64_t old) {
  const AtomicOperands operands{
      .data = r.data, .mask = r.mask, .compare = r.compare, .compare_mask = r.compare_mask};
  switch (r.op) {
    case spec::AtomicOp::kFetchAdd:
      return fetch_add(old, operands);
    case spec::AtomicOp::kCmpSwap:
      return cmp_swap(old, operands);
    default:
      return {r.data, true};
  }
}

}  // namespace rnic::model

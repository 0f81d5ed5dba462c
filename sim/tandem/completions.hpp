// Filters the PCIe completions before the follower and the ordering checker see them, because the
// device trusts no completion (architecture 3.2). Written from the contract, like host_if_tags.
//
//   CompletionJudge judge;
//   judge.read(r);
//   if (auto p = judge.counts(piece)) observer.dma_piece(*p);
//
// - A completion whose tag is not outstanding is ignored.
// - A completion with more bytes than are outstanding, or that ends its read too early or too late,
//   ends the read with `aborted`.
// - A read that the RTL reports as timed out (commit dma_rd_timeout) also ends with `aborted`.
#pragma once

#include <array>
#include <optional>

#include "backend/device.hpp"

namespace rnic::sim {

class CompletionJudge {
 public:
  void read(const DmaRead& r) { left_[r.tag] = r.length; }
  /// The completion as the device takes it, perhaps as `aborted`; nothing if the device ignores it.
  std::optional<DmaPiece> counts(const DmaPiece& p) {
    auto& left = left_[p.tag];
    if (!left) return std::nullopt;
    const uint32_t size = p.data.size();
    const bool failed = p.status != spec::RdStatus::kOk;
    if (!failed && (size > *left || (size == *left) != p.is_last)) return aborted(p.tag);
    *left -= failed ? 0 : size;
    if (failed || p.is_last) left.reset();
    return p;
  }
  /// Ends the read with `aborted`.
  DmaPiece aborted(uint8_t tag) {
    left_[tag].reset();
    return {.tag = tag, .status = spec::RdStatus::kAborted, .is_last = true, .data = {}};
  }
  void reset() { left_ = {}; }

 private:
  std::array<std::optional<uint32_t>, 256> left_;  // bytes of outstanding reads, by tag
};

}  // namespace rnic::sim

// Fixture of the tests of memory windows: a region without remote rights, and windows over a part
// of it that neither begins nor ends at a page boundary.
#pragma once

#include <algorithm>

#include "key_test.hpp"

namespace rnic::tb {

class MwTestBase : public KeyTest {
 protected:
  static constexpr uint64_t kAt = 0x10000000;  // address of the region
  // Bytes of the region; offset of the window in the region; bytes of the window.
  static constexpr uint32_t kAll = 5 * 4096, kFirst = 0x1120, kBytes = 2 * 4096 + 1000;
  static constexpr uint64_t kTo = kAt + kFirst;  // address of the window
  static constexpr uint32_t kAccess = verbs::IBV_ACCESS_LOCAL_WRITE | verbs::IBV_ACCESS_MW_BIND;

  static Region region(Host& h, uint32_t access = kAccess) {
    Region r = h.region(kAll, access, kAt);
    fill(r.buffer.bytes(), 3);
    return r;
  }
  static verbs::Mw window(Host& h, verbs::MwType type) {
    return must(h.pd.alloc_mw(type), "alloc_mw");
  }
  /// Binds this part of the region.
  static verbs::MwBindInfo part(Region& r, uint32_t access = verbs::IBV_ACCESS_REMOTE_WRITE,
                                uint64_t addr = kTo, uint64_t length = kBytes) {
    return {.mr = &r.mr, .addr = addr, .length = length, .access = access};
  }
  /// The bind under the window's next key.
  static SendWr bind(verbs::Mw& mw, const verbs::MwBindInfo& info) {
    return {.opcode = verbs::IBV_WR_BIND_MW,
            .key = verbs::inc_rkey(mw.rkey()),
            .mw = &mw,
            .bind_info = info};
  }
  /// The number of bytes that differ from pattern `key` in the part, or from pattern 3 outside it.
  static uint64_t wrong_bytes(const Region& r, uint64_t key, uint64_t first = kFirst,
                              uint64_t length = kBytes) {
    const auto all = r.buffer.bytes();
    return wrong(all.subspan(first, length), key) + wrong(all.first(first), 3) +
           wrong(all.subspan(first + length), 3, first + length);
  }
  /// The number of bytes of the region that anybody has changed since region().
  static uint64_t changed_bytes(const Region& r) { return wrong(r.buffer.bytes(), 3); }
  static std::optional<Errc> errc(const Result<void>& r) {
    return r ? std::nullopt : std::optional(r.error().code);
  }
};

const auto kMwPairings =
    testing::Values(kModel, kTandem, kModelMinimum, kTandemMinimum, kTandemStall);

}  // namespace rnic::tb

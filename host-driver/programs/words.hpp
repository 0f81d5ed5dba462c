// Words in memory that FetchAdd, CmpSwap and Atomic Write change: what the programs on them share.
#pragma once

#include "common.hpp"

namespace rnic::programs {

inline constexpr uint32_t kWord = 8, kLine = 64;  // bytes

/// Where a word of the peer is.
struct FarWord {
  uint32_t rkey = 0;
  uint64_t addr = 0;
};

/// One side, the words of its lanes (their rx slots) and those that all QPs of the client share.
class Words {
 public:
  static constexpr uint32_t kShared = 3;  // words, a line each

  Words(const Run& run, bool is_client, uint32_t lanes, uint32_t window);

 protected:
  /// Opens and connects. The server's words hold these values before a peer can see them.
  Result<void> start(uint64_t own, uint64_t shared);
  Result<void> finish();
  /// Of the client: all its threads have come so far, or failed.
  Result<void> meet();

  uint8_t* own_word(const Lane& lane, uint64_t slot) const;
  uint8_t* shared_word(uint32_t number) const { return memory_.data() + number * kLine; }
  /// A word of this host is what it ought to be.
  void expect(const uint8_t* word, uint64_t value);

  FarWord far_shared(uint32_t number) const;
  FarWord far_own(const Lane& lane, uint64_t slot) const;

  /// A request to a word of the peer; what it brings back goes to rx slot `index`. Its operands are
  /// the caller's.
  verbs::SendWr request(const Lane& lane, verbs::WrOpcode opcode, uint64_t index, FarWord at,
                        bool signaled, verbs::Sge& sge);
  /// One, signalled. A value is what a Write or Atomic Write stores.
  Result<void> post(Lane& lane, verbs::WrOpcode opcode, FarWord at, uint64_t compare_add,
                    uint64_t swap, bool signaled = true);
  /// What the latest request of the lane brought back.
  uint64_t brought(const Lane& lane) const;

  Side side_;
  const bool is_client_;

 private:
  FarWord shared_;
  DmaBuffer memory_;
  verbs::Mr mr_;
};

}  // namespace rnic::programs

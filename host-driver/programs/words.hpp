// Words in memory that FetchAdd, CmpSwap and Atomic Write change: common code of these programs.
#pragma once

#include "common.hpp"

namespace rnic::programs {

inline constexpr uint32_t kWord = 8, kLine = 64;  // bytes

/// Location of a word at the peer.
struct FarWord {
  uint32_t rkey = 0;
  uint64_t addr = 0;
};

/// One side with the words of its lanes (their rx slots) and the words shared by all QPs of the
/// client.
class Words {
 public:
  static constexpr uint32_t kShared = 3;  // words, one per cache line

  Words(const Run& run, bool is_client, uint32_t lanes, uint32_t window);

 protected:
  /// Opens and connects. The server initializes its words to these values before a peer can access
  /// them.
  Result<void> start(uint64_t own, uint64_t shared);
  /// Exchanges the control messages and disconnects. The server first waits for the client's.
  Result<void> finish();
  /// Client: waits until all its threads have reached this point or failed.
  Result<void> meet();

  /// The word in rx slot `slot` of this side. Server: a target of the client. Client: the result of
  /// request `slot`.
  uint8_t* own_word(const Lane& lane, uint64_t slot) const;
  uint8_t* shared_word(uint32_t number) const { return memory_.data() + number * kLine; }
  /// Checks that a word of this host has this value.
  void expect(const uint8_t* word, uint64_t value);

  FarWord far_shared(uint32_t number) const;
  FarWord far_own(const Lane& lane, uint64_t slot) const;

  /// Returns a request for a word of the peer with its result in rx slot `index`. The caller sets
  /// operands.
  verbs::SendWr request(const Lane& lane, verbs::WrOpcode opcode, uint64_t index, FarWord at,
                        bool signaled, verbs::Sge& sge);
  /// Posts one request. A Write or Atomic Write stores `compare_add`.
  Result<void> post(Lane& lane, verbs::WrOpcode opcode, FarWord at, uint64_t compare_add,
                    uint64_t swap, bool signaled = true);
  /// The value that the latest request of the lane returned.
  uint64_t brought(const Lane& lane) const;

  Side side_;
  const bool is_client_;

 private:
  FarWord shared_;
  DmaBuffer memory_;
  verbs::Mr mr_;
};

}  // namespace rnic::programs

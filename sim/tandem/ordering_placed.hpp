// Determines only from the bytes which judged segments were placed.
//
//   judged --> [ queue, in the order of the verdicts ] --placed bytes--> the front continues,
//                                                                        or is passed over
//
// A segment may fail a check that depends on a table of the device (a key, a right). Then it is
// passed over, with every segment of its QP behind it in the queue. Its bytes may equal those of
// another segment, or begin like them. Then there are several guesses, and where they disagree the
// result is unsure. A guess ends with the first bytes that it cannot explain. If no guess is left,
// the bytes belong to no segment.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/payload.hpp"

namespace rnic::sim {

class Placements {
 public:
  using Serial = uint64_t;                    // of a judged segment with payload, from 1; 0: none
  static constexpr size_t kMostGuesses = 32;  // more are dropped; the likeliest come first

  Serial judged(uint16_t qpn, const Payload& payload);
  /// A new connection starts: its former segments that are not placed failed their checks, and no
  /// longer count.
  void starts(uint16_t qpn);
  /// True if every guess passed over a segment of the QP: no more of it is placed.
  bool is_lost(uint16_t qpn) const;
  /// The violation, or empty if the bytes continue a judged segment.
  std::string placed(uint64_t address, std::span<const uint8_t> bytes);
  /// Nothing if all segments of the QP up to `need` are placed. Else the reason, or empty if
  /// unsure.
  std::optional<std::string> missing(uint16_t qpn, Serial need) const;
  /// A failure that is not reported yet may explain each missing segment up to the newest:
  /// missing() then returns "unsure" (an empty text) for these.
  void doubt() { doubtful_ = newest_; }
  void reset() { *this = {}; }

 private:
  struct Judged {
    Serial serial = 0;
    uint16_t qpn = 0;
    Payload payload;
    bool is_former = false;  // of a connection that has ended
  };
  struct Guess {
    Serial next = 1;                  // the first that is neither placed nor passed over
    uint32_t at = 0;                  // bytes of it that are placed
    std::map<uint16_t, Serial> lost;  // by QP: the first that was passed over
    friend bool operator==(const Guess&, const Guess&) = default;
    bool has_lost(uint16_t qpn, Serial up_to) const {
      const auto it = lost.find(qpn);
      return it != lost.end() && it->second <= up_to;
    }
  };
  const Judged& at(Serial s) const { return queue_[s - queue_.front().serial]; }
  void follow(const Guess& from, std::span<const uint8_t> bytes, std::vector<Guess>& into) const;
  std::optional<std::string> missing(const Guess& g, uint16_t qpn, Serial need) const;

  std::deque<Judged> queue_;  // from the first that some guess still needs; serials have no gap
  std::vector<Guess> guesses_{Guess{}};
  // Serials: of the last judged segment; of the last segment that doubt() covers.
  Serial newest_ = 0, doubtful_ = 0;
};

}  // namespace rnic::sim

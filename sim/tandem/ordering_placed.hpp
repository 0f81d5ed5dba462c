// Which judged segments have been placed, told from the bytes alone.
//
//   judged --> [ queue, in the order of the verdicts ] --placed bytes--> the front goes on, or is passed over
//
// A segment that failed a check which only a table knows is passed over, and with it all that is behind it of its QP. Its bytes may
// be those of another segment, or begin like them: then there are several guesses, and what they do not agree on is unsure. A guess
// ends with the first bytes that it cannot explain; without a guess the bytes are of no segment.
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
  using Serial = uint64_t;  // of a judged segment with payload, from 1; 0: none
  static constexpr size_t kMostGuesses =
      32;  // what is beyond is forgotten, the likeliest are first

  Serial judged(uint16_t qpn, const Payload& payload);
  /// What is left of its former connection failed its checks; it says nothing of this one.
  void starts(uint16_t qpn);
  /// In every guess a segment of it was passed over: nothing more of it is placed.
  bool is_lost(uint16_t qpn) const;
  /// What is wrong with it; empty: it goes on where a judged segment stands.
  std::string placed(uint64_t address, std::span<const uint8_t> bytes);
  /// All of the QP up to this one has been placed. Else why not, or empty if that cannot be told.
  std::optional<std::string> missing(uint16_t qpn, Serial need) const;
  /// Up to the newest, what is missing may be so for a failure that nobody has told yet.
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
    uint32_t at = 0;                  // of its bytes: placed
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

  std::deque<Judged> queue_;  // from the first that some guess still needs; serials without a gap
  std::vector<Guess> guesses_{Guess{}};
  Serial newest_ = 0, doubtful_ = 0;
};

}  // namespace rnic::sim

// Which judged segments were placed, by their bytes alone. See ordering_placed.hpp.
#include "tandem/ordering_placed.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rnic::sim {

Placements::Serial Placements::judged(uint16_t qpn, const Payload& payload) {
  queue_.push_back({.serial = ++newest_, .qpn = qpn, .payload = payload, .is_former = false});
  return newest_;
}

void Placements::starts(uint16_t qpn) {
  bool was_left = false;
  for (Judged& j : queue_) {
    if (j.qpn != qpn || j.is_former) continue;
    j.is_former = true;
    was_left = was_left || j.serial >= guesses_[0].next;
  }
  // A guess that holds half of such a segment was wrong.
  const auto is_inside = [&](const Guess& g) { return g.at != 0 && at(g.next).is_former; };
  if (!std::ranges::all_of(guesses_, is_inside)) std::erase_if(guesses_, is_inside);
  for (Guess& g : guesses_) {
    if (is_inside(g)) ++g.next, g.at = 0;
    g.lost.erase(qpn);
  }
  if (was_left) doubt();
}

bool Placements::is_lost(uint16_t qpn) const {
  return std::ranges::all_of(guesses_, [&](const Guess& g) { return g.has_lost(qpn, newest_); });
}

/// All ways to continue with these bytes: at the front segment, or at a later one if those in
/// between have failed.
void Placements::follow(const Guess& from, std::span<const uint8_t> bytes,
                        std::vector<Guess>& into) const {
  Guess g = from;
  for (; g.next <= newest_; ++g.next) {
    const Judged& j = at(g.next);
    if (j.is_former || g.has_lost(j.qpn, j.serial)) continue;
    const auto rest = j.payload.bytes().subspan(g.at);
    if (bytes.size() <= rest.size() && std::equal(bytes.begin(), bytes.end(), rest.begin())) {
      Guess next = g;
      next.at += static_cast<uint32_t>(bytes.size());
      if (next.at == j.payload.size()) ++next.next, next.at = 0;
      if (std::ranges::find(into, next) == into.end() && into.size() < kMostGuesses)
        into.push_back(std::move(next));
    }
    if (g.at != 0) return;  // a segment that has begun is placed whole
    g.lost.emplace(j.qpn, j.serial);
  }
}

std::string Placements::placed(uint64_t address, std::span<const uint8_t> bytes) {
  std::vector<Guess> next;
  for (const Guess& g : guesses_) follow(g, bytes, next);
  if (next.empty()) {
    const Guess& g = guesses_[0];
    if (g.at == 0)
      return fmt::format("{} bytes placed at {:#x} are of no segment that has been judged",
                         bytes.size(), address);
    const Judged& j = at(g.next);
    return fmt::format(
        "{} bytes placed at {:#x} are not those that follow in the segment of QP {} ({} of {} "
        "bytes are placed)",
        bytes.size(), address, j.qpn, g.at, j.payload.size());
  }
  if (next[0].lost != guesses_[0].lost) doubt();
  guesses_ = std::move(next);
  const Serial needed = std::ranges::min(guesses_, {}, &Guess::next).next;
  while (!queue_.empty() && queue_.front().serial < needed) queue_.pop_front();
  return {};
}

std::optional<std::string> Placements::missing(const Guess& g, uint16_t qpn, Serial need) const {
  if (g.has_lost(qpn, need)) return fmt::format("a segment of QP {} before it was not placed", qpn);
  for (const Judged& j : queue_) {
    if (j.serial > need) break;
    if (j.qpn != qpn || j.is_former || j.serial < g.next) continue;
    return fmt::format("of a segment of QP {} judged before, {} of {} bytes are placed", qpn,
                       j.serial == g.next ? g.at : 0, j.payload.size());
  }
  return std::nullopt;
}

std::optional<std::string> Placements::missing(uint16_t qpn, Serial need) const {
  if (need == 0) return std::nullopt;
  const auto first = missing(guesses_[0], qpn, need);
  const bool agree = std::ranges::all_of(guesses_, [&](const Guess& g) {
    return missing(g, qpn, need).has_value() == first.has_value();
  });
  if (!agree || (first && need <= doubtful_)) return std::string{};
  return first;
}

}  // namespace rnic::sim

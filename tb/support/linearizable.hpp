// Checks that a history of atomics on 64-bit words is linearizable: some order of the operations
// explains every old value and the final value of each word. RFC 7306 5.1 to 5.4; ambiguities A-27,
//
//
//   std::vector<WordOp> history;               in order of posting of each client
//   const Verdict v = explain(history, {{0, {.initial = 5, .final = 9}}});
//   EXPECT_TRUE(v.ok) << v.report;
//
// Rules for the order:
//   1. An operation takes effect between its post and its completion. An operation that completes
//      before another is posted is before it. Equal times order nothing.
//   2. Operations of one client (a QP) take effect in the order of the history (RFC 7306 5.4).
//   3. A FetchAdd or CmpSwap returns the value before it. An Atomic Write returns nothing.
//   4. An operation that never completes takes effect once or not at all.
//
// The checker searches an order for each word separately. For rule 1 this loses nothing: it is
// local, a history is linearizable if the history of each word is (Herlihy and Wing). Rule 2 is not
// local. The checker keeps it among a client's operations on one word. It does not detect that two
// overlapping operations of a client on different words took effect in the wrong order.
//
// The search is just-in-time linearization (Lowe, "Testing for linearizability", 2017). A state is
// the number of operations of each client that have taken effect, and the value of the word. The
// checker takes completions in order of time. For each, it extends every state by posted operations
// until the completed operation has taken effect. If no state is left, the completions so far are
// the shortest prefix that no order explains. The number of states depends on the operations in
// flight, not on the length of the history.
//
// The semantics are computed here, not by model/atomic: a FetchAdd field by field, a CmpSwap bit by
// bit. Test: tb/spec/linearizable_test.cpp.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace rnic::tb {

/// One operation of a history.
struct WordOp {
  enum class Kind : uint8_t { kFetchAdd, kCmpSwap, kAtomicWrite };
  static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

  uint64_t word = 0;  // any identifier or address
  uint32_t client = 0;
  Kind kind = Kind::kFetchAdd;
  uint64_t data = 0;  // added, swapped in or written
  uint64_t mask = 0;  // FetchAdd: the top bit of each field is set; CmpSwap: bits that are swapped
  uint64_t compare = 0, compare_mask = 0;  // CmpSwap: swaps if the bits of compare_mask are equal
  // The returned value. Empty for an Atomic Write, and for an operation that never completes.
  std::optional<uint64_t> old{};
  uint64_t posted = 0, completed = kNever;  // times, in any unit
};

/// The value of a word before and after the history.
struct WordEnds {
  uint64_t initial = 0;
  std::optional<uint64_t> final{};  // not checked if unknown
};

struct Verdict {
  bool ok = true;
  bool decided = true;  // false: too many states; then `ok` is false as well
  uint64_t word = 0;    // the word without an explanation
  /// Number of completions of that word in the shortest prefix without an explanation. If only the
  /// final value has no explanation: the number of all completions plus 1.
  size_t prefix = 0;
  std::string report{};
};

/// The value of a word after `op`, if it was `value` before.
inline uint64_t after(const WordOp& op, uint64_t value) {
  if (op.kind == WordOp::Kind::kAtomicWrite) return op.data;
  const auto bits = [](uint64_t from, unsigned low, unsigned width) {
    return width == 64 ? from : from >> low & ((uint64_t{1} << width) - 1);
  };
  uint64_t result = 0;
  if (op.kind == WordOp::Kind::kFetchAdd) {
    // A set mask bit is the most significant bit of a field; each field wraps by itself.
    for (unsigned low = 0; low < 64;) {
      unsigned high = low;
      while (high < 63 && bits(op.mask, high, 1) == 0) ++high;
      const unsigned width = high - low + 1;
      result |= bits(bits(value, low, width) + bits(op.data, low, width), 0, width) << low;
      low = high + 1;
    }
    return result;
  }
  for (unsigned i = 0; i < 64; ++i) {
    if (bits(op.compare_mask, i, 1) != 0 && bits(op.compare, i, 1) != bits(value, i, 1))
      return value;
    result |= bits(bits(op.mask, i, 1) != 0 ? op.data : value, i, 1) << i;
  }
  return result;
}

inline std::string to_string(const WordOp& op) {
  std::string s;
  switch (op.kind) {
    case WordOp::Kind::kFetchAdd:
      s = fmt::format("FetchAdd {:#x} mask {:#x}", op.data, op.mask);
      break;
    case WordOp::Kind::kCmpSwap:
      s = fmt::format("CmpSwap {:#x} mask {:#x} if {:#x} mask {:#x}", op.data, op.mask, op.compare,
                      op.compare_mask);
      break;
    case WordOp::Kind::kAtomicWrite:
      s = fmt::format("Atomic Write {:#x}", op.data);
  }
  if (op.old) s += fmt::format(" -> {:#x}", *op.old);
  const std::string end =
      op.completed == WordOp::kNever ? "never" : fmt::format("{}", op.completed);
  return fmt::format("client {}, {} to {}: {}", op.client, op.posted, end, s);
}

/// The search on one word. add() gets the word's operations in the order of the history.
class WordSearch {
 public:
  static constexpr size_t kMostStates = 2'000'000;  // per call of extend()

  void add(const WordOp& op) {
    const auto [at, is_new] = numbers_.try_emplace(op.client, by_client_.size());
    if (is_new) by_client_.emplace_back();
    by_client_[at->second].push_back(&op);
    if (op.completed != WordOp::kNever)
      completions_.push_back({&op, at->second, by_client_[at->second].size() - 1});
  }

  Verdict run(uint64_t word, const WordEnds& ends) {
    std::ranges::stable_sort(completions_, {}, [](const Completion& c) { return c.op->completed; });
    Verdict v{.word = word};
    States states{{std::vector<uint16_t>(by_client_.size()), ends.initial}};
    for (const Completion& c : completions_) {
      ++v.prefix;
      const WordOp& op = *c.op;
      if (op.posted > op.completed || (op.kind != WordOp::Kind::kAtomicWrite && !op.old))
        return refuse(v, states, c.op, "is malformed");
      const auto took_effect = [&](const State& s) { return s.done[c.client] > c.index; };
      States next;
      if (!extend(states, op.completed, took_effect, next)) {
        v.decided = false;
        return refuse(v, states, c.op, "has too many possible orders before it");
      }
      if (next.empty()) return refuse(v, states, c.op, "has no explanation");
      states = std::move(next);
    }
    if (!ends.final) return v;
    ++v.prefix;
    States last;
    const auto is_final = [&](const State& s) { return s.value == *ends.final; };
    if (!extend(states, WordOp::kNever, is_final, last)) {
      v.decided = false;
      return refuse(v, states, nullptr, "has too many possible orders before it");
    }
    if (last.empty())
      return refuse(v, states, nullptr, fmt::format("{:#x} has no explanation", *ends.final));
    return v;
  }

 private:
  struct State {
    // Operations of each client that have taken effect. 16 bits keep a state small: they count up
    // to 65535 operations of a client on a word. Nothing checks this limit.
    std::vector<uint16_t> done;
    uint64_t value;
    bool operator==(const State&) const = default;
  };
  // 0x9e37...: 2^64 divided by the golden ratio, which spreads successive numbers.
  struct Hash {
    size_t operator()(const State& s) const {
      uint64_t h = s.value;
      for (const uint16_t n : s.done) h = (h ^ n ^ h >> 29) * 0x9e3779b97f4a7c15;
      return h ^ h >> 32;
    }
  };
  using States = std::unordered_set<State, Hash>;
  struct Completion {
    const WordOp* op;
    size_t client, index;
  };

  /// Extends each state of `from` by operations posted until `now`. Each path stops at its first
  /// state for which `is_end` is true; those states go to `reached`. False: too many states.
  template <class IsEnd>
  bool extend(const States& from, uint64_t now, const IsEnd& is_end, States& reached) const {
    States seen = from;
    std::vector<State> open(from.begin(), from.end());
    while (!open.empty()) {
      const State s = std::move(open.back());
      open.pop_back();
      if (is_end(s)) {
        reached.insert(s);
        continue;
      }
      for (size_t k = 0; k < by_client_.size(); ++k) {
        if (s.done[k] == by_client_[k].size()) continue;
        const WordOp& op = *by_client_[k][s.done[k]];
        if (op.posted > now || (op.old && *op.old != s.value)) continue;
        State t{s.done, after(op, s.value)};
        ++t.done[k];
        if (seen.insert(t).second) open.push_back(std::move(t));
      }
      if (seen.size() > kMostStates) return false;
    }
    return true;
  }

  /// `culprit`: the last operation of the prefix; null: the final value is unexplained.
  Verdict refuse(Verdict v, const States& before, const WordOp* culprit, const std::string& why) {
    constexpr size_t kShown = 16;
    v.ok = false;
    v.report = fmt::format("word {:#x}: {} {}\n", v.word,
                           culprit != nullptr ? to_string(*culprit) : "the final value", why);
    std::vector<uint64_t> values;
    for (const State& s : before) values.push_back(s.value);
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    v.report += "  values the word may have had at the completion before it:";
    for (size_t i = 0; i < std::min(values.size(), kShown); ++i)
      v.report += fmt::format(" {:#x}", values[i]);
    const size_t completed = std::min(v.prefix, completions_.size());
    const size_t first = completed - std::min(completed, kShown);
    v.report +=
        fmt::format("\n  completions {} to {} of {}:\n", first + 1, completed, completions_.size());
    for (size_t i = first; i < completed; ++i)
      v.report += "    " + to_string(*completions_[i].op) + "\n";
    if (culprit == nullptr) return v;
    // Posted before the culprit completed, and completed after it. Operations that never complete
    // are not listed.
    v.report += "  in flight:\n";
    for (size_t i = completed; i < completions_.size(); ++i)
      if (completions_[i].op->posted <= culprit->completed)
        v.report += "    " + to_string(*completions_[i].op) + "\n";
    return v;
  }

  std::map<uint32_t, size_t> numbers_;  // client -> index of by_client_
  std::vector<std::vector<const WordOp*>> by_client_;
  std::vector<Completion> completions_;
};

/// Checks each word separately; returns the first that has no explanation. `words` has an entry for
/// every word of the history.
inline Verdict explain(std::span<const WordOp> history, const std::map<uint64_t, WordEnds>& words) {
  std::map<uint64_t, WordSearch> searches;
  for (const auto& [word, ends] : words) searches[word];
  for (const WordOp& op : history) {
    const auto at = searches.find(op.word);
    if (at == searches.end())
      return {.ok = false, .word = op.word, .report = fmt::format("word {:#x}: no ends", op.word)};
    at->second.add(op);
  }
  for (auto& [word, search] : searches)
    if (Verdict v = search.run(word, words.at(word)); !v.ok) return v;
  return {};
}

}  // namespace rnic::tb

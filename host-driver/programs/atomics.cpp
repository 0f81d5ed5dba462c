// atomic_lat, atomic_write_lat and atomic_bw: FetchAdd, CmpSwap and Atomic Write change words in
// the server's memory. A word used by only one QP follows a sequence that both sides know. For a
// shared word the old values show afterwards whether each operation saw its predecessor.
#include <algorithm>
#include <map>

#include "base/bytes.hpp"
#include "programs.hpp"
#include "words.hpp"

namespace rnic::programs {

using namespace verbs;

namespace {

constexpr uint64_t kStart = 0xfffffff0;  // initial value of each word: additions soon carry into
                                         // the upper half

constexpr std::array<std::string_view, 2> kOps{"fetch_add", "cmp_swap"};
constexpr std::array<std::string_view, 2> kAddresses{"one", "many"};

/// A pseudo-random value; the constant mixes bits.
uint64_t mixed(uint64_t key, uint64_t number) {
  const uint64_t x = (key ^ number) * 0x9e3779b97f4a7c15;
  return x ^ x >> 29;
}

/// The sequence of values of a word that only one QP uses. Every fourth CmpSwap compares with a
/// wrong value and changes nothing.
struct Sequence {
  bool adds = true;
  uint64_t key = 0;
  uint64_t now = kStart, number = 0;
  void next(SendWr& wr) {
    if (adds) {
      wr.compare_add = 1;
      now++;
      return;
    }
    const bool fails = ++number % 4 == 0;
    wr.compare_add = fails ? ~now : now;
    wr.swap = mixed(key, number);
    if (!fails) now = wr.swap;
  }
  /// The word after this many operations.
  uint64_t after(uint64_t operations) {
    SendWr wr;
    for (uint64_t i = 0; i < operations; i++) next(wr);
    return now;
  }
};

WrOpcode opcode_of(bool adds) {
  return adds ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_ATOMIC_CMP_AND_SWP;
}

// --- atomic_lat, atomic_write_lat

class Latency : public Words {
 public:
  Latency(const Run& run, bool is_client, bool writes)
      : Words(run, is_client, 1, 1), writes_(writes) {}

  Result<void> run() {
    const Params& p = side_.params();
    const uint64_t total = side_.messages = uint64_t{p.warmup} + p.count;
    if (auto r = start(writes_ ? written(0) : kStart, 0); !r) return r;
    Lane& lane = side_.lanes[0];
    Sequence sequence{p.op != kOps[1], side_.key(true, lane, 0)};
    if (!is_client_) {
      if (auto r = writes_ ? watch(lane, total) : Result<void>(); !r) return r;
      auto came = [&] { return lane.control_came; };
      if (auto r = side_.until("client's last message", came, Side::kOnlooker); !r) return r;
      side_.dev().after_phase_bit();
      expect(own_word(lane, 0), writes_ ? written(total) : sequence.after(total));
      return finish();
    }
    Report& report = side_.report();
    report.of = total;
    for (uint64_t i = 0; i < total; i++) {
      SendWr operands;
      const uint64_t old = sequence.now;
      if (!writes_) sequence.next(operands);
      const Time began = side_.dev().now();
      report.done = i;
      if (i == p.warmup) report.start = began;
      auto r = writes_ ? post(lane, IBV_WR_ATOMIC_WRITE, far_own(lane, 0), written(i + 1), 0)
                       : post(lane, opcode_of(sequence.adds), far_own(lane, 0),
                              operands.compare_add, operands.swap);
      if (!r) return r;
      if (r = side_.until("completion", [&] { return lane.completed == i + 1; }); !r) return r;
      const Time ended = side_.dev().now();
      if (!writes_) expect(own_word(lane, i), old);
      if (i < p.warmup) continue;
      report.end = ended;
      report.latency.push_back(ended - began);
      report.began.push_back(began);
      report.ops++;
      report.bytes += kWord;
    }
    return finish();
  }

 private:
  /// The value of Atomic Write `number`: the upper half is the complement of the lower one, so that
  /// a value that is not written whole shows.
  static uint64_t written(uint64_t number) {
    const uint64_t low = number & 0xffffffff;
    return (low ^ 0xffffffff) << 32 | low;
  }
  /// Checks that each value seen was written whole, and is not older than the values seen before.
  Result<void> watch(const Lane& lane, uint64_t total) {
    uint64_t seen = 0;
    for (uint64_t polls = 1; seen != total; polls++) {
      const auto value = *std::bit_cast<const volatile uint64_t*>(own_word(lane, 0));
      const uint64_t number = value & 0xffffffff;
      if (value != written(number) || number < seen || number > total) {
        side_.wrong(own_word(lane, 0), kWord);
        return {};
      }
      if (number != seen) {
        seen = number;
        side_.report().checks++;
        side_.alive();
      }
      if (polls % 256 != 0) {
        side_.dev().relax();
      } else if (auto n = side_.pump(); !n) {
        return error_of(n);
      }
    }
    return {};
  }
  const bool writes_;
};

// --- atomic_bw

class Bandwidth : public Words {
 public:
  Bandwidth(const Run& run, bool is_client)
      : Words(run, is_client, run.params.qps, usable_depth(run.params)),
        window_(usable_depth(run.params)),
        adds_(run.params.op == kOps[0]),
        shares_(run.params.addresses == kAddresses[0]) {
    const Params& p = run.params;
    if (p.warmup != 0) {
      warmup_ =
          std::max<uint64_t>(p.warmup, std::min<uint64_t>(window_, std::max(p.count, kBatch)));
      tail_ = 2 * window_ + kBatch;  // as tail_of() in flow.cpp has it for Flushes
    }
    side_.messages = warmup_ + p.count + tail_;
  }

  Result<void> run() {
    const Params& p = side_.params();
    const uint64_t qps = uint64_t{p.threads} * p.qps;
    if (is_client_ && warmup_ != 0) window().plan(p.threads, warmup_ * qps, p.count * qps, 0);
    if (auto r = start(kStart, kStart); !r) return r;
    if (!is_client_) return serve(qps);
    for (const Lane& lane : side_.lanes) {
      State& s = states_.emplace_back();
      s.asked.resize(window_);
      for (uint64_t k = 0; k < window_; k++) s.words.push_back({adds_, side_.key(true, lane, k)});
    }
    side_.on_data = [this](Lane& lane, uint64_t upto) { verify(lane, upto); };
    side_.on_pump = [this](size_t n) {
      if (warmup_ == 0) return;
      side_.dev().before_shared();
      window().look(side_.run().thread, side_.dev().now(), {done_, done_}, n == 0);
    };
    Report& report = side_.report();
    report.is_whole = warmup_ == 0;
    report.of = side_.messages * side_.lanes.size();
    report.start = side_.dev().now();
    Result<void> failed;
    auto all = [&] {
      for (Lane& lane : side_.lanes)
        if (failed) failed = post_batch(lane);
      report.done = done_;
      return !failed || done_ == report.of;
    };
    if (auto r = side_.until("atomics", all); !r) return r;
    if (!failed) return failed;
    report.end = side_.dev().now();
    side_.on_pump = nullptr;
    if (warmup_ != 0) {
      window().leave(side_.run().thread, side_.dev().now());
      auto closed = [&] { return window().is_closed(); };
      if (auto r = side_.until("other threads", closed, Side::kOnlooker); !r) return r;
      report.start = window().from();
      report.end = window().to();
    }
    report.ops = p.count * side_.lanes.size();
    report.bytes = report.ops * kWord;
    if (auto r = meet(); !r) return r;
    if (shares_ && side_.run().thread == 0)
      if (auto r = judge(); !r) return r;
    return finish();
  }

 private:
  /// Operands of a request, and the old value where it is known beforehand.
  struct Asked {
    uint64_t old = 0, compare = 0, swap = 0;
  };
  struct State {
    std::vector<Sequence> words;  // by slot
    std::vector<Asked> asked;     // by index modulo the window
    uint64_t verified = 0;
    uint64_t guess = kStart;  // CmpSwap: assumed value of the shared word
  };
  programs::Window& window() { return side_.run().session.window(); }

  Result<void> post_batch(Lane& lane) {
    const uint64_t batch = std::clamp<uint64_t>(window_ / 4, 1, kBatch);
    const uint64_t n = std::min(batch, side_.messages - lane.posted);
    State& s = states_[lane.number];
    if (n == 0 || lane.posted - s.verified + n > window_) return {};
    std::array<SendWr, kBatch> wrs;
    std::array<Sge, kBatch> sges;
    for (uint64_t k = 0; k < n; k++) {
      const uint64_t i = lane.posted + k;
      Asked& asked = s.asked[i % window_];
      // Each request is signalled: one completion for a batch would count the whole batch only when
      // its last request completes.
      wrs[k] = request(lane, opcode_of(adds_), i, shares_ ? far_shared(0) : far_own(lane, i), true,
                       sges[k]);
      wrs[k].sg_list = {&sges[k], 1};
      if (!shares_) {
        Sequence& word = s.words[i % window_];
        asked.old = word.now;
        word.next(wrs[k]);
      } else if (adds_) {
        wrs[k].compare_add = 1;
      } else {
        wrs[k].compare_add = s.guess;
        wrs[k].swap = s.guess = name_of(lane, i);
      }
      asked.compare = wrs[k].compare_add;
      asked.swap = wrs[k].swap;
    }
    return side_.post(lane, std::span(wrs).first(n));
  }
  /// Unique value, so that no two CmpSwaps store the same one.
  uint64_t name_of(const Lane& lane, uint64_t index) const {
    return uint64_t{1} << 63 | uint64_t{side_.run().thread} << 56 | uint64_t{lane.number} << 40 |
           index;
  }

  void verify(const Lane& lane, uint64_t upto) {
    State& s = states_[lane.number];
    for (; s.verified < std::min(upto, side_.messages); s.verified++, done_++) {
      const uint8_t* sink = own_word(lane, s.verified);
      const Asked& asked = s.asked[s.verified % window_];
      const auto old = base::load_le<uint64_t>(sink);
      if (!shares_) {
        expect(sink, asked.old);
        continue;
      }
      if (!adds_ && old != asked.compare) s.guess = old;
      side_.dev().before_shared();
      side_.run().session.seen().push_back({old, asked.compare, asked.swap});
    }
  }

  /// Checks all QPs of the client. The old values of FetchAdds are consecutive. CmpSwaps that
  /// stored form one chain: each found the value that its predecessor stored, and no two found the
  /// same value. A CmpSwap that failed found a value of that chain. The word holds the last value
  /// of the chain.
  Result<void> judge() {
    Lane& lane = side_.lanes[0];
    if (auto r = post(lane, IBV_WR_RDMA_READ, far_shared(0), 0, 0); !r) return r;
    if (auto r = side_.until("Read", [&] { return lane.completed == lane.posted; }); !r) return r;
    const uint64_t last = brought(lane);
    auto& all = side_.run().session.seen();
    uint64_t wrong = 0;
    if (adds_) {
      std::ranges::sort(all, {}, &Seen::old);
      for (uint64_t i = 0; i < all.size(); i++) wrong += all[i].old != kStart + i ? 1u : 0u;
      wrong += last != kStart + all.size() ? 1u : 0u;
    } else {
      std::map<uint64_t, uint64_t> next;  // value -> the value stored over it
      for (const Seen& s : all)
        if (s.old == s.compare) wrong += next.emplace(s.old, s.swap).second ? 0u : 1u;
      std::map<uint64_t, uint64_t> held{{kStart, 0}};  // values that the word has had
      uint64_t now = kStart;
      for (auto it = next.find(now); it != next.end() && held.size() <= next.size();
           it = next.find(now)) {
        now = it->second;
        held.emplace(now, held.size());
      }
      wrong += held.size() != next.size() + 1 ? 1u : 0u;
      wrong += last != now ? 1u : 0u;
      for (const Seen& s : all) wrong += held.contains(s.old) ? 0u : 1u;
    }
    side_.report().checks += all.size() + 1;
    if (wrong != 0) side_.wrong(own_word(lane, lane.posted - 1), wrong * kWord);
    return {};
  }

  Result<void> serve(uint64_t qps) {
    auto came = [&] { return std::ranges::all_of(side_.lanes, &Lane::control_came); };
    if (auto r = side_.until("client's last message", came, Side::kOnlooker); !r) return r;
    side_.dev().after_phase_bit();
    if (shares_ && adds_) expect(shared_word(0), kStart + side_.messages * qps);
    for (const Lane& lane : side_.lanes)
      for (uint64_t k = 0; k < window_ && !shares_; k++) {
        Sequence word{adds_, side_.key(true, lane, k)};
        // Message i changes word i % window_. The argument is the number of messages for word k.
        expect(own_word(lane, k), word.after((side_.messages + window_ - 1 - k) / window_));
      }
    return finish();
  }

  const uint64_t window_;
  const bool adds_, shares_;
  uint64_t warmup_ = 0, tail_ = 0, done_ = 0;
  std::vector<State> states_;
};

}  // namespace

std::span<const std::string_view> atomic_ops() { return kOps; }
std::span<const std::string_view> atomic_addresses() { return kAddresses; }

void atomic_lat(const Run& run, bool is_client) {
  guarded(run, [&]() -> Result<void> {
    if (auto r = check(*find("atomic_lat"), run.params); !r) return r;
    return Latency(run, is_client, false).run();
  });
}
void atomic_write_lat(const Run& run, bool is_client) {
  guarded(run, [&] { return Latency(run, is_client, true).run(); });
}
void atomic_bw(const Run& run, bool is_client) {
  guarded(run, [&]() -> Result<void> {
    if (auto r = check(*find("atomic_bw"), run.params); !r) return r;
    return Bandwidth(run, is_client).run();
  });
}

}  // namespace rnic::programs

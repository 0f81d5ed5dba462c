// lock: QPs of the client take turns with a lock in the server's memory and increment a counter
// next to it. Each value of that counter must be read exactly once.
#include <algorithm>

#include "base/bytes.hpp"
#include "programs.hpp"
#include "words.hpp"

namespace rnic::programs {

using namespace verbs;

namespace {

constexpr std::array<std::string_view, 2> kLocks{"spin", "ticket"};

class LockProgram : public Words {
 public:
  // Window 4: a QP has at most 2 requests outstanding (write_and_release()).
  LockProgram(const Run& run, bool is_client)
      : Words(run, is_client, run.params.qps, 4), takes_tickets_(run.params.method == kLocks[1]) {}

  Result<void> run() {
    const Params& p = side_.params();
    if (auto r = start(0, 0); !r) return r;
    const uint64_t all = uint64_t{p.count} * p.qps * p.threads;
    if (!is_client_) {
      auto came = [&] { return std::ranges::all_of(side_.lanes, &Lane::control_came); };
      if (auto r = side_.until("client's last message", came, Side::kOnlooker); !r) return r;
      side_.dev().after_phase_bit();
      expect(shared_word(kCounter), all);
      expect(shared_word(kGate), takes_tickets_ ? all : 0);
      expect(shared_word(kServing), takes_tickets_ ? all : 0);
      return finish();
    }
    states_.resize(side_.lanes.size());
    taken_at_ = side_.dev().now();
    Report& report = side_.report();
    report.is_whole = true;
    report.of = uint64_t{p.count} * p.qps;
    report.start = side_.dev().now();
    Result<void> failed;
    auto over = [&] {
      for (Lane& lane : side_.lanes)
        if (failed && lane.completed == lane.posted) failed = go_on(lane);
      if (failed && ++looks_ % 64 == 0) failed = look_at_progress();
      return !failed || report.ops == report.of;
    };
    if (auto r = side_.until("lock", over); !r) return r;
    if (!failed) return failed;
    if (auto r = meet(); !r) return r;
    if (side_.run().thread == 0) judge();
    return finish();
  }

 private:
  // Numbers of the shared words. kGate: the spin lock, or the next ticket to be taken. kServing:
  // the ticket whose owner holds the lock.
  static constexpr uint32_t kGate = 0, kServing = 1, kCounter = 2;
  /// What a QP's outstanding request does: takes the lock or a ticket, reads the served ticket,
  /// reads the counter, writes the counter and releases the lock.
  enum class Step : uint8_t { kIdle, kTaking, kWaiting, kReading, kReleasing };
  struct State {
    Step step = Step::kIdle;
    // ticket: the QP's ticket; of a spin lock the old value of kGate, 0 if the lock was free.
    // taken: how often this QP has held the lock.
    uint64_t ticket = 0, taken = 0;
    uint64_t seen = 0;  // the ticket being served at the last poll
    Time began = 0;
  };
  /// The value of a spin lock that this QP holds.
  uint64_t owner(const Lane& lane) const {
    return uint64_t{side_.run().thread + 1} << 32 | (lane.number + 1);
  }
  bool is_owner(uint64_t value) const {
    const uint64_t thread = value >> 32, lane = value & 0xffffffff;
    return thread - 1 < side_.params().threads && lane - 1 < side_.params().qps;
  }
  /// Requests keep completing while no QP gets the lock, so Side detects no time-out.
  Result<void> look_at_progress() {
    const Params& p = side_.params();
    side_.dev().before_shared();
    const uint64_t taken = side_.run().session.seen().size();
    if (std::exchange(taken_, taken) != taken) taken_at_ = side_.dev().now();
    if (side_.dev().now() <= taken_at_ + p.timeout_us * kUs) return {};
    return fail(Errc::kTimedOut, "no client has acquired the lock for {} us", p.timeout_us);
  }

  /// Called when the request of this step has completed; posts the next one.
  Result<void> go_on(Lane& lane) {
    State& s = states_[lane.number];
    switch (s.step) {
      case Step::kIdle:
        if (s.taken == side_.params().count) return {};
        s.began = side_.dev().now();
        return take(lane);
      case Step::kTaking:
        s.ticket = brought(lane);
        s.seen = 0;
        if (takes_tickets_) return wait(lane);
        if (s.ticket == 0) return read(lane);
        if (!is_owner(s.ticket)) side_.wrong(own_word(lane, lane.posted - 1), kWord);
        return take(lane);
      case Step::kWaiting:
        // The served ticket only increases, and does not pass a waiting ticket.
        if (brought(lane) < s.seen || brought(lane) > s.ticket)
          side_.wrong(own_word(lane, lane.posted - 1), kWord);
        s.seen = brought(lane);
        return s.seen == s.ticket ? read(lane) : wait(lane);
      case Step::kReading:
        return write_and_release(lane, brought(lane));
      case Step::kReleasing:
        // The old value of the released word shows that no other QP has held the lock meanwhile.
        expect(own_word(lane, lane.posted - 1), takes_tickets_ ? s.ticket : owner(lane));
        s.taken++;
        s.step = Step::kIdle;
        count(s);
        return go_on(lane);
    }
    return {};
  }
  void count(const State& s) {
    Report& r = side_.report();
    r.end = side_.dev().now();
    r.latency.push_back(r.end - s.began);
    r.began.push_back(s.began);
    r.bytes += kWord;
    r.done = ++r.ops;
  }
  Result<void> take(Lane& lane) {
    states_[lane.number].step = Step::kTaking;
    if (takes_tickets_) return post(lane, IBV_WR_ATOMIC_FETCH_AND_ADD, far_shared(kGate), 1, 0);
    return post(lane, IBV_WR_ATOMIC_CMP_AND_SWP, far_shared(kGate), 0, owner(lane));
  }
  Result<void> wait(Lane& lane) {
    states_[lane.number].step = Step::kWaiting;
    return post(lane, IBV_WR_RDMA_READ, far_shared(kServing), 0, 0);
  }
  Result<void> read(Lane& lane) {
    states_[lane.number].step = Step::kReading;
    return post(lane, IBV_WR_RDMA_READ, far_shared(kCounter), 0, 0);
  }
  /// The atomic that releases the lock executes after the Write is placed: RFC 7306 5.3.
  Result<void> write_and_release(Lane& lane, uint64_t counter) {
    State& s = states_[lane.number];
    s.step = Step::kReleasing;
    side_.dev().before_shared();
    side_.run().session.seen().push_back({.old = counter});
    side_.report().checks++;
    if (takes_tickets_ && counter != s.ticket) side_.wrong(own_word(lane, lane.posted - 1), kWord);
    if (auto r = post(lane, IBV_WR_RDMA_WRITE, far_shared(kCounter), counter + 1, 0, false); !r)
      return r;
    if (takes_tickets_) return post(lane, IBV_WR_ATOMIC_FETCH_AND_ADD, far_shared(kServing), 1, 0);
    return post(lane, IBV_WR_ATOMIC_CMP_AND_SWP, far_shared(kGate), owner(lane), 0);
  }
  /// Checks that each value of the counter was read exactly once.
  void judge() {
    auto& all = side_.run().session.seen();
    std::ranges::sort(all, {}, &Seen::old);
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < all.size(); i++) wrong += all[i].old != i ? 1u : 0u;
    side_.report().checks += all.size();
    if (wrong != 0) side_.wrong(own_word(side_.lanes[0], 0), wrong * kWord);
  }

  const bool takes_tickets_;
  std::vector<State> states_;
  // looks_: polls of this thread. taken_: how often any QP had held the lock at the last check of
  // progress. taken_at_: when that number last changed.
  uint64_t looks_ = 0, taken_ = 0;
  Time taken_at_ = 0;
};

}  // namespace

std::span<const std::string_view> lock_methods() { return kLocks; }

void lock(const Run& run, bool is_client) {
  guarded(run, [&]() -> Result<void> {
    if (auto r = check(*find("lock"), run.params); !r) return r;
    return LockProgram(run, is_client).run();
  });
}

}  // namespace rnic::programs

// qp: shared receive queues at random: QPs on one of two SRQs or with their own receive queue,
// doorbells in pieces, stalls of every stream, limits, failed reads, ends of QPs, reused numbers.
// The reference is a plain queue per ring, kept here; qp_world.hpp plays the neighbours.
//
// A run prints its seed. To repeat it: RNIC_SEED=seed qp_test --gtest_filter='QpSrqRandomTest/*'
#include <set>

#include "VQp.h"
#include "VQpMin.h"
#include "VQpMin_rnic_stall_pkg.h"
#include "qp/qp_model.hpp"
#include "qp/qp_world.hpp"

namespace rnic::tb {
namespace {

using spec::QpState;
using spec::RqTake;
using spec::WcStatus;

struct Counts {
  // Takes: all, from an SRQ, and by their result. barred: takes of failed QPs from an SRQ.
  unsigned takes = 0, shared = 0, empty = 0, malformed = 0, failed = 0, barred = 0;
  // limits: modify_srq. events: limit events. sure: takes of an SRQ with one possible outcome.
  unsigned limits = 0, events = 0, sure = 0;
  unsigned ends = 0, taken_at_end = 0, faults = 0, wraps = 0, renewed = 0, changed = 0, bells = 0;
};

/// Traffic runs in each cycle, also while a command is executed. Between commands the test
/// sometimes stops the traffic and checks what is then exact: the limit events.
///
/// When a take and a doorbell, or a take and modify_srq, are concurrent, qp may order them either
/// way. So the reference of a limit is the set of states that qp can be in.
template <class D>
class SrqMix {
 public:
  SrqMix(D& d, Pace p, Counts& c)
      : dut_(d),
        rng_(test_rng("mix " + p.describe())),
        w_(d, test_rng("world " + p.describe()), 40),
        pace_(p),
        counts_(c) {
    w_.on_cycle = [this] { cycle(); };
    w_.on_take = [this](unsigned n, const auto& t) { taken(n, t); };
    w_.on_completion = [this](const auto& c) { completed(c); };
    add_streams();
  }

  void run(unsigned steps) {
    for (unsigned i = 0; i < kNumbers; i++) create(i, i < 2);
    for (unsigned s = 0; s < steps && !testing::Test::HasFailure(); s++) step();
    if (testing::Test::HasFailure()) return;
    quiesce();
    for (unsigned i = 0; i < kNumbers && !testing::Test::HasFailure(); i++)
      if (rows_[i].role == kQp) end(i);
    for (unsigned i = 0; i < kNumbers && !testing::Test::HasFailure(); i++)
      if (rows_[i].role == kSrq) destroy_srq(i);
    EXPECT_EQ(dut_.bad_doorbells, 0U) << "doorbells refused";
  }

 private:
  static constexpr unsigned kNumbers = 8;
  static constexpr uint64_t kBell = 20;  // cycles after which an accepted doorbell has its effect
  enum Role { kNone, kSrq, kQp };
  /// A possible state of an SRQ's limit in qp. limit: the armed limit, 0: none. events: limit
  /// events since the SRQ's creation. applied: the newest modify_srq is applied.
  struct LimitState {
    uint16_t limit = 0;
    unsigned events = 0;
    bool applied = true;
    auto operator<=>(const LimitState&) const = default;
  };
  struct Due {
    uint16_t index = 0;
    bool malformed = false, failed = false;
  };
  struct Row {
    Role role = kNone, was = kNone;
    // An SRQ, or the receive queue of a QP. Indices are not truncated to 16 bits. written: in the
    // ring; rung: announced by a doorbell; settled: announced so long ago that qp must know it.
    std::deque<spec::RqWqe> queue;  // written and not taken
    uint32_t size = 0, written = 0, rung = 0, settled = 0, taken = 0;
    bool open = false;                // the user posts
    unsigned fails = 0, members = 0;  // takes that failed; QPs of an SRQ
    std::set<LimitState> limit;
    uint16_t setting = 0;  // the newest modify_srq
    // Number of the first take after that modify_srq; ~0: it is surely applied.
    uint64_t applied = ~uint64_t{0};
    unsigned events = 0;  // limit events that qp has reported
    // A QP
    std::optional<unsigned> srq;
    unsigned recv_cq = 0, late = 0;  // late: takes after the order to stop
    std::deque<Due> due;             // taken and not completed
  };
  struct Asked {
    unsigned qp = 0, row = 0;
    uint32_t settled = 0;  // of its row, when it was requested
  };
  struct Bell {
    unsigned row = 0;
    uint32_t index = 0;
    uint64_t accepted = 0;
  };
  struct Stream {
    std::function<void(unsigned)> set;
    unsigned normal = 0;
  };

  /// The QP or SRQ number of row i. In the default build the numbers use all bits.
  static unsigned number(unsigned i) { return D::kMinimum ? i : 17 * i + 3; }
  /// The inverse of number().
  static unsigned place(unsigned n) { return D::kMinimum ? n : n / 17; }
  auto& world(unsigned i) { return w_.qp(number(i)); }

  // --- stalls
  void add_streams() {
    const auto in = [this](auto& s) {
      streams_.push_back({[&s](unsigned percent) { s.idle(percent); }, pace_.idle});
    };
    const auto out = [this](auto& s) {
      streams_.push_back({[&s](unsigned percent) { s.stall(percent); }, pace_.stall});
    };
    in(dut_.qp_doorbell), in(dut_.rq_take_req), in(dut_.rq_rd_hdr), in(dut_.rq_rd),
        in(dut_.rx_done);
    in(dut_.qp_cmd), in(dut_.qp_error), in(dut_.llp_event);
    in(dut_.qp_ack_llp), in(dut_.qp_ack_mpa), in(dut_.qp_ack_ddp), in(dut_.qp_ack_rdmap);
    out(dut_.rq_take_rsp), out(dut_.rq_rd_req), out(dut_.cqe_req), out(dut_.qp_async);
    out(dut_.qp_cmd_rsp), out(dut_.qp_fault), out(dut_.qp_purge);
    out(dut_.qp_ctl_llp), out(dut_.qp_ctl_mpa), out(dut_.qp_ctl_ddp), out(dut_.qp_ctl_rdmap);
  }
  void stalls() {
    if (stalled_ != nullptr && (calm_ || w_.now() >= stalled_until_))
      std::exchange(stalled_, nullptr)->set(stalled_normal_);
    if (stalled_ != nullptr || calm_ || !rng_.percent(2)) return;
    Stream& s = streams_[rng_.below(streams_.size())];
    stalled_ = &s, stalled_normal_ = s.normal, stalled_until_ = w_.now() + rng_.below(150);
    s.set(100);
  }

  // --- traffic
  /// Called in each cycle: stalls a stream at times, then posts, rings and takes at random.
  void cycle() {
    stalls();
    while (!bells_.empty() && bells_accepted_ < bells_put_ - dut_.qp_doorbell.size())
      bells_[bells_accepted_++ - bells_gone_].accepted = w_.now();
    for (; bells_gone_ < bells_accepted_ && bells_.front().accepted + w_.longer(kBell) <= w_.now();
         bells_gone_++, bells_.pop_front())
      rows_[bells_.front().row].settled = bells_.front().index;
    for (; events_seen_ < w_.asyncs().size(); events_seen_++) event(w_.asyncs()[events_seen_]);
    if (calm_ || testing::Test::HasFailure()) return;
    if (rng_.percent(post_rate_)) post(static_cast<unsigned>(rng_.below(kNumbers)));
    if (rng_.percent(post_rate_)) ring(static_cast<unsigned>(rng_.below(kNumbers)));
    if (rng_.percent(take_rate_)) take(static_cast<unsigned>(rng_.below(kNumbers)));
    if (rng_.below(2000) == 0) w_.fail_next_rq_read();
  }
  void post(unsigned i) {
    Row& r = rows_[i];
    if (!r.open) return;
    const uint32_t freed = r.role == kSrq ? r.taken : world(i).rq_reported;
    for (uint64_t k = rng_.below(r.size - (r.written - freed) + 1); k > 0; k--) {
      const auto sges = static_cast<uint8_t>(rng_.below(300) == 0 ? 4 : rng_.below(4));
      tag_ = static_cast<uint16_t>(tag_ + 40503);  // an odd step, so no tag repeats within 65536
      r.queue.push_back(w_.write_recv(number(i), sges, tag_));
      r.written++;
    }
  }
  void ring(unsigned i) {
    Row& r = rows_[i];
    if (r.open && r.rung != r.written) ring_to(i, r.rung + 1 + rng_.below(r.written - r.rung));
  }
  void ring_to(unsigned i, uint64_t index) {
    rows_[i].rung = static_cast<uint32_t>(index);
    w_.ring_recv(number(i), rows_[i].rung);
    bells_.push_back({.row = i, .index = rows_[i].rung});
    bells_put_++, counts_.bells++;
  }
  void take(unsigned i) {
    Row& q = rows_[i];
    if (q.role != kQp || !world(i).in_ddp || asked_.size() >= 12) return;
    if ((world(i).stopped || world(i).faulted) && (q.late == 0 || q.late-- == 0)) return;
    const unsigned row = q.srq.value_or(i);
    const auto before = std::ranges::count(asked_, row, &Asked::row);
    const bool has_one = rows_[row].rung > rows_[row].taken + before;
    if (!has_one && !rng_.percent(3)) return;
    asked_.push_back({.qp = i, .row = row, .settled = rows_[row].settled});
    asked_count_++;
    w_.receive(number(i), std::nullopt);
  }

  // --- responses
  void taken(unsigned n, const spec::RqTakeRsp& t) {
    ASSERT_FALSE(asked_.empty());
    const Asked a = asked_.front();
    asked_.pop_front();
    const uint64_t nth = asked_count_ - asked_.size() - 1;
    Row& q = rows_[a.qp];
    Row& r = rows_[a.row];
    counts_.takes++, counts_.shared += q.srq.has_value();
    SCOPED_TRACE(fmt::format("take {} of QP {} from {}: rung {}, settled {}, taken {}", nth, n,
                             number(a.row), r.rung, a.settled, r.taken));
    ASSERT_EQ(n, number(a.qp));
    EXPECT_EQ(t.shared, q.srq.has_value());
    if (t.result == RqTake::kEmpty && q.srq && world(a.qp).faulted) {
      counts_.barred++;
      return;
    }
    if (t.result == RqTake::kEmpty) {
      counts_.empty++;
      EXPECT_LE(a.settled, r.taken) << "empty, but a receive is posted";
      return;
    }
    ASSERT_LT(r.taken, r.rung) << "a receive that is not announced";
    const spec::RqWqe want = r.queue.front();
    const bool malformed = want.num_sge > spec::kMaxRecvSge;
    const auto index = q.srq ? want.tag : static_cast<uint16_t>(r.taken);
    if (t.result == RqTake::kFailed) {
      counts_.failed++;
      ASSERT_LT(r.fails++, world(a.row).failed_reads) << "no read has failed";
      if (q.srq) return;  // the WQE stays in the SRQ
    } else {
      EXPECT_EQ(t.result, malformed ? RqTake::kMalformed : RqTake::kOk);
      counts_.malformed += malformed;
      if (!malformed) QpWorld<D>::expect_wqe(t.wqe, want);
    }
    EXPECT_EQ(t.wqe.index, index) << "the receive posted next";
    q.due.push_back({index, malformed, t.result == RqTake::kFailed});
    r.queue.pop_front();
    r.taken++;
    counts_.wraps += r.role == kSrq && r.taken % r.size == 0;
    if (q.srq) count_down(r, nth, std::max(a.settled, r.taken) - r.taken, r.rung - r.taken);
  }
  void completed(const spec::CqeReq& c) {
    if (c.entry.is_recv == 0) return;
    const unsigned i = place(c.entry.qpn);
    ASSERT_TRUE(i < kNumbers && rows_[i].role == kQp) << "QP " << c.entry.qpn;
    Row& q = rows_[i];
    SCOPED_TRACE(fmt::format("completion of QP {}", c.entry.qpn));
    EXPECT_EQ(c.cqn, q.recv_cq);
    const bool flush = c.entry.status == WcStatus::kWrFlushErr;
    if (flush) {
      EXPECT_TRUE(world(i).stopped || world(i).faulted);
    }
    if (flush && !q.srq) return q.due.clear();  // one entry by index, which the world checks
    ASSERT_FALSE(q.due.empty()) << "for no take";
    EXPECT_EQ(c.entry.index, q.due.front().index);
    const Due d = q.due.front();
    const auto own = d.failed ? WcStatus::kFatalErr : WcStatus::kLocQpOpErr;
    if (!flush) {
      EXPECT_EQ(c.entry.status, d.failed || d.malformed ? own : WcStatus::kSuccess);
    }
    q.due.pop_front();
  }

  // --- limits
  /// Take number `nth` leaves `low` to `high` announced receives in the SRQ.
  void count_down(Row& r, uint64_t nth, uint32_t low, uint32_t high) {
    if (nth >= r.applied) apply(r);
    admit(r);
    std::set<LimitState> next;
    for (const LimitState& s : r.limit) {
      if (high >= s.limit) next.insert(s);
      if (low < s.limit) next.insert({0, s.events + 1, s.applied});
    }
    counts_.sure += next.size() == 1;
    r.limit = std::move(next);
    admit(r);
  }
  /// modify_srq can be applied at any time before its response.
  static void admit(Row& r) {
    const auto before = r.limit;
    for (const LimitState& s : before)
      if (!s.applied) r.limit.insert({r.setting, s.events, true});
  }
  static void apply(Row& r) {
    std::erase_if(r.limit, [](const LimitState& s) { return !s.applied; });
    r.applied = ~uint64_t{0};
  }
  void set_limit(unsigned i) {
    Row& r = rows_[i];
    if (r.applied != ~uint64_t{0}) quiesce();  // at most one modify_srq may be uncertain
    const auto near = static_cast<uint16_t>(rng_.below(r.size + 2));
    std::set<LimitState> before;
    for (LimitState s : r.limit) s.applied = false, before.insert(s);
    r.setting = rng_.percent(8) ? uint16_t{0} : rng_.percent(8) ? uint16_t{0xffff} : near;
    r.limit = before;
    admit(r);
    counts_.limits++;
    w_.set_limit(number(i), r.setting);
    r.applied = asked_count_;  // responses to earlier takes may be late
  }
  void event(unsigned n) {
    const unsigned i = place(n);
    ASSERT_LT(i, kNumbers);
    Row& r = rows_[i];
    if (r.role == kQp) return;  // the event of its error
    ASSERT_EQ(r.role, kSrq) << "an event of " << n << ", which does not exist";
    counts_.events++;
    r.events++;
    if (std::ranges::count(asked_, i, &Asked::row) != 0) return;
    EXPECT_LE(r.events, most_events(r.limit)) << "SRQ " << n << ": event without a reason";
  }
  static unsigned most_events(const std::set<LimitState>& states) {
    unsigned most = 0;
    for (const LimitState& s : states) most = std::max(most, s.events);
    return most;
  }
  /// Stops the traffic until all doorbells and takes have had their effect.
  void quiesce() {
    calm_ = true;
    EXPECT_TRUE(w_.run([&] { return asked_.empty() && bells_.empty(); }))
        << "a take has no response";
    w_.wait(40);
    for (unsigned i = 0; i < kNumbers; i++) {
      Row& r = rows_[i];
      if (r.role != kSrq) continue;
      if (r.applied != ~uint64_t{0}) apply(r);
      const auto possible = r.limit;
      std::erase_if(r.limit, [&](const LimitState& s) { return s.events != r.events; });
      EXPECT_FALSE(r.limit.empty()) << fmt::format(
          "SRQ {}: {} limit events, not {} to {}; limit {}, {} posted and not taken", number(i),
          r.events, possible.begin()->events, most_events(possible), r.setting, r.rung - r.taken);
    }
    calm_ = false;
  }

  // --- commands
  void step() {
    constexpr std::array kRates = {1U, 4U, 12U, 40U};  // per cent of the cycles
    post_rate_ = kRates[rng_.below(3)];
    take_rate_ = kRates[1 + rng_.below(3)];
    w_.far_memory(rng_.percent(20) ? w_.longer(rng_.below(200)) : 0);
    const auto i = static_cast<unsigned>(rng_.below(kNumbers));
    Row& r = rows_[i];
    if (r.role == kNone) create(i, false);
    if (r.role == kQp && (world(i).faulted || rng_.percent(8))) end(i);
    if (r.role == kSrq && rng_.percent(6)) replace_srq(i);
    for (unsigned k = 0; k < kNumbers && !testing::Test::HasFailure(); k++)
      if (rows_[k].role == kSrq && rng_.percent(60)) set_limit(k);
    w_.wait(rng_.below(60));
    if (rng_.percent(50)) quiesce();
  }
  void create(unsigned i, bool is_srq) {
    const Role was = rows_[i].was;
    const auto log = static_cast<unsigned>(rng_.between(2, rng_.percent(30) ? 6 : 3));
    Row r;
    r.role = is_srq ? kSrq : kQp, r.size = 1U << log;
    if (is_srq) r.limit.insert(LimitState{});
    std::vector<unsigned> srqs;
    for (unsigned k = 0; k < kNumbers; k++)
      if (rows_[k].role == kSrq) srqs.push_back(k);
    if (!is_srq && rng_.percent(75)) r.srq = srqs.at(rng_.below(srqs.size()));
    r.recv_cq = static_cast<unsigned>(rng_.below(D::kMinimum ? 8 : 100));
    r.late = static_cast<unsigned>(rng_.below(4));
    rows_[i] = r;
    counts_.renewed += was != kNone, counts_.changed += was != kNone && was != r.role;
    if (is_srq) {
      w_.create_srq(number(i), log);
    } else {
      const auto srq = r.srq ? std::optional(number(*r.srq)) : std::nullopt;
      if (r.srq) rows_[*r.srq].members++;
      w_.create(number(i), 2, log, 1, static_cast<uint16_t>(r.recv_cq), srq);
      w_.to_rts(number(i));
    }
    rows_[i].open = !rows_[i].srq;
  }
  /// Ends a QP among its takes, and destroys it.
  void end(unsigned i) {
    if (const unsigned row = rows_[i].srq.value_or(i); rng_.percent(70)) {
      post(row), ring(row);
      for (uint64_t n = 1 + rng_.below(3); n > 0; n--) take(i);
    }
    Row& q = rows_[i];
    counts_.ends++, counts_.faults += world(i).faulted;
    counts_.taken_at_end += std::ranges::count(asked_, i, &Asked::qp) != 0 || !q.due.empty();
    q.open = false;
    // The QP's own error may have come first: then the command is refused.
    if (!world(i).faulted) w_.modify(number(i), QpState::kError);
    EXPECT_TRUE(w_.wait_state(number(i), QpState::kError));
    const auto is_reported = [&] {
      if (std::ranges::count(bells_, i, &Bell::row) != 0) return false;
      return q.srq ? q.due.empty() : world(i).rq_reported == q.rung;
    };
    EXPECT_TRUE(w_.run(is_reported))
        << fmt::format("QP {}: {} receives are not completed", number(i), q.due.size());
    w_.destroy(number(i));
    quiesce();  // its event must not count for the next user of its number
    if (q.srq) rows_[*q.srq].members--;
    q = Row{};
    q.was = kQp;
  }
  /// Destroys an SRQ and its QPs; its number, or that of an ended QP, becomes the new SRQ's.
  void replace_srq(unsigned i) {
    for (unsigned k = 0; k < kNumbers && !testing::Test::HasFailure(); k++)
      if (rows_[k].role == kQp && rows_[k].srq == i) end(k);
    destroy_srq(i);
    std::vector<unsigned> free;
    for (unsigned k = 0; k < kNumbers; k++)
      if (rows_[k].role == kNone) free.push_back(k);
    if (!testing::Test::HasFailure())
      create(rng_.percent(25) ? i : free.at(rng_.below(free.size())), true);
  }
  /// Receives may be posted, and reads of the ring outstanding.
  void destroy_srq(unsigned i) {
    Row& r = rows_[i];
    ASSERT_EQ(r.members, 0U);
    quiesce();
    r.open = false;
    if (r.rung != r.written) ring_to(i, r.written);
    EXPECT_TRUE(w_.run([&] { return std::ranges::count(bells_, i, &Bell::row) == 0; }));
    w_.destroy_srq(number(i));
    r = Row{};
    r.was = kSrq;
  }

  D& dut_;
  base::Rng rng_;
  QpWorld<D> w_;
  Pace pace_;
  Counts& counts_;
  std::array<Row, kNumbers> rows_;
  std::deque<Asked> asked_;  // takes without a response
  std::deque<Bell> bells_;   // doorbells that are not settled; the first ones are accepted
  uint64_t bells_put_ = 0, bells_accepted_ = 0, bells_gone_ = 0, asked_count_ = 0;
  size_t events_seen_ = 0;
  std::vector<Stream> streams_;
  Stream* stalled_ = nullptr;
  unsigned stalled_normal_ = 0, post_rate_ = 4, take_rate_ = 4;
  uint64_t stalled_until_ = 0;
  bool calm_ = false;  // the traffic is stopped
  uint16_t tag_ = 0;
};

template <class D>
struct QpSrqRandomTest : testing::Test {
  D dut;
};
using Duts =
    testing::Types<QpDut<VQp, false>, QpDut<VQpMin, true>, QpModelDut<false>, QpModelDut<true>>;
TYPED_TEST_SUITE(QpSrqRandomTest, Duts);

TYPED_TEST(QpSrqRandomTest, TakesLimitsAndEnds) {
  Counts c;
  each_pace([&](Pace p) {
    this->dut.restart(p);
    SrqMix mix(this->dut, p, c);
    mix.run(150);
  });
  fmt::print(
      "seed {}: {} takes, {} of SRQs ({} sure), {} empty, {} malformed, {} failed, {} barred; {} "
      "limits, {} events; {} QPs ended, {} with takes, {} by an error; {} wraps, {} doorbells, {} "
      "numbers "
      "used again, {} with another role\n",
      test_seed(), c.takes, c.shared, c.sure, c.empty, c.malformed, c.failed, c.barred, c.limits,
      c.events, c.ends, c.taken_at_end, c.faults, c.wraps, c.bells, c.renewed, c.changed);
  EXPECT_GT(c.sure, c.shared / 2);
  EXPECT_GT(c.events, 40U);
  EXPECT_GT(c.taken_at_end, 10U);
  EXPECT_GT(c.wraps, 30U);
  EXPECT_GT(c.changed, 1U);
  EXPECT_GT(std::min({c.empty, c.malformed, c.failed, c.barred}), 0U);
}

}  // namespace
}  // namespace rnic::tb

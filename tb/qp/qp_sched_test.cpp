// qp_sched: each QP with work gets its turn, round robin, none is listed twice; no kick is lost.
//
// The reference is a queue of QPs and two flags per QP, updated by the operations in the order in
// which they were accepted. Fairness is checked independently: while a QP waits, no other QP has
// two turns. The test plays the sources of kicks and the owners of QPs, on a few QPs (consecutive
// operations on one QP) and on all of them (the list is full).
#include "VQpSched.h"
#include "VQpSchedMin.h"
#include "lib/word.hpp"
#include "support/leaf.hpp"
#include "support/rtl_dut.hpp"

namespace {

using namespace rnic;  // NOLINT: a test

// The streams of the leaf: kick (a QP has work), finish (its owner has evaluated it; with requeue
// it goes to the end of the list again), and qpn_o (the next QP; its taker is its owner).
struct Default {  // sizes.yaml; kLatency: from a kick to qpn_o, header of qp_sched.sv
  using V = VQpSched;
  static constexpr unsigned kQps = 1024, kQpnW = 10, kLatency = 5;
};
struct Minimum {
  using V = VQpSchedMin;
  static constexpr unsigned kQps = 8, kQpnW = 3, kLatency = 4;
};
constexpr unsigned kSources = 4, kFirstFinish = 2;  // 0, 1 kick; 2, 3 finish

template <class B>
class QpSchedTest : public testing::Test {
 protected:
  struct Dut : tb::RtlDut<typename B::V> {
    tb::StreamOut<tb::Word<B::kQpnW>> qpn{
        *this, "qpn",
        tb::pins(this->top().qpn_valid_o, this->top().qpn_ready_i, this->top().qpn_o)};
  };
  struct Op {
    uint64_t qpn = 0;
    bool requeue = false;
    uint64_t since = 0;
  };
  struct Qp {
    // active: on the list or owned. again: kicked since it was listed. listed: on the list.
    bool active = false, again = false, listed = false;
    uint64_t listed_at = 0;        // turns of all QPs when it was listed
    uint64_t turn = ~uint64_t{0};  // its last turn
    uint64_t last_kick = 0, last_op = ~uint64_t{0} - 8;
    bool last_was_finish = false;
  };

  Dut dut;
  base::Rng rng = tb::test_rng("operations");
  tb::Pace pace;
  bool running = false, kicks = true, finishes = true, never_requeue = false;
  unsigned clearing = 0, few = 0;  // few: QPs in use; 0: all
  std::vector<Qp> qps;
  std::deque<uint64_t> list;
  std::vector<uint64_t> owned;  // QPs that have had their turn and are not finished
  std::array<std::optional<Op>, kSources> ops;
  uint64_t turns = 0, kicked = 0;
  tb::Tally met{"kick of a QP that rests",
                "kick while on the list",
                "kick while owned",
                "kick in the cycle after a kick",
                "kick in the cycle after its finish",
                "finish in the cycle after a kick",
                "finish with another kick",
                "requeue",
                "requeue with another kick",
                "finish for good",
                "all QPs on the list",
                "a turn after all others"};
  tb::PinsPort pins{dut, [this] { drive(); }, [this] { sample(); }};

  QpSchedTest() {
    dut.qpn.on_item([this](const tb::Word<B::kQpnW>& item) { turn(item.value); });
  }

  void start(tb::Pace p) {
    pace = p;
    running = false;
    kicks = finishes = true;
    never_requeue = false;
    few = 0;
    qps.assign(B::kQps, {});
    list.clear();
    owned.clear();
    ops = {};
    turns = 0;
    dut.restart(p);
    clearing = B::kQps;
    running = true;
    dut.cycles(B::kQps);
  }

  // 37 is odd, so the few QPs differ, and use several bits of the number.
  uint64_t some_qpn() { return few == 0 ? rng.below(B::kQps) : (rng.below(few) * 37) % B::kQps; }

  void drive() {
    auto& t = dut.top();
    t.clear_busy_i = clearing != 0;
    tb::set(t.clear_addr_i, clearing != 0 ? B::kQps - clearing : rng.below(B::kQps));
    unsigned valid = 0, finish = 0, requeue = 0;
    uint64_t qpns = 0;
    for (unsigned s = 0; s < kSources; s++) {
      if (running && clearing == 0 && !ops[s] && !rng.percent(pace.idle)) offer(s);
      const Op op = ops[s].value_or(Op{rng.below(B::kQps), rng.percent(50), 0});
      valid |= ops[s] ? 1U << s : 0;
      finish |= s >= kFirstFinish ? 1U << s : 0;
      requeue |= op.requeue ? 1U << s : 0;
      qpns |= op.qpn << (s * B::kQpnW);
    }
    tb::set(t.op_valid_i, valid);
    tb::set(t.op_finish_i, finish);
    tb::set(t.op_requeue_i, requeue);
    tb::set(t.op_qpn_i, qpns);
    if (clearing != 0 && running) clearing--;
  }
  void offer(unsigned s) {
    if (s < kFirstFinish) {
      if (kicks && rng.percent(s == 0 ? 50 : 20))
        ops[s] = Op{some_qpn(), rng.percent(50), dut.now()};
    } else if (finishes && !owned.empty() && rng.percent(70)) {
      const size_t k = rng.below(owned.size());
      ops[s] = Op{owned[k], !never_requeue && rng.percent(30), dut.now()};
      owned.erase(owned.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }

  void turn(uint64_t qpn) {
    ASSERT_FALSE(list.empty()) << "QP " << qpn << " has its turn, and nobody has work";
    Qp& qp = qps[qpn];
    ASSERT_TRUE(qp.listed) << "QP " << qpn << " has its turn, and is not on the list";
    // Fairness: no other QP had two turns since this one was listed, so there were fewer turns than
    // QPs.
    ASSERT_LT(turns - qp.listed_at, B::kQps) << "QP " << qpn << " waited too long";
    met("a turn after all others", turns - qp.listed_at == B::kQps - 1);
    ASSERT_EQ(qpn, list.front()) << "out of turn";
    list.pop_front();
    qp.listed = false;
    owned.push_back(qpn);
    turns++;
  }

  void sample() {
    auto& t = dut.top();
    if (!running) return;
    unsigned took = 0;
    for (unsigned s = 0; s < kSources; s++) {
      if (!ops[s]) continue;
      if ((t.op_ready_o >> s & 1) == 0) {
        ASSERT_LE(dut.now() - ops[s]->since, kSources) << "source " << s << " starves";
        continue;
      }
      took++;
      take(s, *ops[s]);
      ops[s].reset();
    }
    ASSERT_LE(took, 1U);
    met("all QPs on the list", list.size() == B::kQps);
  }
  void take(unsigned s, const Op& op) {
    Qp& qp = qps[op.qpn];
    const bool next = qp.last_op + 1 == dut.now();
    if (s < kFirstFinish) {
      kicked++;
      met(!qp.active  ? "kick of a QP that rests"
          : qp.listed ? "kick while on the list"
                      : "kick while owned");
      met("kick in the cycle after a kick", next && !qp.last_was_finish);
      met("kick in the cycle after its finish", next && qp.last_was_finish);
      if (!qp.active)
        enlist(op.qpn);
      else
        qp.again = true;
    } else {
      ASSERT_TRUE(qp.active && !qp.listed);
      met("finish in the cycle after a kick", next);
      met("finish with another kick", qp.again && !op.requeue);
      met("requeue", op.requeue && !qp.again);
      met("requeue with another kick", op.requeue && qp.again);
      met("finish for good", !op.requeue && !qp.again);
      if (op.requeue || qp.again)
        enlist(op.qpn);
      else
        qp.active = false;
    }
    qp.last_op = dut.now();
    qp.last_was_finish = s >= kFirstFinish;
  }
  // A kick of a listed QP is also remembered until the finish: the turn of the QP may have begun.
  void enlist(uint64_t qpn) {
    Qp& qp = qps[qpn];
    qp.active = qp.listed = true;
    qp.again = false;
    qp.listed_at = turns;
    list.push_back(qpn);
  }

  void drain() {
    kicks = false;
    never_requeue = true;
    dut.qpn.stall(0);
    ASSERT_TRUE(dut.run_until([&] {
      return this->HasFatalFailure() ||
             (list.empty() && owned.empty() &&
              std::none_of(ops.begin(), ops.end(), [](auto& op) { return op.has_value(); }));
    })) << list.size()
        << " QPs never have their turn";
    dut.cycles(20);
    dut.pace(pace);
    kicks = true;
    never_requeue = false;
  }
};

using Builds = testing::Types<Default, Minimum>;
TYPED_TEST_SUITE(QpSchedTest, Builds);

TYPED_TEST(QpSchedTest, EachInItsTurnAndNoneTwice) {
  tb::each_pace([&](tb::Pace pace) {
    this->start(pace);
    for (unsigned few : {0U, 2U, 5U, 1U, 0U}) {
      this->few = few;
      this->dut.cycles(3000);
      if (!this->HasFatalFailure()) this->drain();
      if (this->HasFatalFailure()) return;
    }
    this->finishes = false;  // all of them wait
    this->few = 0;
    this->dut.qpn.stall(100);
    for (uint64_t q = 0; q < TypeParam::kQps && !this->HasFatalFailure(); q++) {
      ASSERT_TRUE(this->dut.run_until([&] { return !this->ops[1]; }));
      this->ops[1] = typename TestFixture::Op{q, false, this->dut.now()};
    }
    ASSERT_TRUE(this->dut.run_until([&] { return !this->ops[1]; }));
    this->dut.cycles(5);
    this->finishes = true;
    this->drain();
  });
  if (this->HasFatalFailure()) return;
  EXPECT_GT(this->kicked, 10'000U);
  this->met.expect_all();
}

// As the header of qp_sched.sv says: 4 cycles from a kick to qpn_o, 5 with a list in block memory;
// one operation per cycle.
TYPED_TEST(QpSchedTest, Latency) {
  this->start({});
  this->kicks = this->finishes = false;
  for (uint64_t q = 0; q < TypeParam::kQps; q++)
    this->ops[0] = typename TestFixture::Op{q, false, this->dut.now()}, this->dut.cycle();
  this->dut.cycles(TypeParam::kLatency);
  EXPECT_EQ(this->turns, TypeParam::kQps);
  this->finishes = true;
  this->drain();
  this->kicks = false;
  const uint64_t before = this->turns;
  this->ops[0] = typename TestFixture::Op{3, false, this->dut.now()};
  const uint64_t from = this->dut.now();
  this->dut.run_until([&] { return this->turns != before; });
  EXPECT_LE(this->dut.now() - from, TypeParam::kLatency);
}

TYPED_TEST(QpSchedTest, NobodyIsActiveAfterAReset) {
  for (int i = 0; i < 8 && !this->HasFatalFailure(); i++) {
    this->start({20, 20});
    this->dut.cycles(200);
  }
  this->start({});
  this->kicks = false;
  this->dut.cycles(50);
  EXPECT_EQ(this->turns, 0U);
}

}  // namespace

// qp: shared receive queues: takes of several QPs, the ring and its doorbells, reads that fail, the
// limit. Neighbours and reference: qp_world.hpp, whose ddp reports each WQE that was taken.
// w.receive(n, result): ddp takes a receive WQE for QP n and expects this result; `false`: the
// queue is empty. w.asyncs(): numbers of the QPs and SRQs that qp has reported an event for.
#include "VQp.h"
#include "VQpMin.h"
#include "VQpMin_rnic_stall_pkg.h"
#include "qp/qp_model.hpp"
#include "qp/qp_world.hpp"

namespace rnic::tb {
namespace {

using spec::DoorbellKind;
using spec::QpState;
using spec::RqTake;
using spec::WcStatus;

constexpr unsigned kSrq = 5, kOther = 6;

template <class D>
class QpSrqTest : public testing::Test {
 protected:
  D dut;
  base::Rng rng{test_seed()};

  /// QPs 0 to 2 take from an SRQ of 2^log WQEs. QP 3 has its own receive queue.
  template <class F>
  void worlds(unsigned log, F body) {
    each_pace([&](Pace p) {
      dut.restart(p);
      QpWorld<D> w(dut, rng.fork("world"), 40);
      w.create_srq(kSrq, log);
      for (unsigned n = 0; n < 4; n++) {
        w.create(n, 3, 3, 1, 2, n < 3 ? std::optional(kSrq) : std::nullopt);
        w.to_rts(n);
      }
      body(w);
      EXPECT_EQ(dut.bad_doorbells, bad) << "doorbells refused";
      bad = 0;
    });
  }
  /// Waits until qp has applied the doorbells.
  void posted(QpWorld<D>& w) {
    w.run([&] { return dut.qp_doorbell.empty(); });
    w.wait(40);
  }
  /// Waits until `count` takes of QPs 0 to 3 have their response; all_reported(): until each WQE
  /// that they have taken is completed.
  static bool all_taken(QpWorld<D>& w, unsigned count) {
    return w.run([&] {
      size_t n = 0;
      for (unsigned q = 0; q < 4; q++) n += w.qp(q).takes.size();
      return n == count;
    });
  }
  static bool all_reported(QpWorld<D>& w) {
    return w.run([&] {
      for (unsigned q = 0; q < 4; q++)
        if (w.qp(q).rq_reported < w.qp(q).rq_taken) return false;
      return true;
    });
  }
  uint64_t bad = 0;  // doorbells of the test that qp must refuse
};
using Duts =
    testing::Types<QpDut<VQp, false>, QpDut<VQpMin, true>, QpModelDut<false>, QpModelDut<true>>;
TYPED_TEST_SUITE(QpSrqTest, Duts);

// WQEs are taken in ring order, by any QP. Each completes on the QP that took it, with its tag.
// QpWorld checks both.
TYPED_TEST(QpSrqTest, ServesItsQpsInOrder) {
  this->worlds(3, [&](auto& w) {
    unsigned taken = 0;
    for (unsigned round = 0; round < 30; round++) {
      const unsigned count = 1 + static_cast<unsigned>(this->rng.below(8));
      w.post_recv(kSrq, count);
      w.post_recv(3, 1);
      this->posted(w);
      for (unsigned i = 0; i < count; i++) w.receive(static_cast<unsigned>(this->rng.below(3)));
      w.receive(3);
      taken += count + 1;
      ASSERT_TRUE(this->all_taken(w, taken));
    }
    EXPECT_TRUE(this->all_reported(w));
    for (unsigned n = 0; n < 3; n++) {
      EXPECT_TRUE(w.qp(n).tags.empty());
      EXPECT_EQ(w.query(n).rq_retired, 0);
    }
  });
}

// qp refuses doorbells of a receive queue that a QP has not, of a send queue that an SRQ has not,
// and one from another page.
TYPED_TEST(QpSrqTest, DoorbellsOfAnAbsentQueue) {
  this->worlds(2, [&](auto& w) {
    auto& bells = this->dut.qp_doorbell;
    bells.put(w.doorbell(0, DoorbellKind::kRq, 1));
    bells.put(w.doorbell(kSrq, DoorbellKind::kSq, 1));
    auto push = w.doorbell(kSrq, DoorbellKind::kPush, 1);
    push.units = 1;
    bells.put(push);
    auto page = w.doorbell(kSrq, DoorbellKind::kRq, 1);
    page.page = 1;
    bells.put(page);
    this->posted(w);
    w.receive(0, false);  // no WQE is announced
    ASSERT_TRUE(this->all_taken(w, 1));
    this->bad = 4;
  });
}

// A QP whose error rdmap has reported takes nothing more, though ddp still asks: its peer must not
// use up the receives of other QPs. A new QP of the same number takes again.
TYPED_TEST(QpSrqTest, AFailedQpTakesNothingMore) {
  this->worlds(3, [&](auto& w) {
    w.post_recv(kSrq, 8);
    this->posted(w);
    w.receive(0);
    ASSERT_TRUE(this->all_taken(w, 1));
    w.hold_acks(true);  // ddp has not stopped
    w.error(0, spec::Cause::kRdmapStag, true);
    w.wait(100);
    for (unsigned i = 0; i < 4; i++) {
      w.receive(0, false);
      w.receive(1);
    }
    ASSERT_TRUE(this->all_taken(w, 9));
    EXPECT_EQ(w.qp(kSrq).rq_taken, 5U);
    w.hold_acks(false);
    ASSERT_TRUE(w.wait_state(0, QpState::kError));
    w.destroy(0);
    w.create(0, 3, 3, 1, 2, kSrq);
    w.to_rts(0);
    w.receive(0);
    EXPECT_TRUE(w.run([&] { return !w.qp(0).takes.empty(); }));
    EXPECT_TRUE(this->all_reported(w));
  });
}

// The slot of a WQE is free when the WQE is taken, not when it completes.
TYPED_TEST(QpSrqTest, ATakeFreesItsPlace) {
  this->worlds(2, [&](auto& w) {
    w.hold_faults(true);
    w.post_recv(kSrq, 4);
    this->posted(w);
    for (unsigned i = 0; i < 20; i++) {
      const uint32_t next = w.qp(kSrq).rq_prod;
      this->dut.qp_doorbell.put(w.doorbell(kSrq, DoorbellKind::kRq, next + 1));  // full
      this->dut.qp_doorbell.put(w.doorbell(kSrq, DoorbellKind::kRq, next - 1));  // backwards
      this->posted(w);
      this->bad += 2;
      w.receive(i % 3);
      ASSERT_TRUE(this->all_taken(w, i + 1));
      w.post_recv(kSrq, 1);
      this->posted(w);
    }
  });
}

TYPED_TEST(QpSrqTest, Empty) {
  this->worlds(2, [&](auto& w) {
    w.receive(0, false);
    ASSERT_TRUE(this->all_taken(w, 1));
    w.post_recv(kSrq, 1);
    this->posted(w);
    w.receive(1);
    w.receive(2, false);
    w.receive(0, false);
    ASSERT_TRUE(this->all_taken(w, 4));
    w.post_recv(kSrq, 1);
    this->posted(w);
    w.receive(2);
    ASSERT_TRUE(this->all_taken(w, 5));
  });
}

// The read that a take waits for fails: the QP fails, and the next take of another QP gets the WQE.
// A malformed WQE is used up by its take.
TYPED_TEST(QpSrqTest, AWqeThatCannotBeReadStays) {
  for (const unsigned batch : {1U, 3U}) {
    this->worlds(3, [&](auto& w) {
      w.far_memory(static_cast<unsigned>(w.longer(600)));
      w.fail_next_rq_read();
      w.post_recv(kSrq, batch);
      this->posted(w);
      w.receive(0, RqTake::kFailed);
      w.receive(1);
      ASSERT_TRUE(this->all_taken(w, 2));
      EXPECT_EQ(w.qp(kSrq).rq_taken, 1U);
      ASSERT_TRUE(w.wait_state(0, QpState::kError));
      w.far_memory(0);
      for (unsigned i = 1; i < batch; i++) w.receive(2);
      w.post_recv(kSrq, 1, 4);  // 4 SGEs: malformed
      w.post_recv(kSrq, 1);
      this->posted(w);
      w.receive(1, RqTake::kMalformed);
      w.receive(2);
      ASSERT_TRUE(this->all_taken(w, 3 + batch));
      ASSERT_TRUE(w.wait_state(1, QpState::kError));
      ASSERT_TRUE(this->all_reported(w));
      EXPECT_TRUE(w.qp(0).rq_cqes.empty());
      ASSERT_EQ(w.qp(1).rq_cqes.size(), 2U);
      EXPECT_EQ(w.qp(1).rq_cqes[1].status, WcStatus::kLocQpOpErr);
      EXPECT_EQ(w.query(2).state, QpState::kRts);
    });
  }
}

// One event, when a take leaves fewer WQEs than the limit. A new limit counts from the next take
// on. Empty takes cause no event, and a queue without a limit causes none.
TYPED_TEST(QpSrqTest, ReachesItsLimit) {
  this->worlds(3, [&](auto& w) {
    unsigned taken = 0;
    const auto take = [&](unsigned n, size_t events) {
      w.receive(n);
      ASSERT_TRUE(this->all_taken(w, ++taken));
      w.wait(30);
      EXPECT_EQ(w.asyncs().size(), events) << "after " << taken;
    };
    w.set_limit(kSrq, 6);
    w.post_recv(kSrq, 8);
    w.post_recv(3, 8);
    this->posted(w);
    take(0, 0);  // 7 are left
    take(3, 0);  // not of the SRQ
    take(1, 0);  // 6
    take(2, 1);  // 5
    take(0, 1);
    w.set_limit(kSrq, 3);  // 4 are left
    take(1, 1);            // 3
    w.set_limit(kSrq, 0);
    take(1, 1);
    w.set_limit(kSrq, 0xffff);  // above the SRQ's size: the next take reaches it
    take(2, 2);
    w.set_limit(kSrq, 1);
    take(0, 3);  // the last WQE: 0 are left
    w.receive(0, false);
    ASSERT_TRUE(this->all_taken(w, ++taken));
    for (const unsigned n : w.asyncs()) EXPECT_EQ(n, kSrq);
  });
}

// Limits set while takes are in flight: each is reached once, none is lost.
TYPED_TEST(QpSrqTest, LimitsSetBesideTakes) {
  this->worlds(3, [&](auto& w) {
    unsigned taken = 0;
    for (unsigned i = 0; i < 25; i++) {
      w.post_recv(kSrq, 8);
      this->posted(w);
      for (unsigned k = 0; k < 4; k++) w.receive(k % 3);
      w.set_limit(kSrq, 0xffff);
      for (unsigned k = 0; k < 4; k++) w.receive(k % 3);
      ASSERT_TRUE(this->all_taken(w, taken += 8));
      w.wait(30);
      EXPECT_EQ(w.asyncs().size(), i + 1);
    }
  });
}

// Posted WQEs outlive the QPs of an SRQ. An ending QP flushes only WQEs that it has taken, through
// ddp.
TYPED_TEST(QpSrqTest, AQpThatEndsFlushesNothing) {
  this->worlds(3, [&](auto& w) {
    w.post_recv(kSrq, 5);
    w.post_recv(3, 2);
    this->posted(w);
    w.receive(0);
    ASSERT_TRUE(this->all_taken(w, 1));
    for (unsigned n : {0U, 1U, 3U}) ASSERT_EQ(w.modify(n, QpState::kError), spec::AdminStatus::kOk);
    ASSERT_TRUE(w.run([&] { return !w.qp(3).rq_cqes.empty(); }));  // its own queue
    ASSERT_TRUE(this->all_reported(w));
    EXPECT_EQ(w.qp(0).rq_cqes.size(), 1U);
    EXPECT_TRUE(w.qp(1).rq_cqes.empty());
    for (unsigned i = 0; i < 4; i++) w.receive(2);
    w.receive(2, false);
    ASSERT_TRUE(this->all_taken(w, 6));
  });
}

// destroy_srq waits for the reads of its ring. A QP or another SRQ then uses its number.
TYPED_TEST(QpSrqTest, DestroyAndCreateAgain) {
  this->worlds(3, [&](auto& w) {
    w.create_srq(kOther, 3);
    w.set_limit(kOther, 8);
    w.far_memory(static_cast<unsigned>(w.longer(300)));
    w.post_recv(kOther, 8);
    this->posted(w);
    w.destroy_srq(kOther);
    w.far_memory(0);
    this->dut.qp_doorbell.put(w.doorbell(kOther, DoorbellKind::kRq, 1));
    this->posted(w);
    this->bad = 1;
    w.create(kOther, 3, 2);
    w.to_rts(kOther);
    w.post_recv(kOther, 1);
    this->posted(w);
    w.receive(kOther);
    ASSERT_TRUE(w.run([&] { return w.qp(kOther).rq_cqes.size() == 1; }));
    ASSERT_EQ(w.modify(kOther, QpState::kError), spec::AdminStatus::kOk);
    w.destroy(kOther);
    w.create_srq(kOther, 2);
    w.create(7, 3, 3, 1, 2, kOther);
    w.to_rts(7);
    w.receive(7, false);
    ASSERT_TRUE(w.run([&] { return w.qp(7).takes.size() == 1; }));
    w.post_recv(kOther, 4);
    this->posted(w);
    w.receive(7);
    ASSERT_TRUE(w.run([&] { return w.qp(7).rq_cqes.size() == 1; }));
    EXPECT_TRUE(w.asyncs().empty()) << "the limit is of the earlier SRQ";
  });
}

// The context of an SRQ holds CQ 0. An overrun of CQ 0 has no effect on the SRQ.
TYPED_TEST(QpSrqTest, HasNoCq) {
  this->worlds(3, [&](auto& w) {
    this->dut.cq_fault.put({.cqn = 0});
    w.wait(2000);
    w.post_recv(kSrq, 1);
    this->posted(w);
    w.receive(0);
    ASSERT_TRUE(this->all_taken(w, 1));
    EXPECT_TRUE(w.asyncs().empty());
  });
}

}  // namespace
}  // namespace rnic::tb

// cq: entries and phases, overrun, arming and its races, events and their queues, doorbells,
// commands. Reference: cq_world.hpp.
#include <algorithm>
#include <set>

#include "VCq.h"
#include "VCqMin.h"
#include "VCqMin___024root.h"
#include "VCq___024root.h"
#include "cq/cq_model.hpp"
#include "cq/cq_world.hpp"

namespace rnic::tb {
namespace {

using spec::AdminOpcode;
using spec::AdminStatus;
using spec::EqeType;
using spec::WcStatus;
using Events = std::vector<EventSeen>;

template <class D>
class CqTest : public testing::Test {
 protected:
  D dut;

  /// A world with EQ 0 (16 entries, vector 1), at every pace.
  template <class F>
  void worlds(F body) {
    each_pace([&](Pace p) {
      dut.restart(p);
      CqWorld<D> w(dut, test_rng("world"));
      w.create_eq(0, 4, 1);
      body(w, p);
    });
  }
  static EventSeen completion(uint32_t cqn, uint32_t eqn = 0) {
    return {EqeType::kCompletion, cqn, eqn};
  }
  /// Nothing is written for a while.
  void expect_silence(CqWorld<D>& w) { EXPECT_EQ(w.take_events(), Events{}); }
};

using Duts =
    testing::Types<CqDut<VCq, false>, CqDut<VCqMin, true>, CqModelDut<false>, CqModelDut<true>>;
TYPED_TEST_SUITE(CqTest, Duts);

TYPED_TEST(CqTest, PhasesOverRingWraps) {
  this->worlds([&](auto& w, Pace) {
    const auto last = static_cast<uint16_t>(w.sizes().num_cqs - 1);
    unsigned log = 1;
    for (const uint16_t cqn : {uint16_t{0}, uint16_t{5}, last}) w.create_cq(cqn, {.log = log++});
    for (unsigned round = 0; round < 40; round++) {
      for (auto& [cqn, c] : w.cqs) {
        const auto room = c.size() - static_cast<uint16_t>(c.asked - c.consumer);
        for (uint64_t n = w.rng().below(room + 1); n != 0; n--)
          w.complete(cqn, w.rng().percent(30),
                     w.rng().percent(20) ? WcStatus::kWrFlushErr : WcStatus::kSuccess);
      }
      w.settle(60);
      for (auto& [cqn, c] : w.cqs) w.doorbell(cqn, w.rng().percent(70) ? c.written : c.consumer);
      w.doorbells_taken();
    }
    this->expect_silence(w);  // nobody armed
    for (auto& [cqn, c] : w.cqs) {
      EXPECT_TRUE(c.expected.empty());
      const auto q = w.query(cqn);
      EXPECT_EQ(q, (spec::AdminCqResult{.producer = c.written, .consumer = c.consumer}));
    }
    EXPECT_EQ(this->dut.bad_doorbells, 0U);
    EXPECT_TRUE(this->dut.cq_fault.empty());
  });
}

TYPED_TEST(CqTest, TimestampsCountCycles) {
  if constexpr (TypeParam::kIsRtl) {
    this->dut.restart({});
    CqWorld<TypeParam> w(this->dut, test_rng());
    w.create_cq(1, {});
    std::vector<uint64_t> bench, device;
    for (unsigned i = 0; i < 5; i++) {
      w.complete(1);
      bench.push_back(this->dut.now());
      w.settle();
      device.push_back(w.cqs.at(1).time);
    }
    for (unsigned i = 1; i < 5; i++) EXPECT_EQ(device[i] - device[0], bench[i] - bench[0]);
  }
}

TYPED_TEST(CqTest, OverrunIsReportedOnceAndSilencesTheCq) {
  this->worlds([&](auto& w, Pace) {
    w.create_eq(1, 3, 0);
    w.create_cq(3, {.log = 2, .eqn = 1});
    w.create_cq(4, {.log = 2, .eqn = 1});
    for (unsigned i = 0; i < 4; i++) w.complete(3);
    w.settle();
    EXPECT_TRUE(this->dut.cq_fault.empty());
    EXPECT_EQ(w.query(3).overrun, 0);
    for (unsigned i = 0; i < 5; i++) {
      w.complete(3);  // one too many and more: none is written
      w.complete(4);
      w.settle(40);
      w.doorbell(4, w.cqs.at(4).written);
      w.doorbells_taken();
    }
    EXPECT_EQ(w.take_events(), (Events{{EqeType::kCqError, 3, 0}}));
    EXPECT_EQ(w.cqs.at(3).written, 4);
    EXPECT_EQ(w.cqs.at(3).expected.size(), 5U);
    EXPECT_EQ(w.cqs.at(4).written, 5);
    ASSERT_EQ(this->dut.cq_fault.size(), 1U);
    EXPECT_EQ(this->dut.cq_fault.take().cqn, 3);
    // reading it does not help
    w.doorbell(3, 4);
    w.doorbells_taken();
    w.complete(3);
    w.arm(3);
    w.complete(3, true);
    this->expect_silence(w);
    EXPECT_EQ(w.query(3).overrun, 1);
    EXPECT_EQ(w.query(3).producer, 4);
    EXPECT_EQ(w.query(4).overrun, 0);
    EXPECT_TRUE(this->dut.cq_fault.empty());
    EXPECT_EQ(this->dut.bad_doorbells, 0U);
    // a new one does
    w.destroy_cq(3);
    w.create_cq(3, {.log = 1, .eqn = 1});
    EXPECT_EQ(w.query(3), spec::AdminCqResult{});
    w.complete(3);
    w.settle();
    EXPECT_EQ(w.cqs.at(3).written, 1);
  });
}

TYPED_TEST(CqTest, ArmingGivesOneEvent) {
  this->worlds([&](auto& w, Pace) {
    w.create_eq(1, 6, 0);
    w.create_cq(2, {.log = 5, .eqn = 1});
    const Events one = {this->completion(2, 1)};
    // armed, then one completion and more
    w.arm(2);
    this->expect_silence(w);
    EXPECT_EQ(w.query(2).armed, 1);
    for (unsigned i = 0; i < 4; i++) w.complete(2);
    EXPECT_EQ(w.take_events(), one);
    EXPECT_EQ(w.query(2).armed, 0);
    // completions that are there already: at once
    w.doorbell(2, 2, true);
    EXPECT_EQ(w.take_events(), one);
    EXPECT_EQ(w.query(2), (spec::AdminCqResult{.producer = 4, .consumer = 2}));
    // not armed any more
    w.complete(2);
    this->expect_silence(w);
    // a doorbell without arm neither arms nor disarms
    w.doorbell(2, 5);
    w.complete(2);
    this->expect_silence(w);
    w.arm(2);
    w.doorbell(2, 6);
    this->expect_silence(w);
    w.complete(2);
    EXPECT_EQ(w.take_events(), one);
    // the index of the last one but all are read
    w.arm(2);
    this->expect_silence(w);
    // armed again while armed: still one
    w.arm(2);
    w.doorbells_taken();
    w.complete(2);
    EXPECT_EQ(w.take_events(), one);
    EXPECT_EQ(this->dut.bad_doorbells, 0U);
  });
}

TYPED_TEST(CqTest, SolicitedOnly) {
  this->worlds([&](auto& w, Pace) {
    w.create_cq(2, {.log = 4});
    const Events one = {this->completion(2)};
    for (const auto status : {WcStatus::kSuccess, WcStatus::kWrFlushErr, WcStatus::kFatalErr}) {
      const bool solicited = status == WcStatus::kSuccess;  // an error counts as solicited
      const uint16_t from = w.cqs.at(2).written;
      w.arm(2, true);
      w.complete(2);
      w.complete(2);
      this->expect_silence(w);
      EXPECT_EQ(w.query(2).armed, 1);
      w.complete(2, solicited, status);
      EXPECT_EQ(w.take_events(), one);
      w.complete(2, solicited, status);
      w.complete(2);
      this->expect_silence(w);
      // five lie behind `from`: the third and fourth counted
      w.doorbell(2, static_cast<uint16_t>(from + 2), true, true);
      EXPECT_EQ(w.take_events(), one);
      w.doorbell(2, static_cast<uint16_t>(from + 3), true, true);
      EXPECT_EQ(w.take_events(), one);
      w.doorbell(2, static_cast<uint16_t>(from + 4), true, true);
      this->expect_silence(w);
      w.doorbell(2, static_cast<uint16_t>(from + 4), true,
                 false);  // now any counts, and one is there
      EXPECT_EQ(w.take_events(), one);
      w.doorbell(2, static_cast<uint16_t>(from + 5), true, true);
      w.complete(2);
      this->expect_silence(w);
      w.complete(2, true);
      EXPECT_EQ(w.take_events(), one);
      w.doorbell(2, w.cqs.at(2).written);
    }
    EXPECT_EQ(this->dut.bad_doorbells, 0U);
  });
}

/// InfiniBand, Request Completion Notification: the next completion, once asked for, stays asked for.
TYPED_TEST(CqTest, AnArmingForAnyIsNotTakenBack) {
  this->worlds([&](auto& w, Pace) {
    w.create_cq(2, {.log = 4});
    const Events one = {this->completion(2)};
    w.arm(2, false);
    w.arm(2, true);
    w.doorbells_taken();  // both: a completion could come between them
    w.complete(2);
    EXPECT_EQ(w.take_events(), one);
    w.doorbell(2, w.cqs.at(2).written, true, true);  // and the next arming is of its own kind
    w.complete(2);
    this->expect_silence(w);
    w.complete(2, true);
    EXPECT_EQ(w.take_events(), one);
  });
}

TYPED_TEST(CqTest, ArmingForSolicitedTwiceIsForSolicited) {
  this->worlds([&](auto& w, Pace) {
    w.create_cq(2, {.log = 4});
    w.arm(2, true);
    w.arm(2, true);
    w.complete(2);
    this->expect_silence(w);
    w.complete(2, true);
    EXPECT_EQ(w.take_events(), Events{this->completion(2)});
  });
}

/// A command comes behind the completions that stood before it, in cq's queue and in qp's register of two, and is answered when
/// they have left: so admin's answer to destroy_qp is the last that the driver hears of a QP. The model's queues: tb/model.
TYPED_TEST(CqTest, ACommandStaysBehindTheCompletionsBeforeIt) {
  if constexpr (TypeParam::kIsRtl) {
    this->worlds([&](auto& w, Pace p) {
      auto& d = this->dut;
      w.create_cq(1, {.log = 8});
      d.cqe_req.idle(0);  // qp offers what it has
      uint16_t asked = 0;
      unsigned n = 0;
      for (bool fits = true; fits && !testing::Test::HasFailure(); n++) {
        SCOPED_TRACE(testing::Message() << n << " completions before the command");
        d.cq_wr.stall(100);
        for (unsigned i = 0; i < n; i++) w.complete(1);
        d.cycles(100 + 4 * n);
        fits = d.cqe_req.size() <= 2;
        const auto before = d.cq_wr.moved();
        d.cq_cmd.put({.opcode = AdminOpcode::kQueryCq, .object = 1});
        d.cycles(60);
        EXPECT_EQ(d.cq_cmd_rsp.empty(), n != 0) << "it is answered before they have left";
        d.cq_wr.stall(p.stall);
        const auto rsp = d.cq_cmd_rsp.take();
        asked = static_cast<uint16_t>(asked + n);
        if (fits) {
          EXPECT_EQ(d.cq_wr.moved() - before, n);
          EXPECT_EQ(spec::AdminCqResult::unpack(rsp.result).producer, asked);
        }
        w.settle();
        w.doorbell(1, asked);
        w.doorbells_taken();
      }
      EXPECT_GT(n, w.sizes().fifo_depth + 2) << "the queue was never full";
    });
  }
}

TYPED_TEST(CqTest, ArmingRacesWithCompletions) {
  this->worlds([&](auto& w, Pace) {
    w.create_cq(1, {.log = 6});
    w.create_cq(6, {.log = 6});
    for (unsigned i = 0; i < 150; i++) {
      // both at the same time, in either order: one event, and only behind the entry that it
      // announces
      const bool solicited = w.rng().percent(50);
      const auto before = w.cqs.at(1).written;
      const bool doorbell_first = w.rng().percent(50);
      if (doorbell_first) w.arm(1, solicited);
      const auto gap = w.rng().below(8);
      for (unsigned k = 0; k < gap && doorbell_first; k++) this->dut.advance();
      w.complete(6);
      w.complete(1, solicited);
      w.complete(6);
      for (unsigned k = 0; k < gap && !doorbell_first; k++) this->dut.advance();
      if (!doorbell_first) w.doorbell(1, before, true, solicited);
      w.counts_at_event.clear();
      EXPECT_EQ(w.take_events(60), (Events{this->completion(1)})) << i;
      ASSERT_EQ(w.counts_at_event.size(), 1U);
      EXPECT_GT(w.counts_at_event[0], before) << "the event came before its completion";
      w.doorbell(1, w.cqs.at(1).written);
      w.doorbell(6, w.cqs.at(6).written);
      w.eq_doorbell(0);
      w.doorbells_taken();
    }
    EXPECT_EQ(this->dut.bad_doorbells, 0U);
  });
}

TYPED_TEST(CqTest, IndicesWrapAtSixteenBits) {
  this->dut.restart({});
  CqWorld<TypeParam> w(this->dut, test_rng());
  w.create_eq(0, 2, 1);
  w.create_cq(1, {.log = 4});
  const unsigned total = 2 * 65536 + 304;
  for (unsigned done = 0; done < total; done += 8) {
    const unsigned near = done % 65536;
    const bool look = near < 64 || near > 65536 - 64 || done % 2048 == 0;
    if (look) {  // an old solicited completion never comes back into sight
      w.settle(40);
      w.arm(1, true);
      w.doorbells_taken();
      for (unsigned i = 0; i < 7; i++) w.complete(1);
      w.complete(1, near % 16 == 0);
      const bool fires = near % 16 == 0;
      ASSERT_EQ(w.take_events(60), fires ? Events{this->completion(1)} : Events{}) << done;
      if (!fires) {
        w.doorbell(1, static_cast<uint16_t>(w.cqs.at(1).written - 1), true);
        ASSERT_EQ(w.take_events(60), Events{this->completion(1)}) << done;
      }
      w.eq_doorbell(0);
      w.doorbell(1, w.cqs.at(1).written);
      w.doorbells_taken();
    } else {
      for (unsigned i = 0; i < 8; i++) w.complete(1);
      ASSERT_TRUE(this->dut.run_until([&] { return this->dut.cq_wr.size() == 8; }));
      w.see();
      w.doorbell(1, w.cqs.at(1).written);
    }
  }
  w.settle();
  EXPECT_EQ(w.query(1).producer, total % 65536);
  EXPECT_EQ(this->dut.bad_doorbells, 0U);
  EXPECT_TRUE(this->dut.cq_fault.empty());
}

// A solicited completion that was consumed stays so, though the index comes by its place again.
TYPED_TEST(CqTest, AnOldSolicitedCompletionStaysConsumed) {
  this->dut.restart({});
  CqWorld<TypeParam> w(this->dut, test_rng());
  w.create_eq(0, 2, 1);
  w.create_cq(1, {.log = 5});
  w.complete(1, true);
  w.settle();
  w.doorbell(1, 1);
  for (unsigned done = 1; done < 65529; done += 8) {
    for (unsigned i = 0; i < 8; i++) w.complete(1);
    ASSERT_TRUE(this->dut.run_until([&] { return this->dut.cq_wr.size() == 8; }));
    w.see();
    w.doorbell(1, w.cqs.at(1).written);
  }
  for (unsigned i = 0; i < 16; i++) w.complete(1);
  w.settle();
  w.doorbell(1, 65529, true, true);
  this->expect_silence(w);
  w.complete(1, true);
  EXPECT_EQ(w.take_events(), Events{this->completion(1)});
}

TYPED_TEST(CqTest, LargestRing) {
  this->dut.restart({});
  CqWorld<TypeParam> w(this->dut, test_rng());
  w.create_eq(0, 4, 1);
  w.create_cq(1, {.log = 15});
  for (unsigned pass = 0; pass < 3; pass++) {
    for (unsigned i = 0; i < 32767; i++) w.complete(1);
    w.complete(1, true);  // the last one alone counts, and the ring is full
    this->dut.run_until([&] { return this->dut.cq_wr.size() >= 32768; }, 1'000'000);
    EXPECT_EQ(w.take_events(),
              pass == 0 ? Events{} : Events{this->completion(1)});  // armed since the last pass
    ASSERT_EQ(w.cqs.at(1).written, static_cast<uint16_t>((pass + 1) * 32768));
    for (const uint32_t read : {0U, 1U, 20000U, 32767U}) {
      w.doorbell(1, static_cast<uint16_t>(pass * 32768 + read), true, true);
      EXPECT_EQ(w.take_events(), Events{this->completion(1)}) << pass << " " << read;
    }
    w.doorbell(1, static_cast<uint16_t>((pass + 1) * 32768), true, true);
    this->expect_silence(w);
    w.eq_doorbell(0);
  }
  w.doorbells_taken();
  for (unsigned i = 0; i < 32768; i++) w.complete(1);
  w.complete(1);
  this->dut.run_until([&] { return this->dut.cq_wr.size() >= 32768; }, 1'000'000);
  EXPECT_EQ(w.take_events(), (Events{{EqeType::kCqError, 1, 0}}));
  EXPECT_EQ(this->dut.cq_fault.size(), 1U);
  EXPECT_EQ(this->dut.bad_doorbells, 0U);
}

TYPED_TEST(CqTest, AFullEqKeepsEverything) {
  this->dut.restart({});
  each_pace([&](Pace p) {
    auto& d = this->dut;
    d.restart(p);
    CqWorld<TypeParam> w(d, test_rng());
    w.create_eq(0, 2, 0);
    w.create_eq(1, 1, 1);
    const auto qps = static_cast<uint16_t>(w.sizes().num_qps),
               conns = static_cast<uint16_t>(w.sizes().num_conns);
    std::multiset<EventSeen> expected, got;
    for (const uint16_t cqn : {uint16_t{1}, uint16_t{2}, uint16_t{7}})
      w.create_cq(cqn, {.log = 1, .eqn = cqn == 2 ? 1U : 0U});
    auto everything = [&] {
      for (const uint16_t qpn : {uint16_t{0}, uint16_t{3}, static_cast<uint16_t>(qps - 1)}) {
        d.qp_async.put({.qpn = qpn});
        expected.insert({EqeType::kQp, qpn, 0});
      }
      for (const uint16_t n : {uint16_t{0}, uint16_t{3}, static_cast<uint16_t>(conns - 1)}) {
        d.conn_async.put({.connection = n});
        expected.insert({EqeType::kConnection, n, 0});
      }
    };
    everything();
    for (auto& [cqn, c] : w.cqs) {
      w.arm(cqn);
      for (unsigned i = 0; i < 3; i++) w.complete(cqn);  // the third overruns it
      expected.insert(this->completion(cqn, c.setup.eqn));
      expected.insert({EqeType::kCqError, cqn, 0});
    }
    for (const auto& e : w.take_events()) got.insert(e);
    EXPECT_EQ(got.size(), 5U) << "four entries of EQ 0, one of EQ 1";
    for (unsigned i = 0; i < 5; i++) {  // those that wait are not doubled
      if (!got.contains({EqeType::kQp, 3, 0})) d.qp_async.put({.qpn = 3});
      if (!got.contains({EqeType::kConnection, 3, 0})) d.conn_async.put({.connection = 3});
    }
    d.settle();
    for (unsigned round = 0; got.size() < expected.size() && round < 10; round++) {
      w.eq_doorbell(0);
      w.eq_doorbell(1);
      const auto more = w.take_events();
      ASSERT_FALSE(more.empty());
      got.insert(more.begin(), more.end());
    }
    EXPECT_EQ(got, expected);
    w.eq_doorbell(0);
    this->expect_silence(w);
    everything();  // and once more, now that all have been told
    std::multiset<EventSeen> again;
    for (unsigned round = 0; round < 3; round++) {
      w.eq_doorbell(0);
      const auto more = w.take_events();
      again.insert(more.begin(), more.end());
    }
    EXPECT_EQ(again.size(), 6U);
  });
}

TYPED_TEST(CqTest, AnAbsentEqKeepsEverything) {
  each_pace([&](Pace p) {
    auto& d = this->dut;
    d.restart(p);
    CqWorld<TypeParam> w(d, test_rng());
    w.create_eq(1, 3, 1);
    w.create_cq(1, {.log = 4, .eqn = 1});
    d.qp_async.put({.qpn = 1});
    d.conn_async.put({.connection = 2});
    d.qp_async.put({.qpn = 1});
    w.arm(1);
    w.complete(1);
    EXPECT_EQ(w.take_events(), Events{this->completion(1, 1)}) << "EQ 1 is not held up";
    w.create_eq(0, 2, 0);
    EXPECT_EQ(w.take_events(), (Events{{EqeType::kQp, 1, 0}, {EqeType::kConnection, 2, 0}}));
    w.destroy_eq(0);
    d.conn_async.put({.connection = 5});
    this->expect_silence(w);
    w.create_eq(0, 1, 1);
    EXPECT_EQ(w.take_events(), (Events{{EqeType::kConnection, 5, 0}}));
    // an index that its EQ has not reached, or an EQ out of range: ignored
    d.eq_doorbell.put({.eqn = 0, .index = 2});
    d.eq_doorbell.put({.eqn = 0, .index = 0xffff});
    d.eq_doorbell.put({.eqn = 0xff, .index = 0});
    d.conn_async.put({.connection = 6});
    d.conn_async.put({.connection = 7});
    EXPECT_EQ(w.take_events().size(), 1U);
    w.eq_doorbell(0);
    EXPECT_EQ(w.take_events().size(), 1U);
  });
}

TYPED_TEST(CqTest, ModifyMovesACqWithItsPendingEvent) {
  this->worlds([&](auto& w, Pace) {
    w.create_eq(1, 1, 0);  // two entries
    for (const uint16_t cqn : {uint16_t{1}, uint16_t{2}, uint16_t{3}}) {
      w.create_cq(cqn, {.log = 4, .eqn = 1});
      w.arm(cqn);
      w.complete(cqn);
      w.settle();
    }
    EXPECT_EQ(w.take_events(), (Events{this->completion(1, 1), this->completion(2, 1)}));
    w.modify_cq(3, 0);
    EXPECT_EQ(w.take_events(), Events{this->completion(3, 0)})
        << "a pending event goes to the new EQ";
    w.destroy_eq(1);
    w.arm(3);
    w.complete(3);
    EXPECT_EQ(w.take_events(), Events{this->completion(3, 0)});
    EXPECT_EQ(w.query(3), (spec::AdminCqResult{.producer = 2, .consumer = 1}));
    for (const uint16_t cqn : {uint16_t{1}, uint16_t{2}}) {
      w.modify_cq(cqn, 0);
      w.arm(cqn);
      w.complete(cqn);
      EXPECT_EQ(w.take_events(), Events{this->completion(cqn, 0)});
    }
  });
}

TYPED_TEST(CqTest, ADestroyedCqIsForgotten) {
  this->worlds([&](auto& w, Pace) {
    auto& d = this->dut;
    w.create_eq(1, 1, 0);
    w.create_cq(1, {.log = 2, .eqn = 1});
    w.create_cq(2, {.log = 2, .eqn = 1});
    for (unsigned round = 0; round < 3; round++) {
      for (const uint16_t cqn : {uint16_t{1}, uint16_t{1}, uint16_t{2}}) {
        w.arm(cqn);
        w.complete(cqn);
        w.settle();
      }
      EXPECT_EQ(w.take_events(),
                (Events{this->completion(1, 1), this->completion(1, 1)}));  // now EQ 1 is full
      // with an event that waits, and while entries are still on their way
      d.cq_wr.stall(100);
      for (unsigned i = 0; i < 3; i++) w.complete(2);
      d.run_until([&] { return !d.cqe_req.busy(); }, 300);
      for (unsigned i = 0; i < 30; i++) d.advance();
      d.cq_wr.stall(30);
      w.destroy_cq(2);
      const auto bad = d.bad_doorbells;
      d.cq_doorbell.put({.cqn = 2, .page = 2, .index = 0, .arm = 1});
      d.cqe_req.put({.cqn = 2, .entry = w.any_entry()});
      this->expect_silence(w);
      EXPECT_EQ(d.bad_doorbells, bad + 1);
      for (const auto opcode :
           {AdminOpcode::kQueryCq, AdminOpcode::kModifyCq, AdminOpcode::kDestroyCq})
        if (TypeParam::kIsRtl) {
          EXPECT_EQ(w.command(opcode, 2).status, AdminStatus::kNotFound);  // admin does not ask
        }
      w.eq_doorbell(1);
      w.create_cq(2, {.log = 2, .eqn = 1});
      EXPECT_EQ(w.query(2), spec::AdminCqResult{});
      this->expect_silence(w);  // the event of its namesake never comes
      w.complete(2);
      this->expect_silence(w);
      w.doorbell(2, 0, true);
      EXPECT_EQ(w.take_events(), Events{this->completion(2, 1)});
      w.eq_doorbell(1);
      w.destroy_cq(1);
      w.create_cq(1, {.log = 2, .eqn = 1});
      w.doorbell(2, w.cqs.at(2).written);
      w.doorbells_taken();
    }
  });
}

/// The event that an arming makes due waits for room, and may be overtaken by its CQ's end.
TYPED_TEST(CqTest, ADueEventGoesWithItsCq) {
  this->worlds([&](auto& w, Pace) {
    auto& d = this->dut;
    w.create_eq(1, 4, 0);
    w.create_cq(1, {.log = 6, .eqn = 1});
    for (unsigned n = 0; n < 30; n++) {
      w.create_cq(2, {.log = 2, .eqn = 1});
      w.complete(2);
      w.settle();
      d.cq_wr.stall(100);
      for (unsigned i = 0; i < n; i++) w.complete(1);
      for (unsigned i = 0; i < 150; i++) d.advance();
      w.doorbell(2, 0, true);
      w.doorbells_taken();
      d.cq_cmd.put({.opcode = AdminOpcode::kDestroyCq, .object = 2});
      for (unsigned i = 0; i < 40; i++) d.advance();
      d.cq_wr.stall(0);
      EXPECT_EQ(d.cq_cmd_rsp.take().status, AdminStatus::kOk);
      w.see();
      w.cqs.erase(2);  // none from here on
      w.settle();
      ASSERT_FALSE(testing::Test::HasFailure()) << n << " completions before them";
      w.doorbell(1, w.cqs.at(1).written);
      w.eq_doorbell(1);
      w.doorbells_taken();
    }
  });
}

/// qp takes its time with them; what else stands in the queue waits.
TYPED_TEST(CqTest, OverrunsWaitForQp) {
  each_pace([&](Pace p) {
    auto& d = this->dut;
    d.restart(p);
    CqWorld<TypeParam> w(d, test_rng());
    const auto many = static_cast<uint16_t>(std::min(32U, w.sizes().num_cqs));
    for (uint16_t cqn = 0; cqn < many; cqn++) w.create_cq(cqn, {.log = 1});
    d.cq_fault.stall(100);
    for (unsigned i = 0; i < 3; i++)
      for (uint16_t cqn = 0; cqn < many; cqn++) w.complete(cqn);
    for (unsigned i = 0; i < 600; i++) d.advance();
    d.cq_fault.stall(p.stall);
    w.settle();
    std::set<uint16_t> told;
    for (const auto& f : d.cq_fault.take_all()) EXPECT_TRUE(told.insert(f.cqn).second);
    EXPECT_EQ(told.size(), many);
  });
}

/// Sources and what is pending take turns. In the model the bench itself chooses.
TYPED_TEST(CqTest, EventsAreWrittenWhileMoreOfThemCome) {
  if constexpr (TypeParam::kIsRtl) {
    auto& d = this->dut;
    d.restart({0, 0});
    CqWorld<TypeParam> w(d, test_rng());
    w.create_eq(0, 4, 1);
    for (uint16_t i = 0; i < 800; i++) d.qp_async.put({.qpn = static_cast<uint16_t>(i % 4)});
    for (unsigned i = 0; i < 400; i++) d.advance();
    EXPECT_FALSE(d.qp_async.empty());
    w.see();
    EXPECT_FALSE(w.events.empty());
  }
}

TYPED_TEST(CqTest, ADestroyedCqsOverrunIsForgotten) {
  each_pace([&](Pace p) {
    auto& d = this->dut;
    d.restart(p);
    CqWorld<TypeParam> w(d, test_rng());
    w.create_eq(1, 3, 0);
    for (const uint16_t cqn : {uint16_t{1}, uint16_t{2}}) {
      w.create_cq(cqn, {.log = 1, .eqn = 1});
      for (unsigned i = 0; i < 3; i++) w.complete(cqn);
    }
    this->expect_silence(w);  // there is no EQ 0 yet
    EXPECT_EQ(d.cq_fault.size(), 2U);
    w.destroy_cq(2);
    w.create_cq(2, {.log = 1, .eqn = 1});
    w.create_eq(0, 3, 1);
    EXPECT_EQ(w.take_events(), (Events{{EqeType::kCqError, 1, 0}}));
    for (unsigned i = 0; i < 3; i++) w.complete(2);
    EXPECT_EQ(w.take_events(), (Events{{EqeType::kCqError, 2, 0}}));
  });
}

// The number of a CQ may be given anew while an event of the old one is due: the new one has none.
TYPED_TEST(CqTest, ADueEventIsNotOneOfTheNextCqOfItsNumber) {
  auto& d = this->dut;
  d.restart({});
  CqWorld<TypeParam> w(d, test_rng());
  w.create_eq(0, 7, 1);
  const auto cqs = static_cast<uint16_t>(std::min<uint32_t>(64, w.sizes().num_cqs));
  for (uint16_t q = 0; q < cqs; q++) {
    w.create_cq(q, {.log = 2});
    w.complete(q);
  }
  w.settle();
  d.cq_wr.stall(100);
  for (uint16_t q = 0; q < cqs; q++) w.doorbell(q, 0, true);
  w.doorbells_taken();
  d.cq_wr.stall(80);
  const auto last = static_cast<uint16_t>(cqs - 1);
  w.destroy_cq(last);
  w.create_cq(last, {.log = 2});
  w.see();
  const auto of_last = [&] {
    return std::count(w.events.begin(), w.events.end(), this->completion(last));
  };
  const auto before = of_last();
  d.cq_wr.stall(0);
  w.settle();
  EXPECT_EQ(of_last(), before);
  EXPECT_EQ(w.query(last).armed, 0);
}

// An error that is forgotten before it could be told takes no second place in the list when the next CQ of the number has one.
// All others wait in the list, so that it takes long to go round.
TYPED_TEST(CqTest, ForgottenErrorsTakeNoSecondPlace) {
  auto& d = this->dut;
  d.restart({});
  CqWorld<TypeParam> w(d, test_rng());
  const auto qps = static_cast<uint16_t>(w.sizes().num_qps),
             conns = static_cast<uint16_t>(w.sizes().num_conns);
  for (uint16_t q = 0; q < 8; q++) {
    if (q == 2) continue;
    w.create_cq(q, {.log = 1});
    w.arm(q);
    w.doorbells_taken();
    for (unsigned k = 0; k < 3; k++) w.complete(q);
    EXPECT_EQ(d.cq_fault.take().cqn, q);
  }
  for (uint16_t q = 0; q < qps; q++) d.qp_async.put({q});
  for (uint16_t c = 0; c < conns; c++) d.conn_async.put({c});
  ASSERT_TRUE(d.run_until([&] { return d.qp_async.empty() && d.conn_async.empty(); }));
  constexpr unsigned kLives = 40;
  for (unsigned i = 0; i <= kLives; i++) {
    w.create_cq(2, {.log = 1});
    for (unsigned k = 0; k < 3; k++) w.complete(2);
    EXPECT_EQ(d.cq_fault.take().cqn, 2);
    if (i != kLives) w.destroy_cq(2);
  }
  w.create_eq(0, 12, 1);
  const auto events = w.take_events();
  EXPECT_EQ(events.size(), 2 * 7 + 1U + qps + conns);
  EXPECT_EQ(std::count(events.begin(), events.end(), (EventSeen{EqeType::kCqError, 2, 0})), 1);
}

// A consumer index of an EQ that does not exist is nobody's.
TYPED_TEST(CqTest, AnEqNumberOutOfRangeIsIgnored) {
  this->worlds([&](auto& w, Pace) {
    auto& d = this->dut;
    w.create_eq(1, 1, 5);
    const auto eqs = static_cast<uint8_t>(w.sizes().num_eqs);
    for (uint16_t q = 1; q <= 3; q++) {
      w.create_cq(q, {.log = 3, .eqn = 1});
      w.complete(q);
      w.settle();
      w.doorbell(q, 0, true);
      w.settle();
    }
    EXPECT_EQ(w.take_events().size(), 2U);  // the third waits for room
    for (const unsigned beyond : {0U, 1U, eqs + 0U, 0x80U, 0x81U}) {
      d.eq_doorbell.put({.eqn = static_cast<uint8_t>(eqs + beyond), .index = 2});
    }
    this->expect_silence(w);
    w.eq_doorbell(1);
    EXPECT_EQ(w.take_events(), (Events{this->completion(3, 1)}));
  });
}

TYPED_TEST(CqTest, BadDoorbellsAreCountedAndChangeNothing) {
  this->worlds([&](auto& w, Pace) {
    auto& d = this->dut;
    const auto cqs = static_cast<uint16_t>(w.sizes().num_cqs);
    w.create_cq(2, {.log = 3, .page = 3});
    for (unsigned i = 0; i < 6; i++) w.complete(2);
    w.settle();
    w.doorbell(2, 4);
    w.doorbells_taken();
    const auto before = w.query(2);
    EXPECT_EQ(before, (spec::AdminCqResult{.producer = 6, .consumer = 4}));
    EXPECT_EQ(d.bad_doorbells, 0U);
    uint64_t bad = 0;
    const std::vector<spec::CqDoorbell> wrong = {
        {.cqn = 2, .page = 2, .index = 6, .arm = 1},
        {.cqn = 2, .page = 0x103, .index = 6, .arm = 1},
        {.cqn = 2, .page = 3, .index = 7, .arm = 1},
        {.cqn = 2, .page = 3, .index = 3, .arm = 1},
        {.cqn = 2, .page = 3, .index = 0xffff},
        {.cqn = 2, .page = 3, .index = 0x8004},
        {.cqn = 2, .page = 3, .index = 14, .arm = 1},
        {.cqn = 3, .page = 3, .index = 0, .arm = 1},
        {.cqn = 3, .page = 0, .index = 0},
        {.cqn = cqs, .page = 3, .index = 5},
        {.cqn = static_cast<uint16_t>(cqs + 2), .page = 3, .index = 5, .arm = 1},
        {.cqn = 0xffff, .page = 3, .index = 5},
    };
    for (const auto& db : wrong) {
      SCOPED_TRACE(db.describe());
      d.cq_doorbell.put(db);
      w.doorbells_taken();
      EXPECT_EQ(d.bad_doorbells, ++bad);
      EXPECT_EQ(w.query(2), before);
    }
    d.cqe_req.put(
        {.cqn = static_cast<uint16_t>(cqs + 2), .entry = w.any_entry()});  // aliases nothing
    this->expect_silence(w);
    w.doorbell(2, 5);
    w.doorbell(2, 5);
    w.doorbell(2, 6);
    w.doorbells_taken();
    EXPECT_EQ(d.bad_doorbells, bad);
    EXPECT_EQ(w.query(2).consumer, 6);
  });
}

TYPED_TEST(CqTest, DoorbellsNeverWaitForDma) {
  this->worlds([&](auto& w, Pace p) {
    auto& d = this->dut;
    std::vector<uint16_t> all;
    for (uint16_t n = 0; n < 8; n++) all.push_back(n);
    for (const auto cqn : all) {
      w.create_cq(cqn, {.log = 6});
      for (unsigned i = 0; i < 4; i++) w.complete(cqn);
    }
    w.settle();
    d.cq_wr.stall(100);
    for (unsigned i = 0; i < 6; i++)
      for (const auto cqn : all) {
        w.complete(cqn);
        d.qp_async.put({.qpn = cqn});
      }
    for (unsigned i = 0; i < 200; i++) d.advance();
    for (uint16_t i = 1; i <= 4; i++)
      for (const auto cqn : all) {
        w.doorbell(cqn, i, true, i == 2);  // most of them cause an event at once
        d.eq_doorbell.put({.eqn = 0, .index = 0});
      }
    EXPECT_TRUE(d.run_until([&] { return !d.cq_doorbell.busy() && !d.eq_doorbell.busy(); }, 1000));
    d.cq_wr.stall(p.stall);
    const auto events = w.take_events();
    w.eq_doorbell(0);
    auto more = w.take_events();
    std::set<EventSeen> seen(events.begin(), events.end());
    seen.insert(more.begin(), more.end());
    for (const auto cqn : all) {
      EXPECT_TRUE(seen.contains(this->completion(cqn))) << cqn;
      EXPECT_TRUE(w.cqs.at(cqn).expected.empty());
      EXPECT_EQ(w.query(cqn).consumer, 4);
    }
    EXPECT_EQ(d.bad_doorbells, 0U);
  });
}

/// A driver frees the entries of a full CQ and posts to a QP in error, whose entry comes at once: 15
/// cycles behind the doorbell.
TYPED_TEST(CqTest, ACompletionStaysBehindTheDoorbellsBeforeIt) {
  for (unsigned gap = 0; gap < 20; gap++) {
    this->worlds([&](auto& w, Pace) {
      SCOPED_TRACE(gap);
      auto& d = this->dut;
      for (uint16_t n = 0; n < 7; n++) {
        w.create_cq(n, {.log = 6});
        w.complete(n);
      }
      w.create_cq(7, {.log = 2});
      for (unsigned i = 0; i < 4; i++) w.complete(7);
      w.settle();
      for (uint16_t n = 0; n < 7; n++) w.doorbell(n, 0, true);  // each causes an event
      w.doorbell(7, 4);
      ASSERT_TRUE(d.run_until([&] { return !d.cq_doorbell.busy(); }));
      for (unsigned i = 0; i < gap; i++) d.advance();
      w.complete(7);
      w.settle();
      EXPECT_TRUE(d.cq_fault.empty());
      EXPECT_TRUE(w.cqs.at(7).expected.empty());
    });
  }
}

/// Drivers that read, arm when they have nothing more to read, and wait for events; several CQs on
/// two EQs.
TYPED_TEST(CqTest, RandomTraffic) {
  each_pace([&](Pace p) {
    auto& d = this->dut;
    d.restart(p);
    CqWorld<TypeParam> w(d, test_rng());
    auto& rng = w.rng();
    w.create_eq(0, 2, 1);
    w.create_eq(1, 3, 0);
    struct Driver {
      bool armed = false, solicited_only = false;
      uint16_t from = 0;  // index at arming
    };
    std::map<uint16_t, Driver> drivers;
    std::map<uint16_t, uint16_t>
        told;  // consumer indices that cq knows for sure: a doorbell may race with a completion
    for (uint16_t cqn = 0; cqn < 8; cqn++) {
      w.create_cq(cqn, {.log = static_cast<unsigned>(rng.between(1, 5)), .eqn = cqn & 1U});
      drivers[cqn] = {};
    }
    auto news = [&](uint16_t cqn) {  // does a completion that counts lie in memory behind the index
                                     // of arming?
      const auto& v = drivers[cqn];
      const auto& c = w.cqs.at(cqn);
      const size_t unread = static_cast<uint16_t>(c.written - v.from);
      for (size_t i = c.counted.size() - unread; i < c.counted.size(); i++)
        if (!v.solicited_only || c.counted[i]) return true;
      return false;
    };
    auto look = [&] {
      w.see();
      for (const auto& e : w.events) {
        if (e.kind != EqeType::kCompletion) continue;
        const auto cqn = static_cast<uint16_t>(e.object);
        EXPECT_TRUE(drivers[cqn].armed) << "an event that nobody armed for, CQ " << cqn;
        EXPECT_TRUE(news(cqn)) << "an event without a completion, CQ " << cqn;
        drivers[cqn].armed = false;
      }
      w.events.clear();
    };
    for (unsigned step = 0; step < 6000; step++) {
      const auto cqn = static_cast<uint16_t>(rng.below(8));
      auto& c = w.cqs.at(cqn);
      auto& v = drivers[cqn];
      const bool full = static_cast<uint16_t>(c.asked - told[cqn]) >= c.size();
      if (!full && rng.percent(60))
        w.complete(cqn, rng.percent(20),
                   rng.percent(10) ? WcStatus::kWrFlushErr : WcStatus::kSuccess);
      if (!v.armed && rng.percent(30)) {
        v = {.armed = true, .solicited_only = rng.percent(50), .from = c.written};
        w.doorbell(cqn, c.written, true, v.solicited_only);
      } else if (rng.percent(30)) {
        const auto unread = static_cast<uint16_t>(c.written - c.consumer);
        w.doorbell(cqn, static_cast<uint16_t>(c.consumer + rng.below(unread + 1U)));
      }
      if (rng.percent(15)) {
        w.doorbells_taken();
        for (const auto& [n, q] : w.cqs) told[n] = q.consumer;
      }
      if (rng.percent(5)) w.eq_doorbell(0);
      if (rng.percent(5)) w.eq_doorbell(1);
      if (rng.percent(2)) d.qp_async.put({.qpn = static_cast<uint16_t>(rng.below(8))});
      if (rng.percent(2)) d.conn_async.put({.connection = static_cast<uint16_t>(rng.below(8))});
      for (uint64_t i = rng.below(12); i != 0; i--) d.advance();
      look();
      if (testing::Test::HasFailure()) return;
    }
    for (unsigned i = 0; i < 8; i++) {
      w.settle();
      look();
      w.eq_doorbell(0);
      w.eq_doorbell(1);
    }
    w.settle();
    look();
    for (const auto& [cqn, v] : drivers) {
      EXPECT_TRUE(w.cqs.at(cqn).expected.empty());
      EXPECT_FALSE(v.armed && news(cqn)) << "an event is missing, CQ " << cqn;
    }
    EXPECT_EQ(d.bad_doorbells, 0U);
    EXPECT_TRUE(d.cq_fault.empty());
  });
}

/// Each doorbell, command and completion is one cq_op, in its own order, refused ones too; each
/// event entry one cq_event, before it is written, in the order of the entries.
TYPED_TEST(CqTest, Commits) {
  if constexpr (TypeParam::kIsRtl) {
    this->worlds([&](auto& w, Pace) {
      auto& d = this->dut;
      d.settle();
      d.cq_op.take_all(), d.cq_event.take_all();
      w.events.clear();
      std::deque<uint16_t> doorbells, commands, completions;  // their CQs
      std::deque<uint16_t> qpns;
      uint64_t events = 0, due = 0;
      auto look = [&] {
        for (const auto& c : d.cq_op.take_all()) {
          auto next = [&c](std::deque<uint16_t>& expected) {
            ASSERT_FALSE(expected.empty()) << c.describe();
            EXPECT_EQ(c.cqn, expected.front());
            expected.pop_front();
          };
          if (c.op == 0) next(doorbells);
          if (c.op == 1) next(commands);
          if (c.op == 2) {
            next(completions);
            EXPECT_EQ(c.qpn, qpns.front());
            qpns.pop_front();
          } else {
            EXPECT_EQ(c.qpn, 0);
          }
          due += c.op == 3;
        }
        w.see();
        const auto seen = std::exchange(w.events, {});
        for (const auto& e : seen) {
          ASSERT_FALSE(d.cq_event.items().empty()) << "an event entry without its commit";
          const auto c = d.cq_event.items().front();
          d.cq_event.items().pop_front();
          EXPECT_EQ(c.kind, static_cast<uint8_t>(e.kind));
          EXPECT_EQ(c.object, e.object);
          events++;
        }
        EXPECT_LE(d.cq_event.items().size(), 1U);
      };
      for (uint16_t cqn = 0; cqn < 6; cqn++) {
        commands.push_back(cqn);
        w.create_cq(cqn, {.log = 12});
      }
      for (unsigned i = 0; i < 400; i++) {
        const auto cqn = static_cast<uint16_t>(w.rng().below(6));
        switch (w.rng().below(5)) {
          case 0:
            doorbells.push_back(cqn);
            w.doorbell(cqn, w.rng().percent(30) ? w.cqs.at(cqn).written : w.cqs.at(cqn).consumer,
                       true, w.rng().percent(30));
            break;
          case 1:
            doorbells.push_back(cqn);  // refused
            d.cq_doorbell.put({.cqn = cqn, .page = 0x55, .index = 3});
            break;
          case 2:
            commands.push_back(cqn);
            if (w.rng().percent(50))
              w.query(cqn);
            else
              w.modify_cq(cqn, 0);
            break;
          default:
            w.complete(cqn, w.rng().percent(20));
            completions.push_back(cqn);
            qpns.push_back(static_cast<uint16_t>(w.cqs.at(cqn).expected.back().qpn));
            break;
        }
        if (w.rng().percent(5)) d.qp_async.put({.qpn = cqn});
        if (w.rng().percent(5)) d.conn_async.put({.connection = cqn});
        for (uint64_t n = w.rng().below(20); n != 0; n--) d.advance();
        look();
        if (w.rng().percent(10)) w.eq_doorbell(0);
      }
      for (unsigned i = 0; i < 3; i++) {
        w.settle();
        look();
        w.eq_doorbell(0);
      }
      EXPECT_TRUE(doorbells.empty() && commands.empty() && completions.empty());
      EXPECT_TRUE(d.cq_event.items().empty());
      EXPECT_GT(events, 10U);
      EXPECT_GT(due, 5U);
    });
  }
}

TYPED_TEST(CqTest, LatencyAndThroughput) {
  if constexpr (TypeParam::kIsRtl) {
    auto& d = this->dut;
    d.restart({});
    CqWorld<TypeParam> w(d, test_rng());
    w.create_cq(1, {.log = 10});
    auto cycles =
        [&](unsigned n) {  // from the transfer of the first request to that of the n-th entry
          d.cycles(50);
          for (unsigned i = 0; i < n; i++) w.complete(1);
          do d.cycle();
          while (!d.cqe_req.taken());
          const auto from = d.now();
          EXPECT_TRUE(d.run_until([&] { return d.cq_wr.size() == n; }));
          const auto to = d.now();
          w.settle();
          return to - from;
        };
    EXPECT_EQ(cycles(1), 3U);
    EXPECT_EQ(cycles(100), 201U);  // one every two cycles
  }
}

}  // namespace
}  // namespace rnic::tb

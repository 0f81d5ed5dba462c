// cq's events: arming and its races, the writes to event queues, and what cq discards when a CQ is
// destroyed.
//
// A doorbell of a CQ has the consumer's index. The doorbell may arm the CQ: cq then writes one
// event entry to the CQ's EQ as soon as the CQ has an entry at or after that index. A CQ that is
// armed for solicited completions waits for a solicited entry or an error. An event that finds no
// room in its EQ stays pending. Errors of QPs and CQs, and changes of connections, are events of EQ
// 0.
//
// cq_world.hpp plays qp (complete), the driver (arm, doorbell, eq_doorbell) and the host's memory,
// and checks each write. create_cq and create_eq take the log2 of the number of entries.
#include <algorithm>
#include <set>

#include "cq/cq_suite.hpp"

namespace rnic::tb {
namespace {

using spec::AdminOpcode;
using spec::AdminStatus;
using spec::EqeType;
using spec::WcStatus;

template <class D>
class CqEventTest : public CqTest<D> {};
TYPED_TEST_SUITE(CqEventTest, CqDuts);

/// RTL only: what depends on cycles.
template <class D>
class CqEventRtlTest : public CqTest<D> {};
TYPED_TEST_SUITE(CqEventRtlTest, CqRtlDuts);

TYPED_TEST(CqEventTest, ArmingGivesOneEvent) {
  this->worlds([&](auto& w, Pace) {
    w.create_eq(1, 6, 0);
    w.create_cq(2, {.log = 5, .eqn = 1});
    const Events one = {this->completion(2, 1)};
    // Armed, then one completion, then more.
    w.arm(2);
    this->expect_silence(w);
    EXPECT_EQ(w.query(2).armed, 1);
    for (unsigned i = 0; i < 4; i++) w.complete(2);
    EXPECT_EQ(w.take_events(), one);
    EXPECT_EQ(w.query(2).armed, 0);
    // Arming with unread completions: the event comes at once.
    w.doorbell(2, 2, true);
    EXPECT_EQ(w.take_events(), one);
    EXPECT_EQ(w.query(2), (spec::AdminCqResult{.producer = 4, .consumer = 2}));
    // No longer armed.
    w.complete(2);
    this->expect_silence(w);
    // A doorbell without arm neither arms nor disarms.
    w.doorbell(2, 5);
    w.complete(2);
    this->expect_silence(w);
    w.arm(2);
    w.doorbell(2, 6);
    this->expect_silence(w);
    w.complete(2);
    EXPECT_EQ(w.take_events(), one);
    // The doorbell's index leaves only the last entry unread.
    w.arm(2);
    this->expect_silence(w);
    // Armed again while armed: still one event.
    w.arm(2);
    w.doorbells_taken();
    w.complete(2);
    EXPECT_EQ(w.take_events(), one);
    EXPECT_EQ(this->dut.bad_doorbells, 0U);
  });
}

TYPED_TEST(CqEventTest, SolicitedOnly) {
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
      // Five entries follow `from`. The third and the fourth are solicited or errors.
      w.doorbell(2, static_cast<uint16_t>(from + 2), true, true);
      EXPECT_EQ(w.take_events(), one);
      w.doorbell(2, static_cast<uint16_t>(from + 3), true, true);
      EXPECT_EQ(w.take_events(), one);
      w.doorbell(2, static_cast<uint16_t>(from + 4), true, true);
      this->expect_silence(w);
      w.doorbell(2, static_cast<uint16_t>(from + 4), true,
                 false);  // armed for any completion, and one is unread
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

/// As in InfiniBand (Request Completion Notification): a CQ that is armed for any completion stays
/// so, even if a later doorbell arms it for solicited ones.
TYPED_TEST(CqEventTest, AnArmingForAnyIsNotTakenBack) {
  this->worlds([&](auto& w, Pace) {
    w.create_cq(2, {.log = 4});
    const Events one = {this->completion(2)};
    w.arm(2, false);
    w.arm(2, true);
    w.doorbells_taken();  // cq has both before the completion comes
    w.complete(2);
    EXPECT_EQ(w.take_events(), one);
    w.doorbell(2, w.cqs.at(2).written, true, true);  // the next arming has its own kind
    w.complete(2);
    this->expect_silence(w);
    w.complete(2, true);
    EXPECT_EQ(w.take_events(), one);
  });
}

TYPED_TEST(CqEventTest, ArmingForSolicitedTwiceIsForSolicited) {
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

TYPED_TEST(CqEventTest, ArmingRacesWithCompletions) {
  this->worlds([&](auto& w, Pace) {
    w.create_cq(1, {.log = 6});
    w.create_cq(6, {.log = 6});
    for (unsigned i = 0; i < 150; i++) {
      // Doorbell and completion at the same time, in either order: one event, written only after
      // the entry that it announces.
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
      EXPECT_EQ(w.take_events(400), (Events{this->completion(1)})) << i;
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

// A solicited completion that the driver has consumed causes no event later, even when the 16-bit
// index reaches its value again.
TYPED_TEST(CqEventTest, AnOldSolicitedCompletionStaysConsumed) {
  this->dut.restart({});
  CqWorld<TypeParam> w(this->dut, test_rng());
  w.create_eq(0, 2, 1);
  w.create_cq(1, {.log = 5});
  w.complete(1, true);
  w.settle();
  w.doorbell(1, 1);
  // 65528 more completions, 8 at a time, and then 16: the index passes 1 again.
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

// More events than fit in the EQs stay pending, once each, and are written when the driver frees
// entries.
TYPED_TEST(CqEventTest, AFullEqKeepsEverything) {
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
      for (unsigned i = 0; i < 3; i++) w.complete(cqn);  // the third overruns the CQ of 2 entries
      expected.insert(this->completion(cqn, c.setup.eqn));
      expected.insert({EqeType::kCqError, cqn, 0});
    }
    for (const auto& e : w.take_events()) got.insert(e);
    EXPECT_EQ(got.size(), 5U) << "four entries of EQ 0, one of EQ 1";
    for (unsigned i = 0; i < 5; i++) {  // pending events are not duplicated
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
    everything();  // all again, now that every event has been reported
    std::multiset<EventSeen> again;
    for (unsigned round = 0; round < 3; round++) {
      w.eq_doorbell(0);
      const auto more = w.take_events();
      again.insert(more.begin(), more.end());
    }
    EXPECT_EQ(again.size(), 6U);
  });
}

TYPED_TEST(CqEventTest, AnAbsentEqKeepsEverything) {
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
    // An index that the EQ has not reached and an EQ out of range are ignored.
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

TYPED_TEST(CqEventTest, ModifyMovesACqWithItsPendingEvent) {
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

/// A doorbell makes an event of CQ 2 due while cq_wr stalls, after n writes for CQ 1. A destroy_cq
/// of CQ 2 may overtake the event. After the response to destroy_cq no such event may be written.
TYPED_TEST(CqEventTest, ADueEventGoesWithItsCq) {
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
      w.cqs.erase(2);  // see() now refuses an event of CQ 2
      w.settle();
      ASSERT_FALSE(testing::Test::HasFailure()) << n << " completions before them";
      w.doorbell(1, w.cqs.at(1).written);
      w.eq_doorbell(1);
      w.doorbells_taken();
    }
  });
}

/// cq alternates between accepting new events and writing pending ones, so a stream of new events
/// does not stop the writes. RTL only: for the model, CqModelDut::step() chooses.
TYPED_TEST(CqEventRtlTest, EventsAreWrittenWhileMoreOfThemCome) {
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

// A CQ number may be reused while an event of the old CQ is due: the new CQ gets no event.
TYPED_TEST(CqEventTest, ADueEventIsNotOneOfTheNextCqOfItsNumber) {
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

// An error of CQ 2 waits in cq's list of pending events, because EQ 0 does not exist. The CQ is
// destroyed, and the next CQ of that number also has an error. The list must hold the number once.
// Events of all other objects are also in the list, so that one pass over it takes long.
TYPED_TEST(CqEventTest, ForgottenErrorsTakeNoSecondPlace) {
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
  // Completion and error of 7 CQs, the error of CQ 2, one event of each QP and connection.
  EXPECT_EQ(events.size(), 2 * 7 + 1U + qps + conns);
  EXPECT_EQ(std::count(events.begin(), events.end(), (EventSeen{EqeType::kCqError, 2, 0})), 1);
}

// A consumer index for an EQ that does not exist is ignored.
TYPED_TEST(CqEventTest, AnEqNumberOutOfRangeIsIgnored) {
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

}  // namespace
}  // namespace rnic::tb

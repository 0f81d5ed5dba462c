// cq: entries and phases, overrun, doorbells, commands. Events: cq_event_test.cpp.
//
// cq_world.hpp plays qp (complete), the driver (doorbell, arm) and the host's memory, and checks
// each entry that cq writes. In it, c.asked counts the completions of a CQ that were put, c.written
// the entries found in its ring. `log` is the log2 of the number of entries.
#include <algorithm>
#include <set>

#include "cq/cq_suite.hpp"

namespace rnic::tb {
namespace {

using spec::AdminOpcode;
using spec::AdminStatus;
using spec::EqeType;
using spec::WcStatus;

TYPED_TEST_SUITE(CqTest, CqDuts);

/// RTL only: what depends on cycles, and the commit tap.
template <class D>
class CqRtlTest : public CqTest<D> {};
TYPED_TEST_SUITE(CqRtlTest, CqRtlDuts);

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
    this->expect_silence(w);  // no CQ is armed
    for (auto& [cqn, c] : w.cqs) {
      EXPECT_TRUE(c.expected.empty());
      const auto q = w.query(cqn);
      EXPECT_EQ(q, (spec::AdminCqResult{.producer = c.written, .consumer = c.consumer}));
    }
    EXPECT_EQ(this->dut.bad_doorbells, 0U);
    EXPECT_TRUE(this->dut.cq_fault.empty());
  });
}

TYPED_TEST(CqRtlTest, TimestampsCountCycles) {
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
      w.complete(3);  // more than the ring holds: none is written
      w.complete(4);
      w.settle();
      w.doorbell(4, w.cqs.at(4).written);
      w.doorbells_taken();
    }
    EXPECT_EQ(w.take_events(), (Events{{EqeType::kCqError, 3, 0}}));
    EXPECT_EQ(w.cqs.at(3).written, 4);
    EXPECT_EQ(w.cqs.at(3).expected.size(), 5U);
    EXPECT_EQ(w.cqs.at(4).written, 5);
    ASSERT_EQ(this->dut.cq_fault.size(), 1U);
    EXPECT_EQ(this->dut.cq_fault.take().cqn, 3);
    // A doorbell that frees entries does not repair an overrun CQ.
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
    // A new CQ of the same number works.
    w.destroy_cq(3);
    w.create_cq(3, {.log = 1, .eqn = 1});
    EXPECT_EQ(w.query(3), spec::AdminCqResult{});
    w.complete(3);
    w.settle();
    EXPECT_EQ(w.cqs.at(3).written, 1);
  });
}

/// cq executes a command after the completions that qp gave before the command, however many are
/// queued at cq's input. cq responds after those completions are written. Therefore admin's
/// response to destroy_qp is the last message that the driver gets about a QP. tb/model tests the
/// same of the model.
TYPED_TEST(CqRtlTest, ACommandStaysBehindTheCompletionsBeforeIt) {
  this->worlds([&](auto& w, Pace p) {
    auto& d = this->dut;
    w.create_cq(1, {.log = 8});
    d.cqe_req.idle(0);  // qp offers each completion at once
    uint16_t asked = 0;
    bool full = false;
    for (unsigned n = 0; n <= w.sizes().fifo_depth + 12 && !testing::Test::HasFailure(); n++) {
      SCOPED_TRACE(testing::Message() << n << " completions before the command");
      d.cq_wr.stall(100);
      for (unsigned i = 0; i < n; i++) w.complete(1);
      d.cycles(100 + 4 * n);
      full = full || d.cqe_req.size() > 2;
      const auto before = d.cq_wr.moved();
      d.cq_cmd.put({.opcode = AdminOpcode::kQueryCq, .object = 1});
      d.cycles(60);
      EXPECT_EQ(d.cq_cmd_rsp.empty(), n != 0) << "it is answered before they have left";
      d.cq_wr.stall(p.stall);
      const auto rsp = d.cq_cmd_rsp.take();
      asked = static_cast<uint16_t>(asked + n);
      EXPECT_EQ(d.cq_wr.moved() - before, n);
      EXPECT_EQ(spec::AdminCqResult::unpack(rsp.result).producer, asked);
      w.settle();
      w.doorbell(1, asked);
      w.doorbells_taken();
    }
    EXPECT_TRUE(full) << "cq's queue was never full";
  });
}

/// qp has given completions (cqe_given_i) that a stage between qp and cq still holds: cqe_req is
/// not valid. A later command waits for them.
TYPED_TEST(CqRtlTest, ACommandWaitsForCompletionsThatHaveNotArrived) {
  this->worlds([&](auto& w, Pace p) {
    auto& d = this->dut;
    w.create_cq(1, {.log = 8});
    uint16_t asked = 0;
    for (unsigned n = 1; n < 9; n++) {
      SCOPED_TRACE(testing::Message() << n << " completions before the command");
      d.cqe_req.idle(100);
      for (unsigned i = 0; i < n; i++) w.complete(1);
      asked = static_cast<uint16_t>(asked + n);
      d.cycles(n);
      d.cq_cmd.put({.opcode = AdminOpcode::kQueryCq, .object = 1});
      d.cycles(100);
      EXPECT_TRUE(d.cq_cmd_rsp.empty());
      for (unsigned i = 0; i < 5; i++) w.complete(1);  // after the command: it need not wait
      d.cqe_req.idle(80);
      const auto rsp = d.cq_cmd_rsp.take();
      EXPECT_GE(spec::AdminCqResult::unpack(rsp.result).producer, asked);
      d.cqe_req.idle(p.idle);
      asked = static_cast<uint16_t>(asked + 5);
      w.settle();
      w.doorbell(1, asked);
      w.doorbells_taken();
    }
  });
}

/// host_if has accepted doorbells that a stage between host_if and cq holds. A completion that
/// arrives meanwhile sees the ring as those doorbells leave it. Completions do not wait for later
/// doorbells.
TYPED_TEST(CqRtlTest, ACompletionWaitsForDoorbellsThatHaveNotArrived) {
  this->worlds([&](auto& w, Pace p) {
    auto& d = this->dut;
    w.create_cq(1, {.log = 1});
    w.create_cq(2, {.log = 12});
    for (unsigned n = 0; n < 9; n++) {
      SCOPED_TRACE(testing::Message() << n << " doorbells of others before it");
      w.complete(1);
      w.complete(1);
      w.settle();
      d.cq_doorbell.idle(100);
      for (unsigned i = 0; i < n; i++) w.doorbell(2, w.cqs.at(2).written);
      w.doorbell(1, w.cqs.at(1).written);  // frees both entries
      d.cycles(n + 2);
      w.complete(1);
      w.complete(1);
      d.cycles(100);
      EXPECT_TRUE(d.cq_wr.empty());
      const auto later = d.cq_wr.moved();
      for (unsigned i = 0; i < 400; i++) w.doorbell(2, w.cqs.at(2).written);
      d.cq_doorbell.idle(80);
      ASSERT_TRUE(d.run_until([&] { return d.cq_wr.moved() == later + 2; }));
      EXPECT_GT(d.cq_doorbell.size(), 100U) << "completions wait for doorbells given after them";
      d.cq_doorbell.idle(p.idle);
      w.settle();
      EXPECT_TRUE(d.cq_fault.empty());
      w.doorbell(1, w.cqs.at(1).written);
      w.doorbells_taken();
    }
    EXPECT_EQ(d.bad_doorbells, 0U);
  });
}

TYPED_TEST(CqTest, IndicesWrapAtSixteenBits) {
  this->dut.restart({});
  CqWorld<TypeParam> w(this->dut, test_rng());
  w.create_eq(0, 2, 1);
  w.create_cq(1, {.log = 4});
  const unsigned total = 2 * 65536 + 304;  // passes the wrap twice
  for (unsigned done = 0; done < total; done += 8) {
    const unsigned near = done % 65536;
    // Close to the wrap, and now and then, the test arms before the eight completions.
    const bool look = near < 64 || near > 65536 - 64 || done % 2048 == 0;
    if (look) {  // solicited completions from before the wrap must cause no event
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

TYPED_TEST(CqTest, LargestRing) {
  this->dut.restart({});
  CqWorld<TypeParam> w(this->dut, test_rng());
  w.create_eq(0, 4, 1);
  w.create_cq(1, {.log = 15});
  for (unsigned pass = 0; pass < 3; pass++) {
    for (unsigned i = 0; i < 32767; i++) w.complete(1);
    w.complete(1, true);  // only the last one counts, and the ring is full
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
                (Events{this->completion(1, 1), this->completion(1, 1)}));  // EQ 1 is full
      // A destroy with an event pending and entries in flight.
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
          // RTL only: admin refuses commands for an absent CQ, and the model's cq relies on it
          EXPECT_EQ(w.command(opcode, 2).status, AdminStatus::kNotFound);
        }
      w.eq_doorbell(1);
      w.create_cq(2, {.log = 2, .eqn = 1});
      EXPECT_EQ(w.query(2), spec::AdminCqResult{});
      this->expect_silence(w);  // the event of the destroyed CQ of this number never comes
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

/// qp stalls all faults: every CQ of one user overruns, and the CQ of another user goes on.
TYPED_TEST(CqTest, OverrunsNeverStallTheCompletionsOfOthers) {
  each_pace([&](Pace p) {
    auto& d = this->dut;
    d.restart(p);
    CqWorld<TypeParam> w(d, test_rng());
    const auto last = static_cast<uint16_t>(w.sizes().num_cqs - 1);
    for (uint16_t cqn = 0; cqn < last; cqn++) w.create_cq(cqn, {.log = 1});
    w.create_cq(last, {.log = 10});
    d.cq_fault.stall(100);
    for (unsigned i = 0; i < 3; i++) {
      for (uint16_t cqn = 0; cqn < last; cqn++) {
        w.complete(cqn);
        if (cqn % 4 == 0) w.complete(last);
      }
    }
    w.settle();
    EXPECT_TRUE(w.cqs.at(last).expected.empty()) << "completions wait for faults of others";
    EXPECT_TRUE(!TypeParam::kIsRtl || d.cq_fault.empty());
    d.cq_fault.stall(p.stall);
    w.settle();
    std::set<uint16_t> reported;
    for (const auto& f : d.cq_fault.take_all()) EXPECT_TRUE(reported.insert(f.cqn).second) << f.cqn;
    EXPECT_EQ(reported.size(), last);
  });
}

/// A CQ is destroyed while its fault waits for qp. A new CQ of the same number overruns again: qp
/// gets one fault, that of the new CQ. The faults of the other CQs all come. RTL only: the model
/// reports a fault at once.
TYPED_TEST(CqRtlTest, AFaultThatWaitsEndsWithItsCq) {
  each_pace([&](Pace p) {
    auto& d = this->dut;
    d.restart(p);
    CqWorld<TypeParam> w(d, test_rng());
    auto overrun = [&](uint16_t cqn) {
      w.create_cq(cqn, {.log = 1});
      for (unsigned i = 0; i < 3; i++) w.complete(cqn);
      w.settle();
    };
    auto faults = [&] {
      d.cq_fault.stall(p.stall);
      w.settle();
      std::multiset<uint16_t> seen;
      for (const auto& f : d.cq_fault.take_all()) seen.insert(f.cqn);
      return seen;
    };
    d.cq_fault.stall(100);
    for (uint16_t cqn = 0; cqn < 6; cqn++) overrun(cqn);  // the first fault waits at the port
    w.destroy_cq(3);
    w.destroy_cq(4);
    w.create_cq(3, {.log = 2});
    EXPECT_EQ(faults(), (std::multiset<uint16_t>{0, 1, 2, 5}));
    EXPECT_EQ(w.query(3), spec::AdminCqResult{});
    d.cq_fault.stall(100);
    overrun(6);
    w.destroy_cq(5);
    overrun(5);
    w.destroy_cq(5);
    overrun(5);  // the list holds its number once
    overrun(4);
    EXPECT_EQ(faults(), (std::multiset<uint16_t>{4, 5, 6}));
  });
}

/// qp accepts faults late: cq reports each CQ once.
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
    this->expect_silence(w);  // EQ 0 does not exist yet
    EXPECT_EQ(d.cq_fault.size(), 2U);
    w.destroy_cq(2);
    w.create_cq(2, {.log = 1, .eqn = 1});
    w.create_eq(0, 3, 1);
    EXPECT_EQ(w.take_events(), (Events{{EqeType::kCqError, 1, 0}}));
    for (unsigned i = 0; i < 3; i++) w.complete(2);
    EXPECT_EQ(w.take_events(), (Events{{EqeType::kCqError, 2, 0}}));
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
    // Another page; an index beyond the producer or before the consumer; a CQ that does not exist.
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
        w.doorbell(cqn, i, true, i == 2);  // most of them trigger an event at once
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

/// A driver frees the entries of a full CQ and posts to a QP in error. The flush completion comes
/// about 15 cycles after the doorbell; the test tries gaps of 0 to 19.
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
      for (uint16_t n = 0; n < 7; n++) w.doorbell(n, 0, true);  // each triggers an event
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

/// Drivers that read, arm when the ring is empty, and wait for events. Several CQs share two EQs.
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
        told;  // consumer indices that cq has for certain: a doorbell may race with a completion
    for (uint16_t cqn = 0; cqn < 8; cqn++) {
      w.create_cq(cqn, {.log = static_cast<unsigned>(rng.between(1, 5)), .eqn = cqn & 1U});
      drivers[cqn] = {};
    }
    // Returns whether an event is due: from the arming index on, the ring has a completion of the
    // kind that the CQ is armed for.
    auto news = [&](uint16_t cqn) {
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

/// Each doorbell, command and completion, also a refused one, is one cq_op, in the order of its
/// kind. Each event entry is one cq_event, reported before it is written, in the order of the
/// entries.
TYPED_TEST(CqRtlTest, Commits) {
  this->worlds([&](auto& w, Pace) {
    auto& d = this->dut;
    d.settle();
    d.cq_op.take_all(), d.cq_event.take_all();
    w.events.clear();
    std::deque<uint16_t> doorbells, commands, completions;  // the CQs of each kind of operation
    std::deque<uint16_t> qpns;
    uint64_t events = 0, due = 0;
    auto look = [&] {
      // cq_op: 0 doorbell, 1 command, 2 completion, 3 an event that was due
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

TYPED_TEST(CqRtlTest, LatencyAndThroughput) {
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
  EXPECT_EQ(cycles(1), 3U);      // the latency in the header of cq.sv
  EXPECT_EQ(cycles(100), 201U);  // 3, then 99 more, one every two cycles
}

}  // namespace
}  // namespace rnic::tb

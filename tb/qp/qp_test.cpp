// qp: doorbells, fetch, issue, retirement, receives, states, errors, flush; then random traffic
// with random ends. Neighbours and reference: qp_world.hpp.
//
// `w` plays the user and all neighbours of qp. A test creates and starts a QP, posts WQEs, rings:
//   w.create(n, log2 of the SQ's units, log2 of the RQ's, send CQ = 1, recv CQ = 2);  w.to_rts(n);
//   w.post(n, w.make(opcode, lengths of the SGEs, flags), is pushed);  w.ring(n);
// Flags of a WQE: 1 fence, 2 signaled (the default), 4 solicited, 8 inline. hold_done(true): no
// issued WQE is done until finish(n, its index). event(): llp_if reports kPeerClosed, kClosed,
// kLost or kTermDone. error(n, cause, sends a Terminate): rdmap's qp_error. ctl(): the orders of
// qp, as "QPN unit operation".
#include <cstdio>
#include <set>

#include "VQp.h"
#include "VQpMin.h"
#include "VQpMin_rnic_stall_pkg.h"
#include "qp/qp_model.hpp"
#include "qp/qp_world.hpp"

namespace rnic::tb {
namespace {

using spec::AdminOpcode;
using spec::AdminStatus;
using spec::Cause;
using spec::DoorbellKind;
using spec::LlpQpEvt;
using spec::QpState;
using spec::WcStatus;
using spec::WrOpcode;

template <class D>
class QpTest : public testing::Test {
 protected:
  D dut;
  base::Rng rng{test_seed()};

  /// A world with one running QP (or `running` of them), at every pace.
  template <class F>
  void worlds(F body, unsigned running = 1, unsigned latency = 40) {
    each_pace([&](Pace p) {
      dut.restart(p);
      QpWorld<D> w(dut, rng.fork("world"), latency);
      for (unsigned n = 0; n < running; n++) {
        w.create(n, 4, 3);
        w.to_rts(n);
      }
      w.ctl().clear();
      body(w);
    });
  }
  static spec::Sizes sizes() { return D::kMinimum ? spec::Sizes::minimum() : spec::Sizes{}; }
  static bool ended(QpWorld<D>& w, unsigned n) { return w.wait_state(n, QpState::kError); }
};

using Duts =
    testing::Types<QpDut<VQp, false>, QpDut<VQpMin, true>, QpModelDut<false>, QpModelDut<true>>;
TYPED_TEST_SUITE(QpTest, Duts);

/// RTL only: what depends on cycles, and the walk for the QPs of a CQ, which the model finishes at
/// once.
template <class D>
class QpRtlTest : public QpTest<D> {};
using RtlDuts = testing::Types<QpDut<VQp, false>, QpDut<VQpMin, true>>;
TYPED_TEST_SUITE(QpRtlTest, RtlDuts);

TYPED_TEST(QpTest, AWriteIsIssuedAndCompleted) {
  this->worlds([&](auto& w) {
    w.post(0, w.make(WrOpcode::kRdmaWrite, {64}));
    w.ring(0);
    ASSERT_TRUE(w.run([&] { return w.qp(0).sq_cqes.size() == 1; }));
    EXPECT_EQ(w.query(0).sq_retired, 1);
    EXPECT_EQ(this->dut.bad_doorbells, 0U);
  });
}

TYPED_TEST(QpTest, EveryShapeOfWqeWrapsAroundTheRing) {
  this->worlds([&](auto& w) {
    std::vector<Wr> wrs;
    for (uint32_t n : {0, 1, 15, 31, 32, 33, 63, 64, 65, 95, 96, 97, 128, 159, 160, 161, 223, 224})
      wrs.push_back(w.make(n % 2 != 0 ? WrOpcode::kSend : WrOpcode::kRdmaWrite, {n}, 2 | 8 | 4));
    for (unsigned sges = 0; sges <= 14; sges++) {
      std::vector<uint32_t> lengths;
      for (unsigned i = 0; i < sges; i++) lengths.push_back(i % 3 == 1 ? 0 : 1 + 1000 * i);
      if (sges == 14) std::reverse(lengths.begin(), lengths.end());
      wrs.push_back(w.make(WrOpcode::kSend, lengths));
    }
    wrs.push_back(w.make(WrOpcode::kRdmaRead, {}));
    wrs.push_back(w.make(WrOpcode::kRdmaRead, {77}));
    wrs.push_back(w.make(WrOpcode::kRdmaWrite, {0x7fffffff, 1}));
    wrs.push_back(w.make(WrOpcode::kRdmaWrite, {5}, 2, 3));  // more units than needed
    for (auto& wr : wrs) {
      ASSERT_TRUE(w.run([&] { return w.sq_room(0) >= 4; }));
      w.post(0, wr);
      w.ring(0);
    }
    ASSERT_TRUE(w.run([&] { return w.qp(0).sq_cqes.size() == wrs.size(); }));
    EXPECT_TRUE(w.faults().empty());
  });
}

// Exactly as many Reads are outstanding as agreed. Each completed Read lets the next one be issued.
// R5040-6.1-05, 07.
TYPED_TEST(QpTest, AsManyReadsAsAgreedAreOut) {
  this->worlds([&](auto& w) {
    const unsigned most = std::min<unsigned>(32, this->sizes().sq_window);
    unsigned n = 0;
    for (const unsigned ord : {1U, 2U, 5U, most}) {
      SCOPED_TRACE(ord);
      n++;
      w.create(n, 6, 3);
      w.qp(n).ord = ord;
      w.to_rts(n);
      w.hold_done(true);
      for (unsigned i = 0; i < ord + 2; i++) w.post(n, w.make(WrOpcode::kRdmaRead, {100}));
      w.ring(n);
      ASSERT_TRUE(w.run([&] { return w.qp(n).issued == ord; })) << w.qp(n).issued;
      w.wait(300);
      EXPECT_EQ(w.qp(n).issued, ord);
      w.finish(n, 0);
      ASSERT_TRUE(w.run([&] { return w.qp(n).issued == ord + 1; }));
      w.wait(300);
      EXPECT_EQ(w.qp(n).issued, ord + 1);
      w.hold_done(false);
      ASSERT_TRUE(w.run([&] { return w.idle(n); }));
    }
  });
}

TYPED_TEST(QpTest, PushedWqesAreNotFetched) {
  this->worlds([&](auto& w) {
    for (int i = 0; i < 30; i++) {
      w.post(0, w.make(WrOpcode::kSend, {static_cast<uint32_t>(i * 3)}, 2 | 8), true);
      ASSERT_TRUE(w.run([&] { return w.idle(0); }));
    }
    EXPECT_EQ(w.sq_reads(), 0U);
    // A pushed WQE cannot pass one that is only announced: its copy is dropped, and qp fetches
    // both.
    w.post(0, w.make(WrOpcode::kSend, {1}, 2 | 8));
    w.post(0, w.make(WrOpcode::kSend, {2}, 2 | 8), true);
    ASSERT_TRUE(w.run([&] { return w.idle(0); }));
    EXPECT_GE(w.sq_reads(), 1U);
    w.wait(200);
    EXPECT_EQ(w.qp(0).sq_cqes.size(), 32U);
  });
}

TYPED_TEST(QpTest, BadDoorbellsAreCountedAndIgnored) {
  this->worlds([&](auto& w) {
    auto& d = this->dut;
    auto bad = [&](spec::QpDoorbell b) { d.qp_doorbell.put(b); };
    auto page = w.doorbell(0, DoorbellKind::kSq, 1);
    page.page = 7;
    bad(page);
    bad(w.doorbell(1, DoorbellKind::kSq, 1));  // QP 1 does not exist
    auto far = w.doorbell(0, DoorbellKind::kSq, 1);
    far.qpn = 0xffff;
    bad(far);
    bad(w.doorbell(0, DoorbellKind::kSq, 17));  // more than the ring holds
    bad(w.doorbell(0, DoorbellKind::kRq, 9));
    bad(w.doorbell(0, DoorbellKind::kSq, 0xffff));  // goes back
    w.wait(150);
    EXPECT_EQ(d.bad_doorbells, 6U);
    EXPECT_EQ(w.sq_reads(), 0U);
    for (int i = 0; i < 16; i++) w.post(0, w.make(WrOpcode::kRdmaWrite, {8}));
    w.ring(0);
    // goes back to a WQE that is not done
    bad(w.doorbell(0, DoorbellKind::kSq, 8));
    d.qp_doorbell.put(w.doorbell(0, DoorbellKind::kSq, 16));  // repeated: no effect
    ASSERT_TRUE(w.run([&] { return w.qp(0).sq_cqes.size() == 16; }));
    bad(w.doorbell(0, DoorbellKind::kSq, 15));
    w.wait(100);
    EXPECT_EQ(d.bad_doorbells, 8U);
    EXPECT_EQ(w.qp(0).issued, 16U);
  });
}

TYPED_TEST(QpTest, AMalformedWqeEndsTheQp) {
  struct Case {
    const char* name;
    std::function<void(spec::SqWqe&)> spoil;
    WrOpcode op = WrOpcode::kSend;
  };
  // Each spoils a good WQE of one unit with one SGE of 24 bytes. Opcodes (spec::WrOpcode): 1
  // Immediate Data that ends a Write (it must be inline), 7 local invalidation, 8 bind, 14 Flush.
  // Flag 8: inline.
  const std::vector<Case> cases = {
      {"opcode", [](auto& h) { h.opcode = 1; }},
      {"opcode 255", [](auto& h) { h.opcode = 255; }},
      {"units 0", [](auto& h) { h.units = 0; }},
      {"units 5", [](auto& h) { h.units = 5; }},
      {"units do not hold the SGEs", [](auto& h) { h.num_sge = 3; }},
      {"num_sge 15",
       [](auto& h) {
         h.num_sge = 15;
         h.units = 4;
       }},
      {"length", [](auto& h) { h.length++; }},
      {"length over 2^31", [](auto& h) { h.length = 0x80000001; }},
      {"flag", [](auto& h) { h.flags |= 0x10; }},
      {"reserved", [](auto& h) { h.reserved2 = 1; }},
      {"inline beyond its unit",
       [](auto& h) {
         h.flags |= 8;
         h.length = 33;
       }},
      {"inline over 224",
       [](auto& h) {
         h.flags |= 8;
         h.length = 225;
         h.units = 4;
       }},
      {"disposition of a Send", [](auto& h) { h.disposition = 1; }},
      {"Flush that is not enabled",
       [](auto& h) {
         h.opcode = 14;
         h.num_sge = 0;
         h.disposition = 1;
       }},
      {"local invalidation with a length", [](auto& h) { h.opcode = 7, h.num_sge = 0; }},
      {"local invalidation with an SGE", [](auto& h) { h.opcode = 7, h.length = 0; }},
      {"local invalidation inline",
       [](auto& h) { h.opcode = 7, h.num_sge = 0, h.length = 0, h.flags |= 8; }},
      {"bind that is not inline", [](auto& h) { h.opcode = 8, h.num_sge = 0, h.length = 32; }},
      {"bind of 24 bytes", [](auto& h) { h.opcode = 8, h.num_sge = 0, h.flags |= 8; }},
      {"bind of 33 bytes",
       [](auto& h) { h.opcode = 8, h.num_sge = 0, h.length = 33, h.flags |= 8, h.units = 2; }},
      {"bind with an SGE", [](auto& h) { h.opcode = 8, h.length = 32, h.flags |= 8; }},
      {"bind with a disposition",
       [](auto& h) {
         h.opcode = 8, h.num_sge = 0, h.length = 32, h.flags |= 8, h.disposition = 1;
       }},
      {"Read inline", [](auto& h) { h.flags |= 8; }, WrOpcode::kRdmaRead},
      {"Read with 2 SGEs", [](auto& h) { h.num_sge = 2; }, WrOpcode::kRdmaRead},
      {"Read, length", [](auto& h) { h.length--; }, WrOpcode::kRdmaRead},
  };
  this->worlds([&](auto& w) {
    for (const auto& c : cases) {
      SCOPED_TRACE(c.name);
      if (w.qp(0).exists) {
        w.qp(0).exists = false;
        w.qp(0).stopped = true;
        if (w.query(0).state != QpState::kError) {
          ASSERT_EQ(w.modify(0, QpState::kError), AdminStatus::kOk);
        }
        ASSERT_EQ(w.command(AdminOpcode::kDestroyQp, 0).status, AdminStatus::kOk);
      }
      w.create(0, 4, 3);
      w.to_rts(0);
      w.asyncs().clear();
      w.faults().clear();
      w.post(0, w.make(WrOpcode::kSend, {10}));
      Wr bad = w.make(c.op, {24});
      c.spoil(bad.hdr);
      if (bad.hdr.units > 4) bad.hdr.units = 5;
      w.post(0, bad);
      while (w.qp(0).sq_prod < 10) w.post(0, w.make(WrOpcode::kSend, {10}));
      w.post_recv(0, 3);
      w.ring(0);
      ASSERT_TRUE(this->ended(w, 0));
      ASSERT_TRUE(w.run([&] { return w.asyncs().size() == 1; }));
      ASSERT_EQ(w.faults().size(), 1U);
      EXPECT_EQ(w.faults()[0].cause, Cause::kLocalCatastrophic);
      w.expect_all_reported(0);
      bool found = false;
      for (auto& e : w.qp(0).sq_cqes) found |= e.status == WcStatus::kLocQpOpErr && e.index == 1;
      EXPECT_TRUE(found);
      EXPECT_EQ(w.query(0).cause, Cause::kLocalCatastrophic);
    }
  });
}

// A bind is a request to our own tpt: a fence waits for it, and so does the WQE after it. It takes
// no ddp slot and no ORD entry.
TYPED_TEST(QpTest, TheWqeBehindABindWaitsForAllRequests) {
  this->worlds([&](auto& w) {
    w.create(1, 5, 3);
    w.qp(1).ord = 1;
    w.to_rts(1);
    w.hold_done(true);
    const auto stays = [&](size_t issued) {
      ASSERT_TRUE(w.run([&] { return w.qp(1).issued == issued; })) << w.qp(1).issued;
      w.wait(300);
      EXPECT_EQ(w.qp(1).issued, issued);
    };
    constexpr uint8_t kInline = 2 | 8;
    w.post(1, w.make(WrOpcode::kRdmaRead, {100}));
    w.post(1, w.make(WrOpcode::kBindMw, {32}, kInline));  // does not wait for the Read before it
    w.post(1, w.make(WrOpcode::kSend, {10}));
    w.post(1, w.make(WrOpcode::kBindMw, {32}, kInline | 1));
    w.post(1, w.make(WrOpcode::kBindMw, {32}, kInline));
    w.post(1, w.make(WrOpcode::kRdmaRead, {100}));
    w.post(1, w.make(WrOpcode::kSend, {10}, kInline));
    w.ring(1);
    stays(2);
    w.finish(1, 1);
    stays(2);  // the Read is a request too
    w.finish(1, 0);
    stays(4);  // the Send, and the bind, whose fence finds no request outstanding
    w.finish(1, 2);
    stays(4);
    w.finish(1, 3);
    stays(5);
    w.finish(1, 4);
    stays(7);
    w.hold_done(false);
    ASSERT_TRUE(w.run([&] { return w.qp(1).sq_cqes.size() == 7; }));
    w.expect_all_reported(1);
    // Pushed binds, among pushed Sends.
    for (unsigned i = 0; i < 12; i++) {
      w.post(1, w.make(i % 3 == 0 ? WrOpcode::kBindMw : WrOpcode::kSend, {32}, kInline), true);
      if (i % 4 == 3) {
        ASSERT_TRUE(w.run([&] { return w.idle(1); }));
      }
    }
    ASSERT_TRUE(w.run([&] { return w.qp(1).sq_cqes.size() == 19; }));
    EXPECT_TRUE(w.faults().empty());
  });
}

TYPED_TEST(QpTest, ARefusedBindEndsTheQpWithItsStatus) {
  this->worlds([&](auto& w) {
    w.hold_done(true);
    for (unsigned i = 0; i < 4; i++) {
      w.post(0, w.make(i == 1 ? WrOpcode::kBindMw : WrOpcode::kSend, {32}, 2 | 8));
    }
    w.ring(0);
    ASSERT_TRUE(w.run([&] { return w.qp(0).issued == 2; }));
    w.fail_bind(0, 1);
    ASSERT_TRUE(this->ended(w, 0));
    w.expect_all_reported(0);
    auto& c = w.qp(0).sq_cqes;
    ASSERT_EQ(c.size(), 3U);
    EXPECT_EQ(c[0].status, WcStatus::kWrFlushErr);
    EXPECT_EQ(c[1].status, WcStatus::kMwBindErr);
    EXPECT_EQ(c[1].index, 1);
    EXPECT_EQ(c[1].opcode, spec::WcOpcode::kBindMw);
    EXPECT_EQ(c[2].status, WcStatus::kWrFlushErr);
    EXPECT_EQ(w.qp(0).issued, 2U);
  });
}

TYPED_TEST(QpTest, ABadKeyOrAFailedFetchEndsTheQpInOrder) {
  this->worlds(
      [&](auto& w) {
        for (bool key : {true, false}) {
          SCOPED_TRACE(key ? "key" : "fetch");
          const unsigned n = key ? 0 : 1;
          w.post(n, w.make(WrOpcode::kSend, {10}));
          w.ring(n);
          ASSERT_TRUE(w.run([&] { return w.qp(n).sq_cqes.size() == 1; }));
          if (key) {
            w.hold_done(true);
            w.post(n, w.make(WrOpcode::kSend, {10}));  // issued, not done when the fault comes
            Wr wr = w.make(WrOpcode::kSend, {10, 0, 20, 30});
            w.set_key(wr, 2, kBadKey);
            w.post(n, wr);
          } else {
            w.fail_next_sq_read();
            w.post(n, w.make(WrOpcode::kSend, {10}));
          }
          w.post(n, w.make(WrOpcode::kSend, {10}));
          w.ring(n);
          ASSERT_TRUE(this->ended(w, n));
          w.hold_done(false);
          w.expect_all_reported(n);
          auto& c = w.qp(n).sq_cqes;
          ASSERT_EQ(c.size(), key ? 4U : 3U);
          if (key) {
            EXPECT_EQ(c[1].status, WcStatus::kWrFlushErr);
          }
          EXPECT_EQ(c[c.size() - 2].status, key ? WcStatus::kLocProtErr : WcStatus::kFatalErr);
          EXPECT_EQ(c[c.size() - 2].index, key ? 2 : 1);
          EXPECT_EQ(c.back().status, WcStatus::kWrFlushErr);
        }
      },
      2);
}

TYPED_TEST(QpTest, TheRequestThatThePeerNamesGetsItsStatus) {
  this->worlds([&](auto& w) {
    w.hold_done(true);
    const unsigned count = std::min(4U, 4U * this->sizes().sq_slots);
    for (unsigned i = 0; i < count; i++) w.post(0, w.make(WrOpcode::kRdmaRead, {100}));
    w.ring(0);
    ASSERT_TRUE(w.run([&] { return w.qp(0).issued == count; }));
    w.post_recv(0, 2);
    w.error(0, Cause::kPeerTerminate, false, 2, WcStatus::kRemAccessErr);
    ASSERT_TRUE(this->ended(w, 0));
    auto& c = w.qp(0).sq_cqes;
    ASSERT_EQ(c.size(), 3U);
    EXPECT_EQ(c[0].status, WcStatus::kWrFlushErr);
    EXPECT_EQ(c[0].index, 2);
    EXPECT_EQ(c[1].status, WcStatus::kRemAccessErr);
    EXPECT_EQ(c[1].opcode, spec::WcOpcode::kRdmaRead);
    EXPECT_EQ(c[2].status, WcStatus::kWrFlushErr);
    EXPECT_EQ(c[2].index, count);
    EXPECT_EQ(w.qp(0).rq_cqes.size(), 1U);
    const std::vector<std::string> want = {"0 rdmap stop", "0 llp abort", "0 ddp stop",
                                           "0 mpa stop"};
    EXPECT_EQ(w.ctl(), want);
    EXPECT_EQ(w.query(0).cause, Cause::kPeerTerminate);
  });
}

TYPED_TEST(QpTest, ATerminateLeavesBeforeTheStop) {
  this->worlds([&](auto& w) {
    auto& d = this->dut;
    spec::QpError e;
    e.cause = Cause::kDdpUntaggedMsn;
    e.sends_term = 1;
    w.qp(0).faulted = true;
    d.qp_error.put(e);
    w.wait(300);
    EXPECT_TRUE(w.ctl().empty());
    EXPECT_EQ(w.query(0).state, QpState::kTerminate);
    EXPECT_EQ(w.command(AdminOpcode::kDestroyQp, 0).status, AdminStatus::kInUse);
    w.event(0, LlpQpEvt::kTermDone);
    ASSERT_TRUE(this->ended(w, 0));
    const std::vector<std::string> want = {"0 rdmap stop", "0 llp stop", "0 ddp stop",
                                           "0 mpa stop"};
    EXPECT_EQ(w.ctl(), want);
    EXPECT_EQ(w.asyncs().size(), 1U);
  });
}

// llp_if may report that the Terminate is sent before qp handles rdmap's error.
TYPED_TEST(QpTest, ATerminateThatHasLeftIsNotWaitedFor) {
  this->worlds([&](auto& w) {
    w.event(0, LlpQpEvt::kTermDone);
    w.wait(100);
    EXPECT_TRUE(w.ctl().empty());
    spec::QpError e;
    e.cause = Cause::kDdpUntaggedMsn;
    e.sends_term = 1;
    w.qp(0).faulted = true;
    this->dut.qp_error.put(e);
    ASSERT_TRUE(this->ended(w, 0));
    EXPECT_TRUE(w.said("0 llp stop"));
  });
}

TYPED_TEST(QpTest, AGracefulCloseWaitsForTheSends) {
  this->worlds([&](auto& w) {
    w.hold_done(true);
    for (int i = 0; i < 3; i++) w.post(0, w.make(WrOpcode::kSend, {10}, 0));
    w.ring(0);
    ASSERT_TRUE(w.run([&] { return w.qp(0).issued >= 1; }));
    ASSERT_EQ(w.modify(0, QpState::kClosing), AdminStatus::kOk);
    EXPECT_EQ(w.modify(0, QpState::kClosing), AdminStatus::kBadState);
    w.wait(300);
    EXPECT_TRUE(w.ctl().empty());
    w.hold_done(false);
    ASSERT_TRUE(w.run([&] { return !w.ctl().empty(); }));
    EXPECT_TRUE(w.idle(0));
    EXPECT_EQ(w.query(0).state, QpState::kClosing);
    ASSERT_TRUE(w.run([&] { return w.said("0 llp half_close"); }));
    w.post_recv(0, 2);
    w.event(0, LlpQpEvt::kPeerClosed);
    w.event(0, LlpQpEvt::kClosed);
    ASSERT_TRUE(this->ended(w, 0));
    const std::vector<std::string> want = {
        "0 rdmap half_close", "0 ddp sync", "0 mpa sync", "0 llp half_close", "0 mpa sync",
        "0 ddp sync",         "0 llp stop", "0 mpa stop", "0 ddp stop",       "0 rdmap stop"};
    EXPECT_EQ(w.ctl(), want);
    EXPECT_EQ(w.query(0).cause, Cause::kNone);
    ASSERT_TRUE(w.run([&] { return !w.asyncs().empty(); }));
    w.wait(20);
    EXPECT_EQ(w.asyncs().size(), 1U);
    w.expect_all_reported(0);
    EXPECT_EQ(w.qp(0).rq_cqes.size(), 1U);
  });
}

// The FIN (llp half_close) waits until rdmap has answered the peer's Reads. Meanwhile everything
// else goes on, and any event that ends a QP also ends this one.
TYPED_TEST(QpTest, AGracefulCloseWaitsForTheResponder) {
  enum class End { kGraceful, kPeerFirst, kLost, kDriver, kTerminate, kReadBehindTheFin };
  for (const End end : {End::kGraceful, End::kPeerFirst, End::kLost, End::kDriver, End::kTerminate,
                        End::kReadBehindTheFin}) {
    SCOPED_TRACE(static_cast<int>(end));
    this->worlds(
        [&](auto& w) {
          w.hold_responder(true);
          w.post(0, w.make(WrOpcode::kSend, {10}));
          w.ring(0);
          ASSERT_TRUE(w.run([&] { return w.qp(0).sq_cqes.size() == 1; }));
          if (end == End::kPeerFirst)
            w.event(0, LlpQpEvt::kPeerClosed);
          else
            ASSERT_EQ(w.modify(0, QpState::kClosing), AdminStatus::kOk);
          ASSERT_TRUE(w.run([&] { return w.said("0 rdmap half_close"); }));
          w.post(0, w.make(WrOpcode::kSend, {10}));  // posted after the close: flushed at the end
          w.ring(0);
          w.post_recv(0, 2);
          w.wait(300);
          EXPECT_EQ(w.query(0).state, QpState::kClosing);
          EXPECT_EQ(w.qp(0).issued, 1U);
          EXPECT_FALSE(w.said("0 llp half_close"));
          w.post(1, w.make(WrOpcode::kSend, {10}));
          w.ring(1);
          ASSERT_TRUE(w.run([&] { return w.qp(1).sq_cqes.size() == 1; }));
          ASSERT_EQ(w.modify(1, QpState::kError),
                    AdminStatus::kOk);  // the stop of another QP does not wait for this one
          // The responder ends, and the FIN is sent.
          const bool goes_out =
              end == End::kGraceful || end == End::kPeerFirst || end == End::kReadBehindTheFin;
          if (goes_out) {
            w.hold_responder(false);
            ASSERT_TRUE(w.run([&] { return w.said("0 llp half_close"); }));
            w.wait(100);
          }
          w.ctl().clear();
          std::vector<std::string> want = {"0 rdmap stop", "0 llp abort", "0 ddp stop",
                                           "0 mpa stop"};
          switch (end) {
            case End::kLost:
              w.event(0, LlpQpEvt::kLost);
              want.insert(want.begin(), {"0 mpa sync", "0 ddp sync"});
              break;
            case End::kDriver:
              EXPECT_EQ(w.modify(0, QpState::kError), AdminStatus::kOk);
              break;
            case End::kTerminate:
              w.error(0, Cause::kDdpTaggedBounds, true);
              want[1] = "0 llp stop";
              break;
            case End::kReadBehindTheFin:
              w.error(0, Cause::kLlpLost, false);
              break;
            default:
              w.event(0, LlpQpEvt::kClosed);
              want = {"0 mpa sync", "0 ddp sync", "0 llp stop",
                      "0 mpa stop", "0 ddp stop", "0 rdmap stop"};
          }
          ASSERT_TRUE(this->ended(w, 0));
          EXPECT_EQ(w.ctl(), want);
          w.wait(100);
          w.expect_all_reported(0);
          EXPECT_EQ(w.qp(0).sq_cqes.size(), 2U);
          EXPECT_EQ(w.qp(0).rq_cqes.size(), 1U);
        },
        2);
  }
}

// A completion that qp accepts before it handles the peer's close or an end counts, however many
// completions are ahead of it in the queue of qp_retire. A completion that qp has not accepted
// delays the event or acknowledgement of the reporting unit (tb/llp_if, tb/ddp).
TYPED_TEST(QpTest, WhatStandsBeforeTheDoorCountsBeforeTheEnd) {
  for (const bool close : {true, false}) {
    SCOPED_TRACE(close ? "peer_closed" : "qp_error");
    for (const unsigned before : {0U, 1U, 2U, 4U, 8U, 15U}) {
      if (TypeParam::kMinimum && before > 8) continue;
      SCOPED_TRACE(before);
      this->worlds(
          [&](auto& w) {
            auto& d = this->dut;
            d.wr_done.idle(0);  // offers each completion at once
            d.rx_done.idle(0);
            w.hold_done(true);
            w.post(0, w.make(WrOpcode::kSend, {10}));
            w.post(0, w.make(WrOpcode::kRdmaRead, {10}));
            w.ring(0);
            for (unsigned i = 0; i < before; i++) w.post(1, w.make(WrOpcode::kSend, {10}));
            if (before != 0) w.ring(1);
            w.post(2, w.make(WrOpcode::kRdmaRead, {10}));
            w.ring(2);
            ASSERT_TRUE(w.run([&] {
              return w.qp(0).issued == 2 && w.qp(1).issued == before && w.qp(2).issued == 1;
            }));
            d.cqe_req.stall(100);
            for (unsigned i = 0; i < before; i++) w.finish(1, i);
            w.finish(0, 0);
            w.finish(2, 0);
            w.finish(0, 1);
            if (close)
              w.event(0, LlpQpEvt::kPeerClosed);
            else
              w.error(0, Cause::kPeerTerminate, false);
            w.wait(400);
            d.cqe_req.stall(0);
            if (close) {
              ASSERT_TRUE(w.run([&] { return w.said("0 llp half_close") || !w.faults().empty(); }));
              EXPECT_TRUE(w.faults().empty()) << "a clean close was taken for a loss";
              w.event(0, LlpQpEvt::kClosed);
            }
            ASSERT_TRUE(this->ended(w, 0));
            ASSERT_EQ(w.qp(0).sq_cqes.size(), 2U);
            for (auto& e : w.qp(0).sq_cqes) EXPECT_EQ(e.status, WcStatus::kSuccess);
            w.wait(100);
            w.expect_all_reported(0);
          },
          3);
    }
  }
}

// After the peer's FIN no response to a Read can arrive. A Read posted then is no error of the
// requester: it is flushed.
TYPED_TEST(QpTest, AReadBehindThePeersFinIsFlushed) {
  for (const bool good : {true, false}) {
    this->worlds([&](auto& w) {
      w.hold_done(true);
      w.post(0, w.make(WrOpcode::kSend, {10}));
      w.ring(0);
      ASSERT_TRUE(w.run([&] { return w.qp(0).issued == 1; }));
      ASSERT_EQ(w.modify(0, QpState::kClosing), AdminStatus::kOk);
      w.event(0, LlpQpEvt::kPeerClosed);
      w.wait(300);
      EXPECT_TRUE(w.faults().empty());
      Wr read = w.make(WrOpcode::kRdmaRead, {10});
      if (!good) read.hdr.num_sge = 2;
      w.post(0, read);
      w.post(0, w.make(WrOpcode::kSend, {10}));
      w.ring(0);
      ASSERT_TRUE(this->ended(w, 0));
      ASSERT_EQ(w.faults().size(), 1U);
      EXPECT_EQ(w.faults()[0].cause, good ? Cause::kLlpLost : Cause::kLocalCatastrophic);
      EXPECT_EQ(w.query(0).cause, good ? Cause::kLlpLost : Cause::kLocalCatastrophic);
      w.wait(100);
      w.expect_all_reported(0);
      EXPECT_EQ(w.qp(0).issued, 1U);
      for (auto& e : w.qp(0).sq_cqes)
        EXPECT_TRUE(e.status == WcStatus::kWrFlushErr ||
                    (!good && e.status == WcStatus::kLocQpOpErr));
      EXPECT_EQ(w.qp(0).sq_cqes.size(), good ? 1U : 3U);
    });
  }
}

// The peer's Terminate may still be in mpa or ddp when the peer's reset comes. qp reports the
// Terminate, since it says more than the reset.
TYPED_TEST(QpTest, ALossIsReportedBehindWhatHasComeBefore) {
  this->worlds([&](auto& w) {
    w.event(0, LlpQpEvt::kLost);
    ASSERT_TRUE(w.run([&] { return w.said("0 ddp sync"); }));
    EXPECT_TRUE(w.faults().empty());
    ASSERT_TRUE(this->ended(w, 0));
    EXPECT_EQ(w.faults().size(), 1U);
    const std::vector<std::string> want = {"0 mpa sync",  "0 ddp sync", "0 rdmap stop",
                                           "0 llp abort", "0 ddp stop", "0 mpa stop"};
    EXPECT_EQ(w.ctl(), want);
  });
}

TYPED_TEST(QpTest, ThePeersCloseIsAnsweredOrFatal) {
  this->worlds(
      [&](auto& w) {
        w.event(0, LlpQpEvt::kPeerClosed);
        ASSERT_TRUE(w.run([&] { return w.said("0 llp half_close"); }));
        const std::vector<std::string> want = {"0 mpa sync", "0 ddp sync", "0 rdmap half_close",
                                               "0 ddp sync", "0 mpa sync", "0 llp half_close"};
        EXPECT_EQ(w.ctl(), want);
        w.event(0, LlpQpEvt::kClosed);
        ASSERT_TRUE(this->ended(w, 0));
        EXPECT_TRUE(w.faults().empty());

        w.hold_done(true);
        w.post(1, w.make(WrOpcode::kRdmaRead, {10}));
        w.ring(1);
        ASSERT_TRUE(w.run([&] { return w.qp(1).issued == 1; }));
        w.event(1, LlpQpEvt::kPeerClosed);
        ASSERT_TRUE(this->ended(w, 1));
        ASSERT_EQ(w.faults().size(), 1U);
        EXPECT_EQ(w.faults()[0].cause, Cause::kLlpLost);
        w.expect_all_reported(1);
      },
      2);
}

// The peer's close is fatal also while our own close waits for a Read: the peer no longer answers
// the Read.
TYPED_TEST(QpTest, ThePeersCloseWithAReadOutstandingIsFatal) {
  this->worlds([&](auto& w) {
    w.hold_done(true);
    w.post(0, w.make(WrOpcode::kRdmaRead, {10}));
    w.ring(0);
    ASSERT_TRUE(w.run([&] { return w.qp(0).issued == 1; }));
    ASSERT_EQ(w.modify(0, QpState::kClosing), AdminStatus::kOk);
    w.wait(100);
    EXPECT_TRUE(w.ctl().empty());
    w.event(0, LlpQpEvt::kPeerClosed);
    ASSERT_TRUE(this->ended(w, 0));
    ASSERT_EQ(w.faults().size(), 1U);
    EXPECT_EQ(w.faults()[0].cause, Cause::kLlpLost);
    w.expect_all_reported(0);
  });
}

TYPED_TEST(QpTest, TheDriverAbortsAndPostsAreFlushed) {
  this->worlds([&](auto& w) {
    w.hold_done(true);
    for (int i = 0; i < 2; i++) w.post(0, w.make(WrOpcode::kSend, {10}));
    w.ring(0);
    w.post_recv(0, 3);
    w.wait(100);
    // the response comes when the abort is done
    ASSERT_EQ(w.modify(0, QpState::kError), AdminStatus::kOk);
    const auto after = w.query(0);
    EXPECT_EQ(after.state, QpState::kError);
    EXPECT_EQ(after.drained, 1);
    EXPECT_EQ(after.sq_retired, 2);
    EXPECT_EQ(after.rq_retired, 3);
    const std::vector<std::string> want = {"0 rdmap stop", "0 llp abort", "0 ddp stop",
                                           "0 mpa stop"};
    EXPECT_EQ(w.ctl(), want);
    w.wait(100);
    w.expect_all_reported(0);
    EXPECT_TRUE(w.asyncs().empty());
    for (int i = 0; i < 3; i++) {  // WQEs posted later are also flushed, each on its queue
      w.post(0, w.make(WrOpcode::kSend, {10}), i == 1);
      if (i != 1) w.ring(0);
      ASSERT_TRUE(w.run([&] { return w.qp(0).reported == w.qp(0).posted.size(); }));
      w.post_recv(0, 1);
      ASSERT_TRUE(w.run([&] { return w.qp(0).rq_reported == w.qp(0).rq_prod; }));
    }
    const size_t entries = w.qp(0).sq_cqes.size();
    w.ring(0);  // nothing new
    w.wait(200);
    EXPECT_EQ(w.qp(0).sq_cqes.size(), entries);
    // An idle QP: flush only.
    w.create(1, 3, 3);
    w.ctl().clear();
    w.post_recv(1, 2);
    w.wait(50);
    ASSERT_EQ(w.modify(1, QpState::kError), AdminStatus::kOk);
    ASSERT_TRUE(w.run([&] { return w.qp(1).rq_cqes.size() == 1; }));
    EXPECT_TRUE(w.ctl().empty());
    w.qp(1).exists = false;
    EXPECT_EQ(w.command(AdminOpcode::kDestroyQp, 1).status, AdminStatus::kOk);
    EXPECT_EQ(w.command(AdminOpcode::kQueryQp, 1).status, AdminStatus::kNotFound);
  });
}

// Statuses of commands that qp refuses; then the order in which it starts the units.
TYPED_TEST(QpTest, CommandsAreJudged) {
  this->worlds([&](auto& w) {
    EXPECT_EQ(w.command(AdminOpcode::kQueryQp, this->sizes().num_qps).status,
              AdminStatus::kBadObject);
    EXPECT_EQ(w.command(AdminOpcode::kQueryQp, 5).status, AdminStatus::kNotFound);
    EXPECT_EQ(w.command(AdminOpcode::kDestroyQp, 0).status, AdminStatus::kInUse);
    EXPECT_EQ(w.modify(0, QpState::kRts), AdminStatus::kBadState);
    EXPECT_EQ(w.modify(0, QpState::kIdle), AdminStatus::kBadArgument);
    spec::AdminQpArgs a;
    const auto words = a.to_words();
    EXPECT_EQ(w.command(AdminOpcode::kCreateQp, 0, words.data()).status, AdminStatus::kExists);
    w.create(3, 2, 2);
    auto r = w.query(3);
    EXPECT_EQ(r.state, QpState::kIdle);
    EXPECT_EQ(r.drained, 1);
    EXPECT_EQ(w.modify(3, QpState::kClosing), AdminStatus::kBadState);
    w.to_rts(3);
    const std::vector<std::string> want = {"3 mpa start", "3 ddp start", "3 rdmap start",
                                           "3 llp start"};
    EXPECT_EQ(w.ctl(), want);
    EXPECT_EQ(w.query(3).drained, 0);
  });
}

TYPED_TEST(QpTest, ReceivesAreTakenInOrder) {
  this->worlds([&](auto& w) {
    w.receive(0, false);
    w.wait(50);
    for (int round = 0; round < 6; round++) {
      w.post_recv(0, 5);
      w.wait(30);
      for (int i = 0; i < 5; i++) w.receive(0);
      w.receive(0, false);
      ASSERT_TRUE(w.run([&] { return w.qp(0).rq_reported == w.qp(0).rq_prod; }));
    }
    EXPECT_EQ(w.qp(0).rq_cqes.size(), 30U);
    for (auto& e : w.qp(0).rq_cqes) {
      EXPECT_EQ(e.byte_len, e.index * 3U);
      EXPECT_EQ(e.solicited, e.index & 1);
    }
    EXPECT_EQ(w.query(0).rq_retired, 30);
  });
}

// host_if discards the half pushes of a QP before its destroy_qp is answered, and of no other QP.
TYPED_TEST(QpTest, ADestroyedQpLeavesNoHalfOfAPush) {
  this->worlds([&](auto& w) {
    auto& d = this->dut;
    for (unsigned n = 1; n < 3; n++) w.create(n, 3, 3);
    EXPECT_EQ(w.command(AdminOpcode::kDestroyQp, 0).status, AdminStatus::kInUse);
    EXPECT_EQ(w.modify(1, QpState::kError), AdminStatus::kOk);
    w.wait(100);
    EXPECT_TRUE(w.purges().empty());
    d.qp_purge.stall(100);
    d.qp_cmd.put({AdminOpcode::kDestroyQp, 2, {}});
    w.wait(500);
    if constexpr (TypeParam::kIsRtl) {
      EXPECT_TRUE(d.qp_cmd_rsp.empty()) << "answered before it is purged";
    }
    d.qp_purge.stall(0);
    ASSERT_TRUE(w.run([&] { return !d.qp_cmd_rsp.empty() && !w.purges().empty(); }));
    EXPECT_EQ(d.qp_cmd_rsp.take().status, AdminStatus::kOk);
    EXPECT_EQ(w.command(AdminOpcode::kDestroyQp, 1).status, AdminStatus::kOk);
    EXPECT_EQ(w.command(AdminOpcode::kDestroyQp, 1).status, AdminStatus::kNotFound);
    w.wait(100);
    EXPECT_EQ(w.purges(), (std::vector<unsigned>{2, 1}));
  });
}

// A fetch that is requested but not sent when the QP is destroyed must not read its ring.
TYPED_TEST(QpTest, ADestroyedQpReadsNothing) {
  this->worlds([&](auto& w) {
    auto& d = this->dut;
    d.rq_rd_req.stall(100);
    for (unsigned n = 1; n <= 4; n++) {
      w.create(n, 3, 3);
      w.post_recv(n, 1);
      w.wait(40);
    }
    d.qp_cmd.put({AdminOpcode::kDestroyQp, 4, {}});
    w.wait(200);
    d.rq_rd_req.stall(0);
    ASSERT_TRUE(w.run([&] { return !d.qp_cmd_rsp.empty(); }));
    EXPECT_EQ(d.qp_cmd_rsp.take().status, AdminStatus::kOk);
    w.wait(300);
    EXPECT_EQ(w.qp(4).rq_reads, 0U);
    EXPECT_EQ(w.qp(3).rq_reads, 1U);
    // A doorbell in state error shortly before destroy_qp, at each distance up to 40 cycles: the
    // flush entry of its WQE is right, or absent.
    for (unsigned gap = 0; gap < 40; gap++) {
      if (gap != 0) {
        w.create(0, 4, 3);
        w.to_rts(0);
      }
      for (int i = 0; i < 3; i++) w.post(0, w.make(WrOpcode::kSend, {10}));
      w.ring(0);
      ASSERT_TRUE(w.run([&] { return w.idle(0) && w.qp(0).sq_cqes.size() == 3; }));
      w.wait(60);
      ASSERT_EQ(w.modify(0, QpState::kError), AdminStatus::kOk);
      w.post(0, w.make(WrOpcode::kSend, {10}));
      w.ring(0);
      w.wait(gap);
      ASSERT_EQ(w.command(AdminOpcode::kDestroyQp, 0).status, AdminStatus::kOk);
      w.wait(50);
    }
  });
}

TYPED_TEST(QpTest, AnOverrunCqFailsItsQps) {
  this->worlds([&](auto& w) {
    w.create(2, 3, 3, 7, 7);  // the last two arguments: send CQ and receive CQ
    w.create(3, 3, 3, 1, 7);
    w.create(4, 3, 3, 4, 5);
    w.to_rts(2);
    w.to_rts(4);  // 3 stays idle
    this->dut.cq_fault.put({7});
    ASSERT_TRUE(this->ended(w, 2));
    ASSERT_TRUE(this->ended(w, 3));
    ASSERT_EQ(w.faults().size(), 1U);
    EXPECT_EQ(w.faults()[0].qpn, 2);
    EXPECT_EQ(w.faults()[0].cause, Cause::kLocalCatastrophic);
    EXPECT_EQ(w.query(0).state, QpState::kRts);
    EXPECT_EQ(w.query(4).state, QpState::kRts);
  });
}

// After an overrun qp walks over all QPs to find those of the CQ. Overruns that come together share
// one walk, so no cq_fault waits for a walk. An overrun that comes during a walk also fails those
// of its QPs that the walk has already passed.
TYPED_TEST(QpRtlTest, OverrunsThatComeTogetherWaitForNoWalk) {
  this->worlds([&](auto& w) {
    this->dut.cq_fault.idle(0);
    for (unsigned n = 3; n < 8; n++)
      w.create(n, 3, 3, static_cast<uint16_t>(n), n == 7 ? 1 : static_cast<uint16_t>(n));
    for (unsigned n = 3; n < 7; n++) w.to_rts(n);
    for (const unsigned cqn : {6u, 3u, 5u}) {
      this->dut.cq_fault.put({static_cast<uint16_t>(cqn)});
      ASSERT_TRUE(w.run([&] { return this->dut.cq_fault.empty(); }, 4));
      w.wait(this->rng.below(this->sizes().num_qps / 2));
    }
    for (const unsigned n : {6u, 3u, 5u}) ASSERT_TRUE(this->ended(w, n));
    for (const unsigned n : {0u, 4u}) EXPECT_EQ(w.query(n).state, QpState::kRts);
    EXPECT_EQ(w.query(7).state, QpState::kIdle);
    std::set<uint16_t> failed;  // rdmap takes the first fault of a QP and ignores later ones
    for (const auto& f : w.faults()) failed.insert(f.qpn);
    EXPECT_EQ(failed, (std::set<uint16_t>{3, 5, 6}));
  });
}

// Three CQs overrun at once, and the walk for their QPs takes time. Meanwhile the last CQ is
// destroyed and created again with a new QP.
TYPED_TEST(QpRtlTest, ANewQpHasNothingOfAnEarlierCqsOverrun) {
  this->worlds([&](auto& w) {
    this->dut.cq_fault.idle(0);  // the CQs overrun before the QP is created
    for (const uint16_t cqn : {uint16_t{5}, uint16_t{6}, uint16_t{7}})
      this->dut.cq_fault.put({cqn});
    w.create(4, 3, 3, 7, 7);
    w.to_rts(4);
    ASSERT_TRUE(w.run([&] { return this->dut.cq_fault.empty(); }));
    w.wait(2 * this->sizes().num_qps);
    EXPECT_EQ(w.query(4).state, QpState::kRts);
    EXPECT_TRUE(w.faults().empty());
    EXPECT_TRUE(w.asyncs().empty());
  });
}

// All QPs of an overrunning CQ have ended: their events have no effect, but qp visits each QP.
// Meanwhile one QP is destroyed, and its number is reused.
TYPED_TEST(QpTest, ANewQpHasNothingOfItsNumbersEarlierEvents) {
  this->worlds([&](auto& w) {
    const unsigned last = std::min(64U, w.kQps) - 1;
    for (unsigned n = 1; n <= last; n++) {
      w.create(n, 3, 3, 7, 7);
      ASSERT_EQ(w.modify(n, QpState::kError), AdminStatus::kOk);
    }
    this->dut.cq_fault.put({7});
    ASSERT_TRUE(w.run([&] { return this->dut.cq_fault.empty(); }));
    w.wait(last + 10);  // the walk has found them, including the last one
    ASSERT_EQ(w.command(AdminOpcode::kDestroyQp, last).status, AdminStatus::kOk);
    w.create(last, 3, 3, 1, 2);
    w.wait(2 * this->sizes().num_qps + 1000);
    EXPECT_EQ(w.query(last).state, QpState::kIdle);
    EXPECT_TRUE(w.asyncs().empty());
  });
}

// More send queues always want units than the request queue has entries, and the host is slow. The
// end of another QP waits only for the requests before its own.
TYPED_TEST(QpTest, FetchesOfOthersDoNotHoldUpAnEnd) {
  this->dut.restart({});
  QpWorld<TypeParam> w(this->dut, this->rng.fork("world"), 40);
  for (unsigned n = 0; n < w.kQps; n++) {
    w.create(n, 4, 2);
    w.to_rts(n);
  }
  this->dut.sq_rd_req.stall(99);
  const auto busy = [&] {  // keeps their rings full
    for (unsigned n = 1; n < w.kQps; n++) {
      if (w.sq_room(n) < 4) continue;
      while (w.sq_room(n) >= 4) w.post(n, w.make(WrOpcode::kRdmaWrite, {8}, 2, 3));
      w.ring(n);
    }
    return false;
  };
  w.run(busy, 8000);
  spec::AdminModifyArgs a;
  a.to_state = static_cast<uint8_t>(QpState::kError);
  const auto words = a.to_words();
  spec::QpCmd cmd;
  cmd.opcode = AdminOpcode::kModifyQp;
  std::memcpy(cmd.args.data(), words.data(), cmd.args.size());
  this->dut.qp_cmd.put(cmd);
  const unsigned before = w.sq_reads();
  EXPECT_TRUE(w.run([&] { return busy() || !this->dut.qp_cmd_rsp.empty(); }, 30'000));
  // The request queue of qp_sq_fetch has 4 * fifo_depth entries; some requests have passed it.
  EXPECT_LE(w.sq_reads() - before, 4 * this->sizes().fifo_depth + 6)
      << "requests that came later went first";
}

// Completions, reads, key checks, WQEs and commands are all stalled: qp still accepts doorbells and
// events.
TYPED_TEST(QpTest, NewsIsTakenWhateverIsStalled) {
  this->worlds(
      [&](auto& w) {
        auto& d = this->dut;
        d.cqe_req.stall(100);
        d.sq_rd_req.stall(100);
        d.wqe_hdr.stall(100);
        d.wqe_check.stall(100);
        d.qp_fault.stall(100);
        d.qp_ctl_rdmap.stall(100);
        d.qp_async.stall(100);
        for (unsigned n = 0; n < 4; n++) {
          for (int i = 0; i < 8; i++) w.post(n, w.make(WrOpcode::kSend, {10}), i % 2 == 0);
          w.ring(n);
          w.post_recv(n, 2);
        }
        for (unsigned n = 0; n < 3; n++)
          w.event(n, n == 0 ? LlpQpEvt::kPeerClosed : LlpQpEvt::kLost);
        spec::QpError e;
        e.qpn = 3;
        e.cause = Cause::kMpaCrc;
        w.qp(3).faulted = true;
        d.qp_error.put(e);
        d.cq_fault.put({1});
        EXPECT_TRUE(w.run(
            [&] {
              return d.qp_doorbell.empty() && d.qp_error.empty() && d.llp_event.empty() &&
                     d.cq_fault.empty();
            },
            6000));
        d.pace({0, 0});
        w.wait(500);
        for (unsigned n = 0; n < 4; n++) {
          ASSERT_TRUE(this->ended(w, n)) << n;
          w.expect_all_reported(n);
        }
      },
      4);
}

// Every posted WQE is issued in order and unchanged, with at most `window` and `slots` in flight.
// Each WQE, receive or send, is reported exactly once, in order, whatever ends the QP. Then the QP
// can be destroyed and created again.
TYPED_TEST(QpTest, RandomTrafficAndEndsReportEverythingOnce) {
  for (unsigned round = 0; round < 6; round++) {
    const Pace pace = kPaces[round % 4];
    SCOPED_TRACE(fmt::format("round {} {}", round, pace.describe()));
    this->dut.restart(pace);
    QpWorld<TypeParam> w(this->dut, this->rng.fork(fmt::format("{}", round)), round < 3 ? 20 : 300);
    auto& r = w.rng();
    constexpr unsigned kCount = 5;
    // left: WQEs to be posted. end: how the QP ends.
    //   0 our close               1 a bad key, else the driver     2 an opcode that does not exist
    //   3 the peer's close        4 a lost connection              5 an error with a Terminate
    //   6 a Terminate of the peer
    std::array<unsigned, kCount> left{}, end{};
    auto begin = [&](unsigned n) {
      w.create(n, static_cast<unsigned>(r.between(3, 5)), static_cast<unsigned>(r.between(2, 5)));
      w.qp(n).ord = static_cast<unsigned>(r.between(1, 4));
      if (r.percent(50)) w.post_recv(n, 2);
      w.to_rts(n);
      left[n] = static_cast<unsigned>(r.between(20, 120));
      end[n] = static_cast<unsigned>(r.below(7));
    };
    for (unsigned n = 0; n < kCount; n++) begin(n);
    unsigned lives = kCount + 6;
    unsigned over = 0;
    std::array<bool, kCount> closed{};
    for (unsigned step = 0; step < 30000 && over < kCount; step++) {
      const unsigned n = static_cast<unsigned>(r.below(kCount));
      w.run([&] { return true; });
      w.wait(r.below(20));
      if (this->HasFatalFailure() || this->HasNonfatalFailure()) return;
      if (closed[n]) continue;
      auto& q = w.qp(n);
      if (r.percent(30) && w.rq_room(n) > 0)
        w.post_recv(n, static_cast<unsigned>(r.between(1, w.rq_room(n))));
      if (q.rq_prod > q.rq_taken &&
          r.percent(50)) {  // a doorbell that races with a take may count or not: wait for it
        w.run([&] { return this->dut.qp_doorbell.empty(); });
        w.wait(20);
      }
      if (q.rq_prod > q.rq_taken && this->dut.qp_doorbell.empty() && !q.stopped && !q.faulted &&
          w.now() > q.rq_rung + w.longer(20)) {
        const size_t answers = q.takes.size() + 1;
        w.receive(n);
        w.run([&] { return q.takes.size() == answers; }, 3000);
      }
      for (unsigned burst = static_cast<unsigned>(r.below(4));
           burst > 0 && left[n] > 0 && w.sq_room(n) >= 4; burst--, left[n]--) {
        const bool is_inline = r.percent(40);
        auto op =
            std::array{WrOpcode::kRdmaWrite, WrOpcode::kSend, WrOpcode::kRdmaRead}[r.below(3)];
        uint8_t flags = static_cast<uint8_t>((r.percent(10) ? 1 : 0) | (r.percent(20) ? 4 : 0));
        if (r.percent(50) || w.sq_room(n) < 8 || left[n] == 1) flags |= 2;
        std::vector<uint32_t> sges;
        if (is_inline && op != WrOpcode::kRdmaRead) {
          flags |= 8;
          sges.push_back(static_cast<uint32_t>(r.percent(60) ? r.below(97) : r.below(225)));
        } else {
          const uint64_t count = op == WrOpcode::kRdmaRead ? r.below(2)
                                 : r.percent(70)           ? r.below(3)
                                                           : r.below(15);
          for (uint64_t i = 0; i < count; i++)
            sges.push_back(static_cast<uint32_t>(r.percent(20) ? 0 : r.below(100000)));
        }
        Wr wr = w.make(op, sges, flags);
        if (r.percent(10)) wr = w.make(WrOpcode::kBindMw, {32}, static_cast<uint8_t>(flags | 8));
        if (end[n] == 1 && left[n] < 10 && !wr.is_inline() && wr.hdr.num_sge > 0 && sges[0] > 0)
          w.set_key(wr, 0, kBadKey);
        if (end[n] == 2 && left[n] < 10) wr.hdr.opcode = 0x3f;  // no opcode
        w.post(n, wr, wr.hdr.units <= 2 && r.percent(50));
        if (!r.percent(60)) w.ring(n);
      }
      if (r.percent(60)) w.ring(n);
      if (left[n] != 0) continue;
      w.ring(n);
      // Ends the QP; one with a bad WQE ends by itself.
      const bool quiet = end[n] == 0 || end[n] == 3;
      if (quiet) {
        ASSERT_TRUE(w.run([&] { return w.idle(n) || q.faulted; })) << "QP " << n << " got stuck";
        w.wait(300);
        w.expect_all_reported(n);
      }
      switch (end[n]) {
        case 0:
          ASSERT_EQ(w.modify(n, QpState::kClosing), AdminStatus::kOk);
          [[fallthrough]];
        case 3:
          if (end[n] == 3) w.event(n, LlpQpEvt::kPeerClosed);
          ASSERT_TRUE(w.run([&] { return w.said(fmt::format("{} llp half_close", n)); }))
              << "QP " << n << " does not close";
          w.event(n, LlpQpEvt::kClosed);
          break;
        case 4:
          w.event(n, LlpQpEvt::kLost);
          break;
        case 5:
          w.error(n, Cause::kDdpTaggedBounds, true);
          break;
        case 6:
          w.error(n, Cause::kPeerTerminate, false);
          break;
        default:
          w.wait(1000);
          if (!q.faulted) {
            ASSERT_EQ(w.modify(n, QpState::kError), AdminStatus::kOk);
          }
          break;
      }
      ASSERT_TRUE(this->ended(w, n)) << "QP " << n << " end " << end[n];
      if (r.percent(50)) {
        w.post(n, w.make(WrOpcode::kSend, {10}));
        w.ring(n);
        w.post_recv(n, 0);
      }
      w.run([&] { return q.reported == q.posted.size() && q.rq_reported == q.rq_prod; }, 2000);
      w.wait(50);
      w.expect_all_reported(n);
      EXPECT_EQ(w.query(n).sq_retired, static_cast<uint16_t>(q.sq_prod));
      EXPECT_EQ(w.query(n).rq_retired, static_cast<uint16_t>(q.rq_prod));
      if (lives > 0) {
        lives--;
        w.wait(700);  // until the scheduled reports of the old QP are over
        w.ctl().clear();
        q.exists = false;
        ASSERT_EQ(w.command(AdminOpcode::kDestroyQp, n).status, AdminStatus::kOk);
        begin(n);
      } else {
        closed[n] = true;
        over++;
      }
    }
    EXPECT_EQ(over, kCount);
    EXPECT_EQ(this->dut.bad_doorbells, 0U);
  }
}

// 64-byte Writes of one unit, with fast neighbours: cycles from WQE to WQE. The limits are loose;
// qp_rate_test.cpp has those of the line rate.
TYPED_TEST(QpRtlTest, KeepsItsRate) {
  for (unsigned qps : {1U, 8U}) {
    this->dut.restart({0, 0});
    QpWorld<TypeParam> w(this->dut, this->rng, 0);
    for (unsigned n = 0; n < qps; n++) {
      w.create(n, 6, 3);
      w.to_rts(n);
    }
    const unsigned each = 60;
    for (unsigned n = 0; n < qps; n++) {
      for (unsigned i = 0; i < each; i++)
        w.post(n, w.make(WrOpcode::kRdmaWrite, {64}, i % 8 == 7 ? 2 : 0));
      w.ring(n);
    }
    uint64_t first = 0;
    unsigned issued = 0;
    w.run([&] {
      issued = 0;
      for (unsigned n = 0; n < qps; n++) issued += static_cast<unsigned>(w.qp(n).issued);
      if (issued > 0 && first == 0) first = w.now();
      return issued == qps * each;
    });
    ASSERT_EQ(issued, qps * each);
    const double per = static_cast<double>(w.now() - first) / (issued - 1);
    std::printf("[ rate ] %u QPs: %.1f cycles a WQE\n", qps, per);
    if (!TypeParam::kMinimum) {
      EXPECT_LE(per, qps == 1 ? 26.0 : 6.0);
    }
  }
}

// A host 300 cycles away: qp reads ahead on a ring while its buffer is drained, and reads a single
// WQE at once. At most 4 reads of a ring are in flight. A single WQE takes 300 cycles of the host
// and at most 50 of qp until it is issued. The receive posted with it is taken after at most 380.
TYPED_TEST(QpTest, RingsAreReadAhead) {
  this->dut.restart({0, 0});
  QpWorld<TypeParam> w(this->dut, this->rng.fork("world"), 0);
  w.create(0, 6, 6);
  w.to_rts(0);
  w.far_memory(300);
  const auto sizes = this->sizes();
  const auto per = [&](const char* what, unsigned count, auto done) {
    uint64_t first = 0;
    EXPECT_TRUE(w.run([&] {
      if (first == 0 && done() != 0) first = w.now();
      return done() == count;
    }));
    const double cycles = static_cast<double>(w.now() - first) / (count - 1);
    std::printf("[ rate ] 300 cycles to the host and back: %.1f cycles a %s\n", cycles, what);
    return cycles;
  };
  const unsigned count = 60;
  for (unsigned i = 0; i < count; i++) w.post(0, w.make(WrOpcode::kRdmaWrite, {64}));
  w.ring(0);
  const double send = per("send WQE", count, [&] { return w.qp(0).issued; });
  for (unsigned i = 0; i < count; i++) w.post_recv(0);  // one doorbell each
  w.wait(700);
  const unsigned reads = w.qp(0).rq_reads;
  EXPECT_LE(reads, sizes.rq_prefetch == 1 ? 1U : 8U)
      << "what is announced together is read together";
  for (unsigned i = 0; i < count; i++) w.receive(0);
  const double receive = per("receive WQE", count, [&] { return w.qp(0).takes.size(); });
  if (sizes.sq_prefetch == 32) {
    EXPECT_LE(send, 16.0);
    EXPECT_LE(w.sq_reads(), 2 + count / 8) << "each when a quarter of the buffer is free";
    EXPECT_EQ(w.most_sq_reads(), 4U);
  }
  if (sizes.rq_prefetch == 16) {
    EXPECT_LE(receive, 22.0);
    EXPECT_LE(w.qp(0).rq_reads, 5 + count / 4);
    EXPECT_EQ(w.most_rq_reads(), 4U);
  }
  // A single WQE, each time.
  for (int i = 0; i < 3; i++) {
    w.wait(700);
    const uint64_t from = w.now();
    w.post(0, w.make(WrOpcode::kRdmaWrite, {64}));
    w.ring(0);
    w.post_recv(0);
    const size_t issued = w.qp(0).issued, takes = w.qp(0).takes.size();
    EXPECT_TRUE(w.run([&] { return w.qp(0).issued == issued + 1; }));
    EXPECT_LE(w.now() - from, 350U);
    w.receive(0);
    EXPECT_TRUE(w.run([&] { return w.qp(0).takes.size() == takes + 1; }));
    EXPECT_LE(w.now() - from, 380U);
  }
}

// The first of several reads in flight fails: qp uses none of the others. A send queue ends there.
// A receive queue is read again.
TYPED_TEST(QpTest, WhatWasReadBehindAFailureIsNotUsed) {
  this->dut.restart({0, 0});
  QpWorld<TypeParam> w(this->dut, this->rng.fork("world"), 0);
  w.create(0, 6, 6);
  w.to_rts(0);
  w.far_memory(300);
  const unsigned units = this->sizes().sq_prefetch, recvs = this->sizes().rq_prefetch, count = 40;
  w.hold_faults(true);
  w.post_recv(0, count);
  ASSERT_TRUE(w.run([&] { return w.qp(0).rq_reads == 1; }));
  w.fail_next_rq_read();
  for (unsigned i = 0; i < recvs; i++) w.receive(0);
  w.receive(0, spec::RqTake::kFailed);
  for (unsigned i = recvs + 1; i < count; i++) w.receive(0);
  ASSERT_TRUE(w.run([&] { return w.qp(0).takes.size() == count; }));
  for (unsigned i = 0; i < count; i++) w.post(0, w.make(WrOpcode::kRdmaWrite, {64}));
  w.ring(0);
  ASSERT_TRUE(w.run([&] { return w.sq_reads() == 1; }));
  w.fail_next_sq_read();
  ASSERT_TRUE(this->ended(w, 0));
  w.wait(700);
  w.expect_all_reported(0);
  EXPECT_EQ(w.qp(0).issued, units);
  auto& c = w.qp(0).sq_cqes;
  ASSERT_EQ(c.size(), units + 2);
  EXPECT_EQ(c[units].status, WcStatus::kFatalErr);
  EXPECT_EQ(c[units].index, units);
  EXPECT_EQ(c.back().status, WcStatus::kWrFlushErr);
}

// A posted WQE that is not issued has not been sent: a peer's close before its issue is a loss.
TYPED_TEST(QpTest, ThePeersCloseInFrontOfAPostedSendIsFatal) {
  this->worlds([&](auto& w) {
    this->dut.sq_rd_req.stall(100);
    w.post(0, w.make(WrOpcode::kSend, {10}));
    w.ring(0);
    w.wait(100);
    w.event(0, LlpQpEvt::kPeerClosed);
    w.wait(400);
    EXPECT_FALSE(w.said("0 rdmap half_close")) << "its window is empty, its queue is not";
    EXPECT_EQ(w.faults().size(), 1U);
    this->dut.sq_rd_req.stall(0);
    ASSERT_TRUE(this->ended(w, 0));
    EXPECT_EQ(w.query(0).cause, Cause::kLlpLost);
    w.wait(100);
    w.expect_all_reported(0);
  });
}

// The connection ends before llp_if can report that the Terminate is sent: the end counts as that
// report.
TYPED_TEST(QpTest, AnEndOfTheConnectionIsAsGoodAsATerminateThatHasLeft) {
  for (const auto& [kind, llp] :
       {std::pair{LlpQpEvt::kClosed, "0 llp stop"}, {LlpQpEvt::kLost, "0 llp abort"}}) {
    this->worlds([&](auto& w) {
      w.qp(0).faulted = true;
      this->dut.qp_error.put({.qpn = 0, .cause = Cause::kDdpUntaggedMsn, .sends_term = 1});
      w.wait(300);
      EXPECT_TRUE(w.ctl().empty());
      w.event(0, kind);
      ASSERT_TRUE(this->ended(w, 0));
      const std::vector<std::string> want = {"0 rdmap stop", llp, "0 ddp stop", "0 mpa stop"};
      EXPECT_EQ(w.ctl(), want);
    });
  }
}

// qp handles together the events that come while it controls the other units: the strongest goes
// first, the others still count.
TYPED_TEST(QpTest, EventsThatComeTogetherAllCount) {
  for (const bool closed : {true, false}) {
    SCOPED_TRACE(closed ? "an error and the connection's end"
                        : "a CQ's failure and the Terminate that has left");
    this->worlds([&](auto& w) {
      auto& d = this->dut;
      const spec::QpError error{.qpn = 0, .cause = Cause::kDdpUntaggedMsn, .sends_term = 1};
      w.qp(0).faulted = true;
      d.qp_ctl_mpa.stall(100);
      w.event(0, LlpQpEvt::kPeerClosed);
      w.wait(100);
      if (closed) {
        d.qp_error.put(error);  // before kClosed: later it would be a lost connection
        ASSERT_TRUE(w.run([&] { return d.qp_error.empty(); }));
        w.event(0, LlpQpEvt::kClosed);
      } else {
        w.event(0, LlpQpEvt::kTermDone);
        d.cq_fault.put({1});
      }
      w.wait(1000);  // qp has found the QPs of the CQ
      d.qp_ctl_mpa.stall(0);
      if (!closed) {
        ASSERT_TRUE(w.run([&] { return !w.faults().empty(); }));
        d.qp_error.put(error);
      }
      ASSERT_TRUE(this->ended(w, 0)) << "a Terminate is waited for that has left, or never will";
      EXPECT_TRUE(w.run([&] { return w.said("0 llp stop"); })) << testing::PrintToString(w.ctl());
    });
  }
}

// Pushes that fill the prefetch buffer to its last entry are not fetched.
TYPED_TEST(QpTest, PushesFillThePrefetchBuffer) {
  this->worlds([&](auto& w) {
    w.create(1, 6, 3);
    w.to_rts(1);
    w.hold_done(true);
    w.post(1, w.make(WrOpcode::kRdmaRead, {}), true);
    ASSERT_TRUE(w.run([&] { return w.qp(1).issued == 1; }));
    w.wait(100);
    for (unsigned i = 0; i < this->sizes().sq_prefetch; i++)
      w.post(1, w.make(WrOpcode::kSend, {8}, 1 | 2 | 8), true);  // fenced
    w.wait(400);
    EXPECT_EQ(w.qp(1).issued, 1U);
    w.hold_done(false);
    ASSERT_TRUE(w.run([&] { return w.idle(1); }));
    EXPECT_EQ(w.sq_reads(), 0U);
  });
}

// A fetch is in flight while its QP ends, is destroyed and is created again. Its response is no WQE
// of the new QP.
TYPED_TEST(QpTest, AFetchOfAFormerLifeBringsNothing) {
  this->worlds([&](auto& w) {
    w.far_memory(2000);
    for (int life = 0; life < 3; life++) {
      for (int i = 0; i < 3; i++) w.post(0, w.make(WrOpcode::kSend, {10}, 2 | 8));
      w.ring(0);
      const unsigned reads = w.sq_reads();
      ASSERT_TRUE(w.run([&] { return w.sq_reads() != reads; }));
      ASSERT_EQ(w.modify(0, QpState::kError), AdminStatus::kOk);
      w.wait(100);
      ASSERT_EQ(w.command(AdminOpcode::kDestroyQp, 0).status, AdminStatus::kOk);
      w.create(0, 4, 3);
      w.to_rts(0);
    }
    for (int i = 0; i < 3; i++) w.post(0, w.make(WrOpcode::kSend, {10}, 2 | 8));
    w.ring(0);
    ASSERT_TRUE(w.run([&] { return w.idle(0); }));
    w.wait(2500);
    EXPECT_EQ(w.qp(0).issued, 3U);
    EXPECT_EQ(w.qp(0).sq_cqes.size(), 3U);
  });
}

// A read ahead that failed before one of its WQEs was requested is repeated. A read in flight after
// the first failed one ends no take.
TYPED_TEST(QpTest, AFailedReadAheadIsMadeAgain) {
  this->dut.restart({0, 0});
  QpWorld<TypeParam> w(this->dut, this->rng.fork("world"), 0);
  w.create(0, 4, 6);
  w.to_rts(0);
  w.far_memory(300);
  const unsigned ahead = this->sizes().rq_prefetch == 1 ? 1 : 2;
  for (unsigned i = 1; i <= ahead; i++) {
    w.fail_next_rq_read();
    w.post_recv(0);
    ASSERT_TRUE(w.run([&] { return w.qp(0).rq_reads == i; }));
    w.wait(100);
  }
  w.wait(ahead == 1 ? 300 : 150);  // the first has failed, the second is in flight
  for (unsigned i = 0; i < ahead; i++) w.receive(0);
  ASSERT_TRUE(w.run([&] { return w.qp(0).takes.size() == ahead; }));
  EXPECT_EQ(w.qp(0).rq_taken, ahead);
}

}  // namespace
}  // namespace rnic::tb

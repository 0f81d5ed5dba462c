// How connections end: what the FIN waits for, which work still counts, and which commands an ended
// connection refuses. hold_credit: the link returns no credit for this side's records, so this side
// soon stops sending. hold_writes(true): the host accepts no write, so completions wait in the
// device.
#include "bench.hpp"

namespace rnic::tb {
namespace {

using spec::AdminOpcode;
using spec::AdminStatus;
using spec::Cause;
using spec::ConnState;
using spec::QpState;
using spec::WcStatus;
using spec::WrOpcode;

class CloseTest : public testing::Test {
 protected:
  explicit CloseTest(const Options& o = {})
      : b(o), p(b.connect()), am(b.a.reg(1 << 16)), bm(b.b.reg(1 << 16)) {}
  AdminStatus modify(Side& s, uint16_t qpn, QpState to) {
    return s
        .command(AdminOpcode::kModifyQp, qpn,
                 spec::AdminModifyArgs{.to_state = static_cast<uint8_t>(to)})
        .status;
  }
  void write(uint32_t n = 64) {
    b.a.post_send(p.a.qpn, wr(WrOpcode::kRdmaWrite, kSignaled, bm.address, bm.stag),
                  {sge(am, 0, n)});
  }
  std::vector<WcStatus> statuses(Side& s, uint16_t cqn) {
    std::vector<WcStatus> all;
    while (const auto e = s.poll(cqn)) all.push_back(e->status);
    return all;
  }
  Bench b;
  Bench::Pair p;
  Mr am, bm;
};

/// Credit for two segments of 1460 bytes, besides the reserve for a Terminate.
Options narrow() {
  Options o;
  o.window = 4000;
  return o;
}
struct NarrowTest : CloseTest {
  NarrowTest() : CloseTest(narrow()) {}
};

// RFC 5040 section 6.1: nothing is sent after the FIN, so the peer's Reads are answered before it.
TEST_F(NarrowTest, TheFinWaitsForThePeersReads) {
  b.a.hold_credit = true;  // a sends two segments of its response
  b.b.post_send(p.b.qpn, wr(WrOpcode::kRdmaRead, kSignaled, am.address, am.stag),
                {sge(bm, 0, 20000)});
  b.clock.settle(3000);
  EXPECT_EQ(modify(b.a, p.a.qpn, QpState::kClosing), AdminStatus::kOk);
  b.clock.settle(3000);
  EXPECT_EQ(b.a.query(p.a.qpn).state, QpState::kClosing);
  EXPECT_FALSE(b.a.ends[p.conn_a].local_fin) << "a FIN in the middle of a Read Response";
  write();  // posted after the close: flushed
  b.a.hold_credit = false;
  b.a.give_credit(p.conn_a, 4000);
  b.clock.settle();
  EXPECT_EQ(statuses(b.b, p.b.cqn), std::vector{WcStatus::kSuccess});
  EXPECT_EQ(statuses(b.a, p.a.cqn), std::vector{WcStatus::kWrFlushErr});
  EXPECT_EQ(b.a.query(p.a.qpn).cause, Cause::kNone);
  EXPECT_EQ(b.b.query(p.b.qpn).cause, Cause::kNone);
  EXPECT_EQ(b.a.connection(p.conn_a).state, ConnState::kClosed);
}

// The driver can abort a close that the peer delays.
TEST_F(NarrowTest, AClosingQpCanBeAborted) {
  b.a.hold_credit = true;
  b.b.post_send(p.b.qpn, wr(WrOpcode::kRdmaRead, kSignaled, am.address, am.stag),
                {sge(bm, 0, 20000)});
  b.clock.settle(3000);
  EXPECT_EQ(modify(b.a, p.a.qpn, QpState::kClosing), AdminStatus::kOk);
  b.clock.settle(3000);
  EXPECT_EQ(modify(b.a, p.a.qpn, QpState::kError), AdminStatus::kOk);
  EXPECT_EQ(b.a.query(p.a.qpn).drained, 1);
  b.clock.settle();
  EXPECT_EQ(b.b.query(p.b.qpn).cause, Cause::kLlpLost);
}

// Work done before the peer closes counts, even if completions back up.
TEST_F(CloseTest, DoneWorkCountsBeforeThePeersClose) {
  b.a.hold_writes(true);
  for (int i = 0; i < 12; ++i) write();
  b.clock.settle(3000);
  b.a.peer_closes(p.conn_a);
  b.clock.settle(3000);
  b.a.hold_writes(false);
  b.clock.settle(10000);
  EXPECT_EQ(statuses(b.a, p.a.cqn), std::vector(12, WcStatus::kSuccess));
  EXPECT_EQ(b.a.query(p.a.qpn).cause, Cause::kNone) << "a clean close was taken for a loss";
}

// After the peer's FIN no response to a Read can arrive. The Read is no error of the requester: it
// is flushed. The Write before it, which lacks credit, is flushed by the same CQE.
TEST_F(NarrowTest, AReadBehindThePeersFinIsFlushed) {
  b.a.hold_credit = true;
  write(20000);
  b.clock.settle(3000);
  EXPECT_EQ(modify(b.a, p.a.qpn, QpState::kClosing), AdminStatus::kOk);
  b.a.peer_closes(p.conn_a);
  b.clock.settle(3000);
  EXPECT_EQ(b.a.query(p.a.qpn).state, QpState::kClosing);
  b.a.post_send(p.a.qpn, wr(WrOpcode::kRdmaRead, kSignaled, bm.address, bm.stag), {sge(am, 0, 64)});
  b.clock.settle();
  EXPECT_EQ(b.a.query(p.a.qpn).cause, Cause::kLlpLost);
  EXPECT_EQ(statuses(b.a, p.a.cqn), std::vector{WcStatus::kWrFlushErr});
}

// The driver discards a QP when the command that ends it is answered: no completion of the QP
// follows that response, however long writes were stalled.
TEST_F(CloseTest, NoCompletionFollowsTheAnswerToAnAbort) {
  for (int n = 1; n <= 40; ++n) {
    SCOPED_TRACE(n);
    const auto q = b.connect();
    b.a.hold_writes(true);
    for (int i = 0; i < n; ++i) {
      b.a.post_send(q.a.qpn, wr(WrOpcode::kRdmaWrite, kSignaled, bm.address, bm.stag),
                    {sge(am, 0, 64)});
    }
    b.clock.settle(3000);
    b.clock.at(b.clock.now() + 500, [&] { b.a.hold_writes(false); });
    ASSERT_EQ(modify(b.a, q.a.qpn, QpState::kError), AdminStatus::kOk);
    // The device buffers a bounded number of completions while the host accepts no write. It
    // flushes the Writes beyond that bound, and reports all of them with one entry.
    const auto all = statuses(b.a, q.a.cqn);
    const auto flushed = std::ranges::find(all, WcStatus::kWrFlushErr);
    EXPECT_TRUE(std::all_of(all.begin(), flushed, [](auto s) { return s == WcStatus::kSuccess; }));
    EXPECT_EQ(all.end() - flushed, flushed - all.begin() < n ? 1 : 0);
    EXPECT_EQ(b.a.query(q.a.qpn).sq_retired, n);
    EXPECT_GE(flushed - all.begin(), std::min(n, 32));  // the device buffers at least 32
    b.clock.settle(3000);
    EXPECT_FALSE(b.a.poll(q.a.cqn));
  }
}

TEST_F(CloseTest, NoCompletionFollowsTheAnswerToADestroy) {
  for (int n = 1; n <= 20; ++n) {
    SCOPED_TRACE(n);
    const auto q = b.connect();
    ASSERT_EQ(modify(b.a, q.a.qpn, QpState::kError), AdminStatus::kOk);
    b.a.hold_writes(true);
    for (int i = 0; i < n; ++i) b.a.post_recv(q.a.qpn, {sge(am, 0, 64)});  // each is flushed
    b.clock.settle(3000);
    b.clock.at(b.clock.now() + 100 * (n % 3), [&] { b.a.hold_writes(false); });
    ASSERT_EQ(b.a.command(AdminOpcode::kDestroyQp, q.a.qpn).status, AdminStatus::kOk);
    EXPECT_FALSE(statuses(b.a, q.a.cqn).empty());
    b.clock.settle(3000);
    EXPECT_FALSE(b.a.poll(q.a.cqn));
  }
}

TEST_F(CloseTest, AnAbortIsAnsweredWhenAllIsFlushed) {
  b.a.hold_credit = true;
  for (int i = 0; i < 20; ++i) write(30000);
  for (int i = 0; i < 5; ++i) b.a.post_recv(p.a.qpn, {sge(am, 0, 64)});
  b.clock.settle(20000);
  EXPECT_EQ(modify(b.a, p.a.qpn, QpState::kError), AdminStatus::kOk);
  const auto q = b.a.query(p.a.qpn);
  EXPECT_EQ(q.state, QpState::kError);
  EXPECT_EQ(q.drained, 1);
  EXPECT_EQ(q.sq_retired, 20);
  EXPECT_EQ(q.rq_retired, 5);
}

// A failed prefetch is no error yet: qp repeats the read when a message needs it.
TEST_F(CloseTest, AFailedPrefetchIsReadAgain) {
  // Any read of b's host memory fails.
  for (uint64_t at = 0; at < Side::kMemory; at += 64) b.b.poison[at] = spec::RdStatus::kAborted;
  b.b.post_recv(p.b.qpn, {sge(bm, 0, 64)});
  b.clock.settle(1000);
  EXPECT_EQ(b.b.read(spec::kDmaErrorsOffset, 8), 1U);
  b.b.poison.clear();
  b.a.post_send(p.a.qpn, wr(WrOpcode::kSend), {sge(am, 0, 64)});
  EXPECT_EQ(b.b.wait(p.b.cqn).status, WcStatus::kSuccess);
  // A read that still fails when a message needs it is a local error, not a missing receive.
  for (uint64_t at = 0; at < Side::kMemory; at += 64) b.b.poison[at] = spec::RdStatus::kAborted;
  b.b.post_recv(p.b.qpn, {sge(bm, 0, 64)});
  b.clock.settle(1000);
  b.a.post_send(p.a.qpn, wr(WrOpcode::kSend), {sge(am, 0, 64)});
  b.clock.settle(1000);
  b.b.poison.clear();
  b.clock.settle();
  EXPECT_EQ(b.b.query(p.b.qpn).cause, Cause::kLocalCatastrophic);
}

// --- connections without a QP

class ConnTest : public testing::Test {
 protected:
  ConnTest() : at(b.a.alloc(4096)) { std::tie(ca, cb) = b.open(); }
  AdminStatus give(Side& s, uint16_t conn) {
    return s.command(AdminOpcode::kConnGive, conn, spec::AdminConnArgs{.address = at, .length = 20})
        .status;
  }
  void send(Side& s, uint16_t conn) {
    EXPECT_EQ(
        s.command(AdminOpcode::kConnSend, conn, spec::AdminConnArgs{.address = at, .length = 20})
            .status,
        AdminStatus::kOk);
    b.clock.settle(500);
  }
  int events(Side& s) {
    int n = 0;
    while (s.poll_event()) ++n;
    return n;
  }
  Bench b;
  uint64_t at;
  uint16_t ca = 0, cb = 0;
};

TEST_F(ConnTest, AGiveOfAnEndedConnectionIsRefused) {
  send(b.b, cb);
  EXPECT_EQ(b.a.connection(ca).waiting, 20);
  EXPECT_EQ(b.a.command(AdminOpcode::kConnAbort, ca).status, AdminStatus::kOk);
  b.clock.settle(500);
  EXPECT_EQ(give(b.a, ca), AdminStatus::kBadState);
}

// The LLP's reset crosses a conn_give of the driver: the LLP gives no bytes, and admin ends the
// command.
TEST_F(ConnTest, AGiveEndsWithItsConnection) {
  send(b.b, cb);
  b.a.keep_given = true;
  b.clock.at(b.clock.now() + 200,
             [this] { b.a.device().llp_event({.kind = spec::LlpEvt::kReset, .connection = ca}); });
  EXPECT_EQ(give(b.a, ca), AdminStatus::kBadState);
  EXPECT_EQ(b.a.connection(ca).state, ConnState::kReset);
  // Late bytes: no command waits for them.
  b.a.device().llp_rx(
      {.connection = ca, .is_stream = true, .data = rnic::Payload::copy_of(Bytes(20))});
  b.clock.settle(500);
  EXPECT_EQ(b.a.device().waiting_for(), "");
  EXPECT_EQ(b.a.command(AdminOpcode::kConnRelease, ca).status, AdminStatus::kOk);
}

// An event that crossed an earlier conn_give reports bytes that were already given: here 30, but 20
// wait. The response holds the number of bytes that the LLP gave: 20, then 0.
TEST_F(ConnTest, AGiveSaysHowManyBytesCame) {
  send(b.b, cb);
  for (const uint16_t came : {uint16_t{20}, uint16_t{0}}) {
    b.a.device().llp_event({.kind = spec::LlpEvt::kWaiting, .connection = ca, .length = 30});
    b.clock.settle(100);
    const auto rsp =
        b.a.command(AdminOpcode::kConnGive, ca, spec::AdminConnArgs{.address = at, .length = 30});
    EXPECT_EQ(rsp.status, AdminStatus::kOk);
    EXPECT_EQ(spec::AdminGiveResult::unpack(rsp.result).length, came);
  }
  EXPECT_EQ(b.a.device().waiting_for(), "");
}

TEST_F(ConnTest, ASecondCloseIsRefused) {
  b.a.peer_closes(ca);
  b.clock.settle(500);
  EXPECT_EQ(b.a.connection(ca).state, ConnState::kPeerClosed);
  b.a.ends[ca].peer_fin = false;  // the link reports no `closed`: the connection stays half open
  EXPECT_EQ(b.a.command(AdminOpcode::kConnClose, ca).status, AdminStatus::kOk);
  EXPECT_EQ(b.a.connection(ca).state, ConnState::kPeerClosed);
  EXPECT_EQ(b.a.command(AdminOpcode::kConnClose, ca).status, AdminStatus::kBadState);
  EXPECT_EQ(
      b.a.command(AdminOpcode::kConnSend, ca, spec::AdminConnArgs{.address = at, .length = 20})
          .status,
      AdminStatus::kBadState)
      << "after its FIN";
}

// Bytes that were refused for lack of credit do not stay in the device: after the release of the
// connection it waits for nothing.
TEST(Release, TakesNoBytesAlong) {
  Options o;
  o.window = 100;
  Bench b(o);
  const auto [ca, cb] = b.open();
  const uint64_t at = b.a.alloc(4096);
  EXPECT_EQ(
      b.a.command(AdminOpcode::kConnSend, ca, spec::AdminConnArgs{.address = at, .length = 200})
          .status,
      AdminStatus::kNoCredit);
  EXPECT_EQ(b.b.command(AdminOpcode::kConnAbort, cb).status, AdminStatus::kOk);
  b.clock.settle(500);
  EXPECT_EQ(b.a.command(AdminOpcode::kConnRelease, ca).status, AdminStatus::kOk);
  EXPECT_EQ(b.a.device().waiting_for(), "");
}

// LLP events of a number without a connection (9) make no event of the driver.
TEST_F(ConnTest, EventsOfFreeNumbersAreNone) {
  b.clock.settle(500);
  (void)events(b.a);
  for (const auto kind :
       {spec::LlpEvt::kEstablished, spec::LlpEvt::kWaiting, spec::LlpEvt::kPeerClosed,
        spec::LlpEvt::kClosed, spec::LlpEvt::kReset, spec::LlpEvt::kFailed}) {
    b.a.device().llp_event({.kind = kind, .connection = 9, .length = 20});
  }
  b.clock.settle(500);
  EXPECT_EQ(events(b.a), 0);
  EXPECT_EQ(b.a.command(AdminOpcode::kConnQuery, 9).status, AdminStatus::kNotFound);
}

}  // namespace
}  // namespace rnic::tb

// States of a QP: close, abort, lost, failed requests. Every work request completes exactly once.
#include "bench.hpp"

namespace rnic::tb {
namespace {

using spec::AdminOpcode;
using spec::AdminStatus;
using spec::Cause;
using spec::QpState;
using spec::WcStatus;
using spec::WrOpcode;

AdminStatus modify(Side& s, uint16_t qpn, QpState to) {
  return s
      .command(AdminOpcode::kModifyQp, qpn,
               spec::AdminModifyArgs{.to_state = static_cast<uint8_t>(to)})
      .status;
}

/// The statuses that a queue's completions give its WQEs, in order: one status per unit of the
/// ring.
struct Outcome {
  std::vector<WcStatus> send, recv;
};
Outcome collect(Side& s, uint16_t cqn) {
  Outcome o;
  s.clock().settle(2000);
  while (const auto e = s.poll(cqn)) {
    auto& list = e->is_recv != 0 ? o.recv : o.send;
    if (e->status == WcStatus::kWrFlushErr) {
      EXPECT_GT(e->index, list.size()) << "a flush entry that flushes nothing";
      while (list.size() < e->index) list.push_back(WcStatus::kWrFlushErr);
    } else {
      EXPECT_EQ(e->index, list.size()) << "a WQE completed twice, or out of order";
      list.push_back(e->status);
    }
  }
  return o;
}
std::vector<WcStatus> statuses(std::initializer_list<std::pair<WcStatus, int>> runs) {
  std::vector<WcStatus> v;
  for (const auto& [s, n] : runs) v.insert(v.end(), static_cast<size_t>(n), s);
  return v;
}
int events(Side& s, spec::EqeType kind, uint32_t object) {
  int n = 0;
  while (const auto e = s.poll_event()) n += e->kind == kind && e->object == object;
  return n;
}

class StateTest : public testing::Test {
 protected:
  StateTest() : p(b.connect()), am(b.a.reg(1 << 16)), bm(b.b.reg(1 << 16)) {}
  void write(uint8_t flags = kSignaled, uint32_t n = 64) {
    b.a.post_send(p.a.qpn, wr(WrOpcode::kRdmaWrite, flags, bm.address, bm.stag), {sge(am, 0, n)});
  }
  // Side a reads from this STag and TO of side b.
  void read(uint32_t stag, uint64_t to) {
    b.a.post_send(p.a.qpn, wr(WrOpcode::kRdmaRead, kSignaled, to, stag), {sge(am, 0, 64)});
  }
  /// The QP has ended and its connection is in state `expected`: both can be removed.
  void gone(Side& s, uint16_t qpn, uint16_t conn, spec::ConnState expected) {
    const auto q = s.query(qpn);
    EXPECT_EQ(q.state, QpState::kError);
    EXPECT_EQ(q.drained, 1);
    const auto c = s.connection(conn);
    EXPECT_EQ(c.state, expected) << to_string(c.state);
    EXPECT_EQ(c.has_qp, 0);
    EXPECT_EQ(s.command(AdminOpcode::kConnRelease, conn).status, AdminStatus::kOk);
    EXPECT_EQ(s.command(AdminOpcode::kDestroyQp, qpn).status, AdminStatus::kOk);
    s.clock().settle(500);
    EXPECT_EQ(s.device().waiting_for(), "");
  }
  Bench b;
  Bench::Pair p;
  Mr am, bm;
};

TEST_F(StateTest, GracefulClose) {
  for (int i = 0; i < 3; ++i) b.b.post_recv(p.b.qpn, {sge(bm, 0, 64)});
  for (int i = 0; i < 3; ++i) b.a.post_recv(p.a.qpn, {sge(am, 0, 64)});
  write(kSignaled, 5000);
  b.a.post_send(p.a.qpn, wr(WrOpcode::kSend), {sge(am, 0, 64)});
  EXPECT_EQ(modify(b.a, p.a.qpn, QpState::kClosing), AdminStatus::kOk);
  b.clock.settle();
  const auto a = collect(b.a, p.a.cqn), c = collect(b.b, p.b.cqn);
  EXPECT_EQ(a.send, statuses({{WcStatus::kSuccess, 2}}));
  EXPECT_EQ(c.recv, statuses({{WcStatus::kSuccess, 1}, {WcStatus::kWrFlushErr, 2}}));
  EXPECT_EQ(a.recv, statuses({{WcStatus::kWrFlushErr, 3}}));
  EXPECT_EQ(b.a.query(p.a.qpn).cause, Cause::kNone);
  EXPECT_EQ(b.b.query(p.b.qpn).cause, Cause::kNone);
  EXPECT_EQ(events(b.a, spec::EqeType::kQp, p.a.qpn), 1);
  EXPECT_EQ(events(b.b, spec::EqeType::kQp, p.b.qpn), 1);
  gone(b.a, p.a.qpn, p.conn_a, spec::ConnState::kClosed);
  gone(b.b, p.b.qpn, p.conn_b, spec::ConnState::kClosed);
}

// Data received before the peer's FIN counts, however soon the FIN follows.
TEST_F(StateTest, SendJustBeforeFin) {
  b.b.post_recv(p.b.qpn, {sge(bm, 0, 5000)});
  b.a.post_send(p.a.qpn, wr(WrOpcode::kSend), {sge(am, 0, 5000)});
  EXPECT_EQ(modify(b.a, p.a.qpn, QpState::kClosing), AdminStatus::kOk);
  b.clock.settle();
  EXPECT_EQ(collect(b.a, p.a.cqn).send, statuses({{WcStatus::kSuccess, 1}}));
  EXPECT_EQ(collect(b.b, p.b.cqn).recv, statuses({{WcStatus::kSuccess, 1}}));
  EXPECT_EQ(b.b.query(p.b.qpn).cause, Cause::kNone);
}

TEST_F(StateTest, ClosePeerWithReadsOutstanding) {
  b.a.tamper = [](model::LlpRecord&) { return false; };  // the Read Request is never answered
  read(bm.stag, bm.address);
  b.clock.settle(2000);
  b.a.peer_closes(p.conn_a);
  b.clock.settle();
  EXPECT_EQ(b.a.query(p.a.qpn).cause, Cause::kLlpLost);
  EXPECT_EQ(collect(b.a, p.a.cqn).send, statuses({{WcStatus::kWrFlushErr, 1}}));
}

TEST_F(StateTest, AbortFlushesExactlyOnce) {
  b.a.hold_credit = true;  // a's window closes: WQEs wait in every stage
  for (int i = 0; i < 20; ++i) write(kSignaled, 30000);
  for (int i = 0; i < 5; ++i) b.a.post_recv(p.a.qpn, {sge(am, 0, 64)});
  b.clock.settle(20000);
  EXPECT_EQ(modify(b.a, p.a.qpn, QpState::kError), AdminStatus::kOk);
  b.clock.settle();
  const auto o = collect(b.a, p.a.cqn);
  ASSERT_EQ(o.send.size(), 20U);
  const auto first_flushed = std::find(o.send.begin(), o.send.end(), WcStatus::kWrFlushErr);
  EXPECT_NE(first_flushed, o.send.begin());
  EXPECT_NE(first_flushed, o.send.end());
  EXPECT_TRUE(std::all_of(first_flushed, o.send.end(),
                          [](WcStatus s) { return s == WcStatus::kWrFlushErr; }));
  EXPECT_EQ(o.recv, statuses({{WcStatus::kWrFlushErr, 5}}));
  // In state error each posted WQE is flushed.
  write();
  b.clock.settle(100);
  write();
  b.a.post_recv(p.a.qpn, {sge(am, 0, 64)});
  b.clock.settle(2000);
  std::vector<uint16_t> up_to;
  while (const auto e = b.a.poll(p.a.cqn)) {
    EXPECT_EQ(e->status, WcStatus::kWrFlushErr);
    up_to.push_back(e->index);
  }
  EXPECT_EQ(up_to, (std::vector<uint16_t>{21, 22, 6}));
  EXPECT_EQ(events(b.a, spec::EqeType::kQp, p.a.qpn), 0) << "the driver asked for it";
  EXPECT_EQ(b.b.query(p.b.qpn).cause, Cause::kLlpLost);
  gone(b.a, p.a.qpn, p.conn_a, spec::ConnState::kReset);
  gone(b.b, p.b.qpn, p.conn_b, spec::ConnState::kReset);
}

TEST_F(StateTest, IdleToError) {
  const QpHandle q = b.a.create_qp({});
  for (int i = 0; i < 3; ++i) b.a.post_recv(q.qpn, {sge(am, 0, 64)});
  EXPECT_EQ(modify(b.a, q.qpn, QpState::kClosing), AdminStatus::kBadState);
  EXPECT_EQ(modify(b.a, q.qpn, QpState::kError), AdminStatus::kOk);
  EXPECT_EQ(collect(b.a, q.cqn).recv, statuses({{WcStatus::kWrFlushErr, 3}}));
  EXPECT_EQ(modify(b.a, q.qpn, QpState::kRts), AdminStatus::kBadState);
  EXPECT_EQ(b.a.command(AdminOpcode::kDestroyQp, q.qpn).status, AdminStatus::kOk);
}

// The peer's Terminate names the Read that it refuses; the other requests are flushed.
TEST_F(StateTest, ReadRefusedByPeer) {
  write();
  read(bm.stag, bm.address);
  b.a.post_send(p.a.qpn, wr(WrOpcode::kRdmaRead, kSignaled, bm.address, bm.stag ^ 0x4000),
                {sge(am, 128, 64)});
  b.a.post_send(p.a.qpn, wr(WrOpcode::kRdmaRead, kSignaled, bm.address, bm.stag),
                {sge(am, 256, 64)});
  b.a.post_recv(p.a.qpn, {sge(am, 0, 64)});
  b.clock.settle();
  const auto o = collect(b.a, p.a.cqn);
  EXPECT_EQ(o.send, statuses({{WcStatus::kSuccess, 2},
                              {WcStatus::kRemAccessErr, 1},
                              {WcStatus::kWrFlushErr, 1}}));
  EXPECT_EQ(o.recv, statuses({{WcStatus::kWrFlushErr, 1}}));
  const auto q = b.a.query(p.a.qpn);
  EXPECT_EQ(q.cause, Cause::kPeerTerminate);
  EXPECT_EQ(q.has_peer_term, 1);
  EXPECT_EQ(q.peer_term, 0x0100);  // Terminate 0/1/00: the STag is invalid
  EXPECT_EQ(b.b.query(p.b.qpn).cause, Cause::kRdmapStag);
}

TEST_F(StateTest, LocalKeyFails) {
  write();
  write();
  b.clock.settle(3000);
  b.a.put_send(p.a.qpn, wr(WrOpcode::kRdmaWrite, 0, bm.address, bm.stag),
               {{.address = am.address, .length = 8, .lkey = 1}});
  write();
  b.clock.settle();
  EXPECT_EQ(
      collect(b.a, p.a.cqn).send,
      statuses({{WcStatus::kSuccess, 2}, {WcStatus::kLocProtErr, 1}, {WcStatus::kWrFlushErr, 1}}));
  EXPECT_EQ(b.a.query(p.a.qpn).cause, Cause::kLocalCatastrophic);
  const auto q = b.b.query(p.b.qpn);
  EXPECT_EQ(q.cause, Cause::kPeerTerminate);
  EXPECT_EQ(q.peer_term, 0x0000);  // Terminate 0/0/00: local catastrophic error
}

TEST_F(StateTest, ReadNeedsLocalWrite) {
  const Mr weak = b.a.reg(4096, spec::kAccessRemoteRead);
  b.a.post_send(p.a.qpn, wr(WrOpcode::kRdmaRead, kSignaled, bm.address, bm.stag),
                {sge(weak, 0, 64)});
  b.clock.settle();
  EXPECT_EQ(collect(b.a, p.a.cqn).send, statuses({{WcStatus::kLocProtErr, 1}}));
}

// Each case changes one thing of a good Write of 64 bytes. The WQE after it is flushed.
TEST(Malformed, EachEndsItsWqe) {
  struct Case {
    const char* name;
    std::function<spec::SqWqe(spec::SqWqe)> change;
    uint16_t ord = 8;
    int sges = 1;
  };
  const auto with = [](auto f) {
    return [f](spec::SqWqe w) {
      f(w);
      return w;
    };
  };
  const std::vector<Case> cases = {
      // opcode 4: RDMA Read
      {"opcode", with([](auto& w) { w.opcode = 7; })},
      {"opcode beyond", with([](auto& w) { w.opcode = 200; })},
      {"flags", with([](auto& w) { w.flags |= 0x10; })},
      {"reserved", with([](auto& w) { w.reserved2 = 1; })},
      {"length not the total", with([](auto& w) { w.length = 65; })},
      {"too long", with([](auto& w) { w.length = 0x80000001; })},
      {"sges do not fit", with([](auto& w) {
         w.num_sge = 3;
         w.units = 1;
       })},
      {"15 sges", with([](auto& w) {
         w.num_sge = 15;
         w.units = 4;
       })},
      {"disposition", with([](auto& w) { w.disposition = 1; })},
      {"inline does not fit", with([](auto& w) {
         w.flags |= kInline;
         w.length = 33;
         w.units = 1;
         w.num_sge = 0;
       })},
      {"read inline", with([](auto& w) {
         w.opcode = 4;
         w.flags |= kInline;
       })},
      {"read of two", with([](auto& w) { w.opcode = 4; }), 8, 2},
      {"read without ord", with([](auto& w) { w.opcode = 4; }), 0},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Bench b;
    QpSetup s;
    s.ord = c.ord;
    const auto p = b.connect(s);
    const Mr m = b.a.reg(4096), to = b.b.reg(4096);
    std::vector<spec::WqeSge> sges(static_cast<size_t>(c.sges), sge(m, 0, 64));
    spec::SqWqe w = wr(WrOpcode::kRdmaWrite, kSignaled, to.address, to.stag);
    w.length = 64U * static_cast<uint32_t>(c.sges);
    w.num_sge = static_cast<uint8_t>(c.sges);
    w = c.change(w);
    b.a.put_send(p.a.qpn, w, sges, Bytes((w.flags & kInline) != 0 ? w.length : 0));
    b.a.post_send(p.a.qpn, wr(WrOpcode::kRdmaWrite, kSignaled, to.address, to.stag),
                  {sge(m, 0, 64)});
    b.clock.settle();
    const auto e = b.a.wait(p.a.cqn);
    EXPECT_EQ(e.status, WcStatus::kLocQpOpErr);
    EXPECT_EQ(e.index, 0);
    EXPECT_EQ(b.a.wait(p.a.cqn).status, WcStatus::kWrFlushErr);
    EXPECT_FALSE(b.a.poll(p.a.cqn));
  }
}

// Memory that cannot be read: of a Write, of a WQE, of the source of a Read.
TEST_F(StateTest, PoisonedPayload) {
  write();
  b.clock.settle(2000);
  b.a.poison[am.address - 0x10000000 + 3000] = spec::RdStatus::kPoisoned;
  write(kSignaled, 5000);
  write();
  b.clock.settle();
  EXPECT_EQ(
      collect(b.a, p.a.cqn).send,
      statuses({{WcStatus::kSuccess, 1}, {WcStatus::kFatalErr, 1}, {WcStatus::kWrFlushErr, 1}}));
  EXPECT_EQ(b.b.query(p.b.qpn).peer_term, 0x0000);
  EXPECT_EQ(b.a.read(spec::kDmaErrorsOffset, 8), 1U);
}
TEST_F(StateTest, PoisonedWqe) {
  b.a.poison[0] = spec::RdStatus::kOk;
  for (uint64_t at = 0; at < Side::kMemory; at += 64) b.a.poison[at] = spec::RdStatus::kAborted;
  write();
  b.clock.settle();
  b.a.poison.clear();
  EXPECT_EQ(collect(b.a, p.a.cqn).send, statuses({{WcStatus::kFatalErr, 1}}));
}
TEST_F(StateTest, PoisonedSourceOfARead) {
  b.b.poison[bm.address - 0x10000000] = spec::RdStatus::kUnsupported;
  read(bm.stag, bm.address);
  b.clock.settle();
  EXPECT_EQ(b.b.query(p.b.qpn).cause, Cause::kRdmapLength);
  EXPECT_EQ(b.a.query(p.a.qpn).peer_term, 0x0207);  // Terminate 0/2/07
  EXPECT_EQ(collect(b.a, p.a.cqn).send, statuses({{WcStatus::kWrFlushErr, 1}}));
}

// The source of a Read is deregistered during the response: the header in the Terminate is advanced
// by the bytes returned.
TEST(ReadPartly, TerminateShowsTheRest) {
  Options o;
  o.window = 4000;
  Bench b(o);
  const auto p = b.connect();
  const Mr sink = b.a.reg(1 << 16), source = b.b.reg(1 << 16);
  b.b.hold_credit = true;  // b's window closes after two segments
  b.a.post_send(p.a.qpn, wr(WrOpcode::kRdmaRead, kSignaled, source.address, source.stag),
                {sge(sink, 16, 20000)});
  b.clock.settle(5000);
  const size_t before = b.b.sent.size();
  ASSERT_EQ(before, 2U);
  EXPECT_EQ(b.b.command(AdminOpcode::kDestroyMr, source.stag).status, AdminStatus::kOk);
  b.b.give_credit(p.conn_b, 4000);
  b.clock.settle();
  ASSERT_EQ(b.b.sent.size(), before + 1);
  const Bytes& t = b.b.sent.back();
  ASSERT_EQ(t.size(), 76U);
  // In front of the Read Request are the FPDU length (2), the DDP header of the Terminate (18), its
  // control and length fields (6) and the DDP header of the Read Request (18).
  const auto body = spec::ReadRequest::unpack(std::span(t).subspan(2 + 18 + 6 + 18));
  const uint32_t n = 2 * (1454 - 14);  // two segments: MULPDU less the tagged header
  EXPECT_EQ(body.sink_to, sink.address + 16 + n);
  EXPECT_EQ(body.read_size, 20000 - n);
  EXPECT_EQ(body.source_to, source.address + n);
  EXPECT_EQ(body.source_stag, source.stag);
  const auto e = b.a.wait(p.a.cqn);
  EXPECT_EQ(e.status, WcStatus::kRemAccessErr);
}

TEST_F(StateTest, ConnectionLost) {
  b.a.post_recv(p.a.qpn, {sge(am, 0, 64)});
  EXPECT_EQ(b.b.command(AdminOpcode::kConnAbort, p.conn_b).status, AdminStatus::kOk);
  b.clock.settle();
  EXPECT_EQ(b.a.query(p.a.qpn).cause, Cause::kLlpLost);
  EXPECT_EQ(b.b.query(p.b.qpn).cause, Cause::kLlpLost);
  EXPECT_EQ(collect(b.a, p.a.cqn).recv, statuses({{WcStatus::kWrFlushErr, 1}}));
  gone(b.a, p.a.qpn, p.conn_a, spec::ConnState::kReset);
  gone(b.b, p.b.qpn, p.conn_b, spec::ConnState::kReset);
}

// No credit even for the Terminate, which answers a record that is no FPDU: it times out after 2^16
// cycles (65,536), and the connection is aborted.
TEST(TermTimeout, AbortsWithoutCredit) {
  Options o;
  o.window = 100;
  Bench b(o);
  const auto p = b.connect();
  b.b.inject(p.conn_b, Bytes(28, 0x55));
  b.clock.settle(60000);
  EXPECT_EQ(b.b.query(p.b.qpn).state, QpState::kTerminate);
  b.clock.settle(20000);
  EXPECT_EQ(b.b.query(p.b.qpn).state, QpState::kError);
  EXPECT_EQ(b.b.connection(p.conn_b).state, spec::ConnState::kReset);
  EXPECT_TRUE(b.b.sent.empty());
}

// The Terminate is sent at the next FPDU boundary, also within a message.
TEST(TermInside, AMessage) {
  Options o;
  o.window = 4000;
  Bench b(o);
  const auto p = b.connect();
  const Mr am = b.a.reg(1 << 16), bm = b.b.reg(1 << 16);
  b.a.hold_credit = true;
  b.a.post_send(p.a.qpn, wr(WrOpcode::kRdmaWrite, kSignaled, bm.address, bm.stag),
                {sge(am, 0, 20000)});
  b.clock.settle(5000);
  const size_t before = b.a.sent.size();
  b.a.inject(p.conn_a, Bytes(28, 0x55));
  b.clock.settle();
  ASSERT_EQ(b.a.sent.size(), before + 1);
  EXPECT_EQ(b.a.sent.back()[3], 0x47);  // opcode Terminate
  EXPECT_EQ(b.a.wait(p.a.cqn).status, WcStatus::kWrFlushErr);
}

}  // namespace
}  // namespace rnic::tb

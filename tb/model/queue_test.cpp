// Completion queues, events, interrupts, doorbells.
#include <set>

#include "bench.hpp"

namespace rnic::tb {
namespace {

using spec::AdminOpcode;
using spec::EqeType;
using spec::WcStatus;
using spec::WrOpcode;

// A CQ of 2^2 entries gets five completions. Four are written; the fifth makes it overrun.
TEST(CqOverflow, TakesItsQpsAndNoOther) {
  Bench b;
  QpSetup small;
  small.log_cq = 2;
  const auto p = b.connect(small);
  const auto other = b.connect();
  const Mr am = b.a.reg(4096), bm = b.b.reg(4096);
  for (int i = 0; i < 5; ++i) {
    b.a.post_send(p.a.qpn, wr(WrOpcode::kRdmaWrite, kSignaled, bm.address, bm.stag),
                  {sge(am, 0, 8)});
  }
  b.clock.settle();
  EXPECT_EQ(b.a.query(p.a.qpn).state, spec::QpState::kError);
  const auto cq = b.a.command(AdminOpcode::kQueryCq, p.a.cqn);
  const auto r = spec::AdminCqResult::unpack(cq.result);
  EXPECT_EQ(r.overrun, 1);
  EXPECT_EQ(r.producer, 4);
  bool cq_event = false, qp_event = false;
  while (const auto e = b.a.poll_event()) {
    cq_event = cq_event || (e->kind == EqeType::kCqError && e->object == p.a.cqn);
    qp_event = qp_event || (e->kind == EqeType::kQp && e->object == p.a.qpn);
  }
  EXPECT_TRUE(cq_event && qp_event);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(b.a.wait(p.a.cqn).status, WcStatus::kSuccess);
  EXPECT_FALSE(b.a.poll(p.a.cqn));
  b.a.post_send(other.a.qpn, wr(WrOpcode::kRdmaWrite, kSignaled, bm.address, bm.stag),
                {sge(am, 0, 8)});
  EXPECT_EQ(b.a.wait(other.a.cqn).status, WcStatus::kSuccess);
  // No new QP can use the overrun CQ, and a refused create_qp leaves no state.
  constexpr uint32_t kFresh = 900;
  for (const auto& [send, recv] : {std::pair{p.a.cqn, other.a.cqn}, {other.a.cqn, p.a.cqn}}) {
    const spec::AdminQpArgs args{.send_cq = send,
                                 .recv_cq = recv,
                                 .sq_base = b.a.alloc(4096),
                                 .rq_base = b.a.alloc(4096),
                                 .log_sq = 2,
                                 .log_rq = 2};
    EXPECT_EQ(b.a.command(AdminOpcode::kCreateQp, kFresh, args).status,
              spec::AdminStatus::kBadState);
    EXPECT_EQ(b.a.command(AdminOpcode::kQueryQp, kFresh).status, spec::AdminStatus::kNotFound);
  }
}

TEST(Events, ArmedOncePerArming) {
  Bench b;
  const auto p = b.connect();
  const Mr am = b.a.reg(4096), bm = b.b.reg(4096);
  const auto write = [&] {
    b.a.post_send(p.a.qpn, wr(WrOpcode::kRdmaWrite, kSignaled, bm.address, bm.stag),
                  {sge(am, 0, 8)});
    b.clock.settle(3000);
  };
  const auto events = [&] {
    int n = 0;
    b.clock.settle(500);
    while (const auto e = b.a.poll_event())
      n += e->kind == EqeType::kCompletion && e->object == p.a.cqn;
    return n;
  };
  const uint32_t before = b.a.interrupts;
  write();
  EXPECT_EQ(events(), 0) << "not armed";
  b.a.arm(p.a.cqn, false);
  EXPECT_EQ(events(), 1) << "a completion is after the consumer index";
  write();
  EXPECT_EQ(events(), 0) << "once per arming";
  b.a.wait(p.a.cqn);
  b.a.wait(p.a.cqn);
  b.a.arm(p.a.cqn, false);
  EXPECT_EQ(events(), 0);
  write();
  write();
  EXPECT_EQ(events(), 1);
  EXPECT_EQ(b.a.interrupts - before, 2U);
}

TEST(Events, SolicitedAndErrorsCount) {
  Bench b;
  const auto p = b.connect();
  const Mr am = b.a.reg(4096), bm = b.b.reg(4096);
  for (int i = 0; i < 8; ++i) b.b.post_recv(p.b.qpn, {sge(bm, 0, 8)});
  const auto send = [&](bool se) {
    b.a.post_send(p.a.qpn, wr(WrOpcode::kSend, static_cast<uint8_t>(se ? kSolicited : 0)),
                  {sge(am, 0, 8)});
    b.clock.settle(3000);
  };
  const auto events = [&] {
    int n = 0;
    b.clock.settle(500);
    while (const auto e = b.b.poll_event())
      n += e->kind == EqeType::kCompletion && e->object == p.b.cqn;
    return n;
  };
  b.b.arm(p.b.cqn, true);
  send(false);
  EXPECT_EQ(events(), 0);
  send(true);
  EXPECT_EQ(events(), 1);
  while (b.b.poll(p.b.cqn)) {
  }
  b.b.arm(p.b.cqn, true);
  send(false);
  EXPECT_EQ(events(), 0);
  b.b.command(AdminOpcode::kModifyQp, p.b.qpn,
              spec::AdminModifyArgs{.to_state = static_cast<uint8_t>(spec::QpState::kError)});
  EXPECT_EQ(events(), 1) << "an error counts as solicited";
}

TEST(Events, FullEqLosesNothing) {
  Bench b;
  const auto p = b.connect();
  (void)p;
  // Connection events of 70 half-open connections: the EQ has 64 entries.
  std::vector<uint16_t> conns;
  for (int i = 0; i < 70; ++i) {
    const auto rsp = b.a.command(AdminOpcode::kConnConnect, 0,
                                 spec::AdminConnArgs{.peer_port = 1, .peer_address = 1});
    conns.push_back(spec::AdminConnResult::unpack(rsp.result).connection);
  }
  b.clock.settle(1000);
  std::set<uint32_t> seen;
  for (int round = 0; round < 3; ++round) {
    while (const auto e = b.a.poll_event()) {
      if (e->kind == EqeType::kConnection) seen.insert(e->object);
    }
    b.clock.settle(2000);
  }
  for (const uint16_t c : conns) EXPECT_TRUE(seen.contains(c)) << c;
}

TEST(Msix, MaskedIsPendingUntilUnmasked) {
  Bench b;
  const auto p = b.connect();
  const Mr am = b.a.reg(4096), bm = b.b.reg(4096);
  b.a.write32(spec::kMsixControlOffset, 1);
  const uint32_t before = b.a.interrupts;
  b.a.arm(p.a.cqn, false);
  b.a.post_send(p.a.qpn, wr(WrOpcode::kRdmaWrite, kSignaled, bm.address, bm.stag), {sge(am, 0, 8)});
  b.clock.settle(3000);
  EXPECT_EQ(b.a.interrupts, before);
  EXPECT_EQ(b.a.read(spec::kMsixPendingOffset, 8), 1U);
  b.a.write32(spec::kMsixControlOffset, 0);
  b.clock.settle(1000);
  EXPECT_EQ(b.a.interrupts, before + 1);
  EXPECT_EQ(b.a.read(spec::kMsixPendingOffset, 8), 0U);
}

// The message of an unmasked vector is no write of cq, so a register read does not wait for it.
TEST(Msix, ARegisterIsReadWhileAnUnmaskedMessageWaits) {
  Bench b;
  const auto p = b.connect();
  const Mr am = b.a.reg(4096), bm = b.b.reg(4096);
  b.a.write32(spec::kMsixControlOffset, 1);
  b.a.arm(p.a.cqn, false);
  b.a.post_send(p.a.qpn, wr(WrOpcode::kRdmaWrite, kSignaled, bm.address, bm.stag), {sge(am, 0, 8)});
  b.clock.settle(3000);
  const uint32_t before = b.a.interrupts;
  b.a.hold_writes(true);
  b.a.write32(spec::kMsixControlOffset, 0);
  b.clock.settle(100);
  EXPECT_EQ(b.a.read(spec::kMagicOffset, 4), 0x43494e4dU);
  b.a.hold_writes(false);
  b.clock.settle(1000);
  EXPECT_EQ(b.a.interrupts, before + 1);
}

TEST(Doorbells, ThatDoNotFitAreCountedAndIgnored) {
  Bench b;
  const auto p = b.connect();
  const Mr bm = b.b.reg(4096);
  const auto dropped = [&] { return b.a.read(spec::kDoorbellsDroppedOffset, 8); };
  uint64_t expected = 0;
  const auto check = [&](const char* what) { EXPECT_EQ(dropped(), ++expected) << what; };
  // Offsets in a doorbell page: 0 SQ, 8 RQ, 0x10 CQ, 0x100 and 0x140 the halves of a push.
  // The value is the index in the upper half, and the number of the QP or CQ.
  b.a.write64(2, 0, uint64_t{1} << 32 | 77);
  check("no such QP");
  b.a.write64(2, 4096, uint64_t{1} << 32 | p.a.qpn);
  check("another page");
  b.a.write64(2, 0, uint64_t{65} << 32 | p.a.qpn);
  check("more than the ring");
  b.a.write64(2, 8, uint64_t{65} << 32 | p.a.qpn);
  check("more than the RQ");
  b.a.write64(2, 0x20, 0);
  check("reserved offset");
  b.a.write64(2, 0x10, uint64_t{5} << 32 | p.a.cqn);
  check("consumer ahead of the producer");
  b.a.write64(2, 0x10, 900);
  check("no such CQ");
  Bytes push(64, 0);
  spec::SqWqe w = wr(WrOpcode::kRdmaWrite);
  w.units = 3;
  w.pack(push);
  b.a.write_push(0x100, push);
  check("push of three units");
  Bytes second(64, 0);
  second[58] = 1;  // bit 16 of the doorbell's object, which is in bytes 56 to 58
  b.a.write_push(0x140, second);
  check("second half for a QP number of 17 bits");
  // A dropped push announces no WQE; the doorbell after it does.
  b.a.put_send(p.a.qpn, wr(WrOpcode::kRdmaWrite, kSignaled | kInline, bm.address, bm.stag), {},
               Bytes(40, 7));
  b.a.write_push(0x100, push);
  check("still three units");
  b.a.ring_sq(p.a.qpn);
  EXPECT_EQ(b.a.wait(p.a.cqn).status, WcStatus::kSuccess);
  b.a.write64(2, 0, p.a.qpn);
  check("going back");
  EXPECT_EQ(b.a.query(p.a.qpn).state, spec::QpState::kRts);
}

// The second half never comes. When the first half is over age (HostTiming::push_tick), it counts
// as a plain doorbell.
TEST(Push, HalfIsADoorbell) {
  Bench b;
  const auto p = b.connect();
  const Mr bm = b.b.reg(4096);
  b.a.put_send(p.a.qpn, wr(WrOpcode::kRdmaWrite, kSignaled | kInline, bm.address, bm.stag), {},
               Bytes(40, 7));
  spec::SqWqe w = wr(WrOpcode::kRdmaWrite, kSignaled | kInline);
  w.units = 2;
  w.length = 40;
  w.ring = {.object = p.a.qpn, .flags = 0, .index = 2};
  Bytes half(64, 9);
  w.pack(half);
  b.a.write_push(0x100, half);
  b.a.read(spec::kMagicOffset, 4);
  EXPECT_EQ(b.a.wait(p.a.cqn).status, WcStatus::kSuccess);
  b.clock.settle();
  EXPECT_EQ(b.b.bytes(bm.address - 0x10000000, 40), Bytes(40, 7))
      << "the WQE in the ring, not the pushed half";
}

// The host answers reads at once, and stream dma_rd_rsp accepts one beat per cycle. Even if 256 QPs
// fill their prefetch buffers, no more responses may be in flight than there are tags: else a queue
// of the model overflows, which ends the test. The Writes are empty, so all reads are those
// of the rings.
TEST(Reads, AreAsManyAsTheirBeatsLeaveTags) {
  constexpr int kQps = 256, kWqes = 16;
  Bench b;
  std::vector<Bench::Pair> pairs;
  for (int q = 0; q < kQps; ++q) pairs.push_back(b.connect({.log_rq = 2, .log_cq = 2}));
  for (const auto& p : pairs) {
    for (int i = 0; i < kWqes; ++i)
      b.a.put_send(p.a.qpn, wr(WrOpcode::kRdmaWrite, i + 1 == kWqes ? kSignaled : 0, 0, 0), {});
  }
  for (const auto& p : pairs) b.a.ring_sq(p.a.qpn);
  for (const auto& p : pairs) EXPECT_EQ(b.a.wait(p.a.cqn).status, WcStatus::kSuccess);
}

}  // namespace
}  // namespace rnic::tb

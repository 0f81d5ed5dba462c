// Shared receive queues of a device: QPs of side b take their receives from one (decision 16).
//
// post(tag): a receive WQE. send(p[i], at, n): the peer of QP i sends n bytes of its memory.
// expect(p[i], tag, status, n): the completion on that QP's CQ. inject(): a segment of the peer:
// untagged(control, opcode 0x43 Send, QN, MSN, MO). Control 0x01: more segments of the message
// follow; 0x41: the last one.
#include "srq.hpp"

#include <functional>

namespace rnic::tb {
namespace {

TEST_F(SrqTest, Commands) {
  Side& s = b.b;
  const auto status = [&](AdminOpcode op, uint32_t object, const auto&... args) {
    return s.command(op, object, args...).status;
  };
  const uint64_t base = s.alloc(1 << 14);
  const spec::AdminSrqArgs good{.pd = 0, .page = 0, .base = base, .log_size = 2};
  const auto create = [&](auto change, uint32_t object = 700) {
    spec::AdminSrqArgs a = good;
    change(a);
    return status(AdminOpcode::kCreateSrq, object, a);
  };
  const auto none = [](auto&) {};
  EXPECT_EQ(create(none, 1024), AdminStatus::kBadObject);
  EXPECT_EQ(create(none, srq), AdminStatus::kExists);
  EXPECT_EQ(create(none, p[0].b.qpn), AdminStatus::kExists);
  EXPECT_EQ(create([](auto& a) { a.pd = 3; }), AdminStatus::kNotFound);
  EXPECT_EQ(create([](auto& a) { a.pd = 1024; }), AdminStatus::kNotFound);
  const std::vector<std::function<void(spec::AdminSrqArgs&)>> bad{
      [](auto& a) { a.base += 32; },      [](auto& a) { a.log_size = 1; },
      [](auto& a) { a.log_size = 16; },   [](auto& a) { a.page = 65535; },
      [](auto& a) { a.reserved0 = 1; },   [](auto& a) { a.reserved1 = 1; },
      [](auto& a) { a.reserved2 = 1; },   [](auto& a) { a.reserved3 = 1; },
      [](auto& a) { a.reserved4[5] = 1; }};
  for (size_t i = 0; i < bad.size(); ++i) EXPECT_EQ(create(bad[i]), AdminStatus::kBadArgument) << i;
  EXPECT_EQ(create([](auto& a) { a.log_size = 15; }), AdminStatus::kOk);
  EXPECT_EQ(status(AdminOpcode::kCreateQp, 700,
                   spec::AdminQpArgs{.sq_base = base, .rq_base = base, .log_sq = 2, .log_rq = 2}),
            AdminStatus::kExists);

  for (const auto op : {AdminOpcode::kQueryQp, AdminOpcode::kDestroyQp})
    EXPECT_EQ(status(op, srq), AdminStatus::kNotFound);
  EXPECT_EQ(status(AdminOpcode::kModifyQp, srq, spec::AdminModifyArgs{.to_state = 4}),
            AdminStatus::kNotFound);
  for (const auto op : {AdminOpcode::kModifySrq, AdminOpcode::kDestroySrq}) {
    EXPECT_EQ(status(op, 1024), AdminStatus::kBadObject);
    EXPECT_EQ(status(op, 900), AdminStatus::kNotFound);
    EXPECT_EQ(status(op, p[0].b.qpn), AdminStatus::kNotFound);
  }
  EXPECT_EQ(status(AdminOpcode::kModifySrq, 700, spec::AdminLimitArgs{.limit = 1, .reserved0 = 1}),
            AdminStatus::kBadArgument);
  EXPECT_EQ(status(AdminOpcode::kModifySrq, 700, spec::AdminLimitArgs{.limit = 1, .reserved1 = 1}),
            AdminStatus::kBadArgument);
  spec::AdminLimitArgs last{.limit = 1};
  last.reserved2[0] = 1;
  EXPECT_EQ(status(AdminOpcode::kModifySrq, 700, last), AdminStatus::kBadArgument);
  EXPECT_EQ(status(AdminOpcode::kModifySrq, 700, spec::AdminLimitArgs{.limit = 65535}),
            AdminStatus::kOk);
  EXPECT_EQ(status(AdminOpcode::kDestroySrq, 700, spec::AdminLimitArgs{.limit = 1}),
            AdminStatus::kBadArgument);
  EXPECT_EQ(status(AdminOpcode::kDestroySrq, 700), AdminStatus::kOk);
  EXPECT_EQ(status(AdminOpcode::kDestroySrq, 700), AdminStatus::kNotFound);
}

TEST_F(SrqTest, QpsCommands) {
  Side& s = b.b;
  EXPECT_EQ(s.command(AdminOpcode::kCreatePd, 1).status, AdminStatus::kOk);
  EXPECT_EQ(s.command(AdminOpcode::kDestroyPd, 1).status, AdminStatus::kOk);
  EXPECT_EQ(s.command(AdminOpcode::kCreatePd, 1).status, AdminStatus::kOk);
  const uint16_t other = s.create_srq(1);
  EXPECT_EQ(s.command(AdminOpcode::kDestroyPd, 1).status, AdminStatus::kInUse);
  const spec::AdminQpArgs good{.pd = 0,
                               .send_cq = p[0].b.cqn,
                               .recv_cq = p[0].b.cqn,
                               .sq_base = s.alloc(4096),
                               .log_sq = 2,
                               .has_srq = 1,
                               .srq = srq};
  const auto create = [&](auto change) {
    spec::AdminQpArgs a = good;
    change(a);
    return s.command(AdminOpcode::kCreateQp, 800, a).status;
  };
  EXPECT_EQ(create([](auto& a) { a.srq = 900; }), AdminStatus::kNotFound);
  EXPECT_EQ(create([](auto& a) { a.srq = 1024; }), AdminStatus::kNotFound);
  EXPECT_EQ(create([&](auto& a) { a.srq = p[0].b.qpn; }), AdminStatus::kNotFound);
  EXPECT_EQ(create([&](auto& a) { a.srq = other; }), AdminStatus::kBadArgument) << "another PD";
  EXPECT_EQ(create([](auto& a) { a.rq_base = 64; }), AdminStatus::kBadArgument);
  EXPECT_EQ(create([](auto& a) { a.log_rq = 2; }), AdminStatus::kBadArgument);
  EXPECT_EQ(create([](auto& a) { a.reserved0 = 1; }), AdminStatus::kBadArgument);
  EXPECT_EQ(create([](auto& a) { a.reserved2 = 1; }), AdminStatus::kBadArgument);
  EXPECT_EQ(create([](auto& a) { a.log_sq = 1; }), AdminStatus::kBadArgument);
  EXPECT_EQ(create([&](auto& a) {
              a.has_srq = 0;
              a.rq_base = a.sq_base;
              a.log_rq = 2;
            }),
            AdminStatus::kBadArgument)
      << "a number, and no SRQ";
  EXPECT_EQ(create([&](auto& a) {
              a.has_srq = 0;
              a.srq = 0;
            }),
            AdminStatus::kBadArgument)
      << "neither an SRQ nor a queue";
  EXPECT_EQ(create([&](auto& a) {
              a.pd = 1;
              a.srq = other;
            }),
            AdminStatus::kOk);

  EXPECT_EQ(s.command(AdminOpcode::kDestroySrq, other).status, AdminStatus::kInUse);
  EXPECT_EQ(s.command(AdminOpcode::kDestroyQp, 800).status, AdminStatus::kOk);
  EXPECT_EQ(s.command(AdminOpcode::kDestroyPd, 1).status, AdminStatus::kInUse) << "the SRQ";
  EXPECT_EQ(s.command(AdminOpcode::kDestroySrq, other).status, AdminStatus::kOk);
  EXPECT_EQ(s.command(AdminOpcode::kDestroyPd, 1).status, AdminStatus::kOk);
  // Three QPs use the other.
  for (const auto& q : p) {
    EXPECT_EQ(s.command(AdminOpcode::kDestroySrq, srq).status, AdminStatus::kInUse);
    EXPECT_EQ(to_error(q), AdminStatus::kOk);
    EXPECT_EQ(s.command(AdminOpcode::kDestroyQp, q.b.qpn).status, AdminStatus::kOk);
  }
  EXPECT_EQ(s.command(AdminOpcode::kDestroySrq, srq).status, AdminStatus::kOk);
}

// A create_qp that fails because its CQ has overrun does not use the SRQ.
TEST_F(SrqTest, ARefusedQpUsesNoSrq) {
  Side& s = b.b;
  const uint16_t fresh = s.create_srq(), cq = s.create_cq(2);
  const auto create = [&](uint32_t n, uint16_t of) {
    return s
        .command(AdminOpcode::kCreateQp, n,
                 spec::AdminQpArgs{.send_cq = cq,
                                   .recv_cq = cq,
                                   .sq_base = s.alloc(4096),
                                   .log_sq = 6,
                                   .has_srq = 1,
                                   .srq = of})
        .status;
  };
  // Entries of several flushes overrun the CQ.
  for (uint32_t n = 800; n < 806; ++n) {
    ASSERT_EQ(create(n, srq), AdminStatus::kOk);
    s.write64(2, 0, uint64_t{1} << 32 | n);
  }
  for (uint32_t n = 800; n < 806; ++n) {
    s.command(AdminOpcode::kModifyQp, n,
              spec::AdminModifyArgs{.to_state = static_cast<uint8_t>(QpState::kError)});
  }
  EXPECT_EQ(create(810, fresh), AdminStatus::kBadState);
  EXPECT_EQ(s.command(AdminOpcode::kDestroySrq, fresh).status, AdminStatus::kOk);
}

TEST_F(SrqTest, SendsOfSeveralQpsInOrderOfArrival) {
  b.a.fill(am.address - 0x10000000, 1 << 16, 7);
  const std::vector<uint16_t> tags{9, 3, 60, 0, 22, 8};
  for (const uint16_t tag : tags) post(tag);
  for (size_t i = 0; i < tags.size(); ++i) {
    const auto& q = p[i * 2 % 3];
    const auto n = static_cast<uint32_t>(1 + 700 * i), at = static_cast<uint32_t>(5000 * i);
    send(q, at, n);
    expect(q, tags[i], WcStatus::kSuccess, n);
    EXPECT_EQ(buffer(tags[i], n), source(at, n)) << i;
  }
  for (const auto& q : p) EXPECT_EQ(b.b.query(q.b.qpn).rq_retired, 0);
  EXPECT_EQ(b.b.device().waiting_for(), "");
}

// The ring wraps many times, while an open message keeps the oldest WQE.
TEST_F(SrqTest, ASlotIsFreeWhenItsWqeIsTaken) {
  post(63);
  inject(p[0], untagged(0x01, 0x43, 0, 1, 0) + Bytes(8, 1));
  b.clock.settle(2000);
  for (uint16_t i = 0; i < 200; ++i) {
    const auto tag = static_cast<uint16_t>(i % 60);
    post(tag);
    send(p[1 + i % 2], 0, 16);
    expect(p[1 + i % 2], tag, WcStatus::kSuccess, 16);
  }
  inject(p[0], untagged(0x41, 0x43, 0, 1, 8) + Bytes(8, 2));
  expect(p[0], 63, WcStatus::kSuccess, 16);
  EXPECT_EQ(buffer(63, 16), Bytes(8, 1) + Bytes(8, 2));
}

TEST_F(SrqTest, AnEmptySrqEndsOneStream) {
  send(p[0], 0, 8);
  b.clock.settle();
  const auto q = b.b.query(p[0].b.qpn);
  EXPECT_EQ(q.state, QpState::kError);
  EXPECT_EQ(q.cause, Cause::kDdpUntaggedNoBuffer);
  EXPECT_FALSE(b.b.poll(p[0].b.cqn));
  EXPECT_EQ(events(), std::vector<uint32_t>{p[0].b.qpn});
  post(4);
  send(p[1], 0, 8);
  expect(p[1], 4, WcStatus::kSuccess, 8);
}

TEST_F(SrqTest, AReadThatFailsEndsOneStreamAndLeavesTheWqe) {
  for (uint64_t at = 0; at < Side::kMemory; at += 64) b.b.poison[at] = spec::RdStatus::kPoisoned;
  post(17);
  b.clock.settle(2000);  // the read ahead fails
  send(p[0], 0, 8);
  b.clock.settle();
  b.b.poison.clear();
  const auto q = b.b.query(p[0].b.qpn);
  EXPECT_EQ(q.state, QpState::kError);
  EXPECT_EQ(q.cause, Cause::kLocalCatastrophic);
  EXPECT_FALSE(b.b.poll(p[0].b.cqn)) << "its tag is not known";
  send(p[2], 0, 8);
  expect(p[2], 17, WcStatus::kSuccess, 8);
  EXPECT_FALSE(b.b.poll(p[0].b.cqn));
}

TEST_F(SrqTest, AMalformedWqeEndsOneStream) {
  const uint16_t tag = 33;
  b.b.post_recv(srq, {sge(bm, 0, 8), sge(bm, 0, 8), sge(bm, 0, 8), sge(bm, 0, 8)}, tag);
  post(34);
  send(p[1], 0, 8);
  expect(p[1], tag, WcStatus::kLocQpOpErr);
  b.clock.settle();
  EXPECT_EQ(b.b.query(p[1].b.qpn).cause, Cause::kLocalCatastrophic);
  EXPECT_FALSE(b.b.poll(p[1].b.cqn));
  send(p[0], 0, 8);
  expect(p[0], 34, WcStatus::kSuccess, 8);
}

TEST_F(SrqTest, AMessageThatIsTooLong) {
  post(40, 100);
  post(41);
  send(p[0], 0, 101);
  expect(p[0], 40, WcStatus::kLocLenErr);
  b.clock.settle();
  EXPECT_EQ(b.b.query(p[0].b.qpn).cause, Cause::kDdpUntaggedTooLong);
  EXPECT_FALSE(b.b.poll(p[0].b.cqn));
  send(p[1], 0, 101);
  expect(p[1], 41, WcStatus::kSuccess, 101);
}

TEST_F(SrqTest, TheLimitMakesOneEvent) {
  for (uint16_t i = 0; i < 6; ++i) post(i);
  EXPECT_EQ(arm(4), AdminStatus::kOk);
  for (uint16_t i = 0; i < 6; ++i) {
    send(p[i % 3], 0, 8);
    expect(p[i % 3], i, WcStatus::kSuccess, 8);
    b.clock.settle(2000);
    EXPECT_EQ(events(), i == 2 ? std::vector<uint32_t>{srq} : std::vector<uint32_t>{}) << i;
  }
  EXPECT_EQ(b.b.query(p[0].b.qpn).state, QpState::kRts);
}

// Posted WQEs stay for the other QPs. Only the send queue is flushed.
TEST_F(SrqTest, AnErrorFlushesNoReceives) {
  for (uint16_t i = 0; i < 4; ++i) post(i);
  EXPECT_EQ(to_error(p[0]), AdminStatus::kOk);
  EXPECT_FALSE(b.b.poll(p[0].b.cqn));
  b.b.post_send(p[0].b.qpn, wr(WrOpcode::kSend, kSignaled), {});
  const auto e = b.b.wait(p[0].b.cqn);
  EXPECT_EQ(e.status, WcStatus::kWrFlushErr);
  EXPECT_EQ(e.is_recv, 0);
  for (uint16_t i = 0; i < 4; ++i) {
    send(p[1 + i % 2], 0, 8);
    expect(p[1 + i % 2], i, WcStatus::kSuccess, 8);
  }
  EXPECT_EQ(b.b.command(AdminOpcode::kDestroyQp, p[0].b.qpn).status, AdminStatus::kOk);
  EXPECT_FALSE(b.b.poll(p[0].b.cqn));
}

TEST_F(SrqTest, AnAbortFlushesTheOpenMessage) {
  post(12);
  post(13);
  inject(p[0], untagged(0x01, 0x43, 0, 1, 0) + Bytes(8, 1));
  b.clock.settle(2000);
  EXPECT_EQ(to_error(p[0]), AdminStatus::kOk);
  const auto e = b.b.poll(p[0].b.cqn);  // written before the response to the command
  ASSERT_TRUE(e);
  EXPECT_EQ(e->index, 12);
  EXPECT_EQ(e->status, WcStatus::kWrFlushErr);
  EXPECT_EQ(e->qpn, p[0].b.qpn);
  EXPECT_FALSE(b.b.poll(p[0].b.cqn));
  send(p[1], 0, 8);
  expect(p[1], 13, WcStatus::kSuccess, 8);
}

// The connection ends in the middle of a message.
TEST_F(SrqTest, ALostConnectionFlushesTheOpenMessage) {
  post(12);
  inject(p[0], untagged(0x01, 0x43, 0, 1, 0) + Bytes(8, 1));
  b.clock.settle(2000);
  b.b.peer_closes(p[0].conn_b);
  EXPECT_EQ(to_error(p[0]), AdminStatus::kOk);
  expect(p[0], 12, WcStatus::kWrFlushErr);
  b.clock.settle();
  EXPECT_FALSE(b.b.poll(p[0].b.cqn));
}

// A refused Write within a message, and Sends after it. The WQE of the open message is flushed, and
// those of Sends that arrive before qp has the error. The following WQEs stay in the SRQ.
TEST_F(SrqTest, ARefusalFlushesWhatWasTakenAhead) {
  for (uint16_t i = 0; i < 10; ++i) post(i);
  inject(p[0], untagged(0x01, 0x43, 0, 1, 0) + Bytes(8, 1));
  inject(p[0], tagged(0xc1, 0x40, 0x1234500, 0) + Bytes(8, 1));
  inject(p[0], untagged(0x41, 0x43, 0, 1, 8) + Bytes(8, 1));
  for (uint32_t i = 2; i < 5; ++i) inject(p[0], untagged(0x41, 0x43, 0, i, 0) + Bytes(8, 1));
  b.clock.settle();
  EXPECT_EQ(b.b.query(p[0].b.qpn).cause, Cause::kDdpTaggedStag);
  uint16_t next = 0;
  while (const auto e = b.b.poll(p[0].b.cqn)) {
    EXPECT_EQ(e->status, WcStatus::kWrFlushErr);
    EXPECT_EQ(e->index, next++);
    EXPECT_EQ(e->byte_len, 0U);
  }
  EXPECT_GE(next, 1);
  EXPECT_LT(next, 5);
  for (; next < 10; ++next) {
    send(p[1], 0, 8);
    expect(p[1], next, WcStatus::kSuccess, 8);
  }
}

// A QP with the number of a destroyed SRQ: nothing of the SRQ is left.
TEST_F(SrqTest, TheNumberOfADestroyedSrq) {
  Side& s = b.b;
  const uint16_t n = 700;
  for (int i = 0; i < 3; ++i) {
    const uint64_t base = s.alloc(1 << 12);
    ASSERT_EQ(s.command(AdminOpcode::kCreateSrq, n, spec::AdminSrqArgs{.base = base, .log_size = 6})
                  .status,
              AdminStatus::kOk);
    s.write64(2, 8, uint64_t{40} << 32 | n);  // its reads are in flight when it is destroyed
    ASSERT_EQ(s.command(AdminOpcode::kDestroySrq, n).status, AdminStatus::kOk);
    const uint16_t cq = s.create_cq();
    ASSERT_EQ(s.command(AdminOpcode::kCreateQp, n,
                        spec::AdminQpArgs{.send_cq = cq,
                                          .recv_cq = cq,
                                          .sq_base = base,
                                          .rq_base = base + 64 * 4,
                                          .log_sq = 2,
                                          .log_rq = 2})
                  .status,
              AdminStatus::kOk);
    const auto q = s.query(n);
    EXPECT_EQ(q.state, QpState::kIdle);
    EXPECT_EQ(q.rq_retired, 0);
    s.write64(2, 8, uint64_t{3} << 32 | n);
    s.command(AdminOpcode::kModifyQp, n,
              spec::AdminModifyArgs{.to_state = static_cast<uint8_t>(QpState::kError)});
    const auto e = s.wait(cq);
    EXPECT_EQ(e.status, WcStatus::kWrFlushErr);
    EXPECT_EQ(e.index, 3);
    ASSERT_EQ(s.command(AdminOpcode::kDestroyQp, n).status, AdminStatus::kOk);
  }
  EXPECT_EQ(s.device().waiting_for(), "");
}

}  // namespace
}  // namespace rnic::tb

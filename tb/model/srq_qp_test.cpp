// Shared receive queues in qp, without other units: commands, doorbells, takes, fetches, the limit.
// QPs kA and kB take from the SRQ kSrq of 64 WQEs, kOwn from its own queue. post(queue, tag): a WQE
// and its doorbell. take(QP): a take, with the reads that it needs; request() and answer() make
// them step by step.
#include "srq_qp.hpp"

namespace rnic::tb {
namespace {

TEST_F(SrqOfTwo, NumbersAreThoseOfTheQps) {
  EXPECT_TRUE(qp.is_srq(kSrq));
  EXPECT_FALSE(qp.is_srq(kA));
  EXPECT_EQ(qp.row(kA), kSrq);
  EXPECT_EQ(qp.row(kSrq), kSrq);
  EXPECT_EQ(qp.row(kOwn), kOwn);
  EXPECT_EQ(create_srq(kSrq), AdminStatus::kExists);
  EXPECT_EQ(create_srq(kA), AdminStatus::kExists);
  EXPECT_EQ(create_qp(kSrq, {}), AdminStatus::kExists);
  for (const auto op : {AdminOpcode::kQueryQp, AdminOpcode::kModifyQp, AdminOpcode::kDestroyQp})
    EXPECT_EQ(command(op, kSrq), AdminStatus::kNotFound) << to_string(op);
  for (const auto op : {AdminOpcode::kModifySrq, AdminOpcode::kDestroySrq}) {
    EXPECT_EQ(command(op, kA), AdminStatus::kNotFound) << to_string(op);
    EXPECT_EQ(command(op, 100), AdminStatus::kNotFound) << to_string(op);
  }
  EXPECT_EQ(command(AdminOpcode::kDestroySrq, kSrq), AdminStatus::kOk);
  EXPECT_EQ(purged, std::vector<uint16_t>{kSrq});
  EXPECT_FALSE(qp.is_srq(kSrq));
  EXPECT_FALSE(post(kSrq, 1)) << "its doorbell is closed";
}

TEST_F(SrqOfTwo, DoorbellsOfQueuesThatAreNotThere) {
  for (const auto kind : {DoorbellKind::kSq, DoorbellKind::kPush})
    EXPECT_FALSE(ring(kind, kSrq, 1)) << "an SRQ has no send queue";
  EXPECT_FALSE(ring(DoorbellKind::kRq, kA, 1));
  EXPECT_FALSE(ring(DoorbellKind::kRq, kA, 0));
  EXPECT_TRUE(ring(DoorbellKind::kSq, kA, 1));
  EXPECT_TRUE(ring(DoorbellKind::kRq, kOwn, 1));
}

// A doorbell may announce as many WQEs as the ring holds, counted from the next take. No completion
// is needed to free a slot.
TEST_F(SrqQpTest, ADoorbellFitsByWhatIsTaken) {
  EXPECT_EQ(create_srq(kSrq, 2, 5), AdminStatus::kOk);
  EXPECT_EQ(create_qp(kA, kSrq), AdminStatus::kOk);
  EXPECT_FALSE(ring(DoorbellKind::kRq, kSrq, 1, 4)) << "another page";
  EXPECT_FALSE(ring(DoorbellKind::kRq, kSrq, 5, 5));
  EXPECT_TRUE(ring(DoorbellKind::kRq, kSrq, 4, 5));
  EXPECT_FALSE(ring(DoorbellKind::kRq, kSrq, 3, 5)) << "beyond the producer index";
  for (uint16_t i = 5; i < 40; ++i) {
    EXPECT_FALSE(ring(DoorbellKind::kRq, kSrq, i, 5)) << i;
    EXPECT_EQ(take(kA).result, RqTake::kOk);
    EXPECT_EQ(qp.retired(kSrq, true), i - 4);
    EXPECT_FALSE(ring(DoorbellKind::kRq, kSrq, static_cast<uint16_t>(i + 1), 5)) << i;
    EXPECT_TRUE(ring(DoorbellKind::kRq, kSrq, i, 5)) << i;
  }
}

TEST_F(SrqOfTwo, TakesAreInTheOrderOfRequests) {
  for (const uint16_t tag : std::initializer_list<uint16_t>{900, 5, 65535, 41})
    EXPECT_TRUE(post(kSrq, tag));
  EXPECT_TRUE(post(kOwn, 77));
  expect_ok(take(kA), 900);
  expect_ok(take(kB), 5);
  expect_ok(take(kOwn), 0, 77, false);
  expect_ok(take(kB), 65535);
  expect_ok(take(kA), 41);
  for (const uint16_t n : {kA, kB}) {
    const auto none = take(n);
    EXPECT_EQ(none.result, RqTake::kEmpty);
    EXPECT_EQ(none.shared, 1);
  }
  EXPECT_EQ(take(kOwn).shared, 0);
}

// A take waits for the read of its SRQ, not for one of another number.
TEST_F(SrqOfTwo, ATakeWaitsForItsSrq) {
  post(kSrq, 11);
  post(kOwn, 12);
  EXPECT_FALSE(qp.rq_take(kB));
  request();
  ASSERT_EQ(reads.size(), 2U);
  EXPECT_EQ(reads[0].address, base(kOwn));
  EXPECT_EQ(reads[1].address, base(kSrq));
  answer();
  EXPECT_FALSE(qp.rq_take(kB));
  answer();
  expect_ok(*qp.rq_take(kB), 11);
}

TEST_F(SrqOfTwo, AReadThatFailsLeavesItsWqes) {
  for (uint16_t i = 0; i < 40; ++i) post(kSrq, static_cast<uint16_t>(100 + i));
  EXPECT_TRUE(arm(39) == AdminStatus::kOk);
  asyncs.clear();
  for (const uint16_t n : {kA, kB}) {
    EXPECT_FALSE(qp.rq_take(n));
    request();
    answer(spec::RdStatus::kPoisoned);
    const auto rsp = qp.rq_take(n);
    ASSERT_TRUE(rsp);
    EXPECT_EQ(rsp->result, RqTake::kFailed);
    EXPECT_EQ(rsp->shared, 1);
    EXPECT_EQ(qp.retired(kSrq, true), 0);
    while (!reads.empty()) answer();
    EXPECT_TRUE(asyncs.empty()) << "nothing is used up";
  }
  for (uint16_t i = 0; i < 40; ++i)
    expect_ok(take(i % 2 == 0 ? kB : kA), static_cast<uint16_t>(100 + i));
}

// A failed prefetch has no effect while older WQEs are buffered: the next take that needs the WQE
// reads again.
TEST_F(SrqOfTwo, AReadAheadThatFails) {
  for (uint16_t i = 0; i < 16; ++i) post(kSrq, i);
  for (uint16_t i = 0; i < 4; ++i) expect_ok(take(kA), i);
  for (uint16_t i = 16; i < 24; ++i) post(kSrq, i);
  request();
  ASSERT_FALSE(reads.empty());
  answer(spec::RdStatus::kAborted);
  while (!reads.empty()) answer();
  for (uint16_t i = 4; i < 24; ++i) expect_ok(take(i % 3 == 0 ? kA : kB), i);
}

TEST_F(SrqOfTwo, MalformedWqesKeepTheirTag) {
  const std::vector<spec::RqWqe> bad{{.num_sge = 4, .tag = 301},
                                     {.reserved0 = 1, .tag = 302},
                                     {.reserved0 = 1U << 27, .tag = 303},
                                     {.tag = 304, .reserved2 = 0x8000},
                                     {.tag = 305, .reserved1 = uint64_t{1} << 63}};
  for (const auto& w : bad) {
    post(kSrq, w);
    post(kOwn, w);
  }
  post(kSrq, 306);
  post(kOwn, 306);
  for (uint16_t i = 0; i < bad.size(); ++i) {
    const auto shared = take(i % 2 == 0 ? kA : kB), own = take(kOwn);
    EXPECT_EQ(shared.result, RqTake::kMalformed);
    EXPECT_EQ(shared.shared, 1);
    EXPECT_EQ(shared.wqe.index, bad[i].tag);
    EXPECT_EQ(own.result, RqTake::kMalformed);
    EXPECT_EQ(own.shared, 0);
    EXPECT_EQ(own.wqe.index, i);
  }
  expect_ok(take(kA), 306);
  expect_ok(take(kOwn), 5, 306, false);
}

TEST_F(SrqOfTwo, TheLimitIsReachedOnce) {
  const auto reached = [this] {
    const bool once = asyncs == std::vector<uint16_t>{kSrq};
    EXPECT_TRUE(once || asyncs.empty());
    asyncs.clear();
    return once;
  };
  for (uint16_t i = 0; i < 10; ++i) post(kSrq, i);
  expect_ok(take(kA), 0);
  EXPECT_FALSE(reached()) << "not armed";
  EXPECT_EQ(arm(7), AdminStatus::kOk);  // 9 are left
  EXPECT_FALSE(reached());
  take(kA);
  take(kOwn);  // no WQE of the SRQ: kOwn has its own queue
  EXPECT_FALSE(reached());
  take(kB);
  EXPECT_FALSE(reached()) << "7 are left, not fewer";
  EXPECT_TRUE(qp.limit_due(kA));
  EXPECT_FALSE(qp.limit_due(kOwn));
  take(kB);
  EXPECT_TRUE(reached());
  EXPECT_EQ(qp.limit(kSrq), 0);
  take(kA);
  EXPECT_FALSE(reached()) << "disarmed";

  EXPECT_EQ(arm(1), AdminStatus::kOk);
  for (int left = 4; left != 0; --left) {
    take(kA);
    EXPECT_FALSE(reached()) << left;
  }
  post(kSrq, {.tag = 50, .reserved2 = 1});
  take(kA);
  EXPECT_FALSE(reached()) << "1 is left";
  EXPECT_EQ(take(kA).result, RqTake::kMalformed);
  EXPECT_TRUE(reached());
  EXPECT_EQ(arm(1), AdminStatus::kOk);
  EXPECT_EQ(take(kA).result, RqTake::kEmpty);
  EXPECT_FALSE(reached()) << "an empty take uses up nothing";
  EXPECT_FALSE(qp.limit_due(kA));
  post(kSrq, 51);
  EXPECT_EQ(arm(0), AdminStatus::kOk);
  take(kA);
  EXPECT_FALSE(reached());
  for (uint16_t i = 0; i < 64; ++i) EXPECT_TRUE(post(kSrq, i));
  EXPECT_EQ(arm(65535), AdminStatus::kOk);  // above the size of the ring
  take(kB);
  EXPECT_TRUE(reached());
}

// In a follower the RTL decides whether a take reaches the limit: the second argument of rq_take().
TEST_F(SrqOfTwo, AFollowerReachesTheLimit) {
  for (uint16_t i = 0; i < 3; ++i) post(kSrq, i);
  arm(60);
  request();
  answer();
  expect_ok(*qp.rq_take(kA, false), 0);
  EXPECT_TRUE(asyncs.empty());
  EXPECT_EQ(qp.limit(kSrq), 60);
  expect_ok(*qp.rq_take(kA, true), 1);
  EXPECT_EQ(asyncs, std::vector<uint16_t>{kSrq});
  arm(60);
  qp.reach_limit(kSrq);
  EXPECT_EQ(asyncs.size(), 2U);
  EXPECT_FALSE(qp.limit_due(kA));
}

TEST_F(SrqOfTwo, CompletionsCarryTheTag) {
  for (uint16_t i = 0; i < 3; ++i) post(kSrq, static_cast<uint16_t>(70 + i));
  post(kOwn, 3);
  for (int i = 0; i < 2; ++i) take(kA);
  take(kOwn);
  cqes.clear();
  qp.rx_done({.qpn = kA, .kind = spec::DeliverKind::kRecv, .index = 71, .byte_len = 9});
  qp.rx_done(
      {.qpn = kA, .kind = spec::DeliverKind::kRecv, .index = 70, .status = WcStatus::kWrFlushErr});
  ASSERT_EQ(cqes.size(), 2U);
  EXPECT_EQ(cqes[0].cqn, 20);
  EXPECT_EQ(
      cqes[0].entry,
      (spec::Cqe{
          .qpn = kA, .opcode = spec::WcOpcode::kRecv, .byte_len = 9, .index = 71, .is_recv = 1}));
  EXPECT_EQ(cqes[1].entry, (spec::Cqe{.qpn = kA,
                                      .opcode = spec::WcOpcode::kRecv,
                                      .index = 70,
                                      .status = WcStatus::kWrFlushErr,
                                      .is_recv = 1}));
  // To error: the send queue is flushed, and the receive queue of the QP that has its own.
  for (const uint16_t n : {kA, kOwn}) {
    cqes.clear();
    EXPECT_TRUE(ring(DoorbellKind::kSq, n, 2));
    EXPECT_EQ(command(AdminOpcode::kModifyQp, n,
                      spec::AdminModifyArgs{.to_state = static_cast<uint8_t>(QpState::kError)}),
              AdminStatus::kOk);
    EXPECT_EQ(qp.state(n), QpState::kError);
    ASSERT_EQ(cqes.size(), n == kA ? 1U : 2U);
    EXPECT_EQ(cqes[0].entry.is_recv, 0);
    EXPECT_EQ(cqes[0].entry.index, 2);
    EXPECT_EQ(command(AdminOpcode::kQueryQp, n), AdminStatus::kOk);
    EXPECT_EQ(spec::AdminQpResult::unpack(rsps[0].result).rq_retired, n == kA ? 0 : 1);
    EXPECT_TRUE(qp.retirable().empty());
  }
  expect_ok(take(kB), 72);
  // A QP that has stopped since its request still gets a WQE; ddp reports it as flushed.
  post(kSrq, 73);
  expect_ok(take(kA), 73);
}

// CQ 0 is no CQ of an SRQ, although the context of an SRQ holds 0 there.
TEST_F(SrqOfTwo, ACqFaultPassesAnSrqBy) {
  EXPECT_EQ(create_qp(5, kSrq, 0), AdminStatus::kOk);
  asyncs.clear();
  EXPECT_FALSE(qp.completes_on(kSrq, 0));
  qp.cq_fault({.cqn = 0});
  settle();
  EXPECT_EQ(asyncs, std::vector<uint16_t>{5});
  EXPECT_EQ(qp.state(5), QpState::kError);
  EXPECT_EQ(qp.state(kSrq), QpState::kIdle);
  post(kSrq, 8);
  expect_ok(take(kA), 8);
}

// Reads of a destroyed SRQ return after its number has been given to a new SRQ or QP. Their WQEs
// must not be used.
TEST_F(SrqQpTest, ANumberIsUsedAgain) {
  for (const bool as_srq : {false, true}) {
    EXPECT_EQ(create_srq(), AdminStatus::kOk);
    EXPECT_EQ(create_qp(kA, kSrq), AdminStatus::kOk);
    for (uint16_t i = 0; i < 30; ++i) post(kSrq, static_cast<uint16_t>(500 + i));
    arm(100);
    expect_ok(take(kA), 500);
    for (int i = 0; i < 8; ++i) take(kA);
    arm(100);
    request();
    ASSERT_FALSE(reads.empty());
    EXPECT_EQ(command(AdminOpcode::kDestroyQp, kA), AdminStatus::kOk);
    EXPECT_EQ(command(AdminOpcode::kDestroySrq, kSrq), AdminStatus::kOk);
    const auto old = rings[kSrq];
    EXPECT_EQ(as_srq ? create_srq() : create_qp(kSrq, {}), AdminStatus::kOk);
    if (as_srq) {
      EXPECT_EQ(create_qp(kA, kSrq), AdminStatus::kOk);
    }
    const uint16_t user = as_srq ? kA : kSrq;
    EXPECT_EQ(qp.is_srq(kSrq), as_srq);
    EXPECT_EQ(take(user).result, RqTake::kEmpty) << "of the old one";
    asyncs.clear();
    const auto left = reads.size();
    post(kSrq, 42);
    const auto fresh = rings[kSrq];
    EXPECT_FALSE(qp.rq_take(user));
    request();
    EXPECT_GT(reads.size(), left);
    for (size_t i = 0; i < left; ++i) {
      rings[kSrq] = old;
      answer(i == 0 ? spec::RdStatus::kOk : spec::RdStatus::kAborted);
      EXPECT_FALSE(qp.rq_take(user)) << "a read of the old one";
    }
    rings[kSrq] = fresh;
    expect_ok(take(user), as_srq ? 42 : 0, 42, as_srq);
    EXPECT_TRUE(asyncs.empty()) << "the limit of the old one";
    if (as_srq) {
      command(AdminOpcode::kDestroyQp, kA);
      EXPECT_EQ(command(AdminOpcode::kDestroySrq, kSrq), AdminStatus::kOk);
    } else {
      EXPECT_TRUE(ring(DoorbellKind::kSq, kSrq, 1)) << "a QP has a send queue";
      EXPECT_EQ(command(AdminOpcode::kDestroyQp, kSrq), AdminStatus::kOk);
    }
  }
}

}  // namespace
}  // namespace rnic::tb

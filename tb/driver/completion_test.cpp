// Completions: unsignalled requests, flushes, errors, phases, the consumer index, events.
#include "driver/driver_fixture.hpp"

namespace rnic::tb {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Completion : public DriverTest {
 protected:
  /// Posts one Send for each flag, with wr_id from 100 on. True: signaled.
  void post(Qp& qp, std::initializer_list<bool> signaled) {
    for (const bool s : signaled) {
      const auto r = qp.post_send(
          {.wr_id = next_++, .opcode = IBV_WR_SEND, .send_flags = s ? IBV_SEND_SIGNALED : 0u});
      ASSERT_TRUE(r) << r.error->what;
    }
  }
  std::vector<uint64_t> ids(const std::vector<Wc>& wcs) {
    std::vector<uint64_t> out;
    for (const Wc& w : wcs) out.push_back(w.wr_id);
    return out;
  }
  uint64_t next_ = 100;
};

TEST_F(Completion, UnsignalledSlotsReturnWithTheNextSignalled) {
  Qp qp = rts_qp({.max_send_wr = 4});
  post(qp, {false, false, false, true});
  EXPECT_EQ(errc(qp.post_send(SendWr{})), Errc::kQueueFull);
  finish(qp, 3);
  const auto wcs = poll();
  ASSERT_THAT(ids(wcs), ElementsAre(103));  // one completion, four slots
  EXPECT_EQ(wcs[0].status, IBV_WC_SUCCESS);
  EXPECT_EQ(wcs[0].opcode, IBV_WC_SEND);
  EXPECT_EQ(wcs[0].qp_num, qp.qp_num());
  post(qp, {false, false, false, false});
  EXPECT_EQ(errc(qp.post_send(SendWr{})), Errc::kQueueFull);
}

TEST_F(Completion, SigAllSignalsEach) {
  Qp qp = rts_qp({}, false, true);
  post(qp, {false});
  EXPECT_EQ(sq(qp, 0)[1], 2);
}

TEST_F(Completion, LongWqesCountTheirUnits) {
  Qp qp = rts_qp({.max_send_wr = 2, .max_send_sge = 14});
  const std::vector<Sge> sges(14, Sge{0, 1, 1});
  ASSERT_TRUE(qp.post_send({.wr_id = 1, .sg_list = sges}));
  ASSERT_TRUE(qp.post_send({.wr_id = 2, .sg_list = sges, .send_flags = IBV_SEND_SIGNALED}));
  EXPECT_EQ(errc(qp.post_send(SendWr{})), Errc::kQueueFull);
  finish(qp, 4);
  EXPECT_THAT(ids(poll()), ElementsAre(2));
  ASSERT_TRUE(qp.post_send({.wr_id = 3, .sg_list = sges}));
  ASSERT_TRUE(qp.post_send({.wr_id = 4, .sg_list = sges}));
}

TEST_F(Completion, ReceiveHasLengthAndTimestamp) {
  Qp qp = make_qp();
  ASSERT_TRUE(qp.post_recv(RecvWr{.wr_id = 55}));
  dev.cqe(cq.number(), {.qpn = qp.qp_num(),
                        .opcode = spec::WcOpcode::kRecv,
                        .byte_len = 1234,
                        .index = 0,
                        .is_recv = 1,
                        .timestamp = 330});
  const auto wcs = poll();
  ASSERT_THAT(ids(wcs), ElementsAre(55));
  EXPECT_EQ(wcs[0].opcode, IBV_WC_RECV);
  EXPECT_EQ(wcs[0].byte_len, 1234u);
  EXPECT_EQ(wcs[0].completion_ts, 330u);
  EXPECT_EQ(ctx.to_time(wcs[0].completion_ts), 1024000u);  // 330 * 102400 / 33 ps
}

TEST_F(Completion, FlushExpandsToOneEach) {
  Qp qp = rts_qp({.max_send_sge = 14});
  ASSERT_TRUE(qp.post_send({.wr_id = 1, .opcode = IBV_WR_RDMA_WRITE}));
  const std::vector<Sge> sges(14, Sge{0, 1, 1});
  ASSERT_TRUE(qp.post_send({.wr_id = 2, .sg_list = sges}));  // 4 units, unsignalled
  const Sge sink{};
  ASSERT_TRUE(qp.post_send({.wr_id = 3,
                            .sg_list = {&sink, 1},
                            .opcode = IBV_WR_RDMA_READ,
                            .send_flags = IBV_SEND_SIGNALED}));
  finish(qp, 6, spec::WcStatus::kWrFlushErr);  // the index is exclusive, in units
  const auto wcs = poll();
  ASSERT_THAT(ids(wcs), ElementsAre(1, 2, 3));
  for (const Wc& w : wcs) EXPECT_EQ(w.status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(wcs[0].opcode, IBV_WC_RDMA_WRITE);
  EXPECT_EQ(wcs[1].opcode, IBV_WC_SEND);
  EXPECT_EQ(wcs[2].opcode, IBV_WC_RDMA_READ);
  EXPECT_THAT(poll(), IsEmpty());
}

/// A Write with Immediate is two WQEs and one completion: of the Immediate Data, or of the Write if
/// that fails. Units 0 and 1 are the first request, 2 and 3 the second.
TEST_F(Completion, AWriteWithImmediateCompletesOnce) {
  const auto pair = [&](const Qp& q, uint64_t id) {
    return const_cast<Qp&>(q).post_send(
        {.wr_id = id, .opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .send_flags = IBV_SEND_SIGNALED});
  };
  {
    Qp qp = rts_qp();
    ASSERT_TRUE(pair(qp, 1));
    ASSERT_TRUE(pair(qp, 2));
    finish(qp, 1);
    finish(qp, 3);
    const auto wcs = poll();
    ASSERT_THAT(ids(wcs), ElementsAre(1, 2));
    EXPECT_EQ(wcs[0].opcode, IBV_WC_RDMA_WRITE);
  }
  {
    Qp qp = rts_qp();  // the Write of request 1 fails; units 1 to 3 are flushed
    ASSERT_TRUE(pair(qp, 1));
    ASSERT_TRUE(pair(qp, 2));
    finish(qp, 0, spec::WcStatus::kLocProtErr);
    finish(qp, 4, spec::WcStatus::kWrFlushErr);
    const auto wcs = poll();
    ASSERT_THAT(ids(wcs), ElementsAre(1, 2));
    EXPECT_EQ(wcs[0].status, IBV_WC_LOC_PROT_ERR);
    EXPECT_EQ(wcs[1].status, IBV_WC_WR_FLUSH_ERR);
  }
  {
    Qp qp = rts_qp();  // the Write is done, its Immediate Data is flushed
    ASSERT_TRUE(pair(qp, 1));
    finish(qp, 2, spec::WcStatus::kWrFlushErr);
    const auto wcs = poll();
    ASSERT_THAT(ids(wcs), ElementsAre(1));
    EXPECT_EQ(wcs[0].status, IBV_WC_WR_FLUSH_ERR);
    EXPECT_EQ(wcs[0].opcode, IBV_WC_RDMA_WRITE);
  }
  {
    Qp qp = rts_qp();  // a flush up to the Immediate Data, which fails itself
    ASSERT_TRUE(pair(qp, 1));
    finish(qp, 1, spec::WcStatus::kWrFlushErr);
    finish(qp, 1, spec::WcStatus::kRemOpErr);
    const auto wcs = poll();
    ASSERT_THAT(ids(wcs), ElementsAre(1));
    EXPECT_EQ(wcs[0].status, IBV_WC_REM_OP_ERR);
  }
}

TEST_F(Completion, ImmediateDataArrivesWithTheReceive) {
  Qp qp = rts_qp();
  ASSERT_TRUE(qp.post_recv(RecvWr{.wr_id = 3}));
  dev.cqe(cq.number(), {.qpn = qp.qp_num(),
                        .opcode = spec::WcOpcode::kRecvRdmaWithImm,
                        .byte_len = 77,
                        .is_recv = 1,
                        .immediate = 0x0102030405060708});
  const auto wcs = poll();
  ASSERT_THAT(ids(wcs), ElementsAre(3));
  EXPECT_EQ(wcs[0].opcode, IBV_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(wcs[0].wc_flags, uint32_t{IBV_WC_WITH_IMM});
  EXPECT_EQ(wcs[0].byte_len, 77u);
  EXPECT_EQ(wcs[0].imm, 0x0102030405060708u);
  EXPECT_EQ(wcs[0].imm_data, 0x04030201u);  // 01 02 03 04 in memory
}

TEST_F(Completion, AnInvalidatedKeyArrivesWithTheReceive) {
  Qp qp = rts_qp();
  ASSERT_TRUE(qp.post_recv(RecvWr{.wr_id = 4}));
  dev.cqe(cq.number(), {.qpn = qp.qp_num(),
                        .opcode = spec::WcOpcode::kRecv,
                        .byte_len = 9,
                        .is_recv = 1,
                        .with_inv = 1,
                        .immediate = 0xaabbccdd});
  const auto wcs = poll();
  ASSERT_THAT(ids(wcs), ElementsAre(4));
  EXPECT_EQ(wcs[0].opcode, IBV_WC_RECV);
  EXPECT_EQ(wcs[0].wc_flags, uint32_t{IBV_WC_WITH_INV});
  EXPECT_EQ(wcs[0].invalidated_rkey, 0xaabbccddu);
  EXPECT_EQ(wcs[0].byte_len, 9u);
}

TEST_F(Completion, FlushThatDoesNotFitContinuesAtTheNextPoll) {
  Qp qp = rts_qp();
  post(qp, {true, true, true, true, true});
  finish(qp, 5, spec::WcStatus::kWrFlushErr);
  EXPECT_THAT(ids(poll(2)), ElementsAre(100, 101));
  EXPECT_THAT(ids(poll(2)), ElementsAre(102, 103));
  EXPECT_THAT(ids(poll(2)), ElementsAre(104));
  EXPECT_THAT(poll(2), IsEmpty());
}

TEST_F(Completion, FlushOfReceivesAndOfNothing) {
  Qp qp = make_qp();
  for (uint64_t i = 0; i < 3; i++) ASSERT_TRUE(qp.post_recv(RecvWr{.wr_id = i}));
  finish(qp, 0, spec::WcStatus::kSuccess, true);
  finish(qp, 3, spec::WcStatus::kWrFlushErr, true);
  finish(qp, 3, spec::WcStatus::kWrFlushErr, true);  // no new WQE: no completion
  const auto wcs = poll();
  ASSERT_THAT(ids(wcs), ElementsAre(0, 1, 2));
  EXPECT_EQ(wcs[0].status, IBV_WC_SUCCESS);
  EXPECT_EQ(wcs[2].status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(wcs[2].opcode, IBV_WC_RECV);
}

TEST_F(Completion, AFlushBeyondWhatIsPostedTellsNothing) {
  Qp qp = rts_qp();
  post(qp, {true});
  finish(qp, 5, spec::WcStatus::kWrFlushErr);
  finish(qp, 1, spec::WcStatus::kWrFlushErr, true);
  EXPECT_THAT(poll(), IsEmpty());
}

TEST_F(Completion, AFlushHalfToldEndsWithItsQp) {
  Qp qp = rts_qp();
  post(qp, {true, true, true});
  finish(qp, 3, spec::WcStatus::kWrFlushErr);
  EXPECT_THAT(ids(poll(1)), ElementsAre(100));
  ASSERT_TRUE(qp.destroy());
  EXPECT_THAT(poll(), IsEmpty());
}

TEST_F(Completion, PostsInErrorAreRungAndFlushed) {
  Qp qp = rts_qp({.max_send_wr = 4});
  ASSERT_TRUE(qp.modify(IBV_QPS_ERR));
  EXPECT_EQ(qp.state(), IBV_QPS_ERR);
  post(qp, {true, false});
  EXPECT_EQ(dev.doorbells().size(), 2u);
  finish(qp, 1, spec::WcStatus::kWrFlushErr);
  finish(qp, 2, spec::WcStatus::kWrFlushErr);
  EXPECT_THAT(ids(poll()), ElementsAre(100, 101));
  ASSERT_TRUE(qp.post_recv(RecvWr{.wr_id = 7}));
  finish(qp, 1, spec::WcStatus::kWrFlushErr, true);
  EXPECT_THAT(ids(poll()), ElementsAre(7));
}

TEST_F(Completion, EveryErrorStatusHasItsVerbsName) {
  const std::pair<spec::WcStatus, WcStatus> rows[] = {
      {spec::WcStatus::kLocLenErr, IBV_WC_LOC_LEN_ERR},
      {spec::WcStatus::kLocQpOpErr, IBV_WC_LOC_QP_OP_ERR},
      {spec::WcStatus::kLocProtErr, IBV_WC_LOC_PROT_ERR},
      {spec::WcStatus::kMwBindErr, IBV_WC_MW_BIND_ERR},
      {spec::WcStatus::kRemInvReqErr, IBV_WC_REM_INV_REQ_ERR},
      {spec::WcStatus::kRemAccessErr, IBV_WC_REM_ACCESS_ERR},
      {spec::WcStatus::kRemOpErr, IBV_WC_REM_OP_ERR},
      {spec::WcStatus::kFatalErr, IBV_WC_FATAL_ERR}};
  Qp qp = rts_qp();
  uint16_t at = 0;
  for (const auto& [device, user] : rows) {
    const uint64_t first = next_;
    post(qp, {false, false});  // the failing one may be unsignalled; the request before it is done
    dev.cqe(cq.number(), {.qpn = qp.qp_num(),
                          .index = static_cast<uint16_t>(at + 1),
                          .status = device,
                          .vendor = 48});  // cause local_catastrophic
    at = static_cast<uint16_t>(at + 2);
    const auto wcs = poll();
    ASSERT_THAT(ids(wcs), ElementsAre(first + 1));
    EXPECT_EQ(wcs[0].status, user);
    EXPECT_EQ(wcs[0].vendor_err, 48u);
  }
  EXPECT_EQ(IBV_WC_FATAL_ERR, 19);  // rdma-core's value
}

TEST_F(Completion, PhaseFlipsWithEachPass) {
  cq = must(ctx.create_cq(2));  // a ring of 4
  Qp qp = rts_qp();
  for (int i = 0; i < 25; i++) {
    post(qp, {true});
    EXPECT_THAT(poll(), IsEmpty()) << i;  // the entry of the previous pass does not count as new
    finish(qp, static_cast<uint16_t>(i));
    EXPECT_THAT(ids(poll()), ElementsAre(100 + i));
  }
}

TEST_F(Completion, PhaseBitThenBarrierThenContents) {
  Qp qp = rts_qp();
  post(qp, {true, true});
  finish(qp, 0);
  finish(qp, 1);
  dev.calls.clear();
  EXPECT_EQ(poll().size(), 2u);
  EXPECT_EQ(dev.count(Call::kAfterPhaseBit), 2u);
  EXPECT_EQ(dev.count(Call::kRelax), 0u);
  EXPECT_THAT(poll(), IsEmpty());
  EXPECT_EQ(dev.count(Call::kAfterPhaseBit), 2u);
  EXPECT_EQ(dev.count(Call::kRelax), 1u);  // an empty poll costs time
}

TEST_F(Completion, PhaseBitThenBarrierThenEvent) {
  for (int i = 0; i < 2; i++) dev.eqe(1, spec::EqeType::kCompletion, cq.number());
  dev.calls.clear();
  ASSERT_TRUE(cq.get_cq_event(dev.now() + kMs));
  EXPECT_EQ(dev.count(Call::kAfterPhaseBit), 2u);
}

TEST_F(Completion, ConsumerIsToldBeforeTheReserveIsUsedUp) {
  // The ring has 16 entries: a reserve of 8 beyond those asked for. When 8 entries are consumed,
  // the driver must write the consumer index.
  cq = must(ctx.create_cq(8));
  Qp qp = rts_qp();
  for (int i = 0; i < 16; i++) post(qp, {true});
  for (uint16_t i = 0; i < 7; i++) finish(qp, i);
  dev.calls.clear();
  EXPECT_EQ(poll().size(), 7u);
  EXPECT_THAT(dev.doorbells(), IsEmpty());
  finish(qp, 7);
  EXPECT_EQ(poll().size(), 1u);
  const auto d = dev.doorbells();
  ASSERT_EQ(d.size(), 1u);
  EXPECT_EQ(d[0].offset, 0x010u);  // cq: the consumer index
  EXPECT_EQ(d[0].value, uint64_t{8} << 32 | cq.number());
}

TEST_F(Completion, ArmingTellsTheConsumer) {
  Qp qp = rts_qp();
  post(qp, {true});
  finish(qp, 0);
  EXPECT_EQ(poll().size(), 1u);
  dev.calls.clear();
  ASSERT_TRUE(cq.req_notify_cq());
  ASSERT_TRUE(cq.req_notify_cq(true));
  const auto d = dev.doorbells();
  ASSERT_EQ(d.size(), 2u);
  EXPECT_EQ(d[0].offset, 0x018u);  // cq_arm
  EXPECT_EQ(d[0].value, uint64_t{1} << 32 | cq.number());
  EXPECT_EQ(d[1].value, uint64_t{1} << 32 | 1u << 24 | cq.number());  // flag 0: solicited only
}

TEST_F(Completion, EventsComeThroughTheVectorOfTheCq) {
  EXPECT_EQ(dev.cqs.at(cq.number()).eqn, 1u);  // EQ 0 is for QPs and connections
  ASSERT_TRUE(cq.req_notify_cq());
  int waits = 0;
  dev.on_wait = [&] {
    if (++waits == 2) dev.eqe(1, spec::EqeType::kCompletion, cq.number());
  };
  dev.calls.clear();
  ASSERT_TRUE(cq.get_cq_event(dev.now() + kMs));
  EXPECT_EQ(waits, 2);
  for (const Call& c : dev.calls) {
    if (c.kind == Call::kWait) {
      EXPECT_EQ(c.value, 2u);  // a mask: vector 1, of EQ 1
    }
  }
  EXPECT_EQ(dev.reg(spec::kEqConsumerOffset + 4), 1u);
  EXPECT_EQ(errc(cq.get_cq_event(dev.now() + kUs)), Errc::kTimedOut);  // one event per arming
}

TEST_F(Completion, OverrunIsAnErrorOfTheCqAndAnEvent) {
  dev.eqe(0, spec::EqeType::kCqError, cq.number());
  const auto e = must(ctx.get_async_event(0));
  EXPECT_EQ(e.type, IBV_EVENT_CQ_ERR);
  EXPECT_EQ(e.object, cq.number());
  std::array<Wc, 1> wcs;
  EXPECT_EQ(errc(cq.poll_cq(wcs)), Errc::kDeviceError);
  EXPECT_EQ(errc(ctx.get_async_event(0)), Errc::kTimedOut);
}

/// The driver discards the events of a destroyed CQ, read or not: the next CQ with its number gets
/// none of them.
TEST_F(Completion, EventsOfACqThatIsGoneAreNotOfTheNext) {
  uint32_t number = 0;
  {
    const Cq old = must(ctx.create_cq(4));
    number = old.number();
    dev.eqe(0, spec::EqeType::kCqError, number);
    dev.eqe(1, spec::EqeType::kCompletion, number);
  }
  Cq next = must(ctx.create_cq(4));
  ASSERT_EQ(next.number(), number);
  EXPECT_EQ(errc(ctx.get_async_event(0)), Errc::kTimedOut);
  EXPECT_EQ(errc(next.get_cq_event(dev.now() + kUs)), Errc::kTimedOut);
  std::array<Wc, 1> wcs;
  EXPECT_EQ(must(next.poll_cq(wcs)), 0u);
}

TEST_F(Completion, QpEventsSayWhy) {
  Qp qp = rts_qp();
  auto& status = dev.qps.at(qp.qp_num()).status;
  status.state = spec::QpState::kError;
  status.drained = 1;
  status.cause = spec::Cause::kPeerTerminate;
  status.has_peer_term = 1;
  status.peer_term = 0x1101;  // the peer's Terminate 1/1/01
  dev.eqe(0, spec::EqeType::kQp, qp.qp_num());
  auto e = must(ctx.get_async_event(0));
  EXPECT_EQ(e.type, IBV_EVENT_QP_FATAL);
  EXPECT_EQ(e.object, qp.qp_num());
  EXPECT_EQ(e.peer_term, 0x1101);
  EXPECT_EQ(qp.state(), IBV_QPS_ERR);

  Qp other = rts_qp();
  auto& bad = dev.qps.at(other.qp_num()).status;
  bad.state = spec::QpState::kTerminate;
  bad.cause = spec::Cause::kDdpTaggedBounds;
  dev.eqe(0, spec::EqeType::kQp, other.qp_num());
  EXPECT_EQ(must(ctx.get_async_event(0)).type, IBV_EVENT_QP_ACCESS_ERR);
  EXPECT_EQ(other.state(), IBV_QPS_SQE);
  bad.state = spec::QpState::kError;
  bad.drained = 1;
}

TEST_F(Completion, AQpsEndIsToldOnce) {
  Qp qp = rts_qp();
  auto& status = dev.qps.at(qp.qp_num()).status;
  status.state = spec::QpState::kError;
  status.drained = 1;
  status.cause = spec::Cause::kLlpLost;
  for (int i = 0; i < 2; i++) {
    dev.eqe(0, spec::EqeType::kQp, qp.qp_num());
    const auto e = ctx.get_async_event(dev.now() + kUs);
    EXPECT_EQ(errc(e), i == 0 ? std::nullopt : std::optional(Errc::kTimedOut));
  }
}

TEST_F(Completion, OfAQpThatIsGoneAreForgotten) {
  Qp stays = rts_qp(), goes = rts_qp();
  ASSERT_TRUE(stays.post_send(SendWr{.wr_id = 1, .send_flags = IBV_SEND_SIGNALED}));
  ASSERT_TRUE(goes.post_send(SendWr{.wr_id = 2, .send_flags = IBV_SEND_SIGNALED}));
  finish(goes, 1, spec::WcStatus::kWrFlushErr);
  finish(stays, 0);
  const uint32_t number = goes.qp_num();
  ASSERT_TRUE(goes.destroy());
  Qp next = make_qp();
  EXPECT_EQ(next.qp_num(), number);  // first fit: reused, without its old completions
  EXPECT_THAT(ids(poll()), ElementsAre(1));
}

TEST_F(Completion, OfAQpThatIsGoneAreForgottenInBothItsCqs) {
  Cq sends = must(ctx.create_cq(4));
  Qp qp = must(pd.create_qp({.send_cq = &sends, .recv_cq = &cq}));
  ASSERT_TRUE(qp.post_recv(RecvWr{.wr_id = 1}));
  finish(qp, 1, spec::WcStatus::kWrFlushErr, true);
  dev.cqe(sends.number(), {.qpn = qp.qp_num(), .status = spec::WcStatus::kWrFlushErr});
  ASSERT_TRUE(qp.destroy());
  std::array<Wc, 4> wcs;
  EXPECT_EQ(must(cq.poll_cq(wcs)), 0u);
  EXPECT_EQ(must(sends.poll_cq(wcs)), 0u);
}

TEST_F(Completion, OfAReceiveNotPostedIsADeviceError) {
  Qp qp = make_qp();
  ASSERT_TRUE(qp.post_recv(RecvWr{.wr_id = 1}));
  finish(qp, 1, spec::WcStatus::kSuccess, true);
  std::array<Wc, 4> wcs;
  EXPECT_EQ(errc(cq.poll_cq(wcs)), Errc::kDeviceError);
}

TEST_F(Completion, OfNothingPostedIsADeviceError) {
  Qp qp = rts_qp();
  finish(qp, 3);
  std::array<Wc, 4> wcs;
  EXPECT_EQ(errc(cq.poll_cq(wcs)), Errc::kDeviceError);
}

}  // namespace
}  // namespace rnic::tb

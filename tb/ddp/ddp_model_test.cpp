// ddp's behaviour alone: what a bench of the RTL shows too, and the tandem relies on.
#include <gtest/gtest.h>

#include "base/bytes.hpp"
#include "ddp/ddp.hpp"

namespace rnic::model {
namespace {

using spec::Cause;

class DdpModelTest : public testing::Test,
                     private Ddp::Out,
                     private Translation,
                     private SegmentJudge {
 protected:
  DdpModelTest() { ddp.control({.op = spec::QpOp::kStart, .qpn = 0}); }

  RxUlpdu send(bool last, uint32_t msn, uint32_t mo, uint32_t bytes) {
    RxUlpdu u{.hdr = {.qpn = 0, .length = static_cast<uint16_t>(18 + bytes)},
              .data = Payload::make(18 + bytes)};
    uint8_t* const b = u.data.writable().data();
    std::fill_n(b, 18, uint8_t{0});
    b[0] = last ? 0x41 : 0x01;
    b[1] = 0x43;
    base::store_be<uint32_t>(b + 10, msn);
    base::store_be<uint32_t>(b + 14, mo);
    return u;
  }
  std::optional<Place> receive(RxUlpdu u, const spec::RqTakeRsp& take = {}) {
    if (ddp.rx.needs_receive(u)) ddp.rx.received(0, take);
    ddp.rx.enters(0);
    return ddp.rx.take(std::move(u));
  }
  static TxMessage message(spec::TxSource source, uint32_t length) {
    TxMessage m;
    m.hdr = {.qpn = 0, .source = source, .is_tagged = 1, .length = length, .num_sge = 1};
    m.hdr.has_watermark = source == spec::TxSource::kResp;
    m.hdr.watermark = 0x12345678;
    m.body = Payload::make(spec::WqeSge::kBytes);
    spec::WqeSge{.address = 0, .length = length, .lkey = 7}.pack(m.body.writable());
    return m;
  }

  spec::TptResult result = spec::TptResult::kOk;
  unsigned asked = 0;
  std::vector<spec::RxSegment> segments;
  std::vector<spec::RxDone> dones;
  std::vector<spec::TxFault> faults;
  Ddp ddp{spec::Sizes{}, *this, *this, *this};

 private:
  void qp_ack_ddp(const spec::QpAckDdp&) override {}
  void tx_want(const spec::TxWant&) override {}
  void tx_fault(const spec::TxFault& f) override {
    faults.push_back(f);
    ddp.tx.fault(f.qpn);
  }
  void sq_slot_free(const spec::SqSlotFree&) override {}
  void resp_slot_free(const spec::RespSlotFree&) override {}
  void rx_done(const spec::RxDone& d) override { dones.push_back(d); }
  spec::TptResult check(const spec::WqeCheck&) const override { return result; }
  spec::TptResult translate(const spec::WqeCheck&, ExtentList&) override {
    ++asked;
    return result;
  }
  void retired(const spec::Retired&) override {}
  spec::RxVerdict rx_segment(const spec::RxSegment& s) override {
    segments.push_back(s);
    return {.accept = s.cause == Cause::kNone};
  }
};

TEST_F(DdpModelTest, SendOverFourGigabytesIsTooLong) {
  const spec::Sge whole{.tagged_offset = 0, .length = 0xffffffff, .stag = 7};
  const spec::RqTakeRsp take{
      .found = 1, .wqe = {.index = 9, .num_sge = 3, .sge0 = whole, .sge1 = whole, .sge2 = whole}};
  constexpr uint32_t kPayload = 65535 - 18, kWhole = 0xffffffff / kPayload;
  for (uint32_t i = 0; i < kWhole; ++i) receive(send(false, 1, i * kPayload, kPayload), take);
  EXPECT_EQ(segments.back().cause, Cause::kNone);
  EXPECT_TRUE(dones.empty());
  receive(send(true, 1, kWhole * kPayload, kPayload));
  EXPECT_EQ(segments.back().cause, Cause::kDdpUntaggedTooLong);
  ASSERT_EQ(dones.size(), 1U);
  EXPECT_EQ(dones[0].status, spec::WcStatus::kLocLenErr);
  EXPECT_EQ(dones[0].index, 9);
}

TEST_F(DdpModelTest, RestOfAMessageWithoutRoomAsksForNothing) {
  const spec::RqTakeRsp small{
      .found = 1, .wqe = {.num_sge = 1, .sge0 = {.tagged_offset = 0, .length = 5, .stag = 7}}};
  for (const auto& take : {spec::RqTakeRsp{}, small}) {
    ddp.control({.op = spec::QpOp::kStart, .qpn = 0});
    dones.clear();
    receive(send(false, 1, 0, 6), take);
    receive(send(false, 1, 6, 6));
    receive(send(true, 1, 12, 6));
    EXPECT_EQ(asked, 0U);
    EXPECT_EQ(dones.size(), take.found) << "the receive that was taken ends, once";
  }
}

TEST_F(DdpModelTest, WatermarkStandsOnAMessagesFirstSegment) {
  ddp.tx.message(message(spec::TxSource::kResp, 3000));
  for (int i = 0; i < 3; ++i) {
    const auto s = ddp.tx.schedule({.qpn = 0, .is_term = 0, .mulpdu = 1014}, spec::TxSource::kResp);
    ASSERT_TRUE(s);
    EXPECT_EQ(s->fetch.hdr.has_watermark, i == 0);
    EXPECT_EQ(s->fetch.hdr.watermark, 0x12345678U);
  }
}

// RFC 5040 section 5.5, rule 12: a Read of no bytes is answered behind what came before it.
TEST_F(DdpModelTest, AnEmptyResponseWaitsForEarlierPlacements) {
  ddp.tx.message(message(spec::TxSource::kResp, 0));
  auto s = ddp.tx.schedule({.qpn = 0, .is_term = 0, .mulpdu = 1014}, spec::TxSource::kResp);
  ASSERT_TRUE(s);
  EXPECT_FALSE(s->segment.fetches);
  EXPECT_FALSE(ddp.tx.may_leave(s->segment)) << "nothing is placed, 0x12345678 packets are to be";
  s->segment.watermark = 0;
  EXPECT_TRUE(ddp.tx.may_leave(s->segment));
}

// A Terminate that waits survives the fault of a segment that was scheduled before it.
TEST_F(DdpModelTest, FaultDoesNotDropATerminate) {
  ddp.tx.message(message(spec::TxSource::kSq, 3000));
  auto s = ddp.tx.schedule({.qpn = 0, .is_term = 0, .mulpdu = 1014}, spec::TxSource::kSq);
  ASSERT_TRUE(s);
  TxMessage t;
  t.hdr = {.qpn = 0, .source = spec::TxSource::kTerm, .qn = 2, .length = 4, .is_inline = 1};
  t.body = Payload::make(4);
  ddp.tx.message(std::move(t));
  PayloadData bad;
  bad.hdr.status = spec::RdStatus::kPoisoned;
  EXPECT_FALSE(ddp.tx.assemble(std::move(s->segment), std::move(bad)));
  EXPECT_EQ(faults.size(), 1U);
  EXPECT_EQ(ddp.tx.choice(0), spec::TxSource::kTerm);
  auto term = ddp.tx.schedule({.qpn = 0, .is_term = 1, .mulpdu = 1014}, spec::TxSource::kTerm);
  ASSERT_TRUE(term);
  EXPECT_TRUE(ddp.tx.assemble(std::move(term->segment), {}));
  ddp.tx.message(message(spec::TxSource::kSq, 10));  // nothing follows it
  EXPECT_FALSE(ddp.tx.choice(0));
}

}  // namespace
}  // namespace rnic::model

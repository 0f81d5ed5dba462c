// rdmap's behaviour alone: what a bench of the RTL shows too, and the tandem relies on.
#include <gtest/gtest.h>

#include "base/bytes.hpp"
#include "rdmap/rdmap.hpp"

namespace rnic::model {
namespace {

using spec::Cause;

class RdmapModelTest : public testing::Test, private Rdmap::Out, private Translation {
 protected:
  RdmapModelTest() { control(spec::QpOp::kStart); }

  void control(spec::QpOp op) {
    rdmap.control({.op = op, .qpn = 0, .params = {.ird = 2, .ord = 2}});
  }
  static spec::RxSegment segment(uint8_t octet0, uint8_t octet1, uint32_t qn, uint16_t bytes) {
    spec::RxSegment s{.qpn = 0, .cause = Cause::kNone, .ulpdu_length = bytes, .head = {}};
    s.head[0] = octet0;
    s.head[1] = octet1;
    base::store_be<uint32_t>(&s.head[6], qn);
    return s;
  }
  static spec::RxSegment write() { return segment(0xc1, 0x40, 0, 15); }
  static spec::RxSegment read_request() { return segment(0x41, 0x41, 1, 46); }
  Cause last_cause() const { return errors.empty() ? Cause::kPeerTerminate : errors.back().cause; }

  std::vector<spec::QpError> errors;
  std::vector<TxMessage> terminates;
  unsigned acks = 0;
  Rdmap rdmap{spec::Sizes{}, *this, *this};

 private:
  void qp_ack_rdmap(const spec::QpAckRdmap&) override { ++acks; }
  void qp_error(const spec::QpError& e) override { errors.push_back(e); }
  void terminate(TxMessage m) override { terminates.push_back(std::move(m)); }
  void responder_ready() override {}
  spec::TptResult check(const spec::WqeCheck&) const override { return spec::TptResult::kOk; }
  spec::TptResult translate(const spec::WqeCheck&, ExtentList&) override {
    return spec::TptResult::kOk;
  }
  void retired(const spec::Retired&) override {}
};

TEST_F(RdmapModelTest, WatermarkHas32Bits) {
  for (uint32_t i = 0; i < 70000; ++i) EXPECT_EQ(rdmap.rx_segment(write()).place, 1);
  EXPECT_EQ(rdmap.rx_segment(read_request()).accept, 1);
  const auto m = rdmap.respond(0);
  ASSERT_TRUE(m);
  EXPECT_EQ(m->hdr.watermark, 70000U);
}

TEST_F(RdmapModelTest, ReservedBitsOfTheOpcodeAreIgnored) {
  for (const int reserved : {0x10, 0x20, 0x30}) {
    EXPECT_EQ(rdmap.rx_segment(segment(0xc1, static_cast<uint8_t>(0x40 | reserved), 0, 15)).accept,
              1);
  }
  EXPECT_TRUE(errors.empty());
}

TEST_F(RdmapModelTest, HeaderThatIsNotWholeIsNotShown) {
  for (const auto& [octet, header, cause] : {std::tuple{0xc1, 14, Cause::kDdpTaggedVersion},
                                             std::tuple{0x41, 18, Cause::kDdpUntaggedVersion}}) {
    for (const int bytes : {0, 1, header - 1, header}) {
      control(spec::QpOp::kStart);
      terminates.clear();
      auto s = segment(static_cast<uint8_t>(octet), 0x40, 0, static_cast<uint16_t>(bytes));
      s.cause = cause;
      EXPECT_EQ(rdmap.rx_segment(s).accept, 0);
      ASSERT_EQ(terminates.size(), 1U);
      EXPECT_EQ(terminates[0].body.size(),
                bytes == header ? 6U + static_cast<unsigned>(header) : 4U);
    }
  }
}

TEST_F(RdmapModelTest, TerminateIsNotAccepted) {
  EXPECT_EQ(rdmap.rx_segment(segment(0x41, 0x47, 2, 22)).accept, 0);
  EXPECT_EQ(last_cause(), Cause::kPeerTerminate);
}

TEST_F(RdmapModelTest, HalfCloseWaitsForTheResponder) {
  for (unsigned waiting = 0; waiting < 3; ++waiting) {
    control(spec::QpOp::kStart);
    errors.clear();
    terminates.clear();
    acks = 0;
    for (unsigned i = 0; i < waiting; ++i) rdmap.rx_segment(read_request());
    control(spec::QpOp::kHalfClose);
    EXPECT_EQ(acks, 1U) << "at once";
    for (unsigned i = 0; i < waiting; ++i) {
      EXPECT_TRUE(errors.empty());
      EXPECT_TRUE(rdmap.respond(0));
      rdmap.resp_slot_free({0});
    }
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors[0], (spec::QpError{.qpn = 0, .cause = Cause::kNone}));
    control(spec::QpOp::kHalfClose);
    EXPECT_EQ(errors.size(), 1U) << "told once";
    EXPECT_EQ(rdmap.rx_segment(write()).accept, 1);
    if (waiting == 0) {
      EXPECT_EQ(rdmap.rx_segment(read_request()).accept, 0);
      EXPECT_EQ(last_cause(), Cause::kLlpLost);
    } else {
      rdmap.qp_fault({.qpn = 0, .cause = Cause::kLocalCatastrophic});
      EXPECT_EQ(last_cause(), Cause::kLocalCatastrophic);
      EXPECT_EQ(errors.back().sends_term, 0);
    }
    EXPECT_TRUE(terminates.empty());
  }
}

}  // namespace
}  // namespace rnic::model

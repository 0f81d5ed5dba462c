// ddp: reports for a shared receive queue. Each WQE that a take has returned is reported exactly
// once, in the order of its QP's takes, whatever happens to its message (decision 16).
//
// World (ddp_world.hpp) plays the neighbours. receive(qpn, ULPDU, verdict) puts a segment of mpa.
// ddp takes a WQE of qp for the first segment of a message. rdmap returns the prepared verdict:
// kDrop refuses the segment, and with it the QP. A report (rx_done) has the WQE's tag and a status.
// ddp flushes (wr_flush_err) the WQE of a message that does not end, since only ddp knows which
// WQEs of the shared queue a QP has taken.
#include <algorithm>

#include "ddp/ddp_world.hpp"

namespace rnic::tb {
namespace {

using spec::Cause;
using spec::DeliverKind;
using spec::RqTake;
using spec::WcStatus;

constexpr uint8_t kWrite = 0, kSend = 3, kSendInv = 4, kImmediate = 8;
const spec::RxVerdict kDrop{};
const spec::RxVerdict kPlace{.accept = 1, .place = 1};
const spec::RxVerdict kPlaceRecv{.accept = 1, .place = 1, .deliver = DeliverKind::kRecv};

/// A receive WQE of 100 bytes. bad: its key is one that tpt refuses.
spec::RecvWqe wqe(uint16_t tag, bool bad = false) {
  return {.index = tag,
          .num_sge = 1,
          .sge0 = {.tagged_offset = 0x4000,
                   .length = 100,
                   .stag = 0x1000U | (bad ? static_cast<uint32_t>(spec::TptResult::kBounds) : 0)},
          .sge1 = {},
          .sge2 = {}};
}
Bytes send(uint32_t msn, uint32_t mo, size_t length, bool last) {
  return untagged(kSend, last, 0, msn, mo, Bytes(length, 7));
}

template <class D>
struct DdpSrqTest : testing::Test {
  D dut;
  struct Report {
    uint16_t index;
    WcStatus status;
    friend bool operator==(const Report&, const Report&) = default;
  };
  using Reports = std::vector<Report>;

  /// Calls body(world) at every pace. QP 1 takes from an SRQ, WQEs with tags 10, 11, ... QP 2 has
  /// its own receive queue, with tags 20, 21, ...
  template <class F>
  void worlds(F body) {
    each_pace([&](Pace p) {
      World w(dut, p);
      w.shared = {1};
      w.start_qp(1);
      w.start_qp(2);
      for (uint16_t i = 0; i < 8; i++) {
        w.wqes[1].push_back(wqe(static_cast<uint16_t>(10 + i)));
        w.wqes[2].push_back(wqe(static_cast<uint16_t>(20 + i)));
      }
      body(w);
      (void)dut.rx_segment.take_all();
    });
  }
  /// Returns the reports of the QP since the last call.
  Reports reports(uint16_t qpn = 1) {
    dut.settle();
    Reports all;
    for (const auto& d : dut.rx_done.take_all()) {
      if (d.qpn != qpn) continue;
      all.push_back({d.index, d.status});
      if (d.status != WcStatus::kSuccess) {
        EXPECT_EQ(d.kind, DeliverKind::kRecv);
        EXPECT_EQ(d.byte_len, 0U);
        EXPECT_EQ(d.solicited, 0);
        EXPECT_EQ(d.immediate, 0U);
      }
    }
    return all;
  }
  static Report ok(uint16_t tag) { return {tag, WcStatus::kSuccess}; }
  static Report flushed(uint16_t tag) { return {tag, WcStatus::kWrFlushErr}; }
};
TYPED_TEST_SUITE(DdpSrqTest, Duts);

/// RTL only: in the model a verdict is a call.
template <class D>
struct DdpSrqRtlTest : DdpSrqTest<D> {};
TYPED_TEST_SUITE(DdpSrqRtlTest, RtlDuts);

TYPED_TEST(DdpSrqTest, AMessageThatEndsIsReportedAsAlways) {
  this->worlds([&](auto& w) {
    w.receive(1, send(1, 0, 60, true), kPlaceRecv);
    w.receive(1, send(2, 0, 60, false), kPlace);
    w.receive(1, send(2, 60, 40, true), kPlaceRecv);
    EXPECT_EQ(this->reports(), (typename TestFixture::Reports{this->ok(10), this->ok(11)}));
    w.control(spec::QpOp::kStop, 1);
    EXPECT_TRUE(this->reports().empty());
  });
}

// Refused: the first segment of the message, a later one, or any other segment of the QP. Later
// refusals report nothing more.
TYPED_TEST(DdpSrqTest, ARefusalReportsTheOpenMessageOnce) {
  const Bytes write = tagged(kWrite, true, 0x4000, 64, Bytes(20, 1));
  const Bytes bad_write = tagged(
      kWrite, true, 0x4000 | static_cast<uint32_t>(spec::TptResult::kStag), 64, Bytes(20, 1));
  for (const int which : {0, 1, 2, 3, 4}) {
    SCOPED_TRACE(which);
    this->worlds([&](auto& w) {
      if (which != 0) w.receive(1, send(1, 0, 60, false), kPlace);
      if (which == 0) w.receive(1, send(1, 0, 60, false), kDrop);
      if (which == 1) w.receive(1, send(1, 60, 10, true), kDrop);
      if (which == 2) w.receive(1, write, kDrop);
      if (which == 3) w.receive(1, bad_write, kDrop);
      if (which == 4) w.receive(1, send(1, 61, 10, true), kDrop);  // MO 61 where 60 is due
      EXPECT_EQ(this->reports(), (typename TestFixture::Reports{this->flushed(10)}));
      w.receive(1, write, kDrop);
      w.receive(2, send(1, 0, 10, true), kPlaceRecv);
      EXPECT_EQ(this->reports(2).size(), 1U);
      w.control(spec::QpOp::kStop, 1);
      EXPECT_TRUE(this->reports().empty());
    });
  }
}

// Takes run ahead of verdicts: messages after the refused one also have their WQEs.
TYPED_TEST(DdpSrqRtlTest, MessagesTakenAheadAreReportedInOrder) {
  this->worlds([&](auto& w) {
    unsigned held = 0;
    bool hold = true;
    this->dut.rx_segment.on_item([&](const spec::RxSegment&) {
      if (hold)
        held++;
      else
        w.give_verdict();
    });
    w.receive(1, send(1, 0, 60, true), kPlaceRecv);
    w.receive(1, send(2, 0, 60, false), kPlace);
    w.receive(1, send(2, 60, 10, true), kDrop);
    w.receive(1, send(3, 0, 10, true), kDrop);
    w.receive(1, send(4, 0, 10, false), kDrop);
    w.receive(1, send(4, 10, 10, true), kDrop);
    for (unsigned c = 0; c < 300; c++) this->dut.advance();
    hold = false;
    for (; held != 0; held--) w.give_verdict();
    ASSERT_TRUE(this->dut.run_until([&] { return w.verdicts.empty(); }));
    typename TestFixture::Reports want{this->ok(10)};
    for (uint16_t i = 1; i < w.taken[1].size(); i++) want.push_back(this->flushed(w.taken[1][i]));
    EXPECT_EQ(this->reports(), want);
    EXPECT_GE(w.taken[1].size(), 2U);
    w.control(spec::QpOp::kStop, 1);
    EXPECT_TRUE(this->reports().empty());
  });
}

// A stop reports the open message, after a report that is held, and then acknowledges.
TYPED_TEST(DdpSrqTest, AStopReportsTheOpenMessage) {
  for (const bool held : {false, true}) {
    this->worlds([&](auto& w) {
      auto& d = this->dut;
      if (held) {
        Bytes inv = untagged(kSendInv, true, 0, 1, 0, {});
        inv[5] = 8;  // the STag to be invalidated
        w.receive(1, inv, {.accept = 1, .deliver = DeliverKind::kInvalidate, .immediate = 8});
        EXPECT_EQ(d.invalidate.take().stag, 8U);
      } else {
        w.receive(1, send(1, 0, 10, true), kPlaceRecv);
      }
      w.receive(1, send(2, 0, 60, false), kPlace);
      ASSERT_TRUE(d.run_until([&] { return w.verdicts.empty(); }));
      d.settle();
      d.qp_ctl.put({.op = spec::QpOp::kStop, .qpn = 1, .params = {}});
      if (held) {
        w.receive(2, send(1, 0, 10, true), kPlaceRecv);
        EXPECT_EQ(d.rx_done.take(4000).qpn, 2);
        EXPECT_FALSE(d.qp_ack.try_take(200));
        EXPECT_TRUE(d.rx_done.empty());
        d.invalidated.put({8});
      }
      EXPECT_EQ(d.qp_ack.take().qpn, 1);
      EXPECT_EQ(this->reports(), (typename TestFixture::Reports{this->ok(10), this->flushed(11)}));
      w.start_qp(1);  // no report is due in its next life
      w.receive(1, send(1, 0, 10, true), kPlaceRecv);
      EXPECT_EQ(this->reports(), (typename TestFixture::Reports{this->ok(12)}));
      w.control(spec::QpOp::kStop, 1);
      EXPECT_TRUE(this->reports().empty());
    });
  }
}

// An error that ddp finds in the receive itself has its own status. A WQE that could not be read
// stays in the SRQ.
TYPED_TEST(DdpSrqTest, AReceiveThatEndsInItsOwnStatus) {
  struct Case {
    RqTake take;
    bool bad_key, too_long;
    std::optional<WcStatus> status;
  };
  for (const auto& c : {Case{RqTake::kFailed, false, false, {}},
                        Case{RqTake::kMalformed, false, false, WcStatus::kLocQpOpErr},
                        Case{RqTake::kOk, true, false, WcStatus::kLocProtErr},
                        Case{RqTake::kOk, false, true, WcStatus::kLocLenErr}}) {
    for (const bool last : {true, false}) {
      this->worlds([&](auto& w) {
        w.wqes[1].front() = wqe(10, c.bad_key);
        w.take_result = c.take;
        w.receive(1, send(1, 0, c.too_long ? 101 : 50, last), kDrop);
        this->dut.settle();
        w.take_result = RqTake::kOk;
        // The rest of the message; after a whole message, a wrong MSN.
        w.receive(1, send(1, 50, 10, true), kDrop);
        typename TestFixture::Reports want;
        if (c.status) want.push_back({10, *c.status});
        EXPECT_EQ(this->reports(), want);
        w.control(spec::QpOp::kStop, 1);
        EXPECT_TRUE(this->reports().empty());
      });
    }
  }
}

// Other messages that end a receive: Immediate Data, a Send with Invalidate. An STag that may not
// be invalidated is the peer's error, so the receive is flushed.
TYPED_TEST(DdpSrqTest, EachKindOfMessageEndsItsReceive) {
  this->worlds([&](auto& w) {
    auto& d = this->dut;
    const auto is_all = [&](typename TestFixture::Reports want) {
      EXPECT_EQ(this->reports(), want);
      w.control(spec::QpOp::kStop, 1);
      EXPECT_TRUE(this->reports().empty());
      w.start_qp(1);
    };
    w.receive(1, send(1, 0, 60, false), kPlace);
    Bytes inv = untagged(kSendInv, true, 0, 1, 60, {});
    inv[5] = 8;
    w.receive(1, inv, {.accept = 1, .deliver = DeliverKind::kInvalidate, .immediate = 8});
    EXPECT_EQ(d.invalidate.take().stag, 8U);
    d.invalidated.put({8});
    is_all({this->ok(10)});
    w.receive(1, untagged(kImmediate, true, 0, 1, 0, Bytes(8, 1)),
              {.accept = 1, .deliver = DeliverKind::kImmediate, .immediate = 5});
    is_all({this->ok(11)});
    w.receive(1, send(1, 0, 60, false), kPlace);
    inv = untagged(kSendInv, true, 0, 1, 60, {});
    inv[5] = static_cast<uint8_t>(spec::TptResult::kStag);
    w.receive(1, inv, kDrop);
    is_all({this->flushed(12)});
  });
}

// Only the first error of a QP has its own status.
TYPED_TEST(DdpSrqTest, AnErrorBehindARefusalIsFlushed) {
  for (const RqTake take : {RqTake::kMalformed, RqTake::kFailed, RqTake::kEmpty, RqTake::kOk}) {
    this->worlds([&](auto& w) {
      w.receive(1, tagged(kWrite, true, 0x4000, 64, Bytes(20, 1)), kDrop);
      this->dut.settle();
      w.take_result = take;
      if (take == RqTake::kEmpty) w.wqes[1].clear();
      w.receive(1, send(1, 0, 101, false), kDrop);  // too long, if it has a WQE
      typename TestFixture::Reports want;
      if (take == RqTake::kMalformed || take == RqTake::kOk) want.push_back(this->flushed(10));
      EXPECT_EQ(this->reports(), want);
      w.control(spec::QpOp::kStop, 1);
      EXPECT_TRUE(this->reports().empty());
    });
  }
}

// mpa brings a segment while a stop waits. Either the refusal or the stop makes the report, only
// once, and before the acknowledgement.
TYPED_TEST(DdpSrqTest, ASegmentThatComesAfterTheStopReportsNothingMore) {
  for (const unsigned delay : {0U, 3U, 6U, 9U, 12U, 20U}) {
    this->worlds([&](auto& w) {
      auto& d = this->dut;
      Bytes inv = untagged(kSendInv, true, 0, 1, 0, {});
      inv[5] = 8;
      w.receive(1, inv, {.accept = 1, .deliver = DeliverKind::kInvalidate, .immediate = 8});
      EXPECT_EQ(d.invalidate.take().stag, 8U);
      w.receive(1, send(2, 0, 60, false), kPlace);
      ASSERT_TRUE(d.run_until([&] { return w.verdicts.empty(); }));
      d.settle();
      unsigned reports = 0;
      d.rx_done.on_item([&](const spec::RxDone&) { reports++; });
      d.qp_ack.on_item([&](const spec::QpAckDdp&) { EXPECT_EQ(reports, 2U); });
      d.qp_ctl.put({.op = spec::QpOp::kStop, .qpn = 1, .params = {}});
      for (unsigned i = 0; i < delay; i++) d.advance();
      w.receive(1, tagged(kWrite, true, 0x4000, 0, Bytes(20, 1)), kDrop);
      for (unsigned i = 0; i < delay; i++) d.advance();
      EXPECT_TRUE(d.qp_ack.empty());
      d.invalidated.put({8});
      EXPECT_EQ(d.qp_ack.take().qpn, 1);
      d.rx_done.on_item([](const spec::RxDone&) {});
      d.qp_ack.on_item([](const spec::QpAckDdp&) {});
      EXPECT_EQ(this->reports(), (typename TestFixture::Reports{this->ok(10), this->flushed(11)}));
      w.check_extents();
    });
  }
}

// A stop waits for the report to be accepted, however long qp stalls it.
TYPED_TEST(DdpSrqTest, AStopWaitsUntilItsReportIsTaken) {
  for (const uint32_t before : {0U, 1U, 2U}) {  // number of reports that wait for qp
    this->worlds([&](auto& w) {
      auto& d = this->dut;
      w.receive(1, send(1, 0, 60, false), kPlace);
      ASSERT_TRUE(d.run_until([&] { return w.verdicts.empty(); }));
      d.settle();
      d.rx_done.stall(100);
      for (uint32_t i = 1; i <= before; i++) w.receive(2, send(i, 0, 10, true), kPlaceRecv);
      d.cycles(200);
      d.qp_ctl.put({.op = spec::QpOp::kStop, .qpn = 1, .params = {}});
      EXPECT_FALSE(d.qp_ack.try_take(300));
      size_t reported = 0;
      d.qp_ack.on_item([&](const spec::QpAckDdp&) { reported = d.rx_done.size(); });
      d.rx_done.stall(0);
      EXPECT_EQ(d.qp_ack.take().qpn, 1);
      d.qp_ack.on_item([](const spec::QpAckDdp&) {});
      EXPECT_EQ(reported, before + 1);
      EXPECT_EQ(this->reports(), (typename TestFixture::Reports{this->flushed(10)}));
    });
  }
}

// A refusal or a stop of one QP does not change the open messages of other QPs.
TYPED_TEST(DdpSrqTest, OtherQpsKeepTheirOpenMessages) {
  this->worlds([&](auto& w) {
    w.shared = {1, 2, 3};
    w.start_qp(3);
    w.wqes[3].push_back(wqe(30));
    for (uint16_t n = 1; n < 4; n++) w.receive(n, send(1, 0, 60, false), kPlace);
    w.receive(1, send(1, 60, 10, true), kDrop);
    EXPECT_EQ(this->reports(), (typename TestFixture::Reports{this->flushed(10)}));
    w.control(spec::QpOp::kStop, 3);
    EXPECT_EQ(this->reports(3), (typename TestFixture::Reports{this->flushed(30)}));
    w.control(spec::QpOp::kStop, 1);
    w.start_qp(1);
    w.receive(2, send(1, 60, 10, true), kPlaceRecv);
    EXPECT_EQ(this->reports(2), (typename TestFixture::Reports{this->ok(20)}));
  });
}

// qp flushes a QP with its own receive queue: ddp reports nothing more.
TYPED_TEST(DdpSrqTest, AQueueOfItsOwnIsNotReported) {
  this->worlds([&](auto& w) {
    w.receive(2, send(1, 0, 60, false), kPlace);
    w.receive(2, send(1, 60, 10, true), kDrop);
    w.receive(2, send(2, 0, 10, true), kDrop);
    EXPECT_TRUE(this->reports(2).empty());
    w.control(spec::QpOp::kStop, 2);
    w.start_qp(2);
    w.receive(2, send(1, 0, 60, false), kPlace);
    this->dut.settle();
    w.control(spec::QpOp::kStop, 2);
    EXPECT_TRUE(this->reports(2).empty());
  });
}

// Messages of one to three segments on six QPs, four of them with an SRQ, with refusals, stops and
// starts. The reported tags are exactly the taken tags, in order. After a refusal no report has
// success.
TYPED_TEST(DdpSrqTest, Random) {
  constexpr uint16_t kQps = 6;
  struct Q {
    bool runs = true, refused = false, stopping = false;
    uint32_t msn = 1, mo = 0;
    std::vector<uint16_t> reported;
    bool flushed = false;
  };
  unsigned flushes = 0, stops = 0;
  each_pace([&](Pace p) {
    World w(this->dut, p);
    auto& d = this->dut;
    base::Rng rng = test_rng(p.describe());
    std::array<Q, kQps> qs;
    w.shared = {0, 1, 2, 3};
    uint16_t tag = 0;
    d.rx_segment.on_item([&](const spec::RxSegment& s) {
      Q& q = qs[s.qpn];
      const bool is_last = (s.head[0] & 0x40) != 0;  // bit L
      if (s.cause != Cause::kNone || rng.percent(4)) q.refused = true;
      if (q.refused || !q.runs) return d.rx_verdict.put(kDrop);
      d.rx_verdict.put(is_last ? kPlaceRecv : kPlace);
    });
    d.rx_done.on_item([&](const spec::RxDone& r) {
      Q& q = qs[r.qpn];
      q.reported.push_back(r.index);
      const bool success = r.status == WcStatus::kSuccess;
      EXPECT_FALSE(success && q.flushed) << "QP " << r.qpn;
      q.flushed = q.flushed || !success;
      flushes += r.status == WcStatus::kWrFlushErr;
      if (!w.shared.contains(r.qpn)) {
        EXPECT_TRUE(success);
      }
    });
    d.qp_ack.on_item([&](const spec::QpAckDdp& a) {
      Q& q = qs[a.qpn];
      if (!q.stopping) return;
      q.stopping = false;
      if (w.shared.contains(a.qpn)) {
        EXPECT_EQ(q.reported, w.taken[a.qpn]) << "QP " << a.qpn << " at its stop";
      }
    });
    const auto start = [&](uint16_t n) {
      qs[n] = {};
      w.taken[n].clear();
      spec::QpCtlDdp c{};
      c.op = spec::QpOp::kStart, c.qpn = n, c.params.pd = 7;
      d.qp_ctl.put(c);
      d.settle();
    };
    for (uint16_t n = 0; n < kQps; n++) start(n);
    for (int step = 0; step < 500 && !testing::Test::HasFailure(); step++) {
      const auto n = static_cast<uint16_t>(rng.below(kQps));
      Q& q = qs[n];
      if (!q.runs) {
        if (!q.stopping && d.rx_ulpdu.empty() && rng.percent(30)) {
          d.settle();
          start(n);
        }
      } else if (rng.percent(4)) {
        q.runs = false, q.stopping = true, stops++;
        d.qp_ctl.put({.op = spec::QpOp::kStop, .qpn = n, .params = {}});
      } else {
        const bool last = rng.percent(60) || q.mo >= 60;
        if (q.mo == 0) w.wqes[n].push_back(wqe(tag++));
        d.rx_ulpdu_hdr.put({.qpn = n, .length = 48, .cause = Cause::kNone});
        d.rx_ulpdu.put_packet(send(q.msn, q.mo, 30, last));
        q.mo = last ? 0 : q.mo + 30;
        q.msn += last;
      }
      for (uint64_t k = rng.below(12); k-- > 0;) d.advance();
    }
    d.settle();
    for (uint16_t n = 0; n < kQps; n++) {
      if (!qs[n].runs) continue;
      qs[n].runs = false, qs[n].stopping = true;
      d.qp_ctl.put({.op = spec::QpOp::kStop, .qpn = n, .params = {}});
      d.settle();
    }
    for (const Q& q : qs) EXPECT_FALSE(q.stopping) << "a stop is not acknowledged";
  });
  EXPECT_GT(flushes, 20U);
  EXPECT_GT(stops, 20U);
}

}  // namespace
}  // namespace rnic::tb

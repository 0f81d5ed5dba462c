// ddp with shared receive queues at random: QPs with and without one, errors of each kind, stops
// and starts. The expectations come from the contract (decision 16; rx_done in streams.yaml), typed
// here.
#include <map>

#include "ddp/ddp_world.hpp"

namespace rnic::tb {
namespace {

using spec::Cause;
using spec::DeliverKind;
using spec::RqTake;
using spec::TptResult;
using spec::WcStatus;

constexpr uint8_t kWrite = 0, kReadResponse = 2, kSend = 3, kSendInv = 4;

/// Random segments of several QPs, with the neighbours' part of each stop. rdmap refuses all
/// segments of a QP after its first refused one, and all segments of a QP that stops with an error;
/// mpa brings a few more segments of such a QP. A stop in order (Q::in_order) has no segment after
/// it.
///
/// Each WQE that a take has returned from an SRQ is reported once, before the stop of its QP is
/// acknowledged. The reports of a QP come in the order of its segments; the report by a stop is the
/// last.
template <class D>
class Mix {
 public:
  Mix(D& d, Pace p) : dut(d), w(d, p), pace(p), rng(test_rng(p.describe())) {
    dut.rq_take_req.on_item([this](const spec::RqTakeReq& r) { take(r.qpn); });
    dut.rx_segment.on_item([this](const spec::RxSegment& s) { dut.rx_verdict.put(judge(s)); });
    dut.rx_done.on_item([this](const spec::RxDone& r) { done(r); });
    dut.qp_ack.on_item([this](const spec::QpAckDdp& a) { acknowledge(a.qpn); });
    dut.invalidate.on_item([this](const spec::Invalidate& i) {
      asked.push_back({i.stag, issued()});
    });
    hdrs_before = dut.rx_ulpdu_hdr.moved();
    for (uint16_t q = 0; q < kQps; q++) order(q, spec::QpOp::kStart);
  }

  void run() {
    for (int n = 0; n < 5000 && !testing::Test::HasFailure(); n++) {
      const auto qpn = static_cast<uint16_t>(rng.below(kQps));
      Q& q = qs[qpn];
      if (rng.percent(60)) receive(qpn);
      if (!q.ordered && q.phase == kRuns && rng.percent(q.refused ? 20 : 4))
        order(qpn, spec::QpOp::kStop);
      if (!q.ordered && q.phase == kStopped && may_start(q) && rng.percent(30))
        order(qpn, spec::QpOp::kStart);
      stand();
      for (uint64_t k = rng.below(8); k-- > 0;) step(rng.percent(4));
    }
    w.release_places();
    dut.pace(pace);
    for (int calm = 0; calm < 3000; calm++) step(true);
    for (uint16_t n = 0; n < kQps && !testing::Test::HasFailure(); n++) {
      if (qs[n].phase == kRuns) order(n, spec::QpOp::kStop);
      for (int calm = 0; calm < 1000; calm++) step(true);
      EXPECT_FALSE(qs[n].ordered) << "QP " << n << " is never acknowledged";
    }
    EXPECT_TRUE(taken.empty()) << taken.size() << " WQEs are never reported";
    w.check_extents();
  }

  // by_*: reports with wr_flush_err, by cause. by_refusal: the refusal of a later segment while a
  // message is open. by_own: the refusal of a message's first segment. by_stop: a stop. errors:
  // reports with another error. held: reports that waited for an invalidation.
  unsigned stops = 0, by_refusal = 0, by_own = 0, by_stop = 0, errors = 0, held = 0;

 private:
  static constexpr uint16_t kQps = 6, kShared = 4;  // 0 to 3 take from the SRQ
  enum Phase { kIdle, kRuns, kStopping, kStopped };
  struct Take {
    RqTake result{};
    spec::RecvWqe wqe;
  };
  struct Segment {
    uint16_t qpn = 0;
    Cause cause{};  // if its QP runs and has not failed
    WcStatus status{};
    bool refuse = false, of_send = false;
    std::optional<unsigned> take;  // of a first segment: the number of its take
    spec::RecvWqe wqe;
    spec::RxVerdict verdict{};
    uint32_t total = 0;
    Bytes ulpdu;
  };
  struct Q {
    Phase phase = kIdle;
    bool ordered = false;   // an order is outstanding
    bool in_order = false;  // no segment follows the stop
    bool gone = false;      // ddp has acknowledged the stop, or refused a segment because of it
    bool refused = false;   // rdmap refuses all further segments
    bool failed = false;    // a segment had a wrong MSN
    unsigned late = 0;      // segments that mpa still brings
    uint64_t last = 0;      // its newest segment
    uint32_t msn = 1, mo = 0;
    bool open = false;
    Take now;                 // for the newest message
    std::vector<Take> takes;  // of all messages; ddp has made the first `made`
    unsigned made = 0;
    std::optional<uint16_t> owed;  // tag of the WQE of the open message, not reported yet
    std::deque<spec::RxDone> due;  // expected reports, in order
  };

  /// Extents that tpt has issued, of both epochs.
  uint64_t issued() const { return w.given[0] + w.given[1]; }
  /// Runs one cycle. invalidates: tpt reports the oldest invalidation, if the extents issued before
  /// it have retired.
  void step(bool invalidates) {
    dut.advance();
    w.placed.clear();
    dut.rx_segment.items().clear(), dut.rx_done.items().clear(), dut.qp_ack.items().clear();
    dut.invalidate.items().clear();
    const uint64_t back = w.used[0] + w.used[1] + w.dropped[0] + w.dropped[1];
    if (!invalidates || asked.empty() || back < asked.front().second) return;
    dut.invalidated.put({asked.front().first});
    asked.pop_front();
  }
  /// Stalls a neighbour for a while.
  void stand() {
    if (rng.percent(6)) w.hold_places = true;
    if (w.hold_places && rng.percent(10)) w.release_places();
    if (rng.percent(3)) dut.rx_done.stall(100);
    if (rng.percent(10)) dut.rx_done.stall(pace.stall);
    if (rng.percent(4)) dut.rx_verdict.idle(100);
    if (rng.percent(10)) dut.rx_verdict.idle(pace.idle);
  }

  // --- orders
  void order(uint16_t qpn, spec::QpOp op) {
    Q& q = qs[qpn];
    q.ordered = true;
    if (op == spec::QpOp::kStop) {
      stops++;
      q.phase = kStopping;
      q.in_order = !q.refused && rng.percent(60);
      q.late = q.in_order ? 0 : static_cast<unsigned>(rng.below(6));
    }
    spec::QpCtlDdp c{};
    c.op = op, c.qpn = qpn, c.params.pd = 7;
    dut.qp_ctl.put(c);
  }
  /// mpa has stopped, too: no segment of the QP's last life is still to come.
  bool may_start(const Q& q) const {
    return q.late == 0 && dut.rx_ulpdu_hdr.moved() - hdrs_before >= q.last && dut.rx_ulpdu.empty();
  }
  void acknowledge(uint16_t qpn) {
    Q& q = qs[qpn];
    ASSERT_TRUE(q.ordered);
    q.ordered = false;
    if (q.phase != kStopping) {
      const uint64_t last = q.last;
      q = {};
      q.phase = kRuns, q.last = last;
      return;
    }
    q.phase = kStopped, q.gone = true;
    EXPECT_TRUE(q.due.empty()) << "QP " << qpn << ": stopped, but not all is reported";
    EXPECT_FALSE(q.owed) << "QP " << qpn << ": stopped, but its open message is not reported";
    for (const auto& [tag, owner] : taken) EXPECT_NE(owner, qpn) << "tag " << tag;
  }

  // --- receive
  void receive(uint16_t qpn) {
    Q& q = qs[qpn];
    // at most 14 segments in flight
    if ((q.phase != kRuns && q.late == 0) || count - judged >= 14) return;
    if (q.phase != kRuns) q.late--;
    Segment s;
    s.qpn = qpn, s.refuse = rng.percent(2), s.verdict.accept = 1;
    rng.percent(75) ? of_send(q, s) : of_tagged(s);
    if (q.failed) s.cause = Cause::kLocalCatastrophic;
    q.failed |= s.cause == Cause::kDdpUntaggedMsn;
    q.last = ++count;
    dut.rx_ulpdu_hdr.put(
        {.qpn = qpn, .length = static_cast<uint16_t>(s.ulpdu.size()), .cause = Cause::kNone});
    dut.rx_ulpdu.put_packet(s.ulpdu);
    segments.push_back(std::move(s));
  }
  // A key whose low 3 bits are 5 fails its check with kBounds (result_of()).
  void of_tagged(Segment& s) {
    const Bytes data = random_bytes(rng, rng.below(100));
    uint32_t stag = 0x4000;
    if (rng.percent(5) && !data.empty()) stag |= 5, s.cause = Cause::kDdpTaggedBounds;
    const bool read = rng.percent(50);
    s.ulpdu = tagged(read ? kReadResponse : kWrite, true, stag, rng.below(1 << 20), data);
    s.verdict.place = !data.empty();
    if (read) s.verdict.deliver = DeliverKind::kRead, s.verdict.slot = static_cast<uint8_t>(count);
  }
  void of_send(Q& q, Segment& s) {
    const bool begins = !q.open;
    if (begins) begin(q, s);
    const bool is_ok = q.now.result == RqTake::kOk;
    const auto& wqe = q.now.wqe;
    const uint32_t room = is_ok ? wqe.sge0.length + wqe.sge1.length : 0;
    const bool bad_key = begins && is_ok && result_of(wqe.sge0.stag) != TptResult::kOk;
    size_t length = bad_key ? 1 : rng.below(60);
    if (q.mo + length > room && rng.percent(90)) length = room - std::min(room, q.mo);
    bool last = rng.percent(40);
    const bool inval = last && rng.percent(40);
    // The model bench lets only an invalidation without payload fail.
    const uint32_t stag = 0x2000U | (inval && length == 0 && rng.percent(20) ? 1U : 0U);
    uint32_t msn = q.msn;
    if (rng.percent(1)) msn ^= 4, s.cause = Cause::kDdpUntaggedMsn;
    s.ulpdu = untagged(inval ? kSendInv : kSend, last, 0, msn, q.mo, random_bytes(rng, length));
    if (inval)  // octets 2 to 5: the STag to be invalidated
      s.ulpdu[4] = static_cast<uint8_t>(stag >> 8), s.ulpdu[5] = static_cast<uint8_t>(stag);
    s.of_send = true, s.wqe = wqe, s.verdict.place = length != 0;
    if (last) {
      s.verdict.deliver = inval ? DeliverKind::kInvalidate : DeliverKind::kRecv;
      s.verdict.immediate = inval ? stag : 0;
      s.verdict.solicited = rng.percent(50);
    }
    if (s.cause == Cause::kNone) find_error(q, s, begins, q.mo + length > room, bad_key);
    if (s.cause == Cause::kNone && (stag & 7) != 0) s.cause = Cause::kRdmapInvStag;
    q.mo += static_cast<uint32_t>(length);
    s.total = q.mo;
    q.open = !last;
    if (last) q.msn++, q.mo = 0;
  }
  /// Chooses the result of the take for a new message, and its receive WQE.
  void begin(Q& q, Segment& s) {
    q.now = {};
    q.now.result = rng.percent(94)   ? RqTake::kOk
                   : rng.percent(40) ? RqTake::kMalformed
                   : rng.percent(50) ? RqTake::kFailed
                                     : RqTake::kEmpty;
    q.now.wqe = {.index = ++tag, .num_sge = 2, .sge0 = {}, .sge1 = {}, .sge2 = {}};
    q.now.wqe.sge0 = {.tagged_offset = rng.below(1 << 16),
                      .length = static_cast<uint32_t>(1 + rng.below(80)),
                      .stag = 0x8000U | (rng.percent(4) ? 5U : 0U)};
    q.now.wqe.sge1 = {.tagged_offset = rng.below(1 << 16),
                      .length = static_cast<uint32_t>(rng.below(80)),
                      .stag = 0x18100};
    s.take = static_cast<unsigned>(q.takes.size());
    q.takes.push_back(q.now);
  }
  /// Sets the cause and the status with which ddp must refuse a segment of a Send.
  void find_error(const Q& q, Segment& s, bool begins, bool too_long, bool bad_key) {
    const bool is_shared = s.qpn < kShared;
    if (begins && q.now.result == RqTake::kEmpty) {
      s.cause = Cause::kDdpUntaggedNoBuffer;
    } else if (begins && q.now.result != RqTake::kOk) {
      s.cause = Cause::kLocalCatastrophic;
      if (q.now.result == RqTake::kMalformed) s.status = WcStatus::kLocQpOpErr;
      if (q.now.result == RqTake::kFailed && !is_shared) s.status = WcStatus::kFatalErr;
    } else if (too_long) {
      s.cause = Cause::kDdpUntaggedTooLong, s.status = WcStatus::kLocLenErr;
    } else if (bad_key) {
      s.cause = Cause::kLocalCatastrophic, s.status = WcStatus::kLocProtErr;
    }
  }
  void take(uint16_t qpn) {
    Q& q = qs[qpn];
    EXPECT_FALSE(q.gone) << "QP " << qpn << " has stopped and takes a receive WQE";
    ASSERT_LT(q.made, q.takes.size()) << "QP " << qpn << " takes a WQE for no message";
    const Take t = q.takes[q.made++];
    const bool is_shared = qpn < kShared;
    if (is_shared && (t.result == RqTake::kOk || t.result == RqTake::kMalformed))
      taken[t.wqe.index] = qpn;
    dut.rq_take_rsp.put({.result = t.result, .shared = is_shared, .wqe = t.wqe});
  }

  static spec::RxDone error(uint16_t qpn, uint16_t index, WcStatus status) {
    return {.qpn = qpn, .kind = DeliverKind::kRecv, .index = index, .status = status};
  }
  spec::RxVerdict judge(const spec::RxSegment& got) {
    if (segments.empty()) {
      ADD_FAILURE() << "a segment too many";
      return {};
    }
    const Segment s = std::move(segments.front());
    segments.pop_front();
    judged++;
    SCOPED_TRACE(fmt::format("segment {} of QP {}", judged, s.qpn));
    EXPECT_EQ(got.qpn, s.qpn);
    Q& q = qs[s.qpn];
    // ddp refuses a segment of a stopping QP with LocalCatastrophic. Unless the segment has taken a
    // WQE, this shows that the stop has taken effect.
    const bool has_taken = s.take && *s.take < q.made;
    if (!has_taken && !q.refused)
      q.gone |= q.phase != kRuns && got.cause == Cause::kLocalCatastrophic;
    if (!q.refused && !q.gone) {
      EXPECT_EQ(got.cause, s.cause);
    }
    const bool is_refused = got.cause != Cause::kNone || q.refused || s.refuse || q.gone ||
                            (q.phase != kRuns && !q.in_order);
    const bool owes = has_taken && taken.contains(s.wqe.index);
    if (!is_refused) {
      if (owes) q.owed = s.wqe.index;
      if (s.verdict.deliver != DeliverKind::kNothing) {
        q.due.push_back({.qpn = s.qpn,
                         .kind = s.verdict.deliver,
                         .slot = s.verdict.slot,
                         .index = s.of_send ? s.wqe.index : uint16_t{0},
                         .byte_len = s.of_send ? s.total : 0,
                         .solicited = s.verdict.solicited,
                         .status = WcStatus::kSuccess,
                         .immediate = s.verdict.immediate});
        if (s.of_send) q.owed.reset();
      }
      return s.verdict;
    }
    if (s.status != WcStatus::kSuccess && !q.refused && (has_taken || !q.gone)) {
      errors++;
      q.due.push_back(error(s.qpn, s.wqe.index, s.status));
    } else if (owes) {
      by_own++;
      q.due.push_back(error(s.qpn, s.wqe.index, WcStatus::kWrFlushErr));
    } else if (q.owed) {
      by_refusal++;
      q.due.push_back(error(s.qpn, *q.owed, WcStatus::kWrFlushErr));
    }
    q.owed.reset();
    q.refused = true;
    return {};
  }
  void done(spec::RxDone r) {
    Q& q = qs[r.qpn];
    if (r.kind == DeliverKind::kRead) r.index = 0;
    held += !asked.empty() && r.kind == DeliverKind::kInvalidate;
    if (r.qpn < kShared && r.kind != DeliverKind::kRead) {
      EXPECT_EQ(taken.erase(r.index), 1U) << r.describe();
    }
    if (!q.due.empty()) {
      EXPECT_EQ(r, q.due.front());
      q.due.pop_front();
    } else if (q.owed && q.phase == kStopping) {
      by_stop++;
      EXPECT_EQ(r, error(r.qpn, *q.owed, WcStatus::kWrFlushErr));
      q.owed.reset();
    } else {
      ADD_FAILURE() << "nothing is to be reported, but " << r.describe();
    }
  }

  D& dut;
  World<D> w;
  Pace pace;
  base::Rng rng;
  std::array<Q, kQps> qs;
  std::deque<Segment> segments;                     // not judged yet
  std::map<uint16_t, uint16_t> taken;               // tags not reported yet, and their QPs
  std::deque<std::pair<uint32_t, uint64_t>> asked;  // invalidations; extents issued before
  uint64_t count = 0, judged = 0, hdrs_before = 0;
  uint16_t tag = 0;
};

template <class D>
struct DdpSrqRandomTest : testing::Test {
  D dut;
};
TYPED_TEST_SUITE(DdpSrqRandomTest, Duts);

TYPED_TEST(DdpSrqRandomTest, EachWqeIsReportedOnce) {
  unsigned stops = 0, by_refusal = 0, by_own = 0, by_stop = 0, errors = 0, held = 0;
  each_pace([&](Pace p) {
    Mix m(this->dut, p);
    m.run();
    stops += m.stops, errors += m.errors, held += m.held;
    by_refusal += m.by_refusal, by_own += m.by_own, by_stop += m.by_stop;
  });
  std::cout << stops << " stops; flushed by a refusal " << by_refusal << ", by their own " << by_own
            << ", by a stop " << by_stop << "; other errors " << errors << "; held " << held
            << "\n";
  EXPECT_GT(stops, 300U);
  EXPECT_GT(by_refusal, 30U);
  EXPECT_GT(by_own, 50U);
  EXPECT_GT(by_stop, 20U);
  EXPECT_GT(errors, 50U);
  EXPECT_GT(held, 20U);
}

}  // namespace
}  // namespace rnic::tb

// ddp while QPs stop and start again with segments in flight. The expectations come from the
// contract (theory-of-operation.md: ddp, and the order in which qp stops its units), typed here.
//
// ddp acknowledges a stop of a QP (qp_ack) when everything of the QP in flight has left it, in both
// directions. World (ddp_world.hpp) plays the neighbours; this file adds what they do in a stop.
#include "ddp/ddp_world.hpp"

namespace rnic::tb {
namespace {

using spec::Cause;
using spec::DeliverKind;
using spec::TxSource;
using spec::WcStatus;

constexpr uint8_t kWrite = 0, kReadRequest = 1, kReadResponse = 2, kSend = 3, kTerminate = 7,
                  kFlushResponse = 0xd;

/// Random segments and messages of several QPs, and the neighbours' part of each stop:
///
///   error, abort   rdmap and llp_if have stopped before ddp. rdmap refuses all segments; llp_if
///                  grants nothing and rdmap sends nothing any more. mpa brings a few more
///                  segments, before and after ddp's acknowledgement, until qp has stopped mpa.
///   in order       no segment comes after the stop, and those in flight are judged as usual
///
/// Segments judged before the stop reaches the header are judged as without a stop. Once a segment
/// is judged as stopped, all later ones are.
/// After the first refusal or bad payload of a QP ddp neither reports nor sends anything of that
/// QP, even if the QP stops meanwhile. After the acknowledgement of a stop the QP has no output.
/// All other QPs go on.
template <class D>
class Stops {
 public:
  Stops(D& d, Pace p)
      : dut(d), w(d, p), pace(p), rng(test_rng(p.describe())), slots(D::sizes().sq_slots) {
    dut.rq_take_req.on_item([this](const spec::RqTakeReq& r) { take(r.qpn); });
    dut.rx_segment.on_item([this](const spec::RxSegment& s) { dut.rx_verdict.put(judge(s)); });
    dut.rx_done.on_item([this](const spec::RxDone& r) { done(r); });
    dut.tx_xlate.on_item([this](const spec::TxXlate& x) { asked(x), w.on_tx_xlate(x); });
    dut.tx_want.on_item([this](const spec::TxWant& want) {
      if (qs[want.qpn].phase == kRuns) w.on_want(want);  // otherwise llp_if has stopped
    });
    dut.tx_fault.on_item([this](const spec::TxFault& f) { fault(f); });
    dut.sq_slot_free.on_item([this](const spec::SqSlotFree& f) { freed(f.qpn, w.sq_used); });
    dut.resp_slot_free.on_item([this](const spec::RespSlotFree& f) { freed(f.qpn, w.resp_used); });
    dut.tx_ulpdu_hdr.on_item([this](const spec::TxUlpduHdr& h) {
      EXPECT_FALSE(qs[h.qpn].acknowledged) << "QP " << h.qpn << " has stopped and sends a header";
    });
    hdrs_before = dut.rx_ulpdu_hdr.moved();
    for (uint16_t q = 0; q < kQps; q++) order(q, spec::QpOp::kStart);
  }

  void run() {
    for (int n = 0; n < 4000 && !testing::Test::HasFailure(); n++) {
      const auto qpn = static_cast<uint16_t>(rng.below(kQps));
      if (rng.percent(50)) receive(qpn);
      if (rng.percent(50)) send(qpn);
      stand();
      Q& q = qs[qpn];
      const bool broken = q.refused || q.faults != 0;
      if (q.ordered == 0 && q.phase == kRuns && rng.percent(broken ? 20 : 1))
        order(qpn, !broken && rng.percent(30) ? spec::QpOp::kSync : spec::QpOp::kStop);
      if (q.ordered == 0 && q.phase == kStopped && may_start(q) && rng.percent(20))
        order(qpn, spec::QpOp::kStart);
      for (uint64_t k = rng.below(8); k-- > 0;) dut.advance(), look();
    }
    finish();
  }

  // flushes: Flush Responses sent. full: stops with segments of the QP in flight. silent, unsent:
  // reports and messages that an earlier failure has suppressed.
  unsigned flushes = 0, stops = 0, full = 0, silent = 0, unsent = 0;

 private:
  static constexpr uint16_t kQps = 6;
  enum Phase { kIdle, kRuns, kStopping, kStopped };
  struct Segment {
    uint16_t qpn = 0;
    Cause cause{};  // expected in rx_segment if the QP runs
    bool refuse = false;
    spec::RxVerdict verdict{};
    spec::RxDone done{};  // kind kNothing: no report
    Bytes ulpdu, data;
    std::vector<uint64_t> where;
  };
  struct Message {
    spec::TxMessageHdr hdr{};
    Bytes body, data;
    uint32_t stag = 0;   // of its payload; unique per message
    uint32_t bad = ~0U;  // the first byte that cannot be read
  };
  struct Q {
    Phase phase = kIdle;
    unsigned ordered = 0;  // outstanding orders; `op` is the order
    spec::QpOp op{};
    // Of the QP's stop. in_order: see the comment on the class. acknowledged: by ddp.
    bool in_order = false, acknowledged = false;
    unsigned late = 0;                           // segments that mpa still brings
    uint64_t last = 0;                           // its newest segment, counted from 1
    uint64_t inside = 0;                         // the newest in flight when the order was sent
    uint64_t owed = 0, paid = 0, owed_then = 0;  // reports: expected, arrived,
                                                 // expected when the order was sent
    // receive. failed: a segment had a wrong MSN. open: a message is begun. missing: it has no
    // receive WQE. refused: a segment was refused. gone: ddp has judged a segment as stopped.
    // mo, room: of the open message.
    uint32_t msn[3] = {1, 1, 1};
    bool failed = false, open = false, missing = false, refused = false, gone = false;
    uint64_t mo = 0, room = 0;
    spec::RecvWqe wqe;
    std::deque<std::optional<spec::RecvWqe>> wqes;
    // transmit
    uint32_t tx_msn[4] = {1, 1, 1, 1};
    std::deque<Message> sent[3];  // by source
    int source = -1;              // source of the message being sent
    size_t at = 0;                // its bytes sent
    unsigned faults = 0;
    // Its first payload request that fails, as number of `asks`.
    std::optional<uint64_t> bad_ask;
    bool terminated = false;  // rdmap has sent its Terminate to ddp
    uint64_t packets = 0;     // sent before the acknowledgement
  };

  /// A segment is not judged, a report has not come, or a message is half sent.
  bool inside(const Q& q) const { return q.last > judged || q.owed != q.paid || q.source >= 0; }

  // --- orders
  void order(uint16_t qpn, spec::QpOp op) {
    Q& q = qs[qpn];
    q.ordered++, q.op = op;
    const uint64_t entered = dut.rx_ulpdu_hdr.moved() - hdrs_before;
    for (size_t i = 0; i < segments.size() && judged + i < entered; i++)
      if (segments[i].qpn == qpn) q.inside = judged + i + 1;
    q.owed_then = q.owed;
    if (op == spec::QpOp::kStop) {
      stops++, full += inside(q);
      q.phase = kStopping;
      q.in_order = !q.refused && q.faults == 0 && rng.percent(30);
      q.late = q.in_order ? 0 : static_cast<unsigned>(rng.below(6));
      std::erase_if(w.held_wants, [&](const auto& h) { return h.qpn == qpn; });
    }
    spec::QpCtlDdp c{};
    c.op = op, c.qpn = qpn, c.params.pd = 7;
    dut.qp_ctl.put(c);
  }
  void acknowledge(uint16_t qpn) {
    Q& q = qs[qpn];
    ASSERT_EQ(q.ordered, 1U) << "QP " << qpn << " is acknowledged without an order";
    q.ordered = 0;
    EXPECT_GE(judged, q.inside) << "QP " << qpn << ": not all that was inside is judged";
    EXPECT_GE(q.paid, q.owed_then) << "QP " << qpn << ": not all that was inside is reported";
    if (q.op == spec::QpOp::kStart) {
      const uint64_t last = q.last;
      q = {};
      q.phase = kRuns, q.last = last;
      w.wanted[qpn] = w.term_wanted[qpn] = false;
      w.sq_used[qpn] = w.resp_used[qpn] = 0;
      w.mulpdu[qpn] = static_cast<uint16_t>(rng.percent(30) ? 128 : 128 + rng.below(1400));
    } else if (q.op == spec::QpOp::kStop) {
      q.phase = kStopped, q.acknowledged = true;
      q.packets = packets + dut.tx_ulpdu.size();
      EXPECT_EQ(q.owed, q.paid) << "QP " << qpn << ": stopped, but not all is reported";
    }
  }
  /// mpa and llp_if have stopped too: none of their items is in flight to ddp.
  bool may_start(const Q& q) const {
    return q.late == 0 && dut.rx_ulpdu_hdr.moved() - hdrs_before >= q.last &&
           dut.rx_ulpdu.empty() && dut.tx_grant.empty() && dut.tx_message_hdr.empty() &&
           dut.tx_message.empty();
  }
  /// Stalls a neighbour for a while.
  void stand() {
    if (rng.percent(6)) w.hold_places = true;
    if (w.hold_places && rng.percent(10)) w.release_places();
    if (rng.percent(3)) w.hold_grants = true;
    if (w.hold_grants && rng.percent(10)) w.release_grants();
    if (rng.percent(3)) dut.tx_ulpdu.stall(100);
    if (rng.percent(10)) dut.tx_ulpdu.stall(pace.stall);
    if (rng.percent(3)) dut.tx_ulpdu_hdr.stall(100);
    if (rng.percent(10)) dut.tx_ulpdu_hdr.stall(pace.stall);
    if (rng.percent(3)) dut.payload_hdr.idle(100);
    if (rng.percent(10)) dut.payload_hdr.idle(pace.idle);
    if (rng.percent(3)) dut.rx_verdict.idle(100);
    if (rng.percent(10)) dut.rx_verdict.idle(pace.idle);
    stand(dut.rx_done), stand(dut.sq_slot_free), stand(dut.resp_slot_free), stand(dut.tx_fault);
  }

  template <class Out>
  void stand(Out& out) {
    if (rng.percent(3)) out.stall(100);
    if (rng.percent(10)) out.stall(pace.stall);
  }

  // --- receive
  void receive(uint16_t qpn) {
    Q& q = qs[qpn];
    const bool comes = q.phase == kRuns || q.late != 0;
    if (!comes || count - judged >= 12) return;  // at most 12 segments in flight
    if (q.phase != kRuns) q.late--;
    Segment s;
    s.qpn = qpn, s.refuse = rng.percent(5);
    s.verdict = {
        .accept = 1, .place = 0, .deliver = DeliverKind::kNothing, .solicited = 0, .slot = 0};
    s.done = {.qpn = qpn,
              .kind = DeliverKind::kNothing,
              .slot = 0,
              .index = 0,
              .byte_len = 0,
              .solicited = 0,
              .status = WcStatus::kSuccess};
    s.data = random_bytes(rng, rng.percent(60)   ? rng.below(130)
                               : rng.percent(20) ? 0
                                                 : rng.below(900));
    const auto kind = rng.below(10);
    if (kind < 3) {
      write_or_response(s);
    } else if (kind < 9) {
      message(q, s);
    } else {
      const uint32_t qn = 1 + static_cast<uint32_t>(rng.below(2));
      s.ulpdu =
          untagged(qn == 1 ? kReadRequest : kTerminate, true, qn, q.msn[qn]++, 0, Bytes(28, 3));
    }
    if (q.failed) s.cause = Cause::kLocalCatastrophic;
    q.failed |= s.cause == Cause::kDdpUntaggedMsn;
    q.last = ++count;
    dut.rx_ulpdu_hdr.put(
        {.qpn = qpn, .length = static_cast<uint16_t>(s.ulpdu.size()), .cause = Cause::kNone});
    dut.rx_ulpdu.put_packet(s.ulpdu);
    segments.push_back(std::move(s));
  }
  void write_or_response(Segment& s) {
    uint32_t stag = 0x4000 | static_cast<uint32_t>(rng.below(2) << 8);
    // result_of(): 5 is kBounds
    if (rng.percent(5) && !s.data.empty()) stag |= 5, s.cause = Cause::kDdpTaggedBounds;
    const uint64_t to = rng.below(1 << 20);
    const bool read = rng.percent(40);
    s.ulpdu = tagged(read ? kReadResponse : kWrite, true, stag, to, s.data);
    for (uint64_t k = 0; k < s.data.size(); k++) s.where.push_back(bus(stag, to + k));
    s.verdict.place = !s.data.empty();
    if (!read) return;
    s.verdict.deliver = s.done.kind = DeliverKind::kRead;
    s.verdict.slot = s.done.slot = static_cast<uint8_t>(rng.next());
  }
  /// A segment of a Send. If it is too long, it ends the receive. The rest of the message then has
  /// no receive.
  void message(Q& q, Segment& s) {
    if (!q.open) {
      q.open = true, q.mo = 0, q.missing = rng.percent(5);
      q.wqe = {.index = ++index, .num_sge = 2, .sge0 = {}, .sge1 = {}, .sge2 = {}};
      q.wqe.sge0 = {.tagged_offset = rng.below(1 << 16),
                    .length = static_cast<uint32_t>(rng.below(600)),
                    .stag = 0x8000};
      q.wqe.sge1 = {.tagged_offset = rng.below(1 << 16),
                    .length = static_cast<uint32_t>(rng.below(600)),
                    .stag = 0x18100};
      q.room = q.missing ? 0 : q.wqe.sge0.length + q.wqe.sge1.length;
      q.wqes.push_back(q.missing ? std::nullopt : std::optional(q.wqe));
    }
    if (q.mo + s.data.size() > q.room && !q.missing && !rng.percent(q.refused ? 50 : 15))
      s.data.resize(q.room - std::min(q.room, q.mo));
    const bool last = (q.mo + s.data.size() >= q.room && !rng.percent(20)) || rng.percent(30);
    const bool is_too_long = q.mo + s.data.size() > q.room;
    uint32_t msn = q.msn[0];
    if (rng.percent(2)) msn ^= 4, s.cause = Cause::kDdpUntaggedMsn;
    s.ulpdu = untagged(kSend, last, 0, msn, static_cast<uint32_t>(q.mo), s.data);
    uint64_t at = 0;
    for (const auto* e : {&q.wqe.sge0, &q.wqe.sge1})
      for (uint64_t k = 0; k < e->length; k++, at++)
        if (at >= q.mo && s.where.size() < s.data.size())
          s.where.push_back(bus(e->stag, e->tagged_offset + k));
    s.verdict.place = !s.data.empty();
    if (s.cause == Cause::kNone && q.missing) {
      s.cause = Cause::kDdpUntaggedNoBuffer;
    } else if (s.cause == Cause::kNone && is_too_long) {
      s.cause = Cause::kDdpUntaggedTooLong;
      s.done.kind = DeliverKind::kRecv, s.done.index = q.wqe.index,
      s.done.status = WcStatus::kLocLenErr;
    } else if (s.cause == Cause::kNone && last) {
      s.verdict.deliver = s.done.kind = DeliverKind::kRecv;
      s.verdict.solicited = s.done.solicited = rng.percent(50);
      s.done.index = q.wqe.index, s.done.byte_len = static_cast<uint32_t>(q.mo + s.data.size());
    }
    q.mo += s.data.size();
    if (last) q.open = false, q.msn[0]++;
  }
  void take(uint16_t qpn) {
    Q& q = qs[qpn];
    EXPECT_FALSE(q.acknowledged) << "QP " << qpn << " has stopped and takes a receive WQE";
    std::optional<spec::RecvWqe> wqe;
    if (q.wqes.empty()) {
      ADD_FAILURE() << "QP " << qpn << " takes a receive WQE for no message";
    } else {
      wqe = q.wqes.front();
      q.wqes.pop_front();
    }
    dut.rq_take_rsp.put({.result = wqe ? spec::RqTake::kOk : spec::RqTake::kEmpty,
                         .wqe = wqe.value_or(spec::RecvWqe{})});
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
    EXPECT_EQ(got.ulpdu_length, s.ulpdu.size());
    EXPECT_TRUE(
        std::equal(s.ulpdu.begin(),
                   s.ulpdu.begin() + static_cast<long>(std::min(got.head.size(), s.ulpdu.size())),
                   got.head.begin()));
    Q& q = qs[s.qpn];
    q.gone |= q.acknowledged || ((q.phase == kStopping || q.phase == kStopped) &&
                                 got.cause == Cause::kLocalCatastrophic);
    if (q.gone) {
      EXPECT_EQ(got.cause, Cause::kLocalCatastrophic) << "it has stopped";
    } else if (!q.refused) {
      EXPECT_EQ(got.cause, s.cause);
    }
    const bool is_refused =
        got.cause != Cause::kNone || q.refused || s.refuse || (q.phase != kRuns && !q.in_order);
    const bool error = s.done.status != WcStatus::kSuccess;
    if (error && q.refused && !q.gone) silent++;
    if (s.done.kind != DeliverKind::kNothing && (error ? !q.refused && !q.gone : !is_refused)) {
      dones.push_back(s.done);
      q.owed++;
    }
    q.refused |= is_refused;
    if (is_refused) return {};
    if (s.verdict.place != 0) places.push_back(s), accepted++;
    return s.verdict;
  }
  void done(spec::RxDone r) {
    Q& q = qs[r.qpn];
    EXPECT_FALSE(q.acknowledged) << "QP " << r.qpn << " has stopped and reports " << r.describe();
    if (r.kind == DeliverKind::kRead) r.index = 0;
    ASSERT_FALSE(dones.empty()) << "nothing is to be reported, but " << r.describe();
    ASSERT_EQ(r, dones.front());
    dones.pop_front();
    q.paid++;
  }

  // --- transmit
  void send(uint16_t qpn) {
    Q& q = qs[qpn];
    if (q.phase != kRuns || q.terminated) return;
    Message m;
    m.hdr.qpn = qpn, m.hdr.done = 1;
    if ((q.refused || q.faults != 0) && rng.percent(30)) {
      q.terminated = true;
      m.hdr.source = TxSource::kTerm, m.hdr.opcode = spec::RdmapOpcode::kTerminate, m.hdr.qn = 2,
      m.hdr.done = 0;
    } else if (q.refused || q.faults != 0) {
      return;  // rdmap sends no other message
    } else if (rng.percent(30)) {
      if (w.resp_used[qpn] != 0) return;
      m.hdr.source = TxSource::kResp, m.hdr.done = 0;
      m.hdr.is_tagged = rng.percent(60);
      m.hdr.opcode = m.hdr.is_tagged != 0 ? spec::RdmapOpcode::kReadResponse
                                          : spec::RdmapOpcode::kFlushResponse;
      m.hdr.qn = m.hdr.is_tagged != 0 ? 0 : 3;
    } else {
      if (w.sq_used[qpn] >= slots) return;
      m.hdr.source = TxSource::kSq, m.hdr.slot = static_cast<uint8_t>(rng.next());
      m.hdr.is_tagged = rng.percent(50);
      m.hdr.opcode =
          m.hdr.is_tagged != 0 ? spec::RdmapOpcode::kRdmaWrite : spec::RdmapOpcode::kSend;
    }
    if (m.hdr.is_tagged != 0)
      m.hdr.stag = static_cast<uint32_t>(rng.next()), m.hdr.tagged_offset = rng.next() >> 1;
    if (m.hdr.source == TxSource::kTerm || (m.hdr.source == TxSource::kSq && rng.percent(30))) {
      m.hdr.is_inline = 1;
      m.body = m.data = random_bytes(rng, m.hdr.source == TxSource::kTerm ? 52 : rng.below(225));
    } else if (m.hdr.qn == 3 && rng.percent(40)) {  // response to an empty Flush: waits for the
                                                    // placements accepted so far
      m.hdr.has_watermark = 1, m.hdr.watermark = accepted;
    } else {
      fetched(m);
    }
    m.hdr.length = static_cast<uint32_t>(m.data.size());
    w.send(m.hdr, m.body);
    q.sent[static_cast<size_t>(m.hdr.source)].push_back(std::move(m));
  }
  /// Gives the message random SGEs. A few of them have a key whose lookup or read fails.
  void fetched(Message& m) {
    m.stag = ++stags << 16;
    m.hdr.num_sge = m.hdr.source == TxSource::kResp ? 1 : static_cast<uint8_t>(1 + rng.below(3));
    uint64_t to = rng.below(1 << 16);
    for (unsigned i = 0; i < m.hdr.num_sge; i++) {
      uint32_t key = m.stag;
      const bool is_probe = m.hdr.qn == 3;  // a byte is read back, but not sent
      const auto length =
          is_probe ? 1 : static_cast<uint32_t>(1 + rng.below(rng.percent(30) ? 2000 : 90));
      if (rng.percent(is_probe ? 10 : 3)) {
        key |= rng.percent(50) ? 0x8000 : static_cast<uint32_t>(spec::TptResult::kBounds);
        m.bad = std::min(m.bad, static_cast<uint32_t>(m.data.size()));
      }
      const size_t at = m.body.size();
      m.body.resize(at + 16);
      spec::WqeSge{.address = to, .length = length, .lkey = key}.pack(
          std::span(m.body).subspan(at));
      for (uint64_t k = 0; k < length && !is_probe; k++)
        m.data.push_back(byte_at(bus(key, to + k)));
      to += length + 17;
    }
  }
  void freed(uint16_t qpn, std::map<uint16_t, unsigned>& used) {
    EXPECT_FALSE(qs[qpn].acknowledged) << "QP " << qpn << " has stopped and gives a slot back";
    EXPECT_NE(used[qpn]--, 0U);
  }
  /// ddp requests payload in the order in which segments are scheduled.
  void asked(const spec::TxXlate& x) {
    asks++;
    const uint32_t stag = x.stag & 0xffff0000;
    for (Q& q : qs) {
      for (const auto& messages : q.sent) {
        for (const Message& m : messages) {
          if (m.stag != stag) continue;
          EXPECT_FALSE(q.acknowledged) << "QP " << m.hdr.qpn << " has stopped and asks for payload";
          first_ask.try_emplace(stag, asks);
          if ((x.stag & 0x8007) != 0 && !q.bad_ask) q.bad_ask = asks;
          return;
        }
      }
    }
    ADD_FAILURE() << "payload of no message";
  }
  void fault(const spec::TxFault& f) {
    Q& q = qs[f.qpn];
    EXPECT_FALSE(q.acknowledged) << "QP " << f.qpn << " has stopped and reports " << f.describe();
    EXPECT_EQ(q.faults++, 0U) << "a second fault of QP " << f.qpn;
    const auto& m = q.sent[static_cast<size_t>(f.source)];
    const auto same = [&](const Message& x) {
      return x.hdr.slot == f.slot && x.bad != ~0U && f.offset <= x.bad &&
             x.bad < f.offset + w.mulpdu[f.qpn];
    };
    EXPECT_TRUE(std::any_of(m.begin(), m.end(), same)) << f.describe();
    EXPECT_TRUE(f.status != spec::RdStatus::kOk || f.result != spec::TptResult::kOk);
  }
  /// Checks the next ULPDU that ddp sends.
  void leave() {
    const spec::TxUlpduHdr h = dut.tx_ulpdu_hdr.take();
    const Bytes b = dut.tx_ulpdu.take_packet().bytes;
    packets++;
    Q& q = qs.at(h.qpn);
    SCOPED_TRACE(fmt::format("a segment that QP {} sends", h.qpn));
    EXPECT_FALSE(q.acknowledged && packets > q.packets) << "it has stopped";
    ASSERT_GE(b.size(), 14U);
    const bool is_tagged = (b[0] & 0x80) != 0;
    const bool is_response = (b[1] & 15) == (is_tagged ? kReadResponse : kFlushResponse);
    const int source = static_cast<int>(h.is_term != 0 ? TxSource::kTerm
                                        : is_response  ? TxSource::kResp
                                                       : TxSource::kSq);
    if (h.is_term != 0) q.source = -1;  // the message that the Terminate interrupted is dropped
    if (q.source < 0) q.source = source, q.at = 0;
    ASSERT_EQ(q.source, source) << "inside another message";
    auto& sent = q.sent[q.source];
    ASSERT_FALSE(sent.empty());
    const Message& m = sent.front();
    const size_t header = is_tagged ? 14 : 18,
                 n = std::min<size_t>(m.data.size() - q.at, w.mulpdu[h.qpn] - header);
    const bool last = q.at + n == m.data.size();
    const Bytes piece(m.data.begin() + static_cast<long>(q.at),
                      m.data.begin() + static_cast<long>(q.at + n));
    const auto opcode = static_cast<uint8_t>(m.hdr.opcode);
    ASSERT_EQ(b, m.hdr.is_tagged != 0
                     ? tagged(opcode, last, m.hdr.stag, m.hdr.tagged_offset + q.at, piece)
                     : untagged(opcode, last, m.hdr.qn, h.is_term != 0 ? 1 : q.tx_msn[m.hdr.qn],
                                static_cast<uint32_t>(q.at), piece));
    ASSERT_EQ(h.done, last && m.hdr.done != 0 ? 1 : 0);
    ASSERT_LE(q.at + n, m.bad) << "its payload could not be had";
    if (m.hdr.qn == 3) {
      ASSERT_EQ(m.bad, ~0U) << "its byte could not be read back";
      ASSERT_GE(w.place_count - w.held_places, m.hdr.watermark) << "before its watermark";
      flushes++;
    }
    if (q.bad_ask && m.hdr.source == TxSource::kResp && m.stag != 0) {
      ASSERT_LT(first_ask.at(m.stag), *q.bad_ask) << "after a bad one";
    }
    q.at += n;
    if (!last) return;
    q.tx_msn[m.hdr.qn] += m.hdr.is_tagged == 0 && h.is_term == 0;
    sent.pop_front();
    q.source = -1;
  }

  // --- checks of the outputs
  void look() {
    while (!dut.qp_ack.empty()) acknowledge(dut.qp_ack.take().qpn);
    while (!w.placed.empty() && !testing::Test::HasFatalFailure()) place();
    while (!dut.tx_ulpdu_hdr.empty() && !dut.tx_ulpdu.empty() && !testing::Test::HasFatalFailure())
      leave();
    dut.rx_segment.items().clear(), dut.rx_done.items().clear(), dut.tx_fault.items().clear();
  }
  void place() {
    ASSERT_FALSE(places.empty()) << "nothing is to be placed";
    const Segment& s = places.front();
    EXPECT_FALSE(qs[s.qpn].acknowledged) << "QP " << s.qpn << " has stopped and places";
    std::vector<uint64_t> at;
    for (const auto& e : w.placed.front().extents)
      for (uint64_t k = 0; k < e.length; k++) at.push_back(e.address + k);
    ASSERT_EQ(w.placed.front().bytes, s.data);
    ASSERT_EQ(at, s.where);
    places.pop_front(), w.placed.pop_front();
  }
  /// Releases all stalls. Everything in flight then ends, and a running QP has nothing left.
  void finish() {
    w.release_places(), w.release_grants();
    dut.pace(pace);
    for (int calm = 0; calm < 3000 && !testing::Test::HasFailure(); calm++) dut.advance(), look();
    for (uint16_t n = 0; n < kQps; n++) {
      const Q& q = qs[n];
      SCOPED_TRACE(fmt::format("QP {}", n));
      EXPECT_EQ(q.ordered, 0U) << "never acknowledged";
      EXPECT_EQ(q.owed, q.paid);
      const bool is_bad = q.bad_ask || q.faults != 0;
      if (is_bad) {
        EXPECT_TRUE(q.faults == 1 || q.phase != kRuns || q.terminated) << "a fault is forgotten";
        for (const auto& s : q.sent) unsent += static_cast<unsigned>(s.size());
      }
      EXPECT_TRUE(q.sent[static_cast<size_t>(TxSource::kTerm)].empty() || q.phase != kRuns);
      if (q.phase != kRuns || is_bad || q.terminated) continue;
      for (const auto& s : q.sent) EXPECT_TRUE(s.empty());
      EXPECT_EQ(w.sq_used[n] + w.resp_used[n], 0U);
    }
    EXPECT_TRUE(segments.empty() && places.empty() && dones.empty());
    w.check_extents();
  }

  D& dut;
  World<D> w;
  Pace pace;
  base::Rng rng;
  const unsigned slots;
  std::array<Q, kQps> qs;
  std::deque<Segment> segments, places;  // in flight and not judged; to be placed
  std::deque<spec::RxDone> dones;        // to be reported
  uint64_t count = 0, judged = 0, accepted = 0, packets = 0, asks = 0, hdrs_before = 0;
  uint32_t stags = 0;
  uint16_t index = 0;
  std::map<uint32_t, uint64_t> first_ask;  // by Message::stag: number of its first request
};

template <class D>
struct DdpStopTest : testing::Test {
  D dut;
};
TYPED_TEST_SUITE(DdpStopTest, Duts);

TYPED_TEST(DdpStopTest, Random) {
  unsigned full = 0, silent = 0, flushes = 0;
  each_pace([&](Pace p) {
    Stops s(this->dut, p);
    s.run();
    std::cout << p.describe() << ": " << s.stops << " stops, " << s.full
              << " with segments inside, " << s.silent << " errors after a refusal, " << s.unsent
              << " unsent, " << s.flushes << " Flush Responses\n";
    full += s.full, silent += s.silent, flushes += s.flushes;
  });
  EXPECT_GT(full, 100U);
  EXPECT_GT(silent, 10U);
  EXPECT_GT(flushes, 100U);
}

}  // namespace
}  // namespace rnic::tb

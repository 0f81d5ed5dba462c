// The pipe of rdmap_core: its rates, and a comparison of every operation with the model by the
// commit trace. RTL only: in the model an operation is a call.
#include "VRdmapMin___024root.h"
#include "VRdmap___024root.h"
#include "rdmap/rdmap_world.hpp"
#include "support/tap_port.hpp"

namespace rnic::tb {
namespace {

template <class D>
struct Tapped : D {
  TapPort<spec::RdmapResponseCommit> responses{
      *this, [this] { return &this->top().rootp->rdmap__DOT__u_resp__DOT__tap_rdmap_response; }};
  TapPort<spec::RdmapOpCommit> ops{
      *this, [this] { return &this->top().rootp->rdmap__DOT__u_core__DOT__tap_rdmap_op; }};
};
using TappedDuts =
    ::testing::Types<Tapped<RtlRdmap<VRdmap, false>>, Tapped<RtlRdmap<VRdmapMin, true>>>;

// --- rates

template <class D>
class RdmapRateRtlTest : public RdmapWorld<D> {
 protected:
  /// Starts `qps` QPs with 16 Reads outstanding on each. The peer mirrors our traffic: cycle()
  /// returns each Read Request that rdmap sends as a request of the peer, and each response as the
  /// response to our Read. A message reaches the peer after 50 cycles, and ddp frees a response
  /// slot after 12.
  void begin(uint16_t qps) {
    for (uint16_t q = 0; q < qps; q++)
      this->run_qp(q, this->params(16, 16, u16(16 * q), u16(16 * q)));
    for (unsigned i = 0; i < 16; i++)
      for (uint16_t q = 0; q < qps; q++) post_one(q);
  }
  void cycle() {
    auto& dut = this->dut;
    const uint64_t now = dut.now();
    for (; !arrive_.empty() && arrive_.front().at <= now; arrive_.pop_front()) {
      this->put_segment(arrive_.front().qpn, arrive_.front().ulpdu);
      segments_.push_back(arrive_.front().qpn);
    }
    for (; !frees_.empty() && frees_.front().first <= now; frees_.pop_front())
      this->free_response(frees_.front().second);
    dut.advance();
    while (!dut.rx_verdict.empty()) {
      const auto v = dut.rx_verdict.take();
      ASSERT_EQ(v.accept, 1);
      const uint16_t q = segments_.front();
      segments_.pop_front();
      if (v.deliver != DeliverKind::kRead) continue;
      done_++;
      post_one(q);
    }
    while (!dut.tx_message_hdr.empty() && !dut.tx_message.empty()) {
      const auto m = this->take_message();
      if (m.hdr.source == TxSource::kSq) {
        arrive_.push_back({now + 50, m.hdr.qpn, this->untagged(0x41, true, 1, m.body)});
      } else {
        ASSERT_EQ(m.hdr.source, TxSource::kResp);
        frees_.push_back({now + 12, m.hdr.qpn});
        arrive_.push_back(
            {now + 50, m.hdr.qpn,
             this->tagged(0x42, true, m.hdr.stag, m.hdr.tagged_offset, m.hdr.length)});
      }
    }
  }
  void post_one(uint16_t q) { this->post_read(q, this->any_read(slot_++, 64)); }
  uint64_t done() const { return done_; }

 private:
  struct Arrival {
    uint64_t at;
    uint16_t qpn;
    Bytes ulpdu;
  };
  uint8_t slot_ = 0;
  uint64_t done_ = 0;
  std::deque<Arrival> arrive_;
  std::deque<std::pair<uint64_t, uint16_t>> frees_;
  std::deque<uint16_t> segments_;
};
TYPED_TEST_SUITE(RdmapRateRtlTest, TappedDuts);

// A Read in each direction takes five operations of rdmap_core: our WQE, the peer's request, the
// request as head of the QP, the freed response slot, the response to our Read.
TYPED_TEST(RdmapRateRtlTest, ReadsBothWaysAtFiveCyclesEach) {
  this->start({0, 0});
  this->begin(TypeParam::kMinimum ? 4 : 20);
  for (unsigned i = 0; i < 2000; i++) this->cycle();
  const auto before = this->done();
  const auto from = this->dut.now();
  for (unsigned i = 0; i < 10000; i++) this->cycle();
  const auto after = this->done();
  const auto cycles =
      static_cast<double>(this->dut.now() - from) / static_cast<double>(after - before);
  std::printf("%.3f cycles a Read\n", cycles);
  if (!TypeParam::kMinimum) {
    EXPECT_LE(cycles, 5.02);  // 5 cycles; 0.02 for the edges of the interval
  }
}

// The same with every stream stalled at random: checks progress only.
TYPED_TEST(RdmapRateRtlTest, ReadsBothWaysUnderStalls) {
  this->start({30, 30});
  // The peer's next request comes 100 cycles after its last response was sent, and needs a free
  // slot.
  this->dut.hold_back(0);
  this->begin(4);
  for (unsigned i = 0; i < 20000; i++) this->cycle();
  EXPECT_GT(this->done(), 1000U);
}

// One operation per cycle over many QPs, and on one QP.
TYPED_TEST(RdmapRateRtlTest, AnOperationACycle) {
  for (const auto qps : Some<uint16_t>{8, 1}) {
    this->start({0, 0});
    auto& dut = this->dut;
    for (uint16_t q = 0; q < qps; q++) this->run_qp(q, this->params(1, 1, q, q));
    dut.ops.items().clear();
    for (unsigned i = 0; i < 600; i++) this->put_segment(u16(i % qps), this->write(9));
    for (unsigned i = 0; i < 200; i++)
      this->post(
          {.qpn = u16((i + 3U) % qps), .opcode = WrOpcode::kRdmaWrite, .num_sge = 1, .length = 64},
          Bytes(16));
    const auto from = dut.now();
    dut.run_until([&] { return dut.ops.items().size() == 800; });  // 600 segments, 200 WQEs
    std::printf("%u QPs: 800 operations in %u cycles\n", qps,
                static_cast<unsigned>(dut.now() - from));
    EXPECT_LE(dut.now() - from, 815U);  // 15 for the first to pass FIFO and pipe
  }
}

// --- compared with the model, operation by operation

/// Two QPs, with all kinds of operations at random and close together. The model executes each
/// operation when the commit trace reports it. All outputs must equal the model's. The inputs of
/// each kind wait in a queue (ctls_, segs_, ...): a commit names only kind and QP, and takes the
/// oldest.
template <class D>
class RdmapStepRtlTest : public RdmapWorld<D>,
                         private model::Rdmap::Out,
                         private model::Translation {
 protected:
  using Read = typename RdmapWorld<D>::Read;
  static constexpr uint16_t kQps = 2;
  enum Kind : uint8_t {
    kCtl,
    kQpFault,
    kTxFault,
    kRespFail,
    kBad,
    kTerm,
    kWrite,
    kRequest,
    kResponse,
    kFree,
    kRead,
    kSend,
    kKinds
  };

  void reset(Pace pace) {
    this->start(pace);
    this->dut.hold_back(0);  // a stall would let a response overtake its Read
    this->dut.check = [](const spec::RespCheck& c) { return judge(c); };
    ref_ = std::make_unique<model::Rdmap>(D::sizes(), static_cast<const model::Translation&>(*this),
                                          static_cast<model::Rdmap::Out&>(*this));
    qps_ = {};
    ctls_ = {}, segs_ = {}, wqes_ = {}, frees_ = {}, qp_faults_ = {}, tx_faults_ = {};
    verdicts_ = {}, errors_ = {}, messages_ = {};
    before_ = {};
    ctl_busy_ = false;
  }
  void random_cycle() {
    auto& rng = this->rng;
    for (unsigned n = 0; n < 3; n++) {
      const auto qpn = u16(rng.below(kQps));
      Qp& q = qps_[qpn];
      if (!q.up) {
        life(qpn);
        continue;
      }
      if (q.failed && rng.percent(5)) life(qpn);
      switch (rng.below(24)) {
        case 0:
        case 1:
        case 2:
        case 3:
          send_wqe(qpn);
          break;
        case 4:
        case 5:
        case 6:
          read_wqe(qpn);
          break;
        case 7:
        case 8:
        case 9:
        case 10:
        case 11:
          segment(qpn, this->write(rng.below(3)), kWrite);
          break;
        case 12:
        case 13:
        case 14:
          if (q.inbound < q.p.ird || rng.percent(1)) request(qpn);
          break;
        case 15:
        case 16:
        case 17:
        case 18:
          response(qpn);
          break;
        case 19:
        case 20:
        case 21:
          free_one(qpn);
          break;
        case 22:
          if (rng.percent(12)) trouble(qpn);
          break;
        default:
          break;
      }
    }
    this->dut.advance();
    follow();
  }
  void drain() {
    for (unsigned i = 0; i < 3000; i++) {
      this->dut.advance();
      follow();
    }
    EXPECT_TRUE(segs_.empty() && wqes_.empty() && qp_faults_.empty() && tx_faults_.empty() &&
                verdicts_.empty() && errors_.empty());
    for (const auto& m : messages_) EXPECT_TRUE(m.empty());
  }
  /// `pairs` counts pairs of successive operations on one QP that are at most kNear cycles apart.
  static constexpr uint64_t kNear = 2;
  std::array<std::array<unsigned, kKinds>, kKinds> pairs{};
  uint64_t operations = 0, lives = 0, failures = 0;

 private:
  struct Qp {
    bool up = false, failed = false, stopping = false, half = false;  // half: half_close was given
    spec::QpParams p;
    unsigned outbound = 0, inbound = 0, in_ddp = 0;  // ORD and IRD slots in use; responses in ddp
    uint64_t life = 0;
    std::deque<Read> reads;
    std::deque<uint8_t> slots;  // slots of responses that ddp got
  };
  struct Segment {
    spec::RxSegment item;
    Kind kind;
    uint64_t life;
  };
  struct Verdict {
    spec::RxVerdict item;
    uint16_t qpn;
    uint64_t life;
  };
  struct Seen {
    uint64_t at = 0;
    Kind kind = kKinds;
  };

  /// The result of tpt, for RTL and model: a source of a length such as 63 fails.
  static TptResult judge(const spec::RespCheck& c) {
    return c.length % 64 == 63 ? TptResult::kBounds : TptResult::kOk;
  }

  // --- inputs
  /// Stops the QP, or starts it again.
  void life(uint16_t qpn) {
    Qp& q = qps_[qpn];
    // ddp has stopped before: all its reports about the QP have arrived.
    if (ctl_busy_ || !this->dut.resp_slot_free.empty() || !this->dut.tx_fault.empty()) return;
    spec::QpCtlRdmap ctl{.op = q.up ? spec::QpOp::kStop : spec::QpOp::kStart, .qpn = qpn};
    if (!q.up) {
      q = {};
      q.p = this->params(u8(this->rng.between(1, 4)), u8(this->rng.between(1, 4)), u16(8 * qpn),
                         u16(8 * qpn));
      ctl.params = q.p;
      q.life = ++lives;
    }
    q.up = !q.up;
    q.stopping = !q.up;
    put_ctl(ctl);
  }
  void put_ctl(const spec::QpCtlRdmap& ctl) {
    ctl_busy_ = true;
    this->dut.qp_ctl.put(ctl);
    ctls_.push_back(ctl);
  }
  void send_wqe(uint16_t qpn) {
    if (this->dut.wqe_hdr.size() > 2) return;
    wqe({.qpn = qpn,
         .slot = slot_++,
         .opcode = this->rng.percent(50) ? WrOpcode::kSend : WrOpcode::kRdmaWrite,
         .num_sge = 1,
         .length = 64},
        this->rng.bytes(16));
  }
  void read_wqe(uint16_t qpn) {
    Qp& q = qps_[qpn];
    if (q.outbound >= q.p.ord || this->dut.wqe_hdr.size() > 2) return;
    q.outbound++;
    const Read r = this->any_read(slot_++, u32(this->rng.below(2) * 64));
    q.reads.push_back(r);
    Bytes sge(16);
    spec::WqeSge{.address = r.to, .length = r.length, .lkey = r.stag}.pack(sge);
    wqe({.qpn = qpn,
         .slot = r.slot,
         .opcode = WrOpcode::kRdmaRead,
         .num_sge = 1,
         .length = r.length,
         .remote_to = 5,
         .remote_stag = 6},
        sge);
  }
  void wqe(const spec::WqeHdr& h, const Bytes& body) {
    this->dut.wqe_hdr.put(h);
    this->dut.wqe.put_packet(body);
    wqes_.push_back({h, body});
  }
  void segment(uint16_t qpn, const Bytes& ulpdu, Kind kind, Cause cause = Cause::kNone) {
    if (this->dut.rx_segment.size() > 2) return;
    spec::RxSegment s{.qpn = qpn, .cause = cause, .ulpdu_length = u16(ulpdu.size())};
    std::copy_n(ulpdu.begin(), std::min<size_t>(64, ulpdu.size()), s.head.begin());
    this->dut.rx_segment.put(s);
    segs_.push_back({s, kind, qps_[qpn].life});
  }
  void request(uint16_t qpn) {
    if (this->dut.rx_segment.size() > 2) return;
    qps_[qpn].inbound++;
    segment(qpn, this->request_of(this->rng.percent(3) ? 63 : u32(this->rng.below(3) * 32)),
            kRequest);
  }
  void response(uint16_t qpn) {
    Qp& q = qps_[qpn];
    if (q.reads.empty() || this->dut.rx_segment.size() > 2) return;
    const Read r = q.reads.front();
    q.reads.pop_front();
    const uint32_t wrong = this->rng.percent(1) ? 1 : 0;  // error of its TO
    segment(qpn, this->answer(r, wrong, r.length, true), kResponse);
  }
  void free_one(uint16_t qpn) {
    Qp& q = qps_[qpn];
    if (q.in_ddp == 0) return;
    q.in_ddp--;
    this->free_response(qpn);
    frees_.push_back(qpn);
  }
  /// One of several disturbances: a fault, a bad segment, a Terminate, a half_close, a stop.
  void trouble(uint16_t qpn) {
    Qp& q = qps_[qpn];
    auto& rng = this->rng;
    switch (rng.below(7)) {
      case 0: {
        const spec::QpFault f{
            .qpn = qpn, .cause = rng.percent(50) ? Cause::kLlpLost : Cause::kLocalCatastrophic};
        this->dut.qp_fault.put(f);
        qp_faults_.push_back(f);
        break;
      }
      case 1:
      case 2: {
        spec::TxFault f{.qpn = qpn,
                        .source = TxSource::kSq,
                        .slot = u8(rng.below(64)),
                        .result = TptResult::kAssoc};
        if (!q.slots.empty()) f.source = TxSource::kResp, f.slot = q.slots.back(), f.offset = 7;
        this->dut.tx_fault.put(f);
        tx_faults_.push_back(f);
        break;
      }
      case 3:
        segment(qpn, this->tagged(0x43, true, 1, 2, 3), kBad);
        break;
      case 4: {
        const Read r = q.reads.empty() ? Read{0, 1, 2, 3} : q.reads[rng.below(q.reads.size())];
        auto body = hex("0101e000002e");
        auto shown = this->request_of(1);
        base::store_be<uint32_t>(&shown[18], r.stag);
        base::store_be<uint64_t>(&shown[22], r.to);
        body.insert(body.end(), shown.begin(), shown.end());
        segment(qpn, this->peer_terminate(body), kTerm);
        break;
      }
      case 5:
        if (!ctl_busy_ && !q.half) {
          q.half = true;
          put_ctl({.op = spec::QpOp::kHalfClose, .qpn = qpn});
        }
        break;
      default:
        if (rng.percent(30)) life(qpn);
        break;
    }
  }
  Bytes request_of(uint32_t size) { return RdmapWorld<D>::request(size); }

  // --- the model
  void qp_ack_rdmap(const spec::QpAckRdmap&) override {}
  void qp_error(const spec::QpError& e) override { errors_.push_back(e); }
  void terminate(model::TxMessage m) override { expect(m); }
  void responder_ready(uint16_t) override {}
  void result(const spec::AtomicReq&) override {}
  void sq_local(const spec::SqLocal&) override {}
  TptResult check(const spec::RespCheck& c) const override { return judge(c); }
  TptResult translate(const spec::WqeCheck&, model::ExtentList&) override { return TptResult::kOk; }
  void retired(const spec::Retired&) override {}

  void expect(const model::TxMessage& m) {
    const auto bytes = m.body.bytes();
    messages_[static_cast<size_t>(m.hdr.source)].push_back(
        {m.hdr, Bytes(bytes.begin(), bytes.end())});
  }
  /// Counts the operation, and its pair with the one before on this QP.
  void saw(uint16_t qpn, Kind kind) {
    Seen& s = before_[qpn];
    if (s.kind != kKinds && this->dut.now() - s.at <= kNear) pairs[s.kind][kind]++;
    s = {this->dut.now(), kind};
    operations++;
  }
  template <class T>
  static T take(std::deque<T>& from) {
    RNIC_CHECK(!from.empty(), "an operation without its cause");
    T item = std::move(from.front());
    from.pop_front();
    return item;
  }
  /// Executes in the model what the RTL has committed in this cycle, and compares the outputs.
  void follow() {
    auto& dut = this->dut;
    for (const auto& c : dut.responses.take_all()) {
      const auto m = ref_->responders().test(c.qpn) ? ref_->respond(c.qpn) : std::nullopt;
      ASSERT_TRUE(m.has_value()) << "QP " << c.qpn << ": a response that the model does not give";
      expect(*m);
    }
    for (const auto& c : dut.ops.take_all()) operation(c);
    while (!dut.rx_verdict.empty()) {
      const auto v = dut.rx_verdict.take();
      ASSERT_FALSE(verdicts_.empty());
      const auto want = take(verdicts_);
      this->expect_verdict(v, want.item);
      Qp& q = qps_[want.qpn];
      if (v.accept != 0 && v.deliver == DeliverKind::kRead && q.life == want.life) q.outbound--;
    }
    while (!dut.qp_error.empty()) {
      const auto e = dut.qp_error.take();
      ASSERT_FALSE(errors_.empty()) << e.describe();
      auto want = take(errors_);
      if (want.has_wr == 0) want.slot = e.slot, want.status = e.status;
      EXPECT_EQ(e, want) << e.describe() << "\nwanted " << want.describe();
      if (e.cause != Cause::kNone) qps_[e.qpn].failed = true, failures++;
    }
    while (!dut.tx_message_hdr.empty() && !dut.tx_message.empty()) {
      const auto m = this->take_message();
      auto& list = messages_[static_cast<size_t>(m.hdr.source)];
      ASSERT_FALSE(list.empty()) << m.hdr.describe();
      const auto want = take(list);
      EXPECT_EQ(meant(m.hdr), meant(want.hdr))
          << m.hdr.describe() << "\nwanted " << want.hdr.describe();
      EXPECT_EQ(m.body, want.body);
      if (m.hdr.source == TxSource::kResp) {
        Qp& q = qps_[m.hdr.qpn];
        if (q.up) q.in_ddp++, q.slots.push_back(m.hdr.slot);
      }
    }
    while (!dut.qp_ack.empty()) {
      dut.qp_ack.take();
      ctl_busy_ = false;
    }
  }
  /// c.op, as RNIC_RDMAP_OP_E: 0 an order of qp, 1 qp_fault, 2 tx_fault, 3 a source that failed its
  /// check, 4 a segment, 6 a freed response slot, 7 a WQE. The trace leaves out 5 (OpHead).
  void operation(const spec::RdmapOpCommit& c) {
    switch (c.op) {
      case 0: {
        const auto ctl = take(ctls_);
        ASSERT_EQ(ctl.qpn, c.qpn);
        ref_->control(ctl);
        return saw(c.qpn, kCtl);
      }
      case 1: {
        const auto f = take(qp_faults_);
        ASSERT_EQ(f.qpn, c.qpn);
        ref_->qp_fault(f);
        return saw(c.qpn, kQpFault);
      }
      case 2: {
        const auto f = take(tx_faults_);
        ASSERT_EQ(f.qpn, c.qpn);
        ref_->tx_fault(f);
        return saw(c.qpn, kTxFault);
      }
      case 3:
        if (ref_->responders().test(c.qpn)) {
          ASSERT_FALSE(ref_->respond(c.qpn).has_value()) << "a Read that the model answers";
        }
        return saw(c.qpn, kRespFail);
      case 4: {
        const auto [s, kind, life] = take(segs_);
        ASSERT_EQ(s.qpn, c.qpn);
        verdicts_.push_back({ref_->rx_segment(s), s.qpn, life});
        return saw(c.qpn, kind);
      }
      case 6: {
        ASSERT_EQ(take(frees_), c.qpn);
        ref_->resp_slot_free({.qpn = c.qpn});
        if (qps_[c.qpn].inbound != 0) qps_[c.qpn].inbound--;
        return saw(c.qpn, kFree);
      }
      case 7: {
        auto [h, body] = take(wqes_);
        ASSERT_EQ(h.qpn, c.qpn);
        if (const auto m = ref_->request({.hdr = h, .body = Payload::copy_of(body)})) expect(*m);
        return saw(c.qpn, h.opcode == WrOpcode::kRdmaRead ? kRead : kSend);
      }
      default:
        FAIL() << "operation " << static_cast<unsigned>(c.op);
    }
  }

  std::unique_ptr<model::Rdmap> ref_;
  std::array<Qp, kQps> qps_{};
  std::array<Seen, kQps> before_{};  // the last operation of each QP
  bool ctl_busy_ = false;
  uint8_t slot_ = 0;
  std::deque<spec::QpCtlRdmap> ctls_;
  std::deque<Segment> segs_;
  std::deque<std::pair<spec::WqeHdr, Bytes>> wqes_;
  std::deque<uint16_t> frees_;
  std::deque<spec::QpFault> qp_faults_;
  std::deque<spec::TxFault> tx_faults_;
  std::deque<Verdict> verdicts_;
  std::deque<spec::QpError> errors_;
  std::array<std::deque<Message>, 3> messages_;
};
TYPED_TEST_SUITE(RdmapStepRtlTest, TappedDuts);

TYPED_TEST(RdmapStepRtlTest, EveryPairOfOperationsInStepWithTheModel) {
  each_pace([&](Pace pace) {
    this->reset(pace);
    for (unsigned i = 0; i < 12000; i++) {
      this->random_cycle();
      if (testing::Test::HasFailure()) return;
    }
    this->drain();
  });
  std::printf("%lu operations, %lu lives, %lu failures\n", this->operations, this->lives,
              this->failures);
  using T = RdmapStepRtlTest<TypeParam>;
  constexpr std::array<std::string_view, T::kKinds> kNames{
      "ctl",   "qp_fault", "tx_fault", "resp_fail", "bad",  "terminate",
      "write", "request",  "response", "free",      "read", "send"};
  std::string missing;
  for (unsigned a = 0; a < T::kKinds; a++) {
    if (a == T::kTerm) continue;  // no operation follows a Terminate of the peer closely
    for (unsigned b = 0; b < T::kKinds; b++) {
      // Operations before kWrite end the QP or are one in a thousand: a pair of them may be
      // missing.
      const bool rare = a < T::kWrite && b < T::kWrite;
      if (!rare && this->pairs[a][b] == 0) missing += fmt::format(" {}-{}", kNames[a], kNames[b]);
    }
  }
  std::printf("pairs never seen:%s\n", missing.empty() ? " none" : missing.c_str());
  for (unsigned a = T::kWrite; a < T::kKinds; a++)
    for (unsigned b = T::kWrite; b < T::kKinds; b++)
      if (a != T::kFree || b != T::kFree) {  // ddp holds one response per QP
        EXPECT_GT(this->pairs[a][b], 0U) << kNames[a] << " then " << kNames[b];
      }
}

}  // namespace
}  // namespace rnic::tb

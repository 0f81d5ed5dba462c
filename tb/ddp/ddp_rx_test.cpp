// ddp, receive: headers, placement, delivery. The expectations come from RFC 5041 and the contract,
// typed here.
//
// World (ddp_world.hpp) plays the neighbours. receive(qpn, ULPDU, verdict) puts a segment of mpa.
// ddp takes a receive WQE of qp for the first segment of a Send (w.wqes), has tpt check the keys
// (w.rx_asked), and shows the segment with a cause to rdmap (rx_segment). rdmap returns the
// prepared verdict. Then ddp places the payload (w.placed) and reports the message (rx_done). The
// low 3 bits of an STag are the result of tpt's check, 0 for ok; bit 8 is the epoch.
#include "ddp/ddp_world.hpp"

namespace rnic::tb {
namespace {

using spec::Cause;
using spec::DeliverKind;
using spec::RqTake;
using spec::WcStatus;

constexpr uint8_t kWrite = 0, kReadRequest = 1, kReadResponse = 2, kSend = 3, kTerminate = 7;
// Verdicts: refuse; accept without payload; accept and place; the same at the end of a receive,
// with payload and without.
const spec::RxVerdict kDrop{};
const spec::RxVerdict kTake{
    .accept = 1, .place = 0, .deliver = DeliverKind::kNothing, .solicited = 0, .slot = 0};
const spec::RxVerdict kPlace{
    .accept = 1, .place = 1, .deliver = DeliverKind::kNothing, .solicited = 0, .slot = 0};
const spec::RxVerdict kPlaceRecv{
    .accept = 1, .place = 1, .deliver = DeliverKind::kRecv, .solicited = 1, .slot = 0};
const spec::RxVerdict kTakeRecv{
    .accept = 1, .place = 0, .deliver = DeliverKind::kRecv, .solicited = 0, .slot = 0};

/// A receive WQE of SGEs with these lengths. SGE i has the key stag + (i << 16). The default TO is
/// 16 bytes before the end of a page.
spec::RecvWqe wqe(uint16_t index, std::vector<uint32_t> lengths, uint32_t stag = 0x1000,
                  uint64_t to = 0x10ff0) {
  spec::RecvWqe w{.index = index,
                  .num_sge = static_cast<uint8_t>(lengths.size()),
                  .sge0 = {},
                  .sge1 = {},
                  .sge2 = {}};
  std::array<spec::Sge*, 3> sges{&w.sge0, &w.sge1, &w.sge2};
  for (size_t i = 0; i < lengths.size(); i++)
    *sges[i] = {.tagged_offset = to + 0x100000 * i,
                .length = lengths[i],
                .stag = stag + (static_cast<uint32_t>(i) << 16)};
  return w;
}

/// The bus address of each of n bytes from offset `from` of a receive WQE, computed byte by byte
/// from the contract.
std::vector<uint64_t> addresses(const spec::RecvWqe& w, uint64_t from, uint64_t n) {
  std::vector<uint64_t> out;
  const std::array<const spec::Sge*, 3> sges{&w.sge0, &w.sge1, &w.sge2};
  uint64_t at = 0;
  for (unsigned i = 0; i < w.num_sge; i++)
    for (uint64_t k = 0; k < sges[i]->length && out.size() < n; k++, at++)
      if (at >= from) out.push_back(bus(sges[i]->stag, sges[i]->tagged_offset + k));
  return out;
}
/// The same for n bytes of an STag from a TO on, and for the bytes of a placed packet.
std::vector<uint64_t> addresses(uint32_t stag, uint64_t to, uint64_t n) {
  std::vector<uint64_t> out;
  for (uint64_t k = 0; k < n; k++) out.push_back(bus(stag, to + k));
  return out;
}
std::vector<uint64_t> addresses(const Placed& p) {
  std::vector<uint64_t> out;
  for (const auto& e : p.extents)
    for (uint64_t k = 0; k < e.length; k++) out.push_back(e.address + k);
  return out;
}

template <class D>
struct DdpRxTest : testing::Test {
  D dut;
};
TYPED_TEST_SUITE(DdpRxTest, Duts);

/// RTL only: what depends on cycles, and the number of headers that are judged ahead of a verdict.
/// In the model tpt and rdmap are calls.
template <class D>
struct DdpRxRtlTest : DdpRxTest<D> {};
TYPED_TEST_SUITE(DdpRxRtlTest, RtlDuts);

TYPED_TEST(DdpRxTest, TaggedPayloadGoesWhereStagAndToSay) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    base::Rng rng = test_rng();
    w.start_qp(1, 0x1234);
    // Lengths around a beat, with and without the 14 bytes of the tagged header; around a page; and
    // the longest, 65535 - 14.
    const std::vector<size_t> lengths{0,   1,   49,  50,   51,   63,   64,   65,
                                      113, 114, 115, 1460, 4096, 4097, 65521};
    for (size_t n : lengths) {
      // ddp handles every tagged opcode but Read Response as a Write. rdmap refuses unknown opcodes
      // later; opcode 9 stands for these. The QP has started without `persist`, so the fifth bit of
      // the opcode (0x10) is reserved, and ddp ignores it.
      for (const auto& [opcode, right] :
           {std::pair{kWrite, spec::kAccessRemoteWrite},
            {kReadResponse, spec::kAccessLocalWrite},
            {uint8_t{9}, spec::kAccessRemoteWrite},
            {uint8_t{0x10 | kReadResponse}, spec::kAccessLocalWrite}}) {
        if (n > 5000 && opcode != kWrite) continue;
        const Bytes data = random_bytes(rng, n);
        const uint64_t to = 0x7ffffff00 + rng.below(512);
        const Bytes ulpdu = tagged(opcode, true, 0x4100, to, data);
        w.rx_asked.clear();
        w.receive(1, ulpdu, n == 0 ? kTake : kPlace);
        const auto s = this->dut.rx_segment.take();
        EXPECT_EQ(s.qpn, 1);
        EXPECT_EQ(s.cause, Cause::kNone);
        EXPECT_EQ(s.ulpdu_length, ulpdu.size());
        EXPECT_TRUE(std::equal(
            ulpdu.begin(), ulpdu.begin() + static_cast<long>(std::min(s.head.size(), ulpdu.size())),
            s.head.begin()));
        if (n == 0) {
          this->dut.settle(60);
          EXPECT_TRUE(w.rx_asked.empty());
          continue;
        }
        ASSERT_EQ(w.rx_asked.size(), 1U);
        const spec::RxXlate want{.stag = 0x4100,
                                 .tagged_offset = to,
                                 .length = static_cast<uint32_t>(n),
                                 .pd = 0x1234,
                                 .qpn = 1,
                                 .rights = right,
                                 .last = 1};
        EXPECT_EQ(w.rx_asked[0], want);
        ASSERT_TRUE(this->dut.run_until([&] { return !w.placed.empty(); }));
        EXPECT_EQ(w.placed[0].bytes, data);
        EXPECT_EQ(addresses(w.placed[0]), addresses(0x4100, to, n));
        w.placed.clear();
      }
    }
    this->dut.settle();
    w.check_extents();
    EXPECT_TRUE(this->dut.rx_done.empty());
  });
}

struct Bad {
  const char* what;
  Bytes ulpdu;
  Cause cause;                           // in rx_segment
  Cause mpa = Cause::kNone;              // of mpa: then the ULPDU is empty
  WcStatus status = WcStatus::kSuccess;  // in rx_done; kSuccess: ddp reports no receive
  RqTake take = RqTake::kOk;
};

TYPED_TEST(DdpRxTest, EveryHeaderErrorHasItsCause) {
  const Bytes data(20, 0x5a);
  auto with = [](Bytes b, size_t at, uint8_t v) { return b[at] = v, b; };
  auto cut = [](Bytes b, size_t n) { return b.resize(n), b; };
  const Bytes write = tagged(kWrite, true, 0x4000, 64, data);
  const Bytes send = untagged(kSend, true, 0, 1, 0, data);
  // A Write to an STag for which the bench's tpt reports this result.
  auto stag = [&](spec::TptResult r) {
    return tagged(kWrite, true, 0x4000 | static_cast<uint32_t>(r), 64, data);
  };
  const std::vector<Bad> cases{
      {"empty", {}, Cause::kDdpUntaggedVersion},
      {"one tagged byte", cut(write, 1), Cause::kDdpTaggedVersion},
      {"13 tagged bytes", cut(write, 13), Cause::kDdpTaggedVersion},
      {"17 untagged bytes", cut(send, 17), Cause::kDdpUntaggedVersion},
      {"tagged DV 0", with(write, 0, 0xc0), Cause::kDdpTaggedVersion},
      {"tagged DV 2", with(write, 0, 0xc2), Cause::kDdpTaggedVersion},
      {"untagged DV 3", with(send, 0, 0x43), Cause::kDdpUntaggedVersion},
      {"QN 3", untagged(kSend, true, 3, 1, 0, data), Cause::kDdpUntaggedQn},
      {"QN 2^31", untagged(kSend, true, 0x80000000, 1, 0, data), Cause::kDdpUntaggedQn},
      {"MSN 0", untagged(kSend, true, 0, 0, 0, data), Cause::kDdpUntaggedMsn},
      {"MSN 2", untagged(kSend, true, 0, 2, 0, data), Cause::kDdpUntaggedMsn},
      {"MSN 2 of QN 1", untagged(kReadRequest, true, 1, 2, 0, data), Cause::kDdpUntaggedMsn},
      {"MSN before MO", untagged(kSend, true, 0, 2, 9, data), Cause::kDdpUntaggedMsn},
      {"MO 1", untagged(kSend, true, 0, 1, 1, data), Cause::kDdpUntaggedMo},
      {"MO 1 of QN 2", untagged(kTerminate, true, 2, 1, 1, data), Cause::kDdpUntaggedMo},
      {"QN 3 of a Read Request", untagged(kReadRequest, true, 3, 1, 0, data),
       Cause::kDdpUntaggedQn},
      {"MSN 0 of QN 1", untagged(kReadRequest, true, 1, 0, 0, data), Cause::kDdpUntaggedMsn},
      {"MO 1 of QN 1", untagged(kReadRequest, true, 1, 1, 1, data), Cause::kDdpUntaggedMo},
      {"STag unknown", stag(spec::TptResult::kStag), Cause::kDdpTaggedStag},
      {"no right", stag(spec::TptResult::kRights), Cause::kDdpTaggedStag},
      {"other PD", stag(spec::TptResult::kAssoc), Cause::kDdpTaggedAssoc},
      {"wrap", stag(spec::TptResult::kWrap), Cause::kDdpTaggedWrap},
      {"bounds", stag(spec::TptResult::kBounds), Cause::kDdpTaggedBounds},
      {"CRC", {}, Cause::kMpaCrc, Cause::kMpaCrc},
      {"marker", {}, Cause::kMpaMarker, Cause::kMpaMarker},
      {"too long", untagged(kSend, true, 0, 1, 0, Bytes(101, 1)), Cause::kDdpUntaggedTooLong,
       Cause::kNone, WcStatus::kLocLenErr},
      {"too long, many", untagged(kSend, false, 0, 1, 0, Bytes(5000, 1)),
       Cause::kDdpUntaggedTooLong, Cause::kNone, WcStatus::kLocLenErr},
      {"own key", untagged(kSend, true, 0, 1, 0, Bytes(71, 1)), Cause::kLocalCatastrophic,
       Cause::kNone, WcStatus::kLocProtErr},
      {"no buffer", send, Cause::kDdpUntaggedNoBuffer},
      {"WQE not read", send, Cause::kLocalCatastrophic, Cause::kNone, WcStatus::kFatalErr,
       RqTake::kFailed},
      {"WQE not read, many", untagged(kSend, false, 0, 1, 0, Bytes(5000, 1)),
       Cause::kLocalCatastrophic, Cause::kNone, WcStatus::kFatalErr, RqTake::kFailed},
      {"WQE not read, empty", untagged(kSend, true, 0, 1, 0, {}), Cause::kLocalCatastrophic,
       Cause::kNone, WcStatus::kFatalErr, RqTake::kFailed},
      {"WQE malformed", send, Cause::kLocalCatastrophic, Cause::kNone, WcStatus::kLocQpOpErr,
       RqTake::kMalformed},
  };
  each_pace([&](Pace p) {
    World w(this->dut, p);
    for (const Bad& b : cases) {
      SCOPED_TRACE(b.what);
      w.start_qp(3);
      w.start_qp(2);
      w.wqes[3].clear();
      if (b.cause != Cause::kDdpUntaggedNoBuffer) w.wqes[3].push_back(wqe(0x77, {50, 50}));
      if (b.status == WcStatus::kLocProtErr) {
        w.wqes[3].clear();
        w.wqes[3].push_back(wqe(0x77, {30, 40, 50}));
        w.wqes[3].back().sge2.stag |= static_cast<uint32_t>(spec::TptResult::kBounds);
      }
      w.take_result = b.take;
      w.receive(3, b.ulpdu, kDrop, b.mpa);
      w.receive(3, write, kDrop);  // after the first error all are refused
      w.receive(3, send, kDrop);
      w.receive(2, write, kPlace);  // the other QP is not affected
      auto s = this->dut.rx_segment.take_all();
      ASSERT_EQ(s.size(), 4U);
      EXPECT_EQ(s[0].cause, b.cause);
      EXPECT_EQ(s[0].ulpdu_length, b.ulpdu.size());
      EXPECT_EQ(s[3].cause, Cause::kNone);
      ASSERT_EQ(w.placed.size(), 1U);
      EXPECT_EQ(w.placed[0].bytes, data);
      w.placed.clear();
      const auto done = this->dut.rx_done.take_all();
      ASSERT_EQ(done.size(), b.status == WcStatus::kSuccess ? 0U : 1U);
      if (!done.empty()) {
        EXPECT_EQ(done[0].status, b.status);
        EXPECT_EQ(done[0].kind, DeliverKind::kRecv);
        EXPECT_EQ(done[0].qpn, 3);
        EXPECT_EQ(done[0].index, 0x77);
      }
      w.check_extents();
      w.control(spec::QpOp::kStop, 3);
      w.control(spec::QpOp::kStop, 2);
    }
  });
}

TYPED_TEST(DdpRxTest, SendWalksItsReceiveWqe) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    base::Rng rng = test_rng();
    w.start_qp(0, 9);
    uint32_t msn = 1;
    const std::vector<std::vector<uint32_t>> buffers{
        {},          {1},
        {64, 0, 65}, {0, 0, 200},
        {1, 1, 1},   {100, 4000, 9000},
        {300},       {0x80000000, 0x80000000, 0x80000000}};
    for (const auto& lengths : buffers) {
      const auto buffer = wqe(static_cast<uint16_t>(msn * 3), lengths);
      uint64_t room = 0;
      for (uint32_t l : lengths) room += l;
      for (uint64_t total : {room, room / 2, uint64_t{0}}) {
        if (total > 20000) total = 3000;
        w.wqes[0].push_back(buffer);
        uint64_t mo = 0;
        Bytes all;
        std::vector<uint64_t> where;
        do {  // segments of any length; the first may be empty
          const uint64_t n =
              std::min(total - mo, rng.percent(10) ? 0 : 1 + rng.below(total / 3 + 1));
          const bool last = mo + n == total;
          const Bytes data = random_bytes(rng, n);
          const auto a = addresses(buffer, mo, n);
          spec::RxVerdict v = last ? (n != 0 ? kPlaceRecv : kTakeRecv) : (n != 0 ? kPlace : kTake);
          w.receive(0, untagged(kSend, last, 0, msn, static_cast<uint32_t>(mo), data), v);
          if (!last) w.receive(0, tagged(kWrite, true, 0x4000, 0, {}), kTake);
          all.insert(all.end(), data.begin(), data.end());
          where.insert(where.end(), a.begin(), a.end());
          mo += n;
          if (last) break;
        } while (true);
        const auto done = this->dut.rx_done.take();
        EXPECT_EQ(done.index, buffer.index);
        EXPECT_EQ(done.byte_len, total);
        EXPECT_EQ(done.status, WcStatus::kSuccess);
        EXPECT_EQ(done.kind, DeliverKind::kRecv);
        Bytes got;
        std::vector<uint64_t> at;
        for (const auto& pl : w.placed) {
          got.insert(got.end(), pl.bytes.begin(), pl.bytes.end());
          for (uint64_t a : addresses(pl)) at.push_back(a);
        }
        EXPECT_EQ(got, all);
        EXPECT_EQ(at, where);
        w.placed.clear();
        msn++;
      }
    }
    for (const auto& x : w.rx_asked) {
      EXPECT_EQ(x.rights, spec::kAccessLocalWrite);
      EXPECT_EQ(x.pd, 9);
    }
    this->dut.settle();
    for (const auto& s : this->dut.rx_segment.take_all()) EXPECT_EQ(s.cause, Cause::kNone);
    w.check_extents();
  });
}

TYPED_TEST(DdpRxTest, RejectedSegmentsAreDroppedWithTheirExtents) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    base::Rng rng = test_rng();
    w.start_qp(0);
    w.start_qp(1);
    for (int i = 0; i < 20; i++) {
      const Bytes data = random_bytes(rng, 1 + rng.below(9000));
      w.receive(0, tagged(kWrite, true, 0x4100, rng.below(8192), data), kDrop);
      w.receive(1, tagged(kReadResponse, true, 0x4000, 5, data),
                {.accept = 1,
                 .place = 1,
                 .deliver = DeliverKind::kRead,
                 .solicited = 0,
                 .slot = static_cast<uint8_t>(i)});
      const auto done = this->dut.rx_done.take();
      EXPECT_EQ(done.kind, DeliverKind::kRead);
      EXPECT_EQ(done.slot, i);
      EXPECT_EQ(done.qpn, 1);
      ASSERT_EQ(w.placed.size(), 1U);
      EXPECT_EQ(w.placed[0].bytes, data);
      w.placed.clear();
    }
    this->dut.settle();
    w.check_extents();
    EXPECT_GT(w.dropped[1], 20U);
  });
}

TYPED_TEST(DdpRxTest, DeliveryWaitsForPlacementAndStopForDelivery) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    w.start_qp(5);
    w.wqes[5] = {wqe(1, {100}), wqe(2, {100})};
    w.hold_places = true;
    w.receive(5, untagged(kSend, true, 0, 1, 0, Bytes(80, 1)), kPlaceRecv);
    w.receive(5, untagged(kSend, true, 0, 2, 0, {}), kTakeRecv);
    ASSERT_TRUE(this->dut.run_until([&] { return w.held_places == 1; }));
    spec::QpCtlDdp c{};
    c.qpn = 5;
    for (auto op : {spec::QpOp::kSync, spec::QpOp::kStop}) {
      c.op = op;
      this->dut.qp_ctl.put(c);
    }
    EXPECT_FALSE(this->dut.qp_ack.try_take(300));
    EXPECT_TRUE(this->dut.rx_done.empty());
    w.release_places();
    EXPECT_EQ(this->dut.rx_done.take().index, 1);
    EXPECT_EQ(this->dut.rx_done.take().index, 2);
    this->dut.qp_ack.take();
    this->dut.qp_ack.take();
    // A stopped QP requests nothing. A started QP has no trace of its earlier life.
    const auto asked = w.rx_asked.size();
    w.receive(5, untagged(kSend, true, 0, 3, 0, Bytes(80, 1)), kDrop);
    w.receive(5, tagged(kWrite, true, 0x4000, 0, Bytes(80, 1)), kDrop);
    this->dut.settle();
    EXPECT_EQ(w.rx_asked.size(), asked);
    EXPECT_EQ(w.takes[5], 2U);
    w.start_qp(5);
    w.wqes[5] = {wqe(9, {10})};
    w.receive(5, untagged(kSend, true, 0, 1, 0, Bytes(10, 1)), kPlaceRecv);
    EXPECT_EQ(this->dut.rx_done.take().index, 9);
    this->dut.settle();
    w.check_extents();
  });
}

// qp gets an rx_done before a later acknowledgement of ddp, however long qp stalls rx_done.
TYPED_TEST(DdpRxRtlTest, StopsAndSyncsFollowTheReportsBeforeThem) {
  for (const auto op : {spec::QpOp::kSync, spec::QpOp::kStop}) {
    World w(this->dut, Pace{});
    auto& d = this->dut;
    w.start_qp(5);
    w.wqes[5] = {wqe(1, {100}), wqe(2, {100})};
    d.rx_done.stall(100);
    w.receive(5, untagged(kSend, true, 0, 1, 0, {}), kTakeRecv);
    w.receive(5, untagged(kSend, true, 0, 2, 0, {}), kTakeRecv);
    ASSERT_TRUE(d.run_until([&] { return d.rx_segment.size() == 2; }));
    d.cycles(50);
    spec::QpCtlDdp c{};
    c.qpn = 5;
    c.op = op;
    size_t reported = 0;
    d.qp_ack.on_item([&](const auto&) { reported = d.rx_done.size(); });
    d.qp_ctl.put(c);
    EXPECT_FALSE(d.qp_ack.try_take(300)) << "while qp takes no rx_done";
    d.rx_done.stall(0);
    d.qp_ack.take();
    EXPECT_EQ(reported, 2U);
    d.qp_ack.on_item([](const auto&) {});
  }
}

// ddp judges headers and has keys checked while the verdicts of earlier segments are outstanding.
TYPED_TEST(DdpRxRtlTest, HeaderOfTheNextIsJudgedWhileVerdictsWait) {
  World w(this->dut, Pace{});
  for (uint16_t q = 0; q < 4; q++) w.start_qp(q);
  w.hold_verdicts = true;
  for (uint16_t q = 0; q < 4; q++)
    w.receive(q, tagged(kWrite, true, 0x4000, 64 * q, Bytes(64, 1)), kPlace);
  ASSERT_TRUE(this->dut.run_until([&] { return w.rx_asked.size() >= 3; }))
      << "one segment at a time";
  for (int i = 0; i < 4; i++) w.give_verdict();
  ASSERT_TRUE(this->dut.run_until([&] { return w.placed.size() == 4; }));
}

/// Random segments in random order over QPs: each is judged, placed and delivered as the reference
/// expects.
TYPED_TEST(DdpRxTest, Random) {
  struct Q {
    uint32_t msn[3] = {1, 1, 1};
    uint64_t mo = 0, total = 0;       // total: room of the open message's WQE
    bool dead = false, open = false;  // dead: a segment was refused
    spec::RecvWqe wqe;
  };
  each_pace([&](Pace p) {
    World w(this->dut, p);
    base::Rng rng = test_rng(p.describe());
    const uint16_t qps = 6;
    std::vector<Q> q(qps);
    for (uint16_t i = 0; i < qps; i++) w.start_qp(i);
    struct Seg {
      uint16_t qpn;
      Cause cause;
      bool dead;
      Bytes ulpdu;
    };
    std::vector<Seg> segments;
    std::deque<std::pair<Bytes, std::vector<uint64_t>>> places;
    std::deque<spec::RxDone> dones;
    uint16_t index = 1;
    for (int n = 0; n < 600; n++) {
      const auto qpn = static_cast<uint16_t>(rng.below(qps));
      Q& s = q[qpn];
      Bytes data = random_bytes(rng, rng.percent(50)   ? rng.below(130)
                                     : rng.percent(20) ? 0
                                                       : rng.below(2000));
      Seg e{qpn, Cause::kNone, s.dead, {}};
      spec::RxVerdict v{.accept = 1,
                        .place = !data.empty(),
                        .deliver = DeliverKind::kNothing,
                        .solicited = 0,
                        .slot = 0};
      std::vector<uint64_t> where;
      const auto kind = rng.below(10);
      std::optional<spec::RxDone> done;
      if (kind < 4) {  // a Write or Read Response
        uint32_t stag = 0x4000 | static_cast<uint32_t>(rng.below(2) << 8);
        // result_of(): 5 is kBounds
        if (rng.percent(1) && !data.empty()) stag |= 5, e.cause = Cause::kDdpTaggedBounds;
        const uint64_t to = rng.below(1 << 20);
        const bool read = rng.percent(40);
        e.ulpdu = tagged(read ? kReadResponse : kWrite, true, stag, to, data);
        where = addresses(stag, to, data.size());
        if (read) {
          v.deliver = DeliverKind::kRead, v.slot = static_cast<uint8_t>(rng.next());
          done = spec::RxDone{.qpn = qpn,
                              .kind = DeliverKind::kRead,
                              .slot = v.slot,
                              .index = 0,
                              .byte_len = 0,
                              .solicited = 0,
                              .status = WcStatus::kSuccess};
        }
      } else if (kind < 9) {  // a segment of a Send
        if (!s.open) {
          s.open = true, s.mo = 0;
          s.wqe =
              wqe(index++,
                  {static_cast<uint32_t>(rng.below(3000)), static_cast<uint32_t>(rng.below(100)),
                   static_cast<uint32_t>(rng.below(3000))},
                  0x8000 | static_cast<uint32_t>(rng.below(2) << 8), rng.below(1 << 16));
          s.total = uint64_t{s.wqe.sge0.length} + s.wqe.sge1.length + s.wqe.sge2.length;
          if (!s.dead) w.wqes[qpn].push_back(s.wqe);
        }
        if (s.mo + data.size() > s.total && !rng.percent(3)) data.resize(s.total - s.mo);
        const bool last = s.mo + data.size() >= s.total || rng.percent(40);
        const bool too_long = s.mo + data.size() > s.total;
        uint32_t msn = s.msn[0];
        if (rng.percent(1)) msn ^= 4, e.cause = Cause::kDdpUntaggedMsn;
        e.ulpdu = untagged(kSend, last, 0, msn, static_cast<uint32_t>(s.mo), data);
        v.place = !data.empty();
        where = addresses(s.wqe, s.mo, data.size());
        if (e.cause == Cause::kNone && too_long) {
          e.cause = Cause::kDdpUntaggedTooLong;
          if (!s.dead)
            dones.push_back({.qpn = qpn,
                             .kind = DeliverKind::kRecv,
                             .slot = 0,
                             .index = s.wqe.index,
                             .byte_len = 0,
                             .solicited = 0,
                             .status = WcStatus::kLocLenErr});
        }
        s.mo += data.size();
        if (last) {
          v.deliver = DeliverKind::kRecv, v.solicited = rng.percent(50);
          done = spec::RxDone{.qpn = qpn,
                              .kind = DeliverKind::kRecv,
                              .slot = 0,
                              .index = s.wqe.index,
                              .byte_len = static_cast<uint32_t>(s.mo),
                              .solicited = v.solicited,
                              .status = WcStatus::kSuccess};
          s.open = false, s.msn[0]++;
        }
      } else {
        const uint32_t qn = 1 + static_cast<uint32_t>(rng.below(2));
        e.ulpdu =
            untagged(qn == 1 ? kReadRequest : kTerminate, true, qn, s.msn[qn]++, 0, Bytes(28, 3));
        v.place = 0;
      }
      const bool good = !s.dead && e.cause == Cause::kNone && !rng.percent(1);
      if (good) {
        if (v.place != 0) places.emplace_back(data, where);
        if (done) dones.push_back(*done);
      } else {
        v = kDrop, s.dead = true;
      }
      w.receive(qpn, e.ulpdu, v);
      segments.push_back(e);
      if (rng.percent(2) && s.dead) {  // restart
        this->dut.settle(100);
        w.control(spec::QpOp::kStop, qpn);
        w.wqes[qpn].clear();
        s = {};
        w.start_qp(qpn);
      }
    }
    const auto got = this->dut.rx_segment.take_all();
    ASSERT_EQ(got.size(), segments.size());
    for (size_t i = 0; i < got.size(); i++) {
      EXPECT_EQ(got[i].qpn, segments[i].qpn);
      EXPECT_EQ(got[i].ulpdu_length, segments[i].ulpdu.size());
      EXPECT_TRUE(
          std::equal(segments[i].ulpdu.begin(),
                     segments[i].ulpdu.begin() +
                         static_cast<long>(std::min(got[i].head.size(), segments[i].ulpdu.size())),
                     got[i].head.begin()));
      if (!segments[i].dead) {
        EXPECT_EQ(got[i].cause, segments[i].cause) << i;
      }
    }
    ASSERT_EQ(w.placed.size(), places.size());
    for (size_t i = 0; i < places.size(); i++) {
      EXPECT_EQ(w.placed[i].bytes, places[i].first);
      EXPECT_EQ(addresses(w.placed[i]), places[i].second);
    }
    auto reported = this->dut.rx_done.take_all();
    ASSERT_EQ(reported.size(), dones.size());
    for (size_t i = 0; i < dones.size(); i++) {
      if (dones[i].kind == DeliverKind::kRead) reported[i].index = 0;
      EXPECT_EQ(reported[i], dones[i]);
    }
    w.check_extents();
  });
}

/// A Send of more than 2^32 bytes is too long for any buffer: its length never wraps. To reach that
/// length quickly, the headers come without payload, which ddp would drop.
TYPED_TEST(DdpRxTest, SendOverFourGigabytesIsTooLong) {
  World w(this->dut, Pace{});
  auto& d = this->dut;
  w.start_qp(0);
  w.wqes[0].push_back(wqe(0x77, {0xffffffff, 0xffffffff, 0xffffffff}));
  d.rx_xlate.on_item([&](const spec::RxXlate& x) {
    if (x.last != 0) d.rx_xlate_rsp.put({.result = spec::TptResult::kOk});
    if (x.last != 0)
      d.rx_extent.put(
          {.address = 0, .length = 1, .result = spec::TptResult::kOk, .epoch = 0, .last = 1});
  });
  d.rx_dropped.on_item([](const auto&) {});
  // Payload of the longest ULPDU; segments whose sum still fits 32 bits.
  constexpr uint32_t kPayload = 65535 - 18, kWhole = 0xffffffff / kPayload;
  for (uint32_t i = 0; i <= kWhole; i++) {
    w.verdicts.push_back(i < kWhole ? kTake : kDrop);
    d.rx_ulpdu_hdr.put({.qpn = 0, .length = 65535, .cause = Cause::kNone});
    d.rx_ulpdu.put_packet(untagged(kSend, i == kWhole, 0, 1, i * kPayload, Bytes(1)));
  }
  ASSERT_TRUE(d.run_until([&] { return d.rx_segment.size() == kWhole + 1; }, 2'000'000));
  unsigned good = 0;
  for (const auto& s : d.rx_segment.items()) good += s.cause == Cause::kNone;
  EXPECT_EQ(good, kWhole);
  EXPECT_EQ(d.rx_segment.items().back().cause, Cause::kDdpUntaggedTooLong);
  const spec::RxDone want{.qpn = 0,
                          .kind = DeliverKind::kRecv,
                          .slot = 0,
                          .index = 0x77,
                          .byte_len = 0,
                          .solicited = 0,
                          .status = WcStatus::kLocLenErr};
  EXPECT_EQ(d.rx_done.take(1000), want);
}

/// SGE fields of a WQE beyond num_sge receive no bytes.
TYPED_TEST(DdpRxTest, SgesBeyondTheirNumberAreNotUsed) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    for (uint8_t n = 0; n < 3; n++) {
      w.start_qp(0);
      auto buffer = wqe(n, {100, 100, 100});
      buffer.num_sge = n;
      w.wqes[0] = {buffer};
      w.receive(0, untagged(kSend, true, 0, 1, 0, Bytes(100 * n + 1)), kDrop);
      EXPECT_EQ(this->dut.rx_segment.take().cause, Cause::kDdpUntaggedTooLong);
      EXPECT_EQ(this->dut.rx_done.take().status, WcStatus::kLocLenErr);
      EXPECT_TRUE(w.rx_asked.empty());
      w.control(spec::QpOp::kStop, 0);
    }
  });
}

/// ddp has the STag of a Send with Invalidate checked with the last segment, before the segment's
/// pieces. The report of the Send waits until tpt has closed the STag (invalidated). Later reports
/// of the same QP wait for that report; those of other QPs do not. R5040-5.3-15
TYPED_TEST(DdpRxTest, SendWithInvalidateIsReportedWhenItsStagIsClosed) {
  constexpr uint8_t kSendInv = 4, kSendSeInv = 6;
  each_pace([&](Pace p) {
    World w(this->dut, p);
    auto& d = this->dut;
    w.start_qp(1);
    w.start_qp(2);
    w.wqes[1] = {wqe(1, {200}), wqe(2, {200}), wqe(3, {200}), wqe(4, {200})};
    w.wqes[2] = {wqe(8, {200})};
    const auto inv = [](bool place, uint32_t stag) {
      return spec::RxVerdict{.accept = 1,
                             .place = place,
                             .deliver = spec::DeliverKind::kInvalidate,
                             .immediate = stag};
    };
    const auto send = [&](uint8_t op, bool last, uint32_t msn, uint32_t mo, uint32_t stag,
                          size_t n) {
      Bytes u = untagged(op, last, 0, msn, mo, Bytes(n, 5));
      for (int i = 0; i < 4; i++) u[2 + i] = static_cast<uint8_t>(stag >> (24 - 8 * i));
      return u;
    };
    w.receive(1, send(kSendInv, false, 1, 0, 0x7708, 100), {.accept = 1, .place = 1});
    w.receive(1, send(kSendInv, true, 1, 100, 0x7708, 20), inv(true, 0x7708));
    w.receive(1, send(kSend, true, 2, 0, 0x7710, 20), kPlaceRecv);  // invalidates nothing
    w.receive(1, send(kSendSeInv, true, 3, 0, 0x7718, 0), inv(false, 0x7718));
    w.receive(2, send(kSend, true, 1, 0, 0, 20), kPlaceRecv);
    EXPECT_EQ(d.rx_done.take(4000).index, 8) << "of another QP: not held";
    EXPECT_EQ(d.invalidate.take().stag, 0x7708U);
    EXPECT_EQ(d.invalidate.take().stag, 0x7718U);
    d.settle();
    EXPECT_TRUE(d.rx_done.empty());
    d.invalidated.put({0x7708});
    const spec::RxDone first{.qpn = 1,
                             .kind = spec::DeliverKind::kInvalidate,
                             .index = 1,
                             .byte_len = 120,
                             .immediate = 0x7708};
    EXPECT_EQ(d.rx_done.take(), first);
    EXPECT_EQ(d.rx_done.take().index, 2);
    d.settle();
    EXPECT_TRUE(d.rx_done.empty());
    d.invalidated.put({0x7718});
    EXPECT_EQ(d.rx_done.take().index, 3);
    std::vector<spec::RxXlate> checks;
    for (const auto& x : w.rx_asked)
      if (x.invalidate != 0) checks.push_back(x);
    ASSERT_EQ(checks.size(), 2U);
    EXPECT_EQ(checks[0], (spec::RxXlate{.stag = 0x7708,
                                        .pd = 7,
                                        .qpn = 1,
                                        .rights = spec::kAccessRemoteInvalidate,
                                        .invalidate = 1,
                                        .last = 0}));
    EXPECT_EQ(checks[1].stag, 0x7718U);
    EXPECT_EQ(checks[1].last, 1);
    w.placed.clear();
    w.control(spec::QpOp::kStop, 1);
    w.check_extents();
    (void)d.rx_segment.take_all();
  });
}

/// A stop waits for a report that waits for tpt, however many reports of other QPs pass it.
TYPED_TEST(DdpRxTest, StopWaitsForAHeldReport) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    auto& d = this->dut;
    w.start_qp(1);
    w.start_qp(2);
    w.wqes[1] = {wqe(1, {20})};
    for (uint16_t i = 0; i < 20; i++) w.wqes[2].push_back(wqe(i, {20}));
    Bytes u = untagged(4, true, 0, 1, 0, {});  // opcode 4: Send with Invalidate
    u[5] = 8;                                  // octets 2 to 5: the STag to be invalidated
    w.receive(1, u, {.accept = 1, .deliver = spec::DeliverKind::kInvalidate, .immediate = 8});
    EXPECT_EQ(d.invalidate.take().stag, 8U);
    d.qp_ctl.put({.op = spec::QpOp::kStop, .qpn = 1, .params = {}});
    for (uint32_t i = 1; i <= 20; i++)
      w.receive(2, untagged(kSend, true, 0, i, 0, {}),
                {.accept = 1, .deliver = spec::DeliverKind::kRecv});
    for (uint16_t i = 0; i < 20; i++) EXPECT_EQ(d.rx_done.take().index, i);
    EXPECT_FALSE(d.qp_ack.try_take(300));
    d.invalidated.put({8});
    EXPECT_EQ(d.rx_done.take().index, 1);
    EXPECT_EQ(d.qp_ack.take().qpn, 1);
    (void)d.rx_segment.take_all();
  });
}

/// tpt reports an invalidation when every extent issued before has retired. None of these extents
/// may belong to a segment that waits for the held report: 150 Sends of one QP follow a Send with
/// Invalidate.
TYPED_TEST(DdpRxTest, AnInvalidationWaitsForNoSegmentThatWaitsForIt) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    auto& d = this->dut;
    constexpr uint16_t kSends = 150;
    w.start_qp(1);
    for (uint16_t i = 0; i < kSends; i++) w.wqes[1].push_back(wqe(i, {8}));
    w.hold_places = true;
    const auto all = [](const auto& by_epoch) { return by_epoch[0] + by_epoch[1]; };
    std::optional<uint64_t> waits_for;  // extents issued before the request
    d.invalidate.on_item([&](const spec::Invalidate&) { waits_for = all(w.given); });
    for (uint16_t i = 0; i < kSends; i++) {
      // opcode 4: Send with Invalidate
      Bytes u = untagged(i == 0 ? 4 : kSend, true, 0, i + 1U, 0, Bytes(8, 1));
      if (i == 0) u[4] = 0x40;  // STag 0x4000
      spec::RxVerdict v = kPlaceRecv;
      if (i == 0) v.deliver = spec::DeliverKind::kInvalidate, v.immediate = 0x4000;
      w.receive(1, u, v);
    }
    for (unsigned i = 0; i < 800; i++) d.advance();  // the queues are full
    for (unsigned i = 0; i < 40000 && d.rx_done.size() < kSends; i++) {
      if (w.held_places > 0) w.release_place();
      if (waits_for && all(w.used) + all(w.dropped) >= *waits_for) {
        d.invalidated.put({0x4000});
        waits_for.reset();
      }
      d.advance();
    }
    const auto done = d.rx_done.take_all();
    ASSERT_EQ(done.size(), kSends) << "a deadlock";
    for (uint16_t i = 0; i < kSends; i++) EXPECT_EQ(done[i].index, i);
    w.placed.clear();
    (void)d.rx_segment.take_all();
  });
}

/// An STag that may not be invalidated is the peer's error. ddp does not report the receive: qp
/// flushes it. requirements.md section 7
TYPED_TEST(DdpRxTest, StagThatMayNotBeInvalidated) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    for (const auto& [result, cause] :
         {std::pair{spec::TptResult::kStag, Cause::kRdmapInvStag},
          std::pair{spec::TptResult::kAssoc, Cause::kRdmapInvProtected},
          std::pair{spec::TptResult::kRights, Cause::kRdmapInvProtected}}) {
      w.start_qp(3);
      w.wqes[3] = {wqe(4, {8})};
      Bytes u = untagged(4, true, 0, 1, 0, {});  // opcode 4: Send with Invalidate
      u[5] = static_cast<uint8_t>(result);       // decoded by result_of()
      w.receive(3, u, kDrop);
      EXPECT_EQ(this->dut.rx_segment.take().cause, cause);
      w.control(spec::QpOp::kStop, 3);
      EXPECT_TRUE(this->dut.rx_done.empty());
      EXPECT_TRUE(this->dut.invalidate.empty());
    }
  });
}

/// Immediate Data takes a receive WQE, and translates and places nothing. Its report has rdmap's 8
/// bytes and the length of the last Write since the last message on QN 0. R7306-6.3-02
TYPED_TEST(DdpRxTest, ImmediateDataTakesAReceiveAndPlacesNothing) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    w.start_qp(2);
    w.wqes[2] = {wqe(5, {200}), wqe(6, {}), wqe(7, {4}), wqe(8, {64})};
    const spec::RxVerdict imm{.accept = 1,
                              .deliver = spec::DeliverKind::kImmediate,
                              .solicited = 1,
                              .immediate = 0x0102030405060708};
    const auto write = [&](bool last, size_t n) {
      w.receive(2, tagged(kWrite, last, 0x4100, 0x1000, Bytes(n, 3)), n == 0 ? kTake : kPlace);
    };
    const auto expect = [&](uint16_t index, uint32_t bytes) {
      const spec::RxDone want{.qpn = 2,
                              .kind = spec::DeliverKind::kImmediate,
                              .index = index,
                              .byte_len = bytes,
                              .solicited = 1,
                              .immediate = 0x0102030405060708};
      EXPECT_EQ(this->dut.rx_done.take(), want);
    };
    // Opcodes: 8 Immediate Data, 9 the same with a solicited event.
    w.receive(2, untagged(8, true, 0, 1, 0, Bytes(8, 1)), imm);
    expect(5, 0);
    EXPECT_TRUE(w.rx_asked.empty());
    write(true, 100);
    write(false, 70);
    write(true, 30);  // one Write of 100 bytes in two segments
    w.receive(2, untagged(9, true, 0, 2, 0, Bytes(8, 1)), imm);
    expect(6, 100);
    w.receive(2, untagged(8, true, 0, 3, 0, Bytes(8, 1)), imm);
    expect(7, 0);
    write(true, 33);
    w.receive(2, untagged(kSend, true, 0, 4, 0, Bytes(10, 1)), kPlaceRecv);
    EXPECT_EQ(this->dut.rx_done.take().byte_len, 10U);
    this->dut.settle();
    w.placed.clear();
    w.control(spec::QpOp::kStop, 2);
    w.check_extents();
    (void)this->dut.rx_segment.take_all();
  });
}

/// After a segment that was too long or had no buffer, ddp requests no lookup for the rest of that
/// message, whatever the table of open messages contained before.
TYPED_TEST(DdpRxTest, RestOfAMessageWithoutRoomAsksForNothing) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    for (bool buffer : {false, true}) {
      w.start_qp(0);
      w.wqes[0] = {wqe(1, {200})};
      // The table holds what is left of this message's buffer.
      w.receive(0, untagged(kSend, false, 0, 1, 0, Bytes(10, 1)), kPlace);
      w.receive(0, untagged(kSend, true, 0, 1, 10, Bytes(10, 1)), kPlaceRecv);
      EXPECT_EQ(this->dut.rx_done.take().index, 1);
      const auto asked = w.rx_asked.size();
      if (buffer) w.wqes[0] = {wqe(2, {5})};
      w.receive(0, untagged(kSend, false, 0, 2, 0, Bytes(6, 1)), kDrop);
      w.receive(0, untagged(kSend, false, 0, 2, 6, Bytes(6, 1)), kDrop);
      w.receive(0, untagged(kSend, true, 0, 2, 12, Bytes(6, 1)), kDrop);
      EXPECT_EQ(this->dut.rx_segment.take_all().size(), 5U);
      EXPECT_EQ(w.rx_asked.size(), asked);
      EXPECT_EQ(this->dut.rx_done.take_all().size(), buffer ? 1U : 0U);
      w.placed.clear();
      w.control(spec::QpOp::kStop, 0);
      w.check_extents();
    }
  });
}

/// After a refused segment ddp reports nothing, even if its QP stops meanwhile: qp flushes the
/// rest.
TYPED_TEST(DdpRxTest, StopDoesNotForgetARefusal) {
  each_pace([&](Pace p) {
    for (bool buffer : {true, false}) {
      World w(this->dut, p);
      w.start_qp(0);
      w.start_qp(1);
      if (buffer) w.wqes[0] = {wqe(1, {100}), wqe(2, {10})};
      w.hold_places = true;
      // First case: rdmap refuses a segment, and the next message is longer than its buffer. Second
      // case: two segments of a message without a buffer.
      w.receive(0, untagged(kSend, buffer, 0, 1, 0, Bytes(80, 1)), kDrop);
      w.receive(1, tagged(kWrite, true, 0x4000, 0, Bytes(80, 1)), kPlace);
      w.receive(0, untagged(kSend, true, 0, buffer ? 2 : 1, buffer ? 0 : 80, Bytes(80, 1)), kDrop);
      ASSERT_TRUE(this->dut.run_until([&] { return w.held_places == 1; }));
      EXPECT_EQ(this->dut.rx_segment.take_all().size(), 3U);
      spec::QpCtlDdp c{};
      c.op = spec::QpOp::kStop, c.qpn = 0;
      this->dut.qp_ctl.put(c);
      this->dut.cycles(100);
      w.release_places();
      EXPECT_EQ(this->dut.qp_ack.take().qpn, 0);
      this->dut.settle();
      EXPECT_EQ(this->dut.rx_done.take_all().size(), 0U);
      // A start clears the refusal.
      w.start_qp(0);
      w.wqes[0] = {wqe(7, {10})};
      w.receive(0, untagged(kSend, true, 0, 1, 0, Bytes(80, 1)), kDrop);
      const spec::RxDone done = this->dut.rx_done.take();
      EXPECT_EQ(done.index, 7);
      EXPECT_EQ(done.status, WcStatus::kLocLenErr);
      this->dut.settle();
      this->dut.rx_segment.take_all();
      for (uint16_t q = 0; q < 2; q++) w.control(spec::QpOp::kStop, q);
      w.check_extents();
    }
  });
}

/// Inputs offered while the tables are being cleared are accepted once, after that.
TYPED_TEST(DdpRxTest, NothingIsTakenWhileTheTablesAreCleared) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    auto& d = this->dut;
    d.restart(p);
    spec::QpCtlDdp c{};
    c.op = spec::QpOp::kStart, c.qpn = 3;
    d.qp_ctl.put(c);
    w.receive(2, tagged(kWrite, true, 0x4000, 0, Bytes(100, 1)),
              kDrop);  // its QP does not run
    const auto acks = d.qp_ack.take_all();
    ASSERT_EQ(acks.size(), 1U);
    EXPECT_EQ(acks[0].qpn, 3);
    const auto segments = d.rx_segment.take_all();
    ASSERT_EQ(segments.size(), 1U);
    EXPECT_EQ(segments[0].cause, Cause::kLocalCatastrophic);
    w.control(spec::QpOp::kStop, 3);
    w.check_extents();
  });
}

/// A late segment from before a QP's restart is in flight when the QP starts again. The next stop
/// waits until exactly this segment is drained.
TYPED_TEST(DdpRxTest, StartKeepsCountOfWhatIsInside) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    for (int round = 0; round < 5; round++) {
      for (int i = 0; i < 4; i++)
        w.receive(5, tagged(kWrite, true, 0x4000, 0, Bytes(80, 1)), kDrop);
      w.start_qp(5);
      w.control(spec::QpOp::kStop, 5);
      this->dut.settle();
      EXPECT_EQ(this->dut.rx_segment.take_all().size(), 4U);
    }
    w.check_extents();
  });
}

/// A segment arrives while a stop still waits for earlier messages. It is accepted, so the stop
/// waits for it. RTL only: in the model a stop waits for no message.
TYPED_TEST(DdpRxRtlTest, StopWaitsForWhatItStillLetsIn) {
  World w(this->dut, Pace{});
  auto& d = this->dut;
  for (uint16_t q = 0; q < 8; q++) w.start_qp(q);
  w.hold_places = true;
  d.tx_want.stall(100);
  for (uint16_t q = 1; q < 8; q++) {  // stalled wants make messages wait
    spec::TxMessageHdr h{};
    h.qpn = q, h.source = spec::TxSource::kSq, h.is_inline = 1, h.length = 8;
    w.send(h, Bytes(8, 2));
  }
  d.cycles(100);
  spec::QpCtlDdp c{};
  c.op = spec::QpOp::kStop, c.qpn = 0;
  d.qp_ctl.put(c);
  d.cycles(20);
  w.receive(0, tagged(kWrite, true, 0x4000, 0, Bytes(80, 1)), kPlace);
  ASSERT_TRUE(d.run_until([&] { return w.held_places == 1; }));
  EXPECT_EQ(d.rx_segment.take().cause, Cause::kNone) << "it was stopped already";
  d.tx_want.stall(0);
  d.cycles(300);
  EXPECT_TRUE(d.qp_ack.empty());
  w.release_places();
  EXPECT_EQ(d.qp_ack.take(1000).qpn, 0);
}

/// A stop is acknowledged when the segment that mpa stalls is sent, however many segments are
/// received meanwhile.
TYPED_TEST(DdpRxTest, StopIsNotMissedWhileTransmitStands) {
  World w(this->dut, Pace{});
  auto& d = this->dut;
  w.start_qp(0);
  w.start_qp(1);
  d.tx_ulpdu.stall(100);
  spec::TxMessageHdr h{};
  h.qpn = 0, h.source = spec::TxSource::kSq, h.is_tagged = 1, h.num_sge = 1,
  h.length = 1400;  // more than the output buffer holds
  Bytes sge(16);
  spec::WqeSge{.address = 0, .length = 1400, .lkey = 0x1000}.pack(sge);
  w.send(h, sge);
  d.cycles(100);
  spec::QpCtlDdp c{};
  c.op = spec::QpOp::kStop, c.qpn = 0;
  d.qp_ctl.put(c);
  constexpr uint32_t kPass = 33000;  // more than half of 2^16, the range of ddp_qp's counters
  for (uint32_t i = 0; i < kPass; i++) w.receive(1, tagged(kWrite, true, 0x4000, 0, {}), kTake);
  ASSERT_TRUE(d.run_until([&] { return d.rx_segment.size() == kPass; }, 500'000));
  d.cycles(100);
  EXPECT_TRUE(d.qp_ack.empty());
  d.tx_ulpdu.stall(0);
  EXPECT_EQ(d.qp_ack.take(1000).qpn, 0);
}

/// The figures in the header of ddp_rx.sv: a small segment every 2 to 4 cycles, 64 payload bytes
/// per cycle in bulk. The bounds add a margin.
using DdpRxDefaultTest = DdpRxRtlTest<RtlDdp<VDdp, false>>;
TEST_F(DdpRxDefaultTest, KeepsItsPace) {
  World w(this->dut, Pace{});
  for (uint16_t q = 0; q < 8; q++) w.start_qp(q);
  auto measure = [&](unsigned count, auto put) {
    for (unsigned i = 0; i < count; i++) put(i);
    const auto goal = w.place_count + count;
    const uint64_t begin = this->dut.now();
    EXPECT_TRUE(this->dut.run_until([&] { return w.place_count == goal; }));
    return static_cast<double>(this->dut.now() - begin) / count;
  };
  const double small = measure(400, [&](unsigned i) {
    w.receive(static_cast<uint16_t>(i % 8), tagged(kWrite, true, 0x4000, i * 64, Bytes(64, 1)),
              kPlace);
  });
  uint32_t msn[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  const double sends = measure(400, [&](unsigned i) {
    w.wqes[static_cast<uint16_t>(i % 8)].push_back(wqe(1, {64}, 0x1000, 0));
    w.receive(static_cast<uint16_t>(i % 8), untagged(kSend, true, 0, msn[i % 8]++, 0, Bytes(64, 1)),
              kPlaceRecv);
  });
  const double bulk = measure(200, [&](unsigned i) {
    w.receive(1, tagged(kWrite, true, 0x4000, i * 4096ULL, Bytes(1408, 1)), kPlace);
  });
  std::cout << "receive: cycles a 64-byte Write " << small << ", a 64-byte Send " << sends
            << ", 22 beats of bulk " << bulk << "\n";
  EXPECT_LT(small, 2.5);
  EXPECT_LT(sends, 4.1);
  EXPECT_LT(bulk, 23.3);  // 14 + 1408 bytes are 23 beats
}

/// The latencies in the header of ddp_rx.sv, on which the model's timing is based.
TYPED_TEST(DdpRxRtlTest, HasTheLatencyThatItSays) {
  World w(this->dut, Pace{});
  w.start_qp(0);
  auto& d = this->dut;
  uint64_t at = 0;
  d.rx_xlate.on_item([&](const auto&) { at = d.now(); });
  d.rx_segment.on_item([&](const auto&) { at = d.now(); });
  d.place_hdr.on_item([&](const auto&) { at = d.now(); });
  d.place.on_packet([&](const auto&) {});
  d.place_extent.on_item([&](const auto&) {});
  d.rx_done.on_item([&](const auto&) { at = d.now(); });
  // From the cycle that takes the input to the cycle that gives the output.
  auto measure = [&](auto put) {
    d.cycles(40);
    at = 0;
    const uint64_t begin = d.now();
    put();
    EXPECT_TRUE(d.run_until([&] { return at != 0; }, 100));
    return at - begin;
  };
  EXPECT_EQ(
      measure([&] { w.receive(0, tagged(kReadResponse, true, 0x4000, 0, Bytes(64, 1)), kPlace); }),
      4U);
  EXPECT_EQ(measure([&] { d.rx_xlate_rsp.put({.result = spec::TptResult::kOk}); }), 2U);
  d.rx_extent.put(extents_of(0x4000, 0, 64)[0]);
  EXPECT_EQ(
      measure([&] {
        d.rx_verdict.put(
            {.accept = 1, .place = 1, .deliver = DeliverKind::kRead, .solicited = 0, .slot = 0});
      }),
      2U);
  EXPECT_EQ(measure([&] { d.place_done.put({.count = 1}); }), 2U);
  w.verdicts.clear();
}

}  // namespace
}  // namespace rnic::tb

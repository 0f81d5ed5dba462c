// Shared receive queues in ddp alone: exactly one report for each WQE that is taken from one.
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <map>
#include <optional>

#include "base/rng.hpp"
#include "ddp/ddp.hpp"
#include "wire.hpp"

namespace rnic::tb {
namespace {

using model::Ddp;
using spec::Cause;
using spec::DeliverKind;
using spec::RqTake;
using spec::TptResult;
using spec::WcStatus;

constexpr uint32_t kBadStag = 0xbad;
constexpr std::array<uint16_t, 3> kQps{1, 2, 3};

class SrqDdpTest : public testing::Test,
                   protected Ddp::Out,
                   private model::SegmentJudge,
                   private model::Translation {
 protected:
  /// A report, or an acknowledgement, in the order in which ddp makes them.
  struct Item {
    uint16_t qpn = 0;
    bool is_ack = false;
    DeliverKind kind{};
    uint16_t index = 0;
    WcStatus status{};
    uint32_t byte_len = 0;
    friend bool operator==(const Item&, const Item&) = default;
    friend void PrintTo(const Item& i, std::ostream* o) {
      *o << "QP " << i.qpn << (i.is_ack ? ": ack" : ": ") << to_string(i.kind) << " " << i.index
         << " " << to_string(i.status) << " " << i.byte_len << " bytes";
    }
  };
  using Items = std::vector<Item>;
  static Item ok(uint16_t qpn, uint16_t tag, uint32_t bytes,
                 DeliverKind kind = DeliverKind::kRecv) {
    return {.qpn = qpn, .kind = kind, .index = tag, .byte_len = bytes};
  }
  static Item bad(uint16_t qpn, uint16_t tag, WcStatus status = WcStatus::kWrFlushErr) {
    return {.qpn = qpn, .kind = DeliverKind::kRecv, .index = tag, .status = status};
  }
  static Item ack(uint16_t qpn) { return {.qpn = qpn, .is_ack = true}; }
  Items said() { return std::exchange(log, {}); }

  SrqDdpTest() {
    for (const uint16_t qpn : kQps) start(qpn);
  }
  void start(uint16_t qpn) {
    ddp.control({.op = spec::QpOp::kStart, .qpn = qpn, .params = {.pd = 1, .persist = 1}});
    EXPECT_EQ(said(), Items{ack(qpn)});
    msn[qpn] = 1;
    failed[qpn] = false;
  }
  void order(spec::QpOp op, uint16_t qpn) { ddp.control({.op = op, .qpn = qpn, .params = {}}); }
  void stop(uint16_t qpn) { order(spec::QpOp::kStop, qpn); }

  /// What the next takes get, tag and result. One SGE of 100 bytes.
  void wqe(uint16_t tag, RqTake result = RqTake::kOk, bool shared = true, uint32_t stag = 9) {
    spec::RqTakeRsp t{.result = result, .shared = shared, .wqe = {.index = tag}};
    if (result == RqTake::kOk) {
      t.wqe.num_sge = 1;
      t.wqe.sge0 = {.tagged_offset = 4096, .length = 100, .stag = stag};
    }
    takes.push_back(t);
  }
  /// refuse: rdmap's verdict.
  void segment(uint16_t qpn, const Bytes& header, uint32_t payload, bool refuse = false) {
    const Bytes all = header + Bytes(payload, 1);
    model::RxUlpdu u{
        .hdr = {.qpn = qpn, .length = static_cast<uint16_t>(all.size()), .cause = Cause::kNone},
        .data = rnic::Payload::copy_of(all)};
    ddp.rx.enters(qpn);
    if (ddp.rx.needs_receive(u)) {
      ASSERT_FALSE(takes.empty());
      ddp.rx.received(qpn, takes.front());
      takes.pop_front();
    }
    refuses = refuse;
    places += ddp.rx.take(std::move(u)) ? 1 : 0;
    if (instant) place_all();
  }
  void send(uint16_t qpn, uint32_t mo, uint32_t n, bool last, bool refuse = false,
            uint8_t opcode = 0x43) {
    segment(qpn, untagged(last ? 0x41 : 0x01, opcode, 0, msn[qpn], mo), n, refuse);
    if (last) ++msn[qpn];
  }
  void begin(uint16_t qpn, bool refuse = false) { send(qpn, 0, 10, false, refuse); }
  void send_inv(uint16_t qpn) { send(qpn, 0, 10, true, false, 0x44); }
  void write(uint16_t qpn, uint32_t stag, bool refuse = false) {
    segment(qpn, tagged(0xc1, 0x40, stag, 4096), 10, refuse);
  }
  void place_one() {
    --places;
    ddp.rx.place_done({});
  }
  void place_all() {
    while (places != 0) place_one();
  }

  Items log;
  std::deque<spec::RqTakeRsp> takes;
  std::map<uint16_t, uint32_t> msn;
  std::map<uint16_t, bool> failed;  // rdmap refuses all its segments
  uint32_t places = 0, invalidations = 0;
  bool refuses = false, instant = true;
  Ddp ddp{spec::Sizes{}, *this, *this, *this};

 private:
  void qp_ack_ddp(const spec::QpAckDdp& a) override { log.push_back(ack(a.qpn)); }
  void tx_want(const spec::TxWant&) override {}
  void tx_fault(const spec::TxFault&) override {}
  void sq_slot_free(const spec::SqSlotFree&) override {}
  void resp_slot_free(const spec::RespSlotFree&) override {}
  void rx_done(const spec::RxDone& d) override {
    log.push_back({.qpn = d.qpn,
                   .kind = d.kind,
                   .index = d.index,
                   .status = d.status,
                   .byte_len = d.byte_len});
  }
  void invalidate(const spec::Invalidate&) override { ++invalidations; }
  spec::RxVerdict rx_segment(const spec::RxSegment& s) override {
    const auto bytes = s.ulpdu_length;
    const bool is_tagged = bytes != 0 && (s.head[0] & 0x80) != 0;
    failed[s.qpn] = failed[s.qpn] || s.cause != Cause::kNone || refuses;
    if (failed[s.qpn]) return {.accept = 0};
    spec::RxVerdict v{
        .accept = 1,
        .place = bytes > (is_tagged ? spec::kTaggedHeaderBytes : spec::kUntaggedHeaderBytes)};
    if (is_tagged || (s.head[0] & 0x40) == 0) return v;
    const bool inv = (s.head[1] & 0xf) == 4;
    v.deliver = inv ? DeliverKind::kInvalidate : DeliverKind::kRecv;
    return v;
  }
  spec::TptResult check(const spec::WqeCheck&) const override { return TptResult::kOk; }
  spec::TptResult translate(const spec::WqeCheck& c, model::ExtentList& out) override {
    if (c.stag == kBadStag) return TptResult::kStag;
    if (c.length != 0) out.add({.address = c.tagged_offset, .length = c.length, .last = c.last});
    return TptResult::kOk;
  }
  void retired(const spec::Retired&) override {}
};

TEST_F(SrqDdpTest, AMessageThatEndsIsReportedOnce) {
  wqe(700);
  send(1, 0, 30, true);
  wqe(65000);
  begin(1);
  send(1, 10, 20, true);
  wqe(3);
  send(2, 0, 0, true);
  EXPECT_EQ(said(), (Items{ok(1, 700, 30), ok(1, 65000, 30), ok(2, 3, 0)}));
  write(1, kBadStag);
  stop(1);
  stop(2);
  EXPECT_EQ(said(), (Items{ack(1), ack(2)})) << "nothing is owed";
}

// The QP's first error, found here, has its own status; nothing else reports that WQE.
TEST_F(SrqDdpTest, AnErrorOfTheReceiveKeepsItsStatus) {
  wqe(11);
  send(1, 0, 101, false);
  wqe(12, RqTake::kOk, true, kBadStag);
  begin(2);
  wqe(13, RqTake::kMalformed);
  begin(3);
  EXPECT_EQ(said(), (Items{bad(1, 11, WcStatus::kLocLenErr), bad(2, 12, WcStatus::kLocProtErr),
                           bad(3, 13, WcStatus::kLocQpOpErr)}));
  for (const uint16_t qpn : kQps) {
    send(qpn, qpn == 1 ? 101 : 10, 5, true);
    stop(qpn);
    EXPECT_EQ(said(), Items{ack(qpn)});
  }
}

TEST_F(SrqDdpTest, NoWqeIsNotOwed) {
  wqe(21, RqTake::kFailed);
  begin(1);
  wqe(22, RqTake::kEmpty);
  begin(2);
  EXPECT_EQ(said(), Items{}) << "its WQE is still in the SRQ";
  wqe(23, RqTake::kFailed, false);
  begin(3);
  EXPECT_EQ(said(), Items{bad(3, 23, WcStatus::kFatalErr)});
  for (const uint16_t qpn : kQps) {
    stop(qpn);
    EXPECT_EQ(said(), Items{ack(qpn)});
  }
}

TEST_F(SrqDdpTest, ARefusedSegmentFlushesTheOpenMessage) {
  wqe(31);
  begin(1);
  EXPECT_EQ(said(), Items{});
  send(1, 10, 10, false, true);  // its own
  EXPECT_EQ(said(), Items{bad(1, 31)});
  wqe(32);
  begin(2);
  write(2, kBadStag);  // tagged
  EXPECT_EQ(said(), Items{bad(2, 32)});
  wqe(33);
  begin(3);
  segment(3, untagged(0x41, 0x43, 0, 77, 0), 4);  // an MSN that is not expected
  EXPECT_EQ(said(), Items{bad(3, 33)});
  send(1, 20, 10, true);
  for (const uint16_t qpn : kQps) {
    stop(qpn);
    EXPECT_EQ(said(), Items{ack(qpn)});
  }
}

// Messages behind the first error take WQEs as before, and each gives its own back.
TEST_F(SrqDdpTest, TakesBehindAnError) {
  wqe(41);
  begin(1);
  write(1, kBadStag);
  EXPECT_EQ(said(), Items{bad(1, 41)});
  send(1, 10, 5, true, true);
  EXPECT_EQ(said(), Items{});
  wqe(42);
  begin(1, true);
  EXPECT_EQ(said(), Items{bad(1, 42)});
  send(1, 10, 5, true, true);
  wqe(43, RqTake::kMalformed);
  send(1, 0, 5, true, true);
  EXPECT_EQ(said(), Items{bad(1, 43)}) << "not the first error";
  wqe(44);
  send(1, 0, 101, true, true);  // too long
  wqe(45);
  send(1, 0, 0, true, true);
  wqe(46, RqTake::kFailed);
  send(1, 0, 0, true, true);
  EXPECT_EQ(said(), (Items{bad(1, 44), bad(1, 45)}));
  stop(1);
  EXPECT_EQ(said(), Items{ack(1)});
}

// The report stands where its segment does in the order of delivery.
TEST_F(SrqDdpTest, AFlushWaitsForEarlierPlacements) {
  instant = false;
  wqe(51);
  wqe(52);
  wqe(53);
  send(2, 0, 30, true);
  begin(1);
  write(1, kBadStag);
  send(3, 0, 0, true);
  EXPECT_EQ(said(), Items{});
  place_one();
  EXPECT_EQ(said(), Items{ok(2, 51, 30)});
  place_one();
  EXPECT_EQ(said(), (Items{bad(1, 52), ok(3, 53, 0)}));
}

TEST_F(SrqDdpTest, AStopReportsTheOpenMessage) {
  wqe(61);
  begin(1);
  order(spec::QpOp::kSync, 1);
  EXPECT_EQ(said(), Items{ack(1)}) << "no stop";
  stop(1);
  EXPECT_EQ(said(), (Items{bad(1, 61), ack(1)}));
  stop(1);
  EXPECT_EQ(said(), Items{ack(1)});
  // The number is used again.
  start(1);
  wqe(62);
  send(1, 0, 8, true);
  EXPECT_EQ(said(), Items{ok(1, 62, 8)});
}

TEST_F(SrqDdpTest, AStopWaitsForWhatIsInside) {
  instant = false;
  wqe(71);
  wqe(72);
  begin(1);
  stop(1);
  EXPECT_EQ(said(), Items{});
  place_all();
  EXPECT_EQ(said(), (Items{bad(1, 71), ack(1)}));
  // The segment that ends the message is inside.
  begin(2);
  send(2, 10, 10, true);
  stop(2);
  place_all();
  EXPECT_EQ(said(), (Items{ok(2, 72, 20), ack(2)}));
}

// A segment that enters after the stop is refused; the stop does not wait for it.
TEST_F(SrqDdpTest, ASegmentBehindAStop) {
  instant = false;
  wqe(81);
  begin(1);
  stop(1);
  send(1, 10, 10, true);
  EXPECT_EQ(said(), Items{});
  place_all();
  EXPECT_EQ(said(), (Items{bad(1, 81), ack(1)}));
  // The same, behind a placement of another QP.
  wqe(82);
  begin(2);
  write(3, 9);
  stop(2);
  write(2, 9);
  place_one();
  EXPECT_EQ(said(), (Items{bad(2, 82), ack(2)}));
  place_all();
  EXPECT_EQ(said(), Items{});
}

TEST_F(SrqDdpTest, AFlushWaitsForAHeldReport) {
  for (uint16_t tag = 91; tag < 97; ++tag) wqe(tag);
  send_inv(1);
  begin(1);
  stop(1);
  send_inv(2);
  begin(2);
  write(2, kBadStag);
  send(3, 0, 4, true);
  EXPECT_EQ(invalidations, 2U);
  EXPECT_EQ(said(), Items{ok(3, 95, 4)});
  ddp.rx.invalidated();
  EXPECT_EQ(said(), (Items{ok(1, 91, 10, DeliverKind::kInvalidate), bad(1, 92), ack(1)}));
  ddp.rx.invalidated();
  EXPECT_EQ(said(), (Items{ok(2, 93, 10, DeliverKind::kInvalidate), bad(2, 94)}));
}

// A segment that enters after the stop, and is not reported, passes the held report.
TEST_F(SrqDdpTest, AStopWaitsForAHeldReport) {
  wqe(98);
  wqe(99);
  send_inv(1);
  begin(1);
  stop(1);
  for (int i = 0; i < 3; ++i) write(1, 9);
  EXPECT_EQ(said(), Items{});
  ddp.rx.invalidated();
  EXPECT_EQ(said(), (Items{ok(1, 98, 10, DeliverKind::kInvalidate), bad(1, 99), ack(1)}));
}

TEST_F(SrqDdpTest, AnOwnQueueIsFlushedByQp) {
  for (uint16_t i = 0; i < 3; ++i) wqe(i, RqTake::kOk, false);
  begin(1);
  write(1, kBadStag);
  begin(2);
  stop(2);
  begin(3, true);
  stop(3);
  stop(1);
  EXPECT_EQ(said(), (Items{ack(2), ack(3), ack(1)}));
}

// Each WQE is reported once, each QP's in the order in which it took them, and all before the
// acknowledgement of its stop.
TEST_F(SrqDdpTest, RandomMix) {
  instant = false;
  uint32_t flushed = 0, ended = 0, stops = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    base::Rng rng(seed);
    std::map<uint16_t, std::deque<uint16_t>> owed;
    struct Peer {
      uint32_t mo = 0;
      bool stopping = false, stopped = false;
    };
    std::map<uint16_t, Peer> peers;
    uint16_t tag = static_cast<uint16_t>(rng.next());
    const auto check = [&] {
      for (const Item& i : said()) {
        auto& of = owed[i.qpn];
        if (i.is_ack) {
          EXPECT_TRUE(of.empty()) << "not reported before the acknowledgement";
          peers[i.qpn].stopped = true;
          continue;
        }
        ASSERT_FALSE(of.empty());
        EXPECT_EQ(i.index, of.front());
        of.pop_front();
        ++(i.status == WcStatus::kWrFlushErr ? flushed : ended);
      }
    };
    const auto drain = [&] {
      while (places + invalidations != 0) {
        place_all();
        for (; invalidations != 0; --invalidations) ddp.rx.invalidated();
      }
      check();
    };
    for (int step = 0; step < 500 && !HasFailure(); ++step) {
      const auto qpn = static_cast<uint16_t>(rng.between(1, 3));
      Peer& p = peers[qpn];
      const uint64_t what = rng.below(20);
      if (what < 10) {
        takes.clear();
        const bool fails = rng.percent(5);
        wqe(++tag, fails ? RqTake::kFailed : rng.percent(3) ? RqTake::kMalformed : RqTake::kOk);
        const bool last = rng.percent(60);
        const uint32_t n = rng.percent(3) ? 101 : static_cast<uint32_t>(rng.below(20));
        const bool inv = last && rng.percent(20);
        send(qpn, p.mo, n, last, rng.percent(4), inv ? 0x44 : 0x43);
        if (takes.empty() && !fails) owed[qpn].push_back(tag);
        p.mo = last ? 0 : p.mo + n;
      } else if (what < 12) {
        write(qpn, rng.percent(10) ? kBadStag : 9);
      } else if (what < 16) {
        if (places == 0) continue;
        place_one();
      } else if (what < 18) {
        if (invalidations == 0) continue;
        --invalidations;
        ddp.rx.invalidated();
      } else if (!p.stopping) {
        p.stopping = true;
        ++stops;
        stop(qpn);
      }
      check();
      for (const uint16_t n : kQps) {
        if (!peers[n].stopped) continue;
        drain();  // mpa, which stops last, lets no segment in between
        start(n);
        peers[n] = {};
      }
    }
    for (const uint16_t qpn : kQps) {
      if (!peers[qpn].stopping) stop(qpn);
    }
    drain();
    for (const uint16_t qpn : kQps) {
      EXPECT_TRUE(peers[qpn].stopped);
      start(qpn);
    }
    for (const auto& [qpn, left] : owed) EXPECT_TRUE(left.empty()) << "QP " << qpn;
    if (HasFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(flushed, 200U);
  EXPECT_GT(ended, 500U);
  EXPECT_GT(stops, 100U);
}

}  // namespace
}  // namespace rnic::tb

// Data through two devices: Write, Send, Read; lengths around the beat, the segment and the page.
#include <sstream>

#include "bench.hpp"

namespace rnic::tb {
namespace {

using spec::WcOpcode;
using spec::WcStatus;
using spec::WrOpcode;

constexpr uint64_t kTo = 0x10000000;  // the difference of TO and bus address from reg()

struct World {
  std::string name;
  Options options;
  bool crc = true, markers = false;
};

std::vector<World> worlds() {
  std::vector<World> w;
  w.push_back({"Default", {}});
  w.push_back({"NoCrc", {}, false});
  w.push_back({"Markers", {}, true, true});
  Options random;
  random.random_dma = true;
  w.push_back({"RandomDma", random});
  Options minimum;
  minimum.sizes = spec::Sizes::minimum();
  w.push_back({"Minimum", minimum});
  minimum.random_dma = true;
  minimum.window = 2048;  // one FPDU and the reserve for a Terminate
  w.push_back({"MinimumOneFpdu", minimum, true, true});
  Options jumbo;
  jumbo.mss = 8960;
  w.push_back({"Jumbo", jumbo});
  return w;
}

class DataTest : public testing::TestWithParam<World> {
 protected:
  Bench b{GetParam().options};
  QpSetup setup() const { return {.crc = GetParam().crc, .markers = GetParam().markers}; }
  /// Lengths around a beat (64), a page, and a segment: a Send of MULPDU - 18 bytes and a Write of
  /// MULPDU - 14 fill one segment with their DDP header.
  static std::vector<uint32_t> lengths() {
    const uint32_t mulpdu = model::mulpdu_of(GetParam().options.mss, GetParam().markers);
    return {0,           1,           2,           3,           4,           63,
            64,          65,          127,         128,         129,         mulpdu - 19,
            mulpdu - 18, mulpdu - 17, mulpdu - 15, mulpdu - 14, mulpdu - 13, 4095,
            4096,        4097,        2 * mulpdu,  20000};
  }
  void quiet() {
    b.clock.settle();
    EXPECT_EQ(b.a.device().waiting_for() + b.b.device().waiting_for(), "");
  }
};
INSTANTIATE_TEST_SUITE_P(Worlds, DataTest, testing::ValuesIn(worlds()),
                         [](const auto& info) { return info.param.name; });

TEST_P(DataTest, Write) {
  const auto p = b.connect(setup());
  const Mr from = b.a.reg(32768), to = b.b.reg(32768);
  for (const uint32_t n : lengths()) {
    SCOPED_TRACE(n);
    b.a.fill(from.address - kTo, 32768, n + 1);
    b.b.fill(to.address - kTo, 32768, n + 1000);
    Bytes expected = b.b.bytes(to.address - kTo, 32768);
    const Bytes source = b.a.bytes(from.address - kTo + 7, n);
    std::copy(source.begin(), source.end(), expected.begin() + 4090);
    b.a.post_send(p.a.qpn, wr(WrOpcode::kRdmaWrite, kSignaled, to.address + 4090, to.stag),
                  {sge(from, 7, n)});
    const auto e = b.a.wait(p.a.cqn);
    ASSERT_EQ(e.status, WcStatus::kSuccess);
    EXPECT_EQ(e.opcode, WcOpcode::kRdmaWrite);
    EXPECT_EQ(e.byte_len, n);
    EXPECT_EQ(e.is_recv, 0);
    b.clock.settle();
    ASSERT_EQ(b.b.bytes(to.address - kTo, 32768), expected);
  }
  quiet();
}

TEST_P(DataTest, Send) {
  const auto p = b.connect(setup());
  const Mr from = b.a.reg(32768), to = b.b.reg(32768);
  bool solicited = false;
  for (const uint32_t n : lengths()) {
    SCOPED_TRACE(n);
    b.a.fill(from.address - kTo, 32768, n + 1);
    // A buffer in three pieces: the first has an odd length, the second length 0.
    const uint16_t r =
        b.b.post_recv(p.b.qpn, {sge(to, 4093, 5), sge(to, 0, 0), sge(to, 5000, 25000)});
    const uint8_t flags = static_cast<uint8_t>(kSignaled | (solicited ? kSolicited : 0));
    const uint16_t i = b.a.post_send(p.a.qpn, wr(WrOpcode::kSend, flags), {sge(from, 1, n)});
    const auto done = b.a.wait(p.a.cqn);
    ASSERT_EQ(done.status, WcStatus::kSuccess);
    EXPECT_EQ(done.opcode, WcOpcode::kSend);
    EXPECT_EQ(done.index, i);
    const auto e = b.b.wait(p.b.cqn);
    ASSERT_EQ(e.status, WcStatus::kSuccess);
    EXPECT_EQ(e.opcode, WcOpcode::kRecv);
    EXPECT_EQ(e.is_recv, 1);
    EXPECT_EQ(e.byte_len, n);
    EXPECT_EQ(e.index, r);
    EXPECT_EQ(e.solicited, solicited);
    EXPECT_EQ(e.qpn, p.b.qpn);
    Bytes got = b.b.bytes(to.address - kTo + 4093, std::min(n, 5U));
    if (n > 5) {
      const Bytes rest = b.b.bytes(to.address - kTo + 5000, n - 5);
      got.insert(got.end(), rest.begin(), rest.end());
    }
    ASSERT_EQ(got, b.a.bytes(from.address - kTo + 1, n));
    solicited = !solicited;
  }
  quiet();
}

TEST_P(DataTest, Read) {
  const auto p = b.connect(setup());
  const Mr sink = b.a.reg(32768), source = b.b.reg(32768);
  for (const uint32_t n : lengths()) {
    SCOPED_TRACE(n);
    b.b.fill(source.address - kTo, 32768, n + 3);
    b.a.post_send(p.a.qpn, wr(WrOpcode::kRdmaRead, kSignaled, source.address + 4001, source.stag),
                  {sge(sink, 4090, n)});
    const auto e = b.a.wait(p.a.cqn);
    ASSERT_EQ(e.status, WcStatus::kSuccess);
    EXPECT_EQ(e.opcode, WcOpcode::kRdmaRead);
    EXPECT_EQ(e.byte_len, n);
    ASSERT_EQ(b.a.bytes(sink.address - kTo + 4090, n), b.b.bytes(source.address - kTo + 4001, n));
  }
  quiet();
}

TEST_P(DataTest, ManyPieces) {  // 14 SGEs of odd lengths, some empty with keys that do not exist
  const auto p = b.connect(setup());
  const Mr from = b.a.reg(65536), to = b.b.reg(65536);
  b.a.fill(from.address - kTo, 65536, 5);
  std::vector<spec::WqeSge> sges;
  Bytes expected;
  for (uint32_t i = 0; i < 14; ++i) {
    const uint32_t n = i % 5 == 3 ? 0 : 37 * i + 1;
    sges.push_back(n == 0 ? spec::WqeSge{.address = 1, .length = 0, .lkey = 0xdead}
                          : sge(from, 4000ULL * i + i, n));
    const Bytes part = b.a.bytes(from.address - kTo + 4000ULL * i + i, n);
    expected.insert(expected.end(), part.begin(), part.end());
  }
  b.a.post_send(p.a.qpn, wr(WrOpcode::kRdmaWrite, kSignaled, to.address + 1, to.stag), sges);
  EXPECT_EQ(b.a.wait(p.a.cqn).status, WcStatus::kSuccess);
  b.clock.settle();
  EXPECT_EQ(b.b.bytes(to.address - kTo + 1, expected.size()), expected);
}

TEST_P(DataTest, InlineAndPush) {
  const auto p = b.connect(setup());
  const Mr to = b.b.reg(8192);
  uint32_t k = 0;
  for (const uint32_t n : {0U, 1U, 31U, 32U, 33U, 64U, 88U, 96U, 97U, 224U}) {
    for (const bool pushed : {false, true}) {
      // A push has 128 bytes: 32 of header, 88 of data; the last 8 pair its halves.
      if (pushed && n > 88) continue;
      SCOPED_TRACE(std::to_string(n) + (pushed ? " pushed" : ""));
      Bytes data(n);
      for (auto& x : data) x = static_cast<uint8_t>(++k * 7);
      b.a.put_send(p.a.qpn,
                   wr(WrOpcode::kRdmaWrite, kSignaled | kInline, to.address + k % 64, to.stag), {},
                   data);
      pushed ? b.a.push(p.a.qpn) : b.a.ring_sq(p.a.qpn);
      ASSERT_EQ(b.a.wait(p.a.cqn).status, WcStatus::kSuccess);
      b.clock.settle();
      ASSERT_EQ(b.b.bytes(to.address - kTo + k % 64, n), data);
    }
  }
  // Inline data of a Send.
  b.b.post_recv(p.b.qpn, {sge(to, 100, 300)});
  Bytes data(200, 0x5a);
  b.a.post_send(p.a.qpn, wr(WrOpcode::kSend, kSignaled | kInline), {}, data);
  EXPECT_EQ(b.b.wait(p.b.cqn).byte_len, 200U);
  EXPECT_EQ(b.b.bytes(to.address - kTo + 100, 200), data);
}

// Random work on several QPs in both directions. The result must equal that of a plain copy.
TEST_P(DataTest, RandomWork) {
  constexpr int kQps = 3, kRounds = 30;
  base::Rng rng(GetParam().name.size() * 77 + 5);
  std::vector<Bench::Pair> pairs;
  for (int i = 0; i < kQps; ++i) pairs.push_back(b.connect(setup()));
  struct End {
    Side* s;
    Mr local, remote;
  };
  const Mr la = b.a.reg(1 << 16), lb = b.b.reg(1 << 16), ra = b.a.reg(1 << 18),
           rb = b.b.reg(1 << 18);
  b.a.fill(la.address - kTo, 1 << 16, 1);
  b.b.fill(lb.address - kTo, 1 << 16, 2);
  const std::array<End, 2> ends{End{&b.a, la, ra}, End{&b.b, lb, rb}};
  for (int round = 0; round < kRounds; ++round) {
    struct Expected {
      Side* at;
      uint64_t address;
      Bytes bytes;
    };
    std::vector<Expected> expected;
    std::map<std::pair<int, int>, int> completions, receives;
    uint64_t slot = 0;  // each piece of work has its own target
    for (int n = 0; n < 12; ++n) {
      const int side = static_cast<int>(rng.below(2)), qp = static_cast<int>(rng.below(kQps));
      const End &me = ends[static_cast<size_t>(side)], &other = ends[static_cast<size_t>(1 - side)];
      const auto& pair = pairs[static_cast<size_t>(qp)];
      const QpHandle mine = side == 0 ? pair.a : pair.b, theirs = side == 0 ? pair.b : pair.a;
      const uint32_t length =
          static_cast<uint32_t>(rng.percent(50) ? rng.below(200) : rng.below(9000));
      const uint64_t at = slot++ * 10000 + rng.below(500), from = rng.below(50000);
      const uint8_t flags = static_cast<uint8_t>(kSignaled | (rng.percent(20) ? kFence : 0));
      ++completions[{side, qp}];
      switch (rng.below(3)) {
        case 0:
          me.s->post_send(
              mine.qpn,
              wr(WrOpcode::kRdmaWrite, flags, other.remote.address + at, other.remote.stag),
              {sge(me.local, from, length)});
          expected.push_back({other.s, other.remote.address - kTo + at,
                              me.s->bytes(me.local.address - kTo + from, length)});
          break;
        case 1:
          other.s->post_recv(theirs.qpn, {sge(other.remote, at, length / 2),
                                          sge(other.remote, at + length / 2, 9000)});
          ++receives[{1 - side, qp}];
          me.s->post_send(mine.qpn, wr(WrOpcode::kSend, flags), {sge(me.local, from, length)});
          expected.push_back({other.s, other.remote.address - kTo + at,
                              me.s->bytes(me.local.address - kTo + from, length)});
          break;
        default:
          me.s->post_send(
              mine.qpn,
              wr(WrOpcode::kRdmaRead, flags, other.local.address + from, other.local.stag),
              {sge(me.remote, at, length)});
          expected.push_back({me.s, me.remote.address - kTo + at,
                              other.s->bytes(other.local.address - kTo + from, length)});
          break;
      }
    }
    for (int side = 0; side < 2; ++side) {
      for (int qp = 0; qp < kQps; ++qp) {
        const auto& pair = pairs[static_cast<size_t>(qp)];
        const QpHandle q = side == 0 ? pair.a : pair.b;
        for (int i = completions[{side, qp}] + receives[{side, qp}]; i > 0; --i) {
          ASSERT_EQ(ends[static_cast<size_t>(side)].s->wait(q.cqn).status, WcStatus::kSuccess)
              << "round " << round;
        }
      }
    }
    b.clock.settle();
    for (const auto& e : expected)
      ASSERT_EQ(e.at->bytes(e.address, e.bytes.size()), e.bytes) << "round " << round;
  }
  quiet();
}

struct StandingLink : Side {
  using Side::Side;
  bool stands = false;
  bool can_llp_tx() const override { return !stands; }
};

// Records that queue while the link is stalled are sent when the link accepts again.
TEST(Link, StandsAndGoesOn) {
  BenchOf<StandingLink> b;
  const auto p = b.connect();
  const Mr am = b.a.reg(1 << 16), bm = b.b.reg(1 << 16);
  b.a.fill(am.address - kTo, 1 << 16, 5);
  for (int round = 0; round < 3; ++round) {
    b.a.stands = true;
    b.a.post_send(p.a.qpn, wr(WrOpcode::kRdmaWrite, kSignaled, bm.address, bm.stag),
                  {sge(am, 0, 1 << 16)});
    b.clock.settle(5000);
    b.a.stands = false;
    b.a.device().wake();
    EXPECT_EQ(b.a.wait(p.a.cqn).status, WcStatus::kSuccess);
    b.clock.settle(3000);
    EXPECT_EQ(b.b.bytes(bm.address - kTo, 1 << 16), b.a.bytes(am.address - kTo, 1 << 16));
  }
}

// Each QP always has a next request queued before the other QP has had its turn: the responder must
// alternate. At no time may one QP be more than 2 responses ahead.
TEST(Responder, AnswersQpsInTurn) {
  Bench b;
  const auto p = b.connect(), q = b.connect();
  const Mr am = b.a.reg(4096), to_p = b.b.reg(4096), to_q = b.b.reg(4096);
  for (uint32_t i = 0; i < 8; ++i) {
    for (const auto& [qpn, to] : {std::pair{p.b.qpn, to_p}, {q.b.qpn, to_q}})
      b.b.put_send(qpn, wr(WrOpcode::kRdmaRead, kSignaled, am.address, am.stag),
                   {sge(to, 0, i % 2 * 8)});
  }
  b.a.sent.clear();
  b.b.ring_sq(p.b.qpn);
  b.b.ring_sq(q.b.qpn);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(b.b.wait(p.b.cqn).status, WcStatus::kSuccess);
    EXPECT_EQ(b.b.wait(q.b.cqn).status, WcStatus::kSuccess);
  }
  int ahead = 0, most = 0, responses = 0;  // ahead: responses of p less those of q
  for (const Bytes& record : b.a.sent) {
    if ((record[3] & 0xf) != static_cast<int>(spec::RdmapOpcode::kReadResponse)) continue;
    const auto stag = base::load_be<uint32_t>(&record[4]);
    ahead += stag == to_p.stag ? 1 : -1;
    most = std::max(most, std::abs(ahead));
    ++responses;
  }
  EXPECT_EQ(responses, 16);
  EXPECT_LE(most, 2);
}

struct TimedSide : Side {
  using Side::Side;
  std::vector<Cycle> placed, left;  // times of payload writes, and of records sent
  void llp_tx(model::LlpRecord record) override {
    left.push_back(clock().now());
    Side::llp_tx(std::move(record));
  }
  void dma_write(model::WriteTlp tlp) override {
    if (tlp.purpose == model::Purpose::kPlace) placed.push_back(clock().now());
    Side::dma_write(std::move(tlp));
  }
};

// As KeepsItsPace in tb/ddp does for the RTL: a small Write takes only the cycles of its beats.
TEST(Pace, SmallWritesPassEveryTwoCycles) {
  BenchOf<TimedSide> b;
  const auto p = b.connect();
  const Mr bm = b.b.reg(4096);
  b.a.post_send(p.a.qpn, wr(WrOpcode::kRdmaWrite, kSignaled | kInline, bm.address, bm.stag), {},
                Bytes(64, 3));
  EXPECT_EQ(b.a.wait(p.a.cqn).status, WcStatus::kSuccess);
  b.clock.settle(3000);
  const Bytes record = b.a.sent.back();
  b.b.placed.clear();
  constexpr size_t kCount = 200;
  for (size_t i = 0; i < kCount; ++i) b.b.inject(p.conn_b, record);
  b.clock.settle(10000);
  ASSERT_EQ(b.b.placed.size(), kCount);
  EXPECT_LT(static_cast<double>(b.b.placed.back() - b.b.placed.front()) / (kCount - 1), 2.5);
}

/// Measures the cycles that the headers of the RTL's units state.
struct TimedTest : testing::Test {
  static Options small() {
    Options o;
    o.mss = 134;  // MULPDU 128, the least of mulpdu_of(): FPDUs of 136 bytes, 3 beats each
    return o;
  }
  BenchOf<TimedSide> b{small()};
  Mr am = b.a.reg(1 << 16), bm = b.b.reg(1 << 16);

  /// Mean cycles from one event to the next, over the last n gaps.
  static double mean_gap(const std::vector<Cycle>& at, size_t n) {
    EXPECT_GT(at.size(), n);
    if (at.size() <= n) return 0;
    return static_cast<double>(at.back() - at[at.size() - 1 - n]) / static_cast<double>(n);
  }
};

// A push waits for no read of its ring, but passes qp_sq_fetch. A WQE with an SGE waits for the
// check of its key (7 cycles), and its payload waits for host_if.
TEST_F(TimedTest, AWqeLeavesWhenItsStagesArePassed) {
  const auto p = b.connect();
  const auto cycles = [&](bool is_inline, bool push) {
    b.clock.settle(3000);
    b.a.left.clear();
    const auto w = wr(WrOpcode::kRdmaWrite, is_inline ? kInline : 0, bm.address, bm.stag);
    if (is_inline) {
      b.a.put_send(p.a.qpn, w, {}, Bytes(8, 1));
    } else {
      b.a.put_send(p.a.qpn, w, {sge(am, 0, 8)});
    }
    const Cycle began = b.clock.now();
    push ? b.a.push(p.a.qpn) : b.a.ring_sq(p.a.qpn);
    b.clock.settle(3000);
    return b.a.left.empty() ? 0 : b.a.left.front() - began;
  };
  const Cycle rung = cycles(true, false), pushed = cycles(true, true),
              fetched = cycles(false, false);
  EXPECT_EQ(rung - pushed, 24U);   // the read of the ring, which a push does not need
  EXPECT_EQ(fetched - rung, 27U);  // 7 for the check, 20 for the read of the payload
}

// ddp_tx.sv: a segment every 3 cycles, 4 for a later segment of its message. The test uses many
// QPs, so that none waits for its next want.
TEST_F(TimedTest, SegmentsLeaveAsTheyAreCut) {
  std::vector<BenchOf<TimedSide>::Pair> qps;
  for (int i = 0; i < 12; ++i) qps.push_back(b.connect());
  b.clock.settle(3000);
  for (const auto& p : qps)
    b.a.put_send(p.a.qpn, wr(WrOpcode::kRdmaWrite, 0, bm.address, bm.stag), {sge(am, 0, 2000)});
  b.a.left.clear();
  for (const auto& p : qps) b.a.ring_sq(p.a.qpn);
  b.clock.settle(10000);
  EXPECT_NEAR(mean_gap(b.a.left, 80), 4, 0.1);
}

// ddp_rx.sv: the first segment of a Send takes 3 cycles, later ones 4. The first waits for its
// receive WQE (6 cycles of qp_rq_fetch, and 3 in ddp_rx).
TEST_F(TimedTest, SendsAreCutFromTheirReceives) {
  const auto p = b.connect();
  b.a.tamper = [](auto&) { return false; };  // the test injects the records, back to back
  const auto first = [&](size_t posts, const spec::SqWqe& w, uint32_t bytes) {
    b.a.sent.clear();
    for (size_t i = 0; i < posts; ++i) {
      b.b.post_recv(p.b.qpn, {sge(bm, 0, 4096)});
      b.a.post_send(p.a.qpn, w, {sge(am, 0, bytes)});
      b.clock.settle(3000);
    }
    b.b.placed.clear();
    const Cycle began = b.clock.now();
    for (const Bytes& record : b.a.sent) b.b.inject(p.conn_b, record);
    b.clock.settle(3000);
    return b.b.placed.empty() ? 0 : b.b.placed[0] - began;
  };
  const Cycle write = first(1, wr(WrOpcode::kRdmaWrite, 0, bm.address, bm.stag),
                            4);  // the FPDU is as long as that of an 8-byte Send
  EXPECT_EQ(first(1, wr(WrOpcode::kSend, 0), 8) - write, 9U);
  first(20, wr(WrOpcode::kSend, 0), 8);
  EXPECT_NEAR(mean_gap(b.b.placed, 18), 3, 0.2);
  first(1, wr(WrOpcode::kSend, 0), 1400);
  EXPECT_DOUBLE_EQ(mean_gap(b.b.placed, 6),
                   4);  // of the last 6 gaps: the first segment waits for its receive WQE
}

}  // namespace
}  // namespace rnic::tb

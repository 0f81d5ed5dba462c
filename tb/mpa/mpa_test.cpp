// mpa: FPDUs out of ULPDUs and back, checked against the test's own frame builder. RFC 5044 section
// 4.
//
// The test plays qp (starts and stops QPs), llp_if (puts received records, takes FPDUs) and ddp
// (puts ULPDUs, takes received ones). A received record holds one FPDU. mpa reports a bad one as an
// empty ULPDU with a cause: CRC, or `marker` for any other error of the frame.
#include "mpa_dut.hpp"
#include "system/wire.hpp"
#include "vectors/golden.hpp"

namespace {

using namespace rnic;  // NOLINT: a test
using spec::Cause;
using tb::each_pace;
using tb::Pace;
using Bytes = std::vector<uint8_t>;

/// CRC32C bit by bit, as RFC 3720 appendix B.4 describes it.
uint32_t crc32c(const Bytes& bytes) {
  uint32_t c = 0xffffffff;
  for (uint8_t b : bytes) {
    c ^= b;
    for (int i = 0; i < 8; i++) c = (c >> 1) ^ ((c & 1) != 0 ? 0x82f63b78U : 0);
  }
  return ~c;
}

/// One direction of a connection: the negotiated options, and the position in its stream.
struct Way {
  bool crc = true, markers = false;
  uint64_t position = 0;
};

/// Returns the FPDU of a ULPDU at the position of `way`, and advances that position. length_lie is
/// added to the length field, marker_lie to the first marker. A marker stands at each 512th byte of
/// the stream. The marker holds the number of bytes from its FPDU's length field to itself.
Bytes frame(Way& way, const Bytes& ulpdu, int length_lie = 0, unsigned marker_lie = 0) {
  Bytes plain;
  const auto length = static_cast<uint16_t>(static_cast<int>(ulpdu.size()) + length_lie);
  plain.push_back(static_cast<uint8_t>(length >> 8));
  plain.push_back(static_cast<uint8_t>(length));
  plain.insert(plain.end(), ulpdu.begin(), ulpdu.end());
  while (plain.size() % 4 != 0) plain.push_back(0);
  plain.resize(plain.size() + 4);  // room for the CRC

  Bytes out;
  size_t start = 0;
  for (size_t i = 0; i < plain.size(); i++) {
    if (way.markers && (way.position + out.size()) % 512 == 0) {
      const size_t back = out.size() - start + marker_lie;
      marker_lie = 0;
      const bool first = out.empty();
      for (size_t b : {size_t{0}, size_t{0}, back >> 8, back})
        out.push_back(static_cast<uint8_t>(b));
      // A marker counts the bytes back to the FPDU's length field, which follows the first marker.
      if (first) start = 4;
    }
    out.push_back(plain[i]);
  }
  Bytes body(out.begin(), out.end() - 4);
  const uint32_t crc = way.crc ? crc32c(body) : 0;
  for (int i = 0; i < 4; i++)
    out[out.size() - 4 + static_cast<size_t>(i)] = static_cast<uint8_t>(crc >> (8 * i));
  way.position += out.size();
  return out;
}

template <class D>
struct MpaTest : testing::Test {
  D dut;
  base::Rng rng = tb::test_rng();
  struct Qp {
    Way rx, tx;
  };
  std::vector<Qp> qps{size_t{8}};

  void start(uint16_t qpn, bool crc, bool rx_markers, bool tx_markers) {
    qps[qpn] = {{crc, rx_markers, 0}, {crc, tx_markers, 0}};
    dut.ctl.put({.op = spec::QpOp::kStart,
                 .qpn = qpn,
                 .params = {.use_crc = crc, .rx_markers = rx_markers, .tx_markers = tx_markers}});
    EXPECT_EQ(dut.ack.take().qpn, qpn);
  }
  void put_record(uint16_t qpn, const Bytes& record, bool error = false) {
    dut.rx_fpdu_hdr.put({.qpn = qpn, .length = static_cast<uint32_t>(record.size())});
    dut.rx_fpdu.put_packet(record, error);
  }
  void put_good(uint16_t qpn, const Bytes& ulpdu) { put_record(qpn, frame(qps[qpn].rx, ulpdu)); }
  void expect_ulpdu(uint16_t qpn, const Bytes& ulpdu) {
    EXPECT_EQ(
        dut.rx_ulpdu_hdr.take(),
        (spec::RxUlpduHdr{
            .qpn = qpn, .length = static_cast<uint16_t>(ulpdu.size()), .cause = Cause::kNone}));
    const auto got = dut.rx_ulpdu.take_packet();
    EXPECT_FALSE(got.error);
    EXPECT_TRUE(got.bytes == ulpdu) << "ULPDU of " << ulpdu.size() << " bytes";
  }
  void expect_cause(uint16_t qpn, Cause cause) {
    EXPECT_EQ(dut.rx_ulpdu_hdr.take(), (spec::RxUlpduHdr{.qpn = qpn, .length = 0, .cause = cause}));
    EXPECT_EQ(dut.rx_ulpdu.take_packet(), tb::Packet{});
  }
  void put_ulpdu(uint16_t qpn, const Bytes& ulpdu, bool done = false, uint8_t slot = 0,
                 bool term = false) {
    dut.tx_ulpdu_hdr.put({.qpn = qpn,
                          .length = static_cast<uint16_t>(ulpdu.size()),
                          .done = done,
                          .slot = slot,
                          .is_term = term});
    dut.tx_ulpdu.put_packet(ulpdu);
  }
  void expect_fpdu(uint16_t qpn, const Bytes& ulpdu, bool done = false, uint8_t slot = 0,
                   bool term = false) {
    const Bytes want = frame(qps[qpn].tx, ulpdu);
    EXPECT_EQ(dut.tx_fpdu_hdr.take(), (spec::TxFpduHdr{.qpn = qpn,
                                                       .length = static_cast<uint32_t>(want.size()),
                                                       .done = done,
                                                       .slot = slot,
                                                       .is_term = term}));
    const auto got = dut.tx_fpdu.take_packet();
    EXPECT_FALSE(got.error);
    EXPECT_TRUE(got.bytes == want) << "FPDU of " << ulpdu.size() << " bytes ULPDU";
  }
};
TYPED_TEST_SUITE(MpaTest, tb::Duts);

/// RTL only: rates and latencies in cycles. The model's are in mpa_timing.hpp; its steps here are
/// paced at random.
template <class D>
struct MpaRtlTest : MpaTest<D> {};
TYPED_TEST_SUITE(MpaRtlTest, tb::RtlDuts);

// ULPDUs around the edges of beats and of the marker spacing (512 bytes), and usual MULPDUs.
const std::vector<size_t> kLengths = {
    0,   1,   2,   3,   4,   5,   14,  18,   54,   55,   56,   57,   58,   59,   60,   61,  62,
    63,  64,  65,  66,  118, 119, 120, 121,  122,  123,  124,  125,  126,  127,  128,  129, 190,
    500, 506, 507, 510, 511, 512, 513, 1018, 1442, 1454, 1460, 4090, 4095, 4096, 4097, 9000};

// docs/ambiguities.md C-22: the bytes on the wire.
TYPED_TEST(MpaTest, KnownBytes) {
  this->dut.restart({});
  this->start(3, true, false, false);
  Bytes ulpdu(42, 0);
  ulpdu[0] = 0x41, ulpdu[1] = 0x43, ulpdu[13] = 1;
  this->put_ulpdu(3, ulpdu, true, 7);
  EXPECT_EQ(this->dut.tx_fpdu_hdr.take(),
            (spec::TxFpduHdr{.qpn = 3, .length = 48, .done = 1, .slot = 7}));
  const Bytes got = this->dut.tx_fpdu.take_packet().bytes;
  ASSERT_EQ(got.size(), 48U);
  EXPECT_EQ(Bytes(got.begin(), got.begin() + 4), (Bytes{0x00, 0x2a, 0x41, 0x43}));
  EXPECT_EQ(Bytes(got.end() - 4, got.end()), (Bytes{0xb7, 0x24, 0x3e, 0xc3}));
  this->put_record(3, got);
  this->expect_ulpdu(3, ulpdu);
}

/// The golden FPDUs, byte for byte: transmitted, and received.
TYPED_TEST(MpaTest, GoldenFpdus) {
  each_pace([&](Pace pace) {
    this->dut.restart(pace);
    this->start(3, true, false, false);
    for (const auto& g : tb::golden::kAll) {
      SCOPED_TRACE(g.name);
      const Bytes fpdu = tb::hex(g.bytes);
      const Bytes ulpdu(fpdu.begin() + 2,
                        fpdu.begin() + 2 + fpdu[1]);  // each is shorter than 256 bytes
      this->put_ulpdu(3, ulpdu);
      EXPECT_EQ(this->dut.tx_fpdu_hdr.take(),
                (spec::TxFpduHdr{.qpn = 3, .length = static_cast<uint32_t>(fpdu.size())}));
      EXPECT_EQ(this->dut.tx_fpdu.take_packet().bytes, fpdu);
      this->put_record(3, fpdu);
      this->expect_ulpdu(3, ulpdu);
    }
  });
}

TYPED_TEST(MpaTest, EveryLengthBothWays) {
  each_pace([&](Pace pace) {
    this->dut.restart(pace);
    this->start(0, true, false, false);
    this->start(1, true, true, true);
    this->start(2, false, false, true);
    this->start(5, false, true, false);
    for (uint16_t qpn : std::initializer_list<uint16_t>{0, 1, 2, 5}) {
      std::vector<Bytes> all;
      for (size_t n : kLengths) {
        all.push_back(this->rng.bytes(n));
        this->put_good(qpn, all.back());
        this->put_ulpdu(qpn, all.back(), n % 2 != 0, static_cast<uint8_t>(n), n == 62);
      }
      for (const auto& u : all) {
        this->expect_ulpdu(qpn, u);
        this->expect_fpdu(qpn, u, u.size() % 2 != 0, static_cast<uint8_t>(u.size()),
                          u.size() == 62);
      }
    }
  });
}

// A marker at every word of an FPDU. A ULPDU of 506 bytes gives an FPDU of 516 bytes with its
// marker, one word more than the spacing (512). So the marker moves by one word from FPDU to FPDU.
// The other lengths move it by other steps.
TYPED_TEST(MpaTest, MarkersEverywhere) {
  this->dut.restart({});
  this->start(1, true, true, true);
  for (size_t n : {506U, 2U, 66U, 126U, 1030U, 10U}) {
    for (int i = 0; i < 130; i++) {
      const Bytes u = this->rng.bytes(n);
      this->put_good(1, u);
      this->put_ulpdu(1, u);
      this->expect_ulpdu(1, u);
      this->expect_fpdu(1, u);
    }
  }
}

TYPED_TEST(MpaTest, LargestUlpdu) {
  for (bool markers : {false, true}) {
    this->dut.restart({});
    this->start(1, true, markers, markers);
    for (size_t n : {65535U, 65534U, 1U, 65472U, 65535U}) {
      const Bytes u = this->rng.bytes(n);
      this->put_good(1, u);
      this->put_ulpdu(1, u);
      this->expect_ulpdu(1, u);
      this->expect_fpdu(1, u);
    }
  }
}

// Each kind of damage, on a QP started anew for it. Later FPDUs on other QPs are good.
TYPED_TEST(MpaTest, Damage) {
  each_pace([&](Pace pace) {
    this->dut.restart(pace);
    this->start(0, true, false, false);
    for (size_t n : {0U, 1U, 58U, 62U, 64U, 200U, 1500U}) {
      for (bool markers : {false, true}) {
        for (bool crc : {false, true}) {
          const auto fresh = [&] { this->start(4, crc, markers, false); };
          const Bytes u = this->rng.bytes(n);
          const auto expect = [&](Cause cause) {
            const Bytes other = this->rng.bytes(n + 3);
            this->put_good(0, other);
            this->expect_cause(4, cause);
            this->expect_ulpdu(0, other);
          };
          // A flipped bit of the record. Without a CRC, only in the ULPDU before the next marker,
          // where nothing detects it.
          fresh();
          Bytes record = frame(this->qps[4].rx, u);
          const size_t low = markers ? 6 : 2;  // skips the length field and the marker
          if (crc || n > 0) {
            const size_t high = crc ? record.size() : low + std::min<size_t>(n, 400);
            record[low + this->rng.below(high - low)] ^=
                static_cast<uint8_t>(1U << this->rng.below(8));
            this->put_record(4, record);
            if (crc)
              expect(Cause::kMpaCrc);
            else {
              EXPECT_EQ(this->dut.rx_ulpdu_hdr.take().cause, Cause::kNone);
              (void)this->dut.rx_ulpdu.take_packet();
            }
          }
          // The record's own error flag.
          fresh();
          this->put_record(4, frame(this->qps[4].rx, u), true);
          expect(Cause::kMpaCrc);
          // A length that does not fit the record. All differ by 4 or more: a pad of up to 3 bytes
          // may hide a smaller difference.
          for (int lie : {4, -4, 64, -64, 60000}) {
            if (lie < 0 && n < static_cast<size_t>(-lie)) continue;
            fresh();
            this->put_record(4, frame(this->qps[4].rx, u, lie));
            expect(Cause::kMpaMarker);
          }
          // A record that is truncated, or has extra bytes.
          fresh();
          record = frame(this->qps[4].rx, u);
          record.resize(record.size() - 1);
          this->put_record(4, record);
          expect(crc ? Cause::kMpaCrc : Cause::kMpaMarker);
          fresh();
          record = frame(this->qps[4].rx, u);
          record.insert(record.end(), 128, 0);
          this->put_record(4, record);
          expect(crc ? Cause::kMpaCrc : Cause::kMpaMarker);
          if (!markers) continue;
          // A marker with a wrong pointer; the CRC is good.
          fresh();
          this->put_record(4, frame(this->qps[4].rx, u, 0, 4));
          expect(Cause::kMpaMarker);
          fresh();
          record = frame(this->qps[4].rx, u, 0, 4);  // both errors: the CRC takes precedence
          record[record.size() - 1] ^= 1;
          this->put_record(4, record);
          expect(crc ? Cause::kMpaCrc : Cause::kMpaMarker);
        }
      }
    }
  });
}

// Records too short for any FPDU, and one longer than any: each is an error of its own QP alone.
TYPED_TEST(MpaTest, RecordsThatCannotBe) {
  each_pace([&](Pace pace) {
    this->dut.restart(pace);
    this->start(0, true, false, false);
    for (size_t n = 0; n < 8; n++) {
      for (bool markers : {false, true}) {
        for (bool crc : {false, true}) {
          this->start(6, crc, markers, false);
          Bytes record = this->rng.bytes(n);
          // A length field that fits no such record; with markers, it is at byte 4.
          if (n >= 2) record[0] = 0xff;
          if (n == 7) record[4] = record[5] = 0xff;
          this->put_record(6, record);
          this->expect_cause(6, crc ? Cause::kMpaCrc : Cause::kMpaMarker);
        }
      }
    }
    // Longer than the packet store.
    this->start(6, false, false, false);
    this->put_record(6, this->rng.bytes(131071));  // the largest length of 17 bits
    this->expect_cause(6, Cause::kMpaMarker);
    const Bytes u = this->rng.bytes(77);
    this->put_good(0, u);
    this->expect_ulpdu(0, u);
  });
}

// A start sets the position of both directions to 0, where the first marker stands.
TYPED_TEST(MpaTest, StartBeginsAStream) {
  this->dut.restart({});
  for (int i = 0; i < 3; i++) {
    this->start(2, i != 1, true, true);
    for (size_t n : {100U, 3U, 700U}) {
      const Bytes u = this->rng.bytes(n);
      this->put_good(2, u);
      this->put_ulpdu(2, u);
      this->expect_ulpdu(2, u);
      this->expect_fpdu(2, u);
    }
  }
}

// QPs start while another QP's FPDUs pass, in every cycle of these FPDUs: each FPDU still advances
// the position of its own QP.
TYPED_TEST(MpaTest, AStartDisturbsNoOther) {
  each_pace([&](Pace pace) {
    this->dut.restart(pace);
    this->start(1, true, true, true);
    std::vector<Bytes> ulpdus;
    for (size_t i = 0; i < 120; i++) {
      ulpdus.push_back(this->rng.bytes(20 + i % 90));
      this->put_good(1, ulpdus.back());
      this->put_ulpdu(1, ulpdus.back());
    }
    for (uint16_t i = 0; i < 40; i++) this->start(2 + i % 6, true, false, false);
    for (const Bytes& u : ulpdus) {
      this->expect_ulpdu(1, u);
      this->expect_fpdu(1, u);
    }
  });
}

// A stop or sync is acknowledged after all items in flight are sent. It does not wait for later
// items.
TYPED_TEST(MpaTest, StopWaitsForWhatIsInside) {
  for (auto op : {spec::QpOp::kStop, spec::QpOp::kSync}) {
    for (bool transmit : {false, true}) {
      this->dut.restart({});
      this->start(1, true, false, false);
      this->dut.ctl.put({.op = op, .qpn = 1});
      EXPECT_EQ(this->dut.ack.take().qpn, 1);
      this->start(1, true, false, false);
      const Bytes u = this->rng.bytes(150);
      this->dut.rx_ulpdu.stall(transmit ? 0 : 100);
      this->dut.tx_fpdu.stall(transmit ? 100 : 0);
      if (transmit)
        this->put_ulpdu(1, u);
      else
        this->put_good(1, u);
      EXPECT_TRUE(this->dut.run_until(
          [&] { return this->dut.rx_fpdu.empty() && this->dut.tx_ulpdu.empty(); }));
      this->dut.ctl.put({.op = op, .qpn = 1});
      EXPECT_FALSE(this->dut.ack.try_take(300));
      this->dut.rx_ulpdu.stall(0);
      this->dut.tx_fpdu.stall(0);
      EXPECT_EQ(this->dut.ack.take().qpn, 1);
      EXPECT_EQ(this->dut.rx_ulpdu.size(), transmit ? 0U : 1U);
      EXPECT_EQ(this->dut.tx_fpdu.size(), transmit ? 1U : 0U);
    }
  }
}

// An item that came after a stop is in flight when its QP starts again. The next stop waits only
// for this item.
TYPED_TEST(MpaTest, StartKeepsCountOfWhatIsInside) {
  for (bool transmit : {false, true}) {
    this->dut.restart({});
    this->start(1, false, false, false);
    this->dut.ctl.put({.op = spec::QpOp::kStop, .qpn = 1});
    EXPECT_EQ(this->dut.ack.take().qpn, 1);
    this->dut.rx_ulpdu.stall(transmit ? 0 : 100);
    this->dut.tx_fpdu.stall(transmit ? 100 : 0);
    const Bytes u = this->rng.bytes(150);
    if (transmit)
      this->put_ulpdu(1, u);
    else
      this->put_good(1, u);
    EXPECT_TRUE(this->dut.run_until(
        [&] { return this->dut.rx_fpdu.empty() && this->dut.tx_ulpdu.empty(); }));
    this->start(1, false, false, false);
    this->dut.rx_ulpdu.stall(0);
    this->dut.tx_fpdu.stall(0);
    EXPECT_TRUE(this->dut.run_until(
        [&] { return this->dut.rx_ulpdu.size() + this->dut.tx_fpdu.size() == 1; }));
    this->dut.ctl.put({.op = spec::QpOp::kStop, .qpn = 1});
    EXPECT_EQ(this->dut.ack.take(1000).qpn, 1);
  }
}

// Each of several orders in sequence is acknowledged.
TYPED_TEST(MpaTest, EachOrderIsAnswered) {
  this->dut.restart({});
  this->start(1, true, false, false);
  this->dut.rx_ulpdu.stall(100);
  this->put_good(1, this->rng.bytes(150));
  EXPECT_TRUE(this->dut.run_until([&] { return this->dut.rx_fpdu.empty(); }));
  for (auto op : {spec::QpOp::kSync, spec::QpOp::kStop}) this->dut.ctl.put({.op = op, .qpn = 1});
  EXPECT_FALSE(this->dut.ack.try_take(300));
  this->dut.rx_ulpdu.stall(0);
  EXPECT_EQ(this->dut.ack.take_all().size(), 2U);
}

// A stop is acknowledged when all items in flight before it are sent, however many pass in one
// direction while the other is stalled.
TYPED_TEST(MpaTest, StopIsNotMissedWhileOneWayIsHeld) {
  for (bool transmit_stands : {false, true}) {
    this->dut.restart({});
    this->start(1, false, false, false);
    this->dut.rx_ulpdu.stall(transmit_stands ? 0 : 100);
    this->dut.tx_fpdu.stall(transmit_stands ? 100 : 0);
    const Bytes u = this->rng.bytes(20);
    if (transmit_stands)
      this->put_ulpdu(1, u);
    else
      this->put_good(1, u);
    this->dut.cycles(100);
    this->dut.ctl.put({.op = spec::QpOp::kStop, .qpn = 1});
    constexpr uint32_t kPass = 33000;  // more than half of 2^16, the range of mpa_qp's counters
    for (uint32_t i = 0; i < kPass; i++) {
      if (transmit_stands)
        this->put_good(2, u);
      else
        this->put_ulpdu(2, u);
    }
    EXPECT_TRUE(this->dut.run_until([&] {
      return (transmit_stands ? this->dut.rx_ulpdu.size() : this->dut.tx_fpdu.size()) == kPass;
    }));
    EXPECT_TRUE(this->dut.ack.empty());
    this->dut.rx_ulpdu.stall(0);
    this->dut.tx_fpdu.stall(0);
    EXPECT_EQ(this->dut.ack.take(1000).qpn, 1);
  }
}

// The two directions are independent: a stalled one does not block the other.
TYPED_TEST(MpaTest, WaysDoNotWaitForEachOther) {
  for (bool transmit_stands : {false, true}) {
    this->dut.restart({});
    this->start(1, true, true, true);
    this->dut.rx_ulpdu.stall(transmit_stands ? 0 : 100);
    this->dut.tx_fpdu.stall(transmit_stands ? 100 : 0);
    const Bytes u = this->rng.bytes(1000);
    for (int i = 0; i < 200; i++) {
      if (transmit_stands || i < 100) this->put_good(1, u);
      if (!transmit_stands || i < 100) this->put_ulpdu(1, u);
    }
    for (int i = 0; i < 200; i++) {
      if (transmit_stands)
        this->expect_ulpdu(1, u);
      else
        this->expect_fpdu(1, u);
    }
  }
}

// Invariant: any mixture of FPDUs and QPs is sent in order, as the frame builder predicts.
TYPED_TEST(MpaTest, Random) {
  each_pace([&](Pace pace) {
    this->dut.restart(pace);
    for (int round = 0; round < 6; round++) {
      for (uint16_t q = 0; q < 8; q++) {
        this->start(q, this->rng.percent(60), this->rng.percent(50), this->rng.percent(50));
      }
      struct Item {
        uint16_t qpn;
        Cause cause;
        Bytes ulpdu;
      };
      std::vector<Item> rx, tx;
      std::array<bool, 8> failed{};
      for (int i = 0; i < 120; i++) {
        const auto qpn = static_cast<uint16_t>(this->rng.below(8));
        const size_t n = this->rng.percent(70) ? this->rng.below(200) : this->rng.below(2500);
        const Bytes u = this->rng.bytes(n);
        if (this->rng.percent(50)) {
          this->put_ulpdu(qpn, u, (n & 1) != 0, static_cast<uint8_t>(i));
          tx.push_back({qpn, Cause::kNone, u});
        } else if (!failed[qpn]) {
          Way& way = this->qps[qpn].rx;
          if (this->rng.percent(90)) {
            this->put_good(qpn, u);
            rx.push_back({qpn, Cause::kNone, u});
          } else {
            failed[qpn] = true;  // after an error the rest of the stream is undefined
            Bytes record = frame(way, u, 8);
            if (way.crc && this->rng.percent(50)) record[record.size() - 2] ^= 0x10;
            const bool crc_bad =
                way.crc && crc32c({record.begin(), record.end() - 4}) !=
                               (record[record.size() - 4] | record[record.size() - 3] << 8U |
                                record[record.size() - 2] << 16U |
                                static_cast<uint32_t>(record[record.size() - 1]) << 24U);
            this->put_record(qpn, record);
            rx.push_back({qpn, crc_bad ? Cause::kMpaCrc : Cause::kMpaMarker, {}});
          }
        }
      }
      for (const auto& item : rx) {
        if (item.cause == Cause::kNone)
          this->expect_ulpdu(item.qpn, item.ulpdu);
        else
          this->expect_cause(item.qpn, item.cause);
      }
      for (const auto& item : tx) {
        const Bytes want = frame(this->qps[item.qpn].tx, item.ulpdu);
        EXPECT_EQ(this->dut.tx_fpdu_hdr.take().length, want.size());
        EXPECT_TRUE(this->dut.tx_fpdu.take_packet().bytes == want);
      }
      for (uint16_t q = 0; q < 8; q++) {
        this->dut.ctl.put({.op = spec::QpOp::kStop, .qpn = q});
        EXPECT_EQ(this->dut.ack.take().qpn, q);
      }
    }
  });
}

// 64 bytes per cycle, and an FPDU of up to 128 bytes every 2 cycles, in both directions at once.
TYPED_TEST(MpaRtlTest, Throughput) {
  // n: bytes of the ULPDU; cycles: beats of its FPDU, but at least 2
  for (auto [n, cycles] :
       {std::pair<size_t, uint64_t>{50, 2}, {56, 2}, {120, 2}, {1454, 23}, {8190, 129}}) {
    this->dut.restart({});
    this->start(1, true, false, false);
    const Bytes u = this->rng.bytes(n);
    constexpr uint64_t kCount = 200;
    for (uint64_t i = 0; i < kCount; i++) this->put_good(1, u), this->put_ulpdu(1, u);
    const auto begin = this->dut.now();
    EXPECT_TRUE(this->dut.run_until(
        [&] { return this->dut.rx_ulpdu.size() == kCount && this->dut.tx_fpdu.size() == kCount; }));
    // 60: a bound above the latencies and the wait of the last FPDU.
    EXPECT_LE(this->dut.now() - begin, (kCount + 1) * cycles + 60) << n << " bytes";
  }
}

// Cycles from the transfer of the last input beat to that of the last output beat, on idle streams.
// The header of rtl/mpa/mpa.sv gives these figures.
TYPED_TEST(MpaRtlTest, Latency) {
  this->dut.restart({});
  this->start(1, true, false, false);
  this->start(2, true, true, true);
  for (uint16_t qpn : std::initializer_list<uint16_t>{1, 2}) {
    const Bytes u = this->rng.bytes(40);
    this->put_good(qpn, u);
    auto begin = this->dut.now();
    this->expect_ulpdu(qpn, u);
    // The default build has a cycle more: its queue of headers is a memory.
    EXPECT_EQ(this->dut.now() - begin - 1, TypeParam::sizes().fifo_depth > 4 ? 14U : 13U);
    this->put_ulpdu(qpn, u);
    begin = this->dut.now();
    this->expect_fpdu(qpn, u);
    EXPECT_EQ(this->dut.now() - begin - 1, 16U);
  }
}

}  // namespace

// host_if: docs/theory-of-operation.md, host_if. The bench is the PCIe root on one side (RootPort)
// and all clients on the other.
//
//   MMIO    requests of the root (mmio_req): registers, doorbells, pushes; responses (mmio_rsp)
//   reads   of clients sq, rq, admin and reg (*_rd_req: address and length), and of payload (a
//           length and a group of extents); each returns a header with a status, and the bytes
//   writes  of place (payload at extents), cq (entries and MSI-X messages) and admin
// Streams rd_retired and wr_retired report each extent when it is read or written. place_done
// reports each place packet when dma_wr has accepted it. mmio_rsp never passes an earlier write.
#include <gtest/gtest.h>

#include <numeric>

#include "VHostIf.h"
#include "VHostIfMin.h"
#include "VHostIfMin___024root.h"
#include "VHostIfMin_rnic_stall_pkg.h"
#include "VHostIf___024root.h"
#include "host_if/host_if_dut.hpp"

namespace rnic::tb {
namespace {

using spec::RdStatus;
using spec::TptResult;
using Bytes = std::vector<uint8_t>;

template <class D>
class HostIfTest : public testing::Test {
 protected:
  using Root = RootPort<D>;
  static constexpr uint64_t kRead = Root::kBase;                // 2 MiB of source data
  static constexpr uint64_t kPlace = Root::kBase + (2U << 20);  // written by place
  static constexpr uint64_t kSmall = Root::kBase + (3U << 20);  // written by cq, admin, MSI-X
  static constexpr unsigned kVectors = D::kMinimum ? 2 : 64;
  static constexpr unsigned kPages = D::kMinimum ? 4 : 256;

  D dut;
  base::Rng rng = test_rng("test");
  Root root{dut, test_rng("root")};

  void start(Pace pace,
             spec::PcieCfg cfg = {.bus_master = 1, .msix_enable = 1, .mps = 1, .mrrs = 2}) {
    dut.restart(pace);
    dut.configure(cfg);
    root.limits(cfg.mps, cfg.mrrs, cfg.rcb128 != 0 ? 128 : 64);
    write(spec::kDevCtrlOffset, 1, 4);
    EXPECT_EQ(read(spec::kDevCtrlOffset, 4) & 1, 1U);  // the response proves that DMA is on now
    dut.run_until([&] { return dut.mmio_req.empty(); });
    dut.cycles(10);
  }

  // --- MMIO. push() sends 64 bytes of a WQE to BAR 2. ask() sends a read, read() also waits for
  // its response.
  void write(uint32_t offset, uint64_t value, uint8_t bytes, uint8_t bar = 0) {
    spec::MmioReq r{.is_write = 1, .bar = bar, .offset = offset, .bytes = bytes};
    std::memcpy(r.data.data(), &value, bytes);
    dut.mmio_req.put(r);
  }
  void push(uint32_t offset, const Bytes& data) {
    spec::MmioReq r{.is_write = 1, .bar = 2, .offset = offset, .bytes = 64};
    std::copy_n(data.begin(), 64, r.data.begin());
    dut.mmio_req.put(r);
  }
  void ask(uint32_t offset, uint8_t bytes, uint8_t bar = 0) {
    dut.mmio_req.put({.is_write = 0, .bar = bar, .offset = offset, .bytes = bytes});
  }
  uint64_t read(uint32_t offset, uint8_t bytes = 4, uint8_t bar = 0) {
    ask(offset, bytes, bar);
    const auto data = dut.mmio_rsp.take().data;
    uint64_t value = 0;
    std::memcpy(&value, &data, 8);
    return value;
  }
  /// A doorbell: object in 24 bits, flags in 8, index in 32.
  static uint64_t bell(uint32_t object, uint8_t flags, uint32_t index) {
    return object | uint64_t{flags} << 24 | uint64_t{index} << 32;
  }
  /// A WQE of 1 or 2 units as a push sends it. Byte 2 has the units; bytes 24 to 31 have `ring`,
  /// its doorbell.
  Bytes wqe(unsigned units, uint64_t ring) {
    Bytes b(128);
    rng.fill(b);
    b[2] = static_cast<uint8_t>(units);
    std::memcpy(&b[24], &ring, 8);
    std::memcpy(&b[120], &ring, 8);  // identifies the WQE of the second half
    return b;
  }

  // --- payload
  struct Expected {
    spec::PayloadHdr hdr;
    Bytes bytes;
  };
  std::deque<Expected> payloads;
  unsigned read_epochs[2] = {};  // by epoch: extents put on tx_extent

  /// Sends a packet over these extents. Its header must report the first failure, in order of the
  /// extents.
  void payload(const std::vector<spec::Extent>& extents, uint32_t length,
               std::optional<uint64_t> watermark = {}) {
    dut.payload_req.put({.length = length,
                         .has_watermark = watermark.has_value(),
                         .watermark = watermark.value_or(0)});
    Expected e{{.length = length}, {}};
    for (const auto& x : extents) {
      dut.tx_extent.put(x);
      read_epochs[x.epoch]++;
      if (e.hdr.result == TptResult::kOk && e.hdr.status == RdStatus::kOk) {
        e.hdr.result = x.result;
        for (const auto& bad : bad_reads)
          if (x.address < bad.first + 64 && bad.first < x.address + x.length && x.length != 0)
            e.hdr.status = bad.second;
      }
      if (x.result != TptResult::kOk) continue;
      const auto b = root.bytes(x.address, x.length);
      e.bytes.insert(e.bytes.end(), b.begin(), b.end());
    }
    if (e.hdr.result != TptResult::kOk || e.hdr.status != RdStatus::kOk) e.bytes.clear();
    payloads.push_back(e);
  }
  // Reads of the 64 bytes from these addresses on fail, with this status.
  std::vector<std::pair<uint64_t, RdStatus>> bad_reads;
  void cheat(uint64_t address, Cheat how) {
    root.cheat(address, 64, how);
    if (how != Cheat::kTwice) bad_reads.emplace_back(address, RdStatus::kAborted);
  }
  void expect_completions_counted() {
    dut.settle();
    EXPECT_EQ(read(spec::kCplUnexpectedOffset, 8), root.counts.unexpected);
    EXPECT_EQ(read(spec::kCplMalformedOffset, 8), root.counts.malformed);
    EXPECT_EQ(read(spec::kCplTimedOutOffset, 8), root.counts.timed_out);
    EXPECT_EQ(read(spec::kDmaErrorsOffset, 8), root.errors);
  }
  void poison(uint64_t address, RdStatus status) {
    root.fail(address, 64, status);
    bad_reads.emplace_back(address, status);
  }

  /// Returns up to `most` extents with `length` bytes in all, at random places in the `size` bytes
  /// from `region` on.
  std::vector<spec::Extent> extents(uint32_t length, uint64_t region, size_t size, unsigned most) {
    std::vector<spec::Extent> out;
    uint32_t rest = length;
    const unsigned count = static_cast<unsigned>(rng.between(1, most));
    for (unsigned i = 0; rest != 0; i++) {
      const uint32_t n = i + 1 >= count ? rest : static_cast<uint32_t>(rng.between(1, rest));
      const bool aligned = rng.percent(30);
      uint64_t at = region + rng.below(size - n - 64);
      if (aligned) at &= ~uint64_t{63};
      out.push_back({.address = at, .length = n, .epoch = static_cast<uint8_t>(rng.below(2))});
      rest -= n;
    }
    out.back().last = 1;
    return out;
  }

  void check_payloads() {
    while (!payloads.empty()) {
      const auto hdr = dut.payload_hdr.take();
      ASSERT_FALSE(testing::Test::HasFailure());
      const auto& want = payloads.front();
      EXPECT_EQ(hdr, want.hdr) << hdr.describe() << " wanted " << want.hdr.describe();
      ASSERT_EQ(dut.payload.take_packet().bytes, want.bytes);
      payloads.pop_front();
    }
  }

  // --- writes. A Run is a packet of a client: its bytes with their addresses, and the client's
  // code in the tap. TLPs cut packets, but do not mix them.
  struct Run {
    std::vector<std::pair<uint64_t, uint8_t>> bytes;
    unsigned tap = 0;
  };
  std::deque<Run> wants[3];  // place, cq, admin
  bool message_is_older =
      false;  // an MSI-X message is older than the waiting entries: may pass them
  // done: packets of each client whose TLPs are all sent. progress: bytes sent of the packet that
  // `inside`, a client, is sending.
  size_t done[3] = {}, progress = 0;
  unsigned write_epochs[2] = {};
  std::optional<unsigned> inside;

  void watch_writes() {
    root.on_tlp([this](const Tlp& t) {
      // The tap: 4 place, 5 cq, 6 MSI-X, 7 admin. Messages are in the queue of cq.
      const unsigned c = t.client == 4 ? 0 : t.client == 7 ? 2 : 1;
      if (inside) {
        ASSERT_EQ(c, *inside) << "packets interleave";
      }
      ASSERT_FALSE(wants[c].empty()) << "a write without a request";
      auto next = wants[c].begin();
      if (message_is_older && t.client == 6) next = std::ranges::find(wants[c], 6U, &Run::tap);
      ASSERT_NE(next, wants[c].end()) << "a message without a request";
      auto& run = *next;
      EXPECT_EQ(t.client, run.tap);
      ASSERT_LE(progress + t.data.size(), run.bytes.size());
      for (size_t i = 0; i < t.data.size(); i++) {
        ASSERT_EQ(t.address + i, run.bytes[progress + i].first);
        ASSERT_EQ(t.data[i], run.bytes[progress + i].second) << "byte " << progress + i;
      }
      progress += t.data.size();
      inside = c;
      if (progress == run.bytes.size()) {
        wants[c].erase(next), progress = 0, inside.reset();
        done[c]++;
      }
    });
    dut.place_done.on_item([this](const spec::PlaceDone& d) {
      reported_++;
      EXPECT_EQ(d.count, static_cast<uint16_t>(reported_));
      EXPECT_GE(done[0], reported_) << "place_done before the data has left";
    });
  }
  size_t reported_ = 0;  // place_done so far

  void place(const std::vector<spec::Extent>& extents) {
    Run run{{}, 4};
    for (const auto& x : extents) {
      dut.place_extent.put(x);
      write_epochs[x.epoch]++;
      for (uint32_t i = 0; i < x.length; i++)
        run.bytes.emplace_back(x.address + i, static_cast<uint8_t>(rng.next()));
    }
    Bytes data;
    for (auto& b : run.bytes) data.push_back(b.second);
    dut.place_hdr.put({.length = static_cast<uint32_t>(data.size())});
    dut.place.put_packet(data);
    wants[0].push_back(std::move(run));
  }
  void cq_write(uint64_t address, uint8_t length) {
    spec::CqWr w{.address = address, .length = length};
    Run run{{}, 5};
    for (size_t i = 0; i < w.data.size(); i++) w.data[i] = static_cast<uint8_t>(rng.next());
    for (size_t i = 0; i < length; i++) run.bytes.emplace_back(address + i, w.data[i]);
    dut.cq_wr.put(w);
    wants[1].push_back(run);
  }
  void admin_write(uint64_t address, uint8_t length) {
    spec::AdminWr w{.address = address, .length = length};
    Run run{{}, 7};
    for (size_t i = 0; i < w.data.size(); i++) w.data[i] = static_cast<uint8_t>(rng.next());
    for (size_t i = 0; i < length; i++) run.bytes.emplace_back(address + i, w.data[i]);
    dut.admin_wr.put(w);
    wants[2].push_back(run);
  }
  void want_message(uint64_t address, uint32_t data) {
    Run run{{}, 6};
    for (size_t i = 0; i < 4; i++)
      run.bytes.emplace_back(address + i, static_cast<uint8_t>(data >> (8 * i)));
    wants[1].push_back(run);
  }
  void msix(unsigned vector, uint64_t address, uint32_t data, bool masked) {
    write(spec::kMsixAddressOffset + 16 * vector, address, 8);
    write(spec::kMsixDataOffset + 16 * vector, data, 4);
    write(spec::kMsixControlOffset + 16 * vector, masked, 4);
  }
  template <class Out>
  void expect_retired(Out& out, const unsigned (&epochs)[2]) {
    unsigned got[2] = {};
    for (const auto& r : out.take_all()) got[r.epoch]++;
    EXPECT_EQ(got[0], epochs[0]);
    EXPECT_EQ(got[1], epochs[1]);
  }
  void expect_all_written() {
    dut.settle();
    for (const auto& w : wants) EXPECT_TRUE(w.empty()) << "a write is missing";
  }

  // --- small reads
  template <class In>
  void small_read(In& in, std::deque<std::pair<spec::RdHdr, Bytes>>& want, uint64_t address,
                  uint16_t length, RdStatus status = RdStatus::kOk) {
    in.put({.address = address, .length = length});
    want.push_back({{.status = status, .length = length},
                    status == RdStatus::kOk ? root.bytes(address, length) : Bytes{}});
  }
  template <class Hdr, class Pkt>
  void check_reads(Hdr& hdr, Pkt& pkt, std::deque<std::pair<spec::RdHdr, Bytes>>& want) {
    for (; !want.empty(); want.pop_front()) {
      EXPECT_EQ(hdr.take(), want.front().first);
      ASSERT_FALSE(testing::Test::HasFailure());
      ASSERT_EQ(pkt.take_packet().bytes, want.front().second);
    }
  }
};

using Duts = testing::Types<HostIfDut<VHostIf, false>, HostIfDut<VHostIfMin, true>,
                            HostIfModelDut<false>, HostIfModelDut<true>>;
TYPED_TEST_SUITE(HostIfTest, Duts);

/// RTL only: cycles; beats of a packet that is still coming (the model gets it whole); failed
/// extents, for which the model's ddp requests nothing of host_if.
template <class D>
class HostIfRtlTest : public HostIfTest<D> {};
using RtlDuts = testing::Types<HostIfDut<VHostIf, false>, HostIfDut<VHostIfMin, true>>;
TYPED_TEST_SUITE(HostIfRtlTest, RtlDuts);

TYPED_TEST(HostIfTest, Registers) {
  this->start({0, 30});
  auto& d = this->dut;
  EXPECT_EQ(this->read(spec::kMagicOffset), 0x43494e4dU);  // "MNIC"
  EXPECT_EQ(this->read(spec::kMagicOffset, 8), 0x0001'0000'4349'4e4dU);
  EXPECT_EQ(this->read(spec::kVersionOffset), 0x10000U);
  EXPECT_EQ(this->read(spec::kDevStatusOffset), 0U);
  d.status(true, false);
  EXPECT_EQ(this->read(spec::kDevStatusOffset), 1U);
  EXPECT_EQ(this->read(spec::kDevCtrlOffset, 8), 0x1'0000'0001U);
  d.status(true, true);
  EXPECT_EQ(this->read(spec::kDevStatusOffset), 3U);

  this->write(spec::kStagKeyOffset, 0x1122334455667788, 8);
  this->write(spec::kAdminCmdBaseOffset, 0xaabbccdd00112240, 8);
  this->write(spec::kAdminRspBaseOffset, 0x55667780, 4);
  this->write(spec::kAdminRspBaseOffset + 4, 0x12345678, 4);
  this->write(spec::kAdminLogSizeOffset, 0xffff'fff9, 4);
  EXPECT_EQ(this->read(spec::kStagKeyOffset, 8), 0U) << "write only";
  EXPECT_EQ(this->read(spec::kAdminCmdBaseOffset, 8), 0xaabbccdd00112240U);
  EXPECT_EQ(this->read(spec::kAdminCmdBaseOffset + 4), 0xaabbccddU);
  EXPECT_EQ(this->read(spec::kAdminRspBaseOffset, 8), 0x1234567855667780U);
  EXPECT_EQ(this->read(spec::kAdminLogSizeOffset), 9U);
  // 8 bytes in the middle of a register are no register: the write has no effect.
  this->write(spec::kAdminCmdBaseOffset + 4, 0x1111'1111'2222'2222, 8);
  EXPECT_EQ(this->read(spec::kAdminCmdBaseOffset + 4, 8), 0U);
  EXPECT_EQ(this->read(spec::kAdminCmdBaseOffset, 8), 0xaabbccdd00112240U);
  const spec::DevCfg cfg = d.dev_cfg();
  EXPECT_EQ(cfg, (spec::DevCfg{1, 0x1122334455667788, 0xaabbccdd00112240, 0x1234567855667780, 9}))
      << cfg.describe();

  this->write(spec::kAdminDoorbellOffset, 0x00071234, 4);
  EXPECT_EQ(d.admin_doorbell.take().index, 0x1234);
  this->write(spec::kAdminLogSizeOffset, 0x0000'4321'0000'0003, 8);
  EXPECT_EQ(d.admin_doorbell.take().index, 0x4321);
  EXPECT_EQ(this->read(spec::kAdminLogSizeOffset, 8), 3U);
  for (uint32_t i = 0; i < 40; i++) {  // two in a row: the newer one is reported, too
    for (uint32_t k : {2 * i, 2 * i + 1}) this->write(spec::kAdminDoorbellOffset, k, 4);
    d.settle();
    EXPECT_EQ(d.admin_doorbell.take_all().back().index, 2 * i + 1);
  }
  this->write(spec::kEqConsumerOffset + 4, 77, 4);
  EXPECT_EQ(d.eq_doorbell.take(), (spec::EqDoorbell{1, 77}));
  this->write(spec::kEqConsumerOffset, 0x0000'0009'0000'0008, 8);
  EXPECT_EQ(d.eq_doorbell.take(), (spec::EqDoorbell{0, 8}));
  EXPECT_EQ(d.eq_doorbell.take(), (spec::EqDoorbell{1, 9}));
  this->write(spec::kEqConsumerOffset + 4 * 63, 5, 4);
  d.settle();
  EXPECT_TRUE(d.eq_doorbell.empty()) << "an EQ that does not exist";

  const bool min = TypeParam::kMinimum;  // sizes.yaml, columns `minimum` and `default`
  EXPECT_EQ(this->read(spec::kCapNumQpsOffset), min ? 8U : 1024U);
  EXPECT_EQ(this->read(spec::kCapNumCqsOffset), min ? 8U : 1024U);
  EXPECT_EQ(this->read(spec::kCapNumEqsOffset), min ? 2U : 16U);
  EXPECT_EQ(this->read(spec::kCapNumPdsOffset), min ? 4U : 1024U);
  EXPECT_EQ(this->read(spec::kCapNumPagesOffset), min ? 4U : 256U);
  EXPECT_EQ(this->read(spec::kCapNumStagsOffset), min ? 64U : 16384U);
  EXPECT_EQ(this->read(spec::kCapNumPblOffset), min ? 1024U : 262144U);
  EXPECT_EQ(this->read(spec::kCapNumConnsOffset), min ? 16U : 2048U);
  EXPECT_EQ(this->read(spec::kCapNumVectorsOffset), min ? 2U : 64U);
  EXPECT_EQ(this->read(spec::kCapIrdSlotsOffset), min ? 64U : 8192U);
  EXPECT_EQ(this->read(spec::kCapOrdSlotsOffset), min ? 64U : 8192U);
  EXPECT_EQ(this->read(spec::kCapMaxIrdOffset), 32U);
  EXPECT_EQ(this->read(spec::kCapMaxOrdOffset), 32U);
  EXPECT_EQ(this->read(spec::kCapClockKhzOffset), 322266U);
  EXPECT_EQ(this->read(spec::kCapSqWindowOffset), min ? 8U : 64U);

  for (unsigned u = 0; u < spec::kCountItemsCount; u++)
    d.unit_count(u, {u + 1, 0x8000'0000'0000U + u, uint64_t{100} * u});
  for (unsigned u = 0; u < spec::kCountItemsCount; u++) {
    EXPECT_EQ(this->read(spec::kCountItemsOffset + 32 * u, 8), u + 1);
    EXPECT_EQ(this->read(spec::kCountBusyOffset + 32 * u, 8), 0x8000'0000'0000 + u);
    EXPECT_EQ(this->read(spec::kCountStalledOffset + 32 * u), 100 * u);
    EXPECT_EQ(this->read(spec::kCountItemsOffset + 32 * u + 24, 8), 0U);
  }
  if constexpr (TypeParam::kIsRtl) d.hold_back(0);
  const uint64_t t0 = this->read(spec::kDeviceTimeOffset, 8), at0 = d.now();
  const uint64_t t1 = this->read(spec::kDeviceTimeOffset, 8), at1 = d.now();
  EXPECT_NEAR(static_cast<double>(t1 - t0), static_cast<double>(at1 - at0), 20.0);
  for (uint32_t hole : {0x38U, 0x70U, 0x13cU, 0x200U, 0x2810U, 0x1000U, 0x4140U, 0xfff8U, 0x10000U})
    EXPECT_EQ(this->read(hole, 8), 0U) << hole;
  EXPECT_EQ(this->read(0, 8, 2), 0U) << "BAR 2";
  EXPECT_EQ(this->read(0, 8, 1), 0U) << "BAR 1";
  if constexpr (TypeParam::kIsRtl) {
    EXPECT_GT(d.own_count().items, 0U);
  }

  EXPECT_EQ(this->read(spec::kCplTimeoutOffset, 8), 0x0100'0000U);
  this->write(spec::kCplTimeoutOffset, 0x5555'6666'7777'8888, 8);
  EXPECT_EQ(this->read(spec::kCplTimeoutOffset, 8), 0x7777'8888U);
  this->write(spec::kCplTimeoutOffset, 0, 4);

  const unsigned last = TestFixture::kVectors - 1;
  for (unsigned v : {0U, last}) {
    EXPECT_EQ(this->read(spec::kMsixAddressOffset + 16 * v, 8), 0U);
    EXPECT_EQ(this->read(spec::kMsixDataOffset + 16 * v, 8), 0x1'0000'0000U) << "masked";
    this->msix(v, 0x1234567890abcdef + v, 0xdeadbeef - v, false);
    EXPECT_EQ(this->read(spec::kMsixAddressOffset + 16 * v, 8), 0x1234567890abcdef + v);
    EXPECT_EQ(this->read(spec::kMsixAddressOffset + 16 * v + 4), 0x12345678U);
    EXPECT_EQ(this->read(spec::kMsixDataOffset + 16 * v, 8), 0xdeadbeefU - v);
  }
  for (unsigned v = TestFixture::kVectors; v < 64; v++) this->msix(v, 1, 2, true);  // absent rows
  this->write(spec::kMsixAddressOffset + 16 * last + 4, 0x5555'5555'5555'5555,
              8);  // an absent register
  for (unsigned v : {0U, last}) {
    EXPECT_EQ(this->read(spec::kMsixAddressOffset + 16 * v, 8), 0x1234567890abcdef + v);
    EXPECT_EQ(this->read(spec::kMsixDataOffset + 16 * v, 8), 0xdeadbeefU - v);
  }
}

TYPED_TEST(HostIfTest, Doorbells) {
  each_pace([this](Pace pace) {
    this->start(pace);
    auto& d = this->dut;
    const auto page = TestFixture::kPages - 1;
    const uint32_t at = page * 4096;
    using K = spec::DoorbellKind;
    auto expect_qp = [&](K kind, uint16_t qpn, uint16_t index, unsigned units = 0,
                         const Bytes& data = Bytes(128)) {
      const auto got = d.qp_doorbell.take();
      spec::QpDoorbell want{
          kind, qpn, static_cast<uint16_t>(page), index, static_cast<uint8_t>(units), {}};
      std::copy_n(data.begin(), 64 * units, want.data.begin());
      EXPECT_EQ(got, want) << got.describe() << "\n" << want.describe();
    };
    // Offsets in the page: 0 SQ, 8 RQ, 0x10 CQ, 0x18 CQ armed (flag 1: for solicited completions
    // only), 0x100 and 0x140 the halves of a push.
    this->write(at + 0x00, this->bell(3, 0xff, 0x10007), 8, 2);
    this->write(at + 0x08, this->bell(0xfffe, 0, 8), 8, 2);
    this->write(at + 0x10, this->bell(5, 1, 9), 8, 2);
    this->write(at + 0x18, this->bell(6, 1, 10), 8, 2);
    this->write(at + 0x18, this->bell(7, 0, 11), 8, 2);
    expect_qp(K::kSq, 3, 7);
    expect_qp(K::kRq, 0xfffe, 8);
    const auto p = static_cast<uint16_t>(page);
    EXPECT_EQ(d.cq_doorbell.take(), (spec::CqDoorbell{5, p, 9, 0, 0}));
    EXPECT_EQ(d.cq_doorbell.take(), (spec::CqDoorbell{6, p, 10, 1, 1}));
    EXPECT_EQ(d.cq_doorbell.take(), (spec::CqDoorbell{7, p, 11, 1, 0}));

    const Bytes one = this->wqe(1, this->bell(4, 0, 20)), two = this->wqe(2, this->bell(5, 0, 30));
    auto second = [&](const Bytes& w) { return Bytes(w.begin() + 64, w.end()); };
    this->push(at + 0x100, one);
    this->push(at + 0x100, two);
    this->push(at + 0x140, second(two));
    expect_qp(K::kPush, 4, 20, 1, one);
    expect_qp(K::kPush, 5, 30, 2, two);
    // The second half comes first, with other requests between.
    this->push(at + 0x140, second(two));
    this->push(at + 0x100, two);
    expect_qp(K::kPush, 5, 30, 2, two);
    this->push(at + 0x100, two);
    this->write(at, this->bell(9, 0, 1), 8, 2);
    this->ask(spec::kMagicOffset, 4);
    this->push(at + 0x100, one);
    this->push(at + 0x140, second(two));
    expect_qp(K::kSq, 9, 1);
    EXPECT_EQ(d.mmio_rsp.take().data, 0x43494e4dU);
    expect_qp(K::kPush, 4, 20, 1, one);
    expect_qp(K::kPush, 5, 30, 2, two);
    // A later doorbell for the same send queue: the waiting half counts as a doorbell, before that
    // one.
    const Bytes more = this->wqe(2, this->bell(5, 0, 31));
    this->push(at + 0x100, two);
    this->write(at, this->bell(5, 0, 31), 8, 2);
    expect_qp(K::kSq, 5, 30);
    expect_qp(K::kSq, 5, 31);
    this->push(at + 0x100, two);
    this->push(at + 0x140, second(more));
    this->push(at + 0x100, more);
    expect_qp(K::kSq, 5, 30);
    expect_qp(K::kPush, 5, 31, 2, more);
    // No second half comes: the first half expires.
    this->push(at + 0x100, two);
    expect_qp(K::kSq, 5, 30);
    EXPECT_EQ(this->read(spec::kDoorbellsDroppedOffset, 8), 0U);
    // Malformed requests, one by one. After 1100 cycles, more than two ticks of host_if's clock for
    // halves, a half without its other half has expired.
    unsigned bad = 0;
    auto drop = [&] { bad++; };
    drop(), this->push(at + 0x140, second(two)), d.cycles(1100);        // second half only
    drop(), this->push(at + 0x100, this->wqe(3, this->bell(5, 0, 1)));  // bad number of units
    drop(), this->push(at + 0x100, this->wqe(4, this->bell(5, 0, 1)));
    drop(), this->push(at + 0x100, this->wqe(0, this->bell(5, 0, 1)));
    drop(), this->push(at + 0x100, this->wqe(1, this->bell(0x10005, 0, 1)));  // no such object
    drop(), this->push(at + 0x180, one);
    drop(), this->push(at, one);  // bad size
    drop(), this->write(at + 0x100, this->bell(1, 0, 1), 8, 2);
    drop(), this->write(at + 0x00, 5, 4, 2);
    drop(), this->write(at + 0x04, 5, 4, 2);
    drop(), this->write(at + 0x20, this->bell(1, 0, 1), 8, 2);  // bad offset
    drop(), this->write(at + 0x10, this->bell(0x10000, 0, 1), 8, 2);
    drop(), this->write(TestFixture::kPages * 4096, this->bell(1, 0, 1), 8, 2);  // bad page
    // Two halves do not match: the second half is of another page.
    this->push(at + 0x100, two);
    drop(), this->push(0x140, second(two));
    expect_qp(K::kSq, 5, 30);
    drop(), this->push(at + 0x140, second(this->wqe(2, this->bell(0x10005, 0, 1))));
    d.cycles(1100);
    d.settle();
    EXPECT_TRUE(d.qp_doorbell.empty());
    EXPECT_TRUE(d.cq_doorbell.empty());
    EXPECT_EQ(this->read(spec::kDoorbellsDroppedOffset, 8), bad);
    d.bad_doorbells(true, true);
    d.cycle();
    d.bad_doorbells(true, false);
    d.cycle();
    d.bad_doorbells(false, false);
    EXPECT_EQ(this->read(spec::kDoorbellsDroppedOffset, 8), bad + 3);
  });
}

// Halves of many QPs and pages interleave in any order, and some never come. Each WQE rings its QP
// once, with its own bytes or with none. A QP's index never decreases.
TYPED_TEST(HostIfTest, HalvesOfPushes) {
  struct Wqe {
    unsigned page = 0;
    uint16_t index = 0;
    Bytes bytes;
    bool sent[2] = {};
  };
  each_pace([&](Pace pace) {
    this->start(pace);
    auto& d = this->dut;
    constexpr unsigned kQps = 40;
    std::map<std::pair<unsigned, unsigned>, Wqe> rung;  // by QP and index: WQEs that should ring
    std::array<unsigned, kQps> index{}, seen{};
    std::vector<std::pair<unsigned, Wqe>> open;  // WQEs with halves still to be sent
    unsigned lost = 0, copies = 0, alone = 0, seconds = 0;
    auto take = [&](const spec::QpDoorbell& got) {
      const auto it = rung.find({got.qpn, got.index});
      ASSERT_NE(it, rung.end()) << got.describe() << " rings twice, or unasked";
      EXPECT_EQ(got.page, it->second.page);
      EXPECT_GT(got.index, seen[got.qpn]) << "of QP " << got.qpn;
      seen[got.qpn] = got.index;
      if (got.kind == spec::DoorbellKind::kPush) {
        EXPECT_EQ(got.units, 2);
        EXPECT_TRUE(std::equal(it->second.bytes.begin(), it->second.bytes.end(), got.data.begin()))
            << "halves of two WQEs";
        copies++;
      } else {
        EXPECT_EQ(got.kind, spec::DoorbellKind::kSq);
        alone++;
      }
      rung.erase(it);
    };
    const size_t most = 3 + this->rng.below(5);  // host_if can hold 4 halves
    for (unsigned i = 0; i < 2000 && !testing::Test::HasFailure(); i++) {
      const auto qpn = static_cast<unsigned>(this->rng.below(kQps));
      const bool busy = std::ranges::any_of(open, [&](auto& o) { return o.first == qpn; });
      if (open.size() < most && !busy) {
        Wqe x{qpn % TestFixture::kPages, static_cast<uint16_t>(index[qpn] += 2), {}};
        x.bytes = this->wqe(2, this->bell(qpn, 0, x.index));
        open.emplace_back(qpn, x);
      }
      if (open.empty()) continue;
      const size_t k = this->rng.below(open.size());
      auto& [q, x] = open[k];
      const unsigned half =
          x.sent[0] || x.sent[1] ? unsigned{x.sent[0]} : static_cast<unsigned>(this->rng.below(2));
      const auto from = x.bytes.begin() + 64 * half;
      if (half == 0) rung[{q, x.index}] = x;
      this->push(x.page * 4096 + 0x100 + 64 * half, Bytes(from, from + 64));
      x.sent[half] = true;
      const bool loses = !(x.sent[0] && x.sent[1]) && this->rng.percent(4);
      lost += loses;
      seconds += loses && half == 1;
      if (loses || (x.sent[0] && x.sent[1]))
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(k));
      if (this->rng.percent(10)) d.cycles(static_cast<unsigned>(this->rng.below(300)));
      while (!d.qp_doorbell.empty()) take(d.qp_doorbell.take());
    }
    d.cycles(3000);
    d.settle();
    while (!d.qp_doorbell.empty()) take(d.qp_doorbell.take());
    EXPECT_TRUE(rung.empty()) << rung.size() << " doorbells are lost";
    EXPECT_GT(copies, 100U);
    EXPECT_GT(alone, 10U);
    EXPECT_GT(lost, 10U);
    EXPECT_GT(seconds, 5U);
  });
}

// A half expires even when requests leave no cycle free. An expired first half then rings as a
// doorbell, and a second half is dropped; their entries are free. A WQE with the same index, one
// lap later, has its own bytes.
TYPED_TEST(HostIfTest, HalvesAgeWithoutAPause) {
  each_pace([&](Pace pace) {
    this->start(pace);
    auto& d = this->dut;
    const auto first = [](const Bytes& w) { return Bytes(w.begin(), w.begin() + 64); };
    const auto second = [](const Bytes& w) { return Bytes(w.begin() + 64, w.end()); };
    for (unsigned qpn = 5; qpn < 8; qpn++)
      this->push(0x140, second(this->wqe(2, this->bell(qpn, 0, 30))));
    this->push(0x100, first(this->wqe(2, this->bell(8, 0, 40))));
    constexpr unsigned kBells = 3000;
    for (unsigned i = 0; i < kBells; i++) this->write(0x10, this->bell(1, 0, i), 8, 2);
    const Bytes w = this->wqe(2, this->bell(5, 0, 30));
    this->push(0x100, first(w));
    this->push(0x140, second(w));
    ASSERT_TRUE(d.run_until([&] { return !d.qp_doorbell.empty(); }, 20'000));
    EXPECT_FALSE(d.mmio_req.empty()) << "a half waits for a pause";
    EXPECT_EQ(d.qp_doorbell.take(), (spec::QpDoorbell{spec::DoorbellKind::kSq, 8, 0, 40, 0, {}}));
    const auto got = d.qp_doorbell.take();
    spec::QpDoorbell want{spec::DoorbellKind::kPush, 5, 0, 30, 2, {}};
    std::copy_n(w.begin(), 128, want.data.begin());
    EXPECT_EQ(got, want) << got.describe() << "\n" << want.describe();
    EXPECT_EQ(this->read(spec::kDoorbellsDroppedOffset, 8), 3U);
    d.cycles(1100);
    d.settle();
    EXPECT_TRUE(d.qp_doorbell.empty());
    for (unsigned i = 0; i < kBells; i++) ASSERT_EQ(d.cq_doorbell.take().index, i);
  });
}

// qp_purge, which qp sends for destroy_qp, removes the halves of its QP. Halves of other QPs stay.
TYPED_TEST(HostIfTest, APurgeForgetsTheHalvesOfItsQp) {
  each_pace([&](Pace pace) {
    auto& d = this->dut;
    const auto first = [](const Bytes& w) { return Bytes(w.begin(), w.begin() + 64); };
    const auto second = [](const Bytes& w) { return Bytes(w.begin() + 64, w.end()); };
    const auto expect_push = [&](uint16_t qpn, uint16_t page, uint16_t index, const Bytes& w) {
      const auto got = d.qp_doorbell.take();
      spec::QpDoorbell want{spec::DoorbellKind::kPush, qpn, page, index, 2, {}};
      std::copy_n(w.begin(), 128, want.data.begin());
      EXPECT_EQ(got, want) << got.describe() << "\n" << want.describe();
    };
    for (const bool is_busy : {false, true}) {
      this->start(pace);
      const Bytes other = this->wqe(2, this->bell(6, 0, 30));
      this->push(0x140, second(this->wqe(2, this->bell(5, 0, 30))));
      this->push(0x1100, first(this->wqe(2, this->bell(5, 0, 31))));
      this->push(0x100, first(this->wqe(2, this->bell(5, 0, 40))));
      this->push(0x100, first(other));
      ASSERT_TRUE(d.run_until([&] { return d.mmio_req.empty(); }, 5000));
      const unsigned bells = is_busy ? 200 : 0;
      for (unsigned i = 0; i < bells; i++) this->write(0x10, this->bell(1, 0, i), 8, 2);
      d.qp_purge.put({5});
      ASSERT_TRUE(d.run_until([&] { return d.qp_purge.empty(); }, 5000));
      if (is_busy) {
        EXPECT_FALSE(d.mmio_req.empty()) << "a purge waits for a pause";
      }
      const Bytes a = this->wqe(2, this->bell(5, 0, 30)), b = this->wqe(2, this->bell(5, 0, 40));
      this->push(0x100, first(a));
      this->push(0x140, second(a));
      this->push(0x140, second(b));
      this->push(0x100, first(b));
      this->push(0x140, second(other));
      expect_push(5, 0, 30, a);
      expect_push(5, 0, 40, b);
      expect_push(6, 0, 30, other);
      d.cycles(1100);
      d.settle();
      EXPECT_TRUE(d.qp_doorbell.empty()) << d.qp_doorbell.take().describe();
      EXPECT_EQ(this->read(spec::kDoorbellsDroppedOffset, 8), 0U);
      for (unsigned i = 0; i < bells; i++) ASSERT_EQ(d.cq_doorbell.take().index, i);
    }
  });
}

// Lengths and boundaries of one packet of payload: dense output for any alignment and any pieces.
TYPED_TEST(HostIfTest, PayloadShapes) {
  each_pace([this](Pace pace) {
    this->start(pace, {.bus_master = 1,
                       .mps = 0,
                       .mrrs = static_cast<uint8_t>(this->rng.below(3)),
                       .rcb128 = static_cast<uint8_t>(this->rng.below(2))});
    this->root.any_piece(pace.stall != 0);
    this->read_epochs[0] = this->read_epochs[1] = 0;
    for (uint32_t n : {1U, 2U, 63U, 64U, 65U, 127U, 128U, 129U, 1448U, 4095U, 4096U, 4097U, 9000U})
      for (uint64_t at : {0U, 1U, 63U, 4095U, 4033U})
        this->payload({{.address = TestFixture::kRead + at, .length = n, .last = 1}}, n);
    // Gathered payload: pieces that begin and end anywhere, many short ones, a whole 65,521-byte
    // segment.
    for (unsigned i = 0; i < 12; i++) {
      const auto n = static_cast<uint32_t>(this->rng.between(14, 3000));
      this->payload(this->extents(n, TestFixture::kRead, 1U << 20, 14), n);
    }
    std::vector<spec::Extent> many;
    for (unsigned i = 0; i < 40; i++)
      many.push_back({.address = TestFixture::kRead + 4096 * i + 4090,
                      .length = 1 + i % 7,
                      .epoch = 1,
                      .last = i == 39});
    this->payload(many, std::accumulate(many.begin(), many.end(), 0U,
                                        [](uint32_t s, auto& x) { return s + x.length; }));
    for (unsigned i = 0; i < 3; i++)
      this->payload(this->extents(65521 - i, TestFixture::kRead, 1U << 20, 5), 65521 - i);
    this->check_payloads();
    this->expect_retired(this->dut.rd_retired, this->read_epochs);
    EXPECT_TRUE(this->dut.payload_hdr.empty());
  });
}

TYPED_TEST(HostIfTest, SmallReads) {
  each_pace([this](Pace pace) {
    this->start(pace, {.bus_master = 1, .mrrs = 0});
    std::deque<std::pair<spec::RdHdr, Bytes>> sq, rq, adm, reg;
    for (uint16_t n : std::initializer_list<uint16_t>{1, 63, 64, 65, 128, 256, 1024, 4095, 4096})
      for (unsigned at : {0U, 5U, 4032U, 4095U}) {
        this->small_read(this->dut.sq_rd_req, sq, TestFixture::kRead + at, n);
        this->small_read(this->dut.rq_rd_req, rq, TestFixture::kRead + 8192 + at, n);
        this->small_read(this->dut.admin_rd_req, adm, TestFixture::kRead + 0x1ff000 + at,
                         n);  // across 2^32, too
        this->small_read(this->dut.reg_rd_req, reg, TestFixture::kRead + 0x1fd000 + at, n);
      }
    this->check_reads(this->dut.sq_rd_hdr, this->dut.sq_rd, sq);
    this->check_reads(this->dut.rq_rd_hdr, this->dut.rq_rd, rq);
    this->check_reads(this->dut.admin_rd_hdr, this->dut.admin_rd, adm);
    this->check_reads(this->dut.reg_rd_hdr, this->dut.reg_rd, reg);
  });
}

TYPED_TEST(HostIfTest, ReadErrors) {
  each_pace([this](Pace pace) {
    this->bad_reads.clear();
    this->start(pace);
    const uint64_t a = TestFixture::kRead;
    this->poison(a + 0x1000, RdStatus::kPoisoned);
    this->poison(a + 0x5000, RdStatus::kAborted);
    this->poison(a + 0x9000, RdStatus::kUnsupported);
    this->read_epochs[0] = this->read_epochs[1] = 0;
    auto ext = [&](uint64_t at, uint32_t n, bool last) {
      return spec::Extent{.address = a + at, .length = n, .epoch = 1, .last = last};
    };
    for (unsigned i = 0; i < 3; i++) {
      this->payload({ext(0, 3000, true)}, 3000);
      this->payload({ext(0, 8000, true)}, 8000);  // one of its reads fails
      this->payload({ext(0x2000, 100, false), ext(0x5010, 20, false), ext(0x9000, 64, true)}, 184);
      this->payload({ext(0x9000, 64, false), ext(0x5000, 64, true)},
                    128);  // reports the first in order, not in time
      this->payload({ext(0x2001, 65, true)}, 65);
    }
    this->check_payloads();
    this->expect_retired(this->dut.rd_retired, this->read_epochs);
    std::deque<std::pair<spec::RdHdr, Bytes>> sq, adm, reg;
    this->small_read(this->dut.sq_rd_req, sq, a + 0x1020, 64, RdStatus::kPoisoned);
    this->small_read(this->dut.sq_rd_req, sq, a + 0x1040, 64);
    this->small_read(this->dut.admin_rd_req, adm, a + 0x4800, 4096, RdStatus::kAborted);
    this->small_read(this->dut.admin_rd_req, adm, a + 0x2000, 4096);
    this->small_read(this->dut.reg_rd_req, reg, a + 0x8f00, 4096, RdStatus::kUnsupported);
    this->small_read(this->dut.reg_rd_req, reg, a + 0x2000, 4096);
    this->check_reads(this->dut.sq_rd_hdr, this->dut.sq_rd, sq);
    this->check_reads(this->dut.admin_rd_hdr, this->dut.admin_rd, adm);
    this->check_reads(this->dut.reg_rd_hdr, this->dut.reg_rd, reg);
    EXPECT_EQ(this->read(spec::kDmaErrorsOffset, 8), this->root.errors);
  });
}

// A read fails with `aborted` when its completions are too short or too long, do not end, come late
// or never come. Only this read fails. Its tag is not reused until a late completion can no longer
// come.
TYPED_TEST(HostIfTest, CompletionsOfAWrongLengthOrTime) {
  constexpr uint32_t kTimeout = 2000;
  for (Cheat how : {Cheat::kShort, Cheat::kLong, Cheat::kUnsaid, Cheat::kNever, Cheat::kLate}) {
    each_pace([&](Pace pace) {
      SCOPED_TRACE(static_cast<int>(how));
      this->bad_reads.clear();
      this->start(pace);
      this->root.cpl_timeout(kTimeout);
      this->write(spec::kCplTimeoutOffset, kTimeout, 4);
      EXPECT_EQ(this->read(spec::kCplTimeoutOffset), kTimeout);
      const uint64_t a = TestFixture::kRead;
      this->cheat(a + 0x1000, how);
      this->cheat(a + 0x5000, how);
      this->read_epochs[0] = this->read_epochs[1] = 0;
      auto ext = [&](uint64_t at, uint32_t n, bool last) {
        return spec::Extent{.address = a + at, .length = n, .epoch = 1, .last = last};
      };
      for (unsigned i = 0; i < 2; i++) {
        this->payload({ext(0x20, 3000, true)}, 3000);
        // one of its reads fails
        this->payload({ext(0x800, 6000, true)}, 6000);
        // the last of two fails
        this->payload({ext(0x2000, 100, false), ext(0x5010, 20, true)}, 120);
        this->payload({ext(0x5000, 64, false), ext(0x2000, 1000, true)}, 1064);  // the first fails
        this->payload({ext(0x2001, 65, true)}, 65);
      }
      std::deque<std::pair<spec::RdHdr, Bytes>> sq, rq, adm, reg;
      this->small_read(this->dut.sq_rd_req, sq, a + 0x2020, 64);
      this->small_read(this->dut.sq_rd_req, sq, a + 0x1020, 64, RdStatus::kAborted);
      this->small_read(this->dut.sq_rd_req, sq, a + 0x1040, 64);
      this->small_read(this->dut.rq_rd_req, rq, a + 0x1000, 1, RdStatus::kAborted);
      this->small_read(this->dut.rq_rd_req, rq, a + 0x2001, 1);
      this->small_read(this->dut.admin_rd_req, adm, a + 0x4800, 4096, RdStatus::kAborted);
      this->small_read(this->dut.admin_rd_req, adm, a + 0x2000, 4096);
      this->small_read(this->dut.reg_rd_req, reg, a + 0x0c08, 4088, RdStatus::kAborted);
      this->small_read(this->dut.reg_rd_req, reg, a + 0x2000, 4096);
      this->check_payloads();
      this->expect_retired(this->dut.rd_retired, this->read_epochs);
      this->check_reads(this->dut.sq_rd_hdr, this->dut.sq_rd, sq);
      this->check_reads(this->dut.rq_rd_hdr, this->dut.rq_rd, rq);
      this->check_reads(this->dut.admin_rd_hdr, this->dut.admin_rd, adm);
      this->check_reads(this->dut.reg_rd_hdr, this->dut.reg_rd, reg);
      this->dut.cycles(4 * kTimeout);  // the last late completions
      this->expect_completions_counted();
      this->payload({ext(0x2001, 3000, true)}, 3000);
      this->check_payloads();
    });
  }
}

// Completions for tags without a read (`unexpected`) are counted and have no other effect.
TYPED_TEST(HostIfTest, CompletionsForNobody) {
  each_pace([&](Pace pace) {
    this->bad_reads.clear();
    this->start({0, pace.stall});  // a second completion comes before its tag is used again
    const uint64_t a = TestFixture::kRead;
    this->cheat(a, Cheat::kTwice);
    for (unsigned i = 0; i < 10; i++) {
      this->payload({{.address = a + i, .length = 200, .last = 1}}, 200);
      this->check_payloads();
      this->dut.settle();
      this->root.stray(static_cast<uint8_t>(this->rng.below(TypeParam::kMinimum ? 8 : 192)),
                       1 + 31 * i);
      this->root.stray(static_cast<uint8_t>(this->rng.between(192, 255)), 64);
      this->dut.settle();  // before a read can use the tag
      std::deque<std::pair<spec::RdHdr, Bytes>> sq;
      this->small_read(this->dut.sq_rd_req, sq, a + 16 * i, 128);
      this->check_reads(this->dut.sq_rd_hdr, this->dut.sq_rd, sq);
      this->dut.settle();
    }
    EXPECT_GT(this->root.counts.unexpected, 20U);
    this->expect_completions_counted();
  });
}

// An extent with a failed lookup ends its group: payload_hdr returns its result. A read that failed
// before it in the group takes precedence.
TYPED_TEST(HostIfRtlTest, ExtentsThatSayWhy) {
  each_pace([this](Pace pace) {
    this->bad_reads.clear();
    this->start(pace);
    const uint64_t a = TestFixture::kRead;
    this->poison(a + 0x5000, RdStatus::kAborted);
    this->read_epochs[0] = this->read_epochs[1] = 0;
    auto ext = [&](uint64_t at, uint32_t n, bool last) {
      return spec::Extent{.address = a + at, .length = n, .epoch = 1, .last = last};
    };
    auto failed = [&](TptResult r, bool last = true) {
      return spec::Extent{.address = 0, .length = 0, .result = r, .epoch = 0, .last = last};
    };
    for (unsigned i = 0; i < 3; i++) {
      this->payload({failed(TptResult::kBounds)}, 5000);
      // A failed extent ends its group even if `last` is 0.
      this->payload({ext(0x3000, 999, false), failed(TptResult::kStag, false)}, 2000);
      this->payload({ext(0x5000, 64, false), failed(TptResult::kRights)}, 65);
      this->payload({ext(0x2001, 65, true)}, 65);
    }
    this->check_payloads();
    this->expect_retired(this->dut.rd_retired, this->read_epochs);
  });
}

TYPED_TEST(HostIfTest, BusMasterOff) {
  for (bool by_register : {false, true}) {
    this->start({20, 20});
    this->watch_writes();
    // No packet is sent, but place_done still comes: `done` makes its check in watch_writes() pass.
    this->reported_ = 0, this->done[0] = 100;
    auto& d = this->dut;
    if (by_register)
      this->write(spec::kDevCtrlOffset, 0, 4), d.settle();
    else
      d.configure({.msix_enable = 1});
    std::deque<std::pair<spec::RdHdr, Bytes>> sq, reg;
    this->small_read(d.sq_rd_req, sq, TestFixture::kRead, 300, RdStatus::kUnsupported);
    this->small_read(d.reg_rd_req, reg, TestFixture::kRead, 4096, RdStatus::kUnsupported);
    this->check_reads(d.sq_rd_hdr, d.sq_rd, sq);
    this->check_reads(d.reg_rd_hdr, d.reg_rd, reg);
    d.payload_req.put({.length = 5000});
    d.tx_extent.put({.address = TestFixture::kRead, .length = 5000, .last = 1});
    EXPECT_EQ(d.payload_hdr.take().status, RdStatus::kUnsupported);
    EXPECT_EQ(d.payload.take_packet().bytes.size(), 0U);
    this->write_epochs[0] = this->write_epochs[1] = 0;
    for (unsigned i = 0; i < 5; i++)
      this->place(this->extents(1000 + i, TestFixture::kPlace, 1U << 20, 3));
    this->cq_write(TestFixture::kSmall, 32);
    this->admin_write(TestFixture::kSmall + 4090, 64);
    for (unsigned i = 0; i < 5; i++) EXPECT_EQ(d.place_done.take().count, i + 1);
    EXPECT_EQ(this->read(spec::kMagicOffset), 0x43494e4dU)
        << "dropped writes do not hold an answer";
    this->expect_retired(d.wr_retired, this->write_epochs);
    EXPECT_EQ(this->root.reads, 0U);
    EXPECT_TRUE(this->root.tlps.empty());
    for (auto& w : this->wants) w.clear();
  }
}

TYPED_TEST(HostIfTest, WriteShapes) {
  each_pace([this](Pace pace) {
    for (uint8_t mps : {uint8_t{0}, uint8_t{2}}) {
      this->start(pace, {.bus_master = 1, .mps = mps, .mrrs = 0});
      this->watch_writes();
      this->reported_ = 0, this->done[0] = this->done[1] = this->done[2] = 0;
      this->write_epochs[0] = this->write_epochs[1] = 0;
      const uint64_t p = TestFixture::kPlace, s = TestFixture::kSmall;
      for (uint32_t n : {1U, 63U, 64U, 65U, 128U, 129U, 512U, 1448U, 4096U, 4097U})
        for (uint64_t at : {0U, 1U, 63U, 4033U, 4095U}) {
          this->place({{.address = p + at, .length = n, .last = 1}});
          if (n < 64) this->admin_write(s + at, static_cast<uint8_t>(n));
        }
      for (unsigned i = 0; i < 10; i++) {
        this->place(
            this->extents(static_cast<uint32_t>(this->rng.between(6, 2500)), p, 1U << 20, 9));
        this->cq_write(s + 64 * i, i % 2 == 0 ? 32 : 16);
        this->admin_write(s + 4096 * i + 4064, 64);
      }
      this->place(this->extents(65521, p, 1U << 20, 3));
      this->expect_all_written();
      EXPECT_EQ(this->done[0], this->reported_);
      this->expect_retired(this->dut.wr_retired, this->write_epochs);
    }
  });
}

// MPS and MRRS codes that PCIe reserves: 4 KiB.
TYPED_TEST(HostIfTest, ReservedSizesAreTheLargest) {
  this->start({0, 0}, {.bus_master = 1, .mps = 7, .mrrs = 6});
  this->watch_writes();
  this->place({{.address = TestFixture::kPlace, .length = 5000, .last = 1}});
  this->payload({{.address = TestFixture::kRead, .length = 9000, .last = 1}}, 9000);
  this->check_payloads();
  this->expect_all_written();
}

TYPED_TEST(HostIfTest, Msix) {
  each_pace([this](Pace pace) {
    this->start(pace);
    this->watch_writes();
    auto& d = this->dut;
    const uint64_t s = TestFixture::kSmall;
    const unsigned v = TestFixture::kVectors - 1;
    auto fire = [&](unsigned vector) {
      d.cq_wr.put({.is_msix = 1, .vector = static_cast<uint8_t>(vector)});
    };
    this->msix(0, s + 0x100, 0xcafe0000, false);
    this->msix(v, s + 0x200, 0xcafe0001, true);
    d.settle();
    this->cq_write(s, 16);
    fire(0), this->want_message(s + 0x100, 0xcafe0000);
    this->cq_write(s + 32, 16);
    fire(v), fire(v);  // masked: one message later
    fire(200);         // no such vector
    this->expect_all_written();
    EXPECT_EQ(this->read(spec::kMsixPendingOffset, 8), uint64_t{1} << v);
    this->want_message(s + 0x200, 0xcafe0001);
    this->write(spec::kMsixControlOffset + 16 * v, 0, 4);
    this->expect_all_written();
    EXPECT_EQ(this->read(spec::kMsixPendingOffset, 8), 0U);
    for (spec::PcieCfg off :
         {spec::PcieCfg{.bus_master = 1, .msix_enable = 1, .msix_mask = 1, .mps = 1},
          spec::PcieCfg{.bus_master = 1, .mps = 1}}) {
      d.configure(off);  // first the mask of the whole function, then MSI-X not enabled
      fire(0), fire(v);
      this->expect_all_written();
      EXPECT_EQ(this->read(spec::kMsixPendingOffset, 8), uint64_t{1} << v | 1U);
      this->want_message(s + 0x100, 0xcafe0000);
      this->want_message(s + 0x200, 0xcafe0001);
      d.configure({.bus_master = 1, .msix_enable = 1, .mps = 1});
      this->expect_all_written();
    }
    // Pending messages are not counted as cq_wr: a response still waits for the write before it.
    d.dma_wr.stall(100);
    this->cq_write(s, 32);
    d.run_until([&] { return d.cq_wr.empty(); });
    this->ask(spec::kMagicOffset, 4);
    EXPECT_FALSE(d.run_until([&] { return !d.mmio_rsp.empty(); }, 200))
        << "an answer passed a posted write";
    d.dma_wr.stall(pace.stall);
    EXPECT_EQ(d.mmio_rsp.take().data, 0x43494e4dU);
    this->expect_all_written();
  });
}

// TLPs of a packet are sent before its last bytes have come. A response does not pass a TLP that
// was valid before.
TYPED_TEST(HostIfRtlTest, AnswerStaysBehindATlpOfAPacketThatIsStillComing) {
  auto& d = this->dut;
  this->start({0, 0});
  this->watch_writes();
  d.dma_wr.stall(100);
  this->place({{.address = TestFixture::kPlace, .length = 32768, .last = 1}});
  d.cycles(200);
  EXPECT_FALSE(d.place.empty()) << "the packet is to be longer than what host_if holds";
  this->ask(spec::kMagicOffset, 4);
  EXPECT_FALSE(d.run_until([&] { return !d.mmio_rsp.empty(); }, 200))
      << "an answer passed a posted write";
  d.dma_wr.stall(0);
  EXPECT_EQ(d.mmio_rsp.take().data, 0x43494e4dU);
  EXPECT_EQ(this->done[0], 0U) << "nor does it wait for the packets' end";
  this->expect_all_written();
}

// A started TLP is sent whole, even if bus master changes meanwhile.
TYPED_TEST(HostIfRtlTest, ATlpThatHasBegunIsSentWhole) {
  auto& d = this->dut;
  const uint64_t at = TestFixture::kPlace;
  unsigned sent = 0;
  for (unsigned wait = 1; wait <= 40; wait++) {
    this->start({0, 0}, {.bus_master = 1, .mps = 2, .mrrs = 2});
    const Bytes old = this->root.bytes(at, 512);
    Bytes data(512);
    this->rng.fill(data);
    d.place_hdr.put({.length = 512});
    d.place_extent.put({.address = at, .length = 512, .last = 1});
    d.place.put_packet(data);
    d.cycles(wait);
    d.configure({.mps = 2, .mrrs = 2});
    d.settle();
    sent += this->root.bytes(at, 512) == data;
    EXPECT_EQ(this->root.bytes(at, 512), this->root.tlps.empty() ? old : data)
        << "a part of it, after " << wait << " cycles";
  }
  EXPECT_GT(sent, 0U);
  EXPECT_LT(sent, 40U);
}

// A write of admin, such as the response to destroy_qp, is sent after the earlier writes of cq.
TYPED_TEST(HostIfRtlTest, AWriteOfAdminStaysBehindThoseOfCqBeforeIt) {
  auto& d = this->dut;
  for (unsigned entries = 1; entries <= 20; entries++) {
    for (const unsigned wait : {1U, 2U, 3U, 50U}) {
      this->start({0, 0});
      unsigned cq = 0;
      std::optional<unsigned> before;
      this->root.on_tlp([&](const Tlp& t) {
        if (t.client == 5) cq++;
        if (t.client == 7) before = cq;
      });
      if (wait == 50) d.dma_wr.stall(100);
      for (unsigned i = 0; i < entries; i++) this->cq_write(TestFixture::kSmall + 64 * i, 32);
      d.cycles(wait);
      const size_t given = entries - d.cq_wr.size();
      this->admin_write(TestFixture::kSmall + 0x10000, 32);
      d.cycles(wait);
      d.dma_wr.stall(0);
      d.settle();
      ASSERT_TRUE(before);
      ASSERT_GE(*before, given) << "of " << entries << ", " << wait << " cycles before it";
      for (auto& w : this->wants) w.clear();
    }
  }
}

// The message of an unmasked vector is sent after the event entry that it announces, wherever the
// two wait when PCIe stalls.
TYPED_TEST(HostIfTest, UnmaskedMessageStaysBehindItsEvent) {
  auto& d = this->dut;
  const uint64_t s = TestFixture::kSmall;
  for (unsigned entries = 1; entries <= 40; entries++) {
    this->start({0, 0});
    this->watch_writes();
    this->msix(0, s + 0x100, 0xcafe0000, true);
    d.settle(50);
    d.dma_wr.stall(100);
    for (unsigned i = 0; i < entries; i++) this->cq_write(s + 16 * i, 16);
    d.cq_wr.put({.is_msix = 1, .vector = 0});
    this->want_message(s + 0x100, 0xcafe0000);
    d.cycles(100);
    this->write(spec::kMsixControlOffset, 0, 4);
    d.cycles(20);
    d.dma_wr.stall(0);
    d.settle(50);
    for (const auto& w : this->wants) EXPECT_TRUE(w.empty()) << "a write is missing";
    EXPECT_EQ(this->read(spec::kMsixPendingOffset, 8), 0U);
    ASSERT_FALSE(testing::Test::HasFailure()) << entries << " entries before the message";
  }
}

// A message that waits for PCIe, after any number of writes, uses the contents of its row at the
// time when it is sent. A masked vector keeps its pending bit, even if its message was already
// queued.
TYPED_TEST(HostIfTest, AMessageFollowsItsRow) {
  auto& d = this->dut;
  const uint64_t s = TestFixture::kSmall;
  const spec::PcieCfg on{.bus_master = 1, .msix_enable = 1, .mps = 1, .mrrs = 2};
  enum Change { kRow, kMask, kFunctionMask, kDisable };
  for (unsigned entries = 1; entries <= 14; entries++) {
    for (bool was_pending : {false, true}) {
      for (Change change : {kRow, kMask, kFunctionMask, kDisable}) {
        SCOPED_TRACE(testing::Message() << entries << " entries before it, change " << change
                                        << (was_pending ? ", pending" : ""));
        this->start({0, 0});
        this->watch_writes();
        this->message_is_older = was_pending;
        this->msix(0, s + 0x1000, 0xcafe0000, was_pending);
        d.settle(50);
        if (was_pending) d.cq_wr.put({.is_msix = 1, .vector = 0}), d.settle(50);
        d.dma_wr.stall(100);
        for (unsigned i = 0; i < entries; i++) this->cq_write(s + 16 * i, 16);
        if (was_pending)
          this->write(spec::kMsixControlOffset, 0, 4);
        else
          d.cq_wr.put({.is_msix = 1, .vector = 0});
        d.cycles(100);
        auto cfg = on;
        if (change == kRow) this->msix(0, s + 0x2000, 0xcafe0001, false);
        if (change == kMask) this->write(spec::kMsixControlOffset, 1, 4);
        if (change == kFunctionMask) cfg.msix_mask = 1;
        if (change == kDisable) cfg.msix_enable = 0;
        d.configure(cfg);
        d.cycles(20);
        if (change == kRow) this->want_message(s + 0x2000, 0xcafe0001);
        d.dma_wr.stall(0);
        d.settle(50);
        for (const auto& w : this->wants) EXPECT_TRUE(w.empty()) << "a write is missing";
        EXPECT_EQ(this->read(spec::kMsixPendingOffset, 8), change == kRow ? 0U : 1U);
        if (change != kRow) this->want_message(s + 0x1000, 0xcafe0000);
        this->write(spec::kMsixControlOffset, 0, 4);
        d.configure(on);
        d.settle(50);
        for (const auto& w : this->wants) EXPECT_TRUE(w.empty()) << "the message is missing";
        EXPECT_EQ(this->read(spec::kMsixPendingOffset, 8), 0U);
        ASSERT_FALSE(testing::Test::HasFailure());
      }
    }
  }
}

// A valid response stays valid, and the response queued after it comes, however much is sent on
// dma_wr meanwhile.
TYPED_TEST(HostIfTest, AnswersOutliveManyWrites) {
  constexpr unsigned kMany = 33'000;  // more than half of 2^16
  this->start({0, 0});
  auto& d = this->dut;
  d.mmio_rsp.stall(100);
  this->ask(spec::kMagicOffset, 4);
  this->ask(spec::kVersionOffset, 4);
  d.cycles(20);
  for (unsigned i = 0; i < kMany; i++) {
    d.admin_wr.put({.address = TestFixture::kSmall + 64 * (i % 1024), .length = 64});
    d.cq_wr.put({.address = TestFixture::kSmall + 0x20000 + 64 * (i % 1024), .length = 32});
  }
  const size_t want = this->root.tlps.size() + 2 * kMany;
  EXPECT_TRUE(d.run_until([&] { return this->root.tlps.size() == want; }, 8 * kMany));
  d.mmio_rsp.stall(0);
  for (const uint64_t value : {0x43494e4dU, 0x10000U}) {
    const auto rsp = d.mmio_rsp.try_take();
    ASSERT_TRUE(rsp) << "an answer never comes";
    EXPECT_EQ(rsp->data, value);
  }
}

// A read with a watermark is sent when that many packets are sent on dma_wr, and reads their bytes.
// Later payload requests wait for it.
TYPED_TEST(HostIfTest, Watermark) {
  this->start({0, 20});
  this->watch_writes();
  auto& d = this->dut;
  const uint64_t p = TestFixture::kPlace;
  d.dma_wr.stall(100);
  this->place({{.address = p, .length = 200, .last = 1}});
  this->place({{.address = p + 100, .length = 200, .last = 1}});
  Bytes want;
  for (uint32_t i = 0; i < 100; i++) want.push_back(this->wants[0][0].bytes[i].second);
  for (uint32_t i = 0; i < 200; i++) want.push_back(this->wants[0][1].bytes[i].second);
  d.payload_req.put({.length = 300, .has_watermark = 1, .watermark = 2});
  d.tx_extent.put({.address = p, .length = 300, .last = 1});
  d.payload_req.put({.length = 64, .has_watermark = 1, .watermark = 0});  // reached long ago
  d.tx_extent.put({.address = TestFixture::kRead, .length = 64, .last = 1});
  d.cycles(500);
  EXPECT_EQ(this->root.reads, 0U);
  std::deque<std::pair<spec::RdHdr, Bytes>> sq;
  this->small_read(d.sq_rd_req, sq, TestFixture::kRead, 64);  // a waiting payload does not delay it
  this->check_reads(d.sq_rd_hdr, d.sq_rd, sq);
  d.dma_wr.stall(20);
  EXPECT_EQ(d.payload_hdr.take().status, RdStatus::kOk);
  EXPECT_EQ(d.payload.take_packet().bytes, want);
  EXPECT_EQ(d.payload.take_packet().bytes, this->root.bytes(TestFixture::kRead, 64));
}

// Each request waits for its own watermark, even if the one before it was allowed to go.
TYPED_TEST(HostIfTest, EachRequestHasItsOwnWatermark) {
  this->start({0, 0});
  auto& d = this->dut;
  d.payload_req.put({.length = 64});
  d.payload_req.put({.length = 64, .has_watermark = 1, .watermark = 1});
  for (unsigned i = 0; i < 2; i++)
    d.tx_extent.put({.address = TestFixture::kRead, .length = 64, .last = 1});
  d.cycles(500);
  EXPECT_EQ(this->root.reads, 1U);
  this->place({{.address = TestFixture::kPlace, .length = 64, .last = 1}});
  d.settle();
  EXPECT_EQ(this->root.reads, 2U);
  this->wants[0].clear();
}

// A watermark reached long ago counts as reached; one far ahead does not, however far.
TYPED_TEST(HostIfTest, WatermarkOfLongAgo) {
  constexpr uint32_t kMany = 40'000;  // more than half of 2^16
  this->start({0, 0});
  auto& d = this->dut;
  uint32_t placed = 0;
  auto ask = [&](uint64_t watermark) {
    d.payload_req.put({.length = 64, .has_watermark = 1, .watermark = watermark});
    d.tx_extent.put({.address = TestFixture::kRead, .length = 64, .last = 1});
  };
  auto place = [&](uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
      d.place_hdr.put({.length = 64});
      d.place_extent.put(
          {.address = TestFixture::kPlace + 64 * (i % 1024), .length = 64, .last = 1});
      d.place.put_packet(Bytes(64));
    }
    placed += count;
    EXPECT_TRUE(d.run_until([&] { return d.place_done.size() == placed; }));
    this->root.tlps.clear();
  };
  place(kMany);
  for (const uint64_t past : {uint64_t{0}, uint64_t{1}, uint64_t{kMany}}) {
    ask(past);
    EXPECT_TRUE(d.run_until([&] { return d.payload.size() == 1; }, 1000))
        << "watermark " << past << " is reached";
    d.payload_hdr.take(), d.payload.take_packet();
  }
  ask(kMany + kMany);
  d.cycles(500);
  place(kMany - 1);
  d.cycles(500);
  EXPECT_TRUE(d.payload_hdr.empty()) << "one packet is missing";
  place(1);
  EXPECT_EQ(d.payload_hdr.take().status, RdStatus::kOk);
  ask(kMany + kMany + 0x1'0000'0000ULL);  // 2^32 packets are missing
  d.cycles(500);
  EXPECT_TRUE(d.payload_hdr.empty());
}

// A stalled output blocks no other path: each output is stalled for good, and all others go on.
TYPED_TEST(HostIfTest, StalledOutputHoldsNobodyElse) {
  auto& d = this->dut;
  const uint64_t a = TestFixture::kRead, s = TestFixture::kSmall;
  auto load = [&](bool payload, bool sq, bool writes) {
    for (unsigned i = 0; i < 30; i++) {
      if (payload) this->payload({{.address = a + 100 * i, .length = 3000, .last = 1}}, 3000);
      if (sq) d.sq_rd_req.put({.address = a + 64 * i, .length = 256});
      if (writes) d.admin_wr.put({.address = s + 64 * i, .length = 64});
    }
  };
  // Stalls payload's consumer.
  this->start({0, 0});
  d.payload.stall(100);
  load(true, true, true);
  EXPECT_TRUE(d.run_until(
      [&] { return d.sq_rd.size() == 30 && d.admin_wr.empty() && this->root.outstanding() == 0; }));
  d.payload.stall(0);
  this->check_payloads();
  // Stalls sq's consumer.
  this->start({0, 0});
  d.sq_rd.stall(100);
  load(true, true, true);
  this->check_payloads();
  d.sq_rd.stall(0);
  EXPECT_TRUE(d.run_until([&] { return d.sq_rd.size() == 30; }));
  // Stalls tpt's consumer of page lists.
  this->start({0, 0});
  d.reg_rd.stall(100);
  for (unsigned i = 0; i < 30; i++) d.reg_rd_req.put({.address = a + 4096 * i, .length = 4096});
  load(true, true, true);
  this->check_payloads();
  EXPECT_TRUE(d.run_until([&] { return d.sq_rd.size() == 30 && d.admin_wr.empty(); }));
  d.reg_rd.stall(0);
  EXPECT_TRUE(d.run_until([&] { return d.reg_rd.size() == 30; }));
  // Stalls PCIe's writes: reads and MMIO go on.
  this->start({0, 0});
  d.dma_wr.stall(100);
  load(true, true, true);
  this->check_payloads();
  EXPECT_TRUE(d.run_until([&] { return d.sq_rd.size() == 30; }));
  for (unsigned i = 0; i < 16; i++) this->ask(spec::kMagicOffset, 4);
  for (unsigned i = 0; i < 16; i++) this->write(0, this->bell(1, 0, i), 8, 2);
  EXPECT_TRUE(d.run_until([&] { return d.qp_doorbell.size() == 16; }));
  EXPECT_TRUE(d.mmio_rsp.empty()) << "an answer passed a posted write";
  d.dma_wr.stall(0);
  EXPECT_TRUE(d.run_until([&] { return d.mmio_rsp.size() == 16; }));
  // ddp stalls place_done, tpt stalls wr_retired, admin stalls its doorbell: dma_wr goes on.
  this->start({0, 0});
  this->watch_writes();
  this->reported_ = 0, this->done[0] = 0;
  d.place_done.stall(100), d.wr_retired.stall(100), d.admin_doorbell.stall(100);
  for (unsigned i = 0; i < 50; i++) {
    this->place({{.address = TestFixture::kPlace, .length = 100, .last = 1}});
    this->write(spec::kAdminDoorbellOffset, i, 4);
  }
  EXPECT_TRUE(d.run_until([&] { return this->done[0] == 50 && d.mmio_req.empty(); }));
  d.cycles(5);
  d.place_done.stall(0), d.wr_retired.stall(0), d.admin_doorbell.stall(0);
  d.settle();
  EXPECT_EQ(d.place_done.size(), 50U);
  EXPECT_EQ(d.wr_retired.size(), 50U);
  EXPECT_EQ(d.admin_doorbell.items().back().index, 49);
  // Reads without a completion retire no extent.
  this->start({0, 0});
  this->root.hold(true);
  this->payload({{.address = a, .length = 64, .last = 1}}, 64);
  d.cycles(200);
  EXPECT_TRUE(d.rd_retired.empty());
  EXPECT_TRUE(d.payload_hdr.empty());
  this->root.hold(false);
  this->check_payloads();
  EXPECT_EQ(d.rd_retired.take_all().size(), 1U);
}

// Random traffic of all kinds. mmio_rsp comes after the writes accepted before its read.
TYPED_TEST(HostIfTest, Random) {
  each_pace([this](Pace pace) {
    for (unsigned round = 0; round < 6; round++) {
      auto& rng = this->rng;
      auto& d = this->dut;
      this->bad_reads.clear();
      this->start(pace, {.bus_master = 1,
                         .msix_enable = 1,
                         .mps = static_cast<uint8_t>(rng.below(3)),
                         .mrrs = static_cast<uint8_t>(rng.below(3)),
                         .rcb128 = static_cast<uint8_t>(rng.below(2))});
      this->root.any_piece(rng.percent(50));
      this->root.delay(
          0, static_cast<unsigned>(rng.pick(std::span<const int>(std::array{1, 40, 400}))));
      this->watch_writes();
      this->reported_ = 0, this->done[0] = this->done[1] = this->done[2] = 0;
      this->read_epochs[0] = this->read_epochs[1] = this->write_epochs[0] = this->write_epochs[1] =
          0;
      const uint64_t a = TestFixture::kRead, s = TestFixture::kSmall;
      this->msix(0, s + 0x80000, 0x55, false);
      d.settle();
      const auto status = static_cast<RdStatus>(rng.between(1, 3));
      for (unsigned i = 0; i < 4; i++) this->poison(a + 0x100000 + 4096 * rng.below(64), status);
      std::deque<std::pair<spec::RdHdr, Bytes>> small[4];  // of sq, rq, admin, reg
      uint32_t bells = 0;
      // mmio_rsp: the counts of writes accepted in a cycle before its read was accepted.
      struct Before {
        uint64_t place, cq, admin;
      };
      std::deque<Before> before;
      std::vector<uint64_t> place_beats;  // cumulative, up to the end of each packet
      std::deque<bool> is_read;
      uint64_t answers = 0;
      d.mmio_rsp.on_item([&](const spec::MmioRsp&) {
        answers++;
        if (before.empty()) return;
        EXPECT_GE(this->done[0], before.front().place) << "mmio_rsp passed place";
        EXPECT_GE(this->done[1], before.front().cq) << "mmio_rsp passed cq_wr";
        EXPECT_GE(this->done[2], before.front().admin) << "mmio_rsp passed admin_wr";
        before.pop_front();
      });
      const uint64_t cq0 = d.cq_wr.moved(), admin0 = d.admin_wr.moved(), place0 = d.place_beats(),
                     mmio0 = d.mmio_req.moved();
      for (unsigned i = 0; i < 160; i++) {
        const auto what = rng.below(8);
        const auto n =
            static_cast<uint32_t>(rng.percent(70) ? rng.between(1, 200) : rng.between(1, 6000));
        if (what == 0) {
          const auto len = static_cast<uint16_t>(rng.between(1, rng.percent(20) ? 4096 : 256));
          const unsigned c = static_cast<unsigned>(rng.below(4));
          auto& in = c == 0   ? d.sq_rd_req
                     : c == 1 ? d.rq_rd_req
                     : c == 2 ? d.admin_rd_req
                              : d.reg_rd_req;
          this->small_read(in, small[c], a + rng.below(0x80000), len);
        } else if (what <= 2) {
          auto x = this->extents(n, a + (rng.percent(15) ? 0x100000 : 0), 0x40000, 4);
          if (TypeParam::kIsRtl && rng.percent(5))
            x.back().length = 0, x.back().result = TptResult::kBounds;
          this->payload(x, n);
        } else if (what <= 4) {
          this->place(this->extents(n, TestFixture::kPlace, 1U << 20, 4));
          place_beats.push_back((place_beats.empty() ? 0 : place_beats.back()) + (n + 63) / 64);
        } else if (what == 5) {
          if (rng.percent(30)) {
            d.cq_wr.put({.is_msix = 1, .vector = 0});
            this->want_message(s + 0x80000, 0x55);
          } else {
            this->cq_write(s + 32 * rng.below(1000), rng.percent(50) ? 32 : 16);
          }
        } else if (what == 6) {
          this->admin_write(s + rng.below(0x40000), static_cast<uint8_t>(rng.between(1, 64)));
        } else if (rng.percent(50)) {
          this->ask(spec::kMagicOffset, 4);
          is_read.push_back(true);
        } else {
          this->write(0x1000, this->bell(1, 0, bells++), 8, 2);
          is_read.push_back(false);
        }
      }
      // Cycle by cycle: the counts before this cycle apply to a read accepted in it.
      uint64_t cq = cq0, admin = admin0, place = place0, mmio = mmio0;
      const auto reads = static_cast<uint64_t>(std::count(is_read.begin(), is_read.end(), true));
      const bool ended = d.run_until([&] {
        if (d.mmio_req.moved() != mmio) {
          mmio = d.mmio_req.moved();
          if (is_read.front()) {
            const auto packets =
                std::upper_bound(place_beats.begin(), place_beats.end(), place - place0);
            before.push_back(
                {static_cast<uint64_t>(packets - place_beats.begin()), cq - cq0, admin - admin0});
          }
          is_read.pop_front();
        }
        cq = d.cq_wr.moved(), admin = d.admin_wr.moved(), place = d.place_beats();
        return answers == reads && is_read.empty();
      });
      EXPECT_TRUE(ended);
      this->check_payloads();
      this->check_reads(d.sq_rd_hdr, d.sq_rd, small[0]);
      this->check_reads(d.rq_rd_hdr, d.rq_rd, small[1]);
      this->check_reads(d.admin_rd_hdr, d.admin_rd, small[2]);
      this->check_reads(d.reg_rd_hdr, d.reg_rd, small[3]);
      this->expect_all_written();
      this->expect_retired(d.rd_retired, this->read_epochs);
      this->expect_retired(d.wr_retired, this->write_epochs);
      EXPECT_EQ(this->reported_, place_beats.size());
      EXPECT_EQ(d.qp_doorbell.take_all().size(), bells);
      d.mmio_rsp.on_item({});
      // Every read's client, from the tap, must be one that asked: not qn1. The regions overlap, so
      // the exact client is not checked.
      for (const auto& [client, r] : this->root.requests)
        EXPECT_TRUE(client <= 3 || client == 5) << client;
      if (testing::Test::HasFailure()) return;
    }
  });
}

// Writes of place: 64 bytes per cycle in bulk, and a 64-byte packet per cycle. Reads of payload: 64
// bytes per cycle in bulk, and a 64-byte packet every 2 cycles; the root completes each after 100
// cycles.
TYPED_TEST(HostIfRtlTest, Throughput) {
  if constexpr (!TypeParam::kMinimum) {
    auto& d = this->dut;
    auto cycles = [&](auto until) {
      const uint64_t from = d.now();
      EXPECT_TRUE(d.run_until(until));
      return d.now() - from;
    };
    auto place = [&](unsigned count, uint32_t n, uint64_t at) {
      this->start({0, 0}, {.bus_master = 1, .mps = 1, .mrrs = 2});
      for (unsigned i = 0; i < count; i++)
        this->place({{.address = TestFixture::kPlace + at, .length = n, .last = 1}});
      return cycles([&] { return d.place_done.size() == count; });
    };
    auto payload = [&](unsigned count, uint32_t n, uint64_t at) {
      this->payloads.clear();
      this->start({0, 0}, {.bus_master = 1, .mps = 1, .mrrs = 2});
      this->root.delay(100, 100);
      this->root.in_order(true);
      for (unsigned i = 0; i < count; i++)
        this->payload({{.address = TestFixture::kRead + at, .length = n, .last = 1}}, n);
      const auto c = cycles([&] { return d.payload.size() == count; });
      this->check_payloads();
      return c;
    };
    const auto w4k = place(50, 4096, 0), w64 = place(500, 64, 0), w4k1 = place(50, 4096, 1);
    const auto r4k = payload(50, 4096, 0), r64 = payload(500, 64, 0), r4k1 = payload(50, 4096, 1);
    // Beats of the packets (an unaligned one has one more), plus 30 for the latency.
    EXPECT_LE(w4k, 50 * 64 + 30U);
    EXPECT_LE(w4k1, 50 * 65 + 30U);
    EXPECT_LE(w64, 500 + 30U);
    // 400: the root's 100 cycles, and the time until the first packet is whole.
    EXPECT_LE(r4k, 50 * 64 + 400U);
    EXPECT_LE(r64, 500 * 2 + 400U);
    EXPECT_LE(r4k1, 50 * 70 + 400U);
    fmt::print("cycles: place 50 x 4096 {}, unaligned {}, 500 x 64 {}; payload {}, {}, {}\n", w4k,
               w4k1, w64, r4k, r4k1, r64);
  }
}

}  // namespace
}  // namespace rnic::tb

// host_if for unit atomic: reads of old values (qn1_rd) and stores of words (word_wr), concurrent
// with the other clients. RTL only. The bench is the PCIe root on one side (RootPort) and the
// clients on the other.
//
// A store of atomic (word_wr) becomes one write of 8 bytes on dma_wr. host_if reports it on
// word_done when dma_wr has accepted it. A read (qn1_rd_req) returns a header and the bytes, in the
// order of the requests. A response to an MMIO read (mmio_rsp) must follow the writes accepted
// before the read.
#include <gtest/gtest.h>

#include "VHostIf.h"
#include "VHostIfMin.h"
#include "VHostIfMin___024root.h"
#include "VHostIfMin_rnic_stall_pkg.h"
#include "VHostIf___024root.h"
#include "host_if/host_if_dut.hpp"

namespace rnic::tb {
namespace {

using spec::RdStatus;
using Bytes = std::vector<uint8_t>;

template <class D>
class HostIfQn1Test : public testing::Test {
 protected:
  using Root = RootPort<D>;
  static constexpr uint64_t kRead = Root::kBase;                // 2 MiB of source data
  static constexpr uint64_t kPlace = Root::kBase + (2U << 20);  // written by place
  static constexpr uint64_t kSmall = Root::kBase + (3U << 20);  // written by cq and admin
  static constexpr uint64_t kWords = kSmall + (1U << 19);       // written by word_wr
  static constexpr unsigned kTags = D::kMinimum ? 1 : 64;       // read tags of qn1
  static constexpr unsigned kRegTags = D::kMinimum ? 1 : 8;

  D dut;
  base::Rng rng = test_rng("test");
  Root root{dut, test_rng("root")};

  void start(Pace pace,
             spec::PcieCfg cfg = {.bus_master = 1, .msix_enable = 1, .mps = 1, .mrrs = 2}) {
    dut.restart(pace);
    dut.configure(cfg);
    root.limits(cfg.mps, cfg.mrrs, 64);
    write(spec::kDevCtrlOffset, 1);
    EXPECT_EQ(read(spec::kDevCtrlOffset) & 1, 1U);  // the response proves that DMA is on now
    dut.settle(20);
    words.clear(), places.clear(), reads.clear();
    words_on_pcie = placed = word_reports = place_reports = 0;
    inside = false;
    base = dut.word_wr.moved();
  }

  // --- MMIO. ask() sends a read, read() also waits for its response.
  void write(uint32_t offset, uint32_t value) {
    spec::MmioReq r{.is_write = 1, .bar = 0, .offset = offset, .bytes = 4};
    std::memcpy(r.data.data(), &value, 4);
    dut.mmio_req.put(r);
  }
  void ask() { dut.mmio_req.put({.bar = 0, .offset = spec::kMagicOffset, .bytes = 4}); }
  uint64_t read(uint32_t offset, uint8_t bytes = 4) {
    dut.mmio_req.put({.bar = 0, .offset = offset, .bytes = bytes});
    const auto data = dut.mmio_rsp.take().data;
    uint64_t value = 0;
    std::memcpy(&value, &data, 8);
    return value;
  }

  // --- words, concurrent with places
  std::deque<spec::WordWr> words;  // put on word_wr, not yet accepted by dma_wr
  std::deque<size_t> places;       // place packets likewise: their bytes that are left
  // Words and place packets that dma_wr has accepted, and reports of them by word_done, place_done.
  uint64_t words_on_pcie = 0, placed = 0, word_reports = 0, place_reports = 0;
  uint64_t base = 0;    // words that word_wr had accepted before start()
  bool inside = false;  // within a place packet

  void word(uint64_t address) {
    words.push_back({.address = address & ~uint64_t{7}, .data = rng.next()});
    dut.word_wr.put(words.back());
  }
  void word() { word(kWords + 8 * rng.below(1024)); }
  void place(uint32_t length) {
    const uint64_t at = kPlace + rng.below(1U << 19);
    const auto cut = static_cast<uint32_t>(length < 2 ? 0 : rng.below(length));
    if (cut != 0) dut.place_extent.put({.address = at, .length = cut});
    dut.place_extent.put({.address = at + 100'000, .length = length - cut, .last = 1});
    dut.place_hdr.put({.length = length});
    dut.place.put_packet(rng.bytes(length));
    places.push_back(length);
  }
  uint64_t accepted() { return dut.word_wr.moved() - base; }
  void watch() {
    root.on_tlp([this](const Tlp& t) {
      if (t.client == 4) {  // 4: place; 3: word (`client` of commit dma_wr)
        ASSERT_FALSE(places.empty());
        ASSERT_LE(t.data.size(), places.front());
        places.front() -= t.data.size();
        inside = places.front() != 0;
        if (!inside) places.pop_front(), placed++;
        return;
      }
      EXPECT_FALSE(inside) << "client " << t.client << " inside a place packet";
      if (t.client != 3) return;
      ASSERT_FALSE(words.empty()) << "a word that was not stored";
      ASSERT_EQ(t.address, words.front().address);
      ASSERT_EQ(t.data.size(), 8U);
      uint64_t value = 0;
      std::memcpy(&value, t.data.data(), 8);
      ASSERT_EQ(value, words.front().data) << "word " << words_on_pcie;
      words.pop_front();
      words_on_pcie++;
    });
    dut.word_done.on_item([this](const spec::WordDone& d) {
      word_reports++;
      EXPECT_EQ(d.count, static_cast<uint16_t>(word_reports));
      EXPECT_GE(words_on_pcie, word_reports) << "word_done before the word was accepted";
    });
    dut.place_done.on_item([this](const spec::PlaceDone& d) {
      place_reports++;
      EXPECT_EQ(d.count, static_cast<uint16_t>(place_reports));
      EXPECT_GE(placed, place_reports) << "place_done before the packet was accepted";
    });
  }
  void expect_all_stored(uint64_t count) {
    dut.settle();
    EXPECT_TRUE(words.empty()) << words.size() << " words are missing";
    EXPECT_TRUE(places.empty()) << places.size() << " packets are missing";
    EXPECT_EQ(words_on_pcie, count);
    EXPECT_EQ(word_reports, count);
  }

  // --- reads of qn1
  struct Want {
    spec::RdHdr hdr;
    Bytes bytes;
  };
  std::deque<Want> reads;
  void read_word(uint64_t address, RdStatus status = RdStatus::kOk) {
    dut.qn1_rd_req.put({.address = address, .length = 8});
    reads.push_back({{.status = status, .length = 8},
                     status == RdStatus::kOk ? root.bytes(address, 8) : Bytes{}});
  }
  void check_reads() {
    for (; !reads.empty(); reads.pop_front()) {
      EXPECT_EQ(dut.qn1_rd_hdr.take(), reads.front().hdr);
      ASSERT_EQ(dut.qn1_rd.take_packet().bytes, reads.front().bytes);
      ASSERT_FALSE(testing::Test::HasFailure());
    }
  }
};

using Duts = testing::Types<HostIfDut<VHostIf, false>, HostIfDut<VHostIfMin, true>>;
TYPED_TEST_SUITE(HostIfQn1Test, Duts);

/// Words concurrent with packets of all other writers: each word is one TLP of 8 bytes and never
/// within a packet. Each word has one word_done, after it was accepted.
TYPED_TEST(HostIfQn1Test, WordsAndPlacesInterleave) {
  each_pace([this](Pace pace) {
    auto& d = this->dut;
    auto& rng = this->rng;
    for (uint8_t mps : {uint8_t{0}, uint8_t{1}}) {
      this->start(pace, {.bus_master = 1, .mps = mps, .mrrs = 2});
      this->watch();
      uint64_t count = 0, packets = 0;
      for (unsigned i = 0; i < 400; i++) {
        const auto what = rng.below(8);
        if (what < 4) {
          this->word(), count++;
        } else if (what < 6) {
          this->place(
              static_cast<uint32_t>(rng.percent(70) ? rng.between(1, 150) : rng.between(1, 3000)));
          packets++;
        } else if (what == 6) {
          d.cq_wr.put({.address = TestFixture::kSmall + 32 * rng.below(100), .length = 32});
        } else {
          d.admin_wr.put({.address = TestFixture::kSmall + 0x10000 + rng.below(0x10000),
                          .length = static_cast<uint8_t>(rng.between(1, 64))});
        }
        if (rng.percent(20)) d.cycles(rng.below(40));
      }
      uint64_t last = d.placed();
      EXPECT_TRUE(d.run_until([&] {
        EXPECT_TRUE(d.placed() == last || d.placed() == last + 1);
        last = d.placed();
        return this->word_reports == count && this->place_reports == packets;
      }));
      this->expect_all_stored(count);
      EXPECT_EQ(d.placed(), packets) << "a word counts as placed";
      size_t extents = 0;
      for ([[maybe_unused]] const auto& r : d.wr_retired.take_all()) extents++;
      EXPECT_LE(extents, 2 * packets);
      EXPECT_GE(extents, packets);
    }
  });
}

/// atomic stalls word_done: dma_wr goes on, and each word is reported later.
TYPED_TEST(HostIfQn1Test, WordDoneHoldsNobody) {
  this->start({0, 0});
  this->watch();
  auto& d = this->dut;
  d.word_done.stall(100);
  for (unsigned i = 0; i < 300; i++) this->word(), this->place(100);
  EXPECT_TRUE(d.run_until([&] { return this->words_on_pcie == 300 && this->placed == 300; }));
  EXPECT_EQ(this->word_reports, 0U);
  d.word_done.stall(0);
  this->expect_all_stored(300);
}

/// The count is modulo 2^16.
TYPED_TEST(HostIfQn1Test, CountsWrap) {
  constexpr uint64_t kMany = 66'000;
  this->start({0, 0});
  this->watch();
  for (uint64_t i = 0; i < kMany; i++) this->word();
  EXPECT_TRUE(this->dut.run_until([&] { return this->word_reports == kMany; }, 4 * kMany));
  this->expect_all_stored(kMany);
}

/// A response to an MMIO read comes after the words that were accepted before the read.
TYPED_TEST(HostIfQn1Test, AnAnswerWaitsForAcceptedWords) {
  auto& d = this->dut;
  for (unsigned wait = 0; wait < 24; wait++) {
    this->start({0, 0});
    this->watch();
    d.dma_wr.stall(100);
    this->word();
    ASSERT_TRUE(d.run_until([&] { return this->accepted() == 1; }));
    d.cycles(wait);
    this->ask();
    EXPECT_FALSE(d.run_until([&] { return !d.mmio_rsp.empty(); }, 200))
        << "an answer passed a word, " << wait << " cycles after it";
    d.dma_wr.stall(0);
    EXPECT_EQ(d.mmio_rsp.take().data, 0x43494e4dU);
    EXPECT_EQ(this->words_on_pcie, 1U);
    this->expect_all_stored(1);
  }
}

TYPED_TEST(HostIfQn1Test, AnswersAndWordsAtRandom) {
  each_pace([this](Pace pace) {
    auto& d = this->dut;
    auto& rng = this->rng;
    this->start(pace);
    this->watch();
    d.dma_wr.stall(60);
    std::deque<uint64_t> before;  // words accepted in a cycle before the read
    uint64_t answers = 0, asked = 0, count = 0, words_before = 0;
    d.mmio_rsp.on_item([&](const spec::MmioRsp&) {
      answers++;
      ASSERT_FALSE(before.empty());
      EXPECT_GE(this->words_on_pcie, before.front()) << "mmio_rsp passed a word";
      before.pop_front();
    });
    uint64_t mmio = d.mmio_req.moved();
    for (unsigned i = 0; i < 6000; i++) {
      if (rng.percent(8)) this->word(), count++;
      if (rng.percent(3)) this->place(static_cast<uint32_t>(rng.between(1, 200)));
      if (rng.percent(4)) this->ask(), asked++;
      d.cycle();
      if (d.mmio_req.moved() != mmio) before.push_back(words_before);
      mmio = d.mmio_req.moved();
      words_before = this->accepted();
    }
    d.dma_wr.stall(0);
    EXPECT_TRUE(d.run_until([&] {
      if (d.mmio_req.moved() != mmio) before.push_back(words_before);
      mmio = d.mmio_req.moved();
      words_before = this->accepted();
      return answers == asked;
    }));
    this->expect_all_stored(count);
    d.mmio_rsp.on_item({});
  });
}

/// Old values come in the order of their requests, although the root completes them in any order.
/// Reads of sq, reg and payload run concurrently. qn1 and reg have their own client codes and tags.
TYPED_TEST(HostIfQn1Test, ReadsComeInOrder) {
  each_pace([this](Pace pace) {
    auto& d = this->dut;
    auto& rng = this->rng;
    this->start(pace);
    this->root.delay(0, 200);
    this->root.any_piece(pace.stall != 0);
    uint64_t count = 0;
    for (unsigned i = 0; i < 300; i++) {
      // Any alignment: host_if does not check it.
      this->read_word(TestFixture::kRead +
                      rng.below(0x100000) / (i % 2 == 0 ? 8 : 1) * (i % 2 == 0 ? 8 : 1));
      count++;
      if (i % 3 == 0) d.sq_rd_req.put({.address = TestFixture::kRead + 64 * i, .length = 64});
      if (i % 5 == 0) {
        d.payload_req.put({.length = 900});
        d.tx_extent.put({.address = TestFixture::kRead + i, .length = 900, .last = 1});
        d.reg_rd_req.put({.address = TestFixture::kRead + 8 * i, .length = 700});
      }
      if (rng.percent(20)) d.cycles(rng.below(40));
    }
    this->check_reads();
    d.settle();
    EXPECT_TRUE(d.qn1_rd_hdr.empty());
    EXPECT_TRUE(d.qn1_rd.empty());
    EXPECT_EQ(d.sq_rd.size(), 100U);
    EXPECT_EQ(d.payload.size(), 60U);
    EXPECT_EQ(d.reg_rd.size(), 60U);
    // Tags in ascending order: other clients, qn1, reg. The default build has 192 tags: 120, 64 and
    // 8 of them. The minimum build has 8: 6, 1 and 1. Client codes of the tap: 4 qn1, 5 reg, below
    // 4 the others. `want` is 0 for the others.
    const unsigned first = TypeParam::kMinimum ? 6 : 128 - TestFixture::kRegTags,
                   reg = first + TestFixture::kTags;
    uint64_t of_qn1 = 0;
    for (const auto& [client, r] : this->root.requests) {
      const unsigned want = r.tag >= reg ? 5 : r.tag >= first ? 4 : 0;
      EXPECT_EQ(client < 4 ? 0 : client, want) << "client " << client << ", tag " << int{r.tag};
      of_qn1 += client == 4;
    }
    EXPECT_GE(of_qn1, count);  // a read across 4 KiB is two
  });
}

/// 64 reads are outstanding (one in the minimum build); all other clients go on meanwhile.
TYPED_TEST(HostIfQn1Test, AllTagsAreOutstanding) {
  auto& d = this->dut;
  this->start({0, 0});
  this->root.hold(true);
  for (unsigned i = 0; i < 80; i++) this->read_word(TestFixture::kRead + 8 * i);
  d.cycles(400);
  EXPECT_EQ(this->root.outstanding(), TestFixture::kTags);
  d.sq_rd_req.put({.address = TestFixture::kRead, .length = 64});
  d.cycles(50);
  EXPECT_EQ(this->root.outstanding(), TestFixture::kTags + 1);
  this->root.hold(false);
  this->check_reads();
  EXPECT_EQ(d.sq_rd.take_packet().bytes, this->root.bytes(TestFixture::kRead, 64));
}

/// Page lists use 8 tags (one in the minimum build). All other clients go on meanwhile.
TYPED_TEST(HostIfQn1Test, PageListsHaveTheirTags) {
  auto& d = this->dut;
  this->start({0, 0});
  this->root.hold(true);
  for (unsigned i = 0; i < 12; i++)
    d.reg_rd_req.put({.address = TestFixture::kRead + 4096 * i, .length = 4096});
  d.cycles(400);
  EXPECT_EQ(this->root.outstanding(), TestFixture::kRegTags);
  this->read_word(TestFixture::kRead);
  d.sq_rd_req.put({.address = TestFixture::kRead, .length = 64});
  d.cycles(50);
  EXPECT_EQ(this->root.outstanding(), TestFixture::kRegTags + 2);
  this->root.hold(false);
  this->check_reads();
  for (unsigned i = 0; i < 12; i++) {
    EXPECT_EQ(d.reg_rd_hdr.take().length, 4096U);
    ASSERT_EQ(d.reg_rd.take_packet().bytes, this->root.bytes(TestFixture::kRead + 4096 * i, 4096));
  }
  EXPECT_EQ(d.sq_rd.take_packet().bytes, this->root.bytes(TestFixture::kRead, 64));
}

/// The consumer stalls qn1_rd: reads of other clients go on.
TYPED_TEST(HostIfQn1Test, AStalledConsumerHoldsNobody) {
  auto& d = this->dut;
  this->start({0, 0});
  d.qn1_rd.stall(100);
  for (unsigned i = 0; i < 200; i++) this->read_word(TestFixture::kRead + 8 * i);
  for (unsigned i = 0; i < 30; i++)
    d.sq_rd_req.put({.address = TestFixture::kRead + 64 * i, .length = 64});
  for (unsigned i = 0; i < 30; i++) this->word();
  EXPECT_TRUE(d.run_until([&] { return d.sq_rd.size() == 30 && d.word_done.size() == 30; }));
  d.qn1_rd.stall(0);
  this->check_reads();
}

/// A read after word_done returns the word.
TYPED_TEST(HostIfQn1Test, AReadSeesTheWordThatIsDone) {
  each_pace([this](Pace pace) {
    auto& d = this->dut;
    this->start(pace);
    for (unsigned i = 0; i < 60; i++) {
      const uint64_t at = TestFixture::kWords + 8 * this->rng.below(4);
      const uint64_t value = this->rng.next();
      d.word_wr.put({.address = at, .data = value});
      d.word_done.take();
      d.qn1_rd_req.put({.address = at, .length = 8});
      EXPECT_EQ(d.qn1_rd_hdr.take().status, RdStatus::kOk);
      const auto got = d.qn1_rd.take_packet().bytes;
      ASSERT_EQ(got.size(), 8U);
      EXPECT_EQ(std::memcmp(got.data(), &value, 8), 0);
    }
  });
}

TYPED_TEST(HostIfQn1Test, ReadErrors) {
  each_pace([this](Pace pace) {
    this->start(pace);
    const uint64_t a = TestFixture::kRead;
    this->root.fail(a + 0x1000, 64, RdStatus::kPoisoned);
    this->root.fail(a + 0x5000, 64, RdStatus::kAborted);
    this->root.fail(a + 0x9000, 64, RdStatus::kUnsupported);
    for (unsigned i = 0; i < 40; i++) {
      this->read_word(a + 8 * i);
      this->read_word(a + 0x1000 + 8 * (i % 8), RdStatus::kPoisoned);
      this->read_word(a + 0x5000 + 8 * (i % 8), RdStatus::kAborted);
      if (i % 2 == 0) this->read_word(a + 0x9000, RdStatus::kUnsupported);
      this->read_word(a + 0x2000 + 8 * i);
    }
    this->check_reads();
    EXPECT_EQ(this->read(spec::kDmaErrorsOffset, 8), this->root.errors);
  });
}

/// Completions that are wrong or never come: only their read fails, with `aborted`, and it is
/// counted.
TYPED_TEST(HostIfQn1Test, CompletionsOfAWrongLengthOrTime) {
  constexpr uint32_t kTimeout = 2000;
  for (Cheat how : {Cheat::kShort, Cheat::kLong, Cheat::kUnsaid, Cheat::kNever, Cheat::kLate}) {
    each_pace([&](Pace pace) {
      SCOPED_TRACE(static_cast<int>(how));
      this->start(pace);
      this->root.cpl_timeout(kTimeout);
      this->write(spec::kCplTimeoutOffset, kTimeout);
      const uint64_t a = TestFixture::kRead;
      this->root.cheat(a + 0x1000, 64, how);
      for (unsigned i = 0; i < 3; i++) {
        this->read_word(a + 8 * i);
        this->read_word(a + 0x1000 + 8 * i, RdStatus::kAborted);
        this->read_word(a + 0x2000 + 8 * i);
      }
      this->check_reads();
      this->dut.cycles(4 * kTimeout);  // until the last late completions have come
      this->dut.settle();
      EXPECT_EQ(this->read(spec::kCplUnexpectedOffset, 8), this->root.counts.unexpected);
      EXPECT_EQ(this->read(spec::kCplMalformedOffset, 8), this->root.counts.malformed);
      EXPECT_EQ(this->read(spec::kCplTimedOutOffset, 8), this->root.counts.timed_out);
      for (unsigned i = 0; i < 70; i++) this->read_word(a + 8 * i);  // uses each tag again
      this->check_reads();
    });
  }
}

/// Bus master disabled: reads return `unsupported`. Words are dropped but reported as done, and
/// delay no response.
TYPED_TEST(HostIfQn1Test, BusMasterOff) {
  for (bool by_register : {false, true}) {
    this->start({20, 20});
    auto& d = this->dut;
    if (by_register)
      this->write(spec::kDevCtrlOffset, 0), d.settle();
    else
      d.configure({.msix_enable = 1});
    d.word_done.on_item({});
    const auto old = this->root.bytes(TestFixture::kWords, 8192);
    for (unsigned i = 0; i < 20; i++) this->word();
    for (unsigned i = 0; i < 20; i++) EXPECT_EQ(d.word_done.take().count, i + 1);
    for (unsigned i = 0; i < 5; i++)
      this->read_word(TestFixture::kRead + 8 * i, RdStatus::kUnsupported);
    this->check_reads();
    EXPECT_EQ(this->read(spec::kMagicOffset), 0x43494e4dU);
    EXPECT_EQ(this->root.reads, 0U);
    EXPECT_TRUE(this->root.tlps.empty());
    EXPECT_EQ(this->root.bytes(TestFixture::kWords, 8192), old);
  }
}

/// One word per cycle; its latency; one read every two cycles.
TYPED_TEST(HostIfQn1Test, Throughput) {
  if constexpr (!TypeParam::kMinimum) {
    auto& d = this->dut;
    this->start({0, 0});
    this->watch();
    this->word();
    do d.cycle();
    while (!d.word_wr.taken());
    const uint64_t taken = d.now();
    EXPECT_TRUE(d.run_until([&] { return this->words_on_pcie == 1; }));
    const uint64_t latency = d.now() - taken;
    for (unsigned i = 0; i < 500; i++) this->word();
    const uint64_t from = d.now();
    EXPECT_TRUE(d.run_until([&] { return this->words_on_pcie == 501; }));
    const uint64_t stores = d.now() - from;
    this->expect_all_stored(501);
    const auto small = [&](auto& in, unsigned tap, uint8_t length) {
      unsigned out = 0;
      this->root.on_tlp([&](const Tlp& t) { out += t.client == tap; });
      for (unsigned i = 0; i < 300; i++)
        in.put({.address = TestFixture::kSmall + 64 * i, .length = length});
      const uint64_t begin = d.now();
      EXPECT_TRUE(d.run_until([&] { return out == 300; }));
      return d.now() - begin;
    };
    const uint64_t cqs = small(d.cq_wr, 5, 32), admins = small(d.admin_wr, 7, 64);
    this->root.delay(60, 60);
    this->root.in_order(true);
    for (unsigned i = 0; i < 500; i++) this->read_word(TestFixture::kRead + 8 * i);
    const uint64_t then = d.now();
    EXPECT_TRUE(d.run_until([&] { return d.qn1_rd.size() == 500; }));
    const uint64_t loads = d.now() - then;
    this->check_reads();
    EXPECT_LE(latency, 7U);
    EXPECT_LE(stores, 500 + 10U);
    EXPECT_LE(loads, 2 * 500 + 150U);
    fmt::print("cycles: a word {}, 500 words {}, 500 reads {}; 300 of cq {}, of admin {}\n",
               latency, stores, loads, cqs, admins);
  }
}

}  // namespace
}  // namespace rnic::tb

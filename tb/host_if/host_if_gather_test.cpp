// host_if_gather (with host_if_cut): the extents of a packet, at any alignment and of any length,
// become reads whose bytes are dense in the client's ring. A packet is whole when all its bytes are
// back.
//
// A packet is a length and a group of extents; the last extent is marked. The device cuts an extent
// into chunks at MRRS and at 4 KiB, one read each. Host memory is a function of the address. The
// test answers the reads in any order and writes the bytes at the position that each read gave.
// When a packet is whole, the test compares its words with its extents' bytes. tpt never sends a
// length of 0 except for a failed check (theory-of-operation, tpt).
#include <cstring>

#include "VHostIfGather.h"
#include "VHostIfGatherFew.h"
#include "VHostIfGatherOne.h"
#include "gen/streams.hpp"
#include "lib/word.hpp"
#include "support/leaf.hpp"
#include "support/rtl_dut.hpp"

namespace {

using namespace rnic;  // NOLINT: a test

// The parameters of three builds (CMakeLists.txt): tags and words of the client, and the first of
// each in the buffer that all clients share.
struct Payload {  // the payload client of host_if_rd
  using V = VHostIfGather;
  static constexpr unsigned kTags = 74, kTagBase = 50, kWords = 1024, kWordBase = 0;
};
struct Few {  // a ring that is always nearly full
  using V = VHostIfGatherFew;
  static constexpr unsigned kTags = 5, kTagBase = 3, kWords = 64, kWordBase = 1088;
};
struct One {  // a small client of the minimum build
  using V = VHostIfGatherOne;
  static constexpr unsigned kTags = 1, kTagBase = 2, kWords = 64, kWordBase = 1152;
};

uint8_t host_byte(uint64_t address) {
  return static_cast<uint8_t>((address * 0x9e3779b97f4a7c15) >> 56);
}

template <class B>
class HostIfGatherTest : public testing::Test {
 protected:
  static constexpr uint64_t kBytes = 64ULL * B::kWords;

  struct Dut : tb::RtlDut<typename B::V> {
    tb::StreamIn<tb::Word<17>> pkt{
        *this, "pkt",
        tb::pins(this->top().pkt_valid_i, this->top().pkt_ready_o, this->top().pkt_length_i)};
    tb::StreamIn<spec::Extent> ext = RNIC_IN(*this, ext, spec::Extent);
    tb::StreamOut<spec::PayloadHdr> whole = RNIC_OUT(*this, whole, spec::PayloadHdr);
  };
  struct Packet {
    uint32_t length = 0;
    uint64_t base = 0;  // word of the ring; does not wrap
    std::vector<spec::Extent> extents;
    std::vector<uint64_t> chunks;  // of the extents accepted so far
    bool complete = false;         // the last extent was accepted
    uint64_t freed = 0;            // words of it that the client has freed
    [[nodiscard]] uint64_t words() const { return (length + 63) / 64; }
  };
  /// The part of an extent that one read covers. A chunk that is not `real` has no read: its check
  /// failed or DMA is off. Such a chunk is `done` at once, a real one when its read has ended.
  struct Chunk {
    uint64_t packet = 0, address = 0;
    uint32_t length = 0;
    spec::TptResult result{};
    uint8_t epoch = 0;
    bool real = false, last = false, done = false, issued = false;
    spec::RdStatus status{};
    uint64_t pos = 0;  // position given by the read
    unsigned tag = 0;  // tag given by the read, of this client
  };

  Dut dut;
  base::Rng rng = tb::test_rng("packets");
  tb::Pace pace;
  // off_at_times: DMA is switched off now and then. at_once: reads end in order and without a
  // delay, and words are freed without a delay. hold_percent: percent of the ends after which the
  // tag is held.
  bool running = false, off_at_times = true, at_once = false;
  unsigned mrrs = 0, error_percent = 2, hold_percent = 0;
  std::vector<bool> held = std::vector<bool>(B::kTags);  // tags that must not be used
  bool dma_on = true, slow_release = false, slow_answers = false;
  std::vector<Packet> packets;
  std::vector<Chunk> chunks;  // in the order of their reads
  std::vector<uint8_t> ring = std::vector<uint8_t>(kBytes);
  // Counts of packets. given: put to the unit. opened: all extents accepted. opening: 1 while a
  // packet is accepted and its extents are not. wholes: reported whole. releasing: all words freed.
  // `extent`: the next extent of the open packet.
  uint64_t given = 0, opened = 0, opening = 0, wholes = 0, releasing = 0, extent = 0;
  uint64_t allocated = 0, freed = 0;           // words
  uint64_t issued = 0, retired = 0, back = 0;  // issued: chunks walked; all before back are done
  std::vector<uint64_t> out;                   // chunks whose reads are outstanding
  int64_t ending = -1;                         // chunk whose end is reported in this cycle
  uint64_t freeing = 0;                        // words freed in this cycle
  uint64_t reads = 0;
  unsigned last_tag = 0;
  tb::Tally met{"extent of 1",
                "extent of 63",
                "extent of 64",
                "extent of 65",
                "extent of 4095",
                "extent of 4096",
                "extent of 4097",
                "begins on a page's last byte",
                "ends with a page",
                "ends one byte after a page",
                "address carries into bit 32",
                "ring wraps in a read",
                "ring wraps between reads",
                "packet as long as the ring",
                "ring full, a packet waits",
                "all tags out",
                "check failed at once",
                "check failed after extents",
                "read failed",
                "a second failure after the first",
                "DMA off",
                "DMA off in a packet",
                "a read passes over a held tag",
                "all tags held",
                "ends of other clients",
                "ends out of order",
                "packet of one byte",
                "packet of many extents"};
  tb::PinsPort pins{dut, [this] { drive(); }, [this] { sample(); }};

  HostIfGatherTest() {
    dut.whole.on_item([this](const spec::PayloadHdr& hdr) { check_whole(hdr); });
  }

  void start(tb::Pace p, unsigned new_mrrs) {
    pace = p;
    mrrs = new_mrrs;
    packets.clear();
    chunks.clear();
    out.clear();
    given = opened = wholes = releasing = extent = allocated = freed = issued = retired = back = 0;
    ending = -1;
    freeing = 0;
    running = false;
    dma_on = true;
    held.assign(B::kTags, false);
    dut.restart(p);
    running = true;
  }

  uint32_t some_length(uint64_t limit) {
    static constexpr uint32_t kEdges[] = {1, 2, 63, 64, 65, 4095, 4096, 4097, 127, 128, 129};
    const uint64_t n = rng.percent(55)   ? kEdges[rng.below(std::size(kEdges))]
                       : rng.percent(60) ? rng.between(1, 300)
                                         : rng.between(1, 12'000);
    return static_cast<uint32_t>(std::min(n, limit));
  }
  uint64_t some_address(uint32_t length) {
    static constexpr uint32_t kLow[] = {0, 1, 63, 64, 65, 4095, 4032, 4033, 2048};
    uint64_t page = rng.next() >> 12;
    if (rng.percent(20)) page |= 0xfffff;  // the next page is above 4 GiB
    page &= ~(uint64_t{1} << 51);          // top bit 0: no extent wraps at 2^64
    uint64_t low = rng.percent(60) ? kLow[rng.below(std::size(kLow))] : rng.below(4096);
    if (rng.percent(25))
      low = (8192 - length % 4096 + rng.below(2)) % 4096;  // ends at a page's end
    return page << 12 | low;
  }

  /// Sends a packet and its extents. The packet fixes which extent fails its check. Failures with
  /// DMA off are decided when an extent is accepted.
  void give(Packet p) {
    for (size_t i = 0; i < p.extents.size(); i++) {
      p.extents[i].last = i + 1 == p.extents.size();
      dut.ext.put(p.extents[i]);
    }
    dut.pkt.put({p.length});
    given++;
    packets.push_back(std::move(p));
  }
  spec::Extent some_extent(uint64_t limit) {
    spec::Extent e;
    e.length = some_length(limit);
    e.address = some_address(e.length);
    e.epoch = rng.percent(50);
    for (unsigned edge : {1U, 63U, 64U, 65U, 4095U, 4096U, 4097U}) {
      if (e.length == edge) met(fmt::format("extent of {}", edge));
    }
    met("begins on a page's last byte", e.address % 4096 == 4095 && e.length > 1);
    met("ends with a page", (e.address + e.length) % 4096 == 0);
    met("ends one byte after a page", (e.address + e.length) % 4096 == 1);
    met("address carries into bit 32", (e.address + e.length - 1) >> 32 != e.address >> 32);
    return e;
  }
  Packet some_packet() {
    Packet p;
    uint64_t limit = kBytes;
    if (rng.percent(10)) {
      limit = rng.between(kBytes - 63, kBytes);
      p.length = static_cast<uint32_t>(limit);
      met("packet as long as the ring");
    }
    const uint64_t count = rng.percent(50) ? 1 : rng.between(2, 12);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count && sum < limit; i++) {
      p.extents.push_back(some_extent(limit - sum));
      if (p.length != 0 && i + 1 == count) {  // the rest of the limit
        p.extents.back().length = static_cast<uint32_t>(limit - sum);
      }
      sum += p.extents.back().length;
    }
    p.length = static_cast<uint32_t>(sum);
    met("packet of one byte", sum == 1);
    met("packet of many extents", p.extents.size() >= 8);
    if (rng.percent(8)) {  // a failed check ends the group
      const size_t at = rng.below(p.extents.size());
      p.extents.resize(at + 1);
      p.extents[at] = {.address = rng.next(),
                       .length = 0,
                       .result = static_cast<spec::TptResult>(rng.between(1, 5)),
                       .epoch = p.extents[at].epoch,
                       .last = 1};
      met(at == 0 ? "check failed at once" : "check failed after extents");
    }
    return p;
  }

  void drive() {
    auto& t = dut.top();
    t.mrrs_i = static_cast<uint8_t>(mrrs & 7);
    if (off_at_times && rng.percent(1)) dma_on = rng.percent(90);
    if (off_at_times && !dma_on && rng.percent(5)) dma_on = true;
    if (!off_at_times) dma_on = true;
    t.dma_on_i = dma_on;
    t.req_ready_i = running && !rng.percent(pace.stall);
    t.end_valid_i = t.freed_i = 0;
    tb::set(t.end_tag_i, rng.next());
    tb::set(t.end_status_i, rng.next() & 3);
    tb::set(t.freed_words_i, rng.between(1, B::kWords));
    ending = -1;
    freeing = 0;
    if (running) {
      if (rng.percent(1)) held[rng.below(B::kTags)] = false;
      drive_end();
      drive_free();
      met("all tags held", std::find(held.begin(), held.end(), false) == held.end());
    }
    std::array<uint32_t, (B::kTags + 31) / 32> bits{};
    for (unsigned i = 0; i < B::kTags; i++) bits[i / 32] |= uint32_t{held[i]} << (i % 32);
    std::memcpy(&t.held_i, bits.data(), sizeof t.held_i);
  }
  void drive_end() {
    auto& t = dut.top();
    if (rng.percent(1)) slow_answers = rng.percent(40);
    if (!out.empty() && (at_once || rng.percent(slow_answers ? 1 : 45))) {
      const size_t k = at_once ? 0 : rng.below(out.size());
      ending = static_cast<int64_t>(out[k]);
      met("ends out of order", k != 0);
      out.erase(out.begin() + static_cast<std::ptrdiff_t>(k));
      Chunk& c = chunks[static_cast<size_t>(ending)];
      c.status = rng.percent(error_percent) ? static_cast<spec::RdStatus>(rng.between(1, 3))
                                            : spec::RdStatus::kOk;
      met("read failed", c.status != spec::RdStatus::kOk);
      if (c.status == spec::RdStatus::kOk) {
        for (uint32_t i = 0; i < c.length; i++)
          ring[(c.pos + i) % kBytes] = host_byte(c.address + i);
      }
      t.end_valid_i = 1;
      t.end_tag_i = static_cast<uint8_t>(B::kTagBase + c.tag);
      if (rng.percent(hold_percent)) held[c.tag] = true;
      t.end_status_i = static_cast<uint8_t>(c.status);
    } else if (rng.percent(30)) {
      uint64_t tag = 0;
      do tag = rng.below(256);
      while (tag >= B::kTagBase && tag < B::kTagBase + B::kTags);
      t.end_valid_i = 1;
      t.end_tag_i = static_cast<uint8_t>(tag);
      met("ends of other clients");
    }
  }
  void drive_free() {
    if (rng.percent(1)) slow_release = rng.percent(40);
    if (releasing == wholes || (!at_once && rng.percent(slow_release ? 95 : pace.stall))) return;
    Packet& p = packets[releasing];
    if (good(p)) {
      compare_word(p, p.freed);
      freeing = 1;
    } else {
      freeing = p.words();
    }
    p.freed += freeing;
    if (p.freed == p.words()) releasing++;
    dut.top().freed_i = 1;
    tb::set(dut.top().freed_words_i, freeing);
  }

  bool good(const Packet& p) const {
    return std::all_of(p.chunks.begin(), p.chunks.end(), [&](uint64_t c) {
      return chunks[c].real && chunks[c].status == spec::RdStatus::kOk;
    });
  }
  void compare_word(const Packet& p, uint64_t word) {
    uint64_t at = 0;  // byte of the packet
    for (const auto& e : p.extents) {
      const uint64_t from = std::max(at, 64 * word), to = std::min(at + e.length, 64 * word + 64);
      for (uint64_t b = from; b < to; b++)
        ASSERT_EQ(ring[(64 * p.base + b) % kBytes], host_byte(e.address + b - at))
            << "packet of " << p.length << " at word " << p.base << ", byte " << b;
      at += e.length;
    }
  }

  void sample() {
    if (!running) return;
    auto& t = dut.top();
    freed += freeing;
    sample_retired();  // all of these before this cycle's extent and end, which take effect later
    sample_read();
    if (ending >= 0) chunks[static_cast<size_t>(ending)].done = true;
    if (dut.ext.taken()) {
      ASSERT_EQ(opening, 1U) << "an extent was taken and no packet is open";
      take_extent();
    }
    const bool offered = t.pkt_valid_i != 0 && opening == 0;
    if (dut.pkt.taken()) {
      ASSERT_EQ(opening, 0U);
      Packet& p = packets[opened];
      p.base = allocated;
      allocated += p.words();
      ASSERT_LE(allocated - freed, B::kWords) << "more words than the ring has";
      opening = 1;
      extent = 0;
    } else {
      met("ring full, a packet waits",
          offered && allocated + packets[opened].words() - freed > B::kWords);
    }
  }

  void take_extent() {
    Packet& p = packets[opened];
    const spec::Extent& e = p.extents[extent];
    const bool ok = e.result == spec::TptResult::kOk;
    uint64_t address = e.address, rest = ok ? e.length : 0;
    const uint64_t limit = uint64_t{128} << std::min(mrrs, 5U);  // reserved codes: 4096
    met("DMA off", !dma_on && ok);
    met("DMA off in a packet", !dma_on && ok && extent != 0 && chunks.back().real);
    do {
      const uint64_t n = std::min({rest, limit, 4096 - address % 4096});
      Chunk c{.packet = opened,
              .address = address,
              .length = static_cast<uint32_t>(n),
              .result = e.result,
              .epoch = e.epoch,
              .real = ok && dma_on,
              .last = n == rest};
      if (!c.real) {
        c.done = true;
        c.status = ok ? spec::RdStatus::kUnsupported : spec::RdStatus::kOk;
      }
      p.chunks.push_back(chunks.size());
      chunks.push_back(c);
      address += n;
      rest -= n;
    } while (rest != 0);
    if (++extent == p.extents.size()) {
      p.complete = true;
      opened++;
      opening = 0;
    }
  }

  void sample_read() {
    auto& t = dut.top();
    if (t.req_valid_o == 0 || t.req_ready_i == 0) return;
    while (issued < chunks.size() && !chunks[issued].real) issued++;
    ASSERT_LT(issued, chunks.size()) << "a read without a request";
    Chunk& c = chunks[issued];
    const unsigned tag = t.req_tag_o - B::kTagBase;
    ASSERT_LT(tag, B::kTags);
    ASSERT_FALSE(held[tag]) << "tag " << tag << " is held back";
    for (uint64_t o : out) ASSERT_NE(chunks[o].tag, tag) << "a tag is given twice";
    if (hold_percent == 0) {
      ASSERT_EQ(tag, issued % B::kTags);
    }
    met("a read passes over a held tag", held[(last_tag + 1) % B::kTags]);
    last_tag = c.tag = tag;
    ASSERT_EQ(t.req_address_o, c.address);
    ASSERT_EQ(t.req_length_o, c.length);
    const uint64_t pos = t.req_pos_o, base = 64ULL * B::kWordBase;
    ASSERT_GE(pos, base);
    ASSERT_LT(pos, base + kBytes);
    c.pos = pos - base;
    c.issued = true;
    met("ring wraps in a read", c.pos + c.length > kBytes);
    met("ring wraps between reads",
        c.pos == 0 && issued != 0 && chunks[issued - 1].packet == c.packet);
    out.push_back(issued++);
    reads++;
    while (back < chunks.size() && chunks[back].done) back++;
    ASSERT_LE(issued - back, B::kTags) << "a tag is given twice";
    met("all tags out", issued - back == B::kTags);
  }

  // An extent is retired when everything before it is back: chunks are walked in order.
  void sample_retired() {
    auto& t = dut.top();
    if (t.retired_o == 0) return;
    do {
      ASSERT_LT(retired, chunks.size()) << "an extent is retired that was not taken";
      ASSERT_TRUE(chunks[retired].done) << "retired before its bytes were back";
    } while (!chunks[retired++].last);
    ASSERT_EQ(t.retired_epoch_o, chunks[retired - 1].epoch);
  }

  void check_whole(const spec::PayloadHdr& hdr) {
    ASSERT_LT(wholes, opened) << "a whole packet that was not opened";
    const Packet& p = packets[wholes++];
    spec::PayloadHdr want{.length = p.length, .status = {}, .result = {}};
    unsigned bad = 0;
    for (uint64_t i : p.chunks) {
      const Chunk& c = chunks[i];
      ASSERT_TRUE(c.done) << "whole before all of it was back";
      if (c.status == spec::RdStatus::kOk && c.result == spec::TptResult::kOk) continue;
      if (bad++ == 0) {
        want.status = c.status;
        want.result = c.result;
      }
    }
    met("a second failure after the first", bad > 1);
    ASSERT_EQ(hdr, want) << hdr.describe() << ", wanted " << want.describe();
  }

  void run(uint64_t count) {
    for (uint64_t i = 0; i < count && !this->HasFatalFailure(); i++) {
      give(some_packet());
      ASSERT_TRUE(dut.run_until([&] { return dut.pkt.size() < 3 || this->HasFatalFailure(); }))
          << "a packet is never taken";
    }
  }
  void finish() {
    const bool all = dut.run_until([&] { return releasing == given || this->HasFatalFailure(); });
    if (this->HasFatalFailure()) return;
    ASSERT_TRUE(all) << given - wholes << " packets are not whole, " << given - releasing
                     << " not free";
    dut.cycles(20);
    EXPECT_EQ(retired, chunks.size());
  }
};

using Builds = testing::Types<Payload, Few, One>;
TYPED_TEST_SUITE(HostIfGatherTest, Builds);

TYPED_TEST(HostIfGatherTest, ExtentsBecomeDenseWords) {
  tb::each_pace([&](tb::Pace pace) {
    for (unsigned mrrs : {0U, 1U, 5U, 7U}) {
      this->start(pace, mrrs);
      this->run(200);
      this->finish();
      if (this->HasFatalFailure()) return;
    }
  });
  // Counts as met what a build cannot meet: reads of one tag end in order, and an extent of 4097
  // bytes is too long for a ring of 64 words.
  this->met("ends out of order", TypeParam::kTags == 1);
  this->met("extent of 4097", TypeParam::kWords == 64);
  this->off_at_times = false;
  this->hold_percent = 10;
  for (unsigned round = 0; round < 8 && !this->HasFatalFailure(); round++) {
    if (round == 6) this->hold_percent = 90;
    this->start({20, 20}, 0);
    this->run(100);
    this->finish();
  }
  this->met("all tags held", TypeParam::kTags > 5);
  this->met("a read passes over a held tag", TypeParam::kTags == 1);
  this->met.expect_all();
  EXPECT_GT(this->reads, 2000U);
}

TYPED_TEST(HostIfGatherTest, StartsAnewAfterAReset) {  // reads outstanding, packets half accepted
  for (int i = 0; i < 20 && !this->HasFatalFailure(); i++) {
    this->start({20, 20}, 2);
    this->run(6);
    this->dut.cycles(this->rng.below(60));
    this->opening = 0;
  }
  this->start({}, 2);
  this->run(20);
  this->finish();
}

// As host_if_gather's header says: one read per cycle, one packet every 2 cycles.
using HostIfGatherRateTest = HostIfGatherTest<Payload>;
TEST_F(HostIfGatherRateTest, AReadACycleAndAPacketEveryTwo) {
  off_at_times = false;
  error_percent = 0;
  at_once = true;
  const auto packet = [&](uint32_t length) {
    Packet p;
    p.length = length;
    p.extents.resize(1);
    p.extents[0].address = 4096 * rng.below(1000);
    p.extents[0].length = length;
    return p;
  };
  start({}, 0);
  for (int i = 0; i < 200; i++) give(packet(64));
  uint64_t from = dut.now();
  finish();
  EXPECT_LE(dut.now() - from, 400U + 20 + 20);         // 20 of finish(), 20 for the latencies
  for (int i = 0; i < 8; i++) give(packet(128 * 64));  // each fills the ring
  from = dut.now();
  dut.run_until([&] { return issued == 200 + 8 * 64; });
  // Each packet of 8192 bytes has 64 reads of 128 bytes (mrrs 0), and may open in a cycle more.
  EXPECT_LE(dut.now() - from, 8U * (64 + 1) + 10);
  finish();
}

}  // namespace

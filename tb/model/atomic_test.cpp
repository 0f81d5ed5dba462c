// Atomics and Atomic Writes between two devices: their effect on memory, their order after other
// operations, and their number in flight. RFC 7306 section 5, ambiguities.md part 2.
//
// Side b.a posts, side b.b executes: region `bm` of b.b holds the words, region `am` of b.a the
// sinks, which receive the old values. put_* writes a WQE into the send queue; ring_sq() announces
// all of them.
// hold_writes(true): the host accepts no write, so nothing is stored.
#include <algorithm>
#include <numeric>

#include "bench.hpp"

namespace rnic::tb {
namespace {

using spec::AdminOpcode;
using spec::AdminStatus;
using spec::Cause;
using spec::QpState;
using spec::WcOpcode;
using spec::WcStatus;
using spec::WrOpcode;

constexpr uint16_t kRights = 7 | spec::kAccessRemoteAtomic;

QpSetup extended() {
  QpSetup s;
  s.persist = true;
  return s;
}

struct AtomicTest : testing::Test {
  explicit AtomicTest(const Options& o = {})
      : b(o), p(b.connect(extended())), am(b.a.reg(1 << 16)), bm(b.b.reg(1 << 16, kRights)) {}

  // TO minus 0x10000000 is the bus address (Side::reg).
  static uint64_t bus(const Mr& m, uint64_t offset) { return m.address - 0x10000000 + offset; }
  static uint64_t word(const Side& s, const Mr& m, uint64_t offset = 0) {
    return base::load_le<uint64_t>(&s.memory[bus(m, offset)]);
  }
  static void set(Side& s, const Mr& m, uint64_t offset, uint64_t value) {
    base::store_le<uint64_t>(&s.memory[bus(m, offset)], value);
  }
  static Bytes operands(const spec::WqeSge& sink, uint64_t data, uint64_t mask = 0,
                        uint64_t compare = 0, uint64_t compare_mask = ~uint64_t{0}) {
    Bytes raw(spec::AtomicOperands::kBytes);
    spec::AtomicOperands{
        .sink = sink, .data = data, .mask = mask, .compare = compare, .compare_mask = compare_mask}
        .pack(raw);
    return raw;
  }
  static Bytes value_bytes(uint64_t value) {
    Bytes raw(8);
    base::store_le<uint64_t>(raw.data(), value);
    return raw;
  }
  /// Puts a FetchAdd into the send queue of a's QP `qpn`; its old value goes to am + sink.
  void put_add(uint16_t qpn, uint64_t sink, uint64_t target, uint64_t add, uint64_t mask = 0,
               uint8_t flags = kSignaled) {
    b.a.put_send(qpn,
                 wr(WrOpcode::kAtomicFetchAndAdd, static_cast<uint8_t>(flags | kInline),
                    bm.address + target, bm.stag),
                 {}, operands(sge(am, sink, 8), add, mask));
  }
  /// Puts a CmpSwap on bm + target into the send queue; its old value goes to am + sink.
  void put_swap(uint64_t sink, uint64_t target, uint64_t swap, uint64_t mask, uint64_t compare,
                uint64_t compare_mask) {
    b.a.put_send(p.a.qpn,
                 wr(WrOpcode::kAtomicCmpAndSwp, kSignaled | kInline, bm.address + target, bm.stag),
                 {}, operands(sge(am, sink, 8), swap, mask, compare, compare_mask));
  }
  /// Puts an Atomic Write to bm + target into the send queue.
  void put_write(uint64_t target, uint64_t value, uint8_t flags = kSignaled) {
    b.a.put_send(p.a.qpn,
                 wr(WrOpcode::kAtomicWrite, static_cast<uint8_t>(flags | kInline),
                    bm.address + target, bm.stag),
                 {}, value_bytes(value));
  }
  void expect_done(WcOpcode opcode, uint32_t byte_len = 8) {
    const spec::Cqe e = b.a.wait(p.a.cqn);
    EXPECT_EQ(e.status, WcStatus::kSuccess);
    EXPECT_EQ(e.opcode, opcode);
    EXPECT_EQ(e.byte_len, byte_len);
  }
  /// Repeats the command while it is in progress, as the driver does.
  AdminStatus modify(Side& s, uint16_t qpn, QpState to) {
    AdminStatus status{};
    do
      status = s.command(AdminOpcode::kModifyQp, qpn,
                         spec::AdminModifyArgs{.to_state = static_cast<uint8_t>(to)})
                   .status;
    while (status == AdminStatus::kInProgress);
    return status;
  }
  Bench b;
  Bench::Pair p;
  Mr am, bm;
};

// --- values

TEST_F(AtomicTest, FetchAddReturnsTheOldValue) {
  set(b.b, bm, 64, 0xffffffff);
  put_add(p.a.qpn, 8, 64, 1);
  b.a.ring_sq(p.a.qpn);
  expect_done(WcOpcode::kFetchAdd);
  EXPECT_EQ(word(b.a, am, 8), 0xffffffffU);
  EXPECT_EQ(word(b.b, bm, 64), 0x100000000U);
}

// a mask bit is the top bit of a field; the field's carry is dropped.
TEST_F(AtomicTest, FetchAddDropsTheCarryOfAField) {
  set(b.b, bm, 0, 0xffff0000ffff0001);
  put_add(p.a.qpn, 0, 0, 0x0001000100010001, 0x8000800080008000);
  b.a.ring_sq(p.a.qpn);
  expect_done(WcOpcode::kFetchAdd);
  EXPECT_EQ(word(b.b, bm), 0x0000000100000002U);
}

TEST_F(AtomicTest, CmpSwapStoresUnderItsMasks) {
  set(b.b, bm, 0, 0x1122334455667788);
  put_swap(0, 0, 0xaaaaaaaaaaaaaaaa, 0xff, 0x88, 0xff);  // matches in its last byte
  put_swap(8, 0, 0xbbbbbbbbbbbbbbbb, ~uint64_t{0}, 0x11223344556677aa, ~uint64_t{0});
  // The last compare value does not match.
  put_swap(16, 0, 0xcccccccccccccccc, ~uint64_t{0}, 0x1122334455667788, ~uint64_t{0});
  b.a.ring_sq(p.a.qpn);
  for (int i = 0; i < 3; ++i) expect_done(WcOpcode::kCompSwap);
  EXPECT_EQ(word(b.a, am, 0), 0x1122334455667788U);
  EXPECT_EQ(word(b.a, am, 8), 0x11223344556677aaU);
  EXPECT_EQ(word(b.a, am, 16), 0xbbbbbbbbbbbbbbbbU);
  EXPECT_EQ(word(b.b, bm), 0xbbbbbbbbbbbbbbbbU);
}

TEST_F(AtomicTest, AtomicWriteNeedsTheRightToWriteAlone) {
  const Mr plain = b.b.reg(4096);
  b.a.post_send(p.a.qpn,
                wr(WrOpcode::kAtomicWrite, kSignaled | kInline, plain.address + 8, plain.stag), {},
                value_bytes(0x0102030405060708));
  expect_done(WcOpcode::kAtomicWrite);
  EXPECT_EQ(word(b.b, plain, 8), 0x0102030405060708U);
}

TEST_F(AtomicTest, APushedOneIsTheSame) {
  set(b.b, bm, 0, 6);
  put_add(p.a.qpn, 0, 0, 1);
  b.a.push(p.a.qpn);
  expect_done(WcOpcode::kFetchAdd);
  EXPECT_EQ(word(b.a, am), 6U);
}

// Only the bus address must be aligned: this TO is not a multiple of 8.
TEST_F(AtomicTest, TheBusAddressIsAligned) {
  const Mr odd = b.b.reg_at(bus(bm, 0), 4096, kRights, 0, 0x20000004);
  set(b.b, bm, 16, 40);
  b.a.post_send(p.a.qpn,
                wr(WrOpcode::kAtomicFetchAndAdd, kSignaled | kInline, odd.address + 16, odd.stag),
                {}, operands(sge(am, 0, 8), 2));
  expect_done(WcOpcode::kFetchAdd);
  EXPECT_EQ(word(b.b, bm, 16), 42U);
}

// --- order on one QP

struct RandomAtomicTest : AtomicTest {
  static Options random_dma() {
    Options o;
    o.random_dma = true;
    return o;
  }
  RandomAtomicTest() : AtomicTest(random_dma()) {}
};

// ambiguities.md 2.2: an earlier Read fetches the old value, a later Read the new one.
TEST_F(RandomAtomicTest, StandsBetweenReads) {
  for (uint64_t round = 0; round < 20; ++round) {
    constexpr uint32_t kLong = 20000;
    const uint64_t target = kLong - 8;
    set(b.b, bm, target, round);
    const auto read = [&](uint64_t to, uint64_t from, uint32_t size) {
      b.a.put_send(p.a.qpn, wr(WrOpcode::kRdmaRead, kSignaled, bm.address + from, bm.stag),
                   {sge(am, to, size)});
    };
    read(0, 0, kLong);
    put_add(p.a.qpn, 30000, target, 100);
    read(30008, target, 8);
    put_write(target, 7000 + round);
    put_add(p.a.qpn, 30016, target, 1);
    b.a.ring_sq(p.a.qpn);
    for (int i = 0; i < 5; ++i) ASSERT_EQ(b.a.wait(p.a.cqn).status, WcStatus::kSuccess);
    EXPECT_EQ(word(b.a, am, target), round) << "the Read in front has seen the atomic";
    EXPECT_EQ(word(b.a, am, 30000), round);
    EXPECT_EQ(word(b.a, am, 30008), round + 100);
    EXPECT_EQ(word(b.a, am, 30016), 7000 + round);
    EXPECT_EQ(word(b.b, bm, target), 7001 + round);
  }
}

// earlier placements are in memory when the atomic reads.
TEST_F(AtomicTest, WaitsForEarlierPlacements) {
  set(b.a, am, 0, 500);
  b.b.hold_writes(true);
  b.a.put_send(p.a.qpn, wr(WrOpcode::kRdmaWrite, kSignaled, bm.address + 24, bm.stag),
               {sge(am, 0, 8)});
  put_add(p.a.qpn, 8, 24, 1);
  put_write(32, 9);
  b.a.ring_sq(p.a.qpn);
  b.clock.settle(3000);
  EXPECT_EQ(word(b.b, bm, 24), 0U);
  EXPECT_NE(b.b.device().waiting_for().find("earlier placements"), std::string::npos)
      << b.b.device().waiting_for();
  b.b.hold_writes(false);
  expect_done(WcOpcode::kRdmaWrite);
  expect_done(WcOpcode::kFetchAdd);
  expect_done(WcOpcode::kAtomicWrite);
  EXPECT_EQ(word(b.a, am, 8), 500U);
  EXPECT_EQ(word(b.b, bm, 24), 501U);
  EXPECT_EQ(word(b.b, bm, 32), 9U);
}

// A response is sent only after the store is accepted: while writes stall, no response is sent.
TEST_F(AtomicTest, IsAnsweredBehindItsStore) {
  b.b.hold_writes(true);
  put_add(p.a.qpn, 0, 0, 1);
  b.a.ring_sq(p.a.qpn);
  b.b.sent.clear();
  b.clock.settle(3000);
  EXPECT_TRUE(b.b.sent.empty());
  b.b.hold_writes(false);
  expect_done(WcOpcode::kFetchAdd);
}

TEST_F(AtomicTest, AFenceWaitsForTheResult) {
  b.b.hold_writes(true);
  put_add(p.a.qpn, 0, 0, 1);
  b.a.put_send(p.a.qpn,
               wr(WrOpcode::kRdmaWrite, kSignaled | kInline | kFence, bm.address + 64, bm.stag), {},
               Bytes(8, 1));
  b.a.ring_sq(p.a.qpn);
  b.clock.settle(3000);
  EXPECT_EQ(b.a.sent.size(), 1U);
  b.b.hold_writes(false);
  expect_done(WcOpcode::kFetchAdd);
  expect_done(WcOpcode::kRdmaWrite);
}

// All requests on QN 1 share ORD and IRD: with one slot of each they run one after another.
TEST(AtomicSlots, OneIsEnough) {
  Options o;
  o.sizes = spec::Sizes::minimum();
  struct Narrow : AtomicTest {
    explicit Narrow(const Options& options) : AtomicTest(options) {}
    void TestBody() override {
      QpSetup s = extended();
      s.ird = s.ord = 1;
      p = b.connect(s);
      for (uint64_t i = 0; i < 6; ++i) {
        put_add(p.a.qpn, 8 * i, 0, 1);
        put_write(8, i);
        b.a.put_send(p.a.qpn, wr(WrOpcode::kRdmaRead, kSignaled, bm.address, bm.stag),
                     {sge(am, 512 + 8 * i, 8)});
      }
      b.a.ring_sq(p.a.qpn);
      for (uint64_t i = 0; i < 6; ++i) {
        expect_done(WcOpcode::kFetchAdd);
        expect_done(WcOpcode::kAtomicWrite);
        expect_done(WcOpcode::kRdmaRead);
        EXPECT_EQ(word(b.a, am, 8 * i), i);
        EXPECT_EQ(word(b.a, am, 512 + 8 * i), i + 1);
      }
      EXPECT_EQ(word(b.b, bm, 8), 5U);
      b.clock.settle(100);
      EXPECT_EQ(b.a.device().waiting_for() + b.b.device().waiting_for(), "");
    }
  };
  Narrow(o).TestBody();
}

// --- several QPs

// across all QPs and all STags of the memory, no addition is lost.
TEST_F(RandomAtomicTest, TwoQpsAddToOneWord) {
  const auto q = b.connect(extended());
  const Mr again = b.b.reg_at(bus(bm, 0), 4096, kRights, 0, 0x30000000);
  constexpr uint64_t kEach = 30;
  for (uint64_t i = 0; i < kEach; ++i) {
    put_add(p.a.qpn, 8 * i, 40, 1);
    b.a.put_send(
        q.a.qpn,
        wr(WrOpcode::kAtomicFetchAndAdd, kSignaled | kInline, again.address + 40, again.stag), {},
        operands(sge(am, 4096 + 8 * i, 8), 1));
  }
  b.a.ring_sq(p.a.qpn);
  b.a.ring_sq(q.a.qpn);
  for (uint64_t i = 0; i < kEach; ++i) {
    EXPECT_EQ(b.a.wait(p.a.cqn).status, WcStatus::kSuccess);
    EXPECT_EQ(b.a.wait(q.a.cqn).status, WcStatus::kSuccess);
  }
  std::vector<uint64_t> seen;
  for (uint64_t i = 0; i < kEach; ++i) {
    seen.push_back(word(b.a, am, 8 * i));
    seen.push_back(word(b.a, am, 4096 + 8 * i));
    if (i != 0) {
      EXPECT_GT(word(b.a, am, 8 * i), word(b.a, am, 8 * (i - 1)));
    }
  }
  std::sort(seen.begin(), seen.end());
  std::vector<uint64_t> all(2 * kEach);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(seen, all);
  EXPECT_EQ(word(b.b, bm, 40), 2 * kEach);
  b.clock.settle(100);
  EXPECT_EQ(b.a.device().waiting_for() + b.b.device().waiting_for(), "");
}

struct SlowAtomicTest : AtomicTest {
  static Options slow_dma() {
    Options o;
    o.old_value_latency = 3000;
    return o;
  }
  SlowAtomicTest() : AtomicTest(slow_dma()) {}
};

// A request that waits for a lock blocks no request for another word. The read of an old value
// takes 3000 cycles: after 4500, one request for each of both words is done; after 7500, the second
// for word 0 as well.
TEST_F(SlowAtomicTest, ALockHoldsItsWordAlone) {
  const auto q = b.connect(extended()), r = b.connect(extended());
  put_add(p.a.qpn, 0, 0, 1);
  put_add(q.a.qpn, 8, 0, 1);
  put_add(r.a.qpn, 16, 1024, 1);
  for (const uint16_t qpn : {p.a.qpn, q.a.qpn, r.a.qpn}) b.a.ring_sq(qpn);
  b.clock.settle(4500);
  EXPECT_EQ(word(b.b, bm), 1U);
  EXPECT_EQ(word(b.b, bm, 1024), 1U);
  EXPECT_NE(b.b.device().waiting_for(), "");
  b.clock.settle(3000);
  EXPECT_EQ(word(b.b, bm), 2U);
}

// --- stops

// A QP fails while its request waits for a lock: the request has no effect.
TEST_F(SlowAtomicTest, AStopDropsWhatWaitsForALock) {
  const auto q = b.connect(extended());
  put_add(p.a.qpn, 0, 0, 1);
  b.a.ring_sq(p.a.qpn);
  b.clock.settle(500);
  put_add(q.a.qpn, 8, 0, 100);
  b.a.ring_sq(q.a.qpn);
  b.clock.settle(500);
  EXPECT_EQ(modify(b.b, q.b.qpn, QpState::kError), AdminStatus::kOk);
  EXPECT_EQ(b.a.wait(p.a.cqn).status, WcStatus::kSuccess);
  b.clock.settle();
  EXPECT_EQ(word(b.b, bm), 1U);
  EXPECT_EQ(b.b.device().waiting_for(), "");
}

// A request that has begun ends before the stop is acknowledged: the driver may then reuse its
// memory.
TEST_F(SlowAtomicTest, AStopWaitsForWhatHasBegun) {
  put_add(p.a.qpn, 0, 0, 1);
  b.a.ring_sq(p.a.qpn);
  b.clock.run([&] { return b.a.sent.size() == 1; });
  b.clock.settle(200);
  EXPECT_EQ(word(b.b, bm), 0U);
  EXPECT_EQ(modify(b.b, p.b.qpn, QpState::kError), AdminStatus::kOk);
  EXPECT_EQ(word(b.b, bm), 1U);
  set(b.b, bm, 0, 77);
  b.clock.settle();
  EXPECT_EQ(word(b.b, bm), 77U);
}

// The same at the requester: no result is stored after the response to the stop.
TEST_F(AtomicTest, AStopWaitsForAResult) {
  b.a.hold_writes(true);
  put_add(p.a.qpn, 0, 0, 1);
  set(b.b, bm, 0, 5);
  b.a.ring_sq(p.a.qpn);
  b.clock.settle(3000);  // its response has arrived, its result is not stored
  EXPECT_EQ(b.b.sent.size(), 1U);
  b.a.inject(p.conn_a, Bytes(24, 0));  // bad CRC
  b.clock.settle(1000);
  b.a.hold_writes(false);
  const spec::Cqe e = b.a.wait(p.a.cqn);
  EXPECT_EQ(e.status, WcStatus::kSuccess);
  EXPECT_EQ(word(b.a, am), 5U);
  b.clock.settle();
  EXPECT_EQ(b.a.query(p.a.qpn).state, QpState::kError);
}

// The peer's FIN arrives right after the response. The request succeeds, although its result is not
// in memory yet.
struct FinTest : AtomicTest {
  void expect_success() {
    b.a.ring_sq(p.a.qpn);
    b.clock.run([&] { return b.a.sent.size() == 1; });
    EXPECT_EQ(modify(b.a, p.a.qpn, QpState::kClosing), AdminStatus::kOk);
    b.a.hold_writes(true);
    b.clock.run([&] { return b.b.sent.size() == 1; });
    b.a.peer_closes(p.conn_a);
    b.clock.settle(3000);
    b.a.hold_writes(false);
    EXPECT_EQ(b.a.wait(p.a.cqn).status, WcStatus::kSuccess);
    EXPECT_EQ(word(b.a, am), 5U);
    b.clock.settle();
    EXPECT_EQ(b.a.query(p.a.qpn).cause, Cause::kNone);
  }
};
TEST_F(FinTest, BehindAReadResponse) {
  set(b.b, bm, 0, 5);
  b.a.put_send(p.a.qpn, wr(WrOpcode::kRdmaRead, kSignaled, bm.address, bm.stag), {sge(am, 0, 8)});
  expect_success();
}
TEST_F(FinTest, BehindAnAtomicResponse) {
  set(b.b, bm, 0, 5);
  put_add(p.a.qpn, 0, 0, 1);
  expect_success();
}

// Both sides close while the request is served: the FIN arrives right after the response.
TEST_F(SlowAtomicTest, BothSidesClose) {
  set(b.b, bm, 0, 5);
  put_add(p.a.qpn, 0, 0, 1);
  b.a.ring_sq(p.a.qpn);
  b.clock.settle(500);
  EXPECT_EQ(modify(b.a, p.a.qpn, QpState::kClosing), AdminStatus::kOk);
  EXPECT_EQ(modify(b.b, p.b.qpn, QpState::kClosing), AdminStatus::kOk);
  EXPECT_EQ(b.a.wait(p.a.cqn).status, WcStatus::kSuccess);
  EXPECT_EQ(word(b.a, am), 5U);
  b.clock.settle();
  EXPECT_EQ(b.a.query(p.a.qpn).cause, Cause::kNone);
  EXPECT_EQ(b.b.query(p.b.qpn).cause, Cause::kNone);
}

TEST_F(AtomicTest, AreCounted) {
  // Unit 9 of registers.yaml is atomic. The counters of a unit take 32 bytes.
  const auto items = [&](Side& s) { return s.read(spec::kCountItemsOffset + 9 * 32, 8); };
  const uint64_t before = items(b.b), mine = items(b.a);
  put_add(p.a.qpn, 0, 0, 1);
  put_write(8, 1);
  b.a.ring_sq(p.a.qpn);
  expect_done(WcOpcode::kFetchAdd);
  expect_done(WcOpcode::kAtomicWrite);
  EXPECT_EQ(items(b.b) - before, 2U);
  EXPECT_EQ(items(b.a) - mine, 1U);  // the store of the FetchAdd's result at its sink
}

}  // namespace
}  // namespace rnic::tb

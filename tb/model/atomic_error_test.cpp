// Atomics and Atomic Writes byte for byte, the reasons to refuse them on both sides, and the width
// of opcodes. requirements.md sections 5.4, 5.5, 5.8, 7 and 12.
//
// The test types the segments of the peer (wire.hpp): untagged(control, opcode, QN, MSN, MO) and
// tagged(control, opcode, STag, TO). Control 0x41 is a whole untagged message, 0xc1 a tagged one.
// Opcodes: 0x4a Atomic Request, 0x4b Atomic Response, 0x50 Atomic Write Request, 0x51 its Response.
// expect(segment, layer and type, code, cause): the Terminate that b must send. 0x01: RDMAP, remote
// protection error; 0x02: RDMAP, remote operation error; 0x12: DDP, untagged. The code is that of
// the cause (docs/gen/errors.md).
#include "bench.hpp"
#include "wire.hpp"

namespace rnic::tb {
namespace {

using spec::Cause;
using spec::QpState;
using spec::WcOpcode;
using spec::WcStatus;
using spec::WrOpcode;

constexpr uint16_t kRights = 7 | spec::kAccessRemoteAtomic;  // 7: see Side::reg
constexpr uint32_t kGoldenStag = 0x11223344;

// requirements.md section 12.
const char* const kReadRequest =
    "002e4141 00000000 00000001 00000001 00000000 aabbccdd 00000000 00001000"
    "00001000 11223344 00000000 00002000 3fdc639c";
const char* const kFetchAdd =
    "0046414a 00000000 00000001 00000002 00000000 00000000 00000007 11223344"
    "00000000 00002000 00000000 00000001 00000000 00000000 00000000 00000000"
    "ffffffff ffffffff ff49fdc8";
const char* const kAtomicResponse =
    "001e414b 00000000 00000003 00000001 00000000 00000007 00000000 00000029"
    "b9ebafe8";
const char* const kFlush =
    "0026414c 00000000 00000001 00000003 00000000 11223344 00001000 00000000"
    "00002000 00000003 40d568a0";
const char* const kFlushResponse = "0012414d 00000000 00000003 00000002 00000000 ac773ca4";
const char* const kAtomicWrite =
    "002a4150 00000000 00000001 00000005 00000000 11223344 00000008 00000000"
    "00003000 01020304 05060708 df054c24";
const char* const kAtomicWriteResponse = "00124151 00000000 00000003 00000004 00000000 1676ca56";

QpSetup extended(bool persist = true) {
  QpSetup s;
  s.persist = persist;
  return s;
}

/// The ULPDU of an FPDU: without length, pad and CRC.
Bytes ulpdu(const char* text) {
  const Bytes f = hex(text);
  const size_t n = size_t{f[0]} << 8 | f[1];
  return {f.begin() + 2, f.begin() + 2 + static_cast<std::ptrdiff_t>(n)};
}

/// 8 bytes, as the host stores the value.
Bytes le(uint64_t value) {
  Bytes raw(8);
  base::store_le<uint64_t>(raw.data(), value);
  return raw;
}
/// The inline data of an atomic's WQE.
Bytes operands(const spec::WqeSge& sink, uint64_t data, uint64_t mask = 0, uint64_t compare = 0,
               uint64_t compare_mask = ~uint64_t{0}) {
  Bytes raw(spec::AtomicOperands::kBytes);
  spec::AtomicOperands{
      .sink = sink, .data = data, .mask = mask, .compare = compare, .compare_mask = compare_mask}
      .pack(raw);
  return raw;
}

// --- golden bytes

// b must answer the golden requests with the golden responses. For that, its region needs the STag
// 0x11223344: the test searches a key of the permutation that gives this STag to a slot.
TEST(AtomicGolden, Responder) {
  struct Nobody final : model::Tpt::Out {
    void tpt_cmd_rsp(const spec::TptCmdRsp&) override {}
    void invalidated(const spec::Invalidated&) override {}
    void sq_local_done(const spec::SqLocalDone&) override {}
  } nobody;
  model::Tpt tpt(spec::Sizes{}, nobody);
  uint64_t key = 0;
  do {
    tpt.set_key(key += 0x9e3779b97f4a7c15);
  } while (tpt.invert(kGoldenStag >> 8) >= spec::Sizes{}.num_stags);

  Bench b;
  b.b.write64(0, spec::kStagKeyOffset, key);
  const auto p = b.connect(extended());
  const uint64_t buffer = b.b.alloc(8192), list = b.b.alloc(16);
  for (uint64_t i = 0; i < 2; ++i)
    base::store_le<uint64_t>(&b.b.memory[list + 8 * i], buffer + 4096 * i);
  const auto mr = b.b.command(
      spec::AdminOpcode::kCreateMr, tpt.invert(kGoldenStag >> 8),
      spec::AdminMrArgs{.pd = 0,
                        .key = kGoldenStag & 0xff,
                        .log_page = 12,
                        .rights = kRights | spec::kAccessFlushGlobal | spec::kAccessFlushPersistent,
                        .base_to = 0x2000,
                        .length = 8192,
                        .first_offset = 0,
                        .pbl_base = 9,
                        .page_list = list,
                        .pages = 2});
  ASSERT_EQ(spec::AdminMrResult::unpack(mr.result).stag, kGoldenStag);
  base::store_le<uint64_t>(&b.b.memory[buffer], 41);
  b.b.inject(p.conn_b, hex(kReadRequest));
  b.b.inject(p.conn_b, hex(kFetchAdd));
  b.b.inject(p.conn_b, hex(kFlush));
  // A masked CmpSwap takes MSN 4, which belongs to a Verify in requirements.md section 12.
  b.b.inject(p.conn_b,
             fpdu(hex("414a 00000000 00000001 00000004 00000000 00000002 89abcdef 11223344"
                      "00000000 00002000 00000000 0000ff00 00000000 0000ff00"
                      "00000000 0000002a 00000000 000000ff")));
  b.b.inject(p.conn_b, hex(kAtomicWrite));
  // a would answer b's responses with a Terminate: all its records are lost.
  b.a.tamper = [](model::LlpRecord&) { return false; };
  b.clock.settle();
  std::vector<Bytes> responses;  // on QN 3; bit 7 of byte 2 marks tagged ones: the Read Response
  for (const Bytes& f : b.b.sent)
    if ((f[2] & 0x80) == 0) responses.push_back(f);
  ASSERT_EQ(responses.size(), 4U) << b.b.device().waiting_for();
  EXPECT_EQ(responses[0], hex(kAtomicResponse));
  EXPECT_EQ(responses[1], hex(kFlushResponse));
  EXPECT_EQ(responses[2],
            fpdu(hex("414b 00000000 00000003 00000003 00000000 89abcdef 00000000 0000002a")));
  EXPECT_EQ(responses[3], hex(kAtomicWriteResponse));
  EXPECT_EQ(b.b.bytes(buffer, 8), (Bytes{0x2a, 0xff, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(b.b.bytes(buffer + 4096, 8), (Bytes{8, 7, 6, 5, 4, 3, 2, 1}));
}

// The Request Identifier is the MSN: 2 here, 7 in the vector.
TEST(AtomicGolden, Requester) {
  Bench b;
  const auto p = b.connect(extended());
  const Mr m = b.a.reg(4096);
  b.a.tamper = [](model::LlpRecord&) { return false; };
  const auto flags = static_cast<uint8_t>(kSignaled | kInline);
  b.a.put_send(p.a.qpn, wr(WrOpcode::kRdmaRead, kSignaled, 0x2000, kGoldenStag), {sge(m, 64, 0)});
  b.a.put_send(p.a.qpn, wr(WrOpcode::kAtomicFetchAndAdd, flags, 0x2000, kGoldenStag), {},
               operands(sge(m, 8, 8), 1, 0, 0x55, 0x66));  // the last two are ignored
  spec::SqWqe flush = wr(WrOpcode::kFlush, kSignaled, 0x2000, kGoldenStag);
  flush.length = 4096;
  flush.disposition = 3;
  b.a.put_send(p.a.qpn, flush, {});
  b.a.put_send(p.a.qpn, wr(WrOpcode::kAtomicCmpAndSwp, flags, 0x2008, kGoldenStag), {},
               operands(sge(m, 16, 8), 0x1111, 0x2222, 0x3333, 0x4444));
  b.a.put_send(p.a.qpn, wr(WrOpcode::kAtomicWrite, flags, 0x3000, kGoldenStag), {},
               le(0x0102030405060708));
  b.a.ring_sq(p.a.qpn);
  b.clock.settle();
  ASSERT_EQ(b.a.sent.size(), 5U);
  Bytes add = ulpdu(kFetchAdd);
  add[25] = 2;  // the low byte of the Request Identifier
  EXPECT_EQ(b.a.sent[1], fpdu(add));
  EXPECT_EQ(b.a.sent[2], hex(kFlush));
  EXPECT_EQ(b.a.sent[3],
            fpdu(hex("414a 00000000 00000001 00000004 00000000 00000002 00000004 11223344"
                     "00000000 00002008 00000000 00001111 00000000 00002222"
                     "00000000 00003333 00000000 00004444")));
  EXPECT_EQ(b.a.sent[4], hex(kAtomicWrite));
}

// --- refusals at the responder

class AtomicErrorTest : public testing::Test {
 protected:
  explicit AtomicErrorTest(bool persist = true) : p(b.connect(extended(persist))) {
    mine = b.b.reg(8192, kRights);
    EXPECT_EQ(b.b.command(spec::AdminOpcode::kCreatePd, 1).status, spec::AdminStatus::kOk);
    foreign = b.b.reg(8192, kRights, 1);
    plain = b.b.reg(8192);
    read_only = b.b.reg(8192, spec::kAccessRemoteRead | spec::kAccessRemoteAtomic);
    before = b.b.bytes(0, Side::kMemory);
    b.a.tamper = [](model::LlpRecord&) { return false; };  // b receives only what a test injects
  }
  static Bytes atomic(uint32_t stag, uint64_t to, uint8_t op = 0, uint32_t msn = 1) {
    return untagged(0x41, 0x4a, 1, msn, 0) + be(op, 4) + be(0x1234, 4) + be(stag, 4) + be(to, 8) +
           be(1, 8) + be(0, 8) + be(0, 8) + be(~uint64_t{0}, 8);
  }
  static Bytes write(uint32_t stag, uint64_t to, uint32_t length = 8) {
    return untagged(0x41, 0x50, 1, 1, 0) + be(stag, 4) + be(length, 4) + be(to, 8) + be(77, 8);
  }
  /// b must answer this ULPDU with a Terminate that contains only the ULPDU's DDP header (14 bytes
  /// if tagged, 18 if not), and must change no byte of its regions.
  void expect(const Bytes& segment, uint8_t layer_type, uint8_t code, Cause cause) {
    b.b.sent.clear();
    b.b.inject(p.conn_b, fpdu(segment));
    b.clock.settle();
    ASSERT_EQ(b.b.sent.size(), 1U) << b.b.device().waiting_for();
    const std::ptrdiff_t header = (segment[0] & 0x80) != 0 ? 14 : 18;
    EXPECT_EQ(b.b.sent[0], terminate(layer_type, code, {segment.begin(), segment.begin() + header},
                                     segment.size()));
    EXPECT_EQ(b.b.query(p.b.qpn).cause, cause) << to_string(b.b.query(p.b.qpn).cause);
    for (const Mr& m : {mine, foreign, plain, read_only}) {
      const auto at = static_cast<std::ptrdiff_t>(m.address - 0x10000000);
      EXPECT_EQ(b.b.bytes(m.address - 0x10000000, 8192),
                Bytes(before.begin() + at, before.begin() + at + 8192));
    }
    b.clock.settle(100);
    EXPECT_EQ(b.b.device().waiting_for(), "");
  }
  Bench b;
  Bench::Pair p;
  Mr mine, foreign, plain, read_only;
  Bytes before;
};

TEST_F(AtomicErrorTest, Stag) {
  expect(atomic(mine.stag ^ 0x8000, mine.address), 0x01, 0x00, Cause::kRdmapStag);
}
TEST_F(AtomicErrorTest, Assoc) {
  expect(atomic(foreign.stag, foreign.address), 0x01, 0x03, Cause::kRdmapAssoc);
}
TEST_F(AtomicErrorTest, Rights) {
  expect(atomic(plain.stag, plain.address), 0x01, 0x02, Cause::kRdmapRights);
}
TEST_F(AtomicErrorTest, Bounds) {
  expect(atomic(mine.stag, mine.address + 8188), 0x01, 0x01, Cause::kRdmapBounds);
}
TEST_F(AtomicErrorTest, Wrap) {
  expect(atomic(mine.stag, ~uint64_t{0} - 6), 0x01, 0x04, Cause::kRdmapWrap);
}
TEST_F(AtomicErrorTest, Misaligned) {
  expect(atomic(mine.stag, mine.address + 12), 0x02, 0x07, Cause::kRdmapLength);
}
// Misaligned across a page: two extents.
TEST_F(AtomicErrorTest, MisalignedAcrossAPage) {
  expect(atomic(mine.stag, mine.address + 4092), 0x02, 0x07, Cause::kRdmapLength);
}
// The TO is aligned, the bus address is not.
TEST_F(AtomicErrorTest, MisalignedOnTheBus) {
  const Mr odd = b.b.reg_at(mine.address - 0x10000000, 4096, kRights, 0, 0x20000004);
  expect(atomic(odd.stag, (odd.address + 8) & ~uint64_t{7}), 0x02, 0x07, Cause::kRdmapLength);
}
// Rights are checked before bounds, bounds before alignment.
TEST_F(AtomicErrorTest, OrderOfTheChecks) {
  expect(atomic(plain.stag, plain.address + 8190), 0x01, 0x02, Cause::kRdmapRights);
}
TEST_F(AtomicErrorTest, BoundsBeforeAlignment) {
  expect(atomic(mine.stag, mine.address + 8190), 0x01, 0x01, Cause::kRdmapBounds);
}
TEST_F(AtomicErrorTest, Unreadable) {
  b.b.poison[mine.address - 0x10000000] = spec::RdStatus::kPoisoned;
  expect(atomic(mine.stag, mine.address), 0x02, 0x07, Cause::kRdmapLength);
}
TEST_F(AtomicErrorTest, AOpCodeOne) {
  expect(atomic(mine.stag, mine.address, 1), 0x02, 0x06, Cause::kRdmapOpcode);
}
TEST_F(AtomicErrorTest, AOpCodeFifteen) {
  expect(atomic(mine.stag, mine.address, 15), 0x02, 0x06, Cause::kRdmapOpcode);
}
TEST_F(AtomicErrorTest, Short) {
  Bytes s = atomic(mine.stag, mine.address);
  s.pop_back();
  expect(s, 0x02, 0x07, Cause::kRdmapLength);
}
TEST_F(AtomicErrorTest, Long) {
  expect(atomic(mine.stag, mine.address) + Bytes(1, 0), 0x02, 0x07, Cause::kRdmapLength);
}
TEST_F(AtomicErrorTest, NotLast) {
  Bytes s = atomic(mine.stag, mine.address);
  s[0] = 0x01;  // control without Last
  expect(s, 0x02, 0x07, Cause::kRdmapLength);
}
TEST_F(AtomicErrorTest, OnQueueZero) {
  Bytes s = atomic(mine.stag, mine.address);
  s[9] = 0;  // the low byte of QN
  b.b.post_recv(p.b.qpn, {sge(plain, 0, 64)});
  b.b.post_recv(p.b.qpn, {sge(plain, 0, 256)});
  s.resize(18);  // the DDP header alone
  expect(s, 0x02, 0x06, Cause::kRdmapOpcode);
}
TEST_F(AtomicErrorTest, WriteStag) {
  expect(write(mine.stag ^ 0x8000, mine.address), 0x01, 0x00, Cause::kRdmapStag);
}
TEST_F(AtomicErrorTest, WriteRights) {
  expect(write(read_only.stag, read_only.address), 0x01, 0x02, Cause::kRdmapRights);
}
TEST_F(AtomicErrorTest, WriteMisaligned) {
  expect(write(mine.stag, mine.address + 4), 0x02, 0x07, Cause::kRdmapLength);
}
TEST_F(AtomicErrorTest, WriteLengthField) {
  expect(write(mine.stag, mine.address, 4), 0x02, 0x07, Cause::kRdmapLength);
}
TEST_F(AtomicErrorTest, WriteShort) {
  Bytes s = write(mine.stag, mine.address);
  s.pop_back();
  expect(s, 0x02, 0x07, Cause::kRdmapLength);
}
TEST_F(AtomicErrorTest, WriteInvalidatesNothing) {
  Bytes s = write(mine.stag, mine.address);
  s[5] = 1;  // the low byte of Invalidate STag
  expect(s, 0x02, 0x07, Cause::kRdmapLength);
}

// Requests after a refused request on QN 1 are not executed (ambiguities.md 2.3).
TEST_F(AtomicErrorTest, NothingBehindARefusal) {
  b.b.inject(p.conn_b, fpdu(atomic(plain.stag, plain.address, 0, 1)));
  b.b.inject(p.conn_b, fpdu(atomic(mine.stag, mine.address, 0, 2)));
  b.clock.settle();
  EXPECT_EQ(b.b.bytes(mine.address - 0x10000000, 8), Bytes(8, 0));
  EXPECT_EQ(b.b.query(p.b.qpn).cause, Cause::kRdmapRights);
}

// The ninth request with an IRD of 8 finds no buffer: Terminate 1/2/02.
TEST_F(AtomicErrorTest, IrdExceeded) {
  b.b.hold_writes(true);  // no response is sent
  for (uint32_t i = 1; i <= 8; ++i)
    b.b.inject(p.conn_b, fpdu(atomic(mine.stag, mine.address, 0, i)));
  b.clock.settle(2000);
  EXPECT_TRUE(b.b.sent.empty());
  const Bytes s = atomic(mine.stag, mine.address, 0, 9);
  b.b.inject(p.conn_b, fpdu(s));
  b.clock.settle(2000);
  ASSERT_EQ(b.b.sent.size(), 1U);
  EXPECT_EQ(b.b.sent[0], terminate(0x12, 0x02, {s.begin(), s.begin() + 18}, s.size()));
  b.b.hold_writes(false);
  b.clock.settle();
  EXPECT_EQ(b.b.query(p.b.qpn).state, QpState::kError);
  EXPECT_EQ(b.b.device().waiting_for(), "");
}

// --- opcodes of five bits

// 0x20 of the RDMAP control byte is reserved and ignored. (0x10 is the fifth bit of opcodes, if
// `persist` is agreed.)
TEST_F(AtomicErrorTest, TheHigherReservedBitIsIgnored) {
  Bytes s = write(mine.stag, mine.address);
  s[1] = 0x70;  // 0x50, Atomic Write Request, and the reserved bit
  b.b.inject(p.conn_b, fpdu(s));
  b.clock.settle();
  ASSERT_EQ(b.b.sent.size(), 1U);
  EXPECT_EQ(b.b.sent[0], fpdu(untagged(0x41, 0x51, 3, 1, 0)));
}
TEST_F(AtomicErrorTest, TaggedAtomicWrite) {
  expect(tagged(0xc1, 0x50, mine.stag, mine.address) + Bytes(8, 1), 0x02, 0x06,
         Cause::kRdmapOpcode);
}
TEST_F(AtomicErrorTest, UnknownWithBitFour) {
  expect(untagged(0x41, 0x5c, 1, 1, 0) + Bytes(20, 0), 0x02, 0x06, Cause::kRdmapOpcode);
}
TEST_F(AtomicErrorTest, ResponseOnQueueOne) {
  expect(untagged(0x41, 0x51, 1, 1, 0) + Bytes(28, 0), 0x02, 0x06, Cause::kRdmapOpcode);
}

/// Without `persist`: opcodes have four bits, and there are no atomics.
struct AtomicOffTest : AtomicErrorTest {
  AtomicOffTest() : AtomicErrorTest(false) {}
};
TEST_F(AtomicOffTest, Atomic) {
  expect(atomic(mine.stag, mine.address), 0x02, 0x06, Cause::kRdmapOpcode);
}
TEST_F(AtomicOffTest, AtomicWriteIsAnUntaggedWrite) {
  expect(write(mine.stag, mine.address), 0x02, 0x06, Cause::kRdmapOpcode);
}
TEST_F(AtomicOffTest, Response) {
  expect(untagged(0x41, 0x4b, 3, 1, 0) + Bytes(12, 0), 0x12, 0x01, Cause::kDdpUntaggedQn);
}
TEST_F(AtomicOffTest, BitFourIsIgnored) {
  const Bytes s = tagged(0xc1, 0x50, mine.stag, mine.address) + Bytes(8, 1);  // an RDMA Write
  b.b.inject(p.conn_b, fpdu(s));
  b.clock.settle();
  EXPECT_EQ(b.b.bytes(mine.address - 0x10000000, 8), Bytes(8, 1));
  EXPECT_TRUE(b.b.sent.empty());
}
TEST_F(AtomicOffTest, PostedOnes) {
  b.a.post_send(p.a.qpn, wr(WrOpcode::kAtomicWrite, kSignaled | kInline, mine.address, mine.stag),
                {}, le(1));
  const spec::Cqe e = b.a.wait(p.a.cqn);
  EXPECT_EQ(e.status, WcStatus::kLocQpOpErr);
  EXPECT_EQ(e.opcode, WcOpcode::kAtomicWrite);
}

// --- refusals at the requester

class AtomicAnswerTest : public testing::Test {
 protected:
  AtomicAnswerTest() : p(b.connect(extended())), am(b.a.reg(8192)) {
    // The link loses all records: a receives only what the test injects, and b receives nothing.
    b.a.tamper = b.b.tamper = [](model::LlpRecord&) { return false; };
  }
  static constexpr auto kFlags = static_cast<uint8_t>(kSignaled | kInline);
  void post_add(const spec::WqeSge& sink) {
    b.a.post_send(p.a.qpn, wr(WrOpcode::kAtomicFetchAndAdd, kFlags, 0x2000, kGoldenStag), {},
                  operands(sink, 1));
    b.clock.settle(2000);
  }
  static Bytes response(uint32_t id, uint64_t value = 41) {
    return untagged(0x41, 0x4b, 3, 1, 0) + be(id, 4) + be(value, 8);
  }
  /// a answers with a Terminate, and its request is flushed.
  void expect(const Bytes& segment, uint8_t code, Cause cause) {
    b.a.sent.clear();
    b.a.inject(p.conn_a, fpdu(segment));
    b.clock.settle();
    ASSERT_EQ(b.a.sent.size(), 1U);
    EXPECT_EQ(b.a.sent[0],
              terminate(0x02, code, {segment.begin(), segment.begin() + 18}, segment.size()));
    EXPECT_EQ(b.a.query(p.a.qpn).cause, cause);
    while (const auto e = b.a.poll(p.a.cqn)) EXPECT_EQ(e->status, WcStatus::kWrFlushErr);
    b.clock.settle(100);
    EXPECT_EQ(b.a.device().waiting_for(), "");
  }
  Bench b;
  Bench::Pair p;
  Mr am;
};

// The golden response has identifier 7, so seven requests are outstanding, of which six are
// answered first.
TEST_F(AtomicAnswerTest, Golden) {
  for (uint32_t i = 1; i <= 7; ++i) post_add(sge(am, 8 * i, 8));
  for (uint32_t i = 1; i <= 6; ++i) {
    Bytes r = response(i, i);
    r[13] = static_cast<uint8_t>(i);  // MSN
    b.a.inject(p.conn_a, fpdu(r));
  }
  Bytes last = ulpdu(kAtomicResponse);
  last[13] = 7;
  b.a.inject(p.conn_a, fpdu(last));
  for (uint32_t i = 1; i <= 7; ++i) EXPECT_EQ(b.a.wait(p.a.cqn).status, WcStatus::kSuccess);
  for (uint32_t i = 1; i <= 7; ++i)
    EXPECT_EQ(b.a.bytes(am.address - 0x10000000 + 8 * i, 8), le(i < 7 ? i : 41));
}
TEST_F(AtomicAnswerTest, AtomicWriteGolden) {
  for (int i = 0; i < 4; ++i)
    b.a.post_send(p.a.qpn, wr(WrOpcode::kAtomicWrite, kFlags, 0x3000, kGoldenStag), {}, le(1));
  b.clock.settle(2000);
  for (uint32_t i = 1; i <= 3; ++i) b.a.inject(p.conn_a, fpdu(untagged(0x41, 0x51, 3, i, 0)));
  b.a.inject(p.conn_a, hex(kAtomicWriteResponse));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(b.a.wait(p.a.cqn).status, WcStatus::kSuccess);
}
TEST_F(AtomicAnswerTest, Unasked) { expect(response(1), 0x06, Cause::kRdmapOpcode); }
TEST_F(AtomicAnswerTest, OfAnotherIdentifier) {
  post_add(sge(am, 0, 8));
  expect(response(2), 0x07, Cause::kRdmapLength);
  EXPECT_EQ(b.a.bytes(am.address - 0x10000000, 8), Bytes(8, 0));
}
TEST_F(AtomicAnswerTest, OfAnotherKind) {
  post_add(sge(am, 0, 8));
  expect(untagged(0x41, 0x51, 3, 1, 0), 0x06, Cause::kRdmapOpcode);
}
TEST_F(AtomicAnswerTest, ToAFlush) {
  spec::SqWqe flush = wr(WrOpcode::kFlush, kSignaled, 0x2000, kGoldenStag);
  flush.length = 64;
  flush.disposition = 1;
  b.a.post_send(p.a.qpn, flush, {});
  b.clock.settle(2000);
  expect(response(1), 0x06, Cause::kRdmapOpcode);
}
TEST_F(AtomicAnswerTest, Short) {
  post_add(sge(am, 0, 8));
  Bytes r = response(1);
  r.pop_back();
  expect(r, 0x07, Cause::kRdmapLength);
}
TEST_F(AtomicAnswerTest, AtomicWriteResponseWithBytes) {
  b.a.post_send(p.a.qpn, wr(WrOpcode::kAtomicWrite, kFlags, 0x3000, kGoldenStag), {}, le(1));
  b.clock.settle(2000);
  expect(untagged(0x41, 0x51, 3, 1, 0) + Bytes(1, 0), 0x07, Cause::kRdmapLength);
}

class AtomicSinkTest : public AtomicAnswerTest {
 protected:
  /// The response arrives, but its sink is refused: the request ends with loc_prot_err.
  void expect_refused(const spec::WqeSge& sink) {
    post_add(sink);
    post_add(sge(am, 64, 8));
    b.a.inject(p.conn_a, fpdu(response(1)));
    const spec::Cqe e = b.a.wait(p.a.cqn);
    EXPECT_EQ(e.status, WcStatus::kLocProtErr);
    EXPECT_EQ(e.opcode, WcOpcode::kFetchAdd);
    EXPECT_EQ(b.a.wait(p.a.cqn).status, WcStatus::kWrFlushErr);
    EXPECT_EQ(b.a.bytes(am.address - 0x10000000, 64), Bytes(64, 0));
    b.clock.settle();
    EXPECT_EQ(b.a.query(p.a.qpn).cause, Cause::kLocalCatastrophic);
    EXPECT_EQ(b.a.device().waiting_for(), "");
  }
};
TEST_F(AtomicSinkTest, Rights) {
  const Mr read_only = b.a.reg(4096, spec::kAccessRemoteRead);
  expect_refused(sge(read_only, 0, 8));
}
TEST_F(AtomicSinkTest, Bounds) { expect_refused(sge(am, 8188, 8)); }
TEST_F(AtomicSinkTest, Misaligned) { expect_refused(sge(am, 12, 8)); }

// --- malformed WQEs

class AtomicWqeTest : public AtomicAnswerTest {
 protected:
  void expect_malformed(const spec::SqWqe& w, const Bytes& data, WcOpcode opcode) {
    b.a.post_send(p.a.qpn, w, {}, data);
    const spec::Cqe e = b.a.wait(p.a.cqn);
    EXPECT_EQ(e.status, WcStatus::kLocQpOpErr);
    EXPECT_EQ(e.opcode, opcode);
  }
};
TEST_F(AtomicWqeTest, NotInline) {
  spec::SqWqe w = wr(WrOpcode::kAtomicFetchAndAdd, kSignaled, 0x2000, kGoldenStag);
  w.length = 48;
  w.units = 2;
  expect_malformed(w, {}, WcOpcode::kFetchAdd);
}
TEST_F(AtomicWqeTest, OfAnotherLength) {
  Bytes data = operands(sge(am, 0, 8), 1);
  data.resize(40);
  expect_malformed(wr(WrOpcode::kAtomicCmpAndSwp, kFlags, 0x2000, kGoldenStag), data,
                   WcOpcode::kCompSwap);
}
TEST_F(AtomicWqeTest, SinkOfFourBytes) {
  expect_malformed(wr(WrOpcode::kAtomicFetchAndAdd, kFlags, 0x2000, kGoldenStag),
                   operands(sge(am, 0, 4), 1), WcOpcode::kFetchAdd);
}
TEST_F(AtomicWqeTest, AtomicWriteOfFourBytes) {
  expect_malformed(wr(WrOpcode::kAtomicWrite, kFlags, 0x2000, kGoldenStag), Bytes(4, 0),
                   WcOpcode::kAtomicWrite);
}

// The peer's Terminate names the request by its MSN.
TEST(AtomicTerminate, NamesTheRequest) {
  Bench b;
  const auto p = b.connect(extended());
  const Mr am = b.a.reg(4096), plain = b.b.reg(4096), good = b.b.reg(4096, kRights);
  const auto flags = static_cast<uint8_t>(kSignaled | kInline);
  b.a.put_send(p.a.qpn, wr(WrOpcode::kAtomicFetchAndAdd, flags, good.address, good.stag), {},
               operands(sge(am, 0, 8), 1));
  b.a.put_send(p.a.qpn, wr(WrOpcode::kAtomicFetchAndAdd, flags, plain.address, plain.stag), {},
               operands(sge(am, 8, 8), 1));
  b.a.put_send(p.a.qpn, wr(WrOpcode::kAtomicFetchAndAdd, flags, good.address, good.stag), {},
               operands(sge(am, 16, 8), 1));
  b.a.ring_sq(p.a.qpn);
  EXPECT_EQ(b.a.wait(p.a.cqn).status, WcStatus::kSuccess);
  const spec::Cqe e = b.a.wait(p.a.cqn);
  EXPECT_EQ(e.status, WcStatus::kRemAccessErr);
  EXPECT_EQ(e.opcode, WcOpcode::kFetchAdd);
  EXPECT_EQ(b.a.wait(p.a.cqn).status, WcStatus::kWrFlushErr);
  EXPECT_EQ(base::load_le<uint64_t>(&b.b.memory[good.address - 0x10000000]), 1U);
}

}  // namespace
}  // namespace rnic::tb

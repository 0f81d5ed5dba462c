// Errors of the contract: the exact bytes of the Terminate for each check, and the reports to both
// hosts.
//
// The test types the segments of the peer (wire.hpp): tagged(control, opcode, STag, TO) and
// untagged(control, opcode, QN, MSN, MO). Control: 0xc1 a whole tagged message, 0x41 an untagged
// one; the low two bits are the DDP version, 1. Opcodes: 0x40 Write, 0x41 Read Request, 0x42 Read
// Response, 0x43 Send. terminate(layer and type, code, header, length): the expected answer, with
// the DDP header and the length of the ULPDU. A tagged header has 14 bytes, an untagged one 18, so
// 5 bytes of payload make 19 and 23.
#include "bench.hpp"
#include "mpa/crc32c.hpp"
#include "wire.hpp"

namespace rnic::tb {
namespace {

using spec::Cause;
using spec::QpState;
using spec::WcStatus;
using spec::WrOpcode;

constexpr uint64_t kTo = 0x10000000;

class ErrorTest : public testing::Test {
 protected:
  ErrorTest() : p(b.connect()) {
    mine = b.b.reg(8192);
    foreign_pd = 1;
    EXPECT_EQ(b.b.command(spec::AdminOpcode::kCreatePd, 1).status, spec::AdminStatus::kOk);
    foreign = b.b.reg(8192, 7, 1);
    local_only = b.b.reg(8192, spec::kAccessLocalWrite);
    read_only = b.b.reg(8192, spec::kAccessRemoteRead);
    b.a.tamper = [this](model::LlpRecord& r) {  // all records of a are lost: the test injects
      (void)r;
      return false;
    };
  }
  /// b receives `record` as from the peer. b answers with exactly `expected`, and its QP ends in
  /// error for `cause`.
  void expect(const Bytes& record, const Bytes& expected, Cause cause, bool damaged = false) {
    b.b.sent.clear();
    b.b.inject(p.conn_b, record, damaged);
    b.clock.settle();
    ASSERT_EQ(b.b.sent.size(), 1U) << b.b.device().waiting_for();
    EXPECT_EQ(b.b.sent[0], expected);
    const auto q = b.b.query(p.b.qpn);
    EXPECT_EQ(q.state, QpState::kError);
    EXPECT_EQ(q.cause, cause) << to_string(q.cause);
    EXPECT_EQ(q.drained, 1);
    bool told = false;
    while (const auto e = b.b.poll_event())
      told = told || (e->kind == spec::EqeType::kQp && e->object == p.b.qpn);
    EXPECT_TRUE(told) << "no event of the QP";
    EXPECT_TRUE(b.b.ends[p.conn_b].local_fin) << "no FIN after the Terminate";
    b.clock.settle(100);
    EXPECT_EQ(b.b.device().waiting_for(), "");
  }
  Bench b;
  Bench::Pair p;
  Mr mine, foreign, local_only, read_only;
  uint16_t foreign_pd = 0;
};

TEST_F(ErrorTest, Crc) {
  Bytes f = fpdu(tagged(0xc1, 0x40, mine.stag, mine.address) + Bytes(16, 1));
  f[20] ^= 1;
  expect(f, terminate(0x20, 0x02), Cause::kMpaCrc);
}
TEST_F(ErrorTest, DamagedRecord) {
  expect(fpdu(tagged(0xc1, 0x40, mine.stag, mine.address) + Bytes(16, 1)), terminate(0x20, 0x02),
         Cause::kMpaCrc, true);
}
TEST_F(ErrorTest, RecordLength) {
  Bytes f = fpdu(tagged(0xc1, 0x40, mine.stag, mine.address) + Bytes(16, 1));
  f.resize(f.size() - 4);
  f[1] = static_cast<uint8_t>(f[1] + 8);  // longer than the record
  const uint32_t crc = model::crc32c(f);
  for (int i = 0; i < 4; ++i) f.push_back(static_cast<uint8_t>(crc >> (8 * i)));
  expect(f, terminate(0x20, 0x03), Cause::kMpaMarker);
}
// The FPDU follows the marker at position 0 directly, so the marker must hold 0. It holds 4.
TEST(Marker, ThatPointsElsewhere) {
  Bench b;
  QpSetup s;
  s.markers = true;
  const auto p = b.connect(s);
  const Mr m = b.b.reg(4096);
  const auto with_crc = [](Bytes f) {  // the CRC includes the marker at position 0
    f.resize(f.size() - 4);
    const uint32_t crc = model::crc32c(f);
    for (int i = 0; i < 4; ++i) f.push_back(static_cast<uint8_t>(crc >> (8 * i)));
    return f;
  };
  const Bytes f = fpdu(tagged(0xc1, 0x40, m.stag, m.address) + Bytes(16, 1));
  b.b.inject(p.conn_b, with_crc(Bytes{0, 0, 0, 4} + f));
  b.clock.settle();
  ASSERT_EQ(b.b.sent.size(), 1U);
  EXPECT_EQ(b.b.sent[0], with_crc(Bytes(4, 0) + terminate(0x20, 0x03)));
  EXPECT_EQ(b.b.query(p.b.qpn).cause, Cause::kMpaMarker);
}
TEST_F(ErrorTest, TaggedVersion) {
  const Bytes h = tagged(0xc2, 0x40, mine.stag, mine.address);
  expect(fpdu(h + Bytes(5, 1)), terminate(0x11, 0x04, h, 19), Cause::kDdpTaggedVersion);
}
TEST_F(ErrorTest, TaggedStag) {
  const Bytes h = tagged(0xc1, 0x40, mine.stag ^ 0x100, mine.address);
  expect(fpdu(h + Bytes(5, 1)), terminate(0x11, 0x00, h, 19), Cause::kDdpTaggedStag);
}
TEST_F(ErrorTest, TaggedKeyByte) {
  const Bytes h = tagged(0xc1, 0x40, mine.stag ^ 1, mine.address);
  expect(fpdu(h + Bytes(5, 1)), terminate(0x11, 0x00, h, 19), Cause::kDdpTaggedStag);
}
TEST_F(ErrorTest, TaggedRights) {
  const Bytes h = tagged(0xc1, 0x40, local_only.stag, local_only.address);
  expect(fpdu(h + Bytes(5, 1)), terminate(0x11, 0x00, h, 19), Cause::kDdpTaggedStag);
}
TEST_F(ErrorTest, TaggedAssoc) {
  const Bytes h = tagged(0xc1, 0x40, foreign.stag, foreign.address);
  expect(fpdu(h + Bytes(5, 1)), terminate(0x11, 0x02, h, 19), Cause::kDdpTaggedAssoc);
}
TEST_F(ErrorTest, TaggedBounds) {
  const Bytes h = tagged(0xc1, 0x40, mine.stag, mine.address + 8188);
  expect(fpdu(h + Bytes(5, 1)), terminate(0x11, 0x01, h, 19), Cause::kDdpTaggedBounds);
}
TEST_F(ErrorTest, TaggedWrap) {
  const Bytes h = tagged(0xc1, 0x40, mine.stag, ~uint64_t{0} - 2);
  expect(fpdu(h + Bytes(5, 1)), terminate(0x11, 0x03, h, 19), Cause::kDdpTaggedWrap);
}
TEST_F(ErrorTest, TaggedEmptyIsNotChecked) {
  b.b.inject(p.conn_b, fpdu(tagged(0xc1, 0x40, 0x12345678, 99)));
  b.clock.settle();
  EXPECT_TRUE(b.b.sent.empty());
  EXPECT_EQ(b.b.query(p.b.qpn).state, QpState::kRts);
}
TEST_F(ErrorTest, UntaggedVersion) {
  const Bytes h = untagged(0x40, 0x43, 0, 1, 0);
  expect(fpdu(h + Bytes(5, 1)), terminate(0x12, 0x06, h, 23), Cause::kDdpUntaggedVersion);
}
TEST_F(ErrorTest, UntaggedQn) {
  const Bytes h = untagged(0x41, 0x43, 3, 1, 0);
  expect(fpdu(h + Bytes(5, 1)), terminate(0x12, 0x01, h, 23), Cause::kDdpUntaggedQn);
}
TEST_F(ErrorTest, UntaggedMsn) {
  const Bytes h = untagged(0x41, 0x43, 0, 2, 0);
  expect(fpdu(h + Bytes(5, 1)), terminate(0x12, 0x03, h, 23), Cause::kDdpUntaggedMsn);
}
TEST_F(ErrorTest, UntaggedMo) {
  const Bytes h = untagged(0x41, 0x43, 0, 1, 4);
  expect(fpdu(h + Bytes(5, 1)), terminate(0x12, 0x04, h, 23), Cause::kDdpUntaggedMo);
}
TEST_F(ErrorTest, NoBuffer) {
  const Bytes h = untagged(0x41, 0x43, 0, 1, 0);
  expect(fpdu(h + Bytes(5, 1)), terminate(0x12, 0x02, h, 23), Cause::kDdpUntaggedNoBuffer);
}
TEST_F(ErrorTest, TooLong) {
  b.b.post_recv(p.b.qpn, {sge(mine, 0, 4)});
  b.b.post_recv(p.b.qpn, {sge(mine, 0, 4)});
  const Bytes h = untagged(0x41, 0x43, 0, 1, 0);
  expect(fpdu(h + Bytes(5, 1)), terminate(0x12, 0x05, h, 23), Cause::kDdpUntaggedTooLong);
  const auto e = b.b.wait(p.b.cqn);
  EXPECT_EQ(e.status, WcStatus::kLocLenErr);
  EXPECT_EQ(e.index, 0);
  const auto f = b.b.wait(p.b.cqn);
  EXPECT_EQ(f.status, WcStatus::kWrFlushErr);
  EXPECT_EQ(f.index, 2);
  EXPECT_EQ(f.is_recv, 1);
  EXPECT_FALSE(b.b.poll(p.b.cqn));
}
TEST_F(ErrorTest, ReceiveKeyIsLocal) {
  b.b.post_recv(p.b.qpn, {sge(read_only, 0, 64)});
  expect(fpdu(untagged(0x41, 0x43, 0, 1, 0) + Bytes(5, 1)), terminate(0x00, 0x00),
         Cause::kLocalCatastrophic);
  EXPECT_EQ(b.b.wait(p.b.cqn).status, WcStatus::kLocProtErr);
  EXPECT_FALSE(b.b.poll(p.b.cqn));
}
// The first failing piece of a receive decides, even if later pieces are good: nothing is placed.
TEST_F(ErrorTest, ReceiveKeyOfTheFirstPiece) {
  const Bytes before = b.b.bytes(mine.address - kTo, 64);
  b.b.post_recv(p.b.qpn, {sge(read_only, 0, 3), sge(mine, 0, 64)});
  expect(fpdu(untagged(0x41, 0x43, 0, 1, 0) + Bytes(5, 1)), terminate(0x00, 0x00),
         Cause::kLocalCatastrophic);
  EXPECT_EQ(b.b.wait(p.b.cqn).status, WcStatus::kLocProtErr);
  EXPECT_EQ(b.b.bytes(mine.address - kTo, 64), before);
}
TEST_F(ErrorTest, RdmapVersion) {
  const Bytes h = tagged(0xc1, 0x80, mine.stag, mine.address);
  expect(fpdu(h + Bytes(5, 1)), terminate(0x02, 0x05, h, 19), Cause::kRdmapVersion);
}
TEST_F(ErrorTest, OpcodeUnknown) {
  const Bytes h = tagged(0xc1, 0x4a, mine.stag, mine.address);
  expect(fpdu(h + Bytes(5, 1)), terminate(0x02, 0x06, h, 19), Cause::kRdmapOpcode);
}
TEST_F(ErrorTest, OpcodeOnWrongQueue) {
  const Bytes h = untagged(0x41, 0x41, 0, 1, 0);
  b.b.post_recv(p.b.qpn, {sge(mine, 0, 64)});
  expect(fpdu(h + Bytes(28, 0)), terminate(0x02, 0x06, h, 46), Cause::kRdmapOpcode);
  EXPECT_EQ(b.b.wait(p.b.cqn).status, WcStatus::kWrFlushErr);
}
TEST_F(ErrorTest, ReadRequestLength) {
  const Bytes h = untagged(0x41, 0x41, 1, 1, 0);
  expect(fpdu(h + Bytes(27, 0)), terminate(0x02, 0x07, h, 45), Cause::kRdmapLength);
}
TEST_F(ErrorTest, ReadResponseUnasked) {
  const Bytes h = tagged(0xc1, 0x42, mine.stag, mine.address);
  expect(fpdu(h + Bytes(5, 1)), terminate(0x02, 0x06, h, 19), Cause::kRdmapOpcode);
}

class ReadErrorTest : public ErrorTest {
 protected:
  /// A Read Request with this source, a ULPDU of 46 bytes. The Terminate also carries its RDMAP
  /// header.
  void request(uint32_t source_stag, uint64_t source_to, uint8_t code, Cause cause,
               uint32_t size = 100) {
    const Bytes h = untagged(0x41, 0x41, 1, 1, 0) + be(0xaabbccdd, 4) + be(0x1000, 8) +
                    be(size, 4) + be(source_stag, 4) + be(source_to, 8);
    expect(fpdu(h), terminate(0x01, code, h, 46, true), cause);
  }
};
TEST_F(ReadErrorTest, Stag) { request(mine.stag ^ 0x8000, mine.address, 0x00, Cause::kRdmapStag); }
TEST_F(ReadErrorTest, Assoc) { request(foreign.stag, foreign.address, 0x03, Cause::kRdmapAssoc); }
TEST_F(ReadErrorTest, Rights) {
  request(local_only.stag, local_only.address, 0x02, Cause::kRdmapRights);
}
TEST_F(ReadErrorTest, Bounds) {
  request(mine.stag, mine.address + 8100, 0x01, Cause::kRdmapBounds);
}
TEST_F(ReadErrorTest, Wrap) { request(mine.stag, ~uint64_t{0} - 5, 0x04, Cause::kRdmapWrap); }

// requirements.md section 12: the Terminate of 0/1/01 for the Read Request there, byte for byte.
// The test searches a key of the permutation that gives STag 0x11223344 to a slot of the table. The
// region is too short for the request.
TEST(Golden, TerminateOfARead) {
  struct Nobody final : model::Tpt::Out {
    void tpt_cmd_rsp(const spec::TptCmdRsp&) override {}
    void invalidated(const spec::Invalidated&) override {}
    void sq_local_done(const spec::SqLocalDone&) override {}
  } nobody;
  model::Tpt tpt(spec::Sizes{}, nobody);
  uint64_t key = 0;
  do {
    tpt.set_key(key += 0x9e3779b97f4a7c15);
  } while (tpt.invert(0x112233) >= spec::Sizes{}.num_stags);

  Bench b;
  b.b.write64(0, spec::kStagKeyOffset, key);
  const auto p = b.connect();
  const uint64_t list = b.b.alloc(8);
  base::store_le<uint64_t>(&b.b.memory[list], b.b.alloc(4096));
  const auto mr = b.b.command(spec::AdminOpcode::kCreateMr, tpt.invert(0x112233),
                              spec::AdminMrArgs{.pd = 0,
                                                .key = 0x44,
                                                .log_page = 12,
                                                .rights = 7,
                                                .base_to = 0x2000,
                                                .length = 0xfff,
                                                .first_offset = 0,
                                                .pbl_base = 9,
                                                .page_list = list,
                                                .pages = 1});
  ASSERT_EQ(spec::AdminMrResult::unpack(mr.result).stag, 0x11223344U);
  b.b.inject(p.conn_b, hex("002e4141 00000000 00000001 00000001 00000000 aabbccdd 00000000 "
                           "00001000 00001000 11223344 "
                           "00000000 00002000 3fdc639c"));
  b.clock.settle();
  ASSERT_EQ(b.b.sent.size(), 1U);
  EXPECT_EQ(b.b.sent[0],
            hex("00464147 00000000 00000002 00000001 00000000 0101e000 002e4141 00000000 00000001 "
                "00000001 00000000 "
                "aabbccdd 00000000 00001000 00001000 11223344 00000000 00002000 40f7c6bc"));
}
TEST(Golden, WriteReadSend) {
  Bench b;
  const auto p = b.connect();
  const Mr m = b.a.reg(8192);
  const Bytes hello{'h', 'e', 'l', 'l', 'o'}, abc{'a', 'b', 'c'};
  b.a.tamper = [](model::LlpRecord&) { return false; };
  b.a.post_send(p.a.qpn, wr(WrOpcode::kRdmaWrite, kInline, 0x0102030405060708, 0x11223344), {},
                hello);
  b.a.post_send(p.a.qpn, wr(WrOpcode::kSend, kInline), {}, abc);
  spec::SqWqe r = wr(WrOpcode::kRdmaRead, 0, 0x2000, 0x11223344);
  b.a.post_send(p.a.qpn, r, {sge(m, 0, 0x1000)});
  b.clock.settle();
  ASSERT_EQ(b.a.sent.size(), 3U);
  EXPECT_EQ(b.a.sent[0], hex("0013c140 11223344 01020304 05060708 68656c6c 6f000000 1fb1004d"));
  EXPECT_EQ(b.a.sent[1], hex("00154143 00000000 00000000 00000001 00000000 61626300 447065aa"));
  const Bytes read = fpdu(untagged(0x41, 0x41, 1, 1, 0) + be(m.stag, 4) + be(m.address, 8) +
                          be(0x1000, 4) + be(0x11223344, 4) + be(0x2000, 8));
  EXPECT_EQ(b.a.sent[2], read);
  EXPECT_EQ(fpdu(hex("4141 00000000 00000001 00000001 00000000 aabbccdd 00000000 00001000 00001000 "
                     "11223344 00000000 00002000")),
            hex("002e4141 00000000 00000001 00000001 00000000 aabbccdd 00000000 00001000 00001000 "
                "11223344 00000000 00002000 3fdc639c"));
}

// More Read Requests than the IRD of 2. b's credit of 2^18 bytes is enough for three whole
// responses of 65535 bytes; the other requests stay in IRD.
TEST(Ird, Exceeded) {
  Bench b;
  QpSetup s;
  s.ird = 2;
  const auto p = b.connect(s);
  const Mr m = b.b.reg(1 << 16);
  b.b.hold_credit = true;  // b's responses stall when its credit is used
  Bytes last;
  for (uint32_t i = 1; i <= 12; ++i) {
    last = untagged(0x41, 0x41, 1, i, 0) + be(1, 4) + be(0, 8) + be(0xffff, 4) + be(m.stag, 4) +
           be(m.address, 8);
    b.b.inject(p.conn_b, fpdu(last));
  }
  b.clock.settle();
  EXPECT_EQ(b.b.query(p.b.qpn).cause, Cause::kDdpUntaggedNoBuffer);
  const Bytes& t = b.b.sent.back();
  ASSERT_GE(t.size(), 26U);
  // After FPDU length (2) and DDP header (18): layer and type, code. 1/2/02: no buffer.
  EXPECT_EQ(t[20], 0x12);
  EXPECT_EQ(t[21], 0x02);
}

}  // namespace
}  // namespace rnic::tb

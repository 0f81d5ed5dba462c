// Registers, commands, connections in streaming mode, reset. Also small parts of the model: CRC,
// the permutation of STags, ReadySet.
#include "bench.hpp"
#include "mpa/crc32c.hpp"
#include "sc/ready_set.hpp"

namespace rnic::tb {
namespace {

using spec::AdminOpcode;
using spec::AdminStatus;
using spec::WcStatus;
using spec::WrOpcode;

TEST(Registers, Walk) {
  Bench b;
  EXPECT_EQ(b.a.read(spec::kMagicOffset, 4), 0x43494e4dU);  // "MNIC"
  EXPECT_EQ(b.a.read(spec::kVersionOffset, 4), 0x00010000U);
  // A read of 8 bytes: both registers
  EXPECT_EQ(b.a.read(spec::kMagicOffset, 8), 0x0001000043494e4dU);
  EXPECT_EQ(b.a.read(spec::kCapNumQpsOffset, 4), 1024U);
  EXPECT_EQ(b.a.read(spec::kCapSqWindowOffset, 4), 64U);
  EXPECT_EQ(b.a.read(spec::kCapClockKhzOffset, 4), 322266U);
  EXPECT_EQ(b.a.read(spec::kStagKeyOffset, 8), 0U) << "write only";
  b.a.write32(spec::kMsixAddressOffset + 16 * 3 + 4, 0x11);
  b.a.write32(spec::kMsixAddressOffset + 16 * 3, 0x22);
  EXPECT_EQ(b.a.read(spec::kMsixAddressOffset + 16 * 3, 8), 0x1100000022U);
  const uint64_t t = b.a.read(spec::kDeviceTimeOffset, 8);
  b.clock.settle(1000);
  EXPECT_GE(b.a.read(spec::kDeviceTimeOffset, 8), t);
  // Unit 1 of registers.yaml is admin. The counters of a unit take 32 bytes.
  EXPECT_GT(b.a.read(spec::kCountItemsOffset + 32, 8), 0U) << "admin has handled items";
}

// PDs may have the numbers 0 to 1023, connections 0 to 2047. Of PDs and EQs only number 0 is
// created. log_size is at most 15. kModifyQp has no to_state 3 (terminate).
TEST(Admin, Statuses) {
  Bench b;
  Side& s = b.a;
  const auto p = b.connect();
  const auto status = [&](AdminOpcode op, uint32_t object, const auto&... args) {
    return s.command(op, object, args...).status;
  };
  EXPECT_EQ(status(AdminOpcode::kNop, 0), AdminStatus::kOk);
  EXPECT_EQ(status(static_cast<AdminOpcode>(0x7f), 0), AdminStatus::kBadOpcode);
  EXPECT_EQ(status(AdminOpcode::kCreatePd, 0), AdminStatus::kExists);
  EXPECT_EQ(status(AdminOpcode::kCreatePd, 1024), AdminStatus::kBadObject);
  EXPECT_EQ(status(AdminOpcode::kDestroyPd, 0), AdminStatus::kInUse);
  EXPECT_EQ(status(AdminOpcode::kDestroyPd, 9), AdminStatus::kNotFound);
  EXPECT_EQ(status(AdminOpcode::kDestroyEq, 0), AdminStatus::kInUse);
  EXPECT_EQ(status(AdminOpcode::kDestroyCq, p.a.cqn), AdminStatus::kInUse);
  EXPECT_EQ(status(AdminOpcode::kDestroyQp, p.a.qpn), AdminStatus::kInUse);
  EXPECT_EQ(status(AdminOpcode::kCreateCq, 50, spec::AdminRingArgs{.base = 33, .log_size = 4}),
            AdminStatus::kBadArgument);
  EXPECT_EQ(status(AdminOpcode::kCreateCq, 50, spec::AdminRingArgs{.base = 64, .log_size = 16}),
            AdminStatus::kBadArgument);
  EXPECT_EQ(
      status(AdminOpcode::kCreateCq, 50, spec::AdminRingArgs{.base = 64, .log_size = 4, .eqn = 3}),
      AdminStatus::kNotFound);
  EXPECT_EQ(status(AdminOpcode::kQueryMr, 0x1234), AdminStatus::kNotFound);
  EXPECT_EQ(status(AdminOpcode::kModifyQp, p.a.qpn, spec::AdminModifyArgs{.to_state = 3}),
            AdminStatus::kBadArgument);
  EXPECT_EQ(status(AdminOpcode::kConnRelease, p.conn_a), AdminStatus::kInUse);
  EXPECT_EQ(status(AdminOpcode::kConnClose, p.conn_a), AdminStatus::kBadState);
  EXPECT_EQ(status(AdminOpcode::kConnQuery, 2000), AdminStatus::kNotFound);
  EXPECT_EQ(status(AdminOpcode::kConnQuery, 2048), AdminStatus::kBadObject);

  const uint64_t list = s.alloc(64);
  base::store_le<uint64_t>(&s.memory[list], 0x4000);
  base::store_le<uint64_t>(&s.memory[list + 8], 0x5000);
  const spec::AdminMrArgs good{.pd = 0,
                               .key = 1,
                               .log_page = 12,
                               .rights = 7,
                               .base_to = 0,
                               .length = 8000,
                               .first_offset = 100,
                               .pbl_base = 100,
                               .page_list = list,
                               .pages = 2};
  const auto mr = [&](auto change) {
    spec::AdminMrArgs a = good;
    change(a);
    return status(AdminOpcode::kCreateMr, 900, a);
  };
  // Rights: 0x20 does not exist; 2 is remote write without local write. Two pages hold 8092 bytes
  // from offset 100 on. 262143 is the last entry of the page list.
  EXPECT_EQ(mr([](auto& a) { a.pd = 5; }), AdminStatus::kNotFound);
  EXPECT_EQ(mr([](auto& a) { a.rights = 0x20; }), AdminStatus::kBadArgument);
  EXPECT_EQ(mr([](auto& a) { a.rights = 2; }), AdminStatus::kBadArgument);
  EXPECT_EQ(mr([](auto& a) { a.log_page = 11; }), AdminStatus::kBadArgument);
  EXPECT_EQ(mr([](auto& a) { a.length = 0; }), AdminStatus::kBadArgument);
  EXPECT_EQ(mr([](auto& a) { a.length = 8093; }), AdminStatus::kBadArgument);
  EXPECT_EQ(mr([](auto& a) { a.first_offset = 4096; }), AdminStatus::kBadArgument);
  EXPECT_EQ(mr([](auto& a) { a.pbl_base = 262143; }), AdminStatus::kBadArgument);
  base::store_le<uint64_t>(&s.memory[list + 8], 0x5800);
  EXPECT_EQ(mr([](auto&) {}), AdminStatus::kBadArgument) << "a page that is not aligned";
  base::store_le<uint64_t>(&s.memory[list + 8], 0x5000);
  s.poison[list] = spec::RdStatus::kPoisoned;
  EXPECT_EQ(mr([](auto&) {}), AdminStatus::kDmaError);
  s.poison.clear();
  const auto made = s.command(AdminOpcode::kCreateMr, 900, good);
  EXPECT_EQ(made.status, AdminStatus::kOk);
  EXPECT_EQ(mr([](auto&) {}), AdminStatus::kExists);
  const uint32_t stag = spec::AdminMrResult::unpack(made.result).stag;
  EXPECT_EQ(spec::AdminMrResult::unpack(s.command(AdminOpcode::kQueryMr, stag).result).length,
            8000U);
  EXPECT_EQ(status(AdminOpcode::kDestroyMr, stag), AdminStatus::kOk);
  EXPECT_EQ(status(AdminOpcode::kDestroyMr, stag), AdminStatus::kNotFound);
  const auto again = s.command(AdminOpcode::kCreateMr, 900, good);
  EXPECT_NE(spec::AdminMrResult::unpack(again.result).stag, stag)
      << "another generation, another STag";
}

TEST(Admin, RingThatCannotBeReadIsFatal) {
  Bench b;
  for (uint64_t at = 0; at < Side::kMemory; at += 64) b.a.poison[at] = spec::RdStatus::kAborted;
  b.a.write32(spec::kAdminDoorbellOffset, 3);
  b.clock.settle(2000);
  EXPECT_EQ(b.a.read(spec::kDevStatusOffset, 4) & 2, 2U);  // bit 1: fatal
}

// 532 bytes: the longest MPA Request, 20 bytes and 512 of private data. A conn_give of more bytes
// than wait is refused.
TEST(Streaming, RequestAndReplyThenRdmaMode) {
  Bench b;
  QpSetup s;
  s.hold = true;
  s.reply_bytes = 300;
  const QpHandle qa = b.a.create_qp(s), qb = b.b.create_qp(s);
  const auto [ca, cb] = b.open();
  const uint64_t request = b.a.alloc(4096), at = b.b.alloc(4096), reply = b.b.alloc(4096),
                 back = b.a.alloc(4096);
  b.a.fill(request, 532, 1);
  b.b.fill(reply, 300, 2);
  EXPECT_EQ(b.a.command(AdminOpcode::kConnSend, ca,
                        spec::AdminConnArgs{.address = request, .length = 532})
                .status,
            AdminStatus::kOk);
  b.clock.settle(500);
  EXPECT_EQ(b.b.connection(cb).waiting, 532);
  EXPECT_EQ(
      b.b.command(AdminOpcode::kConnGive, cb, spec::AdminConnArgs{.address = at, .length = 533})
          .status,
      AdminStatus::kBadArgument);
  EXPECT_EQ(
      b.b.command(AdminOpcode::kConnGive, cb, spec::AdminConnArgs{.address = at + 3, .length = 532})
          .status,
      AdminStatus::kOk);
  EXPECT_EQ(b.b.bytes(at + 3, 532), b.a.bytes(request, 532));
  EXPECT_EQ(b.b.connection(cb).waiting, 0);
  EXPECT_EQ(Bench::rts(b.b, qb.qpn, cb, s, reply), AdminStatus::kOk);
  b.clock.settle(500);
  EXPECT_EQ(
      b.a.command(AdminOpcode::kConnGive, ca, spec::AdminConnArgs{.address = back, .length = 300})
          .status,
      AdminStatus::kOk);
  EXPECT_EQ(b.a.bytes(back, 300), b.b.bytes(reply, 300));
  QpSetup active;
  EXPECT_EQ(Bench::rts(b.a, qa.qpn, ca, active), AdminStatus::kOk);
  EXPECT_EQ(Bench::rts(b.a, qa.qpn, ca, active), AdminStatus::kBadState);

  // The passive side sends nothing until the first FPDU has come.
  const Mr am = b.a.reg(4096), bm = b.b.reg(4096);
  b.a.post_recv(qa.qpn, {sge(am, 0, 64)});
  b.b.post_send(qb.qpn, wr(WrOpcode::kSend), {sge(bm, 0, 64)});
  b.clock.settle(3000);
  EXPECT_TRUE(b.b.sent.empty());
  EXPECT_NE(b.b.device().waiting_for().find("first FPDU of the peer"), std::string::npos);
  b.a.post_send(qa.qpn, wr(WrOpcode::kRdmaWrite, kSignaled, bm.address, bm.stag), {});
  EXPECT_EQ(b.b.wait(qb.cqn).status, WcStatus::kSuccess);
  EXPECT_EQ(b.a.wait(qa.cqn).status, WcStatus::kSuccess);
}

TEST(Reset, ForgetsEverything) {
  Bench b;
  const auto p = b.connect();
  const Mr am = b.a.reg(1 << 16), bm = b.b.reg(1 << 16);
  b.a.post_send(p.a.qpn, wr(WrOpcode::kRdmaWrite, kSignaled, bm.address, bm.stag),
                {sge(am, 0, 60000)});
  b.clock.settle(100);
  b.a.reset();
  b.clock.settle();
  EXPECT_EQ(b.a.device().waiting_for(), "");
  EXPECT_EQ(b.a.read(spec::kDevCtrlOffset, 4), 0U);
}

// The CRCs of RFC 3720 B.4 and of the digits 1 to 9. Then both forms of crc32c_update on random
// bytes: the one that uses the processor's CRC instructions, if any, and the portable one.
TEST(Crc32c, BothFormsAndTheCheckValues) {
  const auto of = [](const Bytes& x) { return model::crc32c(x); };
  EXPECT_EQ(of({'1', '2', '3', '4', '5', '6', '7', '8', '9'}), 0xE3069283U);
  EXPECT_EQ(of(Bytes(32, 0)), 0x8A9136AAU);
  EXPECT_EQ(of(Bytes(32, 0xff)), 0x62A8AB43U);
  base::Rng rng(4);
  for (size_t n = 0; n < 4000; n += 1 + n / 7) {
    Bytes x(n);
    for (auto& v : x) v = static_cast<uint8_t>(rng.next());
    EXPECT_EQ(model::crc32c_update(~0U, x), model::crc32c_update_portable(~0U, x)) << n;
  }
}

TEST(StagKey, PermutationIsInvertible) {
  struct Nobody final : model::Tpt::Out {
    void tpt_cmd_rsp(const spec::TptCmdRsp&) override {}
    void invalidated(const spec::Invalidated&) override {}
    void sq_local_done(const spec::SqLocalDone&) override {}
  } nobody;
  model::Tpt tpt(spec::Sizes{}, nobody);
  tpt.set_key(0xfedcba9876543210);
  std::vector<bool> seen(1 << 24);
  for (uint32_t v = 0; v < 1 << 24; v += 11) {
    const uint32_t p = tpt.permute(v);
    ASSERT_FALSE(seen[p]);
    seen[p] = true;
    ASSERT_EQ(tpt.invert(p), v);
  }
}

// The STags of consecutive slots are in no order, and each bit is set in half of them.
// R5040-8.1.1-08, 09.
TEST(StagKey, ValuesAreSpreadInNoOrder) {
  struct Nobody final : model::Tpt::Out {
    void tpt_cmd_rsp(const spec::TptCmdRsp&) override {}
    void invalidated(const spec::Invalidated&) override {}
    void sq_local_done(const spec::SqLocalDone&) override {}
  } nobody;
  model::Tpt tpt(spec::Sizes{}, nobody);
  constexpr uint32_t kCount = 100'000;
  for (const uint64_t key :
       {uint64_t{1}, uint64_t{0x0123456789abcdef}, uint64_t{0xfedcba9876543210}}) {
    SCOPED_TRACE(key);
    tpt.set_key(key);
    std::array<uint32_t, 24> ones{};
    std::map<uint32_t, uint32_t> steps, changes;
    uint32_t rises = 0, last = 0;
    for (uint32_t v = 0; v < kCount; ++v) {
      const uint32_t p = tpt.permute(v);
      for (unsigned bit = 0; bit < 24; ++bit) ones[bit] += p >> bit & 1;
      if (v != 0) {
        ++steps[(p - last) & 0xffffff];
        ++changes[p ^ last];
        rises += p > last ? 1 : 0;
      }
      last = p;
    }
    for (const uint32_t n : ones) EXPECT_NEAR(n, kCount / 2, kCount / 100);
    EXPECT_NEAR(rises, kCount / 2, kCount / 100);
    for (const auto* seen : {&steps, &changes}) {
      for (const auto& [value, count] : *seen) EXPECT_LE(count, 8U) << value;
    }
  }
}

// next(from): the first member from `from` on, else the first of all; 10000 (the size) if empty.
TEST(ReadySet, RoundRobin) {
  model::ReadySet s(10000);
  EXPECT_EQ(s.next(5), 10000U);
  for (const uint32_t i : {3U, 64U, 4095U, 4096U, 9999U}) s.set(i);
  EXPECT_EQ(s.next(0), 3U);
  EXPECT_EQ(s.next(4), 64U);
  EXPECT_EQ(s.next(65), 4095U);
  EXPECT_EQ(s.next(4096), 4096U);
  EXPECT_EQ(s.next(4097), 9999U);
  EXPECT_EQ(s.next(10000), 3U);
  s.clear(3);
  EXPECT_EQ(s.next(10000), 64U);
}

// A peer whose window stays closed gets no bytes and blocks no other connection. Commands and
// starts of other connections go on, also starts with a Reply to send.
TEST(Streaming, BytesWithoutCreditAreRefused) {
  Options o;
  o.window = 600;
  Bench b(o);
  QpSetup s;
  s.reply_bytes = 300;
  const QpHandle q = b.b.create_qp(s), p = b.b.create_qp(s);
  const auto [ca, cb] = b.open();
  const auto [da, db] = b.open();
  const uint64_t at = b.b.alloc(4096);
  const auto send = [&](uint16_t conn, uint16_t length) {
    return b.b
        .command(AdminOpcode::kConnSend, conn, spec::AdminConnArgs{.address = at, .length = length})
        .status;
  };
  b.a.hold_credit = true;
  b.b.hold_credit = true;
  b.clock.settle(500);
  EXPECT_EQ(send(cb, 601), AdminStatus::kNoCredit);
  EXPECT_EQ(send(cb, 400), AdminStatus::kOk);
  EXPECT_EQ(send(cb, 201), AdminStatus::kNoCredit);
  EXPECT_EQ(Bench::rts(b.b, q.qpn, cb, s, at), AdminStatus::kNoCredit);
  EXPECT_EQ(b.b.query(q.qpn).state, spec::QpState::kIdle);
  EXPECT_EQ(Bench::rts(b.b, p.qpn, db, s, at), AdminStatus::kOk);
  b.clock.settle(500);
  EXPECT_EQ(b.a.connection(da).waiting, 300);
  EXPECT_EQ(b.a.connection(ca).waiting, 400);
  EXPECT_EQ(b.b.connection(cb).state, spec::ConnState::kEstablished);
  EXPECT_EQ(b.b.device().waiting_for(), "");
  b.b.give_credit(cb, 100);  // 200 bytes were left: 300 are enough for the Reply
  b.clock.settle(100);
  EXPECT_EQ(Bench::rts(b.b, q.qpn, cb, s, at), AdminStatus::kOk);
  b.clock.settle(500);
  EXPECT_EQ(b.a.connection(ca).waiting, 700);
}

}  // namespace
}  // namespace rnic::tb

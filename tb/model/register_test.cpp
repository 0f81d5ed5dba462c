// Fast registration: a WQE opens an STag that create_mr keeps (decision 14). reg_fast(n) keeps an
// STag with room for 2^n pages. Registrations choose its low 8 bits anew; only the latest STag is
// valid. The WQE names a page list in memory: one bus address of 8 bytes for each page.
#include <functional>

#include "bench.hpp"

namespace rnic::tb {
namespace {

using spec::AdminOpcode;
using spec::AdminStatus;
using spec::WcOpcode;
using spec::WcStatus;
using spec::WrOpcode;

constexpr uint16_t kRights = 7 | spec::kAccessRemoteInvalidate;
constexpr uint64_t kTo = 0x7000'0000;  // TO of the first byte of a registered region

QpSetup privileged() {
  QpSetup s;
  s.privileged = true;
  return s;
}

/// Side b registers memory for its peer, side a.
class RegisterTest : public testing::Test {
 protected:
  RegisterTest() : p(b.connect(privileged())), am(b.a.reg(1 << 16)) {}

  /// Returns the bus address of a page list of the buffer at bus address `at`. The list names the
  /// pages in descending order.
  uint64_t list_of(uint64_t at, uint32_t pages) {
    const uint64_t list = b.b.alloc(8ULL * pages);
    for (uint32_t i = 0; i < pages; ++i)
      base::store_le<uint64_t>(&b.b.memory[list + 8ULL * i], at + 4096ULL * (pages - 1 - i));
    return list;
  }
  spec::RegOperands operands(uint32_t pages) {
    buffer = b.b.alloc(4096ULL * pages);
    return {.page_list = list_of(buffer, pages),
            .length = 4096ULL * pages,
            .first_offset = 0,
            .pages = pages,
            .rights = kRights,
            .log_page = 12};
  }
  void post(uint16_t qpn, uint32_t stag, const spec::RegOperands& o) {
    Bytes data(spec::RegOperands::kBytes);
    o.pack(data);
    b.b.post_send(qpn, wr(WrOpcode::kRegMr, kSignaled | kInline, kTo, stag), {}, data);
  }
  spec::Cqe reg(uint32_t stag, const spec::RegOperands& o) {
    post(p.b.qpn, stag, o);
    return b.b.wait(p.b.cqn);
  }
  /// The peer writes n bytes to byte `at` of the region. Returns the status of the Send after it.
  WcStatus write(uint32_t stag, uint64_t at, uint32_t n) {
    b.a.fill(am.address - 0x10000000, n, at + n);
    b.a.post_send(p.a.qpn, wr(WrOpcode::kRdmaWrite, kSignaled, kTo + at, stag), {sge(am, 0, n)});
    // The Send after it shows that the Write is placed.
    const Mr rm = b.b.reg(64);
    b.b.post_recv(p.b.qpn, {sge(rm, 0, 64)});
    b.a.post_send(p.a.qpn, wr(WrOpcode::kSend, 0), {});
    const auto e = b.b.wait(p.b.cqn);
    EXPECT_EQ(b.a.wait(p.a.cqn).status, WcStatus::kSuccess);
    return e.status;
  }
  /// Expects the completion of a registration.
  void good(const spec::Cqe& e) {
    EXPECT_EQ(e.status, WcStatus::kSuccess) << to_string(e.status);
    EXPECT_EQ(e.opcode, WcOpcode::kRegMr);
    EXPECT_EQ(e.byte_len, spec::RegOperands::kBytes);
  }

  Bench b;
  Bench::Pair p;
  Mr am;
  uint64_t buffer = 0;
};

// The peer writes through the STag and invalidates it; then it is registered with another key, and
// invalidated locally.
TEST_F(RegisterTest, RegisterWriteInvalidateAgain) {
  const uint32_t kept = b.b.reg_fast(4);
  EXPECT_EQ(b.b.command(AdminOpcode::kQueryMr, kept).status, AdminStatus::kNotFound);

  const uint32_t first = (kept & ~0xffU) | 0x33;
  good(reg(first, operands(3)));
  const auto open = b.b.command(AdminOpcode::kQueryMr, first);
  EXPECT_EQ(open.status, AdminStatus::kOk);
  EXPECT_EQ(spec::AdminMrResult::unpack(open.result).length, 3 * 4096U);
  EXPECT_EQ(b.b.command(AdminOpcode::kQueryMr, kept).status, AdminStatus::kNotFound);
  EXPECT_EQ(write(first, 4000, 200), WcStatus::kSuccess);
  const uint64_t from = am.address - 0x10000000;
  EXPECT_EQ(b.b.bytes(buffer + 2 * 4096 + 4000, 96), b.a.bytes(from, 96));
  EXPECT_EQ(b.b.bytes(buffer + 4096, 104), b.a.bytes(from + 96, 104));

  const Mr rm = b.b.reg(64);
  b.b.post_recv(p.b.qpn, {sge(rm, 0, 64)});
  b.a.post_send(p.a.qpn, wr(WrOpcode::kSendWithInv, kSignaled, 0, first), {sge(am, 0, 8)});
  const auto e = b.b.wait(p.b.cqn);
  EXPECT_EQ(e.status, WcStatus::kSuccess);
  EXPECT_EQ(e.with_inv, 1);
  EXPECT_EQ(e.immediate, first);
  EXPECT_EQ(b.a.wait(p.a.cqn).status, WcStatus::kSuccess);
  EXPECT_EQ(b.b.command(AdminOpcode::kQueryMr, first).status, AdminStatus::kNotFound);

  // One byte in the middle of a page, then as many pages as the STag has room for.
  for (const uint32_t pages : {1U, 16U}) {
    const uint32_t again = (kept & ~0xffU) | pages;
    auto o = operands(pages);
    if (pages == 1) {
      o.first_offset = 77;
      o.length = 1;
    }
    good(reg(again, o));
    EXPECT_EQ(write(again, 0, 1), WcStatus::kSuccess);
    const uint64_t at = buffer + 4096ULL * (pages - 1) + o.first_offset;
    EXPECT_EQ(b.b.bytes(at, 1), b.a.bytes(from, 1));
    b.b.post_send(p.b.qpn, wr(WrOpcode::kLocalInv, kSignaled, 0, again), {});
    const auto inv = b.b.wait(p.b.cqn);
    EXPECT_EQ(inv.status, WcStatus::kSuccess);
    EXPECT_EQ(inv.opcode, WcOpcode::kLocalInv);
  }
  // destroy_mr ignores the low 8 bits.
  EXPECT_EQ(b.b.command(AdminOpcode::kDestroyMr, kept ^ 0xff).status, AdminStatus::kOk);
  EXPECT_EQ(b.b.command(AdminOpcode::kDestroyMr, kept).status, AdminStatus::kNotFound);
  EXPECT_EQ(b.b.device().waiting_for(), "");
}

// The next WQE may use the STag at once: both are posted with one doorbell.
TEST_F(RegisterTest, TheNextWqeWaits) {
  const uint32_t stag = b.b.reg_fast(11);
  const Mr to = b.a.reg(1 << 16);
  const auto o = operands(1000);  // the list has 8000 bytes: two reads of at most 4096
  Bytes data(spec::RegOperands::kBytes);
  o.pack(data);
  b.b.fill(buffer + 999 * 4096ULL, 4096, 5);  // the first page of the list is the buffer's last
  b.b.put_send(p.b.qpn, wr(WrOpcode::kRegMr, kInline, kTo, stag), {}, data);
  b.b.post_send(p.b.qpn, wr(WrOpcode::kRdmaWrite, kSignaled, to.address, to.stag),
                {{.address = kTo, .length = 4096, .lkey = stag}});
  EXPECT_EQ(b.b.wait(p.b.cqn).opcode, WcOpcode::kRdmaWrite);
  b.clock.settle(2000);
  EXPECT_EQ(b.a.bytes(to.address - 0x10000000, 4096), b.b.bytes(buffer + 999 * 4096ULL, 4096));
}

// More registrations, of several QPs, than tpt reads page lists at a time. Some are refused.
TEST_F(RegisterTest, ManyAtATime) {
  constexpr uint32_t kPages = 600;
  struct One {
    Bench::Pair pair;
    uint32_t stag = 0;
    bool fails = false;
    uint64_t last = 0;  // its last page, which no other list has
  };
  std::vector<One> all(9);
  for (uint32_t i = 0; i < all.size(); ++i)
    all[i] = {b.connect(privileged()), b.b.reg_fast(10), i % 4 == 2, b.b.alloc(4096)};
  auto o = operands(1);
  o.pages = kPages;
  for (const One& r : all) {
    o.page_list = b.b.alloc(8ULL * kPages);
    for (uint32_t i = 0; i < kPages; ++i)
      base::store_le<uint64_t>(&b.b.memory[o.page_list + 8ULL * i],
                               i + 1 == kPages ? r.last : 4096ULL * i);
    o.length = kPages * 4096ULL + (r.fails ? 1 : 0);
    post(r.pair.b.qpn, r.stag, o);
  }
  for (const One& r : all)
    EXPECT_EQ(b.b.wait(r.pair.b.cqn).status, r.fails ? WcStatus::kMwBindErr : WcStatus::kSuccess);
  for (const One& r : all)
    EXPECT_EQ(b.b.command(AdminOpcode::kQueryMr, r.stag).status,
              r.fails ? AdminStatus::kNotFound : AdminStatus::kOk);
  for (const One& r : all) {
    if (r.fails) continue;
    p = r.pair;
    EXPECT_EQ(write(r.stag, (kPages - 1) * 4096ULL, 4096), WcStatus::kSuccess);
    EXPECT_EQ(b.b.bytes(r.last, 4096), b.a.bytes(am.address - 0x10000000, 4096));
  }
}

// A registration that is refused or fails ends its QP. The STag can be registered again.
TEST_F(RegisterTest, EachErrorEndsTheQp) {
  struct Case {
    const char* name;
    std::function<void(uint32_t& stag, spec::RegOperands& o)> change;
    WcStatus status = WcStatus::kMwBindErr;
  };
  const auto operand = [](auto f) { return [f](uint32_t&, spec::RegOperands& o) { f(o); }; };
  ASSERT_EQ(b.b.command(AdminOpcode::kCreatePd, 1).status, AdminStatus::kOk);
  const Mr ordinary = b.b.reg(4096);
  const uint32_t foreign = b.b.reg_fast(2, 1), is_open = b.b.reg_fast(2);
  good(reg(is_open, operands(1)));
  const std::vector<Case> cases = {
      {"not fast", [&](uint32_t& s, auto&) { s = ordinary.stag; }},
      {"other upper bits", [](uint32_t& s, auto&) { s ^= 0x100; }},
      {"open", [&](uint32_t& s, auto&) { s = is_open; }},
      {"PD", [&](uint32_t& s, auto&) { s = foreign; }},
      {"page too small", operand([](auto& o) { o.log_page = 11; })},
      {"page too large", operand([](auto& o) { o.log_page = 22; })},
      {"no page", operand([](auto& o) { o.pages = 0; })},
      {"no room", operand([](auto& o) { o.pages = 5; })},
      {"far too many pages", operand([](auto& o) { o.pages = 0x80000002; })},
      {"no length", operand([](auto& o) { o.length = 0; })},
      {"length beyond 48 bits", operand([](auto& o) { o.length |= uint64_t{1} << 48; })},
      {"offset beyond the page", operand([](auto& o) { o.first_offset = 4096; })},
      {"beyond the pages", operand([](auto& o) { o.first_offset = 1; })},
      {"rights", operand([](auto& o) { o.rights |= 0x8000; })},
      {"remote write alone", operand([](auto& o) { o.rights = spec::kAccessRemoteWrite; })},
      {"reserved", operand([](auto& o) { o.reserved0 = 1; })},
      {"first page not aligned", [&](uint32_t&, auto& o) { b.b.memory[o.page_list + 1] |= 0x08; }},
      {"last page not aligned", [&](uint32_t&, auto& o) { b.b.memory[o.page_list + 24] |= 1; }},
      {"large page not aligned", operand([](auto& o) { o.log_page = 21; })},
      {"unreadable",
       [&](uint32_t&, auto& o) { b.b.poison[o.page_list] = spec::RdStatus::kUnsupported; },
       WcStatus::kFatalErr},
      {"unreadable and not aligned",
       [&](uint32_t&, auto& o) {
         b.b.memory[o.page_list + 24] |= 1;
         b.b.poison[o.page_list + 31] = spec::RdStatus::kUnsupported;
       },
       WcStatus::kFatalErr},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    p = b.connect(privileged());
    const uint32_t kept = b.b.reg_fast(2);
    uint32_t stag = kept ^ 0x55;
    auto o = operands(4);
    c.change(stag, o);
    post(p.b.qpn, stag, o);
    b.b.post_send(p.b.qpn, wr(WrOpcode::kSend), {});
    EXPECT_EQ(b.b.wait(p.b.cqn).status, c.status);
    EXPECT_EQ(b.b.wait(p.b.cqn).status, WcStatus::kWrFlushErr);
    EXPECT_EQ(b.b.query(p.b.qpn).cause, spec::Cause::kLocalCatastrophic);
    EXPECT_EQ(b.b.command(AdminOpcode::kQueryMr, kept ^ 0x55).status, AdminStatus::kNotFound);
    b.b.poison.clear();

    p = b.connect(privileged());
    good(reg(kept, operands(4)));
    EXPECT_EQ(write(kept, 4096 * 4 - 1, 1), WcStatus::kSuccess);
    EXPECT_EQ(b.b.command(AdminOpcode::kDestroyMr, kept).status, AdminStatus::kOk);
  }
}

TEST_F(RegisterTest, MalformedWqe) {
  struct Case {
    const char* name;
    std::function<void(spec::SqWqe& w)> change;
    bool privileged = true;
  };
  const std::vector<Case> cases = {
      {"not privileged", [](auto&) {}, false},
      {"length", [](auto& w) { w.length = 31; }},
      {"an SGE", [](auto& w) { w.num_sge = 1; }},
      {"not inline", [](auto& w) { w.flags &= static_cast<uint8_t>(~kInline); }},
      {"disposition", [](auto& w) { w.disposition = 1; }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    QpSetup s;
    s.privileged = c.privileged;
    const auto pair = b.connect(s);
    const uint32_t stag = b.b.reg_fast(0);
    Bytes data(spec::RegOperands::kBytes);
    operands(1).pack(data);
    auto w = wr(WrOpcode::kRegMr, kSignaled | kInline, kTo, stag);
    w.units = 1;
    w.length = 32;
    c.change(w);
    b.b.post_send(pair.b.qpn, w, {}, data);
    EXPECT_EQ(b.b.wait(pair.b.cqn).status, WcStatus::kLocQpOpErr);
    EXPECT_EQ(b.b.command(AdminOpcode::kQueryMr, stag).status, AdminStatus::kNotFound);
  }
}

// A destroy_mr meets a registration in progress, then its region.
TEST_F(RegisterTest, DestroyWhileRegistering) {
  const uint32_t stag = b.b.reg_fast(11);
  post(p.b.qpn, stag, operands(1500));
  b.clock.settle(60);  // the list of 12000 bytes takes 3 reads: they are not done yet
  EXPECT_EQ(b.b.command(AdminOpcode::kDestroyMr, stag ^ 1).status, AdminStatus::kInProgress);
  good(b.b.wait(p.b.cqn));
  EXPECT_EQ(write(stag, 5, 5), WcStatus::kSuccess);
  EXPECT_EQ(b.b.command(AdminOpcode::kDestroyMr, stag ^ 2).status, AdminStatus::kOk);
  EXPECT_EQ(b.b.command(AdminOpcode::kDestroyMr, stag).status, AdminStatus::kNotFound);
}

TEST_F(RegisterTest, CreateChecksItsArguments) {
  const spec::AdminMrArgs good{.log_page = 3, .pbl_base = 100, .pages = 8, .fast = 1};
  const auto status = [&](auto change) {
    auto a = good;
    change(a);
    return b.b.command(AdminOpcode::kCreateMr, 200, a).status;
  };
  const auto bad = [&](auto change) { EXPECT_EQ(status(change), AdminStatus::kBadArgument); };
  bad([](auto& a) { a.pages = 7; });
  bad([](auto& a) { a.log_page = 40; });
  bad([](auto& a) {
    a.log_page = 0;
    a.pages = 0;
  });
  bad([](auto& a) { a.pbl_base = spec::Sizes{}.num_pbl - 7; });
  bad([](auto& a) { a.rights = 1; });
  bad([](auto& a) { a.qpn = 1; });
  bad([](auto& a) { a.base_to = 1; });
  bad([](auto& a) { a.length = 1; });
  bad([](auto& a) { a.first_offset = 1; });
  bad([](auto& a) { a.page_list = 8; });
  bad([](auto& a) { a.bound = 1; });
  bad([](auto& a) { a.reserved1 = 1; });
  bad([](auto& a) { a.reserved2 = 1; });
  EXPECT_EQ(status([](auto& a) { a.pd = 3; }), AdminStatus::kNotFound);
  EXPECT_EQ(status([](auto&) {}), AdminStatus::kOk);
  EXPECT_EQ(status([](auto&) {}), AdminStatus::kExists);
}

// A new registration of a closed STag waits until the reads through the closed region have retired.
struct ClaimOut final : model::Tpt::Out {
  void tpt_cmd_rsp(const spec::TptCmdRsp& rsp) override { answer = rsp; }
  void invalidated(const spec::Invalidated&) override { ++closed; }
  void sq_local_done(const spec::SqLocalDone&) override {}
  void claimable() override { ++claims; }
  spec::TptCmdRsp answer;
  int closed = 0, claims = 0;
};

TEST(Claim, WaitsForAccessesInFlight) {
  using Claim = model::Tpt::Claim;
  ClaimOut out;
  model::Tpt tpt(spec::Sizes{}, out);
  std::array<uint8_t, 56> args{};
  spec::AdminMrArgs{.pd = 2, .key = 9, .log_page = 1, .pbl_base = 40, .pages = 2, .fast = 1}.pack(
      args);
  tpt.command({.opcode = AdminOpcode::kCreateMr, .object = 5, .args = args});
  const uint32_t stag = spec::AdminMrResult::unpack(out.answer.result).stag;
  spec::SqLocal request{.qpn = 7, .slot = 3, .stag = stag + 1, .is_reg = 1, .pd = 2, .base = 64};
  spec::RegOperands{.page_list = 0x8000, .length = 8000, .pages = 2, .rights = 7, .log_page = 12}
      .pack(request.operands);
  const auto reg = [&] {
    model::Tpt::Registration r(request);
    EXPECT_EQ(tpt.claim(r), Claim::kClaimed);
    EXPECT_EQ(tpt.claim(r), Claim::kRefused);  // claimed already
    tpt.list(r, {.status = {}, .data = rnic::Payload::copy_of(Bytes(16))});
    tpt.end(r);
  };
  reg();
  model::ExtentList extents;
  const auto translate = [&] {
    return tpt.translate({.stag = stag + 1, .tagged_offset = 64, .length = 8, .pd = 2, .rights = 1},
                         extents);
  };
  EXPECT_EQ(translate(), spec::TptResult::kOk);
  tpt.invalidate(spec::Invalidate{.stag = stag + 1});
  EXPECT_EQ(translate(), spec::TptResult::kStag);
  EXPECT_EQ(tpt.claim(model::Tpt::Registration(request)), Claim::kWaits);
  EXPECT_EQ(out.claims, 0);
  tpt.retired({.epoch = extents.all()[0].epoch});
  EXPECT_EQ(out.claims, 1);
  EXPECT_EQ(out.closed, 1);
  reg();
  EXPECT_EQ(translate(), spec::TptResult::kOk);
}

}  // namespace
}  // namespace rnic::tb

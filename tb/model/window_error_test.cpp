// Memory windows that are refused: arguments of create_mr, malformed WQEs, each check of a bind. A
// refused bind changes nothing. Then tpt without other units: binds between extents in flight,
// invalidations and destroys.
//
// Names of window.hpp: `b` is the bench; side `b.b` has regions and windows, side `b.a` is its
// peer. `p` is a connected pair of QPs: `p.a` on side a, `p.b` on side b. A type 1 window can be
// bound again while it is bound; one of type 2 must be invalidated first. The low 8 bits of a
// window's STag are a key: each bind chooses it anew, so `kept ^ 0x55` names the window `kept`.
// Rights: 0x1 local write, 0x2 remote write, 0x4 remote read, 0x8 remote atomic, 0x10 bind, 0x100
// and 0x200 flush to global visibility and to persistence, 0x400 remote invalidate.
#include <functional>

#include "window.hpp"

namespace rnic::tb {
namespace {

using Operands = spec::BindOperands;

struct RefusedBindTest : WindowTest {
  struct Case {
    const char* name;
    std::function<void(uint32_t& stag, Operands& o)> change;
  };
  static auto operand(std::function<void(Operands&)> f) {
    return [f](uint32_t&, Operands& o) { f(o); };
  }
  /// b refuses this bind: it completes with mw_bind_err, and the Send after it is flushed, since
  /// the QP fails. A new pair of QPs replaces `p`.
  void expect_refused(uint32_t stag, const Operands& o) {
    put_bind(p.b.qpn, stag, o, 0);
    b.b.post_send(p.b.qpn, wr(WrOpcode::kSend), {});
    EXPECT_EQ(b.b.wait(p.b.cqn).status, WcStatus::kMwBindErr);
    EXPECT_EQ(b.b.wait(p.b.cqn).status, WcStatus::kWrFlushErr);
    EXPECT_EQ(b.b.query(p.b.qpn).cause, Cause::kLocalCatastrophic);
    p = b.connect(setup());
  }
  /// Refusals by the operands and by the region. Each case changes one thing of a good bind: of 100
  /// bytes from byte 100 on, of a region of 4096 bytes, with rights kRw. `in` takes 8 bytes of
  /// another region.
  std::vector<Case> cases() {
    EXPECT_EQ(b.b.command(AdminOpcode::kCreatePd, 1).status, AdminStatus::kOk);
    const auto in = [](const Region& r, uint16_t rights = kRw) {
      return operand([=](Operands& o) { o = part(r, 0, 8, rights); });
    };
    const auto right = [](uint16_t r) {
      return operand([=](Operands& o) { o.rights = static_cast<uint16_t>(o.rights | r); });
    };
    const Region closed = region(1), foreign = region(1, kAll, {.pd = 1});
    closed_by_us(closed.stag);
    const Region of_other_qp = region(1, kAll, {.qpn = 500, .bound = 1});
    const Region high = region(1, kAll, {.base_to = 0 - uint64_t{4096}});  // ends at TO 2^64
    const uint32_t other = window(1);
    const Region whole = region(1);
    good(bind(other, part(whole, 0, 4096, kRw)));
    return {
        {"reserved, first byte", operand([](auto& o) { o.reserved0[0] = 1; })},
        {"reserved, last bit", operand([](auto& o) { o.reserved0[9] = 0x80; })},
        {"length beyond 32 bits", operand([](auto& o) { o.length += uint64_t{1} << 32; })},
        {"local write", right(0x1)},
        {"bind", right(0x10)},
        {"remote invalidate", right(0x400)},
        {"no right", right(0x20)},
        {"no right, highest", right(0x8000)},
        {"no such region", operand([](auto& o) { o.lkey ^= 0x100; })},
        {"other key of the region", operand([](auto& o) { o.lkey ^= 1; })},
        {"closed region", in(closed)},
        {"PD of the region", in(foreign)},
        {"region of another QP", in(of_other_qp)},
        {"region of a window",
         operand([=](Operands& o) { o = {.address = kTo, .length = 8, .lkey = other}; })},
        {"region without bind", in(region(1, kAll & ~spec::kAccessMwBind))},
        {"write without local write", in(region(1, kAll & ~3), 0x2)},
        {"atomic without local write", in(region(1, kAll & ~3), 0x8)},
        {"flush", in(region(1, kAll & ~0x100), 0x100)},
        {"flush to persistence", in(region(1, kAll & ~0x200), 0x200)},
        {"below the region", operand([](auto& o) { o.address -= 101; })},
        {"beyond the region", operand([](auto& o) { o.length += 3897; })},  // ends at 4097
        {"far beyond", operand([](auto& o) { o.length = 0xffffffff; })},
        {"wraps", operand([=](Operands& o) { o = part(high, 4095, 2, kRw); })},
    };
  }
};

TEST_F(RefusedBindTest, Type2StaysClosed) {
  std::vector<Case> all = cases();
  all.push_back({"length 0", operand([](auto& o) { o.length = 0; })});
  all.push_back({"other upper bits", [](uint32_t& s, auto&) { s ^= 0x100; }});
  const Region r = region(1);
  for (const Case& c : all) {
    SCOPED_TRACE(c.name);
    const uint32_t kept = window(2);
    uint32_t stag = kept ^ 0x55;
    Operands o = part(r, 100, 100, kRw);
    c.change(stag, o);
    expect_refused(stag, o);
    EXPECT_EQ(query(stag), AdminStatus::kNotFound);
    EXPECT_EQ(query(kept), AdminStatus::kNotFound);
    good(bind(kept, part(r, 100, 100, kRw)));
    EXPECT_EQ(write(kept, kTo, 100), Cause::kNone);
    EXPECT_EQ(destroy(kept), AdminStatus::kOk);
  }
  EXPECT_EQ(destroy(r.stag), AdminStatus::kOk);
}

TEST_F(RefusedBindTest, Type1StaysBound) {
  const std::vector<Case> all = cases();
  const Region r = region(1);
  const uint32_t kept = window(1);
  good(bind(kept, part(r, 100, 100, kRw)));
  for (const Case& c : all) {
    SCOPED_TRACE(c.name);
    uint32_t stag = kept ^ 0x55;
    Operands o = part(r, 100, 100, kRw);
    c.change(stag, o);
    expect_refused(stag, o);
    EXPECT_EQ(query(stag), AdminStatus::kNotFound);
    EXPECT_EQ(write(kept, kTo, 100), Cause::kNone);
    expect_placed(r, 100, 100);
  }
  EXPECT_EQ(destroy(r.stag), AdminStatus::kInUse);
  good(bind(kept, {}));
  EXPECT_EQ(destroy(r.stag), AdminStatus::kOk);
}

TEST_F(RefusedBindTest, OfAnotherEntry) {
  ASSERT_EQ(b.b.command(AdminOpcode::kCreatePd, 1).status, AdminStatus::kOk);
  const Region r = region(1), other = region(1);
  const Operands o = part(r, 0, 8, kRw);
  const uint32_t fast = b.b.reg_fast(2), foreign = window(1, 1), gone = window(1), open = window(2);
  EXPECT_EQ(destroy(gone), AdminStatus::kOk);
  good(bind(open, part(other, 0, 8, kRw)));
  for (const uint32_t stag : {other.stag, r.stag, fast, foreign, foreign ^ 1, gone, open, open ^ 1})
    expect_refused(stag, o);
  expect_refused(foreign, {});
  EXPECT_EQ(query(open), AdminStatus::kOk);
  EXPECT_EQ(write(other.stag, other.to, 8), Cause::kNone);
  EXPECT_EQ(destroy(other.stag), AdminStatus::kInUse);
  EXPECT_EQ(destroy(r.stag), AdminStatus::kOk);
  EXPECT_EQ(destroy(fast), AdminStatus::kOk);
}

// The least rights of a region (first argument) that allow a window with these rights (second
// argument). Each bind takes the region's last byte. Then a region that ends at TO 2^64, all of it,
// and a region that only this QP may use.
TEST_F(RefusedBindTest, TheLeastThatIsEnough) {
  const uint32_t kept = window(1);
  const auto ok = [&](uint16_t of_region, uint16_t rights) {
    good(bind(kept, part(region(1, of_region), 4095, 1, rights)));
  };
  ok(0x10, 0);       // no right: bind alone
  ok(0x10, 0x4);     // remote read: the region need not grant it
  ok(0x11, 0x2);     // remote write: local write
  ok(0x11, 0x8);     // remote atomic: local write
  ok(0x110, 0x100);  // a flush right: the same right
  ok(0x210, 0x200);
  ok(0x311, 0x30e);  // all rights of windows: local write, bind, both flush rights
  const Region high = region(1, kAll, {.base_to = 0 - uint64_t{4096}});
  good(bind(kept, part(high, 4095, 1, kRw)));
  EXPECT_EQ(write(kept, kTo, 1), Cause::kNone);
  expect_placed(high, 4095, 1);
  good(bind(kept, part(high, 0, 4096, kRw)));
  const Region mine = region(1, kAll, {.qpn = p.b.qpn, .bound = 1});
  good(bind(kept, part(mine, 0, 4096, kRw)));
}

TEST_F(WindowTest, MalformedWqe) {
  struct Case {
    const char* name;
    std::function<void(spec::SqWqe& w)> change;
  };
  const std::vector<Case> cases = {
      {"length", [](auto& w) { w.length = 31; }},
      {"longer",
       [](auto& w) {
         w.length = 33;
         w.units = 2;
       }},
      {"an SGE", [](auto& w) { w.num_sge = 1; }},
      {"not inline", [](auto& w) { w.flags &= static_cast<uint8_t>(~kInline); }},
      {"disposition", [](auto& w) { w.disposition = 1; }},
  };
  const Region r = region(1);
  const uint32_t stag = window(1);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Bytes data(64);
    part(r, 0, 8, kRw).pack(data);
    auto w = wr(WrOpcode::kBindMw, kSignaled | kInline, kTo, stag);
    w.units = 1;
    w.length = 32;
    c.change(w);
    b.b.post_send(p.b.qpn, w, {}, data);
    EXPECT_EQ(b.b.wait(p.b.cqn).status, WcStatus::kLocQpOpErr);
    EXPECT_EQ(query(stag), AdminStatus::kNotFound);
    p = b.connect(setup());
  }
}

// create_mr of a window uses `pd`, `key` and `window` (1 or 2). All other arguments must be 0.
TEST_F(WindowTest, CreateChecksItsArguments) {
  const auto status = [&](auto change) {
    spec::AdminMrArgs a{.key = 0x77, .window = 2};
    change(a);
    return b.b.command(AdminOpcode::kCreateMr, 200, a).status;
  };
  const auto bad = [&](auto change) { EXPECT_EQ(status(change), AdminStatus::kBadArgument); };
  bad([](auto& a) { a.window = 3; });
  bad([](auto& a) { a.log_page = 12; });
  bad([](auto& a) { a.rights = 0x10; });
  bad([](auto& a) { a.qpn = 1; });
  bad([](auto& a) { a.base_to = uint64_t{1} << 63; });
  bad([](auto& a) { a.length = 1; });
  bad([](auto& a) { a.first_offset = 1; });
  bad([](auto& a) { a.pbl_base = 1; });
  bad([](auto& a) { a.page_list = 8; });
  bad([](auto& a) { a.pages = 1; });
  bad([](auto& a) { a.bound = 1; });
  bad([](auto& a) { a.fast = 1; });
  bad([](auto& a) {  // valid arguments if `window` were 0
    a.fast = 1;
    a.pages = 1;
    a.pbl_base = 10;
  });
  bad([](auto& a) { a.reserved1 = 1; });
  bad([](auto& a) { a.reserved2 = 1; });
  EXPECT_EQ(status([](auto& a) { a.pd = 3; }), AdminStatus::kNotFound);
  std::array<uint8_t, 56> args{};
  spec::AdminMrArgs{.key = 0x77, .window = 2}.pack(args);
  const auto rsp = b.b.command(AdminOpcode::kCreateMr, 200, args);
  EXPECT_EQ(rsp.status, AdminStatus::kOk);
  const auto result = spec::AdminMrResult::unpack(rsp.result);
  EXPECT_EQ(result.stag & 0xff, 0x77U);
  EXPECT_NE(result.stag >> 8, 0U);
  EXPECT_EQ(result.rights, 0);
  EXPECT_EQ(result.length, 0U);
  EXPECT_EQ(status([](auto&) {}), AdminStatus::kExists);
  EXPECT_EQ(status([](auto& a) { a.window = 1; }), AdminStatus::kExists);
}

// A region cannot both have windows and be invalidated by the peer.
TEST_F(WindowTest, ARegionIsBoundToOrInvalidated) {
  const auto status = [&](uint16_t rights) {
    const uint64_t list = b.b.alloc(8);
    return b.b
        .command(AdminOpcode::kCreateMr, 300,
                 spec::AdminMrArgs{.log_page = 12,
                                   .rights = rights,
                                   .length = 4096,
                                   .page_list = list,
                                   .pages = 1,
                                   .bound = 1})
        .status;
  };
  EXPECT_EQ(status(0x410), AdminStatus::kBadArgument);
  EXPECT_EQ(status(0x010), AdminStatus::kOk);
}

// --- tpt without other units

// The test calls tpt's behaviour as the other units do. command() is admin's. bind() is a WQE of
// the send queue: it returns kClaimed (bound), kRefused, or kWaits. kWaits: accesses through the
// window are in flight, or the window was bound and is now closed. The caller repeats such a bind
// after claimable(). translate() begins an access. Each extent that it returns is in flight until
// retired().

struct TableOut final : model::Tpt::Out {
  void tpt_cmd_rsp(const spec::TptCmdRsp& rsp) override { answer = rsp; }
  void invalidated(const spec::Invalidated&) override { ++closed; }
  void sq_local_done(const spec::SqLocalDone& d) override { done.push_back(d); }
  void claimable() override { ++claims; }
  spec::TptCmdRsp answer;
  std::vector<spec::SqLocalDone> done;
  int closed = 0, claims = 0;
};

/// A region in slot 1: 16000 bytes from TO 1000 on, in four pages of 4096 bytes at bus addresses
/// 0x10000, 0x20000, 0x30000 and 0x40000, from byte 300 of the first on; rights 0x1f: all but flush
/// and remote invalidate. A window of type 1 in slot 2; bind() binds it to TO 64 on. PD 2, QP 7.
struct TableTest : testing::Test {
  using Claim = model::Tpt::Claim;
  using Result = spec::TptResult;
  TableTest() {
    for (uint32_t i = 0; i < 4; ++i) tpt.pbl_wr({.index = 50 + i, .address = 0x10000 * (i + 1)});
    region = create(1, {.pd = 2,
                        .log_page = 12,
                        .rights = 0x1f,
                        .base_to = 1000,
                        .length = 16000,
                        .first_offset = 300,
                        .pbl_base = 50});
    window = create(2, {.pd = 2, .window = 1});
  }
  uint32_t create(uint32_t slot, const spec::AdminMrArgs& a) {
    std::array<uint8_t, 56> args{};
    a.pack(args);
    tpt.command({.opcode = spec::AdminOpcode::kCreateMr, .object = slot, .args = args});
    EXPECT_EQ(out.answer.status, spec::AdminStatus::kOk);
    return spec::AdminMrResult::unpack(out.answer.result).stag;
  }
  spec::AdminStatus destroy(uint32_t stag) {
    tpt.command({.opcode = spec::AdminOpcode::kDestroyMr, .object = stag});
    return out.answer.status;
  }
  Claim bind(uint32_t stag, Operands o) {
    spec::SqLocal request{.qpn = 7, .slot = 3, .stag = stag, .is_bind = 1, .pd = 2, .base = 64};
    if (o.length != 0) o.lkey = region;
    o.pack(request.operands);
    return tpt.bind(model::Tpt::Binding(request));
  }
  Result access(uint32_t stag, uint64_t to, uint32_t length, uint16_t rights = 2) {
    return tpt.translate(
        {.stag = stag, .tagged_offset = to, .length = length, .pd = 2, .qpn = 7, .rights = rights},
        extents);
  }
  void retire(size_t i) { tpt.retired({.epoch = extents.all()[i].epoch}); }

  TableOut out;
  model::Tpt tpt{spec::Sizes{}, out};
  model::ExtentList extents;
  uint32_t region = 0, window = 0;
};

// TO 8000 is byte 7000 of the region and byte 7300 of its pages: byte 3204 of the second page. The
// 5000 bytes end 12 bytes into the fourth: 892 + 4096 + 12.
TEST_F(TableTest, TranslatesThroughThePagesOfItsRegion) {
  EXPECT_EQ(bind(window, {.address = 8000, .length = 5000, .rights = 2}), Claim::kClaimed);
  EXPECT_EQ(access(window, 64, 5000), Result::kOk);
  ASSERT_EQ(extents.all().size(), 3U);
  EXPECT_EQ(extents.all()[0].address, 0x20000U + 3204);
  EXPECT_EQ(extents.all()[0].length, 892U);
  EXPECT_EQ(extents.all()[1].address, 0x30000U);
  EXPECT_EQ(extents.all()[1].length, 4096U);
  EXPECT_EQ(extents.all()[2].address, 0x40000U);
  EXPECT_EQ(extents.all()[2].length, 12U);
  EXPECT_EQ(access(window, 64 + 4988, 12), Result::kOk);
  EXPECT_EQ(access(window, 64 + 4988, 13), Result::kBounds);
}

TEST_F(TableTest, WithoutTrafficABindOfABoundWindowTakesTwoTries) {
  EXPECT_EQ(bind(window, {.address = 1000, .length = 10, .rights = 2}), Claim::kClaimed);
  EXPECT_EQ(out.claims, 0);
  EXPECT_EQ(bind(window + 1, {.address = 2000, .length = 10, .rights = 2}), Claim::kWaits);
  EXPECT_EQ(out.claims, 1);
  EXPECT_EQ(access(window, 64, 10), Result::kStag);
  EXPECT_EQ(bind(window + 1, {.address = 2000, .length = 10, .rights = 2}), Claim::kClaimed);
  EXPECT_EQ(access(window + 1, 64, 10), Result::kOk);
}

TEST_F(TableTest, ABindWaitsForAccessesInFlight) {
  const Operands first{.address = 1000, .length = 10, .rights = 2},
      next{.address = 2000, .length = 10};
  EXPECT_EQ(bind(window, first), Claim::kClaimed);
  EXPECT_EQ(access(window, 64, 10), Result::kOk);
  EXPECT_EQ(bind(window + 1, next), Claim::kWaits);
  EXPECT_EQ(access(window, 64, 10), Result::kStag);
  EXPECT_EQ(access(window + 1, 64, 10), Result::kStag);
  EXPECT_EQ(bind(window + 1, next), Claim::kWaits);  // closed, not drained
  EXPECT_EQ(out.claims, 0);
  retire(0);
  EXPECT_EQ(out.claims, 1);
  EXPECT_EQ(bind(window + 1, next), Claim::kClaimed);
  EXPECT_EQ(tpt.check({.stag = window + 1, .tagged_offset = 64, .pd = 2, .rights = 4}),
            Result::kRights);
}

// The window is closed, so the region may be destroyed before the bind is tried again.
TEST_F(TableTest, ABindIsCheckedAnew) {
  const Operands o{.address = 1000, .length = 10, .rights = 2};
  EXPECT_EQ(bind(window, o), Claim::kClaimed);
  EXPECT_EQ(destroy(region), spec::AdminStatus::kInUse);
  EXPECT_EQ(bind(window + 1, o), Claim::kWaits);
  EXPECT_EQ(destroy(region), spec::AdminStatus::kOk);
  EXPECT_EQ(bind(window + 1, o), Claim::kRefused);
  EXPECT_EQ(bind(window + 1, {}), Claim::kClaimed);
  EXPECT_EQ(destroy(window), spec::AdminStatus::kOk);
}

TEST_F(TableTest, AnInvalidatedWindowIsBoundBehindItsAccesses) {
  const Operands o{.address = 1000, .length = 10, .rights = 2};
  EXPECT_EQ(bind(window, o), Claim::kClaimed);
  EXPECT_EQ(access(window, 64, 10), Result::kOk);
  tpt.invalidate(spec::SqLocal{.qpn = 7, .slot = 4, .stag = window});
  EXPECT_EQ(destroy(region), spec::AdminStatus::kInProgress);  // no window, but an access in flight
  retire(0);
  ASSERT_EQ(out.done.size(), 1U);
  EXPECT_EQ(out.done[0], (spec::SqLocalDone{.qpn = 7, .slot = 4}));
  EXPECT_EQ(destroy(region), spec::AdminStatus::kOk);
}

// The refusal waits, as any invalidation does, until the earlier accesses have retired.
TEST_F(TableTest, AnInvalidationOfARegionWithWindowsIsRefusedInOrder) {
  EXPECT_EQ(bind(window, {.address = 1000, .length = 10, .rights = 2}), Claim::kClaimed);
  EXPECT_EQ(access(region, 1000, 10, 1), Result::kOk);
  tpt.invalidate(spec::SqLocal{.qpn = 7, .slot = 4, .stag = region});
  EXPECT_TRUE(out.done.empty());
  EXPECT_EQ(access(region, 1000, 10, 1), Result::kOk);
  retire(0);
  ASSERT_EQ(out.done.size(), 1U);
  EXPECT_EQ(out.done[0], (spec::SqLocalDone{.qpn = 7, .slot = 4, .result = Result::kBind}));
  tpt.invalidate(spec::SqLocal{.qpn = 7, .slot = 4, .stag = region + 1});  // wrong key: no effect
  retire(1);
  ASSERT_EQ(out.done.size(), 2U);
  EXPECT_EQ(out.done[1].result, Result::kOk);
}

// A window that a destroy_mr has closed, and that still drains, may be bound again.
TEST_F(TableTest, ADestroyedWindowThatDrains) {
  const Operands o{.address = 1000, .length = 10, .rights = 2};
  EXPECT_EQ(bind(window, o), Claim::kClaimed);
  EXPECT_EQ(access(window, 64, 10), Result::kOk);
  EXPECT_EQ(destroy(window), spec::AdminStatus::kInProgress);
  EXPECT_FALSE(tpt.has_windows(region));
  EXPECT_EQ(bind(window, o), Claim::kWaits);
  retire(0);
  EXPECT_EQ(out.claims, 1);
  EXPECT_EQ(bind(window, o), Claim::kClaimed);
  EXPECT_TRUE(tpt.has_windows(region));
  EXPECT_EQ(destroy(window), spec::AdminStatus::kOk);
  EXPECT_FALSE(tpt.has_windows(region));
  EXPECT_EQ(tpt.waiting_for(), "");
}

// Before create_mr, admin sends query_mr with the same arguments to learn whether the slot is used.
TEST_F(TableTest, IsAskedForASlot) {
  std::array<uint8_t, 56> args{};
  spec::AdminMrArgs{.window = 2}.pack(args);
  const auto used = [&](uint32_t slot) {
    tpt.command({.opcode = spec::AdminOpcode::kQueryMr, .object = slot, .args = args});
    return out.answer.status;
  };
  EXPECT_EQ(used(2), spec::AdminStatus::kOk);
  EXPECT_EQ(used(3), spec::AdminStatus::kNotFound);
}

// The STag of a destroyed window, whose slot holds another window.
TEST_F(TableTest, AnEarlierWindowOfTheSlot) {
  const Operands o{.address = 1000, .length = 10, .rights = 2};
  EXPECT_EQ(destroy(window), spec::AdminStatus::kOk);
  const uint32_t next = create(2, {.pd = 2, .window = 1});
  ASSERT_NE(next, window);
  ASSERT_EQ(tpt.slot_of(next), tpt.slot_of(window));
  EXPECT_EQ(bind(window, o), Claim::kRefused);
  EXPECT_EQ(bind(next, o), Claim::kClaimed);
  EXPECT_EQ(bind(window, o), Claim::kRefused);
}

// Rights come before bounds; STag and association before rights.
TEST_F(TableTest, AWindowIsNoLocalKey) {
  EXPECT_EQ(bind(window, {.address = 1000, .length = 10, .rights = 2}), Claim::kClaimed);
  const spec::WqeCheck good{.stag = window, .tagged_offset = 64, .length = 10, .pd = 2, .qpn = 7};
  const auto result = [&](auto change) {
    auto c = good;
    change(c);
    return tpt.check(c);
  };
  EXPECT_EQ(result([](auto&) {}), Result::kRights);
  EXPECT_EQ(result([](auto& c) { c.rights = 1; }), Result::kRights);
  EXPECT_EQ(result([](auto& c) { c.length = 11; }), Result::kRights);
  EXPECT_EQ(result([](auto& c) { c.pd = 3; }), Result::kAssoc);
  EXPECT_EQ(result([](auto& c) { c.stag ^= 1; }), Result::kStag);
  EXPECT_EQ(result([](auto& c) { c.invalidate = 1; }), Result::kOk);  // local_inv
  EXPECT_EQ(result([](auto& c) { c.rights = 2; }), Result::kOk);
}

}  // namespace
}  // namespace rnic::tb

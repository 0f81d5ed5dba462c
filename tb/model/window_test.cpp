// Memory windows: a WQE binds an STag to a range of a region, for the peer. Accesses that a window
// allows, how it closes, and the commands that it blocks. Refused binds: window_error_test.cpp
//
// Names of window.hpp: `b` is the bench; side `b.b` has regions and windows, side `b.a` is its
// peer. `p` is a connected pair of QPs: `p.a` on side a, `p.b` on side b. write(), read() and so on
// are accesses of the peer: they return the cause for which b refused them, or kNone. `kept` is the
// STag that create_mr returned; each bind chooses new low 8 bits (`kept ^ 0x0f`), and only the
// latest ones are valid.
#include "window.hpp"

#include <functional>

namespace rnic::tb {
namespace {

// 200 bytes on two pages of a region whose first byte is byte 100 of a page: bytes 3900 to 4099 of
// the region lie at 4000 to 4199 of its pages. Rights 6: remote write and remote read.
TEST_F(WindowTest, GrantsItsRangeAndNoMore) {
  const Region r = region(3, kAll, {.base_to = 0x5000'0010, .first_offset = 100});
  for (const uint8_t type : std::array<uint8_t, 2>{1, 2}) {
    SCOPED_TRACE(int{type});
    uint32_t kept = 0, stag = 0;
    // After a refused access, which has ended the QP: a window of type 2 was bound to that QP, so
    // it is made and bound anew.
    const auto again = [&] {
      if (kept != 0 && type == 1) return;
      if (kept != 0) {
        EXPECT_EQ(destroy(kept), AdminStatus::kOk);
      }
      kept = window(type);
      stag = kept ^ 0x0f;
      EXPECT_EQ(query(kept), AdminStatus::kNotFound);
      good(bind(stag, part(r, 3900, 200, kRw)));
      EXPECT_EQ(query(kept), AdminStatus::kNotFound);
    };
    again();
    const auto open = b.b.command(AdminOpcode::kQueryMr, stag);
    EXPECT_EQ(open.status, AdminStatus::kOk);
    const auto result = spec::AdminMrResult::unpack(open.result);
    EXPECT_EQ(result.length, 200U);
    EXPECT_EQ(result.rights, type == 1 ? 0x006 : 0x406);  // remote invalidate only with type 2

    EXPECT_EQ(write(stag, kTo, 200), Cause::kNone);
    expect_placed(r, 3900, 200);
    EXPECT_EQ(write(stag, kTo + 199, 1), Cause::kNone);
    expect_placed(r, 4099, 1);
    EXPECT_EQ(read(stag, kTo + 1, 199), Cause::kNone);
    for (uint32_t i = 0; i < 199; ++i)
      ASSERT_EQ(b.a.memory[bus(am) + 32768 + i], b.b.memory[r.bus(3901 + i)]) << i;

    EXPECT_EQ(write(stag, kTo - 1, 1), Cause::kDdpTaggedBounds);
    again();
    EXPECT_EQ(write(stag, kTo + 199, 2), Cause::kDdpTaggedBounds);
    again();
    EXPECT_EQ(read(stag, kTo + 200, 1), Cause::kRdmapBounds);
    again();
    EXPECT_EQ(write(kept, kTo, 1), Cause::kDdpTaggedStag);
    EXPECT_EQ(destroy(kept), AdminStatus::kOk);
  }
  EXPECT_EQ(destroy(r.stag), AdminStatus::kOk);
  EXPECT_EQ(b.b.device().waiting_for(), "");
}

// Each right of a window allows its own operations of the peer. flush() takes the disposition: 1
// global visibility, 2 persistence.
TEST_F(WindowTest, GrantsItsRightsAndNoMore) {
  const Region r = region(1);
  using Access = std::function<Cause(uint32_t stag)>;
  struct Row {
    const char* name;
    Access access;
    uint16_t right;
    Cause refused;
  };
  const std::vector<Row> rows = {
      {"write", [&](uint32_t s) { return write(s, kTo, 8); }, 0x2, Cause::kDdpTaggedStag},
      {"read", [&](uint32_t s) { return read(s, kTo, 8); }, 0x4, Cause::kRdmapRights},
      {"add", [&](uint32_t s) { return add(s, kTo, 1); }, 0x8, Cause::kRdmapRights},
      {"store", [&](uint32_t s) { return store(s, kTo, 1); }, 0x2, Cause::kRdmapRights},
      {"flush", [&](uint32_t s) { return flush(s, kTo, 8, 1); }, 0x100, Cause::kRdmapRights},
      {"persist", [&](uint32_t s) { return flush(s, kTo, 8, 2); }, 0x200, Cause::kRdmapRights},
  };
  const uint32_t kept = window(1);
  uint32_t stag = kept;
  for (const uint16_t right : std::array<uint16_t, 5>{0x2, 0x4, 0x8, 0x100, 0x200}) {
    stag = (stag & ~0xffU) | ((stag + 1) & 0xff);
    good(bind(stag, part(r, 2048, 64, right)));
    for (const Row& row : rows) {
      SCOPED_TRACE(std::string(row.name) + " " + std::to_string(right));
      EXPECT_EQ(row.access(stag), row.right == right ? Cause::kNone : row.refused);
    }
  }
  const uint64_t before = base::load_le<uint64_t>(&b.b.memory[r.bus(2048)]);
  good(bind(kept, part(r, 2048, 64, 0x8)));
  EXPECT_EQ(add(kept, kTo, 41), Cause::kNone);
  EXPECT_EQ(base::load_le<uint64_t>(&b.b.memory[r.bus(2048)]), before + 41);
}

// Without rights a window allows no access.
TEST_F(WindowTest, WithoutRights) {
  const Region r = region(1, spec::kAccessMwBind);
  const uint32_t stag = window(1);
  good(bind(stag, part(r, 0, 4096, 0)));
  EXPECT_EQ(write(stag, kTo, 1), Cause::kDdpTaggedStag);
  EXPECT_EQ(read(stag, kTo, 1), Cause::kRdmapRights);
}

TEST_F(WindowTest, NeedsNoPrivilegeAndAnyQpOfThePdMayUseType1) {
  p = b.connect();
  const Region r = region(1);
  const uint32_t one = window(1), two = window(2);
  good(bind(one, part(r, 0, 4096, kRw)));
  good(bind(two, part(r, 0, 4096, kRw)));
  EXPECT_EQ(write(two, kTo, 9), Cause::kNone);
  p = b.connect(setup());
  EXPECT_EQ(write(one, kTo, 10), Cause::kNone);
  expect_placed(r, 0, 10);
  EXPECT_EQ(write(two, kTo, 9), Cause::kDdpTaggedAssoc);
  ASSERT_EQ(b.b.command(AdminOpcode::kCreatePd, 1).status, AdminStatus::kOk);
  connect_in_pd(1);
  EXPECT_EQ(write(one, kTo, 9), Cause::kDdpTaggedAssoc);
}

TEST_F(WindowTest, UnbindsWithLength0) {
  const Region r = region(1);
  const uint32_t kept = window(1);
  for (uint32_t i = 0; i < 3; ++i) {
    const uint32_t open = kept ^ (2 * i + 1), closed = kept ^ (2 * i + 2);
    good(bind(open, part(r, 100 * i, 100, kRw)));
    EXPECT_EQ(write(open, kTo, 100), Cause::kNone);
    expect_placed(r, 100 * i, 100);
    EXPECT_EQ(destroy(r.stag), AdminStatus::kInUse);
    // Only the window is checked: the region's key and rights are ignored.
    good(bind(closed, {.address = 77, .length = 0, .lkey = i, .rights = kRw}));
    EXPECT_EQ(query(open), AdminStatus::kNotFound);
    EXPECT_EQ(query(closed), AdminStatus::kNotFound);
    EXPECT_EQ(write(open, kTo, 1), Cause::kDdpTaggedStag);
    EXPECT_EQ(write(closed, kTo, 1), Cause::kDdpTaggedStag);
  }
  good(bind(kept, {}));  // unbinds an unbound window
  EXPECT_EQ(destroy(r.stag), AdminStatus::kOk);
}

TEST_F(WindowTest, Type2IsInvalidatedAndBoundAnew) {
  const Region r = region(2);
  const uint32_t kept = window(2);
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t stag = kept ^ i;
    good(bind(stag, part(r, 1000 * i, 100, kRw)));
    EXPECT_EQ(write(stag, kTo, 100), Cause::kNone);
    expect_placed(r, 1000 * i, 100);
    if (i % 2 == 0) {
      EXPECT_EQ(invalidate(stag), Cause::kNone);
    } else {
      closed_by_us(stag);
    }
    EXPECT_EQ(query(stag), AdminStatus::kNotFound);
    EXPECT_EQ(write(stag, kTo, 1), Cause::kDdpTaggedStag);
  }
  EXPECT_EQ(invalidate(kept ^ 3), Cause::kRdmapInvStag);
}

TEST_F(WindowTest, ThePeerMayNotInvalidateType1) {
  const Region r = region(1);
  const uint32_t stag = window(1);
  good(bind(stag, part(r, 0, 100, kRw)));
  EXPECT_EQ(invalidate(stag), Cause::kRdmapInvStag);
  EXPECT_EQ(write(stag, kTo, 100), Cause::kNone);
  closed_by_us(stag);  // the owner may invalidate it
  EXPECT_EQ(write(stag, kTo, 100), Cause::kDdpTaggedStag);
}

// A region whose pages were registered through the send queue.
TEST_F(WindowTest, OfAFastRegion) {
  const uint32_t kept = b.b.reg_fast(2), stag = window(2);
  const uint64_t buffer = b.b.alloc(3 * 4096), list = b.b.alloc(24);
  for (uint32_t i = 0; i < 3; ++i)
    base::store_le<uint64_t>(&b.b.memory[list + 8ULL * i], buffer + 4096ULL * (2 - i));
  const auto reg = [&](uint32_t fast, uint16_t rights) {
    Bytes data(spec::RegOperands::kBytes);
    spec::RegOperands{.page_list = list,
                      .length = 8000,
                      .first_offset = 4000,
                      .pages = 3,
                      .rights = rights,
                      .log_page = 12}
        .pack(data);
    b.b.post_send(p.b.qpn, wr(WrOpcode::kRegMr, kSignaled | kInline, 0x9000, fast), {}, data);
    return b.b.wait(p.b.cqn).status;
  };
  EXPECT_EQ(reg(kept, kAll), WcStatus::kSuccess);
  // Byte 5000 is byte 9000 of the pages: byte 808 of the third page, whose bus address is the
  // lowest.
  good(bind(stag, {.address = 0x9000 + 5000, .length = 3000, .lkey = kept, .rights = kRw}));
  EXPECT_EQ(write(stag, kTo + 2000, 1000), Cause::kNone);
  EXPECT_EQ(b.b.bytes(buffer + 808 + 2000, 1000), b.a.bytes(bus(am), 1000));
  EXPECT_EQ(destroy(kept ^ 0x77), AdminStatus::kInUse);
  EXPECT_EQ(local_inv(kept).status, WcStatus::kMwBindErr);
  p = b.connect(setup());
  EXPECT_EQ(destroy(stag ^ 1), AdminStatus::kOk);
  closed_by_us(kept);
  EXPECT_EQ(reg(kept, kAll | spec::kAccessRemoteInvalidate), WcStatus::kMwBindErr);
}

// destroy_mr and the invalidation of a region are refused until its last window closes, however it
// closes.
TEST_F(WindowTest, ARegionIsHeldByItsWindows) {
  struct Way {
    const char* name;
    uint8_t type;
    std::function<void(uint32_t stag)> close;
  };
  const Region other = region(1);
  const std::vector<Way> ways = {
      {"the peer's invalidation", 2, [&](uint32_t s) { EXPECT_EQ(invalidate(s), Cause::kNone); }},
      {"our invalidation, type 1", 1, [&](uint32_t s) { closed_by_us(s); }},
      {"our invalidation, type 2", 2, [&](uint32_t s) { closed_by_us(s); }},
      {"destroy_mr", 1, [&](uint32_t s) { EXPECT_EQ(destroy(s ^ 0xff), AdminStatus::kOk); }},
      {"destroy_mr, type 2", 2, [&](uint32_t s) { EXPECT_EQ(destroy(s), AdminStatus::kOk); }},
      {"a bind to another region", 1,
       [&](uint32_t s) { good(bind(s ^ 1, part(other, 0, 9, kRw))); }},
      {"unbound", 1, [&](uint32_t s) { good(bind(s ^ 1, {})); }},
  };
  for (const Way& way : ways) {
    SCOPED_TRACE(way.name);
    const Region r = region(1);
    const uint32_t first = window(1), last = window(way.type);
    good(bind(first, part(r, 0, 100, kRw)));
    good(bind(last, part(r, 50, 100, kRw)));
    good(bind(first ^ 1, part(r, 7, 10, kRw)));  // still one window
    EXPECT_EQ(destroy(r.stag), AdminStatus::kInUse);
    good(bind(first, {}));
    EXPECT_EQ(destroy(r.stag), AdminStatus::kInUse);
    EXPECT_EQ(query(r.stag), AdminStatus::kOk);
    way.close(last);
    EXPECT_EQ(destroy(r.stag), AdminStatus::kOk);
    EXPECT_EQ(query(r.stag), AdminStatus::kNotFound);
  }
  EXPECT_EQ(destroy(other.stag), AdminStatus::kInUse);
}

// A local invalidation of a region with a window ends the QP and changes nothing.
TEST_F(WindowTest, AnInvalidationOfAHeldRegionIsRefused) {
  const Region r = region(1);
  const uint32_t stag = window(1);
  good(bind(stag, part(r, 0, 100, kRw)));
  b.b.put_send(p.b.qpn, wr(WrOpcode::kLocalInv, 0, 0, r.stag), {});
  b.b.post_send(p.b.qpn, wr(WrOpcode::kSend), {});
  EXPECT_EQ(b.b.wait(p.b.cqn).status, WcStatus::kMwBindErr);
  EXPECT_EQ(b.b.wait(p.b.cqn).status, WcStatus::kWrFlushErr);
  EXPECT_EQ(b.b.query(p.b.qpn).cause, Cause::kLocalCatastrophic);
  p = b.connect(setup());
  EXPECT_EQ(query(r.stag), AdminStatus::kOk);
  EXPECT_EQ(write(r.stag, r.to, 50), Cause::kNone);
  EXPECT_EQ(write(stag, kTo, 100), Cause::kNone);
  expect_placed(r, 0, 100);
  good(bind(stag, {}));
  closed_by_us(r.stag);
  EXPECT_EQ(destroy(r.stag), AdminStatus::kOk);
}

TEST_F(WindowTest, DestroyIgnoresTheLowBits) {
  ASSERT_EQ(b.b.command(AdminOpcode::kCreatePd, 1).status, AdminStatus::kOk);
  const uint32_t kept = window(2, 1);
  EXPECT_EQ(b.b.command(AdminOpcode::kDestroyPd, 1).status, AdminStatus::kInUse);
  EXPECT_EQ(destroy(kept ^ 0x100), AdminStatus::kNotFound);
  EXPECT_EQ(destroy(kept ^ 0xff), AdminStatus::kOk);
  EXPECT_EQ(destroy(kept), AdminStatus::kNotFound);
  EXPECT_EQ(b.b.command(AdminOpcode::kDestroyPd, 1).status, AdminStatus::kOk);
}

// A window is no local key: of a Send, of the sink of a Read, of a receive.
TEST_F(WindowTest, IsNoLocalKey) {
  const Region r = region(1);
  const uint32_t stag = window(1);
  good(bind(stag, part(r, 0, 100, kRw)));
  const spec::WqeSge local{.address = kTo, .length = 8, .lkey = stag};
  for (const auto op : {WrOpcode::kSend, WrOpcode::kRdmaWrite, WrOpcode::kRdmaRead}) {
    b.b.post_send(p.b.qpn, wr(op, kSignaled, am.address, am.stag), {local});
    EXPECT_EQ(b.b.wait(p.b.cqn).status, WcStatus::kLocProtErr);
    p = b.connect(setup());
  }
  b.b.post_recv(p.b.qpn, {local});
  b.a.post_send(p.a.qpn, wr(WrOpcode::kSend), {sge(am, 0, 8)});
  EXPECT_EQ(b.b.wait(p.b.cqn).status, WcStatus::kLocProtErr);
}

// --- under traffic

struct RandomWindowTest : WindowTest {
  static Options random_dma() {
    Options o;
    o.random_dma = true;
    return o;
  }
  RandomWindowTest() : WindowTest(random_dma()) {}
};

// The peer writes while the window is bound to other bytes. After the completion of the bind
// nothing more is placed through the old key.
TEST_F(RandomWindowTest, IsBoundAnewUnderTraffic) {
  const Region r = region(8);
  const uint32_t kept = window(1);
  uint32_t stopped_midway = 0;
  for (uint32_t round = 0; round < 12; ++round) {
    SCOPED_TRACE(round);
    const uint32_t old = kept ^ (2 * round + 1), next = kept ^ (2 * round + 2);
    good(bind(old, part(r, 0, 16384, kRw)));
    const auto other = b.connect(setup());  // the refused Writes do not end its QP
    b.a.fill(bus(am), 16384, round + 1);
    for (uint32_t i = 0; i < 30; ++i)
      b.a.put_send(p.a.qpn, wr(WrOpcode::kRdmaWrite, 0, kTo + 500 * i, old),
                   {sge(am, 500 * i, 500)});
    b.a.ring_sq(p.a.qpn);
    b.clock.settle(300 + 60 * round);
    put_bind(other.b.qpn, next, part(r, 16384, 16384, kRw));
    b.b.ring_sq(other.b.qpn);
    good(b.b.wait(other.b.cqn));
    const auto bytes = [&] {
      Bytes all;
      for (const uint64_t page : r.pages) {
        const Bytes one = b.b.bytes(page, 4096);
        all.insert(all.end(), one.begin(), one.end());
      }
      return all;
    };
    const Bytes then = bytes();
    const Bytes sent = b.a.bytes(bus(am), 15000);
    const bool first = std::equal(sent.begin(), sent.begin() + 500, then.begin());
    const bool last = std::equal(sent.end() - 500, sent.end(), then.begin() + 14500);
    stopped_midway += first && !last ? 1 : 0;
    b.clock.settle();
    EXPECT_EQ(bytes(), then);
    if (!last) {
      EXPECT_EQ(b.b.query(p.b.qpn).cause, Cause::kDdpTaggedStag);
    }
    p = b.connect(setup());
    EXPECT_EQ(write(next, kTo, 3000), Cause::kNone);
    expect_placed(r, 16384, 3000);
  }
  EXPECT_GE(stopped_midway, 4U);
}

// A bind waits for a Write that is being placed through its window. The next WQE waits for the
// bind.
TEST_F(WindowTest, WaitsForWhatIsInFlight) {
  const Region r = region(1);
  const uint32_t stag = window(1);
  for (const bool is_open : {false, true}) {
    SCOPED_TRACE(is_open);
    good(bind(stag, is_open ? part(r, 0, 4096, kRw) : spec::BindOperands{}));
    const uint32_t to = is_open ? stag : r.stag;
    b.b.hold_writes(true);
    b.a.post_send(p.a.qpn, wr(WrOpcode::kRdmaWrite, 0, is_open ? kTo : r.to, to),
                  {sge(am, 0, 4096)});
    b.clock.settle(3000);
    const size_t sent = b.b.sent.size();
    put_bind(p.b.qpn, stag ^ 1, part(r, 0, 100, kRw));
    b.b.post_send(p.b.qpn, wr(WrOpcode::kRdmaWrite, kSignaled, am.address, am.stag), {});
    b.clock.settle(3000);
    EXPECT_EQ(b.b.sent.size() - sent, is_open ? 0U : 1U);
    b.b.hold_writes(false);
    good(b.b.wait(p.b.cqn));
    EXPECT_EQ(b.b.wait(p.b.cqn).opcode, WcOpcode::kRdmaWrite);
    EXPECT_EQ(b.b.sent.size() - sent, 1U);
    EXPECT_EQ(write(stag ^ 1, kTo, 100), Cause::kNone);
    expect_placed(r, 0, 100);
  }
}

}  // namespace
}  // namespace rnic::tb

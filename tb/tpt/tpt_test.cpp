// tpt: STags, checks and their order, extents, groups, stalled clients that block no other,
// destroy_mr against lookups and extents in flight. Reference: tpt_world.hpp.
//
// tpt has five clients. Their requests come as groups of pieces, each an STag, a TO and a length:
//   wqe, resp   only checked: one response per group
//   rx          received segment, up to 3 pieces: one response; if it is ok, extents of all pieces
//   tx          segment to be sent, up to 14 pieces: extents; the first failed piece ends the group
//   qn1         the word of an atomic: one piece, one extent
// An extent is one run of bus addresses within a page. It is in flight until the test retires it:
// rd_retired (tx), wr_retired or rx_dropped (rx), qn1_retired. destroy_mr closes its region at
// once, and returns in_progress until lookups and extents that saw the region open are done.
#include <algorithm>
#include <array>
#include <deque>
#include <set>

#include "VTpt.h"
#include "VTptMin.h"
#include "VTptMin___024root.h"
#include "VTptMin_rnic_stall_pkg.h"
#include "VTpt___024root.h"
#include "tpt/tpt_model.hpp"
#include "tpt/tpt_world.hpp"

namespace rnic::tb {
namespace {

using spec::AdminOpcode;
using spec::AdminStatus;
using spec::TptResult;

constexpr uint64_t kKey = 0x0123456789abcdef;
enum class Of : uint8_t { kRx, kTx, kQn1 };  // kind of extent

template <class D>
class TptTest : public testing::Test {
 protected:
  D dut;

  /// Runs `body` at each pace of the streams, in a new world each time.
  template <class F>
  void worlds(F body) {
    each_pace([&](Pace p) {
      dut.restart(p);
      TptWorld<D> w(dut, kKey, test_rng("world"));
      body(w, p);
    });
  }
  /// 64 KiB in pages of 4 KiB. The region begins within the first page, at a TO that is no page
  /// boundary.
  static Region plain(uint32_t pbl_base = 0) {
    return {.base = 0x12345, .length = 0x10000, .first = 0x678, .pbl_base = pbl_base};
  }
  /// The commit of a check must be the next piece that its client has asked for.
  static void take(std::deque<spec::WqeCheck> (&asked)[6], const spec::TptCheckCommit& c) {
    ASSERT_LT(c.client, 6);
    ASSERT_FALSE(asked[c.client].empty()) << c.describe();
    EXPECT_EQ((spec::WqeCheck{.stag = c.stag,
                              .tagged_offset = c.tagged_offset,
                              .length = c.length,
                              .pd = c.pd,
                              .qpn = c.qpn,
                              .rights = c.rights,
                              .invalidate = c.invalidate,
                              .last = c.last}),
              asked[c.client].front());
    asked[c.client].pop_front();
  }
};

using Duts = testing::Types<TptDut<VTpt, false>, TptDut<VTptMin, true>, TptModelDut<false>,
                            TptModelDut<true>>;
TYPED_TEST_SUITE(TptTest, Duts);

/// RTL only: what depends on cycles, and the commit tap.
template <class D>
class TptRtlTest : public TptTest<D> {};
using RtlDuts = testing::Types<TptDut<VTpt, false>, TptDut<VTptMin, true>>;
TYPED_TEST_SUITE(TptRtlTest, RtlDuts);

TYPED_TEST(TptTest, StagIsThePermutationOfGenerationAndSlot) {
  this->worlds([&](auto& w, Pace p) {
    const uint32_t last = w.sizes().num_stags - 1;
    for (const uint32_t slot : {0U, 1U, 5U, last / 2, last}) {
      std::set<uint32_t> seen;
      for (unsigned i = 0; i < 12; i++) {
        auto r = this->plain();
        r.key = static_cast<uint8_t>(w.rng().next());
        r.pd = static_cast<uint16_t>(w.rng().next());
        r.rights = static_cast<uint16_t>(w.rng().below(8));
        const uint32_t stag = w.create(slot, r);
        EXPECT_TRUE(seen.insert(stag >> 8).second)
            << "an STag came back after " << i << " generations";
        EXPECT_EQ(w.create_rsp(slot, this->plain()).status, AdminStatus::kExists);
        EXPECT_TRUE(w.slot_used(slot));
        EXPECT_FALSE(w.slot_used(slot ^ 1));
        w.query(stag);
        w.query(stag ^ 1);      // another key
        w.query(stag ^ 0x100);  // another slot or generation
        w.query(0);
        for (const uint32_t old : seen)
          if (old != stag >> 8) w.query(old << 8 | r.key);
        w.destroy(stag ^ 0x80);  // not found, no effect
        w.query(stag);
        w.destroy(stag);
        EXPECT_FALSE(w.slot_used(slot));
        w.query(stag);
        w.destroy(stag);
      }
    }
    if (p.idle != 0 || p.stall != 0) return;
    for (uint32_t slot = 0; slot < 64; slot++) {
      EXPECT_FALSE(w.slot_used(slot));
      w.create(slot, this->plain());
    }
    for (const auto& [stag, region] : w.regions()) w.query(stag);
  });
}

TYPED_TEST(TptTest, OtherKeysGiveOtherStagsAndZeroIsSkipped) {
  // A key under which the STag of an early generation of some slot would be 0, found by search.
  const unsigned bits = TptWorld<TypeParam>::slot_bits();
  auto rng = test_rng("key");
  for (uint32_t generation = 0; generation < 2; generation++) {
    uint64_t key = rng.next();
    while (turned_back(0, key) >> bits != generation) key = rng.next();
    const uint32_t slot = turned_back(0, key) & ((1U << bits) - 1);
    ASSERT_EQ(permuted(generation << bits | slot, key), 0U);
    this->dut.restart({20, 20});
    TptWorld<TypeParam> w(this->dut, key, rng.fork("world"));
    std::set<uint32_t> seen;
    for (unsigned i = 0; i < 4; i++) {
      const uint32_t stag = w.create(slot, this->plain());
      EXPECT_NE(stag >> 8, 0U);
      EXPECT_TRUE(seen.insert(stag).second);
      w.ask_rx({w.region(stag).item(stag, 0, 100)});
      w.finish();
      w.destroy(stag);
    }
  }
}

TYPED_TEST(TptTest, GenerationsWrap) {
  if (TptWorld<TypeParam>::slot_bits() < 14) return;  // too many generations for a test
  this->dut.restart({});
  TptWorld<TypeParam> w(this->dut, kKey, test_rng());
  const Region r{.base = 0, .length = 1};
  std::set<uint32_t> seen;
  uint32_t first = 0;
  const unsigned generations = 1U << (24 - w.slot_bits());
  for (unsigned i = 0; i <= generations; i++) {
    const uint32_t stag = w.create(3, r);
    if (i == 0) first = stag;
    EXPECT_EQ(seen.insert(stag).second, i < generations) << i;
    w.destroy(stag);
    if (i == generations) {
      EXPECT_EQ(stag, first);
    }
  }
}

TYPED_TEST(TptTest, ChecksAndTheirOrder) {
  this->worlds([&](auto& w, Pace) {
    constexpr uint64_t kTop = ~uint64_t{0};
    const uint32_t mid =
        w.create(1, {.pd = 7, .rights = 5, .base = 0x1000'0123, .length = 0x9000, .first = 0x77});
    const uint32_t top = w.create(
        2, {.pd = 7, .rights = 7, .base = kTop - 0x2fff, .length = 0x3000, .pbl_base = 16});
    const uint32_t beyond =
        w.create(3, {.pd = 7, .rights = 7, .base = kTop - 0xfff, .length = 0x3000, .pbl_base = 24});
    const uint32_t huge =
        w.create(4, {.pd = 0xffff, .rights = 0, .base = 0, .length = 0x4000, .pbl_base = 32});
    const uint32_t tiny = w.create(
        5, {.pd = 0, .rights = 2, .base = kTop, .length = 1, .first = 4095, .pbl_base = 40});
    struct Row {
      spec::WqeCheck item;
      TptResult result;
    };
    const Region m = w.region(mid);
    auto at = [](uint32_t stag, uint64_t to, uint32_t n, uint16_t pd = 7, uint16_t rights = 0) {
      return spec::WqeCheck{
          .stag = stag, .tagged_offset = to, .length = n, .pd = pd, .rights = rights};
    };
    const auto ok = TptResult::kOk, no_stag = TptResult::kStag, assoc = TptResult::kAssoc,
               rights = TptResult::kRights, wrap = TptResult::kWrap, bounds = TptResult::kBounds;
    std::vector<Row> rows = {
        {at(mid, m.base, 1), ok},
        {at(mid, m.base - 1, 1), bounds},
        {at(mid, m.base - 1, 2), bounds},
        {at(mid, m.base - 1, 0x9002), bounds},
        {at(mid, m.base, 0x9000), ok},
        {at(mid, m.base, 0x9001), bounds},
        {at(mid, m.base + 0x8fff, 1), ok},
        {at(mid, m.base + 0x8fff, 2), bounds},
        {at(mid, m.base + 0x9000, 1), bounds},
        {at(mid, 0, 1), bounds},
        {at(mid, kTop, 1), bounds},
        {at(mid, kTop, 2), wrap},
        {at(mid, m.base + (uint64_t{1} << 49), 1), bounds},
        {at(mid, m.base + (uint64_t{1} << 63), 1), bounds},
        // each right present, and each missing: 1 local write, 2 remote write, 4 remote read
        {at(mid, m.base, 8, 7, 1), ok},
        {at(mid, m.base, 8, 7, 4), ok},
        {at(mid, m.base, 8, 7, 5), ok},
        {at(mid, m.base, 8, 7, 2), rights},
        {at(mid, m.base, 8, 7, 7), rights},
        {at(mid, m.base, 8, 7, 0x8000), rights},
        {at(huge, 0, 8, 0xffff, 1), rights},
        {at(huge, 0, 8, 0xffff, 0), ok},
        // Order: the first check that fails wins.
        {at(mid ^ 1, kTop, 2, 8, 2), no_stag},
        {at(mid ^ 0x8000'0000, m.base, 1), no_stag},
        {at(mid ^ 0x100, m.base, 1), no_stag},
        {at(0, m.base, 1), no_stag},
        {at(~0U, m.base, 1), no_stag},
        {at(mid, kTop, 2, 8, 2), assoc},
        {at(mid, m.base, 1, 8), assoc},
        {at(mid, m.base, 1, 0x8007), assoc},
        {at(mid, kTop, 2, 7, 2), rights},
        {at(mid, m.base - 1, 1, 7, 2), rights},
        {at(mid, kTop, 0x9000), wrap},
        // Up to exactly 2^64 is no wrap.
        {at(top, kTop - 0x2fff, 0x3000), ok},
        {at(top, kTop, 1), ok},
        {at(top, kTop, 2), wrap},
        {at(top, kTop - 0x2fff, 0x3001), wrap},
        {at(top, kTop - 0x3000, 0x3001), bounds},
        {at(top, kTop - 0x3000, 0x3002), wrap},
        {at(top, 0, 1), bounds},
        {at(tiny, kTop, 1, 0), ok},
        {at(tiny, kTop - 1, 2, 0), bounds},
        {at(tiny, kTop, 2, 0), wrap},
        {at(tiny, 0, 1, 0), bounds},
        // A region that extends beyond 2^64: its end has no address.
        {at(beyond, kTop - 0xfff, 0x1000), ok},
        {at(beyond, kTop - 0xfff, 0x1001), wrap},
        {at(beyond, kTop, 1), ok},
        {at(beyond, 0, 1), bounds},
        {at(huge, 0, 0x4000, 0xffff), ok},
        {at(huge, 0x4000, 1, 0xffff), bounds},
    };
    for (const auto& row : rows) {
      SCOPED_TRACE(row.item.describe());
      EXPECT_EQ(w.judge(row.item), row.result);
      w.ask_wqe({row.item});
      w.ask_resp({row.item});
      w.ask_rx({row.item});
      w.ask_tx({row.item});
      w.ask_qn1(row.item);
    }
    w.finish();
  });
}

/// An STag that is bound to a QP: other QPs of its PD may not use it. R5040-5.3-16, R5040-8.1.1-07
TYPED_TEST(TptTest, BoundStagsAndInvalidations) {
  this->worlds([&](auto& w, Pace) {
    const auto last = static_cast<uint16_t>(w.sizes().num_qps - 1);
    Region r = this->plain();
    r.rights = 7 | spec::kAccessRemoteInvalidate;
    const uint32_t shared = w.create(1, this->plain());
    r.bound = true;
    r.pbl_base = 32;
    const uint32_t zero = w.create(2, r);
    r.qpn = last;
    r.pbl_base = 64;
    const uint32_t bound = w.create(3, r);
    r.rights = 7;
    r.pbl_base = 96;
    const uint32_t without = w.create(4, r);
    for (const uint32_t stag : {shared, zero, bound, without}) {
      for (const uint16_t qpn : {uint16_t{0}, uint16_t{1}, last}) {
        auto use = w.region(stag).item(stag, 3, 40);
        use.qpn = qpn;
        w.ask_wqe({use});
        w.ask_resp({use});
        w.ask_rx({use});
        w.ask_tx({use});
        w.ask_qn1(use);
        for (const uint16_t pd : {uint16_t{7}, uint16_t{8}})
          for (const uint32_t named : {stag, stag ^ 1, stag ^ 0x100}) {
            spec::WqeCheck inv{.stag = named,
                               .pd = pd,
                               .qpn = qpn,
                               .rights = spec::kAccessRemoteInvalidate,
                               .invalidate = 1};
            w.ask_rx({inv});
            w.ask_rx({inv, w.region(shared).item(shared, 0, 5000)});
            w.ask_rx({inv, w.region(shared).item(shared, 0, 9, 0x10)});  // lacks right 0x10
            const auto want = named != stag || stag == shared               ? TptResult::kStag
                              : pd != 7 || qpn != (stag == zero ? 0 : last) ? TptResult::kAssoc
                              : stag == without                             ? TptResult::kRights
                                                                            : TptResult::kOk;
            EXPECT_EQ(w.judge(inv), want);
          }
      }
    }
    w.finish();
    for (const uint32_t stag : {shared, zero, bound, without}) w.destroy(stag);
  });
}

/// An invalidation closes its entry at once. It ends when all extents issued before it have
/// retired, in the order of the requests. The slot is in use until destroy_mr. R5040-5.3-15
TYPED_TEST(TptTest, InvalidationWaitsForWhatIsInFlight) {
  this->worlds([&](auto& w, Pace) {
    auto& d = this->dut;
    // kind: extents of 0 tx, 1 rx that are written, 2 rx that are dropped, 3 qn1.
    for (int kind = 0; kind < 4; kind++) {
      const uint32_t a = w.create(1, this->plain());
      const uint32_t b = w.create(2, this->plain(32));
      const Region r = w.region(a);
      if (kind == 0) w.ask_tx({r.item(a, 0, 5000)});
      if (kind == 1 || kind == 2) w.ask_rx({r.item(a, 0, 5000)});
      if (kind == 3)
        for (unsigned i = 0; i < 3; i++) w.ask_qn1(r.item(a, 8 * i, 8));
      w.finish(false);
      const auto held = kind == 0 ? w.tx_held : kind == 3 ? w.qn1_held : w.rx_held;
      w.tx_held.clear();
      w.rx_held.clear();
      w.qn1_held.clear();
      d.invalidate.put({a});
      d.invalidate.put({a ^ 0x100});  // of no entry, but reported in order
      d.settle();
      EXPECT_TRUE(d.invalidated.empty());
      const auto expected = w.region(a);
      w.forget(a);
      w.query(a);  // not found
      EXPECT_TRUE(w.slot_used(1));
      w.ask_wqe({r.item(a, 0, 1)});
      w.ask_tx({r.item(a, 0, 1)});
      w.ask_rx({r.item(a, 0, 1)});
      w.ask_qn1(r.item(a, 0, 1));
      w.finish(true);
      w.ask_tx({w.region(b).item(b, 0, 100)});
      w.ask_rx({w.region(b).item(b, 0, 100)});
      w.finish(false);  // extents of b, issued later: they delay no report
      d.settle();
      for (const auto& e : held) {
        EXPECT_TRUE(d.invalidated.empty()) << "reported too early";
        if (kind == 0) d.rd_retired.put({.epoch = e.epoch});
        if (kind == 1) d.wr_retired.put({.epoch = e.epoch});
        if (kind == 2) d.rx_dropped.put({.epoch = e.epoch});
        if (kind == 3) d.qn1_retired.put({.epoch = e.epoch});
        d.settle();
      }
      EXPECT_EQ(d.invalidated.take().stag, a);
      // The second invalidation may wait for a later epoch, which has the extents of b.
      w.retire();
      EXPECT_EQ(d.invalidated.take().stag, a ^ 0x100);
      w.destroy_begin(a);
      const auto rsp = w.destroyed(a);
      EXPECT_EQ(rsp.status, AdminStatus::kOk);
      EXPECT_EQ(spec::AdminDestroyMrResult::unpack(rsp.result),
                (spec::AdminDestroyMrResult{.stag = a, .pd = expected.pd, .slot = 1}));
      w.retire();
      d.settle();
      w.destroy(b);
    }
  });
}

/// Invalidations of the send queue and of the peer end in the order of their closes. A local
/// invalidation needs no right and no binding.
TYPED_TEST(TptTest, InvalidationsOfBothSides) {
  this->worlds([&](auto& w, Pace) {
    auto& d = this->dut;
    const uint32_t a = w.create(1, this->plain()), b = w.create(2, this->plain(32));
    for (const uint16_t pd : {uint16_t{7}, uint16_t{8}})
      for (const uint32_t stag : {a, a ^ 1})
        w.ask_wqe({{.stag = stag, .pd = pd, .qpn = 5, .invalidate = 1}});
    w.ask_rx({w.region(a).item(a, 0, 5000)});
    w.finish(false);
    const auto held = w.rx_held;
    w.rx_held.clear();
    d.sq_local.put({.qpn = 5, .slot = 3, .stag = a});
    d.settle();
    d.invalidate.put({b});
    d.sq_local.put({.qpn = 6, .slot = 4, .stag = a});  // closed already
    d.settle();
    EXPECT_TRUE(d.sq_local_done.empty());
    EXPECT_TRUE(d.invalidated.empty());
    for (const auto& e : held) w.retire_rx(e);
    EXPECT_EQ(d.sq_local_done.take(), (spec::SqLocalDone{.qpn = 5, .slot = 3}));
    EXPECT_EQ(d.invalidated.take().stag, b);
    EXPECT_EQ(d.sq_local_done.take(), (spec::SqLocalDone{.qpn = 6, .slot = 4}));
    for (const uint32_t stag : {a, b}) {
      w.destroy_begin(stag);
      EXPECT_EQ(w.destroyed(stag).status, AdminStatus::kOk);
      w.forget(stag);
    }
  });
}

/// The test holds extents, so the epoch cannot end and no invalidation is reported. Many local
/// invalidations must still leave room for all invalidations of the peer that ddp can hold. Without
/// that room, ddp's receive path would wait for tpt, and the local invalidations would wait for
/// extents of received segments: a deadlock.
TYPED_TEST(TptTest, OwnInvalidationsLeaveRoomForThePeers) {
  this->worlds([&](auto& w, Pace) {
    auto& d = this->dut;
    // ddp holds at most 2 fifo_depth invalidations of the peer; fifo_depth is 2 or 8 (sizes.yaml).
    const unsigned of_peer = 2 * (TypeParam::kMinimum ? 2 : 8), own = 3 * of_peer;
    const uint32_t a = w.create(1, this->plain());
    w.ask_tx({w.region(a).item(a, 0, 5000)});
    w.finish(false);
    const auto held = std::exchange(w.tx_held, {});
    for (unsigned i = 0; i < own; i++)
      d.sq_local.put({.qpn = 3, .slot = static_cast<uint8_t>(i), .stag = a ^ 0x100});
    for (unsigned i = 0; i < 1000; i++) d.advance();
    EXPECT_TRUE(d.sq_local_done.empty());
    for (unsigned i = 0; i < of_peer; i++) d.invalidate.put({i == 0 ? a : a ^ 0x100});
    EXPECT_TRUE(d.run_until([&] { return d.invalidate.empty(); }));
    EXPECT_TRUE(d.invalidated.empty());
    for (const auto& e : held) d.rd_retired.put({.epoch = e.epoch});
    EXPECT_TRUE(d.run_until(
        [&] { return d.invalidated.size() == of_peer && d.sq_local_done.size() == own; }));
    for (unsigned i = 0; i < own; i++) EXPECT_EQ(d.sq_local_done.take().slot, i);
    EXPECT_EQ(d.invalidated.take().stag, a);
    (void)d.invalidated.take_all();
    w.forget(a);
    w.destroy_begin(a);
    EXPECT_EQ(w.destroyed(a).status, AdminStatus::kOk);
  });
}

/// Invalidations and commands in random order, with extents that retire late. The invalidations end
/// in order, each after the extents of its entry.
TYPED_TEST(TptTest, InvalidationsAtRandom) {
  this->worlds([&](auto& w, Pace) {
    auto& d = this->dut;
    struct Held {
      Of of;
      spec::Extent extent;
      uint32_t stag;
    };
    std::vector<uint32_t> stags(4);
    std::vector<Held> held;
    std::deque<uint32_t> open_order;
    const auto blocked = [&](uint32_t stag) {
      return std::ranges::any_of(held, [&](const Held& h) { return h.stag == stag; });
    };
    const auto look = [&] {
      for (const auto& i : d.invalidated.take_all()) {
        ASSERT_FALSE(open_order.empty());
        EXPECT_EQ(i.stag, open_order.front());
        EXPECT_FALSE(blocked(i.stag)) << "reported too early";
        open_order.pop_front();
      }
    };
    const auto retire = [&](size_t i) {
      const Held h = held[i];
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
      if (h.of == Of::kTx) d.rd_retired.put({.epoch = h.extent.epoch});
      if (h.of == Of::kRx) w.retire_rx(h.extent);
      if (h.of == Of::kQn1) d.qn1_retired.put({.epoch = h.extent.epoch});
    };
    for (unsigned i = 0; i < 300; i++) {
      const auto n = w.rng().below(4);
      uint32_t& stag = stags[n];
      const auto slot = static_cast<uint32_t>(n + 1);
      switch (w.rng().below(5)) {
        case 0:
          if (stag == 0) stag = w.create(slot, this->plain(static_cast<uint32_t>(32 * n)));
          break;
        case 1:
          if (stag == 0 || open_order.size() >= 3) break;
          d.invalidate.put({stag});
          open_order.push_back(stag);
          d.advance();
          if (w.rng().percent(50)) d.settle();
          if (d.invalidate.busy()) d.settle();
          w.forget(stag);
          w.destroy_begin(stag);  // the invalidation may be unreported
          for (unsigned k = 0; k < 2000 && w.answered().status != AdminStatus::kOk; k++) {
            look();
            if (!held.empty()) retire(w.rng().below(held.size()));
            w.destroy_begin(stag);
          }
          d.settle();
          look();
          stag = 0;
          break;
        case 2:
          if (!held.empty()) retire(w.rng().below(held.size()));
          break;
        default:
          if (stag == 0) break;
          const Region r = w.region(stag);
          if (w.rng().percent(50)) w.ask_rx({r.item(stag, w.rng().below(100), 5000)});
          if (w.rng().percent(50)) w.ask_tx({r.item(stag, w.rng().below(100), 5000)});
          if (w.rng().percent(50)) w.ask_qn1(r.item(stag, 0, 8));
          w.finish(false);
          for (const auto& e : w.rx_held) held.push_back({Of::kRx, e, stag});
          for (const auto& e : w.tx_held) held.push_back({Of::kTx, e, stag});
          for (const auto& e : w.qn1_held) held.push_back({Of::kQn1, e, stag});
          w.rx_held.clear();
          w.tx_held.clear();
          w.qn1_held.clear();
      }
      look();
      if (testing::Test::HasFailure()) return;
    }
    while (!held.empty()) retire(0);
    d.settle();
    look();
    EXPECT_TRUE(open_order.empty());
  });
}

TYPED_TEST(TptTest, LongChecks) {
  this->worlds([&](auto& w, Pace) {
    uint32_t slot = 0;
    for (const uint64_t length :
         {uint64_t{1} << 30, (uint64_t{1} << 32) - 1, uint64_t{1} << 32, uint64_t{1} << 48})
      for (const uint64_t base : {uint64_t{0}, uint64_t{0x1234'5678'9abc'def1}, 0 - length}) {
        const uint32_t stag = w.create(slot++, {.base = base, .length = length, .log_page = 21});
        const Region r = w.region(stag);
        for (const uint64_t offset : {uint64_t{0}, uint64_t{1}, length / 2, length - 0xffff'ffff,
                                      length - 1, length, length + 1})
          for (const uint32_t n : {1U, 0x3fff'ffffU, 0x4000'0000U, 0x4000'0001U, 0x7fff'ffffU,
                                   0x8000'0000U, 0xffff'ffffU}) {
            w.ask_wqe({r.item(stag, offset, n)});
            w.ask_resp({r.item(stag, offset, n)});
          }
      }
    w.finish();
  });
}

TYPED_TEST(TptTest, ExtentsEndAtPages) {
  this->worlds([&](auto& w, Pace) {
    uint32_t slot = 0;
    uint32_t pbl = 0;
    for (unsigned log = 12; log <= 21; log++) {
      const uint64_t page = uint64_t{1} << log;
      for (const uint32_t first : {uint32_t{0}, uint32_t{1}, static_cast<uint32_t>(page / 2),
                                   static_cast<uint32_t>(page - 1)}) {
        Region r{.base = w.rng().next() >> 8,
                 .length = 3 * page + 70000,
                 .log_page = log,
                 .first = first};
        if (pbl + r.page_count() > w.sizes().num_pbl) pbl = 0;
        r.pbl_base = pbl;
        pbl += static_cast<uint32_t>(r.page_count());
        const uint32_t stag = w.create(slot, r);
        const auto& made = w.region(stag);
        const uint64_t border = page - first;  // the offset of the second page's first byte
        for (const uint32_t n : {1U, 63U, 64U, 65U, 4095U, 4096U, 4097U, 65535U, 65536U})
          for (const uint64_t offset :
               {uint64_t{0}, border - 1, border, border + page - 1, made.length - n,
                border > n ? border - n : border, w.rng().below(made.length - n + 1)}) {
            if (w.rng().percent(50)) w.ask_rx({made.item(stag, offset, n)});
            if (w.rng().percent(50)) w.ask_tx({made.item(stag, offset, n)});
          }
        w.finish();
        w.destroy(stag);
        slot = (slot + 1) % 16;
      }
    }
  });
}

/// Words of 8 bytes at and around the ends of pages. A word whose bus address is not aligned may
/// cross a page. It still has one extent, and atomic refuses its address.
TYPED_TEST(TptTest, Qn1ItemsHaveOneExtent) {
  this->worlds([&](auto& w, Pace) {
    unsigned crossed = 0;
    for (unsigned log = 12; log <= 21; log++) {
      const uint64_t page = uint64_t{1} << log;
      for (const uint32_t first : {uint32_t{0}, uint32_t{8}, static_cast<uint32_t>(page - 8),
                                   static_cast<uint32_t>(page - 3)}) {
        const uint32_t stag = w.create(
            1, {.base = w.rng().next() >> 8, .length = 3 * page, .log_page = log, .first = first});
        const auto& made = w.region(stag);
        for (unsigned i = 0; i < 12; i++) {
          const uint64_t border = (i % 3 + 1) * page - first;
          const uint64_t low = border < 16 ? 0 : border - 16;
          const uint64_t offset = std::min(low + w.rng().below(24), made.length - 8);
          crossed += (first + offset) % page > page - 8;
          w.ask_qn1(made.item(stag, offset, 8, 4));
          w.ask_qn1(made.item(stag, offset & ~uint64_t{7}, 8, 2));
          if (i % 4 == 1) w.ask_qn1(made.item(stag, made.length - w.rng().below(8), 8));  // bounds
          if (i % 4 == 2) w.ask_qn1(made.item(stag ^ 1, offset, 8));
          if (i % 4 == 3) w.ask_qn1(made.item(stag, offset, 8, 8));
        }
        w.finish();
        w.destroy(stag);
      }
    }
    EXPECT_GT(crossed, 20U);
  });
}

TYPED_TEST(TptTest, RxGroupsHaveOneAnswerAndNoExtentsOnFailure) {
  this->worlds([&](auto& w, Pace) {
    const uint32_t stag = w.create(1, this->plain());
    const Region r = w.region(stag);
    const std::vector<spec::WqeCheck> bad = {
        r.item(stag ^ 2, 0, 9),
        r.item(stag, 0, 9, 0x10),
        r.item(stag, 0x10000, 1),
        {.stag = stag, .tagged_offset = ~uint64_t{0}, .length = 5, .pd = r.pd}};
    for (size_t n = 1; n <= 3; n++)
      for (unsigned mask = 0; mask < 1U << n; mask++) {  // which pieces fail
        Group g;
        for (size_t i = 0; i < n; i++) {
          const auto size = static_cast<uint32_t>(w.rng().between(1, 9000));
          g.push_back((mask >> i & 1) != 0 ? bad[w.rng().below(bad.size())]
                                           : r.item(stag, w.rng().below(0x10000 - size), size));
        }
        w.ask_rx(g);
        w.ask_rx({r.item(stag, mask, 5000)});
      }
    w.finish();
  });
}

TYPED_TEST(TptTest, TxGroupsEndAtTheirFirstFailure) {
  this->worlds([&](auto& w, Pace) {
    const uint32_t stag = w.create(1, this->plain());
    const Region r = w.region(stag);
    for (size_t n = 1; n <= 14; n++)
      for (size_t fails = 0; fails <= n; fails++) {  // n: none
        Group g;
        for (size_t i = 0; i < n; i++) {
          const auto size = static_cast<uint32_t>(w.rng().between(1, 5000));
          g.push_back(i == fails || (i > fails && w.rng().percent(30))
                          ? r.item(stag ^ 0x4000, 0, 9)
                          : r.item(stag, w.rng().below(0x10000 - size), size));
        }
        w.ask_tx(g);
      }
    w.finish();
  });
}

TYPED_TEST(TptTest, WqeGroupsHaveOneAnswer) {
  this->worlds([&](auto& w, Pace) {
    const uint32_t stag = w.create(1, this->plain());
    const Region r = w.region(stag);
    for (size_t n = 1; n <= 14; n++)
      for (unsigned i = 0; i < 6; i++) {
        Group g;
        for (size_t k = 0; k < n; k++)
          g.push_back(w.rng().percent(90)
                          ? r.item(stag, k, 100)
                          : r.item(stag, 0xffff, 2, static_cast<uint16_t>(8 * (k & 1))));
        w.ask_wqe(g);
        w.ask_resp({g[0]});
      }
    w.finish();
  });
}

TYPED_TEST(TptTest, AClientThatIsFullHoldsNobodyElse) {
  for (int full = 0; full < 6; full++) {
    SCOPED_TRACE(full);
    this->worlds([&](auto& w, Pace p) {
      auto& d = this->dut;
      const uint32_t stag = w.create(1, this->plain());
      const Region r = w.region(stag);
      auto stall = [&](unsigned percent) {
        if (full == 0) d.wqe_check_rsp.stall(percent);
        if (full == 1) d.resp_check_rsp.stall(percent);
        if (full == 2) d.tx_extent.stall(percent);
        if (full == 3) d.rx_extent.stall(percent);
        if (full == 4) d.rx_xlate_rsp.stall(percent);
        if (full == 5) d.qn1_extent.stall(percent);
      };
      stall(100);
      for (unsigned i = 0; i < 40; i++) {
        if (full == 0) w.ask_wqe({r.item(stag, i, 10), r.item(stag, i, 9)});
        if (full == 1) w.ask_resp({r.item(stag, i, 10)});
        if (full == 2) w.ask_tx({r.item(stag, i, 20000), r.item(stag, i, 20)});
        if (full == 3 || full == 4) w.ask_rx({r.item(stag, i, 20000), r.item(stag, i, 20)});
        if (full == 5) w.ask_qn1(r.item(stag, 8 * i, 8));
      }
      for (unsigned i = 0; i < 200; i++) d.advance();  // until the stalled path is full
      for (unsigned i = 0; i < 40; i++) {
        if (full != 0) w.ask_wqe({r.item(stag, i, 10)});
        if (full != 1) w.ask_resp({r.item(stag, i, 10)});
        if (full != 2) w.ask_tx({r.item(stag, i, 9000)});
        if (full != 3 && full != 4) w.ask_rx({r.item(stag, i, 9000)});
        if (full != 5) w.ask_qn1(r.item(stag, 8 * i, 8));
      }
      EXPECT_TRUE(d.run_until(
          [&] {
            return (full == 0 || d.wqe_check_rsp.size() == 40) &&
                   (full == 1 || d.resp_check_rsp.size() == 40) &&
                   (full == 2 || d.tx_extent.size() >= 120) &&
                   (full == 3 || full == 4 || d.rx_extent.size() >= 120) &&
                   (full == 5 || d.qn1_extent.size() == 40);
          },
          2000))
          << d.wqe_check_rsp.size() << " " << d.resp_check_rsp.size() << " " << d.tx_extent.size()
          << " " << d.rx_extent.size() << " " << d.qn1_extent.size();
      w.query(stag);
      stall(p.stall);
      w.finish();
    });
  }
}

TYPED_TEST(TptTest, DestroyWaitsForWhatIsInFlight) {
  this->worlds([&](auto& w, Pace) {
    auto& d = this->dut;
    for (unsigned round = 0; round < 3; round++) {
      uint32_t a = w.create(1, this->plain());
      uint32_t b = w.create(2, this->plain(32));
      const Region r = w.region(a);
      // One kind of extent at a time delays the response: 0 tx, 1 rx that are written, 2 rx that
      // are dropped, 3 qn1.
      for (int kind = 0; kind < 4; kind++) {
        if (kind == 0) w.ask_tx({r.item(a, 0, 5000)});
        if (kind == 1 || kind == 2) w.ask_rx({r.item(a, 0, 5000)});
        if (kind == 3)
          for (unsigned i = 0; i < 3; i++) w.ask_qn1(r.item(a, 8 * i, 8));
        w.finish(false);
        const auto held = kind == 0 ? w.tx_held : kind == 3 ? w.qn1_held : w.rx_held;
        ASSERT_GE(held.size(), 2U);
        w.tx_held.clear();
        w.rx_held.clear();
        w.qn1_held.clear();
        EXPECT_EQ(w.poll(a), AdminStatus::kInProgress);
        // The region is closed at once: its lookups fail. Lookups of other regions pass. Their
        // extents have the new epoch, so they do not delay the end of the destroy.
        const auto expected = w.region(a);
        w.forget(a);
        w.query(a);  // not found
        EXPECT_TRUE(w.slot_used(1));
        EXPECT_EQ(w.create_rsp(1, r).status, AdminStatus::kExists);
        w.ask_wqe({r.item(a, 0, 1)});
        w.ask_tx({r.item(a, 0, 1)});
        w.ask_rx({r.item(a, 0, 1)});
        w.ask_qn1(r.item(a, 0, 1));
        w.ask_tx({w.region(b).item(b, 0, 100)});
        w.ask_rx({w.region(b).item(b, 0, 100)});
        w.ask_qn1(w.region(b).item(b, 0, 8));
        w.finish(false);
        for (const auto* extents : {&w.tx_held, &w.qn1_held})
          for (const auto& e : *extents)
            EXPECT_TRUE(e.result != TptResult::kOk || e.epoch != held[0].epoch);
        for (const auto& e : w.rx_held) EXPECT_NE(e.epoch, held[0].epoch);
        for (const auto& e : held) {
          EXPECT_EQ(w.poll(a), AdminStatus::kInProgress) << "freed too early";
          if (kind == 0) d.rd_retired.put({.epoch = e.epoch});
          if (kind == 1) d.wr_retired.put({.epoch = e.epoch});
          if (kind == 2) d.rx_dropped.put({.epoch = e.epoch});
          if (kind == 3) d.qn1_retired.put({.epoch = e.epoch});
        }
        w.destroy_begin(a);
        const auto rsp = w.destroyed(a);
        EXPECT_EQ(rsp.status, AdminStatus::kOk);
        EXPECT_EQ(w.poll(a), AdminStatus::kNotFound);
        EXPECT_EQ(spec::AdminDestroyMrResult::unpack(rsp.result),
                  (spec::AdminDestroyMrResult{.stag = a, .pd = expected.pd, .slot = 1}));
        w.retire();
        a = w.create(1, this->plain());
      }
      w.destroy(a);
      w.destroy(b);
    }
  });
}

TYPED_TEST(TptTest, DestroyWithPiecesStillInside) {
  this->worlds([&](auto& w, Pace p) {
    auto& d = this->dut;
    const uint32_t a = w.create(1, this->plain());
    const uint32_t b = w.create(2, this->plain(32));
    const Region r = w.region(a);
    auto stall = [&](bool on) {
      d.tx_extent.stall(on ? 100 : p.stall);
      d.rx_extent.stall(on ? 100 : p.stall);
      d.qn1_extent.stall(on ? 100 : p.stall);
    };
    auto looked_up = [&] {
      EXPECT_TRUE(d.run_until(
          [&] { return !d.tx_xlate.busy() && !d.rx_xlate.busy() && !d.qn1_xlate.busy(); }));
      for (unsigned i = 0; i < 30; i++) d.advance();
    };
    stall(true);
    w.ask_tx({r.item(a ^ 1, 0, 100)});
    w.ask_tx({r.item(a, 3, 9000), r.item(a ^ 1, 0, 100), r.item(a, 3, 9)});
    w.ask_tx({r.item(a ^ 1, 0, 100)});
    w.ask_rx({r.item(a, 7, 9000), r.item(a, 0, 100)});
    w.ask_rx({r.item(a, 7, 9000), r.item(a ^ 1, 0, 100)});
    for (unsigned i = 0; i < 8; i++) w.ask_qn1(r.item(i % 3 == 0 ? a ^ 1 : a, 8 * i, 8));
    looked_up();
    EXPECT_EQ(w.poll(a), AdminStatus::kInProgress);
    stall(false);
    w.finish(false);
    EXPECT_EQ(w.poll(a), AdminStatus::kInProgress);
    w.retire();
    w.destroy(a);
    // Only failed pieces are in flight: the response may or may not wait for them, but all results
    // must be correct.
    stall(true);
    w.ask_tx({r.item(a, 0, 100)});
    w.ask_tx({r.item(a, 0, 100), r.item(b, 0, 100)});
    w.ask_qn1(r.item(a, 0, 8));
    looked_up();
    w.destroy_begin(b);
    for (unsigned i = 0; i < 100; i++) d.advance();
    stall(false);
    w.finish();
    w.destroy_end(b);
    for (unsigned i = 0; i < 3; i++) {
      const uint32_t c = w.create(1, this->plain());
      w.ask_tx({r.item(c, 0, 100)});
      w.finish();
      w.destroy(c);
    }
    w.ask_wqe({r.item(a, 0, 1)});
    w.ask_wqe({r.item(b, 0, 1)});
    w.finish();
  });
}

/// Any number of regions can close at once. Each is free when everything in flight at its close has
/// retired. Extents of another region, b, that are issued later stay in flight meanwhile.
TYPED_TEST(TptTest, SeveralRegionsCloseAtOnce) {
  this->worlds([&](auto& w, Pace) {
    const uint32_t b = w.create(2, this->plain(64));
    struct Closing {
      uint32_t stag = 0;
      std::vector<spec::Extent> tx, rx, qn1;
    };
    std::vector<Closing> all;
    auto retire = [&](Closing& c) {
      w.tx_held = std::exchange(c.tx, {});
      w.rx_held = std::exchange(c.rx, {});
      w.qn1_held = std::exchange(c.qn1, {});
      w.retire();
    };
    for (uint32_t i = 0; i < 6; i++) {
      Closing c{.stag = w.create(i < 2 ? i : i + 1, this->plain()), .tx = {}, .rx = {}, .qn1 = {}};
      w.ask_tx({w.region(c.stag).item(c.stag, 0, 5000)});
      w.ask_rx({w.region(c.stag).item(c.stag, 0, 5000)});
      w.ask_qn1(w.region(c.stag).item(c.stag, 0, 8));
      w.finish(false);
      c.tx = std::exchange(w.tx_held, {});
      c.rx = std::exchange(w.rx_held, {});
      c.qn1 = std::exchange(w.qn1_held, {});
      EXPECT_EQ(w.poll(c.stag), AdminStatus::kInProgress);
      all.push_back(c);
    }
    retire(all[0]);
    w.destroy(all[0].stag);
    w.ask_tx({w.region(b).item(b, 0, 5000)});
    w.ask_rx({w.region(b).item(b, 0, 5000)});
    w.finish(false);
    Closing live{.stag = b,
                 .tx = std::exchange(w.tx_held, {}),
                 .rx = std::exchange(w.rx_held, {}),
                 .qn1 = {}};
    for (size_t i = all.size(); i-- > 1;) {
      EXPECT_EQ(w.poll(all[i].stag), AdminStatus::kInProgress);
      retire(all[i]);
    }
    for (size_t i = 1; i < all.size(); i++) w.destroy(all[i].stag);
    EXPECT_EQ(w.poll(b), AdminStatus::kInProgress);
    retire(live);
    w.destroy(b);
  });
}

/// The driver does not repeat the destroy_mr of a closing region while other regions are created
/// and destroyed. When the driver repeats that destroy_mr, the region is still closing, and is
/// freed.
TYPED_TEST(TptTest, AClosingRegionWaitsForItsDriver) {
  this->worlds([&](auto& w, Pace) {
    for (unsigned others = 0; others < 10; others++) {
      SCOPED_TRACE(others);
      const uint32_t a = w.create(1, this->plain());
      const Region r = w.region(a);
      w.ask_tx({r.item(a, 0, 5000)});
      w.finish(false);
      EXPECT_EQ(w.poll(a), AdminStatus::kInProgress);
      w.retire();
      for (unsigned i = 0; i < others; i++) {  // each advances the epoch
        const uint32_t b = w.create(2, this->plain(32));
        w.ask_rx({w.region(b).item(b, 0, 5000)});
        w.finish(false);
        EXPECT_EQ(w.poll(b), AdminStatus::kInProgress);
        w.retire();
        w.destroy(b);
      }
      EXPECT_TRUE(w.slot_used(1));
      w.destroy(a);
    }
  });
}

/// Several owners repeat their destroy_mr in turn, with nothing in flight. Each region was closed
/// in another epoch, and each repetition may advance the epoch. If epochs were counted modulo the
/// number of owners, each advance could reach the number in which the next region was closed. All
/// destroys would then stay in progress for ever. tpt_update counts modulo 2^16.
TYPED_TEST(TptTest, DestroysThatRepeatInTurnEnd) {
  this->worlds([&](auto& w, Pace) {
    for (uint32_t owners = 2; owners <= 9; owners++) {
      SCOPED_TRACE(owners);
      std::vector<uint32_t> left;
      for (uint32_t i = 0; i < owners; i++) {
        left.push_back(w.create(i, this->plain()));
        w.ask_tx({w.region(left[i]).item(left[i], 0, 100)});
        w.finish(false);
        EXPECT_EQ(w.poll(left[i]), AdminStatus::kInProgress);
        w.retire();
      }
      for (int round = 0; round < 3; round++) {
        std::erase_if(left, [&](uint32_t stag) {
          if (w.poll(stag) != AdminStatus::kOk) return false;
          w.forget(stag);
          return true;
        });
      }
      EXPECT_EQ(left.size(), 0U) << "still in progress after three rounds";
      for (const uint32_t stag : left) w.destroy(stag);
    }
  });
}

/// One lookup at each distance from destroy_mr, and nothing else in flight. Either the lookup
/// passes and destroy_mr waits for its extent, or the lookup fails with kStag.
TYPED_TEST(TptTest, DestroyMeetsOneLookUp) {
  this->worlds([&](auto& w, Pace) {
    auto& d = this->dut;
    bool passed = false, refused = false;
    for (unsigned distance = 0; distance < 60; distance++) {
      const uint32_t a = w.create(1, this->plain());
      const auto item = w.region(a).item(a, 0, 100);
      const bool tx = distance % 3 == 1, qn1 = distance % 3 == 2, rx = !tx && !qn1;
      w.destroy_begin(a);
      for (unsigned i = 0; i < distance / 3; i++) d.advance();
      if (tx) d.tx_xlate.put(item);
      if (qn1) d.qn1_xlate.put(item);
      if (rx) d.rx_xlate.put(item);
      for (unsigned i = 0; i < 200; i++) d.advance();
      const auto result = tx    ? d.tx_extent.items().at(0).result
                          : qn1 ? d.qn1_extent.items().at(0).result
                                : d.rx_xlate_rsp.take().result;
      if (result == TptResult::kOk) {
        passed = true;
        EXPECT_EQ(w.answered().status, AdminStatus::kInProgress)
            << "freed while an extent is in flight, distance " << distance;
        w.destroy_begin(a);
        if (rx) w.retire_rx(d.rx_extent.take());
      } else {
        refused = true;
        EXPECT_EQ(result, TptResult::kStag);
      }
      if (tx) d.rd_retired.put({.epoch = d.tx_extent.take().epoch});
      if (qn1) d.qn1_retired.put({.epoch = d.qn1_extent.take().epoch});
      w.destroy_end(a);
    }
    EXPECT_TRUE(refused);
    if (TypeParam::kIsRtl) {
      EXPECT_TRUE(passed);
    }
  });
}

/// Lookups while destroy_mr runs: at its final response no extent of the region is in flight, and
/// no lookup of the region passes after that response.
TYPED_TEST(TptTest, DestroyRacesWithLookUps) {
  this->worlds([&](auto& w, Pace) {
    auto& d = this->dut;
    auto& rng = w.rng();
    auto other = this->plain(32);
    // The top byte of an extent's address identifies its region: 0xbb is b, 0xaa is a.
    other.pages.assign(other.page_count(), 0xbb00'0000'0000'0000);
    const uint32_t b = w.create(5, other);
    bool polled = false;
    for (unsigned round = 0; round < 12; round++) {
      auto mine = this->plain();
      mine.pages.assign(mine.page_count(), 0xaa00'0000'0000'0000);
      const uint32_t a = w.create(3, mine);
      const unsigned slow = round % 3 == 2 ? 90 : 20;
      d.tx_extent.stall(round % 2 != 0 ? slow : 0);
      d.rx_extent.stall(round % 2 == 0 ? slow : 0);
      d.qn1_extent.stall(round % 4 < 2 ? slow : 0);
      for (unsigned i = 0; i < 60; i++) {
        const uint32_t stag = rng.percent(70) ? a : b;
        auto tx = mine.item(stag, rng.below(0x8000), static_cast<uint32_t>(rng.between(1, 9000)));
        auto rx = mine.item(stag, rng.below(0x8000), static_cast<uint32_t>(rng.between(1, 9000)));
        d.tx_xlate.put(tx);
        d.rx_xlate.put(rx);
        d.qn1_xlate.put(mine.item(stag, rng.below(0x8000), 8));
        d.wqe_check.put(mine.item(a, 0, 9));
      }
      const auto wait = rng.below(90);
      for (unsigned i = 0; i < wait; i++) d.advance();
      w.destroy_begin(a);
      struct Due {
        uint64_t at;
        spec::Extent e;
        Of kind;
      };
      std::deque<Due> due;
      int mine_out = 0;
      uint64_t now = 0;
      bool answered = false;
      bool early = false, late = false;
      unsigned calm = 0;
      while (now < 40'000 && !(answered && due.empty() && calm > 600)) {
        d.advance();
        now++;
        calm++;
        if (!answered && !d.tpt_cmd_rsp.empty()) {
          const auto status = w.answered().status;
          answered = status == AdminStatus::kOk;
          early = answered && mine_out != 0;
          if (!answered) {
            EXPECT_EQ(status, AdminStatus::kInProgress);
            polled = true;
            w.destroy_begin(a);
          }
        }
        auto drain = [&](auto& out, Of kind) {
          if (!out.empty()) calm = 0;
          for (auto& e : out.items()) {
            const bool of_a = e.result == TptResult::kOk && e.address >> 56 == 0xaa;
            mine_out += of_a;
            late |= of_a && answered;
            due.push_back({now + rng.below(200), e, kind});
          }
          out.items().clear();
        };
        drain(d.tx_extent, Of::kTx);
        drain(d.rx_extent, Of::kRx);
        drain(d.qn1_extent, Of::kQn1);
        for (auto it = due.begin(); it != due.end();) {
          if (it->at > now) {
            ++it;
            continue;
          }
          mine_out -= it->e.result == TptResult::kOk && it->e.address >> 56 == 0xaa;
          if (it->kind == Of::kTx) d.rd_retired.put({.epoch = it->e.epoch});
          if (it->kind == Of::kRx) w.retire_rx(it->e);
          if (it->kind == Of::kQn1) d.qn1_retired.put({.epoch = it->e.epoch});
          it = due.erase(it);
        }
      }
      EXPECT_TRUE(answered && due.empty());
      EXPECT_FALSE(early) << "an extent was in flight at the answer";
      EXPECT_FALSE(late) << "an extent came after the answer";
      w.forget(a);
      d.settle();
      EXPECT_EQ(d.rx_xlate_rsp.size(), 60U);
      EXPECT_EQ(d.wqe_check_rsp.size(), 60U);
      bool closed = false;
      for (const auto& rsp : d.wqe_check_rsp.items()) {
        EXPECT_TRUE(rsp.result == TptResult::kStag || (!closed && rsp.result == TptResult::kOk));
        closed |= rsp.result == TptResult::kStag;
      }
      d.rx_xlate_rsp.items().clear();
      d.wqe_check_rsp.items().clear();
    }
    EXPECT_TRUE(polled || !TypeParam::kIsRtl);
  });
}

TYPED_TEST(TptTest, RandomRegionsAndClients) {
  this->worlds([&](auto& w, Pace) {
    auto& d = this->dut;
    auto& rng = w.rng();
    std::vector<uint32_t> stags(10, 0);
    for (unsigned round = 0; round < 12; round++) {
      for (uint32_t i = 0; i < stags.size(); i++) {
        if (stags[i] != 0 && rng.percent(70)) continue;
        if (stags[i] != 0) w.destroy(stags[i]);
        Region r{.pd = static_cast<uint16_t>(rng.below(3)),
                 .key = static_cast<uint8_t>(rng.next()),
                 .rights = static_cast<uint16_t>(rng.below(8))};
        r.log_page = static_cast<unsigned>(rng.between(12, 21));
        r.first = static_cast<uint32_t>(rng.below(uint64_t{1} << r.log_page));
        r.length = rng.between(1, 70000);
        r.base = rng.percent(20) ? 0 - r.length : rng.percent(20) ? uint64_t{0} : rng.next();
        if (Wide{r.base} + r.length > Wide{1} << 64) r.base = 0 - r.length;
        r.pbl_base = 40 * i;
        stags[i] = w.create(w.sizes().num_stags - 1 - i * (w.sizes().num_stags / 11), r);
      }
      auto piece = [&] {
        const uint32_t stag = stags[rng.below(stags.size())];
        const Region& r = w.region(stag);
        const auto n = static_cast<uint32_t>(
            rng.between(1, std::min<uint64_t>(r.length, rng.percent(50) ? 64 : 65535)));
        auto c = r.item(stag, rng.below(r.length - n + 1), n,
                        static_cast<uint16_t>(r.rights & rng.next()));
        if (rng.percent(4)) c.stag ^= 1U << rng.below(32);
        if (rng.percent(4)) c.pd = static_cast<uint16_t>(c.pd ^ 1U);
        if (rng.percent(4)) c.rights = static_cast<uint16_t>(1U << rng.below(16));
        if (rng.percent(4)) c.tagged_offset = r.base - 1;
        if (rng.percent(4)) c.tagged_offset = r.base + r.length - n + 1;
        if (rng.percent(2)) c.tagged_offset = ~uint64_t{0} - rng.below(2);
        return c;
      };
      auto group = [&](uint64_t most) {
        Group g;
        for (uint64_t n = rng.between(1, most); n != 0; n--) g.push_back(piece());
        return g;
      };
      d.tx_extent.stall(rng.percent(50) ? 0 : 60);
      d.rx_extent.stall(rng.percent(50) ? 0 : 60);
      d.qn1_extent.stall(rng.percent(50) ? 0 : 60);
      for (unsigned i = 0; i < 60; i++) {
        w.ask_wqe(group(14));
        w.ask_resp(group(1));
        w.ask_rx(group(3));
        w.ask_tx(group(14));
        auto word = piece();
        word.length = 8;
        w.ask_qn1(word);
      }
      w.finish();
    }
  });
}

/// Each piece of the five clients is one tpt_check, in its client's order. Each command is one
/// tpt_change. The order of checks and changes on the taps agrees with the responses: a check
/// before the destroy's change passes, a later one fails.
TYPED_TEST(TptRtlTest, Commits) {
  this->worlds([&](auto& w, Pace) {
    auto& d = this->dut;
    const uint32_t last = w.sizes().num_stags - 1;
    std::deque<spec::WqeCheck> asked[6];
    for (unsigned round = 0; round < 60; round++) {
      const uint32_t slot = w.rng().percent(50) ? last : 3;
      d.tpt_change.take_all();
      const uint32_t stag = w.create(slot, this->plain());
      EXPECT_TRUE(w.slot_used(slot));
      EXPECT_EQ(w.create_rsp(slot, this->plain()).status, AdminStatus::kExists);
      w.query(stag);
      d.settle();
      const auto changes = d.tpt_change.take_all();
      EXPECT_EQ(changes.size(), 4U);  // create, slot_used, the refused create, query
      for (const auto& c : changes) EXPECT_EQ(c.slot, slot);

      // Lookups around a destroy_mr. The taps give its position among them.
      const Region r = w.region(stag);
      d.tpt_check.take_all();
      const uint64_t when = w.rng().below(40);
      // By client (commits.yaml): 0 rx, 1 tx, 2 wqe, 3 resp, 5 qn1. 4 is tpt_update: no commit.
      std::vector<bool> passed[6], waits;
      bool closed = false;
      w.statuses.clear();
      auto look = [&] {
        for (const auto& c : d.tpt_change.take_all()) waits.push_back(c.waits != 0);
        closed = !waits.empty();
      };
      for (uint64_t i = 0; i < 60; i++) {
        if (i == when) w.destroy_begin(stag);
        const auto client = std::array{0, 1, 2, 3, 5}[w.rng().below(5)];
        auto item =
            r.item(stag, w.rng().below(100), static_cast<uint32_t>(w.rng().between(1, 200)));
        if (client == 0) d.rx_xlate.put(item);
        if (client == 1) d.tx_xlate.put(item);
        if (client == 2) d.wqe_check.put(item);
        if (client == 3) d.resp_check.put(item);
        if (client == 5) d.qn1_xlate.put(item);
        asked[client].push_back(item);
        d.advance();
        EXPECT_LE(d.tpt_check.items().size(), 1U);
        for (const auto& c : d.tpt_check.take_all())
          this->take(asked, c), passed[c.client].push_back(!closed);
        look();  // after the checks: one in this cycle saw the old entry
      }
      for (unsigned i = 0; i < 3000; i++) {
        d.advance();
        for (const auto& c : d.tpt_check.take_all())
          this->take(asked, c), passed[c.client].push_back(!closed);
        look();
      }
      EXPECT_TRUE(closed);
      for (const auto& a : asked) EXPECT_TRUE(a.empty()) << "a lookup without its commit";
      auto compare = [](auto& items, const std::vector<bool>& good) {
        ASSERT_EQ(items.size(), good.size());
        for (size_t i = 0; i < good.size(); i++)
          EXPECT_EQ(items[i].result, good[i] ? TptResult::kOk : TptResult::kStag);
      };
      compare(d.rx_xlate_rsp.items(), passed[0]);
      compare(d.tx_extent.items(), passed[1]);
      compare(d.wqe_check_rsp.items(), passed[2]);
      compare(d.resp_check_rsp.items(), passed[3]);
      compare(d.qn1_extent.items(), passed[5]);
      for (const auto& e : d.tx_extent.items()) d.rd_retired.put({.epoch = e.epoch});
      for (const auto& e : d.rx_extent.items()) w.retire_rx(e);
      for (const auto& e : d.qn1_extent.items()) d.qn1_retired.put({.epoch = e.epoch});
      w.destroy_end(stag);
      d.settle();
      for (const auto& c : d.tpt_change.take_all()) waits.push_back(c.waits != 0);
      ASSERT_EQ(waits.size(), w.statuses.size());
      for (size_t i = 0; i < waits.size(); i++)
        EXPECT_EQ(waits[i], w.statuses[i] == AdminStatus::kInProgress) << i;
      for (auto* out : {&d.tx_extent.items(), &d.rx_extent.items(), &d.qn1_extent.items()})
        out->clear();
      d.rx_xlate_rsp.items().clear(), d.wqe_check_rsp.items().clear();
      d.resp_check_rsp.items().clear();
      if (testing::Test::HasFailure()) return;
    }
  });
}

TYPED_TEST(TptRtlTest, LatencyAndThroughput) {
  auto& d = this->dut;
  d.restart({});
  TptWorld<TypeParam> w(d, kKey, test_rng());
  const uint32_t stag = w.create(1, this->plain());
  const auto item = w.region(stag).item(stag, 0, 64);
  auto cycles =
      [&](auto& in, auto& out,
          unsigned n) {  // from the transfer of the first request to that of the n-th item
        d.cycles(50);
        for (unsigned i = 0; i < n; i++) in.put(item);
        do d.cycle();
        while (!in.taken());
        const auto from = d.now();
        EXPECT_TRUE(d.run_until([&] { return out.size() == n; }));
        const auto to = d.now();
        d.settle();
        d.wqe_check_rsp.items().clear();
        d.rx_xlate_rsp.items().clear();
        for (const auto& e : d.tx_extent.items()) d.rd_retired.put({.epoch = e.epoch});
        for (const auto& e : d.rx_extent.items()) d.wr_retired.put({.epoch = e.epoch});
        for (const auto& e : d.qn1_extent.items()) d.qn1_retired.put({.epoch = e.epoch});
        d.qn1_extent.items().clear();
        d.tx_extent.items().clear();
        d.rx_extent.items().clear();
        return to - from;
      };
  // From the first of n invalidations of an STag to the last report.
  const auto invalidated_after = [&](uint32_t named, unsigned n) {
    d.cycles(50);
    for (unsigned i = 0; i < n; i++) d.invalidate.put({named});
    do d.cycle();
    while (!d.invalidate.taken());
    const auto from = d.now();
    EXPECT_TRUE(d.run_until([&] { return d.invalidated.size() == n; }));
    const auto to = d.now();
    (void)d.invalidated.take_all();
    return to - from;
  };
  // 8 cycles to the verdict of the lookup, then: turn of the epoch, ripe, reported (TptTiming). The
  // turn is one cycle earlier for an STag of no entry, which needs no close.
  EXPECT_EQ(invalidated_after(stag ^ 0x100, 1), 10U);
  EXPECT_EQ(invalidated_after(stag ^ 0x100, 9), 10U + 8 * 8);  // 8 more, each 8 cycles later
  EXPECT_EQ(invalidated_after(w.create(2, this->plain()), 1), 11U);
  // 7: TptTiming::check. 10: the lookup's result after 6, its first extent 4 later (tpt_walk).
  EXPECT_EQ(cycles(d.wqe_check, d.wqe_check_rsp, 1), 7U);
  EXPECT_EQ(cycles(d.rx_xlate, d.rx_xlate_rsp, 1), 7U);
  EXPECT_EQ(cycles(d.rx_xlate, d.rx_extent, 1), 10U);
  EXPECT_EQ(cycles(d.tx_xlate, d.tx_extent, 1), 10U);
  EXPECT_EQ(cycles(d.qn1_xlate, d.qn1_extent, 1), 10U);
  // One per cycle: 99 cycles more than for one.
  EXPECT_EQ(cycles(d.wqe_check, d.wqe_check_rsp, 100), 106U);
  EXPECT_EQ(cycles(d.rx_xlate, d.rx_extent, 100), 109U);
  EXPECT_EQ(cycles(d.tx_xlate, d.tx_extent, 100), 109U);
  EXPECT_EQ(cycles(d.qn1_xlate, d.qn1_extent, 100), 109U);
}

}  // namespace
}  // namespace rnic::tb

// Memory windows: bound to a range of a region, used, re-bound, invalidated, destroyed, refused.
// RTL and model of tpt, default and minimum build. tpt_crowd_test.cpp does all of these at the same
// time.
//
// `w` is the world (tpt_world.hpp): regions, and the expected result of each lookup. `h` is the
// host (tpt_host.hpp): it sends WQEs of a send queue, and awaits their reports. bind(window, key,
// operands, base): the window gets the STag with this key (its low 8 bits), and its first byte gets
// TO `base`. That byte is the one at TO operands.address of the region operands.lkey. Type 1: any
// QP of the PD uses it, and it may be re-bound while open. Type 2: only the QP that bound it uses
// it, the peer may invalidate it, and it is bound only while closed.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "VTpt.h"
#include "VTptMin.h"
#include "VTptMin___024root.h"
#include "VTptMin_rnic_stall_pkg.h"
#include "VTpt___024root.h"
#include "gen/queues.hpp"
#include "tpt/tpt_dut.hpp"
#include "tpt/tpt_host.hpp"
#include "tpt/tpt_model.hpp"
#include "tpt/tpt_world.hpp"

namespace rnic::tb {
namespace {

using spec::AdminStatus;
using spec::BindOperands;
using spec::SqLocalDone;
using spec::TptResult;

constexpr uint16_t kMwBind = spec::kAccessMwBind, kInv = spec::kAccessRemoteInvalidate;
constexpr uint16_t kPeer = kRemoteWrite | kRemoteRead;
// The reports of h.bind() and h.reg(), whose requests are WQE 9 of QP 5.
constexpr SqLocalDone kRefused{.qpn = 5, .slot = 9, .result = TptResult::kBind};
constexpr SqLocalDone kBound{.qpn = 5, .slot = 9};

/// 24 KiB in 7 pages that are not contiguous. The region begins within the first page.
Region scattered(uint32_t pbl_base = 0, uint64_t high = 0) {
  Region r{.rights = kAll | kMwBind | spec::kAccessFlushGlobal,
           .base = 0x10000,
           .length = 0x6000,
           .first = 0x100,
           .pbl_base = pbl_base};
  for (const uint64_t page :
       {0xa0000000, 0xb0003000, 0xc0007000, 0xd0001000, 0xe0009000, 0xf0002000, 0x90005000})
    r.pages.push_back(high << 40 | page);
  return r;
}

template <class D>
class TptWindow : public HostTest<D> {
 protected:
  /// All clients look up `stag` at both ends of `r`, the range that it has or had: inside, and one
  /// byte outside. TptWorld checks each result.
  static void probe(TptWorld<D>& w, uint32_t stag, const Region& r) {
    ask(w, stag, r);
    w.finish();
  }
  /// The same while a request waits, so the streams do not settle. Extents that the test holds are
  /// not retired.
  void probe_beside(TptWorld<D>& w, uint32_t stag, const Region& r) {
    const auto tx = std::exchange(w.tx_held, {}), rx = std::exchange(w.rx_held, {});
    ask(w, stag, r);
    for (unsigned c = 0; c < 400 * this->dut.patience(); ++c) this->dut.advance();
    w.finish(true, false);
    w.tx_held = tx;
    w.rx_held = rx;
  }
  static void ask(TptWorld<D>& w, uint32_t stag, const Region& r) {
    const auto n = static_cast<uint32_t>(std::min<uint64_t>(r.length, 5000));
    const auto item = [&](uint64_t to, uint32_t length, uint16_t rights) {
      return spec::WqeCheck{.stag = stag,
                            .tagged_offset = to,
                            .length = length,
                            .pd = r.pd,
                            .qpn = 5,
                            .rights = rights,
                            .last = 1};
    };
    w.ask_rx({item(r.base, n, kRemoteWrite)});
    w.ask_rx({item(r.base + r.length - n, n, 0)});
    w.ask_rx({item(r.base + r.length, 1, 0)});
    w.ask_rx({item(r.base - 1, 1, 0)});
    w.ask_tx({item(r.base + r.length - n, n, kRemoteRead)});
    w.ask_tx({item(r.base + r.length - n, n + 1, kRemoteRead)});
    w.ask_resp({item(r.base, static_cast<uint32_t>(r.length), kRemoteRead)});
    w.ask_resp({item(r.base, static_cast<uint32_t>(r.length) + 1, kRemoteRead)});
    w.ask_wqe({item(r.base, 1, 0)});
    w.ask_wqe({item(r.base, 1, kLocalWrite)});
    w.ask_qn1(item(r.base + r.length - 1, 1, kRemoteAtomic));
  }
};
using Duts = testing::Types<TptDut<VTpt, false>, TptDut<VTptMin, true>, TptModelDut<false>,
                            TptModelDut<true>>;
TYPED_TEST_SUITE(TptWindow, Duts);

/// The extents and results are typed here, not computed.
TYPED_TEST(TptWindow, GrantsItsRangeAndNoMore) {
  this->worlds([&](auto& w, auto& h) {
    auto& d = this->dut;
    const uint32_t region = w.create(1, scattered());
    Window one = h.window(2, 1), two = h.window(3, 2);
    w.query(one.stag);
    // From byte 0x80 of page 2 (counted from 0) on: 0x11f80 - 0x10000 + 0x100 = 0x2080. The TOs of
    // a window are independent of those of the region.
    const BindOperands o{.address = 0x11f80, .length = 0x2000, .lkey = region, .rights = kPeer};
    constexpr uint64_t kBase = 0x70000ff0;
    EXPECT_EQ(h.bind(one, 0x31, o, kBase), kBound);
    EXPECT_EQ(h.bind(two, 0x32, o, 0), kBound);

    const auto ask = [&](auto& in, uint32_t stag, uint64_t to, uint32_t n, uint16_t rights,
                         uint16_t qpn = 5, uint16_t pd = 7, uint8_t invalidate = 0) {
      in.put({.stag = stag,
              .tagged_offset = to,
              .length = n,
              .pd = pd,
              .qpn = qpn,
              .rights = rights,
              .invalidate = invalidate,
              .last = 1});
    };
    const auto place = [&](uint32_t stag, uint64_t to, uint32_t n, uint16_t rights,
                           uint16_t qpn = 5, uint16_t pd = 7, uint8_t invalidate = 0) {
      ask(d.rx_xlate, stag, to, n, rights, qpn, pd, invalidate);
      return d.rx_xlate_rsp.take().result;
    };
    const auto extent = [&](uint64_t address, uint32_t length, uint8_t last) {
      auto e = d.rx_extent.take();
      d.wr_retired.put({.epoch = e.epoch});
      e.epoch = 0;
      EXPECT_EQ(e, (spec::RxExtent{.address = address, .length = length, .last = last}));
    };
    EXPECT_EQ(place(one.stag, kBase, 0x2000, kRemoteWrite), TptResult::kOk);
    extent(0xc0007080, 0xf80, 0);
    extent(0xd0001000, 0x1000, 0);
    extent(0xe0009000, 0x80, 1);
    EXPECT_EQ(place(two.stag, 0xf7f, 3, kRemoteWrite), TptResult::kOk);
    extent(0xc0007fff, 1, 0);
    extent(0xd0001000, 2, 1);
    EXPECT_EQ(place(two.stag, 0x1fff, 1, 0), TptResult::kOk);
    extent(0xe000907f, 1, 1);

    EXPECT_EQ(place(one.stag, kBase, 0x2001, 0), TptResult::kBounds);
    EXPECT_EQ(place(one.stag, kBase - 1, 1, 0), TptResult::kBounds);
    EXPECT_EQ(place(one.stag, kBase + 0x2000, 1, 0), TptResult::kBounds);
    EXPECT_EQ(place(one.stag, 0x11f80, 1, 0), TptResult::kBounds);
    EXPECT_EQ(place(one.stag, ~uint64_t{0}, 2, 0), TptResult::kWrap);
    EXPECT_EQ(place(two.stag, ~uint64_t{0}, 1, 0), TptResult::kBounds);
    EXPECT_EQ(place(one.stag, kBase, 8, kRemoteAtomic), TptResult::kRights);
    EXPECT_EQ(place(one.stag, kBase, 8, kLocalWrite), TptResult::kRights);
    EXPECT_EQ(place(one.stag, kBase, 1, spec::kAccessFlushGlobal), TptResult::kRights);
    EXPECT_EQ(place(one.stag, kBase, 1, kMwBind), TptResult::kRights);
    EXPECT_EQ(place(one.stag, kBase, 1, 0, 5, 8), TptResult::kAssoc);
    EXPECT_EQ(place(one.stag ^ 1, kBase, 1, 0), TptResult::kStag);
    // Type 1: any QP of the PD, and no peer invalidates it. Type 2: the QP that bound it.
    EXPECT_EQ(place(one.stag, kBase, 1, kRemoteWrite, 6), TptResult::kOk);
    extent(0xc0007080, 1, 1);
    EXPECT_EQ(place(two.stag, 0, 1, kRemoteWrite, 6), TptResult::kAssoc);
    EXPECT_EQ(place(one.stag, 0, 0, kInv, 5, 7, 1), TptResult::kStag);
    EXPECT_EQ(place(two.stag, 0, 0, kInv, 6, 7, 1), TptResult::kAssoc);
    EXPECT_EQ(place(two.stag, 0, 0, kInv, 5, 7, 1), TptResult::kOk);
    // A window cannot be a local key, whatever bytes the WQE names. A local invalidation names no
    // bytes, so it may name a window.
    const auto local = [&](uint32_t stag, uint64_t to, uint32_t n, uint16_t rights,
                           uint16_t qpn = 5, uint16_t pd = 7, uint8_t invalidate = 0) {
      ask(d.wqe_check, stag, to, n, rights, qpn, pd, invalidate);
      return d.wqe_check_rsp.take().result;
    };
    for (const uint16_t rights : {uint16_t{0}, kLocalWrite}) {
      EXPECT_EQ(local(one.stag, kBase, 1, rights), TptResult::kRights);
      EXPECT_EQ(local(two.stag, 0, 1, rights), TptResult::kRights);
      EXPECT_EQ(local(one.stag, 0, 1, rights), TptResult::kRights);
      EXPECT_EQ(local(one.stag, ~uint64_t{0}, 2, rights), TptResult::kRights);
    }
    EXPECT_EQ(local(two.stag, 0, 1, 0, 6), TptResult::kAssoc);
    EXPECT_EQ(local(one.stag, kBase, 1, 0, 5, 8), TptResult::kAssoc);
    EXPECT_EQ(local(one.stag ^ 1, kBase, 1, 0), TptResult::kStag);
    EXPECT_EQ(local(one.stag, 0, 0, 0, 5, 7, 1), TptResult::kOk);
    EXPECT_EQ(local(two.stag, 0, 0, 0, 5, 7, 1), TptResult::kOk);
    EXPECT_EQ(local(region, 0x10000, 1, 0), TptResult::kOk);
    // The source of a Read Response: its check and its lookup.
    ask(d.resp_check, one.stag, kBase, 0x2000, kRemoteRead);
    EXPECT_EQ(d.resp_check_rsp.take().result, TptResult::kOk);
    ask(d.resp_check, one.stag, kBase, 0x2001, kRemoteRead);
    EXPECT_EQ(d.resp_check_rsp.take().result, TptResult::kBounds);
    ask(d.tx_xlate, one.stag, kBase + 0x1f7f, 2, kRemoteRead);
    auto e = d.tx_extent.take();
    EXPECT_EQ(e.address, 0xd0001fffU);
    EXPECT_EQ(e.length, 1U);
    d.rd_retired.put({.epoch = e.epoch});
    e = d.tx_extent.take();
    EXPECT_EQ(e.address, 0xe0009000U);
    EXPECT_EQ(e.length, 1U);
    d.rd_retired.put({.epoch = e.epoch});
    w.query(one.stag);
    w.query(two.stag);
    w.query(region);
  });
}

/// A window's slot is created, reported as used, destroyed under any key, and created again.
TYPED_TEST(TptWindow, KeptAsAnStagWithoutMemory) {
  this->worlds([&](auto& w, auto& h) {
    for (const uint8_t type : {uint8_t{1}, uint8_t{2}}) {
      EXPECT_FALSE(w.slot_used(4, type));
      const Window mw = h.window(4, type, 0x77);
      EXPECT_TRUE(w.slot_used(4, type));
      EXPECT_TRUE(w.slot_used(4));
      EXPECT_FALSE(w.slot_used(5, type));
      w.query(mw.stag);  // not found
      this->probe(w, mw.stag, scattered());
      // An invalidation does not free the slot.
      h.invalidate(mw);
      this->dut.invalidate.put({mw.stag});
      EXPECT_EQ(this->dut.invalidated.take().stag, mw.stag);
      EXPECT_EQ(h.destroy(Window{.slot = 4, .upper = mw.upper ^ 1}, 0x77), AdminStatus::kNotFound);
      EXPECT_EQ(h.destroy(mw, 0x12), AdminStatus::kOk);
      EXPECT_EQ(h.destroy(mw, 0x77), AdminStatus::kNotFound);
      EXPECT_FALSE(w.slot_used(4, type));
      Window after = h.window(4, type, 0x77);
      EXPECT_NE(after.upper, mw.upper);
      const uint32_t region = w.create(1, scattered());
      EXPECT_EQ(
          h.bind(after, 1, {.address = 0x10000, .length = 1, .lkey = region, .rights = kPeer}, 0),
          kBound);
      EXPECT_EQ(h.destroy(after, 0x55), AdminStatus::kOk);
      w.destroy(region);
      EXPECT_EQ(w.statuses.back(), AdminStatus::kOk);
    }
  });
}

TYPED_TEST(TptWindow, RefusedOnesChangeNothing) {
  this->worlds([&](auto& w, auto& h) {
    const Region good = scattered();
    const uint32_t region = w.create(1, good);
    const auto with = [&](uint32_t slot, auto change) {
      Region r = scattered(8 * slot, slot);
      change(r);
      return w.create(slot, r);
    };
    const uint32_t other_pd = with(2, [](Region& r) { r.pd = 8; });
    const uint32_t no_bind = with(3, [](Region& r) { r.rights = kAll; });
    const uint32_t read_only = with(4, [](Region& r) { r.rights = kMwBind | kRemoteRead; });
    const uint32_t of_qp6 = with(5, [](Region& r) { r.bound = true, r.qpn = 6; });
    const uint32_t of_qp5 = with(6, [](Region& r) { r.bound = true, r.qpn = 5; });
    const uint32_t closed = with(7, [](Region&) {});
    w.destroy(closed);
    const uint32_t high = with(8, [](Region& r) { r.base = ~uint64_t{0} - 0x5fff; });
    Window one = h.window(10, 1), two = h.window(11, 2), open = h.window(12, 1),
           taken = h.window(13, 2);
    const BindOperands o{.address = 0x10010, .length = 0x3000, .lkey = region, .rights = kPeer};
    EXPECT_EQ(h.bind(open, 1, o, 0), kBound);
    EXPECT_EQ(h.bind(taken, 1, o, 0), kBound);
    struct Bad {
      const char* what;
      std::function<void(BindOperands&, spec::SqLocal&)> make;
    };
    const Bad all[] = {
        {"a reserved bit", [](auto& b, auto&) { b.reserved0[0] = 1; }},
        {"the last reserved bit", [](auto& b, auto&) { b.reserved0[9] = 0x80; }},
        {"length of 2^32", [](auto& b, auto&) { b.length |= uint64_t{1} << 32; }},
        {"length of 2^63", [](auto& b, auto&) { b.length |= uint64_t{1} << 63; }},
        {"local write", [](auto& b, auto&) { b.rights |= kLocalWrite; }},
        {"mw_bind", [](auto& b, auto&) { b.rights |= kMwBind; }},
        {"remote_invalidate", [](auto& b, auto&) { b.rights |= kInv; }},
        {"an unknown right", [](auto& b, auto&) { b.rights |= 0x800; }},
        {"another upper part", [](auto&, auto& s) { s.stag ^= 0x100; }},
        {"another PD", [](auto&, auto& s) { s.pd ^= 1; }},
        {"a region for a window", [&](auto&, auto& s) { s.stag = region; }},
        {"a region of another PD", [&](auto& b, auto&) { b.lkey = other_pd; }},
        {"a region without mw_bind", [&](auto& b, auto&) { b.lkey = no_bind; }},
        {"a region for reading", [&](auto& b, auto&) { b.lkey = read_only; }},
        {"atomics of a region for reading",
         [&](auto& b, auto&) { b.lkey = read_only, b.rights = kRemoteAtomic; }},
        {"a flush right that the region has not",
         [](auto& b, auto&) { b.rights |= spec::kAccessFlushPersistent; }},
        {"a region of another QP", [&](auto& b, auto&) { b.lkey = of_qp6; }},
        {"a closed region", [&](auto& b, auto&) { b.lkey = closed; }},
        {"another key of the region", [](auto& b, auto&) { b.lkey ^= 1; }},
        {"a window for a region", [&](auto& b, auto&) { b.lkey = open.stag, b.address = 0; }},
        {"one byte before the region", [](auto& b, auto&) { b.address = 0xffff, b.length = 0x10; }},
        {"one byte beyond the region",
         [](auto& b, auto&) { b.address = 0x10001, b.length = 0x6000; }},
        {"far beyond", [](auto& b, auto&) { b.length = 0xffffffff; }},
        {"wrap", [&](auto& b, auto&) { b.lkey = high, b.address = ~uint64_t{0}, b.length = 2; }},
        {"address 2^32 beyond", [](auto& b, auto&) { b.address |= uint64_t{1} << 32; }},
    };
    const auto refuse = [&](const Window& mw, BindOperands b, const auto& make) {
      spec::SqLocal item = h.item(mw.upper << 8 | 0x44, b, 0x1000);
      make(b, item);
      b.pack(item.operands);
      this->dut.sq_local.put(item);
      EXPECT_EQ(h.take(), kRefused);
      w.ask_rx({good.item(item.stag, 0, 1)});
    };
    for (const Bad& b : all) {
      SCOPED_TRACE(b.what);
      refuse(one, o, b.make);
      refuse(two, o, b.make);
      refuse(open, o, b.make);  // `open` stays bound
      w.ask_rx({w.region(open.stag).item(open.stag, 0, 1)});
      w.finish();
      if (testing::Test::HasFailure()) return;
    }
    const auto same = [](auto&, auto&) {};
    {
      SCOPED_TRACE("type 2");
      refuse(taken, o, same);
      refuse(taken, {}, same);
      refuse(two, {}, same);
      refuse(two, {.lkey = region}, same);
    }
    {
      SCOPED_TRACE("length 0");
      refuse(open, {.rights = kLocalWrite}, same);
      refuse(open, {}, [](auto&, auto& s) { s.pd ^= 1; });
      refuse(one, {}, [](auto& b, auto&) { b.reserved0[3] = 4; });
    }
    for (const Window* mw : {&open, &taken}) {
      this->probe(w, mw->stag, w.region(mw->stag));
      w.query(mw->stag);
    }
    for (const uint32_t stag : {other_pd, no_bind, read_only, of_qp6, of_qp5, high}) {
      w.destroy(stag);
      EXPECT_EQ(w.statuses.back(), AdminStatus::kOk) << "a refused bind was counted";
    }
    // A bind that is refused above for one reason is granted without that reason.
    const uint32_t reads = with(4, [](Region& r) { r.rights = kMwBind | kRemoteRead; });
    EXPECT_EQ(h.bind(one, 2, {.address = 0x10000, .length = 0x6000, .lkey = reads, .rights = 4}, 1),
              kBound);
    const uint32_t own = with(5, [](Region& r) { r.bound = true, r.qpn = 5; });
    EXPECT_EQ(h.bind(two, 2,
                     {.address = 0x15fff,
                      .length = 1,
                      .lkey = own,
                      .rights = kPeer | kRemoteAtomic | spec::kAccessFlushGlobal},
                     ~uint64_t{0}),
              kBound);
    this->probe(w, one.stag, w.region(one.stag));
    this->probe(w, two.stag, w.region(two.stag));
  });
}

/// A re-bind of an open window of type 1 closes it at once, and binds it when the last access
/// through it has retired.
TYPED_TEST(TptWindow, ReBindWaitsForWhatIsInFlight) {
  this->worlds([&](auto& w, auto& h) {
    auto& d = this->dut;
    const uint32_t first = w.create(1, scattered()), second = w.create(2, scattered(8, 1));
    Window mw = h.window(3, 1), other = h.window(4, 2);
    const auto on = [](uint32_t region, uint64_t at, uint32_t n) {
      return BindOperands{.address = at, .length = n, .lkey = region, .rights = kPeer};
    };
    for (unsigned i = 0; i < 6; ++i) {
      const bool unbinds = i % 3 == 2;
      EXPECT_EQ(h.bind(mw, static_cast<uint8_t>(i), on(first, 0x10020, 0x3000), 0x100 * i), kBound);
      const uint32_t old = mw.stag;
      const Region was = w.region(old);
      w.ask_rx({was.item(old, 0, 5000, kRemoteWrite)});
      w.ask_tx({was.item(old, 10, 5000, kRemoteRead)});
      w.finish(false);
      const auto o = unbinds ? BindOperands{} : on(second, 0x12345, 0x2000);
      const uint32_t stag = mw.upper << 8 | (i == 1 ? old & 0xff : 0xaa);
      d.sq_local.put(h.item(stag, o, 0x9000));
      d.sq_local.put(h.item(other.upper << 8 | i, on(second, 0x10000, 1), 0, 5, 8));
      w.closed(old);
      for (unsigned c = 0; c < 300; ++c) h.step();
      this->probe_beside(w, old, was);  // closed now
      EXPECT_TRUE(d.sq_local_done.empty()) << "answered while the window is in use";
      // No window is bound to the region, but extents in flight still use its pages.
      if (i == 4) {
        w.destroy_begin(first);
        EXPECT_EQ(w.answered().status, AdminStatus::kInProgress);
      }
      // One extent after the other: only the last one ends the wait.
      while (w.tx_held.size() + w.rx_held.size() > 1) {
        auto& held = w.tx_held.empty() ? w.rx_held : w.tx_held;
        if (&held == &w.rx_held)
          w.retire_rx(held.back());
        else
          d.rd_retired.put({.epoch = held.back().epoch});
        held.pop_back();
        for (unsigned c = 0; c < 30; ++c) h.step();
        EXPECT_TRUE(d.sq_local_done.empty()) << "answered before the last extent";
      }
      w.retire();
      EXPECT_EQ(h.take(), kBound) << "round " << i;
      h.bound(mw, stag, o, 0x9000, 5);
      EXPECT_EQ(h.take(), (SqLocalDone{.qpn = 5, .slot = 8}));
      h.bound(other, other.upper << 8 | i, on(second, 0x10000, 1), 0, 5);
      this->probe(w, mw.stag, unbinds ? was : w.region(mw.stag));
      this->probe(w, old, was);
      w.query(mw.stag);
      h.invalidate(other);
      if (i == 4) {
        w.destroy_begin(first);
        w.destroy_end(first);
        break;
      }
      if (testing::Test::HasFailure()) return;
    }
  });
}

/// A bind of a window whose invalidation is not reported yet also waits until the window has
/// drained.
TYPED_TEST(TptWindow, AClosedOneWaitsForWhatIsInFlight) {
  this->worlds([&](auto& w, auto& h) {
    auto& d = this->dut;
    const uint32_t region = w.create(1, scattered());
    Window one = h.window(3, 1), two = h.window(4, 2);
    const BindOperands o{.address = 0x10020, .length = 0x3000, .lkey = region, .rights = kPeer};
    for (unsigned i = 0; i < 8; ++i) {
      Window& mw = i % 4 < 2 ? one : two;
      EXPECT_EQ(h.bind(mw, static_cast<uint8_t>(i), o, 0x100 * i), kBound);
      const uint32_t old = mw.stag;
      const Region was = w.region(old);
      w.ask_rx({was.item(old, 0, 5000, kRemoteWrite)});
      w.finish(false);
      if (i % 2 == 0)
        d.invalidate.put({old});
      else
        d.sq_local.put({.qpn = 3, .slot = 1, .stag = old});
      w.closed(old);
      EXPECT_TRUE(d.run_until([&] { return !d.invalidate.busy() && !d.sq_local.busy(); }));
      for (unsigned c = 0; c < 40; ++c) h.step();
      const uint32_t stag = mw.upper << 8 | 0xaa;
      d.sq_local.put(h.item(stag, o, 0x9000));
      for (unsigned c = 0; c < 200; ++c) h.step();
      this->probe_beside(w, old, was);
      this->probe_beside(w, stag, was);
      EXPECT_TRUE(d.sq_local_done.empty()) << "bound while accesses are in flight";
      EXPECT_TRUE(d.invalidated.empty());
      w.retire();
      if (i % 2 == 0) {
        EXPECT_EQ(d.invalidated.take().stag, old);
      }
      // The two reports may come in either order.
      std::vector<SqLocalDone> got{h.take()};
      if (i % 2 != 0) got.push_back(h.take());
      EXPECT_EQ(std::count(got.begin(), got.end(), kBound), 1);
      EXPECT_EQ(std::count(got.begin(), got.end(), SqLocalDone{.qpn = 3, .slot = 1}), i % 2);
      h.bound(mw, stag, o, 0x9000, 5);
      this->probe(w, stag, w.region(stag));
      h.invalidate(mw);
      if (testing::Test::HasFailure()) return;
    }
    w.destroy(region);
    EXPECT_EQ(w.statuses.back(), AdminStatus::kOk);
  });
}

/// tpt repeats the checks when the window has drained. If they then fail, the bind is refused, and
/// the window stays closed.
TYPED_TEST(TptWindow, IsCheckedAgainWhenDrained) {
  this->worlds([&](auto& w, auto& h) {
    auto& d = this->dut;
    const uint32_t first = w.create(1, scattered()), second = w.create(2, scattered(8, 1));
    Window mw = h.window(3, 1);
    const BindOperands o{.address = 0x10020, .length = 0x3000, .lkey = first, .rights = kPeer};
    EXPECT_EQ(h.bind(mw, 1, o, 0), kBound);
    const Region was = w.region(mw.stag);
    w.ask_rx({was.item(mw.stag, 0, 5000, kRemoteWrite)});
    w.finish(false);
    auto next = o;
    next.lkey = second;
    d.sq_local.put(h.item(mw.upper << 8 | 2, next, 0));
    w.closed(mw.stag);
    for (unsigned c = 0; c < 200; ++c) h.step();
    EXPECT_EQ(w.poll(second), AdminStatus::kInProgress);  // closes the region
    w.retire();
    EXPECT_EQ(h.take(), kRefused);
    w.destroy_begin(second);
    w.destroy_end(second);
    this->probe(w, mw.upper << 8 | 1, was);
    this->probe(w, mw.upper << 8 | 2, was);
    w.destroy(first);
    EXPECT_EQ(w.statuses.back(), AdminStatus::kOk);
    EXPECT_EQ(h.destroy(mw), AdminStatus::kOk);
  });
}

/// A region is in use exactly while a window is bound to it, whatever closes the window.
TYPED_TEST(TptWindow, ARegionCountsItsWindows) {
  this->worlds([&](auto& w, auto& h) {
    auto& d = this->dut;
    const uint32_t first = w.create(1, scattered());
    const uint32_t second = w.create(2, scattered(8, 1));
    const auto on = [](uint32_t region) {
      return BindOperands{.address = 0x10020, .length = 0x3000, .lkey = region, .rights = kPeer};
    };
    const auto in_use = [&](uint32_t stag) {
      EXPECT_EQ(w.poll(stag), AdminStatus::kInUse);
      h.refuse_invalidation(stag);
      this->probe(w, stag, w.region(stag));
      w.query(stag);
    };
    std::vector<Window> mw;
    for (uint32_t i = 0; i < 6; ++i) {
      mw.push_back(h.window(10 + i, i % 2 == 0 ? 1 : 2));
      EXPECT_EQ(h.bind(mw[i], 1, on(first), 0), kBound);
      in_use(first);
    }
    w.destroy(second ^ 1);  // another key: not found
    // Re-bound to the second one.
    EXPECT_EQ(h.bind(mw[0], 2, on(second), 0), kBound);
    in_use(second);
    // Closed by the peer, by a local invalidation, by destroy_mr, by an unbind.
    d.invalidate.put({mw[1].stag});
    EXPECT_EQ(d.invalidated.take().stag, mw[1].stag);
    w.closed(mw[1].stag);
    h.invalidate(mw[3]);
    h.invalidate(mw[3]);  // already closed: not counted twice
    in_use(first);
    EXPECT_EQ(h.destroy(mw[2], 9), AdminStatus::kOk);
    EXPECT_EQ(h.bind(mw[4], 9, {}, 0), kBound);
    EXPECT_EQ(h.bind(mw[4], 8, {}, 0), kBound);
    in_use(first);
    // The last one closes with accesses in flight: not counted after its close.
    const Region was = w.region(mw[5].stag);
    w.ask_rx({was.item(mw[5].stag, 0, 5000, kRemoteWrite)});
    w.finish(false);
    d.invalidate.put({mw[5].stag});
    for (unsigned c = 0; c < 200; ++c) h.step();
    EXPECT_TRUE(d.invalidated.empty());
    w.closed(mw[5].stag);
    EXPECT_EQ(w.poll(first), AdminStatus::kInProgress);
    w.closed(first);
    EXPECT_EQ(w.poll(first), AdminStatus::kInProgress) << "a window's accesses use its pages";
    this->probe_beside(w, first, scattered());
    w.retire();
    EXPECT_EQ(d.invalidated.take().stag, mw[5].stag);
    w.destroy_begin(first);
    EXPECT_EQ(w.destroyed(first).status, AdminStatus::kOk);
    w.freed(1);
    // Destroys the window whose region is destroyed.
    EXPECT_EQ(h.destroy(mw[5]), AdminStatus::kOk);
    in_use(second);
    // The second region is invalidated when it has no window.
    EXPECT_EQ(h.bind(mw[0], 3, {}, 0), kBound);
    d.sq_local.put({.qpn = 3, .slot = 1, .stag = second});
    EXPECT_EQ(h.take(), (SqLocalDone{.qpn = 3, .slot = 1}));
    w.closed(second);
    EXPECT_EQ(h.bind(mw[1], 3, on(second), 0), kRefused);
    w.destroy_begin(second);
    EXPECT_EQ(w.destroyed(second).status, AdminStatus::kOk);
  });
}

/// A region that is registered through the send queue is not invalidated while it has a window.
TYPED_TEST(TptWindow, OnAFastRegistration) {
  this->worlds([&](auto& w, auto& h) {
    Kept k = h.keep(3, 4, 64);
    Window mw = h.window(4, 2);
    for (unsigned i = 0; i < 4; ++i) {
      // Both rights together: refused.
      Region r = h.region(k, 16, 12, w.rng(), kAll | kMwBind | kInv);
      EXPECT_EQ(h.reg(k, 1, r), kRefused);
      r.rights = kAll | kMwBind;
      EXPECT_EQ(h.reg(k, static_cast<uint8_t>(i), r), kBound);
      const BindOperands o{
          .address = r.base + 5000, .length = 20000, .lkey = k.stag, .rights = kPeer};
      EXPECT_EQ(h.bind(mw, static_cast<uint8_t>(i), o, i), kBound);
      const Region was = w.region(mw.stag);
      this->probe(w, mw.stag, was);
      h.refuse_invalidation(k.stag);
      w.destroy_begin(k.stag);
      EXPECT_EQ(h.answer(), AdminStatus::kInUse);
      this->probe(w, k.stag, r);
      // An open region is not free for a registration.
      h.post(k.upper << 8 | 0x99, r, h.operands(r, h.list_of(r)), 5, 9);
      EXPECT_EQ(h.take(), kRefused);
      // Neither is the window.
      h.post(mw.upper << 8 | 0x99, r, h.operands(r, h.list_of(r)), 5, 9);
      EXPECT_EQ(h.take(), kRefused);
      h.invalidate(mw);
      h.post(mw.upper << 8 | 0x99, r, h.operands(r, h.list_of(r)), 5, 9);
      EXPECT_EQ(h.take(), kRefused);
      h.invalidate(k);
      EXPECT_EQ(h.bind(mw, 1, o, i), kRefused);
      if (testing::Test::HasFailure()) return;
    }
    // A closed slot for registrations is neither a window nor a region.
    this->dut.sq_local.put(h.item(k.stag, {}, 0));
    EXPECT_EQ(h.take(), kRefused);
    EXPECT_EQ(h.destroy(k, 0), AdminStatus::kOk);
    EXPECT_EQ(h.destroy(mw), AdminStatus::kOk);
  });
}

/// The commits of binds, which tandem follows.
template <class D>
class TptWindowRtl : public TptWindow<D> {};
using RtlDuts = testing::Types<TptDut<VTpt, false>, TptDut<VTptMin, true>>;
TYPED_TEST_SUITE(TptWindowRtl, RtlDuts);

TYPED_TEST(TptWindowRtl, EachChangeIsACommit) {
  this->worlds([&](auto& w, auto& h) {
    auto& d = this->dut;
    const uint32_t region = w.create(1, scattered());
    Window mw = h.window(3, 1);
    const BindOperands o{.address = 0x10020, .length = 0x3000, .lkey = region, .rights = kPeer};
    const auto expect = [&](std::vector<spec::TptChangeCommit> want, const char* what) {
      const auto got = d.tpt_change.take_all();
      EXPECT_EQ(std::vector(got.begin(), got.end()), want) << what;
    };
    // of_reg (commits.yaml): 2 refused; of a bind: 5 bound or unbound, 6 refused, 7 closed.
    const auto of_bind = [](uint8_t of_reg) {
      return spec::TptChangeCommit{.slot = 3, .qpn = 5, .wqe = 9, .of_reg = of_reg};
    };
    // In a commit without a request, QPN and WQE are those of the previous commit.
    const auto unnamed = [](spec::TptChangeCommit c) {
      c.qpn = 0, c.wqe = 0;
      return c;
    };
    d.tpt_change.take_all();
    EXPECT_EQ(h.bind(mw, 1, o, 0), kBound);
    expect({of_bind(5)}, "bound");
    d.sq_local.put(h.item(mw.stag, {.rights = 1}, 0));
    EXPECT_EQ(h.take(), kRefused);
    expect({of_bind(6)}, "refused");
    h.refuse_invalidation(region);
    expect({{.slot = 1, .of_sq = 1, .qpn = 3, .wqe = 1, .of_reg = 2}}, "a region that has windows");
    w.ask_rx({w.region(mw.stag).item(mw.stag, 0, 5000, kRemoteWrite)});
    w.finish(false);
    d.sq_local.put(h.item(mw.stag, o, 0));
    for (unsigned c = 0; c < 200; ++c) h.step();
    expect({of_bind(7)}, "closed");
    w.retire();
    EXPECT_EQ(h.take(), kBound);
    expect({of_bind(5)}, "bound again");
    EXPECT_EQ(h.bind(mw, 1, o, 0), kBound);
    expect({of_bind(7), of_bind(5)}, "with nothing in flight");
    EXPECT_EQ(h.bind(mw, 1, {}, 0), kBound);
    expect({of_bind(7), of_bind(5)}, "unbound");
    EXPECT_EQ(h.bind(mw, 1, {}, 0), kBound);
    expect({of_bind(5)}, "unbound already");
    EXPECT_EQ(h.bind(mw, 1, o, 0), kBound);
    d.tpt_change.take_all();
    EXPECT_EQ(w.poll(region), AdminStatus::kInUse);
    const auto in_use = d.tpt_change.take_all();
    ASSERT_EQ(in_use.size(), 1U);
    EXPECT_EQ(unnamed(in_use.front()), (spec::TptChangeCommit{.slot = 1}));
  });
}

}  // namespace
}  // namespace rnic::tb

// Fast registrations: a kept STag is registered, used, invalidated and registered again, while
// lists come late, damaged or not at all. RTL and model of tpt, default and minimum build. The
// bench is the host that holds the page lists.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
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
using spec::RdStatus;
using spec::TptResult;

template <class D>
class TptRegister : public HostTest<D> {
 protected:
  /// Looks up bytes at both ends of a region, and somewhere in it, for rx, tx and wqe.
  static void use(TptWorld<D>& w, uint32_t stag, const Region& r, uint16_t qpn) {
    const auto n = static_cast<uint32_t>(std::min<uint64_t>(r.length, 9000));
    for (const uint64_t at : {uint64_t{0}, r.length - n, w.rng().below(r.length - n + 1)}) {
      auto item = r.item(stag, at, n);
      item.qpn = qpn;
      w.ask_rx({item});
      w.ask_tx({item});
      w.ask_wqe({item});
    }
    w.finish();
  }
  /// Waits longer than any request that is not blocked takes.
  void wait(Host<D>& h) {
    for (unsigned c = 0; c < 400 * this->dut.patience(); ++c) h.step();
  }
};
using Duts = testing::Types<TptDut<VTpt, false>, TptDut<VTptMin, true>, TptModelDut<false>,
                            TptModelDut<true>>;
TYPED_TEST_SUITE(TptRegister, Duts);

TYPED_TEST(TptRegister, IsUsedInvalidatedAndRegisteredAgain) {
  this->worlds([&](auto& w, auto& h) {
    Kept k = h.keep(3, 4, 64);
    Kept other = h.keep(4, 0, 80);
    const Region first = h.region(k, 16, 12, w.rng());
    const uint32_t before = k.stag;
    w.ask_rx({{.stag = before, .length = 1, .pd = 7}});
    w.finish();
    EXPECT_EQ(h.reg(k, 0x22, first), (spec::SqLocalDone{.qpn = 5, .slot = 9}));
    EXPECT_EQ(h.reg(other, 0x11, h.region(other, 1, 21, w.rng())).result, TptResult::kOk);
    this->use(w, k.stag, first, 5);
    this->use(w, k.stag, first, 6);
    this->use(w, other.stag, w.region(other.stag), 6);
    w.query(k.stag);
    w.query(before);
    for (unsigned i = 0; i < 8; ++i) {
      h.invalidate(k);
      const uint32_t old = k.stag;
      w.query(old);
      const auto pages = static_cast<unsigned>(w.rng().between(1, 16));
      const auto log = static_cast<unsigned>(w.rng().between(12, 21));
      const bool bound = w.rng().percent(50);
      const Region r =
          h.region(k, pages, log, w.rng(), bound ? kAll | spec::kAccessRemoteInvalidate : kAll);
      EXPECT_EQ(h.reg(k, static_cast<uint8_t>(0x33 + i), r).result, TptResult::kOk);
      this->use(w, k.stag, r, 5);
      this->use(w, k.stag, r, 6);
      this->use(w, old, r, 5);
      if (testing::Test::HasFailure()) return;
    }
    EXPECT_EQ(h.destroy(k, 0x99), AdminStatus::kOk);
    EXPECT_EQ(h.destroy(k, 0x99), AdminStatus::kNotFound);
    EXPECT_EQ(h.destroy(other, other.stag & 0xff), AdminStatus::kOk);
    const Kept again = h.keep(3, 2, 0);
    EXPECT_EQ(h.destroy(again, 0), AdminStatus::kOk);
  });
}

// A read of a list has at most 4096 bytes: 512 entries of 8 bytes.
TYPED_TEST(TptRegister, LongListsAreReadInPieces) {
  this->worlds([&](auto& w, auto& h) {
    Kept k = h.keep(1, 10, 0);
    for (const unsigned pages : {511U, 512U, 513U, 1023U, 1024U}) {
      const Region r = h.region(k, pages, 12, w.rng());
      EXPECT_EQ(h.reg(k, 1, r).result, TptResult::kOk);
      this->use(w, k.stag, r, 5);
      h.invalidate(k);
      if (testing::Test::HasFailure()) return;
    }
  });
}

// Each case spoils one thing of a good registration: 8 pages of 2^14 bytes, in a slot with room for
// 2^3 pages.
TYPED_TEST(TptRegister, RefusedOnesChangeNothing) {
  this->worlds([&](auto& w, auto& h) {
    Kept k = h.keep(2, 3, 8);
    const uint32_t plain = w.create(9, {.base = 0x1000, .length = 0x1000, .pbl_base = 40});
    const Region good = h.region(k, 8, 14, w.rng());
    struct Bad {
      const char* what;
      std::function<void(Region&, spec::RegOperands&, uint32_t&)> make;
    };
    const Bad all[] = {
        {"pages 0", [](auto&, auto& o, auto&) { o.pages = 0; }},
        {"more pages than room", [](auto&, auto& o, auto&) { o.pages = 9; }},
        {"many pages", [](auto&, auto& o, auto&) { o.pages = 0x80000001; }},
        {"length 0", [](auto&, auto& o, auto&) { o.length = 0; }},
        {"length beyond the pages",
         [](auto& r, auto& o, auto&) { o.length = (8ULL << 14) - r.first + 1; }},
        {"length of 2^48", [](auto&, auto& o, auto&) { o.length |= 1ULL << 48; }},
        {"first offset beyond its page", [](auto&, auto& o, auto&) { o.first_offset = 1 << 14; }},
        {"first offset of 2^21", [](auto&, auto& o, auto&) { o.first_offset = 1 << 21; }},
        {"pages of 2 KiB", [](auto&, auto& o, auto&) { o.log_page = 11; }},
        {"pages of 4 MiB", [](auto&, auto& o, auto&) { o.log_page = 22; }},
        {"log page of 44", [](auto&, auto& o, auto&) { o.log_page = 14 + 32; }},
        {"an unknown right", [](auto&, auto& o, auto&) { o.rights |= 0x800; }},
        {"remote write without local write",
         [](auto&, auto& o, auto&) { o.rights = kRemoteWrite; }},
        {"a reserved bit", [](auto&, auto& o, auto&) { o.reserved0 = 1ULL << 39; }},
        {"another PD", [](auto& r, auto&, auto&) { r.pd ^= 1; }},
        {"another STag", [](auto&, auto&, auto& stag) { stag ^= 0x100; }},
        {"a plain region's STag", [&](auto&, auto&, auto& stag) { stag = plain; }},
    };
    for (const Bad& b : all) {
      SCOPED_TRACE(b.what);
      Region r = good;
      spec::RegOperands o = h.operands(r, h.list_of(r));
      uint32_t stag = k.upper << 8 | 0x77;
      b.make(r, o, stag);
      h.post(stag, r, o, 5, 9);
      EXPECT_EQ(h.take(), (spec::SqLocalDone{.qpn = 5, .slot = 9, .result = TptResult::kBind}));
      EXPECT_TRUE(h.reads.empty()) << "a list was read";
      w.ask_rx({good.item(stag, 0, 1)});
      w.finish();
    }
    EXPECT_EQ(h.reg(k, 0x77, good).result, TptResult::kOk);
    // An open entry is not free.
    h.post(k.upper << 8 | 0x78, good, h.operands(good, h.list_of(good)), 5, 9);
    EXPECT_EQ(h.take().result, TptResult::kBind);
    this->use(w, k.stag, good, 5);
    w.query(plain);
  });
}

// A page address that is not aligned to its 8 KiB, at the ends of beats (8 entries), of reads (512
// entries) and of the list. Then the first or the second read of the list fails.
TYPED_TEST(TptRegister, ABadListLeavesTheEntryFree) {
  this->worlds([&](auto& w, auto& h) {
    Kept k = h.keep(2, 10, 0);
    const Region good = h.region(k, 1000, 13, w.rng());
    for (const unsigned at : {0U, 7U, 8U, 500U, 511U, 512U, 999U}) {
      SCOPED_TRACE(at);
      Region r = good;
      r.pages[at] |= 0x1000;
      EXPECT_EQ(h.reg(k, 0x50, r).result, TptResult::kBind);
      w.ask_rx({good.item(k.upper << 8 | 0x50, 0, 1)});
      w.finish();
    }
    for (const unsigned piece : {0U, 1U}) {
      for (const auto status : {RdStatus::kUnsupported, RdStatus::kAborted}) {
        SCOPED_TRACE(piece);
        const uint64_t list = h.list_of(good);
        h.fails[list + 4096 * piece] = status;
        EXPECT_EQ(h.reg(k, 0x50, good, h.operands(good, list), 5),
                  (spec::SqLocalDone{.qpn = 5, .slot = 9, .status = status}));
      }
    }
    EXPECT_EQ(h.reg(k, 0x51, good).result, TptResult::kOk);
    this->use(w, k.stag, good, 5);
  });
}

/// An entry is closed while extents of it are in flight. Its registration waits until they have
/// retired.
TYPED_TEST(TptRegister, WaitsForWhatIsInFlight) {
  this->worlds([&](auto& w, auto& h) {
    auto& d = this->dut;
    Kept k = h.keep(2, 4, 0);
    for (unsigned i = 0; i < 5; ++i) {
      const Region r = h.region(k, 16, 12, w.rng());
      EXPECT_EQ(h.reg(k, static_cast<uint8_t>(i), r).result, TptResult::kOk);
      w.ask_rx({r.item(k.stag, 10, 5000)});
      w.ask_tx({r.item(k.stag, 10, 5000)});
      w.finish(false);
      d.sq_local.put({.qpn = 3, .slot = 1, .stag = k.stag});
      w.closed(k.stag);
      const Region next = h.region(k, 16, 12, w.rng());
      h.post(k.upper << 8 | 0xee, next, h.operands(next, h.list_of(next)), 6, 2);
      this->wait(h);
      EXPECT_TRUE(d.sq_local_done.empty());
      EXPECT_TRUE(h.reads.empty()) << "the list is read while the entry is in use";
      w.retire();
      EXPECT_EQ(h.take(), (spec::SqLocalDone{.qpn = 3, .slot = 1}));
      EXPECT_EQ(h.take(), (spec::SqLocalDone{.qpn = 6, .slot = 2}));
      h.opened(k, 0xee, next, 6);
      this->use(w, k.stag, next, 6);
      h.invalidate(k);
      if (testing::Test::HasFailure()) return;
    }
  });
}

/// A registration that waits for its list has claimed its entry. tpt requests the lists of eight
/// registrations (Jobs of tpt_register), and no more until the first of them has ended.
TYPED_TEST(TptRegister, ClaimedIsNotFree) {
  this->worlds([&](auto& w, auto& h) {
    auto& d = this->dut;
    constexpr uint32_t kJobs = 8, kAll = kJobs + 2;  // lists read at a time; all registrations
    const auto qpn = [](uint32_t i) { return static_cast<uint16_t>(i % 8); };
    std::vector<Kept> kept;
    std::vector<Region> regions;
    for (uint32_t i = 0; i < kAll; ++i) kept.push_back(h.keep(i + 1, 2, 4 * i));
    h.answers = false;
    for (uint32_t i = 0; i < kAll; ++i) {
      regions.push_back(h.region(kept[i], 4, 12, w.rng()));
      h.post(kept[i].upper << 8 | 0x10, regions[i], h.operands(regions[i], h.list_of(regions[i])),
             qpn(i), 1);
    }
    this->wait(h);
    EXPECT_EQ(h.reads.size(), kJobs);
    w.destroy_begin(kept[0].stag);
    EXPECT_EQ(h.answer(), AdminStatus::kInProgress);
    w.query(kept[0].stag);
    for (uint32_t i = 0; i < kJobs; ++i)
      w.ask_rx({regions[i].item(kept[i].upper << 8 | 0x10, 0, 1)});
    this->wait(h);
    w.finish(true, false);
    EXPECT_TRUE(d.sq_local_done.empty());
    h.answers = true;
    for (uint32_t i = 0; i < kAll; ++i) {
      EXPECT_EQ(h.take(), (spec::SqLocalDone{.qpn = qpn(i), .slot = 1}));
      h.opened(kept[i], 0x10, regions[i], qpn(i));
    }
    for (uint32_t i = 0; i < kAll; ++i) this->use(w, kept[i].stag, regions[i], 1);
    for (const Kept& k : kept) EXPECT_EQ(h.destroy(k, 0), AdminStatus::kOk);
  });
}

/// Slots are registered, used, invalidated and destroyed in random order.
TYPED_TEST(TptRegister, AtRandom) {
  this->worlds([&](auto& w, auto& h) {
    auto& d = this->dut;
    struct Slot {
      Kept kept;
      enum { kNone, kFree, kOpen } state = kNone;
    };
    std::array<Slot, 4> slots;
    for (unsigned i = 0; i < 150; ++i) {
      const auto n = static_cast<uint32_t>(w.rng().below(4));
      Slot& s = slots[n];
      const auto key = static_cast<uint8_t>(w.rng().next());
      switch (s.state) {
        case Slot::kNone:
          s = {h.keep(n + 5, static_cast<unsigned>(w.rng().between(0, 5)), 64 * n, key),
               Slot::kFree};
          break;
        case Slot::kFree: {
          // tpt may reuse the epoch number of an entry that stays closed. The claim or destroy of
          // that entry then waits for everything in flight, so the test retires all extents.
          w.retire();
          if (w.rng().percent(20)) {
            EXPECT_EQ(h.destroy(s.kept, key), AdminStatus::kOk);
            s.state = Slot::kNone;
            break;
          }
          const auto pages = static_cast<unsigned>(w.rng().between(1, 1U << s.kept.room));
          Region r = h.region(s.kept, pages, 12, w.rng());
          const bool bad = w.rng().percent(20);
          if (bad) r.pages[w.rng().below(pages)] |= 8;
          const auto done = h.reg(s.kept, key, r, static_cast<uint16_t>(w.rng().below(8)));
          EXPECT_EQ(done.result, bad ? TptResult::kBind : TptResult::kOk);
          if (!bad) s.state = Slot::kOpen;
          break;
        }
        case Slot::kOpen:
          if (w.rng().percent(60)) {
            const Region r = w.region(s.kept.stag);
            const auto length = static_cast<uint32_t>(std::min<uint64_t>(r.length, 6000));
            w.ask_rx({r.item(s.kept.stag, 0, length)});
            w.ask_tx({r.item(s.kept.stag, 0, length)});
            w.finish(false);
            if (w.rng().percent(50)) w.retire();
            break;
          }
          if (w.rng().percent(50)) {
            d.sq_local.put({.qpn = 3, .slot = 1, .stag = s.kept.stag});
          } else {
            d.invalidate.put({s.kept.stag});
          }
          EXPECT_TRUE(h.run([&] { return !d.sq_local.busy() && !d.invalidate.busy(); }));
          w.closed(s.kept.stag);
          w.retire();
          EXPECT_TRUE(h.run([&] { return !d.sq_local_done.empty() || !d.invalidated.empty(); }));
          d.sq_local_done.take_all();
          d.invalidated.take_all();
          s.state = Slot::kFree;
          break;
      }
      if (testing::Test::HasFailure()) return;
    }
    w.retire();
  });
}

}  // namespace
}  // namespace rnic::tb

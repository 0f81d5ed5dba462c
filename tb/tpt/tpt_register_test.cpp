// Fast registrations: an STag that is kept for them is registered, used, invalidated and registered
// again, while lists come late, damaged or not at all. RTL and model of tpt, default and minimum
// build. The bench is the host that holds the page lists.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "VTpt.h"
#include "VTptMin.h"
#include "VTptMin___024root.h"
#include "VTptMin_rnic_stall_pkg.h"
#include "VTpt___024root.h"
#include "base/bytes.hpp"
#include "gen/queues.hpp"
#include "tpt/tpt_dut.hpp"
#include "tpt/tpt_model.hpp"
#include "tpt/tpt_world.hpp"

namespace rnic::tb {
namespace {

using spec::AdminStatus;
using spec::RdStatus;
using spec::TptResult;

constexpr uint64_t kKey = 0xfedcba9876543210;
constexpr uint16_t kLocalWrite = 1, kRemoteWrite = 2, kRemoteRead = 4;
constexpr uint16_t kAll = kLocalWrite | kRemoteWrite | kRemoteRead;

/// A slot that is kept for fast registrations.
struct Kept {
  uint32_t slot = 0, upper = 0, pbl = 0, stag = 0;  // stag: the last one, with its low 8 bits
  unsigned room = 0;
  uint16_t pd = 7;
};

/// Requests, and the host memory with their lists.
template <class D>
class Host {
 public:
  Host(D& dut, TptWorld<D>& world) : d_(dut), w_(world) {}

  std::map<uint64_t, std::vector<uint64_t>> lists;  // by address
  std::map<uint64_t, RdStatus> fails;               // reads of this address
  bool answers = true;

  Kept keep(uint32_t slot, unsigned room, uint32_t pbl, uint8_t key = 0x11, uint16_t pd = 7) {
    const uint32_t stag = w_.next_stag(slot, key);
    const auto rsp = command(slot, room, pbl, key, pd);
    EXPECT_EQ(rsp.status, AdminStatus::kOk);
    EXPECT_EQ(spec::AdminMrResult::unpack(rsp.result),
              (spec::AdminMrResult{.stag = stag, .pd = pd}));
    return {.slot = slot, .upper = stag >> 8, .pbl = pbl, .stag = stag, .room = room, .pd = pd};
  }
  spec::CmdRsp command(uint32_t slot, unsigned room, uint32_t pbl, uint8_t key, uint16_t pd) {
    spec::TptCmd cmd{.opcode = spec::AdminOpcode::kCreateMr, .object = slot};
    spec::AdminMrArgs{.pd = pd,
                      .key = key,
                      .log_page = static_cast<uint8_t>(room),
                      .pbl_base = pbl,
                      .pages = 1U << room,
                      .fast = 1}
        .pack(cmd.args);
    d_.tpt_cmd.put(cmd);
    return d_.tpt_cmd_rsp.take();
  }
  /// The pages of a region that takes so many of them.
  static Region region(const Kept& k, unsigned pages, unsigned log_page, base::Rng& rng,
                       uint16_t rights = kAll) {
    Region r{.pd = k.pd, .rights = rights, .base = rng.next() >> 1, .log_page = log_page};
    r.first = static_cast<uint32_t>(rng.below(uint64_t{1} << log_page));
    r.length = (uint64_t{pages} << log_page) - r.first - rng.below(100);
    r.pbl_base = k.pbl;
    for (unsigned i = 0; i < pages; ++i) r.pages.push_back(rng.next() >> log_page << log_page);
    return r;
  }
  /// Puts the list of a region into memory.
  uint64_t list_of(const Region& r) {
    const uint64_t at = next_list_;
    next_list_ += 0x10000000;
    lists[at] = r.pages;
    return at;
  }
  static spec::RegOperands operands(const Region& r, uint64_t list) {
    return {.page_list = list,
            .length = r.length,
            .first_offset = r.first,
            .pages = static_cast<uint32_t>(r.pages.size()),
            .rights = r.rights,
            .log_page = static_cast<uint8_t>(r.log_page)};
  }
  void post(uint32_t stag, const Region& r, const spec::RegOperands& o, uint16_t qpn, uint8_t wqe) {
    spec::SqLocal item{
        .qpn = qpn, .slot = wqe, .stag = stag, .is_reg = 1, .pd = r.pd, .base = r.base};
    o.pack(item.operands);
    d_.sq_local.put(item);
  }
  /// Registers a region under a key, and gives the report.
  spec::SqLocalDone reg(Kept& k, uint8_t key, const Region& r, uint16_t qpn = 5) {
    return reg(k, key, r, operands(r, list_of(r)), qpn);
  }
  spec::SqLocalDone reg(Kept& k, uint8_t key, Region r, const spec::RegOperands& o, uint16_t qpn) {
    post(k.upper << 8 | key, r, o, qpn, 9);
    const auto done = take();
    EXPECT_EQ(done.qpn, qpn);
    EXPECT_EQ(done.slot, 9);
    if (done.result == TptResult::kOk && done.status == RdStatus::kOk) opened(k, key, r, qpn);
    return done;
  }
  void opened(Kept& k, uint8_t key, Region r, uint16_t qpn) {
    k.stag = k.upper << 8 | key;
    r.bound = (r.rights & spec::kAccessRemoteInvalidate) != 0;
    r.qpn = qpn;
    w_.opened(k.stag, r);
  }
  void invalidate(const Kept& k) {
    d_.sq_local.put({.qpn = 3, .slot = 1, .stag = k.stag});
    EXPECT_EQ(take(), (spec::SqLocalDone{.qpn = 3, .slot = 1}));
    w_.closed(k.stag);
  }
  AdminStatus destroy(const Kept& k, uint8_t any_key) {
    w_.destroy_begin(k.upper << 8 | any_key);
    for (unsigned i = 0; i < 1000; ++i) {
      const auto status = answer();
      if (status != AdminStatus::kInProgress) {
        if (status == AdminStatus::kOk) w_.closed(k.stag), w_.freed(k.slot);
        return status;
      }
      w_.destroy_begin(k.upper << 8 | any_key);
    }
    return AdminStatus::kInProgress;
  }
  AdminStatus answer() {
    EXPECT_TRUE(run([&] { return !d_.tpt_cmd_rsp.empty(); }));
    return d_.tpt_cmd_rsp.take().status;
  }
  spec::SqLocalDone take() {
    EXPECT_TRUE(run([&] { return !d_.sq_local_done.empty(); })) << "no report";
    return d_.sq_local_done.take();
  }
  template <class F>
  bool run(F until) {
    for (unsigned i = 0; i < 200'000; ++i) {
      if (until()) return true;
      step();
    }
    return until();
  }
  void step() {
    for (const auto& r : d_.reg_rd_req.take_all()) reads.push_back(r);
    while (answers && !reads.empty()) {
      const auto r = reads.front();
      reads.pop_front();
      serve(r);
    }
    d_.advance();
  }
  std::deque<spec::RegRdReq> reads;

 private:
  void serve(const spec::RegRdReq& r) {
    const auto fail = fails.find(r.address);
    if (fail != fails.end()) {
      d_.reg_rd_hdr.put({.status = fail->second, .length = r.length});
      d_.reg_rd.put_packet({});
      return;
    }
    const auto list = std::prev(lists.upper_bound(r.address));
    std::vector<uint8_t> bytes;
    ASSERT_LE(r.length, 4096);
    ASSERT_EQ((r.address - list->first) % 4096, 0U);
    for (unsigned i = 0; i < r.length; ++i) {
      const uint64_t at = r.address - list->first + i;
      ASSERT_LT(at / 8, list->second.size()) << "a read behind the list";
      bytes.push_back(static_cast<uint8_t>(list->second[at / 8] >> (8 * (at % 8))));
    }
    d_.reg_rd_hdr.put({.status = RdStatus::kOk, .length = r.length});
    d_.reg_rd.put_packet(bytes);
  }

  D& d_;
  TptWorld<D>& w_;
  uint64_t next_list_ = 0x7000'0000'0000;
};

template <class D>
class TptRegister : public testing::Test {
 protected:
  D dut;

  template <class F>
  void worlds(F body) {
    each_pace([&](Pace p) {
      dut.restart(p);
      TptWorld<D> w(dut, kKey, test_rng("world"));
      Host<D> h(dut, w);
      body(w, h);
    });
  }
  /// Bytes at both ends of a region, and somewhere in it, for every client.
  static void use(TptWorld<D>& w, uint32_t stag, const Region& r, uint16_t qpn) {
    const auto n = static_cast<uint32_t>(std::min<uint64_t>(r.length, 9000));
    for (const uint64_t at : {uint64_t{0}, r.length - n, w.rng().below(r.length - n + 1)}) {
      auto item = r.item(stag, at, n);
      item.qpn = qpn;
      w.ask_rx({item});
      w.ask_tx({item});
      w.ask_wqe({item});
      w.finish();
    }
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
    for (unsigned i = 0; i < 20; ++i) {
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
    // Open, it is not free.
    h.post(k.upper << 8 | 0x78, good, h.operands(good, h.list_of(good)), 5, 9);
    EXPECT_EQ(h.take().result, TptResult::kBind);
    this->use(w, k.stag, good, 5);
    w.query(plain);
  });
}

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

/// An entry that is closed and still in use is registered when nothing through it is in flight.
TYPED_TEST(TptRegister, WaitsForWhatIsInFlight) {
  this->worlds([&](auto& w, auto& h) {
    auto& d = this->dut;
    Kept k = h.keep(2, 4, 0);
    for (unsigned i = 0; i < 12; ++i) {
      const Region r = h.region(k, 16, 12, w.rng());
      EXPECT_EQ(h.reg(k, static_cast<uint8_t>(i), r).result, TptResult::kOk);
      w.ask_rx({r.item(k.stag, 10, 5000)});
      w.ask_tx({r.item(k.stag, 10, 5000)});
      w.finish(false);
      d.sq_local.put({.qpn = 3, .slot = 1, .stag = k.stag});
      w.closed(k.stag);
      const Region next = h.region(k, 16, 12, w.rng());
      h.post(k.upper << 8 | 0xee, next, h.operands(next, h.list_of(next)), 6, 2);
      for (unsigned c = 0; c < 400; ++c) h.step();
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

/// A registration that waits for its list: its entry belongs to nobody else, and the lists of three
/// more are asked for meanwhile.
TYPED_TEST(TptRegister, ClaimedIsNotFree) {
  this->worlds([&](auto& w, auto& h) {
    auto& d = this->dut;
    std::vector<Kept> kept;
    std::vector<Region> regions;
    for (uint32_t i = 0; i < 6; ++i) kept.push_back(h.keep(i + 1, 2, 4 * i));
    h.answers = false;
    for (uint32_t i = 0; i < 6; ++i) {
      regions.push_back(h.region(kept[i], 4, 12, w.rng()));
      h.post(kept[i].upper << 8 | 0x10, regions[i], h.operands(regions[i], h.list_of(regions[i])),
             static_cast<uint16_t>(i), 1);
    }
    for (unsigned c = 0; c < 400; ++c) h.step();
    EXPECT_EQ(h.reads.size(), 4U);
    w.destroy_begin(kept[0].stag);
    EXPECT_EQ(h.answer(), AdminStatus::kInProgress);
    w.query(kept[0].stag);
    for (uint32_t i = 0; i < 4; ++i) w.ask_rx({regions[i].item(kept[i].upper << 8 | 0x10, 0, 1)});
    w.finish();
    EXPECT_TRUE(d.sq_local_done.empty());
    h.answers = true;
    for (uint32_t i = 0; i < 6; ++i) {
      EXPECT_EQ(h.take(), (spec::SqLocalDone{.qpn = static_cast<uint16_t>(i), .slot = 1}));
      h.opened(kept[i], 0x10, regions[i], static_cast<uint16_t>(i));
    }
    for (uint32_t i = 0; i < 6; ++i) this->use(w, kept[i].stag, regions[i], 1);
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
    for (unsigned i = 0; i < 250; ++i) {
      const auto n = static_cast<uint32_t>(w.rng().below(4));
      Slot& s = slots[n];
      const auto key = static_cast<uint8_t>(w.rng().next());
      switch (s.state) {
        case Slot::kNone:
          s = {h.keep(n + 5, static_cast<unsigned>(w.rng().between(0, 5)), 64 * n, key),
               Slot::kFree};
          break;
        case Slot::kFree: {
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

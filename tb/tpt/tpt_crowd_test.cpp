// Regions and windows that change while all clients use them: concurrent binds, re-binds,
// invalidations and destroys, with stalled streams and extents held for any time.
//
// The reference is a list of versions: what an STag was bound to, and from when to when. An access
// may find any version of its STag that was valid between its request and its response. No extent
// of a version retires after tpt has reported that the version is closed. RTL and model of tpt.
//   RNIC_SEED=n tpt_window_test --gtest_filter=TptCrowd*
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <optional>
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

constexpr uint64_t kKey = 0x99aabbccddeeff01;
constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
constexpr uint16_t kPeer = kRemoteWrite | kRemoteRead;  // what a window grants to the peer

/// A binding of an STag, with cycles. An access may find the binding from `posted` to `closed`, and
/// must find it from `opened` to `closing`.
struct Version {
  uint32_t stag = 0;
  Region r{};
  uint64_t posted = 0, opened = kNever, closing = kNever, closed = kNever;
};
using Extents = std::vector<spec::Extent>;

enum Client : uint8_t { kRx, kTx, kQn1, kClients };
/// A lookup of one piece, with what tpt has returned for it.
struct Access {
  Client client = kRx;
  spec::WqeCheck item{};
  uint64_t posted = 0, seen = 0;  // seen: cycle of its first response or extent
  std::optional<TptResult> result{};
  Extents extents{};                // received so far
  bool ended = false;               // all extents received
  std::vector<uint64_t> retired{};  // the cycle in which each extent retired
  unsigned held = 0;                // extents received, not retired
};

template <class D>
class Crowd {
 public:
  Crowd(D& dut, base::Rng rng) : d_(dut), rng_(rng), w_(dut, kKey, rng), h_(dut, w_) {}

  // Binds done and refused; windows invalidated; regions not closed because they have windows;
  // accesses that were granted and that failed.
  unsigned binds = 0, refusals = 0, closes = 0, in_use = 0, oks = 0, fails = 0;

  /// Makes so many random changes while accesses run, then waits until all has ended.
  void run(unsigned changes) {
    for (uint32_t n = 0; n < regions_.size(); ++n) open_region(n);
    for (uint32_t n = 0; n < windows_.size(); ++n)
      windows_[n].mw = h_.window(10 + n, n % 2 == 0 ? 1 : 2);
    for (unsigned i = 0; i < changes && !testing::Test::HasFailure(); ++i) {
      if (rng_.percent(10)) patience_ = std::array{2U, 30U, 200U}[rng_.below(3)];
      change();
      for (uint64_t c = rng_.below(40); c-- != 0;) step();
    }
    patience_ = 1;
    accesses_ = false;
    for (unsigned c = 0; c < 20'000 && !quiet(); ++c) step();
    EXPECT_TRUE(quiet()) << "requests are not answered";
    EXPECT_TRUE(command_ || d_.tpt_cmd_rsp.empty());
    for (auto& r : regions_) check_count(r);
  }

 private:
  struct OfRegion {
    uint32_t slot = 0, stag = 0;
    Region r;
    Version* open = nullptr;
    unsigned windows = 0, pending = 0;  // pending: requests that may change `windows`
    bool is_taken = false;              // by a request that closes it
  };
  struct OfWindow {
    Window mw;
    Version* open = nullptr;
    OfRegion* region = nullptr;  // while it is open
    bool is_taken = false;
  };

  /// No report, no response and no extent is outstanding.
  bool quiet() const {
    return own_.empty() && of_peer_.empty() && !command_ && asked_[kRx].empty() &&
           asked_[kTx].empty() && asked_[kQn1].empty();
  }
  /// Notes a version whose request is sent in this cycle.
  Version* version(uint32_t stag, const Region& r) {
    versions_.push_back({.stag = stag, .r = r, .posted = now_});
    stags_.push_back(stag);
    return &versions_.back();
  }
  void step() {
    ++now_;
    if (accesses_ && rng_.percent(30)) access();
    d_.advance();
    observe();
    retire();
  }
  /// Runs with accesses until `out` has a report or response.
  template <class Out>
  bool wait(Out& out) {
    for (unsigned i = 0; i < 50'000 && out.empty(); ++i) step();
    EXPECT_FALSE(out.empty()) << out.name() << ": nothing came";
    return !out.empty();
  }

  // --- accesses
  /// Sends one access of a random client, mostly within a version and rarely beside it.
  void access() {
    const auto client = static_cast<Client>(rng_.below(kClients));
    if (asked_[client].size() >= 12 || stags_.empty()) return;
    // Mostly recent STags.
    const size_t recent = std::min<size_t>(stags_.size(), rng_.percent(80) ? 12 : 60);
    const size_t at = stags_.size() - 1 - rng_.below(recent);
    const Region& r = versions_[at].r;
    Access a{.client = client, .posted = now_};
    const auto n = static_cast<uint32_t>(
        client == kQn1 ? 8 : rng_.between(1, std::min<uint64_t>(r.length + 2, 9000)));
    a.item = {.stag = stags_[at],
              .tagged_offset = r.base + rng_.below(r.length + 8 - std::min<uint64_t>(n, r.length)) -
                               (rng_.percent(5) ? 1 : 0),
              .length = n,
              .pd = static_cast<uint16_t>(rng_.percent(3) ? 8 : 7),
              .qpn = static_cast<uint16_t>(rng_.percent(3) ? 6 : 5),
              .rights = client == kTx ? kRemoteRead : kRemoteWrite,
              .last = 1};
    switch (client) {
      case kRx:
        d_.rx_xlate.put(a.item);
        break;
      case kTx:
        d_.tx_xlate.put(a.item);
        break;
      default:
        d_.qn1_xlate.put(a.item);
    }
    asked_[client].push_back(a);
  }
  /// Takes all responses, extents and reports of this cycle.
  void observe() {
    for (; !d_.rx_xlate_rsp.empty(); d_.rx_xlate_rsp.items().pop_front()) {
      // The response is that of the oldest access without a result.
      for (Access& a : asked_[kRx]) {
        if (a.result) continue;
        a.result = d_.rx_xlate_rsp.items().front().result;
        if (a.seen == 0) a.seen = now_;
        if (*a.result != TptResult::kOk) a.ended = true;
        break;
      }
    }
    extents(d_.rx_extent, kRx);
    extents(d_.tx_extent, kTx);
    extents(d_.qn1_extent, kQn1);
    reports();
  }
  /// Takes the extents of one stream.
  template <class Out>
  void extents(Out& out, Client client) {
    for (; !out.empty(); out.items().pop_front()) {
      const spec::Extent e = out.items().front();
      if (client == kRx) {
        early_.push_back(e);  // an extent may come before the response
        continue;
      }
      Access* of = oldest(client);
      ASSERT_NE(of, nullptr) << out.name() << ": an extent of no access";
      take(*of, e);
    }
    if (client == kRx) late();
  }
  /// The oldest access with extents outstanding. A failed access of rx has none.
  Access* oldest(Client client) {
    for (Access& a : asked_[client])
      if (!a.ended) return &a;
    return nullptr;
  }
  /// Assigns extents of rx to accesses that have their response.
  void late() {
    for (; !early_.empty(); early_.pop_front()) {
      Access* of = oldest(kRx);
      ASSERT_NE(of, nullptr) << "an extent of no access";
      if (!of->result) return;
      take(*of, early_.front());
    }
  }
  /// Notes an extent of access a, and chooses the cycle in which that extent retires.
  void take(Access& a, const spec::Extent& e) {
    if (a.seen == 0) a.seen = now_;
    if (a.client != kRx) a.result = e.result;
    a.extents.push_back(e);
    a.ended = e.last != 0;
    a.held++;
    const uint64_t at = now_ + rng_.below(patience_);
    // An extent's name: the serial number of its access, then the extent's index in 8 bits.
    held_.emplace(at, std::pair{a.client, a.extents.size() - 1 + (serial(a) << 8)});
  }
  /// The serial number of an access among those of its client.
  uint64_t serial(const Access& a) {
    auto& all = asked_[a.client];
    for (size_t i = 0; i < all.size(); ++i)
      if (&all[i] == &a) return first_[a.client] + i;
    return 0;
  }
  /// Retires the extents that are due. Judges and removes the oldest accesses that have ended.
  void retire() {
    while (!held_.empty() && held_.begin()->first <= now_) {
      const auto [client, name] = held_.begin()->second;
      held_.erase(held_.begin());
      Access& a = asked_[client][(name >> 8) - first_[client]];
      const uint8_t epoch = a.extents[name & 0xff].epoch;
      if (client == kTx)
        d_.rd_retired.put({.epoch = epoch});
      else if (client == kQn1)
        d_.qn1_retired.put({.epoch = epoch});
      else if (rng_.percent(50))
        d_.wr_retired.put({.epoch = epoch});
      else
        d_.rx_dropped.put({.epoch = epoch});
      a.held--;
      a.retired.push_back(now_);
    }
    for (auto client : {kRx, kTx, kQn1}) {
      auto& all = asked_[client];
      while (!all.empty() && all.front().result && all.front().ended && all.front().held == 0) {
        judge(all.front());
        all.pop_front();
        first_[client]++;
      }
    }
  }
  /// Checks the result against the versions that were possible during the access. If no version of
  /// the STag was certain for the whole access, the result may also be kStag.
  void judge(const Access& a) {
    const uint64_t last = a.retired.empty() ? 0 : a.retired.back();
    bool surely = false, is_late = false;
    for (const Version& v : versions_) {
      if (v.stag != a.item.stag || v.posted > a.seen || v.closed < a.posted) continue;
      surely |= v.opened <= a.posted && a.seen <= v.closing;
      const TptResult result = TptWorld<D>::judge(v.r, a.item);
      if (result != *a.result) continue;
      if (result != TptResult::kOk) return count(fails);
      Extents want;
      TptWorld<D>::walk(v.r, a.item, want);
      if (a.client == kQn1) want.resize(1);  // tpt_walk, Single: one extent, which ends at the page
      want.back().last = 1;
      Extents got = a.extents;
      for (auto& e : got) e.epoch = 0;
      if (got != want) continue;
      is_late = last > v.closed;
      if (!is_late) return count(oks);
    }
    if (!surely && *a.result == TptResult::kStag) return count(fails);
    ADD_FAILURE() << (is_late ? "in flight after the report that its window is closed: "
                              : "nothing that was there grants or refuses this: ")
                  << a.item.describe() << "\n  client " << +a.client << " result "
                  << static_cast<unsigned>(*a.result) << ", asked " << a.posted << ", seen "
                  << a.seen << ", last extent retired " << last << "\n  "
                  << (a.extents.empty() ? "" : a.extents.front().describe());
  }
  static void count(unsigned& n) { n++; }

  // --- changes
  // A change is skipped while a request that conflicts with it is outstanding (is_taken, pending).
  void change() {
    OfWindow& w = windows_[rng_.below(windows_.size())];
    OfRegion& r = regions_[rng_.below(regions_.size())];
    const uint64_t what = rng_.below(100);
    if (what < 55) return bind(w, r);
    if (what < 75) return invalidate(w);
    if (what < 82) return replace(w);
    if (what < 90) return invalidate_region(r);
    return replace(r);
  }
  void bind(OfWindow& w, OfRegion& r) {
    if (w.is_taken || r.is_taken || (w.open != nullptr && w.region->is_taken) || own_.size() > 8)
      return;
    const bool unbinds = w.mw.type == 1 && rng_.percent(15);  // a bind of length 0
    BindOperands o;
    if (!unbinds) {
      const uint64_t at = rng_.below(r.r.length);
      o = {.address = r.r.base + at,
           .length = rng_.between(1, std::min<uint64_t>(r.r.length - at, 20000)),
           .lkey = r.stag,
           .rights = static_cast<uint16_t>(rng_.percent(70) ? kPeer : kRemoteRead)};
      // Two reasons for a refusal: a range beyond the region, a right that the region lacks.
      if (rng_.percent(8)) o.length = r.r.length - at + 1;
      if (rng_.percent(4)) o.rights |= spec::kAccessFlushPersistent;
    }
    const bool is_good =
        unbinds ||
        (r.open != nullptr && o.length <= r.r.length - (o.address - r.r.base) &&
         (o.rights & spec::kAccessFlushPersistent) == 0 && !(w.mw.type == 2 && w.open != nullptr));
    const bool same_key = rng_.percent(30);
    const uint32_t stag =
        w.mw.upper << 8 | (same_key ? w.mw.stag & 0xff : static_cast<uint32_t>(rng_.below(256)));
    const uint64_t base = rng_.next() >> 1;
    const uint8_t wqe = wqe_++;
    d_.sq_local.put(h_.item(stag, o, base, 5, wqe));
    w.is_taken = true;
    r.pending++;
    OfRegion* before = w.open != nullptr ? w.region : nullptr;
    if (before != nullptr) before->pending++;
    Version* opens = nullptr;
    Version* closes = is_good ? w.open : nullptr;
    if (closes != nullptr) closes->closing = now_;
    if (is_good && !unbinds) opens = version(stag, h_.part(w.mw, r.r, o, base, 5));
    own_[wqe] = [=, this, &w, &r](const SqLocalDone& done) {
      EXPECT_EQ(done,
                (SqLocalDone{
                    .qpn = 5, .slot = wqe, .result = is_good ? TptResult::kOk : TptResult::kBind}));
      w.is_taken = false;
      r.pending--;
      if (before != nullptr) before->pending--;
      (is_good ? binds : refusals)++;
      if (!is_good) return;
      if (closes != nullptr) {
        closes->closed = now_;
        w.region->windows--;
      }
      w.mw.stag = stag;
      w.open = opens;
      if (opens == nullptr) return;
      opens->opened = now_;
      w.region = &r;
      r.windows++;
    };
  }
  /// An invalidation by the peer or by our send queue. Sometimes the STag has another key; then the
  /// invalidation changes nothing.
  void invalidate(OfWindow& w) {
    if (w.is_taken || (w.open != nullptr && w.region->is_taken)) return;
    const bool is_other = rng_.percent(20);
    const uint32_t stag = w.mw.stag ^ (is_other ? 1 : 0);
    Version* closes = is_other ? nullptr : w.open;
    OfRegion* of = closes != nullptr ? w.region : nullptr;
    if (closes != nullptr) closes->closing = now_;
    if (of != nullptr) of->pending++;
    w.is_taken = true;
    const auto done = [=, this, &w] {
      w.is_taken = false;
      if (closes == nullptr) return;
      closes->closed = now_;
      w.open = nullptr;
      of->windows--;
      of->pending--;
      this->closes++;
    };
    if (rng_.percent(50)) {
      d_.invalidate.put({stag});
      of_peer_.push_back([=](const spec::Invalidated& inv) {
        EXPECT_EQ(inv.stag, stag);
        done();
      });
      return;
    }
    const uint8_t wqe = wqe_++;
    d_.sq_local.put({.qpn = 4, .slot = wqe, .stag = stag});
    own_[wqe] = [=](const SqLocalDone& report) {
      EXPECT_EQ(report, (SqLocalDone{.qpn = 4, .slot = wqe}));
      done();
    };
  }
  /// Repeats destroy_mr while it is in_progress; returns the last status.
  AdminStatus destroy(uint32_t stag) {
    for (unsigned i = 0; i < 2000; ++i) {
      d_.tpt_cmd.put({.opcode = spec::AdminOpcode::kDestroyMr, .object = stag});
      command_ = true;
      if (!wait(d_.tpt_cmd_rsp)) return AdminStatus::kBadArgument;
      command_ = false;
      const auto status = d_.tpt_cmd_rsp.take().status;
      if (status != AdminStatus::kInProgress) return status;
    }
    return AdminStatus::kInProgress;
  }
  /// Destroys a window, open or not, and creates another one.
  void replace(OfWindow& w) {
    if (w.is_taken || (w.open != nullptr && w.region->is_taken)) return;
    w.is_taken = true;
    OfRegion* of = w.open != nullptr ? w.region : nullptr;
    if (of != nullptr) of->pending++, w.open->closing = now_;
    // The destroy of a window ignores the key byte of its STag.
    EXPECT_EQ(destroy(w.mw.stag ^ static_cast<uint32_t>(rng_.below(256))), AdminStatus::kOk);
    if (of != nullptr) {
      w.open->closed = now_;
      w.open = nullptr;
      of->windows--;
      of->pending--;
    }
    w_.freed(w.mw.slot);
    const uint8_t type = rng_.percent(50) ? 1 : 2;
    const auto key = static_cast<uint8_t>(rng_.next());
    const uint32_t stag = w_.next_stag(w.mw.slot, key);
    spec::TptCmd cmd{.opcode = spec::AdminOpcode::kCreateMr, .object = w.mw.slot};
    spec::AdminMrArgs{.pd = 7, .key = key, .window = type}.pack(cmd.args);
    d_.tpt_cmd.put(cmd);
    if (!wait(d_.tpt_cmd_rsp)) return;
    EXPECT_EQ(spec::AdminMrResult::unpack(d_.tpt_cmd_rsp.take().result).stag, stag);
    w.mw = {.slot = w.mw.slot, .upper = stag >> 8, .stag = stag, .type = type};
    w.is_taken = false;
  }
  /// Creates region n in slot n + 1.
  void open_region(uint32_t n) {
    OfRegion& r = regions_[n];
    r.slot = n + 1;
    const auto log = static_cast<unsigned>(rng_.between(12, 14));
    r.r = {.rights = kAll | spec::kAccessMwBind, .base = rng_.next() >> 1, .log_page = log};
    r.r.first = static_cast<uint32_t>(rng_.below(uint64_t{1} << log));
    r.r.length = (uint64_t{8} << log) - r.r.first - rng_.below(100);
    r.r.pbl_base = 8 * n;
    // Pages that no other region has had.
    for (unsigned i = 0; i < 8; ++i) r.r.pages.push_back(++pages_ << 24 | rng_.below(1024) << log);
    for (uint32_t i = 0; i < 8; ++i)
      d_.pbl_wr.put({.index = r.r.pbl_base + i, .address = r.r.pages[i]});
    while (d_.pbl_wr.busy()) step();
    r.stag = w_.next_stag(r.slot, 0);
    r.open = version(r.stag, r.r);
    spec::TptCmd cmd{.opcode = spec::AdminOpcode::kCreateMr, .object = r.slot};
    spec::AdminMrArgs{.pd = r.r.pd,
                      .log_page = static_cast<uint8_t>(log),
                      .rights = r.r.rights,
                      .base_to = r.r.base,
                      .length = r.r.length,
                      .first_offset = r.r.first,
                      .pbl_base = r.r.pbl_base,
                      .pages = 8}
        .pack(cmd.args);
    d_.tpt_cmd.put(cmd);
    if (!wait(d_.tpt_cmd_rsp)) return;
    EXPECT_EQ(spec::AdminMrResult::unpack(d_.tpt_cmd_rsp.take().result).stag, r.stag);
    r.open->opened = now_;
  }
  /// Destroys a region and creates it again. While the region has windows, the destroy is refused
  /// (in_use).
  void replace(OfRegion& r) {
    if (r.is_taken || r.pending != 0) return;
    r.is_taken = true;
    if (r.open != nullptr && r.windows == 0) r.open->closing = now_;
    const auto status = destroy(r.stag);
    r.is_taken = false;
    EXPECT_EQ(status, r.windows != 0 ? AdminStatus::kInUse : AdminStatus::kOk);
    if (r.windows != 0) return count(in_use);
    if (r.open != nullptr) r.open->closed = now_;
    w_.freed(r.slot);
    r.is_taken = true;
    open_region(r.slot - 1);
    r.is_taken = false;
  }
  /// A local invalidation of a region, which is refused while the region has windows.
  void invalidate_region(OfRegion& r) {
    if (r.is_taken || r.pending != 0 || r.open == nullptr) return;
    r.is_taken = true;
    const bool is_refused = r.windows != 0;
    if (!is_refused) r.open->closing = now_;
    const uint8_t wqe = wqe_++;
    d_.sq_local.put({.qpn = 4, .slot = wqe, .stag = r.stag});
    own_[wqe] = [=, this, &r](const SqLocalDone& done) {
      EXPECT_EQ(done, (SqLocalDone{.qpn = 4,
                                   .slot = wqe,
                                   .result = is_refused ? TptResult::kBind : TptResult::kOk}));
      r.is_taken = false;
      if (is_refused) return count(in_use);
      r.open->closed = now_;
      r.open = nullptr;
    };
  }
  /// The region is in use exactly when a window is bound to it.
  void check_count(const OfRegion& r) {
    unsigned windows = 0;
    for (const auto& w : windows_) windows += w.open != nullptr && w.region == &r;
    EXPECT_EQ(windows, r.windows) << "the test itself";
    EXPECT_EQ(destroy(r.stag), r.windows != 0 ? AdminStatus::kInUse : AdminStatus::kOk);
  }
  /// Passes each report to the check that its request has left in own_ or of_peer_.
  void reports() {
    for (; !d_.sq_local_done.empty(); d_.sq_local_done.items().pop_front()) {
      const auto done = d_.sq_local_done.items().front();
      const auto it = own_.find(done.slot);
      ASSERT_NE(it, own_.end()) << "a report of nothing: " << done.describe();
      it->second(done);
      own_.erase(it);
    }
    for (; !d_.invalidated.empty(); d_.invalidated.items().pop_front()) {
      ASSERT_FALSE(of_peer_.empty());
      of_peer_.front()(d_.invalidated.items().front());
      of_peer_.pop_front();
    }
  }

  D& d_;
  base::Rng rng_;
  TptWorld<D> w_;
  Host<D> h_;
  std::deque<Version> versions_;
  std::vector<uint32_t> stags_;  // of versions_
  std::array<OfRegion, 3> regions_;
  std::array<OfWindow, 5> windows_;
  std::array<std::deque<Access>, kClients> asked_;
  std::array<uint64_t, kClients> first_{};  // serial number of asked_[].front()
  std::deque<spec::Extent> early_;          // of rx, before the response of their access
  std::multimap<uint64_t, std::pair<Client, uint64_t>> held_;  // extents, by retirement cycle
  // Checks of the reports that are outstanding: of our send queue by WQE, of the peer in order.
  std::map<uint8_t, std::function<void(const SqLocalDone&)>> own_;
  std::deque<std::function<void(const spec::Invalidated&)>> of_peer_;
  uint64_t now_ = 1, pages_ = 0;
  uint8_t wqe_ = 0;
  unsigned patience_ = 30;  // maximum number of cycles that an extent is held
  // command_: a destroy_mr has no response yet. accesses_: step() sends accesses.
  bool command_ = false, accesses_ = true;
};

template <class D>
class TptCrowd : public testing::Test {};
using Duts = testing::Types<TptDut<VTpt, false>, TptDut<VTptMin, true>, TptModelDut<false>,
                            TptModelDut<true>>;
TYPED_TEST_SUITE(TptCrowd, Duts);

TYPED_TEST(TptCrowd, NothingIsGrantedThroughAClosedWindow) {
  SCOPED_TRACE(
      fmt::format("RNIC_SEED={} tpt_window_test --gtest_filter={}.*", test_seed(),
                  testing::UnitTest::GetInstance()->current_test_info()->test_suite_name()));
  TypeParam dut;
  auto rng = test_rng("crowd");
  unsigned binds = 0, refusals = 0, closes = 0, in_use = 0, oks = 0, fails = 0;
  each_pace([&](Pace p) {
    dut.restart(p);
    Crowd<TypeParam> crowd(dut, rng.fork(p.describe()));
    crowd.run(400);
    binds += crowd.binds, refusals += crowd.refusals, closes += crowd.closes;
    in_use += crowd.in_use, oks += crowd.oks, fails += crowd.fails;
  });
  if (testing::Test::HasFailure()) return;
  std::printf("binds %u, refused %u, closed %u, in use %u; accesses %u, refused %u\n", binds,
              refusals, closes, in_use, oks, fails);
  EXPECT_GT(binds, 100U);
  EXPECT_GT(refusals, 30U);
  EXPECT_GT(closes, 30U);
  EXPECT_GT(in_use, 30U);
  EXPECT_GT(oks, 1000U);
  EXPECT_GT(fails, 1000U);
}

}  // namespace
}  // namespace rnic::tb

// tpt_update as a single leaf: regions are opened and closed while lookups and extents take any
// time. The bench plays the rest of tpt. It reads the table as tpt_entry does. It delays a lookup
// at random before the walk, and an extent before it is retired. Every stream stalls at random.
//
// An access of a segment, as tpt_update sees it. The signals after reading_i carry the epoch
// (epoch_o) of its cycle, so that tpt_update can count what is in flight in each epoch:
//
//   reading_i   the lookup reads its entry of the table
//   look_i      one cycle later: the lookup has read the entry. Now it is a job, even if it fails.
//   issued_i    the walk issues an extent of the job, at most one per cycle of all jobs
//   ended_i     the job is over: with its last extent, or without any if it is dropped
//   retired_i   an extent is used; this ends the access
//
// A lookup that tpt_update itself makes, for destroy_mr, query_mr and invalidations, at any time:
//
//   find_valid_o, find_o     the STag; the bench accepts it when find_ready_i is 1
//   found_valid_i, found_*   later: the slot and the entry that the slot holds
//   we_o, waddr_o, wdata_o   tpt_update writes an entry: new, closed, or freed (all bits 0)
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "VTptUpdate.h"
#include "VTptUpdateMin.h"
#include "gen/errors.hpp"
#include "gen/queues.hpp"
#include "gen/sizes.hpp"
#include "gen/streams.hpp"
#include "support/rtl_dut.hpp"
#include "support/stream_port.hpp"

namespace rnic::tb {
namespace {

using spec::AdminOpcode;
using spec::AdminStatus;

template <class V, bool kMinimum>
struct UpdateDut : RtlDut<V> {
  static spec::Sizes sizes() { return kMinimum ? spec::Sizes::minimum() : spec::Sizes{}; }
  StreamIn<spec::TptCmd> cmd = RNIC_IN(*this, cmd, spec::TptCmd);
  StreamOut<spec::TptCmdRsp> rsp = RNIC_OUT(*this, rsp, spec::TptCmdRsp);
  StreamIn<spec::Invalidate> inv = RNIC_IN(*this, inv, spec::Invalidate);
  StreamOut<spec::Invalidated> inv_done = RNIC_OUT(*this, inv_done, spec::Invalidated);
  StreamIn<spec::SqLocal> sq = RNIC_IN(*this, sq, spec::SqLocal);
  StreamOut<spec::SqLocalDone> sq_done = RNIC_OUT(*this, sq_done, spec::SqLocalDone);
};

/// The rest of tpt, and the users of extents.
template <class D>
class Around final : public Port {
 public:
  explicit Around(D& dut) : dut_(dut), rng_(test_rng("around")) {
    dut.top().key_i = rng_.next();
    dut.top().reg_valid_i = 0;  // no registration, no bind: see tpt_register_test, tpt_window_test
    dut.attach(this);
    clear();
  }

  unsigned lookups = 50;       // percent of cycles with a lookup of a segment
  unsigned slow = 60;          // maximum delay of a lookup or an extent in cycles
  unsigned find_percent = 30;  // percent of cycles in which find_o is accepted, or answered
  // For directed tests: lookups of only this slot; with hold, new lookups stay until release().
  std::optional<uint32_t> only_slot;
  bool hold = false;
  /// Ends the delays of all lookups and extents of a slot.
  void release(uint32_t slot) {
    for (auto* all : {&jobs_, &extents_})
      for (auto& j : *all)
        if (j.slot == slot) j.at = 0;
  }
  /// No lookup and no extent is in flight.
  bool calm() const { return jobs_.empty() && extents_.empty() && !look_; }
  /// A lookup or extent that found the region of this slot open is in flight.
  bool any_open(uint32_t slot) const {
    for (const auto& j : jobs_)
      if (j.opened && j.slot == slot) return true;
    for (const auto& e : extents_)
      if (e.opened && e.slot == slot) return true;
    return false;
  }
  std::map<uint32_t, uint32_t> slot_of;  // by STag
  unsigned frees = 0, invalidated = 0;   // entries cleared; invalidations reported
  unsigned answer_after = 0;             // maximum number of cycles from found to rsp

  void drive() override {
    auto& t = dut_.top();
    const bool ready = t.ready_o != 0;
    // A lookup reads its entry now.
    t.reading_i = ready && rng_.percent(lookups);
    reading_slot_ = only_slot.value_or(static_cast<uint32_t>(rng_.below(4)));
    // look_i: the lookup that read its entry in the previous cycle.
    t.look_i = look_;
    t.look_epoch_i = look_ ? jobs_.back().epoch : rng_.percent(50);
    // Walks, one extent per cycle. A job ends with its last extent, or is dropped.
    t.ended_i = 0;
    t.ended_epoch_i = 0;
    t.issued_i = 0;
    t.issued_epoch_i = 0;
    // Bits as in tpt.sv, from bit 0. ended_i: rx walked, rx dropped, tx walked, tx dropped, qn1
    // walked, qn1 dropped. retired_i: rd_retired, wr_retired, rx_dropped, qn1_retired. tpt_update
    // treats all bits alike, so the bench fills them from bit 0.
    for (unsigned lane = 0; lane < 6; lane++) {
      const auto job = std::find_if(
          jobs_.begin(), jobs_.end() - (look_ ? 1 : 0),
          [&](const Job& j) { return j.at <= dut_.now() && (j.extents == 0 || t.issued_i == 0); });
      if (job == jobs_.end() - (look_ ? 1 : 0)) break;
      if (job->extents != 0) {
        t.issued_i = 1;
        t.issued_epoch_i = job->epoch;
        const uint64_t retires = job->at == 0 ? dut_.now() + 1 : due() + 1;
        extents_.push_back({job->slot, job->epoch, job->opened, 0, retires});
        if (--job->extents != 0) break;
      }
      t.ended_i |= static_cast<uint8_t>(1U << lane);
      t.ended_epoch_i |= static_cast<uint8_t>(job->epoch << lane);
      jobs_.erase(job);
    }
    t.retired_i = 0;
    t.retired_epoch_i = 0;
    for (unsigned lane = 0; lane < 4; lane++) {
      const auto e = std::find_if(extents_.begin(), extents_.end(),
                                  [&](const Job& x) { return x.at <= dut_.now(); });
      if (e == extents_.end() || rng_.percent(30)) break;
      t.retired_i |= static_cast<uint8_t>(1U << lane);
      t.retired_epoch_i |= static_cast<uint8_t>(e->epoch << lane);
      extents_.erase(e);
    }
    t.find_ready_i = !finding_ && rng_.percent(find_percent);
    t.found_valid_i = finding_ && found_read_ && rng_.percent(find_percent);
    if (t.found_valid_i != 0) {
      t.found_slot_i = static_cast<std::decay_t<decltype(t.found_slot_i)>>(found_slot_);
      std::memcpy(&t.found_entry_i, found_.data(), sizeof found_);
    }
  }

  void sample() override {
    auto& t = dut_.top();
    // Reads come before this cycle's write.
    look_ = t.reading_i != 0;
    if (look_) {
      const bool opened = valid(table_[reading_slot_]);
      const auto walks = static_cast<unsigned>(opened ? rng_.between(1, 3) : rng_.below(2));
      jobs_.push_back({reading_slot_, t.epoch_o, opened, walks, due() + 2});
    }
    if (finding_ && !found_read_ && rng_.percent(find_percent)) {
      found_ = table_[found_slot_];
      found_read_ = true;
    }
    if (t.found_valid_i != 0) {
      finding_ = false;
      found_at_ = dut_.now();
      answering_ = !is_inv_;  // an invalidation has no response
    }
    if (t.cmd_valid_i != 0 && t.cmd_ready_o != 0) is_inv_ = false;
    if ((t.inv_valid_i != 0 && t.inv_ready_o != 0) || (t.sq_valid_i != 0 && t.sq_ready_o != 0))
      is_inv_ = true;
    if (t.sq_done_valid_o != 0 && t.sq_done_ready_i != 0)  // the test puts the STag's slot there
      reported(spec::SqLocalDone::from_words(&t.sq_done_o).slot);
    if (t.inv_done_valid_o != 0 && t.inv_done_ready_i != 0) reported(slot_of[t.inv_done_o]);
    if (t.find_valid_o != 0 && t.find_ready_i != 0) {
      finding_ = true;
      found_read_ = false;
      spec::WqeCheck::Words words{};
      static_assert(sizeof words == sizeof t.find_o);
      std::memcpy(words.data(), &t.find_o, sizeof words);
      const auto it = slot_of.find(spec::WqeCheck::from_words(words.data()).stag);
      // An unknown STag leads to any slot; the entry there has another STag.
      found_slot_ = it == slot_of.end() ? 3 : it->second;
    }
    if (answering_ && t.rsp_valid_o != 0) {
      answer_after = std::max(answer_after, static_cast<unsigned>(dut_.now() - found_at_));
      answering_ = false;
    }
    if (t.we_o == 0 || t.ready_o == 0) return;
    Entry now{};
    std::memcpy(now.data(), &t.wdata_o, sizeof now);
    if (now == Entry{}) {  // the slot is free
      frees++;
      EXPECT_FALSE(any_open(t.waddr_o))
          << "slot " << +t.waddr_o << " is freed while in use, cycle " << dut_.now();
    }
    table_[t.waddr_o] = now;
  }
  void clear() override {
    table_.clear();
    jobs_.clear();
    extents_.clear();
    look_ = finding_ = found_read_ = answering_ = is_inv_ = false;
    auto& t = dut_.top();
    t.reading_i = t.look_i = t.ended_i = t.issued_i = t.retired_i = 0;
    t.find_ready_i = t.found_valid_i = 0;
  }

 private:
  using Entry = std::array<uint32_t, sizeof(decltype(std::declval<D&>().top().found_entry_i)) / 4>;
  struct Job {
    uint32_t slot = 0;
    uint8_t epoch = 0;
    bool opened = false;   // the lookup found the region open
    unsigned extents = 0;  // still to be issued
    uint64_t at = 0;       // the cycle from which it continues
  };
  /// An invalidation of this slot's entry is reported as done.
  void reported(uint32_t slot) {
    invalidated++;
    EXPECT_FALSE(any_open(slot)) << "reported while in use, cycle " << dut_.now();
  }
  bool valid(const Entry& e) const {  // the top bit
    const unsigned kTop = entry_bits() - 1;
    return (e[kTop / 32] >> (kTop % 32) & 1) != 0;
  }
  /// Bits of an entry (RNIC_TPT_ENTRY_W), from the top: valid and bound, QPN, STag, PD, rights,
  /// base TO, low half of the end with its carry, high half of the length, log2 of the page size,
  /// origin (page-list entry and 21 bits of the largest page), fast, window and room (1 + 1 + 5),
  /// first page-list entry.
  static unsigned entry_bits() {
    const auto pbl = static_cast<unsigned>(std::bit_width(D::sizes().num_pbl - 1));
    const auto qp = static_cast<unsigned>(std::bit_width(D::sizes().num_qps - 1));
    return 2 + qp + 32 + 16 + 16 + 64 + 33 + 17 + 5 + (pbl + 21) + 7 + pbl;
  }
  uint64_t due() { return hold ? ~uint64_t{0} >> 1 : dut_.now() + rng_.below(slow); }

  D& dut_;
  base::Rng rng_;
  std::map<uint32_t, Entry> table_;
  std::deque<Job> jobs_, extents_;
  uint32_t reading_slot_ = 0, found_slot_ = 0;
  Entry found_{};
  bool look_ = false, finding_ = false, found_read_ = false, answering_ = false;
  bool is_inv_ = false;  // the last accepted request is an invalidation: of ddp or of sq_local
  uint64_t found_at_ = 0;
};

template <class D>
class TptUpdateTest : public testing::Test {};
using Duts = testing::Types<UpdateDut<VTptUpdate, false>, UpdateDut<VTptUpdateMin, true>>;
TYPED_TEST_SUITE(TptUpdateTest, Duts);

/// Regions in four slots are created, invalidated and destroyed under load. No region is freed or
/// reported as invalidated while a lookup or extent that found the region open is in flight. The
/// response to destroy_mr never waits for such a lookup or extent. When the load ends, every
/// closing region is free after at most three more destroys: the first requests an epoch advance,
/// the second finds that the epoch has drained. The third is allowed because an invalidation that
/// is not yet reported delays the advance.
TYPED_TEST(TptUpdateTest, RegionsCloseUnderLoad) {
  TypeParam dut;
  Around<TypeParam> around(dut);
  auto rng = test_rng("driver");
  unsigned waited = 0, freed_at_once = 0;
  for (const unsigned slow : {1U, 3U, 12U, 60U, 300U}) {
    for (const Pace p : kPaces) {
      SCOPED_TRACE(fmt::format("slow {} {}", slow, p.describe()));
      dut.restart(p);
      ASSERT_TRUE(dut.run_until([&] { return dut.top().ready_o != 0; }));
      around.slow = slow;
      around.slot_of.clear();
      struct Slot {
        uint32_t stag = 0;
        enum { kFree, kOpen, kClosing } state = kFree;
      };
      std::array<Slot, 4> slots;
      auto order = [&](AdminOpcode op, uint32_t object, uint32_t slot) {
        spec::TptCmd c{.opcode = op, .object = object};
        if (op == AdminOpcode::kCreateMr) {
          spec::AdminMrArgs{.pd = static_cast<uint16_t>(slot),
                            .key = static_cast<uint8_t>(rng.next()),
                            .log_page = 12,
                            .rights = 7,
                            .base_to = rng.next(),
                            .length = 1 + rng.below(1U << 20),
                            .pages = 300}
              .pack(c.args);
        }
        dut.cmd.put(c);
        return dut.rsp.take();
      };
      auto destroy = [&](Slot& s, uint32_t n) {
        const auto rsp = order(AdminOpcode::kDestroyMr, s.stag, n);
        if (rsp.status == AdminStatus::kOk) {
          freed_at_once += s.state == Slot::kOpen;
          s.state = Slot::kFree;
          EXPECT_EQ(spec::AdminMrResult::unpack(rsp.result).stag, s.stag);
          EXPECT_EQ(spec::AdminMrResult::unpack(rsp.result).pd, n);
        } else {
          EXPECT_EQ(rsp.status, AdminStatus::kInProgress);
          s.state = Slot::kClosing;
          waited++;
        }
      };
      for (unsigned step = 0; step < 250; step++) {
        around.lookups = static_cast<unsigned>(rng.below(3) * 45);
        const auto n = static_cast<uint32_t>(rng.below(4));
        Slot& s = slots[n];
        if (s.state == Slot::kFree || rng.percent(10)) {
          const auto rsp = order(AdminOpcode::kCreateMr, n, n);
          EXPECT_EQ(rsp.status, s.state == Slot::kFree ? AdminStatus::kOk : AdminStatus::kExists);
          if (rsp.status == AdminStatus::kOk) {
            s = {.stag = spec::AdminMrResult::unpack(rsp.result).stag, .state = Slot::kOpen};
            around.slot_of[s.stag] = n;
          }
        } else if (s.state == Slot::kOpen && rng.percent(30)) {
          if (rng.percent(50))
            dut.inv.put({s.stag});
          else
            dut.sq.put({.qpn = 1, .slot = static_cast<uint8_t>(n), .stag = s.stag});
          ASSERT_TRUE(dut.run_until([&] { return !dut.inv.busy() && !dut.sq.busy(); }));
          s.state = Slot::kClosing;
        } else if (s.state == Slot::kOpen && rng.percent(40)) {
          EXPECT_EQ(order(AdminOpcode::kQueryMr, s.stag, n).status, AdminStatus::kOk);
        } else {
          destroy(s, n);
        }
        for (uint64_t i = rng.below(60); i != 0; i--) dut.advance();
        (void)dut.inv_done.take_all();
        (void)dut.sq_done.take_all();
        if (testing::Test::HasFailure()) return;
      }
      around.lookups = 0;
      ASSERT_TRUE(dut.run_until([&] { return around.calm(); }));
      dut.cycles(4);
      for (uint32_t n = 0; n < 4; n++) {
        for (unsigned i = 0; i < 3 && slots[n].state == Slot::kClosing; i++) destroy(slots[n], n);
        EXPECT_NE(slots[n].state, Slot::kClosing) << "slot " << n << " is never freed";
        if (slots[n].state == Slot::kOpen) destroy(slots[n], n);
        EXPECT_EQ(slots[n].state, Slot::kFree);
      }
    }
  }
  EXPECT_GT(waited, 100U);
  EXPECT_GT(freed_at_once, 100U);
  EXPECT_GT(around.frees, 200U);
  EXPECT_GT(around.invalidated, 100U);
  // From found to the response: the states StClose and StAnswer.
  EXPECT_LE(around.answer_after, 2U) << "the answer waits for traffic";
}

/// An epoch advance falls in a random one of the cycles around the close of region 2, while lookups
/// read that region. So in some of the 1500 rounds the advance is one cycle before the close. Then
/// lookups that saw the region open carry the previous epoch. The next advance must wait for them,
/// although no counter includes them yet.
TYPED_TEST(TptUpdateTest, AnEpochAdvanceMeetsAClose) {
  TypeParam dut;
  Around<TypeParam> around(dut);
  auto rng = test_rng("driver");
  around.lookups = 0;
  dut.restart({});
  ASSERT_TRUE(dut.run_until([&] { return dut.top().ready_o != 0; }));
  around.find_percent = 100;
  around.hold = true;
  auto order = [&](AdminOpcode op, uint32_t object) {
    spec::TptCmd c{.opcode = op, .object = object};
    if (op == AdminOpcode::kCreateMr)
      spec::AdminMrArgs{.log_page = 12, .length = 4096, .pages = 1}.pack(c.args);
    dut.cmd.put(c);
    return dut.rsp.take();
  };
  auto look_up = [&](uint32_t slot, unsigned percent, unsigned cycles) {
    around.only_slot = slot;
    around.lookups = percent;
    dut.cycles(cycles);
    around.lookups = 0;
  };
  unsigned waited = 0;
  for (unsigned round = 0; round < 1500 && !testing::Test::HasFailure(); round++) {
    std::array<uint32_t, 3> stags{};
    for (uint32_t n = 0; n < 3; n++) {
      const auto rsp = order(AdminOpcode::kCreateMr, n);
      ASSERT_EQ(rsp.status, AdminStatus::kOk);
      stags[n] = spec::AdminMrResult::unpack(rsp.result).stag;
      around.slot_of[stags[n]] = n;
    }
    // Regions 0 and 1 close one epoch apart. The next advance waits for everything in flight of
    // region 0, so its release below sets the time of the advance.
    look_up(0, 100, 1);
    dut.cycles(4);
    EXPECT_EQ(order(AdminOpcode::kDestroyMr, stags[0]).status, AdminStatus::kInProgress);
    look_up(1, 100, 1);
    dut.cycles(4);
    EXPECT_EQ(order(AdminOpcode::kDestroyMr, stags[1]).status, AdminStatus::kInProgress);
    around.release(1);
    dut.cycles(8);
    dut.cmd.put({.opcode = AdminOpcode::kDestroyMr, .object = stags[2]});
    const auto advances_at = rng.below(8);
    for (unsigned i = 0; i < 10; i++) {
      if (i == advances_at) around.release(0);
      look_up(2, 30, 1);
    }
    // Repeats the destroy while lookups and extents of region 2 are held. If there are any, it must
    // stay in progress: Around checks that no slot is freed while in use.
    auto status = dut.rsp.take().status;
    for (unsigned i = 0; i < 4 && status != AdminStatus::kOk; i++) {
      waited += around.any_open(2);
      status = order(AdminOpcode::kDestroyMr, stags[2]).status;
    }
    for (uint32_t n = 0; n < 3; n++) around.release(n);
    ASSERT_TRUE(dut.run_until([&] { return around.calm(); }));
    dut.cycles(4);
    for (uint32_t n = 0; n < 3; n++) {
      if (n == 2 && status == AdminStatus::kOk) continue;
      for (unsigned i = 0; i < 4; i++)
        if (order(AdminOpcode::kDestroyMr, stags[n]).status == AdminStatus::kOk) break;
    }
  }
  EXPECT_GT(waited, 1000U);  // destroys with accesses of region 2 in flight: at most 4 per round
}

}  // namespace
}  // namespace rnic::tb

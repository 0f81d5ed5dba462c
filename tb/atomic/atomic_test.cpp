// atomic: every request ends once with the expected result, and memory equals that of the requests
// executed one after another.
//
// A request passes these steps: atomic_req, lookup in tpt, lock of its address, read of the old
// value (not for an Atomic Write), store, atomic_rsp. A result, the returned value of one of our
// own atomics, takes no lock and reads nothing.
//
// The reference surrounds the unit with three partners. rdmap sends at most one request per QP, 64
// in all, and 8 results. It may report a QP as dead: the QP's request is dropped if it has not
// begun. tpt has STags that name the same words. The host takes any time for reads and stores. The
// reference has two memories. `mem` is the host's: it changes when a store is accepted on dma_wr.
// `ref` changes in the order of the decisions that tap_atomic_word reports. A response and a store
// must match `ref`, which detects a request that read too early or concurrently with another one.
#include <map>
#include <memory>
#include <set>

#include "VAtomic.h"
#include "VAtomicMin.h"
#include "VAtomicMin___024root.h"
#include "VAtomicMin_rnic_stall_pkg.h"
#include "VAtomic___024root.h"
#include "atomic/atomic_dut.hpp"
#include "support/leaf.hpp"

namespace rnic::tb {
namespace {

using spec::AtomicEnd;
using spec::AtomicOp;
using spec::RdStatus;
using spec::TptResult;

constexpr unsigned kRequests = 64, kResults = 8;  // docs/spec/streams.yaml, atomic_req
constexpr unsigned kHalf = 16;                    // STags s and s + kHalf name the same page
constexpr uint32_t kBadStag = 0x100;              // plus the tpt_result with which tpt refuses it

struct Times {  // cycles, at least min and at most max
  uint64_t min = 1, max = 1;
};
/// The random traffic of a test. hot: percent of the requests that name one of the hot words.
struct Mix {
  // Percent. write: Atomic Writes. cmp_swap: CmpSwaps among the others; the rest are FetchAdds.
  // match: requests with small compare operands, so that a comparison may succeed.
  unsigned write = 25, cmp_swap = 30, match = 60;
  unsigned hot = 40, hot_words = 3, cold_words = 500;
  // Percent. A bad STag or a misaligned address ends refused, a bad read ends unread (AtomicEnd).
  unsigned bad_stag = 5, misaligned = 5, bad_read = 5;
  unsigned dead = 3, result = 20, request = 100;  // percent of cycles with such an item
  Times tpt{2, 12}, read{2, 60}, store{1, 30};
};

/// RFC 7306 5.1.1 field by field: each mask bit marks the top bit of a field.
uint64_t sum_of_fields(uint64_t a, uint64_t b, uint64_t mask) {
  uint64_t out = 0;
  for (unsigned low = 0; low < 64;) {
    unsigned high = low;
    while (high < 63 && (mask >> high & 1) == 0) high++;
    const unsigned bits = high - low + 1;
    const uint64_t ones = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
    out |= (((a >> low & ones) + (b >> low & ones)) & ones) << low;
    low = high + 1;
  }
  return out;
}

/// A request or result from its atomic_req to its atomic_rsp. Cycles are 0 until they are known.
struct Item {
  spec::AtomicReq req;
  uint64_t accepted = 0, extent_at = 0, decided_at = 0;
  std::optional<uint64_t> dead_at;
  TptResult result = TptResult::kOk;  // result of tpt, then of the alignment check
  uint64_t address = 0, old = 0;
  bool decided = false, stored = false, accepted_by_host = false, passed_over = false;
  [[nodiscard]] bool is_result() const { return req.op == AtomicOp::kResult; }
  [[nodiscard]] bool reads() const {
    return req.op == AtomicOp::kFetchAdd || req.op == AtomicOp::kCmpSwap;
  }
};
using ItemPtr = std::shared_ptr<Item>;

template <class D>
class AtomicTest : public testing::Test {
 protected:
  D dut;
  base::Rng rng = test_rng("world");
  Mix mix;
  std::map<uint64_t, uint64_t> mem, ref;
  std::vector<uint64_t> pages;  // bus address of each page
  std::vector<uint16_t> qpns;

  ItemPtr offered;                     // on atomic_req
  std::map<uint16_t, ItemPtr> inside;  // requests by QP
  // results: without their response. to_ask: whose lookup is due. extents: given, not yet taken.
  std::deque<ItemPtr> results, to_ask, asked, extents;
  std::map<uint64_t, std::deque<ItemPtr>> waiting;  // by address, in the order of their extents
  std::map<uint64_t, unsigned> holders;             // between read and acceptance of the store
  std::map<uint64_t, uint64_t> released;            // cycle of the last holder's release
  std::map<uint64_t, std::deque<RdStatus>> bad_reads;
  /// An answer that tpt or the host gives in cycle `at`. holds: the item holds the lock of its
  /// word.
  struct Due {
    uint64_t at = 0;
    uint64_t address = 0, data = 0;
    RdStatus status = RdStatus::kOk;
    ItemPtr item{};
    bool holds = false;
  };
  std::deque<Due> tpt_due, read_due, store_due;
  std::optional<spec::WordWr> word_now;  // accepted in this cycle
  std::array<int64_t, 2> epochs{};       // extents that are not yet retired
  std::map<AtomicEnd, uint64_t> ends;
  // reads_used: reads whose item was decided or ended unread. words: stores that the host accepted.
  uint64_t reads = 0, reads_used = 0, responses = 0, words = 0;
  std::map<AtomicOp, uint64_t> sums;
  std::function<void(const Item&)> on_end = [](const Item&) {};
  Tally met{"dead in the cycle of the accept",
            "dead, and goes on",
            "dropped without its lock",
            "dropped by a waiter",
            "CmpSwap without a match",
            "64 requests inside",
            "8 results inside",
            "dead for no request",
            "result refused",
            "alias of a waited word"};

  AtomicTest() {
    dut.xlate.on_item([this](const spec::Qn1Xlate& x) { on_xlate(x); });
    dut.rd_req.on_item([this](const spec::Qn1RdReq& r) { on_read(r); });
    dut.word_wr.on_item([this](const spec::WordWr& w) { word_now = w; });
    dut.rsp.on_item([this](const spec::AtomicRsp& r) { on_rsp(r); });
    dut.retired.on_item([this](const spec::Qn1Retired& r) {
      ASSERT_GT(epochs[r.epoch]--, 0) << "more retired than extents, epoch " << int{r.epoch};
    });
  }

  void start(Pace p, Mix m) {
    mix = m;
    offered = nullptr;
    inside.clear();
    for (auto* list : {&results, &to_ask, &asked, &extents}) list->clear();
    for (auto* list : {&tpt_due, &read_due, &store_due}) list->clear();
    waiting.clear();
    holders.clear();
    released.clear();
    bad_reads.clear();
    mem.clear();
    ref.clear();
    epochs = {};
    reads = reads_used = 0;
    pages.clear();
    for (unsigned i = 0; i < kHalf; i++) pages.push_back(rng.next() & ~uint64_t{0xfff});
    std::set<uint16_t> some;
    const unsigned count = std::min(kRequests, D::kNumQps);
    while (some.size() < count) some.insert(static_cast<uint16_t>(rng.below(D::kNumQps)));
    qpns.assign(some.begin(), some.end());
    dut.restart(p);
  }
  /// A random time within these bounds.
  uint64_t time(Times t) { return rng.between(t.min, t.max); }
  /// The word of `mem` or `ref` at an address. A new word gets the same random value in both.
  uint64_t& word(std::map<uint64_t, uint64_t>& m, uint64_t address) {
    if (!mem.contains(address)) {
      const uint64_t v = rng.percent(50) ? rng.below(4) : rng.next();
      mem[address] = ref[address] = v;
    }
    return m[address];
  }

  // --- rdmap
  spec::AtomicReq random_req() {
    spec::AtomicReq r;
    r.op = rng.percent(mix.write)      ? AtomicOp::kWrite
           : rng.percent(mix.cmp_swap) ? AtomicOp::kCmpSwap
                                       : AtomicOp::kFetchAdd;
    r.qpn = qpns[rng.below(qpns.size())];
    r.pd = static_cast<uint16_t>(rng.next());
    r.slot = static_cast<uint8_t>(rng.next());
    r.right = static_cast<uint16_t>(rng.next());
    const bool hot = rng.percent(mix.hot);
    const uint64_t w = hot ? rng.below(mix.hot_words) : 8 + rng.below(mix.cold_words);
    r.stag = static_cast<uint32_t>(w % kHalf + kHalf * rng.below(2));
    r.tagged_offset = w / kHalf * 8;
    r.data = rng.percent(50) ? rng.below(4) : rng.next();
    r.mask = r.op == AtomicOp::kCmpSwap ? (rng.percent(50) ? ~uint64_t{0} : rng.next())
             : rng.percent(60)          ? 0
                                        : rng.next() & rng.next() & rng.next();
    r.compare_mask = rng.percent(mix.match) ? rng.below(2) : rng.next();
    r.compare = rng.percent(mix.match) ? rng.below(4) : rng.next();
    spoil(r);
    return r;
  }
  void spoil(spec::AtomicReq& r) {
    if (rng.percent(mix.misaligned)) r.tagged_offset |= rng.between(1, 7);
    if (rng.percent(mix.bad_stag)) r.stag = kBadStag + static_cast<uint32_t>(rng.between(1, 5));
  }
  /// A result for a sink word that no request names, since results take no lock: offsets from 0x800
  /// on lie beyond those of random_req().
  spec::AtomicReq random_result() {
    spec::AtomicReq r = random_req();
    r.op = AtomicOp::kResult;
    r.stag = static_cast<uint32_t>(rng.below(kHalf));
    r.tagged_offset = 0x800 + rng.below(256) * 8;
    spoil(r);
    return r;
  }
  void offer(spec::AtomicReq r) {
    offered = std::make_shared<Item>();
    offered->req = r;
    dut.req.put(r);
  }
  /// Offers at most one result or request, and sometimes reports a QP as dead.
  void generate() {
    std::optional<uint16_t> now_offered;
    if (offered == nullptr) {
      if (results.size() < kResults && rng.percent(mix.result)) {
        offer(random_result());
      } else if (inside.size() < kRequests && rng.percent(mix.request)) {
        const spec::AtomicReq r = random_req();
        if (!inside.contains(r.qpn)) {
          offer(r);
          now_offered = r.qpn;
        }
      }
    }
    if (rng.percent(mix.dead)) {
      const uint16_t qpn = now_offered && rng.percent(50) ? *now_offered
                           : !inside.empty() && rng.percent(80)
                               ? std::next(inside.begin(), rng.below(inside.size()))->first
                               : qpns[rng.below(qpns.size())];
      dut.dead.put({.qpn = qpn});
      dying = qpn;
    }
  }
  std::optional<uint16_t> dying;

  // --- tpt
  void on_xlate(const spec::Qn1Xlate& x) {
    ASSERT_FALSE(to_ask.empty()) << "a lookup that no item asks for";
    const ItemPtr item = to_ask.front();
    to_ask.pop_front();
    const auto& r = item->req;
    const spec::Qn1Xlate want{.stag = r.stag,
                              .tagged_offset = r.tagged_offset,
                              .length = 8,
                              .pd = r.pd,
                              .qpn = r.qpn,
                              .rights = r.right,
                              .last = 1};
    ASSERT_EQ(x, want) << x.describe();
    Due d{.at = dut.now() + time(mix.tpt), .item = item};
    if (!tpt_due.empty()) d.at = std::max(d.at, tpt_due.back().at);
    tpt_due.push_back(d);
  }
  void give_extent(const ItemPtr& item) {
    const auto& r = item->req;
    spec::Qn1Extent e{.last = 1};
    e.epoch = rng.percent(50);
    if (r.stag >= kBadStag) {
      item->result = static_cast<TptResult>(r.stag - kBadStag);
      e.address = rng.next();  // arbitrary: atomic must ignore it
    } else {
      item->address = pages[r.stag % kHalf] + r.tagged_offset;
      if (item->address % 8 != 0) item->result = TptResult::kAlign;
      e.address = item->address;
      e.length = 8;
    }
    e.result = item->result == TptResult::kAlign ? TptResult::kOk : item->result;
    epochs[e.epoch]++;
    dut.extent.put(e);
    extents.push_back(item);
  }

  // --- host
  void on_read(const spec::Qn1RdReq& r) {
    ASSERT_EQ(r.length, 8);
    ASSERT_EQ(r.address % 8, 0U);
    ASSERT_EQ(holders[r.address], 0U) << "two hold " << std::hex << r.address;
    holders[r.address]++;
    reads++;
    Due d{.at = dut.now() + time(mix.read), .address = r.address};
    if (rng.percent(mix.bad_read)) d.status = static_cast<RdStatus>(rng.between(1, 3));
    read_due.push_back(d);
  }
  void give_read(const Due& d) {
    dut.rd_hdr.put({.status = d.status, .length = 8});
    std::vector<uint8_t> bytes;
    if (d.status == RdStatus::kOk) {
      const uint64_t value = word(mem, d.address);
      for (unsigned i = 0; i < 8; i++) bytes.push_back(static_cast<uint8_t>(value >> 8 * i));
    } else {
      bad_reads[d.address].push_back(d.status);
      holders[d.address]--;
      released[d.address] = dut.now();
    }
    dut.rd.put_packet(bytes);
  }
  void give_done(const Due& d) {
    mem[d.address] = d.data;
    d.item->accepted_by_host = true;
    if (d.holds) {
      holders[d.address]--;
      released[d.address] = dut.now();
    }
    dut.word_done.put({.count = static_cast<uint16_t>(++words)});
  }

  // --- decisions, in order
  /// Executes one decision of atomic (tap_atomic_word) on `ref`, and checks word_wr against it.
  void decide(const spec::AtomicWordCommit& c) {
    const uint64_t now = dut.now() - 1;  // the cycle that has just ended
    ItemPtr item;
    if (c.op == AtomicOp::kResult) {
      for (const auto& r : results)
        if (!item && !r->decided && r->result == TptResult::kOk && r->extent_at != 0) item = r;
    } else if (inside.contains(c.qpn)) {
      item = inside[c.qpn];
    }
    ASSERT_NE(item, nullptr) << c.describe();
    ASSERT_EQ(item->req.op, c.op);
    ASSERT_EQ(item->req.qpn, c.qpn);
    ASSERT_FALSE(item->decided) << c.describe();
    ASSERT_TRUE(item->extent_at != 0 && item->result == TptResult::kOk) << "not checked";
    item->decided = true;
    item->decided_at = now;
    const uint64_t a = item->address;
    bool stores = true;
    uint64_t value = item->req.data;
    item->old = word(ref, a);
    if (!item->is_result()) turn(item);
    if (c.op == AtomicOp::kFetchAdd) value = sum_of_fields(item->old, value, item->req.mask);
    if (c.op == AtomicOp::kCmpSwap) {
      const auto& r = item->req;
      stores = ((item->old ^ r.compare) & r.compare_mask) == 0;
      value = (item->old & ~r.mask) | (r.data & r.mask);
      met("CmpSwap without a match", !stores);
    }
    if (item->reads()) {
      reads_used++;
      ASSERT_EQ(holders[a], 1U) << "decided without a read";
    } else if (!item->is_result()) {
      ASSERT_EQ(holders[a]++, 0U) << "stored beside a holder";
    }
    ASSERT_EQ(c.performed != 0, stores) << c.describe();
    ASSERT_EQ(word_now.has_value(), stores) << "the tap is of another cycle";
    item->stored = stores;
    if (!stores) {
      holders[a]--;
      released[a] = now;
      return;
    }
    ASSERT_EQ(word_now->address, a);
    ASSERT_EQ(word_now->data, value) << "op " << to_string(c.op);
    ref[a] = value;
    Due d{.at = now + time(mix.store), .address = a, .data = value, .item = item};
    d.holds = !item->is_result();
    store_due.push_back(d);
  }
  /// Checks that every earlier request for the word was dropped or could not be read.
  void turn(const ItemPtr& item) {
    auto& queue = waiting[item->address];
    while (!queue.empty() && queue.front() != item) {
      const ItemPtr& other = queue.front();
      ASSERT_TRUE(other->dead_at || other->reads()) << "passed over: " << other->req.describe();
      other->passed_over = true;
      queue.pop_front();
    }
    ASSERT_FALSE(queue.empty()) << "decided twice or never checked";
    queue.pop_front();
    if (!item->dead_at) return;
    met("dead, and goes on");
    // atomic drops an item that is dead before its turn. The turn comes with the item's extent, or
    // when the holder before it releases the word. An atomic_dead takes 2 cycles to reach the item.
    ASSERT_GE(*item->dead_at + 2, std::max(item->extent_at, released[item->address]))
        << "was dead before its turn: " << item->req.describe();
  }

  void on_rsp(const spec::AtomicRsp& r) {
    ItemPtr item;
    if (r.op == AtomicOp::kResult) {
      ASSERT_FALSE(results.empty()) << r.describe();
      item = results.front();
      results.pop_front();
    } else {
      ASSERT_TRUE(inside.contains(r.qpn)) << r.describe();
      item = inside[r.qpn];
      inside.erase(r.qpn);
    }
    const Item& i = *item;
    spec::AtomicRsp want{.op = i.req.op, .qpn = i.req.qpn, .slot = i.req.slot};
    want.ending = r.ending;
    switch (r.ending) {
      case AtomicEnd::kDone:
        ASSERT_TRUE(i.decided) << "done, and nothing was decided: " << r.describe();
        ASSERT_TRUE(!i.stored || i.accepted_by_host) << "before word_done: " << r.describe();
        if (i.reads()) want.value = i.old;
        break;
      case AtomicEnd::kRefused:
        ASSERT_NE(i.result, TptResult::kOk) << r.describe();
        want.result = i.result;
        met("result refused", i.is_result());
        break;
      case AtomicEnd::kUnread: {
        auto& bad = bad_reads[i.address];
        ASSERT_TRUE(i.reads() && !bad.empty()) << r.describe();
        want.status = bad.front();
        bad.pop_front();
        reads_used++;
        leave(item);
        break;
      }
      case AtomicEnd::kDropped:
        ASSERT_TRUE(i.dead_at && !i.is_result()) << "dropped alive: " << r.describe();
        met(waiting[i.address].size() > 1 ? "dropped by a waiter" : "dropped without its lock");
        leave(item);
        break;
    }
    ASSERT_EQ(r, want) << r.describe() << "\nwanted " << want.describe();
    ASSERT_EQ(i.decided, r.ending == AtomicEnd::kDone) << r.describe();
    if (r.ending == AtomicEnd::kRefused && i.dead_at) {
      ASSERT_GE(*i.dead_at + 2, i.extent_at) << "dead before tpt's answer, and not dropped";
    }
    ends[r.ending]++;
    responses++;
    on_end(i);
  }
  /// Removes an item that ended undecided from those that wait for its word.
  void leave(const ItemPtr& item) {
    auto& queue = waiting[item->address];
    std::erase(queue, item);
  }

  // --- one cycle
  void step() {
    const uint64_t now = dut.now();
    word_now.reset();
    for (; !tpt_due.empty() && tpt_due.front().at <= now; tpt_due.pop_front())
      give_extent(tpt_due.front().item);
    for (; !read_due.empty() && read_due.front().at <= now; read_due.pop_front())
      give_read(read_due.front());
    if (!store_due.empty() && store_due.front().at <= now) {
      give_done(store_due.front());
      store_due.pop_front();
    }
    dut.cycle();
    if (dut.extent.taken()) {
      const ItemPtr item = extents.front();
      extents.pop_front();
      item->extent_at = now;
      if (!item->is_result() && item->result == TptResult::kOk) {
        auto& queue = waiting[item->address];
        met("alias of a waited word", !queue.empty() && queue.back()->req.stag != item->req.stag);
        queue.push_back(item);
      }
    }
    if (dut.req.taken()) {
      offered->accepted = now;
      to_ask.push_back(offered);
      if (offered->is_result())
        results.push_back(offered);
      else
        inside[offered->req.qpn] = offered;
      met("64 requests inside", inside.size() == std::min(kRequests, D::kNumQps));
      met("8 results inside", results.size() == kResults);
      offered = nullptr;
    }
    if (dut.dead.taken()) {
      const auto it = inside.find(*dying);
      met("dead for no request", it == inside.end());
      if (it != inside.end()) {
        met("dead in the cycle of the accept", it->second->accepted == now);
        if (!it->second->dead_at) it->second->dead_at = now;
      }
    }
    ASSERT_LE(dut.word.items().size(), 1U);
    ASSERT_EQ(word_now.has_value(), !dut.word.items().empty() && dut.word.items()[0].performed != 0)
        << "a store without its tap, or the reverse";
    for (const auto& c : dut.word.take_all()) decide(c);
  }
  void run(uint64_t cycles) {
    for (uint64_t i = 0; i < cycles && !this->HasFatalFailure(); i++) {
      generate();
      step();
    }
  }
  /// Runs without new items until all have ended. Then no lock is held, and `mem` equals `ref`.
  void drain(uint64_t limit = 60'000) {
    for (uint64_t i = 0; i < limit && !this->HasFatalFailure(); i++) {
      if (!offered && inside.empty() && results.empty() && store_due.empty()) break;
      step();
    }
    for (int i = 0; i < 20; i++) step();
    ASSERT_TRUE(!offered && inside.empty() && results.empty()) << "something never ends";
    for (auto& [address, value] : ref) ASSERT_EQ(value, mem[address]);
    for (auto& [address, count] : holders) ASSERT_EQ(count, 0U) << std::hex << address;
    for (int64_t left : epochs) ASSERT_EQ(left, 0) << "extents that were never retired";
    ASSERT_EQ(reads, reads_used) << "a request was read for, and neither decided nor unread";
  }
  /// Runs one item with no other in flight. Returns the cycles until its word_wr and its response.
  std::pair<uint64_t, uint64_t> alone(spec::AtomicReq r) {
    uint64_t word_at = 0, end_at = 0, accepted = 0;
    on_end = [&](const Item& i) {
      end_at = dut.now();
      word_at = i.decided_at;
      accepted = i.accepted;
    };
    offer(r);
    drain();
    on_end = [](const Item&) {};
    return {word_at - accepted, end_at - accepted};
  }
};

using Duts = testing::Types<AtomicDut<VAtomic, 1024>, AtomicDut<VAtomicMin, 8>>;
TYPED_TEST_SUITE(AtomicTest, Duts);

TYPED_TEST(AtomicTest, Random) {
  std::vector<Mix> mixes(6);
  mixes[1].hot = 100, mixes[1].hot_words = 1, mixes[1].dead = 10;
  mixes[2].hot = 0, mixes[2].cold_words = 30;
  mixes[3].read = {200, 400}, mixes[3].result = 60;
  mixes[4].tpt = {1, 1}, mixes[4].read = {1, 1}, mixes[4].store = {1, 1}, mixes[4].dead = 30;
  mixes[5].bad_stag = 40, mixes[5].misaligned = 40, mixes[5].bad_read = 50, mixes[5].result = 50;
  each_pace([&](Pace p) {
    for (const Mix& m : mixes) {
      this->start(p, m);
      this->run(3000);
      this->drain();
      if (this->HasFatalFailure()) return;
    }
  });
  for (const auto end :
       {AtomicEnd::kDone, AtomicEnd::kRefused, AtomicEnd::kUnread, AtomicEnd::kDropped})
    EXPECT_GT(this->ends[end], 200U) << to_string(end);
  this->met.expect_all();
}

// rdmap stalls responses for long. Requests and results in flight still store and release their
// locks.
TYPED_TEST(AtomicTest, ResponsesThatWaitHoldOnlyEntries) {
  Mix m;
  m.dead = 0;
  m.hot = 50;
  m.hot_words = 1;
  this->start({}, m);
  this->dut.rsp.stall(100);
  this->run(6000);
  EXPECT_EQ(this->inside.size(), std::min<size_t>(kRequests, TypeParam::kNumQps));
  EXPECT_EQ(this->results.size(), kResults);
  for (const auto& [qpn, item] : this->inside)
    EXPECT_TRUE(item->decided || item->result != TptResult::kOk || item->reads())
        << item->req.describe();
  EXPECT_TRUE(this->read_due.empty() && this->store_due.empty());
  for (const auto& [address, count] : this->holders) EXPECT_EQ(count, 0U);
  this->dut.rsp.stall(0);
  this->drain();
}

// RFC 7306: no increment is lost.
TYPED_TEST(AtomicTest, SumsOfFetchAddAreExact) {
  each_pace([&](Pace p) {
    this->start(p, {});
    const uint64_t address = this->pages[1];
    const uint64_t before = this->word(this->mem, address);
    uint64_t sum = 0, count = 0;
    for (unsigned i = 0; i < 4000 && !this->HasFatalFailure(); i++) {
      const uint16_t qpn = this->qpns[this->rng.below(this->qpns.size())];
      if (this->offered == nullptr && !this->inside.contains(qpn)) {
        spec::AtomicReq r;
        r.op = AtomicOp::kFetchAdd;
        r.qpn = qpn;
        r.stag = 1 + kHalf * (i & 1);
        r.data = this->rng.next();
        this->offer(r);
        sum += r.data;
        count++;
      }
      this->mix.bad_read = 0;
      this->step();
    }
    this->drain();
    EXPECT_GT(count, 20U);
    EXPECT_EQ(this->mem[address], before + sum);
  });
}

// A result passes requests that wait for a lock or for a stalled read.
TYPED_TEST(AtomicTest, ResultsPassRequestsThatWait) {
  Mix m;
  m.dead = m.bad_stag = m.misaligned = m.result = 0;
  m.hot = 100;
  m.hot_words = 2;
  m.write = 0;
  m.tpt = {4, 4};
  m.store = {4, 4};
  m.read = {1'000'000, 1'000'000};
  this->start({}, m);
  this->dut.hold_back(0);
  this->run(1000);
  const size_t waiting = this->inside.size();
  EXPECT_EQ(waiting, std::min<size_t>(kRequests, TypeParam::kNumQps));
  this->mix.result = 100;
  this->mix.request = 0;
  const uint64_t before = this->responses;
  this->run(1000);
  EXPECT_GT(this->responses - before, 300U);  // 8 at a time, each tpt + store + 13 cycles
  EXPECT_EQ(this->inside.size(), waiting);
  for (auto& d : this->read_due) d.at = 0;
  this->mix.result = 0;
  this->mix.read = {1, 1};
  this->drain();
}

// Requests for one hot word delay a request for another word only by arbitration.
TYPED_TEST(AtomicTest, HotWordDoesNotSlowOthers) {
  for (const bool hot : {false, true}) {
    Mix m;
    m.dead = m.bad_stag = m.misaligned = m.bad_read = m.result = m.write = 0;
    m.tpt = {6, 6};
    m.read = {40, 40};
    m.store = {10, 10};
    this->start({}, m);
    this->dut.hold_back(0);
    uint64_t longest = 0;
    this->on_end = [&](const Item& i) {
      if (i.req.qpn == this->qpns[0]) longest = std::max(longest, this->dut.now() - i.accepted);
    };
    for (unsigned i = 0; i < 6000 && !this->HasFatalFailure(); i++) {
      spec::AtomicReq r = this->random_req();
      if (this->offered == nullptr && hot && i % 8 != 0 && r.qpn != this->qpns[0]) {
        r.stag = 3;
        r.tagged_offset = 0;
      } else {
        r.qpn = this->qpns[0];
        r.stag = 3;  // words near the hot one, in other buckets of the lock
        r.tagged_offset = 8 * this->rng.between(1, 100);
      }
      if (this->offered == nullptr && !this->inside.contains(r.qpn)) this->offer(r);
      this->step();
    }
    this->drain();
    this->on_end = [](const Item&) {};
    EXPECT_GT(longest, 0U);
    // tpt, read, store, and 17 cycles of the unit (header of atomic.sv). 8 more for arbiters.
    EXPECT_LE(longest, 6U + 40 + 10 + 17 + (hot ? 8 : 0)) << (hot ? "beside a hot word" : "alone");
  }
}

// The latencies in the header of atomic.sv.
TYPED_TEST(AtomicTest, Latency) {
  for (const auto& [tpt, read, store] :
       std::vector<std::array<uint64_t, 3>>{{2, 2, 1}, {8, 50, 20}}) {
    Mix m;
    m.bad_read = 0;
    m.tpt = {tpt, tpt};
    m.read = {read, read};
    m.store = {store, store};
    this->start({}, m);
    this->dut.hold_back(0);
    this->dut.cycles(5);
    spec::AtomicReq r;
    r.qpn = 1;
    r.stag = 2;
    r.op = AtomicOp::kWrite;
    const auto write = this->alone(r);
    r.op = AtomicOp::kFetchAdd;
    const auto fetch = this->alone(r);
    r.op = AtomicOp::kResult;
    r.tagged_offset = 0x800;
    const auto result = this->alone(r);
    // Cycles to word_wr and to atomic_rsp: the partners' times, and those of the unit.
    const auto pair = [](uint64_t a, uint64_t b) { return std::pair(a, b); };
    EXPECT_EQ(write, pair(tpt + 11, tpt + store + 16));
    EXPECT_EQ(fetch, pair(tpt + read + 12, tpt + read + store + 17));
    EXPECT_EQ(result, pair(tpt + 8, tpt + store + 13));
  }
}

// The header of atomic.sv: one item per cycle, up to its 64 request and 8 result entries.
TYPED_TEST(AtomicTest, Throughput) {
  if (TypeParam::kNumQps < kRequests) return;
  Mix m;
  m.dead = m.bad_stag = m.misaligned = m.bad_read = m.result = m.hot = 0;
  m.tpt = m.read = {8, 8};
  m.store = {4, 4};
  // Percent of Atomic Writes, and the least number of responses in 1000 cycles. A mix of kinds is
  // slower, because they meet at arbiters.
  for (const auto& [writes, least] :
       std::vector<std::pair<unsigned, uint64_t>>{{0, 950}, {100, 990}, {25, 900}}) {
    m.write = writes;
    this->start({}, m);
    uint64_t before = 0, next = 0;
    for (unsigned i = 0; i < 1200 && !this->HasFatalFailure(); i++) {
      if (i == 200) before = this->responses;
      spec::AtomicReq r = this->random_req();
      for (const uint16_t qpn : this->qpns)
        if (!this->inside.contains(qpn)) r.qpn = qpn;
      r.stag = 3;  // successive words, each in its own bucket
      r.tagged_offset = 8 * (next % 256);
      if (this->offered == nullptr && !this->inside.contains(r.qpn)) {
        this->offer(r);
        next++;
      }
      this->step();
    }
    EXPECT_GE(this->responses - before, least) << writes << "% Atomic Writes, in 1000 cycles";
    this->drain();
  }

  m.tpt = {2, 2};
  m.store = {1, 1};
  m.result = 100;
  m.request = 0;
  this->start({}, m);
  this->run(200);
  const uint64_t before = this->responses;
  this->run(1000);
  // 8 results in flight, each tpt + store + 13 cycles, and the cycle in which rdmap sends the next
  // one.
  EXPECT_GE(this->responses - before, 1000U * kResults / (2 + 1 + 13 + 1));
  this->drain();
}

}  // namespace
}  // namespace rnic::tb

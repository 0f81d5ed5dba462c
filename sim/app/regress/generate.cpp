// The generator of random plans. See regress/plan.hpp.
#include <fmt/format.h>

#include <algorithm>

#include "regress/plan.hpp"

namespace rnic::app::regress {
namespace {

// The RTL's simulation time depends on bytes and latencies: draw no more of either than the classes
// need.
constexpr uint32_t kPages64K = 65536, kMostLarge = 160 * 1024;
constexpr uint32_t kLongPercent = 8;  // of class kTo64K; the others have at most 3 full FPDUs
// Percentages: streams on which both sides agree on Flush and atomics; Flushes among the requests
// of these streams; regions in persistent memory.
constexpr uint32_t kAgreedPercent = 75, kFlushPercent = 25, kPersistentPercent = 50;
constexpr uint32_t kAgainPercent = 50;  // an operation on a word is followed by another on it
// Percentage of atomics among the other requests of a stream with Flush. Words per QP and side:
// outside of other operations; in targets of Writes.
constexpr uint32_t kAtomicPercent = 25, kOwnWords = 3, kWrittenWords = 3;
// Simultaneous QPs of the minimum build; the first number of the ends.
constexpr uint32_t kMinimumSlots = 6, kEnds = 500'000;
// Percentages: operations that open a loan, or end one of the own requests; operations that end
// a loan that was returned; operations that open one again; loans for the own requests; requests
// that use an open loan; Sends that end one.
constexpr uint32_t kLoanPercent = 6, kReturnedPercent = 25, kReopenedPercent = 25, kOwnPercent = 25,
                   kUsePercent = 60, kEndPercent = 45;
// Percentages: hosts with SRQs; their lives that use one, among those that may.
constexpr uint32_t kSharesPercent = 75, kSharePercent = 90;
// Bytes of a WQE after its header: of the longest WQE, and of a WQE of two units, the longest that
// may be pushed.
constexpr uint32_t kMostInline = 224, kPushBody = 96;

/// Draws one of the values. A value that is listed twice comes twice as often.
template <class T, size_t N>
T any(base::Rng& rng, const std::array<T, N>& from) {
  return from[rng.below(N)];
}

/// Allocates a landing region from the bottom up.
class Landing {
 public:
  /// A piece after all earlier ones. It lies inside a page, touches or crosses a page border, as
  /// `wanted`, if its length permits.
  Piece take(base::Rng& rng, uint32_t length, Crossing wanted) {
    uint32_t at = used_;
    if (wanted == Crossing::kInside && length + 2 <= kPage) {
      at += static_cast<uint32_t>(rng.below(64));
      if (at % kPage == 0 || at % kPage + length >= kPage)
        at = up(at + 1) + 1 + static_cast<uint32_t>(rng.below(std::min(64u, kPage - 1 - length)));
    } else if (wanted == Crossing::kTouches) {
      at = rng.percent(50) || length > kPage ? up(at) : up(at + length) - length;
    } else if (length >= 2) {
      const auto before =
          1 + static_cast<uint32_t>(rng.below(std::min({length - 1, 200u, kPage - 1})));
      at = up(at + before) - before;
    }
    used_ = at + length;
    return {at, length};
  }
  /// Bytes that may overlap earlier allocations, in a region that is long enough.
  Piece over(base::Rng& rng, uint32_t length, Crossing wanted) {
    Landing from;
    from.used_ = static_cast<uint32_t>(rng.below(used_ + 1));
    const Piece p = from.take(rng, length, wanted);
    used_ = std::max(used_, from.used_);
    return p;
  }
  /// An aligned word: anywhere, at the start of a beat, or at either end of a page.
  Piece word(base::Rng& rng) {
    uint32_t at = (used_ + static_cast<uint32_t>(rng.below(64)) + kWord - 1) / kWord * kWord;
    const uint64_t where = rng.below(8);
    if (where < 3) at = (at + kBeat - 1) / kBeat * kBeat;
    if (where == 3) at = up(at);
    if (where == 4) at = up(at + kWord) - kWord;
    used_ = at + kWord;
    return {at, kWord};
  }
  uint32_t used() const { return used_; }

 private:
  static uint32_t up(uint32_t at) { return (at + kPage - 1) / kPage * kPage; }
  uint32_t used_ = 0;
};

class Generator {
 public:
  Generator(uint64_t seed, const Limits& limits)
      : limits_(limits),
        set_(base::Rng(seed).fork("settings")),
        rng_(base::Rng(seed).fork("operations")),
        wires_(base::Rng(seed).fork("wires")),
        lives_(base::Rng(seed).fork("lives")),
        pages_(base::Rng(seed).fork("pages")),
        flushes_(base::Rng(seed).fork("flushes")),
        immediates_(base::Rng(seed).fork("immediates")),
        atomics_(base::Rng(seed).fork("atomics")),
        holds_(base::Rng(seed).fork("holds")),
        keys_(base::Rng(seed).fork("keys")),
        loans_(base::Rng(seed).fork("loans")),
        shares_(base::Rng(seed).fork("shares")) {
    plan_.seed = seed;
  }

  Plan make(uint32_t count) {
    settings(count);
    for (uint32_t n = 0; n < count; ++n) operation(n, count);
    for (const Side side : {kClient, kServer}) {
      for (uint32_t q = 0; q < plan_.qps; ++q) {
        // The last page holds the areas of kClosingFromEnd and kSpareFromEnd (plan.hpp).
        plan_.landing_bytes[side][q] = (landing_[side][q].used() / kPage + 3) * kPage;
        const uint32_t at = place(side, plan_.landing_bytes[side][q]);
        plan_.landing_at[side][q] = plan_.life[q].persistent[side] ? 0 : at;
      }
      plan_.source_at[side] = place(side, kSourceBytes);
    }
    for (Operation& o : plan_.ops)
      if (o.opens()) cover(o);
    for (const Side side : {kClient, kServer}) share(side);
    return std::move(plan_);
  }

 private:
  /// The offset, in its first page, of a region that must reach into the next page: one or more
  /// times 4 KiB before the end of the page. 0 if pages have 4 KiB.
  uint32_t place(Side side, uint32_t bytes) {
    const uint32_t page = plan_.page_bytes[side];
    if (page == kPage) return 0;
    return page -
           kPage * (1 + static_cast<uint32_t>(pages_.below(std::min(page, bytes) / kPage - 1)));
  }

  /// Chooses the lives that take their receives from an SRQ, in a part of the plans. Excludes lives
  /// with an error or delay of receives, with spare receives, with more receives than the credit,
  /// and with long messages.
  void share(Side side) {
    const bool is_off = !shares_.percent(kSharesPercent);
    const uint32_t most_bytes = limits_.minimum ? kMostSharedMinimum : kMostShared;
    const uint32_t most_credit = limits_.minimum ? kMostCreditMinimum : kMostCredit;
    for (uint32_t q = 0; q < plan_.qps; ++q) {
      Life& l = plan_.life[q];
      const bool is_of_receive =
          l.end == End::kFault && l.who != side &&
          (l.fault == Fault::kNoReceive || l.fault == Fault::kTooLong ||
           l.fault == Fault::kReceiveKey || l.fault == Fault::kInvalidateKey);
      const bool is_long = std::ranges::any_of(plan_.ops, [&](const Operation& o) {
        return o.qp == q && o.side != side && o.is_send() && o.length > most_bytes;
      });
      const bool may = !is_of_receive && !is_long && l.spare[side] == 0 && !l.receives_late[side] &&
                       plan_.shape[side][q].recv_depth <= most_credit &&
                       (!limits_.minimum || l.pd[side] == 0);  // QPs and SRQs share few numbers
      l.shares[side] = shares_.percent(kSharePercent) && may && !is_off;
    }
  }

  /// Draws everything but the operations. `count`: of operations.
  void settings(uint32_t count) {
    const auto give = [&](std::string name, const std::string& value) {
      plan_.settings.emplace_back(std::move(name), value);
    };
    Plan& p = plan_;
    p.mtu = limits_.mtu.value_or(p.seed % 2 == 0 ? 1500 : 9000);
    give("mtu", fmt::format("{}", p.mtu));
    const bool one_fpdu = p.seed % 8 == 3;  // one plan of 8
    give("llp_window_bytes",
         fmt::format("{}", one_fpdu
                               ? kOneFpduWindow
                               : any<uint32_t>(set_, std::array{4096u, 20000u, 65536u, 262144u})));
    for (const char* side : {"client", "server"}) {
      give(fmt::format("{}.pcie_mps", side),
           fmt::format("{}", any<uint32_t>(set_, std::array{128u, 256u, 512u})));
      give(fmt::format("{}.pcie_mrrs", side),
           fmt::format("{}", any<uint32_t>(set_, std::array{128u, 512u, 1024u, 4096u})));
      give(fmt::format("{}.pcie_rcb", side),
           fmt::format("{}", any<uint32_t>(set_, std::array{64u, 128u})));
      give(fmt::format("{}.pcie_reorder", side),
           any<const char*>(set_, std::array{"0", "0.1", "0.5"}));
      give(fmt::format("{}.pcie_split", side),
           any<const char*>(set_, std::array{"0", "0.2", "0.8"}));
      give(fmt::format("{}.pcie_latency_ns", side),
           any<const char*>(set_, std::array{"100", "400", "800"}));
      give(fmt::format("{}.pcie_gen", side), any<const char*>(wires_, std::array{"3", "4", "5"}));
      give(fmt::format("{}.pcie_posted_hold_ns", side),
           any<const char*>(holds_, std::array{"0", "0", "200", "2000"}));
      const auto kib = any<uint32_t>(pages_, std::array{4u, 4u, 16u, 64u, 512u, 2048u});
      p.page_bytes[side == std::string_view("client") ? kClient : kServer] = kib * 1024;
      give(fmt::format("{}.page_kib", side), fmt::format("{}", kib));
    }
    give("link_delay_ns", any<const char*>(set_, std::array{"0", "100", "500"}));
    give("link_gbps", any<const char*>(wires_, std::array{"40", "100", "100", "400"}));
    hosts();
    lives(count);
    p.markers = set_.percent(25);
    p.crc = !set_.percent(25);
    p.one_cq = set_.percent(50);
    for (const Side side : {kClient, kServer}) {
      // The minimum build has 64 IRD and ORD slots in all.
      const uint32_t most = limits_.minimum ? 64 / kMinimumSlots : 32;
      p.ird[side] = std::min(most, any<uint32_t>(set_, std::array{1u, 2u, 5u, 8u, 32u}));
      p.ord[side] = std::min(most, any<uint32_t>(set_, std::array{1u, 2u, 5u, 8u, 32u}));
      for (uint32_t q = 0; q < p.qps; ++q) {
        QpShape& h = p.shape[side][q];
        h.send_depth = any<uint32_t>(set_, std::array{4u, 8u, 16u, 64u});
        h.recv_depth = any<uint32_t>(set_, std::array{1u, 3u, 8u, 64u});
        h.max_sge = any<uint32_t>(set_, std::array{1u, 4u, 14u, 14u});
        h.max_inline = any<uint32_t>(set_, std::array{0u, 32u, 96u, kMostInline});
        h.push = set_.percent(50);
        Life& l = p.life[q];
        l.spare[side] = std::min(l.spare[side], h.recv_depth);
        if (l.end == End::kFault && l.fault == Fault::kCqOverflow && l.who == side)
          h.send_depth = kOverflowCqe;
      }
    }
    // At least one QP has the most SGEs, the most inline bytes, and pushes.
    const auto all = static_cast<uint32_t>(set_.below(p.qps));
    for (auto& side : p.shape) {
      side[all].max_sge = 14;
      side[all].max_inline = kMostInline;
      side[all].push = true;
    }
    // The device does not read a pushed WQE from the ring, so kRequestRead excludes pushes.
    for (uint32_t q = 0; q < p.qps; ++q) {
      const Life& l = p.life[q];
      if (l.end == End::kFault && l.fault == Fault::kRequestRead) p.shape[l.who][q].push = false;
    }
    Life& aged = p.life[all];
    aged.aged = p.seed % kAgedPlans == 5;
    auto& depth = p.shape[aged.who][all].send_depth;
    if (aged.aged) depth = std::max(depth, kAgeBatch);
  }

  /// The turn of a plan, 0 to 3, chooses the number of slots: 0 few, 3 many, else some. Two
  /// consecutive seeds have the same turn; their MTUs differ.
  uint32_t turn() const { return static_cast<uint32_t>(plan_.seed / 2 % 4); }
  /// The index of a plan among those of the same turn: two of every eight seeds. Classes that every
  /// regression must draw rotate with it.
  uint32_t nth() const {
    return static_cast<uint32_t>((plan_.seed / 8 * 2 + plan_.seed % 2) % 1'000'000);
  }

  void hosts() {
    for (const Side side : {kClient, kServer}) {
      HostShape& h = plan_.host[side];
      constexpr std::array kThreads = {1u, 1u, 2u, 3u, 4u};
      const bool is_server = side == kServer;
      const uint32_t kinds = limits_.minimum ? 2 : kThreads.size();
      // Rotates so that each kind of client meets each kind of server.
      const uint32_t kind = (nth() + (is_server ? nth() / kinds : 0)) % kinds;
      h.threads = limits_.minimum ? 1 + kind : kThreads[kind];
      // With few QPs one side has one thread and the other has several, in turns.
      if (turn() == 0) h.threads = nth() % 2 == is_server ? 1 : std::max(2u, h.threads);
      h.pds = kMaxPds;
      h.cqs = limits_.minimum && h.threads > 1
                  ? 1
                  // The minimum build has 8 CQs, some of which lives need to overflow.
                  : 1 + static_cast<uint32_t>(lives_.below(2));
      h.shared_cq = h.threads > 1 && lives_.percent(30);
      h.armed = !h.shared_cq && lives_.percent(30);
      h.log_eq = any<uint32_t>(lives_, std::array{1u, 2u, 8u});
      h.event_queues = any<uint32_t>(lives_, std::array{1u, 2u, 16u});
    }
  }

  /// Draws the slots, then the lives that follow in them. The number of slots, the ends, the
  /// errors, their sides and their load rotate with the seed, so consecutive seeds have every error
  /// with few and with many QPs.
  void lives(uint32_t count) {
    Plan& p = plan_;
    const auto between = [&](uint32_t low, uint32_t high) {
      return static_cast<uint32_t>(lives_.between(low, high));
    };
    const uint32_t slots = turn() == 0       ? between(1, 2)
                           : limits_.minimum ? between(3, kMinimumSlots)
                           : turn() == 3     ? between(9, lives_.percent(30) ? kMaxQps : 16)
                                             : between(3, 8);
    p.qps = std::min(kMaxQps, slots + (count < 100 ? between(0, 2)
                                       : slots < 3 ? between(6, 8)
                                                   : between(2, 6)));
    uint32_t errors = nth() * 4 + turn(), ends = nth() + turn();
    auto answers = static_cast<uint32_t>(p.seed % kAnswerNames.size());
    uint32_t overflows = 0;
    for (uint32_t q = 0; q < p.qps; ++q) {
      Life& l = p.life[q];
      l.number = kEnds + q;
      l.slot = q < slots ? q : static_cast<uint32_t>(lives_.below(slots));
      for (const Side side : {kClient, kServer}) {
        l.pd[side] = static_cast<uint32_t>(lives_.below(p.host[side].pds));
        l.cq[side] = static_cast<uint32_t>(lives_.below(p.host[side].cqs));
        l.base[side] = any(lives_, std::array{Base::kFar, Base::kFar, Base::kZero, Base::k16,
                                              Base::k31, Base::k32, Base::k64});
        l.receives_late[side] = lives_.percent(15);
        if (lives_.percent(40)) l.spare[side] = 1 + static_cast<uint32_t>(lives_.below(kMaxSpare));
      }
      l.who = lives_.percent(50) ? kClient : kServer;
      // Every second life ends with an error; the others rotate through the other ends.
      l.end =
          q % 2 == 0 ? End::kFault : static_cast<End>(ends++ % static_cast<uint32_t>(End::kFault));
      l.busy = lives_.percent(50);
      if (l.end == End::kFault) {
        // Plans of the four turns share values of `errors`; adding turn() varies side and load.
        l.fault = static_cast<Fault>(errors % kFaultNames.size());
        const uint32_t kind = errors / static_cast<uint32_t>(kFaultNames.size()) + turn();
        l.who = kind % 2 == 0 ? kClient : kServer;
        l.busy = kind / 2 % 2 == 0;
        ++errors;
      }
      l.one_way = lives_.percent(15);
      l.after = static_cast<uint32_t>(lives_.below(101));
      l.late = lives_.percent(50);
      l.length = 2 + static_cast<uint32_t>(lives_.below(300));  // one byte cannot wrap
      if (l.meets_bad_read()) l.answer = static_cast<Answer>(answers++ % kAnswerNames.size());
      if (l.end == End::kFault && l.fault == Fault::kFlushRead && l.answer == Answer::kShort)
        l.answer = Answer::kAborted;  // a read-back has only one byte
      flush(l);
      if (l.end != End::kFault) continue;
      const unsigned peer = 1 - l.who;
      // Each overflow needs a CQ of its own, so a plan has only some.
      if (l.fault == Fault::kCqOverflow && ++overflows > (limits_.minimum ? 2 : 8))
        l.fault = Fault::kLocalKey;
      // A stale key needs many STag slots, or its slot may be in use again.
      if (l.fault == Fault::kWriteStale && limits_.minimum)
        l.fault = Fault::kWriteKey;  // with 64 slots the key may soon be valid again
      if (l.fault == Fault::kNoReceive) l.spare[peer] = 0;
      if (l.fault == Fault::kTooLong || l.fault == Fault::kReceiveKey ||
          l.fault == Fault::kInvalidateKey)
        l.spare[peer] = std::max(l.spare[peer], 1u);
      if (l.fault == Fault::kTooLong) l.length += kSpareBytes;
      if (l.fault == Fault::kReceiveKey || l.fault == Fault::kInvalidateKey)
        l.length = 1 + l.length % kSpareBytes;
    }
  }

  /// Draws which sides of a life request Flush, and which landing regions are persistent.
  void flush(Life& l) {
    l.asks_flush = {true, true};
    const bool is_agreed = flushes_.percent(kAgreedPercent);
    const uint64_t who = flushes_.below(3);  // only this side requests Flush, or (2) neither
    const bool needs_it = l.end == End::kFault && needs_extensions(l.fault);
    const bool is_off = l.end == End::kFault && needs_no_extensions(l.fault);
    if (is_off || (!is_agreed && !needs_it)) l.asks_flush = {who == 0, who == 1};
    for (const Side side : {kClient, kServer})
      l.persistent[side] = flushes_.percent(kPersistentPercent) && limits_.has_persistence[side];
  }

  uint32_t length_of(SizeClass c, bool untagged) {
    const uint32_t full = full_payload(plan_.mtu, plan_.markers, untagged);
    const auto between = [&](uint32_t low, uint32_t high) {
      return static_cast<uint32_t>(rng_.between(low, high));
    };
    switch (c) {
      case SizeClass::k0:
        return 0;
      case SizeClass::k1:
        return 1;
      case SizeClass::k2To63:
        return between(2, 63);
      case SizeClass::k64:
        return 64;
      case SizeClass::k65ToMulpdu:
        return rng_.percent(50) ? between(65, 256) : between(65, full - 1);
      case SizeClass::kMulpdu:
        return full;
      case SizeClass::kMulpdu1:
        return full + 1;
      case SizeClass::k4K:
        return between(kPage - 1, kPage + 1);
      case SizeClass::kTo64K:
        return rng_.percent(kLongPercent) ? between(full + 2, kPages64K)
                                          : between(full + 2, std::min(kPages64K, 3 * full));
      case SizeClass::kLarge:
        return between(kPages64K + 1, limits_.minimum ? kMostLarge * 2 / 3 : kMostLarge);
    }
    return 0;
  }

  Piece in_source(uint32_t length) {
    const uint32_t room = kSourceBytes - length;
    auto at = static_cast<uint32_t>(rng_.below(room + 1));
    if (rng_.percent(40))
      at = at / kPage * kPage;  // starts at a page
    else if (rng_.percent(30) && at / kPage * kPage >= length)
      at = at / kPage * kPage - length;  // ends at a page
    else if (rng_.percent(30))
      at = at / 64 * 64;
    return {at, length};
  }

  /// Cuts a length into pieces; returns their lengths.
  std::vector<uint32_t> cuts(uint32_t length, uint32_t pieces) {
    std::vector<uint32_t> at;
    for (uint32_t i = 1; i < pieces; ++i)
      at.push_back(static_cast<uint32_t>(rng_.below(length + 1)));
    if (rng_.percent(25)) {
      for (uint32_t& a : at) a = a / 64 * 64;
    }
    std::sort(at.begin(), at.end());
    at.push_back(length);
    uint32_t before = 0;
    for (uint32_t& a : at) a -= std::exchange(before, a);
    return at;
  }

  void operation(uint32_t n, uint32_t count) {
    // Operation 0 opens no loan, since 0 in Operation::after means none. Operation count / 2 is the
    // large one.
    if (has_loans_ && n != 0 && n != count / 2 && loan(n)) return;
    Operation o;
    o.number = n;
    o.side = rng_.percent(50) ? kClient : kServer;
    o.qp = static_cast<uint32_t>(rng_.below(plan_.qps));
    if (plan_.life[o.qp].one_way) o.side = plan_.life[o.qp].who;
    const bool again = hot_ && n != count / 2 && atomics_.percent(kAgainPercent);
    if (again) o.side = hot_->side, o.qp = hot_->qp;
    o.op = static_cast<Op>(rng_.below(4));
    o.size_class = static_cast<SizeClass>(rng_.below(9));  // all but kLarge
    if (count >= 100 &&
        // The large operation: the seed selects a Send, solicited Send, Write or Read.
        n == count / 2) {
      o.size_class = SizeClass::kLarge;
      o.op = static_cast<Op>(plan_.seed / 2 % 4);
    } else if (again) {
      o.op = any(atomics_, std::array{Op::kFetchAdd, Op::kCmpSwap, Op::kAtomicWrite, Op::kRead});
      o.size_class = atomics_.percent(20) && o.op == Op::kRead ? SizeClass::k1 : SizeClass::k2To63;
    } else if (plan_.life[o.qp].has_flush() && flushes_.percent(kFlushPercent)) {
      o.op = Op::kFlush;
    } else if (plan_.life[o.qp].has_flush() && atomics_.percent(kAtomicPercent)) {
      o.op = any(atomics_, std::array{Op::kFetchAdd, Op::kCmpSwap, Op::kAtomicWrite});
      o.size_class = SizeClass::k2To63;
    }
    immediate(o);
    const unsigned peer = 1 - o.side;
    // Bytes of all landing regions of a side. A QP that has used its part draws short messages.
    const uint32_t budget = limits_.minimum ? 256 * kPage : 4096 * kPage;
    if (!again && !o.is_word() &&
        (landing_[0][o.qp].used() > budget / plan_.qps ||
         landing_[1][o.qp].used() > budget / plan_.qps))
      o.size_class = static_cast<SizeClass>(rng_.below(5));
    if (o.is_immediate_alone()) o.size_class = SizeClass::k0;
    o.length = o.is_word() ? kWord : length_of(o.size_class, o.is_send());
    const auto crossing = static_cast<Crossing>(rng_.below(3));
    const QpShape& shape = plan_.shape[o.side][o.qp];
    o.fence = rng_.percent(15);
    if (o.op == Op::kRead) {
      read(o, crossing, again);
    } else if (o.op == Op::kFlush) {
      flush(o, crossing);
    } else if (o.is_word()) {
      word(o, again);
    } else {
      if (!o.is_immediate_alone()) {
        o.is_inline = o.length <= shape.max_inline && rng_.percent(40);
        gather(o, shape);
      }
      if (o.takes_receive()) receive(o, o.is_send() ? o.length : 0, crossing, landing_[peer][o.qp]);
      if (o.op == Op::kWrite) {
        o.remote = landing_[peer][o.qp].take(rng_, o.length, crossing);
        o.remote_landing = true;
        written_[o.side][o.qp].push_back(o.remote);
      }
    }
    if (!borrow(o)) lend(o, shape);
    post(o, shape);
    if (o.is_word()) hot_ = {o.side, o.qp, o.remote.offset};
    if (!o.is_word() && !again) hot_.reset();
    plan_.ops.push_back(std::move(o));
  }

  /// Chooses a word. A word gets several operations: an old word is chosen more often than a new
  /// one.
  void word(Operation& o, bool again) {
    const unsigned peer = 1 - o.side;
    auto& words = words_[o.side][o.qp];
    const auto& written = written_[o.side][o.qp];
    const auto own = static_cast<uint32_t>(
        std::ranges::count_if(words, [](const Word& w) { return !w.of_write; }));
    Word w;
    if (again) w = *std::ranges::find(words, hot_->offset, &Word::offset);
    if (!again && !written.empty() && words.size() < own + kWrittenWords && atomics_.percent(35)) {
      const Piece& p = written[atomics_.below(written.size())];
      const uint32_t first = (p.offset + kWord - 1) / kWord * kWord, end = p.offset + p.length;
      if (first + kWord <= end)
        w = {first + kWord * static_cast<uint32_t>(atomics_.below((end - first) / kWord)), true};
      if (w.of_write && std::ranges::find(words, w.offset, &Word::offset) == words.end())
        words.push_back(w);
    }
    if (again || w.of_write) {
      // w is already chosen
    } else if (words.empty() || (own < kOwnWords && atomics_.percent(20))) {
      w.offset = landing_[peer][o.qp].word(atomics_).offset;
      words.push_back(w);
    } else {
      w = words[atomics_.below(words.size())];
    }
    o.remote = {w.offset, kWord};
    o.remote_landing = true;
    o.of_write = w.of_write;
    const auto draw = [&] { return atomics_.next(); };
    o.data = draw();
    o.masked = o.fetches() && atomics_.percent(40);
    if (o.op == Op::kCmpSwap) {
      o.matches = atomics_.percent(60);
      o.mask = ~uint64_t{0};
      if (o.masked) o.mask = draw() | draw(), o.compare_mask = draw() & draw();
    } else if (o.masked) {
      o.mask = draw() & draw() & draw();
    }
    if (!o.fetches()) return;
    o.local = {landing_[o.side][o.qp].word(atomics_)};
    o.local_landing = true;
    if (atomics_.percent(30)) fetched_[o.side][o.qp].push_back(o.local[0]);
  }

  void read(Operation& o, Crossing crossing, bool again) {
    const auto& words = words_[o.side][o.qp];
    if (!words.empty() && o.length != 0 && o.length < kBeat && (again || atomics_.percent(50))) {
      const uint32_t word = again ? hot_->offset : words[atomics_.below(words.size())].offset;
      o.length = std::min(o.length, kWord);
      o.remote = {word + static_cast<uint32_t>(atomics_.below(kWord - o.length + 1)), o.length};
      o.remote_landing = o.of_word = true;
    }
    o.local = {landing_[o.side][o.qp].take(rng_, o.length, crossing)};
    o.local_landing = true;
    auto& written = written_[o.side][o.qp];
    if (!o.remote_landing && !written.empty() && o.length != 0 &&
        rng_.percent(30)) {  // bytes of an earlier Write
      const Piece& w = written[rng_.below(written.size())];
      if (w.length >= o.length) {
        o.remote = {w.offset + static_cast<uint32_t>(rng_.below(w.length - o.length + 1)),
                    o.length};
        o.remote_landing = true;
      }
    }
    if (!o.remote_landing) o.remote = in_source(o.length);
    fetched_[o.side][o.qp].push_back(o.local[0]);
  }

  void flush(Operation& o, Crossing crossing) {
    const unsigned peer = 1 - o.side;
    const auto& written = written_[o.side][o.qp];
    o.remote_landing = true;
    o.remote = landing_[peer][o.qp].over(flushes_, o.length, crossing);
    if (!written.empty() && flushes_.percent(50)) {  // bytes of the last Write
      const Piece& w = written.back();
      if (w.length >= o.length)
        o.remote.offset = w.offset + static_cast<uint32_t>(flushes_.below(w.length - o.length + 1));
    }
    o.flush_type =
        plan_.life[o.qp].persistent[peer] ? static_cast<uint8_t>(1 + flushes_.below(3)) : kVisible;
  }

  void gather(Operation& o, const QpShape& shape) {
    constexpr std::array<std::array<uint32_t, 2>, 5> kRange = {
        {{1, 1}, {2, 3}, {4, 7}, {8, 13}, {14, 14}}};
    const auto range = any(rng_, kRange);
    const auto pieces =
        std::min(shape.max_sge, static_cast<uint32_t>(rng_.between(range[0], range[1])));
    const auto& fetched = fetched_[o.side][o.qp];
    if (!o.is_inline && o.fence && !fetched.empty() && fetched.back().length >= o.length &&
        rng_.percent(70))
      o.local_landing = true;  // bytes that a Read or atomic fetched
    for (const uint32_t length : cuts(o.length, pieces)) {
      if (o.local_landing) {
        o.local.push_back({fetched.back().offset + static_cast<uint32_t>(rng_.below(
                                                       fetched.back().length - length + 1)),
                           length});
      } else {
        o.local.push_back(in_source(length));
      }
    }
  }

  /// Immediate Data, in half of the plans: a part of the Sends, and of the Writes whose queue has
  /// room for two entries.
  void immediate(Operation& o) {
    const bool is_large = o.size_class == SizeClass::kLarge;
    const bool has_room = plan_.shape[o.side][o.qp].send_depth >= 4;
    if (!has_immediates_ || is_large || !(o.is_send() || (o.op == Op::kWrite && has_room))) return;
    o.immediate = immediates_.percent(o.is_send() ? 20 : 40);
    if (o.immediate) o.data = immediates_.next();
  }

  /// Bound STags, in half of the plans. A Send that invalidates one is fenced, so it waits for the
  /// requests that need the STag: the peer looks a Read's source up when its response is due.
  void lend(Operation& o, const QpShape& shape) {
    if (!has_keys_) return;
    const unsigned peer = 1 - o.side;
    const uint32_t most = limits_.minimum ? kMostKeysMinimum : kMostKeys;
    const auto next = [&](unsigned side) {
      uint32_t& count = plan_.keys[side][o.qp];
      return count < most ? ++count : 0;
    };
    if (o.op == Op::kRead && shape.send_depth >= 4 && keys_.percent(20)) o.sink_key = next(o.side);
    uint32_t& lent = lent_[peer][o.qp];
    const bool invalidates = o.is_send() && !o.immediate && keys_.percent(30);
    const bool uses = o.remote_landing && keys_.percent(60);
    if (!invalidates && !uses) return;
    if (lent == 0) lent = next(peer);
    o.key = lent;
    if (!invalidates || lent == 0) return;
    lent = 0;
    o.fence = true;
  }

  /// A loan, as seen by its owner. is_own: for the owner's requests. is_returned: the peer has
  /// returned it, and the owner has not closed it.
  struct Debt {
    bool is_open = false, is_own = false, is_returned = false;
    size_t opened = 0;  // index of the operation that has opened it
  };
  struct Owner {
    Side side;
    uint32_t qp, loan;
  };

  /// Opens or ends a loan, in half of the plans. These operations replace others, and draw from a
  /// separate generator, so that the remaining operations do not change.
  bool loan(uint32_t n) {
    std::optional<Owner> at;
    Op op = Op::kLocalInv;
    if (!returned_.empty() && loans_.percent(kReturnedPercent)) {
      at = returned_.front();
      returned_.erase(returned_.begin());
    } else if (!over_.empty() && loans_.percent(kReopenedPercent)) {
      at = over_.front();
      over_.erase(over_.begin());
      if (debts_[at->side][at->qp][at->loan].is_open) return false;
      op = opener(*at);
    } else if (loans_.percent(kLoanPercent)) {
      const auto side = loans_.percent(50) ? kClient : kServer;
      at = Owner{side, static_cast<uint32_t>(loans_.below(plan_.qps)), 0};
      const Life& l = plan_.life[at->qp];
      if (l.one_way) at->side = l.who;
      auto& all = debts_[at->side][at->qp];
      at->loan =
          static_cast<uint32_t>(loans_.below(limits_.minimum ? kMostLoansMinimum : kMostLoans));
      at->loan = std::min(at->loan, static_cast<uint32_t>(all.size()));
      if (at->loan == all.size()) {
        all.emplace_back();
        plan_.loans[at->side][at->qp].push_back(kind_of_loan(l.one_way, at->loan));
      }
      const Debt& debt = all[at->loan];
      if (debt.is_open && !debt.is_own && !debt.is_returned) return false;
      if (!all[at->loan].is_open) op = opener(*at);
    }
    if (!at) return false;
    Debt& debt = debts_[at->side][at->qp][at->loan];
    const bool may_end = debt.is_open && (debt.is_own || debt.is_returned);
    if (op == Op::kLocalInv && !may_end) return false;  // the loan has ended meanwhile
    const bool is_window1 = plan_.loans[at->side][at->qp][at->loan] == Loan::kWindow1;
    if (op == Op::kLocalInv && is_window1) op = Op::kBindMw;
    Operation o;
    o.number = n;
    o.side = at->side;
    o.qp = at->qp;
    o.op = op;
    o.loan = at->loan + 1;
    o.signaled = true;
    o.data = loans_.next();
    o.unbinds = is_window1 && debt.is_open && loans_.percent(50);
    if (o.opens()) {
      o.is_own = plan_.life[o.qp].one_way || (op == Op::kRegMr && loans_.percent(kOwnPercent));
      debt = {.is_open = true, .is_own = o.is_own, .opened = plan_.ops.size()};
    } else {
      debt = {};
      over_.push_back(*at);
    }
    const bool is_fenced = loans_.percent(15);
    o.fence = op == Op::kLocalInv || is_fenced;
    const QpShape& shape = plan_.shape[o.side][o.qp];
    auto& s = state_[o.side][o.qp];
    s.silent = 0;
    o.joined = s.any && s.group + o.entries() <= shape.send_depth / 2 && loans_.percent(40);
    group(o, s);
    plan_.ops.push_back(std::move(o));
    return true;
  }

  /// Only the peer uses windows. A minimum build has page-list entries for one fast registration.
  Loan kind_of_loan(bool one_way, uint32_t nth) {
    if (one_way || (loans_.percent(50) && !(limits_.minimum && nth != 0))) return Loan::kFast;
    return loans_.percent(50) ? Loan::kWindow1 : Loan::kWindow2;
  }
  Op opener(const Owner& at) const {
    return plan_.loans[at.side][at.qp][at.loan] == Loan::kFast ? Op::kRegMr : Op::kBindMw;
  }

  /// Chooses a loan for a request, for the sink of a Read or atomic, or for a Send that ends it.
  /// Returns false if the operation uses none.
  bool borrow(Operation& o) {
    if (!has_loans_) return false;
    const unsigned peer = 1 - o.side;
    const auto open_of = [&](unsigned side, bool is_own) -> uint32_t {
      const auto& all = debts_[side][o.qp];
      for (uint32_t k = 0; k < all.size(); ++k)
        if (all[k].is_open && !all[k].is_returned && all[k].is_own == is_own) return k + 1;
      return 0;
    };
    if (const uint32_t own = open_of(o.side, true);
        own != 0 && o.has_sink() && loans_.percent(kUsePercent) &&
        extend(debts_[o.side][o.qp][own - 1], {o.local[0].offset, o.length}))
      o.sink_loan = own;
    const uint32_t lent = open_of(peer, false);
    if (lent == 0) return o.sink_loan != 0;
    Debt& debt = debts_[peer][o.qp][lent - 1];
    if (o.is_send()) {
      if (o.immediate || !loans_.percent(kEndPercent)) return o.sink_loan != 0;
      debt.is_open = false;
      o.returns = loans_.percent(50) || plan_.loans[peer][o.qp][lent - 1] == Loan::kWindow1;
      if (o.returns) {
        debt.is_open = debt.is_returned = true;
        returned_.push_back({static_cast<Side>(peer), o.qp, lent - 1});
      } else {
        over_.push_back({static_cast<Side>(peer), o.qp, lent - 1});
      }
      o.fence = true;
    } else if (!o.remote_landing || !loans_.percent(kUsePercent) ||
               !extend(debt, {o.remote.offset, o.length})) {
      return o.sink_loan != 0;
    }
    o.loan = lent;
    return true;
  }

  /// The loan's range grows to hold these bytes. A minimum build has few page-list entries.
  /// Then returns false if the range would grow beyond them.
  bool extend(const Debt& debt, const Piece& p) {
    Piece& range = plan_.ops[debt.opened].range;
    const uint32_t end = p.offset + std::max(p.length, 1u);
    const uint32_t from = range.length == 0 ? p.offset : std::min(p.offset, range.offset);
    const uint32_t to = range.length == 0 ? end : std::max(end, range.offset + range.length);
    if (limits_.minimum && to - from > kLoanPagesMinimum * kPage) return false;
    range = {from, to - from};
    return true;
  }

  /// Sets the range of a loan: the used bytes, or a larger range.
  void cover(Operation& o) {
    const uint32_t bytes = plan_.landing_bytes[o.side][o.qp];
    Piece& r = o.range;
    if (r.length == 0)
      r = {static_cast<uint32_t>(loans_.below(kPage)),
           1 + static_cast<uint32_t>(loans_.below(kPage))};
    const uint64_t how = loans_.below(4);
    if (how == 0 && !limits_.minimum) r = {0, bytes};
    if (how == 1) {
      const uint32_t from =
          r.offset - std::min(r.offset, static_cast<uint32_t>(loans_.below(kPage)));
      const uint32_t to =
          std::min(bytes, r.offset + r.length + static_cast<uint32_t>(loans_.below(kPage)));
      r = {from, to - from};
    }
  }

  /// Allocates the pieces of the receive that `o` takes: 1 to 3 for `bytes`, and sometimes one more
  /// with room after the message.
  void receive(Operation& o, uint32_t bytes, Crossing crossing, Landing& landing) {
    const auto pieces = static_cast<uint32_t>(rng_.between(1, 3));
    for (const uint32_t length : cuts(bytes, pieces)) {
      o.receive.push_back(landing.take(
          rng_, length, o.receive.empty() ? crossing : static_cast<Crossing>(rng_.below(3))));
    }
    if (rng_.percent(30))
      o.receive.push_back(
          {landing.take(rng_, 1 + static_cast<uint32_t>(rng_.below(64)), Crossing::kInside)});
    if (o.receive.size() > 3) {  // more than max_recv_sge: without room after the message
      landing.take(rng_, 0, Crossing::kInside);
      o.receive.pop_back();
    }
  }

  /// Signals requests often enough that unsignalled ones never fill the queue.
  void post(Operation& o, const QpShape& shape) {
    auto& s = state_[o.side][o.qp];
    const uint32_t half = shape.send_depth / 2;
    o.signaled = rng_.percent(60) || s.silent + o.entries() >= half;
    s.silent = o.signaled ? 0 : s.silent + o.entries();
    const uint32_t receives = plan_.shape[1 - o.side][o.qp].recv_depth;
    o.joined = s.any && s.group + o.entries() <= half &&
               s.sends + (o.takes_receive() ? 1 : 0) <= receives && rng_.percent(30);
    group(o, s);
    // Bytes of the WQE after its header: an SGE has 16.
    const uint32_t body = o.is_inline ? o.length : static_cast<uint32_t>(o.local.size()) * 16;
    o.push = shape.push && !o.joined && o.entries() == 1 && body <= kPushBody;
    if (!o.joined && rng_.percent(6)) o.pause_ns = static_cast<uint32_t>(rng_.below(3000));
  }

  /// A send queue while its requests are drawn. silent: entries since the last signalled request;
  /// group, sends: entries of the current doorbell group, and receives that it takes; last: index
  /// of the last request, if there is `any`.
  struct Queue {
    uint32_t silent = 0, group = 0, sends = 0;
    size_t last = 0;
    bool any = false;
  };
  /// Adds `o` to the current doorbell group, or starts a new group. Only a request that is alone in
  /// its group may be pushed.
  void group(const Operation& o, Queue& s) {
    s.group = (o.joined ? s.group : 0) + o.entries();
    s.sends = (o.joined ? s.sends : 0) + (o.takes_receive() ? 1 : 0);
    if (o.joined) plan_.ops[s.last].push = false;
    s.any = true;
    s.last = plan_.ops.size();
  }

  /// A word of the peer's landing region; of_write: it lies in the target of a Write.
  struct Word {
    uint32_t offset = 0;
    bool of_write = false;
  };
  struct Hot {
    Side side;
    uint32_t qp, offset;
  };
  Limits limits_;
  // One generator for each subject, so that a new draw in one does not change the others' plans.
  base::Rng set_, rng_, wires_, lives_, pages_, flushes_, immediates_, atomics_, holds_, keys_,
      loans_, shares_;
  Plan plan_;
  std::array<std::array<Landing, kMaxQps>, 2> landing_{};
  // By side and QP: bytes that its Writes have written, and that its Reads and atomics fetched.
  std::array<std::array<std::vector<Piece>, kMaxQps>, 2> written_{}, fetched_{};
  bool has_immediates_ = immediates_.percent(50);
  bool has_keys_ = keys_.percent(50);
  // The bound STag of a side's landing region that its peer may use, or 0.
  std::array<std::array<uint32_t, kMaxQps>, 2> lent_{};
  bool has_loans_ = loans_.percent(50);
  std::array<std::array<std::vector<Debt>, kMaxQps>, 2> debts_{};  // by owner
  std::vector<Owner> over_;                                        // loans that have ended
  std::vector<Owner> returned_;                                    // loans that a local_inv may end
  std::optional<Hot> hot_;  // of the last operation on a word
  std::array<std::array<std::vector<Word>, kMaxQps>, 2> words_{};
  std::array<std::array<Queue, kMaxQps>, 2> state_{};
};

}  // namespace

Plan generate(uint64_t seed, uint32_t ops, const Limits& limits) {
  Plan p = Generator(seed, limits).make(ops);
  p.mend();
  p.close_qps();
  return p;
}

}  // namespace rnic::app::regress

// llp_if_account: a connection's credit is its limit, minus the bytes granted, plus the bytes
// refunded. A waiting QP is woken by each change that its last lookup may have missed.
//
// The reference counts in 128 bits and never wraps; the limits it sends are its own modulo 2^32.
// phase_i alternates. The test plays three neighbours, on connections with counts just below and
// above 2^31 and 2^32:
//   llp_if_grant  looks up a connection's credit in phase 1. In the next phase 0 it gets the
//                 response and decides: it takes credit, or marks the QP as waiting.
//   the LLP       raises limits.
//   llp_if_tx     has sent an FPDU and refunds the credit that was set aside for it and not needed.
#include "VLlpIfAccount.h"
#include "VLlpIfAccountMin.h"
#include "gen/streams.hpp"
#include "lib/word.hpp"
#include "support/leaf.hpp"
#include "support/rtl_dut.hpp"

namespace {

using namespace rnic;  // NOLINT: a test

using Wide = __int128;
constexpr Wide kTerm = 128;  // TermCredit: bytes of credit that only a Terminate may use
constexpr Wide k31 = Wide{1} << 31, k32 = Wide{1} << 32;
constexpr uint64_t kAfter = 6;  // cycles after a change in which its wake is decided

struct Default {  // sizes.yaml
  using V = VLlpIfAccount;
  static constexpr unsigned kConns = 2048, kQps = 1024, kQpW = 10;
};
struct Minimum {
  using V = VLlpIfAccountMin;
  static constexpr unsigned kConns = 16, kQps = 8, kQpW = 3;
};

template <class B>
class LlpIfAccountTest : public testing::Test {
 protected:
  struct Dut : tb::RtlDut<typename B::V> {
    tb::StreamIn<spec::LlpCredit> credit = RNIC_IN(*this, credit, spec::LlpCredit);
    tb::StreamOut<tb::Word<B::kQpW>> wake{
        *this, "wake",
        tb::pins(this->top().wake_valid_o, this->top().wake_ready_i, this->top().wake_qpn_o)};
  };
  struct Fpdu {
    bool term;
    Wide aside;  // credit set aside for it
  };
  // A change of the credit in cycle `at`: by a new limit (gone 0) or by the refund of one FPDU
  // (gone 1).
  struct Change {
    uint64_t at;
    Wide bytes;
    unsigned gone;
  };
  struct Flag {  // a write of the waiting flag
    uint64_t at;
    bool waits;
  };
  /// planned: the newest limit sent to the leaf. limit: the newest one that the leaf has accepted.
  /// size: credit set aside for each FPDU. worst: the size that the next segment needs.
  struct Conn {
    uint64_t number = 0, qpn = 0;
    Wide limit = 0, planned = 0, granted = 0, refunded = 0, size = 0, worst = 0;
    unsigned given = 0, gone = 0;  // FPDUs granted, refunded
    std::deque<Fpdu> out;          // granted and not refunded
    std::vector<Change> recent;
    std::vector<Flag> flags;
    std::vector<uint64_t> changes;  // their cycles, since the last check_wakes()
    uint64_t wakes = 0;
    bool retry = false;  // woken: some_look() looks up the credit again
    [[nodiscard]] Wide available() const { return limit - granted + refunded; }
    [[nodiscard]] Wide aside() const {
      Wide sum = 0;
      for (const Fpdu& f : out) sum += f.aside;
      return sum;
    }
  };
  // kProbe: only a lookup. kDebit: streaming bytes. kBig: any number of bytes, to move the counts.
  // kClear: the connection is released.
  enum class Op { kProbe, kSegment, kTerm, kDebit, kBig, kClear };
  struct Look {
    Conn* conn = nullptr;
    Op op{};
    Wide bytes = 0;
    uint64_t at = 0;
  };
  struct Refund {
    Conn* conn = nullptr;
    Fpdu fpdu{};
    Wide length = 0;
  };

  Dut dut;
  base::Rng rng = tb::test_rng("credit");
  tb::Pace pace;
  bool running = false, phase = false, acts = true;
  std::vector<Conn> conns;
  std::optional<Look> planned, look;  // a lookup requested by the test; the lookup in progress
  std::optional<Refund> refund;
  std::deque<std::pair<Conn*, Wide>> limits;  // sent
  uint64_t grants = 0;
  tb::Tally met{"need fits exactly",
                "need is one byte short",
                "size fits exactly",
                "size is one byte short",
                "limit beyond 2^32, granted before it",
                "granted passes 2^31",
                "granted passes 2^32",
                "2^31 - 1 available",
                "a look may miss a limit",
                "a look may miss a refund",
                "woken by what the look missed",
                "limit of a connection that is not there",
                "cleared and used again",
                "wakes hold up credit",
                "Terminate",
                "size grows",
                "size may not grow yet",
                "nothing available"};
  tb::PinsPort pins{dut, [this] { drive(); }, [this] { sample(); }};

  void start(tb::Pace p) {
    pace = p;
    running = phase = false;
    acts = true;
    conns.assign(6, {});
    for (size_t i = 0; i < conns.size(); i++) {
      Conn& c = conns[i];
      do c.number = i == 0 ? 0 : i == 1 ? B::kConns - 1 : rng.below(B::kConns);
      while (std::any_of(conns.data(), &c, [&](const Conn& o) { return o.number == c.number; }));
      do c.qpn = rng.below(B::kQps);
      while (std::any_of(conns.data(), &c, [&](const Conn& o) { return o.qpn == c.qpn; }));
      c.worst = some_size();
    }
    planned.reset();
    look.reset();
    refund.reset();
    limits.clear();
    dut.restart(p);
    ASSERT_TRUE(dut.run_until([&] { return dut.top().ready_o != 0; })) << "never ready";
    running = true;
  }
  Wide some_size() {
    return rng.percent(20) ? Wide{0x1ffff} : static_cast<Wide>(rng.between(64, 70'000));
  }

  void send(Conn& c, Wide limit) {
    c.planned = limit;
    limits.emplace_back(&c, limit);
    dut.credit.put({static_cast<uint16_t>(c.number), static_cast<uint32_t>(limit)});
  }

  // Chooses the next limit so that the available credit meets a boundary, at times the maximum.
  void some_limit() {
    Conn& c = conns[rng.below(conns.size())];
    if (rng.percent(5) && B::kConns < 65'536) {
      const auto other = c.number + B::kConns * rng.between(1, 65'536 / B::kConns - 1);
      limits.emplace_back(nullptr, 0);
      dut.credit.put({static_cast<uint16_t>(other), static_cast<uint32_t>(rng.next())});
      met("limit of a connection that is not there");
      return;
    }
    const Wide have = c.planned - c.granted + c.refunded;
    const Wide needs[] = {c.size + kTerm, c.worst + kTerm, kTerm};
    Wide more = 0;
    const uint64_t how = rng.below(100);
    if (how < 60)
      more = needs[rng.below(3)] - 1 + static_cast<Wide>(rng.below(3)) - have;
    else if (how < 63)
      more = room(c);
    else
      more = static_cast<Wide>(rng.below(200'000));
    if (more <= 0 || more > room(c)) return;
    send(c, c.planned + more);
  }

  void some_refund() {
    Conn& c = conns[rng.below(conns.size())];
    if (c.out.empty()) return;
    Refund r{&c, c.out.front(), 0};
    r.length = rng.percent(30)
                   ? r.fpdu.aside
                   : static_cast<Wide>(rng.below(static_cast<uint64_t>(r.fpdu.aside) + 1));
    c.out.pop_front();
    refund = r;
  }
  /// The most that a limit may add: never 2^31 available, even when all credit returns.
  Wide room(const Conn& c) const {
    const Wide back = refund && refund->conn == &c ? refund->fpdu.aside : 0;
    return k31 - 1 - (c.planned - c.granted + c.refunded + c.aside() + back);
  }

  void some_look() {
    Conn* c = &conns[rng.below(conns.size())];
    for (Conn& o : conns) {
      if (o.retry && rng.percent(50)) c = &o;
    }
    c->retry = false;
    Look l{c, Op::kSegment, 0, 0};
    const uint64_t how = rng.below(100);
    if (how < 25) {
      l.op = Op::kProbe;  // any boundary of the available credit
      l.bytes = c->available() - 1 + static_cast<Wide>(rng.below(3));
      if (l.bytes < 0 || l.bytes >= 1 << 18) l.bytes = static_cast<Wide>(rng.below(1 << 18));
    } else if (how < 32) {
      l.op = Op::kTerm;
    } else if (how < 40) {
      l.op = Op::kDebit;
      l.bytes = static_cast<Wide>(rng.below(65'536));
    } else if (how < 44) {
      l.op = Op::kBig;
      l.bytes = std::max<Wide>(0, c->available() - static_cast<Wide>(rng.below(300'000)));
    } else if (how < 50 && over(*c)) {
      l.op = Op::kClear;
    } else if (how < 60 && rng.percent(20)) {
      c->worst = some_size();
    }
    planned = l;
  }

  /// No item of the connection is in flight: the connection may be cleared.
  bool over(const Conn& c) const {
    return c.out.empty() && c.recent.empty() && !(refund && refund->conn == &c) &&
           std::none_of(limits.begin(), limits.end(), [&](auto& l) { return l.first == &c; });
  }

  void drive() {
    auto& t = dut.top();
    t.phase_i = phase;
    t.look_i = t.take_i = t.clear_i = t.wait_we_i = 0;
    tb::set(t.look_conn_i, rng.below(B::kConns));
    tb::set(t.need_i, rng.below(1 << 18));
    tb::set(t.take_bytes_i, rng.next() & 0xffffffff);
    tb::set(t.take_fpdu_i, rng.below(2));
    tb::set(t.take_size_i, rng.below(1 << 17));
    tb::set(t.wait_i, rng.below(2));
    tb::set(t.wait_qpn_i, rng.below(B::kQps));
    if (acts && running) {
      if (dut.credit.size() < 2 && !rng.percent(pace.idle + 30)) some_limit();
      if (!refund && !rng.percent(pace.idle + 20)) some_refund();
      if (!planned && !rng.percent(pace.idle)) some_look();
    }
    t.refund_valid_i = refund.has_value();
    tb::set(t.refund_conn_i, refund ? refund->conn->number : rng.below(B::kConns));
    tb::set(t.refund_length_i, refund ? static_cast<uint64_t>(refund->length) : rng.below(1 << 17));
    tb::set(t.refund_term_i, refund ? refund->fpdu.term : rng.below(2));
    if (!running) return;
    if (phase && planned) {
      look = std::exchange(planned, std::nullopt);
      look->at = dut.now();
      t.look_i = 1;
      tb::set(t.look_conn_i, look->conn->number);
    } else if (!phase && look) {
      decide(*look);
      look.reset();
    }
  }

  // Phase 0: checks the response, then does what llp_if_grant does with it.
  void decide(const Look& l) {
    auto& t = dut.top();
    Conn& c = *l.conn;
    const bool grows = c.worst > c.size;
    const Wide need = l.op == Op::kTerm      ? kTerm
                      : l.op == Op::kSegment ? c.worst + kTerm
                      : l.op == Op::kBig     ? 0
                                             : l.bytes;
    tb::set(t.need_i, static_cast<uint64_t>(need));
    t.eval();
    // The response may or may not include a change in the lookup's cycle or the cycle before, and
    // includes no later one. So the credit is `surely` or more, and `at_most` or less.
    Wide surely = c.available();
    unsigned surely_gone = c.gone;
    for (const Change& change : c.recent) {
      if (change.at + 2 <= l.at) continue;
      if (change.at <= l.at)
        met(change.gone != 0 ? "a look may miss a refund" : "a look may miss a limit");
      surely -= change.bytes;
      surely_gone -= change.gone;
    }
    Wide at_most = surely;
    unsigned at_most_gone = surely_gone;
    for (const Change& change : c.recent) {
      if (change.at + 2 <= l.at || change.at > l.at) continue;
      at_most += change.bytes;
      at_most_gone += change.gone;
    }
    const auto judge = [&](const char* what, bool got, Wide wanted) {
      ASSERT_TRUE(got || surely < wanted) << what << " of " << text(wanted) << state(c);
      ASSERT_FALSE(got && at_most < wanted) << what << " of " << text(wanted) << state(c);
      if (surely != at_most) return;
      met("nothing available", surely == 0);
      met("2^31 - 1 available", surely == k31 - 1);
      const bool is_need = what[0] == 'n';
      if (surely == wanted) met(is_need ? "need fits exactly" : "size fits exactly");
      if (surely + 1 == wanted) met(is_need ? "need is one byte short" : "size is one byte short");
      met("limit beyond 2^32, granted before it", c.limit / k32 != (c.granted - c.refunded) / k32);
    };
    judge("need", t.fits_need_o != 0, need);
    judge("size", t.fits_size_o != 0, c.size + kTerm);
    ASSERT_EQ(t.size_o, static_cast<uint64_t>(c.size)) << state(c);
    ASSERT_TRUE(t.idle_o != 0 || c.given != surely_gone) << state(c);
    ASSERT_TRUE(t.idle_o == 0 || c.given == at_most_gone) << state(c);

    bool waits = false;
    Wide bytes = 0;
    if (l.op == Op::kSegment) {  // the size may grow only while no FPDU is outstanding (idle)
      const bool idle = t.idle_o != 0;
      const bool enough = grows ? idle && t.fits_need_o != 0 : t.fits_size_o != 0;
      met("size may not grow yet", grows && !idle);
      met("size grows", grows && enough && c.size != 0);
      const Wide aside = grows && idle ? c.worst : c.size;
      waits = !enough;
      if (enough) take(c, bytes = aside, true, aside);
      if (enough) c.out.push_back({false, aside});
    } else if (l.op == Op::kTerm) {
      waits = t.fits_need_o == 0;
      if (!waits) take(c, bytes = kTerm, true, c.size);
      if (!waits) c.out.push_back({true, kTerm}), met("Terminate");
    } else if (l.op == Op::kDebit && t.fits_need_o != 0) {
      take(c, bytes = l.bytes, false, c.size);
    } else if (l.op == Op::kBig && surely >= l.bytes) {
      take(c, bytes = l.bytes, false, c.size);
    } else if (l.op == Op::kClear && over(c)) {
      t.clear_i = 1;
      met("cleared and used again", c.granted != 0);
      c.limit = c.planned = c.granted = c.refunded = c.size = 0;
      c.given = c.gone = 0;
    }
    if (l.op == Op::kSegment || l.op == Op::kTerm) {
      t.wait_we_i = 1;
      t.wait_i = waits;
      tb::set(t.wait_qpn_i, c.qpn);
      c.flags.push_back({dut.now(), waits});
    }
  }
  void take(Conn& c, Wide bytes, bool fpdu, Wide size) {
    auto& t = dut.top();
    t.take_i = 1;
    tb::set(t.take_bytes_i, static_cast<uint64_t>(bytes));
    t.take_fpdu_i = fpdu;
    tb::set(t.take_size_i, static_cast<uint64_t>(size));
    met("granted passes 2^31", (c.granted + bytes) / k31 != c.granted / k31);
    met("granted passes 2^32", (c.granted + bytes) / k32 != c.granted / k32);
    c.granted += bytes;
    c.size = size;
    c.given += fpdu ? 1 : 0;
    grants += fpdu ? 1 : 0;
  }

  void sample() {
    if (!running) return;
    auto& t = dut.top();
    const uint64_t now = dut.now();
    if (dut.credit.taken()) {
      const auto [c, limit] = limits.front();
      limits.pop_front();
      if (c != nullptr) change(*c, {now, limit - c->limit, 0}), c->limit = limit;
    } else {
      met("wakes hold up credit", t.credit_valid_i != 0 && phase && t.credit_ready_o == 0);
    }
    if (refund && t.refund_ready_o != 0) {
      Conn& c = *refund->conn;
      const Wide back = refund->fpdu.aside - refund->length;
      change(c, {now, back, 1});
      c.refunded += back;
      c.gone++;
      refund.reset();
    }
    for (Conn& c : conns)
      std::erase_if(c.recent, [&](const Change& change) { return change.at + 4 < now; });
    while (!dut.wake.empty()) {
      const uint64_t qpn = dut.wake.items().front().value;
      dut.wake.items().pop_front();
      const auto c =
          std::find_if(conns.begin(), conns.end(), [&](auto& o) { return o.qpn == qpn; });
      ASSERT_NE(c, conns.end()) << "QP " << qpn << " was woken and never waited";
      c->wakes++;
      c->retry = true;
    }
    phase = !phase;
  }
  void change(Conn& c, Change change) {
    c.recent.push_back(change);
    c.changes.push_back(change.at);
  }

  // When all items have drained: each change while its connection waited caused one wake.
  void check_wakes() {
    acts = false;
    refund_all();
    dut.wake.stall(0);
    dut.settle(40);
    dut.pace(pace);
    acts = true;
    for (Conn& c : conns) {
      uint64_t must = 0, may = 0;
      for (uint64_t at : c.changes) {
        // before: the flag as written until cycle at + 2. seen_one, seen_none: a write after that
        // sets or clears the flag, before the wake is decided (at + kAfter).
        bool before = false, seen_one = false, seen_none = false;
        uint64_t last = 0;
        for (const Flag& f : c.flags) {
          if (f.at <= at + 2)
            before = f.waits, last = f.at;
          else if (f.at <= at + kAfter)
            (f.waits ? seen_one : seen_none) = true;
        }
        if (before && !seen_none) {
          must++;
          met("woken by what the look missed", last > at);
        } else if (before || seen_one || last > at) {
          may++;
        }
      }
      ASSERT_GE(c.wakes, must) << "a QP that waits was forgotten; may be woken " << may << state(c);
      ASSERT_LE(c.wakes, must + may) << "woken without a reason" << state(c);
      c.wakes = 0;
      c.changes.clear();
      c.flags.erase(c.flags.begin(), c.flags.empty() ? c.flags.end() : c.flags.end() - 1);
    }
  }
  void refund_all() {
    while (refund && !this->HasFatalFailure()) dut.cycle();
  }

  static std::string text(Wide v) {
    return fmt::format("{}2^32 + {}", static_cast<int64_t>(v / k32), static_cast<int64_t>(v % k32));
  }
  static std::string state(const Conn& c) {
    return fmt::format(
        " on connection {}: limit {}, granted {}, refunded {}, size {}, FPDUs {}, {}", c.number,
        text(c.limit), text(c.granted), text(c.refunded), text(c.size), c.given, c.gone);
  }

  /// Advances a connection to just before a count, by credit and debits that need no FPDU.
  void move_to(Conn& c, Wide target) {
    acts = false;
    while (c.granted < target && !this->HasFatalFailure()) {
      const Wide step = std::min<Wide>(target - c.granted, 1 << 30);
      if (c.planned < c.granted + step) send(c, c.granted + step);
      dut.run_until([&] { return limits.empty(); }, 1000);
      dut.cycles(4);
      planned = Look{&c, Op::kBig, step, 0};
      dut.run_until([&] { return !planned && !look; }, 1000);
      dut.cycles(2);
    }
    acts = true;
  }
};

using Builds = testing::Types<Default, Minimum>;
TYPED_TEST_SUITE(LlpIfAccountTest, Builds);

TYPED_TEST(LlpIfAccountTest, CreditIsExact) {
  tb::each_pace([&](tb::Pace pace) {
    this->start(pace);
    const Wide bases[] = {0, k31 - 100'000, k32 - 100'000, k32 + k31 - 1, 2 * k32 - 5, 0};
    // Each connection begins at another count of granted bytes.
    for (size_t i = 0; i < this->conns.size(); i++) {
      this->move_to(this->conns[i], bases[i]);
      ASSERT_GE(this->conns[i].granted, bases[i]) << "credit is not seen";
    }
    for (int i = 0; i < 40 && !this->HasFatalFailure(); i++) {
      if (i % 4 == 0) this->dut.wake.stall(99);
      this->dut.cycles(250);
      this->check_wakes();
    }
  });
  if (this->HasFatalFailure()) return;
  EXPECT_GT(this->grants, 1000U);
  this->met.expect_all();
}

// All granted credit returns, so the sum of refunds passes 2^31 and 2^32, and the count of FPDUs
// passes 4096 several times. The credit is enough for only one FPDU at a time.
TYPED_TEST(LlpIfAccountTest, RefundsRunRound) {
  using Op = typename TestFixture::Op;
  this->start({});
  this->acts = false;
  auto& c = this->conns[2];
  c.worst = 0x1ffff;
  this->send(c, c.worst + kTerm);
  this->dut.cycles(8);
  while (c.refunded < k32 + c.worst && !this->HasFatalFailure()) {
    this->planned = {&c, Op::kSegment, 0, 0};
    this->dut.cycles(4);
    ASSERT_EQ(c.out.size(), 1U) << this->state(c);
    this->refund = {&c, c.out.front(), 0};
    c.out.pop_front();
    this->dut.cycles(4);
    ASSERT_FALSE(this->refund);
    // One byte more than available does not fit.
    if (c.given % 64 == 0 || c.refunded % k31 < 2 * c.worst) {
      for (Wide more : {0, 1}) {
        this->planned = {&c, Op::kProbe, c.worst + kTerm + more, 0};
        this->dut.cycles(4);
      }
    }
  }
  EXPECT_GT(c.given, 8 * 4096U);
}

}  // namespace

// qp_sq_fetch: announced units are in the prefetch buffer before the QP is kicked, each unit in its
// slot, across the end of the ring and across the wrap of the 16-bit indices.
//
// The reference is the ring itself: the bytes of unit i of a QP depend only on its index and its
// QP. A unit of the wrong slot, QP or lap is therefore detected when it is taken. The fetches are
// checked against the header's rules: never past the announced units, the ring's end or the
// buffer's room; at most four reads in flight. With one operation at a time the length of each read
// is known exactly.
//
// Pins of the leaf that are no streams, by their neighbour:
//   qp_doorbell  prod_* writes the producer index; push_* offers one or two units that the doorbell
//                carries. The leaf takes a push, whether its units enter the buffer or not.
//   qp_emit      head_* writes the index of the next unit to be issued: earlier slots are free
//   qp_pick      req_* requests a fetch for a QP. From qp_state, with req_barrier_i, it is a
//                barrier: barrier_done_o reports it when the reads before it have come.
//   qp_parse     unit_re_i reads a unit of the buffer; unit_o has it one cycle later
//   qp_state     init_* creates a QP: address and log2 of the units of its ring
//   to qp_pick   arr_* writes the fetch state after each operation: asked (fetched, or requested),
//                arrived (in the buffer), fail (a read has failed), full (four reads in flight)
#include <cstring>

#include "VQpSqFetch.h"
#include "VQpSqFetchMin.h"
#include "gen/streams.hpp"
#include "lib/word.hpp"
#include "support/leaf.hpp"
#include "support/rtl_dut.hpp"

namespace {

using namespace rnic;  // NOLINT: a test

struct Default {  // sizes.yaml
  using V = VQpSqFetch;
  static constexpr unsigned kQps = 1024, kQpnW = 10, kPre = 32;
};
struct Minimum {
  using V = VQpSqFetchMin;
  static constexpr unsigned kQps = 8, kQpnW = 3, kPre = 4;
};

using Unit = std::array<uint8_t, 64>;
/// The bytes of a unit: random, but fixed for each QP, life and index.
Unit unit_of(uint64_t qpn, uint64_t life, uint64_t index) {
  base::Rng rng(qpn << 40 ^ life << 20 ^ index);
  Unit u;
  for (size_t i = 0; i < 64; i += 8) {
    const uint64_t x = rng.next();
    std::memcpy(u.data() + i, &x, 8);
  }
  return u;
}

template <class B>
class QpSqFetchTest : public testing::Test {
 protected:
  static constexpr uint64_t kQuarter = B::kPre / 4;
  struct Dut : tb::RtlDut<typename B::V> {
    tb::StreamOut<spec::SqRdReq> read = RNIC_OUT(*this, sq_rd_req, spec::SqRdReq);
    tb::StreamIn<spec::SqRdHdr> hdr = RNIC_IN(*this, sq_rd_hdr, spec::SqRdHdr);
    tb::StreamIn<spec::Beat> beat = RNIC_IN(*this, sq_rd, spec::Beat);
    tb::StreamOut<tb::Word<B::kQpnW>> kick{
        *this, "kick",
        tb::pins(this->top().kick_valid_o, this->top().kick_ready_i, this->top().kick_qpn_o)};
  };
  // Ring indices. prod: announced. asked: fetched or requested by the leaf. arrived: in the
  // prefetch buffer. head: next unit to be issued. alive: created. closing: the test requests a
  // barrier for the QP, then creates it again. want_kicks: kicks that must come.
  struct Qp {  // these counters do not wrap; the RTL's are modulo 2^16
    uint64_t qpn = 0, life = 0, base = 0, log = 2;
    uint64_t prod = 0, asked = 0, arrived = 0, head = 0,
             told = 0;  // told: cycle of the last change of arrived
    unsigned reads = 0;
    bool fail = false, alive = false, closing = false;
    uint64_t kicks = 0, want_kicks = 0;
    [[nodiscard]] uint64_t size() const { return uint64_t{1} << log; }
  };
  struct Read {
    Qp* qp;
    uint64_t first, count;
    bool fails = false;
    uint64_t barriers = 0;  // barriers outstanding when it was sent
  };
  struct Push {
    Qp* qp;
    uint64_t first, count;
    bool offered = false;
  };
  struct Request {
    Qp* qp;  // null: a barrier
  };
  struct Taken {
    Qp* qp;
    uint64_t index;
  };

  Dut dut;
  base::Rng rng = tb::test_rng("units");
  tb::Pace pace;
  bool running = false, acts = false;
  unsigned error_percent = 2;
  std::vector<Qp> qps;
  std::deque<Read> to_leave, out, coming;  // reads: decided; sent; answered by the test
  std::optional<Push> push;
  std::optional<Request> request;
  std::optional<Qp*> init;
  std::optional<std::pair<Qp*, uint64_t>> prod_write, head_write;
  std::optional<Taken> taking, taken;
  std::deque<Qp*> barriers;  // the QP that waits for each
  uint64_t units = 0, pushes_in = 0, pushes_out = 0;
  tb::Tally met{"read of the whole buffer",
                "read of a quarter",
                "read up to the ring's end",
                "read of one unit",
                "ring of 4 units",
                "four reads under way",
                "push into an empty buffer",
                "push of two",
                "push over the ring's end",
                "push not taken: not next",
                "push not taken: not next by a power of two",
                "push not taken: no room",
                "push not taken: reads under way",
                "read failed",
                "good read after a failed one",
                "barrier after reads",
                "created again",
                "indices run round"};
  tb::PinsPort pins{dut, [this] { drive(); }, [this] { sample(); }};

  QpSqFetchTest() {
    dut.read.on_item([this](const spec::SqRdReq& r) {
      ASSERT_FALSE(to_leave.empty()) << "a read that was not entered";
      const Read want = to_leave.front();
      to_leave.pop_front();
      ASSERT_EQ(r.address, want.qp->base + 64 * (want.first % want.qp->size()));
      ASSERT_EQ(r.length, 64 * want.count);
      out.push_back(want);
    });
    dut.kick.on_item([this](const tb::Word<B::kQpnW>& item) {
      for (Qp& q : qps) q.kicks += q.qpn == item.value;
    });
  }

  void start(tb::Pace p, std::vector<uint64_t> logs) {
    pace = p;
    running = acts = false;
    qps.assign(logs.size(), {});
    for (size_t i = 0; i < qps.size(); i++) {
      Qp& q = qps[i];
      do q.qpn = i == 0 ? B::kQps - 1 : rng.below(B::kQps);
      while (std::any_of(qps.data(), &q, [&](const Qp& o) { return o.qpn == q.qpn; }));
      q.log = logs[i];
      q.life = rng.below(1000);
    }
    to_leave.clear();
    out.clear();
    coming.clear();
    barriers.clear();
    push.reset();
    request.reset();
    init.reset();
    prod_write.reset();
    head_write.reset();
    taking.reset();
    taken.reset();
    dut.restart(p);
    running = true;
    for (Qp& q : qps) create(q);
  }
  void create(Qp& q) {
    const uint64_t kicks = q.kicks, want = q.want_kicks;
    q = {.qpn = q.qpn, .life = q.life + 1, .base = 0, .log = q.log};
    q.kicks = kicks, q.want_kicks = want;
    q.base = rng.next() >> 12 << 12;
    q.base = q.base >> 1 & ~(64 * q.size() - 1);  // aligned to the ring; its end does not wrap
    met("ring of 4 units", q.log == 2);
    prod_write = {&q, 0};
    head_write = {&q, 0};
    dut.run_until([&] { return !prod_write && !head_write; }, 100);
    init = &q;
    ASSERT_TRUE(dut.run_until([&] { return !init; }, 1000)) << "a QP cannot be created";
    q.alive = true;
  }

  // --- the neighbours, at random
  // What dominates for some hundred cycles. In all phases but kMixed units are seldom issued, so
  // the buffer fills. kPushes: every unit is pushed. kSlow: slow responses, units one by one.
  enum class Phase { kMixed, kLazy, kPushes, kSlow };
  void act() {
    static constexpr Phase kPhases[] = {Phase::kMixed, Phase::kLazy, Phase::kPushes, Phase::kSlow};
    if (rng.below(300) == 0) phase = kPhases[rng.below(4)];
    const bool pushes = phase == Phase::kPushes, slow = phase == Phase::kSlow;
    if (!rng.percent(pace.idle)) post(qps[rng.below(qps.size())]);
    if (!request && !rng.percent(pushes ? 97 : pace.idle)) ask(qps[rng.below(qps.size())]);
    if (!rng.percent(phase == Phase::kMixed ? pace.stall : 97)) consume(qps[rng.below(qps.size())]);
    if (!rng.percent(slow ? 95 : pace.stall)) answer();
  }
  Phase phase = Phase::kMixed;
  /// Software announces units; at times the doorbell carries them.
  void post(Qp& q) {
    if (prod_write || push || !q.alive || q.closing) return;
    const uint64_t room = q.size() - (q.prod - q.head);
    if (room == 0) return;
    uint64_t n = rng.percent(50) ? rng.between(1, 2) : rng.between(1, 2 * B::kPre);
    if (phase == Phase::kPushes) n = rng.between(1, 2);
    if (phase == Phase::kSlow) n = 1;
    const uint64_t behind = uint64_t{1} << rng.between(6, 14);  // distance of the next push
    const bool jumps = q.log == 15 && phase == Phase::kPushes && rng.percent(30);
    if (jumps && behind > q.prod - q.asked) n = behind - (q.prod - q.asked);
    n = std::min(n, room);
    const unsigned carried = phase == Phase::kPushes ? 100 : phase == Phase::kSlow ? 0 : 50;
    if (n <= 2 && rng.percent(carried)) push = Push{&q, q.prod, n};
    q.prod += n;
    prod_write = {&q, q.prod};
  }
  void ask(Qp& q) {
    if (!q.alive || q.closing) return;
    if ((q.fail || rng.percent(1)) && !(push && push->qp == &q)) {
      q.closing = true;  // a barrier; then the QP is created again
      request = Request{nullptr};
      closing_next = &q;
    } else {
      request = Request{&q};
    }
  }
  Qp* closing_next = nullptr;
  void consume(Qp& q) {
    if (taking || head_write || !q.alive || q.head == q.arrived || dut.now() < q.told + 2) return;
    taking = Taken{&q, q.head};
  }
  void answer() {
    if (out.empty() || dut.hdr.size() > 1 || dut.beat.size() > 40) return;
    Read r = out.front();
    out.pop_front();
    const bool more = std::any_of(out.begin(), out.end(), [&](auto& o) { return o.qp == r.qp; });
    r.fails = rng.percent(more ? 5 * error_percent : error_percent);
    spec::SqRdHdr hdr;
    hdr.length = static_cast<uint16_t>(64 * r.count);
    if (r.fails) hdr.status = static_cast<spec::RdStatus>(rng.between(1, 3));
    dut.hdr.put(hdr);
    for (uint64_t i = 0; i < (r.fails ? 1 : r.count); i++) {
      spec::Beat b;
      b.keep = r.fails ? 0 : 64;
      b.last = r.fails || i + 1 == r.count;
      if (r.fails) rng.fill(b.data);
      if (!r.fails) b.data = unit_of(r.qp->qpn, r.qp->life, r.first + i);
      dut.beat.put(b);
    }
    coming.push_back(r);
  }

  void drive() {
    auto& t = dut.top();
    if (running && acts) act();
    t.req_valid_i = running && request;
    t.req_barrier_i = request ? request->qp == nullptr : rng.percent(50);
    tb::set(t.req_qpn_i, request && request->qp != nullptr ? request->qp->qpn : rng.below(B::kQps));
    // The doorbell announces units before it pushes them.
    if (push && !push->offered) push->offered = !prod_write && !rng.percent(pace.idle);
    const bool pushing = running && push && push->offered;
    t.push_valid_i = pushing;
    tb::set(t.push_qpn_i, pushing ? push->qp->qpn : rng.below(B::kQps));
    tb::set(t.push_first_i, pushing ? push->first & 0xffff : rng.below(65'536));
    tb::set(t.push_two_i, pushing ? push->count == 2 : rng.percent(50));
    if (pushing) {
      std::array<Unit, 2> data;
      for (uint64_t i = 0; i < 2; i++) {
        if (i < push->count)
          data[i] = unit_of(push->qp->qpn, push->qp->life, push->first + i);
        else
          rng.fill(data[i]);
      }
      std::memcpy(&t.push_data_i, data.data(), sizeof data);
    }
    t.init_valid_i = running && init;
    tb::set(t.init_qpn_i, init ? (*init)->qpn : rng.below(B::kQps));
    t.init_base_i = init ? (*init)->base : rng.next();
    tb::set(t.init_log_i, init ? (*init)->log : rng.below(16));
    t.prod_we_i = running && prod_write;
    tb::set(t.prod_qpn_i, prod_write ? prod_write->first->qpn : rng.below(B::kQps));
    tb::set(t.prod_index_i, prod_write ? prod_write->second & 0xffff : rng.below(65'536));
    t.head_we_i = running && head_write;
    tb::set(t.head_qpn_i, head_write ? head_write->first->qpn : rng.below(B::kQps));
    tb::set(t.head_index_i, head_write ? head_write->second & 0xffff : rng.below(65'536));
    t.unit_re_i = running && taking;
    tb::set(t.unit_qpn_i, taking ? taking->qp->qpn : rng.below(B::kQps));
    tb::set(t.unit_index_i, taking ? taking->index % B::kPre : rng.below(B::kPre));
  }

  void sample() {
    auto& t = dut.top();
    if (!running) return;
    prod_write.reset();
    head_write.reset();
    if (t.arr_we_o != 0) arrive();
    if (this->HasFatalFailure()) return;
    if (taken) {
      Unit got;
      std::memcpy(got.data(), &t.unit_o, 64);
      const Qp& q = *taken->qp;
      ASSERT_EQ(got, unit_of(q.qpn, q.life, taken->index))
          << "QP " << q.qpn << " ring of " << q.size() << " unit " << taken->index;
      units++;
      met("indices run round", taken->index == 65'536);
    }
    taken = std::exchange(taking, std::nullopt);
    if (taken) {  // issued: the head advances
      taken->qp->head++;
      head_write = {taken->qp, taken->qp->head};
    }
    if (request && t.req_ready_o != 0) {
      if (request->qp == nullptr) barriers.push_back(std::exchange(closing_next, nullptr));
      request.reset();
    }
    if (t.push_valid_i != 0 && t.push_ready_o != 0) {
      push->qp->want_kicks++;
      push_ends();
      push.reset();
    }
    if (init && t.init_ready_o != 0) init.reset();
    if (t.barrier_done_o != 0) {
      ASSERT_FALSE(barriers.empty());
      Qp* q = barriers.front();
      barriers.pop_front();
      if (q != nullptr) {
        ASSERT_EQ(q->reads, 0U) << "a barrier passed a read of its QP";
        q->alive = false;  // created again by the test
      }
    }
  }

  // The fetch state changed: finds the operation and checks that it was allowed.
  void arrive() {
    auto& t = dut.top();
    const auto it =
        std::find_if(qps.begin(), qps.end(), [&](auto& q) { return q.qpn == t.arr_qpn_o; });
    ASSERT_NE(it, qps.end());
    Qp& q = *it;
    if (init && *init == &q && t.init_ready_o != 0) {
      ASSERT_EQ(t.arr_index_o, 0);
      ASSERT_EQ(t.arr_asked_o, 0);
      ASSERT_EQ(t.arr_fail_o, 0);
      ASSERT_EQ(t.arr_full_o, 0);
      met("created again", q.life > 1 && !first_life(q));
      return;
    }
    // The least count that is at or above the previous one and has its low 16 bits at the pin.
    const auto more = [](uint64_t count, uint16_t pin) {
      return count + uint16_t(pin - uint16_t(count));
    };
    const uint64_t asked = more(q.asked, t.arr_asked_o), arrived = more(q.arrived, t.arr_index_o);
    const uint64_t n = asked - q.asked, held = q.asked - q.head;
    const std::string where =
        fmt::format("QP {} ring {}: asked {} + {}, arrived {} to {}, head {}, prod {}", q.qpn,
                    q.size(), q.asked, n, q.arrived, arrived, q.head, q.prod);
    if (n != 0) {  // a read was decided, or a push entered the buffer
      ASSERT_FALSE(q.fail) << where;
      ASSERT_LE(asked, q.prod) << "past what was announced: " << where;
      ASSERT_LE(asked - q.head, B::kPre) << "no room: " << where;
      if (arrived == q.arrived) {  // a read
        ASSERT_LE(q.asked % q.size() + n, q.size()) << "over the ring's end: " << where;
        ASSERT_LT(q.reads, 4U) << where;
        q.reads++;
        to_leave.push_back({&q, q.asked, n, false, barriers.size()});
        met("read of the whole buffer", n == B::kPre);
        met("read of a quarter", n == kQuarter && held != 0);
        met("read up to the ring's end", asked % q.size() == 0);
        met("read of one unit", n == 1);
        met("four reads under way", q.reads == 4);
      } else {
        ASSERT_EQ(arrived, asked) << where;
        ASSERT_TRUE(push && push->offered && push->qp == &q && push->first == q.asked) << where;
        ASSERT_EQ(n, push->count) << where;
        ASSERT_EQ(q.reads, 0U) << where;
        met("push into an empty buffer", held == 0);
        met("push of two", n == 2);
        met("push over the ring's end", n == 2 && asked % q.size() == 1);
        push_in = true;
      }
    } else {  // a response
      ASSERT_FALSE(coming.empty()) << where;
      const Read r = coming.front();
      coming.pop_front();
      ASSERT_EQ(r.qp, &q) << where;
      q.reads--;
      met("good read after a failed one", q.fail && !r.fails);
      met("read failed", r.fails);
      met("barrier after reads", !barriers.empty());
      ASSERT_EQ(arrived, q.fail ? q.arrived : r.fails ? r.first : r.first + r.count) << where;
      q.fail |= r.fails;
      q.want_kicks++;
    }
    q.asked = asked;
    q.arrived = arrived;
    q.told = dut.now();
    ASSERT_EQ(t.arr_fail_o != 0, q.fail) << where;
    ASSERT_EQ(t.arr_full_o != 0, q.reads == 4) << where;
  }
  bool push_in = false;                 // the current push has entered the buffer
  std::map<const Qp*, uint64_t> lives;  // initialisations of each QP
  /// Returns whether this is the QP's first initialisation, and counts it.
  bool first_life(const Qp& q) { return lives[&q]++ == 0; }
  void push_ends() {
    const Push& p = *push;
    const Qp& q = *p.qp;
    if (std::exchange(push_in, false)) {
      pushes_in++;
      return;
    }
    pushes_out++;
    met("push not taken: not next", q.asked != p.first);
    met("push not taken: not next by a power of two",
        p.first - q.asked >= 64 && std::has_single_bit(p.first - q.asked));
    met("push not taken: no room", q.asked == p.first && q.reads == 0);
    met("push not taken: reads under way", q.asked == p.first && q.reads != 0);
  }

  bool idle() const {
    return !push && !request && !init && out.empty() && coming.empty() && to_leave.empty() &&
           barriers.empty() && !taking && !taken && !prod_write && !head_write;
  }
  void bury() {  // re-creates the QPs whose barrier has come out
    for (Qp& q : qps) {
      if (!q.alive && !init && !prod_write && !head_write && !(push && push->qp == &q)) {
        const bool was = std::exchange(acts, false);
        create(q);
        acts = was;
      }
    }
  }
};

using Builds = testing::Types<Default, Minimum>;
TYPED_TEST_SUITE(QpSqFetchTest, Builds);

TYPED_TEST(QpSqFetchTest, EachUnitIsItsOwn) {
  tb::each_pace([&](tb::Pace pace) {
    this->start(pace, {2, 3, 4, 5, 15});
    this->acts = true;
    for (int i = 0; i < 30'000 && !this->HasFatalFailure(); i++) {
      this->dut.cycle();
      this->bury();
    }
    if (this->HasFatalFailure()) return;
    this->acts = false;
    ASSERT_TRUE(this->dut.run_until([&] {
      this->answer();
      return this->idle() || this->HasFatalFailure();
    })) << "something never ends";
    this->dut.cycles(40);
    for (auto& q : this->qps) EXPECT_EQ(q.kicks, q.want_kicks) << "QP " << q.qpn;
  });
  if (this->HasFatalFailure()) return;
  EXPECT_GT(this->units, 2000U);
  EXPECT_GT(this->pushes_in, 100U);
  this->met("indices run round");  // counts as met: the test IndicesRunRound checks it
  this->met.expect_all();
}

// The rule in the header of qp_sq_fetch.sv, with one operation at a time. Into an empty buffer:
// min(announced, units up to the ring's end, buffer size). Otherwise: a quarter of the buffer, if
// that is free. More than 65,536 units, so that the indices wrap on a ring of 4 units and on the
// longest ring.
TYPED_TEST(QpSqFetchTest, IndicesRunRound) {
  this->error_percent = 0;
  for (uint64_t log : {2U, 15U}) {
    this->start({}, {log});
    auto& q = this->qps[0];
    while (q.head < 65'536 + 200 && !this->HasFatalFailure()) {
      const uint64_t room = q.size() - (q.prod - q.head);
      const uint64_t n =
          std::min(room, this->rng.percent(70) ? this->rng.between(0, TypeParam::kPre + 2)
                                               : this->rng.below(300));
      q.prod += n;
      this->prod_write = {&q, q.prod};
      this->dut.cycles(2);
      const uint64_t held = q.asked - q.head, end = q.size() - q.asked % q.size();
      uint64_t want = held == 0                                  ? TypeParam::kPre
                      : held <= TypeParam::kPre - this->kQuarter ? this->kQuarter
                                                                 : 0;
      want = std::min({want, q.prod - q.asked, end});
      const uint64_t before = q.asked;
      this->request = typename TestFixture::Request{&q};
      this->dut.cycles(8);
      ASSERT_EQ(q.asked - before, want)
          << "held " << held << ", announced " << q.prod - before << ", to the end " << end;
      this->answer();
      ASSERT_TRUE(
          this->dut.run_until([&] { return q.arrived == q.asked || this->HasFatalFailure(); }));
      this->dut.cycles(2);
      for (uint64_t take = this->rng.percent(60) ? q.arrived - q.head
                                                 : this->rng.below(q.arrived - q.head + 1);
           take != 0 && !this->HasFatalFailure(); take--) {
        this->consume(q);
        this->dut.cycles(2);
      }
      this->dut.cycles(2);
    }
    if (this->HasFatalFailure()) return;
  }
}

// After a push a response has priority, otherwise a push. With a push valid in every cycle each
// read is still reported, and with responses valid the pushes go on.
TYPED_TEST(QpSqFetchTest, PushesAndAnswersTakeTurns) {
  this->error_percent = 0;
  this->start({}, {5, 5});
  auto &pusher = this->qps[0], &reader = this->qps[1];
  const auto cycle = [&] {
    if (!this->push) {
      this->push = typename TestFixture::Push{&pusher, 1000, 1};  // its index is never the next one
      this->push->offered = true;
    }
    this->dut.cycle();
  };
  for (int i = 0; i < 20 && !this->HasFatalFailure(); i++) {
    // Announced and requested while no push is valid: a push has priority over a request.
    this->dut.run_until([&] { return !this->push; }, 50);
    reader.prod += TypeParam::kPre;
    this->prod_write = {&reader, reader.prod};
    this->dut.cycles(2);
    while (reader.asked != reader.prod && !this->HasFatalFailure()) {
      this->request = typename TestFixture::Request{&reader};
      this->dut.cycles(8);
    }
    while (!this->out.empty()) this->answer();
    const uint64_t before = this->pushes_out;
    for (int c = 0; c < 80 && reader.arrived != reader.asked; c++) cycle();
    ASSERT_EQ(reader.arrived, reader.asked) << "an answer starves";
    for (int c = 0; c < 20; c++) cycle();
    EXPECT_GT(this->pushes_out, before) << "pushes starve";
    this->dut.run_until([&] { return !this->push; }, 50);
    while (reader.head != reader.arrived && !this->HasFatalFailure()) {
      this->consume(reader);
      this->dut.cycles(2);
    }
  }
}

}  // namespace

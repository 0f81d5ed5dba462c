// qp_retire: each work request completes once, in posting order, whatever the order of the reports.
// Responses to qp_state follow the earlier CQEs. No QP waits for a kick that never comes. One
// operation every other cycle, on one QP and on all.
//
// The reference applies the operations in the order in which the leaf accepted them, so it has one
// order of the CQEs of all QPs. The test plays the neighbours: qp_emit (window, tail), qp_doorbell
// (producer indices), llp_if and ddp (done), qp_state (look, mark, flush) and qp_pick. qp_pick lets
// a QP rest when its window is full, a Read is outstanding or nothing is posted. A kick ends the
// rest.
//
// Pins of the leaf that are no streams, by their neighbour:
//   qp_emit      win_* writes the WQE that it issues to its slot of the window; head_* writes the
//                tail (window slots used since the start) and the number of requests issued; fail_*
//                says which WQE of ours has failed
//   qp_doorbell  prod_* writes a producer index, of the send or the receive queue
//   qp_state     init_* creates a QP; st_* says whether it is closing; req_* is a request: 0 look
//                (count what was reported before), 1 mark (the WQE in req_slot_i has failed), 2
//                flush. Each gets the response rsp_*.
//   qp_pick, qp_doorbell   ret_* gives them the retired indices, the head and the requests done
// The indices head and tail have one bit more than a slot, the numbers of requests have 7 bits.
#include "VQpRetire.h"
#include "VQpRetireMin.h"
#include "gen/queues.hpp"
#include "gen/streams.hpp"
#include "lib/word.hpp"
#include "support/leaf.hpp"
#include "support/rtl_dut.hpp"

namespace {

using namespace rnic;  // NOLINT: a test
using spec::WcStatus;

struct Default {  // sizes.yaml
  using V = VQpRetire;
  static constexpr unsigned kQps = 1024, kQpnW = 10, kWindow = 64;
  static constexpr bool kMinimum = false;
};
struct Minimum {
  using V = VQpRetireMin;
  static constexpr unsigned kQps = 8, kQpnW = 3, kWindow = 8;
  static constexpr bool kMinimum = true;
};

template <class B>
class QpRetireTest : public testing::Test {
 protected:
  static constexpr unsigned kSend = 0, kWrite = 1, kRead = 2;  // win_opcode_i
  static constexpr unsigned kLook = 0, kMark = 1, kFlush = 2;  // req_op_i
  struct Dut : tb::RtlDut<typename B::V> {
    tb::StreamIn<spec::WrDone> wr_done = RNIC_IN(*this, wr_done, spec::WrDone);
    tb::StreamIn<spec::RxDone> rx_done = RNIC_IN(*this, rx_done, spec::RxDone);
    tb::StreamIn<spec::ResDone> res_done = RNIC_IN(*this, res_done, spec::ResDone);
    tb::StreamIn<tb::Word<B::kQpnW>> flush{
        *this, "flush",
        tb::pins(this->top().flush_valid_i, this->top().flush_ready_o, this->top().flush_qpn_i)};
    tb::StreamOut<tb::Word<B::kQpnW>> kick{
        *this, "kick",
        tb::pins(this->top().kick_valid_o, this->top().kick_ready_i, this->top().kick_qpn_o)};
    tb::StreamOut<spec::CqeReq> cqe = RNIC_OUT(*this, cqe_req, spec::CqeReq);
  };
  struct Entry {
    uint16_t index = 0, after = 0;  // ring index of the WQE, and after it
    unsigned opcode = 0;
    // told: its report has been put to the leaf; done: the leaf has taken it
    bool is_signaled = false, done = false, told = false;
    uint32_t length = 0;
  };
  struct Rsp {
    uint16_t sq = 0, rq = 0;
    bool empty = false, reads = false;
    size_t cqes = 0;  // CQEs put before it
    friend bool operator==(const Rsp&, const Rsp&) = default;
  };
  struct Qp {
    uint64_t qpn = 0;
    std::deque<Entry> window{};   // starts at the head
    uint64_t head = 0, tail = 0;  // window slots retired, and used, since the start
    // Ring indices. sq, rq: retired. next_sq: issued. next_rq: received. prod_*: posted.
    uint16_t sq = 0, rq = 0, next_sq = 0, next_rq = 0, prod_sq = 0, prod_rq = 0;
    // Counts of Reads: completed, issued.
    uint64_t reads = 0, reads_issued = 0;
    // Slot and status of the WQE that failed here (fail_*), and of that which qp_state has marked.
    std::optional<std::pair<uint64_t, WcStatus>> own{}, err{};
    bool asked = false, ended = false;  // asked: a request of qp_state is due; ended: flushed
    // What the leaf has written for qp_pick (ret_*). rests_*: why qp_pick lets the QP rest.
    uint64_t seen_head = 0, seen_reads = 0;
    uint16_t seen_sq = 0, seen_rq = 0;
    bool rests_full = false, rests_read = false, rests_empty = false;
    bool closing = false;
    bool has_srq = false;  // its receives complete in any order, with tags
    uint64_t kicks = 0;
    [[nodiscard]] uint64_t slot(uint64_t n) const { return n % B::kWindow; }
  };
  struct Request {
    Qp* qp = nullptr;
    unsigned op = 0;
    uint64_t slot = 0;
    WcStatus status{};
  };
  struct Fail {
    Qp* qp = nullptr;
    uint64_t slot = 0;
    WcStatus status{};
  };

  Dut dut;
  base::Rng rng = tb::test_rng("operations");
  tb::Pace pace;
  std::vector<Qp> qps;
  std::deque<spec::CqeReq> want;
  size_t cqes_put = 0, cqes_seen = 0;  // CQEs expected so far; sent by the leaf
  std::optional<Request> request;
  std::deque<Rsp> answers;
  std::optional<Fail> fail;
  std::optional<Qp*> init;  // this QP is being created
  // issue, prod_write: written to the leaf in the next cycle
  struct Issue {
    Qp* qp;
    Entry entry;
    uint64_t slot;
  };
  std::optional<Issue> issue;
  std::optional<std::pair<Qp*, bool>> prod_write;  // true: receive queue
  tb::Tally met{"done at the head",
                "done after the head",
                "a done lets four or more retire",
                "window full",
                "flush with done ones after the head",
                "flush with a gap before a failed one",
                "flush of an empty window",
                "done of a QP that was flushed",
                "look after a done of its QP",
                "receive",
                "receive of an SRQ",
                "rests with a full window",
                "rests for a Read"};
  tb::PinsPort pins{dut, [this] { drive(); }, [this] { sample(); }};

  QpRetireTest() {
    dut.cqe.on_item([this](const spec::CqeReq& c) {
      cqes_seen++;
      ASSERT_FALSE(want.empty()) << "a CQE of nothing: " << c.describe();
      EXPECT_EQ(c, want.front());
      want.pop_front();
    });
    dut.kick.on_item([this](const tb::Word<B::kQpnW>& k) {
      for (Qp& q : qps)
        if (q.qpn == k.value) {
          q.rests_full = q.rests_read = q.rests_empty = false;
          q.kicks++;
        }
    });
  }

  void start(tb::Pace p, unsigned count) {
    pace = p;
    qps.assign(count, {});
    for (unsigned i = 0; i < count; i++)
      qps[i].qpn = count == B::kQps ? i : i == 0 ? B::kQps - 1 : i;
    want.clear();
    answers.clear();
    cqes_put = cqes_seen = 0;
    request.reset();
    fail.reset();
    init.reset();
    issue.reset();
    prod_write.reset();
    dut.restart(p);
    for (Qp& q : qps) create(q);
  }
  void create(Qp& q) {
    q = {.qpn = q.qpn};
    q.closing = rng.percent(50);
    q.has_srq = rng.percent(25);
    init = &q;
    ASSERT_TRUE(dut.run_until([&] { return !init; }, 300)) << "a QP cannot be created";
    for (const bool rq : {false, true}) {
      prod_write = {&q, rq};
      dut.cycle();
    }
  }

  // --- the neighbours
  static uint16_t send_cq(const Qp& q) { return static_cast<uint16_t>(q.qpn * 3 + 1); }
  static uint16_t recv_cq(const Qp& q) { return static_cast<uint16_t>(q.qpn * 5 + 2); }

  /// Software posts and qp_emit issues in one cycle, since no check depends on the time between.
  bool issue_one(Qp& q, unsigned opcode, bool is_signaled, unsigned units = 1) {
    if (issue || prod_write || q.tail - q.seen_head == B::kWindow) return false;
    const auto after = static_cast<uint16_t>(q.next_sq + units);
    const Entry e{
        q.next_sq, after, opcode, is_signaled, false, false, static_cast<uint32_t>(rng.next())};
    issue = Issue{&q, e, q.slot(q.tail)};
    q.window.push_back(e);
    q.next_sq = q.prod_sq = after;
    q.tail++;
    q.reads_issued += opcode == kRead;
    met("window full", q.tail - q.head == B::kWindow);
    prod_write = {&q, false};
    return true;
  }
  /// Reports entry i of the window as done: on rx_done for a Read, else on wr_done.
  void tell_done(Qp& q, size_t i) {
    q.window[i].told = true;
    const auto slot = static_cast<uint8_t>(q.slot(q.head + i));
    if (q.window[i].opcode != kRead) return dut.wr_done.put({static_cast<uint16_t>(q.qpn), slot});
    spec::RxDone d;
    d.qpn = static_cast<uint16_t>(q.qpn);
    d.kind = spec::DeliverKind::kRead;
    d.slot = slot;
    dut.rx_done.put(d);
  }
  void receive(Qp& q) {
    spec::RxDone d;
    d.qpn = static_cast<uint16_t>(q.qpn);
    d.kind = spec::DeliverKind::kRecv;
    d.index = q.has_srq ? static_cast<uint16_t>(rng.next()) : q.next_rq++;
    d.byte_len = static_cast<uint32_t>(rng.next());
    d.solicited = d.index & 1;
    dut.rx_done.put(d);
  }
  void ask(Qp& q, unsigned op, uint64_t slot = 0, WcStatus status = WcStatus::kSuccess) {
    request = Request{&q, op, slot, status};
    q.asked = true;
  }
  Qp& by_number(uint64_t qpn) {
    return *std::find_if(qps.begin(), qps.end(), [&](const Qp& q) { return q.qpn == qpn; });
  }

  // --- the reference. put() notes an expected CQE, put_own() that of a WQE, put_flush() a flush
  // entry for all WQEs before index `up_to`.
  void put(const Qp& q, bool is_recv, spec::WcOpcode opcode, uint16_t index, WcStatus status,
           uint32_t length, bool solicited = false) {
    cqes_put++;
    want.push_back({.cqn = is_recv ? recv_cq(q) : send_cq(q),
                    .entry = {.qpn = static_cast<uint32_t>(q.qpn),
                              .opcode = opcode,
                              .byte_len = length,
                              .index = index,
                              .status = status,
                              .is_recv = is_recv,
                              .solicited = solicited}});
  }
  void put_own(const Qp& q, const Entry& e, WcStatus status) {
    using spec::WcOpcode;
    const WcOpcode op = e.opcode == kRead    ? WcOpcode::kRdmaRead
                        : e.opcode == kWrite ? WcOpcode::kRdmaWrite
                                             : WcOpcode::kSend;
    put(q, false, op, e.index, status, e.length);
  }
  void put_flush(const Qp& q, bool is_recv, uint16_t up_to) {
    put(q, is_recv, is_recv ? spec::WcOpcode::kRecv : spec::WcOpcode::kSend, up_to,
        WcStatus::kWrFlushErr, 0);
  }
  /// The leaf has accepted a report: marks the WQE in this slot, and retires the oldest done ones.
  void done(Qp& q, uint64_t slot, bool is_read) {
    const uint64_t i = (slot + B::kWindow - q.slot(q.head)) % B::kWindow;
    met("done of a QP that was flushed", i >= q.window.size());
    if (i >= q.window.size()) return;
    q.window[i].done = true;
    q.reads += is_read;
    met(i == 0 ? "done at the head" : "done after the head");
    unsigned retired = 0;
    for (; !q.window.empty() && q.window.front().done; retired++) pop(q, true);
    met("a done lets four or more retire", retired >= 4);
  }
  void pop(Qp& q, bool reports) {
    const Entry e = q.window.front();
    if (reports && e.is_signaled) put_own(q, e, WcStatus::kSuccess);
    q.sq = e.after;
    q.head++;
    q.window.pop_front();
  }
  void flush(Qp& q) {
    met("flush of an empty window", q.window.empty());
    met("flush with done ones after the head",
        std::any_of(q.window.begin(), q.window.end(), [](const Entry& e) { return e.done; }));
    uint16_t covered = q.sq;
    for (; !q.window.empty(); pop(q, false)) {
      const Entry e = q.window.front();
      const auto is = [&](const auto& x) { return x && x->first == q.slot(q.head); };
      if (!is(q.own) && !is(q.err)) continue;
      met("flush with a gap before a failed one", covered != e.index);
      if (covered != e.index) put_flush(q, false, e.index);
      put_own(q, e, is(q.err) ? q.err->second : q.own->second);
      covered = e.after;
    }
    if (covered != q.prod_sq) put_flush(q, false, q.prod_sq);
    q.sq = q.prod_sq;
    q.own.reset();
    q.err.reset();
    if (q.rq != q.prod_rq) put_flush(q, true, q.prod_rq);
    q.rq = q.prod_rq;
    q.ended = true;
  }
  void take_request(const Request& r) {
    Qp& q = *r.qp;
    if (r.op == kLook) met("look after a done of its QP", cqes_put != cqes_seen);
    if (r.op == kMark) q.err = {r.slot, r.status};
    if (r.op == kFlush) flush(q);
    answers.push_back({q.sq, q.rq, q.sq == q.prod_sq, q.reads != q.reads_issued, cqes_put});
  }
  void take_rx(const spec::RxDone& d) {
    Qp& q = by_number(d.qpn);
    if (d.kind == spec::DeliverKind::kRead) return done(q, d.slot, true);
    met(q.has_srq ? "receive of an SRQ" : "receive");
    if (!q.has_srq) q.rq = static_cast<uint16_t>(d.index + 1);
    put(q, true, spec::WcOpcode::kRecv, d.index, d.status, d.byte_len, d.solicited != 0);
  }

  // --- pins
  void drive() {
    auto& t = dut.top();
    const auto set = [](auto& pin, uint64_t value) { tb::set(pin, value); };
    set(t.init_valid_i, init.has_value());
    if (init) {
      set(t.init_qpn_i, (*init)->qpn);
      set(t.init_send_cq_i, send_cq(**init));
      set(t.init_recv_cq_i, recv_cq(**init));
      set(t.init_has_srq_i, (*init)->has_srq);
    }
    set(t.st_we_i, init.has_value());  // qp_state saves the created QP
    if (init) {
      set(t.st_qpn_i, (*init)->qpn);
      set(t.st_watch_i, (*init)->closing);
    }
    set(t.win_we_i, issue.has_value());
    set(t.head_we_i, issue.has_value() || init.has_value());
    if (init) {  // qp_emit's table is written too
      set(t.head_qpn_i, (*init)->qpn);
      set(t.head_tail_i, 0);
      set(t.head_reads_i, 0);
    }
    if (issue) {
      const Entry& e = issue->entry;
      set(t.win_qpn_i, issue->qp->qpn);
      set(t.win_slot_i, issue->slot);
      set(t.win_after_i, e.after);
      set(t.win_opcode_i, e.opcode);
      set(t.win_signaled_i, e.is_signaled);
      set(t.win_length_i, e.length);
      set(t.head_qpn_i, issue->qp->qpn);
      set(t.head_tail_i, issue->qp->tail % (2 * B::kWindow));
      set(t.head_reads_i, issue->qp->reads_issued % 128);
    }
    set(t.prod_sq_we_i, prod_write && !prod_write->second);
    set(t.prod_rq_we_i, prod_write && prod_write->second);
    if (prod_write) {
      const Qp& q = *prod_write->first;
      set(t.prod_qpn_i, q.qpn);
      set(t.prod_index_i, prod_write->second ? q.prod_rq : q.prod_sq);
    }
    set(t.req_valid_i, request.has_value());
    if (request) {
      set(t.req_op_i, request->op);
      set(t.req_qpn_i, request->qp->qpn);
      set(t.req_slot_i, request->slot);
      set(t.req_status_i, static_cast<uint64_t>(request->status));
    }
    set(t.fail_valid_i, fail.has_value());
    if (fail) {
      set(t.fail_qpn_i, fail->qp->qpn);
      set(t.fail_slot_i, fail->slot);
      set(t.fail_status_i, static_cast<uint64_t>(fail->status));
    }
  }
  /// The leaf accepts at most one input per cycle: this gives the order of the operations.
  void sample() {
    auto& t = dut.top();
    if (t.rst_ni == 0) return;
    if (t.wr_done_valid_i && t.wr_done_ready_o) {
      const auto d = read<spec::WrDone>(t.wr_done_i);
      done(by_number(d.qpn), d.slot, false);
    }
    if (t.rx_done_valid_i && t.rx_done_ready_o) take_rx(read<spec::RxDone>(t.rx_done_i));
    if (t.flush_valid_i && t.flush_ready_o) flush(by_number(t.flush_qpn_i));
    if (request && t.req_ready_o) {
      take_request(*request);
      request.reset();
    }
    if (fail && t.fail_ready_o) {
      fail->qp->own = {fail->slot, fail->status};
      fail.reset();
    }
    if (t.rsp_valid_o) answered();
    // qp_pick reads the values written before this cycle. It picks any QP, which then rests or not.
    if (!qps.empty()) {
      Qp& q = qps[rng.below(qps.size())];
      const uint64_t tail = issue && issue->qp == &q ? q.tail - 1 : q.tail;
      const uint64_t reads = issue && issue->qp == &q
                                 ? q.reads_issued - (issue->entry.opcode == kRead)
                                 : q.reads_issued;
      q.rests_full = tail - q.seen_head == B::kWindow;
      q.rests_read = reads != q.seen_reads;
      q.rests_empty = q.closing && q.seen_sq != q.prod_sq;
      met("rests with a full window", q.rests_full);
      met("rests for a Read", q.rests_read);
    }
    if (t.ret_we_o) {
      Qp& q = by_number(t.ret_qpn_o);
      q.seen_head += (t.ret_head_o - q.seen_head) % (2 * B::kWindow);
      q.seen_reads += (t.ret_reads_o - q.seen_reads) % 128;
      q.seen_sq = t.ret_sq_o;
      q.seen_rq = t.ret_rq_o;
    }
    issue.reset();
    prod_write.reset();
    if (init && t.init_ready_o) init.reset();
  }
  template <class T, class P>
  static T read(const P& pin) {
    std::array<uint32_t, sizeof(P) / 4 + 1> words{};
    std::memcpy(words.data(), &pin, sizeof pin);
    return T::from_words(words.data());
  }
  void answered() {
    auto& t = dut.top();
    ASSERT_FALSE(answers.empty()) << "an answer to nothing";
    const Rsp is{t.rsp_sq_o, t.rsp_rq_o, t.rsp_empty_o != 0, t.rsp_reads_o != 0,
                 answers.front().cqes};
    EXPECT_EQ(is, answers.front());
    EXPECT_GE(cqes_seen, answers.front().cqes) << "an answer before the CQEs that it follows";
    answers.pop_front();
    for (Qp& q : qps) q.asked = false;
  }

  /// Waits until every input is taken and reported. No QP may then wait for a kick.
  void settle() {
    ASSERT_TRUE(dut.run_until([&] { return !request && !fail && answers.empty(); }, 3000));
    dut.settle(60);
    EXPECT_TRUE(want.empty()) << want.size() << " CQEs never came";
    for (const Qp& q : qps) {
      EXPECT_EQ(q.seen_sq, q.sq) << "QP " << q.qpn;
      EXPECT_EQ(q.seen_rq, q.rq) << "QP " << q.qpn;
      EXPECT_EQ(q.seen_head, q.head) << "QP " << q.qpn;
      EXPECT_EQ(q.seen_reads, q.reads) << "QP " << q.qpn;
      if (q.ended) continue;  // qp_state kicks it
      EXPECT_FALSE(q.rests_full && q.tail - q.head != B::kWindow) << "QP " << q.qpn << " rests";
      EXPECT_FALSE(q.rests_read && q.reads == q.reads_issued) << "QP " << q.qpn << " rests";
      EXPECT_FALSE(q.rests_empty && q.sq == q.prod_sq) << "QP " << q.qpn << " rests";
    }
  }

  // --- random operations
  void act(Qp& q) {
    if (q.asked) return;
    if (q.ended) {
      if (rng.percent(5)) stale(q);
      return;
    }
    switch (rng.below(8)) {
      case 0:
      case 1:
      case 2:
        if (q.tail - q.head < depth_)
          issue_one(q, static_cast<unsigned>(rng.below(3)), rng.percent(60),
                    static_cast<unsigned>(rng.between(1, 4)));
        break;
      case 3:
      case 4:
        if (q.has_srq) {
          receive(q);
        } else if (!prod_write && q.next_rq == q.prod_rq) {
          q.prod_rq = static_cast<uint16_t>(q.prod_rq + rng.between(1, 8));
          prod_write = {&q, true};
        } else if (q.next_rq != q.prod_rq && !prod_write) {
          receive(q);
        }
        break;
      default:
        tell_some(q);
    }
    if (request || !answers.empty()) return;  // qp_state has at most one request outstanding
    const bool quiet = !issue && !prod_write;
    if (quiet && rng.percent(1)) ask(q, kLook);
    if (quiet && rng.below(400) == 0) end(q);
  }
  /// Reports done in posting order; Reads complete at random times, and now and then the oldest
  /// entry completes last.
  void tell_some(Qp& q) {
    const size_t from = holds_head_ ? 1 : 0;
    bool sent = false;
    for (size_t i = from; i < q.window.size(); i++) {
      Entry& e = q.window[i];
      if (e.told || (issue && issue->qp == &q && i + 1 == q.window.size())) continue;
      if (e.opcode != kRead && sent) continue;
      sent = sent || e.opcode != kRead;
      if (e.opcode == kRead && rng.percent(50)) continue;
      tell_done(q, i);
      if (rng.percent(50)) return;
    }
  }
  /// Ends the QP: no unit reports anything for it after this. One WQE may have failed.
  void end(Qp& q) {
    dut.run_until([&] { return dut.wr_done.empty() && dut.rx_done.empty(); }, 3000);
    const auto any = [&]() -> uint64_t { return q.head + rng.below(q.window.size()); };
    if (!q.window.empty() && rng.percent(50)) {
      const uint64_t n = any();
      if (!q.window[n - q.head].done && !q.window[n - q.head].told)
        fail = Fail{&q, q.slot(n), WcStatus::kLocProtErr};
      dut.run_until([&] { return !fail; }, 3000);
    }
    if (!q.window.empty() && rng.percent(50)) {
      ask(q, kMark, q.slot(any()), WcStatus::kRemAccessErr);
      dut.run_until([&] { return !request && answers.empty(); }, 3000);
    }
    ask(q, kFlush);
  }
  /// A QP in error (ended): newly posted WQEs are flushed, and a late done changes nothing. Now and
  /// then the QP is created again.
  void stale(Qp& q) {
    dut.run_until([&] { return dut.flush.empty(); }, 3000);
    dut.settle(40);
    if (rng.percent(50)) {
      dut.wr_done.put({static_cast<uint16_t>(q.qpn), static_cast<uint8_t>(rng.below(B::kWindow))});
    } else {
      q.prod_sq = q.next_sq = static_cast<uint16_t>(q.prod_sq + rng.between(1, 3));
      prod_write = {&q, false};
      dut.cycle();
      dut.flush.put({q.qpn});
    }
    dut.run_until([&] { return want.empty() && dut.flush.empty(); }, 3000);
    dut.settle(40);
    if (rng.percent(20)) create(q);
  }

  /// Returns the cycles per operation: `each` reports on wr_done, on rx_done or on both, of `count`
  /// QPs in turn, with a CQE each.
  double rate(unsigned count, bool sends, bool receives, unsigned each) {
    start({0, 0}, count);
    dut.wr_done.idle(0);
    size_t at = 0, told = 0, wanted = 0;
    uint64_t first = 0;
    const auto ready = [&] { return dut.wr_done.size() < 4 && dut.rx_done.size() < 4; };
    dut.run_until(
        [&] {
          if (first == 0 && cqes_seen != 0) first = dut.now(), wanted = cqes_seen;
          for (int n = 0; n < 2 && told < each && ready(); n++) {
            Qp& q = qps[at];
            if (sends && !issue_one(q, kSend, true)) break;
            at = (at + 1) % qps.size();
            told++;
            if (sends) later_.push_back(&q);
            if (receives) receive(q);
          }
          while (later_.size() > 1) {  // its window entry was written one cycle ago
            Qp& q = *later_.front();
            later_.pop_front();
            for (size_t i = 0; i < q.window.size(); i++)
              if (!q.window[i].told) {
                tell_done(q, i);
                break;
              }
          }
          return told == each && cqes_seen + 2 >= each * (sends + receives);
        },
        20 * each);
    const double per =
        static_cast<double>(dut.now() - first) / static_cast<double>(cqes_seen - wanted);
    std::printf("[ rate ] %u QPs,%s%s: %.2f cycles an operation\n", count, sends ? " wr_done" : "",
                receives ? " rx_done" : "", per);
    while (!later_.empty()) later_.pop_front();
    return per;
  }

  unsigned depth_ = B::kWindow;  // most WQEs of a QP that act() keeps issued
  bool holds_head_ = false;      // tell_some() does not report the oldest entry
  std::deque<Qp*> later_;        // rate(): QPs whose wr_done is sent a cycle later
};

using Builds = testing::Types<Default, Minimum>;
TYPED_TEST_SUITE(QpRetireTest, Builds);

TYPED_TEST(QpRetireTest, EachCompletesOnceInOrder) {
  for (const unsigned count : {1U, 3U, 8U}) {
    tb::each_pace([&](tb::Pace p) {
      SCOPED_TRACE(count);
      this->start(p, count);
      for (int n = 0; n < 3000; n++) {
        if (this->rng.below(200) == 0) {
          this->holds_head_ = this->rng.percent(50);
          this->depth_ = this->rng.percent(50) ? TypeParam::kWindow : 3;
        }
        this->act(this->qps[this->rng.below(count)]);
        this->dut.cycle();
        if (testing::Test::HasFatalFailure()) return;
      }
      this->settle();
    });
  }
  this->met.expect_all();
}

// A command to cq follows every CQE that was given to cq earlier. The response that lets admin send
// the command therefore comes after cq has taken those CQEs.
TYPED_TEST(QpRetireTest, AnAnswerFollowsTheCqesBeforeIt) {
  for (const unsigned op : {this->kLook, this->kFlush}) {
    this->start({0, 0}, 2);
    auto& q = this->qps[0];
    for (int i = 0; i < 4; i++) {
      this->issue_one(q, this->kSend, true);
      this->dut.cycle();
    }
    this->dut.cqe.stall(100);
    for (size_t i = 0; i < 3; i++) this->tell_done(q, i);
    this->dut.run_until([&] { return this->dut.wr_done.empty(); });
    this->ask(q, op);
    this->dut.cycles(200);
    EXPECT_TRUE(!this->answers.empty() || this->request) << "answered, and cq has taken nothing";
    this->dut.cqe.stall(0);
    this->settle();
  }
}

// Architecture 4: retirement accepts a done every other cycle, both directions at once, on any QPs.
TYPED_TEST(QpRetireTest, TakesADoneEveryOtherCycle) {
  for (const unsigned count : {1U, 2U, 8U, TypeParam::kQps}) {
    for (const auto& [sends, receives] : {std::pair{true, true}, {true, false}, {false, true}}) {
      const double per = this->rate(count, sends, receives, 2000);
      if (!TypeParam::kMinimum) {
        EXPECT_LE(per, 2.01) << count << " QPs";
      }
    }
  }
}

// The oldest WQE of a full window is done last. Then the leaf retires one WQE every other cycle.
TYPED_TEST(QpRetireTest, AWindowRetiresAtThatRate) {
  this->start({0, 0}, 1);
  auto& q = this->qps[0];
  for (unsigned i = 0; i < TypeParam::kWindow; i++) {
    this->issue_one(q, i == 0 ? this->kRead : this->kWrite, true);
    this->dut.cycle();
  }
  for (size_t i = 1; i < TypeParam::kWindow; i++) this->tell_done(q, i);
  this->dut.settle(20);
  EXPECT_EQ(this->cqes_seen, 0U);
  const uint64_t from = this->dut.now();
  this->tell_done(q, 0);
  ASSERT_TRUE(this->dut.run_until([&] { return this->want.empty() && this->cqes_seen != 0; }));
  const uint64_t cycles = this->dut.now() - from;
  std::printf("[ rate ] a window of %u: %llu cycles\n", TypeParam::kWindow,
              static_cast<unsigned long long>(cycles));
  EXPECT_LE(cycles, 2U * TypeParam::kWindow + 6);  // 2 each, and the latency of the first
  this->settle();
}

// A kick costs a visit of qp_sched, so a queue that becomes empty causes one only for a closing QP.
TYPED_TEST(QpRetireTest, KicksForAnEmptyQueueOnlyWhileClosing) {
  this->start({0, 0}, 4);
  uint64_t closing = 0;
  for (int i = 0; i < 40; i++) {
    for (auto& q : this->qps) {
      const uint64_t before = q.kicks;
      ASSERT_TRUE(this->issue_one(q, this->kSend, true));
      this->dut.cycle();
      this->tell_done(q, 0);
      this->dut.settle(40);
      EXPECT_EQ(q.kicks - before, q.closing ? 1U : 0U);
      closing += q.closing;
      this->create(q);
    }
  }
  EXPECT_GT(closing, 20U);
  EXPECT_LT(closing, 140U);
}

TYPED_TEST(QpRetireTest, Latency) {
  this->start({0, 0}, 1);
  auto& q = this->qps[0];
  this->issue_one(q, this->kSend, true);
  this->dut.cycles(3);
  this->tell_done(q, 0);
  this->dut.cycle();  // wr_done is taken
  uint64_t cycles = 0;
  for (; this->cqes_seen == 0 && cycles < 50; cycles++) this->dut.cycle();
  EXPECT_EQ(cycles, 4U) << "header: wr_done to cqe_req 4 cycles";
  this->settle();
}

}  // namespace

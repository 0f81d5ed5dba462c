// The neighbours of qp in one class: host memory behind host_if, tpt, rdmap, ddp, llp_if, cq, each
// with random latency. Also a reference for every QP: WQEs posted, issued, done, and reported.
//
//   QpWorld w(dut, rng, 40);  w.create(3, 4, 4);  w.to_rts(3);  w.post(3, wqe);  w.ring(3);
//   w.run([&] { return w.idle(3); });
//
// The third argument bounds the random latency of each neighbour, in cycles. create() takes the QP
// and the log2 of the units of its send and its receive ring. to_rts() starts it, post() writes a
// WQE into the ring, ring() sends the doorbell, receive() takes a receive WQE as ddp does. idle():
// every posted WQE is issued and done. The world responds to reads, key checks and orders by
// itself. It checks each WQE that qp issues, and each completion, against what was posted.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "qp/qp_dut.hpp"

namespace rnic::tb {

using Unit = std::array<uint8_t, 64>;
inline constexpr uint32_t kBadKey = 0xbadbad00;

/// A send WQE as the test made it.
struct Wr {
  spec::SqWqe hdr;
  std::vector<uint8_t> body;  // SGEs or inline data
  bool has(spec::SqFlagBit bit) const { return (hdr.flags & static_cast<uint8_t>(bit)) != 0; }
  bool is_signaled() const { return has(spec::SqFlagBit::kSignaled); }
  bool is_inline() const { return has(spec::SqFlagBit::kInlineData); }
};

/// A WQE in the ring. first, after: ring index of its first unit, and of the unit after it; not
/// truncated to 16 bits.
struct PostedWr {
  Wr wr;
  uint32_t first = 0, after = 0;
  bool issued = false, done = false;
};

template <class D>
class QpWorld {
 public:
  struct Qp {
    unsigned life = 0;  // separates ddp's late reports for an earlier QP of this number
    bool exists = false;
    bool stopped = true;   // not running: before to_rts, after the stop
    bool faulted = false;  // qp_error was sent
    // rdmap: got half_close; reported that no request of the peer is left
    bool asked = false, closed = false;
    unsigned log_sq = 0, log_rq = 0, ord = 8;  // ord: Reads that may be outstanding
    std::vector<Unit> sq, rq;
    std::vector<PostedWr> posted;
    size_t issued = 0, reported = 0;  // of `posted`: how many are issued, reported by CQEs
    // Ring indices, not truncated: units posted; receives posted, taken by ddp, completed.
    uint32_t sq_prod = 0, rq_prod = 0, rq_taken = 0, rq_reported = 0;
    uint32_t sq_free_from = 0;  // ring index after the last reported WQE
    // rq_rung: cycle of its newest receive doorbell
    uint64_t rq_rung = 0;
    // reads: Reads and binds that are issued and not done. slots: messages that occupy a slot of
    // ddp. rq_reads: reads of the receive ring.
    unsigned reads = 0, slots = 0, rq_reads = 0;
    bool after_bind = false;  // the next WQE waits as with a fence
    uint64_t last_done = 0;   // cycle of the newest scheduled completion; keeps them in order
    bool ended = false;       // an error or flush entry of the SQ was seen
    bool rq_ended = false;
    std::vector<spec::Cqe> sq_cqes, rq_cqes;
    std::vector<spec::RqTakeRsp> takes;
    std::optional<unsigned> srq;  // takes its receives there; that row's rq_taken counts them too
    std::deque<uint16_t> tags;    // of receives taken from the SRQ and not completed
    unsigned unreported = 0;      // taken, and ddp has not reported them
    bool in_ddp = false;  // ddp may take receives: from its ack of the start to that of the stop
    unsigned asked_takes = 0, failed_reads = 0;  // takes without a response; failed reads of the RQ
  };

  QpWorld(D& dut, base::Rng rng, unsigned latency)
      : dut_(dut), rng_(rng), latency_(latency), qps_(kQps) {}
  static constexpr unsigned kQps = D::kMinimum ? 8 : 128;

  Qp& qp(unsigned n) { return qps_[n]; }
  base::Rng& rng() { return rng_; }
  /// The orders of qp since the test cleared the list, as "QPN unit operation": "0 mpa sync".
  std::vector<std::string>& ctl() { return ctl_; }
  std::vector<spec::QpFault>& faults() { return faults_; }
  std::vector<unsigned>& asyncs() { return asyncs_; }
  const std::vector<unsigned>& purges() const { return purges_; }
  unsigned sq_reads() const { return sq_reads_; }
  /// Adds this many cycles to the latency of each later read of the rings.
  void far_memory(uint64_t cycles) { far_ = cycles; }
  /// The most reads of the rings, send or receive, that were in flight at once.
  unsigned most_sq_reads() const { return most_[1]; }
  unsigned most_rq_reads() const { return most_[0]; }
  void fail_next_sq_read() { fail_sq_ = true; }
  void fail_next_rq_read() { fail_rq_ = true; }
  /// While held, issued WQEs are not reported as done, except by finish().
  void hold_done(bool hold) { hold_done_ = hold; }
  /// Holds the acknowledgements of all orders.
  void hold_acks(bool hold) { hold_acks_ = hold; }
  /// While held, rdmap sends no qp_error for a receive that ends in an error.
  void hold_faults(bool hold) { hold_faults_ = hold; }
  /// While held, rdmap answers a Read of the peer, so it does not report the end of a half_close.
  void hold_responder(bool hold) { hold_responder_ = hold; }
  /// Reports WQE i as done: the LLP has accepted its last byte, or its Read was placed. Used with
  /// hold_done().
  void finish(unsigned n, size_t i) {
    Qp& q = qps_[n];
    ASSERT_TRUE(q.posted.at(i).issued);
    q.posted[i].done = true;
    const auto slot = static_cast<uint8_t>(i % window());
    if (!is_request(q.posted[i].wr)) return dut_.wr_done.put({static_cast<uint16_t>(n), slot});
    request_done(n, q.posted[i].wr, slot);
  }
  /// Fails WQE i, a bind: sends the qp_error that rdmap would send.
  void fail_bind(unsigned n, size_t i) {
    error(n, spec::Cause::kLocalCatastrophic, true, static_cast<int>(i % window()),
          spec::WcStatus::kMwBindErr);
  }
  bool term_on_fault = true;  // rdmap sends a Terminate for a qp_fault (never for kLlpLost)
  /// Called in each cycle, also while a command runs: traffic of the test.
  std::function<void()> on_cycle = [] {};
  /// Called with each response to a take and the QP that took, and with each completion.
  std::function<void(unsigned, const spec::RqTakeRsp&)> on_take = [](auto, const auto&) {};
  std::function<void(const spec::CqeReq&)> on_completion = [](const auto&) {};
  /// Returns whether ctl() has this order.
  bool said(const std::string& what) const {
    return std::find(ctl_.begin(), ctl_.end(), what) != ctl_.end();
  }

  template <class F>
  bool run(F until, uint64_t limit = 60'000) {
    return dut_.run_until(
        [&] {
          pump();
          return until();
        },
        limit);
  }
  /// Runs n cycles, scaled by longer().
  void wait(uint64_t n) {
    const uint64_t end = now_ + longer(n);
    run([&] { return now_ >= end; }, longer(n) + 10);
  }
  /// Scales a number of cycles for builds whose inner streams are stalled.
  uint64_t longer(uint64_t n) const { return n * (dut_.patience() == 1 ? 1 : 2 * dut_.patience()); }

  // --- admin
  /// Repeats a command while its response is in_progress.
  spec::CmdRsp command(spec::AdminOpcode op, uint32_t object, const void* args = nullptr) {
    spec::CmdRsp rsp;
    for (const uint64_t end = now_ + longer(20'000); now_ < end;) {
      rsp = command_once(op, object, args);
      if (rsp.status != spec::AdminStatus::kInProgress) return rsp;
    }
    ADD_FAILURE() << to_string(op) << " stays in progress";
    return rsp;
  }
  /// Sends a command and returns its response, which may be in_progress.
  spec::CmdRsp command_once(spec::AdminOpcode op, uint32_t object, const void* args = nullptr) {
    spec::Cmd cmd;
    cmd.opcode = op;
    cmd.object = object;
    if (args != nullptr) std::memcpy(cmd.args.data(), args, cmd.args.size());
    dut_.qp_cmd.put(cmd);
    EXPECT_TRUE(run([&] { return !dut_.qp_cmd_rsp.empty(); })) << "no answer from qp to a command";
    if (dut_.qp_cmd_rsp.empty()) return {};
    return dut_.qp_cmd_rsp.take();
  }
  /// With an SRQ, log_rq is not used.
  void create(unsigned n, unsigned log_sq, unsigned log_rq, uint16_t send_cq = 1,
              uint16_t recv_cq = 2, std::optional<unsigned> srq = {}) {
    const unsigned life = qps_[n].life + 1;
    Qp& q = qps_[n] = {};
    q.life = life;
    q.log_sq = log_sq;
    q.log_rq = log_rq;
    q.sq.resize(size_t{1} << log_sq);
    q.rq.resize(size_t{1} << log_rq);
    spec::AdminQpArgs a;
    a.pd = static_cast<uint16_t>(100 + n);
    a.page = static_cast<uint16_t>(n + 1);
    a.send_cq = send_cq;
    a.recv_cq = recv_cq;
    a.sq_base = sq_base(n);
    a.log_sq = static_cast<uint8_t>(log_sq);
    if (srq) {
      q.srq = srq;
      a.has_srq = 1;
      a.srq = static_cast<uint16_t>(*srq);
    } else {
      a.rq_base = rq_base(n);
      a.log_rq = static_cast<uint8_t>(log_rq);
    }
    const auto words = a.to_words();
    ASSERT_EQ(command(spec::AdminOpcode::kCreateQp, n, words.data()).status,
              spec::AdminStatus::kOk);
    q.exists = true;
  }
  void create_srq(unsigned n, unsigned log) {
    const unsigned life = qps_[n].life + 1;
    Qp& q = qps_[n] = {};
    q.life = life;
    q.log_rq = log;
    q.rq.resize(size_t{1} << log);
    const spec::AdminSrqArgs a{.pd = 100,
                               .page = static_cast<uint16_t>(n + 1),
                               .base = rq_base(n),
                               .log_size = static_cast<uint8_t>(log)};
    const auto words = a.to_words();
    ASSERT_EQ(command(spec::AdminOpcode::kCreateSrq, n, words.data()).status,
              spec::AdminStatus::kOk);
    q.exists = true;
  }
  void set_limit(unsigned n, uint16_t limit) {
    const auto words = spec::AdminLimitArgs{.limit = limit}.to_words();
    ASSERT_EQ(command(spec::AdminOpcode::kModifySrq, n, words.data()).status,
              spec::AdminStatus::kOk);
  }
  void destroy_srq(unsigned n) {
    ASSERT_EQ(command(spec::AdminOpcode::kDestroySrq, n).status, spec::AdminStatus::kOk);
    qps_[n].exists = false;
  }
  void destroy(unsigned n) {
    ASSERT_EQ(command(spec::AdminOpcode::kDestroyQp, n).status, spec::AdminStatus::kOk);
    qps_[n].exists = false;
  }
  spec::AdminStatus modify(unsigned n, spec::QpState to) {
    const auto words = modify_args(n, to);
    return command(spec::AdminOpcode::kModifyQp, n, words.data()).status;
  }
  auto modify_args(unsigned n, spec::QpState to) const {
    spec::AdminModifyArgs a;
    a.to_state = static_cast<uint8_t>(to);
    a.use_crc = 1;
    a.connection = static_cast<uint16_t>(500 + n);
    a.ird = 4;
    a.ord = static_cast<uint8_t>(qps_[n].ord);
    a.ird_base = static_cast<uint16_t>(4 * n);
    a.ord_base = static_cast<uint16_t>(32 * n);
    return a.to_words();
  }
  void to_rts(unsigned n) {
    qps_[n].stopped = false;
    ASSERT_EQ(modify(n, spec::QpState::kRts), spec::AdminStatus::kOk);
  }
  spec::AdminQpResult query(unsigned n) {
    auto rsp = command(spec::AdminOpcode::kQueryQp, n);
    EXPECT_EQ(rsp.status, spec::AdminStatus::kOk);
    std::array<uint32_t, 4> w{};
    std::memcpy(w.data(), rsp.result.data(), 16);
    return spec::AdminQpResult::from_words(w.data());
  }
  /// Queries the QP up to 50 times, 200 cycles apart. Returns whether it reached the state.
  bool wait_state(unsigned n, spec::QpState s) {
    for (int i = 0; i < 50; i++) {
      if (query(n).state == s) return true;
      wait(200);
    }
    return false;
  }

  // --- user. The rings of a QP lie 16 MiB after those of the QP before it: answer_read() finds the
  // QP of an address.
  static uint64_t sq_base(unsigned n) { return 0x100000000ULL + n * 0x1000000ULL; }
  static uint64_t rq_base(unsigned n) { return 0x900000000ULL + n * 0x1000000ULL; }

  /// A WQE with SGEs of these lengths, or with sges[0] bytes inline. flags (spec::SqFlagBit): 1
  /// fence, 2 signaled, 4 solicited, 8 inline.
  Wr make(spec::WrOpcode op, std::vector<uint32_t> sges, uint8_t flags = 2,
          unsigned extra_units = 0) {
    Wr wr;
    wr.hdr.opcode = static_cast<uint8_t>(op);
    wr.hdr.flags = flags;
    wr.hdr.remote_address = rng_.next();
    wr.hdr.rkey = static_cast<uint32_t>(rng_.next());
    if (wr.is_inline()) {
      wr.hdr.length = sges.at(0);
      wr.body.resize(sges[0]);
      for (auto& b : wr.body) b = static_cast<uint8_t>(rng_.next());
    } else {
      wr.hdr.num_sge = static_cast<uint8_t>(sges.size());
      for (uint32_t length : sges) {
        wr.hdr.length += length;
        spec::WqeSge sge;
        sge.address = rng_.next();
        sge.length = length;
        sge.lkey = static_cast<uint32_t>(rng_.next() & 0x7fffffff);
        append(wr.body, sge);
      }
    }
    const size_t bytes = 32 + wr.body.size();
    wr.hdr.units = static_cast<uint8_t>(std::min<size_t>(4, (bytes + 63) / 64 + extra_units));
    return wr;
  }
  /// Replaces the lkey of an SGE. An SGE has 16 bytes, the last 4 of which are its lkey.
  static void set_key(Wr& wr, unsigned sge, uint32_t key) {
    std::memcpy(wr.body.data() + 16 * sge + 12, &key, 4);
  }

  /// Free units of the send ring.
  unsigned sq_room(unsigned n) {
    Qp& q = qps_[n];
    return (1U << q.log_sq) - (q.sq_prod - q.sq_free_from);
  }
  /// Writes the WQE into the ring. push: with a doorbell that carries it; else ring() announces it
  /// later.
  void post(unsigned n, const Wr& wr, bool push = false) {
    Qp& q = qps_[n];
    std::vector<uint8_t> bytes(64 *
                               std::max<size_t>(wr.hdr.units, (32 + wr.body.size() + 63) / 64));
    for (auto& b : bytes) b = static_cast<uint8_t>(rng_.next());
    const auto words = wr.hdr.to_words();
    std::memcpy(bytes.data(), words.data(), 32);
    if (!wr.body.empty()) std::memcpy(bytes.data() + 32, wr.body.data(), wr.body.size());
    const unsigned units = std::max<unsigned>(1, wr.hdr.units);
    for (unsigned u = 0; u < units; u++)
      std::memcpy(q.sq[(q.sq_prod + u) % q.sq.size()].data(), bytes.data() + 64 * u, 64);
    q.posted.push_back({wr, q.sq_prod, q.sq_prod + units});
    q.sq_prod += units;
    if (!push) return;
    spec::QpDoorbell bell = doorbell(n, spec::DoorbellKind::kPush, q.sq_prod);
    bell.units = static_cast<uint8_t>(units);
    std::memcpy(bell.data.data(), bytes.data(), std::min<size_t>(128, 64 * units));
    dut_.qp_doorbell.put(bell);
  }
  spec::QpDoorbell doorbell(unsigned n, spec::DoorbellKind kind, uint32_t index) {
    spec::QpDoorbell bell;
    bell.kind = kind;
    bell.qpn = static_cast<uint16_t>(n);
    bell.page = static_cast<uint16_t>(n + 1);
    bell.index = static_cast<uint16_t>(index);
    return bell;
  }
  void ring(unsigned n) {
    dut_.qp_doorbell.put(doorbell(n, spec::DoorbellKind::kSq, qps_[n].sq_prod));
  }
  /// Posts random receive WQEs, by default of 0 to 3 SGEs, and rings one doorbell for all of them.
  void post_recv(unsigned n, unsigned count = 1, std::optional<uint8_t> num_sge = {}) {
    for (unsigned i = 0; i < count; i++)
      write_recv(n, num_sge ? *num_sge : static_cast<uint8_t>(rng_.below(4)));
    ring_recv(n, qps_[n].rq_prod);
  }
  /// Writes a random WQE into the ring; ring_recv() announces all before an index.
  spec::RqWqe write_recv(unsigned n, uint8_t num_sge, std::optional<uint16_t> tag = {}) {
    Qp& q = qps_[n];
    spec::RqWqe w;
    w.num_sge = num_sge;
    w.tag = tag ? *tag : static_cast<uint16_t>(rng_.next());  // qp uses it only in an SRQ
    for (auto* s : {&w.sge0, &w.sge1, &w.sge2}) {
      s->address = rng_.next();
      s->length = static_cast<uint32_t>(rng_.next());
      s->lkey = static_cast<uint32_t>(rng_.next());
    }
    const auto words = w.to_words();
    std::memcpy(q.rq[q.rq_prod++ % q.rq.size()].data(), words.data(), 64);
    return w;
  }
  void ring_recv(unsigned n, uint32_t index) {
    qps_[n].rq_rung = now_;
    dut_.qp_doorbell.put(doorbell(n, spec::DoorbellKind::kRq, index));
  }
  /// Changes receive WQE i of the ring, before its doorbell takes effect.
  void spoil_recv(unsigned n, size_t i, const std::function<void(spec::RqWqe&)>& how) {
    Unit& unit = qps_[n].rq[i % qps_[n].rq.size()];
    std::array<uint32_t, 16> words{};
    std::memcpy(words.data(), unit.data(), 64);
    auto w = spec::RqWqe::from_words(words.data());
    how(w);
    words = w.to_words();
    std::memcpy(unit.data(), words.data(), 64);
  }
  static spec::RqWqe recv_of(const Unit& in_ring) {
    std::array<uint32_t, 16> w{};
    std::memcpy(w.data(), in_ring.data(), 64);
    return spec::RqWqe::from_words(w.data());
  }
  static void expect_wqe(const spec::RecvWqe& got, const spec::RqWqe& want) {
    EXPECT_EQ(got.num_sge, want.num_sge);
    const spec::WqeSge* from[] = {&want.sge0, &want.sge1, &want.sge2};
    const spec::Sge* to[] = {&got.sge0, &got.sge1, &got.sge2};
    for (int i = 0; i < 3; i++) {
      EXPECT_EQ(to[i]->tagged_offset, from[i]->address);
      EXPECT_EQ(to[i]->length, from[i]->length);
      EXPECT_EQ(to[i]->stag, from[i]->lkey);
    }
  }
  /// Free units of the receive ring.
  unsigned rq_room(unsigned n) {
    Qp& q = qps_[n];
    return (1U << q.log_rq) - (q.rq_prod - q.rq_reported);
  }
  /// ddp requests a receive WQE and reports it later.
  void receive(unsigned n, bool expect_found = true) {
    receive(n, expect_found ? spec::RqTake::kOk : spec::RqTake::kEmpty);
  }
  /// Without an expected result: on_take checks the result.
  void receive(unsigned n, std::optional<spec::RqTake> expected) {
    qps_[n].asked_takes++;
    take_order_.push_back({n, expected});
    dut_.rq_take_req.put({static_cast<uint16_t>(n)});
  }
  /// llp_if sends an event after qp has accepted each wr_done that was reported before.
  void event(unsigned n, spec::LlpQpEvt kind) {
    events_.push_back(
        {dut_.wr_done.moved() + dut_.wr_done.size(), {static_cast<uint16_t>(n), kind}});
    give_events();
  }
  /// rdmap reports the first error of a QP, and ignores later ones. slot: the window slot of the
  /// WQE that has failed, -1: none. sends_term: rdmap sends a Terminate, and llp_if reports later
  /// that it is sent.
  void error(unsigned n, spec::Cause cause, bool sends_term, int slot = -1,
             spec::WcStatus status = spec::WcStatus::kSuccess) {
    if (qps_[n].faulted) return;
    qps_[n].faulted = true;
    sends_term = sends_term && !qps_[n].closed;
    spec::QpError e;
    e.qpn = static_cast<uint16_t>(n);
    e.cause = cause;
    e.sends_term = sends_term;
    e.has_wr = slot >= 0;
    e.slot = static_cast<uint8_t>(std::max(slot, 0));
    e.status = status;
    dut_.qp_error.put(e);
    if (sends_term) {
      after(latency_, [this, n, life = qps_[n].life] {
        if (qps_[n].life != life || qps_[n].stopped) return true;
        if (!dut_.qp_error.empty()) return false;
        event(n, spec::LlpQpEvt::kTermDone);
        return true;
      });
    }
  }
  /// Returns whether every posted WQE of a running QP is issued and done.
  bool idle(unsigned n) {
    Qp& q = qps_[n];
    return q.issued == q.posted.size() &&
           std::all_of(q.posted.begin(), q.posted.end(), [](auto& p) { return p.done; }) &&
           q.rq_reported == q.rq_taken;
  }
  /// Checks that every posted WQE is reported exactly once.
  void expect_all_reported(unsigned n) {
    Qp& q = qps_[n];
    for (size_t i = q.reported; i < q.posted.size(); i++) {
      EXPECT_TRUE(q.posted[i].done && !q.posted[i].wr.is_signaled())
          << fmt::format("QP {}: WQE {} at {} was never reported", n, i, q.posted[i].first);
    }
    if (q.ended || q.rq_ended) {
      EXPECT_EQ(q.rq_reported, q.rq_prod) << "QP " << n << ": receives that were never reported";
    }
  }
  uint64_t now() const { return now_; }
  /// Actions of neighbours that are scheduled and not done.
  unsigned queued() const { return static_cast<unsigned>(timers_.size()); }

 private:
  static bool is_bind(const Wr& wr) {
    return wr.hdr.opcode == static_cast<uint8_t>(spec::WrOpcode::kBindMw);
  }
  /// The WQEs of this bench that a fence waits for: Read, bind.
  static bool is_request(const Wr& wr) {
    return wr.hdr.opcode == static_cast<uint8_t>(spec::WrOpcode::kRdmaRead) || is_bind(wr);
  }
  /// Reports that a Read is placed, or that tpt has bound the window.
  void request_done(unsigned n, const Wr& wr, uint8_t slot) {
    qps_[n].reads--;
    if constexpr (requires { dut_.res_done; }) {
      if (is_bind(wr)) return dut_.res_done.put({static_cast<uint16_t>(n), slot});
    }
    spec::RxDone d;  // the model's qp gets both reports on one stream
    d.qpn = static_cast<uint16_t>(n);
    d.kind = spec::DeliverKind::kRead;
    d.slot = slot;
    dut_.rx_done.put(d);
  }
  void append(std::vector<uint8_t>& to, const spec::WqeSge& sge) {
    const auto w = sge.to_words();
    const size_t at = to.size();
    to.resize(at + 16);
    std::memcpy(to.data() + at, w.data(), 16);
  }
  /// Runs f later, at a random time. If f returns false, it is called again.
  void after(unsigned latency, std::function<bool()> f, uint64_t not_before = 0) {
    timers_.emplace(std::max(now_ + rng_.below(latency + 1), not_before), std::move(f));
  }

  void give_events() {
    for (; !events_.empty() && dut_.wr_done.moved() >= events_.front().first; events_.pop_front())
      dut_.llp_event.put(events_.front().second);
  }
  void pump() {
    now_++;
    on_cycle();
    give_events();
    while (!timers_.empty() && timers_.begin()->first <= now_) {
      auto f = std::move(timers_.begin()->second);
      timers_.erase(timers_.begin());
      if (!f()) timers_.emplace(now_ + 3, std::move(f));
    }
    while (auto r = pop(dut_.sq_rd_req)) answer_read(*r, true);
    while (auto r = pop(dut_.rq_rd_req)) answer_read(*r, false);
    while (auto c = pop(dut_.wqe_check)) check(*c);
    while (!dut_.wqe_hdr.empty() && !dut_.wqe.empty())
      issue(*pop(dut_.wqe_hdr), dut_.wqe.take_packet(1).bytes);
    while (auto c = pop(dut_.cqe_req)) completion(*c);
    while (auto t = pop(dut_.rq_take_rsp)) taken(*t);
    while (auto f = pop(dut_.qp_fault)) fault(*f);
    while (auto a = pop(dut_.qp_async)) asyncs_.push_back(a->qpn);
    while (auto p = pop(dut_.qp_purge)) purges_.push_back(p->qpn);
    while (auto c = pop(dut_.qp_ctl_llp))
      control("llp", *c, dut_.qp_ack_llp,
              [this] { return dut_.wr_done.empty() && dut_.llp_event.empty(); });
    while (auto c = pop(dut_.qp_ctl_mpa)) control("mpa", *c, dut_.qp_ack_mpa, [] { return true; });
    while (auto c = pop(dut_.qp_ctl_ddp))
      control("ddp", *c, dut_.qp_ack_ddp,
              [this, ctl = *c, reports = std::optional<uint64_t>{}]() mutable {
                Qp& q = qps_[ctl.qpn];
                if (q.asked_takes != 0 || q.unreported != 0) return false;
                if (!reports) reports = dut_.rx_done.moved() + dut_.rx_done.size();
                if (dut_.rx_done.moved() < *reports || !dut_.sq_slot_free.empty()) return false;
                if (ctl.op == spec::QpOp::kStart) q.in_ddp = true;
                if (ctl.op == spec::QpOp::kStop || ctl.op == spec::QpOp::kAbort) q.in_ddp = false;
                return true;
              });
    while (auto c = pop(dut_.qp_ctl_rdmap))
      control("rdmap", *c, dut_.qp_ack_rdmap, [this] { return dut_.qp_error.empty(); });
  }
  template <class Out>
  auto pop(Out& out) -> std::optional<typename Out::Item> {
    if (out.empty()) return std::nullopt;
    auto item = std::move(out.items().front());
    out.items().pop_front();
    return item;
  }

  void answer_read(const spec::RdReq& r, bool is_sq) {
    const uint64_t base0 = is_sq ? sq_base(0) : rq_base(0);
    const auto n = static_cast<unsigned>((r.address - base0) / 0x1000000);
    ASSERT_LT(n, kQps);
    Qp& q = qps_[n];
    auto& ring = is_sq ? q.sq : q.rq;
    const uint64_t at = (r.address - (is_sq ? sq_base(n) : rq_base(n))) / 64;
    EXPECT_TRUE(q.exists) << "a read of the ring of a QP that is gone";
    EXPECT_EQ(r.length % 64, 0U);
    ASSERT_GT(r.length, 0U);
    ASSERT_LE(at + r.length / 64, ring.size()) << "a read across the ring's end";
    if (is_sq) sq_reads_++;
    if (!is_sq) q.rq_reads++;
    const bool bad = std::exchange(is_sq ? fail_sq_ : fail_rq_, false);
    if (!is_sq) q.failed_reads += bad;
    // Memory as of now: units that are not yet announced have not their final bytes, so issue()
    // detects a read of them.
    std::vector<uint8_t> bytes;
    for (unsigned u = 0; u < r.length / 64 && !bad; u++)
      bytes.insert(bytes.end(), ring[at + u].begin(), ring[at + u].end());
    uint64_t& last = is_sq ? last_sq_ : last_rq_;
    last = std::max(last + 1, now_ + far_ + rng_.below(latency_ + 1));
    most_[is_sq] = std::max(most_[is_sq], ++under_way_[is_sq]);
    after(
        0,
        [this, is_sq, bad, bytes, r] {
          under_way_[is_sq]--;
          auto& hdr = is_sq ? dut_.sq_rd_hdr : dut_.rq_rd_hdr;
          auto& beats = is_sq ? dut_.sq_rd : dut_.rq_rd;
          hdr.put({bad ? spec::RdStatus::kPoisoned : spec::RdStatus::kOk, r.length});
          beats.put_packet(bytes);
          return true;
        },
        last);
  }
  void check(const spec::WqeCheck& c) {
    EXPECT_GT(c.length, 0U);
    EXPECT_GE(c.pd, 100U);
    if (c.stag == kBadKey) check_bad_ = true;
    checks_.push_back(c);
    if (!c.last) return;
    const bool bad = check_bad_;
    check_bad_ = false;
    last_check_ = std::max(last_check_ + 1, now_ + rng_.below(latency_ / 4 + 1));
    check_sets_.push_back(checks_);
    checks_.clear();
    after(
        0,
        [this, bad] {
          dut_.wqe_check_rsp.put({bad ? spec::TptResult::kRights : spec::TptResult::kOk});
          return true;
        },
        last_check_);
  }
  void issue(const spec::WqeHdr& h, const std::vector<uint8_t>& body) {
    Qp& q = qps_.at(h.qpn);
    ASSERT_FALSE(q.stopped) << "a WQE of a stopped QP";
    ASSERT_LT(q.issued, q.posted.size()) << "a WQE that was not posted";
    const size_t index = q.issued++;
    PostedWr& p = q.posted[index];
    const Wr& wr = p.wr;
    EXPECT_EQ(static_cast<uint8_t>(h.opcode), wr.hdr.opcode);
    EXPECT_EQ(h.length, wr.hdr.length);
    EXPECT_EQ(h.remote_to, wr.hdr.remote_address);
    EXPECT_EQ(h.remote_stag, wr.hdr.rkey);
    EXPECT_EQ(h.num_sge, wr.hdr.num_sge);
    EXPECT_EQ(h.is_inline, wr.is_inline());
    EXPECT_EQ(h.is_solicited, wr.has(spec::SqFlagBit::kSolicited));
    EXPECT_EQ(body, wr.body);
    EXPECT_EQ(h.slot, index % window());
    p.issued = true;
    const bool is_read = wr.hdr.opcode == 4, is_own = is_bind(wr);  // 4: RDMA Read
    if (wr.has(spec::SqFlagBit::kFence)) {
      EXPECT_EQ(q.reads, 0U) << "fence";
    }
    if (std::exchange(q.after_bind, is_own)) {
      EXPECT_EQ(q.reads, 0U) << "the fence after a bind";
    }
    if (is_read) {
      EXPECT_LT(q.reads, q.ord) << "more Reads than ord";
    }
    if (!is_own) {
      EXPECT_LT(q.slots, slots()) << "more messages than ddp has slots";
    }
    if (!wr.is_inline()) expect_checks(wr, is_read, h.qpn);
    q.reads += is_request(wr);
    q.slots += !is_own;
    q.last_done = std::max(q.last_done + 1, now_ + rng_.below(latency_ + 1));
    const unsigned n = h.qpn;
    after(
        0,
        [this, n, is_own, life = q.life] {
          Qp& qq = qps_[n];
          if (qq.life != life || is_own) return true;
          qq.slots--;
          if (!qq.stopped) dut_.sq_slot_free.put({static_cast<uint16_t>(n)});
          return true;
        },
        q.last_done);
    const uint64_t done_at = is_read ? q.last_done + rng_.below(2 * latency_ + 1) : q.last_done + 1;
    after(
        0,
        [this, n, index, is_read, h, life = q.life] {
          Qp& qq = qps_[n];
          if (qq.life != life || qq.stopped || qq.faulted || qq.posted[index].done) return true;
          if (hold_done_) return false;
          if (is_read) {  // Read responses come in order
            for (size_t i = 0; i < index; i++)
              if (qq.posted[i].wr.hdr.opcode == 4 && !qq.posted[i].done) return false;
          }
          if (is_request(qq.posted[index].wr)) {
            request_done(n, qq.posted[index].wr, h.slot);
          } else {
            dut_.wr_done.put({static_cast<uint16_t>(n), h.slot});
          }
          qq.posted[index].done = true;
          return true;
        },
        done_at);
  }
  void expect_checks(const Wr& wr, bool is_read, unsigned n) {
    std::vector<spec::WqeCheck> want;
    for (unsigned i = 0; i < wr.hdr.num_sge; i++) {
      std::array<uint32_t, 4> w{};
      std::memcpy(w.data(), wr.body.data() + 16 * i, 16);
      const auto s = spec::WqeSge::from_words(w.data());
      if (s.length == 0) continue;
      spec::WqeCheck c;
      c.stag = s.lkey;
      c.tagged_offset = s.address;
      c.length = s.length;
      c.pd = static_cast<uint16_t>(100 + n);
      c.qpn = static_cast<uint16_t>(n);
      c.rights = is_read ? 1 : 0;
      want.push_back(c);
    }
    if (want.empty()) return;
    want.back().last = 1;
    ASSERT_FALSE(check_sets_.empty());
    // Between the sets of good WQEs there may be sets of failed ones.
    while (check_sets_.size() > 1 && check_sets_.front() != want) check_sets_.pop_front();
    EXPECT_EQ(check_sets_.front(), want);
    check_sets_.pop_front();
  }
  /// Checks a CQE against what was posted. A flush entry covers all WQEs before its index.
  void completion(const spec::CqeReq& c) {
    on_completion(c);
    const spec::Cqe& e = c.entry;
    ASSERT_LT(e.qpn, kQps);
    Qp& q = qps_[e.qpn];
    if (e.is_recv) {
      q.rq_cqes.push_back(e);
      EXPECT_EQ(e.opcode, spec::WcOpcode::kRecv);
      if (q.srq) {
        ASSERT_FALSE(q.tags.empty()) << "QP " << e.qpn << ": a receive that it has not taken";
        EXPECT_EQ(e.index, q.tags.front());
        q.tags.pop_front();
        q.rq_reported++;
        return;
      }
      if (e.status == spec::WcStatus::kWrFlushErr) {
        const auto n = static_cast<uint16_t>(e.index - q.rq_reported);
        EXPECT_GT(n, 0U) << "an empty flush entry";
        EXPECT_LE(n, q.rq_prod - q.rq_reported);
        q.rq_reported += n;
        q.rq_ended = true;
      } else {
        EXPECT_FALSE(q.rq_ended);
        EXPECT_EQ(e.index, static_cast<uint16_t>(q.rq_reported));
        q.rq_reported++;
      }
      return;
    }
    q.sq_cqes.push_back(e);
    if (e.status == spec::WcStatus::kWrFlushErr) {
      const size_t from = q.reported;
      while (q.reported < q.posted.size() &&
             (q.reported == from || static_cast<uint16_t>(q.posted[q.reported].first) != e.index))
        q.reported++;
      EXPECT_GT(q.reported, from) << "QP " << e.qpn << ": a flush entry for nothing";
      EXPECT_EQ(static_cast<uint16_t>(q.posted.at(q.reported - 1).after), e.index);
      q.ended = true;
    } else {
      while (q.reported < q.posted.size() &&
             static_cast<uint16_t>(q.posted[q.reported].first) != e.index) {
        EXPECT_TRUE(q.posted[q.reported].done && !q.posted[q.reported].wr.is_signaled())
            << fmt::format("QP {}: WQE {} was passed over", e.qpn, q.reported);
        q.reported++;
      }
      ASSERT_LT(q.reported, q.posted.size()) << "a completion of nothing";
      PostedWr& p = q.posted[q.reported++];
      if (e.status == spec::WcStatus::kSuccess) {
        EXPECT_TRUE(p.done) << "completed before it was done";
        EXPECT_TRUE(p.wr.is_signaled());
        EXPECT_FALSE(q.ended);
        EXPECT_EQ(e.byte_len, p.wr.hdr.length);
        // 0: RDMA Write
        const auto want = p.wr.hdr.opcode == 0   ? spec::WcOpcode::kRdmaWrite
                          : p.wr.hdr.opcode == 4 ? spec::WcOpcode::kRdmaRead
                          : is_bind(p.wr)        ? spec::WcOpcode::kBindMw
                                                 : spec::WcOpcode::kSend;
        EXPECT_EQ(e.opcode, want);
      } else {
        q.ended = true;
      }
    }
    if (q.reported > 0) q.sq_free_from = q.posted[q.reported - 1].after;
  }
  void taken(const spec::RqTakeRsp& t) {
    ASSERT_FALSE(take_order_.empty());
    const auto [n, expected] = take_order_.front();
    take_order_.pop_front();
    Qp& q = qps_[n];
    q.asked_takes--;
    on_take(n, t);
    EXPECT_EQ(t.result, expected.value_or(t.result))
        << fmt::format("QP {}: taken {} of {}, stopped {} faulted {}, rung {} cycles ago", n,
                       q.rq_taken, q.rq_prod, q.stopped, q.faulted, now_ - q.rq_rung);
    q.takes.push_back(t);
    EXPECT_EQ(t.shared, q.srq.has_value());
    if (t.result == spec::RqTake::kEmpty) return;
    if (q.srq && t.result == spec::RqTake::kFailed) {  // the WQE stays in the SRQ
      if (!hold_faults_ && !q.stopped) error(n, spec::Cause::kLocalCatastrophic, true);
      return;
    }
    Qp& row = q.srq ? qps_[*q.srq] : q;
    const Unit& in_ring = row.rq[row.rq_taken % row.rq.size()];
    EXPECT_EQ(t.wqe.index, q.srq ? recv_of(in_ring).tag : static_cast<uint16_t>(q.rq_taken));
    if (t.result == spec::RqTake::kOk) expect_wqe(t.wqe, recv_of(in_ring));
    row.rq_taken++;
    if (q.srq) {
      q.rq_taken++;
      q.tags.push_back(t.wqe.index);
      q.unreported++;
    }
    const unsigned qpn = n;
    const uint16_t index = t.wqe.index;
    const auto status = t.result == spec::RqTake::kOk       ? spec::WcStatus::kSuccess
                        : t.result == spec::RqTake::kFailed ? spec::WcStatus::kFatalErr
                                                            : spec::WcStatus::kLocQpOpErr;
    q.last_done = std::max(q.last_done + 1, now_ + rng_.below(latency_ + 1));
    after(
        0,
        [this, qpn, index, status, life = q.life] {
          const bool over = qps_[qpn].stopped || qps_[qpn].faulted;
          if (qps_[qpn].life != life || (over && !qps_[qpn].srq)) return true;
          if (qps_[qpn].srq) qps_[qpn].unreported--;
          spec::RxDone d;
          d.qpn = static_cast<uint16_t>(qpn);
          d.kind = spec::DeliverKind::kRecv;
          d.index = index;
          d.byte_len = index * 3U;
          d.solicited = index & 1;
          d.status = over ? spec::WcStatus::kWrFlushErr : status;
          dut_.rx_done.put(d);
          if (over) return true;
          // ddp reports the receive, then rdmap reports the error.
          if (status != spec::WcStatus::kSuccess && !hold_faults_)
            error(qpn, spec::Cause::kLocalCatastrophic, true);
          return true;
        },
        q.last_done);
  }
  void fault(const spec::QpFault& f) {
    faults_.push_back(f);
    const bool term = f.cause != spec::Cause::kLlpLost && term_on_fault;
    after(latency_, [this, f, term] {
      error(f.qpn, f.cause, term);
      return true;
    });
  }
  template <class Ack, class Ready>
  void control(const char* unit, const spec::QpCtlLlp& c, Ack& ack, Ready ready) {
    static const char* const kOps[] = {"start", "stop", "half_close", "abort", "sync"};
    ctl_.push_back(fmt::format("{} {} {}", c.qpn, unit, kOps[static_cast<unsigned>(c.op)]));
    EXPECT_EQ(c.params.connection, 500 + c.qpn);
    EXPECT_EQ(c.params.pd, 100 + c.qpn);
    if (c.op == spec::QpOp::kStop || c.op == spec::QpOp::kAbort) qps_.at(c.qpn).stopped = true;
    if (c.op == spec::QpOp::kHalfClose && std::string_view(unit) == "llp") {
      EXPECT_TRUE(qps_.at(c.qpn).closed) << "FIN while a Read of the peer is answered";
    }
    if (c.op == spec::QpOp::kHalfClose && std::string_view(unit) == "rdmap") {
      EXPECT_FALSE(std::exchange(qps_.at(c.qpn).asked, true)) << "rdmap was asked twice";
      after(latency_, [this, c] {
        Qp& q = qps_[c.qpn];
        if (q.stopped || q.faulted) return true;
        if (hold_responder_) return false;
        q.closed = true;
        dut_.qp_error.put({.qpn = c.qpn});  // cause kNone: rdmap's report that it has closed
        return true;
      });
    }
    after(latency_, [this, &ack, ready, c]() mutable {
      if (!ready() || hold_acks_) return false;
      ack.put({c.qpn});
      return true;
    });
  }
  static unsigned window() {
    return D::kMinimum ? spec::Sizes::minimum().sq_window : spec::Sizes{}.sq_window;
  }
  static unsigned slots() {
    return D::kMinimum ? spec::Sizes::minimum().sq_slots : spec::Sizes{}.sq_slots;
  }

  D& dut_;
  base::Rng rng_;
  unsigned latency_;
  std::vector<Qp> qps_;
  std::multimap<uint64_t, std::function<bool()>> timers_;
  uint64_t far_ = 0;
  // Reads in flight and the most at a time: [0] of receive rings, [1] of send rings.
  std::array<unsigned, 2> under_way_{}, most_{};
  // last_*: cycle of the newest scheduled response; it keeps responses in order.
  uint64_t now_ = 0, last_sq_ = 0, last_rq_ = 0, last_check_ = 0;
  unsigned sq_reads_ = 0;
  bool fail_sq_ = false, fail_rq_ = false, check_bad_ = false;
  bool hold_acks_ = false, hold_done_ = false, hold_faults_ = false, hold_responder_ = false;
  // event, and the count of wr_done after which it is sent
  std::deque<std::pair<uint64_t, spec::LlpEvent>> events_;
  std::vector<spec::WqeCheck> checks_;                  // of the WQE that is being checked
  std::deque<std::vector<spec::WqeCheck>> check_sets_;  // of each WQE whose last check has come
  std::deque<std::pair<unsigned, std::optional<spec::RqTake>>> take_order_;
  std::vector<std::string> ctl_;
  std::vector<spec::QpFault> faults_;
  std::vector<unsigned> asyncs_;
  std::vector<unsigned> purges_;
};

}  // namespace rnic::tb

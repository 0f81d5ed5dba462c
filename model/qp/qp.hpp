// QP engine: contexts and states, work queues, issue, retirement, flush. RFC 5040 sections 5 and 6,
// architecture 5 and 7. RTL: rtl/qp/qp.sv
//
//   Qp qp(sizes, tpt, out);   qp.command(create);   qp.doorbell(db);
//   MemRead r = qp.fetch(qp.fetchable().next(0));   qp.fetched(data);
//   auto wqe = qp.issue(qp.issuable().next(last + 1));
//   qp.wr_done({qpn, slot});   qp.retire(qpn);          // at most one cqe_req
//
// The sets list the QPs with possible work. The caller selects the next QP: the wrapper's arbiter
// or a trace.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "gen/errors.hpp"
#include "gen/queues.hpp"
#include "gen/sizes.hpp"
#include "sc/ready_set.hpp"
#include "sc/ring.hpp"
#include "stream/packets.hpp"
#include "tpt/tpt.hpp"

namespace rnic::model {

class Qp {
 public:
  enum class Peer : uint8_t { kMpa, kDdp, kRdmap, kLlp };  ///< units that keep state of a QP
  /// The sets of QPs with possible work: fetchable(), issuable(), retirable(), rq_fetchable().
  enum class Set : uint8_t { kFetchable, kIssuable, kRetirable, kRqFetchable };
  struct Out {
    virtual ~Out() = default;
    virtual void qp_cmd_rsp(const spec::QpCmdRsp& rsp) = 0;
    virtual void qp_ctl(Peer peer, const spec::QpCtlLlp& ctl) = 0;  // an order: ack() follows
    virtual void qp_fault(const spec::QpFault& fault) = 0;          // to rdmap, which ends the QP
    virtual void cqe_req(const spec::CqeReq& cqe) = 0;
    virtual void qp_async(const spec::QpAsync& async) = 0;  // QP in error, or limit reached
    virtual void qp_purge(const spec::QpPurge& purge) = 0;  // host_if drops the halves of pushes
    virtual void ready(Set set) = 0;                        // the set has gained a member
    /// Requests a call of look() once all earlier wr_done and rx_done reports are processed. A
    /// follower takes that moment from the RTL's commits.
    virtual void look_due(uint16_t /*qpn*/) {}
  };
  Qp(const spec::Sizes& sizes, const Translation& tpt, Out& out);

  /// Takes the producer index of a doorbell, and the WQE of a push. Returns false, with no change,
  /// if the doorbell is invalid (fits()); the caller counts these.
  bool doorbell(const spec::QpDoorbell& db);

  // Send queue.
  const ReadySet& fetchable() const { return fetchable_; }
  /// Returns the next read of the QP's ring, of at most `most` units. A follower reads single
  /// units.
  MemRead fetch(uint16_t qpn, uint16_t most = UINT16_MAX);
  void fetched(const MemData& data);  // data of fetch(), in order
  const ReadySet& issuable() const { return issuable_; }
  /// Takes the next WQE out of the prefetch buffer and checks it. Returns nothing if a check fails;
  /// then Out::qp_fault() has been called.
  std::optional<Wqe> issue(uint16_t qpn);
  /// WQEs that one visit may issue: as many as ddp has free slots. 1 if the window has no room for
  /// the largest visit (qp_pick compares once there, and computes no minimum).
  uint32_t room(uint16_t qpn) const;
  /// At least the first unit of the next WQE is in the buffer.
  bool has_next(uint16_t qpn) const { return ctx_[qpn].sq.here() != 0; }
  /// The next WQE takes an ORD slot: a Read, Flush, atomic or Atomic Write.
  bool next_asks_peer(uint16_t qpn) const;
  /// Requests with an ORD slot that may be issued before an outstanding one ends.
  uint32_t reads_room(uint16_t qpn) const {
    const Ctx& c = ctx_[qpn];
    return c.params.ord - std::min<uint32_t>(c.params.ord, c.reads);
  }
  void sq_slot_free(const spec::SqSlotFree& free);  // ddp has sent a message: a slot is free
  void wr_done(const spec::WrDone& done);           // an issued WQE is done
  const ReadySet& retirable() const { return retirable_; }
  void retire(uint16_t qpn);  // one step: a completed WQE, or one entry of a flush

  // Receive queue.
  const ReadySet& rq_fetchable() const { return rq_fetchable_; }
  MemRead rq_fetch(uint16_t row, uint16_t most = UINT16_MAX);  // as fetch()
  void rq_fetched(const MemData& data);                        // data of rq_fetch(), in order
  /// The row from which this QP takes its receives: its own number, or that of its SRQ. rq_fetch(),
  /// rq_waits(), rq_here(), limit() and reach_limit() take a row.
  uint16_t row(uint16_t qpn) const { return ctx_[qpn].has_srq ? ctx_[qpn].srq : qpn; }
  bool is_srq(uint16_t qpn) const { return ctx_[qpn].exists && ctx_[qpn].is_srq; }
  /// rq_take_req of a QP: returns the response, or nothing while a fetch is outstanding. Then the
  /// caller repeats this take before it begins another.
  /// From rdmap's error of a QP on, its takes from an SRQ are answered as empty.
  std::optional<spec::RqTakeRsp> rq_take(uint16_t qpn);
  /// For a follower, which copies two choices of the RTL: the take is not barred by the QP's error,
  /// and `reaches` says whether it reaches the limit of the SRQ.
  std::optional<spec::RqTakeRsp> rq_take(uint16_t qpn, bool reaches);
  /// Whether the next take of this QP uses up a WQE and leaves fewer than the limit of its SRQ.
  bool limit_due(uint16_t qpn) const;
  uint16_t limit(uint16_t row) const { return ctx_[row].limit; }  ///< 0: disarmed
  void reach_limit(uint16_t row);                                 ///< disarms; Out::qp_async
  /// Reports a finished receive, or a finished request of the QP (kind kRead).
  void rx_done(const spec::RxDone& done);

  // States. Commands and events of a QP wait while the other units carry out its orders.
  void command(const spec::QpCmd& cmd);
  /// Answers the QP's command with in_progress, if it has not begun or is a modify_qp to error that
  /// waits (decision 6). Returns false for any other command.
  bool give_up(uint16_t qpn);
  void ack(Peer peer, uint16_t qpn);  // a unit has carried out the order of Out::qp_ctl()
  /// Of rdmap: the QP's first error. Cause kNone: the responder is idle after a half_close.
  void qp_error(const spec::QpError& error);
  void llp_event(const spec::LlpEvent& event);
  void cq_fault(const spec::CqFault& fault);
  void look(uint16_t qpn);  // requested by look_due(); no effect if none is due

  spec::QpState state(uint16_t qpn) const { return ctx_[qpn].state; }

  // For a follower (sim/tandem), which gets each choice from outside: when a close continues, which
  // copy of a pushed WQE is used, what a fetch has returned.
  /// Makes this a follower: an empty send queue does not start a close, no sync is ordered, and a
  /// flush begins without look().
  void follow() { told_ = true; }
  /// Events that the RTL handled together, in place of qp_error(), llp_event() and cq_fault().
  /// kEmpty: the QP's send queue is empty. Calls Out::look_due() if the next action depends on the
  /// QP's outstanding work.
  enum Event : uint8_t {
    kError = 1,
    kPeerClosed = 2,
    kClosed = 4,
    kLost = 8,
    kTermDone = 16,
    kCqFailed = 32,
    kEmpty = 64
  };
  void happened_together(uint16_t qpn, uint8_t events, const spec::QpError& error);
  bool lost(uint16_t qpn) const { return ctx_[qpn].lost; }  ///< the connection is unusable
  /// The doorbell is valid: its QP, queue and page fit, and its index is in range.
  bool fits(const spec::QpDoorbell& db) const {
    return db.qpn < ctx_.size() && fits(db, retired(db.qpn, db.kind == spec::DoorbellKind::kRq));
  }
  /// The same, for a driver that only knows that the queue has retired up to `retired`.
  bool fits(const spec::QpDoorbell& db, uint16_t retired) const;
  /// The index up to which a queue has retired. Of an SRQ: the index of the next take.
  uint16_t retired(uint16_t qpn, bool is_recv) const {
    const Ctx& c = ctx_[qpn];
    return c.is_srq ? c.rq.taken : (is_recv ? c.rq : c.sq).retired;
  }
  void ring(const spec::QpDoorbell& db);  ///< takes the index, without a check
  bool push(const spec::QpDoorbell& db);  ///< uses the pushed copy; false if it is not the next WQE
                                          ///< or has no space
  uint16_t sq_fetched(uint16_t qpn) const { return ctx_[qpn].sq.fetched; }
  // *_waits: WQEs are announced that are not issued or taken. rq_here: one is in the buffer.
  bool sq_waits(uint16_t qpn) const { return ctx_[qpn].sq.taken != ctx_[qpn].sq.producer; }
  bool rq_waits(uint16_t row) const { return ctx_[row].rq.taken != ctx_[row].rq.producer; }
  bool rq_here(uint16_t row) const { return ctx_[row].rq.here() != 0; }
  bool issues(uint16_t qpn) const { return !ctx_[qpn].issue_stopped; }  ///< no WQE has failed
  /// Units of the next WQE that have to be fetched before issue(). 0 also if none can be fetched: a
  /// fetch has failed, or the doorbell's index is reached.
  uint32_t missing(uint16_t qpn) const;
  bool asks(uint16_t qpn) const;  ///< the keys of the next WQE are looked up
  bool sq_empty(uint16_t qpn) const { return ctx_[qpn].sq.producer == ctx_[qpn].sq.retired; }
  bool reads_outstanding(uint16_t qpn) const { return ctx_[qpn].reads != 0; }
  bool exists(uint16_t qpn) const { return ctx_[qpn].exists; }
  bool completes_on(uint16_t qpn, uint16_t cqn) const;  ///< cqn is the QP's send or receive CQ
  bool waits_for_term(uint16_t qpn) const { return ctx_[qpn].phase == Ctx::Phase::kTermWait; }
  bool flushing(uint16_t qpn) const { return ctx_[qpn].phase == Ctx::Phase::kFlushing; }
  /// The oldest issued WQE is done, and no flush has begun: retire() completes it.
  bool has_done(uint16_t qpn) const {
    const Ctx& c = ctx_[qpn];
    return c.win_count != 0 && !c.retired_done && window_[qpn * sq_window_ + c.win_head].done;
  }
  void cq_failed(uint16_t qpn);    ///< one of its CQs has failed
  void peer_closed(uint16_t qpn);  ///< the FIN is processed: a Read would get no response
  void ask_close(uint16_t qpn);    ///< the send queue is empty: orders half_close of rdmap
  void half_close(uint16_t qpn);   ///< rdmap has finished: send the FIN
  void closed(uint16_t qpn);       ///< the peer's FIN has arrived as well: stop
  std::string waiting_for() const;

 private:
  struct Ring16 {  // a work queue in host memory; free-running indices in units of 64 bytes
    uint64_t base = 0;
    uint16_t cqn = 0;
    uint8_t log = 0;
    // A unit passes these indices in this order: announced by a doorbell, requested, in the
    // prefetch buffer, issued (or taken by ddp), retired.
    uint16_t producer = 0, fetched = 0, arrived = 0, taken = 0, retired = 0;
    uint8_t reads = 0;    // outstanding fetches of the units between arrived and fetched
    bool bad = false;     // a fetch failed; receive queue: the one that a take waits for
    bool drop = false;    // receive queue: a fetch has failed, discard the outstanding ones
    bool wanted = false;  // receive queue: a doorbell, a take or the previous fetch wants a fetch
    bool taking = false;  // receive queue: a take waits for the fetch
    uint32_t size() const { return 1U << log; }
    uint16_t distance(uint16_t from, uint16_t to) const { return static_cast<uint16_t>(to - from); }
    uint16_t here() const { return distance(taken, arrived); }
    uint64_t address(uint16_t index) const { return base + uint64_t{64} * (index & (size() - 1)); }
  };
  struct Issued {                   // an entry of the window
    uint16_t index = 0, after = 0;  // of its first unit, and of the unit after its last
    spec::WrOpcode opcode{};
    bool signaled = false, done = false, failed = false;
    spec::WcStatus status{};
    uint32_t length = 0;
  };
  struct Order {  // an order to another unit
    Peer peer{};
    spec::QpOp op{};
  };
  struct Ctx {
    bool exists = false, receives = false;  // receives: receive WQEs may be taken
    bool is_srq = false;                    // only page, pd and rq are used
    bool has_srq = false;                   // rq is not used, except for its cqn
    uint16_t srq = 0, limit = 0;            // number of the QP's SRQ; limit of an SRQ (0: disarmed)
    spec::QpState state{};
    uint16_t pd = 0, page = 0;
    uint32_t life = 0;  // identifies fetches of an earlier QP with this number
    Ring16 sq, rq;
    spec::QpParams params;
    // slots: messages that ddp holds. reads: outstanding requests to the peer and to tpt, for which
    // a fence waits.
    uint8_t win_head = 0, win_count = 0, slots = 0, reads = 0;
    bool issue_stopped = false;  // a WQE has failed
    bool after_key = false;      // the last issued WQE opens_key(): the next waits as with a fence
    // Pending events, and the command that waits until the QP is not busy.
    uint8_t events = 0;
    spec::QpError error;  // of event kError
    std::optional<spec::QpCmd> command;
    enum class Phase : uint8_t {
      kSteady,    // takes the next event or command
      kTermWait,  // waits until its Terminate is sent
      kOrders,    // waits for the acknowledgement of an order
      kLooking,   // waits for look(), then decides how the close continues
      kDraining,  // waits for look(), then flushes
      kFlushing
    } phase{};
    // Orders to other units, sent one after the other, each acknowledged; `then` is the next
    // action: kStarted: rts, and answer the command. kLook: request look(). kLost: report the lost
    // connection to rdmap. kFlush: drain(), then flush.
    std::array<Order, 6> orders{};
    uint8_t order_count = 0, step = 0;
    enum class Then : uint8_t { kNothing, kStarted, kLook, kLost, kFlush } then{};
    bool lost = false;  // the connection is unusable and rdmap has the fault
    bool fin = false;   // the peer's FIN has arrived: a Read would get no response
    // The send queue is empty and rdmap has a half_close: it reports when no request of the peer is
    // left.
    bool asked = false;
    bool half_closed = false;   // rdmap has reported that: our FIN is ordered
    bool term_seen = false;     // a Terminate was sent before rdmap reported the cause
    bool answer_due = false;    // a modify_qp to error waits for the end of the flush
    bool is_asked_for = false;  // a command ends the QP: entered_error() raises no event
    bool retired_done = false;  // the flush has begun: no WQE retires as done any more
    bool is_barred = false;     // rdmap has reported the QP's error: it takes nothing from its SRQ
    spec::Cause cause{};
    bool has_peer_term = false;
    uint16_t peer_term = 0;
  };
  struct Pending {  // an outstanding fetch
    uint16_t qpn = 0, count = 0;
    uint32_t life = 0;
  };

  Issued& window(uint16_t qpn, uint32_t i) {
    return window_[size_t{qpn} * sq_window_ + (ctx_[qpn].win_head + i) % sq_window_];
  }
  rnic::Payload& unit(uint16_t qpn, uint16_t index) {
    return prefetch_[size_t{qpn} * sq_prefetch_ + index % sq_prefetch_];
  }
  const rnic::Payload& unit(uint16_t qpn, uint16_t index) const {
    return prefetch_[size_t{qpn} * sq_prefetch_ + index % sq_prefetch_];
  }
  spec::RecvWqe& recv(uint16_t qpn, uint16_t index) {
    return recvs_[size_t{qpn} * rq_prefetch_ + index % rq_prefetch_];
  }
  static bool live(const Ctx& c) {
    return c.exists && (c.state == spec::QpState::kRts || c.state == spec::QpState::kClosing);
  }
  static bool busy(const Ctx& c) {
    return c.phase != Ctx::Phase::kSteady && c.phase != Ctx::Phase::kTermWait;
  }
  static uint32_t free(const Ring16& r, uint32_t prefetch, uint32_t most = UINT32_MAX);
  void update(uint16_t qpn);
  void put(ReadySet& members, Set set, uint16_t qpn, bool member);
  bool can_issue(uint16_t qpn);
  bool bad_header(const spec::SqWqe& w, uint32_t units, const Ctx& c) const;
  bool bad_total(const spec::SqWqe& w, const rnic::Payload& body) const;
  uint32_t units_of(uint16_t qpn) const;
  rnic::Payload body_of(uint16_t qpn, uint32_t units) const;
  bool can_push(const spec::QpDoorbell& db) const;
  void fail_wqe(uint16_t qpn, uint16_t after, const spec::SqWqe& w, spec::WcStatus status);
  void send_cqe(uint16_t qpn, const Issued& w, spec::WcStatus status);
  void flush_entry(uint16_t qpn, Ring16& r, uint16_t up_to, bool is_recv);
  void flush_step(uint16_t qpn);
  void happens(uint16_t qpn, uint8_t event);    // stores an event, then decide()
  void decide(uint16_t qpn);                    // handles stored events and the command
  void happened(uint16_t qpn, uint8_t events);  // handles one of the events
  void failed(uint16_t qpn, uint8_t events);
  bool closes(uint16_t qpn) const;
  void lose(uint16_t qpn);
  void tell(uint16_t qpn, std::initializer_list<Order> orders, Ctx::Then then);
  void tell_next(uint16_t qpn);
  void stop(uint16_t qpn, spec::QpOp llp);
  void drain(uint16_t qpn);
  void entered_error(uint16_t qpn);
  void execute(uint16_t qpn, const spec::QpCmd& cmd);
  Ctx& create(uint16_t qpn, uint16_t pd, uint16_t page);
  void create_qp(uint16_t qpn, const spec::AdminQpArgs& a);
  void create_srq(uint16_t qpn, const spec::AdminSrqArgs& a);
  std::optional<spec::AdminStatus> modify(uint16_t qpn, const spec::AdminModifyArgs& a);

  uint32_t sq_prefetch_, sq_window_, rq_prefetch_, sq_slots_;
  bool told_ = false;  // follow() was called
  struct Together {
    uint16_t qpn = 0;
    uint8_t events = 0;
    spec::QpError error;
  };
  std::deque<Together> together_;  // a follower's events: each group is handled separately
  const Translation& tpt_;
  Out& out_;
  std::vector<Ctx> ctx_;
  std::vector<Issued> window_;
  std::vector<rnic::Payload> prefetch_;
  std::vector<spec::RecvWqe> recvs_;
  ReadySet fetchable_, issuable_, retirable_, rq_fetchable_;
  Ring<Pending> sq_reads_, rq_reads_;
};

}  // namespace rnic::model

// Work queues: doorbells, pushed copies, issue, receive WQEs, retirement.
#include <algorithm>

#include "tandem/steps.hpp"

namespace rnic::sim {
namespace {

// Operations of commit qp_retire (docs/spec/commits.yaml).
constexpr uint8_t kWrDone = 0, kReadDone = 1, kReceived = 2, kOwnError = 3, kLook = 4, kMark = 5,
                  kFlushAsked = 6, kFlushPosted = 7;
// Cycles from an RQ doorbell to the last qp_rq_take of a take that read the old index: S0 to S3 of
// qp_rq_fetch (3), then its states empty, b1, b2 (3).
constexpr uint64_t kRing = 6;
/// Cycles from modify_srq to the last qp_rq_take of a take that read the old limit: the steps of
/// qp_state up to the write of the limit (4), the take that delays this write (3), and the states
/// give, b1, b2 of qp_rq_fetch (3).
constexpr uint64_t kLimitSet = 10;
// Cycles, at most, from the read of the bar of a take's QP (qp_rq_fetch, 7) to the take's response,
// if its WQE is in the prefetch buffer.
constexpr uint64_t kBarred = 8;
/// Cycles from the start of a flush to the completion of a later pass, in the stall build, whose
/// stream cells hold their streams back.
constexpr uint64_t kFlushPasses = 64;

}  // namespace

void Steps::step(const spec::QpDoorbellCommit& c) {
  if (qp_doorbells_.empty())
    return tally_.differ("qp_doorbell: QP {}: RTL took a doorbell; none has come", c.qpn);
  const spec::QpDoorbell db = qp_doorbells_.front();
  qp_doorbells_.pop_front();
  if (db.kind != c.kind || db.qpn != c.qpn || db.index != c.index)
    return tally_.differ("qp_doorbell: RTL took {} / model's next is {}", c.describe(),
                         db.describe());
  const bool fits = qp_.fits(db);
  if (c.accepted == 0) {
    host_.bar.dropped();
    if (!fits) return;
    // The RTL counts a retirement later than the model, but before its completion can report it.
    const Followed& q = qps_[c.qpn];
    const bool is_recv = db.kind == spec::DoorbellKind::kRq;
    if (q.is_changing)
      return tally_.followed("doorbells refused while their QP is created or destroyed");
    if (qp_.is_srq(c.qpn) || qp_.fits(db, q.retired[is_recv ? 1 : 0].told))
      return tally_.differ("qp_doorbell: QP {}: index {}: RTL refused it; model takes it", c.qpn,
                           c.index);
    return tally_.followed("doorbells refused that no completion had made room for");
  }
  if (!fits) {
    // A take frees the ring slot of its WQE 2 cycles before its commit.
    if (!known(c.qpn, "qp_doorbell") || !qp_.is_srq(c.qpn) ||
        !qp_.fits(db, static_cast<uint16_t>(qp_.retired(c.qpn, true) + 1)))
      return tally_.differ("qp_doorbell: QP {}: index {}: RTL took it; model refuses it", c.qpn,
                           c.index);
    tally_.followed("receive WQEs posted in the place of one that is being taken");
  }
  Followed& q = qps_[c.qpn];
  qp_.ring(db);
  if (db.kind == spec::DoorbellKind::kRq) {
    q.rq_rung = tally_.cycle();
  } else {
    q.push.reset();
    if (db.kind == spec::DoorbellKind::kPush && db.units != 0) q.push = db;
  }
}

/// The RTL uses a pushed copy in place of a read, so it has read all units in front of the copy in
/// the send queue.
void Steps::step(const spec::QpPushCommit& c) {
  if (!known(c.qpn, "qp_push")) return;
  Followed& q = qps_[c.qpn];
  if (!q.push || q.push->units != c.units ||
      static_cast<uint16_t>(q.push->index - c.units) != c.first)
    return tally_.differ(
        "qp_push: QP {}: RTL uses a pushed copy of {} units at {}; model has none there", c.qpn,
        c.units, c.first);
  while (qp_.sq_fetched(c.qpn) != c.first) {
    if (!fetch_unit(c.qpn)) break;
  }
  if (!qp_.push(*q.push))
    tally_.differ(
        "qp_push: QP {}: RTL uses the pushed copy at {}; in the model it is not the next, or has "
        "no space",
        c.qpn, c.first);
  q.push.reset();
}

/// The next unit of the send queue, as the RTL read it. False if there is none, or its read failed.
bool Steps::fetch_unit(uint16_t qpn) {
  const model::MemRead r = qp_.fetch(qpn, 1);
  if (r.length == 0) {
    qp_.fetched({.status = spec::RdStatus::kAborted, .data = {}});
    tally_.differ("qp: QP {}: RTL uses a unit of the send queue beyond the doorbell's index", qpn);
    return false;
  }
  auto got = log_.take(Client::kSqFetch, r.address, r.length);
  if (got.state != ReadLog::State::kDone) {
    tally_.differ(
        "qp: QP {}: send queue at {:#x}: {}: {}", qpn, r.address,
        got.state == ReadLog::State::kNever ? "RTL never read it" : "RTL's read is not answered",
        got.why);
    got.status = spec::RdStatus::kAborted;
  }
  const bool good = got.status == spec::RdStatus::kOk;
  qp_.fetched({.status = got.status, .data = std::move(got.data)});
  return good;
}

void Steps::step(const spec::QpIssueCommit& c) {
  if (!known(c.qpn, "qp_issue")) return;
  if (c.dropped != 0) {  // this WQE is behind a failed WQE in the send queue
    if (qp_.issues(c.qpn))
      return tally_.differ(
          "qp_issue: QP {}: RTL has dropped a work request; model has none in front of it that "
          "failed",
          c.qpn);
    open_[2] = true;  // of client wqe (tpt_check)
    return drop_open(2);
  }
  if (!qp_.exists(c.qpn) || !qp_.sq_waits(c.qpn))
    return tally_.differ("qp_issue: QP {}: RTL issued a work request; model has none posted",
                         c.qpn);
  while (qp_.missing(c.qpn) != 0) {
    if (!fetch_unit(c.qpn)) break;
  }
  const auto state = qp_.state(c.qpn);
  const bool live = (state == spec::QpState::kRts || state == spec::QpState::kClosing) &&
                    !qp_.lost(c.qpn);  // else: the WQE was in flight when the QP stopped
  if (live && !qp_.issuable().test(c.qpn))
    return tally_.differ(
        "qp_issue: QP {}: RTL issued a work request; model must wait (window, ddp's slots, fence, "
        "outstanding Reads): {}",
        c.qpn, qp_.waiting_for());
  const size_t faults = qp_faults_.size();
  open_[2] = qp_.asks(c.qpn);
  if (auto wqe = qp_.issue(c.qpn)) {
    wqes_.push_back(std::move(*wqe));
  } else if (qp_faults_.size() != faults &&
             qp_faults_.back().cause == spec::Cause::kLocalCatastrophic) {
    ++qps_[c.qpn].own_errors;
  }
  drop_open(2);
  const auto can = [this](uint16_t q) {
    return qp_.exists(q) && qp_.state(q) == spec::QpState::kRts && !qp_.lost(q) &&
           qp_.sq_waits(q) && qp_.issuable().test(q);
  };
  if (const auto starved = issues_.given(c.qpn, tally_.cycle(), can))
    tally_.differ(
        "qp_issue: QP {} could issue and RTL has passed it by for {} cycles and {} requests of "
        "other QPs",
        *starved, Turns::kCycles, Turns::kTurns);
}

void Steps::step(const spec::QpRqTakeCommit& c) {
  if (!known(c.qpn, "qp_rq_take")) return;
  Followed& q = qps_[c.qpn];
  const uint16_t row = qp_.row(c.qpn);
  const bool is_rung = tally_.cycle() - qps_[row].rq_rung <= kRing;
  spec::RqTakeRsp rsp{.shared = row != c.qpn};
  // qp_rq_fetch answers takes of a failed QP from an SRQ as empty, from the cycle in which rdmap's
  // error reaches qp. That is before qp_state takes the error. A take that is in progress then may
  // still succeed, up to kBarred cycles later.
  if (rsp.shared != 0 && q.has_failed && c.result == spec::RqTake::kEmpty) {
    tally_.followed("takes of failed QPs from an SRQ");
    return q.takes.push_back(rsp);
  }
  if (rsp.shared != 0 && q.barred && tally_.cycle() - *q.barred > kBarred &&
      c.result != spec::RqTake::kFailed)
    tally_.differ("qp_rq_take: QP {}: RTL takes a receive of SRQ {} after the QP's error", c.qpn,
                  row);
  if (qp_.rq_waits(row)) {
    if (c.result == spec::RqTake::kEmpty && is_rung && !qp_.rq_here(row)) {
      tally_.followed("receive WQEs posted while ddp asked");
      return q.takes.push_back(rsp);
    }
    if (!qp_.rq_here(row)) {
      (void)qp_.rq_take(c.qpn);  // the take then waits in the model, so that a failed read ends it
      const model::MemRead r = qp_.rq_fetch(row, 1);
      auto got = log_.take(Client::kRqFetch, r.address, r.length);
      if (got.state != ReadLog::State::kDone) {
        tally_.differ("qp_rq_take: QP {}: receive queue at {:#x}: {}: {}", c.qpn, r.address,
                      got.state == ReadLog::State::kNever ? "RTL never read it"
                                                          : "RTL's read is not answered",
                      got.why);
        got.status = spec::RdStatus::kAborted;
      }
      qp_.rq_fetched({.status = got.status, .data = std::move(got.data)});
    }
    const bool due = qp_.limit_due(c.qpn);
    if (due != (c.limit != 0)) limit_differs(c, row, is_rung);
    if (const auto got = qp_.rq_take(c.qpn, c.limit != 0)) rsp = *got;
  }
  if (rsp.result != c.result)
    return tally_.differ("qp_rq_take: QP {}: RTL's result is {}, the model's is {}", c.qpn,
                         to_string(c.result), to_string(rsp.result));
  q.takes.push_back(rsp);
}

/// The RTL may read a producer index that a doorbell has replaced, and a limit that modify_srq is
/// about to replace.
void Steps::limit_differs(const spec::QpRqTakeCommit& c, uint16_t row, bool is_rung) {
  if (c.limit != 0 ? is_rung && qp_.limit(row) != 0
                   : tally_.cycle() - qps_[row].limit_set <= kLimitSet)
    return tally_.followed("limits of an SRQ beside a doorbell or modify_srq");
  tally_.differ("qp_rq_take: QP {}: SRQ {}: {}", c.qpn, row,
                c.limit != 0 ? "RTL has reached the limit; model has not"
                             : "model has reached the limit; RTL has not");
}

void Steps::cqe_req(const spec::CqeReq& cqe) {
  cqe_reqs_.push_back(cqe);
  const bool is_recv = cqe.entry.is_recv != 0;
  const auto qpn = static_cast<uint16_t>(cqe.entry.qpn);
  qps_[qpn].retired[is_recv ? 1 : 0].untold.push_back({cqe.entry.index, qp_.retired(qpn, is_recv)});
}

/// Called when the completion is in host memory, or will not be written.
void Steps::completion_told(const spec::Cqe& entry) {
  if (entry.qpn >= qps_.size()) return;
  auto& r = qps_[entry.qpn].retired[entry.is_recv != 0 ? 1 : 0];
  for (bool found = false; !found && !r.untold.empty();
       r.untold.pop_front()) {  // some may have been dropped
    r.told = r.untold.front().retired;
    found = r.untold.front().index == entry.index;
  }
}

/// Retires done work requests at the head of the window, also when all units have stopped:
/// qp_retire takes its queued reports before it begins the flush.
void Steps::retire_done(uint16_t qpn) {
  while (qp_.has_done(qpn)) qp_.retire(qpn);
}

/// qp_retire flushes in passes, and each pass reads the producer indices again. So it also flushes
/// the WQEs of a doorbell that arrives between two passes.
void Steps::flush_again(uint16_t qpn) {
  if (qpn >= qps_.size() || tally_.cycle() - qps_[qpn].flushed > kFlushPasses) return;
  const auto is_its = [qpn](const spec::CqeReq& r) { return r.entry.qpn == qpn; };
  if (std::ranges::any_of(cqe_reqs_, is_its) || !qp_.retirable().test(qpn)) return;
  tally_.followed("doorbells between the passes of a flush");
  while (qp_.retirable().test(qpn)) qp_.retire(qpn);
}

void Steps::step(const spec::QpRetireCommit& c) {
  if (!known(c.qpn, "qp_retire")) return;
  Followed& q = qps_[c.qpn];
  switch (c.op) {
    case kWrDone: {
      const auto done = take(wr_dones_, c.qpn, "qp_retire", "a sent work request");
      if (!done) return;
      if (done->slot != c.slot)
        return tally_.differ("qp_retire: QP {}: sent work request: RTL slot {} / model slot {}",
                             c.qpn, c.slot, done->slot);
      qp_.wr_done(*done);
      return retire_done(c.qpn);
    }
    case kReadDone:
    case kReceived: {
      const auto is_its = [&c](const spec::RxDone& d) {
        return d.qpn == c.qpn && d.slot == c.slot;
      };
      if (const auto at = std::ranges::find_if(res_dones_, is_its);
          c.op == kReadDone && at != res_dones_.end()) {
        const spec::RxDone done = *at;
        res_dones_.erase(at);
        qp_.rx_done(done);
        return retire_done(c.qpn);
      }
      const auto own = std::ranges::find_if(own_invalidations_, [&c](const Invalidation& i) {
        return i.qpn == c.qpn && i.slot == c.slot;
      });
      if (c.op == kReadDone && own != own_invalidations_.end()) {
        invalidation_told(own_invalidations_, own);
        qp_.rx_done({.qpn = c.qpn, .kind = spec::DeliverKind::kRead, .slot = c.slot});
        return retire_done(c.qpn);
      }
      // Reports of other QPs overtake a report that waits for an invalidation.
      const auto done = take_of(rx_dones_, c.qpn, "qp_retire",
                                c.op == kReadDone ? "a finished Read" : "a received message");
      if (!done) return;
      if ((done->kind == spec::DeliverKind::kRead) != (c.op == kReadDone) ||
          (c.op == kReadDone && done->slot != c.slot))
        return tally_.differ("qp_retire: QP {}: RTL retires operation {} slot {} / model {}", c.qpn,
                             c.op, c.slot, done->describe());
      if (done->kind == spec::DeliverKind::kInvalidate)
        invalidation_told(invalidations_,
                          std::ranges::find(invalidations_, static_cast<uint32_t>(done->immediate),
                                            &Invalidation::stag));
      qp_.rx_done(*done);
      return retire_done(c.qpn);
    }
    case kOwnError:
      if (q.own_errors == 0)
        return tally_.differ(
            "qp_retire: QP {}: RTL has a work request with an error of its own; model has none",
            c.qpn);
      --q.own_errors;
      return;
    case kLook:
      if (look_ != Look::kDue || looked_at_ != c.qpn)
        return tally_.differ(
            "qp_retire: QP {}: RTL looks at its queues; in the model qp_state has not asked",
            c.qpn);
      look_ = q.at_look ? Look::kNone : Look::kDone;
      q.look_empty = qp_.sq_empty(c.qpn);
      q.look_reads = qp_.reads_outstanding(c.qpn);
      if (q.at_look) {
        const spec::QpCmd cmd = *q.at_look;
        q.at_look.reset();
        command_now(cmd);
      }
      return;
    case kMark:
      if (q.marks == 0)
        return tally_.differ("qp_retire: QP {}: RTL marks a work request as failed; model does not",
                             c.qpn);
      --q.marks;
      return;
    case kFlushAsked:
      if (!qp_.flushing(c.qpn))
        return tally_.differ(
            "qp_retire: QP {}: RTL flushes; in the model not all units have stopped: {}", c.qpn,
            qp_.waiting_for() + ddp_.waiting_for());
      [[fallthrough]];
    case kFlushPosted:
    default:
      q.flushed = tally_.cycle();
      while (qp_.retirable().test(c.qpn)) qp_.retire(c.qpn);
  }
}

}  // namespace rnic::sim

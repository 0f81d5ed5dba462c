// The times of qp, and its arbiters: for which QP it fetches, issues and retires next.
#include "qp/qp_unit.hpp"

#include <algorithm>

namespace rnic::model {

namespace {
constexpr uint32_t kLlpDones = 4;  // llp_if_tx DoneDepth (u_dones); the constructor adds u_ops
}

QpUnit::QpUnit(Units& u, const Translation& tpt)
    : u_(u),
      sq_rd("sq_rd", u.sizes.rd_tags),
      rq_rd("rq_rd", u.sizes.rd_tags),
      wr_done("wr_done", kLlpDones + u.sizes.fifo_depth),
      rx_done("rx_done", 1U << 16),
      control("qp_cmd", 8 * u.sizes.num_qps + 8),
      qp_(u.sizes, tpt, *this),
      frees_("sq_slot_free", u.sizes.num_qps * u.sizes.sq_slots),
      freed_(u.sizes.num_qps),
      held_(u.sizes.num_qps),
      rq_due_(u.sizes.num_qps) {
  u.attach(fetch_, StageNo::kQpFetch);
  u.attach(issue_, StageNo::kQpIssue);
  u.attach(retire_, StageNo::kQpRetire);
  u.attach(ctl_, StageNo::kQpCtl);
  sq_rd.feeds(fetch_);
  rq_rd.feeds(fetch_);
  wr_done.feeds(retire_);
  rx_done.feeds(retire_);
  frees_.feeds(fetch_);
  control.feeds(ctl_);
}

void QpUnit::ready(Qp::Set set) {
  const QpTiming& t = u_.timing.qp;
  const Cycle now = u_.now();
  switch (set) {
    case Qp::Set::kFetchable:
      return fetch_.wake(now + t.schedule);
    case Qp::Set::kRqFetchable:
      return fetch_.wake(now + t.rq_schedule);
    case Qp::Set::kIssuable:
      return issue_.wake(now + (pushed_ ? t.fetch : 0) + t.schedule - (freed_slot_ ? t.pick : 0));
    case Qp::Set::kRetirable:
      return in_pass_ ? void() : retire_.wake(now + t.received);
  }
}

void QpUnit::step_fetch() {
  const Cycle now = u_.now();
  while (frees_.ready()) {
    const spec::SqSlotFree free = frees_.pop();
    --freed_[free.qpn];
    freed_slot_ = true;
    qp_.sq_slot_free(free);
    freed_slot_ = false;
  }
  while (sq_rd.ready()) qp_.fetched(came(sq_rd.pop()));
  bool received = false;
  for (; rq_rd.ready(); received = true) qp_.rq_fetched(came(rq_rd.pop()));
  if (received) rq_ready_o();

  auto& sq = sq_rd_req_o;
  if (const ReadySet& set = qp_.fetchable(); !set.empty()) {
    // qp_pick finds what to fetch when it evaluates the QP: as a visit begins, or after its end.
    const bool begins = visit_began_ == now && set.test(last_issue_);
    const uint32_t q = begins ? last_issue_ : due(set, held_, last_fetch_, now);
    if (sq.full()) {
      sq.wake_on_credit(fetch_);
    } else if (!begins && held_[q] > now) {
      fetch_.wake(held_[q]);
    } else {
      last_fetch_ = q;
      u_.pass(Stream::kSqRdReq, now + u_.timing.qp.fetch);
      sq.push(qp_.fetch(static_cast<uint16_t>(last_fetch_)),
              now + u_.timing.qp.fetch + u_.timing.host.rd_request);
      if (!set.empty()) fetch_.wake(now + u_.timing.qp.fetch_start);
    }
  }
  auto& rq = rq_rd_req_o;
  if (const ReadySet& set = qp_.rq_fetchable(); !set.empty()) {
    if (rq.full()) {
      rq.wake_on_credit(fetch_);
    } else if (const uint32_t row = due(set, rq_due_, last_rq_fetch_, now); rq_due_[row] > now) {
      fetch_.wake(rq_due_[row]);
    } else {
      last_rq_fetch_ = row;
      rq.push(qp_.rq_fetch(static_cast<uint16_t>(last_rq_fetch_)),
              now + u_.timing.qp.rq_fetch + u_.timing.host.rd_request);
      if (!set.empty()) fetch_.wake(now + u_.timing.qp.fetch_next);
    }
  }
}

/// The next QP of the set that is due; else the QP that is due first. Sets are small.
uint32_t QpUnit::due(const ReadySet& set, const std::vector<Cycle>& at, uint32_t last, Cycle now) {
  const uint32_t first = set.next(last + 1);
  uint32_t soonest = first;
  for (uint32_t q = first; at[soonest] > now;) {
    q = set.next(q + 1);
    if (q == first) break;
    if (at[q] < at[soonest]) soonest = q;
  }
  return soonest;
}

void QpUnit::step_issue() {
  const Cycle now = u_.now();
  if (now < issue_free_) return issue_.wake(issue_free_);
  const ReadySet& set = qp_.issuable();
  if (set.empty()) return;
  auto& out = wqe_o;
  if (out.full()) {
    meter_.blocked(now);
    return out.wake_on_credit(issue_);
  }
  // A visit counts the Reads that had ended when it began (go_pending). For more Reads the QP needs
  // another visit.
  const QpTiming& t = u_.timing.qp;
  const auto last = static_cast<uint16_t>(last_issue_);
  if (visit_left_ != 0 && set.test(last_issue_) && visit_reads_ == 0 && qp_.next_asks_peer(last)) {
    visit_left_ = 0;
    const Cycle end = t.look + t.again;
    held_[last_issue_] += end;
    issue_free_ = now + end;
    return issue_.wake(issue_free_);
  }
  // qp_parse continues with the QP of its visit, or takes the next one that qp_pick has found.
  const bool visits = visit_left_ != 0 && set.test(last_issue_);
  const uint32_t q = visits ? last_issue_ : due(set, held_, last_issue_, now);
  if (!visits) {
    visit_left_ = 0;
    if (held_[q] > now) return issue_.wake(held_[q]);
    visit_began_ = now;
    visit_left_ = qp_.room(static_cast<uint16_t>(q));
    visit_reads_ = qp_.reads_room(static_cast<uint16_t>(q));
  }
  --visit_left_;
  meter_.moved(now);
  last_issue_ = q;
  if (visit_reads_ != 0 && qp_.next_asks_peer(static_cast<uint16_t>(q))) --visit_reads_;
  auto wqe = qp_.issue(static_cast<uint16_t>(last_issue_));
  Cycle busy = t.parse;
  if (wqe) {
    const uint32_t sges = wqe->hdr.num_sge;
    // The first unit holds 32 bytes of the body, behind the header.
    const auto body = static_cast<uint32_t>(wqe->body.size());
    const Cycle more = t.more * ((body + 31) / 64 + (sges != 0 ? sges - 1 : 0));
    Cycle latency = t.issue + more;
    if (sges != 0) {  // lookup of its keys
      const Cycle asked = now + t.issue + more - 1;
      u_.pass(Stream::kWqeCheck, asked);
      u_.pass(Stream::kWqeCheckRsp, asked + u_.timing.tpt.check);
      latency += u_.timing.tpt.check;
    }
    u_.pass(Stream::kWqeHdr, now + latency);
    busy += more;
    meter_.item(1 + u_.timing.path.beats(body));
    held_[q] = now + latency + t.schedule;
    if (opens_key(wqe->hdr.opcode)) visit_left_ = 0;
    out.push(std::move(*wqe), now + latency);
  }
  // The visit reaches a WQE that has to wait, and ends there.
  if (visit_left_ != 0 && !set.test(q) && qp_.has_next(static_cast<uint16_t>(q))) {
    const Cycle end = t.look + t.again;
    busy += end;
    held_[q] += end;
  }
  issue_free_ = now + busy;
  if (!set.empty()) issue_.wake(issue_free_);
}

void QpUnit::look_due(uint16_t qpn) {
  looks_.push({qpn, wr_done.size(), rx_done.size()});
  retire_.wake(u_.now() + 1);
}

void QpUnit::answer_looks() {
  for (uint32_t left = looks_.size(); left != 0; --left) {
    const Look l = looks_.pop();
    if (l.wr_left == 0 && l.rx_left == 0 && !qp_.retirable().test(l.qpn)) {
      qp_.look(l.qpn);
    } else {
      looks_.push(l);
    }
  }
}

/// One pass of qp_retire: a report (wr_done or rx_done), or one more WQE that the last report
/// retires, or an entry of a flush. It makes at most one CQE. The two kinds of report alternate.
void QpUnit::pass() {
  const ReadySet& set = qp_.retirable();
  if (!set.empty()) {
    if (!set.test(last_retire_)) last_retire_ = set.next(last_retire_ + 1);
    return qp_.retire(static_cast<uint16_t>(last_retire_));
  }
  const bool sent = wr_done.ready() && !(last_sent_ && rx_done.ready());
  last_sent_ = sent;
  if (sent) {
    const spec::WrDone d = wr_done.pop();
    for (uint32_t i = 0; i < looks_.size(); ++i) looks_[i].wr_left -= looks_[i].wr_left != 0;
    last_retire_ = d.qpn;
    qp_.wr_done(d);
  } else {
    const spec::RxDone d = rx_done.pop();
    for (uint32_t i = 0; i < looks_.size(); ++i) looks_[i].rx_left -= looks_[i].rx_left != 0;
    last_retire_ = d.qpn;
    qp_.rx_done(d);
  }
  if (set.test(last_retire_)) qp_.retire(static_cast<uint16_t>(last_retire_));
}

/// Runs several passes in one step, each with its own cycles.
void QpUnit::step_retire() {
  const Cycle now = u_.now();
  if (now < retire_free_) return retire_.wake(retire_free_);
  answer_looks();
  auto& out = cqe_req_o;
  Cycle busy = 0;
  const ReadySet& set = qp_.retirable();
  for (int i = 0; i < 8; ++i) {
    if (set.empty() && !wr_done.ready() && !rx_done.ready()) break;
    if (out.full()) {
      meter_.blocked(now);
      out.wake_on_credit(retire_);
      break;
    }
    meter_.moved(now);
    cqe_at_ = now + busy + u_.timing.qp.retire;
    in_pass_ = true;
    pass();
    in_pass_ = false;
    answer_looks();
    busy += u_.timing.qp.pass;
  }
  retire_free_ = now + busy;
  if (busy != 0 && (!set.empty() || !wr_done.empty() || !rx_done.empty()))
    retire_.wake(retire_free_);
}

void QpUnit::step_ctl() {
  while (control.ready()) {
    if (waits(control.front())) {
      ctl_.wake(u_.now() + 1);
      break;
    }
    const Control c = control.pop();
    if (const auto* cmd = std::get_if<spec::QpCmd>(&c)) command(*cmd);
    if (const auto* ack = std::get_if<Ack>(&c)) qp_.ack(ack->peer, ack->qpn);
    if (const auto* error = std::get_if<spec::QpError>(&c)) qp_.qp_error(*error);
    if (const auto* event = std::get_if<spec::LlpEvent>(&c)) qp_.llp_event(*event);
    if (const auto* fault = std::get_if<spec::CqFault>(&c)) qp_.cq_fault(*fault);
  }
  rq_ready_o();  // ddp repeats a take that waits: of a stopped QP it ends as empty
  if (commanded_ && u_.now() >= commanded_->late) (void)qp_.give_up(commanded_->qpn);
}

void QpUnit::command(const spec::QpCmd& cmd) {
  commanded_ = {static_cast<uint16_t>(cmd.object), u_.now() + spec::kCommandPatience};
  qp_.command(cmd);
  if (commanded_) ctl_.wake(commanded_->late);
}

void QpUnit::qp_cmd_rsp(const spec::QpCmdRsp& rsp) {
  commanded_.reset();
  qp_cmd_rsp_o.push(rsp, u_.now());
}
void QpUnit::cqe_req(const spec::CqeReq& cqe) {
  meter_.busy(1);
  u_.pass(Stream::kCqeReq, cqe_at_);
  cqe_req_o.push(cqe, cqe_at_);
}
void QpUnit::qp_purge(const spec::QpPurge& p) { qp_purge_o(p); }
void QpUnit::qp_async(const spec::QpAsync& a) { qp_async_o.push(a, u_.now() + u_.timing.cq.event); }
void QpUnit::qp_fault(const spec::QpFault& f) {
  qp_fault_o.push(f, u_.now() + u_.timing.rdmap.control);
}

void QpUnit::qp_ctl(Qp::Peer peer, const spec::QpCtlLlp& ctl) {
  const Cycle now = u_.now();
  switch (peer) {
    case Qp::Peer::kMpa:
      return qp_ctl_mpa_o.push(ctl, now + u_.timing.qp.control);
    case Qp::Peer::kDdp:
      return qp_ctl_ddp_o.push(ctl, now + u_.timing.ddp.control);
    case Qp::Peer::kRdmap:
      return qp_ctl_rdmap_o.push(ctl, now + u_.timing.rdmap.control);
    case Qp::Peer::kLlp:
      return qp_ctl_llp_o.push(ctl, now + u_.timing.llp.control);
  }
}

std::string QpUnit::waiting_for() const {
  return qp_.waiting_for() + wr_done.describe() + rx_done.describe() + frees_.describe() +
         control.describe();
}

}  // namespace rnic::model

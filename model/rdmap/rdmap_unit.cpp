// The times of rdmap: see rdmap_unit.hpp.
#include "rdmap/rdmap_unit.hpp"

#include <algorithm>

namespace rnic::model {

RdmapUnit::RdmapUnit(Units& u, const Translation& tpt)
    : u_(u),
      wqe("wqe", 2 * u.sizes.fifo_depth + 4),  // FIFO; core and message queue
      control("qp_ctl_rdmap", 4 * u.sizes.num_qps + 4),
      rdmap_(u.sizes, tpt, *this),
      list_("responder's work list", 4 * u.sizes.num_qps),
      served_(u.sizes.fifo_depth),
      acks_(u.sizes.num_qps),
      local_(u.sizes.num_qps) {
  u.attach(tx_, StageNo::kRdmapTx);
  u.attach(ctl_, StageNo::kRdmapCtl);
  wqe.feeds(tx_);
  list_.feeds(tx_);
  control.feeds(ctl_);
}

/// Adds the QP to the work list. Its head takes another cycle of the pipe.
void RdmapUnit::responder_ready(uint16_t qpn) {
  const Cycle now = u_.now();
  const RdmapTiming& t = u_.timing.rdmap;
  const Cycle waits = pipe_.take(now, now + ahead_ + t.core);
  // An atomic leaves with its head: no ring, no check, and no message yet.
  const Cycle served = rdmap_.is_atomic(qpn) ? t.head : t.respond + u_.timing.tpt.check;
  const Cycle at = now + ahead_ + waits + served;
  if (!rdmap_.is_atomic(qpn)) {  // response queue and rdmap_tx follow the check
    u_.pass(Stream::kRespCheck, at - 2 - u_.timing.tpt.check);
    u_.pass(Stream::kRespCheckRsp, at - 2);
  }
  list_.push(qpn, at);
}

/// Responder and send queue alternate, as in rdmap_tx. The responder serves QPs in the order of the
/// work list.
void RdmapUnit::step_tx() {
  const Cycle now = u_.now();
  if (now < free_at_) return tx_.wake(free_at_);
  // The ring of rdmap_read has room while it holds at most fifo_depth - 1 requests.
  const Cycle room = served_[serving_] + u_.timing.rdmap.serve + u_.timing.tpt.check;
  const bool waits = list_.ready();
  const bool responds = waits && now >= room;
  const bool from_sq = wqe.ready() && (!responds || responder_last_);
  std::optional<TxMessage> m;
  Cycle after = 0;
  if (from_sq) {
    meter_.item(1);
    const auto opcode = wqe.front().hdr.opcode;
    const bool splits =
        opcode != spec::WrOpcode::kRdmaWrite && !is_send(opcode) && !is_immediate(opcode);
    // rdmap_wqe splits the SGE off while the header waits in its FIFO.
    const Cycle waited = now - wqe.visible_at(), sge = splits ? u_.timing.rdmap.sge : 0;
    after = u_.timing.rdmap.tx + sge - std::min(sge, waited) + pipe_.take(now, now + 1);
    m = rdmap_.request(wqe.pop());
  } else if (responds) {
    const uint16_t qpn = list_.pop();
    if (rdmap_.responders().test(qpn)) {
      served_[serving_] = now;
      serving_ = (serving_ + 1) % static_cast<uint32_t>(served_.size());
      if (rdmap_.is_atomic(qpn)) {
        atomic_req_o.push(rdmap_.begin_atomic(qpn), now);
      } else {
        m = rdmap_.respond(qpn);
      }
    }
  } else {
    if (waits) tx_.wake(room);
    return;
  }
  responder_last_ = !from_sq;
  const Cycle beats = m ? u_.timing.path.beats(m->body.size()) : 0;
  free_at_ = now + (m ? u_.timing.rdmap.header + beats : 1);
  meter_.busy(beats);
  if (m) tx_message_o.push(std::move(*m), now + after);
  if (!list_.empty()) tx_.wake(std::max(free_at_, list_.visible_at()));
  if (!wqe.empty()) tx_.wake(std::max(free_at_, wqe.visible_at()));
}

void RdmapUnit::step_ctl() {
  while (control.ready()) {
    const Control c = control.pop();
    if (const auto* ctl = std::get_if<spec::QpCtlRdmap>(&c)) {
      waits_ = ctl->op == spec::QpOp::kHalfClose ? Waits::kNothing
               : ctl->op == spec::QpOp::kSync    ? Waits::kResults
                                                 : Waits::kAll;
      rdmap_.control(*ctl);
    }
    if (const auto* fault = std::get_if<spec::QpFault>(&c)) rdmap_.qp_fault(*fault);
    if (const auto* fault = std::get_if<spec::TxFault>(&c)) rdmap_.tx_fault(*fault);
  }
}

void RdmapUnit::result(const spec::AtomicReq& result) {
  atomic_result_o.push(result, u_.now() + ahead_ + u_.timing.rdmap.core);
}

void RdmapUnit::atomic_rsp(const spec::AtomicRsp& rsp) {
  if (rsp.op == spec::AtomicOp::kResult) {
    if (rsp.ending == spec::AtomicEnd::kDone) {
      return res_done_o.push({.qpn = rsp.qpn, .kind = spec::DeliverKind::kRead, .slot = rsp.slot},
                             u_.now());
    }
    // A result that cannot be stored fails its WQE, like a payload of ours that cannot be fetched.
    return rdmap_.tx_fault({.qpn = rsp.qpn,
                            .source = spec::TxSource::kSq,
                            .slot = rsp.slot,
                            .status = rsp.status,
                            .result = rsp.result});
  }
  auto m = rdmap_.atomic_rsp(rsp);
  if (!m) return;
  meter_.busy(u_.timing.path.beats(m->body.size()));
  tx_message_o.push(std::move(*m), u_.now());
}

void RdmapUnit::resp_fetched(const spec::RespFetched& f) {
  rdmap_.resp_fetched(f);
  atomic_look_o();
}

void RdmapUnit::sq_local(const spec::SqLocal& request) {
  ++local_[request.qpn];
  const TptTiming& t = u_.timing.tpt;
  const Cycle until = Tpt::is_invalidation(request) ? t.invalidate : t.judge;
  sq_local_o.push(request, u_.now() + u_.timing.rdmap.tx + until);
}

void RdmapUnit::sq_local_done(const spec::SqLocalDone& done, Cycle at) {
  --local_[done.qpn];
  if (done.result == spec::TptResult::kOk && done.status == spec::RdStatus::kOk) {
    res_done_o.push({.qpn = done.qpn, .kind = spec::DeliverKind::kRead, .slot = done.slot},
                    at + u_.timing.qp.received);
  } else {
    control.push(Rdmap::failure_of(done), at + u_.timing.rdmap.core);
  }
  item_left(done.qpn);
}

bool RdmapUnit::waits_for(uint16_t qpn, Waits what) const {
  if (what == Waits::kNothing) return false;
  return local_[qpn] != 0 || (what == Waits::kAll ? atomic_busy_i(qpn) : atomic_stores_i(qpn));
}

void RdmapUnit::item_left(uint16_t qpn) {
  if (acks_[qpn] == Waits::kNothing || waits_for(qpn, acks_[qpn])) return;
  acks_[qpn] = Waits::kNothing;
  qp_ack_rdmap_o.push({.qpn = qpn}, u_.now());
}

/// When a QP stops, unit atomic drops or finishes its items, so that nothing is stored after the
/// acknowledgement. A sync waits only for results, a half_close for nothing.
void RdmapUnit::qp_ack_rdmap(const spec::QpAckRdmap& ack) {
  if (!waits_for(ack.qpn, waits_)) return qp_ack_rdmap_o.push(ack, u_.now());
  acks_[ack.qpn] = waits_;
  atomic_look_o();
}
void RdmapUnit::qp_error(const spec::QpError& e) {
  atomic_look_o();
  qp_error_o.push(e, u_.now() + u_.timing.qp.control);
}
void RdmapUnit::terminate(TxMessage m) {
  meter_.busy(u_.timing.path.beats(m.body.size()));
  tx_message_o.push(std::move(m), u_.now() + u_.timing.rdmap.term);
}

}  // namespace rnic::model

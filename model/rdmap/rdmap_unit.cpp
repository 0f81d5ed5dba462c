#include "rdmap/rdmap_unit.hpp"

#include <algorithm>

#include "ddp/ddp_unit.hpp"
#include "qp/qp_unit.hpp"
#include "tpt/tpt_unit.hpp"

namespace rnic::model {

RdmapUnit::RdmapUnit(Units& u)
    : wqe("wqe", u.sizes.fifo_depth),
      control("qp_ctl_rdmap", 4 * u.sizes.num_qps + 4),
      u_(u),
      rdmap_(u.sizes, u.tpt->tpt(), *this) {
  u.attach(tx_, StageNo::kRdmapTx);
  u.attach(ctl_, StageNo::kRdmapCtl);
  wqe.feeds(tx_);
  control.feeds(ctl_);
}

/// Responder and send queue in turn; the responder's QPs round robin.
void RdmapUnit::step_tx() {
  const Cycle now = u_.now();
  if (now < free_at_) return tx_.wake(free_at_);
  const ReadySet& ready = rdmap_.responders();
  const bool responds = !ready.empty() && now >= responder_free_;
  const bool from_sq = wqe.ready() && (!responds || responder_last_);
  std::optional<TxMessage> m;
  if (from_sq) {
    meter_.item(1);
    m = rdmap_.request(wqe.pop());
  } else if (responds) {
    responder_free_ = now + u_.timing.rdmap.serve + u_.timing.tpt.check;
    last_ = ready.next(last_ + 1);
    m = rdmap_.respond(static_cast<uint16_t>(last_));
  } else {
    if (!ready.empty()) tx_.wake(responder_free_);
    return;
  }
  responder_last_ = !from_sq;
  const Cycle busy =
      m ? std::max(u_.timing.rdmap.occupancy, u_.timing.path.beats(m->body.size())) : 1;
  free_at_ = now + busy;
  if (m) meter_.busy(u_.timing.path.beats(m->body.size()));
  if (m) u_.ddp->message(std::move(*m), from_sq ? u_.timing.rdmap.tx : 0);
  if (!ready.empty()) tx_.wake(std::max(free_at_, responder_free_));
  if (!wqe.empty()) tx_.wake(std::max(free_at_, wqe.visible_at()));
}

void RdmapUnit::step_ctl() {
  while (control.ready()) {
    const Control c = control.pop();
    if (const auto* ctl = std::get_if<spec::QpCtlRdmap>(&c)) rdmap_.control(*ctl);
    if (const auto* fault = std::get_if<spec::QpFault>(&c)) rdmap_.qp_fault(*fault);
    if (const auto* fault = std::get_if<spec::TxFault>(&c)) rdmap_.tx_fault(*fault);
  }
}

void RdmapUnit::qp_ack_rdmap(const spec::QpAckRdmap& ack) { u_.qp->ack(Qp::Peer::kRdmap, ack.qpn); }
void RdmapUnit::qp_error(const spec::QpError& e) {
  u_.qp->control.push(e, u_.now() + u_.timing.qp.control);
}
void RdmapUnit::terminate(TxMessage m) {
  meter_.busy(u_.timing.path.beats(m.body.size()));
  u_.ddp->message(std::move(m), u_.timing.rdmap.control);
}

}  // namespace rnic::model

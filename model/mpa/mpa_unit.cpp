#include "mpa/mpa_unit.hpp"

#include "ddp/ddp_unit.hpp"
#include "llp_if/llp_unit.hpp"
#include "qp/qp_unit.hpp"

namespace rnic::model {

MpaUnit::MpaUnit(Units& u)
    : rx_fpdu("rx_fpdu", u.sizes.fifo_depth),
      tx_ulpdu("tx_ulpdu", u.sizes.fifo_depth),
      control("qp_ctl_mpa", u.sizes.num_qps + 1),
      u_(u),
      mpa_(u.sizes, *this),
      rx_(mpa_.rx, {u.timing.mpa, u.timing.path}, rx_fpdu, to_ddp_, rx_meter_),
      tx_(mpa_.tx, {u.timing.mpa, u.timing.path}, tx_ulpdu, to_llp_, tx_meter_) {
  u.attach(rx_, StageNo::kMpaRx);
  u.attach(tx_, StageNo::kMpaTx);
  u.attach(ctl_, StageNo::kMpaCtl);
  control.feeds(ctl_);
}

bool MpaUnit::ToDdp::full() const { return u.ddp->rx_ulpdu.full(); }
void MpaUnit::ToDdp::wake_on_credit(const Stage& s) { u.ddp->rx_ulpdu.wake_on_credit(s); }
void MpaUnit::ToDdp::push(RxUlpdu item, Cycle at) {
  u.pass(Stream::kRxUlpduHdr, at);
  u.ddp->push_rx(std::move(item), at);
}
bool MpaUnit::ToLlp::full() const { return u.llp->tx_fpdu.full(); }
void MpaUnit::ToLlp::wake_on_credit(const Stage& s) { u.llp->tx_fpdu.wake_on_credit(s); }
void MpaUnit::ToLlp::push(TxFpdu item, Cycle at) {
  // mpa_tx_frame sends the header before the beats, which then pass mpa_tx_marker and mpa_tx_crc.
  const MpaTiming& t = u.timing.mpa;
  u.pass(Stream::kTxFpduHdr,
         at - (u.timing.path.beats(item.hdr.length) - 1) - t.tx_marker - t.tx_crc - 1);
  u.llp->push_tx(std::move(item), at);
}

void MpaUnit::qp_ack_mpa(const spec::QpAckMpa& ack) { u_.qp->ack<Qp::Peer::kMpa>(ack, u_.now()); }

spec::UnitCount MpaUnit::count() const {
  const auto &r = rx_meter_.count(), &t = tx_meter_.count();
  return {.items = r.items + t.items, .busy = r.busy + t.busy, .stalled = r.stalled + t.stalled};
}

}  // namespace rnic::model

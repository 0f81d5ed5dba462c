// The paths of mpa with their times: see mpa_unit.hpp.
#include "mpa/mpa_unit.hpp"

namespace rnic::model {

MpaUnit::MpaUnit(Units& u)
    : u_(u),
      rx_fpdu("rx_fpdu", u.sizes.fifo_depth),
      tx_ulpdu("tx_ulpdu", u.sizes.fifo_depth),
      control("qp_ctl_mpa", u.sizes.num_qps + 1),
      mpa_(u.sizes, *this),
      rx_(mpa_.rx, {u.timing.mpa, u.timing.path}, rx_fpdu, to_ddp_, rx_meter_),
      tx_(mpa_.tx, {u.timing.mpa, u.timing.path}, tx_ulpdu, to_llp_, tx_meter_) {
  u.attach(rx_, StageNo::kMpaRx);
  u.attach(tx_, StageNo::kMpaTx);
  u.attach(ctl_, StageNo::kMpaCtl);
  control.feeds(ctl_);
}

void MpaUnit::ToDdp::push(RxUlpdu item, Cycle at) {
  u.pass(Stream::kRxUlpduHdr, at);
  out.push(std::move(item), at);
}
void MpaUnit::ToLlp::push(TxFpdu item, Cycle at) {
  // `at` is the cycle of the last beat. mpa_tx_frame sends the header before the beats, which then
  // pass mpa_tx_marker and mpa_tx_crc.
  const MpaTiming& t = u.timing.mpa;
  u.pass(Stream::kTxFpduHdr,
         at - (u.timing.path.beats(item.hdr.length) - 1) - t.tx_marker - t.tx_crc - t.tx_ahead);
  out.push(std::move(item), at + u.timing.llp.tx);
}

void MpaUnit::qp_ack_mpa(const spec::QpAckMpa& ack) { qp_ack_mpa_o.push(ack, u_.now()); }

spec::UnitCount MpaUnit::count() const {
  const auto &r = rx_meter_.count(), &t = tx_meter_.count();
  return {.items = r.items + t.items, .busy = r.busy + t.busy, .stalled = r.stalled + t.stalled};
}

}  // namespace rnic::model

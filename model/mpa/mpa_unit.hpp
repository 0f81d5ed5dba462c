// mpa in the timed model: two paths through it, and control.
#pragma once

#include "mpa/mpa.hpp"
#include "sc/queue.hpp"
#include "sc/unit.hpp"
#include "top/units.hpp"

namespace rnic::model {

class MpaUnit final : private Mpa::Out {
 public:
  explicit MpaUnit(Units& u);
  Queue<RxFpdu> rx_fpdu;
  Queue<TxUlpdu> tx_ulpdu;
  Queue<spec::QpCtlMpa> control;

  /// Every item at an input counts as in flight.
  void push_rx(RxFpdu f, Cycle at) {
    mpa_.enters(f.hdr.qpn, true);
    rx_fpdu.push(std::move(f), at);
  }
  void push_tx(TxUlpdu u, Cycle at) {
    mpa_.enters(u.hdr.qpn, false);
    tx_ulpdu.push(std::move(u), at);
  }
  spec::UnitCount count() const;
  std::string waiting_for() const {
    return mpa_.waiting_for() + rx_fpdu.describe() + tx_ulpdu.describe();
  }

 private:
  struct ToDdp {  // rx_ulpdu
    Units& u;
    bool full() const;
    void wake_on_credit(const Stage& s);
    void push(RxUlpdu item, Cycle at);
  };
  struct ToLlp {  // tx_fpdu
    Units& u;
    bool full() const;
    void wake_on_credit(const Stage& s);
    void push(TxFpdu item, Cycle at);
  };
  void step_ctl() {
    while (control.ready()) mpa_.control(control.pop());
  }
  void qp_ack_mpa(const spec::QpAckMpa& ack) override;

  Units& u_;
  Mpa mpa_;
  ToDdp to_ddp_{u_};
  ToLlp to_llp_{u_};
  Meter rx_meter_, tx_meter_;
  Unit<Mpa::Rx, MpaRxTiming, ToDdp> rx_;
  Unit<Mpa::Tx, MpaTxTiming, ToLlp> tx_;
  StageOf<MpaUnit> ctl_{*this, &MpaUnit::step_ctl};
};

}  // namespace rnic::model

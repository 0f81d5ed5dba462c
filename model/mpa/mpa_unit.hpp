// mpa in the timed model: a receive path, a transmit path, and control.
#pragma once

#include "mpa/mpa.hpp"
#include "sc/port.hpp"
#include "sc/queue.hpp"
#include "sc/unit.hpp"
#include "top/units.hpp"

namespace rnic::model {

class MpaUnit final : private Mpa::Out {
  Units& u_;  // before the ports, which join its list

 public:
  explicit MpaUnit(Units& u);
  Queue<RxFpdu> rx_fpdu;
  Queue<TxUlpdu> tx_ulpdu;
  Queue<spec::QpCtlMpa> control;
  Output<RxUlpdu> rx_ulpdu_o{u_.ports, "mpa.rx_ulpdu_o"};
  Output<TxFpdu> tx_fpdu_o{u_.ports, "mpa.tx_fpdu_o"};
  Output<spec::QpAckMpa> qp_ack_mpa_o{u_.ports, "mpa.qp_ack_mpa_o"};

  /// Puts an item into an input queue and reports it to Mpa::enters().
  void push_rx(RxFpdu&& f, Cycle at) {
    mpa_.enters(f.hdr.qpn, true);
    rx_fpdu.push(std::move(f), at);
  }
  void push_tx(TxUlpdu&& u, Cycle at) {
    mpa_.enters(u.hdr.qpn, false);
    tx_ulpdu.push(std::move(u), at);
  }
  spec::UnitCount count() const;
  std::string waiting_for() const {
    return mpa_.waiting_for() + rx_fpdu.describe() + tx_ulpdu.describe();
  }

 private:
  // Sinks of rx_ and tx_: each reports an item to the stream tap, then pushes it into its port.
  struct ToDdp {
    const Units& u;
    Output<RxUlpdu>& out;
    bool full() const { return out.full(); }
    void wake_on_credit(const Stage& s) { out.wake_on_credit(s); }
    void push(RxUlpdu item, Cycle at);
  };
  struct ToLlp {
    const Units& u;
    Output<TxFpdu>& out;
    bool full() const { return out.full(); }
    void wake_on_credit(const Stage& s) { out.wake_on_credit(s); }
    void push(TxFpdu item, Cycle at);
  };
  void step_ctl() {
    while (control.ready()) mpa_.control(control.pop());
  }
  void qp_ack_mpa(const spec::QpAckMpa& ack) override;

  Mpa mpa_;
  ToDdp to_ddp_{u_, rx_ulpdu_o};
  ToLlp to_llp_{u_, tx_fpdu_o};
  Meter rx_meter_, tx_meter_;
  Unit<Mpa::Rx, MpaRxTiming, ToDdp> rx_;
  Unit<Mpa::Tx, MpaTxTiming, ToLlp> tx_;
  StageOf<MpaUnit> ctl_{*this, &MpaUnit::step_ctl};
};

}  // namespace rnic::model

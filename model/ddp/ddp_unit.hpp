// ddp in the timed model: scheduling and assembly of segments, receive, control.
#pragma once

#include <optional>

#include "ddp/ddp.hpp"
#include "sc/queue.hpp"
#include "sc/unit.hpp"
#include "top/units.hpp"

namespace rnic::model {

class DdpUnit final : private Ddp::Out {
 public:
  explicit DdpUnit(Units& u);
  Queue<RxUlpdu> rx_ulpdu;
  Queue<PayloadData> payload;  // from host_if
  Queue<spec::TxWant> wants;   // after llp_if's credit check
  Queue<spec::QpCtlDdp> control;

  void push_rx(RxUlpdu ulpdu, Cycle at) {
    ddp_.rx.enters(ulpdu.hdr.qpn);
    rx_ulpdu.push(std::move(ulpdu), at);
  }
  /// A message on tx_message after `after` cycles; a slot is always free.
  void message(TxMessage m, Cycle after) {
    u_.pass(Stream::kTxMessageHdr, u_.now() + after);
    until_want_ = after + u_.timing.ddp.want;
    ddp_.tx.message(std::move(m));
    until_want_.reset();
  }
  void place_done(const spec::PlaceDone& d) {
    ddp_.rx.place_done(d);
    if (!segments_.empty()) out_.wake(u_.now() + 1);
  }
  /// tpt has invalidated the STag of the oldest held report.
  void invalidated() {
    until_report_ = u_.timing.tpt.drained;
    ddp_.rx.invalidated();
    until_report_.reset();
    rx_.wake(u_.now());
  }
  // The WQE that rq_take waited for has arrived. step_rx() then adds rq_map, in which the take was
  // before it began to wait.
  void receive_ready() { rx_.wake(u_.now() + u_.timing.qp.rq_take - u_.timing.qp.rq_map); }
  spec::UnitCount count() const;
  std::string waiting_for() const;

 private:
  void step_sched();
  void step_out();
  void step_rx();
  static bool is_send(const RxUlpdu& u);
  void step_ctl() {
    while (control.ready()) ddp_.control(control.pop());
  }
  void qp_ack_ddp(const spec::QpAckDdp& ack) override;
  void tx_want(const spec::TxWant& want) override;
  void tx_fault(const spec::TxFault& fault) override;
  void sq_slot_free(const spec::SqSlotFree& free) override;
  void resp_slot_free(const spec::RespSlotFree& free) override;
  void resp_fetched(const spec::RespFetched& fetched) override;
  void rx_done(const spec::RxDone& done) override;
  void invalidate(const spec::Invalidate& inv) override;

  Units& u_;
  Ddp ddp_;
  Queue<Ddp::Segment> segments_;
  Meter tx_meter_, rx_meter_;
  bool is_final_ = false;            // assemble() runs: resp_slot_free is that of a Flush Response
  Cycle judged_in_ = 0;              // while take() runs: cycles until the segment is judged
  std::optional<Cycle> until_want_;  // of an incoming message
  std::optional<Cycle> until_report_;  // while invalidated() runs
  Cycle sched_free_ = 0, out_free_ = 0, rx_free_ = 0, place_free_ = 0;
  StageOf<DdpUnit> sched_{*this, &DdpUnit::step_sched};
  StageOf<DdpUnit> out_{*this, &DdpUnit::step_out};
  StageOf<DdpUnit> rx_{*this, &DdpUnit::step_rx};
  StageOf<DdpUnit> ctl_{*this, &DdpUnit::step_ctl};
};

}  // namespace rnic::model

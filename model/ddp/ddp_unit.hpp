// ddp in the timed model: scheduling and assembly of segments, receive, control.
#pragma once

#include <optional>
#include <vector>

#include "ddp/ddp.hpp"
#include "sc/port.hpp"
#include "sc/queue.hpp"
#include "sc/unit.hpp"
#include "top/units.hpp"

namespace rnic::model {

class DdpUnit final : private Ddp::Out {
  Units& u_;  // before the ports, which join its list

 public:
  /// tpt: answers tx_xlate and rx_xlate. judge: answers rx_segment (rdmap).
  DdpUnit(Units& u, Translation& tpt, SegmentJudge& judge);
  Queue<RxUlpdu> rx_ulpdu;
  Queue<PayloadData> payload;  // from host_if
  Queue<spec::TxWant> wants;   // wants at the cycle in which llp_if may grant them
  Queue<spec::QpCtlDdp> control;
  Call<std::optional<spec::TxGrant>(const spec::TxWant&)> tx_want_o{u_.ports, "ddp.tx_want_o"};
  Output<PayloadFetch> payload_req_o{u_.ports, "ddp.payload_req_o"};
  Call<void()> payload_taken_o{u_.ports, "ddp.payload_taken_o"};
  Output<TxUlpdu> tx_ulpdu_o{u_.ports, "ddp.tx_ulpdu_o"};
  Output<spec::TxFault> tx_fault_o{u_.ports, "ddp.tx_fault_o"};
  Output<spec::SqSlotFree> sq_slot_free_o{u_.ports, "ddp.sq_slot_free_o"};
  Output<spec::RespSlotFree> resp_slot_free_o{u_.ports, "ddp.resp_slot_free_o"};
  Call<void(const spec::RespFetched&)> resp_fetched_o{u_.ports, "ddp.resp_fetched_o"};
  Call<std::optional<spec::RqTakeRsp>(uint16_t, Cycle)> rq_take_req_o{u_.ports,
                                                                      "ddp.rq_take_req_o"};
  // rx_segment is a call of `judge`, made ahead of its time. rx_segment_in_o: the cycles until the
  // segment reaches rdmap. rx_verdict_late_i: the cycles that it then waited in rdmap.
  Call<void(Cycle)> rx_segment_in_o{u_.ports, "ddp.rx_segment_in_o"};
  Call<Cycle()> rx_verdict_late_i{u_.ports, "ddp.rx_verdict_late_i"};
  Output<Place> place_o{u_.ports, "ddp.place_o"};
  Call<Cycle(uint32_t)> place_latency_i{u_.ports, "ddp.place_latency_i"};
  Output<spec::RxDone> rx_done_o{u_.ports, "ddp.rx_done_o"};
  Output<spec::Invalidate> invalidate_o{u_.ports, "ddp.invalidate_o"};
  Output<spec::QpAckDdp> qp_ack_ddp_o{u_.ports, "ddp.qp_ack_ddp_o"};

  void push_rx(RxUlpdu&& ulpdu, Cycle at) {
    ddp_.rx.enters(ulpdu.hdr.qpn);
    rx_ulpdu.push(std::move(ulpdu), at);
  }
  /// A message on tx_message at cycle `at`; a slot is always free.
  void message(TxMessage&& m, Cycle at) {
    const DdpTiming& t = u_.timing.ddp;
    u_.pass(Stream::kTxMessageHdr, at);
    came_[m.hdr.qpn] = at + t.want - t.inside;
    until_want_ = at - u_.now() + t.want;
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
  /// The WQE that rq_take waited for has arrived.
  void receive_ready() { rx_.wake(u_.now()); }
  spec::UnitCount count() const;
  std::string waiting_for() const;

 private:
  void step_sched();
  void step_segment();
  void step_out();
  void step_rx();
  static bool is_send(const RxUlpdu& u);
  static bool asks_tpt(const RxUlpdu& u);
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

  /// Cycles that the queue of segments adds if it is block memory (more than 64 entries).
  Cycle block() const { return u_.sizes.seg_depth > 64 ? 1 : 0; }
  /// tx_grant to the output of the queue of segments.
  Cycle scheduled() const { return u_.timing.ddp.scheduled + block(); }

  Ddp ddp_;
  Queue<Ddp::Scheduled> scheduled_;  // segments between schedule() and fetch()
  Queue<Ddp::Segment> segments_;     // segments between fetch() and assemble()
  // By QP: its last message enters ddp_tx_sched; its last grant leaves it.
  std::vector<Cycle> came_, left_;
  Meter tx_meter_, rx_meter_;
  bool is_final_ = false;            // assemble() runs: resp_slot_free is that of a Flush Response
  Cycle judged_in_ = 0;              // while take() runs: cycles until the segment is judged
  std::optional<Cycle> until_want_;  // while message() runs: cycles until its tx_want
  std::optional<Cycle> until_report_;  // while invalidated() runs: cycles until its rx_done
  // When each path may begin its next item. beats_free_: the beats of the last received segment
  // have arrived. place_free_: those of the last placed one have left.
  Cycle sched_free_ = 0, segment_free_ = 0, out_free_ = 0, rx_free_ = 0, beats_free_ = 0,
        place_free_ = 0;
  Cycle taken_at_ = 0;       // cycle of the last rq_take_rsp
  bool take_waits_ = false;  // the last take waits in qp_rq_fetch for a WQE
  Cycle segment_ = 0;        // cycle of the last rx_segment
  StageOf<DdpUnit> sched_{*this, &DdpUnit::step_sched};
  StageOf<DdpUnit> cut_{*this, &DdpUnit::step_segment};
  StageOf<DdpUnit> out_{*this, &DdpUnit::step_out};
  StageOf<DdpUnit> rx_{*this, &DdpUnit::step_rx};
  StageOf<DdpUnit> ctl_{*this, &DdpUnit::step_ctl};
};

}  // namespace rnic::model

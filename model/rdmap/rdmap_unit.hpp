// rdmap in the timed model. Messages of the send queue and of the responder share the path to ddp;
// verdicts are calls. Each of four operations takes one cycle of rdmap_core's pipe: a WQE, a
// segment, the head of a QP's IRD, a freed response slot.
#pragma once

#include <variant>
#include <vector>

#include "rdmap/pipe.hpp"
#include "rdmap/rdmap.hpp"
#include "sc/port.hpp"
#include "sc/queue.hpp"
#include "sc/unit.hpp"
#include "top/units.hpp"

namespace rnic::model {

class RdmapUnit final : private Rdmap::Out {
  Units& u_;  // before the ports, which join its list

 public:
  using Control = std::variant<spec::QpCtlRdmap, spec::QpFault, spec::TxFault>;
  /// tpt: answers resp_check.
  RdmapUnit(Units& u, const Translation& tpt);
  Queue<Wqe> wqe;
  Queue<Control> control;
  Output<TxMessage> tx_message_o{u_.ports, "rdmap.tx_message_o"};
  Output<Rdmap::Turn> atomic_req_o{u_.ports, "rdmap.atomic_req_o"};
  Output<spec::AtomicReq> atomic_result_o{u_.ports, "rdmap.atomic_result_o"};  // op kResult
  Call<void()> atomic_look_o{u_.ports, "rdmap.atomic_look_o"};  // the turn of a request may come
  Call<bool(uint16_t)> atomic_busy_i{u_.ports, "rdmap.atomic_busy_i"};
  Call<bool(uint16_t)> atomic_stores_i{u_.ports, "rdmap.atomic_stores_i"};
  Output<spec::SqLocal> sq_local_o{u_.ports, "rdmap.sq_local_o"};
  Output<spec::RxDone> res_done_o{u_.ports, "rdmap.res_done_o"};
  Output<spec::QpError> qp_error_o{u_.ports, "rdmap.qp_error_o"};
  Output<spec::QpAckRdmap> qp_ack_rdmap_o{u_.ports, "rdmap.qp_ack_rdmap_o"};

  SegmentJudge& judge() { return judge_; }
  /// ddp calls judge() `ahead` cycles before the segment reaches rdmap. Outputs of the segment are
  /// later by as many cycles.
  void arriving(Cycle ahead) { ahead_ = ahead; }
  /// Cycles that the latest judged segment waited for the pipe.
  Cycle waited() const { return waited_; }
  /// A response slot becomes free; the signal reaches rdmap at cycle `at`.
  void resp_slot_free(const spec::RespSlotFree& free, Cycle at) {
    ahead_ = at - u_.now() + pipe_.take(u_.now(), at);
    rdmap_.resp_slot_free(free);
    ahead_ = 0;
  }
  bool is_alive(uint16_t qpn) const { return rdmap_.is_alive(qpn); }
  bool fetched(uint16_t qpn) const { return rdmap_.fetched(qpn); }
  /// Response of unit atomic. To a request of the peer: becomes a message, or fails the QP. To a
  /// result: becomes a res_done, or fails the QP.
  void atomic_rsp(const spec::AtomicRsp& rsp);
  void resp_fetched(const spec::RespFetched& f);
  /// atomic or tpt has finished an item of this QP: acknowledges an order that waited for it.
  void item_left(uint16_t qpn);
  /// A request to our own table is done or has failed: tpt reports it at cycle `at`.
  void sq_local_done(const spec::SqLocalDone& done, Cycle at);
  spec::UnitCount count() const { return meter_.count(); }
  std::string waiting_for() const { return rdmap_.waiting_for() + wqe.describe(); }

 private:
  struct Judge final : SegmentJudge {  // counts segments, and takes their cycle of the pipe
    explicit Judge(RdmapUnit& u) : unit(u) {}
    spec::RxVerdict rx_segment(const spec::RxSegment& segment) override {
      unit.meter_.item(1);
      unit.waited_ = unit.pipe_.take(unit.u_.now(), unit.u_.now() + unit.ahead_);
      unit.ahead_ += unit.waited_;
      return unit.rdmap_.rx_segment(segment);
    }
    RdmapUnit& unit;
  };
  // What the acknowledgement of an order waits for. kResults: results of our atomics, and our
  // requests in tpt. kAll: atomics of the peer as well.
  enum class Waits : uint8_t { kNothing, kResults, kAll };
  bool waits_for(uint16_t qpn, Waits what) const;
  void step_tx();
  void step_ctl();
  void qp_ack_rdmap(const spec::QpAckRdmap& ack) override;
  void qp_error(const spec::QpError& error) override;
  void terminate(TxMessage m) override;
  void responder_ready(uint16_t qpn) override;
  void result(const spec::AtomicReq& result) override;
  void sq_local(const spec::SqLocal& request) override;

  Rdmap rdmap_;
  Meter meter_;
  Judge judge_{*this};
  Pipe pipe_;
  Queue<uint16_t> list_;       // QPs to be served, visible when the response can be sent
  std::vector<Cycle> served_;  // cycles in which the latest requests left the ring of rdmap_read
  uint32_t serving_ = 0;       // index of the oldest of them
  // free_at_: when the path to ddp takes the next message. ahead_: see arriving(). waited_: see
  // waited().
  Cycle free_at_ = 0, ahead_ = 0, waited_ = 0;
  bool responder_last_ = false;    // the responder sent the last message
  Waits waits_ = Waits::kNothing;  // what the order in step_ctl() waits for
  std::vector<Waits> acks_;        // by QP: what its acknowledgement waits for in atomic and tpt
  std::vector<uint32_t> local_;    // by QP: sq_local requests in tpt
  StageOf<RdmapUnit> tx_{*this, &RdmapUnit::step_tx};
  StageOf<RdmapUnit> ctl_{*this, &RdmapUnit::step_ctl};
};

}  // namespace rnic::model

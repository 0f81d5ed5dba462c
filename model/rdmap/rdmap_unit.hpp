// rdmap in the timed model: messages of send queue and responder share the path to ddp; verdicts
// are calls. Every operation takes a cycle of the pipe of rdmap_core: WQE, segment, head, free slot.
#pragma once

#include <variant>
#include <vector>

#include "rdmap/pipe.hpp"
#include "rdmap/rdmap.hpp"
#include "sc/queue.hpp"
#include "sc/unit.hpp"
#include "top/units.hpp"

namespace rnic::model {

class RdmapUnit final : private Rdmap::Out {
 public:
  using Control = std::variant<spec::QpCtlRdmap, spec::QpFault, spec::TxFault>;
  explicit RdmapUnit(Units& u);
  Queue<Wqe> wqe;
  Queue<Control> control;

  Rdmap& rdmap() { return rdmap_; }
  SegmentJudge& judge() { return judge_; }
  /// A segment that ddp still checks is judged now; its verdict comes so much later.
  void arriving(Cycle ahead) { ahead_ = ahead; }
  /// Cycles that the segment judged last waited for the pipe.
  Cycle waited() const { return waited_; }
  /// A response slot is free, and rdmap learns of it so much later.
  void resp_slot_free(const spec::RespSlotFree& free, Cycle after) {
    ahead_ = after + pipe_.take(u_.now(), u_.now() + after);
    rdmap_.resp_slot_free(free);
    ahead_ = 0;
  }
  /// What unit atomic has done: a message, or a failure.
  void atomic_rsp(const spec::AtomicRsp& rsp);
  void resp_fetched(const spec::RespFetched& f);
  /// It has one thing less of this QP: an order that waits for that may be acknowledged.
  void atomic_left(uint16_t qpn);
  spec::UnitCount count() const { return meter_.count(); }
  std::string waiting_for() const { return rdmap_.waiting_for() + wqe.describe(); }

 private:
  struct Judge final : SegmentJudge {  // counts
    explicit Judge(RdmapUnit& u) : unit(u) {}
    spec::RxVerdict rx_segment(const spec::RxSegment& segment) override {
      unit.meter_.item(1);
      unit.waited_ = unit.pipe_.take(unit.u_.now(), unit.u_.now() + unit.ahead_);
      unit.ahead_ += unit.waited_;
      return unit.rdmap_.rx_segment(segment);
    }
    RdmapUnit& unit;
  };
  enum class Waits : uint8_t { kNothing, kResults, kAll };
  bool waits_for_atomic(uint16_t qpn, Waits what) const;
  void step_tx();
  void step_ctl();
  void qp_ack_rdmap(const spec::QpAckRdmap& ack) override;
  void qp_error(const spec::QpError& error) override;
  void terminate(TxMessage m) override;
  void responder_ready(uint16_t qpn) override;
  void result(const spec::AtomicReq& result) override;

  Units& u_;
  Rdmap rdmap_;
  Meter meter_;
  Judge judge_{*this};
  Pipe pipe_;
  Queue<uint16_t> list_;       // QPs to be answered, each seen when its response can leave
  std::vector<Cycle> served_;  // when the last requests left the ring of rdmap_read
  uint32_t serving_ = 0;       // the oldest of them
  Cycle free_at_ = 0, ahead_ = 0, waited_ = 0;
  bool responder_last_ = false;
  Waits waits_ = Waits::kNothing;  // what the order that is done waits for in unit atomic
  std::vector<Waits> acks_;        // of each QP: an acknowledgement waits for unit atomic
  StageOf<RdmapUnit> tx_{*this, &RdmapUnit::step_tx};
  StageOf<RdmapUnit> ctl_{*this, &RdmapUnit::step_ctl};
};

}  // namespace rnic::model

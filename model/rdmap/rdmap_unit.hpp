// rdmap in the timed model: messages of send queue and responder share the way to ddp; verdicts are
// calls.
#pragma once

#include <variant>

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
  /// A segment on its way through ddp's checks is judged now; its verdict comes so much later.
  void arriving(Cycle ahead) { ahead_ = ahead; }
  spec::UnitCount count() const { return meter_.count(); }
  std::string waiting_for() const { return rdmap_.waiting_for() + wqe.describe(); }

 private:
  struct Judge final : SegmentJudge {  // counts
    explicit Judge(RdmapUnit& u) : unit(u) {}
    spec::RxVerdict rx_segment(const spec::RxSegment& segment) override {
      unit.meter_.item(1);
      return unit.rdmap_.rx_segment(segment);
    }
    RdmapUnit& unit;
  };
  void step_tx();
  void step_ctl();
  void qp_ack_rdmap(const spec::QpAckRdmap& ack) override;
  void qp_error(const spec::QpError& error) override;
  void terminate(TxMessage m) override;
  void responder_ready() override {
    tx_.wake(u_.now() + ahead_ + u_.timing.rdmap.respond + u_.timing.tpt.check);
  }

  Units& u_;
  Rdmap rdmap_;
  Meter meter_;
  Judge judge_{*this};
  Cycle free_at_ = 0, responder_free_ = 0, ahead_ = 0;
  bool responder_last_ = false;
  uint32_t last_ = 0;  // QP that was answered last
  StageOf<RdmapUnit> tx_{*this, &RdmapUnit::step_tx};
  StageOf<RdmapUnit> ctl_{*this, &RdmapUnit::step_ctl};
};

}  // namespace rnic::model

// cq in the timed model: completions and events share the path to host_if.
#pragma once

#include <algorithm>
#include <optional>
#include <variant>

#include "cq/cq.hpp"
#include "sc/port.hpp"
#include "sc/queue.hpp"
#include "sc/unit.hpp"
#include "top/units.hpp"

namespace rnic::model {

class CqUnit final : private Cq::Out {
  Units& u_;  // before the ports, which join its list

 public:
  using Control = std::variant<spec::CqCmd, spec::QpAsync, spec::ConnAsync>;
  explicit CqUnit(Units& u);
  Queue<spec::CqeReq> cqe_req;
  Queue<Control> control;
  Output<spec::CqWr> cq_wr_o{u_.ports, "cq.cq_wr_o"};
  Output<spec::CqCmdRsp> cq_cmd_rsp_o{u_.ports, "cq.cq_cmd_rsp_o"};
  Output<spec::CqFault> cq_fault_o{u_.ports, "cq.cq_fault_o"};

  bool cq_doorbell(const spec::CqDoorbell& db) { return cq_.doorbell(db); }
  void eq_doorbell(const spec::EqDoorbell& db) { cq_.doorbell(db); }
  spec::UnitCount count() const { return meter_.count(); }
  std::string waiting_for() const {
    return cqe_req.describe() + (behind_ ? "cq: a command waits for completions before it\n" : "");
  }

 private:
  void step_write();
  void step_ctl();
  void cq_cmd_rsp(const spec::CqCmdRsp& rsp) override;
  void cq_fault(const spec::CqFault& fault) override;
  void event_ready() override {
    const CqTiming& t = u_.timing.cq;
    if (!event_) event_at_ = std::max(event_at_, u_.now() + after_.value_or(t.doorbell + t.event));
    event_ = true;
    write_.wake(event_at_);
  }

  Cq cq_;
  Meter meter_;
  Cycle free_at_ = 0;
  uint64_t taken_ = 0;  // completions taken from cqe_req since reset
  struct Behind {
    spec::CqCmd cmd;
    uint64_t taken = 0;  // value of taken_ at which cmd is executed: completions before it are done
  };
  std::optional<Behind> behind_;  // the waiting command; admin sends one at a time
  bool event_ = false;            // choice() may return an event, from event_at_ on
  Cycle event_at_ = 0;
  // Cycles until an event that is raised now is pending, set while a completion or command is
  // executed. None: a doorbell raises it.
  std::optional<Cycle> after_;
  std::optional<Cq::Event> interrupt_;  // its EQE is written, its MSI-X message is not
  StageOf<CqUnit> write_{*this, &CqUnit::step_write};
  StageOf<CqUnit> ctl_{*this, &CqUnit::step_ctl};
};

}  // namespace rnic::model

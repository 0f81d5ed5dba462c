// tpt in the timed model: commands; look-ups are calls that their askers charge.
#pragma once

#include "sc/queue.hpp"
#include "sc/unit.hpp"
#include "top/units.hpp"
#include "tpt/tpt.hpp"

namespace rnic::model {

class TptUnit final : private Tpt::Out {
 public:
  explicit TptUnit(Units& u);
  Queue<spec::TptCmd> control;
  Tpt& tpt() { return tpt_; }
  spec::UnitCount count() const { return meter_.count(); }
  std::string waiting_for() const { return tpt_.waiting_for(); }

 private:
  void step_ctl() {
    while (control.ready()) {
      meter_.item(1);
      tpt_.command(control.pop());
    }
  }
  void tpt_cmd_rsp(const spec::TptCmdRsp& rsp) override;

  Units& u_;
  Tpt tpt_;
  Meter meter_;
  StageOf<TptUnit> ctl_{*this, &TptUnit::step_ctl};
};

}  // namespace rnic::model

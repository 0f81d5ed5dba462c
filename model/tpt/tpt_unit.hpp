// tpt in the timed model: commands. Lookups are calls, charged by their callers: none waits here.
#pragma once

#include <variant>

#include "sc/queue.hpp"
#include "sc/unit.hpp"
#include "top/units.hpp"
#include "tpt/tpt.hpp"

namespace rnic::model {

class TptUnit final : private Tpt::Out {
 public:
  explicit TptUnit(Units& u);
  Queue<spec::TptCmd> control;
  using Invalidation = std::variant<spec::Invalidate, spec::SqLocal>;
  Queue<Invalidation> invalidations;  // from ddp and rdmap
  Queue<MemData> reg_rd;              // page lists of fast registrations
  Tpt& tpt() { return tpt_; }
  spec::UnitCount count() const {
    return {.items = tpt_.lookups(), .busy = tpt_.lookups() + tpt_.extents(), .stalled = 0};
  }
  std::string waiting_for() const { return tpt_.waiting_for(); }

 private:
  void step_ctl();
  void tpt_cmd_rsp(const spec::TptCmdRsp& rsp) override;
  void invalidated(const spec::Invalidated& inv) override;
  void sq_local_done(const spec::SqLocalDone& inv) override;

  Units& u_;
  Tpt tpt_;
  Cycle invalidated_ = 0;  // when tpt_update is idle again
  StageOf<TptUnit> ctl_{*this, &TptUnit::step_ctl};
};

}  // namespace rnic::model

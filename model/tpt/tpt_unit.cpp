#include "tpt/tpt_unit.hpp"

#include "admin/admin_unit.hpp"

namespace rnic::model {

TptUnit::TptUnit(Units& u) : control("tpt_cmd", 2), u_(u), tpt_(u.sizes, *this) {
  u.attach(ctl_, StageNo::kTptCtl);
  control.feeds(ctl_);
}

void TptUnit::tpt_cmd_rsp(const spec::TptCmdRsp& rsp) {
  u_.admin->answer(rsp, u_.timing.tpt.command);
}

}  // namespace rnic::model

#include "tpt/tpt_unit.hpp"

#include "admin/admin_unit.hpp"
#include "ddp/ddp_unit.hpp"
#include "rdmap/rdmap_unit.hpp"

namespace rnic::model {

TptUnit::TptUnit(Units& u)
    : control("tpt_cmd", 2),
      invalidations("invalidate", 6 * u.sizes.fifo_depth + u.sizes.num_qps * u.sizes.sq_window),
      reg_rd("reg_rd", u.sizes.rd_tags),
      u_(u),
      tpt_(u.sizes, *this) {
  u.attach(ctl_, StageNo::kTptCtl);
  control.feeds(ctl_);
  invalidations.feeds(ctl_);
  reg_rd.feeds(ctl_);
}

void TptUnit::step_ctl() {
  while (control.ready()) tpt_.command(control.pop());
  while (invalidations.ready()) {
    if (u_.now() < invalidated_) return ctl_.wake(invalidated_);
    invalidated_ = u_.now() + u_.timing.tpt.invalidations;
    std::visit([this](const auto& i) { tpt_.invalidate(i); }, invalidations.pop());
  }
}

void TptUnit::invalidated(const spec::Invalidated&) { u_.ddp->invalidated(); }
void TptUnit::sq_local_done(const spec::SqLocalDone& inv) { u_.rdmap->sq_local_done(inv); }

void TptUnit::tpt_cmd_rsp(const spec::TptCmdRsp& rsp) {
  u_.admin->answer(rsp, u_.timing.tpt.command);
}

}  // namespace rnic::model

#include "tpt/tpt_unit.hpp"

#include "admin/admin_unit.hpp"
#include "ddp/ddp_unit.hpp"
#include "rdmap/rdmap_unit.hpp"

namespace rnic::model {

TptUnit::TptUnit(Units& u)
    : control("tpt_cmd", 2),
      invalidations("invalidate", 6 * u.sizes.fifo_depth),
      local("sq_local", u.sizes.num_qps * u.sizes.sq_window),
      reg_rd("reg_rd", u.sizes.rd_tags),
      u_(u),
      tpt_(u.sizes, *this) {
  u.attach(ctl_, StageNo::kTptCtl);
  u.attach(register_, StageNo::kTptRegister);
  control.feeds(ctl_);
  invalidations.feeds(ctl_);
  local.feeds(ctl_);
  reg_rd.feeds(register_);
}

/// Invalidations of the peer and of the send queue take turns. A registration leaves the queue
/// when the one before it has requested its page list; what is behind it waits until then.
void TptUnit::step_ctl() {
  const Cycle now = u_.now();
  while (control.ready()) tpt_.command(control.pop());
  for (;;) {
    if (local.ready() && local.front().is_reg != 0 && front_ == Front::kIdle &&
        jobs_.size() < kJobs) {
      head_ = Tpt::Registration(local.pop());
      front_ = Front::kAsks;
      front_at_ = now;
      register_.wake(now);
    }
    const bool of_peer = invalidations.ready();
    const bool own = local.ready() && local.front().is_reg == 0;
    if (!of_peer && !own) return;
    if (now < update_free_) return ctl_.wake(update_free_);
    update_free_ = now + u_.timing.tpt.invalidations;
    of_peer_last_ = of_peer && !(own && of_peer_last_);
    if (of_peer_last_)
      tpt_.invalidate(invalidations.pop());
    else
      tpt_.invalidate(local.pop());
  }
}

void TptUnit::invalidated(const spec::Invalidated&) { u_.ddp->invalidated(); }
void TptUnit::sq_local_done(const spec::SqLocalDone& inv) {
  u_.rdmap->sq_local_done(inv, u_.timing.tpt.drained);
}

std::string TptUnit::waiting_for() const {
  std::string s = tpt_.waiting_for() + local.describe();
  if (front_ == Front::kWaits)
    s += "tpt: a fast registration waits for accesses through its STag\n";
  if (!jobs_.empty())
    s += "tpt: " + std::to_string(jobs_.size()) + " fast registrations wait for their page lists\n";
  return s;
}

void TptUnit::tpt_cmd_rsp(const spec::TptCmdRsp& rsp) {
  u_.admin->answer(rsp, u_.timing.tpt.command);
}

}  // namespace rnic::model

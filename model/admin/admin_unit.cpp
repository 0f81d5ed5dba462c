#include "admin/admin_unit.hpp"

#include <algorithm>

#include "cq/cq_unit.hpp"
#include "host_if/host_unit.hpp"
#include "llp_if/llp_unit.hpp"
#include "qp/qp_unit.hpp"
#include "tpt/tpt_unit.hpp"

namespace rnic::model {

AdminUnit::AdminUnit(Units& u) : in("admin_doorbell", 64), u_(u), admin_(u.sizes, *this) {
  u.attach(stage_, StageNo::kAdmin);
  in.feeds(stage_);
}

void AdminUnit::step() {
  while (in.ready()) {
    In item = in.pop();
    const uint64_t answered = admin_.answered();
    if (const auto* db = std::get_if<spec::AdminDoorbell>(&item)) admin_.doorbell(*db);
    if (auto* data = std::get_if<MemData>(&item)) admin_.data(std::move(*data));
    if (const auto* rsp = std::get_if<spec::CmdRsp>(&item)) admin_.answer(*rsp);
    if (auto* raw = std::get_if<RawBytes>(&item)) admin_.raw_rx(std::move(*raw));
    // Busy from the fetch of a command to its response.
    if (admin_.answered() != answered)
      meter_.item(u_.now() - since_.value_or(u_.now()) + u_.timing.admin.step);
    if (!admin_.in_hand()) {
      since_.reset();
    } else if (!since_ || admin_.answered() != answered) {
      since_ = u_.now();
    }
  }
}

/// Includes the cycles that clear the tables after reset.
spec::UnitCount AdminUnit::count() const {
  const auto& s = u_.sizes;
  spec::UnitCount c = meter_.count();
  c.busy += std::max({s.num_pds, s.num_eqs, s.num_cqs, s.num_qps});
  return c;
}

void AdminUnit::admin_rd_req(const MemRead& read) {
  u_.host->admin_rd_req.push(read, u_.now() + u_.timing.admin.step + u_.timing.host.rd_request);
}
void AdminUnit::admin_wr(const spec::AdminWr& wr) {
  u_.host->write_admin(wr, u_.now() + u_.timing.admin.step + u_.timing.host.wr_cut);
}
void AdminUnit::pbl_wr(const spec::PblWr& wr) { u_.tpt->tpt().pbl_wr(wr); }
void AdminUnit::raw_tx(RawBytes bytes) {
  u_.llp->raw_tx.push(std::move(bytes), u_.now() + u_.timing.admin.step);
}

void AdminUnit::command(Admin::Unit unit, const spec::Cmd& cmd) {
  const Cycle at = u_.now() + u_.timing.admin.step + u_.timing.admin.command;
  switch (unit) {
    case Admin::Unit::kQp:
      u_.qp->control.push(cmd, at);
      break;
    case Admin::Unit::kCq:
      u_.cq->control.push(cmd, at);
      break;
    case Admin::Unit::kTpt:
      u_.tpt->control.push(cmd, at);
      break;
    case Admin::Unit::kConn:
      u_.llp->commands.push(cmd, at);
      break;
  }
}

}  // namespace rnic::model

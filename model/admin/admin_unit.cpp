// The times of admin: see admin_unit.hpp.
#include "admin/admin_unit.hpp"

#include <algorithm>

namespace rnic::model {

AdminUnit::AdminUnit(Units& u) : u_(u), in("admin_doorbell", 64), admin_(u.sizes, *this) {
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
    const Cycle end = std::max(u_.now(), free_at_);
    if (admin_.answered() != answered)
      meter_.item(end - since_.value_or(end) + u_.timing.admin.step);
    if (!admin_.in_hand()) {
      since_.reset();
    } else if (!since_ || admin_.answered() != answered) {
      since_ = end;
    }
  }
}

/// busy includes the cycles in which the tables are cleared after reset: as many as the largest
/// table has rows. The bits of admin_ranges are in words of 64.
spec::UnitCount AdminUnit::count() const {
  const auto& s = u_.sizes;
  spec::UnitCount c = meter_.count();
  const auto words = [](uint32_t places) { return (places + 63) / 64; };
  c.busy += std::max({s.num_pds, s.num_eqs, s.num_cqs, s.num_qps,
                      words(s.num_pbl) + words(s.ird_slots) + words(s.ord_slots)});
  return c;
}

void AdminUnit::admin_rd_req(const MemRead& read) {
  admin_rd_req_o.push(read, next() + u_.timing.host.rd_request);
}
void AdminUnit::admin_wr(const spec::AdminWr& wr) {
  admin_wr_o.push(wr, next() + u_.timing.host.wr_cut);
}
void AdminUnit::pbl_wr(const spec::PblWr& wr) { pbl_wr_o(wr); }
void AdminUnit::raw_tx(RawBytes bytes) { raw_tx_o.push(std::move(bytes), next()); }

void AdminUnit::walked(const Ranges::Walk& walk) {
  const AdminTiming& t = u_.timing.admin;
  ranged_ += t.ranges + walk.turns * t.turn + walk.ranges * t.range + walk.words * t.word;
}

void AdminUnit::command(Admin::Unit unit, const spec::Cmd& cmd) {
  const Cycle at = next() + u_.timing.admin.command;
  switch (unit) {
    case Admin::Unit::kQp:
      qp_cmd_o.push(cmd, at);
      break;
    case Admin::Unit::kCq:
      cq_cmd_o.push(cmd, at);
      break;
    case Admin::Unit::kTpt:
      tpt_cmd_o.push(cmd, at);
      break;
    case Admin::Unit::kConn:
      conn_cmd_o.push(cmd, at);
      break;
  }
}

}  // namespace rnic::model

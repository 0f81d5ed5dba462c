// admin in the timed model: one stage that passes doorbells, data and responses to class Admin.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "admin/admin.hpp"
#include "sc/port.hpp"
#include "sc/queue.hpp"
#include "sc/unit.hpp"
#include "top/units.hpp"

namespace rnic::model {

class AdminUnit final : private Admin::Out {
  Units& u_;  // before the ports, which join its list

 public:
  using In = std::variant<spec::AdminDoorbell, MemData, spec::CmdRsp, RawBytes>;
  explicit AdminUnit(Units& u);
  Queue<In> in;
  Output<MemRead> admin_rd_req_o{u_.ports, "admin.admin_rd_req_o"};
  Output<spec::AdminWr> admin_wr_o{u_.ports, "admin.admin_wr_o"};
  Output<spec::QpCmd> qp_cmd_o{u_.ports, "admin.qp_cmd_o"};
  Output<spec::CqCmd> cq_cmd_o{u_.ports, "admin.cq_cmd_o"};
  Output<spec::TptCmd> tpt_cmd_o{u_.ports, "admin.tpt_cmd_o"};
  Output<spec::ConnCmd> conn_cmd_o{u_.ports, "admin.conn_cmd_o"};
  Call<void(const spec::PblWr&)> pbl_wr_o{u_.ports, "admin.pbl_wr_o"};
  Output<RawBytes> raw_tx_o{u_.ports, "admin.raw_tx_o"};

  void answer(const spec::CmdRsp& rsp, Cycle at) { in.push(rsp, at + u_.timing.admin.step); }
  void configure(const spec::DevCfg& cfg) { admin_.configure(cfg); }
  bool fatal() const { return admin_.fatal(); }
  spec::UnitCount count() const;
  std::string waiting_for() const { return admin_.waiting_for(); }

 private:
  void step();
  void admin_rd_req(const MemRead& read) override;
  void admin_wr(const spec::AdminWr& wr) override;
  void command(Admin::Unit unit, const spec::Cmd& cmd) override;
  void pbl_wr(const spec::PblWr& wr) override;
  void raw_tx(RawBytes bytes) override;
  void walked(const Ranges::Walk& walk) override;
  /// The time of the next output: AdminTiming::step after the input and after the operations of
  /// admin_ranges.
  Cycle next() {
    free_at_ = std::max(free_at_, u_.now()) + std::exchange(ranged_, 0);
    return free_at_ + u_.timing.admin.step;
  }

  Admin admin_;
  Meter meter_;
  std::optional<Cycle> since_;  // start of the current command
  Cycle ranged_ = 0;            // cycles of admin_ranges since the last output
  Cycle free_at_ = 0;           // when the operations of admin_ranges before the last output end
  StageOf<AdminUnit> stage_{*this, &AdminUnit::step};
};

}  // namespace rnic::model

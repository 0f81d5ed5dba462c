// admin in the timed model: one stage that passes responses and data to it.
#pragma once

#include <optional>
#include <variant>

#include "admin/admin.hpp"
#include "sc/queue.hpp"
#include "sc/unit.hpp"
#include "top/units.hpp"

namespace rnic::model {

class AdminUnit final : private Admin::Out {
 public:
  using In = std::variant<spec::AdminDoorbell, MemData, spec::CmdRsp, RawBytes>;
  explicit AdminUnit(Units& u);
  Queue<In> in;

  void answer(const spec::CmdRsp& rsp, Cycle after = 0) {
    in.push(rsp, u_.now() + after + u_.timing.admin.step);
  }
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

  Units& u_;
  Admin admin_;
  Meter meter_;
  std::optional<Cycle> since_;  // start of the current command
  StageOf<AdminUnit> stage_{*this, &AdminUnit::step};
};

}  // namespace rnic::model

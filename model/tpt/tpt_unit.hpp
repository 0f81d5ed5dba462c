// tpt in the timed model: commands, invalidations, fast registrations, binds. Lookups are calls,
// whose cycles the callers add: no lookup waits here.
//
//   local --+--> invalidation --------------> tpt_update --> rdmap
//           +--> front_ --bind-----------------------> rdmap
//           +--> front_ --claim, read--> jobs_ --open--> rdmap
//                             reg_rd --list--^
#pragma once

#include <optional>

#include "sc/port.hpp"
#include "sc/queue.hpp"
#include "sc/unit.hpp"
#include "top/units.hpp"
#include "tpt/tpt.hpp"

namespace rnic::model {

class TptUnit final : private Tpt::Out {
  Units& u_;  // before the ports, which join its list

 public:
  explicit TptUnit(Units& u);
  Queue<spec::TptCmd> control;
  Queue<spec::Invalidate> invalidations;  // from ddp
  Queue<spec::SqLocal> local;             // from rdmap: invalidations, fast registrations, binds
  Queue<MemData> reg_rd;                  // page lists of fast registrations
  Output<spec::TptCmdRsp> tpt_cmd_rsp_o{u_.ports, "tpt.tpt_cmd_rsp_o"};
  Call<void()> invalidated_o{u_.ports, "tpt.invalidated_o"};
  Output<spec::SqLocalDone> sq_local_done_o{u_.ports, "tpt.sq_local_done_o"};
  Output<MemRead> reg_rd_req_o{u_.ports, "tpt.reg_rd_req_o"};

  Translation& lookups() { return tpt_; }
  void retired(const spec::Retired& r) { tpt_.retired(r); }
  void configure(const spec::DevCfg& cfg) { tpt_.set_key(cfg.stag_key); }
  void pbl_wr(const spec::PblWr& wr) { tpt_.pbl_wr(wr); }
  spec::UnitCount count() const {
    return {.items = tpt_.lookups(), .busy = tpt_.lookups() + tpt_.extents(), .stalled = 0};
  }
  std::string waiting_for() const;

 private:
  static constexpr uint32_t kJobs = 8;  // claimed registrations whose page lists are read
  void step_ctl();
  void step_register();
  void front();  // claims a registration and requests its page list; or executes a bind
  void bind();
  void back();  // takes page lists, and ends the oldest job
  bool take_update(Cycle busy);
  void tpt_cmd_rsp(const spec::TptCmdRsp& rsp) override;
  void invalidated(const spec::Invalidated& inv) override;
  void sq_local_done(const spec::SqLocalDone& inv) override;
  void claimable() override;

  Tpt tpt_;
  Cycle update_free_ = 0;      // when tpt_update is idle again
  bool of_peer_last_ = false;  // the last invalidation came from the peer (ddp)
  // State of the registration or bind that has left `local` last: see front().
  enum class Front : uint8_t {
    kIdle,
    kAsks,    // requests tpt_update
    kClaims,  // tpt_update executes the claim or bind
    kWaits,   // for accesses in flight: claimable() follows
    kReads    // requests the page list
  };
  Front front_ = Front::kIdle;
  Tpt::Registration head_;            // that registration
  std::optional<Tpt::Binding> bind_;  // that bind; then head_ is unused
  Cycle front_at_ = 0;                // when front() takes its next step
  uint32_t requested_ = 0;            // entries of head_'s page list that are requested
  // Claimed registrations, in the order of their reads.
  Ring<Tpt::Registration> jobs_;
  Ring<Cycle> listed_;    // of the oldest jobs_: when the last entry of their page list is checked
  Cycle checked_at_ = 0;  // when the latest data is checked
  Cycle ended_at_ = 0;    // when tpt_update has opened the oldest job, or given it up
  bool ends_ = false;     // tpt_update is opening the oldest job, or giving it up
  StageOf<TptUnit> ctl_{*this, &TptUnit::step_ctl};
  StageOf<TptUnit> register_{*this, &TptUnit::step_register};
};

}  // namespace rnic::model

// qp in the timed model: fetch, issue, retirement, control.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "qp/qp.hpp"
#include "sc/port.hpp"
#include "sc/queue.hpp"
#include "sc/ring.hpp"
#include "sc/unit.hpp"
#include "top/units.hpp"

namespace rnic::model {

class QpUnit final : private Qp::Out {
  Units& u_;  // before the ports, which join its list

 public:
  struct Ack {
    Qp::Peer peer{};
    uint16_t qpn = 0;
  };
  using Control = std::variant<spec::QpCmd, Ack, spec::QpError, spec::LlpEvent, spec::CqFault>;
  /// tpt: answers wqe_check.
  QpUnit(Units& u, const Translation& tpt);
  Queue<MemData> sq_rd, rq_rd;
  Queue<spec::WrDone> wr_done;
  Queue<spec::RxDone> rx_done;
  Queue<Control> control;
  Output<MemRead> sq_rd_req_o{u_.ports, "qp.sq_rd_req_o"};
  Output<MemRead> rq_rd_req_o{u_.ports, "qp.rq_rd_req_o"};
  Output<Wqe> wqe_o{u_.ports, "qp.wqe_o"};
  Call<void()> rq_ready_o{u_.ports, "qp.rq_ready_o"};  // a take that waited may be repeated
  Output<spec::CqeReq> cqe_req_o{u_.ports, "qp.cqe_req_o"};
  Output<spec::QpCmdRsp> qp_cmd_rsp_o{u_.ports, "qp.qp_cmd_rsp_o"};
  Call<void(const spec::QpPurge&)> qp_purge_o{u_.ports, "qp.qp_purge_o"};
  Output<spec::QpAsync> qp_async_o{u_.ports, "qp.qp_async_o"};
  Output<spec::QpFault> qp_fault_o{u_.ports, "qp.qp_fault_o"};
  Output<spec::QpCtlMpa> qp_ctl_mpa_o{u_.ports, "qp.qp_ctl_mpa_o"};
  Output<spec::QpCtlDdp> qp_ctl_ddp_o{u_.ports, "qp.qp_ctl_ddp_o"};
  Output<spec::QpCtlRdmap> qp_ctl_rdmap_o{u_.ports, "qp.qp_ctl_rdmap_o"};
  Output<spec::QpCtlLlp> qp_ctl_llp_o{u_.ports, "qp.qp_ctl_llp_o"};

  /// ddp has finished a message of the send queue; the signal reaches qp at cycle `at`.
  void sq_slot_free(const spec::SqSlotFree& free, Cycle at) {
    frees_.push(free, at);
    ++freed_[free.qpn];
  }
  template <Qp::Peer P>
  void ack(const spec::QpAckLlp& ack, Cycle at) {
    control.push(Ack{P, ack.qpn}, at + u_.timing.qp.control);
  }
  bool doorbell(const spec::QpDoorbell& db) {
    meter_.busy(1);
    pushed_ = db.kind == spec::DoorbellKind::kPush;  // passes through qp_sq_fetch first
    const bool fits = qp_.doorbell(db);
    pushed_ = false;
    return fits;
  }
  /// A take of ddp: see Qp::rq_take(). `given`: cycles until the WQE leaves the prefetch buffer,
  /// when a fetch may become due.
  std::optional<spec::RqTakeRsp> rq_take(uint16_t qpn, Cycle given) {
    const uint16_t row = qp_.row(qpn);
    const bool was_due = qp_.rq_fetchable().test(row);
    auto rsp = qp_.rq_take(qpn);
    if (!rsp) return rsp;
    if (!was_due) rq_due_[row] = u_.now() + given + u_.timing.qp.rq_schedule;
    meter_.busy(1);
    return rsp;
  }
  spec::UnitCount count() const { return meter_.count(); }
  std::string waiting_for() const;

 private:
  MemData came(MemData d) {  // counts the beats of a fetch
    meter_.busy(u_.timing.path.beats(d.data.size()));
    return d;
  }
  void step_fetch();
  void step_issue();
  static uint32_t due(const ReadySet& set, const std::vector<Cycle>& at, uint32_t last, Cycle now);
  void pass();
  void step_retire();
  void step_ctl();
  void command(const spec::QpCmd& cmd);
  /// An acknowledgement of ddp waits until qp has received all slots that ddp freed for that QP.
  bool waits(const Control& c) const {
    const auto* ack = std::get_if<Ack>(&c);
    return ack != nullptr && ack->peer == Qp::Peer::kDdp && freed_[ack->qpn] != 0;
  }
  void qp_cmd_rsp(const spec::QpCmdRsp& rsp) override;
  void qp_ctl(Qp::Peer peer, const spec::QpCtlLlp& ctl) override;
  void qp_fault(const spec::QpFault& fault) override;
  void cqe_req(const spec::CqeReq& cqe) override;
  void qp_async(const spec::QpAsync& async) override;
  void qp_purge(const spec::QpPurge& purge) override;
  void ready(Qp::Set set) override;
  void look_due(uint16_t qpn) override;
  void answer_looks();

  Qp qp_;
  Meter meter_;
  struct Look {  // answered after the items that were queued when it was requested
    uint16_t qpn = 0;
    uint32_t wr_left = 0, rx_left = 0;  // such items that are still in wr_done, rx_done
  };
  Queue<spec::SqSlotFree> frees_;
  std::vector<uint8_t> freed_;  // by QP: entries in frees_
  Ring<Look> looks_;
  struct Commanded {  // admin waits for the answer
    uint16_t qpn = 0;
    Cycle late = 0;  // from this cycle on the answer is in_progress (kCommandPatience)
  };
  std::optional<Commanded> commanded_;
  // *_free_: when qp_parse and qp_retire take their next item. cqe_at_: cycle of this pass's CQE.
  Cycle issue_free_ = 0, retire_free_ = 0, cqe_at_ = 0;
  std::vector<Cycle> held_;    // by QP: end of its visit of qp_parse
  std::vector<Cycle> rq_due_;  // by row: when qp_rq_fetch sees the take that makes a fetch due
  Cycle visit_began_ = kNever;
  uint32_t visit_left_ = 0;   // WQEs of last_issue_ that its visit may still issue
  uint32_t visit_reads_ = 0;  // Reads that the visit may still issue
  // pushed_, freed_slot_, in_pass_: a push, a freed slot or a pass is being handled; ready() reads
  // them.
  // last_sent_: the last report that pass() took was a wr_done.
  bool pushed_ = false, freed_slot_ = false, in_pass_ = false, last_sent_ = false;
  uint32_t last_fetch_ = 0, last_rq_fetch_ = 0, last_issue_ = 0, last_retire_ = 0;
  StageOf<QpUnit> fetch_{*this, &QpUnit::step_fetch};
  StageOf<QpUnit> issue_{*this, &QpUnit::step_issue};
  StageOf<QpUnit> retire_{*this, &QpUnit::step_retire};
  StageOf<QpUnit> ctl_{*this, &QpUnit::step_ctl};
};

}  // namespace rnic::model

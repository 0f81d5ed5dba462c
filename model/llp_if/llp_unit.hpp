// llp_if in the timed model: received and sent records, control, credit.
#pragma once

#include <optional>
#include <variant>

#include "llp_if/llp_if.hpp"
#include "sc/port.hpp"
#include "sc/queue.hpp"
#include "sc/ring.hpp"
#include "sc/unit.hpp"
#include "top/units.hpp"

namespace rnic::model {

class LlpUnit final : private LlpIf::Out {
  Units& u_;  // before the ports, which join its list

 public:
  using In = std::variant<LlpRecord, spec::LlpCtlEvt>;  // in arrival order
  explicit LlpUnit(Units& u);
  Queue<TxFpdu> tx_fpdu;
  Queue<RawBytes> raw_tx;
  Queue<spec::ConnCmd> commands;
  Queue<spec::QpCtlLlp> control;
  Output<RxFpdu> rx_fpdu_o{u_.ports, "llp_if.rx_fpdu_o"};
  Output<RawBytes> raw_rx_o{u_.ports, "llp_if.raw_rx_o"};
  Output<spec::TxWant> tx_grant_o{u_.ports, "llp_if.tx_grant_o"};  // the want that may be granted
  Output<spec::WrDone> wr_done_o{u_.ports, "llp_if.wr_done_o"};
  Output<spec::ConnCmdRsp> conn_cmd_rsp_o{u_.ports, "llp_if.conn_cmd_rsp_o"};
  Output<spec::QpAckLlp> qp_ack_llp_o{u_.ports, "llp_if.qp_ack_llp_o"};
  Output<spec::LlpEvent> llp_event_o{u_.ports, "llp_if.llp_event_o"};
  Output<spec::ConnAsync> conn_async_o{u_.ports, "llp_if.conn_async_o"};

  /// See LlpIf::grant(). If credit is missing, tx_grant_o repeats the want when it has come.
  std::optional<spec::TxGrant> grant(const spec::TxWant& want) { return llp_.grant(want); }
  bool can_receive() const { return records_ < u_.sizes.fifo_depth; }
  void receive(LlpRecord r);  // after can_receive()
  void event(const spec::LlpCtlEvt& e) { in_.push(e, u_.now() + u_.timing.llp.control); }
  void credit(const spec::LlpCredit& c) { llp_.credit(c); }
  void wake() { tx_.wake(u_.now()); }  // the transport accepts records again (can_llp_tx)
  spec::UnitCount count() const;
  std::string waiting_for() const;

 private:
  struct Timer {  // of a Terminate that waits for credit (TermTimeout)
    Cycle at = 0;
    uint16_t qpn = 0;
    uint32_t life = 0;
  };
  void step_tx();
  void step_rx();
  void step_ctl();
  void step_out();
  void conn_cmd_rsp(const spec::ConnCmdRsp& rsp) override;
  void qp_ack_llp(const spec::QpAckLlp& ack) override;
  void llp_event(const spec::LlpEvent& event) override;
  void conn_async(const spec::ConnAsync& async) override;
  void llp_ctl_req(const spec::LlpCtlReq& req) override { ctl_out_.push(req, u_.now() + 1); }
  void wr_done(const spec::WrDone& done) override;
  void grantable(const spec::TxWant& want) override;
  void term_timer(uint16_t qpn, uint32_t life) override;
  void give_ended(uint16_t connection) override;
  void raw_tx_possible() override {
    if (!raw_tx.empty()) tx_.wake(u_.now() + 1);
  }

  LlpIf llp_;
  Queue<In> in_;
  Queue<spec::LlpCtlReq> ctl_out_;
  Ring<Timer> timers_;
  uint32_t records_ = 0;                  // records in in_; its other items are events
  std::optional<uint32_t> before_order_;  // FPDUs in flight that must be sent before the order at
                                          // the front
  Meter tx_meter_, rx_meter_;
  // *_free_: when that path may begin its next item. done_at_: cycle of the wr_done of the current
  // FPDU. raw_until_: when streaming bytes that still wait for credit are abandoned.
  Cycle tx_free_ = 0, rx_free_ = 0, done_at_ = 0, raw_until_ = kNever;
  StageOf<LlpUnit> tx_{*this, &LlpUnit::step_tx};
  StageOf<LlpUnit> rx_{*this, &LlpUnit::step_rx};
  StageOf<LlpUnit> ctl_{*this, &LlpUnit::step_ctl};
  StageOf<LlpUnit> out_{*this, &LlpUnit::step_out};
};

}  // namespace rnic::model

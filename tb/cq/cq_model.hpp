// The model's cq behind the interface of CqDut.
#pragma once

#include <memory>
#include <optional>

#include "cq/cq.hpp"
#include "gen/queues.hpp"
#include "gen/sizes.hpp"
#include "gen/streams.hpp"
#include "support/model_dut.hpp"

namespace rnic::tb {

template <bool kMinimumBuild>
struct CqModelDut : ModelDut {
  static constexpr bool kIsRtl = false;
  static constexpr bool kMinimum = kMinimumBuild;

  ModelIn<spec::CqDoorbell> cq_doorbell{*this, "cq_doorbell"};
  ModelIn<spec::EqDoorbell> eq_doorbell{*this, "eq_doorbell"};
  ModelOut<spec::CqWr> cq_wr{*this, "cq_wr"};
  ModelIn<spec::CqCmd> cq_cmd{*this, "cq_cmd"};
  ModelOut<spec::CqCmdRsp> cq_cmd_rsp{*this, "cq_cmd_rsp"};
  ModelIn<spec::CqeReq> cqe_req{*this, "cqe_req"};
  ModelIn<spec::QpAsync> qp_async{*this, "qp_async"};
  ModelOut<spec::CqFault> cq_fault{*this, "cq_fault"};
  ModelIn<spec::ConnAsync> conn_async{*this, "conn_async"};

  uint64_t bad_doorbells = 0;

  void reset() override {
    cq_ = std::make_unique<model::Cq>(kMinimum ? spec::Sizes::minimum() : spec::Sizes{}, out_);
    message_.reset();
    bad_doorbells = 0;
  }
  /// Executes one item, or one write of an event.
  bool step() override {
    time_++;
    if (message_) {
      cq_wr.push(cq_->interrupt(*message_));
      message_.reset();
      return true;
    }
    if (!cq_cmd.empty()) return cq_->command(cq_cmd.pop()), true;
    if (!eq_doorbell.empty()) return cq_->doorbell(eq_doorbell.pop()), true;
    if (!qp_async.empty()) return cq_->qp_async(qp_async.pop()), true;
    if (!conn_async.empty()) return cq_->conn_async(conn_async.pop()), true;
    if (!cq_doorbell.empty()) {
      if (!cq_->doorbell(cq_doorbell.pop())) bad_doorbells++;
      return true;
    }
    if (!cqe_req.empty()) {
      if (const auto wr = cq_->complete(cqe_req.pop(), time_)) cq_wr.push(*wr);
      return true;
    }
    message_ = cq_->choice();
    if (message_) cq_wr.push(cq_->write_event(*message_));
    return message_.has_value();
  }

 private:
  struct Out final : model::Cq::Out {
    explicit Out(CqModelDut& dut) : d(dut) {}
    void cq_cmd_rsp(const spec::CqCmdRsp& rsp) override { d.cq_cmd_rsp.push(rsp); }
    void cq_fault(const spec::CqFault& fault) override { d.cq_fault.push(fault); }
    void event_ready() override {}  // step() polls each time
    CqModelDut& d;
  };

  Out out_{*this};
  std::unique_ptr<model::Cq> cq_;
  // The event whose entry is written, and whose MSI-X message is the next write.
  std::optional<model::Cq::Event> message_;
  uint64_t time_ = 0;  // steps since construction: the timestamp of completions
};

}  // namespace rnic::tb

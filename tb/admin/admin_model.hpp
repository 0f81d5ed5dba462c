// The model's admin with the interface of RtlAdmin (admin_dut.hpp). step() gives the behaviour
// class one input item a cycle: bytes and responses first, then a doorbell.
#pragma once

#include <memory>

#include "admin/admin.hpp"
#include "gen/queues.hpp"
#include "gen/sizes.hpp"
#include "gen/streams.hpp"
#include "support/model_dut.hpp"

namespace rnic::tb {

template <bool Minimum>
struct ModelAdmin : ModelDut {
  static spec::Sizes sizes() { return Minimum ? spec::Sizes::minimum() : spec::Sizes{}; }

  // host_if
  ModelIn<spec::AdminDoorbell> admin_doorbell{*this, "admin_doorbell"};
  ModelOut<spec::AdminRdReq> admin_rd_req{*this, "admin_rd_req"};
  ModelIn<spec::AdminRdHdr> admin_rd_hdr{*this, "admin_rd_hdr"};
  ModelPacketIn admin_rd{*this, "admin_rd"};
  ModelOut<spec::AdminWr> admin_wr{*this, "admin_wr"};
  // units
  ModelOut<spec::QpCmd> qp_cmd{*this, "qp_cmd"};
  ModelIn<spec::QpCmdRsp> qp_cmd_rsp{*this, "qp_cmd_rsp"};
  ModelOut<spec::CqCmd> cq_cmd{*this, "cq_cmd"};
  ModelIn<spec::CqCmdRsp> cq_cmd_rsp{*this, "cq_cmd_rsp"};
  ModelOut<spec::TptCmd> tpt_cmd{*this, "tpt_cmd"};
  ModelIn<spec::TptCmdRsp> tpt_cmd_rsp{*this, "tpt_cmd_rsp"};
  ModelOut<spec::ConnCmd> conn_cmd{*this, "conn_cmd"};
  ModelIn<spec::ConnCmdRsp> conn_cmd_rsp{*this, "conn_cmd_rsp"};
  ModelOut<spec::PblWr> pbl_wr{*this, "pbl_wr"};
  ModelOut<spec::RawTxHdr> raw_tx_hdr{*this, "raw_tx_hdr"};
  ModelPacketOut raw_tx{*this, "raw_tx"};
  ModelIn<spec::RawRxHdr> raw_rx_hdr{*this, "raw_rx_hdr"};
  ModelPacketIn raw_rx{*this, "raw_rx"};

  void configure(const spec::DevCfg& cfg) {
    cfg_ = cfg;
    if (admin_) admin_->configure(cfg);
  }
  bool fatal() { return admin_->fatal(); }
  void start(Pace p) {
    configure({});
    restart(p);
  }

  void reset() override {
    admin_ = std::make_unique<model::Admin>(sizes(), out_);
    admin_->configure(cfg_);
  }
  bool step() override {
    if (!raw_rx_hdr.empty() && !raw_rx.empty()) {
      const auto hdr = raw_rx_hdr.pop();
      admin_->raw_rx({.connection = hdr.connection,
                      .data = Payload::copy_of(raw_rx.pop().bytes),
                      .ended = hdr.ended != 0});
      return true;
    }
    if (!admin_rd_hdr.empty() && !admin_rd.empty()) {
      const auto status = admin_rd_hdr.pop().status;
      admin_->data({.status = status, .data = Payload::copy_of(admin_rd.pop().bytes)});
      return true;
    }
    for (auto* rsp : {&qp_cmd_rsp, &cq_cmd_rsp, &tpt_cmd_rsp, &conn_cmd_rsp}) {
      if (rsp->empty()) continue;
      admin_->answer(rsp->pop());
      return true;
    }
    if (admin_doorbell.empty()) return false;
    admin_->doorbell(admin_doorbell.pop());
    return true;
  }

 private:
  struct Out final : model::Admin::Out {
    explicit Out(ModelAdmin& dut) : d(dut) {}
    void admin_rd_req(const model::MemRead& r) override {
      d.admin_rd_req.push({.address = r.address, .length = static_cast<uint16_t>(r.length)});
    }
    void admin_wr(const spec::AdminWr& wr) override { d.admin_wr.push(wr); }
    void command(model::Admin::Unit unit, const spec::Cmd& cmd) override {
      switch (unit) {
        case model::Admin::Unit::kQp:
          return d.qp_cmd.push(cmd);
        case model::Admin::Unit::kCq:
          return d.cq_cmd.push(cmd);
        case model::Admin::Unit::kTpt:
          return d.tpt_cmd.push(cmd);
        case model::Admin::Unit::kConn:
          return d.conn_cmd.push(cmd);
      }
    }
    void pbl_wr(const spec::PblWr& wr) override { d.pbl_wr.push(wr); }
    void raw_tx(model::RawBytes raw) override {
      const auto bytes = raw.data.bytes();
      d.raw_tx_hdr.push(
          {.connection = raw.connection, .length = static_cast<uint16_t>(bytes.size())});
      d.raw_tx.push({{bytes.begin(), bytes.end()}, false});
    }
    ModelAdmin& d;
  };

  Out out_{*this};
  spec::DevCfg cfg_;
  std::unique_ptr<model::Admin> admin_;
};

}  // namespace rnic::tb

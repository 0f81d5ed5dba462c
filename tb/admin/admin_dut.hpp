// The interface of admin for a bench: its streams by name, its settings, and its sizes. The model's
// admin has the same interface (admin_model.hpp).
//
//   dut.start(pace);   dut.configure({.enable = 1, ...});   dut.admin_doorbell.put({.index = 1});
#pragma once

#include <cstring>

#include "VAdmin.h"
#include "VAdminMin.h"
#include "VAdminMin_rnic_stall_pkg.h"
#include "admin/admin_model.hpp"
#include "gen/queues.hpp"
#include "gen/sizes.hpp"
#include "gen/streams.hpp"
#include "support/packet_port.hpp"
#include "support/rtl_dut.hpp"

namespace rnic::tb {

template <class V, bool Minimum>
struct RtlAdmin : RtlDut<V> {
  static spec::Sizes sizes() { return Minimum ? spec::Sizes::minimum() : spec::Sizes{}; }

  // host_if
  StreamIn<spec::AdminDoorbell> admin_doorbell =
      RNIC_IN(*this, admin_doorbell, spec::AdminDoorbell);
  StreamOut<spec::AdminRdReq> admin_rd_req = RNIC_OUT(*this, admin_rd_req, spec::AdminRdReq);
  StreamIn<spec::AdminRdHdr> admin_rd_hdr = RNIC_IN(*this, admin_rd_hdr, spec::AdminRdHdr);
  PacketIn admin_rd = RNIC_PACKET_IN(*this, admin_rd);
  StreamOut<spec::AdminWr> admin_wr = RNIC_OUT(*this, admin_wr, spec::AdminWr);
  // units
  StreamOut<spec::QpCmd> qp_cmd = RNIC_OUT(*this, qp_cmd, spec::QpCmd);
  StreamIn<spec::QpCmdRsp> qp_cmd_rsp = RNIC_IN(*this, qp_cmd_rsp, spec::QpCmdRsp);
  StreamOut<spec::CqCmd> cq_cmd = RNIC_OUT(*this, cq_cmd, spec::CqCmd);
  StreamIn<spec::CqCmdRsp> cq_cmd_rsp = RNIC_IN(*this, cq_cmd_rsp, spec::CqCmdRsp);
  StreamOut<spec::TptCmd> tpt_cmd = RNIC_OUT(*this, tpt_cmd, spec::TptCmd);
  StreamIn<spec::TptCmdRsp> tpt_cmd_rsp = RNIC_IN(*this, tpt_cmd_rsp, spec::TptCmdRsp);
  StreamOut<spec::ConnCmd> conn_cmd = RNIC_OUT(*this, conn_cmd, spec::ConnCmd);
  StreamIn<spec::ConnCmdRsp> conn_cmd_rsp = RNIC_IN(*this, conn_cmd_rsp, spec::ConnCmdRsp);
  StreamOut<spec::PblWr> pbl_wr = RNIC_OUT(*this, pbl_wr, spec::PblWr);
  StreamOut<spec::RawTxHdr> raw_tx_hdr = RNIC_OUT(*this, raw_tx_hdr, spec::RawTxHdr);
  PacketOut raw_tx = RNIC_PACKET_OUT(*this, raw_tx);
  StreamIn<spec::RawRxHdr> raw_rx_hdr = RNIC_IN(*this, raw_rx_hdr, spec::RawRxHdr);
  PacketIn raw_rx = RNIC_PACKET_IN(*this, raw_rx);

  /// Drives dev_cfg_i: the registers that host_if passes to admin (enable, bases and size of the
  /// rings, stag_key).
  void configure(const spec::DevCfg& cfg) {
    const auto words = cfg.to_words();
    std::memcpy(&this->top().dev_cfg_i, words.data(), sizeof words);
  }
  /// Returns whether admin has stopped because it could not read a command of the ring.
  bool fatal() { return this->top().fatal_o != 0; }

  /// Resets admin with dev_cfg.enable = 0, and waits until its tables are cleared (ready_o).
  void start(Pace p) {
    configure({});
    this->restart(p);
    EXPECT_TRUE(this->run_until([&] { return this->top().ready_o != 0; }));
  }
};

using Duts = ::testing::Types<RtlAdmin<VAdmin, false>, RtlAdmin<VAdminMin, true>, ModelAdmin<false>,
                              ModelAdmin<true>>;
using RtlDuts = ::testing::Types<RtlAdmin<VAdmin, false>, RtlAdmin<VAdminMin, true>>;

}  // namespace rnic::tb

// tpt as a device under test: its streams by name, the same for RTL and model.
//
//   TptDut<VTpt, false> dut;  dut.restart(pace);  dut.set_key(key);  dut.tpt_cmd.put({...});
#pragma once

#include <cstring>

#include "gen/errors.hpp"
#include "gen/queues.hpp"
#include "gen/sizes.hpp"
#include "gen/streams.hpp"
#include "support/packet_port.hpp"
#include "support/rtl_dut.hpp"
#include "support/stream_port.hpp"
#include "support/tap_port.hpp"

namespace rnic::tb {

template <class V, bool kMinimumBuild>
struct TptDut : RtlDut<V> {
  static constexpr bool kIsRtl = true;
  static constexpr bool kMinimum = kMinimumBuild;

  StreamIn<spec::TptCmd> tpt_cmd = RNIC_IN(*this, tpt_cmd, spec::TptCmd);
  StreamOut<spec::TptCmdRsp> tpt_cmd_rsp = RNIC_OUT(*this, tpt_cmd_rsp, spec::TptCmdRsp);
  StreamIn<spec::PblWr> pbl_wr = RNIC_IN(*this, pbl_wr, spec::PblWr);
  StreamIn<spec::WqeCheck> wqe_check = RNIC_IN(*this, wqe_check, spec::WqeCheck);
  StreamOut<spec::WqeCheckRsp> wqe_check_rsp = RNIC_OUT(*this, wqe_check_rsp, spec::WqeCheckRsp);
  StreamIn<spec::RespCheck> resp_check = RNIC_IN(*this, resp_check, spec::RespCheck);
  StreamOut<spec::RespCheckRsp> resp_check_rsp =
      RNIC_OUT(*this, resp_check_rsp, spec::RespCheckRsp);
  StreamIn<spec::TxXlate> tx_xlate = RNIC_IN(*this, tx_xlate, spec::TxXlate);
  StreamOut<spec::TxExtent> tx_extent = RNIC_OUT(*this, tx_extent, spec::TxExtent);
  StreamIn<spec::RdRetired> rd_retired = RNIC_IN(*this, rd_retired, spec::RdRetired);
  StreamIn<spec::RxXlate> rx_xlate = RNIC_IN(*this, rx_xlate, spec::RxXlate);
  StreamOut<spec::RxXlateRsp> rx_xlate_rsp = RNIC_OUT(*this, rx_xlate_rsp, spec::RxXlateRsp);
  StreamOut<spec::RxExtent> rx_extent = RNIC_OUT(*this, rx_extent, spec::RxExtent);
  StreamIn<spec::WrRetired> wr_retired = RNIC_IN(*this, wr_retired, spec::WrRetired);
  StreamIn<spec::Qn1Xlate> qn1_xlate = RNIC_IN(*this, qn1_xlate, spec::Qn1Xlate);
  StreamOut<spec::Qn1Extent> qn1_extent = RNIC_OUT(*this, qn1_extent, spec::Qn1Extent);
  StreamIn<spec::Qn1Retired> qn1_retired = RNIC_IN(*this, qn1_retired, spec::Qn1Retired);
  StreamIn<spec::RxDropped> rx_dropped = RNIC_IN(*this, rx_dropped, spec::RxDropped);
  StreamIn<spec::Invalidate> invalidate = RNIC_IN(*this, invalidate, spec::Invalidate);
  StreamOut<spec::Invalidated> invalidated = RNIC_OUT(*this, invalidated, spec::Invalidated);

  StreamIn<spec::SqLocal> sq_local = RNIC_IN(*this, sq_local, spec::SqLocal);
  StreamOut<spec::SqLocalDone> sq_local_done = RNIC_OUT(*this, sq_local_done, spec::SqLocalDone);

  StreamOut<spec::RegRdReq> reg_rd_req = RNIC_OUT(*this, reg_rd_req, spec::RegRdReq);
  StreamIn<spec::RegRdHdr> reg_rd_hdr = RNIC_IN(*this, reg_rd_hdr, spec::RegRdHdr);
  PacketIn reg_rd = RNIC_PACKET_IN(*this, reg_rd);

  TapPort<spec::TptCheckCommit> tpt_check{
      *this, [this] { return &this->top().rootp->tpt__DOT__u_entry__DOT__tap_tpt_check; }};
  TapPort<spec::TptChangeCommit> tpt_change{
      *this, [this] { return &this->top().rootp->tpt__DOT__u_update__DOT__tap_tpt_change; }};

  /// Drives dev_cfg_i: the device is enabled and permutes STags under this key.
  void set_key(uint64_t key) {
    const auto words = spec::DevCfg{.enable = 1, .stag_key = key}.to_words();
    static_assert(sizeof words <= sizeof this->top().dev_cfg_i);
    std::memcpy(&this->top().dev_cfg_i, words.data(), sizeof words);
  }
  void restart(Pace pace) override {
    RtlDut<V>::restart(pace);
    const bool ready = this->run_until([&] { return this->top().ready_o != 0; });
    EXPECT_TRUE(ready) << "tables are never clear";
  }
};

}  // namespace rnic::tb

// The interface of llp_if for a bench: its streams by name. A bench uses only these, so the model
// can have the same interface.
#pragma once

#include "VLlpIf.h"
#include "VLlpIfMin.h"
#include "VLlpIfMin_rnic_stall_pkg.h"
#include "gen/sizes.hpp"
#include "gen/streams.hpp"
#include "llp_if_model.hpp"
#include "support/packet_port.hpp"
#include "support/rtl_dut.hpp"

namespace rnic::tb {

template <class V, bool Minimum>
struct RtlLlpIf : RtlDut<V> {
  static spec::Sizes sizes() { return Minimum ? spec::Sizes::minimum() : spec::Sizes{}; }
  // Its stages and queues are those of the chip, so tests may rely on cycles and depths.
  static constexpr bool kHasCycles = true;

  // LLP
  StreamIn<spec::LlpRxHdr> llp_rx_hdr = RNIC_IN(*this, llp_rx_hdr, spec::LlpRxHdr);
  PacketIn llp_rx = RNIC_PACKET_IN(*this, llp_rx);
  StreamOut<spec::LlpTxHdr> llp_tx_hdr = RNIC_OUT(*this, llp_tx_hdr, spec::LlpTxHdr);
  PacketOut llp_tx = RNIC_PACKET_OUT(*this, llp_tx);
  StreamOut<spec::LlpCtlReq> req = RNIC_OUT(*this, llp_ctl_req, spec::LlpCtlReq);
  StreamIn<spec::LlpCtlEvt> evt = RNIC_IN(*this, llp_ctl_evt, spec::LlpCtlEvt);
  StreamIn<spec::LlpCredit> credit = RNIC_IN(*this, llp_credit, spec::LlpCredit);
  // admin
  StreamIn<spec::ConnCmd> cmd = RNIC_IN(*this, conn_cmd, spec::ConnCmd);
  StreamOut<spec::ConnCmdRsp> rsp = RNIC_OUT(*this, conn_cmd_rsp, spec::ConnCmdRsp);
  StreamIn<spec::RawTxHdr> raw_tx_hdr = RNIC_IN(*this, raw_tx_hdr, spec::RawTxHdr);
  PacketIn raw_tx = RNIC_PACKET_IN(*this, raw_tx);
  StreamOut<spec::RawRxHdr> raw_rx_hdr = RNIC_OUT(*this, raw_rx_hdr, spec::RawRxHdr);
  PacketOut raw_rx = RNIC_PACKET_OUT(*this, raw_rx);
  // qp
  StreamIn<spec::QpCtlLlp> ctl = RNIC_IN(*this, qp_ctl_llp, spec::QpCtlLlp);
  StreamOut<spec::QpAckLlp> ack = RNIC_OUT(*this, qp_ack_llp, spec::QpAckLlp);
  StreamOut<spec::WrDone> done = RNIC_OUT(*this, wr_done, spec::WrDone);
  StreamOut<spec::LlpEvent> event = RNIC_OUT(*this, llp_event, spec::LlpEvent);
  // ddp
  StreamIn<spec::TxWant> want = RNIC_IN(*this, tx_want, spec::TxWant);
  StreamOut<spec::TxGrant> grant = RNIC_OUT(*this, tx_grant, spec::TxGrant);
  // mpa
  StreamIn<spec::TxFpduHdr> tx_fpdu_hdr = RNIC_IN(*this, tx_fpdu_hdr, spec::TxFpduHdr);
  PacketIn tx_fpdu = RNIC_PACKET_IN(*this, tx_fpdu);
  StreamOut<spec::RxFpduHdr> rx_fpdu_hdr = RNIC_OUT(*this, rx_fpdu_hdr, spec::RxFpduHdr);
  PacketOut rx_fpdu = RNIC_PACKET_OUT(*this, rx_fpdu);
  // cq
  StreamOut<spec::ConnAsync> async = RNIC_OUT(*this, conn_async, spec::ConnAsync);

  std::optional<typename RtlDut<V>::Handled> handled() override {
    return {{.busy = llp_tx.beat_taken() || rx_fpdu.beat_taken(), .items = {}}};
  }
  spec::UnitCount count() {
    spec::UnitCount::Words w{};
    std::memcpy(w.data(), &this->top().count_o, sizeof w);
    return spec::UnitCount::from_words(w.data());
  }
};

using Duts = ::testing::Types<RtlLlpIf<VLlpIf, false>, RtlLlpIf<VLlpIfMin, true>, ModelLlpIf<false>,
                              ModelLlpIf<true>>;
using RtlDuts = ::testing::Types<RtlLlpIf<VLlpIf, false>, RtlLlpIf<VLlpIfMin, true>>;

}  // namespace rnic::tb

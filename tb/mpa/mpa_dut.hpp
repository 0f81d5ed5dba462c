// The interface of mpa for a bench: its streams by name. A bench uses only these, so the model can
// have the same interface.
#pragma once

#include "VMpa.h"
#include "VMpaMin.h"
#include "VMpaMin_rnic_stall_pkg.h"
#include "gen/sizes.hpp"
#include "gen/streams.hpp"
#include "mpa_model.hpp"
#include "support/packet_port.hpp"
#include "support/rtl_dut.hpp"

namespace rnic::tb {

template <class V, bool Minimum>
struct RtlMpa : RtlDut<V> {
  static spec::Sizes sizes() { return Minimum ? spec::Sizes::minimum() : spec::Sizes{}; }

  // qp
  StreamIn<spec::QpCtlMpa> ctl = RNIC_IN(*this, qp_ctl_mpa, spec::QpCtlMpa);
  StreamOut<spec::QpAckMpa> ack = RNIC_OUT(*this, qp_ack_mpa, spec::QpAckMpa);
  // receive
  StreamIn<spec::RxFpduHdr> rx_fpdu_hdr = RNIC_IN(*this, rx_fpdu_hdr, spec::RxFpduHdr);
  PacketIn rx_fpdu = RNIC_PACKET_IN(*this, rx_fpdu);
  StreamOut<spec::RxUlpduHdr> rx_ulpdu_hdr = RNIC_OUT(*this, rx_ulpdu_hdr, spec::RxUlpduHdr);
  PacketOut rx_ulpdu = RNIC_PACKET_OUT(*this, rx_ulpdu);
  // transmit
  StreamIn<spec::TxUlpduHdr> tx_ulpdu_hdr = RNIC_IN(*this, tx_ulpdu_hdr, spec::TxUlpduHdr);
  PacketIn tx_ulpdu = RNIC_PACKET_IN(*this, tx_ulpdu);
  StreamOut<spec::TxFpduHdr> tx_fpdu_hdr = RNIC_OUT(*this, tx_fpdu_hdr, spec::TxFpduHdr);
  PacketOut tx_fpdu = RNIC_PACKET_OUT(*this, tx_fpdu);

  std::optional<typename RtlDut<V>::Handled> handled() override {
    return {{.busy = rx_ulpdu.beat_taken() || tx_fpdu.beat_taken(),
             .items = uint64_t{rx_ulpdu.packet_taken()} + tx_fpdu.packet_taken()}};
  }
};

using Duts =
    ::testing::Types<RtlMpa<VMpa, false>, RtlMpa<VMpaMin, true>, ModelMpa<false>, ModelMpa<true>>;
using RtlDuts = ::testing::Types<RtlMpa<VMpa, false>, RtlMpa<VMpaMin, true>>;

}  // namespace rnic::tb

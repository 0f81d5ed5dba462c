// ddp as a device under test: its streams by name, and its sizes. A bench uses nothing else, so the
// model's ddp has the same interface.
#pragma once

#include "VDdp.h"
#include "VDdpMin.h"
#include "VDdpMin_rnic_stall_pkg.h"
#include "ddp/ddp_model.hpp"
#include "gen/sizes.hpp"
#include "gen/streams.hpp"
#include "support/packet_port.hpp"
#include "support/rtl_dut.hpp"

namespace rnic::tb {

template <class V, bool Minimum>
struct RtlDdp : RtlDut<V> {
  static spec::Sizes sizes() { return Minimum ? spec::Sizes::minimum() : spec::Sizes{}; }

  /// Resets, and waits until the tables are cleared.
  void start(Pace p) {
    this->restart(p);
    EXPECT_TRUE(this->run_until([&] { return this->top().ready_o != 0; }));
  }

  // qp
  StreamIn<spec::QpCtlDdp> qp_ctl = RNIC_IN(*this, qp_ctl_ddp, spec::QpCtlDdp);
  StreamOut<spec::QpAckDdp> qp_ack = RNIC_OUT(*this, qp_ack_ddp, spec::QpAckDdp);
  StreamOut<spec::RqTakeReq> rq_take_req = RNIC_OUT(*this, rq_take_req, spec::RqTakeReq);
  StreamIn<spec::RqTakeRsp> rq_take_rsp = RNIC_IN(*this, rq_take_rsp, spec::RqTakeRsp);
  StreamOut<spec::RxDone> rx_done = RNIC_OUT(*this, rx_done, spec::RxDone);
  StreamOut<spec::SqSlotFree> sq_slot_free = RNIC_OUT(*this, sq_slot_free, spec::SqSlotFree);
  // mpa
  StreamIn<spec::RxUlpduHdr> rx_ulpdu_hdr = RNIC_IN(*this, rx_ulpdu_hdr, spec::RxUlpduHdr);
  PacketIn rx_ulpdu = RNIC_PACKET_IN(*this, rx_ulpdu);
  StreamOut<spec::TxUlpduHdr> tx_ulpdu_hdr = RNIC_OUT(*this, tx_ulpdu_hdr, spec::TxUlpduHdr);
  PacketOut tx_ulpdu = RNIC_PACKET_OUT(*this, tx_ulpdu);
  // tpt
  StreamOut<spec::RxXlate> rx_xlate = RNIC_OUT(*this, rx_xlate, spec::RxXlate);
  StreamIn<spec::RxXlateRsp> rx_xlate_rsp = RNIC_IN(*this, rx_xlate_rsp, spec::RxXlateRsp);
  StreamIn<spec::RxExtent> rx_extent = RNIC_IN(*this, rx_extent, spec::RxExtent);
  StreamOut<spec::RxDropped> rx_dropped = RNIC_OUT(*this, rx_dropped, spec::RxDropped);
  StreamOut<spec::Invalidate> invalidate = RNIC_OUT(*this, invalidate, spec::Invalidate);
  StreamIn<spec::Invalidated> invalidated = RNIC_IN(*this, invalidated, spec::Invalidated);
  StreamOut<spec::TxXlate> tx_xlate = RNIC_OUT(*this, tx_xlate, spec::TxXlate);
  // rdmap
  StreamOut<spec::RxSegment> rx_segment = RNIC_OUT(*this, rx_segment, spec::RxSegment);
  StreamIn<spec::RxVerdict> rx_verdict = RNIC_IN(*this, rx_verdict, spec::RxVerdict);
  StreamIn<spec::TxMessageHdr> tx_message_hdr = RNIC_IN(*this, tx_message_hdr, spec::TxMessageHdr);
  PacketIn tx_message = RNIC_PACKET_IN(*this, tx_message);
  StreamOut<spec::RespSlotFree> resp_slot_free =
      RNIC_OUT(*this, resp_slot_free, spec::RespSlotFree);
  StreamOut<spec::TxFault> tx_fault = RNIC_OUT(*this, tx_fault, spec::TxFault);
  StreamOut<spec::RespFetched> resp_fetched = RNIC_OUT(*this, resp_fetched, spec::RespFetched);
  // host_if
  StreamOut<spec::PlaceHdr> place_hdr = RNIC_OUT(*this, place_hdr, spec::PlaceHdr);
  StreamOut<spec::PlaceExtent> place_extent = RNIC_OUT(*this, place_extent, spec::PlaceExtent);
  PacketOut place = RNIC_PACKET_OUT(*this, place);
  StreamIn<spec::PlaceDone> place_done = RNIC_IN(*this, place_done, spec::PlaceDone);
  StreamOut<spec::PayloadReq> payload_req = RNIC_OUT(*this, payload_req, spec::PayloadReq);
  StreamIn<spec::PayloadHdr> payload_hdr = RNIC_IN(*this, payload_hdr, spec::PayloadHdr);
  PacketIn payload = RNIC_PACKET_IN(*this, payload);
  // llp_if
  StreamOut<spec::TxWant> tx_want = RNIC_OUT(*this, tx_want, spec::TxWant);
  StreamIn<spec::TxGrant> tx_grant = RNIC_IN(*this, tx_grant, spec::TxGrant);

  std::optional<typename RtlDut<V>::Handled> handled() override {
    return {{.busy = rx_segment.taken() || place.beat_taken() || tx_ulpdu.beat_taken(),
             .items = uint64_t{rx_segment.taken()} + tx_ulpdu_hdr.taken()}};
  }
};

using Duts =
    ::testing::Types<RtlDdp<VDdp, false>, RtlDdp<VDdpMin, true>, ModelDdp<false>, ModelDdp<true>>;
using RtlDuts = ::testing::Types<RtlDdp<VDdp, false>, RtlDdp<VDdpMin, true>>;

}  // namespace rnic::tb

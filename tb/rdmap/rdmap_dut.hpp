// rdmap as a device under test: its streams by name, and its sizes. The function `check` of the
// bench answers the checks of Read sources (resp_check), so that the model, which calls tpt, has
// the same interface.
//
//   dut.start(pace);
//   dut.check = [](const spec::RespCheck& c) { return spec::TptResult::kBounds; };
//   ... dut.checks
#pragma once

#include <functional>
#include <vector>

#include "VRdmap.h"
#include "VRdmapMin.h"
#include "VRdmapMin_rnic_stall_pkg.h"
#include "gen/sizes.hpp"
#include "gen/streams.hpp"
#include "rdmap/rdmap_model.hpp"
#include "support/packet_port.hpp"
#include "support/rtl_dut.hpp"

namespace rnic::tb {

template <class V, bool Minimum>
struct RtlRdmap : RtlDut<V> {
  static spec::Sizes sizes() { return Minimum ? spec::Sizes::minimum() : spec::Sizes{}; }
  static constexpr bool kMinimum = Minimum;

  // qp
  StreamIn<spec::QpCtlRdmap> qp_ctl = RNIC_IN(*this, qp_ctl_rdmap, spec::QpCtlRdmap);
  StreamOut<spec::QpAckRdmap> qp_ack = RNIC_OUT(*this, qp_ack_rdmap, spec::QpAckRdmap);
  StreamIn<spec::WqeHdr> wqe_hdr = RNIC_IN(*this, wqe_hdr, spec::WqeHdr);
  PacketIn wqe = RNIC_PACKET_IN(*this, wqe);
  StreamIn<spec::QpFault> qp_fault = RNIC_IN(*this, qp_fault, spec::QpFault);
  StreamOut<spec::QpError> qp_error = RNIC_OUT(*this, qp_error, spec::QpError);
  // ddp
  StreamOut<spec::TxMessageHdr> tx_message_hdr =
      RNIC_OUT(*this, tx_message_hdr, spec::TxMessageHdr);
  PacketOut tx_message = RNIC_PACKET_OUT(*this, tx_message);
  StreamIn<spec::RespSlotFree> resp_slot_free = RNIC_IN(*this, resp_slot_free, spec::RespSlotFree);
  StreamIn<spec::TxFault> tx_fault = RNIC_IN(*this, tx_fault, spec::TxFault);
  StreamIn<spec::RxSegment> rx_segment = RNIC_IN(*this, rx_segment, spec::RxSegment);
  StreamOut<spec::RxVerdict> rx_verdict = RNIC_OUT(*this, rx_verdict, spec::RxVerdict);

  StreamIn<spec::RespFetched> resp_fetched = RNIC_IN(*this, resp_fetched, spec::RespFetched);
  // atomic, and reports to qp
  StreamOut<spec::AtomicReq> atomic_req = RNIC_OUT(*this, atomic_req, spec::AtomicReq);
  StreamOut<spec::AtomicDead> atomic_dead = RNIC_OUT(*this, atomic_dead, spec::AtomicDead);
  StreamIn<spec::AtomicRsp> atomic_rsp = RNIC_IN(*this, atomic_rsp, spec::AtomicRsp);
  StreamOut<spec::ResDone> res_done = RNIC_OUT(*this, res_done, spec::ResDone);
  StreamOut<spec::SqLocal> sq_local = RNIC_OUT(*this, sq_local, spec::SqLocal);
  StreamIn<spec::SqLocalDone> sq_local_done = RNIC_IN(*this, sq_local_done, spec::SqLocalDone);

  // tpt
  std::function<spec::TptResult(const spec::RespCheck&)> check;  // empty: every source is good
  std::vector<spec::RespCheck> checks;                           // the checks requested so far
  bool hold_checks = false;  // no response until answer_checks()

  RtlRdmap() {
    resp_check_.on_item([this](const spec::RespCheck& c) {
      checks.push_back(c);
      waiting_++;
      if (!hold_checks) answer_checks();
    });
  }
  /// Responds to all checks that have no response.
  void answer_checks() {
    for (; waiting_ != 0; waiting_--) {
      const auto& c = checks[checks.size() - waiting_];
      resp_check_rsp_.put({.result = check ? check(c) : spec::TptResult::kOk});
    }
  }

  /// Resets, and waits until the tables are cleared.
  void start(Pace p) {
    this->restart(p);
    checks.clear();
    check = nullptr;
    waiting_ = 0;
    hold_checks = false;
    EXPECT_TRUE(this->run_until([&] { return this->top().ready_o != 0; }));
  }

 private:
  StreamOut<spec::RespCheck> resp_check_ = RNIC_OUT(*this, resp_check, spec::RespCheck);
  StreamIn<spec::RespCheckRsp> resp_check_rsp_ = RNIC_IN(*this, resp_check_rsp, spec::RespCheckRsp);
  size_t waiting_ = 0;
};

using Duts = ::testing::Types<RtlRdmap<VRdmap, false>, RtlRdmap<VRdmapMin, true>, ModelRdmap<false>,
                              ModelRdmap<true>>;
using RtlDuts = ::testing::Types<RtlRdmap<VRdmap, false>, RtlRdmap<VRdmapMin, true>>;

}  // namespace rnic::tb

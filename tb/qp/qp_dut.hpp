// qp as a device under test: its streams by name, the same for RTL and model.
#pragma once

#include "gen/errors.hpp"
#include "gen/queues.hpp"
#include "gen/sizes.hpp"
#include "gen/streams.hpp"
#include "support/packet_port.hpp"
#include "support/rtl_dut.hpp"

namespace rnic::tb {

template <class V, bool kMinimumBuild>
struct QpDut : RtlDut<V> {
  static constexpr bool kIsRtl = true;
  static constexpr bool kMinimum = kMinimumBuild;

  StreamIn<spec::QpDoorbell> qp_doorbell = RNIC_IN(*this, qp_doorbell, spec::QpDoorbell);
  StreamOut<spec::RdReq> sq_rd_req = RNIC_OUT(*this, sq_rd_req, spec::RdReq);
  StreamIn<spec::RdHdr> sq_rd_hdr = RNIC_IN(*this, sq_rd_hdr, spec::RdHdr);
  PacketIn sq_rd = RNIC_PACKET_IN(*this, sq_rd);
  StreamOut<spec::RdReq> rq_rd_req = RNIC_OUT(*this, rq_rd_req, spec::RdReq);
  StreamIn<spec::RdHdr> rq_rd_hdr = RNIC_IN(*this, rq_rd_hdr, spec::RdHdr);
  PacketIn rq_rd = RNIC_PACKET_IN(*this, rq_rd);
  StreamIn<spec::Cmd> qp_cmd = RNIC_IN(*this, qp_cmd, spec::Cmd);
  StreamOut<spec::CmdRsp> qp_cmd_rsp = RNIC_OUT(*this, qp_cmd_rsp, spec::CmdRsp);
  StreamOut<spec::WqeCheck> wqe_check = RNIC_OUT(*this, wqe_check, spec::WqeCheck);
  StreamIn<spec::WqeCheckRsp> wqe_check_rsp = RNIC_IN(*this, wqe_check_rsp, spec::WqeCheckRsp);
  StreamOut<spec::WqeHdr> wqe_hdr = RNIC_OUT(*this, wqe_hdr, spec::WqeHdr);
  PacketOut wqe = RNIC_PACKET_OUT(*this, wqe);
  StreamOut<spec::QpFault> qp_fault = RNIC_OUT(*this, qp_fault, spec::QpFault);
  StreamIn<spec::QpError> qp_error = RNIC_IN(*this, qp_error, spec::QpError);
  StreamIn<spec::SqSlotFree> sq_slot_free = RNIC_IN(*this, sq_slot_free, spec::SqSlotFree);
  StreamIn<spec::RqTakeReq> rq_take_req = RNIC_IN(*this, rq_take_req, spec::RqTakeReq);
  StreamOut<spec::RqTakeRsp> rq_take_rsp = RNIC_OUT(*this, rq_take_rsp, spec::RqTakeRsp);
  StreamIn<spec::RxDone> rx_done = RNIC_IN(*this, rx_done, spec::RxDone);
  StreamIn<spec::ResDone> res_done = RNIC_IN(*this, res_done, spec::ResDone);
  StreamIn<spec::WrDone> wr_done = RNIC_IN(*this, wr_done, spec::WrDone);
  StreamIn<spec::LlpEvent> llp_event = RNIC_IN(*this, llp_event, spec::LlpEvent);
  StreamOut<spec::CqeReq> cqe_req = RNIC_OUT(*this, cqe_req, spec::CqeReq);
  StreamOut<spec::QpAsync> qp_async = RNIC_OUT(*this, qp_async, spec::QpAsync);
  StreamOut<spec::QpPurge> qp_purge = RNIC_OUT(*this, qp_purge, spec::QpPurge);
  StreamIn<spec::CqFault> cq_fault = RNIC_IN(*this, cq_fault, spec::CqFault);
  StreamOut<spec::QpCtlLlp> qp_ctl_llp = RNIC_OUT(*this, qp_ctl_llp, spec::QpCtlLlp);
  StreamOut<spec::QpCtlLlp> qp_ctl_mpa = RNIC_OUT(*this, qp_ctl_mpa, spec::QpCtlLlp);
  StreamOut<spec::QpCtlLlp> qp_ctl_ddp = RNIC_OUT(*this, qp_ctl_ddp, spec::QpCtlLlp);
  StreamOut<spec::QpCtlLlp> qp_ctl_rdmap = RNIC_OUT(*this, qp_ctl_rdmap, spec::QpCtlLlp);
  StreamIn<spec::QpAckLlp> qp_ack_llp = RNIC_IN(*this, qp_ack_llp, spec::QpAckLlp);
  StreamIn<spec::QpAckLlp> qp_ack_mpa = RNIC_IN(*this, qp_ack_mpa, spec::QpAckLlp);
  StreamIn<spec::QpAckLlp> qp_ack_ddp = RNIC_IN(*this, qp_ack_ddp, spec::QpAckLlp);
  StreamIn<spec::QpAckLlp> qp_ack_rdmap = RNIC_IN(*this, qp_ack_rdmap, spec::QpAckLlp);

  uint64_t bad_doorbells = 0;  // cycles with bad_doorbell_o: doorbells that qp has refused
  uint64_t ticks = 0;          // calls of advance()

  std::optional<typename RtlDut<V>::Handled> handled() override {
    return {{.busy = wqe_hdr.taken() || wqe.beat_taken() || cqe_req.taken() ||
                     rq_take_rsp.taken() || sq_rd.beat_taken() || rq_rd.beat_taken() ||
                     qp_doorbell.taken(),
             .items = wqe_hdr.taken()}};
  }
  bool advance() override {
    bad_doorbells += this->top().bad_doorbell_o;
    ticks++;
    return RtlDut<V>::advance();
  }
  void restart(Pace pace) override {
    RtlDut<V>::restart(pace);
    bad_doorbells = 0;
    this->run_until([&] { return this->top().ready_o != 0; }, 5000);
  }
};

}  // namespace rnic::tb

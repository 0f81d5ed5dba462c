// cq as a device under test: its streams by name, the same for RTL and model.
//
//   CqDut<VCq, false> dut;  dut.restart(pace);  dut.cqe_req.put({...});  dut.bad_doorbells
#pragma once

#include "gen/errors.hpp"
#include "gen/queues.hpp"
#include "gen/sizes.hpp"
#include "gen/streams.hpp"
#include "support/rtl_dut.hpp"
#include "support/stream_port.hpp"
#include "support/tap_port.hpp"

namespace rnic::tb {

/// Drives a pulse input of cq: one pulse for each item that was put to `stream`, at most one per
/// cycle, however late the stream offers the items. In the device host_if drives bell_given_i when
/// it accepts a CQ doorbell, and qp drives cqe_given_i when it makes a completion. Stages between
/// the units may delay the items themselves. cq counts the pulses: they show how many doorbells
/// precede a completion, and how many completions precede a command.
template <class Stream>
class GivenPulse final : public Port {
 public:
  GivenPulse(Dut& dut, uint8_t& pin, const Stream& stream) : pin_(pin), stream_(stream) {
    pin_ = 0;
    dut.attach(this);
  }
  void drive() override {
    pin_ = given_ != stream_.moved() + stream_.size();
    given_ += pin_;
  }
  void clear() override {
    given_ = stream_.moved() + stream_.size();
    pin_ = 0;
  }

 private:
  uint8_t& pin_;
  const Stream& stream_;
  uint64_t given_ = 0;
};

template <class V, bool kMinimumBuild>
struct CqDut : RtlDut<V> {
  static constexpr bool kIsRtl = true;
  static constexpr bool kMinimum = kMinimumBuild;

  StreamIn<spec::CqDoorbell> cq_doorbell = RNIC_IN(*this, cq_doorbell, spec::CqDoorbell);
  StreamIn<spec::EqDoorbell> eq_doorbell = RNIC_IN(*this, eq_doorbell, spec::EqDoorbell);
  StreamOut<spec::CqWr> cq_wr = RNIC_OUT(*this, cq_wr, spec::CqWr);
  StreamIn<spec::CqCmd> cq_cmd = RNIC_IN(*this, cq_cmd, spec::CqCmd);
  StreamOut<spec::CqCmdRsp> cq_cmd_rsp = RNIC_OUT(*this, cq_cmd_rsp, spec::CqCmdRsp);
  StreamIn<spec::CqeReq> cqe_req = RNIC_IN(*this, cqe_req, spec::CqeReq);
  StreamIn<spec::QpAsync> qp_async = RNIC_IN(*this, qp_async, spec::QpAsync);
  StreamOut<spec::CqFault> cq_fault = RNIC_OUT(*this, cq_fault, spec::CqFault);
  StreamIn<spec::ConnAsync> conn_async = RNIC_IN(*this, conn_async, spec::ConnAsync);

  GivenPulse<StreamIn<spec::CqDoorbell>> bell_given{*this, this->top().bell_given_i, cq_doorbell};
  GivenPulse<StreamIn<spec::CqeReq>> cqe_given{*this, this->top().cqe_given_i, cqe_req};

  TapPort<spec::CqOpCommit> cq_op{
      *this, [this] { return &this->top().rootp->cq__DOT__u_write__DOT__tap_cq_op; }};
  TapPort<spec::CqEventCommit> cq_event{
      *this, [this] { return &this->top().rootp->cq__DOT__u_event__DOT__tap_cq_event; }};

  uint64_t bad_doorbells = 0;  // pulses of bad_doorbell_o

  std::optional<typename RtlDut<V>::Handled> handled() override {
    const bool is_cqe = cq_wr.taken() && cq_wr.items().back().length == spec::Cqe::kBytes;
    return {{.busy = cq_wr.taken(), .items = is_cqe}};
  }
  bool advance() override {
    this->top().eval();
    bad_doorbells += this->top().bad_doorbell_o;
    return RtlDut<V>::advance();
  }
  void restart(Pace pace) override {
    RtlDut<V>::restart(pace);
    const bool ready = this->run_until([&] { return this->top().ready_o != 0; });
    EXPECT_TRUE(ready) << "tables are never clear";
    bad_doorbells = 0;
  }
};

}  // namespace rnic::tb

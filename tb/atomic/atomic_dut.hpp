// atomic as a device under test: its streams by name, and its commit tap.
#pragma once

#include "gen/commits.hpp"
#include "gen/streams.hpp"
#include "support/packet_port.hpp"
#include "support/rtl_dut.hpp"
#include "support/tap_port.hpp"

namespace rnic::tb {

template <class V, unsigned Qps>
struct AtomicDut : RtlDut<V> {
  static constexpr unsigned kNumQps = Qps;  // QPNs 0 to kNumQps - 1

  // rdmap
  StreamIn<spec::AtomicReq> req = RNIC_IN(*this, atomic_req, spec::AtomicReq);
  StreamIn<spec::AtomicDead> dead = RNIC_IN(*this, atomic_dead, spec::AtomicDead);
  StreamOut<spec::AtomicRsp> rsp = RNIC_OUT(*this, atomic_rsp, spec::AtomicRsp);
  // tpt
  StreamOut<spec::Qn1Xlate> xlate = RNIC_OUT(*this, qn1_xlate, spec::Qn1Xlate);
  StreamIn<spec::Qn1Extent> extent = RNIC_IN(*this, qn1_extent, spec::Qn1Extent);
  StreamOut<spec::Qn1Retired> retired = RNIC_OUT(*this, qn1_retired, spec::Qn1Retired);
  // host_if
  StreamOut<spec::Qn1RdReq> rd_req = RNIC_OUT(*this, qn1_rd_req, spec::Qn1RdReq);
  StreamIn<spec::Qn1RdHdr> rd_hdr = RNIC_IN(*this, qn1_rd_hdr, spec::Qn1RdHdr);
  PacketIn rd = RNIC_PACKET_IN(*this, qn1_rd);
  StreamOut<spec::WordWr> word_wr = RNIC_OUT(*this, word_wr, spec::WordWr);
  StreamIn<spec::WordDone> word_done = RNIC_IN(*this, word_done, spec::WordDone);

  TapPort<spec::AtomicWordCommit> word{
      *this, [this] { return &this->top().rootp->atomic__DOT__tap_atomic_word; }};

  void restart(Pace p) override {
    RtlDut<V>::restart(p);
    // tpt always accepts qn1_retired. `dead` and `word_done` are valid in the cycle of put(), so
    // that the bench knows that cycle.
    retired.stall(0);
    dead.idle(0);
    word_done.idle(0);
    EXPECT_TRUE(this->run_until([&] { return this->top().ready_o != 0; }, 200)) << "never ready";
  }
  std::optional<typename RtlDut<V>::Handled> handled() override {
    const bool busy = req.taken() || rsp.taken() || xlate.taken() || rd_req.taken() ||
                      rd.beat_taken() || word_wr.taken();
    return typename RtlDut<V>::Handled{busy, rsp.taken() ? 1U : 0U};
  }
};

}  // namespace rnic::tb

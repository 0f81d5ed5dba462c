// Printed by specgen from docs/spec; do not edit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "gen/commits.hpp"

namespace rnic::sim {

/// One tap as Verilator shows it, an integer or words: to the sink if it is valid.
template <class Commit, class Tap, class Sink>
void sample_tap(const Tap& tap, Sink& sink) {
  if constexpr (std::is_integral_v<Tap>) {
    static_assert(8 * sizeof(Tap) >= Commit::kBits);
    const uint64_t v = tap;
    if ((v >> Commit::kValidBit & 1) == 0) return;
    const uint32_t w[2] = {static_cast<uint32_t>(v), static_cast<uint32_t>(v >> 32)};
    sink(Commit::from_words(w));
  } else {
    static_assert(sizeof(Tap) == sizeof(typename Commit::Words));
    constexpr size_t kBit = Commit::kValidBit;
    if ((tap.data()[kBit / 32] >> (kBit % 32) & 1) != 0) sink(Commit::from_words(tap.data()));
  }
}

/// Every commit of this cycle, in the order of docs/spec/commits.yaml. Root: of a Verilated rnic.
template <class Root, class Sink>
void sample_commits(const Root& root, Sink&& sink) {
  sample_tap<spec::DmaRdReqCommit>(root.rnic__DOT__u_host_if__DOT__tap_dma_rd_req, sink);
  sample_tap<spec::DmaRdTimeoutCommit>(root.rnic__DOT__u_host_if__DOT__u_rd__DOT__u_reorder__DOT__u_tags__DOT__tap_dma_rd_timeout, sink);
  sample_tap<spec::DmaWrCommit>(root.rnic__DOT__u_host_if__DOT__tap_dma_wr, sink);
  sample_tap<spec::PushLateCommit>(root.rnic__DOT__u_host_if__DOT__u_doorbell__DOT__tap_push_late, sink);
  sample_tap<spec::PushPurgeCommit>(root.rnic__DOT__u_host_if__DOT__u_doorbell__DOT__tap_push_purge, sink);
  sample_tap<spec::CqOpCommit>(root.rnic__DOT__u_cq__DOT__u_write__DOT__tap_cq_op, sink);
  sample_tap<spec::CqEventCommit>(root.rnic__DOT__u_cq__DOT__u_event__DOT__tap_cq_event, sink);
  sample_tap<spec::LlpRuleCommit>(root.rnic__DOT__u_llp_if__DOT__u_ctl__DOT__tap_llp_rule, sink);
  sample_tap<spec::LlpRxCommit>(root.rnic__DOT__u_llp_if__DOT__u_rx__DOT__tap_llp_rx, sink);
  sample_tap<spec::LlpGrantCommit>(root.rnic__DOT__u_llp_if__DOT__u_grant__DOT__tap_llp_grant, sink);
  sample_tap<spec::DdpRxCommit>(root.rnic__DOT__u_ddp__DOT__u_rx__DOT__tap_ddp_rx, sink);
  sample_tap<spec::DdpCtlCommit>(root.rnic__DOT__u_ddp__DOT__u_qp__DOT__tap_ddp_ctl, sink);
  sample_tap<spec::DdpAckCommit>(root.rnic__DOT__u_ddp__DOT__u_qp__DOT__tap_ddp_ack, sink);
  sample_tap<spec::DdpSegmentCommit>(root.rnic__DOT__u_ddp__DOT__u_tx__DOT__u_sched__DOT__tap_ddp_segment, sink);
  sample_tap<spec::DdpDropCommit>(root.rnic__DOT__u_ddp__DOT__u_tx__DOT__u_sched__DOT__tap_ddp_drop, sink);
  sample_tap<spec::DdpUlpduCommit>(root.rnic__DOT__u_ddp__DOT__tap_ddp_ulpdu, sink);
  sample_tap<spec::RdmapResponseCommit>(root.rnic__DOT__u_rdmap__DOT__u_resp__DOT__tap_rdmap_response, sink);
  sample_tap<spec::RdmapAtomicCommit>(root.rnic__DOT__u_rdmap__DOT__u_resp__DOT__u_atomic__DOT__tap_rdmap_atomic, sink);
  sample_tap<spec::RdmapOpCommit>(root.rnic__DOT__u_rdmap__DOT__u_core__DOT__tap_rdmap_op, sink);
  sample_tap<spec::AtomicWordCommit>(root.rnic__DOT__u_atomic__DOT__tap_atomic_word, sink);
  sample_tap<spec::TptCheckCommit>(root.rnic__DOT__u_tpt__DOT__u_entry__DOT__tap_tpt_check, sink);
  sample_tap<spec::TptChangeCommit>(root.rnic__DOT__u_tpt__DOT__u_update__DOT__tap_tpt_change, sink);
  sample_tap<spec::QpRetireCommit>(root.rnic__DOT__u_qp__DOT__u_retire__DOT__tap_qp_retire, sink);
  sample_tap<spec::QpRqTakeCommit>(root.rnic__DOT__u_qp__DOT__u_rq_fetch__DOT__tap_qp_rq_take, sink);
  sample_tap<spec::QpIssueCommit>(root.rnic__DOT__u_qp__DOT__u_emit__DOT__tap_qp_issue, sink);
  sample_tap<spec::SqFetchCommit>(root.rnic__DOT__u_qp__DOT__tap_sq_fetch, sink);
  sample_tap<spec::RqFetchCommit>(root.rnic__DOT__u_qp__DOT__tap_rq_fetch, sink);
  sample_tap<spec::QpPushCommit>(root.rnic__DOT__u_qp__DOT__u_sq_fetch__DOT__tap_qp_push, sink);
  sample_tap<spec::QpDoorbellCommit>(root.rnic__DOT__u_qp__DOT__u_doorbell__DOT__tap_qp_doorbell, sink);
  sample_tap<spec::QpStateCommit>(root.rnic__DOT__u_qp__DOT__u_state__DOT__tap_qp_state, sink);
  sample_tap<spec::QpAnswerCommit>(root.rnic__DOT__u_qp__DOT__u_state__DOT__tap_qp_answer, sink);
}

}  // namespace rnic::sim

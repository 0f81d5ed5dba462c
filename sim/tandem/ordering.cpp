// Passes each observation to the checker whose rules depend on it. See ordering.hpp.
#include "tandem/ordering.hpp"

#include <variant>

namespace rnic::sim {

void Ordering::commit(const spec::AnyCommit& c) {
  struct Visitor {
    Ordering& o;
    void operator()(const spec::DmaWrCommit&) { o.port_.beat_written(); }
    void operator()(const spec::QpDoorbellCommit& x) { o.rings_.doorbell(x); }
    void operator()(const spec::QpPushCommit& x) { o.rings_.pushed(x); }
    void operator()(const spec::LlpRxCommit& x) { o.payload_.way(x); }
    void operator()(const spec::DdpCtlCommit& x) { o.payload_.control(x); }
    void operator()(const spec::RdmapOpCommit& x) { o.payload_.operation(x); }
    void operator()(const spec::QpRetireCommit& x) { o.payload_.retire(x); }
    void operator()(const spec::QpStateCommit& x) { o.payload_.event(x); }
    void operator()(const spec::DdpSegmentCommit& x) { o.payload_.segment(x); }
    void operator()(const spec::DdpUlpduCommit& x) { o.payload_.ulpdu(x); }
    void operator()(const spec::TptCheckCommit& x) { o.payload_.look_up(x); }
    void operator()(const spec::AtomicWordCommit& x) { o.payload_.word(x); }
    void operator()(const spec::TptChangeCommit& x) { o.payload_.change(x); }
    // No rule depends on these.
    void operator()(const spec::DdpRxCommit&) {}
    void operator()(const spec::DdpAckCommit&) {}
    void operator()(const spec::DmaRdReqCommit&) {}
    void operator()(const spec::DmaRdTimeoutCommit&) {}
    void operator()(const spec::PushLateCommit&) {}
    void operator()(const spec::PushPurgeCommit&) {}
    void operator()(const spec::CqOpCommit&) {}
    void operator()(const spec::CqEventCommit&) {}
    void operator()(const spec::LlpRuleCommit&) {}
    void operator()(const spec::LlpGrantCommit&) {}
    void operator()(const spec::DdpDropCommit&) {}
    void operator()(const spec::RdmapResponseCommit&) {}
    void operator()(const spec::RdmapAtomicCommit&) {}
    void operator()(const spec::QpRqTakeCommit&) {}
    void operator()(const spec::QpIssueCommit&) {}
    void operator()(const spec::SqFetchCommit&) {}
    void operator()(const spec::RqFetchCommit&) {}
    void operator()(const spec::QpAnswerCommit&) {}
  };
  std::visit(Visitor{*this}, c);
}

void Ordering::dma_write(const DmaWrite& w) {
  port_.written(w);
  if (w.client == Client::kPlace) return payload_.placed(w);
  if (w.client == Client::kWord) return;
  if (const auto cqe = rings_.written(w)) payload_.completion(*cqe);
}

void Ordering::dma_read(const DmaRead& r) {
  port_.read(r);
  if (r.client == Client::kPayload) {
    payload_.read(r);
  } else if (r.client != Client::kQn1 && r.client != Client::kReg) {
    rings_.read(r);
  }
}

void Ordering::mmio(const Mmio& m) {
  if (m.is_write)
    rings_.mmio_write(m);
  else
    port_.mmio_read();
}

void Ordering::dma_piece(const DmaPiece& p) {
  port_.piece(p);
  rings_.piece(p);
}

void Ordering::pcie(const spec::PcieCfg& cfg) {
  port_.pcie(cfg);
  payload_.pcie(cfg);
}

void Ordering::reset() {
  port_.reset();
  rings_.reset();
  payload_.reset();
}

}  // namespace rnic::sim

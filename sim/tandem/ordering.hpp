// The ordering checker: an independent judge of PCIe order, from what the Observer tells and nothing else: no follower, no
// model. Feeding the follower what the RTL read hides that it read or wrote too early; here it shows. Architecture 3.2, 10.
//
//   Ordering o;   RtlOptions{.observer = &o};   if (!o.failure().empty()) ...   o.describe()
//
// What it judges, and what it knows it from:
//
// a1 Placed bytes were judged before. Each write of client place continues, byte for byte and in order, the payload of a
//    received segment (llp_rx record, its QP by llp_rx's commit, the wire read as RFC 5044, 5041, 5040 say) whose verdict
//    (rdmap_op 4) has been given. A segment that is passed over has failed a check that only a table knows: then nothing
//    more of its QP is placed. Where bytes could be those of several segments, one way to explain all of them is enough
//    (ordering_placed.hpp).
// a2 Completions come after their data. qp_retire 1 (a Read) and 2 (a receive, if its CQE says success) of QP q: all
//    payload of q judged up to and with the message's last segment has been accepted on dma_wr.
// a3 Events come after completions, interrupts after events. A completion EQE of a CQ: it was armed (doorbell cq_arm), each
//    arming counts once, and a CQE behind the consumer index of that arming has been written. MSI-X messages of a vector
//    never outnumber the EQEs written to its EQs. cq and msix write nothing but that. No completion of a QP comes
//    behind the answer to its destroy_qp, and nothing into a ring behind the answer to its destroy_cq or destroy_eq.
// b  SQ and RQ are not read behind the doorbell. A read of client sq or rq lies in the ring of a QP (create_qp among the
//    commands that admin read, answered ok), is whole units, and does not pass the index of the last doorbell that took
//    effect (qp_doorbell), which the host must have rung (mmio). Units are read forward; qp_push stands for a read.
// c  Payload is read as it was looked up (tpt_check tx, in order): a read that no look-up explains is a violation, unless a QP
//    fails, whose look-ups may have failed. A responder reads late enough. The payload reads of a Read Response (tpt_check tx gives their order and lengths,
//    ddp_segment and the Read Request which of them are a response) come after all payload of their stream that was judged
//    before the Read Request.
// d  An MMIO answer does not pass writes: a TLP of dma_wr that was on offer or under way when the read reached the device
//    has been accepted whole before the answer. No answer without a read.
// e  Requests keep the rules of the bus: 1 byte and more, not across 4 KiB, at most MPS or MRRS (the larger of old and new
//    for kSettleCycles after a change), relaxed order for payload alone, no tag twice; no answer to a tag that is free.
//
// Not judged ("unsure" counts them): a2 where equal bytes could belong to this or to a failed segment of another QP; c from
// a tx_fault or bus mastering off until payload reads have been quiet, since reads and look-ups no longer pair up; c of two
// look-ups that could both be the response's.
#pragma once

#include <string>

#include "backend/observer.hpp"
#include "tandem/ordering_findings.hpp"
#include "tandem/ordering_payload.hpp"
#include "tandem/ordering_port.hpp"
#include "tandem/ordering_rings.hpp"

namespace rnic::sim {

class Ordering final : public Observer {
 public:
  const std::string& failure() const { return findings_.failure(); }
  std::string describe() const { return findings_.describe(); }
  /// What a quiet end makes certain; empty if nothing is wrong.
  std::string end() const { return payload_.end(); }
  const Findings& findings() const { return findings_; }

  void cycle(uint64_t n) override { findings_.at(n); }
  void commit(const spec::AnyCommit& c) override;
  void dma_write(const DmaWrite& w) override;
  void llp_ctl(const spec::LlpCtlReq& r) override { payload_.control(r); }
  void mmio_response(uint64_t) override { port_.response(); }
  void dma_read(const DmaRead& r) override;
  void mmio(const Mmio& m) override;
  void dma_piece(const DmaPiece& p) override;
  void llp_rx(const Record& r) override { payload_.record(r); }
  void dma_write_waits() override { port_.write_waits(); }
  void cycle_done() override { port_.cycle_done(); }
  void pcie(const spec::PcieCfg& cfg) override;
  void reset() override;

 private:
  Findings findings_;
  PortOrder port_{findings_};
  RingOrder rings_{findings_};
  PayloadOrder payload_{findings_};
};

}  // namespace rnic::sim

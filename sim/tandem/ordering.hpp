// The ordering checker: an independent check of PCIe order. It uses only what the Observer reports:
// no follower, no model. The follower uses the data that the RTL read, so it does not notice a read
// or write that came too early. This checker does. Architecture 3.2, 10.
//
//   Ordering o;   RtlOptions{.observer = &o};
//   if (!o.failure().empty()) ...   o.describe()
//
// The rules, with the signals that they are checked on:
//
// a1 Placed bytes were judged before. Each write of client place continues, byte for byte and in
//    order, the payload of a received segment whose verdict (rdmap_op 4) was given. The segment is
//    known from the llp_rx record, its QP from the llp_rx commit. The wire format is read by
//    RFC 5044, 5041, 5040. A segment that is passed over has failed a check that only a table
//    knows; then no more of its QP is placed. If bytes could be those of several segments, one way
//    to explain all of them is enough (ordering_placed.hpp).
// a2 Completions come after their data. At qp_retire 1 (a Read) and 2 (a receive, if its CQE
//    reports success) of QP q, dma_wr has accepted all payload of q that was judged up to and
//    including the last segment of the message.
// a3 Events come after completions, interrupts after events.
//    - A completion EQE of a CQ needs an arming (doorbell cq_arm) and a CQE written past the
//      consumer index of that arming. Each arming counts once.
//    - MSI-X messages of a vector never outnumber the EQEs written to its EQs.
//    - cq and msix write nothing else.
//    - No completion of a QP comes after the response to its destroy_qp. No write into a ring comes
//      after the response to its destroy_cq or destroy_eq.
// b  SQ and RQ are not read past the doorbell. A read of client sq or rq:
//    - lies in the ring of a QP or SRQ (a create_qp or create_srq that admin read, answered ok);
//    - is whole units;
//    - does not pass the index of the last doorbell that took effect (qp_doorbell), which the host
//      must have rung (mmio).
//    Units are read forward; qp_push replaces a read.
// c  Payload is read as it was looked up (tpt_check tx, in order). A read that no lookup explains
//    is a violation, unless a QP fails, whose lookups may have failed. A responder reads late
//    enough: the payload reads of a Read Response come after all payload of their stream that was
//    judged before the Read Request. tpt_check tx gives their order and lengths. ddp_segment and
//    the Read Request identify those of a response.
// d  An MMIO response does not pass writes. A TLP that dma_wr offered or had begun when the read
//    reached the device is accepted whole before the response. No response without a read.
// e  Requests keep the rules of the bus:
//    - 1 byte or more, not across 4 KiB;
//    - at most MPS or MRRS (the larger of old and new for kSettleCycles after a change);
//    - relaxed order only for payload;
//    - no tag twice, and no completion for a free tag.
//
// Not judged (counted as "unsure"):
// - a2, if equal bytes could belong to this or to a failed segment of another QP;
// - c, from a tx_fault or bus master off until payload reads have been quiet, because reads and
//   lookups no longer pair up;
// - c of two lookups that could both be the response's.
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
  /// Violations that only a quiet end makes certain; empty if there are none.
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

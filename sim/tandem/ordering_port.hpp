// Checks rules d and e of ordering.hpp, and the words of atomics.
//
// Rule d: an MMIO response does not pass writes. Every TLP that dma_wr had begun or offered when
//   the read arrived is accepted whole before the response.
// Rule e: a request has 1 byte or more, stays in 4 KiB, is at most MPS or MRRS, and is relaxed only
//   for payload. A read uses a free tag, and no completion has a free tag.
// Words: between the read of an old value and its last completion, no other atomic reads or stores
//   that word. Only qn1 reads and word stores are checked; other clients may access the word.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>

#include "backend/device.hpp"
#include "tandem/ordering_findings.hpp"

namespace rnic::sim {

class PortOrder {
 public:
  /// Cycles after a change of MPS and MRRS in which requests may still have the old sizes.
  static constexpr uint64_t kSettleCycles = 4096;
  explicit PortOrder(Findings& findings) : findings_(findings) {}

  void beat_written();              // a beat of dma_wr was accepted (its commit)
  void written(const DmaWrite& w);  // and completed a TLP
  void write_waits();               // a beat is offered
  void cycle_done();
  void read(const DmaRead& r);
  void piece(const DmaPiece& p);
  void mmio_read();  // an MMIO read has reached the device
  void response();   // the device answers the oldest MMIO read
  void pcie(const spec::PcieCfg& cfg);
  void reset();

 private:
  /// Rule e for one request. what: "read" or "write". limit: bytes of MRRS or MPS.
  void check(const char* what, uint64_t address, uint64_t length, uint32_t limit, bool relaxed,
             bool is_payload);
  /// MPS or MRRS in bytes, from PCIe's code now and before the latest change.
  uint32_t limit(uint8_t now, uint8_t before) const;

  Findings& findings_;
  spec::PcieCfg cfg_, before_;
  uint64_t changed_at_ = 0;
  std::array<bool, 256> open_{};            // by tag: a read is outstanding
  std::map<uint8_t, uint64_t> old_values_;  // by tag: the word that an atomic reads
  uint64_t begun_ = 0, done_ = 0;           // TLPs on dma_wr: begun, accepted whole
  // is_under_way_: a TLP on dma_wr has begun and is not accepted whole. In this cycle: dma_wr has
  // offered a beat that was not accepted; an MMIO read has arrived.
  bool is_under_way_ = false, on_offer_ = false, mmio_read_ = false;
  std::deque<uint64_t> reads_;  // unanswered MMIO reads: value of done_ that each must wait for
};

}  // namespace rnic::sim

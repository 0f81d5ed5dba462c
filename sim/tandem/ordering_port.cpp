// Rules d and e: MMIO responses, limits of requests, words of atomics. See ordering_port.hpp.
#include "tandem/ordering_port.hpp"

#include <algorithm>

namespace rnic::sim {

void PortOrder::beat_written() {
  if (!is_under_way_) ++begun_;
  is_under_way_ = true;
}

void PortOrder::written(const DmaWrite& w) {
  is_under_way_ = false;
  ++done_;
  if (w.client == Client::kWord) {
    findings_.judged("words");
    for (const auto& [tag, address] : old_values_)
      if (address == w.address)
        findings_.differ("a word is stored at {:#x}, which another atomic reads (tag {})", address,
                         tag);
  }
  check("write", w.address, w.data.size(), limit(cfg_.mps, before_.mps), w.relaxed,
        w.client == Client::kPlace);
}

void PortOrder::write_waits() { on_offer_ = true; }

/// A TLP that is offered in the cycle in which an MMIO read arrives must be written before the
/// response.
void PortOrder::cycle_done() {
  if (mmio_read_) reads_.push_back(begun_ + (on_offer_ && !is_under_way_ ? 1 : 0));
  mmio_read_ = on_offer_ = false;
}

void PortOrder::mmio_read() { mmio_read_ = true; }

void PortOrder::response() {
  if (reads_.empty()) return findings_.differ("an MMIO answer, and no read waits for one");
  findings_.judged("MMIO answers");
  if (done_ < reads_.front())
    findings_.differ(
        "an MMIO answer passes dma_wr: {} TLPs were begun or on offer when the read came, {} are "
        "done",
        reads_.front(), done_);
  reads_.pop_front();
}

uint32_t PortOrder::limit(uint8_t now, uint8_t before) const {
  const bool settles = findings_.cycle() < changed_at_ + kSettleCycles;
  return 128U << (settles ? std::max(now, before) : now);  // PCIe's code: 0 is 128 bytes, 1 is 256
}

void PortOrder::check(const char* what, uint64_t address, uint64_t length, uint32_t limit,
                      bool relaxed, bool is_payload) {
  findings_.judged("requests");
  if (length == 0) findings_.differ("{} of no bytes at {:#x}", what, address);
  if (length > limit)
    findings_.differ("{} of {} bytes at {:#x}: the limit is {}", what, length, address, limit);
  if (address % 4096 + length > 4096)
    findings_.differ("{} of {} bytes at {:#x} crosses 4 KiB", what, length, address);
  if (relaxed && !is_payload)
    findings_.differ("{} at {:#x} is relaxed and not payload", what, address);
}

void PortOrder::read(const DmaRead& r) {
  check("read", r.address, r.length, limit(cfg_.mrrs, before_.mrrs), r.relaxed,
        r.client == Client::kPayload);
  if (open_[r.tag])
    findings_.differ("read of {:#x} with tag {}, which waits for its answer", r.address, r.tag);
  open_[r.tag] = true;
  if (r.client != Client::kQn1) return;
  findings_.judged("old values");
  for (const auto& [tag, address] : old_values_)
    if (address == r.address)
      findings_.differ("two atomics read {:#x} at a time (tags {} and {})", r.address, tag, r.tag);
  old_values_[r.tag] = r.address;
}

void PortOrder::piece(const DmaPiece& p) {
  if (!open_[p.tag]) findings_.differ("an answer with tag {}, which no read has", p.tag);
  if (p.is_last || p.status != spec::RdStatus::kOk) open_[p.tag] = false;
  if (!open_[p.tag]) old_values_.erase(p.tag);
}

void PortOrder::pcie(const spec::PcieCfg& cfg) {
  before_ = cfg_;
  cfg_ = cfg;
  changed_at_ = findings_.cycle();
}

void PortOrder::reset() {
  open_ = {};
  old_values_.clear();
  begun_ = done_ = 0;
  is_under_way_ = on_offer_ = mmio_read_ = false;
  reads_.clear();
}

}  // namespace rnic::sim

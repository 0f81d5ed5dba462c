// Writes of four clients into one posted queue. Packets are cut at extents, 4 KiB and MPS. An MSI-X
// message is a write of 4 bytes: next() reads its row of the MSI-X table when it is sent.
#include <algorithm>

#include "base/bytes.hpp"
#include "host_if/host_if.hpp"

namespace rnic::model {

namespace {
constexpr uint32_t kPage = 4096;
}

void HostIf::Wr::put(Place p) {
  Job& j = job_[static_cast<size_t>(Writer::kPlace)];
  j = {.busy = true,
       .purpose = Purpose::kPlace,
       .qpn = p.qpn,
       .extents = std::move(p.extents),
       .data = std::move(p.data)};
}

void HostIf::Wr::put(const spec::CqWr& w) {
  Job& j = job_[static_cast<size_t>(Writer::kCq)];
  if (w.is_msix == 0) {
    j = {.busy = true,
         .purpose = Purpose::kCq,
         .address = w.address,
         .extents = {},
         .data = rnic::Payload::copy_of(std::span(w.data).first(w.length))};
    return;
  }
  j = {.busy = true, .purpose = Purpose::kMsix, .vector = w.vector, .extents = {}, .data = {}};
}

/// A masked vector sends no message. Its pending bit stays set until the message is sent.
void HostIf::Wr::read_row(Job& j) {
  if (j.vector >= h_.msix_.size()) return;
  Vector& v = h_.msix_[j.vector];
  v.pending = masked(j.vector);
  if (v.pending) return;
  j.address = v.address;
  j.data = rnic::Payload::make(4);
  base::store_le<uint32_t>(j.data.writable().data(), v.data);
}

void HostIf::Wr::put(const spec::AdminWr& w) {
  job_[static_cast<size_t>(Writer::kAdmin)] = {
      .busy = true,
      .purpose = Purpose::kAdminWrite,
      .address = w.address,
      .extents = {},
      .data = rnic::Payload::copy_of(std::span(w.data).first(w.length))};
}

void HostIf::Wr::put(const spec::WordWr& w) {
  Job& j = job_[static_cast<size_t>(Writer::kWord)];
  j = {.busy = true,
       .purpose = Purpose::kWord,
       .address = w.address,
       .extents = {},
       .data = rnic::Payload::make(sizeof(uint64_t))};
  base::store_le<uint64_t>(j.data.writable().data(), w.data);
}

std::optional<WriteTlp> HostIf::Wr::next(Writer w) {
  Job& j = job_[static_cast<size_t>(w)];
  if (j.purpose == Purpose::kMsix) read_row(j);
  if (!h_.dma_enabled() || j.data.empty()) {
    j.offset = j.data.size();
    return std::nullopt;
  }
  uint64_t address = j.address + j.offset;
  uint32_t rest = j.data.size() - j.offset;
  if (w == Writer::kPlace) {
    const spec::Extent& e = j.extents.all()[j.extent];
    address = e.address + j.extent_offset;
    rest = e.length - j.extent_offset;
  }
  const uint32_t length =
      std::min({rest, h_.mps(), kPage - static_cast<uint32_t>(address % kPage)});
  WriteTlp out{.purpose = j.purpose,
               .qpn = j.qpn,
               .address = address,
               .data = j.data.slice(j.offset, length)};
  j.offset += length;
  j.extent_offset += length;
  if (w == Writer::kPlace && j.extent_offset == j.extents.all()[j.extent].length) {
    ++j.extent;
    j.extent_offset = 0;
  }
  out.ends = j.offset == j.data.size();
  return out;
}

void HostIf::Wr::accepted(Writer w) {
  Job& j = job_[static_cast<size_t>(w)];
  if (j.offset != j.data.size()) return;  // more TLPs of this packet follow
  j.busy = false;
  if (w == Writer::kPlace) {
    for (const spec::Extent& e : j.extents.all()) h_.out_.retired({e.epoch});
    j.extents = {};
    ++h_.placed_;
    h_.out_.place_done({static_cast<uint16_t>(h_.placed_)});
  }
  if (w == Writer::kWord) h_.out_.word_done();
  j.data = {};
}

bool HostIf::Wr::masked(uint32_t vector) const {
  return h_.pcie_.msix_enable == 0 || h_.pcie_.msix_mask != 0 || h_.msix_[vector].mask;
}

std::optional<spec::CqWr> HostIf::Wr::pending_interrupt() {
  for (uint32_t i = 0; i < h_.msix_.size(); ++i) {
    if (!h_.msix_[i].pending || masked(i)) continue;
    return spec::CqWr{.is_msix = 1, .vector = static_cast<uint8_t>(i), .data = {}};
  }
  return std::nullopt;
}

}  // namespace rnic::model

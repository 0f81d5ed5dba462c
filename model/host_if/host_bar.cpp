// BAR 0 registers and BAR 2 doorbells.
#include <algorithm>
#include <array>
#include <cstring>

#include "host_if/host_if.hpp"

namespace rnic::model {

using spec::DoorbellKind;

namespace {

constexpr uint32_t kPage = 4096;
constexpr uint32_t kUnits = spec::kCountItemsCount;  // units that have counters

/// A capability register and the size that it shows.
struct Capability {
  uint32_t offset;
  uint32_t spec::Sizes::*size;
};
constexpr std::array<Capability, 14> kCapabilities = {{
    {spec::kCapNumQpsOffset, &spec::Sizes::num_qps},
    {spec::kCapNumCqsOffset, &spec::Sizes::num_cqs},
    {spec::kCapNumEqsOffset, &spec::Sizes::num_eqs},
    {spec::kCapNumPdsOffset, &spec::Sizes::num_pds},
    {spec::kCapNumPagesOffset, &spec::Sizes::num_pages},
    {spec::kCapNumStagsOffset, &spec::Sizes::num_stags},
    {spec::kCapNumPblOffset, &spec::Sizes::num_pbl},
    {spec::kCapNumConnsOffset, &spec::Sizes::num_conns},
    {spec::kCapNumVectorsOffset, &spec::Sizes::num_vectors},
    {spec::kCapIrdSlotsOffset, &spec::Sizes::ird_slots},
    {spec::kCapOrdSlotsOffset, &spec::Sizes::ord_slots},
    {spec::kCapMaxIrdOffset, &spec::Sizes::max_ird},
    {spec::kCapMaxOrdOffset, &spec::Sizes::max_ord},
    {spec::kCapSqWindowOffset, &spec::Sizes::sq_window},
}};

/// Whether an access may be executed. One of 8 bytes must be aligned to 8, so that it does not span
/// two 8-byte words.
constexpr bool aligned(uint32_t offset, uint8_t bytes) { return bytes != 8 || offset % 8 == 0; }

constexpr bool inside(uint32_t offset, uint32_t first, uint32_t count, uint32_t stride) {
  return offset >= first && offset < first + count * stride;
}

}  // namespace

/// Returns the 8 bytes at an aligned offset.
uint64_t HostIf::Bar::register64(uint32_t offset) const {
  const auto word = [&](uint32_t at) -> uint64_t {
    switch (at) {
      case spec::kMagicOffset:
        return 0x43494e4d;  // "MNIC" as bytes
      case spec::kVersionOffset:
        return 0x00010000;  // 1.0
      case spec::kDevCtrlOffset:
        return h_.cfg_.enable;
      case spec::kDevStatusOffset:
        return (h_.out_.ready() ? spec::kDevStatusReadyMask : 0) |
               (h_.out_.fatal() ? spec::kDevStatusFatalMask : 0);
      case spec::kCplTimeoutOffset:
        return h_.cpl_timeout_;
      case spec::kAdminLogSizeOffset:
        return h_.cfg_.admin_log_size;
      case spec::kCapClockKhzOffset:
        return h_.clock_khz_;
      default:
        break;
    }
    for (const Capability& c : kCapabilities) {
      if (c.offset == at) return sizes_.*c.size;
    }
    return 0;
  };
  switch (offset) {
    case spec::kAdminCmdBaseOffset:
      return h_.cfg_.admin_cmd_base;
    case spec::kAdminRspBaseOffset:
      return h_.cfg_.admin_rsp_base;
    case spec::kDeviceTimeOffset:
      return h_.out_.device_time();
    case spec::kDoorbellsDroppedOffset:
      return dropped_;
    case spec::kDmaErrorsOffset:
      return h_.rd.errors();
    case spec::kCplUnexpectedOffset:
      return h_.rd.unexpected();
    case spec::kCplMalformedOffset:
      return h_.rd.malformed();
    case spec::kCplTimedOutOffset:
      return h_.rd.timed_out();
    case spec::kMsixPendingOffset: {
      uint64_t bits = 0;
      for (size_t i = 0; i < h_.msix_.size(); ++i) bits |= uint64_t{h_.msix_[i].pending} << i;
      return bits;
    }
    default:
      break;
  }
  if (inside(offset, spec::kMsixAddressOffset, static_cast<uint32_t>(h_.msix_.size()),
             spec::kMsixAddressStride)) {
    const Vector& v = h_.msix_[(offset - spec::kMsixAddressOffset) / spec::kMsixAddressStride];
    return offset % spec::kMsixAddressStride == 0 ? v.address : uint64_t{v.mask} << 32 | v.data;
  }
  if (inside(offset, spec::kCountItemsOffset, kUnits, spec::kCountItemsStride)) {
    const spec::UnitCount c =
        h_.out_.unit_count((offset - spec::kCountItemsOffset) / spec::kCountItemsStride);
    switch (offset % spec::kCountItemsStride) {
      case 0:
        return c.items;
      case 8:
        return c.busy;
      case 16:
        return c.stalled;
      default:
        return 0;
    }
  }
  return word(offset) | word(offset + 4) << 32;
}

uint64_t HostIf::Bar::read(uint8_t bar, uint32_t offset, uint8_t bytes) const {
  if (bar != 0 || !aligned(offset, bytes)) return 0;
  const uint64_t v = register64(offset & ~7U);
  return bytes == 8 ? v : (v >> (offset % 8 * 8)) & 0xffffffff;
}

/// Writes the bits `mask` of `value` to the 8 bytes at `offset`.
void HostIf::Bar::write_register(uint32_t offset, uint64_t value, uint64_t mask) {
  const auto merged = [&](uint64_t old) { return (old & ~mask) | (value & mask); };
  const bool low = (mask & 0xffffffff) != 0, high = mask >> 32 != 0;
  spec::DevCfg& cfg = h_.cfg_;
  switch (offset) {
    case spec::kDevCtrlOffset:  // shares its 8 bytes with dev_status, which is read-only
      if (low) cfg.enable = value & spec::kDevCtrlEnableMask;
      break;
    case spec::kStagKeyOffset:
      cfg.stag_key = merged(cfg.stag_key);
      break;
    case spec::kCplTimeoutOffset:
      if (!low) break;
      h_.cpl_timeout_ = static_cast<uint32_t>(value);
      h_.out_.cpl_timeout_changed();
      break;
    case spec::kAdminCmdBaseOffset:
      cfg.admin_cmd_base = merged(cfg.admin_cmd_base);
      break;
    case spec::kAdminRspBaseOffset:
      cfg.admin_rsp_base = merged(cfg.admin_rsp_base);
      break;
    case spec::kAdminLogSizeOffset:  // shares its 8 bytes with admin_doorbell, the upper half
      if (low) cfg.admin_log_size = value & spec::kAdminLogSizeLogSizeMask;
      if (high) h_.out_.admin_doorbell({static_cast<uint16_t>(value >> 32)});
      break;
    default:
      break;
  }
  h_.out_.dev_cfg(cfg);
  if (inside(offset, spec::kEqConsumerOffset, spec::kEqConsumerCount, spec::kEqConsumerStride)) {
    const auto ring = [&](uint32_t eqn, uint64_t index) {
      if (eqn < sizes_.num_eqs)
        h_.out_.eq_doorbell(
            {.eqn = static_cast<uint8_t>(eqn), .index = static_cast<uint16_t>(index)});
    };
    const uint32_t eqn = (offset - spec::kEqConsumerOffset) / spec::kEqConsumerStride;
    if (low) ring(eqn, value);
    if (high) ring(eqn + 1, value >> 32);
  }
  if (inside(offset, spec::kMsixAddressOffset, static_cast<uint32_t>(h_.msix_.size()),
             spec::kMsixAddressStride)) {
    Vector& v = h_.msix_[(offset - spec::kMsixAddressOffset) / spec::kMsixAddressStride];
    if (offset % spec::kMsixAddressStride == 0) {
      v.address = merged(v.address);
    } else {
      if (low) v.data = static_cast<uint32_t>(value);
      if (high) v.mask = (value >> 32 & 1) != 0;
      if (v.pending && !v.mask) h_.out_.msix_unmasked();
    }
  }
}

void HostIf::Bar::write(const MmioAccess& m) {
  if (!m.is_write) return;
  if (m.bar == 2) return doorbell(m);
  if (m.bar != 0 || m.bytes == 64 || !aligned(m.offset, m.bytes)) return;
  if (m.bytes == 8) return write_register(m.offset, m.value, ~uint64_t{0});
  const uint32_t shift = m.offset % 8 * 8;
  write_register(m.offset & ~7U, (m.value & 0xffffffff) << shift, uint64_t{0xffffffff} << shift);
}

void HostIf::Bar::doorbell(const MmioAccess& m) {
  const uint32_t page = m.offset / kPage, at = m.offset % kPage;
  if (page >= sizes_.num_pages) return dropped();
  if (m.bytes == 64 && (at == spec::kPushOffset || at == spec::kPushOffset + 64))
    return half(m, page);
  const bool plain =
      m.bytes == 8 && at % 8 == 0 && at / 8 <= static_cast<uint32_t>(DoorbellKind::kCqArm);
  const spec::Doorbell db = spec::Doorbell::from_words(
      std::array<uint32_t, 2>{static_cast<uint32_t>(m.value), static_cast<uint32_t>(m.value >> 32)}
          .data());
  if (!plain || db.object > 0xffff) return dropped();
  const auto kind = static_cast<DoorbellKind>(at / 8);
  const auto object = static_cast<uint16_t>(db.object);
  const auto index = static_cast<uint16_t>(db.index);
  const bool arm = kind == DoorbellKind::kCqArm;
  if (arm || kind == DoorbellKind::kCq) {
    return h_.out_.cq_doorbell({.cqn = object,
                                .page = static_cast<uint16_t>(page),
                                .index = index,
                                .arm = arm,
                                .solicited_only = arm && (db.flags & 1) != 0});
  }
  if (kind == DoorbellKind::kSq) before_doorbell(static_cast<uint16_t>(page), object);
  h_.out_.qp_doorbell(
      {.kind = kind, .qpn = object, .page = static_cast<uint16_t>(page), .index = index});
}

/// Ends a half without its other half. Passes a first half to qp as a plain doorbell, and drops a
/// second half. No WQE is lost: the pushed copy is a hint, and the WQE is in the ring.
void HostIf::Bar::ring_alone(Half& h) {
  h.is_valid = false;
  if (h.is_second) return dropped();
  h_.out_.qp_doorbell(
      {.kind = DoorbellKind::kSq, .qpn = h.push.qpn, .page = h.push.page, .index = h.push.index});
}

/// Doorbells of a QP take effect in order. So a first half that waits counts as a plain doorbell
/// before a later doorbell of its QP.
void HostIf::Bar::before_doorbell(uint16_t page, uint16_t qpn) {
  for (Half& h : halves_)
    if (h.is_valid && !h.is_second && h.push.page == page && h.push.qpn == qpn) ring_alone(h);
}

/// Accepts a push of 64 bytes: one half of a WQE of two units, in either order, or a whole WQE of
/// one unit. See docs/theory-of-operation.md, host_if.
void HostIf::Bar::half(const MmioAccess& m, uint32_t page) {
  const auto bytes = m.data.bytes();
  Half in{.is_valid = true, .is_second = m.offset % kPage != spec::kPushOffset, .push = {}};
  const auto w = spec::SqWqe::unpack(bytes);
  const spec::Doorbell db =
      in.is_second ? spec::Doorbell::unpack(bytes.last(spec::Doorbell::kBytes)) : w.ring;
  if (db.object > 0xffff || (!in.is_second && (w.units < 1 || w.units > 2))) return dropped();
  in.push = {.kind = DoorbellKind::kPush,
             .qpn = static_cast<uint16_t>(db.object),
             .page = static_cast<uint16_t>(page),
             .index = static_cast<uint16_t>(db.index),
             .units = in.is_second ? uint8_t{2} : w.units};
  std::memcpy(&in.push.data[in.is_second ? 64 : 0], bytes.data(), 64);
  if (!in.is_second) before_doorbell(in.push.page, in.push.qpn);
  if (in.push.units == 1) return h_.out_.qp_doorbell(in.push);

  // place: a free entry of halves_, or the entry with an older copy of the same half.
  Half* place = nullptr;
  for (Half& h : halves_) {
    if (place == nullptr && !h.is_valid) place = &h;
  }
  for (Half& h : halves_) {
    if (!h.is_of(in.push)) continue;
    if (h.is_second == in.is_second) {
      place = &h;
      continue;
    }
    const Half& second = in.is_second ? in : h;
    spec::QpDoorbell whole = in.is_second ? h.push : in.push;
    std::copy_n(second.push.data.begin() + 64, 64, whole.data.begin() + 64);
    h.is_valid = false;
    return h_.out_.qp_doorbell(whole);
  }
  if (place != nullptr)
    *place = in;
  else
    ring_alone(in);
}

bool HostIf::Bar::waiting() const {
  return std::ranges::any_of(halves_, [](const Half& h) { return h.is_valid; });
}

void HostIf::Bar::tick() {
  for (Half& h : halves_) {
    if (!h.is_valid) continue;
    if (h.is_aged) ring_alone(h);
    h.is_aged = true;
  }
}

void HostIf::Bar::give_up(uint16_t page, uint16_t qpn, uint16_t index) {
  for (Half& h : halves_)
    if (h.is_of({.qpn = qpn, .page = page, .index = index})) ring_alone(h);
}

void HostIf::Bar::purge(uint16_t qpn) {
  for (Half& h : halves_)
    if (h.push.qpn == qpn) h.is_valid = false;
}

void HostIf::set_pcie(const spec::PcieCfg& cfg) {
  pcie_ = cfg;
  out_.msix_unmasked();  // cfg may enable or unmask MSI-X
}

}  // namespace rnic::model

// Rules a3 and b of ordering.hpp. See ordering_rings.hpp.
// a3: A completion event needs an arming and a CQE written past its consumer index. An interrupt
//     needs an event of its vector. cq and msix write nothing else.
// b:  A read of client sq or rq is whole units of one ring, and ends at or before the index of the
//     last doorbell that took effect (commit qp_doorbell), which the host has rung.
#include "tandem/ordering_rings.hpp"

#include <algorithm>

#include "gen/regs.hpp"

namespace rnic::sim {
namespace {

constexpr uint8_t kBar0 = 0, kBar2 = 2;
// Bytes: of a doorbell page, a ring unit, a CQE, an EQE.
constexpr uint32_t kPage = 4096, kUnit = 64, kCqe = 32, kEqe = 16;

}  // namespace

void RingOrder::reset() {
  bar0_.clear();
  open_.clear();
  commands_.clear();
  qps_.clear();
  cqs_.clear();
  eqs_.clear();
  rung_.clear();
  arms_.clear();
  vectors_.clear();
}

// --- from the host

uint64_t RingOrder::register64(uint32_t offset) const {
  const auto word = [&](uint32_t at) {
    const auto it = bar0_.find(at);
    return it == bar0_.end() ? uint64_t{0} : it->second;
  };
  return word(offset) | word(offset + 4) << 32;
}

void RingOrder::mmio_write(const Mmio& m) {
  if (m.bar == kBar2) return rung(m);
  if (m.bar != kBar0 || (m.bytes != 4 && m.bytes != 8)) return;
  bar0_[m.offset] = static_cast<uint32_t>(m.value);
  if (m.bytes == 8) bar0_[m.offset + 4] = static_cast<uint32_t>(m.value >> 32);
  constexpr uint32_t kTableEnd =
      spec::kMsixAddressOffset + spec::kMsixAddressCount * spec::kMsixAddressStride;
  if (m.offset < spec::kMsixAddressOffset || m.offset >= kTableEnd) return;
  const auto n =
      static_cast<uint8_t>((m.offset - spec::kMsixAddressOffset) / spec::kMsixAddressStride);
  // The row holds the address (8 bytes), then the data (4). Each write may make a new message.
  const uint32_t row = spec::kMsixAddressOffset + n * spec::kMsixAddressStride;
  vectors_[n].messages.emplace_back(register64(row), static_cast<uint32_t>(register64(row + 8)));
}

void RingOrder::rung(const Mmio& m) {
  const uint32_t at = m.offset % kPage;
  if (m.bytes == kUnit) {
    // The first half of a push rings; the second half (0x140) repeats its index and alone has no
    // effect.
    if (at != spec::kPushOffset) return;
    const auto ring = spec::SqWqe::unpack(m.data.bytes()).ring;
    rung_[static_cast<uint16_t>(ring.object)][0].push_back(static_cast<uint16_t>(ring.index));
    return;
  }
  if (m.bytes != 8) return;
  const auto object = static_cast<uint16_t>(m.value);
  const auto index = static_cast<uint16_t>(m.value >> 32);
  // Doorbells of a page: 0x00 sq, 0x08 rq, 0x18 cq_arm.
  if (at == 0x00) rung_[object][0].push_back(index);
  if (at == 0x08) rung_[object][1].push_back(index);
  if (at == 0x18) arms_[object].push_back(index);
}

/// The host must have rung this doorbell. Doorbells of a queue take effect in order; host_if may
/// have dropped some.
void RingOrder::doorbell(const spec::QpDoorbellCommit& c) {
  const size_t which = c.kind == spec::DoorbellKind::kRq ? 1 : 0;
  auto& rung = rung_[c.qpn][which];
  const auto it = std::find(rung.begin(), rung.end(), c.index);
  if (it == rung.end())
    return findings_.differ(
        "a doorbell took effect that the host did not ring: {} of QP {}, index {}",
        which == 0 ? "sq" : "rq", c.qpn, c.index);
  rung.erase(rung.begin(), it + 1);
  const auto qp = qps_.find(c.qpn);
  if (c.accepted == 0 || qp == qps_.end()) return;
  qp->second.ring[which].producer = c.index;
}

void RingOrder::pushed(const spec::QpPushCommit& c) {
  const auto qp = qps_.find(c.qpn);
  if (qp == qps_.end())
    return findings_.differ("a pushed WQE of QP {}, which was not created", c.qpn);
  WorkRing& ring = qp->second.ring[0];
  const auto end = static_cast<uint16_t>(c.first + c.units);
  const auto& rung = rung_[c.qpn][0];  // its doorbell may take effect later
  if (end != ring.producer && std::find(rung.begin(), rung.end(), end) == rung.end())
    findings_.differ(
        "a pushed WQE of QP {} ends at unit {}, which no doorbell says; the last index is {}",
        c.qpn, end, ring.producer);
  ring.next = end;
}

// --- reads

void RingOrder::read(const DmaRead& r) {
  if (r.client != Client::kSqFetch && r.client != Client::kRqFetch && r.client != Client::kAdmin)
    return;
  Fetch f{.address = r.address, .data = {}, .client = r.client, .qpn = 0, .first = 0};
  if (r.client != Client::kAdmin) fetch_units(r, f);
  open_[r.tag] = std::move(f);
}

void RingOrder::fetch_units(const DmaRead& r, Fetch& f) {
  const size_t which = ring_of(r.client);
  const char* const name = which == 0 ? "sq" : "rq";
  for (auto& [qpn, qp] : qps_) {
    WorkRing& ring = qp.ring[which];
    if (!ring.holds(r.address)) continue;
    const auto slot = static_cast<uint32_t>((r.address - ring.base) / kUnit);
    const uint32_t units = r.length / kUnit;
    if (r.address % kUnit != 0 || r.length % kUnit != 0 || slot + units > ring.units)
      return findings_.differ(
          "{} of QP {}: a read of {} bytes from {:#x} is not whole units of its ring", name, qpn,
          r.length, r.address);
    // ahead: units from `next` to the first one read; the RTL may skip units, never go back.
    const uint32_t ahead = (slot - ring.next) & (ring.units - 1);
    // ready: announced units from `next` on. A pushed WQE may set `next` past the producer; then
    // the difference wraps to more than a ring, and nothing is announced.
    const auto ready = static_cast<uint16_t>(ring.producer - ring.next);
    const uint32_t announced = ready > ring.units ? 0 : ready;
    findings_.judged("WQE reads");
    f.qpn = qpn;
    f.first = static_cast<uint16_t>(ring.next + ahead);
    if (ahead + units > announced)
      return findings_.differ(
          "{} of QP {}: units {} to {} are read, the doorbell's index is {} and unit {} is the "
          "next",
          name, qpn, f.first, static_cast<uint16_t>(f.first + units), ring.producer, ring.next);
    ring.next = static_cast<uint16_t>(f.first + units);
    return;
  }
  findings_.differ("{}: a read of {} bytes from {:#x}, which is in no ring", name, r.length,
                   r.address);
}

void RingOrder::piece(const DmaPiece& p) {
  const auto it = open_.find(p.tag);
  if (it == open_.end()) return;
  Fetch& f = it->second;
  const bool failed = p.status != spec::RdStatus::kOk;
  if (failed && f.client != Client::kAdmin) {  // the RTL may read these units again
    if (const auto qp = qps_.find(f.qpn); qp != qps_.end())
      qp->second.ring[ring_of(f.client)].next = f.first;
  }
  const auto bytes = p.data.bytes();
  if (!failed) f.data.insert(f.data.end(), bytes.begin(), bytes.end());
  if (!failed && !p.is_last) return;
  if (!failed && f.client == Client::kAdmin) fetched(f);
  open_.erase(it);
}

/// Takes commands, if the read lies in the command ring: 2^log_size entries of 64 bytes.
void RingOrder::fetched(const Fetch& f) {
  const uint64_t base = register64(spec::kAdminCmdBaseOffset);
  const uint64_t size = uint64_t{64} << (register64(spec::kAdminLogSizeOffset) & 0xf);
  if (f.address < base || f.address - base >= size) return;
  for (size_t at = 0; at + spec::AdminCmd::kBytes <= f.data.size(); at += spec::AdminCmd::kBytes)
    commands_.push_back(spec::AdminCmd::unpack(std::span(f.data).subspan(at)));
}

// --- writes

std::optional<spec::Cqe> RingOrder::written(const DmaWrite& w) {
  const auto bytes = w.data.bytes();
  if (w.client == Client::kAdminWrite) {
    const uint64_t base = register64(spec::kAdminRspBaseOffset);
    // The response ring: 2^log_size entries of 32 bytes.
    const uint64_t size = uint64_t{32} << (register64(spec::kAdminLogSizeOffset) & 0xf);
    if (w.address >= base && w.address - base < size && bytes.size() >= spec::AdminRsp::kBytes)
      answered(spec::AdminRsp::unpack(bytes));
    return std::nullopt;
  }
  if (w.client == Client::kMsix) {
    interrupt(w);
    return std::nullopt;
  }
  if (Ring* cq = holder(cqs_, w.address); cq != nullptr && bytes.size() == kCqe) {
    ++cq->written;
    const auto cqe = spec::Cqe::unpack(bytes);
    if (!qps_.contains(static_cast<uint16_t>(cqe.qpn)))
      findings_.differ(
          "a completion of QP {}, which does not exist: destroy_qp was answered before", cqe.qpn);
    return cqe;
  }
  for (auto& [eqn, eq] : eqs_) {
    if (!eq.holds(w.address) || bytes.size() != kEqe) continue;
    ++vectors_[eq.vector].events;
    event(eqn, spec::Eqe::unpack(bytes));
    return std::nullopt;
  }
  findings_.differ("cq writes {} bytes to {:#x}, which is no entry of a CQ or EQ", bytes.size(),
                   w.address);
  return std::nullopt;
}

void RingOrder::event(uint8_t eqn, const spec::Eqe& e) {
  findings_.judged("events");
  if (e.kind != spec::EqeType::kCompletion) return;
  const auto cqn = static_cast<uint16_t>(e.object);
  const auto cq = cqs_.find(cqn);
  if (cq == cqs_.end())
    return findings_.differ("EQ {}: a completion event of CQ {}, which was not created", eqn, cqn);
  // The oldest arming that explains the event: CQEs were written past its consumer index. behind:
  // their number, modulo 2^16. 0: none. More than the ring holds: the index is past all CQEs.
  // The event uses up this arming and the older ones.
  auto& arms = arms_[cqn];
  const auto fits = std::find_if(arms.begin(), arms.end(), [&](uint16_t consumer) {
    const auto behind = static_cast<uint16_t>(cq->second.written - consumer);
    return behind != 0 && behind <= cq->second.entries;
  });
  if (fits == arms.end())
    return findings_.differ("EQ {}: a completion event of CQ {}: {}", eqn, cqn,
                            arms.empty() ? std::string("it is not armed")
                                         : fmt::format("{} completions were written, armed at {}",
                                                       cq->second.written, arms.front()));
  arms.erase(arms.begin(), fits + 1);
}

void RingOrder::interrupt(const DmaWrite& w) {
  findings_.judged("interrupts");
  const auto bytes = w.data.bytes();
  uint32_t data = 0;
  for (size_t i = bytes.size(); i-- > 0;) data = data << 8 | bytes[i];  // lowest byte first
  bool known = false;
  for (auto& [n, v] : vectors_) {
    if (std::find(v.messages.begin(), v.messages.end(), std::pair{w.address, data}) ==
        v.messages.end())
      continue;
    known = true;
    if (v.interrupts == v.events) continue;  // another vector may send the same message
    ++v.interrupts;
    return;
  }
  if (known)
    findings_.differ("the MSI-X message {:#x} to {:#x} comes before its event", data, w.address);
  else
    findings_.differ("msix writes {:#x} to {:#x}, which no vector says", data, w.address);
}

// --- commands

void RingOrder::answered(const spec::AdminRsp& rsp) {
  if (commands_.empty())
    return findings_.differ("an answer to command {} of admin, which was not read", rsp.cookie);
  const spec::AdminCmd cmd = commands_.front();
  commands_.pop_front();
  if (cmd.cookie != rsp.cookie)
    return findings_.differ("an answer to command {} of admin, {} is the next", rsp.cookie,
                            cmd.cookie);
  findings_.judged("commands");
  if (rsp.status == spec::AdminStatus::kOk) apply(cmd);
}

void RingOrder::apply(const spec::AdminCmd& cmd) {
  const auto object = static_cast<uint16_t>(cmd.object);
  switch (static_cast<spec::AdminOpcode>(cmd.opcode)) {
    case spec::AdminOpcode::kCreateQp: {
      const auto a = spec::AdminQpArgs::unpack(cmd.args);
      Qp& qp = qps_[object] = Qp{};
      qp.ring[0] = {.base = a.sq_base, .units = 1U << a.log_sq};
      if (a.has_srq == 0) qp.ring[1] = {.base = a.rq_base, .units = 1U << a.log_rq};
      break;
    }
    case spec::AdminOpcode::kCreateSrq: {
      const auto a = spec::AdminSrqArgs::unpack(cmd.args);
      qps_[object] = Qp{};
      qps_[object].ring[1] = {.base = a.base, .units = 1U << a.log_size};
      break;
    }
    case spec::AdminOpcode::kDestroyQp:
    case spec::AdminOpcode::kDestroySrq:
      qps_.erase(object);
      break;
    case spec::AdminOpcode::kCreateCq: {
      const auto a = spec::AdminRingArgs::unpack(cmd.args);
      cqs_[object] = {.base = a.base,
                      .bytes = uint64_t{kCqe} << a.log_size,
                      .eqn = a.eqn,
                      .entries = 1U << a.log_size};
      arms_[object].clear();
      break;
    }
    case spec::AdminOpcode::kDestroyCq:
      cqs_.erase(object);
      break;
    case spec::AdminOpcode::kCreateEq: {
      const auto a = spec::AdminRingArgs::unpack(cmd.args);
      eqs_[static_cast<uint8_t>(object)] = {.base = a.base,
                                            .bytes = uint64_t{kEqe} << a.log_size,
                                            .vector = a.vector,
                                            .entries = 1U << a.log_size};
      break;
    }
    case spec::AdminOpcode::kDestroyEq:
      eqs_.erase(static_cast<uint8_t>(object));
      break;
    default:
      break;
  }
}

}  // namespace rnic::sim

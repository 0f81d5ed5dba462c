// Send and receive queues: doorbells, fetch, issue, retirement.
#include "qp/qp.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.hpp"

namespace rnic::model {

using spec::DoorbellKind;
using spec::QpState;
using spec::WcOpcode;
using spec::WcStatus;
using spec::WrOpcode;

namespace {

constexpr uint32_t kUnit = 64;
constexpr uint8_t kMalformed = 0xff;  // num_sge of a malformed receive WQE in the prefetch buffer
/// Outstanding fetches of a ring. A fetch brings a quarter of the buffer (Qp::free()), so four fill
/// the buffer while it drains.
constexpr uint8_t kReads = 4;

constexpr bool flag(uint8_t flags, spec::SqFlagBit bit) {
  return (flags & static_cast<uint8_t>(bit)) != 0;
}

constexpr uint32_t body_bytes(uint32_t units) {
  return units * kUnit - static_cast<uint32_t>(spec::SqWqe::kBytes);
}

constexpr bool is_atomic(WrOpcode op) {
  return op == WrOpcode::kAtomicCmpAndSwp || op == WrOpcode::kAtomicFetchAndAdd;
}

/// Operations of the extensions that modify_qp enables by `persist`.
constexpr bool is_extension(WrOpcode op) {
  return op == WrOpcode::kFlush || op == WrOpcode::kAtomicWrite || is_atomic(op);
}

/// Operations that the peer answers and that take an ORD slot: a Read or an extension.
constexpr bool asks_peer(uint8_t opcode) {
  const auto op = static_cast<WrOpcode>(opcode);
  return op == WrOpcode::kRdmaRead || is_extension(op);
}

/// Requests to our own STag table (tpt). A fence waits for them. They send nothing, so they take no
/// slot of ddp.
constexpr bool is_local(WrOpcode op) { return op == WrOpcode::kLocalInv || opens_key(op); }

/// Inline bytes of a WQE that carries operands: reg_mr, bind_mw, an atomic, or the 8 bytes of an
/// Atomic Write.
constexpr uint32_t operand_bytes(WrOpcode op) {
  static_assert(spec::RegOperands::kBytes == spec::BindOperands::kBytes);
  if (opens_key(op)) return spec::RegOperands::kBytes;
  return is_atomic(op) ? spec::AtomicOperands::kBytes : sizeof(uint64_t);
}

constexpr WcOpcode completion_of(WrOpcode op) {
  switch (op) {
    case WrOpcode::kRdmaWrite:
    case WrOpcode::kRdmaWriteWithImm:
      return WcOpcode::kRdmaWrite;
    case WrOpcode::kRdmaRead:
      return WcOpcode::kRdmaRead;
    case WrOpcode::kFlush:
      return WcOpcode::kFlush;
    case WrOpcode::kAtomicCmpAndSwp:
      return WcOpcode::kCompSwap;
    case WrOpcode::kAtomicFetchAndAdd:
      return WcOpcode::kFetchAdd;
    case WrOpcode::kAtomicWrite:
      return WcOpcode::kAtomicWrite;
    case WrOpcode::kLocalInv:
      return WcOpcode::kLocalInv;
    case WrOpcode::kRegMr:
      return WcOpcode::kRegMr;
    case WrOpcode::kBindMw:
      return WcOpcode::kBindMw;
    default:
      return WcOpcode::kSend;
  }
}

}  // namespace

Qp::Qp(const spec::Sizes& sizes, const Translation& tpt, Out& out)
    : sq_prefetch_(sizes.sq_prefetch),
      sq_window_(sizes.sq_window),
      rq_prefetch_(sizes.rq_prefetch),
      sq_slots_(sizes.sq_slots),
      tpt_(tpt),
      out_(out),
      ctx_(sizes.num_qps),
      window_(size_t{sizes.num_qps} * sizes.sq_window),
      prefetch_(size_t{sizes.num_qps} * sizes.sq_prefetch),
      recvs_(size_t{sizes.num_qps} * sizes.rq_prefetch),
      fetchable_(sizes.num_qps),
      issuable_(sizes.num_qps),
      retirable_(sizes.num_qps),
      rq_fetchable_(sizes.num_qps) {}

/// Recomputes the QP's membership in the sets; call it after every change of the QP.
void Qp::update(uint16_t qpn) {
  Ctx& c = ctx_[qpn];
  const bool runs = live(c) && !c.issue_stopped && !c.asked && !c.lost;
  const bool issuable = runs && can_issue(qpn);
  const Ring16& s = c.sq;
  const bool fetch =
      runs && !s.bad && s.fetched != s.producer && s.reads < kReads && free(s, sq_prefetch_) != 0;
  const Ring16& r = c.rq;
  const bool rq_fetch = c.receives && r.wanted && !r.drop && r.fetched != r.producer &&
                        r.reads < kReads && free(r, rq_prefetch_) != 0;
  const bool retire =
      c.exists &&
      (has_done(qpn) || c.phase == Ctx::Phase::kFlushing ||
       (c.state == QpState::kError && (s.producer != s.retired || r.producer != r.retired)));
  put(fetchable_, Set::kFetchable, qpn, fetch);
  put(issuable_, Set::kIssuable, qpn, issuable);
  put(rq_fetchable_, Set::kRqFetchable, qpn, rq_fetch);
  put(retirable_, Set::kRetirable, qpn, retire);
}

void Qp::put(ReadySet& members, Set set, uint16_t qpn, bool member) {
  if (members.test(qpn) == member) return;
  members.put(qpn, member);
  if (member) out_.ready(set);
}

// A doorbell is valid if the QP exists and has this queue itself, the page belongs to it, and the
// index is between the producer and the retired index plus the ring size.
bool Qp::fits(const spec::QpDoorbell& db, uint16_t retired) const {
  if (db.qpn >= ctx_.size()) return false;
  const Ctx& c = ctx_[db.qpn];
  if (!c.exists || c.page != db.page) return false;
  const bool is_recv = db.kind == DoorbellKind::kRq;
  if (is_recv ? c.has_srq : c.is_srq) return false;
  const Ring16& r = is_recv ? c.rq : c.sq;
  const uint16_t ahead = r.distance(retired, db.index);
  return ahead <= r.size() && ahead >= r.distance(retired, r.producer);
}

void Qp::ring(const spec::QpDoorbell& db) {
  Ctx& c = ctx_[db.qpn];
  (db.kind == DoorbellKind::kRq ? c.rq : c.sq).producer = db.index;
  if (db.kind == DoorbellKind::kRq) c.rq.wanted = true;
  update(db.qpn);
}

bool Qp::doorbell(const spec::QpDoorbell& db) {
  if (!fits(db)) return false;
  if (db.kind == DoorbellKind::kPush && can_push(db)) push(db);
  ring(db);
  return true;
}

/// Whether a pushed WQE can be used: it is the next one to fetch and the prefetch buffer has space.
/// If not, a fetch() reads the WQE from the ring.
bool Qp::can_push(const spec::QpDoorbell& db) const {
  const Ctx& c = ctx_[db.qpn];
  const Ring16& s = c.sq;
  return !s.bad && s.reads == 0 && s.distance(s.fetched, db.index) == db.units &&
         s.distance(s.taken, s.fetched) + db.units <= sq_prefetch_;
}

bool Qp::push(const spec::QpDoorbell& db) {
  if (!can_push(db)) return false;
  Ring16& s = ctx_[db.qpn].sq;
  for (uint32_t i = 0; i < db.units; ++i) {
    unit(db.qpn, s.fetched++) =
        rnic::Payload::copy_of(std::span(db.data).subspan(i * kUnit, kUnit));
  }
  s.arrived = s.fetched;
  update(db.qpn);
  return true;
}

/// Units that the next fetch may bring: the whole buffer if it is empty, else a quarter if that is
/// free, else 0. `most` lowers the quarter, for a follower that fetches single units.
uint32_t Qp::free(const Ring16& r, uint32_t prefetch, uint32_t most) {
  const uint32_t claimed = r.distance(r.taken, r.fetched),
                 quarter = std::min(most, std::max(1U, prefetch / 4));
  if (claimed == 0) return prefetch;
  return claimed + quarter <= prefetch ? quarter : 0;
}

MemRead Qp::fetch(uint16_t qpn, uint16_t most) {
  Ring16& s = ctx_[qpn].sq;
  const uint32_t announced = s.distance(s.fetched, s.producer);
  const uint32_t space = free(s, sq_prefetch_, most);
  const uint32_t to_end = s.size() - (s.fetched & (s.size() - 1));
  const uint16_t count =
      static_cast<uint16_t>(std::min({announced, space, to_end, uint32_t{most}}));
  const MemRead r{.purpose = Purpose::kSqFetch,
                  .qpn = qpn,
                  .address = s.address(s.fetched),
                  .length = count * kUnit};
  ++s.reads;
  s.fetched = static_cast<uint16_t>(s.fetched + count);
  sq_reads_.push({qpn, count, ctx_[qpn].life});
  update(qpn);
  return r;
}

void Qp::fetched(const MemData& data) {
  const Pending p = sq_reads_.pop();
  Ctx& c = ctx_[p.qpn];
  if (c.life != p.life) return;
  Ring16& s = c.sq;
  --s.reads;
  if (data.status != spec::RdStatus::kOk) s.bad = true;
  if (s.bad) {  // discard the outstanding fetches
    s.fetched = s.arrived;
  } else {
    for (uint16_t i = 0; i < p.count; ++i)
      unit(p.qpn, s.arrived++) = data.data.slice(i * kUnit, kUnit);
  }
  update(p.qpn);
}

bool Qp::can_issue(uint16_t qpn) {
  const Ctx& c = ctx_[qpn];
  if (c.win_count == sq_window_ || c.slots == sq_slots_) return false;
  if (c.sq.taken == c.sq.producer) return false;
  const uint32_t here = c.sq.here(), units = units_of(qpn);
  const bool fails = c.sq.bad;
  if (here == 0) return fails;
  const auto first = unit(qpn, c.sq.taken).bytes();
  const bool asks = asks_peer(first[0]);
  const bool fence = flag(first[1], spec::SqFlagBit::kFence) || c.after_key;
  const bool waits = (fence && c.reads != 0) || (asks && c.reads >= c.params.ord);
  if (here >= units && !waits && !(asks && c.fin)) return true;
  // A WQE that will fail is issued at once: its first unit is enough for that.
  return bad_header(spec::SqWqe::unpack(first), units, c) || (asks && c.fin) ||
         (here < units && fails);
}

uint32_t Qp::room(uint16_t qpn) const {
  const Ctx& c = ctx_[qpn];
  if (c.win_count == sq_window_ || c.slots == sq_slots_) return 0;
  const uint32_t visit = std::min(sq_slots_, sq_window_);
  return c.win_count + visit <= sq_window_ ? std::min(sq_slots_ - c.slots, visit) : 1U;
}

bool Qp::next_asks_peer(uint16_t qpn) const {
  const Ring16& s = ctx_[qpn].sq;
  return s.here() != 0 && asks_peer(unit(qpn, s.taken).bytes()[0]);
}

/// Units of the next WQE; 1 if it has not arrived or its field is invalid.
uint32_t Qp::units_of(uint16_t qpn) const {
  const Ring16& s = ctx_[qpn].sq;
  if (s.here() == 0) return 1;
  const uint32_t units = unit(qpn, s.taken).bytes()[2] & 7U;
  return units >= 1 && units <= 4 && units <= s.distance(s.taken, s.producer) ? units : 1;
}

uint32_t Qp::missing(uint16_t qpn) const {
  const Ring16& s = ctx_[qpn].sq;
  const uint32_t units = units_of(qpn), here = s.here();
  return s.bad || here >= units || s.fetched == s.producer ? 0 : units - here;
}

/// Checks the fields of the first unit; true: malformed. units: the result of units_of().
bool Qp::bad_header(const spec::SqWqe& w, uint32_t units, const Ctx& c) const {
  if (w.units != units) return true;
  const uint32_t body = body_bytes(units);
  const bool is_inline = flag(w.flags, spec::SqFlagBit::kInlineData);
  const auto op = static_cast<WrOpcode>(w.opcode);
  const bool is_flush = op == WrOpcode::kFlush;
  if (op != WrOpcode::kRdmaWrite && !is_send(op) && !is_immediate(op) && !is_local(op) &&
      !asks_peer(w.opcode))
    return true;
  if (is_immediate(op) && (!is_inline || w.num_sge != 0 || w.length != sizeof(uint64_t)))
    return true;
  if (op == WrOpcode::kLocalInv && (is_inline || w.num_sge != 0 || w.length != 0)) return true;
  if (op == WrOpcode::kRegMr && c.params.privileged == 0) return true;
  if (opens_key(op) && (!is_inline || w.num_sge != 0 || w.length != operand_bytes(op))) return true;
  // SqFlagBit defines the low four bits of the flags. A Flush has one disposition bit or both.
  if ((w.flags & 0xf0) != 0 || w.reserved0 != 0 || w.reserved2 != 0) return true;
  if (is_flush ? w.disposition == 0 || w.disposition > 3 : w.disposition != 0) return true;
  if (w.length > spec::kMaxMessage) return true;
  if (asks_peer(w.opcode) && c.params.ord == 0) return true;
  if (is_extension(op) && c.params.persist == 0) return true;
  if (is_flush && (w.num_sge != 0 || is_inline)) return true;
  if (op == WrOpcode::kRdmaRead && (w.num_sge > 1 || is_inline)) return true;
  if ((is_atomic(op) || op == WrOpcode::kAtomicWrite) &&
      (!is_inline || w.length != operand_bytes(op)))
    return true;
  if (w.num_sge > spec::kMaxSge) return true;  // also of a WQE with inline data
  if (is_inline) return w.length > spec::kMaxInline || w.length > body;
  return w.num_sge * spec::WqeSge::kBytes > body;
}

/// Whether the SGEs' total differs from the length. The sink of an atomic must have 8 bytes.
bool Qp::bad_total(const spec::SqWqe& w, const rnic::Payload& body) const {
  if (is_atomic(static_cast<WrOpcode>(w.opcode)))
    return spec::AtomicOperands::unpack(body.bytes()).sink.length != sizeof(uint64_t);
  if (flag(w.flags, spec::SqFlagBit::kInlineData)) return false;
  if (w.opcode == static_cast<uint8_t>(WrOpcode::kFlush)) return false;  // a Flush has no SGE
  uint64_t total = 0;
  for (size_t i = 0; i < w.num_sge; ++i) {
    total += spec::WqeSge::unpack(body.bytes().subspan(i * spec::WqeSge::kBytes)).length;
  }
  return total != w.length;
}

/// The bytes after the header of the next WQE, all of whose units have arrived.
rnic::Payload Qp::body_of(uint16_t qpn, uint32_t units) const {
  const uint16_t first = ctx_[qpn].sq.taken;
  if (units == 1) return unit(qpn, first).slice(spec::SqWqe::kBytes);
  rnic::Payload body = rnic::Payload::make(body_bytes(units));
  uint8_t* to = body.writable().data();
  for (uint32_t i = 0; i < units; ++i) {
    const auto from = unit(qpn, static_cast<uint16_t>(first + i))
                          .bytes()
                          .subspan(i == 0 ? spec::SqWqe::kBytes : 0);
    std::memcpy(to, from.data(), from.size());
    to += from.size();
  }
  return body;
}

/// Whether the WQE is well formed enough that its keys are looked up; its total may still be wrong.
bool Qp::asks(uint16_t qpn) const {
  const Ctx& c = ctx_[qpn];
  const uint32_t units = units_of(qpn);
  if (c.sq.here() < units) return false;
  const auto w = spec::SqWqe::unpack(unit(qpn, c.sq.taken).bytes());
  if (asks_peer(w.opcode) && c.fin) return false;
  if (bad_header(w, units, c)) return false;
  if (w.opcode == static_cast<uint8_t>(WrOpcode::kLocalInv)) return true;
  if (flag(w.flags, spec::SqFlagBit::kInlineData)) return false;
  const rnic::Payload body = body_of(qpn, units);
  for (size_t i = 0; i < w.num_sge; ++i) {
    if (spec::WqeSge::unpack(body.bytes().subspan(i * spec::WqeSge::kBytes)).length != 0)
      return true;
  }
  return false;
}

std::optional<Wqe> Qp::issue(uint16_t qpn) {
  Ctx& c = ctx_[qpn];
  const uint16_t first = c.sq.taken;
  const uint32_t units = units_of(qpn);
  const uint16_t after = static_cast<uint16_t>(first + units);
  if (c.sq.here() == 0) {
    fail_wqe(qpn, after, {}, WcStatus::kFatalErr);  // its fetch failed: no field is known
    return std::nullopt;
  }
  const auto w = spec::SqWqe::unpack(unit(qpn, first).bytes());
  const auto op = static_cast<WrOpcode>(w.opcode);
  if (bad_header(w, units, c)) {
    fail_wqe(qpn, after, w, WcStatus::kLocQpOpErr);
    return std::nullopt;
  }
  if (asks_peer(w.opcode) && c.fin) {  // valid, but the peer has closed and cannot respond
    c.issue_stopped = true;
    update(qpn);
    out_.qp_fault({.qpn = qpn, .cause = spec::Cause::kLlpLost});
    return std::nullopt;
  }
  if (c.sq.here() < units) {  // the fetch of its later units failed
    fail_wqe(qpn, after, w, WcStatus::kFatalErr);
    return std::nullopt;
  }
  rnic::Payload body = body_of(qpn, units);
  if (bad_total(w, body)) {
    fail_wqe(qpn, after, w, WcStatus::kLocQpOpErr);
    return std::nullopt;
  }
  const bool is_inline = flag(w.flags, spec::SqFlagBit::kInlineData);
  // tpt checks the key of each SGE (stream wqe_check). The sink of a Read needs the right
  // local_write; sending from a region needs no right.
  for (size_t i = 0; !is_inline && i < w.num_sge; ++i) {
    const auto sge = spec::WqeSge::unpack(body.bytes().subspan(i * spec::WqeSge::kBytes));
    if (sge.length == 0) continue;
    const uint16_t rights = op == WrOpcode::kRdmaRead ? spec::kAccessLocalWrite : uint16_t{0};
    if (tpt_.check({.stag = sge.lkey,
                    .tagged_offset = sge.address,
                    .length = sge.length,
                    .pd = c.pd,
                    .qpn = qpn,
                    .rights = rights,
                    .last = 0}) != spec::TptResult::kOk) {
      fail_wqe(qpn, after, w, WcStatus::kLocProtErr);
      return std::nullopt;
    }
  }
  const bool invalidates = op == WrOpcode::kLocalInv;
  if (invalidates && tpt_.check({.stag = w.rkey,
                                 .tagged_offset = 0,
                                 .length = 0,
                                 .pd = c.pd,
                                 .qpn = qpn,
                                 .rights = 0,
                                 .invalidate = 1,
                                 .last = 1}) != spec::TptResult::kOk) {
    fail_wqe(qpn, after, w, WcStatus::kLocProtErr);
    return std::nullopt;
  }
  const uint32_t at = c.win_count++;
  window(qpn, at) = {.index = first,
                     .after = after,
                     .opcode = op,
                     .signaled = flag(w.flags, spec::SqFlagBit::kSignaled),
                     .status = {},
                     .length = w.length};
  c.sq.taken = after;
  c.after_key = opens_key(op);
  if (!is_local(op)) ++c.slots;
  if (asks_peer(w.opcode) || is_local(op)) ++c.reads;  // a fence waits for this WQE
  Wqe out;
  out.hdr = {.qpn = qpn,
             .slot = static_cast<uint8_t>((c.win_head + at) % sq_window_),
             .opcode = op,
             .is_solicited = flag(w.flags, spec::SqFlagBit::kSolicited),
             .is_inline = is_inline,
             .num_sge = is_inline ? uint8_t{0} : w.num_sge,
             .length = w.length,
             .remote_to = w.remote_address,
             .remote_stag = w.rkey,
             .disposition = static_cast<uint8_t>(w.disposition & 3)};
  out.body = std::move(body);
  update(qpn);
  return out;
}

/// A WQE that fails here keeps its window entry with its status. rdmap decides the QP's error.
void Qp::fail_wqe(uint16_t qpn, uint16_t after, const spec::SqWqe& w, WcStatus status) {
  Ctx& c = ctx_[qpn];
  window(qpn, c.win_count++) = {.index = c.sq.taken,
                                .after = after,
                                .opcode = static_cast<WrOpcode>(w.opcode),
                                .failed = true,
                                .status = status,
                                .length = w.length};
  c.sq.taken = after;
  c.issue_stopped = true;
  update(qpn);
  out_.qp_fault({.qpn = qpn, .cause = spec::Cause::kLocalCatastrophic});
}

void Qp::sq_slot_free(const spec::SqSlotFree& free) {
  Ctx& c = ctx_[free.qpn];
  RNIC_CHECK(c.slots != 0, "QP {} has no slot in ddp, and one is given back", free.qpn);
  --c.slots;
  update(free.qpn);
}

void Qp::wr_done(const spec::WrDone& done) {
  Ctx& c = ctx_[done.qpn];
  if (!c.exists) return;
  const uint32_t i = (done.slot + sq_window_ - c.win_head) % sq_window_;
  if (i < c.win_count) window(done.qpn, i).done = true;
  update(done.qpn);
}

void Qp::send_cqe(uint16_t qpn, const Issued& w, WcStatus status) {
  const Ctx& c = ctx_[qpn];
  out_.cqe_req({.cqn = c.sq.cqn,
                .entry = {.qpn = qpn,
                          .opcode = completion_of(w.opcode),
                          .byte_len = is_atomic(w.opcode) ? uint32_t{sizeof(uint64_t)} : w.length,
                          .index = w.index,
                          .status = status}});
}

void Qp::retire(uint16_t qpn) {
  Ctx& c = ctx_[qpn];
  if (has_done(qpn)) {
    const Issued w = window(qpn, 0);
    c.win_head = static_cast<uint8_t>((c.win_head + 1) % sq_window_);
    --c.win_count;
    c.sq.retired = w.after;
    if (w.signaled) send_cqe(qpn, w, WcStatus::kSuccess);
    if (closes(qpn)) decide(qpn);
  } else if (c.phase == Ctx::Phase::kFlushing || c.state == QpState::kError) {
    flush_step(qpn);
  }
  update(qpn);
}

MemRead Qp::rq_fetch(uint16_t row, uint16_t most) {
  Ring16& r = ctx_[row].rq;
  const uint32_t announced = r.distance(r.fetched, r.producer);
  const uint32_t space = free(r, rq_prefetch_);
  const uint32_t to_end = r.size() - (r.fetched & (r.size() - 1));
  const uint16_t count =
      static_cast<uint16_t>(std::min({announced, space, to_end, uint32_t{most}}));
  const MemRead read{.purpose = Purpose::kRqFetch,
                     .qpn = row,
                     .address = r.address(r.fetched),
                     .length = count * kUnit};
  ++r.reads;
  r.wanted = false;
  r.fetched = static_cast<uint16_t>(r.fetched + count);
  rq_reads_.push({row, count, ctx_[row].life});
  update(row);
  return read;
}

void Qp::rq_fetched(const MemData& data) {
  const Pending p = rq_reads_.pop();
  Ctx& c = ctx_[p.qpn];
  if (c.life != p.life) return;
  Ring16& r = c.rq;
  --r.reads;
  if (r.drop) {
    r.drop = r.reads != 0;
    return update(p.qpn);
  }
  if (data.status != spec::RdStatus::kOk) {
    // A failed fetch ends the take that waits for it. That take consumes its WQE, except that of an
    // SRQ. If no take waits, the next take fetches again. Outstanding fetches are dropped.
    r.bad = r.taking;
    if (r.bad && !c.is_srq) r.taken = ++r.arrived;
    r.fetched = r.arrived;
    r.drop = r.reads != 0;
  } else {
    for (uint16_t i = 0; i < p.count; ++i) {
      const auto w = spec::RqWqe::unpack(data.data.bytes().subspan(size_t{i} * kUnit));
      const auto sge = [](const spec::WqeSge& g) {
        return spec::Sge{.tagged_offset = g.address, .length = g.length, .stag = g.lkey};
      };
      const uint16_t index = r.arrived++;
      const bool good = w.num_sge <= spec::kMaxRecvSge && w.reserved0 == 0 && w.reserved1 == 0 &&
                        w.reserved2 == 0;
      recv(p.qpn, index) = {.index = c.is_srq ? w.tag : index,
                            .num_sge = good ? w.num_sge : kMalformed,
                            .sge0 = sge(w.sge0),
                            .sge1 = sge(w.sge1),
                            .sge2 = sge(w.sge2)};
    }
    if (r.fetched != r.producer) r.wanted = true;
  }
  update(p.qpn);
}

std::optional<spec::RqTakeRsp> Qp::rq_take(uint16_t qpn) {
  const Ctx& c = ctx_[qpn];
  Ring16& r = ctx_[row(qpn)].rq;
  if (!c.has_srq || !c.is_barred || r.bad) return rq_take(qpn, limit_due(qpn));
  r.taking = false;  // a take that waited for a fetch ends
  return spec::RqTakeRsp{.shared = 1};
}

// The doorbell's index decides whether the RQ is empty, never the prefetch buffer. After a failed
// fetch the index is one back, because rq_fetched() has consumed that WQE (not of an SRQ).
std::optional<spec::RqTakeRsp> Qp::rq_take(uint16_t qpn, bool reaches) {
  const uint16_t row = this->row(qpn);
  Ctx& c = ctx_[row];
  Ring16& r = c.rq;
  const bool failed = std::exchange(r.bad, false);
  r.taking = false;
  const auto index = static_cast<uint16_t>(r.taken - (failed && !c.is_srq ? 1 : 0));
  spec::RqTakeRsp rsp{
      .result = spec::RqTake::kEmpty, .shared = ctx_[qpn].has_srq, .wqe = {.index = index}};
  if (failed) {
    rsp.result = spec::RqTake::kFailed;
  } else if (r.here() != 0) {
    ++r.taken;
    const spec::RecvWqe& w = recv(row, index);
    rsp.result = w.num_sge == kMalformed ? spec::RqTake::kMalformed : spec::RqTake::kOk;
    if (rsp.result == spec::RqTake::kOk) rsp.wqe = w;
    rsp.wqe.index = w.index;
    if (reaches) reach_limit(row);
  } else if (!c.receives || r.taken == r.producer) {
    return rsp;
  } else {
    r.taking = true;
  }
  if (r.fetched != r.producer) r.wanted = true;
  update(row);
  if (r.taking) return std::nullopt;
  return rsp;
}

bool Qp::limit_due(uint16_t qpn) const {
  const Ctx& c = ctx_[row(qpn)];
  const uint16_t left = c.rq.distance(c.rq.taken, c.rq.producer);
  return !c.rq.bad && left != 0 && left - 1 < c.limit;
}

void Qp::reach_limit(uint16_t row) {
  ctx_[row].limit = 0;
  out_.qp_async({row});
}

void Qp::rx_done(const spec::RxDone& d) {
  Ctx& c = ctx_[d.qpn];
  if (d.kind == spec::DeliverKind::kRead) {  // a request to the peer or to tpt is done
    --c.reads;
    return wr_done({.qpn = d.qpn, .slot = d.slot});
  }
  if (!c.has_srq) c.rq.retired = static_cast<uint16_t>(d.index + 1);
  out_.cqe_req(
      {.cqn = c.rq.cqn,
       .entry = {.qpn = d.qpn,
                 .opcode = d.kind == spec::DeliverKind::kImmediate ? WcOpcode::kRecvRdmaWithImm
                                                                   : WcOpcode::kRecv,
                 .byte_len = d.byte_len,
                 .index = d.index,
                 .status = d.status,
                 .is_recv = 1,
                 .solicited = d.solicited,
                 .with_inv = d.kind == spec::DeliverKind::kInvalidate,
                 .immediate = d.immediate}});
}

}  // namespace rnic::model

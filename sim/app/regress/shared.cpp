// Shared receive queues: one for each domain of a thread whose lives use it. See regress/host.hpp.
//
// Messages of several QPs take the receives in the order in which they arrive. The host therefore
// compares the receive that completes with the next message of that QP's peer, copies the message
// to where the plan has it, and posts the receive again.
#include <fmt/format.h>

#include <algorithm>

#include "gen/regs.hpp"
#include "regress/host.hpp"

namespace rnic::app::regress {

using namespace verbs;

namespace {

constexpr uint32_t kMostPieces = 3, kGap = 64;  // SGEs of a receive; bytes around its pieces

/// What a posted receive holds: differs between slots and between neighbouring bytes.
uint8_t pattern(uint32_t slot, size_t at) { return static_cast<uint8_t>(slot * 37 + at * 11 + 5); }

}  // namespace

// The pieces of the receive in this slot: 1 to 3, with a gap before, between and after them.
std::vector<Piece> Host::slot_pieces(const Domain& d, uint32_t slot) {
  const uint32_t count = 1 + slot % kMostPieces;
  std::vector<Piece> all;
  uint32_t at = slot * d.slot_bytes + kGap + slot % kGap, left = d.message_bytes;
  for (uint32_t k = 1; k <= count; ++k) {
    const uint32_t length = k == count ? left : std::min(left, left / 3 + slot % 13);
    all.push_back({at, length});
    at += length + kGap;
    left -= length;
  }
  return all;
}

Result<void> Host::open_srq(uint32_t number) {
  Domain& d = domains_[number];
  std::map<uint32_t, uint32_t> credits;  // by slot: the lives in it follow each other
  for (const Lane& lane : lanes_) {
    if (!lane.life->shares[side_] || lane.life->pd[side_] % shape_.pds != number) continue;
    uint32_t& credit = credits[lane.life->slot];
    credit = std::max(credit, plan_.credit(side_, lane.number) + kSharedExtra);
    for (const Operation* o : lane.receives)
      if (o->is_send()) d.message_bytes = std::max(d.message_bytes, o->length);
  }
  for (const auto& [slot, credit] : credits) d.slots += credit;
  if (d.slots == 0) return {};
  d.message_bytes += kGap;
  d.slot_bytes = d.message_bytes + kMostPieces * kGap + 2 * kGap;
  const Hold hold(*this);
  auto buffer = context_.alloc(uint64_t{d.slots} * d.slot_bytes);
  if (!buffer) return error_of(buffer);
  d.shared = {*buffer, 0, uint64_t{d.slots} * d.slot_bytes};
  auto mr = open_region(d.pd, d.shared, kSharedIova, IBV_ACCESS_LOCAL_WRITE);
  if (!mr) return error_of(mr);
  d.shared_mr = std::move(*mr);
  // No limit, a limit that the first message reaches, or one that may not be reached.
  const std::array<uint32_t, 3> limits = {0, d.slots, (d.slots + 1) / 2};
  const uint32_t limit = limits[(plan_.seed + number + thread_) % limits.size()];
  auto srq = d.pd.create_srq({.max_wr = d.slots, .max_sge = kMostPieces, .srq_limit = limit});
  if (!srq) return error_of(srq);
  d.srq = std::move(*srq);
  own_.limits[d.srq.number()] = limit != 0;
  for (uint32_t slot = 0; slot < d.slots; ++slot)
    if (auto r = post_shared(d, slot); !r) return r;
  (void)dev_.read64(0, spec::kCountItemsOffset);
  return {};
}

Result<void> Host::post_shared(Domain& d, uint32_t slot) {
  const auto bytes = d.shared.bytes().subspan(uint64_t{slot} * d.slot_bytes, d.slot_bytes);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = pattern(slot, i);
  std::vector<Sge> sges;
  for (const Piece& p : slot_pieces(d, slot))
    sges.push_back({kSharedIova + p.offset, p.length, d.shared_mr.lkey()});
  const auto r = d.srq.post_recv({.wr_id = kSharedId + slot, .sg_list = sges});
  if (!r) return fail(r.error->code, "receive {} of the SRQ: {}", slot, r.error->what);
  return {};
}

// Compares the receive in a slot with `op`, the message that took it. Without `op`, checks that the
// receive is unchanged. If the message was cut short (is_cut), each byte has the message's value or
// the old one.
Result<void> Host::check_slot(const Lane& lane, uint32_t slot, const Operation* op, bool is_cut) {
  const Domain& d = domain(lane);
  const auto bytes = d.shared.bytes().subspan(uint64_t{slot} * d.slot_bytes, d.slot_bytes);
  std::vector<uint8_t> old(bytes.size());
  for (size_t i = 0; i < old.size(); ++i) old[i] = pattern(slot, i);
  std::vector<uint8_t> want = old;
  if (op != nullptr && op->is_send() && !op->immediate) {
    const auto& landing = want_.landing[side_][lane.number];
    std::vector<uint8_t> message;
    for (const Piece& p : op->receive)
      message.insert(message.end(), landing.begin() + p.offset,
                     landing.begin() + p.offset + p.length);
    message.resize(op->length);
    size_t at = 0;
    for (const Piece& p : slot_pieces(d, slot)) {
      const size_t n = std::min<size_t>(p.length, message.size() - at);
      std::copy_n(message.begin() + static_cast<std::ptrdiff_t>(at), n,
                  want.begin() + (p.offset - slot * d.slot_bytes));
      at += n;
    }
  }
  shared_.bytes_checked += bytes.size();
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == want[i] || (is_cut && bytes[i] == old[i])) continue;
    if (!shared_.wrong)
      shared_.wrong = Place{side_, d.shared.buffer.bus(uint64_t{slot} * d.slot_bytes + i)};
    return fail(
        Errc::kProtocol,
        "memory of {}: receive {} of SRQ {}, byte {}: {:02x}, should be {:02x} for qp {}: {}",
        kSideNames[side_], slot, d.srq.number(), i, bytes[i], want[i], lane.number,
        op == nullptr ? "no message" : op->describe());
  }
  return {};
}

Result<void> Host::take_shared(Lane& lane, const Wc& wc) {
  Domain& d = domain(lane);
  if (wc.wr_id < kSharedId || wc.wr_id >= kSharedId + d.slots)
    return fail(Errc::kProtocol, "qp {}: receive {} completes, of {} receives of SRQ {}",
                lane.number, wc.wr_id, d.slots, d.srq.number());
  const auto slot = static_cast<uint32_t>(wc.wr_id - kSharedId);
  d.is_used = true;
  const size_t next = lane.receives_done + lane.shared_flushed;
  const Operation* const op = next < lane.receives.size() ? lane.receives[next] : nullptr;
  const bool may_flush = wc.status == IBV_WC_WR_FLUSH_ERR && !lane.life->closes();
  if (wc.status == IBV_WC_SUCCESS ? lane.receive_failed || op == nullptr : !may_flush)
    return fail(Errc::kConnectionLost,
                "qp {}: receive {} of SRQ {} completes with {} (vendor {}), {}{}\n{}", lane.number,
                slot, d.srq.number(), to_string(wc.status), wc.vendor_err,
                op == nullptr ? "for no message" : "for " + op->describe(),
                lane.receive_failed ? ", after one that was flushed" : "", standing());
  const bool is_flushed = wc.status != IBV_WC_SUCCESS;
  // A receive that is flushed after an error must be unchanged. At a busy end the message may have
  // been placed in part.
  const Operation* const placed = is_flushed && !is_victim_of(lane) ? nullptr : op;
  if (auto r = check_slot(lane, slot, placed, is_flushed); !r) return r;
  if (is_flushed) {
    lane.receive_failed = true;
    ++lane.shared_flushed;
    return post_shared(d, slot);
  }
  shared_.begun.insert(op->number);
  if (op->is_send() && !op->immediate) {
    const auto& want = want_.landing[side_][lane.number];
    uint32_t left = op->length;
    for (const Piece& p : op->receive) {
      const uint32_t n = std::min(p.length, left);
      std::copy_n(want.begin() + p.offset, n, lane.landing.bytes().begin() + p.offset);
      left -= n;
    }
  }
  if (auto r = post_shared(d, slot); !r) return r;
  return check_receive(lane, wc, *op);
}

// Destroys the SRQ. By then all receives are posted again, so their bytes must have the pattern.
Result<void> Host::close_srq(Domain& d) {
  if (d.slots == 0) return {};
  const auto bytes = d.shared.bytes();
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto slot = static_cast<uint32_t>(i / d.slot_bytes);
    if (bytes[i] == pattern(slot, i % d.slot_bytes)) continue;
    if (!shared_.wrong) shared_.wrong = Place{side_, d.shared.buffer.bus(i)};
    return fail(
        Errc::kProtocol,
        "memory of {}: receive {} of SRQ {}, which is posted, has changed: byte {} of {} is "
        "{:02x}\n{}",
        kSideNames[side_], slot, d.srq.number(), i % d.slot_bytes, d.slot_bytes, bytes[i],
        standing());
  }
  const auto limit = own_.limits.find(d.srq.number());
  // The second of the limits in open_srq(), which the first message reaches.
  const bool is_met =
      d.is_used && (plan_.seed + static_cast<uint64_t>(&d - domains_.data()) + thread_) % 3 == 1;
  if (is_met && limit->second)
    return fail(Errc::kProtocol, "SRQ {}: no limit event, though a message has taken a receive",
                d.srq.number());
  own_.limits.erase(limit);
  const Hold hold(*this);
  if (auto r = d.srq.destroy(); !r) return fail(r.error().code, "SRQ: {}", r.error().what);
  return {};
}

}  // namespace rnic::app::regress

// Receive path: headers, tagged and untagged placement, delivery. RFC 5041 sections 5 and 7,
// requirements.md sections 2, 3, 7.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/bytes.hpp"
#include "ddp/ddp.hpp"
#include "gen/queues.hpp"

namespace rnic::model {

using spec::Cause;
using spec::TptResult;
using spec::WcStatus;

namespace {

Cause tagged_cause(TptResult r) {
  switch (r) {
    case TptResult::kOk:
      return Cause::kNone;
    case TptResult::kStag:
    case TptResult::kRights:
      return Cause::kDdpTaggedStag;
    case TptResult::kAssoc:
      return Cause::kDdpTaggedAssoc;
    case TptResult::kWrap:
      return Cause::kDdpTaggedWrap;
    case TptResult::kBounds:
      return Cause::kDdpTaggedBounds;
    case TptResult::kAlign:  // only of a lookup of unit atomic
    case TptResult::kBind:   // only of a registration, bind or local invalidation
      break;
  }
  return Cause::kNone;
}

/// The RDMAP opcode in the low four bits of byte 1 (RFC 5040). Where the extensions are enabled,
/// opcodes have a fifth bit: rdmap then refuses a tagged segment, or one on QN 0, with that bit set
///
spec::RdmapOpcode opcode_of(std::span<const uint8_t> b) {
  return static_cast<spec::RdmapOpcode>(b[1] & 0x0f);
}

/// The report of a WQE that was taken from an SRQ, and whose message does not end.
spec::RxDone flushed(uint16_t qpn, uint16_t tag) {
  return {
      .qpn = qpn, .kind = spec::DeliverKind::kRecv, .index = tag, .status = WcStatus::kWrFlushErr};
}

}  // namespace

/// Checks the header: version, QN, MSN, MO. A segment also fails if an earlier one of its QP has
/// such an error, or if it entered after a stop. Byte 0: 0x80 tagged, 0x40 last segment, low two
/// bits the DDP version. Untagged headers have the QN at byte 6, the MSN at 10 and the MO at 14.
/// Tagged headers have the STag at 2 and the TO at 6.
Ddp::Rx::Judged Ddp::Rx::header_check(const Qp& q, const RxUlpdu& u) const {
  const bool counts = q.running && q.counted != 0 && !q.failed;
  Judged j{.cause = counts ? u.hdr.cause : Cause::kLocalCatastrophic};
  if (j.cause != Cause::kNone) return j;
  const std::span<const uint8_t> b = u.data.bytes();
  j.is_tagged = !b.empty() && (b[0] & 0x80) != 0;
  j.is_last = !b.empty() && (b[0] & 0x40) != 0;
  j.header = j.is_tagged ? spec::kTaggedHeaderBytes : spec::kUntaggedHeaderBytes;
  if (b.size() < j.header || (b[0] & 3) != spec::kDvIetf) {
    j.cause = j.is_tagged ? Cause::kDdpTaggedVersion : Cause::kDdpUntaggedVersion;
    j.header = std::min(j.header, static_cast<uint32_t>(b.size()));
    return j;
  }
  if (j.is_tagged) return j;
  j.qn = base::load_be<uint32_t>(&b[6]);
  if (j.qn > spec::kQnResponse || (j.qn == spec::kQnResponse && !q.persist)) {
    j.cause = Cause::kDdpUntaggedQn;
  } else if (base::load_be<uint32_t>(&b[10]) != q.msn[j.qn]) {
    j.cause = Cause::kDdpUntaggedMsn;
  } else if (base::load_be<uint32_t>(&b[14]) != (j.qn == spec::kQnSend ? q.mo : 0)) {
    j.cause = Cause::kDdpUntaggedMo;
  }
  return j;
}

bool Ddp::Rx::needs_receive(const RxUlpdu& u) const {
  const Qp& q = qps_[u.hdr.qpn];
  if (q.receive != Receive::kNone) return false;
  const Judged j = header_check(q, u);
  return j.cause == Cause::kNone && !j.is_tagged && j.qn == spec::kQnSend;
}

void Ddp::Rx::received(uint16_t qpn, const spec::RqTakeRsp& take) {
  Qp& q = qps_[qpn];
  q.take = take.result;
  q.receive = take.result == spec::RqTake::kOk ? Receive::kActive : Receive::kMissing;
  q.wqe = take.wqe;
  q.shared = take.shared != 0;
  if (q.shared && (take.result == spec::RqTake::kOk || take.result == spec::RqTake::kMalformed))
    q.owed = take.wqe.index;
  q.capacity = 0;
  const std::array<const spec::Sge*, 3> sges{&q.wqe.sge0, &q.wqe.sge1, &q.wqe.sge2};
  for (size_t i = 0; i < q.wqe.num_sge; ++i) q.capacity += sges[i]->length;
}

void Ddp::Rx::tagged(Qp& q, const RxUlpdu& u, Judged& j, ExtentList& extents) {
  const uint32_t length = u.data.size() - j.header;
  const std::span<const uint8_t> b = u.data.bytes();
  if (opcode_of(b) == spec::RdmapOpcode::kRdmaWrite) {
    q.write_len = (q.written ? 0 : q.write_len) + length;
    q.written = j.is_last;
  }
  if (length == 0) return;  // no check of STag, TO or rights
  // The opcode has four bits, or five where the extensions are enabled. The reserved bits above it
  // are ignored.
  const auto opcode = static_cast<spec::RdmapOpcode>(b[1] & (q.persist ? 0x1f : 0x0f));
  j.cause = tagged_cause(ddp_.tpt_.translate(
      {.stag = base::load_be<uint32_t>(&b[2]),
       .tagged_offset = base::load_be<uint64_t>(&b[6]),
       .length = length,
       .pd = q.pd,
       .qpn = u.hdr.qpn,
       .rights = opcode == spec::RdmapOpcode::kReadResponse ? spec::kAccessLocalWrite
                                                            : spec::kAccessRemoteWrite,
       .last = 1},
      extents));
}

void Ddp::Rx::untagged(Qp& q, const RxUlpdu& u, Judged& j, ExtentList& extents) {
  if (j.is_last) ++q.msn[j.qn];
  if (j.qn != spec::kQnSend)
    return;  // requests, responses and Terminates are not placed: rdmap checks their length
  const uint32_t length = u.data.size() - j.header;
  const uint64_t from = q.mo;
  const bool over = from + length > UINT32_MAX;  // the message length exceeds 32 bits
  const bool missing = q.receive == Receive::kMissing;
  const spec::RdmapOpcode op = opcode_of(u.data.bytes());
  // Immediate Data takes a receive WQE and places nothing.
  const bool is_immediate =
      op == spec::RdmapOpcode::kImmediate || op == spec::RdmapOpcode::kImmediateSe;
  const uint32_t placed = is_immediate ? 0 : length;
  q.mo = static_cast<uint32_t>(from + length);
  j.total = is_immediate ? q.write_len : q.mo;
  q.write_len = 0;
  q.written = true;
  if (over) q.failed = true;  // the MO is no longer known
  if (j.is_last) {
    q.mo = 0;
    q.receive = Receive::kNone;
  }
  if (missing) {
    j.cause =
        q.take == spec::RqTake::kEmpty ? Cause::kDdpUntaggedNoBuffer : Cause::kLocalCatastrophic;
    if (q.take == spec::RqTake::kFailed && !q.shared) j.receive_status = WcStatus::kFatalErr;
    if (q.take == spec::RqTake::kMalformed) j.receive_status = WcStatus::kLocQpOpErr;
  } else if (over || (placed != 0 && from + placed > q.capacity)) {
    j.cause = Cause::kDdpUntaggedTooLong;
    j.receive_status = WcStatus::kLocLenErr;
    q.capacity = 0;
  } else {
    if (j.is_last && is_invalidation(q, u)) j.cause = check_invalidation(q, u, placed != 0);
    const TptResult own = place(u.hdr.qpn, from, placed, extents);
    if (j.cause == Cause::kNone && own != TptResult::kOk) {  // fault of our own buffer
      j.cause = Cause::kLocalCatastrophic;
      j.receive_status = WcStatus::kLocProtErr;
    }
    if (j.cause != Cause::kNone) give_back(extents);
  }
}

/// A Send with Invalidate whose version and opcode rdmap will accept.
bool Ddp::Rx::is_invalidation(const Qp& q, const RxUlpdu& u) {
  const std::span<const uint8_t> b = u.data.bytes();
  const spec::RdmapOpcode op = opcode_of(b);
  return b[1] >> 6 == spec::kRvIetf && (!q.persist || (b[1] & 0x10) == 0) &&
         (op == spec::RdmapOpcode::kSendInv || op == spec::RdmapOpcode::kSendSeInv);
}

/// May the peer invalidate this STag? RFC 5040 section 7.2, requirements.md section 7.
Cause Ddp::Rx::check_invalidation(const Qp& q, const RxUlpdu& u, bool pieces_follow) {
  ExtentList none;
  switch (ddp_.tpt_.translate({.stag = base::load_be<uint32_t>(&u.data.bytes()[2]),
                               .tagged_offset = 0,
                               .length = 0,
                               .pd = q.pd,
                               .qpn = u.hdr.qpn,
                               .rights = spec::kAccessRemoteInvalidate,
                               .invalidate = 1,
                               .last = !pieces_follow},
                              none)) {
    case TptResult::kOk:
      return Cause::kNone;
    case TptResult::kStag:
      return Cause::kRdmapInvStag;
    default:
      return Cause::kRdmapInvProtected;
  }
}

/// Stream rx_xlate: translates `length` bytes from byte `from` of the receive WQE's buffer. Makes a
/// lookup for each SGE that they touch, also after a failed one. The first failure is the result.
TptResult Ddp::Rx::place(uint16_t qpn, uint64_t from, uint32_t length, ExtentList& extents) {
  const Qp& q = qps_[qpn];
  const std::array<const spec::Sge*, 3> sges{&q.wqe.sge0, &q.wqe.sge1, &q.wqe.sge2};
  TptResult first = TptResult::kOk;
  uint64_t skip = from;
  uint32_t rest = length;
  for (size_t i = 0; i < q.wqe.num_sge && rest != 0; ++i) {
    const spec::Sge& sge = *sges[i];
    if (skip >= sge.length) {
      skip -= sge.length;
      continue;
    }
    const uint32_t part = std::min(rest, sge.length - static_cast<uint32_t>(skip));
    const TptResult r = ddp_.tpt_.translate({.stag = sge.stag,
                                             .tagged_offset = sge.tagged_offset + skip,
                                             .length = part,
                                             .pd = q.pd,
                                             .qpn = qpn,
                                             .rights = spec::kAccessLocalWrite,
                                             .last = part == rest},
                                            extents);
    if (first == TptResult::kOk) first = r;
    skip = 0;
    rest -= part;
  }
  return first;
}

void Ddp::Rx::give_back(ExtentList& extents) {
  for (const spec::Extent& e : extents.all()) ddp_.tpt_.retired({e.epoch});
  extents = {};
}

std::optional<Place> Ddp::Rx::take(RxUlpdu u) {
  const uint16_t qpn = u.hdr.qpn;
  Qp& q = qps_[qpn];
  Delivery d;
  d.done.qpn = qpn;
  std::optional<Place> place;

  ExtentList extents;
  Judged j = header_check(q, u);
  if (j.cause != Cause::kNone) {
    q.failed = true;
  } else {
    j.is_tagged ? tagged(q, u, j, extents) : untagged(q, u, j, extents);
  }
  const bool is_counted = q.counted != 0;
  if (is_counted) --q.counted;

  spec::RxSegment segment{
      .qpn = qpn, .persist = q.persist, .cause = j.cause, .ulpdu_length = u.hdr.length, .head = {}};
  const size_t head = std::min<size_t>(u.data.size(), segment.head.size());
  if (head != 0) std::memcpy(segment.head.data(), u.data.bytes().data(), head);
  const spec::RxVerdict verdict = ddp_.judge_.rx_segment(segment);

  // Reports a receive that ends in an error found here, if no earlier segment of its QP was
  // refused.
  if (j.receive_status != WcStatus::kSuccess && !q.refused) {
    d.reported = true;
    d.done = {.qpn = qpn,
              .kind = spec::DeliverKind::kRecv,
              .index = q.wqe.index,
              .status = j.receive_status};
  }
  if (verdict.accept == 0) {
    q.refused = true;
    // This report ends the owed WQE, unless the segment entered after a stop. A stop does not wait
    // for such a segment: flush_owed() reports the WQE.
    if (q.owed && is_counted && !d.reported) {
      d.reported = true;
      d.done = flushed(qpn, *q.owed);
    }
  } else {
    if (verdict.place != 0) {
      d.placed = true;
      place = Place{.qpn = qpn, .extents = std::move(extents), .data = u.data.slice(j.header)};
      place->extents.back().last = 1;
    }
    if (verdict.deliver != spec::DeliverKind::kNothing) {
      d.reported = true;
      d.done = {.qpn = qpn,
                .kind = verdict.deliver,
                .slot = verdict.slot,
                .index = q.wqe.index,
                .byte_len = verdict.deliver != spec::DeliverKind::kRead ? j.total : 0,
                .solicited = verdict.solicited,
                .status = WcStatus::kSuccess,
                .immediate = verdict.immediate};
    }
  }
  if (d.reported && d.done.kind != spec::DeliverKind::kRead) q.owed.reset();
  give_back(extents);
  if (d.placed || !deliveries_.empty()) {
    deliveries_.push(d);
  } else {
    deliver(d);
  }
  return place;
}

/// At a stop: reports the SRQ's WQE of the message that has begun, if any.
void Ddp::Rx::flush_owed(uint16_t qpn) {
  if (const auto tag = std::exchange(qps_[qpn].owed, {})) ddp_.out_.rx_done(flushed(qpn, *tag));
}

/// Reports a segment, or holds its report in two cases. A Send with Invalidate waits until tpt has
/// invalidated its STag. A later report of the same QP waits for the earlier held ones.
void Ddp::Rx::deliver(const Delivery& d) {
  const bool invalidates = d.reported && d.done.kind == spec::DeliverKind::kInvalidate;
  if (invalidates || (d.reported && qps_[d.done.qpn].held != 0)) {
    ++qps_[d.done.qpn].held;
    held_.push(d);
    Drain& drain = ddp_.drains_[d.done.qpn];
    if (drain.rx != 0) {
      --drain.rx;
      ++drain.held;
    }
    if (invalidates) ddp_.out_.invalidate({static_cast<uint32_t>(d.done.immediate)});
    return;
  }
  report(d, &Drain::rx);
}

void Ddp::Rx::report(const Delivery& d, uint32_t Drain::*way) {
  if (d.reported) ddp_.out_.rx_done(d.done);
  --qps_[d.done.qpn].inside;
  ddp_.left(d.done.qpn, way);
}

/// tpt invalidates in the order of Out::invalidate(). So this call is for the oldest held report.
/// It releases that report, and those behind it up to the next one with an invalidation.
void Ddp::Rx::invalidated() {
  RNIC_CHECK(!held_.empty(), "an unexpected invalidation");
  bool next = true;  // the oldest report, which has the invalidation
  while (!held_.empty() && (next || held_.front().done.kind != spec::DeliverKind::kInvalidate)) {
    next = false;
    const Delivery d = held_.pop();
    --qps_[d.done.qpn].held;
    report(d, &Drain::held);
  }
}

void Ddp::Rx::place_done(const spec::PlaceDone&) {
  RNIC_CHECK(!deliveries_.empty() && deliveries_.front().placed, "place_done without a placement");
  ++placed_;
  do {
    deliver(deliveries_.pop());
  } while (!deliveries_.empty() && !deliveries_.front().placed);
}

/// Every order waits for the segments that are inside. Start waits as well: otherwise it would
/// treat segments that mpa delivered after the stop as its own.
void Ddp::control(const spec::QpCtlDdp& ctl) {
  Tx::Qp& t = tx.qps_[ctl.qpn];
  Rx::Qp& r = rx.qps_[ctl.qpn];
  Drain& d = drains_[ctl.qpn];
  if (ctl.op == spec::QpOp::kStart) d.start = ctl.params;
  if (ctl.op == spec::QpOp::kStop) {
    tx.drop_waiting(ctl.qpn, tx.sq_slots_ + 2);
    t.running = false;
    r.stopping = true;
  }
  ++d.orders;
  d.tx = t.in_flight;
  d.rx = r.inside - r.held;
  d.held = r.held;
  maybe_drained(ctl.qpn);
}

void Ddp::left(uint16_t qpn, uint32_t Drain::*way) {
  Drain& d = drains_[qpn];
  if (d.*way == 0) return;
  --(d.*way);
  maybe_drained(qpn);
}

/// Completes the orders once every segment that was inside at the latest one has drained.
void Ddp::maybe_drained(uint16_t qpn) {
  Drain& d = drains_[qpn];
  if (d.rx + d.held + d.tx != 0) return;
  Rx::Qp& r = rx.qps_[qpn];
  if (std::exchange(r.stopping, false)) {
    r.running = false;
    rx.flush_owed(qpn);
  }
  if (const auto params = std::exchange(d.start, {})) {
    tx.drop_waiting(qpn, tx.sq_slots_ + 2);
    tx.qps_[qpn] = {.running = true, .pd = params->pd};
    r = {.running = true,
         .persist = params->persist != 0,
         .pd = params->pd,
         .inside = r.inside,
         .held = r.held,
         .counted = r.inside,
         .wqe = {},
         .owed = {}};
  }
  for (uint32_t n = std::exchange(d.orders, 0); n != 0; --n) out_.qp_ack_ddp({qpn});
}

std::string Ddp::waiting_for() const {
  std::string s;
  for (size_t i = 0; i < drains_.size(); ++i) {
    const auto& t = tx.qps_[i];
    const Drain& d = drains_[i];
    if (d.orders != 0) {
      s += fmt::format("ddp: an order to QP {} waits for {} segments out and {} in\n", i, d.tx,
                       d.rx + d.held);
    } else if (t.running && (t.wants || t.wants_term)) {
      s += fmt::format("ddp: QP {} wants to send {} and waits for llp_if's grant\n", i,
                       t.wants_term ? "a Terminate" : "a segment");
    }
  }
  if (!rx.held_.empty())
    s += fmt::format("ddp: {} messages wait for tpt to invalidate\n", rx.held_.size());
  if (!rx.deliveries_.empty())
    s += fmt::format("ddp: {} segments wait to be placed\n", rx.deliveries_.size());
  return s;
}

}  // namespace rnic::model

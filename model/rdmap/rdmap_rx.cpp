// Received segments: requirements.md sections 3 and 4; the checks are in the order of section 3.
// Byte 0: 0x80 tagged, 0x40 last segment. Byte 1: RDMAP version in the upper two bits, then opcode.
#include "base/bytes.hpp"
#include "gen/queues.hpp"
#include "rdmap/rdmap.hpp"

namespace rnic::model {

using spec::Cause;
using spec::DeliverKind;
using spec::RdmapOpcode;
using spec::WcStatus;

namespace {

constexpr uint32_t kUntagged = spec::kUntaggedHeaderBytes;

/// Whether an opcode is allowed on this kind of segment. Unsupported opcodes are allowed on none.
bool fits(RdmapOpcode op, bool tagged, uint32_t qn) {
  switch (op) {
    case RdmapOpcode::kRdmaWrite:
    case RdmapOpcode::kReadResponse:
      return tagged;
    case RdmapOpcode::kSend:
    case RdmapOpcode::kSendSe:
    case RdmapOpcode::kSendInv:
    case RdmapOpcode::kSendSeInv:
    case RdmapOpcode::kImmediate:
    case RdmapOpcode::kImmediateSe:
      return !tagged && qn == spec::kQnSend;
    case RdmapOpcode::kReadRequest:
    case RdmapOpcode::kFlushRequest:
    case RdmapOpcode::kAtomicRequest:
    case RdmapOpcode::kAtomicWriteRequest:
      return !tagged && qn == spec::kQnRequest;
    case RdmapOpcode::kFlushResponse:
    case RdmapOpcode::kAtomicResponse:
    case RdmapOpcode::kAtomicWriteResponse:
      return !tagged && qn == spec::kQnResponse;
    case RdmapOpcode::kTerminate:
      return !tagged && qn == spec::kQnTerminate;
    default:
      return false;
  }
}

/// Opcodes of RFC 7306 and of the persistence draft: valid only where the extensions are enabled.
bool is_extension(RdmapOpcode op) {
  return op == RdmapOpcode::kFlushRequest || op == RdmapOpcode::kFlushResponse ||
         op == RdmapOpcode::kAtomicRequest || op == RdmapOpcode::kAtomicResponse ||
         op == RdmapOpcode::kAtomicWriteRequest || op == RdmapOpcode::kAtomicWriteResponse;
}

}  // namespace

spec::RxVerdict Rdmap::rx_segment(const spec::RxSegment& s) {
  Qp& q = qps_[s.qpn];
  spec::RxVerdict v;
  if (!q.running || q.failed) return v;
  q.heard = true;
  const Cause cause = s.cause != Cause::kNone ? s.cause : rx_check(q, s, v);
  if (cause == Cause::kPeerTerminate) {
    peer_terminate(s.qpn, s);
    return {};
  }
  if (cause != Cause::kNone) {
    // The Terminate includes the segment's headers if its DDP header is complete.
    const bool has_head =
        s.ulpdu_length >= ((s.head[0] & 0x80) != 0 ? spec::kTaggedHeaderBytes : kUntagged);
    fail(s.qpn, {.cause = cause,
                 .head = has_head ? std::span<const uint8_t>(s.head) : std::span<const uint8_t>{},
                 .ulpdu_length = s.ulpdu_length});
    return {};
  }
  v.accept = 1;
  if (v.place != 0) ++placed_;
  return v;
}

Cause Rdmap::rx_check(Qp& q, const spec::RxSegment& s, spec::RxVerdict& v) {
  const bool tagged = (s.head[0] & 0x80) != 0;
  const bool last = (s.head[0] & 0x40) != 0;
  const uint32_t qn = tagged ? 0 : base::load_be<uint32_t>(&s.head[6]);
  // Reserved bits are ignored: opcodes have four bits, or five where the extensions are enabled
  //
  const auto op = static_cast<RdmapOpcode>(s.head[1] & (s.persist != 0 ? 0x1f : 0x0f));
  const uint32_t length = s.ulpdu_length - (tagged ? spec::kTaggedHeaderBytes : kUntagged);

  if (s.head[1] >> 6 != spec::kRvIetf) return Cause::kRdmapVersion;
  if (!fits(op, tagged, qn)) return Cause::kRdmapOpcode;
  if (is_extension(op) && s.persist == 0) return Cause::kRdmapOpcode;
  switch (op) {
    case RdmapOpcode::kFlushRequest:
      return flush_request(q, s, length, last);
    case RdmapOpcode::kFlushResponse:
      return empty_response(q, Kind::kFlush, length, last, v);
    case RdmapOpcode::kAtomicRequest:
      return atomic_request(q, s, length, last);
    case RdmapOpcode::kAtomicResponse:
      return atomic_response(q, s, length, last);
    case RdmapOpcode::kAtomicWriteRequest:
      return atomic_write_request(q, s, length, last);
    case RdmapOpcode::kAtomicWriteResponse:
      return empty_response(q, Kind::kAtomicWrite, length, last, v);
    case RdmapOpcode::kReadRequest:
      if (length != spec::ReadRequest::kBytes || !last) return Cause::kRdmapLength;
      return request_in(q, s,
                        {.read = spec::ReadRequest::unpack(std::span(s.head).subspan(kUntagged))});
    case RdmapOpcode::kReadResponse:
      return read_response(q, s, length, last, v);
    case RdmapOpcode::kTerminate:
      return Cause::kPeerTerminate;
    case RdmapOpcode::kSend:
    case RdmapOpcode::kSendSe:
      if (last) v.deliver = DeliverKind::kRecv;
      v.solicited = last && op == RdmapOpcode::kSendSe;
      break;
    case RdmapOpcode::kSendInv:
    case RdmapOpcode::kSendSeInv:  // ddp has had tpt check the STag; the receive reports it
      if (last) v.deliver = DeliverKind::kInvalidate;
      v.solicited = last && op == RdmapOpcode::kSendSeInv;
      if (last) v.immediate = base::load_be<uint32_t>(&s.head[2]);
      break;
    case RdmapOpcode::kImmediate:
    case RdmapOpcode::kImmediateSe:  // RFC 7306 section 6.1: delivered, not placed
      // It must be the only segment of its message. With an MO above 0 it would be the end of a
      // Send whose earlier segments were accepted.
      if (length != sizeof(uint64_t) || !last || base::load_be<uint32_t>(&s.head[14]) != 0)
        return Cause::kRdmapLength;
      v.deliver = DeliverKind::kImmediate;
      v.solicited = op == RdmapOpcode::kImmediateSe;
      v.immediate = base::load_be<uint64_t>(&s.head[kUntagged]);
      return Cause::kNone;
    default:
      break;  // RDMA Write
  }
  v.place = length != 0;
  return Cause::kNone;
}

/// Puts a request of the peer into the QP's IRD.
Cause Rdmap::request_in(Qp& q, const spec::RxSegment& s, Inbound in) {
  if (q.closed()) return Cause::kLlpLost;  // the response would follow our FIN
  if (q.ird_count >= q.params.ird) return Cause::kDdpUntaggedNoBuffer;
  in.head = s.head;
  in.ulpdu_length = s.ulpdu_length;
  in.watermark = placed_;
  ird(q, q.ird_count++) = in;
  update_responder(s.qpn);
  return Cause::kNone;
}

// The cause is kRdmapLength (0/2/07) also for no flag or an unknown flag, and for an STag to
// invalidate in the DDP header.
Cause Rdmap::flush_request(Qp& q, const spec::RxSegment& s, uint32_t length, bool last) {
  if (length != spec::FlushRequest::kBytes || !last) return Cause::kRdmapLength;
  const auto f = spec::FlushRequest::unpack(std::span(s.head).subspan(kUntagged));
  const uint32_t unknown = f.flags & ~(spec::kFlushPersistent | spec::kFlushVisible);
  if (f.flags == 0 || unknown != 0 || base::load_be<uint32_t>(&s.head[2]) != 0)
    return Cause::kRdmapLength;
  return request_in(q, s, {.kind = Kind::kFlush, .flush = f});
}

// RFC 7306 section 5.2.1; undefined AOpCodes are unknown opcodes.
Cause Rdmap::atomic_request(Qp& q, const spec::RxSegment& s, uint32_t length, bool last) {
  if (length != spec::AtomicRequest::kBytes || !last) return Cause::kRdmapLength;
  const auto a = spec::AtomicRequest::unpack(std::span(s.head).subspan(kUntagged));
  if (a.aopcode != spec::kAtomicFetchAdd && a.aopcode != spec::kAtomicCmpSwap)
    return Cause::kRdmapOpcode;
  return request_in(q, s, {.kind = Kind::kAtomic, .atomic = a});
}

// draft-talpey-rdma-commit-01 section 3.1.3.1; an STag to invalidate is an error.
Cause Rdmap::atomic_write_request(Qp& q, const spec::RxSegment& s, uint32_t length, bool last) {
  if (length != spec::AtomicWriteRequest::kBytes || !last) return Cause::kRdmapLength;
  const auto w = spec::AtomicWriteRequest::unpack(std::span(s.head).subspan(kUntagged));
  if (w.length != sizeof(uint64_t) || base::load_be<uint32_t>(&s.head[2]) != 0)
    return Cause::kRdmapLength;
  return request_in(q, s, {.kind = Kind::kAtomicWrite, .write = w});
}

// our oldest request must be an atomic with this identifier. Its ORD slot is free at once.
// Its WQE is done when unit atomic has stored the value, so the verdict delivers nothing.
Cause Rdmap::atomic_response(Qp& q, const spec::RxSegment& s, uint32_t length, bool last) {
  if (length != spec::AtomicResponse::kBytes || !last) return Cause::kRdmapLength;
  const auto r = spec::AtomicResponse::unpack(std::span(s.head).subspan(kUntagged));
  if (q.ord_count == 0 || ord(q, 0).kind != Kind::kAtomic) return Cause::kRdmapOpcode;
  if (ord(q, 0).msn != r.request_id) return Cause::kRdmapLength;  // requirements.md section 7
  const Outstanding& o = ord(q, 0);
  out_.result({.op = spec::AtomicOp::kResult,
               .qpn = s.qpn,
               .pd = q.params.pd,
               .slot = o.slot,
               .stag = o.sink_stag,
               .tagged_offset = o.sink_to,
               .right = spec::kAccessLocalWrite,
               .data = r.value});
  spec::RxVerdict unused;  // stays off the segment's verdict
  answered(q, unused);
  return Cause::kNone;
}

// A response without payload, of a Flush or Atomic Write. A-19: our oldest request must be of this
// kind.
Cause Rdmap::empty_response(Qp& q, Kind kind, uint32_t length, bool last, spec::RxVerdict& v) {
  if (length != 0 || !last) return Cause::kRdmapLength;
  if (q.ord_count == 0 || ord(q, 0).kind != kind) return Cause::kRdmapOpcode;
  answered(q, v);
  return Cause::kNone;
}

/// Completes our oldest request: reports its WQE in the verdict, and frees its ORD slot.
void Rdmap::answered(Qp& q, spec::RxVerdict& v) {
  v.deliver = DeliverKind::kRead;
  v.slot = ord(q, 0).slot;
  q.ord_head = static_cast<uint8_t>((q.ord_head + 1) % q.params.ord);
  --q.ord_count;
}

// Our oldest request must be a Read. The segment must begin with the Read's next byte, and its Last
// flag must be set exactly at the Read's end.
Cause Rdmap::read_response(Qp& q, const spec::RxSegment& s, uint32_t length, bool last,
                           spec::RxVerdict& v) {
  if (q.ord_count == 0) return Cause::kRdmapOpcode;
  Outstanding& o = ord(q, 0);
  const uint32_t stag = base::load_be<uint32_t>(&s.head[2]);
  const uint64_t to = base::load_be<uint64_t>(&s.head[6]);
  const uint32_t rest = o.length - o.received;
  if (o.kind != Kind::kRead || stag != o.sink_stag || to != o.sink_to + o.received ||
      length > rest || last != (length == rest)) {
    return Cause::kRdmapOpcode;
  }
  o.received += length;
  v.place = length != 0;
  if (last) answered(q, v);
  return Cause::kNone;
}

// RFC 5040 section 5.4. A Terminate with the Read Request header of one of our Reads fails that
// Read (by_sink). With only a DDP header of QN 1, its MSN identifies the request of ours that fails
// (by_msn): a Flush, atomic or Atomic Write.
void Rdmap::peer_terminate(uint16_t qpn, const spec::RxSegment& s) {
  // The Terminate's body: ctrl 4, length 2, DDP header (QN at its byte 6, MSN at 10), Read Request.
  constexpr uint32_t kBody = kUntagged;
  constexpr uint32_t kRequest = kBody + 6 + kUntagged;
  Qp& q = qps_[qpn];
  const auto ctrl = spec::TerminateCtrl::unpack(std::span(s.head).subspan(kBody));
  Failure f{.cause = Cause::kPeerTerminate, .head = {}};
  f.has_peer_term = true;
  if (s.ulpdu_length >= kBody + 2) f.peer_term = base::load_be<uint16_t>(&s.head[kBody]);
  const bool shows =
      ctrl.has_length != 0 && ctrl.has_ddp_header != 0 && (s.head[kBody + 6] & 0x80) == 0;
  const bool by_sink =
      shows && ctrl.has_rdma_header != 0 && s.ulpdu_length >= kRequest + spec::ReadRequest::kBytes;
  const bool by_msn = shows && ctrl.has_rdma_header == 0 && s.ulpdu_length >= kRequest &&
                      base::load_be<uint32_t>(&s.head[kBody + 12]) == spec::kQnRequest;
  if (by_sink || by_msn) {
    const uint32_t msn = base::load_be<uint32_t>(&s.head[kBody + 16]);
    const uint32_t stag = base::load_be<uint32_t>(&s.head[kRequest]);
    const uint64_t to = base::load_be<uint64_t>(&s.head[kRequest + 4]);
    for (uint32_t i = 0; i < q.ord_count; ++i) {
      const Outstanding& o = ord(q, i);
      if ((o.kind != Kind::kRead) != by_msn) continue;
      // The header has the Read's sink, or (tx_fault() of the peer) the sink of the part that was
      // not returned.
      if (by_msn ? o.msn != msn
                 : o.sink_stag != stag || (o.sink_to != to && o.sink_to + o.received != to))
        continue;
      f.has_wr = true;
      f.slot = o.slot;
      // Terminate 0/1/xx: a remote protection error. 0/2/05, 0/2/06: version or opcode not
      // accepted.
      if (ctrl.layer == 0 && ctrl.etype == 1) {
        f.status = WcStatus::kRemAccessErr;
      } else if (ctrl.layer == 0 && ctrl.etype == 2 && (ctrl.code == 5 || ctrl.code == 6)) {
        f.status = WcStatus::kRemInvReqErr;
      } else {
        f.status = WcStatus::kRemOpErr;
      }
      break;
    }
  }
  fail(qpn, f);
}

}  // namespace rnic::model

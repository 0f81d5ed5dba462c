// Transmit path: cuts messages into segments. RFC 5041 section 5.2, requirements.md section 2.
#include <algorithm>

#include "base/bytes.hpp"
#include "ddp/ddp.hpp"
#include "gen/queues.hpp"

namespace rnic::model {

using spec::RdStatus;
using spec::TptResult;
using spec::TxSource;

Ddp::Tx::Tx(Ddp& ddp, const spec::Sizes& sizes)
    : ddp_(ddp),
      sq_slots_(sizes.sq_slots),
      qps_(sizes.num_qps),
      messages_(sizes.num_qps * (sizes.sq_slots + 2)) {}

const Ddp::Tx::Message& Ddp::Tx::slot(uint16_t qpn, TxSource source) const {
  const size_t first = size_t{qpn} * (sq_slots_ + 2);
  if (source == TxSource::kSq) return messages_[first + qps_[qpn].sq_head];
  return messages_[first + sq_slots_ + (source == TxSource::kTerm ? 1 : 0)];
}
Ddp::Tx::Message& Ddp::Tx::slot(uint16_t qpn, TxSource source) {
  return const_cast<Message&>(static_cast<const Tx*>(this)->slot(qpn, source));
}

void Ddp::Tx::message(TxMessage m) {
  const uint16_t qpn = m.hdr.qpn;
  Qp& q = qps_[qpn];
  if (!q.running || (q.dropping && m.hdr.source != TxSource::kTerm)) return;
  if (m.hdr.source == TxSource::kSq) {
    RNIC_CHECK(q.sq_count < sq_slots_, "QP {} has no slot for a send message", qpn);
    const uint32_t at = (q.sq_head + q.sq_count++) % sq_slots_;
    messages_[size_t{qpn} * (sq_slots_ + 2) + at] = {.m = std::move(m), .full = true};
  } else {
    if (m.hdr.source == TxSource::kTerm) fault(qpn);
    Message& s = slot(qpn, m.hdr.source);
    RNIC_CHECK(!s.full, "QP {} has no slot for a response", qpn);
    s = {.m = std::move(m), .full = true};
  }
  want(qpn);
}

/// At most one want per QP at a time, plus one for a Terminate.
void Ddp::Tx::want(uint16_t qpn) {
  Qp& q = qps_[qpn];
  if (has(qpn, TxSource::kTerm)) {
    if (q.wants_term) return;
    q.wants_term = true;
    ddp_.out_.tx_want({.qpn = qpn, .is_term = 1});
  } else if (!q.wants && !q.dropping && (has(qpn, TxSource::kSq) || has(qpn, TxSource::kResp))) {
    q.wants = true;
    ddp_.out_.tx_want({.qpn = qpn, .is_term = 0});
  }
}

/// Drops all waiting messages of the QP except a Terminate.
void Ddp::Tx::fault(uint16_t qpn) {
  qps_[qpn].dropping = true;
  drop_waiting(qpn, sq_slots_ + 1);
}

/// Drops the messages in the QP's first `slots` slots; the Terminate's is the last of all.
void Ddp::Tx::drop_waiting(uint16_t qpn, size_t slots) {
  Qp& q = qps_[qpn];
  const size_t first = size_t{qpn} * (sq_slots_ + 2);
  for (size_t i = 0; i < slots; ++i) messages_[first + i] = {};
  q.sq_head = q.sq_count = 0;
  q.inside_message = false;
}

bool Ddp::Tx::may_choose(uint16_t qpn, TxSource source) const {
  if (!has(qpn, source)) return false;
  if (source == TxSource::kTerm) return true;
  const Qp& q = qps_[qpn];
  return !q.dropping && (!q.inside_message || q.last == source);
}

std::optional<TxSource> Ddp::Tx::choice(uint16_t qpn) const {
  const Qp& q = qps_[qpn];
  const TxSource other = q.last == TxSource::kSq ? TxSource::kResp : TxSource::kSq;
  for (const TxSource s : {TxSource::kTerm, other, q.last}) {
    if (may_choose(qpn, s)) return s;
  }
  return std::nullopt;
}

/// Byte 0: 0x80 tagged, 0x40 last segment, the DDP version. Byte 1: RDMAP version and opcode.
void Ddp::Tx::put_header(TxUlpdu& u, const Message& m, bool last) const {
  const spec::TxMessageHdr& h = m.m.hdr;
  uint8_t* const b = u.header.data();
  b[0] = static_cast<uint8_t>((h.is_tagged != 0 ? 0x80 : 0) | (last ? 0x40 : 0) | spec::kDvIetf);
  b[1] = static_cast<uint8_t>(spec::kRvIetf << 6 | static_cast<uint8_t>(h.opcode));
  if (h.is_tagged != 0) {
    base::store_be<uint32_t>(b + 2, h.stag);
    base::store_be<uint64_t>(b + 6, h.tagged_offset + m.offset);
    u.header_bytes = spec::kTaggedHeaderBytes;
  } else {
    base::store_be<uint32_t>(b + 2, h.stag);  // to be invalidated, or 0
    base::store_be<uint32_t>(b + 6, h.qn);
    base::store_be<uint32_t>(b + 10, m.msn);
    base::store_be<uint32_t>(b + 14, m.offset);
    u.header_bytes = spec::kUntaggedHeaderBytes;
  }
}

namespace {

/// Walks over `length` bytes of the SGEs, from byte `offset` of SGE `index` on. Leaves `index` and
/// `offset` at the byte after them. Calls piece(STag, address, bytes, rest) for the part of each
/// SGE; rest: the bytes that are left, this part included.
template <class Piece>
void walk(std::span<const uint8_t> sges, uint32_t& index, uint32_t& offset, uint32_t length,
          Piece piece) {
  for (uint32_t rest = length; rest != 0;) {
    const auto sge = spec::WqeSge::unpack(sges.subspan(size_t{index} * spec::WqeSge::kBytes));
    const uint32_t part = std::min(rest, sge.length - offset);
    if (part != 0) piece(sge.lkey, sge.address + offset, part, rest);
    rest -= part;
    offset += part;
    if (offset == sge.length) {
      ++index;
      offset = 0;
    }
  }
}

}  // namespace

void Ddp::Tx::skip(Message& m, uint32_t length) const {
  walk(m.m.body.bytes(), m.sge, m.sge_offset, length,
       [](uint32_t, uint64_t, uint32_t, uint32_t) {});
}

/// Stream tx_xlate: translates the segment's bytes. Makes a lookup for each SGE that they touch,
/// also after a failed one. The first failure is the result. Each segment of a Read Response checks
/// the right again; rdmap has checked the rights of a Flush.
void Ddp::Tx::fetch(Scheduled& s) {
  const uint16_t qpn = s.segment.ulpdu.hdr.qpn;
  if (s.segment.fetches) {
    walk(s.body.bytes(), s.sge, s.sge_offset, s.fetch.hdr.length,
         [&](uint32_t stag, uint64_t at, uint32_t part, uint32_t rest) {
           const TptResult r = ddp_.tpt_.translate({.stag = stag,
                                                    .tagged_offset = at,
                                                    .length = part,
                                                    .pd = qps_[qpn].pd,
                                                    .qpn = qpn,
                                                    .rights = s.rights,
                                                    .last = part == rest},
                                                   s.fetch.extents);
           if (s.segment.result == TptResult::kOk) s.segment.result = r;
         });
    if (s.segment.result != TptResult::kOk) {  // nothing is fetched: retire the extents found
      for (const spec::Extent& e : s.fetch.extents.all()) ddp_.tpt_.retired({e.epoch});
      s.fetch.extents = {};
      s.segment.fetches = false;
    }
  }
  s.body = {};
  if (!s.frees_slot) return;
  // A Flush Response keeps its slot until assemble() knows the result of its read-back.
  if (s.segment.source == TxSource::kSq)
    ddp_.out_.sq_slot_free({qpn});
  else if (s.segment.source == TxSource::kResp && !s.segment.is_flush)
    ddp_.out_.resp_slot_free({qpn});
}

std::optional<Ddp::Scheduled> Ddp::Tx::schedule(const spec::TxGrant& grant, TxSource source) {
  const uint16_t qpn = grant.qpn;
  Qp& q = qps_[qpn];
  (grant.is_term != 0 ? q.wants_term : q.wants) = false;
  if (!q.running || !may_choose(qpn, source)) return std::nullopt;

  Message& m = slot(qpn, source);
  const spec::TxMessageHdr h = m.m.hdr;
  if (m.offset == 0) {  // first segment: assign the MSN and take the segment size
    m.mulpdu = grant.mulpdu;
    if (h.is_tagged == 0) m.msn = q.msn[h.qn]++;
  }
  const uint32_t header = h.is_tagged != 0 ? spec::kTaggedHeaderBytes : spec::kUntaggedHeaderBytes;
  const uint32_t length = std::min<uint32_t>(h.length - m.offset, m.mulpdu - header);
  const bool last = m.offset + length == h.length;
  // A Flush Response has no payload. It fetches one byte as its read-back (a probe), and drops it.
  const bool probe = source == TxSource::kResp && h.is_tagged == 0 && h.num_sge != 0;
  const uint32_t fetched = probe ? 1 : length;

  Scheduled s;
  s.segment.source = source;
  s.segment.offset = m.offset;
  TxUlpdu& u = s.segment.ulpdu;
  put_header(u, m, last);
  u.hdr = {.qpn = qpn,
           .length = static_cast<uint16_t>(header + length),
           .done = static_cast<uint8_t>(last && h.done != 0),
           .slot = h.slot,
           .is_term = source == TxSource::kTerm};
  if (length != 0 && h.is_inline != 0) {
    u.payload = m.m.body.slice(m.offset, length);
  } else if (fetched != 0) {
    s.segment.fetches = true;
    s.segment.probe = probe;
    s.fetch.qpn = qpn;
    s.fetch.hdr = {.length = fetched,
                   .has_watermark = h.has_watermark != 0 && m.offset == 0,
                   .watermark = h.watermark};
    s.body = m.m.body;
    s.sge = m.sge;
    s.sge_offset = m.sge_offset;
    // qp has checked the keys of the send queue, and reading needs no local right.
    if (source == TxSource::kResp && h.is_tagged != 0) s.rights = spec::kAccessRemoteRead;
    skip(m, fetched);
  }
  s.segment.is_fetch_end = last && source == TxSource::kResp && h.is_tagged != 0 && length != 0;
  s.segment.waits = fetched == 0 && h.has_watermark != 0;
  s.segment.is_flush = source == TxSource::kResp && h.is_tagged == 0 && h.has_watermark != 0;
  s.segment.watermark = h.watermark;
  m.offset += length;
  ++q.in_flight;

  q.last = source == TxSource::kTerm ? q.last : source;
  q.inside_message = !last;
  if (last) {
    m = {};
    s.frees_slot = true;
    if (source == TxSource::kSq) {
      q.sq_head = static_cast<uint8_t>((q.sq_head + 1) % sq_slots_);
      --q.sq_count;
    }
  }
  want(qpn);
  return s;
}

std::optional<TxUlpdu> Ddp::Tx::assemble(Segment s, PayloadData payload) {
  const uint16_t qpn = s.ulpdu.hdr.qpn;
  Qp& q = qps_[qpn];
  std::optional<TxUlpdu> out;
  const bool good = s.result == TptResult::kOk && payload.hdr.status == RdStatus::kOk;
  if (good && (!q.bad || s.source == TxSource::kTerm)) {
    if (s.fetches && !s.probe) s.ulpdu.payload = std::move(payload.data);
    // The Flush Response is final now: the QP's next request may be served.
    if (s.is_flush) ddp_.out_.resp_slot_free({qpn});
    out = std::move(s.ulpdu);
  } else if (!good && !q.bad) {
    q.bad = true;
    ddp_.out_.tx_fault({.qpn = qpn,
                        .source = s.source,
                        .slot = s.ulpdu.hdr.slot,
                        .offset = s.offset,
                        .status = payload.hdr.status,
                        .result = s.result});
  }
  // No report for a dropped segment: its QP has failed, and rdmap clears its count then.
  if (s.is_fetch_end && out) ddp_.out_.resp_fetched({qpn});
  --q.in_flight;
  ddp_.left(qpn, &Drain::tx);
  return out;
}

}  // namespace rnic::model

// Parses, compares and changes FPDUs. See replay/segment.hpp.
#include "replay/segment.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.hpp"
#include "mpa/crc32c.hpp"
#include "rnic/verbs_types.hpp"

namespace rnic::app {

namespace {

// Bytes: of an FPDU's length field and CRC; of a Read Request's payload (RFC 5040 section 4.4: sink
// STag at 0, sink TO at 4, size at 12, source STag at 16, source TO at 20).
constexpr size_t kLength = 2, kCrc = 4, kReadRequest = 28;
constexpr uint8_t kTaggedBit = 0x80, kLastBit = 0x40;  // of DDP's control octet

uint32_t be32(std::span<const uint8_t> b, size_t at) { return base::load_be<uint32_t>(&b[at]); }
uint64_t be64(std::span<const uint8_t> b, size_t at) { return base::load_be<uint64_t>(&b[at]); }

/// The CRC that the FPDU should have, and (crc_in) the CRC that its last 4 bytes hold: reflected,
/// lowest byte first (RFC 5044 section 4.4).
uint32_t crc_of(std::span<const uint8_t> fpdu) {
  return model::crc32c(fpdu.first(fpdu.size() - kCrc));
}
uint32_t crc_in(std::span<const uint8_t> fpdu) {
  return base::load_le<uint32_t>(&fpdu[fpdu.size() - kCrc]);
}

}  // namespace

bool carries_stag(spec::RdmapOpcode o) {
  return o == spec::RdmapOpcode::kSendInv || o == spec::RdmapOpcode::kSendSeInv;
}

std::optional<Segment> parse_fpdu(std::span<const uint8_t> f) {
  if (f.size() < kLength + kCrc) return std::nullopt;
  const size_t ulpdu = base::load_be<uint16_t>(f.data());
  if ((kLength + ulpdu + 3) / 4 * 4 + kCrc != f.size() || ulpdu < 2) return std::nullopt;
  const auto b = f.subspan(kLength, ulpdu);
  Segment s;
  s.is_tagged = (b[0] & kTaggedBit) != 0;
  s.is_last = (b[0] & kLastBit) != 0;
  s.ddp = static_cast<uint8_t>(b[0] & ~kLastBit);
  s.rdmap = b[1];
  // 4 bits. On a stream with the extensions an opcode has 5: refuse_words() in make_plan.cpp
  // refuses the messages that use the fifth.
  s.opcode = static_cast<spec::RdmapOpcode>(b[1] & 0x0f);
  s.crc_good = crc_of(f) == crc_in(f);
  const size_t head = s.is_tagged ? spec::kTaggedHeaderBytes : spec::kUntaggedHeaderBytes;
  if (ulpdu < head) return std::nullopt;
  if (s.is_tagged) {
    s.stag = be32(b, 2);
    s.to = be64(b, 6);
  } else {
    s.word = be32(b, 2);
    s.qn = be32(b, 6);
    s.msn = be32(b, 10);
    s.mo = be32(b, 14);
  }
  s.payload = b.subspan(head);
  return s;
}

bool Message::add(std::span<const uint8_t> fpdu) {
  const auto s = parse_fpdu(fpdu);
  if (!s) return false;
  if (fpdus.empty()) {
    head = *s;
    head.payload = {};
    is_contiguous = s->is_tagged || s->mo == 0;
  } else {
    is_contiguous = is_contiguous && s->ddp == head.ddp && s->rdmap == head.rdmap &&
                    s->stag == head.stag && s->word == head.word && s->qn == head.qn &&
                    s->msn == head.msn &&
                    (s->is_tagged ? s->to == head.to + payload.size() : s->mo == payload.size());
  }
  crc_good = crc_good && s->crc_good;
  payload.insert(payload.end(), s->payload.begin(), s->payload.end());
  fpdus.emplace_back(fpdu.begin(), fpdu.end());
  is_whole = s->is_last;
  return true;
}

std::string Message::describe() const {
  std::string s(to_string(head.opcode));
  if (head.is_tagged) {
    s += fmt::format(" stag={:#010x} to={:#x}", head.stag, head.to);
  } else {
    s += fmt::format(" qn={} msn={}", head.qn, head.msn);
    if (carries_stag(head.opcode)) s += fmt::format(" invalidate={:#010x}", head.word);
  }
  if (const auto r = read_request_of(*this)) {
    s += fmt::format(" sink={:#010x}+{:#x} size={} source={:#010x}+{:#x}", r->sink_stag, r->sink_to,
                     r->length, r->source_stag, r->source_to);
  } else if (const auto f = flush_request_of(*this)) {
    s += fmt::format(" range={:#010x}+{:#x} size={} flags={:#x}", f->sink_stag, f->sink_to,
                     f->length, f->flags);
  } else if (head.opcode == spec::RdmapOpcode::kTerminate && payload.size() >= 4) {
    s += " cause=" + verbs::terminate_text(base::load_be<uint16_t>(payload.data()));
  } else if (const auto immediate = immediate_of(*this)) {
    s += fmt::format(" immediate={:#018x}", *immediate);
  } else {
    s += fmt::format(" bytes={}", payload.size());
  }
  if (fpdus.size() != 1) s += fmt::format(" segments={}", fpdus.size());
  if (!crc_good) s += " crc=bad";
  return s;
}

std::vector<std::string> differences(const Message& listed, const Message& got) {
  std::vector<std::string> out;
  const auto field = [&](const char* name, uint64_t want, uint64_t have) {
    if (want != have)
      out.push_back(fmt::format("{} is {:#x}, the listing has {:#x}", name, have, want));
  };
  if (!got.is_contiguous) out.emplace_back("the segments do not join");
  if (got.crc_good != listed.crc_good)
    out.push_back(fmt::format("the CRC is {}", got.crc_good ? "good" : "bad"));
  field("the DDP control octet", listed.head.ddp, got.head.ddp);
  field("the RDMAP control octet", listed.head.rdmap, got.head.rdmap);
  if (listed.head.ddp != got.head.ddp || listed.head.rdmap != got.head.rdmap) return out;
  field("the STag", listed.head.stag, got.head.stag);
  field("the tagged offset", listed.head.to, got.head.to);
  field("the ULP's word", listed.head.word, got.head.word);
  field("the queue number", listed.head.qn, got.head.qn);
  field("the MSN", listed.head.msn, got.head.msn);
  const auto a = read_request_of(listed), b = read_request_of(got);
  const auto c = flush_request_of(listed), d = flush_request_of(got);
  if (a && b) {
    field("the sink's STag", a->sink_stag, b->sink_stag);
    field("the sink's offset", a->sink_to, b->sink_to);
    field("the read size", a->length, b->length);
    field("the source's STag", a->source_stag, b->source_stag);
    field("the source's offset", a->source_to, b->source_to);
  } else if (c && d) {
    field("the range's STag", c->sink_stag, d->sink_stag);
    field("the range's offset", c->sink_to, d->sink_to);
    field("the range's length", c->length, d->length);
    field("the Flush flags", c->flags, d->flags);
  } else if (listed.payload.size() != got.payload.size()) {
    out.push_back(fmt::format("{} bytes of payload, the listing has {}", got.payload.size(),
                              listed.payload.size()));
  } else if (const auto at =
                 std::mismatch(listed.payload.begin(), listed.payload.end(), got.payload.begin());
             at.first != listed.payload.end()) {
    out.push_back(fmt::format("payload byte {} is {:02x}, the listing has {:02x}",
                              at.first - listed.payload.begin(), *at.second, *at.first));
  }
  if (out.empty() && got.fpdus.size() == listed.fpdus.size()) {
    for (size_t i = 0; i < got.fpdus.size(); ++i) {
      // The fields and the payload are equal. Segment boundaries may differ; segments of one size
      // must be equal, so what differs is the length field, the pad or the CRC.
      if (got.fpdus[i].size() != listed.fpdus[i].size()) break;
      if (got.fpdus[i] != listed.fpdus[i])
        out.push_back(fmt::format("segment {} differs in its length field, pad or CRC", i));
    }
  }
  return out;
}

std::optional<ReadRequest> read_request_of(const Message& m) {
  if (m.head.opcode != spec::RdmapOpcode::kReadRequest || m.payload.size() != kReadRequest)
    return std::nullopt;
  const std::span<const uint8_t> p(m.payload);
  return ReadRequest{be32(p, 0), be32(p, 12), be32(p, 16), be64(p, 4), be64(p, 20)};
}

std::optional<spec::FlushRequest> flush_request_of(const Message& m) {
  if (m.head.opcode != spec::RdmapOpcode::kFlushRequest ||
      m.payload.size() != spec::FlushRequest::kBytes)
    return std::nullopt;
  return spec::FlushRequest::unpack(m.payload);
}

// Atomics and Atomic Write ask too. They are absent: make_plan() refuses them on a stream with the
// extensions, and on any other stream their opcodes are an error.
bool is_asking(spec::RdmapOpcode o) {
  return o == spec::RdmapOpcode::kReadRequest || o == spec::RdmapOpcode::kFlushRequest;
}

bool is_immediate(spec::RdmapOpcode o) {
  return o == spec::RdmapOpcode::kImmediate || o == spec::RdmapOpcode::kImmediateSe;
}

std::optional<uint64_t> immediate_of(const Message& m) {
  if (!is_immediate(m.head.opcode) || m.payload.size() != sizeof(uint64_t)) return std::nullopt;
  return base::load_be<uint64_t>(m.payload.data());
}

bool is_answer(spec::RdmapOpcode o) {
  return o == spec::RdmapOpcode::kReadResponse || o == spec::RdmapOpcode::kFlushResponse;
}

namespace {

/// Offsets of the STags in a Terminate: in the DDP header that it repeats, in the Read Request
/// header (RFC 5040 section 4.8).
std::vector<size_t> stags_of_terminate(const Segment& s) {
  // kFirst: the Terminate's payload in the FPDU, after the length field. kDdp: in that payload, the
  // repeated DDP header, after the control word and the DDP Segment Length, which also has kLength
  // bytes. In it, the STag is at 2; in a Read Request header, the source STag at 16.
  constexpr size_t kFirst = kLength + spec::kUntaggedHeaderBytes;
  constexpr size_t kDdp = spec::TerminateCtrl::kBytes + kLength;
  std::vector<size_t> at;
  const auto& p = s.payload;
  if (p.size() < kDdp + spec::kTaggedHeaderBytes) return at;
  const auto ctrl = spec::TerminateCtrl::unpack(p);
  if (ctrl.has_length == 0 || ctrl.has_ddp_header == 0) return at;
  const bool is_tagged = (p[kDdp] & kTaggedBit) != 0;
  if (is_tagged || carries_stag(static_cast<spec::RdmapOpcode>(p[kDdp + 1] & 0x0f)))
    at.push_back(kFirst + kDdp + 2);
  constexpr size_t kRead = kDdp + spec::kUntaggedHeaderBytes;
  if (ctrl.has_rdma_header != 0 && !is_tagged && p.size() >= kRead + kReadRequest)
    at.push_back(kFirst + kRead + 16);
  return at;
}

}  // namespace

Bytes remap(Bytes fpdu, const std::map<uint32_t, uint32_t>& stags, Mover from) {
  const auto s = parse_fpdu(fpdu);
  if (!s) return fpdu;
  std::vector<size_t> at;  // offsets of the STags that are the device's
  const bool is_read =
      s->opcode == spec::RdmapOpcode::kReadRequest && s->payload.size() == kReadRequest;
  const bool is_flush = s->opcode == spec::RdmapOpcode::kFlushRequest &&
                        s->payload.size() == spec::FlushRequest::kBytes;
  // Sent by the device: the sink of its Read Request; the STags that its Terminate repeats from a
  // message of the peer. Sent by the peer: the source of a Read Request, the range of a Flush, the
  // target of a tagged segment, the STag that a Send invalidates.
  if (from == Mover::kDevice) {
    if (is_read) at = {kLength + spec::kUntaggedHeaderBytes};
    if (s->opcode == spec::RdmapOpcode::kTerminate) at = stags_of_terminate(*s);
  } else if (is_read) {
    at = {kLength + spec::kUntaggedHeaderBytes + 16};
  } else if (is_flush) {
    at = {kLength + spec::kUntaggedHeaderBytes};
  } else if (s->is_tagged || carries_stag(s->opcode)) {
    at = {kLength + 2};
  }
  std::erase_if(at, [&](size_t k) { return !stags.contains(be32(fpdu, k)); });
  if (at.empty()) return fpdu;
  // wrong: the bits in which the CRC is bad; 0 if it is good. The new CRC is bad in the same bits.
  const uint32_t wrong = crc_of(fpdu) ^ crc_in(fpdu);
  for (const size_t k : at) base::store_be(&fpdu[k], stags.at(be32(fpdu, k)));
  base::store_le(&fpdu[fpdu.size() - kCrc], crc_of(fpdu) ^ wrong);
  return fpdu;
}

Bytes with_good_crc(Bytes fpdu) {
  base::store_le(&fpdu[fpdu.size() - kCrc], crc_of(fpdu));
  return fpdu;
}

bool clear_pad(Bytes& fpdu) {
  if (!parse_fpdu(fpdu)) return false;
  const auto from =
      fpdu.begin() + static_cast<std::ptrdiff_t>(kLength + base::load_be<uint16_t>(fpdu.data()));
  const auto to = fpdu.end() - static_cast<std::ptrdiff_t>(kCrc);
  if (std::all_of(from, to, [](uint8_t b) { return b == 0; })) return false;
  const uint32_t wrong = crc_of(fpdu) ^ crc_in(fpdu);  // as in remap(): a bad CRC stays bad
  std::fill(from, to, uint8_t{0});
  base::store_le(&fpdu[fpdu.size() - kCrc], crc_of(fpdu) ^ wrong);
  return true;
}

uint32_t fnv1a(std::span<const uint8_t> bytes) {
  uint32_t h = 0x811c9dc5;  // FNV-1a of 32 bits: offset basis, then the prime
  for (const uint8_t b : bytes) h = (h ^ b) * 0x01000193;
  return h;
}

std::string hex_of(std::span<const uint8_t> bytes) {
  std::string s;
  for (const uint8_t b : bytes) s += fmt::format("{:02x}", b);
  return s;
}

}  // namespace rnic::app

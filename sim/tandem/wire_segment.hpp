// A received FPDU parsed by the RFCs, for checkers without the model: MPA (RFC 5044),
// DDP (RFC 5041), RDMAP (RFC 5040).
//
//   auto s = WireSegment::of(fpdu);    // fpdu: without markers
//   s.is_good, s.opcode, s.payload ...
#pragma once

#include <cstdint>
#include <span>

#include "base/payload.hpp"

namespace rnic::sim {

struct WireSegment {
  enum Opcode : uint8_t {
    kWrite = 0,
    kReadRequest = 1,
    kReadResponse = 2,
    kSend = 3,
    kSendInv = 4,
    kSendSe = 5,
    kSendSeInv = 6,
    kTerminate = 7,
    kImmediate = 8,
    kImmediateSe = 9,
    kAtomicRequest = 10,
    kAtomicResponse = 11,
    kFlushRequest = 12,
    kFlushResponse = 13
  };

  bool is_good = false;  ///< lengths fit; nothing else is checked
  bool is_tagged = false, is_last = false;
  uint8_t opcode = 0;
  uint32_t qn = 0;
  Payload payload;  ///< after the DDP header

  /// RFC 5044 section 4.1: length, ULPDU, pad to 4, CRC. RFC 5041 sections 4.2, 4.3; RFC 5040
  /// section 4.1.
  static WireSegment of(const Payload& fpdu) {
    WireSegment s;
    const auto b = fpdu.bytes();
    if (b.size() < 8) return s;  // length 2, control octets 2, CRC 4
    const uint32_t ulpdu = static_cast<uint32_t>(b[0]) << 8 | b[1];
    const uint32_t framed = (2 + ulpdu + 3) / 4 * 4 + 4;
    if (framed != b.size() || ulpdu < 2) return s;
    s.is_tagged = (b[2] & 0x80) != 0;
    s.is_last = (b[2] & 0x40) != 0;
    s.opcode = b[3] & 0x0f;                         // without the fifth bit of Atomic Write
    const uint32_t header = s.is_tagged ? 14 : 18;  // of DDP, with RDMAP's octet
    if (ulpdu < header) return s;
    if (!s.is_tagged) s.qn = be32(b.subspan(2 + 6));
    s.payload = fpdu.slice(2 + header, ulpdu - header);
    s.is_good = true;
    return s;
  }

  bool is_placed() const {
    if (payload.empty()) return false;
    if (is_tagged) return opcode == kWrite || opcode == kReadResponse;
    return is_send();
  }
  /// Any of the four Sends.
  bool is_send() const { return !is_tagged && qn == 0 && opcode >= kSend && opcode <= kSendSeInv; }
  bool is_immediate() const {
    return !is_tagged && qn == 0 && (opcode == kImmediate || opcode == kImmediateSe);
  }
  bool is_read_response() const { return is_tagged && opcode == kReadResponse; }
  bool is_read_request() const {
    return !is_tagged && qn == 1 && opcode == kReadRequest && payload.size() == 28;
  }

  /// Bytes of payload of a request on QN 1: Read 28, Atomic 52 (RFC 7306 section 5.2), Flush 20 and
  /// Atomic Write 24 (persistence draft). Atomic Write and its response have opcodes 0x10 and 0x11,
  /// of which `opcode` holds the low four bits: 0 and 1. No other message has opcode 0 on QN 1, or
  /// opcode 1 on QN 3.
  bool is_atomic() const {
    return !is_tagged && qn == 1 &&
           ((opcode == kAtomicRequest && payload.size() == 52) ||
            (opcode == 0 && payload.size() == 24));
  }
  bool is_atomic_response() const {
    return !is_tagged && qn == 3 && (opcode == kAtomicResponse || opcode == 1);
  }

  bool is_flush_response() const { return !is_tagged && qn == 3 && opcode == kFlushResponse; }
  bool is_flush_request() const {
    return !is_tagged && qn == 1 && opcode == kFlushRequest && payload.size() == 20;
  }

  // draft-talpey-rdma-commit-01 section 3.1.1.1: STag, length, TO, flags
  uint32_t flush_stag() const { return be32(payload.bytes()); }
  uint32_t flush_length() const { return be32(payload.bytes().subspan(4)); }
  uint64_t flush_to() const {
    return static_cast<uint64_t>(be32(payload.bytes().subspan(8))) << 32 |
           be32(payload.bytes().subspan(12));
  }

  // RFC 5040 section 4.4: sink STag, sink TO, size, source STag, source TO
  uint32_t read_size() const { return be32(payload.bytes().subspan(12)); }
  uint32_t source_stag() const { return be32(payload.bytes().subspan(16)); }
  uint64_t source_to() const {
    return static_cast<uint64_t>(be32(payload.bytes().subspan(20))) << 32 |
           be32(payload.bytes().subspan(24));
  }

  /// RFC 5044 section 4.3: a marker of 4 bytes at each stream position that is a multiple of 512.
  static Payload without_markers(const Payload& record, uint64_t position) {
    const auto b = record.bytes();
    Payload out = Payload::make(record.size());
    uint32_t n = 0;
    for (uint32_t i = 0; i < b.size(); ++i) {
      const uint64_t at = position + i;
      if (at % 512 >= 4) out.writable()[n++] = b[i];
    }
    return out.slice(0, n);
  }

 private:
  static uint32_t be32(std::span<const uint8_t> b) {
    return static_cast<uint32_t>(b[0]) << 24 | static_cast<uint32_t>(b[1]) << 16 |
           static_cast<uint32_t>(b[2]) << 8 | b[3];
  }
};

}  // namespace rnic::sim

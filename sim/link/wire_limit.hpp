// The limit of the wire: payload rate and message rate of one operation at one size. It assumes one
// FPDU per TCP segment, no options and no markers (architecture section 16).
//
//   WireLimit w = wire_limit(WireOp::kWrite, 64, 1500, 100.0);   // messages_per_s: 77.2e6
//
// - kRead counts the direction of the responses, which are as long as Writes.
// - kWriteImm: each Write is followed by Immediate Data in its own segment.
// - kWriteFlush: each Write is followed by a Flush Request in its own segment.
// - kAtomic: Atomic Requests, of which `size` bytes count.
#pragma once

#include <cstdint>

namespace rnic::sim {

/// Ethernet preamble 8, header 14, FCS 4, gap 12; IP 20; TCP 20.
inline constexpr uint32_t kFrameOverhead = 78;
inline constexpr uint32_t kIpTcpHeaders = 40;
/// Preamble and gap around a frame of at least 64 bytes.
inline constexpr uint32_t kMinFrame = 84;

/// Bytes that a segment takes on the wire.
constexpr uint64_t frame_bytes(uint64_t segment) {
  const uint64_t bytes = kFrameOverhead + segment;
  return bytes < kMinFrame ? kMinFrame : bytes;
}
/// Length field, ULPDU, pad, CRC.
constexpr uint64_t fpdu_bytes(uint64_t ulpdu) { return (2 + ulpdu + 3) / 4 * 4 + 4; }
/// A marker is 4 bytes, one every 512 bytes of the TCP stream (RFC 5044 section 4.3).
inline constexpr uint64_t kMarkerSpacing = 512, kMarkerBytes = 4;
/// Largest ULPDU of a segment of `mss` bytes (RFC 5044 section 4.1). 6: length field and CRC;
/// mss % 4: an FPDU is a multiple of 4 bytes.
constexpr uint64_t mulpdu(uint64_t mss, bool markers = false) {
  const uint64_t of_markers = kMarkerBytes * ((mss + kMarkerSpacing - 1) / kMarkerSpacing);
  return mss - (6 + mss % 4) - (markers ? of_markers : 0);
}

enum class WireOp : uint8_t { kWrite, kSend, kRead, kWriteFlush, kWriteImm, kAtomic };

struct WireLimit {
  double payload_gbps = 0;
  double messages_per_s = 0;
};

constexpr WireLimit wire_limit(WireOp op, uint64_t size, uint64_t mtu, double link_gbps) {
  // DDP and RDMAP headers: 18 bytes untagged, 14 tagged (RFC 5041 section 4). A full segment has
  // `room` for payload.
  const uint64_t header = op == WireOp::kSend ? 18 : 14;
  const uint64_t room = mulpdu(mtu - kIpTcpHeaders) - header;
  const uint64_t full = size == 0 ? 0 : (size - 1) / room;  // segments before the last
  const uint64_t rest = size - full * room;                 // payload of the last segment
  // Header and payload of a request, which takes one segment.
  constexpr uint64_t kFlushRequest = 18 + 20;
  constexpr uint64_t kImmediate = 18 + 8;
  constexpr uint64_t kAtomicRequest = 18 + 52;
  const uint64_t wire =
      op == WireOp::kAtomic
          ? frame_bytes(fpdu_bytes(kAtomicRequest))
          : full * frame_bytes(fpdu_bytes(header + room)) + frame_bytes(fpdu_bytes(header + rest)) +
                (op == WireOp::kWriteFlush ? frame_bytes(fpdu_bytes(kFlushRequest)) : 0) +
                (op == WireOp::kWriteImm ? frame_bytes(fpdu_bytes(kImmediate)) : 0);
  const double messages = link_gbps * 1e9 / 8 / static_cast<double>(wire);  // per second
  return {messages * static_cast<double>(size) * 8 / 1e9, messages};
}

}  // namespace rnic::sim

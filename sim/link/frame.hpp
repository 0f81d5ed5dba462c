// A frame between two LLP endpoints: one TCP segment, or a SYN, FIN or RST. An address is the
// number of a host and the number of a connection. `serial` distinguishes a connection from an
// earlier one with the same number. Ports, sequence numbers and window are only for the capture.
#pragma once

#include <cstdint>

#include "base/payload.hpp"

namespace rnic::sim {

enum class FrameKind : uint8_t { kData, kSyn, kSynAck, kAck, kFin, kFinAck, kRst };

struct Frame {
  FrameKind kind = FrameKind::kData;
  uint8_t from = 0, to = 0;  // hosts
  // At both ends: number of the connection, its serial, its TCP port.
  uint16_t from_conn = 0, to_conn = 0;
  uint32_t from_serial = 0, to_serial = 0;
  uint16_t from_port = 0, to_port = 0;
  uint32_t seq = 0, ack = 0;
  uint32_t window = 0;
  uint16_t mss = 0;  // SYN and SYN-ACK
  Payload data;
};

/// The address of a host: 10.0.0.1 for host 0, and so on.
constexpr uint32_t host_address(unsigned host) { return 0x0a000001 + host; }

}  // namespace rnic::sim

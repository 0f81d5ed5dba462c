// Parses and compares FPDUs and messages of a capture, and exchanges their STags.
//
//   Segment s = parse_fpdu(u.bytes).value();
//   std::vector<uint8_t> ours = remap(u.bytes, {{0x5a331400, mr.rkey()}}, Mover::kPeer);
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gen/iwarp.hpp"

namespace rnic::app {

using Bytes = std::vector<uint8_t>;

/// One FPDU. `payload` points into the parsed bytes.
struct Segment {
  bool is_tagged = false, is_last = false, crc_good = false;
  uint8_t ddp = 0, rdmap = 0;  // control octets as received; `ddp` without the Last bit
  spec::RdmapOpcode opcode{};
  uint32_t word = 0;  // untagged: 32 bits reserved for the ULP, or an STag to invalidate
  uint32_t stag = 0, qn = 0, msn = 0, mo = 0;
  uint64_t to = 0;
  std::span<const uint8_t> payload;
};
/// Empty if the lengths do not match.
std::optional<Segment> parse_fpdu(std::span<const uint8_t> fpdu);

/// A message of one or more FPDUs, with any segmentation.
struct Message {
  Segment head{};  // of the first segment, without its payload
  Bytes payload;
  std::vector<Bytes> fpdus;
  // is_whole: the FPDU with the Last bit has come. is_contiguous: each segment has the fields of
  // the first, and continues the offset. crc_good: of all FPDUs.
  bool is_whole = false, is_contiguous = true, crc_good = true;

  /// Returns false if the FPDU cannot be parsed.
  bool add(std::span<const uint8_t> fpdu);
  /// One line: name, addresses, length.
  std::string describe() const;
};
/// The differences, a phrase for each field; empty if equal.
std::vector<std::string> differences(const Message& listed, const Message& got);

struct ReadRequest {
  uint32_t sink_stag = 0, length = 0, source_stag = 0;
  uint64_t sink_to = 0, source_to = 0;
};
/// The fields of a Read Request or Flush Request; empty for another message or a wrong size.
std::optional<ReadRequest> read_request_of(const Message& m);
std::optional<spec::FlushRequest> flush_request_of(const Message& m);
/// Read Request and Flush Request: both use ORD and IRD, and are answered in order. Atomics and
/// Atomic Write do so too, but replay posts none: make_plan() refuses them.
bool is_asking(spec::RdmapOpcode o);
/// Send with Invalidate and Send with SE and Invalidate: `word` is the STag.
bool carries_stag(spec::RdmapOpcode o);
/// Immediate Data, with or without Solicited Event (RFC 7306 section 6).
bool is_immediate(spec::RdmapOpcode o);
/// The 8 bytes of Immediate Data; empty for any other message.
std::optional<uint64_t> immediate_of(const Message& m);
/// Read Response and Flush Response: made by the device, not by a work request.
bool is_answer(spec::RdmapOpcode o);

/// The sender of the FPDU: decides which of its STags are the device's.
enum class Mover : uint8_t { kDevice, kPeer };
/// Exchanges the device's STags by `stags` and repairs the CRC. A bad CRC stays bad.
Bytes remap(Bytes fpdu, const std::map<uint32_t, uint32_t>& stags, Mover from);

/// Replaces the CRC by the CRC of the bytes before it.
Bytes with_good_crc(Bytes fpdu);
/// Sets the pad to zero, as RFC 5044 section 3 requires of a sender, and repairs the CRC. Returns
/// true if the pad was not zero.
bool clear_pad(Bytes& fpdu);

/// The checksum of a region, as a listing's note has it.
uint32_t fnv1a(std::span<const uint8_t> bytes);
std::string hex_of(std::span<const uint8_t> bytes);

}  // namespace rnic::app

// The agreement block: the 8 bytes in front of the ULP's private data in an MPA start-up frame
// (decision 10).
//
//   byte 0 to 3   `MNIC`
//        4        version, 1
//        5        flags: bit 0 all extensions (Flush, atomics, Atomic Write); bit 7 Reply
//        6, 7     0
//
// Bit 7 distinguishes our Reply from a peer that echoes our Request's private data without
// supporting the extensions. Other flag bits are sent as 0 and ignored on receipt, so that a side
// with more extensions agrees with a side that has fewer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace rnic::verbs {

inline constexpr size_t kExtensionBytes = 8;

enum class StartKind { kRequest, kReply };

/// Extensions that a Request asks for or a Reply grants.
struct MpaExtension {
  bool flush = false;  ///< all of them: Flush, atomics and Atomic Write share one bit
};

/// Writes the block to the first 8 bytes of `out`.
void write_extension(std::span<uint8_t> out, StartKind kind, const MpaExtension& extension);
/// Returns nothing if the private data does not begin with a block of this kind; all of it then
/// belongs to the ULP.
[[nodiscard]] std::optional<MpaExtension> read_extension(std::span<const uint8_t> private_data,
                                                         StartKind kind);

}  // namespace rnic::verbs

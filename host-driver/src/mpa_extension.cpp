// The agreement block: see rnic/mpa_extension.hpp.
#include "rnic/mpa_extension.hpp"

#include <algorithm>
#include <array>

namespace rnic::verbs {

namespace {

constexpr std::array<uint8_t, 5> kKey{'M', 'N', 'I', 'C', 1};
constexpr uint8_t kFlush = 0x01, kReply = 0x80;

}  // namespace

void write_extension(std::span<uint8_t> out, StartKind kind, const MpaExtension& extension) {
  std::copy(kKey.begin(), kKey.end(), out.begin());
  out[5] = static_cast<uint8_t>((extension.flush ? kFlush : 0) |
                                (kind == StartKind::kReply ? kReply : 0));
  out[6] = out[7] = 0;
}

std::optional<MpaExtension> read_extension(std::span<const uint8_t> b, StartKind kind) {
  if (b.size() < kExtensionBytes || !std::equal(kKey.begin(), kKey.end(), b.begin()) ||
      ((b[5] & kReply) != 0) != (kind == StartKind::kReply) || b[6] != 0 || b[7] != 0)
    return std::nullopt;
  return MpaExtension{.flush = (b[5] & kFlush) != 0};
}

}  // namespace rnic::verbs

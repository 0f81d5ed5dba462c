// Bytes of a Script's steps: entries, segments, FPDUs. Built from the specification.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/bytes.hpp"
#include "base/payload.hpp"
#include "gen/queues.hpp"
#include "mpa/crc32c.hpp"
#include "tpt/tpt.hpp"

namespace rnic::sim {

using Bytes = std::vector<uint8_t>;

inline Payload payload(const Bytes& b) { return Payload::copy_of(b); }

template <class T>
Bytes packed(const T& t) {
  Bytes b(T::kBytes);
  t.pack(b);
  return b;
}

/// RFC 5044 section 4: length, ULPDU, zeros to a multiple of 4, CRC32c.
inline Bytes fpdu(const Bytes& ulpdu) {
  Bytes f(2);
  base::store_be<uint16_t>(f.data(), static_cast<uint16_t>(ulpdu.size()));
  f.insert(f.end(), ulpdu.begin(), ulpdu.end());
  f.resize((f.size() + 3) / 4 * 4);
  const uint32_t crc = model::crc32c(f);
  f.resize(f.size() + 4);
  base::store_le<uint32_t>(&f[f.size() - 4], crc);
  return f;
}

/// A ULPDU of one segment. Opcodes of RFC 5040 section 4.1: 0 Write, 2 Read Response.
inline Bytes tagged(uint8_t opcode, uint32_t stag, uint64_t to, const Bytes& data) {
  Bytes u(14);
  u[0] = 0xc1;  // tagged, last, DV 1
  u[1] = static_cast<uint8_t>(0x40 | opcode);
  base::store_be<uint32_t>(&u[2], stag);
  base::store_be<uint64_t>(&u[6], to);
  u.insert(u.end(), data.begin(), data.end());
  return u;
}

/// Opcodes: 1 Read Request, 3 Send, 5 Send with SE, 7 Terminate, 0xc Flush Request, 0xd Flush
/// Response.
inline Bytes untagged(uint8_t opcode, uint32_t qn, uint32_t msn, const Bytes& data) {
  Bytes u(18);
  u[0] = 0x41;  // untagged, last, DV 1
  u[1] = static_cast<uint8_t>(0x40 | opcode);
  base::store_be<uint32_t>(&u[6], qn);
  base::store_be<uint32_t>(&u[10], msn);
  u.insert(u.end(), data.begin(), data.end());
  return u;
}

inline Bytes joined(const Bytes& a, const Bytes& b) {
  Bytes out = a;
  out.insert(out.end(), b.begin(), b.end());
  return out;
}

inline std::array<uint8_t, 56> args_of(const auto& a) {
  std::array<uint8_t, 56> out{};
  a.pack(out);
  return out;
}

/// All rights but that of a remote invalidation, which needs a bound region.
inline constexpr uint16_t kRights = spec::kAccessMask & ~spec::kAccessRemoteInvalidate;

/// Out of a model::Tpt that a test uses only to permute STags: it never calls these functions.
struct StagOut final : model::Tpt::Out {
  void tpt_cmd_rsp(const spec::TptCmdRsp&) override {}
  void invalidated(const spec::Invalidated&) override {}
  void sq_local_done(const spec::SqLocalDone&) override {}
};

}  // namespace rnic::sim

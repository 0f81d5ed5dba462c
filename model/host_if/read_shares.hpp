// How the PCIe read tags are divided among the clients. RTL: rtl/host_if/host_if_rd.sv
#pragma once

#include <array>
#include <cstdint>

namespace rnic::model {

enum class Reader : uint8_t { kSq, kRq, kAdmin, kPayload, kQn1, kReg };
inline constexpr size_t kReaders = 6;

/// Tags of each Reader. Every client owns at least one, so that none can starve another. qn1 gets a
/// tag for each of the 64 requests that atomic holds, if there are 128 tags or more. payload gets
/// what the other clients leave.
constexpr std::array<uint32_t, kReaders> read_shares(uint32_t rd_tags) {
  const uint32_t qn1 = rd_tags >= 128 ? 64 : 1, rest = rd_tags - qn1;
  const bool many = rest >= 64;
  const uint32_t sq = many ? rest / 4 : 1, rq = many ? rest / 8 : 1, admin = many ? 2 : 1,
                 reg = many ? 8 : 1;
  return {sq, rq, admin, rest - sq - rq - admin - reg, qn1, reg};
}

}  // namespace rnic::model

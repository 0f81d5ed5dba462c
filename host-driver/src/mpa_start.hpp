// MPA start-up frames and the agreement of the two sides: RFC 5044 section 7.1, RFC 6581. Pure
// functions on bytes. C-nn: facts in docs/ambiguities.md.
//
//   active:   auto bytes = encode(*make_request(offer));   ...
//             take_extension(reply, offer);   auto agreed = conclude(reply, offer);
//   passive:  auto frame = parse(bytes, StartKind::kRequest);
//             auto answer = answer_request(*frame, offer);
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gen/iwarp.hpp"
#include "rnic/mpa_extension.hpp"
#include "rnic/result.hpp"

namespace rnic::verbs {

inline constexpr size_t kStartBytes = 20;  // key, flags, revision, length
// RFC 6581: this IRD or ORD is not negotiated (C-42).
inline constexpr uint16_t kNoNegotiation = 0x3fff;

struct StartFrame {
  StartKind kind = StartKind::kRequest;
  bool markers = false;   ///< M: the sender wants to receive markers
  bool crc = false;       ///< C
  bool reject = false;    ///< R
  bool enhanced = false;  ///< S: ird_ord precedes the private data
  uint8_t revision = 1;
  spec::MpaIrdOrd ird_ord{};
  std::optional<MpaExtension> extension{};  ///< the agreement block, if present
  std::vector<uint8_t> private_data{};      ///< without the agreement block
};

/// The parameters that one side brings.
struct StartOffer {
  bool markers = false, crc = true;
  uint8_t revision = 2;  // of a Request; a Reply copies that of the Request
  unsigned ird = 0, ord = 0;
  bool flush = false;  // ask for the extensions, as ConnParam::flush
  std::span<const uint8_t> private_data{};
};

/// The parameters in force from the first FPDU on.
struct Agreed {
  bool use_crc = false;
  bool rx_markers = false, tx_markers = false;
  unsigned ird = 0, ord = 0;
  bool flush = false;
};

struct StartAnswer {
  StartFrame reply{};
  Agreed agreed{};
};

[[nodiscard]] std::vector<uint8_t> encode(const StartFrame& frame);
/// Returns how many bytes follow the first 20. kProtocol: wrong key or revision, R in a Request,
/// more than 512 bytes, or fewer than the S flag needs (C-24, C-31).
[[nodiscard]] Result<size_t> parse_header(std::span<const uint8_t> first20, StartKind expected);
[[nodiscard]] Result<StartFrame> parse(std::span<const uint8_t> whole, StartKind expected);

/// Removes the agreement block from a Reply if this side asked for the extensions and the Reply is
/// no reject.
/// parse() removes the block of a Request. All other bytes belong to the ULP.
void take_extension(StartFrame& reply, const StartOffer& own);

[[nodiscard]] Result<StartFrame> make_request(const StartOffer& own);
/// The passive side's Reply. kRefused: no RTR message (ready to receive, RFC 6581) that both sides
/// support; the caller rejects the peer.
[[nodiscard]] Result<StartAnswer> answer_request(const StartFrame& request, const StartOffer& own);
[[nodiscard]] Result<StartFrame> make_reject(const StartFrame& request,
                                             std::span<const uint8_t> private_data);
/// The active side's conclusion. kRefused: the Reply rejects; kProtocol: the Reply does not match
/// the Request.
[[nodiscard]] Result<Agreed> conclude(const StartFrame& reply, const StartOffer& own);

}  // namespace rnic::verbs

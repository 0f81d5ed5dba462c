// Changes one field of a record and computes its CRC again. See damage.hpp.
#include "damage.hpp"

#include <algorithm>

#include "base/bytes.hpp"
#include "gen/iwarp.hpp"
#include "mpa/crc32c.hpp"

namespace rnic::mutants {
namespace {

using Bytes = std::vector<uint8_t>;

// Layout of a record: length, ULPDU, pad, CRC. Offsets of RFC 5041 figures 1 and 2, RFC 5040
// figures 3 and 9, counted from the record's first byte. kHdrCtAt: the byte of a Terminate with the
// bits M (0x80), D (0x40) and R (0x20).
constexpr size_t kUlpdu = 2, kFlags = 2, kOpcodeAt = 3, kToAt = 8, kQnAt = 8, kMsnAt = 12,
                 kMoAt = 16, kHdrCtAt = 22, kCrcBytes = 4;

uint16_t length_of(const Bytes& b) { return base::load_be<uint16_t>(b.data()); }

/// An FPDU of these ULPDU bytes; its CRC is not computed yet.
Bytes frame(const Bytes& ulpdu) {
  Bytes b((kUlpdu + ulpdu.size() + 3) / 4 * 4 + kCrcBytes);
  base::store_be<uint16_t>(b.data(), static_cast<uint16_t>(ulpdu.size()));
  std::ranges::copy(ulpdu, b.begin() + kUlpdu);
  return b;
}

/// A record of these bytes, with the right CRC.
sim::Record record_of(const sim::Record& r, Bytes b) {
  base::store_le<uint32_t>(b.data() + b.size() - kCrcBytes,
                           model::crc32c(std::span(b).first(b.size() - kCrcBytes)));
  return {
      .connection = r.connection, .is_stream = false, .error = false, .data = Payload::copy_of(b)};
}

void add(Bytes& b, size_t at, uint32_t n) {
  base::store_be<uint32_t>(&b[at], base::load_be<uint32_t>(&b[at]) + n);
}

}  // namespace

const char* name_of(Damage d) {
  constexpr const char* kNames[] = {"crc",
                                    "record_error",
                                    "length",
                                    "tagged_short",
                                    "tagged_version",
                                    "untagged_version",
                                    "qn",
                                    "msn",
                                    "mo",
                                    "rdmap_version",
                                    "opcode",
                                    "read_length",
                                    "wrap",
                                    "many_reads",
                                    "term_no_length",
                                    "term_no_header",
                                    "other_response"};
  return kNames[static_cast<size_t>(d)];
}

std::vector<sim::Record> damaged(const sim::Record& r, Damage d) {
  const auto raw = r.data.bytes();
  Bytes b(raw.begin(), raw.end());
  const Bytes ulpdu(b.begin() + kUlpdu, b.begin() + kUlpdu + length_of(b));
  switch (d) {
    case Damage::kCrc:
      b[kUlpdu + ulpdu.size() - 1] ^= 0x10;
      return {{.connection = r.connection, .data = Payload::copy_of(b)}};
    case Damage::kRecordError:
      return {{.connection = r.connection, .error = true, .data = r.data}};
    case Damage::kLength:
      base::store_be<uint16_t>(b.data(), static_cast<uint16_t>(length_of(b) + 4));
      break;
    case Damage::kTaggedShort:
      b = frame(Bytes(ulpdu.begin(), ulpdu.begin() + 10));
      break;
    case Damage::kTaggedVersion:
    case Damage::kUntaggedVersion:
      b[kFlags] = static_cast<uint8_t>((b[kFlags] & ~3) | 2);  // DV is in the low two bits
      break;
    case Damage::kQn:
      add(b, kQnAt, 3);
      break;
    case Damage::kMsn:
      add(b, kMsnAt, 1);
      break;
    case Damage::kMo:
      add(b, kMoAt, 1);
      break;
    case Damage::kRdmapVersion:
      // RV is in the top two bits; 0x80 is version 2.
      b[kOpcodeAt] = static_cast<uint8_t>((b[kOpcodeAt] & 0x3f) | 0x80);
      break;
    case Damage::kOpcode:
      b[kOpcodeAt] |= 0x0f;
      break;
    case Damage::kReadLength: {
      Bytes longer = ulpdu;
      longer.resize(ulpdu.size() + 4);
      b = frame(longer);
      break;
    }
    case Damage::kWrap:
      // The Write has 40 bytes (Story::damaged_trouble), so its end wraps.
      base::store_be<uint64_t>(&b[kToAt], ~uint64_t{0} - 20);
      break;
    case Damage::kTermNoLength:
      b[kHdrCtAt] &= 0x7f;
      break;
    case Damage::kTermNoHeader:
      b[kHdrCtAt] &= 0xdf;
      break;
    case Damage::kOtherResponse:
      // RV is in the top two bits, the opcode in the low five.
      b[kOpcodeAt] = static_cast<uint8_t>((b[kOpcodeAt] & 0xe0) |
                                          static_cast<uint8_t>(spec::RdmapOpcode::kFlushResponse));
      break;
    case Damage::kManyReads: {
      std::vector<sim::Record> all{r};
      // Seven Reads in all; the IRD of the QP is 2 (Story::start).
      for (int k = 0; k < 6; ++k) {
        add(b, kMsnAt, 1);
        all.push_back(record_of(r, b));
      }
      return all;
    }
    default:
      break;
  }
  return {record_of(r, b)};
}

void Damaging::llp_rx(sim::Record r) {
  if (passes) --*passes;
  // Excluded: streaming bytes, and the empty Write by which the client speaks first (Story::start),
  // an FPDU of 20 bytes. With one byte of payload an FPDU has 24. kLeast lies between these sizes.
  constexpr uint32_t kLeast = kUlpdu + spec::kTaggedHeaderBytes + 6;
  if (!next || r.is_stream || r.data.size() <= kLeast) return inner_->llp_rx(std::move(r));
  for (sim::Record& d : damaged(r, *std::exchange(next, std::nullopt)))
    inner_->llp_rx(std::move(d));
}

}  // namespace rnic::mutants

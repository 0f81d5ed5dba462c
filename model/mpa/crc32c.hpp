// CRC32c (Castagnoli) over bytes, for FPDUs. RFC 5044 section 4.4, docs/spec/iwarp.yaml
// crc32c_polynomial.
//
//   uint32_t crc = crc32c(bytes);                       // one piece
//   Crc32c c;   c.add(head);   c.add(body);   c.value();   // several pieces
//
// Uses SSE4.2 if the machine has it (three streams in parallel, because the instruction's latency
// is three cycles), else tables. Both give the same value.
#pragma once

#include <cstdint>
#include <span>

namespace rnic::model {

/// Adds bytes to a CRC in progress. `state` is the CRC's register: ~0 at first. The CRC is the
/// inverse of the last state.
uint32_t crc32c_update(uint32_t state, std::span<const uint8_t> bytes);
/// The same by tables, on any machine: the tests compare both.
uint32_t crc32c_update_portable(uint32_t state, std::span<const uint8_t> bytes);

class Crc32c {
 public:
  void add(std::span<const uint8_t> bytes) { state_ = crc32c_update(state_, bytes); }
  uint32_t value() const { return ~state_; }

 private:
  uint32_t state_ = ~uint32_t{0};
};

inline uint32_t crc32c(std::span<const uint8_t> bytes) {
  return ~crc32c_update(~uint32_t{0}, bytes);
}

}  // namespace rnic::model

// A log in the server's persistent memory, to which the client appends; and its recovery, which has
// nothing but the bytes that were durable.
//
//   const RecoveredLog log = recover(image.find(log_name(0, 0)));
//   log.records[4].sequence == 5
//
//   log:     tail pointer (8)  record 1  record 2  ...
//   record:  sequence (8)  length (4)  CRC32C (4)  data (length)  filled up to 8
//
// Numbers are little-endian. Sequences count from 1; the CRC32C is of sequence, length and data. A
// record is whole if it and all before it have their sequence and their CRC32C.
//
// The tail pointer is the number of bytes of the records of the log; zeros are an empty log. Records
// behind it were not acknowledged; if it names bytes that are no whole records, the log is damaged.
// kNoTail: the log's method keeps no tail pointer, and its records are all that are whole.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rnic::programs {

inline constexpr uint32_t kTailBytes = 8, kRecordHead = 16;
inline constexpr uint64_t kNoTail = ~uint64_t{0};
/// Of a record with so many bytes of data, in the log.
constexpr uint64_t record_bytes(uint32_t length) {
  return (uint64_t{kRecordHead} + length + 7) / 8 * 8;
}

struct LogRecord {
  uint64_t sequence = 0;
  std::span<const uint8_t> data;
};
struct RecoveredLog {
  std::vector<LogRecord> records;
  uint64_t end = kTailBytes;  // offset behind the last of them
  uint64_t whole = 0;         // records, those behind the tail pointer too
  bool is_damaged = false;    // the tail pointer names bytes that are no whole records
};
RecoveredLog recover(std::span<const uint8_t> log);

/// Of one QP of one thread.
std::string log_name(uint32_t thread, uint32_t lane);
constexpr uint32_t log_number(uint32_t thread, uint32_t lane) { return thread << 16 | lane; }
/// What the client appends as this record of this log, head and data; the bytes that fill it up are zero.
void fill_record(std::span<uint8_t> record, uint32_t length, uint32_t log, uint64_t sequence);
/// Whether it is the record that the client appended.
bool is_genuine(const LogRecord& record, uint32_t log);

/// Names of the methods, and what each waits for.
struct LogMethodRow {
  std::string_view name, sentence;
  bool waits;     // for a response of the peer
  bool has_tail;  // keeps a tail pointer
};
std::span<const LogMethodRow> log_methods();
std::string log_method_names();  ///< with commas between

}  // namespace rnic::programs

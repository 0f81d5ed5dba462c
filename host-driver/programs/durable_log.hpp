// A log in the server's persistent memory to which the client appends, and its recovery from only
// the durable bytes.
//
//   const RecoveredLog log = recover(image.find(log_name(0, 0)));
//   log.records[4].sequence == 5
//
//   log:     tail pointer (8)  record 1  record 2  ...
//   record:  sequence (8)  length (4)  CRC32C (4)  data (length)  padding to a multiple of 8
//
// Numbers are little-endian. Sequences count from 1. The CRC32C covers sequence, length and data. A
// record is whole if it and all records before it have the right sequence and CRC32C.
//
// The tail pointer is the number of bytes of the log's records; 0 means an empty log. Records after
// it were not acknowledged. If it does not end at a whole record, the log is damaged. kNoTail: the
// method keeps no tail pointer, and the log's records are all whole ones.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rnic::programs {

inline constexpr uint32_t kTailBytes = 8, kRecordHead = 16;
inline constexpr uint64_t kNoTail = ~uint64_t{0};
/// Bytes that a record with `length` bytes of data occupies in the log.
constexpr uint64_t record_bytes(uint32_t length) {
  return (uint64_t{kRecordHead} + length + 7) / 8 * 8;
}

struct LogRecord {
  uint64_t sequence = 0;
  std::span<const uint8_t> data;
};
struct RecoveredLog {
  std::vector<LogRecord> records;
  uint64_t end = kTailBytes;  // offset after the last record
  uint64_t whole = 0;         // whole records, including those after the tail pointer
  bool is_damaged = false;    // the tail pointer does not end at a whole record
};
RecoveredLog recover(std::span<const uint8_t> log);

/// Name of the log of one QP of one thread.
std::string log_name(uint32_t thread, uint32_t lane);
constexpr uint32_t log_number(uint32_t thread, uint32_t lane) { return thread << 16 | lane; }
/// Writes the record that the client appends to this log, head and data; the padding is zero.
void fill_record(std::span<uint8_t> record, uint32_t length, uint32_t log, uint64_t sequence);
/// Returns whether this is the record that the client appended.
bool is_genuine(const LogRecord& record, uint32_t log);

/// A method's name and the completion or response that it waits for.
struct LogMethodRow {
  std::string_view name, sentence;
  bool waits;     // for a response of the peer
  bool has_tail;  // keeps a tail pointer
};
std::span<const LogMethodRow> log_methods();
std::string log_method_names();  ///< separated by commas

}  // namespace rnic::programs

// The persistent memory of a host as a file: the content that a restarted host finds.
//
//   auto image = read_image("server.pmem", config.pmem_bytes);   // an error is one line
//   std::span<const uint8_t> log = image->find("log");
//   write_image("server.pmem", *image);            // on an error the old file stays
//
//   offset   bytes         field
//   0        8             magic: "RNICPMEM"
//   8        4             version: 1
//   12       4             number of ranges
//   16       8             pmem_bytes
//   24       64 x ranges   {name[48], offset, size}
//            4             CRC32C
//            sum of sizes  the bytes of the ranges
//
// Numbers are little-endian. The CRC32C covers all bytes before it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace rnic::sim {

struct PmemRange {
  std::string name;
  uint64_t offset = 0, size = 0;  // offset in the host's persistent memory
  bool operator==(const PmemRange&) const = default;
};

struct PmemImage {
  static constexpr size_t kLongestName = 47;  // name[48] in the file ends with a zero byte
  uint64_t pmem_bytes = 0;                    // total of the host, used or not
  std::vector<PmemRange> ranges;
  std::vector<uint8_t> bytes;  // of the ranges, concatenated

  /// Empty if no range has this name.
  std::span<const uint8_t> find(std::string_view name) const;
  bool operator==(const PmemImage&) const = default;
};

/// The bytes of the file for this image; parse_image checks and reverses it.
std::vector<uint8_t> pack_image(const PmemImage& image);
base::Result<PmemImage> parse_image(std::span<const uint8_t> file);
/// Reads and parses a file. Error kNotFound: the file does not exist. An image whose pmem_bytes
/// differs from the argument is an error, too.
base::Result<PmemImage> read_image(const std::string& path, uint64_t pmem_bytes);
/// Writes PATH.new, then renames it to PATH.
base::Result<void> write_image(const std::string& path, const PmemImage& image);

}  // namespace rnic::sim

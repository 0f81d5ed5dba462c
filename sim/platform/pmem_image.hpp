// The persistent memory of a host as a file: what a restarted host finds.
//
//   auto image = read_image("server.pmem", config.pmem_bytes);       an error says what is wrong with it, in a line
//   std::span<const uint8_t> log = image->find("log");
//   write_image("server.pmem", *image);                              whole, or what was there stays
//
//   bytes   8           4        4       8           64 each                            4        sizes
//           magic       version  ranges  pmem_bytes  {name[48], offset, size} x ranges  CRC32C   the ranges' bytes
//
// Numbers are little-endian; the CRC32C is of all before it.
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
  uint64_t offset = 0, size = 0;  // in the host's persistent memory
  bool operator==(const PmemRange&) const = default;
};

struct PmemImage {
  static constexpr size_t kLongestName = 47;
  uint64_t pmem_bytes = 0;  // of the host, used or not
  std::vector<PmemRange> ranges;
  std::vector<uint8_t> bytes;  // of the ranges, one behind the other

  /// Empty if there is no such range.
  std::span<const uint8_t> find(std::string_view name) const;
  bool operator==(const PmemImage&) const = default;
};

std::vector<uint8_t> pack_image(const PmemImage& image);
base::Result<PmemImage> parse_image(std::span<const uint8_t> file);
/// kNotFound: there is no such file. The error of an image of other pmem_bytes says so.
base::Result<PmemImage> read_image(const std::string& path, uint64_t pmem_bytes);
base::Result<void> write_image(const std::string& path, const PmemImage& image);

}  // namespace rnic::sim

// Packs, checks, reads and writes the file; pmem_image.hpp has its layout. A new image is written
// to PATH.new and renamed, so that a failure leaves the old file.
#include "platform/pmem_image.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/bytes.hpp"
#include "rnic/crc32c.hpp"

namespace rnic::sim {
namespace {

using base::Errc;
using base::fail;

constexpr std::string_view kMagic = "RNICPMEM";
constexpr uint32_t kVersion = 1;
// Bytes of the fixed header, of the entry of a range, and of the name in an entry. A file with more
// than kMostRanges ranges counts as damaged.
constexpr size_t kHead = 24, kEntry = 64, kNameBytes = 48, kMostRanges = 65536;

uint64_t size_of(const std::vector<PmemRange>& ranges) {
  uint64_t all = 0;
  for (const PmemRange& r : ranges) all += r.size;
  return all;
}

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

}  // namespace

std::span<const uint8_t> PmemImage::find(std::string_view name) const {
  uint64_t at = 0;
  for (const PmemRange& r : ranges) {
    if (r.name == name) return std::span(bytes).subspan(at, r.size);
    at += r.size;
  }
  return {};
}

std::vector<uint8_t> pack_image(const PmemImage& image) {
  const size_t head = kHead + kEntry * image.ranges.size();
  std::vector<uint8_t> out(head + 4);
  std::ranges::copy(kMagic, out.begin());
  base::store_le(&out[8], kVersion);
  base::store_le(&out[12], static_cast<uint32_t>(image.ranges.size()));
  base::store_le(&out[16], image.pmem_bytes);
  for (size_t i = 0; i < image.ranges.size(); ++i) {
    const PmemRange& r = image.ranges[i];
    uint8_t* entry = &out[kHead + kEntry * i];
    std::copy_n(r.name.begin(), std::min(r.name.size(), PmemImage::kLongestName), entry);
    base::store_le(entry + kNameBytes, r.offset);
    base::store_le(entry + kNameBytes + 8, r.size);
  }
  base::store_le(&out[head], crc32c(std::span(out).first(head)));
  out.insert(out.end(), image.bytes.begin(), image.bytes.end());
  return out;
}

base::Result<PmemImage> parse_image(std::span<const uint8_t> file) {
  const auto cut_short = [&](uint64_t of) {
    return fail(Errc::kInvalidArgument, "cut short: {} bytes of {}", file.size(), of);
  };
  if (file.size() < kHead) return cut_short(kHead);
  if (!std::ranges::equal(file.first(8), kMagic,
                          [](uint8_t a, char b) { return a == static_cast<uint8_t>(b); }))
    return fail(Errc::kInvalidArgument, "no image of persistent memory");
  if (const auto v = base::load_le<uint32_t>(&file[8]); v != kVersion)
    return fail(Errc::kInvalidArgument, "an image of version {}, not {}", v, kVersion);
  const auto n = base::load_le<uint32_t>(&file[12]);
  if (n > kMostRanges) return fail(Errc::kInvalidArgument, "its header is damaged ({} ranges)", n);
  const size_t head = kHead + kEntry * n;
  if (file.size() < head + 4) return cut_short(head + 4);
  if (crc32c(file.first(head)) != base::load_le<uint32_t>(&file[head]))
    return fail(Errc::kInvalidArgument, "its header is damaged (CRC32C)");
  PmemImage image;
  image.pmem_bytes = base::load_le<uint64_t>(&file[16]);
  uint64_t end = 0;
  for (size_t i = 0; i < n; ++i) {
    const uint8_t* entry = &file[kHead + kEntry * i];
    PmemRange r;
    r.name.assign(entry, std::find(entry, entry + kNameBytes, 0));
    r.offset = base::load_le<uint64_t>(entry + kNameBytes);
    r.size = base::load_le<uint64_t>(entry + kNameBytes + 8);
    const bool fits = r.offset >= end && r.offset <= image.pmem_bytes &&
                      r.size <= image.pmem_bytes - r.offset && r.size != 0;
    if (!fits)
      return fail(Errc::kInvalidArgument,
                  "range \"{}\" is empty, overlaps the one before it, or is not within pmem_bytes",
                  r.name);
    end = r.offset + r.size;
    image.ranges.push_back(std::move(r));
  }
  const uint64_t whole = head + 4 + size_of(image.ranges);
  if (file.size() < whole) return cut_short(whole);
  if (file.size() > whole)
    return fail(Errc::kInvalidArgument, "too long: {} bytes, not {}", file.size(), whole);
  image.bytes.assign(file.begin() + static_cast<ptrdiff_t>(head + 4), file.end());
  return image;
}

base::Result<PmemImage> read_image(const std::string& path, uint64_t pmem_bytes) {
  if (std::error_code none;
      std::filesystem::exists(path, none) && !std::filesystem::is_regular_file(path, none))
    return fail(Errc::kInvalidArgument, "{}: not a regular file", path);
  const File in(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!in)
    return fail(errno == ENOENT ? Errc::kNotFound : Errc::kPermission, "{}: cannot be read ({})",
                path, std::strerror(errno));
  std::vector<uint8_t> all;
  std::array<uint8_t, 65536> some;
  while (const size_t n = std::fread(some.data(), 1, some.size(), in.get()))
    all.insert(all.end(), some.begin(), some.begin() + static_cast<ptrdiff_t>(n));
  if (std::ferror(in.get()) != 0)
    return fail(Errc::kPermission, "{}: cannot be read ({})", path, std::strerror(errno));
  auto image = parse_image(all);
  if (!image) return fail(image.error().code, "{}: {}", path, image.error().what);
  if (image->pmem_bytes != pmem_bytes)
    return fail(Errc::kInvalidArgument, "{}: an image of pmem_bytes={}, not {}", path,
                image->pmem_bytes, pmem_bytes);
  return image;
}

base::Result<void> write_image(const std::string& path, const PmemImage& image) {
  const std::string fresh = path + ".new";
  const std::vector<uint8_t> bytes = pack_image(image);
  File out(std::fopen(fresh.c_str(), "wb"), std::fclose);
  bool good = out && std::fwrite(bytes.data(), 1, bytes.size(), out.get()) == bytes.size() &&
              std::fflush(out.get()) == 0 && fsync(fileno(out.get())) == 0;
  if (out) good = std::fclose(out.release()) == 0 && good;
  good = good && std::rename(fresh.c_str(), path.c_str()) == 0;
  if (good) return {};
  const int why = errno;
  std::remove(fresh.c_str());
  return fail(Errc::kPermission, "{}: cannot be written ({})", path, std::strerror(why));
}

}  // namespace rnic::sim

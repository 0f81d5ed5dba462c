// The two copies of a host's persistent memory, live and durable: see pmem.hpp. Only settle() and
// device_wrote() change the durable copy after the start.
#include "platform/pmem.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include "base/bytes.hpp"

namespace rnic::sim {
namespace {

// After the arena and its views (host_memory.cpp), in the address range of each host.
constexpr uint64_t kAt = 0x2200'0000'0000, kHostStride = 0x0400'0000'0000;
constexpr uint64_t kPage = 4096, kHugePage = 2 << 20;

uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }
uint64_t page_of(uint64_t size) { return size >= kHugePage ? kHugePage : kPage; }
/// The device reaches whole pages.
uint64_t reachable(const PmemRange& r) { return round_up(r.size, kPage); }

/// Maps zeroed memory at this process address. Address 0: the operating system chooses.
uint8_t* map_at(uint64_t address, uint64_t size, int protection) {
  void* want = nullptr;
  std::memcpy(&want, &address, sizeof want);
  const int fixed = address == 0 ? 0 : MAP_FIXED_NOREPLACE;
  void* got =
      mmap(want, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
  if (got == MAP_FAILED)
    throw std::system_error(errno, std::generic_category(),
                            fmt::format("persistent memory of {} bytes (pmem_bytes)", size));
  return static_cast<uint8_t*>(got);
}

}  // namespace

PersistenceDomain domain_of(std::string_view name) {
  return name == "eadr"  ? PersistenceDomain::kEadr
         : name == "adr" ? PersistenceDomain::kAdr
                         : PersistenceDomain::kNone;
}

Pmem::Pmem(const HostConfig& config, unsigned host)
    : domain_(domain_of(config.domain)), size_(config.pmem_bytes), host_(host) {
  if (config.pmem_image.empty()) return;
  auto image = read_image(config.pmem_image, size_);
  if (!image) {
    if (image.error().code == base::Errc::kNotFound && config.pmem_recover == 0) return;
    throw std::runtime_error(image.error().what);
  }
  for (const PmemRange& r : image->ranges) {
    open(r);
    const auto bytes = image->find(r.name);
    std::memcpy(live_ + r.offset, bytes.data(), bytes.size());
    std::memcpy(durable_ + r.offset, bytes.data(), bytes.size());
  }
}

Pmem::~Pmem() {
  if (live_ != nullptr) munmap(live_, size_);
  if (durable_ != nullptr) munmap(durable_, size_);
}

void Pmem::reserve() {
  if (live_ != nullptr) return;
  live_ = map_at(kAt + host_ * kHostStride, size_, PROT_NONE);
  durable_ = map_at(0, size_, PROT_READ | PROT_WRITE);
}

/// Between ranges no page is accessible, so that a stale pointer faults.
void Pmem::open(const PmemRange& range) {
  reserve();
  const uint64_t bytes = std::min(reachable(range), size_ - range.offset);
  if (mprotect(live_ + range.offset, bytes, PROT_READ | PROT_WRITE) != 0)
    throw std::system_error(errno, std::generic_category(), "persistent memory");
  ranges_.push_back(range);
}

/// A handle of bytes within one range. The difference below wraps for a range after `offset`: it is
/// then large.
DmaBuffer Pmem::view(uint64_t offset, uint64_t size) {
  const auto owner =
      std::ranges::find_if(ranges_, [&](const PmemRange& r) { return offset - r.offset < r.size; });
  const uint64_t page = page_of(owner->size), from = offset % page;
  std::vector<uint64_t> pages;
  for (uint64_t at = offset - from; at < offset + size; at += page) pages.push_back(kBusBase + at);
  return DmaBuffer({live_ + offset, size}, static_cast<uint32_t>(page), std::move(pages),
                   shared_from_this(), static_cast<uint32_t>(from), true);
}

base::Result<DmaBuffer> Pmem::range(Time now, std::string_view name, uint64_t size) {
  using base::Errc;
  using base::fail;
  if (name.empty() || name.size() > PmemImage::kLongestName || name.find('\0') != name.npos)
    return fail(Errc::kInvalidArgument, "persistent: a name of {} bytes, not 1 to {}", name.size(),
                PmemImage::kLongestName);
  if (size == 0) return fail(Errc::kInvalidArgument, "persistent: \"{}\" of 0 bytes", name);
  for (const PmemRange& r : ranges_) {
    if (r.name != name) continue;
    if (r.size != size)
      return fail(Errc::kInvalidArgument, "persistent: \"{}\" is there with {} bytes, not {}", name,
                  r.size, size);
    return view(r.offset, size);
  }
  // A new range lies after the last one and a guard page, which stays inaccessible.
  const uint64_t end =
      ranges_.empty() ? 0 : ranges_.back().offset + reachable(ranges_.back()) + kPage;
  const PmemRange fresh{std::string(name), round_up(end, page_of(size)), size};
  if (fresh.offset > size_ || reachable(fresh) > size_ - fresh.offset)
    return fail(Errc::kNoMemory, "persistent: no {} bytes for \"{}\" in pmem_bytes={}", size, name,
                size_);
  open(fresh);
  for (auto* o : observers_) o->on_range(now, fresh);
  return view(fresh.offset, size);
}

base::Result<std::optional<DmaBuffer>> Pmem::part(std::span<uint8_t> memory) {
  if (live_ == nullptr || memory.empty()) return std::optional<DmaBuffer>{};
  const uint64_t begin = base::address_of(memory.data()), area = base::address_of(live_);
  if (begin >= area + size_ || begin + memory.size() <= area) return std::optional<DmaBuffer>{};
  const uint64_t offset = begin - area;
  for (const PmemRange& r : ranges_) {
    if (begin >= area && offset >= r.offset && offset - r.offset < r.size &&
        memory.size() <= r.size - (offset - r.offset))
      return std::optional(view(offset, memory.size()));
  }
  return base::fail(base::Errc::kInvalidArgument,
                    "map: {} bytes at {:#x} cross the end of persistent memory", memory.size(),
                    begin);
}

uint8_t* Pmem::reach(uint64_t bus, uint64_t length) const {
  if (bus < kBusBase) return nullptr;
  const uint64_t offset = bus - kBusBase;
  for (const PmemRange& r : ranges_) {
    if (offset >= r.offset && offset - r.offset < reachable(r) &&
        length <= reachable(r) - (offset - r.offset))
      return live_ + offset;
  }
  return nullptr;
}

void Pmem::device_wrote(Time at, uint64_t bus, std::span<const uint8_t> bytes) {
  if (bus < kBusBase || domain_ == PersistenceDomain::kNone || bytes.empty()) return;
  const uint64_t offset = bus - kBusBase;
  std::memcpy(durable_ + offset, bytes.data(), bytes.size());
  for (auto* o : observers_) o->on_durable(at, offset, bytes);
}

void Pmem::settle(Time now, uint64_t offset, uint64_t size) {
  if (std::memcmp(live_ + offset, durable_ + offset, size) == 0) return;
  std::memcpy(durable_ + offset, live_ + offset, size);
  for (auto* o : observers_) o->on_durable(now, offset, {durable_ + offset, size});
}

void Pmem::persist(Time now, std::span<const uint8_t> bytes) {
  if (domain_ == PersistenceDomain::kNone || live_ == nullptr) return;
  const uint64_t begin = base::address_of(bytes.data()), area = base::address_of(live_);
  for (const PmemRange& r : ranges_) {
    const uint64_t from = std::max(begin, area + r.offset),
                   to = std::min(begin + bytes.size(), area + r.offset + r.size);
    if (from < to) settle(now, from - area, to - from);
  }
}

/// Domain eadr: stores become durable line by line. A page without a difference is skipped.
void Pmem::take_stores(Time now) {
  constexpr uint64_t kLine = 64;
  for (const PmemRange& r : ranges_) {
    for (uint64_t at = 0; at < r.size; at += kPage) {
      const uint64_t bytes = std::min(kPage, r.size - at), from = r.offset + at;
      if (std::memcmp(live_ + from, durable_ + from, bytes) == 0) continue;
      for (uint64_t line = 0; line < bytes; line += kLine)
        settle(now, from + line, std::min(kLine, bytes - line));
    }
  }
}

PmemImage Pmem::image() const {
  PmemImage image{.pmem_bytes = size_, .ranges = ranges_, .bytes = {}};
  for (const PmemRange& r : ranges_)
    image.bytes.insert(image.bytes.end(), durable_ + r.offset, durable_ + r.offset + r.size);
  return image;
}

}  // namespace rnic::sim

// The arena of a host, its buffers, and memory of the caller: see host_memory.hpp. State owns the
// arena and its pages. An Area is one buffer or one mapped span.
#include "platform/host_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <list>
#include <optional>
#include <system_error>
#include <vector>

#include "base/bytes.hpp"
#include "base/rng.hpp"

namespace rnic::sim {

/// Neighbouring pages of the arena.
struct HostMemory::Run {
  uint64_t first, count;  // pages
};

namespace {

// Addresses of the arenas in the process: host n's arena, then its views.
constexpr uint64_t kArenaAt = 0x2000'0000'0000, kHostStride = 0x0400'0000'0000,
                   kViewsAt = 0x0020'0000'0000;

/// Target of a bus page of mapped memory: byte n of the page, from <= n < to, is the caller's byte
/// at process address base + n. base 0: the page is not mapped; its bytes lie in the arena.
struct Mapped {
  uint64_t base = 0;
  uint32_t from = 0, to = 0;
  DmaAccess access = DmaAccess::kRead;
};

/// The address as a pointer.
void* at(uint64_t address) {
  void* p = nullptr;
  std::memcpy(&p, &address, sizeof p);
  return p;
}

}  // namespace

struct HostMemory::State {
  using Run = HostMemory::Run;
  State(const HostConfig& c, unsigned host, uint64_t seed)
      : config(c),
        rng(base::Rng(seed).fork("host_memory")),
        size(c.arena_mib << 20),
        pages(size / kPage),
        used(pages, 0),
        dirty(pages, 0),
        next_view(kArenaAt + host * kHostStride + kViewsAt) {
    fd = memfd_create("rnic-arena", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, static_cast<off_t>(size)) != 0) fail("memfd");
    void* want = at(kArenaAt + host * kHostStride);
    void* got = mmap(want, size, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE, fd, 0);
    if (got == MAP_FAILED) fail("mmap");
    arena = static_cast<uint8_t*>(got);
  }
  ~State() {
    if (arena != nullptr) munmap(arena, size);
    if (fd >= 0) close(fd);
  }
  [[noreturn]] void fail(const char* what) {
    const int error = errno;
    if (fd >= 0) close(fd);
    fd = -1;
    throw std::system_error(error, std::generic_category(),
                            fmt::format("host memory of {} MiB (arena_mib): {}", size >> 20, what));
  }

  bool is_free(uint64_t first, uint64_t count) const {
    if (first + count > pages) return false;
    return std::all_of(used.begin() + static_cast<ptrdiff_t>(first),
                       used.begin() + static_cast<ptrdiff_t>(first + count),
                       [](uint8_t u) { return u == 0; });
  }

  /// Marks the pages as used.
  void take(Run run) {
    std::fill_n(used.begin() + static_cast<ptrdiff_t>(run.first), run.count, uint8_t{1});
    in_use += run.count;
  }
  /// Zeroes the arena pages of a run before their use.
  void zero(Run run) {
    for (uint64_t p = run.first; p < run.first + run.count; ++p) {
      if (dirty[p] != 0) std::memset(arena + p * kPage, 0, kPage);
      dirty[p] = 1;
    }
  }
  void give_back(const std::vector<Run>& runs) {
    for (const Run& run : runs) {
      std::fill_n(used.begin() + static_cast<ptrdiff_t>(run.first), run.count, uint8_t{0});
      in_use -= run.count;
    }
  }

  /// Finds `count` free neighbouring pages and writes the number of the first, a multiple of
  /// `align`, to *first. The search starts at page `from` and wraps around. False: there are none.
  bool find(uint64_t from, uint64_t count, uint64_t align, uint64_t* first) const {
    const uint64_t slots = pages / align;
    for (uint64_t i = 0, s = from / align; i < slots; ++i, s = s + 1 == slots ? 0 : s + 1) {
      if (is_free(s * align, count)) {
        *first = s * align;
        return true;
      }
    }
    return false;
  }

  uint32_t page_size_for(uint64_t bytes) const {
    if (bytes >= config.huge_from_mib << 20) return kHugePage;
    return static_cast<uint32_t>(config.page_kib << 10);
  }

  bool take_contiguous(uint64_t count, std::vector<Run>* runs) {
    uint64_t first = 0;
    if (!find(0, count, 1, &first)) return false;
    take({first, count});
    runs->push_back({first, count});
    return true;
  }

  /// Draws start and length of each run. If the drawn start is in use, the run starts at the next
  /// free page. The run ends before a page that is in use.
  bool take_scattered(uint64_t count, std::vector<Run>* runs) {
    if (count > pages - in_use) return false;
    while (count > 0) {
      const uint64_t want = std::min(rng.between(1, config.scatter_pages), count);
      uint64_t first = 0;
      // From the upper three quarters: contiguous buffers fill the arena from page 0.
      if (!find(pages / 4 + rng.below(pages - pages / 4), 1, 1, &first)) return false;
      uint64_t got = 1;
      while (got < want && is_free(first + got, 1)) ++got;
      take({first, got});
      runs->push_back({first, got});
      count -= got;
    }
    return true;
  }

  /// Takes `count` pages as random aligned groups of `per` pages each.
  bool take_large(uint64_t count, uint64_t per, std::vector<Run>* runs) {
    if (count > pages - in_use) return false;
    for (; count > 0; count -= per) {
      uint64_t first = 0;
      if (!find(rng.below(pages / per) * per, per, per, &first)) return false;
      take({first, per});
      runs->push_back({first, per});
    }
    return true;
  }

  /// Takes `count` pages of 4 KiB, grouped in pages of `page_size`. On an error no page is taken.
  base::Result<std::vector<Run>> take_pages(uint64_t count, uint32_t page_size) {
    std::vector<Run> runs;
    const bool taken = page_size == kPage ? take_scattered(count, &runs)
                                          : take_large(count, page_size / kPage, &runs);
    if (taken) return runs;
    give_back(runs);
    return base::fail(base::Errc::kNoMemory, "no {} KiB in pages of {}; {} of {} pages in use",
                      count * (kPage >> 10), page_size, in_use, pages);
  }

  const HostConfig config;
  base::Rng rng;
  const uint64_t size, pages;
  int fd = -1;
  uint8_t* arena = nullptr;
  std::vector<uint8_t> used;   // the page has an owner
  std::vector<uint8_t> dirty;  // the page had an owner: zero it before the next use
  std::vector<Mapped> mapped;  // by page; empty until the first span is mapped
  std::list<Area*> areas;      // all live areas, oldest first
  uint64_t in_use = 0;
  uint64_t next_view;  // process address of the next buffer
};

namespace {

/// Lets the kernel copy a byte out of each page and back in. The kernel reports an inaccessible
/// page; our own load or store would end the process.
base::Result<void> check_callers(std::span<uint8_t> memory, DmaAccess access) {
  const uint64_t begin = base::address_of(memory.data());
  if (memory.data() == nullptr || memory.empty()) {
    return base::fail(base::Errc::kInvalidArgument, "map: {} bytes at address {:#x}", memory.size(),
                      begin);
  }
  if (begin + memory.size() < begin) {
    return base::fail(base::Errc::kInvalidArgument, "map: {} bytes at address {:#x} wrap",
                      memory.size(), begin);
  }
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return base::fail(base::Errc::kNoMemory, "map: pipe: {}", std::strerror(errno));
  base::Result<void> result;
  for (uint64_t i = 0; i < memory.size() && result;
       i += HostMemory::kPage - (begin + i) % HostMemory::kPage) {
    uint8_t* byte = memory.data() + i;
    uint8_t spare = 0;
    if (write(ends[1], byte, 1) != 1) {
      result = base::fail(base::Errc::kInvalidArgument, "map: byte {} of {} is not mapped", i,
                          memory.size());
    } else if (read(ends[0], access == DmaAccess::kRead ? &spare : byte, 1) != 1) {
      result = base::fail(base::Errc::kPermission, "map: byte {} of {} is write-protected", i,
                          memory.size());
    }
  }
  close(ends[0]);
  close(ends[1]);
  return result;
}

}  // namespace

/// A run of process addresses that a device reaches: a view of the arena, or memory of the caller.
/// All handles of a DmaBuffer share it.
struct HostMemory::Area : std::enable_shared_from_this<Area> {
  Area(std::shared_ptr<State> s, uint64_t address, uint64_t bytes, uint32_t page, uint32_t first,
       std::vector<Run> r, std::optional<DmaAccess> access)
      : state(std::move(s)),
        begin(address),
        length(bytes),
        page_size(page),
        first_offset(first),
        is_callers(access.has_value()),
        runs(std::move(r)) {
    for (const Run& run : runs) {
      for (uint64_t p = run.first; p < run.first + run.count; p += page_size / kPage)
        pages.push_back(kBusBase + p * kPage);
    }
    place = state->areas.insert(state->areas.end(), this);
    if (access) allow(*access);
  }
  Area(const Area&) = delete;
  Area& operator=(const Area&) = delete;
  ~Area() {
    state->areas.erase(place);
    if (is_callers) {
      for (const Run& run : runs)
        std::fill_n(state->mapped.begin() + static_cast<ptrdiff_t>(run.first), run.count, Mapped{});
    } else {
      munmap(at(begin), length);
    }
    state->give_back(runs);
  }

  bool holds(uint64_t address, uint64_t bytes) const {
    return address >= begin && address - begin <= length && bytes <= length - (address - begin);
  }
  bool overlaps(uint64_t address, uint64_t bytes) const {
    return address < begin + length && begin < address + bytes;
  }

  /// True if the whole area can be mapped with this access.
  bool may(DmaAccess access) const {
    if (!is_callers || access == DmaAccess::kRead) return true;
    return check_callers({static_cast<uint8_t*>(at(begin)), length}, access).has_value();
  }
  /// Permits the device `access` to the caller's bytes from now on. Earlier permissions stay.
  void allow(DmaAccess access) {
    if (!is_callers) return;
    is_written = is_written || access == DmaAccess::kReadWrite;
    if (state->mapped.empty()) state->mapped.resize(state->pages);
    const uint64_t end = first_offset + length;  // counted from the start of the first page
    uint64_t edge = 0;                           // start of page p, counted likewise
    for (const Run& run : runs) {
      for (uint64_t p = run.first; p < run.first + run.count; ++p, edge += kPage) {
        Mapped& m = state->mapped[p];
        m.base = begin - first_offset + edge;
        m.from = edge == 0 ? first_offset : 0;
        m.to = static_cast<uint32_t>(end > edge ? std::min<uint64_t>(kPage, end - edge) : 0);
        if (access == DmaAccess::kReadWrite) m.access = access;
      }
    }
  }

  /// A handle of these bytes of the area.
  DmaBuffer part(uint64_t address, uint64_t bytes) {
    const uint64_t from = first_offset + (address - begin);
    const auto first = pages.begin() + static_cast<ptrdiff_t>(from / page_size);
    const auto last = pages.begin() + static_cast<ptrdiff_t>((from + bytes - 1) / page_size);
    return DmaBuffer({static_cast<uint8_t*>(at(address)), bytes}, page_size, {first, last + 1},
                     shared_from_this(), static_cast<uint32_t>(from % page_size));
  }

  const std::shared_ptr<State> state;
  const uint64_t begin, length;
  const uint32_t page_size, first_offset;
  const bool is_callers;
  bool is_written = false;  // memory of the caller that the device may write
  const std::vector<Run> runs;
  std::vector<uint64_t> pages;       // bus addresses
  std::list<Area*>::iterator place;  // of this area in state->areas
};

HostMemory::HostMemory(const HostConfig& config, unsigned host, uint64_t seed)
    : state_(std::make_shared<State>(config, host, seed)),
      pmem_(std::make_shared<Pmem>(config, host)) {}
HostMemory::~HostMemory() = default;

/// Maps the runs of arena pages one after the other, at fresh process addresses.
base::Result<DmaBuffer> HostMemory::view(uint64_t size, uint32_t page_size, std::vector<Run> runs) {
  State& s = *state_;
  const uint64_t length = (size + page_size - 1) / page_size * page_size;
  const uint64_t begin = (s.next_view + page_size - 1) / page_size * page_size;
  s.next_view = begin + length + s.config.guard_pages * kPage;

  auto area =
      std::make_shared<Area>(state_, begin, length, page_size, 0, std::move(runs), std::nullopt);
  uint64_t to = begin;
  for (const Run& run : area->runs) {
    s.zero(run);
    const uint64_t bytes = run.count * kPage;
    void* got = mmap(at(to), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, s.fd,
                     static_cast<off_t>(run.first * kPage));
    if (got == MAP_FAILED) {
      return base::fail(base::Errc::kNoMemory, "mmap of {} bytes at page {}: {}", bytes, run.first,
                        std::strerror(errno));
    }
    to += bytes;
  }
  return area->part(begin, size);
}

base::Result<DmaBuffer> HostMemory::alloc(uint64_t size, MemoryKind kind) {
  if (kind == MemoryKind::kScattered) return alloc_pages(size, state_->page_size_for(size));
  if (size == 0 || size > kMaxContiguous) {
    return base::fail(base::Errc::kInvalidArgument, "contiguous memory: {} bytes, not 1 to {}",
                      size, kMaxContiguous);
  }
  std::vector<Run> runs;
  if (!state_->take_contiguous((size + kPage - 1) / kPage, &runs)) {
    return base::fail(base::Errc::kNoMemory, "no {} contiguous bytes in {} MiB", size,
                      state_->size >> 20);
  }
  return view(size, kPage, std::move(runs));
}

base::Result<DmaBuffer> HostMemory::alloc_pages(uint64_t size, uint32_t page_size) {
  if (size == 0) return base::fail(base::Errc::kInvalidArgument, "memory of 0 bytes");
  if (page_size < kPage || page_size > kHugePage || !std::has_single_bit(page_size)) {
    return base::fail(base::Errc::kInvalidArgument, "page size {}", page_size);
  }
  auto runs =
      state_->take_pages((size + page_size - 1) / page_size * (page_size / kPage), page_size);
  if (!runs) return tl::unexpected<base::Error>(runs.error());
  return view(size, page_size, std::move(*runs));
}

// `home`: an area that holds the whole span already. Its bus addresses are used again. An area that
// the device may write is preferred.
base::Result<DmaBuffer> HostMemory::map(std::span<uint8_t> memory, DmaAccess access) {
  if (auto r = check_callers(memory, access); !r) return tl::unexpected<base::Error>(r.error());
  auto persistent = pmem_->part(memory);
  if (!persistent) return tl::unexpected<base::Error>(persistent.error());
  if (*persistent) return **persistent;
  State& s = *state_;
  const uint64_t begin = base::address_of(memory.data()), size = memory.size();
  Area* home = nullptr;
  for (Area* area : s.areas)
    if (area->holds(begin, size) && area->may(access) && (home == nullptr || area->is_written))
      home = area;
  // The device may write a byte at one bus address only: `atomic` locks by bus address, so two
  // atomics on one byte at different bus addresses would not exclude each other.
  if (access == DmaAccess::kReadWrite && (home == nullptr || !home->is_written)) {
    const uint64_t from = home != nullptr ? home->begin : begin,
                   bytes = home != nullptr ? home->length : size;
    for (const Area* area : s.areas) {
      if (area == home || !area->is_written || !area->overlaps(from, bytes)) continue;
      return base::fail(base::Errc::kBusy,
                        "map: of {} bytes at {:#x} some are mapped at other bus addresses (with {} "
                        "bytes at {:#x}); map what holds both first",
                        bytes, from, area->length, area->begin);
    }
  }
  if (home != nullptr) {
    home->allow(access);
    return home->part(begin, size);
  }
  for (const Area* area : s.areas) {
    if (area->is_callers || !area->overlaps(begin, size)) continue;
    return base::fail(base::Errc::kInvalidArgument,
                      "map: {} bytes at {:#x} cross the end of memory that alloc gave", size,
                      begin);
  }
  // Keep the address modulo 16, which the caller chose: malloc aligns to 16. Draw the rest of the
  // offset in the page: malloc chose it, and no result may depend on it.
  const auto first = static_cast<uint32_t>(begin % 16 + 16 * s.rng.below(kPage / 16));
  const uint32_t page_size = s.page_size_for(size);
  const uint64_t count = (first + size + page_size - 1) / page_size * (page_size / kPage);
  auto runs = s.take_pages(count, page_size);
  if (!runs) return tl::unexpected<base::Error>(runs.error());
  return std::make_shared<Area>(state_, begin, size, page_size, first, std::move(*runs), access)
      ->part(begin, size);
}

/// The process address of these bus bytes; null if no buffer owns them or the access is not
/// permitted.
uint8_t* HostMemory::reach(uint64_t bus, uint64_t length, DmaAccess access) const {
  if (bus >= Pmem::kBusBase)
    return bus % kPage + length <= kPage ? pmem_->reach(bus, length) : nullptr;
  const State& s = *state_;
  if (bus < kBusBase || bus - kBusBase >= s.size) return nullptr;
  const uint64_t offset = bus - kBusBase, page = offset / kPage, in_page = offset % kPage;
  if (in_page + length > kPage || s.used[page] == 0) return nullptr;
  if (s.mapped.empty() || s.mapped[page].base == 0) return s.arena + offset;
  const Mapped& m = s.mapped[page];
  if (in_page < m.from || in_page + length > m.to) return nullptr;
  if (access == DmaAccess::kReadWrite && m.access == DmaAccess::kRead) return nullptr;
  return static_cast<uint8_t*>(at(m.base + in_page));
}

bool HostMemory::owned(uint64_t bus, uint64_t length) const {
  return reach(bus, length, DmaAccess::kRead) != nullptr;
}

bool HostMemory::read(uint64_t bus, std::span<uint8_t> out) const {
  const uint8_t* from = reach(bus, out.size(), DmaAccess::kRead);
  if (from == nullptr) return false;
  if (!out.empty()) std::memcpy(out.data(), from, out.size());
  return true;
}

bool HostMemory::write(uint64_t bus, std::span<const uint8_t> bytes) {
  uint8_t* to = reach(bus, bytes.size(), DmaAccess::kReadWrite);
  if (to == nullptr) return false;
  if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  return true;
}

uint64_t HostMemory::size() const { return state_->size; }
uint64_t HostMemory::pages_in_use() const { return state_->in_use; }

}  // namespace rnic::sim

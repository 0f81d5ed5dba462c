#include "platform/host_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

#include "base/bytes.hpp"
#include "base/rng.hpp"

namespace rnic::sim {
namespace {

// Where the arenas stand in the process: host n's arena, then its views.
constexpr uint64_t kArenaAt = 0x2000'0000'0000, kHostStride = 0x0400'0000'0000,
                   kViewsAt = 0x0020'0000'0000;

struct Run {
  uint64_t first, count;  // pages
};

void* at(uint64_t address) {
  void* p = nullptr;
  std::memcpy(&p, &address, sizeof p);
  return p;
}

}  // namespace

struct HostMemory::State {
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

  void take(Run run) {
    for (uint64_t p = run.first; p < run.first + run.count; ++p) {
      used[p] = 1;
      if (dirty[p] != 0) std::memset(arena + p * kPage, 0, kPage);
      dirty[p] = 1;
    }
    in_use += run.count;
  }
  void give_back(const std::vector<Run>& runs) {
    for (const Run& run : runs) {
      std::fill_n(used.begin() + static_cast<ptrdiff_t>(run.first), run.count, uint8_t{0});
      in_use -= run.count;
    }
  }

  /// The first free place from `from` on (and around), `count` pages long, aligned.
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

  bool take_contiguous(uint64_t count, std::vector<Run>* runs) {
    uint64_t first = 0;
    if (!find(0, count, 1, &first)) return false;
    take({first, count});
    runs->push_back({first, count});
    return true;
  }

  /// Each run begins where the dice say and is as long as they say, unless somebody is there
  /// already.
  bool take_scattered(uint64_t count, std::vector<Run>* runs) {
    if (count > pages - in_use) return false;
    while (count > 0) {
      const uint64_t want = std::min(rng.between(1, config.scatter_pages), count);
      uint64_t first = 0;
      if (!find(pages / 4 + rng.below(pages - pages / 4), 1, 1, &first)) return false;
      uint64_t got = 1;
      while (got < want && is_free(first + got, 1)) ++got;
      take({first, got});
      runs->push_back({first, got});
      count -= got;
    }
    return true;
  }

  /// Of `per` pages each, where the dice say.
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

  const HostConfig config;
  base::Rng rng;
  const uint64_t size, pages;
  int fd = -1;
  uint8_t* arena = nullptr;
  std::vector<uint8_t> used;   // a page has an owner
  std::vector<uint8_t> dirty;  // it had one: zero it before the next
  uint64_t in_use = 0;
  uint64_t next_view;
};

namespace {

/// What a DmaBuffer's handles share: unmaps the view and gives the pages back.
template <class State>
struct View {
  View(std::shared_ptr<State> s, uint64_t address, uint64_t bytes, std::vector<Run> r)
      : state(std::move(s)), base(address), length(bytes), runs(std::move(r)) {}
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  ~View() {
    munmap(at(base), length);
    state->give_back(runs);
  }
  std::shared_ptr<State> state;
  uint64_t base, length;
  std::vector<Run> runs;
};

template <class State>
base::Result<DmaBuffer> map_runs(const std::shared_ptr<State>& state, uint64_t size,
                                 uint32_t page_size, std::vector<Run> runs) {
  constexpr uint64_t kPage = HostMemory::kPage;
  const uint64_t length = (size + page_size - 1) / page_size * page_size;
  const uint64_t base = (state->next_view + page_size - 1) / page_size * page_size;
  state->next_view = base + length + state->config.guard_pages * kPage;

  auto view = std::make_shared<View<State>>(state, base, length, std::move(runs));
  std::vector<uint64_t> pages;
  uint64_t to = base;
  for (const Run& run : view->runs) {
    const uint64_t offset = run.first * kPage, bytes = run.count * kPage;
    void* got = mmap(at(to), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE,
                     state->fd, static_cast<off_t>(offset));
    if (got == MAP_FAILED) {
      return base::fail(base::Errc::kNoMemory, "mmap of {} bytes at page {}: {}", bytes, run.first,
                        std::strerror(errno));
    }
    for (uint64_t p = 0; p < bytes; p += page_size)
      pages.push_back(HostMemory::kBusBase + offset + p);
    to += bytes;
  }
  return DmaBuffer({static_cast<uint8_t*>(at(base)), size}, page_size, std::move(pages), view);
}

}  // namespace

HostMemory::HostMemory(const HostConfig& config, unsigned host, uint64_t seed)
    : state_(std::make_shared<State>(config, host, seed)) {}
HostMemory::~HostMemory() = default;

base::Result<DmaBuffer> HostMemory::alloc(uint64_t size, MemoryKind kind) {
  if (kind == MemoryKind::kScattered) {
    const HostConfig& c = state_->config;
    return alloc_pages(
        size, size >= c.huge_from_mib << 20 ? kHugePage : static_cast<uint32_t>(c.page_kib << 10));
  }
  if (size == 0 || size > kMaxContiguous) {
    return base::fail(base::Errc::kInvalidArgument, "contiguous memory: {} bytes, not 1 to {}",
                      size, kMaxContiguous);
  }
  std::vector<Run> runs;
  if (!state_->take_contiguous((size + kPage - 1) / kPage, &runs)) {
    return base::fail(base::Errc::kNoMemory, "no {} contiguous bytes in {} MiB", size,
                      state_->size >> 20);
  }
  return map_runs(state_, size, kPage, std::move(runs));
}

base::Result<DmaBuffer> HostMemory::alloc_pages(uint64_t size, uint32_t page_size) {
  if (size == 0) return base::fail(base::Errc::kInvalidArgument, "memory of 0 bytes");
  if (page_size < kPage || page_size > kHugePage || !std::has_single_bit(page_size)) {
    return base::fail(base::Errc::kInvalidArgument, "page size {}", page_size);
  }
  std::vector<Run> runs;
  const uint64_t count = (size + page_size - 1) / page_size * (page_size / kPage);
  if (!(page_size == kPage ? state_->take_scattered(count, &runs)
                           : state_->take_large(count, page_size / kPage, &runs))) {
    state_->give_back(runs);
    return base::fail(base::Errc::kNoMemory, "no {} bytes in pages of {}; {} of {} pages in use",
                      size, page_size, state_->in_use, state_->pages);
  }
  return map_runs(state_, size, page_size, std::move(runs));
}

bool HostMemory::owned(uint64_t bus, uint64_t length) const {
  if (bus < kBusBase || bus - kBusBase >= state_->size) return false;
  const uint64_t offset = bus - kBusBase;
  return offset % kPage + length <= kPage && state_->used[offset / kPage] != 0;
}

bool HostMemory::read(uint64_t bus, std::span<uint8_t> out) const {
  if (!owned(bus, out.size())) return false;
  if (!out.empty()) std::memcpy(out.data(), state_->arena + (bus - kBusBase), out.size());
  return true;
}

bool HostMemory::write(uint64_t bus, std::span<const uint8_t> bytes) {
  if (!owned(bus, bytes.size())) return false;
  if (!bytes.empty()) std::memcpy(state_->arena + (bus - kBusBase), bytes.data(), bytes.size());
  return true;
}

uint64_t HostMemory::size() const { return state_->size; }
uint64_t HostMemory::pages_in_use() const { return state_->in_use; }

}  // namespace rnic::sim

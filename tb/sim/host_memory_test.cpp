// sim/platform/host_memory: scattered and contiguous buffers, the same bytes for bus and program,
// guards, reuse, reproducibility; memory of the caller.
#include "platform/host_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <set>

#include "base/bytes.hpp"
#include "base/rng.hpp"

namespace rnic::sim {
namespace {

HostConfig small() {
  HostConfig c;
  c.arena_mib = 64;
  return c;
}

TEST(HostMemory, BusAndProgramSeeTheSameBytes) {
  HostMemory memory(small(), 0, 1);
  DmaBuffer b = memory.alloc(100'000, MemoryKind::kScattered).value();
  ASSERT_EQ(b.pages().size(), 25u);
  base::Rng rng(5);
  const auto want = rng.bytes(100'000);
  std::copy(want.begin(), want.end(), b.data());
  for (uint64_t at = 0; at < b.size(); at += 4096) {
    std::vector<uint8_t> got(std::min<uint64_t>(4096, b.size() - at));
    ASSERT_TRUE(memory.read(b.bus(at), got));
    EXPECT_TRUE(std::equal(got.begin(), got.end(), want.begin() + static_cast<ptrdiff_t>(at)));
  }
  const std::vector<uint8_t> word = {1, 2, 3, 4};
  ASSERT_TRUE(memory.write(b.bus(8192 + 10), word));
  EXPECT_TRUE(std::equal(word.begin(), word.end(), b.data() + 8202));
}

TEST(HostMemory, ScatteredPagesComeInShortRunsInAnyOrder) {
  HostMemory memory(small(), 0, 2);
  const DmaBuffer b = memory.alloc(4 << 20, MemoryKind::kScattered).value();
  std::set<uint64_t> all(b.pages().begin(), b.pages().end());
  EXPECT_EQ(all.size(), 1024u);
  unsigned runs = 1, longest = 1, length = 1, down = 0;
  for (size_t i = 1; i < b.pages().size(); ++i) {
    if (b.pages()[i] == b.pages()[i - 1] + 4096) {
      longest = std::max(longest, ++length);
    } else {
      ++runs;
      length = 1;
      down += b.pages()[i] < b.pages()[i - 1];
    }
  }
  // 1024 pages in runs of 1 to 16 (scatter_pages): about 120 runs. Two runs may be adjacent by
  // chance: they then count as one of up to 32 pages.
  EXPECT_GT(runs, 80u);
  EXPECT_LE(longest, 33u);
  EXPECT_GT(down, runs / 4);
}

TEST(HostMemory, ContiguousIsOneRun) {
  HostMemory memory(small(), 0, 2);
  const DmaBuffer b = memory.alloc(2 << 20, MemoryKind::kContiguous).value();
  for (size_t i = 1; i < b.pages().size(); ++i) EXPECT_EQ(b.pages()[i], b.pages()[0] + i * 4096);
  EXPECT_FALSE(memory.alloc((2 << 20) + 1, MemoryKind::kContiguous));
  EXPECT_FALSE(memory.alloc(0, MemoryKind::kContiguous));
}

TEST(HostMemory, LargeBuffersHaveHugePages) {
  HostConfig c = small();
  c.huge_from_mib = 4;
  HostMemory memory(c, 0, 2);
  const DmaBuffer b = memory.alloc(5 << 20, MemoryKind::kScattered).value();
  EXPECT_EQ(b.page_size(), 2u << 20);
  ASSERT_EQ(b.pages().size(), 3u);
  for (const uint64_t p : b.pages()) EXPECT_EQ(p % (2 << 20), 0u);
  b.data()[(4 << 20) + 5] = 77;
  uint8_t got = 0;
  ASSERT_TRUE(memory.read(b.bus((4 << 20) + 5), {&got, 1}));
  EXPECT_EQ(got, 77);
}

TEST(HostMemory, PagesHaveTheSizeThatIsSet) {
  for (const uint64_t kib : {8u, 64u, 1024u, 2048u}) {
    HostConfig c = small();
    c.page_kib = kib;
    HostMemory memory(c, 0, 2);
    const uint64_t page = kib << 10;
    const DmaBuffer b = memory.alloc(3 * page + 1, MemoryKind::kScattered).value();
    EXPECT_EQ(b.page_size(), page);
    ASSERT_EQ(b.pages().size(), 4u);
    for (const uint64_t p : b.pages()) EXPECT_EQ(p % page, 0u);
    b.data()[3 * page] = 77;
    uint8_t got = 0;
    ASSERT_TRUE(memory.read(b.bus(3 * page), {&got, 1}));
    EXPECT_EQ(got, 77);
  }
}

// Bus addresses below the arena, after its end, and in it but not allocated.
TEST(HostMemory, NobodysMemoryIsRefused) {
  HostMemory memory(small(), 0, 3);
  uint8_t byte = 0;
  EXPECT_FALSE(memory.read(0, {&byte, 1}));
  EXPECT_FALSE(memory.read(HostMemory::kBusBase + (64 << 20), {&byte, 1}));
  EXPECT_FALSE(memory.read(HostMemory::kBusBase + (63 << 20), {&byte, 1}));
  uint64_t bus = 0;
  {
    const DmaBuffer b = memory.alloc(4096, MemoryKind::kContiguous).value();
    bus = b.bus(0);
    EXPECT_TRUE(memory.write(bus, {&byte, 1}));
    EXPECT_FALSE(memory.write(bus + 4096, {&byte, 1}));
  }
  EXPECT_FALSE(memory.write(bus, {&byte, 1}));  // freed
}

TEST(HostMemory, FreedPagesComeBackZeroed) {
  HostMemory memory(small(), 0, 4);
  for (int round = 0; round < 40; ++round) {  // 40 x 8 MiB in 64 MiB
    const DmaBuffer b = memory.alloc(8 << 20, MemoryKind::kScattered).value();
    EXPECT_EQ(std::accumulate(b.bytes().begin(), b.bytes().begin() + 100'000, 0u), 0u);
    std::fill(b.bytes().begin(), b.bytes().end(), uint8_t{0xee});
  }
  EXPECT_EQ(memory.pages_in_use(), 0u);
}

TEST(HostMemory, FullIsAnErrorAndChangesNothing) {
  HostMemory memory(small(), 0, 4);
  const DmaBuffer b = memory.alloc(40 << 20, MemoryKind::kScattered).value();
  const uint64_t used = memory.pages_in_use();
  const auto more = memory.alloc(40 << 20, MemoryKind::kScattered);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, base::Errc::kNoMemory);
  EXPECT_EQ(memory.pages_in_use(), used);
}

TEST(HostMemoryDeathTest, GuardPageStopsAnOverrun) {
  testing::GTEST_FLAG(death_test_style) = "fast";
  HostMemory memory(small(), 0, 4);
  const DmaBuffer a = memory.alloc(4096, MemoryKind::kScattered).value();
  const DmaBuffer b = memory.alloc(4096, MemoryKind::kScattered).value();
  volatile uint8_t* past = a.data() + 4096;
  EXPECT_DEATH(*past = 1, "");
}

TEST(HostMemory, BufferOutlivesTheMemory) {
  DmaBuffer b;
  {
    HostMemory memory(small(), 0, 4);
    b = memory.alloc(4096, MemoryKind::kScattered).value();
  }
  b.data()[5] = 1;
  EXPECT_EQ(b.data()[5], 1);
}

TEST(HostMemory, SameSeedSamePages) {
  auto pages = [](uint64_t seed) {
    HostMemory memory(small(), 0, seed);
    std::vector<uint64_t> all;
    for (const uint64_t size : {5000, 70'000, 4096, 1 << 20}) {
      const DmaBuffer b = memory.alloc(size, MemoryKind::kScattered).value();
      all.insert(all.end(), b.pages().begin(), b.pages().end());
      all.push_back(static_cast<uint64_t>(b.data() - static_cast<uint8_t*>(nullptr)));
    }
    return all;
  };
  EXPECT_EQ(pages(7), pages(7));
  EXPECT_NE(pages(7), pages(8));
}

// --- memory of the caller ---

/// The bytes that the device reads through the bus addresses of `b`, piece by piece.
std::vector<uint8_t> as_device(const HostMemory& memory, const DmaBuffer& b) {
  std::vector<uint8_t> all(b.size());
  for (uint64_t at = 0; at < b.size();) {
    const uint64_t n = std::min<uint64_t>(4096 - b.bus(at) % 4096, b.size() - at);
    EXPECT_TRUE(memory.read(b.bus(at), std::span(all).subspan(at, n)));
    at += n;
  }
  return all;
}

TEST(CallerMemory, AnyAlignmentAndLength) {
  HostMemory memory(small(), 0, 1);
  base::Rng rng(5);
  for (const uint64_t size : {1u, 15u, 4095u, 4096u, 4097u, 12288u, 300'001u}) {
    for (const uint64_t shift : {0u, 1u, 3u, 8u, 15u, 4094u}) {
      std::vector<uint8_t> heap = rng.bytes(size + shift + 1);
      const auto span = std::span(heap).subspan(shift, size);
      const uint8_t behind = heap.back();
      const DmaBuffer b = memory.map(span, DmaAccess::kReadWrite).value();
      EXPECT_EQ(b.data(), span.data());
      EXPECT_EQ(b.size(), size);
      EXPECT_TRUE(std::ranges::equal(as_device(memory, b), span));
      heap[shift] = static_cast<uint8_t>(heap[shift] + 1);  // there is no copy
      EXPECT_EQ(as_device(memory, b)[0], heap[shift]);
      const uint8_t last = static_cast<uint8_t>(~span.back());
      ASSERT_TRUE(memory.write(b.bus(size - 1), {&last, 1}));
      EXPECT_EQ(span.back(), last);
      EXPECT_EQ(heap.back(), behind);
    }
  }
  EXPECT_EQ(memory.pages_in_use(), 0u);
}

TEST(CallerMemory, TheDeviceReachesNoByteBesideIt) {
  HostMemory memory(small(), 0, 1);
  std::vector<uint8_t> heap(10'000, 7);
  const DmaBuffer b = memory.map(std::span(heap).subspan(100, 5000), DmaAccess::kReadWrite).value();
  uint8_t byte = 1;
  for (const uint64_t bus : {b.bus(0) - 1, b.bus(4999) + 1}) {
    EXPECT_FALSE(memory.owned(bus, 1));
    EXPECT_FALSE(memory.read(bus, {&byte, 1}));
    EXPECT_FALSE(memory.write(bus, {&byte, 1}));
  }
  EXPECT_FALSE(memory.owned(b.bus(4999), 2));
  EXPECT_TRUE(memory.owned(b.bus(0), 0));
  EXPECT_EQ(std::ranges::count(heap, 7), 10'000);
}

/// If malloc returns memory that is moved by a multiple of 16 bytes, bus addresses are the same.
TEST(CallerMemory, BusAddressesFollowTheSeedAlone) {
  std::vector<uint8_t> heap(1 << 20);
  const uint64_t to_16 = 16 - base::address_of(heap.data()) % 16;
  auto pages = [&](uint64_t seed, uint64_t moved) {
    HostMemory memory(small(), 0, seed);
    std::vector<uint64_t> all;
    for (const uint64_t size : {5000u, 70'000u, 1u, 400'000u}) {
      const auto span = std::span(heap).subspan(to_16 + moved, size);
      const DmaBuffer b = memory.map(span, DmaAccess::kReadWrite).value();
      all.push_back(b.bus(0));
      all.insert(all.end(), b.pages().begin(), b.pages().end());
    }
    return all;
  };
  const auto first = pages(7, 0);
  for (const uint64_t moved : {16u, 32u, 2000u, 4096u, 123'456u})
    EXPECT_EQ(pages(7, moved / 16 * 16), first);
  EXPECT_NE(pages(8, 0), first);
  EXPECT_EQ(pages(7, 5)[0], first[0] + 5);  // the caller's own alignment is kept
}

TEST(CallerMemory, PagesAreScattered) {
  HostMemory memory(small(), 0, 2);
  std::vector<uint8_t> heap(2 << 20);
  const DmaBuffer b = memory.map(heap, DmaAccess::kReadWrite).value();
  unsigned jumps = 0;
  for (size_t i = 1; i < b.pages().size(); ++i) jumps += b.pages()[i] != b.pages()[i - 1] + 4096;
  EXPECT_GT(jumps, 40u);
  EXPECT_NE(b.first_offset(), 0u);
}

TEST(CallerMemory, MappedAgainItKeepsItsBusAddresses) {
  HostMemory memory(small(), 0, 2);
  std::vector<uint8_t> heap(100'000);
  std::optional<DmaBuffer> whole = memory.map(heap, DmaAccess::kReadWrite).value();
  const uint64_t used = memory.pages_in_use(), bus = whole->bus(54'321);
  const DmaBuffer again = memory.map(heap, DmaAccess::kReadWrite).value();
  const DmaBuffer part =
      memory.map(std::span(heap).subspan(54'321, 20'000), DmaAccess::kRead).value();
  EXPECT_TRUE(std::ranges::equal(again.pages(), whole->pages()));
  EXPECT_EQ(part.bus(0), bus);
  EXPECT_EQ(part.bus(19'999), whole->bus(74'320));
  EXPECT_EQ(memory.pages_in_use(), used);
  whole.reset();  // the other handles keep the mapping
  uint8_t byte = 42;
  EXPECT_TRUE(memory.write(part.bus(0), {&byte, 1}));
  EXPECT_EQ(heap[54'321], 42);
}

TEST(CallerMemory, OverlappingSpansAreOneMemory) {
  HostMemory memory(small(), 0, 2);
  std::vector<uint8_t> heap(30'000);
  const auto head = std::span(heap).first(20'000), tail = std::span(heap).subspan(10'000);
  const DmaBuffer a = memory.map(head, DmaAccess::kReadWrite).value();
  const DmaBuffer b = memory.map(tail, DmaAccess::kRead).value();
  const std::vector<uint8_t> text = {'b', 'o', 't', 'h'};
  ASSERT_TRUE(memory.write(a.bus(15'000), text));
  const auto of_b = as_device(memory, b);
  EXPECT_TRUE(std::ranges::equal(std::span(of_b).subspan(5'000, 4), text));
}

/// Atomics lock by bus address. So a byte that the device may write must have only one bus address:
/// a mapping that would give it a second one is refused.
TEST(CallerMemory, AByteIsWrittenAtOneBusAddress) {
  HostMemory memory(small(), 0, 2);
  std::vector<uint8_t> heap(30'000);
  const auto head = std::span(heap).first(20'000), tail = std::span(heap).subspan(10'000);
  const auto refused = [&](std::span<uint8_t> bytes) {
    const auto r = memory.map(bytes, DmaAccess::kReadWrite);
    return !r && r.error().code == base::Errc::kBusy;
  };
  {
    const DmaBuffer a = memory.map(head, DmaAccess::kReadWrite).value();
    EXPECT_TRUE(refused(tail)) << "overlaps its end";
    EXPECT_TRUE(refused(heap)) << "holds it";
    EXPECT_EQ(memory.map(head.subspan(1000, 500), DmaAccess::kReadWrite).value().bus(0),
              a.bus(1000));
    const DmaBuffer after =
        memory.map(std::span(heap).subspan(20'000), DmaAccess::kReadWrite).value();
    const DmaBuffer read = memory.map(tail, DmaAccess::kRead).value();
    EXPECT_TRUE(refused(tail.first(15'000))) << "of another that is only read";
    EXPECT_EQ(memory.map(head.first(10), DmaAccess::kReadWrite).value().bus(0), a.bus(0));
  }
  const DmaBuffer read = memory.map(heap, DmaAccess::kRead).value();
  const DmaBuffer all = memory.map(heap, DmaAccess::kReadWrite).value();
  EXPECT_EQ(all.bus(29'999), read.bus(29'999));
  EXPECT_EQ(memory.map(tail, DmaAccess::kReadWrite).value().bus(0), all.bus(10'000));
}

TEST(CallerMemory, AllocatedMemoryKeepsItsBusAddresses) {
  HostMemory memory(small(), 0, 2);
  DmaBuffer own = memory.alloc(50'000, MemoryKind::kScattered).value();
  const uint64_t used = memory.pages_in_use();
  DmaBuffer part = memory.map(own.bytes().subspan(5'000, 30'000), DmaAccess::kReadWrite).value();
  EXPECT_EQ(part.bus(0), own.bus(5'000));
  EXPECT_EQ(part.bus(29'999), own.bus(34'999));
  EXPECT_EQ(memory.pages_in_use(), used);
  own = DmaBuffer();
  part.data()[0] = 1;  // the other handle keeps the memory
  part = DmaBuffer();
  EXPECT_EQ(memory.pages_in_use(), 0u);
}

TEST(CallerMemory, UnmappedWithTheLastHandle) {
  HostMemory memory(small(), 0, 4);
  std::vector<uint8_t> heap(9'000);
  uint8_t byte = 1;
  uint64_t bus = 0;
  {
    const DmaBuffer b = memory.map(heap, DmaAccess::kReadWrite).value();
    const DmaBuffer copy = b;
    bus = b.bus(0);
    EXPECT_TRUE(memory.write(bus, {&byte, 1}));
  }
  EXPECT_FALSE(memory.write(bus, {&byte, 1}));
  EXPECT_EQ(memory.pages_in_use(), 0u);
  // The arena has all its pages again, zeroed.
  const DmaBuffer all = memory.alloc_pages(60 << 20, 4096).value();
  for (uint64_t at = 0; at < all.size(); at += 4096) ASSERT_EQ(all.data()[at], 0);
}

TEST(CallerMemory, OfMmapWithProtection) {
  HostMemory memory(small(), 0, 4);
  constexpr size_t kBytes = 5 * 4096;
  void* p = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(p, MAP_FAILED);
  const std::span all(static_cast<uint8_t*>(p), kBytes);
  std::iota(all.begin(), all.end(), uint8_t{0});
  ASSERT_EQ(mprotect(p, 4096, PROT_READ), 0);
  auto code = [&](std::span<uint8_t> span, DmaAccess access) {
    const auto r = memory.map(span, access);
    return r ? std::nullopt : std::optional(r.error().code);
  };
  EXPECT_EQ(code(all, DmaAccess::kReadWrite), base::Errc::kPermission);
  EXPECT_EQ(code(all.subspan(4095, 2), DmaAccess::kReadWrite), base::Errc::kPermission);
  EXPECT_EQ(code(all.subspan(4096), DmaAccess::kReadWrite), std::nullopt);
  {
    const DmaBuffer b = memory.map(all, DmaAccess::kRead).value();
    EXPECT_TRUE(std::ranges::equal(as_device(memory, b), all));
    const uint8_t byte = 0;
    EXPECT_FALSE(memory.write(b.bus(0), {&byte, 1}));
    EXPECT_FALSE(memory.write(b.bus(8192), {&byte, 1}));
  }
  ASSERT_EQ(munmap(all.data() + 8192, 4096), 0);  // a hole
  EXPECT_EQ(code(all, DmaAccess::kRead), base::Errc::kInvalidArgument);
  EXPECT_EQ(code(all.first(8192), DmaAccess::kRead), std::nullopt);
  ASSERT_EQ(mprotect(all.data() + 4096, 4096, PROT_NONE), 0);
  EXPECT_EQ(code(all.first(8192), DmaAccess::kRead), base::Errc::kInvalidArgument);
  EXPECT_EQ(munmap(p, kBytes), 0);
  EXPECT_EQ(memory.pages_in_use(), 0u);
}

TEST(CallerMemory, WrongArguments) {
  HostMemory memory(small(), 0, 4);
  uint8_t byte = 0;
  auto code = [&](std::span<uint8_t> span) {
    const auto r = memory.map(span, DmaAccess::kRead);
    return r ? std::nullopt : std::optional(r.error().code);
  };
  auto* const top = std::bit_cast<uint8_t*>(uintptr_t{UINT64_MAX});
  EXPECT_EQ(code({}), base::Errc::kInvalidArgument);
  EXPECT_EQ(code({static_cast<uint8_t*>(nullptr), 10}), base::Errc::kInvalidArgument);
  EXPECT_EQ(code({&byte, size_t{0}}), base::Errc::kInvalidArgument);
  EXPECT_EQ(code({&byte, SIZE_MAX}), base::Errc::kInvalidArgument);
  EXPECT_EQ(code({top, 10}), base::Errc::kInvalidArgument);
  const DmaBuffer own = memory.alloc(4096, MemoryKind::kScattered).value();
  EXPECT_EQ(code({own.data() + 100, 4096}), base::Errc::kInvalidArgument);  // the guard page
  std::vector<uint8_t> more(65 << 20);  // more than the arena has pages
  EXPECT_EQ(code(more), base::Errc::kNoMemory);
  EXPECT_EQ(memory.pages_in_use(), 1u);
}

TEST(CallerMemory, LargeSpansHaveHugePages) {
  HostConfig c = small();
  c.huge_from_mib = 4;
  HostMemory memory(c, 0, 2);
  std::vector<uint8_t> heap((5 << 20) + 17);
  heap[(4 << 20) + 5] = 77;
  const DmaBuffer b = memory.map(heap, DmaAccess::kReadWrite).value();
  EXPECT_EQ(b.page_size(), 2u << 20);
  ASSERT_EQ(b.pages().size(), 3u);
  EXPECT_EQ(as_device(memory, b)[(4 << 20) + 5], 77);
  EXPECT_FALSE(memory.owned(b.bus(heap.size() - 1) + 1, 1));
  // after the buffer's end, in its last page
  EXPECT_FALSE(memory.owned(b.pages()[2] + (1 << 20) + 8192, 1));
}

}  // namespace
}  // namespace rnic::sim

// sim/platform/host_memory: scattered and contiguous buffers, bus and program see the same bytes,
// guards, reuse, repeats.
#include "platform/host_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

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
  EXPECT_GT(runs, 80u);
  EXPECT_LE(longest, 33u);  // two runs may happen to be neighbours
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

}  // namespace
}  // namespace rnic::sim

// The memory of one host: one memfd arena at a fixed address; buffers are views of it. A bus
// address is an offset into the arena plus kBusBase, never a host pointer, so runs repeat. A
// scattered buffer is contiguous to the program. On the bus it consists of seeded runs of pages in
// any order. Unmapped guard pages follow each buffer.
//
//   HostMemory memory(config, 0, seed);                              // host number 0
//   DmaBuffer b = memory.alloc(10000, MemoryKind::kScattered).value();
//   memory.write(b.bus(4096), bytes);   // as the device; false if no buffer owns the page
//
// `map` lets the device reach memory that the caller owns, without a move or a copy. `map` reserves
// pages of the arena for their bus addresses only; a table maps each of them to the caller's bytes.
// The seed draws those pages and the offset in the first one, so that bus addresses do not depend
// on the result of malloc.
//
//   DmaBuffer m = memory.map(vector, DmaAccess::kReadWrite).value();
//
// A buffer keeps the arena alive. Its pages can be reused after its last handle is destroyed. Its
// process addresses are never reused, so that a stale pointer faults.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "platform/config.hpp"
#include "platform/pmem.hpp"
#include "rnic/pci_device.hpp"

namespace rnic::sim {

class HostMemory {
 public:
  static constexpr uint64_t kBusBase = uint64_t{1} << 32;
  static constexpr uint32_t kPage = 4096;
  static constexpr uint32_t kHugePage = 2 << 20;
  static constexpr uint64_t kMaxContiguous = 2 << 20;

  /// Throws std::system_error if the machine cannot allocate the memory.
  HostMemory(const HostConfig& config, unsigned host, uint64_t seed);
  ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  /// Returns zeroed memory. Scattered buffers have pages of `page_kib`; those of at least
  /// `huge_from_mib` have 2 MiB pages.
  base::Result<DmaBuffer> alloc(uint64_t size, MemoryKind kind);
  /// Scattered memory with pages of this size: a power of two from 4 KiB to 2 MiB.
  base::Result<DmaBuffer> alloc_pages(uint64_t size, uint32_t page_size);

  /// PciDevice::map. The device cannot reach the caller's bytes outside the span.
  base::Result<DmaBuffer> map(std::span<uint8_t> memory, DmaAccess access);

  /// Access as the device: within one page, and only to bytes of a buffer. False: no byte was
  /// accessed.
  bool read(uint64_t bus, std::span<uint8_t> out) const;
  bool write(uint64_t bus, std::span<const uint8_t> bytes);
  /// True if read() of these bytes would succeed.
  bool owned(uint64_t bus, uint64_t length) const;

  /// Persistent memory, outside the arena, with its own bus addresses. map, read, write and owned
  /// include it.
  Pmem& pmem() const { return *pmem_; }

  /// Bytes of the arena; pages_in_use: of its 4 KiB pages, those that a buffer or a map owns.
  uint64_t size() const;
  uint64_t pages_in_use() const;

 private:
  struct Run;    // neighbouring pages of the arena
  struct State;  // outlives HostMemory while a buffer lives
  struct Area;   // shared by the handles of a buffer
  base::Result<DmaBuffer> view(uint64_t size, uint32_t page_size, std::vector<Run> runs);
  uint8_t* reach(uint64_t bus, uint64_t length, DmaAccess access) const;

  std::shared_ptr<State> state_;
  std::shared_ptr<Pmem> pmem_;  // outlives HostMemory, too, while a buffer lives
};

}  // namespace rnic::sim

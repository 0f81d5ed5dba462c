// The memory of one host: one memfd arena at a fixed address, of which buffers are views. A bus
// address is an offset into the arena plus kBusBase, never a host pointer, so runs repeat.
// Scattered buffers are contiguous to the program and made of seeded runs of pages in any order on
// the bus; unmapped guard pages stand behind each buffer.
//
//   HostMemory memory(config, 0, seed);                              host number 0
//   DmaBuffer b = memory.alloc(10000, MemoryKind::kScattered).value();
//   memory.write(b.bus(4096), bytes);                                as the device does: false if nobody owns that page
//
// Memory that the caller owns is mapped, not moved: its bus pages are taken from the arena's pages,
// and a table leads from each of them to the caller's bytes. The seed draws those pages and the
// place in the first one, so that bus addresses do not depend on what malloc returned.
//
//   DmaBuffer m = memory.map(vector, DmaAccess::kReadWrite).value();
//
// A buffer keeps the arena alive. Its pages are free for reuse when its last handle goes; its
// addresses in the process are never used again, so that a stale pointer faults.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "platform/config.hpp"
#include "platform/pci.hpp"
#include "platform/pmem.hpp"

namespace rnic::sim {

class HostMemory {
 public:
  static constexpr uint64_t kBusBase = uint64_t{1} << 32;
  static constexpr uint32_t kPage = 4096;
  static constexpr uint32_t kHugePage = 2 << 20;
  static constexpr uint64_t kMaxContiguous = 2 << 20;

  /// Throws std::system_error if the machine does not give the memory (set-up of a program).
  HostMemory(const HostConfig& config, unsigned host, uint64_t seed);
  ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  /// Zeroed. Scattered buffers have pages of `page_kib`, from `huge_from_mib` on 2 MiB.
  base::Result<DmaBuffer> alloc(uint64_t size, MemoryKind kind);
  /// Scattered, of pages of this size: a power of two from 4 KiB to 2 MiB.
  base::Result<DmaBuffer> alloc_pages(uint64_t size, uint32_t page_size);

  /// PciDevice::map. The device reaches no byte of the caller's outside the span.
  base::Result<DmaBuffer> map(std::span<uint8_t> memory, DmaAccess access);

  /// As the device: within one page, and only where a buffer is. False: nothing was done.
  bool read(uint64_t bus, std::span<uint8_t> out) const;
  bool write(uint64_t bus, std::span<const uint8_t> bytes);
  bool owned(uint64_t bus, uint64_t length) const;

  /// Beside the arena, with bus addresses of its own: map, read, write and owned know it.
  Pmem& pmem() const { return *pmem_; }

  uint64_t size() const;
  uint64_t pages_in_use() const;

 private:
  struct Run;
  struct State;  // outlives us while a buffer lives
  struct Area;   // what the handles of a buffer share
  base::Result<DmaBuffer> view(uint64_t size, uint32_t page_size, std::vector<Run> runs);
  uint8_t* reach(uint64_t bus, uint64_t length, DmaAccess access) const;

  std::shared_ptr<State> state_;
  std::shared_ptr<Pmem> pmem_;  // outlives us too
};

}  // namespace rnic::sim

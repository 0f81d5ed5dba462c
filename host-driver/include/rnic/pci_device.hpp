// The interface that a platform provides to the driver: one PCI function and DMA memory. Arguments
// and results are values: no callbacks, and no pointers except into DMA memory. The device can
// therefore run in another process. Architecture 13.
//
//   DmaBuffer ring = dev.alloc(4096, MemoryKind::kContiguous).value();
//   dev.write64(0, spec::kAdminCmdBaseOffset, ring.bus(0));
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "rnic/result.hpp"
#include "rnic/time.hpp"

namespace rnic {

enum class MemoryKind {
  kContiguous,  ///< contiguous on the bus, at most 2 MiB: rings
  kScattered,   ///< pages in any order on the bus: user memory
};

/// Where a store survives a power failure. Architecture 8.
enum class PersistenceDomain : uint8_t {
  kNone,  ///< nowhere: the host cannot promise durability
  kAdr,   ///< in the memory controller: device writes, and CPU stores after pmem_persist()
  kEadr,  ///< in the caches as well: every visible store
};

enum class DmaAccess {
  kRead,  ///< the device only reads; the memory may be write-protected
  kReadWrite,
};

/// Memory that the CPU and the device share, owned by the platform (alloc) or by the caller (map).
/// It is freed (alloc) or unmapped (map) when the last copy of the handle is destroyed.
class DmaBuffer {
 public:
  DmaBuffer() = default;
  DmaBuffer(std::span<uint8_t> memory, uint32_t page_size, std::vector<uint64_t> pages,
            std::shared_ptr<void> owner, uint32_t first_offset = 0, bool is_persistent = false)
      : memory_(memory),
        page_size_(page_size),
        first_offset_(first_offset),
        pages_(std::move(pages)),
        owner_(std::move(owner)),
        is_persistent_(is_persistent) {}

  std::span<uint8_t> bytes() const { return memory_; }
  uint8_t* data() const { return memory_.data(); }
  uint64_t size() const { return memory_.size(); }
  uint32_t page_size() const { return page_size_; }  ///< bytes per page of the bus mapping
  /// Bus address of each page, first page first.
  std::span<const uint64_t> pages() const { return pages_; }
  bool is_persistent() const { return is_persistent_; }    ///< allocated by PciDevice::persistent()
  uint32_t first_offset() const { return first_offset_; }  ///< bytes, in the first page
  /// Bus address of the byte at `offset` of bytes().
  uint64_t bus(uint64_t offset) const {
    const uint64_t at = first_offset_ + offset;
    return pages_[at / page_size_] + at % page_size_;
  }

 private:
  std::span<uint8_t> memory_;
  uint32_t page_size_ = 4096, first_offset_ = 0;
  std::vector<uint64_t> pages_;
  std::shared_ptr<void> owner_;
  bool is_persistent_ = false;
};

/// One PCI function. Any thread of the host may call it; each call costs simulated time.
class PciDevice {
 public:
  virtual ~PciDevice() = default;

  // Configuration space: 32-bit accesses; offsets and bits as in the PCI specification.
  virtual uint32_t config_read(uint32_t offset) = 0;
  virtual void config_write(uint32_t offset, uint32_t value) = 0;
  virtual void reset() = 0;  ///< function-level reset

  // Registers. A read of a device that is gone returns all ones.
  virtual uint32_t read32(unsigned bar, uint32_t offset) = 0;
  virtual uint64_t read64(unsigned bar, uint32_t offset) = 0;
  virtual void write32(unsigned bar, uint32_t offset, uint32_t value) = 0;
  virtual void write64(unsigned bar, uint32_t offset, uint64_t value) = 0;
  virtual void write_combined(unsigned bar, uint32_t offset,
                              std::span<const uint8_t> bytes) = 0;  ///< 64 bytes

  // Memory. alloc() returns zeroed, page-aligned memory.
  virtual Result<DmaBuffer> alloc(uint64_t size, MemoryKind kind) = 0;
  /// Maps memory that the caller owns (malloc, mmap, the stack), of any alignment and length. The
  /// caller keeps it mapped until the last copy of the handle is destroyed. Bytes that are already
  /// mapped or allocated keep their bus addresses. Errors:
  /// - kInvalidArgument: null, empty or unmapped memory;
  /// - kPermission: kReadWrite of write-protected memory;
  /// - kNoMemory: no bus pages left;
  /// - kBusy: kReadWrite of a range that overlaps an earlier kReadWrite mapping and does not lie
  ///   whole inside it. A byte that the device may write has only one bus address, because atomics
  ///   exclude each other by bus address.
  virtual Result<DmaBuffer> map(std::span<uint8_t> memory, DmaAccess access) = 0;

  // Persistent memory, where the platform has it: contiguous on the bus. A map() of its bytes is
  // persistent as well.
  virtual PersistenceDomain persistence_domain() const = 0;
  /// Returns the persistent range with this name, page aligned. Its first use zeroes it; after a
  /// restart of the host it holds the bytes that were durable. kInvalidArgument: the name exists
  /// with another size, or the name or size is invalid; kNoMemory: no room is left.
  virtual Result<DmaBuffer> persistent(std::string_view name, uint64_t size) = 0;
  /// Writes the CPU's stores to these bytes back and waits until they are durable. Only under kEadr
  /// are the CPU's stores durable without this call. Device writes never need this call.
  virtual void pmem_persist(std::span<const uint8_t> bytes) = 0;

  // Ordering points, named by use. The recording fake checks that the driver calls them.
  /// Earlier stores to memory become visible before the next register write.
  virtual void before_doorbell() = 0;
  virtual void after_phase_bit() = 0;  ///< reads of the entry come after the read of its phase bit
  /// Threads of a host run ahead of each other by the cost of their calls. After this call a thread
  /// sees every store that other threads made before now() and none that they make later. The other
  /// threads see its stores in the same order. This holds until the thread's next call that costs
  /// time. Call it before each access to memory that another thread of the host reads or writes: a
  /// lock, a shared ring, a flag. relax(), wait() and register reads return in the same state.
  /// Costs no simulated time. See lock.hpp.
  virtual void before_shared() = 0;

  // Time. No call blocks in real time; each costs the simulated time that the platform configures.
  virtual Time now() const = 0;
  virtual void relax() = 0;  ///< called for an empty poll: lets its time pass
  /// Waits until one of the MSI-X vectors in the mask fires, or until the deadline. Returns the
  /// vectors that fired and clears their bits.
  virtual uint64_t wait(uint64_t vectors, Time deadline) = 0;
};

}  // namespace rnic

// What a platform provides to the driver: a PCI function and memory that it can reach. Values in, values out; no callbacks,
// no pointers except into DMA memory, so that the other side can be in another process. Architecture 13.
//
//   DmaBuffer ring = dev.alloc(4096, MemoryKind::kContiguous).value();
//   dev.write64(0, spec::regs::kAdminCmdBase, ring.bus(0));
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
  kContiguous,  ///< one run on the bus: rings. At most 2 MiB.
  kScattered,   ///< pages in any order on the bus: user memory.
};

/// Where a store is safe from a failure of the power. Architecture 8.
enum class PersistenceDomain : uint8_t {
  kNone,  ///< nowhere: nothing can be promised
  kAdr,  ///< in the memory controller: what a device writes, and what pmem_persist() has written back
  kEadr,  ///< in the caches too: whatever is visible
};

enum class DmaAccess {
  kRead,  ///< the device only reads; the memory may be write-protected
  kReadWrite,
};

/// Memory that CPU and device share: of the platform (alloc) or of the caller (map). Freed, or no
/// longer reachable, when the last copy of the handle goes.
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
  uint32_t page_size() const { return page_size_; }  ///< of the bus mapping
  std::span<const uint64_t> pages() const {
    return pages_;
  }  ///< bus address of each page, from the first on
  bool is_persistent() const { return is_persistent_; }    ///< of PciDevice::persistent()
  uint32_t first_offset() const { return first_offset_; }  ///< of the memory in its first page
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

/// One function. Any thread of the host may call it, and is charged.
class PciDevice {
 public:
  virtual ~PciDevice() = default;

  // Configuration space (offset, 32 bits). Offsets and bits as PCI has them.
  virtual uint32_t config_read(uint32_t offset) = 0;
  virtual void config_write(uint32_t offset, uint32_t value) = 0;
  virtual void reset() = 0;  ///< function-level reset

  // Registers. Reads of a device that is gone return all ones.
  virtual uint32_t read32(unsigned bar, uint32_t offset) = 0;
  virtual uint64_t read64(unsigned bar, uint32_t offset) = 0;
  virtual void write32(unsigned bar, uint32_t offset, uint32_t value) = 0;
  virtual void write64(unsigned bar, uint32_t offset, uint64_t value) = 0;
  virtual void write_combined(unsigned bar, uint32_t offset,
                              std::span<const uint8_t> bytes) = 0;  ///< 64 bytes

  // Memory. alloc: zeroed, page aligned.
  virtual Result<DmaBuffer> alloc(uint64_t size, MemoryKind kind) = 0;
  /// Memory that the caller owns (malloc, mmap, the stack), of any alignment and length. The caller
  /// keeps it mapped until the last copy of the handle goes. Bytes of memory that is mapped or
  /// allocated already keep their bus addresses. kInvalidArgument: null, empty, not mapped;
  /// kPermission: kReadWrite of write-protected memory; kNoMemory: no bus pages left; kBusy:
  /// kReadWrite of bytes of which some, not all, are mapped so in one piece already (a byte that the
  /// device may write has one bus address, by which it excludes atomics).
  virtual Result<DmaBuffer> map(std::span<uint8_t> memory, DmaAccess access) = 0;

  // Memory that outlives a failure of the power, where the platform has it. It is one run on the bus; bytes of
  // it that are mapped (map) are persistent too.
  virtual PersistenceDomain persistence_domain() const = 0;
  /// The range of that name, page aligned: zeroed when it is first asked for, with what was durable
  /// after a restart of the host. kInvalidArgument: it is there with another size; name or size
  /// cannot be; kNoMemory: no room is left.
  virtual Result<DmaBuffer> persistent(std::string_view name, uint64_t size) = 0;
  /// Writes this host's own stores to these bytes back, and waits until they are durable. Without it
  /// they are under kEadr alone. What devices write needs it in no domain.
  virtual void pmem_persist(std::span<const uint8_t> bytes) = 0;

  // Ordering, by name (before_doorbell(), after_phase_bit()): the recording fake checks that they are called.
  virtual void
  before_doorbell() = 0;  ///< what was written to memory is visible before the next register write
  virtual void after_phase_bit() = 0;  ///< what stands beside a phase bit is read after it
  /// Threads of a host run ahead of each other by what their calls cost. After this call a thread
  /// sees what the others did before now(), nothing that they will do later, and they see its stores
  /// in that order, until its next call that costs time. It stands before each access to memory that
  /// another thread of the host writes or reads: a lock, a shared ring, a flag. relax(), wait() and
  /// register reads return in the same state. Costs no simulated time. See lock.hpp.
  virtual void before_shared() = 0;

  // Time. Nothing sleeps; each call costs what the platform's configuration says.
  virtual Time now() const = 0;
  virtual void relax() = 0;  ///< an empty poll
  /// Until one of the MSI-X vectors in the mask fires (its bit is then cleared), or the deadline. Returns those that fired.
  virtual uint64_t wait(uint64_t vectors, Time deadline) = 0;
};

}  // namespace rnic

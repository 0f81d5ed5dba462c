// The persistent memory of a host. It has two copies: the live bytes, which programs and device
// see, and the durable image, which would survive a power failure. Ranges have names. Each is one
// run on the bus at kBusBase + its offset, at the same offset after each restart of the host.
//
//   Pmem& pmem = memory.pmem();
//   DmaBuffer log = pmem.range(now, "log", 65536).value();
//   pmem.device_wrote(at, bus, bytes);   pmem.persist(now, log.bytes());
//   PmemImage image = pmem.image();                                  // what is durable now
//
//   domain   a device write is durable    a host store is durable
//   eadr     when memory has taken it     when the storing thread next runs the simulation up to
//                                         its time (before_shared, relax, wait, a register read,
//                                         pmem_persist)
//   adr      when memory has taken it     when pmem_persist of its bytes returns
//   none     never                        never: the image keeps its initial bytes
//
// Durability is decided byte by byte. A store that was not persisted stays out of the image, even
// if a device later writes other bytes of its cache line. So a program that forgets to persist a
// store is found. A range itself is durable as soon as it is created, in every domain.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "platform/config.hpp"
#include "platform/pmem_image.hpp"
#include "rnic/pci_device.hpp"

namespace rnic::sim {

PersistenceDomain domain_of(std::string_view name);

/// Receives the bytes that become durable, in order of time.
class PmemObserver {
 public:
  virtual ~PmemObserver() = default;
  virtual void on_range(Time, const PmemRange&) {}
  virtual void on_durable(Time, uint64_t /*offset*/, std::span<const uint8_t>) {}
};

class Pmem : public std::enable_shared_from_this<Pmem> {
 public:
  // Above the largest arena: HostMemory::kBusBase (2^32) + 65536 MiB (2^36).
  static constexpr uint64_t kBusBase = uint64_t{1} << 37;

  /// Loads the image of config.pmem_image, if that file exists. Throws std::runtime_error if the
  /// image is damaged or of another size, or if it is absent and pmem_recover is set. Throws
  /// std::system_error if the machine cannot allocate the memory.
  Pmem(const HostConfig& config, unsigned host);
  ~Pmem();
  Pmem(const Pmem&) = delete;
  Pmem& operator=(const Pmem&) = delete;

  PersistenceDomain domain() const { return domain_; }
  void observe(PmemObserver& observer) { observers_.push_back(&observer); }

  /// PciDevice::persistent.
  base::Result<DmaBuffer> range(Time now, std::string_view name, uint64_t size);
  /// For HostMemory::map: a handle of these bytes if they lie within one range; nullopt if none of
  /// them lies in persistent memory. Otherwise an error.
  base::Result<std::optional<DmaBuffer>> part(std::span<uint8_t> memory);
  /// The process address of these bus bytes; null if no range owns them. A range owns whole 4 KiB
  /// pages, as the device reaches them.
  uint8_t* reach(uint64_t bus, uint64_t length) const;

  /// Called when memory has taken this device write.
  void device_wrote(Time at, uint64_t bus, std::span<const uint8_t> bytes);
  /// Called at the end of PciDevice::pmem_persist.
  void persist(Time now, std::span<const uint8_t> bytes);
  /// Called when a thread of the host has run up to `now`.
  void host_stored(Time now) {
    if (domain_ == PersistenceDomain::kEadr && !ranges_.empty()) take_stores(now);
  }

  /// The bytes that are durable now.
  PmemImage image() const;

 private:
  void reserve();                     // maps both copies, at the first range
  void open(const PmemRange& range);  // makes the pages of a new range accessible
  DmaBuffer view(uint64_t offset, uint64_t size);
  void take_stores(Time now);  // settles every line that differs in the two copies
  void settle(Time now, uint64_t offset, uint64_t size);  // makes the live bytes durable

  const PersistenceDomain domain_;
  const uint64_t size_;
  const unsigned host_;
  std::vector<PmemRange> ranges_;  // sorted by offset
  uint8_t *live_ = nullptr, *durable_ = nullptr;
  std::vector<PmemObserver*> observers_;
};

}  // namespace rnic::sim

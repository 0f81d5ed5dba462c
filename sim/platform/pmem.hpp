// The persistent memory of a host: the bytes that programs and device see, and beside them what of
// it would be there after a failure of the power (the durable image). Ranges have names; each is one
// run on the bus, from kBusBase + its offset on, in every life of the host.
//
//   Pmem& pmem = memory.pmem();
//   DmaBuffer log = pmem.range(now, "log", 65536).value();
//   pmem.device_wrote(at, bus, bytes);   pmem.persist(now, log.bytes());
//   PmemImage image = pmem.image();                                  what is durable now
//
//   domain   what a device writes is durable   what the host stores is durable
//   eadr     when memory has taken it          when the storing thread next lets the simulation come up to its time
//                                              (before_shared, relax, wait, a register read, pmem_persist)
//   adr      when memory has taken it          when pmem_persist of these bytes returns
//   none     never: the image stays as the host found it
//
// Durable is decided byte by byte. A store that was not persisted stays out of the image, although a
// device may write other bytes of its line later: so that a program that forgets one is found out. A
// range itself is durable as soon as it is given, in each domain.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "platform/config.hpp"
#include "platform/pci.hpp"
#include "platform/pmem_image.hpp"

namespace rnic::sim {

PersistenceDomain domain_of(std::string_view name);

/// Hears what becomes durable, in order of time.
class PmemObserver {
 public:
  virtual ~PmemObserver() = default;
  virtual void on_range(Time, const PmemRange&) {}
  virtual void on_durable(Time, uint64_t /*offset*/, std::span<const uint8_t>) {}
};

class Pmem : public std::enable_shared_from_this<Pmem> {
 public:
  static constexpr uint64_t kBusBase = uint64_t{1} << 37;

  /// With the image of config.pmem_image, if that file exists. Throws std::runtime_error if it is
  /// none that fits, std::system_error if the machine does not give the memory.
  Pmem(const HostConfig& config, unsigned host);
  ~Pmem();
  Pmem(const Pmem&) = delete;
  Pmem& operator=(const Pmem&) = delete;

  PersistenceDomain domain() const { return domain_; }
  void observe(PmemObserver& observer) { observers_.push_back(&observer); }

  /// PciDevice::persistent.
  base::Result<DmaBuffer> range(Time now, std::string_view name, uint64_t size);
  /// These bytes, if they are part of a range; an error if some of them are, or would be.
  base::Result<std::optional<DmaBuffer>> part(std::span<uint8_t> memory);
  /// Where a device finds these bytes; null: nobody's.
  uint8_t* reach(uint64_t bus, uint64_t length) const;

  /// Memory has taken this write.
  void device_wrote(Time at, uint64_t bus, std::span<const uint8_t> bytes);
  /// PciDevice::pmem_persist has ended.
  void persist(Time now, std::span<const uint8_t> bytes);
  /// A thread of the host has come up to `now`.
  void host_stored(Time now) {
    if (domain_ == PersistenceDomain::kEadr && !ranges_.empty()) take_stores(now);
  }

  PmemImage image() const;

 private:
  void reserve();
  void open(const PmemRange& range);
  DmaBuffer view(uint64_t offset, uint64_t size);
  void take_stores(Time now);
  void settle(Time now, uint64_t offset, uint64_t size);  // what stands there becomes durable

  const PersistenceDomain domain_;
  const uint64_t size_;
  const unsigned host_;
  std::vector<PmemRange> ranges_;  // in order of their offsets
  uint8_t *live_ = nullptr, *durable_ = nullptr;
  std::vector<PmemObserver*> observers_;
};

}  // namespace rnic::sim

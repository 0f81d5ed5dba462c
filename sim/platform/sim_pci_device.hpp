// The driver's PciDevice on a simulated host, shared by all threads of the host. Each call charges
// the calling thread the cost that HostConfig sets.
//
//   call                        cost                         effect on time
//   write32, write64            mmio_write_ns                posted: does not wait
//   write_combined              wc_ns                        posted
//   read32, read64              mmio_read_ns + round trip    waits
//   config_read, config_write   mmio_read_ns                 others run up to the thread's time
//   reset                       reset_ns                     the same
//   before_doorbell             post_ns
//   after_phase_bit             poll_ns
//   before_shared, alloc, map,  none                         the same
//   persistent
//   pmem_persist                pmem_persist_ns              the same; then the bytes are durable
//   relax                       poll_ns                      the same
//   wait                        the wait; interrupt_ns if one fired
#pragma once

#include "platform/host_cpu.hpp"

namespace rnic::sim {

class SimPciDevice final : public PciDevice {
 public:
  explicit SimPciDevice(HostCpu& cpu) : cpu_(cpu) {}

  uint32_t config_read(uint32_t offset) override;
  void config_write(uint32_t offset, uint32_t value) override;
  void reset() override;

  uint32_t read32(unsigned bar, uint32_t offset) override {
    return static_cast<uint32_t>(read(bar, offset, 4));
  }
  uint64_t read64(unsigned bar, uint32_t offset) override { return read(bar, offset, 8); }
  void write32(unsigned bar, uint32_t offset, uint32_t value) override {
    write(bar, offset, 4, value);
  }
  void write64(unsigned bar, uint32_t offset, uint64_t value) override {
    write(bar, offset, 8, value);
  }
  void write_combined(unsigned bar, uint32_t offset, std::span<const uint8_t> bytes) override;

  Result<DmaBuffer> alloc(uint64_t size, MemoryKind kind) override {
    before_shared();  // the allocated pages depend on earlier allocations
    return cpu_.memory().alloc(size, kind);
  }
  Result<DmaBuffer> map(std::span<uint8_t> memory, DmaAccess access) override {
    before_shared();
    return cpu_.memory().map(memory, access);
  }

  PersistenceDomain persistence_domain() const override { return cpu_.memory().pmem().domain(); }
  Result<DmaBuffer> persistent(std::string_view name, uint64_t size) override {
    before_shared();
    return cpu_.memory().pmem().range(thread().now(), name, size);
  }
  void pmem_persist(std::span<const uint8_t> bytes) override {
    thread().charge(cpu_.config().pmem_persist_ns);
    thread().sync();
    cpu_.memory().pmem().persist(thread().now(), bytes);
  }

  void before_doorbell() override { thread().charge(cpu_.config().post_ns); }
  void after_phase_bit() override { thread().charge(cpu_.config().poll_ns); }

  void before_shared() override { thread().sync(); }

  Time now() const override { return thread().now(); }
  void relax() override;
  uint64_t wait(uint64_t vectors, Time deadline) override {
    return thread().wait(vectors, deadline);
  }

 private:
  uint64_t read(unsigned bar, uint32_t offset, uint8_t bytes);
  void write(unsigned bar, uint32_t offset, uint8_t bytes, uint64_t value);
  bool decodes(unsigned bar, uint32_t offset, uint32_t bytes);

  HostThread& thread() const { return cpu_.running(); }

  HostCpu& cpu_;
};

}  // namespace rnic::sim

// The driver's PciDevice on a simulated host, shared by all threads of the host. Each call charges
// the calling thread the cost that HostConfig sets.
//
//   call                        cost                         effect on time
//   write32, write64            mmio_write_ns                none: a posted write does not wait
//   write_combined              wc_ns                        none
//   read32, read64              mmio_read_ns + round trip    waits for the response
//   config_read, config_write   mmio_read_ns                 sync
//   reset                       reset_ns                     sync
//   before_doorbell             post_ns                      none
//   after_phase_bit             poll_ns                      none
//   before_shared, alloc, map,  none                         sync
//   persistent
//   pmem_persist                pmem_persist_ns              sync; then the bytes are durable
//   relax                       poll_ns                      sync
//   wait                        the wait, and interrupt_ns   waits for an interrupt or the deadline
//                               if an interrupt fired
//
// sync: all other threads run up to the calling thread's time (HostThread::sync). Any charge also
// syncs if it puts the thread more than quantum_ns ahead.
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

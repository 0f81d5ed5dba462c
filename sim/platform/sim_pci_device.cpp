// Calls of the driver on a simulated host; sim_pci_device.hpp has their costs. A device that is
// gone or does not decode an address returns all ones to reads and ignores writes, as on PCIe.
#include "platform/sim_pci_device.hpp"

#include "base/check.hpp"

namespace rnic::sim {

uint32_t SimPciDevice::config_read(uint32_t offset) {
  thread().charge(cpu_.config().mmio_read_ns);
  thread().sync();
  RootComplex& rc = cpu_.root_complex();
  return rc.gone() ? ~0u : rc.config_space().read(offset);
}

void SimPciDevice::config_write(uint32_t offset, uint32_t value) {
  thread().charge(cpu_.config().mmio_read_ns);
  thread().sync();
  RootComplex& rc = cpu_.root_complex();
  if (rc.gone()) return;
  if (rc.config_space().write(offset, value)) return reset();  // a function-level reset
  rc.config_changed();
}

void SimPciDevice::reset() {
  thread().sync();
  cpu_.root_complex().reset();
  thread().charge(cpu_.config().reset_ns);
  thread().sync();
}

/// True if the device accepts accesses to these bytes of a BAR.
bool SimPciDevice::decodes(unsigned bar, uint32_t offset, uint32_t bytes) {
  RNIC_CHECK(offset % bytes == 0, "register access of {} bytes at offset {:#x}", bytes, offset);
  RootComplex& rc = cpu_.root_complex();
  return !rc.gone() && rc.config_space().memory_space() &&
         offset + bytes <= rc.config_space().bar_bytes(bar);
}

uint64_t SimPciDevice::read(unsigned bar, uint32_t offset, uint8_t bytes) {
  if (!decodes(bar, offset, bytes)) {
    thread().charge(cpu_.config().mmio_read_ns);
    return ~uint64_t{0};
  }
  Mmio m;
  m.bar = static_cast<uint8_t>(bar);
  m.offset = offset;
  m.bytes = bytes;
  return thread().mmio_read(std::move(m));
}

void SimPciDevice::write(unsigned bar, uint32_t offset, uint8_t bytes, uint64_t value) {
  thread().charge(cpu_.config().mmio_write_ns);
  if (!decodes(bar, offset, bytes)) return;
  Mmio m;
  m.is_write = true;
  m.bar = static_cast<uint8_t>(bar);
  m.offset = offset;
  m.bytes = bytes;
  m.value = value;
  thread().mmio_write(std::move(m));
}

void SimPciDevice::write_combined(unsigned bar, uint32_t offset, std::span<const uint8_t> bytes) {
  RNIC_CHECK(bytes.size() == 64, "a write-combined store of {} bytes", bytes.size());
  thread().charge(cpu_.config().wc_ns);
  if (!decodes(bar, offset, 64)) return;
  Mmio m;
  m.is_write = true;
  m.bar = static_cast<uint8_t>(bar);
  m.offset = offset;
  m.bytes = 64;
  m.data = Payload::copy_of(bytes);
  thread().mmio_write(std::move(m));
}

void SimPciDevice::relax() { thread().relax(cpu_.config().poll_ns); }

}  // namespace rnic::sim

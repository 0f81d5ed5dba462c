// The content of configuration space after power-on, and which bits a write can change. Register
// layouts: PCIe Base Specification 7.5 and 7.7.2.
#include "platform/config_space.hpp"

#include <algorithm>
#include <bit>

#include "gen/regs.hpp"

namespace rnic::sim {
namespace {

/// The code n of a payload size of 128 << n bytes.
uint32_t size_code(uint64_t bytes) { return static_cast<uint32_t>(std::countr_zero(bytes)) - 7; }

constexpr uint32_t kMsixTable = 0x2000,
                   kMsixPending = 0x2800;  // registers.yaml: msix_address, msix_pending

}  // namespace

ConfigSpace::ConfigSpace(const PcieConfig& config, const spec::Sizes& sizes)
    : config_(config),
      vectors_(sizes.num_vectors),
      bar2_bytes_(std::bit_ceil(sizes.num_pages) * 4096) {
  reset();
}

void ConfigSpace::reset() {
  words_.fill(0);
  set(0x00, kVendorId | uint32_t{kDeviceId} << 16);
  set(kCommand, kMemorySpace | 1u << 20);  // status: has a capability list
  set(0x08, 0x028000u << 8 | 1);           // network controller, other; revision 1
  set(kBar0, 0x4 | 0xe000'0000);           // 64 bit; firmware's address
  set(kBar2, 0xc | 0xd000'0000);           // 64 bit, prefetchable
  // Subsystem: as vendor and device.
  set(0x2c, kVendorId | uint32_t{kDeviceId} << 16);
  set(kCapabilities, kPcieCap);
  // Capability 0x10 is PCIe; after it comes 0x11, MSI-X, the last.
  set(kPcieCap, 0x10 | kMsixCap << 8 | 2u << 16);  // version 2, endpoint
  set(kPcieCap + 4, 5 | 1u << 5 | 1u << 28);  // up to 4096 bytes, 8-bit tags, function-level reset
  // MPS, MRRS; extended tags and relaxed ordering enabled.
  set(kDeviceControl,
      size_code(config_.pcie_mps) << 5 | size_code(config_.pcie_mrrs) << 12 | 1u << 8 | 1u << 4);
  // Speed and width, in link capabilities and (upper half) link status.
  const uint32_t link = static_cast<uint32_t>(config_.pcie_gen | config_.pcie_lanes << 4);
  set(kPcieCap + 12, link);
  set(kLinkControl, (config_.pcie_rcb == 128 ? 1u << 3 : 0) | link << 16);
  set(kMsixCap, 0x11 | (vectors_ - 1) << 16);
  set(kMsixCap + 4, kMsixTable);  // BAR 0
  set(kMsixCap + 8, kMsixPending);
}

uint32_t ConfigSpace::read(uint32_t offset) const {
  return offset < words_.size() * 4 ? word(offset) : 0;  // no extended capabilities
}

bool ConfigSpace::write(uint32_t offset, uint32_t value) {
  auto masked = [&](uint32_t mask) { set(offset & ~3u, (word(offset) & ~mask) | (value & mask)); };
  switch (offset & ~3u) {
    case kCommand:
      masked(kMemorySpace | kBusMaster | 1u << 10);  // bit 10: INTx disable
      break;
    case kBar0:  // low bits stay: a driver that writes all ones reads the size
      masked(~(kBar0Bytes - 1));
      break;
    case kBar2:
      masked(~(bar2_bytes_ - 1));
      break;
    case kBar0 + 4:
    case kBar2 + 4:
      masked(~0u);
      break;
    case 0x3c:  // interrupt line
      masked(0xff);
      break;
    case kDeviceControl: {
      const uint32_t before = word(kDeviceControl);
      // Codes above 5 (4096 bytes) are reserved: the register keeps its value. Bit 15 reads 0.
      masked(0x7fff);
      if ((word(kDeviceControl) >> 5 & 7) > 5 || (word(kDeviceControl) >> 12 & 7) > 5)
        set(kDeviceControl, before);
      return (value & 1u << 15) != 0;
    }
    case kLinkControl:
      masked(1u << 3);
      break;
    case kMsixCap:
      masked(kMsixEnable | kMsixMask);
      break;
    default:
      break;  // read-only
  }
  return false;
}

spec::PcieCfg ConfigSpace::pcie() const {
  spec::PcieCfg cfg;
  cfg.bus_master = (word(kCommand) & kBusMaster) != 0;
  cfg.msix_enable = (word(kMsixCap) & kMsixEnable) != 0;
  cfg.msix_mask = (word(kMsixCap) & kMsixMask) != 0;
  cfg.mps = word(kDeviceControl) >> 5 & 7;
  cfg.mrrs = word(kDeviceControl) >> 12 & 7;
  cfg.rcb128 = (word(kLinkControl) >> 3) & 1;
  return cfg;
}

}  // namespace rnic::sim

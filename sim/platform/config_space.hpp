// The configuration space of the function: identity, two memory BARs, PCIe and MSI-X capabilities.
// The device sees only its spec::PcieCfg.
//
// It starts as firmware leaves it: BARs have addresses, memory space is enabled, MPS and MRRS are
// set. Bus master and MSI-X are disabled until the driver enables them.
//
//   ConfigSpace space(config, sizes);
//   space.write(kCommand, space.read(kCommand) | kBusMaster);
//   device.set_pcie(space.pcie());
//
// Offsets and bits: PCIe Base Specification 7.5 and 7.7.2.
#pragma once

#include <array>
#include <cstdint>

#include "gen/sizes.hpp"
#include "gen/streams.hpp"
#include "platform/config.hpp"

namespace rnic::sim {

class ConfigSpace {
 public:
  static constexpr uint16_t kVendorId = 0x1d4e, kDeviceId = 0x0001;
  static constexpr uint32_t kCommand = 0x04, kBar0 = 0x10, kBar2 = 0x18, kCapabilities = 0x34;
  static constexpr uint32_t kMemorySpace = 1 << 1, kBusMaster = 1 << 2;
  static constexpr uint32_t kPcieCap = 0x40, kDeviceControl = 0x48, kLinkControl = 0x50;
  static constexpr uint32_t kMsixCap = 0x80;
  static constexpr uint32_t kMsixEnable = 1u << 31, kMsixMask = 1u << 30;
  static constexpr uint32_t kBar0Bytes = 65536;

  ConfigSpace(const PcieConfig& config, const spec::Sizes& sizes);

  uint32_t read(uint32_t offset) const;
  /// Returns true if the write requests a function-level reset (device control bit 15).
  bool write(uint32_t offset, uint32_t value);
  /// Function-level reset: disables bus master and MSI-X, and restores what firmware had set.
  void reset();

  spec::PcieCfg pcie() const;
  bool memory_space() const { return (word(kCommand) & kMemorySpace) != 0; }
  uint32_t bar_bytes(unsigned bar) const {
    return bar == 0 ? kBar0Bytes : bar == 2 ? bar2_bytes_ : 0;
  }

 private:
  uint32_t word(uint32_t offset) const { return words_[offset / 4]; }
  void set(uint32_t offset, uint32_t value) { words_[offset / 4] = value; }

  const PcieConfig config_;
  const uint32_t vectors_;
  uint32_t bar2_bytes_;
  std::array<uint32_t, 64> words_{};
};

}  // namespace rnic::sim

// All settings of a host, its PCIe and the link. The defaults are the reference platform,
// `gen4x16`. config.cpp has the meaning, unit and bounds of each.
//
//   PlatformConfig c = *preset("gen3x16");
//   c.link.mtu = 9000;
//   for (const auto& row : platform_settings())
//     fmt::print("{} = {} {}\n", row.name, row.text(c), row.unit);
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "link/config.hpp"
#include "platform/settings.hpp"

namespace rnic::sim {

struct PcieConfig {
  uint64_t pcie_gen = 4;
  uint64_t pcie_lanes = 16;
  double pcie_gbps = 0;  // 0: from generation and lanes
  uint64_t pcie_mps = 256;
  uint64_t pcie_mrrs = 512;
  uint64_t pcie_rcb = 64;
  uint64_t pcie_latency_ns = 800;
  uint64_t pcie_tags = 256;
  uint64_t pcie_posted_credits = 256;
  uint64_t pcie_nonposted_credits = 256;
  uint64_t pcie_tx_queue_bytes = 2048;
  double pcie_reorder = 0;
  uint64_t pcie_reorder_ns = 500;
  double pcie_split = 0;
  double pcie_relaxed = 0;
  uint64_t pcie_posted_hold_ns = 0;
  uint64_t pcie_error_status = 0;  // spec::RdStatus
  uint64_t pcie_error_nth = 0;
  double pcie_error = 0;
  uint64_t pcie_error_from = 0;
  uint64_t pcie_error_to = UINT64_MAX;

  /// Rate of each direction in Gb/s, after line coding.
  double gbps() const;
};

struct HostConfig {
  uint64_t mmio_write_ns = 20;
  uint64_t mmio_read_ns = 20;
  uint64_t wc_ns = 30;
  uint64_t post_ns = 15;
  uint64_t poll_ns = 40;
  uint64_t interrupt_ns = 1000;
  uint64_t reset_ns = 1000;
  uint64_t quantum_ns = 100;
  uint64_t arena_mib = 1024;
  uint64_t scatter_pages = 16;
  uint64_t page_kib = 4;
  uint64_t guard_pages = 1;
  uint64_t huge_from_mib = 64;
  std::string domain = "adr";  // PersistenceDomain
  std::string pmem_image;      // a file; empty: none
  uint64_t pmem_recover = 0;
  uint64_t pmem_bytes = 64 << 20;
  uint64_t pmem_persist_ns = 200;
  double power_fail_ns = 0;  // resolved to 1 ps
};

struct RunConfig {
  uint64_t watchdog_us = 1000;
  uint64_t time_limit_us = 10'000'000;
};

struct PlatformConfig {
  PcieConfig pcie;
  HostConfig host;
  LinkConfig link;
  RunConfig run;
};

std::span<const SettingRow<PlatformConfig>> platform_settings();

struct Preset {
  std::string_view name, doc;
  PlatformConfig (*make)();
};
std::span<const Preset> platform_presets();
std::optional<PlatformConfig> preset(std::string_view name);

}  // namespace rnic::sim

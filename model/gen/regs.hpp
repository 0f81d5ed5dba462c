// Printed by specgen from docs/spec; do not edit.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "base/bits.hpp"

namespace rnic::spec {

enum class Access : uint8_t { kRw, kRo, kWo, kW1c };

/// `MNIC` as bytes.
/// architecture 3.1
inline constexpr uint32_t kMagicOffset = 0x0;

/// Interface version: major 16, minor 16.
/// architecture 3.1
inline constexpr uint32_t kVersionOffset = 0x4;

/// enable: the device may do DMA. Setting it again after clearing does not reset.
/// architecture 3.1
inline constexpr uint32_t kDevCtrlOffset = 0x8;
inline constexpr unsigned kDevCtrlEnableLsb = 0, kDevCtrlEnableWidth = 1;
inline constexpr uint32_t kDevCtrlEnableMask = 0x1;

/// ready: tables are cleared, commands are accepted. fatal: admin could not read a command from its
/// ring and has stopped; only reset helps.
/// architecture 3.1
inline constexpr uint32_t kDevStatusOffset = 0xc;
inline constexpr unsigned kDevStatusReadyLsb = 0, kDevStatusReadyWidth = 1;
inline constexpr uint32_t kDevStatusReadyMask = 0x1;
inline constexpr unsigned kDevStatusFatalLsb = 1, kDevStatusFatalWidth = 1;
inline constexpr uint32_t kDevStatusFatalMask = 0x2;

/// Key of the STag permutation; written once after reset, before the first create_mr.
/// architecture 6
inline constexpr uint32_t kStagKeyOffset = 0x10;

/// Completion time-out of DMA reads, in device cycles: a read without all its completions fails
/// after 1 to 1.5 times as long. 0: never. The reset value is 52 ms.
/// architecture 3.2
inline constexpr uint32_t kCplTimeoutOffset = 0x18;

/// Bus address of the command ring, 64-byte aligned.
/// architecture 4
inline constexpr uint32_t kAdminCmdBaseOffset = 0x20;

/// Bus address of the response ring, 64-byte aligned.
/// architecture 4
inline constexpr uint32_t kAdminRspBaseOffset = 0x28;

/// Both rings have 2^log_size entries, 0 to 12.
/// architecture 4
inline constexpr uint32_t kAdminLogSizeOffset = 0x30;
inline constexpr unsigned kAdminLogSizeLogSizeLsb = 0, kAdminLogSizeLogSizeWidth = 4;
inline constexpr uint32_t kAdminLogSizeLogSizeMask = 0xf;

/// Producer index of the command ring.
/// architecture 4
inline constexpr uint32_t kAdminDoorbellOffset = 0x34;
inline constexpr unsigned kAdminDoorbellIndexLsb = 0, kAdminDoorbellIndexWidth = 16;
inline constexpr uint32_t kAdminDoorbellIndexMask = 0xffff;

/// Device cycles since reset; the clock of cqe.timestamp.
/// architecture 13
inline constexpr uint32_t kDeviceTimeOffset = 0x40;

/// Doorbells for an object that does not exist or belongs to another page, and pushes that were
/// malformed.
/// architecture 3.1
inline constexpr uint32_t kDoorbellsDroppedOffset = 0x48;

/// DMA reads that failed: unsupported, aborted, poisoned, of a wrong length, timed out.
/// architecture 3.2
inline constexpr uint32_t kDmaErrorsOffset = 0x50;

/// Completions for a tag that is not outstanding: discarded.
/// architecture 3.2
inline constexpr uint32_t kCplUnexpectedOffset = 0x58;

/// DMA reads that failed because fewer or more bytes came than were asked for.
/// architecture 3.2
inline constexpr uint32_t kCplMalformedOffset = 0x60;

/// DMA reads that failed because not all of their bytes came in time (cpl_timeout).
/// architecture 3.2
inline constexpr uint32_t kCplTimedOutOffset = 0x68;

/// Queue pairs.
/// sizes.yaml
inline constexpr uint32_t kCapNumQpsOffset = 0x100;

/// Completion queues.
/// sizes.yaml
inline constexpr uint32_t kCapNumCqsOffset = 0x104;

/// Event queues.
/// sizes.yaml
inline constexpr uint32_t kCapNumEqsOffset = 0x108;

/// Protection domains.
/// sizes.yaml
inline constexpr uint32_t kCapNumPdsOffset = 0x10c;

/// Doorbell pages.
/// sizes.yaml
inline constexpr uint32_t kCapNumPagesOffset = 0x110;

/// STag table slots.
/// sizes.yaml
inline constexpr uint32_t kCapNumStagsOffset = 0x114;

/// Page-list entries.
/// sizes.yaml
inline constexpr uint32_t kCapNumPblOffset = 0x118;

/// Connections.
/// sizes.yaml
inline constexpr uint32_t kCapNumConnsOffset = 0x11c;

/// MSI-X vectors.
/// sizes.yaml
inline constexpr uint32_t kCapNumVectorsOffset = 0x120;

/// Inbound request slots.
/// sizes.yaml
inline constexpr uint32_t kCapIrdSlotsOffset = 0x124;

/// Outstanding request slots.
/// sizes.yaml
inline constexpr uint32_t kCapOrdSlotsOffset = 0x128;

/// Largest IRD of a QP.
/// sizes.yaml
inline constexpr uint32_t kCapMaxIrdOffset = 0x12c;

/// Largest ORD of a QP.
/// sizes.yaml
inline constexpr uint32_t kCapMaxOrdOffset = 0x130;

/// Device clock.
/// architecture 3
inline constexpr uint32_t kCapClockKhzOffset = 0x134;

/// Send WQEs a QP may have issued and not retired.
/// sizes.yaml
inline constexpr uint32_t kCapSqWindowOffset = 0x138;

/// Consumer index of event queue n.
/// architecture 4
inline constexpr uint32_t kEqConsumerOffset = 0x200;
inline constexpr uint32_t kEqConsumerCount = 64, kEqConsumerStride = 0x4;
inline constexpr unsigned kEqConsumerIndexLsb = 0, kEqConsumerIndexWidth = 16;
inline constexpr uint32_t kEqConsumerIndexMask = 0xffff;

/// MSI-X table: message address.
/// PCIe Base Specification 7.7.2
inline constexpr uint32_t kMsixAddressOffset = 0x2000;
inline constexpr uint32_t kMsixAddressCount = 64, kMsixAddressStride = 0x10;

/// MSI-X table: message data.
/// PCIe Base Specification 7.7.2
inline constexpr uint32_t kMsixDataOffset = 0x2008;
inline constexpr uint32_t kMsixDataCount = 64, kMsixDataStride = 0x10;

/// MSI-X table: mask.
/// PCIe Base Specification 7.7.2
inline constexpr uint32_t kMsixControlOffset = 0x200c;
inline constexpr uint32_t kMsixControlCount = 64, kMsixControlStride = 0x10;
inline constexpr unsigned kMsixControlMaskLsb = 0, kMsixControlMaskWidth = 1;
inline constexpr uint32_t kMsixControlMaskMask = 0x1;

/// MSI-X pending bits.
/// PCIe Base Specification 7.7.2
inline constexpr uint32_t kMsixPendingOffset = 0x2800;

/// Items a unit has handled; units in the order host_if admin qp tpt rdmap ddp mpa cq llp_if
/// atomic.
/// architecture 12
inline constexpr uint32_t kCountItemsOffset = 0x4000;
inline constexpr uint32_t kCountItemsCount = 10, kCountItemsStride = 0x20;

/// Cycles in which the unit moved an item or a beat.
/// architecture 12
inline constexpr uint32_t kCountBusyOffset = 0x4008;
inline constexpr uint32_t kCountBusyCount = 10, kCountBusyStride = 0x20;

/// Cycles in which it offered one and was not taken.
/// architecture 12
inline constexpr uint32_t kCountStalledOffset = 0x4010;
inline constexpr uint32_t kCountStalledCount = 10, kCountStalledStride = 0x20;

/// One row a register, for tests that walk them all.
struct RegisterRow {
  std::string_view name;
  uint8_t bar;
  uint32_t offset;
  uint8_t width;
  Access access;
  uint64_t reset, writable;
  uint32_t count, stride;
  std::string_view doc;
};
inline constexpr std::array<RegisterRow, 39> kRegisters = {{
    {"magic", 0, 0x0, 32, Access::kRo, 0x43494e4d, 0x0, 1, 4,
     "`MNIC` as bytes."},
    {"version", 0, 0x4, 32, Access::kRo, 0x10000, 0x0, 1, 4,
     "Interface version: major 16, minor 16."},
    {"dev_ctrl", 0, 0x8, 32, Access::kRw, 0x0, 0x1, 1, 4,
     "enable: the device may do DMA. Setting it again after clearing does not reset."},
    {"dev_status", 0, 0xc, 32, Access::kRo, 0x0, 0x0, 1, 4,
     "ready: tables are cleared, commands are accepted. fatal: admin could not read a command from its ring and has stopped; only reset helps."},
    {"stag_key", 0, 0x10, 64, Access::kWo, 0x0, 0xffffffffffffffff, 1, 8,
     "Key of the STag permutation; written once after reset, before the first create_mr."},
    {"cpl_timeout", 0, 0x18, 32, Access::kRw, 0x1000000, 0xffffffff, 1, 4,
     "Completion time-out of DMA reads, in device cycles: a read without all its completions fails after 1 to 1.5 times as long. 0: never. The reset value is 52 ms."},
    {"admin_cmd_base", 0, 0x20, 64, Access::kRw, 0x0, 0xffffffffffffffff, 1, 8,
     "Bus address of the command ring, 64-byte aligned."},
    {"admin_rsp_base", 0, 0x28, 64, Access::kRw, 0x0, 0xffffffffffffffff, 1, 8,
     "Bus address of the response ring, 64-byte aligned."},
    {"admin_log_size", 0, 0x30, 32, Access::kRw, 0x0, 0xf, 1, 4,
     "Both rings have 2^log_size entries, 0 to 12."},
    {"admin_doorbell", 0, 0x34, 32, Access::kWo, 0x0, 0xffff, 1, 4,
     "Producer index of the command ring."},
    {"device_time", 0, 0x40, 64, Access::kRo, 0x0, 0x0, 1, 8,
     "Device cycles since reset; the clock of cqe.timestamp."},
    {"doorbells_dropped", 0, 0x48, 64, Access::kRo, 0x0, 0x0, 1, 8,
     "Doorbells for an object that does not exist or belongs to another page, and pushes that were malformed."},
    {"dma_errors", 0, 0x50, 64, Access::kRo, 0x0, 0x0, 1, 8,
     "DMA reads that failed: unsupported, aborted, poisoned, of a wrong length, timed out."},
    {"cpl_unexpected", 0, 0x58, 64, Access::kRo, 0x0, 0x0, 1, 8,
     "Completions for a tag that is not outstanding: discarded."},
    {"cpl_malformed", 0, 0x60, 64, Access::kRo, 0x0, 0x0, 1, 8,
     "DMA reads that failed because fewer or more bytes came than were asked for."},
    {"cpl_timed_out", 0, 0x68, 64, Access::kRo, 0x0, 0x0, 1, 8,
     "DMA reads that failed because not all of their bytes came in time (cpl_timeout)."},
    {"cap_num_qps", 0, 0x100, 32, Access::kRo, 0x0, 0x0, 1, 4,
     "Queue pairs."},
    {"cap_num_cqs", 0, 0x104, 32, Access::kRo, 0x0, 0x0, 1, 4,
     "Completion queues."},
    {"cap_num_eqs", 0, 0x108, 32, Access::kRo, 0x0, 0x0, 1, 4,
     "Event queues."},
    {"cap_num_pds", 0, 0x10c, 32, Access::kRo, 0x0, 0x0, 1, 4,
     "Protection domains."},
    {"cap_num_pages", 0, 0x110, 32, Access::kRo, 0x0, 0x0, 1, 4,
     "Doorbell pages."},
    {"cap_num_stags", 0, 0x114, 32, Access::kRo, 0x0, 0x0, 1, 4,
     "STag table slots."},
    {"cap_num_pbl", 0, 0x118, 32, Access::kRo, 0x0, 0x0, 1, 4,
     "Page-list entries."},
    {"cap_num_conns", 0, 0x11c, 32, Access::kRo, 0x0, 0x0, 1, 4,
     "Connections."},
    {"cap_num_vectors", 0, 0x120, 32, Access::kRo, 0x0, 0x0, 1, 4,
     "MSI-X vectors."},
    {"cap_ird_slots", 0, 0x124, 32, Access::kRo, 0x0, 0x0, 1, 4,
     "Inbound request slots."},
    {"cap_ord_slots", 0, 0x128, 32, Access::kRo, 0x0, 0x0, 1, 4,
     "Outstanding request slots."},
    {"cap_max_ird", 0, 0x12c, 32, Access::kRo, 0x0, 0x0, 1, 4,
     "Largest IRD of a QP."},
    {"cap_max_ord", 0, 0x130, 32, Access::kRo, 0x0, 0x0, 1, 4,
     "Largest ORD of a QP."},
    {"cap_clock_khz", 0, 0x134, 32, Access::kRo, 0x4eada, 0x0, 1, 4,
     "Device clock."},
    {"cap_sq_window", 0, 0x138, 32, Access::kRo, 0x0, 0x0, 1, 4,
     "Send WQEs a QP may have issued and not retired."},
    {"eq_consumer", 0, 0x200, 32, Access::kWo, 0x0, 0xffff, 64, 4,
     "Consumer index of event queue n."},
    {"msix_address", 0, 0x2000, 64, Access::kRw, 0x0, 0xffffffffffffffff, 64, 16,
     "MSI-X table: message address."},
    {"msix_data", 0, 0x2008, 32, Access::kRw, 0x0, 0xffffffff, 64, 16,
     "MSI-X table: message data."},
    {"msix_control", 0, 0x200c, 32, Access::kRw, 0x1, 0x1, 64, 16,
     "MSI-X table: mask."},
    {"msix_pending", 0, 0x2800, 64, Access::kRo, 0x0, 0x0, 1, 8,
     "MSI-X pending bits."},
    {"count_items", 0, 0x4000, 64, Access::kRo, 0x0, 0x0, 10, 32,
     "Items a unit has handled; units in the order host_if admin qp tpt rdmap ddp mpa cq llp_if atomic."},
    {"count_busy", 0, 0x4008, 64, Access::kRo, 0x0, 0x0, 10, 32,
     "Cycles in which the unit moved an item or a beat."},
    {"count_stalled", 0, 0x4010, 64, Access::kRo, 0x0, 0x0, 10, 32,
     "Cycles in which it offered one and was not taken."},
}};

}  // namespace rnic::spec

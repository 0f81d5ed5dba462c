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

/// Largest ULPDU accepted.
/// RFC 5044 section 4
inline constexpr uint16_t kMaxUlpdu = 0xffff;

/// SGEs in a send WQE.
/// architecture 4 (Limits)
inline constexpr uint8_t kMaxSge = 0xe;

/// SGEs in a receive WQE.
/// architecture 4 (Queue formats)
inline constexpr uint8_t kMaxRecvSge = 0x3;

/// Inline bytes in a send WQE of 4 units: 32 in one unit, 96 in two.
/// architecture 4 (Queue formats)
inline constexpr uint8_t kMaxInline = 0xe0;

/// Bytes of each connection's credit kept for Terminate.
/// architecture 5
inline constexpr uint16_t kTermCredit = 0x80;

/// Longest message.
/// architecture 4
inline constexpr uint32_t kMaxMessage = 0x80000000;

/// Smallest SQ and RQ: 4 units.
/// architecture 4 (Rings)
inline constexpr uint8_t kMinLogRing = 0x2;

/// Largest SQ, RQ: 32768 units of 64 bytes, 2 MiB; indices run free in 16 bits.
/// architecture 4 (Rings)
inline constexpr uint8_t kMaxLogRing = 0xf;

/// Largest CQ and EQ: 32768 entries.
/// architecture 4 (Rings)
inline constexpr uint8_t kMaxLogCq = 0xf;

/// Every size of the device: a setting of the model, a parameter of the RTL (rnic_pkg).
///   Sizes s;  s.num_qps = 16;   or   Sizes::minimum(), Sizes::stall()
struct Sizes {
  uint32_t num_qps = 1024U;  // QPs: Queue pairs; QPNs 0 to n-1.
  uint32_t num_cqs = 1024U;  // CQs: Completion queues.
  uint32_t num_eqs = 16U;  // EQs: Event queues. EQ 0 also takes QP and connection events.
  uint32_t num_pds = 1024U;  // PDs: Protection domains.
  uint32_t num_pages = 256U;  // pages: Doorbell pages of BAR 2.
  uint32_t num_stags = 16384U;  // entries: STag table slots.
  uint32_t num_pbl = 262144U;  // entries: Page-list entries.
  uint32_t num_conns = 2048U;  // connections: Connection numbers the LLP may use: 0 to n-1.
  uint32_t num_vectors = 64U;  // vectors: MSI-X vectors.
  uint32_t ird_slots = 8192U;  // slots: Pool of inbound request slots.
  uint32_t ord_slots = 8192U;  // slots: Pool of outstanding request slots.
  uint32_t max_ird = 32U;  // requests: Largest IRD of a QP.
  uint32_t max_ord = 32U;  // requests: Largest ORD of a QP.
  uint32_t sq_prefetch = 32U;  // WQE units a QP: SQ prefetch buffer of each QP, at least the longest WQE.
  uint32_t sq_window = 64U;  // WQEs a QP: Send WQEs issued and not retired.
  uint32_t rq_prefetch = 16U;  // WQEs a QP: RQ prefetch buffer of each QP.
  uint32_t rd_tags = 192U;  // tags: PCIe read tags in all.
  uint32_t rd_buffer = 1024U;  // 64-byte beats: Reorder space for payload reads: at least one largest segment, which is released whole.
  uint32_t rx_store = 2048U;  // 64-byte beats: Receive store: one largest FPDU at least.
  uint32_t seg_depth = 128U;  // segments: Transmit segments between ddp's scheduler and mpa.
  uint32_t sq_slots = 4U;  // messages a QP: Messages of a QP's send queue that ddp holds.
  uint32_t fifo_depth = 8U;  // items: Message FIFOs between units.
  uint32_t beat_depth = 16U;  // 64-byte beats: Beat FIFOs between units.

  static constexpr Sizes minimum() {
    Sizes s;
    s.num_qps = 8U;
    s.num_cqs = 8U;
    s.num_eqs = 2U;
    s.num_pds = 4U;
    s.num_pages = 4U;
    s.num_stags = 64U;
    s.num_pbl = 1024U;
    s.num_conns = 16U;
    s.num_vectors = 2U;
    s.ird_slots = 64U;
    s.ord_slots = 64U;
    s.max_ird = 32U;
    s.max_ord = 32U;
    s.sq_prefetch = 4U;
    s.sq_window = 8U;
    s.rq_prefetch = 1U;
    s.rd_tags = 8U;
    s.rd_buffer = 1024U;
    s.rx_store = 1056U;
    s.seg_depth = 2U;
    s.sq_slots = 1U;
    s.fifo_depth = 2U;
    s.beat_depth = 2U;
    return s;
  }

  static constexpr Sizes stall() {
    Sizes s;
    s.num_qps = 8U;
    s.num_cqs = 8U;
    s.num_eqs = 2U;
    s.num_pds = 4U;
    s.num_pages = 4U;
    s.num_stags = 64U;
    s.num_pbl = 1024U;
    s.num_conns = 16U;
    s.num_vectors = 2U;
    s.ird_slots = 64U;
    s.ord_slots = 64U;
    s.max_ird = 32U;
    s.max_ord = 32U;
    s.sq_prefetch = 8U;
    s.sq_window = 8U;
    s.rq_prefetch = 2U;
    s.rd_tags = 8U;
    s.rd_buffer = 1024U;
    s.rx_store = 1056U;
    s.seg_depth = 4U;
    s.sq_slots = 2U;
    s.fifo_depth = 2U;
    s.beat_depth = 2U;
    return s;
  }
  friend bool operator==(const Sizes&, const Sizes&) = default;
};

struct SizeRow {
  std::string_view name;
  uint32_t Sizes::*member;
  uint32_t value, minimum, stall, min, max;
  bool power_of_two;
  std::string_view unit, doc, ref;
};
inline constexpr std::array<SizeRow, 23> kSizes = {{
    {"num_qps", &Sizes::num_qps, 1024U, 8U, 8U, 2U, 8192U, true, "QPs",
     "Queue pairs; QPNs 0 to n-1.",
     "architecture 4 (Capacity)"},
    {"num_cqs", &Sizes::num_cqs, 1024U, 8U, 8U, 2U, 65536U, true, "CQs",
     "Completion queues.",
     "architecture 4 (Capacity)"},
    {"num_eqs", &Sizes::num_eqs, 16U, 2U, 2U, 1U, 64U, true, "EQs",
     "Event queues. EQ 0 also takes QP and connection events.",
     "architecture 4"},
    {"num_pds", &Sizes::num_pds, 1024U, 4U, 4U, 2U, 65536U, true, "PDs",
     "Protection domains.",
     "architecture 6"},
    {"num_pages", &Sizes::num_pages, 256U, 4U, 4U, 1U, 4096U, false, "pages",
     "Doorbell pages of BAR 2.",
     "architecture 3.1"},
    {"num_stags", &Sizes::num_stags, 16384U, 64U, 64U, 16U, 65536U, true, "entries",
     "STag table slots.",
     "architecture 4 (Limits)"},
    {"num_pbl", &Sizes::num_pbl, 262144U, 1024U, 1024U, 256U, 16777216U, true, "entries",
     "Page-list entries.",
     "architecture 4 (Capacity)"},
    {"num_conns", &Sizes::num_conns, 2048U, 16U, 16U, 4U, 32768U, true, "connections",
     "Connection numbers the LLP may use: 0 to n-1.",
     "architecture 3.3"},
    {"num_vectors", &Sizes::num_vectors, 64U, 2U, 2U, 1U, 64U, true, "vectors",
     "MSI-X vectors.",
     "architecture 4 (Limits)"},
    {"ird_slots", &Sizes::ird_slots, 8192U, 64U, 64U, 4U, 65536U, true, "slots",
     "Pool of inbound request slots.",
     "architecture 4 (Limits)"},
    {"ord_slots", &Sizes::ord_slots, 8192U, 64U, 64U, 4U, 65536U, true, "slots",
     "Pool of outstanding request slots.",
     "architecture 4 (Limits)"},
    {"max_ird", &Sizes::max_ird, 32U, 32U, 32U, 1U, 32U, false, "requests",
     "Largest IRD of a QP.",
     "architecture 4 (Limits)"},
    {"max_ord", &Sizes::max_ord, 32U, 32U, 32U, 1U, 32U, false, "requests",
     "Largest ORD of a QP.",
     "architecture 4 (Limits)"},
    {"sq_prefetch", &Sizes::sq_prefetch, 32U, 4U, 8U, 4U, 64U, true, "WQE units a QP",
     "SQ prefetch buffer of each QP, at least the longest WQE.",
     "architecture 4 (Queue formats)"},
    {"sq_window", &Sizes::sq_window, 64U, 8U, 8U, 4U, 64U, true, "WQEs a QP",
     "Send WQEs issued and not retired.",
     "architecture 4"},
    {"rq_prefetch", &Sizes::rq_prefetch, 16U, 1U, 2U, 1U, 16U, true, "WQEs a QP",
     "RQ prefetch buffer of each QP.",
     "architecture 4 (Queue formats)"},
    {"rd_tags", &Sizes::rd_tags, 192U, 8U, 8U, 6U, 256U, false, "tags",
     "PCIe read tags in all.",
     "architecture 3.2"},
    {"rd_buffer", &Sizes::rd_buffer, 1024U, 1024U, 1024U, 1024U, 4096U, false, "64-byte beats",
     "Reorder space for payload reads: at least one largest segment, which is released whole.",
     "architecture 3.2"},
    {"rx_store", &Sizes::rx_store, 2048U, 1056U, 1056U, 1056U, 8192U, false, "64-byte beats",
     "Receive store: one largest FPDU at least.",
     "architecture 4 (Limits)"},
    {"seg_depth", &Sizes::seg_depth, 128U, 2U, 4U, 2U, 256U, false, "segments",
     "Transmit segments between ddp's scheduler and mpa.",
     "architecture 5"},
    {"sq_slots", &Sizes::sq_slots, 4U, 1U, 2U, 1U, 8U, false, "messages a QP",
     "Messages of a QP's send queue that ddp holds.",
     "architecture 5"},
    {"fifo_depth", &Sizes::fifo_depth, 8U, 2U, 2U, 2U, 64U, false, "items",
     "Message FIFOs between units.",
     "architecture 3"},
    {"beat_depth", &Sizes::beat_depth, 16U, 2U, 2U, 2U, 256U, false, "64-byte beats",
     "Beat FIFOs between units.",
     "architecture 3"},
}};

}  // namespace rnic::spec

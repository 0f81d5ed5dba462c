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

/// RDMAP opcode. Four bits in RFC 5040; Atomic Write takes a fifth (docs/ambiguities.md A-02).
/// RFC 5040 section 4.1, Figure 4; RFC 7306 section 3; draft-talpey-rdma-commit-01 section 3.2
enum class RdmapOpcode : uint8_t {
  kRdmaWrite = 0x0,  // Tagged; no RDMAP header.
  kReadRequest = 0x1,  // Untagged, QN 1; 28-byte header.
  kReadResponse = 0x2,  // Tagged; no RDMAP header.
  kSend = 0x3,  // Untagged, QN 0.
  kSendInv = 0x4,  // Send with Invalidate.
  kSendSe = 0x5,  // Send with Solicited Event.
  kSendSeInv = 0x6,  // Send with Solicited Event and Invalidate.
  kTerminate = 0x7,  // Untagged, QN 2.
  kImmediate = 0x8,  // Immediate Data, untagged, QN 0, 8 bytes (RFC 7306).
  kImmediateSe = 0x9,  // Immediate Data with Solicited Event (RFC 7306).
  kAtomicRequest = 0xa,  // Untagged, QN 1, 52 bytes (RFC 7306).
  kAtomicResponse = 0xb,  // Untagged, QN 3, 12 bytes (RFC 7306).
  kFlushRequest = 0xc,  // Untagged, QN 1, 20 bytes.
  kFlushResponse = 0xd,  // Untagged, QN 3, empty.
  kVerifyRequest = 0xe,  // Untagged, QN 1, 16 bytes and an optional hash.
  kVerifyResponse = 0xf,  // Untagged, QN 3, the hash.
  kAtomicWriteRequest = 0x10,  // Untagged, QN 1, 24 bytes.
  kAtomicWriteResponse = 0x11,  // Untagged, QN 3, empty.
};
inline constexpr std::array<RdmapOpcode, 18> kAllRdmapOpcode = {{
    RdmapOpcode::kRdmaWrite, RdmapOpcode::kReadRequest, RdmapOpcode::kReadResponse, RdmapOpcode::kSend,
    RdmapOpcode::kSendInv, RdmapOpcode::kSendSe, RdmapOpcode::kSendSeInv, RdmapOpcode::kTerminate,
    RdmapOpcode::kImmediate, RdmapOpcode::kImmediateSe, RdmapOpcode::kAtomicRequest, RdmapOpcode::kAtomicResponse,
    RdmapOpcode::kFlushRequest, RdmapOpcode::kFlushResponse, RdmapOpcode::kVerifyRequest, RdmapOpcode::kVerifyResponse,
    RdmapOpcode::kAtomicWriteRequest, RdmapOpcode::kAtomicWriteResponse}};
constexpr std::string_view to_string(RdmapOpcode v) {
  switch (v) {
    case RdmapOpcode::kRdmaWrite: return "rdma_write";
    case RdmapOpcode::kReadRequest: return "read_request";
    case RdmapOpcode::kReadResponse: return "read_response";
    case RdmapOpcode::kSend: return "send";
    case RdmapOpcode::kSendInv: return "send_inv";
    case RdmapOpcode::kSendSe: return "send_se";
    case RdmapOpcode::kSendSeInv: return "send_se_inv";
    case RdmapOpcode::kTerminate: return "terminate";
    case RdmapOpcode::kImmediate: return "immediate";
    case RdmapOpcode::kImmediateSe: return "immediate_se";
    case RdmapOpcode::kAtomicRequest: return "atomic_request";
    case RdmapOpcode::kAtomicResponse: return "atomic_response";
    case RdmapOpcode::kFlushRequest: return "flush_request";
    case RdmapOpcode::kFlushResponse: return "flush_response";
    case RdmapOpcode::kVerifyRequest: return "verify_request";
    case RdmapOpcode::kVerifyResponse: return "verify_response";
    case RdmapOpcode::kAtomicWriteRequest: return "atomic_write_request";
    case RdmapOpcode::kAtomicWriteResponse: return "atomic_write_response";
  }
  return "unknown";
}

/// Castagnoli, reflected.
/// RFC 5044 section 4.4 (C-21)
inline constexpr uint32_t kCrc32cPolynomial = 0x82f63b78;

/// DDP version sent and accepted.
/// RFC 5041 section 4.1
inline constexpr uint8_t kDvIetf = 0x1;

/// RDMAP version sent and accepted.
/// RFC 5040 section 4.1
inline constexpr uint8_t kRvIetf = 0x1;

/// Sends and Immediate Data.
/// RFC 5040 section 3.1
inline constexpr uint32_t kQnSend = 0x0;

/// Read Requests and the requests of the extensions.
/// RFC 5040 section 3.1
inline constexpr uint32_t kQnRequest = 0x1;

/// Terminate.
/// RFC 5040 section 3.1
inline constexpr uint32_t kQnTerminate = 0x2;

/// Responses of the extensions.
/// RFC 7306 section 4
inline constexpr uint32_t kQnResponse = 0x3;

/// DDP tagged header.
/// RFC 5041 section 4.2
inline constexpr uint8_t kTaggedHeaderBytes = 0xe;

/// DDP untagged header.
/// RFC 5041 section 4.3
inline constexpr uint8_t kUntaggedHeaderBytes = 0x12;

/// Kind of a request on QN 1 and of its response: Read.
/// architecture 5
inline constexpr uint8_t kKindRead = 0x0;

/// Flush.
/// architecture 5
inline constexpr uint8_t kKindFlush = 0x1;

/// Atomic Request.
/// architecture 5
inline constexpr uint8_t kKindAtomic = 0x2;

/// Atomic Write Request.
/// architecture 5
inline constexpr uint8_t kKindAtomicWrite = 0x3;

/// AOpCode of FetchAdd.
/// RFC 7306 section 5.2
inline constexpr uint8_t kAtomicFetchAdd = 0x0;

/// AOpCode of CmpSwap.
/// RFC 7306 section 5.2
inline constexpr uint8_t kAtomicCmpSwap = 0x2;

/// Flush flag P: the range is to be persistent.
/// draft-talpey-rdma-commit-01 section 3.1.1.1
inline constexpr uint32_t kFlushPersistent = 0x1;

/// Flush flag G: the range is to be globally visible.
/// draft-talpey-rdma-commit-01 section 3.1.1.1
inline constexpr uint32_t kFlushVisible = 0x2;

/// Bytes of stream from marker to marker.
/// RFC 5044 section 4.3
inline constexpr uint16_t kMpaMarkerSpacing = 0x200;

/// Bytes of private data.
/// RFC 5044 section 7.1
inline constexpr uint16_t kMpaPrivateDataMax = 0x200;

/// RDMA Write and Read Response: placed by STag and TO.
/// RFC 5041 section 4.2 (requirements.md 2.1)
struct DdpTagged {
  uint8_t is_tagged = 0;  // 1 bit
  uint8_t is_last = 0;  // 1 bit
  uint8_t reserved0 = 0;  // 4 bits
  uint8_t dv = 0;  // 2 bits
  uint8_t rv = 0;  // 2 bits
  uint8_t reserved1 = 0;  // 1 bit
  RdmapOpcode opcode{};
  uint32_t stag = 0;  // 32 bits
  uint64_t tagged_offset = 0;  // 64 bits

  static constexpr std::string_view kName = "ddp_tagged";
  static constexpr size_t kBits = 112;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const DdpTagged&, const DdpTagged&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<111, 1>(w.data(), is_tagged);
    base::put_bits<110, 1>(w.data(), is_last);
    base::put_bits<106, 4>(w.data(), reserved0);
    base::put_bits<104, 2>(w.data(), dv);
    base::put_bits<102, 2>(w.data(), rv);
    base::put_bits<101, 1>(w.data(), reserved1);
    base::put_bits<96, 5>(w.data(), static_cast<uint64_t>(opcode));
    base::put_bits<64, 32>(w.data(), stag);
    base::put_bits<0, 64>(w.data(), tagged_offset);
    return w;
  }
  static DdpTagged from_words(const uint32_t* w) {
    DdpTagged s;
    s.is_tagged = static_cast<uint8_t>(base::get_bits<111, 1>(w));
    s.is_last = static_cast<uint8_t>(base::get_bits<110, 1>(w));
    s.reserved0 = static_cast<uint8_t>(base::get_bits<106, 4>(w));
    s.dv = static_cast<uint8_t>(base::get_bits<104, 2>(w));
    s.rv = static_cast<uint8_t>(base::get_bits<102, 2>(w));
    s.reserved1 = static_cast<uint8_t>(base::get_bits<101, 1>(w));
    s.opcode = static_cast<RdmapOpcode>(base::get_bits<96, 5>(w));
    s.stag = static_cast<uint32_t>(base::get_bits<64, 32>(w));
    s.tagged_offset = static_cast<uint64_t>(base::get_bits<0, 64>(w));
    return s;
  }
  static constexpr size_t kBytes = 14;
  /// As the bytes on the wire: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_big<kBytes>(to_words().data(), out); }
  static DdpTagged unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_big_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "is_tagged={}", is_tagged);
    fmt::format_to(std::back_inserter(s), " is_last={}", is_last);
    if (reserved0 != 0) fmt::format_to(std::back_inserter(s), " reserved0={}", reserved0);
    fmt::format_to(std::back_inserter(s), " dv={}", dv);
    fmt::format_to(std::back_inserter(s), " rv={}", rv);
    if (reserved1 != 0) fmt::format_to(std::back_inserter(s), " reserved1={}", reserved1);
    fmt::format_to(std::back_inserter(s), " opcode={}", to_string(opcode));
    fmt::format_to(std::back_inserter(s), " stag={:#x}", stag);
    fmt::format_to(std::back_inserter(s), " tagged_offset={:#x}", tagged_offset);
    return s;
  }
};

/// Everything else: placed by QN, MSN and MO.
/// RFC 5041 section 4.3 (requirements.md 2.2)
struct DdpUntagged {
  uint8_t is_tagged = 0;  // 1 bit
  uint8_t is_last = 0;  // 1 bit
  uint8_t reserved0 = 0;  // 4 bits
  uint8_t dv = 0;  // 2 bits
  uint8_t rv = 0;  // 2 bits
  uint8_t reserved1 = 0;  // 1 bit
  RdmapOpcode opcode{};
  uint32_t invalidate_stag = 0;  // 32 bits
  uint32_t qn = 0;  // 32 bits
  uint32_t msn = 0;  // 32 bits
  uint32_t mo = 0;  // 32 bits

  static constexpr std::string_view kName = "ddp_untagged";
  static constexpr size_t kBits = 144;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const DdpUntagged&, const DdpUntagged&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<143, 1>(w.data(), is_tagged);
    base::put_bits<142, 1>(w.data(), is_last);
    base::put_bits<138, 4>(w.data(), reserved0);
    base::put_bits<136, 2>(w.data(), dv);
    base::put_bits<134, 2>(w.data(), rv);
    base::put_bits<133, 1>(w.data(), reserved1);
    base::put_bits<128, 5>(w.data(), static_cast<uint64_t>(opcode));
    base::put_bits<96, 32>(w.data(), invalidate_stag);
    base::put_bits<64, 32>(w.data(), qn);
    base::put_bits<32, 32>(w.data(), msn);
    base::put_bits<0, 32>(w.data(), mo);
    return w;
  }
  static DdpUntagged from_words(const uint32_t* w) {
    DdpUntagged s;
    s.is_tagged = static_cast<uint8_t>(base::get_bits<143, 1>(w));
    s.is_last = static_cast<uint8_t>(base::get_bits<142, 1>(w));
    s.reserved0 = static_cast<uint8_t>(base::get_bits<138, 4>(w));
    s.dv = static_cast<uint8_t>(base::get_bits<136, 2>(w));
    s.rv = static_cast<uint8_t>(base::get_bits<134, 2>(w));
    s.reserved1 = static_cast<uint8_t>(base::get_bits<133, 1>(w));
    s.opcode = static_cast<RdmapOpcode>(base::get_bits<128, 5>(w));
    s.invalidate_stag = static_cast<uint32_t>(base::get_bits<96, 32>(w));
    s.qn = static_cast<uint32_t>(base::get_bits<64, 32>(w));
    s.msn = static_cast<uint32_t>(base::get_bits<32, 32>(w));
    s.mo = static_cast<uint32_t>(base::get_bits<0, 32>(w));
    return s;
  }
  static constexpr size_t kBytes = 18;
  /// As the bytes on the wire: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_big<kBytes>(to_words().data(), out); }
  static DdpUntagged unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_big_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "is_tagged={}", is_tagged);
    fmt::format_to(std::back_inserter(s), " is_last={}", is_last);
    if (reserved0 != 0) fmt::format_to(std::back_inserter(s), " reserved0={}", reserved0);
    fmt::format_to(std::back_inserter(s), " dv={}", dv);
    fmt::format_to(std::back_inserter(s), " rv={}", rv);
    if (reserved1 != 0) fmt::format_to(std::back_inserter(s), " reserved1={}", reserved1);
    fmt::format_to(std::back_inserter(s), " opcode={}", to_string(opcode));
    fmt::format_to(std::back_inserter(s), " invalidate_stag={:#x}", invalidate_stag);
    fmt::format_to(std::back_inserter(s), " qn={}", qn);
    fmt::format_to(std::back_inserter(s), " msn={}", msn);
    fmt::format_to(std::back_inserter(s), " mo={}", mo);
    return s;
  }
};

/// After the untagged DDP header. The size stands between sink and source.
/// RFC 5040 section 4.4, Figure 6
struct ReadRequest {
  uint32_t sink_stag = 0;  // 32 bits
  uint64_t sink_to = 0;  // 64 bits
  uint32_t read_size = 0;  // 32 bits
  uint32_t source_stag = 0;  // 32 bits
  uint64_t source_to = 0;  // 64 bits

  static constexpr std::string_view kName = "read_request";
  static constexpr size_t kBits = 224;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const ReadRequest&, const ReadRequest&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<192, 32>(w.data(), sink_stag);
    base::put_bits<128, 64>(w.data(), sink_to);
    base::put_bits<96, 32>(w.data(), read_size);
    base::put_bits<64, 32>(w.data(), source_stag);
    base::put_bits<0, 64>(w.data(), source_to);
    return w;
  }
  static ReadRequest from_words(const uint32_t* w) {
    ReadRequest s;
    s.sink_stag = static_cast<uint32_t>(base::get_bits<192, 32>(w));
    s.sink_to = static_cast<uint64_t>(base::get_bits<128, 64>(w));
    s.read_size = static_cast<uint32_t>(base::get_bits<96, 32>(w));
    s.source_stag = static_cast<uint32_t>(base::get_bits<64, 32>(w));
    s.source_to = static_cast<uint64_t>(base::get_bits<0, 64>(w));
    return s;
  }
  static constexpr size_t kBytes = 28;
  /// As the bytes on the wire: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_big<kBytes>(to_words().data(), out); }
  static ReadRequest unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_big_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "sink_stag={:#x}", sink_stag);
    fmt::format_to(std::back_inserter(s), " sink_to={:#x}", sink_to);
    fmt::format_to(std::back_inserter(s), " read_size={}", read_size);
    fmt::format_to(std::back_inserter(s), " source_stag={:#x}", source_stag);
    fmt::format_to(std::back_inserter(s), " source_to={:#x}", source_to);
    return s;
  }
};

/// First word of a Terminate. Then, as M, D and R say: 2 bytes length, DDP header, Read Request
/// header.
/// RFC 5040 section 4.8, Figure 7
struct TerminateCtrl {
  uint8_t layer = 0;  // 4 bits
  uint8_t etype = 0;  // 4 bits
  uint8_t code = 0;  // 8 bits
  uint8_t has_length = 0;  // 1 bit
  uint8_t has_ddp_header = 0;  // 1 bit
  uint8_t has_rdma_header = 0;  // 1 bit
  uint16_t reserved = 0;  // 13 bits

  static constexpr std::string_view kName = "terminate_ctrl";
  static constexpr size_t kBits = 32;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const TerminateCtrl&, const TerminateCtrl&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<28, 4>(w.data(), layer);
    base::put_bits<24, 4>(w.data(), etype);
    base::put_bits<16, 8>(w.data(), code);
    base::put_bits<15, 1>(w.data(), has_length);
    base::put_bits<14, 1>(w.data(), has_ddp_header);
    base::put_bits<13, 1>(w.data(), has_rdma_header);
    base::put_bits<0, 13>(w.data(), reserved);
    return w;
  }
  static TerminateCtrl from_words(const uint32_t* w) {
    TerminateCtrl s;
    s.layer = static_cast<uint8_t>(base::get_bits<28, 4>(w));
    s.etype = static_cast<uint8_t>(base::get_bits<24, 4>(w));
    s.code = static_cast<uint8_t>(base::get_bits<16, 8>(w));
    s.has_length = static_cast<uint8_t>(base::get_bits<15, 1>(w));
    s.has_ddp_header = static_cast<uint8_t>(base::get_bits<14, 1>(w));
    s.has_rdma_header = static_cast<uint8_t>(base::get_bits<13, 1>(w));
    s.reserved = static_cast<uint16_t>(base::get_bits<0, 13>(w));
    return s;
  }
  static constexpr size_t kBytes = 4;
  /// As the bytes on the wire: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_big<kBytes>(to_words().data(), out); }
  static TerminateCtrl unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_big_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "layer={}", layer);
    fmt::format_to(std::back_inserter(s), " etype={}", etype);
    fmt::format_to(std::back_inserter(s), " code={}", code);
    fmt::format_to(std::back_inserter(s), " has_length={}", has_length);
    fmt::format_to(std::back_inserter(s), " has_ddp_header={}", has_ddp_header);
    fmt::format_to(std::back_inserter(s), " has_rdma_header={}", has_rdma_header);
    if (reserved != 0) fmt::format_to(std::back_inserter(s), " reserved={}", reserved);
    return s;
  }
};

/// After the untagged DDP header. The length stands before the offset. flags: flush_persistent,
/// flush_visible; any other bit is an error.
/// draft-talpey-rdma-commit-01 section 3.1.1.1 (requirements.md 5.6, A-06)
struct FlushRequest {
  uint32_t sink_stag = 0;  // 32 bits
  uint32_t length = 0;  // 32 bits
  uint64_t sink_to = 0;  // 64 bits
  uint32_t flags = 0;  // 32 bits

  static constexpr std::string_view kName = "flush_request";
  static constexpr size_t kBits = 160;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const FlushRequest&, const FlushRequest&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<128, 32>(w.data(), sink_stag);
    base::put_bits<96, 32>(w.data(), length);
    base::put_bits<32, 64>(w.data(), sink_to);
    base::put_bits<0, 32>(w.data(), flags);
    return w;
  }
  static FlushRequest from_words(const uint32_t* w) {
    FlushRequest s;
    s.sink_stag = static_cast<uint32_t>(base::get_bits<128, 32>(w));
    s.length = static_cast<uint32_t>(base::get_bits<96, 32>(w));
    s.sink_to = static_cast<uint64_t>(base::get_bits<32, 64>(w));
    s.flags = static_cast<uint32_t>(base::get_bits<0, 32>(w));
    return s;
  }
  static constexpr size_t kBytes = 20;
  /// As the bytes on the wire: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_big<kBytes>(to_words().data(), out); }
  static FlushRequest unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_big_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "sink_stag={:#x}", sink_stag);
    fmt::format_to(std::back_inserter(s), " length={}", length);
    fmt::format_to(std::back_inserter(s), " sink_to={:#x}", sink_to);
    fmt::format_to(std::back_inserter(s), " flags={}", flags);
    return s;
  }
};

/// After the untagged DDP header. aopcode: atomic_fetch_add or atomic_cmp_swap.
/// RFC 7306 section 5.2, Figure 4 (requirements.md 5.4, A-08)
struct AtomicRequest {
  uint32_t reserved = 0;  // 28 bits
  uint8_t aopcode = 0;  // 4 bits
  uint32_t request_id = 0;  // 32 bits
  uint32_t remote_stag = 0;  // 32 bits
  uint64_t remote_to = 0;  // 64 bits
  uint64_t data = 0;  // 64 bits
  uint64_t mask = 0;  // 64 bits
  uint64_t compare = 0;  // 64 bits
  uint64_t compare_mask = 0;  // 64 bits

  static constexpr std::string_view kName = "atomic_request";
  static constexpr size_t kBits = 416;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const AtomicRequest&, const AtomicRequest&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<388, 28>(w.data(), reserved);
    base::put_bits<384, 4>(w.data(), aopcode);
    base::put_bits<352, 32>(w.data(), request_id);
    base::put_bits<320, 32>(w.data(), remote_stag);
    base::put_bits<256, 64>(w.data(), remote_to);
    base::put_bits<192, 64>(w.data(), data);
    base::put_bits<128, 64>(w.data(), mask);
    base::put_bits<64, 64>(w.data(), compare);
    base::put_bits<0, 64>(w.data(), compare_mask);
    return w;
  }
  static AtomicRequest from_words(const uint32_t* w) {
    AtomicRequest s;
    s.reserved = static_cast<uint32_t>(base::get_bits<388, 28>(w));
    s.aopcode = static_cast<uint8_t>(base::get_bits<384, 4>(w));
    s.request_id = static_cast<uint32_t>(base::get_bits<352, 32>(w));
    s.remote_stag = static_cast<uint32_t>(base::get_bits<320, 32>(w));
    s.remote_to = static_cast<uint64_t>(base::get_bits<256, 64>(w));
    s.data = static_cast<uint64_t>(base::get_bits<192, 64>(w));
    s.mask = static_cast<uint64_t>(base::get_bits<128, 64>(w));
    s.compare = static_cast<uint64_t>(base::get_bits<64, 64>(w));
    s.compare_mask = static_cast<uint64_t>(base::get_bits<0, 64>(w));
    return s;
  }
  static constexpr size_t kBytes = 52;
  /// As the bytes on the wire: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_big<kBytes>(to_words().data(), out); }
  static AtomicRequest unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_big_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    if (reserved != 0) fmt::format_to(std::back_inserter(s), "reserved={}", reserved);
    fmt::format_to(std::back_inserter(s), "aopcode={}", aopcode);
    fmt::format_to(std::back_inserter(s), " request_id={}", request_id);
    fmt::format_to(std::back_inserter(s), " remote_stag={:#x}", remote_stag);
    fmt::format_to(std::back_inserter(s), " remote_to={:#x}", remote_to);
    fmt::format_to(std::back_inserter(s), " data={:#x}", data);
    fmt::format_to(std::back_inserter(s), " mask={:#x}", mask);
    fmt::format_to(std::back_inserter(s), " compare={}", compare);
    fmt::format_to(std::back_inserter(s), " compare_mask={:#x}", compare_mask);
    return s;
  }
};

/// After the untagged DDP header.
/// RFC 7306 section 5.2, Figure 5 (requirements.md 5.5, A-01)
struct AtomicResponse {
  uint32_t request_id = 0;  // 32 bits
  uint64_t value = 0;  // 64 bits

  static constexpr std::string_view kName = "atomic_response";
  static constexpr size_t kBits = 96;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const AtomicResponse&, const AtomicResponse&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<64, 32>(w.data(), request_id);
    base::put_bits<0, 64>(w.data(), value);
    return w;
  }
  static AtomicResponse from_words(const uint32_t* w) {
    AtomicResponse s;
    s.request_id = static_cast<uint32_t>(base::get_bits<64, 32>(w));
    s.value = static_cast<uint64_t>(base::get_bits<0, 64>(w));
    return s;
  }
  static constexpr size_t kBytes = 12;
  /// As the bytes on the wire: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_big<kBytes>(to_words().data(), out); }
  static AtomicResponse unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_big_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "request_id={}", request_id);
    fmt::format_to(std::back_inserter(s), " value={}", value);
    return s;
  }
};

/// After the untagged DDP header. length is 8.
/// draft-talpey-rdma-commit-01 section 3.1.3.1 (requirements.md 5.8, A-10)
struct AtomicWriteRequest {
  uint32_t sink_stag = 0;  // 32 bits
  uint32_t length = 0;  // 32 bits
  uint64_t sink_to = 0;  // 64 bits
  uint64_t data = 0;  // 64 bits

  static constexpr std::string_view kName = "atomic_write_request";
  static constexpr size_t kBits = 192;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const AtomicWriteRequest&, const AtomicWriteRequest&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<160, 32>(w.data(), sink_stag);
    base::put_bits<128, 32>(w.data(), length);
    base::put_bits<64, 64>(w.data(), sink_to);
    base::put_bits<0, 64>(w.data(), data);
    return w;
  }
  static AtomicWriteRequest from_words(const uint32_t* w) {
    AtomicWriteRequest s;
    s.sink_stag = static_cast<uint32_t>(base::get_bits<160, 32>(w));
    s.length = static_cast<uint32_t>(base::get_bits<128, 32>(w));
    s.sink_to = static_cast<uint64_t>(base::get_bits<64, 64>(w));
    s.data = static_cast<uint64_t>(base::get_bits<0, 64>(w));
    return s;
  }
  static constexpr size_t kBytes = 24;
  /// As the bytes on the wire: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_big<kBytes>(to_words().data(), out); }
  static AtomicWriteRequest unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_big_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "sink_stag={:#x}", sink_stag);
    fmt::format_to(std::back_inserter(s), " length={}", length);
    fmt::format_to(std::back_inserter(s), " sink_to={:#x}", sink_to);
    fmt::format_to(std::back_inserter(s), " data={:#x}", data);
    return s;
  }
};

/// Starts an FPDU; counts the ULPDU alone.
/// RFC 5044 section 4 (docs/ambiguities.md C-20)
struct MpaLength {
  uint16_t ulpdu_length = 0;  // 16 bits

  static constexpr std::string_view kName = "mpa_length";
  static constexpr size_t kBits = 16;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const MpaLength&, const MpaLength&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 16>(w.data(), ulpdu_length);
    return w;
  }
  static MpaLength from_words(const uint32_t* w) {
    MpaLength s;
    s.ulpdu_length = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    return s;
  }
  static constexpr size_t kBytes = 2;
  /// As the bytes on the wire: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_big<kBytes>(to_words().data(), out); }
  static MpaLength unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_big_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "ulpdu_length={}", ulpdu_length);
    return s;
  }
};

/// Every 512 bytes of the stream: distance back to the FPDU's length field.
/// RFC 5044 section 4.3 (C-23)
struct MpaMarker {
  uint16_t reserved = 0;  // 16 bits
  uint16_t fpdu_ptr = 0;  // 16 bits

  static constexpr std::string_view kName = "mpa_marker";
  static constexpr size_t kBits = 32;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const MpaMarker&, const MpaMarker&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<16, 16>(w.data(), reserved);
    base::put_bits<0, 16>(w.data(), fpdu_ptr);
    return w;
  }
  static MpaMarker from_words(const uint32_t* w) {
    MpaMarker s;
    s.reserved = static_cast<uint16_t>(base::get_bits<16, 16>(w));
    s.fpdu_ptr = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    return s;
  }
  static constexpr size_t kBytes = 4;
  /// As the bytes on the wire: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_big<kBytes>(to_words().data(), out); }
  static MpaMarker unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_big_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    if (reserved != 0) fmt::format_to(std::back_inserter(s), "reserved={}", reserved);
    fmt::format_to(std::back_inserter(s), "fpdu_ptr={}", fpdu_ptr);
    return s;
  }
};

/// After the 16-byte key `MPA ID Req Frame` or `MPA ID Rep Frame`, before the private data.
/// RFC 5044 section 7.1, RFC 6581 section 4 (C-24, C-40)
struct MpaStart {
  uint8_t markers = 0;  // 1 bit
  uint8_t crc = 0;  // 1 bit
  uint8_t reject = 0;  // 1 bit
  uint8_t enhanced = 0;  // 1 bit
  uint8_t reserved = 0;  // 4 bits
  uint8_t revision = 0;  // 8 bits
  uint16_t pd_length = 0;  // 16 bits

  static constexpr std::string_view kName = "mpa_start";
  static constexpr size_t kBits = 32;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const MpaStart&, const MpaStart&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<31, 1>(w.data(), markers);
    base::put_bits<30, 1>(w.data(), crc);
    base::put_bits<29, 1>(w.data(), reject);
    base::put_bits<28, 1>(w.data(), enhanced);
    base::put_bits<24, 4>(w.data(), reserved);
    base::put_bits<16, 8>(w.data(), revision);
    base::put_bits<0, 16>(w.data(), pd_length);
    return w;
  }
  static MpaStart from_words(const uint32_t* w) {
    MpaStart s;
    s.markers = static_cast<uint8_t>(base::get_bits<31, 1>(w));
    s.crc = static_cast<uint8_t>(base::get_bits<30, 1>(w));
    s.reject = static_cast<uint8_t>(base::get_bits<29, 1>(w));
    s.enhanced = static_cast<uint8_t>(base::get_bits<28, 1>(w));
    s.reserved = static_cast<uint8_t>(base::get_bits<24, 4>(w));
    s.revision = static_cast<uint8_t>(base::get_bits<16, 8>(w));
    s.pd_length = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    return s;
  }
  static constexpr size_t kBytes = 4;
  /// As the bytes on the wire: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_big<kBytes>(to_words().data(), out); }
  static MpaStart unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_big_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "markers={}", markers);
    fmt::format_to(std::back_inserter(s), " crc={}", crc);
    fmt::format_to(std::back_inserter(s), " reject={}", reject);
    fmt::format_to(std::back_inserter(s), " enhanced={}", enhanced);
    if (reserved != 0) fmt::format_to(std::back_inserter(s), " reserved={}", reserved);
    fmt::format_to(std::back_inserter(s), " revision={}", revision);
    fmt::format_to(std::back_inserter(s), " pd_length={}", pd_length);
    return s;
  }
};

/// First 4 bytes of private data in revision 2. A: peer-to-peer; B, C, D: RTR by FPDU or Send,
/// Write, Read.
/// RFC 6581 section 4 (C-40)
struct MpaIrdOrd {
  uint8_t peer_to_peer = 0;  // 1 bit
  uint8_t rtr_send = 0;  // 1 bit
  uint16_t ird = 0;  // 14 bits
  uint8_t rtr_write = 0;  // 1 bit
  uint8_t rtr_read = 0;  // 1 bit
  uint16_t ord = 0;  // 14 bits

  static constexpr std::string_view kName = "mpa_ird_ord";
  static constexpr size_t kBits = 32;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const MpaIrdOrd&, const MpaIrdOrd&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<31, 1>(w.data(), peer_to_peer);
    base::put_bits<30, 1>(w.data(), rtr_send);
    base::put_bits<16, 14>(w.data(), ird);
    base::put_bits<15, 1>(w.data(), rtr_write);
    base::put_bits<14, 1>(w.data(), rtr_read);
    base::put_bits<0, 14>(w.data(), ord);
    return w;
  }
  static MpaIrdOrd from_words(const uint32_t* w) {
    MpaIrdOrd s;
    s.peer_to_peer = static_cast<uint8_t>(base::get_bits<31, 1>(w));
    s.rtr_send = static_cast<uint8_t>(base::get_bits<30, 1>(w));
    s.ird = static_cast<uint16_t>(base::get_bits<16, 14>(w));
    s.rtr_write = static_cast<uint8_t>(base::get_bits<15, 1>(w));
    s.rtr_read = static_cast<uint8_t>(base::get_bits<14, 1>(w));
    s.ord = static_cast<uint16_t>(base::get_bits<0, 14>(w));
    return s;
  }
  static constexpr size_t kBytes = 4;
  /// As the bytes on the wire: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_big<kBytes>(to_words().data(), out); }
  static MpaIrdOrd unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_big_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "peer_to_peer={}", peer_to_peer);
    fmt::format_to(std::back_inserter(s), " rtr_send={}", rtr_send);
    fmt::format_to(std::back_inserter(s), " ird={}", ird);
    fmt::format_to(std::back_inserter(s), " rtr_write={}", rtr_write);
    fmt::format_to(std::back_inserter(s), " rtr_read={}", rtr_read);
    fmt::format_to(std::back_inserter(s), " ord={}", ord);
    return s;
  }
};

}  // namespace rnic::spec

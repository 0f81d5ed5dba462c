// Printed by specgen from docs/spec; do not edit.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/bits.hpp"
#include "gen/queues.hpp"
#include "gen/streams.hpp"

namespace rnic::spec {

/// A dma_rd_req was accepted. client: 0 sq, 1 rq, 2 admin, 3 payload, 4 qn1, 5 reg.
/// architecture 3.2
/// tap_dma_rd_req in u_host_if.
struct DmaRdReqCommit {
  uint8_t client = 0;  // 3 bits

  static constexpr std::string_view kName = "dma_rd_req";
  static constexpr size_t kBits = 4;
  static constexpr size_t kValidBit = 3;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const DmaRdReqCommit&, const DmaRdReqCommit&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<3, 1>(w.data(), 1);
    base::put_bits<0, 3>(w.data(), client);
    return w;
  }
  static DmaRdReqCommit from_words(const uint32_t* w) {
    DmaRdReqCommit s;
    s.client = static_cast<uint8_t>(base::get_bits<0, 3>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "client={}", client);
    return s;
  }
};

/// The read with this tag has timed out: no later piece of it counts.
/// architecture 3.2
/// tap_dma_rd_timeout in u_host_if.u_rd.u_reorder.u_tags.
struct DmaRdTimeoutCommit {
  uint8_t tag = 0;  // 8 bits

  static constexpr std::string_view kName = "dma_rd_timeout";
  static constexpr size_t kBits = 9;
  static constexpr size_t kValidBit = 8;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const DmaRdTimeoutCommit&, const DmaRdTimeoutCommit&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<8, 1>(w.data(), 1);
    base::put_bits<0, 8>(w.data(), tag);
    return w;
  }
  static DmaRdTimeoutCommit from_words(const uint32_t* w) {
    DmaRdTimeoutCommit s;
    s.tag = static_cast<uint8_t>(base::get_bits<0, 8>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "tag={}", tag);
    return s;
  }
};

/// A beat of dma_wr was accepted. client: 3 word, 4 place, 5 cq, 6 msix, 7 admin.
/// architecture 3.2
/// tap_dma_wr in u_host_if.
struct DmaWrCommit {
  uint8_t client = 0;  // 3 bits

  static constexpr std::string_view kName = "dma_wr";
  static constexpr size_t kBits = 4;
  static constexpr size_t kValidBit = 3;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const DmaWrCommit&, const DmaWrCommit&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<3, 1>(w.data(), 1);
    base::put_bits<0, 3>(w.data(), client);
    return w;
  }
  static DmaWrCommit from_words(const uint32_t* w) {
    DmaWrCommit s;
    s.client = static_cast<uint8_t>(base::get_bits<0, 3>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "client={}", client);
    return s;
  }
};

/// The time of a half of a pushed WQE is over: a first half counts as a doorbell alone, a second is
/// dropped.
/// architecture 3.1
/// tap_push_late in u_host_if.u_doorbell.
struct PushLateCommit {
  uint16_t page = 0;  // 16 bits
  uint16_t qpn = 0;  // 16 bits
  uint16_t index = 0;  // 16 bits
  uint8_t is_second = 0;  // 1 bit

  static constexpr std::string_view kName = "push_late";
  static constexpr size_t kBits = 50;
  static constexpr size_t kValidBit = 49;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const PushLateCommit&, const PushLateCommit&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<49, 1>(w.data(), 1);
    base::put_bits<33, 16>(w.data(), page);
    base::put_bits<17, 16>(w.data(), qpn);
    base::put_bits<1, 16>(w.data(), index);
    base::put_bits<0, 1>(w.data(), is_second);
    return w;
  }
  static PushLateCommit from_words(const uint32_t* w) {
    PushLateCommit s;
    s.page = static_cast<uint16_t>(base::get_bits<33, 16>(w));
    s.qpn = static_cast<uint16_t>(base::get_bits<17, 16>(w));
    s.index = static_cast<uint16_t>(base::get_bits<1, 16>(w));
    s.is_second = static_cast<uint8_t>(base::get_bits<0, 1>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "page={}", page);
    fmt::format_to(std::back_inserter(s), " qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " index={}", index);
    fmt::format_to(std::back_inserter(s), " is_second={}", is_second);
    return s;
  }
};

/// A qp_purge is accepted: the halves of pushes of this QP are forgotten.
/// architecture 3.1
/// tap_push_purge in u_host_if.u_doorbell.
struct PushPurgeCommit {
  uint16_t qpn = 0;  // 16 bits

  static constexpr std::string_view kName = "push_purge";
  static constexpr size_t kBits = 17;
  static constexpr size_t kValidBit = 16;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const PushPurgeCommit&, const PushPurgeCommit&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<16, 1>(w.data(), 1);
    base::put_bits<0, 16>(w.data(), qpn);
    return w;
  }
  static PushPurgeCommit from_words(const uint32_t* w) {
    PushPurgeCommit s;
    s.qpn = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    return s;
  }
};

/// An operation on the CQ table: 0 doorbell, 1 command, 2 completion (of qpn), 3 a due event.
/// architecture 10
/// tap_cq_op in u_cq.u_write.
struct CqOpCommit {
  uint8_t op = 0;  // 2 bits
  uint16_t cqn = 0;  // 16 bits
  uint16_t qpn = 0;  // 16 bits

  static constexpr std::string_view kName = "cq_op";
  static constexpr size_t kBits = 35;
  static constexpr size_t kValidBit = 34;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const CqOpCommit&, const CqOpCommit&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<34, 1>(w.data(), 1);
    base::put_bits<32, 2>(w.data(), op);
    base::put_bits<16, 16>(w.data(), cqn);
    base::put_bits<0, 16>(w.data(), qpn);
    return w;
  }
  static CqOpCommit from_words(const uint32_t* w) {
    CqOpCommit s;
    s.op = static_cast<uint8_t>(base::get_bits<32, 2>(w));
    s.cqn = static_cast<uint16_t>(base::get_bits<16, 16>(w));
    s.qpn = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "op={}", op);
    fmt::format_to(std::back_inserter(s), " cqn={}", cqn);
    fmt::format_to(std::back_inserter(s), " qpn={}", qpn);
    return s;
  }
};

/// An event entry is written. kind as in the EQE, object: CQN, QPN or connection.
/// architecture 10
/// tap_cq_event in u_cq.u_event.
struct CqEventCommit {
  uint8_t kind = 0;  // 8 bits
  uint16_t object = 0;  // 16 bits

  static constexpr std::string_view kName = "cq_event";
  static constexpr size_t kBits = 25;
  static constexpr size_t kValidBit = 24;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const CqEventCommit&, const CqEventCommit&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<24, 1>(w.data(), 1);
    base::put_bits<16, 8>(w.data(), kind);
    base::put_bits<0, 16>(w.data(), object);
    return w;
  }
  static CqEventCommit from_words(const uint32_t* w) {
    CqEventCommit s;
    s.kind = static_cast<uint8_t>(base::get_bits<16, 8>(w));
    s.object = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "kind={}", kind);
    fmt::format_to(std::back_inserter(s), " object={}", object);
    return s;
  }
};

/// llp_if_rule has decided an item, and the connection's row is written. source: 0 a Terminate was
/// sent, 1 a Terminate got no credit in time, 2 event of the LLP, 3 check whether streaming bytes
/// may be sent, 4 streaming bytes could not be sent, 5 order of qp, 6 command of admin. no_credit:
/// the command is answered with status no_credit.
/// architecture 10
/// tap_llp_rule in u_llp_if.u_ctl.
struct LlpRuleCommit {
  uint8_t source = 0;  // 3 bits
  uint16_t connection = 0;  // 16 bits
  uint16_t qpn = 0;  // 16 bits
  uint8_t no_credit = 0;  // 1 bit

  static constexpr std::string_view kName = "llp_rule";
  static constexpr size_t kBits = 37;
  static constexpr size_t kValidBit = 36;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const LlpRuleCommit&, const LlpRuleCommit&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<36, 1>(w.data(), 1);
    base::put_bits<33, 3>(w.data(), source);
    base::put_bits<17, 16>(w.data(), connection);
    base::put_bits<1, 16>(w.data(), qpn);
    base::put_bits<0, 1>(w.data(), no_credit);
    return w;
  }
  static LlpRuleCommit from_words(const uint32_t* w) {
    LlpRuleCommit s;
    s.source = static_cast<uint8_t>(base::get_bits<33, 3>(w));
    s.connection = static_cast<uint16_t>(base::get_bits<17, 16>(w));
    s.qpn = static_cast<uint16_t>(base::get_bits<1, 16>(w));
    s.no_credit = static_cast<uint8_t>(base::get_bits<0, 1>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "source={}", source);
    fmt::format_to(std::back_inserter(s), " connection={}", connection);
    fmt::format_to(std::back_inserter(s), " qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " no_credit={}", no_credit);
    return s;
  }
};

/// A record's way is decided. way: 0 FPDU of qpn, 1 streaming bytes, 2 dropped.
/// architecture 10
/// tap_llp_rx in u_llp_if.u_rx.
struct LlpRxCommit {
  uint16_t connection = 0;  // 16 bits
  uint8_t way = 0;  // 2 bits
  uint16_t qpn = 0;  // 16 bits

  static constexpr std::string_view kName = "llp_rx";
  static constexpr size_t kBits = 35;
  static constexpr size_t kValidBit = 34;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const LlpRxCommit&, const LlpRxCommit&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<34, 1>(w.data(), 1);
    base::put_bits<18, 16>(w.data(), connection);
    base::put_bits<16, 2>(w.data(), way);
    base::put_bits<0, 16>(w.data(), qpn);
    return w;
  }
  static LlpRxCommit from_words(const uint32_t* w) {
    LlpRxCommit s;
    s.connection = static_cast<uint16_t>(base::get_bits<18, 16>(w));
    s.way = static_cast<uint8_t>(base::get_bits<16, 2>(w));
    s.qpn = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "connection={}", connection);
    fmt::format_to(std::back_inserter(s), " way={}", way);
    fmt::format_to(std::back_inserter(s), " qpn={}", qpn);
    return s;
  }
};

/// A tx_grant is given.
/// architecture 10
/// tap_llp_grant in u_llp_if.u_grant.
struct LlpGrantCommit {
  uint16_t qpn = 0;  // 16 bits
  uint8_t is_term = 0;  // 1 bit
  uint16_t mulpdu = 0;  // 16 bits

  static constexpr std::string_view kName = "llp_grant";
  static constexpr size_t kBits = 34;
  static constexpr size_t kValidBit = 33;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const LlpGrantCommit&, const LlpGrantCommit&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<33, 1>(w.data(), 1);
    base::put_bits<17, 16>(w.data(), qpn);
    base::put_bits<16, 1>(w.data(), is_term);
    base::put_bits<0, 16>(w.data(), mulpdu);
    return w;
  }
  static LlpGrantCommit from_words(const uint32_t* w) {
    LlpGrantCommit s;
    s.qpn = static_cast<uint16_t>(base::get_bits<17, 16>(w));
    s.is_term = static_cast<uint8_t>(base::get_bits<16, 1>(w));
    s.mulpdu = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " is_term={}", is_term);
    fmt::format_to(std::back_inserter(s), " mulpdu={}", mulpdu);
    return s;
  }
};

/// A rx_ulpdu_hdr was accepted: the segment is inside ddp. A stop that takes effect from this cycle
/// on waits for it.
/// architecture 10
/// tap_ddp_rx in u_ddp.u_rx.
struct DdpRxCommit {
  uint16_t qpn = 0;  // 16 bits

  static constexpr std::string_view kName = "ddp_rx";
  static constexpr size_t kBits = 17;
  static constexpr size_t kValidBit = 16;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const DdpRxCommit&, const DdpRxCommit&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<16, 1>(w.data(), 1);
    base::put_bits<0, 16>(w.data(), qpn);
    return w;
  }
  static DdpRxCommit from_words(const uint32_t* w) {
    DdpRxCommit s;
    s.qpn = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    return s;
  }
};

/// A qp_ctl_ddp takes effect.
/// architecture 10
/// tap_ddp_ctl in u_ddp.u_qp.
struct DdpCtlCommit {
  QpOp op{};
  uint16_t qpn = 0;  // 16 bits

  static constexpr std::string_view kName = "ddp_ctl";
  static constexpr size_t kBits = 20;
  static constexpr size_t kValidBit = 19;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const DdpCtlCommit&, const DdpCtlCommit&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<19, 1>(w.data(), 1);
    base::put_bits<16, 3>(w.data(), static_cast<uint64_t>(op));
    base::put_bits<0, 16>(w.data(), qpn);
    return w;
  }
  static DdpCtlCommit from_words(const uint32_t* w) {
    DdpCtlCommit s;
    s.op = static_cast<QpOp>(base::get_bits<16, 3>(w));
    s.qpn = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "op={}", to_string(op));
    fmt::format_to(std::back_inserter(s), " qpn={}", qpn);
    return s;
  }
};

/// A qp_ack_ddp was accepted: what was inside when the order took effect was sent or dropped.
/// architecture 10
/// tap_ddp_ack in u_ddp.u_qp.
struct DdpAckCommit {
  QpOp op{};
  uint16_t qpn = 0;  // 16 bits

  static constexpr std::string_view kName = "ddp_ack";
  static constexpr size_t kBits = 20;
  static constexpr size_t kValidBit = 19;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const DdpAckCommit&, const DdpAckCommit&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<19, 1>(w.data(), 1);
    base::put_bits<16, 3>(w.data(), static_cast<uint64_t>(op));
    base::put_bits<0, 16>(w.data(), qpn);
    return w;
  }
  static DdpAckCommit from_words(const uint32_t* w) {
    DdpAckCommit s;
    s.op = static_cast<QpOp>(base::get_bits<16, 3>(w));
    s.qpn = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "op={}", to_string(op));
    fmt::format_to(std::back_inserter(s), " qpn={}", qpn);
    return s;
  }
};

/// A grant was used. nothing: the message that wanted it has been dropped.
/// architecture 10
/// tap_ddp_segment in u_ddp.u_tx.u_sched.
struct DdpSegmentCommit {
  uint16_t qpn = 0;  // 16 bits
  TxSource source{};
  uint8_t nothing = 0;  // 1 bit

  static constexpr std::string_view kName = "ddp_segment";
  static constexpr size_t kBits = 20;
  static constexpr size_t kValidBit = 19;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const DdpSegmentCommit&, const DdpSegmentCommit&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<19, 1>(w.data(), 1);
    base::put_bits<3, 16>(w.data(), qpn);
    base::put_bits<1, 2>(w.data(), static_cast<uint64_t>(source));
    base::put_bits<0, 1>(w.data(), nothing);
    return w;
  }
  static DdpSegmentCommit from_words(const uint32_t* w) {
    DdpSegmentCommit s;
    s.qpn = static_cast<uint16_t>(base::get_bits<3, 16>(w));
    s.source = static_cast<TxSource>(base::get_bits<1, 2>(w));
    s.nothing = static_cast<uint8_t>(base::get_bits<0, 1>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " source={}", to_string(source));
    fmt::format_to(std::back_inserter(s), " nothing={}", nothing);
    return s;
  }
};

/// All messages of this QP that wait are dropped: a Terminate has arrived (is_term), or a payload
/// came back bad.
/// architecture 10
/// tap_ddp_drop in u_ddp.u_tx.u_sched.
struct DdpDropCommit {
  uint16_t qpn = 0;  // 16 bits
  uint8_t is_term = 0;  // 1 bit

  static constexpr std::string_view kName = "ddp_drop";
  static constexpr size_t kBits = 18;
  static constexpr size_t kValidBit = 17;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const DdpDropCommit&, const DdpDropCommit&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<17, 1>(w.data(), 1);
    base::put_bits<1, 16>(w.data(), qpn);
    base::put_bits<0, 1>(w.data(), is_term);
    return w;
  }
  static DdpDropCommit from_words(const uint32_t* w) {
    DdpDropCommit s;
    s.qpn = static_cast<uint16_t>(base::get_bits<1, 16>(w));
    s.is_term = static_cast<uint8_t>(base::get_bits<0, 1>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " is_term={}", is_term);
    return s;
  }
};

/// A tx_ulpdu_hdr was accepted by mpa: the segment's payload has arrived and is good.
/// architecture 10
/// tap_ddp_ulpdu in u_ddp.
struct DdpUlpduCommit {
  uint16_t qpn = 0;  // 16 bits

  static constexpr std::string_view kName = "ddp_ulpdu";
  static constexpr size_t kBits = 17;
  static constexpr size_t kValidBit = 16;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const DdpUlpduCommit&, const DdpUlpduCommit&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<16, 1>(w.data(), 1);
    base::put_bits<0, 16>(w.data(), qpn);
    return w;
  }
  static DdpUlpduCommit from_words(const uint32_t* w) {
    DdpUlpduCommit s;
    s.qpn = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    return s;
  }
};

/// A response is begun: its source is good (or its size 0), and it will go to ddp. A source that is
/// not good: rdmap_op 3.
/// architecture 10
/// tap_rdmap_response in u_rdmap.u_resp.
struct RdmapResponseCommit {
  uint16_t qpn = 0;  // 16 bits

  static constexpr std::string_view kName = "rdmap_response";
  static constexpr size_t kBits = 17;
  static constexpr size_t kValidBit = 16;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const RdmapResponseCommit&, const RdmapResponseCommit&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<16, 1>(w.data(), 1);
    base::put_bits<0, 16>(w.data(), qpn);
    return w;
  }
  static RdmapResponseCommit from_words(const uint32_t* w) {
    RdmapResponseCommit s;
    s.qpn = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    return s;
  }
};

/// A request has come back from atomic, or was dropped before it went there. answers: its response
/// goes to ddp. fails: its fault will come as rdmap_op 3. Neither: it was dropped, or its QP is
/// dead.
/// RFC 7306 section 5
/// tap_rdmap_atomic in u_rdmap.u_resp.u_atomic.
struct RdmapAtomicCommit {
  uint16_t qpn = 0;  // 16 bits
  uint8_t answers = 0;  // 1 bit
  uint8_t fails = 0;  // 1 bit

  static constexpr std::string_view kName = "rdmap_atomic";
  static constexpr size_t kBits = 19;
  static constexpr size_t kValidBit = 18;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const RdmapAtomicCommit&, const RdmapAtomicCommit&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<18, 1>(w.data(), 1);
    base::put_bits<2, 16>(w.data(), qpn);
    base::put_bits<1, 1>(w.data(), answers);
    base::put_bits<0, 1>(w.data(), fails);
    return w;
  }
  static RdmapAtomicCommit from_words(const uint32_t* w) {
    RdmapAtomicCommit s;
    s.qpn = static_cast<uint16_t>(base::get_bits<2, 16>(w));
    s.answers = static_cast<uint8_t>(base::get_bits<1, 1>(w));
    s.fails = static_cast<uint8_t>(base::get_bits<0, 1>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " answers={}", answers);
    fmt::format_to(std::back_inserter(s), " fails={}", fails);
    return s;
  }
};

/// An operation was done. op as in rdmap_core: 0 ctl, 1 qp_fault, 2 tx_fault, 3 responder check
/// failed, 4 segment (its verdict), 6 response slot free, 7 WQE. Op 5 (head) has no commit.
/// architecture 10
/// tap_rdmap_op in u_rdmap.u_core.
struct RdmapOpCommit {
  uint8_t op = 0;  // 3 bits
  uint16_t qpn = 0;  // 16 bits

  static constexpr std::string_view kName = "rdmap_op";
  static constexpr size_t kBits = 20;
  static constexpr size_t kValidBit = 19;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const RdmapOpCommit&, const RdmapOpCommit&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<19, 1>(w.data(), 1);
    base::put_bits<16, 3>(w.data(), op);
    base::put_bits<0, 16>(w.data(), qpn);
    return w;
  }
  static RdmapOpCommit from_words(const uint32_t* w) {
    RdmapOpCommit s;
    s.op = static_cast<uint8_t>(base::get_bits<16, 3>(w));
    s.qpn = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "op={}", op);
    fmt::format_to(std::back_inserter(s), " qpn={}", qpn);
    return s;
  }
};

/// An item is decided: it stores its word now (performed; word_wr is accepted), or stores nothing.
/// op, qpn: as in atomic_req.
/// RFC 7306 section 5
/// tap_atomic_word in u_atomic.
struct AtomicWordCommit {
  AtomicOp op{};
  uint16_t qpn = 0;  // 16 bits
  uint8_t performed = 0;  // 1 bit

  static constexpr std::string_view kName = "atomic_word";
  static constexpr size_t kBits = 20;
  static constexpr size_t kValidBit = 19;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const AtomicWordCommit&, const AtomicWordCommit&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<19, 1>(w.data(), 1);
    base::put_bits<17, 2>(w.data(), static_cast<uint64_t>(op));
    base::put_bits<1, 16>(w.data(), qpn);
    base::put_bits<0, 1>(w.data(), performed);
    return w;
  }
  static AtomicWordCommit from_words(const uint32_t* w) {
    AtomicWordCommit s;
    s.op = static_cast<AtomicOp>(base::get_bits<17, 2>(w));
    s.qpn = static_cast<uint16_t>(base::get_bits<1, 16>(w));
    s.performed = static_cast<uint8_t>(base::get_bits<0, 1>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "op={}", to_string(op));
    fmt::format_to(std::back_inserter(s), " qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " performed={}", performed);
    return s;
  }
};

/// The entry of a lookup is read. client: 0 rx, 1 tx, 2 wqe, 3 resp, 5 qn1. Client 4, tpt_update's
/// own lookup, has no commit.
/// architecture 10
/// tap_tpt_check in u_tpt.u_entry.
struct TptCheckCommit {
  uint8_t client = 0;  // 3 bits
  uint32_t stag = 0;  // 32 bits
  uint64_t tagged_offset = 0;  // 64 bits
  uint32_t length = 0;  // 32 bits
  uint16_t pd = 0;  // 16 bits
  uint16_t qpn = 0;  // 16 bits
  uint16_t rights = 0;  // 16 bits
  uint8_t invalidate = 0;  // 1 bit
  uint8_t last = 0;  // 1 bit

  static constexpr std::string_view kName = "tpt_check";
  static constexpr size_t kBits = 182;
  static constexpr size_t kValidBit = 181;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const TptCheckCommit&, const TptCheckCommit&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<181, 1>(w.data(), 1);
    base::put_bits<178, 3>(w.data(), client);
    base::put_bits<146, 32>(w.data(), stag);
    base::put_bits<82, 64>(w.data(), tagged_offset);
    base::put_bits<50, 32>(w.data(), length);
    base::put_bits<34, 16>(w.data(), pd);
    base::put_bits<18, 16>(w.data(), qpn);
    base::put_bits<2, 16>(w.data(), rights);
    base::put_bits<1, 1>(w.data(), invalidate);
    base::put_bits<0, 1>(w.data(), last);
    return w;
  }
  static TptCheckCommit from_words(const uint32_t* w) {
    TptCheckCommit s;
    s.client = static_cast<uint8_t>(base::get_bits<178, 3>(w));
    s.stag = static_cast<uint32_t>(base::get_bits<146, 32>(w));
    s.tagged_offset = static_cast<uint64_t>(base::get_bits<82, 64>(w));
    s.length = static_cast<uint32_t>(base::get_bits<50, 32>(w));
    s.pd = static_cast<uint16_t>(base::get_bits<34, 16>(w));
    s.qpn = static_cast<uint16_t>(base::get_bits<18, 16>(w));
    s.rights = static_cast<uint16_t>(base::get_bits<2, 16>(w));
    s.invalidate = static_cast<uint8_t>(base::get_bits<1, 1>(w));
    s.last = static_cast<uint8_t>(base::get_bits<0, 1>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "client={}", client);
    fmt::format_to(std::back_inserter(s), " stag={:#x}", stag);
    fmt::format_to(std::back_inserter(s), " tagged_offset={:#x}", tagged_offset);
    fmt::format_to(std::back_inserter(s), " length={}", length);
    fmt::format_to(std::back_inserter(s), " pd={}", pd);
    fmt::format_to(std::back_inserter(s), " qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " rights={}", rights);
    fmt::format_to(std::back_inserter(s), " invalidate={}", invalidate);
    fmt::format_to(std::back_inserter(s), " last={}", last);
    return s;
  }
};

/// A request is executed or refused: lookups that read the entry of slot from the next cycle on see
/// the change. of_peer: an invalidate of ddp. of_sq: an invalidation of sq_local. of_reg: 1 to 4 of
/// a registration, 5 to 7 of a bind (table in commits.yaml); 2 with of_peer or of_sq: an
/// invalidation is refused. With of_sq or of_reg, qpn and wqe name the request. waits: the entry is
/// closed and may still be in use.
/// architecture 10
/// tap_tpt_change in u_tpt.u_update.
struct TptChangeCommit {
  uint16_t slot = 0;  // 16 bits
  uint8_t waits = 0;  // 1 bit
  uint8_t of_peer = 0;  // 1 bit
  uint8_t of_sq = 0;  // 1 bit
  uint16_t qpn = 0;  // 16 bits
  uint8_t wqe = 0;  // 8 bits
  uint8_t of_reg = 0;  // 3 bits

  static constexpr std::string_view kName = "tpt_change";
  static constexpr size_t kBits = 47;
  static constexpr size_t kValidBit = 46;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const TptChangeCommit&, const TptChangeCommit&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<46, 1>(w.data(), 1);
    base::put_bits<30, 16>(w.data(), slot);
    base::put_bits<29, 1>(w.data(), waits);
    base::put_bits<28, 1>(w.data(), of_peer);
    base::put_bits<27, 1>(w.data(), of_sq);
    base::put_bits<11, 16>(w.data(), qpn);
    base::put_bits<3, 8>(w.data(), wqe);
    base::put_bits<0, 3>(w.data(), of_reg);
    return w;
  }
  static TptChangeCommit from_words(const uint32_t* w) {
    TptChangeCommit s;
    s.slot = static_cast<uint16_t>(base::get_bits<30, 16>(w));
    s.waits = static_cast<uint8_t>(base::get_bits<29, 1>(w));
    s.of_peer = static_cast<uint8_t>(base::get_bits<28, 1>(w));
    s.of_sq = static_cast<uint8_t>(base::get_bits<27, 1>(w));
    s.qpn = static_cast<uint16_t>(base::get_bits<11, 16>(w));
    s.wqe = static_cast<uint8_t>(base::get_bits<3, 8>(w));
    s.of_reg = static_cast<uint8_t>(base::get_bits<0, 3>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "slot={}", slot);
    fmt::format_to(std::back_inserter(s), " waits={}", waits);
    fmt::format_to(std::back_inserter(s), " of_peer={}", of_peer);
    fmt::format_to(std::back_inserter(s), " of_sq={}", of_sq);
    fmt::format_to(std::back_inserter(s), " qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " wqe={}", wqe);
    fmt::format_to(std::back_inserter(s), " of_reg={}", of_reg);
    return s;
  }
};

/// An operation of qp_retire begins. op: 0 wr_done, 1 Read done, 2 receive done, 3 a WQE's own
/// error, 4 look, 5 mark, 6 flush (asked by qp_state), 7 flush of what was posted.
/// architecture 10
/// tap_qp_retire in u_qp.u_retire.
struct QpRetireCommit {
  uint8_t op = 0;  // 3 bits
  uint16_t qpn = 0;  // 16 bits
  uint8_t slot = 0;  // 8 bits

  static constexpr std::string_view kName = "qp_retire";
  static constexpr size_t kBits = 28;
  static constexpr size_t kValidBit = 27;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const QpRetireCommit&, const QpRetireCommit&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<27, 1>(w.data(), 1);
    base::put_bits<24, 3>(w.data(), op);
    base::put_bits<8, 16>(w.data(), qpn);
    base::put_bits<0, 8>(w.data(), slot);
    return w;
  }
  static QpRetireCommit from_words(const uint32_t* w) {
    QpRetireCommit s;
    s.op = static_cast<uint8_t>(base::get_bits<24, 3>(w));
    s.qpn = static_cast<uint16_t>(base::get_bits<8, 16>(w));
    s.slot = static_cast<uint8_t>(base::get_bits<0, 8>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "op={}", op);
    fmt::format_to(std::back_inserter(s), " qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " slot={}", slot);
    return s;
  }
};

/// A rq_take_req is answered. limit: the take has reached the limit of its SRQ.
/// architecture 10
/// tap_qp_rq_take in u_qp.u_rq_fetch.
struct QpRqTakeCommit {
  uint16_t qpn = 0;  // 16 bits
  RqTake result{};
  uint8_t limit = 0;  // 1 bit

  static constexpr std::string_view kName = "qp_rq_take";
  static constexpr size_t kBits = 20;
  static constexpr size_t kValidBit = 19;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const QpRqTakeCommit&, const QpRqTakeCommit&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<19, 1>(w.data(), 1);
    base::put_bits<3, 16>(w.data(), qpn);
    base::put_bits<1, 2>(w.data(), static_cast<uint64_t>(result));
    base::put_bits<0, 1>(w.data(), limit);
    return w;
  }
  static QpRqTakeCommit from_words(const uint32_t* w) {
    QpRqTakeCommit s;
    s.qpn = static_cast<uint16_t>(base::get_bits<3, 16>(w));
    s.result = static_cast<RqTake>(base::get_bits<1, 2>(w));
    s.limit = static_cast<uint8_t>(base::get_bits<0, 1>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " result={}", to_string(result));
    fmt::format_to(std::back_inserter(s), " limit={}", limit);
    return s;
  }
};

/// dropped 0: qp_emit has decided the next WQE of this QP, after tpt's response about its keys: it
/// is issued, or it fails. dropped 1: a WQE that follows a failed one in its visit is dropped,
/// after tpt's response. A dropped WQE without keys has no commit.
/// architecture 10
/// tap_qp_issue in u_qp.u_emit.
struct QpIssueCommit {
  uint16_t qpn = 0;  // 16 bits
  uint8_t dropped = 0;  // 1 bit

  static constexpr std::string_view kName = "qp_issue";
  static constexpr size_t kBits = 18;
  static constexpr size_t kValidBit = 17;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const QpIssueCommit&, const QpIssueCommit&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<17, 1>(w.data(), 1);
    base::put_bits<1, 16>(w.data(), qpn);
    base::put_bits<0, 1>(w.data(), dropped);
    return w;
  }
  static QpIssueCommit from_words(const uint32_t* w) {
    QpIssueCommit s;
    s.qpn = static_cast<uint16_t>(base::get_bits<1, 16>(w));
    s.dropped = static_cast<uint8_t>(base::get_bits<0, 1>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " dropped={}", dropped);
    return s;
  }
};

/// A sq_rd_req was accepted: these units of a ring are fetched, in one read or several.
/// architecture 10
/// tap_sq_fetch in u_qp.
struct SqFetchCommit {
  uint64_t address = 0;  // 64 bits
  uint16_t length = 0;  // 13 bits

  static constexpr std::string_view kName = "sq_fetch";
  static constexpr size_t kBits = 78;
  static constexpr size_t kValidBit = 77;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const SqFetchCommit&, const SqFetchCommit&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<77, 1>(w.data(), 1);
    base::put_bits<13, 64>(w.data(), address);
    base::put_bits<0, 13>(w.data(), length);
    return w;
  }
  static SqFetchCommit from_words(const uint32_t* w) {
    SqFetchCommit s;
    s.address = static_cast<uint64_t>(base::get_bits<13, 64>(w));
    s.length = static_cast<uint16_t>(base::get_bits<0, 13>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "address={:#x}", address);
    fmt::format_to(std::back_inserter(s), " length={}", length);
    return s;
  }
};

/// A rq_rd_req was accepted, likewise.
/// architecture 10
/// tap_rq_fetch in u_qp.
struct RqFetchCommit {
  uint64_t address = 0;  // 64 bits
  uint16_t length = 0;  // 13 bits

  static constexpr std::string_view kName = "rq_fetch";
  static constexpr size_t kBits = 78;
  static constexpr size_t kValidBit = 77;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const RqFetchCommit&, const RqFetchCommit&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<77, 1>(w.data(), 1);
    base::put_bits<13, 64>(w.data(), address);
    base::put_bits<0, 13>(w.data(), length);
    return w;
  }
  static RqFetchCommit from_words(const uint32_t* w) {
    RqFetchCommit s;
    s.address = static_cast<uint64_t>(base::get_bits<13, 64>(w));
    s.length = static_cast<uint16_t>(base::get_bits<0, 13>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "address={:#x}", address);
    fmt::format_to(std::back_inserter(s), " length={}", length);
    return s;
  }
};

/// The copy that the latest qp_doorbell commit of kind push carries is written into the prefetch
/// buffer, in place of a read of its units.
/// architecture 10
/// tap_qp_push in u_qp.u_sq_fetch.
struct QpPushCommit {
  uint16_t qpn = 0;  // 16 bits
  uint16_t first = 0;  // 16 bits
  uint8_t units = 0;  // 2 bits

  static constexpr std::string_view kName = "qp_push";
  static constexpr size_t kBits = 35;
  static constexpr size_t kValidBit = 34;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const QpPushCommit&, const QpPushCommit&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<34, 1>(w.data(), 1);
    base::put_bits<18, 16>(w.data(), qpn);
    base::put_bits<2, 16>(w.data(), first);
    base::put_bits<0, 2>(w.data(), units);
    return w;
  }
  static QpPushCommit from_words(const uint32_t* w) {
    QpPushCommit s;
    s.qpn = static_cast<uint16_t>(base::get_bits<18, 16>(w));
    s.first = static_cast<uint16_t>(base::get_bits<2, 16>(w));
    s.units = static_cast<uint8_t>(base::get_bits<0, 2>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " first={}", first);
    fmt::format_to(std::back_inserter(s), " units={}", units);
    return s;
  }
};

/// A qp_doorbell takes effect: its index is written. accepted 0: it is refused.
/// architecture 10
/// tap_qp_doorbell in u_qp.u_doorbell.
struct QpDoorbellCommit {
  DoorbellKind kind{};
  uint16_t qpn = 0;  // 16 bits
  uint16_t index = 0;  // 16 bits
  uint8_t accepted = 0;  // 1 bit

  static constexpr std::string_view kName = "qp_doorbell";
  static constexpr size_t kBits = 37;
  static constexpr size_t kValidBit = 36;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const QpDoorbellCommit&, const QpDoorbellCommit&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<36, 1>(w.data(), 1);
    base::put_bits<33, 3>(w.data(), static_cast<uint64_t>(kind));
    base::put_bits<17, 16>(w.data(), qpn);
    base::put_bits<1, 16>(w.data(), index);
    base::put_bits<0, 1>(w.data(), accepted);
    return w;
  }
  static QpDoorbellCommit from_words(const uint32_t* w) {
    QpDoorbellCommit s;
    s.kind = static_cast<DoorbellKind>(base::get_bits<33, 3>(w));
    s.qpn = static_cast<uint16_t>(base::get_bits<17, 16>(w));
    s.index = static_cast<uint16_t>(base::get_bits<1, 16>(w));
    s.accepted = static_cast<uint8_t>(base::get_bits<0, 1>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "kind={}", to_string(kind));
    fmt::format_to(std::back_inserter(s), " qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " index={}", index);
    fmt::format_to(std::back_inserter(s), " accepted={}", accepted);
    return s;
  }
};

/// qp_state decides. is_cmd: admin's command; else events, a bit each: 0 qp_error, 1 peer_closed, 2
/// closed, 3 lost, 4 term_done, 5 send queue empty, 6 CQ fault. nothing_left: the qp_error has
/// cause none. again: qp_retire has answered the look of qp_state, which decides a second time.
/// architecture 10
/// tap_qp_state in u_qp.u_state.
struct QpStateCommit {
  uint8_t is_cmd = 0;  // 1 bit
  uint8_t again = 0;  // 1 bit
  uint16_t qpn = 0;  // 16 bits
  uint8_t bits = 0;  // 7 bits
  uint8_t nothing_left = 0;  // 1 bit

  static constexpr std::string_view kName = "qp_state";
  static constexpr size_t kBits = 27;
  static constexpr size_t kValidBit = 26;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const QpStateCommit&, const QpStateCommit&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<26, 1>(w.data(), 1);
    base::put_bits<25, 1>(w.data(), is_cmd);
    base::put_bits<24, 1>(w.data(), again);
    base::put_bits<8, 16>(w.data(), qpn);
    base::put_bits<1, 7>(w.data(), bits);
    base::put_bits<0, 1>(w.data(), nothing_left);
    return w;
  }
  static QpStateCommit from_words(const uint32_t* w) {
    QpStateCommit s;
    s.is_cmd = static_cast<uint8_t>(base::get_bits<25, 1>(w));
    s.again = static_cast<uint8_t>(base::get_bits<24, 1>(w));
    s.qpn = static_cast<uint16_t>(base::get_bits<8, 16>(w));
    s.bits = static_cast<uint8_t>(base::get_bits<1, 7>(w));
    s.nothing_left = static_cast<uint8_t>(base::get_bits<0, 1>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "is_cmd={}", is_cmd);
    fmt::format_to(std::back_inserter(s), " again={}", again);
    fmt::format_to(std::back_inserter(s), " qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " bits={}", bits);
    fmt::format_to(std::back_inserter(s), " nothing_left={}", nothing_left);
    return s;
  }
};

/// A command of admin is answered. waits: with in_progress. The command has then not begun, or is a
/// modify_qp to error that goes on.
/// architecture 10
/// tap_qp_answer in u_qp.u_state.
struct QpAnswerCommit {
  uint16_t qpn = 0;  // 16 bits
  uint8_t waits = 0;  // 1 bit

  static constexpr std::string_view kName = "qp_answer";
  static constexpr size_t kBits = 18;
  static constexpr size_t kValidBit = 17;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const QpAnswerCommit&, const QpAnswerCommit&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<17, 1>(w.data(), 1);
    base::put_bits<1, 16>(w.data(), qpn);
    base::put_bits<0, 1>(w.data(), waits);
    return w;
  }
  static QpAnswerCommit from_words(const uint32_t* w) {
    QpAnswerCommit s;
    s.qpn = static_cast<uint16_t>(base::get_bits<1, 16>(w));
    s.waits = static_cast<uint8_t>(base::get_bits<0, 1>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " waits={}", waits);
    return s;
  }
};

/// Any of them, in the order of the description.
using AnyCommit = std::variant<
    DmaRdReqCommit,
    DmaRdTimeoutCommit,
    DmaWrCommit,
    PushLateCommit,
    PushPurgeCommit,
    CqOpCommit,
    CqEventCommit,
    LlpRuleCommit,
    LlpRxCommit,
    LlpGrantCommit,
    DdpRxCommit,
    DdpCtlCommit,
    DdpAckCommit,
    DdpSegmentCommit,
    DdpDropCommit,
    DdpUlpduCommit,
    RdmapResponseCommit,
    RdmapAtomicCommit,
    RdmapOpCommit,
    AtomicWordCommit,
    TptCheckCommit,
    TptChangeCommit,
    QpRetireCommit,
    QpRqTakeCommit,
    QpIssueCommit,
    SqFetchCommit,
    RqFetchCommit,
    QpPushCommit,
    QpDoorbellCommit,
    QpStateCommit,
    QpAnswerCommit>;

}  // namespace rnic::spec

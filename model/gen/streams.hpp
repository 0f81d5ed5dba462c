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
#include "gen/errors.hpp"
#include "gen/iwarp.hpp"
#include "gen/queues.hpp"

namespace rnic::spec {

/// How a DMA read ended.
/// architecture 3.2
enum class RdStatus : uint8_t {
  kOk = 0x0,  // Completed.
  kUnsupported = 0x1,  // Unsupported request.
  kAborted = 0x2,  // Completer abort, time-out, or a completion of a wrong length.
  kPoisoned = 0x3,  // Data poisoned.
};
inline constexpr std::array<RdStatus, 4> kAllRdStatus = {{
    RdStatus::kOk, RdStatus::kUnsupported, RdStatus::kAborted, RdStatus::kPoisoned}};
constexpr std::string_view to_string(RdStatus v) {
  switch (v) {
    case RdStatus::kOk: return "ok";
    case RdStatus::kUnsupported: return "unsupported";
    case RdStatus::kAborted: return "aborted";
    case RdStatus::kPoisoned: return "poisoned";
  }
  return "unknown";
}

/// llp_ctl_req: what the RNIC asks of the transport.
/// architecture 3.3
enum class LlpOp : uint8_t {
  kListen = 0x0,  // Accept connections on port.
  kUnlisten = 0x1,  // Stop.
  kConnect = 0x2,  // Connect to address, port. Answered at once by `assigned` with the cookie.
  kGive = 0x3,  // Pass up to `length` waiting bytes as one streaming record; empty if none wait. Always answered, unless the connection has ended.
  kRdmaMode = 0x4,  // From the next byte in each direction FPDUs; with markers and CRC as said.
  kHalfClose = 0x5,  // Send FIN after what is queued.
  kAbort = 0x6,  // Reset.
  kReleased = 0x7,  // The number is free for reuse.
};
inline constexpr std::array<LlpOp, 8> kAllLlpOp = {{
    LlpOp::kListen, LlpOp::kUnlisten, LlpOp::kConnect, LlpOp::kGive,
    LlpOp::kRdmaMode, LlpOp::kHalfClose, LlpOp::kAbort, LlpOp::kReleased}};
constexpr std::string_view to_string(LlpOp v) {
  switch (v) {
    case LlpOp::kListen: return "listen";
    case LlpOp::kUnlisten: return "unlisten";
    case LlpOp::kConnect: return "connect";
    case LlpOp::kGive: return "give";
    case LlpOp::kRdmaMode: return "rdma_mode";
    case LlpOp::kHalfClose: return "half_close";
    case LlpOp::kAbort: return "abort";
    case LlpOp::kReleased: return "released";
  }
  return "unknown";
}

/// llp_ctl_evt: what the transport reports.
/// architecture 3.3
enum class LlpEvt : uint8_t {
  kAssigned = 0x0,  // Answer to connect: the connection's number (0xFFFF: none free).
  kIncoming = 0x1,  // A connection on a listening port: number, peer, port. It is open already.
  kEstablished = 0x2,  // A connect has succeeded.
  kFailed = 0x3,  // A connect has failed, or the connection is lost.
  kWaiting = 0x4,  // length bytes of streaming data wait now.
  kPeerClosed = 0x5,  // The peer's FIN, after all its data.
  kClosed = 0x6,  // Both sides closed, all acknowledged.
  kReset = 0x7,  // The peer reset, or an abort is done.
  kMss = 0x8,  // Maximum segment size is length; before any RDMA mode and on each change.
};
inline constexpr std::array<LlpEvt, 9> kAllLlpEvt = {{
    LlpEvt::kAssigned, LlpEvt::kIncoming, LlpEvt::kEstablished, LlpEvt::kFailed,
    LlpEvt::kWaiting, LlpEvt::kPeerClosed, LlpEvt::kClosed, LlpEvt::kReset,
    LlpEvt::kMss}};
constexpr std::string_view to_string(LlpEvt v) {
  switch (v) {
    case LlpEvt::kAssigned: return "assigned";
    case LlpEvt::kIncoming: return "incoming";
    case LlpEvt::kEstablished: return "established";
    case LlpEvt::kFailed: return "failed";
    case LlpEvt::kWaiting: return "waiting";
    case LlpEvt::kPeerClosed: return "peer_closed";
    case LlpEvt::kClosed: return "closed";
    case LlpEvt::kReset: return "reset";
    case LlpEvt::kMss: return "mss";
  }
  return "unknown";
}

/// Outcome of a check, in the order the checks run. The unit that requested the check turns it into
/// its cause.
/// architecture 6; requirements.md section 7
enum class TptResult : uint8_t {
  kOk = 0x0,  // Allowed.
  kStag = 0x1,  // No such STag; of an invalidation, also an STag that is not bound to a QP.
  kAssoc = 0x2,  // Another PD, or bound to another QP.
  kRights = 0x3,  // A right is missing.
  kWrap = 0x4,  // TO plus length exceeds 2^64.
  kBounds = 0x5,  // Outside the buffer.
  kAlign = 0x6,  // Not aligned to 8 bytes; reported by atomic, after tpt's checks.
  kBind = 0x7,  // A local invalidation, registration or bind (sq_local) was refused.
};
inline constexpr std::array<TptResult, 8> kAllTptResult = {{
    TptResult::kOk, TptResult::kStag, TptResult::kAssoc, TptResult::kRights,
    TptResult::kWrap, TptResult::kBounds, TptResult::kAlign, TptResult::kBind}};
constexpr std::string_view to_string(TptResult v) {
  switch (v) {
    case TptResult::kOk: return "ok";
    case TptResult::kStag: return "stag";
    case TptResult::kAssoc: return "assoc";
    case TptResult::kRights: return "rights";
    case TptResult::kWrap: return "wrap";
    case TptResult::kBounds: return "bounds";
    case TptResult::kAlign: return "align";
    case TptResult::kBind: return "bind";
  }
  return "unknown";
}

/// Whose message a connection sends.
/// architecture 5
enum class TxSource : uint8_t {
  kSq = 0x0,  // Send queue.
  kResp = 0x1,  // Responder: Read Response, and the responses on QN 3 (Flush, atomics).
  kTerm = 0x2,  // Terminate.
};
inline constexpr std::array<TxSource, 3> kAllTxSource = {{
    TxSource::kSq, TxSource::kResp, TxSource::kTerm}};
constexpr std::string_view to_string(TxSource v) {
  switch (v) {
    case TxSource::kSq: return "sq";
    case TxSource::kResp: return "resp";
    case TxSource::kTerm: return "term";
  }
  return "unknown";
}

/// Orders of qp to the units that keep state of a QP. Each is acknowledged.
/// architecture 4 (Conventions)
enum class QpOp : uint8_t {
  kStart = 0x0,  // Entering RTS: initialise.
  kStop = 0x1,  // Leaving RTS: drop what is unsent, let what is in flight finish, then acknowledge.
  kHalfClose = 0x2,  // rdmap: report (qp_error, cause none) when no request of the peer is left to answer. llp_if: send FIN. Acknowledged at once.
  kAbort = 0x3,  // llp_if only: stop, and reset the connection if it is still open.
  kSync = 0x4,  // mpa, ddp, rdmap: the QP's state does not change. Acknowledged when what was inside has passed on.
};
inline constexpr std::array<QpOp, 5> kAllQpOp = {{
    QpOp::kStart, QpOp::kStop, QpOp::kHalfClose, QpOp::kAbort,
    QpOp::kSync}};
constexpr std::string_view to_string(QpOp v) {
  switch (v) {
    case QpOp::kStart: return "start";
    case QpOp::kStop: return "stop";
    case QpOp::kHalfClose: return "half_close";
    case QpOp::kAbort: return "abort";
    case QpOp::kSync: return "sync";
  }
  return "unknown";
}

/// What a rq_take_req gets.
/// architecture 5
enum class RqTake : uint8_t {
  kEmpty = 0x0,  // No receive WQE is posted: the message has no buffer.
  kOk = 0x1,  // The WQE.
  kFailed = 0x2,  // qp could not read the WQE from the ring. Only the WQE's index is valid; with shared, not even that, and the WQE stays in the SRQ.
  kMalformed = 0x3,  // More than 3 SGEs, or a reserved bit set. Only the WQE's index is valid.
};
inline constexpr std::array<RqTake, 4> kAllRqTake = {{
    RqTake::kEmpty, RqTake::kOk, RqTake::kFailed, RqTake::kMalformed}};
constexpr std::string_view to_string(RqTake v) {
  switch (v) {
    case RqTake::kEmpty: return "empty";
    case RqTake::kOk: return "ok";
    case RqTake::kFailed: return "failed";
    case RqTake::kMalformed: return "malformed";
  }
  return "unknown";
}

/// What is reported once a segment is placed.
/// architecture 5
enum class DeliverKind : uint8_t {
  kNothing = 0x0,  // Nothing: not the last segment, or a Write.
  kRecv = 0x1,  // A receive is complete.
  kRead = 0x2,  // A Read, Flush or Atomic Write is complete.
  kImmediate = 0x3,  // A receive is complete that took Immediate Data.
  kInvalidate = 0x4,  // A receive is complete whose Send invalidates an STag.
};
inline constexpr std::array<DeliverKind, 5> kAllDeliverKind = {{
    DeliverKind::kNothing, DeliverKind::kRecv, DeliverKind::kRead, DeliverKind::kImmediate,
    DeliverKind::kInvalidate}};
constexpr std::string_view to_string(DeliverKind v) {
  switch (v) {
    case DeliverKind::kNothing: return "nothing";
    case DeliverKind::kRecv: return "recv";
    case DeliverKind::kRead: return "read";
    case DeliverKind::kImmediate: return "immediate";
    case DeliverKind::kInvalidate: return "invalidate";
  }
  return "unknown";
}

/// What llp_if reports to qp about a connection in RDMA mode.
/// architecture 7
enum class LlpQpEvt : uint8_t {
  kPeerClosed = 0x0,  // The peer half-closed.
  kClosed = 0x1,  // Both sides closed.
  kLost = 0x2,  // Reset or failed.
  kTermDone = 0x3,  // Our Terminate was taken by the LLP, FIN follows; or it timed out and the LLP was aborted.
};
inline constexpr std::array<LlpQpEvt, 4> kAllLlpQpEvt = {{
    LlpQpEvt::kPeerClosed, LlpQpEvt::kClosed, LlpQpEvt::kLost, LlpQpEvt::kTermDone}};
constexpr std::string_view to_string(LlpQpEvt v) {
  switch (v) {
    case LlpQpEvt::kPeerClosed: return "peer_closed";
    case LlpQpEvt::kClosed: return "closed";
    case LlpQpEvt::kLost: return "lost";
    case LlpQpEvt::kTermDone: return "term_done";
  }
  return "unknown";
}

/// What unit atomic does.
/// RFC 7306 section 5; draft-talpey-rdma-commit-01 section 3.1.3
enum class AtomicOp : uint8_t {
  kFetchAdd = 0x0,  // Read 8 bytes, add, store.
  kCmpSwap = 0x1,  // Read 8 bytes, compare, store if they match.
  kWrite = 0x2,  // Store 8 bytes.
  kResult = 0x3,  // At the requester: store the old value from an Atomic Response.
};
inline constexpr std::array<AtomicOp, 4> kAllAtomicOp = {{
    AtomicOp::kFetchAdd, AtomicOp::kCmpSwap, AtomicOp::kWrite, AtomicOp::kResult}};
constexpr std::string_view to_string(AtomicOp v) {
  switch (v) {
    case AtomicOp::kFetchAdd: return "fetch_add";
    case AtomicOp::kCmpSwap: return "cmp_swap";
    case AtomicOp::kWrite: return "write";
    case AtomicOp::kResult: return "result";
  }
  return "unknown";
}

/// How an item of unit atomic ended.
/// architecture 4
enum class AtomicEnd : uint8_t {
  kDone = 0x0,  // Its store, if it has one, was accepted on dma_wr.
  kRefused = 0x1,  // A check failed: result. Nothing was stored.
  kUnread = 0x2,  // The read of the old value failed: status. Nothing was stored.
  kDropped = 0x3,  // Its QP has stopped or failed before it was begun. Nothing was stored.
};
inline constexpr std::array<AtomicEnd, 4> kAllAtomicEnd = {{
    AtomicEnd::kDone, AtomicEnd::kRefused, AtomicEnd::kUnread, AtomicEnd::kDropped}};
constexpr std::string_view to_string(AtomicEnd v) {
  switch (v) {
    case AtomicEnd::kDone: return "done";
    case AtomicEnd::kRefused: return "refused";
    case AtomicEnd::kUnread: return "unread";
    case AtomicEnd::kDropped: return "dropped";
  }
  return "unknown";
}

/// A beat of any packet stream; streams marked `beat` have this form. error (with last): drop the
/// whole packet. keep: how many bytes are valid, 0 to 64, less than 64 only with last. Byte 0 in
/// data[7:0].
/// architecture 4 (Packets are dense)
struct Beat {
  uint8_t last = 0;  // 1 bit
  uint8_t error = 0;  // 1 bit
  uint8_t keep = 0;  // 7 bits
  std::array<uint8_t, 64> data{};

  static constexpr std::string_view kName = "beat";
  static constexpr size_t kBits = 521;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const Beat&, const Beat&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<520, 1>(w.data(), last);
    base::put_bits<519, 1>(w.data(), error);
    base::put_bits<512, 7>(w.data(), keep);
    base::put_bytes<0, 512>(w.data(), data.data());
    return w;
  }
  static Beat from_words(const uint32_t* w) {
    Beat s;
    s.last = static_cast<uint8_t>(base::get_bits<520, 1>(w));
    s.error = static_cast<uint8_t>(base::get_bits<519, 1>(w));
    s.keep = static_cast<uint8_t>(base::get_bits<512, 7>(w));
    base::get_bytes<0, 512>(w, s.data.data());
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "last={}", last);
    fmt::format_to(std::back_inserter(s), " error={}", error);
    fmt::format_to(std::back_inserter(s), " keep={}", keep);
    fmt::format_to(std::back_inserter(s), " data={}", base::short_hex(data));
    return s;
  }
};

/// A range given by STag and tagged offset.
/// architecture 4
struct Sge {
  uint64_t tagged_offset = 0;  // 64 bits
  uint32_t length = 0;  // 32 bits
  uint32_t stag = 0;  // 32 bits

  static constexpr std::string_view kName = "sge";
  static constexpr size_t kBits = 128;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const Sge&, const Sge&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<64, 64>(w.data(), tagged_offset);
    base::put_bits<32, 32>(w.data(), length);
    base::put_bits<0, 32>(w.data(), stag);
    return w;
  }
  static Sge from_words(const uint32_t* w) {
    Sge s;
    s.tagged_offset = static_cast<uint64_t>(base::get_bits<64, 64>(w));
    s.length = static_cast<uint32_t>(base::get_bits<32, 32>(w));
    s.stag = static_cast<uint32_t>(base::get_bits<0, 32>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "tagged_offset={:#x}", tagged_offset);
    fmt::format_to(std::back_inserter(s), " length={}", length);
    fmt::format_to(std::back_inserter(s), " stag={:#x}", stag);
    return s;
  }
};

/// Counters that each unit shows to host_if.
/// architecture 12
struct UnitCount {
  uint64_t items = 0;  // 48 bits
  uint64_t busy = 0;  // 48 bits
  uint64_t stalled = 0;  // 48 bits

  static constexpr std::string_view kName = "unit_count";
  static constexpr size_t kBits = 144;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const UnitCount&, const UnitCount&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<96, 48>(w.data(), items);
    base::put_bits<48, 48>(w.data(), busy);
    base::put_bits<0, 48>(w.data(), stalled);
    return w;
  }
  static UnitCount from_words(const uint32_t* w) {
    UnitCount s;
    s.items = static_cast<uint64_t>(base::get_bits<96, 48>(w));
    s.busy = static_cast<uint64_t>(base::get_bits<48, 48>(w));
    s.stalled = static_cast<uint64_t>(base::get_bits<0, 48>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "items={}", items);
    fmt::format_to(std::back_inserter(s), " busy={}", busy);
    fmt::format_to(std::back_inserter(s), " stalled={}", stalled);
    return s;
  }
};

/// Registers that admin and tpt read; a plain port, stable while enabled.
/// architecture 3.1
struct DevCfg {
  uint8_t enable = 0;  // 1 bit
  uint64_t stag_key = 0;  // 64 bits
  uint64_t admin_cmd_base = 0;  // 64 bits
  uint64_t admin_rsp_base = 0;  // 64 bits
  uint8_t admin_log_size = 0;  // 4 bits

  static constexpr std::string_view kName = "dev_cfg";
  static constexpr size_t kBits = 197;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const DevCfg&, const DevCfg&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<196, 1>(w.data(), enable);
    base::put_bits<132, 64>(w.data(), stag_key);
    base::put_bits<68, 64>(w.data(), admin_cmd_base);
    base::put_bits<4, 64>(w.data(), admin_rsp_base);
    base::put_bits<0, 4>(w.data(), admin_log_size);
    return w;
  }
  static DevCfg from_words(const uint32_t* w) {
    DevCfg s;
    s.enable = static_cast<uint8_t>(base::get_bits<196, 1>(w));
    s.stag_key = static_cast<uint64_t>(base::get_bits<132, 64>(w));
    s.admin_cmd_base = static_cast<uint64_t>(base::get_bits<68, 64>(w));
    s.admin_rsp_base = static_cast<uint64_t>(base::get_bits<4, 64>(w));
    s.admin_log_size = static_cast<uint8_t>(base::get_bits<0, 4>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "enable={}", enable);
    fmt::format_to(std::back_inserter(s), " stag_key={:#x}", stag_key);
    fmt::format_to(std::back_inserter(s), " admin_cmd_base={}", admin_cmd_base);
    fmt::format_to(std::back_inserter(s), " admin_rsp_base={}", admin_rsp_base);
    fmt::format_to(std::back_inserter(s), " admin_log_size={}", admin_log_size);
    return s;
  }
};

/// From the platform's configuration space; a plain port. mps, mrrs: 128 << n bytes. rcb128:
/// completion boundary 128, else 64.
/// architecture 4 (PCIe settings)
struct PcieCfg {
  uint8_t bus_master = 0;  // 1 bit
  uint8_t msix_enable = 0;  // 1 bit
  uint8_t msix_mask = 0;  // 1 bit
  uint8_t mps = 0;  // 3 bits
  uint8_t mrrs = 0;  // 3 bits
  uint8_t rcb128 = 0;  // 1 bit

  static constexpr std::string_view kName = "pcie_cfg";
  static constexpr size_t kBits = 10;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const PcieCfg&, const PcieCfg&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<9, 1>(w.data(), bus_master);
    base::put_bits<8, 1>(w.data(), msix_enable);
    base::put_bits<7, 1>(w.data(), msix_mask);
    base::put_bits<4, 3>(w.data(), mps);
    base::put_bits<1, 3>(w.data(), mrrs);
    base::put_bits<0, 1>(w.data(), rcb128);
    return w;
  }
  static PcieCfg from_words(const uint32_t* w) {
    PcieCfg s;
    s.bus_master = static_cast<uint8_t>(base::get_bits<9, 1>(w));
    s.msix_enable = static_cast<uint8_t>(base::get_bits<8, 1>(w));
    s.msix_mask = static_cast<uint8_t>(base::get_bits<7, 1>(w));
    s.mps = static_cast<uint8_t>(base::get_bits<4, 3>(w));
    s.mrrs = static_cast<uint8_t>(base::get_bits<1, 3>(w));
    s.rcb128 = static_cast<uint8_t>(base::get_bits<0, 1>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "bus_master={}", bus_master);
    fmt::format_to(std::back_inserter(s), " msix_enable={}", msix_enable);
    fmt::format_to(std::back_inserter(s), " msix_mask={}", msix_mask);
    fmt::format_to(std::back_inserter(s), " mps={}", mps);
    fmt::format_to(std::back_inserter(s), " mrrs={}", mrrs);
    fmt::format_to(std::back_inserter(s), " rcb128={}", rcb128);
    return s;
  }
};

/// A receive WQE as ddp keeps it. index: in the ring; of an SRQ's WQE its tag.
/// architecture 4
struct RecvWqe {
  uint16_t index = 0;  // 16 bits
  uint8_t num_sge = 0;  // 2 bits
  Sge sge0{};
  Sge sge1{};
  Sge sge2{};

  static constexpr std::string_view kName = "recv_wqe";
  static constexpr size_t kBits = 402;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const RecvWqe&, const RecvWqe&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<386, 16>(w.data(), index);
    base::put_bits<384, 2>(w.data(), num_sge);
    base::put_words<256, 128>(w.data(), sge0.to_words().data());
    base::put_words<128, 128>(w.data(), sge1.to_words().data());
    base::put_words<0, 128>(w.data(), sge2.to_words().data());
    return w;
  }
  static RecvWqe from_words(const uint32_t* w) {
    RecvWqe s;
    s.index = static_cast<uint16_t>(base::get_bits<386, 16>(w));
    s.num_sge = static_cast<uint8_t>(base::get_bits<384, 2>(w));
    s.sge0 = Sge::from_words(base::get_words<256, 128>(w).data());
    s.sge1 = Sge::from_words(base::get_words<128, 128>(w).data());
    s.sge2 = Sge::from_words(base::get_words<0, 128>(w).data());
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "index={}", index);
    fmt::format_to(std::back_inserter(s), " num_sge={}", num_sge);
    fmt::format_to(std::back_inserter(s), " sge0={{{}}}", sge0.describe());
    fmt::format_to(std::back_inserter(s), " sge1={{{}}}", sge1.describe());
    fmt::format_to(std::back_inserter(s), " sge2={{{}}}", sge2.describe());
    return s;
  }
};

/// What the units that keep state of a QP need to know. persist: Flush, atomics and Atomic Write
/// are enabled on this stream. privileged: it may register memory.
/// architecture 7
struct QpParams {
  uint16_t connection = 0;  // 16 bits
  uint16_t pd = 0;  // 16 bits
  uint8_t use_crc = 0;  // 1 bit
  uint8_t rx_markers = 0;  // 1 bit
  uint8_t tx_markers = 0;  // 1 bit
  uint8_t hold_tx = 0;  // 1 bit
  uint8_t persist = 0;  // 1 bit
  uint8_t privileged = 0;  // 1 bit
  uint8_t ird = 0;  // 6 bits
  uint8_t ord = 0;  // 6 bits
  uint16_t ird_base = 0;  // 16 bits
  uint16_t ord_base = 0;  // 16 bits

  static constexpr std::string_view kName = "qp_params";
  static constexpr size_t kBits = 82;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const QpParams&, const QpParams&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<66, 16>(w.data(), connection);
    base::put_bits<50, 16>(w.data(), pd);
    base::put_bits<49, 1>(w.data(), use_crc);
    base::put_bits<48, 1>(w.data(), rx_markers);
    base::put_bits<47, 1>(w.data(), tx_markers);
    base::put_bits<46, 1>(w.data(), hold_tx);
    base::put_bits<45, 1>(w.data(), persist);
    base::put_bits<44, 1>(w.data(), privileged);
    base::put_bits<38, 6>(w.data(), ird);
    base::put_bits<32, 6>(w.data(), ord);
    base::put_bits<16, 16>(w.data(), ird_base);
    base::put_bits<0, 16>(w.data(), ord_base);
    return w;
  }
  static QpParams from_words(const uint32_t* w) {
    QpParams s;
    s.connection = static_cast<uint16_t>(base::get_bits<66, 16>(w));
    s.pd = static_cast<uint16_t>(base::get_bits<50, 16>(w));
    s.use_crc = static_cast<uint8_t>(base::get_bits<49, 1>(w));
    s.rx_markers = static_cast<uint8_t>(base::get_bits<48, 1>(w));
    s.tx_markers = static_cast<uint8_t>(base::get_bits<47, 1>(w));
    s.hold_tx = static_cast<uint8_t>(base::get_bits<46, 1>(w));
    s.persist = static_cast<uint8_t>(base::get_bits<45, 1>(w));
    s.privileged = static_cast<uint8_t>(base::get_bits<44, 1>(w));
    s.ird = static_cast<uint8_t>(base::get_bits<38, 6>(w));
    s.ord = static_cast<uint8_t>(base::get_bits<32, 6>(w));
    s.ird_base = static_cast<uint16_t>(base::get_bits<16, 16>(w));
    s.ord_base = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "connection={}", connection);
    fmt::format_to(std::back_inserter(s), " pd={}", pd);
    fmt::format_to(std::back_inserter(s), " use_crc={}", use_crc);
    fmt::format_to(std::back_inserter(s), " rx_markers={}", rx_markers);
    fmt::format_to(std::back_inserter(s), " tx_markers={}", tx_markers);
    fmt::format_to(std::back_inserter(s), " hold_tx={}", hold_tx);
    fmt::format_to(std::back_inserter(s), " persist={}", persist);
    fmt::format_to(std::back_inserter(s), " privileged={}", privileged);
    fmt::format_to(std::back_inserter(s), " ird={}", ird);
    fmt::format_to(std::back_inserter(s), " ord={}", ord);
    fmt::format_to(std::back_inserter(s), " ird_base={}", ird_base);
    fmt::format_to(std::back_inserter(s), " ord_base={}", ord_base);
    return s;
  }
};

/// A command that admin has checked as far as it can.
/// architecture 4 (Admin)
struct Cmd {
  AdminOpcode opcode{};
  uint32_t object = 0;  // 32 bits
  std::array<uint8_t, 56> args{};

  static constexpr std::string_view kName = "cmd";
  static constexpr size_t kBits = 488;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const Cmd&, const Cmd&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<480, 8>(w.data(), static_cast<uint64_t>(opcode));
    base::put_bits<448, 32>(w.data(), object);
    base::put_bytes<0, 448>(w.data(), args.data());
    return w;
  }
  static Cmd from_words(const uint32_t* w) {
    Cmd s;
    s.opcode = static_cast<AdminOpcode>(base::get_bits<480, 8>(w));
    s.object = static_cast<uint32_t>(base::get_bits<448, 32>(w));
    base::get_bytes<0, 448>(w, s.args.data());
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "opcode={}", to_string(opcode));
    fmt::format_to(std::back_inserter(s), " object={}", object);
    fmt::format_to(std::back_inserter(s), " args={}", base::short_hex(args));
    return s;
  }
};

/// The unit's answer.
/// architecture 4 (Admin)
struct CmdRsp {
  AdminStatus status{};
  std::array<uint8_t, 16> result{};

  static constexpr std::string_view kName = "cmd_rsp";
  static constexpr size_t kBits = 136;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const CmdRsp&, const CmdRsp&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<128, 8>(w.data(), static_cast<uint64_t>(status));
    base::put_bytes<0, 128>(w.data(), result.data());
    return w;
  }
  static CmdRsp from_words(const uint32_t* w) {
    CmdRsp s;
    s.status = static_cast<AdminStatus>(base::get_bits<128, 8>(w));
    base::get_bytes<0, 128>(w, s.result.data());
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "status={}", to_string(status));
    fmt::format_to(std::back_inserter(s), " result={}", base::short_hex(result));
    return s;
  }
};

/// Read length bytes (1 to 4096) at a bus address, which may cross 4 KiB; answers come in the
/// client's order.
/// architecture 3.2
struct RdReq {
  uint64_t address = 0;  // 64 bits
  uint16_t length = 0;  // 13 bits

  static constexpr std::string_view kName = "rd_req";
  static constexpr size_t kBits = 77;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const RdReq&, const RdReq&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<13, 64>(w.data(), address);
    base::put_bits<0, 13>(w.data(), length);
    return w;
  }
  static RdReq from_words(const uint32_t* w) {
    RdReq s;
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

/// Answer: status of the whole, then length bytes (on error one empty beat).
/// architecture 3.2
struct RdHdr {
  RdStatus status{};
  uint16_t length = 0;  // 13 bits

  static constexpr std::string_view kName = "rd_hdr";
  static constexpr size_t kBits = 15;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const RdHdr&, const RdHdr&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<13, 2>(w.data(), static_cast<uint64_t>(status));
    base::put_bits<0, 13>(w.data(), length);
    return w;
  }
  static RdHdr from_words(const uint32_t* w) {
    RdHdr s;
    s.status = static_cast<RdStatus>(base::get_bits<13, 2>(w));
    s.length = static_cast<uint16_t>(base::get_bits<0, 13>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "status={}", to_string(status));
    fmt::format_to(std::back_inserter(s), " length={}", length);
    return s;
  }
};

/// A bus extent; never crosses a page of its region. last: of its group. epoch: of its lookup;
/// `retired` returns it when the extent's write was accepted or its read returned.
/// architecture 4 (Keys at work)
struct Extent {
  uint64_t address = 0;  // 64 bits
  uint32_t length = 0;  // 17 bits
  TptResult result{};
  uint8_t epoch = 0;  // 1 bit
  uint8_t last = 0;  // 1 bit

  static constexpr std::string_view kName = "extent";
  static constexpr size_t kBits = 86;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const Extent&, const Extent&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<22, 64>(w.data(), address);
    base::put_bits<5, 17>(w.data(), length);
    base::put_bits<2, 3>(w.data(), static_cast<uint64_t>(result));
    base::put_bits<1, 1>(w.data(), epoch);
    base::put_bits<0, 1>(w.data(), last);
    return w;
  }
  static Extent from_words(const uint32_t* w) {
    Extent s;
    s.address = static_cast<uint64_t>(base::get_bits<22, 64>(w));
    s.length = static_cast<uint32_t>(base::get_bits<5, 17>(w));
    s.result = static_cast<TptResult>(base::get_bits<2, 3>(w));
    s.epoch = static_cast<uint8_t>(base::get_bits<1, 1>(w));
    s.last = static_cast<uint8_t>(base::get_bits<0, 1>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "address={:#x}", address);
    fmt::format_to(std::back_inserter(s), " length={}", length);
    fmt::format_to(std::back_inserter(s), " result={}", to_string(result));
    fmt::format_to(std::back_inserter(s), " epoch={}", epoch);
    fmt::format_to(std::back_inserter(s), " last={}", last);
    return s;
  }
};

/// An extent has ended: its write was accepted, or its read has returned.
/// architecture 6
struct Retired {
  uint8_t epoch = 0;  // 1 bit

  static constexpr std::string_view kName = "retired";
  static constexpr size_t kBits = 1;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const Retired&, const Retired&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 1>(w.data(), epoch);
    return w;
  }
  static Retired from_words(const uint32_t* w) {
    Retired s;
    s.epoch = static_cast<uint8_t>(base::get_bits<0, 1>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "epoch={}", epoch);
    return s;
  }
};

/// bytes: 4, 8 or 64, aligned. 64 only as a write to a push window. Data from lane 0.
/// architecture 3.1
/// From pcie to host_if.
struct MmioReq {
  uint8_t is_write = 0;  // 1 bit
  uint8_t bar = 0;  // 3 bits
  uint32_t offset = 0;  // 32 bits
  uint8_t bytes = 0;  // 7 bits
  std::array<uint8_t, 64> data{};

  static constexpr std::string_view kName = "mmio_req";
  static constexpr size_t kBits = 555;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const MmioReq&, const MmioReq&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<554, 1>(w.data(), is_write);
    base::put_bits<551, 3>(w.data(), bar);
    base::put_bits<519, 32>(w.data(), offset);
    base::put_bits<512, 7>(w.data(), bytes);
    base::put_bytes<0, 512>(w.data(), data.data());
    return w;
  }
  static MmioReq from_words(const uint32_t* w) {
    MmioReq s;
    s.is_write = static_cast<uint8_t>(base::get_bits<554, 1>(w));
    s.bar = static_cast<uint8_t>(base::get_bits<551, 3>(w));
    s.offset = static_cast<uint32_t>(base::get_bits<519, 32>(w));
    s.bytes = static_cast<uint8_t>(base::get_bits<512, 7>(w));
    base::get_bytes<0, 512>(w, s.data.data());
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "is_write={}", is_write);
    fmt::format_to(std::back_inserter(s), " bar={}", bar);
    fmt::format_to(std::back_inserter(s), " offset={:#x}", offset);
    fmt::format_to(std::back_inserter(s), " bytes={}", bytes);
    fmt::format_to(std::back_inserter(s), " data={}", base::short_hex(data));
    return s;
  }
};

/// Answer to a read, in order, never before earlier dma_wr.
/// architecture 3.1
/// From host_if to pcie.
struct MmioRsp {
  uint64_t data = 0;  // 64 bits

  static constexpr std::string_view kName = "mmio_rsp";
  static constexpr size_t kBits = 64;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const MmioRsp&, const MmioRsp&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 64>(w.data(), data);
    return w;
  }
  static MmioRsp from_words(const uint32_t* w) {
    MmioRsp s;
    s.data = static_cast<uint64_t>(base::get_bits<0, 64>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "data={:#x}", data);
    return s;
  }
};

/// Never crosses 4 KiB; length up to MRRS.
/// architecture 3.2
/// From host_if to pcie.
struct DmaRdReq {
  uint8_t tag = 0;  // 8 bits
  uint64_t address = 0;  // 64 bits
  uint16_t length = 0;  // 13 bits
  uint8_t relaxed = 0;  // 1 bit
  uint8_t no_alloc = 0;  // 1 bit

  static constexpr std::string_view kName = "dma_rd_req";
  static constexpr size_t kBits = 87;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const DmaRdReq&, const DmaRdReq&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<79, 8>(w.data(), tag);
    base::put_bits<15, 64>(w.data(), address);
    base::put_bits<2, 13>(w.data(), length);
    base::put_bits<1, 1>(w.data(), relaxed);
    base::put_bits<0, 1>(w.data(), no_alloc);
    return w;
  }
  static DmaRdReq from_words(const uint32_t* w) {
    DmaRdReq s;
    s.tag = static_cast<uint8_t>(base::get_bits<79, 8>(w));
    s.address = static_cast<uint64_t>(base::get_bits<15, 64>(w));
    s.length = static_cast<uint16_t>(base::get_bits<2, 13>(w));
    s.relaxed = static_cast<uint8_t>(base::get_bits<1, 1>(w));
    s.no_alloc = static_cast<uint8_t>(base::get_bits<0, 1>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "tag={}", tag);
    fmt::format_to(std::back_inserter(s), " address={:#x}", address);
    fmt::format_to(std::back_inserter(s), " length={}", length);
    fmt::format_to(std::back_inserter(s), " relaxed={}", relaxed);
    fmt::format_to(std::back_inserter(s), " no_alloc={}", no_alloc);
    return s;
  }
};

/// Beats of completion pieces, each piece dense from lane 0; piece_last ends a piece, is_last (with
/// it) the request. status other than ok ends the request at once, with one beat.
/// architecture 3.2
/// From pcie to host_if.
struct DmaRdRsp {
  uint8_t tag = 0;  // 8 bits
  RdStatus status{};
  uint8_t piece_last = 0;  // 1 bit
  uint8_t is_last = 0;  // 1 bit
  uint8_t keep = 0;  // 7 bits
  std::array<uint8_t, 64> data{};

  static constexpr std::string_view kName = "dma_rd_rsp";
  static constexpr size_t kBits = 531;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const DmaRdRsp&, const DmaRdRsp&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<523, 8>(w.data(), tag);
    base::put_bits<521, 2>(w.data(), static_cast<uint64_t>(status));
    base::put_bits<520, 1>(w.data(), piece_last);
    base::put_bits<519, 1>(w.data(), is_last);
    base::put_bits<512, 7>(w.data(), keep);
    base::put_bytes<0, 512>(w.data(), data.data());
    return w;
  }
  static DmaRdRsp from_words(const uint32_t* w) {
    DmaRdRsp s;
    s.tag = static_cast<uint8_t>(base::get_bits<523, 8>(w));
    s.status = static_cast<RdStatus>(base::get_bits<521, 2>(w));
    s.piece_last = static_cast<uint8_t>(base::get_bits<520, 1>(w));
    s.is_last = static_cast<uint8_t>(base::get_bits<519, 1>(w));
    s.keep = static_cast<uint8_t>(base::get_bits<512, 7>(w));
    base::get_bytes<0, 512>(w, s.data.data());
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "tag={}", tag);
    fmt::format_to(std::back_inserter(s), " status={}", to_string(status));
    fmt::format_to(std::back_inserter(s), " piece_last={}", piece_last);
    fmt::format_to(std::back_inserter(s), " is_last={}", is_last);
    fmt::format_to(std::back_inserter(s), " keep={}", keep);
    fmt::format_to(std::back_inserter(s), " data={}", base::short_hex(data));
    return s;
  }
};

/// Beats of a posted write, dense from lane 0; address and length repeat in each beat; never
/// crosses 4 KiB; length up to MPS.
/// architecture 3.2
/// From host_if to pcie.
struct DmaWr {
  uint64_t address = 0;  // 64 bits
  uint16_t length = 0;  // 13 bits
  uint8_t relaxed = 0;  // 1 bit
  uint8_t no_alloc = 0;  // 1 bit
  uint8_t last = 0;  // 1 bit
  uint8_t keep = 0;  // 7 bits
  std::array<uint8_t, 64> data{};

  static constexpr std::string_view kName = "dma_wr";
  static constexpr size_t kBits = 599;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const DmaWr&, const DmaWr&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<535, 64>(w.data(), address);
    base::put_bits<522, 13>(w.data(), length);
    base::put_bits<521, 1>(w.data(), relaxed);
    base::put_bits<520, 1>(w.data(), no_alloc);
    base::put_bits<519, 1>(w.data(), last);
    base::put_bits<512, 7>(w.data(), keep);
    base::put_bytes<0, 512>(w.data(), data.data());
    return w;
  }
  static DmaWr from_words(const uint32_t* w) {
    DmaWr s;
    s.address = static_cast<uint64_t>(base::get_bits<535, 64>(w));
    s.length = static_cast<uint16_t>(base::get_bits<522, 13>(w));
    s.relaxed = static_cast<uint8_t>(base::get_bits<521, 1>(w));
    s.no_alloc = static_cast<uint8_t>(base::get_bits<520, 1>(w));
    s.last = static_cast<uint8_t>(base::get_bits<519, 1>(w));
    s.keep = static_cast<uint8_t>(base::get_bits<512, 7>(w));
    base::get_bytes<0, 512>(w, s.data.data());
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "address={:#x}", address);
    fmt::format_to(std::back_inserter(s), " length={}", length);
    fmt::format_to(std::back_inserter(s), " relaxed={}", relaxed);
    fmt::format_to(std::back_inserter(s), " no_alloc={}", no_alloc);
    fmt::format_to(std::back_inserter(s), " last={}", last);
    fmt::format_to(std::back_inserter(s), " keep={}", keep);
    fmt::format_to(std::back_inserter(s), " data={}", base::short_hex(data));
    return s;
  }
};

/// A record: one FPDU, or streaming bytes.
/// architecture 3.3
/// From llp to llp_if.
struct LlpRxHdr {
  uint16_t connection = 0;  // 16 bits
  uint8_t is_stream = 0;  // 1 bit
  uint32_t length = 0;  // 17 bits

  static constexpr std::string_view kName = "llp_rx_hdr";
  static constexpr size_t kBits = 34;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const LlpRxHdr&, const LlpRxHdr&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<18, 16>(w.data(), connection);
    base::put_bits<17, 1>(w.data(), is_stream);
    base::put_bits<0, 17>(w.data(), length);
    return w;
  }
  static LlpRxHdr from_words(const uint32_t* w) {
    LlpRxHdr s;
    s.connection = static_cast<uint16_t>(base::get_bits<18, 16>(w));
    s.is_stream = static_cast<uint8_t>(base::get_bits<17, 1>(w));
    s.length = static_cast<uint32_t>(base::get_bits<0, 17>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "connection={}", connection);
    fmt::format_to(std::back_inserter(s), " is_stream={}", is_stream);
    fmt::format_to(std::back_inserter(s), " length={}", length);
    return s;
  }
};

/// Its beats.
/// architecture 3.3
/// From llp to llp_if.
using LlpRx = Beat;

/// A record.
/// architecture 3.3
/// From llp_if to llp.
using LlpTxHdr = LlpRxHdr;

/// Its beats.
/// architecture 3.3
/// From llp_if to llp.
using LlpTx = Beat;

/// Control.
/// architecture 3.3
/// From llp_if to llp.
struct LlpCtlReq {
  LlpOp op{};
  uint16_t connection = 0;  // 16 bits
  uint16_t length = 0;  // 16 bits
  uint8_t use_crc = 0;  // 1 bit
  uint8_t rx_markers = 0;  // 1 bit
  uint8_t tx_markers = 0;  // 1 bit
  uint32_t address = 0;  // 32 bits
  uint16_t port = 0;  // 16 bits
  uint16_t cookie = 0;  // 16 bits

  static constexpr std::string_view kName = "llp_ctl_req";
  static constexpr size_t kBits = 103;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const LlpCtlReq&, const LlpCtlReq&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<99, 4>(w.data(), static_cast<uint64_t>(op));
    base::put_bits<83, 16>(w.data(), connection);
    base::put_bits<67, 16>(w.data(), length);
    base::put_bits<66, 1>(w.data(), use_crc);
    base::put_bits<65, 1>(w.data(), rx_markers);
    base::put_bits<64, 1>(w.data(), tx_markers);
    base::put_bits<32, 32>(w.data(), address);
    base::put_bits<16, 16>(w.data(), port);
    base::put_bits<0, 16>(w.data(), cookie);
    return w;
  }
  static LlpCtlReq from_words(const uint32_t* w) {
    LlpCtlReq s;
    s.op = static_cast<LlpOp>(base::get_bits<99, 4>(w));
    s.connection = static_cast<uint16_t>(base::get_bits<83, 16>(w));
    s.length = static_cast<uint16_t>(base::get_bits<67, 16>(w));
    s.use_crc = static_cast<uint8_t>(base::get_bits<66, 1>(w));
    s.rx_markers = static_cast<uint8_t>(base::get_bits<65, 1>(w));
    s.tx_markers = static_cast<uint8_t>(base::get_bits<64, 1>(w));
    s.address = static_cast<uint32_t>(base::get_bits<32, 32>(w));
    s.port = static_cast<uint16_t>(base::get_bits<16, 16>(w));
    s.cookie = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "op={}", to_string(op));
    fmt::format_to(std::back_inserter(s), " connection={}", connection);
    fmt::format_to(std::back_inserter(s), " length={}", length);
    fmt::format_to(std::back_inserter(s), " use_crc={}", use_crc);
    fmt::format_to(std::back_inserter(s), " rx_markers={}", rx_markers);
    fmt::format_to(std::back_inserter(s), " tx_markers={}", tx_markers);
    fmt::format_to(std::back_inserter(s), " address={:#x}", address);
    fmt::format_to(std::back_inserter(s), " port={}", port);
    fmt::format_to(std::back_inserter(s), " cookie={}", cookie);
    return s;
  }
};

/// Events, in order per connection with the records on llp_rx.
/// architecture 3.3
/// From llp to llp_if.
struct LlpCtlEvt {
  LlpEvt kind{};
  uint16_t connection = 0;  // 16 bits
  uint16_t length = 0;  // 16 bits
  uint32_t address = 0;  // 32 bits
  uint16_t port = 0;  // 16 bits
  uint16_t local_port = 0;  // 16 bits
  uint16_t cookie = 0;  // 16 bits

  static constexpr std::string_view kName = "llp_ctl_evt";
  static constexpr size_t kBits = 116;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const LlpCtlEvt&, const LlpCtlEvt&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<112, 4>(w.data(), static_cast<uint64_t>(kind));
    base::put_bits<96, 16>(w.data(), connection);
    base::put_bits<80, 16>(w.data(), length);
    base::put_bits<48, 32>(w.data(), address);
    base::put_bits<32, 16>(w.data(), port);
    base::put_bits<16, 16>(w.data(), local_port);
    base::put_bits<0, 16>(w.data(), cookie);
    return w;
  }
  static LlpCtlEvt from_words(const uint32_t* w) {
    LlpCtlEvt s;
    s.kind = static_cast<LlpEvt>(base::get_bits<112, 4>(w));
    s.connection = static_cast<uint16_t>(base::get_bits<96, 16>(w));
    s.length = static_cast<uint16_t>(base::get_bits<80, 16>(w));
    s.address = static_cast<uint32_t>(base::get_bits<48, 32>(w));
    s.port = static_cast<uint16_t>(base::get_bits<32, 16>(w));
    s.local_port = static_cast<uint16_t>(base::get_bits<16, 16>(w));
    s.cookie = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "kind={}", to_string(kind));
    fmt::format_to(std::back_inserter(s), " connection={}", connection);
    fmt::format_to(std::back_inserter(s), " length={}", length);
    fmt::format_to(std::back_inserter(s), " address={:#x}", address);
    fmt::format_to(std::back_inserter(s), " port={}", port);
    fmt::format_to(std::back_inserter(s), " local_port={}", local_port);
    fmt::format_to(std::back_inserter(s), " cookie={}", cookie);
    return s;
  }
};

/// Bytes of records the LLP promises to accept on this connection, counted from its beginning,
/// modulo 2^32.
/// architecture 3.3
/// From llp to llp_if.
struct LlpCredit {
  uint16_t connection = 0;  // 16 bits
  uint32_t limit = 0;  // 32 bits

  static constexpr std::string_view kName = "llp_credit";
  static constexpr size_t kBits = 48;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const LlpCredit&, const LlpCredit&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<32, 16>(w.data(), connection);
    base::put_bits<0, 32>(w.data(), limit);
    return w;
  }
  static LlpCredit from_words(const uint32_t* w) {
    LlpCredit s;
    s.connection = static_cast<uint16_t>(base::get_bits<32, 16>(w));
    s.limit = static_cast<uint32_t>(base::get_bits<0, 32>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "connection={}", connection);
    fmt::format_to(std::back_inserter(s), " limit={}", limit);
    return s;
  }
};

/// kind sq, rq or push. A push carries 1 or 2 units; index is the producer index after them. Never
/// stalls for longer than a table access.
/// architecture 3.1
/// From host_if to qp.
struct QpDoorbell {
  DoorbellKind kind{};
  uint16_t qpn = 0;  // 16 bits
  uint16_t page = 0;  // 16 bits
  uint16_t index = 0;  // 16 bits
  uint8_t units = 0;  // 2 bits
  std::array<uint8_t, 128> data{};

  static constexpr std::string_view kName = "qp_doorbell";
  static constexpr size_t kBits = 1077;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const QpDoorbell&, const QpDoorbell&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<1074, 3>(w.data(), static_cast<uint64_t>(kind));
    base::put_bits<1058, 16>(w.data(), qpn);
    base::put_bits<1042, 16>(w.data(), page);
    base::put_bits<1026, 16>(w.data(), index);
    base::put_bits<1024, 2>(w.data(), units);
    base::put_bytes<0, 1024>(w.data(), data.data());
    return w;
  }
  static QpDoorbell from_words(const uint32_t* w) {
    QpDoorbell s;
    s.kind = static_cast<DoorbellKind>(base::get_bits<1074, 3>(w));
    s.qpn = static_cast<uint16_t>(base::get_bits<1058, 16>(w));
    s.page = static_cast<uint16_t>(base::get_bits<1042, 16>(w));
    s.index = static_cast<uint16_t>(base::get_bits<1026, 16>(w));
    s.units = static_cast<uint8_t>(base::get_bits<1024, 2>(w));
    base::get_bytes<0, 1024>(w, s.data.data());
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "kind={}", to_string(kind));
    fmt::format_to(std::back_inserter(s), " qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " page={}", page);
    fmt::format_to(std::back_inserter(s), " index={}", index);
    fmt::format_to(std::back_inserter(s), " units={}", units);
    fmt::format_to(std::back_inserter(s), " data={}", base::short_hex(data));
    return s;
  }
};

/// Consumer index; arm, for solicited completions only.
/// architecture 3.1
/// From host_if to cq.
struct CqDoorbell {
  uint16_t cqn = 0;  // 16 bits
  uint16_t page = 0;  // 16 bits
  uint16_t index = 0;  // 16 bits
  uint8_t arm = 0;  // 1 bit
  uint8_t solicited_only = 0;  // 1 bit

  static constexpr std::string_view kName = "cq_doorbell";
  static constexpr size_t kBits = 50;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const CqDoorbell&, const CqDoorbell&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<34, 16>(w.data(), cqn);
    base::put_bits<18, 16>(w.data(), page);
    base::put_bits<2, 16>(w.data(), index);
    base::put_bits<1, 1>(w.data(), arm);
    base::put_bits<0, 1>(w.data(), solicited_only);
    return w;
  }
  static CqDoorbell from_words(const uint32_t* w) {
    CqDoorbell s;
    s.cqn = static_cast<uint16_t>(base::get_bits<34, 16>(w));
    s.page = static_cast<uint16_t>(base::get_bits<18, 16>(w));
    s.index = static_cast<uint16_t>(base::get_bits<2, 16>(w));
    s.arm = static_cast<uint8_t>(base::get_bits<1, 1>(w));
    s.solicited_only = static_cast<uint8_t>(base::get_bits<0, 1>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "cqn={}", cqn);
    fmt::format_to(std::back_inserter(s), " page={}", page);
    fmt::format_to(std::back_inserter(s), " index={}", index);
    fmt::format_to(std::back_inserter(s), " arm={}", arm);
    fmt::format_to(std::back_inserter(s), " solicited_only={}", solicited_only);
    return s;
  }
};

/// Consumer index of an EQ.
/// architecture 3.1
/// From host_if to cq.
struct EqDoorbell {
  uint8_t eqn = 0;  // 8 bits
  uint16_t index = 0;  // 16 bits

  static constexpr std::string_view kName = "eq_doorbell";
  static constexpr size_t kBits = 24;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const EqDoorbell&, const EqDoorbell&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<16, 8>(w.data(), eqn);
    base::put_bits<0, 16>(w.data(), index);
    return w;
  }
  static EqDoorbell from_words(const uint32_t* w) {
    EqDoorbell s;
    s.eqn = static_cast<uint8_t>(base::get_bits<16, 8>(w));
    s.index = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "eqn={}", eqn);
    fmt::format_to(std::back_inserter(s), " index={}", index);
    return s;
  }
};

/// Producer index of the command ring.
/// architecture 3.1
/// From host_if to admin.
struct AdminDoorbell {
  uint16_t index = 0;  // 16 bits

  static constexpr std::string_view kName = "admin_doorbell";
  static constexpr size_t kBits = 16;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const AdminDoorbell&, const AdminDoorbell&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 16>(w.data(), index);
    return w;
  }
  static AdminDoorbell from_words(const uint32_t* w) {
    AdminDoorbell s;
    s.index = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "index={}", index);
    return s;
  }
};

/// SQ fetch.
/// architecture 3.2
/// From qp to host_if.
using SqRdReq = RdReq;

/// SQ fetch.
/// architecture 3.2
/// From host_if to qp.
using SqRdHdr = RdHdr;

/// SQ fetch: WQE units.
/// architecture 3.2
/// From host_if to qp.
using SqRd = Beat;

/// RQ fetch.
/// architecture 3.2
/// From qp to host_if.
using RqRdReq = RdReq;

/// RQ fetch.
/// architecture 3.2
/// From host_if to qp.
using RqRdHdr = RdHdr;

/// RQ fetch: WQEs.
/// architecture 3.2
/// From host_if to qp.
using RqRd = Beat;

/// Commands, page lists, streaming bytes.
/// architecture 3.2
/// From admin to host_if.
using AdminRdReq = RdReq;

/// The same.
/// architecture 3.2
/// From host_if to admin.
using AdminRdHdr = RdHdr;

/// The same.
/// architecture 3.2
/// From host_if to admin.
using AdminRd = Beat;

/// A packet of length bytes (1 and more), whose extents come on tx_extent. With a watermark it is
/// read only when that many place packets were accepted on dma_wr.
/// architecture 3.2
/// From ddp to host_if.
struct PayloadReq {
  uint32_t length = 0;  // 17 bits
  uint8_t has_watermark = 0;  // 1 bit
  uint64_t watermark = 0;  // 64 bits

  static constexpr std::string_view kName = "payload_req";
  static constexpr size_t kBits = 82;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const PayloadReq&, const PayloadReq&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<65, 17>(w.data(), length);
    base::put_bits<64, 1>(w.data(), has_watermark);
    base::put_bits<0, 64>(w.data(), watermark);
    return w;
  }
  static PayloadReq from_words(const uint32_t* w) {
    PayloadReq s;
    s.length = static_cast<uint32_t>(base::get_bits<65, 17>(w));
    s.has_watermark = static_cast<uint8_t>(base::get_bits<64, 1>(w));
    s.watermark = static_cast<uint64_t>(base::get_bits<0, 64>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "length={}", length);
    fmt::format_to(std::back_inserter(s), " has_watermark={}", has_watermark);
    fmt::format_to(std::back_inserter(s), " watermark={}", watermark);
    return s;
  }
};

/// Extents of payload_req packets, in their order. A failed check gives one extent of length 0 with
/// its result, and ends the group.
/// architecture 4 (Keys at work)
/// From tpt to host_if.
using TxExtent = Extent;

/// All reads of the packet have completed. result, status: the first failure; then one empty beat
/// follows.
/// architecture 4 (Packets are dense)
/// From host_if to ddp.
struct PayloadHdr {
  uint32_t length = 0;  // 17 bits
  RdStatus status{};
  TptResult result{};

  static constexpr std::string_view kName = "payload_hdr";
  static constexpr size_t kBits = 22;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const PayloadHdr&, const PayloadHdr&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<5, 17>(w.data(), length);
    base::put_bits<3, 2>(w.data(), static_cast<uint64_t>(status));
    base::put_bits<0, 3>(w.data(), static_cast<uint64_t>(result));
    return w;
  }
  static PayloadHdr from_words(const uint32_t* w) {
    PayloadHdr s;
    s.length = static_cast<uint32_t>(base::get_bits<5, 17>(w));
    s.status = static_cast<RdStatus>(base::get_bits<3, 2>(w));
    s.result = static_cast<TptResult>(base::get_bits<0, 3>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "length={}", length);
    fmt::format_to(std::back_inserter(s), " status={}", to_string(status));
    fmt::format_to(std::back_inserter(s), " result={}", to_string(result));
    return s;
  }
};

/// The bytes.
/// architecture 4 (Packets are dense)
/// From host_if to ddp.
using Payload = Beat;

/// One for each tx_extent (failed ones too). Always taken.
/// architecture 6
/// From host_if to tpt.
using RdRetired = Retired;

/// A packet to be placed, length 1 and more.
/// architecture 5
/// From ddp to host_if.
struct PlaceHdr {
  uint32_t length = 0;  // 17 bits

  static constexpr std::string_view kName = "place_hdr";
  static constexpr size_t kBits = 17;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const PlaceHdr&, const PlaceHdr&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 17>(w.data(), length);
    return w;
  }
  static PlaceHdr from_words(const uint32_t* w) {
    PlaceHdr s;
    s.length = static_cast<uint32_t>(base::get_bits<0, 17>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "length={}", length);
    return s;
  }
};

/// Its extents.
/// architecture 5
/// From ddp to host_if.
using PlaceExtent = Extent;

/// Its bytes.
/// architecture 5
/// From ddp to host_if.
using Place = Beat;

/// In order, one a packet: its last beat was accepted on dma_wr. count: packets placed since reset,
/// modulo 2^16, this one included; only benches use it.
/// architecture 5
/// From host_if to ddp.
struct PlaceDone {
  uint16_t count = 0;  // 16 bits

  static constexpr std::string_view kName = "place_done";
  static constexpr size_t kBits = 16;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const PlaceDone&, const PlaceDone&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 16>(w.data(), count);
    return w;
  }
  static PlaceDone from_words(const uint32_t* w) {
    PlaceDone s;
    s.count = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "count={}", count);
    return s;
  }
};

/// One for each place_extent. Always taken.
/// architecture 6
/// From host_if to tpt.
using WrRetired = Retired;

/// A CQE or EQE of length bytes, or the MSI-X message of vector.
/// architecture 3.2
/// From cq to host_if.
struct CqWr {
  uint8_t is_msix = 0;  // 1 bit
  uint8_t vector = 0;  // 8 bits
  uint64_t address = 0;  // 64 bits
  uint8_t length = 0;  // 7 bits
  std::array<uint8_t, 32> data{};

  static constexpr std::string_view kName = "cq_wr";
  static constexpr size_t kBits = 336;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const CqWr&, const CqWr&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<335, 1>(w.data(), is_msix);
    base::put_bits<327, 8>(w.data(), vector);
    base::put_bits<263, 64>(w.data(), address);
    base::put_bits<256, 7>(w.data(), length);
    base::put_bytes<0, 256>(w.data(), data.data());
    return w;
  }
  static CqWr from_words(const uint32_t* w) {
    CqWr s;
    s.is_msix = static_cast<uint8_t>(base::get_bits<335, 1>(w));
    s.vector = static_cast<uint8_t>(base::get_bits<327, 8>(w));
    s.address = static_cast<uint64_t>(base::get_bits<263, 64>(w));
    s.length = static_cast<uint8_t>(base::get_bits<256, 7>(w));
    base::get_bytes<0, 256>(w, s.data.data());
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "is_msix={}", is_msix);
    fmt::format_to(std::back_inserter(s), " vector={}", vector);
    fmt::format_to(std::back_inserter(s), " address={:#x}", address);
    fmt::format_to(std::back_inserter(s), " length={}", length);
    fmt::format_to(std::back_inserter(s), " data={}", base::short_hex(data));
    return s;
  }
};

/// 1 to 64 bytes to a bus address; may cross 4 KiB.
/// architecture 3.2
/// From admin to host_if.
struct AdminWr {
  uint64_t address = 0;  // 64 bits
  uint8_t length = 0;  // 7 bits
  std::array<uint8_t, 64> data{};

  static constexpr std::string_view kName = "admin_wr";
  static constexpr size_t kBits = 583;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const AdminWr&, const AdminWr&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<519, 64>(w.data(), address);
    base::put_bits<512, 7>(w.data(), length);
    base::put_bytes<0, 512>(w.data(), data.data());
    return w;
  }
  static AdminWr from_words(const uint32_t* w) {
    AdminWr s;
    s.address = static_cast<uint64_t>(base::get_bits<519, 64>(w));
    s.length = static_cast<uint8_t>(base::get_bits<512, 7>(w));
    base::get_bytes<0, 512>(w, s.data.data());
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "address={:#x}", address);
    fmt::format_to(std::back_inserter(s), " length={}", length);
    fmt::format_to(std::back_inserter(s), " data={}", base::short_hex(data));
    return s;
  }
};

/// create, modify, query, destroy_qp; create, modify, destroy_srq.
/// architecture 4
/// From admin to qp.
using QpCmd = Cmd;

/// Answer.
/// architecture 4
/// From qp to admin.
using QpCmdRsp = CmdRsp;

/// CQ and EQ commands.
/// architecture 4
/// From admin to cq.
using CqCmd = Cmd;

/// Answer.
/// architecture 4
/// From cq to admin.
using CqCmdRsp = CmdRsp;

/// Region commands.
/// architecture 4
/// From admin to tpt.
using TptCmd = Cmd;

/// Answer.
/// architecture 4
/// From tpt to admin.
using TptCmdRsp = CmdRsp;

/// Connection commands (conn_give, conn_send: the control part).
/// architecture 4
/// From admin to llp_if.
using ConnCmd = Cmd;

/// Answer.
/// architecture 4
/// From llp_if to admin.
using ConnCmdRsp = CmdRsp;

/// Write a page-list entry.
/// architecture 6
/// From admin to tpt.
struct PblWr {
  uint32_t index = 0;  // 32 bits
  uint64_t address = 0;  // 64 bits

  static constexpr std::string_view kName = "pbl_wr";
  static constexpr size_t kBits = 96;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const PblWr&, const PblWr&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<64, 32>(w.data(), index);
    base::put_bits<0, 64>(w.data(), address);
    return w;
  }
  static PblWr from_words(const uint32_t* w) {
    PblWr s;
    s.index = static_cast<uint32_t>(base::get_bits<64, 32>(w));
    s.address = static_cast<uint64_t>(base::get_bits<0, 64>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "index={}", index);
    fmt::format_to(std::back_inserter(s), " address={:#x}", address);
    return s;
  }
};

/// Streaming bytes out.
/// architecture 7
/// From admin to llp_if.
struct RawTxHdr {
  uint16_t connection = 0;  // 16 bits
  uint16_t length = 0;  // 16 bits

  static constexpr std::string_view kName = "raw_tx_hdr";
  static constexpr size_t kBits = 32;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const RawTxHdr&, const RawTxHdr&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<16, 16>(w.data(), connection);
    base::put_bits<0, 16>(w.data(), length);
    return w;
  }
  static RawTxHdr from_words(const uint32_t* w) {
    RawTxHdr s;
    s.connection = static_cast<uint16_t>(base::get_bits<16, 16>(w));
    s.length = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "connection={}", connection);
    fmt::format_to(std::back_inserter(s), " length={}", length);
    return s;
  }
};

/// Streaming bytes out.
/// architecture 7
/// From admin to llp_if.
using RawTx = Beat;

/// Streaming bytes in, one packet for each conn_give. ended: none, the connection has ended before
/// its record.
/// architecture 7
/// From llp_if to admin.
struct RawRxHdr {
  uint16_t connection = 0;  // 16 bits
  uint16_t length = 0;  // 16 bits
  uint8_t ended = 0;  // 1 bit

  static constexpr std::string_view kName = "raw_rx_hdr";
  static constexpr size_t kBits = 33;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const RawRxHdr&, const RawRxHdr&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<17, 16>(w.data(), connection);
    base::put_bits<1, 16>(w.data(), length);
    base::put_bits<0, 1>(w.data(), ended);
    return w;
  }
  static RawRxHdr from_words(const uint32_t* w) {
    RawRxHdr s;
    s.connection = static_cast<uint16_t>(base::get_bits<17, 16>(w));
    s.length = static_cast<uint16_t>(base::get_bits<1, 16>(w));
    s.ended = static_cast<uint8_t>(base::get_bits<0, 1>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "connection={}", connection);
    fmt::format_to(std::back_inserter(s), " length={}", length);
    fmt::format_to(std::back_inserter(s), " ended={}", ended);
    return s;
  }
};

/// Streaming bytes in.
/// architecture 7
/// From llp_if to admin.
using RawRx = Beat;

/// Start, stop, half_close, abort.
/// architecture 4
/// From qp to llp_if.
struct QpCtlLlp {
  QpOp op{};
  uint16_t qpn = 0;  // 16 bits
  QpParams params{};

  static constexpr std::string_view kName = "qp_ctl_llp";
  static constexpr size_t kBits = 101;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const QpCtlLlp&, const QpCtlLlp&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<98, 3>(w.data(), static_cast<uint64_t>(op));
    base::put_bits<82, 16>(w.data(), qpn);
    base::put_words<0, 82>(w.data(), params.to_words().data());
    return w;
  }
  static QpCtlLlp from_words(const uint32_t* w) {
    QpCtlLlp s;
    s.op = static_cast<QpOp>(base::get_bits<98, 3>(w));
    s.qpn = static_cast<uint16_t>(base::get_bits<82, 16>(w));
    s.params = QpParams::from_words(base::get_words<0, 82>(w).data());
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "op={}", to_string(op));
    fmt::format_to(std::back_inserter(s), " qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " params={{{}}}", params.describe());
    return s;
  }
};

/// Start, stop, sync.
/// architecture 4
/// From qp to mpa.
using QpCtlMpa = QpCtlLlp;

/// Start, stop, sync.
/// architecture 4
/// From qp to ddp.
using QpCtlDdp = QpCtlLlp;

/// Start, stop, half_close, sync.
/// architecture 4
/// From qp to rdmap.
using QpCtlRdmap = QpCtlLlp;

/// Done.
/// architecture 4
/// From llp_if to qp.
struct QpAckLlp {
  uint16_t qpn = 0;  // 16 bits

  static constexpr std::string_view kName = "qp_ack_llp";
  static constexpr size_t kBits = 16;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const QpAckLlp&, const QpAckLlp&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 16>(w.data(), qpn);
    return w;
  }
  static QpAckLlp from_words(const uint32_t* w) {
    QpAckLlp s;
    s.qpn = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    return s;
  }
};

/// Done.
/// architecture 4
/// From mpa to qp.
using QpAckMpa = QpAckLlp;

/// Done.
/// architecture 4
/// From ddp to qp.
using QpAckDdp = QpAckLlp;

/// Done.
/// architecture 4
/// From rdmap to qp.
using QpAckRdmap = QpAckLlp;

/// Local keys of a WQE, one SGE an item; last ends the WQE. qpn: compared with the QP of a bound
/// STag. invalidate: check whether the STag may be invalidated: with rights remote_invalidate by
/// the peer of qpn, with rights 0 by QP qpn itself. Then tagged_offset and length are 0, and bounds
/// are not checked.
/// architecture 4 (Keys at work)
/// From qp to tpt.
struct WqeCheck {
  uint32_t stag = 0;  // 32 bits
  uint64_t tagged_offset = 0;  // 64 bits
  uint32_t length = 0;  // 32 bits
  uint16_t pd = 0;  // 16 bits
  uint16_t qpn = 0;  // 16 bits
  uint16_t rights = 0;  // 16 bits
  uint8_t invalidate = 0;  // 1 bit
  uint8_t last = 0;  // 1 bit

  static constexpr std::string_view kName = "wqe_check";
  static constexpr size_t kBits = 178;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const WqeCheck&, const WqeCheck&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
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
  static WqeCheck from_words(const uint32_t* w) {
    WqeCheck s;
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
    fmt::format_to(std::back_inserter(s), "stag={:#x}", stag);
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

/// One a WQE: the first failure, or ok.
/// architecture 4 (Keys at work)
/// From tpt to qp.
struct WqeCheckRsp {
  TptResult result{};

  static constexpr std::string_view kName = "wqe_check_rsp";
  static constexpr size_t kBits = 3;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const WqeCheckRsp&, const WqeCheckRsp&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 3>(w.data(), static_cast<uint64_t>(result));
    return w;
  }
  static WqeCheckRsp from_words(const uint32_t* w) {
    WqeCheckRsp s;
    s.result = static_cast<TptResult>(base::get_bits<0, 3>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "result={}", to_string(result));
    return s;
  }
};

/// A WQE whose keys are good. slot: its index in the QP's window of issued WQEs. disposition: of a
/// Flush, bit 0 global, bit 1 persistent.
/// architecture 5
/// From qp to rdmap.
struct WqeHdr {
  uint16_t qpn = 0;  // 16 bits
  uint8_t slot = 0;  // 8 bits
  WrOpcode opcode{};
  uint8_t is_solicited = 0;  // 1 bit
  uint8_t is_inline = 0;  // 1 bit
  uint8_t num_sge = 0;  // 4 bits
  uint32_t length = 0;  // 32 bits
  uint64_t remote_to = 0;  // 64 bits
  uint32_t remote_stag = 0;  // 32 bits
  uint8_t disposition = 0;  // 2 bits

  static constexpr std::string_view kName = "wqe_hdr";
  static constexpr size_t kBits = 168;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const WqeHdr&, const WqeHdr&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<152, 16>(w.data(), qpn);
    base::put_bits<144, 8>(w.data(), slot);
    base::put_bits<136, 8>(w.data(), static_cast<uint64_t>(opcode));
    base::put_bits<135, 1>(w.data(), is_solicited);
    base::put_bits<134, 1>(w.data(), is_inline);
    base::put_bits<130, 4>(w.data(), num_sge);
    base::put_bits<98, 32>(w.data(), length);
    base::put_bits<34, 64>(w.data(), remote_to);
    base::put_bits<2, 32>(w.data(), remote_stag);
    base::put_bits<0, 2>(w.data(), disposition);
    return w;
  }
  static WqeHdr from_words(const uint32_t* w) {
    WqeHdr s;
    s.qpn = static_cast<uint16_t>(base::get_bits<152, 16>(w));
    s.slot = static_cast<uint8_t>(base::get_bits<144, 8>(w));
    s.opcode = static_cast<WrOpcode>(base::get_bits<136, 8>(w));
    s.is_solicited = static_cast<uint8_t>(base::get_bits<135, 1>(w));
    s.is_inline = static_cast<uint8_t>(base::get_bits<134, 1>(w));
    s.num_sge = static_cast<uint8_t>(base::get_bits<130, 4>(w));
    s.length = static_cast<uint32_t>(base::get_bits<98, 32>(w));
    s.remote_to = static_cast<uint64_t>(base::get_bits<34, 64>(w));
    s.remote_stag = static_cast<uint32_t>(base::get_bits<2, 32>(w));
    s.disposition = static_cast<uint8_t>(base::get_bits<0, 2>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " slot={}", slot);
    fmt::format_to(std::back_inserter(s), " opcode={}", to_string(opcode));
    fmt::format_to(std::back_inserter(s), " is_solicited={}", is_solicited);
    fmt::format_to(std::back_inserter(s), " is_inline={}", is_inline);
    fmt::format_to(std::back_inserter(s), " num_sge={}", num_sge);
    fmt::format_to(std::back_inserter(s), " length={}", length);
    fmt::format_to(std::back_inserter(s), " remote_to={:#x}", remote_to);
    fmt::format_to(std::back_inserter(s), " remote_stag={:#x}", remote_stag);
    fmt::format_to(std::back_inserter(s), " disposition={}", disposition);
    return s;
  }
};

/// num_sge SGEs (wqe_sge, 16 bytes each) or length bytes of inline data.
/// architecture 5
/// From qp to rdmap.
using Wqe = Beat;

/// The next receive WQE of a QP, for a message that begins.
/// architecture 5
/// From ddp to qp.
struct RqTakeReq {
  uint16_t qpn = 0;  // 16 bits

  static constexpr std::string_view kName = "rq_take_req";
  static constexpr size_t kBits = 16;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const RqTakeReq&, const RqTakeReq&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 16>(w.data(), qpn);
    return w;
  }
  static RqTakeReq from_words(const uint32_t* w) {
    RqTakeReq s;
    s.qpn = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    return s;
  }
};

/// In order. `ok`, `malformed` and, without an SRQ, `failed` consume the WQE. `malformed` and,
/// without an SRQ, `failed` complete the receive of that index with an error status. `failed` with
/// an SRQ leaves the WQE in the SRQ and ends only the stream. shared: the QP takes from an SRQ.
/// architecture 5
/// From qp to ddp.
struct RqTakeRsp {
  RqTake result{};
  uint8_t shared = 0;  // 1 bit
  RecvWqe wqe{};

  static constexpr std::string_view kName = "rq_take_rsp";
  static constexpr size_t kBits = 405;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const RqTakeRsp&, const RqTakeRsp&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<403, 2>(w.data(), static_cast<uint64_t>(result));
    base::put_bits<402, 1>(w.data(), shared);
    base::put_words<0, 402>(w.data(), wqe.to_words().data());
    return w;
  }
  static RqTakeRsp from_words(const uint32_t* w) {
    RqTakeRsp s;
    s.result = static_cast<RqTake>(base::get_bits<403, 2>(w));
    s.shared = static_cast<uint8_t>(base::get_bits<402, 1>(w));
    s.wqe = RecvWqe::from_words(base::get_words<0, 402>(w).data());
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "result={}", to_string(result));
    fmt::format_to(std::back_inserter(s), " shared={}", shared);
    fmt::format_to(std::back_inserter(s), " wqe={{{}}}", wqe.describe());
    return s;
  }
};

/// Write a completion; phase and timestamp are cq's.
/// architecture 4
/// From qp to cq.
struct CqeReq {
  uint16_t cqn = 0;  // 16 bits
  Cqe entry{};

  static constexpr std::string_view kName = "cqe_req";
  static constexpr size_t kBits = 272;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const CqeReq&, const CqeReq&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<256, 16>(w.data(), cqn);
    base::put_words<0, 256>(w.data(), entry.to_words().data());
    return w;
  }
  static CqeReq from_words(const uint32_t* w) {
    CqeReq s;
    s.cqn = static_cast<uint16_t>(base::get_bits<256, 16>(w));
    s.entry = Cqe::from_words(base::get_words<0, 256>(w).data());
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "cqn={}", cqn);
    fmt::format_to(std::back_inserter(s), " entry={{{}}}", entry.describe());
    return s;
  }
};

/// A QP has an event, or an SRQ its limit event.
/// architecture 4
/// From qp to cq.
struct QpAsync {
  uint16_t qpn = 0;  // 16 bits

  static constexpr std::string_view kName = "qp_async";
  static constexpr size_t kBits = 16;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const QpAsync&, const QpAsync&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 16>(w.data(), qpn);
    return w;
  }
  static QpAsync from_words(const uint32_t* w) {
    QpAsync s;
    s.qpn = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    return s;
  }
};

/// destroy_qp: forget halves of pushes for this QP. Accepted in the cycle in which they are
/// forgotten.
/// architecture 3.1
/// From qp to host_if.
struct QpPurge {
  uint16_t qpn = 0;  // 16 bits

  static constexpr std::string_view kName = "qp_purge";
  static constexpr size_t kBits = 16;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const QpPurge&, const QpPurge&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 16>(w.data(), qpn);
    return w;
  }
  static QpPurge from_words(const uint32_t* w) {
    QpPurge s;
    s.qpn = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    return s;
  }
};

/// A CQ has overrun: its QPs fail.
/// architecture 4
/// From cq to qp.
struct CqFault {
  uint16_t cqn = 0;  // 16 bits

  static constexpr std::string_view kName = "cq_fault";
  static constexpr size_t kBits = 16;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const CqFault&, const CqFault&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 16>(w.data(), cqn);
    return w;
  }
  static CqFault from_words(const uint32_t* w) {
    CqFault s;
    s.cqn = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "cqn={}", cqn);
    return s;
  }
};

/// A local failure of a QP. rdmap decides whether it is the QP's first error.
/// architecture 5
/// From qp to rdmap.
struct QpFault {
  uint16_t qpn = 0;  // 16 bits
  Cause cause{};

  static constexpr std::string_view kName = "qp_fault";
  static constexpr size_t kBits = 24;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const QpFault&, const QpFault&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<8, 16>(w.data(), qpn);
    base::put_bits<0, 8>(w.data(), static_cast<uint64_t>(cause));
    return w;
  }
  static QpFault from_words(const uint32_t* w) {
    QpFault s;
    s.qpn = static_cast<uint16_t>(base::get_bits<8, 16>(w));
    s.cause = static_cast<Cause>(base::get_bits<0, 8>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " cause={}", to_string(cause));
    return s;
  }
};

/// The first error of a QP, reported once: the QP must stop. With cause none it is no error: the
/// responder is idle after half_close. sends_term: rdmap sends ddp a Terminate. has_wr: the send
/// WQE in slot has failed; qp completes it with status. That is the WQE of a tx_fault, of a failed
/// atomic or sq_local, or the request that the peer's Terminate names. peer_term: layer, type, code
/// of the peer's Terminate.
/// architecture 5
/// From rdmap to qp.
struct QpError {
  uint16_t qpn = 0;  // 16 bits
  Cause cause{};
  uint8_t sends_term = 0;  // 1 bit
  uint8_t has_wr = 0;  // 1 bit
  uint8_t slot = 0;  // 8 bits
  WcStatus status{};
  uint8_t has_peer_term = 0;  // 1 bit
  uint16_t peer_term = 0;  // 16 bits

  static constexpr std::string_view kName = "qp_error";
  static constexpr size_t kBits = 59;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const QpError&, const QpError&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<43, 16>(w.data(), qpn);
    base::put_bits<35, 8>(w.data(), static_cast<uint64_t>(cause));
    base::put_bits<34, 1>(w.data(), sends_term);
    base::put_bits<33, 1>(w.data(), has_wr);
    base::put_bits<25, 8>(w.data(), slot);
    base::put_bits<17, 8>(w.data(), static_cast<uint64_t>(status));
    base::put_bits<16, 1>(w.data(), has_peer_term);
    base::put_bits<0, 16>(w.data(), peer_term);
    return w;
  }
  static QpError from_words(const uint32_t* w) {
    QpError s;
    s.qpn = static_cast<uint16_t>(base::get_bits<43, 16>(w));
    s.cause = static_cast<Cause>(base::get_bits<35, 8>(w));
    s.sends_term = static_cast<uint8_t>(base::get_bits<34, 1>(w));
    s.has_wr = static_cast<uint8_t>(base::get_bits<33, 1>(w));
    s.slot = static_cast<uint8_t>(base::get_bits<25, 8>(w));
    s.status = static_cast<WcStatus>(base::get_bits<17, 8>(w));
    s.has_peer_term = static_cast<uint8_t>(base::get_bits<16, 1>(w));
    s.peer_term = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " cause={}", to_string(cause));
    fmt::format_to(std::back_inserter(s), " sends_term={}", sends_term);
    fmt::format_to(std::back_inserter(s), " has_wr={}", has_wr);
    fmt::format_to(std::back_inserter(s), " slot={}", slot);
    fmt::format_to(std::back_inserter(s), " status={}", to_string(status));
    fmt::format_to(std::back_inserter(s), " has_peer_term={}", has_peer_term);
    fmt::format_to(std::back_inserter(s), " peer_term={}", peer_term);
    return s;
  }
};

/// A message, for a free slot of (qpn, source). done: report slot when the LLP has its last byte.
/// For resp the body is one SGE; of a Flush Response (untagged, length 0) the byte that is read
/// back, or none (num_sge 0); of an Atomic Response 12 bytes inline, of an Atomic Write Response
/// nothing.
/// architecture 5
/// From rdmap to ddp.
struct TxMessageHdr {
  uint16_t qpn = 0;  // 16 bits
  TxSource source{};
  uint8_t is_tagged = 0;  // 1 bit
  RdmapOpcode opcode{};
  uint8_t qn = 0;  // 2 bits
  uint32_t stag = 0;  // 32 bits
  uint64_t tagged_offset = 0;  // 64 bits
  uint32_t length = 0;  // 32 bits
  uint8_t is_inline = 0;  // 1 bit
  uint8_t num_sge = 0;  // 4 bits
  uint8_t done = 0;  // 1 bit
  uint8_t slot = 0;  // 8 bits
  uint8_t has_watermark = 0;  // 1 bit
  uint64_t watermark = 0;  // 64 bits

  static constexpr std::string_view kName = "tx_message_hdr";
  static constexpr size_t kBits = 233;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const TxMessageHdr&, const TxMessageHdr&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<217, 16>(w.data(), qpn);
    base::put_bits<215, 2>(w.data(), static_cast<uint64_t>(source));
    base::put_bits<214, 1>(w.data(), is_tagged);
    base::put_bits<209, 5>(w.data(), static_cast<uint64_t>(opcode));
    base::put_bits<207, 2>(w.data(), qn);
    base::put_bits<175, 32>(w.data(), stag);
    base::put_bits<111, 64>(w.data(), tagged_offset);
    base::put_bits<79, 32>(w.data(), length);
    base::put_bits<78, 1>(w.data(), is_inline);
    base::put_bits<74, 4>(w.data(), num_sge);
    base::put_bits<73, 1>(w.data(), done);
    base::put_bits<65, 8>(w.data(), slot);
    base::put_bits<64, 1>(w.data(), has_watermark);
    base::put_bits<0, 64>(w.data(), watermark);
    return w;
  }
  static TxMessageHdr from_words(const uint32_t* w) {
    TxMessageHdr s;
    s.qpn = static_cast<uint16_t>(base::get_bits<217, 16>(w));
    s.source = static_cast<TxSource>(base::get_bits<215, 2>(w));
    s.is_tagged = static_cast<uint8_t>(base::get_bits<214, 1>(w));
    s.opcode = static_cast<RdmapOpcode>(base::get_bits<209, 5>(w));
    s.qn = static_cast<uint8_t>(base::get_bits<207, 2>(w));
    s.stag = static_cast<uint32_t>(base::get_bits<175, 32>(w));
    s.tagged_offset = static_cast<uint64_t>(base::get_bits<111, 64>(w));
    s.length = static_cast<uint32_t>(base::get_bits<79, 32>(w));
    s.is_inline = static_cast<uint8_t>(base::get_bits<78, 1>(w));
    s.num_sge = static_cast<uint8_t>(base::get_bits<74, 4>(w));
    s.done = static_cast<uint8_t>(base::get_bits<73, 1>(w));
    s.slot = static_cast<uint8_t>(base::get_bits<65, 8>(w));
    s.has_watermark = static_cast<uint8_t>(base::get_bits<64, 1>(w));
    s.watermark = static_cast<uint64_t>(base::get_bits<0, 64>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " source={}", to_string(source));
    fmt::format_to(std::back_inserter(s), " is_tagged={}", is_tagged);
    fmt::format_to(std::back_inserter(s), " opcode={}", to_string(opcode));
    fmt::format_to(std::back_inserter(s), " qn={}", qn);
    fmt::format_to(std::back_inserter(s), " stag={:#x}", stag);
    fmt::format_to(std::back_inserter(s), " tagged_offset={:#x}", tagged_offset);
    fmt::format_to(std::back_inserter(s), " length={}", length);
    fmt::format_to(std::back_inserter(s), " is_inline={}", is_inline);
    fmt::format_to(std::back_inserter(s), " num_sge={}", num_sge);
    fmt::format_to(std::back_inserter(s), " done={}", done);
    fmt::format_to(std::back_inserter(s), " slot={}", slot);
    fmt::format_to(std::back_inserter(s), " has_watermark={}", has_watermark);
    fmt::format_to(std::back_inserter(s), " watermark={}", watermark);
    return s;
  }
};

/// num_sge SGEs (wqe_sge) or length bytes inline: inline data, Terminate, the requests for Read,
/// Flush and atomics, Atomic Write, Atomic Response.
/// architecture 5
/// From rdmap to ddp.
using TxMessage = Beat;

/// ddp has read the last segment of an SQ message from its slot: the slot is free. A QP has
/// sq_slots of them.
/// architecture 5
/// From ddp to qp.
struct SqSlotFree {
  uint16_t qpn = 0;  // 16 bits

  static constexpr std::string_view kName = "sq_slot_free";
  static constexpr size_t kBits = 16;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const SqSlotFree&, const SqSlotFree&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 16>(w.data(), qpn);
    return w;
  }
  static SqSlotFree from_words(const uint32_t* w) {
    SqSlotFree s;
    s.qpn = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    return s;
  }
};

/// The same of a response; of a Flush Response: ddp has sent it, after its read-back. A QP has one
/// slot.
/// architecture 5
/// From ddp to rdmap.
struct RespSlotFree {
  uint16_t qpn = 0;  // 16 bits

  static constexpr std::string_view kName = "resp_slot_free";
  static constexpr size_t kBits = 16;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const RespSlotFree&, const RespSlotFree&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 16>(w.data(), qpn);
    return w;
  }
  static RespSlotFree from_words(const uint32_t* w) {
    RespSlotFree s;
    s.qpn = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    return s;
  }
};

/// The QP has a segment to send; one want a QP at a time, and one for Terminate beside it.
/// architecture 5
/// From ddp to llp_if.
struct TxWant {
  uint16_t qpn = 0;  // 16 bits
  uint8_t is_term = 0;  // 1 bit

  static constexpr std::string_view kName = "tx_want";
  static constexpr size_t kBits = 17;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const TxWant&, const TxWant&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<1, 16>(w.data(), qpn);
    base::put_bits<0, 1>(w.data(), is_term);
    return w;
  }
  static TxWant from_words(const uint32_t* w) {
    TxWant s;
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

/// Credit for one worst-case FPDU is set aside.
/// architecture 5
/// From llp_if to ddp.
struct TxGrant {
  uint16_t qpn = 0;  // 16 bits
  uint8_t is_term = 0;  // 1 bit
  uint16_t mulpdu = 0;  // 16 bits

  static constexpr std::string_view kName = "tx_grant";
  static constexpr size_t kBits = 33;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const TxGrant&, const TxGrant&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<17, 16>(w.data(), qpn);
    base::put_bits<16, 1>(w.data(), is_term);
    base::put_bits<0, 16>(w.data(), mulpdu);
    return w;
  }
  static TxGrant from_words(const uint32_t* w) {
    TxGrant s;
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

/// A piece of a segment; last ends the segment. rights 0: reading local memory needs none.
/// architecture 4 (Keys at work)
/// From ddp to tpt.
using TxXlate = WqeCheck;

/// A segment's payload could not be read; nothing more of its message is sent. offset: bytes of the
/// message in earlier segments.
/// architecture 5
/// From ddp to rdmap.
struct TxFault {
  uint16_t qpn = 0;  // 16 bits
  TxSource source{};
  uint8_t slot = 0;  // 8 bits
  uint32_t offset = 0;  // 32 bits
  RdStatus status{};
  TptResult result{};

  static constexpr std::string_view kName = "tx_fault";
  static constexpr size_t kBits = 63;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const TxFault&, const TxFault&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<47, 16>(w.data(), qpn);
    base::put_bits<45, 2>(w.data(), static_cast<uint64_t>(source));
    base::put_bits<37, 8>(w.data(), slot);
    base::put_bits<5, 32>(w.data(), offset);
    base::put_bits<3, 2>(w.data(), static_cast<uint64_t>(status));
    base::put_bits<0, 3>(w.data(), static_cast<uint64_t>(result));
    return w;
  }
  static TxFault from_words(const uint32_t* w) {
    TxFault s;
    s.qpn = static_cast<uint16_t>(base::get_bits<47, 16>(w));
    s.source = static_cast<TxSource>(base::get_bits<45, 2>(w));
    s.slot = static_cast<uint8_t>(base::get_bits<37, 8>(w));
    s.offset = static_cast<uint32_t>(base::get_bits<5, 32>(w));
    s.status = static_cast<RdStatus>(base::get_bits<3, 2>(w));
    s.result = static_cast<TptResult>(base::get_bits<0, 3>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " source={}", to_string(source));
    fmt::format_to(std::back_inserter(s), " slot={}", slot);
    fmt::format_to(std::back_inserter(s), " offset={:#x}", offset);
    fmt::format_to(std::back_inserter(s), " status={}", to_string(status));
    fmt::format_to(std::back_inserter(s), " result={}", to_string(result));
    return s;
  }
};

/// A ULPDU. done, slot: report when taken. is_term: FIN follows.
/// architecture 5
/// From ddp to mpa.
struct TxUlpduHdr {
  uint16_t qpn = 0;  // 16 bits
  uint16_t length = 0;  // 16 bits
  uint8_t done = 0;  // 1 bit
  uint8_t slot = 0;  // 8 bits
  uint8_t is_term = 0;  // 1 bit

  static constexpr std::string_view kName = "tx_ulpdu_hdr";
  static constexpr size_t kBits = 42;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const TxUlpduHdr&, const TxUlpduHdr&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<26, 16>(w.data(), qpn);
    base::put_bits<10, 16>(w.data(), length);
    base::put_bits<9, 1>(w.data(), done);
    base::put_bits<1, 8>(w.data(), slot);
    base::put_bits<0, 1>(w.data(), is_term);
    return w;
  }
  static TxUlpduHdr from_words(const uint32_t* w) {
    TxUlpduHdr s;
    s.qpn = static_cast<uint16_t>(base::get_bits<26, 16>(w));
    s.length = static_cast<uint16_t>(base::get_bits<10, 16>(w));
    s.done = static_cast<uint8_t>(base::get_bits<9, 1>(w));
    s.slot = static_cast<uint8_t>(base::get_bits<1, 8>(w));
    s.is_term = static_cast<uint8_t>(base::get_bits<0, 1>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " length={}", length);
    fmt::format_to(std::back_inserter(s), " done={}", done);
    fmt::format_to(std::back_inserter(s), " slot={}", slot);
    fmt::format_to(std::back_inserter(s), " is_term={}", is_term);
    return s;
  }
};

/// DDP header and payload.
/// architecture 5
/// From ddp to mpa.
using TxUlpdu = Beat;

/// A FPDU.
/// architecture 5
/// From mpa to llp_if.
struct TxFpduHdr {
  uint16_t qpn = 0;  // 16 bits
  uint32_t length = 0;  // 17 bits
  uint8_t done = 0;  // 1 bit
  uint8_t slot = 0;  // 8 bits
  uint8_t is_term = 0;  // 1 bit

  static constexpr std::string_view kName = "tx_fpdu_hdr";
  static constexpr size_t kBits = 43;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const TxFpduHdr&, const TxFpduHdr&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<27, 16>(w.data(), qpn);
    base::put_bits<10, 17>(w.data(), length);
    base::put_bits<9, 1>(w.data(), done);
    base::put_bits<1, 8>(w.data(), slot);
    base::put_bits<0, 1>(w.data(), is_term);
    return w;
  }
  static TxFpduHdr from_words(const uint32_t* w) {
    TxFpduHdr s;
    s.qpn = static_cast<uint16_t>(base::get_bits<27, 16>(w));
    s.length = static_cast<uint32_t>(base::get_bits<10, 17>(w));
    s.done = static_cast<uint8_t>(base::get_bits<9, 1>(w));
    s.slot = static_cast<uint8_t>(base::get_bits<1, 8>(w));
    s.is_term = static_cast<uint8_t>(base::get_bits<0, 1>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " length={}", length);
    fmt::format_to(std::back_inserter(s), " done={}", done);
    fmt::format_to(std::back_inserter(s), " slot={}", slot);
    fmt::format_to(std::back_inserter(s), " is_term={}", is_term);
    return s;
  }
};

/// Length, ULPDU, pad, CRC, markers.
/// architecture 5
/// From mpa to llp_if.
using TxFpdu = Beat;

/// The LLP has the last byte of this request's message.
/// architecture 5
/// From llp_if to qp.
struct WrDone {
  uint16_t qpn = 0;  // 16 bits
  uint8_t slot = 0;  // 8 bits

  static constexpr std::string_view kName = "wr_done";
  static constexpr size_t kBits = 24;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const WrDone&, const WrDone&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<8, 16>(w.data(), qpn);
    base::put_bits<0, 8>(w.data(), slot);
    return w;
  }
  static WrDone from_words(const uint32_t* w) {
    WrDone s;
    s.qpn = static_cast<uint16_t>(base::get_bits<8, 16>(w));
    s.slot = static_cast<uint8_t>(base::get_bits<0, 8>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " slot={}", slot);
    return s;
  }
};

/// A FPDU of a QP.
/// architecture 5
/// From llp_if to mpa.
struct RxFpduHdr {
  uint16_t qpn = 0;  // 16 bits
  uint32_t length = 0;  // 17 bits

  static constexpr std::string_view kName = "rx_fpdu_hdr";
  static constexpr size_t kBits = 33;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const RxFpduHdr&, const RxFpduHdr&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<17, 16>(w.data(), qpn);
    base::put_bits<0, 17>(w.data(), length);
    return w;
  }
  static RxFpduHdr from_words(const uint32_t* w) {
    RxFpduHdr s;
    s.qpn = static_cast<uint16_t>(base::get_bits<17, 16>(w));
    s.length = static_cast<uint32_t>(base::get_bits<0, 17>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " length={}", length);
    return s;
  }
};

/// Its bytes; error: the record is damaged, counts as a bad CRC.
/// architecture 5
/// From llp_if to mpa.
using RxFpdu = Beat;

/// A checked ULPDU; with a cause one empty beat follows.
/// architecture 5
/// From mpa to ddp.
struct RxUlpduHdr {
  uint16_t qpn = 0;  // 16 bits
  uint16_t length = 0;  // 16 bits
  Cause cause{};

  static constexpr std::string_view kName = "rx_ulpdu_hdr";
  static constexpr size_t kBits = 40;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const RxUlpduHdr&, const RxUlpduHdr&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<24, 16>(w.data(), qpn);
    base::put_bits<8, 16>(w.data(), length);
    base::put_bits<0, 8>(w.data(), static_cast<uint64_t>(cause));
    return w;
  }
  static RxUlpduHdr from_words(const uint32_t* w) {
    RxUlpduHdr s;
    s.qpn = static_cast<uint16_t>(base::get_bits<24, 16>(w));
    s.length = static_cast<uint16_t>(base::get_bits<8, 16>(w));
    s.cause = static_cast<Cause>(base::get_bits<0, 8>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " length={}", length);
    fmt::format_to(std::back_inserter(s), " cause={}", to_string(cause));
    return s;
  }
};

/// The ULPDU.
/// architecture 5
/// From mpa to ddp.
using RxUlpdu = Beat;

/// 1 to 3 pieces of a received segment; last ends it. Before those of the last segment of a Send
/// with Invalidate, its STag (invalidate).
/// architecture 4 (Keys at work)
/// From ddp to tpt.
using RxXlate = WqeCheck;

/// One a segment, before its extents: the first failure (then no extents), or ok. invalidate: the
/// failure is that of the STag to be invalidated.
/// architecture 4 (Keys at work)
/// From tpt to ddp.
struct RxXlateRsp {
  TptResult result{};
  uint8_t invalidate = 0;  // 1 bit

  static constexpr std::string_view kName = "rx_xlate_rsp";
  static constexpr size_t kBits = 4;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const RxXlateRsp&, const RxXlateRsp&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<1, 3>(w.data(), static_cast<uint64_t>(result));
    base::put_bits<0, 1>(w.data(), invalidate);
    return w;
  }
  static RxXlateRsp from_words(const uint32_t* w) {
    RxXlateRsp s;
    s.result = static_cast<TptResult>(base::get_bits<1, 3>(w));
    s.invalidate = static_cast<uint8_t>(base::get_bits<0, 1>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "result={}", to_string(result));
    fmt::format_to(std::back_inserter(s), " invalidate={}", invalidate);
    return s;
  }
};

/// Extents of a segment that was found good.
/// architecture 4 (Keys at work)
/// From tpt to ddp.
using RxExtent = Extent;

/// One for each rx_extent that was not passed on. Always taken.
/// architecture 6
/// From ddp to tpt.
using RxDropped = Retired;

/// A received segment after all of DDP's checks. head: its first 70 bytes as they came
/// (ulpdu_length of them valid). persist: the extensions are enabled on its stream.
/// architecture 5
/// From ddp to rdmap.
struct RxSegment {
  uint16_t qpn = 0;  // 16 bits
  uint8_t persist = 0;  // 1 bit
  Cause cause{};
  uint16_t ulpdu_length = 0;  // 16 bits
  std::array<uint8_t, 70> head{};

  static constexpr std::string_view kName = "rx_segment";
  static constexpr size_t kBits = 601;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const RxSegment&, const RxSegment&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<585, 16>(w.data(), qpn);
    base::put_bits<584, 1>(w.data(), persist);
    base::put_bits<576, 8>(w.data(), static_cast<uint64_t>(cause));
    base::put_bits<560, 16>(w.data(), ulpdu_length);
    base::put_bytes<0, 560>(w.data(), head.data());
    return w;
  }
  static RxSegment from_words(const uint32_t* w) {
    RxSegment s;
    s.qpn = static_cast<uint16_t>(base::get_bits<585, 16>(w));
    s.persist = static_cast<uint8_t>(base::get_bits<584, 1>(w));
    s.cause = static_cast<Cause>(base::get_bits<576, 8>(w));
    s.ulpdu_length = static_cast<uint16_t>(base::get_bits<560, 16>(w));
    base::get_bytes<0, 560>(w, s.head.data());
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " persist={}", persist);
    fmt::format_to(std::back_inserter(s), " cause={}", to_string(cause));
    fmt::format_to(std::back_inserter(s), " ulpdu_length={}", ulpdu_length);
    fmt::format_to(std::back_inserter(s), " head={}", base::short_hex(head));
    return s;
  }
};

/// In order. accept 0: drop. place: its payload goes to memory. slot: of the Read, Flush or Atomic
/// Write that completes. immediate: the 8 bytes of Immediate Data, the first on the wire in the top
/// bits. Of a Send with Invalidate: the STag, in the low half.
/// architecture 5
/// From rdmap to ddp.
struct RxVerdict {
  uint8_t accept = 0;  // 1 bit
  uint8_t place = 0;  // 1 bit
  DeliverKind deliver{};
  uint8_t solicited = 0;  // 1 bit
  uint8_t slot = 0;  // 8 bits
  uint64_t immediate = 0;  // 64 bits

  static constexpr std::string_view kName = "rx_verdict";
  static constexpr size_t kBits = 78;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const RxVerdict&, const RxVerdict&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<77, 1>(w.data(), accept);
    base::put_bits<76, 1>(w.data(), place);
    base::put_bits<73, 3>(w.data(), static_cast<uint64_t>(deliver));
    base::put_bits<72, 1>(w.data(), solicited);
    base::put_bits<64, 8>(w.data(), slot);
    base::put_bits<0, 64>(w.data(), immediate);
    return w;
  }
  static RxVerdict from_words(const uint32_t* w) {
    RxVerdict s;
    s.accept = static_cast<uint8_t>(base::get_bits<77, 1>(w));
    s.place = static_cast<uint8_t>(base::get_bits<76, 1>(w));
    s.deliver = static_cast<DeliverKind>(base::get_bits<73, 3>(w));
    s.solicited = static_cast<uint8_t>(base::get_bits<72, 1>(w));
    s.slot = static_cast<uint8_t>(base::get_bits<64, 8>(w));
    s.immediate = static_cast<uint64_t>(base::get_bits<0, 64>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "accept={}", accept);
    fmt::format_to(std::back_inserter(s), " place={}", place);
    fmt::format_to(std::back_inserter(s), " deliver={}", to_string(deliver));
    fmt::format_to(std::back_inserter(s), " solicited={}", solicited);
    fmt::format_to(std::back_inserter(s), " slot={}", slot);
    fmt::format_to(std::back_inserter(s), " immediate={}", immediate);
    return s;
  }
};

/// Placed, and to be reported: a receive (index, byte_len, status; immediate) or a Read, Flush or
/// Atomic Write (slot). A WQE that was taken from an SRQ is always reported, with wr_flush_err if
/// its message does not end.
/// architecture 5
/// From ddp to qp.
struct RxDone {
  uint16_t qpn = 0;  // 16 bits
  DeliverKind kind{};
  uint8_t slot = 0;  // 8 bits
  uint16_t index = 0;  // 16 bits
  uint32_t byte_len = 0;  // 32 bits
  uint8_t solicited = 0;  // 1 bit
  WcStatus status{};
  uint64_t immediate = 0;  // 64 bits

  static constexpr std::string_view kName = "rx_done";
  static constexpr size_t kBits = 148;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const RxDone&, const RxDone&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<132, 16>(w.data(), qpn);
    base::put_bits<129, 3>(w.data(), static_cast<uint64_t>(kind));
    base::put_bits<121, 8>(w.data(), slot);
    base::put_bits<105, 16>(w.data(), index);
    base::put_bits<73, 32>(w.data(), byte_len);
    base::put_bits<72, 1>(w.data(), solicited);
    base::put_bits<64, 8>(w.data(), static_cast<uint64_t>(status));
    base::put_bits<0, 64>(w.data(), immediate);
    return w;
  }
  static RxDone from_words(const uint32_t* w) {
    RxDone s;
    s.qpn = static_cast<uint16_t>(base::get_bits<132, 16>(w));
    s.kind = static_cast<DeliverKind>(base::get_bits<129, 3>(w));
    s.slot = static_cast<uint8_t>(base::get_bits<121, 8>(w));
    s.index = static_cast<uint16_t>(base::get_bits<105, 16>(w));
    s.byte_len = static_cast<uint32_t>(base::get_bits<73, 32>(w));
    s.solicited = static_cast<uint8_t>(base::get_bits<72, 1>(w));
    s.status = static_cast<WcStatus>(base::get_bits<64, 8>(w));
    s.immediate = static_cast<uint64_t>(base::get_bits<0, 64>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " kind={}", to_string(kind));
    fmt::format_to(std::back_inserter(s), " slot={}", slot);
    fmt::format_to(std::back_inserter(s), " index={}", index);
    fmt::format_to(std::back_inserter(s), " byte_len={}", byte_len);
    fmt::format_to(std::back_inserter(s), " solicited={}", solicited);
    fmt::format_to(std::back_inserter(s), " status={}", to_string(status));
    fmt::format_to(std::back_inserter(s), " immediate={}", immediate);
    return s;
  }
};

/// A Send with Invalidate is placed: close its STag.
/// RFC 5040 section 5.3
/// From ddp to tpt.
struct Invalidate {
  uint32_t stag = 0;  // 32 bits

  static constexpr std::string_view kName = "invalidate";
  static constexpr size_t kBits = 32;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const Invalidate&, const Invalidate&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 32>(w.data(), stag);
    return w;
  }
  static Invalidate from_words(const uint32_t* w) {
    Invalidate s;
    s.stag = static_cast<uint32_t>(base::get_bits<0, 32>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "stag={:#x}", stag);
    return s;
  }
};

/// One for each invalidate, in order: the STag is closed, and nothing through it is in flight.
/// Always taken.
/// RFC 5040 section 5.3
/// From tpt to ddp.
struct Invalidated {
  uint32_t stag = 0;  // 32 bits

  static constexpr std::string_view kName = "invalidated";
  static constexpr size_t kBits = 32;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const Invalidated&, const Invalidated&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 32>(w.data(), stag);
    return w;
  }
  static Invalidated from_words(const uint32_t* w) {
    Invalidated s;
    s.stag = static_cast<uint32_t>(base::get_bits<0, 32>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "stag={:#x}", stag);
    return s;
  }
};

/// A request of the send queue to our own table: close the STag, register memory under it (is_reg;
/// operands: reg_operands), or bind it (is_bind; bind_operands).
/// architecture 6
/// From rdmap to tpt.
struct SqLocal {
  uint16_t qpn = 0;  // 16 bits
  uint8_t slot = 0;  // 8 bits
  uint32_t stag = 0;  // 32 bits
  uint8_t is_reg = 0;  // 1 bit
  uint8_t is_bind = 0;  // 1 bit
  uint16_t pd = 0;  // 16 bits
  uint64_t base = 0;  // 64 bits
  std::array<uint8_t, 32> operands{};

  static constexpr std::string_view kName = "sq_local";
  static constexpr size_t kBits = 394;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const SqLocal&, const SqLocal&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<378, 16>(w.data(), qpn);
    base::put_bits<370, 8>(w.data(), slot);
    base::put_bits<338, 32>(w.data(), stag);
    base::put_bits<337, 1>(w.data(), is_reg);
    base::put_bits<336, 1>(w.data(), is_bind);
    base::put_bits<320, 16>(w.data(), pd);
    base::put_bits<256, 64>(w.data(), base);
    base::put_bytes<0, 256>(w.data(), operands.data());
    return w;
  }
  static SqLocal from_words(const uint32_t* w) {
    SqLocal s;
    s.qpn = static_cast<uint16_t>(base::get_bits<378, 16>(w));
    s.slot = static_cast<uint8_t>(base::get_bits<370, 8>(w));
    s.stag = static_cast<uint32_t>(base::get_bits<338, 32>(w));
    s.is_reg = static_cast<uint8_t>(base::get_bits<337, 1>(w));
    s.is_bind = static_cast<uint8_t>(base::get_bits<336, 1>(w));
    s.pd = static_cast<uint16_t>(base::get_bits<320, 16>(w));
    s.base = static_cast<uint64_t>(base::get_bits<256, 64>(w));
    base::get_bytes<0, 256>(w, s.operands.data());
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " slot={}", slot);
    fmt::format_to(std::back_inserter(s), " stag={:#x}", stag);
    fmt::format_to(std::back_inserter(s), " is_reg={}", is_reg);
    fmt::format_to(std::back_inserter(s), " is_bind={}", is_bind);
    fmt::format_to(std::back_inserter(s), " pd={}", pd);
    fmt::format_to(std::back_inserter(s), " base={}", base);
    fmt::format_to(std::back_inserter(s), " operands={}", base::short_hex(operands));
    return s;
  }
};

/// One for each sq_local. Invalidations come in their order, registrations in theirs. Exception: a
/// refused registration, or a bind, may overtake registrations that are reading their page lists.
/// result and status ok: the STag is closed and nothing through it is in flight, or the memory is
/// registered, or the window is bound or unbound. Otherwise the request has failed: result bind, or
/// status if its page list could not be read.
/// architecture 6
/// From tpt to rdmap.
struct SqLocalDone {
  uint16_t qpn = 0;  // 16 bits
  uint8_t slot = 0;  // 8 bits
  TptResult result{};
  RdStatus status{};

  static constexpr std::string_view kName = "sq_local_done";
  static constexpr size_t kBits = 29;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const SqLocalDone&, const SqLocalDone&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<13, 16>(w.data(), qpn);
    base::put_bits<5, 8>(w.data(), slot);
    base::put_bits<2, 3>(w.data(), static_cast<uint64_t>(result));
    base::put_bits<0, 2>(w.data(), static_cast<uint64_t>(status));
    return w;
  }
  static SqLocalDone from_words(const uint32_t* w) {
    SqLocalDone s;
    s.qpn = static_cast<uint16_t>(base::get_bits<13, 16>(w));
    s.slot = static_cast<uint8_t>(base::get_bits<5, 8>(w));
    s.result = static_cast<TptResult>(base::get_bits<2, 3>(w));
    s.status = static_cast<RdStatus>(base::get_bits<0, 2>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " slot={}", slot);
    fmt::format_to(std::back_inserter(s), " result={}", to_string(result));
    fmt::format_to(std::back_inserter(s), " status={}", to_string(status));
    return s;
  }
};

/// A request whose turn has come: all before it is placed, and what earlier Reads of the QP ask for
/// is fetched. At most one a QP, and 64 in all; results of our own atomics (at most 8) are counted
/// separately. tagged_offset, stag: the target; of result the local sink. Values are integers.
/// right: what the STag needs.
/// RFC 7306 section 5
/// From rdmap to atomic.
struct AtomicReq {
  AtomicOp op{};
  uint16_t qpn = 0;  // 16 bits
  uint16_t pd = 0;  // 16 bits
  uint8_t slot = 0;  // 8 bits
  uint32_t stag = 0;  // 32 bits
  uint64_t tagged_offset = 0;  // 64 bits
  uint16_t right = 0;  // 16 bits
  uint64_t data = 0;  // 64 bits
  uint64_t mask = 0;  // 64 bits
  uint64_t compare = 0;  // 64 bits
  uint64_t compare_mask = 0;  // 64 bits

  static constexpr std::string_view kName = "atomic_req";
  static constexpr size_t kBits = 410;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const AtomicReq&, const AtomicReq&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<408, 2>(w.data(), static_cast<uint64_t>(op));
    base::put_bits<392, 16>(w.data(), qpn);
    base::put_bits<376, 16>(w.data(), pd);
    base::put_bits<368, 8>(w.data(), slot);
    base::put_bits<336, 32>(w.data(), stag);
    base::put_bits<272, 64>(w.data(), tagged_offset);
    base::put_bits<256, 16>(w.data(), right);
    base::put_bits<192, 64>(w.data(), data);
    base::put_bits<128, 64>(w.data(), mask);
    base::put_bits<64, 64>(w.data(), compare);
    base::put_bits<0, 64>(w.data(), compare_mask);
    return w;
  }
  static AtomicReq from_words(const uint32_t* w) {
    AtomicReq s;
    s.op = static_cast<AtomicOp>(base::get_bits<408, 2>(w));
    s.qpn = static_cast<uint16_t>(base::get_bits<392, 16>(w));
    s.pd = static_cast<uint16_t>(base::get_bits<376, 16>(w));
    s.slot = static_cast<uint8_t>(base::get_bits<368, 8>(w));
    s.stag = static_cast<uint32_t>(base::get_bits<336, 32>(w));
    s.tagged_offset = static_cast<uint64_t>(base::get_bits<272, 64>(w));
    s.right = static_cast<uint16_t>(base::get_bits<256, 16>(w));
    s.data = static_cast<uint64_t>(base::get_bits<192, 64>(w));
    s.mask = static_cast<uint64_t>(base::get_bits<128, 64>(w));
    s.compare = static_cast<uint64_t>(base::get_bits<64, 64>(w));
    s.compare_mask = static_cast<uint64_t>(base::get_bits<0, 64>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "op={}", to_string(op));
    fmt::format_to(std::back_inserter(s), " qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " pd={}", pd);
    fmt::format_to(std::back_inserter(s), " slot={}", slot);
    fmt::format_to(std::back_inserter(s), " stag={:#x}", stag);
    fmt::format_to(std::back_inserter(s), " tagged_offset={:#x}", tagged_offset);
    fmt::format_to(std::back_inserter(s), " right={}", right);
    fmt::format_to(std::back_inserter(s), " data={:#x}", data);
    fmt::format_to(std::back_inserter(s), " mask={:#x}", mask);
    fmt::format_to(std::back_inserter(s), " compare={}", compare);
    fmt::format_to(std::back_inserter(s), " compare_mask={:#x}", compare_mask);
    return s;
  }
};

/// A QP has stopped or failed: a request of it that is not begun is dropped. Always taken.
/// architecture 4
/// From rdmap to atomic.
struct AtomicDead {
  uint16_t qpn = 0;  // 16 bits

  static constexpr std::string_view kName = "atomic_dead";
  static constexpr size_t kBits = 16;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const AtomicDead&, const AtomicDead&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 16>(w.data(), qpn);
    return w;
  }
  static AtomicDead from_words(const uint32_t* w) {
    AtomicDead s;
    s.qpn = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    return s;
  }
};

/// One for each atomic_req; those of one QP and kind in order. value: the old value. rdmap takes
/// each one in the end: it waits only for ddp and qp, never for atomic.
/// RFC 7306 section 5
/// From atomic to rdmap.
struct AtomicRsp {
  AtomicOp op{};
  uint16_t qpn = 0;  // 16 bits
  uint8_t slot = 0;  // 8 bits
  AtomicEnd ending{};
  TptResult result{};
  RdStatus status{};
  uint64_t value = 0;  // 64 bits

  static constexpr std::string_view kName = "atomic_rsp";
  static constexpr size_t kBits = 97;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const AtomicRsp&, const AtomicRsp&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<95, 2>(w.data(), static_cast<uint64_t>(op));
    base::put_bits<79, 16>(w.data(), qpn);
    base::put_bits<71, 8>(w.data(), slot);
    base::put_bits<69, 2>(w.data(), static_cast<uint64_t>(ending));
    base::put_bits<66, 3>(w.data(), static_cast<uint64_t>(result));
    base::put_bits<64, 2>(w.data(), static_cast<uint64_t>(status));
    base::put_bits<0, 64>(w.data(), value);
    return w;
  }
  static AtomicRsp from_words(const uint32_t* w) {
    AtomicRsp s;
    s.op = static_cast<AtomicOp>(base::get_bits<95, 2>(w));
    s.qpn = static_cast<uint16_t>(base::get_bits<79, 16>(w));
    s.slot = static_cast<uint8_t>(base::get_bits<71, 8>(w));
    s.ending = static_cast<AtomicEnd>(base::get_bits<69, 2>(w));
    s.result = static_cast<TptResult>(base::get_bits<66, 3>(w));
    s.status = static_cast<RdStatus>(base::get_bits<64, 2>(w));
    s.value = static_cast<uint64_t>(base::get_bits<0, 64>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "op={}", to_string(op));
    fmt::format_to(std::back_inserter(s), " qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " slot={}", slot);
    fmt::format_to(std::back_inserter(s), " ending={}", to_string(ending));
    fmt::format_to(std::back_inserter(s), " result={}", to_string(result));
    fmt::format_to(std::back_inserter(s), " status={}", to_string(status));
    fmt::format_to(std::back_inserter(s), " value={}", value);
    return s;
  }
};

/// The 8 bytes of an atomic, one item a group.
/// architecture 4 (Keys at work)
/// From atomic to tpt.
using Qn1Xlate = WqeCheck;

/// Its one extent, in the order of qn1_xlate; 8 aligned bytes never cross a page. A failed check
/// gives length 0 and the result.
/// architecture 4 (Keys at work)
/// From tpt to atomic.
using Qn1Extent = Extent;

/// One for each qn1_extent (failed ones too): stored, or nothing to store. Always taken.
/// architecture 6
/// From atomic to tpt.
using Qn1Retired = Retired;

/// Read of an old value: 8 bytes.
/// architecture 3.2
/// From atomic to host_if.
using Qn1RdReq = RdReq;

/// The same.
/// architecture 3.2
/// From host_if to atomic.
using Qn1RdHdr = RdHdr;

/// The same.
/// architecture 3.2
/// From host_if to atomic.
using Qn1Rd = Beat;

/// Page lists of fast registrations.
/// architecture 3.2
/// From tpt to host_if.
using RegRdReq = RdReq;

/// The same.
/// architecture 3.2
/// From host_if to tpt.
using RegRdHdr = RdHdr;

/// The same.
/// architecture 3.2
/// From host_if to tpt.
using RegRd = Beat;

/// Store 8 bytes at an address aligned to 8.
/// architecture 3.2
/// From atomic to host_if.
struct WordWr {
  uint64_t address = 0;  // 64 bits
  uint64_t data = 0;  // 64 bits

  static constexpr std::string_view kName = "word_wr";
  static constexpr size_t kBits = 128;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const WordWr&, const WordWr&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<64, 64>(w.data(), address);
    base::put_bits<0, 64>(w.data(), data);
    return w;
  }
  static WordWr from_words(const uint32_t* w) {
    WordWr s;
    s.address = static_cast<uint64_t>(base::get_bits<64, 64>(w));
    s.data = static_cast<uint64_t>(base::get_bits<0, 64>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "address={:#x}", address);
    fmt::format_to(std::back_inserter(s), " data={:#x}", data);
    return s;
  }
};

/// One for each word_wr, in order: it was accepted on dma_wr. Always taken. count: words since
/// reset, modulo 2^16; only benches use it.
/// architecture 3.2
/// From host_if to atomic.
struct WordDone {
  uint16_t count = 0;  // 16 bits

  static constexpr std::string_view kName = "word_done";
  static constexpr size_t kBits = 16;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const WordDone&, const WordDone&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 16>(w.data(), count);
    return w;
  }
  static WordDone from_words(const uint32_t* w) {
    WordDone s;
    s.count = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "count={}", count);
    return s;
  }
};

/// All payload of a Read Response of this QP has been read without error. Not sent for a response
/// of size 0, nor for one that ddp drops, whose QP has failed or stopped.
/// RFC 7306 section 7
/// From ddp to rdmap.
struct RespFetched {
  uint16_t qpn = 0;  // 16 bits

  static constexpr std::string_view kName = "resp_fetched";
  static constexpr size_t kBits = 16;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const RespFetched&, const RespFetched&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 16>(w.data(), qpn);
    return w;
  }
  static RespFetched from_words(const uint32_t* w) {
    RespFetched s;
    s.qpn = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    return s;
  }
};

/// The result of an atomic is stored, or a request to our own table is done: the request in slot is
/// complete.
/// RFC 7306 section 5
/// From rdmap to qp.
struct ResDone {
  uint16_t qpn = 0;  // 16 bits
  uint8_t slot = 0;  // 8 bits

  static constexpr std::string_view kName = "res_done";
  static constexpr size_t kBits = 24;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const ResDone&, const ResDone&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<8, 16>(w.data(), qpn);
    base::put_bits<0, 8>(w.data(), slot);
    return w;
  }
  static ResDone from_words(const uint32_t* w) {
    ResDone s;
    s.qpn = static_cast<uint16_t>(base::get_bits<8, 16>(w));
    s.slot = static_cast<uint8_t>(base::get_bits<0, 8>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " slot={}", slot);
    return s;
  }
};

/// The source of a Read, whole, when its service begins.
/// architecture 5
/// From rdmap to tpt.
using RespCheck = WqeCheck;

/// Answer.
/// architecture 5
/// From tpt to rdmap.
using RespCheckRsp = WqeCheckRsp;

/// Of a connection that a QP has taken.
/// architecture 7
/// From llp_if to qp.
struct LlpEvent {
  uint16_t qpn = 0;  // 16 bits
  LlpQpEvt kind{};

  static constexpr std::string_view kName = "llp_event";
  static constexpr size_t kBits = 19;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const LlpEvent&, const LlpEvent&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<3, 16>(w.data(), qpn);
    base::put_bits<0, 3>(w.data(), static_cast<uint64_t>(kind));
    return w;
  }
  static LlpEvent from_words(const uint32_t* w) {
    LlpEvent s;
    s.qpn = static_cast<uint16_t>(base::get_bits<3, 16>(w));
    s.kind = static_cast<LlpQpEvt>(base::get_bits<0, 3>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " kind={}", to_string(kind));
    return s;
  }
};

/// A connection that no QP has taken changed.
/// architecture 7
/// From llp_if to cq.
struct ConnAsync {
  uint16_t connection = 0;  // 16 bits

  static constexpr std::string_view kName = "conn_async";
  static constexpr size_t kBits = 16;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const ConnAsync&, const ConnAsync&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 16>(w.data(), connection);
    return w;
  }
  static ConnAsync from_words(const uint32_t* w) {
    ConnAsync s;
    s.connection = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    return s;
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "connection={}", connection);
    return s;
  }
};

}  // namespace rnic::spec

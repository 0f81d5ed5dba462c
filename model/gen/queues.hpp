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

namespace rnic::spec {

/// Opcode of a send WQE; values are verbs'.
/// architecture 13; rdma-core libibverbs/verbs.h enum ibv_wr_opcode
enum class WrOpcode : uint8_t {
  kRdmaWrite = 0x0,  // RDMA Write.
  kRdmaWriteWithImm = 0x1,  // Immediate Data that ends a Write with Immediate: length 8, inline. Its Write is the WQE before it.
  kSend = 0x2,  // Send; with the solicited flag Send with SE.
  kSendWithImm = 0x3,  // Never valid on iWARP.
  kRdmaRead = 0x4,  // RDMA Read; one SGE.
  kAtomicCmpAndSwp = 0x5,  // Compare and swap; length 48, inline: atomic_operands.
  kAtomicFetchAndAdd = 0x6,  // Fetch and add; length 48, inline: atomic_operands.
  kLocalInv = 0x7,  // Invalidate an STag of our own: no SGE, not inline, length 0. rkey: the STag.
  kBindMw = 0x8,  // Bind of a memory window; length 32, inline: bind_operands. rkey: the new STag, remote_address: TO of the first byte.
  kSendWithInv = 0x9,  // Send with Invalidate; with the solicited flag Send with SE and Invalidate. rkey: the STag of the peer that it invalidates.
  kFlush = 0xe,  // RDMA Flush; no SGE. length, remote_address, rkey: the range; disposition: what it shall be.
  kAtomicWrite = 0xf,  // Atomic Write; length 8, inline: the value.
  kRegMr = 0x20,  // Fast registration; length 32, inline: reg_operands. rkey: the new STag, remote_address: TO of the first byte. Only on a privileged QP.
  kImmediate = 0x80,  // Immediate Data; length 8, inline; with the solicited flag Immediate Data with SE. Our extension of verbs.
};
inline constexpr std::array<WrOpcode, 14> kAllWrOpcode = {{
    WrOpcode::kRdmaWrite, WrOpcode::kRdmaWriteWithImm, WrOpcode::kSend, WrOpcode::kSendWithImm,
    WrOpcode::kRdmaRead, WrOpcode::kAtomicCmpAndSwp, WrOpcode::kAtomicFetchAndAdd, WrOpcode::kLocalInv,
    WrOpcode::kBindMw, WrOpcode::kSendWithInv, WrOpcode::kFlush, WrOpcode::kAtomicWrite,
    WrOpcode::kRegMr, WrOpcode::kImmediate}};
constexpr std::string_view to_string(WrOpcode v) {
  switch (v) {
    case WrOpcode::kRdmaWrite: return "rdma_write";
    case WrOpcode::kRdmaWriteWithImm: return "rdma_write_with_imm";
    case WrOpcode::kSend: return "send";
    case WrOpcode::kSendWithImm: return "send_with_imm";
    case WrOpcode::kRdmaRead: return "rdma_read";
    case WrOpcode::kAtomicCmpAndSwp: return "atomic_cmp_and_swp";
    case WrOpcode::kAtomicFetchAndAdd: return "atomic_fetch_and_add";
    case WrOpcode::kLocalInv: return "local_inv";
    case WrOpcode::kBindMw: return "bind_mw";
    case WrOpcode::kSendWithInv: return "send_with_inv";
    case WrOpcode::kFlush: return "flush";
    case WrOpcode::kAtomicWrite: return "atomic_write";
    case WrOpcode::kRegMr: return "reg_mr";
    case WrOpcode::kImmediate: return "immediate";
  }
  return "unknown";
}

/// What completed; values are verbs'.
/// architecture 13; rdma-core libibverbs/verbs.h enum ibv_wc_opcode
enum class WcOpcode : uint8_t {
  kSend = 0x0,  // Send.
  kRdmaWrite = 0x1,  // RDMA Write.
  kRdmaRead = 0x2,  // RDMA Read.
  kCompSwap = 0x3,  // Compare and swap.
  kFetchAdd = 0x4,  // Fetch and add.
  kBindMw = 0x5,  // Bind of a memory window.
  kLocalInv = 0x6,  // Invalidation of a local STag.
  kFlush = 0x8,  // RDMA Flush.
  kAtomicWrite = 0x9,  // Atomic Write.
  kRegMr = 0xa,  // Fast registration.
  kRecv = 0x80,  // Receive.
  kRecvRdmaWithImm = 0x81,  // Receive that took Immediate Data. byte_len: bytes of the last Write of the QP since its last message on QN 0.
};
inline constexpr std::array<WcOpcode, 12> kAllWcOpcode = {{
    WcOpcode::kSend, WcOpcode::kRdmaWrite, WcOpcode::kRdmaRead, WcOpcode::kCompSwap,
    WcOpcode::kFetchAdd, WcOpcode::kBindMw, WcOpcode::kLocalInv, WcOpcode::kFlush,
    WcOpcode::kAtomicWrite, WcOpcode::kRegMr, WcOpcode::kRecv, WcOpcode::kRecvRdmaWithImm}};
constexpr std::string_view to_string(WcOpcode v) {
  switch (v) {
    case WcOpcode::kSend: return "send";
    case WcOpcode::kRdmaWrite: return "rdma_write";
    case WcOpcode::kRdmaRead: return "rdma_read";
    case WcOpcode::kCompSwap: return "comp_swap";
    case WcOpcode::kFetchAdd: return "fetch_add";
    case WcOpcode::kBindMw: return "bind_mw";
    case WcOpcode::kLocalInv: return "local_inv";
    case WcOpcode::kFlush: return "flush";
    case WcOpcode::kAtomicWrite: return "atomic_write";
    case WcOpcode::kRegMr: return "reg_mr";
    case WcOpcode::kRecv: return "recv";
    case WcOpcode::kRecvRdmaWithImm: return "recv_rdma_with_imm";
  }
  return "unknown";
}

/// QP states in hardware.
/// architecture 7
enum class QpState : uint8_t {
  kIdle = 0x0,  // Created, not connected. Receives may be posted.
  kRts = 0x1,  // Connected, in RDMA mode.
  kClosing = 0x2,  // Graceful close under way: sends drain, then the LLP half-closes.
  kTerminate = 0x3,  // An error was decided; Terminate leaves, units drain.
  kError = 0x4,  // Drained. Every post is flushed.
};
inline constexpr std::array<QpState, 5> kAllQpState = {{
    QpState::kIdle, QpState::kRts, QpState::kClosing, QpState::kTerminate,
    QpState::kError}};
constexpr std::string_view to_string(QpState v) {
  switch (v) {
    case QpState::kIdle: return "idle";
    case QpState::kRts: return "rts";
    case QpState::kClosing: return "closing";
    case QpState::kTerminate: return "terminate";
    case QpState::kError: return "error";
  }
  return "unknown";
}

/// Commands of the admin ring.
/// architecture 4 (Admin)
enum class AdminOpcode : uint8_t {
  kNop = 0x0,  // Answers ok.
  kCreatePd = 0x1,  // Object is the PD's number.
  kDestroyPd = 0x2,  // Fails in_use while a QP, SRQ or region belongs to it.
  kCreateEq = 0x8,  // Object is the EQ's number. admin_ring_args.
  kDestroyEq = 0x9,  // Fails in_use while a CQ reports to it.
  kCreateCq = 0x10,  // admin_ring_args.
  kQueryCq = 0x11,  // Result: producer and consumer index, flags.
  kDestroyCq = 0x12,  // Fails in_use while a QP reports to it.
  kModifyCq = 0x13,  // Moves a CQ to another EQ. admin_ring_args, only eqn is read.
  kCreateQp = 0x18,  // admin_qp_args.
  kModifyQp = 0x19,  // admin_modify_args; to rts, closing or error.
  kQueryQp = 0x1a,  // Result: state, cause, indices.
  kDestroyQp = 0x1b,  // Allowed in idle and, once drained, in error; else in_use.
  kCreateSrq = 0x1c,  // admin_srq_args. Object is a number of the QPs' space: a shared receive queue is a QP without a send queue.
  kModifySrq = 0x1d,  // admin_limit_args: arms the limit event.
  kDestroySrq = 0x1e,  // Fails in_use while a QP takes its receives from it.
  kCreateMr = 0x20,  // admin_mr_args; object is the table slot. Result: the STag.
  kQueryMr = 0x21,  // Object is the STag. Result: rights, PD, length.
  kDestroyMr = 0x22,  // Object is the STag. Result: admin_destroy_mr_result. Answered once nothing through it is in flight. in_use: memory windows are bound to it.
  kConnListen = 0x30,  // Object is the port.
  kConnUnlisten = 0x31,  // Object is the port.
  kConnConnect = 0x32,  // admin_conn_args: peer address and port. Result: the connection, still connecting.
  kConnQuery = 0x33,  // Result: admin_conn_result.
  kConnGive = 0x34,  // admin_conn_args: length bytes of streaming data that wait go to address. bad_argument if fewer wait. Result: admin_give_result.
  kConnSend = 0x35,  // admin_conn_args: length bytes at address leave in streaming mode. no_credit if the LLP would not take them at once.
  kConnClose = 0x36,  // Half-close of a connection that no QP has taken.
  kConnAbort = 0x37,  // Abort; also for a connection that a QP has taken: its QP fails.
  kConnRelease = 0x38,  // The number may be reused. Only when closed, reset or failed and no QP holds it; else in_use.
};
inline constexpr std::array<AdminOpcode, 28> kAllAdminOpcode = {{
    AdminOpcode::kNop, AdminOpcode::kCreatePd, AdminOpcode::kDestroyPd, AdminOpcode::kCreateEq,
    AdminOpcode::kDestroyEq, AdminOpcode::kCreateCq, AdminOpcode::kQueryCq, AdminOpcode::kDestroyCq,
    AdminOpcode::kModifyCq, AdminOpcode::kCreateQp, AdminOpcode::kModifyQp, AdminOpcode::kQueryQp,
    AdminOpcode::kDestroyQp, AdminOpcode::kCreateSrq, AdminOpcode::kModifySrq, AdminOpcode::kDestroySrq,
    AdminOpcode::kCreateMr, AdminOpcode::kQueryMr, AdminOpcode::kDestroyMr, AdminOpcode::kConnListen,
    AdminOpcode::kConnUnlisten, AdminOpcode::kConnConnect, AdminOpcode::kConnQuery, AdminOpcode::kConnGive,
    AdminOpcode::kConnSend, AdminOpcode::kConnClose, AdminOpcode::kConnAbort, AdminOpcode::kConnRelease}};
constexpr std::string_view to_string(AdminOpcode v) {
  switch (v) {
    case AdminOpcode::kNop: return "nop";
    case AdminOpcode::kCreatePd: return "create_pd";
    case AdminOpcode::kDestroyPd: return "destroy_pd";
    case AdminOpcode::kCreateEq: return "create_eq";
    case AdminOpcode::kDestroyEq: return "destroy_eq";
    case AdminOpcode::kCreateCq: return "create_cq";
    case AdminOpcode::kQueryCq: return "query_cq";
    case AdminOpcode::kDestroyCq: return "destroy_cq";
    case AdminOpcode::kModifyCq: return "modify_cq";
    case AdminOpcode::kCreateQp: return "create_qp";
    case AdminOpcode::kModifyQp: return "modify_qp";
    case AdminOpcode::kQueryQp: return "query_qp";
    case AdminOpcode::kDestroyQp: return "destroy_qp";
    case AdminOpcode::kCreateSrq: return "create_srq";
    case AdminOpcode::kModifySrq: return "modify_srq";
    case AdminOpcode::kDestroySrq: return "destroy_srq";
    case AdminOpcode::kCreateMr: return "create_mr";
    case AdminOpcode::kQueryMr: return "query_mr";
    case AdminOpcode::kDestroyMr: return "destroy_mr";
    case AdminOpcode::kConnListen: return "conn_listen";
    case AdminOpcode::kConnUnlisten: return "conn_unlisten";
    case AdminOpcode::kConnConnect: return "conn_connect";
    case AdminOpcode::kConnQuery: return "conn_query";
    case AdminOpcode::kConnGive: return "conn_give";
    case AdminOpcode::kConnSend: return "conn_send";
    case AdminOpcode::kConnClose: return "conn_close";
    case AdminOpcode::kConnAbort: return "conn_abort";
    case AdminOpcode::kConnRelease: return "conn_release";
  }
  return "unknown";
}

/// What an event is about. The entry names the resource; the driver reads its state by a query, so
/// no event is lost.
/// architecture 4 (Queue formats)
enum class EqeType : uint8_t {
  kCompletion = 0x1,  // Object is a CQ: armed, and a completion followed. One event per arming.
  kCqError = 0x2,  // Object is a CQ that overran.
  kQp = 0x3,  // Object is a QP whose state changed without the driver's asking, or an SRQ whose limit was reached.
  kConnection = 0x4,  // Object is a connection: incoming, established, bytes waiting, closed, reset, failed.
};
inline constexpr std::array<EqeType, 4> kAllEqeType = {{
    EqeType::kCompletion, EqeType::kCqError, EqeType::kQp, EqeType::kConnection}};
constexpr std::string_view to_string(EqeType v) {
  switch (v) {
    case EqeType::kCompletion: return "completion";
    case EqeType::kCqError: return "cq_error";
    case EqeType::kQp: return "qp";
    case EqeType::kConnection: return "connection";
  }
  return "unknown";
}

/// State of an LLP connection as llp_if keeps it.
/// architecture 3.3
enum class ConnState : uint8_t {
  kFree = 0x0,  // Number not in use.
  kConnecting = 0x1,  // Connect asked for, not answered.
  kEstablished = 0x2,  // Open both ways.
  kPeerClosed = 0x3,  // The peer has closed its side.
  kLocalClosed = 0x4,  // This side has closed, the peer has not.
  kClosed = 0x5,  // Both sides have closed.
  kReset = 0x6,  // Reset by the peer or aborted here.
  kFailed = 0x7,  // Refused, unreachable or timed out.
};
inline constexpr std::array<ConnState, 8> kAllConnState = {{
    ConnState::kFree, ConnState::kConnecting, ConnState::kEstablished, ConnState::kPeerClosed,
    ConnState::kLocalClosed, ConnState::kClosed, ConnState::kReset, ConnState::kFailed}};
constexpr std::string_view to_string(ConnState v) {
  switch (v) {
    case ConnState::kFree: return "free";
    case ConnState::kConnecting: return "connecting";
    case ConnState::kEstablished: return "established";
    case ConnState::kPeerClosed: return "peer_closed";
    case ConnState::kLocalClosed: return "local_closed";
    case ConnState::kClosed: return "closed";
    case ConnState::kReset: return "reset";
    case ConnState::kFailed: return "failed";
  }
  return "unknown";
}

/// Kind of a doorbell, from its offset in the 4 KiB page.
/// architecture 4 (Doorbell)
enum class DoorbellKind : uint8_t {
  kSq = 0x0,  // Offset 0x000: index is the SQ's producer index, in 64-byte units.
  kRq = 0x1,  // Offset 0x008: index is the producer index of the QP's RQ, or of the SRQ.
  kCq = 0x2,  // Offset 0x010: index is the CQ's consumer index.
  kCqArm = 0x3,  // Offset 0x018: the same, and arm; flag bit 0: solicited only.
  kPush = 0x4,  // Offset 0x100 (first 64 bytes of a WQE) and 0x140 (its second), in either order: sq, with the WQE.
};
inline constexpr std::array<DoorbellKind, 5> kAllDoorbellKind = {{
    DoorbellKind::kSq, DoorbellKind::kRq, DoorbellKind::kCq, DoorbellKind::kCqArm,
    DoorbellKind::kPush}};
constexpr std::string_view to_string(DoorbellKind v) {
  switch (v) {
    case DoorbellKind::kSq: return "sq";
    case DoorbellKind::kRq: return "rq";
    case DoorbellKind::kCq: return "cq";
    case DoorbellKind::kCqArm: return "cq_arm";
    case DoorbellKind::kPush: return "push";
  }
  return "unknown";
}

/// Bits of sq_wqe.flags, verbs' values.
/// rdma-core libibverbs/verbs.h enum ibv_send_flags
enum class SqFlagBit : uint8_t {
  kFence = 0x1,  // Wait for earlier Reads.
  kSignaled = 0x2,  // Write a completion.
  kSolicited = 0x4,  // Send with SE, Immediate Data with SE, Send with SE and Invalidate.
  kInlineData = 0x8,  // The data follows the header instead of SGEs.
};
inline constexpr std::array<SqFlagBit, 4> kAllSqFlagBit = {{
    SqFlagBit::kFence, SqFlagBit::kSignaled, SqFlagBit::kSolicited, SqFlagBit::kInlineData}};
constexpr std::string_view to_string(SqFlagBit v) {
  switch (v) {
    case SqFlagBit::kFence: return "fence";
    case SqFlagBit::kSignaled: return "signaled";
    case SqFlagBit::kSolicited: return "solicited";
    case SqFlagBit::kInlineData: return "inline_data";
  }
  return "unknown";
}

/// Right: placed into by receives and Read responses.
/// rdma-core libibverbs/verbs.h enum ibv_access_flags
inline constexpr uint16_t kAccessLocalWrite = 0x1;

/// Right: RDMA Write.
/// rdma-core libibverbs/verbs.h enum ibv_access_flags
inline constexpr uint16_t kAccessRemoteWrite = 0x2;

/// Right: target of an atomic.
/// rdma-core libibverbs/verbs.h enum ibv_access_flags
inline constexpr uint16_t kAccessRemoteAtomic = 0x8;

/// Right: memory windows may be bound to it. Not together with remote_invalidate.
/// rdma-core libibverbs/verbs.h enum ibv_access_flags
inline constexpr uint16_t kAccessMwBind = 0x10;

/// Right: source of an RDMA Read.
/// rdma-core libibverbs/verbs.h enum ibv_access_flags
inline constexpr uint16_t kAccessRemoteRead = 0x4;

/// Right: Flush to global visibility.
/// rdma-core libibverbs/verbs.h enum ibv_access_flags
inline constexpr uint16_t kAccessFlushGlobal = 0x100;

/// Right: Flush to persistence.
/// rdma-core libibverbs/verbs.h enum ibv_access_flags
inline constexpr uint16_t kAccessFlushPersistent = 0x200;

/// Right: Send with Invalidate by the peer. Only of an STag that is bound to a QP. Our extension of
/// verbs.
/// RFC 5040 section 5.3
inline constexpr uint16_t kAccessRemoteInvalidate = 0x400;

/// Rights that exist so far; any other bit is bad_argument.
/// architecture 6
inline constexpr uint16_t kAccessMask = 0x71f;

/// Cycles after which qp answers in_progress to a command that has not begun or that ends a QP.
/// decision 6
inline constexpr uint16_t kCommandPatience = 0x200;

/// Page-list entries that one create_mr reads. After them it answers in_progress; given again with
/// the same cookie, it continues.
/// decision 6
inline constexpr uint16_t kListPart = 0x200;

/// Answers in_progress to other long page lists after which a list that its owner does not continue
/// is given up.
/// decision 6
inline constexpr uint16_t kListPatience = 0x400;

/// Place of the push window in a doorbell page.
/// architecture 4 (Doorbell)
inline constexpr uint16_t kPushOffset = 0x100;

/// One 64-bit write.
/// architecture 4 (Doorbell)
struct Doorbell {
  uint32_t object = 0;  // 24 bits
  uint8_t flags = 0;  // 8 bits
  uint32_t index = 0;  // 32 bits

  static constexpr std::string_view kName = "doorbell";
  static constexpr size_t kBits = 64;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const Doorbell&, const Doorbell&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 24>(w.data(), object);
    base::put_bits<24, 8>(w.data(), flags);
    base::put_bits<32, 32>(w.data(), index);
    return w;
  }
  static Doorbell from_words(const uint32_t* w) {
    Doorbell s;
    s.object = static_cast<uint32_t>(base::get_bits<0, 24>(w));
    s.flags = static_cast<uint8_t>(base::get_bits<24, 8>(w));
    s.index = static_cast<uint32_t>(base::get_bits<32, 32>(w));
    return s;
  }
  static constexpr size_t kBytes = 8;
  /// As the bytes in host memory: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_little<kBytes>(to_words().data(), out); }
  static Doorbell unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_little_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "object={}", object);
    fmt::format_to(std::back_inserter(s), " flags={}", flags);
    fmt::format_to(std::back_inserter(s), " index={}", index);
    return s;
  }
};

/// A scatter/gather element in a WQE. An SGE of length 0 is skipped, and its key is not checked.
/// rdma-core libibverbs/verbs.h struct ibv_sge
struct WqeSge {
  uint64_t address = 0;  // 64 bits
  uint32_t length = 0;  // 32 bits
  uint32_t lkey = 0;  // 32 bits

  static constexpr std::string_view kName = "wqe_sge";
  static constexpr size_t kBits = 128;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const WqeSge&, const WqeSge&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 64>(w.data(), address);
    base::put_bits<64, 32>(w.data(), length);
    base::put_bits<96, 32>(w.data(), lkey);
    return w;
  }
  static WqeSge from_words(const uint32_t* w) {
    WqeSge s;
    s.address = static_cast<uint64_t>(base::get_bits<0, 64>(w));
    s.length = static_cast<uint32_t>(base::get_bits<64, 32>(w));
    s.lkey = static_cast<uint32_t>(base::get_bits<96, 32>(w));
    return s;
  }
  static constexpr size_t kBytes = 16;
  /// As the bytes in host memory: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_little<kBytes>(to_words().data(), out); }
  static WqeSge unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_little_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "address={:#x}", address);
    fmt::format_to(std::back_inserter(s), " length={}", length);
    fmt::format_to(std::back_inserter(s), " lkey={:#x}", lkey);
    return s;
  }
};

/// Header of a send WQE, 32 bytes; then num_sge SGEs or length bytes of inline data. units 64-byte
/// units in all (1 to 4), contiguous modulo the ring. `ring` is the doorbell that announces this
/// WQE; read only in a push. A pushed WQE of two units repeats it in its last 8 bytes, which then
/// hold no SGE or inline data: it names the WQE that each half is of. disposition: of a Flush,
/// verbs' placement type (1 global, 2 persistent; at least one); else 0.
/// architecture 4 (Queue formats)
struct SqWqe {
  uint8_t opcode = 0;  // 8 bits
  uint8_t flags = 0;  // 8 bits
  uint8_t units = 0;  // 3 bits
  uint8_t reserved0 = 0;  // 1 bit
  uint8_t num_sge = 0;  // 4 bits
  uint8_t disposition = 0;  // 8 bits
  uint32_t length = 0;  // 32 bits
  uint64_t remote_address = 0;  // 64 bits
  uint32_t rkey = 0;  // 32 bits
  uint32_t reserved2 = 0;  // 32 bits
  Doorbell ring{};

  static constexpr std::string_view kName = "sq_wqe";
  static constexpr size_t kBits = 256;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const SqWqe&, const SqWqe&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 8>(w.data(), opcode);
    base::put_bits<8, 8>(w.data(), flags);
    base::put_bits<16, 3>(w.data(), units);
    base::put_bits<19, 1>(w.data(), reserved0);
    base::put_bits<20, 4>(w.data(), num_sge);
    base::put_bits<24, 8>(w.data(), disposition);
    base::put_bits<32, 32>(w.data(), length);
    base::put_bits<64, 64>(w.data(), remote_address);
    base::put_bits<128, 32>(w.data(), rkey);
    base::put_bits<160, 32>(w.data(), reserved2);
    base::put_words<192, 64>(w.data(), ring.to_words().data());
    return w;
  }
  static SqWqe from_words(const uint32_t* w) {
    SqWqe s;
    s.opcode = static_cast<uint8_t>(base::get_bits<0, 8>(w));
    s.flags = static_cast<uint8_t>(base::get_bits<8, 8>(w));
    s.units = static_cast<uint8_t>(base::get_bits<16, 3>(w));
    s.reserved0 = static_cast<uint8_t>(base::get_bits<19, 1>(w));
    s.num_sge = static_cast<uint8_t>(base::get_bits<20, 4>(w));
    s.disposition = static_cast<uint8_t>(base::get_bits<24, 8>(w));
    s.length = static_cast<uint32_t>(base::get_bits<32, 32>(w));
    s.remote_address = static_cast<uint64_t>(base::get_bits<64, 64>(w));
    s.rkey = static_cast<uint32_t>(base::get_bits<128, 32>(w));
    s.reserved2 = static_cast<uint32_t>(base::get_bits<160, 32>(w));
    s.ring = Doorbell::from_words(base::get_words<192, 64>(w).data());
    return s;
  }
  static constexpr size_t kBytes = 32;
  /// As the bytes in host memory: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_little<kBytes>(to_words().data(), out); }
  static SqWqe unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_little_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "opcode={}", opcode);
    fmt::format_to(std::back_inserter(s), " flags={}", flags);
    fmt::format_to(std::back_inserter(s), " units={}", units);
    if (reserved0 != 0) fmt::format_to(std::back_inserter(s), " reserved0={}", reserved0);
    fmt::format_to(std::back_inserter(s), " num_sge={}", num_sge);
    fmt::format_to(std::back_inserter(s), " disposition={}", disposition);
    fmt::format_to(std::back_inserter(s), " length={}", length);
    fmt::format_to(std::back_inserter(s), " remote_address={:#x}", remote_address);
    fmt::format_to(std::back_inserter(s), " rkey={:#x}", rkey);
    if (reserved2 != 0) fmt::format_to(std::back_inserter(s), " reserved2={}", reserved2);
    fmt::format_to(std::back_inserter(s), " ring={{{}}}", ring.describe());
    return s;
  }
};

/// Inline data of a fetch and add or compare and swap: its one SGE, then the operands. Fetch and
/// add: data is added; a bit of mask marks the top bit of a field, and no carry leaves the field;
/// the others are ignored. The SGE has 8 bytes, aligned to 8.
/// RFC 7306 section 5.1
struct AtomicOperands {
  WqeSge sink{};
  uint64_t data = 0;  // 64 bits
  uint64_t mask = 0;  // 64 bits
  uint64_t compare = 0;  // 64 bits
  uint64_t compare_mask = 0;  // 64 bits

  static constexpr std::string_view kName = "atomic_operands";
  static constexpr size_t kBits = 384;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const AtomicOperands&, const AtomicOperands&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_words<0, 128>(w.data(), sink.to_words().data());
    base::put_bits<128, 64>(w.data(), data);
    base::put_bits<192, 64>(w.data(), mask);
    base::put_bits<256, 64>(w.data(), compare);
    base::put_bits<320, 64>(w.data(), compare_mask);
    return w;
  }
  static AtomicOperands from_words(const uint32_t* w) {
    AtomicOperands s;
    s.sink = WqeSge::from_words(base::get_words<0, 128>(w).data());
    s.data = static_cast<uint64_t>(base::get_bits<128, 64>(w));
    s.mask = static_cast<uint64_t>(base::get_bits<192, 64>(w));
    s.compare = static_cast<uint64_t>(base::get_bits<256, 64>(w));
    s.compare_mask = static_cast<uint64_t>(base::get_bits<320, 64>(w));
    return s;
  }
  static constexpr size_t kBytes = 48;
  /// As the bytes in host memory: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_little<kBytes>(to_words().data(), out); }
  static AtomicOperands unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_little_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "sink={{{}}}", sink.describe());
    fmt::format_to(std::back_inserter(s), " data={:#x}", data);
    fmt::format_to(std::back_inserter(s), " mask={:#x}", mask);
    fmt::format_to(std::back_inserter(s), " compare={}", compare);
    fmt::format_to(std::back_inserter(s), " compare_mask={:#x}", compare_mask);
    return s;
  }
};

/// Inline data of a fast registration. pages entries of 8 bytes at page_list, each a bus address,
/// give the pages of 2^log_page bytes; first_offset is the offset of the first byte in the first
/// page. Rights: bits of access_flag.
/// architecture 6
struct RegOperands {
  uint64_t page_list = 0;  // 64 bits
  uint64_t length = 0;  // 64 bits
  uint32_t first_offset = 0;  // 32 bits
  uint32_t pages = 0;  // 32 bits
  uint16_t rights = 0;  // 16 bits
  uint8_t log_page = 0;  // 8 bits
  uint64_t reserved0 = 0;  // 40 bits

  static constexpr std::string_view kName = "reg_operands";
  static constexpr size_t kBits = 256;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const RegOperands&, const RegOperands&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 64>(w.data(), page_list);
    base::put_bits<64, 64>(w.data(), length);
    base::put_bits<128, 32>(w.data(), first_offset);
    base::put_bits<160, 32>(w.data(), pages);
    base::put_bits<192, 16>(w.data(), rights);
    base::put_bits<208, 8>(w.data(), log_page);
    base::put_bits<216, 40>(w.data(), reserved0);
    return w;
  }
  static RegOperands from_words(const uint32_t* w) {
    RegOperands s;
    s.page_list = static_cast<uint64_t>(base::get_bits<0, 64>(w));
    s.length = static_cast<uint64_t>(base::get_bits<64, 64>(w));
    s.first_offset = static_cast<uint32_t>(base::get_bits<128, 32>(w));
    s.pages = static_cast<uint32_t>(base::get_bits<160, 32>(w));
    s.rights = static_cast<uint16_t>(base::get_bits<192, 16>(w));
    s.log_page = static_cast<uint8_t>(base::get_bits<208, 8>(w));
    s.reserved0 = static_cast<uint64_t>(base::get_bits<216, 40>(w));
    return s;
  }
  static constexpr size_t kBytes = 32;
  /// As the bytes in host memory: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_little<kBytes>(to_words().data(), out); }
  static RegOperands unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_little_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "page_list={}", page_list);
    fmt::format_to(std::back_inserter(s), " length={}", length);
    fmt::format_to(std::back_inserter(s), " first_offset={:#x}", first_offset);
    fmt::format_to(std::back_inserter(s), " pages={}", pages);
    fmt::format_to(std::back_inserter(s), " rights={}", rights);
    fmt::format_to(std::back_inserter(s), " log_page={}", log_page);
    if (reserved0 != 0) fmt::format_to(std::back_inserter(s), " reserved0={}", reserved0);
    return s;
  }
};

/// Inline data of a bind: the window is the length bytes at TO address of the region whose STag is
/// lkey. Length 0: unbinds a window of type 1. Rights: bits of access_flag, of the peer only.
/// architecture 6
struct BindOperands {
  uint64_t address = 0;  // 64 bits
  uint64_t length = 0;  // 64 bits
  uint32_t lkey = 0;  // 32 bits
  uint16_t rights = 0;  // 16 bits
  std::array<uint8_t, 10> reserved0{};

  static constexpr std::string_view kName = "bind_operands";
  static constexpr size_t kBits = 256;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const BindOperands&, const BindOperands&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 64>(w.data(), address);
    base::put_bits<64, 64>(w.data(), length);
    base::put_bits<128, 32>(w.data(), lkey);
    base::put_bits<160, 16>(w.data(), rights);
    base::put_bytes<176, 80>(w.data(), reserved0.data());
    return w;
  }
  static BindOperands from_words(const uint32_t* w) {
    BindOperands s;
    s.address = static_cast<uint64_t>(base::get_bits<0, 64>(w));
    s.length = static_cast<uint64_t>(base::get_bits<64, 64>(w));
    s.lkey = static_cast<uint32_t>(base::get_bits<128, 32>(w));
    s.rights = static_cast<uint16_t>(base::get_bits<160, 16>(w));
    base::get_bytes<176, 80>(w, s.reserved0.data());
    return s;
  }
  static constexpr size_t kBytes = 32;
  /// As the bytes in host memory: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_little<kBytes>(to_words().data(), out); }
  static BindOperands unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_little_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "address={:#x}", address);
    fmt::format_to(std::back_inserter(s), " length={}", length);
    fmt::format_to(std::back_inserter(s), " lkey={:#x}", lkey);
    fmt::format_to(std::back_inserter(s), " rights={}", rights);
    if (reserved0 != decltype(reserved0){}) fmt::format_to(std::back_inserter(s), " reserved0={}", base::short_hex(reserved0));
    return s;
  }
};

/// A receive WQE. The buffer is the SGEs one after the other. tag: in an SRQ, what its completion
/// has as index, since receives of several QPs complete in any order; else ignored.
/// architecture 4 (Queue formats)
struct RqWqe {
  uint8_t num_sge = 0;  // 4 bits
  uint32_t reserved0 = 0;  // 28 bits
  uint16_t tag = 0;  // 16 bits
  uint16_t reserved2 = 0;  // 16 bits
  uint64_t reserved1 = 0;  // 64 bits
  WqeSge sge0{};
  WqeSge sge1{};
  WqeSge sge2{};

  static constexpr std::string_view kName = "rq_wqe";
  static constexpr size_t kBits = 512;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const RqWqe&, const RqWqe&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 4>(w.data(), num_sge);
    base::put_bits<4, 28>(w.data(), reserved0);
    base::put_bits<32, 16>(w.data(), tag);
    base::put_bits<48, 16>(w.data(), reserved2);
    base::put_bits<64, 64>(w.data(), reserved1);
    base::put_words<128, 128>(w.data(), sge0.to_words().data());
    base::put_words<256, 128>(w.data(), sge1.to_words().data());
    base::put_words<384, 128>(w.data(), sge2.to_words().data());
    return w;
  }
  static RqWqe from_words(const uint32_t* w) {
    RqWqe s;
    s.num_sge = static_cast<uint8_t>(base::get_bits<0, 4>(w));
    s.reserved0 = static_cast<uint32_t>(base::get_bits<4, 28>(w));
    s.tag = static_cast<uint16_t>(base::get_bits<32, 16>(w));
    s.reserved2 = static_cast<uint16_t>(base::get_bits<48, 16>(w));
    s.reserved1 = static_cast<uint64_t>(base::get_bits<64, 64>(w));
    s.sge0 = WqeSge::from_words(base::get_words<128, 128>(w).data());
    s.sge1 = WqeSge::from_words(base::get_words<256, 128>(w).data());
    s.sge2 = WqeSge::from_words(base::get_words<384, 128>(w).data());
    return s;
  }
  static constexpr size_t kBytes = 64;
  /// As the bytes in host memory: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_little<kBytes>(to_words().data(), out); }
  static RqWqe unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_little_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "num_sge={}", num_sge);
    if (reserved0 != 0) fmt::format_to(std::back_inserter(s), " reserved0={}", reserved0);
    fmt::format_to(std::back_inserter(s), " tag={}", tag);
    if (reserved2 != 0) fmt::format_to(std::back_inserter(s), " reserved2={}", reserved2);
    if (reserved1 != 0) fmt::format_to(std::back_inserter(s), " reserved1={}", reserved1);
    fmt::format_to(std::back_inserter(s), " sge0={{{}}}", sge0.describe());
    fmt::format_to(std::back_inserter(s), " sge1={{{}}}", sge1.describe());
    fmt::format_to(std::back_inserter(s), " sge2={{{}}}", sge2.describe());
    return s;
  }
};

/// A completion. The phase bit is 1 on the first pass over the ring and flips with each. index: of
/// the WQE's first unit; in a wr_flush_err entry one past the last unit flushed, so one entry
/// flushes many. Of a receive from an SRQ: the WQE's tag, also in a wr_flush_err entry, which
/// flushes that one. with_inv: the receive invalidated the STag in the low half of immediate.
/// architecture 4 (Queue formats)
struct Cqe {
  uint32_t qpn = 0;  // 24 bits
  WcOpcode opcode{};
  uint32_t byte_len = 0;  // 32 bits
  uint16_t index = 0;  // 16 bits
  WcStatus status{};
  uint8_t vendor = 0;  // 8 bits
  uint8_t is_recv = 0;  // 1 bit
  uint8_t solicited = 0;  // 1 bit
  uint8_t with_inv = 0;  // 1 bit
  uint32_t reserved0 = 0;  // 29 bits
  uint64_t immediate = 0;  // 64 bits
  uint64_t timestamp = 0;  // 48 bits
  uint16_t reserved1 = 0;  // 15 bits
  uint8_t phase = 0;  // 1 bit

  static constexpr std::string_view kName = "cqe";
  static constexpr size_t kBits = 256;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const Cqe&, const Cqe&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 24>(w.data(), qpn);
    base::put_bits<24, 8>(w.data(), static_cast<uint64_t>(opcode));
    base::put_bits<32, 32>(w.data(), byte_len);
    base::put_bits<64, 16>(w.data(), index);
    base::put_bits<80, 8>(w.data(), static_cast<uint64_t>(status));
    base::put_bits<88, 8>(w.data(), vendor);
    base::put_bits<96, 1>(w.data(), is_recv);
    base::put_bits<97, 1>(w.data(), solicited);
    base::put_bits<98, 1>(w.data(), with_inv);
    base::put_bits<99, 29>(w.data(), reserved0);
    base::put_bits<128, 64>(w.data(), immediate);
    base::put_bits<192, 48>(w.data(), timestamp);
    base::put_bits<240, 15>(w.data(), reserved1);
    base::put_bits<255, 1>(w.data(), phase);
    return w;
  }
  static Cqe from_words(const uint32_t* w) {
    Cqe s;
    s.qpn = static_cast<uint32_t>(base::get_bits<0, 24>(w));
    s.opcode = static_cast<WcOpcode>(base::get_bits<24, 8>(w));
    s.byte_len = static_cast<uint32_t>(base::get_bits<32, 32>(w));
    s.index = static_cast<uint16_t>(base::get_bits<64, 16>(w));
    s.status = static_cast<WcStatus>(base::get_bits<80, 8>(w));
    s.vendor = static_cast<uint8_t>(base::get_bits<88, 8>(w));
    s.is_recv = static_cast<uint8_t>(base::get_bits<96, 1>(w));
    s.solicited = static_cast<uint8_t>(base::get_bits<97, 1>(w));
    s.with_inv = static_cast<uint8_t>(base::get_bits<98, 1>(w));
    s.reserved0 = static_cast<uint32_t>(base::get_bits<99, 29>(w));
    s.immediate = static_cast<uint64_t>(base::get_bits<128, 64>(w));
    s.timestamp = static_cast<uint64_t>(base::get_bits<192, 48>(w));
    s.reserved1 = static_cast<uint16_t>(base::get_bits<240, 15>(w));
    s.phase = static_cast<uint8_t>(base::get_bits<255, 1>(w));
    return s;
  }
  static constexpr size_t kBytes = 32;
  /// As the bytes in host memory: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_little<kBytes>(to_words().data(), out); }
  static Cqe unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_little_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " opcode={}", to_string(opcode));
    fmt::format_to(std::back_inserter(s), " byte_len={}", byte_len);
    fmt::format_to(std::back_inserter(s), " index={}", index);
    fmt::format_to(std::back_inserter(s), " status={}", to_string(status));
    fmt::format_to(std::back_inserter(s), " vendor={}", vendor);
    fmt::format_to(std::back_inserter(s), " is_recv={}", is_recv);
    fmt::format_to(std::back_inserter(s), " solicited={}", solicited);
    fmt::format_to(std::back_inserter(s), " with_inv={}", with_inv);
    if (reserved0 != 0) fmt::format_to(std::back_inserter(s), " reserved0={}", reserved0);
    fmt::format_to(std::back_inserter(s), " immediate={}", immediate);
    fmt::format_to(std::back_inserter(s), " timestamp={}", timestamp);
    if (reserved1 != 0) fmt::format_to(std::back_inserter(s), " reserved1={}", reserved1);
    fmt::format_to(std::back_inserter(s), " phase={}", phase);
    return s;
  }
};

/// An event.
/// architecture 4 (Queue formats)
struct Eqe {
  EqeType kind{};
  uint32_t reserved0 = 0;  // 24 bits
  uint32_t object = 0;  // 32 bits
  uint64_t reserved1 = 0;  // 63 bits
  uint8_t phase = 0;  // 1 bit

  static constexpr std::string_view kName = "eqe";
  static constexpr size_t kBits = 128;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const Eqe&, const Eqe&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 8>(w.data(), static_cast<uint64_t>(kind));
    base::put_bits<8, 24>(w.data(), reserved0);
    base::put_bits<32, 32>(w.data(), object);
    base::put_bits<64, 63>(w.data(), reserved1);
    base::put_bits<127, 1>(w.data(), phase);
    return w;
  }
  static Eqe from_words(const uint32_t* w) {
    Eqe s;
    s.kind = static_cast<EqeType>(base::get_bits<0, 8>(w));
    s.reserved0 = static_cast<uint32_t>(base::get_bits<8, 24>(w));
    s.object = static_cast<uint32_t>(base::get_bits<32, 32>(w));
    s.reserved1 = static_cast<uint64_t>(base::get_bits<64, 63>(w));
    s.phase = static_cast<uint8_t>(base::get_bits<127, 1>(w));
    return s;
  }
  static constexpr size_t kBytes = 16;
  /// As the bytes in host memory: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_little<kBytes>(to_words().data(), out); }
  static Eqe unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_little_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "kind={}", to_string(kind));
    if (reserved0 != 0) fmt::format_to(std::back_inserter(s), " reserved0={}", reserved0);
    fmt::format_to(std::back_inserter(s), " object={}", object);
    if (reserved1 != 0) fmt::format_to(std::back_inserter(s), " reserved1={}", reserved1);
    fmt::format_to(std::back_inserter(s), " phase={}", phase);
    return s;
  }
};

/// A command; args as its opcode says, else zero.
/// architecture 4 (Admin)
struct AdminCmd {
  uint8_t opcode = 0;  // 8 bits
  uint8_t flags = 0;  // 8 bits
  uint16_t cookie = 0;  // 16 bits
  uint32_t object = 0;  // 32 bits
  std::array<uint8_t, 56> args{};

  static constexpr std::string_view kName = "admin_cmd";
  static constexpr size_t kBits = 512;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const AdminCmd&, const AdminCmd&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 8>(w.data(), opcode);
    base::put_bits<8, 8>(w.data(), flags);
    base::put_bits<16, 16>(w.data(), cookie);
    base::put_bits<32, 32>(w.data(), object);
    base::put_bytes<64, 448>(w.data(), args.data());
    return w;
  }
  static AdminCmd from_words(const uint32_t* w) {
    AdminCmd s;
    s.opcode = static_cast<uint8_t>(base::get_bits<0, 8>(w));
    s.flags = static_cast<uint8_t>(base::get_bits<8, 8>(w));
    s.cookie = static_cast<uint16_t>(base::get_bits<16, 16>(w));
    s.object = static_cast<uint32_t>(base::get_bits<32, 32>(w));
    base::get_bytes<64, 448>(w, s.args.data());
    return s;
  }
  static constexpr size_t kBytes = 64;
  /// As the bytes in host memory: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_little<kBytes>(to_words().data(), out); }
  static AdminCmd unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_little_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "opcode={}", opcode);
    fmt::format_to(std::back_inserter(s), " flags={}", flags);
    fmt::format_to(std::back_inserter(s), " cookie={}", cookie);
    fmt::format_to(std::back_inserter(s), " object={}", object);
    fmt::format_to(std::back_inserter(s), " args={}", base::short_hex(args));
    return s;
  }
};

/// The answer, in the order of the commands; same phase rule as a CQE.
/// architecture 4 (Admin)
struct AdminRsp {
  uint16_t cookie = 0;  // 16 bits
  AdminStatus status{};
  uint8_t opcode = 0;  // 8 bits
  uint32_t object = 0;  // 32 bits
  std::array<uint8_t, 16> result{};
  uint64_t reserved0 = 0;  // 63 bits
  uint8_t phase = 0;  // 1 bit

  static constexpr std::string_view kName = "admin_rsp";
  static constexpr size_t kBits = 256;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const AdminRsp&, const AdminRsp&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 16>(w.data(), cookie);
    base::put_bits<16, 8>(w.data(), static_cast<uint64_t>(status));
    base::put_bits<24, 8>(w.data(), opcode);
    base::put_bits<32, 32>(w.data(), object);
    base::put_bytes<64, 128>(w.data(), result.data());
    base::put_bits<192, 63>(w.data(), reserved0);
    base::put_bits<255, 1>(w.data(), phase);
    return w;
  }
  static AdminRsp from_words(const uint32_t* w) {
    AdminRsp s;
    s.cookie = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    s.status = static_cast<AdminStatus>(base::get_bits<16, 8>(w));
    s.opcode = static_cast<uint8_t>(base::get_bits<24, 8>(w));
    s.object = static_cast<uint32_t>(base::get_bits<32, 32>(w));
    base::get_bytes<64, 128>(w, s.result.data());
    s.reserved0 = static_cast<uint64_t>(base::get_bits<192, 63>(w));
    s.phase = static_cast<uint8_t>(base::get_bits<255, 1>(w));
    return s;
  }
  static constexpr size_t kBytes = 32;
  /// As the bytes in host memory: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_little<kBytes>(to_words().data(), out); }
  static AdminRsp unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_little_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "cookie={}", cookie);
    fmt::format_to(std::back_inserter(s), " status={}", to_string(status));
    fmt::format_to(std::back_inserter(s), " opcode={}", opcode);
    fmt::format_to(std::back_inserter(s), " object={}", object);
    fmt::format_to(std::back_inserter(s), " result={}", base::short_hex(result));
    if (reserved0 != 0) fmt::format_to(std::back_inserter(s), " reserved0={}", reserved0);
    fmt::format_to(std::back_inserter(s), " phase={}", phase);
    return s;
  }
};

/// create_cq, create_eq: a ring on the bus, aligned to its entry size, at most 2 MiB. CQ:
/// 2^log_size CQEs; EQ: 2^log_size EQEs and its MSI-X vector.
/// architecture 4
struct AdminRingArgs {
  uint64_t base = 0;  // 64 bits
  uint8_t log_size = 0;  // 8 bits
  uint8_t eqn = 0;  // 8 bits
  uint8_t vector = 0;  // 8 bits
  uint8_t reserved0 = 0;  // 8 bits
  uint16_t page = 0;  // 16 bits
  uint16_t reserved1 = 0;  // 16 bits
  std::array<uint8_t, 40> reserved2{};

  static constexpr std::string_view kName = "admin_ring_args";
  static constexpr size_t kBits = 448;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const AdminRingArgs&, const AdminRingArgs&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 64>(w.data(), base);
    base::put_bits<64, 8>(w.data(), log_size);
    base::put_bits<72, 8>(w.data(), eqn);
    base::put_bits<80, 8>(w.data(), vector);
    base::put_bits<88, 8>(w.data(), reserved0);
    base::put_bits<96, 16>(w.data(), page);
    base::put_bits<112, 16>(w.data(), reserved1);
    base::put_bytes<128, 320>(w.data(), reserved2.data());
    return w;
  }
  static AdminRingArgs from_words(const uint32_t* w) {
    AdminRingArgs s;
    s.base = static_cast<uint64_t>(base::get_bits<0, 64>(w));
    s.log_size = static_cast<uint8_t>(base::get_bits<64, 8>(w));
    s.eqn = static_cast<uint8_t>(base::get_bits<72, 8>(w));
    s.vector = static_cast<uint8_t>(base::get_bits<80, 8>(w));
    s.reserved0 = static_cast<uint8_t>(base::get_bits<88, 8>(w));
    s.page = static_cast<uint16_t>(base::get_bits<96, 16>(w));
    s.reserved1 = static_cast<uint16_t>(base::get_bits<112, 16>(w));
    base::get_bytes<128, 320>(w, s.reserved2.data());
    return s;
  }
  static constexpr size_t kBytes = 56;
  /// As the bytes in host memory: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_little<kBytes>(to_words().data(), out); }
  static AdminRingArgs unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_little_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "base={}", base);
    fmt::format_to(std::back_inserter(s), " log_size={}", log_size);
    fmt::format_to(std::back_inserter(s), " eqn={}", eqn);
    fmt::format_to(std::back_inserter(s), " vector={}", vector);
    if (reserved0 != 0) fmt::format_to(std::back_inserter(s), " reserved0={}", reserved0);
    fmt::format_to(std::back_inserter(s), " page={}", page);
    if (reserved1 != 0) fmt::format_to(std::back_inserter(s), " reserved1={}", reserved1);
    if (reserved2 != decltype(reserved2){}) fmt::format_to(std::back_inserter(s), " reserved2={}", base::short_hex(reserved2));
    return s;
  }
};

/// create_qp. Rings of 2^log 64-byte units, 4 to 32768. privileged: may register memory, whose page
/// addresses are bus addresses. has_srq: receives come from SRQ srq of the same PD; rq_base and
/// log_rq are 0.
/// architecture 4
struct AdminQpArgs {
  uint16_t pd = 0;  // 16 bits
  uint16_t page = 0;  // 16 bits
  uint16_t send_cq = 0;  // 16 bits
  uint16_t recv_cq = 0;  // 16 bits
  uint64_t sq_base = 0;  // 64 bits
  uint64_t rq_base = 0;  // 64 bits
  uint8_t log_sq = 0;  // 8 bits
  uint8_t log_rq = 0;  // 8 bits
  uint8_t privileged = 0;  // 1 bit
  uint8_t has_srq = 0;  // 1 bit
  uint16_t reserved0 = 0;  // 14 bits
  uint16_t srq = 0;  // 16 bits
  uint16_t reserved2 = 0;  // 16 bits
  std::array<uint8_t, 24> reserved1{};

  static constexpr std::string_view kName = "admin_qp_args";
  static constexpr size_t kBits = 448;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const AdminQpArgs&, const AdminQpArgs&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 16>(w.data(), pd);
    base::put_bits<16, 16>(w.data(), page);
    base::put_bits<32, 16>(w.data(), send_cq);
    base::put_bits<48, 16>(w.data(), recv_cq);
    base::put_bits<64, 64>(w.data(), sq_base);
    base::put_bits<128, 64>(w.data(), rq_base);
    base::put_bits<192, 8>(w.data(), log_sq);
    base::put_bits<200, 8>(w.data(), log_rq);
    base::put_bits<208, 1>(w.data(), privileged);
    base::put_bits<209, 1>(w.data(), has_srq);
    base::put_bits<210, 14>(w.data(), reserved0);
    base::put_bits<224, 16>(w.data(), srq);
    base::put_bits<240, 16>(w.data(), reserved2);
    base::put_bytes<256, 192>(w.data(), reserved1.data());
    return w;
  }
  static AdminQpArgs from_words(const uint32_t* w) {
    AdminQpArgs s;
    s.pd = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    s.page = static_cast<uint16_t>(base::get_bits<16, 16>(w));
    s.send_cq = static_cast<uint16_t>(base::get_bits<32, 16>(w));
    s.recv_cq = static_cast<uint16_t>(base::get_bits<48, 16>(w));
    s.sq_base = static_cast<uint64_t>(base::get_bits<64, 64>(w));
    s.rq_base = static_cast<uint64_t>(base::get_bits<128, 64>(w));
    s.log_sq = static_cast<uint8_t>(base::get_bits<192, 8>(w));
    s.log_rq = static_cast<uint8_t>(base::get_bits<200, 8>(w));
    s.privileged = static_cast<uint8_t>(base::get_bits<208, 1>(w));
    s.has_srq = static_cast<uint8_t>(base::get_bits<209, 1>(w));
    s.reserved0 = static_cast<uint16_t>(base::get_bits<210, 14>(w));
    s.srq = static_cast<uint16_t>(base::get_bits<224, 16>(w));
    s.reserved2 = static_cast<uint16_t>(base::get_bits<240, 16>(w));
    base::get_bytes<256, 192>(w, s.reserved1.data());
    return s;
  }
  static constexpr size_t kBytes = 56;
  /// As the bytes in host memory: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_little<kBytes>(to_words().data(), out); }
  static AdminQpArgs unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_little_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "pd={}", pd);
    fmt::format_to(std::back_inserter(s), " page={}", page);
    fmt::format_to(std::back_inserter(s), " send_cq={}", send_cq);
    fmt::format_to(std::back_inserter(s), " recv_cq={}", recv_cq);
    fmt::format_to(std::back_inserter(s), " sq_base={}", sq_base);
    fmt::format_to(std::back_inserter(s), " rq_base={}", rq_base);
    fmt::format_to(std::back_inserter(s), " log_sq={}", log_sq);
    fmt::format_to(std::back_inserter(s), " log_rq={}", log_rq);
    fmt::format_to(std::back_inserter(s), " privileged={}", privileged);
    fmt::format_to(std::back_inserter(s), " has_srq={}", has_srq);
    if (reserved0 != 0) fmt::format_to(std::back_inserter(s), " reserved0={}", reserved0);
    fmt::format_to(std::back_inserter(s), " srq={}", srq);
    if (reserved2 != 0) fmt::format_to(std::back_inserter(s), " reserved2={}", reserved2);
    if (reserved1 != decltype(reserved1){}) fmt::format_to(std::back_inserter(s), " reserved1={}", base::short_hex(reserved1));
    return s;
  }
};

/// create_srq. A ring of 2^log_size receive WQEs, 4 to 32768, at base. Its fields lie where
/// admin_qp_args has those of the receive queue.
/// architecture 4
struct AdminSrqArgs {
  uint16_t pd = 0;  // 16 bits
  uint16_t page = 0;  // 16 bits
  uint32_t reserved0 = 0;  // 32 bits
  uint64_t reserved1 = 0;  // 64 bits
  uint64_t base = 0;  // 64 bits
  uint8_t reserved2 = 0;  // 8 bits
  uint8_t log_size = 0;  // 8 bits
  uint64_t reserved3 = 0;  // 48 bits
  std::array<uint8_t, 24> reserved4{};

  static constexpr std::string_view kName = "admin_srq_args";
  static constexpr size_t kBits = 448;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const AdminSrqArgs&, const AdminSrqArgs&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 16>(w.data(), pd);
    base::put_bits<16, 16>(w.data(), page);
    base::put_bits<32, 32>(w.data(), reserved0);
    base::put_bits<64, 64>(w.data(), reserved1);
    base::put_bits<128, 64>(w.data(), base);
    base::put_bits<192, 8>(w.data(), reserved2);
    base::put_bits<200, 8>(w.data(), log_size);
    base::put_bits<208, 48>(w.data(), reserved3);
    base::put_bytes<256, 192>(w.data(), reserved4.data());
    return w;
  }
  static AdminSrqArgs from_words(const uint32_t* w) {
    AdminSrqArgs s;
    s.pd = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    s.page = static_cast<uint16_t>(base::get_bits<16, 16>(w));
    s.reserved0 = static_cast<uint32_t>(base::get_bits<32, 32>(w));
    s.reserved1 = static_cast<uint64_t>(base::get_bits<64, 64>(w));
    s.base = static_cast<uint64_t>(base::get_bits<128, 64>(w));
    s.reserved2 = static_cast<uint8_t>(base::get_bits<192, 8>(w));
    s.log_size = static_cast<uint8_t>(base::get_bits<200, 8>(w));
    s.reserved3 = static_cast<uint64_t>(base::get_bits<208, 48>(w));
    base::get_bytes<256, 192>(w, s.reserved4.data());
    return s;
  }
  static constexpr size_t kBytes = 56;
  /// As the bytes in host memory: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_little<kBytes>(to_words().data(), out); }
  static AdminSrqArgs unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_little_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "pd={}", pd);
    fmt::format_to(std::back_inserter(s), " page={}", page);
    if (reserved0 != 0) fmt::format_to(std::back_inserter(s), " reserved0={}", reserved0);
    if (reserved1 != 0) fmt::format_to(std::back_inserter(s), " reserved1={}", reserved1);
    fmt::format_to(std::back_inserter(s), " base={}", base);
    if (reserved2 != 0) fmt::format_to(std::back_inserter(s), " reserved2={}", reserved2);
    fmt::format_to(std::back_inserter(s), " log_size={}", log_size);
    if (reserved3 != 0) fmt::format_to(std::back_inserter(s), " reserved3={}", reserved3);
    if (reserved4 != decltype(reserved4){}) fmt::format_to(std::back_inserter(s), " reserved4={}", base::short_hex(reserved4));
    return s;
  }
};

/// modify_srq. The next take that leaves fewer than limit WQEs in the SRQ makes one event, and no
/// later one does. 0: none.
/// architecture 4; rdma-core libibverbs/verbs.h struct ibv_srq_attr
struct AdminLimitArgs {
  uint16_t limit = 0;  // 16 bits
  uint64_t reserved0 = 0;  // 48 bits
  uint64_t reserved1 = 0;  // 64 bits
  std::array<uint8_t, 40> reserved2{};

  static constexpr std::string_view kName = "admin_limit_args";
  static constexpr size_t kBits = 448;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const AdminLimitArgs&, const AdminLimitArgs&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 16>(w.data(), limit);
    base::put_bits<16, 48>(w.data(), reserved0);
    base::put_bits<64, 64>(w.data(), reserved1);
    base::put_bytes<128, 320>(w.data(), reserved2.data());
    return w;
  }
  static AdminLimitArgs from_words(const uint32_t* w) {
    AdminLimitArgs s;
    s.limit = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    s.reserved0 = static_cast<uint64_t>(base::get_bits<16, 48>(w));
    s.reserved1 = static_cast<uint64_t>(base::get_bits<64, 64>(w));
    base::get_bytes<128, 320>(w, s.reserved2.data());
    return s;
  }
  static constexpr size_t kBytes = 56;
  /// As the bytes in host memory: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_little<kBytes>(to_words().data(), out); }
  static AdminLimitArgs unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_little_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "limit={}", limit);
    if (reserved0 != 0) fmt::format_to(std::back_inserter(s), " reserved0={}", reserved0);
    if (reserved1 != 0) fmt::format_to(std::back_inserter(s), " reserved1={}", reserved1);
    if (reserved2 != decltype(reserved2){}) fmt::format_to(std::back_inserter(s), " reserved2={}", base::short_hex(reserved2));
    return s;
  }
};

/// modify_qp. For rts: the connection, what was agreed in MPA start-up, the QP's share of the IRD
/// and ORD pools (first slot and count), and up to 532 last streaming bytes (the Reply), which
/// leave before RDMA mode (no_credit if the LLP would not take them at once). hold_tx: send no FPDU
/// before the first has arrived (passive side, RFC 5044). persist: both sides agreed on Flush
/// (decision 10).
/// architecture 7
struct AdminModifyArgs {
  uint8_t to_state = 0;  // 8 bits
  uint8_t use_crc = 0;  // 1 bit
  uint8_t rx_markers = 0;  // 1 bit
  uint8_t tx_markers = 0;  // 1 bit
  uint8_t hold_tx = 0;  // 1 bit
  uint8_t persist = 0;  // 1 bit
  uint8_t reserved0 = 0;  // 3 bits
  uint16_t connection = 0;  // 16 bits
  uint8_t ird = 0;  // 8 bits
  uint8_t ord = 0;  // 8 bits
  uint16_t reserved1 = 0;  // 16 bits
  uint16_t ird_base = 0;  // 16 bits
  uint16_t ord_base = 0;  // 16 bits
  uint16_t stream_length = 0;  // 16 bits
  uint16_t reserved2 = 0;  // 16 bits
  uint64_t stream_address = 0;  // 64 bits
  std::array<uint8_t, 32> reserved3{};

  static constexpr std::string_view kName = "admin_modify_args";
  static constexpr size_t kBits = 448;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const AdminModifyArgs&, const AdminModifyArgs&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 8>(w.data(), to_state);
    base::put_bits<8, 1>(w.data(), use_crc);
    base::put_bits<9, 1>(w.data(), rx_markers);
    base::put_bits<10, 1>(w.data(), tx_markers);
    base::put_bits<11, 1>(w.data(), hold_tx);
    base::put_bits<12, 1>(w.data(), persist);
    base::put_bits<13, 3>(w.data(), reserved0);
    base::put_bits<16, 16>(w.data(), connection);
    base::put_bits<32, 8>(w.data(), ird);
    base::put_bits<40, 8>(w.data(), ord);
    base::put_bits<48, 16>(w.data(), reserved1);
    base::put_bits<64, 16>(w.data(), ird_base);
    base::put_bits<80, 16>(w.data(), ord_base);
    base::put_bits<96, 16>(w.data(), stream_length);
    base::put_bits<112, 16>(w.data(), reserved2);
    base::put_bits<128, 64>(w.data(), stream_address);
    base::put_bytes<192, 256>(w.data(), reserved3.data());
    return w;
  }
  static AdminModifyArgs from_words(const uint32_t* w) {
    AdminModifyArgs s;
    s.to_state = static_cast<uint8_t>(base::get_bits<0, 8>(w));
    s.use_crc = static_cast<uint8_t>(base::get_bits<8, 1>(w));
    s.rx_markers = static_cast<uint8_t>(base::get_bits<9, 1>(w));
    s.tx_markers = static_cast<uint8_t>(base::get_bits<10, 1>(w));
    s.hold_tx = static_cast<uint8_t>(base::get_bits<11, 1>(w));
    s.persist = static_cast<uint8_t>(base::get_bits<12, 1>(w));
    s.reserved0 = static_cast<uint8_t>(base::get_bits<13, 3>(w));
    s.connection = static_cast<uint16_t>(base::get_bits<16, 16>(w));
    s.ird = static_cast<uint8_t>(base::get_bits<32, 8>(w));
    s.ord = static_cast<uint8_t>(base::get_bits<40, 8>(w));
    s.reserved1 = static_cast<uint16_t>(base::get_bits<48, 16>(w));
    s.ird_base = static_cast<uint16_t>(base::get_bits<64, 16>(w));
    s.ord_base = static_cast<uint16_t>(base::get_bits<80, 16>(w));
    s.stream_length = static_cast<uint16_t>(base::get_bits<96, 16>(w));
    s.reserved2 = static_cast<uint16_t>(base::get_bits<112, 16>(w));
    s.stream_address = static_cast<uint64_t>(base::get_bits<128, 64>(w));
    base::get_bytes<192, 256>(w, s.reserved3.data());
    return s;
  }
  static constexpr size_t kBytes = 56;
  /// As the bytes in host memory: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_little<kBytes>(to_words().data(), out); }
  static AdminModifyArgs unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_little_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "to_state={}", to_state);
    fmt::format_to(std::back_inserter(s), " use_crc={}", use_crc);
    fmt::format_to(std::back_inserter(s), " rx_markers={}", rx_markers);
    fmt::format_to(std::back_inserter(s), " tx_markers={}", tx_markers);
    fmt::format_to(std::back_inserter(s), " hold_tx={}", hold_tx);
    fmt::format_to(std::back_inserter(s), " persist={}", persist);
    if (reserved0 != 0) fmt::format_to(std::back_inserter(s), " reserved0={}", reserved0);
    fmt::format_to(std::back_inserter(s), " connection={}", connection);
    fmt::format_to(std::back_inserter(s), " ird={}", ird);
    fmt::format_to(std::back_inserter(s), " ord={}", ord);
    if (reserved1 != 0) fmt::format_to(std::back_inserter(s), " reserved1={}", reserved1);
    fmt::format_to(std::back_inserter(s), " ird_base={}", ird_base);
    fmt::format_to(std::back_inserter(s), " ord_base={}", ord_base);
    fmt::format_to(std::back_inserter(s), " stream_length={}", stream_length);
    if (reserved2 != 0) fmt::format_to(std::back_inserter(s), " reserved2={}", reserved2);
    fmt::format_to(std::back_inserter(s), " stream_address={:#x}", stream_address);
    if (reserved3 != decltype(reserved3){}) fmt::format_to(std::back_inserter(s), " reserved3={}", base::short_hex(reserved3));
    return s;
  }
};

/// create_mr. base_to is the TO of the first byte (0 for zero-based); first_offset its offset in
/// the first page. pages entries of 8 bytes at page_list go to page-list entries from pbl_base on.
/// Rights: bits of access_flag. bound: only QP qpn may use the STag, as its remote invalidation
/// requires. fast: an STag for fast registrations, closed until the first; 2^log_page page-list
/// entries (pages) are kept for it, and fields without a meaning are 0. window: 1 or 2: a memory
/// window of this type, not bound; likewise closed, and all fields but pd and key are 0.
/// architecture 6
struct AdminMrArgs {
  uint16_t pd = 0;  // 16 bits
  uint8_t key = 0;  // 8 bits
  uint8_t log_page = 0;  // 8 bits
  uint16_t rights = 0;  // 16 bits
  uint16_t qpn = 0;  // 16 bits
  uint64_t base_to = 0;  // 64 bits
  uint64_t length = 0;  // 64 bits
  uint32_t first_offset = 0;  // 32 bits
  uint32_t pbl_base = 0;  // 32 bits
  uint64_t page_list = 0;  // 64 bits
  uint32_t pages = 0;  // 32 bits
  uint8_t bound = 0;  // 1 bit
  uint8_t fast = 0;  // 1 bit
  uint8_t window = 0;  // 2 bits
  uint32_t reserved1 = 0;  // 28 bits
  uint64_t reserved2 = 0;  // 64 bits

  static constexpr std::string_view kName = "admin_mr_args";
  static constexpr size_t kBits = 448;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const AdminMrArgs&, const AdminMrArgs&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 16>(w.data(), pd);
    base::put_bits<16, 8>(w.data(), key);
    base::put_bits<24, 8>(w.data(), log_page);
    base::put_bits<32, 16>(w.data(), rights);
    base::put_bits<48, 16>(w.data(), qpn);
    base::put_bits<64, 64>(w.data(), base_to);
    base::put_bits<128, 64>(w.data(), length);
    base::put_bits<192, 32>(w.data(), first_offset);
    base::put_bits<224, 32>(w.data(), pbl_base);
    base::put_bits<256, 64>(w.data(), page_list);
    base::put_bits<320, 32>(w.data(), pages);
    base::put_bits<352, 1>(w.data(), bound);
    base::put_bits<353, 1>(w.data(), fast);
    base::put_bits<354, 2>(w.data(), window);
    base::put_bits<356, 28>(w.data(), reserved1);
    base::put_bits<384, 64>(w.data(), reserved2);
    return w;
  }
  static AdminMrArgs from_words(const uint32_t* w) {
    AdminMrArgs s;
    s.pd = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    s.key = static_cast<uint8_t>(base::get_bits<16, 8>(w));
    s.log_page = static_cast<uint8_t>(base::get_bits<24, 8>(w));
    s.rights = static_cast<uint16_t>(base::get_bits<32, 16>(w));
    s.qpn = static_cast<uint16_t>(base::get_bits<48, 16>(w));
    s.base_to = static_cast<uint64_t>(base::get_bits<64, 64>(w));
    s.length = static_cast<uint64_t>(base::get_bits<128, 64>(w));
    s.first_offset = static_cast<uint32_t>(base::get_bits<192, 32>(w));
    s.pbl_base = static_cast<uint32_t>(base::get_bits<224, 32>(w));
    s.page_list = static_cast<uint64_t>(base::get_bits<256, 64>(w));
    s.pages = static_cast<uint32_t>(base::get_bits<320, 32>(w));
    s.bound = static_cast<uint8_t>(base::get_bits<352, 1>(w));
    s.fast = static_cast<uint8_t>(base::get_bits<353, 1>(w));
    s.window = static_cast<uint8_t>(base::get_bits<354, 2>(w));
    s.reserved1 = static_cast<uint32_t>(base::get_bits<356, 28>(w));
    s.reserved2 = static_cast<uint64_t>(base::get_bits<384, 64>(w));
    return s;
  }
  static constexpr size_t kBytes = 56;
  /// As the bytes in host memory: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_little<kBytes>(to_words().data(), out); }
  static AdminMrArgs unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_little_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "pd={}", pd);
    fmt::format_to(std::back_inserter(s), " key={}", key);
    fmt::format_to(std::back_inserter(s), " log_page={}", log_page);
    fmt::format_to(std::back_inserter(s), " rights={}", rights);
    fmt::format_to(std::back_inserter(s), " qpn={}", qpn);
    fmt::format_to(std::back_inserter(s), " base_to={:#x}", base_to);
    fmt::format_to(std::back_inserter(s), " length={}", length);
    fmt::format_to(std::back_inserter(s), " first_offset={:#x}", first_offset);
    fmt::format_to(std::back_inserter(s), " pbl_base={}", pbl_base);
    fmt::format_to(std::back_inserter(s), " page_list={}", page_list);
    fmt::format_to(std::back_inserter(s), " pages={}", pages);
    fmt::format_to(std::back_inserter(s), " bound={}", bound);
    fmt::format_to(std::back_inserter(s), " fast={}", fast);
    fmt::format_to(std::back_inserter(s), " window={}", window);
    if (reserved1 != 0) fmt::format_to(std::back_inserter(s), " reserved1={}", reserved1);
    if (reserved2 != 0) fmt::format_to(std::back_inserter(s), " reserved2={}", reserved2);
    return s;
  }
};

/// Connection commands.
/// architecture 7
struct AdminConnArgs {
  uint64_t address = 0;  // 64 bits
  uint16_t length = 0;  // 16 bits
  uint16_t peer_port = 0;  // 16 bits
  uint32_t peer_address = 0;  // 32 bits
  std::array<uint8_t, 40> reserved0{};

  static constexpr std::string_view kName = "admin_conn_args";
  static constexpr size_t kBits = 448;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const AdminConnArgs&, const AdminConnArgs&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 64>(w.data(), address);
    base::put_bits<64, 16>(w.data(), length);
    base::put_bits<80, 16>(w.data(), peer_port);
    base::put_bits<96, 32>(w.data(), peer_address);
    base::put_bytes<128, 320>(w.data(), reserved0.data());
    return w;
  }
  static AdminConnArgs from_words(const uint32_t* w) {
    AdminConnArgs s;
    s.address = static_cast<uint64_t>(base::get_bits<0, 64>(w));
    s.length = static_cast<uint16_t>(base::get_bits<64, 16>(w));
    s.peer_port = static_cast<uint16_t>(base::get_bits<80, 16>(w));
    s.peer_address = static_cast<uint32_t>(base::get_bits<96, 32>(w));
    base::get_bytes<128, 320>(w, s.reserved0.data());
    return s;
  }
  static constexpr size_t kBytes = 56;
  /// As the bytes in host memory: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_little<kBytes>(to_words().data(), out); }
  static AdminConnArgs unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_little_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "address={:#x}", address);
    fmt::format_to(std::back_inserter(s), " length={}", length);
    fmt::format_to(std::back_inserter(s), " peer_port={}", peer_port);
    fmt::format_to(std::back_inserter(s), " peer_address={:#x}", peer_address);
    if (reserved0 != decltype(reserved0){}) fmt::format_to(std::back_inserter(s), " reserved0={}", base::short_hex(reserved0));
    return s;
  }
};

/// Result of conn_query and conn_connect. waiting: streaming bytes that conn_give would find.
/// architecture 7
struct AdminConnResult {
  uint16_t connection = 0;  // 16 bits
  ConnState state{};
  uint8_t passive = 0;  // 1 bit
  uint8_t has_qp = 0;  // 1 bit
  uint8_t reserved0 = 0;  // 2 bits
  uint8_t reserved1 = 0;  // 8 bits
  uint16_t waiting = 0;  // 16 bits
  uint16_t mss = 0;  // 16 bits
  uint32_t peer_address = 0;  // 32 bits
  uint16_t peer_port = 0;  // 16 bits
  uint16_t local_port = 0;  // 16 bits

  static constexpr std::string_view kName = "admin_conn_result";
  static constexpr size_t kBits = 128;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const AdminConnResult&, const AdminConnResult&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 16>(w.data(), connection);
    base::put_bits<16, 4>(w.data(), static_cast<uint64_t>(state));
    base::put_bits<20, 1>(w.data(), passive);
    base::put_bits<21, 1>(w.data(), has_qp);
    base::put_bits<22, 2>(w.data(), reserved0);
    base::put_bits<24, 8>(w.data(), reserved1);
    base::put_bits<32, 16>(w.data(), waiting);
    base::put_bits<48, 16>(w.data(), mss);
    base::put_bits<64, 32>(w.data(), peer_address);
    base::put_bits<96, 16>(w.data(), peer_port);
    base::put_bits<112, 16>(w.data(), local_port);
    return w;
  }
  static AdminConnResult from_words(const uint32_t* w) {
    AdminConnResult s;
    s.connection = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    s.state = static_cast<ConnState>(base::get_bits<16, 4>(w));
    s.passive = static_cast<uint8_t>(base::get_bits<20, 1>(w));
    s.has_qp = static_cast<uint8_t>(base::get_bits<21, 1>(w));
    s.reserved0 = static_cast<uint8_t>(base::get_bits<22, 2>(w));
    s.reserved1 = static_cast<uint8_t>(base::get_bits<24, 8>(w));
    s.waiting = static_cast<uint16_t>(base::get_bits<32, 16>(w));
    s.mss = static_cast<uint16_t>(base::get_bits<48, 16>(w));
    s.peer_address = static_cast<uint32_t>(base::get_bits<64, 32>(w));
    s.peer_port = static_cast<uint16_t>(base::get_bits<96, 16>(w));
    s.local_port = static_cast<uint16_t>(base::get_bits<112, 16>(w));
    return s;
  }
  static constexpr size_t kBytes = 16;
  /// As the bytes in host memory: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_little<kBytes>(to_words().data(), out); }
  static AdminConnResult unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_little_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "connection={}", connection);
    fmt::format_to(std::back_inserter(s), " state={}", to_string(state));
    fmt::format_to(std::back_inserter(s), " passive={}", passive);
    fmt::format_to(std::back_inserter(s), " has_qp={}", has_qp);
    if (reserved0 != 0) fmt::format_to(std::back_inserter(s), " reserved0={}", reserved0);
    if (reserved1 != 0) fmt::format_to(std::back_inserter(s), " reserved1={}", reserved1);
    fmt::format_to(std::back_inserter(s), " waiting={}", waiting);
    fmt::format_to(std::back_inserter(s), " mss={}", mss);
    fmt::format_to(std::back_inserter(s), " peer_address={:#x}", peer_address);
    fmt::format_to(std::back_inserter(s), " peer_port={}", peer_port);
    fmt::format_to(std::back_inserter(s), " local_port={}", local_port);
    return s;
  }
};

/// Result of conn_give. length: bytes that came; fewer than requested, or none, if the LLP had
/// reported the bytes that wait before an earlier conn_give took some of them.
/// architecture 7
struct AdminGiveResult {
  uint16_t length = 0;  // 16 bits
  uint64_t reserved0 = 0;  // 48 bits
  uint64_t reserved1 = 0;  // 64 bits

  static constexpr std::string_view kName = "admin_give_result";
  static constexpr size_t kBits = 128;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const AdminGiveResult&, const AdminGiveResult&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 16>(w.data(), length);
    base::put_bits<16, 48>(w.data(), reserved0);
    base::put_bits<64, 64>(w.data(), reserved1);
    return w;
  }
  static AdminGiveResult from_words(const uint32_t* w) {
    AdminGiveResult s;
    s.length = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    s.reserved0 = static_cast<uint64_t>(base::get_bits<16, 48>(w));
    s.reserved1 = static_cast<uint64_t>(base::get_bits<64, 64>(w));
    return s;
  }
  static constexpr size_t kBytes = 16;
  /// As the bytes in host memory: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_little<kBytes>(to_words().data(), out); }
  static AdminGiveResult unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_little_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "length={}", length);
    if (reserved0 != 0) fmt::format_to(std::back_inserter(s), " reserved0={}", reserved0);
    if (reserved1 != 0) fmt::format_to(std::back_inserter(s), " reserved1={}", reserved1);
    return s;
  }
};

/// Result of query_qp. peer_term: layer, type, code of a Terminate that the peer sent
/// (has_peer_term). drained: destroy is allowed.
/// architecture 7
struct AdminQpResult {
  QpState state{};
  uint8_t has_peer_term = 0;  // 1 bit
  uint8_t drained = 0;  // 1 bit
  uint8_t reserved0 = 0;  // 3 bits
  Cause cause{};
  uint16_t peer_term = 0;  // 16 bits
  uint16_t sq_retired = 0;  // 16 bits
  uint16_t rq_retired = 0;  // 16 bits
  uint64_t reserved1 = 0;  // 64 bits

  static constexpr std::string_view kName = "admin_qp_result";
  static constexpr size_t kBits = 128;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const AdminQpResult&, const AdminQpResult&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 3>(w.data(), static_cast<uint64_t>(state));
    base::put_bits<3, 1>(w.data(), has_peer_term);
    base::put_bits<4, 1>(w.data(), drained);
    base::put_bits<5, 3>(w.data(), reserved0);
    base::put_bits<8, 8>(w.data(), static_cast<uint64_t>(cause));
    base::put_bits<16, 16>(w.data(), peer_term);
    base::put_bits<32, 16>(w.data(), sq_retired);
    base::put_bits<48, 16>(w.data(), rq_retired);
    base::put_bits<64, 64>(w.data(), reserved1);
    return w;
  }
  static AdminQpResult from_words(const uint32_t* w) {
    AdminQpResult s;
    s.state = static_cast<QpState>(base::get_bits<0, 3>(w));
    s.has_peer_term = static_cast<uint8_t>(base::get_bits<3, 1>(w));
    s.drained = static_cast<uint8_t>(base::get_bits<4, 1>(w));
    s.reserved0 = static_cast<uint8_t>(base::get_bits<5, 3>(w));
    s.cause = static_cast<Cause>(base::get_bits<8, 8>(w));
    s.peer_term = static_cast<uint16_t>(base::get_bits<16, 16>(w));
    s.sq_retired = static_cast<uint16_t>(base::get_bits<32, 16>(w));
    s.rq_retired = static_cast<uint16_t>(base::get_bits<48, 16>(w));
    s.reserved1 = static_cast<uint64_t>(base::get_bits<64, 64>(w));
    return s;
  }
  static constexpr size_t kBytes = 16;
  /// As the bytes in host memory: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_little<kBytes>(to_words().data(), out); }
  static AdminQpResult unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_little_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "state={}", to_string(state));
    fmt::format_to(std::back_inserter(s), " has_peer_term={}", has_peer_term);
    fmt::format_to(std::back_inserter(s), " drained={}", drained);
    if (reserved0 != 0) fmt::format_to(std::back_inserter(s), " reserved0={}", reserved0);
    fmt::format_to(std::back_inserter(s), " cause={}", to_string(cause));
    fmt::format_to(std::back_inserter(s), " peer_term={}", peer_term);
    fmt::format_to(std::back_inserter(s), " sq_retired={}", sq_retired);
    fmt::format_to(std::back_inserter(s), " rq_retired={}", rq_retired);
    if (reserved1 != 0) fmt::format_to(std::back_inserter(s), " reserved1={}", reserved1);
    return s;
  }
};

/// Result of query_cq.
/// architecture 4
struct AdminCqResult {
  uint16_t producer = 0;  // 16 bits
  uint16_t consumer = 0;  // 16 bits
  uint8_t overrun = 0;  // 1 bit
  uint8_t armed = 0;  // 1 bit
  uint32_t reserved0 = 0;  // 30 bits
  uint64_t reserved1 = 0;  // 64 bits

  static constexpr std::string_view kName = "admin_cq_result";
  static constexpr size_t kBits = 128;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const AdminCqResult&, const AdminCqResult&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 16>(w.data(), producer);
    base::put_bits<16, 16>(w.data(), consumer);
    base::put_bits<32, 1>(w.data(), overrun);
    base::put_bits<33, 1>(w.data(), armed);
    base::put_bits<34, 30>(w.data(), reserved0);
    base::put_bits<64, 64>(w.data(), reserved1);
    return w;
  }
  static AdminCqResult from_words(const uint32_t* w) {
    AdminCqResult s;
    s.producer = static_cast<uint16_t>(base::get_bits<0, 16>(w));
    s.consumer = static_cast<uint16_t>(base::get_bits<16, 16>(w));
    s.overrun = static_cast<uint8_t>(base::get_bits<32, 1>(w));
    s.armed = static_cast<uint8_t>(base::get_bits<33, 1>(w));
    s.reserved0 = static_cast<uint32_t>(base::get_bits<34, 30>(w));
    s.reserved1 = static_cast<uint64_t>(base::get_bits<64, 64>(w));
    return s;
  }
  static constexpr size_t kBytes = 16;
  /// As the bytes in host memory: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_little<kBytes>(to_words().data(), out); }
  static AdminCqResult unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_little_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "producer={}", producer);
    fmt::format_to(std::back_inserter(s), " consumer={}", consumer);
    fmt::format_to(std::back_inserter(s), " overrun={}", overrun);
    fmt::format_to(std::back_inserter(s), " armed={}", armed);
    if (reserved0 != 0) fmt::format_to(std::back_inserter(s), " reserved0={}", reserved0);
    if (reserved1 != 0) fmt::format_to(std::back_inserter(s), " reserved1={}", reserved1);
    return s;
  }
};

/// Result of create_mr and query_mr.
/// architecture 6
struct AdminMrResult {
  uint32_t stag = 0;  // 32 bits
  uint16_t pd = 0;  // 16 bits
  uint16_t rights = 0;  // 16 bits
  uint64_t length = 0;  // 64 bits

  static constexpr std::string_view kName = "admin_mr_result";
  static constexpr size_t kBits = 128;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const AdminMrResult&, const AdminMrResult&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 32>(w.data(), stag);
    base::put_bits<32, 16>(w.data(), pd);
    base::put_bits<48, 16>(w.data(), rights);
    base::put_bits<64, 64>(w.data(), length);
    return w;
  }
  static AdminMrResult from_words(const uint32_t* w) {
    AdminMrResult s;
    s.stag = static_cast<uint32_t>(base::get_bits<0, 32>(w));
    s.pd = static_cast<uint16_t>(base::get_bits<32, 16>(w));
    s.rights = static_cast<uint16_t>(base::get_bits<48, 16>(w));
    s.length = static_cast<uint64_t>(base::get_bits<64, 64>(w));
    return s;
  }
  static constexpr size_t kBytes = 16;
  /// As the bytes in host memory: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_little<kBytes>(to_words().data(), out); }
  static AdminMrResult unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_little_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "stag={:#x}", stag);
    fmt::format_to(std::back_inserter(s), " pd={}", pd);
    fmt::format_to(std::back_inserter(s), " rights={}", rights);
    fmt::format_to(std::back_inserter(s), " length={}", length);
    return s;
  }
};

/// Result of destroy_mr: what is free again.
/// architecture 6
struct AdminDestroyMrResult {
  uint32_t stag = 0;  // 32 bits
  uint16_t pd = 0;  // 16 bits
  uint16_t slot = 0;  // 16 bits
  uint64_t reserved0 = 0;  // 64 bits

  static constexpr std::string_view kName = "admin_destroy_mr_result";
  static constexpr size_t kBits = 128;
  using Words = std::array<uint32_t, (kBits + 31) / 32>;
  friend bool operator==(const AdminDestroyMrResult&, const AdminDestroyMrResult&) = default;
  /// The packed SystemVerilog vector, bit 0 in word 0.
  [[nodiscard]] Words to_words() const {
    Words w{};
    base::put_bits<0, 32>(w.data(), stag);
    base::put_bits<32, 16>(w.data(), pd);
    base::put_bits<48, 16>(w.data(), slot);
    base::put_bits<64, 64>(w.data(), reserved0);
    return w;
  }
  static AdminDestroyMrResult from_words(const uint32_t* w) {
    AdminDestroyMrResult s;
    s.stag = static_cast<uint32_t>(base::get_bits<0, 32>(w));
    s.pd = static_cast<uint16_t>(base::get_bits<32, 16>(w));
    s.slot = static_cast<uint16_t>(base::get_bits<48, 16>(w));
    s.reserved0 = static_cast<uint64_t>(base::get_bits<64, 64>(w));
    return s;
  }
  static constexpr size_t kBytes = 16;
  /// As the bytes in host memory: out.size() is at least kBytes.
  void pack(std::span<uint8_t> out) const { base::words_to_bytes_little<kBytes>(to_words().data(), out); }
  static AdminDestroyMrResult unpack(std::span<const uint8_t> in) {
    Words w{};
    base::bytes_little_to_words<kBytes>(in, w.data());
    return from_words(w.data());
  }
  [[nodiscard]] std::string describe() const {
    std::string s;
    fmt::format_to(std::back_inserter(s), "stag={:#x}", stag);
    fmt::format_to(std::back_inserter(s), " pd={}", pd);
    fmt::format_to(std::back_inserter(s), " slot={}", slot);
    if (reserved0 != 0) fmt::format_to(std::back_inserter(s), " reserved0={}", reserved0);
    return s;
  }
};

}  // namespace rnic::spec

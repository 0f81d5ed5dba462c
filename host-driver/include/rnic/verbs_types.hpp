// Plain types of verbs. Enumerators keep rdma-core's names and values (libibverbs/verbs.h).
//
//   Sge sge{mr.addr(), 64, mr.lkey()};
//   SendWr wr{.wr_id = 7, .sg_list = {&sge, 1}, .opcode = IBV_WR_SEND,
//             .send_flags = IBV_SEND_SIGNALED};
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rnic/pci_device.hpp"
#include "rnic/result.hpp"

namespace rnic::verbs {

enum WrOpcode : uint32_t {
  IBV_WR_RDMA_WRITE = 0,
  IBV_WR_RDMA_WRITE_WITH_IMM = 1,
  IBV_WR_SEND = 2,
  IBV_WR_SEND_WITH_IMM = 3,
  IBV_WR_RDMA_READ = 4,
  IBV_WR_ATOMIC_CMP_AND_SWP = 5,
  IBV_WR_ATOMIC_FETCH_AND_ADD = 6,
  IBV_WR_LOCAL_INV = 7,
  IBV_WR_BIND_MW = 8,
  IBV_WR_SEND_WITH_INV = 9,
  IBV_WR_FLUSH = 14,
  IBV_WR_ATOMIC_WRITE = 15,
  IBV_WR_REG_MR = 32,  ///< IB_WR_REG_MR of the Linux kernel: fast registration
  RNIC_WR_IMM = 0x80,  ///< not in rdma-core: Immediate Data of RFC 7306, without a Write
  RNIC_WR_VERIFY,      ///< not in rdma-core: Verify of draft-talpey-rdma-commit
};

/// States of data that wr_flush() waits for: rdma-core's values, not the wire's bits.
enum PlacementType : uint32_t {
  IBV_FLUSH_GLOBAL = 1 << 0,      ///< visible
  IBV_FLUSH_PERSISTENT = 1 << 1,  ///< durable
};
/// The bytes that a Flush covers: the named range. IBV_FLUSH_MR (the whole region) has no iWARP
/// wire format and is refused (EOPNOTSUPP).
enum SelectivityLevel : uint32_t {
  IBV_FLUSH_RANGE = 0,
  IBV_FLUSH_MR = 1,
};

enum SendFlags : uint32_t {
  IBV_SEND_FENCE = 1 << 0,
  IBV_SEND_SIGNALED = 1 << 1,
  IBV_SEND_SOLICITED = 1 << 2,
  IBV_SEND_INLINE = 1 << 3,
};

enum AccessFlags : uint32_t {
  IBV_ACCESS_LOCAL_WRITE = 1 << 0,
  IBV_ACCESS_REMOTE_WRITE = 1 << 1,
  IBV_ACCESS_REMOTE_READ = 1 << 2,
  IBV_ACCESS_REMOTE_ATOMIC = 1 << 3,  ///< FetchAdd, CmpSwap; Atomic Write needs REMOTE_WRITE
  IBV_ACCESS_MW_BIND = 1 << 4,        ///< memory windows may be bound to the region
  IBV_ACCESS_ZERO_BASED = 1 << 5,
  IBV_ACCESS_FLUSH_GLOBAL = 1 << 8,
  IBV_ACCESS_FLUSH_PERSISTENT = 1 << 9,
  /// The peer may invalidate the STag by Send with Invalidate. Only for a region that is bound to a
  /// QP (RFC 5040 8.1.1): by Qp::reg_mr, or by the QP that registers it (IBV_WR_REG_MR). Not with
  /// IBV_ACCESS_MW_BIND. Our extension.
  RNIC_ACCESS_REMOTE_INVALIDATE = 1 << 10,
};

enum MwType : uint32_t {
  IBV_MW_TYPE_1 = 1,  ///< for all QPs of its PD; bound again, it gets another key
  /// Only for the QP that binds it. Before it is bound again it must be invalidated, by that QP
  /// (IBV_WR_LOCAL_INV) or its peer (Send with Invalidate).
  IBV_MW_TYPE_2 = 2,
};

/// Accesses that a device's atomics exclude: none, each other, or also stores of host CPUs.
enum AtomicCap : uint32_t {
  IBV_ATOMIC_NONE = 0,
  IBV_ATOMIC_HCA = 1,
  IBV_ATOMIC_GLOB = 2,
};

enum CreateCqFlags : uint32_t {
  IBV_CREATE_CQ_ATTR_SINGLE_THREADED = 1 << 0,
};

enum WcStatus : uint32_t {
  IBV_WC_SUCCESS = 0,
  IBV_WC_LOC_LEN_ERR = 1,
  IBV_WC_LOC_QP_OP_ERR = 2,
  IBV_WC_LOC_PROT_ERR = 4,
  IBV_WC_WR_FLUSH_ERR = 5,
  /// Refused: a fast registration, a bind, the invalidation of a region with memory windows.
  IBV_WC_MW_BIND_ERR = 6,
  IBV_WC_REM_INV_REQ_ERR = 9,
  IBV_WC_REM_ACCESS_ERR = 10,
  IBV_WC_REM_OP_ERR = 11,
  IBV_WC_FATAL_ERR = 19,
  IBV_WC_GENERAL_ERR = 21,
};
std::string_view to_string(WcStatus status);

enum WcOpcode : uint32_t {
  IBV_WC_SEND = 0,
  IBV_WC_RDMA_WRITE = 1,
  IBV_WC_RDMA_READ = 2,
  IBV_WC_COMP_SWAP = 3,
  IBV_WC_FETCH_ADD = 4,
  IBV_WC_BIND_MW = 5,
  IBV_WC_LOCAL_INV = 6,
  IBV_WC_FLUSH = 8,
  IBV_WC_ATOMIC_WRITE = 9,
  IBV_WC_REG_MR = 10,  ///< IB_WC_REG_MR of the Linux kernel
  IBV_WC_RECV = 1 << 7,
  IBV_WC_RECV_RDMA_WITH_IMM = (1 << 7) + 1,
};

enum WcFlags : uint32_t {
  IBV_WC_WITH_IMM = 1 << 1,
  IBV_WC_WITH_INV = 1 << 3,
};

enum QpState : uint32_t {
  IBV_QPS_RESET = 0,
  IBV_QPS_INIT = 1,  ///< device state IDLE; receives may be posted
  IBV_QPS_RTR = 2,
  IBV_QPS_RTS = 3,  ///< connected
  IBV_QPS_SQD = 4,  ///< device state CLOSING: graceful close
  IBV_QPS_SQE = 5,  ///< device state TERMINATE
  IBV_QPS_ERR = 6,  ///< posts are accepted and flushed
};
std::string_view to_string(QpState state);

enum EventType : uint32_t {
  IBV_EVENT_CQ_ERR = 0,
  IBV_EVENT_QP_FATAL = 1,
  IBV_EVENT_QP_REQ_ERR = 2,
  IBV_EVENT_QP_ACCESS_ERR = 3,
  IBV_EVENT_DEVICE_FATAL = 8,
  /// A message left fewer receives in the SRQ than srq_limit. The limit is disarmed: it is now 0.
  IBV_EVENT_SRQ_LIMIT_REACHED = 15,
};

/// "IBV_EVENT_QP_FATAL"
std::string_view to_string(EventType type);

struct Sge {
  uint64_t addr = 0;  ///< in the region's address space; a pointer of this process for inline data
  uint32_t length = 0;
  uint32_t lkey = 0;
};

class Mr;
class Mw;

/// A piece of memory for Mr::map_mr_sg, as an entry of a kernel's mapped scatter list.
struct SgRange {
  DmaBuffer buffer{};   ///< empty: `addr` is a bus address, and the caller keeps the memory
  uint64_t addr = 0;    ///< offset in the buffer, or bus address
  uint64_t length = 0;  ///< 0: the entry is skipped
};

/// The bytes of a memory window, as struct ibv_mw_bind_info.
struct MwBindInfo {
  Mr* mr = nullptr;     ///< registered with IBV_ACCESS_MW_BIND; may be null if length is 0
  uint64_t addr = 0;    ///< in the region's address space
  uint64_t length = 0;  ///< below 2^32; 0: a window of type 1 is unbound
  /// AccessFlags of the peer: remote rights and Flush. The window's addresses are those of the
  /// region, or count from 0 with IBV_ACCESS_ZERO_BASED.
  uint32_t access = 0;
};

/// A bind of a window of type 1, as struct ibv_mw_bind.
struct MwBind {
  uint64_t wr_id = 0;
  uint32_t send_flags = 0;
  MwBindInfo bind_info{};
};

/// ibv_inc_rkey: the next key of a memory window; only the low 8 bits change.
constexpr uint32_t inc_rkey(uint32_t rkey) { return (rkey & ~0xffu) | ((rkey + 1) & 0xff); }

struct SendWr {
  uint64_t wr_id = 0;
  std::span<const Sge> sg_list{};
  WrOpcode opcode = IBV_WR_SEND;
  uint32_t send_flags = 0;
  uint64_t remote_addr = 0;  ///< Write, Read, Flush, FetchAdd, CmpSwap, Atomic Write
  /// The peer's STag for remote_addr. Send with Invalidate: the peer's STag to invalidate.
  /// IBV_WR_LOCAL_INV: the STag of this host to invalidate.
  uint32_t rkey = 0;
  uint32_t flush_length = 0;  ///< Flush: bytes from remote_addr on; 0 is an ordering point
  uint8_t flush_type = 0;     ///< Flush: PlacementType, at least one bit
  /// Write with Immediate, Immediate Data: 8 bytes, the most significant one first on the wire.
  /// imm_of() converts verbs' imm_data.
  uint64_t imm = 0;
  uint64_t compare_add = 0;  ///< CmpSwap: compared with the target; FetchAdd: added to it
  uint64_t swap = 0;         ///< CmpSwap: stored if the comparison succeeds
  // Masks of RFC 7306 5.1, absent from rdma-core. The defaults give the plain operations.
  uint64_t add_mask = 0;                 ///< FetchAdd: a set bit is the top bit of a field
  uint64_t compare_mask = ~uint64_t{0};  ///< CmpSwap: bits to compare
  uint64_t swap_mask = ~uint64_t{0};     ///< CmpSwap: bits to store
  // IBV_WR_REG_MR, as struct ib_reg_wr of the Linux kernel.
  Mr* mr = nullptr;     ///< mapped by Mr::map_mr_sg
  uint32_t key = 0;     ///< mr->rkey(). IBV_WR_BIND_MW: the window's new key (inc_rkey)
  uint32_t access = 0;  ///< AccessFlags of the registration
  // IBV_WR_BIND_MW.
  Mw* mw = nullptr;
  MwBindInfo bind_info{};
};

/// Verbs' imm_data (4 bytes in network order) as SendWr::imm: the first 4 bytes on the wire, then
/// zeros, since Immediate Data has 8 bytes (RFC 7306 section 6).
uint64_t imm_of(uint32_t imm_data);

struct RecvWr {
  uint64_t wr_id = 0;
  std::span<const Sge> sg_list{};
};

/// The number of work requests accepted, in order, and the error that stopped the next one.
struct [[nodiscard]] PostResult {
  size_t accepted = 0;
  std::optional<Error> error{};
  explicit operator bool() const { return !error.has_value(); }
};

/// With an error only wr_id, status, qp_num and vendor_err are valid; poll_cq() also sets opcode.
struct Wc {
  uint64_t wr_id = 0;
  WcStatus status = IBV_WC_SUCCESS;
  WcOpcode opcode = IBV_WC_SEND;
  uint32_t vendor_err = 0;  ///< spec::Cause
  /// Of IBV_WC_RECV_RDMA_WITH_IMM: bytes of the peer's last Write since its last Send or Immediate
  /// Data, 0 without one.
  uint32_t byte_len = 0;
  uint32_t qp_num = 0;
  uint32_t wc_flags = 0;          ///< WcFlags
  uint32_t imm_data = 0;          ///< with IBV_WC_WITH_IMM: the first 4 bytes, in network order
  uint64_t imm = 0;               ///< all 8 bytes, as in SendWr
  uint32_t invalidated_rkey = 0;  ///< with IBV_WC_WITH_INV: no access through it is in flight
  /// Device cycles, 48 bits; Context::to_time() converts to picoseconds.
  uint64_t completion_ts = 0;
};

struct AsyncEvent {
  EventType type = IBV_EVENT_QP_FATAL;
  uint32_t object = 0;     ///< QPN, CQ number or SRQ number
  uint32_t cause = 0;      ///< spec::Cause
  uint16_t peer_term = 0;  ///< layer, type and code of a Terminate that the peer sent; 0: none
};
/// Event, cause with its meaning, and the peer's Terminate if it sent one.
std::string to_string(const AsyncEvent& event);
/// "1/1/00 (ddp_tagged_stag)": layer (4 bits), type (4) and code (8) of a Terminate, with the cause
/// for which the device sends it, if there is one (docs/gen/errors.md).
std::string terminate_text(uint32_t term);

struct QpCap {
  /// Counts WQEs of the size given by max_send_sge and max_inline_data. A FetchAdd or CmpSwap takes
  /// 48 inline bytes: set max_inline_data = 48 if all WQEs may be atomics.
  uint32_t max_send_wr = 64;
  uint32_t max_recv_wr = 64;
  uint32_t max_send_sge = 1;
  uint32_t max_recv_sge = 1;
  uint32_t max_inline_data = 0;
};

/// As struct ibv_srq_attr of ibv_create_srq.
struct SrqInitAttr {
  uint32_t max_wr =
      64;  ///< outstanding receives, 1 or more; rounded up to a power of two, 4 or more
  uint32_t max_sge = 1;  ///< per receive
  /// In receives: the next message that leaves fewer in the SRQ raises one
  /// IBV_EVENT_SRQ_LIMIT_REACHED. 0: none.
  uint32_t srq_limit = 0;
};

/// As struct ibv_srq_attr of ibv_query_srq and ibv_modify_srq.
struct SrqAttr {
  uint32_t max_wr = 0, max_sge = 0;  ///< modify(): 0 or the present value; the size is fixed
  uint32_t srq_limit = 0;            ///< receives; 0: no event
};

struct QpInfo {
  QpState state = IBV_QPS_INIT;
  uint32_t cause = 0;      ///< spec::Cause
  uint16_t peer_term = 0;  ///< as AsyncEvent::peer_term
  bool has_peer_term = false;
  bool drained = false;  ///< nothing of the QP is left in the device; only in INIT or ERR
};

/// As ibv_device_attr, from the capability registers.
struct DeviceAttr {
  /// max_pages: doorbell pages, one for each context.
  uint32_t max_qp = 0, max_cq = 0, max_pd = 0, max_pages = 0;
  uint32_t max_mr = 0, max_mw = 0;  ///< together: regions and windows share the STags
  uint32_t max_qp_wr = 0;           ///< in units of 64 bytes; a WQE takes 1 to 4 units
  uint32_t max_srq = 0;             ///< QPs and SRQs share numbers: together at most max_qp
  uint32_t max_srq_wr = 0, max_srq_sge = 0;
  uint32_t max_sge = 0, max_recv_sge = 0, max_sge_rd = 1, max_inline_data = 0;
  uint32_t max_cqe = 0;
  uint32_t max_qp_rd_atom = 0;       ///< largest IRD of a QP
  uint32_t max_qp_init_rd_atom = 0;  ///< largest ORD of a QP
  /// FetchAdd, CmpSwap and Atomic Write of this device's QPs exclude each other, by bus address.
  /// They exclude neither plain Writes nor accesses of the host's CPUs (RFC 7306 5.3).
  AtomicCap atomic_cap = IBV_ATOMIC_HCA;
  uint64_t max_mr_size = 0;  ///< bytes
  uint32_t max_msg_size = 0;
  uint32_t clock_khz = 0;
  uint32_t num_comp_vectors = 0;
};

}  // namespace rnic::verbs

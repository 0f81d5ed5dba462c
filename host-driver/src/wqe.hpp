// Bytes of work queue entries (queues.yaml: sq_wqe, rq_wqe, wqe_sge).
//
//   WqeBytes wqe;
//   if (auto r = encode_send(wr, cap, signaled, wqe); !r) return error_of(r);
//   // now wqe.units units of 64 bytes are valid
#pragma once

#include <array>

#include "gen/queues.hpp"
#include "rnic/verbs_types.hpp"

namespace rnic::verbs {

inline constexpr uint32_t kUnit = 64, kSendHeader = 32, kSgeBytes = 16, kMaxUnits = 4,
                          kDoorbellBytes = 8;

struct WqeBytes {
  std::array<uint8_t, size_t{kUnit} * kMaxUnits> bytes{};
  uint32_t units = 0;
  uint32_t used = 0;     // bytes of the WQE that are in use
  bool is_pair = false;  // the second WQE of a Write with Immediate
  /// A pushed WQE of two units needs room at the end of the second one for the doorbell that
  /// identifies it.
  bool may_be_pushed() const {
    return !is_pair && (units == 1 || (units == 2 && used <= 2 * kUnit - kDoorbellBytes));
  }
};

/// FetchAdd or CmpSwap: the WQE holds atomic_operands, and it completes with a response of 8 bytes.
constexpr bool is_fetching(WrOpcode opcode) {
  return opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
}
/// Immediate Data: without a Write, or the second WQE of a Write with Immediate.
constexpr bool is_immediate(WrOpcode opcode) {
  return opcode == RNIC_WR_IMM || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}
/// The operation's name for error messages.
std::string_view name_of(WrOpcode opcode);

/// Units of a WQE with so many bytes after its header: SGEs, operands or inline data.
constexpr uint32_t units_of_body(uint32_t bytes) {
  return (kSendHeader + bytes + kUnit - 1) / kUnit;
}

/// Checks the request against the QP's limits and writes its WQE. The header's field `ring` stays
/// zero: only set_ring() fills it. Copies inline data. check_reg_mr() and check_bind_mw() must have
/// passed. For a Write with Immediate it writes only the second WQE; the first one is a Write.
/// kInvalidArgument, kNotSupported (opcode).
[[nodiscard]] Result<void> encode_send(const SendWr& wr, const QpCap& cap, bool signaled,
                                       WqeBytes& out);
/// Operands of the WQE of an IBV_WR_REG_MR (mr_fast.cpp).
spec::RegOperands reg_operands(const SendWr& wr);
/// Operands of the WQE of an IBV_WR_BIND_MW (mw.cpp).
spec::BindOperands bind_operands(const SendWr& wr);
/// The address (TO) of the first byte of the window that an IBV_WR_BIND_MW binds (mw.cpp).
uint64_t base_of_window(const SendWr& wr);
/// Writes the doorbell {qpn, producer} into each unit of a WQE to be pushed. `producer`: the index
/// after this WQE.
void set_ring(WqeBytes& wqe, uint32_t qpn, uint16_t producer);
/// Writes a receive WQE. tag: the SRQ's tag of this receive; 0 without an SRQ. kInvalidArgument:
/// SGEs or length.
[[nodiscard]] Result<void> encode_recv(const RecvWr& wr, uint32_t max_sge, uint16_t tag,
                                       std::span<uint8_t> out);

}  // namespace rnic::verbs

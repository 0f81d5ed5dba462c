// Encoding of work queue entries: see wqe.hpp. Format: docs/spec/queues.yaml.
#include "wqe.hpp"

#include <bit>
#include <cstring>

#include "base/bytes.hpp"
#include "gen/queues.hpp"
#include "gen/sizes.hpp"
#include "rnic/verbs.hpp"

namespace rnic::verbs {

namespace {

constexpr uint32_t kFlags =
    IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE;

Result<void> check_opcode(const SendWr& wr) {
  switch (wr.opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_SEND:
    case IBV_WR_RDMA_READ:
    case IBV_WR_FLUSH:
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
    case IBV_WR_ATOMIC_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
    case IBV_WR_SEND_WITH_INV:
    case IBV_WR_LOCAL_INV:
    case IBV_WR_REG_MR:
    case IBV_WR_BIND_MW:
    case RNIC_WR_IMM:
      return {};
    case IBV_WR_SEND_WITH_IMM:
    case RNIC_WR_VERIFY:
      return fail(Errc::kNotSupported, "wr {}: opcode {} is not supported", wr.wr_id,
                  static_cast<unsigned>(wr.opcode));
  }
  return fail(Errc::kInvalidArgument, "wr {}: no opcode {}", wr.wr_id,
              static_cast<unsigned>(wr.opcode));
}

Result<uint32_t> total_length(uint64_t wr_id, std::span<const Sge> sges) {
  uint64_t total = 0;
  for (const Sge& s : sges) total += s.length;
  if (total > spec::kMaxMessage)
    return fail(Errc::kInvalidArgument, "wr {}: {} bytes, a message has at most {}", wr_id, total,
                spec::kMaxMessage);
  return static_cast<uint32_t>(total);
}

// A Flush names only memory of the peer, so it has no SGE.
Result<void> check_flush(const SendWr& wr) {
  constexpr uint8_t kTypes = IBV_FLUSH_GLOBAL | IBV_FLUSH_PERSISTENT;
  if (wr.flush_type == 0 || (wr.flush_type & ~kTypes) != 0)
    return fail(
        Errc::kInvalidArgument,
        "wr {}: Flush of placement type {:#x}: IBV_FLUSH_GLOBAL, IBV_FLUSH_PERSISTENT or both",
        wr.wr_id, wr.flush_type);
  if (!wr.sg_list.empty())
    return fail(Errc::kInvalidArgument, "wr {}: a Flush has no SGE", wr.wr_id);
  if (wr.flush_length > spec::kMaxMessage)
    return fail(Errc::kInvalidArgument, "wr {}: Flush of {} bytes, at most {}", wr.wr_id,
                wr.flush_length, spec::kMaxMessage);
  return {};
}

constexpr uint32_t kWord = 8;  // bytes of an atomic and of an Atomic Write

// The old value goes to one local word. The peer checks the alignment of the target: what counts is
// the alignment of the target's bus address, which only the peer knows.
Result<void> check_fetching(const SendWr& wr) {
  if ((wr.send_flags & IBV_SEND_INLINE) != 0)
    return fail(Errc::kInvalidArgument, "wr {}: a {} cannot be inline", wr.wr_id,
                name_of(wr.opcode));
  if (wr.sg_list.size() != 1)
    return fail(Errc::kInvalidArgument, "wr {}: {} SGEs, a {} has one", wr.wr_id, wr.sg_list.size(),
                name_of(wr.opcode));
  const Sge& sink = wr.sg_list[0];
  if (sink.length != kWord || sink.addr % kWord != 0)
    return fail(Errc::kInvalidArgument,
                "wr {}: {} of {} bytes to {:#x}: the old value takes 8 bytes, aligned to 8",
                wr.wr_id, name_of(wr.opcode), sink.length, sink.addr);
  return {};
}

Result<void> check_atomic_write(const SendWr& wr, uint32_t length) {
  if ((wr.send_flags & IBV_SEND_INLINE) == 0)
    return fail(Errc::kInvalidArgument,
                "wr {}: an Atomic Write carries its value: IBV_SEND_INLINE, or wr_atomic_write()",
                wr.wr_id);
  if (length != kWord)
    return fail(Errc::kInvalidArgument, "wr {}: Atomic Write of {} bytes, it has 8", wr.wr_id,
                length);
  return {};
}

void put_immediate(const SendWr& wr, WqeBytes& out) {
  base::store_be<uint64_t>(&out.bytes[kSendHeader], wr.imm);
  out.units = units_of_body(sizeof wr.imm);
  out.used = kSendHeader + sizeof wr.imm;
}

// FetchAdd has no compare: 0 and a mask of ones (A-29 in docs/ambiguities.md).
void put_operands(const SendWr& wr, WqeBytes& out) {
  const bool adds = wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
  const Sge& sink = wr.sg_list[0];
  const spec::AtomicOperands operands{
      .sink = {.address = sink.addr, .length = sink.length, .lkey = sink.lkey},
      .data = adds ? wr.compare_add : wr.swap,
      .mask = adds ? wr.add_mask : wr.swap_mask,
      .compare = adds ? 0 : wr.compare_add,
      .compare_mask = adds ? ~uint64_t{0} : wr.compare_mask};
  operands.pack(std::span(out.bytes).subspan(kSendHeader));
  out.units = units_of_body(spec::AtomicOperands::kBytes);
  out.used = kSendHeader + static_cast<uint32_t>(spec::AtomicOperands::kBytes);
}

/// Writes the operands of a request to this device's own STag table: fast registration or bind.
template <class Operands>
void put_local(const Operands& operands, WqeBytes& out) {
  operands.pack(std::span(out.bytes).subspan(kSendHeader));
  out.units = units_of_body(Operands::kBytes);
  out.used = kSendHeader + static_cast<uint32_t>(Operands::kBytes);
}

Result<void> put_inline(const SendWr& wr, const QpCap& cap, uint32_t length, WqeBytes& out) {
  if (wr.opcode == IBV_WR_RDMA_READ || wr.opcode == IBV_WR_FLUSH)
    return fail(Errc::kInvalidArgument, "wr {}: a {} cannot be inline", wr.wr_id,
                name_of(wr.opcode));
  // The 8 bytes of an Atomic Write always fit.
  if (length > cap.max_inline_data && wr.opcode != IBV_WR_ATOMIC_WRITE)
    return fail(Errc::kInvalidArgument, "wr {}: {} inline bytes, the QP takes {}", wr.wr_id, length,
                cap.max_inline_data);
  size_t at = kSendHeader;
  for (const Sge& s : wr.sg_list) {
    if (s.length == 0) continue;
    std::memcpy(&out.bytes[at], std::bit_cast<const uint8_t*>(s.addr), s.length);
    at += s.length;
  }
  out.units = units_of_body(length);
  out.used = kSendHeader + length;
  return {};
}

}  // namespace

std::string_view name_of(WrOpcode opcode) {
  switch (opcode) {
    case IBV_WR_RDMA_WRITE:
      return "Write";
    case IBV_WR_RDMA_READ:
      return "Read";
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      return "CmpSwap";
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return "FetchAdd";
    case IBV_WR_ATOMIC_WRITE:
      return "Atomic Write";
    case IBV_WR_FLUSH:
      return "Flush";
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return "Write with Immediate";
    case IBV_WR_SEND_WITH_INV:
      return "Send with Invalidate";
    case IBV_WR_LOCAL_INV:
      return "local invalidation";
    case IBV_WR_REG_MR:
      return "fast registration";
    case IBV_WR_BIND_MW:
      return "bind of a memory window";
    case RNIC_WR_IMM:
      return "Immediate Data";
    default:
      return "Send";
  }
}

Result<void> encode_send(const SendWr& wr, const QpCap& cap, bool signaled, WqeBytes& out) {
  if (auto r = check_opcode(wr); !r) return r;
  if ((wr.send_flags & ~kFlags) != 0)
    return fail(Errc::kInvalidArgument, "wr {}: send_flags {:#x}", wr.wr_id, wr.send_flags);
  const bool is_inline = (wr.send_flags & IBV_SEND_INLINE) != 0;
  const bool is_read = wr.opcode == IBV_WR_RDMA_READ;
  const bool is_flush = wr.opcode == IBV_WR_FLUSH;
  if (is_flush)
    if (auto r = check_flush(wr); !r) return r;
  const bool fetches = is_fetching(wr.opcode);
  if (fetches)
    if (auto r = check_fetching(wr); !r) return r;
  const bool is_imm = is_immediate(wr.opcode);
  const bool is_local_inv = wr.opcode == IBV_WR_LOCAL_INV;
  const bool is_reg = wr.opcode == IBV_WR_REG_MR;
  const bool is_bind = wr.opcode == IBV_WR_BIND_MW;
  const bool is_local = is_local_inv || is_reg || is_bind;
  if ((is_imm || is_local) && !wr.sg_list.empty())
    return fail(Errc::kInvalidArgument, "wr {}: {} SGEs, {} has none", wr.wr_id, wr.sg_list.size(),
                name_of(wr.opcode));
  if (is_local && is_inline)
    return fail(Errc::kInvalidArgument, "wr {}: a {} cannot be inline", wr.wr_id,
                name_of(wr.opcode));
  const uint32_t max_sge = is_read ? 1 : cap.max_send_sge;
  if (!is_inline && !fetches && wr.sg_list.size() > max_sge)
    return fail(Errc::kInvalidArgument, "wr {}: {} SGEs, at most {}", wr.wr_id, wr.sg_list.size(),
                max_sge);
  const auto length = total_length(wr.wr_id, wr.sg_list);
  if (!length) return error_of(length);
  if (wr.opcode == IBV_WR_ATOMIC_WRITE)
    if (auto r = check_atomic_write(wr, *length); !r) return r;

  out.bytes.fill(0);
  // For a Write with Immediate this is the second WQE. QpCore::put_write_imm() encodes the first
  // one, a Write, and then sets is_pair.
  out.is_pair = false;
  spec::SqWqe head;
  head.opcode = static_cast<uint8_t>(wr.opcode);
  uint32_t flags = wr.send_flags & (IBV_SEND_FENCE | IBV_SEND_INLINE);
  // The operands of these requests are in the WQE: the device refuses them without the flag.
  if (fetches || is_imm || is_reg || is_bind) flags |= IBV_SEND_INLINE;
  if (signaled) flags |= IBV_SEND_SIGNALED;
  const bool is_send = wr.opcode == IBV_WR_SEND || wr.opcode == IBV_WR_SEND_WITH_INV;
  if (is_send || is_imm) flags |= wr.send_flags & IBV_SEND_SOLICITED;
  head.flags = static_cast<uint8_t>(flags);
  head.length = is_flush  ? wr.flush_length
                : fetches ? static_cast<uint32_t>(spec::AtomicOperands::kBytes)
                : is_imm  ? static_cast<uint32_t>(sizeof wr.imm)
                : is_reg  ? static_cast<uint32_t>(spec::RegOperands::kBytes)
                : is_bind ? static_cast<uint32_t>(spec::BindOperands::kBytes)
                          : *length;
  head.disposition = is_flush ? wr.flush_type : uint8_t{0};
  if (!is_send && !is_imm && !is_local) head.remote_address = wr.remote_addr;
  if (wr.opcode != IBV_WR_SEND && !is_imm) head.rkey = is_reg || is_bind ? wr.key : wr.rkey;
  if (is_reg) head.remote_address = wr.mr->addr();
  if (is_bind) head.remote_address = base_of_window(wr);
  if (fetches) {
    put_operands(wr, out);
  } else if (is_imm) {
    put_immediate(wr, out);
  } else if (is_reg) {
    put_local(reg_operands(wr), out);
  } else if (is_bind) {
    put_local(bind_operands(wr), out);
  } else if (is_inline) {
    if (auto r = put_inline(wr, cap, *length, out); !r) return r;
  } else {
    size_t at = kSendHeader;
    for (const Sge& s : wr.sg_list) {
      spec::WqeSge{.address = s.addr, .length = s.length, .lkey = s.lkey}.pack(
          std::span(out.bytes).subspan(at));
      at += kSgeBytes;
    }
    // A Read has exactly one sink element, also when the Read is empty.
    const auto count = static_cast<uint32_t>(is_read ? 1 : wr.sg_list.size());
    head.num_sge = static_cast<uint8_t>(count);
    out.units = units_of_body(count * kSgeBytes);
    out.used = kSendHeader + count * kSgeBytes;
  }
  head.units = static_cast<uint8_t>(out.units);
  head.pack(out.bytes);
  return {};
}

// Each 64-byte half of a push has the doorbell, since the halves arrive in either order: in
// `ring` of the header, and in the last 8 bytes of the second half.
void set_ring(WqeBytes& wqe, uint32_t qpn, uint16_t producer) {
  auto head = spec::SqWqe::unpack(wqe.bytes);
  head.ring = {.object = qpn, .flags = 0, .index = producer};
  head.pack(wqe.bytes);
  if (wqe.units == 2) head.ring.pack(std::span(wqe.bytes).subspan(2 * kUnit - kDoorbellBytes));
}

Result<void> encode_recv(const RecvWr& wr, uint32_t max_sge, uint16_t tag, std::span<uint8_t> out) {
  if (wr.sg_list.size() > max_sge)
    return fail(Errc::kInvalidArgument, "recv wr {}: {} SGEs, at most {}", wr.wr_id,
                wr.sg_list.size(), max_sge);
  if (auto length = total_length(wr.wr_id, wr.sg_list); !length) return error_of(length);
  spec::RqWqe wqe;
  wqe.tag = tag;
  wqe.num_sge = static_cast<uint8_t>(wr.sg_list.size());
  spec::WqeSge* const places[] = {&wqe.sge0, &wqe.sge1, &wqe.sge2};
  for (size_t i = 0; i < wr.sg_list.size(); i++) {
    const Sge& s = wr.sg_list[i];
    *places[i] = {.address = s.addr, .length = s.length, .lkey = s.lkey};
  }
  wqe.pack(out);
  return {};
}

}  // namespace rnic::verbs

// Queue pairs, fast path: posting, retiring. The builder: qp_builder.cpp; states and connections:
// qp_state.cpp.
#include <algorithm>
#include <bit>
#include <cstring>

#include "base/bytes.hpp"
#include "core.hpp"

namespace rnic::verbs {

namespace {

WcStatus to_verbs(spec::WcStatus status) {
  switch (status) {
    case spec::WcStatus::kSuccess:
      return IBV_WC_SUCCESS;
    case spec::WcStatus::kLocLenErr:
      return IBV_WC_LOC_LEN_ERR;
    case spec::WcStatus::kLocQpOpErr:
      return IBV_WC_LOC_QP_OP_ERR;
    case spec::WcStatus::kLocProtErr:
      return IBV_WC_LOC_PROT_ERR;
    case spec::WcStatus::kWrFlushErr:
      return IBV_WC_WR_FLUSH_ERR;
    case spec::WcStatus::kMwBindErr:
      return IBV_WC_MW_BIND_ERR;
    case spec::WcStatus::kRemInvReqErr:
      return IBV_WC_REM_INV_REQ_ERR;
    case spec::WcStatus::kRemAccessErr:
      return IBV_WC_REM_ACCESS_ERR;
    case spec::WcStatus::kRemOpErr:
      return IBV_WC_REM_OP_ERR;
    case spec::WcStatus::kFatalErr:
      return IBV_WC_FATAL_ERR;
  }
  return IBV_WC_GENERAL_ERR;
}

WcOpcode completion_of(WrOpcode opcode) {
  switch (opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return IBV_WC_RDMA_WRITE;
    case IBV_WR_RDMA_READ:
      return IBV_WC_RDMA_READ;
    case IBV_WR_FLUSH:
      return IBV_WC_FLUSH;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      return IBV_WC_COMP_SWAP;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return IBV_WC_FETCH_ADD;
    case IBV_WR_ATOMIC_WRITE:
      return IBV_WC_ATOMIC_WRITE;
    case IBV_WR_LOCAL_INV:
      return IBV_WC_LOCAL_INV;
    case IBV_WR_REG_MR:
      return IBV_WC_REG_MR;
    case IBV_WR_BIND_MW:
      return IBV_WC_BIND_MW;
    default:
      return IBV_WC_SEND;
  }
}

}  // namespace

// Immediate Data has 8 bytes (RFC 7306 section 6). Verbs' 4 bytes are the first on the wire; the
// others are 0.
uint64_t imm_of(uint32_t imm_data) {
  uint8_t bytes[sizeof imm_data];
  std::memcpy(bytes, &imm_data, sizeof bytes);
  return uint64_t{base::load_be<uint32_t>(bytes)} << 32;
}

/// One request, two messages, one completion. The Write's WQE is not signaled. If the Write fails,
/// its completion is that of the request, and that of its Immediate Data is not reported.
Result<void> QpCore::put_write_imm(const SendWr& wr, WqeBytes& wqe) {
  const bool signaled = sig_all || (wr.send_flags & IBV_SEND_SIGNALED) != 0;
  SendWr write = wr;
  write.opcode = IBV_WR_RDMA_WRITE;
  write.send_flags &= ~uint32_t{IBV_SEND_SIGNALED | IBV_SEND_SOLICITED};
  SendWr imm = wr;
  imm.sg_list = {};
  imm.send_flags &= uint32_t{IBV_SEND_SOLICITED};
  WqeBytes first;
  if (auto r = encode_send(write, cap, false, first); !r) return r;
  if (auto r = encode_send(imm, cap, signaled, wqe); !r) return r;
  wqe.is_pair = true;
  if (first.units + wqe.units > sq_room())
    return fail(Errc::kQueueFull, "qp {}: send queue of {} units has {} free, {} are needed", qpn,
                1u << log_sq, sq_room(), first.units + wqe.units);
  put_units(first, {.wr_id = wr.wr_id, .opcode = wr.opcode, .is_first = true});
  put_units(wqe, {.wr_id = wr.wr_id, .opcode = wr.opcode, .signaled = signaled});
  return {};
}

void QpCore::put_units(const WqeBytes& wqe, const SqRecord& record) {
  const uint32_t mask = (1u << log_sq) - 1;
  for (uint32_t u = 0; u < wqe.units; u++)
    std::memcpy(sq.data() + size_t{(sq_head + u) & mask} * kUnit, &wqe.bytes[size_t{u} * kUnit],
                kUnit);
  SqRecord& to = sq_records[sq_head & mask];
  to = record;
  to.units = static_cast<uint8_t>(wqe.units);
  sq_head = static_cast<uint16_t>(sq_head + wqe.units);
}

uint32_t QpCore::request_units(uint16_t index) const {
  const uint32_t mask = (1u << log_sq) - 1;
  const SqRecord& record = sq_records[index & mask];
  return record.is_first ? uint32_t{record.units} + sq_records[(index + record.units) & mask].units
                         : record.units;
}

// alone: the only request of this post, so that it may be pushed.
Result<void> QpCore::put_send(const SendWr& wr, bool alone, WqeBytes& wqe) {
  if (wr.opcode == IBV_WR_RDMA_WRITE_WITH_IMM) return put_write_imm(wr, wqe);
  const bool signaled = sig_all || (wr.send_flags & IBV_SEND_SIGNALED) != 0;
  const bool is_registration = wr.opcode == IBV_WR_REG_MR;
  if (is_registration)
    if (auto r = check_reg_mr(wr, *this); !r) return r;
  const bool is_bind = wr.opcode == IBV_WR_BIND_MW;
  if (is_bind)
    if (auto r = check_bind_mw(wr, *this); !r) return r;
  if (auto r = encode_send(wr, cap, signaled, wqe); !r) return r;
  const bool is_extension =
      is_fetching(wr.opcode) || wr.opcode == IBV_WR_FLUSH || wr.opcode == IBV_WR_ATOMIC_WRITE;
  const bool takes_ord = is_extension || wr.opcode == IBV_WR_RDMA_READ;
  if (takes_ord && agreed.ord == 0 && state == IBV_QPS_RTS)
    return fail(Errc::kInvalidArgument, "qp {}: {} on a connection with ORD 0", qpn,
                name_of(wr.opcode));
  if (is_extension && agreed.persist == 0 && state == IBV_QPS_RTS)
    return fail(Errc::kNotSupported,
                "qp {}: {} is not agreed on this connection: both sides set ConnParam::flush", qpn,
                name_of(wr.opcode));
  if (wqe.units > sq_room())
    return fail(Errc::kQueueFull, "qp {}: send queue of {} units has {} free, {} are needed", qpn,
                1u << log_sq, sq_room(), wqe.units);
  if (alone && push && wqe.may_be_pushed())
    set_ring(wqe, qpn, static_cast<uint16_t>(sq_head + wqe.units));
  if (is_bind) note_bind(wr);
  put_units(wqe, {.wr_id = wr.wr_id, .opcode = wr.opcode, .signaled = signaled});
  if (!is_registration) return {};
  MrCore& mr = *wr.mr->core();
  mr.access = wr.access;
  // With this right the device binds the STag to this QP, so the region must be deregistered before
  // the QP is destroyed. Earlier QPs stay listed, because this registration may fail.
  if ((wr.access & RNIC_ACCESS_REMOTE_INVALIDATE) != 0) mr.bind(*this);
  return {};
}

void QpCore::ring_sq(const WqeBytes* carried) {
  ctx.dev.before_doorbell();
  if (carried == nullptr) {
    ctx.ring(spec::DoorbellKind::kSq, qpn, 0, sq_head);
    return;
  }
  for (uint32_t u = 0; u < carried->units; u++)
    ctx.dev.write_combined(2, ctx.page * kPageBytes + spec::kPushOffset + u * kUnit,
                           std::span(carried->bytes).subspan(size_t{u} * kUnit, kUnit));
}

std::optional<uint64_t> QpCore::complete_recv(uint16_t index) {
  if (srq != nullptr) return srq->complete(index);
  if (static_cast<uint16_t>(index - rq_tail) >= static_cast<uint16_t>(rq_head - rq_tail))
    return std::nullopt;
  rq_tail = static_cast<uint16_t>(index + 1);
  return rq_ids[index & ((1u << log_rq) - 1)];
}

bool QpCore::complete(const spec::Cqe& cqe, Wc& wc) {
  wc = {.status = to_verbs(cqe.status),
        .vendor_err = cqe.vendor,
        .byte_len = cqe.byte_len,
        .qp_num = qpn,
        .completion_ts = cqe.timestamp};
  if (cqe.is_recv != 0) {
    const auto wr_id = complete_recv(cqe.index);
    if (!wr_id) return false;
    wc.wr_id = *wr_id;
    wc.opcode = IBV_WC_RECV;
    if (cqe.opcode == spec::WcOpcode::kRecvRdmaWithImm) {
      wc.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
      wc.wc_flags = IBV_WC_WITH_IMM;
      wc.imm = cqe.immediate;
      uint8_t bytes[sizeof wc.imm];
      base::store_be<uint64_t>(bytes, wc.imm);
      std::memcpy(&wc.imm_data, bytes, sizeof wc.imm_data);
    }
    if (cqe.with_inv != 0) {
      wc.wc_flags = IBV_WC_WITH_INV;
      wc.invalidated_rkey = static_cast<uint32_t>(cqe.immediate);
    }
    return true;
  }
  if (static_cast<uint16_t>(cqe.index - sq_tail) >= static_cast<uint16_t>(sq_head - sq_tail))
    return false;
  const SqRecord& record = sq_records[cqe.index & ((1u << log_sq) - 1)];
  wc.wr_id = record.wr_id;
  wc.opcode = completion_of(record.opcode);
  finish_binds(cqe.index, wc.status);
  // Also retires the unsignalled WQEs before the completed one.
  sq_tail = static_cast<uint16_t>(cqe.index + request_units(cqe.index));
  return true;
}

// A flush CQE covers all WQEs before cqe.index; any other CQE covers the WQE at cqe.index.
bool QpCore::flush_one(const spec::Cqe& cqe, Wc& wc) {
  const bool is_recv = cqe.is_recv != 0;
  const uint16_t tail = is_recv ? rq_tail : sq_tail;
  const uint16_t head = is_recv ? rq_head : sq_head;
  const auto left = static_cast<uint16_t>(cqe.index - tail);
  if (left == 0 || left > static_cast<uint16_t>(head - tail))
    return false;  // all of them are already reported
  wc = {.status = IBV_WC_WR_FLUSH_ERR,
        .vendor_err = cqe.vendor,
        .qp_num = qpn,
        .completion_ts = cqe.timestamp};
  if (is_recv) {
    wc.wr_id = rq_ids[tail & ((1u << log_rq) - 1)];
    wc.opcode = IBV_WC_RECV;
    rq_tail++;
    return true;
  }
  const SqRecord& record = sq_records[tail & ((1u << log_sq) - 1)];
  // The CQE covers only the Write of a Write with Immediate; its Immediate Data has the next CQE.
  if (request_units(tail) > left) return false;
  wc.wr_id = record.wr_id;
  wc.opcode = completion_of(record.opcode);
  finish_binds(tail, IBV_WC_WR_FLUSH_ERR);
  sq_tail = static_cast<uint16_t>(sq_tail + request_units(tail));
  return true;
}

PostResult Qp::post_send(std::span<const SendWr> wrs) {
  PostResult result;
  QpCore& q = *core_;
  if (!q.can_send()) {
    result.error =
        Error{Errc::kBadState, fmt::format("qp {}: post_send in {}", q.qpn, to_string(q.state))};
    return result;
  }
  if (q.building) {
    result.error = Error{Errc::kBadState,
                         fmt::format("qp {}: post_send between wr_start and wr_complete", q.qpn)};
    return result;
  }
  WqeBytes wqe;
  q.before_post();
  for (const SendWr& wr : wrs) {
    if (auto r = q.put_send(wr, wrs.size() == 1, wqe); !r) {
      result.error = r.error();
      break;
    }
    result.accepted++;
  }
  if (result.accepted != 0)
    q.ring_sq(wrs.size() == 1 && q.push && wqe.may_be_pushed() ? &wqe : nullptr);
  return result;
}

PostResult Qp::post_recv(std::span<const RecvWr> wrs) {
  PostResult result;
  QpCore& q = *core_;
  if (q.state == IBV_QPS_RESET) {
    result.error =
        Error{Errc::kBadState, fmt::format("qp {}: post_recv in {}", q.qpn, to_string(q.state))};
    return result;
  }
  if (q.srq != nullptr) {
    result.error =
        Error{Errc::kInvalidArgument,
              fmt::format("qp {}: post_recv: it takes its receives from srq {}: post them there",
                          q.qpn, q.srq->number)};
    return result;
  }
  const uint32_t mask = (1u << q.log_rq) - 1;
  q.before_post();
  for (const RecvWr& wr : wrs) {
    if (q.rq_room() == 0) {
      result.error = Error{Errc::kQueueFull,
                           fmt::format("qp {}: receive queue of {} is full", q.qpn, mask + 1)};
      break;
    }
    if (auto r = encode_recv(wr, q.cap.max_recv_sge, 0,
                             q.rq.bytes().subspan(size_t{q.rq_head & mask} * kUnit, kUnit));
        !r) {
      result.error = r.error();
      break;
    }
    q.rq_ids[q.rq_head & mask] = wr.wr_id;
    q.rq_head++;
    result.accepted++;
  }
  if (result.accepted != 0) {
    q.ctx.dev.before_doorbell();
    q.ctx.ring(spec::DoorbellKind::kRq, q.qpn, 0, q.rq_head);
  }
  return result;
}

}  // namespace rnic::verbs

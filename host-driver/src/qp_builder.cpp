// Queue pairs: the builder, as rdma-core's ibv_wr_*.
#include <algorithm>

#include "base/bytes.hpp"
#include "core.hpp"

namespace rnic::verbs {

namespace {

void start_one(Qp& qp, WrOpcode opcode, uint32_t rkey, uint64_t remote_addr) {
  QpCore& q = *qp.core();
  QpCore::Built b;
  b.wr = {.wr_id = qp.wr_id,
          .opcode = opcode,
          .send_flags = qp.wr_flags,
          .remote_addr = remote_addr,
          .rkey = rkey};
  q.built.push_back(std::move(b));
}

// Returns the operation that the next data belongs to. Null: there is no operation, or it already
// has its data; wr_complete() then fails.
QpCore::Built* current(QpCore& q) {
  if (!q.built.empty() && !q.built.back().has_data) {
    q.built.back().has_data = true;
    return &q.built.back();
  }
  if (!q.build_error)
    q.build_error = Error{Errc::kInvalidArgument,
                          fmt::format("qp {}: data set {}", q.qpn,
                                      q.built.empty() ? "before an operation" : "twice")};
  return nullptr;
}

}  // namespace

void Qp::wr_start() {
  core_->built.clear();
  core_->build_error.reset();
  core_->building = true;
}
void Qp::wr_abort() {
  core_->built.clear();
  core_->building = false;
}

void Qp::wr_send() { start_one(*this, IBV_WR_SEND, 0, 0); }
void Qp::wr_rdma_write(uint32_t rkey, uint64_t addr) {
  start_one(*this, IBV_WR_RDMA_WRITE, rkey, addr);
}
void Qp::wr_rdma_read(uint32_t rkey, uint64_t addr) {
  start_one(*this, IBV_WR_RDMA_READ, rkey, addr);
}
void Qp::wr_send_imm(uint32_t) { start_one(*this, IBV_WR_SEND_WITH_IMM, 0, 0); }
void Qp::wr_send_inv(uint32_t rkey) { start_one(*this, IBV_WR_SEND_WITH_INV, rkey, 0); }
void Qp::wr_rdma_write_imm(uint32_t rkey, uint64_t addr, uint32_t imm_data) {
  wr_rdma_write_imm64(rkey, addr, imm_of(imm_data));
}
void Qp::wr_rdma_write_imm64(uint32_t rkey, uint64_t addr, uint64_t imm) {
  start_one(*this, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, addr);
  core_->built.back().wr.imm = imm;
}
void Qp::wr_masked_cmp_swp(uint32_t rkey, uint64_t addr, uint64_t compare, uint64_t compare_mask,
                           uint64_t swap, uint64_t swap_mask) {
  start_one(*this, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, addr);
  SendWr& wr = core_->built.back().wr;
  wr.compare_add = compare;
  wr.compare_mask = compare_mask;
  wr.swap = swap;
  wr.swap_mask = swap_mask;
}
void Qp::wr_masked_fetch_add(uint32_t rkey, uint64_t addr, uint64_t add, uint64_t add_mask) {
  start_one(*this, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, addr);
  SendWr& wr = core_->built.back().wr;
  wr.compare_add = add;
  wr.add_mask = add_mask;
}
void Qp::wr_atomic_cmp_swp(uint32_t rkey, uint64_t addr, uint64_t compare, uint64_t swap) {
  wr_masked_cmp_swp(rkey, addr, compare, ~uint64_t{0}, swap, ~uint64_t{0});
}
void Qp::wr_atomic_fetch_add(uint32_t rkey, uint64_t addr, uint64_t add) {
  wr_masked_fetch_add(rkey, addr, add, 0);
}
void Qp::wr_atomic_write(uint32_t rkey, uint64_t addr, const void* atomic_wr) {
  start_one(*this, IBV_WR_ATOMIC_WRITE, rkey, addr);
  if (atomic_wr != nullptr) {
    wr_set_inline_data({static_cast<const uint8_t*>(atomic_wr), 8});
  } else if (!core_->build_error) {
    core_->build_error = Error{Errc::kInvalidArgument,
                               fmt::format("qp {}: wr_atomic_write of no value", core_->qpn)};
  }
}
void Qp::wr_flush(uint32_t rkey, uint64_t addr, size_t length, uint8_t type, uint8_t level) {
  start_one(*this, IBV_WR_FLUSH, rkey, addr);
  QpCore& q = *core_;
  SendWr& wr = q.built.back().wr;
  wr.flush_length = static_cast<uint32_t>(std::min<size_t>(length, UINT32_MAX));
  wr.flush_type = type;
  if (level == IBV_FLUSH_RANGE || q.build_error) return;
  const auto code = level == IBV_FLUSH_MR ? Errc::kNotSupported : Errc::kInvalidArgument;
  q.build_error = Error{
      code, fmt::format("qp {}: Flush of selectivity level {}: iWARP has IBV_FLUSH_RANGE alone",
                        q.qpn, level)};
}
void Qp::wr_imm(uint64_t imm) {
  start_one(*this, RNIC_WR_IMM, 0, 0);
  core_->built.back().wr.imm = imm;
}
void Qp::wr_verify(uint32_t rkey, uint64_t addr, size_t, std::span<const uint8_t>) {
  start_one(*this, RNIC_WR_VERIFY, rkey, addr);
}
void Qp::wr_local_inv(uint32_t rkey) { start_one(*this, IBV_WR_LOCAL_INV, rkey, 0); }
void Qp::wr_bind_mw(Mw& mw, uint32_t rkey, const MwBindInfo& bind_info) {
  start_one(*this, IBV_WR_BIND_MW, 0, 0);
  SendWr& wr = core_->built.back().wr;
  wr.key = rkey;
  wr.mw = &mw;
  wr.bind_info = bind_info;
}

void Qp::wr_set_sge(uint32_t lkey, uint64_t addr, uint32_t length) {
  if (auto* b = current(*core_)) b->sges = {{.addr = addr, .length = length, .lkey = lkey}};
}
void Qp::wr_set_sge_list(std::span<const Sge> sges) {
  if (auto* b = current(*core_)) b->sges.assign(sges.begin(), sges.end());
}
void Qp::wr_set_inline_data(std::span<const uint8_t> data) {
  wr_set_inline_data_list(std::span(&data, 1));
}
void Qp::wr_set_inline_data_list(std::span<const std::span<const uint8_t>> data) {
  auto* b = current(*core_);
  if (b == nullptr) return;
  b->is_inline = true;
  for (const auto& part : data) b->data.insert(b->data.end(), part.begin(), part.end());
}

Result<void> Qp::wr_complete() {
  QpCore& q = *core_;
  if (!q.building) return fail(Errc::kBadState, "qp {}: wr_complete without wr_start", q.qpn);
  q.building = false;
  if (q.build_error) return tl::unexpected<Error>(*q.build_error);
  if (!q.can_send())
    return fail(Errc::kBadState, "qp {}: wr_complete in {}", q.qpn, to_string(q.state));
  q.before_post();
  const uint16_t head = q.sq_head;
  const bool alone = q.built.size() == 1;
  WqeBytes wqe;
  for (auto& b : q.built) {
    if (b.is_inline) {
      b.wr.send_flags |= IBV_SEND_INLINE;
      b.sges = {{.addr = base::address_of(b.data.data()),
                 .length = static_cast<uint32_t>(b.data.size())}};
    }
    b.wr.sg_list = b.sges;
    if (auto r = q.put_send(b.wr, alone, wqe); !r) {
      q.drop_binds(head);
      q.sq_head = head;  // post all or none
      return r;
    }
  }
  if (!q.built.empty()) q.ring_sq(alone && q.push && wqe.may_be_pushed() ? &wqe : nullptr);
  q.built.clear();
  return {};
}

}  // namespace rnic::verbs

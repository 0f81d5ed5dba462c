// Protection domains: lifetime of PdCore, creation of QPs. Creation of regions: mr.cpp,
// mr_fast.cpp; of windows: mw.cpp; of SRQs: srq.cpp.
#include <algorithm>
#include <bit>

#include "base/log.hpp"
#include "core.hpp"

namespace rnic::verbs {

namespace {

auto& log = base::logger("driver");

Result<void> check_srq(const QpInitAttr& attr, const PdCore& pd) {
  if (attr.srq == nullptr) return {};
  const SrqCore* srq = attr.srq->core().get();
  if (srq == nullptr || !srq->live)
    return fail(Errc::kInvalidArgument, "qp: the SRQ does not exist, or is destroyed");
  if (srq->pd.get() != &pd)
    return fail(Errc::kInvalidArgument, "qp: srq {} is of PD {}, the QP of PD {}", srq->number,
                srq->pd->number, pd.number);
  return {};
}

}  // namespace

PdCore::~PdCore() {
  if (auto rsp = ctx->mgr.execute(ctx->dev, spec::AdminOpcode::kDestroyPd, number); !rsp) {
    RNIC_LOG_WARN(log, "pd {} stays: {}", number, rsp.error().what);
    return;
  }
  ctx->mgr.shared(ctx->dev).pds.give(number, 1);
}

Pd::Pd(std::shared_ptr<PdCore> core) : core_(std::move(core)) {}
uint32_t Pd::number() const { return core_->number; }

Result<Qp> Pd::create_qp(const QpInitAttr& attr) {
  ContextCore& ctx = *core_->ctx;
  Manager& m = ctx.mgr;
  const DeviceAttr& dev = m.attr();
  if (attr.send_cq == nullptr || attr.recv_cq == nullptr || attr.send_cq->core() == nullptr ||
      attr.recv_cq->core() == nullptr)
    return fail(Errc::kInvalidArgument, "qp: a CQ for sends and one for receives are needed");
  if (attr.send_cq->core()->ctx != core_->ctx || attr.recv_cq->core()->ctx != core_->ctx)
    return fail(Errc::kInvalidArgument, "qp: CQs {} and {} must be of the PD's context",
                attr.send_cq->number(), attr.recv_cq->number());
  const std::shared_ptr<SrqCore> srq = attr.srq != nullptr ? attr.srq->core() : nullptr;
  if (auto r = check_srq(attr, *core_); !r) return error_of(r);
  QpCap cap = attr.cap;
  if (srq != nullptr) cap.max_recv_wr = cap.max_recv_sge = 0;
  if (cap.max_send_sge > dev.max_sge || cap.max_recv_sge > dev.max_recv_sge ||
      cap.max_inline_data > dev.max_inline_data)
    return fail(Errc::kInvalidArgument,
                "qp: {} send SGEs, {} receive SGEs, {} inline bytes; at most {}, {}, {}",
                cap.max_send_sge, cap.max_recv_sge, cap.max_inline_data, dev.max_sge,
                dev.max_recv_sge, dev.max_inline_data);
  const uint32_t body = std::max(cap.max_send_sge * kSgeBytes, cap.max_inline_data);
  const uint64_t send_units = uint64_t{cap.max_send_wr} * units_of_body(body);
  if (send_units > dev.max_qp_wr || cap.max_recv_wr > dev.max_qp_wr)
    return fail(Errc::kInvalidArgument, "qp: {} send units and {} receives, {} are possible",
                send_units, cap.max_recv_wr, dev.max_qp_wr);

  const auto qpn = m.shared(ctx.dev).qps.take(1, "queue pairs");
  if (!qpn) return error_of(qpn);
  auto qp = std::make_shared<QpCore>(core_, *qpn);
  qp->srq = srq;
  qp->send_cq = attr.send_cq->core();
  qp->recv_cq = attr.recv_cq->core();
  // A ring has a power of two of units, 4 or more (docs/spec/queues.yaml).
  const uint32_t sq_size = std::bit_ceil(std::max<uint32_t>(static_cast<uint32_t>(send_units), 4));
  const uint32_t rq_size =
      srq != nullptr ? 0 : std::bit_ceil(std::max<uint32_t>(cap.max_recv_wr, 4));
  qp->log_sq = static_cast<unsigned>(std::countr_zero(sq_size));
  qp->log_rq = srq != nullptr ? 0 : static_cast<unsigned>(std::countr_zero(rq_size));
  auto sq = ctx.dev.alloc(uint64_t{sq_size} * kUnit, MemoryKind::kContiguous);
  if (!sq) return error_of(sq);
  qp->sq = *sq;
  qp->sq_records.resize(sq_size);
  if (srq == nullptr) {
    auto rq = ctx.dev.alloc(uint64_t{rq_size} * kUnit, MemoryKind::kContiguous);
    if (!rq) return error_of(rq);
    qp->rq = *rq;
    qp->rq_ids.resize(rq_size);
  }
  qp->cap = cap;
  qp->cap.max_send_wr = sq_size / units_of_body(body);
  qp->cap.max_recv_wr = rq_size;
  qp->sig_all = attr.sq_sig_all;
  qp->push = attr.push;
  qp->privileged = attr.privileged;

  m.qp_event[*qpn] = 0;
  spec::AdminQpArgs args;
  args.pd = static_cast<uint16_t>(core_->number);
  args.page = static_cast<uint16_t>(ctx.page);
  args.send_cq = static_cast<uint16_t>(qp->send_cq->number);
  args.recv_cq = static_cast<uint16_t>(qp->recv_cq->number);
  args.sq_base = sq->bus(0);
  if (srq == nullptr) args.rq_base = qp->rq.bus(0);
  args.log_sq = static_cast<uint8_t>(qp->log_sq);
  args.log_rq = static_cast<uint8_t>(qp->log_rq);
  args.privileged = attr.privileged;
  args.has_srq = srq != nullptr;
  args.srq = static_cast<uint16_t>(srq != nullptr ? srq->number : 0);
  if (auto rsp = m.execute_args(ctx.dev, spec::AdminOpcode::kCreateQp, *qpn, args); !rsp)
    return error_of(rsp);
  qp->live = true;
  qp->state = IBV_QPS_INIT;
  ctx.qps[*qpn] = qp.get();
  if (srq != nullptr) qp->recv_cq->has_srq = true;
  return Qp(std::move(qp));
}

}  // namespace rnic::verbs

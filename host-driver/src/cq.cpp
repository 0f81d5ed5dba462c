// Completion queues. One CQE may report several flushed requests, or a request and the unsignalled
// ones before it.
#include <algorithm>

#include "base/log.hpp"
#include "core.hpp"

namespace rnic::verbs {

namespace {
auto& log = base::logger("driver");
}

CqCore::~CqCore() {
  Manager& m = ctx->mgr;
  ctx->cqs[number] = nullptr;
  if (live) {
    if (auto rsp = m.execute(ctx->dev, spec::AdminOpcode::kDestroyCq, number); !rsp) {
      RNIC_LOG_WARN(log, "cq {} stays: {}", number, rsp.error().what);
      m.keep_forever(ring.memory);
      return;
    }
    // Drain events that the device wrote before it released the CQ; the next CQ with this number
    // must not see them.
    m.drain_events(ctx->dev, 0);
    if (eqn != 0) m.drain_events(ctx->dev, eqn);
  }
  m.shared(ctx->dev).cqs.give(number, 1);
}

void CqCore::tell_consumer() {
  unreported = 0;
  ctx->ring(spec::DoorbellKind::kCq, number, 0, ring.consumer & 0xffff);
}

Result<size_t> CqCore::poll(std::span<Wc> out) {
  Result<size_t> n = 0;
  if (shared) {
    const Locked held(lock, ctx->dev);
    n = take(out);
  } else {
    n = take(out);
  }
  if (!n || *n != 0 || out.empty()) return n;
  ctx->dev.relax();
  // Checked only here, so that the CQEs written before the overrun are returned first.
  if (ctx->mgr.cq_error[number] != 0)
    return fail(Errc::kDeviceError, "cq {}: overrun ({} entries)", number, ring.size());
  return n;
}

Result<size_t> CqCore::take(std::span<Wc> out) {
  size_t n = 0;
  while (n < out.size()) {
    if (flushing != nullptr) {
      if (flushing->flush_one(flush, out[n])) {
        n++;
      } else {
        flushing = nullptr;
      }
      continue;
    }
    if (!ring.ready()) break;
    ctx->dev.after_phase_bit();
    // No call that costs time may follow until the request is retired: another thread must not see
    // the entry consumed and its request still posted.
    if (shared || has_srq) ctx->dev.before_shared();
    const auto cqe_seen = spec::Cqe::unpack(ring.at(ring.consumer));
    ring.consumer++;
    unreported++;
    if (cqe_seen.qpn == kVoidQpn) continue;
    QpCore* qp = cqe_seen.qpn < ctx->qps.size() ? ctx->qps[cqe_seen.qpn] : nullptr;
    if (qp == nullptr)
      return fail(Errc::kDeviceError, "cq {}: completion of a QP that is not ours: {}", number,
                  cqe_seen.describe());
    if (qp->is_range(cqe_seen)) {
      flushing = qp;
      flush = cqe_seen;
    } else if (qp->complete(cqe_seen, out[n])) {
      n++;
    } else {
      return fail(Errc::kDeviceError, "cq {}: completion of nothing that is posted: {}", number,
                  cqe_seen.describe());
    }
  }
  // The ring has more entries than the user asked for. When that reserve is used up, report the
  // consumer index to the device.
  if (unreported != 0 && unreported >= std::max(1u, ring.size() - cqe)) tell_consumer();
  return n;
}

// Called after the device has responded to destroy_qp: it writes no more CQEs of this QP.
void CqCore::forget(const QpCore& qp) {
  if (qp.srq != nullptr) ctx->dev.before_shared();
  if (flushing == &qp) flushing = nullptr;
  for (uint32_t at = ring.consumer; ring.ready(at); at++) {
    auto c = spec::Cqe::unpack(ring.at(at));
    if (c.qpn != qp.qpn) continue;
    if (qp.srq != nullptr && c.is_recv != 0) (void)qp.srq->complete(c.index);
    c.qpn = kVoidQpn;
    c.pack(ring.at(at));
  }
}

Cq::Cq(std::shared_ptr<CqCore> core) : core_(std::move(core)) {}
uint32_t Cq::number() const { return core_->number; }
uint32_t Cq::cqe() const { return core_->cqe; }
Result<size_t> Cq::poll_cq(std::span<Wc> wc) { return core_->poll(wc); }

Result<void> Cq::req_notify_cq(bool solicited_only) {
  // Held until the doorbell is written: the later index of another thread must not overtake it.
  std::optional<Locked> held;
  if (core_->shared) held.emplace(core_->lock, core_->ctx->dev);
  core_->unreported = 0;
  core_->ctx->ring(spec::DoorbellKind::kCqArm, core_->number, solicited_only ? 1 : 0,
                   core_->ring.consumer & 0xffff);
  return {};
}

Result<void> Cq::get_cq_event(Time deadline) {
  Manager& m = core_->ctx->mgr;
  const uint32_t n = core_->number;
  auto look = [&] { return m.cq_event[n] != 0 || m.cq_error[n] != 0; };
  if (!m.wait_event(core_->ctx->dev, core_->eqn, deadline, look))
    return fail(Errc::kTimedOut, "cq {}: no event", n);
  if (m.cq_event[n] == 0)
    return fail(Errc::kDeviceError, "cq {}: overrun ({} entries)", n, core_->ring.size());
  m.cq_event[n] = 0;
  return {};
}

}  // namespace rnic::verbs

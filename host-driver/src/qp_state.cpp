// Queue pairs: states, drain, destruction, and the QP's connection.
#include <algorithm>

#include "base/log.hpp"
#include "core.hpp"

namespace rnic::verbs {

namespace {
auto& log = base::logger("driver");
}

namespace {

// The event that users see for a cause (docs/spec/errors.yaml, user_sees). Nothing for kNone, which
// is no failure: a graceful close ends with it.
std::optional<EventType> event_of(spec::Cause cause) {
  if (cause == spec::Cause::kNone) return std::nullopt;
  for (const auto& row : spec::kCauses)
    if (row.cause == cause && row.user_sees == "IBV_EVENT_QP_ACCESS_ERR")
      return IBV_EVENT_QP_ACCESS_ERR;
  return IBV_EVENT_QP_FATAL;
}

}  // namespace

QpCore::~QpCore() {
  if (auto r = destroy(); !r) RNIC_LOG_WARN(log, "qp {} stays: {}", qpn, r.error().what);
}

Result<QpInfo> QpCore::refresh() {
  const auto rsp = ctx.mgr.execute(ctx.dev, spec::AdminOpcode::kQueryQp, qpn);
  if (!rsp) return error_of(rsp);
  const auto r = spec::AdminQpResult::unpack(rsp->result);
  state = to_verbs(r.state);
  QpInfo info{.state = state,
              .cause = static_cast<uint32_t>(r.cause),
              .peer_term = r.peer_term,
              .has_peer_term = r.has_peer_term != 0,
              .drained = r.drained != 0};
  if (const auto type = event_of(r.cause); type && !cause_reported) {
    cause_reported = true;
    ctx.events.push_back(
        {.type = *type,
         .object = qpn,
         .cause = info.cause,
         .peer_term = static_cast<uint16_t>(info.has_peer_term ? info.peer_term : 0)});
  }
  return info;
}

Result<void> QpCore::to_rts(const spec::AdminModifyArgs& args) {
  auto full = args;
  full.to_state = static_cast<uint8_t>(spec::QpState::kRts);
  if (auto rsp = ctx.mgr.execute_args(ctx.dev, spec::AdminOpcode::kModifyQp, qpn, full); !rsp)
    return error_of(rsp);
  agreed = full;
  connection = args.connection;
  state = IBV_QPS_RTS;
  return {};
}

Result<void> QpCore::leave(QpState to) {
  const auto target = to == IBV_QPS_SQD ? spec::QpState::kClosing : spec::QpState::kError;
  spec::AdminModifyArgs args;
  args.to_state = static_cast<uint8_t>(target);
  if (auto rsp = ctx.mgr.execute_args(ctx.dev, spec::AdminOpcode::kModifyQp, qpn, args); !rsp)
    return error_of(rsp);
  state = to;
  return {};
}

Result<void> QpCore::wait_drained(Time deadline) {
  Manager& m = ctx.mgr;
  Result<void> result;
  auto look = [&] {
    m.qp_event[qpn] = 0;
    const auto info = refresh();
    if (!info) {
      result = error_of(info);
      return true;
    }
    return info->drained || info->state == IBV_QPS_INIT;
  };
  if (m.wait_event(ctx.dev, 0, deadline, look)) return result;
  return fail(Errc::kTimedOut, "qp {}: not drained, still in {}", qpn, to_string(state));
}

void QpCore::free_slots() {
  ctx.mgr.shared(ctx.dev).ird.give(agreed.ird_base, std::exchange(ird_taken, 0));
  ctx.mgr.ord.give(agreed.ord_base, std::exchange(ord_taken, 0));
}

// Windows first: they may be bound to a region.
void QpCore::end_keys() {
  while (!windows.empty()) (void)windows.back()->dealloc();
  for (const PostedBind& b : binds)
    if (const auto mw = b.window.lock(); mw != nullptr) mw->outstanding--;
  binds.clear();
  while (!regions.empty()) (void)regions.back()->dereg(true);
}

// The number of this QP may next be given to another QP or SRQ, which must not get these events.
void QpCore::forget_events() {
  std::erase_if(ctx.events, [this](const AsyncEvent& e) {
    return e.object == qpn && (e.type == IBV_EVENT_QP_FATAL || e.type == IBV_EVENT_QP_ACCESS_ERR);
  });
  ctx.mgr.qp_event[qpn] = 0;
}

Result<void> QpCore::destroy() {
  Manager& m = ctx.mgr;
  if (!live) {
    if (state == IBV_QPS_RESET)  // create failed: only the number was taken
      m.shared(ctx.dev).qps.give(qpn, 1);
    state = IBV_QPS_ERR;
    return {};
  }
  live = false;
  // On an error the device may still use the QP. Its rings, number and IRD and ORD slots then stay
  // taken for ever.
  auto keep = [&](const Error& why) -> Result<void> {
    m.keep_forever(sq);
    m.keep_forever(rq);
    forget_events();
    ctx.qps[qpn] = nullptr;
    send_cq->forget(*this);
    recv_cq->forget(*this);
    end_keys();
    return tl::unexpected<Error>(why);
  };
  if (state != IBV_QPS_INIT) {
    auto info = refresh();
    if (!info) return keep(info.error());
    if (info->state != IBV_QPS_INIT && !info->drained) {
      if (info->state == IBV_QPS_RTS || info->state == IBV_QPS_SQD) (void)leave(IBV_QPS_ERR);
      if (auto r = wait_drained(ctx.dev.now() + m.settings().admin_timeout); !r)
        return keep(r.error());
    }
  }
  end_keys();
  if (auto rsp = m.execute(ctx.dev, spec::AdminOpcode::kDestroyQp, qpn); !rsp)
    return keep(rsp.error());
  forget_events();
  ctx.qps[qpn] = nullptr;
  send_cq->forget(*this);
  recv_cq->forget(*this);
  free_slots();
  if (connection) m.retire_connection(ctx.dev, *std::exchange(connection, std::nullopt));
  state = IBV_QPS_ERR;
  m.shared(ctx.dev).qps.give(qpn, 1);
  return {};
}

Qp::Qp(std::shared_ptr<QpCore> core) : core_(std::move(core)) {}
Qp::Qp(Qp&&) noexcept = default;
Qp& Qp::operator=(Qp&& other) noexcept {
  if (this != &other) {
    Qp gone(std::move(*this));
    core_ = std::move(other.core_);
    wr_id = other.wr_id;
    wr_flags = other.wr_flags;
  }
  return *this;
}
Qp::~Qp() {
  if (core_ == nullptr) return;
  if (auto r = core_->destroy(); !r)
    RNIC_LOG_WARN(log, "qp {} stays: {}", core_->qpn, r.error().what);
}

uint32_t Qp::qp_num() const { return core_->qpn; }
QpState Qp::state() const { return core_->state; }
const QpCap& Qp::cap() const { return core_->cap; }
Result<QpInfo> Qp::query() { return core_->refresh(); }
Result<void> Qp::destroy() { return core_->destroy(); }

Result<void> Qp::modify(QpState to) {
  QpCore& q = *core_;
  if (!q.live) return fail(Errc::kBadState, "qp {}: destroyed", q.qpn);
  switch (to) {
    case IBV_QPS_ERR:
    case IBV_QPS_SQD:
      return q.leave(to);
    case IBV_QPS_INIT:
      if (q.state == IBV_QPS_INIT) return {};
      return fail(Errc::kBadState, "qp {}: {} to INIT; make another", q.qpn, to_string(q.state));
    default:
      break;
  }
  return fail(Errc::kInvalidArgument, "qp {}: modify to {}; connect() and accept() lead to RTS",
              q.qpn, to_string(to));
}

}  // namespace rnic::verbs

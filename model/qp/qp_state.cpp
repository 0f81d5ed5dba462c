// States of a QP: commands, start and stop of the other units, close, errors, flush. Architecture
// 7, RFC 5040 section 6.
#include <fmt/format.h>

#include <utility>

#include "qp/qp.hpp"

namespace rnic::model {

using spec::AdminOpcode;
using spec::AdminStatus;
using spec::Cause;
using spec::QpOp;
using spec::QpState;
using spec::WcStatus;

bool Qp::drained(const Ctx& c) const {
  if (c.state == QpState::kIdle) return c.phase == Ctx::Phase::kSteady;
  return c.state == QpState::kError && c.sq.producer == c.sq.retired &&
         c.rq.producer == c.rq.retired;
}

void Qp::command(const spec::QpCmd& cmd) {
  const uint16_t qpn = static_cast<uint16_t>(cmd.object);
  Ctx& c = ctx_[qpn];
  spec::CmdRsp rsp;
  switch (cmd.opcode) {
    case AdminOpcode::kCreateQp: {
      const auto a = spec::AdminQpArgs::unpack(cmd.args);
      const uint32_t life = c.life + 1;
      c = {};
      c.exists = true;
      c.life = life;
      c.pd = a.pd;
      c.page = a.page;
      c.sq.base = a.sq_base;
      c.sq.log = a.log_sq;
      c.sq.cqn = a.send_cq;
      c.rq.base = a.rq_base;
      c.rq.log = a.log_rq;
      c.rq.cqn = a.recv_cq;
      break;
    }
    case AdminOpcode::kModifyQp:
      if (const auto status = modify(qpn, spec::AdminModifyArgs::unpack(cmd.args))) {
        rsp.status = *status;
      } else {
        return;  // answered when all units have started
      }
      break;
    case AdminOpcode::kQueryQp:
      spec::AdminQpResult{.state = c.state,
                          .has_peer_term = c.has_peer_term,
                          .drained = drained(c),
                          .cause = c.cause,
                          .peer_term = c.peer_term,
                          .sq_retired = c.sq.retired,
                          .rq_retired = c.rq.retired}
          .pack(rsp.result);
      break;
    case AdminOpcode::kDestroyQp:
      if (drained(c)) {
        c.exists = false;
        ++c.life;
        update(qpn);
      } else {
        rsp.status = AdminStatus::kInUse;
      }
      break;
    default:
      rsp.status = AdminStatus::kBadOpcode;
      break;
  }
  out_.qp_cmd_rsp(rsp);
}

std::optional<AdminStatus> Qp::modify(uint16_t qpn, const spec::AdminModifyArgs& a) {
  Ctx& c = ctx_[qpn];
  switch (static_cast<QpState>(a.to_state)) {
    case QpState::kRts:
      if (c.state != QpState::kIdle || c.phase != Ctx::Phase::kSteady)
        return AdminStatus::kBadState;
      c.params = {.connection = a.connection,
                  .pd = c.pd,
                  .use_crc = a.use_crc,
                  .rx_markers = a.rx_markers,
                  .tx_markers = a.tx_markers,
                  .hold_tx = a.hold_tx,
                  .ird = a.ird,
                  .ord = a.ord,
                  .ird_base = a.ird_base,
                  .ord_base = a.ord_base};
      c.phase = Ctx::Phase::kStarting;
      c.order = {Peer::kMpa, Peer::kDdp, Peer::kRdmap,
                 Peer::kLlp};  // llp_if last: it lets bytes in
      c.step = 0;
      next_peer(qpn);
      return std::nullopt;
    case QpState::kClosing:
      if (c.state != QpState::kRts) return AdminStatus::kBadState;
      c.state = QpState::kClosing;
      close_if_drained(qpn);
      update(qpn);
      return AdminStatus::kOk;
    case QpState::kError:
      if (c.state == QpState::kError) return AdminStatus::kOk;
      c.by_driver = true;
      if (c.state == QpState::kIdle) {
        c.state = QpState::kTerminate;
        c.phase = Ctx::Phase::kFlushing;
      } else if (c.state != QpState::kTerminate) {
        terminate(qpn, Cause::kNone, false);
      } else if (c.phase == Ctx::Phase::kTermWait) {
        c.term_sent = false;
        begin_stop(qpn);
      }
      update(qpn);
      return AdminStatus::kOk;
    default:
      return AdminStatus::kBadArgument;
  }
}

/// Tells the next unit of the list, or finishes.
void Qp::next_peer(uint16_t qpn) {
  Ctx& c = ctx_[qpn];
  if (c.step < c.order.size()) {
    const Peer peer = c.order[c.step];
    QpOp op = QpOp::kStart;
    if (c.phase == Ctx::Phase::kStopping) {
      const bool abort = peer == Peer::kLlp && !c.term_sent && !c.half_closed;
      op = abort ? QpOp::kAbort : QpOp::kStop;
    }
    return out_.qp_ctl(peer, {.op = op, .qpn = qpn, .params = c.params});
  }
  if (c.phase == Ctx::Phase::kStarting) {
    c.phase = Ctx::Phase::kSteady;
    c.state = QpState::kRts;
    update(qpn);
    return out_.qp_cmd_rsp({});
  }
  c.phase = Ctx::Phase::kFlushing;
  update(qpn);
}

void Qp::ack(Peer peer, uint16_t qpn) {
  Ctx& c = ctx_[qpn];
  if (c.sync != Ctx::Sync::kNone && peer == (c.sync == Ctx::Sync::kMpa ? Peer::kMpa : Peer::kDdp)) {
    if (c.sync == Ctx::Sync::kDdp) return synced(qpn);
    c.sync = Ctx::Sync::kDdp;
    return out_.qp_ctl(Peer::kDdp, {.op = QpOp::kSync, .qpn = qpn, .params = c.params});
  }
  const bool changing = c.phase == Ctx::Phase::kStarting || c.phase == Ctx::Phase::kStopping;
  if (!changing || c.order[c.step] != peer) return;  // of a half-close
  ++c.step;
  next_peer(qpn);
}

// RFC 5040 section 6.1: the send queue is empty, so no more is said; FIN follows.
void Qp::close_if_drained(uint16_t qpn) {
  Ctx& c = ctx_[qpn];
  if (told_ || c.state != QpState::kClosing || c.half_closed || c.sq.producer != c.sq.retired)
    return;
  c.half_closed = true;
  out_.qp_ctl(Peer::kLlp, {.op = QpOp::kHalfClose, .qpn = qpn, .params = c.params});
}

void Qp::llp_event(const spec::LlpEvent& e) {
  Ctx& c = ctx_[e.qpn];
  const bool live = c.exists && (c.state == QpState::kRts || c.state == QpState::kClosing);
  switch (e.kind) {
    case spec::LlpQpEvt::kPeerClosed:
    case spec::LlpQpEvt::kClosed:
      if (!live || told_) return;
      (e.kind == spec::LlpQpEvt::kClosed ? c.closed_news : c.peer_closed_news) = true;
      if (c.sync == Ctx::Sync::kNone) {
        c.sync = Ctx::Sync::kMpa;
        out_.qp_ctl(Peer::kMpa, {.op = QpOp::kSync, .qpn = e.qpn, .params = c.params});
      }
      return;
    case spec::LlpQpEvt::kLost:
      if (live) return out_.qp_fault({.qpn = e.qpn, .cause = Cause::kLlpLost});
      [[fallthrough]];
    case spec::LlpQpEvt::kTermDone:
      if (c.phase == Ctx::Phase::kTermWait) begin_stop(e.qpn);
      break;
  }
  update(e.qpn);
}

/// What came before the news has been used, so the news counts.
void Qp::synced(uint16_t qpn) {
  Ctx& c = ctx_[qpn];
  c.sync = Ctx::Sync::kNone;
  if (std::exchange(c.stop_waits, false)) return begin_stop(qpn);
  const auto live = [&] { return c.state == QpState::kRts || c.state == QpState::kClosing; };
  if (std::exchange(c.peer_closed_news, false) && live() && !c.half_closed) {
    if (c.sq.producer != c.sq.retired) {
      out_.qp_fault({.qpn = qpn, .cause = Cause::kLlpLost});
    } else {
      c.state = QpState::kClosing;
      close_if_drained(qpn);
    }
  }
  if (std::exchange(c.closed_news, false) && live() && c.half_closed) {
    c.cause = Cause::kNone;
    c.state = QpState::kTerminate;
    begin_stop(qpn);
  }
  update(qpn);
}

void Qp::qp_error(const spec::QpError& e) {
  Ctx& c = ctx_[e.qpn];
  if (c.state != QpState::kRts && c.state != QpState::kClosing) return;
  c.has_peer_term = e.has_peer_term != 0;
  c.peer_term = e.peer_term;
  if (e.has_wr != 0) {
    const uint32_t i = (e.slot + sq_window_ - c.win_head) % sq_window_;
    if (i < c.win_count && !window(e.qpn, i).done) {
      window(e.qpn, i).failed = true;
      window(e.qpn, i).status = e.status;
    }
  }
  c.half_closed = false;
  terminate(e.qpn, e.cause, e.sends_term != 0);
}

/// Issue stops; the Terminate, if there is one, is waited for; then all units stop.
void Qp::terminate(uint16_t qpn, Cause cause, bool wait_for_term) {
  Ctx& c = ctx_[qpn];
  c.state = QpState::kTerminate;
  c.cause = cause;
  c.term_sent = wait_for_term;
  if (wait_for_term) {
    c.phase = Ctx::Phase::kTermWait;
    update(qpn);
  } else {
    c.half_closed = false;
    begin_stop(qpn);
  }
}

/// After an error from the inside out. After a graceful close from the outside in, since what has
/// come is still to be used.
void Qp::begin_stop(uint16_t qpn) {
  Ctx& c = ctx_[qpn];
  c.phase = Ctx::Phase::kStopping;
  c.stop_waits = c.sync != Ctx::Sync::kNone;
  if (c.stop_waits) return;  // one question at a time
  c.step = 0;
  c.order = c.half_closed ? std::array{Peer::kLlp, Peer::kMpa, Peer::kDdp, Peer::kRdmap}
                          : std::array{Peer::kRdmap, Peer::kLlp, Peer::kDdp, Peer::kMpa};
  update(qpn);
  next_peer(qpn);
}

void Qp::flush_entry(uint16_t qpn, Ring16& r, uint16_t up_to, bool is_recv) {
  r.retired = up_to;
  out_.cqe_req({.cqn = r.cqn,
                .entry = {.qpn = qpn,
                          .opcode = is_recv ? spec::WcOpcode::kRecv : spec::WcOpcode::kSend,
                          .index = up_to,
                          .status = WcStatus::kWrFlushErr,
                          .is_recv = is_recv}});
}

/// Every outstanding work request completes exactly once: in posting order, what failed with its
/// status, the rest flushed.
void Qp::flush_step(uint16_t qpn) {
  Ctx& c = ctx_[qpn];
  c.retired_done = true;
  while (c.win_count != 0 && !window(qpn, 0).failed) {
    c.win_head = static_cast<uint8_t>((c.win_head + 1) % sq_window_);
    --c.win_count;
  }
  if (c.win_count != 0) {
    const Issued w = window(qpn, 0);
    if (c.sq.retired != w.index) return flush_entry(qpn, c.sq, w.index, false);
    c.win_head = static_cast<uint8_t>((c.win_head + 1) % sq_window_);
    --c.win_count;
    c.sq.retired = w.after;
    return send_cqe(qpn, w, w.status);
  }
  if (c.sq.retired != c.sq.producer) return flush_entry(qpn, c.sq, c.sq.producer, false);
  if (c.rq.retired != c.rq.producer) return flush_entry(qpn, c.rq, c.rq.producer, true);
  if (c.state != QpState::kError) entered_error(qpn);
}

void Qp::entered_error(uint16_t qpn) {
  Ctx& c = ctx_[qpn];
  c.state = QpState::kError;
  c.phase = Ctx::Phase::kSteady;
  for (uint32_t i = 0; i < sq_prefetch_; ++i) prefetch_[size_t{qpn} * sq_prefetch_ + i] = {};
  if (!c.by_driver) out_.qp_async({qpn});
}

bool Qp::completes_on(uint16_t qpn, uint16_t cqn) const {
  const Ctx& c = ctx_[qpn];
  return c.exists && (c.sq.cqn == cqn || c.rq.cqn == cqn);
}

void Qp::cq_fault(const spec::CqFault& fault) {
  for (uint16_t qpn = 0; qpn < ctx_.size(); ++qpn) {
    if (completes_on(qpn, fault.cqn)) cq_fault(qpn);
  }
}

void Qp::cq_fault(uint16_t qpn) {
  Ctx& c = ctx_[qpn];
  if (c.state == QpState::kIdle && c.phase == Ctx::Phase::kSteady) {
    c.state = QpState::kTerminate;
    c.cause = Cause::kLocalCatastrophic;
    c.phase = Ctx::Phase::kFlushing;
    update(qpn);
  } else if (c.state == QpState::kRts || c.state == QpState::kClosing) {
    out_.qp_fault({.qpn = qpn, .cause = Cause::kLocalCatastrophic});
  }
}

void Qp::ask_close(uint16_t qpn) {
  Ctx& c = ctx_[qpn];
  c.state = QpState::kClosing;
  update(qpn);
  out_.qp_ctl(Peer::kRdmap, {.op = QpOp::kHalfClose, .qpn = qpn, .params = c.params});
}

void Qp::half_close(uint16_t qpn) {
  Ctx& c = ctx_[qpn];
  c.half_closed = true;
  out_.qp_ctl(Peer::kLlp, {.op = QpOp::kHalfClose, .qpn = qpn, .params = c.params});
}

void Qp::closed(uint16_t qpn) {
  Ctx& c = ctx_[qpn];
  c.cause = Cause::kNone;
  c.state = QpState::kTerminate;
  begin_stop(qpn);
}

std::string Qp::waiting_for() const {
  std::string s;
  static constexpr std::array<const char*, 4> kPeers{"mpa", "ddp", "rdmap", "llp_if"};
  for (size_t i = 0; i < ctx_.size(); ++i) {
    const Ctx& c = ctx_[i];
    if (!c.exists) continue;
    if (c.phase == Ctx::Phase::kTermWait)
      s += fmt::format("qp: QP {} waits for its Terminate to be taken\n", i);
    if (c.phase == Ctx::Phase::kStarting || c.phase == Ctx::Phase::kStopping) {
      s += fmt::format("qp: QP {} waits for {} to {}\n", i,
                       kPeers[static_cast<size_t>(c.order[c.step])],
                       c.phase == Ctx::Phase::kStarting ? "start" : "stop");
    }
    if (c.sq.fetching || c.rq.fetching) s += fmt::format("qp: QP {} waits for a WQE fetch\n", i);
    if (c.win_count != 0)
      s += fmt::format("qp: QP {} waits for {} issued WQEs, oldest index {}\n", i, c.win_count,
                       window_[i * sq_window_ + c.win_head].index);
    if (c.state == QpState::kRts && c.sq.taken != c.sq.producer) {
      s += fmt::format("qp: QP {} has {} SQ units not issued, {} of {} slots in ddp\n", i,
                       c.sq.distance(c.sq.taken, c.sq.producer), c.slots, sq_slots_);
    }
  }
  return s;
}

}  // namespace rnic::model

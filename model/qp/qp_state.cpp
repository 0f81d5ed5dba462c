// States of a QP: commands, start and stop of the other units, close, errors, flush. Architecture
// 7, RFC 5040 section 6.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "qp/qp.hpp"

namespace rnic::model {

using spec::AdminOpcode;
using spec::AdminStatus;
using spec::Cause;
using spec::QpOp;
using spec::QpState;
using spec::WcStatus;

// --- commands

void Qp::command(const spec::QpCmd& cmd) {
  if (cmd.object >= ctx_.size()) return out_.qp_cmd_rsp({.status = AdminStatus::kBadObject});
  const auto qpn = static_cast<uint16_t>(cmd.object);
  ctx_[qpn].command = cmd;
  decide(qpn);
}

bool Qp::give_up(uint16_t qpn) {
  Ctx& c = ctx_[qpn];
  // A modify_qp to rts is not given up: admin has already sent its streaming bytes.
  const bool starts = c.command && c.command->opcode == AdminOpcode::kModifyQp &&
                      spec::AdminModifyArgs::unpack(c.command->args).to_state ==
                          static_cast<uint8_t>(QpState::kRts);
  const bool begins = c.command && !starts;  // the command has not begun
  if (begins) c.command.reset();
  if (!begins && !std::exchange(c.answer_due, false)) return false;
  out_.qp_cmd_rsp({.status = AdminStatus::kInProgress, .result = {}});
  return true;
}

void Qp::execute(uint16_t qpn, const spec::QpCmd& cmd) {
  Ctx& c = ctx_[qpn];
  const bool rests = c.state == QpState::kIdle || c.state == QpState::kError;  // drained
  spec::CmdRsp rsp;
  const bool of_srq = cmd.opcode == AdminOpcode::kCreateSrq ||
                      cmd.opcode == AdminOpcode::kModifySrq ||
                      cmd.opcode == AdminOpcode::kDestroySrq;
  const bool creates =
      cmd.opcode == AdminOpcode::kCreateQp || cmd.opcode == AdminOpcode::kCreateSrq;
  if (creates ? c.exists : !c.exists || c.is_srq != of_srq) {
    rsp.status = creates ? AdminStatus::kExists : AdminStatus::kNotFound;
    return out_.qp_cmd_rsp(rsp);
  }
  switch (cmd.opcode) {
    case AdminOpcode::kCreateQp:
      create_qp(qpn, spec::AdminQpArgs::unpack(cmd.args));
      break;
    case AdminOpcode::kCreateSrq:
      create_srq(qpn, spec::AdminSrqArgs::unpack(cmd.args));
      break;
    case AdminOpcode::kModifySrq:
      c.limit = spec::AdminLimitArgs::unpack(cmd.args).limit;
      break;
    case AdminOpcode::kModifyQp:
      if (const auto status = modify(qpn, spec::AdminModifyArgs::unpack(cmd.args))) {
        rsp.status = *status;
      } else {
        return;  // the response follows when all units have started, or all WQEs are flushed
      }
      break;
    case AdminOpcode::kQueryQp:
      spec::AdminQpResult{.state = c.state,
                          .has_peer_term = c.has_peer_term,
                          .drained = rests,
                          .cause = c.cause,
                          .peer_term = c.peer_term,
                          .sq_retired = c.sq.retired,
                          .rq_retired = c.rq.retired}
          .pack(rsp.result);
      break;
    case AdminOpcode::kDestroyQp:
    case AdminOpcode::kDestroySrq:
      if (rests) {
        c.exists = c.receives = false;
        ++c.life;
        update(qpn);
        out_.qp_purge({qpn});
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

Qp::Ctx& Qp::create(uint16_t qpn, uint16_t pd, uint16_t page) {
  Ctx& c = ctx_[qpn];
  const uint32_t life = c.life + 1;
  c = {};
  c.exists = c.receives = true;
  c.life = life;
  c.pd = pd;
  c.page = page;
  return c;
}

void Qp::create_qp(uint16_t qpn, const spec::AdminQpArgs& a) {
  Ctx& c = create(qpn, a.pd, a.page);
  c.params.privileged = a.privileged;
  c.has_srq = a.has_srq != 0;
  c.srq = a.srq;
  c.sq.base = a.sq_base;
  c.sq.log = a.log_sq;
  c.sq.cqn = a.send_cq;
  c.rq.base = a.rq_base;
  c.rq.log = a.log_rq;
  c.rq.cqn = a.recv_cq;
}

void Qp::create_srq(uint16_t qpn, const spec::AdminSrqArgs& a) {
  Ctx& c = create(qpn, a.pd, a.page);
  c.is_srq = true;
  c.rq.base = a.base;
  c.rq.log = a.log_size;
}

/// Returns the status, or nothing if the response comes later.
std::optional<AdminStatus> Qp::modify(uint16_t qpn, const spec::AdminModifyArgs& a) {
  Ctx& c = ctx_[qpn];
  switch (static_cast<QpState>(a.to_state)) {
    case QpState::kRts:
      if (c.state != QpState::kIdle) return AdminStatus::kBadState;
      c.params = {.connection = a.connection,
                  .pd = c.pd,
                  .use_crc = a.use_crc,
                  .rx_markers = a.rx_markers,
                  .tx_markers = a.tx_markers,
                  .hold_tx = a.hold_tx,
                  .persist = a.persist,
                  .privileged = c.params.privileged,
                  .ird = a.ird,
                  .ord = a.ord,
                  .ird_base = a.ird_base,
                  .ord_base = a.ord_base};
      // Starts llp_if last, because it lets bytes in.
      tell(qpn,
           {{Peer::kMpa, QpOp::kStart},
            {Peer::kDdp, QpOp::kStart},
            {Peer::kRdmap, QpOp::kStart},
            {Peer::kLlp, QpOp::kStart}},
           Ctx::Then::kStarted);
      return std::nullopt;
    case QpState::kClosing:
      if (c.state != QpState::kRts) return AdminStatus::kBadState;
      c.state = QpState::kClosing;
      return AdminStatus::kOk;
    case QpState::kError:
      if (c.state == QpState::kError) return AdminStatus::kOk;
      c.answer_due = c.is_asked_for = true;
      if (c.state == QpState::kIdle) {
        drain(qpn);
      } else {
        stop(qpn, QpOp::kAbort);
      }
      return std::nullopt;
    default:
      return AdminStatus::kBadArgument;
  }
}

// --- events

void Qp::qp_error(const spec::QpError& e) {
  ctx_[e.qpn].error = e;
  ctx_[e.qpn].is_barred = e.cause != spec::Cause::kNone;
  happens(e.qpn, kError);
}

void Qp::llp_event(const spec::LlpEvent& e) {
  switch (e.kind) {
    case spec::LlpQpEvt::kPeerClosed:
      return happens(e.qpn, kPeerClosed);
    case spec::LlpQpEvt::kClosed:
      return happens(e.qpn, kClosed);
    case spec::LlpQpEvt::kLost:
      return happens(e.qpn, kLost);
    case spec::LlpQpEvt::kTermDone:
      return happens(e.qpn, kTermDone);
  }
}

bool Qp::completes_on(uint16_t qpn, uint16_t cqn) const {
  const Ctx& c = ctx_[qpn];
  return c.exists && !c.is_srq && (c.sq.cqn == cqn || c.rq.cqn == cqn);
}

void Qp::cq_fault(const spec::CqFault& fault) {
  for (uint16_t qpn = 0; qpn < ctx_.size(); ++qpn) {
    if (completes_on(qpn, fault.cqn)) cq_failed(qpn);
  }
}

void Qp::cq_failed(uint16_t qpn) { happens(qpn, kCqFailed); }

void Qp::happens(uint16_t qpn, uint8_t event) {
  ctx_[qpn].events |= event;
  decide(qpn);
}

void Qp::happened_together(uint16_t qpn, uint8_t events, const spec::QpError& error) {
  together_.push_back({qpn, events, error});
  decide(qpn);
}

/// Handles the next pending event or command. Waits while the other units carry out earlier orders.
void Qp::decide(uint16_t qpn) {
  Ctx& c = ctx_[qpn];
  while (!busy(c)) {
    const auto together = std::ranges::find(together_, qpn, &Together::qpn);
    if (together != together_.end()) {
      const Together t = *together;
      together_.erase(together);
      if ((t.events & kError) != 0) c.error = t.error;
      happened(qpn, t.events);
    } else if (c.events != 0) {
      happened(qpn, std::exchange(c.events, uint8_t{0}));
    } else if (closes(qpn)) {
      ask_close(qpn);
    } else if (c.command) {
      const spec::QpCmd cmd = *c.command;
      c.command.reset();
      execute(qpn, cmd);
    } else {
      break;
    }
  }
  update(qpn);
}

/// Handles one of the events; the order of the branches is their precedence.
void Qp::happened(uint16_t qpn, uint8_t events) {
  using Then = Ctx::Then;
  constexpr Order kMpaSync{Peer::kMpa, QpOp::kSync}, kDdpSync{Peer::kDdp, QpOp::kSync},
      kRdmapSync{Peer::kRdmap, QpOp::kSync};
  Ctx& c = ctx_[qpn];
  const auto has = [events](Event e) { return (events & e) != 0; };
  const bool ended = has(kTermDone) || has(kLost) || has(kClosed);
  if (c.phase == Ctx::Phase::kTermWait) {
    if (ended) stop(qpn, has(kTermDone) || has(kClosed) ? QpOp::kStop : QpOp::kAbort);
  } else if (c.exists && c.state == QpState::kIdle && has(kCqFailed)) {
    c.cause = Cause::kLocalCatastrophic;
    drain(qpn);
  } else if (!live(c)) {
    return;
  } else if (has(kError) && c.error.cause != Cause::kNone) {
    failed(qpn, events);
  } else if (has(kLost) || (has(kClosed) && !c.half_closed)) {
    // Closed without our half_close: llp_if closes after a Terminate, whose qp_error may not have
    // come yet. After Then::kLost rdmap reports the QP's error.
    c.lost = true;
    tell(qpn, {kMpaSync, kDdpSync}, Then::kLost);
  } else if (has(kClosed)) {
    closed(qpn);
  } else if (has(kCqFailed)) {
    c.term_seen = c.term_seen || has(kTermDone);
    out_.qp_fault({.qpn = qpn, .cause = Cause::kLocalCatastrophic});
  } else if (has(kTermDone)) {
    c.term_seen = true;
  } else if (has(kError)) {  // cause kNone: no Read of the peer is left, and rdmap accepts no more
    if (c.asked && !c.half_closed && !c.lost) half_close(qpn);
  } else if (!c.asked && !c.lost &&
             (has(kPeerClosed) || (has(kEmpty) && c.state == QpState::kClosing))) {
    // The peer has closed, or (in a follower) a closing QP has an empty send queue. First the units
    // process what has arrived. With the extensions, rdmap waits for results of our atomics.
    if (c.params.persist != 0) {
      tell(qpn, {kMpaSync, kDdpSync, kRdmapSync}, Then::kLook);
    } else {
      tell(qpn, {kMpaSync, kDdpSync}, Then::kLook);
    }
  }
}

/// rdmap has reported the cause. Waits for its Terminate, if it sends one.
void Qp::failed(uint16_t qpn, uint8_t events) {
  Ctx& c = ctx_[qpn];
  const spec::QpError& e = c.error;
  c.cause = e.cause;
  c.has_peer_term = e.has_peer_term != 0;
  c.peer_term = e.peer_term;
  if (e.has_wr != 0) {
    const uint32_t i = (e.slot + sq_window_ - c.win_head) % sq_window_;
    if (i < c.win_count) {
      window(qpn, i).failed = true;
      window(qpn, i).status = e.status;
    }
  }
  // Without a Terminate the QP ends by an abort of the connection.
  c.lost = c.lost || (events & kLost) != 0 || e.sends_term == 0;
  const bool over = c.term_seen || (events & (kTermDone | kClosed)) != 0;
  if (c.lost || over) return stop(qpn, c.lost ? QpOp::kAbort : QpOp::kStop);
  c.state = QpState::kTerminate;
  c.phase = Ctx::Phase::kTermWait;
}

/// The connection is unusable: reports it to rdmap, which then reports the QP's error.
void Qp::lose(uint16_t qpn) {
  ctx_[qpn].lost = true;
  out_.qp_fault({.qpn = qpn, .cause = Cause::kLlpLost});
}

// --- close

// RFC 5040 section 6.1: nothing follows our FIN. When the send queue is empty, qp orders half_close
// of rdmap; rdmap reports when the responder has no response left.
bool Qp::closes(uint16_t qpn) const {
  const Ctx& c = ctx_[qpn];
  return !told_ && c.exists && c.state == QpState::kClosing && !c.asked && !c.lost && sq_empty(qpn);
}

void Qp::peer_closed(uint16_t qpn) {
  ctx_[qpn].fin = true;
  update(qpn);
}

void Qp::ask_close(uint16_t qpn) {
  Ctx& c = ctx_[qpn];
  c.state = QpState::kClosing;
  c.asked = true;
  tell(qpn, {{Peer::kRdmap, QpOp::kHalfClose}}, Ctx::Then::kNothing);
}

/// Drains the responder's data from ddp, then mpa; then sends the FIN.
void Qp::half_close(uint16_t qpn) {
  ctx_[qpn].half_closed = true;
  tell(qpn, {{Peer::kDdp, QpOp::kSync}, {Peer::kMpa, QpOp::kSync}, {Peer::kLlp, QpOp::kHalfClose}},
       Ctx::Then::kNothing);
}

/// Stops the units from the outside in, because received data is still to be processed.
void Qp::closed(uint16_t qpn) {
  ctx_[qpn].state = QpState::kTerminate;
  tell(qpn,
       {{Peer::kMpa, QpOp::kSync},
        {Peer::kDdp, QpOp::kSync},
        {Peer::kLlp, QpOp::kStop},
        {Peer::kMpa, QpOp::kStop},
        {Peer::kDdp, QpOp::kStop},
        {Peer::kRdmap, QpOp::kStop}},
       Ctx::Then::kFlush);
}

/// All earlier reports are counted now.
void Qp::look(uint16_t qpn) {
  Ctx& c = ctx_[qpn];
  if (c.phase == Ctx::Phase::kDraining) {
    c.phase = Ctx::Phase::kFlushing;
    return update(qpn);
  }
  if (c.phase != Ctx::Phase::kLooking) return;
  c.phase = Ctx::Phase::kSteady;
  c.fin = true;
  if (sq_empty(qpn)) {
    ask_close(qpn);
  } else if (c.state == QpState::kRts || c.reads != 0) {
    // The peer's FIN came too early. A QP in state closing without outstanding requests goes on:
    // it may still send.
    lose(qpn);
  }
  decide(qpn);
}

// --- start and stop of the other units

void Qp::tell(uint16_t qpn, std::initializer_list<Order> orders, Ctx::Then then) {
  Ctx& c = ctx_[qpn];
  c.phase = Ctx::Phase::kOrders;
  c.then = then;
  c.order_count = c.step = 0;
  for (const Order& o : orders) {  // a follower orders no sync: earlier items have drained
    if (!told_ || o.op != QpOp::kSync) c.orders[c.order_count++] = o;
  }
  update(qpn);
  tell_next(qpn);
}

/// Sends the next order of the list, or finishes.
void Qp::tell_next(uint16_t qpn) {
  Ctx& c = ctx_[qpn];
  if (c.step < c.order_count) {
    const Order& o = c.orders[c.step];
    return out_.qp_ctl(o.peer, {.op = o.op, .qpn = qpn, .params = c.params});
  }
  c.phase = Ctx::Phase::kSteady;
  switch (c.then) {
    case Ctx::Then::kNothing:
      break;
    case Ctx::Then::kStarted:
      c.state = QpState::kRts;
      out_.qp_cmd_rsp({});
      break;
    case Ctx::Then::kLook:
      if (!told_) c.phase = Ctx::Phase::kLooking;
      return out_.look_due(qpn);
    case Ctx::Then::kLost:
      out_.qp_fault({.qpn = qpn, .cause = Cause::kLlpLost});
      break;
    case Ctx::Then::kFlush:
      return drain(qpn);
  }
  decide(qpn);
}

void Qp::ack(Peer peer, uint16_t qpn) {
  Ctx& c = ctx_[qpn];
  if (c.phase != Ctx::Phase::kOrders || c.orders[c.step].peer != peer) return;
  ++c.step;
  tell_next(qpn);
}

/// Stops after an error: from the inside out.
void Qp::stop(uint16_t qpn, QpOp llp) {
  ctx_[qpn].state = QpState::kTerminate;
  tell(qpn,
       {{Peer::kRdmap, QpOp::kStop},
        {Peer::kLlp, llp},
        {Peer::kDdp, QpOp::kStop},
        {Peer::kMpa, QpOp::kStop}},
       Ctx::Then::kFlush);
}

// --- flush

/// All other units have dropped the QP. Their earlier reports are counted before the flush.
void Qp::drain(uint16_t qpn) {
  Ctx& c = ctx_[qpn];
  c.state = QpState::kTerminate;
  c.receives = false;
  c.phase = told_ ? Ctx::Phase::kFlushing : Ctx::Phase::kDraining;
  update(qpn);
  if (!told_) out_.look_due(qpn);
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

/// Each outstanding work request completes exactly once, in posting order: a failed one with its
/// status, the others flushed.
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
  // Returns the prefetched payloads to their pool.
  for (uint32_t i = 0; i < sq_prefetch_; ++i) prefetch_[size_t{qpn} * sq_prefetch_ + i] = {};
  if (std::exchange(c.answer_due, false)) out_.qp_cmd_rsp({});
  if (!std::exchange(c.is_asked_for, false)) out_.qp_async({qpn});
  decide(qpn);
}

std::string Qp::waiting_for() const {
  std::string s;
  static constexpr std::array<const char*, 4> kPeers{"mpa", "ddp", "rdmap", "llp_if"};
  for (size_t i = 0; i < ctx_.size(); ++i) {
    const Ctx& c = ctx_[i];
    if (!c.exists) continue;
    if (c.phase == Ctx::Phase::kTermWait)
      s += fmt::format("qp: QP {} waits for its Terminate to be taken\n", i);
    if (c.phase == Ctx::Phase::kOrders) {
      const Order& o = c.orders[c.step];
      s += fmt::format("qp: QP {} waits for {} to {}\n", i, kPeers[static_cast<size_t>(o.peer)],
                       to_string(o.op));
    }
    if (c.phase == Ctx::Phase::kLooking || c.phase == Ctx::Phase::kDraining)
      s += fmt::format("qp: QP {} waits for what is done to be counted\n", i);
    if (c.asked && !c.half_closed && c.state == QpState::kClosing)
      s += fmt::format("qp: QP {} waits for its responder to answer the peer's Reads\n", i);
    if (c.sq.reads + c.rq.reads != 0) s += fmt::format("qp: QP {} waits for a WQE fetch\n", i);
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

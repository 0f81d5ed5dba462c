// The times of llp_if, and the order of records, streaming bytes and commands.
#include "llp_if/llp_unit.hpp"

#include <algorithm>

namespace rnic::model {

LlpUnit::LlpUnit(Units& u)
    : u_(u),
      tx_fpdu("tx_fpdu", u.sizes.fifo_depth + 1),
      raw_tx("raw_tx", 4),
      commands("conn_cmd", 2),
      control("qp_ctl_llp", 2 * u.sizes.num_qps),
      llp_(u.sizes, *this),
      in_("llp_rx", u.sizes.fifo_depth + 8 * u.sizes.num_conns),
      ctl_out_("llp_ctl_req", 4 * u.sizes.num_conns + u.sizes.num_qps) {
  u.attach(tx_, StageNo::kLlpTx, true);
  u.attach(rx_, StageNo::kLlpRx);
  u.attach(ctl_, StageNo::kLlpCtl);
  u.attach(out_, StageNo::kLlpCtlOut, true);
  tx_fpdu.feeds(tx_);
  raw_tx.feeds(tx_);
  in_.feeds(rx_);
  commands.feeds(ctl_);
  control.feeds(ctl_);
  ctl_out_.feeds(out_);
}

void LlpUnit::receive(LlpRecord r) {
  ++records_;
  in_.push(std::move(r), u_.now() + u_.timing.llp.rx);
}

void LlpUnit::step_rx() {
  const Cycle now = u_.now();
  if (now < rx_free_) return rx_.wake(rx_free_);
  while (in_.ready()) {
    if (const auto* e = std::get_if<spec::LlpCtlEvt>(&in_.front())) {
      llp_.event(*e);
      in_.pop();
      raw_tx_possible();  // the event may let waiting streaming bytes be sent, or be dropped
      continue;
    }
    if (rx_fpdu_o.full()) {
      rx_meter_.blocked(now);
      return rx_fpdu_o.wake_on_credit(rx_);
    }
    rx_meter_.moved(now);
    In item = in_.pop();
    LlpRecord& r = std::get<LlpRecord>(item);
    --records_;
    const Cycle busy = u_.timing.path.occupancy(r.data.size());
    rx_meter_.item(0);
    rx_free_ = now + busy;
    if (auto f = llp_.receive(r)) {
      rx_meter_.busy(u_.timing.path.beats(f->hdr.length));
      u_.pass(Stream::kRxFpduHdr, now);
      rx_fpdu_o.push(std::move(*f), now);
    } else if (llp_.answers_give(r)) {
      raw_rx_o.push({.connection = r.connection, .data = std::move(r.data)}, now + 1);
    }
    if (!in_.empty()) rx_.wake(std::max(rx_free_, in_.visible_at()));
    return;
  }
}

void LlpUnit::step_tx() {
  const Cycle now = u_.now();
  if (now < tx_free_) return tx_.wake(tx_free_);
  if (raw_tx.ready()) {
    auto may = llp_.may_send_raw(raw_tx.front());
    if (may != LlpIf::Raw::kWait) {
      raw_until_ = kNever;
    } else if (raw_until_ == kNever) {
      raw_until_ = now + u_.timing.llp.term_timeout;
      tx_.wake(raw_until_);
    } else if (now >= raw_until_) {
      llp_.abandon(raw_tx.front());
      may = LlpIf::Raw::kDrop;
      raw_until_ = kNever;
    }
    if (may == LlpIf::Raw::kDrop) raw_tx.pop();
    if (may == LlpIf::Raw::kSend && u_.world.can_llp_tx()) {
      LlpRecord r = llp_.send_raw(raw_tx.pop());
      tx_meter_.item(u_.timing.path.beats(r.data.size()));
      tx_free_ = now + u_.timing.path.occupancy(r.data.size());
      u_.world.llp_tx(std::move(r));
    }
    if (raw_tx.empty() && !(commands.empty() && control.empty()))
      ctl_.wake(now + 1);  // commands and orders that wait for earlier streaming bytes
    if (now < tx_free_) return tx_.wake(tx_free_);
  }
  if (!tx_fpdu.ready()) return;
  // An FPDU becomes visible in tx_fpdu, and is sent, with its last beat.
  const Cycle busy = u_.timing.path.occupancy(tx_fpdu.front().hdr.length);
  if (now < tx_free_ + busy - 1) return tx_.wake(tx_free_ + busy - 1);
  if (!u_.world.can_llp_tx()) return tx_meter_.blocked(now);  // wake() resumes
  if (wr_done_o.full()) {  // room of llp_if_tx's u_dones and qp_retire's u_ops
    tx_meter_.blocked(now);
    return wr_done_o.wake_on_credit(tx_);
  }
  tx_meter_.moved(now);
  TxFpdu f = tx_fpdu.pop();
  if (before_order_ && --*before_order_ == 0) ctl_.wake(now + 1);
  tx_meter_.item(0);
  tx_free_ = now + 1;
  if (auto record = llp_.send(f)) {
    tx_meter_.busy(u_.timing.path.beats(f.hdr.length));
    u_.world.llp_tx(std::move(*record));
    done_at_ = now + 1 + u_.timing.llp.done;
    llp_.sent(f.hdr);
  } else if (f.hdr.is_term != 0 && llp_.is_behind_fin(f.hdr.qpn)) {
    llp_.sent({.qpn = f.hdr.qpn, .is_term = 1});
  }
  if (!tx_fpdu.empty()) tx_.wake(std::max(tx_free_, tx_fpdu.visible_at()));
}

void LlpUnit::step_ctl() {
  const Cycle now = u_.now();
  while (!timers_.empty() && timers_.front().at <= now) {
    const Timer t = timers_.pop();
    llp_.term_timeout(t.qpn, t.life);
  }
  // Order of streaming bytes: they are sent or dropped before
  // - more bytes are admitted,
  // - the connection enters RDMA mode,
  // - the FIN that the driver requests is sent,
  // - their connection number is released.
  // Order of FPDUs: they are sent before their QP's FIN, and before its start on a new connection,
  // on which a late FPDU must not be sent.
  const auto behind_bytes = [](const spec::ConnCmd& cmd) {
    return cmd.opcode == spec::AdminOpcode::kConnClose ||
           cmd.opcode == spec::AdminOpcode::kConnRelease || LlpIf::bytes_of(cmd) != 0;
  };
  while (commands.ready() && (raw_tx.empty() || !behind_bytes(commands.front())))
    llp_.command(commands.pop());
  while (control.ready() && (raw_tx.empty() || control.front().op != spec::QpOp::kStart)) {
    const spec::QpOp op = control.front().op;
    if (op == spec::QpOp::kHalfClose || op == spec::QpOp::kStart) {
      if (!before_order_) before_order_ = tx_fpdu.size();
      if (*before_order_ != 0) return;
      before_order_.reset();
    }
    llp_.control(control.pop());
  }
}

void LlpUnit::step_out() {
  while (ctl_out_.ready()) u_.world.llp_ctl(ctl_out_.pop());
}

void LlpUnit::conn_cmd_rsp(const spec::ConnCmdRsp& rsp) { conn_cmd_rsp_o.push(rsp, u_.now()); }
void LlpUnit::qp_ack_llp(const spec::QpAckLlp& ack) { qp_ack_llp_o.push(ack, u_.now()); }
void LlpUnit::llp_event(const spec::LlpEvent& e) {
  llp_event_o.push(e, u_.now() + u_.timing.qp.control);
}
void LlpUnit::conn_async(const spec::ConnAsync& a) {
  conn_async_o.push(a, u_.now() + u_.timing.cq.event);
}
void LlpUnit::wr_done(const spec::WrDone& done) {
  u_.pass(Stream::kWrDone, done_at_);
  wr_done_o.push(done, done_at_ + u_.timing.qp.done);
}
void LlpUnit::give_ended(uint16_t connection) {
  raw_rx_o.push({.connection = connection, .data = {}, .ended = true}, u_.now() + 1);
}
void LlpUnit::grantable(const spec::TxWant& want) {
  tx_grant_o.push(want, u_.now() + u_.timing.llp.credit);
}
void LlpUnit::term_timer(uint16_t qpn, uint32_t life) {
  timers_.push({u_.now() + u_.timing.llp.term_timeout, qpn, life});
  ctl_.wake(timers_.back().at);
}

spec::UnitCount LlpUnit::count() const {
  const auto &r = rx_meter_.count(), &t = tx_meter_.count();
  return {.items = r.items + t.items, .busy = r.busy + t.busy, .stalled = r.stalled + t.stalled};
}

std::string LlpUnit::waiting_for() const {
  std::string s = llp_.waiting_for() + in_.describe() + tx_fpdu.describe() + raw_tx.describe() +
                  commands.describe() + control.describe();
  if (!tx_fpdu.empty() && !u_.world.can_llp_tx())
    s += "llp_if: waits for the LLP to take a record\n";
  return s;
}

}  // namespace rnic::model

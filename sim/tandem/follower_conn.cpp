// Connections: the transport's events, orders and commands, streaming bytes, Terminates sent.
#include "tandem/steps.hpp"

namespace rnic::sim {
namespace {

// Sources of llp_rule.
constexpr uint8_t kTermLeft = 0, kTermLate = 1, kEvent = 2, kRawCheck = 3, kRawAbort = 4,
                  kOrder = 5, kCommand = 6;

// Cycles after which the RTL has surely seen a credit. Until then it may still refuse a command for
// lack of credit.
constexpr uint64_t kCreditSeen = 256;

}  // namespace

void Steps::llp_event(const spec::LlpCtlEvt& e) { events_.push_back(e); }

/// Applies the credit at once, although the RTL sees it some cycles later. Until then the RTL
/// grants less than the model allows, which is no difference.
void Steps::llp_credit(const spec::LlpCredit& c) {
  credited_[c.connection] = tally_.cycle();
  llp_.credit(c);
}

void Steps::step(const spec::LlpRuleCommit& c) {
  switch (c.source) {
    case kTermLeft:
      if (!terms_left_.empty() && terms_left_.front() == c.qpn) {
        terms_left_.pop_front();
      } else if (!known(c.qpn, "llp_rule") || !llp_.is_behind_fin(c.qpn) ||
                 !expect_.drops_term(c.qpn)) {
        return tally_.differ("llp_rule: QP {}: RTL: its Terminate was sent; model: not sent",
                             c.qpn);
      }
      return llp_.sent({.qpn = c.qpn, .is_term = 1});
    case kTermLate:
      return terminate_late(c.qpn);
    case kEvent:
      return llp_event_taken(c);
    case kRawCheck:
    case kRawAbort:
      return raw_taken(c);
    case kOrder:
      return llp_order_taken(c);
    case kCommand: {
      auto& waiting = commands_[static_cast<size_t>(model::Admin::Unit::kConn)];
      if (waiting.empty())
        return tally_.differ("llp_rule: connection {}: RTL does a command of admin; model has none",
                             c.connection);
      const spec::ConnCmd cmd = waiting.front();
      waiting.pop_front();
      if (cmd.opcode == spec::AdminOpcode::kConnGive) giving_ = static_cast<uint16_t>(cmd.object);
      llp_.command(cmd,
                   c.no_credit != 0 && tally_.cycle() - credited_[c.connection] <= kCreditSeen);
      giving_.reset();
      return;
    }
    default:
      tally_.differ("llp_rule: source {} is not one", c.source);
  }
}

void Steps::conn_cmd_rsp(const spec::ConnCmdRsp& rsp) {
  if (giving_ && rsp.status == spec::AdminStatus::kOk) give_ = giving_;
  admin_.answer(rsp);
}

/// The RTL aborts the connection, because a Terminate had no credit for at least 2^16 cycles
/// (TermTimeout of llp_if_grant).
void Steps::terminate_late(uint16_t qpn) {
  if (!known(qpn, "llp_rule")) return;
  if (!qps_[qpn].wants_term)
    return tally_.differ("llp_rule: QP {}: RTL gives up a Terminate; model has none to send", qpn);
  qps_[qpn].wants_term = false;
  if (llp_.grant({.qpn = qpn, .is_term = 1}))
    return tally_.differ("llp_rule: QP {}: RTL gives up a Terminate; model has credit for it", qpn);
  llp_.term_timeout(qpn, term_life_);
}

void Steps::llp_event_taken(const spec::LlpRuleCommit& c) {
  if (events_.empty())
    return tally_.differ("llp_rule: connection {}: RTL took an event; none has come", c.connection);
  const spec::LlpCtlEvt e = events_.front();
  events_.pop_front();
  // fires_[3] has an entry for each connection. An event may name none: a refused connect.
  if (e.connection < fires_[3].size() && e.connection != c.connection)
    return tally_.differ("llp_rule: RTL took an event of connection {} / model's next is {}",
                         c.connection, e.describe());
  const bool begins = e.kind == spec::LlpEvt::kAssigned || e.kind == spec::LlpEvt::kIncoming;
  if (begins) expect_.begins(e.connection);
  if (begins && e.connection < bytes_left_.size()) bytes_left_[e.connection] = 0;
  if (e.kind == spec::LlpEvt::kMss && c.qpn < qps_.size()) qps_[c.qpn].resized = tally_.cycle();
  llp_.event(e);
  const bool ends = e.kind == spec::LlpEvt::kClosed || e.kind == spec::LlpEvt::kReset ||
                    e.kind == spec::LlpEvt::kFailed;
  if (ends && give_ == e.connection) {  // admin waits for bytes, and no more bytes come
    give_.reset();
    admin_.raw_rx({.connection = e.connection, .data = {}, .ended = true});
  }
}

void Steps::llp_order_taken(const spec::LlpRuleCommit& c) {
  const auto ctl = take_of(ctl_llp_, c.qpn, "llp_rule", "an order of qp");
  if (!ctl) return;
  Followed& q = qps_[c.qpn];
  if (ctl->op == spec::QpOp::kStart) {
    q.connection = ctl->params.connection;
    q.stopped_llp = q.wants = q.wants_term = false;
  } else if (ctl->op == spec::QpOp::kStop || ctl->op == spec::QpOp::kAbort) {
    q.stopped_llp = true;
    expect_.may_drop(c.qpn);
  } else if (ctl->op == spec::QpOp::kHalfClose) {
    expect_.may_drop(c.qpn);  // llp_if_tx drops what follows the FIN
  }
  llp_.control(*ctl);
}

/// The RTL has judged admin's streaming bytes. They are sent when they have credit (llp_tx), or
/// discarded.
void Steps::raw_taken(const spec::LlpRuleCommit& c) {
  if (raw_out_.empty() || raw_out_.front().bytes.connection != c.connection)
    return tally_.differ("llp_rule: connection {}: RTL judges streaming bytes; model has none",
                         c.connection);
  RawOut& raw = raw_out_.front();
  if (c.source == kRawAbort) {
    llp_.abandon(raw.bytes);
    raw_out_.pop_front();
    return;
  }
  raw.checked = llp_.may_send_raw(raw.bytes) != model::LlpIf::Raw::kDrop;
  if (!raw.checked) raw_out_.pop_front();
}

}  // namespace rnic::sim

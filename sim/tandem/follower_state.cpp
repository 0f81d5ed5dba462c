// States of QPs: commands, events, start and stop of the other units. The RTL reports which events
// it has taken together. The model (Qp::happened) decides which of them counts and what the QP
// does.
#include "tandem/steps.hpp"

namespace rnic::sim {
namespace {

// `bits` of commit qp_state (docs/spec/commits.yaml).
enum Bit : uint8_t {
  kError = 1,
  kPeerClosed = 2,
  kClosed = 4,
  kLost = 8,
  kTermDone = 16,
  kEmpty = 32,
  kCqFault = 64
};

}  // namespace

// --- events of a QP wait here until qp_state takes them

void Steps::qp_error(const spec::QpError& e) {
  qps_[e.qpn].bits |= kError;
  qps_[e.qpn].errors.push_back(e);
  if (e.cause == spec::Cause::kNone) return;
  qps_[e.qpn].has_failed = true;
  qps_[e.qpn].dead = tally_.cycle();
}

void Steps::llp_event(const spec::LlpEvent& e) {
  static constexpr std::array<uint8_t, 4> kBits{kPeerClosed, kClosed, kLost, kTermDone};
  qps_[e.qpn].bits |=
      kBits[static_cast<size_t>(e.kind) - static_cast<size_t>(spec::LlpQpEvt::kPeerClosed)];
}

// --- orders to the units

void Steps::qp_ctl(model::Qp::Peer peer, const spec::QpCtlLlp& ctl) {
  switch (peer) {
    case model::Qp::Peer::kMpa:
      return mpa_.control(ctl);  // at once: mpa holds nothing here
    case model::Qp::Peer::kDdp:
      return ctl_ddp_.push_back(ctl);
    case model::Qp::Peer::kRdmap:
      return ctl_rdmap_.push_back(ctl);
    case model::Qp::Peer::kLlp:
      return ctl_llp_.push_back(ctl);
  }
}

// admin gets the response when the RTL responds: until then the RTL may give up the command.
void Steps::qp_cmd_rsp(const spec::QpCmdRsp& rsp) { answers_.push_back({commanded_, rsp}); }

void Steps::step(const spec::QpAnswerCommit& c) {
  if (c.waits != 0 && !give_up(c.qpn)) return;
  if (answers_.empty())
    return tally_.differ(
        "qp_answer: QP {}: RTL answers a command; the model's QP has not done it: {}", c.qpn,
        qp_.waiting_for());
  if (answers_.front().qpn != c.qpn)
    return tally_.differ("qp_answer: RTL answers a command to QP {}; model one to QP {}", c.qpn,
                         answers_.front().qpn);
  if (!purges_.empty())
    return tally_.differ("qp_answer: QP {}: RTL answers destroy_qp before push_purge", c.qpn);
  const spec::QpCmdRsp rsp = answers_.front().rsp;
  answers_.pop_front();
  if (c.qpn < qps_.size()) qps_[c.qpn].is_changing = false;
  admin_.answer(rsp);
}

/// The RTL responds in_progress: the command has not begun, or its QP continues to end without it.
/// Legal (decision 6): for a command that has begun, only modify_qp to error; for one that has not,
/// any but modify_qp to rts.
bool Steps::give_up(uint16_t qpn) {
  constexpr spec::QpCmdRsp kGivenUp{.status = spec::AdminStatus::kInProgress, .result = {}};
  const auto modifies_to = [](const spec::QpCmd& cmd, spec::QpState to) {
    return cmd.opcode == spec::AdminOpcode::kModifyQp &&
           spec::AdminModifyArgs::unpack(cmd.args).to_state == static_cast<uint8_t>(to);
  };
  auto& waiting = commands_[static_cast<size_t>(model::Admin::Unit::kQp)];
  const bool begun = waiting.empty();
  const spec::QpCmd cmd = begun ? begun_ : waiting.front();
  if (static_cast<uint16_t>(cmd.object) != qpn ||
      (begun ? !modifies_to(cmd, spec::QpState::kError) : modifies_to(cmd, spec::QpState::kRts))) {
    tally_.differ("qp_answer: QP {}: RTL answers in_progress; model has {} {}, {}", qpn,
                  to_string(cmd.opcode), cmd.object, begun ? "begun" : "not begun");
    return false;
  }
  if (!begun) {
    waiting.pop_front();
    answers_.push_back({qpn, kGivenUp});
  } else if (answers_.empty()) {
    commanded_ = qpn;
    (void)qp_.give_up(qpn);
  } else {
    answers_.front().rsp = kGivenUp;  // the model has done the command, the RTL not yet
  }
  return true;
}

// --- decisions

void Steps::step(const spec::QpStateCommit& c) {
  if (!known(c.qpn, "qp_state")) return;
  Followed& q = qps_[c.qpn];
  if (c.again != 0) {
    if (look_ != Look::kDone || looked_at_ != c.qpn)
      return tally_.differ(
          "qp_state: QP {}: RTL decides after a second visit; model has not visited", c.qpn);
    look_ = Look::kNone;
    return decide_again(c.qpn, q);
  }
  if (look_ != Look::kNone)
    return tally_.differ("qp_state: QP {}: RTL decides; model has not done with its look at QP {}",
                         c.qpn, looked_at_);
  if (c.is_cmd == 0) {
    const uint8_t known_bits = static_cast<uint8_t>(
        q.bits | kEmpty |
        (q.is_overtaken ? kError : 0));  // kEmpty: judged after the queue check (decide_again)
    if ((c.bits & ~known_bits) != 0)
      return tally_.differ("qp_state: QP {}: events: RTL {:#x} / model {:#x}", c.qpn, c.bits,
                           q.bits);
    uint8_t bits = c.bits;
    spec::QpError e;
    if ((c.bits & kError) != 0 && !q.errors.empty()) {
      e = take_error(c, q);
      if (e.cause != spec::Cause::kNone && !q.barred) q.barred = tally_.cycle();
    } else if ((c.bits & kError) != 0) {
      q.is_overtaken = false;
      bits = static_cast<uint8_t>(bits & ~kError);
    }
    q.bits = static_cast<uint8_t>(q.bits & ~c.bits) | (q.errors.empty() ? 0 : kError);
    return happened(c.qpn, q, bits, e);
  }
  auto& waiting = commands_[static_cast<size_t>(model::Admin::Unit::kQp)];
  if (waiting.empty() || waiting.front().object != c.qpn)
    return tally_.differ("qp_state: QP {}: RTL does a command; model has none for it", c.qpn);
  const spec::QpCmd cmd = waiting.front();
  waiting.pop_front();
  const bool is_end =
      cmd.opcode == spec::AdminOpcode::kDestroyQp || cmd.opcode == spec::AdminOpcode::kDestroySrq;
  q.is_changing = is_end || cmd.opcode == spec::AdminOpcode::kCreateQp ||
                  cmd.opcode == spec::AdminOpcode::kCreateSrq;
  const auto state = qp_.state(c.qpn);
  const bool rests = state == spec::QpState::kIdle || state == spec::QpState::kError;
  if (cmd.opcode == spec::AdminOpcode::kQueryQp || (is_end && rests)) {
    q.at_look = cmd;  // step(QpRetireCommit) executes the command at the queue check
    return look(c.qpn);
  }
  command_now(cmd);
}

void Steps::command_now(const spec::QpCmd& cmd) {
  const auto qpn = static_cast<uint16_t>(cmd.object);
  commanded_ = qpn;
  begun_ = cmd;
  // A new ring: units that the RTL read at these addresses for an earlier ring no longer count.
  if (cmd.opcode == spec::AdminOpcode::kCreateQp) {
    const auto a = spec::AdminQpArgs::unpack(cmd.args);
    log_.forget(Client::kSqFetch, a.sq_base, uint64_t{64} << a.log_sq);
    log_.forget(Client::kRqFetch, a.rq_base, uint64_t{64} << a.log_rq);
    qps_[qpn] = {};
    qps_[qpn].is_changing = true;
  }
  if (cmd.opcode == spec::AdminOpcode::kCreateSrq) {
    const auto a = spec::AdminSrqArgs::unpack(cmd.args);
    log_.forget(Client::kRqFetch, a.base, uint64_t{64} << a.log_size);
    qps_[qpn] = {};
    qps_[qpn].is_changing = true;
  }
  if (cmd.opcode == spec::AdminOpcode::kModifySrq) qps_[qpn].limit_set = tally_.cycle();
  qp_.command(cmd);
}

void Steps::look(uint16_t qpn) {
  look_ = Look::kDue;
  looked_at_ = qpn;
}

/// The error that the RTL decided on. The RTL keeps one error per QP. If qp_state has not taken
/// "nothing left" (cause none) yet, a later error replaces it. If qp_state has cleared the bit in
/// between, the later error sets the bit once more.
spec::QpError Steps::take_error(const spec::QpStateCommit& c, Followed& q) {
  const auto is_nothing = [](const spec::QpError& e) { return e.cause == spec::Cause::kNone; };
  const bool first = c.nothing_left != 0 || !is_nothing(q.errors.front());
  const spec::QpError e = first ? q.errors.front() : q.errors.back();
  if (is_nothing(e) != (c.nothing_left != 0))
    tally_.differ("qp_state: QP {}: RTL has {} / model {}", c.qpn,
                  c.nothing_left != 0 ? "nothing left" : "an error", e.describe());
  q.is_overtaken = !first;
  if (first)
    q.errors.pop_front();
  else
    q.errors.clear();
  return e;
}

/// The model decides which event counts and what the QP does.
void Steps::happened(uint16_t qpn, Followed& q, uint8_t bits, const spec::QpError& e) {
  static constexpr std::array<std::pair<Bit, model::Qp::Event>, 7> kEvents{
      {{kError, model::Qp::kError},
       {kPeerClosed, model::Qp::kPeerClosed},
       {kClosed, model::Qp::kClosed},
       {kLost, model::Qp::kLost},
       {kTermDone, model::Qp::kTermDone},
       {kEmpty, model::Qp::kEmpty},
       {kCqFault, model::Qp::kCqFailed}}};
  const auto state = qp_.state(qpn);
  const bool is_live =
      qp_.exists(qpn) && (state == spec::QpState::kRts || state == spec::QpState::kClosing);
  if (is_live && (bits & kError) != 0 && e.cause != spec::Cause::kNone && e.has_wr != 0) ++q.marks;
  uint8_t events = 0;
  for (const auto& [bit, event] : kEvents)
    if ((bits & bit) != 0) events = static_cast<uint8_t>(events | event);
  fin_with_it_ = (bits & kPeerClosed) != 0;
  qp_.happened_together(qpn, events, e);
}

/// The model needs to know what is outstanding before it continues. It waits for the RTL's next
/// queue check (qp_retire 4).
void Steps::look_due(uint16_t qpn) {
  Followed& q = qps_[qpn];
  q.fin = q.fin || fin_with_it_;
  look(qpn);
}

/// True if everything received before the connection's end has a verdict and is placed, as the sync
/// orders of qp to mpa and ddp guarantee. Else reports a difference, with `does`: what the RTL did.
bool Steps::is_delivered(uint16_t qpn, std::string_view commit, std::string_view does) {
  const auto is_its = [qpn](const model::RxUlpdu& u) { return u.hdr.qpn == qpn; };
  if (std::ranges::any_of(ulpdus_, is_its) || std::ranges::any_of(inside_, is_its)) {
    tally_.differ("{}: QP {}: RTL {}; a segment before it has no verdict yet", commit, qpn, does);
  } else if (expect_.places(qpn)) {
    tally_.differ("{}: QP {}: RTL {}; payload before it is not placed yet", commit, qpn, does);
  } else {
    return true;
  }
  return false;
}

/// Decides after the queue check of a QP whose peer has closed, or which closes itself.
void Steps::decide_again(uint16_t qpn, Followed& q) {
  if (q.fin && !is_delivered(qpn, "qp_state", "looks at the peer's FIN")) return;
  if (q.look_empty) {
    qp_.ask_close(qpn);
  } else if (q.fin && (qp_.state(qpn) == spec::QpState::kRts || q.look_reads)) {
    qp_.llp_event({.qpn = qpn, .kind = spec::LlpQpEvt::kLost});
  } else if (q.fin) {
    qp_.peer_closed(qpn);
  }
}

}  // namespace rnic::sim

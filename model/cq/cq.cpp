// Completions, arming and events of the CQs: see cq.hpp.
#include "cq/cq.hpp"

#include <array>

namespace rnic::model {

using spec::AdminOpcode;
using spec::AdminStatus;
using spec::EqeType;

Cq::Cq(const spec::Sizes& sizes, Out& out)
    : out_(out),
      cqs_(sizes.num_cqs),
      eqs_(sizes.num_eqs),
      completions_(sizes.num_cqs),
      cq_errors_(sizes.num_cqs),
      qps_(sizes.num_qps),
      conns_(sizes.num_conns) {}

void Cq::command(const spec::CqCmd& cmd) {
  const auto a = spec::AdminRingArgs::unpack(cmd.args);
  const bool is_eq = cmd.opcode == AdminOpcode::kCreateEq || cmd.opcode == AdminOpcode::kDestroyEq;
  spec::CmdRsp rsp;
  switch (cmd.opcode) {
    case AdminOpcode::kCreateEq: {
      EqState& e = eqs_[cmd.object];
      e = {};
      e.exists = true;
      e.base = a.base;
      e.log = a.log_size;
      e.vector = a.vector;
      break;
    }
    case AdminOpcode::kDestroyEq:
      eqs_[cmd.object] = {};
      break;
    case AdminOpcode::kCreateCq: {
      CqState& c = cqs_[cmd.object];
      c = {};
      c.exists = true;
      c.base = a.base;
      c.log = a.log_size;
      c.page = a.page;
      c.eqn = a.eqn;
      break;
    }
    case AdminOpcode::kModifyCq:
      cqs_[cmd.object].eqn = a.eqn;
      break;
    case AdminOpcode::kQueryCq: {
      const CqState& c = cqs_[cmd.object];
      spec::AdminCqResult{
          .producer = c.producer, .consumer = c.consumer, .overrun = c.overrun, .armed = c.armed}
          .pack(rsp.result);
      break;
    }
    case AdminOpcode::kDestroyCq:
      cqs_[cmd.object] = {};
      completions_.clear(cmd.object);
      cq_errors_.clear(cmd.object);
      break;
    default:
      rsp.status = AdminStatus::kBadOpcode;
      break;
  }
  out_.cq_cmd_rsp(rsp);
  if (is_eq || cmd.opcode == AdminOpcode::kModifyCq)
    out_.event_ready();  // pending events may have waited for this EQ, or for the CQ's new EQ
}

bool Cq::doorbell(const spec::CqDoorbell& db) {
  if (db.cqn >= cqs_.size()) return false;
  CqState& c = cqs_[db.cqn];
  if (!c.exists || c.page != db.page) return false;
  const uint16_t consumed = static_cast<uint16_t>(db.index - c.consumer);
  if (consumed > c.held()) return false;  // the index is beyond the producer's
  if (c.has_solicited && static_cast<uint16_t>(c.after_solicited - c.consumer) <= consumed)
    c.has_solicited = false;
  c.consumer = db.index;
  if (db.arm == 0) return true;
  c.solicited_only =
      db.solicited_only != 0 && !(c.armed && !c.solicited_only);  // keep an arm for any CQE
  c.armed = true;
  if (counts(c)) fire(db.cqn);  // completions have arrived that the driver's index does not cover
  return true;
}

void Cq::doorbell(const spec::EqDoorbell& db) {
  if (db.eqn >= eqs_.size()) return;
  EqState& e = eqs_[db.eqn];
  if (static_cast<uint16_t>(db.index - e.consumer) > e.held()) return;
  e.consumer = db.index;
  out_.event_ready();
}

/// A completion has met the CQ's arm: disarms the CQ, and pends its event.
void Cq::fire(uint16_t cqn) {
  cqs_[cqn].armed = false;
  pend({EqeType::kCompletion, cqn});
}

std::optional<spec::CqWr> Cq::complete(const spec::CqeReq& req, uint64_t timestamp) {
  if (req.cqn >= cqs_.size()) return std::nullopt;
  CqState& c = cqs_[req.cqn];
  if (!c.exists || c.overrun) return std::nullopt;
  if (c.full()) {
    c.overrun = true;
    pend({EqeType::kCqError, req.cqn});
    out_.cq_fault({req.cqn});
    return std::nullopt;
  }
  spec::Cqe e = req.entry;
  e.timestamp = timestamp & ((uint64_t{1} << 48) - 1);
  e.phase = c.phase();
  spec::CqWr wr{
      .address = c.base + spec::Cqe::kBytes * c.place(), .length = spec::Cqe::kBytes, .data = {}};
  e.pack(wr.data);
  ++c.producer;
  if (e.solicited != 0 || e.status != spec::WcStatus::kSuccess) {
    c.has_solicited = true;
    c.after_solicited = c.producer;
  }
  if (c.armed && counts(c)) fire(req.cqn);
  return wr;
}

const ReadySet& Cq::pending(EqeType kind) const {
  switch (kind) {
    case EqeType::kCompletion:
      return completions_;
    case EqeType::kCqError:
      return cq_errors_;
    case EqeType::kQp:
      return qps_;
    default:
      return conns_;
  }
}

bool Cq::may_write(const Event& e) const {
  const ReadySet& set = pending(e.kind);
  if (e.object >= set.size() || !set.test(e.object)) return false;
  const EqState& q = eqs_[eqn_of(e)];
  return q.exists && !q.full();
}

/// The event to be written next: the first kind of this list with an event whose EQ has room, and
/// its lowest number.
std::optional<Cq::Event> Cq::choice() const {
  for (const EqeType kind :
       {EqeType::kCqError, EqeType::kQp, EqeType::kConnection, EqeType::kCompletion}) {
    const ReadySet& set = pending(kind);
    uint32_t first = set.next(0);
    for (uint32_t at = first; at != set.size();) {
      if (may_write({kind, at})) return Event{kind, at};
      at = set.next(at + 1);
      if (at <= first) break;  // every member was checked once
    }
  }
  return std::nullopt;
}

spec::CqWr Cq::write_event(const Event& e) {
  const_cast<ReadySet&>(pending(e.kind)).clear(e.object);
  EqState& q = eqs_[eqn_of(e)];
  spec::CqWr wr{
      .address = q.base + spec::Eqe::kBytes * q.place(), .length = spec::Eqe::kBytes, .data = {}};
  spec::Eqe{.kind = e.kind, .object = e.object, .phase = q.phase()}.pack(wr.data);
  ++q.producer;
  return wr;
}

spec::CqWr Cq::interrupt(const Event& e) const {
  return {.is_msix = 1, .vector = eqs_[eqn_of(e)].vector, .data = {}};
}

}  // namespace rnic::model

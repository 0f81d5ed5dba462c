// Completion queues and events.
#include "tandem/steps.hpp"

namespace rnic::sim {
namespace {

// Operations of commit cq_op (docs/spec/commits.yaml). Operation 3, a due event, is the default
// case of step(CqOpCommit).
constexpr uint8_t kDoorbell = 0, kCommand = 1, kCompletion = 2;

}  // namespace

void Steps::step(const spec::CqOpCommit& c) {
  switch (c.op) {
    case kDoorbell: {
      if (cq_doorbells_.empty() || cq_doorbells_.front().cqn != c.cqn) {
        return tally_.differ("cq_op: RTL took a doorbell of CQ {}; model's next is {}", c.cqn,
                             cq_doorbells_.empty() ? "none" : cq_doorbells_.front().describe());
      }
      if (!cq_.doorbell(cq_doorbells_.front())) host_.bar.dropped();
      cq_doorbells_.pop_front();
      return;
    }
    case kCommand: {
      auto& waiting = commands_[static_cast<size_t>(model::Admin::Unit::kCq)];
      if (waiting.empty() || (waiting.front().object & 0xffff) != c.cqn)
        return tally_.differ("cq_op: RTL did a command on CQ {}; model has none for it", c.cqn);
      const spec::Cmd cmd = waiting.front();
      waiting.pop_front();
      if (cmd.opcode != spec::AdminOpcode::kDestroyCq) return cq_.command(cmd);
      after_answer_.push_back(
          [this, cmd] {  // its last events may be written until the RTL has responded
            quiet_cq_ = true;
            cq_.command(cmd);
            quiet_cq_ = false;
            fires_[0][cmd.object] = fires_[1][cmd.object] = {};
          });
      return admin_.answer({});
    }
    case kCompletion: {
      flush_again(c.qpn);
      const auto req = take(cqe_reqs_, c.qpn, "cq_op", "a completion");
      if (!req) return;
      if (req->cqn != c.cqn)
        return tally_.differ("cq_op: QP {}: completion: RTL on CQ {} / model on CQ {}", c.qpn,
                             c.cqn, req->cqn);
      const auto wr = cq_.complete(*req, 0);
      if (wr) expect_.completion(*wr, c.cqn);
      if (!wr || !expect_.writes()) completion_told(req->entry);
      return;
    }
    default: {  // the doorbell that armed the CQ has made the event due
      const Fires& f = fires_[0][c.cqn % fires_[0].size()];
      if (f.firm + f.merged == 0)
        tally_.differ("cq_op: CQ {}: RTL has an event due; model has none", c.cqn);
    }
  }
}

Steps::Fires& Steps::fires(const model::Cq::Event& e) {
  return fires_[static_cast<size_t>(e.kind) - 1][e.object];
}

/// Events merge in the pending bit of their object. So the RTL may write fewer entries than events
/// came due: at most one entry for each, and at least one after the last.
void Steps::step(const spec::CqEventCommit& c) {
  const model::Cq::Event e{static_cast<spec::EqeType>(c.kind), c.object};
  // Kinds (EqeType): 1 completion, 2 CQ error, 3 QP, 4 connection.
  if (c.kind < 1 || c.kind > 4 || c.object >= fires_[c.kind - 1U].size())
    return tally_.differ("cq_event: RTL writes kind {} of {}", c.kind, c.object);
  Fires& f = fires(e);
  if (f.firm + f.merged == 0)
    return tally_.differ("cq_event: RTL writes an event {} of {}; model has none pending",
                         to_string(e.kind), e.object);
  if (f.firm == 0) {  // an event that may have merged into an earlier entry was written separately
    cq_.pend(e);
    f = {.firm = 0, .merged = f.merged};
  }
  if (!cq_.may_write(e))
    return tally_.differ(
        "cq_event: RTL writes an event {} of {}; model's event queue has no room or does not exist",
        to_string(e.kind), e.object);
  f = {.firm = 0, .merged = f.firm + f.merged - 1};
  expect_.event(cq_.write_event(e), cq_.interrupt(e));
}

void Steps::cq_cmd_rsp(const spec::CqCmdRsp& rsp) {
  if (!quiet_cq_) admin_.answer(rsp);
}

/// Sets the CQ fault bit (kCqFault in follower_state.cpp) of each QP that completes on the queue.
void Steps::cq_fault(const spec::CqFault& fault) {
  for (uint16_t qpn = 0; qpn < qps_.size(); ++qpn) {
    if (qp_.completes_on(qpn, fault.cqn)) qps_[qpn].bits |= 1U << 6;
  }
}

}  // namespace rnic::sim

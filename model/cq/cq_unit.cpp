// The times of cq. Precedence at cq_wr: the MSI-X message of the event just written, then a pending
// event, then a completion.
#include "cq/cq_unit.hpp"

#include <utility>

namespace rnic::model {

CqUnit::CqUnit(Units& u)
    : u_(u),
      cqe_req("cqe_req", u.sizes.fifo_depth),
      control("cq_cmd", u.sizes.num_qps + u.sizes.num_conns + 2),
      cq_(u.sizes, *this) {
  u.attach(write_, StageNo::kCqWrite);
  u.attach(ctl_, StageNo::kCqCtl);
  cqe_req.feeds(write_);
  control.feeds(ctl_);
}

void CqUnit::step_write() {
  const Cycle now = u_.now();
  if (now < free_at_) return write_.wake(free_at_);
  auto& out = cq_wr_o;
  if (out.full()) {
    meter_.blocked(now);
    return out.wake_on_credit(write_);
  }
  meter_.moved(now);
  const CqTiming& t = u_.timing.cq;
  Cycle busy = 1;  // an event's write: one cycle of cq_wr
  if (interrupt_) {
    out.push(cq_.interrupt(*interrupt_), now + 1 + u_.timing.host.wr_small);
    interrupt_.reset();
  } else if (const auto e = event_ && event_at_ <= now ? cq_.choice() : std::nullopt) {
    out.push(cq_.write_event(*e), now + t.announce + u_.timing.host.wr_small);
    interrupt_ = e;
    event_at_ = now + t.announce + 2;  // EQE and message take 2 cycles, then the next event
  } else if (cqe_req.ready()) {
    if (event_at_ <= now) event_ = false;  // choice() has returned none
    ++taken_;
    if (behind_ && taken_ >= behind_->taken) ctl_.wake(now + 1);
    after_ = t.behind + t.event;
    if (auto wr = cq_.complete(cqe_req.pop(), now - u_.born)) {
      meter_.item(0);
      u_.pass(Stream::kCqWr, now + t.write);
      out.push(*wr, now + t.write + u_.timing.host.wr_small);
    }
    after_.reset();
    busy = t.occupancy;
  } else {
    if (event_at_ <= now) event_ = false;
    return;
  }
  meter_.busy(1);
  free_at_ = now + busy;
  if (interrupt_ || !cqe_req.empty()) write_.wake(free_at_);
  if (event_) write_.wake(std::max(free_at_, event_at_));
}

void CqUnit::step_ctl() {
  after_ = 0;
  while (control.ready()) {
    const Control c = control.pop();
    if (const auto* cmd = std::get_if<spec::CqCmd>(&c)) behind_ = {*cmd, taken_ + cqe_req.size()};
    if (const auto* a = std::get_if<spec::QpAsync>(&c)) cq_.qp_async(*a);
    if (const auto* a = std::get_if<spec::ConnAsync>(&c)) cq_.conn_async(*a);
  }
  if (behind_ && taken_ >= behind_->taken) cq_.command(std::exchange(behind_, std::nullopt)->cmd);
  after_.reset();
}

void CqUnit::cq_cmd_rsp(const spec::CqCmdRsp& rsp) {
  cq_cmd_rsp_o.push(rsp, u_.now() + u_.timing.cq.control);
}
void CqUnit::cq_fault(const spec::CqFault& f) {
  cq_fault_o.push(f, u_.now() + u_.timing.qp.control);
}

}  // namespace rnic::model

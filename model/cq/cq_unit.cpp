#include "cq/cq_unit.hpp"

#include "admin/admin_unit.hpp"
#include "host_if/host_unit.hpp"
#include "qp/qp_unit.hpp"

namespace rnic::model {

CqUnit::CqUnit(Units& u)
    : cqe_req("cqe_req", u.sizes.fifo_depth),
      control("cq_cmd", u.sizes.num_qps + u.sizes.num_conns + 2),
      u_(u),
      cq_(u.sizes, *this) {
  u.attach(write_, StageNo::kCqWrite);
  u.attach(ctl_, StageNo::kCqCtl);
  cqe_req.feeds(write_);
  control.feeds(ctl_);
}

void CqUnit::step_write() {
  const Cycle now = u_.now();
  if (now < free_at_) return write_.wake(free_at_);
  auto& out = u_.host->cq_wr;
  if (out.full()) {
    meter_.blocked(now);
    return out.wake_on_credit(write_);
  }
  meter_.moved(now);
  const Cycle at = now + u_.timing.cq.write;
  if (interrupt_) {
    out.push(cq_.interrupt(*interrupt_), at);
    interrupt_.reset();
  } else if (const auto e = event_ ? cq_.choice() : std::nullopt) {
    out.push(cq_.write_event(*e), at);
    interrupt_ = e;
  } else if (event_ = false; cqe_req.ready()) {
    if (auto wr = cq_.complete(cqe_req.pop(), now - u_.born)) out.push(*wr, at);
  } else {
    return;
  }
  meter_.item(u_.timing.cq.occupancy);
  free_at_ = now + u_.timing.cq.occupancy;
  if (interrupt_ || event_ || !cqe_req.empty()) write_.wake(free_at_);
}

void CqUnit::step_ctl() {
  while (control.ready()) {
    const Control c = control.pop();
    if (const auto* cmd = std::get_if<spec::CqCmd>(&c)) cq_.command(*cmd);
    if (const auto* a = std::get_if<spec::QpAsync>(&c)) cq_.qp_async(*a);
    if (const auto* a = std::get_if<spec::ConnAsync>(&c)) cq_.conn_async(*a);
  }
}

void CqUnit::cq_cmd_rsp(const spec::CqCmdRsp& rsp) { u_.admin->answer(rsp); }
void CqUnit::cq_fault(const spec::CqFault& f) {
  u_.qp->control.push(f, u_.now() + u_.timing.qp.control);
}

}  // namespace rnic::model

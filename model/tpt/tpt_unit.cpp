// The times of tpt's commands, invalidations, registrations and binds: see tpt_unit.hpp.
#include "tpt/tpt_unit.hpp"

namespace rnic::model {

TptUnit::TptUnit(Units& u)
    : u_(u),
      control("tpt_cmd", 2),
      invalidations("invalidate", 6 * u.sizes.fifo_depth),
      local("sq_local", u.sizes.num_qps * u.sizes.sq_window),
      reg_rd("reg_rd", u.sizes.rd_tags),
      tpt_(u.sizes, *this) {
  u.attach(ctl_, StageNo::kTptCtl);
  u.attach(register_, StageNo::kTptRegister);
  control.feeds(ctl_);
  invalidations.feeds(ctl_);
  local.feeds(ctl_);
  reg_rd.feeds(register_);
}

/// Invalidations of the peer and of the send queue alternate. A registration or bind leaves `local`
/// when front() is idle: the one before it is bound, refused, or has requested its page list. Later
/// items of `local` wait behind it.
void TptUnit::step_ctl() {
  const Cycle now = u_.now();
  while (control.ready()) tpt_.command(control.pop());
  for (;;) {
    const bool is_change = local.ready() && !Tpt::is_invalidation(local.front());
    if (is_change && front_ == Front::kIdle &&
        (local.front().is_bind != 0 || jobs_.size() < kJobs)) {
      bind_.reset();
      if (local.front().is_bind != 0)
        bind_ = Tpt::Binding(local.pop());
      else
        head_ = Tpt::Registration(local.pop());
      front_ = Front::kAsks;
      front_at_ = now;
      register_.wake(now);
    }
    const bool of_peer = invalidations.ready();
    const bool own = local.ready() && Tpt::is_invalidation(local.front());
    if (!of_peer && !own) return;
    if (now < update_free_) return ctl_.wake(update_free_);
    of_peer_last_ = of_peer && !(own && of_peer_last_);
    const uint32_t stag = of_peer_last_ ? invalidations.front().stag : local.front().stag;
    const TptTiming& t = u_.timing.tpt;
    update_free_ = now + t.invalidations + (tpt_.is_bound(stag) ? t.unbind : 0);
    if (of_peer_last_)
      tpt_.invalidate(invalidations.pop());
    else
      tpt_.invalidate(local.pop());
  }
}

void TptUnit::invalidated(const spec::Invalidated&) { invalidated_o(); }
void TptUnit::sq_local_done(const spec::SqLocalDone& inv) {
  sq_local_done_o.push(inv, u_.now() + u_.timing.tpt.drained);
}

std::string TptUnit::waiting_for() const {
  std::string s = tpt_.waiting_for() + local.describe();
  if (front_ == Front::kWaits)
    s += "tpt: a fast registration or bind waits for accesses through its STag\n";
  if (!jobs_.empty())
    s += "tpt: " + std::to_string(jobs_.size()) + " fast registrations wait for their page lists\n";
  return s;
}

void TptUnit::tpt_cmd_rsp(const spec::TptCmdRsp& rsp) {
  tpt_cmd_rsp_o.push(rsp, u_.now() + u_.timing.tpt.command);
}

// Fast registrations and binds. RTL: rtl/tpt/tpt_register.sv

/// back() is first, so the end of an older registration gets tpt_update before a claim.
void TptUnit::step_register() {
  back();
  front();
}

/// Reserves tpt_update if it is idle. Otherwise wakes the stage when tpt_update becomes idle.
bool TptUnit::take_update(Cycle busy) {
  if (u_.now() < update_free_) {
    register_.wake(update_free_);
    return false;
  }
  update_free_ = u_.now() + busy;
  return true;
}

void TptUnit::claimable() {
  if (front_ != Front::kWaits) return;
  front_ = Front::kAsks;
  register_.wake(u_.now() + 1);
}

void TptUnit::front() {
  const Cycle now = u_.now();
  const TptTiming& t = u_.timing.tpt;
  if (front_ == Front::kIdle || front_ == Front::kWaits) return;
  if (now < front_at_) return register_.wake(front_at_);
  if (front_ == Front::kAsks) {
    if (!take_update(bind_ ? t.bind : t.claim)) return;
    front_ = Front::kClaims;
    front_at_ = update_free_;
    return register_.wake(front_at_);
  }
  if (front_ == Front::kClaims) {
    front_ = Front::kWaits;  // claimable() may come before claim() or bind() returns
    if (bind_) return bind();
    const auto claimed = tpt_.claim(head_);
    if (claimed == Tpt::Claim::kWaits) return;
    if (claimed == Tpt::Claim::kRefused) {
      front_ = Front::kIdle;
      ctl_.wake(now + 1);
      return sq_local_done_o.push(Tpt::refused(head_), now + t.registered);
    }
    jobs_.push(head_);
    requested_ = 0;
    front_ = Front::kReads;
  }
  auto& out = reg_rd_req_o;
  if (out.full()) return out.wake_on_credit(register_);
  const MemRead read = head_.read(requested_);
  requested_ += read.length / Tpt::kPageEntry;
  u_.pass(Stream::kRegRdReq, now);
  out.push(read, now + u_.timing.host.rd_request);
  front_at_ = now + 1;
  if (requested_ < head_.operands.pages) return register_.wake(front_at_);
  front_ = Front::kIdle;
  ctl_.wake(now + 1);
}

/// tpt_update has executed the bind.
void TptUnit::bind() {
  const TptTiming& t = u_.timing.tpt;
  const bool was_bound = tpt_.is_bound(bind_->request.stag);
  const auto bound = tpt_.bind(*bind_);
  if (bound == Tpt::Claim::kWaits) {
    if (was_bound) update_free_ += t.unbind;
    return;
  }
  front_ = Front::kIdle;
  ctl_.wake(u_.now() + 1);
  const bool is_refused = bound == Tpt::Claim::kRefused;
  sq_local_done_o.push(is_refused ? Tpt::refused(*bind_) : Tpt::bound(*bind_),
                       u_.now() + t.registered);
}

/// Takes page-list data as it comes; checked_at_ adds the cycles of its checks. Then ends the
/// oldest job, if its list is checked.
void TptUnit::back() {
  const Cycle now = u_.now();
  const TptTiming& t = u_.timing.tpt;
  while (reg_rd.ready()) {
    const MemData data = reg_rd.pop();
    Tpt::Registration& r = jobs_[listed_.size()];  // the oldest whose list is not complete
    tpt_.list(r, data);
    const uint32_t bytes = data.data.size();
    const Cycle checks = r.fails() ? 0 : t.entry * (bytes / Tpt::kPageEntry);
    checked_at_ =
        std::max(now, checked_at_) + t.header + t.beat * u_.timing.path.beats(bytes) + checks;
    if (r.listed == r.operands.pages) listed_.push(checked_at_);
  }
  if (listed_.empty()) return;
  if (now < listed_.front()) return register_.wake(listed_.front());
  if (!ends_) {
    if (!take_update(t.open)) return;
    ends_ = true;
    ended_at_ = update_free_;
  }
  if (now < ended_at_) return register_.wake(ended_at_);
  ends_ = false;
  listed_.pop();
  const Tpt::Registration r = jobs_.pop();
  tpt_.end(r);
  sq_local_done_o.push(r.done(), now + t.registered);
  if (!listed_.empty()) register_.wake(std::max(now + 1, listed_.front()));
  ctl_.wake(now + 1);  // room for the next one
}

}  // namespace rnic::model

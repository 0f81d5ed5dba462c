// Fast registrations in the timed model. RTL: rtl/tpt/tpt_register.sv
#include "host_if/host_unit.hpp"
#include "rdmap/rdmap_unit.hpp"
#include "tpt/tpt_unit.hpp"

namespace rnic::model {

/// The older registration has tpt_update first.
void TptUnit::step_register() {
  back();
  front();
}

/// Whether tpt_update is idle: it is busy from now on. Else it steps the stage when it is.
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
    if (!take_update(t.claim)) return;
    front_ = Front::kClaims;
    front_at_ = update_free_;
    return register_.wake(front_at_);
  }
  if (front_ == Front::kClaims) {
    front_ = Front::kWaits;
    const auto claimed = tpt_.claim(head_);
    if (claimed == Tpt::Claim::kWaits) return;
    if (claimed == Tpt::Claim::kRefused) {
      front_ = Front::kIdle;
      ctl_.wake(now + 1);
      return u_.rdmap->sq_local_done(Tpt::refused(head_), t.registered);
    }
    jobs_.push(head_);
    requested_ = 0;
    front_ = Front::kReads;
  }
  auto& out = u_.host->reg_rd_req;
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

/// Data leaves its queue as it comes, and its checks are charged one after the other.
void TptUnit::back() {
  const Cycle now = u_.now();
  const TptTiming& t = u_.timing.tpt;
  while (reg_rd.ready()) {
    const MemData data = reg_rd.pop();
    Tpt::Registration& r = jobs_[listed_.size()];
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
  u_.rdmap->sq_local_done(r.done(), t.registered);
  if (!listed_.empty()) register_.wake(std::max(now + 1, listed_.front()));
  ctl_.wake(now + 1);  // room for the next one
}

}  // namespace rnic::model

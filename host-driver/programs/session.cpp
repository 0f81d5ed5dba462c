// The session that a host's threads share, and its steady window.
#include "session.hpp"

#include <algorithm>

namespace rnic::programs {

using namespace verbs;

Report merge(std::span<const Report> parts) {
  Report sum;
  sum.stage = "done";
  const Report* first_error = nullptr;
  for (const Report& r : parts) {
    sum.ops += r.ops;
    sum.bytes += r.bytes;
    sum.is_whole = sum.is_whole || (r.ops != 0 && r.is_whole);
    if (r.ops != 0) {
      sum.start = sum.start == 0 ? r.start : std::min(sum.start, r.start);
      sum.end = std::max(sum.end, r.end);
    }
    sum.latency.insert(sum.latency.end(), r.latency.begin(), r.latency.end());
    sum.began.insert(sum.began.end(), r.began.begin(), r.began.end());
    sum.longest_gap = std::max(sum.longest_gap, r.longest_gap);
    if (r.most != 0) sum.least = sum.most == 0 ? r.least : std::min(sum.least, r.least);
    sum.most = std::max(sum.most, r.most);
    sum.limit_events += r.limit_events;
    sum.checks += r.checks;
    sum.mismatches += r.mismatches;
    if (r.failed_at != 0 && (sum.failed_at == 0 || r.failed_at < sum.failed_at)) {
      sum.failed_at = r.failed_at;
      sum.wrong_bus = r.wrong_bus;
    }
    // The earliest error. Errors that follow from another thread's error count only if there is no
    // other.
    const auto when = [](const Report& x) { return std::pair(x.follows, x.failed_at); };
    if (!r.error.empty() && (first_error == nullptr || when(r) < when(*first_error)))
      first_error = &r;
    if (sum.file.empty()) sum.file = r.file;
    sum.acks.insert(sum.acks.end(), r.acks.begin(), r.acks.end());
  }
  std::ranges::stable_sort(sum.acks, {}, &Ack::at);
  if (first_error != nullptr) {
    sum.error = first_error->error;
    sum.stage = first_error->stage;
  }
  return sum;
}

void Window::plan(uint32_t threads, uint64_t warmup, uint64_t measured, uint64_t parts) {
  parts_.resize(threads);
  warmup_ = warmup;
  measured_ = measured;
  most_parts_ = parts;
}

/// What has arrived since each thread joined.
uint64_t Window::counted() const {
  uint64_t n = 0;
  for (const Part& p : parts_) n += p.before && p.arrived > *p.before ? p.arrived - *p.before : 0;
  return n;
}

// Returns true near the opening and near the close of the window, and for a thread that has not
// joined. Near: within twice the largest amount that parts of messages can add.
bool Window::is_exact(uint32_t thread, uint64_t whole) const {
  if (is_closed_ || most_parts_ == 0) return false;
  if (is_open_) return !parts_[thread].before || counted() + 2 * most_parts_ >= measured_;
  uint64_t all = whole;
  for (const Part& p : parts_) all += &p == &parts_[thread] ? 0 : p.arrived;
  return all + 2 * most_parts_ >= warmup_;
}

void Window::look(uint32_t thread, Time now, Arrived arrived, bool is_quiet) {
  if (is_closed_) return;
  began_ = began_ == 0 ? now : began_;
  to_ = std::max(to_, now);
  Part& part = parts_[thread];
  if (arrived.here != part.arrived) part.latest = part.looked == 0 ? now : part.looked;
  part.arrived = arrived.here;
  part.looked = now;
  if (!is_open_) {
    uint64_t all = 0;
    for (const Part& p : parts_) all += p.arrived;
    if (all < warmup_ || !may_join(part, is_quiet)) return;
    is_open_ = true;
    opened_ = now;
    // The window begins at the sample before the latest arrival: the arrival was after that sample.
    from_ = arrived.here == 0 ? now : part.latest;
    part.before = arrived.begun;
  } else if (!part.before && now >= opened_ && may_join(part, is_quiet)) {
    part.before = arrived.begun;
  }
  is_closed_ = counted() >= measured_;
}

void Window::leave(uint32_t thread, Time now) {
  if (thread >= parts_.size() || is_closed_) return;
  parts_[thread].has_left = true;
  to_ = std::max(to_, now);
  if (!std::ranges::all_of(parts_, &Part::has_left)) return;
  from_ = began_;
  is_closed_ = true;
}

Result<Manager*> Session::enter(PciDevice& dev) {
  while (opening_) dev.relax();
  if (manager_ == nullptr && !failed_) {
    opening_ = true;
    auto m = Manager::open(dev, settings_);
    if (m) {
      manager_ = std::move(*m);
    } else {
      failed_ = m.error();
    }
    opening_ = false;
  }
  if (failed_) return tl::unexpected<Error>(*failed_);
  return manager_.get();
}

Result<DmaBuffer> Session::common(PciDevice& dev, uint64_t bytes,
                                  const std::function<void(DmaBuffer&)>& fill) {
  dev.before_shared();
  while (allocating_) dev.relax();
  if (common_) return *common_;
  allocating_ = true;
  auto buffer = dev.alloc(bytes, MemoryKind::kContiguous);
  if (buffer) {
    fill(*buffer);
    common_ = *buffer;
  }
  allocating_ = false;
  return buffer;
}

void Session::leave(PciDevice& dev, uint32_t thread) {
  window_.leave(thread, dev.now());
  if (++left_ < threads_ || manager_ == nullptr) return;
  common_.reset();
  manager_->close(dev);
  manager_ = nullptr;
}

}  // namespace rnic::programs

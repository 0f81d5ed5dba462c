// The progress line. See progress.hpp.
#include "run/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace rnic::app {

double kcycles(Time t, const base::Clock& clock) {
  return static_cast<double>(t) / clock.ps_per_cycle() / 1000;
}

void Progress::end() {
  if (width_ != 0) fmt::print(stderr, "\r{:{}}\r", "", width_);
  is_over_ = true;
}

void Progress::look(Time t) {
  if (is_over_ || ++events_ % 32 != 0) return;  // reading the clock at each event would cost time
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < std::chrono::milliseconds(500)) return;
  last_ = now;
  uint64_t done = 0, of = 0;
  for (const auto& r : reports_) {
    done += r.done;
    of += r.of;
  }
  const double s = std::chrono::duration<double>(now - began_).count(),
               share = of == 0 ? 0 : static_cast<double>(done) / static_cast<double>(of);
  const std::string left = share > 0 ? fmt::format("{:.0f} s left", s * (1 - share) / share)
                           : reports_.empty() ? ""
                                              : reports_[0].stage;
  const std::string line =
      fmt::format("{}{:3.0f} %  {:.3f} ms simulated  {:.1f} kcycle/s  {}", title_, 100 * share,
                  static_cast<double>(t) / kMs, kcycles(t, clock_) / s, left);
  width_ = std::max(width_, line.size());
  fmt::print(stderr, "\r{:{}}", line, width_);
}

}  // namespace rnic::app

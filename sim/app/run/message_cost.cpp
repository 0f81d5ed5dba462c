// The CPU time per message, from two samples of a run. See message_cost.hpp.
#include "run/message_cost.hpp"

#include <ctime>

namespace rnic::app {

std::optional<double> MessageCost::us() const {
  if (last_.messages <= first_.messages) return std::nullopt;
  return (last_.cpu_us - first_.cpu_us) / static_cast<double>(last_.messages - first_.messages);
}

MessageCost::Count MessageCost::now(uint64_t messages) {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return {messages, static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) / 1e3};
}

/// Looks at the counts at every 16th event of PCIe: a look at each event would cost time itself.
void MessageCost::look() {
  if (last_.messages != 0 || ++events_ % 16 != 0) return;
  uint64_t done = 0, of = 0;
  for (const auto& side : reports_) {
    for (const programs::Report& r : side) {
      done += r.done;
      of += r.of;
    }
  }
  if (first_.messages == 0 && 4 * done >= of && done != 0) first_ = now(done);
  if (first_.messages != 0 && 4 * done >= 3 * of) last_ = now(done);
}

}  // namespace rnic::app

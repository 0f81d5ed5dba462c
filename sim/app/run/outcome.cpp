// The message about a run that its limits have ended. See outcome.hpp.
#include "run/outcome.hpp"

#include <fmt/format.h>

#include "platform/simulation.hpp"

namespace rnic::app {

std::string limits_of(const sim::RunResult& result, const sim::RunConfig& config) {
  if (!result.is_stuck()) return "";
  const std::string limit =
      result.status == sim::RunStatus::kTimeLimit
          ? fmt::format("after time_limit_us={}", config.time_limit_us)
          : fmt::format("if nothing moves for watchdog_us={}, or after time_limit_us={}",
                        config.watchdog_us, config.time_limit_us);
  return fmt::format("a run is ended {}; if link or PCIe are that slow, --set more\n", limit);
}

}  // namespace rnic::app

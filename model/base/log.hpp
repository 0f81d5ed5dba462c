// One logger per unit, on standard error. A line holds the simulated time, unit, level and text.
// Levels per unit: RNIC_LOG=mpa:debug,ddp:info; of all units: RNIC_LOG=debug.
//
//   static auto& log = base::logger("mpa");
//   RNIC_LOG_DEBUG(log, "rx_ulpdu {}", hdr.describe());    // a disabled level evaluates nothing
//
// Levels: error: something must be fixed; warn: unusual but handled (the default); info: a handful
// of lines per run; debug: one line per item; trace: one line per beat.
#pragma once

#include <spdlog/spdlog.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace rnic::base {

/// The logger of a unit: created at its first use, never destroyed.
spdlog::logger& logger(std::string_view unit);

/// Sets levels in the syntax of RNIC_LOG. Returns false, with no change, for an unknown level.
bool configure_log(std::string_view levels);

/// Sets the clock for the simulated time at the start of each line. An empty function removes the
/// clock, and lines have no time.
void set_log_clock(std::function<uint64_t()> nanoseconds);

}  // namespace rnic::base

#define RNIC_LOG_AT(log, level, ...)                            \
  do {                                                          \
    if ((log).should_log(level)) (log).log(level, __VA_ARGS__); \
  } while (false)
#define RNIC_LOG_ERROR(log, ...) RNIC_LOG_AT(log, ::spdlog::level::err, __VA_ARGS__)
#define RNIC_LOG_WARN(log, ...) RNIC_LOG_AT(log, ::spdlog::level::warn, __VA_ARGS__)
#define RNIC_LOG_INFO(log, ...) RNIC_LOG_AT(log, ::spdlog::level::info, __VA_ARGS__)
#define RNIC_LOG_DEBUG(log, ...) RNIC_LOG_AT(log, ::spdlog::level::debug, __VA_ARGS__)
#define RNIC_LOG_TRACE(log, ...) RNIC_LOG_AT(log, ::spdlog::level::trace, __VA_ARGS__)

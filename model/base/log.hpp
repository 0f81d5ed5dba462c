// One logger a unit: simulated time, unit, key=value pairs. Levels by unit:
// RNIC_LOG=mpa:debug,ddp:info or RNIC_LOG=debug.
//
//   static auto& log = base::logger("mpa");
//   RNIC_LOG_DEBUG(log, "rx_ulpdu {}", hdr.describe());     a level that is off evaluates nothing
//
// Levels: error something must change; warn odd but handled (the default); info a handful a run;
// debug a line an item; trace a line a beat.
#pragma once

#include <spdlog/spdlog.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace rnic::base {

/// The logger of a unit; made at its first use, lives until the end.
spdlog::logger& logger(std::string_view unit);

/// "mpa:debug,ddp:info" or "info"; false, and nothing changed, if a level is unknown.
bool configure_log(std::string_view levels);

/// Simulated time in front of every line; an empty function: none.
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

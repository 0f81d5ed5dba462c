// Loggers of the units on one sink, standard error; their levels from RNIC_LOG.
#include "base/log.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace rnic::base {
namespace {

struct State {
  std::shared_ptr<spdlog::sinks::stderr_sink_mt> sink =
      std::make_shared<spdlog::sinks::stderr_sink_mt>();
  std::map<std::string, std::shared_ptr<spdlog::logger>, std::less<>> loggers;
  std::map<std::string, spdlog::level::level_enum, std::less<>> levels;
  spdlog::level::level_enum otherwise = spdlog::level::warn;  // of units that are not in `levels`
  std::function<uint64_t()> clock;

  State();
  [[nodiscard]] spdlog::level::level_enum level(std::string_view unit) const {
    const auto it = levels.find(unit);
    return it == levels.end() ? otherwise : it->second;
  }
};

State& state() {
  static State s;
  return s;
}

class TimeFlag final
    : public spdlog::custom_flag_formatter {  // %*: the simulated time; empty without a clock
 public:
  void format(const spdlog::details::log_msg&, const std::tm&, spdlog::memory_buf_t& out) override {
    if (const auto& clock = state().clock)
      fmt::format_to(std::back_inserter(out), "{}ns ", clock());
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<TimeFlag>();
  }
};

std::optional<spdlog::level::level_enum> parse_level(std::string_view name) {
  for (const auto& [text, level] : {std::pair{"error", spdlog::level::err},
                                    {"warn", spdlog::level::warn},
                                    {"info", spdlog::level::info},
                                    {"debug", spdlog::level::debug},
                                    {"trace", spdlog::level::trace},
                                    {"off", spdlog::level::off}})
    if (name == text) return level;
  return std::nullopt;
}

/// Sets levels from "unit:level,..." or "level"; changes nothing if the text is wrong.
bool parse(State& s, std::string_view text) {
  auto levels = s.levels;
  auto otherwise = s.otherwise;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const auto one = text.substr(0, comma);
    text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
    const auto colon = one.find(':');
    const auto level = parse_level(colon == std::string_view::npos ? one : one.substr(colon + 1));
    if (!level) return false;
    if (colon == std::string_view::npos) {
      otherwise = *level;
    } else {
      levels[std::string(one.substr(0, colon))] = *level;
    }
  }
  s.levels = std::move(levels);
  s.otherwise = otherwise;
  for (auto& [name, logger] : s.loggers) logger->set_level(s.level(name));
  return true;
}

State::State() {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<TimeFlag>('*').set_pattern("%*%n %l %v");
  sink->set_formatter(std::move(formatter));
  if (const char* levels = std::getenv("RNIC_LOG"); levels != nullptr && !parse(*this, levels))
    fmt::print(stderr,
               "RNIC_LOG={}: not unit:level,... with error, warn, info, debug, trace, off\n",
               levels);
}

}  // namespace

spdlog::logger& logger(std::string_view unit) {
  auto& s = state();
  auto it = s.loggers.find(unit);
  if (it == s.loggers.end()) {
    auto made = std::make_shared<spdlog::logger>(std::string(unit), s.sink);
    made->set_level(s.level(unit));
    it = s.loggers.emplace(std::string(unit), std::move(made)).first;
  }
  return *it->second;
}

bool configure_log(std::string_view levels) { return parse(state(), levels); }

void set_log_clock(std::function<uint64_t()> nanoseconds) {
  state().clock = std::move(nanoseconds);
}

}  // namespace rnic::base

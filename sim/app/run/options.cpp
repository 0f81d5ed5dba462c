// Checks that a command uses the settings that the user gave. See options.hpp.
#include "run/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "run/devices.hpp"

namespace rnic::app {

void check_settings(const Options& o, const std::string& command,
                    const std::vector<std::string_view>& used) {
  const auto& kind = o.request.kind;
  const bool any_rtl = has_rtl(kind[kClient]) || has_rtl(kind[kServer]);
  // A setting of a file counts only if it is not the default.
  const auto is_given = [](const Setting& s) {
    return s.origin == Origin::kSet || (s.is_own() && s.value != s.default_value);
  };
  // The setting as the user gave it: "--set NAME=VALUE" or "FILE: NAME=VALUE".
  const auto said = [](const Setting& s) {
    return fmt::format("{}{}{}={}", s.source, s.origin == Origin::kSet ? " " : ": ", s.name,
                       s.value);
  };
  const auto no_rtl = [&](const Setting& s) {
    return Usage(fmt::format("{}: no device that it is set for is RTL", said(s)));
  };
  if (const Setting& s = o.request.config.find("reset_seed"); is_given(s) && !any_rtl)
    throw no_rtl(s);
  for (const Setting& s : o.request.config.overrides()) {
    for (const Side side : {kClient, kServer}) {
      if (is_given(s) && s.name == fmt::format("{}.reset_seed", kSideNames[side]) &&
          !has_rtl(kind[side]))
        throw no_rtl(s);
    }
  }
  if (command == "regress" || command == "replay") {
    for (const Side side : {kClient, kServer}) {
      if (o.request.config.platform(side).host.power_fail_ns != 0)
        throw Usage(fmt::format("{}.power_fail_ns: {} has no plan for it (run has)",
                                kSideNames[side], command));
    }
  }
  for (const Setting& s : o.request.config.all()) {
    if (!is_given(s) ||
        (s.group != "program" && s.group != "regress" && s.group != "search" &&
         s.group != "crash") ||
        std::ranges::find(used, s.name) != used.end())
      continue;
    throw Usage(fmt::format("{}: {} does not use it (it uses {})", said(s), command,
                            used.empty() ? "those of the platform and the devices"
                                         : fmt::format("{}", fmt::join(used, ", "))));
  }
}

int print_config(const Options& o) {
  fmt::print("{}\n", o.request.config.print());
  return kGood;
}

}  // namespace rnic::app

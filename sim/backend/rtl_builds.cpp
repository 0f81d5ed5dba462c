// The table of builds. CMake writes rtl_builds.inc from RNIC_BUILDS (builds.cmake): one line
// RNIC_BUILD(name, "sq_slots=8", {&spec::Sizes::sq_slots, 8U}) for each build.
#include "backend/rtl_builds.hpp"

#include <fmt/format.h>

#include <initializer_list>

namespace rnic::sim {
namespace {

/// A size that RNIC_BUILDS gives.
struct Given {
  uint32_t spec::Sizes::*member;
  uint32_t value;
};

[[maybe_unused]] spec::Sizes default_but(std::initializer_list<Given> given) {
  spec::Sizes sizes;
  for (const Given& g : given) sizes.*g.member = g.value;
  return sizes;
}

const BuildRow& row_of(RtlBuild build) { return rtl_builds().at(static_cast<size_t>(build)); }

}  // namespace

const std::vector<BuildRow>& rtl_builds() {
  static const std::vector<BuildRow> all = {
      {"default", {}, "the normal sizes", ""},
      {"minimum", spec::Sizes::minimum(), "every table and FIFO at its smallest", ""},
      {"stall", spec::Sizes::stall(),
       "each small, but 2 or more of what the default has several of, and the RTL holds "
       "its streams back at random",
       ""},
#define RNIC_BUILD(name, given, ...) \
  {#name, default_but({__VA_ARGS__}), "default, but " given, given},
#include "rtl_builds.inc"
#undef RNIC_BUILD
  };
  return all;
}

std::optional<RtlBuild> find_build(std::string_view name) {
  for (size_t i = 0; i < rtl_builds().size(); ++i) {
    if (rtl_builds()[i].name == name) return static_cast<RtlBuild>(i);
  }
  return std::nullopt;
}

const spec::Sizes& sizes_of(RtlBuild build) { return row_of(build).sizes; }

std::string suffix_of(RtlBuild build) {
  return build == RtlBuild::kDefault ? "" : fmt::format(" ({})", row_of(build).name);
}

}  // namespace rnic::sim

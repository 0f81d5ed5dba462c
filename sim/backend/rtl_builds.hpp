// The builds of the device that this program has, by name, with their sizes: default, minimum,
// stall, and those of RNIC_BUILDS (builds.cmake). A model of a build has the same sizes.
//
//   const auto build = find_build("deep");   // empty: the program does not have this build
//   sizes_of(*build).sq_slots
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/rtl_pins.hpp"
#include "gen/sizes.hpp"

namespace rnic::sim {

struct BuildRow {
  std::string_view name;
  spec::Sizes sizes;
  std::string doc;
  std::string_view given;  ///< of RNIC_BUILDS: "sq_slots=8, sq_prefetch=64"; else empty
};

/// All builds; an RtlBuild is the index of its row.
const std::vector<BuildRow>& rtl_builds();
std::optional<RtlBuild> find_build(std::string_view name);
/// The sizes of a build, and the suffix of its describe(): "", " (minimum)", " (stall)".
const spec::Sizes& sizes_of(RtlBuild build);
std::string suffix_of(RtlBuild build);

}  // namespace rnic::sim

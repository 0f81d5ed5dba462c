// Field of_reg of tpt_change (docs/spec/commits.yaml): what tpt did with a fast registration or a
// bind.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace rnic::sim::of_reg {

// A registration. kRefused: also the invalidation of a region that has windows.
inline constexpr uint8_t kClaimed = 1, kRefused = 2, kOpen = 3, kGivenUp = 4;
// A bind. kClosed: tpt has closed the open window, and tries the bind again.
inline constexpr uint8_t kBound = 5, kBindRefused = 6, kClosed = 7;
/// For messages: "RTL <word> region 3".
inline constexpr std::array<std::string_view, 8> kDoes{
    "", "claims", "refuses", "opens", "gives up", "binds", "refuses to bind", "closes"};

}  // namespace rnic::sim::of_reg

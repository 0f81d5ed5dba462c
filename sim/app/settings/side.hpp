// The two hosts of a run.
#pragma once

#include <array>

namespace rnic::app {

enum Side : unsigned { kClient = 0, kServer = 1 };
inline constexpr std::array<const char*, 2> kSideNames = {"client", "server"};

}  // namespace rnic::app

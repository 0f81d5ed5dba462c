// Words that a user types: suggests the nearest name, and quotes a name for a shell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rnic::app {

/// The name of `names` nearest to `wanted`, as ", did you mean X?"; empty if none is near.
std::string nearest(std::string_view wanted, const std::vector<std::string>& names);
/// A name as a word for a shell; in quotes if it needs them.
std::string quoted(const std::string& name);

}  // namespace rnic::app

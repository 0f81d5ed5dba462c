// Words that a user types: what was probably meant, and a name as a shell takes it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rnic::app {

/// The name most like `wanted` among `names`, as ", did you mean X?", or nothing if none is near.
std::string nearest(std::string_view wanted, const std::vector<std::string>& names);
/// A name as a shell's word: in quotes if it must be.
std::string quoted(const std::string& name);

}  // namespace rnic::app

// Reads a file that an option names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rnic::app {

/// All bytes of a file (a directory or a pipe is none). Throws Usage.
std::vector<uint8_t> read_file(const std::string& path);

}  // namespace rnic::app

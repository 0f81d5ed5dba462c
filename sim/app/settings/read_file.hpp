// Reads a file that an option names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rnic::app {

/// Returns all bytes of a file. Throws Usage, also for a directory or a pipe.
std::vector<uint8_t> read_file(const std::string& path);

}  // namespace rnic::app

// Reads the keys of a listing that are about our device: memory, receives, expect.
//
//   load_device_keys("listing.json", read_json("listing.json"), listing);   // throws Usage
#pragma once

#include <string>

#include "replay/listing.hpp"
#include "settings/json_file.hpp"

namespace rnic::app {

/// Fills memory, receives and expect of a listing that has its units. Throws Usage with file, line
/// and reason for a value that is impossible.
void load_device_keys(const std::string& path, const JsonLines& file, Listing& listing);

}  // namespace rnic::app

// Reads the input of replay: a capture listing (JSON), or a pcap.
//
//   Listing l = load_listing("rping-client-crc.json");   // throws Usage
#pragma once

#include <string>

#include "replay/listing.hpp"

namespace rnic::app {

/// Reads a listing, or a pcap (replay/capture.hpp). Throws Usage with the error.
Listing load_listing(const std::string& path);

}  // namespace rnic::app

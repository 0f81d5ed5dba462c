// Reads what replay is given: a capture listing (JSON), or a pcap.
//
//   Listing l = load_listing("rping-client-crc.json");             throws Usage
#pragma once

#include <string>

#include "replay/listing.hpp"

namespace rnic::app {

/// Of a listing, or of a pcap (replay/capture.hpp). Throws Usage with what is wrong.
Listing load_listing(const std::string& path);

}  // namespace rnic::app

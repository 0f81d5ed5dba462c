// A pcap as a listing: the TCP streams of each connection, cut into MPA start frames and FPDUs.
//
//   if (is_pcap(bytes)) Listing l = listing_of_pcap("wire.pcap", bytes);             throws Usage
//
// What `--pcap` of rnic-sim writes can be read, and what another tool writes of a link without loss:
// Ethernet and IPv4, from the SYN on, no markers. Units are in the order in which their last bytes
// came; the two endpoints are called initiator and responder.
#pragma once

#include <span>
#include <string>

#include "replay/listing.hpp"

namespace rnic::app {

/// By the first 4 bytes: microseconds or nanoseconds, either byte order.
bool is_pcap(std::span<const uint8_t> file);
bool is_pcapng(std::span<const uint8_t> file);
Listing listing_of_pcap(const std::string& path, std::span<const uint8_t> file);

}  // namespace rnic::app

// Converts a pcap to a listing: the TCP streams of each connection, cut into MPA start frames and
// FPDUs.
//
//   if (is_pcap(bytes)) Listing l = listing_of_pcap("wire.pcap", bytes);   // throws Usage
//
// Reads pcaps that `--pcap` of rnic-sim wrote, and those of other tools from a link without loss:
// Ethernet and IPv4, from the SYN on, without markers. Units are in the order of arrival of their
// last bytes. The two endpoints are called initiator and responder.
#pragma once

#include <span>
#include <string>

#include "replay/listing.hpp"

namespace rnic::app {

/// Checks the first 4 bytes: microseconds or nanoseconds, either byte order.
bool is_pcap(std::span<const uint8_t> file);
/// True for the newer format pcapng, which replay does not read.
bool is_pcapng(std::span<const uint8_t> file);
Listing listing_of_pcap(const std::string& path, std::span<const uint8_t> file);

}  // namespace rnic::app

// rnic-sim replay: our device takes the place of one endpoint of a capture (a listing or a pcap), the
// recorded bytes of the other are played into it; every byte that it answers and writes is printed
// and compared with the listing (architecture 12).
//
//   Outcome o = replay({.listing = "rping-client-crc.json", .side = "siw", .kind = {"model", "rtl"}});
//   o.status, o.json["differences"], o.json["text"]
//
// STags that the listing has for our regions are exchanged for those that the device gave, and
// back. Our work requests are made of the listing's messages. Messages are compared field by field
// however they are cut into segments.
#pragma once

#include <array>
#include <string>

#include "run/options.hpp"
#include "run/outcome.hpp"
#include "settings/config.hpp"

namespace rnic::app {

struct ReplayRequest {
  std::string listing;  // path
  std::string side;     // initiator, responder, or a name of the listing; empty: siw
  std::array<std::string, 2> kind{
      "model", "model"};  // of our device if it is the client, if it is the server
  Config config;
  uint64_t seed = 1;
  std::string pcap, tlp, wave;
};

/// Throws Usage and Missing. One a process, as SystemC elaborates once.
Outcome replay(const ReplayRequest& request);
/// The same in a child process.
Outcome replay_child(const ReplayRequest& request);
std::string reproduce(const ReplayRequest& request);

int replay_command(const Options& o, const std::string& side);

}  // namespace rnic::app

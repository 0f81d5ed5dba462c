// rnic-sim replay: our device replaces one endpoint of a capture (a listing or a pcap), and the
// recorded bytes of the other endpoint are played into it. Every byte that the device sends and
// writes is printed and compared with the listing (architecture 12).
//
//   Outcome o = replay({.listing = "rping-client-crc.json", .side = "siw"});
//   o.status, o.json["differences"], o.json["text"]
//
// Replaces the listing's STags of our regions by those of the device, and back. Makes our work
// requests from the listing's messages. Compares messages field by field, with any segmentation.
#pragma once

#include <array>
#include <string>

#include "run/options.hpp"
#include "run/outcome.hpp"
#include "settings/config.hpp"

namespace rnic::app {

struct ReplayRequest {
  std::string listing;  // path
  std::string side;     // initiator, responder, a name in the listing; empty: see side_of()
  // kind[kClient]: of our device if it is the client; kind[kServer]: if it is the server.
  std::array<std::string, 2> kind{"model", "model"};
  Config config;
  uint64_t seed = 1;
  std::string pcap, tlp, wave;
};

/// Throws Usage and Missing. One per process, since SystemC elaborates once.
Outcome replay(const ReplayRequest& request);
/// Calls replay() in a child process.
Outcome replay_child(const ReplayRequest& request);
/// The command line that repeats the request.
std::string reproduce(const ReplayRequest& request);

/// The command `replay`. `side`: as ReplayRequest::side. Returns the exit status.
int replay_command(const Options& o, const std::string& side);

}  // namespace rnic::app

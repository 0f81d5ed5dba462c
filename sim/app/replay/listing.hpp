// A capture listing (tb/vectors/captures): the units that two endpoints put on the wire, in order.
//
//   for (const Unit& u : l.units) if (!u.is_mpa) Segment s = parse_fpdu(u.bytes).value();
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replay/segment.hpp"

namespace rnic::app {

struct Unit {
  uint32_t n = 0;
  uint32_t connection = 0;
  bool from_initiator = false;
  bool is_mpa = false;  // an MPA Request or Reply; else an FPDU
  bool is_raw = false;  // neither: stream bytes that no RNIC would send
  Bytes bytes;
};

struct Listing {
  std::string name, note;
  std::array<std::string, 2> names{"initiator", "responder"};  // their names in the listing
  std::optional<bool> initiator_closes;
  std::vector<Unit> units;
  uint32_t connections = 1;
  std::vector<std::string> warnings;  // about ignored parts
};

}  // namespace rnic::app

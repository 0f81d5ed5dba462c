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

constexpr uint64_t kLargestRegion = uint64_t{16} << 20;  // bytes

struct Unit {
  size_t line = 0;  // in the listing; 0: of a pcap
  uint32_t n = 0;   // its number, unique in the listing
  uint32_t connection = 0;
  bool from_initiator = false;
  bool is_mpa = false;  // an MPA Request or Reply; else an FPDU
  bool is_raw = false;  // neither: stream bytes that no RNIC would send
  Bytes bytes;
};

/// A region of our device, of the key `memory`.
struct ListedRegion {
  size_t line = 0;  // in the listing
  uint32_t stag = 0;
  uint64_t base = 0, length = 0;
  uint32_t access = 0;                 // verbs' flags; the peer's rights
  uint32_t domain = 0;                 // 0: that of our QPs
  std::optional<uint32_t> connection;  // to whose QP the STag is bound
};

/// A receive of our device, of the key `receives`.
struct ListedReceive {
  size_t line = 0;  // in the listing
  uint32_t connection = 0, length = 0;
  std::optional<uint32_t> after;  // number of a unit; empty: posted before start-up
};

/// The actions of our device at the end of a connection. An empty field of an expectation matches
/// any value.
struct Ending {
  enum class Kind : uint8_t { kTerminate, kClose, kNothing };
  Kind kind = Kind::kNothing;
  std::optional<uint32_t> layer, etype, code;

  /// As an expectation: true if `e` has this kind, and this layer, etype and code where given.
  bool admits(const Ending& e) const;
  std::string text() const;  ///< such as "a close", "a Terminate"
};

struct Listing {
  std::string path, name, note;
  std::array<std::string, 2> names{"initiator", "responder"};  // their names in the listing
  std::optional<bool> initiator_closes;  // who closes first; empty: the listing does not say
  std::vector<Unit> units;
  uint32_t connections = 1;
  // About our device, whichever endpoint it is. Absent: replay infers them from the units.
  std::optional<std::vector<ListedRegion>> memory;
  std::optional<std::vector<ListedReceive>> receives;
  std::vector<Ending> expect;         // of each connection; empty: no expectation
  std::vector<std::string> warnings;  // about ignored parts
};

}  // namespace rnic::app

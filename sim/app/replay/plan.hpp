// The actions of a device that replaces one endpoint of a listing: regions with their content
// before and after, receives, and the messages of both sides in order.
//
//   for (const Step& s : p.steps) if (s.ours) ...   // the peer plays the others
#pragma once

#include <string>
#include <vector>

#include "replay/listing.hpp"

namespace rnic::app {

enum class Endpoint : uint8_t { kInitiator, kResponder };

/// Bytes that the application stores in a region.
struct Poke {
  size_t region = 0;
  uint64_t offset = 0;
  Bytes bytes;
};

/// One message, MPA frame or run of raw bytes, of our device or of the peer.
struct Step {
  uint32_t unit = 0;  // number of its first unit in the listing
  size_t line = 0;    // of that unit; 0: of a pcap
  bool ours = false, is_mpa = false;
  Bytes mpa;                 // if is_mpa or is_raw
  Message message;           // otherwise
  std::vector<Poke> pokes;   // stored before it is played
  bool pad_cleared = false;  // the listing's sender had a pad that is not zero
  bool is_raw = false;       // `mpa` has bytes of the peer that are neither frame nor FPDU

  bool is_request() const;  ///< made by a work request, not a response of the device
};

struct Region {
  uint32_t stag = 0;  // as recorded
  uint64_t base = 0;
  Bytes before, after;
  uint32_t access = 0;  // verbs' flags; the peer's rights
  uint32_t domain = 0;  // 0: that of our QP
  enum class Bound : uint8_t { kNo, kToOurQp, kToAnother };
  Bound bound = Bound::kNo;
  std::optional<uint32_t> noted;  // FNV-1a of the region after the run, from the listing's note
  // A write by a message of the peer.
  struct Write {
    uint64_t offset = 0;
    Bytes bytes;
    bool may_be_missing = false;  // if our device terminates the stream
  };
  std::vector<Write> writes;  // in order
};

/// A message of the peer that takes a receive: a Send or Immediate Data.
struct Arrival {
  Bytes payload;        // placed in the receive's buffer; Immediate Data places none
  uint64_t length = 0;  // that the completion reports
  uint32_t gone = 0;    // the STag that a Send invalidates, or 0
  std::optional<uint64_t> immediate{};
};

/// Room for a message in a buffer of payloads or receives, with a margin that must stay unchanged,
/// in multiples of 64 bytes.
uint64_t slot_of(uint64_t bytes);

/// A receive that our side posts.
struct Receive {
  uint64_t length = 0;
  size_t step = 0;  // posted before this step is played; 0: before start-up
};

struct Plan {
  uint32_t connection = 0;
  Endpoint side = Endpoint::kResponder;
  std::string our_name, peer_name;
  bool we_close = true;
  /// Start-up fails in the listing. Refused: `steps` is only the Request, after which the responder
  /// closes. Rejected: Request and a Reply that rejects.
  bool is_refused = false, is_rejected = false;
  std::optional<bool> we_close_said{};  // by the listing
  // Of our Request or Reply.
  Bytes private_data;  // without the block that requests Flush (decision 10)
  bool flush = false;
  unsigned ird = 0, ord = 0, revision = 2;
  bool crc = false, markers = false;
  bool uses_crc = false;  // either side has requested CRCs; else the CRC field is ignored

  std::vector<Step> steps;
  std::vector<Region> regions;
  std::vector<uint32_t> unlisted;  // STags that the peer uses and that are of no region
  std::vector<Receive> posts;      // receives that our side posts, in order
  std::vector<Arrival> receives;   // messages of the peer that take them, in order
  // Of `receives`: those that complete. The listing may end within the last one; our device may
  // refuse one.
  size_t whole_receives = 0;
  std::optional<Ending> expect;
  size_t reads_answered = 0;  // our Read and Flush Requests whose response is in the listing
  /// Responses of the device, after the last step, to the last Read and Flush Requests of the
  /// listing.
  size_t answers_beyond = 0;
  std::vector<std::string> left_out;  // units that are not played, with the reason
  bool is_open_ended() const;         ///< it ends with a missing response or an incomplete message
  /// True if one work request makes the messages of this step and of the next one: a Write of ours,
  /// and Immediate Data right after it.
  bool is_write_with_immediate(size_t step) const;
};

/// Place of a step's first unit, for a message: "replay: FILE: line 7: unit 3".
std::string place_of(const Listing& listing, const Step& step);

}  // namespace rnic::app

// What a device does that takes one endpoint's place in a listing: regions with what they hold
// before and after, receives, and the messages of both sides in order.
//
//   Plan p = make_plan(listing, side_of(listing, "siw"), 0);
//   for (const Step& s : p.steps) if (s.ours) ...                  what the device is to send, the others are played into it
#pragma once

#include <string>
#include <vector>

#include "replay/listing.hpp"

namespace rnic::app {

enum class Endpoint : uint8_t { kInitiator, kResponder };

/// By the listing's name or by its role; empty: siw, else the responder. Throws Usage.
Endpoint side_of(const Listing& listing, const std::string& name);

/// Bytes that the application stores in a region.
struct Poke {
  size_t region = 0;
  uint64_t offset = 0;
  Bytes bytes;
};

struct Step {
  uint32_t unit = 0;  // the first of it in the listing
  bool ours = false, is_mpa = false;
  Bytes mpa;
  Message message;
  std::vector<Poke> pokes;   // before it is played
  bool pad_cleared = false;  // the listing's sender had left something in the pad
  bool is_raw = false;       // `mpa` has bytes of the peer's that are neither frame nor FPDU

  bool is_request() const;  ///< made by a work request: not an answer of the device itself
};

struct Region {
  uint32_t stag = 0;  // recorded
  uint64_t base = 0;
  Bytes before, after;
  uint32_t flush_flags = 0;       // of the peer's Flush Requests: the states that it asks for
  std::optional<uint32_t> noted;  // FNV-1a of it after the run, from the listing's note
  struct Write {
    uint64_t offset = 0;
    Bytes bytes;
  };
  std::vector<Write> writes;  // by the peer's messages, in order
};

struct Plan {
  uint32_t connection = 0;
  Endpoint side = Endpoint::kResponder;
  std::string our_name, peer_name;
  bool we_close = true;
  /// Start-up does not succeed: `steps` is the Request alone, after which the responder closes; or
  /// Request and a Reply that rejects.
  bool is_refused = false, is_rejected = false;
  std::optional<bool> we_close_said{};  // by the listing
  // Of our Request or Reply.
  Bytes private_data;  // without the block that asks for Flush (decision 10)
  bool flush = false;
  unsigned ird = 0, ord = 0, revision = 2;
  bool crc = false, markers = false;
  bool uses_crc = false;  // either side has asked for it; else the field is not looked at

  std::vector<Step> steps;
  std::vector<Region> regions;
  std::vector<Bytes> receives;  // the payload of each Send that comes
  size_t whole_receives = 0;    // of them: the listing may end within the last one
  size_t reads_answered = 0;    // of our Read and Flush Requests, in the listing
  /// Messages of the device after the last step that answer the listing's last Read and Flush
  /// Requests.
  size_t answers_beyond = 0;
  std::vector<std::string> left_out;  // units that are not played, and why
  bool is_open_ended() const;         ///< something is unanswered or not whole when it ends
};

/// Throws Usage if the listing cannot be played.
Plan make_plan(const Listing& listing, Endpoint side, uint32_t connection);

}  // namespace rnic::app

// What the device read, as the answers came: the only memory that the follower sees. Keyed by
// client and address, since size, split and order of the reads are the RTL's own; a byte that was
// never read is not there, and nothing here asks the host's memory. Architecture 10.
//
//   ReadLog log;   log.read(r);   log.piece(p);                    // from the Observer
//   auto got = log.take(Client::kPayload, address, length);        // when the follower needs it
//   if (got.state == ReadLog::State::kNever) ...                   // a mismatch: the RTL cannot
//   know these bytes
//
// payload, admin, qn1: each read feeds one use. A range is served byte by byte from the oldest read of
// that byte which has not been
//   used; it is used up. What is left over at a quiet point was read for nothing.
// sq, rq: a unit of a ring is served from the newest read of it, any number of times. A unit that
// was read, was not used and
//   is read again must hold the same bytes (a WQE behind the doorbell's index may not change): else
//   contradiction(). A ring whose QP has stopped is forgotten by forget(). A fetch of units, which
//   may be cut into several reads, is one: a part that failed makes all of it bad, and all of it
//   waits for its last part. Fetches are told (fetch) in the order of their reads.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/device.hpp"

namespace rnic::sim {

class ReadLog {
 public:
  enum class State : uint8_t {
    kDone,     ///< data or status hold
    kWaiting,  ///< every byte was asked for, some have not come
    kNever,    ///< some byte was never asked for (or used up already)
  };
  struct Taken {
    State state = State::kNever;
    spec::RdStatus status = spec::RdStatus::kOk;  ///< of the first read, by address, that failed
    Payload data{};                               ///< the range, if kDone and ok; else empty
    std::string why{};  ///< if not kDone: which bytes, and who read near them
  };

  /// This extent is of a segment that is to be sent: payload may be read there, each byte once.
  void due(uint64_t segment, uint64_t address, uint32_t length);
  /// The segment has its bytes, or it has failed: nobody uses what else is or was read for it.
  void settle(uint64_t segment);
  /// kSqFetch or kRqFetch asks for these units; its reads come later, in order.
  void fetch(Client client, uint64_t address, uint32_t length);
  void read(const DmaRead& r);
  void piece(const DmaPiece& p);
  /// With bus mastering off nothing leaves: what was never read is then kDone with `unsupported`.
  void pcie(const spec::PcieCfg& cfg);
  void reset();

  /// The bytes [address, address + length) of a client; length 0 is kDone at once. Unless kDone
  /// nothing is used up.
  Taken take(Client client, uint64_t address, uint32_t length);
  /// The same without using anything up.
  Taken peek(Client client, uint64_t address, uint32_t length) const;
  /// Units of an SQ or RQ that nobody will ask for any more: the next read of them may differ.
  void forget(Client client, uint64_t address, uint64_t length);

  /// The first thing that cannot be: a tag used twice, an answer without a read, too few or too
  /// many bytes, an unused WQE unit that came back changed. Empty if all is well.
  const std::string& contradiction() const { return contradiction_; }
  /// Payload and admin bytes that were read and not used, one line each. Empty if there are none.
  std::string for_nothing() const;
  /// The same, and reads not yet answered, and fetches whose reads have not been made.
  std::string left_over() const;
  /// Fetches whose reads have not been made, likewise.
  std::string unread() const;
  /// Bytes served so far by take, by client.
  uint64_t bytes_taken(Client client) const { return taken_[static_cast<size_t>(client)]; }

 private:
  static constexpr uint64_t kUnit = 64;
  struct Span {  // [from, to) of a read, not used yet
    uint32_t from = 0, to = 0;
  };
  struct Purpose {
    uint64_t segment = 0;
    Span span;
  };
  struct Due {  // an extent of a segment
    uint64_t segment = 0, address = 0;
    std::vector<Span> unread;
    bool is_settled = false;
  };
  struct Fetch {        // of ring units, in one read or several
    uint32_t open = 1;  // reads without an answer, and one for those that have not been made
    spec::RdStatus status = spec::RdStatus::kOk;
  };
  struct Read {
    uint64_t serial = 0;
    std::shared_ptr<Fetch> fetch{};
    Client client = Client::kUnknown;
    uint64_t address = 0;
    uint32_t length = 0;
    uint32_t got = 0;
    bool done = false;
    spec::RdStatus status = spec::RdStatus::kOk;
    std::vector<uint8_t> data;
    std::vector<Span> unused;
    std::vector<Purpose> purposes{};  // payload: of which segments its bytes are
  };
  struct Unit {          // 64 bytes of a ring
    uint64_t valid = 0;  // a bit a byte: read
    bool used = false;
    std::shared_ptr<Fetch> fetch{};  // of the newest read whose answer is here,
    uint64_t serial = 0;             // and its number
    bool bad() const { return fetch != nullptr && fetch->status != spec::RdStatus::kOk; }
    std::array<uint8_t, kUnit> data{};
  };
  struct Part {  // of a range: which read serves it
    Read* read = nullptr;
    uint64_t address = 0;
    uint32_t length = 0;
  };
  static bool is_ring(Client c) { return c == Client::kSqFetch || c == Client::kRqFetch; }
  std::list<Read>& queue(Client c) {
    return c == Client::kAdmin ? admin_ : c == Client::kQn1 ? qn1_ : payload_;
  }
  const std::list<Read>& queue(Client c) const {
    return c == Client::kAdmin ? admin_ : c == Client::kQn1 ? qn1_ : payload_;
  }
  Taken find(Client client, uint64_t address, uint32_t length, std::vector<Part>* parts) const;
  Taken find_unit(Client client, uint64_t address, uint32_t length) const;
  void into_units(const Read& r);
  void explain(Read& r);
  static void subtract(std::vector<Span>& spans, uint32_t from, uint32_t to);
  std::string near(Client client, uint64_t address, uint32_t length) const;
  void contradict(const std::string& what);

  static constexpr size_t kSettledKept = 256;
  std::deque<Due> dues_;                          // that have not been read whole, oldest first
  std::list<Read> payload_, admin_, qn1_;         // in order of issue
  std::list<Read> ring_reads_;                    // sq and rq, until answered
  std::array<std::map<uint64_t, Unit>, 2> ring_;  // by address of the unit: sq, rq
  struct Asked {                                  // reads of it have not been made from `next` on
    uint64_t next = 0, end = 0;
    std::shared_ptr<Fetch> fetch{};
  };
  std::array<std::deque<Asked>, 2> asked_;
  std::array<Read*, 256> open_{};  // by tag
  std::array<uint64_t, 11> taken_{};
  uint64_t serial_ = 0;
  bool bus_master_ = true;
  std::string contradiction_;
};

}  // namespace rnic::sim

// The data that the device read, from the completions: the only memory that the follower sees. It
// is keyed by client and address, because size, split and order of the reads are the RTL's own. A
// byte that was never read is absent; the log never reads the host's memory. Architecture 10.
//
//   ReadLog log;   log.read(r);   log.piece(p);                // from the Observer
//   auto got = log.take(Client::kPayload, address, length);    // when the follower needs it
//   if (got.state == ReadLog::State::kNever) ...     // a mismatch: the RTL cannot know these bytes
//
// payload, admin, qn1, reg: each read feeds one use. A byte is served from the oldest read of it
// that is not used, and uses that read up. Bytes that are unused at a quiet point are an error.
//
// sq, rq: a unit of a ring is served from its newest read, any number of times.
// - A unit that was read, was not used and is read again must hold the same bytes (the host may not
//   change a WQE that a doorbell has posted): else contradiction().
// - forget() discards the ring of a stopped QP.
// - A fetch of units may be cut into several reads. All of it fails if one part failed, and all of
//   it waits for its last part.
// - `fetch` is called in the order of the reads.
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
    kDone,     ///< data or status is valid
    kWaiting,  ///< every byte was requested, some have not arrived
    kNever,    ///< some byte was never requested (or is used up already)
  };
  struct Taken {
    State state = State::kNever;
    spec::RdStatus status = spec::RdStatus::kOk;  ///< of the first read, by address, that failed
    Payload data{};                               ///< the range, if kDone and ok; else empty
    std::string why{};  ///< if not kDone: the bytes, and the reads near them
  };

  /// This extent belongs to a segment to be sent: its payload may be read, each byte once.
  void due(uint64_t segment, uint64_t address, uint32_t length);
  /// The segment has its bytes or has failed: other reads for it, earlier or later, stay unused.
  void settle(uint64_t segment);
  /// kSqFetch or kRqFetch fetches these units; its reads come later, in order.
  void fetch(Client client, uint64_t address, uint32_t length);
  void read(const DmaRead& r);
  void piece(const DmaPiece& p);
  /// With bus master off no read is sent: what was never read is then kDone with `unsupported`.
  void pcie(const spec::PcieCfg& cfg);
  void reset();

  /// The bytes [address, address + length) of a client; length 0 is kDone at once. Uses the reads
  /// up only if kDone.
  Taken take(Client client, uint64_t address, uint32_t length);
  /// As take(), but uses nothing up.
  Taken peek(Client client, uint64_t address, uint32_t length) const;
  /// Units of an SQ or RQ that are not needed any more: the next read of them may differ.
  void forget(Client client, uint64_t address, uint64_t length);

  /// The first contradiction: a tag used twice, a completion without a read, too few or too many
  /// bytes, a changed WQE unit that was not used. Empty if there is none.
  const std::string& contradiction() const { return contradiction_; }
  /// Payload, admin, qn1 and reg bytes that were read and not used, one line each. Empty if there
  /// are none.
  std::string for_nothing() const;
  /// The lines of for_nothing(), then outstanding reads, then the lines of unread().
  std::string left_over() const;
  /// Fetches whose reads have not been made, one line each.
  std::string unread() const;
  /// Bytes served so far by take, by client.
  uint64_t bytes_taken(Client client) const { return taken_[static_cast<size_t>(client)]; }

 private:
  static constexpr uint64_t kUnit = 64;
  struct Span {  // [from, to) of a read, not used yet
    uint32_t from = 0, to = 0;
  };
  struct Purpose {  // bytes of a read, and the segment that they are read for
    uint64_t segment = 0;
    Span span;
  };
  struct Due {  // an extent of a segment
    uint64_t segment = 0, address = 0;
    std::vector<Span> unread;
    bool is_settled = false;
  };
  struct Fetch {        // of ring units, in one read or several
    uint32_t open = 1;  // outstanding reads, and one for the reads that have not been made
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
    std::vector<Purpose> purposes{};  // payload: the segments that its bytes are for
  };
  struct Unit {          // 64 bytes of a ring
    uint64_t valid = 0;  // one bit per byte: read
    bool used = false;
    std::shared_ptr<Fetch> fetch{};  // of the newest completed read,
    uint64_t serial = 0;             // and its number
    bool bad() const { return fetch != nullptr && fetch->status != spec::RdStatus::kOk; }
    std::array<uint8_t, kUnit> data{};
  };
  struct Part {  // of a range: the read that serves it
    Read* read = nullptr;
    uint64_t address = 0;
    uint32_t length = 0;
  };
  static bool is_ring(Client c) { return c == Client::kSqFetch || c == Client::kRqFetch; }
  std::list<Read>& queue(Client c) {
    return c == Client::kAdmin ? admin_
           : c == Client::kQn1 ? qn1_
           : c == Client::kReg ? reg_
                               : payload_;
  }
  const std::list<Read>& queue(Client c) const {
    return c == Client::kAdmin ? admin_
           : c == Client::kQn1 ? qn1_
           : c == Client::kReg ? reg_
                               : payload_;
  }
  /// The range, from reads of payload, admin, qn1 or reg; `parts` gets the reads that serve it.
  Taken find(Client client, uint64_t address, uint32_t length, std::vector<Part>* parts) const;
  /// The range, from units of the SQ or RQ.
  Taken find_unit(Client client, uint64_t address, uint32_t length) const;
  void into_units(const Read& r);  // a completed read of sq or rq updates the units of its ring
  void explain(Read& r);           // finds the segments that a read of payload is for
  static void subtract(std::vector<Span>& spans, uint32_t from, uint32_t to);
  std::string near(Client client, uint64_t address, uint32_t length) const;  // for messages
  void contradict(const std::string& what);

  static constexpr size_t kSettledKept = 256;     // extents in dues_; of more, settled ones go
  std::deque<Due> dues_;                          // not read whole yet, oldest first
  std::list<Read> payload_, admin_, qn1_, reg_;   // in order of issue
  std::list<Read> ring_reads_;                    // sq and rq, until answered
  std::array<std::map<uint64_t, Unit>, 2> ring_;  // by address of the unit: sq, rq
  struct Asked {                                  // a fetch; its reads are missing from `next` on
    uint64_t next = 0, end = 0;
    std::shared_ptr<Fetch> fetch{};
  };
  std::array<std::deque<Asked>, 2> asked_;
  std::array<Read*, 256> open_{};  // by tag
  std::array<uint64_t, static_cast<size_t>(Client::kUnknown) + 1> taken_{};
  uint64_t serial_ = 0;
  bool bus_master_ = true;
  std::string contradiction_;
};

}  // namespace rnic::sim

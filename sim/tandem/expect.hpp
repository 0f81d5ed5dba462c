// The outputs that the model expects from the RTL. Each boundary has a queue of expected outputs,
// compared byte for byte with the actual ones. The RTL may cut a write into TLPs as it likes; order
// and bytes must match.
//
//   expect.place(place);
//   auto done = expect.placed(w);           // done.is_packet: a packet was placed whole
//   expect.record({...});
//   if (auto sent = expect.sent(r)) ...     // an FPDU was sent
//   expect.completion(...); expect.event(...); expect.interrupt(...); expect.admin(...);
//   expect.request(...); expect.read(...);
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backend/device.hpp"
#include "gen/queues.hpp"
#include "stream/packets.hpp"
#include "tandem/tally.hpp"

namespace rnic::sim {

class Expect {
 public:
  /// Cycles from a register write at the device's port until a mask takes effect; includes mmio
  /// that waits for other responses.
  static constexpr uint64_t kMaskTakesEffect = 1024;

  struct Sent {  // an FPDU
    uint16_t connection = 0;
    spec::TxFpduHdr hdr;
    Payload data;
    bool may_drop = false;  // its QP has stopped, or follows our FIN: the RTL may drop it
  };
  struct Vector {  // an MSI-X vector: its current table entry
    uint64_t address = 0;
    uint32_t data = 0;
    bool masked = true;
  };
  Expect(Tally& tally, uint32_t vectors) : tally_(tally), vectors_(vectors) {}

  // Placed payload: client place, in the order of the verdicts.
  void place(const model::Place& p);
  struct Placed {  // what a write completes: an extent, a whole packet
    std::optional<spec::Extent> extent;
    bool is_packet = false;
  };
  Placed placed(const DmaWrite& w);
  bool places(uint16_t qpn) const;  // a packet of this QP is not placed yet
  /// Drops the oldest packet; returns its extents that are not written. Nothing: no packet waits.
  std::optional<std::vector<spec::Extent>> forget_place();

  // Client word: stores of unit atomic, in order.
  void word(uint16_t qpn, uint64_t address, uint64_t value) {
    words_.push_back({qpn, address, value});
  }
  void word_written(const DmaWrite& w);

  // Client cq: completions and event entries, each in order.
  void completion(const spec::CqWr& w, uint16_t cqn);
  void event(const spec::CqWr& w, const spec::CqWr& message);  // message: names the MSI-X vector
  void cq_written(const DmaWrite& w);

  // Client msix. A masked vector keeps one message for any number of events. offered_at: the cycle
  // in which the RTL offered the write; the host may have stalled the write since.
  void vector_changed(uint8_t vector, const Vector& v);
  void interrupted(const DmaWrite& w, uint64_t offered_at);

  // Client admin: responses and streaming bytes, one byte stream in order.
  void admin(const spec::AdminWr& w, bool is_answer);
  /// The number of command responses that this write completes.
  uint32_t admin_written(const DmaWrite& w);

  // llp_tx, per connection; llp_ctl_req; responses to register reads. record(), request(), read()
  // take what the model expects; sent(), requested(), responded() compare what the RTL did.
  void record(Sent r) { sent_[r.connection].push_back(std::move(r)); }
  std::optional<spec::TxFpduHdr> sent(const Record& r);
  void may_drop(uint16_t qpn);    // from now on the RTL may drop expected records of this QP
  bool drops_term(uint16_t qpn);  // the RTL dropped this QP's Terminate; true if it may
  /// A new connection has this number. Records that the former QP may drop count as dropped.
  void begins(uint16_t connection);
  bool has_record(uint16_t connection) const;
  void request(const spec::LlpCtlReq& r) { requests_.push_back(r); }
  void requested(const spec::LlpCtlReq& r);
  void read(uint8_t bar, uint32_t offset, std::optional<uint64_t> value) {
    reads_.push_back({bar, offset, value});
  }
  void responded(uint64_t value);

  /// on: bus master and the device are enabled. While they are not, the RTL writes nothing:
  /// expected writes are dropped, and a write in flight is not compared.
  void writes(bool on);
  bool writes() const { return writes_; }

  /// Expected outputs that are missing, one line each. `at_end`: without those that may remain.
  std::string left(bool at_end) const;

 private:
  struct Packet {  // payload of one segment, partly written
    uint16_t qpn = 0;
    std::vector<spec::Extent> extents;
    Payload data;
    // Written so far: whole extents, bytes of the next one, bytes of all.
    size_t extent = 0;
    uint32_t in_extent = 0, at = 0;
  };
  struct Word {
    uint16_t qpn = 0;
    uint64_t address = 0, value = 0;
  };
  struct Completion {
    uint16_t cqn = 0;
    uint64_t address = 0;
    std::array<uint8_t, spec::Cqe::kBytes> bytes{};
  };
  struct Event {
    uint64_t address = 0;
    std::array<uint8_t, spec::Eqe::kBytes> bytes{};
    uint8_t vector = 0;
  };
  struct Owed {          // of a vector: messages due for its events
    Vector now, before;  // its table entry: current, and before the latest change
    uint32_t messages = 0;
    bool was_masked = false;  // since the first of these messages: they may merge into one
    uint64_t masked_at = 0;   // cycle of the latest change to masked
  };
  struct AdminByte {
    uint64_t address = 0;
    uint8_t byte = 0;
    bool ends_answer = false;
  };
  struct Read {
    uint8_t bar = 0;
    uint32_t offset = 0;
    std::optional<uint64_t> value;  // none: time, counters and other live registers
  };

  Tally& tally_;
  bool writes_ = true;
  std::deque<Packet> packets_;
  std::deque<Word> words_;
  std::deque<Completion> completions_;
  uint64_t newest_ = 0;  // timestamp of the last completion
  std::deque<Event> events_;
  std::vector<Owed> vectors_;
  std::deque<AdminByte> admin_;
  std::map<uint16_t, std::deque<Sent>> sent_;
  std::deque<spec::LlpCtlReq> requests_;
  std::deque<Read> reads_;
};

}  // namespace rnic::sim

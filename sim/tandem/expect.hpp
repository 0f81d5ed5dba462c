// What must come out of the device, as the behaviours said, and whether it did: at each boundary a queue of what is due, compared
// byte for byte with what comes. How the RTL cuts a write into TLPs is free, order and bytes are not.
//
//   expect.place(5, place);         if (auto done = expect.placed(w)) ...  a packet has been placed whole
//   expect.record({...});           if (auto sent = expect.sent(r)) ...    an FPDU has left
//   expect.completion(...); expect.event(...); expect.interrupt(...); expect.admin(...); expect.request(...); expect.read(...)
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
  /// Cycles from a register write at the device's edge to a mask that holds, mmio behind other answers included.
  static constexpr uint64_t kMaskTakesEffect = 1024;

  struct Sent {  // an FPDU
    uint16_t connection = 0;
    spec::TxFpduHdr hdr;
    Payload data;
    bool may_drop =
        false;  // its QP has stopped, or our FIN went before it: the RTL drops it or not
  };
  struct Vector {  // an MSI-X vector, as the table has it now
    uint64_t address = 0;
    uint32_t data = 0;
    bool masked = true;
  };
  Expect(Tally& tally, uint32_t vectors) : tally_(tally), vectors_(vectors) {}

  // Placed payload: client place, in the order of the verdicts.
  void place(const model::Place& p);
  /// The extents of a packet that is whole with this write.
  std::optional<std::vector<spec::Extent>> placed(const DmaWrite& w);
  bool places(uint16_t qpn) const;  // a packet of this QP is on its way
  std::optional<std::vector<spec::Extent>> forget_place();

  // Client word: stores of unit atomic, in order.
  void word(uint16_t qpn, uint64_t address, uint64_t value) {
    words_.push_back({qpn, address, value});
  }
  void word_written(const DmaWrite& w);

  // Client cq: completions and event entries, each in order.
  void completion(const spec::CqWr& w, uint16_t cqn);
  void event(const spec::CqWr& w, const spec::CqWr& message);
  void cq_written(const DmaWrite& w);

  // Client msix. A masked vector keeps one message, however many events it was for.
  void vector_changed(uint8_t vector, const Vector& v);
  void interrupted(const DmaWrite& w, uint64_t offered_at);

  // Client admin: answers and streaming bytes, a string of bytes in order.
  void admin(const spec::AdminWr& w, bool is_answer);
  /// How many answers to commands are whole with this write.
  uint32_t admin_written(const DmaWrite& w);

  // llp_tx, per connection; llp_ctl_req; answers of registers.
  void record(Sent r) { sent_[r.connection].push_back(std::move(r)); }
  std::optional<spec::TxFpduHdr> sent(const Record& r);
  void may_drop(uint16_t qpn);
  bool drops_term(uint16_t qpn);  // the RTL has dropped this QP's Terminate: it may
  /// Another connection has this number: what its predecessor's QP may drop, the RTL has dropped.
  void begins(uint16_t connection);
  bool has_record(uint16_t connection) const;
  void request(const spec::LlpCtlReq& r) { requests_.push_back(r); }
  void requested(const spec::LlpCtlReq& r);
  void read(uint8_t bar, uint32_t offset, std::optional<uint64_t> value) {
    reads_.push_back({bar, offset, value});
  }
  void responded(uint64_t value);

  /// With bus master or the device off nothing is written: what was due is forgotten, and a write that was on its way is not looked at.
  void writes(bool on);
  bool writes() const { return writes_; }

  /// What is due and has not come, one line each. `at_end`: without what may be left.
  std::string left(bool at_end) const;

 private:
  struct Packet {
    uint16_t qpn = 0;
    std::vector<spec::Extent> extents;
    Payload data;
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
  struct Owed {  // of a vector: messages that its events are due
    Vector now, before;
    uint32_t messages = 0;
    bool was_masked = false;  // since the first of them: they may be one
    uint64_t masked_at = 0;   // cycle of the newest change to masked
  };
  struct AdminByte {
    uint64_t address = 0;
    uint8_t byte = 0;
    bool ends_answer = false;
  };
  struct Read {
    uint8_t bar = 0;
    uint32_t offset = 0;
    std::optional<uint64_t> value;  // none: time, counters and the like
  };

  Tally& tally_;
  bool writes_ = true;
  std::deque<Packet> packets_;
  std::deque<Word> words_;
  std::deque<Completion> completions_;
  uint64_t newest_ = 0;  // timestamp
  std::deque<Event> events_;
  std::vector<Owed> vectors_;
  std::deque<AdminByte> admin_;
  std::map<uint16_t, std::deque<Sent>> sent_;
  std::deque<spec::LlpCtlReq> requests_;
  std::deque<Read> reads_;
};

}  // namespace rnic::sim

// Rules a3 and b of ordering.hpp: events after completions, interrupts after events, and no WQE
// read past its doorbell. Knows the rings of QPs, CQs and EQs from the commands that admin read and
// from their responses: a ring exists from the response ok to create_* until that to destroy_*.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "backend/device.hpp"
#include "gen/commits.hpp"
#include "gen/queues.hpp"
#include "tandem/ordering_findings.hpp"

namespace rnic::sim {

class RingOrder {
 public:
  explicit RingOrder(Findings& findings) : findings_(findings) {}

  void mmio_write(const Mmio& m);  // doorbells, rings of admin, MSI-X table
  void read(const DmaRead& r);     // of clients sq, rq and admin; ignores others
  void piece(const DmaPiece& p);
  /// Writes of clients cq, msix and admin. Returns the CQE if the write is one.
  std::optional<spec::Cqe> written(const DmaWrite& w);
  void doorbell(const spec::QpDoorbellCommit& c);
  void pushed(const spec::QpPushCommit& c);
  void reset();

 private:
  struct WorkRing {  // of a QP
    uint64_t base = 0;
    uint32_t units = 0;
    uint16_t producer = 0;  // index of the last doorbell that took effect
    uint16_t next = 0;      // next unit to be read
    bool holds(uint64_t address) const {
      return address >= base && address - base < uint64_t{64} * units;
    }
  };
  struct Qp {
    std::array<WorkRing, 2> ring;  // sq, rq
  };
  struct Ring {  // of a CQ or EQ
    uint64_t base = 0, bytes = 0;
    uint8_t eqn = 0, vector = 0;
    uint32_t entries = 0;
    uint16_t written = 0;  // entries so far, modulo 2^16
    bool holds(uint64_t address) const { return address >= base && address - base < bytes; }
  };
  struct Fetch {  // an outstanding read of sq, rq or admin
    uint64_t address = 0;
    std::vector<uint8_t> data;
    Client client = Client::kUnknown;
    uint16_t qpn = 0, first = 0;  // first: index of its first unit
  };
  static size_t ring_of(Client c) { return c == Client::kRqFetch ? 1 : 0; }

  uint64_t register64(uint32_t offset) const;
  void rung(const Mmio& m);
  void fetched(const Fetch& f);
  void answered(const spec::AdminRsp& rsp);
  void apply(const spec::AdminCmd& cmd);
  void fetch_units(const DmaRead& r, Fetch& f);
  void event(uint8_t eqn, const spec::Eqe& e);
  void interrupt(const DmaWrite& w);
  template <class Rings>
  static auto* holder(Rings& rings, uint64_t address) {
    for (auto& [number, ring] : rings)
      if (ring.holds(address)) return &ring;
    return static_cast<Ring*>(nullptr);
  }

  Findings& findings_;
  std::map<uint32_t, uint32_t> bar0_;    // 32-bit words as written
  std::map<uint8_t, Fetch> open_;        // by tag
  std::deque<spec::AdminCmd> commands_;  // read by admin, without a response yet
  std::map<uint16_t, Qp> qps_;
  std::map<uint16_t, Ring> cqs_;
  std::map<uint8_t, Ring> eqs_;
  // Doorbells of the host that no commit has reported: sq, rq.
  std::map<uint16_t, std::array<std::deque<uint16_t>, 2>> rung_;
  std::map<uint16_t, std::deque<uint16_t>> arms_;  // armings of a CQ that have raised no event yet
  struct Vector {
    // Every address and data that its table entry has held.
    std::vector<std::pair<uint64_t, uint32_t>> messages;
    uint64_t events = 0, interrupts = 0;  // EQEs of its EQs, and its messages so far
  };
  std::map<uint8_t, Vector> vectors_;
};

}  // namespace rnic::sim

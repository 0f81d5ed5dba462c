// atomic in the timed model, with rdmap_atomic in front of it. A request waits for its turn, is
// translated, acquires the lock of its address, reads the old value, stores the new one, and gets
// its response. A result needs no turn and no lock. Decision 12.
//
//   rdmap --request--> [ turn ] --> lookup --> [ lock by bucket ] --> read --> store --> rdmap, ddp
//   rdmap --result----------------> lookup ------------------------------------> store --> qp
#pragma once

#include <deque>
#include <unordered_map>
#include <vector>

#include "atomic/atomic.hpp"
#include "rdmap/rdmap.hpp"
#include "sc/port.hpp"
#include "sc/queue.hpp"
#include "sc/unit.hpp"
#include "top/units.hpp"

namespace rnic::model {

class AtomicUnit final {
  Units& u_;  // before the ports, which join its list

 public:
  /// tpt: answers qn1_xlate, takes qn1_retired.
  AtomicUnit(Units& u, Translation& tpt);
  Queue<MemData> qn1_rd;  // old values
  Output<MemRead> qn1_rd_req_o{u_.ports, "atomic.qn1_rd_req_o"};
  Output<spec::WordWr> word_wr_o{u_.ports, "atomic.word_wr_o"};
  Call<void(const spec::AtomicRsp&)> atomic_rsp_o{u_.ports, "atomic.atomic_rsp_o"};
  Call<void(uint16_t)> item_left_o{u_.ports, "atomic.item_left_o"};  // an item of this QP has ended
  Call<bool(uint16_t)> qp_alive_i{u_.ports, "atomic.qp_alive_i"};    // false: stream atomic_dead
  Call<bool(uint16_t)> qp_fetched_i{u_.ports, "atomic.qp_fetched_i"};  // Rdmap::fetched()
  Call<uint64_t()> placed_i{u_.ports, "atomic.placed_i"};

  void request(const Rdmap::Turn& turn, Cycle at);       // a request of the peer
  void result(const spec::AtomicReq& result, Cycle at);  // a result of ours
  /// Called after a placement, a fetched Read Response, or an error or stop of a QP: a turn may
  /// have come.
  void look() {
    if (!turn_.empty()) step_.wake(u_.now());
  }
  void word_done();  // host_if has sent the oldest word_wr
  /// A request or result of this QP has no response yet: a stop waits for it.
  bool busy(uint16_t qpn) const { return inside_[qpn] != 0; }
  /// A result of this QP has no response yet: a sync waits for it.
  bool stores_results(uint16_t qpn) const { return results_[qpn] != 0; }

  spec::UnitCount count() const { return meter_.count(); }
  std::string waiting_for() const;

 private:
  struct Item {
    spec::AtomicReq req;
    uint64_t watermark = 0;
    spec::TptResult result{};  // of the lookup
    spec::RdStatus status{};   // of the read of the old value
    ExtentList extents;
    uint64_t old = 0;  // the value read
    bool is_locked = false;
  };
  static constexpr uint32_t kBuckets = 256;  // buckets of atomic_lock
  static constexpr uint32_t kInside = 64;    // largest number of requests inside atomic
  static uint32_t bucket_of(uint64_t address);
  void step();
  void look_up(Item item, Cycle at);
  void looked(Item item);
  void begin(Item item, Cycle at);
  void store(Item item, Cycle at, uint64_t word);
  void end(Item item, spec::AtomicEnd ending, Cycle at);
  void answer(const spec::AtomicRsp& rsp);
  void left(uint16_t qpn);

  Translation& tpt_;
  Meter meter_;
  Queue<Item> arriving_;                                  // from rdmap, until their lookup
  std::deque<Item> turn_;                                 // requests that wait for their turn
  Queue<Item> looked_;                                    // with tpt's response
  std::unordered_map<uint32_t, std::deque<Item>> locks_;  // waiting, by bucket; without the lock's
                                                          // holder
  std::vector<bool> held_;                                // by bucket
  Queue<Item> granted_;                                   // requests that have their lock
  std::deque<Item> reading_, storing_;  // items that wait for qn1_rd, for word_done()
  struct Ended {
    spec::AtomicRsp rsp;
  };
  Queue<Ended> ended_;
  std::vector<uint16_t> inside_;   // by QP: requests and results
  std::vector<uint16_t> results_;  // by QP: results only
  uint32_t requests_ = 0;          // requests after their turn
  StageOf<AtomicUnit> step_{*this, &AtomicUnit::step};
};

}  // namespace rnic::model

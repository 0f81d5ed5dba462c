// The privileged part of the driver (RFC 5040's resource manager). It finds and resets the device
// and owns its tables, admin queue and event queues. One per device, shared by contexts of several
// threads.
//
// The manager takes no locks: simulated threads switch only inside PciDevice calls, and every
// member keeps its invariants across them. Each function that takes a PciDevice calls
// before_shared() before it reads a member, so threads see the members in simulated order.
//
//   auto manager = Manager::open(dev, {.seed = 7}).value();
//   auto rsp = manager->execute(dev, spec::AdminOpcode::kNop, 0);      // from any thread
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/rng.hpp"
#include "gen/errors.hpp"
#include "gen/queues.hpp"
#include "rnic/verbs_types.hpp"

namespace rnic::verbs {

/// A ring that the device fills. The phase bit is the top bit of an entry's last byte: 1 on the
/// first pass, inverted on each later one.
struct PhaseRing {
  DmaBuffer memory{};
  uint32_t entry = 0;     ///< bytes per entry
  unsigned log = 0;       ///< log2 of the number of entries
  uint32_t consumer = 0;  ///< index of the next entry to read; free-running

  uint32_t size() const { return 1u << log; }
  /// The entry at a free-running index.
  std::span<uint8_t> at(uint32_t index) const {
    return memory.bytes().subspan(size_t{index & (size() - 1)} * entry, entry);
  }
  /// True if the device has written the entry at this free-running index.
  bool ready(uint32_t index) const {
    const bool phase = (at(index)[entry - 1] & 0x80) != 0;
    return phase == (((index >> log) & 1) == 0);
  }
  bool ready() const { return ready(consumer); }
};

/// Numbers 0 to n-1, allocated in ranges, first fit.
class RangePool {
 public:
  explicit RangePool(uint32_t count = 0) {
    if (count != 0) free_[0] = count;
  }
  /// Allocates `count` consecutive numbers and returns the first. kNoMemory: no free run is long
  /// enough; `what` names the numbers in the error's text.
  [[nodiscard]] Result<uint32_t> take(uint32_t count, std::string_view what);
  void give(uint32_t first, uint32_t count);  ///< frees a range that take() returned
  uint32_t largest() const;                   ///< length of the longest free run

 private:
  std::map<uint32_t, uint32_t> free_;  // first number -> count
};

struct ManagerSettings {
  uint64_t seed = 1;           ///< of the run: STag permutation key, STag slots, low bits of STags
  unsigned log_admin = 5;      ///< 2^n commands may be outstanding
  unsigned event_queues = 16;  ///< at most; one MSI-X vector each
  unsigned log_eq = 8;         ///< 2^n entries in each event queue
  Time ready_timeout = 20 * kMs;  ///< reset until ready
  Time admin_timeout = 20 * kMs;  ///< command until response
  /// A waiter polls again after this time: another thread may have taken its interrupt.
  Time recheck = 50 * kUs;
  Time linger = 5 * kMs;  ///< then a closed connection is aborted if the peer has not closed
};

class Manager {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Manager>> open(PciDevice& dev,
                                                             const ManagerSettings& settings);
  ~Manager();  ///< calls close() with the PciDevice of open(), unless already closed
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;
  void close(PciDevice& dev);

  const DeviceAttr& attr() const { return attr_; }
  const ManagerSettings& settings() const { return settings_; }
  unsigned event_queues() const { return static_cast<unsigned>(eqs_.size()); }

  /// Executes one admin command. Several threads may have commands outstanding: a cookie identifies
  /// each response. While the device answers in_progress the command is issued again, so that
  /// commands of other threads pass in between.
  [[nodiscard]] Result<spec::AdminRsp> execute(PciDevice& dev, spec::AdminOpcode opcode,
                                               uint32_t object, std::span<const uint8_t> args = {});
  template <class Args>
  [[nodiscard]] Result<spec::AdminRsp> execute_args(PciDevice& dev, spec::AdminOpcode opcode,
                                                    uint32_t object, const Args& args) {
    std::array<uint8_t, Args::kBytes> bytes{};
    args.pack(bytes);
    return execute(dev, opcode, object, bytes);
  }

  /// Access to the members below that have no PciDevice parameter:
  /// manager.shared(dev).pds.take(...).
  Manager& shared(PciDevice& dev) {
    dev.before_shared();
    return *this;
  }

  // Tables.
  RangePool pds, qps, cqs, pages, pbl, ird, ord;
  [[nodiscard]] Result<uint32_t> take_stag_slot();  ///< random, from the seed
  void give_stag_slot(uint32_t slot);
  /// Low 8 bits of a new STag.
  uint8_t random_key() { return static_cast<uint8_t>(rng_.next()); }

  // Events: flags set from event queue entries, kept until a reader clears them. `eqn`: number of
  // an event queue; its MSI-X vector has the same number. Queue 0 has the events of QPs,
  // connections and failed CQs, and if it is the only one also those of completions.
  void drain_events(PciDevice& dev, unsigned eqn);
  /// Drains the queue, evaluates done() and waits for the queue's vector, until done() or the
  /// deadline. Returns false at the deadline.
  template <class Done>
  bool wait_event(PciDevice& dev, unsigned eqn, Time deadline, Done&& done) {
    for (;;) {
      drain_events(dev, eqn);
      if (done()) return true;
      const Time now = dev.now();
      if (now >= deadline) return false;
      const Time again = now + settings_.recheck;
      (void)dev.wait(uint64_t{1} << eqn, deadline < again ? deadline : again);
    }
  }
  /// By object number. cq_error: 1 after an overrun, 2 once get_async_event() has returned it.
  /// qp_event: of an SRQ number, the limit event.
  std::vector<uint8_t> cq_event, cq_error, qp_event;
  std::vector<uint8_t> conn_event;  ///< by connection

  // Connections.
  /// Clears conn_event of the connection, then executes conn_query.
  [[nodiscard]] Result<spec::AdminConnResult> query_connection(PciDevice& dev, uint16_t connection);
  /// Records that a listener, a start-up or a QP owns the connection.
  void track_connection(uint16_t connection) { tracked_[connection] = 1; }
  /// Returns false if the port already has a listener.
  [[nodiscard]] bool add_listener(uint16_t port) { return incoming_.try_emplace(port).second; }
  /// Also aborts the connections on the port that no listener has taken.
  void remove_listener(PciDevice& dev, uint16_t port);
  /// Connections on a listening port that no listener has taken yet.
  std::deque<uint16_t>& incoming(PciDevice& dev, uint16_t port);
  /// Gives up a connection without an owner. sweep_retired() releases it once it is closed, and
  /// aborts it if it is still open after settings().linger.
  void retire_connection(PciDevice& dev, uint16_t connection);
  /// Checks the retired connections that have an event or whose deadline has passed.
  void sweep_retired(PciDevice& dev);
  /// Keeps memory that the device may still use because destroying its owner failed.
  void keep_forever(DmaBuffer buffer) { kept_.push_back(std::move(buffer)); }

 private:
  struct Answer {
    bool done = false;
    spec::AdminRsp rsp{};
  };
  struct Retired {  // a connection without an owner that the device has not released
    uint16_t connection = 0;
    Time deadline = 0;
    bool aborted = false;
  };
  struct EventQueue {
    PhaseRing ring{};
    uint32_t told = 0;     // consumer index last written to the device
    bool telling = false;  // a thread is writing `told` to the device
  };

  explicit Manager(PciDevice& dev, const ManagerSettings& settings);
  [[nodiscard]] Result<void> start(PciDevice& dev);
  [[nodiscard]] Result<void> enable_pci(PciDevice& dev);
  [[nodiscard]] Result<void> read_capabilities(PciDevice& dev);
  [[nodiscard]] Result<void> start_admin(PciDevice& dev);
  [[nodiscard]] Result<void> start_events(PciDevice& dev);
  void ring_admin(PciDevice& dev);
  void take_answers(PciDevice& dev);
  Result<spec::AdminRsp> execute_once(PciDevice& dev, spec::AdminOpcode opcode, uint32_t object,
                                      std::span<const uint8_t> args, uint16_t cookie,
                                      Time deadline);
  void sort_unknown(PciDevice& dev);
  bool try_release(PciDevice& dev, Retired& r);
  std::string health(PciDevice& dev) const;

  PciDevice* opener_;
  ManagerSettings settings_;
  DeviceAttr attr_;
  base::Rng rng_;
  bool started_ = false;

  DmaBuffer commands_;
  PhaseRing answers_;
  uint32_t producer_ = 0;
  uint16_t cookie_ = 0;
  bool ringing_ = false;                // a thread is in ring_admin()
  std::map<uint16_t, Answer> waiting_;  // by cookie

  std::vector<uint8_t> stag_used_;
  std::vector<EventQueue> eqs_;
  uint32_t num_eqs_ = 0, num_vectors_ = 0, num_conns_ = 0;

  std::vector<uint8_t> tracked_;  // connections that a listener, a start-up or a QP owns
  std::deque<uint16_t> unknown_;  // other connections that events named
  std::map<uint16_t, std::deque<uint16_t>> incoming_;
  std::vector<Retired> retired_;
  std::vector<DmaBuffer> kept_;
};

}  // namespace rnic::verbs

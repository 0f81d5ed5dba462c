// The root complex between a device and its host: PCIe ordering, rate, latency, memory accesses,
// interrupts and errors.
//
//   RootComplex rc("host0", config, memory, interrupts, seed);
//   rc.attach(device);
//   rc.mmio_write(now, {.is_write = true, .bar = 2, .offset = 64, .bytes = 8, .value = 5});
//
// device -> host (one wire):
// - Writes take effect in order. A relaxed write may pass the writes before it.
// - A read samples memory after every write issued before it. The response to a register read
//   arrives after those writes, too.
// - A write to kMsiBase + 16 n is interrupt n; at kMsiBase itself the data gives the vector.
// - pcie_posted_hold_ns delays posted writes, and with them the reads and responses after them.
//
// host -> device (one wire):
// - Register accesses arrive in order.
// - Completions never pass a register write. They pass a register read only while the device does
//   not accept that read.
// - All bytes of a read are sampled at one time and cut at the completion boundary. Pieces of one
//   tag stay in order; tags complete in any order.
//
// `settle` applies effects on memory only when they become visible (a host thread runs, a
// completion is delivered). `settle` stamps each effect with its own exact time and keeps their
// order. So a small message costs the kernel one activation of the root complex.
#pragma once

#include <array>
#include <deque>
#include <string>
#include <vector>

#include "backend/device.hpp"
#include "base/rng.hpp"
#include "kernel/activity.hpp"
#include "kernel/ring.hpp"
#include "kernel/serial_line.hpp"
#include "platform/config.hpp"
#include "platform/config_space.hpp"
#include "platform/host_memory.hpp"
#include "platform/pcie_observer.hpp"

namespace rnic::sim {

/// Receives interrupts: the host's CPU.
class InterruptSink {
 public:
  virtual ~InterruptSink() = default;
  virtual void interrupt(unsigned vector) = 0;
};

/// Receives the response to a register read; the reader waits for the event.
struct MmioAnswer {
  uint64_t value = ~uint64_t{0};
  bool done = false;
  sc_core::sc_event event;
};

/// How a read that ReadFault selects is completed. All but kStatus and kLate violate PCIe.
enum class Completions : uint8_t {
  kStatus,  // one completion carries the status of the fault
  kTwice,   // the last piece is sent twice
  kShort,   // the last piece has half of its bytes
  kLong,    // the last piece has 64 extra bytes
  kNever,   // no completion is sent
  kLate     // all are sent after a further delay of `late`
};

/// Selects reads that fail: the n-th (1 is the first; 0: none by number) of those whose bus address
/// is in the range `from` <= address < `to`, or each with a probability. `seen` counts the reads in
/// the range so far.
struct ReadFault {
  spec::RdStatus status = spec::RdStatus::kPoisoned;
  uint64_t nth = 0;
  double probability = 0;
  uint64_t from = 0, to = UINT64_MAX;
  uint64_t seen = 0;
  Completions completions = Completions::kStatus;
  Time late = 0;
};

struct PcieCounters {
  static constexpr size_t kClients = static_cast<size_t>(Client::kUnknown) + 1;
  std::array<uint64_t, kClients> reads{}, read_bytes{}, writes{}, write_bytes{};
  uint64_t mmio_writes = 0, mmio_reads = 0, interrupts = 0, completions = 0;
  uint64_t misanswered = 0;                // reads with other Completions than kStatus
  uint64_t bad_reads = 0, bad_writes = 0;  // no buffer owns the address, or bus master is off
};

class RootComplex final : private Activity {
 public:
  static constexpr uint64_t kMsiBase = 0xfee0'0000;
  static constexpr unsigned kVectors = 64;
  /// Bytes of a TLP beside its payload: STP token 4, header 16, LCRC 4.
  static constexpr uint32_t kTlpOverhead = 24;

  RootComplex(const std::string& name, const PcieConfig& config, HostMemory& memory,
              InterruptSink& interrupts, uint64_t seed);

  void attach(Device& device);
  void observe(PcieObserver& observer) { observers_.push_back(&observer); }
  void add_fault(const ReadFault& fault) { faults_.push_back(fault); }

  // The device's side: DeviceEnv (backend/device.hpp).
  bool can_dma_write();
  void dma_write(DmaWrite w);
  bool can_dma_read();
  void dma_read(DmaRead r);
  void mmio_response(uint64_t value);

  // The host's side; `at` may be later than the kernel's time.
  void mmio_write(Time at, Mmio m) { issue(at, std::move(m), nullptr); }
  void mmio_read(Time at, Mmio m, MmioAnswer& answer) { issue(at, std::move(m), &answer); }
  ConfigSpace& config_space() { return *space_; }
  /// Call after a write to config_space(): passes the new values to the device.
  void config_changed() { device_->set_pcie(cfg_ = space_->pcie()); }
  void reset();       ///< function-level reset
  void remove();      ///< surprise removal: reads return all ones, other accesses are ignored
  void lose_power();  ///< of the host: discards writes that have not reached memory yet
  bool gone() const { return gone_; }
  /// Applies all effects on memory and host up to `now`.
  void settle(Time now);

  const PcieCounters& counters() const { return counters_; }
  /// Progress counter for the watchdog: changes with each item that moves.
  uint64_t moved() const { return moved_; }
  /// The first violation of PCIe's rules by the device, or empty.
  const std::string& failure() const { return failure_; }
  /// For the watchdog: accesses and reads that are outstanding, one line each.
  std::string waiting_for() const;

 private:
  /// What happens to an item of later_ at its time: a read samples memory, a read sends further
  /// completions, a relaxed write takes effect, a register access enters the wire to the device.
  enum class Kind : uint8_t { kRead, kMorePieces, kEarlyWrite, kMmio };
  struct Up {  // in order: writes and register responses in flight to the host
    Time at = 0;
    uint64_t seq = 0;
    DmaWrite write;
    MmioAnswer* answer = nullptr;
    uint64_t value = 0;
  };
  struct Later {  // unordered: a heap
    Time at = 0;
    uint64_t seq = 0;
    uint32_t index = 0;  // tag, or index in early_ or issued_
    Kind kind = Kind::kRead;
    bool operator<(const Later& o) const {
      return at != o.at ? at > o.at : seq > o.seq;
    }  // earliest on top
  };
  struct Read {
    DmaRead request;
    Payload data;
    uint32_t sent = 0;  // bytes in completions so far
    spec::RdStatus status = spec::RdStatus::kOk;
    Completions completions = Completions::kStatus;
    Time late = 0;
    uint32_t fault_after = 0;  // good pieces before the bad one
    bool is_active = false, is_sampled = false;
  };
  struct PieceDown {
    Time at = 0;
    DmaPiece piece;
    bool is_extra = false;  // a piece after the end of its read
  };
  struct MmioDown {
    Time at = 0;
    Mmio mmio;
    MmioAnswer* answer = nullptr;
  };

  void run(Time now) override;
  void plan(Time now);  // schedules the next run()
  // root_complex_up.cpp: towards the host
  void push_later(Time at, Kind kind, uint32_t index);
  Time hold(Time at);
  bool link_has_room(Time now);
  void commit(Time at, const DmaWrite& w);
  void decide_fault(Read& read);
  void finish_up(Up& up);
  static void answer(MmioAnswer& to, uint64_t value);
  void broken(Time now, const std::string& what);
  // root_complex_down.cpp: towards the device
  void issue(Time at, Mmio m, MmioAnswer* answer);
  void sample(Time at, uint32_t tag);
  void emit(Time at, uint32_t tag);
  void misanswer(Time at, const Read& read, DmaPiece& last);
  uint32_t cut(const Read& read);
  void deliver(Time now);
  bool piece_may_pass() const;
  void forget();

  const PcieConfig config_;
  HostMemory& memory_;
  InterruptSink& interrupts_;
  base::Rng reorder_rng_, fault_rng_, hold_rng_;
  // Parts of pcie_latency_ns. one_way_: on the wire, each way. read_host_, write_host_: from the
  // arrival at the host to the time at which a read samples memory, or a write takes effect.
  const Time one_way_, read_host_, write_host_;
  SerialLine up_line_, down_line_;
  Device* device_ = nullptr;
  std::unique_ptr<ConfigSpace> space_;
  spec::PcieCfg cfg_;  // current value
  std::vector<PcieObserver*> observers_;
  std::vector<ReadFault> faults_;

  uint64_t seq_ = 0;  // orders items of the same time
  Ring<Up> up_;
  std::vector<Later> later_;
  Ring<Time> host_due_;  // when an interrupt or a register response reaches the host
  std::array<Read, 256> reads_{};
  std::vector<DmaWrite> early_;  // pools, and their free slots
  std::vector<MmioDown> issued_;
  std::vector<uint32_t> early_free_, issued_free_;
  Ring<PieceDown> pieces_;
  std::deque<MmioDown> mmios_;
  std::deque<MmioAnswer*> answering_;  // register reads that the device has accepted
  // reads_in_use_: reads that use a tag, until their last completion. posted_in_use_: writes that
  // use a credit, until they take effect. nonposted_in_use_: reads that use a credit, until they
  // sample memory.
  uint32_t reads_in_use_ = 0, posted_in_use_ = 0, nonposted_in_use_ = 0;
  bool held_write_ = false, held_read_ = false;  // can_dma_write, can_dma_read returned false
  bool gone_ = false;
  Time posted_until_ = 0;  // when the latest ordered posted write takes effect

  PcieCounters counters_;
  uint64_t moved_ = 0;
  std::string failure_;
};

}  // namespace rnic::sim

// Two hosts with a device each, for tests that check more than a program does: a tap at each
// device's LLP port, and connections that account for every work request.
//
//   in_child([&] {                                        SystemC elaborates once per process
//     World w({.kind = {"rtl", "model"}, .settings = {"mtu=9000"}});
//     w.tap(kClient).on_tx = [&](sim::Record& r) { ...; return true; };
//     w.run([&](Host& h) { h.open(); ... }, [&](Host& h) { ... });
//   });
//
// Programs throw on errors; run() turns an exception into a failed expectation.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "core.hpp"  // of the driver: addresses of its rings, owner of each connection
#include "platform/simulation.hpp"
#include "rnic/connection.hpp"
#include "rnic/manager.hpp"
#include "settings/config.hpp"
#include "support/device_around.hpp"
#include "wire.hpp"

namespace rnic::sim {
class Observer;  // backend/observer.hpp
}

namespace rnic::tb {

using app::kClient;
using app::kServer;
using app::Side;

/// The value, or an exception that names what was tried.
template <class T>
T must(Result<T> r, const std::string& what) {
  if (!r) throw std::runtime_error(what + ": " + r.error().what);
  return std::move(*r);
}
template <>
inline void must(Result<void> r, const std::string& what) {
  if (!r) throw std::runtime_error(what + ": " + r.error().what);
}

/// Between a device and its environment: observes the LLP port and may change its items.
class Tap final : public DeviceAround, private sim::DeviceEnv {
 public:
  using DeviceAround::DeviceAround;

  struct Seen {
    Time at = 0;
    sim::Record record;
  };
  // Records that the device has sent and received, in RDMA mode and before, in transfer order.
  std::vector<Seen> sent, taken;
  struct Asked {  // a request of the device to its LLP
    Time at = 0;
    size_t sent = 0;  // size of Tap::sent at that time
    spec::LlpCtlReq req;
  };
  std::vector<Asked> asked;
  bool keeps = true;                                     // keeps records; else it only counts them
  uint64_t records_sent = 0, bytes_sent = 0;             // in RDMA mode
  std::function<bool(sim::Record&)> on_tx;               // may change the record; false: drops it
  std::function<void(spec::LlpCredit&)> on_credit;       // may reduce the credit
  std::function<bool(const spec::LlpCtlEvt&)> on_event;  // false: withheld from the device
  std::function<bool(const sim::DmaRead&)> on_read;      // false: the test keeps it until pass()
  std::function<void(const sim::DmaWrite&)> on_write;    // when the host accepts the write
  // False: the host stalls the device's writes or reads. After setting true, call wake().
  bool takes_writes = true, takes_reads = true;
  bool takes_records = true;  // false: the device accepts no record of the LLP

  /// Puts an FPDU on the wire as if the device had sent it.
  void inject(uint16_t connection, const Bytes& fpdu);
  /// Forwards a read that on_read has kept to the host.
  void pass(sim::DmaRead r) { env_->dma_read(std::move(r)); }
  /// FPDUs of a connection that the device sent, in order.
  std::vector<Bytes> fpdus(uint16_t connection) const;

  void attach(sim::DeviceEnv& env) override {
    env_ = &env;
    inner_->attach(*this);
  }
  bool can_llp_rx() const override { return takes_records && inner_->can_llp_rx(); }
  void llp_rx(sim::Record r) override;
  void llp_credit(const spec::LlpCredit& credit) override;
  void llp_event(const spec::LlpCtlEvt& event) override;

 private:
  bool can_dma_write() const override { return takes_writes && env_->can_dma_write(); }
  void dma_write(sim::DmaWrite w) override {
    if (on_write) on_write(w);
    env_->dma_write(std::move(w));
  }
  bool can_dma_read() const override { return takes_reads && env_->can_dma_read(); }
  void dma_read(sim::DmaRead r) override {
    if (!on_read || on_read(r)) env_->dma_read(std::move(r));
  }
  void mmio_response(uint64_t value) override { env_->mmio_response(value); }
  bool can_llp_tx() const override { return env_->can_llp_tx(); }
  void llp_tx(sim::Record r) override;
  void llp_ctl(const spec::LlpCtlReq& req) override;

  sim::DeviceEnv* env_ = nullptr;
};

/// Memory and its region.
struct Region {
  DmaBuffer buffer;
  verbs::Mr mr;
  uint8_t* at(uint64_t offset) const { return buffer.data() + offset; }
  verbs::Sge sge(uint64_t offset, uint32_t length) const {
    return {mr.addr() + offset, length, mr.lkey()};
  }
};

class Host;
class Endpoint;

/// A shared receive queue. Each receive must complete exactly once, on any of its QPs.
class SharedReceives {
 public:
  verbs::Srq srq;

  uint64_t receive(const verbs::Sge& sge);  // posts a receive; returns its id
  size_t outstanding() const { return posted_.size(); }

 private:
  friend class Endpoint;
  void take(const verbs::Wc& wc);
  std::set<uint64_t> posted_;  // not yet complete
  uint64_t next_ = 1;
};

/// One side of a connection. Every work request is signalled, and its id is assigned here. Each
/// must complete exactly once, in posting order of its queue.
class Endpoint {
 public:
  verbs::Qp qp;
  verbs::Connection connection;

  // Each posts one request and returns its id, the wr_id of its completion. `rkey`, and `to` or
  // `from`: key and address in the peer's memory.
  uint64_t send(const verbs::Sge& sge, uint32_t flags = 0);
  uint64_t send(std::span<const verbs::Sge> sges, uint32_t flags = 0);
  uint64_t write(const verbs::Sge& from, uint32_t rkey, uint64_t to, uint32_t flags = 0);
  uint64_t read(const verbs::Sge& to, uint32_t rkey, uint64_t from, uint32_t flags = 0);
  uint64_t flush(uint32_t rkey, uint64_t to, uint32_t length,
                 uint8_t type = verbs::IBV_FLUSH_GLOBAL, uint32_t flags = 0);
  /// The old value is written to `sink`, 8 bytes.
  uint64_t fetch_add(const verbs::Sge& sink, uint32_t rkey, uint64_t to, uint64_t add,
                     uint64_t mask = 0, uint32_t flags = 0);
  struct Swap {
    uint64_t compare = 0, swap = 0;
    uint64_t compare_mask = ~uint64_t{0}, swap_mask = ~uint64_t{0};
  };
  uint64_t cmp_swap(const verbs::Sge& sink, uint32_t rkey, uint64_t to, const Swap& operands,
                    uint32_t flags = 0);
  uint64_t atomic_write(uint32_t rkey, uint64_t to, uint64_t value, uint32_t flags = 0);
  uint64_t receive(std::span<const verbs::Sge> sges);
  uint64_t receive(const verbs::Sge& sge) { return receive(std::span(&sge, 1)); }
  /// Posts several requests with one doorbell.
  std::vector<uint64_t> post(std::vector<verbs::SendWr> wrs);

  size_t outstanding() const { return sends_.size() + receives_.size(); }
  size_t sends_outstanding() const { return sends_.size(); }
  size_t receives_outstanding() const { return receives_.size(); }
  /// The completion of a request that has completed.
  const verbs::Wc& wc(uint64_t id) const;
  bool completed(uint64_t id) const;
  std::vector<verbs::Wc> done;  // in order of completion

  /// The connection's number at the LLP port.
  uint16_t number() const { return number_; }

 private:
  friend class Host;
  void take(const verbs::Wc& wc);
  std::deque<uint64_t> sends_, receives_;  // not yet complete
  SharedReceives* shared_ = nullptr;       // its SRQ; null if it has a receive queue
  uint64_t next_ = 1;
  uint16_t number_ = 0;
};

class World;

/// The host's objects for a program.
class Host {
 public:
  Host(World& w, Side s, PciDevice& d) : world(w), side(s), dev(d) {}
  ~Host();
  World& world;
  const Side side;
  PciDevice& dev;
  std::unique_ptr<verbs::Manager> manager;
  verbs::Context context;
  verbs::Pd pd;
  verbs::Cq cq;

  /// Creates manager, context, protection domain, completion queue.
  void open(uint32_t cqe = 256, verbs::ManagerSettings settings = {});
  Region region(uint64_t bytes, uint32_t access = kAll, std::optional<uint64_t> iova = {});
  Region region_of(verbs::Pd& owner, uint64_t bytes, uint32_t access = kAll);
  /// Creates a QP; its address is stable until the host ends.
  Endpoint& endpoint(verbs::QpCap cap = kCap, bool push = false, bool privileged = false);
  /// Its send completions go to a queue that poll() does not read.
  Endpoint& endpoint(verbs::Cq& sends);
  Endpoint& endpoint(SharedReceives& receives);
  /// Its address is stable until the host ends.
  SharedReceives& shared_receives(const verbs::SrqInitAttr& attr);
  void connect(Endpoint& e, verbs::ConnParam param = {});
  void accept(Endpoint& e, verbs::ConnParam param = {});
  /// The peer disconnects first, then this side.
  void follow_disconnect(Endpoint& e) {
    must(e.connection.wait_disconnected(dev.now() + kMs), "the peer's end");
    must(e.connection.disconnect(), "disconnect");
  }
  // connect() without the check of its result; the first step of accept().
  Result<verbs::Connection> try_connect(Endpoint& e, verbs::ConnParam param = {});
  verbs::ConnRequest next_request();

  void poll();  // moves completions from the queue to the endpoints
  /// Polls until done; throws with `what` after `patience` of simulated time.
  void until(const std::string& what, const std::function<bool()>& done, Time patience = 2 * kMs);
  void until_complete(Endpoint& e, const std::string& what) {
    until(what, [&] { return e.outstanding() == 0; });
  }
  void rest(Time how_long);  // polls for this long
  /// The next asynchronous event; polls completions meanwhile.
  verbs::AsyncEvent event(Time patience = 2 * kMs);
  bool quiet();  // no asynchronous event is pending; takes one if there is one

  static constexpr uint32_t kAll = verbs::IBV_ACCESS_LOCAL_WRITE | verbs::IBV_ACCESS_REMOTE_WRITE |
                                   verbs::IBV_ACCESS_REMOTE_READ;
  static constexpr verbs::QpCap kCap{.max_send_wr = 32,
                                     .max_recv_wr = 32,
                                     .max_send_sge = 4,
                                     .max_recv_sge = 3,
                                     .max_inline_data = 64};

 private:
  std::deque<SharedReceives> shared_;
  std::deque<Endpoint> endpoints_;
  std::optional<verbs::Listener> listener_;
};

struct WorldConfig {
  std::array<std::string, 2> kind{"model", "model"};  // of client and server, as in Kinds
  std::vector<std::string> settings{};
  uint64_t seed = 1;
  std::string pcap{};
  std::array<sim::Observer*, 2> observer{};  // observe the RTL devices
};

class World {
 public:
  explicit World(const WorldConfig& config);

  Tap& tap(Side side) { return *taps_[side]; }
  sim::Simulation& simulation() { return *simulation_; }
  const app::Config& config() const { return config_; }
  uint64_t seed() const { return seed_; }

  using Program = std::function<void(Host&)>;
  /// Runs both programs to their end. Every failure, of a program, a device or the platform, is a
  /// failed expectation.
  void run(Program client, Program server);
  /// As run(), for programs that must fail or hang: expects nothing, returns the result.
  sim::RunResult try_run(Program client, Program server);

  bool listening = false;  // the server accepts connections
  bool failed = false;     // a program has thrown: the other need not wait

 private:
  app::Config config_;
  uint64_t seed_;
  std::unique_ptr<sim::Simulation> simulation_;
  std::array<Tap*, 2> taps_{};
  bool in_tandem_ = false;
};

/// Runs the body in a child process: SystemC elaborates once per process. A failure there, a crash,
/// or a run longer than `seconds` fails the test here.
void in_child(const std::function<void()>& body, unsigned seconds = 120);

/// The two devices of a pairing, as a test parameter: model, rtl or tandem, of the default build,
/// or of the build minimum or stall with the suffix _minimum or _stall. A tandem contains the RTL:
/// beside tandem, rtl would add nothing.
using Kinds = std::array<std::string, 2>;
inline std::string name_of(const Kinds& k) { return k[0] == k[1] ? k[0] : k[0] + "_" + k[1]; }
inline std::string name_of_kinds(const testing::TestParamInfo<Kinds>& info) {
  return name_of(info.param);
}
inline const Kinds kRtl{"rtl", "rtl"}, kModel{"model", "model"}, kTandem{"tandem", "tandem"},
    kModelMinimum{"model_minimum", "model_minimum"},
    kTandemMinimum{"tandem_minimum", "tandem_minimum"},
    kTandemStall{"tandem_stall", "tandem_stall"};

/// The pattern that tests fill memory with: each byte is a function of a key and its offset.
uint8_t pattern(uint64_t key, uint64_t at);
void fill(std::span<uint8_t> bytes, uint64_t key, uint64_t from = 0);
/// The number of bytes that differ from the pattern.
uint64_t wrong(std::span<const uint8_t> bytes, uint64_t key, uint64_t from = 0);

}  // namespace rnic::tb

// One or two hosts, each with a device, and the link between them: builds them, runs programs,
// reports the result.
//
//   Simulation sim({.platform = *preset("gen4x16"), .side = {}, .seed = 1});
//   sim.add_host(make_model_device(...));     // host 0, address 10.0.0.1
//   sim.add_host(make_rtl_device(...));       // host 1, address 10.0.0.2
//   sim.start(1, "server", [](PciDevice& dev) { ... });
//   sim.start(0, "client", [](PciDevice& dev) { ... });
//   RunResult r = sim.run();          // until all programs have returned
//   if (!r.ok()) fmt::print(stderr, "{}\n", r.report);
//
// A whole program: sim/examples/hello.cpp.
//
// One Simulation per process, because SystemC elaborates once. After a run, more programs can be
// started and `run` can be called again.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "link/link.hpp"
#include "link/pcap.hpp"
#include "llp/llp.hpp"
#include "platform/host_cpu.hpp"
#include "platform/tlp_trace.hpp"

namespace rnic::sim {

struct SimulationConfig {
  PlatformConfig platform;                            ///< both hosts, the link, the run
  std::array<std::optional<PlatformConfig>, 2> side;  ///< override of pcie and host for one side
  uint64_t seed = 1;
};

enum class RunStatus : uint8_t {
  kDone,        ///< every program returned, no fault
  kFailed,      ///< a program threw, or a device or the platform reported a fault
  kNoProgress,  ///< a program waits and the watchdog finds no progress
  kTimeLimit,   ///< reached the simulated time limit
};

struct RunResult {
  RunStatus status = RunStatus::kDone;
  Time end = 0;
  std::string report;  ///< the fault, and which parts wait for which others; empty if kDone
  std::vector<ProgramFailure> failures;
  bool ok() const { return status == RunStatus::kDone; }
  bool is_stuck() const {
    return status == RunStatus::kNoProgress || status == RunStatus::kTimeLimit;
  }
};

class Simulation {
 public:
  explicit Simulation(SimulationConfig config);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Returns the host's number, 0 or 1. Call before the first run. Throws std::system_error if the
  /// host's memory cannot be allocated.
  unsigned add_host(std::unique_ptr<Device> device);
  void start(unsigned host, const std::string& program, Program body);
  RunResult run();
  /// Runs `ns` of simulated time without programs, so that traffic in flight drains.
  void settle(uint64_t ns);
  /// Fails the power now, as power_fail_ns does. Effects up to now are applied and durable bytes
  /// stay durable. The rest of the host is lost, with its programs and its device; the peer finds
  /// out by timeout. Called by programs of a run or by its observers.
  void cut_power(unsigned host);
  /// When the power of the host failed; empty: it has not.
  std::optional<Time> power_failed(unsigned host) const;
  /// Writes the bytes that are durable now to pmem_image, if it is set.
  base::Result<void> save_pmem(unsigned host);
  /// Surprise removal of the device of a host.
  void remove(unsigned host);

  void write_pcap(const std::string& path);
  /// Returns false if part of the capture could not be written.
  bool is_pcap_whole() { return pcap_ == nullptr || pcap_->flush(); }
  /// Traces the PCIe transfers of all hosts added so far.
  void write_tlp(std::FILE* to);
  void observe(unsigned host, PcieObserver& observer);
  void observe_threads(unsigned host, ThreadObserver& observer);

  Device& device(unsigned host);
  HostMemory& memory(unsigned host);
  RootComplex& root_complex(unsigned host);
  Llp& llp(unsigned host);
  /// Idle time (relax, wait), summed over the host's threads.
  Time host_idle(unsigned host) const;
  Link& link() { return link_; }
  Time now() const { return kernel_now(); }

 private:
  struct Host;
  class Watchdog;
  class PowerSwitch;
  bool is_finished() const;
  bool peer_may_not_know(Time now) const;
  uint64_t moved() const;
  std::string faults() const;
  std::string waiting_for() const;

  SimulationConfig config_;
  Link link_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::unique_ptr<Pcap> pcap_;
  std::vector<std::unique_ptr<TlpTrace>> traces_;
  std::unique_ptr<Watchdog> watchdog_;
};

}  // namespace rnic::sim

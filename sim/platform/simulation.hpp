// One or two hosts, each with a device, and the link between them: build, run programs, look at the
// result.
//
//   Simulation sim({.platform = *preset("gen4x16"), .side = {}, .seed = 1});
//   sim.add_host(make_model_device(...));                            host 0, address 10.0.0.1
//   sim.add_host(make_rtl_device(...));                              host 1, address 10.0.0.2
//   sim.start(1, "server", [](PciDevice& dev) { ... });
//   sim.start(0, "client", [](PciDevice& dev) { ... });
//   RunResult r = sim.run();                                         until all programs have returned
//   if (!r.ok()) fmt::print(stderr, "{}\n", r.report);
//
// A whole program: sim/examples/hello.cpp.
//
// One a process: SystemC elaborates once. After a run more programs can be started and `run` called
// again.
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
  std::array<std::optional<PlatformConfig>, 2> side;  ///< instead, for pcie and host of one
  uint64_t seed = 1;
};

enum class RunStatus : uint8_t {
  kDone,        ///< every program returned, nobody complained
  kFailed,      ///< a program threw, or a device or the platform found a fault
  kNoProgress,  ///< somebody waits and nothing moves
  kTimeLimit,   ///< the simulated time limit
};

struct RunResult {
  RunStatus status = RunStatus::kDone;
  Time end = 0;
  std::string report;  ///< empty if kDone: what is wrong, who waits for whom
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

  /// Before the first run. Throws std::system_error if the host's memory cannot be had.
  unsigned add_host(std::unique_ptr<Device> device);
  void start(unsigned host, const std::string& program, Program body);
  RunResult run();
  /// Let `ns` of simulated time pass with no program, so that what is under way comes to rest.
  void settle(uint64_t ns);
  /// Now, as power_fail_ns does it: what is durable is settled, the rest of the host is gone, its programs
  /// and its device with it; the peer finds out by time-out. Programs of a run call it, or its observers.
  void cut_power(unsigned host);
  std::optional<Time> power_failed(unsigned host) const;
  /// Writes pmem_image, if there is one: what is durable now.
  base::Result<void> save_pmem(unsigned host);
  /// Surprise removal of a host's device.
  void remove(unsigned host);

  void write_pcap(const std::string& path);
  /// False: some of it could not be written.
  bool is_pcap_whole() { return pcap_ == nullptr || pcap_->flush(); }
  /// A trace of each PCIe request of all hosts that are there.
  void write_tlp(std::FILE* to);
  void observe(unsigned host, PcieObserver& observer);

  Device& device(unsigned host);
  HostMemory& memory(unsigned host);
  RootComplex& root_complex(unsigned host);
  Llp& llp(unsigned host);
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

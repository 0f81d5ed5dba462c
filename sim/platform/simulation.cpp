// Builds hosts and link, runs the programs, and ends a run: see simulation.hpp. PowerSwitch cuts a
// host's power at a set time. Watchdog ends a run without progress.
#include "platform/simulation.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "base/log.hpp"
#include "platform/device_port.hpp"
#include "platform/sim_pci_device.hpp"

// libsystemc needs an sc_main; a program may define its own.
extern "C" __attribute__((weak)) int sc_main(int, char**) { return 0; }

namespace rnic::sim {

struct Simulation::Host {
  Host(const std::string& name, unsigned number, const PlatformConfig& c, uint64_t seed, Link& link,
       std::unique_ptr<Device> d)
      : memory(c.host, number, seed),
        cpu(name, c.host, memory),
        root_complex(name, c.pcie, memory, cpu, seed),
        llp(name, number, link),
        port(root_complex, llp),
        device(std::move(d)) {
    cpu.connect(root_complex, pci_device);
    root_complex.attach(*device);
    root_complex.observe(port);
    llp.attach(*device);
    device->attach(port);
  }
  HostMemory memory;
  HostCpu cpu;
  SimPciDevice pci_device{cpu};
  RootComplex root_complex;
  Llp llp;
  DevicePort port;
  std::unique_ptr<Device> device;
  std::unique_ptr<PowerSwitch> power;  // null: its power never fails
  std::optional<Time> power_failed;
};

/// Cuts the power of a host at its time, while programs run.
class Simulation::PowerSwitch final : public Activity {
 public:
  PowerSwitch(Simulation& s, unsigned host, Time at)
      : Activity("power_switch"), sim_(s), host_(host), at_(at) {}
  void arm(bool is_armed) {
    is_armed_ = is_armed;
    if (is_armed && at_ > kernel_now()) wake_at(at_);
  }

 private:
  /// Runs last at its time: a thread that has reached that time runs first. So the switch lets some
  /// delta cycles of its time pass.
  void run(Time now) override {
    if (!is_armed_ || now < at_) return;
    if (++passes_ < kPasses) return wake_at(now);
    sim_.cut_power(host_);
  }
  static constexpr unsigned kPasses = 8;  // delta cycles
  Simulation& sim_;
  const unsigned host_;
  const Time at_;
  bool is_armed_ = false;
  unsigned passes_ = 0;
};

/// Checks for progress four times per period (watchdog_us), and ends the run if nothing moved for a
/// period. A program in a wait() of at least half a period, and a peer that must time out, are no
/// lack of progress.
class Simulation::Watchdog final : public Activity {
 public:
  explicit Watchdog(Simulation& s) : Activity("watchdog"), sim_(s) {}

  void begin() {
    is_running_ = true;
    verdict_.reset();
    limit_at_ = kernel_now() + sim_.config_.platform.run.time_limit_us * kUs;
    quiet_since_ = kernel_now();
    moved_ = sim_.moved();
    told_ = false;
    wake_at(kernel_now());
  }
  void end() { is_running_ = false; }
  std::optional<RunStatus> verdict() const { return verdict_; }

 private:
  void run(Time now) override {
    if (!is_running_) return;
    const Time period = sim_.config_.platform.run.watchdog_us * kUs;
    if (now >= limit_at_) return stop(RunStatus::kTimeLimit);
    if (const uint64_t moved = sim_.moved(); moved != moved_) {
      moved_ = moved;
      quiet_since_ = now;
      told_ = false;
    }
    const bool sleeps = std::any_of(sim_.hosts_.begin(), sim_.hosts_.end(), [&](const auto& h) {
      return h->cpu.sleeps_long(now, period / 2);
    });
    if (sleeps || sim_.peer_may_not_know(now)) quiet_since_ = now;
    if (!told_ && now - quiet_since_ >= period / 2) {
      told_ = true;
      for (const auto& h : sim_.hosts_) h->device->stands_still();
    }
    if (now - quiet_since_ >= period) return stop(RunStatus::kNoProgress);
    wake_at(std::min(now + period / 4 + 1, limit_at_));
  }
  void stop(RunStatus why) {
    verdict_ = why;
    sc_core::sc_pause();
  }

  Simulation& sim_;
  bool is_running_ = false;
  std::optional<RunStatus> verdict_;
  Time limit_at_ = 0, quiet_since_ = 0;
  bool told_ = false;  // devices were notified of missing progress
  uint64_t moved_ = 0;
};

Simulation::Simulation(SimulationConfig config)
    : config_(std::move(config)),
      link_(config_.platform.link),
      watchdog_(std::make_unique<Watchdog>(*this)) {
  base::set_log_clock([] { return kernel_now() / kNs; });
}
Simulation::~Simulation() { base::set_log_clock({}); }

unsigned Simulation::add_host(std::unique_ptr<Device> device) {
  const auto number = static_cast<unsigned>(hosts_.size());
  RNIC_CHECK(number < Link::kHosts, "a link has two ends");
  const PlatformConfig& c = config_.side[number] ? *config_.side[number] : config_.platform;
  // Each host has its own seed, far from the other's, so that their draws differ.
  hosts_.push_back(std::make_unique<Host>(fmt::format("host{}", number), number, c,
                                          config_.seed + number * 1000003, link_,
                                          std::move(device)));
  if (c.host.power_fail_ns != 0)
    hosts_.back()->power = std::make_unique<PowerSwitch>(
        *this, number, static_cast<Time>(std::llround(c.host.power_fail_ns * kNs)));
  return number;
}

void Simulation::start(unsigned host, const std::string& program, Program body) {
  hosts_.at(host)->cpu.start(program, std::move(body), [this] {
    if (is_finished()) sc_core::sc_pause();
  });
}

RunResult Simulation::run() {
  watchdog_->begin();
  for (auto& h : hosts_) {
    if (h->power) h->power->arm(true);
  }
  sc_core::sc_start();
  for (auto& h : hosts_) {
    if (h->power) h->power->arm(false);
  }
  watchdog_->end();

  RunResult r;
  r.end = kernel_now();
  if (!is_finished()) {
    const bool stopped = !this->faults().empty();  // a device reported a fault
    // Without a verdict of the watchdog, a fault stopped the run, or no event is left.
    r.status = watchdog_->verdict().value_or(stopped ? RunStatus::kFailed : RunStatus::kNoProgress);
    r.report = fmt::format("{} at {} ns\n{}",
                           r.status == RunStatus::kTimeLimit ? "simulated time limit"
                           : r.status == RunStatus::kFailed  ? "stopped"
                                                             : "no progress",
                           r.end / kNs, waiting_for());
  }
  for (auto& h : hosts_) {
    for (const auto& f : h->cpu.failures()) {
      r.failures.push_back(f);
      r.report += fmt::format("{}: {}\n", f.program, f.what);
    }
  }
  const std::string faults = this->faults();
  r.report += faults;
  if (r.status == RunStatus::kDone && !(r.failures.empty() && faults.empty()))
    r.status = RunStatus::kFailed;
  return r;
}

void Simulation::settle(uint64_t ns) {
  if (ns > 0) sc_core::sc_start(sc_core::sc_time::from_value(ns * kNs));
  for (auto& h : hosts_) h->root_complex.settle(kernel_now());
}

void Simulation::remove(unsigned host) {
  hosts_.at(host)->llp.remove();  // first, so that the transport sends no RST
  hosts_.at(host)->root_complex.remove();
}

bool Simulation::is_finished() const {
  return std::all_of(hosts_.begin(), hosts_.end(), [](const auto& h) { return h->cpu.finished(); });
}

void Simulation::cut_power(unsigned host) {
  Host& h = *hosts_.at(host);
  if (h.power_failed) return;
  h.power_failed = kernel_now();
  h.root_complex.settle(kernel_now());
  h.cpu.halt();
  h.llp.remove();
  h.root_complex.lose_power();
  if (is_finished()) sc_core::sc_pause();
}

std::optional<Time> Simulation::power_failed(unsigned host) const {
  return hosts_.at(host)->power_failed;
}

base::Result<void> Simulation::save_pmem(unsigned host) {
  const HostConfig& c = hosts_.at(host)->cpu.config();
  if (c.pmem_image.empty()) return {};
  return write_image(c.pmem_image, hosts_[host]->memory.pmem().image());
}

/// True until llp_timeout_us after a host has lost power: until then its peer keeps the connections
/// and may wait without progress.
bool Simulation::peer_may_not_know(Time now) const {
  return std::any_of(hosts_.begin(), hosts_.end(), [&](const auto& h) {
    return h->power_failed && now <= *h->power_failed + link_.config().llp_timeout_us * kUs;
  });
}

void Simulation::write_pcap(const std::string& path) {
  pcap_ = std::make_unique<Pcap>(path);
  link_.tap(*pcap_);
}

void Simulation::write_tlp(std::FILE* to) {
  for (size_t n = 0; n < hosts_.size(); ++n) {
    traces_.push_back(std::make_unique<TlpTrace>(to, fmt::format("host{}", n)));
    hosts_[n]->root_complex.observe(*traces_.back());
  }
}

void Simulation::observe(unsigned host, PcieObserver& observer) {
  hosts_.at(host)->root_complex.observe(observer);
}
void Simulation::observe_threads(unsigned host, ThreadObserver& observer) {
  hosts_.at(host)->cpu.observe(observer);
}
Device& Simulation::device(unsigned host) { return *hosts_.at(host)->device; }
HostMemory& Simulation::memory(unsigned host) { return hosts_.at(host)->memory; }
RootComplex& Simulation::root_complex(unsigned host) { return hosts_.at(host)->root_complex; }
Time Simulation::host_idle(unsigned host) const { return hosts_.at(host)->cpu.idle(); }
Llp& Simulation::llp(unsigned host) { return hosts_.at(host)->llp; }

uint64_t Simulation::moved() const {
  uint64_t all = 0;
  for (const auto& h : hosts_) all += h->root_complex.moved() + h->llp.moved() + h->cpu.moved();
  return all;
}

std::string Simulation::faults() const {
  std::string out;
  for (size_t n = 0; n < hosts_.size(); ++n) {
    for (const std::string& what : {hosts_[n]->device->failure(), hosts_[n]->root_complex.failure(),
                                    hosts_[n]->llp.failure()}) {
      if (!what.empty()) out += fmt::format("host{}: {}\n", n, what);
    }
  }
  return out;
}

std::string Simulation::waiting_for() const {
  std::string out;
  for (size_t n = 0; n < hosts_.size(); ++n) {
    const auto& h = *hosts_[n];
    out += h.cpu.waiting_for();
    const std::string text =
        h.root_complex.waiting_for() + h.llp.waiting_for() + h.device->waiting_for();
    out += fmt::format("host{} {}:{}{}\n", n, h.device->describe(), text.empty() ? " " : "\n",
                       text.empty() ? "nothing is held up" : text);
    if (out.ends_with("\n\n")) out.pop_back();
  }
  return out;
}

}  // namespace rnic::sim

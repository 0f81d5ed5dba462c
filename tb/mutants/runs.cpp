// Builds the two hosts of a program, runs them in a child process and finds who detected the fault.
// See runs.hpp.
#include "mutants/runs.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "backend/device_model.hpp"
#include "mutants/story.hpp"
#include "platform/simulation.hpp"
#include "regress/host.hpp"
#include "tandem/device_tandem.hpp"
#include "tandem/ordering.hpp"

namespace rnic::mutants {
namespace {

constexpr unsigned kCpuLimit = 60, kWallLimit = 900;  // s
constexpr const char* kSides[] = {"client", "server"};

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Observes each event after the follower. Ends the model's fault at the end of a cycle. Checks the
/// order separately, so that the report shows which of the two checkers was first.
class Watch final : public sim::Observer {
 public:
  void cycle(uint64_t n) override { ordering_.cycle(n); }
  void commit(const spec::AnyCommit& c) override { ordering_.commit(c); }
  void dma_write(const sim::DmaWrite& w) override { ordering_.dma_write(w); }
  void llp_tx(const sim::Record& r) override { ordering_.llp_tx(r); }
  void llp_ctl(const spec::LlpCtlReq& r) override { ordering_.llp_ctl(r); }
  void mmio_response(uint64_t value) override { ordering_.mmio_response(value); }
  void dma_read(const sim::DmaRead& r) override { ordering_.dma_read(r); }
  void mmio(const sim::Mmio& m) override { ordering_.mmio(m); }
  void dma_piece(const sim::DmaPiece& p) override { ordering_.dma_piece(p); }
  void llp_rx(const sim::Record& r) override { ordering_.llp_rx(r); }
  void llp_event(const spec::LlpCtlEvt& e) override { ordering_.llp_event(e); }
  void llp_credit(const spec::LlpCredit& c) override { ordering_.llp_credit(c); }
  void dma_write_waits() override { ordering_.dma_write_waits(); }
  void cycle_done() override {
    ordering_.cycle_done();
    model_selected = 0;
  }
  void pcie(const spec::PcieCfg& c) override { ordering_.pcie(c); }
  void reset() override { ordering_.reset(); }
  std::string ordering() const { return ordering_.failure(); }

 private:
  sim::Ordering ordering_;
};

/// The platform of one side: the preset gen4x16, changed by the plan's settings. `client.NAME` and
/// `server.NAME` are for one side.
sim::PlatformConfig platform(const app::regress::Plan* plan, unsigned side, double limit_us) {
  sim::PlatformConfig c = *sim::preset("gen4x16");
  for (const auto& [name, value] :
       plan != nullptr ? plan->settings : std::vector<std::pair<std::string, std::string>>{}) {
    const size_t dot = name.find('.');
    if (dot != std::string::npos && name.substr(0, dot) != kSides[side]) continue;
    for (const auto& row : sim::platform_settings()) {
      if (row.name != name.substr(dot == std::string::npos ? 0 : dot + 1)) continue;
      if (auto r = row.set(c, value); !r) throw std::runtime_error(r.error().what);
    }
  }
  c.host.arena_mib = 64;
  c.run.time_limit_us = static_cast<uint64_t>(limit_us);
  return c;
}

std::string first_line(const std::string& s) { return s.substr(0, s.find('\n')); }

Verdict judge(const sim::RunResult& result, const sim::Device& device, const Watch& watch,
              const std::string& program) {
  Verdict v;
  v.cycles = device.cycles();
  v.simulated_us = static_cast<double>(result.end) / kUs;
  const std::string failure = device.failure(), ordering = watch.ordering();
  v.report = failure + "\n" + program + "\n" + result.report;
  if (!failure.empty()) {
    v.catcher = failure.find("assertion of the RTL") != std::string::npos ? Catcher::kAssertion
                : !ordering.empty() && failure.find(ordering) != std::string::npos
                    ? Catcher::kOrdering
                    : Catcher::kTandem;
    v.what = failure;
  } else if (!program.empty()) {
    v.catcher = Catcher::kProgram;
    v.what = program;
  } else if (result.status == sim::RunStatus::kNoProgress) {
    v.catcher = Catcher::kWatchdog;
    v.what = result.report;
  } else if (result.status == sim::RunStatus::kTimeLimit) {
    v.catcher = Catcher::kTimeLimit;
    v.what = result.report;
  } else if (!result.ok()) {
    v.catcher = Catcher::kProgram;
    v.what = result.report;
  }
  v.what = first_line(v.what);
  return v;
}

std::vector<Scene> scenes_of(const Program& p) {
  if (p.kind == Program::Kind::kDamage) return damages();
  if (p.kind == Program::Kind::kRefused) return refusals();
  return errors_and_events();
}

/// Sets up and executes a run; at the end it waits until the device is idle, and reads its failure.
Verdict run_here(const Program& program, double limit_us) {
  const bool is_plan = program.kind == Program::Kind::kPlan;
  app::regress::Plan plan;
  app::regress::Memory want;
  if (is_plan) {
    plan = app::regress::generate(program.seed, program.ops, {.minimum = true});
    want = app::regress::reference(plan);
  }
  sim::SimulationConfig sc;
  sc.platform = platform(is_plan ? &plan : nullptr, 0, limit_us);
  for (unsigned side = 0; side < 2; ++side)
    sc.side[side] = platform(is_plan ? &plan : nullptr, side, limit_us);
  if (program.kind == Program::Kind::kErrors &&
      program.side == 1) {  // slow PCIe: placements queue up
    sc.side[1]->pcie.pcie_gen = 3;
    sc.side[1]->pcie.pcie_lanes = 2;
  }
  sc.seed = program.seed;
  sim::Simulation simulation(sc);
  Watch watch;
  app::regress::Shared plan_shared;
  StoryShared story_shared;
  std::array<Damaging*, 2> devices{};
  for (unsigned side = 0; side < 2; ++side) {
    std::unique_ptr<Damaging> device;
    if (side != program.side) {
      device = std::make_unique<Damaging>(
          sim::make_model_device(sim::sizes_of(program.build), kSides[side]));
    } else {
      sim::RtlOptions o;
      o.build = program.build;
      o.stalls = {program.stall, program.seed};
      o.name = "mutant";
      o.observer = &watch;
      device = std::make_unique<Damaging>(sim::make_tandem_device(o));
      if (program.kind == Program::Kind::kDamage) story_shared.device[side] = device.get();
    }
    devices[side] = device.get();
    simulation.add_host(std::move(device));
  }
  story_shared.let_in = [devices](unsigned side, std::optional<uint32_t> records) {
    devices[side]->passes = records;
  };
  story_shared.spoil = [&simulation](unsigned side, uint64_t from, uint64_t to, uint32_t reads,
                                     bool never) {
    for (uint32_t nth = 1; nth <= reads; ++nth)
      simulation.root_complex(side).add_fault(
          {.status = spec::RdStatus::kPoisoned,
           .nth = nth,
           .probability = 0,
           .from = from,
           .to = to,
           .seen = 0,
           .completions = never ? sim::Completions::kNever : sim::Completions::kStatus});
  };
  const auto scenes = scenes_of(program);
  if (is_plan) {
    plan_shared.start = app::regress::initial(plan);
    app::regress::start_hosts(simulation, plan, want, plan_shared);
  }
  for (const unsigned side : {1U, 0U}) {
    if (is_plan) break;
    simulation.start(side, kSides[side],
                     [&, side](PciDevice& dev) { Story(dev, side, scenes, story_shared).run(); });
  }
  const sim::RunResult result = simulation.run();
  const std::string failure = is_plan ? plan_shared.failure : story_shared.failure;
  if (result.ok() && failure.empty()) simulation.settle(sim::kQuietNs);
  return judge(result, simulation.device(program.side), watch, failure);
}

std::string contents(int fd) {
  std::string s(static_cast<size_t>(lseek(fd, 0, SEEK_END)), '\0');
  if (pread(fd, s.data(), s.size(), 0) < 0) s.clear();
  close(fd);
  return s;
}

}  // namespace

Chosen& chosen() {
  static Chosen c;
  return c;
}
std::string Program::describe() const {
  const std::string where = kSides[side] + sim::suffix_of(build) +
                            (stall == 0 ? "" : fmt::format(", streams held back {} %", stall));
  if (kind == Kind::kPlan)
    return fmt::format("plan of {} operations, seed {}, {}", ops, seed, where);
  if (kind == Kind::kDamage) return fmt::format("damaged records, {}", where);
  if (kind == Kind::kRefused) return fmt::format("commands to be refused, {}", where);
  return fmt::format("errors and events, {}", where);
}

Run::Run(const Program& program, double limit_us)
    : results_(memfd_create("results", 0)), said_(memfd_create("said", 0)), began_(now_s()) {
  std::fflush(nullptr);
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("no process can be made");
  if (pid_ != 0) return;
  dup2(said_, STDOUT_FILENO);
  dup2(said_, STDERR_FILENO);
  alarm(kWallLimit);
  const itimerval limit{{0, 0}, {kCpuLimit, 0}};
  setitimer(ITIMER_PROF, &limit, nullptr);
  if (const Chosen& c = chosen(); c.rtl == 0 && c.model == 0 && !c.has_trace)
    places_reached.assign(built_faults().size() + 1, '-');
  Verdict v;
  try {
    v = run_here(program, limit_us);
  } catch (const std::exception& e) {
    v.catcher = Catcher::kCrash;
    v.what = e.what();
  }
  // Lines for finish(): numbers, places_reached, the first line of the failure, the full report.
  const std::string text =
      fmt::format("{} {} {} {} {}\n{}\n{}\n{}", static_cast<int>(v.catcher), v.cycles, pins_fold,
                  int{was_reached}, v.simulated_us, places_reached, v.what, v.report);
  if (write(results_, text.data(), text.size()) < 0) _exit(1);
  std::fflush(nullptr);
  _exit(0);
}

Verdict Run::finish(int status) {
  const std::string text = contents(results_), said = contents(said_);
  Verdict v;
  v.wall_s = now_s() - began_;
  if (WIFSIGNALED(status) || text.empty()) {
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (signal == SIGALRM)  // independent of the fault
      throw std::runtime_error(fmt::format("a run took {} s on a busy machine", kWallLimit));
    v.catcher = signal == SIGPROF ? Catcher::kTimeLimit : Catcher::kCrash;
    v.what = signal == SIGPROF
                 ? fmt::format("{} s of CPU time", kCpuLimit)
                 : fmt::format("signal {} ({}): {}", signal, strsignal(signal), first_line(said));
    v.report = said;
    return v;
  }
  int catcher = 0, reached = 0;
  const size_t places = text.find('\n'), line = text.find('\n', places + 1),
               next = text.find('\n', line + 1);
  if (std::sscanf(text.c_str(), "%d %lu %lu %d %lf", &catcher, &v.cycles, &v.fold, &reached,
                  &v.simulated_us) != 5)
    throw std::runtime_error("a child's result cannot be read");
  v.reached = reached != 0;
  v.places_reached = text.substr(places + 1, line - places - 1);
  v.catcher = static_cast<Catcher>(catcher);
  v.what = text.substr(line + 1, next - line - 1);
  v.report = text.substr(next + 1) + said;
  if (const size_t at = said.find("Assertion failed in ");
      v.catcher == Catcher::kAssertion && at != std::string::npos) {
    v.what = said.substr(at + 20, said.find_first_of("\n'", at) - at - 20);
  }
  return v;
}

}  // namespace rnic::mutants

// One plan on two hosts, in a child process: SystemC elaborates once.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <memory>

#include "backend/device_model.hpp"
#include "backend/device_rtl.hpp"
#include "platform/simulation.hpp"
#include "regress.hpp"
#include "regress_host.hpp"

namespace rnic::app::regression {
namespace {

constexpr const char* kSides[] = {"client", "server"};
constexpr unsigned kWallLimit = 900;  // s; a child that takes longer is taken for dead

/// The plan's settings under those the user has given.
Config settings_of(const RegressRequest& r, const regress::Plan& plan) {
  Config c = r.config;
  const auto overrides = r.config.overrides();
  for (const auto& [name, value] : plan.settings) {
    const size_t dot = name.find('.');
    const std::string bare = dot == std::string::npos ? name : name.substr(dot + 1);
    const bool given = r.config.find(bare).source != "default" || std::any_of(overrides.begin(), overrides.end(), [&, &n = name](const Setting& s) { return s.name == n; });
    if (!given) c.set(name, value, "plan");
  }
  return c;
}

std::unique_ptr<sim::Device> make_device(const RegressRequest& r, Side side) {
  if (r.kind[side] == "model") return sim::make_model_device(r.config.sizes(side), kSides[side]);
  sim::RtlOptions o;
  o.minimum = r.config.minimum(side);
  o.name = kSides[side];
  o.reset_seed = r.config.reset_seed(side);
  return sim::make_rtl_device(o);
}

Verdict run_here(const RegressRequest& r, const regress::Plan& plan) {
  const Config config = settings_of(r, plan);
  sim::SimulationConfig sc;
  sc.platform = config.platform();
  sc.side = {config.platform(kClient), config.platform(kServer)};
  sc.seed = plan.seed;
  sim::Simulation simulation(sc);
  for (const Side side : {kClient, kServer}) simulation.add_host(make_device(r, side));
  if (!r.pcap.empty()) simulation.write_pcap(r.pcap);
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> tlp(nullptr, std::fclose);
  if (!r.tlp.empty()) {
    tlp.reset(std::fopen(r.tlp.c_str(), "w"));
    if (!tlp) throw Usage(fmt::format("--tlp {}: cannot be written", r.tlp));
    simulation.write_tlp(tlp.get());
  }
  const regress::Memory want = regress::reference(plan);
  regress::Shared shared;
  verbs::ManagerSettings manager;
  manager.seed = plan.seed;
  for (const Side side : {kServer, kClient}) {
    simulation.start(side, kSides[side], [&, side](PciDevice& dev) { regress::Host(dev, plan, want, side, manager, shared).run(); });
  }
  const sim::RunResult result = simulation.run();
  Verdict v;
  v.posted = shared.posted;
  v.completions = shared.completions;
  v.bytes_checked = shared.bytes_checked;
  v.simulated_us = static_cast<double>(result.end) / kUs;
  if (!shared.failure.empty()) v.failure = shared.failure + "\n";
  if (!result.ok()) v.failure += result.report + "\n";
  if (v.failure.empty() && shared.posted != plan.ops.size()) v.failure = fmt::format("{} requests were posted, the plan has {}\n", shared.posted, plan.ops.size());
  if (!v.failure.empty()) v.status = result.status == sim::RunStatus::kNoProgress ? kNoProgress : kMismatch;
  return v;
}

nlohmann::json to_json(const Verdict& v) {
  return {{"status", static_cast<int>(v.status)}, {"failure", v.failure}, {"posted", v.posted}, {"completions", v.completions}, {"bytes", v.bytes_checked}, {"us", v.simulated_us}};
}

}  // namespace

Verdict run_plan(const RegressRequest& r, const regress::Plan& plan) {
  int fd[2];
  if (pipe(fd) != 0) throw Missing("no pipe can be made");
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid < 0) throw Missing("no process can be made");
  if (pid == 0) {
    close(fd[0]);
    alarm(kWallLimit);
    Verdict v;
    try {
      v = run_here(r, plan);
    } catch (const std::exception& e) {
      v.status = kMismatch;
      v.failure = e.what();
    }
    const std::string text = to_json(v).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    for (size_t at = 0; at < text.size();) {
      const ssize_t n = write(fd[1], text.data() + at, text.size() - at);
      if (n <= 0) break;
      at += static_cast<size_t>(n);
    }
    std::fflush(nullptr);
    _exit(0);
  }
  close(fd[1]);
  std::string text;
  char buffer[65536];
  for (ssize_t n; (n = read(fd[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(n));
  close(fd[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  Verdict v;
  if (WIFSIGNALED(status) || text.empty()) {
    v.status = kMismatch;
    v.failure = WIFSIGNALED(status) ? fmt::format("the run died of signal {} ({})\n", WTERMSIG(status), strsignal(WTERMSIG(status))) : "the run ended without a result\n";
    return v;
  }
  const auto j = nlohmann::json::parse(text);
  v.status = static_cast<ExitStatus>(j["status"].get<int>());
  v.failure = j["failure"];
  v.posted = j["posted"];
  v.completions = j["completions"];
  v.bytes_checked = j["bytes"];
  v.simulated_us = j["us"];
  return v;
}

}  // namespace rnic::app::regression

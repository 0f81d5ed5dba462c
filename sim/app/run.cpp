#include "run.hpp"

#include <fmt/format.h>
#include <openssl/sha.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>

#include "backend/device_model.hpp"
#include "backend/device_rtl.hpp"
#include "gen/regs.hpp"
#include "link/wire_limit.hpp"
#include "platform/simulation.hpp"

namespace rnic::app {
namespace {

constexpr const char* kUnits[] = {"host_if", "admin", "qp", "tpt", "rdmap", "ddp", "mpa", "cq", "llp_if"};
constexpr const char* kSides[] = {"client", "server"};

sim::WaveWindow wave_window(const std::string& text, const std::string& side) {
  sim::WaveWindow w;
  const size_t at = text.find('@');
  std::string file = text.substr(0, at);
  const size_t dot = file.rfind(".fst");
  w.file = dot == std::string::npos ? file + "." + side + ".fst" : file.substr(0, dot) + "." + side + ".fst";
  if (at != std::string::npos) {
    const std::string range = text.substr(at + 1);
    const size_t dots = range.find("..");
    if (dots == std::string::npos) throw Usage(fmt::format("--wave {}: the window is FROM..TO, in ns", text));
    try {
      w.from_ps = std::stoull(range.substr(0, dots)) * 1000;
      if (dots + 2 < range.size()) w.to_ps = std::stoull(range.substr(dots + 2)) * 1000;
    } catch (const std::exception&) {
      throw Usage(fmt::format("--wave {}: the window is FROM..TO, in ns", text));
    }
  }
  return w;
}

std::unique_ptr<sim::Device> make_device(const RunRequest& r, Side side) {
  const std::string& kind = r.kind[side];
  if (kind == "model") return sim::make_model_device(r.config.sizes(side), kSides[side]);
  sim::RtlOptions o;
  o.minimum = r.config.minimum(side);
  o.name = kSides[side];
  o.reset_seed = r.config.reset_seed(side);
  if (!r.wave.empty()) o.wave = wave_window(r.wave, kSides[side]);
  return sim::make_rtl_device(o);
}

/// Says from time to time, on a terminal, how far it is. Looks at the host's clock, changes nothing.
class Progress final : public sim::PcieObserver {
 public:
  Progress(const std::vector<programs::Report>& reports, uint64_t expected) : reports_(reports), expected_(expected) {}
  ~Progress() override {
    if (shown_) fmt::print(stderr, "\r{:60}\r", "");
  }
  void on_write(Time t, const sim::DmaWrite&, bool) override {
    if (++events_ % 1024 != 0) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(500)) return;
    last_ = now;
    shown_ = true;
    uint64_t ops = 0;
    for (const auto& r : reports_) ops += r.ops;
    const double s = std::chrono::duration<double>(now - began_).count();
    fmt::print(stderr, "\r{:3.0f} %  {:.3f} ms simulated  {:.0f} s  {}   ", 100.0 * static_cast<double>(ops) / static_cast<double>(std::max<uint64_t>(expected_, 1)),
               static_cast<double>(t) / 1e9, s, reports_.empty() ? "" : reports_[0].stage);
  }

 private:
  const std::vector<programs::Report>& reports_;
  uint64_t expected_, events_ = 0;
  bool shown_ = false;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now(), last_ = began_;
};

std::string hex(const uint8_t* bytes, size_t n) {
  std::string s;
  for (size_t i = 0; i < n; ++i) s += fmt::format("{:02x}", bytes[i]);
  return s;
}
std::string sha256(std::span<const uint8_t> bytes) {
  uint8_t digest[SHA256_DIGEST_LENGTH];
  SHA256(bytes.data(), bytes.size(), digest);
  return hex(digest, sizeof digest);
}

nlohmann::ordered_json latency_json(std::vector<Time> samples) {
  if (samples.empty()) return nullptr;
  std::sort(samples.begin(), samples.end());
  const auto at = [&](double q) { return static_cast<double>(samples[static_cast<size_t>(q * static_cast<double>(samples.size() - 1))]) / kNs; };
  double sum = 0;
  for (const Time t : samples) sum += static_cast<double>(t) / kNs;
  return {{"min", at(0)}, {"p50", at(0.5)}, {"p99", at(0.99)}, {"max", at(1)}, {"avg", sum / static_cast<double>(samples.size())}};
}

sim::WireOp wire_op(const RunRequest& r, const programs::Params& p) {
  const std::string what = r.program == "file_copy" ? p.op : r.program;
  return what.starts_with("write") ? sim::WireOp::kWrite : what.starts_with("read") ? sim::WireOp::kRead : sim::WireOp::kSend;
}

}  // namespace

void check(const RunRequest& r) {
  if (programs::find(r.program) == nullptr) {
    std::vector<std::string> names;
    for (const auto& p : programs::all()) names.emplace_back(p.name);
    throw Usage(fmt::format("no program \"{}\"{} (rnic-sim list programs)", r.program, nearest(r.program, names)));
  }
  for (unsigned side = 0; side < 2; ++side) {
    if (r.kind[side] != "model" && r.kind[side] != "rtl") {
      throw Usage(fmt::format("--{}: no backend \"{}\"{}", kSides[side], r.kind[side], nearest(r.kind[side], {"model", "rtl"})));
    }
  }
  const auto sizes = r.config.changed_sizes();
  if (!sizes.empty() && (r.kind[0] != "model" || r.kind[1] != "model")) {
    throw Usage(fmt::format("{}: sizes of the RTL are fixed when it is built; use build=default or build=minimum, or models on both sides", sizes[0]));
  }
  if (r.program == "file_copy" && r.file.empty()) throw Usage("file_copy: the file is empty or none was given (--file FILE)");
}

std::string reproduce(const RunRequest& r) {
  std::string s = fmt::format("rnic-sim run {} --client {} --server {} --seed {}{}", r.program, r.kind[0], r.kind[1], r.seed, r.config.as_options());
  if (!r.file_name.empty()) s += " --file " + r.file_name;
  return s;
}

Outcome run(const RunRequest& r) {
  check(r);
  const auto* program = programs::find(r.program);
  programs::Params params = r.config.params();
  params.file = r.file;
  Outcome out;

  sim::SimulationConfig sc;
  sc.platform = r.config.platform();
  sc.side = {r.config.platform(kClient), r.config.platform(kServer)};
  sc.seed = r.seed;
  sim::Simulation simulation(sc);
  simulation.add_host(make_device(r, kClient));
  simulation.add_host(make_device(r, kServer));
  if (!r.pcap.empty()) simulation.write_pcap(r.pcap);
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> tlp(nullptr, std::fclose);
  if (!r.tlp.empty()) {
    tlp.reset(std::fopen(r.tlp.c_str(), "w"));
    if (!tlp) throw Usage(fmt::format("--tlp {}: cannot be written", r.tlp));
    simulation.write_tlp(tlp.get());
  }

  verbs::ManagerSettings manager;
  manager.seed = r.seed;
  programs::Session sessions[2] = {programs::Session(manager, params.threads), programs::Session(manager, params.threads)};
  std::vector<programs::Report> reports[2];
  for (auto& v : reports) v.resize(params.threads);
  std::unique_ptr<Progress> progress;
  if (r.progress) {
    const uint64_t expected = r.program == "file_copy" ? (r.file.size() + params.size - 1) / std::max(params.size, 1u) : uint64_t{params.count} * params.qps * params.threads;
    progress = std::make_unique<Progress>(reports[0], expected);
    simulation.observe(0, *progress);
  }
  for (uint32_t k = 0; k < params.threads; ++k) {
    for (unsigned side : {kServer, kClient}) {
      const auto entry = side == kClient ? program->client : program->server;
      simulation.start(side, fmt::format("{}{}", kSides[side], k), [&, side, k, entry](PciDevice& dev) {
        entry({.dev = dev, .session = sessions[side], .params = params, .thread = k, .report = reports[side][k]});
      });
    }
  }

  const auto began = std::chrono::steady_clock::now();
  const sim::RunResult result = simulation.run();
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  progress.reset();

  // --- the verdict
  const programs::Report client = programs::merge(reports[0]), server = programs::merge(reports[1]);
  const auto say = [&](const std::string& line) { out.failure += line + "\n"; };
  if (!result.ok()) say(result.report);
  for (const auto& f : result.failures) say(fmt::format("{} {}", f.program, f.what));
  if (!client.error.empty()) say(fmt::format("client ({}): {}", client.stage, client.error));
  if (!server.error.empty()) say(fmt::format("server ({}): {}", server.stage, server.error));
  for (unsigned side = 0; side < 2; ++side) {
    if (const std::string f = simulation.device(side).failure(); !f.empty()) say(f);
  }
  const uint64_t mismatches = client.mismatches + server.mismatches, checks = client.checks + server.checks;
  if (mismatches != 0) say(fmt::format("{} bytes arrived wrong", mismatches));
  if (checks == 0 && out.failure.empty()) say("nothing was checked");
  if (!out.failure.empty()) {
    out.status = result.status == sim::RunStatus::kNoProgress || result.status == sim::RunStatus::kTimeLimit ? kNoProgress : kMismatch;
  }

  // --- the figures
  const Time start = client.start, end = std::max(client.end, client.start);
  const double sim_ns = static_cast<double>(end - start) / kNs;
  const double gbps = sim_ns > 0 ? static_cast<double>(client.bytes) * 8 / sim_ns : 0;
  const auto limit = sim::wire_limit(wire_op(r, params), params.size, sc.platform.link.mtu, sc.platform.link.link_gbps);
  auto& j = out.json;
  j["program"] = r.program;
  j["client"] = r.kind[0];
  j["server"] = r.kind[1];
  j["seed"] = r.seed;
  j["settings"] = nlohmann::ordered_json::object();
  for (const auto& s : r.config.all()) {
    if (s.value != s.default_value) j["settings"][s.name] = s.value;
  }
  for (const auto& s : r.config.overrides()) j["settings"][s.name] = s.value;
  j["size"] = params.size;
  j["ops"] = client.ops;
  j["bytes"] = client.bytes;
  j["checks"] = checks;
  j["sim_ns"] = sim_ns;
  j["gbps"] = gbps;
  j["msg_per_s"] = sim_ns > 0 ? static_cast<double>(client.ops) / sim_ns * 1e9 : 0;
  j["wire_limit_gbps"] = limit.payload_gbps;
  j["latency_ns"] = latency_json(client.latency);
  j["half_round_trip"] = program->half_round_trip;
  j["mismatches"] = mismatches;
  if (!r.file.empty()) {
    j["sha256_sent"] = sha256(r.file);
    j["sha256_received"] = sha256(r.program == "file_copy" && params.op == "read" ? client.file : server.file.empty() ? client.file : server.file);
    if (j["sha256_sent"] != j["sha256_received"] && out.status == kGood) {
      say("the SHA-256 of the copy is not that of the file");
      out.status = kMismatch;
    }
  }
  uint64_t rtl_cycles = 0;
  for (unsigned side = 0; side < 2; ++side) {
    if (r.kind[side] != "model") rtl_cycles += simulation.device(side).cycles();
  }
  j["rtl_cycles"] = rtl_cycles;
  j["sim_end_ns"] = static_cast<double>(result.end) / kNs;
  // Counters of each unit, read as software reads them.
  if (out.status == kGood) {
    for (unsigned side = 0; side < 2; ++side) {
      simulation.start(side, "counters", [&j, side](PciDevice& dev) {
        for (uint32_t u = 0; u < std::size(kUnits); ++u) {
          const uint32_t at = u * spec::kCountItemsStride;
          j["units"][kSides[side]][kUnits[u]] = {{"items", dev.read64(0, spec::kCountItemsOffset + at)},
                                                 {"busy", dev.read64(0, spec::kCountBusyOffset + at)},
                                                 {"stalled", dev.read64(0, spec::kCountStalledOffset + at)}};
        }
      });
    }
    if (const auto again = simulation.run(); !again.ok()) say(again.report);
  }
  j["status"] = static_cast<int>(out.status);
  j["wall_s"] = wall;
  j["kcycles_per_s"] = wall > 0 ? static_cast<double>(rtl_cycles) / 1000 / wall : 0;
  return out;
}

Outcome run_child(const RunRequest& r) {
  check(r);
  int fd[2];
  if (pipe(fd) != 0) throw Missing("no pipe can be made");
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid < 0) throw Missing("no process can be made");
  if (pid == 0) {
    close(fd[0]);
    Outcome o;
    try {
      o = run(r);
    } catch (const std::exception& e) {
      o.status = kMismatch;
      o.failure = e.what();
    }
    nlohmann::ordered_json j{{"status", static_cast<int>(o.status)}, {"failure", o.failure}, {"json", o.json}};
    const std::string text = j.dump();
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
  Outcome o;
  if (WIFSIGNALED(status) || text.empty()) {
    o.status = kMismatch;
    o.failure = WIFSIGNALED(status) ? fmt::format("the run died of signal {} ({})\n", WTERMSIG(status), strsignal(WTERMSIG(status))) : "the run ended without a result\n";
    return o;
  }
  const auto j = nlohmann::ordered_json::parse(text);
  o.status = static_cast<ExitStatus>(j["status"].get<int>());
  o.failure = j["failure"];
  o.json = j["json"];
  return o;
}

}  // namespace rnic::app

#include "run/run.hpp"

#include <fmt/format.h>
#include <openssl/sha.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>

#include "base/clock.hpp"
#include "durable_log.hpp"
#include "gen/regs.hpp"
#include "link/wire_limit.hpp"
#include "output/report.hpp"
#include "platform/root_complex.hpp"
#include "platform/simulation.hpp"
#include "platform/tlp_trace.hpp"
#include "rnic/crc32c.hpp"
#include "run/captures.hpp"
#include "run/devices.hpp"
#include "run/latency_path.hpp"
#include "run/stream_watch.hpp"
#include "run/wire_use.hpp"
#include "run/write_watch.hpp"
#include "settings/words.hpp"

namespace rnic::app {
namespace {

double kcycles(Time t, const base::Clock& clock) {
  return static_cast<double>(t) / clock.ps_per_cycle() / 1000;
}

/// Prints the progress from time to time, on a terminal. Polls the host's clock, changes nothing.
class Progress final : public sim::PcieObserver {
 public:
  Progress(std::string title, const std::vector<programs::Report>& reports,
           const base::Clock& clock)
      : title_(std::move(title)), reports_(reports), clock_(clock) {}
  /// Clears its line. The simulation still calls it, and it ignores the calls.
  void end() {
    if (width_ != 0) fmt::print(stderr, "\r{:{}}\r", "", width_);
    is_over_ = true;
  }
  void on_write(Time t, const sim::DmaWrite&, bool) override { look(t); }
  void on_completion(Time t, const sim::DmaPiece&) override { look(t); }
  void on_mmio(Time t, const sim::Mmio&) override { look(t); }

 private:
  void look(Time t) {
    if (is_over_ || ++events_ % 32 != 0) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(500)) return;
    last_ = now;
    uint64_t done = 0, of = 0;
    for (const auto& r : reports_) {
      done += r.done;
      of += r.of;
    }
    const double s = std::chrono::duration<double>(now - began_).count(),
                 share = of == 0 ? 0 : static_cast<double>(done) / static_cast<double>(of);
    const std::string left = share > 0 ? fmt::format("{:.0f} s left", s * (1 - share) / share)
                             : reports_.empty() ? ""
                                                : reports_[0].stage;
    const std::string line =
        fmt::format("{}{:3.0f} %  {:.3f} ms simulated  {:.1f} kcycle/s  {}", title_, 100 * share,
                    static_cast<double>(t) / kMs, kcycles(t, clock_) / s, left);
    width_ = std::max(width_, line.size());
    fmt::print(stderr, "\r{:{}}", line, width_);
  }

  std::string title_;
  const std::vector<programs::Report>& reports_;
  const base::Clock clock_;
  uint64_t events_ = 0;
  size_t width_ = 0;
  bool is_over_ = false;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now(), last_ = began_;
};

/// The CPU time per message of the simulating machine: the difference between two counts of
/// messages, at a quarter and at three quarters of all. Set-up and tear-down are therefore
/// excluded.
class MessageCost final : public sim::PcieObserver {
 public:
  explicit MessageCost(const std::array<std::vector<programs::Report>, 2>& reports)
      : reports_(reports) {}
  void on_write(Time, const sim::DmaWrite&, bool) override { look(); }
  void on_completion(Time, const sim::DmaPiece&) override { look(); }
  void on_mmio(Time, const sim::Mmio&) override { look(); }
  /// In us; empty for a run that is too short.
  std::optional<double> us() const {
    if (last_.messages <= first_.messages) return std::nullopt;
    return (last_.cpu_us - first_.cpu_us) / static_cast<double>(last_.messages - first_.messages);
  }

 private:
  struct Count {
    uint64_t messages = 0;
    double cpu_us = 0;
  };
  static Count now(uint64_t messages) {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return {messages, static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) / 1e3};
  }
  void look() {
    if (last_.messages != 0 || ++events_ % 16 != 0) return;
    uint64_t done = 0, of = 0;
    for (const auto& side : reports_) {
      for (const programs::Report& r : side) {
        done += r.done;
        of += r.of;
      }
    }
    if (first_.messages == 0 && 4 * done >= of && done != 0) first_ = now(done);
    if (first_.messages != 0 && 4 * done >= 3 * of) last_ = now(done);
  }

  const std::array<std::vector<programs::Report>, 2>& reports_;
  uint64_t events_ = 0;
  Count first_, last_;
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

sim::WireOp wire_op(const RunRequest& r, const programs::Params& p) {
  const std::string what = r.program == "file_copy" ? p.op : r.program;
  if (what.starts_with("atomic") || what == "lock") return sim::WireOp::kAtomic;
  return what.find("flush") != std::string::npos ? sim::WireOp::kWriteFlush
         : what.starts_with("write")             ? sim::WireOp::kWrite
         : what.starts_with("read")              ? sim::WireOp::kRead
                                                 : sim::WireOp::kSend;
}

nlohmann::ordered_json json_of(const std::vector<StreamWatch::Step>& steps) {
  nlohmann::ordered_json j = nlohmann::ordered_json::array();
  for (const auto& s : steps)
    j.push_back({{"what", s.what},
                 {"cycles", s.cycles},
                 {"since_start", s.since_start},
                 {"messages", s.messages}});
  return j;
}
nlohmann::ordered_json json_of(const std::vector<StreamWatch::Use>& streams) {
  nlohmann::ordered_json j = nlohmann::ordered_json::array();
  for (const auto& s : streams)
    j.push_back({{"name", s.name},
                 {"from", s.from},
                 {"to", s.to},
                 {"moved", s.moved},
                 {"waited", s.waited}});
  return j;
}

/// Bytes and requests by purpose, as the device declared it with each request.
nlohmann::ordered_json pcie_json(const sim::PcieCounters& c) {
  nlohmann::ordered_json j;
  for (size_t i = 0; i < sim::PcieCounters::kClients; ++i) {
    if (static_cast<sim::Client>(i) == sim::Client::kUnknown && c.reads[i] + c.writes[i] == 0)
      continue;
    j[sim::to_string(static_cast<sim::Client>(i))] = {{"reads", c.reads[i]},
                                                      {"read_bytes", c.read_bytes[i]},
                                                      {"writes", c.writes[i]},
                                                      {"write_bytes", c.write_bytes[i]}};
  }
  j["mmio"] = {{"reads", c.mmio_reads}, {"writes", c.mmio_writes}};
  j["interrupts"] = c.interrupts;
  return j;
}

/// Adds to each unit the peers that stalled its outputs: shares of the measured cycles, summed over
/// its streams.
void add_stalled_for(nlohmann::ordered_json& units, const std::vector<StreamWatch::Use>& streams) {
  for (auto& [name, unit] : units.items()) unit["stalled_for"] = nlohmann::ordered_json::object();
  for (const auto& s : streams) {
    if (s.waited == 0 || !units.contains(s.from)) continue;
    auto& share = units[s.from]["stalled_for"][s.to];
    share = (share.is_null() ? 0 : share.get<double>()) + s.waited;
  }
}

/// The rates of one direction, in its own window.
nlohmann::ordered_json rate_json(const programs::Report& r) {
  const double ns = r.end > r.start ? static_cast<double>(r.end - r.start) / kNs : 0;
  return {{"ops", r.ops},
          {"bytes", r.bytes},
          {"sim_ns", ns},
          {"gbps", ns > 0 ? static_cast<double>(r.bytes) * 8 / ns : 0},
          {"msg_per_s", ns > 0 ? static_cast<double>(r.ops) / ns * 1e9 : 0}};
}

}  // namespace

nlohmann::ordered_json settings_json(const Config& config) {
  nlohmann::ordered_json j = nlohmann::ordered_json::object();
  for (const auto& s : config.all()) {
    if (s.value != s.default_value) j[s.name] = s.value;
  }
  for (const auto& s : config.overrides()) j[s.name] = s.value;
  return j;
}

std::string limits_of(const sim::RunResult& result, const sim::RunConfig& config) {
  if (!result.is_stuck()) return "";
  const std::string limit =
      result.status == sim::RunStatus::kTimeLimit
          ? fmt::format("after time_limit_us={}", config.time_limit_us)
          : fmt::format("if nothing moves for watchdog_us={}, or after time_limit_us={}",
                        config.watchdog_us, config.time_limit_us);
  return fmt::format("a run is ended {}; if link or PCIe are that slow, --set more\n", limit);
}

/// Checks the images of persistent memory: an existing one must fit, and each must be writable.
void check_images(const RunRequest& r, Files& files) {
  for (const Side side : {kClient, kServer}) {
    const sim::HostConfig host = r.config.platform(side).host;
    const std::string name = fmt::format("{}.pmem_image", kSideNames[side]);
    if (host.pmem_image.empty()) {
      if (host.pmem_recover != 0)
        throw Usage(
            fmt::format("{}.pmem_recover=1: no file is named ({}=FILE)", kSideNames[side], name));
      continue;
    }
    const auto image = sim::read_image(host.pmem_image, host.pmem_bytes);
    const bool is_fresh = !image && image.error().code == base::Errc::kNotFound;
    if (!image && (!is_fresh || host.pmem_recover != 0))
      throw Usage(fmt::format("{}: {}", name, image.error().what));
    check_writable(name, host.pmem_image);
    files.written.push_back({name, host.pmem_image});
  }
}

void check(const RunRequest& r) {
  check_kinds(r.kind, r.config);
  const programs::Params p = r.config.params(&program_of(r.program));
  if (const auto known = programs::check(program_of(r.program), p); !known)
    throw Usage(known.error().what);
  if (r.program == "file_copy" && r.file.empty())
    throw Usage("file_copy: the file is empty or none was given (--file FILE)");
  if (r.program == "durable_log" && r.config.params().method == "all")
    throw Usage(
        fmt::format("method=all: crash alone takes it; one of {}", programs::log_method_names()));
  if (r.program != "file_copy" && !r.file_name.empty())
    throw Usage(fmt::format("{}: takes no --file (file_copy does)", r.program));
  constexpr std::array kAwaited = {"write_lat", "write_bw", "write_flush_bw", "flush_lat",
                                   "file_copy"};
  if (p.size == 0 && std::ranges::find(kAwaited, r.program) != kAwaited.end())
    throw Usage(fmt::format("{}: size 0 is nothing to wait for", r.program));
  const auto used = settings_of(program_of(r.program));
  const auto is_used = [&](std::string_view setting) {
    return std::ranges::find(used, setting) != used.end();
  };
  const uint64_t qps = uint64_t{p.threads} * (is_used("qps") ? p.qps : 1);
  for (const Side side : {kClient, kServer}) {
    const uint32_t most = r.config.sizes(side).num_qps;
    if (qps > most)
      throw Usage(
          fmt::format("{}: {} QPs are asked for (threads times qps), the {}'s device has {}",
                      r.program, qps, kSideNames[side], most));
    const spec::Sizes sizes = r.config.sizes(side);
    const uint32_t of_a_qp = std::min(sizes.max_ird, sizes.max_ord);
    if (is_used("rd_atomic") && p.rd_atomic > of_a_qp)
      throw Usage(fmt::format("{}: rd_atomic={} is too much for a QP of the {}'s device: {} is {}",
                              r.program, p.rd_atomic, kSideNames[side],
                              sizes.max_ird <= sizes.max_ord ? "max_ird" : "max_ord", of_a_qp));
    // The driver grants a QP fewer slots if fewer are free, but at least one.
    const uint32_t slots = std::min(sizes.ird_slots, sizes.ord_slots);
    if (qps > 1 && (qps - 1) * p.rd_atomic >= slots)
      throw Usage(fmt::format(
          "{}: rd_atomic={} of {} QPs (threads times qps) is too much for the {}'s device, which "
          "has {} "
          "{} slots in all; at most {}",
          r.program, p.rd_atomic, qps, kSideNames[side], slots,
          sizes.ird_slots <= sizes.ord_slots ? "IRD" : "ORD",
          slots > qps - 1 ? fmt::format("rd_atomic={}, or {} QPs", (slots - 1) / (qps - 1),
                                        (slots - 1) / p.rd_atomic + 1)
                          : fmt::format("{} QPs", (slots - 1) / p.rd_atomic + 1)));
  }
  Files files = r.files;
  if (!r.file_name.empty()) files.read.push_back({"--file", r.file_name});
  check_images(r, files);
  check_files(std::move(files), r.pcap, r.tlp, r.wave, r.kind);
}

std::string reproduce(const RunRequest& r) {
  std::string s =
      fmt::format("rnic-sim run {} --client {} --server {} --seed {}{}", r.program, r.kind[0],
                  r.kind[1], r.seed, r.config.as_options(programs::find(r.program)));
  if (!r.file_name.empty()) s += " --file " + quoted(r.file_name);
  return s;
}

Outcome run(const RunRequest& r) {
  check(r);
  const auto* program = programs::find(r.program);
  programs::Params params = r.config.params(program);
  params.file = r.file;
  Outcome out;

  sim::SimulationConfig sc;
  sc.platform = r.config.platform();
  sc.side = {r.config.platform(kClient), r.config.platform(kServer)};
  sc.seed = r.seed;
  sim::Simulation simulation(sc);
  std::array<StreamWatch, 2> streams;
  for (const Side side : {kClient, kServer})
    simulation.add_host(make_device(r.kind[side], side, r.config, r.seed, r.wave,
                                    r.streams || r.stalls ? &streams[side] : nullptr));
  std::optional<WireUse> wires;
  if (r.wires) {
    wires.emplace(std::array{sc.side[kClient]->pcie, sc.side[kServer]->pcie},
                  sc.platform.link.link_gbps);
    simulation.link().tap(wires->link());
    for (const Side side : {kClient, kServer}) simulation.observe(side, wires->pcie(side));
  }
  std::optional<LatencyPath> path;
  if (r.path) {
    path.emplace(std::array{sc.side[kClient]->pcie, sc.side[kServer]->pcie}, sc.platform.link);
    simulation.link().tap(path->link());
    for (const Side side : {kClient, kServer}) simulation.observe(side, path->pcie(side));
  }
  Captures captures(simulation, r.pcap, r.tlp);

  verbs::ManagerSettings manager;
  manager.seed = r.seed;
  std::unique_ptr<programs::Session> sessions[2];
  for (auto& s : sessions) s = std::make_unique<programs::Session>(manager, params.threads);
  std::array<std::vector<programs::Report>, 2> reports;
  for (auto& v : reports) v.resize(params.threads);
  std::unique_ptr<Progress> progress;
  if (r.progress) {
    progress = std::make_unique<Progress>(r.title, reports[0], r.config.timing(kClient).clock);
    for (const Side side : {kClient, kServer}) simulation.observe(side, *progress);
  }
  MessageCost cost(reports);
  for (const Side side : {kClient, kServer}) simulation.observe(side, cost);
  std::optional<PmemJournal> journal;
  std::optional<ResponseTimes> responses;
  if (r.crash) {
    const auto& pcie = sc.side[kClient]->pcie;
    journal.emplace(simulation.memory(kServer).pmem());
    // A posted write is visible after 3/8 of the round trip of a read: a quarter and an eighth.
    responses.emplace(simulation.link(), pcie.pcie_latency_ns * kNs * 3 / 8);
    simulation.link().tap(*responses);
  }
  std::optional<WriteWatch> watch;
  if (r.watch) simulation.observe(r.watch->side, watch.emplace(r.watch->bus));
  for (uint32_t k = 0; k < params.threads; ++k) {
    for (unsigned side : {kServer, kClient}) {
      const auto entry = side == kClient ? program->client : program->server;
      simulation.start(side, fmt::format("{}{}", kSideNames[side], k),
                       [&, side, k, entry](PciDevice& dev) {
                         entry({.dev = dev,
                                .session = *sessions[side],
                                .params = params,
                                .thread = k,
                                .report = reports[side][k]});
                       });
    }
  }

  const auto began = std::chrono::steady_clock::now();
  const sim::RunResult result = simulation.run();
  const double wall =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (progress) progress->end();
  // The driver of a program that did not end is not closed: closing it takes simulated time.
  std::optional<Time> power_failed_at;
  for (const Side side : {kClient, kServer}) {
    const auto at = simulation.power_failed(side);
    if (!result.ok() || at) static_cast<void>(sessions[side].release());
    if (at) out.json["power_failed_ns"][kSideNames[side]] = *at / kNs;
    if (!at && sc.side[side]->host.power_fail_ns != 0)
      out.json["power_held_ns"][kSideNames[side]] = result.end / kNs;
    if (at) power_failed_at = std::min(*at, power_failed_at.value_or(*at));
    if (const auto saved = simulation.save_pmem(side); !saved) throw Missing(saved.error().what);
  }
  if (result.ok()) (void)rest_in_tandem(simulation);  // failure() reports what is left over

  // --- the verdict
  std::array<programs::Report, 2> merged = {programs::merge(reports[0]),
                                            programs::merge(reports[1])};
  // After a power failure programs stop, and their peers report errors. These are no failures of
  // the run.
  for (const Side side : {kClient, kServer}) {
    if (!power_failed_at || merged[side].failed_at < *power_failed_at) continue;
    if (merged[side].error.empty()) continue;
    out.json["after_power_failure"][kSideNames[side]] = merged[side].error;
    merged[side].error.clear();
    merged[side].failed_at = 0;
  }
  const programs::Report &client = merged[kClient], &server = merged[kServer];
  const bool is_left = power_failed_at && result.is_stuck();  // stuck with a silent peer
  const auto say = [&](const std::string& line) { out.failure += line + "\n"; };
  if (!result.ok() && !is_left) {
    say(result.report);
    out.failure += limits_of(result, sc.platform.run);
  }
  for (const auto& f : result.failures) say(fmt::format("{} {}", f.program, f.what));
  if (!client.error.empty()) say(fmt::format("client ({}): {}", client.stage, client.error));
  if (!server.error.empty()) say(fmt::format("server ({}): {}", server.stage, server.error));
  const std::string_view timed_out = base::to_string(base::Errc::kTimedOut);
  const bool is_clients =
      client.failed_at != 0 && (server.failed_at == 0 || client.failed_at <= server.failed_at);
  const programs::Report& first = is_clients ? client : server;  // the side that failed first
  const bool gave_up = first.error.starts_with(timed_out);
  if (gave_up)
    say(
        fmt::format("a side gives up after timeout_us={} without progress; if its messages take "
                    "longer than that, --set timeout_us=N",
                    params.timeout_us));
  const std::string no_peer = fmt::format(": {}", spec::to_string(spec::ConnState::kFailed));
  if (client.error.ends_with(no_peer) || server.error.ends_with(no_peer))
    say(
        fmt::format("the LLP gives up a peer that does not answer for llp_timeout_us={}; if the "
                    "link is that slow, --set llp_timeout_us=N",
                    sc.platform.link.llp_timeout_us));
  bool device_differs = false;
  for (unsigned side = 0; side < 2; ++side) {
    const std::string f = simulation.device(side).failure();
    if (!f.empty()) say(f);
    device_differs = device_differs || !f.empty();
  }
  const uint64_t mismatches = client.mismatches + server.mismatches,
                 checks = client.checks + server.checks;
  if (mismatches != 0) say(fmt::format("{} bytes arrived wrong", mismatches));
  // If anything has failed, only programs have.
  const bool only_programs = mismatches == 0 && !device_differs && result.failures.empty();
  if (only_programs && first.stage == "open" &&
      first.error.starts_with(base::to_string(base::Errc::kNoMemory))) {
    const Side side = is_clients ? kClient : kServer;
    throw Usage(
        fmt::format("{}: the {} has no room for what the settings ask for; ask for less, or more "
                    "than arena_mib={} of host memory ({})",
                    r.program, kSideNames[side], sc.side[side]->host.arena_mib, first.error));
  }
  if (only_programs && first.stage == "connect" &&
      first.error.starts_with(base::to_string(base::Errc::kNoMemory))) {
    throw Usage(fmt::format(
        "{}: the {}'s device cannot connect all QPs; ask for fewer (threads times qps), or for "
        "less "
        "than rd_atomic={} ({})",
        r.program, kSideNames[is_clients ? kClient : kServer], params.rd_atomic, first.error));
  }
  // The settings forbid what the server opens: the image of an earlier run does not fit this run,
  // or the domain lacks the right. Other errors of "open" are failures of the run.
  constexpr std::array kForbidden = {base::Errc::kBadState, base::Errc::kInvalidArgument,
                                     base::Errc::kNotSupported};
  if (only_programs && !power_failed_at && server.stage == "open" &&
      std::ranges::any_of(
          kForbidden, [&](base::Errc e) { return server.error.starts_with(base::to_string(e)); }))
    throw Usage(
        fmt::format("{}: the server cannot open what it needs: {}", r.program, server.error));
  if (checks == 0 && out.failure.empty() && !power_failed_at) say("nothing was checked");
  if (!out.failure.empty()) {
    out.status = result.is_stuck() || (gave_up && only_programs) ? kNoProgress : kMismatch;
  }

  if (!out.failure.empty()) {
    const Time at = first.failed_at != 0 ? first.failed_at : result.end;
    out.json["failed_at_ns"] = at / kNs;
    if (first.wrong_bus != 0)
      out.json["wrong"] = {{"side", is_clients ? kClient : kServer}, {"bus", first.wrong_bus}};
    if (watch) out.json["written_at_ns"] = watch->last_before(at) / kNs;
  }

  auto& j = out.json;
  if (r.program == "durable_log") {
    std::vector<programs::Ack> acks = client.acks;
    if (const auto at = simulation.power_failed(kClient))  // threads may be ahead of it
      std::erase_if(acks, [&](const programs::Ack& a) { return a.at > *at; });
    const sim::PmemImage image = simulation.memory(kServer).pmem().image();
    const LogVerdict v = judge_log(acks, image);
    j["log"] = {{"method", params.method},
                {"domain", sc.side[kServer]->host.domain},
                {"acknowledged", v.acknowledged},
                {"recovered", v.recovered},
                {"lost", v.lost},
                {"damaged", v.damaged},
                {"image_crc32c", crc32c(sim::pack_image(image))}};
    // Without a power failure, this is the state that a failure at the end would leave.
    const bool keeps_nothing = sc.side[kServer]->host.domain == "none";
    if (v.lost != 0 && (keeps_nothing || simulation.power_failed(kServer))) {
      say(fmt::format("{} of {} acknowledged records are lost{}", v.lost, v.acknowledged,
                      keeps_nothing ? "; domain=none keeps nothing" : ""));
      out.status = std::max(out.status, kMismatch);
    }
    if (v.damaged != 0) {
      say(fmt::format("{} logs have a tail pointer that names bytes that are no whole records",
                      v.damaged));
      out.status = std::max(out.status, kMismatch);
    }
    if (journal) {
      const bool waits =
          std::ranges::find(programs::log_methods(), params.method, &programs::LogMethodRow::name)
              ->waits;
      j["crash"] = crash_json(*journal, waits ? &*responses : nullptr, acks, *r.crash, r.seed);
    }
  }

  // --- the figures
  const Time start = client.start, end = std::max(client.end, client.start);
  const double sim_ns = static_cast<double>(end - start) / kNs;
  const double gbps = sim_ns > 0 ? static_cast<double>(client.bytes) * 8 / sim_ns : 0;
  const auto limit = sim::wire_limit(wire_op(r, params), params.size, sc.platform.link.mtu,
                                     sc.platform.link.link_gbps);
  j["program"] = r.program;
  j["client"] = r.kind[0];
  j["server"] = r.kind[1];
  j["seed"] = r.seed;
  j["settings"] = settings_json(r.config);
  j["size"] = params.size;
  j["ops"] = client.ops;
  j["bytes"] = client.bytes;
  j["checks"] = checks;
  j["sim_ns"] = sim_ns;
  j["gbps"] = gbps;
  j["msg_per_s"] = sim_ns > 0 ? static_cast<double>(client.ops) / sim_ns * 1e9 : 0;
  if (server.ops != 0) j["back"] = rate_json(server);  // both=1: the other direction
  if (client.latency.empty()) j["window"] = client.is_whole ? "whole" : "steady";
  if (client.latency.empty() && !client.is_whole) {
    const auto fairness = [](const programs::Report& side) {
      return nlohmann::ordered_json{
          {"longest_gap_ns", side.longest_gap / kNs}, {"least", side.least}, {"most", side.most}};
    };
    if (server.most != 0) j["arrivals"]["server"] = fairness(server);
    if (client.most != 0) j["arrivals"]["client"] = fairness(client);
  }
  j["wire_limit_gbps"] = limit.payload_gbps;
  j["latency_ns"] = latency_json(client.latency);
  j["half_round_trip"] = program->half_round_trip;
  j["mismatches"] = mismatches;
  if (!r.file.empty()) {
    j["sha256_sent"] = sha256(r.file);
    j["sha256_received"] = sha256(r.program == "file_copy" && params.op == "read" ? client.file
                                  : server.file.empty()                           ? client.file
                                                                                  : server.file);
    if (j["sha256_sent"] != j["sha256_received"] && out.status == kGood) {
      say("the SHA-256 of the copy is not that of the file");
      out.status = kMismatch;
    }
  }
  if (path) {
    std::vector<LatencyPath::Sample> samples;
    for (size_t i = 0; i < client.began.size(); ++i) {
      const Time whole = client.latency[i] * (program->half_round_trip ? 2 : 1);
      samples.push_back({client.began[i], client.began[i] + whole});
    }
    j["path"] = path->json(samples, program->half_round_trip ? 2 : 1);
  }
  if (wires) j["wires"] = wires->share(start, end);
  for (const Side side : {kClient, kServer}) {
    if (!r.streams || !has_rtl(r.kind[side])) continue;
    j["streams"][kSideNames[side]] = json_of(streams[side].use(start, end));
    j["stages"][kSideNames[side]] = {
        {"push_to_wire", json_of(streams[side].send_path(start, end))},
        {"wire_to_host", json_of(streams[side].receive_path(start, end))}};
    if (const auto atomic = streams[side].atomic_path(start, end); atomic.size() > 1)
      j["stages"][kSideNames[side]]["atomic"] = json_of(atomic);
  }
  uint64_t rtl_cycles = 0;
  for (unsigned side = 0; side < 2; ++side) {
    if (has_rtl(r.kind[side])) rtl_cycles += simulation.device(side).cycles();
  }
  j["rtl_cycles"] = rtl_cycles;
  if (auto tandem = tandem_json(simulation); !tandem.is_null()) j["tandem"] = std::move(tandem);
  j["sim_end_ns"] = static_cast<double>(result.end) / kNs;
  for (const Side side : {kClient, kServer})
    j["pcie"][kSideNames[side]] = pcie_json(simulation.root_complex(side).counters());
  // Read the counters of each unit as software does.
  if (out.status == kGood && !power_failed_at) {
    for (unsigned side = 0; side < 2; ++side) {
      simulation.start(side, "counters", [&j, side](PciDevice& dev) {
        for (uint32_t u = 0; u < kUnits.size(); ++u) {
          const uint32_t at = u * spec::kCountItemsStride;
          j["units"][kSideNames[side]][kUnits[u]] = {
              {"items", dev.read64(0, spec::kCountItemsOffset + at)},
              {"busy", dev.read64(0, spec::kCountBusyOffset + at)},
              {"stalled", dev.read64(0, spec::kCountStalledOffset + at)}};
        }
      });
    }
    if (const auto again = simulation.run(); !again.ok()) {
      say(again.report);
      out.status = kNoProgress;
    }
    for (const Side side : {kClient, kServer}) {
      if ((r.streams || r.stalls) && has_rtl(r.kind[side]))
        add_stalled_for(j["units"][kSideNames[side]], streams[side].use(start, end));
    }
  }
  captures.finish(out);
  j["status"] = static_cast<int>(out.status);
  j["wall_s"] = wall;
  if (const auto us = cost.us()) j["cpu_us_per_message"] = *us;
  j["kcycles_per_s"] = wall > 0 ? kcycles(result.end, r.config.timing(kClient).clock) / wall
                                : 0;  // of the client's clock, both devices stepped
  return out;
}

}  // namespace rnic::app

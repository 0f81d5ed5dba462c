#include "commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "child.hpp"
#include "failure_wave.hpp"
#include "report.hpp"

namespace rnic::app {
namespace {

constexpr std::array<std::array<const char*, 2>, 4> kPairings = {{{"rtl", "rtl"}, {"model", "model"}, {"model", "rtl"}, {"rtl", "model"}}};
constexpr const char* kFileOfEverySystem = "/bin/bash";
constexpr const char* kPiece = "65536";

std::string percent(double of, double to) { return to == 0 ? "-" : fmt::format("{:.1f} %", (of / to - 1) * 100); }

/// Runs, each in a child process, and what is said and written of them.
class Batch {
 public:
  Batch(const Options& o, std::string name) : options_(o), name_(std::move(name)), is_shown_(!o.quiet && isatty(STDERR_FILENO) != 0) {}

  std::vector<Outcome> run(const std::vector<RunRequest>& requests) {
    std::vector<Outcome> outs;
    for (const RunRequest& r : requests) check(r);
    show(0, requests.size());
    in_children(
        requests.size(), options_.jobs, [&](size_t i) { return app::run(requests[i]); },
        [&](size_t i, Outcome out) {
          take(requests[i], out);
          outs.push_back(std::move(out));
          show(outs.size(), requests.size());
          return true;
        });
    return outs;
  }

  /// Files of the results. Returns the exit status.
  int finish() const {
    if (!options_.json.empty()) write_file(options_.json, (runs_.size() == 1 ? runs_[0] : nlohmann::ordered_json(runs_)).dump(2) + "\n");
    if (!options_.csv.empty()) write_file(options_.csv, csv(runs_));
    if (!options_.junit.empty()) write_file(options_.junit, junit("rnic-sim " + name_, cases_));
    std::fflush(stdout);
    if (!complaints_.empty()) fmt::print(stderr, "{}", complaints_);
    return worst_;
  }

 private:
  void show(size_t done, size_t of) const {
    if (!is_shown_ || of < 2) return;
    if (done == of) {
      fmt::print(stderr, "\r{:40}\r", "");
    } else {
      fmt::print(stderr, "\r{}: {} of {} runs   ", name_, done, of);
    }
  }
  void take(const RunRequest& r, const Outcome& out) {
    cases_.push_back({fmt::format("{} {}-{} seed {}{}", r.program, r.kind[0], r.kind[1], r.seed, r.config.as_options()), out.wall_s, out.failure});
    if (out.json.contains("bytes")) runs_.push_back(out.json);
    if (out.status == kGood) return;
    const std::string wave = complaints_.empty() ? failure_wave(r, out) : "";  // one is enough to begin with
    complaints_ += fmt::format("{}{}reproduce: {}\n", out.failure, wave, reproduce(r));
    worst_ = std::max<int>(worst_, out.status);
  }

  const Options& options_;
  std::string name_;
  bool is_shown_;
  std::vector<nlohmann::ordered_json> runs_;
  std::vector<TestCase> cases_;
  std::string complaints_;
  int worst_ = kGood;
};

/// One path a run: "wire.pcap" of the pairing rtl-model is "wire.rtl-model.pcap".
std::string path_of(const std::string& path, const std::string& which, const std::string& extension) {
  if (path.empty() || path == "none") return path;
  const size_t window = path.find('@');
  const std::string file = path.substr(0, window), rest = window == std::string::npos ? "" : path.substr(window);
  const bool has = file.ends_with(extension);
  return fmt::format("{}.{}{}{}", has ? file.substr(0, file.size() - extension.size()) : file, which, extension, rest);
}

/// The request with these devices, `what` in the names of its files.
void add_pair(std::vector<RunRequest>& to, const RunRequest& request, const std::string& what, const std::array<std::string, 2>& kind) {
  RunRequest& r = to.emplace_back(request);
  r.kind = kind;
  const std::string which = fmt::format("{}.{}-{}", what, kind[0], kind[1]);
  r.pcap = path_of(request.pcap, which, ".pcap");
  r.tlp = path_of(request.tlp, which, ".txt");
  r.wave = path_of(request.wave, which, ".fst");
}
void add_pairings(std::vector<RunRequest>& to, const RunRequest& request, const std::string& what) {
  for (const auto& pair : kPairings) add_pair(to, request, what, {pair[0], pair[1]});
}

std::string pairing_of(const nlohmann::ordered_json& j) { return fmt::format("{}-{}", j["client"].get<std::string>(), j["server"].get<std::string>()); }

}  // namespace

int list_command(const Options& o) {
  const std::string what = o.words.empty() ? "" : o.words[0];
  if (what != "" && what != "programs" && what != "settings" && what != "presets") {
    throw Usage(fmt::format("list: no list \"{}\"{}", what, nearest(what, {"programs", "settings", "presets"})));
  }
  if (what == "" || what == "programs") {
    fmt::print("programs:\n");
    for (const auto& p : programs::all()) fmt::print("  {:<12} {}\n", p.name, p.sentence);
  }
  if (what == "" || what == "presets") {
    fmt::print("presets:\n");
    for (const auto& p : sim::platform_presets()) fmt::print("  {:<12} {}\n", p.name, p.doc);
  }
  if (what == "" || what == "settings") {
    std::string group;
    for (const auto& s : o.request.config.all()) {
      if (s.group != group) fmt::print("settings of the {}:\n", group = s.group);
      fmt::print("  {:<24} {:>12} {:<12} {}\n", s.name, s.default_value, s.unit, s.doc);
    }
  }
  return kGood;
}

int explain_command(const Options& o) {
  if (o.words.size() != 1) throw Usage("explain: say one setting (rnic-sim list settings)");
  const Setting& s = o.request.config.find(o.words[0]);
  fmt::print("{}: {}\ndefault {} {}\nnow     {} {} ({})\nset it with --set {}=VALUE{}\n", s.name, s.doc, s.default_value, s.unit, s.value, s.unit,
             s.source, s.name, s.group == "program" ? "" : ", or one side's with --set client." + s.name + "=VALUE, server." + s.name + "=VALUE");
  return kGood;
}

int run_command(Options& o) {
  if (o.words.size() != 1) throw Usage("run: say one program (rnic-sim list programs)");
  o.request.program = o.words[0];
  o.request.progress = !o.quiet && isatty(STDERR_FILENO) != 0;
  Batch batch(o, "run");
  const Outcome out = batch.run({o.request}).front();
  if (!o.quiet && out.json.contains("bytes")) std::fputs(text_of(out.json).c_str(), stdout);
  if (o.request.streams && out.json.contains("bytes")) std::fputs(stages_of(out.json).c_str(), stdout);
  if (o.verbose) fmt::print("{}\n", out.json.dump(2));
  return batch.finish();
}

int compare_command(Options& o) {
  std::vector<std::string> names = o.words;
  if (names.empty()) names = {"write_lat", "write_bw", "read_lat", "read_bw", "send_lat", "send_bw"};
  std::vector<RunRequest> requests;
  for (const std::string& name : names) {
    o.request.program = name;
    add_pairings(requests, o.request, name);
  }
  Batch batch(o, "compare");
  std::vector<std::vector<std::string>> rows{{"program", "size", "pairing", "Gb/s", "Mmsg/s", "latency us", "mismatches", "error Gb/s", "error latency", "wall s"}};
  double gbps = 0, latency = 0;  // of RTL with RTL
  const std::vector<Outcome> outs = batch.run(requests);
  for (size_t i = 0; i < outs.size(); ++i) {
    const bool is_rtl = i % kPairings.size() == 0;
    if (is_rtl) gbps = latency = 0;
    const auto& j = outs[i].json;
    if (outs[i].status != kGood) continue;
    if (is_rtl) {
      gbps = j["gbps"];
      latency = median_latency(j);
    }
    const double median = median_latency(j);
    rows.push_back({j["program"], fmt::format("{}", j["size"].get<uint64_t>()), pairing_of(j), fmt::format("{:.2f}", j["gbps"].get<double>()),
                    fmt::format("{:.3f}", j["msg_per_s"].get<double>() / 1e6), median == 0 ? "-" : fmt::format("{:.3f}", median / 1000),
                    fmt::format("{}", j["mismatches"].get<uint64_t>()), percent(j["gbps"], gbps), median == 0 ? "-" : percent(median, latency),
                    fmt::format("{:.2f}", j["wall_s"].get<double>())});
  }
  if (!o.quiet) std::fputs(table(rows).c_str(), stdout);
  return batch.finish();
}

int copy_command(Options& o) {
  if (!o.words.empty()) throw Usage(fmt::format("copy: \"{}\"; the file is said with --file FILE", o.words[0]));
  if (o.request.file_name.empty()) {
    o.request.file_name = kFileOfEverySystem;
    o.request.file = read_file(kFileOfEverySystem);
  }
  if (o.request.file.empty()) throw Usage(fmt::format("copy: {} is empty", o.request.file_name));
  if (o.request.config.find("size").source == "default") o.request.config.set("size", kPiece, "copy");
  constexpr std::array kOps = {"send", "write", "read"};
  // For each operation: the file on every pairing and in tandem, then one piece alone on every pairing, for its latency.
  constexpr size_t kCopies = kPairings.size() + 1, kRuns = kCopies + kPairings.size();
  std::vector<RunRequest> requests;
  for (const char* op : kOps) {
    RunRequest copy = o.request;
    copy.program = "file_copy";
    copy.config.set("op", op, "copy");
    add_pairings(requests, copy, op);
    add_pair(requests, copy, op, {"tandem", "tandem"});
    RunRequest piece = o.request;
    piece.program = fmt::format("{}_lat", op);
    piece.config.set("count", "8", "copy");
    piece.config.set("warmup", "2", "copy");
    piece.file.clear();
    piece.file_name.clear();
    piece.pcap = piece.tlp = "";
    add_pairings(requests, piece, op);
  }
  if (!o.quiet) {
    fmt::print(stderr,
               "{}: {} bytes in pieces of {}, by Send, RDMA Write and RDMA Read on {} pairings of devices and in tandem (RTL followed by the model); "
               "then the latency of a piece\n",
               o.request.file_name, o.request.file.size(), o.request.config.find("size").value, kPairings.size());
  }
  Batch batch(o, "copy");
  std::vector<std::vector<std::string>> rows{
      {"operation", "bytes", "pairing", "latency us", "error", "Gb/s", "error", "of wire limit", "mismatches", "kcycle/s", "wall s"}};
  std::string sha, tandem;
  const std::vector<Outcome> outs = batch.run(requests);
  for (size_t op = 0; op < kOps.size(); ++op) {
    const Outcome* of = &outs[op * kRuns];
    const auto gbps = [&](size_t i) { return of[i].status == kGood ? of[i].json["gbps"].get<double>() : 0; };
    const auto latency = [&](size_t i) { return i < kPairings.size() && of[kCopies + i].status == kGood ? median_latency(of[kCopies + i].json) : 0; };
    for (size_t i = 0; i < kCopies; ++i) {
      if (of[i].status != kGood) continue;
      const auto& j = of[i].json;
      sha = j["sha256_received"];
      if (j.contains("tandem")) tandem += fmt::format("{}: {}", kOps[op], tandem_text(j["tandem"]));
      rows.push_back({kOps[op], fmt::format("{}", j["bytes"].get<uint64_t>()), pairing_of(j), latency(i) == 0 ? "-" : fmt::format("{:.3f}", latency(i) / 1000),
                      latency(i) == 0 ? "-" : percent(latency(i), latency(0)), fmt::format("{:.2f}", gbps(i)), percent(gbps(i), gbps(0)),
                      fmt::format("{:.1f} %", 100 * gbps(i) / j["wire_limit_gbps"].get<double>()), fmt::format("{}", j["mismatches"].get<uint64_t>()),
                      fmt::format("{:.0f}", j["kcycles_per_s"].get<double>()), fmt::format("{:.2f}", j["wall_s"].get<double>())});
    }
  }
  if (!o.quiet) {
    if (!sha.empty()) fmt::print("SHA-256 of the file and of every copy: {}\n", sha);
    fmt::print("Latency: of a piece alone (Send and Write half the round trip). Error: against RTL with RTL. kcycle/s: device cycles simulated a second.\n");
    std::fputs(table(rows).c_str(), stdout);
    std::fputs(tandem.c_str(), stdout);
  }
  return batch.finish();
}

}  // namespace rnic::app

// The commands list, explain, run, compare and copy. See commands.hpp.
#include "commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "output/files.hpp"
#include "output/report.hpp"
#include "run/child.hpp"
#include "run/devices.hpp"
#include "run/explain.hpp"
#include "run/failure_wave.hpp"
#include "settings/read_file.hpp"
#include "settings/words.hpp"

namespace rnic::app {
namespace {

using Pairing = std::array<const char*, 2>;
// RTL with RTL is first: compare and copy show the error of the others against it.
constexpr std::array<Pairing, 4> kPairings = {
    {{"rtl", "rtl"}, {"model", "model"}, {"model", "rtl"}, {"rtl", "model"}}};
constexpr std::array<Pairing, 1> kPairingsOfModels = {{{"model", "model"}}};
constexpr const char* kFileOfEverySystem = "/bin/bash";  // copied without --file
constexpr const char* kPiece = "65536";                  // bytes of a message of copy

/// By how many per cent `of` is above `to`; "-" if `to` is 0, that is, was not measured.
std::string percent(double of, double to) {
  return to == 0 ? "-" : fmt::format("{:.1f} %", (of / to - 1) * 100);
}

/// Executes runs, each in a child process, and prints and writes their results.
class Batch {
 public:
  /// What the batch prints to stderr if that is not a terminal.
  enum class InPipe { kQuiet, kLineOfEachRun };
  Batch(const Options& o, std::string name, InPipe in_pipe = InPipe::kQuiet)
      : options_(o),
        name_(std::move(name)),
        is_terminal_(isatty(STDERR_FILENO) != 0),
        is_shown_(!o.quiet && (is_terminal_ || in_pipe == InPipe::kLineOfEachRun)) {}

  std::vector<Outcome> run(std::vector<RunRequest> requests) {
    std::vector<Outcome> outs;
    for (size_t i = 0; i < requests.size(); ++i) {
      RunRequest& r = requests[i];
      check(r);
      r.stalls = !options_.json.empty();
      r.path = r.cdf = !options_.json.empty() && is_latency(r);
      // With several jobs, no run can use the progress line.
      r.progress = is_shown_ && is_terminal_ && options_.jobs == 1;
      if (requests.size() > 1)
        r.title = fmt::format("{}: {} of {}, {}: ", name_, i + 1, requests.size(), title_of(r));
    }
    show(0, requests.size());
    try {
      in_children(
          requests.size(), options_.jobs, [&](size_t i) { return app::run(requests[i]); },
          [&](size_t i, Outcome out) {
            taken_.insert(i);
            take(requests[i], out);
            outs.push_back(std::move(out));
            show(outs.size(), requests.size());
            if (is_shown_ && !is_terminal_) tell(i + 1, requests.size(), requests[i], outs.back());
            return true;
          });
    } catch (const Interrupted& i) {
      end_interrupted(requests, i);
    } catch (const std::runtime_error& e) {
      end_with(e.what());
      throw;
    }
    return outs;
  }

  /// Writes the result files. Returns the exit status.
  int finish() const {
    const std::string lost = write_files(worst_, [&] {
      if (!options_.json.empty())
        write_file(options_.json,
                   (runs_.size() == 1 ? runs_[0] : nlohmann::ordered_json(runs_)).dump(2) + "\n");
      if (!options_.csv.empty()) write_file(options_.csv, csv(runs_));
      if (!options_.junit.empty()) write_file(options_.junit, junit("rnic-sim " + name_, cases_));
    });
    std::fflush(stdout);
    std::fputs((lost + complaints_).c_str(), stderr);
    return worst_;
  }

 private:
  /// Ends a batch that cannot continue; earlier failures are still reported.
  void end_with(const std::string& why) {
    if (worst_ == kGood) return;
    complaints_ = why + "\n" + complaints_;
    throw Ended{finish()};
  }
  /// Writes all finished runs, and marks the others as incomplete.
  [[noreturn]] void end_interrupted(const std::vector<RunRequest>& requests, const Interrupted& i) {
    if (cases_.empty()) throw i;
    complaints_ += fmt::format("interrupted after {} of {} runs\n", cases_.size(), requests.size());
    for (size_t k = 0; k < requests.size(); ++k) {
      const RunRequest& r = requests[k];
      if (taken_.contains(k)) continue;
      runs_.push_back(without_result(r, i.status()));
      cases_.push_back({name_of(r), 0, "interrupted before its end\n"});
    }
    worst_ = i.status();
    finish();
    throw i;
  }
  /// The known facts of a run that did not finish.
  static nlohmann::ordered_json without_result(const RunRequest& r, int status) {
    return {
        {"program", r.program}, {"client", r.kind[kClient]},           {"server", r.kind[kServer]},
        {"seed", r.seed},       {"settings", settings_json(r.config)}, {"incomplete", true},
        {"status", status}};
  }
  /// Overwrites the progress line of a batch on a terminal; erases it after the last run.
  void show(size_t done, size_t of) const {
    if (!is_shown_ || !is_terminal_ || of < 2) return;
    if (done == of) {
      fmt::print(stderr, "\r{:40}\r", "");
    } else {
      fmt::print(stderr, "\r{}: {} of {} runs   ", name_, done, of);
    }
  }
  /// A line for a finished run, where stderr is not a terminal.
  void tell(size_t number, size_t of, const RunRequest& r, const Outcome& out) const {
    fmt::print(stderr, "{}: {} of {}, {}: {}, {:.1f} s\n", name_, number, of, title_of(r),
               out.status == kGood ? "good" : "FAILED", out.wall_s);
  }
  static std::string title_of(const RunRequest& r) {
    return fmt::format("{}{} {}-{}", r.program,
                       r.program == "file_copy" ? " by " + r.config.find("op").value : "",
                       r.kind[0], r.kind[1]);
  }
  static std::string name_of(const RunRequest& r) {
    return fmt::format("{} {}-{} seed {}{}", r.program, r.kind[0], r.kind[1], r.seed,
                       r.config.as_options(programs::find(r.program)));
  }
  /// Records a finished run, and warns of files that are not what the user asked for.
  void take(const RunRequest& r, const Outcome& out) {
    cases_.push_back({name_of(r), out.wall_s, out.failure});
    runs_.push_back(out.json.contains("bytes") ? out.json : without_result(r, out.status));
    const sim::WaveWindow wave_asked = wave_window(r.wave);
    if (!wave_asked.file.empty() && out.json.contains("sim_end_ns") &&
        out.json["sim_end_ns"].get<double>() * 1000 < static_cast<double>(wave_asked.from_ps))
      fmt::print(stderr, "--wave {}: not written, the run ended before, at {:.0f} ns\n", r.wave,
                 out.json["sim_end_ns"].get<double>());
    if (const auto t = out.json.find("timeline");
        t != out.json.end() && t->contains("lost_from_ns"))
      fmt::print(stderr,
                 "--timeline {}: ends at {} ns, after {} events; choose a window (FILE@FROM..TO)\n",
                 r.timeline, (*t)["lost_from_ns"].get<uint64_t>(), (*t)["events"].get<uint64_t>());
    for (const Side side : {kClient, kServer}) {
      if (!wave_asked.file.empty() && has_rtl(r.kind[side]) && out.status == kGood)
        check_room("--wave", wave_file(r.wave, side));  // a full disk cuts the waveform short
    }
    if (out.status == kGood) return;
    const std::string wave =
        complaints_.empty() ? failure_wave(r, out) : "";  // only for the first failure
    complaints_ += fmt::format("{}{}reproduce: {}\n", out.failure, wave, reproduce(r));
    worst_ = std::max<int>(worst_, out.status);
  }

  const Options& options_;
  std::string name_;
  bool is_terminal_, is_shown_;
  std::set<size_t> taken_;  // indices of finished runs
  std::vector<nlohmann::ordered_json> runs_;
  std::vector<TestCase> cases_;
  std::string complaints_;  // about all failed runs; finish() prints them
  int worst_ = kGood;       // the highest exit status so far
};

/// Adds the request with these devices; `what` is inserted into its file names.
void add_pair(std::vector<RunRequest>& to, const RunRequest& request, const std::string& what,
              const std::array<std::string, 2>& kind) {
  RunRequest& r = to.emplace_back(request);
  r.kind = kind;
  const std::string which = fmt::format("{}.{}-{}", what, kind[0], kind[1]);
  r.pcap = path_of(request.pcap, which, ".pcap");
  r.tlp = path_of(request.tlp, which, ".txt");
  r.wave =
      has_rtl(kind[kClient]) || has_rtl(kind[kServer]) ? path_of(request.wave, which, ".fst") : "";
}
/// Adds the request once for each pairing.
void add_pairings(std::vector<RunRequest>& to, const RunRequest& request, const std::string& what,
                  std::span<const Pairing> pairings = kPairings) {
  for (const auto& pair : pairings) add_pair(to, request, what, {pair[0], pair[1]});
}

std::string pairing_of(const nlohmann::ordered_json& j) {
  return fmt::format("{}-{}", j["client"].get<std::string>(), j["server"].get<std::string>());
}

}  // namespace

int list_command(const Options& o) {
  if (o.words.size() > 1)
    throw Usage("list: say one of programs, settings, presets, builds, or nothing");
  const std::string what = o.words.empty() ? "" : o.words[0];
  if (what != "" && what != "programs" && what != "settings" && what != "presets" &&
      what != "builds") {
    throw Usage(fmt::format("list: no list \"{}\"{}", what,
                            nearest(what, {"programs", "settings", "presets", "builds"})));
  }
  if (what == "" || what == "programs") {
    fmt::print("programs:\n");
    for (const auto& p : programs::all()) fmt::print("  {:<16} {}\n", p.name, p.sentence);
  }
  if (what == "" || what == "presets") {
    fmt::print("presets:\n");
    for (const auto& p : sim::platform_presets()) fmt::print("  {:<12} {}\n", p.name, p.doc);
  }
  if (what == "" || what == "builds") {
    fmt::print("builds of the device:\n");
    for (const auto& b : sim::rtl_builds()) fmt::print("  {:<12} {}\n", b.name, b.doc);
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

namespace {

/// Prints a program with its settings. A program with `bytes` has messages of that size, and no
/// setting `size`.
int explain_program(const programs::Program& p) {
  fmt::print("{}: {}\n", p.name, p.sentence);
  if (p.bytes != 0) fmt::print("messages of {} bytes\n", p.bytes);
  fmt::print("settings, each with its default in this program:\n");
  for (const auto& row : p.settings)
    fmt::print("  {:<12} {:<10} {} ({})\n", row.name, row.default_value, row.sentence, row.unit);
  fmt::print(
      "and those of the platform and the devices (rnic-sim list settings)\n"
      "run it with rnic-sim run {} --set NAME=VALUE ...\n",
      p.name);
  return kGood;
}

}  // namespace

int explain_command(const Options& o) {
  if (o.words.size() != 1)
    throw Usage("explain: say one setting or program (rnic-sim list settings, list programs)");
  const Config& config = o.request.config;
  const std::string& word = o.words[0];
  if (const auto* program = programs::find(word)) return explain_program(*program);
  const bool is_of_side = word.starts_with("client.") || word.starts_with("server.");
  const Setting& s = config.find(is_of_side ? word.substr(word.find('.') + 1) : word);
  if (is_of_side && !is_one_sides(s))
    throw Usage(fmt::format("{}: this setting is not one side's, it is {}", word, s.name));
  fmt::print("{}: {}\ndefault {} {}\n", s.name, s.doc, s.default_value, s.unit);
  for (const auto& p : programs::all())
    for (const auto& row : p.settings)
      if (row.name == s.name && row.default_value != s.default_value)
        fmt::print("default {} in {}\n", row.default_value, p.name);
  fmt::print("now     {} {} ({})\n", s.value, s.unit, s.source);
  for (const Setting& own : config.overrides()) {
    if (own.name.substr(own.name.find('.') + 1) == s.name)
      fmt::print("{}  {} {} ({})\n", own.name.substr(0, own.name.find('.')), own.value, own.unit,
                 own.source);
  }
  fmt::print("set it with --set {}=VALUE{}\n", s.name,
             !is_one_sides(s) ? ""
                              : ", or one side's with --set client." + s.name + "=VALUE, server." +
                                    s.name + "=VALUE");
  return kGood;
}

int run_command(Options& o) {
  if (o.words.size() != 1) throw Usage("run: say one program (rnic-sim list programs)");
  o.request.program = o.words[0];
  check_settings(o, o.words[0], settings_of(program_of(o.words[0])));
  check(o.request);
  if (o.request.streams && !has_rtl(o.request.kind[kClient]) && !has_rtl(o.request.kind[kServer]))
    throw Usage("--stages: no device here is RTL (--client rtl, --server rtl)");
  if (o.print_config) return print_config(o);
  Batch batch(o, "run");
  const Outcome out = batch.run({o.request}).front();
  if (o.tells() && out.json.contains("bytes")) std::fputs(text_of(out.json).c_str(), stdout);
  if (o.request.streams && o.json != "-" && out.json.contains("bytes"))
    std::fputs(stages_of(out.json).c_str(), stdout);
  if (o.request.explain && o.json != "-" && out.json.contains("explain"))
    std::fputs(explain_text(out.json["explain"]).c_str(), stdout);
  if (o.verbose && o.json != "-") fmt::print("{}\n", out.json.dump(2));
  return batch.finish();
}

int compare_command(Options& o) {
  std::vector<std::string> names = o.words;
  if (names.empty())
    names = {"write_lat", "write_bw", "read_lat", "read_bw", "send_lat", "send_bw"};
  std::vector<RunRequest> requests;
  std::vector<std::string_view> used;
  for (const std::string& name : names) {
    if (std::ranges::count(names, name) > 1)
      throw Usage(fmt::format("compare: {} is named twice", name));
    o.request.program = name;
    for (const std::string_view s : settings_of(program_of(name))) {
      if (std::ranges::find(used, s) == used.end()) used.push_back(s);
    }
    add_pairings(requests, o.request, name);
  }
  o.request.kind = {"rtl", "rtl"};
  check_settings(o, "compare", used);
  for (const RunRequest& r : requests) check(r);
  if (o.print_config) return print_config(o);
  Batch batch(o, "compare");
  std::vector<std::vector<std::string>> rows{{"program", "size", "pairing", "Gb/s", "Mmsg/s",
                                              "latency us", "mismatches", "error Gb/s",
                                              "error latency", "s", "speed-up"}};
  double gbps = 0, latency = 0, cost = 0;  // of RTL with RTL; cost: CPU time per message
  const std::vector<Outcome> outs = batch.run(requests);
  for (size_t i = 0; i < outs.size(); ++i) {
    const bool is_rtl = i % kPairings.size() == 0;
    if (is_rtl) gbps = latency = cost = 0;
    const auto& j = outs[i].json;
    if (outs[i].status != kGood) continue;
    if (is_rtl) {
      gbps = j["gbps"];
      latency = median_latency(j);
      cost = j.value("cpu_us_per_message", 0.0);
    }
    const double median = median_latency(j), own = j.value("cpu_us_per_message", 0.0);
    rows.push_back({j["program"], fmt::format("{}", j["size"].get<uint64_t>()), pairing_of(j),
                    fmt::format("{:.2f}", j["gbps"].get<double>()),
                    fmt::format("{:.3f}", j["msg_per_s"].get<double>() / 1e6),
                    median == 0 ? "-" : fmt::format("{:.3f}", median / 1000),
                    fmt::format("{}", j["mismatches"].get<uint64_t>()), percent(j["gbps"], gbps),
                    median == 0 ? "-" : percent(median, latency),
                    fmt::format("{:.2f}", outs[i].cpu_s),
                    cost <= 0 || own <= 0 ? "-" : fmt::format("{:.1f}x", cost / own)});
  }
  if (o.tells()) {
    std::fputs(table(rows).c_str(), stdout);
    fmt::print(
        "Errors and speed-up: against RTL with RTL. Speed-up: of the CPU time of a message, "
        "between a quarter and three quarters of them;\n"
        "set-up is not in it. s: CPU time of the whole process.\n");
  }
  return batch.finish();
}

int copy_command(Options& o) {
  if (!o.words.empty())
    throw Usage(fmt::format("copy: \"{}\"; the file is said with --file FILE", o.words[0]));
  if (o.request.file_name.empty()) {
    o.request.file_name = kFileOfEverySystem;
    o.request.file = read_file(kFileOfEverySystem);
  }
  if (o.request.file.empty()) throw Usage(fmt::format("copy: {} is empty", o.request.file_name));
  // Errors are relative to the first pairing.
  const bool has_tandem = sim::is_rtl_built();
  const std::span<const Pairing> pairings =
      has_tandem ? std::span<const Pairing>(kPairings) : kPairingsOfModels;
  o.request.kind = {pairings[0][kClient], pairings[0][kServer]};
  std::vector<std::string_view> used = settings_of(program_of("file_copy"));
  std::erase(used, "op");  // the command runs all three
  check_settings(o, "copy", used);
  if (!o.request.config.find("size").is_own()) o.request.config.set("size", kPiece, "copy");
  constexpr std::array kOps = {"send", "write", "read"};
  // For each operation: the file on every pairing and in tandem; then only one piece on every
  // pairing, for its latency.
  const size_t copies = pairings.size() + (has_tandem ? 1 : 0), runs = copies + pairings.size();
  std::vector<RunRequest> requests;
  for (const char* op : kOps) {
    RunRequest copy = o.request;
    copy.program = "file_copy";
    copy.config.set("op", op, "copy");
    add_pairings(requests, copy, op, pairings);
    if (has_tandem) add_pair(requests, copy, op, {"tandem", "tandem"});
    RunRequest piece = o.request;
    piece.program = fmt::format("{}_lat", op);
    piece.config.set("count", "8", "copy");
    piece.config.set("warmup", "2", "copy");
    piece.file.clear();
    piece.file_name.clear();
    piece.pcap = piece.tlp = "";
    add_pairings(requests, piece, op, pairings);
  }
  for (const RunRequest& r : requests) check(r);
  if (o.print_config) return print_config(o);
  if (!o.quiet) {
    fmt::print(stderr,
               "{}: {} bytes in pieces of {}, by Send, RDMA Write and RDMA Read {}; "
               "then the latency of a piece\n",
               o.request.file_name, o.request.file.size(), o.request.config.find("size").value,
               has_tandem ? "on four pairings of devices and in tandem (RTL followed by the model)"
                          : "between two models (this rnic-sim holds no RTL)");
  }
  Batch batch(o, "copy", Batch::InPipe::kLineOfEachRun);
  std::vector<std::vector<std::string>> rows{{"operation", "bytes", "pairing", "latency us",
                                              "error", "Gb/s", "error", "of wire limit",
                                              "mismatches", "kcycle/s", "wall s"}};
  std::string sha, tandem;
  const std::vector<Outcome> outs = batch.run(requests);
  for (size_t op = 0; op < kOps.size(); ++op) {
    const Outcome* of = &outs[op * runs];
    const auto gbps = [&](size_t i) {
      return of[i].status == kGood ? of[i].json["gbps"].get<double>() : 0;
    };
    // Relative to the first pairing, if that is RTL.
    const auto error = [&](double value, double to) {
      return has_tandem ? percent(value, to) : std::string("-");
    };
    const auto latency = [&](size_t i) {
      return i < pairings.size() && of[copies + i].status == kGood
                 ? median_latency(of[copies + i].json)
                 : 0;
    };
    for (size_t i = 0; i < copies; ++i) {
      if (of[i].status != kGood) continue;
      const auto& j = of[i].json;
      sha = j["sha256_received"];
      if (j.contains("tandem")) tandem += fmt::format("{}: {}", kOps[op], tandem_text(j["tandem"]));
      rows.push_back({kOps[op], fmt::format("{}", j["bytes"].get<uint64_t>()), pairing_of(j),
                      latency(i) == 0 ? "-" : fmt::format("{:.3f}", latency(i) / 1000),
                      latency(i) == 0 ? "-" : error(latency(i), latency(0)),
                      fmt::format("{:.2f}", gbps(i)), error(gbps(i), gbps(0)),
                      fmt::format("{:.1f} %", 100 * gbps(i) / j["wire_limit_gbps"].get<double>()),
                      fmt::format("{}", j["mismatches"].get<uint64_t>()),
                      fmt::format("{:.0f}", j["kcycles_per_s"].get<double>()),
                      fmt::format("{:.2f}", j["wall_s"].get<double>())});
    }
  }
  if (o.tells()) {
    if (!sha.empty()) fmt::print("SHA-256 of the file and of every copy: {}\n", sha);
    fmt::print(
        "Latency: of a piece alone (Send and Write half the round trip). {}kcycle/s: device cycles "
        "simulated a second.\n",
        has_tandem ? "Error: against RTL with RTL. " : "");
    std::fputs(table(rows).c_str(), stdout);
    std::fputs(tandem.c_str(), stdout);
  }
  return batch.finish();
}

}  // namespace rnic::app

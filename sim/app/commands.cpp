#include "commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

#include "report.hpp"

namespace rnic::app {
namespace {

void finish(const Options& o, const std::vector<nlohmann::ordered_json>& runs) {
  if (!o.json.empty()) write_file(o.json, (runs.size() == 1 ? runs[0] : nlohmann::ordered_json(runs)).dump(2) + "\n");
  if (!o.csv.empty()) write_file(o.csv, csv(runs));
}

/// What went wrong, then the one command that repeats it as the last line.
void complain(const RunRequest& r, const Outcome& out) {
  fmt::print(stderr, "{}reproduce: {}\n", out.failure, reproduce(r));
}

std::string percent(double of, double to) { return to == 0 ? "-" : fmt::format("{:.1f} %", (of / to - 1) * 100); }

constexpr const char* kPairings[4][2] = {{"model", "model"}, {"rtl", "rtl"}, {"model", "rtl"}, {"rtl", "model"}};

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
  o.request.progress = !o.quiet && isatty(STDERR_FILENO);
  const Outcome out = run(o.request);
  if (!o.quiet && out.json.contains("bytes")) std::fputs(text_of(out.json).c_str(), stdout);
  if (o.verbose) fmt::print("{}\n", out.json.dump(2));
  finish(o, {out.json});
  std::fflush(stdout);
  if (out.status != kGood) complain(o.request, out);
  return out.status;
}

int compare_command(Options& o) {
  std::vector<std::string> names = o.words;
  if (names.empty()) names = {"write_lat", "write_bw", "read_lat", "read_bw", "send_lat", "send_bw"};
  std::vector<nlohmann::ordered_json> runs;
  std::vector<std::vector<std::string>> rows{{"program", "size", "pairing", "Gb/s", "Mmsg/s", "latency us", "mismatches", "error Gb/s", "error latency", "wall s"}};
  int worst = kGood;
  for (const auto& name : names) {
    double gbps = 0, latency = 0;  // of RTL with RTL
    std::vector<Outcome> outs;
    for (const auto& pair : {kPairings[1], kPairings[0], kPairings[2], kPairings[3]}) {
      RunRequest r = o.request;
      r.program = name;
      r.kind = {pair[0], pair[1]};
      if (!o.quiet && isatty(STDERR_FILENO)) fmt::print(stderr, "\r{} {}-{} ...   ", name, pair[0], pair[1]);
      Outcome out = run_child(r);
      if (out.status != kGood) {
        if (!o.quiet && isatty(STDERR_FILENO)) fmt::print(stderr, "\r");
        complain(r, out);
        worst = std::max<int>(worst, out.status);
        continue;
      }
      if (outs.empty() && pair == kPairings[1]) {
        gbps = out.json["gbps"];
        latency = median_latency(out.json);
      }
      runs.push_back(out.json);
      rows.push_back({name, fmt::format("{}", out.json["size"].get<uint64_t>()), fmt::format("{}-{}", pair[0], pair[1]), fmt::format("{:.2f}", out.json["gbps"].get<double>()),
                      fmt::format("{:.3f}", out.json["msg_per_s"].get<double>() / 1e6), latency == 0 ? "-" : fmt::format("{:.3f}", median_latency(out.json) / 1000),
                      fmt::format("{}", out.json["mismatches"].get<uint64_t>()), percent(out.json["gbps"], gbps), latency == 0 ? "-" : percent(median_latency(out.json), latency),
                      fmt::format("{:.2f}", out.json["wall_s"].get<double>())});
      outs.push_back(std::move(out));
    }
  }
  if (!o.quiet && isatty(STDERR_FILENO)) fmt::print(stderr, "\r{:40}\r", "");
  if (!o.quiet) std::fputs(table(rows).c_str(), stdout);
  finish(o, runs);
  return worst;
}

int copy_command(Options& o) {
  if (o.request.file.empty()) throw Usage("copy: say --file FILE, one that is not empty");
  std::vector<nlohmann::ordered_json> runs;
  std::vector<std::vector<std::string>> rows{{"operation", "bytes", "pairing", "Gb/s", "piece us", "error", "of wire limit", "mismatches", "kcycle/s", "wall s"}};
  int worst = kGood;
  for (const char* op : {"send", "write", "read"}) {
    double rtl_gbps = 0;
    for (const auto& pair : {kPairings[1], kPairings[0], kPairings[2], kPairings[3]}) {
      RunRequest r = o.request;
      r.program = "file_copy";
      r.kind = {pair[0], pair[1]};
      r.config.set("op", op, "copy");
      if (!r.pcap.empty()) r.pcap = fmt::format("{}.{}.{}-{}.pcap", o.request.pcap, op, pair[0], pair[1]);
      r.progress = !o.quiet && isatty(STDERR_FILENO);
      if (!o.quiet) fmt::print(stderr, "{} {} -> {} ...\n", op, pair[0], pair[1]);
      Outcome out = run_child(r);
      if (out.status != kGood) {
        complain(r, out);
        worst = std::max<int>(worst, out.status);
        continue;
      }
      const auto& j = out.json;
      if (pair == kPairings[1]) rtl_gbps = j["gbps"];
      rows.push_back({op, fmt::format("{}", j["bytes"].get<uint64_t>()), fmt::format("{}-{}", pair[0], pair[1]), fmt::format("{:.2f}", j["gbps"].get<double>()),
                      median_latency(j) == 0 ? "-" : fmt::format("{:.2f}", median_latency(j) / 1000), percent(j["gbps"], rtl_gbps),
                      fmt::format("{:.1f} %", 100 * j["gbps"].get<double>() / j["wire_limit_gbps"].get<double>()), fmt::format("{}", j["mismatches"].get<uint64_t>()),
                      j["rtl_cycles"].get<uint64_t>() == 0 ? "-" : fmt::format("{:.0f}", j["kcycles_per_s"].get<double>()), fmt::format("{:.2f}", j["wall_s"].get<double>())});
      runs.push_back(j);
    }
  }
  if (!runs.empty()) fmt::print("SHA-256 of the file and of every copy: {}\n", runs[0]["sha256_sent"].get<std::string>());
  std::fputs(table(rows).c_str(), stdout);
  finish(o, runs);
  return worst;
}

}  // namespace rnic::app

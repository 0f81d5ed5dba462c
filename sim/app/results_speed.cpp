// The parts of results that compare model and RTL, and what a run costs. See results.hpp.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "report.hpp"
#include "results.hpp"

namespace rnic::app {
namespace {

constexpr double kAtLimit = 0.98;  // of a wire: then it is what is measured, and not the device

double number(const nlohmann::ordered_json& j, const char* key) { return j.contains(key) ? j[key].get<double>() : 0; }
std::string signed_percent(double share) { return fmt::format("{:+.1f} %", 100 * share); }

/// The wire that a run is limited by, or nothing.
std::string limit_of(const nlohmann::ordered_json& run) {
  if (!run.contains("wires")) return "";
  for (const auto& [name, share] : run["wires"].items()) {
    if (share.get<double>() >= kAtLimit) return name;
  }
  return "";
}

struct TimingCase {
  std::string program, size, qps;
  double rtl = 0, model = 0;  // Gb/s, or the median in ns
  bool is_latency = false;
  std::string limit;
  double error() const { return rtl == 0 ? 0 : model / rtl - 1; }
};

double average(const std::vector<TimingCase>& all) {
  double sum = 0;
  for (const TimingCase& c : all) sum += std::abs(c.error());
  return all.empty() ? 0 : sum / static_cast<double>(all.size());
}

std::vector<std::vector<std::string>> rows_of(const std::vector<TimingCase>& all, bool with_limit) {
  std::vector<std::vector<std::string>> rows{{"program", "size", "QPs", "RTL", "model", "error"}};
  if (with_limit) rows[0].emplace_back("limit");
  for (const TimingCase& c : all) {
    const char* unit = c.is_latency ? "ns" : "Gb/s";
    rows.push_back({c.program, c.size, c.qps, fmt::format("{:.{}f} {}", c.rtl, c.is_latency ? 0 : 3, unit), fmt::format("{:.{}f} {}", c.model, c.is_latency ? 0 : 3, unit),
                    signed_percent(c.error())});
    if (with_limit) rows.back().push_back(c.limit);
  }
  return rows;
}

}  // namespace

void Results::timing_error() {
  struct Length {
    const char *size, *depth;
    std::array<const char*, 2> count;  // on one QP, on each of eight
  };
  constexpr std::array kLengths = {Length{"8", "64", {"400", "128"}}, Length{"64", "64", {"400", "128"}}, Length{"512", "64", {"256", "64"}}, Length{"4096", "16", {"96", "24"}},
                                   Length{"65536", "4", {"16", "6"}}};
  std::vector<RunRequest> requests;
  std::vector<TimingCase> cases;
  for (const Length& l : kLengths) {
    for (const bool eight : {false, true}) {
      for (const char* p : {"write_bw", "send_bw", "read_bw", "write_lat", "send_lat", "read_lat"}) {
        const bool is_latency = std::string_view(p).ends_with("lat");
        Settings s{fmt::format("size={}", l.size)};
        if (is_latency) {
          s.insert(s.end(), {"count=16", "warmup=4", eight ? "threads=8" : "threads=1"});
        } else {
          s.insert(s.end(), {fmt::format("depth={}", l.depth), fmt::format("count={}", l.count[eight ? 1 : 0]), fmt::format("warmup={}", l.depth), eight ? "qps=8" : "qps=1"});
        }
        cases.push_back({.program = p, .size = l.size, .qps = eight ? "8" : "1", .is_latency = is_latency, .limit = ""});
        for (const char* kind : {"rtl", "model"}) {
          requests.push_back(request(p, kind, s));
          requests.back().wires = !is_latency;
        }
      }
    }
  }
  const std::vector<Outcome> outs = run(requests, options_.jobs);
  std::vector<TimingCase> throughput, latency, limited;
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto &rtl = outs[2 * i], &model = outs[2 * i + 1];
    if (rtl.status != kGood || model.status != kGood) continue;
    TimingCase& c = cases[i];
    c.rtl = c.is_latency ? median_latency(rtl.json) : number(rtl.json, "gbps");
    c.model = c.is_latency ? median_latency(model.json) : number(model.json, "gbps");
    c.limit = limit_of(rtl.json);
    (c.is_latency ? latency : c.limit.empty() ? throughput : limited).push_back(c);
  }
  const auto told = [&](const char* what, const std::vector<TimingCase>& all) {
    if (all.empty()) return;
    const auto worst = *std::ranges::max_element(all, {}, [](const TimingCase& c) { return std::abs(c.error()); });
    figure(fmt::format("timing error of the model, {}, {} cases", what, all.size()),
           fmt::format("{:.1f} % on average; most {} ({} {} B {} QP)", 100 * average(all), signed_percent(worst.error()), worst.program, worst.size, worst.qps), "10 % on average",
           average(all) <= 0.10);
  };
  told("throughput", throughput);
  told("median latency", latency);
  section("Timing error of the model: throughput", "Without the cases in which a wire is at 98 % or more.\n\n" + markdown(rows_of(throughput, false)));
  section("Timing error of the model: median latency", markdown(rows_of(latency, false)));
  section("Cases within 2 % of a link or PCIe limit",
          fmt::format("{}{}", limited.empty() ? "None.\n\n" : fmt::format("Average error {:.1f} %.\n\n", 100 * average(limited)), limited.empty() ? "" : markdown(rows_of(limited, true))));
}

void Results::speed() {
  struct Load {
    const char *size, *name;
    std::string rtl_count, model_count;
    double wanted;
  };
  std::vector<std::vector<std::string>> rows{{"write_bw, two devices", "messages RTL", "s", "messages model", "s", "messages/s RTL", "messages/s model", "model / RTL"}};
  for (const Load& l : {Load{"64", "64 B", "count=2000", "count=40000", 15}, Load{"4096", "4 KiB", "count=400", "count=5000", 60}}) {
    const Settings common{fmt::format("size={}", l.size), "qps=2", "threads=4", "warmup=64"};
    double rate[2] = {};
    std::vector<std::string> row{l.name};
    std::array<std::string, 2> rates;
    for (const bool is_model : {false, true}) {
      Settings s = common;
      s.push_back(is_model ? l.model_count : l.rtl_count);
      const Outcome o = run(request("write_bw", is_model ? "model" : "rtl", s));
      if (o.status != kGood || o.cpu_s <= 0) return;
      const double messages = number(o.json, "ops");
      rate[is_model ? 1 : 0] = messages / o.cpu_s;
      row.insert(row.end(), {fmt::format("{:.0f}", messages), fmt::format("{:.2f}", o.cpu_s)});
      rates[is_model ? 1 : 0] = fmt::format("{:.0f}", rate[is_model ? 1 : 0]);
      if (is_model) continue;
      const double kcycles = number(o.json, "rtl_cycles") / 2 / 1000 / o.cpu_s;
      figure(fmt::format("RTL simulation, two whole devices in one process on one core, {}", l.name), fmt::format("{:.1f} kcycle/s", kcycles), "50 kcycle/s", kcycles >= 50);
      figure(fmt::format("memory of a process with two RTL devices, {}", l.name), fmt::format("{:.0f} MiB", static_cast<double>(o.peak_kib) / 1024), "less than 2 GiB", o.peak_kib < (2u << 20));
    }
    const double ratio = rate[1] / rate[0];
    figure(fmt::format("model's speed over the RTL's, {}, saturated", l.name), fmt::format("{:.1f}x", ratio), fmt::format("{:.0f}x", l.wanted), ratio >= l.wanted);
    row.insert(row.end(), {rates[0], rates[1], fmt::format("{:.1f}x", ratio)});
    rows.push_back(row);
  }
  section("Speed of the simulations", "8 QPs in 4 threads; measured messages over the whole process's CPU time, set-up, warm-up and tail included.\n\n" + markdown(rows));
}

// The lines that depth.sh prints for a unit: name, LUT6, flops, levels, memories, memory bits, seconds; indented ones are its memories.
void Results::logic() {
  constexpr unsigned kMostLevels = 20;
  if (options_.depth.empty()) {
    figure("logic depth, size", "not given (rtl/lint/depth.sh > FILE; rnic-sim results --depth FILE)", "no path above 20 LUT6 levels", std::nullopt);
    return;
  }
  const auto bytes = read_file(options_.depth);
  std::istringstream in(std::string(bytes.begin(), bytes.end()));
  std::vector<std::vector<std::string>> rows;
  unsigned deepest = 0;
  std::string size, where;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == ' ') continue;
    std::istringstream split(line);
    std::vector<std::string> words;
    for (std::string w; split >> w;) words.push_back(w);
    if (words[0] == "unit") {
      rows = {{"unit", "LUT6", "flops", "levels", "memories", "memory bits"}};
      continue;
    }
    if (rows.empty() || words.size() < 6 || words[3].find_first_not_of("0123456789") != std::string::npos) continue;
    rows.emplace_back(words.begin(), words.begin() + 6);
    const auto levels = static_cast<unsigned>(std::stoul(words[3]));
    if (levels > deepest) {
      deepest = levels;
      where = words[0];
    }
    if (words[0] == "rnic") size = words[1];
  }
  if (rows.size() < 2) throw Usage(fmt::format("--depth {}: this is not what rtl/lint/depth.sh prints", options_.depth));
  figure("logic depth", fmt::format("{} LUT6 levels ({})", deepest, where), "no path above 20", deepest <= kMostLevels);
  if (!size.empty()) figure("size of the chip", size + " LUT6", "printed", std::nullopt);
  section("Size and logic depth of each unit", "From `rtl/lint/depth.sh`.\n\n" + markdown(rows));
}

}  // namespace rnic::app

// The parts of results without simulated figures: the cost of a run, and the output of other tools.
// See results.hpp.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "measure/results.hpp"
#include "output/report.hpp"
#include "settings/read_file.hpp"

namespace rnic::app {

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  return {values.front(), values[values.size() / 2], values.back()};
}

// Runs RTL and model alternately, so that both of a pair meet the same load of the machine: other
// load changes their ratio less than either time.
void Results::speed() {
  constexpr size_t kPairs = 5;
  struct Load {
    const char *size, *name;
    std::string rtl_count, model_count;
    double wanted;
  };
  std::vector<std::vector<std::string>> rows{
      {"write_bw, two devices", "messages RTL", "s, whole process", "messages model",
       "s, whole process", "us a message RTL", "us a message model", "RTL / model",
       "least to most"}};
  const std::string luts = options_.depth.empty() ? "" : read_depth(options_.depth).chip_luts;
  for (const Load& l : {Load{"64", "64 B", "count=2000", "count=40000", 40},
                        Load{"4096", "4 KiB", "count=400", "count=5000", 100}}) {
    const auto load = [&](const char* kind, const std::string& count) {
      return request("write_bw", kind,
                     {fmt::format("size={}", l.size), "qps=2", "threads=4", "warmup=64", count});
    };
    std::vector<RunRequest> requests;
    for (size_t i = 0; i < kPairs; ++i) {
      requests.push_back(load("rtl", l.rtl_count));
      requests.push_back(load("model", l.model_count));
    }
    const std::vector<Outcome> outs = run(requests, 1);
    std::vector<double> rtl_us, model_us, ratios, kcycles, rtl_s, model_s;
    uint64_t peak_kib = 0;
    for (size_t i = 0; i < outs.size(); i += 2) {
      const Outcome &rtl = outs[i], &model = outs[i + 1];
      const double of_rtl = number(rtl.json, "cpu_us_per_message"),
                   of_model = number(model.json, "cpu_us_per_message");
      if (rtl.status != kGood || model.status != kGood || of_rtl <= 0 || of_model <= 0) continue;
      rtl_us.push_back(of_rtl);
      model_us.push_back(of_model);
      ratios.push_back(of_rtl / of_model);
      // rtl_cycles is the sum of both devices: half of it is the simulated cycles of the pair.
      kcycles.push_back(number(rtl.json, "rtl_cycles") / 2 / 1000 / rtl.cpu_s);
      rtl_s.push_back(rtl.cpu_s);
      model_s.push_back(model.cpu_s);
      peak_kib = std::max(peak_kib, rtl.peak_kib);
    }
    if (ratios.size() != kPairs)
      missing(fmt::format("speed: {} of {} pairs of {} have a marginal cost", ratios.size(), kPairs,
                          l.name));
    if (ratios.empty()) continue;
    const Spread ratio = spread_of(ratios), rate = spread_of(kcycles);
    figure(
        fmt::format("RTL simulation, two whole devices in one process on one core, {}", l.name),
        fmt::format("{:.1f} kcycle/s ({:.1f} to {:.1f} in {} runs){}", rate.median, rate.least,
                    rate.most, kcycles.size(),
                    luts.empty() ? "" : fmt::format(", 2 x {} LUT6", luts)),
        "200 kcycle/s", rate.median >= 200,
        fmt::format(
            "a cycle of the two devices takes {:.1f} us; platform, link, driver and program take "
            "less than {:.1f} % of it (the models' whole run of such messages takes no more), "
            "the rest is the evaluation of the Verilated RTL",
            1000 / rate.median, 100 / ratio.median));
    figure(fmt::format("memory of a process with two RTL devices, {}", l.name),
           fmt::format("{:.0f} MiB", static_cast<double>(peak_kib) / 1024), "less than 2 GiB",
           peak_kib < (2u << 20), "it is the process's peak as the system counts it");
    figure(
        fmt::format("model's speed over the RTL's, {}, saturated, marginal CPU time", l.name),
        fmt::format("{:.1f}x ({:.1f}x to {:.1f}x in {} alternating pairs)", ratio.median,
                    ratio.least, ratio.most, ratios.size()),
        fmt::format("{:.0f}x", l.wanted), ratio.median >= l.wanted,
        fmt::format("a message costs {:.1f} us of the models' process and {:.1f} us of the RTL's",
                    spread_of(model_us).median, spread_of(rtl_us).median));
    rows.push_back({l.name, fmt::format("{:.0f}", number(outs[0].json, "ops")),
                    fmt::format("{:.2f}", spread_of(rtl_s).median),
                    fmt::format("{:.0f}", number(outs[1].json, "ops")),
                    fmt::format("{:.2f}", spread_of(model_s).median),
                    fmt::format("{:.2f}", spread_of(rtl_us).median),
                    fmt::format("{:.2f}", spread_of(model_us).median),
                    fmt::format("{:.1f}x", ratio.median),
                    fmt::format("{:.1f}x to {:.1f}x", ratio.least, ratio.most)});
  }
  section("Speed of the simulations",
          fmt::format("8 QPs in 4 threads. The CPU time of a message is the marginal one: between "
                      "a quarter and three quarters of a run's messages, by the difference of both "
                      "counts; set-up and tear-down are not in it. RTL and model run by turns, {} "
                      "times each: medians, and the least and most of the ratio of a pair.\n\n{}",
                      kPairs, markdown(rows)));
}

// A unit's line has its name, the columns of Depth::rows, then a hash (sizes.txt) or seconds
// (depth.sh). Its indented lines (depth.sh) follow: memories, and errors (FAIL).
Depth read_depth(const std::string& file) {
  const auto bytes = read_file(file);
  std::istringstream in(std::string(bytes.begin(), bytes.end()));
  Depth d;
  for (std::string line; std::getline(in, line);) {
    std::istringstream split(line);
    std::vector<std::string> words;
    for (std::string w; split >> w;) words.push_back(w);
    if (words.empty()) continue;
    if (words[0] == "unit")
      d.rows = {{"unit", "LUT6", "flops", "levels", "memories", "memory bits"}};
    if (words.size() > 1 && words[0] == "#" && words[1] == "unit")
      d.rows = {{"unit", "LUT6", "flops", "memory bits", "levels"}};
    if (line[0] == ' ') {
      if (words[0] == "FAIL")
        d.complaints.push_back(fmt::format("{}: {}", d.rows.size() < 2 ? "?" : d.rows.back()[0],
                                           fmt::join(words.begin() + 1, words.end(), " ")));
      continue;
    }
    if (d.rows.empty() || words.size() < 6 ||
        words[3].find_first_not_of("0123456789") != std::string::npos)
      continue;
    d.rows.emplace_back(words.begin(), words.begin() + std::ssize(d.rows[0]));
    if (words[0] == "rnic") d.chip_luts = words[1];
  }
  if (d.rows.size() < 2)
    throw Usage(fmt::format(
        "--depth {}: this is neither rtl/lint/sizes.txt nor what rtl/lint/depth.sh prints", file));
  return d;
}

void Results::logic() {
  const std::string wanted = fmt::format("no path above {} LUT6 levels", kGoalLevels);
  if (options_.depth.empty()) {
    figure("logic depth, size", "not given (rnic-sim results --depth rtl/lint/sizes.txt)", wanted,
           std::nullopt);
    return;
  }
  const Depth d = read_depth(options_.depth);
  const auto column = std::ranges::find(d.rows[0], "levels") - d.rows[0].begin();
  const auto levels = [&](const std::vector<std::string>& row) {
    return std::stoul(row[static_cast<size_t>(column)]);
  };
  const auto luts = [](const std::vector<std::string>& row) { return std::stoul(row[1]); };
  std::vector<std::vector<std::string>> units(d.rows.begin() + 1, d.rows.end());
  std::ranges::stable_sort(units, std::greater<>(), levels);
  std::vector<std::string> deep = d.complaints, large;
  for (const auto& row : units)
    if (levels(row) > kGoalLevels) deep.push_back(fmt::format("{} {}", row[0], levels(row)));
  figure("logic depth", fmt::format("{} LUT6 levels ({})", levels(units[0]), units[0][0]), wanted,
         levels(units[0]) <= kGoalLevels,
         fmt::format("{}; depth.sh accepts {}", fmt::join(deep, ", "), kMostLevels));
  if (!d.chip_luts.empty()) {
    const auto chip = std::stoul(d.chip_luts);
    std::ranges::stable_sort(units, std::greater<>(), luts);
    for (const auto& row : units)
      if (row[0] != "rnic" && large.size() < 3)
        large.push_back(
            fmt::format("{} {:.0f} %", row[0],
                        100.0 * static_cast<double>(luts(row)) / static_cast<double>(chip)));
    figure("size of the chip", d.chip_luts + " LUT6", fmt::format("{} LUT6", kGoalLuts),
           chip <= kGoalLuts,
           fmt::format("{:.2f} times the goal; the largest units, of the chip: {}",
                       static_cast<double>(chip) / kGoalLuts, fmt::join(large, ", ")));
  }
  section("Size and logic depth of each unit",
          "Measured by `rtl/lint/depth.sh` (Yosys). Memories are not in the LUTs.\n\n" +
              markdown(d.rows));
}

// Reads the lines "[run] step fast passed in 300 s", "[run] step lint FAILED after 2 s", and
// "[run] 2400 s in all".
TestTimes read_test_times(const std::string& file) {
  const auto bytes = read_file(file);
  std::istringstream in(std::string(bytes.begin(), bytes.end()));
  TestTimes t;
  const auto seconds = [&](const std::string& word) {
    double n = -1;
    const auto r = std::from_chars(word.data(), word.data() + word.size(), n);
    return r.ec == std::errc() ? n : -1;
  };
  for (std::string line; std::getline(in, line);) {
    std::istringstream split(line);
    std::vector<std::string> w;
    for (std::string x; split >> x;) w.push_back(x);
    if (w.empty() || w[0] != "[run]") continue;
    if (w.size() == 7 && w[1] == "step" && (w[3] == "passed" || w[3] == "FAILED"))
      t.steps.push_back({seconds(w[5]), w[2], w[3] == "passed"});
    if (w.size() == 5 && w[2] == "s" && w[3] == "in" && w[4] == "all") t.all = seconds(w[1]);
  }
  if (t.all < 0 || t.steps.empty())
    throw Usage(fmt::format("--ci {}: this is not what tb/run.sh prints", file));
  return t;
}

void Results::tests() {
  constexpr double kMostSeconds = 40 * 60;
  constexpr size_t kLongest = 3;
  const std::string what = "tb/run.sh from a clean clone, cold cache",
                    wanted = "under 40 min on 2 cores";
  if (options_.ci.empty()) {
    figure(what, "not given (tb/run.sh > FILE; rnic-sim results --ci FILE)", wanted, std::nullopt);
    return;
  }
  TestTimes t = read_test_times(options_.ci);
  std::vector<std::vector<std::string>> rows{{"step", "s"}};
  std::string failed, longest;
  for (const auto& s : t.steps) {
    rows.push_back({s.name, fmt::format("{:.0f}{}", s.seconds, s.passed ? "" : ", FAILED")});
    if (!s.passed) failed += ", failed: " + s.name;
  }
  std::ranges::sort(t.steps, std::greater<>(), &TestTimes::Step::seconds);
  for (size_t i = 0; i < std::min(t.steps.size(), kLongest); ++i)
    longest += fmt::format("{}{} {:.0f} s", i == 0 ? "the longest steps are " : ", ",
                           t.steps[i].name, t.steps[i].seconds);
  figure(what, fmt::format("{:.1f} min{}", t.all / 60, failed), wanted,
         failed.empty() && t.all < kMostSeconds, longest);
  section("Time of all tests", "What `tb/run.sh` printed.\n\n" + markdown(rows));
}

}  // namespace rnic::app

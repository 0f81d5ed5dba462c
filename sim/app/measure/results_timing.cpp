// The part of results that compares the model's time with the RTL's: throughput, and the latency of
// only the device. See results.hpp.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "measure/results.hpp"
#include "output/report.hpp"

namespace rnic::app {
namespace {

constexpr double kAtLimit = 0.98;  // share of a wire: from this on, the wire limits the run
constexpr double kWantedAverage = 0.01, kWantedWorst = 0.03;

std::string signed_percent(double share) { return fmt::format("{:+.1f} %", 100 * share); }

/// The wire that limits a run, or an empty string.
std::string limit_of(const nlohmann::ordered_json& run) {
  if (!run.contains("wires")) return "";
  for (const auto& [name, share] : run["wires"].items()) {
    if (share.get<double>() >= kAtLimit) return name;
  }
  return "";
}

/// The mean of the errors, without their signs.
double average(const std::vector<TimingCase>& all) {
  double sum = 0;
  for (const TimingCase& c : all) sum += std::abs(c.error());
  return all.empty() ? 0 : sum / static_cast<double>(all.size());
}

/// The sum of both directions.
double rate_of(const nlohmann::ordered_json& run) {
  return number(run, "gbps") + (run.contains("back") ? number(run["back"], "gbps") : 0);
}

// count: messages per QP, on one QP and on each of eight. The first and the last messages of a run
// meet an empty device. The counts are so large that these messages change the rate by less than
// the wanted error.
struct Length {
  uint32_t size;
  uint32_t depth;
  std::array<uint32_t, 2> count;
};
constexpr std::array kLengths = {Length{8, 64, {2000, 500}},   Length{64, 64, {2000, 500}},
                                 Length{512, 64, {1000, 250}}, Length{2048, 16, {400, 80}},
                                 Length{4096, 16, {250, 48}},  Length{65536, 4, {24, 6}}};
constexpr uint32_t kOneSegment = 1400;  // bytes that fit into one segment at any MTU of the grid

/// The device steps in which two runs of one program differ, if both have the same steps.
class StepErrors {
 public:
  void add(const std::string& program, const std::string& size, const nlohmann::ordered_json& rtl,
           const nlohmann::ordered_json& model) {
    if (!rtl.contains("steps") || !model.contains("steps")) return;
    const auto &a = rtl["steps"], &b = model["steps"];
    if (a.size() != b.size()) return;
    for (size_t i = 0; i < a.size(); ++i)
      if (a[i]["what"] != b[i]["what"] || a[i]["side"] != b[i]["side"]) return;
    for (size_t i = 0; i < a.size(); ++i) {
      if (a[i]["kind"] != "device") continue;
      const double cycles =
          (b[i]["ns"].get<double>() - a[i]["ns"].get<double>()) * 1000 / base::kPsPerCycle;
      all_[{program, fmt::format("{}: {}", a[i]["side"].get<std::string>(),
                                 a[i]["what"].get<std::string>())}]
          .push_back({cycles, size});
    }
  }
  /// The steps that differ by one cycle or more in some case, worst first.
  std::vector<std::vector<std::string>> rows() const {
    std::vector<std::pair<double, std::vector<std::string>>> found;
    for (const auto& [step, errors] : all_) {
      double sum = 0;
      const Error* worst = &errors[0];
      for (const Error& e : errors) {
        sum += e.cycles;
        if (std::abs(e.cycles) > std::abs(worst->cycles)) worst = &e;
      }
      if (std::abs(worst->cycles) < 1) continue;
      found.push_back({std::abs(worst->cycles),
                       {step.first, step.second, fmt::format("{}", errors.size()),
                        fmt::format("{:+.1f}", sum / static_cast<double>(errors.size())),
                        fmt::format("{:+.1f} ({} B)", worst->cycles, worst->size)}});
    }
    std::ranges::stable_sort(found, std::greater<>(), [](const auto& f) { return f.first; });
    std::vector<std::vector<std::string>> out{
        {"program", "step", "cases", "model less RTL, cycles, on average", "at worst"}};
    for (auto& [error, row] : found) out.push_back(std::move(row));
    return out;
  }

 private:
  struct Error {
    double cycles;
    std::string size;
  };
  std::map<std::pair<std::string, std::string>, std::vector<Error>> all_;
};

/// A sentence that names the cases above the wanted worst error, by program and sign.
std::string dominating(const std::vector<TimingCase>& all) {
  std::map<std::string, std::vector<TimingCase>> above;
  std::vector<TimingCase> others;
  for (const TimingCase& c : all) {
    if (std::abs(c.error()) <= kWantedWorst) {
      others.push_back(c);
      continue;
    }
    const bool is_faster = c.is_latency ? c.error() < 0 : c.error() > 0;
    above[c.program + (is_faster ? ", the model is faster" : ", the model is slower")].push_back(c);
  }
  if (above.empty())
    return fmt::format("no case is above {:.0f} %, the average is", 100 * kWantedWorst);
  std::string text;
  for (const auto& [who, cases] : above) {
    const auto [least, most] = std::ranges::minmax_element(cases, {}, &TimingCase::error);
    std::vector<std::string> which;
    for (const TimingCase& c : cases) which.push_back(c.point());
    text += fmt::format("{}{} ({} to {}: {})", text.empty() ? "" : "; ", who,
                        signed_percent(least->error()), signed_percent(most->error()),
                        fmt::join(which, ", "));
  }
  return fmt::format(
      "{} of {} cases are above {:.0f} %: {}. The other {} are at {:.1f} % on average",
      all.size() - others.size(), all.size(), 100 * kWantedWorst, text, others.size(),
      100 * average(others));
}

}  // namespace

std::string TimingCase::point() const {
  return fmt::format("{} B, MTU {}, {} QP{}", size, mtu, qps, is_both ? ", both ways" : "");
}

void TimingCase::take(const nlohmann::ordered_json& of_rtl,
                      const nlohmann::ordered_json& of_model) {
  operations = of_rtl["ops"];
  if (of_rtl.contains("back")) operations += of_rtl["back"]["ops"].get<uint64_t>();
  const auto value = [&](const nlohmann::ordered_json& run) {
    if (!is_latency) return rate_of(run);
    return is_alone ? number(run["path"], "device_ns") : number(run["latency_ns"], "avg");
  };
  rtl = value(of_rtl);
  model = value(of_model);
  if (is_alone) platform = number(of_rtl["latency_ns"], "avg") - rtl;
  limit = limit_of(of_rtl);
}

std::vector<std::vector<std::string>> rows_of(const std::vector<TimingCase>& all, bool with_limit) {
  const bool is_alone = !all.empty() && all[0].is_alone;
  std::vector<std::vector<std::string>> rows{
      {"program", "size", "MTU", "QPs", "ways", "operations", "RTL", "model", "error"}};
  if (is_alone) rows[0].emplace_back("platform's share");
  if (with_limit) rows[0].emplace_back("limit");
  for (const TimingCase& c : all) {
    const char* unit = c.is_latency ? "ns" : "Gb/s";
    const int digits = !c.is_latency ? 3 : c.is_alone ? 1 : 0;
    rows.push_back({c.program, c.size, c.mtu, c.qps, c.is_both ? "both" : "one",
                    fmt::format("{}", c.operations), fmt::format("{:.{}f} {}", c.rtl, digits, unit),
                    fmt::format("{:.{}f} {}", c.model, digits, unit), signed_percent(c.error())});
    if (is_alone) rows.back().push_back(fmt::format("{:.0f} ns", c.platform));
    if (with_limit) rows.back().push_back(c.limit);
  }
  return rows;
}

void Results::error_figure(const std::string& what, const std::vector<TimingCase>& all,
                           bool is_goal) {
  if (all.empty()) return;
  const auto worst =
      *std::ranges::max_element(all, {}, [](const TimingCase& c) { return std::abs(c.error()); });
  figure(fmt::format("timing error of the model, {}, {} cases", what, all.size()),
         fmt::format("{:.2f} % on average; worst {} ({}, {})", 100 * average(all),
                     signed_percent(worst.error()), worst.program, worst.point()),
         is_goal ? fmt::format("{:.0f} % on average, {:.0f} % at worst", 100 * kWantedAverage,
                               100 * kWantedWorst)
                 : "printed",
         is_goal ? std::optional(average(all) <= kWantedAverage &&
                                 std::abs(worst.error()) <= kWantedWorst)
                 : std::nullopt,
         dominating(all));
}

void Results::timing_error() {
  std::vector<RunRequest> requests;
  std::vector<TimingCase> cases;
  const auto add = [&](TimingCase c, const Settings& settings) {
    for (const char* kind : {"rtl", "model"}) {
      requests.push_back(request(c.program, kind, settings));
      requests.back().wires = !c.is_latency;
      requests.back().path = c.is_alone;
    }
    cases.push_back(std::move(c));
  };
  for (const Length& l : kLengths) {
    for (const char* mtu : {"1500", "9000"}) {
      if (l.size <= kOneSegment && mtu != std::string_view("1500")) continue;
      const Settings size_and_mtu{fmt::format("size={}", l.size), fmt::format("mtu={}", mtu)};
      for (const bool four : {false, true}) {
        for (const bool both : {false, true}) {
          for (const char* p : {"write_bw", "send_bw", "read_bw"}) {
            Settings s = size_and_mtu;
            s.insert(s.end(), {fmt::format("depth={}", l.depth), fmt::format("warmup={}", l.depth),
                               fmt::format("count={}", l.count[four ? 1 : 0]),
                               four ? "threads=4" : "threads=1", four ? "qps=2" : "qps=1",
                               both ? "both=1" : "both=0"});
            add({.program = p,
                 .size = fmt::format("{}", l.size),
                 .mtu = mtu,
                 .qps = four ? "8" : "1",
                 .is_both = both,
                 .limit = ""},
                s);
          }
        }
        for (const char* p : {"write_lat", "send_lat", "read_lat", "flush_lat"}) {
          Settings s = size_and_mtu;
          s.insert(s.end(), {"count=32", "warmup=4", four ? "threads=4" : "threads=1"});
          add({.program = p,
               .size = fmt::format("{}", l.size),
               .mtu = mtu,
               .qps = four ? "4" : "1",
               .is_latency = true,
               .is_alone = !four,
               .limit = ""},
              s);
        }
      }
    }
  }
  const std::vector<Outcome> outs = run(requests, options_.jobs);
  std::vector<TimingCase> throughput, limited, alone, whole;
  StepErrors steps;
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto &rtl = outs[2 * i], &model = outs[2 * i + 1];
    if (rtl.status != kGood || model.status != kGood) continue;
    TimingCase c = cases[i];
    c.take(rtl.json, model.json);
    if (!c.is_latency) {
      (c.limit.empty() ? throughput : limited).push_back(c);
      continue;
    }
    if (c.is_alone) {
      for (const auto* o : {&rtl, &model}) check_path(*o);
      alone.push_back(c);
      steps.add(c.program, c.size, rtl.json["path"], model.json["path"]);
      c.is_alone = false;  // the same runs once more, with the platform's share
      c.take(rtl.json, model.json);
    }
    whole.push_back(c);
  }
  error_figure("throughput", throughput, true);
  error_figure("throughput at 98 % of a wire and more", limited, true);
  error_figure("latency of the devices alone", alone, true);
  error_figure("latency with the platform's share", whole, false);
  section("Timing error of the model: throughput",
          fmt::format("Of both directions together where there are two; without the cases in "
                      "which a wire is at {:.0f} % or more. Up to {} bytes a message is one "
                      "segment, whatever the MTU.\n\n",
                      100 * kAtLimit, kOneSegment) +
              markdown(rows_of(throughput, false)));
  section(
      "Timing error of the model: latency of the devices alone",
      "On one QP. The critical path of each message, from the client's post to the poll that sees "
      "its end, consists of time at a host, on PCIe, on the link and in the two devices. "
      "RTL, model and error are of the time in the devices, averaged; the platform's share, here "
      "of the RTL's run, is the rest. Half of the round trip where the program says so.\n\n" +
          markdown(rows_of(alone, false)) +
          "Steps of the devices whose time differs between model and RTL, of messages with the "
          "same steps:\n\n" +
          markdown(steps.rows()));
  section("Timing error of the model: latency with the platform's share",
          "Averages over the operations of all threads. A host polls every 40 ns, so that an "
          "error of less than a cycle can become one of 20 ns here.\n\n" +
              markdown(rows_of(whole, false)));
  section("Cases within 2 % of a link or PCIe limit",
          limited.empty() ? "None.\n\n" : markdown(rows_of(limited, true)));
}

// LatencyPath walks back from a message's end to its post, if there is one message at a time. Here
// there is one, so each message must have a path.
void Results::check_path(const Outcome& o) {
  const auto& path = o.json["path"];
  if (path["walked"] != path["samples"])
    missing(fmt::format("{} {}: {} of {} messages have no critical path",
                        o.json["program"].get<std::string>(), o.json["client"].get<std::string>(),
                        path["samples"].get<size_t>() - path["walked"].get<size_t>(),
                        path["samples"].get<size_t>()));
}

}  // namespace rnic::app

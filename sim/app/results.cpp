// `rnic-sim results`: the figures of docs/gen/results.md, measured now. Simulated figures are exact; speeds are of this machine.
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cmath>

#include "commands.hpp"
#include "report.hpp"

namespace rnic::app {
namespace {

struct Timed {
  nlohmann::ordered_json json;
  double seconds = 0;  // of the whole process
};

class Bench {
 public:
  explicit Bench(const Options& o) : base_(o.request), quiet_(o.quiet) {}

  Timed run(const std::string& program, const char* kind, const std::vector<std::string>& settings) {
    RunRequest r = base_;
    r.program = program;
    r.kind = {kind, kind};
    for (const auto& s : settings) r.config.set(s, "results");
    if (!quiet_) fmt::print(stderr, "{} {} {}\n", program, kind, fmt::join(settings, " "));
    const auto began = std::chrono::steady_clock::now();
    Outcome out = run_child(r);
    if (out.status != kGood) {
      fmt::print(stderr, "{}reproduce: {}\n", out.failure, reproduce(r));
      failed_ = std::max<int>(failed_, out.status);
    }
    return {out.json, std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count()};
  }
  int failed() const { return failed_; }

 private:
  RunRequest base_;
  bool quiet_;
  int failed_ = kGood;
};

double number(const Timed& t, const char* key) { return t.json.contains(key) ? t.json[key].get<double>() : 0; }

std::string markdown(const std::vector<std::vector<std::string>>& rows) {
  std::string out;
  for (size_t i = 0; i < rows.size(); ++i) {
    out += fmt::format("| {} |\n", fmt::join(rows[i], " | "));
    if (i == 0) {
      for (size_t k = 0; k < rows[0].size(); ++k) out += "|---";
      out += "|\n";
    }
  }
  return out + "\n";
}

}  // namespace

int results_command(Options& o) {
  Bench bench(o);
  std::string page = "# Results\n\nPrinted by `rnic-sim results --json docs/gen/results.md`; preset gen4x16. Simulated figures are exact and repeat; "
                     "seconds are of the machine that printed them.\n\n";

  // --- throughput of the RTL
  std::vector<std::vector<std::string>> rows{{"RTL, one way", "size", "MTU", "Gb/s", "M messages/s", "of the wire limit", "at least"}};
  for (const char* p : {"write_bw", "send_bw", "read_bw"}) {
    const Timed t = bench.run(p, "rtl", {"size=65536", "count=200", "depth=16", "warmup=10"});
    rows.push_back({p, "65536", "1500", fmt::format("{:.2f}", number(t, "gbps")), fmt::format("{:.3f}", number(t, "msg_per_s") / 1e6),
                    fmt::format("{:.1f} %", 100 * number(t, "gbps") / number(t, "wire_limit_gbps")), "85 %"});
  }
  const Timed small = bench.run("write_bw", "rtl", {"size=64", "count=4000", "qps=2", "threads=4"});
  rows.push_back({"write_bw, 8 QPs in 4 threads", "64", "1500", fmt::format("{:.2f}", number(small, "gbps")), fmt::format("{:.1f}", number(small, "msg_per_s") / 1e6),
                  fmt::format("{:.1f} %", 100 * number(small, "gbps") / number(small, "wire_limit_gbps")), "20 M/s"});
  page += markdown(rows);
  if (small.json.contains("units")) {
    page += "Where the time goes in the last of them (client; cycles busy and stalled of each unit, since reset):\n\n";
    std::vector<std::vector<std::string>> units{{"unit", "items", "busy", "stalled"}};
    for (const auto& [name, u] : small.json["units"]["client"].items()) {
      units.push_back({name, fmt::format("{}", u["items"].get<uint64_t>()), fmt::format("{}", u["busy"].get<uint64_t>()), fmt::format("{}", u["stalled"].get<uint64_t>())});
    }
    page += markdown(units);
  }

  // --- timing error of the model
  std::vector<std::vector<std::string>> errors{{"program", "size", "QPs", "RTL", "model", "error"}};
  double sum_bw = 0, sum_lat = 0;
  int n_bw = 0, n_lat = 0;
  for (const uint32_t size : {8u, 64u, 512u, 4096u, 65536u}) {
    const std::string s = fmt::format("size={}", size), count = fmt::format("count={}", size > 10000 ? 60 : 400);
    for (const char* p : {"write_bw", "send_bw", "read_bw"}) {
      for (const char* qps : {"qps=1", "qps=8"}) {
        const std::vector<std::string> settings{s, count, qps, "depth=16", "warmup=10"};
        const double rtl = number(bench.run(p, "rtl", settings), "gbps"), model = number(bench.run(p, "model", settings), "gbps");
        const double limit = sim::PlatformConfig{}.link.link_gbps;
        const bool at_limit = rtl > 0.9 * limit;
        if (rtl > 0 && !at_limit) {
          sum_bw += std::abs(model / rtl - 1);
          ++n_bw;
        }
        errors.push_back({p, fmt::format("{}", size), qps + 4, fmt::format("{:.2f} Gb/s", rtl), fmt::format("{:.2f} Gb/s", model),
                          fmt::format("{:+.1f} %{}", (model / rtl - 1) * 100, at_limit ? " (at the link's limit)" : "")});
      }
    }
    for (const char* p : {"write_lat", "send_lat", "read_lat"}) {
      const std::vector<std::string> settings{s, "count=20", "warmup=4"};
      const double rtl = median_latency(bench.run(p, "rtl", settings).json), model = median_latency(bench.run(p, "model", settings).json);
      if (rtl > 0) {
        sum_lat += std::abs(model / rtl - 1);
        ++n_lat;
      }
      errors.push_back({p, fmt::format("{}", size), "1", fmt::format("{:.0f} ns", rtl), fmt::format("{:.0f} ns", model), fmt::format("{:+.1f} %", (model / rtl - 1) * 100)});
    }
  }
  page += fmt::format("Timing error of the model against the RTL: throughput {:.1f} % on average (cases at the link's limit apart), median latency {:.1f} %; at most 10 % wanted.\n\n",
                      100 * sum_bw / std::max(n_bw, 1), 100 * sum_lat / std::max(n_lat, 1));
  page += markdown(errors);

  // --- speed
  std::vector<std::vector<std::string>> speed{{"saturated, two devices", "RTL s", "model s", "model / RTL", "at least"}};
  for (const auto& [size, count, want] : {std::tuple{"size=64", "count=20000", "15x"}, std::tuple{"size=4096", "count=4000", "60x"}}) {
    const std::vector<std::string> settings{size, count, "qps=4", "depth=64"};
    const Timed rtl = bench.run("write_bw", "rtl", settings), model = bench.run("write_bw", "model", settings);
    speed.push_back({fmt::format("write_bw {} 4 QPs", size), fmt::format("{:.2f}", rtl.seconds), fmt::format("{:.3f}", model.seconds), fmt::format("{:.0f}x", rtl.seconds / model.seconds), want});
    page += size == std::string("size=64") ? fmt::format("RTL simulation, two whole devices in one process: {:.0f} kcycle/s (each device; at least 50).\n", number(rtl, "kcycles_per_s") / 2) : "";
  }
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  page += fmt::format("Largest process of all runs: {:.0f} MiB (less than 2048 wanted).\n\n", static_cast<double>(usage.ru_maxrss) / 1024);
  page += markdown(speed);
  write_file(o.json.empty() ? "-" : o.json, page);
  return bench.failed();
}

}  // namespace rnic::app

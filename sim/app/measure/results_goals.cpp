// The part of results that measures the fast path against goals of its own (some are below those of
// architecture 16): RTL, both directions at once. See results.hpp.
#include <fmt/format.h>

#include <algorithm>

#include "measure/results.hpp"

namespace rnic::app {
namespace {

struct Goal {
  const char *what, *program;
  std::vector<std::string> settings;
  double one_way = 0, both_ways = 0;  // messages, M/s; 0: not a goal
  bool is_of_limit = false;           // one_way and both_ways are shares of the wire limit instead
};

std::vector<Goal> goals() {
  const std::vector<std::string> reads{"size=64",   "qps=5",        "threads=4", "depth=16",
                                       "count=150", "rd_atomic=16", "warmup=32"};
  const std::vector<std::string> small{"size=64", "qps=2", "threads=4", "count=500", "warmup=128"};
  const std::vector<std::string> one{"size=64", "qps=1", "count=1500", "warmup=128"};
  const std::vector<std::string> many{"size=64", "qps=256",  "threads=4",
                                      "depth=8", "count=20", "warmup=8"};
  const std::vector<std::string> large{"size=65536", "count=24", "depth=8", "warmup=8"};
  return {{"64 B Reads, 20 QPs x 16 outstanding", "read_bw", reads, 70, 60},
          {"64 B Sends, 8 QPs, 4 threads", "send_bw", small, 70, 60},
          {"64 B Writes, 8 QPs, 4 threads", "write_bw", small, 0, 74},
          {"64 B Writes, 1 QP", "write_bw", one, 20, 0},
          {"64 B Writes, 1024 QPs", "write_bw", many, 74, 0},
          {"64 KiB Writes", "write_bw", large, 0, 0.98, true},
          {"64 KiB Sends", "send_bw", large, 0, 0.98, true},
          {"64 KiB Reads", "read_bw", large, 0, 0.98, true}};
}

}  // namespace

void Results::goals() {
  struct Row {
    const Goal* goal;
    bool both;
    const char* kind;
  };
  const std::vector<Goal> all = app::goals();
  std::vector<Row> rows;
  std::vector<RunRequest> requests;
  for (const Goal& g : all) {
    for (const bool both : {false, true}) {
      if ((both ? g.both_ways : g.one_way) == 0) continue;
      for (const char* kind : {"rtl", "model"}) {
        rows.push_back({&g, both, kind});
        requests.push_back(request(g.program, kind, g.settings));
        if (both) requests.back().config.set("both=1", "results");
      }
    }
  }
  const std::vector<Outcome> outs = run(requests, options_.jobs);
  std::vector<std::vector<std::string>> table{{"what", "goal, at least", "RTL", "model"}};
  for (size_t i = 0; i < rows.size(); i += 2) {
    const Goal& g = *rows[i].goal;
    const double wanted = rows[i].both ? g.both_ways : g.one_way;
    const auto text = [&](double x) {
      return g.is_of_limit ? fmt::format("{:.1f} % of the wire limit", 100 * x)
                           : fmt::format("{:.1f} M/s", x);
    };
    // The slower of both directions.
    const auto measured = [&](const Outcome& o) {
      if (o.status != kGood) return 0.0;
      const char* key = g.is_of_limit ? "gbps" : "msg_per_s";
      double least = o.json[key];
      if (rows[i].both) least = std::min(least, o.json["back"][key].get<double>());
      return g.is_of_limit ? least / o.json["wire_limit_gbps"].get<double>() : least / 1e6;
    };
    const double rtl = measured(outs[i]), model = measured(outs[i + 1]);
    const std::string what =
        fmt::format("{}, {}", g.what, rows[i].both ? "both ways, each" : "one way");
    table.push_back({what, text(wanted), text(rtl), text(model)});
    figure(
        what + ", RTL", text(rtl), text(wanted), rtl >= wanted,
        fmt::format("{:.1f} % of the goal; the model gives {}", 100 * rtl / wanted, text(model)));
  }
  section("Goals of the fast path", markdown(table));
}

}  // namespace rnic::app

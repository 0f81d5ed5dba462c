// The part of results that measures bandwidth as a function of message size, and plots it. See
// results.hpp.
#include <fmt/format.h>

#include <algorithm>

#include "measure/results.hpp"
#include "output/files.hpp"
#include "output/gnuplot.hpp"

namespace rnic::app {
namespace {

constexpr uint32_t kLeast = 8, kMost = 65536;  // bytes of a message
constexpr unsigned kQps = 8;

struct Point {
  uint32_t size = 0;
  double rtl = 0, model = 0, limit = 0;  // Gb/s
};

/// Settings for 8 QPs. The count per QP makes 2 MiB in total, but is at least 6 and at most 300.
std::vector<std::string> settings(uint32_t size) {
  const uint32_t count = std::clamp<uint32_t>((2u << 20) / kQps / size, 6, 300);
  const uint32_t depth = std::clamp<uint32_t>(65536 / size, 4, 64);
  return {fmt::format("size={}", size),
          "qps=2",
          "threads=4",
          fmt::format("depth={}", depth),
          fmt::format("count={}", count),
          fmt::format("warmup={}", depth)};
}

/// One gnuplot program. The drawing depends only on the points, so a repeated run writes the same
/// file.
std::string script(const std::vector<Point>& points) {
  std::string data;
  for (const Point& p : points)
    data += fmt::format("{} {:.3f} {:.3f} {:.3f}\n", p.size, p.limit, p.rtl, p.model);
  return fmt::format(
      R"(set terminal svg size 760,400 font "sans-serif,13" background "#ffffff"
set title "RDMA Write, 8 QPs, 100 GbE, MTU 1500"
set xlabel "message size, bytes"
set ylabel "payload, Gb/s"
set logscale x 2
set xrange [{}:{}]
set yrange [0:105]
set grid lc rgb "#dddddd"
set key bottom right
$points << EOD
{}EOD
plot $points using 1:2 with lines lw 2 dt 2 lc rgb "#888888" title "wire limit", \
  $points using 1:3 with linespoints lw 2 pt 7 ps 0.7 lc rgb "#1f5fa8" title "RTL", \
  $points using 1:4 with points pt 6 ps 1.1 lw 1.5 lc rgb "#d1602a" title "model"
)",
      kLeast, kMost, data);
}

}  // namespace

void Results::bandwidth() {
  std::vector<RunRequest> requests;
  for (uint32_t size = kLeast; size <= kMost; size *= 2) {
    for (const char* kind : {"rtl", "model"})
      requests.push_back(request("write_bw", kind, settings(size)));
  }
  const std::vector<Outcome> outs = run(requests, options_.jobs);
  std::vector<Point> points;
  std::vector<std::vector<std::string>> rows{{"message, bytes", "RTL, Gb/s", "model", "wire limit",
                                              "RTL of the limit", "RTL, M messages/s"}};
  for (size_t i = 0; i < outs.size(); i += 2) {
    const auto &rtl = outs[i], &model = outs[i + 1];
    if (rtl.status != kGood || model.status != kGood) continue;
    const Point p{.size = rtl.json["size"],
                  .rtl = rtl.json["gbps"],
                  .model = model.json["gbps"],
                  .limit = rtl.json["wire_limit_gbps"]};
    points.push_back(p);
    rows.push_back({fmt::format("{}", p.size), fmt::format("{:.2f}", p.rtl),
                    fmt::format("{:.2f}", p.model), fmt::format("{:.2f}", p.limit),
                    fmt::format("{:.1f} %", 100 * p.rtl / p.limit),
                    fmt::format("{:.2f}", rtl.json["msg_per_s"].get<double>() / 1e6)});
  }
  section("Bandwidth against message size, RDMA Write, 8 QPs in 4 threads", markdown(rows));
  if (options_.plot.empty() || points.empty() || status() != kGood) return;
  write_file(options_.plot, gnuplot_svg(script(points)));
}

}  // namespace rnic::app

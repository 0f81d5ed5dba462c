// The plots of rnic-sim sweep: which one the options choose, what is refused, what is drawn.
// docs/simulator.md, Sweeps
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "output/gnuplot.hpp"
#include "settings/errors.hpp"
#include "support/folder.hpp"
#include "sweep/plot.hpp"
#include "sweep/plot_axis.hpp"

namespace rnic::app::sweep {
namespace {

using Kind = PlotSpec::Kind;

Dimension dimension(const std::string& name, const std::vector<std::string>& values) {
  Dimension d{.names = {name}, .values = {}};
  for (const std::string& v : values) d.values.push_back({v});
  return d;
}
std::vector<std::string> numbers(int from, int to, int step, const std::string& unit = "") {
  std::vector<std::string> all;
  for (int i = from; i <= to; i += step) all.push_back(std::to_string(i) + unit);
  return all;
}

const Dimension kSize = dimension("size", {"64", "512", "4096", "32768"}),
                kQps = dimension("qps", {"1", "2", "8"}),
                kLatency = dimension("pcie_latency_ns", {"200", "500", "800"}),
                kProgram = dimension("program", {"write_bw", "read_bw"});
const Dimension kDevices{.names = {"client", "server"},
                         .values = {{"model", "model"}, {"rtl", "rtl"}}};

std::string usage_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Usage& e) {
    return e.what();
  }
  return "";
}
std::string missing_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Missing& e) {
    return e.what();
  }
  return "";
}
std::string refusal(const std::vector<Dimension>& dimensions, const PlotAxes& axes) {
  return usage_of([&] { (void)plot_spec(dimensions, axes); });
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

/// A table whose figures depend only on the point. `fails`: the points without a result.
Table table_of(const std::vector<Dimension>& dimensions, const std::vector<uint64_t>& fails = {}) {
  const Grid grid(dimensions);
  Table table("0123", grid);
  for (uint64_t p = 0; p < grid.size(); ++p) {
    const Grid::Point at = grid.at(p);
    const auto value = [&](const std::string& name, const std::string& other) {
      for (const auto& [n, v] : at) {
        if (n == name) return v;
      }
      return other;
    };
    const double size = std::stod(value("size", "4096")), qps = std::stod(value("qps", "1")),
                 pcie = std::stod(value("pcie_latency_ns", "500"));
    const bool is_rtl = value("client", "model") == "rtl";
    const double limit = 100 * size / (size + 80), factor = is_rtl ? 0.97 : 1;
    const double gbps = factor * std::min(limit, size * qps / 400),
                 ns = (is_rtl ? 20 : 0) + 2 * pcie + 1000 + size / 10 + 90 * qps;
    Outcome o;
    o.json = {{"program", value("program", "write_bw")},
              {"client", value("client", "model")},
              {"server", value("server", "model")},
              {"sim_ns", 1e6},
              {"gbps", gbps},
              {"msg_per_s", gbps * 1e9 / 8 / size},
              {"wire_limit_gbps", limit},
              {"settings", nlohmann::ordered_json::object()}};
    std::vector<double> cdf;
    for (int i = 0; i <= 100; ++i) cdf.push_back(ns + i * i * qps / 20);
    o.json["latency_ns"] = {
        {"min", cdf[0]}, {"p50", cdf[50]}, {"p99", cdf[99]}, {"max", cdf[100]}, {"cdf", cdf}};
    o.json["path"] = {
        {"host_ns", 100}, {"pcie_ns", 2 * pcie}, {"link_ns", size / 10}, {"device_ns", 900}};
    if (std::ranges::find(fails, p) != fails.end()) {
      o.status = kMismatch;
      o.failure = "a mismatch\n";
    }
    table.add(p, at, o);
  }
  return table;
}

/// The drawing, without a warning by gnuplot. RNIC_PLOTS=FOLDER keeps it there as a file.
std::string drawn(const Table& table, const PlotAxes& axes) {
  testing::internal::CaptureStderr();
  std::string svg;
  try {
    svg = draw(table, plot_spec(dimensions_of(table), axes));
  } catch (...) {
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    throw;
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  if (const char* folder = std::getenv("RNIC_PLOTS")) {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    std::ofstream(fmt::format("{}/{}_{}.svg", folder, test->name(), axes.y)) << svg;
  }
  return svg;
}

TEST(PlotSpec, ChoosesAxes) {
  const auto is = [](const PlotSpec& p, Kind kind, const char* x, const char* y, const char* by) {
    EXPECT_EQ(p.kind, kind);
    EXPECT_EQ(p.x, x);
    EXPECT_EQ(p.y, y);
    EXPECT_EQ(p.by, by);
  };
  is(plot_spec({kSize}, {}), Kind::kLines, "size", "gbps", "");
  is(plot_spec({kProgram, kSize}, {.by = "program"}), Kind::kLines, "size", "gbps", "program");
  is(plot_spec({kProgram}, {.y = "msg_per_s"}), Kind::kLines, "program", "msg_per_s", "");
  is(plot_spec({kSize, kQps}, {.by = "size"}), Kind::kLines, "qps", "gbps", "size");
  is(plot_spec({kSize, kQps}, {.x = "qps", .by = "size"}), Kind::kLines, "qps", "gbps", "size");
  is(plot_spec({kSize, kQps}, {}), Kind::kHeat, "size", "gbps", "qps");
  is(plot_spec({kSize, kQps}, {.x = "qps"}), Kind::kHeat, "qps", "gbps", "size");
  is(plot_spec({kSize, kDevices}, {}), Kind::kLines, "size", "gbps", "");
  is(plot_spec({kSize, kQps, kDevices}, {}), Kind::kLines, "size", "gbps", "qps");
  is(plot_spec({kDevices}, {}), Kind::kLines, "client", "gbps", "");
  is(plot_spec({kSize, kDevices}, {.by = "server"}), Kind::kLines, "size", "gbps", "server");
  is(plot_spec({kSize}, {.y = "percentiles"}), Kind::kPercentiles, "size", "percentiles", "");
  is(plot_spec({kSize, kDevices}, {.y = "time"}), Kind::kTime, "size", "time", "");
  is(plot_spec({kSize, kQps}, {.y = "cdf"}), Kind::kCdf, "", "cdf", "");
  is(plot_spec({}, {.y = "cdf"}), Kind::kCdf, "", "cdf", "");
}

TEST(PlotSpec, TakesTheNumericNameOfLinkedSettings) {
  const Dimension linked{.names = {"build", "size"}, .values = {{"default", "64"}, {"stall", "8"}}};
  EXPECT_EQ(plot_spec({linked}, {}).x, "size");
  EXPECT_EQ(plot_spec({linked}, {.x = "build"}).x, "build");
}

TEST(PlotSpec, RefusesWhatIsNotSwept) {
  EXPECT_EQ(refusal({kSize, kQps}, {.x = "sise"}),
            "--x sise: not swept, did you mean size?; one of size, qps");
  EXPECT_EQ(refusal({kSize, kQps}, {.by = "mtu"}), "--by mtu: not swept; one of size, qps");
  EXPECT_TRUE(refusal({kSize}, {.y = "gbs"})
                  .starts_with("--y gbs: no figure of this name, did you mean gbps?; one of "
                               "percentiles, cdf, time, gbps, "));
  EXPECT_EQ(refusal({}, {}),
            "--plot: nothing is swept; give a setting several values (--set size=64,4096)");
}

TEST(PlotSpec, RefusesADimensionWithoutAxis) {
  EXPECT_EQ(refusal({kSize, kQps, kLatency}, {}),
            "--plot: no axis for qps (3 values), pcie_latency_ns (3 values); draw a line per value "
            "(--by qps) or fix the others (--set pcie_latency_ns=200)");
  EXPECT_EQ(refusal({kSize, kQps, kLatency}, {.by = "qps"}),
            "--plot: no axis for pcie_latency_ns (3 values); fix it (--set pcie_latency_ns=200)");
  EXPECT_EQ(refusal({kSize, kQps}, {.y = "percentiles"}),
            "--plot: no axis for qps (3 values); draw a line per value (--by qps) or fix it (--set "
            "qps=1)");
  EXPECT_TRUE(
      has(refusal({kSize, kProgram, kQps}, {.by = "qps"}), "fix it (only program write_bw)"));
}

TEST(PlotSpec, RefusesAxesThatDoNotFit) {
  EXPECT_TRUE(has(refusal({kSize, kQps}, {.x = "size", .by = "size"}), "changes together with"));
  EXPECT_TRUE(has(refusal({kSize, kDevices}, {.x = "client", .by = "server"}), "changes together"));
  EXPECT_TRUE(has(refusal({kSize}, {.by = "size"}), "leave --by out"));
  EXPECT_TRUE(has(refusal({kSize}, {.x = "size", .y = "cdf"}), "--x size: has no effect"));
}

TEST(PlotSpec, RefusesTooManyLines) {
  const Dimension seeds = dimension("seed", numbers(1, 41, 1));
  EXPECT_EQ(refusal({kSize, seeds}, {.by = "seed"}),
            "--plot: 41 lines, a plot with --y gbps has at most 40; give seed fewer values, or fix "
            "it (--seed 1)");
  EXPECT_EQ(refusal({seeds}, {}), "");
  EXPECT_EQ(refusal({kSize, kQps}, {.y = "cdf"}), "");
  EXPECT_EQ(refusal({kSize, kQps, kDevices}, {.y = "cdf"}),
            "--plot: 24 lines, a plot with --y cdf has at most 12; give size fewer values, or fix "
            "it (--set size=64)");
}

TEST(PlotSpec, FindsTheDimensionsOfATable) {
  const Dimension linked{.names = {"mtu", "depth"}, .values = {{"1500", "16"}, {"9000", "4"}}};
  const std::vector<Dimension> found = dimensions_of(table_of({kSize, linked, kDevices}, {3}));
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].names, kSize.names);
  EXPECT_EQ(found[0].values, kSize.values);
  EXPECT_EQ(found[1].names, linked.names);
  EXPECT_EQ(found[1].values, linked.values);
  EXPECT_EQ(found[2].names, kDevices.names);
  EXPECT_EQ(
      dimensions_of(table_of({dimension("size", {"1", "2"}), dimension("qps", {"1", "2"})})).size(),
      2u);
}

TEST(PlotAxis, IsLogarithmicWhereValuesGrowByFactors) {
  EXPECT_TRUE(grow_by_factors({8, 16, 32, 64}));
  EXPECT_TRUE(grow_by_factors({1, 2, 4}));
  EXPECT_TRUE(grow_by_factors({64, 4096}));
  EXPECT_FALSE(grow_by_factors({1, 2}));
  EXPECT_FALSE(grow_by_factors({1, 2, 3, 4, 5, 6}));
  EXPECT_FALSE(grow_by_factors({0, 1, 2, 4, 8}));
  EXPECT_FALSE(grow_by_factors({200, 500, 800, 1100, 1400, 1700, 2000}));
}

TEST(Plot, LinesOfModelAndRtlWithTheLimit) {
  const std::string svg = drawn(table_of({kSize, kDevices}), {});
  for (const char* part : {">size, bytes<", ">payload, Gb/s<", ">wire limit<", ">model<", ">RTL<",
                           ">write_bw<", ">4096<"})
    EXPECT_TRUE(has(svg, part)) << part;
  EXPECT_TRUE(has(svg, "stroke-dasharray"));
  EXPECT_TRUE(has(svg, "fill=\"#ffffff\""));
  EXPECT_EQ(count(svg, "<g id=\"gnuplot_plot_"), 3u);
}

TEST(Plot, ColoursAreOfBy) {
  const std::string svg = drawn(table_of({kSize, kQps, kDevices}), {.y = "msg_per_s", .by = "qps"});
  EXPECT_TRUE(has(svg, ">messages per second, millions<"));
  EXPECT_TRUE(has(svg, ">qps=8, RTL<"));
  EXPECT_TRUE(has(svg, ">qps=1, model<"));
  EXPECT_EQ(count(svg, "<g id=\"gnuplot_plot_"), 6u);
  EXPECT_FALSE(has(svg, "wire limit"));
}

TEST(Plot, SameTableSameBytes) {
  const Table table = table_of({kSize, kQps, kDevices});
  EXPECT_EQ(drawn(table, {}), drawn(table, {}));
}

TEST(Plot, CategoriesAreTicks) {
  std::string svg = drawn(table_of({kProgram, kDevices}), {});
  EXPECT_TRUE(has(svg, ">read_bw<"));
  EXPECT_TRUE(has(svg, ">program<"));
  svg = drawn(table_of({kDevices}), {.y = "latency_p50_ns"});
  EXPECT_TRUE(has(svg, ">rtl<"));
  EXPECT_TRUE(has(svg, ">median latency, ns<"));
}

TEST(Plot, HeatMapLeavesMissingPointsBlank) {
  const auto cells = [](const std::string& svg) { return count(svg, "<polygon fill = 'rgb("); };
  const size_t all = cells(drawn(table_of({kSize, kQps}), {}));
  const std::string svg = drawn(table_of({kSize, kQps}, {1, 5}), {});
  EXPECT_EQ(cells(svg), all - 2);
  for (const char* part : {">size, bytes<", ">qps, QPs<", ">payload, Gb/s<", ">512<"})
    EXPECT_TRUE(has(svg, part)) << part;
}

TEST(Plot, HeatMapOfOneValue) {
  EXPECT_NE(drawn(table_of({kSize, kQps}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}), {}), "");
}

TEST(Plot, Percentiles) {
  const std::string svg = drawn(table_of({kSize}), {.y = "percentiles"});
  for (const char* part : {">minimum<", ">median<", ">99 %<", ">maximum<", ">latency, ns<"})
    EXPECT_TRUE(has(svg, part)) << part;
  EXPECT_EQ(count(drawn(table_of({kSize, kQps, kDevices}), {.y = "percentiles", .by = "qps"}),
                  "<g id=\"gnuplot_plot_"),
            24u);
}

TEST(Plot, Distributions) {
  const std::string svg = drawn(table_of({kQps, kDevices}), {.y = "cdf"});
  EXPECT_TRUE(has(svg, ">share of the messages, %<"));
  EXPECT_TRUE(has(svg, ">latency, ns<"));
  EXPECT_TRUE(has(svg, ">qps=2, RTL<"));
  EXPECT_EQ(count(svg, "<g id=\"gnuplot_plot_"), 6u);
}

TEST(Plot, TimeAsStackedBars) {
  const std::string svg = drawn(table_of({kLatency, kDevices}), {.y = "time"});
  for (const char* part : {">host<", ">PCIe<", ">link<", ">device<", ">time of a message, ns<",
                           ">pcie_latency_ns, ns<", ">500, RTL<"})
    EXPECT_TRUE(has(svg, part)) << part;
}

TEST(Plot, ManyValuesHaveRoom) {
  const std::string svg = drawn(table_of({dimension("pcie_latency_ns", numbers(100, 6000, 50)),
                                          dimension("qps", numbers(1, 12, 1))}),
                                {.y = "latency_p50_ns", .by = "qps"});
  EXPECT_TRUE(has(svg, ">qps=12<"));
  EXPECT_TRUE(has(svg, ">100<"));
  EXPECT_FALSE(has(svg, ">150<"));  // no room beside 100
  EXPECT_TRUE(has(svg, ">5850<") || has(svg, ">5900<") || has(svg, ">5950<") || has(svg, ">6000<"));
  const std::string turned =
      drawn(table_of({dimension("preset", numbers(1, 14, 1, " a long name"))}), {.y = "gbps"});
  EXPECT_TRUE(has(turned, "rotate(-90)") || has(turned, "rotate(270)")) << turned;
  EXPECT_TRUE(has(turned, ">7 a long name<"));
  EXPECT_TRUE(
      has(drawn(table_of({dimension("pcie_latency_ns", numbers(0, 1'000'000'000, 50'000'000)),
                          dimension("qps", numbers(1, 40, 1))}),
                {.y = "path_pcie_ns"}),
          ">40<"));
}

TEST(Plot, ClientAndServerApart) {
  const Dimension client = dimension("client", {"model", "rtl", "tandem"}),
                  server = dimension("server", {"model", "rtl", "tandem"});
  EXPECT_TRUE(has(drawn(table_of({kSize, client, server}), {}), ">RTL client, model server<"));
  const std::string svg = drawn(table_of({client, server}), {.y = "latency_max_ns"});
  EXPECT_TRUE(has(svg, ">tandem<"));
  EXPECT_TRUE(has(svg, ">client<"));
}

TEST(Plot, LeavesOutRunsWithErrors) {
  const std::string svg = drawn(table_of({kSize, kQps}, {2, 5, 8, 11}), {.by = "qps"});
  EXPECT_FALSE(has(svg, "qps=8"));
  EXPECT_TRUE(has(svg, "qps=2"));
  EXPECT_EQ(missing_of([&] {
              (void)drawn(table_of({kQps}, {0, 1, 2}), {});
            }),
            "--plot: nothing to draw, no point has run without an error");
}

TEST(Plot, RefusesAFigureThatNoRunHasMeasured) {
  EXPECT_EQ(missing_of([&] { (void)drawn(table_of({kQps}), {.y = "limit_use"}); }),
            "--plot: nothing to draw, no run has measured limit_use");
}

TEST(Plot, QuotesWhatTheTableHolds) {
  const std::string svg = drawn(table_of({dimension("program", {"it's <a>", "b_c\n\"d\""})}), {});
  EXPECT_TRUE(has(svg, ">it's &lt;a"));
  EXPECT_TRUE(has(svg, ">b_c \"d\"<"));
}

TEST(Gnuplot, IsNamedWhereItIsMissing) {
  const tb::Folder empty;
  const std::string path = std::getenv("PATH");
  setenv("PATH", empty.path().c_str(), 1);
  const std::string drawing = missing_of([] { (void)gnuplot_svg("plot x\n"); }),
                    early = missing_of([] { check_gnuplot("w.svg"); });
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(drawing, "gnuplot is missing (apt-get install gnuplot-nox)");
  EXPECT_EQ(early, "--plot w.svg: gnuplot is missing (apt-get install gnuplot-nox)");
}

TEST(Gnuplot, ReportsItsFailure) {
  testing::internal::CaptureStderr();
  const std::string what = missing_of([] { (void)gnuplot_svg("set no such thing\n"); });
  EXPECT_NE(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(what, "gnuplot failed (its messages are above)");
}

}  // namespace
}  // namespace rnic::app::sweep

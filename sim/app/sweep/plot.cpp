// Draws the table of a sweep, each kind of plot by one function. See plot.hpp.
#include "sweep/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "output/gnuplot.hpp"
#include "settings/errors.hpp"
#include "sweep/plot_axis.hpp"
#include "sweep/plot_drawing.hpp"

namespace rnic::app::sweep {
namespace {

using Kind = PlotSpec::Kind;

/// Client and server of a row; empty where they are the x axis.
using Devices = std::pair<std::string, std::string>;

std::string device_name(const std::string& kind) { return kind == "rtl" ? "RTL" : kind; }
std::string label_of(const Devices& d) {
  if (d.first == d.second || d.second.empty()) return device_name(d.first);
  if (d.first.empty()) return device_name(d.second);
  return fmt::format("{} client, {} server", device_name(d.first), device_name(d.second));
}

/// How gnuplot draws a line: lw width, pt point type, ps point size. A line of one point, or over
/// categories, is points. Point types: 6 open circles for a model; filled circles (7) for RTL,
/// squares (5) for tandem, triangles (9) for different devices.
std::string style_of(const Devices& d, bool joins) {
  const bool is_model = (d.first == "model" || d.first.empty()) &&
                        (d.second == "model" || d.second.empty()) && d != Devices{};
  if (is_model) return joins ? "lines lw 2" : "points pt 6 ps 1.2 lw 1.5";
  const bool is_mixed = !d.first.empty() && !d.second.empty() && d.first != d.second;
  const int point = is_mixed ? 9 : d.first == "tandem" ? 5 : 7;
  return fmt::format("{} lw 1 pt {} ps {}", joins ? "linespoints" : "points", point,
                     joins ? 0.6 : 0.8);
}

/// "size=64"; of a program or device only the value.
std::string named(const std::string& column, const std::string& value) {
  if (is_device(column)) return device_name(value);
  if (column == "program") return value;
  return fmt::format("{}={}", column, value);
}

class Plot {
 public:
  Plot(const Table& table, const PlotSpec& spec);
  std::string svg();

 private:
  /// Identifies a line of the plot: the row's place on the axis `by`, the number of the figure (of
  /// kFigures in percentiles(); else 0), and the devices.
  using Key = std::tuple<size_t, size_t, Devices>;
  struct Curve {
    const CsvRow* row = nullptr;  // one of its rows, for the title
    std::map<double, double> points;
  };

  void lines();
  void limit();
  void heat();
  void percentiles();
  void distributions();
  void times();
  std::string title() const;

  Devices devices(const CsvRow& row) const;
  std::string title_of(const CsvRow& row) const;
  /// The value of `by`; empty for devices, which device_label names.
  std::string by_label(const CsvRow& row) const;
  /// Empty if all rows have the same devices.
  std::string device_label(const CsvRow& row) const;
  size_t by_place(const CsvRow& row) const;
  size_t by_size() const { return spec_.by.empty() ? 1 : by_.values().size(); }
  std::optional<double> number(const CsvRow& row, const std::string& column) const;
  /// Adds a curve; `dash` is gnuplot's number.
  void add(const Curve& c, const std::string& title, const std::string& colour, size_t dash,
           bool joins);
  /// Refuses a plot without data.
  void need(bool is_there, const std::string& column) const;
  void y_axis(const std::string& label);

  const Table& table_;
  const PlotSpec& spec_;
  std::vector<const CsvRow*> rows_;  // that have run without an error
  Axis x_, by_;
  // is_swept_device_: devices are swept, but not on the x axis. is_x_client_, is_x_server_: the x
  // axis shows clients, servers.
  bool is_swept_device_ = false, is_x_client_ = false, is_x_server_ = false;

  Drawing drawing_;
  double low_ = 0, high_ = 0;  // of y
};

Plot::Plot(const Table& table, const PlotSpec& spec) : table_(table), spec_(spec) {
  for (const auto& [point, row] : table.rows()) {
    if (table.cell(row, "status") == "0") rows_.push_back(&row);
  }
  if (rows_.empty()) throw Missing("--plot: nothing to draw, no point has run without an error");
  const Axis::Kind kind = spec.kind == Kind::kHeat ? Axis::Kind::kCategories : Axis::Kind::kNumbers;
  if (!spec.x.empty()) x_ = Axis(table, spec.x, kind);
  if (!spec.by.empty()) by_ = Axis(table, spec.by, kind);
  for (const Dimension& d : dimensions_of(table)) {
    const bool is_x = std::ranges::find(d.names, spec.x) != d.names.end();
    for (const std::string& name : d.names) {
      if (!is_device(name) || d.values.size() < 2) continue;
      const bool is_on_x = is_x && is_device(spec.x);
      (!is_on_x ? is_swept_device_ : name == "client" ? is_x_client_ : is_x_server_) = true;
    }
  }
}

std::string Plot::svg() {
  switch (spec_.kind) {
    case Kind::kLines:
      lines();
      break;
    case Kind::kHeat:
      heat();
      break;
    case Kind::kPercentiles:
      percentiles();
      break;
    case Kind::kCdf:
      distributions();
      break;
    case Kind::kTime:
      times();
      break;
  }
  return gnuplot_svg(drawing_.script(title()));
}

Devices Plot::devices(const CsvRow& row) const {
  return {is_x_client_ ? "" : table_.cell(row, "client"),
          is_x_server_ ? "" : table_.cell(row, "server")};
}
std::string Plot::by_label(const CsvRow& row) const {
  return spec_.by.empty() || is_device(spec_.by) ? "" : named(spec_.by, table_.cell(row, spec_.by));
}
std::string Plot::device_label(const CsvRow& row) const {
  return is_swept_device_ ? label_of(devices(row)) : "";
}
std::string Plot::title_of(const CsvRow& row) const {
  return joined(by_label(row), device_label(row));
}
size_t Plot::by_place(const CsvRow& row) const {
  return spec_.by.empty() ? 0 : by_.place(table_.cell(row, spec_.by));
}
std::optional<double> Plot::number(const CsvRow& row, const std::string& column) const {
  const auto n = table_.number(row, column);
  return n && std::isfinite(*n) ? n : std::nullopt;
}

void Plot::need(bool is_there, const std::string& column) const {
  if (!is_there)
    throw Missing(fmt::format("--plot: nothing to draw, no run has measured {}", column));
}

void Plot::add(const Curve& c, const std::string& title, const std::string& colour, size_t dash,
               bool joins) {
  Drawing::Line& line = drawing_.lines.emplace_back();
  line.title = title;
  line.style = fmt::format("{} dt {} lc rgb \"{}\"",
                           style_of(devices(*c.row), joins && c.points.size() > 1), dash, colour);
  for (const auto& [x, y] : c.points) {
    line.data += fmt::format("{:.10g} {:.10g}\n", x, y);
    low_ = std::min(low_, y);
    high_ = std::max(high_, y);
  }
}

/// Sets the y axis: from 0 (or from below the least value, if it is negative), with some room
/// above; numbers without exponents.
void Plot::y_axis(const std::string& label) {
  if (high_ == low_) high_ = low_ + 1;
  const double room = 0.05 * (high_ - low_);
  drawing_.axes +=
      fmt::format("set ylabel {}\nset yrange [{:.10g}:{:.10g}]\nset format y \"%.10g\"\n",
                  gnuplot_string(label), low_ < 0 ? low_ - room : 0, high_ + room);
}

/// A figure's factor and label; large numbers are counted in millions.
PlotFigure figure_of(const Table& table, const std::vector<const CsvRow*>& rows,
                     const std::string& column, std::string& label) {
  PlotFigure f = *std::ranges::find(plot_figures(), column, &PlotFigure::column);
  label = f.label;
  double most = 0;
  for (const CsvRow* row : rows) most = std::max(most, table.number(*row, column).value_or(0));
  if ((column == "msg_per_s" || column == "ops") && most >= 1e6) {
    f.scale = 1e-6;
    label += ", millions";
  }
  return f;
}

void Plot::lines() {
  std::string label;
  const PlotFigure f = figure_of(table_, rows_, spec_.y, label);
  std::map<Key, Curve> all;
  for (const CsvRow* row : rows_) {
    const auto n = number(*row, spec_.y);
    if (!n) continue;
    Curve& c = all[{by_place(*row), 0, devices(*row)}];
    c.row = row;
    c.points[x_.at(table_.cell(*row, spec_.x))] = *n * f.scale;
  }
  need(!all.empty(), spec_.y);
  if (spec_.y == "gbps") limit();
  // Without `by`, devices have colours.
  size_t i = 0;
  for (const auto& [key, c] : all) {
    const std::string own =
        spec_.by.empty() ? colour(i++, all.size()) : colour(std::get<0>(key), by_size());
    add(c, title_of(*c.row), own, 1, x_.is_numeric());
  }
  drawing_.axes += x_.commands('x', Drawing::kWidth);
  y_axis(label);
}

/// The limit of the wire, dashed: one line if it is the same for every value of `by`.
void Plot::limit() {
  std::map<size_t, std::map<double, double>> each;
  std::map<double, double> common;
  bool is_common = true;
  for (const CsvRow* row : rows_) {
    const auto n = number(*row, "wire_limit_gbps");
    if (!n) continue;
    const double x = x_.at(table_.cell(*row, spec_.x));
    each[by_place(*row)][x] = *n;
    if (common.emplace(x, *n).first->second != *n) is_common = false;
  }
  if (each.empty()) return;
  if (is_common) each = {{0, common}};
  for (const auto& [place, points] : each) {
    Drawing::Line& line = drawing_.lines.emplace_back();
    if (place == each.begin()->first) line.title = "wire limit";
    const bool joins = x_.is_numeric() && points.size() > 1;
    line.style = fmt::format("{} lw 2 dt 2 lc rgb \"{}\"", joins ? "lines" : "vectors nohead",
                             is_common ? kGrey : colour(place, by_size()));
    if (!joins) line.columns = "1:2:3:4";
    // Over categories, the limit is a dash at each category, `half` to either side.
    const double half = x_.is_numeric() ? 0 : 0.4;
    for (const auto& [x, y] : points) {
      line.data += joins ? fmt::format("{:.10g} {:.10g}\n", x, y)
                         : fmt::format("{:.10g} {:.10g} {:.10g} 0\n", x - half, y, 2 * half);
      high_ = std::max(high_, y);
    }
  }
}

void Plot::heat() {
  std::string label;
  const PlotFigure f = figure_of(table_, rows_, spec_.y, label);
  struct Cell {
    double x = 0, y = 0, value = 0;
  };
  std::vector<Cell> cells;
  for (const CsvRow* row : rows_) {
    if (const auto n = number(*row, spec_.y))
      cells.push_back(
          {x_.at(table_.cell(*row, spec_.x)), by_.at(table_.cell(*row, spec_.by)), *n * f.scale});
  }
  need(!cells.empty(), spec_.y);
  const auto [least, most] = std::ranges::minmax(cells, {}, &Cell::value);
  const double low = least.value, range = most.value > low ? most.value - low : 1;
  drawing_.axes += x_.commands('x', Drawing::kHeatWidth) + by_.commands('y', Drawing::kHeight);
  drawing_.axes += palette_command();
  // gnuplot underestimates the width of the numbers at the colour bar.
  const size_t digits = std::max<size_t>(fmt::format("{:.0f}", most.value).size(), 4);
  drawing_.axes += fmt::format(
      "set cblabel {} offset 2\nset rmargin {}\nset cbrange [{:.10g}:{:.10g}]\n"
      "set format cb \"%.10g\"\nunset grid\nset xtics scale 0\nset ytics scale 0\n",
      gnuplot_string(label), digits + 1, low, low + range);
  Drawing::Line& line = drawing_.lines.emplace_back();
  line.style = "boxxyerror fs solid noborder lc palette";
  line.columns = "1:2:3:4:5:6:7";
  for (const Cell& c : cells)
    line.data += fmt::format("{0:.10g} {1:.10g} {2:.10g} {3:.10g} {4:.10g} {5:.10g} {6:.10g}\n",
                             c.x, c.y, c.x - 0.5, c.x + 0.5, c.y - 0.5, c.y + 0.5, c.value);
  // Writes the numbers into the cells if a cell has room for a number: kCellWidth times kCellHeight
  // pixels. kDark: cells below this share of the range are dark, and have white numbers.
  constexpr double kCellWidth = 42, kCellHeight = 18, kDark = 0.6;
  if (Drawing::kHeatWidth / static_cast<double>(x_.values().size()) < kCellWidth ||
      Drawing::kHeight / static_cast<double>(by_.values().size()) < kCellHeight)
    return;
  for (const bool is_dark : {true, false}) {
    Drawing::Line text;
    text.columns = "1:2:3";
    text.style = fmt::format("labels tc rgb \"{}\"", is_dark ? "#ffffff" : "#000000");
    for (const Cell& c : cells) {
      if (((c.value - low) / range < kDark) != is_dark) continue;
      text.data += fmt::format("{:.10g} {:.10g} {:.{}f}\n", c.x, c.y, c.value,
                               std::abs(c.value) < 10    ? 2
                               : std::abs(c.value) < 100 ? 1
                                                         : 0);
    }
    if (!text.data.empty()) drawing_.lines.push_back(std::move(text));
  }
}

void Plot::percentiles() {
  struct Figure {
    const char *column, *title;
    size_t dash;
  };
  constexpr std::array<Figure, 4> kFigures = {{{"latency_min_ns", "minimum", 3},
                                               {"latency_p50_ns", "median", 1},
                                               {"latency_p99_ns", "99 %", 2},
                                               {"latency_max_ns", "maximum", 4}}};
  std::map<Key, Curve> all;
  for (const CsvRow* row : rows_) {
    for (size_t k = 0; k < kFigures.size(); ++k) {
      const auto n = number(*row, kFigures[k].column);
      if (!n) continue;
      Curve& c = all[{by_place(*row), k, devices(*row)}];
      c.row = row;
      c.points[x_.at(table_.cell(*row, spec_.x))] = *n;
    }
  }
  need(!all.empty(), "latency_p50_ns");
  for (const auto& [key, c] : all) {
    const size_t k = std::get<1>(key);
    add(c, joined(kFigures[k].title, title_of(*c.row)),
        spec_.by.empty() ? colour(k, kFigures.size()) : colour(std::get<0>(key), by_size()),
        kFigures[k].dash, x_.is_numeric());
  }
  drawing_.axes += x_.commands('x', Drawing::kWidth);
  y_axis("latency, ns");
}

/// The quantiles in a cell.
std::vector<double> quantiles(const std::string& cell) {
  std::vector<double> all;
  const char* end = cell.data() + cell.size();
  for (const char* at = cell.data(); at != end;) {
    double v = 0;
    const auto r = std::from_chars(at, end, v);
    if (r.ec != std::errc()) return {};
    all.push_back(v);
    at = std::find_if(r.ptr, end, [](char c) { return c != ' '; });
  }
  return all;
}

void Plot::distributions() {
  // If the longest latency is this many times the shortest, the axis is logarithmic: a linear axis
  // would hide the short latencies.
  constexpr double kManyTimes = 100;
  std::vector<std::string> colours, dashes;  // entry of each colour, of each dash
  const auto place = [](std::vector<std::string>& all, const std::string& what) {
    const auto it = std::ranges::find(all, what);
    if (it != all.end()) return static_cast<size_t>(it - all.begin());
    all.push_back(what);
    return all.size() - 1;
  };
  struct Entry {
    Curve curve;
    size_t colour, dash;
    std::string title;
  };
  std::vector<Entry> all;
  double shortest = HUGE_VAL, longest = 0;
  for (const CsvRow* row : rows_) {
    const std::vector<double> q = quantiles(table_.cell(*row, "latency_cdf_ns"));
    if (q.size() < 2) continue;
    std::string rest;
    for (const std::string& d : table_.dimensions()) {
      if (!is_device(d) && d != spec_.by && table_.values(d).size() > 1)
        rest = joined(rest, named(d, table_.cell(*row, d)));
    }
    const std::string by = spec_.by.empty() ? "" : table_.cell(*row, spec_.by);
    Entry& e = all.emplace_back();
    e.curve.row = row;
    e.title = joined(joined(by_label(*row), rest), device_label(*row));
    e.colour = place(colours, !spec_.by.empty() ? by : rest.empty() ? device_label(*row) : rest);
    e.dash = spec_.by.empty() ? 0 : place(dashes, rest);
    for (size_t i = 0; i < q.size(); ++i)
      e.curve.points[100 * static_cast<double>(i) / static_cast<double>(q.size() - 1)] = q[i];
    shortest = std::min(shortest, q.front());
    longest = std::max(longest, q.back());
  }
  need(!all.empty(), "latency_cdf_ns");
  if (all.size() > kMostDistributions)
    throw Usage(fmt::format("--y cdf: {} rows, a plot of distributions has at most {}", all.size(),
                            kMostDistributions));
  for (const Entry& e : all) {
    add(e.curve, e.title, colour(e.colour, colours.size()), e.dash + 1, true);
    if (std::string& style = drawing_.lines.back().style; style.starts_with("linespoints"))
      style += " pi 10";  // a point for every tenth quantile
    // Latency is the horizontal axis.
    std::string turned;
    for (const auto& [share, ns] : e.curve.points)
      turned += fmt::format("{:.10g} {:.10g}\n", ns, share);
    drawing_.lines.back().data = std::move(turned);
  }
  const bool is_log = shortest > 0 && longest / shortest >= kManyTimes;
  const double room = longest > shortest ? 0.03 * (longest - shortest) : 1;
  drawing_.axes += fmt::format(
      "set xlabel \"latency, ns\"\nset format x \"%.10g\"\n{}set xrange [{:.10g}:{:.10g}]\n",
      is_log ? "set logscale x 10\n" : "", is_log ? shortest / 1.1 : shortest - room,
      is_log ? longest * 1.1 : longest + room);
  drawing_.axes += "set ylabel \"share of the messages, %\"\nset yrange [0:100]\n";
}

void Plot::times() {
  struct Part {
    const char *column, *title;
  };
  constexpr std::array<Part, 4> kParts = {{{"path_host_ns", "host"},
                                           {"path_pcie_ns", "PCIe"},
                                           {"path_link_ns", "link"},
                                           {"path_device_ns", "device"}}};
  constexpr std::array kPartColours = {"#0072b2", "#e69f00", "#009e73", "#d55e00"};
  // A group of bars per value of x, with a bar per value of `by` and kind of devices.
  std::map<std::pair<size_t, Key>, const CsvRow*> bars;
  std::map<Key, size_t> places;  // in a group
  for (const CsvRow* row : rows_) {
    if (!std::ranges::all_of(kParts,
                             [&](const Part& p) { return number(*row, p.column).has_value(); }))
      continue;
    const Key key{by_place(*row), 0, devices(*row)};
    bars[{x_.place(table_.cell(*row, spec_.x)), key}] = row;
    places[key];
  }
  need(!bars.empty(), "path_device_ns");
  size_t n = 0;
  for (auto& [key, place] : places) place = n++;
  constexpr double kBetween = 0.7;  // of a bar, between two groups
  const double group = static_cast<double>(n) + (n > 1 ? kBetween : 0);
  const double high =
      group * static_cast<double>(x_.values().size()) - (group - static_cast<double>(n));
  std::vector<Tick> ticks;
  for (const Part& p : kParts)
    drawing_.lines.push_back({.title = p.title, .columns = "1:2:3:4:5:6"});
  for (const auto& [at, row] : bars) {
    const double x =
        group * static_cast<double>(at.first) + static_cast<double>(places.at(at.second));
    double sum = 0;
    for (size_t k = 0; k < kParts.size(); ++k) {
      const double next = sum + *number(*row, kParts[k].column);
      drawing_.lines[k].data += fmt::format("{:.10g} {:.10g} {:.10g} {:.10g} {:.10g} {:.10g}\n", x,
                                            next, x - 0.4, x + 0.4, sum, next);
      sum = next;
    }
    high_ = std::max(high_, sum);
    const std::string value = table_.cell(*row, spec_.x);
    ticks.push_back(
        {.text = joined(is_device(spec_.x) ? device_name(value) : value, title_of(*row)),
         .at = (x + 0.5) / high,
         .position = fmt::format("{:.10g}", x)});
  }
  for (size_t k = 0; k < kParts.size(); ++k)
    drawing_.lines[k].style =
        fmt::format("boxxyerror fs solid noborder lc rgb \"{}\"", kPartColours[k]);
  drawing_.axes += fmt::format("set xlabel {}\nset xrange [-0.5:{:.10g}]\n{}set grid noxtics\n",
                               gnuplot_string(x_.label()), high - 0.5,
                               tick_commands('x', ticks, Drawing::kWidth));
  y_axis("time of a message, ns");
}

/// The program and the devices, where all rows have the same.
std::string Plot::title() const {
  std::set<std::string> programs, kinds;
  for (const CsvRow* row : rows_) {
    programs.insert(table_.cell(*row, "program"));
    kinds.insert(label_of({table_.cell(*row, "client"), table_.cell(*row, "server")}));
  }
  return joined(programs.size() == 1 ? *programs.begin() : "",
                kinds.size() == 1 ? *kinds.begin() : "");
}

}  // namespace

std::string draw(const Table& table, const PlotSpec& spec) { return Plot(table, spec).svg(); }

}  // namespace rnic::app::sweep

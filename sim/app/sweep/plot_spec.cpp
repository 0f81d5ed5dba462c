// Chooses the kind and the axes of a sweep's plot: see plot_spec.hpp.
#include "sweep/plot_spec.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include "settings/errors.hpp"
#include "settings/words.hpp"

namespace rnic::app::sweep {
namespace {

using Kind = PlotSpec::Kind;

constexpr auto kPlotFigures = std::to_array<PlotFigure>({
    {"gbps", "payload, Gb/s"},
    {"msg_per_s", "messages per second"},
    {"wire_limit_gbps", "wire limit of the payload, Gb/s"},
    {"latency_min_ns", "minimum latency, ns"},
    {"latency_p50_ns", "median latency, ns"},
    {"latency_p99_ns", "99th percentile of the latency, ns"},
    {"latency_max_ns", "maximum latency, ns"},
    {"path_host_ns", "time of a message in the host, ns"},
    {"path_pcie_ns", "time of a message on PCIe, ns"},
    {"path_link_ns", "time of a message on the link, ns"},
    {"path_device_ns", "time of a message in the devices, ns"},
    {"limit_use", "use of the most used resource, %", 100},
    {"next_use", "use of the second most used resource, %", 100},
    {"model_error", "model above RTL, %"},
    {"sim_ns", "simulated time, ns"},
    {"ops", "operations"},
    {"bytes", "payload, bytes"},
    {"mismatches", "mismatches"},
});

Kind kind_of(const std::string& y) {
  if (y == "percentiles") return Kind::kPercentiles;
  if (y == "cdf") return Kind::kCdf;
  if (y == "time") return Kind::kTime;
  std::vector<std::string> known{"percentiles", "cdf", "time"};
  for (const PlotFigure& f : kPlotFigures) known.emplace_back(f.column);
  if (std::ranges::find(known, y) == known.end())
    throw Usage(fmt::format("--y {}: no figure of this name{}; one of {}", y, nearest(y, known),
                            fmt::join(known, ", ")));
  return Kind::kLines;
}

bool has(const Dimension& d, const std::string& name) {
  return std::ranges::find(d.names, name) != d.names.end();
}

std::vector<std::string> values_of_name(const Dimension& d, const std::string& name) {
  const auto k = static_cast<size_t>(std::ranges::find(d.names, name) - d.names.begin());
  std::vector<std::string> all;
  for (const auto& v : d.values) all.push_back(v[k]);
  return all;
}

/// The first name of a dimension whose values are numbers; empty if it has none.
std::string numeric_name(const Dimension& d) {
  for (const std::string& name : d.names) {
    if (!is_device(name) && are_numbers(values_of_name(d, name))) return name;
  }
  return "";
}

/// The option that gives a dimension one value.
std::string fixing(const Dimension& d) {
  const std::string &name = d.names[0], &value = d.values[0][0];
  if (name == "program") return fmt::format("only program {}", value);
  if (name == "preset" || name == "seed" || is_device(name))
    return fmt::format("--{} {}", name, quoted(value));
  return fmt::format("--set {}", quoted(name + "=" + value));
}

class Chooser {
 public:
  Chooser(const std::vector<Dimension>& dimensions, const PlotAxes& axes)
      : dimensions_(dimensions), axes_(axes) {
    spec_.y = axes.y.empty() ? "gbps" : axes.y;
    spec_.kind = kind_of(spec_.y);
  }

  PlotSpec choose() {
    const Dimension* by = named("--by", axes_.by);
    const Dimension* x = named("--x", axes_.x);
    spec_.by = axes_.by;
    if (spec_.kind == Kind::kCdf) {
      if (x != nullptr)
        throw Usage(fmt::format("--x {}: has no effect with --y cdf, whose x axis is the latency",
                                axes_.x));
      check_lines(lines(dimensions_, {}), kMostDistributions);
      return spec_;
    }
    if (dimensions_.empty())
      throw Usage("--plot: nothing is swept; give a setting several values (--set size=64,4096)");
    if (x != nullptr && x == by)
      throw Usage(fmt::format("--by {}: changes together with --x {}; another dimension, or none",
                              axes_.by, axes_.x));
    if (x == nullptr) x = default_x(by);
    choose_by(x, by);
    // Percentiles have four lines each: minimum, median, 99th percentile, maximum.
    if (spec_.kind == Kind::kLines || spec_.kind == Kind::kPercentiles)
      check_lines(lines(dimensions_, x) * (spec_.kind == Kind::kPercentiles ? 4 : 1), kMostLines);
    return spec_;
  }

 private:
  const Dimension* named(const char* option, const std::string& name) const {
    if (name.empty()) return nullptr;
    std::vector<std::string> names;
    for (const Dimension& d : dimensions_) {
      if (has(d, name)) return &d;
      names.insert(names.end(), d.names.begin(), d.names.end());
    }
    throw Usage(fmt::format(
        "{} {}: not swept{}; {}", option, name, nearest(name, names),
        names.empty() ? "no dimension is" : fmt::format("one of {}", fmt::join(names, ", "))));
  }

  /// Prefers a numeric dimension, then one that is not of devices.
  const Dimension* default_x(const Dimension* by) {
    const Dimension* best = nullptr;
    int best_rank = -1;
    for (const Dimension& d : dimensions_) {
      if (&d == by) continue;
      const int rank = !numeric_name(d).empty() ? 2 : is_device(d.names[0]) ? 0 : 1;
      if (rank <= best_rank) continue;
      best = &d;
      best_rank = rank;
    }
    if (best == nullptr)
      throw Usage(
          fmt::format("--by {}: the only dimension of the sweep is the x axis; leave --by "
                      "out",
                      axes_.by));
    spec_.x = best_rank == 2 ? numeric_name(*best) : best->names[0];
    return best;
  }

  void choose_by(const Dimension* x, const Dimension* by) {
    if (!axes_.x.empty()) spec_.x = axes_.x;
    std::vector<const Dimension*> rest;
    bool has_devices = false;
    for (const Dimension& d : dimensions_) {
      if (&d == x || &d == by || d.values.size() < 2) continue;
      if (is_device(d.names[0])) {
        has_devices = true;
      } else {
        rest.push_back(&d);
      }
    }
    if (rest.empty()) return;
    if (by == nullptr && rest.size() == 1 && spec_.kind == Kind::kLines) {
      spec_.by = rest[0]->names[0];
      // A heat map has no place for a line per device.
      if (!has_devices) spec_.kind = Kind::kHeat;
      return;
    }
    std::string what;
    for (const Dimension* d : rest)
      what += fmt::format("{}{} ({} values)", what.empty() ? "" : ", ", fmt::join(d->names, ","),
                          d->values.size());
    throw Usage(fmt::format(
        "--plot: no axis for {}; {}fix {} ({})", what,
        by == nullptr ? fmt::format("draw a line per value (--by {}) or ", rest[0]->names[0]) : "",
        rest.size() == 1 ? "it" : "the others", fixing(*rest.back())));
  }

  /// Number of lines: the combinations of all dimensions but `x`.
  static size_t lines(const std::vector<Dimension>& all, const Dimension* x) {
    size_t n = 1;
    for (const Dimension& d : all) {
      if (&d != x) n = std::min<size_t>(n * std::max<size_t>(d.values.size(), 1), 1'000'000'000);
    }
    return n;
  }
  void check_lines(size_t n, size_t most) const {
    if (n <= most) return;
    const auto widest = std::ranges::max_element(
        dimensions_, {}, [&](const Dimension& d) { return has(d, spec_.x) ? 0 : d.values.size(); });
    throw Usage(
        fmt::format("--plot: {} lines, a plot with --y {} has at most {}; give {} fewer "
                    "values, or fix it ({})",
                    n, spec_.y, most, fmt::join(widest->names, ","), fixing(*widest)));
  }

  const std::vector<Dimension>& dimensions_;
  const PlotAxes& axes_;
  PlotSpec spec_;
};

}  // namespace

std::span<const PlotFigure> plot_figures() { return kPlotFigures; }

bool is_device(std::string_view column) { return column == "client" || column == "server"; }

bool are_numbers(const std::vector<std::string>& values) {
  return !values.empty() && std::ranges::all_of(values, [](const std::string& text) {
    double v = 0;
    const auto r = std::from_chars(text.data(), text.data() + text.size(), v);
    return !text.empty() && r.ec == std::errc() && r.ptr == text.data() + text.size() &&
           std::isfinite(v);
  });
}

PlotSpec plot_spec(const std::vector<Dimension>& dimensions, const PlotAxes& axes) {
  return Chooser(dimensions, axes).choose();
}

std::vector<Dimension> dimensions_of(const Table& table) {
  std::vector<Dimension> all;
  for (const std::string& name : table.dimensions()) {
    const std::vector<std::string> values = table.values(name);
    // Linked names are neighbours, and each value of one always meets the same value of the other.
    if (!all.empty() && values.size() > 1 && all.back().values.size() == values.size()) {
      std::map<std::string, std::string> partner;
      const bool is_linked = std::ranges::all_of(table.rows(), [&](const auto& row) {
        const std::string& mine = table.cell(row.second, name);
        return partner.emplace(table.cell(row.second, all.back().names[0]), mine).first->second ==
               mine;
      });
      if (is_linked) {
        all.back().names.push_back(name);
        for (auto& v : all.back().values) v.push_back(partner.at(v[0]));
        continue;
      }
    }
    Dimension& d = all.emplace_back();
    d.names = {name};
    for (const std::string& v : values) d.values.push_back({v});
  }
  return all;
}

}  // namespace rnic::app::sweep

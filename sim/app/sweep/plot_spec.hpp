// The contents of a plot of a sweep: its kind and its columns. Chosen before the sweep runs.
//
//   const PlotSpec p = plot_spec(grid.dimensions(), {.x = "", .y = "gbps", .by = "qps"});
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sweep/table.hpp"

namespace rnic::app::sweep {

struct PlotSpec {
  enum class Kind { kLines, kHeat, kPercentiles, kCdf, kTime } kind = Kind::kLines;
  /// Columns. `y` is a figure, or percentiles, cdf, time. `by` may be empty; of a heat map it is
  /// the vertical axis. `x` is empty for cdf.
  std::string x, y, by;
};

/// The options --x, --y, --by; empty: left open.
struct PlotAxes {
  std::string x = {}, y = {}, by = {};
};
/// Chooses what the user left open:
/// - x: of the dimensions but `by`, the first numeric one, else the first that is not of devices,
///   else the first;
/// - y: gbps;
/// - by: with one dimension left, a heat map, or, if devices are swept too, a line per value.
/// Throws Usage for a dimension that is not swept, an unknown figure, a dimension that the plot has
/// no axis for, and too many lines.
PlotSpec plot_spec(const std::vector<Dimension>& dimensions, const PlotAxes& axes);
/// The dimensions of a table. Names whose values change together are one dimension.
std::vector<Dimension> dimensions_of(const Table& table);
/// A figure that may be `y`.
struct PlotFigure {
  std::string_view column, label;  // of the axis, with the unit
  double scale = 1;                // from the cell to the axis
};
std::span<const PlotFigure> plot_figures();
/// The number of lines that a reader can still distinguish.
constexpr size_t kMostLines = 40, kMostDistributions = 12;
/// True for a column of devices: client, server.
bool is_device(std::string_view column);
/// True if each value is a decimal number.
bool are_numbers(const std::vector<std::string>& values);

}  // namespace rnic::app::sweep

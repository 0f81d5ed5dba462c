// Draws the table of a sweep by gnuplot, as SVG. The same table gives the same bytes.
//
//   const PlotSpec p = plot_spec(grid.dimensions(), {.x = "", .y = "gbps", .by = "qps"});
//   write_file("w.svg", draw(table, p));
//
// | kind        | x         | y                  | drawn                                         |
// |-------------|-----------|--------------------|-----------------------------------------------|
// | lines       | dimension | figure             | one line per value of `by`                    |
// | heat        | dimension | second dimension   | the figure as colour                          |
// | percentiles | dimension | latency            | minimum, median, 99th percentile, maximum     |
// | cdf         | latency   | share of messages  | one line per row                              |
// | time        | dimension | time of a message  | stacked bars: host, PCIe, link, device        |
//
// Devices (client, server) need no axis: RTL is points with a thin line, a model is a line. Rows
// whose status is not 0 are left out.
#pragma once

#include <string>

#include "sweep/plot_spec.hpp"

namespace rnic::app::sweep {

/// The SVG. Throws Missing if gnuplot is absent or fails, or if no row has the plotted columns.
std::string draw(const Table& table, const PlotSpec& spec);

}  // namespace rnic::app::sweep

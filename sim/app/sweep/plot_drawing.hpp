// A drawing of gnuplot: blocks of data with their styles, the key, the colours.
//
//   Drawing d;
//   d.axes += x.commands('x', Drawing::kWidth);
//   d.lines.push_back({.title = "RTL", .style = "lines lc rgb \"#0072b2\"", .data = "1 2\n3 4\n"});
//   gnuplot_svg(d.script("write_bw"));
#pragma once

#include <string>
#include <vector>

namespace rnic::app::sweep {

struct Drawing {
  /// A block of data. Without a title it has no entry in the key.
  struct Line {
    std::string title = {}, style = {}, data = {}, columns = "1:2";
  };
  // The field, in pixels, about; with a colour bar it is narrower.
  static constexpr double kWidth = 640, kHeatWidth = 500, kHeight = 300;

  /// The whole script. Many entries of the key are beside the field, few above it.
  std::string script(const std::string& title) const;

  std::string axes;  // gnuplot's commands
  std::vector<Line> lines;
};

constexpr const char* kGrey = "#888888";
/// The colour of entry `i` of `n`, as #rrggbb. Many entries have the colours of a scale.
std::string colour(size_t i, size_t n);
/// The command that sets the scale of a colour bar.
std::string palette_command();
/// "a, b"; without the comma if one is empty.
std::string joined(const std::string& a, const std::string& b);

}  // namespace rnic::app::sweep

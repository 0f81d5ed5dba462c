// Runs gnuplot.
//
//   check_gnuplot("w.svg");   ... the long run ...   write_file("w.svg", gnuplot_svg(script));
#pragma once

#include <string>

namespace rnic::app {

/// Throws Missing if gnuplot, which draws the file `plot`, is not installed.
void check_gnuplot(const std::string& plot);
/// The SVG that `script` draws. The user's gnuplot settings have no effect. Throws Missing if
/// gnuplot is absent or fails.
std::string gnuplot_svg(const std::string& script);
/// A string in gnuplot's quotes. Control characters become blanks.
std::string gnuplot_string(const std::string& text);

}  // namespace rnic::app

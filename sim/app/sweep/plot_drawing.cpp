// Colours, and the script that draws lines. See plot_drawing.hpp.
#include "sweep/plot_drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "output/gnuplot.hpp"

namespace rnic::app::sweep {
namespace {

// Okabe and Ito's colours, without yellow: distinct for readers with any colour vision.
constexpr std::array kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                 "#56b4e9", "#e69f00", "#000000"};
// Viridis, from low to high: its lightness grows evenly.
constexpr std::array<std::array<double, 3>, 9> kViridis = {{{68, 1, 84},
                                                            {71, 44, 122},
                                                            {59, 81, 139},
                                                            {44, 113, 142},
                                                            {33, 144, 141},
                                                            {39, 173, 129},
                                                            {92, 200, 99},
                                                            {170, 220, 50},
                                                            {253, 231, 37}}};

std::string viridis(double share) {
  const double at = share * (kViridis.size() - 1);
  const auto i = std::min(static_cast<size_t>(at), kViridis.size() - 2);
  const double t = at - static_cast<double>(i);
  std::array<int, 3> c{};
  for (size_t k = 0; k < 3; ++k)
    c[k] = static_cast<int>(std::lround(kViridis[i][k] * (1 - t) + kViridis[i + 1][k] * t));
  return fmt::format("#{:02x}{:02x}{:02x}", c[0], c[1], c[2]);
}

}  // namespace

std::string colour(size_t i, size_t n) {
  if (n <= kColours.size()) return kColours[i];
  constexpr double kMost = 0.92;  // of the scale: its lightest part is hard to see on white
  return viridis(kMost * static_cast<double>(i) / static_cast<double>(n - 1));
}

std::string palette_command() {
  std::string list;
  for (size_t i = 0; i < kViridis.size(); ++i)
    list += fmt::format("{}{} \"{}\"", i == 0 ? "" : ", ", i,
                        viridis(static_cast<double>(i) / (kViridis.size() - 1)));
  return fmt::format("set palette defined ({})\n", list);
}

std::string joined(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a + b : a + ", " + b;
}

std::string Drawing::script(const std::string& title) const {
  constexpr size_t kFew = 4, kShort = 24;  // entries above the field, characters of one
  size_t titles = 0, longest = 0;
  for (const Line& l : lines) {
    if (l.title.empty()) continue;
    ++titles;
    longest = std::max(longest, l.title.size());
  }
  const bool is_beside = titles > kFew || (titles > 1 && longest > kShort);
  // Pixels. A key beside the field takes 7 for each character and 20 for each entry.
  const size_t width = 760 + (is_beside ? 70 + 7 * longest : 0),
               height = std::max<size_t>(420, is_beside ? 130 + 20 * titles : 0);
  std::string out = fmt::format(
      "set encoding utf8\n"
      "set terminal svg size {},{} font \"sans-serif,13\" background \"#ffffff\" noenhanced\n"
      "set title {}\nset grid lc rgb \"#dddddd\"\nset tics nomirror\nset key {}\n{}",
      width, height, gnuplot_string(title),
      titles == 0 ? "off"
      : is_beside ? "outside right top vertical Left reverse"
                  : "outside top center horizontal Left reverse",
      axes);
  std::string plot;
  for (size_t i = 0; i < lines.size(); ++i) {
    const Line& l = lines[i];
    out += fmt::format("$d{} << EOD\n{}EOD\n", i, l.data);
    plot += fmt::format("{}$d{} using {} with {} {}", i == 0 ? "plot " : ", \\\n  ", i, l.columns,
                        l.style, l.title.empty() ? "notitle" : "title " + gnuplot_string(l.title));
  }
  return out + plot + "\n";
}

}  // namespace rnic::app::sweep

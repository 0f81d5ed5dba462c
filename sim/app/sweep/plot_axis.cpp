// An axis of a plot. See plot_axis.hpp.
#include "sweep/plot_axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "output/gnuplot.hpp"
#include "settings/config.hpp"
#include "sweep/plot_spec.hpp"

namespace rnic::app::sweep {
namespace {

constexpr double kDigit = 8.3, kLineHeight = 15;  // width of a character, height of a line: pixels

double number_of(const std::string& text) {
  double v = 0;
  std::from_chars(text.data(), text.data() + text.size(), v);
  return v;
}

/// A setting's name and unit, with the names that change together with it.
std::string label_of(const Table& table, const std::string& column) {
  std::string label = column;
  for (const char* side : {"client.", "server."}) {
    if (column.starts_with(side)) label = column.substr(std::string_view(side).size());
  }
  try {
    const std::string unit = Config().find(label).unit;
    label = unit.empty() ? column : fmt::format("{}, {}", column, unit);
  } catch (const Usage&) {
    label = column;  // no setting: program, preset, seed, a device
  }
  if (is_device(column)) return label;
  for (const Dimension& d : dimensions_of(table)) {
    if (std::ranges::find(d.names, column) == d.names.end()) continue;
    std::string others;
    for (const std::string& n : d.names) {
      if (n != column) others += (others.empty() ? " (with " : ", ") + n;
    }
    if (!others.empty()) label += others + ")";
  }
  return label;
}

}  // namespace

bool grow_by_factors(const std::vector<double>& sorted) {
  constexpr double kLeastRange = 4, kLeastRangeOfTwo = 8;
  if (sorted.front() <= 0) return false;
  const double range = sorted.back() / sorted.front();
  if (sorted.size() == 2) return range >= kLeastRangeOfTwo;
  // The scale on which the gaps differ least, relative to their mean.
  const auto unevenness = [&](auto scale) {
    const double mean =
        (scale(sorted.back()) - scale(sorted.front())) / static_cast<double>(sorted.size() - 1);
    double sum = 0;
    for (size_t i = 1; i < sorted.size(); ++i) {
      const double d = (scale(sorted[i]) - scale(sorted[i - 1])) / mean - 1;
      sum += d * d;
    }
    return sum;
  };
  return range >= kLeastRange &&
         unevenness([](double v) { return std::log2(v); }) < unevenness([](double v) { return v; });
}

Axis::Axis(const Table& table, const std::string& column, Kind wanted)
    : values_(table.values(column)), label_(label_of(table, column)) {
  if (!are_numbers(values_)) return;
  std::ranges::stable_sort(values_, {}, number_of);
  is_numeric_ = values_.size() > 1 && wanted == Kind::kNumbers;
  if (!is_numeric_) return;
  std::vector<double> sorted;
  for (const std::string& v : values_) sorted.push_back(number_of(v));
  is_log_ = grow_by_factors(sorted);
}

size_t Axis::place(const std::string& value) const {
  return static_cast<size_t>(std::ranges::find(values_, value) - values_.begin());
}

double Axis::at(const std::string& value) const {
  return is_numeric_ ? number_of(value) : static_cast<double>(place(value));
}

std::string Axis::commands(char name, double pixels) const {
  const auto scaled = [&](double v) { return is_log_ ? std::log2(v) : v; };
  const auto unscaled = [&](double v) { return is_log_ ? std::exp2(v) : v; };
  double low = -0.5, high = static_cast<double>(values_.size()) - 0.5;
  if (is_numeric_) {
    const double first = scaled(at(values_.front())), last = scaled(at(values_.back()));
    const double margin = 0.03 * (last - first);
    low = first - margin;
    high = last + margin;
  }
  std::vector<Tick> ticks;
  for (const std::string& v : values_)
    ticks.push_back({.text = v,
                     .at = (scaled(at(v)) - low) / (high - low),
                     .position = fmt::format("{:.10g}", at(v))});
  return fmt::format("set {0}label {1}\n{2}set {0}range [{3:.10g}:{4:.10g}]\n", name,
                     gnuplot_string(label_),
                     is_log_ ? fmt::format("set logscale {} 2\n", name) : "", unscaled(low),
                     unscaled(high)) +
         tick_commands(name, ticks, pixels);
}

std::string tick_commands(char name, const std::vector<Tick>& ticks, double pixels) {
  constexpr double kGap = 8;              // pixels between two texts
  constexpr size_t kMostUnlabelled = 30;  // of more ticks, those without a text are left out
  const auto width = [&](const Tick& t) {
    return kDigit * static_cast<double>(t.text.size()) + kGap;
  };
  const auto meet = [&](const Tick& a, const Tick& b) {
    return (b.at - a.at) * pixels < (width(a) + width(b)) / 2;
  };
  // Texts that do not fit side by side are rotated.
  const bool is_turned =
      name == 'x' && std::ranges::adjacent_find(ticks, meet) != ticks.end() &&
      !std::ranges::all_of(ticks, [](const Tick& t) { return are_numbers({t.text}); });
  const auto room = [&](const Tick& t) {
    return name == 'y' || is_turned ? kLineHeight : width(t);
  };
  const auto fits = [&](const Tick& a, const Tick& b) {
    return (b.at - a.at) * pixels >= (room(a) + room(b)) / 2;
  };
  // even: every n-th text, with the least n for which they all fit. greedy: each text that fits
  // after the last one. If gaps are very different, `even` has few texts: below half of greedy's,
  // take greedy's.
  std::vector<bool> greedy(ticks.size()), even(ticks.size());
  const Tick* last = nullptr;
  for (size_t i = 0; i < ticks.size(); ++i) {
    greedy[i] = last == nullptr || fits(*last, ticks[i]);
    if (greedy[i]) last = &ticks[i];
  }
  size_t stride = 1;
  for (size_t i = 0; i + stride < ticks.size();) {
    if (fits(ticks[i], ticks[i + stride])) {
      i += stride;
    } else {
      ++stride;
      i = 0;
    }
  }
  for (size_t i = 0; i < ticks.size(); i += stride) even[i] = true;
  const bool is_even = 2 * std::ranges::count(even, true) >= std::ranges::count(greedy, true);
  const std::vector<bool>& has_text = is_even ? even : greedy;
  std::string list;
  for (size_t i = 0; i < ticks.size(); ++i) {
    if (!has_text[i] && ticks.size() > kMostUnlabelled) continue;
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ",
                        gnuplot_string(has_text[i] ? ticks[i].text : ""), ticks[i].position);
  }
  return fmt::format("set {}tics {}nomirror ({})\n", name, is_turned ? "rotate by 90 right " : "",
                     list);
}

}  // namespace rnic::app::sweep

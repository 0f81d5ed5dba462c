// Lists and ranges of values. See values.hpp.
#include "sweep/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "settings/errors.hpp"

namespace rnic::app::sweep {
namespace {

constexpr size_t kMostDigits = 6;                   // after the point
constexpr size_t kMostValues = 1'000'000;           // of one range
constexpr int64_t kMostNumber = 1'000'000'000'000;  // with kMostDigits it still fits in int64_t

/// A decimal number; nothing if the text is none.
struct Decimal {
  double value = 0;
  size_t digits = 0;  // after the point
};
std::optional<Decimal> decimal(std::string_view text) {
  Decimal d;
  const auto r =
      std::from_chars(text.data(), text.data() + text.size(), d.value, std::chars_format::fixed);
  if (text.empty() || text[0] == '-' || r.ec != std::errc() || r.ptr != text.data() + text.size())
    return std::nullopt;
  if (const size_t point = text.find('.'); point != std::string_view::npos)
    d.digits = text.size() - point - 1;
  if (d.digits > kMostDigits || d.value > static_cast<double>(kMostNumber)) return std::nullopt;
  return d;
}

/// Only a text that begins with a digit can be a range; other values may contain "..".
bool begins_as_number(std::string_view text) {
  return !text.empty() && text[0] >= '0' && text[0] <= '9';
}

/// The values of "8..64*2".
std::vector<std::string> range(const std::string& name, std::string_view text) {
  const auto wrong = [&](const char* why) {
    return Usage(fmt::format("{}={}: {}; a range is FROM..TO, FROM..TO+STEP or FROM..TO*FACTOR",
                             name, text, why));
  };
  const size_t dots = text.find("..");
  std::string_view last = text.substr(dots + 2), step = "1";
  char how = '+';
  if (const size_t at = last.find_first_of("+*"); at != std::string_view::npos) {
    how = last[at];
    step = last.substr(at + 1);
    last = last.substr(0, at);
  }
  const auto from = decimal(text.substr(0, dots)), to = decimal(last), by = decimal(step);
  if (!from || !to || !by) throw wrong("not a range of numbers");
  if (to->value < from->value) throw wrong("empty, it ends before it begins");
  if (how == '+' && by->value == 0) throw wrong("endless, the step is 0");
  if (how == '*' && by->value <= 1) throw wrong("endless, the factor is not above 1");
  if (how == '*' && from->value == 0) throw wrong("endless, it multiplies 0");
  // Counts in whole units of the last digit after the point, so that no sum of steps is rounded.
  const size_t digits = std::max({from->digits, to->digits, how == '+' ? by->digits : size_t{0}});
  const double unit = std::pow(10.0, static_cast<double>(digits));
  const auto units = [&](double v) { return static_cast<int64_t>(std::llround(v * unit)); };
  std::vector<std::string> values;
  double exact = from->value * unit;
  for (int64_t v = units(from->value); v <= units(to->value);) {
    if (values.size() == kMostValues) throw wrong("more than a million values");
    values.push_back(fmt::format("{:.{}f}", static_cast<double>(v) / unit, digits));
    if (how == '+') {
      v += units(by->value);
    } else {
      // Values that round to the one before are left out.
      const int64_t last_value = v;
      while (v == last_value) v = std::llround(exact *= by->value);
    }
  }
  return values;
}

}  // namespace

std::vector<std::string> values_of(const std::string& name, const std::string& text) {
  std::vector<std::string> all;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const std::string piece = text.substr(at, comma - at);
    at = comma + 1;
    if (piece.empty() && !text.empty())
      throw Usage(fmt::format("{}={}: a value between the commas is empty", name, text));
    if (begins_as_number(piece) && piece.find("..") != std::string::npos) {
      for (std::string& v : range(name, piece)) all.push_back(std::move(v));
    } else {
      all.push_back(piece);
    }
  }
  std::vector<std::string_view> sorted(all.begin(), all.end());
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
    throw Usage(fmt::format("{}={}: {} occurs twice", name, text, *twice));
  return all;
}

}  // namespace rnic::app::sweep

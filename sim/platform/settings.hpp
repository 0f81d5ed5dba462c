// A setting: one row with its name, unit, bounds, meaning and the member that holds its value. The
// rows are the source of `rnic-sim list settings`, `--set`, `--print-config` and the JSON files.
//
//   constexpr SettingRow<Config> kRows[] = {
//       {"link_gbps", "Gb/s", 1, 800, "Rate of the link.",
//        &setting_of<&Config::link, &LinkConfig::link_gbps, Config>}};
//   Config c;
//   if (auto r = kRows[0].set(c, "400"); !r) throw ...r.error().what;
//   kRows[0].text(c) == "400"
//
// The default is the value in a fresh Config. The type of the member decides the syntax: a whole
// number (decimal or 0x...), a real number, or a text. A text is any text, or one of `choices`.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.hpp"

namespace rnic::sim {

template <class Root>
struct SettingRow {
  using Whole = uint64_t& (*)(Root&);
  using Real = double& (*)(Root&);
  using Text = std::string& (*)(Root&);

  std::string_view name;
  std::string_view unit;  // "" for a plain number
  double min = 0, max = 0;
  std::string_view doc;
  std::variant<Whole, Real, Text> member;
  bool power_of_two = false;      // of a whole number: 0 or a power of two
  std::string_view choices = "";  // of a text, separated by blanks; empty: any text

  bool is_whole() const { return std::holds_alternative<Whole>(member); }
  bool is_text() const { return std::holds_alternative<Text>(member); }

  std::string text(const Root& root) const {
    Root copy = root;  // the accessors are not const
    if (is_text()) return std::get<Text>(member)(copy);
    if (is_whole()) return fmt::format("{}", std::get<Whole>(member)(copy));
    return fmt::format("{}", std::get<Real>(member)(copy));
  }
  std::string default_text() const { return text(Root{}); }

  /// Changes the value only if the text is a number within bounds or one of the choices.
  [[nodiscard]] base::Result<void> set(Root& root, std::string_view text) const {
    if (is_text()) {
      if (!is_choice(text))
        return base::fail(base::Errc::kInvalidArgument, "{}: \"{}\" is none of: {}", name, text,
                          choices);
      std::get<Text>(member)(root) = text;
      return {};
    }
    if (is_whole()) {
      const auto value = parse_whole(text);
      if (!value)
        return base::fail(base::Errc::kInvalidArgument, "{}: \"{}\" is not a whole number", name,
                          text);
      if (auto ok = bounds(static_cast<double>(*value), text); !ok) return ok;
      if (power_of_two && *value != 0 && (*value & (*value - 1)) != 0) {
        return base::fail(base::Errc::kInvalidArgument, "{}: {} is not a power of two", name, text);
      }
      std::get<Whole>(member)(root) = *value;
      return {};
    }
    double value = 0;
    const char* end = text.data() + text.size();
    if (auto r = std::from_chars(text.data(), end, value);
        r.ec != std::errc() || r.ptr != end || !std::isfinite(value)) {
      return base::fail(base::Errc::kInvalidArgument, "{}: \"{}\" is not a number from {} to {}",
                        name, text, min, max);
    }
    if (auto ok = bounds(value, text); !ok) return ok;
    std::get<Real>(member)(root) = value;
    return {};
  }

 private:
  bool is_choice(std::string_view text) const {
    for (std::string_view left = choices; !left.empty();) {
      const std::string_view one = left.substr(0, left.find(' '));
      if (one == text) return true;
      left.remove_prefix(std::min(left.size(), one.size() + 1));
    }
    return choices.empty();
  }
  static base::Result<uint64_t> parse_whole(std::string_view text) {
    const bool hex = text.starts_with("0x") || text.starts_with("0X");
    if (hex) text.remove_prefix(2);
    uint64_t value = 0;
    const char* end = text.data() + text.size();
    if (auto r = std::from_chars(text.data(), end, value, hex ? 16 : 10);
        r.ec != std::errc() || r.ptr != end) {
      return base::fail(base::Errc::kInvalidArgument, "not a number");
    }
    return value;
  }
  base::Result<void> bounds(double value, std::string_view text) const {
    const std::string of_unit = unit.empty() ? "" : " " + std::string(unit);
    if (value < min)
      return base::fail(base::Errc::kInvalidArgument, "{}: {} below {}{}", name, text, min,
                        of_unit);
    if (value > max)
      return base::fail(base::Errc::kInvalidArgument, "{}: {} above {}{}", name, text, max,
                        of_unit);
    return {};
  }
};

/// Accessor of a row's member in a part of the configuration.
template <auto Part, auto Member, class Root>
constexpr auto& setting_of(Root& root) {
  return root.*Part.*Member;
}

}  // namespace rnic::sim

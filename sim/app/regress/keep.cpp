// The lists of the settings keep and simple. See regress/keep.hpp.
#include "regress/keep.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <iterator>
#include <sstream>

#include "settings/errors.hpp"

namespace rnic::app::regress {

namespace {

constexpr uint32_t kMostNumber = 999'999;  // of operations and ends
const std::string kNothing = "none";       // keep=none: only the closing Sends

}  // namespace

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> all;
  std::istringstream in(list);
  for (std::string w; std::getline(in, w, ',');) {
    if (!w.empty()) all.push_back(w);
  }
  return all;
}

uint64_t whole_number(const std::string& setting, const std::string& text, uint64_t low,
                      uint64_t high) {
  uint64_t n = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), n);
  if (text.empty() || r.ec != std::errc() || r.ptr != text.data() + text.size() || n < low ||
      n > high) {
    throw Usage(
        fmt::format("{}: \"{}\" is not a whole number from {} to {}", setting, text, low, high));
  }
  return n;
}

std::string text_of_keep(const std::set<uint32_t>& numbers) {
  if (numbers.empty()) return kNothing;
  std::string s;
  for (auto it = numbers.begin(); it != numbers.end();) {
    const uint32_t first = *it;
    uint32_t last = first;
    for (++it; it != numbers.end() && *it == last + 1; ++it) ++last;
    s += fmt::format("{}{}", s.empty() ? "" : ",", first);
    if (last != first) s += fmt::format("-{}", last);
  }
  return s;
}

std::set<uint32_t> numbers_of_keep(const std::string& keep) {
  std::set<uint32_t> all;
  if (keep == kNothing) return all;
  for (const std::string& w : words_of(keep)) {
    const size_t dash = w.find('-');
    const uint64_t first = whole_number("keep", w.substr(0, dash), 0, kMostNumber);
    const uint64_t last = dash == std::string::npos
                              ? first
                              : whole_number("keep", w.substr(dash + 1), first, kMostNumber);
    for (uint64_t n = first; n <= last; ++n) all.insert(static_cast<uint32_t>(n));
  }
  return all;
}

}  // namespace rnic::app::regress

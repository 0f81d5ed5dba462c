// Words that a user types. See words.hpp.
#include "settings/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace rnic::app {

namespace {

/// The number of letters to insert, remove or change (Levenshtein's distance). row[j]: of the first
/// i letters of `a` to the first j of `b`.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t up = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = up;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest(std::string_view wanted, const std::vector<std::string>& names) {
  // At most 2 letters differ, in a longer word 3, and never all of them. A name that begins with
  // `wanted` counts as near.
  const size_t most = wanted.size() < 6 ? 2 : 3;
  size_t best = std::min(wanted.size(), most + 1);
  std::string found;
  for (const auto& n : names) {
    const size_t d = n.starts_with(wanted) && wanted.size() > 2 ? 1 : distance(wanted, n);
    if (d < best) {
      best = d;
      found = n;
    }
  }
  return found.empty() ? "" : fmt::format(", did you mean {}?", found);
}

std::string quoted(const std::string& name) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("%+,-./:=@_").find(c) != std::string_view::npos;
  };
  if (!name.empty() && std::ranges::all_of(name, is_plain)) return name;
  std::string word = "'";
  for (const char c : name) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

}  // namespace rnic::app

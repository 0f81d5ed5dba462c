// The points of a sweep, and its shards. See grid.hpp.
#include "sweep/grid.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "settings/errors.hpp"

namespace rnic::app::sweep {

Shard shard_of(const std::string& text) {
  const auto number = [](std::string_view t, uint64_t& n) {
    const auto r = std::from_chars(t.data(), t.data() + t.size(), n);
    return !t.empty() && r.ec == std::errc() && r.ptr == t.data() + t.size();
  };
  Shard s;
  const size_t slash = text.find('/');
  if (slash == std::string::npos || !number(std::string_view(text).substr(0, slash), s.number) ||
      !number(std::string_view(text).substr(slash + 1), s.of))
    throw Usage(fmt::format("--shard {}: not K/N, as in 3/16", text));
  if (s.number < 1 || s.number > s.of)
    throw Usage(fmt::format("--shard {}: K is not from 1 to {}", text, s.of));
  return s;
}

uint64_t Grid::size() const {
  uint64_t n = 1;
  for (const Dimension& d : dimensions_) {
    if (d.values.empty()) return 0;
    if (n > UINT64_MAX / d.values.size()) return UINT64_MAX;
    n *= d.values.size();
  }
  return n;
}

Grid::Point Grid::at(uint64_t index) const {
  std::vector<size_t> which(dimensions_.size());
  // The index as a number whose digits are the dimensions; the last one is the lowest digit.
  for (size_t d = dimensions_.size(); d-- > 0;) {
    which[d] = index % dimensions_[d].values.size();
    index /= dimensions_[d].values.size();
  }
  Point p;
  for (size_t d = 0; d < dimensions_.size(); ++d) {
    for (size_t k = 0; k < dimensions_[d].names.size(); ++k)
      p.emplace_back(dimensions_[d].names[k], dimensions_[d].values[which[d]][k]);
  }
  return p;
}

std::vector<std::string> Grid::names() const {
  std::vector<std::string> all;
  for (const Dimension& d : dimensions_) all.insert(all.end(), d.names.begin(), d.names.end());
  return all;
}

}  // namespace rnic::app::sweep

// The points of a sweep: every combination of the values of its dimensions. The first dimension
// changes slowest, and devices change fastest.
//
//   Grid grid({{{"size"}, {{"64"}, {"4096"}}}, {{"qps"}, {{"1"}, {"8"}}}});
//   grid.size() == 4;   grid.at(1)   // {{"size", "64"}, {"qps", "8"}}
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rnic::app::sweep {

/// One dimension. Linked settings are one dimension with several names: they change together.
struct Dimension {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> values;  // values[i] has one entry per name
};

/// A share K of N of the points, those with index % N == K - 1: neighbours in the table cost about
/// the same, so that the shards take about the same time.
struct Shard {
  uint64_t number = 1, of = 1;
  bool has(uint64_t point) const { return point % of == number - 1; }
};
/// "3/16". Throws Usage.
Shard shard_of(const std::string& text);

class Grid {
 public:
  using Point = std::vector<std::pair<std::string, std::string>>;  // name, value

  explicit Grid(std::vector<Dimension> dimensions) : dimensions_(std::move(dimensions)) {}
  /// Number of points; UINT64_MAX if it does not fit.
  uint64_t size() const;
  Point at(uint64_t index) const;
  /// The names of all dimensions, in order.
  std::vector<std::string> names() const;
  const std::vector<Dimension>& dimensions() const { return dimensions_; }

 private:
  std::vector<Dimension> dimensions_;
};

}  // namespace rnic::app::sweep

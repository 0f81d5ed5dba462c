// An axis of a plot that shows a column of the table: positions, ticks, range, label with unit.
//
//   const Axis x(table, "size");
//   x.at("4096");                  4096, or its place among the values of a column without numbers
//   script += x.commands('x', 620);
#pragma once

#include <string>
#include <vector>

#include "sweep/table.hpp"

namespace rnic::app::sweep {

class Axis {
 public:
  enum class Kind { kNumbers, kCategories };

  Axis() = default;
  /// Numbers are sorted; other values keep the order of the points. A single value is a category.
  Axis(const Table& table, const std::string& column, Kind wanted = Kind::kNumbers);

  const std::vector<std::string>& values() const { return values_; }
  bool is_numeric() const { return is_numeric_; }
  /// The index of a value in values().
  size_t place(const std::string& value) const;
  /// The position of a value on the axis: the number itself, or place().
  double at(const std::string& value) const;
  const std::string& label() const { return label_; }
  /// gnuplot's commands for its axis `name`, which is `pixels` long.
  std::string commands(char name, double pixels) const;

 private:
  std::vector<std::string> values_;
  bool is_numeric_ = false, is_log_ = false;
  std::string label_;
};

struct Tick {
  std::string text;
  double at = 0;         // on the drawn axis, from 0 to 1
  std::string position;  // in the units of the axis
};
/// gnuplot's command for the ticks of its axis `name`. Leaves out texts without room.
std::string tick_commands(char name, const std::vector<Tick>& ticks, double pixels);

/// True if the values grow by factors rather than by steps. `sorted`: at least two, ascending.
bool grow_by_factors(const std::vector<double>& sorted);

}  // namespace rnic::app::sweep

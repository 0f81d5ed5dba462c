// The table of a sweep: one row per point, the content of --csv. Plots are drawn only from it.
//
//   Table t(sweep_digest, grid);
//   t.add(3, grid.at(3), outcome);
//   write_file("w.csv", t.csv());
//   Table whole = merged({"part.1.csv", "part.2.csv"});
//
// Columns: point, points, sweep; a column per dimension; then the figures of the run. A cell is
// empty if the run lacks the value or has not measured it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "output/csv.hpp"
#include "run/outcome.hpp"
#include "sweep/grid.hpp"

namespace rnic::app::sweep {

class Table {
 public:
  /// `digest` identifies the sweep: two parts with one digest are parts of one sweep.
  Table(const std::string& digest, const Grid& grid);
  /// Reads what csv() has written. Throws Usage.
  static Table read(const std::string& file);

  /// Adds the row of a point; rows stay in the order of the points.
  void add(uint64_t point, const Grid::Point& at, const Outcome& outcome);
  std::string csv() const;

  const std::vector<std::string>& columns() const { return columns_; }
  const std::vector<std::string>& dimensions() const { return dimensions_; }
  const std::map<uint64_t, CsvRow>& rows() const { return rows_; }  // by point
  uint64_t points() const { return points_; }                       // of the whole sweep
  const std::string& digest() const { return digest_; }
  bool has(const std::string& column) const;
  /// The cell of a row in a column that exists.
  const std::string& cell(const CsvRow& row, const std::string& column) const;
  /// Nothing for an empty cell, or one that is no number.
  std::optional<double> number(const CsvRow& row, const std::string& column) const;
  /// The different values of a column, in the order of the points.
  std::vector<std::string> values(const std::string& column) const;

  /// Sets column model_error: by how much the model's figure (rate, or median latency) differs from
  /// the RTL's, in percent, for rows that differ only in their devices.
  void compare_devices();

 private:
  Table() = default;
  friend Table merged(const std::vector<std::string>& files);
  size_t index(const std::string& column) const;

  std::vector<std::string> columns_, dimensions_;
  std::map<uint64_t, CsvRow> rows_;
  uint64_t points_ = 0;
  std::string digest_;
};

/// The whole table of a sweep from its parts. Throws Usage, naming the files, if they overlap,
/// belong to different sweeps or lack points.
Table merged(const std::vector<std::string>& files);

}  // namespace rnic::app::sweep
